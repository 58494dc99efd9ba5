//! Calls that are too small for what they cost, and that could be merged or left out.
//!
//! The one idea: whatever is done in a row, with hardly anything between, could be done at once; and what that costs now is
//! measured, as is, where the run has larger calls, what it would cost then.
//!
//! The definitions and thresholds are those of `docs/situations.md`.
//!
//! What is deliberately absent: sentences, and anything that was not measured.

mod rows;
mod threads;

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{CallPathId, LocationId, Nanos, RegionId, Role};

use crate::causes::Causes;
use crate::happenings::{Happenings, Unread};
use crate::paths::float;
use crate::reduced::reduced;
use crate::trace::Trace;

/// Advice is given if calls cost this part of the time of those who make them …
const LEAST: f64 = 0.01;

/// … and if there are so many.
const FEWEST: u64 = 8;

/// Calls that a row has at least, on average.
const IN_A_ROW: u64 = 4;

/// Visits for which recording took this part of what is charged to them are too short.
const RECORDING: f64 = 0.1;

/// What is too small.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SmallKind {
    /// Messages one after another to one receiver.
    Messages,
    /// Collective operations one after another.
    Collectives,
    /// Threads that live more shortly than it takes to create and join them.
    Threads,
    /// Locks that are held more shortly than it takes to hand them over.
    Locks,
    /// Functions that take little more than recording them does.
    Regions,
}

impl SmallKind {
    /// The name that files have.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Collectives => "collectives",
            Self::Threads => "threads",
            Self::Locks => "locks",
            Self::Regions => "regions",
        }
    }
}

/// Calls of one place that are too small.
#[derive(Clone, PartialEq, Debug)]
pub struct Small {
    /// What they are.
    pub kind: SmallKind,
    /// Who makes them.
    pub locations: Vec<LocationId>,
    /// Of messages: the receiver.
    pub to: Option<LocationId>,
    /// From where; of regions, nowhere.
    pub call_path: Option<CallPathId>,
    /// Of regions: which.
    pub region: Option<RegionId>,
    /// How many calls.
    pub number: u64,
    /// In how many rows.
    pub rows: u64,
    /// Their mean size, bytes.
    pub bytes: f64,
    /// What they cost without waiting; of regions, what recording them did.
    pub cost: Nanos,
    /// What could be saved of it; `None` = the run has nothing to compare with.
    pub gain: Option<Nanos>,
    /// What the work itself took, mean, ns: the life of a thread, the time that a lock is held, a visit; else 0.
    pub work: f64,
    /// The time that the cost is compared with.
    pub of: Nanos,
}

/// Sums over calls from one place, in the making.
#[derive(Clone, Debug, Default)]
struct Sums {
    locations: BTreeSet<LocationId>,
    number: u64,
    rows: u64,
    bytes: u64,
    cost: Nanos,
    work: Nanos,
}

impl Sums {
    fn add(&mut self, location: LocationId, is_new_row: bool, bytes: u64, cost: Nanos) {
        self.locations.insert(location);
        self.number += 1;
        self.rows += u64::from(is_new_row);
        self.bytes = self.bytes.saturating_add(bytes);
        self.cost = self.cost + cost.max(Nanos(0));
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / count(self.number.max(1))
    }

    /// What they are told as, if they are worth it.
    fn small(self, run: &dyn Trace, kind: SmallKind, path: Option<CallPathId>) -> Option<Small> {
        let life =
            |id: &LocationId| run.locations().get(id.idx()).map_or(Nanos(0), |it| it.time().1 - it.start);
        let of = self.locations.iter().map(life).fold(Nanos(0), |sum, life| sum + life);
        let is_worthwhile =
            self.number >= FEWEST && float(self.cost) >= LEAST * float(of) && self.cost > Nanos(0);
        is_worthwhile.then(|| Small {
            kind,
            to: None,
            call_path: path,
            region: None,
            number: self.number,
            rows: self.rows,
            bytes: self.mean(count(self.bytes)),
            cost: self.cost,
            gain: None,
            work: self.mean(float(self.work)),
            of,
            locations: self.locations.into_iter().collect(),
        })
    }
}

/// What could be merged, that with the highest cost first, where recording one event takes so long.
///
/// # Errors
/// What of the run could not be read.
pub fn granularity(
    run: &impl Trace,
    events: &impl Happenings,
    causes: &Causes,
    ns_per_event: f64,
) -> Result<Vec<Small>, Unread> {
    // Between two calls one is left and the other entered.
    let recording = 2.0 * ns_per_event;
    let mut found = rows::messages(run, events, recording)?;
    found.extend(rows::collectives(run, events, recording)?);
    found.extend(threads::threads(run, events, causes)?);
    found.extend(threads::locks(run, events)?);
    found.retain(|it| it.gain.is_none_or(|gain| float(gain) >= LEAST * float(it.of)));
    found.sort_by_key(|it| (std::cmp::Reverse(it.cost), it.kind, it.call_path));
    Ok(found)
}

/// Functions of the program that are too short to be recorded visit by visit, if recording an event takes so long, ns.
pub fn short_regions(run: &dyn Trace, ns_per_event: f64) -> Vec<Small> {
    let mut sums: BTreeMap<RegionId, (Sums, Nanos)> = BTreeMap::new();
    for row in run.profile() {
        let Some(path) = run.call_paths().get(row.call_path.idx()) else { continue };
        let is_work = run.regions().get(path.region.idx()).is_some_and(|region| region.role == Role::Work);
        // What was only counted cost next to nothing.
        let visits = row.visits.saturating_sub(row.untimed);
        if is_work && visits > 0 {
            let (sums, exclusive) = sums.entry(path.region).or_default();
            sums.locations.insert(row.location);
            sums.number += visits;
            *exclusive = *exclusive + row.exclusive;
        }
    }
    // So did those that the recorder counted to keep within its budget; their time is an estimate that is in the sums.
    for (region, reduced) in reduced(run) {
        if let Some((sums, exclusive)) = sums.get_mut(&region) {
            sums.number = sums.number.saturating_sub(reduced.visits);
            *exclusive = (*exclusive - reduced.time).max(Nanos(0));
        }
    }
    let whole = run.locations().iter().fold(Nanos(0), |sum, it| sum + (it.time().1 - it.start));
    let short = |(region, (mut sums, exclusive)): (RegionId, (Sums, Nanos))| {
        let cost = 2.0 * ns_per_event * count(sums.number);
        if cost < RECORDING * float(exclusive) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "runs are shorter than 200 years")]
        let cost = Nanos(cost.round() as i64);
        (sums.cost, sums.work, sums.rows) = (cost, exclusive, sums.number);
        let small = sums.small(run, SmallKind::Regions, None)?;
        (float(cost) >= LEAST * float(whole)).then_some(Small { region: Some(region), of: whole, ..small })
    };
    let mut found: Vec<Small> = sums.into_iter().filter_map(short).collect();
    found.sort_by_key(|it| (std::cmp::Reverse(it.cost), it.region));
    found
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ of anything")]
fn count(number: u64) -> f64 {
    number as f64
}
