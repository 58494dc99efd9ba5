//! What tables an archive has, and what each column of them means.
//!
//! The one idea: the tables are data. The writer, the reader, the checks and `docs/archive.md` all
//! follow the same [`TableSpec`]s, so none of them can disagree with another.
//!
//! What is deliberately absent: rows, files and Parquet. No column is nullable; where a value can
//! be missing, −1 (signed) or [`NONE`] (unsigned) stands for it and the column's text says so.

mod definitions;
mod document;
mod explanations;
mod happenings;
mod source;
mod summaries;

pub use definitions::*;
pub use document::document;
pub use explanations::*;
pub use happenings::*;
pub use source::*;
pub use summaries::*;

/// The version of the schema that this crate writes; it stands in `meta.json`.
pub const SCHEMA_VERSION: u32 = 11;

/// Stands in an unsigned column for "there is none".
pub const NONE: u32 = u32::MAX;

/// One table of the archive.
#[derive(Debug)]
pub struct TableSpec {
    /// Name of the table, and of its file or directory.
    pub name: &'static str,
    /// What a row is; one or more sentences.
    pub doc: &'static str,
    /// Its columns, in the order in which they are stored.
    pub columns: &'static [ColumnSpec],
    /// How its rows are spread over files.
    pub layout: Layout,
    /// Which columns say when a row happened; empty where rows have no time.
    pub times: &'static [TimeSpec],
}

/// One column of a table.
#[derive(Debug)]
pub struct ColumnSpec {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Its unit: `ns`, `bytes`, `id` …; empty for texts and plain numbers.
    pub unit: &'static str,
    /// What it means, and what stands for a missing value.
    pub doc: &'static str,
    /// Its values mostly grow a little from row to row.
    pub grows: bool,
    /// The first version of the schema that has it. In archives of earlier ones its values are
    /// missing, for which the usual numbers stand: −1, [`NONE`], not a number, the empty text.
    pub since: u32,
}

impl ColumnSpec {
    /// The same column, added by this version of the schema.
    const fn since(self, version: u32) -> Self {
        Self { since: version, ..self }
    }
}

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// 64-bit float.
    F64,
    /// UTF-8 text.
    Text,
}

impl Kind {
    /// The name used in the documentation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::F64 => "f64",
            Self::Text => "text",
        }
    }
}

/// How the rows of a table are spread over files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// One file, `NAME.parquet`.
    Single,
    /// A directory `NAME/` of parts, one per time slab and group of locations.
    Parts,
}

/// Where a row's time stands.
#[derive(Debug)]
pub struct TimeSpec {
    /// Column with the begin, ns since the start of the run. Negative means "none".
    pub begin: &'static str,
    /// Column with the duration, ns, if a row takes time.
    pub duration: Option<&'static str>,
    /// Column with log₂ of the length of a bucket, ns, if rows are about buckets; the begin is the number of one then.
    pub bucket_log2: Option<&'static str>,
}

impl TableSpec {
    /// The place of a column in the table.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Where a part of the table lies, relative to the archive. Slab and group do not matter for a
    /// table that is one file.
    pub fn file(&self, slab: u32, group: u32) -> String {
        match self.layout {
            Layout::Single => format!("{}.parquet", self.name),
            Layout::Parts => format!("{}/s{slab:06}-g{group:05}.parquet", self.name),
        }
    }
}

/// All tables, in the order in which the documentation lists them.
pub static TABLES: [&TableSpec; 75] = [
    &LEVELS,
    &NOUNS,
    &VERBS,
    &REGIONS,
    &ARRAYS,
    &SHAPES,
    &PARTICIPANTS,
    &PROCESSES,
    &LOCATIONS,
    &MODULES,
    &STACKS,
    &FRAMES,
    &CALL_PATHS,
    &COMMUNICATORS,
    &DATATYPES,
    &COUNTER_KINDS,
    &EVENT_KINDS,
    &INTERVALS,
    &OVERLAPS,
    &EDGES,
    &MESSAGES,
    &COLLECTIVES,
    &RMA,
    &ACCESSES,
    &IO,
    &SAMPLES,
    &COUNTERS,
    &EVENTS,
    &SNAPSHOTS,
    &PROFILE,
    &REDUCED,
    &DURATIONS,
    &SIZES,
    &COMMUNICATION,
    &ACCESSED,
    &ARRAY_MESSAGES,
    &MAPPINGS,
    &HISTOGRAM,
    &COURSES,
    &SAMPLED,
    &COUNTED,
    &COUNTER_COVERAGE,
    &ALLOCATIONS,
    &HEAP,
    &LOD,
    &CLOCKS,
    &CLOCK_KNOTS,
    &EXPLANATION,
    &WAITS,
    &COMPLETIONS,
    &DELAYS,
    &DELAY_EFFECTS,
    &CRITICAL_PATH,
    &ACTIVITIES,
    &IDEAL_NETWORK,
    &REMARKS,
    &SOURCE_MODULES,
    &SOURCE_FILES,
    &SOURCE_FUNCTIONS,
    &SOURCE_TYPES,
    &SOURCE_MEMBERS,
    &SOURCE_BASES,
    &SOURCE_LOOPS,
    &SOURCE_CONSTRUCTS,
    &SOURCE_REFERENCES,
    &SOURCE_DEPENDENCES,
    &SOURCE_SYMBOLS,
    &SYMBOLS,
    &SOURCE_CALLS,
    &SOURCE_TEXTS,
    &SOURCE_CODES,
    &SOURCE_INSTRUCTIONS,
    &OPEN_AT_END,
    &PROBLEMS,
    &ENVIRONMENT,
];

/// The table of a name.
pub fn table(name: &str) -> Option<&'static TableSpec> {
    TABLES.iter().copied().find(|table| table.name == name)
}

/// An unsigned column.
const fn u32(name: &'static str, unit: &'static str, doc: &'static str) -> ColumnSpec {
    ColumnSpec { name, kind: Kind::U32, unit, doc, grows: false, since: 1 }
}

/// A signed column.
const fn i64(name: &'static str, unit: &'static str, doc: &'static str) -> ColumnSpec {
    ColumnSpec { name, kind: Kind::I64, unit, doc, grows: false, since: 1 }
}

/// A signed column that grows from row to row.
const fn growing(name: &'static str, unit: &'static str, doc: &'static str) -> ColumnSpec {
    ColumnSpec { name, kind: Kind::I64, unit, doc, grows: true, since: 1 }
}

/// A column of floats.
const fn f64(name: &'static str, unit: &'static str, doc: &'static str) -> ColumnSpec {
    ColumnSpec { name, kind: Kind::F64, unit, doc, grows: false, since: 1 }
}

/// A column of texts.
const fn text(name: &'static str, doc: &'static str) -> ColumnSpec {
    ColumnSpec { name, kind: Kind::Text, unit: "", doc, grows: false, since: 1 }
}
