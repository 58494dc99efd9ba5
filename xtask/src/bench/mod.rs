//! `cargo xtask bench`: the recorder beside floors and peers, on this machine, in one run.
//!
//! The one idea: a case is a command that prints figures, one a line, name and value. All cases of
//! a section take turns, round after round, so that a disturbance hits everybody, and medians are
//! taken over the rounds. No figure from a document or another machine is ever put beside them.
//!
//! A case that cannot be built or run here is named with its reason and left out of the table.

mod build;
mod message;
mod pair;
mod sample;
mod table;

use crate::setup;
use crate::shell::{output, root};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::process::Command;

/// How much to measure.
pub(crate) struct Plan {
    /// How often every case has its turn.
    pub rounds: usize,
    /// Enter+leave pairs of one thread in one turn.
    pub pairs: u64,
    /// Messages of one turn.
    pub messages: u64,
    /// Where the tables go, apart from the screen.
    pub document: Option<&'static str>,
}

/// What the published figures are made with: long enough that start-up vanishes.
pub(crate) const FULL: Plan =
    Plan { rounds: 9, pairs: 10_000_000, messages: 1_000_000, document: Some("docs/benchmarks.md") };

/// Enough to see that everything runs.
pub(crate) const QUICK: Plan = Plan { rounds: 2, pairs: 1_000_000, messages: 100_000, document: None };

/// One table with what it means.
struct Section {
    title: &'static str,
    text: &'static str,
    table: table::Table,
    /// Cases that could not be measured, and why.
    absent: Vec<String>,
}

/// Builds, measures, prints, writes.
pub(crate) fn run(plan: &Plan) -> Result<()> {
    setup::debian_packages(setup::BENCH_PACKAGES);
    let sections = [pair::measure(plan)?, message::measure(plan)?];
    let text = document(plan, &sections);
    println!("\n{text}");
    if let Some(path) = plan.document {
        std::fs::write(root().join(path), &text).with_context(|| format!("cannot write {path}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

fn document(plan: &Plan, sections: &[Section]) -> String {
    let mut text = format!(
        "# Benchmarks\n\nWritten by `cargo xtask bench`, all cases of a table in one run.\n\
         Figures are medians over {} rounds, with [least–greatest]; cases take turns in every round.\n\n{}\n",
        plan.rounds,
        machine()
    );
    for section in sections {
        let Section { title, text: intro, table, absent } = section;
        write!(text, "\n## {title}\n\n{intro}\n\n{}", table.markdown())
            .expect("writing to a string cannot fail");
        for reason in absent {
            write!(text, "\nNot measured: {reason}").expect("writing to a string cannot fail");
        }
    }
    format!("{}\n", text.trim_end())
}

/// What the figures depend on.
fn machine() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
        line.split_once(": ").map(|(_, value)| value.trim().to_owned())
    };
    let processors = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    let says = |program: &str, argument: &str| {
        let text = output(Command::new(program).arg(argument)).unwrap_or_default();
        text.lines().next().unwrap_or("unknown").to_owned()
    };
    format!(
        "Machine: {}, {processors} processors, Linux {}; {}; {}.",
        field("model name").unwrap_or_else(|| "unknown processor".into()),
        says("uname", "-r"),
        says("rustc", "--version"),
        says("gcc", "--version"),
    )
}
