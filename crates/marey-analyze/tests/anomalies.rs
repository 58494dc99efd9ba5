//! Anomalous durations: known truth, in runs that are made up visit by visit.
//!
//! The one idea: the test draws durations itself and knows which it made longer, so that what is found can be counted
//! as right and wrong; where nothing is random, it is compared to the nanosecond.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::cast_possible_truncation, reason = "drawn durations and counts are small")]

#[path = "anomalies/exact.rs"]
mod exact;
#[path = "anomalies/rates.rs"]
mod rates;

use marey_analyze::{Anomalies, Happenings, Method, Trace, anomalies, phases, waits};

/// What is found, as the command does it.
fn found(run: &(impl Trace + Happenings), method: Method, percent: f64) -> Anomalies {
    let waits = waits(run, run).unwrap();
    let phases = phases(run, run).unwrap();
    let main = phases.main.map(|main| &phases.loops[main]);
    anomalies(run, run, &waits, main, (method, percent)).unwrap()
}

fn robust(run: &(impl Trace + Happenings)) -> Anomalies {
    found(run, Method::Robust, 1.0)
}
