//! Levels, verbs' roles and kinds of edges: what analysis reads instead of names.
//!
//! The one idea: roles, tiers and kinds of edges are few and fixed, and have codes that are stored;
//! levels and verbs are names that anybody may add. A code is never given another meaning.

/// What a verb does, in the only terms that analysis knows. Source: the pattern hierarchy of
/// Scalasca and the event classes of OTF2, reduced to what wait states need.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Role {
    /// Computation.
    Work = 0,
    /// Moving data between two places.
    Transfer = 1,
    /// Waiting for something that somebody else does.
    Wait = 2,
    /// Taking a lock.
    Acquire = 3,
    /// Giving a lock back.
    Release = 4,
    /// Making a thread, task or process.
    Create = 5,
    /// Beginning of a thread, task or process.
    Start = 6,
    /// End of a thread, task or process.
    End = 7,
    /// Nobody leaves before all have entered.
    Barrier = 8,
    /// Everybody's data to everybody.
    AllToAll = 9,
    /// One place's data to everybody.
    OneToAll = 10,
    /// Everybody's data to one place.
    AllToOne = 11,
    /// Book-keeping: set-up, queries, object management.
    Manage = 12,
    /// Files.
    Io = 13,
}

impl Role {
    /// All roles, in the order of their codes.
    pub const ALL: [Self; 14] = [
        Self::Work,
        Self::Transfer,
        Self::Wait,
        Self::Acquire,
        Self::Release,
        Self::Create,
        Self::Start,
        Self::End,
        Self::Barrier,
        Self::AllToAll,
        Self::OneToAll,
        Self::AllToOne,
        Self::Manage,
        Self::Io,
    ];

    /// The byte that stands for the role in a spool.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The role that a byte of a spool stands for.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name used in the archive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Transfer => "transfer",
            Self::Wait => "wait",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::Create => "create",
            Self::Start => "start",
            Self::End => "end",
            Self::Barrier => "barrier",
            Self::AllToAll => "all-to-all",
            Self::OneToAll => "one-to-all",
            Self::AllToOne => "all-to-one",
            Self::Manage => "manage",
            Self::Io => "io",
        }
    }
}

/// Where a level stands between the user's words and the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Tier {
    /// What the user wrote.
    Source = 0,
    /// A parallel programming model.
    Model = 1,
    /// The library beneath it.
    Runtime = 2,
    /// The machine.
    Node = 3,
}

impl Tier {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Source, Self::Model, Self::Runtime, Self::Node];

    /// The tier that a byte of a spool stands for.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Source),
            1 => Some(Self::Model),
            2 => Some(Self::Runtime),
            3 => Some(Self::Node),
            _ => None,
        }
    }

    /// The name used in the archive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Model => "model",
            Self::Runtime => "runtime",
            Self::Node => "node",
        }
    }
}

/// A level as a recorder announces it. Those that this crate knows by name are only the ones
/// that the recorder itself speaks; others arrive as data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Level {
    /// `source`, `mpi`, `threads` …
    pub name: String,
    /// Where it stands.
    pub tier: Tier,
    /// Names of the levels it is built on.
    pub built_on: Vec<String>,
}

impl Level {
    /// The user's own code: regions of the user API.
    pub const SOURCE: &'static str = "source";
    /// Calls of the Message Passing Interface.
    pub const MPI: &'static str = "mpi";
    /// POSIX threads and the futex beneath them.
    pub const THREADS: &'static str = "threads";
    /// Calls of the C library on files.
    pub const FILES: &'static str = "files";
    /// Calls of the C library that wait.
    pub const SYSTEM: &'static str = "system";
    /// Calls of the C library that allocate memory.
    pub const MEMORY: &'static str = "memory";
    /// What coarray Fortran does across images.
    pub const COARRAY: &'static str = "coarray";
    /// Constructs of OpenMP.
    pub const OPENMP: &'static str = "openmp";
    /// Kernels, views and fences of Kokkos.
    pub const KOKKOS: &'static str = "kokkos";
    /// Tasks of Rust programs: jobs of a pool, polls of a future.
    pub const TASKS: &'static str = "tasks";
    /// Those whose operations are between processes: what waits there waits for other processes.
    pub const BETWEEN_PROCESSES: [&'static str; 2] = [Self::MPI, Self::COARRAY];
    /// Those that a recorder speaks of.
    pub const RECORDED: [&'static str; 10] = [
        Self::SOURCE,
        Self::MPI,
        Self::THREADS,
        Self::FILES,
        Self::SYSTEM,
        Self::MEMORY,
        Self::COARRAY,
        Self::OPENMP,
        Self::KOKKOS,
        Self::TASKS,
    ];
}

/// Why one thing happened before another. Messages and collectives have tables of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum EdgeKind {
    /// A thread was created → its first instant.
    Create = 0,
    /// A thread's last instant → somebody joined it.
    Join = 1,
    /// A lock was given back → a waiter took it.
    LockHandOver = 2,
    /// A condition was signalled → a waiter woke.
    Wake = 3,
    /// The last thread arrived at a barrier → another left it.
    Barrier = 4,
    /// Memory was opened to somebody's accesses → who could begin them.
    Post = 5,
    /// Somebody was done with accesses to memory → whose it is could go on.
    Complete = 6,
    /// A task or job was made → it first ran.
    Spawn = 7,
    /// A task or job was over → who waited for it went on.
    Done = 8,
}

impl EdgeKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 9] = [
        Self::Create,
        Self::Join,
        Self::LockHandOver,
        Self::Wake,
        Self::Barrier,
        Self::Post,
        Self::Complete,
        Self::Spawn,
        Self::Done,
    ];

    /// The kind that has this [`Self::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind that a byte of a spool stands for.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Create),
            1 => Some(Self::Join),
            2 => Some(Self::LockHandOver),
            3 => Some(Self::Wake),
            4 => Some(Self::Barrier),
            5 => Some(Self::Post),
            6 => Some(Self::Complete),
            7 => Some(Self::Spawn),
            8 => Some(Self::Done),
            _ => None,
        }
    }

    /// The name used in the archive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Join => "join",
            Self::LockHandOver => "lock-hand-over",
            Self::Wake => "wake",
            Self::Barrier => "barrier",
            Self::Post => "post",
            Self::Complete => "complete",
            Self::Spawn => "spawn",
            Self::Done => "done",
        }
    }
}

/// The file name of the recorder, the library that is loaded into measured programs.
pub const RECORDER_FILE: &str = "libmarey.so";

/// The table of stubs in front of a library of coarrays that a program has inside (`marey link --coarrays`).
pub const COARRAY_STUBS: &core::ffi::CStr = c"marey_coarray_stubs_1";

/// Whether a module is the recorder, by its path: what it does inside is nobody's matter.
pub fn is_recorder(path: &str) -> bool {
    path.rsplit('/').next() == Some(RECORDER_FILE)
}
