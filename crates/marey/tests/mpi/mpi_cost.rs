//! What recording cost, as recorders measure it in some of the program's calls.
//!
//! The one idea: how long a call takes longer is another matter on every machine and at every load, so
//! only what cannot be otherwise is asked here: that one call in some 256 has been sampled, over many
//! windows, and that the cost is neither nothing nor that of a system call. (`cost.c` prints what it
//! sees of it itself: 26 ns against 23 stated for a query, 65–69 against 52–57 for messages.)

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

#[test]
fn the_cost_of_calls_is_sampled() {
    for (mpi, work) in [(Mpi::Open, "queries"), (Mpi::Mpich, "messages")] {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        let build =
            Build { mpi, compiler: Compiler::C, sources: &["cost.c"], flags: &["-O1"], output: "program" };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        let place = Place::new();
        let run = Job::new(mpi, 1, program).arg(work).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}{}", run.stdout(), run.stderr());

        let counts = run.archive().meta().counts.clone();
        let (calls, sampled) = (counts["calls"], counts["sampled_calls"]);
        assert!(calls > 300_000, "{calls} calls");
        let each = calls as f64 / sampled as f64;
        assert!((220.0..300.0).contains(&each), "one call in {each} sampled");

        let overhead = &run.json("info")["overhead"];
        let (ns, fraction) = (overhead["ns_per_call"].as_f64(), overhead["fraction"].as_f64());
        eprintln!("{work} with {mpi:?}: {ns:?} ns a call stated, {} with recording", run.stdout().trim());
        assert!(ns.is_some_and(|ns| 0.0 < ns && ns < 5_000.0), "{ns:?} ns a call");
        assert!(fraction.is_some_and(|part| 0.0 < part && part < 1.0), "{fraction:?} of the time");
        let told = run.text("report", &[]);
        assert!(told.contains("ns a call of MPI"), "{told}");
    }
}
