//! How long the viewer waits for answers.
//!
//! The one idea: made-up runs that differ in length and in the number of locations; the same questions about each, asked
//! of the engine itself, in a process of its own, so that the first answer counts all that opening takes; and of DuckDB, which
//! reads the same files, in SQL.

use super::build::Tools;
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate, take};
use super::stats::Summary;
use super::table::{Table, median};
use super::{Extent, Plan, Section};
use crate::setup;
use crate::shell::{cargo, command, output, root, run, target};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

const TEXT: &str = "\
Questions of a viewer to the engine, in milliseconds, without a browser: a screen of 1 700 pixels with 50 rows.
*First* is from the start of the process to the first complete timeline of the whole run, opening it included; *whole* \
is that picture alone, once more. \
*States* are pictures of windows of any length, as many short ones as long ones; *1 ms* is everything in a window of 1 ms, \
visit by visit; *sums* are the time of each region over all locations, of the whole run and of any window; *mountains* \
count locations by region in any window.
DuckDB is asked the same in SQL, of files that it has read before, by `benches/view/ask.py`: a picture is there the time of \
each region in each bucket of each line, and always exact, where the engine shows prepared buckets until it has read all; \
memory is not looked at, and runs of 100 M are left out, since it takes longer at least as much as the run is longer.
The runs have visits of 50 regions, two levels deep, 0.1 to 5 µs apart.";

const MS: f64 = 1e-6;

/// A made-up run.
struct Made {
    name: String,
    millions: u64,
    path: PathBuf,
}

pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let heads = [
        "case",
        "first",
        "whole",
        "states p50",
        "p95",
        "p99",
        "1 ms p95",
        "sums, run",
        "any p95",
        "mountains p95",
        "peak MiB",
        "lod share",
    ];
    let mut table = Table::new(&heads);
    let mut absent = Vec::new();
    let mut runs = Vec::new();
    for (millions, locations) in sizes(plan) {
        let name = format!("view {millions} M, {locations} locations");
        if !plan.wants(&name) {
            continue;
        }
        match make(tools, millions, locations) {
            Ok(path) => runs.push(Made { name, millions, path }),
            Err(error) => absent.push(format!("{name}: {error:#}")),
        }
    }
    let ask = if runs.is_empty() { String::new() } else { build()? };
    let cases: Vec<Case> =
        runs.iter().map(|it| Case::new(&it.name, vec![ask.clone(), it.path.display().to_string()])).collect();
    let mut shortest: Option<Samples> = None;
    for (it, samples) in runs.iter().zip(rotate(plan, &cases)) {
        match samples {
            Ok(samples) => {
                let share = detail_share(&it.path)?;
                table.push(cells(it.name.clone(), &samples, format!("{:.1} %", share * 100.0)));
                judge(it, &samples, share, shortest.as_ref(), goals);
                if it.millions == 1 {
                    shortest = Some(samples);
                }
            }
            Err(error) => absent.push(error),
        }
    }
    in_sql(plan, &runs, &mut table, &mut absent);
    Ok(Section { title: "Viewing a run", text: TEXT, table, absent })
}

/// Longer runs are not asked of DuckDB: it reads whole tables, and all questions would take it half an hour.
const MOST_MILLIONS_IN_SQL: u64 = 10;

/// What DuckDB takes for the same; one turn, of which each figure is one of several questions.
fn in_sql(plan: &Plan, runs: &[Made], table: &mut Table, absent: &mut Vec<String>) {
    let mut runs = runs.iter().filter(|it| it.millions <= MOST_MILLIONS_IN_SQL).peekable();
    if runs.peek().is_none() {
        return;
    }
    let Some(python) = setup::python_with_duckdb() else {
        absent.push("DuckDB: there is no Python with it".to_owned());
        return;
    };
    let script = root().join("benches/view/ask.py");
    for it in runs {
        let name = format!("{}, DuckDB", it.name);
        let words = [&python, &script, &it.path].map(|it| it.display().to_string());
        let mut samples = Samples::default();
        eprintln!("{name}");
        match take(plan, &Case::new(&name, words.to_vec()), &mut samples) {
            Ok(()) => table.push(cells(name, &samples, "–".to_owned())),
            Err(error) => absent.push(format!("{name}: {error:#}")),
        }
    }
}

/// Millions of visits, and locations.
pub(super) fn sizes(plan: &Plan) -> Vec<(u64, u64)> {
    match plan.extent {
        Extent::Full => vec![(1, 64), (1, 1000), (10, 64), (10, 1000), (100, 64), (100, 1000)],
        Extent::Usual if plan.rounds == 1 => vec![(1, 64)],
        Extent::Usual => vec![(1, 64), (1, 1000), (10, 64), (10, 1000)],
    }
}

/// Writes a spool and merges it; one that is there is used again.
pub(super) fn make(tools: &Tools, millions: u64, locations: u64) -> Result<PathBuf> {
    let dir = target().join("bench/viewed");
    let path = dir.join(format!("{millions}-{locations}"));
    if path.join("meta.json").exists() {
        return Ok(path);
    }
    std::fs::create_dir_all(&dir)?;
    eprintln!("making a run of {millions} M visits on {locations} locations");
    run(&mut cargo(["build", "--release", "--package", "marey-testkit", "--example", "spool"]))?;
    let spool = dir.join("spool");
    if spool.exists() {
        std::fs::remove_dir_all(&spool)?;
    }
    let each = millions * 1_000_000 / locations;
    let writer = target().join("release/examples/spool");
    output(command(writer).arg("pairs").args([locations, each].map(|it| it.to_string())).arg(&spool))?;
    output(command(&tools.marey).args(["merge", "--force"]).arg(&spool).arg("-o").arg(&path))?;
    Ok(path)
}

fn build() -> Result<String> {
    run(&mut cargo(["build", "--release", "--package", "marey-serve", "--example", "ask"]))?;
    Ok(target().join("release/examples/ask").display().to_string())
}

/// The part of a run's bytes that its prepared levels of detail take.
fn detail_share(path: &Path) -> Result<f64> {
    let (mut all, mut detail) = (0, 0);
    for entry in files(path)? {
        let len = entry.metadata()?.len();
        all += len;
        let name = entry.strip_prefix(path).context("found beneath it")?.to_string_lossy().into_owned();
        if name.starts_with("lod") {
            detail += len;
        }
    }
    Ok(detail as f64 / all.max(1) as f64)
}

fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

fn cells(name: String, samples: &Samples, share: String) -> Vec<String> {
    let ms = |name: &str| median(samples.summary(name).map(|it| it.times(MS)), 1);
    vec![
        name,
        ms("first_ns"),
        ms("whole_ns"),
        ms("states_p50_ns"),
        ms("states_p95_ns"),
        ms("states_p99_ns"),
        ms("exact_ms_p95_ns"),
        ms("totals_ns"),
        ms("totals_span_p95_ns"),
        ms("mountain_span_p95_ns"),
        median(samples.summary("peak_bytes").map(|it| it.times(1.0 / (1024.0 * 1024.0))), 0),
        share,
    ]
}

fn judge(it: &Made, samples: &Samples, share: f64, shortest: Option<&Samples>, goals: &mut Goals) {
    let mut ms = |figure: &str, what: &str, most: f64| {
        let value = samples.summary(figure).map(|it| it.times(MS));
        goals.add(&it.name, what, value, Target::AtMost(most));
    };
    ms("first_ns", "ms to the first timeline", 150.0);
    ms("states_p95_ns", "ms a picture, p95", 16.0);
    ms("states_p99_ns", "ms a picture, p99", 50.0);
    ms("exact_ms_p95_ns", "ms for 1 ms exactly, p95", 7.0);
    ms("totals_ns", "ms for sums of the run", 10.0);
    ms("totals_span_p95_ns", "ms for sums of any window, p95", 50.0);
    let peak = samples.summary("peak_bytes").map(|it| it.times(1.0 / (1024.0 * 1024.0)));
    goals.add(&it.name, "MiB at the peak", peak, Target::AtMost(512.0));
    goals.add(
        &it.name,
        "% of the archive for levels of detail",
        Summary::of(&[share * 100.0]),
        Target::AtMost(10.0),
    );
    if let Some(shortest) = shortest.filter(|_| it.millions > 1) {
        let grown = samples.ratio("states_p95_ns", shortest);
        goals.add(&it.name, "× 1 M, a picture, p95", grown, Target::AtMost(1.5));
    }
}
