//! What a task, a poll, a job, a span and an event cost, by the libraries themselves and with marey around them:
//! `costs N` does each N times and prints `NAME_plain_ns` and `NAME_told_ns`, one line each. Run it alone and under
//! `marey record`.
#![expect(clippy::print_stdout, reason = "a program that is measured")]

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

use marey_measure::clock;
use tracing::{info, info_span};
use tracing_subscriber::layer::SubscriberExt;

/// Time of one of `n` operations, ns.
#[expect(clippy::cast_precision_loss, reason = "times of programs that end")]
fn say(name: &str, n: u64, work: impl FnOnce()) {
    let before = clock::monotonic_ns();
    work();
    println!("{name}_ns {:.2}", (clock::monotonic_ns() - before) as f64 / n as f64);
}

/// Pending so many times, each time woken at once.
struct Yields(u64);

impl Future for Yields {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        for _ in 0..2 {
            tokio::spawn(async {}).await.expect("it does nothing");
            marey_rust::tokio::spawn("task", async {}).await.expect("it does nothing");
        }
    });
    say("task_plain", n, || {
        runtime.block_on(async {
            for _ in 0..n {
                tokio::spawn(async {}).await.expect("it does nothing");
            }
        });
    });
    say("task_told", n, || {
        runtime.block_on(async {
            for _ in 0..n {
                marey_rust::tokio::spawn("task", async {}).await.expect("it does nothing");
            }
        });
    });
    say("poll_plain", n, || runtime.block_on(Yields(n)));
    say("poll_told", n, || marey_rust::tokio::block_on(&runtime, "yields", Yields(n)));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        say("join_plain", n, || {
            for number in 0..n {
                black_box(rayon::join(|| number, || number));
            }
        });
        say("join_told", n, || {
            for number in 0..n {
                black_box(marey_rust::rayon::join(|| number, || number));
            }
        });
    });
    // The same subscriber, with the layer and without; before that it fills its pools.
    let plain = tracing_subscriber::registry();
    tracing::subscriber::with_default(tracing_subscriber::registry(), || {
        (0..n / 10).for_each(|_| drop(info_span!("span").entered()));
    });
    tracing::subscriber::with_default(plain, || traced("plain", n));
    let told = tracing_subscriber::registry().with(marey_rust::tracing::layer());
    tracing::subscriber::with_default(told, || traced("told", n));
}

fn traced(which: &str, n: u64) {
    say(&format!("span_{which}"), n, || {
        for _ in 0..n {
            let _span = info_span!("span").entered();
        }
    });
    say(&format!("event_{which}"), n, || {
        for number in 0..n {
            info!(number);
        }
    });
}
