//! Programs with tasks, jobs and spans that count what they do themselves, for tests and to look at.
//!
//! The one idea: each says on its standard output, line by line, a name and a number that its own atomic counters have
//! come to, which know nothing of the recording; a test compares.
#![expect(clippy::print_stdout, reason = "a program that says what it counts")]

mod jobs;
mod mixed;
mod spans;
mod tasks;
mod truth;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |place: usize, usual: u64| arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(usual);
    match arguments.first().map(String::as_str) {
        Some("tasks") => tasks::many(number(1, 1000), number(2, 3), number(3, 200).max(1)),
        Some("endings") => tasks::endings(),
        Some("plain") => tasks::plain(number(1, 100)),
        Some("jobs") => jobs::all(number(1, 10)),
        Some("plain-jobs") => jobs::plain(),
        Some("spans") => spans::all(number(1, 20)),
        Some("combinations") => spans::combinations(number(1, 300)),
        Some("mpi") => mixed::all(number(1, 10)),
        Some("threads") => jobs::threads(),
        _ => eprintln!(
            "say which: tasks [N] [YIELDS] [AT-A-TIME], endings, plain, jobs, plain-jobs, spans, combinations, mpi, threads"
        ),
    }
}
