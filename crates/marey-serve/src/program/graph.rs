//! Who calls whom: calls that binary and text tell, and those that were seen when the program ran, in one graph.
//!
//! The one idea: a node is a function of the program, or a name of a library's; an edge says which of the witnesses knows it. A
//! call through an address has no callee unless one was seen. Nodes are told with their callees, one at a time.

use std::collections::{BTreeMap, VecDeque};

use marey_analyze::{MeasuredFunction, Trace, Waits, measured_graph};
use marey_model::Level;
use rustc_hash::FxHashMap;

use super::{Program, of_graph};
use crate::run::Opened;
use crate::wire::WireCost;

/// All of it; the first nodes are the functions of the program, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// Those that no function of the program calls, what took longest first.
    pub(crate) roots: Vec<u32>,
}

/// A function.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) region: Option<u32>,
    pub(crate) cost: WireCost,
    /// Whether it has, or leads to, something that is done in parallel.
    pub(crate) is_parallel: bool,
    /// Calls through addresses.
    pub(crate) unknown: u32,
    /// What took longest first, then in the order of lines.
    pub(crate) callees: Vec<Callee>,
}

/// A call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Callee {
    pub(crate) node: u32,
    pub(crate) is_static: bool,
    pub(crate) is_measured: bool,
    pub(crate) is_inlined: bool,
    /// The first line; 0 = unknown.
    pub(crate) line: u32,
    pub(crate) cost: WireCost,
}

/// The graph in the making.
struct Making<'p> {
    program: &'p Program,
    nodes: Vec<Node>,
    /// Functions by name.
    by_name: FxHashMap<&'p str, Vec<u32>>,
    /// Functions of files by their first lines.
    by_line: BTreeMap<&'p str, Vec<(u32, u32, u32)>>,
    /// Nodes that are no functions of the program, by name.
    others: FxHashMap<String, u32>,
    calls: BTreeMap<(u32, u32), Callee>,
}

impl Graph {
    /// Puts both together.
    pub(super) fn of(run: &Opened<'_>, program: &Program, waits: Option<&Waits>) -> Self {
        let mut making = Making::new(program);
        making.add_static();
        making.add_measured(run, waits);
        let Making { mut nodes, calls, .. } = making;
        for ((caller, _), callee) in &calls {
            nodes[*caller as usize].callees.push(*callee);
        }
        for node in &mut nodes {
            // They come in the order of their numbers, and stay so where all else is equal.
            node.callees.sort_by_key(|it| (std::cmp::Reverse(weight(&it.cost)), it.line));
        }
        spread(&mut nodes, program);
        let roots = roots(&nodes, program);
        Self { nodes, roots }
    }

    /// The shortest way to a function of a name, from one that none calls; empty = there is none.
    pub(crate) fn way(&self, to: &str) -> Vec<u32> {
        let mut before: Vec<Option<u32>> = vec![None; self.nodes.len()];
        let mut queue: VecDeque<u32> = self.roots.iter().copied().collect();
        let mut is_seen = vec![false; self.nodes.len()];
        self.roots.iter().for_each(|root| is_seen[*root as usize] = true);
        while let Some(node) = queue.pop_front() {
            if self.nodes[node as usize].name == to {
                let mut way = vec![node];
                while let Some(at) = way.last().and_then(|at| before[*at as usize]) {
                    way.push(at);
                }
                way.reverse();
                return way;
            }
            for callee in &self.nodes[node as usize].callees {
                if !std::mem::replace(&mut is_seen[callee.node as usize], true) {
                    before[callee.node as usize] = Some(node);
                    queue.push_back(callee.node);
                }
            }
        }
        Vec::new()
    }
}

/// By what functions are put in order.
pub(crate) fn weight(cost: &WireCost) -> i64 {
    cost.inclusive_ns.saturating_add(cost.call_ns)
}

impl<'p> Making<'p> {
    fn new(program: &'p Program) -> Self {
        let mut by_name: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let mut by_line: BTreeMap<&str, Vec<(u32, u32, u32)>> = BTreeMap::new();
        for (number, it) in (0..).zip(&program.functions) {
            by_name.entry(&it.name).or_default().push(number);
            if it.first != 0 {
                by_line.entry(program.path(it.file)).or_default().push((it.first, it.last, number));
            }
        }
        by_line.values_mut().for_each(|lines| lines.sort_unstable());
        let node = |it: &super::Function| Node { name: it.name.clone(), ..Node::default() };
        let nodes = program.functions.iter().map(node).collect();
        Self { program, nodes, by_name, by_line, others: FxHashMap::default(), calls: BTreeMap::new() }
    }

    /// The node of a name that is no function of the program.
    fn other(&mut self, name: &str) -> u32 {
        if let Some(known) = self.others.get(name) {
            return *known;
        }
        let number = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(Node { name: name.to_owned(), ..Node::default() });
        self.others.insert(name.to_owned(), number);
        number
    }

    fn add_static(&mut self) {
        // A binary says who is called; names in the text only where there is none that does.
        let has_calls = self.program.modules.iter().any(|module| module.has_calls);
        for call in &self.program.calls {
            let Some(caller) = call.caller else { continue };
            let is_of_text = call.known_to == "text";
            let caller_is_alone = self.program.functions[caller as usize].known_to == "text";
            if is_of_text && (call.kind != "by name" || has_calls && !caller_is_alone) {
                continue;
            }
            let callee = match call.callee {
                Some(callee) => callee,
                None if call.name.is_empty() => {
                    let unknown = &mut self.nodes[caller as usize].unknown;
                    *unknown = unknown.saturating_add(call.times);
                    continue;
                }
                None => match self.by_name.get(call.name.as_str()).map(Vec::as_slice) {
                    Some([only]) => *only,
                    _ => self.other(&call.name),
                },
            };
            let edge = self.edge(caller, callee, call.line);
            edge.is_static = true;
            edge.is_inlined |= call.kind == "inlined";
        }
    }

    fn add_measured(&mut self, run: &Opened<'_>, waits: Option<&Waits>) {
        let measured = measured_graph(&run.trace, waits);
        let places: Vec<u32> = measured.functions.iter().map(|it| self.find(it)).collect();
        for (it, node) in measured.functions.iter().zip(&places) {
            let node = &mut self.nodes[*node as usize];
            node.region = node.region.or(it.region.map(|region| region.0));
            // Several that were seen may be one, as instances are that only the text knows.
            add(&mut node.cost, &of_graph(&it.cost, it.exclusive.time.0));
        }
        for call in &measured.calls {
            let edge = self.edge(places[call.caller], places[call.callee], call.line);
            edge.is_measured = true;
            add(&mut edge.cost, &of_graph(&call.cost, 0));
        }
        for node in &mut self.nodes {
            let region = node.region.and_then(|region| run.trace.regions().get(region as usize));
            node.is_parallel =
                region.is_some_and(|it| [Level::MPI, Level::THREADS].contains(&it.level.as_str()));
        }
    }

    fn edge(&mut self, caller: u32, callee: u32, line: u32) -> &mut Callee {
        let edge = self.calls.entry((caller, callee)).or_insert(Callee { node: callee, ..Callee::default() });
        if line != 0 && (edge.line == 0 || line < edge.line) {
            edge.line = line;
        }
        edge
    }

    /// The function that was seen: by its name, else by the lines that it lies in.
    fn find(&mut self, seen: &MeasuredFunction<'_>) -> u32 {
        if seen.region.is_some() {
            return self.other(seen.name);
        }
        let plain = marey_analyze::without_parameters(seen.name);
        for name in [seen.name, plain] {
            match self.by_name.get(name).map(Vec::as_slice) {
                Some([only]) => return *only,
                Some(several) => {
                    let is_there = |it: &&u32| {
                        let it = &self.program.functions[**it as usize];
                        self.program.path(it.file) == seen.file
                            && it.first <= seen.line
                            && seen.line <= it.last
                    };
                    if let Some(found) = several.iter().find(is_there).or(several.first()) {
                        return *found;
                    }
                }
                None => {}
            }
        }
        let lines = self.by_line.get(seen.file).map_or(&[][..], Vec::as_slice);
        let before = lines.partition_point(|(first, _, _)| *first <= seen.line);
        let around = lines[..before].iter().rev().find(|(_, last, _)| seen.line != 0 && seen.line <= *last);
        match around {
            Some((_, _, number)) => *number,
            None => self.other(seen.name),
        }
    }
}

fn add(to: &mut WireCost, more: &WireCost) {
    to.exclusive_ns = to.exclusive_ns.saturating_add(more.exclusive_ns);
    to.inclusive_ns = to.inclusive_ns.saturating_add(more.inclusive_ns);
    to.calls = to.calls.saturating_add(more.calls);
    to.call_ns = to.call_ns.saturating_add(more.call_ns);
    to.bytes = to.bytes.saturating_add(more.bytes);
    to.waiting_ns = to.waiting_ns.saturating_add(more.waiting_ns);
}

/// Marks all that leads to something that is done in parallel.
fn spread(nodes: &mut [Node], program: &Program) {
    for function in program.constructs.iter().filter_map(|it| it.function) {
        nodes[function as usize].is_parallel = true;
    }
    for node in nodes.iter_mut().filter(|node| node.name.starts_with("MPI_")) {
        node.is_parallel = true;
    }
    let mut callers: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (caller, node) in (0..).zip(nodes.iter()) {
        node.callees.iter().for_each(|callee| callers[callee.node as usize].push(caller));
    }
    let all = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let mut left: Vec<u32> = (0..all).filter(|node| nodes[*node as usize].is_parallel).collect();
    while let Some(node) = left.pop() {
        for caller in &callers[node as usize] {
            if !std::mem::replace(&mut nodes[*caller as usize].is_parallel, true) {
                left.push(*caller);
            }
        }
    }
}

/// Functions of the user's that no function of the program but themselves calls.
fn roots(nodes: &[Node], program: &Program) -> Vec<u32> {
    let functions = program.functions.len();
    let mut is_called = vec![false; nodes.len()];
    for (caller, node) in nodes.iter().enumerate().take(functions) {
        for callee in node.callees.iter().filter(|callee| callee.node as usize != caller) {
            is_called[callee.node as usize] = true;
        }
    }
    let is_users = |node: &u32| {
        let file = program.functions[*node as usize].file;
        file.and_then(|file| program.files.get(file as usize)).is_some_and(|file| !file.is_of_system)
    };
    let all = u32::try_from(functions).unwrap_or(u32::MAX);
    let mut roots: Vec<u32> = (0..all).filter(|node| !is_called[*node as usize] && is_users(node)).collect();
    roots.sort_by_key(|node| {
        let it = &nodes[*node as usize];
        let is_main = matches!(it.name.as_str(), "main" | "MAIN__");
        (!is_main, std::cmp::Reverse(weight(&it.cost)), it.callees.is_empty(), it.name.clone())
    });
    roots
}
