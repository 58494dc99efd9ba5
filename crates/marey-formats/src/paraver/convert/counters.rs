//! Hardware counters: a trace has how much each has counted since it was read last, a run what it stands at.

use rustc_hash::FxHashMap;

/// No counter of a thread counts more in a ns. What Extrae writes of counters that could not be read is far beyond.
const MOST_PER_NS: i64 = 1000;
/// Times are not so exact that less would say anything, ns.
const LEAST_NS: i64 = 1000;

/// Where the counters stand.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// By track and type.
    totals: FxHashMap<(u32, i64), i64>,
    /// When those of a track were read last, ns.
    read: FxHashMap<u32, i64>,
    /// Differences that were not believed.
    pub discarded: u64,
}

impl Counters {
    /// Notes that the counters of a track are read now; when they were read before.
    pub(super) fn read(&mut self, track: u32, ns: i64) -> i64 {
        self.read.insert(track, ns).unwrap_or(0)
    }

    /// Where a counter stands after it has counted so much in a time.
    pub(super) fn add(&mut self, track: u32, kind: i64, difference: i64, ns: i64) -> f64 {
        let most = ns.max(LEAST_NS).saturating_mul(MOST_PER_NS);
        let is_likely = (-most..=most).contains(&difference);
        if !is_likely {
            self.discarded += 1;
        }
        let total = self.totals.entry((track, kind)).or_default();
        *total = total.saturating_add(if is_likely { difference } else { 0 });
        #[expect(clippy::cast_precision_loss, reason = "counters of a run are real numbers")]
        let value = *total as f64;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_summed_by_track_and_type() {
        let mut counters = Counters::default();
        assert_eq!((counters.read(0, 10), counters.read(0, 30), counters.read(1, 40)), (0, 10, 0));
        let sums = [(0, 5, 100), (0, 5, 50), (1, 5, 7), (0, 6, 8), (0, 5, -20)];
        let sums = sums.map(|(track, kind, difference)| counters.add(track, kind, difference, 10));
        assert_eq!(sums, [100.0, 150.0, 7.0, 8.0, 130.0]);
        assert_eq!(counters.discarded, 0);
        assert_eq!(counters.add(0, 5, 10_001 * MOST_PER_NS, 10_000), 130.0);
        assert_eq!(counters.discarded, 1);
    }
}
