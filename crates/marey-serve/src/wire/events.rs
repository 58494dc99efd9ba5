//! Instants that the program marked, over the wire.

use serde::{Deserialize, Serialize};

/// What programs mark: instants, and fields of visits.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireEventKind {
    /// Its name.
    pub name: String,
    /// Whether it belongs to the visit around it, and is no instant of its own.
    pub is_attribute: bool,
}

/// Instants of a window. Columns `location`, `time` (ns, of the first), `kind` (its place in
/// [`RunHead::event_kinds`](super::RunHead::event_kinds), of the first), `number` and `last` (ns): those of a location that
/// are too near to each other to be told apart are one.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EventsHead {
    /// How many there are; `null` = so many that they were not read.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub number: Option<u64>,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// Instants of one location.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct EventSpan {
    /// The location.
    pub location: u32,
    /// The first instant, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub from_ns: i64,
    /// The instant behind the last, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub to_ns: i64,
}

/// The first hundred of them, in the order of time.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EventsAtHead {
    /// Each with its fields.
    pub events: Vec<WireEvent>,
    /// How many there are, those that are not told included.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// An instant.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireEvent {
    /// Its place in [`RunHead::event_kinds`](super::RunHead::event_kinds).
    pub kind: u32,
    /// When, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
    /// What the program said of it.
    pub fields: Vec<WireField>,
}

/// What the program said of an instant or a visit.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireField {
    /// The name of the field.
    pub name: String,
    /// Its value as a text; numbers with all their digits.
    pub value: String,
}
