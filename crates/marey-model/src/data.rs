//! Data as a recorder names them: what a piece of memory is, where it was made, and how a call acts on it.
//!
//! The one idea: a *datum* is an array, a variable or a block with a beginning and an end in memory and in time. What it
//! is called is not known to a running program; the recorder says where debug information has the name, and whoever
//! merges finds it. Source of the words: Irvin and Miller, *Mapping Performance Data for High-Level and Data Views of
//! Parallel Program Performance* (1996), whose arrays with geometries these are.
//!
//! Deliberately absent: what values data have.

use crate::Level;

/// What names of blocks begin with that a program's text knows nothing of: compilers make them, for copies say.
pub const TEMPORARY: &str = "temporary of ";

/// Code of a block whose memory was, or may have been, given back before, so that whoever holds its address may have kept that of
/// another one.
pub const USED_BEFORE: u8 = 1;

/// Types that descriptors of gfortran's have no code for, beyond those that they have.
pub mod type_code {
    /// `lock_type`.
    pub const LOCK: u8 = 100;
    /// `event_type`.
    pub const EVENT: u8 = 101;
    /// What lets one image at a time into a `critical` construct.
    pub const CRITICAL: u8 = 102;
}

/// What a datum is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum DataKind {
    /// A coarray of Fortran, this image's part of it.
    Coarray = 0,
    /// A variable with a place of its own in a module: global, of a Fortran module or common block, static.
    Variable = 1,
    /// A block of the heap.
    Block = 2,
    /// Part of a stack frame.
    Frame = 3,
    /// A view of Kokkos.
    View = 4,
    /// Memory of which nothing else is known.
    Other = 5,
    /// A window of one-sided communication, this process's part of it.
    Window = 6,
}

impl DataKind {
    /// All kinds in the order of their codes.
    pub const ALL: [Self; 7] =
        [Self::Coarray, Self::Variable, Self::Block, Self::Frame, Self::View, Self::Other, Self::Window];

    /// The kind that a byte of a spool stands for.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name used in the archive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coarray => "coarray",
            Self::Variable => "variable",
            Self::Block => "block",
            Self::Frame => "frame",
            Self::View => "view",
            Self::Other => "other",
            Self::Window => "window",
        }
    }
}

/// How a call acts on a datum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum AccessKind {
    /// It is read from where it lies.
    Read = 0,
    /// It is written where it lies.
    Write = 1,
    /// It is read and written as one.
    Update = 2,
    /// It is made.
    Make = 3,
    /// It is given back.
    Free = 4,
}

impl AccessKind {
    /// All kinds in the order of their codes.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Update, Self::Make, Self::Free];

    /// The kind that a byte of a spool stands for.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The kind that has this [`Self::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether bytes are moved: of all other kinds the number says how large the datum is.
    pub const fn moves(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Update)
    }

    /// What a call does to the datum that is its noun, and to how many data it does as much, as it would be recorded with its
    /// bytes: for calls that were only counted. `None` = nothing, or it is not known.
    pub fn of_verb(level: &str, verb: &str) -> Option<(Self, u64)> {
        // A function of MPI and its twin with large counts do the same.
        let verb = if level == Level::MPI { verb.strip_suffix("_c").unwrap_or(verb) } else { verb };
        let found = VERBS.iter().find(|(on, verbs, ..)| *on == level && verbs.contains(&verb));
        found.map(|(_, _, kind, data)| (*kind, *data))
    }

    /// The name used in the archive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Update => "update",
            Self::Make => "make",
            Self::Free => "free",
        }
    }
}

/// Verbs that act on their noun: level, what they are called, what they do, and to how many data.
type Verbs = (&'static str, &'static [&'static str], AccessKind, u64);

static VERBS: [Verbs; 9] = [
    (Level::COARRAY, &["get", "atomic_ref"], AccessKind::Read, 1),
    (Level::COARRAY, &["send", "atomic_define"], AccessKind::Write, 1),
    // Its noun is what it writes; what it reads is another one, or the same.
    (Level::COARRAY, &["sendget"], AccessKind::Write, 2),
    (Level::COARRAY, &["atomic_cas", "atomic_op"], AccessKind::Update, 1),
    (Level::COARRAY, &["co_broadcast", "co_sum", "co_max", "co_min", "co_reduce"], AccessKind::Update, 1),
    (Level::MPI, &["MPI_Put", "MPI_Rput"], AccessKind::Write, 1),
    (Level::MPI, &["MPI_Get", "MPI_Rget"], AccessKind::Read, 1),
    (Level::MPI, &["MPI_Accumulate", "MPI_Raccumulate"], AccessKind::Update, 1),
    (
        Level::MPI,
        &["MPI_Get_accumulate", "MPI_Rget_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap"],
        AccessKind::Update,
        1,
    ),
];

/// How a dimension of an accessed section is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum DimensionKind {
    /// By elements of memory: the section begins at the offset of the access, and goes on by `stride` elements.
    Elements = 0,
    /// By subscripts as the source has them, from `start` by `stride`.
    Subscripts = 1,
    /// By a vector of subscripts, the least of which is `start` and the greatest `stride`.
    Vector = 2,
    /// By bytes of memory: the section begins at the offset of the access, and goes on by `stride` bytes. Who reaches into
    /// the memory of others does not know how large their elements are.
    Bytes = 3,
    /// It is not told.
    Untold = 4,
}

impl DimensionKind {
    /// The kind that a byte of a spool stands for.
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::Elements, Self::Subscripts, Self::Vector, Self::Bytes, Self::Untold]
            .get(usize::from(code))
            .copied()
    }

    /// The name used in the archive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elements => "elements",
            Self::Subscripts => "subscripts",
            Self::Vector => "vector",
            Self::Bytes => "bytes",
            Self::Untold => "untold",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_do_what_their_operations_do() {
        use AccessKind::{Read, Update, Write};
        for (level, verb, does) in [
            (Level::COARRAY, "get", Some((Read, 1))),
            (Level::COARRAY, "send", Some((Write, 1))),
            (Level::COARRAY, "sendget", Some((Write, 2))),
            (Level::COARRAY, "atomic_define", Some((Write, 1))),
            (Level::COARRAY, "atomic_ref", Some((Read, 1))),
            (Level::COARRAY, "atomic_cas", Some((Update, 1))),
            (Level::COARRAY, "sync all", None),
            (Level::MPI, "get", None),
            (Level::MPI, "MPI_Get", Some((Read, 1))),
            (Level::MPI, "MPI_Put_c", Some((Write, 1))),
            (Level::MPI, "MPI_Get_address", None),
            (Level::MPI, "MPI_Get_accumulate", Some((Update, 1))),
        ] {
            assert_eq!(AccessKind::of_verb(level, verb), does, "{level} {verb}");
        }
    }
}
