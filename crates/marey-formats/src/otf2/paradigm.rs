//! What regions of OTF2 are in the terms of marey: which level, and which role.
//!
//! Source of the codes: the enumerations `OTF2_Paradigm` and `OTF2_RegionRole` of OTF2 3.0.

use marey_model::{Level, Role, Tier};

use super::definitions::{Definitions, Region};
use crate::mpi;
use crate::spool;

/// Codes of paradigms.
pub(super) const UNKNOWN: u8 = 0;
pub(super) const MPI: u8 = 4;
/// The role of functions of the program.
const FUNCTION: u8 = 1;
const NO_ROLE: u8 = 0;
const ARTIFICIAL: u8 = 31;

/// Name and tier of the level of a paradigm.
const fn level(paradigm: u8) -> (&'static str, Tier) {
    match paradigm {
        3 => (Level::OPENMP, Tier::Model),
        MPI => (Level::MPI, Tier::Runtime),
        5 => ("cuda", Tier::Model),
        6 => ("measurement", Tier::Node),
        7 | 14..=17 => (Level::THREADS, Tier::Runtime),
        8 => ("hmpp", Tier::Model),
        9 => ("ompss", Tier::Model),
        10 => ("hardware", Tier::Node),
        11 => ("gaspi", Tier::Runtime),
        12 => ("upc", Tier::Model),
        13 => ("shmem", Tier::Runtime),
        18 => ("openacc", Tier::Model),
        19 => ("opencl", Tier::Model),
        20 => ("mtapi", Tier::Model),
        23 => ("hip", Tier::Model),
        24 => (Level::KOKKOS, Tier::Model),
        _ => (Level::SOURCE, Tier::Source),
    }
}

/// Roles of regions that say something; all others are work.
const fn role(code: u8) -> Role {
    match code {
        // Barriers, also those that are implied.
        15 | 16 => Role::Barrier,
        // Critical sections, and what is ordered: the entry waits.
        12 | 18 => Role::Acquire,
        21 | 32 => Role::Create,
        22 | 33 => Role::Wait,
        23 => Role::OneToAll,
        24 => Role::AllToOne,
        25 => Role::AllToAll,
        27 | 38 => Role::Io,
        28..=30 => Role::Transfer,
        // Flushes, collective operations that move nothing, memory.
        17 | 26 | 35..=37 => Role::Manage,
        _ => Role::Work,
    }
}

/// A region as the spool has it.
pub(super) fn region(definitions: &Definitions, region: &Region) -> spool::Region {
    let line = if region.line == u32::MAX { 0 } else { region.line };
    let place = (definitions.string(region.file), line);
    region_of(definitions.string(region.name), (region.paradigm, region.role), place)
}

/// The region of a name, its paradigm and role, and its place in the source, as the spool has it.
pub(crate) fn region_of(
    name: &str,
    (paradigm, role_code): (u8, u8),
    (file, line): (&str, u32),
) -> spool::Region {
    let name = if name.is_empty() { "(no name)" } else { name };
    // Some tools take each name with `mpi` in it for one of MPI.
    let is_named = name.starts_with("MPI_") || name.starts_with("PMPI_");
    // So does Score-P with the whole of a program of MPI, `PARALLEL`.
    let is_mpi = is_named || paradigm == MPI && !matches!(role_code, NO_ROLE | FUNCTION | ARTIFICIAL);
    let paradigm = if paradigm == MPI { UNKNOWN } else { paradigm };
    let (level, tier) = level(if is_mpi { MPI } else { paradigm });
    let file = file.to_owned();
    let role = match mpi::role(name) {
        // What is no function of MPI there, such as a phase of the library, has the role that the trace gives it.
        Role::Manage => role(role_code),
        role => role,
    };
    let is_source = level == Level::SOURCE;
    let level = (level.into(), tier);
    if is_source {
        let verb = "execute".to_owned();
        return spool::Region { level, verb, role, noun: ("function".into(), name.to_owned()), file, line };
    }
    let role = if is_mpi && role == Role::Work { Role::Manage } else { role };
    spool::Region { level, verb: name.to_owned(), role, noun: ("".into(), String::new()), file, line }
}
