//! Odd programs: whatever a process may do that recorders trip over, started again and again with other
//! numbers. A recorded start must print, return and count what the program does alone, and what is missing
//! in its run must be told there.
//!
//! The one idea: every start follows from one seed, so that one that fails can be started again:
//! `MAREY_ODD_DRAWN=N MAREY_ODD_STARTS=1 MAREY_ODD_ONLY=fork.c/raw cargo test -p marey --test odd`, with the
//! number that the test printed.
//! `cargo xtask soak --only odd` starts a thousand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod build;
mod cases;
mod start;
mod truth;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cases::Case;

/// A number from the environment.
fn number(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

/// Numbers that follow from a seed.
fn next(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state
}

/// One start: a case and what follows from its seed.
struct Start {
    case: Case,
    drawn: u32,
    options: &'static [&'static str],
}

/// Of each way that counters are read one.
const COUNTERS: &str = "page-faults,task-clock,cpu-migrations,cycles";

/// The starts that are asked for: in rotation, or each case once.
fn starts(cases: Vec<Case>, seed: u32) -> Vec<Start> {
    let only = std::env::var("MAREY_ODD_ONLY").unwrap_or_default();
    let starts = number("MAREY_ODD_STARTS");
    let is_meant = |case: &Case| {
        format!("{}/{}", case.source, case.name).contains(&only) && (starts.is_some() || !case.is_long)
    };
    let cases: Vec<Case> = cases.into_iter().filter(is_meant).collect();
    let all = starts.map_or(cases.len(), |starts| starts as usize);
    let drawn = number("MAREY_ODD_DRAWN");
    let one = |(count, case): (usize, &Case)| {
        let mut state = seed.wrapping_add(u32::try_from(count).unwrap().wrapping_mul(0x9e37_79b9)) | 1;
        let own = next(&mut state) % 1_000_000;
        let options: &[&str] = match next(&mut state) % 8 {
            0 => &["--max-mb", "1"],
            1 => &["--mode", "profile"],
            2 | 3 => &["--sample", "1000"],
            4 => &["--sample", "1000", "--mode", "profile"],
            5 => &["--sample", "1000", "--counters", COUNTERS],
            6 => &["--sample", "off", "--counters", COUNTERS],
            _ => &["--sample", "off"],
        };
        let options = if case.options.is_empty() { options } else { case.options };
        Start { case: *case, drawn: drawn.unwrap_or(own), options }
    };
    cases.iter().cycle().take(if cases.is_empty() { 0 } else { all }).enumerate().map(one).collect()
}

/// Starts the cases, `at_once` at a time.
fn rotate(cases: Vec<Case>, at_once: usize) {
    let seed = number("MAREY_ODD_SEED").unwrap_or(1);
    let starts = starts(cases, seed);
    let (next, done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(Start { case, drawn, options }) = starts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(built) = build::build(case) else { continue };
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            if count.is_multiple_of(100) {
                eprintln!("{count} starts");
            }
            if let Err(wrong) = start::start(case, built, *drawn, options) {
                let Case { kind, source, name, words, .. } = case;
                let name = format!("{kind:?} {source}/{name} {words:?} {drawn} {options:?}");
                eprintln!("start of {name}: {wrong}");
                failed.lock().unwrap().push(name);
            }
        }
    };
    std::thread::scope(|scope| (0..at_once).for_each(|_| _ = scope.spawn(work)));
    eprintln!("{} starts from seed {seed}", done.into_inner());
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} starts failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn odd_programs_end_as_they_do_alone() {
    rotate(cases::all(), 2);
}

#[test]
fn mpi_odd_programs_end_as_they_do_alone() {
    rotate(cases::with_ranks(), 1);
}
