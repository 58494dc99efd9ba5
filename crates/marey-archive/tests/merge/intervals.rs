//! Regions become intervals, call paths and sums, however their process ended.

use marey_archive::Archive;
use marey_archive::merge::merge;
use marey_model::spool::{Record, at};
use marey_testkit::{Process, Spool};

use super::{config, merged};

#[test]
fn nested_regions_become_intervals_call_paths_and_sums() {
    let mut process = Process::new(7);
    let (main, work) = (process.site(0, "main"), process.site(0, "work"));
    process.enter(0, main, 10);
    for start in [20, 40] {
        process.enter(0, work, start);
        process.leave(0, start + 5);
    }
    process.leave(0, 100);
    process.end = Some(200);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.intervals(), ["0 main 10+90", "0 main/work 20+5", "0 main/work 40+5"]);
    let profile = merged.profile();
    assert_eq!(profile["main"], (1, 90, 80));
    assert_eq!(profile["main/work"], (2, 10, 10));
    assert_eq!(merged.summary.problems, []);
    assert_eq!(merged.summary.duration_ns, 200);
    assert_eq!(merged.table("processes").text("outcome").unwrap(), ["finished"]);
}

#[test]
fn overlapping_states_leave_exclusive_times_alone() {
    let mut process = Process::new(7);
    let (main, state) = (process.site(0, "main"), process.site(0, "state"));
    process.enter(0, main, 10);
    let first = process.begin(0, state, 15);
    let second = process.begin(0, state, 20);
    process.end_of(0, first, 30);
    process.end_of(0, second, 40);
    process.leave(0, 50);
    let open = process.begin(0, state, 60);
    process.end = Some(100);
    assert_ne!(open, second);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.profile()["main"], (1, 40, 40));
    let overlaps = merged.table("overlaps");
    assert_eq!(overlaps.i64("start").unwrap(), [15, 20, 60]);
    assert_eq!(overlaps.i64("duration").unwrap()[..2], [15, 20]);
    assert_eq!(overlaps.i64("latest_end").unwrap()[..2], [30, 40]);
    assert_eq!(merged.problem("unmatched_begins"), 1);
}

#[test]
fn a_killed_process_ends_at_its_last_record() {
    let mut process = Process::new(7);
    let (main, work) = (process.site(0, "main"), process.site(0, "work"));
    process.enter(0, main, 10);
    process.enter(0, work, 30);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.intervals(), ["0 main 10+20", "0 main/work 30+0"]);
    assert_eq!(merged.open_at_end(), ["0 main since 10", "0 main/work since 30"]);
    assert_eq!(merged.summary.problems, []);
    assert_eq!(
        merged.table("processes").text("outcome").unwrap(),
        ["ended without notice (killed, or went on as another program)"]
    );
}

/// Thread 1 waits while thread 0 goes on: it waits until the last that was heard of the process.
#[test]
fn a_thread_is_inside_its_region_as_long_as_its_process_lives() {
    for (end, expected) in [(None, 90), (Some(150), 150)] {
        let mut process = Process::new(7);
        let (wait, work) = (process.site(0, "wait"), process.site(0, "work"));
        process.enter(1, wait, 20);
        process.enter(0, work, 10);
        process.leave(0, 90);
        process.end = end;
        let merged = merged(&Spool { processes: vec![process] });
        let waited = format!("1 wait 20+{}", expected - 20);
        assert_eq!(merged.intervals(), ["0 work 10+80", &waited]);
        assert_eq!(merged.open_at_end(), ["1 wait since 20"]);
        assert_eq!(merged.summary.problems, []);
        assert_eq!(merged.table("locations").i64("end").unwrap(), [expected, expected]);
    }
}

#[test]
fn a_thread_that_is_over_is_in_no_region_when_its_process_ends() {
    let mut process = Process::new(7);
    let (wait, work) = (process.site(0, "wait"), process.site(0, "work"));
    process.enter(1, wait, 20);
    process.timed(1, 40, |delta| Record::ThreadEnd { delta });
    process.enter(0, work, 10);
    process.end = Some(100);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.intervals(), ["0 work 10+90", "1 wait 20+20"]);
    assert_eq!(merged.open_at_end(), ["0 work since 10"]);
    assert_eq!(merged.summary.problems, []);
    assert_eq!(merged.table("locations").i64("end").unwrap(), [100, 40]);
}

/// The last window breaks off in bytes that are no record, or events found no place behind it; so
/// whether its region was left nobody knows.
#[test]
fn regions_behind_which_records_are_missing_are_truncated() {
    for (noise, dropped, kind) in [([0x3F_u8].as_slice(), 0_u8, "damaged"), (&[], 1, "dropped")] {
        let mut process = Process::new(7);
        process.site(0, "main");
        let mut records = Vec::new();
        Record::Enter { site: 0, delta: 5 }.encode(&mut records);
        records.extend(noise);
        process.raw_window(0, 100, 0, records);
        process.end = Some(1000);
        let mut events = process.event_bytes();
        events[at::DROPPED] = dropped;
        let dir = tempfile::tempdir().unwrap();
        let [spool, run] = ["spool", "run"].map(|name| dir.path().join(name));
        std::fs::create_dir(&spool).unwrap();
        std::fs::write(spool.join("a.definitions"), process.definition_bytes()).unwrap();
        std::fs::write(spool.join("a.events"), events).unwrap();
        let summary = merge(&spool, &run, &config(1, 1 << 20), &()).unwrap();
        assert_eq!(summary.problems, [(kind.to_owned(), 1), ("truncated".to_owned(), 1)]);
        let archive = Archive::open(&run).unwrap();
        assert_eq!(archive.table("open_at_end").unwrap().len(), 0);
        // Time goes as far as records do, not to the end of the process.
        assert_eq!(archive.table("profile").unwrap().i64("inclusive").unwrap(), [0]);
        assert_eq!(archive.table("locations").unwrap().i64("end").unwrap(), [105]);
        assert_eq!(archive.table("processes").unwrap().i64("end").unwrap(), [1000]);
    }
}
