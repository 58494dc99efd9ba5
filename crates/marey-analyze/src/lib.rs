//! Analysis of runs: what a trace says about where the time went.
//!
//! The one idea: analysis is pure. It sees a run only through the trait [`Trace`], whoever
//! implements it — the archive, a live run, a test — and the same trace always gives the same rows
//! in the same order.
//!
//! What is deliberately absent: files, Parquet, JSON, HTTP, terminals and text for people. Levels,
//! verbs and nouns are rows of the trace; what is known of a verb here is its role, and of levels
//! only that `mpi` is one.

mod caller;
mod communication;
mod counters;
mod endings;
mod files;
mod headline;
mod histogram;
mod lines;
mod memory;
mod paths;
mod profile;
mod ranks;
mod samples;
mod spread;
mod trace;
mod waiting;

pub use caller::{caller, caller_on, is_of_library};
pub use communication::{MessageSizeRow, PairRow, communication, message_sizes};
pub use counters::{Counted, CountedFunction, CountedRegion, Metric, MetricKind, counted};
pub use endings::{EarlyEnding, LastPlace, LastSeen, early_endings};
pub use files::{Deeds, FileRow, files};
pub use headline::{CallSite, Headline, RankShare, headline};
pub use histogram::{Bin, Histogram};
pub use lines::{LineRow, lines};
pub use memory::{Allocated, AllocationPath, ProcessMemory, allocations, memory};
pub use profile::{CallPathRow, RegionRow, call_paths, regions};
pub use ranks::{RankRow, ranks};
pub use samples::{Hot, HotFunction, HotLine, LibraryCall, Sampled, hot, library_call};
pub use spread::{Population, Spread, exclusive_by_process};
pub use trace::{
    AllocationRow, BinRow, CallPath, CommunicationRow, Communicator, CommunicatorId, CountedRow, Counter,
    CounterId, Frame, HeapRow, Location, LocationKind, OpenRegion, Problem, Process, ProfileRow, Region,
    SampledRow, Trace,
};
pub use waiting::{WaitRow, Waiting, waiting};
