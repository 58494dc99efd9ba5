//! What an operation of coarrays costs, recorded and not.
//!
//! The one idea: two images do the same operation on one element by the hundred thousand, alone, recorded and left out. What
//! is left out is still recorded as the calls of MPI beneath.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::table::{Table, with_range};
use super::{MPI_ENVIRONMENT, Plan, Section};
use crate::shell::which;
use anyhow::{Result, bail};

const TEXT: &str = "\
Time of one operation on one element of 8 bytes, in ns, of a program of gfortran with OpenCoarrays on two images, alone and \
recorded; *added* is the difference in the same round. Of it the calls of MPI beneath, six of most operations, are the \
larger part: *left out* is `marey record --coarrays off`, which records those alone.";

const ALONE: &str = "coarray alone";
const RECORDED: &str = "coarray marey";
const LEFT_OUT: &str = "coarray marey, left out";

/// Operations by what the program prints of them.
const OPERATIONS: [(&str, &str); 4] = [
    ("local_ns", "get from the image itself"),
    ("get_ns", "get from the other image"),
    ("send_ns", "send to the other image"),
    ("sync_ns", "sync all"),
];

/// Measures all of them.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["operation", "alone", "recorded", "added", "added, left out"]);
    let mut absent = Vec::new();
    if [RECORDED, LEFT_OUT].into_iter().any(|name| plan.wants(name)) {
        match cases(plan, tools) {
            Ok(cases) => absent = turns(plan, &cases, &mut table, goals),
            Err(error) => absent.push(format!("coarrays: {error:#}")),
        }
    }
    Ok(Section { title: "Operations of coarrays", text: TEXT, table, absent })
}

/// Fills the table; returns what could not be measured.
fn turns(plan: &Plan, cases: &[Case], table: &mut Table, goals: &mut Goals) -> Vec<String> {
    let mut measured: Vec<Samples> = Vec::new();
    let mut absent = Vec::new();
    for result in rotate(plan, cases) {
        match result {
            Ok(samples) => measured.push(samples),
            Err(reason) => absent.push(reason),
        }
    }
    if let [alone, recorded, left_out] = measured.as_slice() {
        for (figure, operation) in OPERATIONS {
            table.push(vec![
                operation.to_owned(),
                with_range(alone.summary(figure)),
                with_range(recorded.summary(figure)),
                with_range(recorded.added(figure, alone)),
                with_range(left_out.added(figure, alone)),
            ]);
            goals.add(operation, "ns/operation added", recorded.added(figure, alone), Target::Open);
        }
    }
    absent
}

fn cases(plan: &Plan, tools: &Tools) -> Result<Vec<Case>> {
    let compiler = "mpif90.openmpi";
    if which(compiler).is_none() {
        bail!("there is no {compiler}");
    }
    let program = build::coarrays(compiler, "coarray.f90", "coarray", "caf_openmpi")?;
    let case = |name: &str, mut words: Vec<String>| {
        let program = [program.clone(), (plan.messages / 10).to_string()];
        words.extend(["mpirun.openmpi", "-n", "2", "--oversubscribe"].map(str::to_owned));
        words.extend(program);
        Case { environment: MPI_ENVIRONMENT.to_vec(), ..Case::new(name, words) }
    };
    Ok(vec![
        case(ALONE, Vec::new()),
        case(RECORDED, tools.record(&[])),
        case(LEFT_OUT, tools.record(&["--coarrays", "off"])),
    ])
}
