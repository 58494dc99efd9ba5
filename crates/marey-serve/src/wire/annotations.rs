//! What stands above the rows besides findings: situations and anomalous visits of the whole run.

use serde::Serialize;

use super::WireFrame;

/// Situations, by the rules that are used if no others are given.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SituationsHead {
    /// Whether the run was explained; else none is known.
    pub is_known: bool,
    /// In the order of time.
    pub situations: Vec<WireSituation>,
    /// How many more there are of rules that found too many.
    #[cfg_attr(test, ts(type = "number"))]
    pub more: u64,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// Something that a rule looks for.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSituation {
    /// What.
    pub kind: WireSituationKind,
    /// From when on, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub from_ns: i64,
    /// Until when, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub to_ns: i64,
    /// Who, that which matters most first.
    pub locations: Vec<u32>,
    /// In which calls it was seen; `null` = in none.
    pub call: Option<WireCall>,
    /// In how many other calls it shows, too.
    pub others: u32,
    /// What was measured.
    pub measured: f64,
    /// What that is compared with: before, the mean, or the threshold.
    pub normal: f64,
    /// The unit of both.
    pub unit: WireUnit,
    /// How many: beats since, times between messages; of a queue of so many messages the bytes, of one of so many bytes the
    /// messages.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// What it cost or won, ns; 0 where that is not known.
    #[cfg_attr(test, ts(type = "number"))]
    pub cost_ns: i64,
    /// Why, probably.
    pub cause: Option<WireCause>,
    /// Of a queue: what its location did instead of asking for messages.
    pub meanwhile: Option<WireCause>,
    /// Whether the machine is to blame rather than the program.
    pub is_noise: bool,
}

/// What kind of situation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum WireSituationKind {
    /// Visits come faster than before.
    SpeedUp,
    /// Visits come more slowly than before.
    SlowDown,
    /// Useful for less of the time than the mean.
    UnderUtilised,
    /// Useful for more of the time than the mean.
    OverUtilised,
    /// Messages are sent faster than they are asked for.
    MessageQueue,
    /// A long time from one message to the next.
    ProcessingTime,
}

/// A unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum WireUnit {
    /// Times.
    Ns,
    /// Shares of one.
    Share,
    /// Numbers of messages.
    Messages,
    /// Sizes.
    Bytes,
}

/// A call, and from where it was made.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireCall {
    /// Its region.
    pub region: u32,
    /// The caller; of a region that knows its place, that.
    pub caller: WireFrame,
}

/// Something that was done while there was a situation.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireCause {
    /// By whom.
    pub location: u32,
    /// In which call; `null` = outside of all that were recorded.
    pub call: Option<WireCall>,
    /// Whether that is waiting.
    pub is_waiting: bool,
    /// How much: of a change of pace by how much more a beat, ns, else for how long, ns; of senders how many messages.
    pub amount: f64,
}

/// Visits that lasted longer than their like, by the robust test, the largest excess first.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AnomaliesHead {
    /// How many there are.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// By how much they are longer than expected, together, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub excess_ns: i64,
    /// Those that are longest beyond what was expected.
    pub anomalies: Vec<WireAnomaly>,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// A visit that lasted longer than its like.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireAnomaly {
    /// Its line.
    pub line: u32,
    /// What was visited, and from where.
    pub call: WireCall,
    /// When it began, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub start_ns: i64,
    /// How long it took, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub duration_ns: i64,
    /// How long it was expected to take, ns.
    pub expected_ns: f64,
    /// For whom it waited longest; `null` = it did not wait.
    pub waits_for: Option<u32>,
    /// Whether the machine is to blame: it had no processor.
    pub is_noise: bool,
}
