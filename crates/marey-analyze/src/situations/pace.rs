//! Speed-ups and slow-downs: why they came.
//!
//! The one idea: what changes together changed for one reason, and that is what grew most per beat, not counting waits, of
//! all who changed or were waited for.
//!
//! What is deliberately absent: how a change is told from scatter ([`super::rates`]), and which of them belong together
//! ([`super::gathered`]).

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{CallPathId, LocationId, Nanos, RegionId, Role, fits};

use super::gathered::{Gathered, gather};
use super::meanwhile::{Question, Times};
use super::noise::{Suspect, by_place, without_processor};
use super::rates::{BEATS, Change, Rates};
use super::{Finder, ProbableCause, Situation, SituationKind, SituationRule, Threshold};
use crate::activities::Activity;
use crate::caller::caller;
use crate::happenings::{Happenings, Interval, Span, Unread, visits_in};
use crate::paths::float;
use crate::trace::{CallPath, Trace};
use crate::waits::asks;

/// What grew is the cause if it makes up this part of the change.
const CAUSE: f64 = 0.25;

impl<R: Trace, E: Happenings> Finder<'_, R, E> {
    pub(super) fn pace(&mut self) -> Result<(), Unread> {
        let rules = self.rules_of(&[SituationKind::SpeedUp, SituationKind::SlowDown]);
        let mut thresholds: Vec<f64> = rules.iter().map(part).collect();
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        let mut rates: Vec<Rates> = thresholds.iter().map(|threshold| Rates::new(*threshold)).collect();
        if rates.is_empty() {
            return Ok(());
        }
        let span = self.causes.span;
        let places = places(self.run);
        // How often somebody asks is not how fast it gets on: who waits asks most.
        let asks: Vec<bool> =
            (0..).zip(&places).map(|(id, _)| asks(self.run, Some(CallPathId(id)))).collect();
        visits_in(
            self.events,
            span,
            |interval| {
                // Ids that lead nowhere are skipped.
                if interval.end <= span.to
                    && asks.get(interval.call_path.idx()) == Some(&false)
                    && let Some(&call_path) = places.get(interval.call_path.idx())
                {
                    let visit = Interval { call_path, ..*interval };
                    rates.iter_mut().for_each(|rates| rates.visit(&visit));
                }
            },
            |_| {},
        )?;
        self.found.unfollowed = rates.iter().map(|rates| rates.unfollowed).max().unwrap_or(0);
        let changes: Vec<Vec<Change>> = rates.into_iter().map(Rates::finish).collect();
        for rule in &rules {
            let which = thresholds.iter().position(|threshold| *threshold == part(rule));
            let groups = which.map_or_else(Vec::new, |which| self.groups(rule, &changes[which]));
            self.tell(rule, groups, &places)?;
        }
        Ok(())
    }

    fn groups(&mut self, rule: &SituationRule, changes: &[Change]) -> Vec<Gathered> {
        let members = self.members(rule);
        let is_slow_down = rule.kind == SituationKind::SlowDown;
        let is_of_region = |change: &Change| {
            let region = self.run.call_paths().get(change.call_path.idx());
            let region = region.and_then(|path| self.run.regions().get(path.region.idx()));
            rule.region.as_ref().is_none_or(|pattern| region.is_some_and(|it| fits(pattern, it.name())))
        };
        let is_meant = |change: &&Change| {
            (change.after > change.before) == is_slow_down
                && members.get(change.location.idx()) == Some(&true)
                && self.matters(change.cost())
                && is_of_region(change)
        };
        let mut groups = gather(self.run, changes.iter().filter(is_meant).copied().collect());
        if rule.is_first {
            groups.truncate(1);
        }
        self.keep(rule, &mut groups, |group| group.told.cost().0.unsigned_abs());
        // What is seen in an earlier one is looked for from the first on.
        groups.sort_by_key(Gathered::order);
        groups
    }

    fn tell(
        &mut self,
        rule: &SituationRule,
        groups: Vec<Gathered>,
        places: &[CallPathId],
    ) -> Result<(), Unread> {
        let looks: Vec<Question> = groups.iter().flat_map(|group| self.looks(group)).collect();
        let answers: Vec<Times> =
            self.ask(&looks)?.iter().map(|times| times_by_place(times, places)).collect();
        let looks_and_times = looks.chunks(2).zip(answers.chunks(2));
        let mut causes: Vec<Option<ProbableCause>> = groups
            .iter()
            .zip(looks_and_times)
            .map(|(it, (looks, times))| cause(&it.told, looks, times))
            .collect();
        let is_meant =
            |cause: &&mut ProbableCause| !cause.is_waiting && cause.activity != Activity::NotStarted;
        let suspected = groups.iter().zip(&mut causes);
        let (suspects, mut suspected): (Vec<Suspect>, Vec<&mut ProbableCause>) = suspected
            .filter_map(|(group, cause)| {
                let cause = cause.as_mut().filter(is_meant)?;
                Some((self.suspect(group, cause), cause))
            })
            .unzip();
        let without = without_processor(self.run, self.events, &self.causes.waits, places, &suspects)?;
        for (cause, without) in suspected.iter_mut().zip(without) {
            cause.without_processor = without;
        }
        for (group, cause) in seen_once(groups, causes) {
            let change = &group.told;
            self.found.list.push(Situation {
                kind: rule.kind,
                family: rule.family.clone(),
                from: group.from,
                to: change.until.max(group.from),
                locations: group.locations.iter().map(|(id, _)| *id).collect(),
                call_path: Some(change.call_path),
                others: group.others,
                measured: float(change.after),
                normal: float(change.before),
                number: change.beats,
                threshold: rule.threshold,
                cost: change.cost(),
                cause,
                meanwhile: None,
            });
        }
        Ok(())
    }

    /// Nine beats before, since the pace was kept, and nine behind: of all who changed, or were waited for.
    fn looks(&self, group: &Gathered) -> [Question; 2] {
        let change = &group.told;
        let length = |beat: Nanos| Nanos(beat.0.saturating_mul(BEATS as i64));
        let [before, after] = self.kept(group);
        let before = Span { from: before.from.max(before.to - length(change.before)), ..before };
        let after = Span { to: after.to.min(after.from + length(change.after)), ..after };
        let mut locations: BTreeSet<LocationId> = group.locations.iter().map(|(id, _)| *id).collect();
        for (id, _) in &group.locations {
            let of = self.causes.waits.of(*id);
            for look in [before, after] {
                let first = of.partition_point(|wait| wait.to <= look.from);
                let waits = of[first..].iter().take_while(|wait| wait.from < look.to);
                locations.extend(waits.map(|wait| wait.cause));
            }
        }
        let locations: Vec<LocationId> = locations.into_iter().collect();
        [Question { span: before, locations: locations.clone() }, Question { span: after, locations }]
    }

    /// For how long the pace was kept: before anybody changed it, and since all had.
    fn kept(&self, group: &Gathered) -> [Span; 2] {
        let (change, span) = (&group.told, self.causes.span);
        let to = change.at.min(group.first);
        let from = change.at.max(group.from);
        [Span { from: change.since.max(span.from).min(to), to }, Span { from, to: change.until.max(from) }]
    }

    fn suspect(&self, group: &Gathered, cause: &ProbableCause) -> Suspect {
        Suspect {
            location: cause.location,
            activity: cause.activity,
            computes: computes(self.run, cause.activity),
            spans: self.kept(group),
            beats: [float(group.told.before), float(group.told.after)],
        }
    }
}

/// A pace that creeps is noticed here earlier and there later: what has the cause of an earlier one, and begins before that
/// changes again where it is told, is that one.
fn seen_once(
    groups: Vec<Gathered>,
    causes: Vec<Option<ProbableCause>>,
) -> Vec<(Gathered, Option<ProbableCause>)> {
    let why = |cause: &Option<ProbableCause>| cause.map(|it| (it.location, it.activity, it.is_waiting));
    let mut told: Vec<(Gathered, Option<ProbableCause>)> = Vec::new();
    for (group, cause) in groups.into_iter().zip(causes) {
        let is_it = |(earlier, its): &&mut (Gathered, Option<ProbableCause>)| {
            cause.is_some() && why(its) == why(&cause) && group.from < earlier.told.until
        };
        match told.iter_mut().find(is_it) {
            Some((earlier, _)) => earlier.is_seen_in(group),
            None => told.push((group, cause)),
        }
    }
    told
}

/// The same with what was done in one place added up.
fn times_by_place(times: &Times, places: &[CallPathId]) -> Times {
    let mut sums = Times::new();
    for ((location, activity, is_waiting), time) in times {
        let activity = by_place(*activity, places);
        let sum = sums.entry((*location, activity, *is_waiting)).or_default();
        *sum = *sum + *time;
    }
    sums
}

/// Whether it is computing and no call of a library.
fn computes(run: &impl Trace, activity: Activity) -> bool {
    let Activity::Path(path) = activity else { return activity == Activity::Outside };
    let region = run.call_paths().get(path.idx()).and_then(|path| run.regions().get(path.region.idx()));
    region.is_some_and(|region| region.role == Role::Work)
}

/// What grew most a beat, or shrank.
fn cause(change: &Change, looks: &[Question], times: &[Times]) -> Option<ProbableCause> {
    let [before, after] = times else { return None };
    let length = |look: &Question| float(look.span.to - look.span.from);
    let (long_before, long_after) = (length(&looks[0]), length(&looks[1]));
    // Who changed so much later, or earlier, than others that nothing is left to compare.
    if long_before <= 0.0 || long_after <= 0.0 {
        return None;
    }
    let (beat_before, beat_after) = (float(change.before), float(change.after));
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
    let growth = |key: &(LocationId, Activity, bool)| {
        let time = |times: &Times| times.get(key).map_or(0.0, |time| float(*time));
        time(after) / long_after * beat_after - time(before) / long_before * beat_before
    };
    let sign = if beat_after > beat_before { 1.0 } else { -1.0 };
    let all: Vec<_> = keys.iter().map(|key| (*key, growth(key))).collect();
    // Of equals the first.
    let most = |waits: bool| {
        let some = all.iter().filter(|((_, _, is_waiting), _)| waits || !is_waiting);
        some.rev().max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1))).copied()
    };
    let own = most(false).filter(|(_, growth)| sign * growth >= CAUSE * (beat_after - beat_before).abs());
    let ((location, activity, is_waiting), amount) = own.or_else(|| most(true))?;
    Some(ProbableCause { location, activity, is_waiting, amount, without_processor: None })
}

/// For each call path the first of those of the same place: calls of one region from one line of the program, by whatever
/// way they came there. Where no line is known each is a place of its own.
fn places(run: &impl Trace) -> Vec<CallPathId> {
    let mut first: BTreeMap<(RegionId, &str, &str, u32), CallPathId> = BTreeMap::new();
    let place = |(path, id): (&CallPath, u32)| {
        let id = CallPathId(id);
        let Some(frame) = caller(run, id).filter(|frame| frame.line != 0) else { return id };
        *first.entry((path.region, &frame.function, &frame.file, frame.line)).or_insert(id)
    };
    run.call_paths().iter().zip(0..).map(place).collect()
}

fn part(rule: &SituationRule) -> f64 {
    match rule.threshold {
        Threshold::By(part) => part,
        _ => f64::INFINITY,
    }
}
