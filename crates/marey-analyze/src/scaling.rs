//! Runs of one program at several sizes: how each part of it grows.
//!
//! The one idea: digests are matched by name, each number of each name becomes a series over the runs, and each series a
//! model ([`crate::models`]); the rest follows from predictions.
//!
//! The definitions are those of `docs/scaling.md`. Time grows with the number of names in all runs.
//!
//! What is deliberately absent: renamed functions, for the runs are of one program, and where sizes come from.

mod efficiencies;
mod ranking;

use std::collections::BTreeMap;

use marey_model::Nanos;

use crate::digest::{Digest, Explained, Place, PlaceKind, RegionName};
use crate::models::Model;
use crate::paths::float;
use crate::profile::count;

pub use efficiencies::{ScaledEfficiency, Work, efficiencies};
pub use ranking::{Domination, Ranked, Ranking, ranking};

/// What is measured of a part of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Measure {
    /// Time on the critical path, s; of the run its duration.
    Path,
    /// Time of a rank, or of a thread where there are no ranks, s.
    TimePerRank,
    /// Time of all ranks and threads, s.
    Time,
    /// Visits.
    Visits,
    /// Data moved, bytes.
    Bytes,
    /// Waits, s.
    Waiting,
    /// Waiting of others that followed from it, s.
    DelayCost,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Path,
        Self::TimePerRank,
        Self::Time,
        Self::Visits,
        Self::Bytes,
        Self::Waiting,
        Self::DelayCost,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::TimePerRank => "time_per_rank",
            Self::Time => "time",
            Self::Visits => "visits",
            Self::Bytes => "bytes",
            Self::Waiting => "waiting",
            Self::DelayCost => "delay_cost",
        }
    }
}

/// What a series is of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ScaledSubject {
    /// The run as a whole.
    Run,
    /// The time before the critical path begins.
    Before,
    /// A region, whoever calls it.
    Region(RegionName),
    /// Which of [`Scaling::places`].
    Place(usize),
    /// A call path: places, root first.
    Path(Vec<usize>),
}

/// A part of the program.
#[derive(Clone, PartialEq, Debug)]
pub struct ScaledRow {
    /// What it is.
    pub subject: ScaledSubject,
    /// What was measured of it, without what is 0 in all runs.
    pub measures: Vec<ScaledMeasure>,
}

impl ScaledRow {
    /// One of its measures.
    pub fn of(&self, measure: Measure) -> Option<&ScaledMeasure> {
        self.measures.iter().find(|it| it.measure == measure)
    }
}

/// A number over the runs.
#[derive(Clone, PartialEq, Debug)]
pub struct ScaledMeasure {
    /// Which.
    pub measure: Measure,
    /// Of each run; `None` = not measured.
    pub values: Vec<Option<f64>>,
    /// How it grows; `None` = sizes are too few.
    pub model: Option<Model>,
}

/// Runs at several sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Scaling {
    /// The size of each run.
    pub sizes: Vec<f64>,
    /// Places of all runs, and a line of each.
    pub places: Vec<(Place, u32)>,
    /// The run, the time before the critical path, regions, places and call paths.
    pub rows: Vec<ScaledRow>,
}

impl Scaling {
    /// The model of any other number of the runs.
    pub fn model(sizes: &[f64], values: &[Option<f64>]) -> Option<Model> {
        let known: Vec<(f64, f64)> =
            sizes.iter().zip(values).filter_map(|(size, value)| Some((*size, (*value)?))).collect();
        // A size without a value would bend the curve, if what was not measured is not there by chance.
        let is_missing = sizes.iter().any(|size| known.iter().all(|point| point.0 != *size));
        if is_missing { None } else { Model::fit(&known) }
    }

    /// The run as a whole.
    pub fn run(&self) -> Option<&ScaledRow> {
        self.rows.iter().find(|row| row.subject == ScaledSubject::Run)
    }
}

/// How many share the time of a run: ranks, or threads where there are none.
fn n_sharing(run: &Digest) -> f64 {
    let ranks = run.processes.iter().filter(|process| process.rank.is_some()).count();
    let threads = run.locations.iter().filter(|at| at.lane.is_empty()).count();
    count(if ranks > 0 { ranks } else { threads }.max(1) as u64)
}

fn seconds(ns: f64) -> f64 {
    ns / 1e9
}

/// Values of one run by subject, as they are added up.
struct Values<'s> {
    rows: &'s mut BTreeMap<ScaledSubject, BTreeMap<Measure, Vec<f64>>>,
    at: usize,
    n_runs: usize,
}

impl Values<'_> {
    fn add(&mut self, subject: ScaledSubject, measure: Measure, value: f64) {
        let values =
            self.rows.entry(subject).or_default().entry(measure).or_insert_with(|| vec![0.0; self.n_runs]);
        values[self.at] += value;
    }

    /// What a subject took, in all and of each rank.
    fn add_time(&mut self, subject: ScaledSubject, time: f64, run: &Digest) {
        self.add(subject.clone(), Measure::TimePerRank, seconds(time) / n_sharing(run));
        self.add(subject, Measure::Time, seconds(time));
    }

    fn add_sums(&mut self, subject: &ScaledSubject, sums: &crate::digest::Sums, run: &Digest) {
        self.add_time(subject.clone(), float(sums.exclusive), run);
        self.add(subject.clone(), Measure::Visits, count(sums.visits));
        self.add(subject.clone(), Measure::Bytes, count(sums.bytes));
    }
}

/// How a program grows, from runs and their sizes.
pub fn scaling(runs: &[(f64, &Digest)]) -> Scaling {
    let mut places = Places::default();
    let mut rows = BTreeMap::new();
    for (at, (_, run)) in runs.iter().enumerate() {
        let of: Vec<usize> = run.places.iter().map(|row| places.number(&row.place, row.line)).collect();
        let mut values = Values { rows: &mut rows, at, n_runs: runs.len() };
        add_sums(&mut values, run, &of);
        if let Some(explained) = explained(run) {
            add_explained(&mut values, run, explained, &of);
        }
    }
    let sizes: Vec<f64> = runs.iter().map(|run| run.0).collect();
    let has_events: Vec<bool> = runs.iter().map(|(_, run)| explained(run).is_some()).collect();
    let measure = |(measure, values): (Measure, Vec<f64>), is_run: bool| {
        if values.iter().all(|value| *value == 0.0) {
            return None;
        }
        // The duration is known without events.
        let needs_events = matches!(measure, Measure::Path | Measure::Waiting | Measure::DelayCost)
            && !(is_run && measure == Measure::Path);
        let known = values.into_iter().zip(&has_events);
        let values: Vec<Option<f64>> =
            known.map(|(value, has_events)| (!needs_events || *has_events).then_some(value)).collect();
        let model = Scaling::model(&sizes, &values);
        Some(ScaledMeasure { measure, values, model })
    };
    let row = |(subject, measures): (ScaledSubject, BTreeMap<Measure, Vec<f64>>)| {
        let is_run = subject == ScaledSubject::Run;
        let measures: Vec<_> = measures.into_iter().filter_map(|it| measure(it, is_run)).collect();
        (!measures.is_empty()).then_some(ScaledRow { subject, measures })
    };
    let rows = rows.into_iter().filter_map(row).collect();
    Scaling { sizes, places: places.rows, rows }
}

/// What explains a run, if all its events are there.
fn explained(run: &Digest) -> Option<&Explained> {
    run.explained.as_ref().filter(|explained| explained.is_whole)
}

/// Places of all runs.
#[derive(Default)]
struct Places {
    rows: Vec<(Place, u32)>,
    numbers: BTreeMap<Place, usize>,
}

impl Places {
    fn number(&mut self, place: &Place, line: u32) -> usize {
        *self.numbers.entry(place.clone()).or_insert_with(|| {
            self.rows.push((place.clone(), line));
            self.rows.len() - 1
        })
    }
}

fn add_sums(values: &mut Values<'_>, run: &Digest, of: &[usize]) {
    values.add(ScaledSubject::Run, Measure::Path, seconds(float(run.duration)));
    values.add_time(ScaledSubject::Run, float(run.alive), run);
    for row in &run.regions {
        values.add(ScaledSubject::Run, Measure::Visits, count(row.sums.visits));
        values.add(ScaledSubject::Run, Measure::Bytes, count(row.sums.bytes));
        values.add_sums(&ScaledSubject::Region(row.region.clone()), &row.sums, run);
    }
    let mut outside = float(run.alive);
    for (row, number) in run.places.iter().zip(of) {
        if row.place.kind == PlaceKind::Call {
            values.add_sums(&ScaledSubject::Place(*number), &row.sums, run);
            outside -= float(row.sums.exclusive);
        }
    }
    let rest = run.places.iter().position(|row| row.place.kind == PlaceKind::Outside);
    if let Some(place) = rest {
        values.add_time(ScaledSubject::Place(of[place]), outside.max(0.0), run);
    }
    let mut ways: Vec<Vec<usize>> = Vec::with_capacity(run.paths.len());
    for path in &run.paths {
        let above = path.parent.and_then(|parent| ways.get(parent as usize));
        let mut way = above.cloned().unwrap_or_default();
        way.push(of[path.place as usize]);
        if path.sums.visits > 0 {
            values.add_sums(&ScaledSubject::Path(way.clone()), &path.sums, run);
        }
        ways.push(way);
    }
}

fn add_explained(values: &mut Values<'_>, run: &Digest, explained: &Explained, of: &[usize]) {
    let time = |time: Nanos| seconds(float(time));
    values.add(ScaledSubject::Run, Measure::Waiting, time(explained.waiting));
    values.add(ScaledSubject::Before, Measure::Path, time(explained.before));
    let subjects = |place: u32| {
        let name = &run.places[place as usize].place;
        let region = (name.kind == PlaceKind::Call).then(|| ScaledSubject::Region(name.region.clone()));
        [Some(ScaledSubject::Place(of[place as usize])), region]
    };
    for row in &explained.times {
        for subject in subjects(row.place).into_iter().flatten() {
            values.add(subject.clone(), Measure::Path, time(row.on_path));
            values.add(subject, Measure::Waiting, time(row.waiting));
        }
    }
    for (place, _, cost) in &explained.costs {
        for subject in subjects(*place).into_iter().flatten() {
            values.add(subject, Measure::DelayCost, seconds(*cost));
        }
    }
}
