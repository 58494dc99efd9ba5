//! How much time each location spent on which level.
//!
//! The one idea: exclusive times of the run's own profile, so that levels add up to the time that was recorded at all.

use marey_analyze::Trace;

use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::LevelsHead;

pub(super) fn answer(run: &Opened<'_>) -> Vec<u8> {
    let paths = run.trace.call_paths();
    let width = run.head.levels.len();
    let mut exclusive = vec![0_i64; run.trace.locations().len() * width];
    for row in run.trace.profile() {
        let region = paths.get(row.call_path.idx()).and_then(|path| run.head.regions.get(path.region.idx()));
        let Some(level) = region.map(|region| region.level as usize).filter(|level| *level < width) else {
            continue;
        };
        if let Some(sum) = exclusive.get_mut(row.location.idx() * width + level) {
            *sum += row.exclusive.0;
        }
    }
    let mut columns = Columns::default();
    columns.f64("exclusive", exclusive.into_iter().map(float));
    columns.frame("levels", &LevelsHead { levels: u32::try_from(width).unwrap_or(u32::MAX) })
}
