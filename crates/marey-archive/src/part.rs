//! Writing one Parquet file of a table.
//!
//! The one idea: rows are encoded as they come. Each column has its own encoder and its own
//! buffer of encoded pages; when a row group is full, the buffers are put into the file one after
//! the other. So a writer holds a row group in its encoded form, 4 bytes a row for intervals,
//! where handing complete row groups to Parquet would hold 40.
//!
//! Parts are not synced to the disk one by one: the merge does that once, before it removes the spools
//! that they were made from.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::properties::{
    DeltaBinaryPackedEncoderOptions, EnabledStatistics, WriterProperties, WriterPropertiesPtr,
};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, SchemaDescPtr, SchemaDescriptor, Type};
use rayon::prelude::*;

use crate::columns::Columns;
use crate::part::encoder::Encoder;
use crate::schema::{Kind, TableSpec};
use crate::{Aside, Error};

mod chunk;
mod dictionary;
mod encoder;
mod page;
mod runs;
mod tail;

pub use tail::Tail;

/// Rows of a data page: what a reader that looks for a few rows has to decode.
pub(crate) const PAGE_ROWS: usize = 1 << 11;
/// Rows of a row group: what other readers hand to one thread.
const GROUP_ROWS: usize = 1 << 20;
/// Bytes that are written to the file at a time.
const OUT_BYTES: usize = 256 << 10;
/// Deltas that share a minimum, and deltas that share a width: the smallest that the format has,
/// because times have outliers. (With 1024 and 128 a start takes 8 % more, a duration 35 %.)
const BLOCK_VALUES: usize = 128;
const MINI_BLOCK_VALUES: usize = 32;

/// Writes one file. It appears under its name when [`PartWriter::finish`] succeeds, never before.
pub struct PartWriter {
    spec: &'static TableSpec,
    path: PathBuf,
    aside: Aside,
    file: SerializedFileWriter<BufWriter<File>>,
    schema: SchemaDescPtr,
    properties: WriterPropertiesPtr,
    encoders: Vec<Encoder>,
    /// Memory of the last row group's pages, for those of the next.
    spare: Vec<Vec<u8>>,
    group_rows: usize,
    /// Where the last page ends, when all are written.
    pages_end: u64,
    stats: PartStats,
}

/// What a finished file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PartStats {
    /// Number of rows.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
    /// Earliest begin and latest end of its rows, ns since the start of the run; `None` if the
    /// table has no times or all of them are missing.
    pub span: Option<(i64, i64)>,
    /// What stands behind its pages.
    pub tail: Tail,
}

/// Writes all rows of a table that is one file, `dir/TABLE.parquet`.
pub fn write_table(dir: &Path, rows: &Columns) -> Result<PartStats, Error> {
    let mut writer = PartWriter::create(&dir.join(rows.spec().file(0, 0)), rows.spec())?;
    writer.write(rows)?;
    writer.finish()
}

impl PartWriter {
    /// Begins the file `path`, making its directory if need be.
    pub fn create(path: &Path, spec: &'static TableSpec) -> Result<Self, Error> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(Error::io(dir))?;
        }
        let (aside, out) = Aside::alone(path).map_err(Error::io(path))?;
        // Parquet hands over 8 KiB at a time.
        let out = BufWriter::with_capacity(OUT_BYTES, out);
        let root = Arc::new(parquet_schema(spec).map_err(Error::parquet(path))?);
        let properties = Arc::new(properties(spec));
        let file = SerializedFileWriter::new(out, Arc::clone(&root), Arc::clone(&properties))
            .map_err(Error::parquet(path))?;
        let schema = Arc::new(SchemaDescriptor::new(root));
        let path = path.to_owned();
        let stats = PartStats::default();
        Ok(Self {
            spec,
            path,
            aside,
            file,
            schema,
            properties,
            encoders: Vec::new(),
            spare: Vec::new(),
            group_rows: 0,
            pages_end: 0,
            stats,
        })
    }

    /// Appends rows, in all columns of the table.
    pub fn write(&mut self, rows: &Columns) -> Result<(), Error> {
        let expected = self.spec.columns.len();
        if rows.columns().len() != expected || !std::ptr::eq(rows.spec(), self.spec) {
            let found = rows.columns().len();
            return Err(Error::WrongWidth { table: self.spec.name, expected, found });
        }
        let mut first = 0;
        while first < rows.len() {
            // Pages end at multiples of their size whatever the sizes of the batches, so that the
            // same rows make the same bytes.
            let room = PAGE_ROWS - self.group_rows % PAGE_ROWS;
            let end = rows.len().min(first + room);
            self.write_rows(rows, first, end)?;
            first = end;
        }
        self.stats.rows += rows.len() as u64;
        self.stats.span = join(self.stats.span, columns_span(self.spec, rows)?);
        Ok(())
    }

    /// Lets pages be encoded in memory that another part of the table has left.
    pub(crate) fn reuse(&mut self, spare: Vec<Vec<u8>>) {
        self.spare = spare;
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<PartStats, Error> {
        self.finish_sparing().map(|(stats, _)| stats)
    }

    /// The same, and the memory that pages were encoded in.
    pub(crate) fn finish_sparing(mut self) -> Result<(PartStats, Vec<Vec<u8>>), Error> {
        self.end_group()?;
        self.pages_end = self.file.bytes_written() as u64;
        self.file.finish().map_err(Error::parquet(&self.path))?;
        self.stats.bytes = self.file.bytes_written() as u64;
        self.stats.tail = self.tail().map_err(Error::io(&self.path))?;
        self.aside.put(&self.path).map_err(Error::io(&self.path))?;
        Ok((self.stats, self.spare))
    }

    /// What the library has put behind the pages.
    fn tail(&self) -> io::Result<Tail> {
        let mut file = File::open(self.aside.path())?;
        file.seek(SeekFrom::Start(self.pages_end))?;
        Tail::of(file)
    }

    fn write_rows(&mut self, rows: &Columns, first: usize, end: usize) -> Result<(), Error> {
        if self.encoders.is_empty() {
            // Row groups are alike, so each column gets back the memory it needed the last time.
            self.spare.resize(self.spec.columns.len(), Vec::new());
            let columns = self.schema.columns().iter().zip(self.spare.drain(..)).enumerate();
            self.encoders = columns
                .map(|(place, (column, spare))| {
                    Encoder::new(self.spec, place, column.clone(), self.properties.clone(), spare)
                })
                .collect();
        }
        // A merge writes but few parts at a time; whoever else has nothing to do helps with the columns.
        let columns = self.encoders.par_iter_mut().zip(rows.columns());
        let done = if rayon::current_thread_index().is_some() {
            columns.try_for_each(|(encoder, column)| encoder.write(column, first, end))
        } else {
            self.encoders
                .iter_mut()
                .zip(rows.columns())
                .try_for_each(|(encoder, column)| encoder.write(column, first, end))
        };
        done.map_err(Error::parquet(&self.path))?;
        self.group_rows += end - first;
        if self.group_rows >= GROUP_ROWS {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<(), Error> {
        if self.encoders.is_empty() {
            return Ok(());
        }
        let encoders = std::mem::take(&mut self.encoders);
        self.group_rows = 0;
        self.spare = put_group(&mut self.file, encoders).map_err(Error::parquet(&self.path))?;
        Ok(())
    }
}

/// Puts encoded columns into the file and returns the memory they were encoded in.
fn put_group(
    file: &mut SerializedFileWriter<BufWriter<File>>,
    encoders: Vec<Encoder>,
) -> Result<Vec<Vec<u8>>, ParquetError> {
    let mut group = file.next_row_group()?;
    let mut spare = Vec::with_capacity(encoders.len());
    for encoder in encoders {
        let (bytes, closed) = encoder.close()?;
        group.append_column(&bytes, closed)?;
        // Nobody else holds them any more, so this does not copy.
        spare.push(Vec::from(bytes));
    }
    group.close()?;
    Ok(spare)
}

/// The table as Parquet describes it.
fn parquet_schema(spec: &TableSpec) -> Result<Type, ParquetError> {
    let column = |column: &crate::schema::ColumnSpec| {
        let (physical, logical) = match column.kind {
            Kind::U32 => (Physical::INT32, Some(LogicalType::integer(32, false))),
            Kind::I64 => (Physical::INT64, None),
            Kind::F64 => (Physical::DOUBLE, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let required = Type::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical);
        required.build().map(Arc::new)
    };
    let fields = spec.columns.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder(spec.name).with_fields(fields).build()
}

fn properties(spec: &TableSpec) -> WriterProperties {
    let blocks = DeltaBinaryPackedEncoderOptions::try_new(BLOCK_VALUES, BLOCK_VALUES / MINI_BLOCK_VALUES)
        .expect("block sizes are multiples of what the format demands");
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("marey version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_compression(Compression::LZ4_RAW)
        .set_dictionary_enabled(false);
    for column in spec.columns {
        let path = ColumnPath::from(column.name);
        properties = match column.kind {
            // LZ4 finds next to nothing in packed deltas: 4.30 instead of 4.34 bytes per interval,
            // for a tenth of the speed.
            Kind::I64 if column.grows => properties
                .set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED)
                .set_column_delta_binary_packed_encoder_options(path.clone(), blocks)
                .set_column_compression(path, Compression::UNCOMPRESSED),
            // Numbers of things come in patterns, as the program's loops have them: deltas would take
            // as many bits as there are numbers. Among amounts, one long interval would widen the
            // deltas of a hundred around it. The upper bytes of most are alike.
            Kind::U32 | Kind::I64 | Kind::F64 => {
                properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT)
            }
            Kind::Text => properties.set_column_dictionary_enabled(path, true),
        };
    }
    properties.build()
}

/// Earliest begin and latest end of some rows.
fn columns_span(spec: &'static TableSpec, rows: &Columns) -> Result<Option<(i64, i64)>, Error> {
    let mut span = None;
    for time in spec.times {
        let begins = rows.i64(time.begin)?;
        let known = |begin: i64| begin >= 0;
        let begins = begins.iter().copied();
        let mut found = None;
        match (time.duration, time.bucket_log2) {
            (Some(duration), _) => {
                let pairs = begins.zip(rows.i64(duration)?).filter(|(begin, _)| known(*begin));
                pairs.for_each(|(begin, &duration)| {
                    found = join(found, Some((begin, begin.saturating_add(duration.max(0)))));
                });
            }
            (None, Some(log2)) => {
                let pairs = begins.zip(rows.u32(log2)?).filter(|(begin, _)| known(*begin));
                pairs.for_each(|(number, &log2)| {
                    let at = |number: i64| {
                        number
                            .saturating_mul(1_i64.checked_shl(log2).filter(|it| *it > 0).unwrap_or(i64::MAX))
                    };
                    found = join(found, Some((at(number), at(number.saturating_add(1)))));
                });
            }
            (None, None) => {
                begins
                    .filter(|&begin| known(begin))
                    .for_each(|begin| found = join(found, Some((begin, begin))));
            }
        }
        span = join(span, found);
    }
    Ok(span)
}

fn join(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (one, other) => one.or(other),
    }
}
