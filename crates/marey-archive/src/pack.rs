//! Packing an archive into one file.
//!
//! The one idea: a packed run is a ZIP file whose entries are stored as they are. Every part lies
//! in it as one piece, so it is read in place like a file; and whoever has nothing of ours can
//! unzip it. Corrections of clocks go with it. The parts are compact already, compressing them again gains next to nothing.

use std::fs::File;
use std::io::{BufWriter, Cursor, Seek, Write, copy};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::corrections::{CORRECTIONS_FILE, Corrections};
use crate::meta::META_FILE;
use crate::store::Store;
use crate::{Archive, Aside, Error, schema};

/// Packs the run in `dir` into the file `out`: `meta.json` and the parts that it lists. The same
/// run makes the same bytes. `out` appears when it is complete.
///
/// # Errors
/// Also if a part is not the one that `meta.json` is about.
pub fn pack(dir: &Path, out: &Path) -> Result<(), Error> {
    let archive = Archive::open(dir)?;
    let store = Store::open(dir)?;
    for (table, parts) in &archive.meta().tables {
        // A table of a later version goes along unseen.
        let Some(spec) = schema::table(table) else { continue };
        parts.iter().try_for_each(|part| archive.rows_of(spec, part).map(drop))?;
    }
    let (aside, file) = Aside::new(out).map_err(Error::io(out))?;
    let mut files = archive.meta().files();
    files.insert(0, META_FILE);
    if !archive.corrections().is_empty() {
        files.insert(1, CORRECTIONS_FILE);
    }
    put_files(&store, &files, file, aside.path())?;
    aside.put(out).map_err(Error::io(out))
}

/// Packs some tables of a run, a directory or a packed file, in memory. `left_out` are further tables that it has and
/// that a reader should know of; the others are not mentioned.
///
/// # Errors
/// Also if a part is not the one that `meta.json` is about.
pub fn pack_tables(run: &Path, tables: &[&str], left_out: &[&str]) -> Result<Vec<u8>, Error> {
    let archive = Archive::open_as_merged(run)?;
    let store = Store::open(run)?;
    let mut meta = archive.meta().clone();
    left_out.iter().for_each(|table| meta.leave_out(table));
    meta.tables.retain(|table, _| tables.contains(&table.as_str()));
    for (table, parts) in &meta.tables {
        let Some(spec) = schema::table(table) else { continue };
        parts.iter().try_for_each(|part| archive.rows_of(spec, part).map(drop))?;
    }
    let pack_error = |source| Error::Pack { path: run.to_owned(), source };
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(META_FILE, options(0)).map_err(pack_error)?;
    zip.write_all(&meta.text(run)?).map_err(Error::io(run))?;
    let mut files = meta.files();
    if !Corrections::of(&store)?.is_empty() {
        files.insert(0, CORRECTIONS_FILE);
    }
    files.iter().try_for_each(|name| put_file(&store, name, &mut zip, run))?;
    Ok(zip.finish().map_err(pack_error)?.into_inner())
}

fn put_files(store: &Store, files: &[&str], out: File, path: &Path) -> Result<(), Error> {
    let mut zip = ZipWriter::new(BufWriter::new(out));
    files.iter().try_for_each(|name| put_file(store, name, &mut zip, path))?;
    let out = zip.finish().map_err(|source| Error::Pack { path: path.to_owned(), source })?;
    out.into_inner().map_err(|error| Error::io(path)(error.into_error()))?;
    Ok(())
}

/// Puts one file as it is into the file `path`.
fn put_file(
    store: &Store,
    name: &str,
    zip: &mut ZipWriter<impl Write + Seek>,
    path: &Path,
) -> Result<(), Error> {
    let section = store.section(name)?;
    let pack_error = |source| Error::Pack { path: path.to_owned(), source };
    zip.start_file(name, options(section.len())).map_err(pack_error)?;
    copy(&mut section.reader(0), zip).map_err(Error::io(store.path_of(name)))?;
    Ok(())
}

fn options(bytes: u64) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(bytes > u64::from(u32::MAX))
        .unix_permissions(0o600)
}
