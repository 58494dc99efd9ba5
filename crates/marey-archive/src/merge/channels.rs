//! Matching sends with receives.
//!
//! The one idea: messages of one channel — (communicator, sender, receiver, tag) — do not overtake
//! each other, so the k-th send belongs to the k-th receive *in the order of posting*, whatever
//! wildcards it was posted with. A half takes its place in the order only when nothing that is
//! still open could come before it. What cannot be ordered for certain is counted, never guessed.

use std::collections::{BTreeMap, VecDeque};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::happen::Op;
use super::messages::Join;
use crate::schema::NONE;

/// Enough for any number of cores, few enough to cost nothing. Part of what makes the order of
/// work the same for any number of threads.
const SHARDS: usize = 64;

/// A channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    pub communicator: u32,
    /// The sender's group of an intercommunicator.
    pub side: u8,
    pub from: u32,
    pub to: u32,
    pub tag: i64,
}

impl Key {
    /// Which of the shards the channel belongs to.
    fn shard(&self) -> usize {
        let mut hash = u64::from(self.from) << 32 | u64::from(self.to);
        hash ^= u64::from(self.communicator) << 17 ^ self.tag.cast_unsigned() << 40;
        (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize % SHARDS
    }
}

/// Decided halves by shard, so that each shard finds its own. Empty until there are some.
#[derive(Debug, Default)]
pub(crate) struct Decided(Vec<Vec<(Key, Half)>>);

impl Decided {
    pub(crate) fn push(&mut self, key: Key, half: Half) {
        if self.0.is_empty() {
            self.0.resize_with(SHARDS, Vec::new);
        }
        self.0[key.shard()].push((key, half));
    }

    fn of(&self, shard: usize) -> &[(Key, Half)] {
        self.0.get(shard).map_or(&[], |halves| halves)
    }

    fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }
}

/// A send or a receive, decided.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Half {
    pub receives: bool,
    /// Takes a place in the order but has no known end.
    pub ghost: bool,
    /// Took a number but is no message.
    pub cancelled: bool,
    /// When it was posted is not known.
    pub lost_post: bool,
    pub process: u32,
    /// The communicator in that process's numbers.
    pub local: u32,
    /// Where it was posted, and where it was completed.
    pub posted_at: u32,
    pub location: u32,
    /// Enter and leave of the posting call.
    pub post: i64,
    pub post_leave: i64,
    /// Enter and leave of the completing call.
    pub start: i64,
    pub end: i64,
    pub bytes: u64,
    pub buffer: u64,
    pub datatype: u32,
    pub path: u32,
    pub number: u64,
    /// Orders what was posted by one call.
    pub serial: u64,
    /// Halves of one run have no certain order among themselves; 0 = certain.
    pub run: u32,
}

impl Half {
    pub(crate) fn of(post: &Op, done: &Op, posted_at: u32, location: u32) -> Self {
        let receives = matches!(done.kind, super::happen::Kind::Receive | super::happen::Kind::Received);
        Self {
            posted_at,
            location: if receives { location } else { posted_at },
            post: post.enter,
            post_leave: post.leave,
            start: done.enter,
            end: done.leave,
            bytes: post.bytes,
            buffer: post.buffer,
            datatype: post.datatype,
            path: if receives { done.path } else { post.path },
            number: post.number,
            serial: post.serial,
            ..Self::default()
        }
    }
}

/// A row of `messages`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct MessageRow {
    pub recv_location: u32,
    pub recv_time: i64,
    pub send_location: u32,
    pub send_time: i64,
    pub send_end: i64,
    pub recv_post: i64,
    pub recv_start: i64,
    pub bytes: i64,
    pub tag: i64,
    pub communicator: u32,
    pub send_datatype: u32,
    pub recv_datatype: u32,
    pub send_buffer: i64,
    pub recv_buffer: i64,
    pub send_path: u32,
    pub recv_path: u32,
}

#[derive(Debug, Default)]
struct Side {
    /// By number, until all before are there.
    early: BTreeMap<u64, Half>,
    next: u64,
    /// In the order of posting, until they are matched.
    line: VecDeque<Half>,
    /// How many at the front nothing can come before.
    ready: usize,
    /// Numbers are missing: nothing behind them can be matched.
    broken: bool,
    runs: u32,
    /// Who this side is, once it has shown itself: process and its number of the communicator.
    who: Option<(u32, u32)>,
}

#[derive(Debug)]
struct Channel {
    key: Key,
    send: Side,
    recv: Side,
    /// Pairs whose order within a run is open.
    group: Vec<(Half, Half)>,
    active: bool,
}

/// What matching found.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally {
    pub matched: u64,
    pub violations: u64,
    pub ambiguous: u64,
    pub unmatched_sends: u64,
    pub unmatched_receives: u64,
    pub unmatchable_halves: u64,
}

#[derive(Debug, Default)]
struct Shard {
    known: FxHashMap<Key, u32>,
    /// The channel of the half before: most programs send many in a row.
    last: Option<(Key, u32)>,
    channels: Vec<Channel>,
    active: Vec<u32>,
    rows: Vec<MessageRow>,
    tally: Tally,
}

/// All channels.
#[derive(Debug)]
pub(crate) struct Shards(Vec<Shard>);

/// What is known of a process at the end of a slab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    /// No call into the library that began before this is still open.
    pub time: i64,
    /// From here on events of the process were not recorded.
    pub broken_from: i64,
}

impl Shards {
    pub(crate) fn new() -> Self {
        Self((0..SHARDS).map(|_| Shard::default()).collect())
    }

    /// Takes the halves that processes decided and matches what can be matched by the end of the
    /// slab, or of the run.
    pub(crate) fn advance(&mut self, joins: &mut [Join], horizons: &[Horizon], end: bool) {
        let decided: &[Join] = joins;
        self.0.par_iter_mut().enumerate().for_each(|(place, shard)| {
            shard.rows.clear();
            for &(key, half) in decided.iter().flat_map(|join| join.out.of(place)) {
                shard.put(key, half);
            }
            shard.advance(decided, horizons, end);
        });
        for join in joins {
            join.out.clear();
        }
    }

    /// What the last slab gave, unsorted but in an order that depends on the input alone.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &MessageRow> {
        self.0.iter().flat_map(|shard| &shard.rows)
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in self.0.iter().map(|shard| &shard.tally) {
            sum.matched += tally.matched;
            sum.violations += tally.violations;
            sum.ambiguous += tally.ambiguous;
            sum.unmatched_sends += tally.unmatched_sends;
            sum.unmatched_receives += tally.unmatched_receives;
            sum.unmatchable_halves += tally.unmatchable_halves;
        }
        sum
    }

    /// Channels that ended in a gap, by the process that the gap is in.
    pub(crate) fn broken(&self) -> BTreeMap<u32, u64> {
        let mut found = BTreeMap::new();
        for channel in self.0.iter().flat_map(|shard| &shard.channels) {
            let side = [&channel.send, &channel.recv].into_iter().find(|side| side.broken);
            if let Some(side) = side {
                *found.entry(side.who.map_or(NONE, |who| who.0)).or_default() += 1;
            }
        }
        found
    }
}

impl Shard {
    fn put(&mut self, key: Key, half: Half) {
        let idx = match self.last {
            Some((last, idx)) if last == key => idx,
            _ => self.find(key),
        };
        let channel = &mut self.channels[idx as usize];
        if !channel.active {
            channel.active = true;
            self.active.push(idx);
        }
        let side = if half.receives { &mut channel.recv } else { &mut channel.send };
        side.who = Some((half.process, half.local));
        if side.broken {
            flush(key, half, &mut self.rows, &mut self.tally);
        } else if half.ghost {
            side.stand(half);
        } else if half.lost_post || half.number < side.next || side.early.contains_key(&half.number) {
            // A number twice, or no place in the order: what comes from here on is not certain.
            side.broken = true;
            flush(key, half, &mut self.rows, &mut self.tally);
        } else if half.number == side.next && side.early.is_empty() {
            side.next += 1;
            side.stand(half);
        } else {
            side.early.insert(half.number, half);
        }
    }

    fn find(&mut self, key: Key) -> u32 {
        let channels = &mut self.channels;
        let idx = *self.known.entry(key).or_insert_with(|| {
            channels.push(Channel {
                key,
                send: Side::default(),
                recv: Side::default(),
                group: Vec::new(),
                active: false,
            });
            channels.len() as u32 - 1
        });
        self.last = Some((key, idx));
        idx
    }

    fn advance(&mut self, joins: &[Join], horizons: &[Horizon], end: bool) {
        let active = std::mem::take(&mut self.active);
        for idx in active {
            let channel = &mut self.channels[idx as usize];
            channel.advance(joins, horizons, end, &mut self.rows, &mut self.tally);
            channel.active = !channel.is_idle();
            if channel.active {
                self.active.push(idx);
            }
        }
    }
}

impl Side {
    /// Takes the place that the time of posting gives.
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

    /// Moves everything to its place that has all numbers before it.
    fn order(&mut self, horizon: Horizon, undecided: i64, end: bool, rest: &mut Vec<Half>) {
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
                self.broken = true;
                rest.extend(std::mem::take(&mut self.early).into_values());
            }
            break;
        }
    }

    /// Gives out what nothing can come before any more, in runs of uncertain order.
    fn release(&mut self, horizon: Horizon, barrier: i64, end: bool) {
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
}

impl Channel {
    fn is_idle(&self) -> bool {
        let idle = |side: &Side| side.early.is_empty() && side.line.is_empty();
        self.group.is_empty() && idle(&self.send) && idle(&self.recv)
    }

    fn advance(
        &mut self,
        joins: &[Join],
        horizons: &[Horizon],
        end: bool,
        rows: &mut Vec<MessageRow>,
        tally: &mut Tally,
    ) {
        let open = Horizon { time: i64::MAX, broken_from: i64::MAX };
        let mut rest = Vec::new();
        for receives in [false, true] {
            let side = if receives { &mut self.recv } else { &mut self.send };
            let horizon = side.who.map_or(open, |(process, _)| horizons[process as usize]);
            let join = side.who.map(|(process, local)| (&joins[process as usize], local));
            let undecided = join.map_or(i64::MAX, |(join, _)| join.undecided_send());
            side.order(horizon, if receives { i64::MAX } else { undecided }, end, &mut rest);
            let last = side.line.range(side.ready..).next_back();
            if last.is_some_and(|half| half.post >= horizon.broken_from) {
                side.broken = true;
                let keep = side.line.partition_point(|half| half.post < horizon.broken_from);
                rest.extend(side.line.drain(keep.max(side.ready)..));
            }
            let barrier = match join {
                Some((join, local)) if receives => join.barrier(local, self.key.from, self.key.tag),
                _ => i64::MAX,
            };
            side.release(horizon, barrier, end);
            if end && side.line.len() > side.ready {
                side.broken = true;
                rest.extend(side.line.drain(side.ready..));
            }
        }
        self.pair(rows, tally);
        for half in rest {
            flush(self.key, half, rows, tally);
        }
        self.give_up(end, rows, tally);
    }

    fn pair(&mut self, rows: &mut Vec<MessageRow>, tally: &mut Tally) {
        while self.send.ready > 0 && self.recv.ready > 0 {
            let (Some(send), Some(recv)) = (self.send.line.pop_front(), self.recv.line.pop_front()) else {
                return;
            };
            self.send.ready -= 1;
            self.recv.ready -= 1;
            if send.run == 0 && recv.run == 0 {
                matched(self.key, &send, &recv, rows, tally);
                continue;
            }
            self.group.push((send, recv));
            let goes_on = |side: &Side, run: u32| run != 0 && side.ready > 0 && side.line[0].run == run;
            if !goes_on(&self.send, send.run) && !goes_on(&self.recv, recv.run) {
                self.resolve(rows, tally);
            }
        }
    }

    /// Pairs halves of uncertain order by their sizes, if those leave only one way.
    fn resolve(&mut self, rows: &mut Vec<MessageRow>, tally: &mut Tally) {
        let (mut sends, mut receives): (Vec<Half>, Vec<Half>) = self.group.drain(..).unzip();
        sends.sort_by_key(|half| half.bytes);
        receives.sort_by_key(|half| half.bytes);
        let distinct = sends.windows(2).all(|pair| pair[0].bytes != pair[1].bytes);
        let same = sends.iter().zip(&receives).all(|(s, r)| s.bytes == r.bytes && !r.ghost);
        if !(distinct && same) {
            tally.ambiguous += sends.len() as u64;
            let halves = sends.iter().chain(&receives).filter(|half| !half.ghost);
            rows.extend(halves.map(|half| lonely(self.key, half)));
            return;
        }
        for (send, recv) in sends.iter().zip(&receives) {
            matched(self.key, send, recv, rows, tally);
        }
    }

    /// What can have no other half any more is told as it is.
    fn give_up(&mut self, end: bool, rows: &mut Vec<MessageRow>, tally: &mut Tally) {
        if end && !self.group.is_empty() {
            self.resolve(rows, tally);
        }
        let exhausted = |side: &Side| side.broken && side.line.is_empty();
        let broken = self.send.broken || self.recv.broken;
        if end || exhausted(&self.send) || exhausted(&self.recv) {
            let (sends, receives) =
                (std::mem::take(&mut self.send.ready), std::mem::take(&mut self.recv.ready));
            for half in self.send.line.drain(..sends).chain(self.recv.line.drain(..receives)) {
                if broken {
                    flush(self.key, half, rows, tally);
                    continue;
                }
                if half.ghost {
                    continue;
                }
                tally.unmatched_sends += u64::from(!half.receives);
                tally.unmatched_receives += u64::from(half.receives);
                rows.push(lonely(self.key, &half));
            }
        }
    }
}

fn matched(key: Key, send: &Half, recv: &Half, rows: &mut Vec<MessageRow>, tally: &mut Tally) {
    if recv.ghost {
        tally.unmatched_sends += 1;
        rows.push(lonely(key, send));
        return;
    }
    tally.matched += 1;
    tally.violations += u64::from(recv.end >= 0 && recv.end < send.post);
    let receive = lonely(key, recv);
    rows.push(MessageRow {
        send_location: send.location,
        send_time: send.post,
        send_end: send.end,
        send_datatype: send.datatype,
        send_buffer: send.buffer.cast_signed(),
        send_path: send.path,
        ..receive
    });
}

/// A half in a channel that cannot be matched from here on.
fn flush(key: Key, half: Half, rows: &mut Vec<MessageRow>, tally: &mut Tally) {
    if !half.ghost && !half.cancelled {
        tally.unmatchable_halves += 1;
        rows.push(lonely(key, &half));
    }
}

/// The row of a half alone.
fn lonely(key: Key, half: &Half) -> MessageRow {
    let none = MessageRow {
        recv_location: NONE,
        recv_time: -1,
        send_location: NONE,
        send_time: -1,
        send_end: -1,
        recv_post: -1,
        recv_start: -1,
        bytes: i64::try_from(half.bytes).unwrap_or(i64::MAX),
        tag: key.tag,
        communicator: key.communicator,
        send_datatype: NONE,
        recv_datatype: NONE,
        send_buffer: -1,
        recv_buffer: -1,
        send_path: NONE,
        recv_path: NONE,
    };
    if half.receives {
        MessageRow {
            recv_location: half.location,
            recv_time: half.end,
            recv_post: half.post,
            recv_start: half.start,
            recv_datatype: half.datatype,
            recv_buffer: half.buffer.cast_signed(),
            recv_path: half.path,
            ..none
        }
    } else {
        MessageRow {
            send_location: half.location,
            send_time: half.post,
            send_end: half.end,
            send_datatype: half.datatype,
            send_buffer: half.buffer.cast_signed(),
            send_path: half.path,
            ..none
        }
    }
}
