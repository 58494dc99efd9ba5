//! From tables that are written to a run that can be relied on.
//!
//! The one idea: the spool is the only other copy, so it goes last: after every part has been opened
//! and counted, and after the disk has said that it has them all. A merge that is interrupted before
//! that begins again, with what is whole of the one before.

use std::fs::File;
use std::path::Path;

use rayon::prelude::*;

use super::input::Input;
use crate::{Archive, Error, Meta, Part};

/// Opens what was written: every part is whole, of its table, and has the rows that it should.
///
/// # Errors
/// One that is not.
pub(super) fn verify(run: &Path) -> Result<(), Error> {
    let archive = Archive::open(run)?;
    let tables = archive.meta().tables.iter();
    let parts: Vec<(&String, &Part)> =
        tables.flat_map(|(table, parts)| parts.iter().map(move |part| (table, part))).collect();
    parts.par_iter().try_for_each(|(table, part)| match rows(&archive, table, part) {
        Some(Ok(found)) if found != part.rows => {
            Err(Error::MissingRows { path: run.join(&part.file), expected: part.rows, found })
        }
        Some(Err(error)) => Err(error),
        _ => Ok(()),
    })
}

/// Rows of a part by its footer; `None` if its table is unknown.
pub(super) fn rows(archive: &Archive, table: &str, part: &Part) -> Option<Result<u64, Error>> {
    Some(archive.rows_of(crate::schema::table(table)?, part))
}

/// Waits until the disk has all parts and their names, so that a failure of power does not leave a run
/// that says to be finished and is not. Several at a time: a file system can write them together.
///
/// # Errors
/// If the disk does not take them.
pub(super) fn settle(run: &Path, meta: &Meta) -> Result<(), Error> {
    let files: Vec<_> = meta.tables.values().flatten().map(|part| run.join(&part.file)).collect();
    let mut directories: Vec<_> = files.iter().filter_map(|file| file.parent()).collect();
    directories.sort();
    directories.dedup();
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all()).map_err(Error::io(path));
    files.par_iter().try_for_each(|file| sync(file))?;
    directories.par_iter().try_for_each(|directory| sync(directory))
}

/// Removes the files that were merged; whatever else lies in the spool stays.
///
/// # Errors
/// If that is not allowed.
pub(super) fn remove(spool: &Path, input: &Input) -> Result<(), Error> {
    for source in &input.index.files {
        std::fs::remove_file(&source.path).map_err(Error::io(&source.path))?;
    }
    match std::fs::remove_dir(spool) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(()),
        // A link to a spool elsewhere.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(()),
        Err(source) => Err(Error::Io { path: spool.to_owned(), source }),
    }
}
