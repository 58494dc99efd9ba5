//! Situations: where the pace of a run changes, and who deviates from a family of locations that the user names.
//!
//! The one idea: each rule is a threshold on what one fold over the events in the order of time finds; what is told is
//! what matters most, and a second look at the events says what was done meanwhile.
//!
//! The definitions are those of `docs/situations.md`. After the Annotation View of Enterprise (University of Alberta).
//!
//! What is deliberately absent: sentences.

mod gathered;
mod meanwhile;
mod noise;
mod pace;
mod queues;
mod rates;
mod rules;
mod utilisation;

use marey_model::{CallPathId, LocationId, Nanos};
use rustc_hash::FxHashMap;

use self::meanwhile::{Question, Times};
use self::queues::{Processing, Queues, Senders, Served, Whole};
pub use self::rules::{SituationKind, SituationRule, SituationRuleError, SituationRules, Threshold};
use crate::activities::Activity;
use crate::causes::Causes;
use crate::happenings::{Happenings, Span, Unread};
use crate::paths::float;
use crate::trace::Trace;

/// Something whose length matters is told if that is this part of the time that is looked at.
const LEAST: f64 = 0.01;

/// Situations of one rule that are told.
const MOST: usize = 20;

/// Something that a rule looks for.
#[derive(Clone, PartialEq, Debug)]
pub struct Situation {
    /// What.
    pub kind: SituationKind,
    /// The family in which.
    pub family: String,
    /// From when …
    pub from: Nanos,
    /// … until when.
    pub to: Nanos,
    /// Who, that which matters most first.
    pub locations: Vec<LocationId>,
    /// In which calls it was seen.
    pub call_path: Option<CallPathId>,
    /// Of a change of pace: other calls in which it shows, those first in which it matters most.
    pub others: Vec<CallPathId>,
    /// What was measured: a beat or a time between messages (ns), the useful part of the time (0 to 1), messages, bytes.
    pub measured: f64,
    /// What that is compared with: before, the mean of the family, or the threshold; in the same unit.
    pub normal: f64,
    /// How many: beats since, times between messages; of a queue of so many messages the bytes, of one of so many bytes the
    /// messages.
    pub number: u64,
    /// The rule's threshold.
    pub threshold: Threshold,
    /// What it cost or won; 0 where that is not known.
    pub cost: Nanos,
    /// Why, probably.
    pub cause: Option<ProbableCause>,
    /// Of a queue: what its location did instead of asking for messages.
    pub meanwhile: Option<ProbableCause>,
}

impl Situation {
    /// Whether the machine is to blame rather than the program: half of what changed, or more, is time without a processor.
    pub fn is_noise(&self) -> bool {
        self.cause.is_some_and(|cause| match cause.without_processor {
            Some(without) => cause.amount != 0.0 && NOISE <= without / cause.amount,
            None => false,
        })
    }
}

/// A change of pace is noise if this part of it is.
const NOISE: f64 = 0.5;

/// Something that was done while there was a situation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProbableCause {
    /// By whom.
    pub location: LocationId,
    /// What.
    pub activity: Activity,
    /// Whether that is waiting.
    pub is_waiting: bool,
    /// How much, ns: of a change of pace by how much more a beat, else for how long; of senders how many messages.
    pub amount: f64,
    /// Of a change of pace, and of computation: how much of that was without a processor, ns, by samples. `None` = not known.
    pub without_processor: Option<f64>,
}

/// What rules found in a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Situations {
    /// By (from, to, kind).
    pub list: Vec<Situation>,
    /// How many more there are of each rule that found too many.
    pub more: Vec<(SituationKind, u64)>,
    /// Visits of which the pace was not followed, because there are too many call paths.
    pub unfollowed: u64,
}

/// Looks for what `rules` say in the part of the run that was explained.
///
/// # Errors
/// What of the run could not be read.
pub fn situations(
    run: &impl Trace,
    events: &impl Happenings,
    causes: &Causes,
    rules: &SituationRules,
) -> Result<Situations, Unread> {
    let mut found = Finder { run, events, causes, rules, found: Situations::default() };
    found.pace()?;
    found.utilisation();
    found.queues()?;
    found.processing()?;
    let mut found = found.found;
    let key = |it: &Situation| (it.from, it.to, it.kind);
    found.list.sort_by_key(key);
    Ok(found)
}

/// Everything that is needed to find them.
struct Finder<'a, R, E> {
    run: &'a R,
    events: &'a E,
    causes: &'a Causes,
    rules: &'a SituationRules,
    found: Situations,
}

impl<R: Trace, E: Happenings> Finder<'_, R, E> {
    fn rules_of(&self, kinds: &[SituationKind]) -> Vec<SituationRule> {
        self.rules.rules.iter().filter(|rule| kinds.contains(&rule.kind)).cloned().collect()
    }

    fn members(&self, rule: &SituationRule) -> Vec<bool> {
        self.rules.members(self.run, &rule.family)
    }

    /// Whether so much time matters.
    fn matters(&self, time: Nanos) -> bool {
        let span = self.causes.span;
        time > Nanos(0) && float(time) >= LEAST * float(span.to - span.from)
    }

    /// For how long a location was there.
    fn life(&self, location: LocationId) -> Option<(Nanos, Nanos)> {
        let it = self.run.locations().get(location.idx())?;
        self.causes.span.clip(it.start, it.end)
    }

    /// Keeps what matters most, and says how many more there are.
    fn keep<T>(&mut self, rule: &SituationRule, list: &mut Vec<T>, matter: impl Fn(&T) -> u64) {
        if list.len() > MOST {
            self.found.more.push((rule.kind, (list.len() - MOST) as u64));
            list.sort_by_key(|it| std::cmp::Reverse(matter(it)));
            list.truncate(MOST);
        }
    }

    fn ask(&self, questions: &[Question]) -> Result<Vec<Times>, Unread> {
        meanwhile::answer(self.run, self.events, &self.causes.waits, questions)
    }

    fn queues(&mut self) -> Result<(), Unread> {
        let rules = self.rules_of(&[SituationKind::MessageQueue]);
        if rules.is_empty() {
            return Ok(());
        }
        let span = self.causes.span;
        let mut queues: Vec<Queues> =
            rules.iter().map(|rule| Queues::new(rule.threshold, span, self.members(rule))).collect();
        let whole = queues::follow(self.events, span, &mut queues)?;
        let mut told: Vec<(Situation, Senders)> = Vec::new();
        for (rule, queues) in rules.iter().zip(queues) {
            if let Threshold::By(part) = rule.threshold {
                told.extend(self.long_queues(rule, part, &whole));
                continue;
            }
            let (episodes, more) =
                queues.finish(|location| self.life(location).map_or(span.to, |(_, end)| end));
            if more > 0 {
                self.found.more.push((rule.kind, more));
            }
            let place = usize::from(matches!(rule.threshold, Threshold::Bytes(_)));
            let normal = match rule.threshold {
                Threshold::Messages(number) | Threshold::Bytes(number) => count_u64(number),
                Threshold::By(_) | Threshold::Time(_) => 0.0,
            };
            told.extend(episodes.into_iter().map(|it| {
                let numbers = (count_u64(it.most[place]), normal, it.most[1 - place]);
                (self.of(rule, it.location, (it.from, it.to), numbers), it.senders)
            }));
        }
        let question = |(it, _): &(Situation, Senders)| Question {
            span: Span { from: it.from, to: it.to },
            locations: it.locations.clone(),
        };
        let answers = self.ask(&told.iter().map(question).collect::<Vec<_>>())?;
        for ((situation, senders), times) in told.into_iter().zip(&answers) {
            // Of equals the first.
            let sender = senders.iter().rev().max_by_key(|(_, number)| **number);
            let cause = sender.map(|((location, path), number)| ProbableCause {
                location: *location,
                activity: path.map_or(Activity::Outside, Activity::Path),
                is_waiting: false,
                amount: count_u64(*number),
                without_processor: None,
            });
            let meanwhile = most_of(times, true, |_| true);
            self.found.list.push(Situation { cause, meanwhile, ..situation });
        }
        Ok(())
    }

    /// Those of the family whose queue is longer than the mean, and who sent what was in it.
    fn long_queues(
        &mut self,
        rule: &SituationRule,
        part: f64,
        whole: &FxHashMap<LocationId, Whole>,
    ) -> Vec<(Situation, Senders)> {
        let lives: Vec<_> = (0..)
            .map(LocationId)
            .zip(self.members(rule))
            .filter(|(_, is_member)| *is_member)
            .filter_map(|(id, _)| Some((id, self.life(id)?)))
            .collect();
        if lives.len() < 2 {
            return Vec::new();
        }
        let length = |(id, (from, to)): (LocationId, (Nanos, Nanos))| {
            whole.get(&id).map_or(0.0, |sums| sums.time) / float(to - from)
        };
        let mean = lives.iter().map(|row| length(*row)).sum::<f64>() / count(lives.len());
        let mut rows = lives;
        rows.retain(|row| length(*row) > (1.0 + part) * mean && length(*row) >= 1.0);
        // The order of numbers that are not negative is that of their bits.
        self.keep(rule, &mut rows, |row| length(*row).to_bits());
        let tell = |row: &(LocationId, (Nanos, Nanos))| {
            let sums = whole.get(&row.0).cloned().unwrap_or_default();
            (self.of(rule, row.0, row.1, (length(*row), mean, sums.bytes)), sums.senders)
        };
        rows.iter().map(tell).collect()
    }

    fn processing(&mut self) -> Result<(), Unread> {
        let rules = self.rules_of(&[SituationKind::ProcessingTime]);
        if rules.is_empty() {
            return Ok(());
        }
        let limits: Vec<(Vec<bool>, Option<Nanos>)> = rules
            .iter()
            .map(|rule| {
                let limit = match rule.threshold {
                    Threshold::Time(time) => Some(time),
                    _ => None,
                };
                (self.members(rule), limit)
            })
            .collect();
        let mut long: Vec<Vec<Processing>> = vec![Vec::new(); rules.len()];
        let mut more = vec![0_u64; rules.len()];
        let served = queues::served(self.events, self.causes.span, |it| {
            for (((members, limit), list), more) in limits.iter().zip(&mut long).zip(&mut more) {
                if limit.is_some_and(|limit| it.time() > limit)
                    && members.get(it.location.idx()) == Some(&true)
                {
                    list.push(*it);
                    if list.len() > 4 * MOST {
                        list.sort_by_key(|it| std::cmp::Reverse(it.time()));
                        *more += (list.len() - MOST) as u64;
                        list.truncate(MOST);
                    }
                }
            }
        })?;
        for (((rule, (members, _)), mut list), more) in rules.iter().zip(&limits).zip(long).zip(more) {
            let mut told: Vec<Situation> = Vec::new();
            match rule.threshold {
                Threshold::By(part) => told = self.slow_servers(rule, part, members, &served),
                Threshold::Time(limit) => {
                    list.sort_by_key(|it| (std::cmp::Reverse(it.time()), it.from, it.location));
                    let rest = list.len().saturating_sub(MOST) as u64 + more;
                    if rest > 0 {
                        self.found.more.push((rule.kind, rest));
                    }
                    list.truncate(MOST);
                    for it in &list {
                        let time = it.time();
                        told.push(Situation {
                            call_path: it.call_path,
                            cost: time,
                            ..self.of(rule, it.location, (it.from, it.to), (float(time), float(limit), 1))
                        });
                    }
                }
                Threshold::Messages(_) | Threshold::Bytes(_) => {}
            }
            let question = |it: &Situation| Question {
                span: Span { from: it.from, to: it.to },
                locations: it.locations.clone(),
            };
            let answers = self.ask(&told.iter().map(question).collect::<Vec<_>>())?;
            for (mut situation, times) in told.into_iter().zip(&answers) {
                let receives = situation.call_path.map(Activity::Path);
                situation.cause = most_of(times, false, |activity| Some(activity) != receives);
                self.found.list.push(situation);
            }
        }
        Ok(())
    }

    fn slow_servers(
        &mut self,
        rule: &SituationRule,
        part: f64,
        members: &[bool],
        served: &FxHashMap<LocationId, Served>,
    ) -> Vec<Situation> {
        let mean_of = |row: &Served| float(row.time) / count_u64(row.number);
        let mut rows: Vec<(LocationId, Served)> = served
            .iter()
            .filter(|(id, row)| row.number > 0 && members.get(id.idx()) == Some(&true))
            .map(|(id, row)| (*id, *row))
            .collect();
        rows.sort_unstable_by_key(|(id, _)| *id);
        if rows.len() < 2 {
            return Vec::new();
        }
        let mean = rows.iter().map(|(_, row)| mean_of(row)).sum::<f64>() / count(rows.len());
        let cost = |row: &Served| rounded((mean_of(row) - mean) * count_u64(row.number));
        rows.retain(|(_, row)| mean_of(row) > (1.0 + part) * mean && self.matters(cost(row)));
        self.keep(rule, &mut rows, |(_, row)| cost(row).0.unsigned_abs());
        rows.iter()
            .map(|(id, row)| Situation {
                call_path: row.call_path,
                cost: cost(row),
                ..self.of(rule, *id, (row.first, row.last), (mean_of(row), mean, row.number))
            })
            .collect()
    }

    fn of(
        &self,
        rule: &SituationRule,
        location: LocationId,
        (from, to): (Nanos, Nanos),
        (measured, normal, number): (f64, f64, u64),
    ) -> Situation {
        Situation {
            kind: rule.kind,
            family: rule.family.clone(),
            from,
            to,
            locations: vec![location],
            call_path: None,
            others: Vec::new(),
            measured,
            normal,
            number,
            threshold: rule.threshold,
            cost: Nanos(0),
            cause: None,
            meanwhile: None,
        }
    }
}

/// What was done most, with waits or without; of equals the first.
fn most_of(times: &Times, waits: bool, is_meant: impl Fn(Activity) -> bool) -> Option<ProbableCause> {
    let own = times.iter().filter(|((_, activity, is_waiting), _)| {
        (waits || !is_waiting) && *activity != Activity::NotStarted && is_meant(*activity)
    });
    let ((location, activity, is_waiting), time) = own.rev().max_by_key(|(_, time)| **time)?;
    Some(ProbableCause {
        location: *location,
        activity: *activity,
        is_waiting: *is_waiting,
        amount: float(*time),
        without_processor: None,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "runs are shorter than 200 years")]
fn rounded(ns: f64) -> Nanos {
    Nanos(ns.round() as i64)
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ of anything")]
fn count(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ of anything")]
fn count_u64(number: u64) -> f64 {
    number as f64
}
