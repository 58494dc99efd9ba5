//! How visits of some regions differ, and some of them one by one.

use serde::{Deserialize, Serialize};

/// Visits of some regions: those that begin in a span.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Its first instant, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub from_ns: i64,
    /// The instant behind its last, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub to_ns: i64,
    /// Ranges of locations, each its first and the one behind its last.
    pub locations: Vec<(u32, u32)>,
    /// Which regions, each once.
    pub regions: Vec<u32>,
    /// What of them is meant.
    pub of: Measure,
}

/// What of a visit is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// How long it took, ns.
    Duration,
    /// How much it moved, bytes; visits that move nothing are left out.
    Bytes,
}

/// A histogram of a sample.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Of what.
    pub sample: Sample,
    /// How many bins.
    pub bins: u32,
    /// Whether bins are equally wide on a logarithmic scale.
    pub logarithmic: bool,
    /// From which value to which, both included; `null` = from the least to the largest of all regions.
    #[cfg_attr(test, ts(type = "[number, number] | null"))]
    pub range: Option<(u64, u64)>,
}

/// Some visits of a sample.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Instances {
    /// Of what.
    pub sample: Sample,
    /// Which of them.
    pub which: Which,
}

/// Which visits of a sample are meant.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// From a value to another, both included.
    #[cfg_attr(test, ts(type = "[number, number]"))]
    Range((u64, u64)),
    /// Those that lie beyond what is normal in their region, by the percentage of Jumpshot's test.
    Normal(f64),
    /// Those that the robust test finds anomalous, by its percentage.
    Anomalous(f64),
}

/// A histogram. Columns `edge` (bins and one more), `number` (of each bin; its lower edge is in it, and of the last the
/// upper edge, too; those of the first region stand first), and by region what the head has of all together: `visits`,
/// `least`, `most`, `mean` and `deviation`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistogramHead {
    /// How many visits have a value, whether it lies in the range or not.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// Visits that are only known as several in a row, and so have no value of their own.
    #[cfg_attr(test, ts(type = "number"))]
    pub untold: u64,
    /// Least value; 0 if there is none.
    #[cfg_attr(test, ts(type = "number"))]
    pub least: u64,
    /// Largest value.
    #[cfg_attr(test, ts(type = "number"))]
    pub most: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, as of a whole population.
    pub deviation: f64,
    /// Whether all was read: a sample that is too large is not.
    pub is_whole: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// Visits. Columns `line`, `region`, `start`, `duration` (ns), `value` (ns or bytes) and `expected` (of what a test found, in
/// the same unit; else not a number), in the order of time. If there are too many, those with the largest values.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InstancesHead {
    /// How many there are.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// Their values together.
    pub sum: f64,
    /// Whether all was read: a sample that is too large is not.
    pub is_whole: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}
