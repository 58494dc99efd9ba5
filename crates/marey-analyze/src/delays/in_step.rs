//! When two locations were last in step.
//!
//! The one idea: operations that keep all of their members in step are known by their times alone, one list for each set
//! of members; what keeps two in step is noted pair by pair as time goes on.

use marey_model::{EdgeKind, LocationId, Nanos};
use rustc_hash::FxHashMap;

use crate::happenings::{Happenings, Span, Unread};
use crate::trace::Trace;
use crate::waits::{WhoWaits, operations, together, who_waits};

/// What is known of it.
#[derive(Debug, Default)]
pub(super) struct InStep {
    /// Of each set of members the latest entries of their operations, growing.
    operations: Vec<Vec<Nanos>>,
    /// The sets that each location is in, growing.
    sets: Vec<Vec<usize>>,
    /// When one created another.
    created: FxHashMap<(LocationId, LocationId), Vec<Nanos>>,
    /// When one of two last waited for the other.
    waited: FxHashMap<(LocationId, LocationId), Nanos>,
}

fn pair(a: LocationId, b: LocationId) -> (LocationId, LocationId) {
    (a.min(b), a.max(b))
}

impl InStep {
    /// One pass over collective operations, one over edges, and a look at how ranks come and go.
    pub(super) fn new(run: &impl Trace, events: &impl Happenings, span: Span) -> Result<Self, Unread> {
        let mut this = Self { sets: vec![Vec::new(); run.locations().len()], ..Self::default() };
        let mut known: FxHashMap<Vec<LocationId>, usize> = FxHashMap::default();
        let mut set = Vec::new();
        operations(run, events, span, |members| {
            if !matches!(who_waits(run, members), Some(WhoWaits::All(_))) {
                return;
            }
            set.clear();
            set.extend(members.iter().map(|member| member.location));
            set.sort_unstable();
            this.note_entry(&set, members.iter().map(|member| member.enter).max(), &mut known);
        })?;
        for together in together(run, events)? {
            let members: Vec<LocationId> = together.calls.iter().map(|(location, _)| *location).collect();
            this.note_entry(&members, together.last().map(|(_, at)| at), &mut known);
        }
        this.operations.iter_mut().for_each(|times| times.sort_unstable());
        events.edges_in(span, &mut |batch| {
            for edge in batch.iter().filter(|edge| edge.kind == EdgeKind::Create) {
                this.created.entry(pair(edge.from.0, edge.to.0)).or_default().push(edge.to.1);
            }
        })?;
        this.created.values_mut().for_each(|times| times.sort_unstable());
        Ok(this)
    }

    /// All of a set were in step when the last of them entered.
    fn note_entry(
        &mut self,
        set: &[LocationId],
        last: Option<Nanos>,
        known: &mut FxHashMap<Vec<LocationId>, usize>,
    ) {
        let number = match known.get(set) {
            Some(&number) => number,
            None => self.begin_set(set, known),
        };
        self.operations[number].extend(last);
    }

    fn begin_set(&mut self, set: &[LocationId], known: &mut FxHashMap<Vec<LocationId>, usize>) -> usize {
        let number = self.operations.len();
        self.operations.push(Vec::new());
        known.insert(set.to_vec(), number);
        for member in set {
            if let Some(sets) = self.sets.get_mut(member.idx()) {
                sets.push(number);
            }
        }
        number
    }

    /// One of two has waited for the other until `time`; times grow.
    pub(super) fn note(&mut self, a: LocationId, b: LocationId, time: Nanos) {
        self.waited.insert(pair(a, b), time);
    }

    /// When both were last in step before `time`; 0 = never.
    pub(super) fn before(&self, a: LocationId, b: LocationId, time: Nanos) -> Nanos {
        let latest = |times: &[Nanos]| times[..times.partition_point(|&when| when < time)].last().copied();
        let waited = self.waited.get(&pair(a, b)).copied().filter(|&when| when < time);
        let created = self.created.get(&pair(a, b)).and_then(|times| latest(times));
        let together = self.shared(a, b).filter_map(|set| latest(&self.operations[set]));
        together.chain(waited).chain(created).max().unwrap_or_default()
    }

    fn shared(&self, a: LocationId, b: LocationId) -> impl Iterator<Item = usize> {
        let of = |location: LocationId| self.sets.get(location.idx()).map_or(&[][..], Vec::as_slice);
        let others = of(b);
        of(a).iter().copied().filter(move |set| others.binary_search(set).is_ok())
    }
}
