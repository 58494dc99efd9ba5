//! What is added up where there is no room for events: every visit is there once, in the sums or in the last
//! window, whenever the process ends, in memory that does not grow.
//!
//! Each test runs itself again as the program that records, and reads what that left.
#![expect(clippy::unwrap_used, reason = "a test that records and dies")]

#[path = "support/killed.rs"]
mod killed;
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use killed::{killed, tell};
use marey_measure::{Config, Mode, region, start_with};
use marey_model::Rules;
use marey_model::spool::sums::{self, Cell, Sums};
use marey_model::spool::{HEAD_LEN, Record, Stream};
use support::{Checked, Spool, Window, child, command, spool_of};

/// Records with so much room for events.
fn start(spool: &Path, is_profile: bool, max_bytes: u64) {
    let spool = spool.to_owned();
    let rules = Rules::default();
    let config =
        Config { spool, mode: Mode::Trace, rules, is_profile, max_bytes, stack_depth: 32, skew: None };
    start_with(config).unwrap();
}

fn pairs(number: u64) {
    for n in 0..number {
        region!("outer");
        if n % 2 == 0 {
            region!("inner");
        }
    }
}

fn recorded(test: &str) -> (Checked, u64) {
    let directory = child(test);
    let bytes =
        std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
    (Spool::read(directory.path()).checked(), bytes.sum())
}

#[test]
fn a_profile_has_every_visit_and_takes_no_room() {
    const TEST: &str = "a_profile_has_every_visit_and_takes_no_room";
    const PAIRS: u64 = 2_000_000;
    if let Some(directory) = spool_of(TEST) {
        start(&directory, true, 0);
        region!("around");
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..2).map(|_| scope.spawn(|| pairs(PAIRS))).collect();
            workers.into_iter().for_each(|worker| worker.join().unwrap());
        });
        return;
    }
    let (found, bytes) = recorded(TEST);
    assert_eq!((found.visits["outer"], found.visits["inner"]), (2 * PAIRS, PAIRS));
    assert_eq!((found.visits["around"], found.open, found.dropped, found.late), (1, 0, 0, 0));
    assert!(found.added_up > 2 * PAIRS && found.cells == 4, "{found:?}");
    assert!(bytes < 1 << 20, "{bytes}");
}

#[test]
fn beyond_a_limit_visits_are_added_up() {
    const TEST: &str = "beyond_a_limit_visits_are_added_up";
    const PAIRS: u64 = 1_000_000;
    if let Some(directory) = spool_of(TEST) {
        start(&directory, false, 1 << 20);
        region!("around");
        pairs(PAIRS);
        return;
    }
    let (found, bytes) = recorded(TEST);
    assert_eq!((found.visits["outer"], found.visits["inner"]), (PAIRS, PAIRS / 2));
    assert_eq!((found.visits["around"], found.open, found.dropped), (1, 0, 0));
    // Some three bytes an event.
    assert!((100_000..300_000).contains(&(found.enters)), "{} in the trace", found.enters);
    assert!(found.added_up > PAIRS / 2);
    assert!(bytes < 2 << 20, "{bytes}");
}

/// Visits, inclusive, exclusive, shortest, longest, sum of squares, and visits by how often their time can be
/// halved before nothing is left.
type Row = (u64, u64, u64, u64, u64, f64, BTreeMap<u32, u64>);

fn halvings(mut time: u64) -> u32 {
    let mut halvings = 0;
    while time > 0 {
        (time, halvings) = (time / 2, halvings + 1);
    }
    halvings
}

/// A slow and obvious profile of a stream: call path by call path, visit by visit.
fn profile(windows: &[Window]) -> BTreeMap<Vec<u32>, Row> {
    let mut found: BTreeMap<Vec<u32>, Row> = BTreeMap::new();
    let mut open: Vec<(u32, u64, u64)> = Vec::new();
    let mut ticks = windows[0].head.ticks;
    for window in windows {
        let mut at = 0;
        while let Some(record) = Record::decode(&window.records, &mut at) {
            match record {
                Record::Enter { site, delta } => {
                    ticks += delta;
                    open.push((site, ticks, 0));
                }
                Record::Leave { delta } => {
                    ticks += delta;
                    let path: Vec<u32> = open.iter().map(|region| region.0).collect();
                    let (_, began, inside) = open.pop().unwrap();
                    let took = ticks - began;
                    if let Some(above) = open.last_mut() {
                        above.2 += took;
                    }
                    let none = (0, 0, 0, u64::MAX, 0, 0.0, BTreeMap::new());
                    let row = found.entry(path).or_insert(none);
                    *row.6.entry(halvings(took)).or_default() += 1;
                    *row = (
                        row.0 + 1,
                        row.1 + took,
                        row.2 + took - inside,
                        row.3.min(took),
                        row.4.max(took),
                        row.5 + (took as f64).powi(2),
                        std::mem::take(&mut row.6),
                    );
                }
                other => ticks += other.delta().unwrap_or(0),
            }
        }
    }
    assert_eq!(open, []);
    found
}

/// The same records as a trace, and added up: the profiles are the same to the tick.
#[test]
fn sums_are_those_of_a_trace() {
    const TRACE: &str = "a_trace";
    const TEST: &str = "sums_are_those_of_a_trace";
    fn tree(depth: u32, seed: u32) {
        if depth == 0 {
            return;
        }
        for n in 0..=seed % 3 {
            match (seed + n) % 3 {
                0 => {
                    region!("a");
                    tree(depth - 1, seed / 2 + n);
                }
                1 => {
                    region!("b");
                    tree(depth - 1, seed / 3 + n);
                }
                _ => {
                    region!("c");
                }
            }
        }
    }
    if let Some(directory) = spool_of(TRACE) {
        start(&directory, false, 0);
        return (0..20_000).for_each(|n| tree(6, n));
    }
    if let Some(directory) = spool_of(TEST) {
        let trace = PathBuf::from(std::env::var_os("MAREY_TEST_TRACE").unwrap());
        let spool = Spool::read(&trace);
        let windows = &spool.processes[0].streams[&(0, Stream::Events as u8)];
        start(&directory, true, 0);
        let windows: Vec<(u64, &[u8])> =
            windows.iter().map(|window| (window.head.ticks, window.records.as_slice())).collect();
        assert!(marey_measure::add_up(77, &windows));
        return;
    }
    let trace = tempfile::tempdir().unwrap();
    let recorded = command(TEST, trace.path()).env("MAREY_TEST", TRACE).output().unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let directory = tempfile::tempdir().unwrap();
    let summed = command(TEST, directory.path()).env("MAREY_TEST_TRACE", trace.path()).output().unwrap();
    assert!(summed.status.success(), "{}", String::from_utf8_lossy(&summed.stderr));

    let spool = Spool::read(trace.path());
    let expected = profile(&spool.processes[0].streams[&(0, Stream::Events as u8)]);
    assert!(expected.len() > 50 && expected.values().map(|row| row.0).sum::<u64>() > 100_000);
    let spool = Spool::read(directory.path());
    let windows = &spool.processes[0].streams[&(77, Stream::Sums as u8)];
    let summed = windows[0].tail.sampled_calls;
    let mut paths: Vec<Vec<u32>> = Vec::new();
    let (mut found, mut bins) = (BTreeMap::new(), BTreeMap::new());
    for window in windows {
        let bytes = [vec![0; HEAD_LEN], window.records.clone()].concat();
        for cell in sums::cells(&bytes, summed) {
            let (site, parent, sums) = match cell.unwrap() {
                Cell::Path { site, parent, sums } => (site, parent, sums),
                // For channels and operations that find none.
                Cell::Sent { sums: Sums { number, .. }, .. }
                | Cell::Sizes { cell: sums::NOBODY, operations: [number, ..], .. } => {
                    paths.push(Vec::new());
                    assert_eq!(number, 0);
                    continue;
                }
                Cell::Sizes { .. } => panic!("there are no operations"),
                Cell::Durations { cell, first, visits } => {
                    let bins: &mut BTreeMap<u32, u64> = bins.entry(paths[cell as usize].clone()).or_default();
                    let visits = (first..).zip(visits).filter(|&(_, visits)| visits > 0);
                    bins.extend(visits.map(|(bin, visits)| (halvings(sums::least(bin)), visits)));
                    paths.push(Vec::new());
                    continue;
                }
            };
            let mut path = paths.get(parent as usize).cloned().unwrap_or_default();
            path.push(site);
            if site == sums::NOBODY {
                assert_eq!(sums.number, 0);
                paths.push(Vec::new());
                continue;
            }
            found.insert(path.clone(), sums);
            paths.push(path);
        }
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (path, sums) in &found {
        let wanted = &expected[path];
        let Sums { number, inclusive, exclusive, shortest, longest, squares, .. } = *sums;
        assert_eq!(
            (number, inclusive, exclusive, shortest, longest),
            (wanted.0, wanted.1, wanted.2, wanted.3, wanted.4)
        );
        assert_eq!(bins[path], wanted.6, "{path:?}");
        assert!((squares / wanted.5 - 1.0).abs() < 1e-9, "{path:?}");
    }
}

/// Regions that are open when a window is added up, deeper than they can be recorded too.
#[test]
fn recursion_comes_out_of_the_sums_as_it_went_in() {
    const TEST: &str = "recursion_comes_out_of_the_sums_as_it_went_in";
    fn down(levels: u32) {
        region!("down");
        if levels > 1 {
            down(levels - 1);
        }
    }
    if let Some(directory) = spool_of(TEST) {
        start(&directory, true, 0);
        let deep = std::thread::Builder::new().stack_size(256 << 20);
        deep.spawn(|| (0..200).for_each(|n| down(10_000 - n))).unwrap().join().unwrap();
        return;
    }
    let (found, bytes) = recorded(TEST);
    let calls: u64 = (0..200).map(|n| 10_000 - n).sum();
    assert_eq!(found.visits["down"] + found.counted["down"], calls);
    assert_eq!((found.open, found.dropped), (0, 0));
    assert!(bytes < 1 << 20, "{bytes}");
}

/// More call paths than there are cells: what finds none is together, and nothing is lost.
#[test]
fn call_paths_without_number_share_one() {
    const TEST: &str = "call_paths_without_number_share_one";
    const PATHS: u64 = 100_000;
    if let Some(directory) = spool_of(TEST) {
        start(&directory, true, 0);
        // Paths of five regions out of ten names, most of them different.
        let sites = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| -> &'static marey_measure::Site {
            Box::leak(Box::new(marey_measure::Site::new(format!("path {n}").leak(), file!(), 1)))
        });
        for n in 0..PATHS {
            let digit = |place: u32| sites[usize::try_from(n / 10_u64.pow(place) % 10).unwrap()];
            let open = [0, 1, 2, 3, 4].map(|place| digit(place).enter());
            drop(open.into_iter().rev().collect::<Vec<_>>());
        }
        return;
    }
    let (found, bytes) = recorded(TEST);
    assert!(
        found.visits.contains_key("(other paths)") && found.visits["(other paths)"] > PATHS,
        "{:?}",
        found.visits
    );
    assert_eq!(found.visits.values().sum::<u64>(), 5 * PATHS);
    assert!(found.cells <= 1 << 13);
    assert!(bytes < 6 << 20, "{bytes}");
}

/// The program says after each visit how many it has made; what it left has as many, or one more.
#[test]
fn a_process_that_is_killed_has_left_all_of_them() {
    const TEST: &str = "a_process_that_is_killed_has_left_all_of_them";
    if let Some(directory) = spool_of(TEST) {
        start(&directory, true, 0);
        let tell = tell(&directory);
        for n in 1_u64.. {
            {
                region!("counted");
            }
            if n % 64 == 0 {
                tell(n);
            }
        }
    }
    for round in 0..40 {
        let (made, found) = killed(TEST, 20_000 + 7_777 * round);
        assert!((made..=made + 64).contains(&found.visits["counted"]), "{made}, {:?}", found.visits);
        assert!(found.added_up > 0);
    }
}

/// Kept, added up, kept again, many times over: every visit is there once, in windows or in sums, and what is
/// open meanwhile stays open.
#[test]
fn pauses_lose_nothing() {
    const TEST: &str = "pauses_lose_nothing";
    const PAUSES: u64 = 300;
    if let Some(directory) = spool_of(TEST) {
        start(&directory, false, 0);
        region!("around");
        for n in 0..PAUSES {
            region!("phase");
            pairs(100);
            marey_measure::keep(false);
            {
                region!("paused");
                // Now and then more than a window.
                pairs(if n % 50 == 0 { 40_000 } else { 10 });
                if n % 3 == 0 {
                    marey_measure::keep(true);
                }
            }
            marey_measure::keep(true);
        }
        return;
    }
    let (found, bytes) = recorded(TEST);
    let all = 100 * PAUSES + 6 * 40_000 + 10 * (PAUSES - 6);
    assert_eq!((found.visits["outer"], found.visits["inner"]), (all, all / 2));
    assert_eq!((found.visits["phase"], found.visits["paused"], found.visits["around"]), (PAUSES, PAUSES, 1));
    assert_eq!((found.open, found.dropped, found.late), (0, 0, 0));
    assert!(found.added_up > 200_000 && found.added_up < 400_000, "{}", found.added_up);
    assert!(bytes < 4 << 20, "{bytes}");
}

/// On a lane visits are counted, for they are no part of the thread's time.
#[test]
fn visits_on_lanes_are_counted() {
    const TEST: &str = "visits_on_lanes_are_counted";
    const VISITS: u64 = 100_000;
    if let Some(directory) = spool_of(TEST) {
        start(&directory, true, 0);
        let mut lane = marey_measure::LaneHandle::new("task");
        for _ in 0..VISITS {
            region!("around");
            drop(lane.enter(marey_measure::site!("piece")));
        }
        return;
    }
    let (found, _) = recorded(TEST);
    let in_windows = found.lanes.iter().filter(|line| line.ends_with(" piece")).count() as u64;
    assert_eq!((found.visits["around"], found.counted["piece"] + in_windows), (VISITS, VISITS));
    assert!(in_windows < VISITS / 4, "{in_windows}");
}
