//! Reading one Parquet file of a table.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::Type as Physical;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;

use super::bounds::{Bounds, KnownBounds, within};
use super::passing::{Passing, matches};
use super::{Asked, Subject};
use crate::Error;
use crate::columns::{Column, Columns};
use crate::schema::{Kind, TableSpec};
use crate::store::Section;

/// Rows of a batch: a page or two, so that a scan stays in the caches, and its memory is not given back to the system and
/// asked for again at each batch.
const BATCH_ROWS: usize = 1 << 13;

/// One file, open.
pub(super) struct PartFile {
    path: PathBuf,
    spec: &'static TableSpec,
    reader: SerializedFileReader<Section>,
    /// For each column of the table, which column of the file it is.
    places: Vec<Option<usize>>,
    /// The version of the schema that it was written by.
    version: u32,
    /// Each question asks for those of the same few columns.
    bounds: Mutex<KnownBounds>,
}

impl std::fmt::Debug for PartFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The chosen rows and columns of one row group.
pub(super) struct GroupRows<'a> {
    file: &'a PartFile,
    wanted: Vec<usize>,
    /// `None` for a column that is newer than the file.
    columns: Vec<Option<ColumnRows>>,
    /// Rows of the group still to be read.
    ranges: VecDeque<Range<usize>>,
    /// The group.
    group: usize,
}

/// Columns that were looked at, by their place among those that are wanted; the rows that they are of; and which of these pass,
/// unless all do.
type LookedAt = (Vec<(usize, Column)>, Vec<Range<usize>>, Option<Passing>);

/// A column of a row group.
struct ColumnRows {
    reader: ColumnReader,
    kind: Kind,
    /// Rows that were read or skipped.
    at: usize,
    /// Runs of rows that all have one value, as the index of pages knows: these need not be decoded.
    constant: Vec<(Range<usize>, i64)>,
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
        Ok(Self { places, path, spec, reader, version, bounds: Mutex::default() })
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
        filters: &[Asked],
    ) -> Result<GroupRows<'_>, Error> {
        let rows = self.rows_of(group)?;
        let ranges = guarded(&self.path, || Ok(self.selected(group, rows, filters)))?;
        let mut columns = Vec::with_capacity(wanted.len());
        // Something must vouch for the number of rows that the footer claims.
        let newer = wanted.iter().filter(|&&place| self.places[place].is_none());
        if let (Some(&place), true) = (wanted.first(), newer.count() == wanted.len()) {
            return Err(self.foreign(place));
        }
        if !ranges.is_empty() {
            for &place in wanted {
                let Some(column) = self.column(place)? else {
                    columns.push(None);
                    continue;
                };
                let reader =
                    guarded(&self.path, || self.reader.get_row_group(group)?.get_column_reader(column))?;
                let constant = self.constant(group, rows, place);
                columns.push(Some(ColumnRows {
                    reader,
                    kind: self.spec.columns[place].kind,
                    at: 0,
                    constant,
                }));
            }
        }
        Ok(GroupRows { file: self, wanted: wanted.to_vec(), columns, ranges, group })
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
    fn selected(&self, group: usize, rows: usize, filters: &[Asked]) -> VecDeque<Range<usize>> {
        let mut selected = VecDeque::new();
        if rows > 0 {
            selected.push_back(0..rows);
        }
        for (subject, range) in filters {
            let may_pass = |(min, max): (i64, i64)| range.start <= max && min < range.end;
            if let Some(pages) = self.pages(group, rows, *subject, may_pass) {
                selected = intersection(&selected, &pages);
            }
        }
        selected
    }

    /// Whether some rows pass a filter for sure, as the index of pages knows.
    fn is_proven(&self, group: usize, rows: &Range<usize>, (subject, range): &Asked) -> bool {
        let rows = (rows.start, rows.end);
        let bounds = match *subject {
            Subject::Column(place) => self.bounds(group, place).and_then(|bounds| within(&bounds, rows)),
            Subject::End { begin, duration } => {
                let begins = self.bounds(group, begin).and_then(|bounds| within(&bounds, rows));
                let durations = self.bounds(group, duration).and_then(|bounds| within(&bounds, rows));
                let end = |(begin, duration): ((i64, i64), (i64, i64))| {
                    (begin.0.saturating_add(duration.0), begin.1.saturating_add(duration.1))
                };
                begins.zip(durations).map(end)
            }
        };
        bounds.is_some_and(|(min, max)| range.start <= min && max < range.end)
    }

    /// Row ranges of pages that are chosen by the least and the greatest of their values; `None` if these are not known.
    fn pages(
        &self,
        group: usize,
        rows: usize,
        subject: Subject,
        is_chosen: impl Fn((i64, i64)) -> bool,
    ) -> Option<VecDeque<Range<usize>>> {
        let (Subject::Column(place) | Subject::End { begin: place, .. }) = subject;
        let known = self.bounds(group, place)?;
        let durations = match subject {
            Subject::Column(_) => None,
            Subject::End { duration, .. } => Some(self.bounds(group, duration)?),
        };
        let mut pages: VecDeque<Range<usize>> = VecDeque::new();
        for (rows, (mut min, mut max)) in known.pages(rows) {
            if let Some(durations) = &durations {
                let (shortest, longest) = within(durations, (rows.start, rows.end))?;
                (min, max) = (min.saturating_add(shortest), max.saturating_add(longest));
            }
            if rows.is_empty() || !is_chosen((min, max)) {
                continue;
            }
            match pages.back_mut() {
                Some(last) if last.end == rows.start => last.end = rows.end,
                _ => pages.push_back(rows),
            }
        }
        Some(pages)
    }

    /// Runs of rows in which a column has one value.
    fn constant(&self, group: usize, rows: usize, place: usize) -> Vec<(Range<usize>, i64)> {
        let Some(bounds) = self.bounds(group, place) else { return Vec::new() };
        let mut runs: Vec<(Range<usize>, i64)> = Vec::new();
        for (rows, (min, max)) in bounds.pages(rows) {
            match runs.last_mut() {
                _ if min != max || rows.is_empty() => {}
                Some((last, value)) if last.end == rows.start && *value == min => last.end = rows.end,
                _ => runs.push((rows, min)),
            }
        }
        runs
    }

    /// Of each page of a column its first row, and its least and its greatest value; `None` without an index.
    fn bounds(&self, group: usize, place: usize) -> Option<Arc<Bounds>> {
        let mut known = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry((group, place))
            .or_insert_with(|| self.bounds_in_index(group, place).map(Arc::new))
            .clone()
    }

    fn bounds_in_index(&self, group: usize, place: usize) -> Option<Bounds> {
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
        let firsts: Option<Vec<usize>> =
            locations.iter().map(|page| usize::try_from(page.first_row_index).ok()).collect();
        firsts.filter(|firsts| firsts.len() == bounds.len()).map(|firsts| Bounds { firsts, bounds })
    }
}

impl GroupRows<'_> {
    /// The next rows; `None` behind the last.
    pub(super) fn next_batch(&mut self) -> Result<Option<Columns>, Error> {
        let ranges = self.next_ranges();
        if ranges.is_empty() {
            return Ok(None);
        }
        let all: Vec<usize> = (0..self.wanted.len()).collect();
        let columns = self.decoded(&all, &ranges)?;
        Columns::with_places(self.file.spec, self.wanted.clone(), columns).map(Some)
    }

    /// The next rows that pass filters, some at least; `None` behind the last. Columns that filters look at are decoded first, and
    /// of the others only what passes: in a file that is sorted these rows lie together, often few of a page.
    pub(super) fn next_passing(&mut self, filters: &[Asked]) -> Result<Option<Columns>, Error> {
        if filters.is_empty() {
            return self.next_batch();
        }
        loop {
            let ranges = self.next_ranges();
            if ranges.is_empty() {
                return Ok(None);
            }
            let filters: Vec<Asked> = self.unproven(filters, &ranges);
            let Some((known, ranges, passing)) = self.looked_at(filters, ranges)? else { continue };
            let later: Vec<usize> =
                (0..self.wanted.len()).filter(|idx| known.iter().all(|(it, _)| it != idx)).collect();
            let rest = match &passing {
                // Rows that pass lie apart: all are decoded.
                Some(passing) => {
                    let mut rest = self.decoded(&later, &ranges)?;
                    rest.iter_mut().for_each(|column| column.keep(&passing.in_batch));
                    rest
                }
                None => self.decoded(&later, &ranges)?,
            };
            let mut columns: Vec<(usize, Column)> =
                known.into_iter().chain(later.iter().copied().zip(rest)).collect();
            columns.sort_unstable_by_key(|(idx, _)| *idx);
            let columns = columns.into_iter().map(|(_, column)| column).collect();
            return Columns::with_places(self.file.spec, self.wanted.clone(), columns).map(Some);
        }
    }

    /// Decodes the columns that filters look at, those of one column first: what has begun behind a span need not be asked when
    /// it ended. Returns these columns cut to the rows that pass, with their places among those that are wanted, and these
    /// rows of the group; where they lie apart, the rows before and which of them pass. `None` = none passes.
    fn looked_at(
        &mut self,
        filters: Vec<Asked>,
        mut ranges: Vec<Range<usize>>,
    ) -> Result<Option<LookedAt>, Error> {
        let (mut now, mut later): (Vec<Asked>, Vec<Asked>) =
            filters.into_iter().partition(|(subject, _)| matches!(subject, Subject::Column(_)));
        let mut known: Vec<(usize, Column)> = Vec::new();
        loop {
            let is_new = |idx: &usize| known.iter().all(|(it, _)| it != idx);
            let is_asked = |idx: &usize| {
                now.iter().any(|(subject, _)| subject.places().any(|it| it == self.wanted[*idx]))
            };
            let new: Vec<usize> = (0..self.wanted.len()).filter(is_new).filter(is_asked).collect();
            let columns = self.decoded(&new, &ranges)?;
            known.extend(new.into_iter().zip(columns));
            let of = |place: usize| {
                known.iter().find(|(idx, _)| self.wanted[*idx] == place).map(|(_, column)| column)
            };
            let passing = Passing::of(&matches(ranges.iter().map(Range::len).sum(), &now, of), &ranges);
            if passing.rows == 0 {
                return Ok(None);
            }
            let is_last = later.is_empty();
            if passing.is_scattered() {
                if is_last {
                    known.iter_mut().for_each(|(_, column)| column.keep(&passing.in_batch));
                    return Ok(Some((known, ranges, Some(passing))));
                }
                // They are looked at once more, together with the others.
                now.append(&mut later);
                continue;
            }
            known.iter_mut().for_each(|(_, column)| column.keep(&passing.in_batch));
            ranges = passing.in_group;
            if is_last {
                return Ok(Some((known, ranges, None)));
            }
            now = std::mem::take(&mut later);
        }
    }

    /// The filters that some rows need not pass.
    fn unproven(&self, filters: &[Asked], ranges: &[Range<usize>]) -> Vec<Asked> {
        let passes = |filter: &Asked| ranges.iter().all(|rows| self.file.is_proven(self.group, rows, filter));
        filters.iter().filter(|filter| !passes(filter)).cloned().collect()
    }

    /// Some of the columns, by their place among those that are wanted, in some rows.
    fn decoded(&mut self, which: &[usize], ranges: &[Range<usize>]) -> Result<Vec<Column>, Error> {
        let expected: usize = ranges.iter().map(Range::len).sum();
        // An index may claim any number of rows; what is decoded vouches for them.
        let is_decoded = |idx: &usize| {
            self.columns.get(*idx).and_then(Option::as_ref).is_some_and(|rows| !rows.is_constant(ranges))
        };
        let mut is_vouched = which.iter().any(is_decoded);
        let mut columns = Vec::with_capacity(which.len());
        for &idx in which {
            let column = match self.columns.get_mut(idx) {
                Some(Some(rows)) => {
                    if !std::mem::replace(&mut is_vouched, true) {
                        rows.constant.clear();
                    }
                    guarded(&self.file.path, || rows.read(ranges))?
                }
                _ => Column::missing(self.file.spec.columns[self.wanted[idx]].kind, expected),
            };
            if column.len() != expected {
                let (expected, found) = (expected as u64, column.len() as u64);
                return Err(Error::MissingRows { path: self.file.path.clone(), expected, found });
            }
            columns.push(column);
        }
        Ok(columns)
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

impl ColumnRows {
    /// Whether nothing of some rows would be decoded.
    fn is_constant(&self, ranges: &[Range<usize>]) -> bool {
        ranges.iter().all(|range| {
            let run = self.constant.partition_point(|(run, _)| run.end <= range.start);
            self.constant.get(run).is_some_and(|(run, _)| run.start <= range.start && range.end <= run.end)
        })
    }

    /// The values in some rows, behind those that were read before; fewer if the file ends before.
    fn read(&mut self, ranges: &[Range<usize>]) -> Result<Column, ParquetError> {
        let mut values = Stored::new(self.kind, ranges.iter().map(Range::len).sum());
        for range in ranges {
            let mut at = range.start;
            while at < range.end {
                let run = self.constant.partition_point(|(run, _)| run.end <= at);
                let end = match self.constant.get(run) {
                    Some((run, value)) if run.contains(&at) => {
                        let end = run.end.min(range.end);
                        values.repeat(*value, end - at);
                        at = end;
                        continue;
                    }
                    Some((run, _)) => run.start.min(range.end),
                    None => range.end,
                };
                if values.skip(&mut self.reader, at - self.at)? != at - self.at {
                    return values.into_column();
                }
                values.read(&mut self.reader, end - at)?;
                (self.at, at) = (end, end);
            }
        }
        values.into_column()
    }
}

/// Values as they are stored.
enum Stored {
    U32(Vec<i32>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Stored {
    /// With room for so many rows, of which an index may claim any number.
    fn new(kind: Kind, rows: usize) -> Self {
        let rows = rows.min(BATCH_ROWS);
        match kind {
            Kind::U32 => Self::U32(Vec::with_capacity(rows)),
            Kind::I64 => Self::I64(Vec::with_capacity(rows)),
            Kind::F64 => Self::F64(Vec::with_capacity(rows)),
            Kind::Text => Self::Text(Vec::new()),
        }
    }

    /// Adds a value of whole numbers, so many times.
    #[expect(clippy::cast_possible_truncation, reason = "the bits of a column of 32")]
    fn repeat(&mut self, value: i64, rows: usize) {
        match self {
            Self::U32(values) => values.resize(values.len() + rows, value as i32),
            Self::I64(values) => values.resize(values.len() + rows, value),
            // Only whole numbers have bounds that we read.
            Self::F64(_) | Self::Text(_) => {}
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
