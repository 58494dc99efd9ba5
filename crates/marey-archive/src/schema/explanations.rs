//! Tables of what explains a run as a whole, found by the merge when all others were there.

use super::{Layout, TableSpec, TimeSpec, f64, growing, i64, text, u32};

const ACTIVITY: &str =
    "What it did: `region`, `outside` of all recorded calls, or `not started` (also: ended).";
const ACTIVITY_PATH: &str = "In which region, innermost; 4294967295 = none.";

/// What there is to say once.
pub static EXPLANATION: TableSpec = TableSpec {
    name: "explanation",
    doc: "One row if the run was explained when it was merged: then the seven tables behind this one are about the \
          whole run, as it was merged. Without it, or by another version, waits and causes are found when they are \
          asked for. Archives of before version 8 have none of these tables.",
    columns: &[
        i64("version", "", "Version of the definitions (`docs/wait-states.md`) that were followed."),
        i64("from", "ns", "Begin of what is explained."),
        i64("to", "ns", "End of what is explained."),
        i64("unlisted_waits", "", "Waits that are too many to be listed: the shortest."),
        i64("unlisted_time", "ns", "How long they are together."),
        i64("unlisted_longest", "ns", "None of them is longer."),
        f64("unexplained", "ns", "Waiting of which no cause was found."),
        i64("before_path", "ns", "Time before the first row of `critical_path`."),
    ],
    layout: Layout::Single,
    times: &[],
};

/// Waits.
pub static WAITS: TableSpec = TableSpec {
    name: "waits",
    doc: "Who could not go on because of whom. Sorted by (location, start); those of one location do not overlap.",
    columns: &[
        u32("location", "locations.id", "Who waited."),
        growing("start", "ns", "When the waiting call began."),
        i64("duration", "ns", "Time until what was waited for happened, or the call was over."),
        u32("call_path", "call_paths.id", "The waiting call; 4294967295 = unknown."),
        text("pattern", "What was waited for: `late sender`, `wait at barrier` …"),
        u32("cause", "locations.id", "Who was waited for."),
        u32(
            "in_vain",
            "",
            "1 = polls that were over before what was waited for happened, after which the location went on with \
             something else; 0 = any other wait. 4294967295 = 0.",
        )
        .since(9),
        u32(
            "communicator",
            "communicators.id",
            "That of the message or collective operation that was waited for; 4294967295 = none, or not known.",
        )
        .since(9),
    ],
    layout: Layout::Single,
    times: &[TimeSpec { begin: "start", duration: Some("duration"), bucket_log2: None }],
};

/// Completion of operations.
pub static COMPLETIONS: TableSpec = TableSpec {
    name: "completions",
    doc: "Time in calls of barriers and all-to-all operations after the first member had left.",
    columns: &[
        u32("call_path", "call_paths.id", "The call; 4294967295 = unknown."),
        u32("location", "locations.id", "Where."),
        i64("time", "ns", "How long."),
    ],
    layout: Layout::Single,
    times: &[],
};

/// Delay costs.
pub static DELAYS: TableSpec = TableSpec {
    name: "delays",
    doc: "Delay costs: what locations did that others waited for.",
    columns: &[
        u32("location", "locations.id", "Who."),
        text("activity", ACTIVITY),
        u32("call_path", "call_paths.id", ACTIVITY_PATH),
        f64("short_term", "ns", "Waiting for it."),
        f64("long_term", "ns", "Waiting for those who had waited for it."),
    ],
    layout: Layout::Single,
    times: &[],
};

/// Short-term costs by the waits that they are of.
pub static DELAY_EFFECTS: TableSpec = TableSpec {
    name: "delay_effects",
    doc: "The short-term costs of `delays` by the waits that they are of.",
    columns: &[
        u32("cause", "locations.id", "Who caused them."),
        text("activity", ACTIVITY),
        u32("cause_path", "call_paths.id", ACTIVITY_PATH),
        text("pattern", "What was waited for, as in `waits`."),
        u32("call_path", "call_paths.id", "In which call; 4294967295 = unknown."),
        u32("location", "locations.id", "By whom."),
        f64("cost", "ns", "How long."),
        f64("lengths", "ns²", "The lengths of the waits, each times what of it falls to this."),
        f64(
            "clock_bars",
            "ns²",
            "How far the clocks of both may be apart at the end of each wait, times the same; infinite = nobody knows.",
        ),
        i64("from", "ns", "Begin of the first of these waits."),
        i64("to", "ns", "End of the last."),
    ],
    layout: Layout::Single,
    times: &[],
};

/// The critical path.
pub static CRITICAL_PATH: TableSpec = TableSpec {
    name: "critical_path",
    doc: "The critical path, one span behind the other: whatever is faster on it makes the run shorter.",
    columns: &[
        u32("location", "locations.id", "Where."),
        growing("start", "ns", "From when on."),
        i64("duration", "ns", "How long."),
    ],
    layout: Layout::Single,
    times: &[TimeSpec { begin: "start", duration: Some("duration"), bucket_log2: None }],
};

/// The time of locations.
pub static ACTIVITIES: TableSpec = TableSpec {
    name: "activities",
    doc: "What locations did with their time: the rows of one add up to the length of the run.",
    columns: &[
        u32("location", "locations.id", "Who."),
        text("activity", ACTIVITY),
        u32("call_path", "call_paths.id", ACTIVITY_PATH),
        i64("time", "ns", "How long, without what it waited."),
        i64("waiting", "ns", "How long it waited meanwhile."),
        i64("on_path", "ns", "How much of both was on the critical path."),
        i64("path_from", "ns", "The first instant of that; 0 if there is none."),
        i64("path_to", "ns", "The last."),
    ],
    layout: Layout::Single,
    times: &[],
};

/// Ends with an ideal network.
pub static IDEAL_NETWORK: TableSpec = TableSpec {
    name: "ideal_network",
    doc: "When locations would begin and end if the network, or all that parallel libraries do but wait, cost nothing: \
          a row for each, in their order.",
    columns: &[
        u32("location", "locations.id", "Who."),
        i64(
            "from",
            "ns",
            "When it would come to the begin of what is explained, with a network that costs nothing.",
        ),
        i64("to", "ns", "When it would come to its end."),
        i64("bare_from", "ns", "When it would come to the begin if setting up cost nothing either."),
        i64("bare_to", "ns", "When it would come to its end then."),
    ],
    layout: Layout::Single,
    times: &[],
};

/// What compilers said.
pub static REMARKS: TableSpec = TableSpec {
    name: "remarks",
    doc: "What compilers said of loops and of calls in the program that ran, if records of theirs were found when the run was \
          merged, and loops of the same sources of which they said nothing. Sorted by (file, first_line, last_line, line). \
          Each row repeats what is known of the loop.",
    columns: &[
        i64("version", "", "Version of what the other columns mean; rows of another one are passed over."),
        text("file", "Source file, as in `frames`."),
        u32("first_line", "", "First line of the innermost loop around it; 0 = it lies in none."),
        u32("last_line", "", "Last line of that loop."),
        u32(
            "is_read",
            "",
            "1 = the loop is one of the text; 0 = it is none: the line of a remark whose source could not be read, or a function \
             whose iterators are the loop.",
        ),
        text("function", "The function, as its author wrote it; else as the compiler names it."),
        text(
            "outcome",
            "What became of the loop: `vectorised`, `vectorised in part` (one copy of it was, another not), `a call of the \
             library now`, `statements vectorised`, `not vectorised` or `nothing said`.",
        ),
        text(
            "kind",
            "What the remark says: `vectorised`, `not vectorised`, `statements`, `replaced`, `inlined` or `not inlined`; empty \
             = the row is a loop without remarks.",
        ),
        u32("line", "", "Line of the remark."),
        u32("column", "", "Its column; 0 = not told."),
        text("compiler", "`GCC`, `Clang` or `rustc`."),
        text("pass", "The part of the compiler that says it."),
        text("reason", "Why, in plain words; empty = not told."),
        text("said", "The compiler's own words."),
        text(
            "dependence",
            "What keeps iterations in order: `carried` by memory, a `value`, `unknown` where the compiler cannot tell; empty = \
             it names none.",
        ),
        i64("distance", "", "Iterations between the two; −1 = not told."),
        text("array", "The array between whose elements that is; empty = not known."),
        u32("is_array_of_text", "", "1 = the array was taken from the text, for the compiler names none."),
        u32("lanes", "", "Elements in the widest vector that the compiler has for the loop; 0 = not told."),
        text("callee", "Who is called, of calls."),
        text("inlined_into", "Into which functions the code was put; empty = it is where it was written."),
    ],
    layout: Layout::Single,
    times: &[],
};
