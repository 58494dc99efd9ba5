//! `marey gather`: what processes recorded on a disk of their machine comes home to the run.
//!
//! The one idea: a file is removed where it was recorded when what arrived has been read back and is the
//! same, and not before; so whatever goes wrong, running the command again goes on from there. A file that
//! a process still records into is copied and stays, and comes again when the process has ended.
//!
//! Nothing is taken that is not ours, and nothing that is not named as processes name their files: the
//! place is a directory that others can write beside. Nor is any directory believed to be the run's place
//! because the run says so: runs are handed on, and what they say may have been made up.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::cli::GatherArgs;
use crate::exit::{Usage, say};
use crate::format;
use crate::record::{
    LAUNCH_FILE, LOCK_FILE, SPOOL, WORLD_FILES, is_finished, is_locked, is_place_name, place_of,
};

mod transfer;

/// In a directory that a recorder has made to record into: the run that it is for.
pub(crate) const OWNER_FILE: &str = "run";

/// Runs the command.
pub(crate) fn run(args: &GatherArgs) -> anyhow::Result<ExitCode> {
    let shown = args.run.display();
    let home = home(&args.run)?;
    let Some(place) = place_of(&home) else {
        say(&format!("{shown} was recorded into itself: there is nothing to gather"));
        return Ok(ExitCode::SUCCESS);
    };
    let places = match args.dirs.as_slice() {
        [] if is_here(&place, &args.run, Wish::Said)? => vec![place],
        [] => {
            say(&format!("nothing of {shown} is left on this machine: {} is not there", place.display()));
            return Ok(ExitCode::SUCCESS);
        }
        given => given.iter().map(|dir| named(dir, &place)).collect::<anyhow::Result<_>>()?,
    };
    let mut all = Gathered::default();
    for place in &places {
        if is_locked(&place.join(LOCK_FILE)).unwrap_or(false) {
            bail!(Usage(format!(
                "{} is being recorded into; gather it when the program has ended",
                place.display()
            )));
        }
        let gathered = bring(place, &home)?;
        gathered.warnings(place).iter().for_each(|warning| say(&format!("warning: {warning}")));
        all.add(&gathered);
    }
    say(&format!(
        "{shown}: gathered {} with {}",
        format::counted(all.files, "file"),
        format::bytes(all.bytes)
    ));
    if all.recording > 0 {
        return Ok(ExitCode::FAILURE);
    }
    say(&format!("`marey merge {shown}` finishes it when all machines are gathered"));
    Ok(ExitCode::SUCCESS)
}

/// Brings home what lies on this machine, if the run was recorded elsewhere: for a merge after a recorder
/// was killed.
pub(crate) fn bring_what_is_here(run: &Path) -> anyhow::Result<()> {
    let home = run.join(SPOOL);
    let Some(place) = place_of(&home) else { return Ok(()) };
    if !is_here(&place, run, Wish::Guessed)? || is_locked(&place.join(LOCK_FILE)).unwrap_or(false) {
        return Ok(());
    }
    let gathered = bring(&place, &home)?;
    gathered.warnings(&place).iter().for_each(|warning| say(&format!("warning: {warning}")));
    Ok(())
}

/// The spool inside a run.
fn home(run: &Path) -> anyhow::Result<PathBuf> {
    let shown = run.display();
    let home = run.join(SPOOL);
    if is_finished(run) {
        bail!(Usage(format!("{shown} is merged already; `marey merge DIR -o OTHER` makes a run of a spool")));
    }
    match fs::symlink_metadata(&home) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!(Usage(format!("{shown} is not a run that was recorded: it has no spool inside")));
        }
        result => result.with_context(|| format!("cannot open {}", home.display()))?,
    };
    must_be_ours(&home)?;
    Ok(home)
}

/// The directory that the user means: of the name that the run's recorder chose, or holding it.
fn named(dir: &Path, place: &Path) -> anyhow::Result<PathBuf> {
    let name = place.file_name().unwrap_or_default();
    let found = if dir.file_name() == Some(name) { dir.to_owned() } else { dir.join(name) };
    if !is_there(&found)? {
        bail!(Usage(format!(
            "{} holds no spool of this run, which is called {}",
            dir.display(),
            Path::new(name).display()
        )));
    }
    Ok(found)
}

fn is_there(path: &Path) -> anyhow::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        result => result.map(|_| true).with_context(|| format!("cannot open {}", path.display())),
    }
}

/// Refuses what only this user could not have made: links, directories of others, and those that others
/// can write into.
pub(crate) fn must_be_ours(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let data = fs::symlink_metadata(path).with_context(|| format!("cannot open {shown}"))?;
    if !data.is_dir() {
        bail!("{shown} is not a directory, or a link to one");
    }
    if data.uid() != rustix::process::geteuid().as_raw() {
        bail!("{shown} belongs to another user");
    }
    if data.mode() & 0o022 != 0 {
        bail!("{shown} can be written by other users");
    }
    Ok(())
}

/// Whether the user has asked for what is recorded elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Said,
    /// It is wanted, as far as we can tell.
    Guessed,
}

/// Whether recordings of `run` may lie in `place` on this machine. An error if the place is there and was
/// made for another run, or for nobody knows which and nobody has asked for it. (Where no recorder is,
/// processes make the place themselves, and say nothing.)
fn is_here(place: &Path, run: &Path, wish: Wish) -> anyhow::Result<bool> {
    if !is_there(place)? {
        return Ok(false);
    }
    must_be_a_place(place, &run.join(SPOOL))?;
    let shown = place.display();
    let owner = match fs::read(place.join(OWNER_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && wish == Wish::Said => return Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if holds_recordings(place) {
                let run = run.display();
                bail!(Usage(format!(
                    "{shown} does not say which run it is of; if it is of this one, `marey gather {run}` \
                     brings it"
                )));
            }
            return Ok(false);
        }
        result => result.with_context(|| cannot_open(place))?,
    };
    let same = |path: &Path| fs::canonicalize(path).ok();
    let owner = Path::new(OsStr::from_bytes(&owner));
    let run = same(run);
    if run.is_none() || same(owner) != run {
        bail!(Usage(format!(
            "{shown} was recorded for {}; if that is now this run, say so: `marey gather RUN {shown}`",
            owner.display()
        )));
    }
    Ok(true)
}

/// Refuses what no recorder has made to record into, whoever names it: above all the spool of a run, this
/// one's or another's.
fn must_be_a_place(place: &Path, home: &Path) -> anyhow::Result<()> {
    must_be_ours(place)?;
    let shown = place.display();
    let inode = |path: &Path| fs::metadata(path).map(|data| (data.dev(), data.ino())).ok();
    if inode(place) == inode(home) {
        bail!(Usage(format!("{shown} is the spool of the run itself: there is nothing to gather")));
    }
    if !is_place_name(place.file_name().unwrap_or_default()) {
        bail!(Usage(format!(
            "{shown} is not called as recorders call the places that they make: nothing is taken from it"
        )));
    }
    if is_there(&place.join(LAUNCH_FILE))? {
        bail!(Usage(format!("{shown} is the spool of a run: nothing is taken from it")));
    }
    Ok(())
}

/// What was brought home, and what was not.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    files: u64,
    bytes: u64,
    /// Files that processes still record into: copied as they are, and still there.
    recording: u64,
    /// What is not a file of ours.
    strange: u64,
}

impl Gathered {
    fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.recording += other.recording;
        self.strange += other.strange;
    }

    /// What the user should know, a line for each.
    pub(crate) fn warnings(&self, place: &Path) -> Vec<String> {
        let place = place.display();
        let mut lines = Vec::new();
        if self.recording > 0 {
            lines.push(format!(
                "processes still record into {} in {place}; gather again when they have ended",
                format::counted(self.recording, "file")
            ));
        }
        if self.strange > 0 {
            let what = format::counted_as(self.strange, "thing that is", "things that are");
            lines.push(format!("{place} holds {what} no recording of yours, left there"));
        }
        lines
    }
}

/// Moves the recordings in `place`, which must be ours, to `home`, and removes `place` if nothing else is
/// left there.
pub(crate) fn bring(place: &Path, home: &Path) -> anyhow::Result<Gathered> {
    must_be_a_place(place, home)?;
    must_be_ours(home)?;
    let cannot = || cannot_open(place);
    let directory = File::open(place).with_context(cannot)?;
    if directory.try_lock().is_err() {
        bail!("{} is being gathered by somebody else", place.display());
    }
    let mut names: Vec<_> =
        fs::read_dir(place).with_context(cannot)?.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    let mut gathered = Gathered::default();
    for name in &names {
        if is_recording(name) {
            transfer::bring_file(place, home, name, &mut gathered)?;
        }
    }
    // The names of what has arrived, before the last of what is there to be lost goes.
    File::open(home)
        .and_then(|home| home.sync_all())
        .with_context(|| format!("cannot write {}", home.display()))?;
    // What goes on says whose it is.
    let is_left = |name: &OsStr| gathered.recording > 0 && name == OWNER_FILE;
    for name in names.iter().filter(|name| is_by_product(name) && !is_left(name)) {
        fs::remove_file(place.join(name)).with_context(|| format!("cannot tidy up {}", place.display()))?;
    }
    match fs::remove_dir(place) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
            let strange = names.iter().filter(|name| !is_recording(name) && !is_by_product(name)).count();
            gathered.strange += strange as u64;
        }
        result => result.with_context(|| format!("cannot remove {}", place.display()))?,
    }
    Ok(gathered)
}

fn cannot_open(path: &Path) -> String {
    format!("cannot open {}", path.display())
}

fn holds_recordings(place: &Path) -> bool {
    fs::read_dir(place).is_ok_and(|entries| entries.flatten().any(|entry| is_recording(&entry.file_name())))
}

/// Whether measured processes name their files so.
fn is_recording(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|kind| kind == "events" || kind == "definitions")
}

/// What recorders and processes leave beside, of no use at home.
fn is_by_product(name: &OsStr) -> bool {
    name == LOCK_FILE || name == OWNER_FILE || name.as_bytes().starts_with(WORLD_FILES.as_bytes())
}
