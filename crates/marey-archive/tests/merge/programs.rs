//! Random message programs, run by a slow and obvious MPI: our pairs must be its pairs.

use std::collections::VecDeque;

use marey_analyze::Trace;
use marey_archive::{Events, RunTrace};
use marey_model::Nanos;
use marey_model::spool::{ANY_SOURCE, ANY_TAG};
use marey_testkit::{Message, Spool, expect_parts_add_up};
use proptest::prelude::*;

use super::{call, config, merged_with};

const RANKS: i64 = 3;
const RANKS_LEN: usize = 3;

/// What a rank does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send {
        rank: usize,
        to: i64,
        tag: i64,
        blocking: bool,
    },
    Post {
        rank: usize,
        from: i64,
        tag: i64,
    },
    /// Completes one of the rank's open operations, if it can be.
    Wait {
        rank: usize,
        which: prop::sample::Index,
    },
    Cancel {
        rank: usize,
        which: prop::sample::Index,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let rank = 0..RANKS_LEN;
    prop_oneof![
        4 => (rank.clone(), 0..RANKS, 0..2_i64, any::<bool>())
            .prop_map(|(rank, to, tag, blocking)| Step::Send { rank, to, tag, blocking }),
        4 => (rank.clone(), -1..RANKS, -1..2_i64)
            .prop_map(|(rank, from, tag)| Step::Post { rank, from, tag }),
        6 => (rank.clone(), any::<prop::sample::Index>()).prop_map(|(rank, which)| Step::Wait { rank, which }),
        1 => (rank, any::<prop::sample::Index>()).prop_map(|(rank, which)| Step::Cancel { rank, which }),
    ]
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    time: i64,
    from: i64,
    to: i64,
    tag: i64,
}

/// An operation that a rank has open.
#[derive(Clone, Copy, Debug)]
enum Open {
    Send { serial: u64 },
    Receive { serial: u64, from: i64, tag: i64, got: Option<Sent> },
}

/// The matching engine: messages that nobody wanted yet, and receives that got none, in order.
#[derive(Default)]
struct Engine {
    unexpected: VecDeque<Sent>,
    open: Vec<Vec<Open>>,
}

impl Engine {
    fn arrive(&mut self, sent: Sent) {
        for open in &mut self.open[usize::try_from(sent.to).unwrap()] {
            if let Open::Receive { from, tag, got, .. } = open
                && got.is_none()
                && (*from == ANY_SOURCE || *from == sent.from)
                && (*tag == ANY_TAG || *tag == sent.tag)
            {
                *got = Some(sent);
                return;
            }
        }
        self.unexpected.push_back(sent);
    }

    fn post(&mut self, rank: usize, serial: u64, from: i64, tag: i64) {
        let wanted = self.unexpected.iter().position(|sent| {
            sent.to == rank as i64
                && (from == ANY_SOURCE || from == sent.from)
                && (tag == ANY_TAG || tag == sent.tag)
        });
        let got = wanted.and_then(|place| self.unexpected.remove(place));
        self.open[rank].push(Open::Receive { serial, from, tag, got });
    }
}

fn what(peer: i64, tag: i64) -> Message {
    Message { communicator: 0, peer, tag, bytes: 8 }
}

/// Runs the program; the spool, and the pairs as (send time, receive time).
fn run(steps: &[Step]) -> (Spool, Vec<(i64, i64)>) {
    let mut spool = Spool::world(3);
    let mut engine = Engine { open: vec![Vec::new(); RANKS_LEN], ..Engine::default() };
    let mut pairs = Vec::new();
    let mut now = 10;
    let complete = |spool: &mut Spool, rank: usize, open: Open, now: u64, pairs: &mut Vec<(i64, i64)>| {
        let process = &mut spool.processes[rank];
        match open {
            Open::Send { serial } => call(process, 0, "MPI_Wait", now, now + 5, |p| p.sent(0, serial)),
            Open::Receive { serial, got: Some(sent), .. } => {
                call(process, 0, "MPI_Wait", now, now + 5, |p| {
                    p.received(0, serial, what(sent.from, sent.tag))
                });
                pairs.push((sent.time, now as i64 + 5));
            }
            Open::Receive { serial, .. } => {
                call(process, 0, "MPI_Wait", now, now + 5, |p| p.cancelled(0, serial));
            }
        }
    };
    for &step in steps {
        now += 10;
        match step {
            Step::Send { rank, to, tag, blocking } => {
                let sent = Sent { time: now as i64, from: rank as i64, to, tag };
                let process = &mut spool.processes[rank];
                if blocking {
                    call(process, 0, "MPI_Send", now, now + 5, |p| p.send(0, what(to, tag)));
                } else {
                    let serial =
                        call(process, 0, "MPI_Isend", now, now + 5, |p| p.post_send(0, what(to, tag)));
                    engine.open[rank].push(Open::Send { serial });
                }
                engine.arrive(sent);
            }
            Step::Post { rank, from, tag } => {
                let process = &mut spool.processes[rank];
                let serial =
                    call(process, 0, "MPI_Irecv", now, now + 5, |p| p.post_receive(0, what(from, tag)));
                engine.post(rank, serial, from, tag);
            }
            Step::Wait { rank, which } => {
                let ready = |open: &Open| !matches!(open, Open::Receive { got: None, .. });
                let ready: Vec<usize> =
                    (0..engine.open[rank].len()).filter(|&idx| ready(&engine.open[rank][idx])).collect();
                if !ready.is_empty() {
                    let open = engine.open[rank].remove(ready[which.index(ready.len())]);
                    complete(&mut spool, rank, open, now, &mut pairs);
                }
            }
            Step::Cancel { rank, which } => {
                let pending = |open: &Open| matches!(open, Open::Receive { got: None, .. });
                let pending: Vec<usize> =
                    (0..engine.open[rank].len()).filter(|&idx| pending(&engine.open[rank][idx])).collect();
                if !pending.is_empty() {
                    let open = engine.open[rank].remove(pending[which.index(pending.len())]);
                    complete(&mut spool, rank, open, now, &mut pairs);
                }
            }
        }
    }
    // A correct program completes everything; what got nothing is cancelled.
    for rank in 0..RANKS_LEN {
        for open in std::mem::take(&mut engine.open[rank]).into_iter().rev() {
            now += 10;
            complete(&mut spool, rank, open, now, &mut pairs);
        }
    }
    for process in &mut spool.processes {
        process.end = Some(now + 100);
    }
    pairs.sort_unstable();
    (spool, pairs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn our_pairs_are_those_of_the_matching_engine(steps in prop::collection::vec(step(), 1..120)) {
        let (spool, expected) = run(&steps);
        let merged = merged_with(&spool, &config(1, 1 << 20));
        let found: Vec<(i64, i64)> =
            merged.pairs().into_iter().filter(|pair| pair.0 >= 0 && pair.1 >= 0).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(merged.problem("unmatchable_channels"), 0);
        prop_assert_eq!(merged.problem("unmatched_receives"), 0);
        let trace = RunTrace::load(&merged.archive).unwrap();
        let events = Events::open(&merged.archive, &trace).unwrap();
        let cuts: Vec<Nanos> = [11, 37, 38, 80].map(|percent| Nanos(trace.duration().0 * percent / 100)).to_vec();
        expect_parts_add_up(&trace, &events, &cuts);
    }
}
