//! Synthetic programs with known truth, for tests of marey, and the one way to leave a test.
//!
//! The one idea: a test says what processes did and when, and gets the spool that a recorder would
//! have left — or a damaged one. Clocks are made up, so every instant is known to the nanosecond.
//!
//! Above spools, a run that has been merged is drawn as text ([`Drawing`]), for tests of what analysis
//! says about it; some are random ([`random_drawing`]), and long ones are made up visit by visit ([`MadeUp`]).
//!
//! What is deliberately absent: knowledge of archives. What comes out of a spool is asserted by
//! whoever tests that.

mod chance;
mod drawing;
mod made_up;
mod parts;
mod process;
mod random;
mod skip;
mod spool;

pub use chance::Chance;
pub use drawing::{Doing, Drawing, Expected, ExpectedDelay, ExpectedSpan, ExpectedWait, PATTERNS};
pub use made_up::MadeUp;
pub use parts::expect_parts_add_up;
pub use process::{Message, Process};
pub use random::{accessing_drawing, disturbed_drawing, random_drawing};
pub use skip::{ALL, leave_out, skip};
pub use spool::Spool;
