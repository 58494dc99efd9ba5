//! A run as a page holds it: in memory, without the tables that nobody asks for, and perhaps without single visits.

use std::path::Path;

use marey_archive::{Archive, pack_tables, prepare};
use marey_serve::{Opened, SPARED, TABLES, answer};
use marey_testkit::{Message, Spool};
use serde_json::{Value, json};

use super::Made;
use super::counters::counting;
use super::decoded::ask;
use super::events::marking;
use super::operations::meeting;
use super::overlaps::overlapping;

/// The run in memory, without some of its tables.
pub(super) fn held(made: &Made, spared: &[&str]) -> Opened<'static> {
    let tables: Vec<&str> = TABLES.iter().copied().filter(|table| !spared.contains(table)).collect();
    let bytes = pack_tables(&made.dir.path().join("run"), &tables, spared).unwrap();
    let archive = Archive::open_in_memory(Path::new("page"), bytes).unwrap();
    Opened::new(Box::leak(Box::new(archive)), "made", Vec::new).unwrap()
}

fn window(ask: &str, (from, to): (i64, i64), log2: u32) -> Value {
    json!({
        "ask": ask, "from_ns": from, "to_ns": to, "resolution_log2": log2, "locations": [[0, 9]], "exact": false
    })
}

/// All that can be asked, about the whole run and about a piece of it.
fn requests(end: i64) -> Vec<Value> {
    let mut all = vec![
        json!({ "ask": "run" }),
        json!({ "ask": "shares", "span": null }),
        json!({ "ask": "shares", "span": { "from_ns": end / 5, "to_ns": end / 2 } }),
        json!({ "ask": "call-paths", "from_ns": end / 5, "to_ns": end / 2 }),
        json!({ "ask": "levels" }),
        json!({ "ask": "situations" }),
        json!({ "ask": "counter-places" }),
        json!({ "ask": "overlap-places" }),
        json!({ "ask": "anomalies" }),
        json!({ "ask": "utilisation", "at_ns": end / 2 }),
    ];
    let sample =
        json!({ "from_ns": 0, "to_ns": end, "locations": [[0, 9]], "regions": [1, 0], "of": "duration" });
    all.push(json!({ "ask": "histogram", "sample": sample, "bins": 9, "logarithmic": true, "range": null }));
    for which in [json!({ "range": [0, 5000] }), json!({ "normal": 10.0 }), json!({ "anomalous": 1.0 })] {
        all.push(json!({ "ask": "instances", "sample": sample, "which": which }));
    }
    for (span, log2) in [((0, end), 12), ((end / 3, end / 3 + 9000), 3)] {
        let asks =
            ["states", "totals", "course", "messages", "collectives", "overlaps", "events", "waits", "path"];
        all.extend(asks.iter().map(|ask| window(ask, span, log2)));
        all.extend((0..4).map(
            |line| json!({ "ask": "visit", "line": line, "at_ns": span.0, "near_ns": end, "region": null }),
        ));
        all.push(json!({ "ask": "events-at", "location": 1, "from_ns": span.0, "to_ns": span.1 }));
        all.push(json!({ "ask": "collective-sums", "from_ns": span.0, "to_ns": span.1 }));
        all.push(json!({ "ask": "traffic", "from_ns": span.0, "to_ns": span.1, "processes": [[0, 9], [0, 9]], "pair": null,
            "sizes": null, "durations": null, "tag": null, "order": "bytes" }));
        all.push(json!({ "ask": "collective", "communicator": 0, "instance": 3 }));
        let mut of_counters = window("counters", span, log2);
        of_counters.as_object_mut().unwrap().remove("ask");
        all.push(json!({ "ask": "counters", "counters": [0, 1], "window": of_counters }));
        all.push(json!({ "ask": "step", "line": null, "region": 1, "at_ns": span.0, "towards": "next" }));
    }
    all
}

/// Two ranks, one of which is always late with its messages.
fn talking() -> Made {
    let mut spool = Spool::world(2);
    for at in (1000..90_000).step_by(500) {
        let message = |peer: i64| Message { communicator: 0, peer, tag: 3, bytes: 8 };
        let (send, receive) =
            (spool.processes[0].site(1, "MPI_Send"), spool.processes[1].site(1, "MPI_Recv"));
        spool.processes[0].enter(0, send, at + 200);
        spool.processes[0].send(0, message(1));
        spool.processes[0].leave(0, at + 250);
        spool.processes[1].enter(0, receive, at);
        spool.processes[1].receive(0, message(0));
        spool.processes[1].leave(0, at + 300);
    }
    let made = Made::of(&spool);
    let run = made.dir.path().join("run");
    prepare(&run).unwrap();
    Made { archive: Box::leak(Box::new(Archive::open(&run).unwrap())), ..made }
}

#[test]
fn a_page_answers_as_a_server_does() {
    for made in
        [Made::random(20), talking(), meeting(21, 50, 1), counting(22), overlapping(23, 5), marking(24)]
    {
        let (run, page) = (made.open(), held(&made, SPARED[0]));
        let end = made.rows.iter().map(|row| row.end).max().unwrap();
        for request in requests(end) {
            let text = request.to_string();
            assert_eq!(answer(&page, text.as_bytes()), answer(&run, text.as_bytes()), "{request}");
        }
    }
}

#[test]
fn what_a_page_was_told_of_two_runs_it_tells() {
    let made = Made::random(20);
    let page = held(&made, SPARED[0]).told("other", b"one".to_vec(), b"two".to_vec());
    assert_eq!(ask(&page, &json!({ "ask": "run" })).head["other"], "other");
    assert_eq!(answer(&page, br#"{"ask":"compare"}"#), b"one");
    assert_eq!(answer(&page, br#"{"ask":"iterations"}"#), b"two");
}

#[test]
fn without_visits_pictures_are_of_buckets_and_say_so() {
    let made = Made::random(21);
    let (run, page) = (made.open(), held(&made, &["intervals"]));
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    assert_eq!(ask(&run, &json!({ "ask": "run" })).head["left_out"], json!([]));
    let head = ask(&page, &json!({ "ask": "run" })).head;
    assert_eq!(head["left_out"], json!(["visits"]));
    assert_eq!(head["intervals"], made.rows.len());

    // What buckets can tell they tell exactly.
    let coarse = window("totals", (0, 1 << 40), 30);
    assert_eq!(ask(&page, &coarse).f64("time"), ask(&run, &coarse).f64("time"));

    let fine = window("states", (end / 2, end / 2 + 2000), 0);
    for exact in [false, true] {
        let mut fine = fine.clone();
        fine["exact"] = exact.into();
        let states = ask(&page, &fine);
        assert_eq!(states.head["trust"]["is_exact"], false);
        assert_eq!(states.head["visits"], 0);
        assert!(!states.u32("line").is_empty(), "there is a picture");
    }
    let visit = json!({ "ask": "visit", "line": 0, "at_ns": end / 2, "near_ns": end, "region": null });
    assert_eq!(ask(&page, &visit).head["visit"], Value::Null);
}

#[test]
fn without_messages_there_are_none_and_that_is_said() {
    let made = talking();
    let page = held(&made, &["messages"]);
    assert_eq!(ask(&page, &json!({ "ask": "run" })).head["left_out"], json!(["messages"]));
    assert_eq!(ask(&page, &window("messages", (0, 1 << 40), 30)).head["number"], 0);
    // They were needed to find the waits, which are there as they were found.
    let waits = window("waits", (0, 1 << 40), 30);
    let found = ask(&page, &waits);
    assert!(found.head["number"].as_u64().unwrap() > 100, "{}", found.head);
    assert_eq!(found.head, ask(&made.open(), &waits).head);
}
