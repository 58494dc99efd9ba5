//! What else happened on a location in a slab, besides its intervals.
//!
//! The one idea: operations stand in the record stream before the leave of their interval, so they
//! are noted with its enter and get its leave when that comes, in the next slab if need be.

use marey_model::spool::{FieldType, get, get_signed, get_text};
use marey_model::{EdgeKind, IoKind};

use super::build::Builder;
use super::globals::Context;
use crate::schema::NONE;

/// What an operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Send,
    Receive,
    PostSend,
    PostReceive,
    Sent,
    Received,
    Cancelled,
    Freed,
    Collective,
    PostCollective,
    Collected,
}

/// Half of a message, part in a collective, or its completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub kind: Kind,
    /// The process's number of the communicator.
    pub communicator: u32,
    /// The location's number of the call path.
    pub path: u32,
    pub datatype: u32,
    /// Row of the datum that the buffer lies in, or that is given to a collective.
    pub data: u32,
    /// Row of the datum that a collective's data come into.
    pub data_in: u32,
    /// Enter and leave of the interval; the leave is −1 until it is known.
    pub enter: i64,
    pub leave: i64,
    pub serial: u64,
    /// The other side; the root of a collective.
    pub peer: i64,
    pub tag: i64,
    /// Size; bytes given to a collective.
    pub bytes: u64,
    /// Address; bytes got from a collective.
    pub buffer: u64,
    pub number: u64,
    pub depth: u32,
}

impl Op {
    pub(crate) fn new(kind: Kind, serial: u64, now: i64, bytes: u64, number: u64) -> Self {
        Self {
            kind,
            communicator: NONE,
            path: NONE,
            datatype: NONE,
            data: NONE,
            data_in: NONE,
            enter: now,
            leave: -1,
            serial,
            peer: -1,
            tag: -1,
            bytes,
            buffer: 0,
            number,
            depth: 0,
        }
    }
}

/// The beginning or the end of a state that need not nest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub token: u64,
    pub time: i64,
    /// The region; `None` at the end.
    pub region: Option<u32>,
}

/// An enter or leave on a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneMark {
    pub lane: u32,
    pub time: i64,
    pub ticks: u64,
    pub site: u32,
    pub is_enter: bool,
}

/// An edge; its noun is an address that still has to get a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub kind: EdgeKind,
    pub from_location: u32,
    pub from_time: i64,
    pub to_time: i64,
    pub address: u64,
}

/// A one-sided operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rma {
    pub time: i64,
    pub path: u32,
    pub kind: &'static str,
    pub window: u32,
    pub target: i64,
    pub bytes: i64,
    pub displacement: i64,
    pub peer: u32,
    /// Row of the datum that the origin's buffer lies in.
    pub array: u32,
    /// Row of the part of the window that it reaches.
    pub target_array: u32,
}

/// An operation on a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Io {
    pub time: i64,
    pub path: u32,
    pub kind: &'static str,
    pub file: u32,
    pub bytes: i64,
    pub offset: i64,
}

/// How a call acts on a datum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessed {
    pub time: i64,
    pub path: u32,
    pub kind: &'static str,
    pub array: u32,
    pub target: i64,
    pub peer: u32,
    pub bytes: i64,
    pub offset: i64,
    pub shape: u32,
    /// Leave of the call; −1 = not known, or not yet.
    pub leave: i64,
}

/// All of it for one location and slab.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    pub ops: Vec<Op>,
    /// Which of `ops` wait for a leave, outermost first.
    pub waiting: Vec<u32>,
    pub marks: Vec<Mark>,
    pub lanes: Vec<LaneMark>,
    /// (time, kind, fields as JSON)
    pub events: Vec<(i64, u32, String)>,
    /// (time, counter, value)
    pub counters: Vec<(i64, u32, f64)>,
    pub edges: Vec<Edge>,
    pub rma: Vec<Rma>,
    pub io: Vec<Io>,
    pub accesses: Vec<Accessed>,
    pub samples: Vec<super::samples::Row>,
    /// Slab boundaries so far, ns: the starts of slabs 1, 2 …
    pub boundaries: std::sync::Arc<[i64]>,
}

impl Happened {
    /// The slab that an instant lies in.
    pub(crate) fn slab_of(&self, time: i64) -> u32 {
        self.boundaries.partition_point(|&start| start <= time) as u32
    }

    /// Adds an operation of the innermost open interval.
    pub(crate) fn op(&mut self, mut op: Op, builder: &mut Builder) {
        match builder.stack.last_mut() {
            Some(frame) => {
                frame.waiting = true;
                op.enter = frame.start;
                op.depth = builder.stack.len() as u32 - 1;
                self.waiting.push(self.ops.len() as u32);
            }
            // Outside of any interval: all that is known is when the record before was.
            None => op.leave = op.enter,
        }
        self.ops.push(op);
    }

    /// The interval at `depth` was left: its operations are complete.
    pub(crate) fn left(&mut self, depth: u32, now: i64) {
        while let Some(&idx) = self.waiting.last() {
            let op = &mut self.ops[idx as usize];
            if op.depth < depth {
                break;
            }
            op.leave = now;
            self.waiting.pop();
        }
    }

    /// Takes what is complete; what waits for a leave stays for the next slab.
    pub(crate) fn take(&mut self) -> Self {
        let waiting: Vec<Op> = self.waiting.iter().map(|&idx| self.ops[idx as usize]).collect();
        let boundaries = self.boundaries.clone();
        let mut taken = std::mem::replace(self, Self { boundaries, ..Self::default() });
        if !waiting.is_empty() {
            let mut held = taken.waiting.iter().peekable();
            let mut idx = 0;
            taken.ops.retain(|_| {
                let keep = held.next_if(|&&held| held == idx).is_none();
                idx += 1;
                keep
            });
            self.waiting = (0..waiting.len() as u32).collect();
            self.ops = waiting;
        }
        taken.waiting.clear();
        taken
    }

    pub(crate) fn begin(&mut self, token: u64, region: u32, time: i64) {
        self.marks.push(Mark { token, time, region: Some(region) });
    }

    pub(crate) fn end(&mut self, token: u64, time: i64) {
        self.marks.push(Mark { token, time, region: None });
    }

    pub(crate) fn event(&mut self, context: &Context, kind: u32, time: i64, fields: &[u8]) {
        if let Some((id, types)) = context.event_kinds.get(&kind) {
            self.events.push((time, *id, json(types, fields)));
        }
    }

    pub(crate) fn edge(
        &mut self,
        context: &Context,
        kind: u8,
        thread: u32,
        from: i64,
        to: i64,
        address: u64,
    ) {
        let (Some(kind), Some(&from_location)) = (EdgeKind::from_code(kind), context.threads.get(&thread))
        else {
            return;
        };
        self.edges.push(Edge { kind, from_location, from_time: from, to_time: to, address });
    }

    pub(crate) fn io(&mut self, time: i64, path: u32, kind: u8, file: u32, bytes: u64, offset: i64) {
        let known = IoKind::from_code(kind);
        let is_moved = known.is_some_and(IoKind::moves);
        let bytes = if is_moved { i64::try_from(bytes).unwrap_or(i64::MAX) } else { -1 };
        self.io.push(Io { time, path, kind: known.map_or("unknown", IoKind::name), file, bytes, offset });
    }
}

/// The fields of an event as a JSON object; those that are cut off are missing.
fn json(types: &[(String, Option<FieldType>)], fields: &[u8]) -> String {
    let mut object = serde_json::Map::new();
    let mut at = 0;
    for (name, kind) in types {
        let value = match kind {
            Some(FieldType::Unsigned) => get(fields, &mut at).map(Into::into),
            Some(FieldType::Signed) => get_signed(fields, &mut at).map(Into::into),
            Some(FieldType::Real) => fields.get(at..).and_then(|rest| rest.first_chunk::<8>()).map(|eight| {
                at += 8;
                let real = f64::from_le_bytes(*eight);
                // JSON has no word for infinities and NaN, so they are texts.
                if real.is_finite() { real.into() } else { real.to_string().into() }
            }),
            Some(FieldType::Bool) => fields.get(at).map(|&byte| {
                at += 1;
                (byte != 0).into()
            }),
            Some(FieldType::Text) => get_text(fields, &mut at).map(Into::into),
            None => None,
        };
        let Some(value) = value else { break };
        object.insert(name.clone(), value);
    }
    serde_json::Value::Object(object).to_string()
}
