//! Programs of the tests, compiled when first needed.
//!
//! The one idea: what was built from the same sources by the same command is the same, so it is
//! kept under a name made of both, and the next test process finds it there. Nobody ever sees half
//! a program: it is built aside and renamed.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Mpi;

/// Where the sources of the programs lie.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Finds a program as a shell does.
pub(crate) fn which(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// A language of MPI programs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Compiler {
    C,
    Cxx,
    Fortran,
}

/// How to build a program.
#[derive(Clone, Debug)]
pub(crate) struct Build<'a> {
    pub(crate) mpi: Mpi,
    pub(crate) compiler: Compiler,
    /// Names in the directory of the programs.
    pub(crate) sources: &'a [&'a str],
    pub(crate) flags: &'a [&'a str],
    /// Name of the file that is made.
    pub(crate) output: &'a str,
}

impl Build<'_> {
    /// The built program, or `None` if there is no such compiler. A program that does not compile
    /// fails the test.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        let compiler = which(self.mpi.compiler(self.compiler))?;
        let mut inputs: Vec<PathBuf> = self.sources.iter().map(|name| programs().join(name)).collect();
        inputs.push(programs().join("match.h"));
        // Of another version of the user API nothing would be recorded.
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-collect/include");
        let headers = std::fs::read_dir(include).unwrap().map(|header| header.unwrap().path());
        let mut headers: Vec<PathBuf> = headers.filter(|header| header.is_file()).collect();
        headers.sort();
        inputs.append(&mut headers);
        let words = format!("{} {:?} {:?}", compiler.display(), self.flags, self.output);
        Some(cached(&words, &inputs, self.output, |out| {
            let mut command = Command::new(&compiler);
            command.args(["-g", "-Wall"]).args(&inputs[..self.sources.len()]).arg("-o").arg(out);
            // Fortran compilers leave module files where they run.
            run(command.args(self.flags).current_dir(out.parent().unwrap()));
        }))
    }
}

/// What `make` makes at the path that it is given, unless it was made from the same `inputs` and
/// `words` before.
pub(crate) fn cached(words: &str, inputs: &[PathBuf], name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(words.as_bytes());
    for input in inputs {
        hasher.write(&std::fs::read(input).unwrap_or_else(|error| panic!("{}: {error}", input.display())));
    }
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi-programs");
    let dir = root.join(format!("{:016x}", hasher.finish()));
    if !dir.is_dir() {
        std::fs::create_dir_all(&root).unwrap();
        let aside = tempfile::Builder::new().prefix(".building").tempdir_in(&root).unwrap();
        make(&aside.path().join(name));
        // Another test process may have been quicker; what it made is the same.
        if let Err(error) = std::fs::rename(aside.path(), &dir) {
            assert!(dir.is_dir(), "{}: {error}", dir.display());
        }
    }
    dir.join(name)
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}
