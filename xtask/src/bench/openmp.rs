//! What a construct of OpenMP costs, recorded and not.
//!
//! The one idea: constructs with nothing in them are made by the hundred thousand, alone, recorded and left out.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::table::{Table, with_range};
use super::{Plan, Section};
use anyhow::Result;

const TEXT: &str = "\
Time of one construct with nothing in it, in ns, of a program of gcc with libgomp, alone and recorded; *added* is the \
difference in the same round. Regions, chunks and barriers are those of two threads, and change with how these get \
processors.
*Left out* is `marey record --openmp off`.";

const ALONE: &str = "openmp alone";
const RECORDED: &str = "openmp marey";
const LEFT_OUT: &str = "openmp marey, left out";

/// Constructs by what the program prints of them.
const CONSTRUCTS: [(&str, &str); 5] = [
    ("parallel_ns", "parallel region"),
    ("chunk_ns", "chunk of a dynamic loop"),
    ("critical_ns", "critical section"),
    ("barrier_ns", "barrier"),
    ("task_ns", "task"),
];

/// Measures all of them.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["construct", "alone", "recorded", "added", "added, left out"]);
    let mut absent = Vec::new();
    if [RECORDED, LEFT_OUT].into_iter().any(|name| plan.wants(name)) {
        let mut measured: Vec<Samples> = Vec::new();
        for result in rotate(plan, &cases(plan, tools)?) {
            match result {
                Ok(samples) => measured.push(samples),
                Err(reason) => absent.push(reason),
            }
        }
        if let [alone, recorded, left_out] = measured.as_slice() {
            for (figure, construct) in CONSTRUCTS {
                table.push(vec![
                    construct.to_owned(),
                    with_range(alone.summary(figure)),
                    with_range(recorded.summary(figure)),
                    with_range(recorded.added(figure, alone)),
                    with_range(left_out.added(figure, alone)),
                ]);
                goals.add(construct, "ns/construct added", recorded.added(figure, alone), Target::Open);
            }
        }
    }
    Ok(Section { title: "Constructs of OpenMP", text: TEXT, table, absent })
}

fn cases(plan: &Plan, tools: &Tools) -> Result<Vec<Case>> {
    let program = build::compile("gcc", "openmp.c", "openmp", &["-fopenmp"])?;
    let case = |name: &str, mut words: Vec<String>| {
        words.extend([program.clone(), (plan.pairs / 100).to_string()]);
        Case::new(name, words)
    };
    Ok(vec![
        case(ALONE, Vec::new()),
        case(RECORDED, tools.record(&[])),
        case(LEFT_OUT, tools.record(&["--openmp", "off"])),
    ])
}
