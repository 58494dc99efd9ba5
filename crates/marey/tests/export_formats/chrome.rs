//! Chrome trace events, as a plain parser of JSON finds them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::figures::{Figures, Sums};
use crate::place::Place;
use crate::{ODD_NAMES, messages_run, odd_run, sample};

fn trace(place: &Place, run: &str) -> Value {
    let file = format!("{run}.json");
    place.ok(&["export", run, "--to", "chrome", "-o", &file]);
    serde_json::from_str(&std::fs::read_to_string(place.path(&file)).unwrap()).unwrap()
}

fn events<'a>(trace: &'a Value, phase: &str) -> Vec<&'a Value> {
    trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == phase).collect()
}

/// µs with three digits, as ns.
fn ns(value: &Value) -> i64 {
    let text = value.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, "0"));
    whole.parse::<i64>().unwrap() * 1000 + format!("{part:0<3}")[..3].parse::<i64>().unwrap()
}

/// Location by process and thread, in the order in which they are named.
fn location(trace: &Value, event: &Value) -> u64 {
    let is_name = |it: &&Value| it["name"] == "thread_name";
    let named: Vec<&Value> = events(trace, "M").into_iter().filter(is_name).collect();
    let is_it = |it: &&Value| it["pid"] == event["pid"] && it["tid"] == event["tid"];
    named.iter().position(is_it).unwrap() as u64
}

fn check(place: &Place, run: &str) -> Value {
    let figures = Figures::of(place, run);
    let trace = trace(place, run);
    let mut sums = Sums::new();
    for event in events(&trace, "X") {
        let key = (location(&trace, event), event["name"].as_str().unwrap().to_owned());
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + 1, sum.1 + ns(&event["dur"]));
    }
    assert_eq!(sums, figures.sums, "{run}");
    let begin = events(&trace, "X").into_iter().map(|it| ns(&it["ts"])).min().unwrap();
    let mut messages = BTreeMap::new();
    for event in events(&trace, "s").into_iter().filter(|it| it["cat"] == "message") {
        messages.insert(event["id"].to_string(), event);
    }
    let mut told = Vec::new();
    for event in events(&trace, "f").into_iter().filter(|it| it["cat"] == "message") {
        let sent = messages[&event["id"].to_string()];
        let (from, to) = (location(&trace, sent), location(&trace, event));
        let (bytes, tag) = (event["args"]["bytes"].as_u64().unwrap(), event["args"]["tag"].as_i64().unwrap());
        assert_eq!(sent["args"], event["args"]);
        told.push((from, to, ns(&sent["ts"]) - begin, ns(&event["ts"]) - begin, bytes, tag));
    }
    told.sort_unstable();
    assert_eq!(told, figures.messages, "{run}");
    let n = |phase: &str| events(&trace, phase).len() as u64;
    assert_eq!(n("C"), figures.count("counter") + figures.count("heap_peak"), "{run}");
    assert_eq!((n("b"), n("e")), (figures.count("begin"), figures.count("end")), "{run}");
    assert_eq!(n("i"), figures.count("instant") + figures.count("collective"), "{run}");
    place.ok(&["import", &format!("{run}.json"), "-o", "back.marey"]);
    let back = Figures::of(place, "back.marey");
    assert_eq!(back.sums, figures.sums, "{run} after a round trip");
    assert_eq!((back.count("begin"), back.count("end")), (figures.count("begin"), figures.count("end")));
    assert_eq!(back.count("counter"), n("C"));
    trace
}

#[test]
fn visits_messages_and_the_rest_are_those_of_the_run() {
    let place = Place::new();
    sample::write(&place.path("sample.marey"));
    let trace = check(&place, "sample.marey");
    let sent = events(&trace, "s")[0];
    let expected = serde_json::json!({ "from": "rank 1 main", "to": "rank 0 main", "bytes": 64, "tag": 7, "communicator": "MPI_COMM_WORLD" });
    assert_eq!(sent["args"], expected);
    let halo = events(&trace, "X")[0];
    let expected = serde_json::json!({ "level": "source", "verb": "execute", "noun": "halo", "place": "/src/halo.cpp:30" });
    assert_eq!(
        (&halo["args"], halo["ts"].to_string(), halo["dur"].to_string()),
        (&expected, "10000.0".to_owned(), "20000.0".to_owned())
    );
    assert_eq!(trace["otherData"]["command"], "mpirun -n 2 ./app");
    assert_eq!(events(&trace, "C")[1]["args"]["value"], 0.25);
    let step = events(&trace, "i").into_iter().find(|it| it["name"] == "step").unwrap();
    assert_eq!(step["args"], serde_json::json!({ "n": 1 }));
}

#[test]
fn a_trace_with_states_and_collectives_is_whole() {
    let place = Place::new();
    messages_run(&place);
    let trace = check(&place, "messages.marey");
    let ends = events(&trace, "e");
    for begin in events(&trace, "b") {
        assert_eq!(
            ends.iter().filter(|it| it["id"] == begin["id"] && it["name"] == begin["name"]).count(),
            1
        );
    }
}

#[test]
fn odd_names_survive() {
    let place = Place::new();
    odd_run(&place);
    let trace = check(&place, "odd.marey");
    for name in ODD_NAMES {
        assert!(events(&trace, "X").iter().any(|it| it["name"] == name), "{name}");
        assert!(events(&trace, "C").iter().any(|it| it["name"] == name), "{name}");
        assert!(events(&trace, "M").iter().any(|it| it["args"]["name"] == name), "{name}");
    }
}
