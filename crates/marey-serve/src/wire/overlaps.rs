//! States that need not nest, over the wire.

use serde::Serialize;

/// Where there are states that need not nest. Columns `location`, `lanes` (as many as overlap, up to eight), `number` (of
/// states) and `left_out` (of them, those for which there is no lane).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OverlapPlacesHead {
    /// Whether they were read: very many are not.
    pub is_known: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// States of a window that need not nest; in a lane none overlaps another. Columns `location`, `lane`, `start`, `duration`
/// (ns), `region` and `number`: several that are too short to be seen are one piece, with the region of the longest.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OverlapsHead {
    /// What could not be read.
    pub damage: Vec<String>,
}
