//! Files of a spool that are not there: the rest keeps its times, and what is gone is told.

use std::path::Path;

use marey_archive::Archive;
use marey_archive::merge::{Config, merge};
use marey_model::spool::Definition;
use marey_testkit::{Process, Spool};

use crate::{Merged, call, config, message};

/// When the clock of all processes was at the start of the run, ns.
const START: u64 = 500_000_000_000;

/// Two ranks that send and receive one message, 1000 ns long.
fn two_ranks() -> Spool {
    two_ranks_with(|_| {})
}

/// The same of another rank 1.
fn two_ranks_with(change: impl FnOnce(&mut Process)) -> Spool {
    let mut spool = Spool::world(2);
    change(&mut spool.processes[1]);
    call(&mut spool.processes[0], 0, "MPI_Send", START + 10, START + 20, |p| p.send(0, message(1, 5)));
    call(&mut spool.processes[1], 0, "MPI_Recv", START + 5, START + 50, |p| p.receive(0, message(0, 5)));
    for process in &mut spool.processes {
        (process.start, process.end) = (START, Some(START + 1000));
        let name = "main".to_owned();
        process.definitions.push(Definition::Thread {
            serial: 0,
            os_thread: 1,
            name,
            ticks: START,
            creator: None,
        });
    }
    spool
}

/// Merges a spool after `damage` has been done to its directory.
pub(crate) fn merged(spool: &Spool, damage: impl FnOnce(&Path)) -> Merged {
    let dir = tempfile::tempdir().unwrap();
    let [place, run] = ["spool", "run"].map(|name| dir.path().join(name));
    spool.write(&place).unwrap();
    damage(&place);
    let summary = merge(&place, &run, &config(1, Config::DEFAULT_MEMORY_BYTES), &()).unwrap();
    let archive = Archive::open(&run).unwrap();
    Merged { dir, archive, summary }
}

pub(crate) fn file(process: &Process, extension: &str) -> String {
    format!("{}-{}-{:016x}.{extension}", process.host, process.pid, process.key)
}

#[test]
fn a_process_without_definitions_is_placed_by_the_clock_of_its_node() {
    let spool = two_ranks();
    let name = file(&spool.processes[1], "definitions");
    for is_empty in [false, true] {
        let merged = merged(&spool, |place| {
            std::fs::remove_file(place.join(&name)).unwrap();
            if is_empty {
                std::fs::write(place.join(&name), "").unwrap();
            }
        });
        assert_eq!(merged.summary.duration_ns, 1000);
        assert_eq!(merged.intervals(), ["0 MPI_Send 10+10", "1 (undefined) 5+45"]);
        assert_eq!(merged.archive.meta().run.hosts, ["node"]);
        let processes = merged.table("processes");
        assert_eq!(processes.text("outcome").unwrap(), ["finished", "unknown"]);
        assert_eq!(processes.u32("pid").unwrap()[1], 102);
        // The two events of the one call.
        assert_eq!(merged.problem("missing"), 2);
    }
}

#[test]
fn a_process_whose_clock_nobody_knows_does_not_say_when_the_run_was() {
    let of_another_node = |process: &mut Process| process.host = "elsewhere".to_owned();
    // As fast as the other's, but not on the line through its readings.
    let of_another_clock = |process: &mut Process| process.offset = 1e9;
    let cases: [&dyn Fn(&mut Process); 2] = [&of_another_node, &of_another_clock];
    for change in cases {
        let spool = two_ranks_with(change);
        let name = file(&spool.processes[1], "definitions");
        let merged = merged(&spool, |place| std::fs::remove_file(place.join(name)).unwrap());
        assert_eq!(merged.summary.duration_ns, 1000);
        assert_eq!(merged.intervals(), ["0 MPI_Send 10+10"]);
        assert_eq!(merged.archive.meta().run.hosts, ["node"]);
        assert_eq!(merged.summary.processes, 1);
        assert_eq!(merged.problem("missing"), 2);
        let problems = merged.table("problems");
        let detail = problems.text("detail").unwrap().iter().find(|text| text.starts_with("events of"));
        let host = &spool.processes[1].host;
        assert!(detail.unwrap().starts_with(&format!("events of process 102 on {host} (")), "{detail:?}");
    }
}

#[test]
fn a_spool_without_any_definitions_is_an_empty_run_with_a_problem() {
    let spool = two_ranks();
    let merged = merged(&spool, |place| {
        for process in &spool.processes {
            std::fs::remove_file(place.join(file(process, "definitions"))).unwrap();
        }
    });
    assert_eq!((merged.summary.processes, merged.summary.duration_ns), (0, 0));
    assert_eq!(merged.problem("missing"), 4);
}

#[test]
fn events_that_definitions_announce_and_that_are_gone_are_told() {
    let spool = two_ranks();
    let name = file(&spool.processes[1], "events");
    for is_empty in [false, true] {
        let merged = merged(&spool, |place| {
            std::fs::remove_file(place.join(&name)).unwrap();
            if is_empty {
                std::fs::write(place.join(&name), "").unwrap();
            }
        });
        assert_eq!(merged.problem("missing"), 1);
        let problems = merged.table("problems");
        let row = problems.text("kind").unwrap().iter().position(|kind| kind == "missing").unwrap();
        assert_eq!(problems.u32("process").unwrap()[row], 1);
        assert_eq!(merged.intervals(), ["0 MPI_Send 10+10"]);
    }
    assert_eq!(merged(&spool, |_| {}).summary.problems, []);
}

#[test]
fn one_thread_of_several_that_is_gone_is_told() {
    let mut spool = two_ranks();
    let name = "worker".to_owned();
    let (serial, os_thread, ticks) = (1, 2, START);
    spool.processes[0].definitions.push(Definition::Thread {
        serial,
        os_thread,
        name,
        ticks,
        creator: Some(0),
    });
    let merged = merged(&spool, |_| {});
    assert_eq!(merged.summary.problems, [("lost".to_owned(), 1)]);
}

#[test]
fn a_quiet_thread_may_stay_in_one_window_for_weeks() {
    const WEEKS: u64 = 40 * 24 * 3600 * 1_000_000_000;
    let mut spool = Spool::world(1);
    let process = &mut spool.processes[0];
    (process.start, process.end) = (START, Some(START + WEEKS + 20));
    call(process, 0, "MPI_Wait", START + 10, START + 10 + WEEKS, |_| ());
    let merged = merged(&spool, |_| {});
    assert_eq!(merged.intervals(), [format!("0 MPI_Wait 10+{WEEKS}")]);
    assert_eq!(merged.problem("damaged"), 0);
}

#[test]
fn a_damaged_part_of_an_interrupted_merge_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let [place, run] = ["spool", "run"].map(|name| dir.path().join(name));
    two_ranks().write(&place).unwrap();
    let config = config(1, Config::DEFAULT_MEMORY_BYTES);
    merge(&place, &run, &config, &()).unwrap();
    let part = run.join("intervals/s000000-g00000.parquet");
    let whole = std::fs::read(&part).unwrap();
    // Of the right length, and no end of a Parquet file.
    std::fs::write(&part, vec![0; whole.len()]).unwrap();
    merge(&place, &run, &config, &()).unwrap();
    assert_eq!(std::fs::read(&part).unwrap(), whole);
}

#[test]
fn what_is_removed_after_the_merge_is_in_the_archive() {
    let dir = tempfile::tempdir().unwrap();
    let [place, run] = ["spool", "run"].map(|name| dir.path().join(name));
    two_ranks().write(&place).unwrap();
    let config = Config { keep_spool: false, ..config(2, Config::DEFAULT_MEMORY_BYTES) };
    merge(&place, &run, &config, &()).unwrap();
    assert!(!place.exists());
    assert_eq!(Archive::open(&run).unwrap().table("intervals").unwrap().len(), 2);
}
