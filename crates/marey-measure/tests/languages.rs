//! C, C++ and Fortran write what the Rust writer writes: programs compiled here run under the
//! library of the example `runtime`, and the examples of the user's guide compile and run.
#![expect(clippy::unwrap_used, reason = "a test")]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use marey_model::spool::{Record, Stream};
use support::{Checked, Spool, Window};

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-collect/include")
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// The library of the example, which cargo has built beside the tests.
fn runtime() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("examples/libruntime.so")
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{command:?}: {errors}");
}

fn compile(compiler: &str, directory: &Path, arguments: &[&str]) {
    let include = format!("-I{}", include().display());
    run(Command::new(compiler)
        .current_dir(directory)
        .args(["-O2", "-Wall", "-Wextra", "-Werror", &include])
        .args(arguments));
}

/// Runs a program, alone and recorded, and gives what it left.
fn record(directory: &Path, program: &str) -> Spool {
    let program = directory.join(program);
    let spool = directory.join("spool");
    std::fs::create_dir(&spool).unwrap();
    run(Command::new(&program).env_remove("MAREY_SPOOL"));
    run(Command::new(&program).env("LD_PRELOAD", runtime()).env("MAREY_SPOOL", &spool));
    let found = Spool::read(&spool);
    std::fs::remove_dir_all(&spool).unwrap();
    found
}

fn check_c(found: &Checked) {
    let visits: Vec<(&str, u64)> = found.visits.iter().map(|(name, &n)| (name.as_str(), n)).collect();
    let expected = [
        ("child", 1),
        ("detail", 9),
        ("down", 1024),
        ("in C++", 10),
        ("in a library", 10),
        ("in a thread", 1),
        ("inner", 1),
        ("loop", 50_000),
        ("outer", 1),
        ("throws", 10),
        ("work", 50_001),
    ];
    assert_eq!(visits, expected);
    assert_eq!(found.counted, [("detail".to_owned(), 3), ("down".to_owned(), 976)].into());
    assert_eq!((found.open, found.dropped, found.enters), (0, 0, found.leaves));
    assert_eq!(found.events.iter().filter(|event| event.starts_with("+fact n=")).count(), 45_000);
    let others: Vec<&str> =
        found.events.iter().filter(|event| !event.starts_with('+')).map(String::as_str).collect();
    let all = format!("all i=-5 u={} f=0.5 b=true t=\"text\" c=7 s=-3 x=1.5", u64::MAX);
    let long = format!("long text={:?} n={}", "x".repeat(2999), i64::MIN);
    let shapes = ["plain", &long, "shape n=0", "shape n=1 more=\"yes\""];
    assert_eq!(others[0], "caught n=1 u=3 d=1.5 b=true what=\"odd\"");
    assert_eq!(others[1], all);
    assert_eq!(others[2..], shapes);
    assert_eq!(found.counters, ["cells=17.5"]);
    assert_eq!(found.lanes, ["task loop", "task"]);
    assert!(found.spans.values().all(|(begin, end)| begin.is_some() && end.is_some() && begin != end));
}

#[test]
fn c_and_cxx_in_several_files_and_a_library() {
    let (c, cxx, library) = (program("all.c"), program("all.cc"), program("library.c"));
    let [c, cxx, library] = [&c, &cxx, &library].map(|path| path.to_str().unwrap());
    for (cc, cxx_compiler) in [("gcc", "g++"), ("clang", "clang++")] {
        if Command::new(cxx_compiler).arg("--version").output().is_err() {
            marey_testkit::skip(cxx_compiler);
            continue;
        }
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        compile(cc, at, &["-std=c99", "-pedantic", "-fPIC", "-shared", library, "-o", "liball.so"]);
        compile(cc, at, &["-std=c11", "-pedantic", "-c", c, "-o", "c.o"]);
        compile(cxx_compiler, at, &["-std=c++11", "-pedantic", "-c", cxx, "-o", "cxx.o"]);
        compile(
            cxx_compiler,
            at,
            &["c.o", "cxx.o", "-L.", "-lall", "-Wl,-rpath,$ORIGIN", "-pthread", "-o", "all"],
        );
        let spool = record(at, "all");
        assert_eq!(spool.processes.len(), 2, "the child of a fork has files of its own");
        check_c(&spool.checked());
    }
}

/// How many regions are around each visit of a site.
fn depths(windows: &[Window], wanted: u32) -> Vec<usize> {
    let (mut depth, mut found) = (0, Vec::new());
    for window in windows {
        let mut at = 0;
        while let Some(record) = Record::decode(&window.records, &mut at) {
            match record {
                Record::Enter { site, .. } => {
                    if site == wanted {
                        found.push(depth);
                    }
                    depth += 1;
                }
                Record::Leave { .. } => depth -= 1,
                _ => {}
            }
        }
    }
    found
}

/// C leaves what it has not entered, because it was left out, and nothing else is left with it.
#[test]
fn leaving_what_is_left_out_leaves_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let source = program("details.c");
    compile("gcc", directory.path(), &["-std=c99", source.to_str().unwrap(), "-o", "details"]);
    let spool = record(directory.path(), "details");
    let windows = &spool.processes[0].streams[&(0, Stream::Events as u8)];
    // Within `around` comes `mark`, the second site; then eleven levels down; then one that changes, twice.
    assert_eq!(depths(windows, 1), [1, 12, 3, 2, 1, 1, 3, 2, 1, 1]);
    let found = spool.checked();
    assert_eq!((found.visits["off"], found.visits["count"], found.counted["count"]), (2, 2, 1));
    assert_eq!((found.open, found.enters), (0, found.leaves));
}

#[test]
fn fortran_with_threads() {
    let directory = tempfile::tempdir().unwrap();
    let (include, all) = (include(), program("all.f90"));
    let module = include.join("marey.f90");
    let [include, module, all] = [&include, &module, &all].map(|path| path.to_str().unwrap());
    let words = ["-std=f2008", "-cpp", "-fopenmp", "-I", include, module, all, "-o", "all"];
    compile("gfortran", directory.path(), &words);
    let found = record(directory.path(), "all").checked();
    let visits = [("detail", 9), ("loop", 50_000), ("threads", 4000), ("work", 54_000)];
    assert_eq!(found.visits, visits.map(|(name, n)| (name.to_owned(), n)).into());
    assert_eq!(found.counted, [("detail".to_owned(), 3)].into());
    assert_eq!((found.open, found.dropped, found.threads), (0, 0, 4));
    let again = |n: usize| format!("again n={n} text={:?}", "x".repeat(1000 * n));
    let all = format!("all i=-5 least={} f=0.5 d=0.25 b=true t=\"text\" one=1", i64::MIN);
    assert_eq!(found.events, [all, again(1), again(2), "+plain".to_owned()]);
    assert_eq!(found.counters, ["cells=17.5"]);
    assert_eq!(found.lanes, ["task loop", "task"]);
    assert_eq!(found.spans.len(), 1);
}

/// The block of the user's guide in this language.
fn example(language: &str) -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/user-api.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let (_, rest) = guide.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_examples_of_the_guide_run() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("example.c"), example("c")).unwrap();
    compile("gcc", at, &["-std=c11", "-pedantic", "example.c", "-o", "c"]);
    std::fs::write(at.join("example.f90"), example("fortran")).unwrap();
    let module = include().join("marey.f90");
    compile("gfortran", at, &["-std=f2008", module.to_str().unwrap(), "example.f90", "-o", "fortran"]);
    for (program, events) in [("c", 1), ("fortran", 10)] {
        let found = record(at, program).checked();
        assert_eq!((found.events.len(), found.counters.len()), (events, events), "{program}");
        assert_eq!((found.open, found.lanes.len(), found.spans.len()), (0, 2, 1), "{program}");
    }
}
