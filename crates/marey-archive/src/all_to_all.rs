//! Collective operations in which each sends to each, with the data that they move, added up.
//!
//! The one idea: there are few call paths of such operations, so of all the rows of `collectives` few have to be looked at, and
//! the others are not even made. Rows are read once.
//!
//! Deliberately absent: operations with neighbours only, which lay nothing out otherwise; those that were only counted.

use std::collections::BTreeMap;

use marey_analyze::{AllToAll, Array, Datum, Trace};
use marey_model::{CallPathId, Nanos};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::columns::Columns;
use crate::error::Error;
use crate::read::Archive;
use crate::schema::{self, NONE};
use crate::trace::RunTrace;

/// Names of operations of all with all begin so.
const NAMES: [&str; 2] = ["MPI_Alltoall", "MPI_Ialltoall"];

#[derive(Default)]
struct Sum {
    operations: FxHashSet<(u32, u32)>,
    bytes: i64,
    time: i64,
}

/// Adds them up by call path and data. Time: linear in rows of `collectives`, if the run has such call paths.
///
/// # Errors
/// If a table cannot be read.
pub fn all_to_all(archive: &Archive, trace: &RunTrace) -> Result<Vec<AllToAll>, Error> {
    let region = |path: &marey_analyze::CallPath| trace.regions().get(path.region.idx());
    let is_one = |path| region(path).is_some_and(|it| NAMES.iter().any(|name| it.name().starts_with(name)));
    let paths: Vec<bool> = trace.call_paths().iter().map(is_one).collect();
    if !paths.contains(&true) {
        return Ok(Vec::new());
    }
    let Some(spec) = schema::table("collectives") else { return Ok(Vec::new()) };
    let columns =
        ["communicator", "instance", "leave", "start", "call_path", "bytes_out", "array_out", "array_in"];
    let noun = |array: u32| trace.arrays().get(array as usize).map_or(NONE, |it| it.noun.0);
    let mut sums: BTreeMap<(u32, u32, u32), Sum> = BTreeMap::new();
    for part in archive.parts("collectives") {
        let mut wrong = None;
        archive.scan_part(spec, part, &columns, &[], |batch| {
            let added = read(batch, |row| {
                if paths.get(row.path as usize).copied().unwrap_or(false) {
                    sums.entry((row.path, noun(row.sent), noun(row.received))).or_default().add(&row);
                }
            });
            wrong = added.err().or(wrong.take());
        })?;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
    }
    let data = data_of(trace);
    let found = sums.into_iter().map(|((path, sent, received), sum)| AllToAll {
        call_path: Some(CallPathId(path)),
        sent: data.get(&sent).cloned(),
        received: data.get(&received).cloned(),
        operations: sum.operations.len() as u64,
        bytes: u64::try_from(sum.bytes).unwrap_or(0),
        time: Nanos(sum.time),
    });
    Ok(found.collect())
}

/// A member's part of an operation.
struct Row {
    operation: (u32, u32),
    path: u32,
    sent: u32,
    received: u32,
    bytes: i64,
    time: i64,
}

impl Sum {
    fn add(&mut self, row: &Row) {
        self.operations.insert(row.operation);
        self.bytes = self.bytes.saturating_add(row.bytes);
        self.time = self.time.saturating_add(row.time);
    }
}

fn read(batch: &Columns, mut each: impl FnMut(Row)) -> Result<(), Error> {
    let (communicators, instances) = (batch.u32("communicator")?, batch.u32("instance")?);
    let (leaves, starts, paths) = (batch.i64("leave")?, batch.i64("start")?, batch.u32("call_path")?);
    let (bytes, sent, received) = (batch.i64("bytes_out")?, batch.u32("array_out")?, batch.u32("array_in")?);
    for row in 0..batch.len() {
        // One that never ended, or did so nobody knows where, has no time.
        let is_timed = 0 <= starts[row] && starts[row] <= leaves[row];
        each(Row {
            operation: (communicators[row], instances[row]),
            path: paths[row],
            sent: sent[row],
            received: received[row],
            bytes: bytes[row].max(0),
            time: if is_timed { leaves[row].saturating_sub(starts[row]) } else { 0 },
        });
    }
    Ok(())
}

/// By noun, what memory is.
fn data_of(trace: &RunTrace) -> FxHashMap<u32, Datum> {
    let datum = |it: &Array| {
        let (kind, name, file) = (it.kind.name().to_owned(), it.name.clone(), it.file.clone());
        (it.noun.0, Datum { kind, name, file, line: it.line })
    };
    trace.arrays().iter().map(datum).collect()
}
