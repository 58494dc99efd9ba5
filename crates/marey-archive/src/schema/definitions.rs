//! Tables of definitions: what the ids in the other tables stand for.

use super::{ColumnSpec, Layout, TableSpec, growing, i64, text, u32};

const fn definitions(name: &'static str, doc: &'static str, columns: &'static [ColumnSpec]) -> TableSpec {
    TableSpec { name, doc, columns, layout: Layout::Single, times: &[] }
}

/// Levels of abstraction.
pub static LEVELS: TableSpec = definitions(
    "levels",
    "Levels of abstraction that verbs and nouns belong to.",
    &[
        u32("id", "id", "The level."),
        text("name", "`source`, `mpi`, `threads` …"),
        text("tier", "Where it stands: `source`, `model`, `runtime` or `node`."),
        text("built_on", "Names of the levels it is built on, separated by commas."),
    ],
);

/// Nouns.
pub static NOUNS: TableSpec = definitions(
    "nouns",
    "Things that verbs are done by or to: functions, loops, arrays, communicators, locks, files.",
    &[
        u32("id", "id", "The noun."),
        u32("level", "levels.id", "The level it belongs to."),
        text("kind", "`function`, `communicator`, `lock`, `file` …"),
        text("name", "Its name as the program or library gives it."),
        u32("parent", "nouns.id", "The noun it is part of; 4294967295 = none."),
        text("file", "Source file of its definition; empty = unknown."),
        u32("line", "", "Source line of its definition; 0 = unknown."),
    ],
);

/// Verbs.
pub static VERBS: TableSpec = definitions(
    "verbs",
    "What can be done on a level.",
    &[
        u32("id", "id", "The verb."),
        u32("level", "levels.id", "The level it belongs to."),
        text("name", "Its name; for MPI calls the C name such as `MPI_Send`."),
        text(
            "role",
            "What analysis knows of it: `work`, `transfer`, `wait`, `acquire`, `release`, `create`, `start`, \
             `end`, `barrier`, `all-to-all`, `one-to-all`, `all-to-one`, `manage` or `io`.",
        ),
    ],
);

/// Regions.
pub static REGIONS: TableSpec = definitions(
    "regions",
    "A region is a verb with its principal noun: what a profile has one row for.",
    &[
        u32("id", "id", "The region."),
        text("level", "Name of its level."),
        text("verb", "Name of its verb."),
        text("noun", "Name of its noun; empty = none."),
        text("role", "Role of its verb."),
        u32("level_id", "levels.id", "Its level."),
        u32("verb_id", "verbs.id", "Its verb."),
        u32("noun_id", "nouns.id", "Its noun; 4294967295 = none."),
        text("file", "Source file of the region; empty = unknown."),
        u32("line", "", "Source line of the region; 0 = unknown."),
    ],
);

/// Arrays.
pub static ARRAYS: TableSpec = TableSpec {
    name: "arrays",
    doc: "Arrays, variables and blocks of memory that calls act on; one row per process and time that it was made. \
          Since version 11.",
    columns: &[
        u32("id", "id", "The instance."),
        u32("noun", "nouns.id", "What it is called; the same in all processes."),
        u32("process", "processes.id", "The process that has it."),
        text(
            "kind",
            "`coarray`, `variable`, `block` (of the heap), `frame` (of a stack), `view` (of Kokkos), \
             `window` (of one-sided communication, what a process gave to it or attached) or `other`.",
        ),
        i64("address", "", "Where it begins in the memory of the process."),
        i64("bytes", "bytes", "Its size."),
        i64("element_bytes", "bytes", "Size of an element, of a window the displacement unit; −1 = unknown."),
        text("element", "Type of an element; empty = unknown."),
        text(
            "bounds",
            "Lower and upper bound of each dimension, `1:10,0:3`, the first that of elements that lie side by side; of a \
             window its displacements; empty = none, or unknown.",
        ),
        i64("from", "ns", "Since when it was there."),
        i64("until", "ns", "When it was given back; −1 = never."),
        u32("stack", "stacks.id", "Call stack that made it; 4294967295 = unknown."),
    ],
    layout: Layout::Single,
    times: &[],
};

/// Shapes.
pub static SHAPES: TableSpec = TableSpec {
    name: "shapes",
    doc: "Which elements of an array an access means; one row per dimension. Since version 11.",
    columns: &[
        u32("id", "id", "The shape."),
        u32("dimension", "", "Number of the dimension, from 0, that of elements that lie side by side."),
        text(
            "kind",
            "`elements`: from the offset of the access on, `stride` elements of memory apart. `subscripts`: from `start` \
             on by `stride`, as the source counts. `vector`: by a list of subscripts from `start` to `stride`. `bytes`: from the offset of the \
             access on, `stride` bytes apart. `untold`: which is not known.",
        ),
        i64("start", "", "First subscript; 0 for `elements` and `bytes`."),
        i64("stride", "", "Distance of one from the next."),
        i64("count", "", "How many."),
    ],
    layout: Layout::Single,
    times: &[],
};

/// Participants.
pub static PARTICIPANTS: TableSpec = definitions(
    "participants",
    "Sets of further nouns that take part in a sentence; one row per member.",
    &[u32("id", "id", "The set."), u32("noun", "nouns.id", "A member of the set.")],
);

/// Processes.
pub static PROCESSES: TableSpec = definitions(
    "processes",
    "Measured processes.",
    &[
        u32("id", "id", "The process."),
        text("host", "Name of the node it ran on."),
        u32("pid", "", "Process id of the operating system."),
        u32("world", "", "Number of its MPI_COMM_WORLD: 0 the first, others from MPI_Comm_spawn."),
        i64("rank", "", "Rank in that world; −1 = not an MPI process."),
        i64("world_size", "", "Number of processes in that world; −1 = not an MPI process."),
        text("command", "Command line."),
        text("executable", "Path of the executable."),
        growing("start", "ns", "First instant of measurement."),
        growing("end", "ns", "Last instant of measurement."),
        text(
            "outcome",
            "How it ended: `finished`, `exited`, `aborted`, `still running when the recording ended` …",
        ),
        i64(
            "exit_code",
            "",
            "Exit status, 0 to 255; of `MPI_Abort` the error code that was given; −1 = none or unknown.",
        ),
        text("library", "Version of its MPI library; empty = none."),
        text("thread_level", "`single`, `funneled`, `serialized` or `multiple`; empty = no MPI."),
        i64(
            "record_bytes",
            "bytes",
            "Size of all that its threads recorded, what was only added up too; −1 = unknown.",
        )
        .since(3),
        i64(
            "peak_memory",
            "bytes",
            "Most of it that was in memory at a time, the recorder's part included, as the kernel counts it; −1 = unknown, \
             as are the following of a process that could not say so before it ended.",
        )
        .since(5),
        i64("user_time", "ns", "Processor time of all its threads in the program.").since(5),
        i64("system_time", "ns", "Processor time of all its threads in the kernel.").since(5),
        i64("major_faults", "", "Pages that had to be read from a disk when they were used.").since(5),
        i64("waits", "", "How often one of its threads gave its processor away, because it had to wait.").since(5),
        i64("preemptions", "", "How often a processor was taken from one of its threads.").since(5),
    ],
);

/// Locations.
pub static LOCATIONS: TableSpec = definitions(
    "locations",
    "Where things happen: a thread, or a lane (a place that is not a thread: task, asynchronous span).",
    &[
        u32("id", "id", "The location."),
        u32("process", "processes.id", "The process it belongs to."),
        text("name", "Its name."),
        text("kind", "`thread` or `lane`."),
        u32("thread", "", "Number of the thread in its process, from 0 in the order of appearance."),
        i64("os_thread", "", "Thread id of the operating system; −1 = none."),
        text("host", "Name of the node."),
        u32("world", "", "World of its process."),
        i64("rank", "", "Rank of its process in that world; −1 = not an MPI process."),
        growing("start", "ns", "First instant of measurement."),
        i64(
            "end",
            "ns",
            "Last instant of measurement; of a thread that did not end before its process, the end of the process, \
             unless records of it are missing.",
        ),
        i64(
            "detail_end",
            "ns",
            "Since when visits and messages of it were only added up; −1 = all that was recorded is there.",
        )
        .since(3),
    ],
);

/// Modules.
pub static MODULES: TableSpec = definitions(
    "modules",
    "Executables and shared libraries that call stacks lead through.",
    &[
        u32("id", "id", "The module."),
        text("path", "Where it was loaded from."),
        text("build_id", "Build id as hexadecimal digits; empty = none."),
    ],
);

/// Stacks.
pub static STACKS: TableSpec = definitions(
    "stacks",
    "User call stacks of regions; one row per frame.",
    &[
        u32("id", "id", "The stack."),
        u32("frame", "", "Place in the stack: 0 is the innermost frame."),
        u32("module", "modules.id", "The module that the address lies in; 4294967295 = none."),
        growing("vaddr", "", "Virtual address of the call within the module as linked."),
    ],
);

/// Frames.
pub static FRAMES: TableSpec = definitions(
    "frames",
    "What the addresses in `stacks` mean in the source; one row per function inlined there.",
    &[
        u32("module", "modules.id", "The module."),
        growing("vaddr", "", "The address, as in `stacks`."),
        u32("inline_depth", "", "0 is the innermost inlined function, the last is the real one."),
        text("function", "Name of the function, demangled; empty = unknown."),
        text("file", "Source file of the call; empty = unknown."),
        u32("line", "", "Source line of the call; 0 = unknown."),
        text(
            "quality",
            "Where it is known from: `lines` (debug information), `symbol` (name only) or `none`.",
        ),
    ],
);

/// Call paths.
pub static CALL_PATHS: TableSpec = definitions(
    "call_paths",
    "The tree of regions: a call path is a region, called from a place, beneath another call path.",
    &[
        u32("id", "id", "The call path. A parent has a smaller id than its children."),
        u32("parent", "call_paths.id", "The call path above it; 4294967295 = none."),
        u32("region", "regions.id", "Its region."),
        u32("stack", "stacks.id", "User call stack from which the region was entered; 4294967295 = none."),
        u32("depth", "", "Number of call paths above it."),
        u32("level", "levels.id", "Level of its region."),
        u32("depth_in_level", "", "Number of call paths above it that have the same level."),
    ],
);

/// Communicators.
pub static COMMUNICATORS: TableSpec = definitions(
    "communicators",
    "Communicators of the run, each once however many processes share it.",
    &[
        u32("id", "id", "The communicator."),
        text("name", "Its name; `MPI_COMM_WORLD` or as the program set it."),
        u32("size", "", "Number of processes in it; of an intercommunicator, in both groups."),
        u32("parent", "communicators.id", "The communicator it was made from; 4294967295 = none."),
        text("kind", "`intra` or `inter`."),
        text(
            "members",
            "Ids of its processes in the order of their ranks: `0-3,7`; groups separated by `|`.",
        ),
    ],
);

/// Datatypes.
pub static DATATYPES: TableSpec = definitions(
    "datatypes",
    "Datatypes that messages were made of.",
    &[
        u32("id", "id", "The datatype."),
        text("name", "Its name."),
        i64("size", "bytes", "Size of one element; −1 = unknown."),
    ],
);

/// Kinds of counters.
pub static COUNTER_KINDS: TableSpec = definitions(
    "counter_kinds",
    "Counters that the program defined, and those that were read beside the time.",
    &[
        u32("id", "id", "The counter."),
        text("name", "Its name; of those that were read beside the time as in `perf list`."),
        text("unit", "Unit of its values; empty = events."),
        text(
            "source",
            "`program`, `hardware` (the processor) or `kernel`. Of the latter two `counted` tells what they counted \
             where. Empty = `program`.",
        )
        .since(6),
    ],
);

/// Kinds of events.
pub static EVENT_KINDS: TableSpec = definitions(
    "event_kinds",
    "Kinds of instant events and attributes that the program defined.",
    &[
        u32("id", "id", "The kind."),
        text("name", "Its name."),
        text("kind", "`event` (an instant) or `attribute` (belongs to the interval around it)."),
        text("field_names", "Names of its fields, separated by commas."),
        text("field_types", "Types of its fields, in the same order: `i64`, `u64`, `f64`, `text`."),
    ],
);
