//! Waits in polls and probes: calls that ask, in vain or not, and are asked again until something is there.
//!
//! The one idea: what a run of polls waited for is known when one of them has found it, so visits in vain are kept, region
//! by region, until then. Visits that touch are one call, so that a loop that only asks is one wait.
//!
//! What is deliberately absent: what lies between polls, which is computing; and calls that complete what they find, whose
//! waits are those of [`messages`](super::messages) and [`collectives`](super::collectives).

use marey_model::{Asking, CallPathId, Level, LocationId, Nanos, RegionId, Role};
use rustc_hash::FxHashMap;

use super::collectives::{Awaited, communicator_of, operations};
use super::kept::Kept;
use super::{Found, Pattern, Wait};
use crate::happenings::{Done, Happenings, Interval, Message, Span, Unread};
use crate::trace::{CallPath, CommunicatorId, Trace};

/// Calls in vain that are kept of a region until it finds something; of more the first are forgotten.
const MOST_CALLS: usize = 1 << 16;

/// A call in which a location asked for what somebody else did, and so waited if that came later than the call began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) location: LocationId,
    /// Visits that touch.
    pub(crate) call: Done,
    /// Who was waited for, and when that did it.
    pub(crate) cause: (LocationId, Nanos),
    pub(crate) pattern: Pattern,
    /// That of the message or operation that was found.
    pub(crate) communicator: Option<CommunicatorId>,
}

/// Finds the waits of all locations in calls that ask.
pub(super) fn find(
    run: &impl Trace,
    events: &impl Happenings,
    span: Span,
    found: &mut Kept,
) -> Result<(), Unread> {
    asked(run, events, span, |asked| {
        let Asked { location, call, cause: (cause, at), pattern, communicator } = asked;
        let to = at.min(call.end);
        if call.start < to {
            let (from, call_path, in_vain) = (call.start, call.call_path, call.end < at);
            let communicator = communicator.into();
            let wait = Wait { location, cause, from, to, call_path, pattern, in_vain, communicator };
            found.add(Found { wait, call_end: call.end });
        }
    })
}

/// Hands out all calls of a span of time, and perhaps more, that ask for something which was found later, in an order that is
/// the same every time. Without any call that asks nothing is read; else the intervals of the span and those after it until
/// all is found that was asked for in it, members of operations, and messages slab by slab, of which those are in memory that
/// are posted or completed in one slab.
pub(crate) fn asked(
    run: &impl Trace,
    events: &impl Happenings,
    span: Span,
    mut each: impl FnMut(Asked),
) -> Result<(), Unread> {
    let kinds = Kinds::new(run);
    if kinds.of_paths.iter().all(Option::is_none) {
        return Ok(());
    }
    let mut things = Things::default();
    // Whoever came last may have come after the span.
    operations(run, events, Span { to: Nanos(i64::MAX), ..span }, |members| {
        let may_find = |done: &Done| kinds.may_find(done);
        if !members.iter().any(|member| member.done.as_ref().is_some_and(may_find)) {
            return;
        }
        let awaited = Awaited::of(run, members);
        for member in members {
            if let Some(done) = member.done.filter(may_find) {
                let awaited = awaited.and_then(|awaited| awaited.by(member.location));
                let (who, pattern) = awaited.map_or((None, Pattern::AllToAll), |it| (Some(it.0), it.1));
                let (since, communicator) = (member.enter, communicator_of(run, member));
                things.completes(member.location, done, Thing { who, pattern, since, communicator });
            }
        }
    })?;
    let slabs = events.slabs();
    let mut askers: FxHashMap<LocationId, Asker> = FxHashMap::default();
    for slab in first_slab(events, &slabs, &kinds, span.from)?..slabs.len() {
        if slab > 0 && span.to <= slabs[slab] && !askers.values().any(|asker| asker.waits_since(span.to)) {
            break;
        }
        let from = if slab == 0 { Nanos(i64::MIN) } else { slabs[slab] };
        let to = slabs.get(slab + 1).copied().unwrap_or(Nanos(i64::MAX));
        things.forget_messages();
        events.messages_in(Span { from, to }, &mut |messages| {
            for message in messages {
                things.message(&kinds, message, Span { from, to });
            }
        })?;
        events.intervals(slab, &mut |batch| {
            for interval in batch {
                if kinds.of(interval).is_some() {
                    askers.entry(interval.location).or_default();
                }
                if let Some(asker) = askers.get_mut(&interval.location) {
                    asker.visit(run, &kinds, &things, interval, &mut each);
                }
            }
        })?;
    }
    Ok(())
}

/// The slab with the first visit of a call that asks and is under way at an instant: that of the slab before, too, for visits
/// that touch are one call.
fn first_slab(events: &impl Happenings, slabs: &[Nanos], kinds: &Kinds, at: Nanos) -> Result<usize, Unread> {
    let slab_of = |at: Nanos| slabs.partition_point(|begin| *begin <= at).max(1) - 1;
    let before = slab_of(at).saturating_sub(1);
    let open = events.open_at(before)?;
    let asking = open.iter().filter(|visit| kinds.of(visit).is_some());
    Ok(asking.map(|visit| slab_of(visit.start)).fold(before, usize::min))
}

/// How the calls of each call path ask.
struct Kinds {
    of_paths: Vec<Option<Asking>>,
    is_posting_asked: bool,
    is_any_completion_asked: bool,
}

fn kind_of(run: &impl Trace, path: &CallPath) -> Option<Asking> {
    let region = run.regions().get(path.region.idx())?;
    Asking::of_function(&region.verb).filter(|_| region.level == Level::MPI)
}

/// Whether calls of a call path ask.
pub(crate) fn asks(run: &impl Trace, path: Option<CallPathId>) -> bool {
    let path = path.and_then(|path| run.call_paths().get(path.idx()));
    path.is_some_and(|path| kind_of(run, path).is_some())
}

impl Kinds {
    fn new(run: &impl Trace) -> Self {
        let of_paths: Vec<Option<Asking>> = run.call_paths().iter().map(|path| kind_of(run, path)).collect();
        let has = |kind: Asking| of_paths.contains(&Some(kind));
        let is_posting_asked = has(Asking::Takes) || has(Asking::Probes);
        let is_any_completion_asked = has(Asking::Peeks);
        Self { of_paths, is_posting_asked, is_any_completion_asked }
    }

    fn of_path(&self, path: CallPathId) -> Option<Asking> {
        self.of_paths.get(path.idx()).copied().flatten()
    }

    fn of(&self, interval: &Interval) -> Option<Asking> {
        self.of_path(interval.call_path)
    }

    /// Whether somebody may have asked for what a call completes.
    fn may_find(&self, done: &Done) -> bool {
        let is_test = done.call_path.and_then(|path| self.of_path(path)) == Some(Asking::Tests);
        is_test || self.is_any_completion_asked
    }
}

/// What somebody asked for.
#[derive(Clone, Copy, Debug)]
struct Thing {
    /// Who did it and when; `None` = nobody has to be waited for.
    who: Option<(LocationId, Nanos)>,
    pattern: Pattern,
    /// Nobody asked for it before.
    since: Nanos,
    communicator: Option<CommunicatorId>,
}

/// A call: location, start and call path.
type Key = (LocationId, Nanos, Option<CallPathId>);

/// What calls found.
#[derive(Debug, Default)]
struct Things {
    of_operations: FxHashMap<Key, Vec<Thing>>,
    /// Ends of messages that calls completed.
    completed: FxHashMap<Key, Vec<Thing>>,
    /// Messages of which calls posted the receive.
    posted: FxHashMap<(LocationId, Nanos), Vec<Thing>>,
}

impl Things {
    fn completes(&mut self, location: LocationId, done: Done, thing: Thing) {
        self.of_operations.entry((location, done.start, done.call_path)).or_default().push(thing);
    }

    fn forget_messages(&mut self) {
        self.completed.clear();
        self.posted.clear();
    }

    fn message(&mut self, kinds: &Kinds, message: &Message, span: Span) {
        let is_in = |time: Nanos| span.from <= time && time < span.to;
        let (sending, receiving) = (message.sending, message.receiving);
        if let Some(receiving) = receiving {
            let thing = Thing {
                who: sending.map(|sending| (sending.location, sending.send)),
                pattern: Pattern::LateSender,
                since: receiving.post,
                communicator: message.communicator,
            };
            let done = receiving.done;
            if is_in(done.start) && kinds.may_find(&done) {
                let key = (receiving.location, done.start, done.call_path);
                self.completed.entry(key).or_default().push(thing);
            }
            if kinds.is_posting_asked && is_in(receiving.post) {
                self.posted.entry((receiving.location, receiving.post)).or_default().push(thing);
            }
        }
        let Some(sending) = sending else { return };
        if let Some(done) = sending.done.filter(|done| is_in(done.start) && kinds.may_find(done)) {
            // If it was over before the receive was posted, it did not wait for that.
            let receiving = receiving.filter(|receiving| receiving.post < done.end);
            let thing = Thing {
                who: receiving.map(|receiving| (receiving.location, receiving.post)),
                pattern: Pattern::LateReceiver,
                since: sending.send,
                communicator: message.communicator,
            };
            self.completed.entry((sending.location, done.start, done.call_path)).or_default().push(thing);
        }
    }

    fn completed_by(&self, call: &Interval) -> impl Iterator<Item = &Thing> + Clone {
        let key = (call.location, call.start, Some(call.call_path));
        self.completed.get(&key).into_iter().chain(self.of_operations.get(&key)).flatten()
    }

    fn posted_by(&self, call: &Interval) -> impl Iterator<Item = &Thing> + Clone {
        self.posted.get(&(call.location, call.start)).into_iter().flatten()
    }
}

/// A location that asks.
#[derive(Debug, Default)]
struct Asker {
    /// Of each region the calls that found nothing so far.
    runs: FxHashMap<RegionId, Vec<Done>>,
    /// The region of the last visit, if nothing came since, and until when the next is one call with it.
    last: Option<(RegionId, Nanos)>,
    /// The last visit that may have found something and left it where it is, if no call came since that tells.
    look: Option<(CallPathId, Asking, Nanos)>,
}

impl Asker {
    /// Whether it has not found yet what it asked for before an instant.
    fn waits_since(&self, at: Nanos) -> bool {
        self.runs.values().flatten().any(|call| call.start < at)
    }

    fn visit(
        &mut self,
        run: &impl Trace,
        kinds: &Kinds,
        things: &Things,
        visit: &Interval,
        each: &mut impl FnMut(Asked),
    ) {
        let kind = kinds.of(visit);
        let Some(region) = region_of(run, visit.call_path) else { return };
        let finds = match kind {
            Some(Asking::Tests) => things.completed_by(visit).next().is_some(),
            Some(Asking::Takes) => things.posted_by(visit).next().is_some(),
            Some(Asking::Probes | Asking::Peeks) => false,
            None => is_telling(run, visit),
        };
        if finds {
            self.tell_look(run, things, visit, each);
        }
        match kind {
            None => {}
            Some(Asking::Tests) if finds => {
                let calls = self.runs.remove(&region).unwrap_or_default();
                for thing in things.completed_by(visit) {
                    let later = calls.iter().filter(|call| thing.since <= call.start);
                    later.for_each(|call| hand_out(visit.location, call, thing, each));
                }
            }
            Some(Asking::Takes) if finds => {
                self.note(region, visit);
                let calls = self.runs.remove(&region).unwrap_or_default();
                for thing in things.posted_by(visit) {
                    calls.iter().for_each(|call| hand_out(visit.location, call, thing, each));
                }
            }
            Some(kind) => {
                self.note(region, visit);
                if matches!(kind, Asking::Probes | Asking::Peeks) {
                    self.look = Some((visit.call_path, kind, visit.end));
                }
            }
        }
        let until = visit.end + visit.goes_on_within();
        self.last = kind.filter(|_| !finds).map(|_| (region, until));
    }

    /// A visit is one call with that before it, if it touches that.
    fn note(&mut self, region: RegionId, visit: &Interval) {
        let calls = self.runs.entry(region).or_default();
        let start = visit.begin();
        match calls.last_mut() {
            Some(call) if self.last.is_some_and(|last| last.0 == region && start <= last.1) => {
                call.end = visit.end;
            }
            _ => {
                if calls.len() == MOST_CALLS {
                    calls.drain(..MOST_CALLS / 2);
                }
                calls.push(Done { start, end: visit.end, call_path: Some(visit.call_path) });
            }
        }
    }

    /// A call that tells what the look before it found.
    fn tell_look(
        &mut self,
        run: &impl Trace,
        things: &Things,
        call: &Interval,
        each: &mut impl FnMut(Asked),
    ) {
        let Some((path, kind, end)) = self.look.take() else { return };
        let is_there = |thing: &&Thing| thing.who.is_some_and(|(_, at)| at < end);
        let found: Vec<Thing> = if kind == Asking::Probes {
            let (noun, own) = (noun_of(run, path), noun_of(run, call.call_path));
            let is_on_it = |thing: &&Thing| {
                // Communicators may have no name of their own, and be called by what they were made from.
                if !own.is_empty() {
                    return noun.is_empty() || own == noun;
                }
                let known = thing.communicator.and_then(|id| run.communicators().get(id.0 as usize));
                noun.is_empty() || known.is_none_or(|known| known.name.is_empty() || known.name == noun)
            };
            let on_it: Vec<Thing> = things.posted_by(call).filter(is_on_it).copied().collect();
            let found: Vec<Thing> = on_it.iter().filter(is_there).copied().collect();
            if found.is_empty() && !on_it.is_empty() {
                // It received without having found it: it has given up looking, and nobody knows for what.
                region_of(run, path).and_then(|region| self.runs.remove(&region));
            }
            found
        } else {
            things.completed_by(call).filter(is_there).copied().collect()
        };
        if found.is_empty() {
            return;
        }
        let region = region_of(run, path);
        let calls = region.and_then(|region| self.runs.remove(&region)).unwrap_or_default();
        for thing in &found {
            calls.iter().for_each(|asked| hand_out(call.location, asked, thing, each));
        }
    }
}

/// Whether a call that does not ask says what a look before it found.
fn is_telling(run: &impl Trace, call: &Interval) -> bool {
    let region = region_of(run, call.call_path).and_then(|region| run.regions().get(region.idx()));
    region.is_some_and(|region| region.level == Level::MPI && region.role != Role::Manage)
}

fn region_of(run: &impl Trace, path: CallPathId) -> Option<RegionId> {
    run.call_paths().get(path.idx()).map(|path| path.region)
}

fn noun_of(run: &impl Trace, path: CallPathId) -> &str {
    region_of(run, path)
        .and_then(|region| run.regions().get(region.idx()))
        .map_or("", |region| region.noun.as_str())
}

/// Nobody waits for what happens on its own location.
fn hand_out(location: LocationId, call: &Done, thing: &Thing, each: &mut impl FnMut(Asked)) {
    if let Some(cause) = thing.who.filter(|(cause, _)| *cause != location) {
        let Thing { pattern, communicator, .. } = *thing;
        each(Asked { location, call: *call, cause, pattern, communicator });
    }
}
