//! Cases, turns and rounds: what is run, how often and in which order.
//!
//! The one idea: figures of one round belong together, so ratios and differences are taken within a
//! round, and every round begins with another case. Waiting for the machine to be idle comes before each
//! turn, never in the middle of one.

use super::Plan;
use super::stats::Summary;
use crate::shell::{command, output, target};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// A command that prints figures.
pub(super) struct Case {
    /// What the table calls it.
    pub name: String,
    /// Words of the command. `{output}` stands for a directory that is empty at the start.
    pub words: Vec<String>,
    pub environment: Vec<(&'static str, &'static str)>,
    /// Files that lie in that directory first: names and contents. If there are any, or the program
    /// leaves files where it runs, `place` says that it runs there.
    pub files: Vec<(&'static str, String)>,
    pub place: Place,
}

/// Where a case runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The root of the checkout.
    Root,
    /// The directory that is empty at the start.
    Output,
}

impl Case {
    /// A case that runs in the root and finds no files.
    pub(super) fn new(name: impl Into<String>, words: Vec<String>) -> Self {
        Self { name: name.into(), words, environment: Vec::new(), files: Vec::new(), place: Place::Root }
    }
}

/// The figures of one case by name, one a round.
#[derive(Default)]
pub(super) struct Samples(BTreeMap<String, Vec<f64>>);

impl Samples {
    /// The summary of a figure, if the case prints it.
    pub(super) fn summary(&self, figure: &str) -> Option<Summary> {
        Summary::of(self.0.get(figure)?)
    }

    /// The summary of the ratios to the same figure of another case in the same round: what hits
    /// both at once cancels out.
    pub(super) fn ratio(&self, figure: &str, other: &Self) -> Option<Summary> {
        self.ratio_to(figure, other, figure)
    }

    /// The same with a different figure of the other case.
    pub(super) fn ratio_to(&self, figure: &str, other: &Self, its_figure: &str) -> Option<Summary> {
        let pairs = self.0.get(figure)?.iter().zip(other.0.get(its_figure)?);
        Summary::of(&pairs.map(|(ours, theirs)| ours / theirs).collect::<Vec<_>>())
    }

    /// The summary of the differences to the same figure of another case in the same round.
    pub(super) fn added(&self, figure: &str, other: &Self) -> Option<Summary> {
        let pairs = self.0.get(figure)?.iter().zip(other.0.get(figure)?);
        Summary::of(&pairs.map(|(ours, theirs)| ours - theirs).collect::<Vec<_>>())
    }

    /// The summary of a figure divided by another one of the same round.
    pub(super) fn per(&self, figure: &str, by: &str) -> Option<Summary> {
        self.ratio_to(figure, self, by)
    }

    /// Adds the figure `name`, which is another figure divided by a third, round by round.
    pub(super) fn derive(&mut self, name: &str, figure: &str, by: &str) {
        let Some((figures, by)) = self.0.get(figure).zip(self.0.get(by)) else { return };
        let values = figures.iter().zip(by).map(|(figure, by)| figure / by).collect();
        self.0.insert(name.to_owned(), values);
    }

    /// All values of a figure, a round each.
    pub(super) fn values(&self, figure: &str) -> &[f64] {
        self.0.get(figure).map_or(&[], Vec::as_slice)
    }

    pub(super) fn push(&mut self, figure: &str, value: f64) {
        self.0.entry(figure.to_owned()).or_default().push(value);
    }
}

/// Gives every case a turn in every round; each round begins with another case. A case that fails
/// once is left out: its place in the result holds the reason.
pub(super) fn rotate(plan: &Plan, cases: &[Case]) -> Vec<Result<Samples, String>> {
    let rounds = plan.rounds;
    let mut results: Vec<Result<Samples, String>> = cases.iter().map(|_| Ok(Samples::default())).collect();
    for round in 0..rounds {
        for turn in 0..cases.len() {
            let idx = (round + turn) % cases.len();
            let Ok(samples) = &mut results[idx] else { continue };
            eprintln!("round {} of {rounds}: {}", round + 1, cases[idx].name);
            if let Err(error) = take(plan, &cases[idx], samples) {
                results[idx] = Err(format!("{}: {error:#}", cases[idx].name));
            }
        }
    }
    results
}

/// Runs a case once. To what it prints come `output_bytes`, all files that it left in its directory
/// and did not find there.
pub(super) fn take(plan: &Plan, case: &Case, samples: &mut Samples) -> Result<()> {
    wait_until_idle(plan.patience_s);
    let dir = empty_directory()?;
    let mut found = 0;
    for (name, contents) in &case.files {
        fs::write(dir.join(name), contents).with_context(|| format!("cannot write {name}"))?;
        found += contents.len() as u64;
    }
    let words: Vec<String> =
        case.words.iter().map(|word| word.replace("{output}", &dir.display().to_string())).collect();
    let (program, args) = words.split_first().context("a case has a command")?;
    let mut command = command(program);
    command.envs(case.environment.iter().copied()).args(args);
    if case.place == Place::Output {
        command.current_dir(&dir);
    }
    let printed = output(&mut command)?;
    for (name, value) in printed.lines().filter_map(figure) {
        samples.push(&name, value);
    }
    let bytes = size_of_files(&dir)? - found;
    if bytes > 0 {
        samples.push("output_bytes", bytes as f64);
    }
    empty(&dir)
}

/// Lines that are no figures are the program's own business.
pub(super) fn figure(line: &str) -> Option<(String, f64)> {
    let (name, value) = line.split_once(' ')?;
    Some((name.to_owned(), value.trim().parse().ok()?))
}

/// A directory that nothing lies in, one after the other: what was there before is emptied and stays
/// until the next bench. For file systems give away the inodes of deleted files again only after a
/// while, and look through all of them for each file that is made in the meantime: after some hundred
/// deletions a file costs as much as recording ten thousand calls, which no user would see.
pub(super) fn empty_directory() -> Result<PathBuf> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let all = target().join("bench/output");
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    if number == 0 && all.exists() {
        fs::remove_dir_all(&all).with_context(|| format!("cannot empty {}", all.display()))?;
    }
    let dir = all.join(number.to_string());
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

/// Takes the contents of all files in a directory away.
pub(super) fn empty(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            empty(&path)?;
        } else {
            let file = fs::OpenOptions::new().write(true).truncate(true).open(&path);
            file.with_context(|| format!("cannot empty {}", path.display()))?;
        }
    }
    Ok(())
}

/// Bytes of disk that all files in a directory take.
pub(super) fn size_of_files(dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { size_of_files(&entry.path())? } else { about.blocks() * 512 };
    }
    Ok(bytes)
}

/// Waits until seven tenths of the machine are idle, so many seconds at the most: other people's work
/// makes figures worse, never better.
fn wait_until_idle(patience_s: u32) {
    for _ in 0..5 * patience_s {
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
    use super::{Samples, figure};

    #[test]
    fn figure_is_a_name_and_a_number() {
        assert_eq!(figure("ns_per_pair 18.25"), Some(("ns_per_pair".into(), 18.25)));
        assert_eq!(figure("Loop time of 1.5 s"), None);
        assert_eq!(figure(""), None);
    }

    #[test]
    fn ratios_and_differences_are_taken_within_a_round() {
        let samples = |values: [f64; 3]| {
            let mut samples = Samples::default();
            values.iter().for_each(|value| samples.push("ns", *value));
            samples
        };
        let (ours, theirs) = (samples([20.0, 40.0, 90.0]), samples([10.0, 20.0, 30.0]));
        assert_eq!(ours.ratio("ns", &theirs).unwrap().median, 2.0);
        assert_eq!(ours.added("ns", &theirs).unwrap().median, 20.0);
        assert!(ours.ratio("other", &theirs).is_none());
    }

    #[test]
    fn derived_figures_are_quotients() {
        let mut samples = Samples::default();
        samples.push("bytes", 60.0);
        samples.push("events", 20.0);
        samples.derive("bytes_per_event", "bytes", "events");
        assert_eq!(samples.values("bytes_per_event"), [3.0]);
        samples.derive("nothing", "bytes", "absent");
        assert_eq!(samples.values("nothing"), [0.0; 0]);
    }
}
