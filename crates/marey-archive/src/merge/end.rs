//! From tables that are written to a run that can be relied on.
//!
//! The one idea: the spool is the only other copy, so it goes last: after every part has been opened
//! and counted, and after the disk has said that it has them all. A merge that is interrupted before
//! that begins again, with what is whole of the one before.

use std::fs::File;
use std::path::Path;

use rayon::prelude::*;

use super::input::Input;
use crate::schema::{TABLES, TableSpec};
use crate::{Archive, Error, Meta, Part};

/// Opens what was written: every part is whole, of its table, and has the rows that it should.
///
/// # Errors
/// The first that is not.
pub(super) fn verify(run: &Path) -> Result<(), Error> {
    let archive = Archive::open(run)?;
    for (table, parts) in &archive.meta().tables {
        for part in parts {
            let Some(found) = rows(&archive, table, part) else { continue };
            let found = found?;
            if found != part.rows {
                let path = run.join(&part.file);
                return Err(Error::MissingRows { path, expected: part.rows, found });
            }
        }
    }
    Ok(())
}

/// Rows of a part by its footer; `None` if its table is unknown.
pub(super) fn rows(archive: &Archive, table: &str, part: &Part) -> Option<Result<u64, Error>> {
    let spec: &'static TableSpec = TABLES.iter().copied().find(|known| known.name == table)?;
    Some(archive.rows_of(spec, part))
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
