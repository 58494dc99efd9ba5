//! The viewer in a browser on a run that is made up, so that what must be seen is known beforehand.
//!
//! The one idea: one run has something of all that is looked for. What is seen and pressed stands in `ui/test/made.mjs`.

use marey_archive::merge::{Config, merge};
use marey_testkit::{Message, Spool};

use crate::mpi_view::look;
use crate::support::Place;

const RANKS: u64 = 4;
/// More kinds of work than a mountain range tells apart.
const PARTS: u64 = 16;
/// Messages of a flood: too many to be drawn one by one.
const FLOOD: u64 = 6000;

/// Ranks that work and then pass something on to the next, round by round; within each of 16 kinds of work, the first the
/// longest. One of them works for three times as long once, and then three wait for each other. In the end rank 0 floods rank 1,
/// which asks late.
fn passed_on() -> Spool {
    let mut spool = Spool::world(u32::try_from(RANKS).unwrap());
    let message = |peer: u64, tag: i64, bytes: u64| Message {
        communicator: 0,
        peer: (peer % RANKS).cast_signed(),
        tag,
        bytes,
    };
    for (rank, process) in (0_u64..).zip(&mut spool.processes) {
        let [solve, exchange, flood] = ["solve", "exchange", "flood"].map(|verb| process.site(0, verb));
        let parts: Vec<u32> = (0..PARTS).map(|part| process.site(0, &format!("part-{part}"))).collect();
        let [send, receive] = ["MPI_Send", "MPI_Recv"].map(|verb| process.site(1, verb));
        for round in 0..60 {
            let at = 200_000 * round + 1000;
            let part = round % PARTS;
            let once = if (rank, round) == (1, 30) { 60_000 } else { 0 };
            process.enter(0, solve, at);
            process.leave(0, at + 30_000 + (7 * round + 13 * rank) % 11 * 40 + once);
            process.enter(0, parts[usize::try_from(part).unwrap()], at + 100_000);
            process.enter(0, exchange, at + 110_000);
            process.enter(0, send, at + 120_000 + 1000 * rank);
            process.send(0, message(rank + 1, 1, 800 + 10 * round));
            process.leave(0, at + 124_000 + 1000 * rank);
            process.enter(0, receive, at + 128_500);
            let before = (rank + RANKS - 1) % RANKS;
            process.receive(0, message(rank + RANKS - 1, 1, 800 + 10 * round));
            process.leave(0, at + 140_000 + 2000 * before);
            process.leave(0, at + 150_000);
            process.leave(0, at + 150_000 + 2500 * (PARTS - part));
        }
        // Rank 1 waits for rank 2, which waits for rank 3: the critical path leads over all of them.
        let late = |rank: u64| 12_400_000 + 450_000 * (3 - rank);
        if (1..3).contains(&rank) {
            process.enter(0, receive, 12_050_000);
            process.receive(0, message(rank + 1, 3, 128));
            process.leave(0, late(rank + 1) + 50_000);
        }
        if rank > 1 {
            process.enter(0, solve, late(rank) - 350_000);
            process.leave(0, late(rank) - 1000);
            process.enter(0, send, late(rank));
            process.send(0, message(rank - 1, 3, 128));
            process.leave(0, late(rank) + 4000);
        }
        let [sent, asked] = [13_000_000, 14_500_000];
        if rank < 2 {
            process.enter(0, flood, sent);
        }
        for number in (0..FLOOD).filter(|_| rank < 2) {
            let at = if rank == 0 { sent } else { asked } + 100 + 500 * number;
            process.enter(0, if rank == 0 { send } else { receive }, at);
            if rank == 0 {
                process.send(0, message(1, 2, 64));
            } else {
                process.receive(0, message(0, 2, 64));
            }
            process.leave(0, at + 300);
        }
        if rank < 2 {
            process.leave(0, if rank == 0 { 16_100_000 } else { 17_800_000 });
        }
        process.end = Some(if rank == 1 { 18_000_000 } else { 17_900_000 });
    }
    spool
}

#[test]
fn what_is_made_up_is_found_in_the_browser() {
    let place = Place::new();
    let (from, to) = (place.path().join("spool"), place.path().join("made-up.marey"));
    passed_on().write(&from).unwrap();
    merge(&from, &to, &Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false }, &()).unwrap();
    look(&to, &[], "made", &place);
}
