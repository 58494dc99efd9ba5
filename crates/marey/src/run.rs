//! Opening a run, with errors that say what to do.
//!
//! The one idea: what is not a finished run is one of a few things — nothing, a recording that is not
//! merged, a merge that was cut short, something else — and each has its own way out.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail};
use marey_archive::corrections::CORRECTIONS_FILE;
use marey_archive::{Archive, Error, META_FILE, RunTrace, State};

use crate::doctor::shell::quote;
use crate::exit::{Usage, say};
use crate::merge::{holds_recordings, is_cut_short};
use crate::record::SPOOL;

/// A finished run.
#[derive(Debug)]
pub(crate) struct Run {
    /// What it is called in headings.
    pub(crate) name: String,
    /// Its tables.
    pub(crate) archive: Archive,
    /// Its definitions and sums.
    pub(crate) trace: RunTrace,
}

impl Run {
    /// Opens a directory or a packed file and reads what is small.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let archive = open_archive(path)?;
        if is_cut_short(path) {
            let shown = quote(&path.to_string_lossy());
            say(&format!(
                "warning: the merge of the run is not through: what compilers said of the program and what it consists \
                 of may be missing; `marey merge {shown}` does the rest"
            ));
        }
        let trace = RunTrace::load(&archive).map_err(|error| damaged(path, &error))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(Self { name: crate::paint::harmless(&name), archive, trace })
    }
}

/// A run of which something is missing or not what it was, and what can be done about it.
pub(crate) fn damaged(path: &Path, error: &Error) -> anyhow::Error {
    let shown = path.display();
    let remedy = if holds_recordings(&path.join(SPOOL)) {
        format!("`marey merge {shown} --force` makes it anew from its spool")
    } else {
        "copy the run again from where it is whole, or record it again".to_owned()
    };
    anyhow::anyhow!("{shown} is damaged: {error}; {remedy}")
}

/// Opens a directory or a packed file.
pub(crate) fn open_archive(path: &Path) -> anyhow::Result<Archive> {
    let shown = path.display();
    match path.metadata() {
        Ok(metadata) if metadata.is_file() && !begins_like_zip(path) => {
            bail!(Usage(format!(
                "{shown} is not a run: neither a directory with a {META_FILE} nor a packed run"
            )));
        }
        // A pipe would keep us waiting, a device has no end.
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            bail!(Usage(format!("{shown} is not a run: neither a directory nor a file")));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!(Usage(format!("there is no run at {shown}; `marey record -- CMD` makes one")));
        }
        Err(error) => return Err(error).with_context(|| format!("cannot open {shown}")),
    }
    // Whether a directory is a run cannot be told of one that may not be read.
    if path.is_dir() {
        path.read_dir().with_context(|| format!("cannot open {shown}"))?;
    }
    let has_no_tables = path.is_dir() && !path.join(META_FILE).exists();
    let spool = path.join(SPOOL);
    if has_no_tables && spool.is_dir() && !holds_recordings(&spool) {
        bail!(Usage(format!("nothing was recorded in {shown}: no measured process has left anything there")));
    }
    if has_no_tables && spool.is_dir() {
        bail!(Usage(format!("{shown} is not merged yet; `marey merge {shown}` does it")));
    }
    if has_no_tables {
        bail!(Usage(format!("{shown} is not a run: it has no {META_FILE}")));
    }
    let archive = Archive::open(path).map_err(|error| cannot_open(path, error))?;
    if archive.meta().state == State::Merging {
        bail!(Usage(format!("the merge of {shown} was not finished; `marey merge {shown}` goes on with it")));
    }
    Ok(archive)
}

/// Why a run cannot be opened, and the way out of it.
fn cannot_open(path: &Path, error: Error) -> anyhow::Error {
    let shown = path.display();
    let hint = match &error {
        error if is_about_corrections(error) && path.is_dir() => {
            format!("`marey merge {shown} --reset` throws these corrections of clocks away")
        }
        error if is_about_corrections(error) => {
            format!(
                "unpack it (unzip {shown} -d DIR), and `marey merge DIR --reset` throws these corrections away"
            )
        }
        Error::Pack { .. } => "it was cut short or is no run; copy it again".to_owned(),
        _ => return anyhow::Error::new(error).context(format!("cannot open {shown}")),
    };
    anyhow::anyhow!("cannot open {shown}: {error}; {hint}")
}

/// Whether corrections of clocks are there that cannot be understood: the run itself may be whole.
pub(crate) fn is_about_corrections(error: &Error) -> bool {
    match error {
        Error::Meta { path, .. } | Error::UnknownSchema { path, .. } | Error::TooLarge { path, .. } => {
            path.ends_with(CORRECTIONS_FILE)
        }
        _ => false,
    }
}

/// Whether a file could be a packed run, whole or cut off. One that cannot be read could.
pub(crate) fn begins_like_zip(path: &Path) -> bool {
    let mut start = [0; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    match read {
        Ok(()) => start == *b"PK",
        Err(error) => error.kind() != io::ErrorKind::UnexpectedEof,
    }
}
