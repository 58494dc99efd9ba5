//! What if: the run that there would be with changed durations.
//!
//! The one idea: computation keeps its length, or that times a factor; waits follow from what is waited for. So one pass
//! over the pieces of time and the dependencies between them gives a new end to every location, for many changes at once,
//! each in a *variant* of its own.
//!
//! The definitions are those of `docs/what-if.md`.
//!
//! What is deliberately absent: guesses of what the machine would do otherwise. And names of places that users type: who
//! asks says what is meant ([`Place`]).

mod balance;
mod change;
mod circles;
mod dependencies;
mod each;
mod graph;
mod instant;
mod path;
mod replay;
mod slack;
mod tape;
mod variants;
mod windows;

use marey_model::{LocationId, Nanos};

use crate::activities::{Activity, Piece, span_of};
use crate::causes::Causes;
use crate::happenings::{Happenings, Span, Unread};
use crate::trace::Trace;
pub use change::{Change, Matched, Network, Place, Scaling};
pub use each::{Candidate, Each, What, what_if_each};
pub(crate) use graph::Graph;
use replay::Replay;
pub use slack::{SlackRow, SlackSpan, slack, slack_spans};
pub(crate) use variants::{Variant, Variants};

/// Bounds of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Gates and arrivals that are held at a time, some 40 bytes each. A run with more takes a pass over members of its
    /// operations, and over calls that ask, for each time so many.
    pub points: usize,
    /// Gates that are known to the critical path, 48 bytes each. Of more the shortest are left out, and the path stays on
    /// locations that waited there.
    pub steps: usize,
    /// Gates, arrivals, and begins and ends of waits that slack is found from, 48 bytes each. Of a run with more it is not
    /// known.
    pub slack: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { points: 1 << 22, steps: 1 << 22, slack: 1 << 23 }
    }
}

/// A run as it was and as it would be.
#[derive(Clone, PartialEq, Debug)]
pub struct WhatIf {
    /// Replayed without a change: it must be what was recorded.
    pub as_it_was: Replayed,
    /// Replayed with it.
    pub changed: Replayed,
    /// Gates that the paths do not know, for there are too many.
    pub unlisted: u64,
}

/// A replay. All times are ns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Replayed {
    /// From the start to the latest end.
    pub run_time: f64,
    /// When each location ends.
    pub ends: Vec<f64>,
    /// How long each location waits.
    pub waiting: Vec<f64>,
    /// The critical path, by location and activity.
    pub path: Vec<PathTime>,
    /// What of the path is the network's.
    pub network: f64,
    /// The time before the path.
    pub before_path: f64,
}

/// Time of a critical path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathTime {
    /// Who.
    pub location: LocationId,
    /// What.
    pub activity: Activity,
    /// How long, ns.
    pub time: f64,
}

/// Replays a run as it was and with a change. Time grows in proportion to the events.
///
/// # Errors
/// What of the run could not be read.
pub fn what_if(
    run: &impl Trace,
    events: &impl Happenings,
    causes: &Causes,
    change: &Change,
    limits: &Limits,
) -> Result<WhatIf, Unread> {
    let graph = Graph::new(run, events, &causes.waits)?;
    let waits = &causes.waits;
    let none = Change::default();
    let mut variants = Vec::new();
    for change in [&none, change] {
        variants.push(Variant::new(run, events, &graph, waits, causes, change)?);
    }
    let variants = Variants::new(run, variants);
    let mut replay = Replay::new(run, events, &graph, &variants, limits)?.with_path();
    replay.all(waits)?;
    let paths = replay.finish();
    let unlisted = paths.unlisted;
    let mut replayed = path::follow(run, events, waits, &variants, paths)?.into_iter();
    let mut next = || replayed.next().unwrap_or_default();
    Ok(WhatIf { as_it_was: next(), changed: next(), unlisted })
}

/// When each location would come to the ends of a span with a network that costs nothing, and with calls of parallel
/// libraries that do not either: the variants of [`Variant::ideals`].
pub(crate) struct Ideal<'a, R, E> {
    replay: Replay<'a, R, E>,
    span: Span,
    /// Of each location where it was at the beginning and at the end, once it has passed them.
    begin: [Vec<f64>; 2],
    end: [Vec<Option<f64>>; 2],
}

impl<'a, R: Trace, E: Happenings> Ideal<'a, R, E> {
    /// Of a span of time alone.
    pub(crate) fn new(
        run: &'a R,
        events: &'a E,
        graph: &'a Graph,
        variants: &'a Variants,
        span: Span,
    ) -> Result<Self, Unread> {
        // What happens at its last instant is over then.
        let within = Span { to: Nanos(span.to.0.saturating_add(1)), ..span };
        let within = if span_of(run, Span::ALL) == span { Span::ALL } else { within };
        let replay = Replay::of_span(run, events, graph, variants, &Limits::default(), within)?;
        Ok(Self { replay, span, begin: Default::default(), end: Default::default() })
    }

    /// The next piece of a location, of all in the span.
    pub(crate) fn add(&mut self, location: LocationId, piece: &Piece) {
        self.replay.add(location, *piece);
    }

    /// All pieces before `until` are known.
    pub(crate) fn slab(&mut self, until: Nanos) -> Result<(), Unread> {
        if self.begin[0].is_empty() && self.span.from <= until {
            self.replay.come_to(self.span.from)?;
            self.begin = [0, 1].map(|variant| self.replay.now_of(variant).collect());
        }
        if self.end[0].is_empty() && self.span.to <= until {
            self.replay.come_to(self.span.to)?;
            self.end = [0, 1].map(|variant| self.replay.not_ended(variant, self.span.to).collect());
        }
        self.replay.slab(until)
    }

    /// When each location comes to the beginning of the span, and to the end of that or its own.
    #[expect(clippy::cast_possible_truncation, reason = "runs are shorter than 200 years")]
    pub(crate) fn finish(self) -> [Vec<(Nanos, Nanos)>; 2] {
        let Self { replay, begin, end, .. } = self;
        let mut replayed = replay.finish().replayed.into_iter();
        let known = |list: &[Option<f64>], at: usize| list.get(at).copied().flatten();
        let rounded = |time: f64| Nanos(time.max(0.0).round() as i64);
        [0, 1].map(|variant: usize| {
            let ends = replayed.next().unwrap_or_default().ends;
            let life = |at: usize| {
                let end = known(&end[variant], at).unwrap_or(ends[at]);
                (rounded(begin[variant].get(at).copied().unwrap_or(end)), rounded(end))
            };
            (0..ends.len()).map(life).collect()
        })
    }
}
