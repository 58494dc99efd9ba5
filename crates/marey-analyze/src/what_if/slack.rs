//! Slack: how much longer work could take without making the run longer.
//!
//! The one idea: a replay without a change is the run, so what it did is gone through backwards: from the end of the run,
//! the latest that each location may be where it was.
//!
//! The definition is that of `docs/wait-states.md`.

use std::collections::BTreeMap;

use marey_model::{LocationId, Nanos};

use super::Limits;
use super::graph::Graph;
use super::replay::Replay;
use super::tape::{Entry, Step, Tape};
use super::variants::{Variant, Variants};
use crate::activities::{Activity, Piece, pieces, span_of};
use crate::causes::Causes;
use crate::happenings::{Happenings, Span, Unread};
use crate::paths::float;
use crate::trace::Trace;
use crate::waits::{Waits, waits_in};

/// Work of a location that has one slack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlackSpan {
    /// Who.
    pub location: LocationId,
    /// From when on.
    pub from: Nanos,
    /// Until when.
    pub to: Nanos,
    /// How much longer it could take; `None` = as long as it likes.
    pub slack: Option<Nanos>,
}

/// The slack of what one location does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SlackRow {
    /// Who.
    pub location: LocationId,
    /// What.
    pub activity: Activity,
    /// How long, waits left out.
    pub time: Nanos,
    /// How much of that could take as long as it likes.
    pub unbounded: Nanos,
    /// The least slack of the rest; `None` = there is no rest.
    pub least: Option<Nanos>,
    /// Slack times time of the rest, ns².
    pub weighted: f64,
}

/// The slack of all work in the span that causes are of, by (location, activity): two passes over the run. `None` = the run
/// is too large.
///
/// # Errors
/// What of the run could not be read.
pub fn slack(
    run: &impl Trace,
    events: &impl Happenings,
    causes: &Causes,
    limits: &Limits,
) -> Result<Option<Vec<SlackRow>>, Unread> {
    with_spans(run, events, causes, limits, |spans, waits| {
        let mut rows: BTreeMap<(LocationId, Activity), SlackRow> = BTreeMap::new();
        let mut next = vec![0; spans.len()];
        let add = |location: LocationId, piece: Piece| {
            let Some(activity) = piece.doing.activity() else { return };
            if piece.waits_until > Nanos(0) || activity == Activity::NotStarted {
                return;
            }
            let none = SlackRow {
                location,
                activity,
                time: Nanos(0),
                unbounded: Nanos(0),
                least: None,
                weighted: 0.0,
            };
            let row = rows.entry((location, activity)).or_insert(none);
            let (own, next) = (&spans[location.idx()], &mut next[location.idx()]);
            // The latest come first.
            while let Some(span) = own.len().checked_sub(*next + 1).map(|place| own[place]) {
                let (from, to) = (span.from.max(piece.start), span.to.min(piece.end));
                if from < to {
                    row.add(to - from, span.slack);
                }
                if piece.end < span.to || piece.end == span.to && from < to {
                    break;
                }
                *next += 1;
            }
        };
        pieces(run, events, waits, causes.span, add, |_| {})?;
        Ok(rows.into_values().collect())
    })
}

/// The same of the whole run, span by span, by (location, from).
///
/// # Errors
/// As for [`slack`].
pub fn slack_spans(
    run: &impl Trace,
    events: &impl Happenings,
    causes: &Causes,
    limits: &Limits,
) -> Result<Option<Vec<SlackSpan>>, Unread> {
    with_spans(run, events, causes, limits, |spans, _| {
        let named = spans.iter().zip(0..).flat_map(|(own, id)| {
            own.iter().rev().map(move |it| SlackSpan {
                location: LocationId(id),
                from: it.from,
                to: it.to,
                slack: (it.slack != ANY).then_some(Nanos(it.slack)),
            })
        });
        Ok(named.collect())
    })
}

impl SlackRow {
    fn add(&mut self, time: Nanos, slack: i64) {
        self.time = self.time + time;
        if slack == ANY {
            self.unbounded = self.unbounded + time;
        } else {
            let slack = Nanos(slack);
            self.least = Some(self.least.map_or(slack, |least| least.min(slack)));
            self.weighted += float(time) * float(slack);
        }
    }
}

/// No bound.
const ANY: i64 = i64::MAX;

/// The same of a location that is known.
#[derive(Clone, Copy, Debug)]
struct Own {
    from: Nanos,
    to: Nanos,
    slack: i64,
}

fn with_spans<T>(
    run: &impl Trace,
    events: &impl Happenings,
    causes: &Causes,
    limits: &Limits,
    then: impl FnOnce(&[Vec<Own>], &Waits) -> Result<T, Unread>,
) -> Result<Option<T>, Unread> {
    // What is known of a part of a run says nothing of what follows.
    let known = (causes.span == span_of(run, Span::ALL)).then_some(&causes.waits);
    let all = if known.is_some() { None } else { Some(waits_in(run, events, Span::ALL)?) };
    let Some(waits) = known.or(all.as_ref()) else { return Ok(None) };
    let graph = Graph::new(run, events, waits)?;
    let variants = Variants::new(run, vec![Variant::default()]);
    let mut replay = Replay::new(run, events, &graph, &variants, limits)?.with_tape(limits.slack);
    replay.all(waits)?;
    match replay.finish().tape {
        Some(tape) if !tape.is_full => then(&Backwards::new(run, &graph, &tape).all(tape), waits).map(Some),
        _ => Ok(None),
    }
}

/// The latest that a location may be.
#[derive(Clone, Copy, Debug)]
struct Late {
    now: i64,
    /// The same, if its wait keeps its length.
    kept: i64,
    /// What is behind this has been gone through.
    at: i64,
    waits: bool,
}

/// A way backwards.
struct Backwards<'r, R> {
    run: &'r R,
    graph: &'r Graph,
    /// When the run ends.
    end: i64,
    late: Vec<Late>,
    /// The latest that whoever arrives may.
    slots: Vec<i64>,
    spans: Vec<Vec<Own>>,
}

impl<'r, R: Trace> Backwards<'r, R> {
    fn new(run: &'r R, graph: &'r Graph, tape: &Tape) -> Self {
        let counts = |place: &usize| graph.cut_off_with(run, *place).is_none();
        let locations = run.locations();
        let end = (0..locations.len()).filter(counts).map(|place| locations[place].end.0).max().unwrap_or(0);
        let last = tape.entries.iter().map(|entry| entry.at.0).max().unwrap_or(0);
        let last = locations.iter().map(|location| location.end.0).fold(last, i64::max);
        let late = |waits: &bool| Late { now: ANY, kept: ANY, at: last, waits: *waits };
        Self {
            run,
            graph,
            end,
            late: tape.waits.iter().map(late).collect(),
            slots: Vec::new(),
            spans: vec![Vec::new(); locations.len()],
        }
    }

    /// Goes through all of it; spans of each location, the latest first.
    fn all(mut self, mut tape: Tape) -> Vec<Vec<Own>> {
        while let Some(entry) = tape.entries.pop() {
            self.undo(entry);
        }
        for location in 0..self.late.len() {
            self.back(location, 0);
        }
        self.spans
    }

    /// Goes back over the time between.
    fn back(&mut self, location: usize, to: i64) {
        let late = &mut self.late[location];
        let length = late.at - to;
        if length <= 0 {
            return;
        }
        let at = std::mem::replace(&mut late.at, to);
        let shorter = |time: i64| if time == ANY { ANY } else { time.saturating_sub(length) };
        if late.waits {
            late.kept = shorter(late.kept);
            return;
        }
        let slack = if late.now == ANY { ANY } else { late.now.saturating_sub(at) };
        late.now = shorter(late.now);
        let life = &self.run.locations()[location];
        let (from, to) = (Nanos(to).max(life.start), Nanos(at).min(life.end));
        if from < to {
            match self.spans[location].last_mut() {
                Some(last) if last.from == to && last.slack == slack => last.from = from,
                _ => self.spans[location].push(Own { from, to, slack }),
            }
        }
    }

    fn slot(&mut self, slot: u32) -> &mut i64 {
        let slot = slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, ANY);
        }
        &mut self.slots[slot]
    }

    fn undo(&mut self, entry: Entry) {
        let location = entry.location as usize;
        self.back(location, entry.at.0);
        let Late { now, kept, .. } = self.late[location];
        match entry.step {
            Step::Works => self.late[location].waits = true,
            Step::Waits { after_wait } => {
                let late = &mut self.late[location];
                (late.now, late.kept, late.waits) = (now.min(kept), ANY, after_wait);
            }
            Step::Arrives { slot, is_first } => {
                let of_slot = self.slot(slot);
                let bound = *of_slot;
                if is_first {
                    *of_slot = ANY;
                }
                self.late[location].now = now.min(bound);
            }
            Step::Opens { slot } => {
                let of_slot = self.slot(slot);
                *of_slot = now.min(kept).min(*of_slot);
            }
            Step::OpensEarly { slot } => {
                let of_slot = self.slot(slot);
                *of_slot = now.min(*of_slot);
            }
            Step::Begins { slot } => {
                let id = LocationId(entry.location);
                let took = self.graph.creators.get(&id).map_or(0, |from| (entry.at - from.1).0);
                let of_slot = self.slot(slot);
                *of_slot = if now == ANY { *of_slot } else { now.saturating_sub(took).min(*of_slot) };
            }
            Step::Keeps => self.late[location].kept = now.min(kept),
            Step::Awaits => (self.late[location].now, self.late[location].kept) = (kept, ANY),
            Step::Ends if self.graph.cut_off_with(self.run, location).is_none() => {
                self.late[location].now = now.min(self.end);
            }
            Step::Ends => {}
        }
    }
}
