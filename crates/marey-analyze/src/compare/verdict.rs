//! What made a run longer or shorter than another.
//!
//! The one idea: the length of a run is the time on its critical path, place by place, so the difference of two runs is
//! divided among places and nothing is left over; what else is known of a place tells why.
//!
//! The definitions are those of `docs/compare.md`.

use std::collections::BTreeMap;

use marey_model::Nanos;

use super::{Change, Comparison, Matched, n_processes};
use crate::digest::{Digest, Explained, PlaceKind, Sums};
use crate::paths::float;
use crate::profile::count;

/// Of the base: below this a difference is not worth a word …
const LEAST: f64 = 0.01;
/// … nor below this part of the difference of the runs.
const LEAST_OF_DIFFERENCE: f64 = 0.1;
/// More causes than a person wants to read at once.
const MOST: usize = 5;
/// Locations are named that changed by this part of what the one did that changed most.
const NAMED: f64 = 0.5;
/// A function is named if its processor time changed by this part of the difference.
const LEAST_OF_FUNCTION: f64 = 0.5;
/// Waiting that follows is told from this share on.
const LEAST_SHARE: f64 = 0.05;

/// What made the difference.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Verdict {
    /// Which way.
    pub direction: Direction,
    /// Whether changes are times on the critical path; else they are exclusive times, mean of a process.
    pub is_of_path: bool,
    /// What made the run longer or shorter; of one that is about as long, what changed.
    pub causes: Vec<Cause>,
    /// What was won or lost elsewhere.
    pub elsewhere: Vec<Cause>,
}

/// Whether a run is longer than another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// By less than 1 % of the base.
    #[default]
    AsLong,
    /// Longer.
    Longer,
    /// Shorter.
    Shorter,
}

/// A place that made a difference.
#[derive(Clone, PartialEq, Debug)]
pub struct Cause {
    /// What.
    pub subject: Subject,
    /// Its time in the base, ns.
    pub old: f64,
    /// In the other.
    pub new: f64,
    /// Whose time there changed: numbers of locations of the other run, or of the base if that is not in the place any
    /// more. None if all did.
    pub locations: Vec<u32>,
    /// Visits in the base and in the other, as the basis says; `None` = not in calls.
    pub visits: Option<(f64, f64)>,
    /// Mean time of a visit, waits left out, ns; `None` = not known.
    pub mean: (Option<f64>, Option<f64>),
    /// The part of the change of all waiting that follows from it, and the place of most of these waits.
    pub share: Option<(f64, Option<usize>)>,
    /// Of computation: which of [`Comparison::functions`].
    pub function: Option<usize>,
    /// Of computation: processor time of functions by samples, mean of a process, ns, in the base and in the other; `None`
    /// = not sampled.
    pub processor: Option<(f64, f64)>,
}

impl Cause {
    /// How much longer.
    pub fn difference(&self) -> f64 {
        self.new - self.old
    }

    /// Whether computation took longer, and most of that without a processor.
    pub fn is_without_processor(&self) -> bool {
        let more = self.difference();
        more > 0.0 && self.processor.is_some_and(|(old, new)| new - old < LEAST_OF_FUNCTION * more)
    }
}

/// What made a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A place, by its number in [`Comparison::places`].
    Place(usize),
    /// The time of the run before its critical path begins.
    Before,
}

pub(super) fn verdict(comparison: &Comparison<'_>, matched: &Matched) -> Verdict {
    let (old, new) = (float(comparison.base.duration), float(comparison.other.duration));
    let difference = new - old;
    let direction = match difference {
        _ if difference.abs() < LEAST * old || difference == 0.0 => Direction::AsLong,
        _ if difference > 0.0 => Direction::Longer,
        _ => Direction::Shorter,
    };
    let whole = comparison.explained();
    let least = (LEAST * old).max(LEAST_OF_DIFFERENCE * difference.abs());
    let is_worth_it = |difference: f64| difference.abs() >= least && difference != 0.0;
    let is_worthwhile = |cause: &Cause| is_worth_it(cause.difference());
    let mut all: Vec<Cause> = match whole {
        Some((old, new)) => {
            let telling = Telling { comparison, matched, old, new };
            // Only of these more is asked, which costs a look at all rows.
            let changes = comparison.path.iter().filter(|change| is_worth_it(change.difference()));
            let places = changes.map(|change| telling.cause(change));
            places.chain([telling.before()]).filter(is_worthwhile).collect()
        }
        None => by_profile(comparison).into_iter().filter(is_worthwhile).collect(),
    };
    all.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    let is_same_way = |cause: &Cause| match direction {
        Direction::AsLong => true,
        Direction::Longer => cause.difference() > 0.0,
        Direction::Shorter => cause.difference() < 0.0,
    };
    let (mut causes, mut elsewhere): (Vec<_>, Vec<_>) = all.into_iter().partition(is_same_way);
    causes.truncate(MOST);
    elsewhere.truncate(MOST);
    Verdict { direction, is_of_path: whole.is_some(), causes, elsewhere }
}

/// Exclusive times, where there is no critical path.
fn by_profile(comparison: &Comparison<'_>) -> Vec<Cause> {
    let of = |run: &Digest, place: Option<u32>| {
        let sums = place.map_or_else(Sums::default, |place| run.places[place as usize].sums);
        float(sums.exclusive) / n_processes(run)
    };
    let (base, other) = (comparison.base, comparison.other);
    let cause = |(place, pair): (usize, &super::PlacePair)| Cause {
        subject: Subject::Place(place),
        old: of(base, pair.base),
        new: of(other, pair.other),
        locations: Vec::new(),
        visits: visits(comparison, place),
        mean: (
            mean(base, pair.base, |sums| float(sums.exclusive)),
            mean(other, pair.other, |sums| float(sums.exclusive)),
        ),
        share: None,
        function: None,
        processor: None,
    };
    comparison.places.iter().enumerate().map(cause).collect()
}

/// Visits of a place in both runs, as the basis says.
fn visits(comparison: &Comparison<'_>, place: usize) -> Option<(f64, f64)> {
    let pair = comparison.places[place];
    let of = |run: &Digest, number: Option<u32>| {
        number.map_or(0.0, |number| count(run.places[number as usize].sums.visits))
    };
    let divisors = comparison.divisors();
    let is_call = comparison.name(place).0.kind == PlaceKind::Call;
    is_call
        .then(|| (of(comparison.base, pair.base) / divisors.0, of(comparison.other, pair.other) / divisors.1))
}

/// The mean of a visit.
fn mean(run: &Digest, place: Option<u32>, time: impl Fn(&Sums) -> f64) -> Option<f64> {
    let row = &run.places[place? as usize];
    let timed = row.sums.visits.saturating_sub(row.sums.untimed);
    (row.place.kind == PlaceKind::Call && timed > 0).then(|| time(&row.sums) / count(timed))
}

struct Telling<'c> {
    comparison: &'c Comparison<'c>,
    matched: &'c Matched,
    old: &'c Explained,
    new: &'c Explained,
}

impl Telling<'_> {
    fn before(&self) -> Cause {
        Cause {
            subject: Subject::Before,
            old: float(self.old.before),
            new: float(self.new.before),
            locations: Vec::new(),
            visits: None,
            mean: (None, None),
            share: None,
            function: None,
            processor: None,
        }
    }

    fn cause(&self, change: &Change) -> Cause {
        let (comparison, place) = (self.comparison, change.place);
        let pair = comparison.places[place];
        let times = [times_in(self.old, pair.base), times_in(self.new, pair.other)];
        let time = |side: usize| times[side].values().map(|time| float(*time)).sum::<f64>();
        Cause {
            subject: Subject::Place(place),
            old: change.old,
            new: change.new,
            locations: self.who(&times, change.difference().signum()),
            visits: visits(comparison, place),
            mean: (
                mean(comparison.base, pair.base, |_| time(0)),
                mean(comparison.other, pair.other, |_| time(1)),
            ),
            share: self.share(change),
            function: self.function(change),
            processor: self.processor(change),
        }
    }

    /// Whose time changed.
    fn who(&self, times: &[BTreeMap<u32, Nanos>; 2], sign: f64) -> Vec<u32> {
        let [old, new] = times;
        let (base, other) = (&self.comparison.base.locations, &self.comparison.other.locations);
        let identities = |run: &'_ [crate::digest::Where]| -> BTreeMap<_, u32> {
            let owned = |at: &crate::digest::Where| {
                let (world, rank, process, thread, lane) = at.identity();
                (world, rank, process, thread, lane.to_owned())
            };
            run.iter().map(owned).zip(0..).collect()
        };
        let (numbers_old, numbers_new) = (identities(base), identities(other));
        let is_same = numbers_old.len() == numbers_new.len()
            && numbers_old.keys().zip(numbers_new.keys()).all(|(a, b)| a == b);
        let changes: Vec<(u32, f64)> = if is_same {
            let pairs = numbers_old.values().zip(numbers_new.values());
            let in_place = pairs.filter(|(a, b)| old.contains_key(a) || new.contains_key(b));
            let time = |of: &BTreeMap<u32, Nanos>, at: &u32| of.get(at).map_or(0.0, |time| float(*time));
            in_place.map(|(a, b)| (*b, time(new, b) - time(old, a))).collect()
        } else if new.is_empty() {
            old.iter().map(|(location, time)| (*location, -float(*time))).collect()
        } else {
            let sum: f64 = old.values().map(|time| float(*time)).sum();
            let mean = sum / count(old.len().max(1) as u64);
            new.iter().map(|(location, time)| (*location, float(*time) - mean)).collect()
        };
        let most = changes.iter().map(|(_, change)| change * sign).fold(0.0, f64::max);
        let named: Vec<u32> = changes
            .iter()
            .filter(|(_, change)| most > 0.0 && change * sign >= NAMED * most)
            .map(|it| it.0)
            .collect();
        let is_only = changes.len() == 1 && base.len().max(other.len()) > 1;
        if named.len() == changes.len() && !is_only { Vec::new() } else { named }
    }

    /// What waiting follows.
    fn share(&self, change: &Change) -> Option<(f64, Option<usize>)> {
        let (old, new) = self.comparison.divisors();
        let waiting = float(self.new.waiting) / new - float(self.old.waiting) / old;
        let cost = self.comparison.costs.iter().find(|cost| cost.place == change.place)?.difference();
        let sign = change.difference().signum();
        if waiting * sign <= 0.0 || cost * sign <= 0.0 || cost / waiting < LEAST_SHARE {
            return None;
        }
        let pair = self.comparison.places[change.place];
        let of = |rows: &[(u32, u32, f64)], place: Option<u32>| -> Vec<(u32, f64)> {
            rows.iter().filter(|row| Some(row.0) == place).map(|row| (row.1, row.2)).collect()
        };
        let effects = self.matched.changes(
            of(&self.old.effects, pair.base),
            of(&self.new.effects, pair.other),
            (old, new),
        );
        let most = effects.iter().max_by(|a, b| (a.difference() * sign).total_cmp(&(b.difference() * sign)));
        let place = most.filter(|most| most.difference() * sign > 0.0).map(|most| most.place);
        // What is propagated may come to more than there is new, where other waiting went away.
        Some(((cost / waiting).min(1.0), place))
    }

    /// In which function the computation changed.
    fn function(&self, change: &Change) -> Option<usize> {
        if self.comparison.name(change.place).0.kind != PlaceKind::Outside {
            return None;
        }
        let sign = change.difference().signum();
        let changes = self.comparison.functions.iter().map(|row| (row.new - row.old) * sign).enumerate();
        let (at, most) = changes.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (most > 0.0 && most >= LEAST_OF_FUNCTION * change.difference().abs()).then_some(at)
    }
}

impl Telling<'_> {
    /// How much of the computation had a processor.
    fn processor(&self, change: &Change) -> Option<(f64, f64)> {
        let is_outside = self.comparison.name(change.place).0.kind == PlaceKind::Outside;
        let of = |run: &Digest| {
            let time: f64 = run.functions.iter().map(|row| float(row.time)).sum();
            (time > 0.0).then(|| time / n_processes(run))
        };
        is_outside.then(|| Some((of(self.comparison.base)?, of(self.comparison.other)?))).flatten()
    }
}

/// How long each location was in a place, waits left out.
fn times_in(run: &Explained, place: Option<u32>) -> BTreeMap<u32, Nanos> {
    let rows = run.times.iter().filter(|row| Some(row.place) == place && row.time > Nanos(0));
    rows.map(|row| (row.location, row.time)).collect()
}
