//! MPI jobs, with the recorder and without.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{Compiler, Run, which};

/// An MPI library, as Debian names its programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mpi {
    Open,
    Mpich,
}

impl Mpi {
    pub(crate) const BOTH: [Self; 2] = [Self::Open, Self::Mpich];

    pub(crate) fn launcher(self) -> &'static str {
        match self {
            Self::Open => "mpirun.openmpi",
            Self::Mpich => "mpirun.mpich",
        }
    }

    pub(crate) fn compiler(self, language: Compiler) -> &'static str {
        match (self, language) {
            (Self::Open, Compiler::C) => "mpicc.openmpi",
            (Self::Open, Compiler::Cxx) => "mpicxx.openmpi",
            (Self::Open, Compiler::Fortran) => "mpifort.openmpi",
            (Self::Mpich, Compiler::C) => "mpicc.mpich",
            (Self::Mpich, Compiler::Cxx) => "mpicxx.mpich",
            (Self::Mpich, Compiler::Fortran) => "mpifort.mpich",
        }
    }

    /// Whether jobs can be started.
    pub(crate) fn installed(self) -> Option<Self> {
        which(self.launcher()).map(|_| self)
    }
}

/// A job as it would be typed, and the directory to type it in.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    mpi: Mpi,
    ranks: u32,
    words: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    options: Vec<OsString>,
}

impl Job {
    /// `program` on so many ranks.
    pub(crate) fn new(mpi: Mpi, ranks: u32, program: impl AsRef<OsStr>) -> Self {
        Self { mpi, ranks, words: vec![program.as_ref().to_owned()], env: Vec::new(), options: Vec::new() }
    }

    /// With one more argument.
    pub(crate) fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words.push(word.as_ref().to_owned());
        self
    }

    /// With an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// With an option of `marey record`.
    pub(crate) fn option(mut self, option: &str) -> Self {
        self.options.push(option.into());
        self
    }

    /// Runs it in `dir` without the recorder.
    pub(crate) fn plain(&self, dir: &Path) -> Output {
        self.unrecorded(dir).output().unwrap()
    }

    /// The command that runs it so.
    pub(crate) fn unrecorded(&self, dir: &Path) -> Command {
        let mut words = self.line().into_iter();
        let mut command = Command::new(words.next().unwrap());
        self.ready(command.args(words), dir);
        command
    }

    /// Records it into `run.marey` in `dir`.
    pub(crate) fn record(&self, dir: &Path) -> Run {
        Run::new(dir, self.recording(dir).output().unwrap())
    }

    /// The command that records it.
    pub(crate) fn recording(&self, dir: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.args(["record", "--force", "-o", "run.marey"]).args(&self.options);
        command.arg("--").args(self.line());
        self.ready(&mut command, dir);
        command
    }

    /// The words of its command line.
    pub(crate) fn line(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.mpi.launcher().into()];
        if self.mpi == Mpi::Open {
            words.push("--oversubscribe".into());
        }
        words.extend(["-n".into(), self.ranks.to_string().into()]);
        words.extend(self.words.iter().cloned());
        words
    }

    /// What a command that starts it is given.
    pub(crate) fn ready<'a>(&self, command: &'a mut Command, dir: &Path) -> &'a mut Command {
        prepare(command, dir).envs(self.env.iter().map(|(name, value)| (name, value)))
    }
}

/// What every command that starts a job is given.
pub(crate) fn prepare<'a>(command: &'a mut Command, dir: &Path) -> &'a mut Command {
    command.current_dir(dir).stdin(Stdio::null()).env_remove("LD_PRELOAD").env("OMP_NUM_THREADS", "1");
    // Tests run as root in containers; Open MPI wants to be told twice.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
}
