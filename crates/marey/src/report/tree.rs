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
/// Characters of branches and name together, so that the place still fits a line of a hundred.
const NAME_WIDTH: usize = 48;
const PLACE_WIDTH: usize = 24;

/// Prints the tree.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    page.title("CALL TREE", "time in measured regions beneath each function, and where it was called")?;
    let tree = Tree::new(page);
    let shown = tree.largest(page.top.saturating_mul(LINES_PER_ROW));
    let mut table = Table::new(&[
        ("time", Side::Right),
        ("share", Side::Right),
        ("calls", Side::Right),
        ("function or region", Side::Left),
        ("called at", Side::Left),
    ]);
    let mut printer =
        Printer { tree: &tree, shown: &shown, whole: tables::time_of_locations(page), table: &mut table };
    printer.children(ROOT, "");
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
        let common = frames.iter().zip(&outer).take_while(|(a, b)| a.function == b.function).count();
        let mut node = above;
        for (idx, frame) in frames.iter().enumerate().skip(common) {
            let place = idx.checked_sub(1).map_or_else(String::new, |idx| place(frames[idx]));
            node = self.child(node, (words::function(&frame.function), place, Kind::Function), parents);
        }
        let place = frames.last().map_or_else(String::new, |frame| place(frame));
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

struct Printer<'a> {
    tree: &'a Tree,
    shown: &'a [bool],
    whole: i64,
    table: &'a mut Table,
}

impl Printer<'_> {
    /// Prints what hangs beneath a node; `indent` stands before each line.
    fn children(&mut self, node: usize, indent: &str) {
        let all = self.tree.children(node);
        let shown: Vec<usize> = all.iter().copied().filter(|&child| self.shown[child]).collect();
        let hidden = all.len() - shown.len();
        // An only child continues its parent's line of descent: no step to the right, or deep
        // chains of calls would run off the page.
        if let ([child], 0, false) = (shown.as_slice(), hidden, node == ROOT) {
            self.line(*child, indent, "╰ ");
            return self.children(*child, indent);
        }
        for (place, &child) in shown.iter().enumerate() {
            let is_last = place + 1 == shown.len() && hidden == 0;
            let (branch, below) = match (node == ROOT, is_last) {
                (true, _) => ("", "  "),
                (false, true) => ("└─ ", "   "),
                (false, false) => ("├─ ", "│  "),
            };
            self.line(child, indent, branch);
            self.children(child, &format!("{indent}{below}"));
        }
        if hidden > 0 && !shown.is_empty() {
            let time =
                all.iter().filter(|&&child| !self.shown[child]).map(|&child| self.tree.nodes[child].time);
            let time = time.fold(Nanos(0), |sum, time| sum + time);
            let branch = if node == ROOT { "" } else { "└─ " };
            self.table.row([
                Cell::new(Look::Faint, format::duration(time)),
                Cell::new(Look::Faint, format::percent(time.0, self.whole)),
                "".into(),
                Cell::new(Look::Faint, format!("{indent}{branch}… {hidden} more")),
                "".into(),
            ]);
        }
    }

    fn line(&mut self, node: usize, indent: &str, branch: &str) {
        let Node { name, place, kind, time, calls, .. } = &self.tree.nodes[node];
        let is_region = *kind == Some(Kind::Region);
        let width = NAME_WIDTH.saturating_sub(indent.chars().count() + branch.chars().count()).max(16);
        let name = format!("{indent}{branch}{}", shorten(name, width));
        self.table.row([
            format::duration(*time).into(),
            format::percent(time.0, self.whole).into(),
            if is_region { format::count(*calls) } else { String::new() }.into(),
            Cell::new(if is_region { Look::Strong } else { Look::Text }, name),
            Cell::new(Look::Faint, shorten(place, PLACE_WIDTH)),
        ]);
    }
}

/// The call stack of a path, outermost function first, without what runs before `main`.
fn frames<'t>(trace: &'t dyn Trace, path: &CallPath) -> Vec<&'t Frame> {
    let mut frames = path.stack.map(|stack| trace.stack(stack)).unwrap_or_default();
    while let Some(outermost) = frames.last() {
        let is_before_main = match outermost.function.as_str() {
            // In Rust and Fortran the C function `main` only leads to the program's own.
            "main" => frames.len() > 1 && leads_to_main(&frames[frames.len() - 2].function),
            name => is_startup(name),
        };
        if !is_before_main {
            break;
        }
        frames.pop();
    }
    frames.reverse();
    frames
}

fn leads_to_main(function: &str) -> bool {
    function == "MAIN__" || is_startup(function)
}

/// Functions of the C library and of language runtimes that call a program's or thread's first.
fn is_startup(function: &str) -> bool {
    const NAMES: [&str; 7] = [
        "_start",
        "start_thread",
        "clone",
        "clone3",
        "__clone3",
        "__libc_start_main",
        "__libc_start_call_main",
    ];
    const PREFIXES: [&str; 8] = [
        "__libc_start_main",
        "libc.so.6+",
        "ld-linux",
        "libmarey.so+",
        "std::",
        "core::ops::function::",
        "<core::",
        "__rust_",
    ];
    NAMES.contains(&function) || PREFIXES.iter().any(|prefix| function.starts_with(prefix))
}

fn place(frame: &Frame) -> String {
    words::place(&frame.file, frame.line)
}
