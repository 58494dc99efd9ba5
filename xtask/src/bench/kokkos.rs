//! What a call of Kokkos costs, recorded and not.
//!
//! The one idea: calls with next to nothing in them are made by the hundred thousand, alone, recorded and left out.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::table::{Table, with_range};
use super::{Plan, Section};
use anyhow::Result;

const TEXT: &str = "\
Time of one call with next to nothing in it, in ns, of a program with Debian's Kokkos (3.4, serial), alone and recorded; \
*added* is the difference in the same round. A View is made and given back, and a kernel in between sets it to zero.
*Left out* is `marey record --kokkos off`.";

const ALONE: &str = "kokkos alone";
const RECORDED: &str = "kokkos marey";
const LEFT_OUT: &str = "kokkos marey, left out";

/// Calls by what the program prints of them.
const CALLS: [(&str, &str); 4] = [
    ("kernel_ns", "kernel"),
    ("copy_ns", "deep_copy"),
    ("view_ns", "View"),
    ("region_ns", "region of Kokkos"),
];

/// Measures all of them.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["call", "alone", "recorded", "added", "added, left out"]);
    let mut absent = Vec::new();
    if [RECORDED, LEFT_OUT].into_iter().any(|name| plan.wants(name)) {
        match cases(plan, tools) {
            Ok(cases) => compare(plan, &cases, &mut table, &mut absent, goals),
            Err(reason) => absent.push(format!("kokkos: {reason:#}")),
        }
    }
    Ok(Section { title: "Calls of Kokkos", text: TEXT, table, absent })
}

fn compare(plan: &Plan, cases: &[Case], table: &mut Table, absent: &mut Vec<String>, goals: &mut Goals) {
    let mut measured: Vec<Samples> = Vec::new();
    for result in rotate(plan, cases) {
        match result {
            Ok(samples) => measured.push(samples),
            Err(reason) => absent.push(reason),
        }
    }
    if let [alone, recorded, left_out] = measured.as_slice() {
        for (figure, call) in CALLS {
            table.push(vec![
                call.to_owned(),
                with_range(alone.summary(figure)),
                with_range(recorded.summary(figure)),
                with_range(recorded.added(figure, alone)),
                with_range(left_out.added(figure, alone)),
            ]);
            goals.add(call, "ns/call added", recorded.added(figure, alone), Target::Open);
        }
    }
}

fn cases(plan: &Plan, tools: &Tools) -> Result<Vec<Case>> {
    let words = ["-std=c++17", "-isystem", "/usr/include/trilinos", "-ltrilinos_kokkoscore"];
    let program = build::compile("g++", "kokkos.cpp", "kokkos", &words)?;
    let case = |name: &str, mut words: Vec<String>| {
        words.extend([program.clone(), (plan.pairs / 100).to_string()]);
        Case::new(name, words)
    };
    Ok(vec![
        case(ALONE, Vec::new()),
        case(RECORDED, tools.record(&[])),
        case(LEFT_OUT, tools.record(&["--kokkos", "off"])),
    ])
}
