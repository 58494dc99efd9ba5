//! Writing parts, and not writing those that an interrupted merge has left.
//!
//! The one idea: a part's name follows from table, slab and group, and its content from the whole
//! input, since ids do. So a part whose entry bears the fingerprint of the same input is the same.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::build::{Operation, Row};
use super::slabs::Groups;
use super::{end, sets};
use crate::schema::{INTERVALS, NONE, TableSpec};
use crate::{Archive, Column, Columns, Error, Meta, Part, PartWriter};

/// Rows that are turned into columns at a time.
pub(super) const BATCH: usize = 1 << 14;

/// Takes the parts of a run.
pub(crate) struct Sink {
    pub groups: Groups,
    dir: PathBuf,
    fingerprint: String,
    /// Parts of an earlier merge of the same input, by file.
    known: FxHashMap<String, Part>,
    parts: Mutex<Vec<(&'static TableSpec, Part)>>,
    /// Memory of finished parts by table, for the pages of others.
    spare: Mutex<FxHashMap<&'static str, Vec<Vec<Vec<u8>>>>>,
}

/// Rows of one location on their way into a part.
pub(crate) struct LocationRows<'a> {
    pub location: u32,
    pub rows: &'a [Row],
    pub operations: &'a [Operation],
    /// From the location's numbers of call paths to those of the run.
    pub paths: &'a [u32],
    /// From the same to their depths.
    pub depths: &'a [u32],
    /// The same for sets of nouns.
    pub sets: &'a [u32],
}

impl Sink {
    pub(crate) fn new(dir: &Path, fingerprint: u64, groups: Groups) -> Self {
        let fingerprint = format!("{fingerprint:016x}");
        let mut known = FxHashMap::default();
        // Without a readable list there is nothing to reuse; all is written anew.
        if let Ok(archive) = Archive::open(dir) {
            for (table, part) in
                archive.meta().tables.iter().flat_map(|(t, parts)| parts.iter().map(move |p| (t, p)))
            {
                let size = std::fs::metadata(dir.join(&part.file)).map_or(0, |data| data.len());
                let is_same = part.fingerprint == fingerprint && size == part.bytes;
                // Of a failure of power a file can have its length and not its content.
                if is_same && matches!(end::rows(&archive, table, part), Some(Ok(rows)) if rows == part.rows)
                {
                    known.insert(part.file.clone(), part.clone());
                }
            }
        }
        Self {
            groups,
            dir: dir.to_owned(),
            fingerprint,
            known,
            parts: Mutex::default(),
            spare: Mutex::default(),
        }
    }

    /// Writes a part, unless it is there. `fill` gives the rows.
    pub(crate) fn part(
        &self,
        spec: &'static TableSpec,
        slab: u32,
        group: u32,
        fill: impl FnOnce(&mut PartWriter) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = spec.file(slab, group);
        if let Some(part) = self.known.get(&file) {
            self.list(spec, part.clone());
            return Ok(());
        }
        let mut writer = PartWriter::create(&self.dir.join(&file), spec)?;
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = spare().get_mut(spec.name).and_then(Vec::pop) {
            writer.reuse(memory);
        }
        fill(&mut writer)?;
        let (stats, memory) = writer.finish_sparing()?;
        spare().entry(spec.name).or_default().push(memory);
        let mut part = Part::new(spec, slab, group, stats);
        part.fingerprint.clone_from(&self.fingerprint);
        self.list(spec, part);
        Ok(())
    }

    /// Writes a part of rows that are all there.
    pub(crate) fn columns(
        &self,
        spec: &'static TableSpec,
        slab: u32,
        group: u32,
        columns: Vec<Column>,
    ) -> Result<(), Error> {
        if columns.first().is_none_or(Column::is_empty) {
            return Ok(());
        }
        let rows = Columns::from_columns(spec, columns)?;
        self.part(spec, slab, group, |writer| writer.write(&rows))
    }

    fn list(&self, spec: &'static TableSpec, part: Part) {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push((spec, part));
    }

    /// Moves the entries of all parts written so far to `meta`.
    pub(crate) fn list_into(&self, meta: &mut Meta) {
        let mut parts = std::mem::take(&mut *self.parts.lock().unwrap_or_else(PoisonError::into_inner));
        parts.sort_by(|a, b| a.1.file.cmp(&b.1.file));
        for (spec, part) in parts {
            meta.add(spec, part);
        }
    }

    /// The mark that parts of this input bear.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// Writes intervals; rows whose region is still open are left out.
pub(crate) fn intervals(writer: &mut PartWriter, locations: &[LocationRows<'_>]) -> Result<(), Error> {
    let mut batch = Batch::with_room();
    for location in locations {
        for mut rows in location.rows.split(|row| row.duration < 0) {
            while !rows.is_empty() {
                let room = (BATCH - batch.location.len()).min(AT_ONCE);
                let (now, later) = rows.split_at(rows.len().min(room));
                batch.add(location, now);
                if batch.location.len() == BATCH {
                    writer.write(&batch.take()?)?;
                }
                rows = later;
            }
        }
    }
    writer.write(&batch.take()?)
}

/// Rows that are read column by column while they are in the processor's first cache.
const AT_ONCE: usize = 1 << 10;

struct Batch {
    location: Vec<u32>,
    start: Vec<i64>,
    duration: Vec<i64>,
    path: Vec<u32>,
    depth: Vec<u32>,
    participants: Vec<u32>,
    bytes: Vec<i64>,
    visits: Vec<u32>,
    gaps: Vec<i64>,
}

impl Batch {
    fn add(&mut self, location: &LocationRows<'_>, rows: &[Row]) {
        let of = |numbers: &[u32], path: u32| numbers.get(path as usize).copied().unwrap_or(NONE);
        let len = self.location.len() + rows.len();
        self.location.resize(len, location.location);
        self.start.extend(rows.iter().map(|row| row.start));
        self.duration.extend(rows.iter().map(|row| row.duration));
        self.path.extend(rows.iter().map(|row| of(location.paths, row.path)));
        self.depth.extend(rows.iter().map(|row| of(location.depths, row.path)));
        if location.operations.is_empty() {
            self.participants.resize(len, Operation::ABSENT.participants);
            self.bytes.resize(len, Operation::ABSENT.bytes);
            self.visits.resize(len, Operation::ABSENT.visits);
            self.gaps.resize(len, Operation::ABSENT.gaps);
            return;
        }
        let operation =
            |row: &Row| location.operations.get(row.operation as usize).unwrap_or(&Operation::ABSENT);
        let participants = |row: &Row| sets::global(operation(row).participants, location.sets);
        self.participants.extend(rows.iter().map(participants));
        self.bytes.extend(rows.iter().map(|row| operation(row).bytes));
        self.visits.extend(rows.iter().map(|row| operation(row).visits));
        self.gaps.extend(rows.iter().map(|row| operation(row).gaps));
    }

    fn take(&mut self) -> Result<Columns, Error> {
        let full = std::mem::replace(self, Self::with_room());
        let columns = vec![
            Column::U32(full.location),
            Column::I64(full.start),
            Column::I64(full.duration),
            Column::U32(full.path),
            Column::U32(full.depth),
            Column::U32(full.participants),
            Column::I64(full.bytes),
            Column::U32(full.visits),
            Column::I64(full.gaps),
        ];
        Columns::from_columns(&INTERVALS, columns)
    }

    fn with_room() -> Self {
        Self {
            location: Vec::with_capacity(BATCH),
            start: Vec::with_capacity(BATCH),
            duration: Vec::with_capacity(BATCH),
            path: Vec::with_capacity(BATCH),
            depth: Vec::with_capacity(BATCH),
            participants: Vec::with_capacity(BATCH),
            bytes: Vec::with_capacity(BATCH),
            visits: Vec::with_capacity(BATCH),
            gaps: Vec::with_capacity(BATCH),
        }
    }
}
