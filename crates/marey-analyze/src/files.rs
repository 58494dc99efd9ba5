//! Files: how often and for how long each was opened, read and written.
//!
//! The one idea: a file is the noun of the regions that act on it, so all that is to be known of it are sums of the
//! profile, exact also where no single call was kept. What a region does to its file is told by the name of its
//! function ([`IoKind::of_function`]).
//!
//! Rows are by level: a call of MPI and those of the C library that it is made of move the same bytes.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{IoKind, Level, Nanos, ProcessId};

use crate::paths::{Paths, add};
use crate::trace::{Region, Trace};

/// What one file cost on one level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileRow<'t> {
    /// Name of the level.
    pub level: &'t str,
    /// Name of the file: a path, or what it is instead of one, such as `(pipe)`. Empty = unknown.
    pub name: &'t str,
    /// What was done to it, in the order of [`IoKind::ALL`].
    pub deeds: [Deeds; IoKind::ALL.len()],
    /// By which processes.
    pub processes: BTreeSet<ProcessId>,
}

/// Calls of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Deeds {
    /// How many, those that failed too.
    pub calls: u64,
    /// How many of them were counted only: of these neither time nor bytes are known.
    pub untimed: u64,
    /// Sum of their durations. Calls within others of the same region do not count again.
    pub time: Nanos,
    /// What they moved, bytes.
    pub bytes: u64,
}

impl FileRow<'_> {
    /// What was done of one kind.
    pub fn of(&self, kind: IoKind) -> Deeds {
        self.deeds[kind as usize]
    }

    /// Time of all calls.
    pub fn time(&self) -> Nanos {
        self.deeds.iter().fold(Nanos(0), |sum, deeds| sum + deeds.time)
    }
}

/// What a region does to a file. `MPI_File_open` has its communicator for a noun, and names no file.
fn kind_of(region: &Region) -> Option<IoKind> {
    let kind = IoKind::of_function(&region.verb)?;
    let names_file = region.level == Level::FILES || (region.level == Level::MPI && kind != IoKind::Open);
    names_file.then_some(kind)
}

/// One row for each file and level, the file with most time first.
pub fn files(trace: &dyn Trace) -> Vec<FileRow<'_>> {
    let paths = Paths::new(trace);
    let kinds: Vec<Option<IoKind>> = trace.regions().iter().map(kind_of).collect();
    let mut rows: BTreeMap<(&str, &str), FileRow<'_>> = BTreeMap::new();
    for (row, path, process) in paths.rows() {
        // In a part of a run there may be time in a visit that began before.
        let happened = row.visits > 0 || row.inclusive > Nanos(0);
        let Some(kind) = kinds[path.region.idx()].filter(|_| happened) else { continue };
        let region = &trace.regions()[path.region.idx()];
        let file = rows.entry((&region.level, &region.noun)).or_insert_with(|| FileRow {
            level: &region.level,
            name: &region.noun,
            deeds: [Deeds::default(); IoKind::ALL.len()],
            processes: BTreeSet::new(),
        });
        let deeds = &mut file.deeds[kind as usize];
        for (sum, more) in
            [(&mut deeds.calls, row.visits), (&mut deeds.untimed, row.untimed), (&mut deeds.bytes, row.bytes)]
        {
            *sum = sum.saturating_add(more);
        }
        if paths.counts_for_region(row.call_path) {
            add(&mut deeds.time, row.inclusive);
        }
        file.processes.insert(process);
    }
    let mut rows: Vec<FileRow<'_>> = rows.into_values().collect();
    // Those of equal time stay in the order of their names.
    rows.sort_by_key(|row| std::cmp::Reverse(row.time()));
    rows
}
