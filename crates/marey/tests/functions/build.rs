//! Compiles the programs of these tests, each into a directory of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// What compiles a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compiler {
    Gcc,
    Clang,
    Gxx,
    Clangxx,
    Gfortran,
}

impl Compiler {
    fn name(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
            Self::Gxx => "g++",
            Self::Clangxx => "clang++",
            Self::Gfortran => "gfortran",
        }
    }
}

/// How to compile a program.
#[derive(Clone, Debug)]
pub(crate) struct Build<'a> {
    compiler: Compiler,
    source: &'a str,
    flags: Vec<&'a str>,
    output: &'a str,
}

/// A compiled program, or library, in a directory of its own.
#[derive(Debug)]
pub(crate) struct Program {
    _place: TempDir,
    pub(crate) path: PathBuf,
}

impl<'a> Build<'a> {
    pub(crate) fn new(compiler: Compiler, source: &'a str) -> Self {
        let flags =
            vec!["-g", "-O1", "-finstrument-functions", "-pthread", "-Wall", "-Wno-infinite-recursion"];
        Self { compiler, source, flags, output: "program" }
    }

    pub(crate) fn flags(mut self, flags: &[&'a str]) -> Self {
        self.flags.extend(flags);
        self
    }

    pub(crate) fn output(self, output: &'a str) -> Self {
        Self { output, ..self }
    }

    /// The program; `None`, said aloud, without such a compiler.
    pub(crate) fn make(self) -> Option<Program> {
        let place = TempDir::new().unwrap();
        let path = place.path().join(self.output);
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions/programs");
        let mut compile = Command::new(self.compiler.name());
        compile.arg("-I").arg(&programs).arg(programs.join(self.source));
        // Libraries come last.
        compile.args(&self.flags).arg("-o").arg(&path);
        // Compilers of Fortran leave module files where they run.
        match compile.current_dir(place.path()).output() {
            Err(error) => {
                marey_testkit::skip(&format!("{}: {error}", self.compiler.name()));
                None
            }
            Ok(output) => {
                assert!(output.status.success(), "{compile:?}: {}", String::from_utf8_lossy(&output.stderr));
                Some(Program { _place: place, path })
            }
        }
    }
}
