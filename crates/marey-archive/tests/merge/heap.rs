//! The heap of a made-up process: its tree becomes call paths, what was there at the peak is known by its
//! number, and what is damaged ends there.

use marey_archive::RunTrace;
use marey_model::spool::heap::NO_NODE;
use marey_model::spool::{Definition, Record, Stream};
use marey_testkit::Process;

use super::added_up::{self, window};
use super::{Merged, NONE};

/// Number of the node above, site; blocks, bytes, freed blocks, freed bytes, the most, what was noted, at
/// which peak.
type Node = (u32, u32, [u64; 7]);

/// Bytes now and at most, twice the number of the peak, when it was over, lost blocks and bytes, the least
/// size.
type Whole = [u64; 7];

/// Has become smaller after its second peak, at 400.
const SMALLER: Whole = [960, 1070, 4, 400, 2, 30, 16];

fn process() -> (Process, Vec<Node>) {
    let mut process = Process::new(7);
    let (name, built_on) = ("memory".to_owned(), Vec::new());
    process.definitions.push(Definition::Level { id: 3, name, tier: 2, built_on });
    let (main, malloc) = (process.site(0, "main"), process.site(3, "malloc"));
    // Another site of the same. When each of the two had most is not known together.
    process.definitions.push(Definition::Site { id: 40, region: malloc, stack: None });
    let mut records = Vec::new();
    Record::Enter { site: main, delta: 0 }.encode(&mut records);
    Record::Leave { delta: 800 }.encode(&mut records);
    process.raw_window(0, 100, 0, records);
    process.end = Some(1_000);
    let nodes = vec![
        (NO_NODE, NO_NODE, [3, 90, 1, 30, 80, 70, 2]),
        (NO_NODE, main, [0; 7]),
        (2, malloc, [5, 900, 2, 400, 800, 600, 2]),
        // What it noted was at the peak before: since then nothing has changed.
        (NO_NODE, malloc, [4, 150, 0, 0, 150, 10, 1]),
        (2, 40, [1, 250, 0, 0, 250, 0, 0]),
    ];
    (process, nodes)
}

/// The nodes as they lie in a window, that of the process first.
fn tree(whole: Whole, nodes: &[Node]) -> Vec<u8> {
    let node = |&(parent, site, sums): &Node| {
        [u64::from(parent) | u64::from(site) << 32].into_iter().chain(sums).collect::<Vec<u64>>()
    };
    let words = [0].into_iter().chain(whole).chain(nodes.iter().flat_map(node));
    words.flat_map(u64::to_le_bytes).collect()
}

/// Merges the process with these windows of a heap: number and content.
fn merged(process: &Process, windows: &[(u64, Vec<u8>)]) -> Merged {
    let mut events = process.event_bytes();
    for (sequence, tree) in windows {
        events.extend(window((Stream::Heap, *sequence), (process.key, 50), 0, tree));
    }
    let merged = added_up::merged(process, &events);
    RunTrace::load(&merged.archive).unwrap();
    merged
}

/// Rows of `allocations`: call path, blocks, bytes, freed blocks, freed bytes, the most, what there was at
/// the peak.
fn allocations(merged: &Merged) -> Vec<String> {
    let (table, paths) = (merged.table("allocations"), merged.paths());
    let row = |row: usize| {
        assert_eq!(table.u32("process").unwrap()[row], 0);
        let path = table.u32("call_path").unwrap()[row];
        let path = if path == NONE { "-" } else { &paths[path as usize] };
        let numbers = ["blocks", "bytes", "freed_blocks", "freed_bytes", "peak", "at_peak"]
            .map(|name| table.i64(name).unwrap()[row].to_string());
        format!("{path}: {}", numbers.join(" "))
    };
    (0..table.len()).map(row).collect()
}

/// The row of `heap`: least, peak and until when, at the end, lost blocks and bytes.
fn heap(merged: &Merged) -> [i64; 6] {
    let table = merged.table("heap");
    assert_eq!(table.u32("process").unwrap(), [0]);
    ["least", "peak", "peak_time", "at_end", "lost_blocks", "lost_bytes"]
        .map(|name| table.i64(name).unwrap()[0])
}

#[test]
fn allocations_have_call_paths_and_what_was_there_at_the_peak() {
    let (process, nodes) = process();
    let merged = merged(&process, &[(0, tree(SMALLER, &nodes))]);
    assert_eq!(
        allocations(&merged),
        ["main/malloc: 6 1150 2 400 850 850", "malloc: 4 150 0 0 150 150", "-: 3 90 1 30 80 70"]
    );
    assert_eq!(heap(&merged), [16, 1070, 400, 960, 2, 30]);
    assert_eq!((merged.problem("lost_blocks"), merged.problem("damaged")), (2, 0));
}

#[test]
fn a_heap_that_never_became_smaller_is_at_its_peak() {
    let (process, nodes) = process();
    let merged = merged(&process, &[(0, tree([960, 960, 5, 400, 0, 0, 16], &nodes))]);
    assert_eq!(
        allocations(&merged),
        ["main/malloc: 6 1150 2 400 800 750", "malloc: 4 150 0 0 150 150", "-: 3 90 1 30 80 60"]
    );
    assert_eq!(heap(&merged), [16, 960, -1, 960, 0, 0]);
    assert_eq!(merged.problem("lost_blocks"), 0);
}

/// A process that was killed may have counted what was freed before what was allocated.
#[test]
fn less_than_nothing_is_nothing() {
    let (process, mut nodes) = process();
    nodes[2].2 = [1, 100, 2, 400, 300, 0, 0];
    let merged = merged(&process, &[(0, tree(SMALLER, &nodes[..3]))]);
    assert_eq!(allocations(&merged), ["main/malloc: 1 100 2 400 300 0", "-: 3 90 1 30 80 70"]);
}

#[test]
fn what_hangs_on_a_damaged_node_is_gone_and_told() {
    let (process, nodes) = process();
    for (at, wrong) in [(3, 9), (3, 1), (3, 0), (0, 0)] {
        let mut nodes = nodes.clone();
        nodes[at].0 = wrong;
        let merged = merged(&process, &[(0, tree(SMALLER, &nodes))]);
        let left = ["main/malloc: 5 900 2 400 800 600", "-: 3 90 1 30 80 70"];
        assert_eq!(allocations(&merged), if at == 3 { &left[..] } else { &[] }, "{at} {wrong}");
        assert_eq!(heap(&merged), [16, 1070, 400, 960, 2, 30]);
        assert_eq!(merged.problem("damaged"), 1);
    }
}

/// Nodes name those above them by numbers, which are others behind a gap: they had been put beneath
/// whatever has these now, and sums of a call path were taken for those of the process.
#[test]
fn what_stands_behind_a_window_that_is_missing_is_not_read() {
    let (process, nodes) = process();
    let whole = tree(SMALLER, &nodes);
    let (first, rest) = whole.split_at(64 * 4);
    let cut = merged(&process, &[(0, first.to_vec()), (2, rest.to_vec())]);
    assert_eq!(allocations(&cut), ["main/malloc: 5 900 2 400 800 600", "-: 3 90 1 30 80 70"]);
    assert_eq!(heap(&cut), [16, 1070, 400, 960, 2, 30]);
    assert_eq!(cut.problem("damaged"), 1);
    let headless = merged(&process, &[(1, rest.to_vec())]);
    assert_eq!((headless.table("heap").len(), headless.table("allocations").len()), (0, 0));
    assert_eq!(headless.problem("damaged"), 1);
    let both = merged(&process, &[(0, first.to_vec()), (1, rest.to_vec())]);
    assert_eq!(allocations(&both).len(), 3);
    assert_eq!(both.problem("damaged"), 0);
}

/// Such a stack had a number and no row, and nobody could open the archive.
#[test]
fn a_call_out_of_the_recorder_alone_has_no_stack() {
    let (mut process, mut nodes) = process();
    let malloc = process.site(3, "malloc");
    process.definitions.push(Definition::Module {
        id: 0,
        path: "/run/libmarey.so".to_owned(),
        build_id: Vec::new(),
        bias: 0x20_000,
        start: 0x20_000,
        end: 0x21_000,
        ticks: 0,
    });
    let frames = [vec![(0, 0x100)], vec![(7, 0x1500), (0, 0x100)]];
    for ((stack, site), frames) in [(0, 41), (1, 42)].into_iter().zip(frames) {
        process.definitions.extend([
            Definition::Stack { id: stack, frames, complete: true },
            Definition::Site { id: site, region: malloc, stack: Some(stack) },
        ]);
    }
    (nodes[3].1, nodes[4].1) = (41, 42);
    let merged = merged(&process, &[(0, tree(SMALLER, &nodes))]);
    let stacks = merged.table("stacks");
    assert_eq!((stacks.u32("id").unwrap(), stacks.i64("vaddr").unwrap()), (&[0][..], &[0x1500][..]));
    let of_paths = merged.table("call_paths").u32("stack").unwrap().to_vec();
    assert_eq!(of_paths.iter().filter(|&&stack| stack == 0).count(), 1, "{of_paths:?}");
}
