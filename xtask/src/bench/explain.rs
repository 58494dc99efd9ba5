//! How long it takes to say who waited for whom, and why.
//!
//! The one idea: runs of one program that differ in length alone, so that what grows is seen. The command is the one that
//! a user types, with all that it reads.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::stats::Summary;
use super::table::{Table, median, with_range};
use super::{Extent, MPI_ENVIRONMENT, Plan, Section};
use crate::shell::{command, output, target};
use anyhow::{Context, Result};
use std::path::PathBuf;

const TEXT: &str = "\
`marey waits` of finished runs, start-up and exit included: all waits, what their causes did, and the critical path. \
*Prepared* reads what the merge found; the others find it again, as the merge does once.
Two ranks hand numbers on in a ring and add them up in every fourth step; each step has six or eight intervals and two \
messages.
*Grown* is the time beside that of the run a tenth as long, or the next shorter one.";

const WALL: &str = "program_wall_ns";
const PEAK_MIB: f64 = 1.0 / (1024.0 * 1024.0);

/// Intervals of a step: three calls of each of two ranks, and one more of each in every fourth.
const INTERVALS_A_STEP: f64 = 6.5;

/// A finished run.
struct Length {
    name: String,
    /// Whether what explains it is there and need only be read.
    is_prepared: bool,
    millions: f64,
    run: PathBuf,
}

/// Records runs, then explains them in turns.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["case", "M intervals", "seconds", "M intervals/s", "grown", "peak MiB"]);
    let mut absent = Vec::new();
    let mut lengths = Vec::new();
    for (name, millions) in names(plan) {
        if !plan.wants(name) {
            continue;
        }
        match record(tools, name, millions) {
            Ok([run, bare]) => {
                let prepared = name.replace("explain", "prepared");
                lengths.push(Length { name: name.to_owned(), is_prepared: false, millions, run: bare });
                lengths.push(Length { name: prepared, is_prepared: true, millions, run });
            }
            Err(error) => absent.push(format!("{name}: {error:#}")),
        }
    }
    let cases: Vec<Case> = lengths.iter().map(|length| case(tools, length)).collect();
    let mut shorter: [Option<(f64, Samples)>; 2] = [None, None];
    for (length, samples) in lengths.iter().zip(rotate(plan, &cases)) {
        let samples = match samples {
            Ok(samples) => samples,
            Err(error) => {
                absent.push(error);
                continue;
            }
        };
        let before = &mut shorter[usize::from(length.is_prepared)];
        let seconds = samples.summary(WALL).map(|wall| wall.times(1e-9));
        let speeds: Vec<f64> = samples.values(WALL).iter().map(|wall| length.millions * 1e9 / wall).collect();
        let peak = samples.summary("peak_bytes").map(|bytes| bytes.times(PEAK_MIB));
        let grown = before.as_ref().and_then(|(_, shorter)| samples.ratio(WALL, shorter));
        judge(length, before.as_ref().map(|(millions, _)| *millions), (&seconds, &grown, &peak), goals);
        table.push(vec![
            length.name.clone(),
            format!("{}", length.millions),
            with_range(seconds),
            with_range(Summary::of(&speeds)),
            median(grown, 1),
            median(peak, 0),
        ]);
        *before = Some((length.millions, samples));
    }
    Ok(Section { title: "Explaining a run", text: TEXT, table, absent })
}

/// Cases, with millions of intervals.
fn names(plan: &Plan) -> Vec<(&'static str, f64)> {
    let mut names = vec![("explain 1 M", 1.0), ("explain 10 M", 10.0)];
    match plan.extent {
        Extent::Full => names.push(("explain 50 M", 50.0)),
        // To see that it runs.
        Extent::Usual if plan.rounds == 1 => names = vec![("explain 0.1 M", 0.1), ("explain 1 M", 1.0)],
        Extent::Usual => {}
    }
    names
}

/// Records a run; the second is the same without what the merge prepared.
pub(super) fn record(tools: &Tools, name: &str, millions: f64) -> Result<[PathBuf; 2]> {
    let program = build::compile("mpicc.openmpi", "ring.c", "ring", &[])?;
    let run = target().join("bench/explained").join(name.replace(' ', "-"));
    std::fs::create_dir_all(run.parent().context("a path within target/")?)?;
    eprintln!("recording {name}");
    let steps = (millions * 1e6 / INTERVALS_A_STEP).round();
    let mut record = command(&tools.marey);
    record
        .envs(MPI_ENVIRONMENT)
        .args(["record", "--force", "--sample", "off", "--budget", "off", "--max-mb", "8000", "-o"]);
    record.arg(&run).args(["--", "mpirun.openmpi", "--oversubscribe", "-n", "2"]);
    output(record.arg(program).arg(format!("{steps}")))?;
    let bare = run.with_extension("bare");
    if bare.exists() {
        std::fs::remove_dir_all(&bare)?;
    }
    output(command("cp").arg("-al").arg(&run).arg(&bare))?;
    std::fs::remove_file(bare.join("explanation.parquet"))?;
    Ok([run, bare])
}

fn case(tools: &Tools, length: &Length) -> Case {
    const SCRIPT: &str = r#"exec "$1" waits "$2" --json >/dev/null"#;
    let run = length.run.display().to_string();
    let words = [&tools.spent, "sh", "-c", SCRIPT, "sh", &tools.marey, &run];
    Case::new(&length.name, words.map(str::to_owned).to_vec())
}

type Figures<'s> = (&'s Option<Summary>, &'s Option<Summary>, &'s Option<Summary>);

fn judge(length: &Length, shorter: Option<f64>, (seconds, grown, peak): Figures<'_>, goals: &mut Goals) {
    // A user waits so long for an answer, and no longer.
    let at_most = if length.millions <= 10.0 { Target::AtMost(10.0) } else { Target::Open };
    goals.add(&length.name, "seconds", *seconds, at_most);
    goals.add(&length.name, "MiB at the peak", *peak, Target::AtMost(1024.0));
    if let Some(shorter) = shorter {
        // Linear, and a fifth for caches that no longer hold it.
        let at_most = Target::AtMost(1.2 * length.millions / shorter);
        goals.add(&length.name, &format!("× {shorter} M"), *grown, at_most);
    }
}
