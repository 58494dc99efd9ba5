//! The calls in which the ranks of a world come together, and go together.
//!
//! The one idea: a library sets itself up and takes itself down together with all ranks, and nothing that is recorded says so
//! but times: nobody was out before the last was in. The calls are the first and the last of each rank.
//!
//! What is deliberately absent: names of calls.

use std::collections::BTreeMap;

use marey_model::{Level, LocationId, RegionId, Role};
use rustc_hash::FxHashMap;

use super::{Found, Pattern, in_call};
use crate::happenings::{Done, Happenings, Interval, Unread};
use crate::trace::{Region, Trace};

/// Calls of all ranks of a world that nobody leaves before all have entered.
#[derive(Clone, Debug)]
pub(crate) struct Together {
    /// What whoever waits in them waits at.
    pub(crate) pattern: Pattern,
    /// By location.
    pub(crate) calls: Vec<(LocationId, Done)>,
}

impl Together {
    /// Of these calls, if it is so.
    fn of(pattern: Pattern, calls: Vec<(LocationId, Done)>) -> Option<Self> {
        let last = calls.iter().map(|(_, call)| call.start).max()?;
        let are_together = calls.iter().all(|(_, call)| last <= call.end);
        (1 < calls.len() && are_together).then_some(Self { pattern, calls })
    }

    /// Who enters last, of several at once the first, and when.
    pub(crate) fn last(&self) -> Option<(LocationId, marey_model::Nanos)> {
        let last = self.calls.iter().max_by_key(|(id, call)| (call.start, std::cmp::Reverse(*id)))?;
        Some((last.0, last.1.start))
    }

    pub(super) fn waits(&self) -> impl Iterator<Item = Found> {
        let last = self.last();
        self.calls.iter().filter_map(move |(id, call)| in_call(*id, *call, last?, self.pattern))
    }
}

/// What is known of a rank.
#[derive(Clone, Debug, Default)]
struct Rank {
    /// First visits, by region, that act on the library itself, before a call of a role other than manage.
    first: FxHashMap<RegionId, Done>,
    /// A call of another role has come.
    is_done: bool,
    last: Option<Call>,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    region: RegionId,
    done: Done,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// The library itself, as far as that is known.
    Library,
    /// Something of it: a communicator, a window.
    Part,
    /// Not a matter of managing.
    Other,
}

impl What {
    fn of(region: &Region) -> Self {
        match region.role {
            Role::Manage if region.noun.is_empty() => Self::Library,
            Role::Manage => Self::Part,
            _ => Self::Other,
        }
    }
}

/// All of them. Slabs are read from the first on until all ranks have done something else, and from the last on until the
/// last call of each is found.
pub(crate) fn together(run: &impl Trace, events: &impl Happenings) -> Result<Vec<Together>, Unread> {
    let mut ranks: BTreeMap<LocationId, Rank> = BTreeMap::new();
    let mut worlds: BTreeMap<u32, Vec<LocationId>> = BTreeMap::new();
    for (location, id) in run.locations().iter().zip(0..).filter(|(location, _)| location.thread.0 == 0) {
        let process = run.processes().get(location.process.idx());
        if let Some(process) = process.filter(|process| process.rank.is_some()) {
            worlds.entry(process.world).or_default().push(LocationId(id));
        }
    }
    worlds.retain(|_, members| 1 < members.len());
    for id in worlds.values().flatten() {
        ranks.insert(*id, Rank::default());
    }
    let slabs = events.slabs().len();
    for slab in 0..slabs {
        if ranks.values().all(|rank| rank.is_done) {
            break;
        }
        events
            .intervals(slab, &mut |batch| each(run, &mut ranks, batch, |rank, _, call| rank.comes(call)))?;
    }
    for slab in (0..slabs).rev() {
        if ranks.values().all(|rank| rank.last.is_some()) {
            break;
        }
        let known: Vec<LocationId> =
            ranks.iter().filter(|(_, rank)| rank.last.is_some()).map(|(id, _)| *id).collect();
        events.intervals(slab, &mut |batch| {
            each(run, &mut ranks, batch, |rank, location, call| {
                if known.binary_search(&location).is_err() {
                    rank.last = Some(call);
                }
            });
        })?;
    }
    Ok(worlds.values().flat_map(|world| of_world(world, &ranks)).collect())
}

/// Hands out the calls of level `mpi` of all ranks.
fn each(
    run: &impl Trace,
    ranks: &mut BTreeMap<LocationId, Rank>,
    batch: &[Interval],
    mut what: impl FnMut(&mut Rank, LocationId, Call),
) {
    for intervals in batch.chunk_by(|a, b| a.location == b.location) {
        let Some(rank) = ranks.get_mut(&intervals[0].location) else { continue };
        for interval in intervals {
            let path = run.call_paths().get(interval.call_path.idx());
            let region = path.and_then(|path| Some((path.region, run.regions().get(path.region.idx())?)));
            if let Some((id, region)) = region.filter(|(_, region)| region.level == Level::MPI) {
                let call = Call { region: id, done: done(interval), what: What::of(region) };
                what(rank, interval.location, call);
            }
        }
    }
}

fn done(interval: &Interval) -> Done {
    Done { start: interval.start, end: interval.end, call_path: Some(interval.call_path) }
}

impl Rank {
    fn comes(&mut self, call: Call) {
        self.is_done |= call.what == What::Other;
        if !self.is_done && call.what == What::Library {
            self.first.entry(call.region).or_insert(call.done);
        }
    }
}

fn of_world(world: &[LocationId], ranks: &BTreeMap<LocationId, Rank>) -> Vec<Together> {
    let all: Vec<(LocationId, &Rank)> = world.iter().filter_map(|id| Some((*id, ranks.get(id)?))).collect();
    let Some((_, first)) = all.first() else { return Vec::new() };
    let in_region = |region: &RegionId| -> Option<Together> {
        let calls = all.iter().map(|(id, rank)| Some((*id, *rank.first.get(region)?)));
        Together::of(Pattern::Init, calls.collect::<Option<_>>()?)
    };
    let begins = |together: &Together| together.calls.iter().map(|(_, call)| call.start).min();
    let mut regions: Vec<RegionId> = first.first.keys().copied().collect();
    regions.sort_unstable();
    let coming = regions.iter().filter_map(in_region).min_by_key(begins);
    let going = || {
        let Call { region, what, .. } = first.last?;
        let is_one = all.iter().all(|(_, rank)| rank.last.is_some_and(|last| last.region == region));
        let calls = all.iter().map(|(id, rank)| Some((*id, rank.last?.done)));
        let going = Together::of(Pattern::Exit, calls.collect::<Option<_>>()?)?;
        let is_coming = coming.as_ref().is_some_and(|coming| coming.calls == going.calls);
        (is_one && what == What::Library && !is_coming).then_some(going)
    };
    let going = going();
    coming.into_iter().chain(going).collect()
}
