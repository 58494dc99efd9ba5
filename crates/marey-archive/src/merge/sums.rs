//! What is summed up over a run: the profile, who sent how much to whom, and where the time went when.

use std::collections::BTreeMap;

use marey_model::Level;
use marey_model::spool::sums::{BINS, least};

use super::build::{Builder, Node};
use super::input::Input;
use super::rows::columns;
use super::stream::Decoding;
use super::writing::Writing;
use crate::schema::*;
use crate::{Column, Columns, Error};

/// Stands for the logarithm of what is not known: sizes of messages that were only counted, durations that
/// found no bin.
const SIZE_UNKNOWN: i64 = -2;
/// Share of a bucket below which a region's time goes to the remainder.
const REMAINDER_PART: i64 = 1000;

/// By how much the time of a call path itself may seem to be less than none, ns: sums of whole nanoseconds are not
/// quite those of the ticks, and what is beneath may have a few more.
pub(super) const ROUNDING_NS: i64 = 100;

/// Call path, location, and what its visits there come to.
pub(super) type ProfileRow = (u32, u32, Node);

/// The sums of all call paths on each location, sorted.
pub(super) fn profile_rows(input: &Input, decoding: &Decoding) -> Vec<ProfileRow> {
    let memory = input.globals.levels.rows.iter().position(|level| level.name == Level::MEMORY);
    let memory = memory.map(|level| level as u32);
    let mut rows = Vec::new();
    for location in &decoding.locations {
        // Two sites can be the same call path; their nodes are one row.
        let mut nodes: Vec<_> = location.builder.globals.iter().zip(&location.builder.nodes).collect();
        nodes.sort_by_key(|(path, _)| **path);
        for same in nodes.chunk_by(|a, b| a.0 == b.0) {
            let mut sum = same[0].1.clone();
            for (_, node) in &same[1..] {
                sum.visits = sum.visits.saturating_add(node.visits);
                sum.untimed = sum.untimed.saturating_add(node.untimed);
                sum.inclusive = sum.inclusive.saturating_add(node.inclusive);
                sum.exclusive = sum.exclusive.saturating_add(node.exclusive);
                sum.min = sum.min.min(node.min);
                sum.max = sum.max.max(node.max);
                sum.sum_squares += node.sum_squares;
                sum.bytes = sum.bytes.saturating_add(node.bytes);
            }
            if sum.min == i64::MAX {
                sum.min = -1;
                // Of visits that took time and of which none is known.
                sum.max = if sum.visits > sum.untimed || sum.inclusive > 0 { -1 } else { sum.max };
            }
            // Nobody visits an allocation.
            if Some(sum.site.level) != memory {
                rows.push((*same[0].0, location.id, sum));
            }
        }
    }
    rows.sort_by_key(|row| (row.0, row.1));
    rows
}

/// The table of them. What is less than no time is told in `problems`.
pub(super) fn profile(rows: &[ProfileRow]) -> Result<Columns, Error> {
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        I64 |row| row.2.visits,
        I64 |row| row.2.inclusive,
        I64 |row| row.2.exclusive.max(0),
        I64 |row| row.2.min,
        I64 |row| row.2.max,
        F64 |row| row.2.sum_squares,
        I64 |row| row.2.bytes,
        I64 |row| row.2.untimed,
    ];
    Columns::from_columns(&PROFILE, columns)
}

/// Call paths of which visits were only counted because recording them was too dear.
pub(super) fn reduced(decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows = Vec::new();
    for location in &decoding.locations {
        let path = |node: u32| location.builder.globals.get(node as usize).copied().unwrap_or(NONE);
        rows.extend(location.builder.reduced.rows.iter().map(|row| (path(row.node), location.id, *row)));
    }
    rows.sort_by_key(|row| (row.0, row.1, row.2.node));
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        I64 |row| row.2.since,
        I64 |row| row.2.visits,
        I64 |row| row.2.timed,
        I64 |row| row.2.time,
        I64 |row| row.2.error,
        F64 |row| f64::from(row.2.share) / 10_000.0,
    ];
    Columns::from_columns(&REDUCED, columns)
}

/// Visits by duration, powers of two of ticks.
pub(super) fn durations(input: &Input, decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows = Vec::new();
    for location in &decoding.locations {
        let clock = &input.contexts[location.process as usize].clock;
        let builder = &location.builder;
        for (call_path, same) in same_paths(builder) {
            let (mut bins, mut unknown) = ([0; BINS], 0);
            for place in same {
                let node = &builder.nodes[place as usize];
                unknown += count(node.visits) - count(node.untimed).min(count(node.visits));
                builder.durations.add_to(place, &mut bins);
            }
            for (bin, visits) in (0..).zip(bins).filter(|&(_, visits)| visits > 0) {
                unknown = unknown.saturating_sub(visits);
                let (from, to) = (clock.span(least(bin)), clock.span(least(bin + 1)));
                rows.push((call_path, location.id, log2_of(bin), from, to, visits));
            }
            if unknown > 0 {
                rows.push((call_path, location.id, SIZE_UNKNOWN, -1, -1, unknown));
            }
        }
    }
    rows.sort_unstable();
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        I64 |row| row.2,
        I64 |row| row.3,
        I64 |row| row.4,
        I64 |row| i64::try_from(row.5).unwrap_or(i64::MAX),
    ];
    Columns::from_columns(&DURATIONS, columns)
}

/// Operations by size, powers of two.
pub(super) fn sizes(decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows = Vec::new();
    for location in &decoding.locations {
        for (call_path, same) in same_paths(&location.builder) {
            let mut bins = [0; BINS];
            same.into_iter().for_each(|place| location.builder.sizes.add_to(place, &mut bins));
            let bins = (0..).zip(bins).filter(|&(_, operations)| operations > 0);
            rows.extend(bins.map(|(bin, operations)| (call_path, location.id, log2_of(bin), operations)));
        }
    }
    rows.sort_unstable();
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        I64 |row| row.2,
        I64 |row| i64::try_from(row.3).unwrap_or(i64::MAX),
    ];
    Columns::from_columns(&SIZES, columns)
}

/// ⌊log₂⌋ of the values in a bin, −1 of 0.
fn log2_of(bin: usize) -> i64 {
    i64::from(least(bin).checked_ilog2().map_or(-1, u32::cast_signed))
}

/// The nodes of a location by call path: two sites can be the same.
fn same_paths(builder: &Builder) -> BTreeMap<u32, Vec<u32>> {
    let mut paths: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (node, &path) in (0..).zip(builder.globals.iter()) {
        paths.entry(path).or_default().push(node);
    }
    paths
}

/// A number of things; less than none is none.
fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Messages that one process sent, of which only the sums are there.
struct Sent {
    from: u32,
    /// To which process, and in which communicator; `None` if that is not in the recording.
    to: Option<(u32, u32)>,
    messages: u64,
    bytes: u64,
}

/// What all locations sent and only counted.
fn sent<'a>(input: &'a Input, decoding: &'a Decoding) -> impl Iterator<Item = Sent> + 'a {
    decoding.locations.iter().flat_map(move |location| {
        let context = &input.contexts[location.process as usize];
        let sent = location.decoder.iter().flat_map(|decoder| &decoder.added_up.sent);
        sent.map(move |&((communicator, peer), (messages, bytes))| {
            let to = context.communicators.get(&communicator).and_then(|(seen, _)| {
                let members = &input.globals.communicators.rows[seen.id as usize].members;
                Some((*members.get(&(seen.peer_side, peer))?, seen.id))
            });
            Sent { from: location.process, to, messages, bytes }
        })
    })
}

/// Messages and bytes that processes sent and only counted, and that went to nobody who is recorded.
pub(super) fn sent_to_nobody(input: &Input, decoding: &Decoding) -> BTreeMap<u32, (u64, u64)> {
    let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for Sent { from, messages, bytes, .. } in sent(input, decoding).filter(|sent| sent.to.is_none()) {
        let sum = sums.entry(from).or_default();
        *sum = (sum.0.saturating_add(messages), sum.1.saturating_add(bytes));
    }
    sums
}

pub(super) fn communication(input: &Input, decoding: &Decoding, writing: &Writing) -> Result<Columns, Error> {
    let mut all = writing.communication.clone();
    for Sent { from, to, messages, bytes } in sent(input, decoding) {
        let Some((to, communicator)) = to else { continue };
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        // How large each was is not known.
        let sum = all.entry((from, to, communicator, SIZE_UNKNOWN)).or_default();
        *sum = (sum.0.saturating_add(count(messages)), sum.1.saturating_add(count(bytes)));
    }
    for ((communicator, side, from, to, size), sum) in writing.shards.counted_sends() {
        let row = &input.globals.communicators.rows[communicator as usize];
        let other = if row.inter { 1 - side.min(1) } else { side };
        let member = |side: u8, rank: u32| row.members.get(&(side, rank)).copied();
        if let (Some(from), Some(to)) = (member(side, from), member(other, to)) {
            let all = all.entry((from, to, communicator, size)).or_default();
            *all = (all.0.saturating_add(sum.0), all.1.saturating_add(sum.1));
        }
    }
    let mut rows: Vec<_> = all.iter().collect();
    rows.sort_unstable();
    let columns = columns![rows;
        U32 |row| row.0.0,
        U32 |row| row.0.1,
        U32 |row| row.0.2,
        I64 |row| row.0.3,
        I64 |row| row.1.0,
        I64 |row| row.1.1,
    ];
    Columns::from_columns(&COMMUNICATION, columns)
}

pub(super) fn histogram(decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows = Vec::new();
    for (group, buckets) in (0..).zip(&decoding.histogram) {
        for (bucket, cells) in (0..).zip(buckets) {
            let cells = cells.iter().map(|(&region, &time)| (region, time)).collect();
            large_cells((group, bucket), cells, &mut rows);
        }
    }
    times(&HISTOGRAM, rows)
}

/// Exclusive time of what was added up, by call path.
pub(super) fn courses(input: &Input, decoding: &Decoding) -> Result<Columns, Error> {
    let mut sums: BTreeMap<(u32, u32), BTreeMap<u32, i64>> = BTreeMap::new();
    for location in &decoding.locations {
        let group = input.plan.groups.of(location.id);
        for &(bucket, node, time) in &location.builder.courses {
            let path = location.builder.globals[node as usize];
            let sum = sums.entry((group, bucket)).or_default().entry(path).or_default();
            *sum = sum.saturating_add(time);
        }
    }
    let mut rows = Vec::new();
    for (place, cells) in sums {
        large_cells(place, cells.into_iter().collect(), &mut rows);
    }
    times(&COURSES, rows)
}

/// A row of time in a bucket: group, bucket, what it is of, time.
type Row = (u32, u32, u32, i64);

/// The cells of a group's bucket as rows, small ones together.
fn large_cells((group, bucket): (u32, u32), mut cells: Vec<(u32, i64)>, rows: &mut Vec<Row>) {
    cells.sort_unstable();
    let sum = cells.iter().fold(0, |sum: i64, &(_, time)| sum.saturating_add(time));
    let mut rest = None;
    for (id, time) in cells {
        if time.saturating_mul(REMAINDER_PART) < sum {
            let sum: &mut i64 = rest.get_or_insert(0);
            *sum = sum.saturating_add(time);
        } else {
            rows.push((group, bucket, id, time));
        }
    }
    rows.extend(rest.map(|time| (group, bucket, NONE, time)));
}

fn times(spec: &'static TableSpec, mut rows: Vec<Row>) -> Result<Columns, Error> {
    rows.sort_unstable();
    let columns = columns![rows;
        U32 |row| row.2,
        U32 |row| row.0,
        U32 |row| row.1,
        I64 |row| row.3,
    ];
    Columns::from_columns(spec, columns)
}
