//! Drawn runs with the sums of what is drawn.
//!
//! The one idea: sums of a drawing follow from its intervals in the most obvious way.

use marey_analyze::{Happenings, Interval, Trace};
use marey_testkit::Drawing;

use crate::made::Made;

impl Made {
    /// A drawing with its sums; its events stay with it.
    pub(crate) fn with_sums(drawing: &Drawing) -> Self {
        let mut made = Self {
            duration: drawing.duration(),
            regions: drawing.regions().to_vec(),
            call_paths: drawing.call_paths().to_vec(),
            processes: drawing.processes().to_vec(),
            locations: drawing.locations().to_vec(),
            ..Self::default()
        };
        let mut intervals: Vec<Interval> = Vec::new();
        for slab in 0..drawing.slabs().len() {
            drawing.intervals(slab, &mut |batch| intervals.extend_from_slice(batch)).expect("it is drawn");
        }
        for interval in &intervals {
            let length = interval.end - interval.start;
            let beneath: i64 = intervals
                .iter()
                .filter(|other| {
                    other.location == interval.location
                        && other.depth == interval.depth + 1
                        && interval.start <= other.start
                        && other.end <= interval.end
                })
                .map(|other| (other.end - other.start).0)
                .sum();
            made.visit(interval.call_path, interval.location, 1, length.0, length.0 - beneath, 0);
        }
        made
    }
}
