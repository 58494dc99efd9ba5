//! What happens besides intervals and messages: events, counters, lanes, edges, RMA, files.

use marey_archive::RunTrace;
use marey_model::Nanos;
use marey_model::spool::{Definition, MAX_DEPTH, Record, put, put_bytes, put_signed};
use marey_testkit::{Message, Process, Spool};

use super::{Merged, NONE, call, merged, message};

fn alone(process: Process) -> Merged {
    merged(&Spool { processes: vec![process] })
}

fn event_kind(id: u32, name: &str, attribute: bool, fields: &[(&str, u8)]) -> Definition {
    let fields = fields.iter().map(|&(name, code)| (name.to_owned(), code)).collect();
    Definition::EventKind { id, name: name.to_owned(), attribute, fields }
}

/// Events as `location time kind fields`.
fn events(merged: &Merged) -> Vec<String> {
    let (table, kinds) = (merged.table("events"), merged.table("event_kinds"));
    (0..table.len())
        .map(|row| {
            let kind = &kinds.text("name").unwrap()[table.u32("kind").unwrap()[row] as usize];
            let (location, time) = (table.u32("location").unwrap()[row], table.i64("time").unwrap()[row]);
            format!("{location} {time} {kind} {}", table.text("fields").unwrap()[row])
        })
        .collect()
}

#[test]
fn fields_of_all_types_become_json() {
    let mut process = Process::new(7);
    let all = [("n", 0), ("d", 1), ("x", 2), ("on", 3), ("name", 4)];
    process.definitions.push(event_kind(3, "all", false, &all));
    process.definitions.push(event_kind(4, "odd", false, &[("x", 2), ("later", 99), ("n", 0)]));
    process.definitions.push(event_kind(5, "none", false, &[]));
    let mut fields = Vec::new();
    put(&mut fields, u64::MAX);
    put_signed(&mut fields, i64::MIN);
    fields.extend(0.5_f64.to_le_bytes());
    fields.push(1);
    put_bytes(&mut fields, "\"é\"\n".as_bytes());
    let fields: &'static [u8] = fields.leak();
    let nan: &'static [u8] = f64::NAN.to_le_bytes().to_vec().leak();
    for (ticks, kind, fields) in [
        (10, 3, fields),
        // Cut within the text, and before the switch.
        (20, 3, &fields[..fields.len() - 1]),
        (30, 3, &fields[..27]),
        // What no number can say is a text; a field of a later version ends the object.
        (40, 4, nan),
        (50, 5, &[]),
        (60, 99, fields),
    ] {
        process.timed(0, ticks, |delta| Record::Event { kind, delta, fields });
    }
    process.end = Some(100);
    let whole = "{\"d\":-9223372036854775808,\"n\":18446744073709551615,\"name\":\"\\\"é\\\"\\n\",\"on\":true,\
                 \"x\":0.5}";
    let found = events(&alone(process));
    let expected = [
        format!("0 10 all {whole}"),
        "0 20 all {\"d\":-9223372036854775808,\"n\":18446744073709551615,\"on\":true,\"x\":0.5}".to_owned(),
        "0 30 all {\"d\":-9223372036854775808,\"n\":18446744073709551615,\"on\":true,\"x\":0.5}".to_owned(),
        "0 40 odd {\"x\":\"NaN\"}".to_owned(),
        "0 50 none {}".to_owned(),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_attribute_stands_at_the_enter_of_its_interval() {
    let mut process = Process::new(7);
    process.definitions.push(event_kind(1, "step", true, &[("n", 0)]));
    process.definitions.push(event_kind(2, "tick", false, &[]));
    let main = process.site(0, "main");
    process.enter(0, main, 10);
    process.timed(0, 20, |delta| Record::Event { kind: 2, delta, fields: &[] });
    let mut seven = Vec::new();
    put(&mut seven, 7);
    process.untimed(0, Record::Attribute { kind: 1, fields: &seven });
    process.leave(0, 30);
    process.end = Some(100);
    let merged = alone(process);
    assert_eq!(events(&merged), ["0 10 step {\"n\":7}", "0 20 tick {}"]);
    assert_eq!(merged.table("event_kinds").text("kind").unwrap(), ["attribute", "event"]);
}

#[test]
fn counters_of_one_name_and_unit_are_one() {
    let mut spool = Spool::world(2);
    for (id, process) in (3..).zip(&mut spool.processes) {
        let (name, unit) = ("load".to_owned(), "1".to_owned());
        process.definitions.push(Definition::Counter { id, name, unit });
        for (ticks, value) in [(10, 0.25), (20, f64::INFINITY)] {
            process.timed(0, ticks, |delta| Record::Counter { counter: id, delta, value });
        }
        process.timed(0, 30, |delta| Record::Counter { counter: 99, delta, value: 1.0 });
    }
    let merged = merged(&spool);
    let table = merged.table("counters");
    assert_eq!(merged.table("counter_kinds").text("name").unwrap(), ["load"]);
    assert_eq!(table.u32("counter").unwrap(), [0; 4]);
    assert_eq!(table.u32("location").unwrap(), [0, 0, 1, 1]);
    assert_eq!(table.i64("time").unwrap(), [10, 20, 10, 20]);
    assert_eq!(table.f64("value").unwrap(), [0.25, f64::INFINITY, 0.25, f64::INFINITY]);
}

#[test]
fn a_lane_takes_what_any_thread_says_about_it_in_the_order_of_time() {
    let mut process = Process::new(7);
    process.definitions.push(Definition::Lane { id: 5, name: "task".to_owned(), ticks: 10 });
    let [outer, inner, left_out] = ["outer", "inner", "left out"].map(|name| process.site(0, name));
    process.timed(0, 10, |delta| Record::LaneEnter { lane: 5, site: outer, delta });
    process.timed(1, 20, |delta| Record::LaneEnter { lane: 5, site: inner, delta });
    // One whose visit was not recorded leaves nothing.
    process.timed(0, 25, |delta| Record::LaneLeave { lane: 5, site: left_out, delta });
    process.timed(0, 30, |delta| Record::LaneLeave { lane: 5, site: inner, delta });
    process.timed(1, 40, |delta| Record::LaneLeave { lane: 5, site: outer, delta });
    process.timed(0, 50, |delta| Record::LaneLeave { lane: 6, site: outer, delta });
    // With what it has left open inside.
    process.timed(0, 60, |delta| Record::LaneEnter { lane: 5, site: outer, delta });
    process.timed(0, 70, |delta| Record::LaneEnter { lane: 5, site: inner, delta });
    process.timed(0, 80, |delta| Record::LaneLeave { lane: 5, site: outer, delta });
    process.end = Some(100);
    let merged = alone(process);
    assert_eq!(
        merged.intervals(),
        ["2 outer 10+30", "2 outer/inner 20+10", "2 outer 60+20", "2 outer/inner 70+10"]
    );
    let locations = merged.table("locations");
    assert_eq!(locations.text("name").unwrap()[2], "task");
    assert_eq!(locations.text("kind").unwrap(), ["thread", "thread", "lane"]);
    assert_eq!(merged.profile()["outer"], (2, 50, 30));
}

#[test]
fn edges_lead_from_their_thread_to_that_of_the_record() {
    let mut process = Process::new(7);
    let main = process.site(0, "main");
    process.enter(0, main, 10);
    process.timed(0, 20, |delta| Record::Leave { delta });
    process.enter(1, main, 30);
    for (kind, back, noun) in [(0, 15, 0), (2, 12, 0x1000), (3, 11, 0x2000), (2, 10, 0x1000)] {
        process.untimed(1, Record::Edge { kind, thread: 0, back, noun });
    }
    process.untimed(1, Record::Edge { kind: 77, thread: 0, back: 1, noun: 0 });
    process.untimed(1, Record::Edge { kind: 0, thread: 77, back: 1, noun: 0 });
    process.leave(1, 40);
    process.end = Some(100);
    let merged = alone(process);
    let table = merged.table("edges");
    assert_eq!(table.text("kind").unwrap(), ["create", "lock-hand-over", "wake", "lock-hand-over"]);
    assert_eq!(table.i64("from_time").unwrap(), [15, 18, 19, 20]);
    assert_eq!(table.i64("to_time").unwrap(), [30; 4]);
    assert_eq!(
        (table.u32("from_location").unwrap(), table.u32("to_location").unwrap()),
        (&[0; 4][..], &[1; 4][..])
    );
    let nouns = table.u32("noun").unwrap();
    assert_eq!((nouns[0], nouns[1] == nouns[3], nouns[1] == nouns[2]), (NONE, true, false));
    assert_eq!(merged.table("nouns").text("name").unwrap()[nouns[1] as usize], "0x1000");
}

#[test]
fn one_sided_operations_name_their_window() {
    let mut spool = Spool::world(2);
    for process in &mut spool.processes {
        let window = Definition::Window { id: 4, communicator: 0, number: 1, base: 0, size: 64 };
        process.definitions.push(window);
        let put = Record::Rma {
            kind: 0,
            window: 4,
            target: 1,
            bytes: 24,
            displacement: 3,
            data: u32::MAX,
            shape: u32::MAX,
        };
        call(process, 0, "MPI_Put", 10, 20, |p| p.untimed(0, put));
        let fence = Record::Rma {
            kind: 6,
            window: 4,
            target: -1,
            bytes: 0,
            displacement: -1,
            data: u32::MAX,
            shape: u32::MAX,
        };
        call(process, 0, "MPI_Win_fence", 30, 40, |p| p.untimed(0, fence));
    }
    let merged = merged(&spool);
    let table = merged.table("rma");
    assert_eq!(table.text("kind").unwrap(), ["put", "fence", "put", "fence"]);
    assert_eq!(table.i64("time").unwrap(), [10, 30, 10, 30]);
    assert_eq!(table.i64("target").unwrap(), [1, -1, 1, -1]);
    assert_eq!(table.i64("bytes").unwrap(), [24, 0, 24, 0]);
    assert_eq!(table.i64("displacement").unwrap(), [3, -1, 3, -1]);
    assert_eq!(table.u32("peer").unwrap(), [1, NONE, 1, NONE]);
    // The window is the same thing for both processes.
    let windows = table.u32("window").unwrap();
    assert!(windows.iter().all(|&window| window == windows[0]));
    assert_eq!(merged.table("nouns").text("kind").unwrap()[windows[0] as usize], "window");
    let paths = merged.paths();
    let path = |row: usize| paths[table.u32("call_path").unwrap()[row] as usize].clone();
    assert_eq!((path(0), path(3)), ("MPI_Put".to_owned(), "MPI_Win_fence".to_owned()));
}

#[test]
fn file_operations_name_their_file() {
    let mut process = Process::new(7);
    process.definitions.push(Definition::File { id: 9, name: "out.dat".to_owned() });
    for (n, kind, offset) in [(0, 1, 512), (1, 0, -1)] {
        let io = Record::Io { file: 9, kind, bytes: 100, offset };
        call(&mut process, 0, "MPI_File", 10 + 20 * n, 20 + 20 * n, |p| p.untimed(0, io));
    }
    process.end = Some(100);
    let merged = alone(process);
    let table = merged.table("io");
    assert_eq!(table.text("kind").unwrap(), ["write", "read"]);
    assert_eq!(table.i64("time").unwrap(), [10, 30]);
    assert_eq!(table.i64("bytes").unwrap(), [100, 100]);
    assert_eq!(table.i64("offset").unwrap(), [512, -1]);
    let file = table.u32("file").unwrap()[0] as usize;
    assert_eq!(merged.table("nouns").text("name").unwrap()[file], "out.dat");
    assert_eq!(merged.table("intervals").i64("bytes").unwrap(), [100, 100]);
}

#[test]
fn signal_handlers_get_a_lane_of_their_own() {
    let mut process = Process::new(7);
    let (main, handler) = (process.site(0, "main"), process.site(0, "handler"));
    process.enter(0, main, 10);
    process.handlers_of(0, 1);
    process.enter(1, handler, 20);
    process.leave(1, 30);
    process.leave(0, 40);
    process.end = Some(100);
    let merged = alone(process);
    assert_eq!(merged.intervals(), ["0 main 10+30", "1 handler 20+10"]);
    let locations = merged.table("locations");
    assert_eq!(locations.text("name").unwrap(), ["thread 0", "thread 0 (signal handlers)"]);
    assert_eq!(locations.text("kind").unwrap(), ["thread", "lane"]);
    assert_eq!(locations.u32("thread").unwrap(), [0, 0]);
    assert_eq!(merged.summary.problems, []);
}

#[test]
fn counted_visits_are_in_the_profile_and_nowhere_else() {
    let mut process = Process::new(7);
    let (main, small) = (process.site(0, "main"), process.site(0, "small"));
    process.enter(0, main, 10);
    process.untimed(0, Record::Counted { site: small, visits: 41 });
    process.enter(0, small, 20);
    process.leave(0, 30);
    process.leave(0, 50);
    process.untimed(0, Record::Counted { site: small, visits: 5 });
    process.end = Some(100);
    let merged = alone(process);
    assert_eq!(merged.intervals(), ["0 main 10+40", "0 main/small 20+10"]);
    let profile = merged.profile();
    assert_eq!(profile["main"], (1, 40, 30));
    assert_eq!(profile["main/small"], (42, 10, 10));
    assert_eq!(profile["small"], (5, 0, 0));
    let table = merged.table("profile");
    let mut untimed = table.i64("untimed").unwrap().to_vec();
    untimed.sort_unstable();
    assert_eq!(untimed, [0, 5, 41]);
    let shortest: Vec<i64> = table.i64("min").unwrap().to_vec();
    assert!(shortest.contains(&-1) && shortest.contains(&10));
}

/// A recursion 3000 deep, as a recorder leaves it: 1024 visits with times, one beginning each 10 ns and
/// ending 5 ns before the one around it, and a number for the rest.
#[test]
fn a_mean_is_of_the_visits_that_were_timed() {
    const DEEP: u64 = MAX_DEPTH as u64;
    let mut process = Process::new(7);
    let down = process.site(0, "down");
    (0..DEEP).for_each(|n| process.enter(0, down, 10 * n));
    process.untimed(0, Record::Counted { site: down, visits: 3000 - DEEP });
    (0..DEEP).for_each(|n| process.leave(0, 10 * DEEP + 5 * n));
    process.end = Some(20 * DEEP);
    let merged = alone(process);
    let trace = RunTrace::load(&merged.archive).unwrap();
    let found = &marey_analyze::regions(&trace)[0];
    assert_eq!((found.verb, found.visits, found.untimed), ("down", 3000, 3000 - DEEP));
    // From 10 ns for the innermost to 15 × 1023 + 10 for the outermost, in steps of 15.
    let (min, max) = (10, 15 * (MAX_DEPTH as i64 - 1) + 10);
    assert_eq!((found.min, found.max), (Some(Nanos(min)), Some(Nanos(max))));
    assert_eq!(found.mean, (min + max) as f64 / 2.0);
    // Of n numbers in equal steps: step² · (n² − 1) / 12.
    let variance = 225.0 * (DEEP as f64 * DEEP as f64 - 1.0) / 12.0;
    assert!((found.std - variance.sqrt()).abs() < 1e-6, "{}", found.std);
}

#[test]
fn every_start_of_a_persistent_request_is_a_message() {
    let mut spool = Spool::world(2);
    for n in 0..3 {
        let at = 100 * n;
        let sender = &mut spool.processes[0];
        let serial = call(sender, 0, "MPI_Start", at + 10, at + 11, |p| p.post_send(0, message(1, 5)));
        call(sender, 0, "MPI_Wait", at + 12, at + 15, |p| p.sent(0, serial));
        let receiver = &mut spool.processes[1];
        let serial = call(receiver, 0, "MPI_Start", at + 5, at + 6, |p| p.post_receive(0, message(0, 5)));
        call(receiver, 0, "MPI_Wait", at + 20, at + 30, |p| p.received(0, serial, message(0, 5)));
    }
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(10, 30), (110, 130), (210, 230)]);
    assert_eq!(merged.summary.problems, []);
    let table = merged.table("messages");
    assert_eq!(table.i64("recv_post").unwrap(), [5, 105, 205]);
    assert_eq!(table.i64("recv_start").unwrap(), [20, 120, 220]);
}

#[test]
fn a_matching_probe_takes_its_message_before_later_receives() {
    let mut spool = Spool::world(2);
    for n in 0..2 {
        call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| {
            p.send(0, message(1, 5))
        });
    }
    let receiver = &mut spool.processes[1];
    let serial = call(receiver, 0, "MPI_Mprobe", 5, 30, |p| p.probed(0, message(0, 5)));
    call(receiver, 0, "MPI_Recv", 40, 150, |p| p.receive(0, message(0, 5)));
    call(receiver, 0, "MPI_Mrecv", 200, 210, |p| p.received(0, serial, message(0, 5)));
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(10, 210), (110, 150)]);
    assert_eq!(merged.summary.problems, []);
}

#[test]
fn a_send_whose_request_was_freed_arrives_all_the_same() {
    let mut spool = Spool::world(2);
    let sender = &mut spool.processes[0];
    let serial = call(sender, 0, "MPI_Isend", 10, 11, |p| p.post_send(0, message(1, 5)));
    call(sender, 0, "MPI_Request_free", 12, 13, |p| p.freed(0, serial));
    call(sender, 0, "MPI_Send", 20, 25, |p| p.send(0, message(1, 5)));
    let receiver = &mut spool.processes[1];
    for at in [30, 50] {
        call(receiver, 0, "MPI_Recv", at, at + 10, |p| p.receive(0, message(0, 5)));
    }
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(10, 40), (20, 60)]);
    // When the freed one was complete, nobody knows.
    assert_eq!(merged.table("messages").i64("send_end").unwrap(), [-1, 25]);
    assert_eq!(merged.summary.problems, []);
}

#[test]
fn a_receive_whose_request_was_freed_takes_its_message() {
    let mut spool = Spool::world(2);
    for n in 0..2 {
        let what = Message { bytes: 8 + n, ..message(1, 5) };
        call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| p.send(0, what));
    }
    let receiver = &mut spool.processes[1];
    let serial = call(receiver, 0, "MPI_Irecv", 5, 6, |p| p.post_receive(0, message(0, 5)));
    call(receiver, 0, "MPI_Request_free", 7, 8, |p| p.freed(0, serial));
    call(receiver, 0, "MPI_Recv", 50, 150, |p| p.receive(0, message(0, 5)));
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(10, -1), (110, 150)]);
    assert_eq!(merged.problem("unmatched_sends"), 1);
}

/// Names of the nouns that take part in each interval.
fn participants(merged: &Merged) -> Vec<Vec<String>> {
    let (sets, nouns) = (merged.table("participants"), merged.table("nouns"));
    let members = |set: u32| {
        let rows = sets.u32("id").unwrap().iter().zip(sets.u32("noun").unwrap());
        let members = rows.filter(|(id, _)| **id == set).map(|(_, &noun)| noun as usize);
        members.map(|noun| nouns.text("name").unwrap()[noun].clone()).collect()
    };
    merged.table("intervals").u32("participants").unwrap().iter().map(|&set| members(set)).collect()
}

#[test]
fn an_interval_names_all_nouns_that_take_part() {
    let mut spool = Spool::world(2);
    for (rank, process) in (0..).zip(&mut spool.processes) {
        process.communicator(2, 2, Some(0), 0, 0, &[(0, 2)], rank);
        let name = "other".to_owned();
        process.definitions.push(Definition::CommunicatorName { id: 2, name });
        process.definitions.push(Definition::File { id: 9, name: "out.dat".to_owned() });
        let peer = 1 - i64::from(rank);
        let (world, other) = (message(peer, 5), Message { communicator: 2, ..message(peer, 5) });
        call(process, 0, "MPI_Waitall", 10, 30, |p| {
            for _ in 0..2 {
                p.send(0, other);
                p.send(0, world);
            }
            // An interval within is left before the one around it names more.
            call(p, 0, "read", 15, 20, |p| {
                let io = Record::Io { file: 9, kind: 0, bytes: 1, offset: 0 };
                p.untimed(0, io);
                p.receive(0, world);
            });
            p.receive(0, other);
        });
        call(process, 0, "MPI_Barrier", 40, 50, |p| p.collective(0, 2, -1, 0, 0));
        call(process, 0, "MPI_Waitall", 60, 70, |p| {
            p.send(0, world);
            p.send(0, other);
        });
        call(process, 0, "MPI_Wtime", 80, 90, |_| ());
        // What was begun elsewhere names nothing by itself.
        call(process, 0, "MPI_Wait", 92, 94, |p| p.acts_on(0, 2));
    }
    let both = vec!["MPI_COMM_WORLD".to_owned(), "other".to_owned()];
    let file = vec!["MPI_COMM_WORLD".to_owned(), "out.dat".to_owned()];
    let one = [both.clone(), file, vec!["other".to_owned()], both, Vec::new(), vec!["other".to_owned()]];
    let merged = merged(&spool);
    assert_eq!(participants(&merged), [&one[..], &one[..]].concat());
    // Equal sets are one.
    let sets = merged.table("intervals").u32("participants").unwrap().to_vec();
    assert_eq!((sets[0], sets[0]), (sets[3], sets[6]));
}
