//! Builds the programs of the corpus and runs them.
//!
//! The one idea: a run is a command line in a directory, with any words before it, and gives the truth that the program
//! left in the environment variable's file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::cases::{Case, Source};
use crate::measured::Truth;

/// What a program is built with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tools {
    OpenMpi,
    Mpich,
    C,
    Rust,
}

impl Tools {
    fn compiler(self) -> &'static str {
        match self {
            Self::OpenMpi => "mpicc.openmpi",
            Self::Mpich => "mpicc.mpich",
            Self::C => "cc",
            Self::Rust => "rustc",
        }
    }

    /// At this level no call that is the last of its function becomes a jump, which would take the function off the
    /// stack, and none is cloned under another name.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["-Copt-level=1", "-g", "--edition=2024"],
            _ => &["-O1", "-g", "-Wall", "-pthread"],
        }
    }

    /// Words that start so many ranks as a case has.
    fn launcher(self) -> &'static [&'static str] {
        match self {
            Self::OpenMpi => &["mpirun.openmpi", "--oversubscribe", "-n", "2"],
            Self::Mpich => &["mpirun.mpich", "-n", "2"],
            Self::C | Self::Rust => &[],
        }
    }
}

/// Where the sources lie.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/truth/programs")
}

/// A source, built.
pub(crate) struct Built {
    place: TempDir,
    tools: Tools,
}

impl Built {
    /// `None`, said aloud, without the compiler or the launcher.
    pub(crate) fn new(source: Source, tools: Tools) -> Option<Self> {
        for word in [Some(tools.compiler()), tools.launcher().first().copied()].into_iter().flatten() {
            if Command::new(word).arg("--version").output().is_err() {
                marey_testkit::skip(word);
                return None;
            }
        }
        let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut compile = Command::new(tools.compiler());
        compile.args(tools.flags()).arg(programs().join(source.file())).args(["-o", "program"]);
        let output = compile.current_dir(place.path()).output().unwrap();
        assert!(output.status.success(), "{compile:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(Self { place, tools })
    }

    /// Runs `case` in `dir`, where nothing of another run may lie, with the words of `prefix` before its command line:
    /// none, or those of a recorder.
    pub(crate) fn run(&self, case: &Case, prefix: &[OsString], dir: &Path) -> Truth {
        let mut line = prefix.to_vec();
        line.extend(self.tools.launcher().iter().map(OsString::from));
        line.extend([self.place.path().join("program").into(), case.name.into()]);
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).current_dir(dir).stdin(Stdio::null());
        command.env_remove("LD_PRELOAD").env("TRUTH", dir.join("truth"));
        // Tests run as root in containers; Open MPI wants to be told twice.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        Truth::read(dir, "truth.")
    }
}
