//! A directory of one machine that processes record into, instead of the run's own spool.
//!
//! The one idea: it has the same random name on every machine, so that the environment of the program
//! says it once for all of them, and nobody can have put anything there before. The recorders that one
//! machine has share it; the last of them to end brings it home, before it says that it is done with the
//! run, so that whoever merges finds everything.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use marey_model::spool::{Definition, view, window_len};

use super::spool_dir::{LOCK_FILE, WORLD_FILES, create_new, make_unique_dir, tell_of};
use crate::exit::say;
use crate::gather::{self, OWNER_FILE};

/// Where this machine records.
#[derive(Debug)]
pub(super) struct Apart {
    /// Absolute, and text: the launch file and the environment name it.
    pub(super) path: PathBuf,
    /// Held, shared, for as long as this recorder records.
    lock: File,
}

impl Apart {
    /// Makes the directory for `run`, with a new name in `parent`.
    pub(super) fn make(parent: &Path, run: &Path) -> anyhow::Result<Self> {
        let parent = std::path::absolute(parent).context("no such place for the spool")?;
        if parent.to_str().is_none() {
            bail!("the name of a place for spools must be text: {}", parent.display());
        }
        let path = make_unique_dir(&parent)?;
        match Self::claim(path.clone(), run) {
            Ok(Some(apart)) => Ok(apart),
            Ok(None) => bail!("somebody has removed {}", path.display()),
            Err(error) => {
                tell_of(fs::remove_dir_all(&path));
                Err(error)
            }
        }
    }

    /// The directory at `path`, which a recorder of another machine has named, or one of this machine has
    /// made.
    pub(super) fn enter(path: &Path, run: &Path) -> anyhow::Result<Self> {
        // It goes away while we wait for its lock, if who held it was the last.
        for _ in 0..10 {
            match DirBuilder::new().mode(0o700).create(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => gather::must_be_ours(path)?,
                result => result.with_context(|| format!("cannot make {}", path.display()))?,
            }
            if let Some(apart) = Self::claim(path.to_owned(), run)? {
                return Ok(apart);
            }
        }
        bail!("cannot keep {}: others remove it again and again", path.display())
    }

    /// Says that this recorder records into the directory. `None` if it is gone by then.
    fn claim(path: PathBuf, run: &Path) -> anyhow::Result<Option<Self>> {
        let lock_path = path.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let lock = match options.open(&lock_path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            result => result.with_context(|| format!("cannot write {}", lock_path.display()))?,
        };
        lock.lock_shared().with_context(|| format!("cannot lock {}", lock_path.display()))?;
        let inode = |data: io::Result<fs::Metadata>| data.map(|data| (data.dev(), data.ino())).ok();
        if inode(fs::symlink_metadata(&lock_path)) != inode(lock.metadata()) {
            return Ok(None);
        }
        let owner = path.join(OWNER_FILE);
        if !owner.exists() {
            let mut file = create_new(&owner, 0o600)?;
            io::Write::write_all(&mut file, run.as_os_str().as_bytes())
                .with_context(|| format!("cannot write {}", owner.display()))?;
        }
        Ok(Some(Self { path, lock }))
    }

    /// Moves what was recorded here to `home`, unless other recorders still record here.
    pub(super) fn bring(self, home: &Path) -> anyhow::Result<()> {
        self.lock.unlock().context("cannot unlock the spool")?;
        if self.lock.try_lock().is_err() {
            return Ok(());
        }
        let gathered = gather::bring(&self.path, home)?;
        gathered.warnings(&self.path).iter().for_each(|warning| say(&format!("warning: {warning}")));
        Ok(())
    }
}

/// Whether fewer ranks have left something at `home` than have announced themselves there: the others lie on
/// machines that nobody has gathered from, or ended before they knew which rank they are.
pub(super) fn lacks_ranks(home: &Path) -> bool {
    let Ok(entries) = fs::read_dir(home) else { return false };
    let (mut recorded, mut announced) = (BTreeSet::new(), BTreeSet::new());
    for name in entries.flatten().map(|entry| entry.file_name()) {
        let name_bytes = name.as_bytes();
        if name_bytes.ends_with(b".definitions") {
            recorded.extend(fs::read(home.join(&name)).ok().and_then(|bytes| rank_in(&bytes)));
        } else if name_bytes.starts_with(WORLD_FILES.as_bytes()) && !name_bytes.contains(&b'.') {
            let text = fs::read_to_string(home.join(&name)).unwrap_or_default();
            let ranks = text.lines().filter_map(|line| line.split(' ').next()?.parse::<u32>().ok());
            announced.extend(ranks.map(|rank| (name.clone(), rank)));
        }
    }
    recorded.len() < announced.len()
}

/// The world and the rank of the process that has written these definitions; children that a rank has forked,
/// and the shells around it, have none of their own.
fn rank_in(mut definitions: &[u8]) -> Option<(String, u32)> {
    while let Some(len) = window_len(definitions) {
        let window = view(definitions)?;
        let mut at = 0;
        while at < window.records.len() {
            if let Some(Definition::Mpi { world, rank, .. }) = Definition::decode(window.records, &mut at)? {
                return Some((world, rank));
            }
        }
        definitions = definitions.get(len..)?;
    }
    None
}
