//! Odd programs by the thousand: the test `odd` of `marey` with more starts than for every change, each with
//! other numbers, so other limits, moments of death and rates of signals.
//!
//! Everything follows from a seed that is printed; a start that failed is started again by what the test
//! says of it.

use crate::shell::{cargo, run};
use anyhow::Result;
use std::time::{SystemTime, UNIX_EPOCH};

/// One start in so many is an MPI job, which takes longer.
const MPI_SHARE: u32 = 10;

/// Starts the programs in rotation.
pub(super) fn run_all(starts: u32, seed: Option<u32>) -> Result<()> {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.subsec_nanos());
    let seed = seed.unwrap_or_else(clock);
    println!("{starts} starts from --seed {seed}");
    let jobs = starts / MPI_SHARE;
    for (test, starts) in [("odd_programs", starts - jobs), ("mpi_odd_programs", jobs)] {
        let mut test = {
            let name = format!("{test}_end_as_they_do_alone");
            let mut test = cargo(["test", "--release", "--package", "marey", "--test", "odd", "--"]);
            test.args(["--exact", &name, "--nocapture"]);
            test
        };
        test.env("MAREY_ODD_STARTS", starts.to_string()).env("MAREY_ODD_SEED", seed.to_string());
        run(&mut test)?;
    }
    Ok(())
}
