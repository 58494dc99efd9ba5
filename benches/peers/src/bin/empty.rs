//! The loop of the workload alone: its calls through tables, and nothing recorded.

use marey_bench_peers::{call, regions, run};

macro_rules! nothing {
    ($name:literal) => {
        std::hint::black_box(());
    };
}
regions!(nothing);

fn main() {
    run(|_| (), |choices, pairs| call((&OUTER, &INNER), choices, pairs), |()| None);
}
