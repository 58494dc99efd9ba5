//! What a dump has one line for, and the order of the lines.
//!
//! The one idea: the order is total and does not depend on which table a line comes from, so the parts
//! of all tables can be merged line by line.
//!
//! How a line looks is told in `line`, where it comes from in `source`.

use marey_model::{CallPathId, LocationId, Nanos, RegionId};

/// One line.
#[derive(Debug)]
pub(super) struct Event {
    /// Where it stands among the others.
    pub(super) key: Key,
    /// What happened.
    pub(super) what: What,
}

/// The order of lines: by time, then by location, then so that a reader sees causes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// When.
    pub(super) time: Nanos,
    /// Where.
    pub(super) location: LocationId,
    /// What comes first at one instant.
    pub(super) turn: Turn,
    /// Tells apart what is alike so far: inner intervals end before outer ones, outer ones begin
    /// before inner ones.
    pub(super) order: i64,
}

/// What comes first when several things happen at one instant of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// A message arrives before the call that received it is left.
    Arrive,
    /// A region is left before the next is entered.
    Leave,
    /// Regions are entered, or visited in no time.
    Enter,
    /// What a call does follows its enter.
    Act,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// A region was entered.
    Enter { path: CallPathId, depth: u32 },
    /// A region was left.
    Leave { path: CallPathId, depth: u32, took: Took, bytes: Option<u64> },
    /// A visit shorter than the clock can tell.
    Visit { path: CallPathId, depth: u32, bytes: Option<u64>, visits: u32 },
    /// An overlapping state began.
    Begin { region: RegionId },
    /// An overlapping state ended.
    End { region: RegionId, duration: Nanos },
    /// A message was sent.
    Send(Message),
    /// A message was received.
    Receive(Message),
    /// A collective was entered.
    Collective { communicator: u32, instance: u32, root: Option<u32>, bytes_out: u64, bytes_in: u64 },
    /// Something happened here because of something elsewhere.
    Edge { kind: String, from: LocationId, from_time: Nanos },
    /// An event of the program; fields are a JSON object.
    Instant { kind: u32, fields: String },
    /// A counter took a value.
    Counter { counter: u32, value: f64 },
    /// The heap of the process had so many bytes, more than ever, and becomes smaller now.
    HeapPeak { bytes: u64 },
}

/// How long an interval took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Took {
    /// From its begin to its end.
    pub(super) duration: Nanos,
    /// How many visits it stands for: several, if they were polls in vain.
    pub(super) visits: u32,
    /// How much of it lies between those.
    pub(super) gaps: Nanos,
}

/// One end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The other end, if it is known.
    pub(super) peer: Option<LocationId>,
    /// Its tag.
    pub(super) tag: i64,
    /// Its size.
    pub(super) bytes: u64,
    /// Its communicator.
    pub(super) communicator: u32,
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
