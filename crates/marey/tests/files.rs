//! Files as the recorder sees them, against what `strace` sees of the same program.
//!
//! The one idea: calls and bytes by file, and the places in files, must be those that the kernel was asked for; of
//! streams of the C library, whose calls are not the kernel's, the bytes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;
mod strace;

use std::collections::BTreeMap;
use std::path::Path;

use marey_archive::Archive;
use program::{Program, Recorded};
use strace::{Files, Move, Witness};

/// What `strace` sees of a program.
fn watch(program: &Program, words: &[&str]) -> Option<Witness> {
    let path = program.path();
    strace::watch(&[&[path.to_str().unwrap()], words].concat(), &program.dir("watched"))
}

/// Calls and bytes by file and kind, of the files in the directory.
fn files(recorded: &Recorded) -> Files {
    let report = recorded.json("report");
    let mut files = Files::new();
    for row in report["files"].as_array().unwrap() {
        let Ok(path) = Path::new(row["file"].as_str().unwrap()).strip_prefix(&recorded.dir) else { continue };
        let number = |field: &str| row[field].as_u64().unwrap();
        let sums = [
            ("read", "reads", number("read_bytes")),
            ("write", "writes", number("written_bytes")),
            ("open", "opens", 0),
            ("close", "closes", 0),
            ("seek", "seeks", 0),
            ("sync", "syncs", 0),
            ("resize", "resizes", 0),
        ];
        let sums = sums.map(|(kind, field, bytes)| (kind, (number(field), bytes)));
        let sums = sums.into_iter().filter(|(_, (calls, _))| *calls > 0).collect();
        assert!(files.insert(path.to_str().unwrap().to_owned(), sums).is_none());
    }
    files
}

/// What was done to which file, from the table of operations: kind, file, bytes, place.
fn operations(recorded: &Recorded) -> Vec<(String, String, i64, i64)> {
    let archive = Archive::open(&recorded.dir.join("run.marey")).unwrap();
    let (io, nouns) = (archive.table("io").unwrap(), archive.table("nouns").unwrap());
    let (names, files) = (nouns.text("name").unwrap(), io.u32("file").unwrap());
    let (kinds, bytes, offsets) =
        (io.text("kind").unwrap(), io.i64("bytes").unwrap(), io.i64("offset").unwrap());
    let row = |row: usize| {
        let path = Path::new(names.get(files[row] as usize)?).strip_prefix(&recorded.dir).ok()?;
        Some((kinds[row].clone(), path.to_str().unwrap().to_owned(), bytes[row], offsets[row]))
    };
    (0..io.len()).filter_map(row).collect()
}

/// What was moved.
fn moves(recorded: &Recorded) -> Vec<Move> {
    let kind = |kind: &str| ["read", "write"].into_iter().find(|name| *name == kind);
    let row =
        |(name, file, bytes, place): (String, _, _, _)| kind(&name).map(|kind| (kind, file, bytes, place));
    operations(recorded).into_iter().filter_map(row).collect()
}

/// Files, what was read from them and written to them, bytes, and how often they were opened.
fn bytes(files: &Files) -> BTreeMap<&str, [u64; 3]> {
    let of = |sums: &strace::Sums, kind: &str| sums.get(kind).copied().unwrap_or_default();
    let row = |sums: &strace::Sums| [of(sums, "read").1, of(sums, "write").1, of(sums, "open").0];
    files.iter().map(|(name, sums)| (name.as_str(), row(sums))).collect()
}

#[test]
fn calls_bytes_and_places_are_those_that_the_kernel_saw() {
    let Some(program) = Program::compile("cc -O1 -g -Wall {}/files.c") else { return };
    let Some(seen) = watch(&program, &["calls"]) else { return };
    assert!(seen.files.len() >= 8 && seen.moves.len() > 60, "{:?}", seen.files);
    let recorded = program.record(&[], &["calls"]);
    // What it prints are results and `errno`.
    assert_eq!(recorded.output.stdout, std::fs::read(program.dir("watched").join("printed")).unwrap());
    // The child that shares a place is not recorded.
    let mut found = files(&recorded);
    let shared = found.get_mut("shared").unwrap();
    let child = shared.entry("read").or_default();
    (child.0, child.1) = (child.0 + 1, child.1 + 10);
    assert_eq!(found, seen.files);
    assert_eq!(moves(&recorded), seen.moves);
    let done: Vec<_> = operations(&recorded).into_iter().map(|(kind, file, ..)| (kind, file)).collect();
    let expected: Vec<_> = seen.done.iter().map(|(kind, file)| ((*kind).to_owned(), file.clone())).collect();
    assert_eq!(done, expected);
    recorded.is_whole();
    // The same where nothing but sums is kept.
    let profile = program.record(&["--mode", "profile"], &["calls"]);
    let mut found = files(&profile);
    let child = found.get_mut("shared").unwrap().entry("read").or_default();
    (child.0, child.1) = (child.0 + 1, child.1 + 10);
    assert_eq!(found, seen.files);
}

#[test]
fn streams_have_the_bytes_that_go_to_their_files() {
    let Some(program) = Program::compile("cc -O1 -g -Wall -D_FORTIFY_SOURCE=2 {}/files.c") else { return };
    let Some(seen) = watch(&program, &["streams"]) else { return };
    let recorded = program.record(&[], &["streams"]);
    assert_eq!(bytes(&files(&recorded)), bytes(&seen.files));
    recorded.is_whole();
}

/// A number that stands for another file by now is not taken for the one before: what `closedir` or a handler closes.
#[test]
fn numbers_of_closed_files_are_forgotten() {
    let Some(program) = Program::compile("cc -O1 -g -Wall {}/files.c") else { return };
    let recorded = program.record(&[], &["renumbered"]);
    let found = files(&recorded);
    let moved = |name: &str| {
        let sums = found.get(name).cloned().unwrap_or_default();
        ["read", "write"].map(|kind| sums.get(kind).map_or(0, |sum| sum.1))
    };
    assert_eq!((moved(""), moved("old"), moved("busy")), ([0, 0], [0, 0], [0, 0]), "{found:?}");
    assert_eq!(found["old"]["open"].0, 1000);
}

#[test]
fn threads_share_a_file() {
    let Some(program) = Program::compile("cc -O1 -g -Wall -pthread {}/files.c") else { return };
    let recorded = program.record(&[], &["threads"]);
    let found = files(&recorded);
    assert_eq!(found["numbers"]["read"], (4096, 4096 * 16));
    // Each piece was read once, by whomever.
    let mut places: Vec<i64> = moves(&recorded).iter().filter(|it| it.0 == "read").map(|it| it.3).collect();
    places.sort_unstable();
    assert!(places.iter().copied().eq((0..4096).map(|number| number * 16)), "{places:?}");
    recorded.is_whole();
}

#[test]
fn streams_of_cpp_are_calls_on_files() {
    let Some(program) = Program::compile("c++ -O1 -g {}/files.cc") else { return };
    let Some(mut seen) = watch(&program, &[]) else { return };
    // `fopen` goes to the end by itself.
    seen.files.get_mut("text").unwrap().remove("seek");
    let recorded = program.record(&[], &[]);
    assert_eq!(files(&recorded), seen.files);
    assert_eq!(bytes(&seen.files)["text"][1], 20_000 * 6 + 100_000);
    recorded.is_whole();
}

#[test]
fn fortran_reads_and_writes_as_the_kernel_saw() {
    let Some(program) = Program::compile("gfortran -O1 -g {}/files.f90") else { return };
    let Some(seen) = watch(&program, &[]) else { return };
    let recorded = program.record(&[], &[]);
    assert!(seen.files.len() >= 3);
    assert_eq!(files(&recorded), seen.files);
    assert_eq!(moves(&recorded), seen.moves);
    recorded.is_whole();
}

#[test]
fn rust_reads_and_writes_as_the_kernel_saw() {
    let Some(program) = Program::compile("rustc -O -g --edition=2024 {}/files.rs") else { return };
    let Some(seen) = watch(&program, &[]) else { return };
    let recorded = program.record(&[], &[]);
    assert!(seen.files.len() >= 3);
    assert_eq!(files(&recorded), seen.files);
    assert_eq!(moves(&recorded), seen.moves);
    recorded.is_whole();
}

#[test]
fn rules_and_switches_leave_out_what_they_say() {
    let Some(program) = Program::compile("cc -O1 -g -Wall {}/files.c") else { return };
    let all = files(&program.record(&[], &["calls"]));
    let off = program.record(&["--files", "off"], &["calls"]);
    assert_eq!(files(&off), Files::new());
    let rules = ["--rule", "count files:write", "--rule", "off files:read", "--rule", "time files:open*"];
    let some = program.record(&rules, &["calls"]);
    let found = files(&some);
    assert_eq!(found["data"]["write"].0, all["data"]["write"].0);
    assert_eq!(found["data"]["open"], all["data"]["open"]);
    assert!(found["data"].get("read").is_none_or(|reads| reads.0 < all["data"]["read"].0));
    // Places are counted along for those that are kept.
    let kept = |moves: Vec<Move>| moves.into_iter().filter(|it| it.1 == "appended").collect::<Vec<_>>();
    assert_eq!(kept(moves(&some)), []);
}

#[test]
fn the_report_shows_files_and_where_they_were_used() {
    let Some(program) = Program::compile("cc -O1 -g -Wall {}/files.c") else { return };
    let recorded = program.record(&[], &["calls"]);
    let text = recorded.show(&["report", "--by", "file"]);
    assert!(text.starts_with("\nFILES  ") && text.contains("/data ") && text.contains("process 0"), "{text}");
    assert!(recorded.show(&["report"]).contains("\nFILES  "));
    let report = recorded.json("report");
    let sync = report["call_paths"].as_array().unwrap().iter().find(|row| row["path"][0] == "fsync").unwrap();
    assert_eq!((&sync["function"], &sync["calls"]), (&"plain".into(), &1.into()));
}
