//! Encoding of one column of one row group into memory: as runs for as long as it consists of them,
//! durations with a dictionary for as long as they have few values.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::TrackedWrite;
use parquet::schema::types::ColumnDescPtr;

use super::PAGE_ROWS;
use super::dictionary::{Dictionary, Trial};
use super::page;
use super::runs::Runs;
use crate::columns::Column;
use crate::schema::{ColumnSpec, Kind, TableSpec};

/// One column of the row group at hand.
pub(super) struct Encoder {
    column: ColumnDescPtr,
    properties: WriterPropertiesPtr,
    is_duration: bool,
    writer: Writer,
    pages: Pages,
}

/// Values that are kept, or have been written.
enum Writer {
    U32Runs(Runs<u32>),
    I64Runs(Runs<i64>),
    Durations(Dictionary),
    U32(Box<ColumnWriterImpl<'static, Int32Type>>, Vec<i32>),
    I64(Box<ColumnWriterImpl<'static, Int64Type>>),
    F64(Box<ColumnWriterImpl<'static, DoubleType>>),
    Text(Box<ColumnWriterImpl<'static, ByteArrayType>>, Vec<ByteArray>),
}

/// The encoded pages. Shared, because Parquet keeps the page writer to itself and gives it back to
/// nobody; the lock is taken once a page and never contended.
#[derive(Clone)]
struct Pages(Arc<Mutex<TrackedWrite<Vec<u8>>>>);

impl Encoder {
    /// Encodes a column of the table into `buffer`, whose memory may come from another one.
    pub(super) fn new(
        spec: &'static TableSpec,
        place: usize,
        column: ColumnDescPtr,
        properties: WriterPropertiesPtr,
        mut buffer: Vec<u8>,
    ) -> Self {
        buffer.clear();
        let ColumnSpec { kind, name, .. } = spec.columns[place];
        let is_duration = spec.times.iter().any(|time| time.duration == Some(name));
        let pages = Pages(Arc::new(Mutex::new(TrackedWrite::new(buffer))));
        let writer = match kind {
            Kind::U32 => Writer::U32Runs(Runs::new()),
            Kind::I64 => Writer::I64Runs(Runs::new()),
            Kind::F64 => Writer::F64(pages.writer(&column, &properties)),
            Kind::Text => Writer::Text(pages.writer(&column, &properties), Vec::new()),
        };
        Self { column, properties, is_duration, writer, pages }
    }

    /// Appends the values from `first` to before `end`.
    pub(super) fn write(&mut self, column: &Column, first: usize, end: usize) -> Result<(), ParquetError> {
        match (&mut self.writer, column) {
            (Writer::U32Runs(runs), Column::U32(values)) => {
                let before = runs.len();
                if !runs.push(&values[first..end]) {
                    let mut writer = self.pages.writer(&self.column, &self.properties);
                    let mut scratch: Vec<i32> = runs.values().map(u32::cast_signed).collect();
                    let rest = first + runs.len() - before;
                    scratch.extend(values[rest..end].iter().map(|value| value.cast_signed()));
                    write_pages(&mut writer, &scratch)?;
                    self.writer = Writer::U32(writer, scratch);
                }
            }
            (Writer::I64Runs(runs), Column::I64(values)) => {
                let before = runs.len();
                if !runs.push(&values[first..end]) {
                    let rest = first + runs.len() - before;
                    let all: Vec<i64> = runs.values().chain(values[rest..end].iter().copied()).collect();
                    self.writer = self.without_runs(&all)?;
                }
            }
            (Writer::Durations(kept), Column::I64(values)) => {
                let before = kept.len();
                if !kept.push(&values[first..end]) {
                    let rest = first + kept.len() - before;
                    let all: Vec<i64> = kept.values().chain(values[rest..end].iter().copied()).collect();
                    self.writer = Writer::I64(self.ordinary(&all)?);
                }
            }
            (Writer::U32(writer, scratch), Column::U32(values)) => {
                scratch.clear();
                scratch.extend(values[first..end].iter().map(|value| value.cast_signed()));
                writer.write_batch(scratch, None, None)?;
            }
            (Writer::I64(writer), Column::I64(values)) => {
                writer.write_batch(&values[first..end], None, None)?;
            }
            (Writer::F64(writer), Column::F64(values)) => {
                writer.write_batch(&values[first..end], None, None)?;
            }
            (Writer::Text(writer, scratch), Column::Text(values)) => {
                scratch.clear();
                scratch.extend(values[first..end].iter().map(|value| ByteArray::from(value.as_str())));
                writer.write_batch(scratch, None, None)?;
            }
            _ => unreachable!("columns follow the table, and so do encoders"),
        }
        Ok(())
    }

    /// How a column of whole numbers goes on that does not consist of runs.
    fn without_runs(&self, all: &[i64]) -> Result<Writer, ParquetError> {
        if self.is_duration {
            let mut kept = Dictionary::new(self.trial(all)?);
            if kept.push(all) {
                return Ok(Writer::Durations(kept));
            }
        }
        Ok(Writer::I64(self.ordinary(all)?))
    }

    /// What the last of these values take in an ordinary column. The last, because the first may have been
    /// long runs.
    fn trial(&self, all: &[i64]) -> Result<Trial, ParquetError> {
        let values = &all[all.len().saturating_sub(PAGE_ROWS)..];
        let pages = Pages(Arc::new(Mutex::new(TrackedWrite::new(Vec::new()))));
        let mut writer = pages.writer::<Int64Type>(&self.column, &self.properties);
        write_pages(&mut writer, values)?;
        let bytes = writer.close()?.metadata.compressed_size();
        Ok(Trial { values: values.len(), bytes: usize::try_from(bytes).unwrap_or(0) })
    }

    /// An ordinary column that begins with these values.
    fn ordinary(&self, all: &[i64]) -> Result<Box<ColumnWriterImpl<'static, Int64Type>>, ParquetError> {
        let mut writer = self.pages.writer(&self.column, &self.properties);
        write_pages(&mut writer, all)?;
        Ok(writer)
    }

    /// The encoded bytes, and where in them what lies.
    pub(super) fn close(mut self) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        if let Writer::Durations(kept) = &self.writer
            && !kept.pays()
        {
            let all: Vec<i64> = kept.values().collect();
            self.writer = Writer::I64(self.ordinary(&all)?);
        }
        let closed = match self.writer {
            Writer::U32Runs(runs) => runs.close(&self.column, &mut self.pages)?,
            Writer::I64Runs(runs) => runs.close(&self.column, &mut self.pages)?,
            Writer::Durations(kept) => kept.close(&self.column, &mut self.pages)?,
            Writer::U32(writer, _) => writer.close()?,
            Writer::I64(writer) => writer.close()?,
            Writer::F64(writer) => writer.close()?,
            Writer::Text(writer, _) => writer.close()?,
        };
        let pages = Arc::into_inner(self.pages.0).expect("closing the column dropped the other handle");
        let bytes = pages.into_inner().unwrap_or_else(PoisonError::into_inner).into_inner()?;
        Ok((bytes.into(), closed))
    }
}

/// Writes values that were kept, page by page.
fn write_pages<T: DataType>(
    writer: &mut ColumnWriterImpl<'static, T>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    for page in values.chunks(PAGE_ROWS) {
        writer.write_batch(page, None, None)?;
    }
    Ok(())
}

impl Pages {
    /// An ordinary column that goes to these pages.
    fn writer<T: DataType>(
        &self,
        column: &ColumnDescPtr,
        properties: &WriterPropertiesPtr,
    ) -> Box<ColumnWriterImpl<'static, T>> {
        Box::new(ColumnWriterImpl::new(column.clone(), properties.clone(), Box::new(self.clone())))
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec, ParquetError> {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        page::write(&page, &mut sink)
    }

    fn close(&mut self) -> Result<(), ParquetError> {
        Ok(())
    }
}
