//! One instant on three clocks, read by the launcher at the start and at the end of a run.
//!
//! The two readings bracket everything that a process of this machine records, so they anchor the
//! fit of the time-stamp counter even for a process that was killed before it read a second one.
//! They are read as a recorder reads them: of several tries the closest, because a launcher that
//! loses the processor between two readings would bend the time of the whole run.

use marey_measure::clock;
use marey_model::Triple;

/// Reads the three clocks, as close together as this machine allows.
pub(crate) fn now() -> Triple {
    clock::triple(clock::detect(None))
}
