//! What stands above the rows: situations and anomalous visits of runs that were made to have them.

use marey_archive::{Archive, prepare};
use marey_serve::Opened;
use marey_testkit::{Chance, Message, Spool};
use serde_json::{Value, json};

use super::Made;
use super::decoded::ask;

/// The name of the region of a call.
fn region(run: &Opened<'_>, call: &Value) -> String {
    let regions = ask(run, &json!({ "ask": "run" })).head["regions"].clone();
    let number = usize::try_from(call["region"].as_u64().unwrap()).unwrap();
    regions[number]["name"].as_str().unwrap().to_owned()
}

fn situations(run: &Opened<'_>, kind: &str) -> Vec<Value> {
    let head = ask(run, &json!({ "ask": "situations" })).head;
    assert_eq!(head["is_known"], true);
    assert_eq!(head["damage"], json!([]));
    head["situations"].as_array().unwrap().iter().filter(|it| it["kind"] == kind).cloned().collect()
}

/// Rank 1 goes round in 10 µs, and from the 50th time on in 40 µs, for it grinds for 30 µs more; rank 0 does not.
#[test]
fn a_slow_down_is_told_with_its_cause() {
    let mut spool = Spool::world(2);
    let mut begin = 0;
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        process.window_len = 1 << 20;
        let (call, grind) = (process.site(1, "MPI_Iprobe"), process.site(0, "grind"));
        let mut now = 1000;
        for time in 0..100 {
            if rank == 1 && time == 50 {
                begin = now;
            }
            process.enter(0, grind, now);
            now += if rank == 1 && time >= 50 { 35_000 } else { 5_000 };
            process.leave(0, now);
            process.enter(0, call, now + 1000);
            process.leave(0, now + 5_000);
            now += 5_000;
        }
        process.end = Some(now);
    }
    let made = Made::of(&spool);
    let run = made.open();
    let first = made.rows.iter().map(|row| row.start).min().unwrap() - 1000;
    let found = situations(&run, "slow-down");
    assert_eq!(found.len(), 1, "{found:?}");
    let it = &found[0];
    assert_eq!(it["locations"], json!([1]));
    let begin = first + i64::try_from(begin).unwrap();
    assert!((it["from_ns"].as_i64().unwrap() - begin).abs() <= 10_000, "{it} begins at {begin}");
    assert!(it["to_ns"].as_i64().unwrap() > begin + 49 * 40_000, "{it}");
    assert_eq!(
        (&it["measured"], &it["normal"], &it["unit"]),
        (&json!(40_000.0), &json!(10_000.0), &json!("ns"))
    );
    assert_eq!(it["number"], 50);
    assert!((it["cost_ns"].as_i64().unwrap() - 50 * 30_000).abs() < 60_000, "{it}");
    assert_eq!((&it["cause"]["location"], &it["cause"]["is_waiting"]), (&json!(1), &json!(false)));
    assert_eq!(region(&run, &it["cause"]["call"]), "grind");
    assert!((it["cause"]["amount"].as_f64().unwrap() - 30_000.0).abs() < 1_000.0, "{it}");
}

/// Rank 0 sends forty messages that rank 1 asks for much later, for it grinds.
fn piled_up() -> Made {
    let mut spool = Spool::world(2);
    let message = |peer: i64, tag: i64| Message { communicator: 0, peer, tag, bytes: 100 };
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        let (send, receive, grind) =
            (process.site(1, "MPI_Send"), process.site(1, "MPI_Recv"), process.site(0, "grind"));
        if rank == 1 {
            process.enter(0, grind, 1000);
            process.leave(0, 90_000);
        }
        for tag in 0..40 {
            let at = 2000 + 1000 * tag + 100_000 * rank as u64;
            process.enter(0, if rank == 0 { send } else { receive }, at);
            if rank == 0 {
                process.send(0, message(1, 3));
            } else {
                process.receive(0, message(0, 3));
            }
            process.leave(0, at + 500);
        }
        process.end = Some(200_000);
    }
    Made::of(&spool)
}

#[test]
fn messages_that_pile_up_are_told() {
    let made = piled_up();
    let run = made.open();
    let found = situations(&run, "message-queue");
    assert_eq!(found.len(), 1, "{found:?}");
    let it = &found[0];
    assert_eq!(it["locations"], json!([1]));
    assert_eq!(
        (&it["measured"], &it["normal"], &it["unit"]),
        (&json!(40.0), &json!(32.0), &json!("messages"))
    );
    assert_eq!(it["number"], 4000, "bytes");
    assert_eq!((&it["cause"]["location"], &it["cause"]["amount"]), (&json!(0), &json!(40.0)));
    assert_eq!(region(&run, &it["cause"]["call"]), "MPI_Send");
    assert_eq!(it["meanwhile"]["location"], 1);
    assert_eq!(region(&run, &it["meanwhile"]["call"]), "grind");
}

/// One visit in thousands that takes a hundred times as long.
#[test]
fn the_visits_that_are_anomalous_are_told() {
    let mut spool = Spool::world(2);
    let mut chance = Chance::new(3);
    for process in &mut spool.processes {
        let (site, around) = (process.site(1, "MPI_Send"), process.site(0, "main"));
        process.window_len = 1 << 20;
        let mut now = 100;
        process.enter(0, around, now);
        for number in 0..3000 {
            process.enter(0, site, now);
            now += if number == 2000 {
                500_000 * (3 - process.pid as u64 % 2)
            } else {
                9_500 + chance.below(1000)
            };
            process.leave(0, now);
            now += 500;
        }
        process.leave(0, now);
        process.end = Some(now);
    }
    let made = Made::of(&spool);
    let run = made.open();
    let head = ask(&run, &json!({ "ask": "anomalies" })).head;
    let lines = ask(&run, &json!({ "ask": "run" })).head["lines"].clone();
    let mut truth: Vec<_> =
        made.rows.iter().filter(|row| row.level == 1 && row.end - row.start > 100_000).collect();
    truth.sort_by_key(|row| row.start - row.end);
    assert_eq!((head["number"].as_u64(), truth.len()), (Some(2), 2));
    for (it, row) in head["anomalies"].as_array().unwrap().iter().zip(&truth) {
        let line = &lines[usize::try_from(it["line"].as_u64().unwrap()).unwrap()];
        assert_eq!((&line["location"], &line["level"]), (&json!(row.location), &json!(1)));
        assert_eq!(
            (it["start_ns"].as_i64(), it["duration_ns"].as_i64()),
            (Some(row.start), Some(row.end - row.start))
        );
        assert!((9_500.0..10_500.0).contains(&it["expected_ns"].as_f64().unwrap()), "{it}");
        assert_eq!(region(&run, &it["call"]), "MPI_Send");
    }
}

/// What they are found in was left out of a page: that is said, and nothing that is not known is told.
#[test]
fn a_page_without_messages_knows_no_situations() {
    let made = piled_up();
    prepare(&made.dir.path().join("run")).unwrap();
    let made =
        Made { archive: Box::leak(Box::new(Archive::open(&made.dir.path().join("run")).unwrap())), ..made };
    let page = super::exported::held(&made, &["messages"]);
    for request in ["situations", "anomalies"] {
        let head = ask(&page, &json!({ "ask": request })).head;
        assert_eq!(head[request], json!([]));
        assert!(head["damage"][0].as_str().unwrap().contains("left out"), "{head}");
    }
}
