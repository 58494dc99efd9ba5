//! Anomalous durations: visits that took longer than their like.
//!
//! The one idea: two passes over the visits, whatever the test: the first learns what is usual, in histograms or sums,
//! the second finds what is not. So memory is bounded by what is different, not by how much there is.
//!
//! The definitions are those of `docs/anomalies.md`.
//!
//! What is deliberately absent: visits that are only in sums.

mod groups;
mod kept;
mod modes;
mod normal;
mod processor;
mod robust;

use marey_model::{CallPathId, LocationId, Nanos};

use crate::happenings::{Happenings, Unread, Visit};
use crate::phases::Loop;
use crate::trace::Trace;
use crate::waits::{Pattern, Waits};
use kept::Kept;
pub use normal::NormalLimits;

/// How durations are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Jumpshot's: durations of a region are normal, and a percentage gives a cut-off.
    Normal,
    /// By call path, size and iteration, modes and tails learned from the data.
    Robust,
}

/// All anomalous visits of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Anomalies {
    /// Those that are longest beyond what was expected, the largest excess first.
    pub list: Vec<Anomaly>,
    /// How many are longer than they should be.
    pub long: u64,
    /// By how much together.
    pub excess: Nanos,
    /// How many are shorter; the robust test does not ask.
    pub short: u64,
    /// Visits that were judged …
    pub judged: u64,
    /// … and those that are too few of their kind to be, or are only known as several in a row.
    pub not_judged: u64,
    /// Regions, or groups of like visits, that durations were compared in.
    pub groups: u64,
    /// How many of these have anomalous visits.
    pub groups_with: u64,
}

/// A visit that took longer, or shorter, than its like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Anomaly {
    /// Where.
    pub location: LocationId,
    /// What.
    pub call_path: CallPathId,
    /// When it began.
    pub start: Nanos,
    /// How long it took.
    pub duration: Nanos,
    /// How long it was expected to take, ns.
    pub expected: f64,
    /// The probability of a visit as far away.
    pub probability: f64,
    /// Data that it moved, bytes.
    pub bytes: Option<u64>,
    /// Visits that it was compared with.
    pub like: u64,
    /// The iteration of the main loop in which its middle lies.
    pub iteration: Option<usize>,
    /// How long it waited inside.
    pub waiting: Nanos,
    /// For whom and why in the longest of these waits.
    pub cause: Option<(LocationId, Pattern)>,
    /// For how long it was without a processor, at least, and did not wait; `None` = not known.
    pub without_processor: Option<Nanos>,
    /// Whether that explains it: its call path uses the processor as a rule, and had none.
    pub is_noise: bool,
    /// The anomalous visit inside it that explains it: its place in the list.
    pub inside: Option<usize>,
    /// The anomalous visit of another location that it waited for: its place in the list.
    pub because: Option<usize>,
}

impl Anomaly {
    /// By how much it is longer than expected, ns.
    pub fn excess(&self) -> f64 {
        crate::paths::float(self.duration) - self.expected
    }

    /// Whether waiting explains it.
    pub fn is_waiting(&self) -> bool {
        self.excess() > 0.0 && 2.0 * crate::paths::float(self.waiting) >= self.excess()
    }

    /// A visit, how long it was expected to be and with how many it was compared, and how likely it is.
    fn of(visit: &Visit, (expected, like): (f64, u64), probability: f64) -> Self {
        let interval = &visit.interval;
        Self {
            location: interval.location,
            call_path: interval.call_path,
            start: interval.start,
            duration: interval.end - interval.start,
            expected,
            probability,
            bytes: visit.bytes,
            like,
            iteration: None,
            waiting: Nanos(0),
            cause: None,
            without_processor: None,
            is_noise: false,
            inside: None,
            because: None,
        }
    }

    fn end(&self) -> Nanos {
        self.start + self.duration
    }
}

/// Finds the anomalous visits of a run, by a percentage: two passes over the visits.
///
/// # Errors
/// What of the run could not be read.
pub fn anomalies(
    run: &impl Trace,
    events: &impl Happenings,
    waits: &Waits,
    main: Option<&Loop>,
    (method, percent): (Method, f64),
) -> Result<Anomalies, Unread> {
    let mut found = match method {
        Method::Normal => normal::find(run, events, percent)?,
        Method::Robust => robust::find(run, events, main, percent)?,
    };
    for anomaly in &mut found.list {
        anomaly.iteration = main.and_then(|main| main.at(middle(anomaly.start, anomaly.end())));
        explain(anomaly, waits);
    }
    processor::look(run, events, &mut found.list)?;
    nest(&mut found.list);
    blame(&mut found.list);
    Ok(found)
}

/// Goes through all visits of which call path and location exist.
fn each_visit(
    run: &impl Trace,
    events: &impl Happenings,
    mut each: impl FnMut(&Visit),
) -> Result<(), Unread> {
    let paths = run.call_paths().len();
    // What is done for a lane is a visit of a thread, too.
    let has_time = |id: LocationId| run.locations().get(id.idx()).is_some_and(|it| it.has_time());
    for slab in 0..events.slabs().len() {
        events.visits(slab, &mut |batch| {
            for visit in batch {
                if visit.interval.call_path.idx() < paths && has_time(visit.interval.location) {
                    each(visit);
                }
            }
        })?;
    }
    Ok(())
}

/// The duration of a visit, ns.
fn length(visit: &Visit) -> u64 {
    (visit.interval.end - visit.interval.start).0.max(0).unsigned_abs()
}

/// The instant in the middle of a visit. A border that all share lies a little later than a location's own, so where a
/// visit begins does not tell in which iteration it is.
fn middle(start: Nanos, end: Nanos) -> Nanos {
    Nanos(start.0 + (end - start).0 / 2)
}

/// Adds how long it waited, and for whom.
fn explain(anomaly: &mut Anomaly, waits: &Waits) {
    let own = waits.of(anomaly.location);
    let first = own.partition_point(|wait| wait.to <= anomaly.start);
    let end = anomaly.end();
    let inside = own[first..].iter().take_while(|wait| wait.from < end);
    let mut longest = Nanos(0);
    for wait in inside {
        let length = wait.to.min(end) - wait.from.max(anomaly.start);
        anomaly.waiting = anomaly.waiting + length;
        if longest < length {
            (longest, anomaly.cause) = (length, Some((wait.cause, wait.pattern)));
        }
    }
}

/// Of a wait's cause so many visits before its end are looked at.
const LOOKED_BACK: usize = 64;

/// Finds for which others waited: of the cause of a wait, the one with the largest excess that was there meanwhile, or
/// before that in the same iteration.
fn blame(list: &mut [Anomaly]) {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|&place| (list[place].location, list[place].start, list[place].call_path));
    for place in 0..list.len() {
        let it = list[place];
        let Some((cause, _)) = it.cause.filter(|_| it.is_waiting()) else { continue };
        let begun =
            order.partition_point(|&other| (list[other].location, list[other].start) < (cause, it.end()));
        let of_cause =
            order[..begun].iter().rev().take(LOOKED_BACK).take_while(|&&other| list[other].location == cause);
        let meanwhile = of_cause.copied().filter(|&other| {
            let is_meanwhile = it.start < list[other].end();
            let is_before = it.iteration.is_some() && list[other].iteration == it.iteration;
            (is_meanwhile || is_before)
                && list[other].inside.is_none()
                && !list[other].is_waiting()
                && 2.0 * list[other].excess() >= it.excess()
        });
        list[place].because =
            meanwhile.max_by(|a, b| list[*a].excess().total_cmp(&list[*b].excess()).then(b.cmp(a)));
    }
}

/// Finds which lie within which.
fn nest(list: &mut [Anomaly]) {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|&place| {
        let it = &list[place];
        (it.location, it.start, std::cmp::Reverse(it.duration), it.call_path)
    });
    let mut around: Vec<usize> = Vec::new();
    for place in order {
        let it = list[place];
        while around
            .last()
            .is_some_and(|&outer| list[outer].location != it.location || list[outer].end() < it.end())
        {
            around.pop();
        }
        // Each of those around it, for one that is not explained by the next may be by this one.
        for &outer in &around {
            let explains = 2.0 * it.excess() >= list[outer].excess();
            let better = list[outer].inside.is_none_or(|known| list[known].excess() < it.excess());
            if explains && better && list[outer].call_path != it.call_path {
                list[outer].inside = Some(place);
            }
        }
        around.push(place);
    }
}
