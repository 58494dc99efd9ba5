//! What is changed in a replay.
//!
//! The one idea: whatever users name comes down to a factor for what a location does: a call path that is meant has all
//! of it, computation that samples put there in part has that part of it.

use marey_model::{CallPathId, LocationId, Nanos};
use rustc_hash::FxHashMap;

use crate::activities::Activity;
use crate::caller::caller;
use crate::causes::Causes;
use crate::efficiency::is_useful;
use crate::paths::float;
use crate::samples::library_call;
use crate::trace::{Frame, Region, SampledRow, Trace};

/// What is changed; factors multiply.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Change {
    /// What takes another time.
    pub scalings: Vec<Scaling>,
    /// Whether useful time is evened out between synchronisations.
    pub is_balanced: bool,
    /// Another network.
    pub network: Option<Network>,
}

/// A network without contention.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Network {
    /// What each message costs.
    pub latency: Nanos,
    /// What each of its bytes costs, ns.
    pub ns_per_byte: f64,
}

/// A place in the program, by what is there.
pub struct Place<'p> {
    /// Whether a region is meant, with all that is called from it.
    pub is_region: &'p dyn Fn(&Region) -> bool,
    /// Whether a function or a line is meant, with all that is called from there.
    pub is_frame: &'p dyn Fn(&Frame) -> bool,
    /// Whether calls of parallel libraries that come directly from there are meant too.
    pub with_calls: bool,
}

/// Something that takes another time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scaling {
    /// The new time over the old.
    factor: f64,
    /// Call paths of which all is meant.
    paths: Vec<bool>,
    /// Locations of which all useful time is meant.
    locations: Vec<bool>,
    /// What part of the time of a location in a call path, or outside of all, is meant by samples.
    shares: FxHashMap<(LocationId, Option<CallPathId>), Share>,
}

/// A part by samples.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Share {
    part: f64,
    samples: u64,
}

/// How much time something has that is changed, waits left out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Matched {
    /// Known exactly, ns.
    pub exact: f64,
    /// Known by samples, ns.
    pub sampled: f64,
    /// How many samples that are.
    pub samples: u64,
    /// By whom.
    pub locations: Vec<LocationId>,
}

impl Scaling {
    /// A place that is `speed` times as fast.
    pub fn place(run: &impl Trace, place: &Place<'_>, speed: f64) -> Self {
        let paths = matched_paths(run, place);
        let is_on = |row: &SampledRow| {
            let frames = row.stack.map_or_else(Vec::new, |stack| run.stack(stack));
            frames.iter().any(|frame| (place.is_frame)(frame))
        };
        let shares = shares(run, &paths, is_on);
        Self { factor: 1.0 / speed, paths, shares, ..Self::default() }
    }

    /// All useful time of a rank that is `speed` times as fast, in the first world.
    pub fn rank(run: &impl Trace, rank: u32, speed: f64) -> Self {
        let is_of_rank = |process: usize| {
            run.processes().get(process).is_some_and(|process| process.first_rank() == Some(rank))
        };
        let locations = run.locations().iter().map(|location| is_of_rank(location.process.idx())).collect();
        Self { factor: 1.0 / speed, locations, ..Self::default() }
    }

    /// Call paths that are `speed` times as fast, and computation of which `is_on` says that it is meant.
    pub(super) fn own(
        run: &impl Trace,
        paths: Vec<bool>,
        is_on: impl Fn(&SampledRow) -> bool,
        speed: f64,
    ) -> Self {
        let shares = shares(run, &paths, is_on);
        Self { factor: 1.0 / speed, paths, shares, ..Self::default() }
    }

    /// All computation outside of calls.
    pub(super) fn outside(run: &impl Trace, speed: f64) -> Self {
        let whole = |location| ((LocationId(location), None), Share { part: 1.0, samples: 0 });
        let shares = (0..).take(run.locations().len()).map(whole).collect();
        Self { factor: 1.0 / speed, shares, ..Self::default() }
    }

    /// The new time over the old.
    pub(super) fn factor(&self, run: &impl Trace, location: LocationId, activity: Activity) -> f64 {
        match self.part(run, location, activity) {
            part if part >= 1.0 => self.factor,
            part if part > 0.0 => 1.0 - part + part * self.factor,
            _ => 1.0,
        }
    }

    /// How much of what a location does is meant.
    fn part(&self, run: &impl Trace, location: LocationId, activity: Activity) -> f64 {
        let of_location = self.locations.get(location.idx()).copied().unwrap_or(false);
        if of_location && is_useful(run, activity) {
            return 1.0;
        }
        let context = match activity {
            Activity::Path(path) if self.paths.get(path.idx()).copied().unwrap_or(false) => return 1.0,
            Activity::Path(path) => Some(path),
            Activity::Outside => None,
            Activity::NotStarted => return 0.0,
        };
        self.shares.get(&(location, context)).map_or(0.0, |share| share.part)
    }

    /// How much time is meant, and how it is known.
    pub fn matched(&self, run: &impl Trace, causes: &Causes) -> Matched {
        let mut matched = Matched::default();
        for row in &causes.times {
            let part = self.part(run, row.location, row.activity);
            let context = match row.activity {
                Activity::Path(path) => Some(path),
                _ => None,
            };
            let share = self.shares.get(&(row.location, context)).filter(|_| part < 1.0 || context.is_none());
            match share {
                Some(share) if part > 0.0 => {
                    matched.sampled += part * float(row.time);
                    matched.samples = matched.samples.saturating_add(share.samples);
                }
                _ => matched.exact += part * float(row.time),
            }
            if part > 0.0 && row.time > Nanos(0) {
                matched.locations.push(row.location);
            }
        }
        matched.locations.sort_unstable();
        matched.locations.dedup();
        matched
    }
}

/// Of each call path whether all of it is meant.
fn matched_paths(run: &impl Trace, place: &Place<'_>) -> Vec<bool> {
    let paths = run.call_paths();
    let useful =
        |at: usize| CallPathId::from_idx(at).is_some_and(|path| is_useful(run, Activity::Path(path)));
    // Whether it is beneath what is meant, and beneath a call of a parallel library that is.
    let mut beneath = vec![(false, false); paths.len()];
    for (at, path) in paths.iter().enumerate() {
        let above = path.parent.filter(|parent| parent.idx() < at);
        let (mut is_in, mut is_in_call) = above.map_or((false, false), |parent| beneath[parent.idx()]);
        let is_region = run.regions().get(path.region.idx()).is_some_and(|region| (place.is_region)(region));
        let frames = path.stack.map_or_else(Vec::new, |stack| run.stack(stack));
        is_in |= is_region || frames.iter().any(|frame| (place.is_frame)(frame));
        let is_direct = || {
            let caller = CallPathId::from_idx(at).and_then(|path| caller(run, path));
            place.with_calls && caller.is_some_and(|frame| (place.is_frame)(frame))
        };
        is_in_call |= !useful(at) && (is_region || is_direct());
        beneath[at] = (is_in, is_in_call);
    }
    beneath.iter().enumerate().map(|(at, &(is_in, is_in_call))| is_in_call || is_in && useful(at)).collect()
}

/// What part of the processor time in each call path that is not meant as a whole, and outside of all, is meant.
fn shares(
    run: &impl Trace,
    paths: &[bool],
    is_on: impl Fn(&SampledRow) -> bool,
) -> FxHashMap<(LocationId, Option<CallPathId>), Share> {
    let mut sums: FxHashMap<(LocationId, Option<CallPathId>), (f64, f64, u64)> = FxHashMap::default();
    for row in run.samples() {
        let is_whole = |path: CallPathId| paths.get(path.idx()).copied().unwrap_or(false);
        // What a library does inside of its calls is not the program's.
        if row.call_path.is_some_and(|path| is_whole(path) || library_call(run, path).is_some()) {
            continue;
        }
        let (of_place, all, samples) = sums.entry((row.location, row.call_path)).or_default();
        *all += float(row.time);
        if is_on(row) {
            *of_place += float(row.time);
            *samples = samples.saturating_add(row.samples);
        }
    }
    let share = |(key, (of_place, all, samples)): ((LocationId, Option<CallPathId>), (f64, f64, u64))| {
        (of_place > 0.0).then(|| (key, Share { part: of_place / all, samples }))
    };
    sums.into_iter().filter_map(share).collect()
}
