//! Runs that are merged piece by piece, again, or from damaged spools.

use std::collections::BTreeMap;
use std::path::Path;

use marey_archive::merge::{Config, merge};
use marey_testkit::{Process, Spool};
use proptest::prelude::*;

use super::{call, config, merged_with, message};

/// Enough intervals on several ranks to need slabs, with regions and messages across them.
pub(crate) fn long_run() -> Spool {
    let mut spool = Spool::world(3);
    for (rank, process) in (0_u64..).zip(&mut spool.processes) {
        let (main, step) = (process.site(0, "main"), process.site(0, "step"));
        process.enter(0, main, 5);
        for n in 0..60_000 {
            let at = 1000 * n + rank;
            process.enter(0, step, at + 10);
            let (to, from) = (i64::try_from((rank + 1) % 3).unwrap(), i64::try_from((rank + 2) % 3).unwrap());
            let sent = call(process, 0, "MPI_Isend", at + 20, at + 30, |p| p.post_send(0, message(to, 1)));
            call(process, 0, "MPI_Recv", at + 40, at + 90, |p| p.receive(0, message(from, 1)));
            call(process, 0, "MPI_Wait", at + 100, at + 110, |p| p.sent(0, sent));
            process.leave(0, at + 120);
        }
        process.leave(0, 61_000_000);
        process.end = Some(62_000_000);
    }
    spool
}

#[test]
fn slabs_hold_everything_once() {
    let merged = merged_with(&long_run(), &config(2, 1));
    let slabs = merged.archive.meta().counts["slabs"];
    assert!(slabs > 3, "{slabs}");
    assert_eq!(merged.summary.intervals, 3 * (1 + 4 * 60_000));
    assert_eq!(merged.summary.messages, 3 * 60_000);
    assert_eq!(merged.summary.problems, []);
    let profile = merged.profile();
    assert_eq!(profile["main/step"], (180_000, 180_000 * 110, 180_000 * 40));
    assert_eq!(profile["main"].1, 3 * (61_000_000 - 5));
    assert_eq!(profile["main"].2, 3 * (61_000_000 - 5) - 180_000 * 110);
    // Every slab but the first begins inside main on all three locations.
    let snapshots = merged.table("snapshots");
    let mains = snapshots.i64("start").unwrap().iter().filter(|&&start| start == 5).count() as u64;
    assert_eq!(mains, 3 * (slabs - 1));
    for part in merged.archive.parts("intervals") {
        assert!(part.rows <= 2_000_000);
    }
    let histogram: i64 = merged.table("histogram").i64("time").unwrap().iter().sum();
    assert_eq!(histogram, 3 * (61_000_000 - 5));
    let lod = merged.table("lod");
    let mut by_resolution: BTreeMap<(u32, u32, u32), i64> = BTreeMap::new();
    for row in 0..lod.len() {
        let value = |name: &str| lod.u32(name).unwrap()[row];
        let time: i64 =
            ["time1", "time2", "time3", "rest"].iter().map(|name| lod.i64(name).unwrap()[row]).sum();
        *by_resolution.entry((value("level"), value("depth"), value("resolution_log2"))).or_default() += time;
    }
    // At every resolution all of the time is there: steps at depth 1, MPI calls at depth 0.
    let steps: Vec<i64> =
        by_resolution.iter().filter(|((_, depth, _), _)| *depth == 1).map(|(_, t)| *t).collect();
    assert!(steps.len() > 3 && steps.iter().all(|&time| time == 180_000 * 110), "{steps:?}");
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn any_number_of_threads_makes_the_same_bytes_and_a_restart_too() {
    let dir = tempfile::tempdir().unwrap();
    let spool = dir.path().join("spool");
    long_run().write(&spool).unwrap();
    let run = |name: &str, threads| {
        let run = dir.path().join(name);
        merge(&spool, &run, &config(threads, 1), &()).unwrap();
        files(&run)
    };
    let one = run("one", 1);
    let three = run("three", 3);
    assert!(one == three);
    // Restarted with a part missing and one of another input: both are made anew, the others kept.
    let part = dir.path().join("one/intervals/s000001-g00000.parquet");
    let kept = dir.path().join("one/intervals/s000002-g00000.parquet");
    let before = std::fs::metadata(&kept).unwrap().modified().unwrap();
    std::fs::remove_file(&part).unwrap();
    assert!(run("one", 2) == three);
    assert_eq!(std::fs::metadata(&kept).unwrap().modified().unwrap(), before);
}

#[test]
fn the_spool_goes_when_the_archive_is_verified() {
    let dir = tempfile::tempdir().unwrap();
    let spool = dir.path().join("spool");
    Spool::world(2).write(&spool).unwrap();
    let config = Config { keep_spool: false, ..config(1, 1 << 20) };
    merge(&spool, &dir.path().join("run"), &config, &()).unwrap();
    assert!(!spool.exists());
}

#[test]
fn a_lost_window_is_counted_and_the_stream_goes_on() {
    let mut process = Process::new(7);
    let (main, work) = (process.site(0, "main"), process.site(0, "work"));
    process.enter(0, main, 10);
    for n in 0..20_000 {
        process.enter(0, work, 100 * n + 20);
        process.leave(0, 100 * n + 50);
    }
    process.leave(0, 3_000_000);
    process.end = Some(3_000_001);
    let mut windows = process.event_windows();
    assert!(windows.len() > 4);
    windows.remove(2);
    let dir = tempfile::tempdir().unwrap();
    let spool = dir.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    std::fs::write(spool.join("a.definitions"), process.definition_bytes()).unwrap();
    std::fs::write(spool.join("a.events"), windows.concat()).unwrap();
    let run = dir.path().join("run");
    let summary = merge(&spool, &run, &config(1, 1 << 20), &()).unwrap();
    // What was open where the window before ended was left in the lost one.
    let kinds: Vec<&str> = summary.problems.iter().map(|problem| problem.0.as_str()).collect();
    assert_eq!(kinds, ["lost", "truncated"]);
    assert_eq!(summary.problems[0].1, 1);
    assert!((15_000..20_000).contains(&summary.intervals));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn damage_never_panics(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 0..40),
        cut in any::<prop::sample::Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..300),
        place in any::<prop::sample::Index>(),
        which in 0..3,
    ) {
        let mut spool = Spool::world(2);
        for n in 0..300 {
            call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| p.send(0, message(1, 5)));
            call(&mut spool.processes[1], 0, "MPI_Recv", 100 * n + 5, 100 * n + 50, |p| p.receive(0, message(0, 5)));
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spool");
        spool.write(&path).unwrap();
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            for (index, bit) in &flips {
                // Most of a window is empty; what is used stands at its beginning.
                let at = index.index(bytes.len().min(6000));
                bytes[at] ^= 1 << bit;
            }
            if which == 1 {
                bytes.truncate(cut.index(bytes.len()));
            }
            if which == 2 {
                let at = place.index(bytes.len() - noise.len());
                bytes[at..at + noise.len()].copy_from_slice(&noise);
            }
            std::fs::write(&path, bytes).unwrap();
        }
        let summary = merge(&path, &dir.path().join("run"), &config(1, 1 << 20), &()).unwrap();
        prop_assert!(summary.messages <= 300);
    }
}

/// Bytes that look like records: opcodes and small numbers, with some of anything in between.
fn recordish() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        6 => 1_u8..0x20,
        4 => 0x40_u8..0x44,
        // One-byte numbers.
        6 => (0_u8..8).prop_map(|number| number << 1 | 1),
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..600)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn records_without_sense_in_sound_windows_never_panic(
        pieces in prop::collection::vec(recordish(), 1..4),
        lose_one in any::<bool>(),
    ) {
        let mut spool = Spool::world(1);
        let process = &mut spool.processes[0];
        for verb in ["a", "b", "c"] {
            process.site(0, verb);
        }
        for (n, piece) in pieces.into_iter().enumerate() {
            process.raw_window(0, 100 + 1000 * n as u64, n as u64 + u64::from(lose_one && n > 0), piece);
        }
        process.end = Some(1_000_000);
        let dir = tempfile::tempdir().unwrap();
        spool.write(&dir.path().join("spool")).unwrap();
        let run = dir.path().join("run");
        let summary = merge(&dir.path().join("spool"), &run, &config(1, 1 << 20), &()).unwrap();
        let lost = summary.problems.iter().any(|problem| problem.0 == "lost");
        prop_assert!(!lost || lose_one);
    }
}
