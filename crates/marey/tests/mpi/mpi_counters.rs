//! What is counted in a call of MPI belongs to it, and not to what lies before or behind.

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

#[test]
fn pages_that_calls_touch_are_theirs() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let build = Build {
        mpi,
        compiler: Compiler::C,
        sources: &["counted_mpi.c"],
        flags: &["-O1"],
        output: "counted_mpi",
    };
    let program = need!(build.path(), "a C compiler for {mpi:?}");
    for sample in ["off", "1000"] {
        let place = Place::new();
        let job =
            Job::new(mpi, 2, &program).option("--counters=page-faults").option(&format!("--sample={sample}"));
        let run = job.record(&place.dir("recorded").canonicalize().unwrap());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        run.expect_no_problems(&[]);
        let report = run.json("report");
        assert_eq!(report["counters"][0]["name"], "page-faults");
        let regions = report["counted_regions"].as_array().unwrap();
        let faults = |name: &str| {
            let region = regions.iter().find(|region| region["region"] == name);
            region.map_or(0, |region| region["exclusive"][0].as_u64().unwrap())
        };
        // Pages of the library's own come on top: buffers of the first messages, shared memory.
        for (name, pages) in [("MPI_Send", 500), ("MPI_Recv", 500), ("MPI_Reduce", 300)] {
            let found = faults(name);
            eprintln!("--sample {sample}: {found} pages in {name}, at least {pages}");
            assert!((pages..pages + 150).contains(&found), "{found} pages in {name}");
        }
        for name in ["MPI_Op_create", "MPI_Op_free", "MPI_Comm_rank"] {
            assert!(faults(name) < 50, "{} pages in {name}", faults(name));
        }
    }
}
