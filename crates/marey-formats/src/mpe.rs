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

/// The region that a state is: a function of MPI by its name, else one of the program.
pub(crate) fn region(name: &str) -> Region {
    let of_mpi = name.starts_with("MPI_") || name.starts_with("PMPI_");
    let (level, verb, role, noun) = if of_mpi {
        ((Level::MPI.into(), Tier::Runtime), name, mpi::role(name), ("".into(), String::new()))
    } else {
        let noun = ("function".into(), name.to_owned());
        ((Level::SOURCE.into(), Tier::Source), "execute", Role::Work, noun)
    };
    Region { level, verb: verb.to_owned(), role, noun, file: String::new(), line: 0 }
}
