//! A directory of its own in which a test runs marey.

use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn marey(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.current_dir(self.0.path()).args(args).env_remove("LD_PRELOAD").output().unwrap()
    }

    /// Runs marey, expects it to succeed and returns what it prints.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.marey(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
