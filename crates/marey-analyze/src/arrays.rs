//! Arrays: what it cost to act on each, from which statements, where its elements lay, and what that took beneath.
//!
//! The one idea: a sentence such as "line 12 reads array `a`" is a call path whose region names the array; what the levels
//! beneath did to serve it is what hangs beneath that call path. So costs map down without a second measurement.
//! Source: Irvin and Miller, *Mapping Performance Data for High-Level and Data Views of Parallel Program Performance*
//! (1996), whose array profiles and arrays that are never used these are.
//!
//! Deliberately absent: accesses that are plain loads and stores, which no level records; which elements were meant.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{AccessKind, CallPathId, DataKind, Level, Nanos, NounId, ProcessId, Role, StackId};

use self::counted::counted;
use crate::paths::{Paths, add};
use crate::patterns::FlowPattern;
use crate::trace::{AccessRow, Region, Trace};

mod counted;

/// What accesses came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccessSum {
    /// How many.
    pub accesses: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Time of the calls. One that reads an array and writes another counts for both.
    pub time: Nanos,
}

impl AccessSum {
    fn add(&mut self, row: &AccessRow) {
        self.accesses = self.accesses.saturating_add(row.accesses);
        self.bytes = self.bytes.saturating_add(row.bytes);
        add(&mut self.time, row.time);
    }

    /// The sum of both.
    pub fn with(mut self, other: Self) -> Self {
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.bytes = self.bytes.saturating_add(other.bytes);
        add(&mut self.time, other.time);
        self
    }
}

/// Accesses from one place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// The function; empty = unknown.
    pub function: String,
    /// Source file; empty = unknown.
    pub file: String,
    /// Line; 0 = unknown.
    pub line: u32,
    /// What is done.
    pub kind: AccessKind,
    /// What that is called on its level: `get`, `send` …
    pub verb: String,
    /// What it came to.
    pub sum: AccessSum,
    /// Its call paths.
    pub call_paths: BTreeSet<CallPathId>,
    /// What levels beneath did for it, the calls with most time first.
    pub beneath: Vec<Beneath>,
    /// From which process data went to which.
    pub flows: BTreeSet<(ProcessId, ProcessId)>,
}

impl Statement {
    /// Data goes between the process that asks and that with which elements lie.
    pub(crate) fn add_flow(&mut self, own: ProcessId, peer: ProcessId) {
        let is_read = self.kind == AccessKind::Read;
        self.flows.insert(if is_read { (peer, own) } else { (own, peer) });
    }

    /// Between which ranks data goes; `None` = it stays where it is.
    pub fn pattern(&self, trace: &dyn Trace) -> Option<FlowPattern> {
        FlowPattern::of_processes(trace, self.flows.iter().copied())
    }
}

/// Calls of another level that serve accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beneath {
    /// The level.
    pub level: String,
    /// What is called.
    pub name: String,
    /// How often.
    pub calls: u64,
    /// Whether it moves data.
    pub is_transfer: bool,
    /// Exclusive time of these calls.
    pub time: Nanos,
}

/// Where a process finds elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Whereabouts {
    /// With itself.
    pub local: AccessSum,
    /// With others.
    pub remote: AccessSum,
}

/// One array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayRow {
    /// What it is called.
    pub noun: NounId,
    /// That name.
    pub name: String,
    /// What it is.
    pub kind: DataKind,
    /// File and line of its declaration; empty and 0 where unknown.
    pub file: String,
    /// See there.
    pub line: u32,
    /// Type of its elements; empty = unknown.
    pub element: String,
    /// Bytes of one; `None` = unknown.
    pub element_bytes: Option<u64>,
    /// Lower and upper bound of each dimension, of the largest instance.
    pub bounds: Vec<(i64, i64)>,
    /// Bytes of the largest instance.
    pub bytes: u64,
    /// How often it was made, in all processes.
    pub instances: u64,
    /// Whether somebody names it who does more than make it and give it back, waits for an event of it, takes a lock, or accesses
    /// a component of it; or may do so, in a call that was only counted.
    pub is_named: bool,
    /// The processes that have it.
    pub processes: BTreeSet<ProcessId>,
    /// Call stack that made the first.
    pub stack: Option<StackId>,
    /// Accesses to elements, those that move data.
    pub moved: AccessSum,
    /// Those among them that were only counted with their calls: with whom the elements lie is not known.
    pub counted: AccessSum,
    /// Making it and giving it back.
    pub managed: AccessSum,
    /// From where its elements are accessed, by the process that does so.
    pub by_process: BTreeMap<ProcessId, Whereabouts>,
    /// The statements, by time.
    pub statements: Vec<Statement>,
}

impl ArrayRow {
    /// Accesses to elements with others.
    pub fn remote(&self) -> AccessSum {
        self.by_process.values().fold(AccessSum::default(), |sum, it| sum.with(it.remote))
    }

    /// Accesses through its level to elements that the process itself has.
    pub fn local(&self) -> AccessSum {
        self.by_process.values().fold(AccessSum::default(), |sum, it| sum.with(it.local))
    }

    /// Whether nobody accesses it across processes, though it is shared. Kernels access Views, and loads and stores the memory
    /// of windows, and nobody tells which: that of these is not known.
    pub fn is_unused(&self) -> bool {
        self.kind == DataKind::Coarray && self.moved.accesses == 0 && !self.is_named
    }

    /// Calls that moved data for it on levels beneath.
    pub fn transfers_beneath(&self) -> u64 {
        let beneath = self.statements.iter().flat_map(|statement| &statement.beneath);
        beneath.filter(|it| it.is_transfer).map(|it| it.calls).fold(0, u64::saturating_add)
    }

    /// Time of all calls that act on it.
    pub fn time(&self) -> Nanos {
        self.moved.time + self.managed.time
    }
}

/// Why accesses could be fewer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piecemeal {
    /// The source moves one element, or a few, at a time.
    Elements,
    /// The library beneath moves sections piece by piece.
    Sections,
}

impl Piecemeal {
    /// The name for other programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elements => "elements",
            Self::Sections => "sections",
        }
    }
}

/// Accesses that are made piece by piece, where one for many would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece<'r> {
    /// Why.
    pub kind: Piecemeal,
    /// The array.
    pub array: &'r ArrayRow,
    /// The statement.
    pub statement: &'r Statement,
    /// Calls that moved its data on levels beneath.
    pub transfers: u64,
}

/// Accesses of so few bytes each are of single elements.
const FEW_BYTES: u64 = 64;
/// So many of them from one line are many.
const MANY: u64 = 1000;
/// Transfers beneath for each access, on average, that tell of pieces.
const PIECES: u64 = 4;
/// So many transfers are worth a word.
const FEWEST: u64 = 32;

/// Accesses that are made piece by piece, those with most time first.
pub fn piecemeal(rows: &[ArrayRow]) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    for array in rows {
        for statement in array.statements.iter().filter(|statement| statement.kind.moves()) {
            let sum = statement.sum;
            let transfers = statement.beneath.iter().filter(|it| it.is_transfer).map(|it| it.calls).sum();
            // What moves single elements may ask for addresses first, as of components.
            let of_one = array.element_bytes.unwrap_or(1).max(1).saturating_mul(sum.accesses.max(1));
            let has_pieces = sum.bytes / of_one >= PIECES;
            let kind = if sum.accesses >= MANY && sum.bytes / sum.accesses <= FEW_BYTES {
                Piecemeal::Elements
            } else if has_pieces && transfers >= FEWEST && transfers / sum.accesses.max(1) >= PIECES {
                Piecemeal::Sections
            } else {
                continue;
            };
            found.push(Piece { kind, array, statement, transfers });
        }
    }
    found.sort_by_key(|piece| std::cmp::Reverse(piece.statement.sum.time));
    found
}

/// One row for each array, that with most time first. Time: linear in arrays, sums of accesses and the profile.
pub fn arrays(trace: &dyn Trace) -> Vec<ArrayRow> {
    let mut rows: BTreeMap<NounId, ArrayRow> = BTreeMap::new();
    for array in trace.arrays().iter().filter(|array| array.is_acted_on()) {
        let row = rows.entry(array.noun).or_insert_with(|| ArrayRow {
            noun: array.noun,
            name: array.name.clone(),
            kind: array.kind,
            file: array.file.clone(),
            line: array.line,
            element: array.element.clone(),
            element_bytes: array.element_bytes,
            bounds: array.bounds.clone(),
            bytes: array.bytes,
            instances: 0,
            is_named: false,
            processes: BTreeSet::new(),
            stack: array.stack,
            moved: AccessSum::default(),
            counted: AccessSum::default(),
            managed: AccessSum::default(),
            by_process: BTreeMap::new(),
            statements: Vec::new(),
        });
        row.instances += 1;
        row.processes.insert(array.process);
        if row.bytes < array.bytes {
            row.bytes = array.bytes;
            row.bounds.clone_from(&array.bounds);
        }
    }
    let beneath = Descendants::new(trace);
    let paths = Paths::new(trace);
    let mut statements: BTreeMap<(NounId, Said), Statement> = BTreeMap::new();
    for access in trace.accessed() {
        let Some(array) = access.array.and_then(|array| trace.arrays().get(array)) else { continue };
        let Some(row) = rows.get_mut(&array.noun) else { continue };
        let said = Said::of(trace, &paths, access.call_path, access.kind);
        let key = (array.noun, said);
        let statement = statements.entry(key).or_insert_with_key(|(_, said)| said.statement());
        statement.sum.add(access);
        statement.call_paths.extend(access.call_path);
        if !access.kind.moves() {
            row.managed.add(access);
            continue;
        }
        row.moved.add(access);
        let own = trace.locations().get(access.location.idx()).map(|location| location.process);
        if let (Some(own), Some(peer)) = (own, access.peer) {
            statement.add_flow(own, peer);
            let place = row.by_process.entry(own).or_default();
            if own == peer { place.local.add(access) } else { place.remote.add(access) }
        }
    }
    let mut names: BTreeMap<&str, Option<NounId>> = BTreeMap::new();
    for array in trace.arrays().iter().filter(|array| array.is_acted_on()) {
        let known = names.entry(&array.name).or_insert(Some(array.noun));
        *known = known.filter(|noun| *noun == array.noun);
    }
    let counted = counted(trace, &names);
    for it in counted.found {
        let Some(row) = rows.get_mut(&it.noun) else { continue };
        let said = Said::of(trace, &paths, Some(it.call_path), it.kind);
        let statement = statements.entry((it.noun, said)).or_insert_with_key(|(_, said)| said.statement());
        statement.sum = statement.sum.with(it.sum);
        statement.call_paths.insert(it.call_path);
        row.moved = row.moved.with(it.sum);
        row.counted = row.counted.with(it.sum);
    }
    for ((noun, _), mut statement) in statements {
        statement.beneath = beneath.of(trace, &statement.call_paths);
        if let Some(row) = rows.get_mut(&noun) {
            row.statements.push(statement);
        }
    }
    let mut rows: Vec<ArrayRow> = rows.into_values().collect();
    let named = named(trace);
    for row in &mut rows {
        // What a call acted on that was only counted may be any of them.
        row.is_named = named.contains(row.name.as_str()) || counted.has_unknown;
        // Of very many, not each is told by itself.
        let makes = row.statements.iter().filter(|it| it.kind == AccessKind::Make);
        row.instances = row.instances.max(makes.map(|it| it.sum.accesses).sum());
        row.statements.sort_by_key(|statement| std::cmp::Reverse(statement.sum.time));
    }
    // Whose components are accessed is reached through it.
    let used: Vec<String> =
        rows.iter().filter(|row| row.moved.accesses > 0).map(|row| row.name.clone()).collect();
    for row in rows.iter_mut().filter(|row| !row.name.is_empty()) {
        let is_within =
            |name: &String| name.strip_prefix(&row.name).is_some_and(|rest| rest.starts_with('%'));
        row.is_named |= used.iter().any(is_within);
    }
    // Those of equal time stay in the order of their numbers.
    rows.sort_by_key(|row| std::cmp::Reverse(row.time()));
    rows
}

/// Coarrays that are named by calls which do more than make them and give them back.
fn named(trace: &dyn Trace) -> BTreeSet<&str> {
    let visited: BTreeSet<_> =
        trace.profile().iter().filter(|row| row.visits > 0).map(|row| row.call_path).collect();
    let region = |path: CallPathId| {
        let path = trace.call_paths().get(path.idx())?;
        trace.regions().get(path.region.idx())
    };
    let acts = |region: &&Region| {
        region.level == Level::COARRAY && !matches!(region.role, Role::Create | Role::Manage)
    };
    visited.into_iter().filter_map(region).filter(acts).map(|region| region.noun.as_str()).collect()
}

/// What a statement is told by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Said {
    function: String,
    file: String,
    line: u32,
    kind: AccessKind,
    verb: String,
}

impl Said {
    /// Of accesses from a call path.
    pub(crate) fn of(
        trace: &dyn Trace,
        paths: &Paths<'_>,
        call_path: Option<CallPathId>,
        kind: AccessKind,
    ) -> Self {
        let site = call_path.map(|path| paths.call_site(path)).unwrap_or_default();
        let path = call_path.and_then(|path| trace.call_paths().get(path.idx()));
        let region = path.and_then(|path| trace.regions().get(path.region.idx()));
        let verb = region.map_or_else(String::new, |it| it.verb.clone());
        Self { function: site.function, file: site.file, line: site.line, kind, verb }
    }

    /// Source file and line.
    pub(crate) fn place(&self) -> (&str, u32) {
        (&self.file, self.line)
    }

    /// One that did nothing yet.
    pub(crate) fn statement(&self) -> Statement {
        Statement {
            function: self.function.clone(),
            file: self.file.clone(),
            line: self.line,
            kind: self.kind,
            verb: self.verb.clone(),
            sum: AccessSum::default(),
            call_paths: BTreeSet::new(),
            beneath: Vec::new(),
            flows: BTreeSet::new(),
        }
    }
}

/// Call paths beneath each, and what the profile says of them.
struct Descendants {
    children: Vec<Vec<u32>>,
    /// Visits and exclusive time of each call path.
    sums: Vec<(u64, Nanos)>,
}

impl Descendants {
    fn new(trace: &dyn Trace) -> Self {
        let paths = trace.call_paths();
        let mut children = vec![Vec::new(); paths.len()];
        for (idx, path) in (0_u32..).zip(paths) {
            if let Some(parent) = path.parent.filter(|parent| parent.0 < idx) {
                children[parent.idx()].push(idx);
            }
        }
        let mut sums = vec![(0, Nanos(0)); paths.len()];
        for row in trace.profile() {
            if let Some(sum) = sums.get_mut(row.call_path.idx()) {
                sum.0 += row.visits;
                add(&mut sum.1, row.exclusive);
            }
        }
        Self { children, sums }
    }

    /// What other levels did beneath these call paths.
    fn of(&self, trace: &dyn Trace, roots: &BTreeSet<CallPathId>) -> Vec<Beneath> {
        let mut found: BTreeMap<(&str, &str), Beneath> = BTreeMap::new();
        let mut ahead: Vec<u32> = Vec::new();
        for root in roots {
            ahead.extend(self.children.get(root.idx()).into_iter().flatten());
        }
        while let Some(path) = ahead.pop() {
            let at = path as usize;
            // One that is told by itself counts there.
            if roots.contains(&CallPathId(path)) {
                continue;
            }
            ahead.extend(&self.children[at]);
            let Some(region) = trace.regions().get(trace.call_paths()[at].region.idx()) else { continue };
            let is_runtime = region.level != Level::SOURCE;
            if !is_runtime || self.sums[at].0 == 0 {
                continue;
            }
            let row = found.entry((&region.level, region.name())).or_insert_with(|| Beneath {
                level: region.level.clone(),
                name: region.name().to_owned(),
                calls: 0,
                is_transfer: region.role == marey_model::Role::Transfer,
                time: Nanos(0),
            });
            row.calls = row.calls.saturating_add(self.sums[at].0);
            add(&mut row.time, self.sums[at].1);
        }
        let mut rows: Vec<Beneath> = found.into_values().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.time));
        rows
    }
}
