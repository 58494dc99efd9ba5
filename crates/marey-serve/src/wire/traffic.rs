//! Messages added up and listed, and sums of operations of all, over the wire.

use serde::{Deserialize, Serialize};

/// Which messages are meant: those on their way in a span, from the enter of the call that sent to the leave of the one that
/// completed the receive. Of what limits them each part of the answer leaves out its own, so that a user sees what else
/// could be chosen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Its first instant, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub from_ns: i64,
    /// The instant behind its last, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub to_ns: i64,
    /// Processes that the matrix has as rows and as columns: the first and the one behind the last.
    pub processes: [(u32, u32); 2],
    /// Only those sent by these processes, the first and the one behind the last, to those; `null` = all.
    pub pair: Option<[(u32, u32); 2]>,
    /// Only sizes of these classes, the first and the last; `null` = all. Class `k` is from 2^(k-1) to 2^k - 1, and 0 is 0.
    pub sizes: Option<(u32, u32)>,
    /// Only durations (ns) of these classes; `null` = all.
    pub durations: Option<(u32, u32)>,
    /// Only those with this tag; `null` = all.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub tag: Option<i64>,
    /// By what the list is ordered, the most first.
    pub order: TrafficOrder,
}

/// An order of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum TrafficOrder {
    /// Those that were on their way longest.
    Duration,
    /// The largest.
    Bytes,
    /// The earliest.
    Sent,
}

/// What the messages are together. Columns of the matrix, a value for each cell that has some, by row and column:
/// `row` and `column` (from 0, of [`TrafficHead::block`] processes each), `messages`, `bytes`, `time` (sum of durations, ns) and
/// `longest` (ns). Of the classes of sizes and durations: `of_size` and `of_duration` (numbers of messages, a value for each
/// class from 0). Of the list, up to 500: `send_location`, `send_time`, `receive_location`, `receive_time` (ns), `size` (bytes),
/// `tag` (not a number = unknown) and `communicator` (2³²−1 = unknown).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TrafficHead {
    /// How many processes a row or column of the matrix stands for: a power of two, so that it has up to 128 of each.
    pub block: u32,
    /// Messages that all limits leave.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// Bytes of them.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: i64,
    /// Durations of them together, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
    /// Sends in the span of which nobody knows the receive: they are in no other part of the answer, and only the span
    /// limits them.
    #[cfg_attr(test, ts(type = "number"))]
    pub unmatched_sends: u64,
    /// Receives that were completed in the span and of which nobody knows the send, likewise.
    #[cfg_attr(test, ts(type = "number"))]
    pub unmatched_receives: u64,
    /// Names of the communicators of listed messages, by their numbers; empty = it has none.
    pub communicators: Vec<(u32, String)>,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// A span.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SpanOf {
    /// Its first instant, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub from_ns: i64,
    /// The instant behind its last, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub to_ns: i64,
}

/// Operations of all in which somebody was in a span, by region and communicator. Columns, a value for each: `region` (2³²−1 =
/// unknown), `communicator`, `operations`, `parts` (of single members), `time` (of all members in them, ns, their whole
/// parts), `longest` (ns, of one member), `waited` (ns in the calls that completed them; not a number = not known), `bytes_out`
/// and `bytes_in` (of all members); `first` is the number of the first operation on the communicator.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CollectiveSumsHead {
    /// Names of the communicators that occur, by their numbers; empty = it has none.
    pub communicators: Vec<(u32, String)>,
    /// What could not be read.
    pub damage: Vec<String>,
}
