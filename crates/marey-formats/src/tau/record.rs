//! Records of a trace: all of one size.
//!
//! Nothing says which of the two sizes and byte orders a file has, but the first record: it says that the trace begins,
//! and has the parameter 3.

use crate::bytes::{Bytes, Order};

/// How records are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    order: Order,
    is_wide: bool,
}

/// A record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    pub event: i64,
    pub node: u64,
    pub thread: u64,
    pub parameter: i64,
    /// µs, of calendar time with most clocks.
    pub time: u64,
}

/// What the record at the beginning of a trace has as its parameter.
const INIT: i64 = 3;
/// Events have smaller numbers.
const MOST_EVENTS: i64 = 1 << 20;
/// The clock has counted for at least a second, µs.
const LEAST_TIME: u64 = 1_000_000;

impl Layout {
    /// That of a file that begins so; `None` if it is no trace.
    pub(super) fn of(beginning: &[u8]) -> Option<Self> {
        let all = [(false, Order::Little), (false, Order::Big), (true, Order::Little), (true, Order::Big)];
        all.into_iter().map(|(is_wide, order)| Self { order, is_wide }).find(|layout| layout.is_of(beginning))
    }

    fn is_of(self, beginning: &[u8]) -> bool {
        let mut records = beginning.chunks_exact(self.len()).map_while(|bytes| self.record(bytes));
        let (Some(first), Some(second)) = (records.next(), records.next()) else { return false };
        let is_likely =
            |record: &Record| (1..MOST_EVENTS).contains(&record.event) && record.time >= LEAST_TIME;
        first.parameter == INIT && is_likely(&first) && is_likely(&second) && first.time <= second.time
    }

    pub(super) const fn len(self) -> usize {
        if self.is_wide { 32 } else { 24 }
    }

    pub(super) fn record(self, bytes: &[u8]) -> Option<Record> {
        let mut bytes = Bytes::new(bytes, self.order);
        let event = if self.is_wide { bytes.u64()?.cast_signed() } else { bytes.u32()?.cast_signed().into() };
        let (node, thread) = (bytes.short(2)?, bytes.short(2)?);
        if self.is_wide {
            bytes.take(4)?;
        }
        Some(Record { event, node, thread, parameter: bytes.u64()?.cast_signed(), time: bytes.u64()? })
    }
}

/// What the parameter of a record of a message says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Message {
    /// Rank of the other side.
    pub peer: u32,
    pub tag: u32,
    pub bytes: u64,
}

impl Message {
    pub(super) fn of(parameter: i64) -> Self {
        let bytes = parameter.to_le_bytes().map(u32::from);
        let [b0, b1, b2, b3, b4, b5, b6, b7] = bytes;
        // The upper bits came later, where there was room between others, which number a communicator.
        let upper = b4 | (b5 & 0b11) << 8;
        Self {
            peer: b3 | b7 << 8,
            tag: b2 | b6 << 8,
            bytes: u64::from(b0 | b1 << 8) | u64::from(upper) << 16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(is_wide: bool, is_big: bool, record: Record) -> Vec<u8> {
        let put = |value: i64, len: usize| {
            let all = value.to_be_bytes();
            let mut part = all[8 - len..].to_vec();
            if !is_big {
                part.reverse();
            }
            part
        };
        let (node, thread) = (record.node.cast_signed(), record.thread.cast_signed());
        let pad = if is_wide { put(0, 4) } else { Vec::new() };
        let event = put(record.event, if is_wide { 8 } else { 4 });
        [
            event,
            put(node, 2),
            put(thread, 2),
            pad,
            put(record.parameter, 8),
            put(record.time.cast_signed(), 8),
        ]
        .concat()
    }

    #[test]
    fn all_layouts_are_found() {
        let first = Record { event: 60_000, node: 3, thread: 0, parameter: 3, time: 1_795_228_681_051_855 };
        let second = Record { event: 5, parameter: -1, time: first.time + 1, ..first };
        for (is_wide, is_big) in [(false, false), (false, true), (true, false), (true, true)] {
            let both = [bytes(is_wide, is_big, first), bytes(is_wide, is_big, second)].concat();
            let layout = Layout::of(&both).unwrap();
            assert_eq!((layout.is_wide, layout.order == Order::Big), (is_wide, is_big));
            assert_eq!(layout.record(&both[layout.len()..]), Some(second));
            assert_eq!(Layout::of(&both[..both.len() - 1]), None);
        }
    }

    #[test]
    fn messages_are_put_together_from_two_parts() {
        // Tag 0x1234, rank 0x0203, 0x30005 bytes, communicator 1.
        let parameter = 0x0212_0403_0334_0005;
        assert_eq!(Message::of(parameter), Message { peer: 0x0203, tag: 0x1234, bytes: 0x3_0005 });
    }
}
