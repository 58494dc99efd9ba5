//! Polls in vain, of every function that there is for it: each call is counted, as another counter in the
//! same run has it, but they are few intervals; what comes at last is a call of its own.

use crate::support::{Build, Compiler, Counter, Job, Mpi, Place, need};

/// Calls in vain of each function, from one place (`polls.c`).
const ROUNDS: u32 = 1000;
const FUNCTIONS: [&str; 7] = [
    "MPI_Test",
    "MPI_Testany",
    "MPI_Testall",
    "MPI_Testsome",
    "MPI_Request_get_status",
    "MPI_Iprobe",
    "MPI_Improbe",
];

#[test]
fn polls_in_vain_are_counted_together() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        let build =
            Build { mpi, compiler: Compiler::C, sources: &["polls.c"], flags: &["-O1"], output: "program" };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        let counter = need!(Counter::build(mpi), "python3 or a C compiler for {mpi:?}");
        let place = Place::new();
        let counts = place.dir("counts");
        let run = counter.watch(Job::new(mpi, 2, program), &counts).record(place.path());
        assert_eq!(run.stdout().trim(), "well", "{}", run.stderr());
        run.expect_no_problems(&[]);
        assert_eq!(run.mpi_calls(), Counter::read(&counts));
        assert_eq!(run.json("info")["messages"], 8);

        let (paths, regions) = (run.table("call_paths"), run.table("regions"));
        let intervals = run.table("intervals");
        let rows_of = |name: &str| -> Vec<(u32, i64, i64)> {
            let is = |&row: &usize| {
                let path = intervals.u32("call_path").unwrap()[row] as usize;
                let region = paths.u32("region").unwrap()[path] as usize;
                regions.text("verb").unwrap()[region] == name
            };
            let rows = (0..intervals.len()).filter(is);
            let at = |name: &str, row: usize| intervals.i64(name).unwrap()[row];
            rows.map(|row| (intervals.u32("visits").unwrap()[row], at("duration", row), at("gaps", row)))
                .collect()
        };
        for name in FUNCTIONS {
            let rows = rows_of(name);
            let most = rows.iter().map(|row| row.0).max().unwrap();
            // A process that has to wait for a processor has its row cut.
            assert!(most >= ROUNDS / 20, "{name}: {rows:?}");
            assert!(
                rows.iter().all(|&(_, duration, gaps)| (0..=duration).contains(&gaps)),
                "{name}: {rows:?}"
            );
            assert_eq!(rows.last().unwrap().0, 1, "{name}: what came at last is a call of its own");
        }
        let calls = |row: &&serde_json::Value| FUNCTIONS.contains(&row["verb"].as_str().unwrap());
        let report = run.json("report");
        for row in report["regions"].as_array().unwrap().iter().filter(calls) {
            let time = |name: &str| row[name].as_i64().unwrap();
            // A clock may stand still while so little is done.
            let mean = row["mean_ns"].as_f64().unwrap();
            assert!(mean > 0.0 && time("min_ns") as f64 <= mean && mean <= time("max_ns") as f64, "{row}");
            assert!(time("max_ns") <= time("inclusive_ns"), "{row}");
        }
        let dump = run.text("dump", &[]);
        assert!(dump.contains(" calls in ") && dump.contains(" between them"), "{dump}");
    }
}
