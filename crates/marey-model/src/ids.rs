//! Newtype ids. One macro, because all of them are the same: a `u32` that must not be mixed up
//! with another kind of `u32`.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a table.
            pub const fn idx(self) -> usize { self.0 as usize }

            /// The id of the `idx`-th row of a table; `None` beyond 2³²−1 rows.
            pub fn from_idx(idx: usize) -> Option<Self> { u32::try_from(idx).ok().map(Self) }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "#{}"), self.0)
            }
        }
    )*};
}

ids! {
    /// A level of abstraction: `source`, `mpi`, `threads` …
    LevelId;
    /// A verb together with its principal noun: what a profile has one row for.
    RegionId;
    /// A region together with the user call stack it was entered from. Numbered per process;
    /// enter records carry it.
    SiteId;
    /// A user call stack, interned per process.
    StackId;
    /// A loaded executable or shared library.
    ModuleId;
    /// A noun: anything that a verb can be done by or to.
    NounId;
    /// A thread of one process, numbered from 0 in the order of first appearance.
    ThreadSerial;
    /// A communicator as one process numbers them; 0 is `MPI_COMM_WORLD`, 1 `MPI_COMM_SELF`.
    CommId;
    /// A datatype as one process numbers them.
    DatatypeId;
    /// A user-defined kind of event or attribute, with names and types of its fields.
    EventKindId;
    /// A user-defined counter.
    CounterId;
    /// A lane: a place that is not a thread (task, asynchronous span).
    LaneId;
    /// A location of the archive: a thread, or a lane.
    LocationId;
    /// A call path of the archive: a region and its ancestors.
    CallPathId;
    /// A measured process, numbered in the archive.
    ProcessId;
}
