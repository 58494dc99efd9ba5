//! Messages added up and listed, and sums of operations, against the rows of their tables.

use std::collections::{BTreeMap, BTreeSet};

use marey_testkit::{Chance, Message, Spool};
use serde_json::{Value, json};

use super::Made;
use super::decoded::{Decoded, ask};
use super::operations::meeting;

/// Five ranks, the last of which has two threads, with messages of all sizes that take all kinds of times.
pub(super) fn talking(seed: u64, number: u64) -> Made {
    let mut chance = Chance::new(seed);
    let mut spool = Spool::world(5);
    for process in &mut spool.processes {
        process.window_len = 1 << 20;
    }
    let mut now = 1000;
    for _ in 0..number {
        let from = usize::try_from(chance.below(5)).unwrap();
        let to = (from + 1 + usize::try_from(chance.below(4)).unwrap()) % 5;
        let thread = usize::from(from == 4 && chance.below(2) == 0);
        let bits = chance.below(22);
        let bytes = chance.below(1 << bits);
        let tag = i64::try_from(chance.below(3)).unwrap();
        let message = |peer: usize| Message { communicator: 0, peer: peer as i64, tag, bytes };
        let (send, receive) =
            (spool.processes[from].site(1, "MPI_Send"), spool.processes[to].site(1, "MPI_Recv"));
        spool.processes[from].enter(thread, send, now);
        spool.processes[from].send(thread, message(to));
        spool.processes[from].leave(thread, now + 5);
        let bits = 4 + chance.below(12);
        let after = now + 10 + chance.below(1 << bits);
        spool.processes[to].enter(0, receive, after - 4);
        spool.processes[to].receive(0, message(from));
        spool.processes[to].leave(0, after);
        now = after + 1 + chance.below(20);
    }
    for process in &mut spool.processes {
        process.end = Some(now + 100);
    }
    Made::of(&spool)
}

/// A message: sender and receiver (processes, locations), sent, received, bytes, tag.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    processes: (u32, u32),
    locations: (u32, u32),
    sent: i64,
    received: i64,
    bytes: i64,
    tag: i64,
    communicator: u32,
}

impl Row {
    fn duration(&self) -> i64 {
        self.received - self.sent
    }
}

fn rows(made: &Made) -> Vec<Row> {
    let (table, locations) =
        (made.archive.table("messages").unwrap(), made.archive.table("locations").unwrap());
    let process = |location: u32| locations.u32("process").unwrap()[location as usize];
    let row = |row: usize| {
        let of = |name: &str| table.u32(name).unwrap()[row];
        let at = |name: &str| table.i64(name).unwrap()[row];
        let ends = (of("send_location"), of("recv_location"));
        Row {
            processes: (process(ends.0), process(ends.1)),
            locations: ends,
            sent: at("send_time"),
            received: at("recv_time"),
            bytes: at("bytes"),
            tag: at("tag"),
            communicator: of("communicator"),
        }
    };
    (0..table.len()).map(row).collect()
}

/// How many binary digits a number has.
fn class(value: i64) -> u32 {
    format!("{value:b}").trim_start_matches('0').len().try_into().unwrap()
}

fn within(value: u32, limits: &Value) -> bool {
    let at = |place: usize| limits[place].as_u64().unwrap();
    limits.is_null() || (at(0)..=at(1)).contains(&u64::from(value))
}

fn process_in(process: u32, range: &Value) -> bool {
    (range[0].as_u64().unwrap()..range[1].as_u64().unwrap()).contains(&u64::from(process))
}

/// Numbers as columns have them.
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
fn floats(values: impl IntoIterator<Item = i64>) -> Vec<f64> {
    values.into_iter().map(|value| value as f64).collect()
}

fn check(asked: &Value, answer: &Decoded, rows: &[Row], block: u32) -> usize {
    let at = |name: &str| asked[name].as_i64().unwrap();
    let (from, to) = (at("from_ns"), at("to_ns"));
    let seen = rows.iter().filter(|row| row.sent < to && from <= row.received);
    let tagged: Vec<&Row> =
        seen.filter(|row| asked["tag"].is_null() || asked["tag"] == json!(row.tag)).collect();
    let is_size = |row: &&&Row| within(class(row.bytes), &asked["sizes"]);
    let is_length = |row: &&&Row| within(class(row.duration()), &asked["durations"]);
    let is_pair = |row: &&&Row| {
        let pair = &asked["pair"];
        pair.is_null() || process_in(row.processes.0, &pair[0]) && process_in(row.processes.1, &pair[1])
    };
    // The matrix is not limited by the pair.
    let mut cells: BTreeMap<(u32, u32), Vec<&Row>> = BTreeMap::new();
    let [across, down] = [&asked["processes"][0], &asked["processes"][1]];
    for row in tagged.iter().filter(|row| is_size(row) && is_length(row)) {
        if process_in(row.processes.0, across) && process_in(row.processes.1, down) {
            let first = |range: &Value| u32::try_from(range[0].as_u64().unwrap()).unwrap();
            let place = ((row.processes.0 - first(across)) / block, (row.processes.1 - first(down)) / block);
            cells.entry(place).or_default().push(row);
        }
    }
    assert_eq!(answer.u32("row"), cells.keys().map(|it| it.0).collect::<Vec<_>>(), "{asked}");
    assert_eq!(answer.u32("column"), cells.keys().map(|it| it.1).collect::<Vec<_>>(), "{asked}");
    let sum = |value: fn(&Row) -> i64| {
        floats(cells.values().map(|all| all.iter().map(|it| value(it)).sum::<i64>()))
    };
    assert_eq!(answer.f64("messages"), sum(|_| 1), "{asked}");
    assert_eq!(answer.f64("bytes"), sum(|row| row.bytes), "{asked}");
    assert_eq!(answer.f64("time"), sum(Row::duration), "{asked}");
    let longest = floats(cells.values().map(|all| all.iter().map(|it| it.duration()).max().unwrap()));
    assert_eq!(answer.f64("longest"), longest, "{asked}");
    // Classes are not limited by those of their own kind.
    let classes = |value: fn(&Row) -> i64, is_meant: &dyn Fn(&&&Row) -> bool| {
        let mut counts = [0_i64; 65];
        tagged
            .iter()
            .filter(|row| is_pair(row) && is_meant(row))
            .for_each(|row| counts[class(value(row)) as usize] += 1);
        floats(counts)
    };
    assert_eq!(answer.f64("of_size"), classes(|row| row.bytes, &is_length), "{asked}");
    assert_eq!(answer.f64("of_duration"), classes(Row::duration, &is_size), "{asked}");
    // The list is limited by everything.
    let mut left: Vec<&&Row> =
        tagged.iter().filter(|row| is_pair(row) && is_size(row) && is_length(row)).collect();
    assert_eq!(answer.head["number"], left.len(), "{asked}");
    assert_eq!(answer.head["bytes"], left.iter().map(|row| row.bytes).sum::<i64>(), "{asked}");
    assert_eq!(answer.head["time_ns"], left.iter().map(|row| row.duration()).sum::<i64>(), "{asked}");
    left.sort_by_key(|row| {
        let key = match asked["order"].as_str().unwrap() {
            "duration" => -row.duration(),
            "bytes" => -row.bytes,
            _ => row.sent,
        };
        (key, row.sent)
    });
    let number = left.len();
    left.truncate(500);
    assert_eq!(answer.f64("send_time"), floats(left.iter().map(|row| row.sent)), "{asked}");
    assert_eq!(answer.f64("receive_time"), floats(left.iter().map(|row| row.received)), "{asked}");
    assert_eq!(answer.f64("size"), floats(left.iter().map(|row| row.bytes)), "{asked}");
    assert_eq!(answer.f64("tag"), floats(left.iter().map(|row| row.tag)), "{asked}");
    let ends = |of: fn(&Row) -> u32| left.iter().map(|row| of(row)).collect::<Vec<_>>();
    assert_eq!(answer.u32("send_location"), ends(|row| row.locations.0), "{asked}");
    assert_eq!(answer.u32("receive_location"), ends(|row| row.locations.1), "{asked}");
    let communicators = ends(|row| row.communicator);
    assert_eq!(answer.u32("communicator"), communicators, "{asked}");
    let named: BTreeSet<u32> = communicators.into_iter().collect();
    let told = answer.head["communicators"].as_array().unwrap().iter().map(|it| it[0].as_u64().unwrap());
    assert_eq!(told.collect::<Vec<_>>(), named.into_iter().map(u64::from).collect::<Vec<_>>(), "{asked}");
    number
}

#[test]
fn each_part_is_limited_by_the_others_as_a_count_says() {
    let made = talking(41, 3000).in_slabs("messages", |row| u32::from(row % 5 > 2));
    let (run, rows) = (made.open(), rows(&made));
    assert_eq!(rows.len(), 3000);
    let end = rows.iter().map(|row| row.received).max().unwrap();
    let mut chance = Chance::new(42);
    let (mut cut, mut few) = (0, 0);
    for _ in 0..300 {
        let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap() - 10;
        let bits = 8 + chance.below(18);
        let to = from + 1 + i64::try_from(chance.below(1 << bits)).unwrap();
        let mut range = |most: u64| {
            let first = chance.below(most);
            json!([first, first + 1 + chance.below(most - first)])
        };
        let (rows_of, columns_of) = (range(5), range(5));
        let pair = json!([range(5), range(5)]);
        let (sizes, durations) = (range(22), range(16));
        let order = ["duration", "bytes", "sent"][usize::try_from(chance.below(3)).unwrap()];
        let mut some = |value: Value| if chance.below(2) == 0 { value } else { Value::Null };
        let asked = json!({ "ask": "traffic", "from_ns": from, "to_ns": to, "processes": [rows_of, columns_of],
            "pair": some(pair), "sizes": some(sizes), "durations": some(durations), "tag": some(json!(1)),
            "order": order });
        let answer = ask(&run, &asked);
        assert_eq!(answer.head["block"], 1);
        let number = check(&asked, &answer, &rows, 1);
        cut += usize::from(number > 500);
        few += usize::from((1..500).contains(&number));
    }
    assert!(cut > 4 && few > 100, "{cut} and {few}");
}

/// The first rank sends more than the second receives, and the third receives what nobody recorded as sent.
#[test]
fn ends_without_the_other_are_counted_and_are_in_no_sum() {
    let mut spool = Spool::world(3);
    let message = |peer| Message { communicator: 0, peer, tag: 7, bytes: 10 };
    let send = spool.processes[0].site(1, "MPI_Send");
    for at in 0..30_u64 {
        spool.processes[0].enter(0, send, 1000 + 100 * at);
        spool.processes[0].send(0, message(1));
        spool.processes[0].leave(0, 1005 + 100 * at);
    }
    for (rank, peer, number) in [(1, 0, 18_u64), (2, 1, 11)] {
        let receive = spool.processes[rank].site(1, "MPI_Recv");
        for at in 0..number {
            spool.processes[rank].enter(0, receive, 1040 + 100 * at);
            spool.processes[rank].receive(0, message(peer));
            spool.processes[rank].leave(0, 1050 + 100 * at);
        }
    }
    for process in &mut spool.processes {
        process.end = Some(10_000);
    }
    let made = Made::of(&spool);
    let run = made.open();
    let table = made.archive.table("messages").unwrap();
    let times = |name: &str| table.i64(name).unwrap().to_vec();
    let ends: Vec<(i64, i64)> = times("send_time").into_iter().zip(times("recv_time")).collect();
    let mut chance = Chance::new(45);
    let (mut most, mut parts) = ([0, 0, 0], 0);
    for _ in 0..200 {
        let from = i64::try_from(chance.below(5000)).unwrap() - 100;
        let to = from + 1 + i64::try_from(chance.below(6000)).unwrap();
        let answer = ask(
            &run,
            &json!({ "ask": "traffic", "from_ns": from, "to_ns": to, "processes": [[0, 3], [0, 3]], "pair": null,
                "sizes": null, "durations": null, "tag": null, "order": "sent" }),
        );
        // An instant that is not known is before the run, and never in the span.
        let is_in = |at: i64| 0 <= at && from <= at && at < to;
        let count = |is_meant: &dyn Fn(&(i64, i64)) -> bool| ends.iter().filter(|it| is_meant(it)).count();
        let sends = count(&|it| is_in(it.0) && it.1 < 0);
        let receives = count(&|it| it.0 < 0 && is_in(it.1));
        let both = count(&|it| 0 <= it.0 && it.0 < to && from <= it.1);
        assert_eq!(answer.head["unmatched_sends"], sends, "{from} to {to}");
        assert_eq!(answer.head["unmatched_receives"], receives, "{from} to {to}");
        assert_eq!(answer.head["number"], both, "{from} to {to}");
        parts += usize::from(0 < sends && sends < 12);
        most = [most[0].max(sends), most[1].max(receives), most[2].max(both)];
    }
    assert_eq!(most, [12, 11, 18]);
    assert!(parts > 20, "{parts}");
}

#[test]
fn many_processes_stand_together_in_the_matrix() {
    let mut spool = Spool::world(300);
    for from in 0..300_usize {
        for (number, to) in [(from * 7 + 1) % 300, (from + 150) % 300].into_iter().enumerate() {
            if from == to {
                continue;
            }
            let now = 1000 + 1000 * (from as u64 * 2 + number as u64);
            let message =
                |peer: usize| Message { communicator: 0, peer: peer as i64, tag: 0, bytes: 1 + from as u64 };
            let (send, receive) =
                (spool.processes[from].site(1, "MPI_Send"), spool.processes[to].site(1, "MPI_Recv"));
            spool.processes[from].enter(0, send, now);
            spool.processes[from].send(0, message(to));
            spool.processes[from].leave(0, now + 10);
            spool.processes[to].enter(0, receive, now + 20);
            spool.processes[to].receive(0, message(from));
            spool.processes[to].leave(0, now + 30);
        }
    }
    for process in &mut spool.processes {
        process.end = Some(1_000_000);
    }
    let made = Made::of(&spool);
    let (run, rows) = (made.open(), rows(&made));
    for (range, block) in [((0, 300), 4), ((100, 228), 1), ((3, 132), 2)] {
        let asked = json!({ "ask": "traffic", "from_ns": 0, "to_ns": 1 << 20, "processes": [range, range],
            "pair": null, "sizes": null, "durations": null, "tag": null, "order": "sent" });
        let answer = ask(&run, &asked);
        assert_eq!(answer.head["block"], block);
        assert!(check(&asked, &answer, &rows, block) > 500);
        assert!(answer.u32("row").iter().chain(&answer.u32("column")).all(|it| *it < 128));
    }
}

#[test]
fn sums_of_operations_are_those_of_their_parts() {
    let made = meeting(43, 400, 3);
    let run = made.open();
    let (table, paths) =
        (made.archive.table("collectives").unwrap(), made.archive.table("call_paths").unwrap());
    let end = table.i64("leave").unwrap().iter().copied().max().unwrap();
    let mut chance = Chance::new(44);
    let mut told = 0;
    for _ in 0..200 {
        let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
        let bits = 4 + chance.below(20);
        let to = from + 1 + i64::try_from(chance.below(1 << bits)).unwrap();
        let answer = ask(&run, &json!({ "ask": "collective-sums", "from_ns": from, "to_ns": to }));
        // By region and communicator: instances, parts, time, longest, bytes.
        type Sums = (BTreeSet<u32>, i64, i64, i64, i64, i64);
        let mut expected: BTreeMap<(u32, u32), Sums> = BTreeMap::new();
        for row in 0..table.len() {
            let of = |name: &str| table.u32(name).unwrap()[row];
            let at = |name: &str| table.i64(name).unwrap()[row];
            let (enter, leave) = (at("enter"), at("leave"));
            let is_there = if leave < 0 { from <= enter && enter < to } else { enter < to && from <= leave };
            if !is_there {
                continue;
            }
            let region = paths.u32("region").unwrap()[of("call_path") as usize];
            let sums = expected.entry((region, of("communicator"))).or_default();
            sums.0.insert(of("instance"));
            sums.1 += 1;
            let length = if leave < 0 { 0 } else { leave - enter };
            sums.2 += length;
            sums.3 = sums.3.max(length);
            sums.4 += at("bytes_out");
            sums.5 += at("bytes_in");
        }
        told += expected.len();
        assert_eq!(answer.u32("region"), expected.keys().map(|it| it.0).collect::<Vec<_>>());
        assert_eq!(answer.u32("communicator"), expected.keys().map(|it| it.1).collect::<Vec<_>>());
        let column = |value: fn(&Sums) -> i64| floats(expected.values().map(value));
        assert_eq!(answer.f64("operations"), column(|it| i64::try_from(it.0.len()).unwrap()));
        assert_eq!(answer.f64("parts"), column(|it| it.1));
        assert_eq!(answer.f64("time"), column(|it| it.2));
        assert_eq!(answer.f64("longest"), column(|it| it.3));
        assert_eq!(answer.f64("bytes_out"), column(|it| it.4));
        assert_eq!(answer.f64("bytes_in"), column(|it| it.5));
        assert_eq!(
            answer.u32("first"),
            expected.values().map(|it| *it.0.first().unwrap()).collect::<Vec<_>>()
        );
    }
    assert!(told > 300, "{told}");
}
