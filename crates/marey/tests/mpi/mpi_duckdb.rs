//! Somebody else's reader: the line of SQL that the documentation shows, run by DuckDB on a
//! recorded run, gives what `marey report` says.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

/// The first line of SQL after `question` in the documentation of the archive.
fn documented(question: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/archive.md");
    let text = std::fs::read_to_string(docs).unwrap();
    let (_, after) = text.split_once(question).unwrap();
    let (_, sql) = after.split_once("```sql\n").unwrap();
    sql.lines().next().unwrap().to_owned()
}

/// Prints function, calls and whole nanoseconds, one row a line.
const ASK: &str = "
import sys, duckdb
for verb, calls, seconds in duckdb.sql(sys.argv[1]).fetchall():
    print(verb, calls, round(seconds * 1e9))
";

#[test]
fn total_time_per_mpi_function_in_one_line_of_sql() {
    let python = need!(std::env::var_os("MAREY_PYTHON"), "a Python with DuckDB, named by MAREY_PYTHON");
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let sources = &["c_all.c"];
    let build = Build { mpi, compiler: Compiler::C, sources, flags: &["-O1", "-w"], output: "program" };
    let program = need!(build.path(), "a C compiler for {mpi:?}");
    let place = Place::new();
    let run = Job::new(mpi, 2, program).arg("scratch").record(place.path());

    let run_path = run.path().to_str().unwrap();
    let sql = documented("Total time per MPI function").replace("run.marey", run_path);
    let output = Command::new(python).args(["-c", ASK, &sql]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let theirs: BTreeMap<String, (u64, i64)> = text
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].to_owned(), (words[1].parse().unwrap(), words[2].parse().unwrap()))
        })
        .collect();

    let mut ours: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    for region in run.json("report")["regions"].as_array().unwrap() {
        if region["level"] == "mpi" {
            let sums = ours.entry(region["verb"].as_str().unwrap().to_owned()).or_default();
            sums.0 += region["calls"].as_u64().unwrap();
            sums.1 += region["inclusive_ns"].as_i64().unwrap();
        }
    }
    assert!(ours.len() > 100, "{ours:?}");
    assert_eq!(theirs, ours);
}
