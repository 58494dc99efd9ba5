//! Tasks of tokio.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use marey_rust::tokio::{block_on, spawn, spawn_blocking, task, workers};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, oneshot};

use crate::truth::{Count, Yields, compute, polls};

static POLLS: Count = Count::new();
static MAIN_POLLS: Count = Count::new();
static TASKS: Count = Count::new();
static ENDS: Count = Count::new();
/// Tasks that were there at a time, and the most of that.
static NOW: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);
static LOSER_POLLS: Count = Count::new();
static DROPS: Count = Count::new();

fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_time();
    workers(&mut builder).build().expect("a runtime")
}

/// `n` tasks, so many of them made at a time, each of which gives way `yields` times.
pub(crate) fn many(n: u64, yields: u64, at_a_time: u64) {
    let runtime = runtime();
    let small = |_| {
        TASKS.add();
        MOST.fetch_max(NOW.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let work = async move {
            compute(20);
            Yields(yields).await;
            ENDS.add();
            NOW.fetch_sub(1, Ordering::Relaxed);
        };
        spawn("small", polls(&POLLS, work))
    };
    block_on(
        &runtime,
        "main",
        polls(&MAIN_POLLS, async {
            for _ in 0..n / at_a_time {
                let tasks: Vec<_> = (0..at_a_time).map(small).collect();
                for task in tasks {
                    task.await.expect("no task panics");
                }
            }
            // One after the other: a single lane serves them all.
            for _ in 0..100 {
                TASKS.add();
                spawn("after", async { ENDS.add() }).await.expect("no task panics");
            }
        }),
    );
    drop(runtime);
    println!("most {}", MOST.load(Ordering::Relaxed));
    for (name, count) in [("tasks", &TASKS), ("ends", &ENDS), ("polls", &POLLS), ("main-polls", &MAIN_POLLS)]
    {
        count.say(name);
    }
}

/// Counts when it is dropped.
struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        DROPS.add();
    }
}

/// Tasks that end in other ways than by being done.
pub(crate) fn endings() {
    std::panic::set_hook(Box::new(|_| ()));
    let runtime = runtime();
    block_on(&runtime, "main", async {
        // Woken by another task: by a thread that may be another one.
        let bell = Arc::new(Notify::new());
        let sleeper = spawn("sleeper", {
            let bell = Arc::clone(&bell);
            polls(&POLLS, async move { bell.notified().await })
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        bell.notify_one();
        sleeper.await.expect("it wakes");
        // Dropped in the middle.
        let (begun, is_begun) = oneshot::channel();
        let aborted = spawn("aborted", async move {
            let _dropped = Dropped;
            begun.send(()).expect("somebody waits");
            std::future::pending::<()>().await;
        });
        is_begun.await.expect("it begins");
        aborted.abort();
        assert!(aborted.await.expect_err("it is aborted").is_cancelled());
        // Dropped by whoever waits for something else at the same time.
        let forever = async {
            let _dropped = Dropped;
            std::future::pending::<()>().await;
        };
        let slow = task("loser", polls(&LOSER_POLLS, forever));
        let quick = tokio::time::timeout(Duration::from_millis(5), slow);
        quick.await.expect_err("it is never done");
        // Panics after it has been suspended.
        let panics = spawn("panics", async {
            let _dropped = Dropped;
            Yields(2).await;
            panic!("as planned");
        });
        assert!(panics.await.expect_err("it panics").is_panic());
        // Blocks.
        let blocking = spawn_blocking("blocking", || std::thread::sleep(Duration::from_millis(10)));
        blocking.await.expect("it is done");
        // Still there when the runtime is shut down.
        for _ in 0..3 {
            let (begun, is_begun) = oneshot::channel();
            drop(spawn("left", async move {
                let _dropped = Dropped;
                begun.send(()).expect("somebody waits");
                std::future::pending::<()>().await;
            }));
            is_begun.await.expect("it begins");
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
    POLLS.say("sleeper-polls");
    LOSER_POLLS.say("loser-polls");
    DROPS.say("drops");
}

/// A program that knows nothing of marey.
pub(crate) fn plain(n: u64) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let tasks: Vec<_> = (0..n)
            .map(|_| {
                tokio::spawn(async {
                    compute(50);
                    tokio::time::sleep(Duration::from_millis(2)).await;
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no task panics");
        }
    });
}
