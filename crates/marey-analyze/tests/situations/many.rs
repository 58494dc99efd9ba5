//! More queues than are told: those that matter most are, the others counted, and however many there are, events are not
//! gone through more often.

use std::cell::Cell;

use marey_analyze::{
    Happenings, Interval, SituationKind, SituationRules, Situations, Unread, causes, situations,
};
use marey_model::{LocationId, Nanos, Role};
use marey_testkit::MadeUp;

/// A run that counts how often its intervals are read.
struct Counted<'r> {
    run: &'r MadeUp,
    passes: Cell<usize>,
}

impl Happenings for Counted<'_> {
    fn beneath(&self) -> Option<&dyn Happenings> {
        Some(self.run)
    }

    fn intervals(&self, slab: usize, each: &mut dyn FnMut(&[Interval])) -> Result<(), Unread> {
        self.passes.set(self.passes.get() + 1);
        self.run.intervals(slab, each)
    }

    fn slabs(&self) -> Vec<Nanos> {
        self.run.slabs()
    }
}

/// What is found, and how often the intervals were read for that.
fn found(run: &MadeUp, rules: &str) -> (Situations, usize) {
    let rules = SituationRules::parse(rules).expect("they are rules");
    let causes = causes(run, run).expect("all can be read");
    let counted = Counted { run, passes: Cell::new(0) };
    let found = situations(run, &counted, &causes, &rules).expect("all can be read");
    (found, counted.passes.get())
}

/// Of `2 × pairs` ranks each of the first half sends to its own of the second half, of which each has two messages in its
/// queue, for 1 µs more than the one before.
fn pairs(pairs: u32) -> MadeUp {
    let mut run = MadeUp::new(2 * pairs);
    let send = run.mpi("MPI_Send", Role::Transfer, &[("main", 7)]);
    let receive = run.mpi("MPI_Recv", Role::Transfer, &[("main", 8)]);
    for pair in 0..pairs {
        let (from, to) = (LocationId(pair), LocationId(pairs + pair));
        run.pause(to, 100_000 + 1000 * i64::from(pair));
        for _ in 0..2 {
            run.message((from, send), (to, receive), 8, 10);
        }
        let rest = 200_000 - run.now(to).0;
        run.pause(to, rest);
        let rest = 200_000 - run.now(from).0;
        run.pause(from, rest);
    }
    run
}

/// Half of all ranks have a queue twice as long as the mean: the 20 longest queues are told, the other ten counted.
#[test]
fn many_queues_beyond_the_mean_are_one_question() {
    let (few, passes_of_few) = found(&pairs(2), "message-queue everyone by 50%");
    assert_eq!((few.list.len(), few.more.len()), (2, 0));
    let (many, passes) = found(&pairs(30), "message-queue everyone by 50%");
    let mut told: Vec<u32> = many.list.iter().map(|it| it.locations[0].0).collect();
    told.sort_unstable();
    // The last twenty of 30 to 59.
    assert_eq!(told, (40..60).collect::<Vec<_>>());
    assert_eq!(many.more, [(SituationKind::MessageQueue, 10)]);
    assert_eq!(passes, passes_of_few);
}

/// 66 000 times a message is in the queue, the last time one of 1000 bytes: that matters most.
#[test]
fn what_matters_most_may_come_last() {
    const TIMES: u64 = 66_000;
    let mut run = MadeUp::new(2);
    let send = run.mpi("MPI_Send", Role::Transfer, &[("main", 7)]);
    let receive = run.mpi("MPI_Recv", Role::Transfer, &[("main", 8)]);
    let (from, to) = (LocationId(0), LocationId(1));
    run.pause(to, 50);
    for time in 1..=TIMES {
        run.message((from, send), (to, receive), if time == TIMES { 1000 } else { 8 }, 10);
        [from, to].into_iter().for_each(|location| run.pause(location, 90));
    }
    let (found, _) = found(&run, "message-queue everyone over 1 bytes");
    assert_eq!(found.list.len(), 20);
    let last = found.list.last().expect("there are 20");
    assert_eq!((last.measured.to_bits(), last.from), (1000_f64.to_bits(), Nanos(100 * 65_999)));
    assert_eq!(found.more, [(SituationKind::MessageQueue, TIMES - 20)]);
    // Of equals the first.
    assert!(found.list[..19].iter().zip(0..).all(|(it, place)| it.from == Nanos(100 * place)));
}
