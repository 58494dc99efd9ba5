//! Who waited for whose lock on a window.
//!
//! The one idea: of the epochs that conflict with one's own, those that give way while a call lasts lie next to each other if
//! they are in the order in which they gave way; the last of them is the one that was waited for, if any of them was
//! there before the call began.
//!
//! What is deliberately absent: the time that a target takes to answer while it computes.

use marey_analyze::Edge;
use marey_model::EdgeKind;
use marey_model::spool::RmaKind;
use rustc_hash::FxHashMap;

use super::{Call, edge};

/// What a process did with a lock.
#[derive(Clone, Debug)]
struct Held {
    /// The target; `None` = all of the window.
    target: Option<u32>,
    lock: Call,
    unlock: Option<Call>,
    /// Flushes of the target in between.
    flushes: Vec<Call>,
    is_exclusive: bool,
}

/// Finds the edges of a window, of which the calls are in the order of processes and starts.
pub(super) fn find(window: &[Call], edges: &mut Vec<Edge>) {
    let held: Vec<Held> = window.chunk_by(|a, b| a.process == b.process).flat_map(of_process).collect();
    if !held.iter().any(|held| held.is_exclusive) {
        return;
    }
    let given = Given::new(&held);
    for own in &held {
        let lists = given.against(own);
        let first = waited_for(lists.iter().map(|list| &list.asked), own.lock);
        edges.extend(first.map(|unlock| edge(EdgeKind::LockHandOver, unlock, &own.lock)));
        // A library that asks for the lock later than it is told to.
        for call in own.flushes.iter().chain(&own.unlock).filter(|_| own.target.is_some()) {
            let later = waited_for(lists.iter().map(|list| &list.flushed), *call);
            edges.extend(later.map(|unlock| edge(EdgeKind::LockHandOver, unlock, call)));
        }
    }
}

/// The unlock that was waited for in a call: the last in it, if any in it is of an epoch that was there before.
fn waited_for<'a>(lists: impl Iterator<Item = &'a Ordered> + Clone, call: Call) -> Option<&'a Call> {
    if !lists.clone().any(|list| list.was_there(call)) {
        return None;
    }
    let last = lists.filter_map(|list| list.last_in(call));
    last.max_by_key(|unlock| (unlock.start, std::cmp::Reverse(unlock.location)))
}

fn of_process(own: &[Call]) -> Vec<Held> {
    let mut all: Vec<Held> = Vec::new();
    // What is open, by target.
    let mut open: FxHashMap<Option<u32>, usize> = FxHashMap::default();
    for call in own {
        let is_exclusive = call.kind == RmaKind::ExclusiveLock;
        match call.kind {
            RmaKind::ExclusiveLock | RmaKind::SharedLock if call.peer.is_some() => {
                open.insert(call.peer, all.len());
                let (target, lock) = (call.peer, *call);
                all.push(Held { target, lock, unlock: None, flushes: Vec::new(), is_exclusive });
            }
            RmaKind::LockAll => {
                open.insert(None, all.len());
                let lock = *call;
                all.push(Held { target: None, lock, unlock: None, flushes: Vec::new(), is_exclusive });
            }
            RmaKind::Unlock if call.peer.is_some() => {
                if let Some(place) = open.remove(&call.peer) {
                    all[place].unlock = Some(*call);
                }
            }
            RmaKind::UnlockAll => {
                if let Some(place) = open.remove(&None) {
                    all[place].unlock = Some(*call);
                }
            }
            RmaKind::Flush => {
                let mut flush = |place: &usize| all[*place].flushes.push(*call);
                match call.peer {
                    Some(_) => open.get(&call.peer).into_iter().for_each(&mut flush),
                    None => open.values().for_each(&mut flush),
                }
            }
            _ => {}
        }
    }
    all
}

/// When locks were given back: lists of epochs that conflict with the same.
struct Given {
    /// By target, those that are exclusive and those that are not.
    of_targets: FxHashMap<u32, [List; 2]>,
    /// All that are exclusive.
    exclusive: List,
    /// Those of all targets.
    of_all: List,
}

impl Given {
    fn new(held: &[Held]) -> Self {
        let mut of_targets: FxHashMap<u32, [Vec<&Held>; 2]> = FxHashMap::default();
        for held in held {
            if let Some(target) = held.target {
                of_targets.entry(target).or_default()[usize::from(!held.is_exclusive)].push(held);
            }
        }
        let of_targets = of_targets.into_iter().map(|(target, lists)| (target, lists.map(List::new)));
        Self {
            of_targets: of_targets.collect(),
            exclusive: List::new(held.iter().filter(|held| held.is_exclusive).collect()),
            of_all: List::new(held.iter().filter(|held| held.target.is_none()).collect()),
        }
    }

    /// The lists of what conflicts with an epoch, its own process's among them.
    fn against(&self, own: &Held) -> Vec<&List> {
        let Some(target) = own.target else { return vec![&self.exclusive] };
        let Some([exclusive, shared]) = self.of_targets.get(&target) else { return Vec::new() };
        if own.is_exclusive { vec![exclusive, shared, &self.of_all] } else { vec![exclusive] }
    }
}

/// Epochs in the order in which their unlocks began.
struct List {
    /// Since when each had asked for the lock.
    asked: Ordered,
    /// Those that had flushed, and so had the lock, since when.
    flushed: Ordered,
}

impl List {
    fn new(held: Vec<&Held>) -> Self {
        let asked = held.iter().filter_map(|held| Some((held.unlock?, held.lock.start)));
        let flushed = held.iter().filter_map(|held| {
            let unlock = held.unlock?;
            let first = held.flushes.iter().map(|flush| flush.end).min()?;
            (first <= unlock.start).then_some((unlock, first))
        });
        Self { asked: Ordered::new(asked.collect()), flushed: Ordered::new(flushed.collect()) }
    }
}

/// Unlocks in the order of their starts, and since when the epochs that they end had been there.
struct Ordered {
    unlocks: Vec<Call>,
    /// Of each power of two: of every place the earliest among so many places from there on.
    earliest: Vec<Vec<i64>>,
}

impl Ordered {
    fn new(mut all: Vec<(Call, i64)>) -> Self {
        all.sort_unstable_by_key(|(unlock, _)| (unlock.start, std::cmp::Reverse(unlock.location)));
        let (unlocks, since): (Vec<Call>, Vec<i64>) = all.into_iter().unzip();
        let mut earliest = vec![since];
        let mut length = 1;
        while 2 * length <= unlocks.len() {
            let shorter = &earliest[earliest.len() - 1];
            let pairs = shorter.iter().zip(&shorter[length..]);
            let longer = pairs.map(|(a, b)| *a.min(b)).collect();
            earliest.push(longer);
            length *= 2;
        }
        Self { unlocks, earliest }
    }

    /// The places of those in a call.
    fn within(&self, call: Call) -> std::ops::Range<usize> {
        let until = |instant: i64| self.unlocks.partition_point(|unlock| unlock.start <= instant);
        until(call.start)..until(call.end)
    }

    /// Whether any of them is of an epoch that was there before.
    fn was_there(&self, call: Call) -> bool {
        let within = self.within(call);
        !within.is_empty() && self.earliest_of(within.start, within.end) < call.start
    }

    /// The last of them, a process's own left out, which threads of it may be in.
    fn last_in(&self, call: Call) -> Option<&Call> {
        let within = &self.unlocks[self.within(call)];
        within.iter().rev().find(|unlock| unlock.process != call.process)
    }

    /// The earliest of the places from `first` to before `end`; there is one.
    fn earliest_of(&self, first: usize, end: usize) -> i64 {
        let power = (end - first).ilog2() as usize;
        let row = &self.earliest[power];
        row[first].min(row[end - (1 << power)])
    }
}
