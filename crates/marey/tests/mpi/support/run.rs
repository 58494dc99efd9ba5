//! A recorded run, and questions to it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use marey_archive::{Archive, Columns};
use serde_json::Value;
use tempfile::TempDir;

/// A directory of a test's own.
pub(crate) struct Place(TempDir);

impl Place {
    /// On the disk of the build, since a temporary directory may be small.
    pub(crate) fn new() -> Self {
        Self(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A directory in it, made if it is not there.
    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        let dir = self.path().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }
}

/// What must be zero in a run of which nothing went wrong.
const PROBLEMS: [&str; 7] = [
    "lost",
    "dropped",
    "unmatched_sends",
    "unmatched_receives",
    "unmatchable_channels",
    "clock_violations",
    "truncated",
];

/// What `marey record` left, and what it and the program printed.
#[derive(Debug)]
pub(crate) struct Run {
    path: PathBuf,
    pub(crate) output: Output,
}

impl Run {
    pub(crate) fn new(dir: &Path, output: Output) -> Self {
        Self { path: dir.join("run.marey"), output }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The tables.
    pub(crate) fn archive(&self) -> Archive {
        Archive::open(&self.path)
            .unwrap_or_else(|error| panic!("{error}\n{}{}", self.stdout(), self.stderr()))
    }

    pub(crate) fn table(&self, name: &str) -> Columns {
        self.archive().table(name).unwrap()
    }

    /// What a command of marey prints about it.
    pub(crate) fn text(&self, command: &str, options: &[&str]) -> String {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.arg(command).arg(&self.path).args(options).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{marey:?}: {told}\n{}{}", self.stdout(), self.stderr());
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, command: &str) -> Value {
        serde_json::from_str(&self.text(command, &["--json"])).unwrap()
    }

    /// Fails unless every problem that `info` counts is zero, those in `accepted` apart.
    pub(crate) fn expect_no_problems(&self, accepted: &[&str]) {
        let info = self.json("info");
        let problems = info["problems"].as_object().unwrap();
        for name in PROBLEMS {
            let count = &problems[name];
            let is_fine = accepted.contains(&name) || *count == 0 || *count == false;
            assert!(is_fine, "{name} is {count}: {}", self.text("info", &[]));
        }
    }

    /// Visits of MPI functions by process id, from the profile.
    pub(crate) fn mpi_calls(&self) -> super::counter::Counts {
        let (profile, paths, regions) =
            (self.table("profile"), self.table("call_paths"), self.table("regions"));
        let (locations, processes) = (self.table("locations"), self.table("processes"));
        let mut counts = super::counter::Counts::new();
        for row in 0..profile.len() {
            let region =
                paths.u32("region").unwrap()[profile.u32("call_path").unwrap()[row] as usize] as usize;
            if regions.text("level").unwrap()[region] != "mpi" {
                continue;
            }
            let process = locations.u32("process").unwrap()[profile.u32("location").unwrap()[row] as usize];
            let pid = processes.u32("pid").unwrap()[process as usize];
            let visits = profile.i64("visits").unwrap()[row].cast_unsigned();
            let name = regions.text("verb").unwrap()[region].clone();
            if visits > 0 {
                *counts.entry(pid).or_default().entry(name).or_default() += visits;
            }
        }
        counts
    }
}
