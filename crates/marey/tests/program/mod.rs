//! Programs that tests compile, run and record, each in a directory of its own.
//!
//! The one idea: a program is compiled once a test by the line that a user would type, and a recorded run of it is asked
//! through the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A program that was compiled, and directories to run it in.
pub(crate) struct Program {
    place: TempDir,
}

impl Program {
    /// By a compiler's command line, in which `{}` stands for the directory of the sources. `None`, said aloud,
    /// without the compiler.
    pub(crate) fn compile(line: &str) -> Option<Self> {
        let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let line = line.replace("{}", &sources.display().to_string());
        let mut words = line.split_whitespace();
        let compiler = words.next().unwrap();
        let mut command = Command::new(compiler);
        match command.args(words).args(["-o", "program"]).current_dir(place.path()).output() {
            Err(error) => {
                marey_testkit::skip(&format!("{compiler}: {error}"));
                None
            }
            Ok(output) => {
                assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
                Some(Self { place })
            }
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.place.path().join("program")
    }

    /// A directory of its own, by its real name.
    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        let dir = self.place.path().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        dir.canonicalize().unwrap()
    }

    pub(crate) fn record(&self, options: &[&str], words: &[&str]) -> Recorded {
        std::fs::remove_dir_all(self.dir("recorded")).unwrap();
        let dir = self.dir("recorded");
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.args(["record", "--force"]).args(options).arg("--").arg(self.path()).args(words);
        let output = record.current_dir(&dir).env_remove("LD_PRELOAD").stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Recorded { dir, output }
    }
}

pub(crate) struct Recorded {
    pub(crate) dir: PathBuf,
    pub(crate) output: Output,
}

impl Recorded {
    /// What a command prints, on a wide terminal.
    pub(crate) fn show(&self, words: &[&str]) -> String {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.current_dir(&self.dir).env("COLUMNS", "200").args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, command: &str) -> Value {
        serde_json::from_str(&self.show(&[command, "--json"])).unwrap()
    }

    /// Nothing is missing.
    pub(crate) fn is_whole(&self) {
        let problems = &self.json("info")["problems"];
        assert_eq!(
            (&problems["dropped"], &problems["lost"], &problems["truncated"]),
            (&0.into(), &0.into(), &0.into())
        );
    }
}
