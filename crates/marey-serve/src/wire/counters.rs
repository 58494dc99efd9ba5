//! Counters in the course of time, over the wire.

use serde::{Deserialize, Serialize};

use super::Window;

/// Counters of a window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Where and how finely.
    pub window: Window,
    /// Which: places in [`RunHead::counters`](super::RunHead::counters).
    pub counters: Vec<u32>,
}

/// A counter.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireCounter {
    /// Its name.
    pub name: String,
    /// Unit of its values; empty = events.
    pub unit: String,
    /// Whether it only grows, so that how fast it does is told: its unit per second.
    pub is_rate: bool,
}

/// Which counters have values where, in the whole run. Columns `counter`, `location`, `number` (of values), `least` and `most`
/// (not a number of those of which rates are told).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CounterPlacesHead {
    /// What could not be read.
    pub damage: Vec<String>,
}

/// Counters in the course of time. Columns of each series: `counter`, `location` and `behind` (the place behind its last
/// piece). Of each piece: `start`, `duration` (ns), `least`, `mean` and `most`: of the values that it had then, the mean by
/// time. A piece is a bucket, or several in a row in which the value is the same. Between two pieces nothing is known.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CountersHead {
    /// Whether all was read: values that are too many are not.
    pub is_whole: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}
