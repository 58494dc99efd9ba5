//! Waits of a window.
//!
//! The one idea: as with visits, those that are long enough to be seen are told one by one, the others by how much of a
//! bucket they take.

use marey_analyze::{Pattern, Trace, Wait};
use marey_model::{LocationId, Nanos};

use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{WaitsHead, Window};

/// Stands for a cause or pattern that there is not.
const NONE: u32 = u32::MAX;

/// A wait, or a bucket of waits.
struct Row {
    line: u32,
    start: i64,
    duration: i64,
    waiting: i64,
    cause: u32,
    pattern: u32,
}

pub(super) fn answer(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let Some(causes) = run.causes() else {
        let head = WaitsHead { patterns: Vec::new(), number: 0, is_known: false };
        return Columns::default().frame("waits", &head);
    };
    let mut patterns = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut number = 0;
    let known = u32::try_from(run.trace.locations().len()).unwrap_or(u32::MAX);
    for location in window.locations.iter().flat_map(|(first, behind)| *first..(*behind).min(known)) {
        let all = causes.waits.of(LocationId(location));
        let first = all.partition_point(|wait| wait.to <= Nanos(window.from_ns));
        for wait in all[first..].iter().take_while(|wait| wait.from < Nanos(window.to_ns)) {
            let Some(line) = wait.call_path.and_then(|path| run.line_of(wait.location, path)) else {
                continue;
            };
            number += 1;
            add(&mut rows, &mut patterns, line, wait, window.resolution_log2);
        }
    }
    let patterns = patterns.iter().map(|pattern: &Pattern| pattern.name().to_owned()).collect();
    let mut columns = Columns::default();
    columns.u32("line", rows.iter().map(|row| row.line));
    columns.f64("start", rows.iter().map(|row| float(row.start)));
    columns.f64("duration", rows.iter().map(|row| float(row.duration)));
    columns.f32("share", rows.iter().map(share));
    columns.u32("cause", rows.iter().map(|row| row.cause));
    columns.u32("pattern", rows.iter().map(|row| row.pattern));
    columns.frame("waits", &WaitsHead { patterns, number, is_known: true })
}

fn add(rows: &mut Vec<Row>, patterns: &mut Vec<Pattern>, line: u32, wait: &Wait, log2: u32) {
    let (start, waiting) = (wait.from.0, wait.length().0);
    let bucket = 1 << log2;
    if waiting < bucket {
        let start = (start >> log2) << log2;
        match rows.last_mut() {
            Some(last) if last.line == line && last.start == start && last.cause == NONE => {
                last.waiting += waiting
            }
            _ => rows.push(Row { line, start, duration: bucket, waiting, cause: NONE, pattern: NONE }),
        }
        return;
    }
    let place = patterns.iter().position(|it| *it == wait.pattern).unwrap_or_else(|| {
        patterns.push(wait.pattern);
        patterns.len() - 1
    });
    let pattern = u32::try_from(place).unwrap_or(NONE);
    rows.push(Row { line, start, duration: waiting, waiting, cause: wait.cause.0, pattern });
}

#[expect(clippy::cast_possible_truncation, reason = "a share of a pixel")]
fn share(row: &Row) -> f32 {
    (float(row.waiting) / float(row.duration.max(1))).min(1.0) as f32
}
