//! Where the run is cut into slabs of time, and how fine the level of detail is.
//!
//! The one idea: all cuts follow from the heads of windows alone, so they are known before
//! anything is decoded and depend on nothing but the input and the memory limit.

use marey_model::spool::{Record, Stream, announced};

use super::build::BUCKETS;
use super::clock::Clock;
use super::globals::Location;
use super::index::{Index, StreamIndex};
use super::lod::PER_BUCKET;
use crate::Error;

/// Locations whose rows share a part, roughly. Slabs are short where locations are many: with 64 of them a part of a run on
/// 1 000 had 9 000 rows, and to open those that a picture needs took longer than to read them. Within a part locations are told
/// apart by its pages.
const GROUP: usize = 256;
/// Rows that a part has at most, roughly: a row group.
const PART_ROWS: f64 = (1 << 20) as f64;
/// Bytes of records that make an interval: two opcodes and two differences.
const BYTES_PER_INTERVAL: f64 = 5.5;
/// Memory that an interval of a slab takes on its way, amply: a row of 24 bytes in each of the two slabs
/// that are worked on at once, in vectors that double, and room for operations, which come with some.
const MEMORY_PER_INTERVAL: f64 = 160.0;
/// The same where many intervals are operations: each is an operation in both slabs (104 bytes),
/// half a message that is matched (150 bytes) and half a row of one (112 bytes).
const MEMORY_PER_OPERATION: f64 = 480.0;
/// Memory that even a small run may use.
const LEAST_MEMORY: u64 = 64 << 20;
/// Pieces that the records of a window are thought to consist of.
const PIECES: u64 = 8;

/// How many locations share a part. All groups are about as large: a main thread beside 64 others would
/// otherwise have parts for itself, which are more footer than rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups {
    size: usize,
    pub count: usize,
}

impl Groups {
    fn new(locations: usize) -> Self {
        let wished = ((locations + GROUP / 2) / GROUP).max(1);
        let size = locations.div_ceil(wished).max(1);
        Self { size, count: locations.div_ceil(size) }
    }

    /// The group that a location is in.
    pub(crate) fn of(self, location: u32) -> u32 {
        location / self.size as u32
    }

    /// Number of locations in each but the last.
    pub(crate) fn size(self) -> usize {
        self.size
    }
}

/// How the run is cut.
#[derive(Debug)]
pub(crate) struct Plan {
    pub groups: Groups,
    /// Starts of the slabs but the first, ns.
    pub boundaries: Vec<i64>,
    /// Last instant of the run, ns.
    pub end: i64,
    /// Length of a bucket of the histogram, ns.
    pub bucket_len: i64,
    /// For each location, log₂ of the finest resolution of the level of detail.
    pub lod_log2: Vec<u32>,
    /// Last reading of each location's stream.
    pub last_ticks: Vec<u64>,
}

/// Cuts the run. `clocks` are those of the locations.
pub(crate) fn plan(
    index: &Index,
    locations: &[Location],
    clocks: &[Clock],
    memory_bytes: usize,
    has_operations: bool,
) -> Result<Plan, Error> {
    let groups = Groups::new(locations.len());
    let mut points = Vec::new();
    let mut last_ticks = vec![0; locations.len()];
    let mut lod_log2 = vec![20; locations.len()];
    let mut end = 0;
    for (idx, location) in locations.iter().enumerate() {
        let Some(place) = location.stream else { continue };
        let stream = &index.streams[place];
        let last = last_reading(index, stream)?;
        last_ticks[idx] = last;
        end = end.max(clocks[idx].ns(last));
        let mut total = 0;
        for (place, window) in stream.windows.iter().enumerate() {
            let next = stream.windows.get(place + 1).map_or(last, |next| next.ticks).max(window.ticks);
            let (from, to) = (clocks[idx].ns(window.ticks), clocks[idx].ns(next));
            total += window.len();
            for piece in 0..PIECES {
                let share = window.len() * (piece + 1) / PIECES - window.len() * piece / PIECES;
                let at = from + (to - from) / PIECES as i64 * piece as i64;
                points.push((at, groups.of(idx as u32) as usize, share));
            }
        }
        let first = stream.windows.first().map_or(last, |window| window.ticks);
        let span = (clocks[idx].ns(last) - clocks[idx].ns(first)).max(1) as f64;
        let per_bucket = span * PER_BUCKET / (total as f64 / BYTES_PER_INTERVAL).max(1.0);
        lod_log2[idx] = (per_bucket.log2().ceil().max(0.0) as u32).min(44);
    }
    points.sort_unstable();
    let per_interval = if has_operations { MEMORY_PER_OPERATION } else { MEMORY_PER_INTERVAL };
    let spool_bytes: u64 = points.iter().map(|&(_, _, bytes)| bytes).sum();
    // What a slab works on stays in the processor's cache in part if slabs are small; large runs
    // take what they are given, to have fewer parts.
    let memory = (memory_bytes as u64).min((spool_bytes / 4).max(LEAST_MEMORY));
    let rows = (memory as f64 / per_interval).max(65_536.0);
    let boundaries = cut(&points, groups.count, rows);
    let bucket_len = end / i64::from(BUCKETS) + 1;
    Ok(Plan { groups, boundaries, end, bucket_len, lod_log2, last_ticks })
}

fn cut(points: &[(i64, usize, u64)], groups: usize, rows: f64) -> Vec<i64> {
    let most = (rows * BYTES_PER_INTERVAL) as u64;
    let most_group = (PART_ROWS * BYTES_PER_INTERVAL) as u64;
    let mut boundaries: Vec<i64> = Vec::new();
    let (mut total, mut by_group) = (0, vec![0; groups]);
    for &(at, group, bytes) in points {
        let full = total + bytes > most || by_group[group] + bytes > most_group;
        if full && at > boundaries.last().copied().unwrap_or(0) {
            boundaries.push(at);
            total = 0;
            by_group.fill(0);
        }
        total += bytes;
        by_group[group] += bytes;
    }
    boundaries
}

/// The last reading in a stream: the seal of its last window, or the sum of its records and of the time
/// until a call began that was never over.
fn last_reading(index: &Index, stream: &StreamIndex) -> Result<u64, Error> {
    let Some(window) = stream.windows.last().filter(|_| stream.kind != Stream::Definitions) else {
        return Ok(index.sums_of(stream).map_or(0, |sums| sums.ticks));
    };
    if window.sealed >= window.ticks && window.sealed != 0 {
        return Ok(window.sealed);
    }
    let mut bytes = vec![0; usize::try_from(window.len()).expect("windows are below 2^30 bytes")];
    let read = index.read(window.file, window.offset + u64::from(window.records_at()), &mut bytes)?;
    let last = deltas(&bytes[..read]).fold(window.ticks, u64::saturating_add);
    Ok(last.saturating_add(announced(window.announced).map_or(0, |(_, delta)| delta)))
}

/// Number of records of a stream that have a time.
pub(crate) fn timed_records(index: &Index, stream: &StreamIndex) -> Result<u64, Error> {
    let mut count = 0;
    for window in &stream.windows {
        let mut bytes = vec![0; usize::try_from(window.len()).expect("windows are below 2^30 bytes")];
        let read = index.read(window.file, window.offset + u64::from(window.records_at()), &mut bytes)?;
        count += deltas(&bytes[..read]).count() as u64;
    }
    Ok(count)
}

/// Ticks that pass with each of those records that have a time.
fn deltas(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let mut at = 0;
    let records = std::iter::from_fn(move || Record::decode(bytes, &mut at));
    records.filter_map(|record| record.passed())
}
