//! Dependencies: who could not go on before somebody else had come somewhere.
//!
//! The one idea: messages, operations and edges come down to the same: instants of locations that arrive, and gates of
//! others, never earlier, that open when all have arrived.

use std::hash::{DefaultHasher, Hash, Hasher};

use marey_model::{LocationId, Nanos, Role};

use super::graph::Graph;
use super::variants::{Kind, Moved};
use crate::happenings::{Done, Happenings, Member, Message, Span, Unread};
use crate::trace::Trace;
use crate::waits::{Asked, Pattern, WhoWaits, asked, first_to_know, operations, role_of_all, who_waits};

/// An instant of a location.
pub(super) type Place = (LocationId, Nanos);

/// Where a location may have to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Gate {
    pub(super) location: LocationId,
    pub(super) at: Nanos,
    /// Whether the call began before: then it did wait.
    pub(super) waited: bool,
}

/// Gates that open when all have arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependency<'a> {
    pub(super) moved: Moved,
    pub(super) arrivals: &'a [Place],
    pub(super) gates: &'a [Gate],
}

impl Dependency<'_> {
    /// What tells it from others: whoever arrives or waits, and when. Not 0.
    pub(super) fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.moved.kind as u8, self.moved.bytes, self.moved.members, self.arrivals).hash(&mut hasher);
        for gate in self.gates {
            (gate.location, gate.at, gate.waited).hash(&mut hasher);
        }
        hasher.finish().max(1)
    }
}

/// A call that may have to wait: from, to.
pub(super) type Call = (LocationId, Nanos, Nanos);

/// Gates in the making.
#[derive(Debug, Default)]
pub(super) struct Gates {
    gates: Vec<Gate>,
    arrivals: Vec<Place>,
}

impl Gates {
    /// Hands out what holds these calls: all that arrives, but for those which were over before.
    pub(super) fn of(
        &mut self,
        moved: Moved,
        arrivals: &[Place],
        calls: impl Iterator<Item = Call>,
        each: &mut dyn FnMut(Dependency<'_>),
    ) {
        let last = arrivals.iter().max_by_key(|(id, at)| (*at, std::cmp::Reverse(*id)));
        let Some(&(last, latest)) = last else { return };
        self.gates.clear();
        for (location, from, to) in calls {
            if latest <= to {
                let at = from.max(latest);
                self.gates.push(Gate { location, at, waited: from < at });
            } else {
                let gate = Gate { location, at: to, waited: from < to };
                each(Dependency { moved, arrivals: &[(last, to)], gates: &[gate] });
            }
        }
        if !self.gates.is_empty() {
            each(Dependency { moved, arrivals, gates: &self.gates });
        }
    }
}

/// Hands out all of a span of time, and perhaps more, of messages only those that have something in another span within that:
/// one pass over these, and one over members of operations.
pub(super) fn each(
    run: &impl Trace,
    events: &impl Happenings,
    graph: &Graph,
    (span, of_messages): (Span, Span),
    each: &mut dyn FnMut(Dependency<'_>),
) -> Result<(), Unread> {
    // Nothing can be said of when somebody who is not there comes; what waits for that is skipped as a whole.
    let n = run.locations().len();
    let mut of_known = |dependency: Dependency<'_>| {
        let arrivals = dependency.arrivals.iter().map(|arrival| arrival.0);
        let mut ends = arrivals.chain(dependency.gates.iter().map(|gate| gate.location));
        if ends.all(|location| location.idx() < n) {
            each(dependency);
        }
    };
    let each: &mut dyn FnMut(Dependency<'_>) = &mut of_known;
    let mut gates = Gates::default();
    events.messages_in(of_messages, &mut |messages| {
        messages.iter().for_each(|message| of_message(message, &mut gates, each));
    })?;
    asked(run, events, span, |asked| of_poll(&asked, &mut gates, each))?;
    operations(run, events, span, |members| of_operation(run, members, &mut gates, each))?;
    graph.each(each);
    Ok(())
}

fn call(location: LocationId, done: Done) -> Call {
    (location, done.start, done.end)
}

fn of_message(message: &Message, gates: &mut Gates, each: &mut dyn FnMut(Dependency<'_>)) {
    let (Some(sending), Some(receiving)) = (message.sending, message.receiving) else { return };
    if sending.location == receiving.location {
        return;
    }
    let moved = Moved { kind: Kind::Message, bytes: message.bytes, members: 2 };
    let receive = call(receiving.location, receiving.done);
    gates.of(moved, &[(sending.location, sending.send)], std::iter::once(receive), each);
    // Only who waited for the receiver does so again: the others' data went into a buffer.
    let waited = |done: &Done| done.start < receiving.post && receiving.post < done.end;
    if let Some(done) = sending.done.filter(waited) {
        let send = call(sending.location, done);
        gates.of(moved, &[(receiving.location, receiving.post)], std::iter::once(send), each);
    }
}

/// What a call that asks waits for: what was found has a dependency of its own, with the data that it moved.
fn of_poll(asked: &Asked, gates: &mut Gates, each: &mut dyn FnMut(Dependency<'_>)) {
    let Asked { location, call: done, cause, pattern, .. } = *asked;
    // As of messages: a send that did not wait for its receiver does not do so.
    if pattern == Pattern::LateReceiver && cause.1 <= done.start {
        return;
    }
    let moved = Moved { kind: Kind::Edge, bytes: 0, members: 2 };
    gates.of(moved, &[cause], std::iter::once(call(location, done)), each);
}

fn of_operation(
    run: &impl Trace,
    members: &[Member],
    gates: &mut Gates,
    each: &mut dyn FnMut(Dependency<'_>),
) {
    let Some(role) = role_of_all(run, members) else { return };
    let waits_for_all = matches!(who_waits(run, members), Some(WhoWaits::All(_)));
    let root = first_to_know(members, |member| member.root);
    let root = root.filter(|root| members.iter().any(|member| member.location == *root));
    let is_root = |member: &&Member| Some(member.location) == root;
    let is_other = |member: &&Member| Some(member.location) != root;
    let kind = match role {
        Role::Barrier => Kind::Barrier,
        // Set-up keeps its length, whatever the network.
        Role::Manage | Role::Io => Kind::Edge,
        _ => Kind::Collective,
    };
    let moved = Moved {
        kind,
        bytes: members.iter().map(|member| member.bytes_in.max(member.bytes_out)).max().unwrap_or(0),
        members: u32::try_from(members.len()).unwrap_or(u32::MAX),
    };
    let place = |member: &Member| (member.location, member.enter);
    let done = |member: &Member| member.done.map(|done| call(member.location, done));
    let mut arrivals = std::mem::take(&mut gates.arrivals);
    arrivals.clear();
    match role {
        _ if waits_for_all => {
            arrivals.extend(members.iter().map(place));
            gates.of(moved, &arrivals, members.iter().filter_map(done), each);
        }
        Role::OneToAll if root.is_some() => {
            arrivals.extend(members.iter().filter(is_root).map(place));
            gates.of(moved, &arrivals, members.iter().filter(is_other).filter_map(done), each);
        }
        Role::AllToOne if root.is_some() => {
            arrivals.extend(members.iter().filter(is_other).map(place));
            gates.of(moved, &arrivals, members.iter().filter(is_root).filter_map(done), each);
        }
        _ => {}
    }
    gates.arrivals = arrivals;
}
