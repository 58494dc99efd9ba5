//! Operations of all, against the rows of their table.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::Role;
use marey_model::spool::Definition;
use marey_serve::Opened;
use marey_testkit::{Chance, Process, Spool};
use serde_json::json;

use super::Made;
use super::decoded::{Decoded, ask};

const NONE: u32 = u32::MAX;

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Part {
    operation: (u32, u32),
    location: u32,
    enter: i64,
    leave: i64,
    path: u32,
}

fn parts(made: &Made) -> Vec<Part> {
    let table = made.archive.table("collectives").unwrap();
    let number = |name: &str, row: usize| table.u32(name).unwrap()[row];
    let time = |name: &str, row: usize| table.i64(name).unwrap()[row];
    (0..table.len())
        .map(|row| Part {
            operation: (number("communicator", row), number("instance", row)),
            location: number("location", row),
            enter: time("enter", row),
            leave: time("leave", row),
            path: number("call_path", row),
        })
        .collect()
}

/// The site of a call with a role of its own.
fn site(process: &mut Process, verb: &str, role: Role) -> u32 {
    let site = process.site(1, verb);
    for definition in &mut process.definitions {
        if let Definition::Region { verb: it, role: code, .. } = definition
            && it == verb
        {
            *code = role as u8;
        }
    }
    site
}

/// Four ranks that meet again and again, with so many names for what they do; one is killed before it has left the last
/// barrier.
pub(super) fn meeting(seed: u64, meetings: u64, names: u64) -> Made {
    let mut chance = Chance::new(seed);
    let mut spool = Spool::world(4);
    for process in &mut spool.processes {
        process.window_len = 1 << 20;
    }
    let mut now = [1000_u64; 4];
    for number in 0..meetings {
        let is_last = number + 1 == meetings;
        let kind = if is_last { 2 } else { chance.below(4) };
        let bits = 4 + chance.below(12);
        let enters: Vec<u64> = now.iter().map(|now| now + 10 + chance.below(1 << bits)).collect();
        let last = *enters.iter().max().unwrap();
        let root = usize::try_from(chance.below(4)).unwrap();
        let name = match chance.below(names) {
            0 => String::new(),
            number => number.to_string(),
        };
        for (rank, process) in spool.processes.iter_mut().enumerate() {
            let after = chance.below(50);
            let enter = enters[rank];
            let barrier = site(process, &format!("MPI_Barrier{name}"), Role::Barrier);
            now[rank] = match kind {
                0 => {
                    process.enter(0, barrier, enter);
                    process.collective(0, 0, -1, 0, 0);
                    last + 5 + after
                }
                1 => {
                    let bcast = site(process, &format!("MPI_Bcast{name}"), Role::OneToAll);
                    process.enter(0, bcast, enter);
                    process.collective(0, 0, i64::try_from(root).unwrap(), 8, 16);
                    if rank == root { enter + 5 } else { enter.max(enters[root]) + 5 + after }
                }
                // One that goes on in the background, in the last of them behind another.
                _ => {
                    let start = site(process, &format!("MPI_Ibarrier{name}"), Role::Barrier);
                    let wait = site(process, "MPI_Wait", Role::Wait);
                    process.enter(0, start, enter);
                    let serial = process.post_collective(0, 0, -1, 0);
                    process.leave(0, enter + 1);
                    let mut waits = enter + 3;
                    if kind == 3 {
                        process.enter(0, barrier, waits);
                        process.collective(0, 0, -1, 0, 0);
                        waits = last + 20 + after;
                        process.leave(0, waits - 2);
                    }
                    process.enter(0, wait, waits);
                    if !is_last || rank > 0 {
                        process.collected(0, serial);
                    }
                    waits.max(last) + 5 + after
                }
            };
            process.leave(0, now[rank]);
        }
    }
    let end = now.iter().max().unwrap() + 100;
    spool.processes.iter_mut().for_each(|process| process.end = Some(end));
    Made::of(&spool)
}

fn asked(run: &Opened<'_>, (from, to): (i64, i64), locations: (u32, u32)) -> Decoded {
    ask(
        run,
        &json!({ "ask": "collectives", "from_ns": from, "to_ns": to, "resolution_log2": 20,
            "locations": [locations], "exact": false }),
    )
}

/// Whether a part was there in a span; who never left, at the moment of entering.
fn is_in(part: &Part, (from, to): (i64, i64)) -> bool {
    if part.leave < 0 { from <= part.enter && part.enter < to } else { part.enter < to && from <= part.leave }
}

#[test]
fn windows_have_the_operations_that_somebody_was_in() {
    let mut chance = Chance::new(5);
    let mut told = 0;
    for seed in 0..3 {
        let made = meeting(seed, 400, 1);
        let (run, parts) = (made.open(), parts(&made));
        let end = parts.iter().map(|part| part.leave).max().unwrap();
        for _ in 0..60 {
            let bits = 4 + chance.below(20);
            let length = 1 + i64::try_from(chance.below(1 << bits)).unwrap();
            let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
            let span = (from, from + length);
            let first = u32::try_from(chance.below(4)).unwrap();
            let locations = (first, first + 1 + u32::try_from(chance.below(3)).unwrap());
            let is_meant = |part: &&Part| (locations.0..locations.1).contains(&part.location);
            let expected: BTreeSet<(u32, u32)> = parts
                .iter()
                .filter(is_meant)
                .filter(|part| is_in(part, span))
                .map(|part| part.operation)
                .collect();
            let answer = asked(&run, span, locations);
            assert_eq!(answer.head["number"], expected.len(), "{span:?} {locations:?}");
            told += told_as_in_table(&answer, &parts, &expected, locations);
        }
    }
    assert!(told > 1000, "{told}");
}

/// Who never left was in it when it was entered.
#[test]
fn an_operation_that_nobody_left_is_told_where_it_began() {
    let made = meeting(6, 10, 1);
    let (run, parts) = (made.open(), parts(&made));
    let part = parts.iter().find(|part| part.leave < 0).unwrap();
    let answer = asked(&run, (part.enter, part.enter + 1), (part.location, part.location + 1));
    assert_eq!((answer.u32("instance"), answer.head["number"].as_u64()), (vec![part.operation.1], Some(1)));
    assert!(answer.f64("leave")[0].is_nan());
    let later = asked(&run, (part.enter + 1, part.enter + 2), (part.location, part.location + 1));
    assert_eq!(later.head["number"], 0);
}

/// Each operation once, with the members that are asked about, and with who came last of all.
fn told_as_in_table(
    answer: &Decoded,
    parts: &[Part],
    expected: &BTreeSet<(u32, u32)>,
    locations: (u32, u32),
) -> usize {
    let (communicators, instances) = (answer.u32("communicator"), answer.u32("instance"));
    let found: BTreeSet<(u32, u32)> = communicators.into_iter().zip(instances.iter().copied()).collect();
    assert_eq!((&found, found.len()), (expected, instances.len()));
    assert!(answer.u32("number").iter().all(|number| *number == 1));
    let (behind, last) = (answer.u32("behind"), answer.u32("last"));
    let (of, lines) = (answer.u32("location"), answer.u32("line"));
    let (enters, leaves) = (answer.f64("enter"), answer.f64("leave"));
    let mut from = 0;
    for (place, instance) in instances.iter().enumerate() {
        let all: Vec<&Part> = parts.iter().filter(|part| part.operation.1 == *instance).collect();
        let late = all.iter().map(|part| part.enter).max().unwrap();
        let first_of_late = all.iter().filter(|part| part.enter == late).map(|part| part.location).min();
        assert_eq!(Some(last[place]), first_of_late);
        for member in from..behind[place] as usize {
            let part = all.iter().find(|part| part.location == of[member]).unwrap();
            assert!((locations.0..locations.1).contains(&of[member]));
            #[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
            let (enter, leave) = (part.enter as f64, part.leave as f64);
            assert!((enters[member] - enter).abs() < 0.5);
            assert_eq!(leaves[member].is_nan(), part.leave < 0);
            assert!(part.leave < 0 || (leaves[member] - leave).abs() < 0.5);
            assert_ne!(lines[member], NONE);
        }
        let meant = all.iter().filter(|part| (locations.0..locations.1).contains(&part.location)).count();
        assert_eq!(behind[place] as usize - from, meant);
        from = behind[place] as usize;
    }
    assert_eq!(from, of.len());
    instances.len()
}

/// More than a picture has room for stand together, and none is lost.
#[test]
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
fn very_many_operations_stand_together() {
    let made = meeting(9, 6000, 8);
    let (run, parts) = (made.open(), parts(&made));
    let end = parts.iter().map(|part| part.leave).max().unwrap();
    let all = parts.iter().map(|part| part.operation).collect::<BTreeSet<_>>().len();
    let answer = asked(&run, (0, end + 1), (0, 4));
    assert_eq!(answer.head["number"], all);
    let numbers = answer.u32("number");
    assert!(numbers.len() < 5000, "{}", numbers.len());
    assert_eq!(numbers.iter().sum::<u32>() as usize, all);
    // Means of times, each as often as it stands for, are the sums of the table, by location and region.
    let (behind, of, enters) = (answer.u32("behind"), answer.u32("location"), answer.f64("enter"));
    let regions = answer.u32("region");
    let region_of =
        |path: u32| made.archive.table("call_paths").unwrap().u32("region").unwrap()[path as usize];
    let regions_of_paths: BTreeMap<u32, u32> = parts
        .iter()
        .map(|part| part.path)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|it| (it, region_of(it)))
        .collect();
    let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for part in &parts {
        *sums.entry((regions_of_paths[&part.path], part.location)).or_default() += part.enter as f64;
    }
    let mut from = 0;
    for (place, number) in numbers.iter().enumerate() {
        for member in from..behind[place] as usize {
            *sums.get_mut(&(regions[place], of[member])).unwrap() -= enters[member] * f64::from(*number);
        }
        from = behind[place] as usize;
    }
    // A mean is a whole number of ns.
    assert_eq!(sums.len(), 24 * 4);
    assert!(sums.values().all(|rest| rest.abs() <= all as f64), "{sums:?}");
    // Few enough are told one by one.
    let some = asked(&run, (0, end / 3), (0, 2));
    assert!(some.u32("number").iter().all(|number| *number == 1));
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
fn an_operation_tells_who_came_when_and_waited() {
    let made = meeting(3, 120, 1);
    let (run, parts) = (made.open(), parts(&made));
    let regions = ask(&run, &json!({ "ask": "run" })).head["regions"].as_array().unwrap().clone();
    let mut kinds = BTreeSet::new();
    let operations = parts.iter().map(|part| part.operation.1).max().unwrap() + 1;
    for instance in 0..operations {
        let one = ask(&run, &json!({ "ask": "collective", "communicator": 0, "instance": instance }));
        let about = &one.head["operation"];
        let mut rows: Vec<&Part> = parts.iter().filter(|part| part.operation.1 == instance).collect();
        rows.sort_by_key(|part| (part.enter, part.location));
        assert_eq!(one.u32("location"), rows.iter().map(|part| part.location).collect::<Vec<_>>());
        assert_eq!(about["communicator"], "MPI_COMM_WORLD");
        assert_eq!(about["size"], 4);
        assert_eq!(about["start_ns"], rows[0].enter);
        let late = rows[3].enter;
        let last = rows.iter().filter(|part| part.enter == late).map(|part| part.location).min().unwrap();
        assert_eq!(about["last"], last);
        let name = regions[usize::try_from(about["region"].as_u64().unwrap()).unwrap()]["name"].clone();
        kinds.insert(name.as_str().unwrap().to_owned());
        let (starts, waited) = (one.f64("start"), one.f64("waited"));
        let root = about["root"].as_u64();
        assert_eq!(root.is_some(), name == "MPI_Bcast");
        let came = root.map(|root| rows.iter().find(|part| u64::from(part.location) == root).unwrap().enter);
        for (place, part) in rows.iter().enumerate().filter(|(_, part)| part.leave >= 0) {
            // Who waits does so for the last one, or for the root, from the begin of the call on that completes it.
            let until = (came.unwrap_or(late) as f64).min(part.leave as f64);
            let expected = (until - starts[place]).max(0.0);
            assert!(
                (waited[place] - expected).abs() < 0.5,
                "{name} {part:?}: {} is {expected}",
                waited[place]
            );
        }
        if name == "MPI_Bcast" {
            assert_eq!((one.f64("bytes_out"), one.f64("bytes_in")), (vec![8.0; 4], vec![16.0; 4]));
        }
    }
    assert_eq!(kinds, ["MPI_Barrier", "MPI_Bcast", "MPI_Ibarrier"].map(str::to_owned).into());
    let none = ask(&run, &json!({ "ask": "collective", "communicator": 0, "instance": operations }));
    assert_eq!(none.head["operation"], serde_json::Value::Null);
}

/// A call that begins an operation leads there, as does one that completes it.
#[test]
fn a_visit_tells_its_operation() {
    let made = meeting(4, 60, 1);
    let (run, parts) = (made.open(), parts(&made));
    let head = ask(&run, &json!({ "ask": "run" })).head;
    let mut waits = 0;
    for row in &made.rows {
        let line = head["lines"].as_array().unwrap().iter().position(|it| it["location"] == row.location);
        let visit = ask(
            &run,
            &json!({ "ask": "visit", "line": line, "at_ns": row.start, "near_ns": 0, "region": row.region }),
        );
        let found = &visit.head["visit"]["operation"];
        let is_wait = head["regions"][row.region as usize]["name"] == "MPI_Wait";
        waits += usize::from(is_wait && !found.is_null());
        let expected = parts.iter().find(|part| {
            let is_end = is_wait && part.leave == row.end;
            part.location == row.location && (part.enter == row.start || is_end)
        });
        let expected = expected.map(|part| part.operation.1);
        assert_eq!(found["instance"].as_u64(), expected.map(u64::from), "{row:?}");
    }
    assert!(waits > 5, "{waits}");
}
