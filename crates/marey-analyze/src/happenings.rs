//! What happened in a run, event by event: intervals, messages, collective operations and edges.
//!
//! The one idea: they come in batches, in an order that a fold with bounded memory can use: a run is cut into slabs of
//! time, and of each slab all that began in it is handed out.
//!
//! What is deliberately absent: definitions and sums ([`Trace`](crate::Trace)).

use marey_model::{CallPathId, EdgeKind, LocationId, Nanos};

use crate::trace::{CommunicatorId, SampledRow};

/// The events of a run.
///
/// What runs may lack has a provided method, which asks the events [beneath](Self::beneath), if there are any.
pub trait Happenings {
    /// The events that these show with something changed; `None` = they are a run's own.
    ///
    /// Who changes messages, members or edges changes what is asked for [a span](Self::messages_in), too.
    fn beneath(&self) -> Option<&dyn Happenings> {
        None
    }

    /// Hands out all visits that began in the span of a slab, in the order of (location, start, depth), in batches of
    /// any length. An interval may end in a later slab.
    ///
    /// # Errors
    /// What could not be read; the rest has been handed out.
    fn intervals(&self, slab: usize, each: &mut dyn FnMut(&[Interval])) -> Result<(), Unread>;

    /// The same with what only some ask for: how much each visit moved, and whether it is one.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn visits(&self, slab: usize, each: &mut dyn FnMut(&[Visit])) -> Result<(), Unread> {
        self.intervals(slab, &mut |batch| {
            let visit = |interval: &Interval| Visit { interval: *interval, bytes: None, between: Nanos(0) };
            each(&batch.iter().map(visit).collect::<Vec<_>>());
        })
    }

    /// Where slabs begin; the first at or before the run's start, each ends where the next begins. There is at least
    /// one.
    fn slabs(&self) -> Vec<Nanos>;

    /// Hands out all messages, in any order.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn messages(&self, each: &mut dyn FnMut(&[Message])) -> Result<(), Unread> {
        self.beneath().map_or(Ok(()), |events| events.messages(each))
    }

    /// Hands out all members of collective operations, those of one operation one after the other.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn members(&self, each: &mut dyn FnMut(&[Member])) -> Result<(), Unread> {
        self.beneath().map_or(Ok(()), |events| events.members(each))
    }

    /// Hands out all edges, in any order.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn edges(&self, each: &mut dyn FnMut(&[Edge])) -> Result<(), Unread> {
        self.beneath().map_or(Ok(()), |events| events.edges(each))
    }

    /// Hands out the samples of a span of time, in any order.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn ticks_in(&self, span: Span, each: &mut dyn FnMut(&[Tick])) -> Result<(), Unread> {
        self.beneath().map_or(Ok(()), |events| events.ticks_in(span, each))
    }

    /// The samples of a span of time and what was sampled, a row each or several in one, in any order.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn sampled_in(&self, span: Span, each: &mut dyn FnMut(&[SampledRow])) -> Result<(), Unread> {
        self.beneath().map_or(Ok(()), |events| events.sampled_in(span, each))
    }

    /// The visits that [`Self::open_at`] gives, with what only some ask for. Without an implementation of its own all
    /// slabs before are read for it.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn visits_open_at(&self, slab: usize) -> Result<Vec<Visit>, Unread> {
        let Some(begin) = self.slabs().get(slab).copied() else { return Ok(Vec::new()) };
        let mut open: Vec<Visit> = Vec::new();
        for earlier in 0..slab {
            self.visits(earlier, &mut |batch| {
                open.extend(batch.iter().filter(|visit| visit.interval.end > begin));
            })?;
        }
        open.sort_by_key(|visit| (visit.interval.location, visit.interval.start, visit.interval.depth));
        Ok(open)
    }

    /// The visits that began before a slab does and are not over when it begins, in the order of (location, start, depth).
    /// Without an implementation of its own all slabs before are read for it.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn open_at(&self, slab: usize) -> Result<Vec<Interval>, Unread> {
        let Some(begin) = self.slabs().get(slab).copied() else { return Ok(Vec::new()) };
        let mut open: Vec<Interval> = Vec::new();
        for earlier in 0..slab {
            self.intervals(earlier, &mut |batch| {
                open.extend(batch.iter().filter(|interval| interval.end > begin));
            })?;
        }
        open.sort_by_key(|interval| (interval.location, interval.start, interval.depth));
        Ok(open)
    }

    /// The same as [`Self::messages`], but those may be left out of which no call lies in the span.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn messages_in(&self, span: Span, each: &mut dyn FnMut(&[Message])) -> Result<(), Unread> {
        match self.beneath() {
            Some(events) => events.messages_in(span, each),
            None => self.messages(each),
        }
    }

    /// The same as [`Self::members`], but those may be left out who entered after the span. That of an archive leaves out
    /// nobody: members stand in it by operation, so whatever span is asked for costs a pass over those of the whole run.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn members_in(&self, span: Span, each: &mut dyn FnMut(&[Member])) -> Result<(), Unread> {
        match self.beneath() {
            Some(events) => events.members_in(span, each),
            None => self.members(each),
        }
    }

    /// The same as [`Self::edges`], but those may be left out that lead nowhere in the span.
    ///
    /// # Errors
    /// As for [`Self::intervals`].
    fn edges_in(&self, span: Span, each: &mut dyn FnMut(&[Edge])) -> Result<(), Unread> {
        match self.beneath() {
            Some(events) => events.edges_in(span, each),
            None => self.edges(each),
        }
    }
}

/// A span of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Its first instant.
    pub from: Nanos,
    /// The instant behind its last.
    pub to: Nanos,
}

impl Span {
    /// All of time.
    pub const ALL: Self = Self { from: Nanos(i64::MIN), to: Nanos(i64::MAX) };

    /// What of `from` to `to` lies in it; `None` = nothing.
    pub fn clip(&self, from: Nanos, to: Nanos) -> Option<(Nanos, Nanos)> {
        let (from, to) = (from.max(self.from), to.min(self.to));
        (from < to).then_some((from, to))
    }
}

/// Hands out all visits of which a part lies in a span, in the order of a slab's, those first that began before. After
/// each slab `each_slab` is told until when nothing more will come.
pub(crate) fn visits_in(
    events: &impl Happenings,
    span: Span,
    mut each: impl FnMut(&Interval),
    mut each_slab: impl FnMut(Nanos),
) -> Result<(), Unread> {
    let slabs = events.slabs();
    let first = slabs.partition_point(|begin| *begin <= span.from).max(1) - 1;
    let is_in = |interval: &&Interval| interval.end > span.from && interval.start < span.to;
    if first > 0 {
        events.open_at(first)?.iter().filter(is_in).for_each(&mut each);
    }
    for slab in first..slabs.len() {
        if slab > first && slabs[slab] >= span.to {
            break;
        }
        events.intervals(slab, &mut |batch| batch.iter().filter(is_in).for_each(&mut each))?;
        each_slab(slabs.get(slab + 1).copied().unwrap_or(span.to).min(span.to));
    }
    Ok(())
}

/// Parts of a run that could not be read, in words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct Unread(pub Vec<String>);

/// A sample: somebody had used up periods of processor time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tick {
    /// Who.
    pub location: LocationId,
    /// When.
    pub time: Nanos,
    /// Periods since the one before.
    pub periods: u64,
}

/// A visit of a region, or several in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// Where.
    pub location: LocationId,
    /// When the region was entered.
    pub start: Nanos,
    /// When it was left.
    pub end: Nanos,
    /// The region and those above it.
    pub call_path: CallPathId,
    /// Number of intervals around it.
    pub depth: u32,
    /// How much of it was spent with something else between the visits that it stands for, as [`Self::computed_between`] says;
    /// mostly 0. It is taken to lie at the beginning.
    pub computed: Nanos,
    /// How many visits it stands for; mostly 1.
    pub visits: u32,
}

impl Interval {
    /// What an asking loop takes to go round at most, per visit; it computes if there is more between its polls.
    const ROUND: Nanos = Nanos(2000);
    /// The recorder counts no more than that together, so that a longer pause ends it.
    const LONGEST: Nanos = Nanos(20_000_000);

    /// What [`Self::computed`] is of an interval that stands for so many visits with so much time between them: nothing, if
    /// it is so little that the visits came one behind the other.
    pub fn computed_between(between: Nanos, visits: u32) -> Nanos {
        let rounds = Nanos(Self::ROUND.0.saturating_mul(i64::from(visits)));
        if between <= rounds { Nanos(0) } else { between }
    }

    /// How long the pause is at most in which a loop goes round to its next visit. Of several visits in a row one pause may
    /// be as long as all of them together: the processor was somewhere else meanwhile.
    pub(crate) fn goes_on_within(&self) -> Nanos {
        Nanos(Self::ROUND.0.saturating_mul(i64::from(self.visits))).min(Self::LONGEST)
    }

    /// When what is not spent with something else begins.
    pub(crate) fn begin(&self) -> Nanos {
        (self.start + self.computed).min(self.end)
    }
}

/// A visit, and what only some ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// Where, when and what.
    pub interval: Interval,
    /// Data that it moved, bytes; `None` = it is no matter of data, or not known.
    pub bytes: Option<u64>,
    /// How much of its time lies between the visits that it stands for, whatever was done there.
    pub between: Nanos,
}

impl Visit {
    /// How much of it lies before an instant in it, without what lies between the visits that it stands for, which are taken to
    /// be spread evenly. Pieces add up.
    pub fn inside_before(&self, at: Nanos) -> Nanos {
        let interval = self.interval;
        let (passed, whole) = ((at - interval.start).0, (interval.end - interval.start).0);
        let inside = whole - self.between.0.clamp(0, whole.max(0));
        if inside == whole || whole <= 0 {
            return Nanos(passed.max(0));
        }
        // At most `inside`, which is an i64.
        Nanos(i64::try_from(i128::from(passed) * i128::from(inside) / i128::from(whole)).unwrap_or(inside))
    }
}

impl From<Visit> for Interval {
    fn from(visit: Visit) -> Self {
        visit.interval
    }
}

/// A message. An end that is not known is missing as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// The sender's end.
    pub sending: Option<Sending>,
    /// The receiver's end.
    pub receiving: Option<Receiving>,
    /// Size, bytes.
    pub bytes: u64,
    /// Communicator, if known.
    pub communicator: Option<CommunicatorId>,
}

/// The sender's end of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sending {
    /// Who.
    pub location: LocationId,
    /// Enter of the call that sent.
    pub send: Nanos,
    /// Its call path.
    pub call_path: Option<CallPathId>,
    /// The call that completed the send, perhaps the same; `None` = none is known.
    pub done: Option<Done>,
}

/// The receiver's end of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receiving {
    /// Who.
    pub location: LocationId,
    /// Enter of the call that posted the receive.
    pub post: Nanos,
    /// The call that completed it, perhaps the same.
    pub done: Done,
}

/// A call that completes an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// Enter.
    pub start: Nanos,
    /// Leave.
    pub end: Nanos,
    /// Its call path, if known.
    pub call_path: Option<CallPathId>,
}

/// A member of a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// The communicator.
    pub communicator: CommunicatorId,
    /// Number of the operation on it.
    pub instance: u32,
    /// Who.
    pub location: LocationId,
    /// Enter of the call that started it.
    pub enter: Nanos,
    /// The call path of that call, whose role is the operation's.
    pub call_path: Option<CallPathId>,
    /// The call that completed it, perhaps the same; `None` = none is known.
    pub done: Option<Done>,
    /// The root, if there is one and it is known.
    pub root: Option<LocationId>,
    /// Data that the member contributed, bytes.
    pub bytes_out: u64,
    /// Data that it received, bytes.
    pub bytes_in: u64,
}

/// Something on one location that came before something on another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Of what kind.
    pub kind: EdgeKind,
    /// Where it comes from.
    pub from: (LocationId, Nanos),
    /// Where it leads.
    pub to: (LocationId, Nanos),
}
