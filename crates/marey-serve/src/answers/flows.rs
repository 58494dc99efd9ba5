//! What connects locations: messages and the critical path.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use marey_archive::{Columns as Rows, Error, Filter};

use crate::fold::float;
use crate::frame::Columns;
use crate::ranges;
use crate::run::Opened;
use crate::wire::{MessagesHead, PathHead, Window};

/// More lines than this are no picture.
const MOST: usize = 5_000;

/// More messages than this are not read for a picture.
const MOST_READ: u64 = 4_000_000;

/// A message as it is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) from: u32,
    pub(super) sent: i64,
    pub(super) to: u32,
    pub(super) received: i64,
    pub(super) bytes: i64,
    pub(super) tag: i64,
    /// Enter of the call that completed the receive.
    pub(super) recv_start: i64,
    /// 2³²−1 = unknown.
    pub(super) communicator: u32,
}

pub(super) fn messages(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let mut kept: Vec<Flow> = Vec::new();
    let mut together = Together::new(window);
    let mut number = 0;
    let mut damage = Vec::new();
    let is_too_much = to_read(run, window) > MOST_READ;
    if !is_too_much {
        let is_meant = |location: u32| ranges::hold(&window.locations, location);
        let read = read(run, window.from_ns, window.to_ns, &mut |flow| {
            if is_meant(flow.from) || is_meant(flow.to) {
                number += 1;
                together.add(flow);
                if kept.len() < MOST {
                    kept.push(*flow);
                }
            }
        });
        damage = read;
    }
    let (told, not_drawn) = if number > MOST as u64 {
        together.finish()
    } else {
        (kept.into_iter().map(|flow| (flow, 1)).collect(), 0)
    };
    let head = MessagesHead { number: (!is_too_much).then_some(number), not_drawn, damage };
    let mut columns = Columns::default();
    columns.u32("send_location", told.iter().map(|it| it.0.from));
    columns.f64("send_time", told.iter().map(|it| float(it.0.sent)));
    columns.u32("receive_location", told.iter().map(|it| it.0.to));
    columns.f64("receive_time", told.iter().map(|it| float(it.0.received)));
    columns.f64("bytes", told.iter().map(|it| float(it.0.bytes)));
    columns.f64("tag", told.iter().map(|it| if it.0.tag < 0 { f64::NAN } else { float(it.0.tag) }));
    columns.u32("count", told.iter().map(|it| u32::try_from(it.1).unwrap_or(u32::MAX)));
    columns.frame("messages", &head)
}

/// Messages of the same two locations that were sent in the same slice of the window.
struct Together {
    from_ns: i64,
    slice: i64,
    window_ns: i64,
    /// By sender, receiver and slice: number, and sums of sent, received (since the window's begin) and bytes.
    sums: Sums,
}

impl Together {
    /// At first the window has so many slices; half as many whenever there are too many sums.
    const SLICES: i64 = 128;

    fn new(window: &Window) -> Self {
        let window_ns = window.to_ns - window.from_ns;
        let slice = (window_ns / Self::SLICES).max(1);
        Self { from_ns: window.from_ns, slice, window_ns, sums: BTreeMap::new() }
    }

    fn add(&mut self, flow: &Flow) {
        let since = |time: i64| i128::from(time) - i128::from(self.from_ns);
        let values = [since(flow.sent), since(flow.received), i128::from(flow.bytes)];
        // What was sent before the window is in its first slice.
        let place = (flow.sent.saturating_sub(self.from_ns)).max(0) / self.slice;
        add_to(&mut self.sums, (flow.from, flow.to, place), (1, values));
        while self.sums.len() > self.most() && self.slice < i64::MAX / 4 {
            self.slice *= 2;
            let finer = std::mem::take(&mut self.sums);
            for ((from, to, place), sum) in finer {
                add_to(&mut self.sums, (from, to, place / 2), sum);
            }
        }
    }

    /// So many sums are kept. Of very many pairs those that talk most are drawn, each in the course of time: slices as long as
    /// the window would put all lines into its middle.
    fn most(&self) -> usize {
        const FEWEST_SLICES: i64 = 16;
        if self.slice <= self.window_ns / FEWEST_SLICES { MOST } else { 40 * MOST }
    }

    /// What is to be drawn, and how many messages are not.
    fn finish(self) -> (Vec<(Flow, u64)>, u64) {
        let from_ns = self.from_ns;
        let told = self.sums.into_iter().map(|((from, to, _), (number, [sent, received, bytes]))| {
            let mean = |sum: i128| {
                let mean = sum / i128::from(number.max(1)) + i128::from(from_ns);
                i64::try_from(mean).unwrap_or(i64::MAX)
            };
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            let flow = Flow {
                from,
                sent: mean(sent),
                to,
                received: mean(received),
                bytes,
                tag: -1,
                recv_start: 0,
                communicator: u32::MAX,
            };
            (flow, number)
        });
        let told: Vec<_> = told.collect();
        if told.len() <= MOST {
            return (told, 0);
        }
        // More pairs than a picture has lines.
        let mut by_pair: BTreeMap<(u32, u32), (u64, usize)> = BTreeMap::new();
        for (flow, number) in &told {
            let pair = by_pair.entry((flow.from, flow.to)).or_default();
            (pair.0, pair.1) = (pair.0 + number, pair.1 + 1);
        }
        let mut pairs: Vec<_> = by_pair.into_iter().collect();
        pairs.sort_by_key(|(_, (number, _))| std::cmp::Reverse(*number));
        let mut room = MOST;
        let drawn = pairs.iter().map_while(|(pair, (_, lines))| {
            room = room.checked_sub(*lines)?;
            Some(*pair)
        });
        let drawn: BTreeSet<(u32, u32)> = drawn.collect();
        let (drawn, left): (Vec<_>, Vec<_>) =
            told.into_iter().partition(|(flow, _)| drawn.contains(&(flow.from, flow.to)));
        (drawn, left.iter().map(|(_, number)| number).sum())
    }
}

type Sums = BTreeMap<(u32, u32, i64), (u64, [i128; 3])>;

fn add_to(sums: &mut Sums, key: (u32, u32, i64), (number, values): (u64, [i128; 3])) {
    let sum = sums.entry(key).or_default();
    sum.0 += number;
    sum.1.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// Rows of parts that the window touches.
fn to_read(run: &Opened<'_>, window: &Window) -> u64 {
    let touches = |part: &&marey_archive::Part| {
        part.min_time.is_none_or(|it| it < window.to_ns)
            && part.max_time.is_none_or(|it| window.from_ns <= it)
    };
    run.archive.parts("messages").iter().filter(touches).map(|part| part.rows).sum()
}

/// Hands out messages of which both ends are known and that were on their way in a span; what could not be read.
pub(super) fn read(run: &Opened<'_>, from_ns: i64, to_ns: i64, each: &mut dyn FnMut(&Flow)) -> Vec<String> {
    const COLUMNS: [&str; 8] = [
        "send_location",
        "send_time",
        "recv_location",
        "recv_time",
        "bytes",
        "tag",
        "recv_start",
        "communicator",
    ];
    let filters = [
        Filter { column: "send_time", range: 0..to_ns.max(0) },
        Filter { column: "recv_time", range: from_ns.max(0)..i64::MAX },
    ];
    let mut wrong: Option<Error> = None;
    let scanned = run.archive.scan("messages", &COLUMNS, &filters, |batch| {
        wrong = wrong.take().or(rows(batch, each).err());
    });
    let damage = match scanned {
        Ok(scanned) => scanned.damage,
        Err(error) => vec![error],
    };
    damage.iter().chain(&wrong).map(ToString::to_string).collect()
}

/// How many messages have one end in a span and the other nowhere; what could not be read. The ends are columns of times.
pub(super) fn unmatched(
    run: &Opened<'_>,
    known: &'static str,
    unknown: &'static str,
    span: Range<i64>,
) -> (u64, Vec<String>) {
    let filters = [
        Filter { column: known, range: span.start.max(0)..span.end.max(0) },
        Filter { column: unknown, range: i64::MIN..0 },
    ];
    let mut number = 0;
    match run.archive.scan("messages", &[known], &filters, |batch| number += batch.len() as u64) {
        Ok(scanned) => (number, scanned.damage.iter().map(ToString::to_string).collect()),
        Err(error) => (number, vec![error.to_string()]),
    }
}

fn rows(batch: &Rows, each: &mut dyn FnMut(&Flow)) -> Result<(), Error> {
    let (from, to) = (batch.u32("send_location")?, batch.u32("recv_location")?);
    let (sent, received) = (batch.i64("send_time")?, batch.i64("recv_time")?);
    let (bytes, tag, recv_start) = (batch.i64("bytes")?, batch.i64("tag")?, batch.i64("recv_start")?);
    let communicators = batch.u32("communicator")?;
    for row in 0..batch.len() {
        each(&Flow {
            from: from[row],
            sent: sent[row],
            to: to[row],
            received: received[row],
            bytes: bytes[row],
            tag: tag[row],
            recv_start: recv_start[row],
            communicator: communicators[row],
        });
    }
    Ok(())
}

pub(super) fn path(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let Some(causes) = run.causes() else {
        return Columns::default().frame("path", &PathHead { is_known: false });
    };
    let spans = &causes.path.spans;
    let first = spans.partition_point(|span| span.to.0 <= window.from_ns);
    let behind = spans.partition_point(|span| span.from.0 < window.to_ns).max(first);
    let least = 1 << window.resolution_log2.min(62);
    let mut kept: Vec<(u32, i64, i64)> = Vec::new();
    for span in &spans[first..behind] {
        match kept.last_mut() {
            // Who cannot be told apart from who was on it before is left out.
            Some(last) if span.to.0 - last.1 < least || last.0 == span.location.0 => last.2 = span.to.0,
            _ => kept.push((span.location.0, span.from.0, span.to.0)),
        }
    }
    let mut columns = Columns::default();
    columns.u32("location", kept.iter().map(|span| span.0));
    columns.f64("start", kept.iter().map(|span| float(span.1)));
    columns.f64("duration", kept.iter().map(|span| float(span.2 - span.1)));
    columns.frame("path", &PathHead { is_known: true })
}
