//! Which visits are alike: by call path, size, and place in an iteration.
//!
//! The one idea: what is known to make a difference is told apart before anything is called odd; where that leaves too
//! few to compare with, less is told apart.
//!
//! What is deliberately absent: how long they take ([`super::modes`]).

use marey_model::{CallPathId, LocationId};
use rustc_hash::FxHashMap;

use super::middle;
use super::modes::{Mode, modes};
use crate::bins::Bins;
use crate::happenings::{Interval, Visit};
use crate::phases::Loop;

/// Groups that are told apart at most.
const MOST: usize = 1 << 17;
/// Whatever has fewer visits is judged with all of its call path and size.
const LEAST: u64 = 50;
/// Of fewer than so many nothing is said.
const LEAST_OF_ALL: u64 = 20;
/// Kinds of iterations that are told apart.
const KINDS: usize = 3;
/// Places in an iteration that are told apart.
const PLACES: u8 = 9;

/// What visits have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Group {
    /// Call path, and class of size: 0 = unknown, 1 = no bytes, else 2 + ⌊log₂ bytes⌋.
    all: (CallPathId, u8),
    /// Kind of the iteration, and place in it.
    within: (u8, u8),
}

/// Says what group a visit is of, on its way through all visits.
#[derive(Debug)]
pub(super) struct Grouping<'a> {
    main: Option<&'a Loop>,
    /// How many times each call path was visited in it: the iteration, and the number.
    seen: FxHashMap<(LocationId, CallPathId), (usize, u8)>,
}

impl<'a> Grouping<'a> {
    pub(super) fn new(main: Option<&'a Loop>) -> Self {
        Self { main, seen: FxHashMap::default() }
    }

    pub(super) fn of(&mut self, visit: &Visit) -> Group {
        let interval = &visit.interval;
        let size = match visit.bytes {
            None => 0,
            Some(0) => 1,
            Some(bytes) => 2 + u8::try_from(bytes.ilog2()).unwrap_or(u8::MAX - 2),
        };
        let within = self.place(interval);
        Group { all: (interval.call_path, size), within }
    }

    fn place(&mut self, interval: &Interval) -> (u8, u8) {
        let at = self.main.and_then(|main| Some((main, main.at(middle(interval.start, interval.end))?)));
        let Some((main, at)) = at else { return (u8::MAX, 0) };
        let seen = self.seen.entry((interval.location, interval.call_path)).or_insert((at, 0));
        if seen.0 != at {
            *seen = (at, 0);
        }
        seen.1 = (seen.1 + 1).min(PLACES);
        (u8::try_from(main.iterations[at].kind.min(KINDS)).unwrap_or(u8::MAX), seen.1)
    }
}

/// Histograms of all groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    bins: FxHashMap<Group, Bins>,
}

/// What is usual in each group.
#[derive(Debug, Default)]
pub(super) struct Usual {
    fine: FxHashMap<Group, (Vec<Mode>, u64)>,
    coarse: FxHashMap<(CallPathId, u8), (Vec<Mode>, u64)>,
    pub(super) judged: u64,
    pub(super) not_judged: u64,
    pub(super) groups: u64,
}

/// Where visits fall that are of too many groups.
const REST: (u8, u8) = (u8::MAX, u8::MAX);

impl Groups {
    pub(super) fn add(&mut self, group: Group, ns: u64) {
        let is_full = self.bins.len() >= MOST;
        match self.bins.get_mut(&group) {
            Some(bins) => bins.add(ns),
            None if is_full => self.bins.entry(Group { within: REST, ..group }).or_default().add(ns),
            None => self.bins.entry(group).or_default().add(ns),
        }
    }

    pub(super) fn finish(self) -> Usual {
        let mut usual = Usual::default();
        let mut sums: FxHashMap<(CallPathId, u8), Bins> = FxHashMap::default();
        let mut all: Vec<(Group, Bins)> = self.bins.into_iter().collect();
        all.sort_unstable_by_key(|(group, _)| *group);
        for (group, bins) in &all {
            sums.entry(group.all).or_default().add_all(bins);
        }
        let mut needed: std::collections::BTreeSet<(CallPathId, u8)> = std::collections::BTreeSet::new();
        for (group, bins) in &all {
            let number = bins.number();
            if LEAST <= number && group.within != REST {
                usual.fine.insert(*group, (modes(bins), number));
                usual.judged += number;
                usual.groups += 1;
                continue;
            }
            let of_all = sums.get(&group.all).map_or(0, Bins::number);
            if LEAST_OF_ALL <= of_all {
                needed.insert(group.all);
                usual.judged += number;
            } else {
                usual.not_judged += number;
            }
        }
        for key in needed {
            let bins = sums.remove(&key).unwrap_or_default();
            usual.coarse.insert(key, (modes(&bins), bins.number()));
            usual.groups += 1;
        }
        usual
    }
}

/// Names a group whose visits were compared with each other.
pub(super) type Compared = (CallPathId, u8, Option<(u8, u8)>);

impl Usual {
    /// The modes of a group, how many visits they are of, and in which group these were compared.
    pub(super) fn of(&self, group: &Group) -> Option<(&[Mode], u64, Compared)> {
        let (path, size) = group.all;
        if let Some((modes, number)) = self.fine.get(group) {
            return Some((modes, *number, (path, size, Some(group.within))));
        }
        let (modes, number) = self.coarse.get(&group.all)?;
        Some((modes, *number, (path, size, None)))
    }
}
