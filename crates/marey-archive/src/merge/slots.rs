//! What the short records of messages and collectives in a window stand for.
//!
//! The one idea: a window says once, into a slot, what a half of a message is; each repetition
//! names the slot only. Which message of its channel it is follows from counting, and since slots
//! that differ in size or datatype can be of one channel, channels count, not slots.
//!
//! Nothing outlives its window, for the next one says again what it uses: so a lost window takes no
//! other with it. A slot that nobody has filled is for the caller to count, and what becomes of a
//! half is decided where halves are joined and matched, not here.

use marey_model::spool::{CollectiveSignature, Direction, SLOTS, Signature};
use rustc_hash::FxHashMap;

use super::globals::Context;
use super::happen::{Kind, Op};
use crate::schema::NONE;

/// What the slots of the window stand for.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    messages: Vec<Option<MessageSlot>>,
    collectives: Vec<Option<CollectiveSlot>>,
    /// Some slot has been filled in this window.
    is_used: bool,
    channels: Channels,
    /// Address of the last signature's buffer.
    buffer: u64,
}

/// What a message slot of the window stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageSlot {
    pub signature: Signature,
    buffer: u64,
    /// Index in [`Channels::next`].
    channel: u32,
    /// The communicator's members as participants.
    pub set: Option<u32>,
    /// The datatype's number in the run.
    datatype: u32,
    /// Row of the datum that the buffer lies in.
    data: u32,
}

/// What a collective slot of the window stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CollectiveSlot {
    pub signature: CollectiveSignature,
    channel: u32,
    /// Rows of the data that are given and got.
    data: [u32; 2],
    /// The communicator's members as participants.
    pub set: Option<u32>,
}

impl Slots {
    /// Forgets everything: a window begins, and says what its first signature's buffer is told from.
    pub(crate) fn begin_window(&mut self, buffer: u64) {
        self.buffer = buffer;
        // Most windows of most programs use none, and clearing all takes its time.
        if self.is_used {
            self.messages.fill(None);
            self.collectives.fill(None);
            self.channels.clear();
            self.is_used = false;
        }
    }

    /// Fills a message slot.
    pub(crate) fn set_message(&mut self, context: &Context, slot: u8, signature: Signature) {
        self.open();
        self.buffer = self.buffer.wrapping_add(signature.buffer_step.cast_unsigned());
        let Signature { direction, communicator, peer, tag, number, .. } = signature;
        let key = ChannelKey::Messages(direction, communicator, peer, tag);
        let channel = self.channels.set(key, number);
        self.messages[usize::from(slot)] = Some(MessageSlot {
            signature,
            buffer: self.buffer,
            channel,
            set: participants(context, communicator),
            datatype: context.datatypes.get(&signature.datatype).copied().unwrap_or(NONE),
            data: context.data.get(&signature.data).map_or(NONE, |(row, _)| *row),
        });
    }

    /// Fills a collective slot.
    pub(crate) fn set_collective(&mut self, context: &Context, slot: u8, signature: CollectiveSignature) {
        self.open();
        let key = ChannelKey::Collectives(signature.communicator);
        let channel = self.channels.set(key, signature.number);
        let set = participants(context, signature.communicator);
        let data = signature.data.map(|data| context.data.get(&data).map_or(NONE, |(row, _)| *row));
        self.collectives[usize::from(slot)] = Some(CollectiveSlot { signature, channel, data, set });
    }

    /// What a message slot stands for and the number of its channel's next message, which counts
    /// on by `step`. `None` if nothing has filled the slot.
    pub(crate) fn message(&mut self, slot: u8, step: u64) -> Option<(&MessageSlot, u64)> {
        let slot = self.messages.get(usize::from(slot))?.as_ref()?;
        Some((slot, self.channels.take(slot.channel, step)))
    }

    /// What a collective slot stands for and the number of this operation on its communicator.
    /// `None` if nothing has filled the slot.
    pub(crate) fn collective(&mut self, slot: u8) -> Option<(&CollectiveSlot, u64)> {
        let slot = self.collectives.get(usize::from(slot))?.as_ref()?;
        Some((slot, self.channels.take(slot.channel, 1)))
    }

    /// Makes room. Streams without messages never take the memory.
    fn open(&mut self) {
        if self.messages.is_empty() {
            self.messages.resize(SLOTS, None);
            self.collectives.resize(SLOTS, None);
        }
        self.is_used = true;
    }
}

impl MessageSlot {
    /// A half of message `number` of the channel. Its call path is for the caller to say.
    pub(crate) fn op(&self, kind: Kind, serial: u64, now: i64, number: u64) -> Op {
        let signature = &self.signature;
        let mut op = Op::new(kind, serial, now, signature.bytes, number);
        op.communicator = signature.communicator;
        op.peer = signature.peer;
        op.tag = signature.tag;
        op.datatype = self.datatype;
        op.buffer = self.buffer;
        op.data = self.data;
        op
    }
}

impl CollectiveSlot {
    /// A part in operation `number` of the communicator. Its call path is for the caller to say.
    pub(crate) fn op(&self, kind: Kind, serial: u64, now: i64, number: u64) -> Op {
        let signature = &self.signature;
        let mut op = Op::new(kind, serial, now, signature.bytes_out, number);
        op.communicator = signature.communicator;
        op.peer = signature.root;
        op.buffer = signature.bytes_in;
        [op.data, op.data_in] = self.data;
        op
    }
}

/// A communicator's members as participants.
fn participants(context: &Context, communicator: u32) -> Option<u32> {
    context.communicators.get(&communicator).map(|(_, part)| part.set)
}

/// The channels that the window has mentioned, and the number of the next message of each.
#[derive(Debug, Default)]
struct Channels {
    indices: FxHashMap<ChannelKey, u32>,
    next: Vec<u64>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum ChannelKey {
    Messages(Direction, u32, i64, i64),
    Collectives(u32),
}

impl Channels {
    /// The channel's index; its next number is `number`.
    fn set(&mut self, key: ChannelKey, number: u64) -> u32 {
        let new = self.next.len() as u32;
        let idx = *self.indices.entry(key).or_insert(new);
        if idx == new {
            self.next.push(number);
        }
        self.next[idx as usize] = number;
        idx
    }

    /// The number of the channel's next message, which is counted by `step`.
    fn take(&mut self, channel: u32, step: u64) -> u64 {
        let next = &mut self.next[channel as usize];
        let number = *next;
        *next = number.wrapping_add(step);
        number
    }

    fn clear(&mut self) {
        self.indices.clear();
        self.next.clear();
    }
}
