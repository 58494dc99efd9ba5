//! Messages of a span: who sent how much to whom, of which sizes, how long they took, and the most remarkable of them.
//!
//! The one idea: one pass over the messages of the span fills all parts of the answer. Each part is limited by what was
//! chosen in the others and not by what was chosen in itself, as linked panes are.
//!
//! What is deliberately absent: messages of which an end is unknown, which are on their way from or to nowhere. They are
//! counted, so that a user sees that the sums are without them.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use marey_analyze::Trace;

use super::flows::{Flow, read, unmatched};
use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{Traffic, TrafficHead, TrafficOrder};

/// So many rows and columns has a matrix at most.
const MOST_CELLS: u32 = 128;

/// So many messages are listed.
const MOST_LISTED: usize = 500;

/// Classes of sizes and durations: 0, and one for each power of two.
const CLASSES: usize = 65;

/// Sums of a cell.
#[derive(Clone, Copy, Default, Debug)]
struct Cell {
    messages: u64,
    bytes: i64,
    time: i64,
    longest: i64,
}

impl Cell {
    fn add(&mut self, flow: &Flow, duration: i64) {
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(flow.bytes.max(0));
        self.time = self.time.saturating_add(duration);
        self.longest = self.longest.max(duration);
    }
}

/// A message that may be listed: the smallest of these is the first to go.
#[derive(Clone, Copy, Debug)]
struct Listed {
    key: i64,
    flow: Flow,
}

impl Listed {
    /// Of equals the earlier stays, so that the list does not depend on how the table is cut.
    fn place(&self) -> (i64, Reverse<(i64, u32, u32, i64)>) {
        let flow = &self.flow;
        (self.key, Reverse((flow.sent, flow.from, flow.to, flow.received)))
    }
}

impl PartialEq for Listed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Listed {}

impl PartialOrd for Listed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Listed {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

pub(super) fn answer(run: &Opened<'_>, asked: &Traffic) -> Vec<u8> {
    let processes: Vec<u32> = run.trace.locations().iter().map(|location| location.process.0).collect();
    let process = |location: u32| processes.get(location as usize).copied();
    let block = block(asked.processes);
    let mut cells: BTreeMap<(u32, u32), Cell> = BTreeMap::new();
    let (mut of_size, mut of_duration) = (vec![0_u64; CLASSES], vec![0_u64; CLASSES]);
    let mut all = Cell::default();
    let mut kept: BinaryHeap<Reverse<Listed>> = BinaryHeap::with_capacity(MOST_LISTED + 1);
    let mut damage = read(run, asked.from_ns, asked.to_ns, &mut |flow| {
        let (Some(from), Some(to)) = (process(flow.from), process(flow.to)) else { return };
        let duration = flow.received.saturating_sub(flow.sent).max(0);
        if asked.tag.is_some_and(|tag| tag != flow.tag) {
            return;
        }
        let (size, length) = (class(flow.bytes), class(duration));
        let is_size = is_in(asked.sizes, size);
        let is_length = is_in(asked.durations, length);
        let [rows, columns] = asked.processes;
        if is_size && is_length && is_of(rows, from) && is_of(columns, to) {
            let place = ((from - rows.0) / block, (to - columns.0) / block);
            cells.entry(place).or_default().add(flow, duration);
        }
        if asked.pair.is_some_and(|[senders, receivers]| !is_of(senders, from) || !is_of(receivers, to)) {
            return;
        }
        if is_length {
            of_size[size] += 1;
        }
        if is_size {
            of_duration[length] += 1;
        }
        if is_size && is_length {
            all.add(flow, duration);
            let key = match asked.order {
                TrafficOrder::Duration => duration,
                TrafficOrder::Bytes => flow.bytes,
                TrafficOrder::Sent => -flow.sent,
            };
            kept.push(Reverse(Listed { key, flow: *flow }));
            if kept.len() > MOST_LISTED {
                kept.pop();
            }
        }
    });
    let mut alone = |known, unknown| {
        let (number, wrong) = unmatched(run, known, unknown, asked.from_ns..asked.to_ns);
        damage.extend(wrong);
        number
    };
    let unmatched_sends = alone("send_time", "recv_time");
    let unmatched_receives = alone("recv_time", "send_time");
    let listed: Vec<Flow> = kept.into_sorted_vec().into_iter().map(|it| it.0.flow).collect();
    let number = |value: u64| float(i64::try_from(value).unwrap_or(i64::MAX));
    let mut out = Columns::default();
    out.u32("row", cells.keys().map(|it| it.0));
    out.u32("column", cells.keys().map(|it| it.1));
    out.f64("messages", cells.values().map(|it| number(it.messages)));
    out.f64("bytes", cells.values().map(|it| float(it.bytes)));
    out.f64("time", cells.values().map(|it| float(it.time)));
    out.f64("longest", cells.values().map(|it| float(it.longest)));
    out.f64("of_size", of_size.into_iter().map(number));
    out.f64("of_duration", of_duration.into_iter().map(number));
    out.u32("send_location", listed.iter().map(|it| it.from));
    out.f64("send_time", listed.iter().map(|it| float(it.sent)));
    out.u32("receive_location", listed.iter().map(|it| it.to));
    out.f64("receive_time", listed.iter().map(|it| float(it.received)));
    out.f64("size", listed.iter().map(|it| float(it.bytes)));
    out.f64("tag", listed.iter().map(|it| if it.tag < 0 { f64::NAN } else { float(it.tag) }));
    out.u32("communicator", listed.iter().map(|it| it.communicator));
    let head = TrafficHead {
        block,
        number: all.messages,
        bytes: all.bytes,
        time_ns: all.time,
        unmatched_sends,
        unmatched_receives,
        communicators: named(run, listed.iter().map(|it| it.communicator)),
        damage,
    };
    out.frame("traffic", &head)
}

/// Names of communicators that are known.
pub(super) fn named(run: &Opened<'_>, numbers: impl Iterator<Item = u32>) -> Vec<(u32, String)> {
    let known = run.trace.communicators();
    let numbers: BTreeSet<u32> = numbers.collect();
    numbers.into_iter().filter_map(|it| Some((it, known.get(it as usize)?.name.clone()))).collect()
}

/// How many processes a row stands for.
fn block(processes: [(u32, u32); 2]) -> u32 {
    let most = processes.iter().map(|(from, to)| to.saturating_sub(*from)).max().unwrap_or(1);
    most.div_ceil(MOST_CELLS).max(1).next_power_of_two()
}

/// The class of a size or a duration: of how many binary digits it is.
fn class(value: i64) -> usize {
    (i64::BITS - value.max(0).leading_zeros()) as usize
}

fn is_in(classes: Option<(u32, u32)>, class: usize) -> bool {
    classes.is_none_or(|(first, last)| (first as usize..=last as usize).contains(&class))
}

fn is_of((from, to): (u32, u32), process: u32) -> bool {
    (from..to).contains(&process)
}
