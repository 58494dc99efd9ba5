//! The heap of a process: which call paths have allocated how much, how much of it was there at once, and who had it
//! then.
//!
//! The one idea: a tree of call paths with a few sums at each node, which take the same space however long the run is
//! and lie in the file, so that they are right whenever the process dies. The way to a node is the regions that were
//! open, outermost first, and at last the call that allocated.
//!
//! What each path had at the process's peak is not copied at every new peak, for nearly every block may be one.
//! Instead peaks have numbers ([`Whole::turn`]), and a path notes what it has before it changes for the first time
//! after one. A path that has noted nothing since the last peak still has what it had then.
//!
//! A stream of a heap has [`NODE_LEN`] bytes for each node: first one for the process ([`Whole`]), then one for blocks
//! whose call path is not known, then the paths, each behind the one that it hangs beneath.
//!
//! Deliberately absent: single blocks. Which there are is known in the process only.

use super::window::HEAD_LEN;

/// Bytes of a node.
pub const NODE_LEN: usize = 64;
/// Stands for the node above the outermost paths, and for the site of those that are none.
pub const NO_NODE: u32 = u32::MAX;
/// The node of blocks whose call path is not known.
pub const UNKNOWN_PATH: u32 = 1;
/// The first node that is a call path.
pub const FIRST_PATH: u32 = 2;
/// Bytes of the first window: most programs need no more.
pub const FIRST_WINDOW: usize = 8 << 10;
/// Bytes of each window behind it.
pub const LATER_WINDOW: usize = 64 << 10;
/// The most nodes above one: as many as there are open regions, and some.
pub const MAX_WAY: usize = 1 << 10;

/// Byte offsets in the node of the process, after the word that says that it is one.
pub mod at {
    /// See [`super::Whole::live`].
    pub const LIVE: usize = 8;
    /// See [`super::Whole::peak`].
    pub const PEAK: usize = 16;
    /// See [`super::Whole::turn`].
    pub const TURN: usize = 24;
    /// See [`super::Whole::peak_ticks`].
    pub const PEAK_TICKS: usize = 32;
    /// See [`super::Whole::lost_blocks`].
    pub const LOST_BLOCKS: usize = 40;
    /// See [`super::Whole::lost_bytes`].
    pub const LOST_BYTES: usize = 48;
    /// See [`super::Whole::least`].
    pub const LEAST: usize = 56;
}

/// What is said of the process's blocks together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Whole {
    /// Bytes that are allocated and not freed.
    pub live: u64,
    /// The most that they ever were.
    pub peak: u64,
    /// Twice the number of times that the heap has become smaller after a new peak; and 1 more if it has not yet
    /// become smaller after the last.
    pub turn: u64,
    /// When it became smaller after the last peak, ticks; 0 if it never has.
    pub peak_ticks: u64,
    /// Blocks that were not recorded, for want of room or because a handler of signals asked for them.
    pub lost_blocks: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// Blocks of at least so many bytes are recorded.
    pub least: u64,
}

/// A call path that has allocated, or that lies above such paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// The number of the node above; [`NO_NODE`] for the outermost.
    pub parent: u32,
    /// The site of the region, or of the call that allocated; [`NO_NODE`] if not known.
    pub site: u32,
    /// Blocks allocated.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of these blocks have been freed, by whomever.
    pub freed_blocks: u64,
    /// Their bytes.
    pub freed_bytes: u64,
    /// The most bytes of the path that were allocated and not freed.
    pub high: u64,
    /// What it had when the heap last became smaller after a peak, as far as it knows.
    pub noted: u64,
    /// The number of that peak, half of [`Whole::turn`].
    pub noted_turn: u64,
}

impl Node {
    /// Bytes that are allocated and not freed. A process that was killed may have counted one of the two only.
    pub fn live(&self) -> u64 {
        self.bytes.saturating_sub(self.freed_bytes)
    }

    /// What it had at the process's peak, bytes.
    pub fn at_peak(&self, whole: &Whole) -> u64 {
        let is_at_peak = whole.turn & 1 == 1;
        if is_at_peak || self.noted_turn != whole.turn >> 1 { self.live() } else { self.noted }
    }
}

/// What the windows of one stream say, each from its beginning to the end of what is committed, in their order: the
/// process, the nodes by their numbers, and whether all of it makes sense. Stops at the first that makes none. The node
/// of the process counts, but says nothing as one.
pub fn read(windows: &[impl AsRef<[u8]>]) -> (Option<Whole>, Vec<Node>, bool) {
    let mut whole = None;
    let mut nodes: Vec<Node> = Vec::new();
    let mut depths: Vec<usize> = Vec::new();
    for bytes in windows.iter().flat_map(|window| behind_head(window.as_ref()).chunks_exact(NODE_LEN)) {
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let (parent, site) = (low(word(0)), low(word(0) >> 32));
        if whole.is_none() {
            whole = Some(Whole {
                live: word(at::LIVE),
                peak: word(at::PEAK),
                turn: word(at::TURN),
                peak_ticks: word(at::PEAK_TICKS),
                lost_blocks: word(at::LOST_BLOCKS),
                lost_bytes: word(at::LOST_BYTES),
                least: word(at::LEAST),
            });
            nodes.push(Node::nothing());
            depths.push(0);
            continue;
        }
        let number = nodes.len();
        let is_known = number >= FIRST_PATH as usize;
        let hangs = parent == NO_NODE || (FIRST_PATH <= parent && (parent as usize) < number);
        let depth = depths.get(parent as usize).map_or(0, |depth| depth + 1);
        if !hangs || depth > MAX_WAY || (site == NO_NODE) == is_known {
            return (whole, nodes, false);
        }
        depths.push(depth);
        nodes.push(Node {
            parent,
            site,
            blocks: word(8),
            bytes: word(16),
            freed_blocks: word(24),
            freed_bytes: word(32),
            high: word(40),
            noted: word(48),
            noted_turn: word(56),
        });
    }
    (whole, nodes, true)
}

impl Node {
    const fn nothing() -> Self {
        let (parent, site) = (NO_NODE, NO_NODE);
        let (blocks, bytes, freed_blocks, freed_bytes, high, noted, noted_turn) = (0, 0, 0, 0, 0, 0, 0);
        Self { parent, site, blocks, bytes, freed_blocks, freed_bytes, high, noted, noted_turn }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
const fn low(word: u64) -> u32 {
    word as u32
}

fn behind_head(window: &[u8]) -> &[u8] {
    window.get(HEAD_LEN..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes as (parent, site, seven words).
    fn window(nodes: &[(u32, u32, [u64; 7])]) -> Vec<u8> {
        let mut bytes = vec![0; HEAD_LEN];
        for &(parent, site, words) in nodes {
            bytes.extend((u64::from(parent) | u64::from(site) << 32).to_le_bytes());
            bytes.extend(words.into_iter().flat_map(u64::to_le_bytes));
        }
        bytes
    }

    const WHOLE: (u32, u32, [u64; 7]) = (NO_NODE, NO_NODE, [30, 70, 6, 99, 2, 20, 4096]);
    const OTHERS: (u32, u32, [u64; 7]) = (NO_NODE, NO_NODE, [0; 7]);

    #[test]
    fn nodes_come_back_until_one_makes_no_sense() {
        let good = window(&[WHOLE, OTHERS, (NO_NODE, 3, [0; 7]), (2, 4, [9, 90, 8, 60, 70, 50, 3])]);
        let (whole, nodes, is_whole) = read(&[&good]);
        assert!(is_whole);
        let told = whole.unwrap();
        assert_eq!((told.live, told.peak, told.turn, told.peak_ticks), (30, 70, 6, 99));
        assert_eq!((told.lost_blocks, told.lost_bytes, told.least), (2, 20, 4096));
        assert_eq!((nodes[3].parent, nodes[3].site, nodes[3].live()), (2, 4, 30));
        for wrong in [(4, 5, [0; 7]), (0, 5, [0; 7]), (1, 5, [0; 7]), (2, NO_NODE, [0; 7])] {
            let (_, nodes, is_whole) = read(&[good.clone(), window(&[wrong, (2, 7, [0; 7])])]);
            assert_eq!((nodes.len(), is_whole), (4, false), "{wrong:?}");
        }
        assert_eq!(read(&[Vec::new()]), (None, Vec::new(), true));
    }

    #[test]
    fn a_way_that_no_recorder_makes_is_damage() {
        let chain = |len: u32| {
            let ways = (0..len).map(|n| (if n == 0 { NO_NODE } else { n + 1 }, 5, [0; 7]));
            window(&[WHOLE, OTHERS].into_iter().chain(ways).collect::<Vec<_>>())
        };
        let most = u32::try_from(MAX_WAY).unwrap() + 1;
        assert!(read(&[chain(most)]).2);
        assert!(!read(&[chain(most + 1)]).2);
    }

    #[test]
    fn what_a_path_had_at_the_peak_is_what_it_noted_or_still_has() {
        let node = Node { bytes: 90, freed_bytes: 60, noted: 50, noted_turn: 3, ..Node::nothing() };
        let at = |turn: u64| node.at_peak(&Whole { turn, ..Whole::default() });
        // Noted at this peak; at an earlier one; the heap is at its peak now.
        assert_eq!((at(6), at(8), at(7)), (50, 30, 30));
    }
}
