//! What accesses to selected elements of an array cost: by statement, and by process.
//!
//! The one idea: an access that means one selected element is one that somebody has to look at, so it counts as a whole,
//! with all its bytes and its time; how many of the elements that it means are selected stands beside it. Accesses of which
//! that is not known are told apart, and in no other number.
//!
//! Deliberately absent: calls beneath, which the sums of a run have by call path and not by element.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{AccessKind, CallPathId, LocationId, NounId, ProcessId};

use crate::arrays::{AccessSum, Said, Statement};
use crate::paths::{Paths, add};
use crate::sequences::OneByOne;
use crate::single_access::SingleAccess;
use crate::sub_array::{Meeting, Snapped};
use crate::trace::Trace;

/// Accesses to selected elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Selected {
    /// Accesses that mean at least one selected element, as a whole.
    pub met: AccessSum,
    /// The selected elements that these mean, each as often as it is meant.
    pub inside: u64,
    /// All elements that these mean.
    pub elements: u64,
    /// Accesses that mean selected elements perhaps.
    pub perhaps: AccessSum,
    /// Elements of both that are selected perhaps.
    pub perhaps_inside: u64,
}

impl Selected {
    fn add(&mut self, access: &SingleAccess<'_>, meeting: Meeting) {
        let one = AccessSum { accesses: 1, bytes: access.elements.bytes, time: access.time() };
        self.perhaps_inside = self.perhaps_inside.saturating_add(meeting.perhaps);
        if meeting.inside == 0 {
            self.perhaps = self.perhaps.with(one);
            return;
        }
        self.met = self.met.with(one);
        self.inside = self.inside.saturating_add(meeting.inside);
        self.elements = self.elements.saturating_add(access.elements.number());
    }

    /// The sum of both.
    pub fn with(mut self, other: Self) -> Self {
        self.met = self.met.with(other.met);
        self.inside = self.inside.saturating_add(other.inside);
        self.elements = self.elements.saturating_add(other.elements);
        self.perhaps = self.perhaps.with(other.perhaps);
        self.perhaps_inside = self.perhaps_inside.saturating_add(other.perhaps_inside);
        self
    }
}

/// A process, and selected elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SelectedProcess {
    /// Its accesses to those that it has.
    pub local: Selected,
    /// Its accesses to those that others have.
    pub remote: Selected,
    /// Accesses of others to those that it has.
    pub asked: Selected,
}

/// What accesses to selected elements cost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SubArrayCosts {
    /// All of them.
    pub total: Selected,
    /// By place in the source, that with most time first; the sum of a statement is that of what surely is met.
    pub statements: Vec<(Statement, Selected)>,
    /// By process; those that neither ask nor have anything are missing.
    pub processes: BTreeMap<ProcessId, SelectedProcess>,
}

/// How many accesses of some locations to an array were only counted, at a limit or because only sums were recorded: visits of
/// the call paths that access it, beyond the accesses that are known. Of a call path that accesses several arrays they are
/// shared among these as the known ones are. Time: linear in the profile and the sums of accesses.
pub fn accesses_not_kept(trace: &dyn Trace, noun: NounId, is_meant: &dyn Fn(LocationId) -> bool) -> u64 {
    // One that reads and writes is a visit and two accesses, of different kinds: those of this array, and of all.
    let mut known: BTreeMap<(CallPathId, AccessKind), (u64, u64)> = BTreeMap::new();
    let mut paths: BTreeSet<CallPathId> = BTreeSet::new();
    for row in trace.accessed().iter().filter(|row| row.kind.moves()) {
        let array = row.array.and_then(|at| trace.arrays().get(at));
        let Some(path) = row.call_path else { continue };
        let is_own = array.is_some_and(|it| it.noun == noun);
        if is_own {
            paths.insert(path);
        }
        let (own, all) = known.entry((path, row.kind)).or_default();
        let accesses = if is_meant(row.location) { row.accesses } else { 0 };
        *own = own.saturating_add(if is_own { accesses } else { 0 });
        *all = all.saturating_add(accesses);
    }
    let mut by_path: BTreeMap<CallPathId, (u64, u64)> = BTreeMap::new();
    for ((path, _), (own, all)) in known.into_iter().filter(|((path, _), _)| paths.contains(path)) {
        let most = by_path.entry(path).or_default();
        *most = (own.max(most.0), all.max(most.1));
    }
    let mut visits: BTreeMap<CallPathId, u64> = BTreeMap::new();
    for row in trace.profile().iter().filter(|row| is_meant(row.location)) {
        if by_path.contains_key(&row.call_path) {
            let all = visits.entry(row.call_path).or_default();
            *all = all.saturating_add(row.visits);
        }
    }
    let missing = |(path, (own, all)): (&CallPathId, &(u64, u64))| {
        let missing = visits.get(path).copied().unwrap_or(0).saturating_sub(*all);
        if own == all {
            return missing;
        }
        let shared = u128::from(missing) * u128::from(*own) / u128::from((*all).max(1));
        u64::try_from(shared).unwrap_or(u64::MAX)
    };
    by_path.iter().map(missing).fold(0, u64::saturating_add)
}

type Key = (Option<CallPathId>, AccessKind, Option<ProcessId>, Option<ProcessId>);

/// Adds up accesses to selected elements.
#[derive(Clone, Debug)]
pub struct SelectedAccesses<'s> {
    selection: &'s Snapped,
    one_by_one: OneByOne,
    sums: BTreeMap<Key, Selected>,
}

impl<'s> SelectedAccesses<'s> {
    /// Of no access yet.
    pub fn new(selection: &'s Snapped) -> Self {
        Self { selection, one_by_one: OneByOne::default(), sums: BTreeMap::new() }
    }

    /// Adds an access to the array; says how much of it is selected. Space: one sum for each call path and pair of processes.
    pub fn add(&mut self, access: &SingleAccess<'_>) -> Meeting {
        let meeting = self.selection.meeting(access.peer, &access.elements, &mut self.one_by_one);
        if meeting != Meeting::default() {
            let key = (access.call_path, access.kind, access.process, access.peer);
            self.sums.entry(key).or_default().add(access, meeting);
        }
        meeting
    }

    /// What all of them come to, in a run whose call paths these are.
    pub fn costs(self, trace: &dyn Trace) -> SubArrayCosts {
        let paths = Paths::new(trace);
        let mut costs = SubArrayCosts::default();
        let mut statements: BTreeMap<Said, (Statement, Selected)> = BTreeMap::new();
        for ((call_path, kind, own, peer), sum) in self.sums {
            costs.total = costs.total.with(sum);
            let said = Said::of(trace, &paths, call_path, kind);
            let (statement, all) =
                statements.entry(said).or_insert_with_key(|said| (said.statement(), Selected::default()));
            *all = all.with(sum);
            statement.sum = all.met;
            statement.call_paths.extend(call_path);
            if let (Some(own), Some(peer)) = (own, peer) {
                statement.add_flow(own, peer);
            }
            let is_local = own.is_some() && own == peer;
            if let Some(own) = own {
                let process = costs.processes.entry(own).or_default();
                let side = if is_local { &mut process.local } else { &mut process.remote };
                *side = side.with(sum);
            }
            if let Some(peer) = peer.filter(|_| !is_local) {
                let process = costs.processes.entry(peer).or_default();
                process.asked = process.asked.with(sum);
            }
        }
        costs.statements = statements.into_values().collect();
        let time = |it: &Selected| {
            let mut all = it.met.time;
            add(&mut all, it.perhaps.time);
            all
        };
        costs.statements.sort_by_key(|(_, all)| std::cmp::Reverse((all.met.time, time(all))));
        costs
    }
}
