//! How much time each location spent in which region.
//!
//! The one idea: the sums of the run's own profile, so that nothing is read and all of it is exact.

use marey_analyze::Trace;

use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::SharesHead;

/// So many regions have a column, and as many numbers are sent at most.
const MOST_REGIONS: usize = 64;

pub(super) fn answer(run: &Opened<'_>) -> Vec<u8> {
    let paths = run.trace.call_paths();
    let region_of = |path: marey_model::CallPathId| paths.get(path.idx()).map(|path| path.region.idx());
    let mut totals = vec![0_i64; run.trace.regions().len()];
    for row in run.trace.profile() {
        if let Some(total) = region_of(row.call_path).and_then(|region| totals.get_mut(region)) {
            *total += row.exclusive.0;
        }
    }
    let mut order: Vec<usize> = (0..totals.len()).filter(|region| totals[*region] > 0).collect();
    order.sort_by_key(|region| (std::cmp::Reverse(totals[*region]), *region));
    let others = order.len().saturating_sub(MOST_REGIONS);
    order.truncate(MOST_REGIONS);
    // The last column is that of all others.
    let width = order.len() + 1;
    let mut column = vec![width - 1; totals.len()];
    order.iter().enumerate().for_each(|(place, region)| column[*region] = place);
    let is_outermost = outermost(run);
    let len = run.trace.locations().len() * width;
    let (mut exclusive, mut inclusive, mut visits) = (vec![0; len], vec![0; len], vec![0_u64; len]);
    for row in run.trace.profile() {
        let Some(region) = region_of(row.call_path).filter(|region| *region < totals.len()) else { continue };
        let at = row.location.idx() * width + column[region];
        let Some(own) = exclusive.get_mut(at) else { continue };
        *own += row.exclusive.0;
        visits[at] += row.visits;
        if is_outermost[row.call_path.idx()] {
            inclusive[at] += row.inclusive.0;
        }
    }
    let regions = order.iter().map(|region| u32::try_from(*region).unwrap_or(u32::MAX)).collect();
    let mut columns = Columns::default();
    columns.f64("exclusive", exclusive.into_iter().map(float));
    columns.f64("inclusive", inclusive.into_iter().map(float));
    columns.f64("visits", visits.into_iter().map(|visits| float(i64::try_from(visits).unwrap_or(i64::MAX))));
    columns.frame("shares", &SharesHead { regions, others: u32::try_from(others).unwrap_or(u32::MAX) })
}

/// By call path, whether its region is not around it already.
fn outermost(run: &Opened<'_>) -> Vec<bool> {
    let paths = run.trace.call_paths();
    let mut found = Vec::with_capacity(paths.len());
    for path in paths {
        let mut above = path.parent;
        let mut is_outermost = true;
        while let Some(around) = above.and_then(|above| paths.get(above.idx())) {
            if around.region == path.region {
                is_outermost = false;
                break;
            }
            above = around.parent;
        }
        found.push(is_outermost);
    }
    found
}
