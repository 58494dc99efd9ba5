//! Calls that are left without returning: by an exception out of an error handler, by a jump out of a
//! signal handler. More of them than regions can be open, so that each that stayed open would show.

use serde_json::Value;

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

#[test]
fn calls_that_do_not_return_end_before_the_next() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let build =
        Build { mpi, compiler: Compiler::Cxx, sources: &["jumps.cpp"], flags: &["-O1"], output: "program" };
    let program = need!(build.path(), "a C++ compiler for {mpi:?}");
    let place = Place::new();
    let run = Job::new(mpi, 1, program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}{}", run.stdout(), run.stderr());
    assert_eq!(run.stdout().trim(), "3000 1");

    let report = run.json("report");
    let row = |verb: &str, noun: &str| -> &Value {
        let mut rows = report["regions"].as_array().unwrap().iter();
        rows.find(|row| row["verb"] == verb && row["noun"] == noun).unwrap()
    };
    for (verb, noun, calls) in [
        ("MPI_Send", "MPI_COMM_WORLD", 1500),
        ("MPI_Bcast", "MPI_COMM_WORLD", 1500),
        ("MPI_Send", "MPI_COMM_SELF", 1),
        ("MPI_Wait", "", 2),
        ("MPI_Barrier", "MPI_COMM_WORLD", 1),
    ] {
        let row = row(verb, noun);
        assert_eq!(row["calls"], calls, "{row}");
        // Nothing lies inside them.
        assert_eq!(row["inclusive_ns"], row["exclusive_ns"], "{row}");
        assert!(row["exclusive_ns"].as_i64().unwrap() > 0, "{row}");
    }
    // The wait that was given up took as long as the timer ran.
    let waits = row("MPI_Wait", "");
    assert!(waits["exclusive_ns"].as_i64().unwrap() > 15_000_000, "{waits}");
    let depths = run.table("intervals").u32("depth").unwrap().iter().copied().max();
    assert_eq!(depths, Some(0));
}
