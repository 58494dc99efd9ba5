//! What lies where a run is to be written, and what may happen to it.
//!
//! The one idea: only a directory that is known to be a run of ours, or empty, is ever replaced. It
//! is moved aside first and comes back if the program could not even be started.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use marey_archive::{META_FILE, Meta, State};

use super::job_step::JobStep;
use super::spool_dir::{LAUNCH_FILE, LIBRARY_FILE, LOCK_FILE, SPOOL};
use crate::exit::Usage;
use crate::gather::{OWNER_FILE, must_be_ours};

/// What may happen to a finished run of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    /// It stays, and nothing is recorded.
    Refuse,
    /// It is replaced.
    Replace,
}

/// What lies where a run is to be written.
#[derive(Debug, PartialEq, Eq)]
enum Existing {
    Nothing,
    /// A run in which nothing was recorded, or an empty directory.
    Disposable,
    Finished,
    /// Recorded, but not merged; perhaps its launcher was killed, and the program goes on.
    Unmerged,
    /// Somebody records into it now.
    Busy,
    /// Not a run.
    Foreign,
}

fn look_at(path: &Path) -> io::Result<Existing> {
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Existing::Nothing),
        Err(error) => return Err(error),
    };
    // A link is not followed: it could lead to a directory that is not ours to replace.
    if !kind.is_dir() {
        return Ok(Existing::Foreign);
    }
    if is_locked(&path.join(LOCK_FILE))? {
        return Ok(Existing::Busy);
    }
    let spool = path.join(SPOOL);
    if is_finished(path) {
        return Ok(Existing::Finished);
    }
    if spool.is_dir() {
        // What was recorded elsewhere and not gathered counts as well.
        let elsewhere = place_of(&spool).is_some_and(|place| holds_recordings(&place));
        let is_empty = !elsewhere && !holds_recordings(&spool);
        return Ok(if is_empty { Existing::Disposable } else { Existing::Unmerged });
    }
    let is_empty = fs::read_dir(path)?.next().is_none();
    Ok(if is_empty { Existing::Disposable } else { Existing::Foreign })
}

/// Whether a run has been merged to the end. A list of tables that cannot be read counts as one: it
/// may still be worth something to its owner.
pub(crate) fn is_finished(run: &Path) -> bool {
    let is_merging = Meta::load(run).is_ok_and(|meta| meta.state == State::Merging);
    run.join(META_FILE).exists() && !is_merging
}

/// Moves what may be replaced out of the way, and says where to. `typed` is the path as the user
/// knows it.
pub(crate) fn move_aside(path: &Path, typed: &Path, overwrite: Overwrite) -> anyhow::Result<Option<PathBuf>> {
    if !may_be_replaced(path, typed, overwrite)? {
        return Ok(None);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".old-{}", std::process::id()));
    let aside = path.with_file_name(name);
    fs::rename(path, &aside).with_context(|| format!("cannot move {} aside", typed.display()))?;
    Ok(Some(aside))
}

/// Refuses what may not be replaced; whether there is anything.
pub(crate) fn may_be_replaced(path: &Path, typed: &Path, overwrite: Overwrite) -> anyhow::Result<bool> {
    let shown = typed.display();
    let existing = look_at(path).with_context(|| format!("cannot look at {shown}"))?;
    let refusal = match existing {
        Existing::Nothing => return Ok(false),
        Existing::Disposable => None,
        Existing::Busy => Some(format!("{shown} is being recorded into; choose another name with -o")),
        Existing::Foreign => Some(format!("{shown} is there and is not a run; choose another name with -o")),
        Existing::Finished if overwrite == Overwrite::Refuse => Some(format!(
            "{shown} holds a finished run; use --force to replace it, or -o to choose another name"
        )),
        Existing::Unmerged if overwrite == Overwrite::Refuse => Some(format!(
            "{shown} holds a recording that is not merged yet; `marey merge {shown}` finishes it, \
             --force replaces it, -o chooses another name"
        )),
        Existing::Finished | Existing::Unmerged => None,
    };
    if let Some(text) = refusal {
        bail!(Usage(text));
    }
    Ok(true)
}

/// Puts back what was moved aside.
pub(crate) fn restore(previous: Option<&Path>, path: &Path) {
    let Some(previous) = previous else { return };
    if let Err(error) = fs::rename(previous, path) {
        crate::exit::say(&format!("warning: the former run is now {}: {error}", previous.display()));
    }
}

/// Whether another recorder of the job step made the run at `path`, and it is not merged. It must be this
/// user's: whoever joins loads the library that lies there into the program.
pub(super) fn belongs_to(path: &Path, step: &JobStep) -> bool {
    !path.join(META_FILE).exists()
        && [path, &path.join(SPOOL)].into_iter().all(|dir| must_be_ours(dir).is_ok())
        && read_launch_file(&path.join(SPOOL)).is_some_and(|launch| launch["job_step"] == step.id.as_str())
}

/// Where the processes of a run record on each machine, if not into its spool, which is given.
pub(crate) fn place_of(spool: &Path) -> Option<PathBuf> {
    read_launch_file(spool)?["spool"].as_str().map(PathBuf::from)
}

fn read_launch_file(spool: &Path) -> Option<serde_json::Value> {
    let path = spool.join(LAUNCH_FILE);
    // A pipe would block us forever.
    let is_plain = fs::symlink_metadata(&path).is_ok_and(|data| data.is_file());
    serde_json::from_str(&is_plain.then(|| fs::read_to_string(path).ok()).flatten()?).ok()
}

pub(crate) fn is_locked(path: &Path) -> io::Result<bool> {
    match File::open(path) {
        Ok(file) => Ok(matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a spool holds anything that a measured process wrote.
pub(super) fn holds_recordings(spool: &Path) -> bool {
    let Ok(entries) = fs::read_dir(spool) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        name != LIBRARY_FILE
            && name != LOCK_FILE
            && name != OWNER_FILE
            && !name.as_bytes().starts_with(LAUNCH_FILE.as_bytes())
    })
}
