//! Writing spools: what a recorder would have left of a process that another tool has recorded.
//!
//! The one idea: a process is written by one thread, in the order of its time, so numbers of messages and operations are
//! those that a recorder counts. Of each of its threads one window is in memory; all else is in files. Times are ns since
//! the beginning of the trace.
//!
//! What the bytes are is told in [`marey_model::spool`]. Deliberately absent: clocks. Foreign traces come with times that
//! their tool has corrected, or with the means to; all processes share one clock here.

mod process;
mod sums;
mod thread;

use std::io;
use std::path::{Path, PathBuf};

use marey_model::{ClockKind, Triple};

pub use self::process::{Process, Region, World};
pub use self::sums::PathSums;
pub use self::thread::{Half, Member};
use crate::Error;

/// A directory of spools.
#[derive(Clone, Debug)]
pub struct Spool {
    dir: PathBuf,
    /// Calendar time of the beginning of the trace, ns since 1970; 0 if nobody knows.
    realtime_ns: u64,
}

/// Who a process is.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// Its number in the trace; no two have the same.
    pub number: u32,
    /// The kernel's number of it, 0 where unknown.
    pub pid: u32,
    /// Name of its machine.
    pub host: String,
    /// Command line, word by word; empty where unknown.
    pub command: Vec<String>,
    /// What has recorded it, name and version.
    pub recorder: String,
}

impl Spool {
    /// Makes the directory.
    ///
    /// # Errors
    /// If it cannot be made, or is there already.
    pub fn create(dir: &Path, realtime_ns: u64) -> Result<Self, Error> {
        std::fs::create_dir(dir).map_err(|source| Error::Write { path: dir.to_owned(), source })?;
        Ok(Self { dir: dir.to_owned(), realtime_ns })
    }

    /// Begins the spool of a process.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn process(&self, identity: &Identity) -> Result<Process, Error> {
        Process::create(self, identity)
    }

    fn triple(&self, ns: u64) -> Triple {
        Triple { ticks: ns, monotonic_ns: ns, realtime_ns: self.realtime_ns.saturating_add(ns) }
    }
}

/// The clock of all processes: readings are ns.
const CLOCK: u8 = ClockKind::Monotonic.code();

/// Something that cannot be written.
fn cannot_write(path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Write { path: path.to_owned(), source }
}
