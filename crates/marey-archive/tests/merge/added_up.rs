//! Sums that a recorder made for want of room: with the intervals before and behind them they are the whole,
//! and nothing about them that is damaged stops the merge.

use marey_archive::Archive;
use marey_archive::corrections::Corrections;
use marey_archive::merge::merge;
use marey_model::Triple;
use marey_model::spool::courses::BUCKETS;
use marey_model::spool::sums::{CELL_LEN, CellKind, FIRST_WINDOW, LATER_WINDOW, NOBODY};
use marey_model::spool::{ALIGN, HEAD_LEN, Head, Open, Record, SLACK, Stream, at};
use marey_testkit::{Process, Spool};
use proptest::prelude::*;

use super::histograms::{Bins, log2};
use super::missing::{file, merged as damaged};
use super::{Merged, call, config, message};

type Cells<'a> = &'a [(CellKind, [u64; 8])];

/// A window of sums, of so many rounds.
fn sums(key: u64, ticks: u64, summed: u64, cells: Cells<'_>) -> Vec<u8> {
    window((Stream::Sums, 0), (key, ticks), summed, &content(summed, cells))
}

fn content(summed: u64, cells: Cells<'_>) -> Vec<u8> {
    let mut content = Vec::new();
    for (kind, sums) in cells {
        let mut words = kind.words().to_vec();
        words.push(summed);
        words.extend(sums);
        words.resize(CELL_LEN / 8, 0);
        content.extend(words.into_iter().flat_map(u64::to_le_bytes));
    }
    content
}

/// A window that is no window of events, with this in the word that they have for something else.
pub(crate) fn window(
    (stream, sequence): (Stream, u64),
    (key, ticks): (u64, u64),
    word: u64,
    content: &[u8],
) -> Vec<u8> {
    let triple = Triple { ticks, monotonic_ns: ticks, realtime_ns: ticks };
    let len = (HEAD_LEN + content.len() + SLACK).next_multiple_of(ALIGN).max(4 * ALIGN);
    let size = u32::try_from(len).unwrap();
    let (bytes_before, serial, buffer) = (0, 0, 0);
    let head = Head {
        size,
        process: key,
        thread: 0,
        stream,
        sequence,
        ticks,
        triple,
        bytes_before,
        serial,
        buffer,
        round: 0,
        is_summing: false,
    };
    let mut bytes = vec![0; len];
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
    process_of(7)
}

fn process_of(key: u64) -> (Process, Vec<u8>) {
    let mut process = Process::new(key);
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
pub(crate) fn merged(process: &Process, events: &[u8]) -> Merged {
    let dir = tempfile::tempdir().unwrap();
    let [spool, run] = ["spool", "run"].map(|name| dir.path().join(name));
    std::fs::create_dir(&spool).unwrap();
    std::fs::write(spool.join("a.definitions"), process.definition_bytes()).unwrap();
    std::fs::write(spool.join("a.events"), events).unwrap();
    let summary = merge(&spool, &run, &config(1, 1 << 20), &()).unwrap();
    let archive = Archive::open(&run).unwrap();
    Merged { dir, archive, summary }
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

/// Two processes add up from 200 on. Whose clock is moved is no longer the first.
#[test]
fn since_when_moves_with_the_clocks() {
    let dir = tempfile::tempdir().unwrap();
    let [spool, run] = ["spool", "run"].map(|name| dir.path().join(name));
    std::fs::create_dir(&spool).unwrap();
    for (key, name) in [(7, "a"), (8, "b")] {
        let (process, events) = process_of(key);
        std::fs::write(spool.join(format!("{name}.definitions")), process.definition_bytes()).unwrap();
        std::fs::write(spool.join(format!("{name}.events")), events).unwrap();
    }
    merge(&spool, &run, &config(1, 1 << 20), &()).unwrap();
    let since = |offsets: &[(u32, i64)]| {
        let offsets = offsets.iter().copied().collect();
        Corrections { offsets, ..Corrections::default() }.save(&run).unwrap();
        Archive::open(&run).unwrap().meta().summed_since_ns()
    };
    assert_eq!(since(&[]), Some(200));
    assert_eq!(since(&[(0, 50)]), Some(200));
    assert_eq!(since(&[(0, 50), (1, 70)]), Some(250));
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
    bytes.extend(window((Stream::Courses, 0), (process.key, 100), 100 + 7 * WIDTH, &content));
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

/// How many cells a window has room for.
const fn cells_in(len: usize) -> usize {
    (len - HEAD_LEN - SLACK) / CELL_LEN
}

/// Three windows of sums: `leaf` and `work` are in the last, `leaf` beneath a path of the second.
fn three_windows() -> (Process, [Vec<u8>; 3]) {
    const LATER: usize = cells_in(LATER_WINDOW);
    let mut process = Process::new(7);
    let sites = ["main", "middle", "work", "leaf"].map(|name| process.site(0, name));
    let [main, middle, work, leaf] = sites;
    process.raw_window(0, 100, 0, Vec::new());
    process.end = Some(10_000);
    let path = |site, parent| CellKind::Path { site, parent };
    let visits = |number: u64| [number, 0, number * 10, number * 10, 10, 10, 0, 0];
    // Cells of bins of `main` fill up what is not of interest.
    let bins = (CellKind::Durations { cell: 0, part: 1 }, [0; 8]);
    let (mut first, mut second) = ([bins; cells_in(FIRST_WINDOW)], [bins; LATER]);
    first[0] = (path(main, NOBODY), visits(1));
    second[5] = (path(middle, 0), visits(20));
    let middle_cell = u32::try_from(first.len() + 5).unwrap();
    let work_cell = u32::try_from(first.len() + second.len()).unwrap();
    let third = [
        (path(work, 0), visits(300)),
        (path(leaf, middle_cell), visits(4_000)),
        (CellKind::Durations { cell: work_cell, part: 1 }, [300, 0, 0, 0, 0, 0, 0, 0]),
        (CellKind::Durations { cell: middle_cell, part: 1 }, [20, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let cells: [Cells<'_>; 3] = [&first, &second, &third];
    let key = process.key;
    let window = |(sequence, cells)| window((Stream::Sums, sequence), (key, 200), 8, &content(8, cells));
    let [a, b, c] = cells;
    (process, [(0, a), (1, b), (2, c)].map(window))
}

/// Cells keep their numbers, and what lay beneath a path that is gone is in a path that nobody knows.
#[test]
fn a_window_that_is_missing_takes_only_its_own_sums() {
    let (process, windows) = three_windows();
    let whole = [("main", 1), ("main/middle", 20), ("main/middle/leaf", 4_000), ("main/work", 300)];
    let rest = [("(other paths)", 0), ("(other paths)/leaf", 4_000), ("main", 1), ("main/work", 300)];
    // Sound, a hole, and bytes that make no sense.
    for (fill, expected) in [(None, &whole), (Some(0), &rest), (Some(0x55), &rest)] {
        let mut windows = windows.clone();
        if let Some(fill) = fill {
            windows[1].fill(fill);
        }
        let merged = merged(&process, &[process.event_bytes(), windows.concat()].concat());
        let profile = merged.profile();
        let visits: Vec<(&str, i64)> = profile.iter().map(|(path, sums)| (path.as_str(), sums.0)).collect();
        assert_eq!(visits, expected, "{fill:?}");
        let durations = merged.durations();
        assert_eq!(durations[&("main/work".to_owned(), 0, 3)], 300);
        let is_gone = u64::from(fill.is_some());
        assert_eq!(merged.problem("lost"), is_gone);
        assert_eq!(merged.problem("other_paths"), 4_000 * is_gone);
        // A cell with durations of a path that is gone, and a place where no window begins.
        assert_eq!(merged.problem("damaged"), is_gone + u64::from(fill == Some(0x55)));
    }
}

/// Of two ranks one sent more than the other received, and the other way round; rank 0 completes what it never began.
fn lonely_halves() -> Spool {
    let mut spool = Spool::world(2);
    for n in 0..3 {
        call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| {
            p.send(0, message(1, 5))
        });
    }
    for n in 0..2 {
        call(&mut spool.processes[1], 0, "MPI_Recv", 100 * n + 5, 100 * n + 50, |p| {
            p.receive(0, message(0, 5))
        });
    }
    let rank = &mut spool.processes[0];
    call(rank, 0, "MPI_Recv", 400, 410, |p| p.receive(0, message(1, 7)));
    call(rank, 0, "MPI_Wait", 420, 430, |p| p.sent(0, 99));
    spool
}

/// That a rank has sums explains a half that is alone only if they are of such halves.
#[test]
fn halves_that_nobody_counted_are_problems() {
    let timed = CellKind::Path { site: 0, parent: NOBODY };
    let received = CellKind::Received { communicator: 0 };
    let sent = |peer| CellKind::Sent { communicator: 0, peer };
    let others = CellKind::Path { site: NOBODY, parent: NOBODY };
    // Who has which sums; sends and receives without the other half, halves of which the other was counted, and orphans.
    let cases = [
        (1, Stream::Beside, timed, [1, 1, 0, 1]),
        (0, Stream::Beside, timed, [1, 1, 0, 1]),
        (1, Stream::Sums, timed, [1, 1, 0, 1]),
        (0, Stream::Sums, timed, [1, 1, 0, 0]),
        (1, Stream::Beside, received, [0, 1, 1, 1]),
        (0, Stream::Beside, received, [1, 1, 0, 1]),
        (1, Stream::Beside, sent(0), [1, 0, 1, 1]),
        (1, Stream::Beside, sent(1), [1, 1, 0, 1]),
        (0, Stream::Beside, sent(1), [1, 1, 0, 1]),
        (1, Stream::Sums, others, [0, 0, 2, 1]),
    ];
    for (rank, stream, cell, [sends, receives, counted, orphans]) in cases {
        let spool = lonely_halves();
        let process = &spool.processes[rank];
        let cells = content(3, &[(cell, [3, 0, 0, 0, u64::MAX, 0, 0, 24])]);
        let bytes = window((stream, 0), (process.key, 450), 3, &cells);
        let merged = damaged(&spool, |place| {
            let path = place.join(file(process, "events"));
            std::fs::write(&path, [std::fs::read(&path).unwrap(), bytes].concat()).unwrap();
        });
        let said = (rank, stream, cell);
        let found = ["unmatched_sends", "unmatched_receives"].map(|kind| merged.problem(kind));
        assert_eq!(found, [sends, receives], "{said:?}");
        assert_eq!(merged.archive.meta().counts["half_counted_messages"], counted, "{said:?}");
        assert_eq!(merged.problem("orphans"), orphans, "{said:?}");
        // The size of a send is known, whoever received it.
        let table = merged.table("communication");
        let row = |row: usize| {
            let ends = (table.u32("from_process").unwrap()[row], table.u32("to_process").unwrap()[row]);
            (ends, table.i64("size_log2").unwrap()[row], table.i64("messages").unwrap()[row])
        };
        let whole: Vec<_> = (0..table.len()).map(row).filter(|row| row.1 >= 0).collect();
        assert_eq!(whole, [((0, 1), 3, 3 - i64::try_from(sends).unwrap())], "{said:?}");
    }
}

/// A rank that only counts, and sends to ranks and in communicators of which nothing was recorded.
#[test]
fn what_was_sent_to_nobody_who_is_recorded_is_told() {
    let mut spool = Spool::world(4);
    spool.processes.truncate(2);
    call(&mut spool.processes[1], 0, "MPI_Init", 1, 2, |_| ());
    let process = &spool.processes[0];
    let sent = |communicator, peer| CellKind::Sent { communicator, peer };
    let sums = |number: u64| [number, 0, 0, 0, u64::MAX, 0, 0, 100 * number];
    let cells =
        [(sent(0, 1), sums(1)), (sent(0, 2), sums(20)), (sent(0, 3), sums(300)), (sent(9, 1), sums(4_000))];
    let bytes = window((Stream::Sums, 0), (process.key, 450), 3, &content(3, &cells));
    let merged = damaged(&spool, |place| std::fs::write(place.join(file(process, "events")), bytes).unwrap());
    assert_eq!(merged.table("communication").i64("messages").unwrap(), [1]);
    assert_eq!(merged.problem("unmatched_sends"), 4_320);
    let problems = merged.table("problems");
    let row = problems.text("kind").unwrap().iter().position(|kind| kind == "unmatched_sends").unwrap();
    assert_eq!(problems.u32("process").unwrap()[row], 0);
    assert!(problems.text("detail").unwrap()[row].contains("432000 bytes"));
}

/// Time that was taken from a call path and that it never had is told, unless it is what rounding makes.
#[test]
fn more_time_than_there_is_cannot_be_taken_from_a_call_path() {
    for (taken, negative) in [(50_i64, 0), (5_000, 1)] {
        let mut process = Process::new(7);
        let (main, work) = (process.site(0, "main"), process.site(0, "work"));
        process.enter(0, main, 100);
        process.leave(0, 110);
        let path = |site, parent| CellKind::Path { site, parent };
        let time = taken.cast_unsigned();
        let cells = [
            (path(main, NOBODY), [0, 0, 0, (-taken).cast_unsigned(), u64::MAX, 0, 0, 0]),
            (path(work, 0), [5, 0, time, time, 1, time, 0, 0]),
        ];
        let sums = window((Stream::Beside, 0), (process.key, 100), 5, &content(5, &cells));
        let merged = merged(&process, &[process.event_bytes(), sums].concat());
        assert_eq!(merged.profile()["main"], (1, 10, 0));
        assert_eq!(merged.problem("negative"), negative);
    }
}

/// Where a window of courses is missing, nobody knows when the time of paths without one passed.
#[test]
fn time_without_its_course_is_everywhere() {
    let (process, events, times) = phases();
    let more = window((Stream::Courses, 2), (process.key, 0), 0, &[]);
    let merged = merged(&process, &[events, more].concat());
    let (table, paths) = (merged.table("courses"), merged.paths());
    let of_late = |&row: &usize| paths[table.u32("call_path").unwrap()[row] as usize] == "late";
    let mut eighths = [0; 8];
    for row in (0..table.len()).filter(of_late) {
        eighths[table.u32("bucket").unwrap()[row] as usize / 64] += table.i64("time").unwrap()[row];
    }
    let part = i64::try_from(times[1] / 8).unwrap();
    assert!(eighths.iter().all(|time| (time - part).abs() < 400), "{eighths:?} {part}");
    assert_eq!(merged.problem("lost"), 1);
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

/// A receive in a call of which the end was only added up ends with what there is of that call, and not with the next one
/// that is there again.
#[test]
fn a_receive_does_not_wait_for_a_call_behind_what_was_added_up() {
    let mut spool = Spool::world(2);
    call(&mut spool.processes[0], 0, "MPI_Send", 10, 20, |p| p.send(0, message(1, 5)));
    let rank = &mut spool.processes[1];
    let (receive, barrier) = (rank.site(1, "MPI_Recv"), rank.site(1, "MPI_Barrier"));
    rank.enter(0, receive, 5);
    rank.receive(0, message(0, 5));
    let mut again = Vec::new();
    Record::Enter { site: barrier, delta: 100 }.encode(&mut again);
    Record::Leave { delta: 50 }.encode(&mut again);
    rank.end = Some(10_000);
    let cells = [(CellKind::Path { site: receive, parent: NOBODY }, [1, 0, 45, 45, 45, 45, 0, 8])];
    let mut bytes = sums(rank.key, 30, 3, &cells);
    bytes.extend(begun_anew(rank.key, 8_400, 3, &[], &again));
    let process = &spool.processes[1];
    let merged = damaged(&spool, |place| {
        let path = place.join(file(process, "events"));
        std::fs::write(&path, [std::fs::read(&path).unwrap(), bytes].concat()).unwrap();
    });
    let messages = merged.table("messages");
    let ends = messages.i64("recv_time").unwrap();
    assert_eq!(ends.len(), 1);
    assert!((5..8_400).contains(&ends[0]), "received at {}", ends[0]);
    // It is the end of the visit as the table of intervals has it.
    let intervals = merged.table("intervals");
    let (starts, durations) = (intervals.i64("start").unwrap(), intervals.i64("duration").unwrap());
    let visits: Vec<i64> = starts.iter().zip(durations).map(|(start, duration)| start + duration).collect();
    assert!(visits.contains(&ends[0]), "{visits:?}");
}
