//! What a recorder adds to a message between two ranks.

use super::sample::{Case, Samples, rotate};
use super::table::{Table, with_range};
use super::{Plan, Section, build};
use crate::shell::which;
use anyhow::{Result, bail};

const TEXT: &str = "\
Two ranks on one machine send each other messages of 8 bytes; elapsed time for one message, that is one \
send and one receive, in ns.
*Added* is the difference to the plain program in the same round.";

const ENVIRONMENT: [(&str, &str); 2] =
    [("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")];

/// Measures the plain program and every recorder that is here.
pub(super) fn measure(plan: &Plan) -> Result<Section> {
    let mut table = Table::new(&["case", "ns/message", "added", "bytes/message"]);
    let mut absent = Vec::new();
    match cases(plan.messages) {
        Ok(cases) => {
            let results = rotate(&cases, plan.rounds)?;
            let plain =
                results[0].as_ref().map_err(|error| anyhow::anyhow!("the plain program failed: {error}"))?;
            for (case, result) in cases.iter().zip(&results) {
                match result {
                    Ok(samples) => table.push(row(&case.name, samples, plain)),
                    Err(error) => absent.push(error.clone()),
                }
            }
        }
        Err(error) => absent.push(format!("all: {error:#}")),
    }
    Ok(Section { title: "Messages", text: TEXT, table, absent })
}

fn row(name: &str, samples: &Samples, plain: &Samples) -> Vec<String> {
    const MESSAGE: &str = "ns_per_message";
    let bytes = samples.summary("output_bytes").zip(samples.summary("messages"));
    vec![
        name.to_owned(),
        with_range(samples.summary(MESSAGE)),
        with_range(samples.added(MESSAGE, plain)),
        bytes.map_or("–".into(), |(bytes, messages)| format!("{:.1}", bytes.median / messages.median)),
    ]
}

fn cases(messages: u64) -> Result<Vec<Case>> {
    if which("mpirun.openmpi").is_none() {
        bail!("there is no mpirun.openmpi");
    }
    let program = build::compile("mpicc.openmpi", "pingpong.c", "pingpong", &[])?;
    let program = format!("{program} {messages}");
    let case = |name: &str, line: String| Case {
        name: name.into(),
        words: line.split(' ').map(str::to_owned).collect(),
        environment: ENVIRONMENT.to_vec(),
    };
    let mpirun = "mpirun.openmpi -n 2 --oversubscribe";
    Ok(vec![
        case("plain", format!("{mpirun} {program}")),
        case("eztrace", format!("{mpirun} eztrace -o {{output}} -t openmpi {program}")),
    ])
}
