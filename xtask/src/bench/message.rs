//! What a recorder adds to a message between two ranks.
//!
//! The one idea: two ranks play ping-pong with 8 bytes, where what is added weighs most; the same
//! program runs plain and under each recorder. Bandwidth is not measured here.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::table::{Table, median, with_range};
use super::{MPI_ENVIRONMENT, Plan, Section};
use crate::shell::which;
use anyhow::{Result, bail};

const TEXT: &str = "\
Two ranks on one machine send each other messages of 8 bytes; elapsed time for one message, that is one \
send and one receive, in ns.
*Added* is the difference to the plain program in the same round; *depth* is the number of frames of the \
call stack that marey keeps at each call site; *without models* is with full stacks, and without OpenMP, Kokkos and coarrays, which the program does \
not use; *without adapters* also without the arrays that buffers lie in.";

const TIME: &str = "ns_per_message";
const PLAIN: &str = "message plain";
const SHALLOW: &str = "message depth 1";
const DEEP: &str = "message full stacks";
/// Without what is recorded of other models, which the program does not use.
const MODELLESS: &str = "message without models";
/// The same without what is recorded of buffers.
const BARE: &str = "message without adapters";
const EZTRACE: &str = "message eztrace";

const WITHOUT: [&str; 8] = ["--openmp", "off", "--kokkos", "off", "--coarrays", "off", "--buffers", "off"];
/// Most that what the program does not use may add to a message, ns: what repeated runs of one recorder differ by.
const NOISE_NS: f64 = 10.0;

/// Measures the plain program and every recorder that is here.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["case", "ns/message", "added", "bytes/message"]);
    let mut absent = Vec::new();
    let wanted = |name: &str| plan.wants(name);
    if [SHALLOW, DEEP, MODELLESS, BARE, EZTRACE].into_iter().any(wanted) {
        match cases(plan, tools) {
            Ok(cases) => absent = turns(plan, &cases, &mut table, goals),
            Err(error) => absent.push(format!("messages: {error:#}")),
        }
    }
    Ok(Section { title: "Messages", text: TEXT, table, absent })
}

/// Fills the table; returns what could not be measured.
fn turns(plan: &Plan, cases: &[Case], table: &mut Table, goals: &mut Goals) -> Vec<String> {
    let results = rotate(plan, cases);
    let plain = match &results[0] {
        Ok(plain) => plain,
        Err(error) => return vec![error.clone()],
    };
    let mut absent = Vec::new();
    for (case, result) in cases.iter().zip(&results) {
        match result {
            Ok(samples) => {
                table.push(row(&case.name, samples, plain));
                judge(&case.name, samples, plain, goals);
            }
            Err(error) => absent.push(error.clone()),
        }
    }
    let of = |name: &str| {
        let at = cases.iter().position(|case| case.name == name)?;
        results.get(at)?.as_ref().ok()
    };
    if let (Some(all), Some(modelless)) = (of(DEEP), of(MODELLESS)) {
        let unit = "ns/message added by what it does not use";
        goals.add(DEEP, unit, all.added(TIME, modelless), Target::AtMost(NOISE_NS));
    }
    absent
}

fn judge(name: &str, samples: &Samples, plain: &Samples, goals: &mut Goals) {
    let (target, size) = match name {
        SHALLOW => (Target::AtMost(60.0), Target::AtMost(20.0)),
        DEEP => (Target::AtMost(150.0), Target::AtMost(20.0)),
        MODELLESS | BARE | EZTRACE => (Target::Open, Target::Open),
        _ => return,
    };
    goals.add(name, "ns/message added", samples.added(TIME, plain), target);
    goals.add(name, "bytes/message in the spool", samples.per("output_bytes", "messages"), size);
}

fn row(name: &str, samples: &Samples, plain: &Samples) -> Vec<String> {
    vec![
        name.to_owned(),
        with_range(samples.summary(TIME)),
        with_range(samples.added(TIME, plain)),
        median(samples.per("output_bytes", "messages"), 1),
    ]
}

/// The command line of the ping-pong with that many messages.
pub(super) fn ping_pong(messages: u64) -> Result<String> {
    if which("mpirun.openmpi").is_none() {
        bail!("there is no mpirun.openmpi");
    }
    let program = build::compile("mpicc.openmpi", "pingpong.c", "pingpong", &[])?;
    Ok(format!("mpirun.openmpi -n 2 --oversubscribe {program} {messages}"))
}

fn cases(plan: &Plan, tools: &Tools) -> Result<Vec<Case>> {
    let plain = ping_pong(plan.messages)?;
    let case = |name: &str, before: Vec<String>, line: &str| {
        let words = before.into_iter().chain(line.split(' ').map(str::to_owned)).collect();
        Case { environment: MPI_ENVIRONMENT.to_vec(), ..Case::new(name, words) }
    };
    // The wrapper of eztrace stands right before the program, marey's before the launcher.
    let traced = plain.replacen("--oversubscribe ", "--oversubscribe eztrace -o {output} -t openmpi ", 1);
    let mut cases = vec![
        case(PLAIN, Vec::new(), &plain),
        case(SHALLOW, tools.record(&["--depth", "1"]), &plain),
        case(DEEP, tools.record(&[]), &plain),
        case(MODELLESS, tools.record(&WITHOUT[..6]), &plain),
        case(BARE, tools.record(&WITHOUT), &plain),
        case(EZTRACE, Vec::new(), &traced),
    ];
    cases.retain(|case| case.name == PLAIN || plan.wants(&case.name));
    Ok(cases)
}
