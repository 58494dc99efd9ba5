//! The directory of a run while it is being recorded: making it safely, protecting what is there.
//!
//! The one idea: a directory made by `mkdir` with mode 0700 is ours from its first moment, so
//! nobody can plant a file or a link inside; and a directory that was there before is either known
//! to be a run of ours or left alone. What is replaced is first moved aside and comes back if
//! the program could not even be started.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use marey_archive::{META_FILE, Meta, State};

use crate::embedded;
use crate::exit::Usage;

/// Where the spool lies inside a run.
pub(crate) const SPOOL: &str = "spool";
/// What was started, when and how: written by the launcher, read by the merge.
pub(crate) const LAUNCH_FILE: &str = "launch.json";
const LIBRARY_FILE: &str = "libmarey.so";
/// Locked for as long as somebody records into the run.
const LOCK_FILE: &str = "recording.lock";

/// A run directory made for this recording.
#[derive(Debug)]
pub(crate) struct RunDir {
    /// The run, absolute.
    pub(crate) path: PathBuf,
    /// The spool of the run, absolute; outside the run with `--spool`.
    pub(crate) spool: PathBuf,
    /// What lay there before, moved aside.
    previous: Option<PathBuf>,
    /// A library that had to be unpacked elsewhere, because the dynamic linker could not take it
    /// from the spool.
    library_dir: Option<PathBuf>,
    _lock: File,
}

/// What may happen to a finished run of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    /// It stays, and nothing is recorded.
    Refuse,
    /// It is replaced.
    Replace,
}

impl RunDir {
    /// Makes `run` and its spool, inside `spool_parent` if that is given.
    pub(crate) fn create(
        run: &Path,
        spool_parent: Option<&Path>,
        overwrite: Overwrite,
    ) -> anyhow::Result<Self> {
        let path = std::path::absolute(run).with_context(|| format!("no such place: {}", run.display()))?;
        let previous = move_aside(&path, run, overwrite)?;
        let made = Self::make(&path, spool_parent);
        match made {
            Ok((spool, lock)) => Ok(Self { path, spool, previous, library_dir: None, _lock: lock }),
            Err(error) => {
                restore(previous.as_deref(), &path);
                Err(error)
            }
        }
    }

    fn make(path: &Path, spool_parent: Option<&Path>) -> anyhow::Result<(PathBuf, File)> {
        make_dir(path)?;
        let lock_path = path.join(LOCK_FILE);
        let lock = create_new(&lock_path, 0o600)?;
        lock.try_lock().with_context(|| format!("cannot lock {}", lock_path.display()))?;
        let spool = path.join(SPOOL);
        let Some(parent) = spool_parent else {
            make_dir(&spool)?;
            return Ok((spool, lock));
        };
        let parent = std::path::absolute(parent).context("no such place for the spool")?;
        let elsewhere = make_unique_dir(&parent)?;
        // A link, so that `marey merge RUN` finds the spool wherever it lies. The run is ours and
        // closed to others, so nobody else can have put it there.
        std::os::unix::fs::symlink(&elsewhere, &spool)
            .with_context(|| format!("cannot link {}", spool.display()))?;
        Ok((elsewhere, lock))
    }

    /// Unpacks the library into a place that the dynamic linker can preload it from.
    pub(crate) fn unpack_library(&mut self) -> anyhow::Result<PathBuf> {
        let dir = if can_preload_from(&self.spool) {
            self.spool.clone()
        } else {
            let temporary = make_unique_dir(&std::env::temp_dir())?;
            self.library_dir = Some(temporary.clone());
            temporary
        };
        let library = dir.join(LIBRARY_FILE);
        let mut file = create_new(&library, 0o700)?;
        file.write_all(embedded::LIBRARY).with_context(|| format!("cannot write {}", library.display()))?;
        Ok(library)
    }

    /// Replaces the launch file of the spool.
    pub(crate) fn write_launch_file(&self, text: &str) -> anyhow::Result<()> {
        let aside = self.spool.join(format!("{LAUNCH_FILE}.new"));
        let place = self.spool.join(LAUNCH_FILE);
        // Written aside and renamed, so that a reader sees the old text or the new, never half.
        let mut file = create_new(&aside, 0o600)?;
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", aside.display()))?;
        fs::rename(&aside, &place).with_context(|| format!("cannot write {}", place.display()))
    }

    /// Whether any process left something in the spool.
    pub(crate) fn is_empty(&self) -> bool {
        !holds_recordings(&self.spool)
    }

    /// The program runs: what lay here before is given up.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        self.previous.take().map_or(Ok(()), fs::remove_dir_all)
    }

    /// The program never ran: everything is as it was before.
    pub(crate) fn abandon(self) -> io::Result<()> {
        self.remove_library()?;
        if !self.spool.starts_with(&self.path) {
            fs::remove_dir_all(&self.spool)?;
        }
        fs::remove_dir_all(&self.path)?;
        restore(self.previous.as_deref(), &self.path);
        Ok(())
    }

    /// Nobody records any more: takes away the lock and the library, whose work is done.
    pub(crate) fn close(self) -> io::Result<()> {
        self.remove_library()?;
        remove_if_there(&self.spool.join(LIBRARY_FILE))?;
        remove_if_there(&self.path.join(LOCK_FILE))
    }

    fn remove_library(&self) -> io::Result<()> {
        self.library_dir.as_ref().map_or(Ok(()), fs::remove_dir_all)
    }
}

/// What lies where a run is to be written.
#[derive(Debug, PartialEq, Eq)]
enum Existing {
    Nothing,
    /// A run that was never finished and holds nothing worth keeping, or an empty directory.
    Disposable,
    Finished,
    /// Recorded to the end, but not merged.
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
    // A list of tables that cannot be read may still be worth something to its owner.
    let is_merging = Meta::load(path).is_ok_and(|meta| meta.state == State::Merging);
    if path.join(META_FILE).exists() && !is_merging {
        return Ok(Existing::Finished);
    }
    if spool.is_dir() {
        let is_unmerged = holds_recordings(&spool) && has_ended(&spool);
        return Ok(if is_unmerged { Existing::Unmerged } else { Existing::Disposable });
    }
    let is_empty = fs::read_dir(path)?.next().is_none();
    Ok(if is_empty { Existing::Disposable } else { Existing::Foreign })
}

/// `typed` is the path as the user knows it.
fn move_aside(path: &Path, typed: &Path, overwrite: Overwrite) -> anyhow::Result<Option<PathBuf>> {
    let shown = typed.display();
    let existing = look_at(path).with_context(|| format!("cannot look at {shown}"))?;
    let refusal = match existing {
        Existing::Nothing => return Ok(None),
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
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".old-{}", std::process::id()));
    let aside = path.with_file_name(name);
    fs::rename(path, &aside).with_context(|| format!("cannot move {shown} aside"))?;
    Ok(Some(aside))
}

fn restore(previous: Option<&Path>, path: &Path) {
    let Some(previous) = previous else { return };
    if let Err(error) = fs::rename(previous, path) {
        crate::exit::say(&format!("warning: the former run is now {}: {error}", previous.display()));
    }
}

/// Whether the dynamic linker can load a library from `dir`: it splits LD_PRELOAD at spaces and
/// colons without any escape, expands `$ORIGIN` and the like, and maps code only from file systems
/// that allow it.
fn can_preload_from(dir: &Path) -> bool {
    let is_clean = !dir.as_os_str().as_bytes().iter().any(|byte| b" :;$\t\n".contains(byte));
    let allows_code = rustix::fs::statvfs(dir)
        .is_ok_and(|system| !system.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC));
    is_clean && allows_code
}

fn make_dir(path: &Path) -> anyhow::Result<()> {
    DirBuilder::new().mode(0o700).create(path).with_context(|| format!("cannot make {}", path.display()))
}

fn make_unique_dir(parent: &Path) -> anyhow::Result<PathBuf> {
    // The name need not be hard to guess: `mkdir` fails on whatever is there already.
    for attempt in 0..1000 {
        let path = parent.join(format!("marey-{}-{attempt}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot make {}", path.display())),
            Ok(()) => return Ok(path),
        }
    }
    bail!("cannot make a directory for the spool in {}: too many lie there", parent.display())
}

/// Makes a file that was not there before; never follows a link.
fn create_new(path: &Path, mode: u32) -> anyhow::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn is_locked(path: &Path) -> io::Result<bool> {
    match File::open(path) {
        Ok(file) => Ok(matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a spool holds anything that a measured process wrote.
fn holds_recordings(spool: &Path) -> bool {
    let Ok(entries) = fs::read_dir(spool) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        name != LIBRARY_FILE && !name.as_bytes().starts_with(LAUNCH_FILE.as_bytes())
    })
}

fn has_ended(spool: &Path) -> bool {
    fs::read_to_string(spool.join(LAUNCH_FILE))
        .ok()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .is_some_and(|launch| !launch["end"].is_null())
}
