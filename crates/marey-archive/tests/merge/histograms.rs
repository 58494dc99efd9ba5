//! How long visits took and how much data moved: the histograms of a trace are those of its intervals and
//! operations, counted one by one.

use std::collections::BTreeMap;

use marey_model::spool::Visits;
use marey_testkit::{Message, Process, Spool};

use super::{Merged, call, config, merged_with};

/// Rows of a histogram: (call path, location, power of two) → number.
pub(crate) type Bins = BTreeMap<(String, u32, i64), i64>;

/// How often a number can be halved before it is 1; −1 of 0.
pub(crate) fn log2(mut number: i64) -> i64 {
    let mut halvings = -1;
    while number > 0 {
        (number, halvings) = (number / 2, halvings + 1);
    }
    halvings
}

impl Merged {
    /// The rows of `durations`, and of each power of two that its bounds are what they are.
    pub(crate) fn durations(&self) -> Bins {
        let (table, paths) = (self.table("durations"), self.paths());
        let column = |name: &str| table.i64(name).unwrap().to_vec();
        let (log2s, from, to, visits) =
            (column("ticks_log2"), column("from"), column("to"), column("visits"));
        let row = |row: usize| {
            let path = paths[table.u32("call_path").unwrap()[row] as usize].clone();
            // A tick of these clocks is a nanosecond, but for what is rounded.
            if log2s[row] > 0 {
                assert!((from[row] - (1 << log2s[row])).abs() <= 1 + from[row] / 1_000_000);
                assert!((to[row] - 2 * from[row]).abs() <= 2);
            }
            ((path, table.u32("location").unwrap()[row], log2s[row]), visits[row])
        };
        (0..table.len()).map(row).collect()
    }
}

/// Two ranks, in many windows and slabs, that do this and that for shorter and longer.
fn busy() -> Spool {
    let mut spool = Spool::world(2);
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for process in &mut spool.processes {
        process.window_len = 4096;
        let sites = ["a", "b", "c"].map(|name| process.site(0, name));
        let main = process.site(0, "main");
        let mut now = 5;
        process.enter(0, main, now);
        for _ in 0..20_000 {
            let depth = 1 + random(3);
            for level in 0..depth {
                let most = 1 << random(8);
                now += random(most);
                process.enter(0, sites[usize::try_from((random(2) + level) % 3).unwrap()], now);
            }
            for _ in 0..depth {
                let most = 1 << random(20);
                now += random(most);
                process.leave(0, now);
            }
        }
        process.leave(0, now);
        process.end = Some(now + 10);
    }
    spool
}

#[test]
fn durations_are_those_of_the_intervals() {
    let merged = merged_with(&busy(), &config(2, 1 << 20));
    assert!(merged.archive.parts("intervals").len() > 2);
    let (intervals, paths) = (merged.table("intervals"), merged.paths());
    let mut expected = Bins::new();
    for row in 0..intervals.len() {
        let path = paths[intervals.u32("call_path").unwrap()[row] as usize].clone();
        let took = intervals.i64("duration").unwrap()[row];
        *expected.entry((path, intervals.u32("location").unwrap()[row], log2(took))).or_default() += 1;
    }
    assert!(expected.len() > 200, "{}", expected.len());
    assert_eq!(merged.durations(), expected);
}

/// Of polls in a row the shortest and the longest are known, and the sum of all.
#[test]
fn polls_are_counted_with_the_mean_of_those_in_between() {
    let mut process = Process::new(7);
    let poll = process.site(0, "poll");
    // 100 and 3 000, and 98 of 200 each.
    let inside = 3_100 + 98 * 200;
    let polls =
        Visits { number: 100, inside, span: 30_000, shortest: 100, longest: 3_000, squares: 1_000_000.0 };
    process.polls(0, poll, 30, polls);
    process.polls(
        0,
        poll,
        31_000,
        Visits { number: 1, inside: 5, span: 5, shortest: 5, longest: 5, squares: 25.0 },
    );
    process.end = Some(40_000);
    let merged = merged_with(&Spool { processes: vec![process] }, &config(1, 64 << 20));
    let bin = |log2: i64, visits: i64| (("poll".to_owned(), 0, log2), visits);
    assert_eq!(merged.durations(), Bins::from([bin(2, 1), bin(6, 1), bin(7, 98), bin(11, 1)]));
}

/// Of each operation the bytes that it moved, of a posted receive those that came.
#[test]
fn sizes_are_those_of_the_operations() {
    let mut spool = Spool::world(2);
    let of = |peer: i64, bytes: u64| Message { communicator: 0, peer, tag: 5, bytes };
    let sizes = [0, 1, 2, 3, 4, 1_000, 1_024, 1 << 40];
    for (n, &bytes) in (0..).zip(&sizes) {
        let at = 100 * n;
        call(&mut spool.processes[0], 0, "MPI_Send", at + 10, at + 20, |p| p.send(0, of(1, bytes)));
        let receiver = &mut spool.processes[1];
        let wanted = call(receiver, 0, "MPI_Irecv", at + 5, at + 8, |p| p.post_receive(0, of(0, 1 << 50)));
        call(receiver, 0, "MPI_Wait", at + 30, at + 50, |p| p.received(0, wanted, of(0, bytes)));
    }
    for process in &mut spool.processes {
        call(process, 0, "MPI_Allgather", 5_000, 5_010, |p| p.collective(0, 0, -1, 8, 16));
        call(process, 0, "MPI_Barrier", 5_020, 5_030, |p| p.collective(0, 0, -1, 0, 0));
    }
    let merged = merged_with(&spool, &config(1, 64 << 20));
    let (table, paths) = (merged.table("sizes"), merged.paths());
    let (log2s, operations) = (table.i64("size_log2").unwrap(), table.i64("operations").unwrap());
    let row = |row: usize| {
        let path = paths[table.u32("call_path").unwrap()[row] as usize].clone();
        ((path, table.u32("location").unwrap()[row], log2s[row]), operations[row])
    };
    let found: Bins = (0..table.len()).map(row).collect();
    let mut expected = Bins::new();
    for (path, location) in [("MPI_Send", 0), ("MPI_Wait", 1)] {
        for &bytes in &sizes {
            let bytes = i64::try_from(bytes).unwrap();
            *expected.entry((path.to_owned(), location, log2(bytes))).or_default() += 1;
        }
    }
    for location in [0, 1] {
        expected.insert(("MPI_Allgather".to_owned(), location, 4), 1);
        expected.insert(("MPI_Barrier".to_owned(), location, -1), 1);
    }
    assert_eq!(found, expected);
}
