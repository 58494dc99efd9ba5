//! MPI's calls on files, and beneath them those of the C library that they are made of, against what `strace` sees
//! of the same job.

use std::path::Path;

use crate::strace::{self, Files, Sums};
use crate::support::{Build, Compiler, Job, Mpi, Place, need};

#[test]
fn calls_beneath_those_of_mpi_are_the_kernels() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let build =
        Build { mpi, compiler: Compiler::C, sources: &["files_mpi.c"], flags: &["-O1"], output: "files_mpi" };
    let program = need!(build.path(), "a C compiler for {mpi:?}");
    let place = Place::new();
    let job = Job::new(mpi, 2, program).arg("data");
    let watched = place.dir("watched").canonicalize().unwrap();
    let words: Vec<String> = job.line().iter().map(|word| word.to_str().unwrap().to_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(seen) = strace::watch(&words, &watched) else { return };

    let dir = place.dir("recorded").canonicalize().unwrap();
    let run = job.record(&dir);
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&[]);
    let report = run.json("report");
    let rows = report["files"].as_array().unwrap();
    let number = |row: &serde_json::Value, field: &str| row[field].as_u64().unwrap();
    let of = |row: &serde_json::Value| -> Sums {
        let sums = [
            ("read", (number(row, "reads"), number(row, "read_bytes"))),
            ("write", (number(row, "writes"), number(row, "written_bytes"))),
            ("open", (number(row, "opens"), 0)),
            ("close", (number(row, "closes"), 0)),
            ("seek", (number(row, "seeks"), 0)),
            ("sync", (number(row, "syncs"), 0)),
            ("resize", (number(row, "resizes"), 0)),
        ];
        sums.into_iter().filter(|(_, (calls, _))| *calls > 0).collect()
    };
    let own = rows.iter().filter(|row| row["level"] == "files");
    let own = own
        .filter_map(|row| Some((Path::new(row["file"].as_str().unwrap()).strip_prefix(&dir).ok()?, of(row))));
    let own: Files = own.map(|(name, sums)| (name.to_str().unwrap().to_owned(), sums)).collect();
    assert!(["data", "own-0", "own-1"].iter().all(|&name| own.contains_key(name)), "{own:?}");
    assert_eq!(own, seen.files);
    // On its own level each call has what the program asked for.
    let mpi = rows.iter().find(|row| row["level"] == "mpi" && row["file"] == "data").expect("it is there");
    assert_eq!((number(mpi, "writes"), number(mpi, "written_bytes")), (12, 120_000));
    assert_eq!((number(mpi, "reads"), number(mpi, "read_bytes")), (2, 20_000));
    assert_eq!((number(mpi, "syncs"), number(mpi, "closes")), (2, 2));
    // One is beneath the other, and each has its bytes.
    let paths = report["call_paths"].as_array().unwrap();
    let below = |row: &&serde_json::Value| {
        let path = row["path"].as_array().unwrap();
        path.len() == 2 && path[0] == "MPI_File_write_at" && path[1] != "lseek"
    };
    let moved: u64 = paths.iter().filter(below).map(|row| number(row, "bytes")).sum();
    assert_eq!(moved, 100_000);
    // What MPI does to files of its own is not the program's.
    let inside = |row: &serde_json::Value| {
        let path = row["path"].as_array().unwrap();
        let names: Vec<&str> = path.iter().map(|name| name.as_str().unwrap()).collect();
        names.len() > 1 && !names[names.len() - 2].starts_with("MPI_File_")
    };
    assert!(!paths.iter().any(inside), "{paths:?}");
}
