//! Computation that most of the critical path is made of.
//!
//! The one idea: where nobody waits and no data takes its time, the run is as long as this; whether it is more than it needs
//! to be one run does not tell, so it is a remark and no finding.

use std::collections::BTreeMap;

use marey_model::{LocationId, Nanos, Role};

use super::{Finding, Function, Place, function};
use crate::activities::Activity;
use crate::causes::Causes;
use crate::efficiency::compared;
use crate::paths::float;
use crate::trace::Trace;

/// What part of the path it has.
const LEAST: f64 = 0.5;

/// By how much more than the mean the one with most of it has, where all do it alike.
const ALIKE: f64 = 1.1;

/// A place of computation that most of the critical path is spent in.
#[derive(Clone, PartialEq, Debug)]
pub struct Dominant {
    /// What is done there.
    pub activity: Activity,
    /// How long the path is there.
    pub on_path: Nanos,
    /// How long all who are compared do it on average, ns.
    pub mean: f64,
    /// Whether there are several of these, and all do equally much of it.
    pub is_alike: bool,
    /// If it was outside of all recorded calls: the function that took most processor time.
    pub function: Option<Function>,
}

/// The place of computation that has at least half of the path, if no finding is about it.
pub fn dominant(run: &dyn Trace, causes: &Causes, findings: &[Finding]) -> Option<Dominant> {
    let compared = compared(run, causes);
    let mut places: BTreeMap<Place<'_>, (Activity, Nanos, Nanos, BTreeMap<LocationId, f64>)> =
        BTreeMap::new();
    for row in causes.times.iter().filter(|row| is_computation(run, row.activity)) {
        let none = || (row.activity, Nanos(0), Nanos(0), BTreeMap::new());
        let (activity, most, on_path, times) =
            places.entry(Place::of(run, row.activity)).or_insert_with(none);
        *on_path = *on_path + row.on_path;
        if row.on_path > *most {
            (*activity, *most) = (row.activity, row.on_path);
        }
        if compared.contains(&row.location) {
            *times.entry(row.location).or_default() += float(row.time);
        }
    }
    let of_all = places.into_iter().max_by_key(|(place, sums)| (sums.2, std::cmp::Reverse(*place)));
    let (place, (activity, _, on_path, times)) = of_all?;
    let is_told = findings.iter().any(|finding| Place::of(run, finding.activity) == place);
    if is_told || on_path <= Nanos(0) || float(on_path) < LEAST * float(causes.span.to - causes.span.from) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ locations")]
    let mean = times.values().sum::<f64>() / compared.len().max(1) as f64;
    let most = times.values().copied().fold(0.0, f64::max);
    let all: Vec<LocationId> = compared.iter().copied().collect();
    Some(Dominant {
        activity,
        on_path,
        mean,
        is_alike: compared.len() > 1 && most <= ALIKE * mean,
        function: (activity == Activity::Outside).then(|| function(run, &all, &compared)).flatten(),
    })
}

fn is_computation(run: &dyn Trace, activity: Activity) -> bool {
    match activity {
        Activity::Outside => true,
        Activity::NotStarted => false,
        Activity::Path(path) => {
            let region = run.call_paths().get(path.idx()).and_then(|it| run.regions().get(it.region.idx()));
            region.is_some_and(|region| region.role == Role::Work)
        }
    }
}
