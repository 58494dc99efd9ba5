//! A run as analysis sees it: definitions and sums.
//!
//! Ids are places in the slices: the region of id 3 is `regions()[3]`. An implementation passes on
//! what it has; an id that points nowhere is skipped by analysis, never followed.

use marey_model::{
    AccessKind, CallPathId, DataKind, LocationId, Nanos, NounId, ProcessId, RegionId, Role, StackId,
    ThreadSerial, Tier,
};

/// A run.
///
/// What runs may lack has a provided method, which asks the run [beneath](Self::beneath), if there is one.
pub trait Trace {
    /// The run that this one shows with something changed; `None` = it is one of its own.
    fn beneath(&self) -> Option<&dyn Trace> {
        None
    }

    /// From the first to the last measured instant.
    fn duration(&self) -> Nanos;

    /// Regions, by [`RegionId`].
    fn regions(&self) -> &[Region];

    /// Call paths, by [`CallPathId`]; a parent stands before its children.
    fn call_paths(&self) -> &[CallPath];

    /// A user call stack, innermost frame first, inlined functions as frames of their own. Empty
    /// if there is no such stack.
    fn stack(&self, stack: StackId) -> Vec<&Frame>;

    /// How many of the first of those are one frame of the machine: functions that were inlined, and the one that they were
    /// inlined into.
    fn inlined_together(&self, stack: StackId) -> usize {
        self.beneath().map_or(1, |run| run.inlined_together(stack))
    }

    /// Processes, by [`ProcessId`].
    fn processes(&self) -> &[Process];

    /// Locations, by [`LocationId`].
    fn locations(&self) -> &[Location];

    /// Communicators, by [`CommunicatorId`].
    fn communicators(&self) -> &[Communicator] {
        self.beneath().map_or(&[], |run| run.communicators())
    }

    /// Sums per call path and location that [has time](Location::has_time), over the whole run. At most one row for each pair.
    fn profile(&self) -> &[ProfileRow];

    /// The same of lanes, which are not among those: their time is that of threads, or nobody's. None of a part.
    fn lanes(&self) -> &[ProfileRow] {
        self.beneath().map_or(&[], |run| run.lanes())
    }

    /// Visits that were only counted to keep within the budget. None of a part, which has only what was recorded one by one.
    fn reduced(&self) -> &[ReducedRow] {
        self.beneath().map_or(&[], |run| run.reduced())
    }

    /// Visits by duration: of each call path and location as many rows as there are bins with visits.
    fn durations(&self) -> &[BinRow] {
        self.beneath().map_or(&[], |run| run.durations())
    }

    /// Operations that moved data by size: of each call path and location as many rows as there are bins with
    /// operations.
    fn sizes(&self) -> &[BinRow] {
        self.beneath().map_or(&[], |run| run.sizes())
    }

    /// Sums over messages.
    fn communication(&self) -> &[CommunicationRow] {
        self.beneath().map_or(&[], |run| run.communication())
    }

    /// Data that buffers of messages lie in.
    fn data(&self) -> &[Datum] {
        self.beneath().map_or(&[], |run| run.data())
    }

    /// Sums over messages by these.
    fn array_messages(&self) -> &[ArrayMessagesRow] {
        self.beneath().map_or(&[], |run| run.array_messages())
    }

    /// Samples of processor time, added up by innermost open region, call stack and location.
    fn samples(&self) -> &[SampledRow] {
        self.beneath().map_or(&[], |run| run.samples())
    }

    /// Samples of all that the locations did, also where this is a part of a run with the samples of some calls only.
    fn all_samples(&self) -> &[SampledRow] {
        self.beneath().map_or_else(|| self.samples(), |run| run.all_samples())
    }

    /// Counters; the place in the list is the number.
    fn counters(&self) -> &[Counter] {
        self.beneath().map_or(&[], |run| run.counters())
    }

    /// What counters beside the time counted, by innermost open region, call stack and location.
    fn counted(&self) -> &[CountedRow] {
        self.beneath().map_or(&[], |run| run.counted())
    }

    /// What each call path has allocated, in each process.
    fn allocations(&self) -> &[AllocationRow] {
        self.beneath().map_or(&[], |run| run.allocations())
    }

    /// Heaps of processes of which they are recorded, by process.
    fn heaps(&self) -> &[HeapRow] {
        self.beneath().map_or(&[], |run| run.heaps())
    }

    /// Everything lost, unmatched, violated or truncated.
    fn problems(&self) -> &[Problem] {
        self.beneath().map_or(&[], |run| run.problems())
    }

    /// How well the clock of each process is known. None = all share one.
    fn clocks(&self) -> &[ProcessClock] {
        self.beneath().map_or(&[], |run| run.clocks())
    }

    /// Whether a process is not meant, where this is a part of a run: it is there, and no number is about it.
    fn leaves_out(&self, process: ProcessId) -> bool {
        self.beneath().is_some_and(|run| run.leaves_out(process))
    }

    /// Arrays, variables and blocks that calls acted on, by their ids.
    fn arrays(&self) -> &[Array] {
        self.beneath().map_or(&[], |run| run.arrays())
    }

    /// Sums of what calls did to arrays. Of a part of a run nothing is known.
    fn accessed(&self) -> &[AccessRow] {
        &[]
    }

    /// The regions that threads were in when their process ended, by location and depth, so that
    /// the innermost of a location stands last. `None` = the run does not say.
    fn open_at_end(&self) -> Option<&[OpenRegion]> {
        self.beneath()?.open_at_end()
    }
}

/// One instance of an array, variable or block, in one process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// What it is called: all instances of one name have one number.
    pub noun: NounId,
    /// That name; empty = none is known.
    pub name: String,
    /// What it is.
    pub kind: DataKind,
    /// Source file of its declaration; empty = unknown.
    pub file: String,
    /// Line in it; 0 = unknown.
    pub line: u32,
    /// The process that has it.
    pub process: ProcessId,
    /// Its size, bytes.
    pub bytes: u64,
    /// Size of an element, bytes; `None` = unknown.
    pub element_bytes: Option<u64>,
    /// Type of an element; empty = unknown.
    pub element: String,
    /// Lower and upper bound of each dimension; none where unknown.
    pub bounds: Vec<(i64, i64)>,
    /// Since when it was there.
    pub from: Nanos,
    /// When it was given back; `None` = never.
    pub until: Option<Nanos>,
    /// Call stack that made it.
    pub stack: Option<StackId>,
}

impl Array {
    /// Whether it is one that calls of its level act on; others are only met where messages come from or go to.
    pub fn is_acted_on(&self) -> bool {
        matches!(self.kind, DataKind::Coarray | DataKind::View | DataKind::Window)
    }
}

/// What calls from one place did to one array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessRow {
    /// Who made the calls.
    pub location: LocationId,
    /// Their call path; `None` = unknown.
    pub call_path: Option<CallPathId>,
    /// What they did.
    pub kind: AccessKind,
    /// The array, as a place in [`Trace::arrays`]; `None` = unknown.
    pub array: Option<usize>,
    /// The process with which the elements lie; `None` = unknown.
    pub peer: Option<ProcessId>,
    /// How many.
    pub accesses: u64,
    /// Bytes moved, or sizes of what was made or given back.
    pub bytes: u64,
    /// Time of the calls. One that reads an array and writes another counts for both.
    pub time: Nanos,
}

/// A communicator of the run, however many processes share it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CommunicatorId(pub u32);

/// A verb with its principal noun.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// Name of its level.
    pub level: String,
    /// Where that stands.
    pub tier: Tier,
    /// Name of its verb; for MPI calls the C name.
    pub verb: String,
    /// Name of its noun; empty = none.
    pub noun: String,
    /// Role of its verb.
    pub role: Role,
    /// Source file of the region; empty = unknown.
    pub file: String,
    /// Source line of the region; 0 = unknown.
    pub line: u32,
    /// What it is called if neither verb nor noun alone say it: `get u` on levels of programming models, where the same
    /// is done to many arrays.
    pub label: Option<Box<str>>,
}

impl Region {
    /// What a path of regions calls it: its label if it has one, the noun where the verb only says that it was
    /// executed, else the verb.
    pub fn name(&self) -> &str {
        if let Some(label) = &self.label {
            return label;
        }
        if self.role == Role::Work && !self.noun.is_empty() { &self.noun } else { &self.verb }
    }
}

/// A region beneath another call path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallPath {
    /// The call path above it; it has a smaller id.
    pub parent: Option<CallPathId>,
    /// Its region.
    pub region: RegionId,
    /// User call stack from which the region was entered.
    pub stack: Option<StackId>,
}

/// A frame of a call stack: a place in the source from which something was called.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Frame {
    /// Name of the function; empty = unknown.
    pub function: String,
    /// Source file; empty = unknown.
    pub file: String,
    /// Source line; 0 = unknown.
    pub line: u32,
}

/// A measured process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Name of the node it ran on.
    pub host: String,
    /// Process id of the operating system.
    pub pid: u32,
    /// Number of its `MPI_COMM_WORLD`; 0 is the first.
    pub world: u32,
    /// Rank in that world; `None` = not an MPI process.
    pub rank: Option<u32>,
    /// First instant of measurement.
    pub start: Nanos,
    /// Last instant of measurement.
    pub end: Nanos,
    /// How it ended: `finished`, `aborted`, `killed` …
    pub outcome: String,
    /// Its exit status, where it has one and it is known.
    pub exit_code: Option<i64>,
    /// Most bytes of it that were in memory at a time, if known.
    pub peak_memory: Option<u64>,
    /// Processor time of all its threads, in the program and in the kernel, if known.
    pub processor_time: Option<Nanos>,
}

impl Process {
    /// Its rank in the first `MPI_COMM_WORLD`, which users mean who say no more than a number; `None` = it is no MPI
    /// process, or one of a world that was spawned.
    pub fn first_rank(&self) -> Option<u32> {
        self.rank.filter(|_| self.world == 0)
    }

    /// Whether it ended as programs do that went well: by itself, with the exit status 0, or by
    /// becoming another program.
    pub fn ended_well(&self) -> bool {
        match self.outcome.as_str() {
            // Of `unknown` nobody can say that it did not.
            "finished" | "replaced by exec" | "unknown" => true,
            // A job is over when its ranks are; what they leave behind may go on.
            "still running when the recording ended" => self.rank.is_none(),
            // `exited`, and `exited at once (_exit)`, which is the proper end of a forked child.
            outcome => outcome.starts_with("exited") && self.exit_code == Some(0),
        }
    }
}

/// How well the clock of a process is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessClock {
    /// The process.
    pub process: ProcessId,
    /// Number of its clock: who has the same shares it. `None` = the run does not say; then those of a node do.
    pub clock: Option<u32>,
    /// By how much times of the process may be wrong, at some times, in their order; linear in between, as at the ends
    /// beyond them. `None` = nobody knows.
    pub knots: Vec<(Nanos, Option<Nanos>)>,
}

/// A region that a thread was in when its process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenRegion {
    /// The thread.
    pub location: LocationId,
    /// The region and those above it.
    pub call_path: CallPathId,
    /// When it was entered.
    pub start: Nanos,
}

/// A thread or a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The process it belongs to.
    pub process: ProcessId,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: LocationKind,
    /// Number of the thread in its process; of a lane, the thread that it belongs to.
    pub thread: ThreadSerial,
    /// First instant of measurement.
    pub start: Nanos,
    /// Last instant of measurement.
    pub end: Nanos,
}

/// What a location is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocationKind {
    /// A thread.
    Thread,
    /// A place that is not a thread: a task, an asynchronous span. What is done for it a thread does, whose time that is.
    Lane,
    /// What signal handlers of a thread did while that was writing something down.
    Handlers,
}

impl Location {
    /// Whether what it does takes time, which no other location's time has in it.
    pub fn has_time(&self) -> bool {
        self.kind != LocationKind::Lane
    }

    /// From when until when it has time: nowhere, if it has none.
    pub fn time(&self) -> (Nanos, Nanos) {
        (self.start, if self.has_time() { self.end } else { self.start })
    }
}

/// A communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Communicator {
    /// Its name.
    pub name: String,
    /// Number of processes in it.
    pub size: u32,
    /// The communicator it was made from.
    pub parent: Option<CommunicatorId>,
}

/// Sums over all visits of one call path on one location.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProfileRow {
    /// The call path.
    pub call_path: CallPathId,
    /// Where.
    pub location: LocationId,
    /// Number of visits.
    pub visits: u64,
    /// How many of them were counted only. All that follows is of the others.
    pub untimed: u64,
    /// Sum of their durations.
    pub inclusive: Nanos,
    /// The same without time in call paths beneath.
    pub exclusive: Nanos,
    /// Shortest visit, if known.
    pub min: Option<Nanos>,
    /// Longest visit, if known.
    pub max: Option<Nanos>,
    /// Sum of the squares of the durations, ns².
    pub sum_squares: f64,
    /// Sum of the data moved, bytes.
    pub bytes: u64,
}

/// Visits of a call path that were only counted from some time on, because recording each was too dear. They are in the
/// sums with the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReducedRow {
    /// The call path.
    pub call_path: CallPathId,
    /// Where.
    pub location: LocationId,
    /// From when on.
    pub since: Nanos,
    /// How many were only counted.
    pub visits: u64,
    /// What they took together, an estimate.
    pub time: Nanos,
}

/// Samples taken in one context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampledRow {
    /// The innermost open region; `None` = outside of all.
    pub call_path: Option<CallPathId>,
    /// Where.
    pub location: LocationId,
    /// The call stack, if it is known.
    pub stack: Option<StackId>,
    /// How many.
    pub samples: u64,
    /// The processor time that they stand for.
    pub time: Nanos,
    /// Whether the stack goes up to the beginning of the thread.
    pub is_complete: bool,
}

/// Number of a counter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CounterId(pub u32);

/// A counter of the program's, of the processor's or of the kernel's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// Unit of its values; empty = events.
    pub unit: String,
    /// `program`, `hardware` or `kernel`.
    pub source: String,
    /// How long it should have counted; 0 where that is not known.
    pub enabled: Nanos,
    /// How long it did.
    pub running: Nanos,
}

/// What a counter counted in one context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CountedRow {
    /// The innermost open region; `None` = outside of all.
    pub call_path: Option<CallPathId>,
    /// Where.
    pub location: LocationId,
    /// The call stack of the sample that it was read at; `None` = it was read when a region was entered or left.
    pub stack: Option<StackId>,
    /// Which counter.
    pub counter: CounterId,
    /// What it counted, in its unit.
    pub value: u64,
}

/// What a call path has allocated of the heap of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllocationRow {
    /// The call path, whose innermost region is the function that allocated; `None` = not known.
    pub call_path: Option<CallPathId>,
    /// Whose heap it is.
    pub process: ProcessId,
    /// Blocks allocated.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of these blocks have been freed.
    pub freed_blocks: u64,
    /// Their bytes.
    pub freed_bytes: u64,
    /// The most bytes that there were of them at a time.
    pub peak: u64,
    /// Bytes that there were of them when the process had most.
    pub at_peak: u64,
}

/// The heap of a process, all call paths together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeapRow {
    /// The process.
    pub process: ProcessId,
    /// Blocks of at least so many bytes are recorded.
    pub least: u64,
    /// The most bytes that there were of them at a time.
    pub peak: u64,
    /// Until when that was there; `None` = at the end.
    pub peak_time: Option<Nanos>,
    /// Bytes that there were of them at the end.
    pub at_end: u64,
    /// Blocks that are not recorded.
    pub lost_blocks: u64,
    /// Their bytes.
    pub lost_bytes: u64,
}

/// How many values of a call path on a location lie in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BinRow {
    /// The call path.
    pub call_path: CallPathId,
    /// Where.
    pub location: LocationId,
    /// The power of two that stands for the range (`None` = 0), and the range, ns or bytes, its end excluded.
    /// `None` = the range is not known.
    pub bin: Option<(Option<u32>, (u64, u64))>,
    /// How many.
    pub number: u64,
}

/// Sums over messages by sender, receiver, communicator and size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommunicationRow {
    /// The sender.
    pub from: ProcessId,
    /// The receiver.
    pub to: ProcessId,
    /// The communicator, if known.
    pub communicator: Option<CommunicatorId>,
    /// ⌊log₂ of the bytes of a message⌋; `None` = messages without data.
    pub size_log2: Option<u32>,
    /// Whether that is known: not of messages that were only added up.
    pub is_size_known: bool,
    /// Number of messages.
    pub messages: u64,
    /// Sum of their sizes, bytes.
    pub bytes: u64,
}

/// A datum: array, variable or block of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datum {
    /// `variable`, `block`, `frame` …; `other` = memory that is not known, and the name says why.
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// File of its declaration, or of the call that made it; empty = unknown.
    pub file: String,
    /// Line in it; 0 = unknown.
    pub line: u32,
}

/// Sums over the messages from one process to another between two data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrayMessagesRow {
    /// The place in [`Trace::data`] of what was sent; `None` = no buffer.
    pub sent: Option<usize>,
    /// The same of what was received into.
    pub received: Option<usize>,
    /// The sender.
    pub from: ProcessId,
    /// The receiver.
    pub to: ProcessId,
    /// Number of messages.
    pub messages: u64,
    /// Sum of their sizes, bytes.
    pub bytes: u64,
}

/// Something lost, unmatched, violated or truncated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// `lost`, `dropped`, `unmatched_sends` …
    pub kind: String,
    /// Where; `None` = the run as a whole.
    pub process: Option<ProcessId>,
    /// Where; `None` = the process as a whole.
    pub location: Option<LocationId>,
    /// How often.
    pub count: u64,
    /// What exactly, in words.
    pub detail: String,
}
