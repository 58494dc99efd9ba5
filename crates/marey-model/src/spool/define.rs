//! Definitions: what the numbers in records mean. They are written before a record uses them.
//!
//! A definition is a type byte, a length and its fields one after the other. A reader skips types
//! it does not know and ignores fields added at the end, and those that are not there yet have a value that stands for
//! nothing, so both ends may be of any version.
//!
//! The one idea: the table below is all there is; enum, numbers, writing and reading are made from it.
//! How a single field is written is told in [`field`], what codes in fields stand for in [`kinds`].

mod field;
mod kinds;

use self::field::Field;
pub use self::kinds::{CommunicatorKind, EndingKind, FieldType};
use super::varint::{get_bytes, put_bytes};
use crate::Triple;

/// Reads a field; one that was added later has a value for what was written before.
macro_rules! read {
    ($bytes:ident, $at:ident, $type:ty) => {
        <$type>::get($bytes, &mut $at)?
    };
    ($bytes:ident, $at:ident, $type:ty, $absent:expr) => {
        if $at == $bytes.len() { $absent } else { <$type>::get($bytes, &mut $at)? }
    };
}

macro_rules! definitions {
    ($($(#[$doc:meta])* $code:literal $name:ident {
        $($(#[$fdoc:meta])* $field:ident: $type:ty $(= $absent:expr)?,)*
    })*) => {
        /// One definition.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Definition {
            $($(#[$doc])* $name { $($(#[$fdoc])* $field: $type,)* },)*
        }

        /// What a definition is of; its number is the type byte.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum DefinitionKind {
            $($(#[$doc])* $name = $code,)*
        }

        impl Definition {
            /// Appends type, length and fields.
            pub fn encode(&self, out: &mut Vec<u8>) {
                // Nearly all fit; growing from nothing would take five allocations.
                let mut body = Vec::with_capacity(128);
                let code: u8 = match self {
                    $(Self::$name { $($field,)* } => { $($field.put(&mut body);)* $code })*
                };
                out.push(code);
                put_bytes(out, &body);
            }

            fn decode_body(code: u8, bytes: &[u8]) -> Option<Self> {
                let mut at = 0;
                match code {
                    $($code => Some(Self::$name { $($field: read!(bytes, at, $type $(, $absent)?),)* }),)*
                    _ => None,
                }
            }
        }
    };
}

definitions! {
    /// The process itself. Always the first definition.
    1 Process {
        /// Random number, as in every window's head.
        key: u64,
        /// Process id on its host.
        pid: u32,
        /// Process id of the parent.
        parent_pid: u32,
        /// Host name.
        host: String,
        /// The kernel's random number of this boot: processes that agree in it share a machine.
        boot: String,
        /// Code of a [`crate::ClockKind`].
        clock: u8,
        /// The start of measurement.
        start: Triple,
        /// Command line, word by word.
        command: Vec<String>,
        /// Path of the executable.
        executable: String,
        /// Working directory.
        directory: String,
        /// Version of the recorder.
        version: String,
        /// Allow-listed environment.
        environment: Vec<(String, String)>,
        /// Key of the process that forked this one, whose definitions before it hold here too.
        forked_from: Option<u64>,
        /// Bytes of that process's definitions that hold here.
        inherited: u64,
        /// Measured cost of one enter and leave, in hundredths of a tick.
        pair_cost: u64,
    }
    /// The process joined an MPI world.
    2 Mpi {
        /// 0 Open MPI, 1 MPICH.
        flavour: u8,
        /// What `MPI_Get_library_version` says, its first line.
        library: String,
        /// What tells the worlds of one run apart.
        world: String,
        /// Number of processes in `MPI_COMM_WORLD`.
        size: u32,
        /// Rank in `MPI_COMM_WORLD`.
        rank: u32,
        /// The thread level provided, 0 single to 3 multiple.
        thread_level: u32,
        /// When `MPI_Init` was entered.
        enter: u64,
        /// When it was left.
        leave: u64,
    }
    /// A thread.
    3 Thread {
        /// Its number in the process.
        serial: u32,
        /// The kernel's thread id.
        os_thread: u32,
        /// Its name, empty where it has none.
        name: String,
        /// Its first instant.
        ticks: u64,
        /// The thread that created it, where that was seen.
        creator: Option<u32>,
    }
    /// A level.
    4 Level {
        /// Its number.
        id: u32,
        /// Its name.
        name: String,
        /// Code of a [`crate::Tier`].
        tier: u8,
        /// Names of the levels it is built on.
        built_on: Vec<String>,
    }
    /// A region: a verb and its principal noun.
    5 Region {
        /// Its number.
        id: u32,
        /// Its level's number.
        level: u32,
        /// The verb: `execute`, `MPI_Send` …
        verb: String,
        /// Code of a [`crate::Role`].
        role: u8,
        /// Kind of the noun: `function`, `communicator`, `file` …; empty where there is none.
        noun_kind: String,
        /// Name of the noun.
        noun: String,
        /// Source file, empty where unknown.
        file: String,
        /// Line in it, 0 where unknown.
        line: u32,
    }
    /// A region and the user call stack it is entered from.
    6 Site {
        /// Its number, which enter records carry.
        id: u32,
        /// The region.
        region: u32,
        /// The stack, where one was taken.
        stack: Option<u32>,
    }
    /// A user call stack.
    7 Stack {
        /// Its number.
        id: u32,
        /// Module and virtual address in it, innermost first; return addresses.
        frames: Vec<(u32, u64)>,
        /// It goes up to the beginning of the thread.
        complete: bool,
    }
    /// A module was found mapped.
    8 Module {
        /// Its number.
        id: u32,
        /// Path of its file.
        path: String,
        /// Its build-id, empty where it has none.
        build_id: Vec<u8>,
        /// Address minus virtual address.
        bias: u64,
        /// First mapped address.
        start: u64,
        /// First address behind it.
        end: u64,
        /// When it was found.
        ticks: u64,
    }
    /// A module was found unmapped.
    9 Unmapped {
        /// Its number.
        id: u32,
        /// When that was found.
        ticks: u64,
    }
    /// A communicator.
    10 Communicator {
        /// Its number.
        id: u32,
        /// Code of a [`CommunicatorKind`].
        kind: u8,
        /// The communicator it was made from.
        parent: Option<u32>,
        /// How many communicators had been made from that parent before, or, for those made by
        /// part of a parent (`MPI_Comm_create_group`, `MPI_Intercomm_create`), of the same
        /// members and tag.
        number: u64,
        /// Tag argument, 0 where there is none.
        tag: i64,
        /// Rank in the parent of its rank 0.
        leader: i64,
        /// Number of members (of the local group).
        size: u32,
        /// This process's rank in it.
        rank: u32,
        /// Number of members of the remote group, 0 for an intracommunicator.
        remote_size: u32,
        /// Ranks in `MPI_COMM_WORLD` of the members, −1 for those of other worlds; as runs of
        /// (first, how many) with consecutive ranks.
        members: Vec<(i64, u64)>,
        /// The same for the remote group.
        remote_members: Vec<(i64, u64)>,
        /// Port name of `MPI_Comm_accept` and `MPI_Comm_connect`.
        port: String,
        /// When it was made.
        ticks: u64,
    }
    /// A communicator got a name.
    11 CommunicatorName {
        /// Which.
        id: u32,
        /// Its name.
        name: String,
    }
    /// A communicator was freed.
    12 CommunicatorFreed {
        /// Which.
        id: u32,
        /// When.
        ticks: u64,
    }
    /// A datatype.
    13 Datatype {
        /// Its number.
        id: u32,
        /// Its name, or how it was made.
        name: String,
        /// Bytes of data in one element.
        size: u64,
    }
    /// A window of one-sided communication.
    14 Window {
        /// Its number.
        id: u32,
        /// The communicator it was made on.
        communicator: u32,
        /// Collectives on that communicator before it: what tells windows apart.
        number: u64,
        /// Address of the local memory.
        base: u64,
        /// Its size in bytes.
        size: u64,
    }
    /// An opened file.
    15 File {
        /// Its number.
        id: u32,
        /// Its name.
        name: String,
    }
    /// A user-defined kind of event or attribute.
    16 EventKind {
        /// Its number.
        id: u32,
        /// Its name.
        name: String,
        /// Attribute of an interval, not an event of its own.
        attribute: bool,
        /// Name and code of a [`FieldType`] of each field.
        fields: Vec<(String, u8)>,
    }
    /// A user-defined counter.
    17 Counter {
        /// Its number.
        id: u32,
        /// Its name.
        name: String,
        /// Its unit.
        unit: String,
    }
    /// A lane.
    18 Lane {
        /// Its number.
        id: u32,
        /// Its name.
        name: String,
        /// Its first instant.
        ticks: u64,
    }
    /// One clock exchange with another rank of the world: sent here, received there, sent back
    /// there, received here. The two middle times are of the other's clock.
    19 Exchange {
        /// The other's rank in `MPI_COMM_WORLD`.
        peer: u32,
        /// Sent here.
        sent: u64,
        /// Received there.
        received: u64,
        /// Sent back there.
        returned: u64,
        /// Received here.
        came_back: u64,
    }
    /// How the process ended, as far as it could say.
    20 Ending {
        /// Code of an [`EndingKind`].
        kind: u8,
        /// Exit status, signal or error code.
        code: i64,
        /// The end of measurement.
        end: Triple,
    }
    /// The fixed recording settings.
    21 Settings {
        /// `trace`, `quiet` …
        mode: String,
        /// Largest number of frames taken of a call stack.
        stack_depth: u32,
        /// Limit of the spool of this process in bytes, 0 for none.
        max_bytes: u64,
    }
    /// Something that could not be recorded as it should.
    22 Trouble {
        /// What, as a name of the `problems` table.
        kind: String,
        /// How often.
        count: u64,
        /// More about it.
        detail: String,
    }
    /// How much is recorded of which regions, as [`crate::Rules`] read it.
    23 Rules {
        /// The rules, one a line.
        text: String,
    }
    /// A region is that of a function of which only the address is known: whoever merges finds its name,
    /// and until then it is called after its place.
    24 Function {
        /// The region.
        region: u32,
        /// The module that it lies in; 4294967295 where none does.
        module: u32,
        /// Its first instruction, as a virtual address in the module.
        vaddr: u64,
    }
    /// What the process has used until it ended, as the kernel counts it (`getrusage`).
    26 Resources {
        /// Most bytes of it that were in memory at a time.
        peak_memory: u64,
        /// Processor time in the program, ns.
        user_ns: u64,
        /// Processor time in the kernel, ns.
        system_ns: u64,
        /// Pages that had to be read from a disk.
        major_faults: u64,
        /// How often a thread gave its processor away, because it had to wait.
        waits: u64,
        /// How often one was taken from it.
        preemptions: u64,
    }
    /// A counter that is read beside the time, see [`crate::counters`].
    30 Counted {
        /// Its number.
        id: u32,
        /// Its name.
        name: String,
        /// Its unit.
        unit: String,
        /// `hardware` or `kernel`.
        source: String,
    }
    /// How much of the processor time recording may take, and what it costs when a visit is only counted.
    31 Budget {
        /// Hundredths of a per cent.
        share: u32,
        /// Measured cost of counting a visit, in hundredths of a tick.
        count_cost: u64,
    }
    /// Visits of a region are only counted from now on, and a few of them timed, because recording each took too
    /// much of the processor time.
    32 Reduced {
        /// Its site.
        site: u32,
        /// The thread that found out.
        thread: u32,
        /// When.
        ticks: u64,
        /// What recording it took of that thread's processor time just before, hundredths of a per cent.
        share: u32,
        /// Visits between two stretches that are timed, on average.
        gap: u32,
    }
    /// A datum: array, variable or block.
    33 Data {
        /// Its number.
        id: u32,
        /// Code of a [`crate::DataKind`].
        kind: u8,
        /// Its name, empty where only debug information or the place has it.
        name: String,
        /// Module and virtual address of the variable that it is or that describes it, its descriptor or pointer; with
        /// `from_frame` the return address into the function whose frame that variable lies in.
        place: Option<(u32, u64)>,
        /// Distance of that variable from the canonical address of the frame.
        from_frame: Option<i64>,
        /// The datum that the variable is part of, and the distance from its beginning in bytes.
        within: Option<(u32, u64)>,
        /// The site of the call that made it.
        site: Option<u32>,
        /// Where it begins in memory.
        address: u64,
        /// Its size in bytes.
        bytes: u64,
        /// Bytes of one element, 0 where unknown.
        element: u64,
        /// Code of the type of elements in a descriptor of gfortran's, 0 where unknown; of a block 0 or [`crate::USED_BEFORE`].
        code: u8,
        /// Lower bound and extent of each dimension, none where unknown.
        bounds: Vec<(i64, u64)>,
        /// Since when it is there.
        ticks: u64,
    }
    /// A datum is there no more.
    34 DataFreed {
        /// Its number.
        id: u32,
        /// When.
        ticks: u64,
    }
    /// The noun of a region is a datum.
    35 RegionData {
        /// The region.
        region: u32,
        /// The datum.
        data: u32,
    }
    /// Which of a datum's elements are accessed, as far as it does not change from one access to the next.
    36 Shape {
        /// Its number.
        id: u32,
        /// For each dimension the code of a [`crate::DimensionKind`], start, stride and how many.
        dimensions: Vec<(u8, (i64, (i64, u64)))>,
    }
    /// A datum got a name by the program.
    37 DataName {
        /// The datum.
        id: u32,
        /// Its name.
        name: String,
    }
    /// A datum is this process's part of a window, or a piece of memory that is attached to one.
    38 WindowData {
        /// The window.
        window: u32,
        /// The datum.
        data: u32,
    }
    /// A thread that was still there when the process ended had ended all its open regions before; what it waited for in
    /// them happened on another thread, and only others know when.
    48 Idle {
        /// The thread.
        thread: u32,
        /// When they ended.
        ticks: u64,
        /// The thread that ended the wait by what it did then.
        by: u32,
        /// Code of the [`crate::EdgeKind`] from there.
        kind: u8,
        /// The site that the thread was in from then on.
        site: u32,
        /// Since when it only waited, if it had executed tasks in them before; else 0.
        since: u64 = 0,
        /// The site of that wait; `u32::MAX` without one.
        wait: u32 = u32::MAX,
    }
}

impl Definition {
    /// Reads the definition at `*at` and moves `*at` behind it. `Some(None)` for one of a later
    /// version or damaged inside; `None` if no whole definition stands there.
    pub fn decode(bytes: &[u8], at: &mut usize) -> Option<Option<Self>> {
        let code = *bytes.get(*at)?;
        if code == 0 {
            return None;
        }
        let mut next = *at + 1;
        let body = get_bytes(bytes, &mut next)?;
        *at = next;
        Some(Self::decode_body(code, body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::varint::put;

    #[test]
    fn definitions_come_back_and_unknown_ones_are_skipped() {
        let known = Definition::Stack { id: 7, frames: vec![(0, 0x1234), (1, 0)], complete: true };
        let mut bytes = Vec::new();
        known.encode(&mut bytes);
        bytes.extend([250, 3, b'x']);
        bytes.truncate(bytes.len() - 2);
        put_bytes(&mut bytes, b"xyz");
        known.encode(&mut bytes);
        let mut at = 0;
        assert_eq!(Definition::decode(&bytes, &mut at), Some(Some(known.clone())));
        assert_eq!(Definition::decode(&bytes, &mut at), Some(None));
        assert_eq!(Definition::decode(&bytes, &mut at), Some(Some(known)));
        assert_eq!(Definition::decode(&bytes, &mut at), None);
    }

    #[test]
    fn fields_that_were_added_later_stand_for_nothing() {
        let mut body = Vec::new();
        [3, 70, 1].into_iter().for_each(|number| put(&mut body, number));
        body.push(2);
        put(&mut body, 9);
        let mut bytes = vec![48];
        put_bytes(&mut bytes, &body);
        let idle =
            Definition::Idle { thread: 3, ticks: 70, by: 1, kind: 2, site: 9, since: 0, wait: u32::MAX };
        assert_eq!(Definition::decode(&bytes, &mut 0), Some(Some(idle)));
    }

    #[test]
    fn a_count_beyond_the_bytes_is_refused_before_anything_is_allocated() {
        let mut bytes = vec![7];
        let mut body = Vec::new();
        put(&mut body, 1);
        put(&mut body, u64::MAX >> 8);
        put_bytes(&mut bytes, &body);
        assert_eq!(Definition::decode(&bytes, &mut 0), Some(None));
    }
}
