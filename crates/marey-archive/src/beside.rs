//! Tables that are added to a run when it has been merged.
//!
//! The one idea: the run is whole without them, and is so again when the last of them lies there: until the list of tables is
//! written they are files that nobody knows.

use std::path::Path;

use crate::part::write_table;
use crate::schema::{NONE, PROBLEMS};
use crate::{Archive, Columns, Error, Meta, Part, State, Value};

/// Problems of a kind that are told one by one: a build that was begun anew has one for each record of a compiler.
const MOST_PROBLEMS: usize = 100;

/// Adds whole tables, each in the place of the one that is there. A run that is not finished is left as it is.
///
/// # Errors
/// If one cannot be written; the run is as it was then.
pub fn add_tables(run: &Path, tables: &[Columns]) -> Result<(), Error> {
    let mut meta = Meta::load(run)?;
    if meta.state != State::Finished {
        return Ok(());
    }
    for rows in tables {
        let stats = write_table(run, rows)?;
        meta.add(rows.spec(), Part::new(rows.spec(), 0, 0, stats));
    }
    meta.save(run)
}

/// Adds problems of one kind, which are of the run as a whole, to those that it has.
///
/// # Errors
/// If the run's cannot be read, or these not be written; the run is as it was then.
pub fn add_problems(run: &Path, kind: &str, details: &[String]) -> Result<(), Error> {
    if details.is_empty() {
        return Ok(());
    }
    let mut problems = Archive::open_as_merged(run)?.table(PROBLEMS.name)?;
    let (few, more) = details.split_at(details.len().min(MOST_PROBLEMS));
    let row = |count: usize| (Value::Text(kind), Value::I64(i64::try_from(count).unwrap_or(i64::MAX)));
    for detail in few {
        let (kind, count) = row(1);
        problems.push(&[kind, Value::U32(NONE), Value::U32(NONE), count, Value::Text(detail)])?;
    }
    if !more.is_empty() {
        let (kind, count) = row(more.len());
        let detail = Value::Text("and more of the kind");
        problems.push(&[kind, Value::U32(NONE), Value::U32(NONE), count, detail])?;
    }
    add_tables(run, &[problems])
}
