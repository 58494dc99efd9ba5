//! How fast locations get through their visits, and where that changes.
//!
//! The one idea: each call path of each location has a clock of its own, the ends of its visits; a change is where seven of
//! nine beats of that clock are longer, or shorter, than before. Neither a few long beats nor two in turn are that.
//!
//! What is deliberately absent: why, and which changes belong together.

use std::collections::VecDeque;

use marey_model::{CallPathId, LocationId, Nanos};
use rustc_hash::FxHashMap;

use crate::happenings::Interval;

/// Beats of which the median is taken.
pub(super) const BEATS: usize = 9;

/// Beats of those that must be beyond the threshold. Of two or three beats in turn, one is so in every other or third,
/// or two of three are.
const MOST_OF_THEM: usize = 7;

/// Periods that are looked at before it is said what is usual.
const LEARNT_FROM: usize = 64;

/// What is shorter than this part of the usual belongs to the next beat …
const SHORT: i64 = 8;

/// … unless so many in a row are so short: then that is the pace.
const BURST: usize = 16;

/// Pairs of call path and location that are followed at most.
const MOST: usize = 1 << 17;

/// A call path of a location has another pace than before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Change {
    pub(super) location: LocationId,
    pub(super) call_path: CallPathId,
    /// From when on.
    pub(super) at: Nanos,
    /// Until when.
    pub(super) until: Nanos,
    /// Since when the pace before was kept.
    pub(super) since: Nanos,
    /// A beat before.
    pub(super) before: Nanos,
    /// A beat since.
    pub(super) after: Nanos,
    /// How many since.
    pub(super) beats: u64,
}

impl Change {
    /// What it cost or won: by how much its beats took longer, or shorter, than as many at the pace before.
    pub(super) fn cost(&self) -> Nanos {
        let beats = i64::try_from(self.beats).unwrap_or(i64::MAX);
        let usual = self.before.0.saturating_mul(beats);
        let more = (self.until - self.at).0.saturating_sub(usual);
        let is_slower = self.after > self.before;
        Nanos(if is_slower { more } else { more.saturating_neg() }.max(0))
    }

    /// The longer one of its two beats.
    pub(super) fn longest(&self) -> Nanos {
        self.before.max(self.after)
    }
}

/// All call paths of all locations.
pub(super) struct Rates {
    threshold: f64,
    paths: FxHashMap<(LocationId, CallPathId), Pace>,
    changes: Vec<Change>,
    /// Visits of pairs that are not followed.
    pub(super) unfollowed: u64,
}

impl Rates {
    pub(super) fn new(threshold: f64) -> Self {
        Self { threshold, paths: FxHashMap::default(), changes: Vec::new(), unfollowed: 0 }
    }

    pub(super) fn visit(&mut self, interval: &Interval) {
        let key = (interval.location, interval.call_path);
        if self.paths.len() >= MOST && !self.paths.contains_key(&key) {
            self.unfollowed += 1;
            return;
        }
        let pace = self.paths.entry(key).or_default();
        pace.end_of_visit(interval.end, self.threshold, |change| {
            self.changes.push(Change { location: key.0, call_path: key.1, ..change });
        });
    }

    /// All changes, by (at, location, call path).
    pub(super) fn finish(mut self) -> Vec<Change> {
        let mut paths: Vec<_> = self.paths.into_iter().collect();
        paths.sort_unstable_by_key(|(key, _)| *key);
        for (key, mut pace) in paths {
            pace.finish(self.threshold, |change| {
                self.changes.push(Change { location: key.0, call_path: key.1, ..change });
            });
        }
        self.changes.sort_unstable_by_key(|change| (change.at, change.location, change.call_path));
        self.changes
    }
}

/// The pace of one call path on one location.
#[derive(Default)]
struct Pace {
    /// Ends of the first visits, until it is known what is usual; then empty.
    learnt_from: Vec<Nanos>,
    /// The usual beat; 0 as long as that is not known.
    usual: i64,
    /// The end of the latest visit, if there was one.
    latest: Option<Nanos>,
    /// When the beat began that is not complete yet, and the ends of its visits, all of them short.
    begun: Nanos,
    short: Vec<Nanos>,
    /// The latest beats: when they began, and their lengths.
    window: VecDeque<(Nanos, i64)>,
    level: Option<i64>,
    /// Since when there is that level.
    level_from: Nanos,
    /// Beats since the latest change, and that change.
    since: u64,
    change: Option<Change>,
}

impl Pace {
    fn end_of_visit(&mut self, end: Nanos, threshold: f64, mut found: impl FnMut(Change)) {
        // Of recursion the outer visit ends last, and was told of first; where a program was killed all end at once, which is
        // no beat: a period of no length is shorter than any, so that a burst of them would be told of without end.
        if self.latest.is_some_and(|latest| end <= latest) {
            return;
        }
        self.latest = Some(end);
        if self.usual > 0 {
            return self.tick(end, threshold, &mut found);
        }
        self.learnt_from.push(end);
        if self.learnt_from.len() > LEARNT_FROM {
            self.learn(threshold, &mut found);
        }
    }

    /// Says what is usual, and goes through what was seen until now.
    fn learn(&mut self, threshold: f64, found: &mut impl FnMut(Change)) {
        let ends = std::mem::take(&mut self.learnt_from);
        let Some(&first) = ends.first() else { return };
        self.usual = usual(&ends).max(1);
        self.begun = first;
        for end in &ends[1..] {
            self.tick(*end, threshold, found);
        }
    }

    fn tick(&mut self, end: Nanos, threshold: f64, found: &mut impl FnMut(Change)) {
        let period = (end - self.short.last().copied().unwrap_or(self.begun)).0;
        if period.saturating_mul(SHORT) < self.usual {
            self.short.push(end);
            if self.short.len() == BURST {
                let ends = std::mem::take(&mut self.short);
                // The mean: whatever is far shorter still is a burst of the new pace.
                self.usual = ((end - self.begun).0 / BURST as i64).max(1);
                ends.iter().for_each(|end| self.tick(*end, threshold, found));
            }
            return;
        }
        self.short.clear();
        let length = (end - self.begun).0;
        if self.window.len() == BEATS {
            self.window.pop_front();
        }
        self.window.push_back((self.begun, length));
        self.begun = end;
        self.since += 1;
        if self.window.len() == BEATS {
            self.judge(threshold, found);
        }
    }

    /// Looks at a window, and begins a new one at the first beat of a change until there are nine of it.
    fn judge(&mut self, threshold: f64, found: &mut impl FnMut(Change)) {
        let median = self.median();
        let Some(level) = self.level else {
            self.level = Some(median);
            self.level_from = self.window[0].0;
            return;
        };
        let Some(first) = self.first_of_change(level, threshold) else { return };
        if first > 0 {
            self.window.drain(..first);
            return;
        }
        self.changed(level, median, found);
    }

    /// The place of the first beat of a change, if there is one in the window.
    fn first_of_change(&self, level: i64, threshold: f64) -> Option<usize> {
        [false, true].into_iter().find_map(|is_slower| {
            let is_so = |beat: &&(Nanos, i64)| beyond(beat.1, level, threshold) == Some(is_slower);
            let number = self.window.iter().filter(is_so).count();
            (number >= MOST_OF_THEM).then(|| self.window.iter().position(|beat| is_so(&beat)))?
        })
    }

    fn changed(&mut self, before: i64, after: i64, found: &mut impl FnMut(Change)) {
        let at = self.window[0].0;
        let beats = self.window.len() as u64;
        self.end_change(at, self.since.saturating_sub(beats), found);
        self.level = Some(after);
        self.usual = after.max(1);
        self.since = beats;
        self.change = Some(Change {
            location: LocationId(0),
            call_path: CallPathId(0),
            at,
            until: at,
            since: self.level_from,
            before: Nanos(before),
            after: Nanos(after),
            beats,
        });
        self.level_from = at;
    }

    fn end_change(&mut self, until: Nanos, beats: u64, found: &mut impl FnMut(Change)) {
        if let Some(change) = self.change.take() {
            found(Change { until, beats, ..change });
        }
    }

    fn finish(&mut self, threshold: f64, mut found: impl FnMut(Change)) {
        if self.usual == 0 {
            self.learn(threshold, &mut found);
        }
        // A change that the run has no nine beats of.
        if let Some(level) = self.level
            && self.window.len() < BEATS
            && self.first_of_change(level, threshold) == Some(0)
        {
            self.changed(level, self.median(), &mut found);
        }
        self.end_change(self.begun, self.since, &mut found);
    }

    fn median(&self) -> i64 {
        let mut lengths: Vec<i64> = self.window.iter().map(|(_, length)| *length).collect();
        lengths.sort_unstable();
        lengths[(lengths.len() - 1) / 2]
    }
}

/// Whether a length is slower (true) or faster than a level by more than a threshold; `None` = neither.
#[expect(clippy::cast_precision_loss, reason = "beats are shorter than 104 days")]
fn beyond(length: i64, level: i64, threshold: f64) -> Option<bool> {
    let (length, level, factor) = (length as f64, level as f64, 1.0 + threshold);
    if length > level * factor {
        Some(true)
    } else if length * factor < level {
        Some(false)
    } else {
        None
    }
}

/// The period that those no longer than it make up half of the time with; the longest sixteenth is left out.
fn usual(ends: &[Nanos]) -> i64 {
    let mut periods: Vec<i64> = ends.windows(2).map(|pair| (pair[1] - pair[0]).0).collect();
    periods.sort_unstable();
    periods.truncate(periods.len() - periods.len() / 16);
    let whole: i64 = periods.iter().sum();
    let mut sum = 0;
    for &period in &periods {
        sum += period;
        if sum >= whole - sum {
            return period;
        }
    }
    0
}
