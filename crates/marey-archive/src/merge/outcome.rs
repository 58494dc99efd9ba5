//! What matching found: the rows of messages, and how many there are of each kind.
//!
//! The one idea: nothing that was recorded is left out. A half that has no other half is a row as
//! well, of which one side is unknown, and is counted by why it is alone. Only what is no message
//! gives no row: what was cancelled, and the ghosts that stand for receives that never ended.
//!
//! Which halves belong together is not decided here.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::counting::Counting;
use super::halves::{Half, Key};
use super::tighten::Shift;
use crate::schema::NONE;

/// A row of `messages`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct MessageRow {
    pub recv_location: u32,
    pub recv_time: i64,
    pub send_location: u32,
    pub send_time: i64,
    pub send_end: i64,
    pub recv_post: i64,
    pub recv_start: i64,
    pub bytes: i64,
    pub tag: i64,
    pub communicator: u32,
    pub send_datatype: u32,
    pub recv_datatype: u32,
    pub send_buffer: i64,
    pub recv_buffer: i64,
    pub send_path: u32,
    pub recv_path: u32,
    pub send_start: i64,
    pub send_done_path: u32,
    pub send_array: u32,
    pub recv_array: u32,
}

/// How much of what matching found.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally {
    pub matched: u64,
    pub violations: u64,
    pub ambiguous: u64,
    pub unmatched_sends: u64,
    pub unmatched_receives: u64,
    pub unmatchable_halves: u64,
    /// Messages that would arrive before they are sent if clocks had not been moved for them.
    pub mended: Mended,
    /// Halves of which the other one was only counted, for want of room or because rules said so.
    pub counted_halves: u64,
}

/// Messages for which clocks were moved, and by how much they ran backwards before, ns.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mended {
    pub count: u64,
    pub sum_ns: u64,
    pub most_ns: u64,
}

impl Mended {
    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.most_ns = self.most_ns.max(other.most_ns);
    }
}

/// Communicator, the sender's group, sender, receiver, and log₂ of the size.
pub(crate) type SentPlace = (u32, u8, u32, u32, i64);

/// What matching found.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Of the slab at hand.
    pub rows: Vec<MessageRow>,
    /// Of the run so far.
    pub tally: Tally,
    /// Sends of which the receive was only counted: messages and bytes.
    pub counted_sends: FxHashMap<SentPlace, (i64, i64)>,
    /// Which messages processes have counted without keeping them.
    pub counting: Arc<Counting>,
    /// By how much the clock of each process was moved; empty if none was.
    pub shifts: Arc<Vec<Shift>>,
}

impl Outcome {
    /// Both halves of a message.
    #[inline]
    pub(crate) fn matched(&mut self, key: Key, send: &Half, recv: &Half) {
        if recv.ghost {
            return self.unmatched(key, send);
        }
        self.tally.matched += 1;
        self.tally.violations += u64::from(recv.end >= 0 && recv.end < send.post);
        if !self.shifts.is_empty() && recv.end >= send.post {
            self.mended(send, recv);
        }
        let receive = lonely(key, recv);
        self.rows.push(MessageRow {
            send_location: send.location,
            send_time: send.post,
            send_end: send.end,
            send_datatype: send.datatype,
            send_buffer: send.buffer.cast_signed(),
            send_path: send.path,
            send_start: completed(send).0,
            send_done_path: completed(send).1,
            send_array: send.data,
            ..receive
        });
    }

    /// Counts a message if it ran backwards before clocks were moved.
    #[cold]
    fn mended(&mut self, send: &Half, recv: &Half) {
        let moved = |half: &Half, time: i64| {
            self.shifts.get(half.process as usize).map_or(0.0, |shift| shift.at(time as f64))
        };
        let moved = moved(recv, recv.end) - moved(send, send.post);
        let before = recv.end.saturating_sub(send.post).saturating_sub(moved.round() as i64);
        if before < 0 {
            let ns = before.unsigned_abs();
            self.tally.mended.add(Mended { count: 1, sum_ns: ns, most_ns: ns });
        }
    }

    /// A half in a channel that cannot be matched from here on.
    pub(crate) fn unmatchable(&mut self, key: Key, half: &Half) {
        if !half.ghost && !half.cancelled {
            let is_counted = self.is_counted(key);
            self.count_alone(key, half, is_counted);
            self.tally.unmatchable_halves += u64::from(!is_counted);
            self.rows.push(lonely(key, half));
        }
    }

    /// Counts a half that is alone because a process only counted, if that is so.
    fn count_alone(&mut self, key: Key, half: &Half, is_counted: bool) {
        self.tally.counted_halves += u64::from(is_counted);
        if is_counted && !half.receives {
            let bytes = i64::try_from(half.bytes).unwrap_or(i64::MAX);
            let size = log2_of(bytes);
            let place = (key.communicator, key.side, key.from, key.to, size);
            let sum = self.counted_sends.entry(place).or_default();
            *sum = (sum.0 + 1, sum.1.saturating_add(bytes));
        }
    }

    /// Whether one of the two has counted messages of the channel that it did not keep: there is a gap.
    pub(crate) fn is_counted(&self, key: Key) -> bool {
        self.counting.sends(key) || self.counting.receives(key)
    }

    /// A half whose other half was not recorded.
    pub(crate) fn unmatched(&mut self, key: Key, half: &Half) {
        if half.ghost {
            return;
        }
        // Only who should have the other half can have counted it.
        let is_counted = if half.receives { self.counting.sends(key) } else { self.counting.receives(key) };
        self.count_alone(key, half, is_counted);
        self.tally.unmatched_sends += u64::from(!half.receives && !is_counted);
        self.tally.unmatched_receives += u64::from(half.receives && !is_counted);
        self.rows.push(lonely(key, half));
    }

    /// Halves of `pairs` messages, of which none knows its other half for certain.
    pub(crate) fn ambiguous<'a>(&mut self, key: Key, pairs: usize, halves: impl Iterator<Item = &'a Half>) {
        self.tally.ambiguous += pairs as u64;
        self.rows.extend(halves.filter(|half| !half.ghost).map(|half| lonely(key, half)));
    }
}

/// ⌊log₂⌋ of a size in bytes, −1 of 0.
pub(crate) fn log2_of(bytes: i64) -> i64 {
    if bytes > 0 { i64::from(bytes.ilog2()) } else { -1 }
}

/// Enter and call path of the call that completed a send.
#[inline]
fn completed(send: &Half) -> (i64, u32) {
    if send.end < 0 || send.done_path == NONE { (-1, NONE) } else { (send.start, send.done_path) }
}

/// The row of a half alone.
#[inline]
fn lonely(key: Key, half: &Half) -> MessageRow {
    let none = MessageRow {
        recv_location: NONE,
        recv_time: -1,
        send_location: NONE,
        send_time: -1,
        send_end: -1,
        recv_post: -1,
        recv_start: -1,
        bytes: i64::try_from(half.bytes).unwrap_or(i64::MAX),
        tag: key.tag,
        communicator: key.communicator,
        send_datatype: NONE,
        recv_datatype: NONE,
        send_buffer: -1,
        recv_buffer: -1,
        send_path: NONE,
        recv_path: NONE,
        send_start: -1,
        send_done_path: NONE,
        send_array: NONE,
        recv_array: NONE,
    };
    if half.receives {
        MessageRow {
            recv_location: half.location,
            recv_time: half.end,
            recv_post: half.post,
            recv_start: half.start,
            recv_datatype: half.datatype,
            recv_buffer: half.buffer.cast_signed(),
            recv_path: half.path,
            recv_array: half.data,
            ..none
        }
    } else {
        MessageRow {
            send_location: half.location,
            send_time: half.post,
            send_end: half.end,
            send_datatype: half.datatype,
            send_buffer: half.buffer.cast_signed(),
            send_path: half.path,
            send_start: completed(half).0,
            send_done_path: completed(half).1,
            send_array: half.data,
            ..none
        }
    }
}
