//! What the program consists of, on the wire: sources with what their lines cost, types, and who calls whom.
//!
//! The one idea: a page asks for a file, a type or the callees of one function at a time, so that a program of a million lines
//! costs what is seen of it. Files, functions, types and loops go by their numbers in the archive; a request names no path.

use serde::{Deserialize, Serialize};

/// One of something, by its number.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct NumberOf {
    /// The number.
    pub number: u32,
}

/// Whose callees are meant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct CalleesOf {
    /// The function; `null` = those that no function of the program calls.
    pub node: Option<u32>,
}

/// A function that is looked for in the call graph.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct WayTo {
    /// Its name.
    pub name: String,
}

/// What something cost, of all locations together.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireCost {
    /// Processor time by samples in itself, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub exclusive_ns: i64,
    /// And in what it called, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub inclusive_ns: i64,
    /// Measured calls of libraries from within.
    #[cfg_attr(test, ts(type = "number"))]
    pub calls: u64,
    /// How long they took, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub call_ns: i64,
    /// Data that they moved, bytes.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
    /// How long was waited in them, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub waiting_ns: i64,
}

/// What there is of sources. Columns of the places where calls of libraries took longest, a value for each region that has
/// one: `region`, `file`, `line`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceHead {
    /// Why there is nothing, in words that say what to do; `null` = there is something.
    pub why_not: Option<String>,
    /// Whether the text of some source is there.
    pub has_texts: bool,
    /// Whether machine code is.
    pub has_code: bool,
    /// Whether waits are known.
    pub has_waits: bool,
    /// Processor time of all samples, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub processor_ns: i64,
    /// Time of all measured calls of libraries, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub calls_ns: i64,
    /// Time of all threads in what moves data between processes or waits for them, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub communication_ns: i64,
    /// Time of all threads, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub whole_ns: i64,
    /// How many samples there are.
    #[cfg_attr(test, ts(type = "number"))]
    pub samples: u64,
    /// Modules of the user's.
    pub modules: Vec<WireModule>,
    /// Sources.
    pub files: Vec<WireSource>,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// A module of the user's.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireModule {
    /// Where it was loaded from.
    pub path: String,
    /// Whether it has debug information.
    pub has_debug_information: bool,
    /// Whether calls were read from its machine code.
    pub has_calls: bool,
    /// Why something of it is missing; empty = nothing is.
    pub problem: String,
}

/// A source.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSource {
    /// Its path.
    pub path: String,
    /// `read`, `newer`, `missing` or `left out`.
    pub state: String,
    /// What it is written in; empty = it was not read.
    pub language: String,
    /// How many lines it has; 0 = not known.
    pub lines: u32,
    /// How many parts could not be parsed.
    pub unclear: u32,
    /// Whether it is of the system or the compiler.
    pub is_of_system: bool,
    /// Whether its text is there.
    pub has_text: bool,
    /// Functions that are defined in it.
    pub functions: u32,
    /// Types.
    pub types: u32,
    /// Loops.
    pub loops: u32,
    /// What its lines cost together; inclusive is what is exclusive of some line.
    pub cost: WireCost,
}

/// A source and what lies in it. Columns of lines that cost something, a value for each, sorted: `line`, `exclusive`,
/// `inclusive` (processor time, ns), `calls`, `call_time`, `waiting` (ns) and `bytes`; of what lines called by themselves, by line and
/// region: `call_line`, `call_region`, `call_calls`, `call_call_time`, `call_waiting` (ns) and `call_bytes`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceFileHead {
    /// Its number.
    pub file: u32,
    /// The lines of its text, with spaces for tabs; `null` = it is not in the run.
    pub text: Option<Vec<String>>,
    /// Functions that are defined in it, in the order of their lines.
    pub functions: Vec<WireSourceFunction>,
    /// Types.
    pub types: Vec<WireSourceType>,
    /// Loops, what lies in another behind it.
    pub loops: Vec<WireSourceLoop>,
    /// Constructs of parallel programming models.
    pub constructs: Vec<WireConstruct>,
    /// References to elements that other images have, in the order of the text.
    pub references: Vec<WireReference>,
    /// What was done to arrays from its lines, in their order.
    pub statements: Vec<WireSourceStatement>,
    /// Calls in it as sources and machine code have them.
    pub calls: Vec<WireSourceCall>,
}

/// A function.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSourceFunction {
    /// Its number.
    pub number: u32,
    /// Its name with the namespaces, modules or types that it lies in.
    pub name: String,
    /// What it is; empty = no source tells it.
    pub kind: String,
    /// What its author wrote beside it, separated by commas.
    pub attributes: String,
    /// `binary`, `text` or `both`.
    pub known_to: String,
    /// The type whose method it is.
    pub of: Option<u32>,
    /// Its file.
    pub file: Option<u32>,
    /// The line of its name; 0 = unknown.
    pub line: u32,
    /// Its first line; 0 = unknown.
    pub first: u32,
    /// Its last line; 0 = unknown.
    pub last: u32,
    /// What it cost.
    pub cost: WireCost,
}

/// A type.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSourceType {
    /// Its number.
    pub number: u32,
    /// Its name with the namespaces, modules or types that it lies in.
    pub name: String,
    /// `class`, `struct` …
    pub kind: String,
    /// `binary`, `text` or `both`.
    pub known_to: String,
    /// Its file.
    pub file: Option<u32>,
    /// The line of its name; 0 = unknown.
    pub line: u32,
    /// Its last line; 0 = unknown.
    pub last: u32,
    /// Size of one, bytes.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub bytes: Option<i64>,
    /// How many members it has.
    pub members: u32,
}

/// A loop.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSourceLoop {
    /// Its number.
    pub number: u32,
    /// `for`, `while`, `do` …
    pub kind: String,
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// How many loops it lies in, itself among them.
    pub depth: u32,
    /// The function that it lies in.
    pub function: Option<u32>,
    /// What it cost.
    pub cost: WireCost,
}

/// A reference to elements that another image has.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireReference {
    /// The array, in small letters.
    pub array: String,
    /// The reference as written.
    pub text: String,
    /// What says which image.
    pub image: String,
    /// `read`, `write` or `either`.
    pub does: String,
    /// Its line.
    pub line: u32,
    /// The number of the innermost loop around it.
    pub within: Option<u32>,
    /// Of the innermost loop whose variable says which elements.
    pub moved_by: Option<u32>,
    /// Of the innermost loop whose variable says which image.
    pub turned_by: Option<u32>,
    /// Where its elements are written or read, the nearest first.
    pub ends: Vec<WireEnd>,
    /// Expressions that say which elements and which image, in the order of the text.
    pub symbols: Vec<WireSymbol>,
}

/// An expression of a reference, and what it was worth.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSymbol {
    /// As written.
    pub text: String,
    /// What it says: `subscript`, `lower`, `upper`, `step` or `image`.
    pub end: String,
    /// Of which subscript, from 0; of the image 0.
    pub subscript: u32,
    /// Its value, where the text says it; empty = it does not.
    pub value: String,
    /// What it was worth when the program ran; `null` = nobody knows.
    pub worth: Option<WireWorth>,
}

/// What an expression was worth.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireWorth {
    /// The least value.
    #[cfg_attr(test, ts(type = "number"))]
    pub least: i64,
    /// The greatest value.
    #[cfg_attr(test, ts(type = "number"))]
    pub greatest: i64,
    /// How often it was another than before, on all locations.
    #[cfg_attr(test, ts(type = "number"))]
    pub changes: u64,
    /// On how many locations it was worth something.
    pub locations: u32,
    /// How many accesses tell of it.
    #[cfg_attr(test, ts(type = "number"))]
    pub accesses: u64,
}

/// The other end of a reference.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireEnd {
    /// `written` or `read`: what it does.
    pub end: String,
    /// As written.
    pub text: String,
    /// Its line.
    pub line: u32,
    /// The number of the loop of which a later iteration reads; `null` = the same iteration.
    pub carried: Option<u32>,
    /// How many iterations later; 0 = not known, or no loop carries it.
    #[cfg_attr(test, ts(type = "number"))]
    pub distance: i64,
}

/// What was done to an array from a line.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSourceStatement {
    /// The line.
    pub line: u32,
    /// The number of the array.
    pub array: u32,
    /// What it is called; empty = unknown.
    pub name: String,
    /// What is done: `get`, `send` …
    pub verb: String,
    /// Whether that moves elements; else it makes the array or gives it back.
    pub moves: bool,
    /// Whether its time is part of that of all communication.
    pub communicates: bool,
    /// How often.
    #[cfg_attr(test, ts(type = "number"))]
    pub accesses: u64,
    /// Bytes that were moved.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
    /// Time of the calls, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
    /// Between which ranks data goes, in words; empty = it stays where it is.
    pub pattern: String,
    /// Calls of lower levels that moved its data.
    #[cfg_attr(test, ts(type = "number"))]
    pub transfers: u64,
    /// Its region.
    pub region: Option<u32>,
}

/// A construct of a parallel programming model.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireConstruct {
    /// `MPI`, `OpenMP` …
    pub model: String,
    /// The directive, or the name of what is called.
    pub text: String,
    /// Its first line.
    pub first: u32,
    /// The last line of what it governs.
    pub last: u32,
}

/// A line calls a function.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSourceCall {
    /// The line.
    pub line: u32,
    /// Who calls.
    pub caller: Option<u32>,
    /// Who is called, if it is one of the program's functions.
    pub callee: Option<u32>,
    /// Its name; empty = what an address says when the program runs.
    pub name: String,
    /// `called`, `inlined`, `by name`, `by member`, `by macro` or `by expression`.
    pub kind: String,
    /// Where the callee is.
    pub to_file: Option<u32>,
    /// The line there; 0 = unknown.
    pub to_line: u32,
}

/// What was called from within a loop, by region. Columns, a value for each region, that which took longest first: `region`,
/// `calls`, `call_time`, `waiting` (ns) and `bytes`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceLoopHead {
    /// The loop's number.
    pub number: u32,
}

/// All functions of the user's, those that cost most first.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceFunctionsHead {
    /// They; no more than can be looked through.
    pub functions: Vec<WireSourceFunction>,
    /// How many there are.
    pub number: u32,
}

/// Types and what they are derived from.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceTypesHead {
    /// Types by name.
    pub types: Vec<WireSourceType>,
    /// What is derived from what.
    pub bases: Vec<WireBase>,
    /// How many there are.
    pub number: u32,
}

/// A type is derived from another, or implements it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireBase {
    /// The type.
    pub derived: u32,
    /// What it is derived from; `null` = none of these types.
    pub base: Option<u32>,
    /// The name of that.
    pub name: String,
    /// `base` or `implements`.
    pub kind: String,
    /// `public`, `protected` or `private`.
    pub access: String,
    /// Whether all that are derived share one.
    pub is_virtual: bool,
}

/// All about a type.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceTypeHead {
    /// It.
    pub it: WireSourceType,
    /// Its members, in the order in which they stand.
    pub members: Vec<WireMember>,
}

/// A member of a type.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireMember {
    /// Its name in the type.
    pub name: String,
    /// `field`, `method` …
    pub kind: String,
    /// `public`, `protected` or `private`.
    pub access: String,
    /// Whether derived types can replace it.
    pub is_virtual: bool,
    /// Whether the compiler was asked to put it into its callers.
    pub is_inline: bool,
    /// The type of a field, or what a method returns; empty = nothing, or not told.
    pub of_type: String,
    /// Its file.
    pub file: Option<u32>,
    /// Its line; 0 = unknown.
    pub line: u32,
    /// The function of a method.
    pub function: Option<u32>,
}

/// Functions that one calls, or those that none calls.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CalleesHead {
    /// Whose they are; `null` = those that none calls.
    pub node: Option<u32>,
    /// They, what took longest first.
    pub callees: Vec<WireCallee>,
    /// How many more there are.
    pub left_out: u32,
    /// Calls through addresses, which may lead anywhere.
    pub unknown: u32,
}

/// The way to a function from one that none calls.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceWayHead {
    /// From the outermost to it, each as the one before calls it; empty = there is no way.
    pub way: Vec<WireCallee>,
}

/// A function of the call graph, and how it was come to.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireCallee {
    /// Its number in the graph; of a function of the program the function's.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// The function's number; `null` = it is of a library.
    pub function: Option<u32>,
    /// The region of a measured call.
    pub region: Option<u32>,
    /// Its file.
    pub file: Option<u32>,
    /// The line of its name; 0 = unknown.
    pub line: u32,
    /// Whether it has, or leads to, something that is done in parallel or with others.
    pub is_parallel: bool,
    /// How many functions it calls.
    pub callees: u32,
    /// What it cost, whoever called it.
    pub cost: WireCost,
    /// Whether binary or text tell of the call.
    pub is_static: bool,
    /// Whether it was seen when the program ran.
    pub is_measured: bool,
    /// Whether the compiler has put the callee there.
    pub is_inlined: bool,
    /// The first line of the caller that calls it; 0 = unknown.
    pub from_line: u32,
    /// What it cost when this caller called it; what is exclusive is not told.
    pub call: WireCost,
}

/// As TypeScript has them.
#[cfg(test)]
pub(super) fn declarations() -> Vec<String> {
    use ts_rs::TS;

    vec![
        CalleesHead::decl(),
        CalleesOf::decl(),
        NumberOf::decl(),
        SourceFileHead::decl(),
        SourceFunctionsHead::decl(),
        SourceHead::decl(),
        SourceLoopHead::decl(),
        SourceTypeHead::decl(),
        SourceTypesHead::decl(),
        SourceWayHead::decl(),
        WayTo::decl(),
        WireBase::decl(),
        WireCallee::decl(),
        WireConstruct::decl(),
        WireCost::decl(),
        WireMember::decl(),
        WireModule::decl(),
        WireSource::decl(),
        WireSourceCall::decl(),
        WireSourceFunction::decl(),
        WireSourceLoop::decl(),
        WireReference::decl(),
        WireSymbol::decl(),
        WireWorth::decl(),
        WireEnd::decl(),
        WireSourceStatement::decl(),
        WireSourceType::decl(),
    ]
}
