//! Real programs with one inefficiency each, or with none, that measure their own truth.
//!
//! The one idea: what a program waits for, who is to blame and for how long follows from the definitions in
//! `docs/wait-states.md` and from the program's own clock, and from nothing that marey does. Here each program is run
//! alone, which shows that it does what its case says; what a recording of it shows is compared with the same truth by
//! whoever puts `marey record` before its command line ([`Built::run`]).
//!
//! A machine that is busy with other things delays programs as it likes. So a case may be run several times: what it is
//! meant to do it must have done once, and what it is not meant to do it must not do every time.
//!
//! `MAREY_TRUTH_ONLY=late_sender` runs the cases whose names contain that; the figures are printed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod build;
mod cases;
mod judge;
mod measured;
mod noise;
mod recorded;
mod situations;

use build::{Built, Tools};
use cases::Source;

/// A wait that comes from the machine and not from the program is not there in one of so many runs.
const MOST_RUNS: usize = 12;

/// Runs all cases of `source`, built by each of `tools`: one MPI will do, since nothing of ours is in them, and those that are
/// recorded have to do it with each.
fn each_does_what_it_says(source: Source, tools: &[Tools]) {
    let only = std::env::var("MAREY_TRUTH_ONLY").unwrap_or_default();
    let mut failed = Vec::new();
    for &tools in tools {
        let Some(built) = Built::new(source, tools) else { continue };
        for case in cases::of(source).iter().filter(|case| case.name.contains(&only)) {
            let mut truths = Vec::new();
            let verdict = loop {
                let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
                truths.push(built.run(case, &[], place.path()));
                let verdict = judge::judge(case, &truths);
                match verdict {
                    Err(why) if truths.len() < MOST_RUNS => {
                        eprintln!("{tools:?} {}, again: {why}", case.name)
                    }
                    verdict => break verdict,
                }
            };
            let figures = judge::figures(case, truths.last().unwrap());
            eprintln!("{tools:?} {} (run {}): {figures}", case.name, truths.len());
            if let Err(wrong) = verdict {
                failed.push(format!("{tools:?} {}: {wrong}", case.name));
            }
        }
    }
    assert!(failed.is_empty(), "{} cases are not as they should be:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn mpi_alone_programs_with_messages_do_what_they_say() {
    each_does_what_it_says(Source::Messages, &[Tools::OpenMpi]);
}

#[test]
fn mpi_alone_programs_with_collectives_do_what_they_say() {
    each_does_what_it_says(Source::Collectives, &[Tools::OpenMpi]);
}

#[test]
fn mpi_alone_programs_with_polls_do_what_they_say() {
    each_does_what_it_says(Source::Polls, &[Tools::OpenMpi]);
}

#[test]
fn mpi_alone_programs_with_windows_do_what_they_say() {
    each_does_what_it_says(Source::Windows, &[Tools::OpenMpi]);
}

#[test]
fn mpi_alone_programs_with_skew_do_what_they_say() {
    each_does_what_it_says(Source::Skew, &[Tools::OpenMpi]);
}

#[test]
fn alone_programs_with_threads_of_c_do_what_they_say() {
    each_does_what_it_says(Source::Threads, &[Tools::C]);
}

#[test]
fn alone_programs_with_threads_of_rust_do_what_they_say() {
    each_does_what_it_says(Source::RustThreads, &[Tools::Rust]);
}

/// Records all cases of `source`, built by each of `tools`.
fn each_is_told_right(source: Source, tools: &[Tools]) {
    let only = std::env::var("MAREY_TRUTH_ONLY").unwrap_or_default();
    let mut failed = Vec::new();
    for &tools in tools {
        let Some(built) = Built::new(source, tools) else { continue };
        for case in cases::of(source).iter().filter(|case| case.name.contains(&only)) {
            let mut runs = 0;
            let verdict = loop {
                let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
                runs += 1;
                match recorded::judge(&built, case, place.path()) {
                    Err(why) if runs < MOST_RUNS => eprintln!("{tools:?} {}, again: {why}", case.name),
                    verdict => break verdict,
                }
            };
            eprintln!("{tools:?} {} recorded (run {runs})", case.name);
            if let Err(wrong) = verdict {
                failed.push(format!("{tools:?} {}: {wrong}", case.name));
            }
        }
    }
    assert!(failed.is_empty(), "{} cases are not told right:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn mpi_alone_waits_for_messages_are_told_right() {
    each_is_told_right(Source::Messages, &[Tools::OpenMpi, Tools::Mpich]);
}

#[test]
fn mpi_alone_waits_in_collectives_are_told_right() {
    each_is_told_right(Source::Collectives, &[Tools::OpenMpi, Tools::Mpich]);
}

#[test]
fn mpi_alone_waits_in_polls_and_set_up_are_told_right() {
    each_is_told_right(Source::Polls, &[Tools::OpenMpi, Tools::Mpich]);
}

#[test]
fn mpi_alone_waits_for_windows_are_told_right() {
    each_is_told_right(Source::Windows, &[Tools::OpenMpi, Tools::Mpich]);
}

#[test]
fn mpi_alone_waits_of_those_who_come_and_go_are_told_right() {
    each_is_told_right(Source::Skew, &[Tools::OpenMpi, Tools::Mpich]);
}

#[test]
fn alone_waits_of_threads_of_c_are_told_right() {
    each_is_told_right(Source::Threads, &[Tools::C]);
}

#[test]
fn alone_waits_of_threads_of_rust_are_told_right() {
    each_is_told_right(Source::RustThreads, &[Tools::Rust]);
}

#[test]
fn names_of_cases_are_those_of_the_programs() {
    for source in Source::ALL {
        let text = std::fs::read_to_string(build::programs().join(source.file())).unwrap();
        let quoted = |name: &str| match source {
            Source::RustThreads => format!("\n        \"{name}\" => "),
            _ => format!("CASE({name})"),
        };
        let cases = cases::of(source);
        for case in &cases {
            assert!(text.contains(&quoted(case.name)), "{} has no {}", source.file(), case.name);
        }
        let mark = if source == Source::RustThreads { "\n        \"" } else { "CASE(" };
        assert_eq!(text.matches(mark).count(), cases.len(), "{}", source.file());
    }
}
