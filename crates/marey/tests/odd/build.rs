//! Builds the odd programs, each source once in a test process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use crate::cases::{Case, Kind};
use crate::start::Built;

/// What was built of a source; `None` without its compiler.
type Programs = BTreeMap<String, Option<&'static Built>>;

/// The program of `case`, or `None`, said aloud, without its compiler.
pub(crate) fn build(case: &Case) -> Option<&'static Built> {
    static BUILT: OnceLock<Mutex<Programs>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().unwrap();
    let name = format!("{:?}-{}", case.kind, case.source);
    *built.entry(name.clone()).or_insert_with(|| {
        let compiler = compiler(case.kind);
        if Command::new(compiler).arg("--version").output().is_err() {
            marey_testkit::skip(compiler);
            return None;
        }
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("odd").join(&name);
        std::fs::create_dir_all(&dir).unwrap();
        Some(Box::leak(Box::new(make(case, &dir))))
    })
}

fn compiler(kind: Kind) -> &'static str {
    match kind {
        Kind::C => "cc",
        Kind::Cxx => "c++",
        Kind::Rust => "rustc",
        Kind::Fortran => "gfortran",
        Kind::OpenMpi => "mpicc.openmpi",
        Kind::Mpich => "mpicc.mpich",
    }
}

fn make(case: &Case, dir: &Path) -> Built {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/odd/programs");
    let compiler = compiler(case.kind);
    let built =
        Built { program: dir.join("program"), plug: dir.join("libplug.so"), other: dir.join("libother.so") };
    let c = |compiler: &str, words: &[&str], source: &str, out: &PathBuf| {
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-collect/include");
        let mut compile = Command::new(compiler);
        compile.args(["-O1", "-g", "-Wall", "-pthread"]).args(words).arg("-I").arg(include);
        check(compile.arg(sources.join(source)).arg("-lm").arg("-o").arg(out));
    };
    match case.kind {
        Kind::Rust | Kind::Fortran => {
            let object = dir.join("visit.o");
            c("cc", &["-c"], "visit.c", &object);
            let mut compile = Command::new(compiler);
            if case.kind == Kind::Rust {
                compile.args(["-O", "--edition=2024", "-C"]).arg(format!("link-arg={}", object.display()));
            } else {
                compile.arg("-O1").arg(&object).arg("-J").arg(dir);
            }
            check(compile.arg(sources.join(case.source)).arg("-o").arg(&built.program));
        }
        _ => c(compiler, &[], case.source, &built.program),
    }
    if matches!(case.source, "library.c" | "heap.c" | "files.c") {
        for (name, library) in [("plug", &built.plug), ("other", &built.other)] {
            c(compiler, &["-shared", "-fPIC", &format!("-DPLUG=\"{name}\"")], "plug.c", library);
        }
    }
    if case.source == "mpi.c" {
        c(compiler, &["-shared", "-fPIC"], "plug_mpi.c", &built.plug);
    }
    built
}

fn check(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
