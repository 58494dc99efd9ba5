//! Tables that are added to a run when it has been merged.
//!
//! The one idea: the run is whole without them, and is so again when the last of them lies there: until the list of tables is
//! written they are files that nobody knows.

use std::path::Path;

use crate::part::write_table;
use crate::{Columns, Error, Meta, Part, State};

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
