//! Who sent how much to whom, and in what sizes.
//!
//! The one idea: the archive holds the sums by pair, communicator and size already, so no message is
//! looked at again; here they are only added up, in O(pairs).
//!
//! Messages of which one end is unknown are not among them: they are problems, not communication.

use std::collections::BTreeMap;

use marey_model::ProcessId;

use crate::trace::Trace;

/// All messages from one process to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairRow {
    /// The sender.
    pub from: ProcessId,
    /// The receiver.
    pub to: ProcessId,
    /// Rank of the sender in its world; `None` = unknown.
    pub from_rank: Option<u32>,
    /// Rank of the receiver in its world; `None` = unknown.
    pub to_rank: Option<u32>,
    /// Number of messages, over all communicators.
    pub messages: u64,
    /// Sum of their sizes, bytes.
    pub bytes: u64,
}

/// All messages of one order of size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageSizeRow {
    /// Messages of 2^n to before 2^(n+1) bytes; `None` = messages without data.
    pub size_log2: Option<u32>,
    /// Number of messages.
    pub messages: u64,
    /// Sum of their sizes, bytes.
    pub bytes: u64,
}

/// One row per pair of processes that exchanged messages, by sender, then receiver.
pub fn communication(trace: &dyn Trace) -> Vec<PairRow> {
    let mut sums: BTreeMap<(ProcessId, ProcessId), (u64, u64)> = BTreeMap::new();
    for row in trace.communication() {
        add(sums.entry((row.from, row.to)).or_default(), row.messages, row.bytes);
    }
    let rank = |id: ProcessId| trace.processes().get(id.idx()).and_then(|process| process.rank);
    let pair = |((from, to), (messages, bytes))| PairRow {
        from,
        to,
        from_rank: rank(from),
        to_rank: rank(to),
        messages,
        bytes,
    };
    sums.into_iter().map(pair).collect()
}

/// One row per order of size that occurs, messages without data first.
pub fn message_sizes(trace: &dyn Trace) -> Vec<MessageSizeRow> {
    let mut sums: BTreeMap<Option<u32>, (u64, u64)> = BTreeMap::new();
    for row in trace.communication().iter().filter(|row| row.is_size_known) {
        add(sums.entry(row.size_log2).or_default(), row.messages, row.bytes);
    }
    let size = |(size_log2, (messages, bytes))| MessageSizeRow { size_log2, messages, bytes };
    sums.into_iter().map(size).collect()
}

fn add(sum: &mut (u64, u64), messages: u64, bytes: u64) {
    sum.0 = sum.0.saturating_add(messages);
    sum.1 = sum.1.saturating_add(bytes);
}
