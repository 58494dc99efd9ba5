//! Machine code that the run keeps: which code has which lines of a source, and the instructions of one stretch.
//!
//! The one idea: rows of instructions are filtered where they are read, by their source or their code; samples are those of
//! addresses, which are added up once.
//!
//! What is deliberately absent: files of programs. Code that the run does not keep is not shown, though it may still be there.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey_archive::{Addresses, Columns as Rows, Error, Filter};

use super::none;
use crate::answers::refused;
use crate::fold::{float, float_u64};
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{NumberOf, SourceCodeHead, SourceCodesHead, WireCode, WireInstruction};

/// A run of ours keeps no more instructions than bytes of code, a mebibyte; more rows of another's are not looked at.
const MOST_ROWS: usize = 1 << 20;
/// And of one stretch no more than 64 KiB.
const MOST_INSTRUCTIONS: usize = 1 << 16;
/// Code beyond it is not offered for a source: nobody looks through more.
const MOST_CODES: usize = 5000;
/// Letters of an instruction or a name.
const MOST_LETTERS: usize = 1000;

/// The code that a source is in, and which of its lines each has.
pub(in crate::answers) fn codes(run: &Opened<'_>, asked: &NumberOf) -> Vec<u8> {
    if run.program().files.get(asked.number as usize).is_none() {
        return none("source", asked.number);
    }
    read_codes(run, asked.number).unwrap_or_else(failed)
}

/// The instructions of one stretch.
pub(in crate::answers) fn code(run: &Opened<'_>, asked: &NumberOf) -> Vec<u8> {
    match read_code(run, asked.number) {
        Ok(answer) => answer.unwrap_or_else(|| none("machine code", asked.number)),
        Err(error) => failed(error),
    }
}

fn failed(error: Error) -> Vec<u8> {
    refused(format!("machine code cannot be read: {error}"))
}

/// Stretches of code as the run lists them.
struct Codes {
    rows: Rows,
    /// Rows by the number of the code.
    at: BTreeMap<u32, usize>,
}

impl Codes {
    fn of(run: &Opened<'_>) -> Result<Self, Error> {
        let rows = run.archive.table("source_codes")?;
        let at = rows.u32("id")?.iter().copied().zip(0..).collect();
        Ok(Self { rows, at })
    }

    fn module(&self, code: u32) -> Result<Option<u32>, Error> {
        let modules = self.rows.u32("module")?;
        Ok(self.at.get(&code).and_then(|row| modules.get(*row)).copied())
    }

    fn wire(&self, code: u32, addresses: &Addresses) -> Result<Option<WireCode>, Error> {
        let Some(row) = self.at.get(&code).copied() else { return Ok(None) };
        let module = self.rows.u32("module")?[row];
        let bytes = self.rows.i64("size")?[row].max(0);
        let left_out_bytes = self.rows.i64("left_out")?[row].clamp(0, bytes);
        let begin = self.rows.i64("vaddr")?[row].cast_unsigned();
        let kept = (bytes - left_out_bytes).cast_unsigned();
        let own = addresses.cost(module, begin, kept).own;
        Ok(Some(WireCode {
            number: code,
            name: short(&self.rows.text("name")?[row]),
            bytes,
            left_out_bytes,
            samples: own.samples,
            own_ns: own.time.0,
        }))
    }
}

fn read_codes(run: &Opened<'_>, file: u32) -> Result<Vec<u8>, Error> {
    let (codes, addresses) = (Codes::of(run)?, run.addresses()?);
    // By line and code, the time of its samples at that line.
    let mut at_line: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    let mut seen = 0;
    scan(run, &["code", "vaddr", "size", "line"], ("file", file), |rows| {
        let (of, at) = (rows.u32("code")?, rows.i64("vaddr")?);
        let (sizes, lines) = (rows.u32("size")?, rows.u32("line")?);
        for row in (0..rows.len()).take(MOST_ROWS - seen) {
            let Some(module) = codes.module(of[row])?.filter(|_| lines[row] != 0) else { continue };
            let own = addresses.cost(module, at[row].cast_unsigned(), sizes[row].into()).own;
            let time = at_line.entry((lines[row], of[row])).or_default();
            *time = time.saturating_add(own.time.0);
        }
        seen += rows.len().min(MOST_ROWS - seen);
        Ok(())
    })?;
    let mut numbers: Vec<u32> = at_line.keys().map(|(_, code)| *code).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut told = Vec::new();
    for number in numbers {
        told.extend(codes.wire(number, addresses)?);
    }
    told.sort_by_key(|it| (Reverse(it.own_ns), it.number));
    told.truncate(MOST_CODES);
    let mut pairs: Vec<((u32, u32), i64)> = at_line.into_iter().collect();
    pairs.sort_by_key(|((line, code), time)| (*line, Reverse(*time), *code));
    let mut columns = Columns::default();
    columns.u32("line", pairs.iter().map(|((line, _), _)| *line));
    columns.u32("code", pairs.iter().map(|((_, code), _)| *code));
    Ok(columns.frame("source-codes", &SourceCodesHead { codes: told }))
}

/// `None` = there is no such code.
fn read_code(run: &Opened<'_>, number: u32) -> Result<Option<Vec<u8>>, Error> {
    let (codes, addresses) = (Codes::of(run)?, run.addresses()?);
    let (Some(code), Some(module)) = (codes.wire(number, addresses)?, codes.module(number)?) else {
        return Ok(None);
    };
    let mut instructions = Vec::new();
    let mut left_out = 0_usize;
    let (mut at, mut bytes, mut file, mut line) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut own, mut samples, mut with_calls) = (Vec::new(), Vec::new(), Vec::new());
    let places = ["vaddr", "size", "text", "leads_to", "file", "line", "inlined"];
    scan(run, &places, ("code", number), |rows| {
        let room = MOST_INSTRUCTIONS - instructions.len();
        left_out += rows.len().saturating_sub(room);
        let (texts, leads, inlined) = (rows.text("text")?, rows.text("leads_to")?, rows.text("inlined")?);
        let (addresses_of, sizes) = (rows.i64("vaddr")?, rows.u32("size")?);
        let (files, lines) = (rows.u32("file")?, rows.u32("line")?);
        for row in (0..rows.len()).take(room) {
            let cost = addresses.cost(module, addresses_of[row].cast_unsigned(), sizes[row].into());
            at.push(float(addresses_of[row]));
            bytes.push(sizes[row]);
            file.push(files[row]);
            line.push(lines[row]);
            own.push(float(cost.own.time.0));
            samples.push(float_u64(cost.own.samples));
            with_calls.push(float(cost.with_calls.time.0));
            instructions.push(WireInstruction {
                text: short(&texts[row]),
                leads_to: short(&leads[row]),
                inlined: short(&inlined[row]),
            });
        }
        Ok(())
    })?;
    let mut columns = Columns::default();
    columns.f64("address", at);
    columns.u32("bytes", bytes);
    columns.u32("file", file);
    columns.u32("line", line);
    columns.f64("own", own);
    columns.f64("samples", samples);
    columns.f64("with_calls", with_calls);
    let modules = run.archive.table("modules")?;
    let place = modules.u32("id")?.iter().position(|id| *id == module);
    let module = place.map_or_else(String::new, |row| {
        modules.text("path").map_or_else(|_| String::new(), |it| it[row].clone())
    });
    let left_out = u32::try_from(left_out).unwrap_or(u32::MAX);
    Ok(Some(columns.frame("source-code", &SourceCodeHead { code, module, instructions, left_out })))
}

/// Hands out the instructions that have a number in a column.
fn scan(
    run: &Opened<'_>,
    columns: &[&str],
    (column, number): (&str, u32),
    mut each: impl FnMut(&Rows) -> Result<(), Error>,
) -> Result<(), Error> {
    let only = [Filter { column, range: number.into()..i64::from(number) + 1 }];
    let mut outcome = Ok(());
    let scanned = run.archive.scan("source_instructions", columns, &only, |rows| {
        if outcome.is_ok() {
            outcome = each(rows);
        }
    })?;
    outcome?;
    scanned.damage.into_iter().next().map_or(Ok(()), Err)
}

/// No more of a text than is looked at.
fn short(text: &str) -> String {
    text.chars().take(MOST_LETTERS).collect()
}
