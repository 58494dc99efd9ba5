//! What a call of the C library costs, on files and of the system, recorded and not.
//!
//! The one idea: calls that return at once are made by the million, alone and recorded; what the kernel takes for them
//! is taken off within each round.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::table::{Table, with_range};
use super::{Plan, Section};
use anyhow::Result;

const TEXT: &str = "\
Processor time of the calling thread for one call that returns at once, in ns, alone and recorded; *added* is the \
difference in the same round.
*Asked* is a call whose arguments say that it will not wait, and that finds nothing: such calls become one record.
*Left out* is `marey record --files off --system off`.";

const ALONE: &str = "calls alone";
const RECORDED: &str = "calls marey";
const SUMMED: &str = "calls marey, profile";
const LEFT_OUT: &str = "calls marey, left out";

/// Calls by what the program prints of them.
const CALLS: [(&str, &str); 5] = [
    ("poll_ns", "poll"),
    ("asked_ns", "recv, asked"),
    ("send_ns", "send and recv"),
    ("read_ns", "read"),
    ("fwrite_ns", "fwrite"),
];

/// Measures all of them.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["call", "alone", "recorded", "added", "added, profile", "added, left out"]);
    let mut absent = Vec::new();
    if [RECORDED, SUMMED, LEFT_OUT].into_iter().any(|name| plan.wants(name)) {
        let results = rotate(plan, &cases(plan, tools)?);
        let mut measured: Vec<Samples> = Vec::new();
        for result in results {
            match result {
                Ok(samples) => measured.push(samples),
                Err(reason) => absent.push(reason),
            }
        }
        if let [alone, recorded, summed, left_out] = measured.as_slice() {
            for (figure, call) in CALLS {
                table.push(vec![
                    call.to_owned(),
                    with_range(alone.summary(figure)),
                    with_range(recorded.summary(figure)),
                    with_range(recorded.added(figure, alone)),
                    with_range(summed.added(figure, alone)),
                    with_range(left_out.added(figure, alone)),
                ]);
                goals.add(call, "ns/call added", recorded.added(figure, alone), Target::Open);
            }
        }
    }
    Ok(Section { title: "Calls of the C library", text: TEXT, table, absent })
}

fn cases(plan: &Plan, tools: &Tools) -> Result<Vec<Case>> {
    let program = build::compile("gcc", "calls.c", "calls", &[])?;
    let case = |name: &str, mut words: Vec<String>| {
        words.extend([program.clone(), (plan.pairs / 10).to_string()]);
        Case::new(name, words)
    };
    Ok(vec![
        case(ALONE, Vec::new()),
        case(RECORDED, tools.record(&[])),
        case(SUMMED, tools.record(&["--mode", "profile"])),
        case(LEFT_OUT, tools.record(&["--files", "off", "--system", "off"])),
    ])
}
