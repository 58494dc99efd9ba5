//! Ranks whose clocks differ: one counts a clock that is 5 s ahead and gains 150 ppm. The clock
//! exchange after `MPI_Init` and before `MPI_Finalize` must find both, and no message may then seem
//! to arrive before it was sent.

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

const OFFSET_NS: f64 = 5e9;
const DRIFT_PPB: f64 = 150_000.0;

/// Sets the wrong clock on rank 1 and goes on to the program.
const SKEW_RANK_1: &str = r#"
    if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then export MAREY_CLOCK_SKEW=5000000000,150000; fi
    exec "$0" "$@"
"#;

fn check(mpi: Mpi) {
    let mpi = need!(mpi.installed(), "{mpi:?}");
    let build =
        Build { mpi, compiler: Compiler::C, sources: &["match_wild.c"], flags: &[], output: "match_wild" };
    let program = need!(build.path(), "a C compiler for {mpi:?}");
    let place = Place::new();
    let truth = place.dir("truth");
    let job = Job::new(mpi, 2, "/bin/sh").arg("-c").arg(SKEW_RANK_1).arg(program).env("MATCH_OUT", &truth);
    let run = job.record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&[]);

    let info = run.json("info");
    let number = |rank: usize, name: &str| info["clocks"][rank][name].as_f64().unwrap();
    let seconds: f64 = {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        text.split(' ').next().unwrap().parse().unwrap()
    };
    // What must be added to the wrong clock, which has gained since the machine was started. The
    // test reads the time a little later than the run began.
    let expected = -(OFFSET_NS + seconds * DRIFT_PPB);
    let offset = number(1, "offset_ns");
    assert!((offset - expected).abs() < 60.0 * DRIFT_PPB, "offset {offset}, expected {expected}");
    let uncertainty = number(1, "uncertainty_ns");
    assert!(0.0 < uncertainty && uncertainty < 1e6, "uncertainty {uncertainty}");
    // A run of a fraction of a second tells the drift as well as its two ends are known.
    let run_ns = info["duration_ns"].as_f64().unwrap();
    let drift = number(1, "drift_ppm");
    let bar = 2.0 * uncertainty / run_ns * 1e6 + 1.0;
    assert!((drift + DRIFT_PPB / 1e3).abs() < bar, "drift {drift} ppm, bar {bar} ppm");
    assert_eq!((number(0, "offset_ns"), number(0, "drift_ppm")), (0.0, 0.0));
}

#[test]
fn exchanges_find_offset_and_drift_with_open_mpi() {
    check(Mpi::Open);
}

#[test]
fn exchanges_find_offset_and_drift_with_mpich() {
    check(Mpi::Mpich);
}
