//! What the formats of MPE, MPICH's logging library, have in common.
//!
//! * [`cargo`]: what is packed into events.
//!
//! Deliberately absent: colours and bitmaps of states, which belong to one viewer.

pub(crate) mod cargo;

use marey_model::Role;

use crate::mpi;
use crate::spool::Region;

/// Event of a message that is sent.
pub(crate) const SEND: i64 = -101;
/// Event of a message that has come.
pub(crate) const RECEIVE: i64 = -102;

/// Ranks are less than this, more than any machine has; what says more is damaged.
pub(crate) const MOST_RANKS: u32 = 1 << 24;

/// The rank that a number is, if that can be.
pub(crate) fn rank(number: i64) -> Option<u32> {
    u32::try_from(number).ok().filter(|rank| *rank < MOST_RANKS)
}

/// The region that a state is in a log with messages: MPICH 1 wrote its own as `SEND` and `BARRIER`.
pub(crate) fn short_region(name: &str) -> Region {
    let is_short = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    match mpi::role(&format!("MPI_{name}")) {
        Role::Manage => mpi::region(name),
        role if is_short => Region::of_mpi(name, role),
        _ => mpi::region(name),
    }
}

/// Seconds that a time in ns can hold.
const MOST_SECONDS: f64 = 9.2e9;

/// A time in ns.
#[expect(clippy::cast_possible_truncation, reason = "the bound is just before")]
pub(crate) fn nanoseconds(seconds: f64) -> Option<i64> {
    (seconds.is_finite() && seconds.abs() < MOST_SECONDS).then(|| (seconds * 1e9).round() as i64)
}
