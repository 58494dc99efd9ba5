//! The section "Waits".
//!
//! The one idea: first all that the patterns say, then the three rules of what is left of it.

use marey_analyze::{Done, Happenings, Member, Message, Receiving, Sending, Trace};
use marey_model::{CallPathId, EdgeKind, LocationId, Nanos, Role};
use marey_testkit::{ExpectedSpan, ExpectedWait, PATTERNS};

use super::{Record, asked, asks, awaited, comings_and_goings};

/// A call in which somebody may wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Call {
    location: LocationId,
    start: Nanos,
    end: Nanos,
    path: Option<CallPathId>,
}

impl Call {
    fn of(location: LocationId, done: Done) -> Self {
        Self { location, start: done.start, end: done.end, path: done.call_path }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Found {
    call: Call,
    from: Nanos,
    to: Nanos,
    pattern: &'static str,
    cause: LocationId,
    in_vain: bool,
}

impl Found {
    /// The wait of a call from its start.
    fn new(call: Call, to: Nanos, pattern: &'static str, cause: LocationId) -> Self {
        Self { call, from: call.start, to, pattern, cause, in_vain: false }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.call.location == other.call.location && self.from < other.to && other.from < self.to
    }
}

/// All waits, by location and time.
pub(crate) fn waits(run: &(impl Trace + Happenings)) -> Vec<ExpectedWait> {
    waits_and_in_vain(run).into_iter().map(|(wait, _)| wait).collect()
}

/// The same, and whether each is over in vain.
pub(crate) fn waits_and_in_vain(run: &(impl Trace + Happenings)) -> Vec<(ExpectedWait, bool)> {
    let record = Record::of(run);
    let mut found = Vec::new();
    for message in &record.messages {
        found.extend(from_message(&record, message));
    }
    for asked in asked(&record) {
        let call = Call::of(asked.location, asked.call);
        let mut wait = Found::new(call, asked.at.min(call.end), asked.pattern, asked.cause);
        wait.in_vain = call.end < asked.at;
        found.push(wait);
    }
    for operation in &record.operations {
        found.extend(from_operation(&record, operation));
    }
    for together in comings_and_goings(&record) {
        let last = together.last();
        for interval in &together.calls {
            let (location, path) = (interval.location, Some(interval.call_path));
            let call = Call { location, start: interval.start, end: interval.end, path };
            found.push(Found::new(call, last.start, together.pattern, last.location));
        }
    }
    found.extend(from_edges(&record));
    found.retain(|wait| wait.from < wait.to && wait.call.location != wait.cause);
    let found = without_rings(without_outer(&record, one_per_call(found)));
    let mut waits: Vec<_> = found
        .iter()
        .map(|wait| {
            let expected = ExpectedWait {
                location: wait.call.location,
                from: wait.from,
                to: wait.to,
                call_path: wait.call.path,
                pattern: wait.pattern,
                cause: wait.cause,
            };
            (expected, wait.in_vain)
        })
        .collect();
    waits.sort();
    waits
}

// ---- From messages

fn from_message(record: &Record, message: &Message) -> Vec<Found> {
    // "Where one end of a message is not known there is no wait."
    let (Some(sending), Some(receiving)) = (message.sending, message.receiving) else { return Vec::new() };
    let mut found = vec![late_sender(record, sending, receiving)];
    if let Some(done) = sending.done {
        let (post, send_end) = (receiving.post, done.end);
        if post < send_end {
            let call = Call::of(sending.location, done);
            found.push(Found::new(call, post.min(send_end), "late receiver", receiving.location));
        }
    }
    found
}

fn late_sender(record: &Record, sending: Sending, receiving: Receiving) -> Found {
    let Done { start: recv, end: recv_end, .. } = receiving.done;
    let could_have_been_received = |other: &Message| {
        let (Some(other_sending), Some(other_receiving)) = (other.sending, other.receiving) else {
            return false;
        };
        other_receiving.location == receiving.location
            && other_sending.send < sending.send
            && recv < other_receiving.done.start
    };
    let asks = receiving.done.call_path.is_some_and(|path| asks(record, path));
    let is_in_wrong_order = !asks && record.messages.iter().any(could_have_been_received);
    let pattern = if is_in_wrong_order { "late sender, wrong order" } else { "late sender" };
    let call = Call::of(receiving.location, receiving.done);
    Found::new(call, sending.send.min(recv_end), pattern, sending.location)
}

// ---- From collective operations

fn from_operation(record: &Record, operation: &[Member]) -> Vec<Found> {
    let wait_of = |member: &Member| {
        let (pattern, (cause, at)) = awaited(record, operation, member)?;
        let done = member.done?;
        Some(Found::new(Call::of(member.location, done), at.min(done.end), pattern, cause))
    };
    operation.iter().filter_map(wait_of).collect()
}

/// Barrier completion, by location and time.
pub(crate) fn completions(run: &(impl Trace + Happenings)) -> Vec<ExpectedSpan> {
    let record = Record::of(run);
    let mut completions = Vec::new();
    for operation in &record.operations {
        if !record.waits_for_all(operation) {
            continue;
        }
        let leaves = operation.iter().filter_map(|member| member.done).map(|done| done.end);
        let Some(first_leave) = leaves.min() else { continue };
        for member in operation {
            let Some(done) = member.done else { continue };
            let from = first_leave.max(done.start);
            completions.push(ExpectedSpan { location: member.location, from, to: done.end });
        }
    }
    completions.retain(|span| span.from < span.to);
    completions.sort();
    completions
}

// ---- From edges

fn from_edges(record: &Record) -> Vec<Found> {
    let mut found = Vec::new();
    for edge in &record.edges {
        let pattern = match edge.kind {
            EdgeKind::LockHandOver => "lock contention",
            EdgeKind::Join => "wait at join",
            EdgeKind::Wake => "wait for condition",
            EdgeKind::Barrier => "wait at barrier",
            EdgeKind::Post => "late post",
            EdgeKind::Complete => "late complete",
            EdgeKind::Create | EdgeKind::Spawn | EdgeKind::Done => continue,
        };
        let ((cause, from_time), (location, to_time)) = (edge.from, edge.to);
        let around = record.intervals.iter().filter(|interval| {
            interval.location == location && interval.start < to_time && to_time <= interval.end
        });
        let Some(innermost) = around.max_by_key(|interval| interval.depth) else { continue };
        if record.role(innermost.call_path) == Role::Work {
            continue;
        }
        let call =
            Call { location, start: innermost.start, end: innermost.end, path: Some(innermost.call_path) };
        found.push(Found::new(call, from_time.min(to_time), pattern, cause));
    }
    found
}

// ---- What is left of it

/// "If a waiting call has several waits, they are one wait."
fn one_per_call(found: Vec<Found>) -> Vec<Found> {
    let mut calls: Vec<Call> = found.iter().map(|wait| wait.call).collect();
    calls.sort();
    calls.dedup();
    let one = |call: Call| {
        let waits = found.iter().filter(|wait| wait.call == call);
        let from = waits.clone().map(|wait| wait.from).min().expect("the call is one of a wait");
        let order = |wait: &&Found| (wait.to, wait.to - wait.from);
        let last = waits.clone().map(|wait| order(&wait)).max().expect("the call is one of a wait");
        let place = |wait: &&Found| PATTERNS.iter().position(|pattern| *pattern == wait.pattern);
        let decides = waits.filter(|wait| order(wait) == last).min_by_key(|wait| (wait.cause, place(wait)));
        Found { from, ..*decides.expect("one of them is the last") }
    };
    calls.into_iter().map(one).collect()
}

/// "Of two waits that overlap, that of the outer call is dropped."
fn without_outer(record: &Record, found: Vec<Found>) -> Vec<Found> {
    let length = |mut path: Option<CallPathId>| {
        let mut length = 0;
        while let Some(id) = path {
            length += 1;
            path = record.call_paths[id.idx()].parent;
        }
        length
    };
    let is_outer = |a: &Call, b: &Call| {
        let differs = a.start != b.start || a.end != b.end;
        if differs {
            a.start < b.start || (a.start == b.start && a.end > b.end)
        } else {
            length(a.path) < length(b.path)
        }
    };
    let is_dropped =
        |wait: &Found| found.iter().any(|other| wait.overlaps(other) && is_outer(&wait.call, &other.call));
    found.iter().filter(|wait| !is_dropped(wait)).copied().collect()
}

/// "Waits that end at the same instant, each of them caused by the location of the next, are dropped."
fn without_rings(found: Vec<Found>) -> Vec<Found> {
    // Waits of one location do not overlap any more, so there is one at most that ends at an instant.
    let next =
        |wait: &Found| found.iter().find(|other| other.to == wait.to && other.call.location == wait.cause);
    let is_in_a_ring = |wait: &Found| {
        let mut at = wait;
        for _ in 0..found.len() {
            match next(at) {
                Some(other) => at = other,
                None => return false,
            }
            if at == wait {
                return true;
            }
        }
        false
    };
    found.iter().filter(|wait| !is_in_a_ring(wait)).copied().collect()
}
