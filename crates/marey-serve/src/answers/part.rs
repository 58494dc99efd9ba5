//! Sums of a part of a run: of some locations, of a span, or of both.
//!
//! The one idea: with all of the run's time they are rows of its own profile, exact also where single visits were no longer
//! recorded; of a span they are added up from its visits and accesses. Either way what asks is asked of a run.

use std::collections::BTreeMap;

use marey_analyze::{AccessRow, LocationKind, ProfileRow, Trace, WithSums};
use marey_model::{AccessKind, CallPathId, LocationId, Nanos, ProcessId};

use super::shares::visits_of;
use crate::run::Opened;
use crate::wire::{PartOf, SpanOf};

/// A part of a run.
pub(super) struct Part<'r> {
    pub(super) trace: WithSums<'r>,
    /// Time of its threads, ns.
    pub(super) of_ns: i64,
    /// Whether its visits were counted.
    pub(super) is_whole: bool,
    /// What could not be read.
    pub(super) damage: Vec<String>,
}

/// Whether a location is meant; ranges are in order.
pub(super) fn is_meant(part: &PartOf, location: u32) -> bool {
    part.locations.as_ref().is_none_or(|ranges| {
        let behind = ranges.partition_point(|(first, _)| *first <= location);
        behind.checked_sub(1).is_some_and(|at| location < ranges[at].1)
    })
}

/// Time of the threads of a part, ns.
pub(super) fn time_of(run: &Opened<'_>, part: &PartOf) -> i64 {
    let (from, to) = part.span.as_ref().map_or((0, i64::MAX), |span| (span.from_ns, span.to_ns));
    let lives = (0..)
        .zip(run.trace.locations())
        .filter(|(place, it)| it.kind == LocationKind::Thread && is_meant(part, *place));
    lives.map(|(_, it)| (it.end.0.min(to) - it.start.0.max(from)).max(0)).sum()
}

pub(super) fn of<'r>(run: &'r Opened<'_>, part: &PartOf) -> Part<'r> {
    let trace: &dyn Trace = &run.trace;
    let (profile, accessed, is_whole, damage) = match &part.span {
        None => {
            let profile = trace.profile().iter().filter(|row| is_meant(part, row.location.0)).copied();
            let accessed = trace.accessed().iter().filter(|row| is_meant(part, row.location.0)).copied();
            (profile.collect(), accessed.collect(), true, Vec::new())
        }
        Some(span) => of_span(run, part, span),
    };
    Part { trace: WithSums::new(&run.trace, profile, accessed), of_ns: time_of(run, part), is_whole, damage }
}

type Sums = (Vec<ProfileRow>, Vec<AccessRow>, bool, Vec<String>);

fn of_span(run: &Opened<'_>, part: &PartOf, span: &SpanOf) -> Sums {
    let mut rows: BTreeMap<(u32, u32), ProfileRow> = BTreeMap::new();
    let row_of = |location: LocationId, call_path: CallPathId| ProfileRow {
        call_path,
        location,
        visits: 0,
        untimed: 0,
        inclusive: Nanos(0),
        exclusive: Nanos(0),
        min: None,
        max: None,
        sum_squares: 0.0,
        bytes: 0,
    };
    let read = visits_of(run, span, &mut |visit, path, inside| {
        let it = &visit.interval;
        // Lanes have no time of their own, here and in the sums of the run.
        let has_time = run.trace.locations().get(it.location.idx()).is_some_and(|it| it.has_time());
        if !has_time || !is_meant(part, it.location.0) {
            return;
        }
        let key = |path: CallPathId| (it.location.0, path.0);
        let own = rows.entry(key(it.call_path)).or_insert_with(|| row_of(it.location, it.call_path));
        own.visits = own.visits.saturating_add(it.visits.into());
        own.inclusive = own.inclusive + Nanos(inside);
        own.exclusive = own.exclusive + Nanos(inside);
        if let Some(around) = path.parent {
            let around = rows.entry(key(around)).or_insert_with(|| row_of(it.location, around));
            around.exclusive = around.exclusive - Nanos(inside);
        }
    });
    let is_whole = read.is_some();
    let mut damage = read.unwrap_or_default();
    let accessed = if is_whole { accessed(run, part, span, &mut damage) } else { Vec::new() };
    (rows.into_values().collect(), accessed, is_whole, damage)
}

/// Sums of the accesses that began in a span. Their time is that inside it.
fn accessed(run: &Opened<'_>, part: &PartOf, span: &SpanOf, damage: &mut Vec<String>) -> Vec<AccessRow> {
    type Key = (u32, u32, AccessKind, u32, u32);
    let columns = ["location", "time", "call_path", "kind", "array", "peer", "bytes", "leave"];
    let mut sums: BTreeMap<Key, (u64, u64, i64)> = BTreeMap::new();
    let scanned = run.archive.scan("accesses", &columns, &[], |rows| {
        let (Ok(location), Ok(time), Ok(path), Ok(kind)) =
            (rows.u32("location"), rows.i64("time"), rows.u32("call_path"), rows.text("kind"))
        else {
            return;
        };
        let (Ok(array), Ok(peer), Ok(bytes), Ok(leave)) =
            (rows.u32("array"), rows.u32("peer"), rows.i64("bytes"), rows.i64("leave"))
        else {
            return;
        };
        for row in 0..rows.len() {
            let is_inside = span.from_ns <= time[row] && time[row] < span.to_ns;
            let Some(kind) = AccessKind::from_name(&kind[row]).filter(|_| is_inside) else { continue };
            if !is_meant(part, location[row]) {
                continue;
            }
            let sum = sums.entry((location[row], path[row], kind, array[row], peer[row])).or_default();
            sum.0 = sum.0.saturating_add(1);
            sum.1 = sum.1.saturating_add(u64::try_from(bytes[row]).unwrap_or(0));
            sum.2 = sum.2.saturating_add((leave[row].min(span.to_ns) - time[row]).max(0));
        }
    });
    match scanned {
        Ok(scanned) => damage.extend(scanned.damage.iter().map(ToString::to_string)),
        Err(error) => damage.push(error.to_string()),
    }
    let some = |number: u32| (number != u32::MAX).then_some(number);
    let row = |((location, path, kind, array, peer), (accesses, bytes, time)): (Key, _)| AccessRow {
        location: LocationId(location),
        call_path: some(path).map(CallPathId),
        kind,
        array: some(array).map(|array| array as usize),
        peer: some(peer).map(ProcessId),
        accesses,
        bytes,
        time: Nanos(time),
    };
    sums.into_iter().map(row).collect()
}
