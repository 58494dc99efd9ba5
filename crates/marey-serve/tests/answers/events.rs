//! Instants that the program marked, against the rows of their table.

use std::collections::BTreeMap;

use marey_model::spool::{Definition, Record, put};
use marey_testkit::{Chance, Spool};
use serde_json::{Value, json};

use super::Made;
use super::decoded::ask;

/// Three ranks that mark instants of two kinds, near to each other and far; the last says something of its visits, too.
pub(super) fn marking(seed: u64) -> Made {
    let mut chance = Chance::new(seed);
    let mut spool = Spool::world(3);
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        for (id, name, attribute) in [(1, "tick", false), (2, "tock", false), (3, "step", true)] {
            let fields = vec![("n".to_owned(), 0)];
            process.definitions.push(Definition::EventKind { id, name: name.to_owned(), attribute, fields });
        }
        let work = process.site(0, "work");
        let mut now = 1000;
        for number in 0..800 {
            let bits = 1 + chance.below(14);
            now += chance.below(1 << bits);
            let mut fields = Vec::new();
            put(&mut fields, number);
            if number % 5 == 0 {
                process.enter(0, work, now);
                if rank == 2 {
                    process.untimed(0, Record::Attribute { kind: 3, fields: &fields });
                }
                now += 1 + chance.below(50);
                process.leave(0, now);
            } else {
                let kind = 1 + u32::from(chance.below(3) == 0);
                let fields: &'static [u8] = fields.leak();
                process.timed(0, now, |delta| Record::Event { kind, delta, fields });
            }
        }
        process.end = Some(now + 100);
    }
    Made::of(&spool)
}

/// A row: location, time, kind, fields.
type Row = (u32, i64, u32, String);

fn rows(made: &Made) -> Vec<Row> {
    let table = made.archive.table("events").unwrap();
    let row = |row: usize| {
        let (location, kind) = (table.u32("location").unwrap()[row], table.u32("kind").unwrap()[row]);
        (location, table.i64("time").unwrap()[row], kind, table.text("fields").unwrap()[row].clone())
    };
    (0..table.len()).map(row).collect()
}

/// Kinds that are instants.
fn instants(made: &Made) -> Vec<u32> {
    let kinds = made.archive.table("event_kinds").unwrap();
    let all = (0..).zip(kinds.text("kind").unwrap());
    all.filter(|(_, kind)| *kind == "event").map(|(number, _)| number).collect()
}

#[test]
fn marks_have_all_instants_of_any_window_and_nothing_else() {
    let made = marking(31).in_slabs("events", |row| u32::from(row % 7 > 3));
    let (run, instants) = (made.open(), instants(&made));
    let rows: Vec<Row> = rows(&made).into_iter().filter(|row| instants.contains(&row.2)).collect();
    let end = rows.iter().map(|row| row.1).max().unwrap();
    let mut chance = Chance::new(32);
    let (mut alone, mut together) = (0, 0);
    for _ in 0..300 {
        let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
        let bits = 3 + chance.below(20);
        let to = from + 1 + i64::try_from(chance.below(1 << bits)).unwrap();
        let first = u32::try_from(chance.below(3)).unwrap();
        let log2 = (to - from).ilog2().saturating_sub(u32::try_from(4 + chance.below(7)).unwrap());
        let asked = json!({ "ask": "events", "from_ns": from, "to_ns": to, "resolution_log2": log2,
            "locations": [[first, 3]], "exact": false });
        let answer = ask(&run, &asked);
        // Slowly: by location and group of eight buckets, all instants.
        let mut expected: BTreeMap<(u32, i64), Vec<(i64, u32)>> = BTreeMap::new();
        for (location, time, kind, _) in &rows {
            if *location >= first && from <= *time && *time < to {
                expected.entry((*location, time / (8 << log2))).or_default().push((*time, *kind));
            }
        }
        let number: usize = expected.values().map(Vec::len).sum();
        assert_eq!(answer.head["number"], number);
        let (location, number) = (answer.u32("location"), answer.u32("number"));
        let (time, last, kind) = (answer.f64("time"), answer.f64("last"), answer.u32("kind"));
        assert_eq!(location.len(), expected.len(), "{asked}");
        for (mark, ((of, _), all)) in expected.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
            let ends = (
                all.iter().map(|it| it.0).min().unwrap() as f64,
                all.iter().map(|it| it.0).max().unwrap() as f64,
            );
            assert_eq!((location[mark], number[mark] as usize), (*of, all.len()), "{asked}");
            assert_eq!((time[mark], last[mark]), ends, "{asked}");
            #[expect(clippy::cast_possible_truncation, reason = "made-up runs are short")]
            let is_first = |it: &&(i64, u32)| it.0 == time[mark] as i64 && it.1 == kind[mark];
            assert!(all.iter().any(|it| is_first(&it)), "{asked}");
            alone += usize::from(all.len() == 1);
            together += usize::from(all.len() > 1);
        }
    }
    assert!(alone > 500 && together > 500, "{alone} alone, {together} together");
}

#[test]
fn instants_of_a_mark_are_told_with_their_fields() {
    let made = marking(33);
    let (run, instants) = (made.open(), instants(&made));
    let all: Vec<Row> =
        rows(&made).into_iter().filter(|row| row.0 == 1 && instants.contains(&row.2)).collect();
    let (from, to) = (all[20].1, all[50].1);
    let answer = ask(&run, &json!({ "ask": "events-at", "location": 1, "from_ns": from, "to_ns": to }));
    let expected: Vec<Value> = all
        .iter()
        .filter(|row| from <= row.1 && row.1 < to)
        .map(|(_, time, kind, fields)| {
            let value = serde_json::from_str::<Value>(fields).unwrap()["n"].to_string();
            json!({ "kind": kind, "time_ns": time, "fields": [{ "name": "n", "value": value }] })
        })
        .collect();
    assert!(expected.len() > 10);
    assert_eq!(answer.head["events"], Value::Array(expected.clone()));
    assert_eq!(answer.head["number"], expected.len());

    let many = ask(&run, &json!({ "ask": "events-at", "location": 1, "from_ns": 0, "to_ns": i64::MAX }));
    assert_eq!(many.head["number"], all.len());
    assert_eq!(many.head["events"].as_array().unwrap().len(), 100);
}

#[test]
fn a_visit_has_what_the_program_said_of_it() {
    let made = marking(34);
    let run = made.open();
    let attributes: Vec<Row> =
        rows(&made).into_iter().filter(|row| !instants(&made).contains(&row.2)).collect();
    assert!(attributes.len() > 100 && attributes.iter().all(|row| row.0 == 2));
    let lines = ask(&run, &json!({ "ask": "run" })).head["lines"].clone();
    let of = |location: u32| {
        lines.as_array().unwrap().iter().position(|line| line["location"] == location).unwrap()
    };
    for (location, is_told) in [(2, true), (1, false)] {
        for (_, time, _, fields) in attributes.iter().step_by(10) {
            let at = json!({ "ask": "visit", "line": of(location), "at_ns": time, "near_ns": 1_i64 << 40, "region": null });
            let visit = ask(&run, &at).head["visit"].clone();
            let value = serde_json::from_str::<Value>(fields).unwrap()["n"].to_string();
            let expected = if is_told { json!([{ "name": "step.n", "value": value }]) } else { json!([]) };
            assert_eq!(visit["fields"], expected, "{at}");
        }
    }
}
