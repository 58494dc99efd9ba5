//! Runs drawn as text, exact to the nanosecond, with what analysis should find in them.
//!
//! The one idea: a drawing is a timeline that people read, and a run that analysis reads:
//!
//! ```text
//! # Rank 1 is in MPI_Recv 30 ns before rank 0 sends.
//! 1 char = 10 ns
//! w   = source execute work solve
//! S   = mpi MPI_Send transfer
//! R r = mpi MPI_Recv transfer
//!
//! a rank 0            |wwwwSSww
//! t thread 1 of rank 0|  ....
//! b rank 1            |wRRRRRrw
//!                     |  ww
//!
//! message a:S1 -> b:R1
//! create a@20 -> t.start
//!
//! wait b [10, 40) late sender in R caused by a
//! delay a in w: 30
//! critical a [0, 80)
//! ```
//!
//! * The *legend* gives letters to regions: level, verb, role and, if wanted, noun. Several letters of one region draw
//!   visits that touch.
//! * A *row* is one location, in the order of their ids. A character is one unit of time, `.` is outside of all
//!   regions, a run of one letter is one interval; blanks before and behind are time in which the location is not
//!   there. Rows without a name, directly below, are nested one deeper each. All bars stand in one column.
//! * A *call* is `a:S1`, the first interval of letter `S` on `a`, in the order of their beginnings. A *place* is an
//!   instant of a location: `a@120` (ns), `a:S1.start`, `a:S1.end`, `a.start`, `a.end`.
//! * `message CALL -> CALL`, and behind commas `posted CALL` (that posted the receive, if it is not the one that
//!   completes it) and `completed CALL` (that completed the send, if it is not the one that began it; `?` = none is
//!   known), `of N bytes` (8 if nothing is said). An end that is not known is `?`.
//! * `collective CALL CALL … root a`: the members of one operation; `CALL+CALL` has a call of its own that completes
//!   it, `CALL+?` is not known to have one. Without `root` it has none, or it is not known.
//! * `gaps CALL NS of N`: the interval stands for N visits, between which so much time lies in all.
//! * `lock-hand-over PLACE -> PLACE`, and likewise `create`, `join`, `wake`, `barrier`, `post`,
//!   `complete`.
//! * What is [`Expected`]: all waits, or `no waits`; completions, delay costs (`no delays`) and the critical path, if
//!   there is a line of them. A call path is its letters: `w/R`. Costs are ns, `short-term` or `short-term + long-term`;
//!   thirds may be written `100/3`.
//! * Behind `#` stands what only people read.
//!
//! What is deliberately absent: sums, stacks and intervals of no length.

mod expected;
mod parse;
mod rows;
mod run;
mod written;

use std::collections::BTreeMap;

use marey_analyze::{
    CallPath, Communicator, Edge, Interval, Location, Member, Message, Process, ProcessClock, Region,
};
use marey_model::{LocationId, Nanos, RegionId};

pub use self::expected::{Doing, Expected, ExpectedDelay, ExpectedSpan, ExpectedWait, PATTERNS};
pub(crate) use self::run::has_call_in;

/// A run drawn as text.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// What analysis should find.
    pub expected: Expected,
    /// Clocks; as drawn there is one that all share.
    pub clocks: Vec<ProcessClock>,
    regions: Vec<Region>,
    letters: BTreeMap<char, RegionId>,
    call_paths: Vec<CallPath>,
    processes: Vec<Process>,
    locations: Vec<Location>,
    /// By location, start and depth.
    intervals: Vec<Drawn>,
    communicators: Vec<Communicator>,
    messages: Vec<Message>,
    members: Vec<Member>,
    edges: Vec<Edge>,
    slabs: Vec<Nanos>,
}

/// An interval and its letter.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    letter: char,
    interval: Interval,
}

impl Drawing {
    /// Reads a drawing.
    ///
    /// # Errors
    /// The line and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse::parse(text)
    }

    /// The same run cut into slabs of this length, so that intervals come in several parts.
    #[must_use]
    pub fn cut_every(mut self, length: Nanos) -> Self {
        let end = self.locations.iter().map(|location| location.end.0).max().unwrap_or(0);
        let step = usize::try_from(length.0.max(1)).unwrap_or(usize::MAX);
        self.slabs = (0..end.max(1)).step_by(step).map(Nanos).collect();
        self
    }

    /// The name of a location.
    pub fn name(&self, location: LocationId) -> &str {
        self.locations.get(location.idx()).map_or("?", |location| &location.name)
    }
}

#[cfg(test)]
mod tests;
