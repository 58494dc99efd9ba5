//! The robust test: visits are compared with their like.
//!
//! The one idea: a visit is anomalous if chance would hardly give one like it in the whole run, and if it matters.
//!
//! What is deliberately absent: short visits, which cost nothing.

use std::collections::BTreeSet;

use crate::happenings::{Happenings, Unread};
use crate::phases::Loop;
use crate::trace::Trace;

use super::groups::{Grouping, Groups};
use super::modes::judged;
use super::{Anomalies, Anomaly, Kept, each_visit, length};

/// The least excess that matters: a part of what is expected …
const LEAST_PART: f64 = 0.2;
/// … and a time, ns.
const LEAST: f64 = 1000.0;

pub(super) fn find(
    run: &impl Trace,
    events: &impl Happenings,
    main: Option<&Loop>,
    percent: f64,
) -> Result<Anomalies, Unread> {
    let mut groups = Groups::default();
    let mut grouping = Grouping::new(main);
    let mut several = 0;
    each_visit(run, events, |visit| {
        if visit.interval.visits == 1 {
            groups.add(grouping.of(visit), length(visit));
        } else {
            several += u64::from(visit.interval.visits);
        }
    })?;
    let usual = groups.finish();
    #[expect(clippy::cast_precision_loss, reason = "counts need no more than 53 bits")]
    let limit = percent / 100.0 / usual.judged.max(1) as f64;
    let mut kept = Kept::default();
    let mut with: BTreeSet<_> = BTreeSet::new();
    let mut grouping = Grouping::new(main);
    each_visit(run, events, |visit| {
        if visit.interval.visits != 1 {
            return;
        }
        let Some((modes, like, group)) = usual.of(&grouping.of(visit)) else { return };
        #[expect(clippy::cast_precision_loss, reason = "visits are shorter than 104 days")]
        let ns = length(visit) as f64;
        let Some((probability, expected)) = judged(modes, ns) else { return };
        let matters = LEAST.max(LEAST_PART * expected) <= ns - expected;
        if matters && probability < limit {
            with.insert(group);
            kept.add(Anomaly::of(visit, (expected, like), probability));
        }
    })?;
    Ok(Anomalies {
        judged: usual.judged,
        not_judged: usual.not_judged + several,
        groups: usual.groups,
        groups_with: with.len() as u64,
        ..kept.finish()
    })
}
