//! What the formats of MPE, MPICH's logging library, have in common: states by name.
//!
//! Deliberately absent: colours and bitmaps of states, which belong to one viewer.

use marey_model::{Level, Role, Tier};

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

/// The region that a state is: a function of MPI by its name, else one of the program.
pub(crate) fn region(name: &str) -> Region {
    let is_of_mpi = name.starts_with("MPI_") || name.starts_with("PMPI_");
    of(name, is_of_mpi.then_some(name))
}

/// The same in a log with messages: MPICH 1 wrote its own states as `SEND` and `BARRIER`.
pub(crate) fn short_region(name: &str) -> Region {
    let is_short = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let function = format!("MPI_{name}");
    if is_short && mpi::role(&function) != Role::Manage { of(name, Some(&function)) } else { region(name) }
}

fn of(name: &str, function: Option<&str>) -> Region {
    let (level, verb, role, noun) = if let Some(function) = function {
        ((Level::MPI.into(), Tier::Runtime), name, mpi::role(function), ("".into(), String::new()))
    } else {
        let noun = ("function".into(), name.to_owned());
        ((Level::SOURCE.into(), Tier::Source), "execute", Role::Work, noun)
    };
    Region { level, verb: verb.to_owned(), role, noun, file: String::new(), line: 0 }
}
