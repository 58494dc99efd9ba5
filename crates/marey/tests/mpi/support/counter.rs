//! The independent counter of MPI calls: built here, preloaded beside the recorder, read back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Compiler, Job, Mpi, cached, which};

/// Numbers of calls by process id and function.
pub(crate) type Counts = BTreeMap<u32, BTreeMap<String, u64>>;

/// The counter's library for one MPI.
#[derive(Debug)]
pub(crate) struct Counter(PathBuf);

impl Counter {
    /// Builds it; `None` without Python or a compiler.
    pub(crate) fn build(mpi: Mpi) -> Option<Self> {
        let (python, compiler) = (which("python3")?, which(mpi.compiler(Compiler::C))?);
        let make = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/mpicount/make.py");
        let words = format!("counter {mpi:?}");
        Some(Self(cached(&words, &[make.clone(), compiler.clone()], "libmpicount.so", |library| {
            let source = library.with_extension("c");
            let header = header(&compiler);
            run(Command::new(python).arg(&make).args([&header, &source]));
            let mut gcc = Command::new("cc");
            run(gcc.args(["-shared", "-fPIC", "-O2", "-w", "-o"]).args([library, &source]).arg("-ldl"));
        })))
    }

    /// The job with the counter preloaded, which leaves its numbers in `dir`.
    pub(crate) fn watch(&self, job: Job, dir: &Path) -> Job {
        std::fs::create_dir_all(dir).unwrap();
        job.env("LD_PRELOAD", &self.0).env("MPICOUNT_DIR", dir)
    }

    /// What it has counted.
    pub(crate) fn read(dir: &Path) -> Counts {
        let mut counts = Counts::new();
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let Ok(process) = path.file_name().unwrap().to_str().unwrap().parse() else { continue };
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(|line| line.split_once(' ').unwrap());
            let functions = lines.filter(|&(name, _)| name != "rank" && !is_conversion(name));
            let functions = functions.map(|(name, n)| (name.to_owned(), n.parse().unwrap())).collect();
            counts.insert(process, functions);
        }
        counts
    }
}

/// Conversions between C and Fortran handles are no operations of MPI and are not recorded.
fn is_conversion(name: &str) -> bool {
    ["_c2f", "_f2c", "_c2f08", "_f082c", "_f2f08", "_f082f"].iter().any(|end| name.ends_with(end))
}

/// The `mpi.h` that a compiler wrapper uses: the wrapper is asked to preprocess one line.
fn header(compiler: &Path) -> PathBuf {
    let script =
        r#"echo '#include <mpi.h>' | "$0" -E -x c - | sed -n 's|^# 1 "\(/.*/mpi\.h\)".*|\1|p' | head -n 1"#;
    let output = Command::new("/bin/sh").args(["-c", script]).arg(compiler).output().unwrap();
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim_end())
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}
