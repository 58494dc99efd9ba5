//! The tree of call sites: each call path as a chain of frames and regions from the root.
//!
//! The one idea: what repeats in a program is a sequence of places in one function, so places are put beneath the place
//! that they were called from, whether a recorded region or a frame of the call stack tells it.
//!
//! What is deliberately absent: what repeats.

use marey_model::{CallPathId, LocationId, Nanos};
use rustc_hash::FxHashMap;

use crate::happenings::Interval;
use crate::trace::{Frame, Location, Trace};

/// A place in the tree; 0 is the root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct NodeId(pub(super) u32);

impl NodeId {
    pub(super) const ROOT: Self = Self(0);

    pub(super) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Token {
    Root,
    Frame(Frame),
    Region(CallPathId),
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) token: Token,
    /// The first call path whose chain it is in.
    pub(super) first_path: CallPathId,
    pub(super) children: Vec<NodeId>,
}

/// All chains of a run.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// By call path: its nodes, from the root's child on.
    chains: Vec<Vec<NodeId>>,
}

/// Chains deeper than this are cut: recursion without end must not fill the memory.
const DEEPEST: usize = 256;

impl Tree {
    pub(super) fn new(run: &dyn Trace) -> Self {
        let root = Node { token: Token::Root, first_path: CallPathId(0), children: Vec::new() };
        let mut tree = Self { nodes: vec![root], chains: Vec::new() };
        let mut places: FxHashMap<(NodeId, Token), NodeId> = FxHashMap::default();
        for (idx, path) in run.call_paths().iter().enumerate() {
            let Some(id) = CallPathId::from_idx(idx) else { break };
            let parent = path.parent.map(CallPathId::idx).filter(|parent| *parent < idx);
            let stack_of = |stack| run.stack(stack).into_iter().rev();
            let own = path.stack.into_iter().flat_map(stack_of);
            let above = parent.and_then(|parent| run.call_paths()[parent].stack);
            let above: Vec<&Frame> = above.into_iter().flat_map(stack_of).collect();
            let shared = own.clone().zip(&above).take_while(|(own, above)| own == *above).count();
            let frames = own.skip(shared).map(|frame| Token::Frame(frame.clone()));
            let mut chain = parent.map_or_else(Vec::new, |parent| tree.chains[parent].clone());
            for token in frames.chain([Token::Region(id)]).take(DEEPEST - chain.len().min(DEEPEST)) {
                let above = chain.last().copied().unwrap_or(NodeId::ROOT);
                let place = places.entry((above, token.clone()));
                chain.push(*place.or_insert_with(|| tree.add(above, token, id)));
            }
            tree.chains.push(chain);
        }
        tree
    }

    fn add(&mut self, parent: NodeId, token: Token, path: CallPathId) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { token, first_path: path, children: Vec::new() });
        self.nodes[parent.idx()].children.push(id);
        id
    }

    /// The nodes of a call path, from the root's child on; empty if there is no such path.
    pub(super) fn chain(&self, path: CallPathId) -> &[NodeId] {
        self.chains.get(path.idx()).map_or(&[], Vec::as_slice)
    }

    /// All chains, by call path.
    pub(super) fn chains(&self) -> impl Iterator<Item = (CallPathId, &[NodeId])> {
        (0..).map(CallPathId).zip(self.chains.iter().map(Vec::as_slice))
    }

    /// Whether a node leads to one region only, and how many nodes below it that is.
    pub(super) fn only_region(&self, mut node: NodeId) -> (bool, usize) {
        for depth in 0.. {
            if self.region(node).is_some() {
                return (true, depth);
            }
            let [only] = self.nodes[node.idx()].children[..] else { return (false, depth) };
            node = only;
        }
        (false, 0)
    }

    /// The call path of a node that is a region.
    pub(super) fn region(&self, node: NodeId) -> Option<CallPathId> {
        match self.nodes[node.idx()].token {
            Token::Region(path) => Some(path),
            _ => None,
        }
    }
}

/// Where a location is in the tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Walker {
    /// The call path of the event before.
    path: Option<CallPathId>,
    /// Ends and starts of the visits that are open.
    open: Vec<(Nanos, Nanos)>,
    /// The latest end of a visit that is over.
    pub(super) idle_since: Nanos,
}

/// A step from one event to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'t> {
    /// Nodes of the event.
    pub(super) chain: &'t [NodeId],
    /// Nodes of the event before.
    pub(super) before: &'t [NodeId],
    /// How many nodes of it go on from the event before; those behind begin a run.
    pub(super) shared: usize,
    /// The start and end of the visit around it.
    pub(super) around: Option<(Nanos, Nanos)>,
}

impl Walker {
    /// Goes on to the next event of the location.
    pub(super) fn step<'t>(&mut self, tree: &'t Tree, event: &Interval) -> Step<'t> {
        while let Some(&(end, _)) = self.open.last()
            && end <= event.start
        {
            self.idle_since = self.idle_since.max(end);
            self.open.pop();
        }
        let around = self.open.last().map(|&(end, start)| (start, end));
        self.open.push((event.end, event.start));
        let chain = tree.chain(event.call_path);
        let before = self.path.map_or(&[][..], |path| tree.chain(path));
        let shared = if self.path == Some(event.call_path) {
            chain.len()
        } else {
            chain.iter().zip(before).take_while(|(now, before)| now == before).count()
        };
        self.path = Some(event.call_path);
        Step { chain, before, shared, around }
    }
}

/// Locations that are looked at: all, or so many at equal distances.
pub(super) fn looked_at(run: &dyn Trace, most: usize) -> Vec<LocationId> {
    let is_meant =
        |(_, location): &(usize, &Location)| location.has_time() && !run.leaves_out(location.process);
    let all: Vec<usize> = run.locations().iter().enumerate().filter(is_meant).map(|it| it.0).collect();
    let number = all.len().min(most);
    (0..number).filter_map(|at| LocationId::from_idx(all[at * all.len() / number])).collect()
}
