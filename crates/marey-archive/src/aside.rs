//! Files that appear when they are complete.
//!
//! The one idea: what is written lies beside its place, under a name that nobody else uses, until it takes the place in one
//! step. It is always a new file: so whoever can write to the directory cannot have us write through a link.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is being written. What is not put in its place goes when this is dropped.
#[derive(Debug)]
pub struct Aside {
    path: PathBuf,
    is_in_place: bool,
}

impl Aside {
    /// A new file for a place, in the same directory, for those who may write it at the same time: each has one of its own.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(place: &Path) -> io::Result<(Self, File)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            match Self::made(place, &format!(".{}-{number}.tmp", std::process::id())) {
                // Left by a process of the same number, long ago or on another machine.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made,
            }
        }
    }

    /// The same for a place that one writes at a time, as a merge does: what an attempt has left that was killed is taken
    /// away, so that nothing gathers there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn alone(place: &Path) -> io::Result<(Self, File)> {
        match Self::made(place, ".tmp") {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                std::fs::remove_file(with(place, ".tmp"))?;
                Self::made(place, ".tmp")
            }
            made => made,
        }
    }

    fn made(place: &Path, end: &str) -> io::Result<(Self, File)> {
        let path = with(place, end);
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok((Self { path, is_in_place: false }, file))
    }

    /// Where it lies now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts it in its place, instead of what is there.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn put(mut self, place: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, place)?;
        self.is_in_place = true;
        Ok(())
    }
}

fn with(place: &Path, end: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_in_place {
            // Why it was not put in its place is what counts.
            std::fs::remove_file(&self.path).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn nothing_is_written_through_a_link_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("page");
        let (first, mut file) = Aside::new(&place).unwrap();
        file.write_all(b"first").unwrap();
        // Who guesses the next name gains nothing.
        let name = first.path().to_string_lossy().into_owned();
        let (before, number) = name.trim_end_matches(".tmp").rsplit_once('-').unwrap();
        let next: u64 = number.parse().unwrap();
        let victim = dir.path().join("victim");
        std::fs::write(&victim, "mine").unwrap();
        for number in next + 1..next + 4 {
            std::os::unix::fs::symlink(&victim, format!("{before}-{number}.tmp")).unwrap();
        }
        let (second, mut file) = Aside::new(&place).unwrap();
        file.write_all(b"second").unwrap();
        drop(first);
        second.put(&place).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"second");
        assert_eq!(std::fs::read(&victim).unwrap(), b"mine");
        assert!(!Path::new(&name).exists());

        // Who writes alone takes the link away, not what it leads to.
        std::os::unix::fs::symlink(&victim, dir.path().join("page.tmp")).unwrap();
        let (alone, mut file) = Aside::alone(&place).unwrap();
        file.write_all(b"third").unwrap();
        alone.put(&place).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"third");
        assert_eq!(std::fs::read(&victim).unwrap(), b"mine");
    }
}
