//! OpenMP in ranks, where it begins before MPI does.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{Job, Mpi, Place, need, programs, which};

/// Parallel regions of a rank before `MPI_Init_thread`, which nobody records, and after it; the program says so.
const AFTER: u64 = 5;
const RANKS: u64 = 2;

#[test]
fn regions_are_recorded_though_the_runtime_has_begun_before() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    for compiler in ["clang", "gcc"] {
        need!(which(compiler), "{compiler}");
        let place = Place::new();
        let program: PathBuf = place.path().join("first");
        let mut build = Command::new("mpicc");
        build.env("OMPI_CC", compiler).args(["-g", "-O1", "-fopenmp"]).arg(programs().join("openmp_first.c"));
        assert!(build.arg("-o").arg(&program).status().unwrap().success());
        let run = Job::new(mpi, 2, &program).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        // Threads 0 and 1 add 1 and 2 in each region.
        assert_eq!(String::from_utf8_lossy(&run.output.stdout).trim(), format!("9 {}", RANKS * AFTER * 3));
        let report = run.json("report");
        let regions = report["regions"].as_array().unwrap().iter();
        let parallel: u64 = regions
            .filter(|row| row["level"] == "openmp" && row["verb"] == "parallel")
            .map(|row| row["calls"].as_u64().unwrap())
            .sum();
        assert_eq!(parallel, RANKS * AFTER, "{compiler}");
    }
}
