//! Turns, rounds, medians.

use crate::shell::{command, output, target};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// A command that prints figures.
pub(super) struct Case {
    /// What the table calls it.
    pub name: String,
    /// Words of the command. `{output}` stands for a directory that is empty at the start.
    pub words: Vec<String>,
    pub environment: Vec<(&'static str, &'static str)>,
}

/// The figures of one case by name, one a round.
#[derive(Default)]
pub(super) struct Samples(BTreeMap<String, Vec<f64>>);

/// A median with the extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    pub median: f64,
    pub least: f64,
    pub greatest: f64,
}

impl Samples {
    /// The summary of a figure, if the case prints it.
    pub(super) fn summary(&self, figure: &str) -> Option<Summary> {
        Summary::of(self.0.get(figure)?)
    }

    /// The summary of the ratios to the same figure of another case in the same round: what hits
    /// both at once cancels out.
    pub(super) fn ratio(&self, figure: &str, other: &Self) -> Option<Summary> {
        let pairs = self.0.get(figure)?.iter().zip(other.0.get(figure)?);
        Summary::of(&pairs.map(|(ours, theirs)| ours / theirs).collect::<Vec<_>>())
    }

    /// The summary of the differences to the same figure of another case in the same round.
    pub(super) fn added(&self, figure: &str, other: &Self) -> Option<Summary> {
        let pairs = self.0.get(figure)?.iter().zip(other.0.get(figure)?);
        Summary::of(&pairs.map(|(ours, theirs)| ours - theirs).collect::<Vec<_>>())
    }

    fn push(&mut self, figure: &str, value: f64) {
        self.0.entry(figure.to_owned()).or_default().push(value);
    }
}

impl Summary {
    fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let upper = *sorted.get(middle)?;
        let median = if sorted.len().is_multiple_of(2) { (sorted[middle - 1] + upper) / 2.0 } else { upper };
        Some(Self { median, least: sorted[0], greatest: sorted[sorted.len() - 1] })
    }
}

/// Gives every case a turn in every round; each round begins with another case. A case that fails
/// once is left out: its place in the result holds the reason.
pub(super) fn rotate(cases: &[Case], rounds: usize) -> Result<Vec<Result<Samples, String>>> {
    let mut results: Vec<Result<Samples, String>> = cases.iter().map(|_| Ok(Samples::default())).collect();
    for round in 0..rounds {
        for turn in 0..cases.len() {
            let idx = (round + turn) % cases.len();
            let Ok(samples) = &mut results[idx] else { continue };
            eprintln!("round {} of {rounds}: {}", round + 1, cases[idx].name);
            wait_until_idle();
            match take(&cases[idx]) {
                Ok(figures) => figures.iter().for_each(|(figure, value)| samples.push(figure, *value)),
                Err(error) => results[idx] = Err(format!("{}: {error:#}", cases[idx].name)),
            }
        }
    }
    Ok(results)
}

/// Runs a case once. To what it prints come `output_bytes`, all files that it left in its directory.
fn take(case: &Case) -> Result<Vec<(String, f64)>> {
    let dir = empty_directory()?;
    let words: Vec<String> =
        case.words.iter().map(|word| word.replace("{output}", &dir.display().to_string())).collect();
    let (program, args) = words.split_first().context("a case has a command")?;
    let printed = output(command(program).envs(case.environment.iter().copied()).args(args))?;
    let mut figures: Vec<(String, f64)> = printed.lines().filter_map(figure).collect();
    let bytes = size_of_files(&dir)?;
    if bytes > 0 {
        figures.push(("output_bytes".into(), bytes as f64));
    }
    fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    Ok(figures)
}

/// Lines that are no figures are the program's own business.
fn figure(line: &str) -> Option<(String, f64)> {
    let (name, value) = line.split_once(' ')?;
    Some((name.to_owned(), value.trim().parse().ok()?))
}

fn empty_directory() -> Result<PathBuf> {
    let dir = target().join("bench/output");
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

fn size_of_files(dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { size_of_files(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}

/// Waits until seven tenths of the machine are idle, six seconds at the most: other people's work
/// makes figures worse, never better.
fn wait_until_idle() {
    for _ in 0..30 {
        let before = processor_time();
        thread::sleep(Duration::from_millis(200));
        let (Some(before), Some(after)) = (before, processor_time()) else { return };
        let (idle, all) = (after.0 - before.0, after.1 - before.1);
        if idle >= 0.7 * all {
            return;
        }
    }
}

/// Idle time and all time of all processors, in the kernel's own unit.
fn processor_time() -> Option<(f64, f64)> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let times: Vec<f64> =
        stat.lines().next()?.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
    // Fields 4 and 5 are idle and waiting for input and output.
    Some((times.get(3)? + times.get(4)?, times.iter().sum()))
}

#[cfg(test)]
mod tests {
    use super::{Summary, figure};

    fn check_summary(values: &[f64], expected: Option<(f64, f64, f64)>) {
        let expected = expected.map(|(median, least, greatest)| Summary { median, least, greatest });
        assert_eq!(Summary::of(values), expected, "{values:?}");
    }

    #[test]
    fn median_is_the_middle_or_the_mean_of_the_two_in_the_middle() {
        check_summary(&[], None);
        check_summary(&[3.0], Some((3.0, 3.0, 3.0)));
        check_summary(&[9.0, 1.0, 2.0], Some((2.0, 1.0, 9.0)));
        check_summary(&[4.0, 1.0, 2.0, 9.0], Some((3.0, 1.0, 9.0)));
    }

    #[test]
    fn figure_is_a_name_and_a_number() {
        assert_eq!(figure("ns_per_pair 18.25"), Some(("ns_per_pair".into(), 18.25)));
        assert_eq!(figure("Loop time of 1.5 s"), None);
        assert_eq!(figure(""), None);
    }
}
