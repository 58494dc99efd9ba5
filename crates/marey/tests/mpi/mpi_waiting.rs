//! Waiting outside of MPI, as ranks say of themselves that they waited; and what MPI waits inside, which is its own
//! matter.

use std::collections::BTreeMap;

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

#[test]
fn ranks_wait_outside_of_mpi_and_mpi_is_left_alone() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{mpi:?}");
        let build = Build {
            mpi,
            compiler: Compiler::C,
            sources: &["waits_mpi.c"],
            flags: &["-O1"],
            output: "waits_mpi",
        };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        for options in [&[][..], &["--threads", "off"], &["--mode", "profile"], &["--rule", "off MPI_*"]] {
            let place = Place::new();
            let job = options.iter().fold(Job::new(mpi, 3, &program), |job, option| job.option(option));
            let run = job.record(place.path());
            assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
            run.expect_no_problems(&[]);
            let report = run.json("report");
            // By rank, from the archive: calls, and their time.
            let (profile, paths) = (run.table("profile"), run.table("call_paths"));
            let (regions, locations) = (run.table("regions"), run.table("locations"));
            let mut found: BTreeMap<(i64, String), (u64, i64)> = BTreeMap::new();
            for row in 0..profile.len() {
                let path = profile.u32("call_path").unwrap()[row] as usize;
                let region = paths.u32("region").unwrap()[path] as usize;
                if regions.text("level").unwrap()[region] != "system" {
                    continue;
                }
                let verb = regions.text("verb").unwrap()[region].to_owned();
                assert_eq!(paths.u32("parent").unwrap()[path], u32::MAX, "{verb} is within another call");
                let rank = locations.i64("rank").unwrap()[profile.u32("location").unwrap()[row] as usize];
                let sum = found.entry((rank, verb)).or_default();
                sum.0 += profile.i64("visits").unwrap()[row].cast_unsigned();
                sum.1 += profile.i64("inclusive").unwrap()[row];
            }
            let told = run.stdout();
            let told = told.lines().map(|line| line.split(' ').collect::<Vec<_>>());
            let told: BTreeMap<(i64, String), (u64, i64, i64)> = told
                .map(|words| {
                    let number = |at: usize| words[at].parse::<i64>().unwrap();
                    ((number(0), words[1].to_owned()), (number(2).cast_unsigned(), number(3), number(4)))
                })
                .collect();
            assert_eq!(
                found.keys().collect::<Vec<_>>(),
                told.keys().collect::<Vec<_>>(),
                "{mpi:?} {options:?}"
            );
            for (call, (calls, least, own)) in told {
                let (seen, time) = found[&call];
                let slack = own / 1000 + 1000;
                assert!(
                    seen == calls && least - slack <= time && time <= own + slack,
                    "{call:?} {seen} {time}"
                );
            }
            let rows = report["waiting"].as_array().unwrap();
            let row = rows.iter().find(|row| row["call"] == "poll").unwrap();
            assert_eq!(
                (&row["function"], row["processes"].as_array().unwrap().len()),
                (&"in_poll".into(), 1)
            );
        }
    }
}
