//! Trees of samples and of heaps: what the target `trees` takes its inputs for, and a process that they can
//! be of.

use marey_model::spool::samples::{FIRST_COUNTER, NO_NODE, NodeKind};
use marey_model::spool::{Definition, Stream, heap, samples};
use marey_testkit::Process;

use crate::{everything, join, take_apart, window};

/// Sites of calls that allocate: beneath the recorder, and inside it alone.
const BENEATH: u32 = 41;
const INSIDE: u32 = 42;

/// An input of the target `trees`, taken apart.
pub struct Trees<'a> {
    /// How many nodes the first window of each tree has; the highest bit says that the window behind it is
    /// missing.
    pub cut: u8,
    /// Nodes of a tree of samples.
    pub samples: &'a [u8],
    /// Instants of samples.
    pub instants: &'a [u8],
    /// Nodes of a heap.
    pub heap: &'a [u8],
}

impl<'a> Trees<'a> {
    /// Any bytes are an input.
    pub fn of(bytes: &'a [u8]) -> Option<Self> {
        let (cut, [samples, instants, heap]) = take_apart(bytes)?;
        Some(Self { cut, samples, instants, heap })
    }

    /// The input that is taken apart into these.
    pub fn join(&self) -> Vec<u8> {
        join(self.cut, [self.samples, self.instants, self.heap])
    }

    /// The windows that they lie in.
    pub fn windows(&self) -> Vec<u8> {
        let (nodes, second) = (usize::from(self.cut % 128), 1 + u64::from(self.cut / 128));
        let mut windows = window(Stream::Instants, 0, &[], self.instants);
        for (stream, tree, len) in
            [(Stream::Samples, self.samples, samples::NODE_LEN), (Stream::Heap, self.heap, heap::NODE_LEN)]
        {
            let (before, behind) = tree.split_at(tree.len().min(nodes * len));
            windows.extend(window(stream, 0, &[], before));
            windows.extend(window(stream, second, &[], behind));
        }
        windows
    }
}

/// The first process of [`everything`] with counters, an allocator, libraries that come and go, and the
/// recorder.
pub fn sampled() -> Process {
    let mut process = everything().processes.swap_remove(0);
    let counted = |id, name: &str, source: &str| Definition::Counted {
        id,
        name: name.to_owned(),
        unit: String::new(),
        source: source.to_owned(),
    };
    process.definitions.push(Definition::Level {
        id: 3,
        name: "memory".to_owned(),
        tier: 2,
        built_on: Vec::new(),
    });
    let malloc = process.site(3, "malloc");
    process.module(1, "/lib/a.so", 0x10_000, 1);
    process.module(2, "/run/libmarey.so", 0x20_000, 1);
    process.definitions.push(Definition::Unmapped { id: 1, ticks: 500 });
    process.module(3, "/lib/b.so", 0x10_000, 550);
    process.definitions.extend([
        counted(0, "cycles", "hardware"),
        counted(1, "page-faults", "kernel"),
        Definition::Stack { id: 1, frames: vec![(2, 0x100), (0, 0x2000)], complete: true },
        Definition::Stack { id: 2, frames: vec![(2, 0x100)], complete: false },
        Definition::Site { id: BENEATH, region: malloc, stack: Some(1) },
        Definition::Site { id: INSIDE, region: malloc, stack: Some(2) },
    ]);
    process
}

/// Inputs in which everything happens once, in one window and in two, with and without one that is missing.
pub fn trees() -> Vec<Vec<u8>> {
    let (samples, instants, heap) = (sample_tree(), instants(), heap_tree());
    let input = |cut| Trees { cut, samples: &samples, instants: &instants, heap: &heap }.join();
    [127, 0, 1, 3, 5, 128, 131].map(input).to_vec()
}

fn bytes(words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

fn sample_tree() -> Vec<u8> {
    use NodeKind::{Call, Count, Covered, Cut, Lost, Place, Root, Site};
    let nodes = [
        (NO_NODE, Root, 1_000_000, 0, 5),
        (NO_NODE, Lost, 0, 3, 3),
        (0, Covered, 0, 300, 400),
        (0, Count, 1, 40, 2),
        (0, Site, 0, 0, 0),
        (4, Count, 0, 100, 3),
        (4, Call, 0x1600, 0, 0),
        (6, Call, 0x20_100, 0, 0),
        (7, Place, 0x10_010, 5, 2),
        (8, Count, 0, 60, 2),
        // Of nobody but the recorder.
        (0, Call, 0x20_200, 1, 1),
        (NO_NODE, Root, 1_000_000, 0, 600),
        (11, Cut, 0, 0, 0),
        (12, Place, 0x10_010, 1, 1),
        // Nobody has defined the site.
        (11, Site, 77, 0, 0),
        (14, Place, 0x2000, 2, 2),
        (1, Count, 0, 5, 1),
    ];
    let words = |(parent, kind, value, periods, samples): (u32, NodeKind, u64, u64, u64)| {
        [u64::from(parent) | u64::from(kind as u32) << 32, value, periods, samples]
    };
    bytes(nodes.into_iter().flat_map(words))
}

fn instants() -> Vec<u8> {
    let instants = [(20, 8, 2), (30, FIRST_COUNTER, 7), (40, 13, 1), (50, FIRST_COUNTER + 1, 9), (60, 99, 1)];
    let words = |(ticks, node, weight): (u64, u32, u32)| [ticks, u64::from(node) | u64::from(weight) << 32];
    bytes(instants.into_iter().flat_map(words))
}

fn heap_tree() -> Vec<u8> {
    let nodes = [
        // Of the process.
        (0, 0, [760, 870, 4, 400, 2, 30, 16]),
        (heap::NO_NODE, heap::NO_NODE, [3, 90, 1, 30, 80, 70, 2]),
        (heap::NO_NODE, 0, [0; 7]),
        (2, BENEATH, [5, 900, 2, 400, 800, 600, 2]),
        (heap::NO_NODE, INSIDE, [4, 150, 0, 0, 150, 10, 1]),
        (2, 77, [1, 50, 0, 0, 50, 0, 0]),
    ];
    let words = |(parent, site, sums): (u32, u32, [u64; 7])| {
        [u64::from(parent) | u64::from(site) << 32].into_iter().chain(sums)
    };
    bytes(nodes.into_iter().flat_map(words))
}
