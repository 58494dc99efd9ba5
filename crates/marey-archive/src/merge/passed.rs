//! When the time passed that is only known by sums.
//!
//! The one idea: a recorder that adds up has kept how much time each call path had in each of some hundred buckets
//! of its own ([`marey_model::spool::courses`]). What is of a bucket lies evenly in it, as far as the thread was
//! adding up then, and so it comes to the buckets of the run.

use marey_model::spool::courses::{self, Courses, width_log2};

use super::build::{BUCKETS, Builder};
use super::clock::Clock;
use super::folded::Stretch;
use super::index::{Index, SumsIndex};
use crate::Error;

/// Ticks that no run lasts, though clocks can count them.
const LONG: u64 = 1 << 55;

/// A call path's node, and how much of its exclusive time passed from when to when, ns.
pub(crate) type Passed = (u32, Vec<(i64, i64, i64)>);

/// The courses of a thread.
pub(crate) struct Found {
    /// Sorted by cell.
    courses: Courses,
    /// Readings at which the first bucket and the last begin.
    origin: u64,
    last: u64,
}

impl Found {
    /// Reads the courses of a thread.
    pub(crate) fn read(index: &Index, sums: &SumsIndex) -> Result<Self, Error> {
        let mut windows = Vec::new();
        for window in &sums.courses {
            let mut bytes = vec![0; window.end as usize];
            let read = index.read(window.file, window.offset, &mut bytes)?;
            bytes.truncate(read);
            windows.push(bytes);
        }
        let mut courses = courses::courses(&windows);
        courses.courses.sort_by_key(|course| course.cell);
        // Nobody knows which call paths had their courses in what is missing.
        courses.is_full |= sums.lost_courses > 0;
        // Without the first window nobody knows what the others are of.
        let first = sums.courses.first().filter(|first| first.sequence == 0);
        if first.is_none() {
            courses = Courses::default();
        }
        let origin = first.map_or(sums.ticks, |first| first.ticks);
        // In such a window this word of the head says something else.
        let last = first.map_or(origin, |first| first.sampled_calls).max(origin);
        Ok(Self { courses, origin, last })
    }

    /// When the exclusive time of a cell, in ticks, passed.
    pub(crate) fn passed(&self, clock: &Clock, (cell, node): (u32, u32), exclusive: u64) -> Passed {
        let all = &self.courses.courses;
        let place = all.binary_search_by_key(&cell, |course| course.cell);
        let mut before = 0;
        let mut piece = |from: u64, to: u64, ticks: u64| {
            let time = clock.span(before + ticks) - clock.span(before);
            before += ticks;
            (clock.ns(from), clock.ns(to), time)
        };
        let Ok(place) = place else {
            // It had no time before the last bucket, or nobody knows.
            let from = if self.courses.is_full { self.origin } else { self.last };
            return (node, vec![piece(from, from.saturating_add(LONG), exclusive)]);
        };
        let width = 1_u64 << width_log2(all[place].scale);
        let begin = |bucket: u64| self.origin.saturating_add(bucket.saturating_mul(width));
        let (times, rest) = all[place].times(exclusive);
        let mut pieces: Vec<_> =
            times.into_iter().map(|(bucket, ticks)| piece(begin(bucket), begin(bucket + 1), ticks)).collect();
        if rest > 0 {
            pieces.push(piece(self.last, self.last.saturating_add(LONG), rest));
        }
        (node, pieces)
    }
}

/// Puts exclusive times of call paths, which are in their sums already, where they belong in the histogram; `when`
/// are the times, each from and to, ns, that the thread was adding up.
pub(crate) fn spread(builder: &mut Builder, passed: &[Passed], when: &[(i64, i64)]) {
    for (path, pieces) in passed {
        for &(from, to, time) in pieces {
            spread_piece(builder, *path, (from, to, time), when);
        }
    }
}

fn spread_piece(builder: &mut Builder, path: u32, (from, to, time): (i64, i64, i64), when: &[(i64, i64)]) {
    let len = builder.bucket_len;
    let bucket_of = |at: i64| (at.max(0) / len).min(i64::from(BUCKETS) - 1);
    let first = when.partition_point(|when| when.1 <= from);
    let inside = when[first..].iter().take_while(|when| when.0 < to);
    let parts = inside.map(|when| (when.0.max(from), when.1.min(to)));
    let whole: i64 = parts.clone().map(|(from, to)| to - from).sum();
    // What the clock's resolution makes of a sum may be a little longer than the time it is of.
    let all = Stretch { start: 0, end: whole, inside: time.min(whole) };
    let nearest = parts.clone().next().or(when.last().copied()).map_or(from, |part| part.0);
    let mut put = |bucket: i64, time: i64| {
        if time > 0 {
            let region = builder.nodes[path as usize].site.region;
            builder.histogram.push((bucket as u32, region, time));
            builder.courses.push((bucket as u32, path, time));
        }
    };
    put(bucket_of(nearest), time - all.inside);
    let mut before = 0;
    for (from, to) in parts {
        let inside = all.inside(before, before + (to - from));
        before += to - from;
        let stretch = Stretch { start: from, end: to, inside };
        for bucket in bucket_of(from)..=bucket_of(to) {
            let low = if bucket == bucket_of(from) { from } else { bucket * len };
            let high = if bucket == bucket_of(to) { to } else { (bucket + 1) * len };
            put(bucket, stretch.inside(low, high));
        }
    }
}
