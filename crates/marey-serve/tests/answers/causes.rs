//! What explains a span, against waits whose ends are known because they were made.

use marey_archive::{Archive, Meta};
use marey_testkit::{Chance, Message, Spool};
use serde_json::json;

use super::Made;
use super::decoded::ask;

const ROUNDS: u64 = 60;
const ROUND: u64 = 100_000;

/// Rank 1 asks for a message early in each round, by chance how early; rank 0 works until it sends it. Returns when each
/// wait begins and ends, as the ranks' clocks have it.
fn late_senders() -> (Spool, Vec<(i64, i64)>) {
    let mut chance = Chance::new(3);
    let mut spool = Spool::world(2);
    let mut waits = Vec::new();
    let message = |peer| Message { communicator: 0, peer, tag: 1, bytes: 8 };
    for round in 0..ROUNDS {
        let begin = 1000 + round * ROUND;
        let asked = begin + chance.below(40_000);
        let sent = asked + 1 + chance.below(50_000);
        let [first, second] = &mut spool.processes[..] else { unreachable!("two ranks") };
        let (work, send, receive) =
            (first.site(0, "work"), first.site(1, "MPI_Send"), second.site(1, "MPI_Recv"));
        first.enter(0, work, begin);
        first.enter(0, send, sent);
        first.send(0, message(1));
        first.leave(0, sent + 500);
        first.leave(0, sent + 800);
        second.enter(0, receive, asked);
        second.receive(0, message(0));
        second.leave(0, sent + 1000);
        waits.push((i64::try_from(asked).unwrap(), i64::try_from(sent).unwrap()));
    }
    spool.processes.iter_mut().for_each(|process| process.end = Some(1000 + ROUNDS * ROUND));
    (spool, waits)
}

#[test]
fn waits_of_a_span_are_what_of_them_lies_in_it() {
    let (spool, waits) = late_senders();
    let made = Made::of(&spool);
    let run = made.open();
    let received = made.rows.iter().filter(|row| row.location == 1).map(|row| row.start).min().unwrap();
    let shift = received - waits[0].0;
    // Before anything was recorded there is no path.
    let first = made.rows.iter().map(|row| row.start).min().unwrap();
    let end = ask(&run, &json!({ "ask": "run" })).head["duration_ns"].as_i64().unwrap();
    let mut chance = Chance::new(4);
    let mut cut = 0;
    for round in 0..60 {
        let from = if round == 0 { 0 } else { i64::try_from(chance.below(end.unsigned_abs() - 1)).unwrap() };
        let longest = if round % 2 == 0 { end.unsigned_abs() } else { 3 * ROUND };
        let to = if round == 0 { end } else { from + 1 + i64::try_from(chance.below(longest)).unwrap() };
        let to = to.min(end);
        let inside = waits.iter().map(|(begin, end)| {
            let (begin, end) = (begin + shift, end + shift);
            cut += usize::from((begin < from && from < end) || (begin < to && to < end));
            (end.min(to) - begin.max(from)).max(0)
        });
        let inside: Vec<i64> = inside.filter(|time| *time > 0).collect();
        let head = ask(&run, &json!({ "ask": "causes", "from_ns": from, "to_ns": to })).head;
        assert_eq!((&head["why_not"], &head["until_ns"]), (&json!(null), &json!(null)));
        let rows = head["waits"].as_array().unwrap();
        let sum = |name: &str| rows.iter().map(|row| row[name].as_i64().unwrap()).sum::<i64>();
        assert_eq!(sum("wait_ns"), inside.iter().sum::<i64>(), "{from} to {to}: {rows:?}");
        assert_eq!(sum("instances"), i64::try_from(inside.len()).unwrap());
        if let [row] = &rows[..] {
            assert_eq!((&row["pattern"], &row["location"]), (&json!("late sender"), &json!("rank 1")));
            assert_eq!(row["longest_ns"].as_i64(), inside.iter().max().copied());
            assert_eq!(row["region"], "MPI_Recv");
        }
        // Whoever was waited for worked meanwhile, and the path goes through the span without a gap.
        let delays = head["delays"].as_array().unwrap();
        let caused: f64 = delays.iter().map(|row| row["short_term_ns"].as_f64().unwrap()).sum();
        #[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
        let waited = inside.iter().sum::<i64>() as f64;
        assert!(caused <= waited + 1.0, "{caused} of {waited}");
        assert!(delays.iter().all(|row| row["location"] == "rank 0"), "{delays:?}");
        let path = head["critical_path"].as_array().unwrap();
        let on_path: i64 = path.iter().map(|row| row["time_ns"].as_i64().unwrap()).sum();
        assert_eq!(on_path, (to - from.max(first)).max(0), "{from} to {to}: {path:?}");
    }
    assert!(cut > 20, "{cut} waits lie across an end");
}

/// Behind the size limit of a recording there are sums only, which would look like computation.
#[test]
fn what_was_only_added_up_is_not_explained() {
    let (spool, waits) = late_senders();
    let mut made = Made::of(&spool);
    let end = ask(&made.open(), &json!({ "ask": "run" })).head["duration_ns"].as_i64().unwrap();
    let path = made.dir.path().join("run");
    let mut meta = Meta::load(&path).unwrap();
    let since = end / 2;
    meta.counts.insert("summed_locations".to_owned(), 1);
    meta.counts.insert("summed_since_ns".to_owned(), since.unsigned_abs());
    meta.save(&path).unwrap();
    made.archive = Box::leak(Box::new(Archive::open(&path).unwrap()));
    let run = made.open();
    let causes =
        |from: i64, to: i64| ask(&run, &json!({ "ask": "causes", "from_ns": from, "to_ns": to })).head;
    let received = made.rows.iter().filter(|row| row.location == 1).map(|row| row.start).min().unwrap();
    let shift = received - waits[0].0;
    let inside = waits.iter().map(|(begin, end)| ((end + shift).min(since) - (begin + shift)).max(0));
    let all = causes(0, end);
    assert_eq!((&all["why_not"], &all["until_ns"]), (&json!(null), &json!(since)));
    let rows = all["waits"].as_array().unwrap();
    let found: i64 = rows.iter().map(|row| row["wait_ns"].as_i64().unwrap()).sum();
    assert_eq!(found, inside.sum::<i64>());
    let path = all["critical_path"].as_array().unwrap();
    let on_path: i64 = path.iter().map(|row| row["time_ns"].as_i64().unwrap()).sum();
    let first = made.rows.iter().map(|row| row.start).min().unwrap();
    assert_eq!(on_path, since - first, "the path ends where events do");
    let behind = causes(since, end);
    assert!(behind["why_not"].as_str().unwrap().contains("only added up"), "{behind}");
}
