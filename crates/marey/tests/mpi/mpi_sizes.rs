//! How large single messages were: what a program sends, as it is told by its source, is what a trace and a
//! profile of it say.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

const ROUNDS: u64 = 6000;

/// Operations of each call by size: from → number.
type Sizes = BTreeMap<String, BTreeMap<u64, u64>>;

/// What `sizes.c` does, both ranks together.
fn truth() -> Sizes {
    let mut sizes = Sizes::new();
    let mut add = |call: &str, bytes: u64, times: u64| {
        let powers = (0..40).map(|power| 1 << power).take_while(|&power| power <= bytes);
        let from = powers.max().unwrap_or(0);
        *sizes.entry(call.to_owned()).or_default().entry(from).or_default() += times;
    };
    for k in 0..ROUNDS {
        let (first, second) = (k * k % 5003, if k % 3 == 0 { 100 } else { 0 });
        add("MPI_Send", first, 1);
        add("MPI_Recv", first, 1);
        add("MPI_Send", second, 2);
        add("MPI_Wait", second, 2);
        if k % 10 == 0 {
            add("MPI_Bcast", 1 << (k / 10 % 16), 2);
        }
    }
    sizes
}

/// What the report says of calls that move data, region by region and call path by call path.
fn told(run: &Run) -> [Sizes; 2] {
    let report = run.json("report");
    let sum = |rows: &Value, name: &dyn Fn(&Value) -> String| {
        let mut sizes = Sizes::new();
        for row in rows.as_array().unwrap() {
            for bin in row["sizes"].as_array().unwrap() {
                let [from, to, number] = [0, 1, 2].map(|place| bin[place].as_u64().unwrap());
                assert_eq!(to, (2 * from).max(1));
                *sizes.entry(name(row)).or_default().entry(from).or_default() += number;
            }
        }
        sizes
    };
    let last = |row: &Value| row["path"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned();
    [
        sum(&report["regions"], &|row| row["verb"].as_str().unwrap().to_owned()),
        sum(&report["call_paths"], &last),
    ]
}

#[test]
fn sizes_are_those_that_the_program_sends() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        let build =
            Build { mpi, compiler: Compiler::C, sources: &["sizes.c"], flags: &["-O1"], output: "program" };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        for mode in ["trace", "profile"] {
            let place = Place::new();
            let run = Job::new(mpi, 2, program.clone()).option("--mode").option(mode).record(place.path());
            run.expect_no_problems(&[]);
            let summed = run.json("info")["summed"]["visits"].as_u64();
            assert_eq!(summed > Some(20_000), mode == "profile", "{summed:?}");
            for told in told(&run) {
                assert_eq!(told, truth(), "{mpi:?} {mode}");
            }
            // More than half of what MPI_Recv gets has less than 4 KiB, and all of it less than 8.
            let text = run.text("report", &["--by", "region"]);
            let (_, single) = text.split_once("SINGLE CALLS").unwrap();
            let row = single.lines().find(|line| line.trim_start().starts_with("MPI_Recv ")).unwrap();
            assert!(row.trim_end().ends_with(" KiB"), "{row}");
            let words: Vec<&str> = row.split_whitespace().rev().take(4).collect();
            assert_eq!(words, ["KiB", "8.00", "KiB", "4.00"], "{row}");
            // And every visit that was timed lies in one bin of durations.
            let report = run.json("report");
            for row in report["regions"].as_array().unwrap() {
                let bins = row["durations"].as_array().unwrap();
                let in_bins: u64 = bins.iter().map(|bin| bin[2].as_u64().unwrap()).sum();
                let calls = row["calls"].as_u64().unwrap() - row["untimed_calls"].as_u64().unwrap();
                assert_eq!(in_bins, calls, "{row}");
                assert!(bins.iter().all(|bin| bin[0].is_u64()), "{row}");
            }
        }
    }
}
