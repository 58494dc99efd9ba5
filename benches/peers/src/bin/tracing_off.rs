//! The crate `tracing` with no subscriber: what its spans cost while nobody listens.

use marey_bench_peers::{call, regions, run};

macro_rules! span {
    ($name:literal) => {
        let _span = tracing::info_span!($name).entered();
    };
}
regions!(span);

fn main() {
    run(|_| (), |choices, pairs| call((&OUTER, &INNER), choices, pairs), |()| None);
}
