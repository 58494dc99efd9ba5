//! One location's intervals, call paths and sums, made from enters and leaves in time order.
//!
//! The one idea: a row is laid down when its region is entered and completed when it is left, so
//! rows come out sorted by start without being sorted. Time is charged to the innermost open call
//! path as it passes, which gives exclusive time without looking at children.
//!
//! Call paths are numbered per location here; `paths` gives them numbers of the run afterwards,
//! in an order that does not depend on which thread decoded what.

use marey_model::spool::sums::bin;
use rustc_hash::FxHashMap;

use super::bins::Bins;
use super::folded::{Folded, Stretch};
use super::globals::Site;
use super::lod::LodKey;
use super::reduced::Reduced;
use super::sets::LocalSets;
use crate::schema::NONE;

/// Buckets of the run that the histogram counts in.
pub(crate) const BUCKETS: u32 = 512;

/// Stands for the call path above the outermost ones.
const ROOT: u32 = u32::MAX;

/// A row of `intervals` on the way. Small, since millions of them go through memory twice: the depth
/// is that of the call path, and most have no operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub start: i64,
    /// −1 while the region is open.
    pub duration: i64,
    /// The location's own number of the call path.
    pub path: u32,
    /// Place among the slab's operations of the location; `NONE` = it has none.
    pub operation: u32,
}

/// What an interval says besides when and where it was, which most do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub bytes: i64,
    pub participants: u32,
    /// How many visits it stands for.
    pub visits: u32,
    /// How much of it lies between them, ns.
    pub gaps: i64,
}

impl Operation {
    /// What is said where there was none.
    pub(crate) const ABSENT: Self = Self { bytes: -1, participants: NONE, visits: 1, gaps: 0 };
}

/// An interval that crosses a slab boundary, and the slabs that it began and ended in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Long {
    pub start: i64,
    pub duration: i64,
    pub path: u32,
    pub depth: u32,
    pub operation: Operation,
    pub first_slab: u32,
    pub last_slab: u32,
}

/// A call path of a location, with its sums.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub inclusive: i64,
    pub visits: i64,
    /// How many of the visits have no times.
    pub untimed: i64,
    pub min: i64,
    pub max: i64,
    pub sum_squares: f64,
    /// Exclusive time in the histogram's current bucket.
    bucket: i64,
    pub exclusive: i64,
    pub bytes: i64,
    pub parent: u32,
    pub site: Site,
    pub depth: u32,
    pub depth_in_level: u32,
}

/// An open region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub start: i64,
    pub ticks: u64,
    pub bytes: i64,
    pub path: u32,
    pub site: u32,
    row: u32,
    pub participants: u32,
    slab: u32,
    /// Halves of messages and the like wait for its leave.
    pub waiting: bool,
}

const LONG: u32 = u32::MAX;
/// An entry of the cache of children that holds none. Its parent is nobody's, not even [`ROOT`]: beneath that
/// lies, by the site [`NONE`], what stands for all call paths without sums of their own.
const NO_CHILD: (u32, u32, u32) = (ROOT - 1, NONE, 0);
/// Entries of the cache of children: at first, and at most.
const LEAST_CACHE: usize = 256;
const MOST_CACHE: usize = 1 << 14;

/// The state of a location between slabs.
#[derive(Debug)]
pub(crate) struct Builder {
    pub nodes: Vec<Node>,
    /// Their sites, by the process's numbers.
    sites: Vec<u32>,
    /// Regions of which most visits were only counted.
    pub reduced: Reduced,
    /// Visits of the nodes by duration, ticks.
    pub durations: Bins,
    /// Their operations by size, bytes.
    pub sizes: Bins,
    children: FxHashMap<(u32, u32), u32>,
    /// (parent, site, child) at a place that follows from the first two: a power of two of them, some
    /// for each child.
    cache: Vec<(u32, u32, u32)>,
    pub stack: Vec<Frame>,
    /// The last instant at which something happened.
    pub last: i64,
    pub first: i64,
    slab: u32,
    pub bucket_len: i64,
    bucket_end: i64,
    bucket: u32,
    dirty: Vec<u32>,
    /// (bucket, region, exclusive time) since the last slab.
    pub histogram: Vec<(u32, u32, i64)>,
    /// (bucket, node, exclusive time) of what is only known by sums.
    pub courses: Vec<(u32, u32, i64)>,
    /// Sets of nouns of intervals that name several.
    pub sets: LocalSets,
    /// Rows of this slab in the order of their starts.
    pub rows: Vec<Row>,
    /// Of those rows that have one.
    pub operations: Vec<Operation>,
    /// Intervals that ended in this slab and began in an earlier one.
    pub long: Vec<Long>,
    /// Global numbers of the first nodes.
    pub globals: std::sync::Arc<Vec<u32>>,
    /// Their depths.
    pub depths: std::sync::Arc<Vec<u32>>,
    /// Where they lie in the level of detail.
    pub lod_keys: std::sync::Arc<Vec<LodKey>>,
}

impl Builder {
    pub(crate) fn new(bucket_len: i64) -> Self {
        Self {
            nodes: Vec::new(),
            sites: Vec::new(),
            reduced: Reduced::none(),
            durations: Bins::default(),
            sizes: Bins::default(),
            children: FxHashMap::default(),
            cache: vec![NO_CHILD; LEAST_CACHE],
            stack: Vec::new(),
            last: i64::MIN,
            first: i64::MIN,
            slab: 0,
            bucket_len: bucket_len.max(1),
            bucket_end: i64::MIN,
            bucket: 0,
            dirty: Vec::new(),
            histogram: Vec::new(),
            courses: Vec::new(),
            sets: LocalSets::default(),
            rows: Vec::new(),
            operations: Vec::new(),
            long: Vec::new(),
            globals: std::sync::Arc::default(),
            depths: std::sync::Arc::default(),
            lod_keys: std::sync::Arc::default(),
        }
    }

    /// Has the processor's cache filled with what the next events of the location need. Line after line
    /// that takes a tenth of what it takes piece by piece, in the order of the events.
    pub(crate) fn warm_up(&self) {
        let nodes = self.nodes.iter().fold(0, |all, node| all ^ node.visits ^ node.bytes);
        let cache = self.cache.iter().step_by(4).fold(0, |all, entry| all ^ entry.2);
        std::hint::black_box((nodes, cache));
    }

    /// Charges the time since the last instant to the innermost open call path.
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: i64) {
        if now > self.bucket_end {
            self.cross(now);
        }
        if let Some(frame) = self.stack.last() {
            self.charge(frame.path, now.wrapping_sub(self.last));
        }
        self.last = now;
    }

    #[inline(always)]
    fn charge(&mut self, path: u32, time: i64) {
        let node = &mut self.nodes[path as usize];
        if node.bucket == 0 && time != 0 {
            self.dirty.push(path);
        }
        node.bucket = node.bucket.wrapping_add(time);
    }

    /// Charges the time up to the last bucket boundary before `now`.
    #[cold]
    fn cross(&mut self, now: i64) {
        if self.last == i64::MIN {
            (self.last, self.first) = (now, now);
        }
        while now > self.bucket_end {
            if self.bucket_end > self.last {
                if let Some(path) = self.stack.last().map(|frame| frame.path) {
                    self.charge(path, self.bucket_end - self.last);
                }
                self.last = self.bucket_end;
            }
            self.flush_bucket();
            let bucket = self.last.max(0) / self.bucket_len;
            self.bucket = u32::try_from(bucket).unwrap_or(u32::MAX).min(BUCKETS - 1);
            self.bucket_end = if self.bucket == BUCKETS - 1 {
                i64::MAX
            } else {
                (i64::from(self.bucket) + 1) * self.bucket_len
            };
        }
    }

    fn flush_bucket(&mut self) {
        for path in self.dirty.drain(..) {
            let node = &mut self.nodes[path as usize];
            let time = std::mem::take(&mut node.bucket);
            node.exclusive = node.exclusive.wrapping_add(time);
            self.histogram.push((self.bucket, node.site.region, time));
        }
    }

    #[inline(always)]
    fn child(&mut self, parent: u32, site: u32, lookup: impl FnOnce() -> Site) -> u32 {
        let slot = self.cache_slot(parent, site);
        let cached = self.cache[slot];
        if cached.0 == parent && cached.1 == site {
            return cached.2;
        }
        let child = self.child_slowly(parent, site, lookup);
        let slot = self.cache_slot(parent, site);
        self.cache[slot] = (parent, site, child);
        child
    }

    #[inline(always)]
    fn cache_slot(&self, parent: u32, site: u32) -> usize {
        let hash = parent.wrapping_mul(0x9E37_79B1) ^ site.wrapping_mul(0x85EB_CA6B);
        (hash >> 16) as usize & (self.cache.len() - 1)
    }

    fn child_slowly(&mut self, parent: u32, site: u32, lookup: impl FnOnce() -> Site) -> u32 {
        if let Some(&child) = self.children.get(&(parent, site)) {
            return child;
        }
        if self.nodes.len() * 4 > self.cache.len() && self.cache.len() < MOST_CACHE {
            self.grow_cache();
        }
        let found = lookup();
        let child = self.nodes.len() as u32;
        let (mut depth, mut depth_in_level) = (0, 0);
        let mut above = parent;
        while above != ROOT {
            let node = &self.nodes[above as usize];
            depth += 1;
            depth_in_level += u32::from(node.site.level == found.level);
            above = node.parent;
        }
        self.nodes.push(Node {
            inclusive: 0,
            visits: 0,
            untimed: 0,
            min: i64::MAX,
            max: -1,
            sum_squares: 0.0,
            bucket: 0,
            exclusive: 0,
            bytes: 0,
            parent,
            site: found,
            depth,
            depth_in_level,
        });
        self.sites.push(site);
        self.children.insert((parent, site), child);
        child
    }

    /// Gives the cache four times the room.
    fn grow_cache(&mut self) {
        let room = vec![NO_CHILD; self.cache.len() * 4];
        for entry in std::mem::replace(&mut self.cache, room) {
            if entry.1 != NONE {
                let slot = self.cache_slot(entry.0, entry.1);
                self.cache[slot] = entry;
            }
        }
    }

    /// A region is entered.
    #[inline(always)]
    pub(crate) fn enter(&mut self, site: u32, ticks: u64, now: i64, lookup: impl FnOnce() -> Site) {
        self.advance(now);
        let parent = self.stack.last().map_or(ROOT, |frame| frame.path);
        let path = self.child(parent, site, lookup);
        let row = self.rows.len() as u32;
        self.rows.push(Row { start: now, duration: -1, path, operation: NONE });
        self.stack.push(Frame {
            start: now,
            ticks,
            bytes: -1,
            path,
            site,
            row,
            participants: NONE,
            slab: self.slab,
            waiting: false,
        });
    }

    /// A region that is known to be open since earlier, because a window's head says so.
    pub(crate) fn enter_earlier(
        &mut self,
        site: u32,
        ticks: u64,
        start: i64,
        slab: u32,
        lookup: impl FnOnce() -> Site,
    ) {
        let parent = self.stack.last().map_or(ROOT, |frame| frame.path);
        let path = self.child(parent, site, lookup);
        self.stack.push(Frame {
            start,
            ticks,
            bytes: -1,
            path,
            site,
            row: LONG,
            participants: NONE,
            slab,
            waiting: false,
        });
    }

    /// The innermost open region is left; `None` if there is none.
    #[inline(always)]
    pub(crate) fn leave(&mut self, ticks: u64, now: i64) -> Option<Frame> {
        self.advance(now);
        let mut frame = self.stack.pop()?;
        let duration = now.wrapping_sub(frame.start);
        let node = &mut self.nodes[frame.path as usize];
        node.visits = node.visits.saturating_add(1);
        node.inclusive = node.inclusive.wrapping_add(duration);
        node.min = node.min.min(duration);
        node.max = node.max.max(duration);
        node.sum_squares += duration as f64 * duration as f64;
        self.durations.add(frame.path, bin(ticks.saturating_sub(frame.ticks)));
        if frame.start >= self.reduced.from {
            let around = self.stack.last().map_or(i64::MIN, |around| around.start);
            self.reduced.visited(frame.site, frame.path, (frame.start, duration), (self.stack.len(), around));
        }
        if frame.waiting {
            frame.participants = self.sets.close(self.stack.len() as u32, frame.participants);
        }
        if frame.row == LONG {
            self.leave_long(&frame, duration);
        } else {
            let row = &mut self.rows[frame.row as usize];
            row.duration = duration;
            if frame.waiting {
                let node = &mut self.nodes[frame.path as usize];
                node.bytes = node.bytes.saturating_add(frame.bytes.max(0));
                row.operation = self.operations.len() as u32;
                let Frame { bytes, participants, .. } = frame;
                self.operations.push(Operation { bytes, participants, ..Operation::ABSENT });
            }
        }
        Some(frame)
    }

    #[cold]
    fn leave_long(&mut self, frame: &Frame, duration: i64) {
        let node = &mut self.nodes[frame.path as usize];
        node.bytes = node.bytes.saturating_add(frame.bytes.max(0));
        self.long.push(Long {
            start: frame.start,
            duration,
            path: frame.path,
            depth: self.stack.len() as u32,
            operation: Operation {
                bytes: frame.bytes,
                participants: frame.participants,
                ..Operation::ABSENT
            },
            first_slab: frame.slab,
            last_slab: self.slab,
        });
    }

    /// The call path of a site beneath another one, or of an outermost one.
    pub(crate) fn path_below(&mut self, above: Option<u32>, site: u32, lookup: impl FnOnce() -> Site) -> u32 {
        self.child(above.unwrap_or(ROOT), site, lookup)
    }

    /// Nothing is known of the time until `now` but sums, which have all of it: the regions above the
    /// outermost `keep` have been left in it, and are cut at `cut`, which lies in `slab`.
    pub(crate) fn skip(&mut self, keep: usize, cut: i64, slab: u32, now: i64) {
        while self.stack.len() > keep
            && let Some(frame) = self.stack.pop()
        {
            let duration = cut.wrapping_sub(frame.start);
            let node = &mut self.nodes[frame.path as usize];
            node.bytes = node.bytes.saturating_add(frame.bytes.max(0));
            if frame.row == LONG {
                self.long.push(Long {
                    start: frame.start,
                    duration,
                    path: frame.path,
                    depth: self.stack.len() as u32,
                    operation: Operation { bytes: frame.bytes, ..Operation::ABSENT },
                    first_slab: frame.slab,
                    last_slab: slab,
                });
            } else {
                self.rows[frame.row as usize].duration = duration;
            }
        }
        self.flush_bucket();
        (self.last, self.bucket_end) = (now, i64::MIN);
    }

    /// Visits that were counted without being timed.
    pub(crate) fn count(&mut self, site: u32, visits: u64, lookup: impl FnOnce() -> Site) {
        let parent = self.stack.last().map_or(ROOT, |frame| frame.path);
        let path = self.child(parent, site, lookup);
        let node = &mut self.nodes[path as usize];
        let visits = i64::try_from(visits).unwrap_or(i64::MAX);
        node.visits = node.visits.saturating_add(visits);
        node.untimed = node.untimed.saturating_add(visits);
    }

    /// Several visits in a row, which are one interval. The first begins at the last instant.
    pub(crate) fn fold(&mut self, site: u32, folded: &Folded, lookup: impl FnOnce() -> Site) {
        let parent = self.stack.last().map_or(ROOT, |frame| frame.path);
        let path = self.child(parent, site, lookup);
        let Stretch { start, end, inside } = folded.stretch;
        let node = &mut self.nodes[path as usize];
        node.visits = node.visits.saturating_add(folded.visits.into());
        node.inclusive = node.inclusive.wrapping_add(inside);
        node.min = node.min.min(folded.shortest);
        node.max = node.max.max(folded.longest);
        node.sum_squares += folded.squares;
        for (took, visits) in folded.durations {
            self.durations.add_all(path, bin(took), visits);
        }
        let gaps = folded.stretch.gaps();
        let operation = self.operations.len() as u32;
        self.operations.push(Operation { visits: folded.visits, gaps, ..Operation::ABSENT });
        self.rows.push(Row { start, duration: end.wrapping_sub(start), path, operation });
        // What lies inside is the call path's, and what lies between is of what is open around it.
        while self.last < end {
            let (from, to) = (self.last, end.min(self.bucket_end.max(self.last)));
            let inside = folded.stretch.inside(from, to);
            self.charge(path, inside);
            if parent != ROOT {
                self.charge(parent, to - from - inside);
            }
            self.last = to;
            if to < end {
                // One bucket further, of which nothing has passed yet.
                self.cross(to + 1);
            }
        }
    }

    /// Adds a participant and moved bytes to the innermost open interval, for an operation. Its call path.
    pub(crate) fn operate(&mut self, set: Option<u32>, bytes: u64) -> u32 {
        let path = self.take_part(set, bytes);
        if path != NONE {
            self.sizes.add(path, bin(bytes));
        }
        path
    }

    /// The same for what is no operation yet.
    pub(crate) fn take_part(&mut self, set: Option<u32>, bytes: u64) -> u32 {
        let Some(frame) = self.stack.last_mut() else { return NONE };
        frame.waiting = true;
        frame.bytes = frame.bytes.max(0).saturating_add(i64::try_from(bytes).unwrap_or(i64::MAX));
        let path = frame.path;
        if let Some(set) = set {
            self.participate(set);
        }
        path
    }

    /// The same for an operation that may move nothing, which has no size then.
    pub(crate) fn access(&mut self, set: Option<u32>, moved: Option<u64>) -> u32 {
        if let Some(bytes) = moved {
            return self.operate(set, bytes);
        }
        if let Some(set) = set {
            self.participate(set);
        }
        self.stack.last().map_or(NONE, |frame| frame.path)
    }

    /// Adds a participant to the innermost open interval.
    pub(crate) fn participate(&mut self, set: u32) {
        let Some(frame) = self.stack.last_mut() else { return };
        frame.waiting = true;
        if frame.participants == NONE {
            frame.participants = set;
        } else if frame.participants != set {
            let depth = self.stack.len() as u32 - 1;
            self.sets.add(depth, set);
        }
    }

    /// The slab is over: what is open goes on as a long interval.
    pub(crate) fn end_slab(&mut self) {
        for frame in &mut self.stack {
            frame.row = LONG;
        }
        self.slab += 1;
    }

    /// The run is over, of which the location has seen so many ns.
    pub(crate) fn finish(&mut self, span: i64) {
        self.flush_bucket();
        self.reduced.settle(&mut self.nodes, &self.sites, span);
    }
}
