//! Call sites: function, file and line of every MPI call are those that the source says itself,
//! by a mark on the line of the call.
//!
//! The one idea: the same source as a program with fixed addresses, as one that is loaded
//! anywhere, as a shared library that is linked and as one that is loaded and unloaded while the
//! program runs, with and without optimisation.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, cached, need, programs, which};

/// MPI function, function of the program, file, line.
type Site = (String, String, String, u64);

/// The marked lines of a source, `SITE <function> [<MPI function>]`. The MPI function need not be
/// said where the line names it.
fn truth(source: &str) -> BTreeSet<Site> {
    let text = std::fs::read_to_string(programs().join(source)).unwrap();
    let mut sites = BTreeSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((code, mark)) = line.split_once(" SITE ") else { continue };
        let mut words = mark.split_whitespace();
        let function = words.next().unwrap().to_owned();
        let called = words.next().map_or_else(|| called(code), str::to_owned);
        sites.insert((called, function, source.to_owned(), number));
    }
    assert!(sites.len() > 1, "no marks in {source}");
    sites
}

/// The MPI function that a line of source calls.
fn called(code: &str) -> String {
    let from = code.find("MPI_").unwrap();
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code[from..].chars().take_while(|&c| name(c)).collect()
}

/// What the report says of the files named in `truth`.
fn reported(run: &Run) -> BTreeSet<Site> {
    let report = run.json("report");
    let mut sites = BTreeSet::new();
    for path in report["call_paths"].as_array().unwrap() {
        let text = |field: &str| path[field].as_str().unwrap().to_owned();
        let last = path["path"].as_array().unwrap().last().unwrap().as_str().unwrap();
        let Some(called) = last.split_whitespace().find(|word| word.starts_with("MPI_")) else { continue };
        let file = Path::new(path["file"].as_str().unwrap()).file_name().unwrap_or_default();
        let file = file.to_str().unwrap().to_owned();
        sites.insert((called.to_owned(), text("function"), file, path["line"].as_u64().unwrap()));
    }
    sites
}

/// Compares a run with the marks of the sources it was built from.
pub(crate) fn compare(run: &Run, sources: &[&str], how: &str) {
    assert_eq!(run.output.status.code(), Some(0), "{how}: {}", run.stderr());
    let truth: BTreeSet<Site> = sources.iter().flat_map(|source| truth(source)).collect();
    let mut rest = reported(run);
    for (called, function, file, line) in &truth {
        // The mark says how the function's name begins: its parameters are the compiler's matter.
        let same = |site: &&Site| {
            site.0 == *called && begins(&site.1, function) && site.2 == *file && site.3 == *line
        };
        let found = rest.iter().find(same).cloned();
        assert!(found.is_some(), "{how}: no {called} from {function} at {file}:{line} in {rest:#?}");
        rest.remove(&found.unwrap());
    }
    assert!(rest.is_empty(), "{how}: unmarked {rest:#?}");
}

/// Whether a name is the marked one, with or without module, template arguments and parameters.
fn begins(name: &str, mark: &str) -> bool {
    let name = name.rsplit_once("::").filter(|_| !mark.contains("::")).map_or(name, |(_, last)| last);
    name.strip_prefix(mark).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// How the marked source becomes part of a program.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Fixed,
    Anywhere,
    Linked,
    Loaded,
}

const SHAPES: [Shape; 4] = [Shape::Fixed, Shape::Anywhere, Shape::Linked, Shape::Loaded];

const MAIN: &str = "sites_main.c";

/// The program, and the library that it is to be given as an argument.
fn build(
    mpi: Mpi,
    compiler: Compiler,
    source: &str,
    shape: Shape,
    level: &str,
) -> Option<(PathBuf, PathBuf)> {
    let object = |source: &str, compiler: Compiler, flags: &[&str], output: &str| {
        Build { mpi, compiler, sources: &[source], flags: &[&[level], flags].concat(), output }.path()
    };
    match shape {
        Shape::Fixed | Shape::Anywhere => {
            let place =
                if matches!(shape, Shape::Fixed) { ["-fno-pie", "-no-pie"] } else { ["-fPIE", "-pie"] };
            let main = object(MAIN, Compiler::C, &["-c", place[0]], "main.o")?;
            let main = main.to_str().unwrap();
            Some((object(source, compiler, &[place[0], place[1], main], "program")?, PathBuf::new()))
        }
        Shape::Linked => {
            let library = object(source, compiler, &["-fPIC", "-shared"], "libsites.so")?;
            let rpath = format!("-Wl,-rpath,{}", library.parent().unwrap().display());
            let flags = [library.to_str().unwrap(), &rpath];
            Some((object(MAIN, Compiler::C, &flags, "program")?, PathBuf::new()))
        }
        Shape::Loaded => {
            let library = object(source, compiler, &["-fPIC", "-shared"], "libsites.so")?;
            Some((object(MAIN, Compiler::C, &["-DLOADED", "-ldl"], "program")?, library))
        }
    }
}

/// All shapes without optimisation with one MPI, with optimisation with the other as well.
fn check(compiler: Compiler, source: &str) {
    for (mpi, level, shapes) in
        [(Mpi::Open, "-O0", &SHAPES[..]), (Mpi::Open, "-O2", &SHAPES[..]), (Mpi::Mpich, "-O2", &SHAPES[1..2])]
    {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        for &shape in shapes {
            let built = build(mpi, compiler, source, shape, level);
            let (program, library) = need!(built, "{}", mpi.compiler(compiler));
            let place = Place::new();
            let run = Job::new(mpi, 1, program).arg(library).record(place.path());
            compare(&run, &[MAIN, source], &format!("{mpi:?} {shape:?} {level}"));
        }
    }
}

#[test]
fn sites_in_c() {
    check(Compiler::C, "c_sites.c");
}

#[test]
fn sites_in_cxx() {
    check(Compiler::Cxx, "cxx_sites.cpp");
}

#[test]
fn sites_in_fortran() {
    check(Compiler::Fortran, "f_sites.f90");
}

/// Compiles a Rust source; `words` begin with a name for what comes out.
fn rustc(source: &str, words: &[&str], output: &str) -> Option<PathBuf> {
    let rustc = which("rustc")?;
    let sources = [programs().join(source), programs().join("rust_sites.rs")];
    Some(cached(&words.join(" "), &sources, output, |out| {
        let mut command = Command::new(&rustc);
        command.args(["--edition", "2024", "-g"]).args(words).arg("-o").arg(out).arg(&sources[0]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }))
}

#[test]
fn sites_in_a_library_in_rust() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let source = "rust_sites.rs";
    for level in ["-Copt-level=0", "-Copt-level=3"] {
        let words = ["--crate-type=cdylib", "--crate-name=sites", level];
        let library = need!(rustc(source, &words, "libsites.so"), "rustc");
        let flags = &["-DLOADED", "-ldl"];
        let main = Build { mpi, compiler: Compiler::C, sources: &[MAIN], flags, output: "program" };
        let program = need!(main.path(), "a C compiler for {mpi:?}");
        let place = Place::new();
        let run = Job::new(mpi, 1, program).arg(library).record(place.path());
        compare(&run, &[MAIN, source], &format!("Rust library, {level}"));
    }
}

#[test]
fn sites_in_a_program_in_rust() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let source = "rust_main.rs";
    let linker = need!(which(mpi.compiler(Compiler::C)), "a C compiler for {mpi:?}");
    let linker = format!("-Clinker={}", linker.display());
    for level in ["-Copt-level=0", "-Copt-level=3"] {
        for model in ["-Crelocation-model=pic", "-Crelocation-model=static"] {
            let words = ["--crate-name=sites", level, model, &linker];
            let program = need!(rustc(source, &words, "program"), "rustc");
            let place = Place::new();
            let run = Job::new(mpi, 1, program).record(place.path());
            compare(&run, &[source, "rust_sites.rs"], &format!("Rust, {level} {model}"));
        }
    }
}
