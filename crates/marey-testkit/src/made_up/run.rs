//! A made-up run as analysis sees it.
//!
//! The one idea: events are handed out in small batches, so that whoever forgets something between two of them is
//! found out.

use marey_analyze::{
    CallPath, Communicator, Edge, Frame, Happenings, Interval, Location, Member, Message, Process,
    ProfileRow, Region, SampledRow, Span, Tick, Trace, Unread, Visit,
};
use marey_model::{Nanos, StackId};

use super::MadeUp;
use crate::drawing::has_call_in;

/// Rows in a batch. Small and odd: operations, messages and slabs are seldom that long.
const BATCH: usize = 3;

impl Trace for MadeUp {
    fn duration(&self) -> Nanos {
        self.locations.iter().map(|location| location.end).max().unwrap_or_default()
    }
    fn regions(&self) -> &[Region] {
        &self.regions
    }
    fn call_paths(&self) -> &[CallPath] {
        &self.call_paths
    }
    fn stack(&self, stack: StackId) -> Vec<&Frame> {
        self.stacks.get(stack.idx()).map_or_else(Vec::new, |frames| frames.iter().collect())
    }
    fn processes(&self) -> &[Process] {
        &self.processes
    }
    fn locations(&self) -> &[Location] {
        &self.locations
    }
    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }
    fn profile(&self) -> &[ProfileRow] {
        &self.profile
    }
    fn samples(&self) -> &[SampledRow] {
        &self.samples
    }
}

impl Happenings for MadeUp {
    fn intervals(&self, slab: usize, each: &mut dyn FnMut(&[Interval])) -> Result<(), Unread> {
        let mut rows = Vec::new();
        self.visits(slab, &mut |batch| {
            rows.clear();
            rows.extend(batch.iter().map(|visit| visit.interval));
            each(&rows);
        })
    }

    fn visits(&self, slab: usize, each: &mut dyn FnMut(&[Visit])) -> Result<(), Unread> {
        let Some(&from) = self.slabs.get(slab) else { return Ok(()) };
        let to = self.slabs.get(slab + 1).copied().unwrap_or(Nanos(i64::MAX));
        for visits in &self.visits {
            let first = visits.partition_point(|visit| visit.interval.start < from);
            let end = visits.partition_point(|visit| visit.interval.start < to);
            visits[first..end].chunks(BATCH).for_each(&mut *each);
        }
        Ok(())
    }

    fn slabs(&self) -> Vec<Nanos> {
        self.slabs.clone()
    }

    fn messages(&self, each: &mut dyn FnMut(&[Message])) -> Result<(), Unread> {
        self.messages.chunks(BATCH).for_each(each);
        Ok(())
    }

    fn messages_in(&self, span: Span, each: &mut dyn FnMut(&[Message])) -> Result<(), Unread> {
        let inside: Vec<Message> = self.messages.iter().filter(|it| has_call_in(it, span)).copied().collect();
        inside.chunks(BATCH).for_each(each);
        Ok(())
    }

    fn members(&self, each: &mut dyn FnMut(&[Member])) -> Result<(), Unread> {
        self.members.chunks(BATCH).for_each(each);
        Ok(())
    }

    fn ticks_in(&self, span: Span, each: &mut dyn FnMut(&[Tick])) -> Result<(), Unread> {
        let inside: Vec<Tick> = self
            .ticks
            .iter()
            .filter(|tick| span.clip(tick.time, tick.time + Nanos(1)).is_some())
            .copied()
            .collect();
        inside.chunks(BATCH).for_each(each);
        Ok(())
    }

    fn sampled_in(&self, span: Span, each: &mut dyn FnMut(&[SampledRow])) -> Result<(), Unread> {
        let is_in = |tick: &Tick| span.clip(tick.time, tick.time + Nanos(1)).is_some();
        let found = self.ticks.iter().zip(&self.sampled).filter(|(tick, _)| is_in(tick));
        let inside: Vec<SampledRow> = found.map(|(_, sampled)| *sampled).collect();
        inside.chunks(BATCH).for_each(each);
        Ok(())
    }

    fn edges(&self, each: &mut dyn FnMut(&[Edge])) -> Result<(), Unread> {
        each(&[]);
        Ok(())
    }
}
