//! OpenMP in ranks, where it begins before MPI does.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Job, Mpi, Place, need, programs, which};

/// Parallel regions of a rank before `MPI_Init_thread`, which nobody records, and after it; the program says so.
const AFTER: u64 = 5;
const RANKS: u64 = 2;

#[test]
fn regions_are_recorded_though_the_runtime_has_begun_before() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    // What gcc compiles makes calls that libomp has, too; it tells of them by itself.
    for (compiler, linker) in [("clang", "clang"), ("gcc", "gcc"), ("gcc", "clang")] {
        need!(which(compiler).and(which(linker)), "{compiler} and {linker}");
        let place = Place::new();
        let program: PathBuf = place.path().join("first");
        let object = place.path().join("first.o");
        let source = programs().join("openmp_first.c");
        let compile = |with: &str, options: &[&str], from: &Path, to: &Path| {
            let mut build = Command::new("mpicc");
            build.env("OMPI_CC", with).args(options).arg("-fopenmp").arg(from).arg("-o").arg(to);
            assert!(build.status().unwrap().success());
        };
        compile(compiler, &["-g", "-O1", "-c"], &source, &object);
        compile(linker, &[], &object, &program);
        let run = Job::new(mpi, 2, &program).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        // Threads 0 and 1 add 1 and 2 in each region.
        assert_eq!(String::from_utf8_lossy(&run.output.stdout).trim(), format!("9 {}", RANKS * AFTER * 3));
        let report = run.json("report");
        let visits = |verb: &str| -> u64 {
            let regions = report["regions"].as_array().unwrap().iter();
            let of_verb = regions.filter(|row| row["level"] == "openmp" && row["verb"] == verb);
            of_verb.map(|row| row["calls"].as_u64().unwrap()).sum()
        };
        // One more tries a lock that another thread has.
        let found = (visits("parallel"), visits("lock"));
        assert_eq!(found, (RANKS * (AFTER + 1), 0), "{compiler}, linked by {linker}");
    }
}
