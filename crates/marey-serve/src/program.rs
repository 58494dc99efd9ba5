//! What the program consists of, and what that cost.
//!
//! The one idea: the tables are small beside a run and are read once, when somebody asks for the first time; what lines, loops and
//! functions cost is found with them, from the sums and the waits of the run.
//!
//! What is deliberately absent: files. No path is opened, whoever names it; texts are those that the archive has.

mod graph;
mod read;

use std::collections::BTreeMap;

use marey_analyze::{
    GraphCost, LineCall, LoopCost, Sampled, SourceLoop, Trace, arrays, calls_time, communicates,
    communication_time, line_calls, source_loops,
};
use marey_archive::schema::SOURCE_TEXTS;
use marey_archive::{Error, Filter};

use crate::run::Opened;
use crate::wire::{WireCost, WireSourceStatement};

pub(crate) use graph::{Callee, Graph, weight};
pub(crate) use read::{Base, Call, Construct, File, Function, Loop, Member, Module, Reference, Type, nests};

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) modules: Vec<Module>,
    pub(crate) files: Vec<File>,
    pub(crate) functions: Vec<Function>,
    pub(crate) types: Vec<Type>,
    pub(crate) members: Vec<Member>,
    pub(crate) bases: Vec<Base>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) constructs: Vec<Construct>,
    pub(crate) references: Vec<Reference>,
    pub(crate) calls: Vec<Call>,
    /// Files that have a text, which is read when it is asked for.
    pub(crate) texts: Vec<u32>,
    pub(crate) graph: Graph,
    /// By loop.
    pub(crate) loop_costs: Vec<WireCost>,
    /// By file and line.
    pub(crate) lines: BTreeMap<(u32, u32), WireCost>,
    /// What lines called by themselves: by file, line and region.
    pub(crate) line_calls: BTreeMap<(u32, u32, u32), WireCost>,
    /// What was done to arrays, by file, in the order of lines.
    pub(crate) statements: BTreeMap<u32, Vec<WireSourceStatement>>,
    /// How long measured calls of libraries took that no other has made.
    pub(crate) calls_ns: i64,
    /// Time of all that moves data between processes or waits for them.
    pub(crate) communication_ns: i64,
    /// All samples.
    pub(crate) whole: Sampled,
    /// Why there is nothing; in words.
    pub(crate) why_not: Option<String>,
    pub(crate) damage: Vec<String>,
}

impl Program {
    /// Reads and counts.
    pub(crate) fn of(run: &Opened<'_>) -> Self {
        let mut it = match read::read(run.archive) {
            Ok(it) => it,
            Err(error) => Self { damage: vec![error.to_string()], ..Self::default() },
        };
        it.why_not = it.why_not.take().or_else(|| it.is_empty().then(|| why_not(run, &it.damage)));
        let waits = run.causes().map(|causes| &causes.waits);
        let loops: Vec<SourceLoop<'_>> = it
            .loops
            .iter()
            .map(|at| SourceLoop { file: it.path(at.file), first: at.first, last: at.last })
            .collect();
        let (costs, whole) = source_loops(&run.trace, &loops, waits);
        it.loop_costs = costs.iter().map(of_loop).collect();
        it.whole = whole;
        let numbers: BTreeMap<&str, u32> = it.files.iter().map(|it| it.path.as_str()).zip(0..).collect();
        let seen = seen_lines(run, &numbers);
        let lines: Vec<SourceLoop<'_>> = seen
            .iter()
            .map(|(file, line)| SourceLoop { file: it.path(Some(*file)), first: *line, last: *line })
            .collect();
        let (costs, _) = source_loops(&run.trace, &lines, waits);
        it.lines = seen.into_iter().zip(costs.iter().map(of_loop)).collect();
        let place = |call: &LineCall<'_>| {
            Some(((*numbers.get(call.file)?, call.line, call.region.0), of_graph(&call.cost, 0)))
        };
        it.line_calls = line_calls(&run.trace, waits).iter().filter_map(place).collect();
        it.statements = statements(run, &numbers);
        it.calls_ns = calls_time(&run.trace).0;
        it.communication_ns = communication_time(&run.trace).0;
        it.graph = Graph::of(run, &it, waits);
        it
    }

    fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.types.is_empty()
    }

    /// The path of a file.
    pub(crate) fn path(&self, file: Option<u32>) -> &str {
        file.and_then(|file| self.files.get(file as usize)).map_or("", |file| &file.path)
    }

    /// The text of a file; `None` = it is not in the run. The texts of all may be as much as memory holds.
    pub(crate) fn text(&self, run: &Opened<'_>, file: u32) -> Result<Option<String>, Error> {
        if self.texts.binary_search(&file).is_err() {
            return Ok(None);
        }
        let only = [Filter { column: "file", range: file.into()..i64::from(file) + 1 }];
        let mut found = None;
        for part in run.archive.parts("source_texts") {
            run.archive.scan_part(&SOURCE_TEXTS, part, &["text"], &only, |rows| {
                let texts = rows.text("text").unwrap_or_default();
                found = found.take().or_else(|| texts.first().cloned());
            })?;
        }
        Ok(found)
    }
}

/// What to do so that there is something.
fn why_not(run: &Opened<'_>, damage: &[String]) -> String {
    if let Some(first) = damage.first() {
        return format!("What the program consists of cannot be read: {first}");
    }
    if run.archive.meta().parts("source_modules").is_empty() && run.archive.meta().schema < 10 {
        return "This run was recorded before runs kept what a program consists of. Record it again."
            .to_owned();
    }
    "No call stack of this run leads through code with debug information. Compile the program with -g (nothing else \
     changes, and optimisation stays), and record it again."
        .to_owned()
}

/// Lines of sources that are on some stack.
fn seen_lines(run: &Opened<'_>, numbers: &BTreeMap<&str, u32>) -> Vec<(u32, u32)> {
    let of_samples = run.trace.samples().iter().filter_map(|row| row.stack);
    let of_paths = run.trace.call_paths().iter().filter_map(|path| path.stack);
    let mut stacks: Vec<_> = of_samples.chain(of_paths).collect();
    stacks.sort_unstable();
    stacks.dedup();
    let frames = stacks.into_iter().flat_map(|stack| run.trace.stack(stack));
    let places = frames.filter(|frame| frame.line != 0);
    let mut lines: Vec<(u32, u32)> =
        places.filter_map(|frame| Some((*numbers.get(frame.file.as_str())?, frame.line))).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// What was done to arrays from lines of these files.
fn statements(run: &Opened<'_>, numbers: &BTreeMap<&str, u32>) -> BTreeMap<u32, Vec<WireSourceStatement>> {
    let mut found: BTreeMap<u32, Vec<WireSourceStatement>> = BTreeMap::new();
    for array in arrays(&run.trace) {
        for it in array.statements.iter().filter(|it| it.line != 0) {
            let Some(file) = numbers.get(it.file.as_str()) else { continue };
            let beneath = it.beneath.iter().filter(|it| it.is_transfer).map(|it| it.calls);
            let path = it.call_paths.iter().find_map(|path| run.trace.call_paths().get(path.idx()));
            let region = path.and_then(|path| run.trace.regions().get(path.region.idx()));
            found.entry(*file).or_default().push(WireSourceStatement {
                line: it.line,
                array: array.noun.0,
                name: array.name.clone(),
                verb: it.verb.clone(),
                moves: it.kind.moves(),
                communicates: region.is_some_and(communicates),
                accesses: it.sum.accesses,
                bytes: it.sum.bytes,
                time_ns: it.sum.time.0,
                pattern: it.pattern(&run.trace).map_or_else(String::new, |it| it.to_string()),
                transfers: beneath.fold(0, u64::saturating_add),
                region: path.map(|path| path.region.0),
            });
        }
    }
    found.values_mut().for_each(|all| all.sort_by_key(|it| it.line));
    found
}

fn of_loop(cost: &LoopCost) -> WireCost {
    WireCost {
        exclusive_ns: cost.exclusive.time.0,
        inclusive_ns: cost.inclusive.time.0,
        calls: cost.calls,
        call_ns: cost.call_time.0,
        bytes: cost.bytes,
        waiting_ns: cost.waiting.0,
    }
}

/// The cost of a function or a call, of which what is exclusive is known apart.
pub(crate) fn of_graph(cost: &GraphCost, exclusive_ns: i64) -> WireCost {
    WireCost {
        exclusive_ns,
        inclusive_ns: cost.inclusive.time.0,
        calls: cost.calls,
        call_ns: cost.call_time.0,
        bytes: cost.bytes,
        waiting_ns: cost.waiting.0,
    }
}
