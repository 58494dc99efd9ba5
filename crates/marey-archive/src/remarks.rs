//! What compilers said of the program that ran, kept with the run.
//!
//! The one idea: records of compilers are overwritten by the next build, so what they say of the program that ran is put
//! beside what it did when it is merged. It is a by-product, as explanations are: an archive without it is whole.
//!
//! What is deliberately absent: whatever is not on the list of `redact.rs`, and this is not, so copies that do not say whose
//! they are have none of it.

use std::path::Path;

use marey_analyze::{LoopOutcome, RemarkRow};

#[cfg(unix)]
use crate::Columns;
use crate::schema::REMARKS;
use crate::{Archive, Error, Value};

/// Of what the columns mean.
const VERSION: i64 = 1;

/// Adds remarks to the tables of a run that has been merged.
///
/// # Errors
/// What of the run could not be read, or written; it is as whole as before then.
#[cfg(unix)]
pub fn keep_remarks(run: &Path, rows: &[RemarkRow]) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut sorted: Vec<&RemarkRow> = rows.iter().collect();
    sorted.sort_by_key(|row| (&row.file, row.first_line, row.last_line, row.line, row.column, *row));
    let mut table = Columns::new(&REMARKS);
    sorted.into_iter().try_for_each(|row| table.push(&values(row)))?;
    crate::add_tables(run, &[table])
}

fn values(row: &RemarkRow) -> Vec<Value<'_>> {
    vec![
        Value::I64(VERSION),
        Value::Text(&row.file),
        Value::U32(row.first_line),
        Value::U32(row.last_line),
        Value::U32(row.is_read.into()),
        Value::Text(&row.function),
        Value::Text(row.outcome.name()),
        Value::Text(&row.kind),
        Value::U32(row.line),
        Value::U32(row.column),
        Value::Text(&row.compiler),
        Value::Text(&row.pass),
        Value::Text(&row.reason),
        Value::Text(&row.said),
        Value::Text(&row.dependence),
        Value::I64(row.distance),
        Value::Text(&row.array),
        Value::U32(row.is_array_of_text.into()),
        Value::U32(row.lanes),
        Value::Text(&row.callee),
        Value::Text(&row.inlined_into),
    ]
}

/// What compilers said of the program of a run; nothing if there were no records when it was merged.
///
/// # Errors
/// The table cannot be read.
pub fn remarks(archive: &Archive) -> Result<Vec<RemarkRow>, Error> {
    let mut rows = Vec::new();
    if archive.meta().rows(REMARKS.name) == 0 {
        return Ok(rows);
    }
    let table = archive.table(REMARKS.name)?;
    let text = |name: &str| table.text(name);
    let (versions, distances) = (table.i64("version")?, table.i64("distance")?);
    let (first, last, is_read) = (table.u32("first_line")?, table.u32("last_line")?, table.u32("is_read")?);
    let (line, column) = (table.u32("line")?, table.u32("column")?);
    let (is_array_of_text, lanes) = (table.u32("is_array_of_text")?, table.u32("lanes")?);
    let (file, function, outcome, kind) = (text("file")?, text("function")?, text("outcome")?, text("kind")?);
    let (compiler, pass, reason, said) = (text("compiler")?, text("pass")?, text("reason")?, text("said")?);
    let (dependence, array) = (text("dependence")?, text("array")?);
    let (callee, inlined_into) = (text("callee")?, text("inlined_into")?);
    for at in 0..table.len() {
        let Some(outcome) = LoopOutcome::from_name(&outcome[at]).filter(|_| versions[at] == VERSION) else {
            continue;
        };
        rows.push(RemarkRow {
            file: file[at].clone(),
            first_line: first[at],
            last_line: last[at].max(first[at]),
            is_read: is_read[at] == 1,
            function: function[at].clone(),
            outcome,
            kind: kind[at].clone(),
            line: line[at],
            column: column[at],
            compiler: compiler[at].clone(),
            pass: pass[at].clone(),
            reason: reason[at].clone(),
            said: said[at].clone(),
            dependence: dependence[at].clone(),
            distance: distance_of(distances[at]),
            array: array[at].clone(),
            is_array_of_text: is_array_of_text[at] == 1,
            lanes: if lanes[at] <= MOST_LANES { lanes[at] } else { 0 },
            callee: callee[at].clone(),
            inlined_into: inlined_into[at].clone(),
        });
    }
    Ok(rows)
}

/// No vector has more elements.
const MOST_LANES: u32 = 4096;

fn distance_of(value: i64) -> i64 {
    value.max(-1)
}
