//! What tasks, polls, jobs, spans and events of Rust programs cost when marey is told of them, recorded and not.
//!
//! The one idea: one program does each by the library itself and through `marey-rust`, in the same process one after the
//! other, so the difference is what marey adds.

use super::build::{Tools, rust};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::table::{Table, with_range};
use super::{Plan, Section};
use anyhow::Result;

const TEXT: &str = "\
Elapsed time of one operation, in ns: spawning a task that does nothing on a runtime of one thread and awaiting it; a \
poll of a task that is woken at once; `rayon::join` of two closures that do nothing, in a pool of one thread; a span of \
`tracing` that is made, entered, left and closed, and an event with a field, in a registry without further layers.
*Alone* is the library itself; *idle* and *recorded* are what `marey-rust` adds to that in a run without a recorder and \
under `marey record`.";

const IDLE: &str = "rust, not recorded";
const RECORDED: &str = "rust marey";
/// Operations, and what the table calls them.
const OPERATIONS: [(&str, &str); 5] = [
    ("task", "task of tokio"),
    ("poll", "poll of a task"),
    ("join", "join of rayon"),
    ("span", "span of tracing"),
    ("event", "event of tracing"),
];

/// Measures them.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["operation", "alone", "idle", "recorded"]);
    let mut absent = Vec::new();
    if [IDLE, RECORDED].iter().any(|name| plan.wants(name)) {
        let program = rust("marey-rust", "costs")?;
        let case = |name: &str, mut words: Vec<String>| {
            words.extend([program.clone(), (plan.pairs / 10).to_string()]);
            Case::new(name, words)
        };
        let cases = [case(IDLE, Vec::new()), case(RECORDED, tools.record(&[]))];
        let mut results = rotate(plan, &cases).into_iter();
        match (results.next(), results.next()) {
            (Some(Ok(idle)), Some(Ok(recorded))) => {
                for (operation, name) in OPERATIONS {
                    table.push(row(operation, name, &idle, &recorded));
                    let added = added(&idle, operation).summary(operation);
                    goals.add(&format!("{IDLE}: {name}"), "ns added", added, Target::Open);
                }
            }
            (idle, recorded) => absent.extend([idle, recorded].into_iter().flatten().filter_map(Result::err)),
        }
    }
    Ok(Section { title: "Tasks, jobs and spans of Rust", text: TEXT, table, absent })
}

/// What marey adds to an operation, in each round.
fn added(samples: &Samples, operation: &str) -> Samples {
    let values = |which: &str| samples.values(&format!("{operation}_{which}_ns"));
    let mut added = Samples::default();
    for (told, plain) in values("told").iter().zip(values("plain")) {
        added.push(operation, told - plain);
    }
    added
}

fn row(operation: &str, name: &str, idle: &Samples, recorded: &Samples) -> Vec<String> {
    vec![
        name.to_owned(),
        with_range(idle.summary(&format!("{operation}_plain_ns"))),
        with_range(added(idle, operation).summary(operation)),
        with_range(added(recorded, operation).summary(operation)),
    ]
}
