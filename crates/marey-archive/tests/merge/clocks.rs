//! Clocks that are wrong by known amounts: what is said of their error must be true.

use marey_model::spool::Definition;
use marey_testkit::{Process, Spool};

use super::missing::merged as merged_from;
use super::{Merged, call, merged, message};

const SECOND: u64 = 1_000_000_000;
/// When the run begins and ends, in true time.
const RUN: (u64, u64) = (20 * SECOND, 30 * SECOND);

/// Which messages there are between a process and rank 0.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Messages {
    None,
    Both,
    ToReference,
    FromReference,
}

/// A clock that is wrong.
#[derive(Clone, Copy, Debug)]
struct Wrong {
    offset: i64,
    drift_ppm: i64,
}

impl Wrong {
    fn reading(self, ns: u64) -> u64 {
        let ns = ns.cast_signed();
        (ns + ns / 1_000_000 * self.drift_ppm + self.offset).cast_unsigned()
    }
}

const RIGHT: Wrong = Wrong { offset: 0, drift_ppm: 0 };

/// Latencies of 2 to 50 µs.
fn latency(n: u64) -> u64 {
    2000 + n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 48_000
}

/// A process of a world whose clock is `wrong`, with a mark on its second thread each second.
fn begin(process: &mut Process, rank: usize, wrong: Wrong) {
    process.host = format!("node{rank}");
    process.boot = format!("boot{rank}");
    process.start = wrong.reading(RUN.0);
    process.end = Some(wrong.reading(RUN.1));
    let mark = process.site(0, "mark");
    for ns in (RUN.0..=RUN.1).step_by(1_000_000_000) {
        process.enter(1, mark, wrong.reading(ns));
        process.leave(1, wrong.reading(ns) + 1);
    }
}

fn exchange(process: &mut Process, wrong: Wrong, peer: (u32, Wrong), at: u64) {
    process.definitions.push(Definition::Exchange {
        peer: peer.0,
        sent: wrong.reading(at),
        received: peer.1.reading(at + 3000),
        returned: peer.1.reading(at + 3500),
        came_back: wrong.reading(at + 5500),
    });
}

/// Messages every 50 ms between two ranks.
fn talk(spool: &mut Spool, ranks: (usize, usize), clocks: (Wrong, Wrong), both: bool) {
    let peers = (i64::try_from(ranks.1).unwrap(), i64::try_from(ranks.0).unwrap());
    for n in 0..190 {
        let at = RUN.0 + SECOND / 4 + n * SECOND / 20;
        let (first, second) = clocks;
        let arrives = at + latency(n);
        call(&mut spool.processes[ranks.0], 0, "MPI_Send", first.reading(at), first.reading(at) + 900, |p| {
            p.send(0, message(peers.0, 1));
        });
        let receiver = &mut spool.processes[ranks.1];
        call(receiver, 0, "MPI_Recv", second.reading(at - 5000), second.reading(arrives), |p| {
            p.receive(0, message(peers.1, 1));
        });
        if both {
            let at = arrives + 10_000;
            let back = at + latency(n * 7 + 3);
            call(
                &mut spool.processes[ranks.1],
                0,
                "MPI_Send",
                second.reading(at),
                second.reading(back),
                |p| {
                    p.send(0, message(peers.1, 2));
                },
            );
            let receiver = &mut spool.processes[ranks.0];
            call(receiver, 0, "MPI_Recv", first.reading(at - 3000), first.reading(back), |p| {
                p.receive(0, message(peers.0, 2));
            });
        }
    }
}

/// Largest error of marks against those of location 0's process, and what is said of it, by process.
fn errors(merged: &Merged) -> Vec<(i64, i64)> {
    let (intervals, locations, clocks) =
        (merged.table("intervals"), merged.table("locations"), merged.table("clocks"));
    let paths = merged.paths();
    let mut marks = vec![Vec::new(); clocks.len()];
    for row in 0..intervals.len() {
        if paths[intervals.u32("call_path").unwrap()[row] as usize] == "mark" {
            let location = intervals.u32("location").unwrap()[row] as usize;
            let process = locations.u32("process").unwrap()[location] as usize;
            marks[process].push(intervals.i64("start").unwrap()[row]);
        }
    }
    let error = |own: &Vec<i64>| own.iter().zip(&marks[0]).map(|(a, b)| (a - b).abs()).max().unwrap();
    assert!(marks.iter().all(|own| own.len() == marks[0].len()));
    marks.iter().map(error).zip(clocks.i64("uncertainty_ns").unwrap().iter().copied()).collect()
}

fn run(wrong: Wrong, exchanges: &[u64], messages: Messages) -> Merged {
    let mut spool = Spool::world(2);
    for (rank, (process, wrong)) in spool.processes.iter_mut().zip([RIGHT, wrong]).enumerate() {
        begin(process, rank, wrong);
    }
    for &at in exchanges {
        exchange(&mut spool.processes[1], wrong, (0, RIGHT), at);
    }
    match messages {
        Messages::None => {}
        Messages::Both => talk(&mut spool, (0, 1), (RIGHT, wrong), true),
        Messages::FromReference => talk(&mut spool, (0, 1), (RIGHT, wrong), false),
        Messages::ToReference => talk(&mut spool, (1, 0), (wrong, RIGHT), false),
    }
    merged(&spool)
}

/// The error is within what is said, which is at most `most`; no message arrives before it is sent.
#[track_caller]
fn check(exchanges: &[u64], messages: Messages, most: Option<i64>) {
    for offset in [-10, 10] {
        for drift_ppm in [-200, 0, 200] {
            let wrong = Wrong { offset: offset * SECOND.cast_signed(), drift_ppm };
            let merged = run(wrong, exchanges, messages);
            let (error, said) = errors(&merged)[1];
            match most {
                Some(most) => assert!(error <= said && said <= most, "{wrong:?}: {error} {said}"),
                None => assert_eq!(said, -1, "{wrong:?}: {error}"),
            }
            assert_eq!(merged.summary.problems, [], "{wrong:?}");
        }
    }
}

const EARLY: u64 = RUN.0 + SECOND / 10;
const LATE: u64 = RUN.1 - SECOND / 10;

#[test]
fn exchanges_at_both_ends_bound_offset_and_drift() {
    check(&[EARLY, LATE], Messages::None, Some(4000));
    check(&[EARLY, LATE], Messages::Both, Some(4000));
}

#[test]
fn exchanges_at_the_start_leave_the_drift_open() {
    check(&[EARLY], Messages::None, Some(10_000_000));
}

#[test]
fn messages_narrow_what_exchanges_leave_open() {
    check(&[EARLY], Messages::Both, Some(10_000));
}

#[test]
fn messages_in_both_directions_bound_offset_and_drift() {
    check(&[], Messages::Both, Some(10_000));
}

#[test]
fn messages_in_one_direction_bound_nothing_but_are_not_violated() {
    check(&[], Messages::FromReference, None);
    check(&[], Messages::ToReference, None);
}

#[test]
fn without_messages_the_error_of_the_calendar_is_unknown() {
    check(&[], Messages::None, None);
}

/// Rank 2 talks to rank 1 only, which talks to rank 0.
#[test]
fn errors_add_up_along_a_chain_of_clocks() {
    let clocks = [
        RIGHT,
        Wrong { offset: -10 * SECOND.cast_signed(), drift_ppm: 150 },
        Wrong { offset: 5 * SECOND.cast_signed(), drift_ppm: -150 },
    ];
    let mut spool = Spool::world(3);
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        begin(process, rank, clocks[rank]);
    }
    exchange(&mut spool.processes[1], clocks[1], (0, RIGHT), EARLY);
    exchange(&mut spool.processes[1], clocks[1], (0, RIGHT), LATE);
    talk(&mut spool, (1, 2), (clocks[1], clocks[2]), true);
    let merged = merged(&spool);
    let errors = errors(&merged);
    assert!(errors.iter().all(|(error, said)| error <= said), "{errors:?}");
    assert!(errors[1].1 < errors[2].1 && errors[2].1 < 20_000, "{errors:?}");
    assert_eq!(merged.summary.problems, []);
}

/// A clock that is put back by a second half way is no line; exchanges and messages contradict
/// each other, and what cannot be true of the messages is counted.
#[test]
fn what_no_line_can_mend_is_counted() {
    let mut spool = Spool::world(2);
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        begin(process, rank, RIGHT);
    }
    exchange(&mut spool.processes[1], RIGHT, (0, RIGHT), EARLY);
    let middle = RUN.0 + 5 * SECOND;
    for (n, error) in [(0, 0), (1, 0), (2, SECOND)] {
        let at = middle + n * 2 * SECOND;
        call(&mut spool.processes[0], 0, "MPI_Send", at, at + 900, |p| p.send(0, message(1, 1)));
        let arrives = at + 5000 - error;
        call(&mut spool.processes[1], 0, "MPI_Recv", arrives - 1000, arrives, |p| {
            p.receive(0, message(0, 1))
        });
    }
    let merged = merged(&spool);
    assert_eq!(merged.problem("clock_violations"), 1);
    assert_eq!(merged.summary.messages, 3);
}

/// Ticks are no whole ns, everything is rounded, and the clock is known from when the launcher read it.
#[test]
fn a_process_that_is_there_all_the_time_takes_as_long_as_the_run() {
    for n in 0..50 {
        let mut process = Process::new(7);
        (process.clock, process.speed) = (0, 0.3701);
        process.start = 1_000_000_007 + 1013 * n;
        let work = process.site(0, "work");
        process.enter(0, work, process.start + 100 + n);
        process.leave(0, process.start + 1_000_000 + 3 * n);
        process.end = Some(process.start + 2_000_001 + n);
        let before = r#"{"ticks": 900000000, "monotonic_ns": 333090000, "realtime_ns": 1700000000333090000}"#;
        let launch = format!(r#"{{"host": "node", "start": {before}}}"#);
        let spool = Spool { processes: vec![process] };
        let merged = merged_from(&spool, |place| std::fs::write(place.join("launch.json"), launch).unwrap());
        let table = merged.table("processes");
        let (start, end) = (table.i64("start").unwrap()[0], table.i64("end").unwrap()[0]);
        assert_eq!((start, end), (0, merged.summary.duration_ns), "{n}");
    }
}

#[test]
fn offset_and_drift_between_machines_are_found_from_exchanges() {
    let mut spool = Spool::world(2);
    let second = 1_000_000_000_u64;
    {
        // The other machine's clock counts 40 ppm too fast and began half a second early; its
        // calendar is right to the moment only by the exchanges.
        let other = &mut spool.processes[1];
        other.boot = "elsewhere".to_owned();
        other.host = "node2".to_owned();
        let reading = |ns: u64| ns + ns * 40 / 1_000_000 + second / 2;
        for ns in [second, 9 * second] {
            other.definitions.push(Definition::Exchange {
                peer: 0,
                sent: reading(ns),
                received: ns + 1000,
                returned: ns + 1500,
                came_back: reading(ns + 2500),
            });
        }
        call(other, 0, "MPI_Recv", reading(5 * second), reading(5 * second + 5000), |p| {
            p.receive(0, message(0, 5))
        });
        other.end = Some(reading(10 * second));
    }
    call(&mut spool.processes[0], 0, "MPI_Send", 5 * second, 5 * second + 100, |p| p.send(0, message(1, 5)));
    spool.processes[0].end = Some(10 * second);
    let merged = merged(&spool);
    let (send, recv) = merged.pairs()[0];
    assert!((recv - send - 5000).abs() < 300, "{}", recv - send);
    let clocks = merged.table("clocks");
    assert!((clocks.f64("drift_ppm").unwrap()[1] + 40.0).abs() < 0.1);
    let uncertainty = clocks.i64("uncertainty_ns").unwrap()[1];
    assert!((1000..1500).contains(&uncertainty), "{uncertainty}");
}

/// Two clocks that are tied to a third by slow messages, and talk to each other by quick ones.
#[test]
fn messages_between_uncertain_clocks_do_not_run_backwards() {
    let clocks = [
        RIGHT,
        Wrong { offset: -10 * SECOND.cast_signed(), drift_ppm: 150 },
        Wrong { offset: 5 * SECOND.cast_signed(), drift_ppm: -150 },
    ];
    let mut spool = Spool::world(3);
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        begin(process, rank, clocks[rank]);
    }
    // To rank 0 it takes 10 µs and 400 µs back, or the other way round: the middle is wrong by 195 µs.
    for (rank, there, back) in [(1, 10_000, 400_000), (2, 400_000, 10_000)] {
        for at in [EARLY, LATE] {
            spool.processes[rank].definitions.push(Definition::Exchange {
                peer: 0,
                sent: clocks[rank].reading(at),
                received: clocks[0].reading(at + there),
                returned: clocks[0].reading(at + there + 500),
                came_back: clocks[rank].reading(at + there + back),
            });
        }
    }
    talk(&mut spool, (1, 2), (clocks[1], clocks[2]), true);
    let merged = merged(&spool);
    let errors = errors(&merged);
    assert!(errors.iter().all(|(error, said)| error <= said), "{errors:?}");
    assert_eq!(merged.problem("clock_violations"), 0);
    let backwards = merged.problem("causal_shifts");
    assert!((1..=380).contains(&backwards), "{backwards} messages were mended");
    let count = |name: &str| merged.archive.meta().counts[name];
    let (sum, most) = (count("causal_shift_sum_ns"), count("causal_shift_max_ns"));
    let said = u64::try_from(errors[2].1).unwrap();
    assert!(0 < most && most <= said && most <= sum && sum <= most * backwards, "{most} {sum} {said}");
    eprintln!("{backwards} messages, {sum} ns, {most} ns at most; {errors:?}");
}

/// Ranks that send nothing and meet in barriers: now this one comes last, now that one.
#[test]
fn barriers_bound_clocks_from_both_sides() {
    let wrong = Wrong { offset: -10 * SECOND.cast_signed(), drift_ppm: 180 };
    for (role, verb, bytes, is_tied) in [
        (marey_model::Role::Barrier, "MPI_Barrier", 0, true),
        (marey_model::Role::AllToAll, "MPI_Allreduce", 8, true),
        // Nobody needs to wait for nothing, nor for those who have nothing for him.
        (marey_model::Role::AllToAll, "MPI_Allreduce", 0, false),
        (marey_model::Role::AllToAll, "MPI_Alltoallv", 8, false),
        (marey_model::Role::OneToAll, "MPI_Bcast", 8, false),
    ] {
        let mut spool = Spool::world(2);
        for (rank, (process, clock)) in spool.processes.iter_mut().zip([RIGHT, wrong]).enumerate() {
            begin(process, rank, clock);
            let (id, noun) = (1000, String::new());
            process.definitions.push(Definition::Region {
                id,
                level: 1,
                verb: verb.to_owned(),
                role: role as u8,
                noun_kind: noun.clone(),
                noun: noun.clone(),
                file: noun,
                line: 0,
            });
            process.definitions.push(Definition::Site { id, region: id, stack: None });
            for n in 0..400 {
                let at = RUN.0 + SECOND / 4 + n * SECOND / 50;
                let late = |rank: usize| latency(n * 2 + rank as u64) * 100;
                let left = at + late(0).max(late(1)) + latency(n * 3 + rank as u64) / 4;
                process.enter(0, id, clock.reading(at + late(rank)));
                process.collective(0, 0, -1, bytes, bytes);
                process.leave(0, clock.reading(left));
            }
        }
        let merged = merged(&spool);
        let (error, said) = errors(&merged)[1];
        if is_tied {
            assert!(error <= said && said <= 25_000, "{verb}: {error} {said}");
        } else {
            assert_eq!(said, -1, "{verb} of {bytes} bytes");
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    /// Whatever nonsense clocks, exchanges and messages say of each other: on every location what was
    /// recorded later is not earlier, and nothing takes less than no time.
    #[test]
    fn times_of_a_location_never_run_backwards(
        runs in proptest::collection::vec((0_u64..4_000_000, -3_000_000_i64..3_000_000, 0_usize..6), 1..120),
        ranks in 2_usize..4,
        drift_ppm in -2000_i64..2000,
        rounds in proptest::collection::vec(proptest::array::uniform4(0_u64..40_000_000_000), 0..6),
    ) {
        let mut spool = Spool::world(u32::try_from(ranks).unwrap());
        let clocks: Vec<Wrong> = (0..ranks as i64)
            .map(|rank| Wrong { offset: rank * SECOND.cast_signed(), drift_ppm: drift_ppm * rank })
            .collect();
        for (rank, process) in spool.processes.iter_mut().enumerate() {
            begin(process, rank, clocks[rank]);
        }
        for [sent, received, returned, came_back] in rounds {
            let exchange = Definition::Exchange { peer: 0, sent, received, returned, came_back };
            spool.processes[ranks - 1].definitions.push(exchange);
        }
        let mut last = vec![RUN.0; ranks];
        for (after, takes, pair) in runs {
            let (from, to) = (pair % ranks, (pair + 1 + pair / ranks) % ranks);
            if from == to {
                continue;
            }
            let sent = last[from] + after;
            // Times that cannot be true as well.
            let received = sent.saturating_add_signed(takes).max(last[to]);
            last[from] = sent + 1;
            last[to] = received + 1;
            let peer = |rank: usize| i64::try_from(rank).unwrap();
            let [begin, end] = [sent, sent + 1].map(|ns| clocks[from].reading(ns));
            call(&mut spool.processes[from], 0, "MPI_Send", begin, end, |p| p.send(0, message(peer(to), 1)));
            let [begin, end] = [received, received + 1].map(|ns| clocks[to].reading(ns));
            call(&mut spool.processes[to], 0, "MPI_Recv", begin, end, |p| p.receive(0, message(peer(from), 1)));
        }
        let merged = merged(&spool);
        let intervals = merged.table("intervals");
        let rows = || (0..intervals.len()).map(|row| {
            let value = |name| intervals.i64(name).unwrap()[row];
            (intervals.u32("location").unwrap()[row], value("start"), value("duration"))
        });
        for location in 0..2 * u32::try_from(ranks).unwrap() {
            let mut end = i64::MIN;
            for (_, start, duration) in rows().filter(|row| row.0 == location) {
                proptest::prop_assert!(end <= start && duration >= 0, "{location}: {end} {start}+{duration}");
                end = start + duration;
            }
        }
        let knots = merged.table("clock_knots");
        let of = |row: usize| {
            let value = |name| knots.i64(name).unwrap()[row];
            (knots.u32("process").unwrap()[row], value("ticks"), value("time"))
        };
        for row in 1..knots.len() {
            let (one, other) = (of(row - 1), of(row));
            proptest::prop_assert!(one.0 != other.0 || one.1 < other.1 && one.2 <= other.2, "{one:?} {other:?}");
        }
        proptest::prop_assert!(knots.len() < ranks * 1200, "{} knots", knots.len());
    }
}
