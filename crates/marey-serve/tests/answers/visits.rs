//! Single visits: what is there, and going from one to the next.

use marey_testkit::{Message, Spool};
use serde_json::{Value, json};

use super::Made;
use super::decoded::ask;

/// The visit of a location that a viewer is told of an instant on its line of a level and depth.
fn visit(made: &Made, (location, level, depth): (u32, u32, u32), at: i64) -> Value {
    let run = made.open();
    let lines = ask(&run, &json!({ "ask": "run" })).head["lines"].as_array().unwrap().clone();
    let is_meant =
        |line: &Value| line["location"] == location && line["level"] == level && line["depth"] == depth;
    let line = lines.iter().position(is_meant).unwrap();
    let request = json!({ "ask": "visit", "line": line, "at_ns": at, "near_ns": 3, "region": null });
    ask(&run, &request).head["visit"].clone()
}

#[test]
fn what_is_there_at_an_instant_is_found_by_its_line() {
    let made = Made::random(10);
    for row in made.rows.iter().step_by(997) {
        let found = visit(&made, (row.location, row.level, row.depth), row.start + (row.end - row.start) / 2);
        assert_eq!((found["start_ns"].as_i64(), found["end_ns"].as_i64()), (Some(row.start), Some(row.end)));
        assert_eq!(found["region"], row.region);
        assert_eq!(found["path"].as_array().unwrap().last().unwrap(), &json!(row.region));
    }
}

/// Calls with nothing between them: whoever goes to where the second begins is told of the second.
#[test]
fn where_a_visit_ends_and_the_next_begins_the_next_is_there() {
    let mut spool = Spool::world(1);
    let process = &mut spool.processes[0];
    let (first, second) = (process.site(0, "first"), process.site(0, "second"));
    for (site, from, to) in [(first, 1000, 2000), (second, 2000, 3000), (first, 3000, 4000)] {
        process.enter(0, site, from);
        process.leave(0, to);
    }
    process.end = Some(5000);
    let made = Made::of(&spool);
    for row in &made.rows {
        let found = visit(&made, (row.location, row.level, row.depth), row.start);
        assert_eq!((found["start_ns"].as_i64(), found["end_ns"].as_i64()), (Some(row.start), Some(row.end)));
    }
}

#[test]
fn the_next_visit_of_a_region_begins_after_and_the_one_before_begins_before() {
    let made = Made::random(11);
    let run = made.open();
    for row in made.rows.iter().step_by(1501) {
        let starts = |region: u32| {
            let mut starts: Vec<i64> =
                made.rows.iter().filter(|it| it.region == region).map(|it| it.start).collect();
            starts.sort_unstable();
            starts
        };
        let starts = starts(row.region);
        for towards in ["next", "previous"] {
            let request = json!({ "ask": "step", "line": null, "region": row.region, "at_ns": row.start, "towards": towards });
            let head = ask(&run, &request).head;
            let truth = match towards {
                "next" => starts.iter().find(|start| **start > row.start),
                _ => starts.iter().rev().find(|start| **start < row.start),
            };
            let found = head["start_ns"].as_i64().filter(|_| !head["line"].is_null());
            assert_eq!(found, truth.copied(), "{towards} of {}", row.start);
        }
    }
}

/// Rank 1 waits for what rank 0 sends; one message is on its way.
#[test]
fn what_locations_did_up_to_an_instant() {
    let mut spool = Spool::world(2);
    for at in [1000, 5000] {
        let message = |peer: i64| Message { communicator: 0, peer, tag: 1, bytes: 8 };
        let (send, receive) =
            (spool.processes[0].site(1, "MPI_Send"), spool.processes[1].site(1, "MPI_Recv"));
        spool.processes[0].enter(0, send, at + 800);
        spool.processes[0].send(0, message(1));
        spool.processes[0].leave(0, at + 900);
        spool.processes[1].enter(0, receive, at);
        spool.processes[1].receive(0, message(0));
        spool.processes[1].leave(0, at + 1000);
    }
    spool.processes[0].end = Some(9000);
    spool.processes[1].end = Some(9000);
    let made = Made::of(&spool);
    let run = made.open();
    let receives: Vec<_> = made.rows.iter().filter(|row| row.location == 1).collect();
    let until = |at: i64| ask(&run, &json!({ "ask": "utilisation", "at_ns": at }));
    // In the middle of the second receive's waiting: the first is over, of the second 400 ns have gone by.
    let middle = until(receives[1].start + 400);
    assert_eq!(middle.head["is_known"], true);
    assert_eq!(middle.f64("waiting"), [0.0, 1200.0]);
    assert_eq!((middle.u32("incoming"), middle.u32("outgoing")), (vec![0, 0], vec![0, 0]));
    let all: f64 = ["waiting", "absent", "busy"].iter().map(|name| middle.f64(name)[1]).sum();
    #[expect(clippy::cast_precision_loss, reason = "a made-up run is short")]
    let whole = (receives[1].start + 400) as f64;
    assert!((all - whole).abs() < 0.5, "{all} is {whole}");
    // Sent at 800, there at 1000.
    let on_its_way = until(receives[0].start + 950);
    assert_eq!((on_its_way.u32("incoming"), on_its_way.u32("outgoing")), (vec![0, 1], vec![1, 0]));
}

/// More messages than a picture has room for stand together, none is lost.
#[test]
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
fn very_many_messages_stand_together() {
    let mut spool = Spool::world(3);
    for process in &mut spool.processes {
        process.window_len = 1 << 20;
    }
    let number = 9_000_u32;
    for at in 0..number {
        let (time, to) = (1000 + 100 * u64::from(at), 1 + at as usize % 2);
        let message = |peer: usize| Message { communicator: 0, peer: peer as i64, tag: 7, bytes: 8 };
        let (send, receive) =
            (spool.processes[0].site(1, "MPI_Send"), spool.processes[to].site(1, "MPI_Recv"));
        spool.processes[0].enter(0, send, time);
        spool.processes[0].send(0, message(to));
        spool.processes[0].leave(0, time + 20);
        spool.processes[to].enter(0, receive, time + 10);
        spool.processes[to].receive(0, message(0));
        spool.processes[to].leave(0, time + 60);
    }
    let made = Made::of(&spool);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    let ask_for = |to: i64| {
        ask(
            &run,
            &json!({ "ask": "messages", "from_ns": 0, "to_ns": to, "resolution_log2": 12, "locations": [[0, 3]], "exact": false }),
        )
    };
    let all = ask_for(end + 1);
    assert_eq!(all.head["number"], number);
    let counts = all.u32("count");
    assert!(counts.len() < 5000 && counts.iter().all(|count| *count > 0), "{}", counts.len());
    assert_eq!(counts.iter().sum::<u32>(), number);
    assert!((all.f64("bytes").iter().sum::<f64>() - 8.0 * f64::from(number)).abs() < 0.5);
    let (sent, received) = (all.f64("send_time"), all.f64("receive_time"));
    assert!(sent.iter().zip(&received).all(|(sent, received)| sent < received && *received <= end as f64));
    let (from, to) = (all.u32("send_location"), all.u32("receive_location"));
    assert!(from.iter().all(|it| *it == 0) && to.contains(&1) && to.contains(&2));
    // Few enough are told one by one.
    let some = ask_for(end / 4);
    assert!(some.u32("count").iter().all(|count| *count == 1));
    assert_eq!(some.head["number"], some.u32("count").len());
}

/// Rank 0 sends twice to rank 1.
#[test]
fn a_visit_tells_its_messages() {
    let mut spool = Spool::world(2);
    for (at, tag) in [(1000, 7), (3000, 8)] {
        let message = |peer: i64| Message { communicator: 0, peer, tag, bytes: 8 };
        let (send, receive) =
            (spool.processes[0].site(1, "MPI_Send"), spool.processes[1].site(1, "MPI_Recv"));
        spool.processes[0].enter(0, send, at);
        spool.processes[0].send(0, message(1));
        spool.processes[0].leave(0, at + 100);
        spool.processes[1].enter(0, receive, at + 50);
        spool.processes[1].receive(0, message(0));
        spool.processes[1].leave(0, at + 300);
    }
    let made = Made::of(&spool);
    let starts: Vec<i64> = made.rows.iter().filter(|row| row.location == 1).map(|row| row.start).collect();
    for (start, tag) in starts.into_iter().zip([7, 8]) {
        let found = visit(&made, (1, 1, 0), start + 1);
        let messages = found["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 1, "{found}");
        assert_eq!((&messages[0]["from"], &messages[0]["to"]), (&json!(0), &json!(1)));
        assert_eq!((&messages[0]["tag"], &messages[0]["bytes"]), (&json!(tag), &json!(8)));
        assert_eq!(found["all_messages"], true);
    }
}
