//! How much of the time of all ranks and threads was useful, and what took the rest.
//!
//! The one idea: one number is split into factors, each between 0 and 1, whose product it is; the smallest says where to
//! look. The factors are those of the POP project (<https://pop-coe.eu/node/69>), taken from one run:
//!
//! * parallel efficiency = mean useful time / run time = load balance × communication efficiency
//! * load balance = mean useful time / largest useful time
//! * communication efficiency = largest useful time / run time = serialisation × setting up × transfer
//! * transfer efficiency = ideal run time / run time: that of a replay with a network that costs nothing
//! * setting up = bare run time / ideal run time: that of a replay in which all that parallel libraries do but wait costs
//!   nothing, setting them up too
//! * serialisation efficiency = largest useful time / bare run time
//!
//! Useful is the time outside of calls of parallel libraries. The run time is that from the first to the last instant of
//! those who are compared: locations that wait for others or are waited for, or all if nobody is; of a part of a run, those
//! of them that are there and meant.
//!
//! What is deliberately absent: how useful time changes with the number of ranks, which one run cannot tell.

use std::collections::BTreeSet;

use marey_model::{Level, LocationId, Nanos, Role};

use crate::activities::Activity;
use crate::causes::Causes;
use crate::paths::float;
use crate::trace::Trace;

/// Efficiencies, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Efficiency {
    /// Mean useful time over run time.
    pub parallel: f64,
    /// Mean over largest useful time.
    pub load_balance: f64,
    /// Largest useful time over run time.
    pub communication: f64,
    /// How much of that is lost because some wait for others.
    pub serialisation: f64,
    /// How much of that is lost in setting parallel libraries up and taking them down.
    pub setting_up: f64,
    /// How much of that is lost in moving data.
    pub transfer: f64,
    /// Who has the largest useful time; of several, the first.
    pub busiest: LocationId,
    /// That time.
    pub largest: Nanos,
    /// The mean useful time, ns.
    pub mean: f64,
    /// The run time.
    pub run_time: Nanos,
    /// The run time with the ideal network.
    pub ideal: Nanos,
    /// The same if nothing that parallel libraries do took time, but waits.
    pub bare: Nanos,
    /// How many locations are compared.
    pub locations: usize,
}

/// The efficiencies of a run; `None` if there is nobody to compare with anybody.
pub fn efficiency(run: &dyn Trace, causes: &Causes) -> Option<Efficiency> {
    efficiency_even_alone(run, causes).filter(|found| 2 <= found.locations)
}

/// The same, of a run of one location too: the one that others are compared with.
pub(crate) fn efficiency_even_alone(run: &dyn Trace, causes: &Causes) -> Option<Efficiency> {
    let compared = compared(run, causes);
    let is_compared = |id: &LocationId| compared.contains(id);
    let life = || compared.iter().filter_map(|id| run.locations().get(id.idx()));
    let (start, end) = (life().map(|it| it.start).min()?, life().map(|it| it.end).max()?);
    let run_time = causes.span.clip(start, end).map(|(from, to)| to - from)?;
    let mut useful = vec![Nanos(0); run.locations().len()];
    for row in causes.times.iter().filter(|row| is_compared(&row.location)) {
        if is_useful(run, row.activity) {
            useful[row.location.idx()] = useful[row.location.idx()] + row.time + row.waiting;
        }
    }
    let busiest = compared.iter().copied().max_by_key(|id| (useful[id.idx()], std::cmp::Reverse(*id)))?;
    let largest = useful[busiest.idx()];
    let total: f64 = compared.iter().map(|id| float(useful[id.idx()])).sum();
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ locations")]
    let mean = total / compared.len() as f64;
    let ratio = |part: f64, whole: f64| if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 };
    let replayed = |lives: &[(Nanos, Nanos)]| {
        let all = || compared.iter().filter_map(|id| lives.get(id.idx()));
        // Nobody begins earlier on any network.
        let from = all().map(|life| life.0).max()?.min(causes.span.from).max(start);
        Some(all().map(|life| life.1).max()? - from)
    };
    // No network makes anybody compute faster, or a run longer; halves are rounded.
    let bare = replayed(&causes.bare)?.max(largest).min(run_time);
    let ideal = replayed(&causes.ideal)?.max(bare).min(run_time);
    Some(Efficiency {
        parallel: ratio(mean, float(run_time)),
        load_balance: ratio(mean, float(largest)),
        communication: ratio(float(largest), float(run_time)),
        serialisation: ratio(float(largest), float(bare)),
        setting_up: ratio(float(bare), float(ideal)),
        transfer: ratio(float(ideal), float(run_time)),
        ideal,
        bare,
        busiest,
        largest,
        mean,
        run_time,
        locations: compared.len(),
    })
}

/// Those who wait for others or are waited for; all if nobody is. Who is not there, or not meant, in a part of a run does not
/// count.
pub(crate) fn compared(run: &dyn Trace, causes: &Causes) -> BTreeSet<LocationId> {
    let waits = &causes.waits.list;
    let mut some: BTreeSet<LocationId> = waits.iter().flat_map(|wait| [wait.location, wait.cause]).collect();
    if some.is_empty() {
        let has_time = |id: &LocationId| run.locations()[id.idx()].has_time();
        some.extend((0..).map(LocationId).take(run.locations().len()).filter(has_time));
    }
    some.retain(|id| is_there(run, *id, causes));
    some
}

/// Whether a location is there in the span that causes are of; one of a run that has no length always is.
fn is_there(run: &dyn Trace, id: LocationId, causes: &Causes) -> bool {
    let whole = causes.span.to <= causes.span.from;
    whole || run.locations().get(id.idx()).is_some_and(|it| causes.span.clip(it.start, it.end).is_some())
}

/// Whether an activity is the program's own matter, and not that of a library that connects its parts: what the system does for
/// a call of such a library is the library's.
pub(crate) fn is_useful(run: &dyn Trace, activity: Activity) -> bool {
    let mut path = match activity {
        Activity::Outside => return true,
        Activity::NotStarted => return false,
        Activity::Path(path) => Some(path),
    };
    // Each is later than the one above it.
    while let Some(at) = path {
        let Some(it) = run.call_paths().get(at.idx()) else { return true };
        let Some(region) = run.regions().get(it.region.idx()) else { return true };
        if ![Level::SYSTEM, Level::FILES, Level::MEMORY].contains(&region.level.as_str()) {
            let is_parallel = !matches!(region.role, Role::Work | Role::Io | Role::Manage);
            return region.level != Level::MPI && !is_parallel;
        }
        path = it.parent.filter(|parent| parent.idx() < at.idx());
    }
    true
}
