//! marey itself, through its interface for Rust. Started by `marey record` it records; started
//! alone it shows what a region costs while nobody does.

use marey_bench_peers::{call, regions, run};

macro_rules! region {
    ($name:literal) => {
        marey_measure::region!($name);
    };
}
regions!(region);

fn main() {
    run(|_| (), |choices, pairs| call((&OUTER, &INNER), choices, pairs), |()| None);
}
