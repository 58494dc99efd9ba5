//! Reading one Parquet file of a table.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use parquet::basic::Type as Physical;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;

use crate::Error;
use crate::columns::{Column, Columns};
use crate::schema::{Kind, TableSpec};
use crate::store::Section;

/// Rows of a batch: some pages, so that a scan stays in the caches.
const BATCH_ROWS: usize = 1 << 16;

/// One file, open.
pub(super) struct PartFile {
    path: PathBuf,
    spec: &'static TableSpec,
    reader: SerializedFileReader<Section>,
    /// For each column of the table, which column of the file it is.
    places: Vec<Option<usize>>,
    /// The version of the schema that it was written by.
    version: u32,
}

/// The chosen rows and columns of one row group.
pub(super) struct GroupRows<'a> {
    file: &'a PartFile,
    wanted: Vec<usize>,
    /// `None` for a column that is newer than the file.
    readers: Vec<Option<ColumnReader>>,
    /// Rows of the group still to be read.
    ranges: VecDeque<Range<usize>>,
    /// Rows of the group that were read or skipped.
    at: usize,
}

impl PartFile {
    pub(super) fn open(
        section: Section,
        path: PathBuf,
        spec: &'static TableSpec,
        version: u32,
        indexed: bool,
    ) -> Result<Self, Error> {
        let options = ReadOptionsBuilder::new();
        let options = if indexed { options.with_page_index() } else { options };
        let reader = guarded(&path, || SerializedFileReader::new_with_options(section, options.build()))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let place = |name: &str, physical: Physical| {
            schema.columns().iter().position(|column| {
                column.path().parts() == [name]
                    && column.physical_type() == physical
                    && column.max_def_level() == 0
                    && column.max_rep_level() == 0
            })
        };
        let places = spec.columns.iter().map(|column| place(column.name, physical(column.kind))).collect();
        Ok(Self { places, path, spec, reader, version })
    }

    /// Number of row groups.
    pub(super) fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// Rows that all groups have, by the footer.
    pub(super) fn rows(&self) -> Result<u64, Error> {
        let more = |sum: u64, group| Ok(sum.saturating_add(self.rows_of(group)? as u64));
        (0..self.groups()).try_fold(0, more)
    }

    /// Rows that a group has, by the footer.
    pub(super) fn rows_of(&self, group: usize) -> Result<usize, Error> {
        let claimed = self.reader.metadata().row_group(group).num_rows();
        usize::try_from(claimed).map_err(|_| Error::Damaged { path: self.path.clone() })
    }

    /// The rows of a group that may pass the filters.
    pub(super) fn read(
        &self,
        group: usize,
        wanted: &[usize],
        filters: &[(usize, Range<i64>)],
    ) -> Result<GroupRows<'_>, Error> {
        let rows = self.rows_of(group)?;
        let ranges = guarded(&self.path, || Ok(self.selected(group, rows, filters)))?;
        let mut readers = Vec::with_capacity(wanted.len());
        // Something must vouch for the number of rows that the footer claims.
        let newer = wanted.iter().filter(|&&place| self.places[place].is_none());
        if let (Some(&place), true) = (wanted.first(), newer.count() == wanted.len()) {
            return Err(self.foreign(place));
        }
        if !ranges.is_empty() {
            for &place in wanted {
                let Some(column) = self.column(place)? else {
                    readers.push(None);
                    continue;
                };
                let reader =
                    guarded(&self.path, || self.reader.get_row_group(group)?.get_column_reader(column))?;
                readers.push(Some(reader));
            }
        }
        Ok(GroupRows { file: self, wanted: wanted.to_vec(), readers, ranges, at: 0 })
    }

    /// Which column of the file it is; `None` if it is newer than the file.
    fn column(&self, place: usize) -> Result<Option<usize>, Error> {
        match self.places[place] {
            None if self.spec.columns[place].since <= self.version => Err(self.foreign(place)),
            found => Ok(found),
        }
    }

    fn foreign(&self, place: usize) -> Error {
        Error::ForeignColumn { path: self.path.clone(), column: self.spec.columns[place].name }
    }

    /// Rows of a group on pages whose bounds do not rule them out.
    fn selected(&self, group: usize, rows: usize, filters: &[(usize, Range<i64>)]) -> VecDeque<Range<usize>> {
        let mut selected = VecDeque::new();
        if rows > 0 {
            selected.push_back(0..rows);
        }
        for (place, range) in filters {
            if let Some(pages) = self.pages(group, rows, *place, range) {
                selected = intersection(&selected, &pages);
            }
        }
        selected
    }

    /// Row ranges of the pages of one column that may hold values in a range; `None` without an
    /// index.
    fn pages(
        &self,
        group: usize,
        rows: usize,
        place: usize,
        range: &Range<i64>,
    ) -> Option<VecDeque<Range<usize>>> {
        let column = self.places[place]?;
        let index = self.reader.metadata().page_index_for_row_group(group);
        let locations = index.page_locations(column)?;
        let bounds: Vec<(i64, i64)> = match index.column_index(column)? {
            // Unsigned values are stored as signed ones of the same bits.
            ColumnIndexMetaData::INT32(index) => {
                let value = |value: &i32| i64::from(value.cast_unsigned());
                index.min_values().iter().map(value).zip(index.max_values().iter().map(value)).collect()
            }
            ColumnIndexMetaData::INT64(index) => {
                index.min_values().iter().copied().zip(index.max_values().iter().copied()).collect()
            }
            _ => return None,
        };
        if bounds.len() != locations.len() {
            return None;
        }
        let firsts = locations.iter().map(|page| usize::try_from(page.first_row_index).unwrap_or(rows));
        let ends = firsts.clone().skip(1).chain([rows]);
        let mut pages: VecDeque<Range<usize>> = VecDeque::new();
        for ((first, end), (min, max)) in firsts.zip(ends).zip(bounds) {
            if max < range.start || range.end <= min || end <= first {
                continue;
            }
            match pages.back_mut() {
                Some(last) if last.end == first => last.end = end,
                _ => pages.push_back(first..end),
            }
        }
        Some(pages)
    }
}

impl GroupRows<'_> {
    /// The next rows; `None` behind the last.
    pub(super) fn next_batch(&mut self) -> Result<Option<Columns>, Error> {
        let ranges = self.next_ranges();
        if ranges.is_empty() {
            return Ok(None);
        }
        let mut columns = Vec::with_capacity(self.wanted.len());
        for (reader, &place) in self.readers.iter_mut().zip(&self.wanted) {
            let kind = self.file.spec.columns[place].kind;
            let expected: usize = ranges.iter().map(Range::len).sum();
            let column = match reader {
                Some(reader) => guarded(&self.file.path, || read_column(reader, self.at, &ranges, kind))?,
                None => Column::missing(kind, expected),
            };
            if column.len() != expected {
                let (expected, found) = (expected as u64, column.len() as u64);
                return Err(Error::MissingRows { path: self.file.path.clone(), expected, found });
            }
            columns.push(column);
        }
        self.at = ranges.last().map_or(self.at, |range| range.end);
        Columns::with_places(self.file.spec, self.wanted.clone(), columns).map(Some)
    }

    /// Takes the ranges of one batch.
    fn next_ranges(&mut self) -> Vec<Range<usize>> {
        let mut taken = Vec::new();
        let mut room = BATCH_ROWS;
        while room > 0 {
            let Some(range) = self.ranges.pop_front() else { break };
            let end = range.end.min(range.start.saturating_add(room));
            if end < range.end {
                self.ranges.push_front(end..range.end);
            }
            room -= end - range.start;
            taken.push(range.start..end);
        }
        taken
    }
}

/// The values of one column in some rows; fewer if the file ends before.
fn read_column(
    reader: &mut ColumnReader,
    mut at: usize,
    ranges: &[Range<usize>],
    kind: Kind,
) -> Result<Column, ParquetError> {
    let mut column = Stored::new(kind);
    for range in ranges {
        let skipped = column.skip(reader, range.start - at)?;
        if skipped != range.start - at {
            break;
        }
        column.read(reader, range.len())?;
        at = range.end;
    }
    column.into_column()
}

/// Values as they are stored.
enum Stored {
    U32(Vec<i32>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Stored {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::U32 => Self::U32(Vec::new()),
            Kind::I64 => Self::I64(Vec::new()),
            Kind::F64 => Self::F64(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
        }
    }

    fn skip(&self, reader: &mut ColumnReader, rows: usize) -> Result<usize, ParquetError> {
        match reader {
            ColumnReader::Int32ColumnReader(reader) => reader.skip_records(rows),
            ColumnReader::Int64ColumnReader(reader) => reader.skip_records(rows),
            ColumnReader::DoubleColumnReader(reader) => reader.skip_records(rows),
            ColumnReader::ByteArrayColumnReader(reader) => reader.skip_records(rows),
            _ => Err(foreign()),
        }
    }

    fn read(&mut self, reader: &mut ColumnReader, rows: usize) -> Result<(), ParquetError> {
        match (self, reader) {
            (Self::U32(values), ColumnReader::Int32ColumnReader(reader)) => {
                reader.read_records(rows, None, None, values)?;
            }
            (Self::I64(values), ColumnReader::Int64ColumnReader(reader)) => {
                reader.read_records(rows, None, None, values)?;
            }
            (Self::F64(values), ColumnReader::DoubleColumnReader(reader)) => {
                reader.read_records(rows, None, None, values)?;
            }
            (Self::Text(values), ColumnReader::ByteArrayColumnReader(reader)) => {
                reader.read_records(rows, None, None, values)?;
            }
            _ => return Err(foreign()),
        }
        Ok(())
    }

    fn into_column(self) -> Result<Column, ParquetError> {
        Ok(match self {
            // Reuses the memory of the signed values.
            Self::U32(values) => Column::U32(values.into_iter().map(i32::cast_unsigned).collect()),
            Self::I64(values) => Column::I64(values),
            Self::F64(values) => Column::F64(values),
            Self::Text(values) => {
                let text = |value: &ByteArray| value.as_utf8().map(str::to_owned);
                Column::Text(values.iter().map(text).collect::<Result<_, _>>()?)
            }
        })
    }
}

fn foreign() -> ParquetError {
    ParquetError::General("column of another type".to_owned())
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be one of Parquet's decoders on a damaged file, which becomes
/// an error. A panic hook that asks need not tell the user about it.
pub fn panics_are_caught() -> bool {
    GUARDED.get()
}

/// Runs something that trusts the file more than we do. Parquet's decoders check most of what they
/// read, but not all: on some damage they index out of bounds. That is a damaged file to us.
fn guarded<T>(path: &std::path::Path, read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Error> {
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(before);
    match done {
        Ok(done) => done.map_err(Error::parquet(path)),
        Err(_) => Err(Error::Damaged { path: path.to_owned() }),
    }
}

fn physical(kind: Kind) -> Physical {
    match kind {
        Kind::U32 => Physical::INT32,
        Kind::I64 => Physical::INT64,
        Kind::F64 => Physical::DOUBLE,
        Kind::Text => Physical::BYTE_ARRAY,
    }
}

/// Rows that lie in both; each is ascending and without overlaps.
fn intersection(a: &VecDeque<Range<usize>>, b: &VecDeque<Range<usize>>) -> VecDeque<Range<usize>> {
    let (mut i, mut j) = (0, 0);
    let mut both = VecDeque::new();
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        let (first, end) = (left.start.max(right.start), left.end.min(right.end));
        if first < end {
            both.push_back(first..end);
        }
        if left.end <= right.end {
            i += 1;
        } else {
            j += 1;
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_that_panics_has_read_a_damaged_file() {
        std::panic::set_hook(Box::new(|_| assert!(panics_are_caught())));
        let path = std::path::Path::new("part.parquet");
        let found: Result<(), Error> = guarded(path, || panic!("index out of bounds"));
        drop(std::panic::take_hook());
        assert!(matches!(found, Err(Error::Damaged { path }) if path.ends_with("part.parquet")));
        assert!(!panics_are_caught());
    }
}
