//! What explains a run, by names.
//!
//! The one idea: the rows are those of [`Causes`], added up by place; sums stay what they were.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Nanos};

use super::names::PlaceKind;
use super::read::{Places, number_of};
use super::{Digest, Explained, PlaceTime, WaitSums};
use crate::activities::Activity;
use crate::causes::{Causes, wait_states};
use crate::efficiency::{efficiency, efficiency_even_alone};
use crate::findings::findings;
use crate::paths::{Paths, float};
use crate::trace::Trace;

/// Of the timed exclusive time of the profile that much must be in intervals.
const WHOLE: f64 = 0.9;

impl Digest {
    /// Adds what explains the run, which must be the same.
    pub fn explain(&mut self, run: &dyn Trace, causes: &Causes) {
        let named = Places::of(run);
        let (outside, not_started) =
            (self.place_without_region(PlaceKind::Outside), self.place_without_region(PlaceKind::NotStarted));
        let unknown = self.place_without_region(PlaceKind::Call);
        let of_path = |path: Option<CallPathId>| {
            path.and_then(|path| named.of_path.get(path.idx()).copied()).unwrap_or(unknown)
        };
        let of = |activity: Activity| match activity {
            Activity::Path(path) => of_path(Some(path)),
            Activity::Outside => outside,
            Activity::NotStarted => not_started,
        };
        let mut found = Explained {
            waiting: causes.waits.time(),
            before: causes.path.before,
            efficiency: efficiency(run, causes),
            efficiency_even_alone: efficiency_even_alone(run, causes),
            ..Explained::default()
        };
        let mut times: BTreeMap<(u32, u32), PlaceTime> = BTreeMap::new();
        let mut in_calls = 0.0;
        for row in &causes.times {
            let (place, location) = (of(row.activity), row.location.0);
            let none = PlaceTime { place, location, time: Nanos(0), waiting: Nanos(0), on_path: Nanos(0) };
            let sums = times.entry((place, location)).or_insert(none);
            sums.time = sums.time + row.time;
            sums.waiting = sums.waiting + row.waiting;
            sums.on_path = sums.on_path + row.on_path;
            if row.activity != Activity::NotStarted {
                found.time = found.time + row.time + row.waiting;
            }
            if let Activity::Path(_) = row.activity {
                in_calls += float(row.time) + float(row.waiting);
            }
        }
        found.times = times.into_values().collect();
        let mut waits: BTreeMap<_, WaitSums> = BTreeMap::new();
        for row in wait_states(&causes.waits) {
            let place = of_path(row.call_path);
            let none = WaitSums { pattern: row.pattern, place, time: Nanos(0), number: 0 };
            let sums = waits.entry((row.pattern, place)).or_insert(none);
            sums.time = sums.time + row.time;
            sums.number += row.number;
        }
        found.waits = waits.into_values().collect();
        let mut costs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for row in &causes.delays.rows {
            *costs.entry((of(row.activity), row.location.0)).or_default() += row.cost();
        }
        found.costs = costs.into_iter().map(|((place, location), cost)| (place, location, cost)).collect();
        let mut effects: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for row in &causes.delays.effects {
            *effects.entry((of(row.activity), of_path(row.call_path))).or_default() += row.cost;
        }
        found.effects = effects.into_iter().map(|((cause, wait), cost)| (cause, wait, cost)).collect();
        found.findings = findings(run, causes).iter().map(|it| (of(it.activity), it.gain)).collect();
        let profiled: f64 = Paths::new(run).rows().map(|(row, ..)| float(row.exclusive)).sum();
        found.is_whole = in_calls >= WHOLE * profiled;
        debug_assert!(found.times.iter().all(|row| row.place < number_of(self.places.len())));
        self.explained = Some(found);
    }
}
