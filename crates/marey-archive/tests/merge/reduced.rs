//! Visits that were only counted because recording them was too dear: numbers as the recorder has them, times from the
//! visits that were timed meanwhile, and never more than there was.

use marey_archive::Archive;
use marey_archive::corrections::Corrections;
use marey_model::spool::sums::{CELL_LEN, CellKind, NOBODY};
use marey_model::spool::{Definition, Stream};
use marey_testkit::Process;
use proptest::prelude::*;

use super::Merged;
use super::added_up::{merged, window};

/// When it is found out that `hot` is too dear; a tick is a nanosecond here.
const SINCE: u64 = 10_000;

/// A cell with one word behind what it is about.
fn cell(kind: CellKind, word: u64) -> Vec<u8> {
    let mut words = kind.words().to_vec();
    words.push(word);
    words.resize(CELL_LEN / 8, 0);
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// What a thread has beside its events: call paths, each with the cell above it, and visits that were counted.
fn beside(process: &Process, paths: &[(u32, u32, u64)]) -> Vec<u8> {
    let path = |&(site, parent, _): &(u32, u32, u64)| cell(CellKind::Path { site, parent }, 0);
    let mut content: Vec<u8> = paths.iter().flat_map(path).collect();
    for (number, (.., visits)) in (0..).zip(paths).filter(|(_, path)| path.2 != 0) {
        content.extend(cell(CellKind::Tally { cell: number }, *visits));
    }
    window((Stream::Beside, 0), (process.key, 0), 0, &content)
}

fn reduce(process: &mut Process, site: u32) {
    process.definitions.push(Definition::Reduced { site, thread: 0, ticks: SINCE, share: 2500, gap: 1000 });
}

/// `main` until `end`, in it ten visits of `hot` of 50 ns before it is reduced, then 2 000 of 20 ns on average that
/// were timed, with one of 5 000 among them; and so many that were counted.
fn process(end: u64, counted: u64) -> (Process, Vec<u8>) {
    let mut process = Process::new(7);
    let (main, hot) = (process.site(0, "main"), process.site(0, "hot"));
    process.window_len = 1 << 20;
    process.enter(0, main, 0);
    let mut at = 100;
    let mut visit = |process: &mut Process, took: u64| {
        process.enter(0, hot, at);
        process.leave(0, at + took);
        at += took + 10;
        if at < SINCE && took != 50 {
            at = SINCE;
        }
    };
    for _ in 0..10 {
        visit(&mut process, 50);
    }
    // One that shows nothing but that the others come later.
    visit(&mut process, 51);
    for n in 0..2000 {
        visit(&mut process, if n % 2 == 0 { 10 } else { 30 });
    }
    visit(&mut process, 5_000);
    process.leave(0, end);
    process.end = Some(end);
    reduce(&mut process, hot);
    let events = [process.event_bytes(), beside(&process, &[(main, NOBODY, 0), (hot, 0, counted)])].concat();
    (process, events)
}

fn row(archive: &Archive, column: &str) -> Vec<i64> {
    archive.table("reduced").unwrap().i64(column).unwrap().to_vec()
}

#[test]
fn their_time_is_that_of_visits_that_were_timed() {
    let (process, events) = process(1_000_000, 10_000);
    let Merged { archive, dir: _dir, summary } = &merged(&process, &events);
    assert_eq!(summary.problems.iter().find(|its| its.0 == "reduced").unwrap().1, 10_000);
    assert_eq!(
        (row(archive, "visits"), row(archive, "timed"), row(archive, "since"), row(archive, "time")),
        (vec![10_000], vec![2_000], vec![10_000], vec![200_000])
    );
    // Two sigma of a mean of 250 stretches of 8 visits that differ by 10 ns: 1.26 ns a visit; and 4.5 ns a visit that
    // all may be off by.
    let error = row(archive, "error")[0];
    assert!((57_000..58_500).contains(&error), "{error}");
    let table = archive.table("reduced").unwrap();
    assert_eq!(table.f64("share").unwrap().to_vec(), [0.25]);
}

#[test]
fn sums_are_those_of_all_visits() {
    let (process, events) = process(1_000_000, 10_000);
    let profile = merged(&process, &events).profile();
    let recorded = 10 * 50 + 51 + 2_000 * 20 + 5_000;
    assert_eq!(profile["main/hot"], (12_012, recorded + 200_000, recorded + 200_000));
    assert_eq!(profile["main"], (1, 1_000_000, 1_000_000 - recorded - 200_000));
}

#[test]
fn no_more_passes_in_them_than_around_them() {
    let (process, events) = process(1_000_000, 1_000_000);
    let merged = merged(&process, &events);
    let profile = merged.profile();
    assert_eq!(profile["main/hot"], (1_002_012, 1_000_000, 1_000_000));
    assert_eq!(profile["main"], (1, 1_000_000, 0));
    assert_eq!(merged.problem("negative"), 0);
}

/// What records of `hot` had cost, a quarter of the time, says that its visits are short: one of 400 that takes 5 ms is the
/// system's time slice and no visit of its own kind, though it is not one of a thousand.
#[test]
fn a_time_slice_stands_for_itself() {
    let mut process = Process::new(7);
    let (main, hot) = (process.site(0, "main"), process.site(0, "hot"));
    process.window_len = 1 << 20;
    process.enter(0, main, 0);
    for n in 0..10 {
        process.enter(0, hot, 100 * n);
        process.leave(0, 100 * n + 20);
    }
    let mut at = SINCE;
    for n in 0..400 {
        let took = if n == 200 { 5_000_000 } else { 20 };
        process.enter(0, hot, at);
        process.leave(0, at + took);
        at += took + 10;
    }
    process.leave(0, 100_000_000);
    process.end = Some(100_000_000);
    reduce(&mut process, hot);
    let events = [process.event_bytes(), beside(&process, &[(main, NOBODY, 0), (hot, 0, 10_000)])].concat();
    let merged = merged(&process, &events);
    assert_eq!((row(&merged.archive, "timed"), row(&merged.archive, "time")), (vec![399], vec![200_000]));
}

/// `hot` with nothing around it, 100 visits of 50 ns before it is reduced, and 100 of 30 ns after; in each of the latter
/// `other` takes 20 ns, as it does while 1 000 visits of `hot` are counted.
fn alone(span: u64) -> Merged {
    let mut process = Process::new(7);
    let (hot, other) = (process.site(0, "hot"), process.site(0, "other"));
    process.window_len = 1 << 20;
    for n in 0..100 {
        process.enter(0, hot, 60 * n);
        process.leave(0, 60 * n + 50);
    }
    for n in 0..100 {
        let at = SINCE + 60 * n;
        process.enter(0, hot, at);
        process.enter(0, other, at + 5);
        process.leave(0, at + 25);
        process.leave(0, at + 30);
        process.enter(0, other, at + 35);
        process.leave(0, at + 55);
    }
    process.end = Some(span);
    reduce(&mut process, hot);
    merged(&process, &[process.event_bytes(), beside(&process, &[(hot, NOBODY, 1_000)])].concat())
}

/// What is recorded in a visit that is counted lies beside it, and is not its time as well.
#[test]
fn what_is_recorded_in_them_is_not_their_time() {
    let merged = alone(1_000_000);
    assert_eq!(row(&merged.archive, "time"), [1_000 * 10]);
    assert_eq!(merged.profile()["hot"].1, 100 * 50 + 100 * 30 + 1_000 * 10);
}

/// Outermost regions have no more than the rest of the thread's time.
#[test]
fn no_more_passes_in_them_than_in_the_run() {
    let merged = alone(20_000);
    let recorded = 100 * 50 + 100 * (30 + 20);
    assert_eq!(row(&merged.archive, "time"), [20_000 - recorded]);
}

/// `inner` was called from `outer` in three of four cases as long as both were recorded. Then it was counted beneath
/// `main`, for `outer` was, too.
#[test]
fn they_belong_to_the_call_paths_that_had_them_before() {
    let mut process = Process::new(7);
    let sites = ["main", "outer", "inner"].map(|name| process.site(0, name));
    let [main, outer, inner] = sites;
    process.window_len = 1 << 20;
    process.enter(0, main, 0);
    for n in 0..20 {
        let at = 100 + 100 * n;
        process.enter(0, if n % 4 == 0 { inner } else { outer }, at);
        if n % 4 != 0 {
            process.enter(0, inner, at + 10);
            process.leave(0, at + 30);
        }
        process.leave(0, at + 50);
    }
    process.leave(0, 1_000_000);
    process.end = Some(1_000_000);
    reduce(&mut process, outer);
    reduce(&mut process, inner);
    let paths = [(main, NOBODY, 0), (outer, 0, 1_501), (inner, 0, 2_002)];
    let merged = merged(&process, &[process.event_bytes(), beside(&process, &paths)].concat());
    let visits = |path: &str| merged.profile()[path].0;
    assert_eq!(visits("main/outer"), 15 + 1_501);
    assert_eq!(visits("main/inner") + visits("main/outer/inner"), 20 + 2_002);
    assert!((500..=501).contains(&(visits("main/inner") - 5)), "{}", visits("main/inner"));
    // None were timed: those of before tell, of all call paths of the region.
    assert_eq!(row(&merged.archive, "timed"), [0, 0, 0]);
    let (_, inclusive, exclusive) = merged.profile()["main/outer"];
    assert!(exclusive < inclusive && exclusive > 0, "{exclusive} of {inclusive}");
}

/// `since` is a time like all others.
#[test]
fn since_when_moves_with_the_clock() {
    let (process, events) = process(1_000_000, 10_000);
    let merged = merged(&process, &events);
    Corrections { offsets: [(0, 5_000)].into(), ..Corrections::default() }.save(&merged.path()).unwrap();
    let corrected = Archive::open(&merged.path()).unwrap();
    assert_eq!(row(&corrected, "since"), [15_000]);
    assert_eq!(row(&corrected, "time"), row(&merged.archive, "time"));
}

/// 4 000 places from which `hot` was called, as a program has that calls it everywhere: each keeps its own.
#[test]
fn each_of_many_call_paths_has_its_own() {
    const PLACES: u32 = 4_000;
    let mut process = Process::new(7);
    let hot = process.site(0, "hot");
    let places: Vec<u32> = (0..PLACES).map(|n| process.site(0, &format!("place{n}"))).collect();
    process.window_len = 1 << 20;
    let mut at = 0;
    for &place in &places {
        for _ in 0..2 {
            process.enter(0, place, at);
            process.enter(0, hot, at + 10);
            process.leave(0, at + 40);
            process.leave(0, at + 100);
            at += 200;
        }
    }
    process.end = Some(at);
    reduce(&mut process, hot);
    let paths = (0..).zip(&places).flat_map(|(n, &place)| [(place, NOBODY, 0), (hot, 2 * n, 3)]);
    let bytes = beside(&process, &paths.collect::<Vec<_>>());
    let merged = merged(&process, &[process.event_bytes(), bytes].concat());
    let profile = merged.profile();
    assert!((0..PLACES).all(|n| profile[&format!("place{n}/hot")].0 == 2 + 3));
    // Each took 30, and 200 in its place.
    assert_eq!(row(&merged.archive, "time"), vec![3 * 30; PLACES as usize]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn damaged_numbers_stop_nothing(
        visits in any::<u64>(),
        parent in 0_u32..4,
        flips in prop::collection::vec((any::<usize>(), 0_u8..8), 0..6),
    ) {
        let (process, mut events) = process(1_000_000, 10_000);
        let more = beside(&process, &[(0, NOBODY, visits), (1, parent, visits), (9, 1, visits)]);
        events.truncate(events.len() - more.len());
        let begin = events.len();
        events.extend(&more);
        for (place, bit) in flips {
            let len = events.len() - begin;
            events[begin + place % len] ^= 1 << bit;
        }
        merged(&process, &events);
    }
}
