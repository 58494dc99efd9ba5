//! Who is useful for more or less of the time than the family.
//!
//! The one idea: useful is what the efficiency calls so, and those are compared who wait for each other.
//!
//! What is deliberately absent: time; a part of the run is asked for by its span.

use std::collections::BTreeMap;

use marey_model::{LocationId, Nanos};

use super::{Finder, ProbableCause, Situation, SituationKind, SituationRule, Threshold, count, rounded};
use crate::activities::Activity;
use crate::efficiency::{compared, is_useful};
use crate::happenings::Happenings;
use crate::paths::float;
use crate::trace::Trace;
use crate::waits::Pattern;

/// Whoever is exactly at the threshold is not beyond it, whatever the last digits are.
const ROUNDING: f64 = 1e-9;

/// A location of the family: when it was there, and what part of that was useful.
#[derive(Clone, Copy)]
struct Use {
    location: LocationId,
    life: (Nanos, Nanos),
    /// For how long, joins left out.
    there: Nanos,
    part: f64,
}

impl<R: Trace, E: Happenings> Finder<'_, R, E> {
    pub(super) fn utilisation(&mut self) {
        for rule in self.rules_of(&[SituationKind::UnderUtilised, SituationKind::OverUtilised]) {
            let Threshold::By(part) = rule.threshold else { continue };
            let uses = self.uses(&rule);
            if uses.len() < 2 {
                continue;
            }
            let mean = uses.iter().map(|it| it.part).sum::<f64>() / count(uses.len());
            let is_under = rule.kind == SituationKind::UnderUtilised;
            let is_far = |it: &Use| {
                if is_under {
                    it.part < (1.0 - part) * mean - ROUNDING
                } else {
                    it.part > (1.0 + part) * mean + ROUNDING
                }
            };
            let cost = |it: &Use| rounded((it.part - mean).abs() * float(it.there));
            let mut far: Vec<Use> =
                uses.iter().filter(|it| is_far(it) && self.matters(cost(it))).copied().collect();
            self.keep(&rule, &mut far, |it| cost(it).0.unsigned_abs());
            for it in far {
                let situation = Situation {
                    cost: cost(&it),
                    cause: self.excess(it.location, &uses, !is_under),
                    ..self.of(&rule, it.location, it.life, (it.part, mean, 1))
                };
                self.found.list.push(situation);
            }
        }
    }

    fn uses(&self, rule: &SituationRule) -> Vec<Use> {
        let members = self.members(rule);
        let mut useful: BTreeMap<LocationId, Nanos> = BTreeMap::new();
        for row in &self.causes.times {
            if is_useful(self.run, row.activity) {
                let sum = useful.entry(row.location).or_default();
                *sum = *sum + row.time + row.waiting;
            }
        }
        let compared = compared(self.run, self.causes);
        let of_family = compared.into_iter().filter(|id| members.get(id.idx()) == Some(&true));
        let of = |location: LocationId| {
            let life = self.life(location)?;
            let useful = useful.get(&location).copied().unwrap_or_default();
            // Others do its work meanwhile.
            let joins = self.causes.waits.of(location).iter().filter(|wait| wait.pattern == Pattern::Join);
            let joins = joins.fold(Nanos(0), |sum, wait| sum + wait.length());
            let there = life.1 - life.0 - joins;
            self.matters(there).then(|| Use { location, life, there, part: float(useful) / float(there) })
        };
        of_family.filter_map(of).collect()
    }

    /// What a location does longer than the mean of the family, and most so.
    fn excess(&self, location: LocationId, family: &[Use], useful: bool) -> Option<ProbableCause> {
        let mut sums: BTreeMap<(Activity, bool), (f64, f64)> = BTreeMap::new();
        let is_family: std::collections::BTreeSet<LocationId> = family.iter().map(|it| it.location).collect();
        for row in self.causes.times.iter().filter(|row| is_family.contains(&row.location)) {
            if row.activity == Activity::NotStarted || is_useful(self.run, row.activity) != useful {
                continue;
            }
            for (is_waiting, time) in [(false, row.time), (true, row.waiting)] {
                let sum = sums.entry((row.activity, is_waiting)).or_default();
                sum.0 += if row.location == location { float(time) } else { 0.0 };
                sum.1 += float(time) / count(family.len());
            }
        }
        let excess = |sum: &(f64, f64)| sum.0 - sum.1;
        let most = sums.iter().rev().max_by(|a, b| excess(a.1).total_cmp(&excess(b.1)))?;
        let ((activity, is_waiting), sum) = most;
        if excess(sum) <= 0.0 {
            return None;
        }
        let waits_for = || {
            let mut times: BTreeMap<LocationId, Nanos> = BTreeMap::new();
            for wait in self.causes.waits.of(location) {
                if wait.call_path.map(Activity::Path) == Some(*activity) {
                    let time = times.entry(wait.cause).or_default();
                    *time = *time + wait.length();
                }
            }
            times.into_iter().rev().max_by_key(|(_, time)| *time).map(|(id, _)| id)
        };
        let location = if *is_waiting { waits_for().unwrap_or(location) } else { location };
        Some(ProbableCause {
            location,
            activity: *activity,
            is_waiting: *is_waiting,
            amount: excess(sum),
            without_processor: None,
        })
    }
}
