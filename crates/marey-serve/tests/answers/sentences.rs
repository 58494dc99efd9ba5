//! What sentences cost, of the run and of parts of it, against a count of visits that knows nothing of call paths.

use std::collections::BTreeMap;

use marey_testkit::Chance;
use serde_json::{Value, json};

use super::decoded::ask;
use super::sums::nested;
use super::{Made, Row};

/// Level and verb of a pattern; empty = any.
type Pattern = (&'static str, &'static str);

/// Names of a region.
#[derive(Clone)]
struct Names {
    level: String,
    verb: String,
}

fn names(head: &Value) -> Vec<Names> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let region = |it: &Value| Names {
        level: text(&head["levels"][usize::try_from(it["level"].as_u64().unwrap()).unwrap()]),
        verb: text(&it["verb"]),
    };
    head["regions"].as_array().unwrap().iter().map(region).collect()
}

fn wire((level, verb): Pattern) -> Value {
    let word = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    json!({ "level": word(level), "verb": word(verb), "noun": null })
}

/// What a count says.
#[derive(Default)]
struct Truth {
    visits: f64,
    time: f64,
    /// Exclusive, by level and whether it is explicit.
    shares: BTreeMap<(String, bool), f64>,
    by_verb: BTreeMap<String, f64>,
    by_process: BTreeMap<u64, f64>,
}

fn truth(
    made: &Made,
    names: &[Names],
    of: Pattern,
    under: &[Pattern],
    span: (i64, i64),
    who: &[u32],
) -> Truth {
    let fits = |row: &Row, (level, verb): Pattern| {
        let it = &names[row.region as usize];
        (level.is_empty() || it.level == level) && (verb.is_empty() || it.verb == verb)
    };
    let is_meant = |row: &Row, around: &[&Row]| {
        fits(row, of) && under.iter().all(|context| around.iter().any(|outer| fits(outer, *context)))
    };
    let mut found = Truth::default();
    nested(made, span, |row, around, length| {
        if !who.contains(&row.location) {
            return;
        }
        let it = &names[row.region as usize];
        let outermost = (0..around.len()).find(|at| is_meant(around[*at], &around[..*at]));
        let meant = is_meant(row, around);
        found.visits += f64::from(u8::from(meant));
        if meant && outermost.is_none() {
            found.time += length;
            *found.by_verb.entry(it.verb.clone()).or_default() += length;
            *found.by_process.entry(row.location.into()).or_default() += length;
        }
        // What it is beneath, and so what is said by it.
        let explicit = |row: &Row, around: &[&Row], root: usize| {
            let chain: Vec<&Row> = around.iter().copied().chain([row]).collect();
            let context = (0..chain.len()).rev().find(|at| under.iter().any(|it| fits(chain[*at], *it)));
            let said = chain[context.unwrap_or(root)];
            std::ptr::eq(said, row) || names[said.region as usize].level == it_level(names, row)
        };
        let root = if outermost.is_none() && meant { Some(around.len()) } else { outermost };
        if let Some(root) = root {
            let key = (it.level.clone(), explicit(row, around, root));
            *found.shares.entry(key).or_default() += length;
        }
        // It is not exclusive time of what is around it.
        if let Some((outer, above)) = around.split_last() {
            let root = (0..around.len()).find(|at| is_meant(around[*at], &around[..*at]));
            if let Some(root) = root {
                let key = (it_level(names, outer), explicit_of(names, &fits, under, outer, above, root));
                *found.shares.entry(key).or_default() -= length;
            }
        }
    });
    found
}

fn it_level(names: &[Names], row: &Row) -> String {
    names[row.region as usize].level.clone()
}

fn explicit_of(
    names: &[Names],
    fits: &dyn Fn(&Row, Pattern) -> bool,
    under: &[Pattern],
    row: &Row,
    around: &[&Row],
    root: usize,
) -> bool {
    let chain: Vec<&Row> = around.iter().copied().chain([row]).collect();
    let context = (0..chain.len()).rev().find(|at| under.iter().any(|it| fits(chain[*at], *it)));
    let said = chain[context.unwrap_or(root)];
    std::ptr::eq(said, row) || it_level(names, said) == it_level(names, row)
}

const QUESTIONS: &[(Pattern, &[Pattern])] = &[
    (("mpi", ""), &[]),
    (("source", ""), &[]),
    (("", "work3"), &[]),
    (("", ""), &[]),
    (("mpi", "MPI_Recv"), &[("source", "work1")]),
    (("mpi", ""), &[("", "work2"), ("", "work4")]),
    (("source", "work5"), &[("source", "work5")]),
];

fn near(found: f64, truth: f64, what: &str) {
    assert!((found - truth).abs() < 0.5, "{what}: {found} is {truth}");
}

#[test]
fn sentences_cost_what_a_count_of_visits_says() {
    let made = Made::random(33);
    let run = made.open();
    let head = ask(&run, &json!({ "ask": "run" })).head;
    let names = names(&head);
    let end = head["duration_ns"].as_i64().unwrap();
    let mut chance = Chance::new(34);
    for (of, under) in QUESTIONS {
        for turn in 0..6 {
            let from = i64::try_from(chance.below(u64::try_from(end / 2).unwrap())).unwrap();
            let bits = 10 + chance.below(14);
            let to = from + 1 + i64::try_from(chance.below(1 << bits)).unwrap();
            let is_part = turn >= 2;
            let span = if is_part { (from, to) } else { (0, i64::MAX) };
            let who: &[u32] = if turn % 2 == 1 { &[0, 3] } else { &[0, 1, 2, 3] };
            let part = json!({
                "span": if is_part { json!({ "from_ns": from, "to_ns": to }) } else { Value::Null },
                "locations": if turn % 2 == 1 { json!([[3, 4], [0, 1]]) } else { Value::Null },
            });
            let under_wire: Vec<Value> = under.iter().map(|it| wire(*it)).collect();
            let request = |by: &str| {
                let request = json!({ "ask": "sentences", "part": part, "of": wire(*of), "under": under_wire, "by": by });
                ask(&run, &request).head
            };
            let truth = truth(&made, &names, *of, under, span, who);
            let told = request("verb");
            let what = format!("{of:?} under {under:?} in {span:?}");
            near(told["time_ns"].as_f64().unwrap(), truth.time, &what);
            let slack = if is_part { 2.0 } else { 0.0 };
            assert!((told["visits"].as_f64().unwrap() - truth.visits).abs() <= slack, "{what}: {told}");
            let mut shares: BTreeMap<(String, bool), f64> = BTreeMap::new();
            for share in told["shares"].as_array().unwrap() {
                let key =
                    (share["level"].as_str().unwrap().to_owned(), share["is_explicit"].as_bool().unwrap());
                *shares.entry(key).or_default() += share["time_ns"].as_f64().unwrap();
            }
            for (key, time) in &truth.shares {
                near(shares.get(key).copied().unwrap_or(0.0), *time, &format!("{what}: {key:?}"));
            }
            near(shares.values().sum(), truth.time, &format!("{what}: made of"));
            for (by, groups) in [("verb", &told), ("rank", &request("rank")), ("line", &request("line"))] {
                let groups = groups["groups"].as_array().unwrap();
                let sum: f64 = groups.iter().map(|it| it["time_ns"].as_f64().unwrap()).sum();
                near(sum, truth.time, &format!("{what} by {by}"));
                for group in groups {
                    let time = group["time_ns"].as_f64().unwrap();
                    match by {
                        "verb" => near(time, truth.by_verb[group["name"].as_str().unwrap()], &what),
                        "rank" => near(time, truth.by_process[&group["process"].as_u64().unwrap()], &what),
                        _ => {}
                    }
                }
            }
            choices(&made, &names, &told, (*of, under, span, who));
            times(
                &run,
                &json!({ "ask": "sentence-times", "part": part, "of": wire(*of), "under": under_wire, "spans": 7 }),
                &truth,
                &what,
            );
        }
    }
}

/// Whoever chooses what is offered gets what was said of it.
fn choices(made: &Made, names: &[Names], told: &Value, asked: (Pattern, &[Pattern], (i64, i64), &[u32])) {
    let ((level, verb), under, span, who) = asked;
    let mut offered = 0;
    for (list, of) in [("levels", ("", verb)), ("verbs", (level, ""))] {
        for row in told[list]["rows"].as_array().unwrap() {
            let name: &'static str = row["name"].as_str().unwrap().to_owned().leak();
            let of = if list == "levels" { (name, of.1) } else { (of.0, name) };
            let truth = truth(made, names, of, under, span, who);
            near(row["time_ns"].as_f64().unwrap(), truth.time, &format!("{list} {name} of {asked:?}"));
            offered += 1;
            if offered > 6 {
                return;
            }
        }
    }
}

/// The spans add up to the time, and each visit begins once.
fn times(run: &marey_serve::Opened<'_>, request: &Value, truth: &Truth, what: &str) {
    let answer = ask(run, request);
    let time = answer.f64("time");
    assert_eq!(time.len(), 7);
    near(time.iter().sum(), truth.time, &format!("{what} by time"));
    assert!(truth.time < 1e6 || time.iter().filter(|it| **it > 0.0).count() > 1, "{what}: {time:?}");
}

#[test]
fn sentences_without_sense_are_refused() {
    let made = Made::random(35);
    let run = made.open();
    let whole = json!({ "span": null, "locations": null });
    let of = wire(("mpi", ""));
    let many = vec![of.clone(); 65];
    for request in [
        json!({ "ask": "sentences", "part": { "span": { "from_ns": 5, "to_ns": 5 }, "locations": null }, "of": of, "under": [], "by": "verb" }),
        json!({ "ask": "sentences", "part": whole, "of": of, "under": many, "by": "verb" }),
        json!({ "ask": "sentence-times", "part": whole, "of": of, "under": [], "spans": 0 }),
        json!({ "ask": "sections", "part": whole, "array": 0, "axes": [1, 1], "cells": [4, 4] }),
    ] {
        assert_eq!(ask(&run, &request).kind, "error", "{request}");
    }
    // What there is not costs nothing, and what could be asked for in its place is told.
    let told = ask(&run, &json!({ "ask": "sentences", "part": whole, "of": wire(("mpi", "MPI_Nothing")), "under": [], "by": "noun" })).head;
    assert_eq!([&told["visits"], &told["time_ns"]], [0, 0]);
    assert!(told["verbs"]["rows"].as_array().unwrap().iter().any(|it| it["name"] == "MPI_Send"), "{told}");
}
