//! Threads of C, C++ and Rust programs, recorded with the library loaded before the program's own.
//!
//! Every program runs with and without it and must print and return the same; what the spool says
//! is held against what the program itself counted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "threads/spool.rs"]
mod spool;
#[path = "threads/valgrind.rs"]
mod valgrind;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use marey_model::EdgeKind;
use spool::Process;
use tempfile::TempDir;

/// The target directory, found from the place of this test's own executable.
fn target() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(3).expect("tests run from <target>/<profile>/deps").to_owned()
}

fn check(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// The library as `marey` carries it: built by an inner cargo with the profile made for it.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let (target, triple) = (target().join("preload-target"), "x86_64-unknown-linux-gnu");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["rustc", "--quiet", "--package", "marey-collect", "--lib", "--crate-type", "cdylib"]);
        cargo.args(["--profile", "preload", "--target", triple, "--target-dir"]).arg(&target);
        cargo.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("RUSTFLAGS");
        check(&mut cargo);
        target.join(triple).join("preload/libmarey.so")
    })
}

/// A program built from a source beside this file.
fn program(source: &str, directory: &Path) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/threads").join(source);
    let program = directory.join("program");
    let mut compiler = match path.extension().unwrap().to_str().unwrap() {
        "c" => Command::new("gcc"),
        "cpp" => Command::new("g++"),
        _ => Command::new("rustc"),
    };
    let options: &[&str] =
        if source.ends_with(".rs") { &["-O", "--edition=2024"] } else { &["-O1", "-pthread"] };
    check(compiler.args(options).arg("-o").arg(&program).arg(&path));
    program
}

fn run(program: &Path, args: &[&str], spool: Option<&Path>) -> Output {
    let mut command = Command::new(program);
    command.args(args).env_remove("LD_PRELOAD");
    if let Some(spool) = spool {
        command.env("LD_PRELOAD", library()).env("MAREY_SPOOL", spool).env("MAREY_ALL", "1");
        // What programs print is the matter of other tests.
        command.env("MAREY_FILES", "off");
    }
    command.output().unwrap()
}

/// Runs a program with and without the library, compares, and reads what was recorded.
fn record(source: &str, args: &[&str]) -> (String, Vec<Process>) {
    let place = TempDir::new().unwrap();
    let program = program(source, place.path());
    let spool = place.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    let (plain, recorded) = (run(&program, args, None), run(&program, args, Some(&spool)));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&recorded.stdout), text(&plain.stdout));
    assert_eq!(recorded.status, plain.status, "{}", text(&recorded.stderr));
    assert!(plain.status.success());
    let processes = spool::read(&spool);
    for process in &processes {
        assert_eq!(process.dropped, 0);
        for edge in process.threads.values().flat_map(|thread| &thread.edges) {
            assert!(edge.from_ticks <= edge.to_ticks && process.threads.contains_key(&edge.from), "{edge:?}");
        }
    }
    (text(&recorded.stdout), processes)
}

fn record_c(name: &str) -> (String, Process) {
    let (said, mut processes) = record("programs.c", &[name]);
    assert_eq!(processes.len(), 1);
    (said, processes.remove(0))
}

/// What the program said about `name`, first time.
fn said(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.expect("the program says it").parse().unwrap()
}

#[test]
fn every_acquisition_is_counted_or_an_interval() {
    let (text, process) = record_c("locks");
    assert_eq!(process.threads.len(), 5);
    let waited = process.count("pthread_mutex_lock");
    assert_eq!(process.locks() + waited, said(&text, "acquisitions"));
    for thread in process.threads.values().skip(1) {
        assert_eq!((thread.creator, thread.ended), (Some(0), true));
    }
    // A hand-over can be missed in the instant between a waiter's try and its entry in the list.
    assert!(process.edges(EdgeKind::LockHandOver).len() as u64 <= waited);
}

#[test]
fn creations_and_joins_have_their_edges() {
    let (_, process) = record_c("many");
    assert_eq!(process.threads.len(), 2001);
    assert_eq!((process.count("pthread_create"), process.count("pthread_join")), (2000, 2000));
    let created: BTreeSet<u32> = process.edges(EdgeKind::Create).iter().map(|(to, _)| *to).collect();
    let joined: BTreeSet<u32> = process.edges(EdgeKind::Join).iter().map(|(_, edge)| edge.from).collect();
    let all: BTreeSet<u32> = (1..=2000).collect();
    assert_eq!((created, joined), (all.clone(), all));
    assert!(process.edges(EdgeKind::Join).iter().all(|(to, edge)| *to == 0 && edge.region == "pthread_join"));
}

#[test]
fn a_lock_is_handed_over_by_its_holder() {
    let (_, process) = record_c("handover");
    let edges = process.edges(EdgeKind::LockHandOver);
    assert_eq!(edges.len(), 10);
    assert!(edges.iter().all(|(to, edge)| *to != 0 && edge.from == 0 && edge.region == "pthread_mutex_lock"));
    assert_eq!((process.count("pthread_mutex_lock"), process.locks()), (10, 10));
}

#[test]
fn who_comes_last_to_a_barrier_is_charged() {
    let (_, process) = record_c("barriers");
    assert_eq!(process.count("pthread_barrier_wait"), 80);
    let edges = process.edges(EdgeKind::Barrier);
    assert_eq!(edges.len(), 60);
    // Numbers are given in the order in which threads start; creations tell which is which.
    let mut created = process.edges(EdgeKind::Create);
    created.sort_by_key(|(_, edge)| edge.from_ticks);
    for round in 0..20 {
        let entered = |serial: &u32| process.threads[serial].intervals[round].1;
        let last = (1..=4).max_by_key(entered).unwrap();
        assert_eq!(last, created[round % 4].0, "round {round}");
        for serial in (1..=4).filter(|&serial| serial != last) {
            let left = process.threads[&serial].intervals[round].2;
            let edge = edges.iter().find(|(to, edge)| *to == serial && edge.to_ticks == left);
            let (_, edge) = edge.expect("whoever waited knows for whom");
            assert_eq!((edge.from, edge.from_ticks <= entered(&last)), (last, true), "round {round}");
        }
    }
}

#[test]
fn a_waiter_is_woken_by_the_signal() {
    let (_, process) = record_c("conditions");
    let edges = process.edges(EdgeKind::Wake);
    assert_eq!(edges.len(), 20);
    assert!(edges.iter().all(|(to, edge)| *to != 0 && edge.from == 0 && edge.region == "pthread_cond_wait"));
    assert_eq!((process.count("pthread_cond_timedwait"), process.count("pthread_cond_clockwait")), (1, 1));
}

#[test]
fn threads_may_end_in_every_way() {
    let (_, process) = record_c("ends");
    assert_eq!(process.threads.len(), 16);
    let joined: BTreeSet<u32> = process.edges(EdgeKind::Join).iter().map(|(_, edge)| edge.from).collect();
    assert_eq!(joined, BTreeSet::from([1, 2, 3, 4, 15]));
    assert!(joined.iter().all(|serial| process.threads[serial].ended));
    assert_eq!(process.threads[&2].left_open, ["pthread_cond_wait"]);
}

#[test]
fn c11_threads_are_threads() {
    let (text, process) = record_c("c11");
    assert_eq!((process.threads.len(), process.edges(EdgeKind::Join).len()), (4, 3));
    // The one that ran out of time is an interval too.
    let waited = process.count("mtx_lock");
    assert_eq!(process.locks() + waited, said(&text, "acquisitions"));
    assert_eq!(process.count("mtx_timedlock"), 1);
}

#[test]
fn return_codes_are_those_of_the_library() {
    let (_, process) = record_c("codes");
    assert_eq!(process.threads.len(), 2);
}

#[test]
fn handlers_may_post_amid_everything() {
    let (text, process) = record_c("signals");
    let waited = process.count("pthread_mutex_lock");
    // A handler leaves a record being written alone, so a count may be lost to it, never invented.
    assert!(process.locks() + waited <= said(&text, "acquisitions"));
    assert!(said(&text, "acquisitions") - 10 <= process.locks() + waited);
}

#[test]
fn forked_children_go_on_unrecorded() {
    let (_, processes) = record("programs.c", &["forks"]);
    assert_eq!(processes.len(), 1);
    assert_eq!(processes[0].threads.len(), 2);
}

#[test]
fn threads_have_the_names_they_were_given() {
    let (_, process) = record_c("names");
    // Which of the two makes its first call earlier is for the scheduler to say, and so are their numbers.
    let others = process.threads.range(1..).map(|(_, thread)| (thread.name.as_str(), thread.creator));
    let others: BTreeMap<_, _> = others.collect();
    assert_eq!(others, BTreeMap::from([("by another", Some(0)), ("by itself", Some(0))]));
}

#[test]
fn the_library_of_cpp_is_seen_through() {
    let (_, processes) = record("program.cpp", &[]);
    let process = &processes[0];
    assert_eq!(process.threads.len(), 5);
    assert_eq!(process.edges(EdgeKind::Join).len(), 4);
    assert!(process.edges(EdgeKind::Wake).len() > 3);
}

#[test]
fn rust_waits_at_the_futex() {
    let (_, processes) = record("program.rs", &[]);
    let process = &processes[0];
    assert_eq!(process.threads.len(), 5);
    assert_eq!(process.threads.values().filter(|thread| thread.name.starts_with("worker ")).count(), 3);
    assert_eq!(process.edges(EdgeKind::Join).len(), 4);
    assert!(process.count("futex wait") > 3);
    assert!(process.edges(EdgeKind::Wake).iter().all(|(_, edge)| edge.region == "futex wait"));
    assert!(!process.edges(EdgeKind::Wake).is_empty());
}

#[test]
fn threads_can_be_left_alone() {
    let place = TempDir::new().unwrap();
    let program = program("programs.c", place.path());
    let mut command = Command::new(&program);
    command.arg("locks").env("LD_PRELOAD", library()).env("MAREY_SPOOL", place.path());
    check(command.env("MAREY_ALL", "1").env("MAREY_THREADS", "off").env("MAREY_FILES", "off"));
    let process = spool::read(place.path()).remove(0);
    assert_eq!((process.threads.len(), process.locks()), (1, 0));
}
