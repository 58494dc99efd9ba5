//! Instants that the program marked: where they are in a window, and what it said of them.
//!
//! The one idea: a mark is some pixels wide, so those of a location that begin in the same few buckets are one mark with
//! their number; whoever presses it is told each of them, with its fields.

use std::collections::BTreeMap;

use marey_archive::{Columns as Rows, Error, Filter};
use serde_json::Value;

use crate::fold::float;
use crate::frame::Columns;
use crate::ranges;
use crate::run::Opened;
use crate::wire::{EventSpan, EventsAtHead, EventsHead, Window, WireEvent, WireField};

/// More of them are not read for a picture.
const MOST_READ: u64 = 4_000_000;

/// A mark is as wide as so many buckets, as a power of two.
const WIDE_LOG2: u32 = 3;

/// So many are told with their fields.
const MOST_TOLD: usize = 100;

/// Instants that are one mark.
struct Mark {
    time: i64,
    kind: u32,
    number: u64,
    last: i64,
}

pub(super) fn in_window(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let touches = |part: &&marey_archive::Part| {
        part.min_time.is_none_or(|it| it < window.to_ns)
            && part.max_time.is_none_or(|it| window.from_ns <= it)
    };
    let to_read: u64 = run.archive.parts("events").iter().filter(touches).map(|part| part.rows).sum();
    let mut marks: BTreeMap<(u32, i64), Mark> = BTreeMap::new();
    let (mut number, mut damage) = (0, Vec::new());
    let is_too_much = to_read > MOST_READ;
    if !is_too_much {
        let is_meant = |location: u32| ranges::hold(&window.locations, location);
        damage = read(run, (window.from_ns, window.to_ns), None, &mut |it| {
            if !is_meant(it.location) || !is_instant(run, it.kind) {
                return;
            }
            number += 1;
            let place = it.time >> (window.resolution_log2 + WIDE_LOG2).min(63);
            let none = Mark { time: it.time, kind: it.kind, number: 0, last: it.time };
            let mark = marks.entry((it.location, place)).or_insert(none);
            if it.time < mark.time {
                (mark.time, mark.kind) = (it.time, it.kind);
            }
            mark.last = mark.last.max(it.time);
            mark.number += 1;
        });
    }
    let mut columns = Columns::default();
    columns.u32("location", marks.keys().map(|it| it.0));
    columns.f64("time", marks.values().map(|it| float(it.time)));
    columns.u32("kind", marks.values().map(|it| it.kind));
    columns.u32("number", marks.values().map(|it| u32::try_from(it.number).unwrap_or(u32::MAX)));
    columns.f64("last", marks.values().map(|it| float(it.last)));
    columns.frame("events", &EventsHead { number: (!is_too_much).then_some(number), damage })
}

pub(super) fn at(run: &Opened<'_>, span: &EventSpan) -> Vec<u8> {
    let (mut found, mut number) = (Vec::new(), 0);
    let damage = read(run, (span.from_ns, span.to_ns), Some(span.location), &mut |it| {
        if is_instant(run, it.kind) {
            number += 1;
            if found.len() < MOST_TOLD {
                found.push(WireEvent { kind: it.kind, time_ns: it.time, fields: fields(it.fields) });
            }
        }
    });
    // Stable, so that those of one instant stay as the program marked them.
    found.sort_by_key(|it| it.time_ns);
    Columns::default().frame("events-at", &EventsAtHead { events: found, number, damage })
}

/// What the program said of a visit that begins there. Of two that begin at one instant nobody can tell whose it is.
pub(super) fn of_visit(run: &Opened<'_>, location: u32, start: i64) -> Vec<WireField> {
    let mut found = Vec::new();
    if run.head.event_kinds.iter().all(|kind| !kind.is_attribute) {
        return found;
    }
    // What cannot be read is not told.
    let _damage = read(run, (start, start.saturating_add(1)), Some(location), &mut |it| {
        let kind = run.head.event_kinds.get(it.kind as usize).filter(|kind| kind.is_attribute);
        if let Some(kind) = kind.filter(|_| found.len() < MOST_TOLD) {
            let one = |field: WireField| WireField { name: format!("{}.{}", kind.name, field.name), ..field };
            found.extend(fields(it.fields).into_iter().map(one));
        }
    });
    found
}

fn is_instant(run: &Opened<'_>, kind: u32) -> bool {
    run.head.event_kinds.get(kind as usize).is_some_and(|kind| !kind.is_attribute)
}

/// Fields of a JSON object as texts. What is no object is one field without a name.
fn fields(text: &str) -> Vec<WireField> {
    let field = |(name, value): (String, Value)| {
        let value = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        WireField { name, value }
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object.into_iter().map(field).collect(),
        _ if text.is_empty() => Vec::new(),
        _ => vec![WireField { name: String::new(), value: text.to_owned() }],
    }
}

/// A row of the table.
struct Row<'a> {
    location: u32,
    time: i64,
    kind: u32,
    fields: &'a str,
}

/// Hands out the rows of a span, of one location or of all; what could not be read. Fields are only there of one.
fn read(
    run: &Opened<'_>,
    (from, to): (i64, i64),
    location: Option<u32>,
    each: &mut dyn FnMut(&Row<'_>),
) -> Vec<String> {
    let mut filters = vec![Filter { column: "time", range: from.max(0)..to.max(0) }];
    filters.extend(location.map(|it| Filter { column: "location", range: i64::from(it)..i64::from(it) + 1 }));
    let all = ["location", "time", "kind", "fields"];
    let columns = if location.is_some() { &all[..] } else { &all[..3] };
    let mut wrong: Option<Error> = None;
    let mut rows = |batch: &Rows| -> Result<(), Error> {
        let (at, times, kinds) = (batch.u32("location")?, batch.i64("time")?, batch.u32("kind")?);
        let fields = if location.is_some() { Some(batch.text("fields")?) } else { None };
        for row in 0..batch.len() {
            let fields = fields.map_or("", |fields| fields[row].as_str());
            each(&Row { location: at[row], time: times[row], kind: kinds[row], fields });
        }
        Ok(())
    };
    let scanned =
        run.archive.scan("events", columns, &filters, |batch| wrong = wrong.take().or(rows(batch).err()));
    let damage = match scanned {
        Ok(scanned) => scanned.damage,
        Err(error) => vec![error],
    };
    damage.iter().chain(&wrong).map(ToString::to_string).collect()
}
