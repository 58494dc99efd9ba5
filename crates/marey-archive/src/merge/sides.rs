//! One side of a channel: its sends, or its receives, in the order of posting.
//!
//! The one idea: numbers say whether a half is missing, times of posting say where it stands, and a
//! half may be matched only when nothing that is still open could come before it. Threads that post
//! at once have no certain order; such halves are given out together, as a run.
//!
//! A side in which a number is missing for good is broken: nothing behind the gap is matched, for
//! all of it could be off by one. What is matched with what is not decided here.

use std::collections::{BTreeMap, VecDeque};

use super::halves::Half;

/// One side of a channel.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// By number, until all before are there.
    early: BTreeMap<u64, Half>,
    next: u64,
    /// In the order of posting, until they are matched.
    line: VecDeque<Half>,
    /// How many at the front nothing can come before.
    ready: usize,
    /// Numbers are missing: nothing behind them can be matched.
    pub is_broken: bool,
    runs: u32,
    /// Who this side is, once it has shown itself: process and its number of the communicator.
    pub who: Option<(u32, u32)>,
}

/// What is known of a process at the end of a slab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    /// No call into the library that began before this is still open.
    pub time: i64,
    /// From here on events of the process were not recorded.
    pub broken_from: i64,
}

impl Side {
    /// Takes a half. False if it cannot be matched any more.
    #[must_use]
    #[inline]
    pub(crate) fn take(&mut self, half: Half) -> bool {
        self.who = Some((half.process, half.local));
        if self.is_broken {
            return false;
        }
        if half.ghost {
            self.stand(half);
        } else if half.lost_post || half.number < self.next || self.early.contains_key(&half.number) {
            // A number twice, or no place in the order: what comes from here on is not certain.
            self.is_broken = true;
            return false;
        } else if half.number == self.next && self.early.is_empty() {
            self.next += 1;
            self.stand(half);
        } else {
            self.early.insert(half.number, half);
        }
        true
    }

    /// Moves everything to its place that has all numbers before it.
    pub(crate) fn order(&mut self, horizon: Horizon, undecided: i64, end: bool, rest: &mut Vec<Half>) {
        while let Some(entry) = self.early.first_entry() {
            if *entry.key() == self.next {
                let half = entry.remove();
                self.next += 1;
                self.stand(half);
                continue;
            }
            // The number before is missing for good if its call must be over by now.
            let over = entry.get().end.max(entry.get().post_leave) < horizon.time.min(undecided);
            if end || over {
                self.is_broken = true;
                rest.extend(std::mem::take(&mut self.early).into_values());
            }
            break;
        }
    }

    /// Gives out what nothing can come before any more, in runs of uncertain order.
    #[inline]
    pub(crate) fn release(&mut self, horizon: Horizon, barrier: i64, end: bool) {
        while let Some(first) = self.line.get(self.ready) {
            let mut leave = first.post_leave.max(first.post);
            let mut len = 1;
            let mut threads = false;
            while let Some(next) = self.line.get(self.ready + len).filter(|next| next.post < leave) {
                threads |= next.posted_at != first.posted_at;
                leave = leave.max(next.post_leave);
                len += 1;
            }
            if !threads {
                len = 1;
                leave = first.post_leave.max(first.post);
            }
            let last = self.line[self.ready + len - 1].post;
            if last >= barrier || (!end && leave > horizon.time) {
                return;
            }
            let run = if len > 1 {
                self.runs += 1;
                self.runs
            } else {
                0
            };
            if run != 0 {
                self.line.range_mut(self.ready..self.ready + len).for_each(|half| half.run = run);
            }
            self.ready += len;
        }
    }

    /// Takes out what was posted when events of the process were not recorded any more.
    pub(crate) fn cut(&mut self, horizon: Horizon, rest: &mut Vec<Half>) {
        let last = self.line.range(self.ready..).next_back();
        if last.is_some_and(|half| half.post >= horizon.broken_from) {
            self.is_broken = true;
            let keep = self.line.partition_point(|half| half.post < horizon.broken_from);
            rest.extend(self.line.drain(keep.max(self.ready)..));
        }
    }

    /// The run is over: takes out what has found no certain place.
    pub(crate) fn end(&mut self, rest: &mut Vec<Half>) {
        if self.line.len() > self.ready {
            self.is_broken = true;
            rest.extend(self.line.drain(self.ready..));
        }
    }

    /// Whether the first half may be matched.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready > 0
    }

    /// The first half, to be matched.
    pub(crate) fn pop(&mut self) -> Option<Half> {
        self.ready = self.ready.checked_sub(1)?;
        self.line.pop_front()
    }

    /// All halves that may be matched.
    pub(crate) fn drain_ready(&mut self) -> impl Iterator<Item = Half> {
        self.line.drain(..std::mem::take(&mut self.ready))
    }

    /// The first half may be matched and belongs to run `run`.
    pub(crate) fn goes_on(&self, run: u32) -> bool {
        run != 0 && self.ready > 0 && self.line[0].run == run
    }

    /// Nothing will ever be matched again.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_broken && self.line.is_empty()
    }

    /// There is nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.early.is_empty() && self.line.is_empty()
    }

    /// Takes the place that the time of posting gives.
    #[inline]
    fn stand(&mut self, half: Half) {
        if half.cancelled {
            return;
        }
        // Nearly always the last place.
        let behind = |other: &Half| {
            (other.post, other.posted_at, other.serial) > (half.post, half.posted_at, half.serial)
        };
        let mut place = self.line.len();
        while place > self.ready && behind(&self.line[place - 1]) {
            place -= 1;
        }
        if place == self.line.len() {
            self.line.push_back(half);
        } else {
            self.line.insert(place, half);
        }
    }
}
