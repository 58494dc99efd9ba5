//! `cargo xtask bench`: the recorder beside floors and peers, on this machine, in one run.
//!
//! The one idea: a case is a command that prints figures, one a line, name and value. All cases of
//! a section take turns, round after round, so that a disturbance hits everybody, and medians are
//! taken over the rounds. No figure from a document or another machine is ever put beside them.
//!
//! A case that cannot be built or run here is named with its reason and left out of the table.

mod adapter;
mod build;
mod call;
mod coarray;
mod exact;
mod explain;
mod floor;
mod function;
mod goal;
mod governor;
mod heap;
mod kokkos;
mod merge;
mod message;
mod openmp;
mod page;
mod pair;
mod program;
mod recording;
mod rust;
mod sample;
mod sampling;
mod screen;
mod stats;
mod table;
mod view;
mod window;

use crate::setup;
use crate::shell::{output, root};
use anyhow::{Context, Result, bail};
use goal::{Goals, Judging};
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
    /// Enter+leave pairs of all threads together in the recordings that sizes and merge are
    /// measured with, whose events lie 0.1 to 5 µs apart: recording them takes 5 µs a pair.
    pub spread_pairs: u64,
    /// How often a real program runs, plain and recorded.
    pub program_pairs: usize,
    /// Most seconds to wait before each turn for the machine to be idle.
    pub patience_s: u32,
    /// Whether to add what takes long and much of the disk: 100 M pairs, 200 M events.
    pub extent: Extent,
    judging: Judging,
    /// Only cases whose names contain this, with what they are compared to.
    pub only: Option<String>,
    /// Where the tables go, apart from the screen.
    pub document: Option<&'static str>,
}

/// What belongs to a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Usual,
    Full,
}

impl Plan {
    /// The plan that the words after `bench` ask for.
    pub(crate) fn from_words(words: &[&str]) -> Result<Self> {
        let mut plan = Self::usual();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--quick" => plan = Self { only: plan.only, ..Self::quick() },
                "--full" => plan = Self { only: plan.only, ..Self::full() },
                "--only" => {
                    plan.only = Some(words.next().context("--only wants a part of a name")?.to_string());
                }
                other => bail!("bench has no option {other}"),
            }
        }
        // A document with half of the cases would be mistaken for the whole.
        if plan.only.is_some() {
            plan.document = None;
        }
        Ok(plan)
    }

    /// Long enough that start-up vanishes.
    fn usual() -> Self {
        Self {
            rounds: 9,
            pairs: 10_000_000,
            messages: 1_000_000,
            spread_pairs: 4_000_000,
            program_pairs: 15,
            patience_s: 6,
            extent: Extent::Usual,
            judging: Judging::All,
            only: None,
            document: Some("docs/benchmarks.md"),
        }
    }

    /// What the published figures are made with.
    fn full() -> Self {
        Self { spread_pairs: 32_000_000, program_pairs: 25, extent: Extent::Full, ..Self::usual() }
    }

    /// Enough to see that everything runs.
    fn quick() -> Self {
        Self {
            rounds: 1,
            pairs: 1_000_000,
            messages: 50_000,
            spread_pairs: 100_000,
            program_pairs: 1,
            patience_s: 0,
            judging: Judging::Counts,
            document: None,
            ..Self::usual()
        }
    }

    /// Whether a case is to be measured.
    fn wants(&self, case: &str) -> bool {
        self.only.as_ref().is_none_or(|part| case.contains(part.as_str()))
    }
}

/// Environment of programs of Open MPI: it asks for a confirmation of root, and one thread a rank
/// is what is compared.
const MPI_ENVIRONMENT: [(&str, &str); 3] =
    [("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"), ("OMP_NUM_THREADS", "1")];

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
    let tools = build::tools()?;
    let mut goals = Goals::new(plan.judging);
    let sections = [
        pair::measure(plan, &tools, &mut goals)?,
        exact::measure(plan, &tools, &mut goals)?,
        function::measure(plan, &tools, &mut goals)?,
        rust::measure(plan, &tools, &mut goals)?,
        governor::measure(plan, &tools, &mut goals)?,
        call::measure(plan, &tools, &mut goals)?,
        openmp::measure(plan, &tools, &mut goals)?,
        coarray::measure(plan, &tools, &mut goals)?,
        kokkos::measure(plan, &tools, &mut goals)?,
        message::measure(plan, &tools, &mut goals)?,
        window::measure(plan, &tools, &mut goals)?,
        merge::measure(plan, &tools, &mut goals)?,
        program::measure(plan, &tools, &mut goals)?,
        sampling::measure(plan, &tools, &mut goals)?,
        heap::measure(plan, &tools, &mut goals)?,
        explain::measure(plan, &tools, &mut goals)?,
        view::measure(plan, &tools, &mut goals)?,
        screen::measure(plan, &tools, &mut goals)?,
        page::measure(plan, &tools, &mut goals)?,
    ];
    let text = document(plan, &goals, &sections);
    println!("\n{text}");
    if let Some(path) = plan.document {
        std::fs::write(root().join(path), &text).with_context(|| format!("cannot write {path}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

const HOW_TO_READ: &str = "\
Figures are medians over the rounds with [least–greatest]; cases take turns in every round, and each round \
begins with another one.
A ratio or a difference is taken within each round first, so what disturbs both at once cancels out.
Targets are judged by the median; on a machine that does other work, differences of a few per cent mean \
nothing.";

fn document(plan: &Plan, goals: &Goals, sections: &[Section]) -> String {
    let mut text = format!(
        "# Benchmarks\n\nWritten by `cargo xtask bench{}` on {}, {} rounds.\n\n{}\n\n{HOW_TO_READ}\n\n## Targets\n\n{}",
        if plan.extent == Extent::Full { " --full" } else { "" },
        says("date", &["-u", "+%F"]),
        plan.rounds,
        machine(),
        goals.table().markdown(),
    );
    for Section { title, text: intro, table, absent } in sections {
        if table.is_empty() && absent.is_empty() {
            continue;
        }
        write!(text, "\n## {title}\n\n{intro}\n\n{}", table.markdown())
            .expect("writing to a string cannot fail");
        for reason in absent {
            write!(text, "\nNot measured: {reason}\n").expect("writing to a string cannot fail");
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
    format!(
        "Machine: {}, {processors} processors, Linux {}; {}; {}.",
        field("model name").unwrap_or_else(|| "unknown processor".into()),
        says("uname", &["-r"]),
        says("rustc", &["--version"]),
        says("gcc", &["--version"]),
    )
}

/// The first line that a program prints.
fn says(program: &str, arguments: &[&str]) -> String {
    let text = output(Command::new(program).args(arguments)).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Extent, Plan};

    #[test]
    fn only_a_run_of_everything_writes_the_document() {
        for (words, writes) in [
            (&[][..], true),
            (&["--full"], true),
            (&["--quick"], false),
            (&["--only", "merge"], false),
            (&["--only", "merge", "--full"], false),
            (&["--full", "--only", "merge"], false),
        ] {
            let plan = Plan::from_words(words).unwrap();
            assert_eq!(plan.document.is_some(), writes, "{words:?}");
            assert_eq!(plan.extent == Extent::Full, words.contains(&"--full"), "{words:?}");
            assert_eq!(plan.wants("pair C"), !words.contains(&"--only"), "{words:?}");
        }
    }

    #[test]
    fn unknown_words_are_refused() {
        for words in [&["--fast"][..], &["--only"]] {
            assert!(Plan::from_words(words).is_err(), "{words:?}");
        }
    }
}
