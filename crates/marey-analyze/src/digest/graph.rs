//! Who calls whom, by name.
//!
//! The one idea: call stacks and nested regions of recorded calls are the same in every run of a program, so what they
//! say of functions can be compared.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{FunctionName, RegionName};
use crate::trace::Trace;

/// A function, or a call of a library that has a region of its own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Node {
    Function(FunctionName),
    Call(RegionName),
}

/// Neighbours of each function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) functions: BTreeMap<FunctionName, Neighbours>,
}

/// Who calls a function, and whom it calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Neighbours {
    pub(crate) callers: BTreeSet<FunctionName>,
    pub(crate) callees: BTreeSet<Node>,
}

impl Graph {
    pub(crate) fn of(run: &dyn Trace) -> Self {
        let mut graph = Self::default();
        let node = |path: usize| {
            let region = RegionName::of(run.regions().get(run.call_paths()[path].region.idx())?);
            Some(region.function().map_or(Node::Call(region), Node::Function))
        };
        for (idx, path) in run.call_paths().iter().enumerate() {
            let Some(mut callee) = node(idx) else { continue };
            graph.note(&callee);
            let parent =
                path.parent.filter(|parent| parent.idx() < idx).and_then(|parent| node(parent.idx()));
            let frames = path.stack.map_or_else(Vec::new, |stack| run.stack(stack));
            let names = frames.iter().filter(|frame| !frame.function.is_empty());
            let mut callers: Vec<FunctionName> = names.map(|frame| FunctionName::of(frame)).collect();
            // A region that its function is instrumented for has no stack, but one around it.
            if callers.is_empty()
                && let Some(Node::Function(parent)) = parent
            {
                callers.push(parent);
            }
            for caller in callers {
                graph.add(&caller, &callee);
                callee = Node::Function(caller);
            }
        }
        graph
    }

    fn note(&mut self, node: &Node) {
        if let Node::Function(function) = node {
            self.functions.entry(function.clone()).or_default();
        }
    }

    fn add(&mut self, caller: &FunctionName, callee: &Node) {
        // Whoever calls itself is not told by that.
        if *callee == Node::Function(caller.clone()) {
            return;
        }
        self.functions.entry(caller.clone()).or_default().callees.insert(callee.clone());
        if let Node::Function(callee) = callee {
            self.functions.entry(callee.clone()).or_default().callers.insert(caller.clone());
        }
    }
}
