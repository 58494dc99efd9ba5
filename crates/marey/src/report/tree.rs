//! The call tree: from the program's outermost function down to the measured regions.
//!
//! The one idea: a call path and its call stack tell one story, so they become one tree. A region
//! of the program stands between the functions that it was entered from and those that were called
//! inside it. A node's time is that of the measured regions beneath it; what a function computes by
//! itself is not measured and not shown.

use std::collections::BTreeMap;
use std::io;

use marey_analyze::{CallPath, Frame, Trace};
use marey_model::Nanos;

use super::{Page, tables};
use crate::format;
use crate::paint::{Look, shorten};
use crate::table::{Cell, Side, Table};
use crate::words;

/// Lines of the tree for one row of other tables: chains of calls are long and say little a line.
const LINES_PER_ROW: usize = 2;
/// Characters of a line for branches, name and place together.
const TEXT_WIDTH: usize = 72;
const PLACE_WIDTH: usize = 28;
/// Less than this share of all measured time is not worth a line: one part in so many.
const NEGLIGIBLE: i64 = 1000;

/// Prints the tree.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    page.title("CALL TREE", "time in measured regions beneath each function, and where it was called")?;
    let tree = Tree::new(page);
    let shown = tree.largest(page.top.saturating_mul(LINES_PER_ROW));
    let mut printer = Printer {
        tree: &tree,
        shown: &shown,
        negligible: Nanos(tree.nodes[ROOT].time.0 / NEGLIGIBLE),
        lines: Vec::new(),
    };
    printer.children(ROOT, "");
    let lines = printer.lines;
    if lines.is_empty() {
        return page.nothing("no call paths");
    }

    let whole = tables::time_of_locations(page);
    let place_width = lines.iter().map(|line| line.place.chars().count()).max().unwrap_or(0).min(PLACE_WIDTH);
    let mut table = Table::new(&[
        ("time", Side::Right),
        ("share", Side::Right),
        ("calls", Side::Right),
        ("function or region", Side::Left),
        ("called at", Side::Left),
    ]);
    for Line { time, calls, indent, name, look, place } in lines {
        let width = TEXT_WIDTH.saturating_sub(place_width + indent.chars().count()).max(16);
        table.row([
            format::duration(time).into(),
            format::percent(time.0, whole).into(),
            calls.map_or_else(String::new, format::count).into(),
            Cell::new(look, format!("{indent}{}", shorten(&name, width))),
            Cell::new(Look::Faint, shorten(&place, place_width)),
        ]);
    }
    table.print(page.out, page.paint)
}

const ROOT: usize = 0;

struct Tree {
    nodes: Vec<Node>,
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
    /// Time in the regions of this node and beneath.
    time: Nanos,
    calls: u64,
    children: BTreeMap<Key, usize>,
}

impl Tree {
    fn new(page: &Page<'_>) -> Self {
        let trace = page.facts.trace;
        let mut tree = Self { nodes: vec![Node::default()] };
        let mut parents = vec![ROOT; 1];
        let mut node_of_path: Vec<usize> = Vec::with_capacity(trace.call_paths().len());
        for path in trace.call_paths() {
            let above = path.parent.and_then(|parent| node_of_path.get(parent.idx()).copied());
            let node = tree.insert(trace, path, above.unwrap_or(ROOT), &mut parents);
            node_of_path.push(node);
        }
        for row in &page.facts.call_paths {
            let Some(&node) = node_of_path.get(row.call_path.idx()) else { continue };
            tree.nodes[node].calls += row.visits;
            tree.nodes[node].time = tree.nodes[node].time + row.exclusive;
        }
        // Children stand behind their parents, so one pass from the back adds everything up.
        for node in (1..tree.nodes.len()).rev() {
            let time = tree.nodes[node].time;
            let parent = &mut tree.nodes[parents[node]];
            parent.time = parent.time + time;
        }
        tree
    }

    /// Finds or makes the nodes of a call path beneath that of its parent.
    fn insert(
        &mut self,
        trace: &dyn Trace,
        path: &CallPath,
        above: usize,
        parents: &mut Vec<usize>,
    ) -> usize {
        let frames = frames(trace, path);
        let outer = path.parent.and_then(|parent| trace.call_paths().get(parent.idx()));
        let outer = outer.map(|outer| self::frames(trace, outer)).unwrap_or_default();
        // The same functions, though perhaps at another line of the innermost one.
        let common = frames.iter().zip(&outer).take_while(|(a, b)| a.name == b.name).count();
        let mut node = above;
        for (idx, frame) in frames.iter().enumerate().skip(common) {
            let place = idx.checked_sub(1).map_or_else(String::new, |idx| frames[idx].calls_at.clone());
            node = self.child(node, (frame.name.clone(), place, Kind::Function), parents);
        }
        let place = frames.last().map_or_else(String::new, |frame| frame.calls_at.clone());
        self.child(node, (words::region(trace, path.region), place, Kind::Region), parents)
    }

    fn child(&mut self, node: usize, key: Key, parents: &mut Vec<usize>) -> usize {
        if let Some(&child) = self.nodes[node].children.get(&key) {
            return child;
        }
        let child = self.nodes.len();
        let (name, place, kind) = key.clone();
        self.nodes.push(Node { name, place, kind: Some(kind), ..Node::default() });
        parents.push(node);
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
    time: Nanos,
    calls: Option<u64>,
    indent: String,
    name: String,
    look: Look,
    place: String,
}

impl Printer<'_> {
    /// Prints what hangs beneath a node; `indent` stands before each line.
    fn children(&mut self, node: usize, indent: &str) {
        let tree = self.tree;
        let time_of = |node: &usize| tree.nodes[*node].time;
        let all = tree.children(node);
        let (shown, hidden): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|child| self.shown[*child] && self.negligible <= time_of(child));
        let rest = hidden.iter().map(time_of).fold(Nanos(0), |sum, time| sum + time);
        let has_rest = !shown.is_empty() && self.negligible < rest;
        // An only child continues its parent's line of descent: no step to the right, or deep
        // chains of calls would run off the page.
        if let ([child], false, false) = (shown.as_slice(), has_rest, node == ROOT) {
            self.line(*child, format!("{indent}╰ "));
            return self.children(*child, indent);
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
            self.lines.push(Line {
                time: rest,
                calls: None,
                indent: format!("{indent}{branch}"),
                name: format!("… {} more", hidden.len()),
                look: Look::Faint,
                place: String::new(),
            });
        }
    }

    fn line(&mut self, node: usize, indent: String) {
        let Node { name, place, kind, time, calls, .. } = &self.tree.nodes[node];
        let is_region = *kind == Some(Kind::Region);
        self.lines.push(Line {
            time: *time,
            calls: is_region.then_some(*calls),
            indent,
            name: name.clone(),
            look: if is_region { Look::Strong } else { Look::Text },
            place: place.clone(),
        });
    }
}

/// The call stack of a path, outermost function first, without what runs before `main`.
fn frames(trace: &dyn Trace, path: &CallPath) -> Vec<Caller> {
    let mut frames = path.stack.map(|stack| trace.stack(stack)).unwrap_or_default();
    frames.reverse();
    let startup = frames.iter().rposition(|frame| is_startup(&frame.function));
    let mut callers: Vec<Caller> =
        frames.iter().skip(startup.map_or(0, |idx| idx + 1)).map(|frame| Caller::new(frame)).collect();
    // Whatever the C library calls first is the program's `main`, also without symbols.
    let is_c_main = startup.is_some_and(|idx| frames[idx].function.starts_with("__libc_start_"));
    if let (true, Some(outermost)) = (is_c_main, callers.first_mut()) {
        outermost.name = "main".to_owned();
    }
    // In Fortran the C function `main` only leads to the program's own.
    if callers.get(1).is_some_and(|inner| inner.name == "MAIN__") {
        callers.remove(0);
    }
    callers
}

/// A function on a call stack and where it calls the next one.
struct Caller {
    name: String,
    calls_at: String,
}

impl Caller {
    fn new(frame: &Frame) -> Self {
        match without_offset(&frame.function) {
            // All functions without symbols of a module look the same; only the place differs.
            Some(module) => Self {
                name: format!("({})", words::function(module)),
                calls_at: crate::paint::harmless(&frame.function),
            },
            None => Self {
                name: words::function(&frame.function),
                calls_at: words::place(&frame.file, frame.line),
            },
        }
    }
}

/// The module of an address that has no name: `lmp` of `lmp+0x1261`.
fn without_offset(function: &str) -> Option<&str> {
    let (module, offset) = function.rsplit_once("+0x")?;
    (!offset.is_empty() && offset.bytes().all(|c| c.is_ascii_hexdigit())).then_some(module)
}

/// Functions of the C library and of language runtimes that call a program's or thread's first.
fn is_startup(function: &str) -> bool {
    const NAMES: [&str; 5] = ["_start", "start_thread", "clone", "clone3", "__clone3"];
    const PARTS: [&str; 2] = ["__libc_start_", "__rust_begin_short_backtrace"];
    NAMES.contains(&function) || PARTS.iter().any(|part| function.contains(part))
}
