//! A column of one row group whose values mostly repeat: as runs.
//!
//! The one idea: as long as a column consists of few runs of equal values, only these are kept, and at
//! the end of the row group they become pages of Parquet's own encoding for runs, which any reader
//! knows. A column that turns out not to be like that goes on as an ordinary one ([`super::encoder`]).
//! Locations in sorted rows, depths, values that are missing throughout: they take next to no bytes
//! and no time this way.
//!
//! Deliberately absent: runs of texts and of floating-point numbers.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a row group has a million rows, and numbers are cut into bytes on purpose"
)]

use bytes::Bytes;
use parquet::basic::{BoundaryOrder, Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;
use rustc_hash::FxHashMap;

use super::PAGE_ROWS;

/// Runs that a column may have besides one for each [`ROWS_PER_RUN`] rows.
const FEW: usize = 256;
/// With shorter runs than that the ordinary encodings are as good.
const ROWS_PER_RUN: usize = 64;

/// A value of a column that can be kept as runs.
pub(super) trait Value: Copy + Ord {
    /// Its bytes as Parquet has them.
    fn bytes(self) -> Vec<u8>;
    /// The bounds of a column.
    fn bounds(min: Self, max: Self) -> Statistics;
}

impl Value for u32 {
    fn bytes(self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }

    fn bounds(min: Self, max: Self) -> Statistics {
        Statistics::int32(Some(min.cast_signed()), Some(max.cast_signed()), None, Some(0), false)
    }
}

impl Value for i64 {
    fn bytes(self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }

    fn bounds(min: Self, max: Self) -> Statistics {
        Statistics::int64(Some(min), Some(max), None, Some(0), false)
    }
}

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
                chunk.page(std::mem::replace(&mut page, PageOfRuns::new(width)), pages)?;
            }
            page.put(value, len, numbers[&value.bytes()]);
        }
        if page.rows > 0 {
            chunk.page(page, pages)?;
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
    bounds: Option<(T, T)>,
}

impl<T: Value> PageOfRuns<T> {
    fn new(width: u32) -> Self {
        Self { bytes: vec![width as u8], width, rows: 0, bounds: None }
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
        self.bounds = Some(around(self.bounds, (value, value)));
    }
}

/// The bounds of all values that two bounds are of.
fn around<T: Value>(known: Option<(T, T)>, new: (T, T)) -> (T, T) {
    known.map_or(new, |known| (known.0.min(new.0), known.1.max(new.1)))
}

/// What is to be said of the column when its pages have been written.
struct Chunk<T> {
    column: ColumnDescPtr,
    columns: ColumnIndexBuilder,
    offsets: OffsetIndexBuilder,
    encoding_stats: Vec<PageEncodingStats>,
    dictionary_at: i64,
    data_at: Option<i64>,
    compressed: usize,
    uncompressed: usize,
    written: u64,
    bounds: Option<(T, T)>,
    last: Option<(T, T)>,
    is_ascending: bool,
}

impl<T: Value> Chunk<T> {
    fn new(column: &ColumnDescPtr) -> Self {
        Self {
            column: column.clone(),
            columns: ColumnIndexBuilder::new(column.physical_type()),
            offsets: OffsetIndexBuilder::new(),
            encoding_stats: Vec::new(),
            dictionary_at: 0,
            data_at: None,
            compressed: 0,
            uncompressed: 0,
            written: 0,
            bounds: None,
            last: None,
            is_ascending: true,
        }
    }

    fn dictionary(&mut self, values: &[T], pages: &mut impl PageWriter) -> Result<(), ParquetError> {
        let buf: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        let page = Page::DictionaryPage {
            buf: Bytes::from(buf),
            num_values: values.len() as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        self.dictionary_at = self.put(page, pages)?.0;
        Ok(())
    }

    fn page(&mut self, page: PageOfRuns<T>, pages: &mut impl PageWriter) -> Result<(), ParquetError> {
        let (rows, bounds) = (page.rows, page.bounds);
        let page = Page::DataPage {
            buf: Bytes::from(page.bytes),
            num_values: rows as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let (at, size) = self.put(page, pages)?;
        self.data_at.get_or_insert(at);
        self.offsets.append_row_count(rows as i64);
        self.offsets.append_offset_and_size(at, size);
        if let Some((min, max)) = bounds {
            self.columns.append(false, min.bytes(), max.bytes(), 0, None);
            self.is_ascending &= self.last.is_none_or(|last| last.0 <= min && last.1 <= max);
            self.last = bounds;
            self.bounds = Some(around(self.bounds, (min, max)));
        }
        Ok(())
    }

    /// Writes a page. Where it lies, and its size there.
    fn put(&mut self, page: Page, pages: &mut impl PageWriter) -> Result<(i64, i32), ParquetError> {
        let (page_type, encoding, len) = (page.page_type(), page.encoding(), page.buffer().len());
        let spec = pages.write_page(CompressedPage::new(page, len))?;
        match self.encoding_stats.last_mut().filter(|stats| stats.page_type == page_type) {
            Some(stats) => stats.count += 1,
            None => self.encoding_stats.push(PageEncodingStats { page_type, encoding, count: 1 }),
        }
        self.compressed += spec.compressed_size;
        self.uncompressed += spec.uncompressed_size;
        self.written += spec.bytes_written;
        Ok((spec.offset as i64, spec.compressed_size as i32))
    }

    fn close(mut self, rows: usize) -> Result<ColumnCloseResult, ParquetError> {
        let order = if self.is_ascending { BoundaryOrder::ASCENDING } else { BoundaryOrder::UNORDERED };
        self.columns.set_boundary_order(order);
        let mut metadata = ColumnChunkMetaData::builder(self.column)
            .set_compression(Compression::UNCOMPRESSED)
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_page_encoding_stats(self.encoding_stats)
            .set_total_compressed_size(self.compressed as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_num_values(rows as i64)
            .set_dictionary_page_offset(Some(self.dictionary_at))
            .set_data_page_offset(self.data_at.unwrap_or(0));
        if let Some((min, max)) = self.bounds {
            metadata = metadata.set_statistics(T::bounds(min, max));
        }
        Ok(ColumnCloseResult {
            bytes_written: self.written,
            rows_written: rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: Some(self.columns.build()?),
            offset_index: Some(self.offsets.build()),
        })
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
