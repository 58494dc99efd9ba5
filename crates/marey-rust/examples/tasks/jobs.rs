//! Jobs of rayon, and threads.

use std::sync::Barrier;
use std::time::Duration;

use marey_rust::rayon::{Named, install, join, named, scope};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::truth::{Count, compute};

static JOINS: Count = Count::new();
static SPAWNED: Count = Count::new();
static STOLEN: Count = Count::new();
static LEAVES: Count = Count::new();

/// Splits in two down to nothing.
fn split(depth: u64) -> u64 {
    if depth == 0 {
        LEAVES.add();
        return 1;
    }
    JOINS.add();
    let (a, b) = join(|| split(depth - 1), || split(depth - 1));
    a + b
}

/// Where a job runs that was made here.
fn counted(made_by: Option<usize>) {
    SPAWNED.add();
    if rayon::current_thread_index() != made_by {
        STOLEN.add();
    }
}

pub(crate) fn all(depth: u64) {
    let pool = named(ThreadPoolBuilder::new().num_threads(2), "pool").build().expect("a pool");
    let leaves = install(&pool, "tree", || split(depth));
    assert_eq!(leaves, LEAVES.get());
    // Each of two jobs waits until the other has begun, so one of them is done by the thread that did not make it.
    let both = Barrier::new(2);
    install(&pool, "pair", || {
        let own = rayon::current_thread_index();
        scope(|scope| {
            for _ in 0..2 {
                scope.spawn("meets", |_| {
                    counted(own);
                    both.wait();
                    compute(1000);
                });
            }
        });
    });
    // Sixteen pieces of four items. The first and the last wait for each other, so one of the threads has stolen some.
    let ends = Barrier::new(2);
    let sum: u64 = install(&pool, "sum", || {
        let items = (0..64_u32).into_par_iter().with_min_len(4).with_max_len(4);
        items
            .map(|item| {
                if [0, 63].contains(&item) {
                    ends.wait();
                }
                compute(100);
                u64::from(item)
            })
            .jobs("piece")
            .sum()
    });
    assert_eq!(sum, 64 * 63 / 2);
    for (name, count) in [("joins", &JOINS), ("leaves", &LEAVES), ("spawned", &SPAWNED), ("stolen", &STOLEN)]
    {
        count.say(name);
    }
}

/// A program that knows nothing of marey.
pub(crate) fn plain() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    let sum: u64 = pool.install(|| {
        (0..64_u64)
            .into_par_iter()
            .map(|item| {
                compute(200);
                item
            })
            .sum()
    });
    std::thread::sleep(Duration::from_millis(20));
    println!("sum {sum}");
}

/// Threads of the standard library, with names.
pub(crate) fn threads() {
    let threads: Vec<_> = (0..3)
        .map(|number| {
            let thread = std::thread::Builder::new().name(format!("reader {number}"));
            thread.spawn(|| compute(2000)).expect("a thread")
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
}
