//! Joining the halves of operations within a process: what was posted here and completed there.
//!
//! The one idea: a nonblocking operation is known by its serial number in its process, whichever
//! thread completes it. Only what is decided — completed, cancelled, freed — goes on to be matched
//! with the other side (see `channels`), so that nothing is ever taken back.

use std::collections::BTreeSet;

use marey_model::spool::{ANY_SOURCE, ANY_TAG};
use rustc_hash::FxHashMap;

use super::globals::Context;
use super::halves::{Half, Key};
use super::happen::{Kind, Op};
use super::shards::Decided;
use crate::schema::NONE;

/// A row of `collectives`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct CollectiveRow {
    pub communicator: u32,
    pub instance: u32,
    pub location: u32,
    pub enter: i64,
    pub leave: i64,
    pub path: u32,
    pub root: i64,
    pub bytes_out: i64,
    pub bytes_in: i64,
    pub start: i64,
    pub done_path: u32,
    pub arrays: [u32; 2],
}

/// Operations of one location in one slab.
pub(crate) struct Ops<'a> {
    pub location: u32,
    pub ops: &'a [Op],
    /// From the location's numbers of call paths to those of the run.
    pub paths: &'a [u32],
}

/// What a process has begun and not yet completed.
#[derive(Debug, Default)]
pub(crate) struct Join {
    /// By serial number.
    pending: FxHashMap<u64, (Op, u32)>,
    /// Posted receives by what they can get: when they were posted.
    posted: FxHashMap<(u32, i64, i64), BTreeSet<(i64, u64)>>,
    /// Earliest post of a send that is not decided.
    sends: BTreeSet<(i64, u64)>,
    /// Decided halves of this slab by shard.
    pub out: Decided,
    pub collectives: Vec<CollectiveRow>,
    /// Completions of operations that were never seen to begin.
    pub orphans: u64,
}

impl Join {
    /// Joins the operations of all threads of a process in one slab.
    pub(crate) fn slab(&mut self, context: &Context, threads: &[Ops<'_>]) {
        let mut are_completions = false;
        // Posts of all threads first: a completion never precedes its post, so then all are known.
        for thread in threads {
            for op in thread.ops {
                let mut op = *op;
                op.path = thread.paths.get(op.path as usize).copied().unwrap_or(NONE);
                match op.kind {
                    Kind::Send | Kind::Receive => {
                        self.half(context, &op, &op, thread.location, thread.location)
                    }
                    Kind::Collective => self.collective(context, &op, &op, [thread.location; 2]),
                    Kind::PostSend => {
                        self.sends.insert((op.enter, op.serial));
                        self.pending.insert(op.serial, (op, thread.location));
                    }
                    Kind::PostReceive => {
                        let key = (op.communicator, op.peer, op.tag);
                        self.posted.entry(key).or_default().insert((op.enter, op.serial));
                        self.pending.insert(op.serial, (op, thread.location));
                    }
                    Kind::PostCollective => {
                        self.pending.insert(op.serial, (op, thread.location));
                    }
                    _ => are_completions = true,
                }
            }
        }
        for thread in threads.iter().filter(|_| are_completions) {
            for op in thread.ops {
                if matches!(
                    op.kind,
                    Kind::Sent | Kind::Received | Kind::Cancelled | Kind::Freed | Kind::Collected
                ) {
                    let mut op = *op;
                    op.path = thread.paths.get(op.path as usize).copied().unwrap_or(NONE);
                    self.complete(context, &op, thread.location);
                }
            }
        }
    }

    fn forget(&mut self, post: &Op) {
        if post.kind == Kind::PostSend {
            self.sends.remove(&(post.enter, post.serial));
        } else if post.kind == Kind::PostReceive {
            let key = (post.communicator, post.peer, post.tag);
            if let Some(set) = self.posted.get_mut(&key) {
                set.remove(&(post.enter, post.serial));
                if set.is_empty() {
                    self.posted.remove(&key);
                }
            }
        }
    }

    fn complete(&mut self, context: &Context, op: &Op, location: u32) {
        let Some((post, posted_at)) = self.pending.remove(&op.serial) else {
            self.orphans += 1;
            if op.kind == Kind::Received {
                // Its message is counted, but when it was posted is not known: the channel ends here.
                self.emit(context, op, Half { lost_post: true, ..Half::of(op, op, location, location) });
            }
            return;
        };
        self.forget(&post);
        match (op.kind, post.kind) {
            (Kind::Sent | Kind::Freed, Kind::PostSend) => {
                let mut done = *op;
                if op.kind == Kind::Freed {
                    done.leave = -1;
                }
                self.half(context, &post, &done, posted_at, location);
            }
            (Kind::Cancelled, Kind::PostSend) => {
                self.emit(
                    context,
                    &post,
                    Half { cancelled: true, ..Half::of(&post, op, posted_at, location) },
                );
            }
            (Kind::Received, Kind::PostReceive) => self.half(context, &post, op, posted_at, location),
            (Kind::Freed, Kind::PostReceive) => self.ghost(context, &post, posted_at),
            (_, Kind::PostCollective) => self.collective(context, &post, op, [posted_at, location]),
            _ => {}
        }
    }

    /// A half that began with `post` and was completed by `done`, perhaps the same.
    fn half(&mut self, context: &Context, post: &Op, done: &Op, posted_at: u32, done_at: u32) {
        // What a receive got is known at its completion, what a send sent at its post.
        let what = if done.kind == Kind::Received { done } else { post };
        let mut half = Half::of(post, done, posted_at, done_at);
        half.bytes = what.bytes;
        half.buffer = what.buffer;
        half.datatype = what.datatype;
        half.data = what.data;
        half.number = what.number;
        self.emit(context, what, half);
    }

    /// A receive whose end is not known but whose place in the order is: it takes a message if it
    /// names its sender and tag. With a wildcard it keeps all later receives from being matched.
    fn ghost(&mut self, context: &Context, post: &Op, location: u32) {
        if post.peer == ANY_SOURCE || post.tag == ANY_TAG {
            let key = (post.communicator, post.peer, post.tag);
            self.posted.entry(key).or_default().insert((post.enter, post.serial));
            return;
        }
        self.emit(context, post, Half { ghost: true, ..Half::of(post, post, location, location) });
    }

    fn emit(&mut self, context: &Context, what: &Op, half: Half) {
        let Some((seen, _)) = context.communicators.get(&what.communicator) else {
            self.orphans += 1;
            return;
        };
        let receives = matches!(what.kind, Kind::Receive | Kind::Received | Kind::PostReceive);
        let Ok(peer) = u32::try_from(what.peer) else {
            self.orphans += 1;
            return;
        };
        // On a communicator that nobody else can be told to share, no channel can be matched.
        let half = Half { lost_post: half.lost_post || !seen.matchable, ..half };
        let (side, from, to) =
            if receives { (seen.peer_side, peer, seen.rank) } else { (seen.side, seen.rank, peer) };
        let key = Key { communicator: seen.id, side, from, to, tag: what.tag };
        let half = Half { receives, process: context.process, local: what.communicator, ..half };
        self.out.push(key, half);
    }

    /// `at` = where it was started and where completed: the latter is told only if it is the same.
    fn collective(&mut self, context: &Context, post: &Op, done: &Op, at: [u32; 2]) {
        let Some((seen, _)) = context.communicators.get(&post.communicator) else {
            self.orphans += 1;
            return;
        };
        let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        let is_known = done.leave >= 0 && at[0] == at[1];
        self.collectives.push(CollectiveRow {
            communicator: seen.id,
            instance: u32::try_from(post.number).unwrap_or(u32::MAX),
            location: at[0],
            enter: post.enter,
            leave: done.leave,
            path: post.path,
            root: post.peer,
            bytes_out: bytes(post.bytes),
            bytes_in: bytes(post.buffer),
            start: if is_known { done.enter } else { -1 },
            done_path: if is_known { done.path } else { NONE },
            arrays: [post.data, post.data_in],
        });
    }

    /// The earliest post of a receive that is open and could get what comes on a channel; receives
    /// posted after it have no certain place in the order yet.
    pub(crate) fn barrier(&self, local: u32, from: u32, tag: i64) -> i64 {
        let peer = i64::from(from);
        let keys = [(peer, tag), (ANY_SOURCE, tag), (peer, ANY_TAG), (ANY_SOURCE, ANY_TAG)];
        let posts = keys.iter().filter_map(|&(peer, tag)| self.posted.get(&(local, peer, tag))?.first());
        posts.map(|&(post, _)| post).min().unwrap_or(i64::MAX)
    }

    /// The earliest post of a send that is not decided.
    pub(crate) fn undecided_send(&self) -> i64 {
        self.sends.first().map_or(i64::MAX, |&(post, _)| post)
    }

    /// The run is over: sends that were never completed were sent all the same, receives took
    /// their places, and collectives were entered.
    pub(crate) fn finish(&mut self, context: &Context) {
        let mut left: Vec<(u64, (Op, u32))> = self.pending.drain().collect();
        left.sort_unstable_by_key(|(serial, _)| *serial);
        for (_, (post, location)) in left {
            self.forget(&post);
            let open = Op { leave: -1, ..post };
            match post.kind {
                Kind::PostSend => self.half(context, &post, &open, location, location),
                Kind::PostReceive => self.ghost(context, &post, location),
                Kind::PostCollective => self.collective(context, &post, &open, [location; 2]),
                _ => {}
            }
        }
    }
}
