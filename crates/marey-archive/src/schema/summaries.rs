//! Tables of sums, of the clocks, and of what went wrong.

use super::{ColumnSpec, Layout, TableSpec, TimeSpec, f64, growing, i64, text, u32};

const fn summary(name: &'static str, doc: &'static str, columns: &'static [ColumnSpec]) -> TableSpec {
    TableSpec { name, doc, columns, layout: Layout::Single, times: &[] }
}

/// Profile.
pub static PROFILE: TableSpec = summary(
    "profile",
    "Sums over all visits of a call path on a location, over the whole run: exact also where detail was \
     no longer recorded.",
    &[
        u32("call_path", "call_paths.id", "The call path."),
        u32("location", "locations.id", "Where."),
        i64("visits", "", "Number of visits."),
        i64("inclusive", "ns", "Sum of their durations."),
        i64("exclusive", "ns", "The same without time in call paths beneath."),
        i64("min", "ns", "Shortest visit; −1 = unknown."),
        i64("max", "ns", "Longest visit; −1 = unknown."),
        f64("sum_squares", "ns²", "Sum of the squares of the durations."),
        i64("bytes", "bytes", "Sum of the data moved."),
        i64(
            "untimed",
            "",
            "How many of the visits were counted only, for too many regions were open around them, or the same one \
             where there were too many call paths; \
             −1 = unknown. They add nothing to the times, which are of the others: a mean is \
             inclusive / (visits − untimed).",
        )
        .since(2),
    ],
);

/// Reduced.
pub static REDUCED: TableSpec = summary(
    "reduced",
    "Call paths of which visits were only counted from some time on, because recording each took more of the \
     processor time than the budget (`docs/governor.md`). They are in `profile` with the others: their number is \
     exact, their time that of visits of the same region which were timed at random meanwhile, and which are \
     intervals. Archives of older recorders have no such table.",
    &[
        u32("call_path", "call_paths.id", "The call path."),
        u32("location", "locations.id", "Where."),
        growing("since", "ns", "From when on they were only counted."),
        i64("visits", "", "How many were."),
        i64("timed", "", "Visits that the time is known from; 0 = it is that of visits before."),
        i64(
            "time",
            "ns",
            "What they took together, the clock taken off: a part of `inclusive` of `profile`.",
        ),
        i64("error", "ns", "In 19 of 20 runs the true time is no farther off; −1 = not known."),
        f64(
            "share",
            "",
            "What recording each visit had taken of its thread's processor time before, 0 to 1.",
        ),
    ],
);

/// Durations.
pub static DURATIONS: TableSpec = summary(
    "durations",
    "How long single visits took, by call path and location, over the whole run: a histogram of powers of two of \
     the clock's ticks, exact also where detail was no longer recorded. Unsuccessful polls that are one interval \
     are counted with the shortest, the longest, and the mean of the others. Archives of before version 4 have \
     no such table.",
    &[
        u32("call_path", "call_paths.id", "The call path."),
        u32("location", "locations.id", "Where."),
        i64(
            "ticks_log2",
            "",
            "⌊log₂(ticks from enter to leave)⌋; −1 = none at all; −2 = not known, visits that found no place in \
             the histogram.",
        ),
        i64("from", "ns", "The shortest durations that are counted here; −1 = not known."),
        i64("to", "ns", "Durations counted here are shorter. Both are rounded down; −1 = not known."),
        i64(
            "visits",
            "",
            "Number of visits; all rows of a call path are its visits − untimed, less those of `reduced`.",
        ),
    ],
);

/// Sizes.
pub static SIZES: TableSpec = summary(
    "sizes",
    "How much data single operations moved, by call path and location, over the whole run: a histogram of powers \
     of two. An operation is a message that is sent or received, a part in a collective (what was given and got \
     together), a one-sided operation or one on a file; their bytes are those of `profile`. Archives of before \
     version 4 have no such table.",
    &[
        u32("call_path", "call_paths.id", "The call path."),
        u32("location", "locations.id", "Where."),
        i64("size_log2", "", "⌊log₂(bytes of an operation)⌋; −1 = without data."),
        i64("operations", "", "Number of operations."),
    ],
);

/// Communication.
pub static COMMUNICATION: TableSpec = summary(
    "communication",
    "Sums over messages by sender, receiver, communicator and size.",
    &[
        u32("from_process", "processes.id", "The sender."),
        u32("to_process", "processes.id", "The receiver."),
        u32("communicator", "communicators.id", "The communicator."),
        i64(
            "size_log2",
            "",
            "⌊log₂(bytes of a message)⌋; −1 = messages without data, −2 = not known, messages that were only added up.",
        ),
        i64("messages", "", "Number of messages."),
        i64("bytes", "bytes", "Sum of their sizes."),
    ],
);

/// Accesses.
pub static ACCESSED: TableSpec = summary(
    "accessed",
    "Sums over `accesses` by place, array and where it lies. Since version 11.",
    &[
        u32("location", "locations.id", "Who made the calls."),
        u32("call_path", "call_paths.id", "Their call path; 4294967295 = unknown."),
        text("kind", "As in `accesses`."),
        u32("array", "arrays.id", "The array; 4294967295 = unknown."),
        i64("target", "", "Rank in its world of the process with which the elements lie; −1 = unknown."),
        u32("peer", "processes.id", "That process; 4294967295 = unknown."),
        i64("accesses", "", "How many."),
        i64("bytes", "bytes", "Data moved; of `make` and `free` the sizes of the arrays."),
        i64("time", "ns", "Time of the calls. One that reads an array and writes another counts for both."),
    ],
);

/// Mappings.
pub static MAPPINGS: TableSpec = summary(
    "mappings",
    "How what is said on one level was carried out on another: each region, and the nearest one above it on another level. \
     Since version 11.",
    &[
        u32("upper", "regions.id", "What was done."),
        u32("lower", "regions.id", "What was done for it, or within it."),
        text(
            "kind",
            "`explicit` if both do the same, by the role of their verbs: a transfer for a transfer; else `implicit`: it keeps \
             what the one above means, as a barrier within an allocation does.",
        ),
        i64("visits", "", "Visits of the lower one there."),
        i64("time", "ns", "Their exclusive time."),
    ],
);

/// Arrays in messages.
pub static ARRAY_MESSAGES: TableSpec = summary(
    "array_messages",
    "Sums over messages of which both ends are known, by what the buffers lie in, sender and receiver. Since version 11.",
    &[
        u32("send_noun", "nouns.id", "What the sender's buffer lies in; 4294967295 = no buffer."),
        u32("recv_noun", "nouns.id", "The same of the receiver's buffer."),
        u32("from_process", "processes.id", "The sender."),
        u32("to_process", "processes.id", "The receiver."),
        i64("messages", "", "Number of messages."),
        i64("bytes", "bytes", "Sum of their sizes."),
    ],
);

/// Histogram.
pub static HISTOGRAM: TableSpec = summary(
    "histogram",
    "Exclusive time by region, group of locations and equal bucket of the run. Cells below 0.1 % of their \
     bucket are added up in its remainder.",
    &[
        u32("region", "regions.id", "The region; 4294967295 = remainder of the bucket."),
        u32("group", "", "Number of the group of locations, as in the names of the parts."),
        u32("bucket", "", "Number of the bucket, from 0."),
        i64("time", "ns", "Exclusive time."),
    ],
);

/// Courses.
pub static COURSES: TableSpec = summary(
    "courses",
    "When the time passed of which there are only sums: exclusive time by call path, group of locations and equal \
     bucket of the run, the buckets of `histogram`, which contains it. Of all other time `intervals` tells. A recorder \
     keeps a few hundred buckets of its own for each call path of a thread, at most 1023 of them; in between time lies \
     evenly. Cells below 0.1 % of their bucket are added up in its remainder. Archives of before version 4 have no \
     such table.",
    &[
        u32("call_path", "call_paths.id", "The call path; 4294967295 = remainder of the bucket."),
        u32("group", "", "Number of the group of locations, as in the names of the parts."),
        u32("bucket", "", "Number of the bucket, from 0."),
        i64("time", "ns", "Exclusive time."),
    ],
);

/// Samples, added up.
pub static SAMPLED: TableSpec = summary(
    "sampled",
    "Where threads spent their processor time: periods by innermost open region, call stack and location, exact \
     however long the run. Since version 5.",
    &[
        u32("call_path", "call_paths.id", "The innermost open region; 4294967295 = outside of all."),
        u32("location", "locations.id", "Where."),
        u32("stack", "stacks.id", "The call stack, as in `samples`; 4294967295 = none."),
        i64("samples", "", "How many were taken: what the error of a share depends on."),
        i64(
            "periods",
            "",
            "Periods of processor time that had passed at them. Where the kernel looks at a thread's time only now \
             and then, a sample stands for several; what it has not told of when the thread ends counts where the \
             thread was seen last.",
        ),
        i64("time", "ns", "Processor time that they stand for."),
        u32(
            "complete",
            "",
            "1 = the stack goes up to the beginning of the thread; 0 = outer functions are missing.",
        ),
    ],
);

/// Counters read beside the time.
pub static COUNTED: TableSpec = summary(
    "counted",
    "What processors and the kernel counted for threads, by innermost open region, call stack and location, however \
     long the run. Counters are read when a region is entered or left, and at samples, and what is new belongs to \
     where the thread was: so the rows of a call path together are exact, and its rows with stacks tell, as an \
     estimate, in which functions it was. Since version 6.",
    &[
        u32("call_path", "call_paths.id", "The innermost open region; 4294967295 = outside of all."),
        u32("location", "locations.id", "Where."),
        u32("stack", "stacks.id", "The call stack of the sample that they were read at; 4294967295 = none."),
        u32("counter", "counter_kinds.id", "Which counter."),
        i64(
            "value",
            "",
            "What it counted, in its unit: if it was counted part of the time, scaled to all of it.",
        ),
        i64("readings", "", "Number of readings that found something new."),
    ],
);

/// How long counters counted.
pub static COUNTER_COVERAGE: TableSpec = summary(
    "counter_coverage",
    "How long counters of the processor counted: where more were asked for than it has registers, they took turns, \
     and what they say of short stretches is rough. Since version 6.",
    &[
        u32("location", "locations.id", "Where."),
        u32("counter", "counter_kinds.id", "Which counter."),
        i64("enabled", "ns", "Time of the thread in which it should have counted."),
        i64("running", "ns", "Time of it in which it did."),
    ],
);

/// Allocations.
pub static ALLOCATIONS: TableSpec = summary(
    "allocations",
    "What each call path has allocated of the heap of a process, in blocks of at least `heap.least` bytes: exact also \
     where the process was killed. The innermost region of a call path is the function that allocated, on the level \
     `memory`; its stack is that of the call. Bytes are those that were asked for. A block that `realloc` changes is \
     freed and allocated anew, by the path of `realloc`. A process that recorded no heap has no rows. Since version 6.",
    &[
        u32("call_path", "call_paths.id", "The call path; 4294967295 = not known."),
        u32("process", "processes.id", "Whose heap it is."),
        i64("blocks", "", "Blocks allocated."),
        i64("bytes", "bytes", "Their bytes."),
        i64("freed_blocks", "", "How many of these blocks have been freed, by whomever and wherever."),
        i64("freed_bytes", "bytes", "Their bytes. bytes − freed_bytes were there at the end."),
        i64(
            "peak",
            "bytes",
            "The most that there was at a time of the path's blocks; where the recorder counted them in several parts, \
             the most of one of these, or `at_peak`, if that is more.",
        ),
        i64(
            "at_peak",
            "bytes",
            "What there was of them when the process had most (`heap.peak`). The sum over a process is its peak, but \
             for blocks that several threads allocated or freed in that very instant.",
        ),
    ],
);

/// Heaps of processes.
pub static HEAP: TableSpec = summary(
    "heap",
    "The heap of each process of which it is recorded, all call paths together. Since version 6.",
    &[
        u32("process", "processes.id", "The process."),
        i64("least", "bytes", "Blocks of at least so many bytes are recorded."),
        i64("peak", "bytes", "The most that there was of them at a time."),
        growing("peak_time", "ns", "Until when that was there; −1 = at the end of the process."),
        i64("at_end", "bytes", "What there was of them at the end."),
        i64("lost_blocks", "", "Blocks that are not recorded, and in none of these numbers."),
        i64("lost_bytes", "bytes", "Their bytes."),
    ],
);

/// Level of detail.
pub static LOD: TableSpec = TableSpec {
    name: "lod",
    doc: "What a coarse picture of the timeline needs: for each location, level, depth within the level and \
          bucket of 2^resolution_log2 ns, the three regions that took most of it.",
    columns: &[
        u32("location", "locations.id", "Where."),
        u32("level", "levels.id", "The level."),
        u32("depth", "", "Depth within the level."),
        u32("resolution_log2", "", "log₂ of the length of the bucket in ns."),
        growing("bucket", "", "Number of the bucket: it begins at bucket × 2^resolution_log2 ns."),
        u32("region1", "regions.id", "The largest region; 4294967295 = none."),
        i64("time1", "ns", "Its time in the bucket."),
        u32("region2", "regions.id", "The second largest; 4294967295 = none."),
        i64("time2", "ns", "Its time in the bucket."),
        u32("region3", "regions.id", "The third largest; 4294967295 = none."),
        i64("time3", "ns", "Its time in the bucket."),
        i64("rest", "ns", "Time of all others in the bucket."),
    ],
    layout: Layout::Parts,
    times: &[TimeSpec { begin: "bucket", duration: None, bucket_log2: Some("resolution_log2") }],
};

/// Clocks.
pub static CLOCKS: TableSpec = summary(
    "clocks",
    "How each process's clock was turned into time since the start of the run.",
    &[
        u32("process", "processes.id", "The process."),
        text("kind", "`tsc`, `monotonic` or `skewed`."),
        i64("offset_ns", "ns", "Correction at the start of the process, against the clock of its node."),
        f64("drift_ppm", "ppm", "Correction of its speed."),
        i64("uncertainty_ns", "ns", "Bound on the remaining error, the largest of all times; −1 = unknown."),
        i64("ticks_origin", "ticks", "Reading of the clock at the first knot."),
        f64("ticks_per_second", "1/s", "Speed of the clock."),
        text(
            "knots",
            "JSON list of the first and the last [ticks, ns]; those in between are in `clock_knots`.",
        ),
        u32("clock", "", "Number of the clock: processes that share it have the same.").since(4),
    ],
);

/// Knots of clocks.
pub static CLOCK_KNOTS: TableSpec = summary(
    "clock_knots",
    "Readings of each process's clock and their times. Between two of them time is linear, as it is beyond the \
     first and the last, so readings can be recovered; one that is behind the knot before it by more than 8 ns \
     a tick is a step. Sorted by (process, ticks). Since version 4.",
    &[
        u32("process", "processes.id", "The process."),
        i64("ticks", "ticks", "Reading of the clock."),
        i64("time", "ns", "When that was, since the start of the run."),
        i64("uncertainty_ns", "ns", "Bound on the error of that time; linear in between. −1 = unknown."),
    ],
);

/// Regions open at the end.
pub static OPEN_AT_END: TableSpec = summary(
    "open_at_end",
    "Where threads were when their process ended: the regions that each of them was in. They are no problem, \
     and their intervals end with the process; a thread of which records are missing is not listed. \
     Sorted by (location, depth).",
    &[
        u32("location", "locations.id", "The thread."),
        u32("depth", "", "Number of intervals open on the location around it; the largest is the innermost."),
        u32("call_path", "call_paths.id", "The region and those above it."),
        growing("start", "ns", "When it was entered."),
    ],
);

/// Problems.
pub static PROBLEMS: TableSpec = summary(
    "problems",
    "Everything lost, unmatched, violated or truncated.",
    &[
        text("kind", "`lost`, `dropped`, `unmatched_sends`, `ambiguous`, `clock_violations`, `truncated` …"),
        u32("process", "processes.id", "Where; 4294967295 = the run as a whole."),
        u32("location", "locations.id", "Where; 4294967295 = the process as a whole."),
        i64("count", "", "How often."),
        text("detail", "What exactly, in words."),
    ],
);

/// Environment.
pub static ENVIRONMENT: TableSpec = summary(
    "environment",
    "Environment variables of an allow-list, as the processes saw them.",
    &[
        u32("process", "processes.id", "The process; 4294967295 = all alike."),
        text("name", "Name of the variable."),
        text("value", "Its value."),
    ],
);
