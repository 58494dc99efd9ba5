//! Level of detail: for buckets of 2^r ns, which regions took most of them.
//!
//! The one idea: intervals of one level and depth do not overlap on a location and end in time
//! order. So each (level, depth) has one open bucket per resolution; a full one is written and
//! added to its parent, and coarse rows come from exact sums at no second look at the intervals.
//! It is made from the rows of a slab while they are written, beside the decoding of the next.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::build::{Long, Operation, Row};
use super::folded::Stretch;
use crate::schema::NONE;

/// Coarser than 2⁴⁵ ns (ten hours) nothing is kept.
const COARSEST: u32 = 45;
/// Intervals that the finest bucket of a location holds on average. An estimate of what keeps the
/// table below a tenth of the intervals: a row takes 25 bytes where an interval takes 4.
pub(crate) const PER_BUCKET: f64 = 128.0;

/// Rows that are kept, of all locations together, before they are written: some 20 MB. Slabs are short where locations are
/// many, and a part for each would be more footer than rows, and a file more to open for every picture.
pub(super) const KEPT_ROWS: usize = 1 << 18;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LodRow {
    pub resolution_log2: u32,
    pub level: u32,
    pub depth: u32,
    pub bucket: i64,
    pub regions: [(u32, i64); 3],
    pub rest: i64,
}

/// What a call path is in the level of detail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LodKey {
    pub level: u32,
    /// Among the call paths of its level.
    pub depth: u32,
    pub region: u32,
}

/// Where the times of a call path are added.
#[derive(Clone, Copy, Debug)]
struct LodPlace {
    slot: u32,
    /// The slot's number of the region.
    region: u32,
}

/// The open buckets of a location.
#[derive(Debug)]
pub(crate) struct Lod {
    log2: u32,
    /// At this resolution the run is one bucket.
    coarsest: u32,
    slots: Vec<Slot>,
    /// By the location's own number of the call path.
    places: Vec<LodPlace>,
    rows: Vec<LodRow>,
}

#[derive(Debug, Default)]
struct Slot {
    level: u32,
    depth: u32,
    /// The finest open bucket, ns.
    start: i64,
    end: i64,
    /// The regions of this level and depth in the order of their appearance. Inside a slot this order
    /// stands for them: what is made from single intervals is in it without being sorted.
    regions: Vec<u32>,
    places: FxHashMap<u32, u32>,
    /// Time of each in the finest open bucket, and a bit for each that may have some.
    times: Vec<i64>,
    dirty: Vec<u64>,
    /// Memory for the times of a finished bucket.
    scratch: Vec<(u32, i64)>,
    /// Open buckets from finest to coarsest: number and time by region, sorted.
    open: Vec<(i64, Vec<(u32, i64)>)>,
}

impl Lod {
    /// Of a location whose finest buckets are 2^`log2` ns long, in a run that ends at `end`.
    pub(crate) fn new(log2: u32, end: i64) -> Self {
        let coarsest = end.max(1).ilog2() + 1;
        let (slots, places, rows) = (Vec::new(), Vec::new(), Vec::new());
        Self { log2: log2.min(COARSEST), coarsest: coarsest.min(COARSEST), slots, places, rows }
    }

    /// Adds the intervals of a slab: `rows` that began in it, with what they say besides, and `long` ones
    /// that ended in it, both by start.
    pub(super) fn slab(
        &mut self,
        keys: &[LodKey],
        (rows, operations): (&[Row], &[Operation]),
        long: &[Long],
    ) {
        for &LodKey { level, depth, region } in keys.get(self.places.len()..).unwrap_or_default() {
            let slot = self.slot(level, depth);
            let region = self.slots[slot as usize].place(region);
            self.places.push(LodPlace { slot, region });
        }
        let mut long = long.iter().peekable();
        for row in rows.iter().filter(|row| row.duration >= 0) {
            while let Some(long) = long.next_if(|long| long.start <= row.start) {
                self.add(long.path, long.start, long.duration, 0);
            }
            let gaps = operations.get(row.operation as usize).map_or(0, |operation| operation.gaps);
            self.add(row.path, row.start, row.duration, gaps);
        }
        for long in long {
            self.add(long.path, long.start, long.duration, 0);
        }
    }

    /// How many rows are complete.
    pub(super) fn complete(&self) -> usize {
        self.rows.len()
    }

    /// Hands out the rows that are complete.
    pub(super) fn take(&mut self) -> Vec<LodRow> {
        std::mem::take(&mut self.rows)
    }

    fn slot(&mut self, level: u32, depth: u32) -> u32 {
        let found = self.slots.iter().position(|slot| (slot.level, slot.depth) == (level, depth));
        let place = found.unwrap_or_else(|| {
            let (start, end) = (i64::MIN, i64::MIN);
            self.slots.push(Slot { level, depth, start, end, ..Slot::default() });
            self.slots.len() - 1
        });
        place as u32
    }

    /// Adds an interval, of which `gaps` lie outside its region.
    #[inline(always)]
    fn add(&mut self, path: u32, start: i64, duration: i64, gaps: i64) {
        let (at, end) = (self.places[path as usize], start.wrapping_add(duration));
        let slot = &mut self.slots[at.slot as usize];
        if start >= slot.start && end <= slot.end {
            slot.add(at.region, end - start - gaps);
        } else {
            self.add_crossing(at, Stretch { start, end, inside: end.wrapping_sub(start) - gaps });
        }
    }

    #[cold]
    #[inline(never)]
    fn add_crossing(&mut self, LodPlace { slot, region }: LodPlace, stretch: Stretch) {
        let (start, end) = (stretch.start.max(0), stretch.end.max(0));
        if start >= end {
            return;
        }
        let slot = &mut self.slots[slot as usize];
        let (first, last) = (start >> self.log2, (end - 1) >> self.log2);
        let mut from = start;
        if slot.start != i64::MIN && slot.start >> self.log2 == first {
            // The rest of the open bucket; the interval goes on beyond it.
            from = slot.end.min(end);
            slot.add(region, stretch.inside(start, from));
        }
        if from >= end {
            return;
        }
        slot.flush_finest(self.log2, &mut self.rows);
        // Whole buckets in the middle are one region's alone. A long interval would make a row for
        // each; the coarsest resolution at which it still covers whole buckets says the same.
        let begin = from >> self.log2;
        if last - begin > 2 {
            let first = stretch.inside(from, (begin + 1) << self.log2);
            slot.put(0, begin, &[(region, first)], self.log2, &mut self.rows);
            slot.put_whole(begin + 1, last, (region, stretch), self.log2, &mut self.rows);
        } else {
            for bucket in begin..last {
                let low = from.max(bucket << self.log2);
                let time = stretch.inside(low, (bucket + 1) << self.log2);
                slot.put(0, bucket, &[(region, time)], self.log2, &mut self.rows);
            }
        }
        slot.start = last << self.log2;
        slot.end = (last + 1) << self.log2;
        slot.add(region, stretch.inside(from.max(slot.start), end));
    }

    /// Writes everything that is open. The last bucket of a resolution may be the first of the next: up to where the run
    /// is one, these are written too, or a line that lies in one bucket would be missing from coarser pictures.
    pub(super) fn finish(&mut self) {
        for slot in &mut self.slots {
            slot.flush_finest(self.log2, &mut self.rows);
            let open = slot.open.len();
            let mut level = 0;
            while level < slot.open.len() && (level < open || self.log2 + level as u32 <= self.coarsest) {
                slot.close(level, self.log2, &mut self.rows);
                level += 1;
            }
        }
    }
}

impl Slot {
    /// The slot's number of a region.
    fn place(&mut self, region: u32) -> u32 {
        let new = self.regions.len() as u32;
        let place = *self.places.entry(region).or_insert(new);
        if place == new {
            self.regions.push(region);
            self.times.push(0);
            self.dirty.resize(self.regions.len().div_ceil(64), 0);
        }
        place
    }

    /// Adds time of a region to the finest open bucket.
    #[inline(always)]
    fn add(&mut self, region: u32, time: i64) {
        let at = region as usize;
        self.times[at] = self.times[at].wrapping_add(time);
        self.dirty[at / 64] |= 1 << (at % 64);
    }

    fn flush_finest(&mut self, log2: u32, rows: &mut Vec<LodRow>) {
        let bucket = self.start >> log2;
        let mut times = std::mem::take(&mut self.scratch);
        times.clear();
        for (word, bits) in (0_u32..).zip(&mut self.dirty) {
            let mut bits = std::mem::take(bits);
            while bits != 0 {
                let region = word * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let time = std::mem::take(&mut self.times[region as usize]);
                if time != 0 {
                    times.push((region, time));
                }
            }
        }
        if !times.is_empty() {
            self.put(0, bucket, &times, log2, rows);
        }
        self.scratch = times;
    }

    /// Adds times, sorted by region, to a bucket of the `level`-th resolution.
    fn put(&mut self, level: usize, bucket: i64, times: &[(u32, i64)], log2: u32, rows: &mut Vec<LodRow>) {
        if log2 + level as u32 > COARSEST {
            return;
        }
        while self.open.len() <= level {
            self.open.push((i64::MIN, Vec::new()));
        }
        if self.open[level].0 != bucket {
            self.close(level, log2, rows);
            self.open[level].0 = bucket;
        }
        let open = &mut self.open[level].1;
        if open.is_empty() {
            open.extend_from_slice(times);
        } else {
            merge(open, times);
        }
    }

    /// Whole buckets from `begin` to before `end` of the finest resolution, all of one region's stretch.
    fn put_whole(
        &mut self,
        begin: i64,
        end: i64,
        (region, stretch): (u32, Stretch),
        log2: u32,
        rows: &mut Vec<LodRow>,
    ) {
        let time = |begin: i64, end: i64| stretch.inside(begin << log2, end << log2);
        for bucket in begin..end.min(begin.saturating_add(MOST_WHOLE)) {
            self.put(0, bucket, &[(region, time(bucket, bucket + 1))], log2, rows);
        }
        // Beyond that they are added to their parents directly, resolution by resolution.
        let mut at = begin.saturating_add(MOST_WHOLE);
        while at < end {
            let free = at.trailing_zeros().min((end - at).ilog2()).min(COARSEST.saturating_sub(log2));
            // Finer buckets add to their parents first, or a parent would be begun twice.
            let mut level = 0;
            // Closing one may make the next.
            while level < (free as usize).min(self.open.len()) {
                self.close(level, log2, rows);
                level += 1;
            }
            self.put(free as usize, at >> free, &[(region, time(at, at + (1 << free)))], log2, rows);
            at += 1 << free;
        }
    }

    /// Writes a bucket and adds it to the next coarser one.
    fn close(&mut self, level: usize, log2: u32, rows: &mut Vec<LodRow>) {
        let times = std::mem::take(&mut self.open[level].1);
        if times.is_empty() {
            return;
        }
        let bucket = self.open[level].0;
        rows.push(self.row(log2 + level as u32, bucket, &times));
        self.put(level + 1, bucket >> 1, &times, log2, rows);
        let mut times = times;
        times.clear();
        if self.open[level].1.is_empty() {
            self.open[level].1 = times;
        }
    }

    /// The row of a bucket.
    fn row(&self, resolution_log2: u32, bucket: i64, times: &[(u32, i64)]) -> LodRow {
        let mut top = [(NONE, 0); 3];
        let mut sum = 0_i64;
        for &(place, time) in times {
            sum = sum.saturating_add(time);
            let region = self.regions[place as usize];
            // Of equal times that of the smaller region comes first.
            let comes_before = |other: (u32, i64)| (time, other.0) > (other.1, region);
            if time > 0 && comes_before(top[2]) {
                top[2] = (region, time);
                if comes_before(top[1]) {
                    top.swap(1, 2);
                }
                if comes_before(top[0]) {
                    top.swap(0, 1);
                }
            }
        }
        let rest = sum - top.iter().map(|entry| entry.1).sum::<i64>();
        LodRow { level: self.level, depth: self.depth, resolution_log2, bucket, regions: top, rest }
    }
}

/// Whole finest buckets of one region that get rows of their own.
const MOST_WHOLE: i64 = 1 << 10;

fn merge(open: &mut Vec<(u32, i64)>, times: &[(u32, i64)]) {
    for &(region, time) in times {
        match open.binary_search_by_key(&region, |entry| entry.0) {
            Ok(place) => open[place].1 = open[place].1.wrapping_add(time),
            Err(place) => open.insert(place, (region, time)),
        }
    }
}

/// Rows of some locations in the order of the table: by resolution, then by location, so that what a picture takes lies
/// together. Those of one line and resolution come in it, so they are only put where they belong: O(rows).
pub(crate) fn in_order(made: &[(u32, Vec<LodRow>)]) -> Vec<(u32, &LodRow)> {
    let by_location: Vec<(u32, Vec<&LodRow>)> =
        made.iter().map(|(location, rows)| (*location, in_order_of_one(rows))).collect();
    let mut behind = vec![0; by_location.len()];
    let mut ordered = Vec::with_capacity(by_location.iter().map(|it| it.1.len()).sum());
    for resolution in 0..=COARSEST {
        for ((location, rows), behind) in by_location.iter().zip(&mut behind) {
            let rest = rows.get(*behind..).unwrap_or_default();
            let own = rest.partition_point(|row| row.resolution_log2 <= resolution);
            ordered.extend(rest[..own].iter().map(|row| (*location, *row)));
            *behind += own;
        }
    }
    ordered
}

/// A location's rows by resolution and line.
fn in_order_of_one(rows: &[LodRow]) -> Vec<&LodRow> {
    let key = |row: &LodRow| (row.resolution_log2, row.level, row.depth);
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for run in rows.chunk_by(|a, b| key(a) == key(b)) {
        *counts.entry(key(&run[0])).or_default() += run.len();
    }
    let mut sum = 0;
    for count in counts.values_mut() {
        sum += std::mem::replace(count, sum);
    }
    let mut ordered: Vec<&LodRow> = rows.iter().collect();
    for run in rows.chunk_by(|a, b| key(a) == key(b)) {
        let place = counts.entry(key(&run[0])).or_default();
        for row in run {
            ordered[*place] = row;
            *place += 1;
        }
    }
    debug_assert!(ordered.is_sorted(), "buckets of one resolution are closed in their order");
    ordered
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Visits of any length one after the other, at any place: each bucket has one row, in order, with the time
        /// that lies in it.
        #[test]
        fn buckets_have_one_row_in_order_whatever_their_visits(
            steps in prop::collection::vec((0_u32..28, 0_i64..1 << 28, 4_u32..26, 0_i64..1 << 18), 1..8),
            log2 in 4_u32..12,
        ) {
            let (mut rows, mut at) = (Vec::new(), 0);
            for (bits, length, near, before) in steps {
                // Many begin a little before a bucket of some resolution does.
                let start = at.max((((at >> near) + 1) << near) - before);
                let duration = length >> bits;
                rows.push(Row { start, duration, path: 0, operation: NONE });
                at = start + duration;
            }
            let mut lod = Lod::new(log2, at);
            lod.slab(&[LodKey { level: 0, depth: 0, region: 7 }], (&rows, &[]), &[]);
            lod.finish();
            let made = lod.take();
            let ordered = in_order_of_one(&made);
            prop_assert!(ordered.windows(2).all(|pair| (pair[0].resolution_log2, pair[0].bucket)
                < (pair[1].resolution_log2, pair[1].bucket)));
            for row in ordered {
                let low = row.bucket << row.resolution_log2;
                let high = low + (1 << row.resolution_log2);
                let within = |row: &Row| ((row.start + row.duration).min(high) - row.start.max(low)).max(0);
                prop_assert_eq!(row.regions[0].1 + row.rest, rows.iter().map(within).sum::<i64>());
            }
        }
    }
}
