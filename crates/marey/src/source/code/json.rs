//! What `marey source --code --json` prints; `--help` says what it means.

use marey_archive::{AddressCost, Addresses};
use serde::Serialize;

use super::{Asked, Found};

#[derive(Serialize)]
pub(super) struct Json<'f> {
    processor_ns: Option<i64>,
    samples: Option<u64>,
    problems: &'f [String],
    left_out: usize,
    codes: Vec<JsonCode<'f>>,
}

#[derive(Serialize)]
struct JsonCode<'f> {
    name: String,
    linkage: &'f str,
    module: String,
    address: u64,
    code_bytes: u64,
    left_out_bytes: u64,
    instructions: Vec<JsonInstruction<'f>>,
}

#[derive(Serialize)]
struct JsonInstruction<'f> {
    address: u64,
    bytes: u64,
    text: &'f str,
    leads_to: Option<&'f str>,
    file: Option<&'f str>,
    line: Option<u32>,
    /// Of what was inlined there, the innermost first.
    inlined: Vec<&'f str>,
    own_ns: Option<i64>,
    own_samples: Option<u64>,
    processor_ns: Option<i64>,
    samples: Option<u64>,
}

impl<'f> Json<'f> {
    pub(super) fn new(found: &'f Found, addresses: Option<&Addresses>) -> Self {
        Self {
            processor_ns: addresses.map(|it| it.whole.time.0),
            samples: addresses.map(|it| it.whole.samples),
            problems: &found.problems,
            left_out: found.left_out,
            codes: found.codes.iter().map(|it| code(it, addresses)).collect(),
        }
    }
}

fn code<'f>(it: &'f Asked, addresses: Option<&Addresses>) -> JsonCode<'f> {
    let instructions = it.listing.instructions.iter().map(|instruction| {
        let frames = it.frames(instruction);
        let around = frames.len().saturating_sub(1);
        let cost: Option<AddressCost> = addresses.map(|addresses| it.cost(addresses, instruction));
        JsonInstruction {
            address: instruction.address,
            bytes: instruction.length,
            text: &instruction.text,
            leads_to: instruction.leads_to.as_deref(),
            file: frames.first().and_then(|frame| frame.file.as_deref()),
            line: frames.first().and_then(|frame| frame.line),
            inlined: frames[..around].iter().map(|frame| frame.function.as_str()).collect(),
            own_ns: cost.map(|it| it.own.time.0),
            own_samples: cost.map(|it| it.own.samples),
            processor_ns: cost.map(|it| it.with_calls.time.0),
            samples: cost.map(|it| it.with_calls.samples),
        }
    });
    JsonCode {
        name: it.code.title(),
        linkage: &it.code.linkage,
        module: it.path.to_string_lossy().into_owned(),
        address: it.code.range.start,
        code_bytes: it.code.range.end - it.code.range.start,
        left_out_bytes: it.listing.left_out_bytes,
        instructions: instructions.collect(),
    }
}
