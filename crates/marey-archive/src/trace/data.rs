//! Arrays and what calls did to them, as analysis sees them.
//!
//! The one idea: ids that lead nowhere, of a damaged run, become unknown; so do kinds of a later version.

use marey_analyze::{AccessRow, Array};
use marey_model::{AccessKind, CallPathId, DataKind, LocationId, Nanos, NounId, ProcessId, StackId};

use super::some;
use crate::Error;
use crate::columns::Columns;

/// The rows of `arrays`, with the names of `nouns`.
pub(super) fn arrays(rows: &Columns, nouns: &Columns) -> Result<Vec<Array>, Error> {
    let (names, files, lines) = (nouns.text("name")?, nouns.text("file")?, nouns.u32("line")?);
    let (noun, process, kind) = (rows.u32("noun")?, rows.u32("process")?, rows.text("kind")?);
    let (bytes, element_bytes, element) =
        (rows.i64("bytes")?, rows.i64("element_bytes")?, rows.text("element")?);
    let (bounds, from, until) = (rows.text("bounds")?, rows.i64("from")?, rows.i64("until")?);
    let stack = rows.u32("stack")?;
    let array = |row: usize| {
        let at = noun[row] as usize;
        Array {
            noun: NounId(noun[row]),
            name: names.get(at).cloned().unwrap_or_default(),
            kind: DataKind::ALL
                .into_iter()
                .find(|known| known.name() == kind[row])
                .unwrap_or(DataKind::Other),
            file: files.get(at).cloned().unwrap_or_default(),
            line: lines.get(at).copied().unwrap_or(0),
            process: ProcessId(process[row]),
            bytes: u64::try_from(bytes[row]).unwrap_or(0),
            element_bytes: u64::try_from(element_bytes[row]).ok(),
            element: element[row].clone(),
            bounds: bounds[row].split(',').filter_map(bound).collect(),
            from: Nanos(from[row]),
            until: (until[row] >= 0).then_some(Nanos(until[row])),
            stack: some(stack[row]).map(StackId),
        }
    };
    Ok((0..rows.len()).map(array).collect())
}

/// `1:10` as two numbers.
fn bound(text: &str) -> Option<(i64, i64)> {
    let (lower, upper) = text.split_once(':')?;
    Some((lower.parse().ok()?, upper.parse().ok()?))
}

/// The rows of `accessed`.
pub(super) fn accessed(rows: &Columns) -> Result<Vec<AccessRow>, Error> {
    let (location, path, kind) = (rows.u32("location")?, rows.u32("call_path")?, rows.text("kind")?);
    let (array, peer) = (rows.u32("array")?, rows.u32("peer")?);
    let (accesses, bytes, time) = (rows.i64("accesses")?, rows.i64("bytes")?, rows.i64("time")?);
    let row = |row: usize| {
        Some(AccessRow {
            location: LocationId(location[row]),
            call_path: some(path[row]).map(CallPathId),
            kind: AccessKind::from_name(&kind[row])?,
            array: some(array[row]).map(|array| array as usize),
            peer: some(peer[row]).map(ProcessId),
            accesses: u64::try_from(accesses[row]).unwrap_or(0),
            bytes: u64::try_from(bytes[row]).unwrap_or(0),
            time: Nanos(time[row]),
        })
    };
    Ok((0..rows.len()).filter_map(row).collect())
}
