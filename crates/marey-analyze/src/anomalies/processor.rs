//! Whether anomalous visits had a processor.
//!
//! The one idea: a sample is a period of processor time that was used up, so the samples within a visit tell how much of
//! it was, whatever else it did; and how a call path uses the processor as a rule, its sums tell.

use std::collections::BTreeMap;

use marey_model::{CallPathId, LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use super::Anomaly;
use crate::happenings::{Happenings, Span, Unread};
use crate::paths::float;
use crate::samples::mean_period;
use crate::trace::{CallPath, Trace};

/// Periods that an excess has at least to be looked at.
const FEWEST: f64 = 4.0;

/// The part of its time that a call path uses the processor for, if it does so as a rule.
const AS_A_RULE: f64 = 0.8;

/// Periods used between the borders of visits.
#[derive(Default)]
struct Borders {
    at: Vec<Nanos>,
    /// From each border to the next; then, up to each border.
    periods: Vec<u64>,
}

/// Says of visits how long they were without a processor: one pass over the samples.
pub(super) fn look(run: &impl Trace, events: &impl Happenings, list: &mut [Anomaly]) -> Result<(), Unread> {
    let Some(period) = mean_period(run) else { return Ok(()) };
    let is_long = |it: &&mut Anomaly| it.excess() >= FEWEST * period;
    let mut borders: BTreeMap<LocationId, Borders> = BTreeMap::new();
    let mut span: Option<(Nanos, Nanos)> = None;
    for it in list.iter_mut().filter(is_long) {
        borders.entry(it.location).or_default().at.extend([it.start, it.end()]);
        let (from, to) = span.unwrap_or((it.start, it.end()));
        span = Some((from.min(it.start), to.max(it.end())));
    }
    let Some((from, to)) = span else { return Ok(()) };
    for own in borders.values_mut() {
        own.at.sort_unstable();
        own.at.dedup();
        own.periods = vec![0; own.at.len() + 1];
    }
    events.ticks_in(Span { from, to }, &mut |batch| {
        for tick in batch {
            let Some(own) = borders.get_mut(&tick.location) else { continue };
            let periods = &mut own.periods[own.at.partition_point(|at| *at <= tick.time)];
            *periods = periods.saturating_add(tick.periods);
        }
    })?;
    for own in borders.values_mut() {
        let mut sum = 0_u64;
        own.periods.iter_mut().for_each(|periods| {
            sum = sum.saturating_add(*periods);
            *periods = sum;
        });
    }
    let usual = Usual::new(run, list);
    for it in list.iter_mut().filter(is_long) {
        let Some(own) = borders.get(&it.location) else { continue };
        let up_to = |time: Nanos| own.periods[own.at.partition_point(|at| *at < time)];
        #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ samples")]
        let used = (up_to(it.end()) - up_to(it.start)).saturating_add(1) as f64 * period;
        let without = (float(it.duration) - float(it.waiting) - used).max(0.0);
        #[expect(clippy::cast_possible_truncation, reason = "it is no longer than the visit")]
        let rounded = Nanos(without.round() as i64);
        it.without_processor = Some(rounded);
        it.is_noise = !it.is_waiting() && 2.0 * without >= it.excess() && usual.uses_processor(it.call_path);
    }
    Ok(())
}

/// How much of their time call paths with anomalous visits use the processor.
struct Usual {
    /// Time of visits, and processor time in them, ns.
    times: FxHashMap<CallPathId, (f64, f64)>,
    /// Of each call path, whether it and all beneath it are functions.
    only_computes: Vec<bool>,
}

impl Usual {
    fn new(run: &impl Trace, list: &[Anomaly]) -> Self {
        let mut times: FxHashMap<CallPathId, (f64, f64)> =
            list.iter().map(|it| (it.call_path, (0.0, 0.0))).collect();
        for row in run.profile() {
            if let Some(time) = times.get_mut(&row.call_path) {
                time.0 += float(row.inclusive);
            }
        }
        let paths = run.call_paths();
        let role = |place: usize| run.regions().get(paths[place].region.idx()).map(|region| region.role);
        let mut only_computes: Vec<bool> =
            (0..paths.len()).map(|place| role(place) == Some(Role::Work)).collect();
        // What is beneath comes later, so all of it is known when its parent is told.
        for place in (0..paths.len()).rev() {
            if let Some(above) = parent(paths, place).filter(|_| !only_computes[place]) {
                only_computes[above] = false;
            }
        }
        for row in run.samples() {
            // What is called from it is part of it; call paths come behind those that they are beneath.
            let mut path = row.call_path;
            while let Some(here) = path {
                if let Some(time) = times.get_mut(&here) {
                    time.1 += float(row.time);
                }
                path = parent(paths, here.idx()).and_then(CallPathId::from_idx);
            }
        }
        Self { times, only_computes }
    }

    fn uses_processor(&self, path: CallPathId) -> bool {
        self.only_computes.get(path.idx()) == Some(&true)
            || self.times.get(&path).is_some_and(|(time, processor)| *processor >= AS_A_RULE * time)
    }
}

/// What a call path is beneath. Others than those before it are none: damaged.
fn parent(paths: &[CallPath], place: usize) -> Option<usize> {
    paths.get(place)?.parent.map(|parent| parent.idx()).filter(|parent| *parent < place)
}
