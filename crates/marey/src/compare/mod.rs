//! Comparing runs: `marey diff`, `marey check` and `marey scale`, and the derived metrics of both and of `marey report`.
//!
//! The one idea: a run is condensed into a digest and closed, so that any number of runs can be compared (one with remarks
//! of compilers stays open for them); what is said of
//! two of them is said in one place ([`sentences`]), whoever asks.

use std::path::{Path, PathBuf};

use marey_analyze::{Comparison, Digest, FunctionName, LocationKind, Place, PlaceKind, RegionName, Where};

use anyhow::bail;

use crate::exit::Usage;
use crate::explain::explained;
use crate::format;
use crate::paint::{harmless, shorten};
use crate::problems;
use crate::run::Run;
use crate::words;

pub(crate) mod check;
pub(crate) mod diff;
mod json;
mod judged;
mod loops;
pub(crate) mod metrics;
mod pages;
pub(crate) mod scale;
mod sentences;
mod tables;
pub(crate) mod viewed;

/// A run that is compared.
#[derive(Debug)]
struct Compared {
    /// What it is called.
    name: String,
    /// When it began, ns since 1970: two runs of one program do not at the same instant.
    began: i64,
    digest: Digest,
    /// Why its events tell nothing, if they do not.
    unexplained: Option<String>,
    /// Whether parts of it are missing.
    is_incomplete: bool,
    /// What it says of itself.
    said: scale::Said,
    /// What compilers said of its loops, if that was asked for.
    loops: Option<loops::Loops>,
}

/// What is to be read of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// Sums.
    Sums,
    /// Its events, too.
    Events,
    /// And what compilers said of its loops.
    Loops,
}

impl Compared {
    fn open(path: &Path, depth: Depth) -> anyhow::Result<Self> {
        let run = Run::open(path)?;
        let mut digest = Digest::new(&run.trace);
        let mut unexplained = None;
        if depth != Depth::Sums {
            match explained(&run, path) {
                Ok(causes) => digest.explain(&run.trace, &causes),
                Err(why) => unexplained = Some(format!("{why:#}")),
            }
        }
        let kinds = ["lost", "damaged", "missing", "dropped"];
        let is_incomplete = kinds.iter().any(|kind| problems::count(&run.trace, kind) > 0);
        let said = scale::Said::of(&run);
        let began = run.archive.meta().run.start_realtime_ns;
        let name = run.name.clone();
        let loops = (depth == Depth::Loops).then(|| loops::Loops::of(run));
        Ok(Self { name, began, digest, unexplained, is_incomplete, said, loops })
    }
}

/// Opens runs; those of one name are called by their paths.
fn open_all<'p>(paths: impl Iterator<Item = &'p PathBuf>, depth: Depth) -> anyhow::Result<Vec<Compared>> {
    let paths: Vec<_> = paths.collect();
    let mut runs = paths.iter().map(|path| Compared::open(path, depth)).collect::<Result<Vec<_>, _>>()?;
    let paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
    runs.iter_mut().zip(names(&paths)).for_each(|(run, name)| run.name = name);
    Ok(runs)
}

/// What runs are called: those of one name by as much of their paths as tells them apart.
pub(crate) fn names(paths: &[&Path]) -> Vec<String> {
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_owned();
    let last = |path: &Path, number: usize| -> PathBuf {
        let parts: Vec<_> = path.components().collect();
        parts[parts.len().saturating_sub(number)..].iter().collect()
    };
    let shown = |path: &&Path| {
        let alike = paths.iter().filter(|other| name(other) == name(path));
        let is_alone = |number: &usize| {
            alike.clone().filter(|other| last(other, *number) == last(path, *number)).count() == 1
        };
        match (1..=path.components().count()).find(is_alone) {
            Some(1) => harmless(&name(path).to_string_lossy()),
            Some(number) => harmless(&last(path, number).to_string_lossy()),
            None => harmless(&path.to_string_lossy()),
        }
    };
    paths.iter().map(shown).collect()
}

/// Refuses a run that is given several times: what is measured once says nothing of how it varies.
fn distinct<'r>(runs: impl Iterator<Item = &'r Compared> + Clone) -> anyhow::Result<()> {
    for (place, run) in runs.clone().enumerate() {
        let is_same = |other: &&Compared| other.began == run.began && other.digest == run.digest;
        if let Some(other) = runs.clone().take(place).find(is_same) {
            bail!(Usage(format!(
                "{} and {} are the same run; repeats must be runs of their own, or noise cannot be told from change",
                other.name, run.name
            )));
        }
    }
    Ok(())
}

/// `rank 3`, `rank 3 thread 1`, `process 2`, as everywhere.
fn location(at: &Where) -> String {
    let process = match (at.rank, at.world) {
        (Some(rank), 0) => format!("rank {rank}"),
        (Some(rank), world) => format!("world {world} rank {rank}"),
        (None, _) => format!("process {}", at.process),
    };
    match at.kind() {
        LocationKind::Lane | LocationKind::Handlers => format!("{process} {}", harmless(&at.lane)),
        LocationKind::Thread if at.thread == 0 => process,
        LocationKind::Thread => format!("{process} thread {}", at.thread),
    }
}

/// What is done in a place.
fn doing(place: &Place) -> String {
    match place.kind {
        PlaceKind::Outside => "computation".to_owned(),
        PlaceKind::NotStarted => "not started".to_owned(),
        PlaceKind::Call if place.region.name().is_empty() => "(unknown)".to_owned(),
        PlaceKind::Call => shorten(&region(&place.region), 40),
    }
}

fn region(region: &RegionName) -> String {
    if region.is_work { words::function(region.name()) } else { harmless(region.name()) }
}

/// The same with its noun, for two regions may have one verb.
fn region_and_noun(region: &RegionName) -> String {
    let name = self::region(region);
    match region.noun.as_str() {
        noun if noun.is_empty() || noun == region.name() => shorten(&name, 40),
        noun => shorten(&format!("{name} {}", harmless(noun)), 40),
    }
}

/// Who calls it, and where: `halo (halo.c:41)`.
fn called_by(place: &Place, line: u32) -> String {
    let file = if place.caller.name.is_empty() { &place.region.file } else { &place.caller.file };
    let at = words::place(file, line);
    match (place.caller.name.as_str(), at.is_empty()) {
        ("", _) => at,
        (name, true) => words::function(name),
        (name, false) => format!("{} ({at})", shorten(&words::function(name), 40)),
    }
}

/// Both in a sentence: `MPI_Recv in halo (halo.c:41)`.
fn in_words(place: &Place, line: u32) -> String {
    let from = called_by(place, line);
    match place.kind {
        PlaceKind::Outside => "computation outside of recorded calls".to_owned(),
        PlaceKind::NotStarted => "time before threads start or after they end".to_owned(),
        PlaceKind::Call if from.is_empty() => doing(place),
        PlaceKind::Call if place.caller.name.is_empty() => format!("{} ({from})", doing(place)),
        PlaceKind::Call => format!("{} in {from}", doing(place)),
    }
}

/// `halo (halo.c)`
fn function(function: &FunctionName, line: u32) -> String {
    let at = words::place(&function.file, line);
    let name = shorten(&words::function(&function.name), 60);
    if at.is_empty() { name } else { format!("{name} ({at})") }
}

/// A time with its sign: `+1.23 s`.
fn signed_duration(ns: f64) -> String {
    let text = format::duration(rounded(ns));
    if rounded(ns).0 > 0 { format!("+{text}") } else { text }
}

/// How much more that is: `+12.3 %`; `new` from nothing, `gone` to nothing.
fn relative(old: f64, new: f64) -> String {
    match (old, new) {
        _ if old == new => "0 %".to_owned(),
        (0.0, _) => "new".to_owned(),
        (_, 0.0) => "gone".to_owned(),
        _ => change((new - old) / old.abs()),
    }
}

/// A change as a part of one: `+12.3 %`.
fn change(part: f64) -> String {
    let percent = part * 100.0;
    match percent.abs() {
        _ if percent >= 999.5 => format!("×{:.0}", part + 1.0),
        size if size >= 99.95 => format!("{percent:+.0} %"),
        size if size < 0.05 => "0.0 %".to_owned(),
        _ => format!("{percent:+.1} %"),
    }
}

fn rounded(ns: f64) -> marey_model::Nanos {
    #[expect(clippy::cast_possible_truncation, reason = "runs are shorter than 200 years")]
    marey_model::Nanos(ns.round() as i64)
}

/// The name and line of a place of a comparison, in a sentence.
fn place_in_words(comparison: &Comparison<'_>, place: usize) -> String {
    let (name, line) = comparison.name(place);
    in_words(name, line)
}

/// Rows of tables whose difference is a smaller part of the whole are left out.
const LEAST_SHARE: f64 = 0.0005;

/// Whether a row is worth showing.
fn differs(old: f64, new: f64, whole: f64) -> bool {
    let difference = (new - old).abs();
    rounded(difference).0 != 0 && difference >= LEAST_SHARE * whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_signs_and_three_digits() {
        for (part, expected) in [
            (0.1234, "+12.3 %"),
            (-0.05, "-5.0 %"),
            (0.0, "0.0 %"),
            (-0.0001, "0.0 %"),
            (2.5, "+250 %"),
            (9.9, "+990 %"),
            (10.0, "×11"),
            (1999.0, "×2000"),
            (-1.0, "-100 %"),
        ] {
            assert_eq!(change(part), expected);
        }
        assert_eq!(relative(0.0, 1.0), "new");
        assert_eq!(relative(1.0, 0.0), "gone");
        assert_eq!(relative(0.0, 0.0), "0 %");
        assert_eq!(relative(2.0, 3.0), "+50.0 %");
        assert_eq!(signed_duration(1.5e9), "+1.50 s");
        assert_eq!(signed_duration(-1.5e6), "-1.50 ms");
    }
}
