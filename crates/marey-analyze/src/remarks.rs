//! What compilers said of loops, beside what the loops cost.
//!
//! The one idea: remarks lie at lines, and so do samples. A loop that the compiler left as it is matters as much as the time
//! that was spent in its own lines, on the critical path where there is one; at most that can be won.
//!
//! What was inlined into a loop counts as the loop's own here, unless it is a loop itself: it is in the same code. So does code
//! of Rust's core library, which is generic and small.
//!
//! Deliberately absent: where remarks come from. They are handed in, as a run keeps them.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::Nanos;

use crate::samples::{Sampled, around, library_call};
use crate::source_loops::{Places, SourceLoop};
use crate::trace::{Frame, SampledRow, Trace};

mod changes;
mod names;

pub use changes::{LoopChange, changed_loops};
use names::Name;

/// What became of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopOutcome {
    /// It was vectorised.
    Vectorised,
    /// One copy of it was, another not.
    Both,
    /// It became a call of the library.
    Replaced,
    /// Some of its statements were put into vectors.
    Statements,
    /// It was not vectorised.
    NotVectorised,
    /// The compiler said nothing of it.
    Silent,
}

impl LoopOutcome {
    /// All, the best first.
    pub const ALL: [Self; 6] =
        [Self::Vectorised, Self::Both, Self::Replaced, Self::Statements, Self::NotVectorised, Self::Silent];

    /// Its words, in tables and on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vectorised => "vectorised",
            Self::Both => "vectorised in part",
            Self::Replaced => "a call of the library now",
            Self::Statements => "statements vectorised",
            Self::NotVectorised => "not vectorised",
            Self::Silent => "nothing said",
        }
    }

    /// That of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Whether something of it was left as it is.
    pub const fn is_left(self) -> bool {
        matches!(self, Self::Both | Self::Statements | Self::NotVectorised)
    }
}

/// A remark, or a loop of which nothing was said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemarkRow {
    /// Source file, as call stacks name it.
    pub file: String,
    /// First line of the innermost loop around it; 0 = it lies in none.
    pub first_line: u32,
    /// Last line of that.
    pub last_line: u32,
    /// Whether that loop is one of the text; if not, its source could not be read, and it is the line of the remark, or it is a
    /// function whose iterators are the loop.
    pub is_read: bool,
    /// The function, as its author wrote it, else as the compiler names it.
    pub function: String,
    /// What became of the loop.
    pub outcome: LoopOutcome,
    /// What the remark says: `vectorised`, `not vectorised`, `statements`, `replaced`, `inlined`, `not inlined`; empty =
    /// nothing, it is a loop without remarks.
    pub kind: String,
    /// Line of the remark.
    pub line: u32,
    /// Its column; 0 = not told.
    pub column: u32,
    /// Who said it.
    pub compiler: String,
    /// Which part of the compiler.
    pub pass: String,
    /// Why, in plain words.
    pub reason: String,
    /// The compiler's own words.
    pub said: String,
    /// What keeps iterations in order: `carried`, `value`, `unknown`; empty = nothing that is told.
    pub dependence: String,
    /// Iterations between the two; −1 = not told.
    pub distance: i64,
    /// The array between whose elements that is; empty = not known.
    pub array: String,
    /// Whether the array was taken from the text, for the compiler names none.
    pub is_array_of_text: bool,
    /// Elements in the widest vector; 0 = not told.
    pub lanes: u32,
    /// Who is called, of calls.
    pub callee: String,
    /// What it was put into: `main (k.c:20) in start (k.c:9)`; empty = it is where it was written.
    pub inlined_into: String,
}

/// Elements in a vector where the compiler does not say it: 16 bytes, which every x86-64 and ARM64 has, of 4 bytes each. What
/// is calculated with it is an estimate, and no bound.
pub const USUAL_LANES: u32 = 4;

/// A loop of which the compiler spoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemarkedLoop<'r> {
    /// Any of its rows: file, lines, function and outcome are the same in all.
    pub at: &'r RemarkRow,
    /// Its remarks, those that explain most first.
    pub remarks: Vec<&'r RemarkRow>,
    /// Processor time in its own lines.
    pub own: Sampled,
    /// Of that, on the critical path; `None` = there is no path.
    pub on_path: Option<Sampled>,
}

impl RemarkedLoop<'_> {
    /// The remark that says why it was left as it is.
    pub fn why(&self) -> Option<&RemarkRow> {
        self.remarks.first().copied().filter(|row| row.kind == "not vectorised")
    }

    /// Elements in a vector, and whether the compiler said so.
    pub fn lanes(&self) -> (u32, bool) {
        let told = self.remarks.iter().map(|row| row.lanes).max().unwrap_or(0);
        if told == 0 { (USUAL_LANES, false) } else { (told, true) }
    }

    /// What it has of the time that counts.
    pub fn time(&self) -> Nanos {
        self.on_path.unwrap_or(self.own).time
    }

    /// How much less that could be: with vectors that do all of it, and at no cost, 1/lanes of it would be left. Where the
    /// compiler has told how many lanes the widest vector has, it cannot be more.
    pub fn gain(&self) -> Nanos {
        let lanes = i64::from(self.lanes().0.max(1));
        let time = self.time().0;
        Nanos(time - time / lanes)
    }
}

/// A call that the compiler left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemarkedCall<'r> {
    /// Why.
    pub at: &'r RemarkRow,
    /// Processor time in what is called there, by samples.
    pub inclusive: Sampled,
}

/// What compilers said of a run's program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remarked<'r> {
    /// All samples of the run.
    pub whole: Sampled,
    /// Length of the critical path; `None` = there is none.
    pub path: Option<Nanos>,
    /// Loops, those with most time first.
    pub loops: Vec<RemarkedLoop<'r>>,
    /// Calls in loops that were not inlined and in which time was spent, the most first.
    pub calls: Vec<RemarkedCall<'r>>,
}

/// What was sampled on the critical path, and how long the path is.
#[derive(Debug, Clone, Copy)]
pub struct OnPath<'p> {
    /// Samples on it.
    pub samples: &'p [SampledRow],
    /// Its length.
    pub length: Nanos,
}

/// Lays remarks beside costs. Time: the remarks, and the samples times the frames of a stack.
pub fn remarked<'r>(trace: &dyn Trace, rows: &'r [RemarkRow], on_path: Option<OnPath<'_>>) -> Remarked<'r> {
    laid_out(Some(trace), rows, on_path)
}

/// The same of a program that was not run: there are no costs.
pub fn remarked_alone(rows: &[RemarkRow]) -> Remarked<'_> {
    laid_out(None, rows, None)
}

fn laid_out<'r>(
    trace: Option<&dyn Trace>,
    rows: &'r [RemarkRow],
    on_path: Option<OnPath<'_>>,
) -> Remarked<'r> {
    let mut of_loop: BTreeMap<(&str, u32, std::cmp::Reverse<u32>), Vec<&RemarkRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.first_line != 0) {
        let key = (row.file.as_str(), row.first_line, std::cmp::Reverse(row.last_line));
        of_loop.entry(key).or_default().push(row);
    }
    let loops: Vec<SourceLoop<'_>> =
        of_loop.keys().map(|(file, first, last)| SourceLoop { file, first: *first, last: last.0 }).collect();
    let places = Places::new(&loops);
    let own_of = |samples: &[SampledRow]| match trace {
        Some(trace) => own(trace, &places, loops.len(), samples),
        None => vec![Sampled::default(); loops.len()],
    };
    let own = own_of(trace.map_or(&[], Trace::samples));
    let path = on_path.map(|it| own_of(it.samples));
    let mut found: Vec<RemarkedLoop<'_>> = of_loop
        .into_values()
        .enumerate()
        .filter_map(|(place, mut remarks)| {
            let at = *remarks.first()?;
            remarks.retain(|row| !row.kind.is_empty());
            remarks.sort_by_key(|row| (rank(row), row.line, row.column));
            let on_path = path.as_ref().map(|path| path[place]);
            Some(RemarkedLoop { at, remarks, own: own[place], on_path })
        })
        .collect();
    found.sort_by_key(|it| std::cmp::Reverse((it.time(), it.own.time)));
    let mut whole = Sampled::default();
    trace.iter().flat_map(|trace| trace.samples()).for_each(|row| whole.add(row));
    let calls = trace.map_or_else(Vec::new, |trace| calls(trace, rows));
    Remarked { whole, path: on_path.map(|it| it.length), loops: found, calls }
}

/// What explains most comes first: a dependence, then any reason, then the bare fact.
fn rank(row: &RemarkRow) -> u32 {
    match (row.kind.as_str(), row.dependence.as_str()) {
        ("not vectorised", "") if row.reason.is_empty() => 3,
        ("not vectorised", "") => 2,
        ("not vectorised", "unknown") => 1,
        ("not vectorised", _) => 0,
        ("vectorised", _) => 4,
        _ => 5,
    }
}

/// Processor time in the lines of loops themselves.
fn own(trace: &dyn Trace, places: &Places<'_>, number: usize, samples: &[SampledRow]) -> Vec<Sampled> {
    let mut own = vec![Sampled::default(); number];
    for row in samples {
        let is_in_call = row.call_path.is_some_and(|path| library_call(trace, path).is_some());
        let stack = row.stack.filter(|_| !is_in_call).map_or_else(Vec::new, |stack| trace.stack(stack));
        // In one frame of the machine, and behind what is Rust's own, the innermost loop.
        let together = row.stack.map_or(1, |stack| trace.inlined_together(stack));
        let mut is_over = false;
        let here = stack.into_iter().enumerate().take_while(|(place, frame)| {
            let is_within = !is_over;
            is_over |= together <= place + 1 && !is_core(frame);
            is_within
        });
        let mut here = here.map(|(_, frame)| frame).filter(|frame| !is_core(frame));
        if let Some(place) = here.find_map(|frame| places.innermost(frame)) {
            own[place].add(row);
        }
    }
    own
}

/// Whether a frame is code of Rust's core library.
fn is_core(frame: &Frame) -> bool {
    let file = frame.file.as_str();
    file.contains("/library/core/src/") || file.starts_with("library/core/src/")
}

/// Calls in loops that were not inlined, with what was spent in them.
fn calls<'r>(trace: &dyn Trace, rows: &'r [RemarkRow]) -> Vec<RemarkedCall<'r>> {
    let mut names: BTreeMap<&str, Name> = BTreeMap::new();
    // By file, line and the last part of the name, those that are called there.
    let mut of_call: BTreeMap<(&str, u32, String), BTreeMap<String, usize>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        if row.kind == "not inlined" && row.first_line != 0 {
            let Name { whole, last } = Name::of(&row.callee);
            of_call.entry((row.file.as_str(), row.line, last)).or_default().entry(whole).or_insert(place);
        }
    }
    let lines: BTreeSet<(&str, u32)> = of_call.keys().map(|(file, line, _)| (*file, *line)).collect();
    let mut sums: BTreeMap<usize, Sampled> = BTreeMap::new();
    let samples = if of_call.is_empty() { &[] } else { trace.samples() };
    for row in samples {
        let stack = row.stack.map_or_else(Vec::new, |stack| trace.stack(stack));
        let call = row.call_path.and_then(|path| library_call(trace, path));
        let frames = match &call {
            Some(call) => around(trace, call, stack),
            None => stack,
        };
        let mut seen: Vec<usize> = Vec::new();
        for pair in frames.windows(2) {
            let (file, line) = (pair[1].file.as_str(), pair[1].line);
            if !lines.contains(&(file, line)) {
                continue;
            }
            let name = names.entry(&pair[0].function).or_insert_with(|| Name::of(&pair[0].function));
            let Some(callees) = of_call.get(&(file, line, name.last.clone())) else { continue };
            // Of several with one last name it is the one with the whole name.
            let place = match callees.len() {
                1 => callees.values().next(),
                _ => callees.get(&name.whole),
            };
            if let Some(place) = place.filter(|place| !seen.contains(place)) {
                sums.entry(*place).or_default().add(row);
                seen.push(*place);
            }
        }
    }
    let mut found: Vec<RemarkedCall<'_>> =
        sums.into_iter().map(|(place, inclusive)| RemarkedCall { at: &rows[place], inclusive }).collect();
    found.sort_by_key(|call| std::cmp::Reverse(call.inclusive.time));
    found
}
