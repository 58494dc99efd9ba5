//! The visits of a span and of some locations, cut at its ends, as if no more had been recorded.
//!
//! The one idea: whoever follows what a location does from one visit to the next can be given a part as a run of its own,
//! with an [`Excerpt`](crate::Excerpt) for its sums.
//!
//! What is deliberately absent: calls that are not meant: what lies around them is needed to follow anybody.

use marey_model::Nanos;

use super::with_last_instant;
use crate::activities::span_of;
use crate::happenings::{Happenings, Interval, Span, Unread, Visit};
use crate::selection::Selection;
use crate::trace::Trace;

/// Events of a run, of visits only what lies in a selection's span and on its locations.
pub struct CutOut<'e, E> {
    events: &'e E,
    selection: &'e Selection,
    /// With the last instant of the run, if it goes to its end.
    span: Span,
    /// The slab that the span begins in.
    first: usize,
}

impl<'e, E: Happenings> CutOut<'e, E> {
    /// The visits of a part; which calls and communicators it has is left alone.
    pub fn new(run: &impl Trace, events: &'e E, selection: &'e Selection) -> Self {
        let span = with_last_instant(run, span_of(run, selection.span));
        let first = events.slabs().partition_point(|begin| *begin <= span.from).max(1) - 1;
        Self { events, selection, span, first }
    }

    /// What of an interval lies in it.
    fn cut(&self, it: &Interval) -> Option<Interval> {
        let Span { from, to } = self.span;
        let begins = from <= it.start && it.start < to;
        let is_in = begins || self.span.clip(it.start, it.end).is_some();
        if !is_in || !self.selection.has_location(it.location) {
            return None;
        }
        let (start, end) = (it.start.max(from), it.end.min(to));
        // They are taken to lie at the beginning.
        let computed = (it.computed - (start - it.start)).max(Nanos(0)).min(end - start);
        Some(Interval { start, end, computed, ..*it })
    }

    /// Puts what was open when a slab began before what began in it, by location.
    fn slab<T: Copy>(
        &self,
        slab: usize,
        open: impl FnOnce() -> Result<Vec<T>, Unread>,
        mut read: impl FnMut(&mut dyn FnMut(&[T])) -> Result<(), Unread>,
        cut: impl Fn(&T) -> Option<(T, Interval)>,
        each: &mut dyn FnMut(&[T]),
    ) -> Result<(), Unread> {
        let is_behind = self.events.slabs().get(slab).is_some_and(|begin| slab > 0 && self.span.to <= *begin);
        if slab < self.first || is_behind && slab > self.first {
            return Ok(());
        }
        let open = if slab == self.first && slab > 0 { open()? } else { Vec::new() };
        let open: Vec<(T, Interval)> = open.iter().filter_map(&cut).collect();
        // Those that began in the slab and before the span come with others of the same start, the outermost first, too.
        let mut before = open.into_iter().peekable();
        let mut kept = Vec::new();
        read(&mut |batch| {
            kept.clear();
            for (it, interval) in batch.iter().filter_map(&cut) {
                while let Some((earlier, _)) = before.next_if(|known| known.1.location <= interval.location) {
                    kept.push(earlier);
                }
                kept.push(it);
            }
            each(&kept);
        })?;
        let rest: Vec<T> = before.map(|(it, _)| it).collect();
        each(&rest);
        Ok(())
    }
}

impl<E: Happenings> Happenings for CutOut<'_, E> {
    fn beneath(&self) -> Option<&dyn Happenings> {
        Some(self.events)
    }

    fn slabs(&self) -> Vec<Nanos> {
        self.events.slabs()
    }

    fn intervals(&self, slab: usize, each: &mut dyn FnMut(&[Interval])) -> Result<(), Unread> {
        let cut = |it: &Interval| self.cut(it).map(|it| (it, it));
        let read = |each: &mut dyn FnMut(&[Interval])| self.events.intervals(slab, each);
        self.slab(slab, || self.events.open_at(slab), read, cut, each)
    }

    fn visits(&self, slab: usize, each: &mut dyn FnMut(&[Visit])) -> Result<(), Unread> {
        let cut = |it: &Visit| {
            let interval = self.cut(&it.interval)?;
            Some((Visit { interval, ..*it }, interval))
        };
        let read = |each: &mut dyn FnMut(&[Visit])| self.events.visits(slab, each);
        self.slab(slab, || self.events.visits_open_at(slab), read, cut, each)
    }
}
