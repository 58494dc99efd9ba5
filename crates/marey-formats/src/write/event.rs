//! What happens in a run, one thing after the other.
//!
//! The one idea: the order is total and does not depend on which table of a run something comes from, so the parts of all
//! tables can be merged event by event. What has two ends says at each of them when the other is, and has a number, so that a
//! format may have one record for both or one for each.
//!
//! Deliberately absent: where events come from.

use marey_model::{CallPathId, LocationId, Nanos, RegionId};

/// Something that happens.
#[derive(Debug)]
pub struct Event {
    /// Where it stands among the others.
    pub key: Key,
    /// What happened.
    pub what: What,
}

/// The order of events: by time, then by location, then so that a reader sees causes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// When.
    pub time: Nanos,
    /// Where.
    pub location: LocationId,
    /// What comes first at one instant.
    pub turn: Turn,
    /// Tells apart what is alike so far: inner intervals end before outer ones, outer ones begin before inner ones.
    pub order: i64,
    /// Where it stands in its table, if that is all that tells two apart.
    pub row: u64,
}

/// What comes first when several things happen at one instant of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// A message arrives before the call that received it is left.
    Arrive,
    /// A region is left before the next is entered. A visit in no time at the end of the region around it comes before that is
    /// left.
    Leave,
    /// Regions are entered, or visited in no time.
    Enter,
    /// What a call does follows its enter.
    Act,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A region was entered.
    Enter(Visit),
    /// A region was left.
    Leave(Visit),
    /// A visit shorter than the clock can tell.
    Visit(Visit),
    /// An overlapping state began.
    Begin(State),
    /// An overlapping state ended.
    End(State),
    /// A message was sent.
    Send(Message),
    /// A message was received.
    Receive(Message),
    /// A collective was entered.
    Collective(Part),
    /// Something that happens here is the cause of something elsewhere.
    Cause(Edge),
    /// Something happened here because of something elsewhere.
    Effect(Edge),
    /// An event of the program.
    Instant {
        /// Number of its kind.
        kind: u32,
        /// Its fields, a JSON object.
        fields: String,
    },
    /// A counter took a value.
    Counter {
        /// Its number.
        counter: u32,
        /// The value.
        value: f64,
    },
    /// The heap of the process had so many bytes, more than ever, and becomes smaller now.
    HeapPeak {
        /// How many.
        bytes: u64,
    },
}

/// A visit of a region, or several in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The region and those above it.
    pub path: CallPathId,
    /// How many intervals are around it.
    pub depth: u32,
    /// When it began.
    pub start: Nanos,
    /// How long it took, from its begin to its end.
    pub duration: Nanos,
    /// How many visits it stands for: several, if they were polls in vain.
    pub visits: u32,
    /// How much of it lies between those.
    pub gaps: Nanos,
    /// Data moved; `None` = it is not a matter of data.
    pub bytes: Option<u64>,
}

/// A state that need not nest with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Its number, the same at both ends.
    pub id: u64,
    /// What it is.
    pub region: RegionId,
    /// When it began.
    pub start: Nanos,
    /// How long it lasted.
    pub duration: Nanos,
}

/// A message, at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number, the same at both ends.
    pub id: u64,
    /// Who sent it, and when the call that did so was entered; if that is known.
    pub sent: Option<(LocationId, Nanos)>,
    /// Who received it, and when the call that completed that was left; if that is known.
    pub received: Option<(LocationId, Nanos)>,
    /// When the call was entered that posted the receive, if known.
    pub posted: Option<Nanos>,
    /// Its tag.
    pub tag: i64,
    /// Its size.
    pub bytes: u64,
    /// Its communicator.
    pub communicator: u32,
}

/// A location's part in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The communicator.
    pub communicator: u32,
    /// Number of the operation on it.
    pub instance: u32,
    /// Rank of the root, if it has one.
    pub root: Option<u32>,
    /// Data that the member contributed.
    pub bytes_out: u64,
    /// Data that it received.
    pub bytes_in: u64,
    /// When the call that starts it was entered.
    pub start: Nanos,
    /// When the call that completes it was left; `None` = never.
    pub end: Option<Nanos>,
    /// Call path of the call that starts it, if known.
    pub path: Option<CallPathId>,
}

/// Why one thing happened before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its number, the same at both ends.
    pub id: u64,
    /// `create`, `join`, `wake` …
    pub kind: String,
    /// Where it comes from, and when it left there.
    pub from: (LocationId, Nanos),
    /// Where it leads, and when it arrived there.
    pub to: (LocationId, Nanos),
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}
