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
use marey_model::spool::courses::{unit_log2, width_log2};
use marey_model::spool::sums::{self, Cell, Sums};
use marey_model::spool::{HEAD_LEN, Record, Stream};
use support::{Checked, Spool, Window, child, command, courses_of, spool_of};

/// Records with so much room for events.
fn start(spool: &Path, is_profile: bool, max_bytes: u64) {
    let spool = spool.to_owned();
    let rules = Rules::default();
    let config = Config {
        spool,
        mode: Mode::Trace,
        rules,
        is_profile,
        max_bytes,
        budget: 0,
        stack_depth: 32,
        skew: None,
    };
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
fn profile(windows: &[(u64, &[u8])]) -> BTreeMap<Vec<u32>, Row> {
    let mut found: BTreeMap<Vec<u32>, Row> = BTreeMap::new();
    let mut open: Vec<(u32, u64, u64)> = Vec::new();
    let mut ticks = windows[0].0;
    for (_, records) in windows {
        let mut at = 0;
        while let Some(record) = Record::decode(records, &mut at) {
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

/// Path by path, what passed in which bucket of the time since the first window, the slow and obvious way.
fn course(windows: &[(u64, &[u8])], width_log2: u32) -> BTreeMap<Vec<u32>, BTreeMap<u64, u64>> {
    let mut found: BTreeMap<Vec<u32>, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut open: Vec<u32> = Vec::new();
    let (origin, mut now) = (windows[0].0, 0);
    for (begin, records) in windows {
        now = begin - origin;
        let mut at = 0;
        while let Some(record) = Record::decode(records, &mut at) {
            let mut left = record.delta().unwrap();
            while left > 0 {
                let step = left.min((1 << width_log2) - now % (1 << width_log2));
                if !open.is_empty() {
                    *found.entry(open.clone()).or_default().entry(now >> width_log2).or_default() += step;
                }
                (now, left) = (now + step, left - step);
            }
            match record {
                Record::Enter { site, .. } => open.push(site),
                Record::Leave { .. } => assert!(open.pop().is_some()),
                _ => {}
            }
        }
    }
    assert!(now > 0);
    found
}

/// Compares the courses that thread 77 left with what they should be. How wide their buckets became.
fn check_courses(spool: &Spool, windows: &[(u64, &[u8])], sums: &BTreeMap<u32, (Vec<u32>, u64)>) -> u32 {
    let exclusive = sums.iter().map(|(&cell, (_, exclusive))| (cell, *exclusive)).collect();
    let courses = &spool.processes[0].streams[&(77, Stream::Courses as u8)];
    let found = courses_of(courses, &exclusive);
    let widest = found.values().map(|course| course.scale).max().unwrap();
    let last = (courses[0].tail.sampled_calls - courses[0].head.ticks) >> width_log2(widest);
    let expected = course(windows, width_log2(widest));
    assert_eq!(found.len(), expected.len());
    for (cell, course) in found {
        let expected = &expected[&sums[&cell].0];
        // A course is made wider when it is written to.
        let mut wide: BTreeMap<u64, u64> = BTreeMap::from([(last, course.rest)]);
        for (bucket, time) in course.times {
            *wide.entry(bucket >> (widest - course.scale)).or_default() += time;
        }
        let unit = (1_u64 << unit_log2(course.scale)) - 1;
        for bucket in 0..=512 {
            let [found, wanted] = [&wide, expected].map(|times| times.get(&bucket).copied().unwrap_or(0));
            assert!(found.abs_diff(wanted) <= unit, "{cell}, {bucket}: {found}, {wanted}, {unit}");
        }
        assert_eq!(wide.values().sum::<u64>(), expected.values().sum::<u64>());
    }
    widest
}

/// Numbers below what is asked for, the same for the same seed.
fn randoms(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

/// Windows of made-up records, the last of which leaves all that is open. `next` gets how many regions are open, and
/// gives the time until the next record and the site that it enters; none if it leaves.
fn made_up(
    number: usize,
    seed: u64,
    mut next: impl FnMut(&mut dyn FnMut(u64) -> u64, u64) -> (u64, Option<u32>),
) -> Vec<(u64, Vec<u8>)> {
    let (mut now, mut random, mut depth) = (1_000_u64, randoms(seed), 0_u64);
    let mut windows = Vec::new();
    while windows.len() < number {
        let (begin, mut records) = (now, Vec::new());
        while records.len() < 8_000 || (windows.len() + 1 == number && depth > 0) {
            let (delta, site) = next(&mut random, depth);
            now += delta;
            if let Some(site) = site.filter(|_| records.len() < 8_000) {
                Record::Enter { site, delta }.encode(&mut records);
                depth += 1;
            } else {
                Record::Leave { delta }.encode(&mut records);
                depth -= 1;
            }
        }
        windows.push((begin, records));
    }
    windows
}

/// What the sums of a made-up thread with these windows are read from. `None` in the process that adds them up.
fn added_up(test: &str, windows: &[(u64, Vec<u8>)]) -> Option<Spool> {
    if let Some(directory) = spool_of(test) {
        start(&directory, true, 0);
        assert!(marey_measure::add_up(77, &slices(windows)));
        return None;
    }
    Some(Spool::read(child(test).path()))
}

fn slices(windows: &[(u64, Vec<u8>)]) -> Vec<(u64, &[u8])> {
    windows.iter().map(|(begin, bytes)| (*begin, &bytes[..])).collect()
}

/// Hours of made-up records, now in small steps and now in large ones: buckets become wider again and again, and
/// what passed when comes out as it went in.
#[test]
fn courses_are_those_of_the_records() {
    const TEST: &str = "courses_are_those_of_the_records";
    let mut windows = Vec::new();
    let (mut now, mut random) = (1_000_u64, randoms(3));
    for step in [10, 18, 22, 28, 14, 34].into_iter().cycle().take(60) {
        let (begin, mut records) = (now, Vec::new());
        while records.len() < 8_000 {
            let depth = 1 + random(4);
            let mut delta = |random: &mut dyn FnMut(u64) -> u64| {
                let most = 1 << random(step);
                let delta = random(most);
                now += delta;
                delta
            };
            for level in 0..depth {
                // Some come back only after a long time.
                let few = u32::try_from(random(3) + 4 * level + begin % 2 * 16).unwrap();
                Record::Enter { site: few, delta: delta(&mut random) }.encode(&mut records);
            }
            (0..depth).for_each(|_| Record::Leave { delta: delta(&mut random) }.encode(&mut records));
        }
        windows.push((begin, records));
    }
    let Some(spool) = added_up(TEST, &windows) else { return };
    let (sums, _) = sums_of(&spool.processes[0].streams[&(77, Stream::Sums as u8)]);
    let sums = sums.into_iter().map(|(cell, (path, sums))| (cell, (path, sums.exclusive))).collect();
    let widest = check_courses(&spool, &slices(&windows), &sums);
    assert!(widest > 8 && unit_log2(widest) > 4, "{widest}");
}

/// All cells of a thread.
fn cells_of(windows: &[Window]) -> Vec<Cell> {
    let summed = windows[0].tail.sampled_calls;
    let mut before = 0;
    for window in windows {
        // A reader finds the others' numbers though one is missing.
        assert_eq!(sums::first_cell(window.head.sequence), Some(before));
        before += u32::try_from(window.records.len() / sums::CELL_LEN).unwrap();
    }
    let bytes = windows.iter().map(|window| [vec![0; HEAD_LEN], window.records.clone()].concat());
    bytes.flat_map(|bytes| sums::cells(&bytes, summed).map(Option::unwrap).collect::<Vec<_>>()).collect()
}

/// By number of the cell.
type Cells = BTreeMap<u32, (Vec<u32>, Sums)>;

/// The call paths of a thread and their sums, and visits by how often their time can be halved.
fn sums_of(windows: &[Window]) -> (Cells, BTreeMap<Vec<u32>, BTreeMap<u32, u64>>) {
    let (mut found, mut bins) = (Cells::new(), BTreeMap::new());
    for (number, cell) in (0..).zip(cells_of(windows)) {
        match cell {
            // For what finds no cell.
            Cell::Path { site: sums::NOBODY, sums: Sums { number, .. }, .. }
            | Cell::Sent { sums: Sums { number, .. }, .. }
            | Cell::Received { sums: Sums { number, .. }, .. }
            | Cell::Sizes { operations: [number, ..], .. }
            | Cell::Tally { visits: number, .. } => assert_eq!(number, 0),
            Cell::Path { site, parent, sums } => {
                let mut path = found.get(&parent).map_or_else(Vec::new, |(path, _)| path.clone());
                path.push(site);
                found.insert(number, (path, sums));
            }
            Cell::Durations { cell, first, visits } => {
                let bins: &mut BTreeMap<u32, u64> = bins.entry(found[&cell].0.clone()).or_default();
                let visits = (first..).zip(visits).filter(|&(_, visits)| visits > 0);
                bins.extend(visits.map(|(bin, visits)| (halvings(sums::least(bin)), visits)));
            }
        }
    }
    (found, bins)
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
    let events = &spool.processes[0].streams[&(0, Stream::Events as u8)];
    let events: Vec<(u64, &[u8])> =
        events.iter().map(|window| (window.head.ticks, window.records.as_slice())).collect();
    let expected = profile(&events);
    assert!(expected.len() > 50 && expected.values().map(|row| row.0).sum::<u64>() > 100_000);
    check_sums(&Spool::read(directory.path()), &events, &expected);
}

/// The sums of the made-up thread are those expected, and were at the time of the records.
fn check_sums(summed: &Spool, records: &[(u64, &[u8])], expected: &BTreeMap<Vec<u32>, Row>) {
    let (cells, bins) = sums_of(&summed.processes[0].streams[&(77, Stream::Sums as u8)]);
    let times = cells.iter().map(|(&cell, (path, sums))| (cell, (path.clone(), sums.exclusive)));
    check_courses(summed, records, &times.collect());
    let found: BTreeMap<Vec<u32>, Sums> = cells.into_values().collect();
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (path, sums) in &found {
        let wanted = &expected[path];
        let Sums { number, inclusive, exclusive, shortest, longest, squares, .. } = *sums;
        assert_eq!(
            (number, inclusive, exclusive, shortest, longest),
            (wanted.0, wanted.1, wanted.2, wanted.3, wanted.4)
        );
        assert_eq!(bins[path], wanted.6, "{path:?}");
        assert!((squares - wanted.5).abs() <= 1e-9 * wanted.5, "{path:?}");
    }
}

/// Visits of no time at all, of a few ticks and of many, with others inside or without, in regions of small and of
/// large numbers, and all of them where a window ends.
#[test]
fn visits_of_any_length_come_out_of_the_sums() {
    const TEST: &str = "visits_of_any_length_come_out_of_the_sums";
    let windows = made_up(100, 11, |random, depth| {
        let most = 1 << random(10);
        let delta = random(most);
        let enters = depth == 0 || (depth < 4 && random(2) == 0);
        let site = [0, 7, 191, 192, 18_112][usize::try_from(random(5)).unwrap()];
        (delta, enters.then_some(site))
    });
    let Some(spool) = added_up(TEST, &windows) else { return };
    let expected = profile(&slices(&windows));
    assert!(expected.values().any(|row| row.3 == 0) && expected.values().any(|row| row.4 > 500));
    check_sums(&spool, &slices(&windows), &expected);
}

/// What the call paths that found no cell come to: all their visits, and the time of the outermost of them.
#[test]
fn paths_that_share_a_cell_have_their_time_once() {
    const TEST: &str = "paths_that_share_a_cell_have_their_time_once";
    let (mut now, mut random) = (1_000_u64, randoms(13));
    let mut windows = Vec::new();
    for _ in 0..30 {
        let (begin, mut records) = (now, Vec::new());
        while records.len() < 8_000 {
            let mut delta = |most| {
                let delta = random(most);
                now += delta;
                delta
            };
            for site in [100, 200, 300] {
                let (delta, among) = (delta(300), u32::try_from(delta(40)).unwrap());
                Record::Enter { site: site + among, delta: delta + u64::from(among) }.encode(&mut records);
            }
            (0..3).for_each(|_| Record::Leave { delta: delta(200) }.encode(&mut records));
        }
        windows.push((begin, records));
    }
    let Some(spool) = added_up(TEST, &windows) else { return };
    let mut paths = BTreeMap::<u32, Vec<u32>>::new();
    let mut others = Sums::default();
    for (number, cell) in (0..).zip(cells_of(&spool.processes[0].streams[&(77, Stream::Sums as u8)])) {
        match cell {
            Cell::Path { site: sums::NOBODY, sums, .. } => others = sums,
            Cell::Path { site, parent, .. } => {
                let above = paths.get(&parent).cloned().unwrap_or_default();
                paths.insert(number, [above, vec![site]].concat());
            }
            _ => {}
        }
    }
    let has_cell = |path: &[u32]| path.is_empty() || paths.values().any(|found| found == path);
    let (mut visits, mut inclusive, mut exclusive) = (0, 0, 0);
    for (path, row) in profile(&slices(&windows)).iter().filter(|(path, _)| !has_cell(path)) {
        visits += row.0;
        exclusive += row.2;
        inclusive += if has_cell(&path[..path.len() - 1]) { row.1 } else { 0 };
    }
    assert_eq!((others.number, others.inclusive, others.exclusive), (visits, inclusive, exclusive));
    assert!(visits > 1_000, "{visits}");
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
    // Of each call path, of which there are as many as regions can be open, buckets of time.
    assert!(bytes < 4 << 20, "{bytes}");
}

/// Functions that call each other at random have more call paths than there are cells. Each visit is there
/// nevertheless, under its own region, whose times are right: those of visits inside another one are counted once.
#[test]
fn functions_that_call_each_other_keep_their_sums() {
    const TEST: &str = "functions_that_call_each_other_keep_their_sums";
    const SITES: usize = 6;
    let windows = made_up(400, 5, |random, depth| {
        let delta = random(200);
        // From nothing to twenty regions and back, again and again.
        let enters = depth == 0 || (depth < 60 && random(41) < 40 - depth.min(40) + 1);
        (delta, enters.then(|| u32::try_from(random(SITES as u64)).unwrap()))
    });
    let Some(spool) = added_up(TEST, &windows) else { return };
    // Visits, time of visits that are not inside another one, exclusive time.
    let mut wanted = [(0, 0, 0); SITES];
    let mut open = Vec::<(usize, u64)>::new();
    for (begin, records) in slices(&windows) {
        let mut ticks = begin;
        let mut at = 0;
        while let Some(record) = Record::decode(records, &mut at) {
            let delta = record.delta().unwrap();
            ticks += delta;
            if let Some(&(site, _)) = open.last() {
                wanted[site].2 += delta;
            }
            if let Record::Enter { site, .. } = record {
                open.push((site as usize, ticks));
                continue;
            }
            let (site, began) = open.pop().unwrap();
            wanted[site].0 += 1;
            wanted[site].1 += if open.iter().any(|around| around.0 == site) { 0 } else { ticks - began };
        }
    }
    assert_eq!(open, []);
    // Fails if a visit has found no cell.
    let (cells, _) = sums_of(&spool.processes[0].streams[&(77, Stream::Sums as u8)]);
    assert!((4096..8192).contains(&cells.len()), "{}", cells.len());
    let mut found = [(0, 0, 0); SITES];
    for (path, sums) in cells.values() {
        let (site, above) = path.split_last().unwrap();
        let found = &mut found[*site as usize];
        found.0 += sums.number;
        found.1 += if above.contains(site) { 0 } else { sums.inclusive };
        found.2 += sums.exclusive;
    }
    assert_eq!(found, wanted);
    let untimed: u64 = cells.values().map(|(_, sums)| sums.untimed).sum();
    assert!(untimed > 100_000, "{untimed}");
}

/// More call paths than there are cells: what finds none is together, and nothing is lost.
#[test]
fn call_paths_without_number_share_one() {
    const TEST: &str = "call_paths_without_number_share_one";
    const PATHS: u64 = 1_000_000;
    if let Some(directory) = spool_of(TEST) {
        start(&directory, true, 0);
        // Six regions, each out of ten of its own, all of them different.
        let site = |place: u32, n: u64| -> &'static marey_measure::Site {
            Box::leak(Box::new(marey_measure::Site::new(format!("path {place} {n}").leak(), file!(), 1)))
        };
        let sites = [0, 1, 2, 3, 4, 5].map(|place| [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| site(place, n)));
        for n in 0..PATHS {
            let digit = |place: u32| usize::try_from(n / 10_u64.pow(place) % 10).unwrap();
            let [a, b, c, d, e, f] =
                [0, 1, 2, 3, 4, 5].map(|place| sites[place as usize][digit(place)].enter());
            drop((f, e, d, c, b, a));
        }
        return;
    }
    let (found, bytes) = recorded(TEST);
    assert!(
        found.visits.contains_key("(other paths)") && found.visits["(other paths)"] > PATHS,
        "{:?}",
        found.visits
    );
    assert_eq!(found.visits.values().sum::<u64>(), 6 * PATHS);
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
    let mut buckets = 0;
    for round in 0..40 {
        // What its histograms say is checked as well: that they are those of the sums.
        let (made, found) = killed(TEST, 40_000 + 7_777 * round);
        buckets += found.buckets;
        assert!((made..=made + 64).contains(&found.visits["counted"]), "{made}, {:?}", found.visits);
        assert!(found.added_up > 0);
    }
    assert!(buckets > 200, "{buckets}");
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
