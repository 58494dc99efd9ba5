//! What becomes of a run in ALOG, and what not.

use super::super::Line;

const LINES: &[Line] = &[
    (
        "visit of a region",
        "the two events of a state, with a colour by its role",
        "level, place, bytes, call stacks; what is shorter than 1 µs",
    ),
    ("several visits in vain in a row", "one state", "how many they were"),
    ("state that overlaps others", "", "all of it"),
    (
        "message",
        "-101 and -102: partner, tag and size",
        "the communicator, the partner's thread; messages of which one end is not known; read back, which of several with one tag is which, where threads overtake each other",
    ),
    ("edge", "", "all of it"),
    (
        "part in a collective",
        "an event `collective`, its number as data; communicator, root and bytes as its comment",
        "read back, it is an event",
    ),
    (
        "event",
        "an event; its fields are the comment, and its data if they are one whole number",
        "the end of what is longer than 880 bytes",
    ),
    (
        "value of a counter",
        "an event; the value is its data, and its comment if it has a fraction",
        "units; read back, it is an event",
    ),
    ("peak of a heap", "an event `heap peak`", "read back, it is an event"),
    (
        "process, location",
        "process: its rank, or its number from 0 on if one has no rank in the first world; then -15 has its name. Task: the number of a thread in its process",
        "nodes, names of threads; read back, all processes are ranks",
    ),
    (
        "names",
        "control characters as `\\n`, `\\u{1b}` …; of events `'` instead of `\"`; `-` if there is nothing",
        "the end of what is longer than 880 bytes; read back, blanks and `()` at the end",
    ),
    ("date, command line, title", "comments at the begin", "read back, all of it"),
];

pub(in crate::write) fn document() -> (&'static str, &'static str, &'static [Line]) {
    let intro =
        "One text, in the order of time, in whole µs, rounded down. Times before the begin of the run are 0.";
    ("ALOG", intro, LINES)
}
