//! Collective operations in which each sends to each, with the data that they move, added up.
//!
//! The one idea: there are few call paths of such operations, so of all the rows of `collectives` few have to be looked at, and
//! the others are not even made. Rows are read once.
//!
//! Deliberately absent: operations with neighbours only, which lay nothing out otherwise; those that were only counted; which of
//! several operations that one call completes it has waited for: they share its time.

use std::collections::BTreeMap;

use marey_analyze::{AllToAll, Array, Datum, Trace};
use marey_model::{CallPathId, Nanos};
use rustc_hash::FxHashMap;

use crate::columns::Columns;
use crate::error::Error;
use crate::read::Archive;
use crate::schema::NONE;
use crate::trace::RunTrace;

/// Names of operations of all with all begin so.
const NAMES: [&str; 2] = ["MPI_Alltoall", "MPI_Ialltoall"];

/// Call path, what is sent and what is received.
type Key = (u32, u32, u32);

#[derive(Default)]
struct Sum {
    /// By communicator and 64 instances each, which of them: whoever calls in a loop has many in a row.
    operations: FxHashMap<(u32, u32), u64>,
    bytes: i64,
    time: i64,
}

#[derive(Default)]
struct Sums {
    by_key: BTreeMap<Key, Sum>,
    /// Calls that complete what others have started, by location and begin: one may complete several operations.
    waits: Vec<(u32, i64, i64, Key)>,
}

/// Adds them up by call path and data; beside that what could not be read of them. Time: linear in rows of `collectives`, if the
/// run has such call paths; memory: linear in such operations that do not block, and in 64 at once of those that do.
///
/// # Errors
/// If the archive knows of no such table.
pub fn all_to_all(archive: &Archive, trace: &RunTrace) -> Result<(Vec<AllToAll>, Vec<Error>), Error> {
    let region = |path: &marey_analyze::CallPath| trace.regions().get(path.region.idx());
    let is_one = |path| region(path).is_some_and(|it| NAMES.iter().any(|name| it.name().starts_with(name)));
    let paths: Vec<bool> = trace.call_paths().iter().map(is_one).collect();
    if !paths.contains(&true) {
        return Ok((Vec::new(), Vec::new()));
    }
    let columns = [
        "communicator",
        "instance",
        "location",
        "leave",
        "start",
        "call_path",
        "done_path",
        "bytes_out",
        "array_out",
        "array_in",
    ];
    let noun = |array: u32| trace.arrays().get(array as usize).map_or(NONE, |it| it.noun.0);
    let mut sums = Sums::default();
    let mut wrong = None;
    let scanned = archive.scan("collectives", &columns, &[], |batch| {
        let added = read(batch, |row| {
            if paths.get(row.path as usize).copied().unwrap_or(false) {
                sums.add((row.path, noun(row.sent), noun(row.received)), &row);
            }
        });
        wrong = added.err().or(wrong.take());
    })?;
    let data = data_of(trace);
    let found = sums.settled().into_iter().map(|((path, sent, received), sum)| AllToAll {
        call_path: Some(CallPathId(path)),
        sent: data.get(&sent).cloned(),
        received: data.get(&received).cloned(),
        operations: sum.operations.values().map(|some| u64::from(some.count_ones())).sum(),
        bytes: u64::try_from(sum.bytes).unwrap_or(0),
        time: Nanos(sum.time),
    });
    Ok((found.collect(), scanned.damage.into_iter().chain(wrong).collect()))
}

/// A member's part of an operation.
struct Row {
    communicator: u32,
    instance: u32,
    location: u32,
    path: u32,
    done_path: u32,
    sent: u32,
    received: u32,
    bytes: i64,
    /// Begin of the call that completes it, and how long that takes.
    start: i64,
    time: i64,
}

impl Sums {
    fn add(&mut self, key: Key, row: &Row) {
        let sum = self.by_key.entry(key).or_default();
        *sum.operations.entry((row.communicator, row.instance / 64)).or_default() |= 1 << (row.instance % 64);
        sum.bytes = sum.bytes.saturating_add(row.bytes);
        if row.done_path == row.path {
            sum.time = sum.time.saturating_add(row.time);
        } else if row.time > 0 {
            self.waits.push((row.location, row.start, row.time, key));
        }
    }

    /// With the time of calls that complete what others have started, which those operations share that it completes.
    fn settled(mut self) -> BTreeMap<Key, Sum> {
        self.waits.sort_unstable();
        for call in self.waits.chunk_by(|one, other| one.0 == other.0 && one.1 == other.1) {
            let operations = i64::try_from(call.len()).unwrap_or(i64::MAX);
            for (nth, (_, _, time, key)) in (0..).zip(call) {
                // What is left over of nanoseconds goes to the first ones.
                let share = time / operations + i64::from(nth < time % operations);
                if let Some(sum) = self.by_key.get_mut(key) {
                    sum.time = sum.time.saturating_add(share);
                }
            }
        }
        self.by_key
    }
}

fn read(batch: &Columns, mut each: impl FnMut(Row)) -> Result<(), Error> {
    let (communicators, instances) = (batch.u32("communicator")?, batch.u32("instance")?);
    let (leaves, starts, paths) = (batch.i64("leave")?, batch.i64("start")?, batch.u32("call_path")?);
    let (locations, done_paths) = (batch.u32("location")?, batch.u32("done_path")?);
    let (bytes, sent, received) = (batch.i64("bytes_out")?, batch.u32("array_out")?, batch.u32("array_in")?);
    for row in 0..batch.len() {
        // One that never ended, or did so nobody knows where, has no time.
        let is_timed = 0 <= starts[row] && starts[row] <= leaves[row];
        each(Row {
            communicator: communicators[row],
            instance: instances[row],
            location: locations[row],
            path: paths[row],
            done_path: done_paths[row],
            sent: sent[row],
            received: received[row],
            bytes: bytes[row].max(0),
            start: starts[row],
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
