//! What made a time longer or shorter.
//!
//! The one idea: a time is what was waited and, for each visit, what it took besides. So its difference is the sum of three
//! parts: more waiting, more visits as long as before, and visits that take longer. The largest part that goes the same
//! way is the reason; of waiting, the reason is what was done elsewhere meanwhile.

use std::collections::BTreeMap;

use marey_analyze::{Change, Comparison, Digest, PlaceKind, Subject};

use super::ids::Ids;
use crate::fold::float;
use crate::wire::{Reason, Why};

/// What is known of a time in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) visits: f64,
    /// Those of which the time is known.
    pub(super) timed: f64,
    /// Time, waits left out, ns.
    pub(super) own: f64,
    pub(super) waiting: f64,
}

impl Parts {
    fn add(&mut self, more: &Self) {
        self.visits += more.visits;
        self.timed += more.timed;
        self.own += more.own;
        self.waiting += more.waiting;
    }
}

/// What is known of all places.
pub(super) struct Reasons<'c> {
    comparison: &'c Comparison<'c>,
    ids: &'c Ids<'c>,
    /// Of each place, in the base and in the other run.
    of: Vec<[Parts; 2]>,
}

impl<'c> Reasons<'c> {
    pub(super) fn new(comparison: &'c Comparison<'c>, ids: &'c Ids<'c>) -> Self {
        let (old, new) = comparison.divisors();
        let (base, other) = (by_place(comparison.base, old), by_place(comparison.other, new));
        let parts = |of: &[Parts], place: Option<u32>| {
            place.and_then(|place| of.get(place as usize)).copied().unwrap_or_default()
        };
        let of = comparison.places.iter().map(|pair| [parts(&base, pair.base), parts(&other, pair.other)]);
        Self { of: of.collect(), comparison, ids }
    }

    /// Why some places together have more, or less.
    pub(super) fn of_places(&self, places: &[usize], difference: f64) -> Option<Why> {
        let mut sums = [Parts::default(); 2];
        for place in places {
            sums.iter_mut().zip(&self.of[*place]).for_each(|(sum, more)| sum.add(more));
        }
        let mut why = of_parts(&sums, difference)?;
        if why.what == Reason::Waiting {
            why.place = self.waited_for(places, difference).map(|place| self.ids.place(place));
        }
        Some(why)
    }

    /// Why more is waited, or less: for whom.
    pub(super) fn of_waits(&self, change: &Change) -> Option<Why> {
        let place = self.waited_for(&[change.place], change.difference())?;
        let place = Some(self.ids.place(place));
        Some(Why { what: Reason::Waiting, old: change.old, new: change.new, place, function: String::new() })
    }

    /// Why a place has more of the critical path, or less.
    pub(super) fn on_path(&self, place: usize, difference: f64) -> Option<Why> {
        if self.comparison.name(place).0.kind != PlaceKind::Call {
            return self.computing(place, difference);
        }
        let [old, new] = self.of[place].map(|parts| parts.own + parts.waiting);
        let shifted = Why { what: Reason::Shifted, old, new, place: None, function: String::new() };
        Some(self.of_places(&[place], difference).unwrap_or(shifted))
    }

    fn computing(&self, place: usize, difference: f64) -> Option<Why> {
        let [old, new] = self.of[place].map(|parts| parts.own);
        let verdict = &self.comparison.verdict;
        let mut causes = verdict.causes.iter().chain(&verdict.elsewhere);
        let cause = causes.find(|cause| cause.subject == Subject::Place(place));
        let row = cause.and_then(|cause| cause.function).and_then(|at| self.comparison.functions.get(at));
        let function = row.map_or_else(String::new, |row| row.function.name.clone());
        let what = if (new - old) * difference > 0.0 { Reason::Computing } else { Reason::Shifted };
        Some(Why { what, old, new, place: None, function })
    }

    /// The place that waiting in some places follows from: the one of which it changed most.
    fn waited_for(&self, places: &[usize], difference: f64) -> Option<usize> {
        let mut by_cause: BTreeMap<usize, f64> = BTreeMap::new();
        for (cause, change) in self.comparison.effects.iter().filter(|(_, it)| places.contains(&it.place)) {
            *by_cause.entry(*cause).or_default() += change.difference() * difference.signum();
        }
        let most = by_cause.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        most.filter(|(_, change)| *change > 0.0).map(|(cause, _)| cause)
    }
}

/// Why a time changed by so much.
pub(super) fn of_parts([old, new]: &[Parts; 2], difference: f64) -> Option<Why> {
    let why = |what, old, new| Some(Why { what, old, new, place: None, function: String::new() });
    if difference == 0.0 {
        return None;
    }
    match (old.visits > 0.0, new.visits > 0.0) {
        (false, false) => return None,
        (false, true) => return why(Reason::New, old.visits, new.visits),
        (true, false) => return why(Reason::Gone, old.visits, new.visits),
        (true, true) => {}
    }
    let mean = |parts: &Parts| if parts.timed > 0.0 { parts.own / parts.timed } else { 0.0 };
    let waiting = new.waiting - old.waiting;
    let calls = (new.visits - old.visits) * mean(old);
    let each = new.own - old.own - calls;
    let parts = [
        (Reason::Waiting, waiting, old.waiting, new.waiting),
        (Reason::Calls, calls, old.visits, new.visits),
        (Reason::Each, each, mean(old), mean(new)),
    ];
    let most = parts.iter().max_by(|a, b| (a.1 * difference).total_cmp(&(b.1 * difference)))?;
    if most.1 * difference <= 0.0 {
        return None;
    }
    why(most.0, most.2, most.3)
}

/// What is known of each place of a run, divided.
#[expect(clippy::cast_precision_loss, reason = "visits are told with three digits")]
fn by_place(run: &Digest, divisor: f64) -> Vec<Parts> {
    let of_sums = |sums: &marey_analyze::Sums| Parts {
        visits: sums.visits as f64,
        timed: sums.visits.saturating_sub(sums.untimed) as f64,
        own: float(sums.exclusive.0),
        waiting: 0.0,
    };
    let mut all: Vec<Parts> = run.places.iter().map(|row| of_sums(&row.sums)).collect();
    if let Some(explained) = run.explained.as_ref().filter(|explained| explained.is_whole) {
        for parts in &mut all {
            parts.own = 0.0;
        }
        for row in &explained.times {
            if let Some(parts) = all.get_mut(row.place as usize) {
                parts.own += float(row.time.0);
                parts.waiting += float(row.waiting.0);
            }
        }
    }
    for parts in &mut all {
        for number in [&mut parts.visits, &mut parts.timed, &mut parts.own, &mut parts.waiting] {
            *number /= divisor;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: [f64; 3], new: [f64; 3], expected: Option<(Reason, f64, f64)>) {
        let parts = |[visits, own, waiting]: [f64; 3]| Parts { visits, timed: visits, own, waiting };
        let difference = new[1] + new[2] - old[1] - old[2];
        let found = of_parts(&[parts(old), parts(new)], difference);
        assert_eq!(found.map(|it| (it.what, it.old, it.new)), expected, "{old:?} {new:?}");
    }

    #[test]
    fn the_largest_part_of_a_difference_is_its_reason() {
        check([10.0, 100.0, 5.0], [10.0, 120.0, 5.0], Some((Reason::Each, 10.0, 12.0)));
        check([10.0, 100.0, 5.0], [20.0, 200.0, 5.0], Some((Reason::Calls, 10.0, 20.0)));
        check([10.0, 100.0, 5.0], [10.0, 101.0, 50.0], Some((Reason::Waiting, 5.0, 50.0)));
        // Twice as many calls, each of half the length, and less waiting.
        check([10.0, 100.0, 50.0], [20.0, 100.0, 5.0], Some((Reason::Each, 10.0, 5.0)));
        check([0.0, 0.0, 0.0], [3.0, 30.0, 0.0], Some((Reason::New, 0.0, 3.0)));
        check([3.0, 30.0, 0.0], [0.0, 0.0, 0.0], Some((Reason::Gone, 3.0, 0.0)));
        check([3.0, 30.0, 0.0], [4.0, 30.0, 0.0], None);
    }
}
