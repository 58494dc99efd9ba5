//! Opening a run, with errors that say what to do.

use std::path::Path;

use anyhow::{Context, bail};
use marey_archive::{Archive, META_FILE, RunTrace, State};

use crate::exit::Usage;
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
        let trace = RunTrace::load(&archive).with_context(|| format!("{} is damaged", path.display()))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(Self { name: crate::paint::harmless(&name), archive, trace })
    }
}

/// Opens a directory or a packed file.
pub(crate) fn open_archive(path: &Path) -> anyhow::Result<Archive> {
    let shown = path.display();
    if !path.exists() {
        bail!(Usage(format!("there is no run at {shown}; `marey record -- CMD` makes one")));
    }
    let has_no_tables = path.is_dir() && !path.join(META_FILE).exists();
    if has_no_tables && path.join(SPOOL).is_dir() {
        bail!(Usage(format!("{shown} is not merged yet; `marey merge {shown}` does it")));
    }
    if has_no_tables {
        bail!(Usage(format!("{shown} is not a run: it has no {META_FILE}")));
    }
    let archive = Archive::open(path).with_context(|| format!("cannot open {shown}"))?;
    if archive.meta().state == State::Merging {
        bail!(Usage(format!("the merge of {shown} was not finished; `marey merge {shown}` goes on with it")));
    }
    Ok(archive)
}
