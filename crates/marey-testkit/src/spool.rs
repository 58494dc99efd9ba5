//! A spool of several processes, and writing it.
//!
//! The one idea: it is written as recorders would have left it, two files a process, so that a test
//! damages or removes files where it wants damage.

use std::io;
use std::path::Path;

use crate::process::Process;

/// The spool of a made-up run.
#[derive(Debug, Default)]
pub struct Spool {
    /// Its processes.
    pub processes: Vec<Process>,
}

impl Spool {
    /// No processes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A world of `size` ranks, each with `MPI_COMM_WORLD` as communicator 0, on one machine and
    /// one clock.
    pub fn world(size: u32) -> Self {
        let mut spool = Self::new();
        for rank in 0..size {
            let mut process = Process::new(u64::from(rank) + 1);
            process.join_world("world", size, rank);
            spool.processes.push(process);
        }
        spool
    }

    /// Writes all files into a directory, which is made.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        std::fs::create_dir_all(dir)?;
        for process in &self.processes {
            let name = format!("{}-{}-{:016x}", process.host, process.pid, process.key);
            std::fs::write(dir.join(format!("{name}.definitions")), process.definition_bytes())?;
            std::fs::write(dir.join(format!("{name}.events")), process.event_bytes())?;
        }
        Ok(())
    }
}
