//! Writes large spools for benches: `spool pairs STREAMS PAIRS DIR` is what STREAMS threads leave
//! that each run PAIRS enter-leave pairs of 50 regions at depth 2; `spool messages RANKS N DIR` is
//! RANKS ranks that each send N messages around a ring.
#![expect(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "small made-up numbers")]

use std::path::Path;

use marey_testkit::{Message, Spool};

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize| args.get(at).and_then(|word| word.parse().ok()).expect("a number is given");
    let (count, each): (u64, u64) = (number(2), number(3));
    let dir = Path::new(args.get(4).expect("a directory is given"));
    let spool = if args[1] == "pairs" { pairs(count, each) } else { messages(count, each) };
    spool.write(dir)
}

/// Gaps of 0.1 to 5 µs, as in a generator that everybody can write down.
struct Gaps(u64);

impl Gaps {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        100 + (self.0 >> 33) % 4900
    }
}

fn pairs(streams: u64, pairs: u64) -> Spool {
    let mut spool = Spool::world(1);
    let process = &mut spool.processes[0];
    process.window_len = 1 << 20;
    let sites: Vec<u32> = (0..50).map(|idx| process.site(0, &format!("region {idx}"))).collect();
    for stream in 0..streams {
        let (mut gaps, mut now, thread) = (Gaps(stream), 10, stream as usize);
        for n in 0..pairs / 2 {
            let mut next = || {
                now += gaps.next();
                now
            };
            process.enter(thread, sites[(n % 50) as usize], next());
            process.enter(thread, sites[(n * 7 % 50) as usize], next());
            process.leave(thread, next());
            process.leave(thread, next());
        }
    }
    process.end = Some(pairs * 10_000);
    spool
}

fn messages(ranks: u64, each: u64) -> Spool {
    let mut spool = Spool::world(ranks as u32);
    for (rank, process) in (0..).zip(&mut spool.processes) {
        process.window_len = 1 << 20;
        let (send, receive) = (process.site(1, "MPI_Send"), process.site(1, "MPI_Recv"));
        for n in 0..each {
            let at = 1000 * n + rank;
            let peer = |step: u64| ((rank + step) % ranks) as i64;
            process.enter(0, send, at + 20);
            process.send(0, Message { communicator: 0, peer: peer(1), tag: 1, bytes: 8 });
            process.leave(0, at + 30);
            process.enter(0, receive, at + 40);
            process.receive(0, Message { communicator: 0, peer: peer(ranks - 1), tag: 1, bytes: 8 });
            process.leave(0, at + 90);
        }
        process.end = Some(1000 * each + 100);
    }
    spool
}
