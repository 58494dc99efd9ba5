//! Reading an archive.
//!
//! The one idea: what is asked for decides what is read. A scan names its columns and the ranges
//! it is about; `meta.json` rules out parts, the page index rules out pages, and only what is left
//! is decoded.
//!
//! What is deliberately absent: any trust in the files. Sizes are bounded before memory is taken,
//! a damaged file is an error that names it, and the other files stay readable.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::Error;
use crate::columns::Columns;
use crate::corrections::{Applied, Corrections};
use crate::meta::{META_FILE, Meta, Part};
use crate::part::Tail;
use crate::read::file::PartFile;
use crate::read::opened::Opened;
use crate::schema::{self, Layout, TableSpec};
use crate::store::Store;

mod bounds;
mod file;
mod opened;
mod passing;

pub use file::panics_are_caught;

/// More rows than this are not read into memory at once: 2²⁸.
const MAX_TABLE_ROWS: u64 = 1 << 28;

/// An archive, open for reading.
#[derive(Debug)]
pub struct Archive {
    store: Store,
    meta: Meta,
    corrections: Corrections,
    /// Them, ready to be added; `None` = there are none.
    applied: Option<Applied>,
    opened: Opened,
}

/// Asks for the rows of which the value in a column lies in a range, the end excluded.
#[derive(Clone, Debug)]
pub struct Filter<'a> {
    /// Name of the column; it need not be among those that are returned. Of rows that take time `end` is their begin
    /// and their duration together, though no column has that.
    pub column: &'a str,
    /// The range, in the column's unit.
    pub range: Range<i64>,
}

/// What a filter looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Subject {
    /// The column at a place.
    Column(usize),
    /// The sum of two: when a row ends.
    End { begin: usize, duration: usize },
}

/// A filter, its columns found.
type Asked = (Subject, Range<i64>);

impl Subject {
    /// The columns that it takes to tell.
    fn places(self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            Self::Column(place) => (place, None),
            Self::End { begin, duration } => (begin, Some(duration)),
        };
        [Some(first), second].into_iter().flatten()
    }
}

/// What a scan went through.
#[derive(Debug, Default)]
#[must_use = "parts that could not be read are named here"]
pub struct Scanned {
    /// Rows handed out.
    pub rows: u64,
    /// Why parts are missing from them; empty if all could be read.
    pub damage: Vec<Error>,
}

impl Archive {
    /// Opens a run: the directory, or a packed file. Corrections of its clocks are added to all times that
    /// are read.
    #[cfg(unix)]
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_as_merged(path)?.corrected()
    }

    /// Opens a packed run that lies in memory. The path is for messages.
    pub fn open_in_memory(path: &Path, bytes: impl Into<bytes::Bytes>) -> Result<Self, Error> {
        Self::of_store(Store::in_memory(path, bytes.into())?)?.corrected()
    }

    /// With its corrections.
    fn corrected(self) -> Result<Self, Error> {
        let mut archive = self;
        archive.corrections = Corrections::of(&archive.store)?;
        if !archive.corrections.is_empty() {
            let applied = Applied::new(&archive.corrections, &archive)?;
            let mut meta = archive.meta.clone();
            applied.meta(&mut meta, &archive)?;
            (archive.meta, archive.applied) = (meta, Some(applied));
        }
        Ok(archive)
    }

    /// Opens a run as it was merged, whatever was corrected later.
    #[cfg(unix)]
    pub fn open_as_merged(path: &Path) -> Result<Self, Error> {
        Self::of_store(Store::open(path)?)
    }

    fn of_store(store: Store) -> Result<Self, Error> {
        let named = store.path_of(META_FILE);
        let section = store.section(META_FILE)?;
        Meta::check_size(&named, section.len())?;
        let text = section.read_all().map_err(Error::io(&named))?;
        let meta = Meta::parse(&named, &text)?;
        Ok(Self {
            meta,
            store,
            corrections: Corrections::default(),
            applied: None,
            opened: Opened::default(),
        })
    }

    /// The same, ready to be added; `None` where there are none.
    pub(crate) fn applied(&self) -> Option<&Applied> {
        self.applied.as_ref()
    }

    /// Closes the files of parts that were kept open; they are opened again when they are asked for.
    pub fn close_files(&self) {
        self.opened.clear();
    }

    /// What is added to the times of the run.
    pub fn corrections(&self) -> &Corrections {
        &self.corrections
    }

    /// Facts of the run and list of parts.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The parts of a table; none if the run has no rows of it.
    pub fn parts(&self, table: &str) -> &[Part] {
        self.meta.parts(table)
    }

    /// How long the files of a table are together.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn bytes(&self, table: &str) -> Result<u64, Error> {
        let of_part = |part: &Part| Ok(self.store.section(&part.file)?.len());
        self.parts(table)
            .iter()
            .map(of_part)
            .try_fold(0, |sum: u64, bytes: Result<u64, Error>| Ok(sum + bytes?))
    }

    /// A whole table. For tables that fit in memory; others are scanned.
    pub fn table(&self, name: &str) -> Result<Columns, Error> {
        let spec = spec(name)?;
        let rows = self.meta.rows(name);
        if rows > MAX_TABLE_ROWS {
            return Err(Error::TooManyRows { table: spec.name, rows });
        }
        let names: Vec<&str> = spec.columns.iter().map(|column| column.name).collect();
        let mut all = Columns::new(spec);
        for part in self.parts(name) {
            let mut refused = None;
            self.scan_part(spec, part, &names, &[], |batch| {
                // The file may hold more than `meta.json` says.
                if (all.len() + batch.len()) as u64 > MAX_TABLE_ROWS {
                    refused = Some(Error::TooManyRows { table: spec.name, rows: MAX_TABLE_ROWS + 1 });
                } else {
                    all.append(batch);
                }
            })?;
            refused.map_or(Ok(()), Err)?;
        }
        Ok(all)
    }

    /// Hands the rows of a table that pass all filters to `each`, in batches of at most 2¹³ rows
    /// and in the order of the parts. Goes on behind parts that cannot be read and names them.
    pub fn scan(
        &self,
        table: &str,
        columns: &[&str],
        filters: &[Filter<'_>],
        mut each: impl FnMut(&Columns),
    ) -> Result<Scanned, Error> {
        let spec = spec(table)?;
        let mut scanned = Scanned::default();
        // Asked for before any part is opened: that columns do not exist is the caller's mistake.
        places(spec, columns)?;
        filter_places(spec, filters)?;
        for part in self.parts(table).iter().filter(|part| may_match(spec, part, filters)) {
            let mut rows = 0;
            let done = self.scan_part(spec, part, columns, filters, |batch| {
                rows += batch.len() as u64;
                each(batch);
            });
            scanned.rows += rows;
            scanned.damage.extend(done.err());
        }
        Ok(scanned)
    }

    /// The same, but for parts of which no row has a time in a span, as `meta.json` knows.
    pub(crate) fn scan_span(
        &self,
        table: &str,
        span: Range<i64>,
        columns: &[&str],
        filters: &[Filter<'_>],
        mut each: impl FnMut(&Columns),
    ) -> Result<Scanned, Error> {
        let spec = spec(table)?;
        let mut scanned = Scanned::default();
        for part in self.parts(table) {
            // Parts without times have rows of any time.
            let (first, last) = (part.min_time.unwrap_or(i64::MIN), part.max_time.unwrap_or(i64::MAX));
            if last < span.start || span.end <= first {
                continue;
            }
            let mut rows = 0;
            let done = self.scan_part(spec, part, columns, filters, |batch| {
                rows += batch.len() as u64;
                each(batch);
            });
            scanned.rows += rows;
            scanned.damage.extend(done.err());
        }
        Ok(scanned)
    }

    /// Rows that a part has, by its own footer: no page is read.
    ///
    /// # Errors
    /// If the part cannot be opened or is no table of this kind.
    pub(crate) fn rows_of(&self, spec: &'static TableSpec, part: &Part) -> Result<u64, Error> {
        let file = self.open_part(spec, part, false)?;
        file.rows()
    }

    /// Opens a file of a table, if it is the one that `meta.json` is about: another, though sound, would be read
    /// as if the run had been different.
    fn open_part(
        &self,
        spec: &'static TableSpec,
        part: &Part,
        indexed: bool,
    ) -> Result<Arc<PartFile>, Error> {
        if let Some(file) = self.opened.get(&part.file, indexed) {
            return Ok(file);
        }
        let path = self.store.path_of(&part.file);
        let section = self.store.section(&part.file)?;
        let refused = |what, expected, found| {
            let path = path.clone();
            Err(Error::NotAsListed { path, what, expected, found })
        };
        // Older archives did not say how long their files are, and one without a byte is none.
        if part.bytes != 0 && part.bytes != section.len() {
            return refused("bytes", part.bytes, section.len());
        }
        if part.tail.bytes != 0 {
            let rest = section.reader(section.len().saturating_sub(part.tail.bytes));
            let found = Tail::of(rest).map_err(Error::io(&path))?;
            if found != part.tail {
                return Err(Error::Changed { path });
            }
        }
        let file = PartFile::open(section, path.clone(), spec, self.meta.schema, indexed)?;
        let rows = file.rows()?;
        if part.bytes != 0 && part.rows != rows {
            return refused("rows", part.rows, rows);
        }
        let file = Arc::new(file);
        self.opened.put(&part.file, indexed, &file);
        Ok(file)
    }

    /// The same for one part, which may run on several threads at once. The batch is the callee's
    /// to take apart. An error means that the part is damaged from there on.
    pub fn scan_part(
        &self,
        spec: &'static TableSpec,
        part: &Part,
        columns: &[&str],
        filters: &[Filter<'_>],
        mut each: impl FnMut(&mut Columns),
    ) -> Result<(), Error> {
        let wanted = places(spec, columns)?;
        let filtered = filter_places(spec, filters)?;
        let mut read = wanted.clone();
        for place in filtered.iter().flat_map(|(subject, _)| subject.places()) {
            if !read.contains(&place) {
                read.push(place);
            }
        }
        let mut ranges = filtered.clone();
        if let Some(applied) = &self.applied {
            read.extend(applied.needed(spec, &read));
            for (subject, range) in &mut ranges {
                // An end is an instant as a begin is one.
                let (Subject::Column(place) | Subject::End { begin: place, .. }) = *subject;
                *range = applied.widened(spec, place, range);
            }
        }
        let indexed = !filters.is_empty() || spec.layout == Layout::Parts;
        let file = self.open_part(spec, part, indexed)?;
        for group in 0..file.groups() {
            let mut rows = file.read(group, &read, &ranges)?;
            // Corrected times are what filters are about, so there all is decoded and corrected first.
            let mut next = || match &self.applied {
                None => rows.next_passing(&filtered),
                Some(applied) => {
                    let Some(mut batch) = rows.next_batch()? else { return Ok(None) };
                    applied.to(&mut batch);
                    if !filtered.is_empty() {
                        retain(&mut batch, &filtered);
                    }
                    Ok(Some(batch))
                }
            };
            while let Some(mut batch) = next()? {
                batch.keep_first(wanted.len());
                if !batch.is_empty() {
                    each(&mut batch);
                }
            }
        }
        Ok(())
    }
}

fn spec(name: &str) -> Result<&'static TableSpec, Error> {
    schema::table(name).ok_or_else(|| Error::NoSuchTable { name: name.into() })
}

fn places(spec: &'static TableSpec, columns: &[&str]) -> Result<Vec<usize>, Error> {
    let place = |&name: &&str| {
        spec.column(name).ok_or_else(|| Error::NoSuchColumn { table: spec.name, column: name.into() })
    };
    columns.iter().map(place).collect()
}

/// The filters with the places of their columns.
fn filter_places(spec: &'static TableSpec, filters: &[Filter<'_>]) -> Result<Vec<Asked>, Error> {
    let found = |filter: &Filter<'_>| Ok((subject(spec, filter.column)?, filter.range.clone()));
    filters.iter().map(found).collect()
}

fn subject(spec: &'static TableSpec, name: &str) -> Result<Subject, Error> {
    if spec.column(name).is_none() && name == "end" {
        let ends = spec.times.iter().find_map(|time| {
            Some(Subject::End { begin: spec.column(time.begin)?, duration: spec.column(time.duration?)? })
        });
        return ends.ok_or_else(|| Error::NoSuchColumn { table: spec.name, column: name.into() });
    }
    let place = places(spec, &[name])?[0];
    let column = &spec.columns[place];
    if !matches!(column.kind, schema::Kind::U32 | schema::Kind::I64) {
        return Err(Error::NoRange { table: spec.name, column: column.name });
    }
    Ok(Subject::Column(place))
}

/// Whether a part can hold rows that pass, by the times in `meta.json`.
fn may_match(spec: &TableSpec, part: &Part, filters: &[Filter<'_>]) -> bool {
    let (Some(min), Some(max)) = (part.min_time, part.max_time) else { return true };
    // Times that are missing are negative and not counted in the span, so a filter that lets them
    // pass says nothing about the part.
    let by_time = |filter: &&Filter<'_>| {
        filter.range.start >= 0
            && spec.times.iter().any(|time| time.begin == filter.column && time.bucket_log2.is_none())
    };
    filters.iter().filter(by_time).all(|filter| filter.range.start <= max && min < filter.range.end)
}

/// Keeps the rows of a batch that pass all filters.
fn retain(batch: &mut Columns, filters: &[Asked]) {
    let column = |place: usize| {
        let there = batch.places().iter().position(|there| *there == place)?;
        batch.columns().get(there)
    };
    let keep = passing::matches(batch.len(), filters, column);
    batch.retain(&keep);
}
