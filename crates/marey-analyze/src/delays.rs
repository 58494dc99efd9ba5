//! Delay costs: what those did that others waited for.
//!
//! The one idea: whoever came late did more than who waited since both were last in step. So each wait is split, in one
//! pass forwards, among what its cause did longer, its own waits among that; and in one pass backwards what falls to
//! waits goes on to their causes, so that all of it ends at activities.
//!
//! The definitions are those of `docs/wait-states.md`.
//!
//! What is deliberately absent: which of these activities are worth a word.

mod in_step;
mod past;
mod window;

use std::collections::BTreeMap;

use marey_model::{CallPathId, LocationId, Nanos};

use crate::activities::{Activity, Doing, Piece};
use crate::clocks::Clocks;
use crate::happenings::{Happenings, Span, Unread};
use crate::paths::float;
use crate::trace::Trace;
use crate::waits::{Pattern, Wait, Waits};
use in_step::InStep;
use window::Windows;

/// Why there were waits.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Delays {
    /// By location and activity.
    pub rows: Vec<DelayRow>,
    /// The same by the waits that they caused themselves, which are the short-term costs. By location and activity,
    /// then by wait.
    pub effects: Vec<Effect>,
    /// Waiting of which no cause was found, ns: where locations wait for each other in a circle.
    pub unexplained: f64,
}

/// What one location did that others waited for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayRow {
    /// Who.
    pub location: LocationId,
    /// What it did.
    pub activity: Activity,
    /// Waiting for it, ns.
    pub short_term: f64,
    /// Waiting for those who had waited for it, ns.
    pub long_term: f64,
}

/// Waits that something caused.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Effect {
    /// Who caused them.
    pub cause: LocationId,
    /// By what.
    pub activity: Activity,
    /// What was waited for.
    pub pattern: Pattern,
    /// In which calls.
    pub call_path: Option<CallPathId>,
    /// By whom.
    pub location: LocationId,
    /// How long, ns.
    pub cost: f64,
    /// The lengths of the waits, each times what it cost, ns².
    pub lengths: f64,
    /// How far the clocks of both may be apart at the end of each wait, times what it cost, ns²; infinite if nobody knows.
    pub clock_bars: f64,
    /// From the first of these waits …
    pub from: Nanos,
    /// … to the end of the last.
    pub to: Nanos,
}

impl DelayRow {
    /// Both together, ns.
    pub fn cost(&self) -> f64 {
        self.short_term + self.long_term
    }
}

/// What a wait falls to.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// `Doing::WAITS` = the waits of the cause in the window.
    doing: Doing,
    excess: Nanos,
}

/// How one wait is split.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    /// Where its shares lie, and how many.
    first: u32,
    len: u32,
    /// Since when both were in step.
    since: Nanos,
}

/// Splits all waits: one pass over collective operations, edges and intervals; a wait costs as much as there are pieces
/// of both locations in its window.
///
/// # Errors
/// What of the run could not be read.
pub fn delays(run: &impl Trace, events: &impl Happenings, waits: &Waits) -> Result<Delays, Unread> {
    delays_and(run, events, waits, Span::ALL, |_| true, |_, _| {}, |_| Ok(()))
}

/// The same of a span of time, and of some of the waits; hands on all pieces of the locations' time in the span, and until
/// when they are known.
pub(crate) fn delays_and(
    run: &impl Trace,
    events: &impl Happenings,
    waits: &Waits,
    span: Span,
    is_meant: impl Fn(&Wait) -> bool,
    mut also: impl FnMut(LocationId, &Piece),
    mut also_slab: impl FnMut(Nanos) -> Result<(), Unread>,
) -> Result<Delays, Unread> {
    let mut also_done = Ok(());
    let splitting = std::cell::RefCell::new(Splitting::new(run, events, waits, span)?);
    crate::activities::pieces(
        run,
        events,
        waits,
        span,
        |location, piece| {
            also(location, &piece);
            splitting.borrow_mut().windows.add(location, piece);
        },
        |until| {
            splitting.borrow_mut().split_until(until);
            if also_done.is_ok() {
                also_done = also_slab(until);
            }
        },
    )?;
    also_done?;
    Ok(splitting.into_inner().charge(is_meant))
}

/// Waits on their way to their causes.
struct Splitting<'a> {
    clocks: Clocks<'a>,
    waits: &'a Waits,
    /// Places in the list, by the end of the wait.
    by_end: Vec<u32>,
    /// How many of these are split.
    done: usize,
    in_step: InStep,
    windows: Windows,
    splits: Vec<Split>,
    shares: Vec<Share>,
}

impl<'a> Splitting<'a> {
    fn new(
        run: &'a impl Trace,
        events: &impl Happenings,
        waits: &'a Waits,
        span: Span,
    ) -> Result<Self, Unread> {
        let mut by_end: Vec<u32> = (0..).take(waits.list.len()).collect();
        by_end.sort_by_key(|&place| waits.list[place as usize].to);
        Ok(Self {
            clocks: Clocks::new(run),
            waits,
            by_end,
            done: 0,
            in_step: InStep::new(run, events, span)?,
            windows: Windows::new(run),
            splits: vec![Split::default(); waits.list.len()],
            shares: Vec::new(),
        })
    }

    /// Splits the waits that are over at `until`, before which all pieces are known.
    fn split_until(&mut self, until: Nanos) {
        let end_of = |place: u32| self.waits.list[place as usize].to;
        let mut end = self.done;
        while let Some(&place) = self.by_end.get(end).filter(|&&place| end_of(place) <= until) {
            let to = end_of(place);
            let at_once = self.by_end[end..].iter().take_while(|&&place| end_of(place) == to).count();
            // All of an instant first, for only what lies before it counts.
            for at in end..end + at_once {
                self.split(self.by_end[at]);
            }
            for &place in &self.by_end[end..end + at_once] {
                let wait = &self.waits.list[place as usize];
                if !wait.in_vain {
                    self.in_step.note(wait.location, wait.cause, to);
                }
            }
            end += at_once;
        }
        self.done = end;
        self.windows.add_up_if_full(until);
    }

    fn split(&mut self, place: u32) {
        let wait = &self.waits.list[place as usize];
        let since = self.in_step.before(wait.location, wait.cause, wait.to).min(wait.from);
        let (cause, other) = ((wait.cause, wait.to), (wait.location, wait.from));
        let since = self.windows.known_since(cause, other, since, wait.in_vain).min(wait.from);
        let first = u32::try_from(self.shares.len()).unwrap_or(u32::MAX);
        self.windows.compare(cause, other, since, |doing, excess| self.shares.push(Share { doing, excess }));
        let len = u32::try_from(self.shares.len()).unwrap_or(u32::MAX).saturating_sub(first);
        self.splits[place as usize] = Split { first, len, since };
    }

    /// Charges all waits to activities, the latest first.
    fn charge(self, is_meant: impl Fn(&Wait) -> bool) -> Delays {
        let n = self.splits.len();
        let mut charging = Charging {
            splitting: &self,
            long: vec![0.0; n],
            is_done: vec![false; n],
            costs: BTreeMap::new(),
            effects: BTreeMap::new(),
            unexplained: 0.0,
        };
        for &place in self.by_end.iter().rev() {
            let place = place as usize;
            let wait = &self.waits.list[place];
            let short = if is_meant(wait) { wait.length().0 as f64 } else { 0.0 };
            let long = std::mem::take(&mut charging.long[place]);
            charging.is_done[place] = true;
            charging.charge(place, short, long, 0);
        }
        let row = |((location, activity), (short_term, long_term)): ((LocationId, Activity), (f64, f64))| {
            DelayRow { location, activity, short_term, long_term }
        };
        Delays {
            rows: charging.costs.into_iter().map(row).collect(),
            effects: charging.effects.into_values().collect(),
            unexplained: charging.unexplained,
        }
    }
}

/// The way backwards.
struct Charging<'a> {
    splitting: &'a Splitting<'a>,
    /// What has been propagated to each wait, ns.
    long: Vec<f64>,
    is_done: Vec<bool>,
    costs: BTreeMap<(LocationId, Activity), (f64, f64)>,
    effects: BTreeMap<EffectKey, Effect>,
    unexplained: f64,
}

/// Cause, its activity, pattern, call path and location of the waits.
type EffectKey = (LocationId, Activity, Pattern, Option<CallPathId>, LocationId);

/// Waits that release each other at one instant are followed so far.
const MOST_AT_ONCE: u32 = 1000;

impl Charging<'_> {
    /// Charges costs of a wait, ns: its own length and what was propagated to it.
    fn charge(&mut self, place: usize, short: f64, long: f64, depth: u32) {
        let splitting = self.splitting;
        let (wait, split) = (&splitting.waits.list[place], splitting.splits[place]);
        let shares = splitting.shares.get(split.first as usize..).unwrap_or(&[]);
        let shares = &shares[..shares.len().min(split.len as usize)];
        let all: i64 = shares.iter().map(|share| share.excess.0).sum();
        if all <= 0 || depth > MOST_AT_ONCE {
            self.unexplained += short + long;
            return;
        }
        if short + long == 0.0 {
            return;
        }
        for share in shares {
            let part = share.excess.0 as f64 / all as f64;
            match share.doing.activity() {
                Some(activity) => {
                    let cost = self.costs.entry((wait.cause, activity)).or_default();
                    *cost = (cost.0 + short * part, cost.1 + long * part);
                    if short > 0.0 {
                        self.note(wait, activity, short * part);
                    }
                }
                None => self.propagate(wait.cause, (split.since, wait.to), (short + long) * part, depth),
            }
        }
    }

    /// Notes what a wait is the effect of.
    fn note(&mut self, wait: &Wait, activity: Activity, cost: f64) {
        let Wait { cause, pattern, call_path, location, from, to, .. } = *wait;
        let none = Effect {
            cause,
            activity,
            pattern,
            call_path,
            location,
            cost: 0.0,
            lengths: 0.0,
            clock_bars: 0.0,
            from,
            to,
        };
        let effect = self.effects.entry((cause, activity, pattern, call_path, location)).or_insert(none);
        effect.cost += cost;
        effect.lengths += cost * float(wait.length());
        effect.clock_bars += cost * self.splitting.clocks.bar(cause, location, to);
        (effect.from, effect.to) = (effect.from.min(from), effect.to.max(to));
    }

    /// Hands a cost on to the waits of a location in a window.
    fn propagate(&mut self, location: LocationId, (since, to): (Nanos, Nanos), cost: f64, depth: u32) {
        let own = self.splitting.waits.of(location);
        // Their places in the list of all.
        let base = self.splitting.waits.list.partition_point(|wait| wait.location < location);
        let (first, end) =
            (own.partition_point(|wait| wait.to <= since), own.partition_point(|wait| wait.to <= to));
        let inside = |at: usize| (own[at].to.min(to) - own[at].from.max(since)).0.max(0) as f64;
        let all: f64 = (first..end).map(inside).sum();
        if all <= 0.0 {
            self.unexplained += cost;
            return;
        }
        for at in first..end {
            let part = cost * inside(at) / all;
            if self.is_done[base + at] {
                // It ended at the same instant as what it explains.
                self.charge(base + at, 0.0, part, depth + 1);
            } else {
                self.long[base + at] += part;
            }
        }
    }
}
