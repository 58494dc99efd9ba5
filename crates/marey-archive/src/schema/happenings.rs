//! Tables of what happened when: the large ones, most of them in parts.

use super::{Layout, TableSpec, TimeSpec, f64, growing, i64, text, u32};

const fn at(begin: &'static str) -> TimeSpec {
    TimeSpec { begin, duration: None, bucket_log2: None }
}

/// Begin and duration, as most tables name them.
const SPAN: &[TimeSpec] = &[TimeSpec { begin: "start", duration: Some("duration"), bucket_log2: None }];

/// Intervals.
pub static INTERVALS: TableSpec = TableSpec {
    name: "intervals",
    doc: "One row per visit of a region on a location, or several visits in a row. Sorted by (location, start).",
    columns: &[
        u32("location", "locations.id", "Where."),
        growing("start", "ns", "When the region was entered."),
        i64("duration", "ns", "Time until it was left."),
        u32("call_path", "call_paths.id", "The region and those above it."),
        u32("depth", "", "Number of intervals open on the location around it."),
        u32("participants", "participants.id", "Further nouns of the sentence; 4294967295 = none."),
        i64("bytes", "bytes", "Data moved; −1 = not a matter of data."),
        u32(
            "visits",
            "",
            "Number of visits: 1, or more where unsuccessful polls of one call site that came one after the other \
             are one row; 4294967295 = 1.",
        )
        .since(3),
        i64(
            "gaps",
            "ns",
            "How much of the duration lies between those visits and so outside the region; −1 = nothing.",
        )
        .since(3),
    ],
    layout: Layout::Parts,
    times: SPAN,
};

/// Overlapping states.
pub static OVERLAPS: TableSpec = TableSpec {
    name: "overlaps",
    doc: "States that need not nest. Sorted by (location, start).",
    columns: &[
        u32("location", "locations.id", "Where."),
        growing("start", "ns", "When the state began."),
        i64("duration", "ns", "Time until it ended."),
        u32("region", "regions.id", "The state."),
        growing("latest_end", "ns", "Latest end of this and all earlier rows of the location in the part."),
    ],
    layout: Layout::Parts,
    times: SPAN,
};

/// Edges.
pub static EDGES: TableSpec = TableSpec {
    name: "edges",
    doc: "What happened before what, across locations; messages and collectives have their own tables.",
    columns: &[
        text(
            "kind",
            "`create`, `join`, `lock-hand-over`, `wake`, `barrier`, or of tasks `spawn` and `done`.",
        ),
        u32("from_location", "locations.id", "Where it comes from."),
        growing("from_time", "ns", "When it left there."),
        u32("to_location", "locations.id", "Where it leads."),
        growing("to_time", "ns", "When it arrived there."),
        u32("noun", "nouns.id", "What it is about (lock, barrier); 4294967295 = none."),
    ],
    layout: Layout::Parts,
    times: &[at("from_time"), at("to_time")],
};

/// Messages.
pub static MESSAGES: TableSpec = TableSpec {
    name: "messages",
    doc: "Messages with both ends. A message of which one end is unknown has none for all of that end: \
          one that was not matched, and both halves of one that could be paired in several ways (`ambiguous` in \
          `problems`).",
    columns: &[
        u32("send_location", "locations.id", "Who sent; 4294967295 = unknown."),
        growing("send_time", "ns", "Enter of the call that sent; −1 = unknown."),
        growing("send_end", "ns", "Leave of the call that completed the send; −1 = unknown."),
        u32("recv_location", "locations.id", "Who received; 4294967295 = unknown."),
        growing("recv_post", "ns", "Enter of the call that posted the receive; −1 = unknown."),
        growing("recv_start", "ns", "Enter of the call that completed the receive; −1 = unknown."),
        growing("recv_time", "ns", "Leave of that call; −1 = unknown."),
        i64("bytes", "bytes", "Size."),
        i64("tag", "", "Tag; −1 = unknown."),
        u32("communicator", "communicators.id", "Communicator; 4294967295 = unknown."),
        u32("send_datatype", "datatypes.id", "Datatype at the sender; 4294967295 = unknown."),
        u32("recv_datatype", "datatypes.id", "Datatype at the receiver; 4294967295 = unknown."),
        i64("send_buffer", "", "Where the sender's data begin: at the address of its buffer, unless the datatype says elsewhere; −1 = unknown."),
        i64("recv_buffer", "", "Where the receiver's data begin: at the address of its buffer, unless the datatype says elsewhere; −1 = unknown."),
        u32("send_path", "call_paths.id", "Call path of the sending call; 4294967295 = unknown."),
        u32("recv_path", "call_paths.id", "Call path of the completing call; 4294967295 = unknown."),
        growing(
            "send_start",
            "ns",
            "Enter of the call that completed the send; −1 = unknown: never, or on another thread.",
        )
        .since(7),
        u32("send_done_path", "call_paths.id", "Call path of that call; 4294967295 = unknown.").since(7),
        u32(
            "send_array",
            "arrays.id",
            "What the sender's buffer lies in; of the kind `other` where that is not known. 4294967295 = no buffer.",
        )
        .since(11),
        u32("recv_array", "arrays.id", "The same of the receiver's buffer.").since(11),
    ],
    layout: Layout::Parts,
    times: &[at("send_time"), at("send_end"), at("recv_post"), at("recv_time")],
};

/// Collectives.
pub static COLLECTIVES: TableSpec = TableSpec {
    name: "collectives",
    doc: "Collective operations; one row per member. Rows of one operation share communicator and instance.",
    columns: &[
        u32("communicator", "communicators.id", "The communicator."),
        u32("instance", "", "Number of the operation on its communicator, from 0."),
        u32("location", "locations.id", "The member."),
        growing("enter", "ns", "When the member entered the call that starts it."),
        growing("leave", "ns", "When the member left the call that completes it; −1 = never."),
        u32("call_path", "call_paths.id", "Call path of the starting call; 4294967295 = unknown."),
        i64("root", "", "Rank of the root; −1 = none."),
        i64("bytes_out", "bytes", "Data that the member contributed."),
        i64("bytes_in", "bytes", "Data that the member received."),
        growing(
            "start",
            "ns",
            "When the member entered the call that completes it; −1 = unknown: never, or on another thread.",
        )
        .since(7),
        u32("done_path", "call_paths.id", "Call path of that call; 4294967295 = unknown.").since(7),
        u32("array_out", "arrays.id", "What the data that the member contributed lie in; 4294967295 = none.")
            .since(11),
        u32("array_in", "arrays.id", "The same of those that it received.").since(11),
    ],
    layout: Layout::Single,
    times: &[at("enter"), at("leave")],
};

/// One-sided operations.
pub static RMA: TableSpec = TableSpec {
    name: "rma",
    doc: "One-sided operations and their synchronisation. A post has a row for each origin that it names, and a start one for \
          each target.",
    columns: &[
        u32("location", "locations.id", "Who made the call."),
        growing("time", "ns", "Enter of the call."),
        u32("call_path", "call_paths.id", "Its call path; 4294967295 = unknown."),
        text(
            "kind",
            "`put`, `get`, `accumulate`, `fence`, `exclusive-lock`, `shared-lock` (before version 8 both were `lock`), \
             `unlock`, `flush` …",
        ),
        u32("window", "nouns.id", "The window; 4294967295 = unknown."),
        i64(
            "target",
            "",
            "Rank of the target, of a post of an origin, in the window's communicator; −1 = none.",
        ),
        i64("bytes", "bytes", "Data moved; −1 = not a matter of data."),
        i64("displacement", "", "Displacement at the target, in its units; −1 = none."),
        growing("leave", "ns", "Leave of the call; −1 = unknown, also if a slab ended before.").since(7),
        u32("peer", "processes.id", "Process of that rank; 4294967295 = none, or it was not measured.")
            .since(8),
        u32("array", "arrays.id", "What the buffer of the origin lies in; 4294967295 = none.").since(11),
        u32(
            "target_array",
            "arrays.id",
            "The part of the window that is reached, with the target; 4294967295 = none, or not known.",
        )
        .since(11),
    ],
    layout: Layout::Parts,
    times: &[at("time")],
};

/// How calls act on data.
pub static ACCESSES: TableSpec = TableSpec {
    name: "accesses",
    doc: "How calls act on arrays, where the level that makes them knows: those of coarrays and of windows, say. A call that \
          reads one array and writes another has two rows. Since version 11.",
    columns: &[
        u32("location", "locations.id", "Who made the call."),
        growing("time", "ns", "Enter of the call."),
        u32("call_path", "call_paths.id", "Its call path; 4294967295 = unknown."),
        text("kind", "`read`, `write`, `update` (read and written as one), `make` or `free`."),
        u32(
            "array",
            "arrays.id",
            "The array; of a coarray that lies with another process the part that the caller has, of a window the part of \
             that process; 4294967295 = unknown.",
        ),
        i64("target", "", "Rank in its world of the process with which the elements lie; −1 = unknown."),
        u32("peer", "processes.id", "That process; 4294967295 = unknown."),
        i64("bytes", "bytes", "Data moved; of `make` and `free` the size of the array."),
        i64(
            "offset",
            "bytes",
            "Distance of the first element from the beginning of the array, of a window that of the displacement; −1 = \
             unknown.",
        ),
        u32(
            "shape",
            "shapes.id",
            "Which elements; 4294967295 = one, or unknown; of a window as many as `bytes` are, side by side.",
        ),
        growing(
            "leave",
            "ns",
            "Leave of the call; −1 = unknown. One that is over in a later slab stands there.",
        ),
    ],
    layout: Layout::Parts,
    times: &[at("time")],
};

/// Operations on files.
pub static IO: TableSpec = TableSpec {
    name: "io",
    doc: "Operations on files that succeeded, of MPI and of the C library. A call of MPI and the call of the C library \
          that it is made of are a row each, with call paths of their own levels: bytes are to be summed level by level.",
    columns: &[
        u32("location", "locations.id", "Where."),
        growing("time", "ns", "Enter of the call."),
        u32("call_path", "call_paths.id", "Its call path; 4294967295 = unknown."),
        text("kind", "`read`, `write`, `open`, `close`, `seek`, `sync` or `resize`."),
        u32("file", "nouns.id", "The file; 4294967295 = unknown."),
        i64("bytes", "bytes", "Data moved; −1 = not a matter of data."),
        i64("offset", "bytes", "Place in the file; −1 = not given."),
    ],
    layout: Layout::Parts,
    times: &[at("time")],
};

/// Samples.
pub static SAMPLES: TableSpec = TableSpec {
    name: "samples",
    doc: "Where a thread was whenever it had used another period of processor time, as long as events were kept; \
          `sampled` adds them up for the whole run. Sorted by (location, time). Since version 5.",
    columns: &[
        u32("location", "locations.id", "Where."),
        growing("time", "ns", "When."),
        u32("call_path", "call_paths.id", "The innermost open region; 4294967295 = outside of all."),
        u32(
            "stack",
            "stacks.id",
            "The call stack. Its innermost address, and that of a function which a signal of the program's had \
             interrupted, is the one behind that of the instruction, as if that had been a call. 4294967295 = none.",
        ),
        i64("periods", "", "How many periods had passed since the sample before."),
    ],
    layout: Layout::Parts,
    times: &[at("time")],
};

/// Values of counters.
pub static COUNTERS: TableSpec = TableSpec {
    name: "counters",
    doc: "Values that counters had: those of the program whenever it said so; those beside the time now and then, all \
          that they had counted on the location up to then. Sorted by (location, time).",
    columns: &[
        u32("location", "locations.id", "Where."),
        growing("time", "ns", "When the counter took the value."),
        u32("counter", "counter_kinds.id", "Which counter."),
        f64("value", "", "The value, in the counter's unit."),
    ],
    layout: Layout::Parts,
    times: &[at("time")],
};

/// Instant events.
pub static EVENTS: TableSpec = TableSpec {
    name: "events",
    doc: "Instant events and attributes. Sorted by (location, time).",
    columns: &[
        u32("location", "locations.id", "Where."),
        growing("time", "ns", "When."),
        u32("kind", "event_kinds.id", "What."),
        text("fields", "Its fields as one JSON object."),
    ],
    layout: Layout::Parts,
    times: &[at("time")],
};

/// Snapshots.
pub static SNAPSHOTS: TableSpec = TableSpec {
    name: "snapshots",
    doc: "Per slab of time and location, the intervals that were open at its start: an interval that began \
          before a window is found as fast as one that begins in it.",
    columns: &[
        u32("slab", "", "Number of the slab, as in the names of the parts."),
        u32("location", "locations.id", "Where."),
        growing("start", "ns", "When the region was entered."),
        i64("duration", "ns", "Time until it was left."),
        u32("call_path", "call_paths.id", "The region and those above it."),
        u32("depth", "", "Number of intervals open on the location around it."),
    ],
    layout: Layout::Single,
    times: SPAN,
};
