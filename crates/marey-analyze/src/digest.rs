//! A run by names: what of it can be compared with another run.
//!
//! The one idea: ids, addresses, lines and numbers of ranks differ from run to run, names do not; so a run is condensed
//! into sums by name, which stay when the run itself is closed. Many runs fit into memory at once, for there is a row for
//! each place in the program and not for each event.
//!
//! The definitions are those of `docs/compare.md`.
//!
//! What is deliberately absent: other runs ([`crate::compare`]).

mod explained;
mod graph;
mod names;
mod read;

use marey_model::Nanos;

use crate::efficiency::Efficiency;
use crate::trace::LocationKind;
use crate::waits::Pattern;

pub use names::{FunctionName, Place, PlaceKind, RegionName};

pub(crate) use graph::{Graph, Node};

/// A run by names.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Digest {
    /// From the first to the last measured instant.
    pub duration: Nanos,
    /// Processes, in their order.
    pub processes: Vec<ProcessSums>,
    /// Ranks and threads; what [`PlaceTime::location`] and others count.
    pub locations: Vec<Where>,
    /// Time that all these were there.
    pub alive: Nanos,
    /// Places in the program, in their order; what others count.
    pub places: Vec<PlaceSums>,
    /// Regions that were visited, by name.
    pub regions: Vec<RegionSums>,
    /// Call paths that were visited; a parent stands before its children.
    pub paths: Vec<PathSums>,
    /// Functions by samples, by name.
    pub functions: Vec<FunctionSums>,
    /// Messages of which both ends are known.
    pub messages: u64,
    /// Their sizes, bytes.
    pub message_bytes: u64,
    /// Peaks of all heaps together, bytes; `None` = not recorded.
    pub heap_peak: Option<u64>,
    /// All that was allocated, bytes; `None` = not recorded.
    pub allocated: Option<u64>,
    /// What call paths allocated, by place.
    pub allocations: Vec<AllocationSums>,
    /// Counters beside the time.
    pub counters: Vec<CounterSums>,
    /// Largest over mean time outside MPI of a rank, less 1; `None` without ranks.
    pub imbalance: Option<f64>,
    /// What its events say of it.
    pub explained: Option<Explained>,
    /// Who calls whom.
    pub(crate) graph: Graph,
}

/// A process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProcessSums {
    /// Number of its `MPI_COMM_WORLD`.
    pub world: u32,
    /// Rank in that world.
    pub rank: Option<u32>,
    /// Wall time.
    pub time: Nanos,
    /// Time in MPI, over its threads.
    pub mpi: Nanos,
    /// Processor time, if known.
    pub processor_time: Option<Nanos>,
    /// Most bytes in memory at a time, if known.
    pub peak_memory: Option<u64>,
    /// Visits of all regions.
    pub visits: u64,
    /// Data that these moved.
    pub bytes: u64,
    /// Messages that it sent, and their bytes.
    pub sent: (u64, u64),
    /// Messages that it received, and their bytes.
    pub received: (u64, u64),
}

/// Which rank and thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Where {
    /// Number of the process.
    pub process: u32,
    /// Number of its `MPI_COMM_WORLD`.
    pub world: u32,
    /// Rank in that world.
    pub rank: Option<u32>,
    /// Number of the thread in its process.
    pub thread: u32,
    /// Name of a location that is no thread; else empty.
    pub lane: String,
}

impl Where {
    /// What it is.
    pub fn kind(&self) -> LocationKind {
        if self.lane.is_empty() { LocationKind::Thread } else { LocationKind::Lane }
    }

    /// What makes it the same in another run: of ranks not the number of the process.
    pub(crate) fn identity(&self) -> (u32, Option<u32>, u32, u32, &str) {
        (self.world, self.rank, if self.rank.is_some() { 0 } else { self.process }, self.thread, &self.lane)
    }
}

/// Sums over visits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sums {
    /// How many.
    pub visits: u64,
    /// How many of them were counted only.
    pub untimed: u64,
    /// Time between enter and leave.
    pub inclusive: Nanos,
    /// The same without time in regions beneath.
    pub exclusive: Nanos,
    /// Data moved, bytes.
    pub bytes: u64,
}

/// A place in the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlaceSums {
    /// Its name.
    pub place: Place,
    /// The line of it that took most time; 0 = unknown.
    pub line: u32,
    /// Visits. The inclusive time may hold time of other visits in the same place.
    pub sums: Sums,
}

/// A region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegionSums {
    /// Its name.
    pub region: RegionName,
    /// Visits; within a visit of the same region inclusive time does not count again.
    pub sums: Sums,
    /// The longest visit, if known.
    pub longest: Option<Nanos>,
}

/// A call path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathSums {
    /// The path above it.
    pub parent: Option<u32>,
    /// Its place.
    pub place: u32,
    /// Visits.
    pub sums: Sums,
}

/// A function by samples: what was in it, and in functions of libraries that it called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionSums {
    /// Its name.
    pub function: FunctionName,
    /// The line that took most; 0 = unknown.
    pub line: u32,
    /// How many samples.
    pub samples: u64,
    /// The processor time that they stand for.
    pub time: Nanos,
    /// Who called it in most of them, if known.
    pub caller: Option<FunctionName>,
}

/// What was allocated in one place, in all processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllocationSums {
    /// The place; `None` = not known.
    pub place: Option<u32>,
    /// Blocks.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that there were when processes had most.
    pub at_peak: u64,
}

/// What a counter counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterSums {
    /// Its name.
    pub name: String,
    /// All threads.
    pub total: u64,
    /// In regions themselves, by name of the region.
    pub regions: Vec<(RegionName, u64)>,
}

/// Why a run took as long as it did.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Explained {
    /// All waiting.
    pub waiting: Nanos,
    /// Time that all ranks and threads were there.
    pub time: Nanos,
    /// Time of the run before the critical path begins.
    pub before: Nanos,
    /// Efficiencies; `None` if there is nobody to compare.
    pub efficiency: Option<Efficiency>,
    /// The same, of a run of one location too.
    pub efficiency_even_alone: Option<Efficiency>,
    /// The time of all locations, by place.
    pub times: Vec<PlaceTime>,
    /// Waits by pattern and place.
    pub waits: Vec<WaitSums>,
    /// Delay costs by place and location, ns.
    pub costs: Vec<(u32, u32, f64)>,
    /// What waits followed from what: the place of the cause, that of the waits, ns.
    pub effects: Vec<(u32, u32, f64)>,
    /// What is worth changing: the place, and what there is to win.
    pub findings: Vec<(u32, Nanos)>,
    /// Whether the events are there that the sums are of.
    pub is_whole: bool,
}

/// How long a location was in a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlaceTime {
    /// The place.
    pub place: u32,
    /// The location.
    pub location: u32,
    /// How long, waits left out.
    pub time: Nanos,
    /// How long it waited there.
    pub waiting: Nanos,
    /// How much of it was on the critical path.
    pub on_path: Nanos,
}

/// Waits of one kind in one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitSums {
    /// What was waited for.
    pub pattern: Pattern,
    /// Where.
    pub place: u32,
    /// How long.
    pub time: Nanos,
    /// How many.
    pub number: u64,
}
