//! What becomes of a run in CLOG-2, and what not.

use super::super::Line;

const LINES: &[Line] = &[
    (
        "visit of a region",
        "BAREEVT of the two events of a STATEDEF, with a colour by its role",
        "level, place, bytes, call stacks",
    ),
    ("several visits in vain in a row", "one state", "how many they were"),
    ("state that overlaps others", "", "all of it"),
    (
        "message",
        "MSGEVT at both ends, on its communicator or, between two groups, on the world",
        "messages of which one end is not known; tags and sizes beyond 31 bits; the partner's thread",
    ),
    ("edge", "", "all of it"),
    (
        "part in a collective",
        "COLLEVT behind the enter of the call: communicator, root and the bytes that it contributed",
        "the bytes that it received; the operation's number; those between two groups",
    ),
    ("communicator", "COMMEVT of each member, and the table at the end", "names; those between two groups"),
    ("event", "CARGOEVT of an EVENTDEF; its fields are a text", "the end of what is longer than 30 bytes"),
    ("value of a counter", "CARGOEVT with a number of 64 bits", "units; read back, it is an event"),
    ("peak of a heap", "CARGOEVT of the name `heap peak`", "read back, it is an event"),
    (
        "process, location",
        "its rank, or its number from 0 on if one has no rank in the first world; the number of a thread in its process; the host",
        "names of threads; read back, all processes are ranks",
    ),
    (
        "names",
        "control characters as `\\n`, `\\u{1b}` …; what is longer than 31 bytes is cut, and has `~2` … at its end where another is cut alike; `-` if there is nothing",
        "the end of long names",
    ),
    ("date, command line, title", "", "all of it"),
];

pub(in crate::write) fn document() -> (&'static str, &'static str, &'static [Line]) {
    let intro = "Version 2.44, finished, big-endian, in blocks of 64 KiB; in the order of time, in seconds as 64-bit numbers, which \
                 are exact to 1 ns for some fifty days.";
    ("CLOG-2", intro, LINES)
}
