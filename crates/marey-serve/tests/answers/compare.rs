//! Two runs side by side, against what a count of the visits of each says.

use std::collections::BTreeMap;

use marey_analyze::{Digest, causes};
use marey_archive::{Archive, Events, RunTrace};
use marey_serve::{Compared, Opened};
use marey_testkit::{Message, Spool};
use serde_json::{Value, json};

use super::decoded::{Decoded, ask};
use super::{Made, Row};

/// Stands for a region that there is not.
const NONE: u32 = u32::MAX;
const STEPS: u64 = 40;

/// Ranks that solve and then talk, step by step: rank 0 solves for `solve` ns and sends to rank 1, which is done after
/// 200 ns and waits. What `extra` names is done besides by the last.
fn steps(ranks: u32, solve: u64, extra: &str) -> Made {
    let mut spool = Spool::world(ranks);
    let message = |peer: i64| Message { communicator: 0, peer, tag: 3, bytes: 8 };
    let last = spool.processes.len() - 1;
    let begin = 500 * u64::from(ranks);
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        // In another order in each run, so that numbers of regions say nothing.
        let names = if ranks == 2 { ["step", "solve", extra] } else { [extra, "solve", "step"] };
        let [first, solving, third] = names.map(|name| process.site(0, name));
        let (step, more) = if ranks == 2 { (first, third) } else { (third, first) };
        let (send, receive) = (process.site(1, "MPI_Send"), process.site(1, "MPI_Recv"));
        for number in 0..STEPS {
            let at = begin + number * (solve + 700);
            let solved = at + 10 + if rank == 0 { solve } else { 200 };
            process.enter(0, step, at);
            process.enter(0, solving, at + 10);
            process.leave(0, solved);
            if rank == last {
                process.enter(0, more, solved + 5);
                process.leave(0, solved + 25);
            }
            if rank == 0 {
                process.enter(0, send, solved + 30);
                process.send(0, message(1));
                process.leave(0, solved + 60);
            }
            if rank == 1 {
                process.enter(0, receive, solved + 30);
                process.receive(0, message(0));
                process.leave(0, at + solve + 150);
            }
            process.leave(0, at + solve + 200);
        }
        process.end = Some(begin + STEPS * (solve + 700) + 50);
    }
    Made::of(&spool)
}

fn digest(archive: &Archive) -> Digest {
    let trace = RunTrace::load(archive).unwrap();
    let events = Events::open(archive, &trace).unwrap();
    let mut digest = Digest::new(&trace);
    digest.explain(&trace, &causes(&trace, &events).unwrap());
    digest
}

fn beside(base: &Made, other: &Made) -> Opened<'static> {
    let archives = (base.archive, other.archive);
    let said = || vec!["It is said.".to_owned()];
    base.open().beside(other.open(), move || {
        let (base, other) = (digest(archives.0), digest(archives.1));
        Ok(Compared { base, other, sentences: said(), remarks: Vec::new() })
    })
}

fn compared(base: &Made, other: &Made) -> Decoded {
    ask(&beside(base, other), &json!({ "ask": "compare" }))
}

/// Time of a run in each region itself and visits of it, by its name: each visit less those right inside it.
fn own_times(made: &Made) -> BTreeMap<String, (i64, u64)> {
    let names = names(made);
    let mut sums: BTreeMap<String, (i64, u64)> = BTreeMap::new();
    let mut rows = made.rows.clone();
    rows.sort_by_key(|row| (row.location, row.start, std::cmp::Reverse(row.end), row.level, row.depth));
    let mut around: Vec<Row> = Vec::new();
    for row in rows {
        let is_over =
            |outer: &Row| outer.location != row.location || outer.end < row.end || outer.end <= row.start;
        while around.last().is_some_and(is_over) {
            around.pop();
        }
        if let Some(outer) = around.last() {
            sums.entry(names[outer.region as usize].clone()).or_default().0 -= row.end - row.start;
        }
        let sum = sums.entry(names[row.region as usize].clone()).or_default();
        *sum = (sum.0 + row.end - row.start, sum.1 + 1);
        around.push(row);
    }
    sums
}

fn names(made: &Made) -> Vec<String> {
    let head = ask(&made.open(), &json!({ "ask": "run" })).head;
    head["regions"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

fn rows(table: &Value) -> &[Value] {
    table["rows"].as_array().unwrap()
}

fn row<'v>(table: &'v Value, name: &str) -> &'v Value {
    rows(table).iter().find(|row| row["place"]["name"] == name).unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
#[test]
fn times_and_calls_of_regions_are_what_a_count_of_both_says() {
    for (base, other) in [(steps(2, 500, "old"), steps(3, 900, "new")), (Made::random(51), Made::random(52))]
    {
        let found = compared(&base, &other);
        let processes = |made: &Made| {
            let head = ask(&made.open(), &json!({ "ask": "run" })).head;
            head["processes"].as_array().unwrap().len() as f64
        };
        let (old_n, new_n) = (processes(&base), processes(&other));
        let divisors = if old_n == new_n { (1.0, 1.0) } else { (old_n, new_n) };
        assert_eq!(found.head["divisors"], json!([divisors.0, divisors.1]));
        let (old, new) = (own_times(&base), own_times(&other));
        let all: Vec<&String> = old.keys().chain(new.keys()).collect();
        let table = &found.head["regions"];
        for name in &all {
            let row = row(table, name);
            let none = (0, 0);
            let (a, b) = (old.get(*name).unwrap_or(&none), new.get(*name).unwrap_or(&none));
            let near = |found: &Value, truth: f64| {
                assert!((found.as_f64().unwrap() - truth).abs() < 1e-6 * truth.abs() + 1e-6, "{name}: {row}");
            };
            near(&row["old"], a.0 as f64 / divisors.0);
            near(&row["new"], b.0 as f64 / divisors.1);
            near(&row["calls"][0], a.1 as f64 / divisors.0);
            near(&row["calls"][1], b.1 as f64 / divisors.1);
        }
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(rows(table).len(), distinct.len());
        let sizes =
            rows(table).iter().map(|row| (row["new"].as_f64().unwrap() - row["old"].as_f64().unwrap()).abs());
        assert!(sizes.is_sorted_by(|a, b| b <= a), "the largest difference comes first");
    }
}

#[test]
fn regions_and_locations_are_the_same_if_their_names_are() {
    let (base, other) = (steps(2, 500, "old"), steps(3, 900, "new"));
    let found = compared(&base, &other);
    let (old, new) = (names(&base), names(&other));
    assert_ne!(old[0], new[0], "their numbers differ");
    let same = found.u32("same_region");
    assert_eq!(same.len(), new.len());
    for (name, place) in new.iter().zip(same) {
        let expected = old.iter().position(|it| it == name).map_or(NONE, |it| u32::try_from(it).unwrap());
        assert_eq!(place, expected, "{name}");
    }
    assert_eq!(found.u32("same_location"), [0, 1, NONE]);
    for (name, ids) in [("old", (true, false)), ("new", (false, true)), ("solve", (true, true))] {
        let place = &row(&found.head["regions"], name)["place"];
        assert_eq!((place["base"].is_u64(), place["other"].is_u64()), ids, "{place}");
        let of =
            |names: &[String], id: &Value| id.as_u64().map(|id| names[usize::try_from(id).unwrap()].clone());
        assert!(of(&old, &place["base"]).is_none_or(|it| it == name));
        assert!(of(&new, &place["other"]).is_none_or(|it| it == name));
    }
}

#[test]
fn nothing_of_the_difference_of_the_lengths_is_left_over() {
    let (base, other) = (steps(2, 500, "old"), steps(3, 900, "new"));
    let found = compared(&base, &other);
    let length =
        |made: &Made| ask(&made.open(), &json!({ "ask": "run" })).head["duration_ns"].as_f64().unwrap();
    let difference = |row: &Value| row["new"].as_f64().unwrap() - row["old"].as_f64().unwrap();
    let sum: f64 = rows(&found.head["path"]).iter().map(difference).sum();
    let before = rows(&found.head["path"]).iter().find(|row| row["place"]["activity"] == "before").unwrap();
    assert!((difference(before) - 500.0).abs() < 0.5, "{before}");
    assert!((sum - (length(&other) - length(&base))).abs() < 0.5, "{sum}");
    assert!(sum > 15_000.0);
    assert_eq!(found.head["sentences"], json!(["It is said."]));
}

#[test]
fn the_reason_of_a_difference_is_what_was_changed() {
    let found = compared(&steps(2, 500, "old"), &steps(2, 900, "new"));
    let regions = &found.head["regions"];
    let why = |name: &str| row(regions, name)["why"].clone();
    assert_eq!((&why("solve")["what"], &why("solve")["function"]), (&json!("each"), &json!("")));
    // 40 times 500 ns of rank 0 and 200 ns of rank 1, and then 900 ns instead of 500 ns.
    assert_eq!((why("solve")["old"].as_f64(), why("solve")["new"].as_f64()), (Some(350.0), Some(550.0)));
    assert_eq!((&why("old")["what"], &why("old")["old"]), (&json!("gone"), &json!(40.0)));
    assert_eq!((&why("new")["what"], &why("new")["new"]), (&json!("new"), &json!(40.0)));
    let waiting = why("MPI_Recv");
    assert_eq!(waiting["what"], "waiting");
    assert_eq!(waiting["place"]["name"], "solve", "that is what was waited for");
    assert!((waiting["new"].as_f64().unwrap() - waiting["old"].as_f64().unwrap() - 40.0 * 400.0).abs() < 1.0);
    let waits = rows(&found.head["waits"]);
    assert_eq!(
        (&waits[0]["pattern"], &waits[0]["place"]["name"]),
        (&json!("late sender"), &json!("MPI_Recv"))
    );
}

#[test]
fn iterations_stand_beside_each_other_with_their_own_times() {
    let (base, other) = (steps(2, 500, "old"), steps(3, 900, "new"));
    let found = ask(&beside(&base, &other), &json!({ "ask": "iterations" }));
    assert_eq!((&found.head["is_same"], &found.head["per"]), (&json!(true), &json!(1)));
    assert_eq!(found.head["base"]["number"], STEPS);
    assert_eq!(found.head["other"]["number"], STEPS);
    // Each is a visit of `step`, and there are 500 ns between two.
    for (names, length) in [(("base_from", "base_to"), 700.0), (("other_from", "other_to"), 1100.0)] {
        let (from, to) = (found.f64(names.0), found.f64(names.1));
        assert_eq!((from.len(), to.len()), (40, 40));
        for number in 1..40 {
            assert_eq!((from[number] - to[number - 1], to[number] - from[number]), (500.0, length));
        }
    }
}

#[test]
fn one_run_has_nothing_to_be_compared_with() {
    let made = steps(2, 500, "old");
    for what in ["compare", "iterations"] {
        let refused = ask(&made.open(), &json!({ "ask": what }));
        assert_eq!(refused.kind, "error");
        assert!(
            refused.head["message"].as_str().unwrap().contains("marey view BASE OTHER"),
            "{}",
            refused.head
        );
    }
    let both = beside(&made, &steps(3, 900, "new"));
    assert_eq!(ask(&both, &json!({ "ask": "run" })).head["other"], "made");
    assert!(
        both.numbered(1).is_some_and(|other| ask(other, &json!({ "ask": "run" })).head["other"].is_null())
    );
    assert!(both.numbered(2).is_none());
}

#[test]
fn what_cannot_be_compared_says_why() {
    let (base, other) = (steps(2, 500, "old"), steps(3, 900, "new"));
    let both = base.open().beside(other.open(), || Err("one of them is gone".to_owned()));
    for what in ["compare", "iterations"] {
        let refused = ask(&both, &json!({ "ask": what }));
        assert_eq!(
            (refused.kind.as_str(), &refused.head["message"]),
            ("error", &json!("one of them is gone"))
        );
    }
}
