//! Regions of which rules say that less is to be recorded: every visit is there once, counted, timed or
//! recorded, whatever interrupts it.
//!
//! Each test runs itself again as the program that records, and reads what that left.
#![expect(clippy::unwrap_used, reason = "a test that forks, and dies")]

#[path = "support/killed.rs"]
mod killed;
#[path = "support/signalled.rs"]
mod signalled;
mod support;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use killed::{killed, tell};
use marey_measure::{Config, Detail, LaneHandle, Mode, region, set_detail, site, start_with};
use marey_model::Rules;
use signalled::{signalled, worked};
use support::{Checked, Spool, child, spool_of};

fn start(spool: &Path, rules: &str) {
    let (spool, rules) = (spool.to_owned(), Rules::parse(rules).unwrap());
    let (mode, stack_depth) = (Mode::Trace, 32);
    start_with(Config {
        spool,
        mode,
        rules,
        is_profile: false,
        max_bytes: 0,
        budget: 0,
        stack_depth,
        skew: None,
    })
    .unwrap();
}

/// Visits of a region: those that were recorded or timed, and those that were only counted.
fn visits(found: &Checked, name: &str) -> (u64, u64) {
    let of = |visits: &std::collections::BTreeMap<String, u64>| visits.get(name).copied().unwrap_or(0);
    (of(&found.visits), of(&found.counted))
}

#[test]
fn each_region_is_recorded_as_rules_say() {
    const TEST: &str = "each_region_is_recorded_as_rules_say";
    const N: u64 = 100_000;
    if let Some(directory) = spool_of(TEST) {
        start(&directory, "time *\ncount counted\noff nothing\ntrace kept");
        region!("whole");
        for n in 0..N {
            region!("timed");
            {
                region!("counted");
                region!("nothing");
                region!("inner");
            }
            if n % 1000 == 0 {
                region!("kept");
            }
        }
        let mut lane = LaneHandle::new("lane");
        for _ in 0..10 {
            drop(lane.enter(site!("on a lane")));
            drop(site!("a state").begin());
        }
        return;
    }
    let found = Spool::read(child(TEST).path()).checked();
    assert_eq!(visits(&found, "timed"), (N, 0));
    assert_eq!(visits(&found, "counted"), (0, N));
    assert_eq!(visits(&found, "nothing"), (0, 0));
    assert_eq!(visits(&found, "inner"), (N, 0));
    assert_eq!(visits(&found, "kept"), (N / 1000, 0));
    assert_eq!((visits(&found, "on a lane"), visits(&found, "a state")), ((0, 10), (0, 10)));
    // Those that were kept, with those around them.
    assert_eq!((found.enters, found.leaves), (1 + 2 * N / 1000, 1 + 2 * N / 1000));
    assert_eq!((found.open, found.late, found.dropped), (0, 0, 0));
}

#[test]
fn rules_change_while_the_program_runs() {
    const TEST: &str = "rules_change_while_the_program_runs";
    const N: u64 = 1000;
    if let Some(directory) = spool_of(TEST) {
        start(&directory, "");
        region!("around");
        assert!(!set_detail(Detail::Off, " "));
        for detail in [Detail::Trace, Detail::Count, Detail::Off, Detail::Time, Detail::Trace] {
            assert!(set_detail(detail, "chang*"));
            for _ in 0..N {
                region!("changing");
            }
        }
        return;
    }
    let found = Spool::read(child(TEST).path()).checked();
    assert_eq!(visits(&found, "changing"), (3 * N, N));
    assert_eq!((found.enters, found.cells), (1 + 2 * N, 2));
    assert_eq!((found.open, found.dropped), (0, 0));
}

/// The program says after each visit how many it has made; what it left has as many, or one more.
#[test]
fn a_process_that_is_killed_has_left_all_visits() {
    const TEST: &str = "a_process_that_is_killed_has_left_all_visits";
    if let Some(directory) = spool_of(TEST) {
        start(&directory, "time timed\ncount counted");
        let tell = tell(&directory);
        for n in 1_u64.. {
            {
                region!("timed");
                region!("counted");
            }
            if n % 3 == 0 {
                region!("timed");
                region!("kept");
            }
            tell(n);
        }
    }
    for round in 0..30 {
        let (made, found) = killed(TEST, 100 + 777 * round);
        let kept = made / 3;
        let near = |number: u64, least: u64| (least..=least + 1).contains(&number);
        assert!(near(visits(&found, "counted").1, made), "{made}, {found:?}");
        assert!(near(visits(&found, "kept").0, kept), "{made}, {found:?}");
        assert!((made + kept..=made + kept + 2).contains(&visits(&found, "timed").0), "{made}, {found:?}");
    }
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(number: i32) {
    let visit = HANDLED.fetch_add(1, Ordering::Relaxed);
    region!("timed in a handler");
    region!("counted in a handler");
    if number == libc::SIGUSR1 && visit.is_multiple_of(2) {
        region!("kept in a handler");
    }
}

#[test]
fn handlers_that_come_at_any_time_are_there_with_all_they_do() {
    const TEST: &str = "handlers_that_come_at_any_time_are_there_with_all_they_do";
    if let Some(directory) = spool_of(TEST) {
        start(&directory, "time timed*\ncount counted*");
        return signalled(&directory, handler, &HANDLED, || {
            for _ in 0..100 {
                region!("timed");
                for _ in 0..3 {
                    region!("counted");
                    region!("timed inside");
                }
            }
            region!("timed");
            region!("kept");
        });
    }
    let directory = child(TEST);
    let (rounds, handled) = worked(directory.path());
    let found = Spool::read(directory.path()).checked();
    assert!(0 < found.second, "no handler came amid a record");
    let all = |name: &str| visits(&found, name).0 + visits(&found, name).1;
    assert_eq!((all("timed"), all("kept")), (101 * rounds, rounds));
    assert_eq!((all("counted"), all("timed inside")), (300 * rounds, 300 * rounds));
    // What interrupts one that has interrupted a record itself is dropped, and counted.
    let least = handled - found.dropped;
    for name in ["timed in a handler", "counted in a handler"] {
        assert!((least..=handled).contains(&all(name)), "{name}: {} of {handled}", all(name));
    }
    assert!(found.dropped < handled / 10, "{} of {handled}", found.dropped);
    assert_eq!((found.open, found.late), (0, 0));
}
