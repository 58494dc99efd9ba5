//! A column of one row group whose values mostly repeat: as runs.
//!
//! The one idea: as long as a column consists of few runs of equal values, only these are kept, and at
//! the end of the row group they become pages of Parquet's own encoding for runs, which any reader
//! knows. A column that turns out not to be like that goes on as an ordinary one ([`super::encoder`]).
//! Locations in sorted rows, depths, values that are missing throughout: they take next to no bytes
//! and no time this way.
//!
//! Deliberately absent: runs of texts and of floating-point numbers.

#![expect(clippy::cast_possible_truncation, reason = "numbers are cut into bytes on purpose")]

use parquet::column::page::PageWriter;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescPtr;
use rustc_hash::FxHashMap;

use super::PAGE_ROWS;
use super::chunk::{Bounds, Chunk, Value};

/// Runs that a column may have besides one for each [`ROWS_PER_RUN`] rows.
const FEW: usize = 256;
/// With shorter runs than that the ordinary encodings are as good.
const ROWS_PER_RUN: usize = 64;

/// The runs of a column: value and length.
pub(super) struct Runs<T> {
    runs: Vec<(T, usize)>,
    rows: usize,
}

impl<T: Value> Runs<T> {
    pub(super) fn new() -> Self {
        Self { runs: Vec::new(), rows: 0 }
    }

    /// Appends values. False if the column is not one of long runs; the values have been appended all
    /// the same, as far as [`Self::values`] gives them.
    pub(super) fn push(&mut self, mut values: &[T]) -> bool {
        while let Some(&value) = values.first() {
            let len = run_len(values);
            match self.runs.last_mut() {
                Some(last) if last.0 == value => last.1 += len,
                _ => self.runs.push((value, len)),
            }
            self.rows += len;
            values = &values[len..];
            if self.runs.len() > FEW + self.rows / ROWS_PER_RUN {
                return false;
            }
        }
        true
    }

    /// All values so far.
    pub(super) fn values(&self) -> impl Iterator<Item = T> {
        self.runs.iter().flat_map(|&(value, len)| std::iter::repeat_n(value, len))
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Writes the column.
    pub(super) fn close(
        self,
        column: &ColumnDescPtr,
        pages: &mut impl PageWriter,
    ) -> Result<ColumnCloseResult, ParquetError> {
        let mut values: Vec<T> = Vec::new();
        let mut numbers = FxHashMap::default();
        for &(value, _) in &self.runs {
            numbers.entry(value.bytes()).or_insert_with(|| {
                values.push(value);
                values.len() as u64 - 1
            });
        }
        let mut chunk = Chunk::new(column);
        chunk.dictionary(&values, pages)?;
        // No bits at all for a single value would be allowed, but not every reader knows that.
        let width = (values.len().max(2) - 1).ilog2() + 1;
        let mut page = PageOfRuns::new(width);
        for &(value, len) in &self.runs {
            // A long run is a page alone: its bounds leave nothing open, and one is enough.
            if page.rows > 0 && (len >= PAGE_ROWS || page.rows + len > PAGE_ROWS) {
                std::mem::replace(&mut page, PageOfRuns::new(width)).write(&mut chunk, pages)?;
            }
            page.put(value, len, numbers[&value.bytes()]);
        }
        if page.rows > 0 {
            page.write(&mut chunk, pages)?;
        }
        chunk.close(self.rows)
    }
}

/// How many values at the beginning are equal.
fn run_len<T: Value>(values: &[T]) -> usize {
    let Some(&first) = values.first() else { return 0 };
    // Block by block without an early end, which the compiler turns into wide comparisons.
    let blocks = values.chunks_exact(64).take_while(|block| {
        let differ = block.iter().fold(false, |differ, &value| differ | (value != first));
        !differ
    });
    let len = blocks.count() * 64;
    len + values[len..].iter().take_while(|&&value| value == first).count()
}

/// A page on the way.
struct PageOfRuns<T> {
    bytes: Vec<u8>,
    /// Bits of a number.
    width: u32,
    rows: usize,
    bounds: Bounds<T>,
}

impl<T: Value> PageOfRuns<T> {
    fn new(width: u32) -> Self {
        Self { bytes: vec![width as u8], width, rows: 0, bounds: Bounds::default() }
    }

    fn write(self, chunk: &mut Chunk<T>, pages: &mut impl PageWriter) -> Result<(), ParquetError> {
        chunk.page(self.bytes, self.rows, self.bounds, pages)
    }

    /// Adds a run of the value with this number, as Parquet's hybrid of runs and packed values has it.
    fn put(&mut self, value: T, len: usize, number: u64) {
        let mut head = (len as u64) << 1;
        while head >= 0x80 {
            self.bytes.push(head as u8 | 0x80);
            head >>= 7;
        }
        self.bytes.push(head as u8);
        self.bytes.extend_from_slice(&number.to_le_bytes()[..self.width.div_ceil(8) as usize]);
        self.rows += len;
        self.bounds.add(value, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_across_blocks_and_batches() {
        let mut runs = Runs::new();
        let values: Vec<u32> = [(7, 130), (8, 1), (7, 64)].iter().flat_map(|&(v, n)| vec![v; n]).collect();
        assert!(runs.push(&values[..100]) && runs.push(&values[100..]));
        assert_eq!(runs.runs, [(7, 130), (8, 1), (7, 64)]);
        assert!(runs.values().eq(values.iter().copied()));
    }

    #[test]
    fn a_column_without_runs_is_given_up() {
        let values: Vec<i64> = (0..10_000).collect();
        let mut runs = Runs::new();
        assert!(!runs.push(&values));
        // What it holds are the first values, so that the others can follow.
        assert!(runs.len() < 1000 && runs.values().eq(values[..runs.len()].iter().copied()));
    }
}
