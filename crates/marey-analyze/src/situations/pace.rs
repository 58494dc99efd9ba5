//! Speed-ups and slow-downs: which changes of pace belong together, and why they came.
//!
//! The one idea: what changes within one beat changed for one reason, and that is what grew most per beat, not counting
//! waits, of all who changed or were waited for.
//!
//! What is deliberately absent: how a change is told from scatter ([`super::rates`]).

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{CallPathId, LocationId, Nanos, RegionId, fits};

use super::meanwhile::{Question, Times};
use super::rates::{BEATS, Change, Rates};
use super::{Finder, ProbableCause, Situation, SituationKind, SituationRule, Threshold};
use crate::activities::Activity;
use crate::caller::caller;
use crate::happenings::{Happenings, Interval, Span, Unread, visits_in};
use crate::paths::float;
use crate::trace::{CallPath, Trace};

/// What grew is the cause if it makes up this part of the change.
const CAUSE: f64 = 0.25;

/// Changes that are one situation.
struct Group {
    /// The one that matters most.
    most: Change,
    /// The latest beginning.
    from: Nanos,
    /// When the first began, and how long the others may follow.
    first: Nanos,
    within: Nanos,
    /// Who, and how much it matters for them.
    locations: Vec<(LocationId, Nanos)>,
}

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
        visits_in(
            self.events,
            span,
            |interval| {
                // Ids that lead nowhere are skipped.
                if interval.end <= span.to
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
            self.tell(rule, &groups, &places)?;
        }
        Ok(())
    }

    fn groups(&mut self, rule: &SituationRule, changes: &[Change]) -> Vec<Group> {
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
        let mut groups: Vec<Group> = Vec::new();
        for change in changes.iter().filter(is_meant) {
            let longest = change.before.max(change.after) + change.before.max(change.after);
            match groups.last_mut() {
                Some(group) if change.at - group.first <= group.within => {
                    group.from = group.from.max(change.at);
                    if change.cost() > group.most.cost() {
                        group.most = *change;
                    }
                    match group.locations.iter_mut().find(|(id, _)| *id == change.location) {
                        Some((_, cost)) => *cost = (*cost).max(change.cost()),
                        None => group.locations.push((change.location, change.cost())),
                    }
                }
                _ => groups.push(Group {
                    most: *change,
                    from: change.at,
                    first: change.at,
                    within: longest,
                    locations: vec![(change.location, change.cost())],
                }),
            }
        }
        if rule.is_first {
            groups.truncate(1);
        }
        self.keep(rule, &mut groups, |group| group.most.cost().0.unsigned_abs());
        for group in &mut groups {
            group.locations.sort_by_key(|(id, cost)| (std::cmp::Reverse(*cost), *id));
        }
        groups
    }

    fn tell(&mut self, rule: &SituationRule, groups: &[Group], places: &[CallPathId]) -> Result<(), Unread> {
        let span = self.causes.span;
        let questions: Vec<Question> = groups
            .iter()
            .flat_map(|group| {
                let length = |beat: Nanos| Nanos(beat.0.saturating_mul(BEATS as i64));
                let before = Span {
                    from: (group.most.at - length(group.most.before)).max(span.from),
                    to: group.most.at,
                };
                let to = (group.from + length(group.most.after)).min(group.most.until.max(group.from));
                let after = Span { from: group.from, to };
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
            })
            .collect();
        let answers: Vec<Times> = self.ask(&questions)?.iter().map(|times| by_place(times, places)).collect();
        for ((group, looks), times) in groups.iter().zip(questions.chunks(2)).zip(answers.chunks(2)) {
            let change = &group.most;
            let situation = Situation {
                kind: rule.kind,
                family: rule.family.clone(),
                from: group.from,
                to: change.until.max(group.from),
                locations: group.locations.iter().map(|(id, _)| *id).collect(),
                call_path: Some(change.call_path),
                measured: float(change.after),
                normal: float(change.before),
                number: change.beats,
                threshold: rule.threshold,
                cost: change.cost(),
                cause: cause(change, looks, times),
                meanwhile: None,
            };
            self.found.list.push(situation);
        }
        Ok(())
    }
}

/// The same with what was done in one place added up.
fn by_place(times: &Times, places: &[CallPathId]) -> Times {
    let mut sums = Times::new();
    for ((location, activity, is_waiting), time) in times {
        let activity = match activity {
            Activity::Path(path) => Activity::Path(places.get(path.idx()).copied().unwrap_or(*path)),
            other => *other,
        };
        let sum = sums.entry((*location, activity, *is_waiting)).or_default();
        *sum = *sum + *time;
    }
    sums
}

/// What grew most a beat, or shrank.
fn cause(change: &Change, looks: &[Question], times: &[Times]) -> Option<ProbableCause> {
    let [before, after] = times else { return None };
    let length = |look: &Question| float(look.span.to - look.span.from).max(1.0);
    let (long_before, long_after) = (length(&looks[0]), length(&looks[1]));
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
    Some(ProbableCause { location, activity, is_waiting, amount })
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
