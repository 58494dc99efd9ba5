//! A drawing as analysis sees it.
//!
//! The one idea: events are handed out in small batches, so that whoever forgets something between two of them is
//! found out.

use marey_analyze::{
    CallPath, Communicator, Done, Edge, Frame, Happenings, Interval, Location, Member, Message, Process,
    ProcessClock, ProfileRow, Region, Span, Trace, Unread,
};
use marey_model::{Nanos, StackId};

use super::Drawing;

/// Rows in a batch. Small and odd: operations, messages and slabs are seldom that long.
const BATCH: usize = 3;

/// Whether one of the calls of a message lies in a span, with its last instant: whoever forgets to ask for a message where it
/// matters is found out.
pub(crate) fn has_call_in(message: &Message, span: Span) -> bool {
    let lies_in = |(from, to): (Nanos, Nanos)| from < span.to && span.from <= to;
    let done = |done: Done| (done.start, done.end);
    let sending = message.sending.into_iter().flat_map(|it| [Some((it.send, it.send)), it.done.map(done)]);
    let receiving =
        message.receiving.into_iter().flat_map(|it| [Some((it.post, it.post)), Some(done(it.done))]);
    sending.chain(receiving).flatten().any(lies_in)
}

impl Trace for Drawing {
    fn duration(&self) -> Nanos {
        self.locations.iter().map(|location| location.end).max().unwrap_or_default()
    }
    fn regions(&self) -> &[Region] {
        &self.regions
    }
    fn call_paths(&self) -> &[CallPath] {
        &self.call_paths
    }
    fn stack(&self, _: StackId) -> Vec<&Frame> {
        Vec::new()
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
        &[]
    }
    fn clocks(&self) -> &[ProcessClock] {
        &self.clocks
    }
}

impl Happenings for Drawing {
    fn intervals(&self, slab: usize, each: &mut dyn FnMut(&[Interval])) -> Result<(), Unread> {
        let Some(&from) = self.slabs.get(slab) else { return Ok(()) };
        let to = self.slabs.get(slab + 1).copied().unwrap_or(Nanos(i64::MAX));
        let begun = self.intervals.iter().map(|drawn| drawn.interval);
        let begun: Vec<Interval> = begun.filter(|i| from <= i.start && i.start < to).collect();
        begun.chunks(BATCH).for_each(each);
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

    fn edges(&self, each: &mut dyn FnMut(&[Edge])) -> Result<(), Unread> {
        self.edges.chunks(BATCH).for_each(each);
        Ok(())
    }
}
