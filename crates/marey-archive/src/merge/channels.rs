//! Matching sends with receives.
//!
//! The one idea: messages of one channel — (communicator, sender, receiver, tag) — do not overtake
//! each other, so the k-th send belongs to the k-th receive *in the order of posting*, whatever
//! wildcards it was posted with. A half takes its place in the order only when nothing that is
//! still open could come before it. What cannot be ordered for certain is counted, never guessed.
//!
//! How one side finds its order is told in `sides`; here the two sides are put together.

use super::halves::{Half, Key};
use super::messages::Join;
use super::outcome::Outcome;
use super::sides::{Horizon, Side};

/// A channel and what waits in it.
#[derive(Debug)]
pub(crate) struct Channel {
    pub key: Key,
    pub send: Side,
    pub recv: Side,
    /// Pairs whose order within a run is open.
    group: Vec<(Half, Half)>,
    /// Its shard looks at it in each slab.
    pub is_active: bool,
}

impl Channel {
    pub(crate) fn new(key: Key) -> Self {
        let (send, recv) = (Side::default(), Side::default());
        Self { key, send, recv, group: Vec::new(), is_active: false }
    }

    /// Takes a decided half.
    // As in `sides` and `outcome`: what every message passes is not inlined across files unasked.
    #[inline]
    pub(crate) fn take(&mut self, half: Half, outcome: &mut Outcome) {
        let side = if half.receives { &mut self.recv } else { &mut self.send };
        if !side.take(half) {
            outcome.unmatchable(self.key, &half);
        }
    }

    /// There is nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.group.is_empty() && self.send.is_idle() && self.recv.is_idle()
    }

    /// Matches what can be matched by the end of the slab, or of the run.
    #[inline]
    pub(crate) fn advance(&mut self, joins: &[Join], horizons: &[Horizon], end: bool, outcome: &mut Outcome) {
        let open = Horizon { time: i64::MAX, broken_from: i64::MAX };
        let mut rest = Vec::new();
        for receives in [false, true] {
            let side = if receives { &mut self.recv } else { &mut self.send };
            let horizon = side.who.map_or(open, |(process, _)| horizons[process as usize]);
            let join = side.who.map(|(process, local)| (&joins[process as usize], local));
            let undecided = join.map_or(i64::MAX, |(join, _)| join.undecided_send());
            side.order(horizon, if receives { i64::MAX } else { undecided }, end, &mut rest);
            side.cut(horizon, &mut rest);
            let barrier = match join {
                Some((join, local)) if receives => join.barrier(local, self.key.from, self.key.tag),
                _ => i64::MAX,
            };
            side.release(horizon, barrier, end);
            if end {
                side.end(&mut rest);
            }
        }
        self.pair(outcome);
        for half in rest {
            outcome.unmatchable(self.key, &half);
        }
        self.give_up(end, outcome);
    }

    /// Matches the first halves of both sides as long as both have some.
    fn pair(&mut self, outcome: &mut Outcome) {
        while self.send.is_ready() && self.recv.is_ready() {
            let (Some(send), Some(recv)) = (self.send.pop(), self.recv.pop()) else { return };
            if send.run == 0 && recv.run == 0 {
                outcome.matched(self.key, &send, &recv);
                continue;
            }
            self.group.push((send, recv));
            if !self.send.goes_on(send.run) && !self.recv.goes_on(recv.run) {
                self.resolve(outcome);
            }
        }
    }

    /// Pairs halves of uncertain order by their sizes, if those leave only one way.
    fn resolve(&mut self, outcome: &mut Outcome) {
        let (mut sends, mut receives): (Vec<Half>, Vec<Half>) = self.group.drain(..).unzip();
        sends.sort_by_key(|half| half.bytes);
        receives.sort_by_key(|half| half.bytes);
        let distinct = sends.windows(2).all(|pair| pair[0].bytes != pair[1].bytes);
        let same = sends.iter().zip(&receives).all(|(s, r)| s.bytes == r.bytes && !r.ghost);
        if !(distinct && same) {
            outcome.ambiguous(self.key, sends.len(), sends.iter().chain(&receives));
            return;
        }
        for (send, recv) in sends.iter().zip(&receives) {
            outcome.matched(self.key, send, recv);
        }
    }

    /// What can have no other half any more is told as it is.
    fn give_up(&mut self, end: bool, outcome: &mut Outcome) {
        if end && !self.group.is_empty() {
            self.resolve(outcome);
        }
        let is_broken = self.send.is_broken || self.recv.is_broken;
        if end || self.send.is_exhausted() || self.recv.is_exhausted() {
            for half in self.send.drain_ready().chain(self.recv.drain_ready()) {
                if is_broken {
                    outcome.unmatchable(self.key, &half);
                } else {
                    outcome.unmatched(self.key, &half);
                }
            }
        }
    }
}
