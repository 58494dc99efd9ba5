//! Sums that a recorder made for want of room: with the intervals before and behind them they are the whole,
//! and nothing about them that is damaged stops the merge.

use marey_archive::Archive;
use marey_archive::merge::merge;
use marey_model::Triple;
use marey_model::spool::courses::BUCKETS;
use marey_model::spool::sums::{CELL_LEN, CellKind, NOBODY};
use marey_model::spool::{ALIGN, HEAD_LEN, Head, Open, Record, Stream, at};
use marey_testkit::Process;
use proptest::prelude::*;

use super::histograms::{Bins, log2};
use super::{Merged, config};

/// A window of sums, of so many rounds.
fn sums(key: u64, ticks: u64, summed: u64, cells: &[(CellKind, [u64; 8])]) -> Vec<u8> {
    let mut content = Vec::new();
    for (kind, sums) in cells {
        let mut words = kind.words().to_vec();
        words.push(summed);
        words.extend(sums);
        words.resize(CELL_LEN / 8, 0);
        content.extend(words.into_iter().flat_map(u64::to_le_bytes));
    }
    window(Stream::Sums, (key, ticks), summed, &content)
}

/// A window that is no window of events, with this in the word that they have for something else.
fn window(stream: Stream, (key, ticks): (u64, u64), word: u64, content: &[u8]) -> Vec<u8> {
    let triple = Triple { ticks, monotonic_ns: ticks, realtime_ns: ticks };
    let size = u32::try_from(4 * ALIGN).unwrap();
    let (bytes_before, serial, buffer) = (0, 0, 0);
    let head = Head {
        size,
        process: key,
        thread: 0,
        stream,
        sequence: 0,
        ticks,
        triple,
        bytes_before,
        serial,
        buffer,
        round: 0,
        is_summing: false,
    };
    let mut bytes = vec![0; 4 * ALIGN];
    head.encode_into(&[], &mut bytes);
    let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(at::SUMMED, word);
    put(at::CURSOR, (HEAD_LEN + content.len()) as u64);
    bytes[HEAD_LEN..HEAD_LEN + content.len()].copy_from_slice(content);
    bytes
}

/// `main` is open all the time; of `work` five visits were kept at the beginning, three at the end, and
/// a hundred in between added up.
fn process() -> (Process, Vec<u8>) {
    let mut process = Process::new(7);
    let (main, work) = (process.site(0, "main"), process.site(0, "work"));
    let visits = |number: u64, gap: u64| {
        let mut bytes = Vec::new();
        for _ in 0..number {
            Record::Enter { site: work, delta: gap }.encode(&mut bytes);
            Record::Leave { delta: 10 }.encode(&mut bytes);
        }
        bytes
    };
    let mut first = Vec::new();
    Record::Enter { site: main, delta: 0 }.encode(&mut first);
    first.extend(visits(5, 10));
    process.raw_window(0, 100, 0, first);
    process.end = Some(10_000);
    let path = |site, parent| CellKind::Path { site, parent };
    let squares = 10_000_f64.to_bits();
    let cells = [
        (path(main, NOBODY), [0, 0, 0, 7_200, u64::MAX, 0, 0, 0]),
        (path(work, 0), [100, 0, 1_000, 1_000, 2, 90, squares, 64]),
        // From 8 and from 16 on; of the last two nothing is known.
        (CellKind::Durations { cell: 1, part: 1 }, [60, 38, 0, 0, 0, 0, 0, 0]),
    ];
    let mut bytes = process.event_bytes();
    bytes.extend(sums(process.key, 200, 8, &cells));
    // The window that is used again and again, after eight rounds; `main` is open in it.
    let mut again = visits(3, 20);
    Record::Leave { delta: 100 }.encode(&mut again);
    let open = [Open { ticks: 100, site: main, reserved: 0 }];
    bytes.extend(begun_anew(process.key, 8_400, 8, &open, &again));
    (process, bytes)
}

/// A window that is used again and again, after so many rounds.
fn begun_anew(key: u64, ticks: u64, round: u64, open: &[Open], records: &[u8]) -> Vec<u8> {
    let triple = Triple { ticks, monotonic_ns: ticks, realtime_ns: ticks };
    let (bytes_before, serial, buffer, is_summing) = (0, 0, 0, true);
    let head = Head {
        size: u32::try_from(ALIGN).unwrap(),
        process: key,
        thread: 0,
        stream: Stream::Events,
        sequence: 1,
        ticks,
        triple,
        bytes_before,
        serial,
        buffer,
        round,
        is_summing,
    };
    let mut window = vec![0; ALIGN];
    let begin = head.encode_into(open, &mut window);
    window[begin..begin + records.len()].copy_from_slice(records);
    let end = (begin + records.len()) as u64;
    window[at::CURSOR..at::CURSOR + 8].copy_from_slice(&end.to_le_bytes());
    window
}

/// Merges the process with these bytes of events.
fn merged(process: &Process, events: &[u8]) -> Merged {
    let dir = tempfile::tempdir().unwrap();
    let [spool, run] = ["spool", "run"].map(|name| dir.path().join(name));
    std::fs::create_dir(&spool).unwrap();
    std::fs::write(spool.join("a.definitions"), process.definition_bytes()).unwrap();
    std::fs::write(spool.join("a.events"), events).unwrap();
    let summary = merge(&spool, &run, &config(1, 1 << 20), &()).unwrap();
    let archive = Archive::open(&run).unwrap();
    Merged { _dir: dir, archive, summary }
}

#[test]
fn what_was_kept_and_what_was_added_up_are_the_whole() {
    let (process, events) = process();
    let merged = merged(&process, &events);
    assert_eq!(merged.summary.problems, []);
    let profile = merged.profile();
    // Visits of `work` take 10 each; those that were added up are all between 2 and 90.
    assert_eq!(profile["main/work"], (108, 1_080, 1_080));
    // `main` was left once, 190 after the last window began; its own time is what is left of that.
    let inclusive = 8_400 + 190 - 100;
    assert_eq!(profile["main"], (1, inclusive, 50 + 7_200 + 60 + 100));
    let rows = merged.table("profile");
    assert_eq!((rows.i64("min").unwrap()[1], rows.i64("max").unwrap()[1]), (2, 90));
    assert_eq!(rows.f64("sum_squares").unwrap()[1], 10_000.0 + 8.0 * 100.0);
    assert_eq!(rows.i64("bytes").unwrap()[1], 64);
    let bin = |path: &str, log2: i64, visits: i64| ((path.to_owned(), 0, log2), visits);
    let work = [bin("main/work", -2, 2), bin("main/work", 3, 60 + 8), bin("main/work", 4, 38)];
    let expected: Bins = work.into_iter().chain([bin("main", log2(inclusive), 1)]).collect();
    assert_eq!(merged.durations(), expected);
    assert_eq!(merged.intervals().len(), 1 + 5 + 3);
    assert_eq!(merged.table("locations").i64("detail_end").unwrap(), [200]);
    let histogram: i64 = merged.table("histogram").i64("time").unwrap().iter().sum();
    assert_eq!(histogram, 1_080 + 50 + 7_200 + 60 + 100);
}

/// The process died before its window was begun anew, or while it was: what was added up is there all the same.
#[test]
fn a_window_that_was_added_up_is_not_read_again() {
    let (process, events) = process();
    let head = events.len() - ALIGN;
    let mut stale = events.clone();
    // Its number is one of those that were added up; the check word must fit.
    let old = marey_model::spool::view(&stale[head..]).unwrap().head;
    let open = [marey_model::spool::Open { ticks: 100, site: 0, reserved: 0 }];
    let end = stale[head + at::CURSOR..head + at::CURSOR + 8].to_vec();
    Head { round: 7, ..old }.encode_into(&open, &mut stale[head..]);
    stale[head + at::CURSOR..head + at::CURSOR + 8].copy_from_slice(&end);
    let mut busy = events.clone();
    busy[head..head + 8].copy_from_slice(&marey_model::spool::BUSY.to_le_bytes());
    for events in [stale, busy] {
        let merged = merged(&process, &events);
        assert_eq!(merged.profile()["main/work"].0, 105);
        assert_eq!(merged.summary.problems, []);
    }
}

/// Eight buckets of 2²⁰ ticks of which all but the last have ended: `early` had its time in the second, the fourth and the
/// last, `late` in the last only.
fn phases() -> (Process, Vec<u8>, [u64; 2]) {
    const WIDTH: u64 = 1 << 20;
    let mut process = Process::new(7);
    let (early, late) = (process.site(0, "early"), process.site(0, "late"));
    process.raw_window(0, 100, 0, Vec::new());
    process.end = Some(100 + 8 * WIDTH);
    let times = [WIDTH + WIDTH / 2, WIDTH / 4];
    let cell = |site, time| {
        (CellKind::Path { site, parent: NOBODY }, [9, 0, time, time, 1, WIDTH, 1_f64.to_bits(), 0])
    };
    let mut bytes = process.event_bytes();
    bytes.extend(sums(process.key, 100, 5, &[cell(early, times[0]), cell(late, times[1])]));
    let mut words = vec![0_u64; 2 * (2 + BUCKETS)];
    // The first is for courses that are being changed.
    words[0] = NOBODY.into();
    let ends = &mut words[2 + BUCKETS + 2..];
    (ends[1], ends[3]) = (WIDTH - 5, WIDTH + WIDTH / 4);
    let content: Vec<u8> =
        words.into_iter().flat_map(|word| u32::try_from(word).unwrap().to_le_bytes()).collect();
    bytes.extend(window(Stream::Courses, (process.key, 100), 100 + 7 * WIDTH, &content));
    bytes.extend(begun_anew(process.key, 100 + 8 * WIDTH, 5, &[], &[]));
    (process, bytes, times)
}

#[test]
fn time_lies_where_it_passed() {
    let (process, events, times) = phases();
    let merged = merged(&process, &events);
    assert_eq!(merged.summary.problems, []);
    let (table, paths) = (merged.table("courses"), merged.paths());
    let (buckets, found) = (table.u32("bucket").unwrap(), table.i64("time").unwrap());
    // The run is 8 · 2²⁰ long and has 512 buckets.
    let eighths = |path: &str| {
        let mut eighths = [0; 8];
        for row in 0..table.len() {
            if paths[table.u32("call_path").unwrap()[row] as usize] == path {
                eighths[buckets[row] as usize / 64] += found[row];
            }
        }
        eighths
    };
    let near = |found: [i64; 8], wanted: [i64; 8]| {
        found
            .iter()
            .zip(wanted)
            .for_each(|(found, wanted)| assert!((found - wanted).abs() < 400, "{found} {wanted}"));
    };
    let quarter = 1 << 18;
    near(eighths("early"), [0, 4 * quarter, 0, quarter, 0, 0, 0, quarter]);
    near(eighths("late"), [0, 0, 0, 0, 0, 0, 0, quarter]);
    let exclusive = merged.table("profile").i64("exclusive").unwrap().to_vec();
    assert_eq!(exclusive, times.map(|time| i64::try_from(time).unwrap()));
    // The same by region.
    let by_region = merged.table("histogram");
    assert_eq!(by_region.i64("time").unwrap(), found);
    for (region, time) in exclusive.iter().enumerate() {
        let rows =
            (0..by_region.len()).filter(|&row| by_region.u32("region").unwrap()[row] as usize == region);
        assert_eq!(rows.map(|row| found[row]).sum::<i64>(), *time);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_sums_stop_nothing(
        flips in prop::collection::vec((0_usize..11 * ALIGN, 0_u8..8), 1..12),
        cut in prop::option::of(0_usize..11 * ALIGN),
    ) {
        let (process, mut events) = process();
        let (_, more, _) = phases();
        events.extend(&more[more.len() - 5 * ALIGN..more.len() - ALIGN]);
        for (place, bit) in flips {
            let len = events.len();
            events[place % len] ^= 1 << bit;
        }
        if let Some(cut) = cut {
            events.truncate(cut);
        }
        merged(&process, &events);
    }
}
