//! The loop of the workload alone: its calls through tables, and nothing recorded. Each function
//! looks at its own name, or the compiler would make one of all.

use marey_bench_peers::{call, regions, run};

macro_rules! nothing {
    ($name:literal) => {
        std::hint::black_box($name);
    };
}
regions!(nothing);

fn main() {
    run(|_| (), |choices, pairs| call((&OUTER, &INNER), choices, pairs), |()| None);
}
