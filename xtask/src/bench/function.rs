//! What a call of a function costs in a program compiled with `-finstrument-functions`, recorded and not.
//!
//! The one idea: the same calls are made without instrumentation, with the least that the two functions which are
//! called could do, and recorded by everybody; what calls themselves cost is taken off within each round.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::table::{Table, median, with_range};
use super::{Plan, Section};
use crate::shell::which;
use anyhow::Result;

const TEXT: &str = "\
Processor time of the calling thread for one call of a function, in ns: 25 functions that call one of 25 others, \
which do nothing.
*Added* is the difference to the same calls without instrumentation, in the same round. F is two readings of the \
time-stamp counter and two stores of 16 bytes, here made by the two functions that the program calls; × F is the \
median of the ratios of what is added.
*Left out* is `marey record` with a rule that leaves these functions out. With counters (`--counters`) each is read \
twice a call: by `getrusage`, by `clock_gettime`, and from the descriptor of an event.";

const TIME: &str = "ns_per_pair";
const PLAIN: &str = "function calls alone";
const FLOOR: &str = "function F";
const IDLE: &str = "function, not recorded";
const RECORDED: &str = "function marey";
const LEFT_OUT: &str = "function marey, left out";
const SUMMED: &str = "function marey, profile";
const UFTRACE: &str = "function uftrace";
/// One counter, by each way of reading that needs no processor with counters.
const COUNTED: [(&str, &str); 3] = [
    ("function marey, page-faults", "page-faults"),
    ("function marey, task-clock", "task-clock"),
    ("function marey, cpu-migrations", "cpu-migrations"),
];

/// Measures all of them that are here.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["case", "ns/call", "added", "× F", "bytes/call"]);
    let mut absent = Vec::new();
    let all = [IDLE, RECORDED, LEFT_OUT, SUMMED, UFTRACE].into_iter();
    if all.chain(COUNTED.map(|(name, _)| name)).any(|name| plan.wants(name)) {
        let cases = cases(plan, tools)?;
        let results = rotate(plan, &cases);
        let found = |name: &str| {
            let mut measured = cases.iter().zip(&results);
            measured.find_map(|(case, result)| result.as_ref().ok().filter(|_| case.name == name))
        };
        if let (Some(plain), Some(floor)) = (found(PLAIN), found(FLOOR)) {
            for case in &cases {
                if let Some(samples) = found(&case.name) {
                    table.push(row(&case.name, samples, plain, floor));
                    judge(&case.name, samples, plain, goals);
                }
            }
        }
        absent.extend(results.into_iter().filter_map(Result::err));
        if plan.wants(UFTRACE) && which("uftrace").is_none() {
            absent.push(format!("{UFTRACE}: there is no uftrace"));
        }
    }
    Ok(Section { title: "Instrumented functions", text: TEXT, table, absent })
}

fn judge(name: &str, samples: &Samples, plain: &Samples, goals: &mut Goals) {
    if [RECORDED, LEFT_OUT, UFTRACE].contains(&name) {
        goals.add(name, "ns/call added", samples.added(TIME, plain), Target::Open);
    }
}

fn row(name: &str, samples: &Samples, plain: &Samples, floor: &Samples) -> Vec<String> {
    let added = |samples: &Samples| {
        let mut added = Samples::default();
        for (with, without) in samples.values(TIME).iter().zip(plain.values(TIME)) {
            added.push(TIME, with - without);
        }
        added
    };
    vec![
        name.to_owned(),
        with_range(samples.summary(TIME)),
        with_range(samples.added(TIME, plain)),
        median(added(samples).ratio(TIME, &added(floor)), 2),
        median(samples.per("output_bytes", "executed"), 1),
    ]
}

fn cases(plan: &Plan, tools: &Tools) -> Result<Vec<Case>> {
    let compile = |program: &str, words: &[&str]| build::compile("gcc", "functions.c", program, words);
    let plain = compile("functions-plain", &[])?;
    let floor = compile("functions-floor", &["-finstrument-functions", "-DFLOOR"])?;
    let program = compile("functions", &["-finstrument-functions"])?;
    let case = |name: &str, mut words: Vec<String>, program: &str, pairs: u64| {
        words.extend([program.to_owned(), pairs.to_string(), "1".to_owned(), "{output}".to_owned()]);
        Case::new(name, words)
    };
    let pairs = plan.pairs;
    let uftrace = ["uftrace", "record", "--no-libcall", "-d", "{output}/uftrace"].map(str::to_owned).to_vec();
    let mut cases = vec![
        case(PLAIN, Vec::new(), &plain, pairs),
        case(FLOOR, Vec::new(), &floor, pairs),
        case(IDLE, Vec::new(), &program, pairs),
        case(RECORDED, tools.record(&[]), &program, pairs),
        case(LEFT_OUT, tools.record(&["--rule", "off outer_*", "--rule", "off inner_*"]), &program, pairs),
        case(SUMMED, tools.record(&["--mode", "profile"]), &program, pairs),
    ];
    for (name, counter) in COUNTED {
        cases.push(case(name, tools.record(&["--counters", counter]), &program, pairs / 16));
    }
    if which("uftrace").is_some() {
        // Sixteen bytes for each event, and it is slower.
        cases.push(case(UFTRACE, uftrace, &program, pairs / 4));
    }
    cases.retain(|case| [PLAIN, FLOOR].contains(&case.name.as_str()) || plan.wants(&case.name));
    Ok(cases)
}
