//! Which changes of pace are one situation, and which of them is told.
//!
//! The one idea: the place with the shortest beats tells best when it was; whatever else changes within two beats of its own
//! shows the same, and the outermost calls that show it say what it is.
//!
//! The definitions are those of `docs/situations.md`.
//!
//! What is deliberately absent: why the pace changed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use marey_model::{CallPathId, LocationId, Nanos};

use super::rates::Change;
use crate::trace::{CallPath, Trace};

/// Changes that matter three quarters as much as the one that matters most may be told for it.
const MATTERS_AS_WELL: (i64, i64) = (3, 4);

/// Changes that are one situation.
pub(super) struct Gathered {
    /// The one that is told.
    pub(super) told: Change,
    /// Its latest beginning, and its first.
    pub(super) from: Nanos,
    pub(super) first: Nanos,
    /// Who, and how much it matters for them, those first for whom it does most.
    pub(super) locations: Vec<(LocationId, Nanos)>,
    /// Other calls in which it shows, those first in which it matters most.
    pub(super) others: Vec<CallPathId>,
}

impl Gathered {
    /// It shows in what changed later, too.
    pub(super) fn is_seen_in(&mut self, later: Self) {
        let calls = std::iter::once(later.told.call_path).chain(later.others);
        let mut known: BTreeSet<CallPathId> = self.others.iter().copied().collect();
        known.insert(self.told.call_path);
        self.others.extend(calls.filter(|call| known.insert(*call)));
        let known: BTreeSet<LocationId> = self.locations.iter().map(|(id, _)| *id).collect();
        self.locations.extend(later.locations.into_iter().filter(|(id, _)| !known.contains(id)));
    }

    /// The order of time.
    pub(super) fn order(&self) -> (Nanos, Nanos, LocationId, CallPathId) {
        (self.from, self.told.at, self.told.location, self.told.call_path)
    }
}

/// Gathers changes of one direction, in the order of time. Time: their number times its logarithm.
pub(super) fn gather(run: &impl Trace, mut changes: Vec<Change>) -> Vec<Gathered> {
    changes.sort_unstable_by_key(|it| (it.longest(), it.at, it.location, it.call_path));
    // By when the first of each begins, which has the shortest beats.
    let mut groups: BTreeMap<Nanos, Vec<Change>> = BTreeMap::new();
    for change in changes {
        let reach = change.longest() + change.longest();
        let before = groups.range(..=change.at).next_back().map(|(at, _)| *at);
        let behind = groups.range(change.at..).next().map(|(at, _)| *at);
        let distance = |at: Nanos| (change.at - at).0.unsigned_abs();
        // Of two that are equally near the earlier one.
        let nearest = before.into_iter().chain(behind).min_by_key(|at| distance(*at));
        let near = nearest.filter(|at| distance(*at) <= reach.0.unsigned_abs());
        groups.entry(near.unwrap_or(change.at)).or_default().push(change);
    }
    let mut all: Vec<Gathered> = groups.values().map(|group| gathered(run, group)).collect();
    all.sort_by_key(Gathered::order);
    all
}

fn gathered(run: &impl Trace, changes: &[Change]) -> Gathered {
    let most = changes.iter().map(Change::cost).max().unwrap_or_default();
    let mut costs: BTreeMap<CallPathId, Nanos> = BTreeMap::new();
    let mut locations: BTreeMap<LocationId, Nanos> = BTreeMap::new();
    for change in changes {
        let cost = change.cost();
        for sum in [costs.entry(change.call_path).or_default(), locations.entry(change.location).or_default()]
        {
            *sum = (*sum).max(cost);
        }
    }
    let beneath = number_beneath(run.call_paths(), &costs.keys().copied().collect());
    let (part, whole) = MATTERS_AS_WELL;
    let may_be_told = changes.iter().filter(|it| most.0 / whole * part <= it.cost().0);
    let key = |it: &&Change| {
        let within = beneath.get(&it.call_path).copied().unwrap_or(0);
        (within, it.cost(), Reverse((it.at, it.location, it.call_path)))
    };
    let told = may_be_told.max_by_key(key).copied().unwrap_or(changes[0]);
    let shortest = changes[0].longest();
    let tells_when = |it: &&Change| it.longest() <= shortest + shortest;
    let begins = || changes.iter().filter(tells_when).map(|it| it.at);
    let mut others: Vec<_> = costs.into_iter().filter(|(path, _)| *path != told.call_path).collect();
    others.sort_by_key(|(path, cost)| (Reverse(*cost), *path));
    let mut locations: Vec<_> = locations.into_iter().collect();
    locations.sort_by_key(|(id, cost)| (Reverse(*cost), *id));
    Gathered {
        told,
        from: begins().max().unwrap_or(told.at),
        first: begins().min().unwrap_or(told.at),
        locations,
        others: others.into_iter().map(|(path, _)| path).collect(),
    }
}

/// How many of some call paths lie beneath each of them.
fn number_beneath(paths: &[CallPath], some: &BTreeSet<CallPathId>) -> BTreeMap<CallPathId, u64> {
    let mut number: BTreeMap<CallPathId, u64> = BTreeMap::new();
    // A parent comes before what is beneath it; another is none: damaged.
    let parent = |path: CallPathId| paths.get(path.idx())?.parent.filter(|parent| parent.idx() < path.idx());
    for path in some {
        let mut above = parent(*path);
        while let Some(at) = above {
            if some.contains(&at) {
                *number.entry(at).or_default() += 1;
            }
            above = parent(at);
        }
    }
    number
}
