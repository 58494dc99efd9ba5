//! Calls of MPI within a region that the budget has only counted: each of them is there, and its time is not the region's.

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

const VISITS: u64 = 64 * 4096;

#[test]
fn mpi_within_a_region_that_is_only_counted() {
    let mpi = need!(Mpi::Open.installed(), "{}", Mpi::Open.launcher());
    let include = format!("-I{}/../marey-collect/include", env!("CARGO_MANIFEST_DIR"));
    let flags = ["-O2", include.as_str()];
    let build =
        Build { mpi, compiler: Compiler::C, sources: &["budget_mpi.c"], flags: &flags, output: "program" };
    let program = need!(build.path(), "a C compiler for {mpi:?}");
    let place = Place::new();
    let run = Job::new(mpi, 2, program).arg(VISITS.to_string()).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&["reduced"]);
    let told = run.stdout();
    let told: Vec<Vec<u64>> = told
        .lines()
        .map(|line| line.split_whitespace().map(|number| number.parse().unwrap()).collect())
        .collect();
    let sum = |column: usize| told.iter().map(|rank| rank[column]).sum::<u64>();
    assert_eq!((sum(0), sum(1)), (2 * VISITS, VISITS / 16));

    let info = run.json("info");
    assert_eq!(info["messages"], sum(1));
    let regions = info["reduced"]["regions"].as_array().unwrap();
    assert_eq!(regions.iter().map(|it| &it["region"]).collect::<Vec<_>>(), ["step"]);
    assert!(info["reduced"]["visits"].as_u64().unwrap() > VISITS, "{info}");

    let report = run.json("report");
    let region = |name: &str| {
        let rows = report["regions"].as_array().unwrap();
        rows.iter().find(|row| row["noun"] == name || row["verb"] == name).unwrap()
    };
    assert_eq!(region("step")["calls"], sum(0));
    assert_eq!(region("MPI_Sendrecv")["calls"], sum(1));
    // What its visits take by the program's clock, and what the recorder does around calls of MPI: those were several
    // times as long as all visits together.
    let step = region("step")["exclusive_ns"].as_f64().unwrap();
    let truth = sum(2) as f64;
    assert!(step < 1.5 * truth && step > 0.2 * truth, "{step} ns of {truth}");
}
