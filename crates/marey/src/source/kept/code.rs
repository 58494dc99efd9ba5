//! The machine code of what ran, kept in the archive: the program may be gone when somebody asks.
//!
//! The one idea: of the user's modules that code is kept which call stacks lead through, what has most samples first, until
//! there is enough; what there is no room for is told. It is written out when the run is merged, so that who reads it needs no
//! decoder.
//!
//! What is deliberately absent: code of the system's libraries, and whatever nobody has asked for: a program's code is as
//! much its owner's as its sources are.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey_archive::schema::{NONE, SOURCE_CODES, SOURCE_INSTRUCTIONS};
use marey_archive::{Addresses, Archive, Columns, RunTrace, Value};
use marey_model::Nanos;
use marey_source::database::{Assembly, Code, Listing};
use marey_source::{ModuleRef, SymbolizerConfig};

use super::{Known, Rows};
use crate::format;

/// Of a function no more bytes are kept …
const MOST_BYTES: u64 = 64 << 10;
/// … and of all together: some 250 000 instructions, more than anybody looks through.
const MOST_BYTES_IN_ALL: u64 = 1 << 20;

/// The tables, and what is to be said of them.
pub(super) struct Kept {
    pub(super) tables: Vec<Columns>,
    /// What is not there, and why.
    pub(super) problems: Vec<String>,
    pub(super) words: String,
}

/// A stretch of code that call stacks lead through.
struct Met {
    module: usize,
    code: Code,
    own: Nanos,
    with_calls: Nanos,
}

/// Writes out the code of modules.
pub(super) fn keep(archive: &Archive, modules: &[Known], rows: &Rows) -> anyhow::Result<Kept> {
    let trace = RunTrace::load(archive)?;
    let addresses = Addresses::of(archive, &trace)?;
    let seen = seen(archive, &addresses)?;
    let config = SymbolizerConfig::system();
    let (mut problems, mut met, mut opened) = (Vec::new(), Vec::new(), Vec::new());
    for (id, path, build_id) in modules {
        let module = ModuleRef { path, build_id: build_id.as_deref() };
        match Assembly::open(&module, &config) {
            Ok(assembly) => {
                met.extend(met_in(opened.len(), *id, &assembly, &seen));
                opened.push((*id, assembly));
            }
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    met.sort_by_key(|it| (Reverse((it.own, it.with_calls)), it.module, it.code.range.start));
    let (mut codes, mut instructions) = (Columns::new(&SOURCE_CODES), Columns::new(&SOURCE_INSTRUCTIONS));
    let (mut room, mut left_out, mut cut) = (MOST_BYTES_IN_ALL, 0_u64, 0_u64);
    for it in &met {
        let most = room.min(MOST_BYTES);
        let Some((id, assembly)) = opened.get_mut(it.module) else { continue };
        let length = it.code.range.end - it.code.range.start;
        // Without room there is a row all the same: who asks for the function is told its samples, and why it has no code.
        let listing = match most {
            0 => Listing { left_out_bytes: length, ..Listing::default() },
            most => assembly.listing(&it.code, most),
        };
        left_out += u64::from(most == 0);
        cut += u64::from(most != 0 && listing.left_out_bytes != 0);
        room = room.saturating_sub(length - listing.left_out_bytes);
        let number = u32::try_from(codes.len()).unwrap_or(NONE);
        codes.push(&[
            Value::U32(number),
            Value::U32(*id),
            Value::Text(&it.code.title()),
            Value::I64(it.code.range.start.cast_signed()),
            Value::I64(length.cast_signed()),
            Value::I64(listing.left_out_bytes.cast_signed()),
        ])?;
        for it in &listing.instructions {
            let frames = it.place.and_then(|place| listing.places.get(place as usize));
            let frames = frames.map_or(&[][..], Vec::as_slice);
            let inner = frames.first();
            let file = inner.and_then(|frame| rows.file_of(frame.file.as_deref()?)).unwrap_or(NONE);
            instructions.push(&[
                Value::U32(number),
                Value::I64(it.address.cast_signed()),
                Value::U32(u32::try_from(it.length).unwrap_or(0)),
                Value::Text(&it.text),
                Value::Text(it.leads_to.as_deref().unwrap_or_default()),
                Value::U32(file),
                Value::U32(inner.and_then(|frame| frame.line).unwrap_or(0)),
                Value::Text(inner.filter(|_| frames.len() > 1).map_or("", |frame| &frame.function)),
            ])?;
        }
    }
    if left_out != 0 {
        problems.push(format!(
            "machine code of {} with the fewest samples is left out: {}",
            format::counted(left_out, "function"),
            words_of_limits()
        ));
    }
    if cut != 0 {
        problems.push(format!(
            "the end of the machine code of {} is left out: {}",
            format::counted(cut, "function"),
            words_of_limits()
        ));
    }
    let number = format::counted((codes.len() as u64).saturating_sub(left_out), "function");
    let words = if codes.is_empty() {
        "warning: no machine code is kept: no call stack leads through a function of the program whose code can be told".to_owned()
    } else {
        format!(
            "the machine code of {number} is kept ({}): who gets the run gets it, too; a redacted copy has none",
            format::counted(instructions.len() as u64, "instruction")
        )
    };
    Ok(Kept { tables: vec![codes, instructions], problems, words })
}

/// Why code is left out.
pub(in super::super) fn words_of_limits() -> String {
    let (of_one, of_all) = (format::bytes(MOST_BYTES), format::bytes(MOST_BYTES_IN_ALL));
    format!("a run keeps {of_one} of a function's code and {of_all} in all")
}

/// The tables without rows: a run that is merged again has none of before.
pub(super) fn none() -> Vec<Columns> {
    vec![Columns::new(&SOURCE_CODES), Columns::new(&SOURCE_INSTRUCTIONS)]
}

/// Addresses within instructions that call stacks lead through, by module and address, with what they cost.
fn seen(archive: &Archive, addresses: &Addresses) -> anyhow::Result<BTreeMap<(u32, u64), (Nanos, Nanos)>> {
    let stacks = archive.table("stacks")?;
    let places = stacks.u32("module")?.iter().zip(stacks.i64("vaddr")?);
    let places = places.filter(|(module, _)| **module != NONE);
    let mut seen: BTreeMap<(u32, u64), (Nanos, Nanos)> = places
        .map(|(module, at)| ((*module, at.cast_unsigned().wrapping_sub(1)), (Nanos(0), Nanos(0))))
        .collect();
    seen.extend(addresses.costs.iter().map(|(at, cost)| (*at, (cost.own.time, cost.with_calls.time))));
    Ok(seen)
}

fn met_in(
    module: usize,
    id: u32,
    assembly: &Assembly,
    seen: &BTreeMap<(u32, u64), (Nanos, Nanos)>,
) -> Vec<Met> {
    let mut met: BTreeMap<u64, Met> = BTreeMap::new();
    for ((_, address), (own, with_calls)) in seen.range((id, 0)..=(id, u64::MAX)) {
        let Some(code) = assembly.code_at(*address) else { continue };
        let it = met.entry(code.range.start).or_insert_with(|| Met {
            module,
            code: code.clone(),
            own: Nanos(0),
            with_calls: Nanos(0),
        });
        it.own = it.own + *own;
        it.with_calls = it.with_calls + *with_calls;
    }
    met.into_values().collect()
}
