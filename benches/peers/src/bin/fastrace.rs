//! The crate `fastrace`: 1000 spans under each root, reported to a counter. It brings no file format.

use fastrace::collector::{Config, Reporter, SpanRecord};
use fastrace::prelude::{LocalSpan, Span, SpanContext};
use marey_bench_peers::{call, regions, run};
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! span {
    ($name:literal) => {
        let _span = LocalSpan::enter_with_local_parent($name);
    };
}
regions!(span);

const PAIRS_PER_ROOT: u64 = 1000;
static REPORTED: AtomicU64 = AtomicU64::new(0);

struct Counter;

impl Reporter for Counter {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        let spans = spans.iter().filter(|span| span.name != "root").count();
        REPORTED.fetch_add(spans as u64, Ordering::Relaxed);
    }
}

fn main() {
    run(
        |_| fastrace::set_reporter(Counter, Config::default()),
        |choices, pairs| {
            for first in (0..pairs).step_by(PAIRS_PER_ROOT as usize) {
                let root = Span::root("root", SpanContext::random());
                let _local = root.set_local_parent();
                call((&OUTER, &INNER), choices, PAIRS_PER_ROOT.min(pairs - first));
            }
        },
        |()| {
            fastrace::flush();
            Some(REPORTED.load(Ordering::Relaxed))
        },
    );
}
