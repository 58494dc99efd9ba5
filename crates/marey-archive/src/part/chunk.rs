//! A column of one row group whose pages are numbers into a dictionary, and what the footer says of it.
//!
//! The one idea: Parquet's own encoding for dictionaries, which any reader knows, made of pages that
//! others have laid out: as runs (`runs`) or packed (`dictionary`).

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a row group has a million rows, and its pages are far below 2 GiB"
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

/// What is to be said of a column when its pages have been written.
pub(super) struct Chunk<T> {
    column: ColumnDescPtr,
    columns: ColumnIndexBuilder,
    offsets: OffsetIndexBuilder,
    encoding_stats: Vec<PageEncodingStats>,
    dictionary_at: i64,
    data_at: Option<i64>,
    compressed: usize,
    uncompressed: usize,
    written: u64,
    bounds: Bounds<T>,
    last: Bounds<T>,
    is_ascending: bool,
}

impl<T: Value> Chunk<T> {
    pub(super) fn new(column: &ColumnDescPtr) -> Self {
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
            bounds: Bounds::default(),
            last: Bounds::default(),
            is_ascending: true,
        }
    }

    /// Writes the values that numbers in pages stand for: the first page of all.
    pub(super) fn dictionary(
        &mut self,
        values: &[T],
        pages: &mut impl PageWriter,
    ) -> Result<(), ParquetError> {
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

    /// Writes a page of numbers: the width of one and Parquet's hybrid of runs and packed numbers.
    pub(super) fn page(
        &mut self,
        numbers: Vec<u8>,
        rows: usize,
        bounds: Bounds<T>,
        pages: &mut impl PageWriter,
    ) -> Result<(), ParquetError> {
        let page = Page::DataPage {
            buf: Bytes::from(numbers),
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
        if let Bounds(Some((min, max))) = bounds {
            self.columns.append(false, min.bytes(), max.bytes(), 0, None);
            self.is_ascending &= self.last.0.is_none_or(|last| last.0 <= min && last.1 <= max);
            self.last = bounds;
            self.bounds.add(min, max);
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

    /// All pages are written.
    pub(super) fn close(mut self, rows: usize) -> Result<ColumnCloseResult, ParquetError> {
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
        if let Bounds(Some((min, max))) = self.bounds {
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

/// The least and the greatest of some values; `None` of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds<T>(pub Option<(T, T)>);

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Value> Bounds<T> {
    /// Takes in values that lie between these two, which are among them.
    pub(super) fn add(&mut self, least: T, greatest: T) {
        let known = self.0.unwrap_or((least, greatest));
        self.0 = Some((known.0.min(least), known.1.max(greatest)));
    }
}

/// A value that a dictionary can hold.
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
