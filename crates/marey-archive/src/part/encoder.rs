//! Encoding of one column of one row group into memory.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::columns::Column;
use crate::schema::Kind;

/// One column of the row group at hand.
pub(super) struct Encoder {
    writer: Writer,
    pages: Pages,
}

enum Writer {
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
    /// Encodes into `buffer`, whose memory may come from another column.
    pub(super) fn new(
        kind: Kind,
        column: ColumnDescPtr,
        properties: WriterPropertiesPtr,
        mut buffer: Vec<u8>,
    ) -> Self {
        buffer.clear();
        let pages = Pages(Arc::new(Mutex::new(TrackedWrite::new(buffer))));
        let sink = Box::new(pages.clone());
        let writer = match kind {
            Kind::U32 => Writer::U32(Box::new(ColumnWriterImpl::new(column, properties, sink)), Vec::new()),
            Kind::I64 => Writer::I64(Box::new(ColumnWriterImpl::new(column, properties, sink))),
            Kind::F64 => Writer::F64(Box::new(ColumnWriterImpl::new(column, properties, sink))),
            Kind::Text => Writer::Text(Box::new(ColumnWriterImpl::new(column, properties, sink)), Vec::new()),
        };
        Self { writer, pages }
    }

    /// Appends the values from `first` to before `end`.
    pub(super) fn write(&mut self, column: &Column, first: usize, end: usize) -> Result<(), ParquetError> {
        match (&mut self.writer, column) {
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

    /// The encoded bytes, and where in them what lies.
    pub(super) fn close(self) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let closed = match self.writer {
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

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec, ParquetError> {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A page writer has no state besides its sink, so a new one for each page costs nothing.
        SerializedPageWriter::new(&mut *sink).write_page(page)
    }

    fn close(&mut self) -> Result<(), ParquetError> {
        Ok(())
    }
}
