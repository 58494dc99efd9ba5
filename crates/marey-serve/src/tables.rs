//! What of a run answers are made of.
//!
//! The one idea: a page that holds its run holds what it can ask about and nothing else. So whoever lets an answer read
//! another table puts it here.
//!
//! What is deliberately absent: machine code, which is as much its owner's as sources are and was kept for who has the run.

/// The tables that answers are made of.
pub const TABLES: &[&str] = &[
    "levels",
    "regions",
    "processes",
    "locations",
    "modules",
    "stacks",
    "frames",
    "call_paths",
    "communicators",
    "counter_kinds",
    "counters",
    "intervals",
    "overlaps",
    "event_kinds",
    "events",
    "messages",
    "collectives",
    "profile",
    "reduced",
    "durations",
    "sizes",
    "communication",
    "histogram",
    "courses",
    "samples",
    "sampled",
    "counted",
    "counter_coverage",
    "allocations",
    "heap",
    "lod",
    "clocks",
    "clock_knots",
    "explanation",
    "waits",
    "completions",
    "delays",
    "delay_effects",
    "critical_path",
    "activities",
    "ideal_network",
    "source_modules",
    "source_files",
    "source_functions",
    "source_types",
    "source_members",
    "source_bases",
    "source_loops",
    "source_constructs",
    "source_calls",
    "source_texts",
    "remarks",
    "open_at_end",
    "problems",
];

/// What of them can be spared where a run is too large, what is missed least the first. Pictures are of buckets without
/// single visits, and have no lines without messages.
pub const SPARED: &[&[&str]] = &[&[], &["messages"], &["intervals"], &["intervals", "messages"]];
