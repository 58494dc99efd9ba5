//! Samples: where a thread was whenever it had used another period of processor time.
//!
//! The one idea: samples are counted in a tree, whose nodes take the same space however long the run is. The
//! way to a node is first a root, then the regions that were open, outermost first, then the functions on the
//! call stack, outermost first, and at last the place in the innermost one. What is counted is right whenever the
//! process dies, because a node never moves, and two numbers of it are all that a sample changes.
//!
//! Counters beside the time lie in the same tree: beneath where a thread was is a node for each, to which is added what
//! has been counted since they were read last. They are read at samples and whenever a region is entered or left, so
//! what lies right beneath the open regions and what lies beneath the functions in them make up the regions' share.
//!
//! A stream of samples has [`NODE_LEN`] bytes for each node. A node stands behind the one that it hangs beneath.
//! A stream of instants has [`INSTANT_LEN`] bytes for each sample, as long as events are kept.
//!
//! So have counters beside the time, now and then.
//!
//! Deliberately absent: what the addresses mean. The process's definitions say which modules lay where.

use super::window::HEAD_LEN;

/// Bytes of a node.
pub const NODE_LEN: usize = 32;
/// Bytes of an instant.
pub const INSTANT_LEN: usize = 16;
/// Among instants, numbers of nodes from here up stand for counters: how much has come since the instant before of
/// the same.
pub const FIRST_COUNTER: u32 = 0xffff_ff00;
/// Stands for the node above a root.
pub const NO_NODE: u32 = u32::MAX;
/// Bytes of the first window of a tree: short threads need no more.
pub const FIRST_TREE: usize = 8 << 10;
/// Bytes of each window behind it.
pub const LATER_TREE: usize = 64 << 10;

/// The most nodes above one; whoever walks up from each has so little to do at most. Recorders stop at half of it.
pub const MAX_WAY: usize = 1 << 10;

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum NodeKind {
    /// Above it there is nothing. Its value is the period, ns of processor time. There is a new one whenever
    /// addresses may have got another meaning.
    Root = 0,
    /// An open region. Its value is the site.
    Site = 1,
    /// A function that has called another. Its value is the return address.
    Call = 2,
    /// A function that was interrupted. Its value is the address of the instruction.
    Place = 3,
    /// Beneath it, functions are missing: the unwind tables did not say more, or the stack was too deep.
    Cut = 4,
    /// Samples for which there was no room.
    Lost = 5,
    /// A counter. Its value is the counter's number, its periods what was counted, its samples how often it was read.
    Count = 6,
    /// Right beneath a root: how long a counter that has to share the processor's with others has counted. Its value
    /// is the counter's number, its periods that time, its samples the time in which it should have; both ns.
    Covered = 7,
}

impl NodeKind {
    /// Whether it is a place that a sample can end in, and not what was counted there.
    pub const fn is_context(self) -> bool {
        !matches!(self, Self::Count | Self::Covered)
    }
}

impl NodeKind {
    /// The kind that a number of a spool stands for.
    pub const fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => Self::Root,
            1 => Self::Site,
            2 => Self::Call,
            3 => Self::Place,
            4 => Self::Cut,
            5 => Self::Lost,
            6 => Self::Count,
            7 => Self::Covered,
            _ => return None,
        })
    }
}

/// A node of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// The number of the node above; [`NO_NODE`] above a root.
    pub parent: u32,
    /// What it is.
    pub kind: NodeKind,
    /// What it stands for, see [`NodeKind`].
    pub value: u64,
    /// Periods of processor time that had passed at the samples that ended here.
    pub periods: u64,
    /// These samples. Of a root, since when it holds, ticks.
    pub samples: u64,
}

/// A sample at its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instant {
    /// When, ticks.
    pub ticks: u64,
    /// The node that it ended in; from [`FIRST_COUNTER`] up that and the number of a counter.
    pub node: u32,
    /// Periods that had passed; or what the counter had counted.
    pub weight: u32,
}

/// The nodes in windows of one stream, each from its beginning to the end of what is committed, in their order.
/// Stops at the first that makes no sense, since those behind it hang on it; false then.
pub fn nodes(windows: &[impl AsRef<[u8]>]) -> (Vec<Node>, bool) {
    let mut nodes: Vec<Node> = Vec::new();
    let mut depths: Vec<usize> = Vec::new();
    for bytes in windows.iter().flat_map(|window| behind_head(window.as_ref()).chunks_exact(NODE_LEN)) {
        let Some(node) = node(bytes).filter(|node| hangs_together(node, nodes.len())) else {
            return (nodes, false);
        };
        let depth = depths.get(node.parent as usize).map_or(0, |depth| depth + 1);
        if depth > MAX_WAY {
            return (nodes, false);
        }
        nodes.push(node);
        depths.push(depth);
    }
    (nodes, true)
}

/// A root stands alone, all else behind what it hangs beneath.
fn hangs_together(node: &Node, number: usize) -> bool {
    match node.kind {
        NodeKind::Root | NodeKind::Lost => node.parent == NO_NODE,
        _ => (node.parent as usize) < number,
    }
}

fn node(bytes: &[u8]) -> Option<Node> {
    let (words, _) = bytes.as_chunks::<8>();
    let [first, value, periods, samples] = *words else { return None };
    let first = u64::from_le_bytes(first);
    let kind = NodeKind::from_code(u32::try_from(first >> 32).ok()?)?;
    let parent = u32::try_from(first & u64::from(u32::MAX)).ok()?;
    let [value, periods, samples] = [value, periods, samples].map(u64::from_le_bytes);
    Some(Node { parent, kind, value, periods, samples })
}

/// The instants in a part of a window: any number of times [`INSTANT_LEN`] behind its head.
pub fn instants(part: &[u8]) -> impl Iterator<Item = Instant> {
    part.as_chunks::<INSTANT_LEN>().0.iter().map(|bytes| {
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let ticks = u64::from(word(0)) | u64::from(word(4)) << 32;
        Instant { ticks, node: word(8), weight: word(12) }
    })
}

fn behind_head(window: &[u8]) -> &[u8] {
    window.get(HEAD_LEN..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(nodes: &[(u32, u32, u64)]) -> Vec<u8> {
        let mut bytes = vec![0; HEAD_LEN];
        for &(parent, kind, number) in nodes {
            for word in [u64::from(parent) | u64::from(kind) << 32, 7, number, 9] {
                bytes.extend(word.to_le_bytes());
            }
        }
        bytes
    }

    #[test]
    fn nodes_come_back_until_one_makes_no_sense() {
        let good = window(&[(NO_NODE, 0, 0), (NO_NODE, 5, 2), (0, 1, 0), (2, 3, 40)]);
        let (found, is_whole) = nodes(&[&good]);
        assert!(is_whole);
        assert_eq!(found[3], Node { parent: 2, kind: NodeKind::Place, value: 7, periods: 40, samples: 9 });
        for (wrong, left) in
            [((5, 2, 0), 4), ((4, 2, 0), 4), ((NO_NODE, 1, 0), 4), ((0, 8, 0), 4), ((0, 0, 0), 4)]
        {
            let (found, is_whole) = nodes(&[good.clone(), window(&[wrong, (0, 2, 1)])]);
            assert_eq!((found.len(), is_whole), (left, false), "{wrong:?}");
        }
    }

    #[test]
    fn a_way_that_no_recorder_makes_is_damage() {
        let chain = |len: u32| {
            window(
                &(0..len).map(|n| if n == 0 { (NO_NODE, 0, 0) } else { (n - 1, 2, 1) }).collect::<Vec<_>>(),
            )
        };
        let most = u32::try_from(MAX_WAY).unwrap() + 1;
        assert!(nodes(&[chain(most)]).1);
        let (found, is_whole) = nodes(&[chain(most + 5)]);
        assert_eq!((found.len(), is_whole), (MAX_WAY + 1, false));
    }

    #[test]
    fn instants_come_back() {
        let mut bytes = Vec::new();
        bytes.extend(5_000_000_000_u64.to_le_bytes());
        bytes.extend([3_u32, 2].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend([1, 2, 3]);
        let found: Vec<_> = instants(&bytes).collect();
        assert_eq!(found, [Instant { ticks: 5_000_000_000, node: 3, weight: 2 }]);
    }
}
