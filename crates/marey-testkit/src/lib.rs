//! Synthetic programs with known truth, for tests of marey, and the one way to leave a test.
//!
//! The one idea: a test says what processes did and when, and gets the spool that a recorder would
//! have left — or a damaged one. Clocks are made up, so every instant is known to the nanosecond.
//!
//! What is deliberately absent: knowledge of archives. What comes out of a spool is asserted by
//! whoever tests that.

mod process;
mod skip;
mod spool;

pub use process::{Message, Process};
pub use skip::{ALL, leave_out, skip};
pub use spool::Spool;
