//! CLOG-2, as a slow reader of its bytes finds it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::figures::{Figures, Message, Sums};
use crate::place::Place;
use crate::{ODD_NAMES, messages_run, odd_run, sample};

/// Bytes behind the head of each type of record.
const LENGTHS: [usize; 12] = [0, 0, 112, 104, 40, 8, 40, 24, 16, 48, 48, 8];

struct Record {
    seconds: f64,
    communicator: i32,
    rank: i32,
    thread: i32,
    kind: usize,
    rest: Vec<u8>,
}

fn int(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// A text that a zero byte ends.
fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).expect("it ends");
    String::from_utf8(field[..end].to_vec()).unwrap()
}

/// The preamble by its titles, all records, and the numbers of communicators in the table.
fn read(bytes: &[u8]) -> (BTreeMap<String, String>, Vec<Record>, Vec<i32>) {
    let words: Vec<String> =
        bytes[..1024].split(|it| *it == 0).map(|it| String::from_utf8(it.to_vec()).unwrap()).collect();
    assert_eq!(words[0], "CLOG-02.44");
    let said: BTreeMap<String, String> =
        words[1..29].chunks(2).map(|it| (it[0].clone(), it[1].clone())).collect();
    assert_eq!(words[29], "commtable_fptr=");
    let three: Vec<usize> = words[30..33].iter().map(|it| it.parse().unwrap()).collect();
    let (table, block) = (three[0] * three[1] + three[2], said["block_size="].parse::<usize>().unwrap());
    assert_eq!(
        (three[1], said["is_big_endian="].trim(), said["is_finalzed="].trim()),
        (1 << 30, "TRUE", "TRUE")
    );
    let mut records = Vec::new();
    let mut at = 1024;
    loop {
        let f = f64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
        let kind = usize::try_from(int(bytes, at + 20)).unwrap();
        let (communicator, rank, thread) = (int(bytes, at + 8), int(bytes, at + 12), int(bytes, at + 16));
        at += 24;
        let begin = (at - 1024) / block;
        match kind {
            0 => break,
            1 => at = 1024 + (begin + 1) * block,
            _ => {
                let rest = bytes[at..at + LENGTHS[kind]].to_vec();
                at += LENGTHS[kind];
                assert_eq!(begin, (at - 1024) / block, "records lie in one block, with its end");
                records.push(Record { seconds: f, communicator, rank, thread, kind, rest });
            }
        }
    }
    assert_eq!(1024 + ((at - 1024) / block + 1) * block, table);
    let n = usize::try_from(int(bytes, table)).unwrap();
    assert_eq!(bytes.len(), table + 4 + 40 * n);
    (said, records, (0..n).map(|it| int(bytes, table + 4 + 40 * it + 32)).collect())
}

fn escaped(name: &str) -> String {
    let letter = |it: char| if it.is_control() { it.escape_default().to_string() } else { it.to_string() };
    let line: String = name.chars().map(letter).collect();
    line[..line.floor_char_boundary(31)].trim_end().to_owned()
}

/// Names of events that carry something, with that.
fn check(place: &Place, run: &str) -> Vec<(String, Vec<u8>)> {
    let figures = Figures::of(place, run);
    place.ok(&["export", run, "--to", "clog2", "-o", "out.clog2", "--force"]);
    let (said, records, table) = read(&std::fs::read(place.path("out.clog2")).unwrap());
    let (mut starts, mut ends, mut solos) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let (mut ranks, mut places) = (BTreeMap::new(), BTreeSet::new());
    for it in &records {
        let value = |place: usize| int(&it.rest, 4 * place);
        match it.kind {
            2 => {
                let name = text(&it.rest[40..72]);
                assert_eq!(starts.insert(value(1), name.clone()), None);
                assert_eq!(ends.insert(value(2), name), None);
            }
            3 => assert_eq!(solos.insert(value(0), text(&it.rest[32..64])), None),
            9 => {
                assert!([0, 1, 100].contains(&value(0)) && table.contains(&value(1)));
                assert_eq!(ranks.insert((value(1), value(2)), value(3)), None);
            }
            _ => {
                places.insert((ranks[&(it.communicator, it.rank)], it.thread));
            }
        }
    }
    assert_eq!(said["user_stateID_count="], starts.len().to_string());
    assert_eq!(said["user_solo_eventID_count="], solos.len().to_string());
    let location = |at: (i32, i32)| places.iter().position(|it| *it == at).unwrap() as u64;
    let (mut sums, mut open) = (Sums::new(), BTreeMap::<u64, Vec<(String, i64)>>::new());
    let (mut sent, mut messages) = (BTreeMap::<_, VecDeque<_>>::new(), Vec::<Message>::new());
    let (mut begin, mut events, mut last, mut parts) = (None, Vec::new(), 0.0, Vec::new());
    let mut received = Vec::new();
    for it in records.iter().filter(|it| ![2, 3, 9].contains(&it.kind)) {
        assert!(last <= it.seconds);
        last = it.seconds;
        let at = location((ranks[&(it.communicator, it.rank)], it.thread));
        #[expect(clippy::cast_possible_truncation, reason = "a run is short")]
        let ns = (it.seconds * 1e9).round() as i64;
        let value = |place: usize| int(&it.rest, 4 * place);
        match it.kind {
            5 => match starts.get(&value(0)) {
                Some(name) => {
                    begin = begin.or(Some(ns));
                    open.entry(at).or_default().push((name.clone(), ns));
                }
                None => {
                    let (entered, since) = open.get_mut(&at).unwrap().pop().unwrap();
                    assert_eq!(entered, ends[&value(0)]);
                    let sum = sums.entry((at, entered)).or_default();
                    *sum = (sum.0 + 1, sum.1 + ns - since);
                }
            },
            6 => events.push((solos[&value(0)].clone(), it.rest[8..].to_vec())),
            7 => {
                let (own, peer) = ((it.communicator, it.rank), (value(1), value(2)));
                let (tag, size, ns) = (value(3), value(4), ns - begin.unwrap());
                if value(0) == -101 {
                    sent.entry((own, peer, tag, size)).or_default().push_back((at, ns));
                } else {
                    assert_eq!(value(0), -102);
                    received.push(((peer, own, tag, size), at, ns));
                }
            }
            8 => {
                let inside = &open[&at].last().unwrap().0;
                assert_eq!(inside, &starts[&value(0)]);
                parts.push((at, value(1), u64::try_from(value(2)).unwrap()));
            }
            _ => panic!("{}", it.kind),
        }
    }
    // Clocks may differ, so that something is received before it is sent.
    for (key, to, time) in received {
        let (from, sent) = sent.get_mut(&key).unwrap().pop_front().unwrap();
        messages.push((from, to, sent, time, key.3.try_into().unwrap(), key.2.into()));
    }
    messages.sort_unstable();
    assert!(open.values().all(Vec::is_empty) && sent.values().all(VecDeque::is_empty));
    let expected: Sums = figures.sums.iter().map(|((at, name), sum)| ((*at, escaped(name)), *sum)).collect();
    assert_eq!((&sums, &messages), (&expected, &figures.messages), "{run}");
    let root = |text: &str| text.parse().unwrap_or(-1);
    let wanted: Vec<_> = figures.collectives.iter().map(|it| (it.0, root(&it.2), it.3)).collect();
    assert_eq!(parts, wanted, "{run}");
    let others = ["instant", "counter", "heap_peak"].map(|kind| figures.count(kind)).iter().sum::<u64>();
    assert_eq!(events.len() as u64, others, "{run}");
    place.ok(&["import", "out.clog2", "-o", "back.marey", "--force"]);
    let mut back = Figures::of(place, "back.marey");
    // In the sample receives are complete when their calls have been left.
    back.sums.retain(|(_, name), sum| run != "sample.marey" || name != "receive" || sum.1 != 0);
    assert_eq!((&back.sums, &back.messages), (&expected, &figures.messages), "{run} after a round trip");
    assert_eq!(back.count("instant"), others, "{run} after a round trip");
    let without_bytes_in =
        |it: &Figures| it.collectives.iter().map(|it| (it.0, it.2.clone(), it.3)).collect::<Vec<_>>();
    assert_eq!(without_bytes_in(&back), without_bytes_in(&figures), "{run} after a round trip");
    events
}

#[test]
fn visits_messages_and_the_rest_are_those_of_the_run() {
    let place = Place::new();
    sample::write(&place.path("sample.marey"));
    let events = check(&place, "sample.marey");
    let has = |name: &str, cargo: &[u8]| {
        assert!(events.iter().any(|it| it.0 == name && it.1.starts_with(cargo)), "{name}: {events:?}");
    };
    has("step", b"\0\x03n=1\0");
    has("residual", &0.25_f64.to_be_bytes());
    let told = place.ok(&["info", "back.marey"]);
    assert!(told.contains("node1"), "{told}");
    let other = Place::new();
    messages_run(&other);
    check(&other, "messages.marey");
}

#[test]
fn odd_names_are_cut_to_what_there_is_room_for() {
    let place = Place::new();
    odd_run(&place);
    let events = check(&place, "odd.marey");
    assert!(events.len() >= ODD_NAMES.len());
    let told = place.ok(&["export", "odd.marey", "--to", "clog2", "-o", "odd.clog2", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["left_out"][0]["what"], "ends of names longer than 31 bytes");
}

/// More than fits into one block.
#[test]
fn blocks_follow_each_other() {
    let place = Place::new();
    let event = |number: i64| serde_json::json!({ "ph": "X", "pid": 1, "tid": 1, "ts": number, "dur": 0.25, "name": "work" });
    let events: Vec<_> = (0..3000).map(event).collect();
    std::fs::write(place.path("many.json"), serde_json::Value::from(events).to_string()).unwrap();
    place.ok(&["import", "many.json", "-o", "many.marey"]);
    check(&place, "many.marey");
}
