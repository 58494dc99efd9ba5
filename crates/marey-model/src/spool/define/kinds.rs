//! What codes in the fields of definitions stand for: how a communicator came to be, how a process
//! ended, of which type a field of an event is.
//!
//! The one idea: a code is never given another meaning, and one that is not known here is of a later
//! version, no mistake.

/// How a communicator came to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of the MPI calls")]
pub enum CommunicatorKind {
    World = 0,
    SelfOnly = 1,
    Dup = 2,
    Split = 3,
    Create = 4,
    CreateGroup = 5,
    Cart = 6,
    Graph = 7,
    DistGraph = 8,
    Intercomm = 9,
    Merge = 10,
    Spawn = 11,
    Parent = 12,
    Accept = 13,
    Connect = 14,
    Join = 15,
    Unknown = 16,
}

impl CommunicatorKind {
    /// The kinds in the order of their codes, with the word that stands for each in a label.
    pub const ALL: [(Self, &'static str); 17] = [
        (Self::World, "world"),
        (Self::SelfOnly, "self"),
        (Self::Dup, "dup"),
        (Self::Split, "split"),
        (Self::Create, "create"),
        (Self::CreateGroup, "create-group"),
        (Self::Cart, "cart"),
        (Self::Graph, "graph"),
        (Self::DistGraph, "dist-graph"),
        (Self::Intercomm, "intercomm"),
        (Self::Merge, "merge"),
        (Self::Spawn, "spawn"),
        (Self::Parent, "parent"),
        (Self::Accept, "accept"),
        (Self::Connect, "connect"),
        (Self::Join, "join"),
        (Self::Unknown, "unknown"),
    ];

    /// The kind that a code stands for.
    pub fn from_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).map_or(Self::Unknown, |&(kind, _)| kind)
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum EndingKind {
    /// `exit` or return from `main`; the code is the exit status.
    Exit = 0,
    /// `_exit`, `_Exit` or `quick_exit`; the code is the exit status.
    ImmediateExit = 1,
    /// `abort`; the code is the signal.
    Abort = 2,
    /// `MPI_Abort`; the code is its error code.
    MpiAbort = 3,
    /// The program was replaced by `exec`.
    Exec = 4,
}

impl EndingKind {
    /// The kind that a code stands for.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Exit),
            1 => Some(Self::ImmediateExit),
            2 => Some(Self::Abort),
            3 => Some(Self::MpiAbort),
            4 => Some(Self::Exec),
            _ => None,
        }
    }
}

/// Types of the fields of user-defined events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum FieldType {
    /// Prefix integer.
    Unsigned = 0,
    /// Prefix integer, zigzag.
    Signed = 1,
    /// Eight bytes.
    Real = 2,
    /// One byte.
    Bool = 3,
    /// Length and bytes.
    Text = 4,
}

impl FieldType {
    /// The type that a code stands for.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Unsigned),
            1 => Some(Self::Signed),
            2 => Some(Self::Real),
            3 => Some(Self::Bool),
            4 => Some(Self::Text),
            _ => None,
        }
    }

    /// The name used in the archive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Signed => "signed",
            Self::Real => "real",
            Self::Bool => "bool",
            Self::Text => "text",
        }
    }
}
