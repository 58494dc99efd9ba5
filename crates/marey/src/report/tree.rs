//! The call tree: from the program's outermost function down to the measured regions.
//!
//! The one idea: a call path and its call stack tell one story, so they become one tree. A region
//! of the program stands between the functions that it was entered from and those that were called
//! inside it. A node's time is that of the measured regions beneath it; what functions computed by themselves
//! divides it where samples were taken, and adds to it only outside of all regions. Recursion ends at its
//! first appearance: what a function or region does inside itself hangs where it was entered first, with the
//! number of times that it lay in itself.

use std::collections::BTreeMap;
use std::io;

use marey_analyze::{SampledRow, Trace, library_call};
use marey_model::{CallPathId, Nanos, RegionId};
use serde::Serialize;

use super::chains::{Chains, Step};
use super::{Facts, Page, answer, tables};
use crate::format;
use crate::paint::{Look, shorten};
use crate::table::{Cell, Side, Table};
use crate::words;

/// Lines of the tree for one row of other tables: chains of calls are long and say little a line.
const LINES_PER_ROW: usize = 2;
/// Characters of a line for branches, name and place together, at most and at least.
const TEXT_WIDTH: usize = 72;
const MIN_TEXT_WIDTH: usize = 24;
/// Characters for time and share, the margin and the gaps.
const NUMBERS_WIDTH: usize = 24;
const PLACE_WIDTH: usize = 28;
/// Less than this share is not worth a line: one part in so many of the measured time, without
/// starting and ending MPI, which would drown everything else in a short run.
const NEGLIGIBLE: i64 = 500;
/// A longer chain of calls without branches loses its middle.
const MAX_CHAIN: usize = 7;
const CHAIN_ENDS: usize = 3;

/// Prints the tree.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let tree = Tree::new(page.facts);
    let recursion = "; ↻: depth of recursion, which hangs at its first call";
    let has_recursion = tree.nodes.iter().any(|node| node.recursion > 0);
    let has_samples = !page.facts.trace.samples().is_empty();
    page.title(
        "CALL TREE",
        &format!(
            "time in measured regions{} beneath each function, and where it was called{}",
            if has_samples { ", and by samples in functions," } else { "" },
            if has_recursion { recursion } else { "" }
        ),
    )?;
    let shown = tree.largest(page.top.saturating_mul(LINES_PER_ROW));
    let mut printer = Printer {
        tree: &tree,
        shown: &shown,
        negligible: Nanos(time_of_work(page).0 / NEGLIGIBLE),
        lines: Vec::new(),
    };
    printer.children(ROOT, "");
    let lines = printer.lines;
    if lines.is_empty() {
        return page.nothing("no call paths");
    }

    let whole = tables::time_of_locations(page);
    let (text_width, place_width) = widths(page, &lines);
    let mut table = Table::new(&[
        ("time", Side::Right),
        ("share", Side::Right),
        ("calls", Side::Right),
        ("function or region", Side::Left),
        ("called at", Side::Left),
    ])
    .can_spare(&["called at", "calls"]);
    for Line { time, calls, indent, name, look, place } in lines {
        let width = text_width.saturating_sub(place_width + indent.chars().count()).max(16);
        table.row([
            time.map_or_else(String::new, format::duration).into(),
            time.map_or_else(String::new, |time| format::percent(time.0, whole)).into(),
            calls.map_or_else(String::new, format::count).into(),
            Cell::new(look, format!("{indent}{}", shorten(&name, width))),
            Cell::new(Look::Faint, shorten(&place, place_width)),
        ]);
    }
    table.print(page.out, page.paint)
}

/// Characters for branches, name and place together, and for the place alone: it gets what names
/// leave, and a third of the line where both are long.
fn widths(page: &Page<'_>, lines: &[Line]) -> (usize, usize) {
    let count = |text: &str| text.chars().count();
    let longest = |of: &dyn Fn(&Line) -> usize| lines.iter().map(of).max().unwrap_or(0);
    let calls =
        longest(&|line| line.calls.map_or(0, |calls| count(&format::count(calls)))).max("calls".len());
    let room = page.paint.width().saturating_sub(NUMBERS_WIDTH + calls).clamp(MIN_TEXT_WIDTH, TEXT_WIDTH);
    let names = longest(&|line| count(&line.indent) + count(&line.name));
    let place = longest(&|line| count(&line.place)).min(PLACE_WIDTH);
    (room, place.min(room.saturating_sub(names).max(room / 3)))
}

/// Time in all regions but those that start, end and manage, and in functions outside of regions.
fn time_of_work(page: &Page<'_>) -> Nanos {
    let rows = page.facts.regions.iter().filter(|row| !answer::is_management(row.role));
    let regions = rows.fold(Nanos(0), |sum, row| sum + row.exclusive);
    samples_of_functions(page.facts.trace)
        .filter(|row| row.call_path.is_none())
        .fold(regions, |sum, row| sum + row.time)
}

const ROOT: usize = 0;

/// Where a call path ends in the tree.
#[derive(Clone)]
struct Place {
    node: usize,
    /// Nodes of which recursion was seen on the way, and how often.
    again: BTreeMap<usize, usize>,
}

impl Default for Place {
    fn default() -> Self {
        Self { node: ROOT, again: BTreeMap::new() }
    }
}

fn function(Step { name, place }: Step) -> Key {
    (name, place, Kind::Function)
}

/// Samples outside of calls of libraries, whose time is that of their regions.
fn samples_of_functions(trace: &dyn Trace) -> impl Iterator<Item = &SampledRow> {
    let is_of_function =
        |row: &&SampledRow| row.call_path.is_none_or(|path| library_call(trace, path).is_none());
    trace.samples().iter().filter(is_of_function)
}

/// How the time of call paths themselves divides among the functions that samples saw in them.
///
/// Times of regions are exact and those of samples are estimates: a region of one millisecond has five by
/// the one sample that happened to be taken in it. To show the larger of both would make all of them too
/// long, so functions never get more than the region has; where samples stand for more, each gets its share
/// of that.
struct Parts {
    of_path: Vec<Part>,
}

#[derive(Clone, Default)]
struct Part {
    /// Exact, without regions inside; `None` = not known, so samples are all there is.
    exclusive: Option<Nanos>,
    /// What samples stand for, all together and so far taken.
    sampled: Nanos,
    taken: Nanos,
}

impl Parts {
    fn new(facts: &Facts<'_>, n_paths: usize) -> Self {
        let mut of_path = vec![Part::default(); n_paths];
        for row in samples_of_functions(facts.trace) {
            if let Some(part) = row.call_path.and_then(|path| of_path.get_mut(path.idx())) {
                part.sampled = part.sampled + row.time.max(Nanos(0));
            }
        }
        for row in &facts.call_paths {
            if let Some(part) = of_path.get_mut(row.call_path.idx()) {
                part.exclusive = Some(row.exclusive.max(Nanos(0)));
            }
        }
        Self { of_path }
    }

    /// The time of the next samples that were taken in a call path.
    fn take(&mut self, path: usize, sampled: Nanos) -> Nanos {
        let part = &mut self.of_path[path];
        let before = part.up_to(part.taken);
        part.taken = part.taken + sampled.max(Nanos(0));
        part.up_to(part.taken) - before
    }

    /// What no samples were taken in.
    fn rest(&self, path: usize) -> Nanos {
        let part = &self.of_path[path];
        (part.exclusive.unwrap_or_default() - part.sampled).max(Nanos(0))
    }
}

impl Part {
    /// What is shown for the first samples, which stand for so much. Differences of it lose nothing by
    /// rounding.
    fn up_to(&self, sampled: Nanos) -> Nanos {
        match self.exclusive {
            Some(exclusive) if exclusive < self.sampled => {
                let scaled = i128::from(sampled.0) * i128::from(exclusive.0) / i128::from(self.sampled.0);
                Nanos(i64::try_from(scaled).unwrap_or(i64::MAX))
            }
            _ => sampled,
        }
    }
}

struct Tree {
    nodes: Vec<Node>,
}

/// For each call path whether it has a place in the tree. In a part of a run are only those that something of it was in.
fn used(facts: &Facts<'_>) -> Vec<bool> {
    let paths = facts.trace.call_paths();
    let mut used = vec![!facts.part.is_asked(); paths.len()];
    let sampled = facts.trace.samples().iter().filter_map(|row| row.call_path);
    for path in facts.call_paths.iter().map(|row| row.call_path).chain(sampled) {
        if let Some(is_used) = used.get_mut(path.idx()) {
            *is_used = true;
        }
    }
    for idx in (0..paths.len()).rev() {
        if let Some(parent) = paths[idx].parent.filter(|parent| used[idx] && parent.idx() < idx) {
            used[parent.idx()] = true;
        }
    }
    used
}

/// What makes two calls the same node: name, place and kind.
type Key = (String, String, Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Function,
    Region,
}

#[derive(Default)]
struct Node {
    name: String,
    place: String,
    kind: Option<Kind>,
    /// The region that it is.
    region: Option<RegionId>,
    /// Time in the regions of this node and beneath.
    time: Nanos,
    calls: u64,
    /// Call paths that end here.
    paths: Vec<usize>,
    /// How often it lies in itself, at most.
    recursion: usize,
    parent: usize,
    children: BTreeMap<Key, usize>,
}

impl Tree {
    fn new(facts: &Facts<'_>) -> Self {
        let trace = facts.trace;
        let mut chains = Chains::new(trace);
        let mut tree = Self { nodes: vec![Node::default()] };
        let mut places: Vec<Place> = Vec::with_capacity(trace.call_paths().len());
        let used = used(facts);
        for (idx, path) in trace.call_paths().iter().enumerate() {
            let above = path.parent.map(CallPathId::idx).filter(|&parent| parent < idx);
            let mut place = above.map_or_else(Place::default, |parent| places[parent].clone());
            if !used[idx] {
                places.push(place);
                continue;
            }
            let chain = chains.of_path(trace, idx);
            let region = (words::region(trace, path.region), chain.region_place, Kind::Region);
            tree.descend(&mut place, chain.functions.into_iter().map(function).chain([region]));
            tree.nodes[place.node].region = Some(path.region);
            tree.nodes[place.node].paths.push(idx);
            places.push(place);
        }
        let mut parts = Parts::new(facts, places.len());
        for row in samples_of_functions(trace) {
            let path = row.call_path.map(CallPathId::idx).filter(|&path| path < places.len());
            let mut place = path.map_or_else(Place::default, |path| places[path].clone());
            tree.descend(&mut place, chains.of_sample(trace, row).into_iter().map(function));
            let node = &mut tree.nodes[place.node];
            node.time = node.time + path.map_or(row.time, |path| parts.take(path, row.time));
        }
        for row in &facts.call_paths {
            let Some(place) = places.get(row.call_path.idx()) else { continue };
            let node = &mut tree.nodes[place.node];
            node.calls = node.calls.saturating_add(row.visits);
            // What functions have of it hangs beneath.
            node.time = node.time + parts.rest(row.call_path.idx());
        }
        // Children stand behind their parents, so one pass from the back adds everything up.
        for node in (1..tree.nodes.len()).rev() {
            let time = tree.nodes[node].time;
            let parent = tree.nodes[node].parent;
            tree.nodes[parent].time = tree.nodes[parent].time + time;
        }
        tree
    }

    /// Goes down by these steps, which are made if need be.
    fn descend(&mut self, place: &mut Place, steps: impl Iterator<Item = Key>) {
        for key in steps {
            place.node = match self.appearance(place.node, &key) {
                Some(first) => {
                    let times = place.again.entry(first).or_default();
                    *times += 1;
                    self.nodes[first].recursion = self.nodes[first].recursion.max(*times);
                    first
                }
                None => self.child(place.node, key),
            };
        }
    }

    /// The node of this name and kind among one and those above it.
    fn appearance(&self, node: usize, (name, _, kind): &Key) -> Option<usize> {
        let above = |&node: &usize| (node != ROOT).then(|| self.nodes[node].parent);
        let mut line = std::iter::successors(Some(node), above);
        line.find(|&node| self.nodes[node].kind == Some(*kind) && self.nodes[node].name == *name)
    }

    fn child(&mut self, node: usize, key: Key) -> usize {
        if let Some(&child) = self.nodes[node].children.get(&key) {
            return child;
        }
        let child = self.nodes.len();
        let (name, place, kind) = key.clone();
        self.nodes.push(Node { name, place, kind: Some(kind), parent: node, ..Node::default() });
        self.nodes[node].children.insert(key, child);
        child
    }

    /// For each node whether it is among the `count` largest. A parent is never smaller than its
    /// children and stands before them, so what is shown hangs together.
    fn largest(&self, count: usize) -> Vec<bool> {
        let mut order: Vec<usize> = (1..self.nodes.len()).collect();
        order.sort_by(|&a, &b| self.nodes[b].time.cmp(&self.nodes[a].time).then(a.cmp(&b)));
        let mut shown = vec![false; self.nodes.len()];
        order.iter().take(count).for_each(|&node| shown[node] = true);
        shown
    }

    fn children(&self, node: usize) -> Vec<usize> {
        let mut children: Vec<usize> = self.nodes[node].children.values().copied().collect();
        children.sort_by(|&a, &b| self.nodes[b].time.cmp(&self.nodes[a].time).then(a.cmp(&b)));
        children
    }

    /// Call paths that end in these nodes and beneath.
    fn paths_in(&self, mut open: Vec<usize>) -> Vec<usize> {
        let mut paths = Vec::new();
        while let Some(node) = open.pop() {
            paths.extend(&self.nodes[node].paths);
            open.extend(self.nodes[node].children.values());
        }
        paths.sort_unstable();
        paths
    }
}

/// A node for other programs.
#[derive(Serialize)]
pub(super) struct JsonNode<'f> {
    /// Place in the list of the node above it; null = none. It stands before those beneath it.
    parent: Option<usize>,
    /// Function, region, or, for all that are too small to be told, `…`.
    name: String,
    /// Where it was called.
    place: String,
    /// `function`, `region` or `others`.
    kind: &'static str,
    /// Of a region.
    level: Option<&'f str>,
    verb: Option<&'f str>,
    noun: Option<&'f str>,
    calls: u64,
    /// What is beneath it included.
    time_ns: i64,
    recursion: usize,
    /// Places in the archive's table of those call paths that end in it; of all that are too small, theirs.
    call_paths: Vec<usize>,
}

/// The tree for other programs: the largest nodes, parents before their children, those with most time first.
pub(super) fn json<'f>(facts: &'f Facts<'_>) -> Vec<JsonNode<'f>> {
    /// More are not worth their bytes.
    const MOST_NODES: usize = 4000;
    let tree = Tree::new(facts);
    let shown = tree.largest(MOST_NODES);
    let mut nodes = Vec::new();
    let mut open: Vec<(usize, Option<usize>)> =
        tree.children(ROOT).into_iter().rev().map(|it| (it, None)).collect();
    while let Some((number, parent)) = open.pop() {
        if !shown[number] {
            continue;
        }
        let node = &tree.nodes[number];
        let place = nodes.len();
        let region = node.region.and_then(|region| facts.trace.regions().get(region.idx()));
        nodes.push(JsonNode {
            parent,
            name: node.name.clone(),
            place: node.place.clone(),
            kind: if node.kind == Some(Kind::Region) { "region" } else { "function" },
            level: region.map(|it| it.level.as_str()),
            verb: region.map(|it| it.verb.as_str()),
            noun: region.map(|it| it.noun.as_str()),
            calls: node.calls,
            time_ns: node.time.0,
            recursion: node.recursion,
            call_paths: node.paths.clone(),
        });
        let children = tree.children(number);
        let hidden: Vec<usize> = children.iter().copied().filter(|it| !shown[*it]).collect();
        let time: i64 = hidden.iter().map(|it| tree.nodes[*it].time.0).sum();
        if time > 0 {
            nodes.push(JsonNode::others(place, time, tree.paths_in(hidden)));
        }
        open.extend(children.into_iter().rev().map(|it| (it, Some(place))));
    }
    nodes
}

impl JsonNode<'_> {
    fn others(parent: usize, time_ns: i64, call_paths: Vec<usize>) -> Self {
        Self {
            parent: Some(parent),
            name: "…".to_owned(),
            place: String::new(),
            kind: "others",
            level: None,
            verb: None,
            noun: None,
            calls: 0,
            time_ns,
            recursion: 0,
            call_paths,
        }
    }
}

/// Turns a tree into lines.
struct Printer<'a> {
    tree: &'a Tree,
    shown: &'a [bool],
    negligible: Nanos,
    lines: Vec<Line>,
}

/// One line of the tree.
struct Line {
    /// `None` where it is that of the line above.
    time: Option<Nanos>,
    calls: Option<u64>,
    indent: String,
    name: String,
    look: Look,
    place: String,
}

/// What hangs beneath a node.
struct Children {
    /// Worth a line each.
    shown: Vec<usize>,
    /// Number of the others.
    hidden: usize,
    /// Their time.
    rest: Nanos,
}

impl Printer<'_> {
    /// Prints what hangs beneath a node; `indent` stands before each line.
    fn children(&mut self, node: usize, indent: &str) {
        let Children { shown, hidden, rest } = self.split(node);
        let has_rest = !shown.is_empty() && self.negligible < rest;
        if let ([child], false, false) = (shown.as_slice(), has_rest, node == ROOT) {
            return self.chain(*child, indent);
        }
        for (place, &child) in shown.iter().enumerate() {
            let is_last = place + 1 == shown.len() && !has_rest;
            let (branch, below) = match (node == ROOT, is_last) {
                (true, _) => ("", "  "),
                (false, true) => ("└─ ", "   "),
                (false, false) => ("├─ ", "│  "),
            };
            self.line(child, format!("{indent}{branch}"));
            self.children(child, &format!("{indent}{below}"));
        }
        if has_rest {
            let branch = if node == ROOT { "" } else { "└─ " };
            self.note(format!("{indent}{branch}"), format!("… {hidden} more"), Some(rest));
        }
    }

    /// An only child continues its parent's line of descent: no step to the right, or deep chains of
    /// calls would run off the page, and no number, since it is the same.
    fn chain(&mut self, first: usize, indent: &str) {
        let mut chain = vec![first];
        while let Some(next) = chain.last().and_then(|&node| self.only_child(node)) {
            chain.push(next);
        }
        let cut = if MAX_CHAIN < chain.len() { CHAIN_ENDS..chain.len() - CHAIN_ENDS } else { 0..0 };
        for (idx, &node) in chain.iter().enumerate() {
            if idx == cut.start && !cut.is_empty() {
                let name = format!("⋮ {} functions", cut.len());
                self.note(format!("{indent}╰ "), name, None);
            }
            if !cut.contains(&idx) {
                self.line(node, format!("{indent}╰ "));
                let is_function = self.tree.nodes[node].kind == Some(Kind::Function);
                if let (true, Some(line)) = (is_function, self.lines.last_mut()) {
                    line.time = None;
                }
            }
        }
        self.children(*chain.last().expect("it holds the first"), indent);
    }

    /// The child of a node that has no other worth a line.
    fn only_child(&self, node: usize) -> Option<usize> {
        let Children { shown, rest, .. } = self.split(node);
        if let ([child], true) = (shown.as_slice(), rest <= self.negligible) { Some(*child) } else { None }
    }

    fn split(&self, node: usize) -> Children {
        let time_of = |node: &usize| self.tree.nodes[*node].time;
        let is_shown = |child: &usize| self.shown[*child] && self.negligible <= time_of(child);
        let (shown, hidden): (Vec<usize>, Vec<usize>) =
            self.tree.children(node).into_iter().partition(is_shown);
        let rest = hidden.iter().map(time_of).fold(Nanos(0), |sum, time| sum + time);
        Children { shown, hidden: hidden.len(), rest }
    }

    /// A line that stands for several nodes.
    fn note(&mut self, indent: String, name: String, time: Option<Nanos>) {
        self.lines.push(Line { time, calls: None, indent, name, look: Look::Faint, place: String::new() });
    }

    fn line(&mut self, node: usize, indent: String) {
        let Node { name, place, kind, time, calls, recursion, .. } = &self.tree.nodes[node];
        let is_region = *kind == Some(Kind::Region);
        self.lines.push(Line {
            time: Some(*time),
            calls: is_region.then_some(*calls),
            indent,
            name: if *recursion == 0 { name.clone() } else { format!("{name} ↻ {recursion}") },
            look: if is_region { Look::Strong } else { Look::Text },
            place: place.clone(),
        });
    }
}
