//! The visits that began in a part of a run, each as a whole.
//!
//! The one idea: whoever judges single visits need not know that some are not meant: they are not handed out. All else is
//! the run's.
//!
//! What is deliberately absent: what of other visits lies in the part; [`CutOut`](crate::CutOut) has that.

use marey_model::{Level, LocationId, Nanos};
use rustc_hash::FxHashSet;

use super::{calls_on, with_last_instant};
use crate::activities::span_of;
use crate::happenings::{Happenings, Interval, Span, Unread, Visit};
use crate::selection::Selection;
use crate::trace::Trace;

/// Events of a run, of visits only those that a selection means and that began in its span.
pub struct Begun<'e, E> {
    events: &'e E,
    selection: &'e Selection,
    span: Span,
    /// Where communicators are chosen: the calls that are meant, by whom and when they were entered.
    calls: Option<FxHashSet<(LocationId, Nanos)>>,
    /// By call path: whether it is a call of MPI.
    is_mpi: Vec<bool>,
}

impl<'e, E: Happenings> Begun<'e, E> {
    /// The visits of a part. Where communicators are chosen, messages and operations of the span are read once, and memory
    /// grows with those on these.
    ///
    /// # Errors
    /// What of the run could not be read.
    pub fn new(run: &impl Trace, events: &'e E, selection: &'e Selection) -> Result<Self, Unread> {
        let span = with_last_instant(run, span_of(run, selection.span));
        let calls =
            selection.communicators.is_some().then(|| calls_on(events, selection, span)).transpose()?;
        let is_mpi = |path: &crate::trace::CallPath| {
            run.regions().get(path.region.idx()).is_some_and(|region| region.level == Level::MPI)
        };
        Ok(Self { events, selection, span, calls, is_mpi: run.call_paths().iter().map(is_mpi).collect() })
    }

    fn has(&self, it: &Interval) -> bool {
        let acts = |calls: &FxHashSet<(LocationId, Nanos)>| {
            self.is_mpi.get(it.call_path.idx()) == Some(&true) && calls.contains(&(it.location, it.start))
        };
        self.span.from <= it.start
            && it.start < self.span.to
            && self.selection.has_location(it.location)
            && self.selection.has_call(Some(it.call_path))
            && self.calls.as_ref().is_none_or(acts)
    }

    /// Whether nothing in a slab began in the span. What began before the first slab is in that.
    fn lacks(&self, slab: usize) -> bool {
        let slabs = self.events.slabs();
        let begins_behind = slabs.get(slab).is_some_and(|begin| slab > 0 && self.span.to <= *begin);
        begins_behind || slabs.get(slab + 1).is_some_and(|next| *next <= self.span.from)
    }
}

impl<E: Happenings> Happenings for Begun<'_, E> {
    fn beneath(&self) -> Option<&dyn Happenings> {
        Some(self.events)
    }

    fn slabs(&self) -> Vec<Nanos> {
        self.events.slabs()
    }

    fn intervals(&self, slab: usize, each: &mut dyn FnMut(&[Interval])) -> Result<(), Unread> {
        if self.lacks(slab) {
            return Ok(());
        }
        let mut kept = Vec::new();
        self.events.intervals(slab, &mut |batch| {
            kept.clear();
            kept.extend(batch.iter().filter(|it| self.has(it)));
            each(&kept);
        })
    }

    fn visits(&self, slab: usize, each: &mut dyn FnMut(&[Visit])) -> Result<(), Unread> {
        if self.lacks(slab) {
            return Ok(());
        }
        let mut kept = Vec::new();
        self.events.visits(slab, &mut |batch| {
            kept.clear();
            kept.extend(batch.iter().filter(|visit| self.has(&visit.interval)));
            each(&kept);
        })
    }
}
