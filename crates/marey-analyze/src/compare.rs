//! Two runs, name by name: what differs.
//!
//! The one idea: where a function was renamed the new name is translated first; after that things are the same if their
//! names are, and every table is made in one way.
//!
//! The definitions are those of `docs/compare.md`.
//!
//! What is deliberately absent: chance. What differs between one run and another may differ between two of one program
//! ([`crate::judge`]).

mod renames;
mod verdict;

use std::collections::BTreeMap;

use crate::digest::{Digest, Explained, FunctionName, PathSums, Place, RegionName, RegionSums, Sums};
use crate::paths::float;
use crate::waits::Pattern;

pub use renames::{Renamed, RenamedHow};
pub use verdict::{Cause, Direction, Subject, Verdict};

/// What differs between two runs. Numbers of both are as the basis says.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison<'d> {
    /// The run that is compared with.
    pub base: &'d Digest,
    /// The run that is compared.
    pub other: &'d Digest,
    /// Functions that were taken for renamed.
    pub renamed: Vec<Renamed>,
    /// What numbers are.
    pub basis: Basis,
    /// Places of both; what other rows count.
    pub places: Vec<PlacePair>,
    /// What made the run longer or shorter.
    pub verdict: Verdict,
    /// Time on the critical path by place, ns, never divided; empty if a run has none.
    pub path: Vec<Change>,
    /// Regions.
    pub regions: Vec<RegionPair<'d>>,
    /// Call paths.
    pub paths: Vec<PathPair>,
    /// Waits by pattern and place, ns.
    pub waits: Vec<(Pattern, Change)>,
    /// Delay costs by place, ns.
    pub costs: Vec<Change>,
    /// The same by the place of the cause, the first, and that of the waits, ns.
    pub effects: Vec<(usize, Change)>,
    /// What there is to win by place, ns of the run, never divided.
    pub findings: Vec<Change>,
    /// Processor time of functions by samples, ns.
    pub functions: Vec<FunctionChange>,
    /// Bytes that were there at the peak, by place; `None` = not known where.
    pub at_peak: Vec<(Option<usize>, f64, f64)>,
}

/// What numbers are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// Sums over all ranks and threads.
    Sums,
    /// The same, divided by the number of processes: the runs have different ones.
    Means,
}

/// A place of both runs, or of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlacePair {
    /// Its number in the base.
    pub base: Option<u32>,
    /// Its number in the other.
    pub other: Option<u32>,
}

/// A number of a place in both runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// Which of [`Comparison::places`].
    pub place: usize,
    /// In the base.
    pub old: f64,
    /// In the other.
    pub new: f64,
}

impl Change {
    /// How much more the other has.
    pub fn difference(&self) -> f64 {
        self.new - self.old
    }
}

/// A region of both runs, or of one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RegionPair<'d> {
    /// Of the base.
    pub base: Option<&'d RegionSums>,
    /// Of the other.
    pub other: Option<&'d RegionSums>,
}

/// A call path of both runs, or of one.
#[derive(Clone, PartialEq, Debug)]
pub struct PathPair {
    /// Its places, root first.
    pub places: Vec<usize>,
    /// In the base.
    pub base: Option<Sums>,
    /// In the other.
    pub other: Option<Sums>,
}

/// A function by samples.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionChange {
    /// Its name in the other run, or in the base if it is not there.
    pub function: FunctionName,
    /// The line that took most.
    pub line: u32,
    /// Processor time in the base, ns.
    pub old: f64,
    /// In the other.
    pub new: f64,
}

impl<'d> Comparison<'d> {
    /// The name of a place: that of the other run, which is the program as it is now, or else that of the base.
    pub fn name(&self, place: usize) -> (&Place, u32) {
        let pair = self.places[place];
        let row = match pair.other {
            Some(other) => &self.other.places[other as usize],
            None => &self.base.places[pair.base.unwrap_or_default() as usize],
        };
        (&row.place, row.line)
    }

    /// The name of a place in the base, if it is there.
    pub fn old_name(&self, place: usize) -> Option<&Place> {
        self.places[place].base.map(|base| &self.base.places[base as usize].place)
    }

    /// What regions of the other run are called in the base, whether that has them or not.
    pub fn old_regions<'n>(&self, new: impl IntoIterator<Item = &'n RegionName>) -> Vec<RegionName> {
        let names = Names::new(&self.renamed);
        new.into_iter().map(|name| names.region(name)).collect()
    }

    /// What a function of the other run is called in the base.
    pub fn old_function(&self, new: &FunctionName) -> FunctionName {
        Names::new(&self.renamed).function(new)
    }

    /// What explains both runs, if all their events are there: parts of a critical path are none.
    pub(crate) fn explained(&self) -> Option<(&'d Explained, &'d Explained)> {
        let whole = |run: &'d Digest| run.explained.as_ref().filter(|explained| explained.is_whole);
        Some((whole(self.base)?, whole(self.other)?))
    }

    /// By what sums of the base, and of the other, are divided.
    pub fn divisors(&self) -> (f64, f64) {
        match self.basis {
            Basis::Sums => (1.0, 1.0),
            Basis::Means => (n_processes(self.base), n_processes(self.other)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ processes")]
fn n_processes(run: &Digest) -> f64 {
    run.processes.len().max(1) as f64
}

/// Compares a run with a base: time and memory grow in proportion to the number of names in both, times its logarithm.
pub fn compare<'d>(base: &'d Digest, other: &'d Digest) -> Comparison<'d> {
    let renamed = renames::renames(base, other);
    let names = Names::new(&renamed);
    let places = Matched::places(base, other, &names);
    let basis = if base.processes.len() == other.processes.len() { Basis::Sums } else { Basis::Means };
    let mut comparison = Comparison {
        base,
        other,
        basis,
        places: places.pairs.clone(),
        verdict: Verdict::default(),
        path: Vec::new(),
        regions: region_pairs(base, other, &names),
        paths: path_pairs(base, other, &places),
        waits: Vec::new(),
        costs: Vec::new(),
        effects: Vec::new(),
        findings: Vec::new(),
        functions: Vec::new(),
        at_peak: Vec::new(),
        renamed: renamed.clone(),
    };
    let divisors = comparison.divisors();
    if let Some((old, new)) = comparison.explained() {
        let on_path = |rows: &[crate::digest::PlaceTime]| -> Vec<(u32, f64)> {
            rows.iter().map(|row| (row.place, float(row.on_path))).collect()
        };
        comparison.path = places.changes(on_path(&old.times), on_path(&new.times), (1.0, 1.0));
        let costs = |rows: &[(u32, u32, f64)]| rows.iter().map(|row| (row.0, row.2)).collect::<Vec<_>>();
        comparison.costs = places.changes(costs(&old.costs), costs(&new.costs), divisors);
        comparison.effects = places.effects(&old.effects, &new.effects, divisors);
        let gains = |rows: &[(u32, marey_model::Nanos)]| -> Vec<(u32, f64)> {
            rows.iter().map(|row| (row.0, float(row.1))).collect()
        };
        comparison.findings = places.changes(gains(&old.findings), gains(&new.findings), (1.0, 1.0));
        for pattern in Pattern::ALL {
            let of = |rows: &[crate::digest::WaitSums]| -> Vec<(u32, f64)> {
                let rows = rows.iter().filter(|row| row.pattern == pattern);
                rows.map(|row| (row.place, float(row.time))).collect()
            };
            let changes = places.changes(of(&old.waits), of(&new.waits), divisors);
            comparison.waits.extend(changes.into_iter().map(|change| (pattern, change)));
        }
    }
    comparison.functions = functions(base, other, &names, divisors);
    comparison.at_peak = at_peak(base, other, &places, divisors);
    comparison.verdict = verdict::verdict(&comparison, &places);
    comparison
}

/// Names of the other run in the words of the base.
struct Names<'r> {
    old_of: BTreeMap<&'r FunctionName, &'r FunctionName>,
}

impl<'r> Names<'r> {
    fn new(renamed: &'r [Renamed]) -> Self {
        Self { old_of: renamed.iter().map(|pair| (&pair.new, &pair.old)).collect() }
    }

    fn function(&self, new: &FunctionName) -> FunctionName {
        self.old_of.get(new).map_or_else(|| new.clone(), |old| (*old).clone())
    }

    fn region(&self, new: &RegionName) -> RegionName {
        let old = new.function().and_then(|function| self.old_of.get(&function).copied());
        match old {
            Some(old) => RegionName { noun: old.name.clone(), file: old.file.clone(), ..new.clone() },
            None => new.clone(),
        }
    }

    fn place(&self, new: &Place) -> Place {
        Place { kind: new.kind, region: self.region(&new.region), caller: self.function(&new.caller) }
    }
}

/// Places of both runs.
struct Matched {
    pairs: Vec<PlacePair>,
    /// Of each place of the base its pair.
    of_base: Vec<usize>,
    /// Of each place of the other.
    of_other: Vec<usize>,
}

impl Matched {
    fn places(base: &Digest, other: &Digest, names: &Names<'_>) -> Self {
        let mut matched = Self { pairs: Vec::new(), of_base: Vec::new(), of_other: Vec::new() };
        let mut known: BTreeMap<Place, usize> = BTreeMap::new();
        for (row, number) in base.places.iter().zip(0..) {
            known.insert(row.place.clone(), matched.pairs.len());
            matched.of_base.push(matched.pairs.len());
            matched.pairs.push(PlacePair { base: Some(number), other: None });
        }
        for (row, number) in other.places.iter().zip(0..) {
            let pair = *known.entry(names.place(&row.place)).or_insert_with(|| {
                matched.pairs.push(PlacePair::default());
                matched.pairs.len() - 1
            });
            // Of two that come to have one name, the first stands for both.
            matched.pairs[pair].other.get_or_insert(number);
            matched.of_other.push(pair);
        }
        matched
    }

    /// Adds up by place what both runs have.
    fn changes(&self, old: Vec<(u32, f64)>, new: Vec<(u32, f64)>, divisors: (f64, f64)) -> Vec<Change> {
        let mut rows: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (place, value) in old {
            rows.entry(self.of_base[place as usize]).or_default().0 += value / divisors.0;
        }
        for (place, value) in new {
            rows.entry(self.of_other[place as usize]).or_default().1 += value / divisors.1;
        }
        let mut rows: Vec<Change> =
            rows.into_iter().map(|(place, (old, new))| Change { place, old, new }).collect();
        rows.retain(|row| row.old != 0.0 || row.new != 0.0);
        // Of equal differences, the one with more; then in the order of places.
        rows.sort_by(|a, b| {
            let size = |row: &Change| (row.difference().abs(), row.old.max(row.new));
            let (a, b) = (size(a), size(b));
            b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
        });
        rows
    }

    /// Adds up by the places of causes and of waits what both runs have.
    fn effects(
        &self,
        old: &[(u32, u32, f64)],
        new: &[(u32, u32, f64)],
        divisors: (f64, f64),
    ) -> Vec<(usize, Change)> {
        let mut rows: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
        for (cause, place, cost) in old {
            let pair = (self.of_base[*cause as usize], self.of_base[*place as usize]);
            rows.entry(pair).or_default().0 += cost / divisors.0;
        }
        for (cause, place, cost) in new {
            let pair = (self.of_other[*cause as usize], self.of_other[*place as usize]);
            rows.entry(pair).or_default().1 += cost / divisors.1;
        }
        rows.into_iter().map(|((cause, place), (old, new))| (cause, Change { place, old, new })).collect()
    }
}

fn region_pairs<'d>(base: &'d Digest, other: &'d Digest, names: &Names<'_>) -> Vec<RegionPair<'d>> {
    let mut pairs: BTreeMap<RegionName, RegionPair<'d>> = BTreeMap::new();
    for row in &base.regions {
        pairs.insert(row.region.clone(), RegionPair { base: Some(row), other: None });
    }
    for row in &other.regions {
        let none = RegionPair { base: None, other: None };
        pairs.entry(names.region(&row.region)).or_insert(none).other.get_or_insert(row);
    }
    pairs.into_values().collect()
}

fn path_pairs(base: &Digest, other: &Digest, matched: &Matched) -> Vec<PathPair> {
    /// Where a path is: beneath which one, and in which place.
    type Step = (Option<usize>, usize);
    let mut numbers: BTreeMap<Step, usize> = BTreeMap::new();
    let mut rows: Vec<(Step, [Option<Sums>; 2])> = Vec::new();
    let mut add = |paths: &[PathSums], places: &[usize], side: usize| {
        let mut of: Vec<usize> = Vec::with_capacity(paths.len());
        for path in paths {
            let step = (path.parent.map(|parent| of[parent as usize]), places[path.place as usize]);
            let number = *numbers.entry(step).or_insert_with(|| {
                rows.push((step, [None; 2]));
                rows.len() - 1
            });
            of.push(number);
            if path.sums.visits > 0 {
                rows[number].1[side].get_or_insert_default().join(&path.sums);
            }
        }
    };
    add(&base.paths, &matched.of_base, 0);
    add(&other.paths, &matched.of_other, 1);
    let names = |mut at: Step| {
        let mut places = vec![at.1];
        while let Some(above) = at.0 {
            at = rows[above].0;
            places.push(at.1);
        }
        places.reverse();
        places
    };
    let is_visited = |row: &&(Step, [Option<Sums>; 2])| row.1 != [None; 2];
    let pair =
        |row: &(Step, [Option<Sums>; 2])| PathPair { places: names(row.0), base: row.1[0], other: row.1[1] };
    rows.iter().filter(is_visited).map(pair).collect()
}

fn functions(base: &Digest, other: &Digest, names: &Names<'_>, divisors: (f64, f64)) -> Vec<FunctionChange> {
    let mut rows: BTreeMap<FunctionName, FunctionChange> = BTreeMap::new();
    for row in &base.functions {
        let old = float(row.time) / divisors.0;
        let function = row.function.clone();
        rows.insert(function.clone(), FunctionChange { function, line: row.line, old, new: 0.0 });
    }
    for row in &other.functions {
        let none = || FunctionChange { function: FunctionName::default(), line: 0, old: 0.0, new: 0.0 };
        let change = rows.entry(names.function(&row.function)).or_insert_with(none);
        (change.function, change.line) = (row.function.clone(), row.line);
        change.new += float(row.time) / divisors.1;
    }
    let mut rows: Vec<FunctionChange> = rows.into_values().collect();
    rows.sort_by(|a, b| (b.new - b.old).abs().total_cmp(&(a.new - a.old).abs()));
    rows
}

#[expect(clippy::cast_precision_loss, reason = "three digits are told")]
fn at_peak(
    base: &Digest,
    other: &Digest,
    matched: &Matched,
    divisors: (f64, f64),
) -> Vec<(Option<usize>, f64, f64)> {
    let mut rows: BTreeMap<Option<usize>, (f64, f64)> = BTreeMap::new();
    for row in &base.allocations {
        let place = row.place.map(|place| matched.of_base[place as usize]);
        rows.entry(place).or_default().0 += row.at_peak as f64 / divisors.0;
    }
    for row in &other.allocations {
        let place = row.place.map(|place| matched.of_other[place as usize]);
        rows.entry(place).or_default().1 += row.at_peak as f64 / divisors.1;
    }
    let mut rows: Vec<_> = rows.into_iter().map(|(place, (old, new))| (place, old, new)).collect();
    rows.sort_by(|a, b| (b.2 - b.1).abs().total_cmp(&(a.2 - a.1).abs()));
    rows
}
