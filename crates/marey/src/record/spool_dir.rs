//! The directory of a run while it is being recorded: making it safely, protecting what is there.
//!
//! The one idea: a directory made by `mkdir` with mode 0700 is ours from its first moment, so
//! nobody can plant a file or a link inside. Recorders of one job step share the directory that the
//! first of them made, and a lock tells the last of them that it is.
//!
//! Where processes record elsewhere, each machine has a directory of the same name, a random one, for the
//! run; how that is made and brought home is told in [`super::apart`].

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::process::{Resource, getrlimit};

use super::apart::Apart;
use super::existing::{Overwrite, belongs_to, holds_recordings, is_locked, move_aside, place_of, restore};
use super::job_step::JobStep;
use crate::embedded;
use crate::exit::say;

/// Where the spool lies inside a run.
pub(crate) const SPOOL: &str = "spool";
/// What was started, when and how: written by the launcher, read by the merge.
pub(crate) const LAUNCH_FILE: &str = "launch.json";
/// The recorder, unpacked.
pub(crate) const LIBRARY_FILE: &str = marey_model::RECORDER_FILE;
/// Locked for as long as somebody records into the run.
pub(crate) const LOCK_FILE: &str = "recording.lock";
const MEMBER: &str = "recorder-";
/// What the names of directories begin with that processes record into instead of the spool.
const PLACE: &str = "marey-";
/// What the names of the files begin with in which the ranks of a world announce themselves.
pub(crate) const WORLD_FILES: &str = "world-";

/// A run directory that this recorder records into.
#[derive(Debug)]
pub(crate) struct RunDir {
    /// The run, absolute.
    pub(crate) path: PathBuf,
    /// Where processes of this machine record, if that is not the run's own spool.
    apart: Option<Apart>,
    /// Whether this recorder made the directory or found it made by another of its job step.
    pub(crate) origin: Origin,
    /// What lay there before, moved aside.
    previous: Option<PathBuf>,
    /// A library that had to be unpacked elsewhere, because the dynamic linker could not take it
    /// from the spool.
    library_dir: Option<PathBuf>,
    /// Held, shared, for as long as this recorder records.
    lock: File,
    /// Held while the directory is being made, so that recorders of one step do not race.
    making: Option<File>,
    /// Whether the directory is complete, so that others may record into it too.
    is_made: bool,
}

/// Who made a run directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This recorder.
    Made,
    /// Another recorder of the same job step.
    Joined,
}

/// Who still records when a recorder is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nobody: what remains to be done is up to this recorder.
    Nobody,
    /// Others of the job step.
    Others,
    /// Nobody now, but not every process of the step had a recorder yet, and some may be to come.
    Perhaps,
}

impl RunDir {
    /// Makes `run` and its spool, inside `spool_parent` if that is given; or joins the recorders of
    /// the same job step that have done so.
    pub(crate) fn enter(
        run: &Path,
        spool_parent: Option<&Path>,
        overwrite: Overwrite,
        step: Option<&JobStep>,
    ) -> anyhow::Result<Self> {
        let path = std::path::absolute(run).with_context(|| format!("no such place: {}", run.display()))?;
        let making = path.parent().and_then(lock_directory);
        if let Some(step) = step
            && belongs_to(&path, step)
        {
            return Self::join(path, making);
        }
        let previous = move_aside(&path, run, overwrite)?;
        match Self::make(&path, spool_parent) {
            Ok((apart, lock)) => {
                let origin = Origin::Made;
                Ok(Self { path, apart, origin, previous, library_dir: None, lock, making, is_made: false })
            }
            Err(error) => {
                restore(previous.as_deref(), &path);
                Err(error)
            }
        }
    }

    /// Makes the directory with all that is in it, or nothing.
    fn make(path: &Path, spool_parent: Option<&Path>) -> anyhow::Result<(Option<Apart>, File)> {
        make_dir(path)?;
        let made = Self::fill(path, spool_parent);
        if made.is_err() {
            tell_of(fs::remove_dir_all(path));
        }
        made
    }

    fn join(path: PathBuf, making: Option<File>) -> anyhow::Result<Self> {
        let lock_path = path.join(LOCK_FILE);
        let cannot = || format!("cannot join the recording of {}", path.display());
        let lock = File::open(&lock_path).with_context(cannot)?;
        // A recorder that ends looks for a moment whether it is the last; it is not, without us.
        lock.lock_shared().with_context(cannot)?;
        create_new(&path.join(member_name()), 0o600)?;
        let origin = Origin::Joined;
        let mut run = Self {
            path,
            apart: None,
            origin,
            previous: None,
            library_dir: None,
            lock,
            making,
            is_made: false,
        };
        if let Some(place) = place_of(&run.home()) {
            match Apart::enter(&place, &run.path) {
                Ok(apart) => run.apart = Some(apart),
                Err(error) => say(&format!(
                    "warning: {}; this machine records into the run instead",
                    crate::exit::text_of(&error)
                )),
            }
        }
        Ok(run)
    }

    fn fill(path: &Path, spool_parent: Option<&Path>) -> anyhow::Result<(Option<Apart>, File)> {
        let lock_path = path.join(LOCK_FILE);
        let lock = create_new(&lock_path, 0o600)?;
        lock.try_lock_shared().with_context(|| format!("cannot lock {}", lock_path.display()))?;
        create_new(&path.join(member_name()), 0o600)?;
        make_dir(&path.join(SPOOL))?;
        let apart = spool_parent.map(|parent| Apart::make(parent, path)).transpose()?;
        Ok((apart, lock))
    }

    /// The spool inside the run, where all that was recorded is in the end.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join(SPOOL)
    }

    /// Where processes of this machine record, absolute.
    pub(crate) fn spool(&self) -> PathBuf {
        self.apart.as_ref().map_or_else(|| self.home(), |apart| apart.path.clone())
    }

    /// The same, if it is not the spool inside the run.
    pub(crate) fn place_apart(&self) -> Option<&Path> {
        self.apart.as_ref().map(|apart| apart.path.as_path())
    }

    /// Brings home what this machine has recorded elsewhere, if this is the last recorder that it has.
    pub(crate) fn bring_home(&mut self) -> anyhow::Result<()> {
        let home = self.home();
        self.apart.take().map_or(Ok(()), |apart| apart.bring(&home))
    }

    /// Unpacks the library into a place that the dynamic linker can preload it from.
    pub(crate) fn unpack_library(&mut self) -> anyhow::Result<PathBuf> {
        // Inside the run, which other machines see too.
        let home = self.home();
        let in_spool = home.join(LIBRARY_FILE);
        if self.origin == Origin::Joined && in_spool.exists() {
            return Ok(in_spool);
        }
        let dir = if can_preload_from(&home) {
            home
        } else {
            let temporary = make_loadable_dir(&home)?;
            self.library_dir = Some(temporary.clone());
            temporary
        };
        let library = dir.join(LIBRARY_FILE);
        let mut file = create_new(&library, 0o700)?;
        file.write_all(embedded::LIBRARY).with_context(|| cannot_write_library(&library))?;
        Ok(library)
    }

    /// The directory is complete: other recorders of the job step may join.
    pub(crate) fn made(&mut self) {
        self.making = None;
        self.is_made = true;
    }

    /// Replaces the launch file of the spool.
    pub(crate) fn write_launch_file(&self, text: &str) -> anyhow::Result<()> {
        let aside = self.home().join(format!("{LAUNCH_FILE}.new"));
        let place = self.home().join(LAUNCH_FILE);
        // Written aside and renamed, so that a reader sees the old text or the new, never half.
        let mut file = create_new(&aside, 0o600)?;
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", aside.display()))?;
        fs::rename(&aside, &place).with_context(|| format!("cannot write {}", place.display()))
    }

    /// Whether any process left something in the spool.
    pub(crate) fn is_empty(&self) -> bool {
        !holds_recordings(&self.home())
    }

    /// The program runs: what lay here before is given up.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        self.previous.take().map_or(Ok(()), fs::remove_dir_all)
    }

    /// The program never ran: everything is as it was before, unless others record here too.
    pub(crate) fn abandon(self, step: Option<&JobStep>) {
        // None of the others has seen a directory that is still being made.
        let is_shared = step.is_some() && (self.origin == Origin::Joined || self.is_made);
        tell_of(if is_shared { self.remove_library() } else { self.remove() });
    }

    fn remove(&self) -> io::Result<()> {
        self.remove_library()?;
        if let Some(apart) = &self.apart {
            fs::remove_dir_all(&apart.path)?;
        }
        fs::remove_dir_all(&self.path)?;
        restore(self.previous.as_deref(), &self.path);
        Ok(())
    }

    /// This recorder is done, and its program ended well or not. Whether it is the last of its job step:
    /// then it holds the lock alone.
    pub(crate) fn leave(&self, step: Option<&JobStep>, ended_well: bool) -> anyhow::Result<Left> {
        let Some(step) = step else { return Ok(Left::Nobody) };
        self.lock.unlock().context("cannot unlock the run")?;
        if self.lock.try_lock().is_err() {
            return Ok(Left::Others);
        }
        let entries = fs::read_dir(&self.path).context("cannot read the run")?;
        let members = entries.flatten().filter(|entry| is_member(&entry.file_name())).count();
        // Where only some processes of the step have recorders there are never as many. But a world that
        // has been through `MPI_Init` has waited there for all its processes, and so for their recorders.
        let is_complete = members >= step.size || (ended_well && met_as_a_world(&self.home()));
        if !is_complete {
            self.lock.unlock().context("cannot unlock the run")?;
            return Ok(Left::Perhaps);
        }
        Ok(Left::Nobody)
    }

    /// Nobody records any more: takes away the locks and the library, whose work is done.
    pub(crate) fn close(self) -> io::Result<()> {
        self.give_up_library()?;
        let path = self.path;
        drop(self.lock);
        tidy(&path)
    }

    /// Takes the library away, which nobody will load any more.
    pub(crate) fn give_up_library(&self) -> io::Result<()> {
        self.remove_library()?;
        remove_if_there(&self.home().join(LIBRARY_FILE))
    }

    fn remove_library(&self) -> io::Result<()> {
        self.library_dir.as_ref().map_or(Ok(()), |dir| match fs::remove_dir_all(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        })
    }
}

/// Takes away what recorders have left in a run to find each other, unless one still records.
pub(crate) fn tidy(run: &Path) -> io::Result<()> {
    if is_locked(&run.join(LOCK_FILE))? {
        return Ok(());
    }
    for entry in fs::read_dir(run)? {
        let entry = entry?;
        if is_member(&entry.file_name()) {
            remove_if_there(&entry.path())?;
        }
    }
    remove_if_there(&run.join(LOCK_FILE))
}

/// A new directory for temporary files that the dynamic linker can load a library from.
fn make_loadable_dir(home: &Path) -> anyhow::Result<PathBuf> {
    let places = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into(), "/dev/shm".into()];
    let mut loadable = places.into_iter().filter(|dir| can_preload_from(dir));
    loadable.find_map(|dir| make_unique_dir(&dir).ok()).ok_or_else(|| {
        anyhow::anyhow!(
            "the dynamic linker can load nothing from {}, nor from a directory for temporary files: their names have \
             blanks, colons or semicolons in them, their file systems allow no code, or nothing can be written there. \
             Set TMPDIR to a directory without, or choose another one with -o",
            home.display()
        )
    })
}

/// Whether the dynamic linker can load a library from `dir`: it splits LD_PRELOAD at spaces and
/// colons without any escape, expands `$ORIGIN` and the like, and maps code only from file systems
/// that allow it.
pub(crate) fn can_preload_from(dir: &Path) -> bool {
    let is_clean = !dir.as_os_str().as_bytes().iter().any(|byte| b" :;$\t\n".contains(byte));
    let allows_code = rustix::fs::statvfs(dir)
        .is_ok_and(|system| !system.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC));
    is_clean && allows_code
}

/// Whether ranks of a world have announced themselves in a spool.
fn met_as_a_world(spool: &Path) -> bool {
    let Ok(entries) = fs::read_dir(spool) else { return false };
    entries.flatten().any(|entry| entry.file_name().as_bytes().starts_with(WORLD_FILES.as_bytes()))
}

/// Says so, and what to do where no file may be as large as that.
fn cannot_write_library(library: &Path) -> String {
    let shown = library.display();
    let size = embedded::LIBRARY.len();
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < size as u64 => format!(
            "no file may have more than {limit} bytes here, and the library to load has {size}: raise \
             `ulimit -f`, for --spool does not help; cannot write {shown}"
        ),
        _ => format!("cannot write {shown}"),
    }
}

pub(super) fn make_dir(path: &Path) -> anyhow::Result<()> {
    DirBuilder::new().mode(0o700).create(path).with_context(|| format!("cannot make {}", path.display()))
}

/// Makes a directory in `parent` with a name that nobody can know before.
pub(super) fn make_unique_dir(parent: &Path) -> anyhow::Result<PathBuf> {
    let mut random = [0; 8];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut random))
        .context("no random numbers")?;
    let path = parent.join(format!("{PLACE}{:016x}", u64::from_ne_bytes(random)));
    make_dir(&path)?;
    Ok(path)
}

/// Whether [`make_unique_dir`] could have chosen the name.
pub(crate) fn is_place_name(name: &OsStr) -> bool {
    let random = name.as_bytes().strip_prefix(PLACE.as_bytes());
    random.is_some_and(|digits| {
        digits.len() == 16 && digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Makes a file that was not there before; never follows a link.
pub(super) fn create_new(path: &Path, mode: u32) -> anyhow::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// What goes wrong while tidying up must not hide why there is anything to tidy up.
pub(super) fn tell_of(tidied: io::Result<()>) {
    if let Err(error) = tidied {
        say(&format!("warning: cannot tidy up: {error}"));
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Waits for whoever makes a run in `parent`. Where directories cannot be locked (some network file
/// systems), `mkdir` alone decides, and a recorder that loses the race says so.
fn lock_directory(parent: &Path) -> Option<File> {
    let directory = File::open(parent).ok()?;
    directory.lock().ok()?;
    Some(directory)
}

/// A file in the run for each recorder that takes part, so that the last one knows that it is.
fn member_name() -> String {
    let host = rustix::system::uname();
    format!("{MEMBER}{}-{}", host.nodename().to_string_lossy(), std::process::id())
}

fn is_member(name: &OsStr) -> bool {
    name.as_bytes().starts_with(MEMBER.as_bytes())
}
