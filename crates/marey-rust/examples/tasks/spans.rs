//! Spans and events of tracing.

use std::time::Duration;

use tracing::{Instrument, debug, info, info_span};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::truth::{Count, compute, polls};

static STEPS: Count = Count::new();
static REQUESTS: Count = Count::new();
static POLLS: Count = Count::new();
static EVENTS: Count = Count::new();

fn step(number: u64) {
    let _step =
        info_span!("step", number, state = "plain", ratio = 0.5, late = tracing::field::Empty).entered();
    STEPS.add();
    compute(50);
    tracing::Span::current().record("late", number * 2);
    EVENTS.add();
    info!(residual = 1.5, iterations = number, converged = true, "solved");
}

async fn request(number: u64) {
    REQUESTS.add();
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        compute(100);
    }
    EVENTS.add();
    debug!(number, "answered");
}

pub(crate) fn all(n: u64) {
    tracing_subscriber::registry().with(marey_rust::tracing::layer()).init();
    (0..n).for_each(step);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        let requests: Vec<_> = (0..n)
            .map(|number| {
                let span = info_span!("request", number);
                tokio::spawn(polls(&POLLS, request(number)).instrument(span))
            })
            .collect();
        for request in requests {
            request.await.expect("no task panics");
        }
    });
    // One that follows from another.
    let first = info_span!("first");
    first.in_scope(|| compute(100));
    let second = info_span!("second");
    second.follows_from(&first);
    drop(first);
    std::thread::spawn(move || second.in_scope(|| compute(100))).join().expect("it ends");
    drop(runtime);
    for (name, count) in [("steps", &STEPS), ("requests", &REQUESTS), ("polls", &POLLS), ("events", &EVENTS)]
    {
        count.say(name);
    }
}

/// Events of one place with `n` combinations of fields, 511 at most, each of them twice; and a span with as many.
pub(crate) fn combinations(n: u64) {
    tracing_subscriber::registry().with(marey_rust::tracing::layer()).init();
    let field = |number: u64, bit: u32| (number >> bit & 1 == 1).then_some(number);
    for _ in 0..2 {
        for number in 1..=n {
            let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|bit| field(number, bit));
            let [f, g, h, i] = [5, 6, 7, 8].map(|bit| field(number, bit));
            EVENTS.add();
            tracing::event!(name: "combined", tracing::Level::INFO, a, b, c, d, e, f, g, h, i);
        }
    }
    for number in 1..=n {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|bit| field(number, bit));
        let [f, g, h, i] = [5, 6, 7, 8].map(|bit| field(number, bit));
        STEPS.add();
        info_span!("combining", a, b, c, d, e, f, g, h, i).in_scope(|| ());
    }
    EVENTS.say("events");
    STEPS.say("steps");
}
