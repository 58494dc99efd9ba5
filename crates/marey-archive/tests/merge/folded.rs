//! Polls in vain that the recorder has counted together: calls, times, buckets and levels of detail come to
//! what they would if each had been written down, as far as that can be known.

use std::collections::BTreeMap;

use marey_archive::{Events, RunTrace};
use marey_model::Nanos;
use marey_model::spool::{Record, Visits};
use marey_testkit::{Process, Spool, expect_parts_add_up};

use super::{config, merged, merged_with};

/// 400 visits, each 2 ticks long and 3 apart: 800 inside of 1 997 from the first to the last.
const POLLS: Visits =
    Visits { number: 400, inside: 800, span: 1_997, shortest: 2, longest: 2, squares: 1_600.0 };

/// As many in a far longer time.
const LONG: Visits = Visits { span: 800_000, inside: 200_000, longest: 100_000, ..POLLS };

#[test]
fn polls_in_a_row_are_one_interval_of_many_calls() {
    let mut process = Process::new(7);
    let (main, poll) = (process.site(0, "main"), process.site(0, "poll"));
    process.enter(0, main, 10);
    process.enter(0, poll, 20);
    process.leave(0, 25);
    process.polls(0, poll, 30, POLLS);
    process.leave(0, 3_000);
    process.end = Some(3_000);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.intervals(), ["0 main 10+2990", "0 main/poll 20+5", "0 main/poll 30+1997"]);
    let intervals = merged.table("intervals");
    assert_eq!(intervals.u32("visits").unwrap(), [1, 1, 400]);
    assert_eq!(intervals.i64("gaps").unwrap(), [0, 0, 1_197]);
    let profile = merged.profile();
    assert_eq!(profile["main/poll"], (401, 805, 805));
    assert_eq!(profile["main"], (1, 2_990, 2_990 - 805));
    let rows = merged.table("profile");
    assert_eq!((rows.i64("min").unwrap()[1], rows.i64("max").unwrap()[1]), (2, 5));
    assert_eq!(rows.f64("sum_squares").unwrap()[1], 1_625.0);
    assert_eq!(merged.summary.problems, []);
}

/// The whole run is 512 buckets long, of which the polls take most: nothing is lost at their borders.
#[test]
fn times_are_spread_over_all_buckets_that_polls_lie_in() {
    let mut process = Process::new(7);
    let (main, poll) = (process.site(0, "main"), process.site(0, "poll"));
    process.enter(0, main, 0);
    let long = Visits { span: 900_000, inside: 300_000, longest: 400_000, ..POLLS };
    process.polls(0, poll, 50_000, long);
    process.leave(0, 1_000_000);
    process.end = Some(1_000_000);
    let merged = merged(&Spool { processes: vec![process] });
    let histogram = merged.table("histogram");
    let (buckets, times) = (histogram.u32("bucket").unwrap(), histogram.i64("time").unwrap());
    let regions = histogram.u32("region").unwrap();
    let of = |region: u32| -> Vec<i64> {
        (0..times.len()).filter(|&row| regions[row] == region).map(|row| times[row]).collect()
    };
    let (main, poll) = (of(0), of(1));
    assert_eq!((main.iter().sum::<i64>(), poll.iter().sum::<i64>()), (700_000, 300_000));
    assert_eq!(buckets.iter().max(), Some(&511));
    // A third of each bucket in the middle, and no bucket has more time than it is long.
    let middle = &poll[2..poll.len() - 2];
    assert!(middle.len() > 450 && middle.iter().all(|time| (648..=654).contains(time)), "{middle:?}");
}

/// Wherever polls are cut, their parts are what they were.
#[test]
fn parts_of_polls_add_up() {
    let mut process = Process::new(7);
    let (main, poll) = (process.site(0, "main"), process.site(0, "poll"));
    process.polls(0, poll, 5, POLLS);
    process.enter(0, main, 3_010);
    process.enter(0, poll, 3_020);
    process.leave(0, 3_025);
    process.polls(0, poll, 3_030, POLLS);
    process.leave(0, 9_000);
    process.end = Some(9_000);
    let merged = merged(&Spool { processes: vec![process] });
    let trace = RunTrace::load(&merged.archive).unwrap();
    let events = Events::open(&merged.archive, &trace).unwrap();
    for step in [1, 7, 50, 333] {
        let cuts: Vec<Nanos> = (0..40).map(|at| Nanos(900 + at * step)).collect();
        expect_parts_add_up(&trace, &events, &cuts);
    }
}

/// A slab ends in the middle of polls, and a window behind each of them.
#[test]
fn polls_across_slabs_and_windows_are_there_once() {
    let mut spool = Spool::world(2);
    for process in &mut spool.processes {
        process.window_len = 4096;
        let (main, poll, work) = (process.site(0, "main"), process.site(0, "poll"), process.site(0, "work"));
        process.enter(0, main, 5);
        for n in 0..30_000 {
            process.polls(0, poll, 5_000 * n + 10, POLLS);
            process.enter(0, work, 5_000 * n + 3_000);
            process.leave(0, 5_000 * n + 3_100);
        }
        process.polls(0, poll, 150_100_000, LONG);
        process.leave(0, 151_000_000);
        process.end = Some(152_000_000);
    }
    let merged = merged_with(&spool, &config(2, 1));
    assert!(merged.archive.meta().counts["slabs"] > 1);
    assert_eq!(merged.summary.problems, []);
    assert_eq!(merged.summary.intervals, 2 * (1 + 2 * 30_000 + 1));
    let profile = merged.profile();
    let polls = 2 * (30_000 * 800 + 200_000);
    assert_eq!(profile["main/poll"], (2 * 30_001 * 400, polls, polls));
    assert_eq!(profile["main/work"], (60_000, 6_000_000, 6_000_000));
    assert_eq!(profile["main"].2, 2 * (151_000_000 - 5 - 3_000_000) - polls);
    // At every resolution all of it is there, and no more.
    let lod = merged.table("lod");
    let (depths, log2s) = (lod.u32("depth").unwrap(), lod.u32("resolution_log2").unwrap());
    let mut sums = BTreeMap::<u32, i64>::new();
    for row in (0..lod.len()).filter(|&row| depths[row] == 1) {
        let times = ["time1", "time2", "time3", "rest"].map(|name| lod.i64(name).unwrap()[row]);
        *sums.entry(log2s[row]).or_default() += times.iter().sum::<i64>();
    }
    assert!(sums.len() > 5 && sums.values().all(|&time| time == polls + 6_000_000), "{sums:?}");
    assert!(*sums.keys().next().unwrap() < 18, "the longest cover whole buckets: {sums:?}");
}

/// A number that cannot be ends the window, as any damage does.
#[test]
fn polls_that_end_after_the_next_window_began_are_damage() {
    let mut process = Process::new(7);
    let poll = process.site(0, "poll");
    let bytes = |visits: Visits| {
        let mut bytes = Vec::new();
        Record::Folded { site: poll, delta: 10, visits }.encode(&mut bytes);
        bytes
    };
    process.raw_window(0, 100, 0, bytes(Visits { span: 1 << 40, ..POLLS }));
    process.raw_window(0, 5_000, 1, bytes(POLLS));
    process.end = Some(10_000);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.intervals(), ["0 poll 5010+1997"]);
    assert_eq!(merged.problem("damaged"), 1);
}

#[test]
fn times_inside_are_never_longer_than_the_whole() {
    let mut process = Process::new(7);
    let poll = process.site(0, "poll");
    let odd = Visits { inside: u64::MAX, shortest: u64::MAX, longest: 5_000, squares: f64::NAN, ..POLLS };
    process.polls(0, poll, 10, odd);
    process.polls(0, poll, 3_000, Visits { number: u64::MAX, span: 0, ..odd });
    process.end = Some(10_000);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.intervals(), ["0 poll 10+1997", "0 poll 3000+0"]);
    assert_eq!(merged.profile()["poll"].1, 1_997);
    assert_eq!(merged.table("profile").f64("sum_squares").unwrap(), [0.0]);
}
