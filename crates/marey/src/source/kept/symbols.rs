//! What symbols of the source were worth, kept when a run is merged: the table `symbols`.
//!
//! The one idea: expressions are known when sources have been read, accesses when the run has been merged, so both are
//! joined here, once; whoever opens the run finds values.
//!
//! Deliberately absent: runs of which only sums were recorded, which have no single accesses.

use std::path::Path;

use marey_analyze::Symbols;
use marey_archive::schema::SYMBOLS;
use marey_archive::{Archive, Columns, RunTrace, Value, Wanted, source_symbols};

/// Finds values of the expressions that a run has kept.
pub(super) fn of(run: &Path) -> anyhow::Result<Columns> {
    let mut kept = Columns::new(&SYMBOLS);
    let archive = Archive::open_as_merged(run)?;
    let known = source_symbols(&archive)?;
    if known.references.is_empty() || !archive.has_accesses() {
        return Ok(kept);
    }
    let trace = RunTrace::load(&archive)?;
    let mut symbols = Symbols::new(&trace, &known.references);
    let wanted = Wanted { array: &|_| true, location: &|_| true, span: i64::MIN..i64::MAX };
    let damage = archive.accesses(&trace, &wanted, |access| symbols.add(access))?;
    if let Some(error) = damage.into_iter().next() {
        return Err(error.into());
    }
    let signed = |number: u64| Value::I64(i64::try_from(number).unwrap_or(i64::MAX));
    for row in symbols.rows() {
        let Some(id) = known.ids.get(row.reference).and_then(|all| all.get(row.symbol)) else { continue };
        kept.push(&[
            Value::U32(*id),
            Value::U32(row.location.0),
            Value::I64(row.from.0),
            Value::I64(row.values.0),
            Value::I64(row.values.1),
            signed(row.changes),
            signed(row.accesses),
        ])?;
    }
    Ok(kept)
}
