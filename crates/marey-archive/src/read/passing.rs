//! Which rows of a batch pass filters.
//!
//! The one idea: tables are sorted, so rows that pass lie together; they are told as runs, so that columns are cut to them by
//! moving pieces, and what lies between need not be decoded at all.

use std::ops::Range;

use super::{Asked, Subject};
use crate::columns::Column;

/// Rows that pass, in runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Passing {
    /// How many.
    pub(super) rows: usize,
    /// Counted from the first row of the batch.
    pub(super) in_batch: Vec<Range<usize>>,
    /// Counted from the first row of the group.
    pub(super) in_group: Vec<Range<usize>>,
}

impl Passing {
    /// The rows to keep of a batch that consists of some ranges of rows of a group.
    pub(super) fn of(keep: &[bool], ranges: &[Range<usize>]) -> Self {
        let mut passing = Self { rows: 0, in_batch: Vec::new(), in_group: Vec::new() };
        let mut begin = 0;
        for range in ranges {
            let end = (begin + range.len()).min(keep.len());
            let mut at = begin;
            while let Some(first) = next(keep, at..end, true) {
                let behind = next(keep, first..end, false).unwrap_or(end);
                passing.rows += behind - first;
                passing.in_batch.push(first..behind);
                passing.in_group.push(range.start + (first - begin)..range.start + (behind - begin));
                at = behind;
            }
            begin = end;
        }
        passing
    }

    /// Whether so short pieces pass that all is sooner decoded than one piece after the other.
    pub(super) fn is_scattered(&self) -> bool {
        /// To skip and begin anew takes as long as some dozen values.
        const SHORT: usize = 32;
        self.in_batch.len() > 4 && self.rows < SHORT * self.in_batch.len()
    }
}

/// The first row in a range that is to be kept, or not.
fn next(keep: &[bool], range: Range<usize>, wanted: bool) -> Option<usize> {
    let found = keep.get(range.clone())?.iter().position(|it| *it == wanted)?;
    Some(range.start + found)
}

/// For each of so many rows, whether it passes all filters. `of` hands out columns by their place in the table.
pub(super) fn matches<'c>(
    rows: usize,
    filters: &[Asked],
    of: impl Fn(usize) -> Option<&'c Column>,
) -> Vec<bool> {
    let mut keep = vec![true; rows];
    for (subject, range) in filters {
        match *subject {
            Subject::Column(place) => match of(place) {
                Some(Column::U32(values)) => {
                    let least = u32::try_from(range.start.max(0)).unwrap_or(u32::MAX);
                    // The last that passes; below the first none does.
                    let most = range.end.saturating_sub(1).min(i64::from(u32::MAX));
                    match u32::try_from(most) {
                        Ok(most) if range.start <= most.into() => {
                            keep.iter_mut()
                                .zip(values)
                                .for_each(|(keep, &value)| *keep &= least <= value && value <= most);
                        }
                        _ => keep.fill(false),
                    }
                }
                Some(Column::I64(values)) => {
                    let (start, end) = (range.start, range.end);
                    keep.iter_mut()
                        .zip(values)
                        .for_each(|(keep, &value)| *keep &= start <= value && value < end);
                }
                Some(Column::F64(_) | Column::Text(_)) | None => {}
            },
            Subject::End { begin, duration } => {
                let (Some(Column::I64(begins)), Some(Column::I64(durations))) = (of(begin), of(duration))
                else {
                    continue;
                };
                let (start, end) = (range.start, range.end);
                let ends = begins.iter().zip(durations).map(|(begin, took)| begin.saturating_add(*took));
                keep.iter_mut().zip(ends).for_each(|(keep, it)| *keep &= start <= it && it < end);
            }
        }
    }
    keep
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_pass_are_runs_of_the_batch_and_of_the_group() {
        let keep = "##..#.###".chars().map(|it| it == '#').collect::<Vec<_>>();
        let found = Passing::of(&keep, &[100..105, 200..204]);
        assert_eq!(found.rows, 6);
        assert_eq!(found.in_batch, [0..2, 4..5, 6..9]);
        assert_eq!(found.in_group, [100..102, 104..105, 201..204]);
        // Neighbours in the batch need not be neighbours in the group.
        assert_eq!(Passing::of(&[true; 4], &[0..2, 7..9]).in_group, [0..2, 7..9]);
    }

    #[test]
    fn columns_are_cut_to_runs() {
        let runs = [1..3, 4..5];
        let mut numbers = Column::U32(vec![0, 1, 2, 3, 4, 5]);
        numbers.keep(&runs);
        assert_eq!(numbers, Column::U32(vec![1, 2, 4]));
        let mut texts = Column::Text(["a", "b", "c", "d", "e"].map(str::to_owned).to_vec());
        texts.keep(&runs);
        assert_eq!(texts, Column::Text(["b", "c", "e"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn bounds_of_filters_may_lie_outside_of_their_columns() {
        let ids = Column::U32(vec![0, 7, u32::MAX]);
        let check = |range: Range<i64>, expected: [bool; 3]| {
            let found = matches(3, &[(Subject::Column(0), range.clone())], |_| Some(&ids));
            assert_eq!(found, expected, "{range:?}");
        };
        check(i64::MIN..i64::MAX, [true; 3]);
        check(-5..1, [true, false, false]);
        check(-5..0, [false; 3]);
        check(7..8, [false, true, false]);
        check(i64::from(u32::MAX)..i64::from(u32::MAX) + 1, [false, false, true]);
        check(i64::from(u32::MAX) + 1..i64::MAX, [false; 3]);
        check(9..9, [false; 3]);
    }
}
