//! How single values are spread: durations of visits, sizes of what was moved.
//!
//! The one idea: a run has counts by powers of two, which simply add up. Where the bounds of a bin differ, because
//! processes count different clocks, the bin of all has the widest, so that what is said of it stays true.
//!
//! Deliberately absent: anything between the bounds. A quantile is a bound, not a guess.

use std::collections::BTreeMap;

use crate::trace::BinRow;

/// Counts of values by powers of two.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram {
    bins: BTreeMap<Option<u32>, Bin>,
    /// Values of which only the number is known.
    pub unknown: u64,
}

/// How many values there are in a range, ns or bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bin {
    /// The least value that belongs here.
    pub from: u64,
    /// The least value that is too large for it.
    pub to: u64,
    /// How many there are.
    pub number: u64,
}

impl Histogram {
    /// The bins that are not empty, from small to large.
    pub fn bins(&self) -> impl Iterator<Item = Bin> {
        self.bins.values().copied()
    }

    /// Adds what a row counts.
    pub(crate) fn add(&mut self, row: &BinRow) {
        let Some((log2, (from, to))) = row.bin else {
            self.unknown = self.unknown.saturating_add(row.number);
            return;
        };
        self.add_bin(log2, Bin { from, to, number: row.number });
    }

    /// Adds what another one counts.
    pub fn add_all(&mut self, other: &Self) {
        self.unknown = self.unknown.saturating_add(other.unknown);
        for (&log2, bin) in &other.bins {
            self.add_bin(log2, *bin);
        }
    }

    fn add_bin(&mut self, log2: Option<u32>, more: Bin) {
        let bin = self.bins.entry(log2).or_insert(Bin { number: 0, ..more });
        bin.from = bin.from.min(more.from);
        bin.to = bin.to.max(more.to);
        bin.number = bin.number.saturating_add(more.number);
    }

    /// What at least this part of all values, 0 to 1, lies below. `None` = that is not known, or there are none.
    #[expect(clippy::cast_precision_loss, reason = "a part of so many needs no more than 53 bits")]
    pub fn bound_of(&self, part: f64) -> Option<u64> {
        let known = self.bins().fold(0_u64, |sum, bin| sum.saturating_add(bin.number));
        let wanted = part * known.saturating_add(self.unknown) as f64;
        let mut passed = 0_u64;
        // Ranges may overlap where clocks differ.
        let mut bound = 0;
        for bin in self.bins() {
            passed = passed.saturating_add(bin.number);
            bound = bound.max(bin.to);
            if passed as f64 >= wanted {
                return Some(bound);
            }
        }
        None
    }
}
