//! What each location did when: its time cut into activities.
//!
//! The one idea: one pass over the intervals in the order of time leaves a chain of pieces for each location, one behind
//! the other without gaps, of which each is spent in one innermost region or outside of all, and within a wait or without.
//!
//! What is deliberately absent: whose fault anything was.

use std::cell::RefCell;

use marey_model::{CallPathId, LocationId, Nanos};

use crate::happenings::{Happenings, Interval, Span, Unread, visits_in};
use crate::trace::Trace;
use crate::waits::{Wait, Waits};

/// What a location does at an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Activity {
    /// It is in a region, and in none beneath that.
    Path(CallPathId),
    /// It is in no region.
    Outside,
    /// It has not begun yet, or has ended.
    NotStarted,
}

/// The same, and waits, as a small number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Doing(u32);

impl Doing {
    pub(crate) const WAITS: Self = Self(u32::MAX);
    const NOT_STARTED: Self = Self(u32::MAX - 1);
    const OUTSIDE: Self = Self(u32::MAX - 2);

    #[cfg(test)]
    pub(crate) fn of_path(path: u32) -> Self {
        Self(path)
    }

    /// Places that [`Self::place`] may give, for a run with so many call paths.
    pub(crate) fn places(paths: usize) -> usize {
        paths + 3
    }

    /// A place in a table of all.
    pub(crate) fn place(self, paths: usize) -> usize {
        match self {
            Self::WAITS => paths + 2,
            Self::NOT_STARTED => paths + 1,
            Self::OUTSIDE => paths,
            Self(path) => path as usize,
        }
    }

    /// `None` = waits.
    pub(crate) fn activity(self) -> Option<Activity> {
        match self {
            Self::WAITS => None,
            Self::NOT_STARTED => Some(Activity::NotStarted),
            Self::OUTSIDE => Some(Activity::Outside),
            Self(path) => Some(Activity::Path(CallPathId(path))),
        }
    }
}

/// A piece of a location's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    pub(crate) doing: Doing,
    /// If it is part of a wait, when that is over; else 0.
    pub(crate) waits_until: Nanos,
}

impl Piece {
    /// What it counts as in a window that ends at `end`: a wait that is not over by then is not one.
    pub(crate) fn counts_as(&self, end: Nanos) -> Doing {
        if self.waits_until > Nanos(0) && self.waits_until <= end { Doing::WAITS } else { self.doing }
    }
}

/// Goes through a span of a run. After each slab `each_slab` is told until when all pieces are known.
///
/// # Errors
/// What could not be read.
pub(crate) fn pieces(
    run: &impl Trace,
    events: &impl Happenings,
    waits: &Waits,
    span: Span,
    mut each: impl FnMut(LocationId, Piece),
    mut each_slab: impl FnMut(Nanos),
) -> Result<(), Unread> {
    let n_paths = run.call_paths().len();
    let span = span_of(run, span);
    let chains: Vec<Chain<'_>> = run
        .locations()
        .iter()
        .zip(0..)
        .map(|(location, id)| Chain {
            open: Vec::new(),
            at: span.from,
            life: (location.time().0, location.time().1.max(location.start)),
            waits: waits.of(LocationId(id)),
        })
        .collect();
    let has_time = |id: LocationId| run.locations().get(id.idx()).is_some_and(|location| location.has_time());
    let chains = RefCell::new(chains);
    let each = RefCell::new(&mut each);
    let begin = |interval: &Interval| {
        // Ids that lead nowhere are skipped.
        if interval.call_path.idx() < n_paths
            && has_time(interval.location)
            && let Some(chain) = chains.borrow_mut().get_mut(interval.location.idx())
        {
            chain.begin(interval, |piece| (each.borrow_mut())(interval.location, piece));
        }
    };
    visits_in(events, span, begin, |until| {
        for (chain, id) in chains.borrow_mut().iter_mut().zip(0..) {
            chain.advance(until, &mut |piece| (each.borrow_mut())(LocationId(id), piece));
        }
        each_slab(until);
    })
}

/// What of a span the run has: from its start to the end of the last location.
pub(crate) fn span_of(run: &(impl Trace + ?Sized), span: Span) -> Span {
    let end = run.locations().iter().fold(run.duration(), |end, location| end.max(location.end));
    Span { from: span.from.max(Nanos(0)).min(end), to: span.to.min(end).max(Nanos(0)) }
}

/// A location on its way through the run.
struct Chain<'a> {
    /// Ends and call paths of the intervals that are open, outermost first.
    open: Vec<(Nanos, CallPathId)>,
    /// What is before this has been handed out.
    at: Nanos,
    /// From when until when it is there.
    life: (Nanos, Nanos),
    /// Its waits that are not over.
    waits: &'a [Wait],
}

impl Chain<'_> {
    fn begin(&mut self, interval: &Interval, mut each: impl FnMut(Piece)) {
        // What lies between polls that were counted together is time of whatever is around them.
        self.advance(interval.begin(), &mut each);
        self.open.push((interval.end, interval.call_path));
    }

    /// Hands out everything before `time`.
    fn advance(&mut self, time: Nanos, each: &mut impl FnMut(Piece)) {
        while let Some(&(end, path)) = self.open.last()
            && end <= time
        {
            self.hand_out(end, Doing(path.0), each);
            self.open.pop();
        }
        match self.open.last() {
            Some(&(_, path)) => self.hand_out(time, Doing(path.0), each),
            None => {
                // Not there yet, there, not there any more.
                self.hand_out(time.min(self.life.0), Doing::NOT_STARTED, each);
                self.hand_out(time.min(self.life.1), Doing::OUTSIDE, each);
                self.hand_out(time, Doing::NOT_STARTED, each);
            }
        }
    }

    /// Hands out what is between there and `end`, but for waits.
    fn hand_out(&mut self, end: Nanos, doing: Doing, each: &mut impl FnMut(Piece)) {
        while self.at < end {
            let wait = loop {
                match self.waits.first() {
                    Some(wait) if wait.to <= self.at => self.waits = &self.waits[1..],
                    wait => break wait,
                }
            };
            let (until, waits_until) = match wait {
                Some(wait) if wait.from <= self.at => (wait.to, wait.to),
                Some(wait) => (wait.from, Nanos(0)),
                None => (end, Nanos(0)),
            };
            let until = until.min(end);
            each(Piece { start: self.at, end: until, doing, waits_until });
            self.at = until;
        }
    }
}
