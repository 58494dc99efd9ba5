//! Recording switched off for a while, on each rank at another time: pairs of messages are those that the
//! program made or none, calls and messages are all counted, and the run says so.

use crate::support::{Build, Compiler, Counter, Job, Mpi, Place, need};

const MESSAGES: i64 = 3000;

#[test]
fn what_is_switched_off_is_counted_and_never_guessed() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        let build =
            Build { mpi, compiler: Compiler::C, sources: &["pauses.c"], flags: &["-O1"], output: "program" };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        let counter = need!(Counter::build(mpi), "python3 or a C compiler for {mpi:?}");
        let place = Place::new();
        let counts = place.dir("counts");
        let run = counter.watch(Job::new(mpi, 2, program), &counts).record(place.path());
        let mut lines: Vec<String> = run.stdout().lines().map(str::to_owned).collect();
        lines.sort();
        let first_place = |rank: usize| -> i64 {
            let line = lines[rank].strip_prefix(&format!("rank {rank}: places from ")).unwrap();
            line.strip_suffix(", 0 wrong").unwrap().parse().unwrap()
        };
        run.expect_no_problems(&[]);
        assert_eq!(run.mpi_calls(), Counter::read(&counts));

        let messages = run.table("messages");
        let number = |column: &str, rank: usize, row: usize| {
            let at = messages.i64(column).unwrap()[row];
            (at >= 0).then(|| (at - first_place(rank)) / 8)
        };
        let (mut pairs, mut sent, mut received) = (0, 0, 0);
        for row in 0..messages.len() {
            let (from, to) = (number("send_buffer", 0, row), number("recv_buffer", 1, row));
            if let (Some(from), Some(to)) = (from, to) {
                assert_eq!(from, to, "row {row}");
                pairs += 1;
            }
            // Nothing of what was switched off is there.
            assert!(from.is_none_or(|from| !(1000..2000).contains(&from)), "{from:?}");
            assert!(to.is_none_or(|to| !(1500..2500).contains(&to)), "{to:?}");
            sent += i64::from(from.is_some());
            received += i64::from(to.is_some());
        }
        // Until the first gap all of them.
        assert!(pairs >= 1000, "{pairs} pairs");
        assert_eq!((sent, received), (MESSAGES - 1000, MESSAGES - 1000));
        let report = run.json("report");
        let rows = report["communication"].as_array().unwrap();
        let sum = |name: &str| rows.iter().map(|row| row[name].as_i64().unwrap()).sum::<i64>();
        assert_eq!((rows.len(), sum("messages"), sum("bytes")), (1, MESSAGES, 8 * MESSAGES));
        let info = run.json("info");
        assert_eq!(info["summed"]["locations"], 2, "{info}");
        assert_eq!(info["summed"]["messages"], 1000, "{info}");
    }
}
