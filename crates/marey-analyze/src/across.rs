//! How ranks and threads differ in a region, and in a call path.
//!
//! The one idea: whoever never came somewhere counts with nothing there, if one like it did: the same thread of another rank.
//! So a mean is over those who could share the work, and not over helpers that never would.
//!
//! What is deliberately absent: how single visits differ ([`crate::profile`]), and sums over processes ([`crate::spread`]).

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{CallPathId, LocationId, Nanos};

use crate::causes::{Causes, wait_states};
use crate::paths::Paths;
use crate::profile::count;
use crate::ranks::unknown;
use crate::trace::{LocationKind, Trace};

/// How locations differ in one region or call path.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Across {
    /// How many are compared: those who came there, and of each of these, if it is of a rank, the threads of the same number
    /// of all ranks of its world. (Not those of which definitions or events are missing.)
    pub locations: usize,
    /// Time in it itself, ns.
    pub exclusive: AcrossFigures,
    /// Time between enter and leave, ns; visits within a visit of the same region do not count again.
    pub inclusive: AcrossFigures,
    /// Visits.
    pub visits: AcrossFigures,
    /// Data moved, bytes.
    pub bytes: AcrossFigures,
    /// Time in it that was waiting for others, ns; none if that is not known.
    pub waiting: Option<AcrossFigures>,
}

/// One number of each location.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AcrossFigures {
    /// The least.
    pub min: u64,
    /// The largest.
    pub max: u64,
    /// Their mean.
    pub mean: f64,
    /// Standard deviation (of all, not of a sample).
    pub std: f64,
    /// Who has the least; of several, the first.
    pub min_location: LocationId,
    /// Who has the largest; of several, the first.
    pub max_location: LocationId,
}

impl AcrossFigures {
    /// The largest over the mean, less 1: 0 is even. 0 if nobody has anything.
    pub fn imbalance(&self) -> f64 {
        if self.mean > 0.0 { count(self.max) / self.mean - 1.0 } else { 0.0 }
    }
}

/// By region; none of those that were never visited. Grows with the rows of the profile.
pub fn regions_across(run: &dyn Trace, causes: Option<&Causes>) -> Vec<Option<Across>> {
    let paths = Paths::new(run);
    across(run, causes, run.regions().len(), |id| {
        let region = run.call_paths().get(id.idx())?.region;
        Some((region.idx(), paths.counts_for_region(id)))
    })
}

/// By call path; none of those that were never visited.
pub fn call_paths_across(run: &dyn Trace, causes: Option<&Causes>) -> Vec<Option<Across>> {
    across(run, causes, run.call_paths().len(), |id| Some((id.idx(), true)))
}

/// Numbers of a location.
#[derive(Clone, Copy, Default)]
struct Own {
    exclusive: Nanos,
    inclusive: Nanos,
    visits: u64,
    bytes: u64,
    waiting: Nanos,
}

/// `place` tells where a call path is added, and whether its inclusive time is.
fn across(
    run: &dyn Trace,
    causes: Option<&Causes>,
    n: usize,
    place: impl Fn(CallPathId) -> Option<(usize, bool)>,
) -> Vec<Option<Across>> {
    let paths = Paths::new(run);
    let mut sums: Vec<BTreeMap<LocationId, Own>> = vec![BTreeMap::new(); n];
    for (row, ..) in paths.rows().filter(|(row, ..)| row.visits > 0 || row.inclusive > Nanos(0)) {
        let Some((place, counts)) = place(row.call_path) else { continue };
        let Some(sums) = sums.get_mut(place) else { continue };
        let own = sums.entry(row.location).or_default();
        own.exclusive = own.exclusive + row.exclusive;
        if counts {
            own.inclusive = own.inclusive + row.inclusive;
        }
        own.visits = own.visits.saturating_add(row.visits);
        own.bytes = own.bytes.saturating_add(row.bytes);
    }
    for state in causes.map(|causes| wait_states(&causes.waits)).unwrap_or_default() {
        let sums = state.call_path.and_then(|path| sums.get_mut(place(path)?.0));
        if let Some(own) = sums.and_then(|sums| sums.get_mut(&state.location)) {
            own.waiting = own.waiting + state.time;
        }
    }
    let likes = Likes::new(run);
    sums.into_iter().map(|sums| (!sums.is_empty()).then(|| likes.compared(sums, causes.is_some()))).collect()
}

/// World, kind and number of a thread of a rank.
type Like = (u32, bool, u32);

/// Who is like whom.
struct Likes {
    of: Vec<Option<Like>>,
    all: BTreeMap<Like, Vec<LocationId>>,
}

impl Likes {
    fn new(run: &dyn Trace) -> Self {
        let unknown = unknown(run);
        let like = |location: &crate::trace::Location| {
            let process = run.processes().get(location.process.idx())?;
            let is_known = process.rank.is_some() && !unknown.contains(&location.process);
            is_known.then_some((process.world, location.kind != LocationKind::Thread, location.thread.0))
        };
        let of: Vec<Option<Like>> = run.locations().iter().map(like).collect();
        let mut all: BTreeMap<Like, Vec<LocationId>> = BTreeMap::new();
        for (like, id) in of.iter().zip(0..) {
            if let Some(like) = like {
                all.entry(*like).or_default().push(LocationId(id));
            }
        }
        Self { of, all }
    }

    fn compared(&self, mut sums: BTreeMap<LocationId, Own>, waits_are_known: bool) -> Across {
        let likes: BTreeSet<Like> =
            sums.keys().filter_map(|id| self.of.get(id.idx()).copied().flatten()).collect();
        for id in likes.iter().filter_map(|like| self.all.get(like)).flatten() {
            sums.entry(*id).or_default();
        }
        let time = |time: Nanos| u64::try_from(time.0).unwrap_or(0);
        let figures = |value: &dyn Fn(&Own) -> u64| figures(sums.iter().map(|(id, own)| (*id, value(own))));
        Across {
            locations: sums.len(),
            exclusive: figures(&|own| time(own.exclusive)),
            inclusive: figures(&|own| time(own.inclusive)),
            visits: figures(&|own| own.visits),
            bytes: figures(&|own| own.bytes),
            waiting: waits_are_known.then(|| figures(&|own| time(own.waiting))),
        }
    }
}

fn figures(values: impl Iterator<Item = (LocationId, u64)> + Clone) -> AcrossFigures {
    // The last of equals is the largest, so ids are compared the other way round.
    let Some((max_location, max)) = values.clone().max_by_key(|it| (it.1, std::cmp::Reverse(it.0))) else {
        return AcrossFigures::default();
    };
    let (min_location, min) = values.clone().min_by_key(|it| (it.1, it.0)).unwrap_or((max_location, max));
    let number = count(values.clone().count() as u64);
    let mean = values.clone().map(|it| count(it.1)).sum::<f64>() / number;
    let squares = values.map(|it| (count(it.1) - mean).powi(2)).sum::<f64>();
    AcrossFigures { min, max, mean, std: (squares / number).sqrt(), min_location, max_location }
}
