//! How much time was spent in which call path in a span, of all locations together.
//!
//! The one idea: each visit adds what of it lies inside to its own path, and takes that from the path around it. What tree the
//! paths make, with functions between them, is the same for each span and stands in the report.

use marey_analyze::Trace;

use super::shares::visits_of;
use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{CallPathsHead, SpanOf};

/// Of a call path.
#[derive(Clone, Copy, Default, Debug)]
struct Sums {
    exclusive: i64,
    visits: u64,
}

pub(super) fn answer(run: &Opened<'_>, span: &SpanOf) -> Vec<u8> {
    let mut sums = vec![Sums::default(); run.trace.call_paths().len()];
    let read = visits_of(run, span, &mut |visit, path, inside| {
        let visit = &visit.interval;
        let own = &mut sums[visit.call_path.idx()];
        own.exclusive += inside;
        own.visits += u64::from(visit.visits);
        // Of damaged runs a visit may be there without that around it, which then has less than nothing.
        if let Some(around) = path.parent.and_then(|parent| sums.get_mut(parent.idx())) {
            around.exclusive -= inside;
        }
    });
    let found: Vec<(u32, Sums)> = (0..).zip(sums).filter(|(_, sums)| sums.visits > 0).collect();
    let mut columns = Columns::default();
    columns.u32("call_path", found.iter().map(|(path, _)| *path));
    columns.f64("exclusive", found.iter().map(|(_, it)| float(it.exclusive)));
    columns.f64("visits", found.iter().map(|(_, it)| float(i64::try_from(it.visits).unwrap_or(i64::MAX))));
    let is_whole = read.is_some();
    columns.frame("call-paths", &CallPathsHead { is_whole, damage: read.unwrap_or_default() })
}
