//! The call graph, the callees of one function at a time.

use super::none;
use crate::frame::Columns;
use crate::program::{Callee, Program};
use crate::run::Opened;
use crate::wire::{CalleesHead, CalleesOf, SourceWayHead, WayTo, WireCallee};

/// More callees of one function are not told, nor more functions that none calls.
const MOST_CALLEES: usize = 1000;

pub(in crate::answers) fn callees(run: &Opened<'_>, asked: &CalleesOf) -> Vec<u8> {
    let it = run.program();
    let Some(number) = asked.node else {
        let roots = it.graph.roots.iter().take(MOST_CALLEES).map(|node| of_node(it, *node));
        let left_out = left(it.graph.roots.len());
        let head = CalleesHead { node: None, callees: roots.collect(), left_out, unknown: 0 };
        return Columns::default().frame("callees", &head);
    };
    let Some(node) = it.graph.nodes.get(number as usize) else { return none("function", number) };
    let callees = node.callees.iter().take(MOST_CALLEES).map(|call| called(it, call));
    let head = CalleesHead {
        node: asked.node,
        callees: callees.collect(),
        left_out: left(node.callees.len()),
        unknown: node.unknown,
    };
    Columns::default().frame("callees", &head)
}

fn left(all: usize) -> u32 {
    u32::try_from(all.saturating_sub(MOST_CALLEES)).unwrap_or(u32::MAX)
}

/// A function as one that calls it has it.
fn called(it: &Program, call: &Callee) -> WireCallee {
    WireCallee {
        is_static: call.is_static,
        is_measured: call.is_measured,
        is_inlined: call.is_inlined,
        from_line: call.line,
        call: call.cost,
        ..of_node(it, call.node)
    }
}

/// A function as one that none calls has it.
fn of_node(it: &Program, node: u32) -> WireCallee {
    let found = &it.graph.nodes[node as usize];
    let function = it.functions.get(node as usize);
    WireCallee {
        node,
        name: found.name.clone(),
        function: function.map(|_| node),
        region: found.region,
        file: function.and_then(|function| function.file),
        line: function.map_or(0, |function| function.line),
        is_parallel: found.is_parallel,
        callees: u32::try_from(found.callees.len()).unwrap_or(u32::MAX),
        cost: found.cost,
        is_static: false,
        is_measured: false,
        is_inlined: false,
        from_line: 0,
        call: found.cost,
    }
}

pub(in crate::answers) fn way(run: &Opened<'_>, asked: &WayTo) -> Vec<u8> {
    let it = run.program();
    let nodes = it.graph.way(&asked.name);
    let first = nodes.first().map(|node| of_node(it, *node));
    let others = nodes.windows(2).filter_map(|pair| {
        let callees = &it.graph.nodes.get(pair[0] as usize)?.callees;
        callees.iter().find(|callee| callee.node == pair[1]).map(|callee| called(it, callee))
    });
    let way = first.into_iter().chain(others).collect();
    Columns::default().frame("source-way", &SourceWayHead { way })
}
