//! What the index of a file says of its pages: where they begin, and the least and the greatest of their values.
//!
//! The one idea: a page that cannot hold what is asked for is not read, and one that holds nothing else is not looked at again.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

/// By group and column of the table; `None` = the file does not say.
pub(super) type KnownBounds = FxHashMap<(usize, usize), Option<Arc<Bounds>>>;

/// Of pages their first rows, and their least and greatest values.
#[derive(Debug)]
pub(super) struct Bounds {
    pub(super) firsts: Vec<usize>,
    pub(super) bounds: Vec<(i64, i64)>,
}

impl Bounds {
    /// The rows of each page, of so many, and its bounds.
    pub(super) fn pages(&self, rows: usize) -> impl Iterator<Item = (Range<usize>, (i64, i64))> {
        let ends = self.firsts.iter().copied().skip(1).chain([rows]);
        self.firsts.iter().copied().zip(ends).map(|(first, end)| first..end).zip(self.bounds.iter().copied())
    }
}

/// The least and the greatest value on pages that hold some of the rows from `first` to `end`: pages of two columns need not
/// begin at the same rows, and of a column with one value there is one page.
pub(super) fn within(Bounds { firsts, bounds }: &Bounds, (first, end): (usize, usize)) -> Option<(i64, i64)> {
    let from = firsts.partition_point(|page| *page <= first).checked_sub(1)?;
    let behind = firsts.partition_point(|page| *page < end).max(from + 1);
    let join = |a: (i64, i64), b: (i64, i64)| (a.0.min(b.0), a.1.max(b.1));
    bounds.get(from..behind)?.iter().copied().reduce(join)
}
