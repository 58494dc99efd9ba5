//! Visits in no time.
//!
//! The one idea: what a call does at one instant is told behind its enter, so where a format has an enter and a leave, a call
//! that takes no time is left when something else is told.

use marey_model::{LocationId, Nanos};

use super::event::{Event, Turn};

/// The visit in no time that has been entered and not left, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Brief(Option<(LocationId, Nanos, u32)>);

impl Brief {
    /// A visit in no time is entered; `what` says which.
    pub(super) fn enter(&mut self, event: &Event, what: u32) {
        self.0 = Some((event.key.location, event.key.time, what));
    }

    /// What is left before this: where, when, and which.
    pub(super) fn left_before(&mut self, event: &Event) -> Option<(LocationId, Nanos, u32)> {
        let key = &event.key;
        self.0.take_if(|open| key.turn != Turn::Act || (open.0, open.1) != (key.location, key.time))
    }

    /// What is left at the end.
    pub(super) fn left_at_end(&mut self) -> Option<(LocationId, Nanos, u32)> {
        self.0.take()
    }
}
