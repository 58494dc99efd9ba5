//! What the launcher wrote about the run: `launch.json`.
//!
//! The one idea: every fact is optional. A launcher that was killed, or that is of another version,
//! leaves a run that merges all the same.

use std::collections::BTreeMap;
use std::path::Path;

use marey_model::Triple;
use serde::Deserialize;

use super::clocks::Launcher;

/// Facts of the run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Launch {
    pub argv: Vec<String>,
    pub cwd: String,
    pub job_step: Option<String>,
    pub settings: Option<Vec<String>>,
    pub host: String,
    pub launcher_pid: u32,
    pub title: Option<String>,
    pub memo: Option<String>,
    pub git_commit: Option<String>,
    pub imported_from: Option<String>,
    /// It is a profile: nobody knows when what is in its sums was done.
    pub without_times: bool,
    pub environment: BTreeMap<String, String>,
    start: Option<Reading>,
    end: Option<Reading>,
    pub exit_signal: Option<i32>,
}

#[derive(Debug, Deserialize)]
struct Reading {
    ticks: u64,
    monotonic_ns: u64,
    realtime_ns: u64,
}

/// Reads the file if it is there and makes sense.
pub(crate) fn read(spool: &Path) -> Launch {
    let path = spool.join("launch.json");
    // A link could lead anywhere, and a pipe would block us forever.
    let is_plain = std::fs::symlink_metadata(&path).is_ok_and(|data| data.is_file());
    let text = if is_plain { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    serde_json::from_slice(&text).unwrap_or_default()
}

impl Launch {
    /// Its readings of the clocks.
    pub(crate) fn launcher(&self) -> Launcher {
        let readings = self.start.iter().chain(&self.end).map(|reading| Triple {
            ticks: reading.ticks,
            monotonic_ns: reading.monotonic_ns,
            realtime_ns: reading.realtime_ns,
        });
        Launcher { host: self.host.clone(), readings: readings.collect() }
    }

    /// Name of the program that started the processes, if it is known for that.
    pub(crate) fn name(&self) -> String {
        const KNOWN: [&str; 6] = ["mpirun", "mpiexec", "mpiexec.hydra", "srun", "orterun", "prterun"];
        let words = self.argv.iter().map(|word| word.rsplit('/').next().unwrap_or(word));
        words.into_iter().find(|word| KNOWN.contains(word)).unwrap_or_default().to_owned()
    }
}
