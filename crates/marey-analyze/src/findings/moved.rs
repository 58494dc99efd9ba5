//! Data that takes its time on the critical path: messages and files.
//!
//! The one idea: nobody is late there, so all of it is time of the path; of messages no more can be won than a network would
//! that costs nothing.
//!
//! What is deliberately absent: what a delay gives back already.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{CallPathId, LocationId, Nanos, Role};

use super::served::Served;
use super::{Finding, FindingKind, Place, line_of, named, others, rounded};
use crate::activities::Activity;
use crate::causes::{Causes, TimeRow};
use crate::efficiency::{efficiency, is_useful};
use crate::paths::float;
use crate::trace::{Region, Trace};

/// Told if it could give back this part of the run. No network and no disk is free: a part of what they take can be won.
const LEAST_GAIN: f64 = 0.05;

/// Findings of transfer and files, in the order of places.
pub(super) fn findings(
    run: &dyn Trace,
    causes: &Causes,
    served: &Served,
    compared: &BTreeSet<LocationId>,
    told: &BTreeMap<Place<'_>, Nanos>,
) -> Vec<Finding> {
    let lost = efficiency(run, causes).map_or(0.0, |it| float(it.run_time - it.ideal));
    let mut places: BTreeMap<Place<'_>, Sums> = BTreeMap::new();
    let moving = levels_that_move(run);
    // A call that never came back did not move anything slowly: it hangs, or it was killed.
    let open: BTreeSet<(LocationId, CallPathId)> = run
        .open_at_end()
        .unwrap_or_default()
        .iter()
        .map(|region| (region.location, region.call_path))
        .collect();
    let came_back = |row: &&TimeRow| match row.activity {
        Activity::Path(path) => !open.contains(&(row.location, path)),
        _ => true,
    };
    for row in causes.times.iter().filter(came_back) {
        let activity = served.activity(row.activity);
        let Some(kind) = kind_of(run, activity, &moving) else { continue };
        let none = || Sums::new(kind, activity);
        let sums = places.entry(Place::of(run, activity)).or_insert_with(none);
        let own = sums.of_location.entry(row.location).or_default();
        *own = (own.0 + float(row.time), own.1 + float(row.on_path));
        sums.lines.extend(line_of(run, activity));
        if row.on_path > Nanos(0) {
            let (from, to) = row.path_span;
            sums.span = Some(sums.span.map_or((from, to), |all| (all.0.min(from), all.1.max(to))));
            if row.on_path > sums.most.1 {
                sums.most = (activity, row.on_path);
            }
        }
    }
    let least = LEAST_GAIN * float(causes.span.to - causes.span.from);
    let mut found: Vec<Finding> = Vec::new();
    for (place, sums) in &places {
        let on_path: f64 = sums.of_location.values().map(|own| own.1).sum();
        let gain = if sums.kind == FindingKind::Transfer { on_path.min(lost) } else { on_path };
        // What a delay gives back is told with that.
        let as_delay = told.get(place).map_or(0.0, |gain| float(*gain));
        let gain = gain - as_delay;
        if gain <= as_delay || gain < least {
            continue;
        }
        let is_on = sums.of_location.iter().filter(|(_, own)| own.1 > 0.0);
        let is_on: BTreeMap<LocationId, f64> = is_on.map(|(id, own)| (*id, own.1)).collect();
        let locations = named(&is_on);
        let time = |id: &LocationId| sums.of_location.get(id).map_or(0.0, |own| own.0);
        #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ locations")]
        let mean = |sum: f64, number: usize| sum / number.max(1) as f64;
        let (from, to) = sums.span.unwrap_or_default();
        let (calls, bytes, data) = moved(run, *place, &locations);
        found.push(Finding {
            kind: sums.kind,
            activity: sums.most.0,
            others: others(&is_on),
            lines: sums.lines.len(),
            time: mean(locations.iter().map(time).sum(), locations.len()),
            mean: mean(compared.iter().map(time).sum(), compared.len()),
            gain: rounded(gain),
            cost: 0.0,
            share: 0.0,
            effects: Vec::new(),
            from,
            to,
            effect: Nanos(0),
            clock_bar: Some(Nanos(0)),
            calls,
            bytes,
            data,
            pieces: None,
            function: None,
            without_processor: None,
            processor: None,
            locations,
        });
    }
    found
}

/// What is known of a place.
struct Sums {
    kind: FindingKind,
    /// The call path that has most of the critical path, and how much.
    most: (Activity, Nanos),
    /// Time, and of that on the critical path, ns.
    of_location: BTreeMap<LocationId, (f64, f64)>,
    lines: BTreeSet<u32>,
    span: Option<(Nanos, Nanos)>,
}

impl Sums {
    fn new(kind: FindingKind, activity: Activity) -> Self {
        Self {
            kind,
            most: (activity, Nanos(0)),
            of_location: BTreeMap::new(),
            lines: BTreeSet::new(),
            span: None,
        }
    }
}

fn region_of(run: &dyn Trace, activity: Activity) -> Option<&Region> {
    let Activity::Path(path) = activity else { return None };
    run.regions().get(run.call_paths().get(path.idx())?.region.idx())
}

/// Levels on which data is moved from one location to another.
fn levels_that_move(run: &dyn Trace) -> BTreeSet<&str> {
    let moves = |region: &&Region| {
        matches!(region.role, Role::Transfer | Role::AllToAll | Role::OneToAll | Role::AllToOne)
    };
    run.regions().iter().filter(moves).map(|region| region.level.as_str()).collect()
}

/// Whether it moves data, and which.
fn kind_of(run: &dyn Trace, activity: Activity, moving: &BTreeSet<&str>) -> Option<FindingKind> {
    let region = region_of(run, activity)?;
    match region.role {
        Role::Io => Some(FindingKind::Files),
        Role::Transfer | Role::Wait | Role::Barrier | Role::AllToAll | Role::OneToAll | Role::AllToOne
            if moving.contains(region.level.as_str()) && !is_useful(run, activity) =>
        {
            Some(FindingKind::Transfer)
        }
        _ => None,
    }
}

/// Calls in a place, what they moved, and of what most time was spent on; of some locations.
fn moved(run: &dyn Trace, place: Place<'_>, locations: &[LocationId]) -> (u64, u64, String) {
    let is_here: Vec<bool> = (0..run.call_paths().len())
        .map(|at| {
            let path = marey_model::CallPathId::from_idx(at);
            path.is_some_and(|path| Place::of(run, Activity::Path(path)) == place)
        })
        .collect();
    let (mut calls, mut bytes) = (0_u64, 0_u64);
    let mut nouns: BTreeMap<&str, i64> = BTreeMap::new();
    let locations: BTreeSet<LocationId> = locations.iter().copied().collect();
    for row in run.profile().iter().filter(|row| locations.contains(&row.location)) {
        if is_here.get(row.call_path.idx()) != Some(&true) {
            continue;
        }
        (calls, bytes) = (calls.saturating_add(row.visits), bytes.saturating_add(row.bytes));
        if let Some(region) = region_of(run, Activity::Path(row.call_path)) {
            *nouns.entry(&region.noun).or_default() += row.exclusive.0;
        }
    }
    let data = nouns.into_iter().max_by_key(|(name, time)| (*time, std::cmp::Reverse(*name)));
    (calls, bytes, data.map_or_else(String::new, |(name, _)| name.to_owned()))
}
