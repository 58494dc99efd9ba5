//! The views of sources in a browser: on a program whose lines are known by marks, and on one that is made up and large.
//!
//! What is seen and pressed stands in `ui/test/sources.mjs` and `ui/test/large.mjs`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use marey_archive::merge::{Config, merge};
use marey_archive::schema::{
    NONE, SOURCE_CALLS, SOURCE_FILES, SOURCE_FUNCTIONS, SOURCE_LOOPS, SOURCE_MODULES, SOURCE_TEXTS,
    SOURCE_VERSION,
};
use marey_archive::{Columns, Value, add_tables};
use marey_testkit::Spool;

use crate::mpi_view::look;
use crate::support::{Compiler, Job, Mpi, Place, need, programs, which};

/// The program beside its source, of which nobody can say that it was changed since.
fn built(place: &Place, mpi: Mpi) -> Option<std::path::PathBuf> {
    let compiler = which(mpi.compiler(Compiler::Cxx))?;
    let dir = place.dir("shapes");
    std::fs::copy(programs().join("shapes.cpp"), dir.join("shapes.cpp")).unwrap();
    let words = ["-g", "-O1", "-DWITH_MPI", "shapes.cpp", "-o", "shapes"];
    let status = Command::new(compiler).args(words).current_dir(&dir).status().unwrap();
    assert!(status.success());
    Some(dir.join("shapes"))
}

#[test]
fn sources_of_a_program_in_the_browser() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let place = Place::new();
    let program = need!(built(&place, mpi), "a C++ compiler for Open MPI");
    let root = format!("--embed-sources={}", place.dir("shapes").display());
    let run = Job::new(mpi, 4, program).arg("40").arg("1200").option(&root).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    look(run.path(), &[], "sources", &place);
}

const LINES: u32 = 20_000;
const FUNCTIONS: u32 = 50_000;
/// The last number of a line that a file can say.
const MOST: u32 = u32::MAX - 1;
/// Functions that one calls which calls very many.
const WIDE: u32 = 30_000;

/// A file with a function every ten lines, a loop in each, and a tree of calls: each calls three others, and the first one
/// very many besides.
fn large(run: &Path) {
    let mut text = String::new();
    for line in 1..=LINES {
        match line % 10 {
            1 => writeln!(text, "int f{}(int n) {{ // line {line}", line / 10),
            3 => writeln!(text, "    for (int i = 0; i < n; i++) // line {line}"),
            0 => writeln!(text, "}} // line {line}"),
            _ => writeln!(text, "        n += {line}; // line {line}"),
        }
        .unwrap();
    }
    let mut modules = Columns::new(&SOURCE_MODULES);
    let module = [0, SOURCE_VERSION, 1, 1].map(Value::U32);
    modules.push(&[&module[..], &[Value::Text("")]].concat()).unwrap();
    let mut files = Columns::new(&SOURCE_FILES);
    // One that has more lines than there can be, and one with a line that no author writes.
    for (number, (path, lines)) in (0..).zip([("large.c", LINES), ("senseless.c", MOST), ("long.c", 1)]) {
        let path = format!("/code/{path}");
        let words = [Value::Text(&path), Value::Text("read"), Value::Text("C")];
        let numbers = [lines, 0, 0].map(Value::U32);
        files.push(&[&[Value::U32(number)], &words[..], &numbers[..]].concat()).unwrap();
    }
    let mut functions = Columns::new(&SOURCE_FUNCTIONS);
    for number in 0..FUNCTIONS {
        let name = if number == 0 { "main".to_owned() } else { format!("f{number}") };
        // Beyond the end of the file they have no lines.
        let first = Some(number * 10 + 1).filter(|first| *first < LINES);
        let lines = first.map_or([0, 0, 0], |first| [first, first, first + 9]);
        let row = [
            &[Value::U32(number), Value::U32(0), Value::Text(&name), Value::Text("both")][..],
            &[Value::Text("function"), Value::Text(""), Value::U32(NONE), Value::U32(0)],
            &[
                Value::U32(lines[0]),
                Value::U32(lines[1]),
                Value::U32(lines[2]),
                Value::U32(0),
                Value::I64(64),
            ],
        ];
        functions.push(&row.concat()).unwrap();
    }
    let mut loops = Columns::new(&SOURCE_LOOPS);
    for number in 0..LINES / 10 {
        let at = [0, number * 10 + 3, number * 10 + 4, 1, NONE, number].map(Value::U32);
        loops.push(&[&[Value::U32(number), Value::Text("for")], &at[..]].concat()).unwrap();
    }
    let senseless = [1, 3, MOST, 1, NONE, NONE].map(Value::U32);
    loops.push(&[&[Value::U32(LINES / 10), Value::Text("for")], &senseless[..]].concat()).unwrap();
    let mut calls = Columns::new(&SOURCE_CALLS);
    let mut call = |caller: u32, callee: u32| {
        let ids = [Value::U32(caller), Value::U32(callee)];
        let words = [Value::Text(""), Value::Text("called"), Value::Text("both")];
        let at = [0, caller * 10 % LINES + 5, 1, NONE].map(Value::U32);
        calls.push(&[&ids[..], &words[..], &at[..]].concat()).unwrap();
    };
    for callee in 1..FUNCTIONS {
        call((callee - 1) / 3, callee);
    }
    for callee in 5..WIDE {
        call(1, callee);
    }
    let mut texts = Columns::new(&SOURCE_TEXTS);
    texts.push(&[Value::U32(0), Value::Text(&text)]).unwrap();
    texts.push(&[Value::U32(2), Value::Text(&"word ".repeat(100_000))]).unwrap();
    add_tables(run, &[modules, files, functions, loops, calls, texts]).unwrap();
}

#[test]
fn a_large_program_in_the_browser() {
    let place = Place::new();
    let mut spool = Spool::world(1);
    for process in &mut spool.processes {
        let site = process.site(0, "main");
        process.enter(0, site, 1000);
        process.leave(0, 900_000);
        process.end = Some(1_000_000);
    }
    let (from, to) = (place.path().join("spool"), place.path().join("large.marey"));
    spool.write(&from).unwrap();
    merge(&from, &to, &Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false }, &()).unwrap();
    // Of a run that keeps nothing of its program, each view says why it is empty and what to do.
    look(&to, &[], "sourceless", &place);
    large(&to);
    look(&to, &[], "large", &place);
}
