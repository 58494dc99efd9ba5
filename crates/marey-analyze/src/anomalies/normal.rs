//! Jumpshot's test: durations of a region are taken to be normal, and a percentage gives a cut-off on either side.
//!
//! The one idea: what is alike has no tail, so of visits that last nearly the same time none is anomalous, other than in
//! a list of the longest per cent.
//!
//! What is deliberately absent: doubts about the distribution; [`super::robust`] has them.

use crate::happenings::{Happenings, Unread, Visit};
use crate::statistics::{Moments, normal_quantile_above, normal_tail};
use crate::trace::Trace;

use super::{Anomalies, Anomaly, Kept, each_visit, length};

/// A region needs so many visits.
const LEAST: u64 = 5;
/// What differs by so small a part of the mean is alike …
const ALIKE: f64 = 0.01;
/// … and no clock tells more exactly, ns.
const CLOCK: f64 = 20.0;
/// Sizes are known to the byte.
const BYTE: f64 = 1.0;

/// What is usual among some values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NormalLimits {
    /// What is less is unusual.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// What is more is unusual.
    pub most: f64,
}

impl NormalLimits {
    /// By Jumpshot's test of durations, with so many per cent on each side. `None` = these are too few.
    pub fn of_durations(moments: &Moments, percent: f64) -> Option<Self> {
        Self::of(moments, percent, CLOCK)
    }

    /// The same of sizes.
    pub fn of_sizes(moments: &Moments, percent: f64) -> Option<Self> {
        Self::of(moments, percent, BYTE)
    }

    fn of(moments: &Moments, percent: f64, exactly: f64) -> Option<Self> {
        let Usual { mean, deviation, .. } = Usual::told(moments, exactly)?;
        let away = limit(percent) * deviation;
        Some(Self { least: mean - away, mean, most: mean + away })
    }
}

/// How many standard deviations away a visit is anomalous.
fn limit(percent: f64) -> f64 {
    normal_quantile_above((percent / 100.0).clamp(0.0, 0.5))
}

/// Mean and standard deviation, ns.
#[derive(Clone, Copy, Debug)]
struct Usual {
    mean: f64,
    deviation: f64,
    number: u64,
}

impl Usual {
    fn of(moments: &Moments) -> Option<Usual> {
        Self::told(moments, CLOCK)
    }

    fn told(moments: &Moments, exactly: f64) -> Option<Usual> {
        let (mean, number) = (moments.mean(), moments.number());
        let deviation = moments.deviation()?.max(ALIKE * mean).max(exactly);
        (LEAST <= number).then_some(Usual { mean, deviation, number })
    }
}

pub(super) fn find(run: &impl Trace, events: &impl Happenings, percent: f64) -> Result<Anomalies, Unread> {
    let region_of: Vec<usize> = run.call_paths().iter().map(|path| path.region.idx()).collect();
    // Ids that lead nowhere are skipped; a table as long as one of them would fill the memory.
    let regions = run.regions().len();
    let region_of = |visit: &Visit| {
        region_of.get(visit.interval.call_path.idx()).copied().filter(|region| *region < regions)
    };
    let mut moments = vec![Moments::default(); regions];
    let mut several = 0;
    each_visit(run, events, |visit| {
        let Some(region) = region_of(visit) else { return };
        if visit.interval.visits != 1 {
            several += u64::from(visit.interval.visits);
            return;
        }
        moments[region].add(length(visit));
    })?;
    let usual: Vec<Option<Usual>> = moments.iter().map(Usual::of).collect();
    let limit = limit(percent);
    let mut kept = Kept::default();
    let mut has_some = vec![false; regions];
    each_visit(run, events, |visit| {
        let Some(region) = region_of(visit) else { return };
        let Some(usual) = usual[region].filter(|_| visit.interval.visits == 1) else { return };
        #[expect(clippy::cast_precision_loss, reason = "visits are shorter than 104 days")]
        let away = (length(visit) as f64 - usual.mean) / usual.deviation;
        if limit < away.abs() {
            has_some[region] = true;
            kept.add(Anomaly::of(visit, (usual.mean, usual.number), normal_tail(away.abs())));
        }
    })?;
    let judged: u64 = usual.iter().flatten().map(|usual| usual.number).sum();
    let all: u64 = moments.iter().map(Moments::number).sum();
    Ok(Anomalies {
        judged,
        not_judged: all - judged + several,
        groups: usual.iter().flatten().count() as u64,
        groups_with: has_some.iter().filter(|has_some| **has_some).count() as u64,
        ..kept.finish()
    })
}
