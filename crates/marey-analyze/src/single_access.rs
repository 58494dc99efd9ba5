//! One access to an array, as it was recorded.
//!
//! The one idea: who has a run's table of accesses hands them out one by one, and what is asked about single elements is
//! added up from these; sums of a run have forgotten which elements they were.
//!
//! Deliberately absent: reading that table (`marey-archive`).

use marey_model::{AccessKind, CallPathId, LocationId, Nanos, ProcessId};

use crate::sequences::Elements;

/// An access that moved data.
#[derive(Clone, Copy, Debug)]
pub struct SingleAccess<'r> {
    /// Who made the call.
    pub location: LocationId,
    /// The process that this belongs to; `None` = unknown.
    pub process: Option<ProcessId>,
    /// Its call path; `None` = unknown.
    pub call_path: Option<CallPathId>,
    /// What it did.
    pub kind: AccessKind,
    /// The array, as a place in [`crate::Trace::arrays`].
    pub array: usize,
    /// With whom the elements lie; `None` = unknown.
    pub peer: Option<ProcessId>,
    /// When it began.
    pub enter: Nanos,
    /// When it was over; `None` = unknown.
    pub leave: Option<Nanos>,
    /// Which elements.
    pub elements: Elements<'r>,
}

impl SingleAccess<'_> {
    /// How long it took; 0 if that is unknown.
    pub fn time(&self) -> Nanos {
        self.leave.map_or(Nanos(0), |leave| (leave - self.enter).max(Nanos(0)))
    }

    /// Whether elements lie with another process than the one that asks.
    pub fn is_remote(&self) -> bool {
        self.peer.is_none() || self.peer != self.process
    }
}
