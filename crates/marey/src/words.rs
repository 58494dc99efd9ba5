//! What things of a run are called in text: locations, regions, functions, places in the source.
//!
//! The one idea: names come from the measured program, so all of them pass through here on their
//! way to a terminal and are made harmless and short on the way.

use marey_analyze::Trace;
pub(crate) use marey_analyze::{caller, is_of_library, without_parameters};
use marey_model::{LocationId, ProcessId, RECORDER_FILE, RegionId};

use crate::paint::harmless;

/// `rank 3`, `rank 3 thread 1`, `process 2`.
pub(crate) fn location(trace: &dyn Trace, id: LocationId) -> String {
    let Some(location) = trace.locations().get(id.idx()) else { return "(unknown)".to_owned() };
    let place = process(trace, location.process);
    match location.kind {
        marey_analyze::LocationKind::Lane | marey_analyze::LocationKind::Handlers => {
            format!("{place} {}", harmless(&location.name))
        }
        marey_analyze::LocationKind::Thread if location.thread.0 == 0 => place,
        marey_analyze::LocationKind::Thread => format!("{place} thread {}", location.thread.0),
    }
}

/// `rank 3`, `world 1 rank 0`, `process 2`.
pub(crate) fn process(trace: &dyn Trace, id: ProcessId) -> String {
    match trace.processes().get(id.idx()).map(|process| (process.rank, process.world)) {
        Some((Some(rank), 0)) => format!("rank {rank}"),
        Some((Some(rank), world)) => format!("world {world} rank {rank}"),
        _ => format!("process {}", id.0),
    }
}

/// The same where space is dear: `3`, `w1:0`, `p2`.
pub(crate) fn process_short(trace: &dyn Trace, id: ProcessId) -> String {
    match trace.processes().get(id.idx()).map(|process| (process.rank, process.world)) {
        Some((Some(rank), 0)) => rank.to_string(),
        Some((Some(rank), world)) => format!("w{world}:{rank}"),
        _ => format!("p{}", id.0),
    }
}

/// What a region is called: the noun of a region that is work of the program, else the verb,
/// which for MPI is the name of the function.
pub(crate) fn region(trace: &dyn Trace, id: RegionId) -> String {
    trace.regions().get(id.idx()).map_or_else(|| "(unknown region)".to_owned(), |r| harmless(r.name()))
}

/// How a process ended, with its exit status if that says something.
pub(crate) fn outcome(outcome: &str, exit_code: Option<i64>) -> String {
    let outcome = harmless(outcome);
    match exit_code {
        Some(code) if outcome.starts_with("exited") && code != 0 => format!("{outcome} with status {code}"),
        Some(code) if outcome.starts_with("aborted") => format!("{outcome} with error code {code}"),
        // Whoever is killed cannot say so: that it did not say anything else is all there is.
        None if is_without_notice(&outcome) => "killed or exec?".to_owned(),
        _ => outcome,
    }
}

/// Whether a process ended without saying so.
pub(crate) fn is_without_notice(outcome: &str) -> bool {
    outcome.starts_with("ended without notice")
}

/// The main program of Fortran, which has no name that its author would know.
pub(crate) const FORTRAN_MAIN: &str = "main program";

/// A function without its parameters: `ns::f<int>(int, char)` becomes `ns::f<int>`.
pub(crate) fn function(name: &str) -> String {
    match name {
        RECORDER_FILE => return "(the recorder)".to_owned(),
        "" => return "(unknown function)".to_owned(),
        // What gfortran calls it, with and without the underscore that it appends to all names.
        "MAIN_" | "MAIN__" => return FORTRAN_MAIN.to_owned(),
        _ => {}
    }
    harmless(without_parameters(name))
}

/// Functions of the C library and of language runtimes that call a program's or thread's first.
pub(crate) fn is_startup(function: &str) -> bool {
    const NAMES: [&str; 5] = ["_start", "start_thread", "clone", "clone3", "__clone3"];
    const PARTS: [&str; 2] = ["__libc_start_", "__rust_begin_short_backtrace"];
    NAMES.contains(&function) || PARTS.iter().any(|part| function.contains(part))
}

/// File and line: `solver.c:12`; the directory is left out.
pub(crate) fn place(file: &str, line: u32) -> String {
    let name = harmless(file.rsplit('/').next().unwrap_or(file));
    match (name.is_empty(), line) {
        (true, _) => String::new(),
        (false, 0) => name,
        (false, line) => format!("{name}:{line}"),
    }
}

/// Where a function is, or what level a call is of: `solver.c`, `(mpi)`.
pub(crate) fn file_or_level(file: &str, level: Option<&str>) -> String {
    level.map_or_else(|| place(file, 0), |level| format!("({})", harmless(level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_lose_their_parameters_only() {
        let cases = [
            ("main", "main"),
            ("ns::f<int>(int, char (*)(int))", "ns::f<int>"),
            ("A::b() const", "A::b"),
            ("(anonymous namespace)::f", "(anonymous namespace)::f"),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
            ("A::operator()(int) const", "A::operator()"),
            ("f(int)::{lambda()#1}::g", "f(int)::{lambda()#1}::g"),
            ("scope<main::{closure#2}, ()>", "scope<main::{closure#2}, ()>"),
            ("bad)name", "bad)name"),
            ("MAIN__", FORTRAN_MAIN),
            ("", "(unknown function)"),
        ];
        for (name, expected) in cases {
            assert_eq!(function(name), expected, "{name}");
        }
    }

    #[test]
    fn endings_are_told_with_their_status_where_it_says_something() {
        let cases = [
            ("finished", Some(0), "finished"),
            ("exited", Some(3), "exited with status 3"),
            ("exited", None, "exited"),
            ("exited at once (_exit)", Some(0), "exited at once (_exit)"),
            ("aborted", None, "aborted"),
            ("aborted (MPI_Abort)", Some(0), "aborted (MPI_Abort) with error code 0"),
            ("ended without notice (killed, or went on as another program)", None, "killed or exec?"),
        ];
        for (word, code, expected) in cases {
            assert_eq!(outcome(word, code), expected);
        }
    }

    #[test]
    fn places_leave_out_what_is_unknown() {
        for (file, line, expected) in [("/a/b.c", 3, "b.c:3"), ("b.c", 0, "b.c"), ("", 3, ""), ("/a/", 3, "")]
        {
            assert_eq!(place(file, line), expected);
        }
    }
}
