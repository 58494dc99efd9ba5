//! Samples in a made-up spool: addresses go to the modules that lay there at the time, contexts to call paths, and
//! what is damaged ends there.

use marey_archive::RunTrace;
use marey_model::spool::samples::NO_NODE;
use marey_model::spool::{Definition, Record, Stream};
use marey_testkit::{Process, Spool};

use super::added_up::{self, window};
use super::missing::{file, merged as merged_after};
use super::{Merged, NONE};

/// Number of the node above, kind, value, periods, samples.
pub(crate) type Node = (u32, u32, u64, u64, u64);

pub(crate) const ROOT: u32 = 0;
pub(crate) const SITE: u32 = 1;
pub(crate) const CALL: u32 = 2;
pub(crate) const PLACE: u32 = 3;
const CUT: u32 = 4;
pub(crate) const LOST: u32 = 5;

/// The recorder lies at 0x20000, the program at 0x1000; at 0x8000 first one library, then another.
pub(crate) fn process() -> (Process, Vec<Node>) {
    process_of(7)
}

fn process_of(key: u64) -> (Process, Vec<Node>) {
    let mut process = Process::new(key);
    let main = process.site(0, "main");
    let mut records = Vec::new();
    Record::Enter { site: main, delta: 0 }.encode(&mut records);
    Record::Leave { delta: 800 }.encode(&mut records);
    process.raw_window(0, 100, 0, records);
    process.end = Some(1_000);
    process.module(0, "/bin/app", 0x1000, 0);
    process.module(1, "/lib/a.so", 0x8000, 0);
    process.module(2, "/run/libmarey.so", 0x20000, 0);
    process.definitions.push(Definition::Unmapped { id: 1, ticks: 500 });
    process.module(3, "/lib/b.so", 0x8000, 550);
    let nodes = vec![
        (NO_NODE, LOST, 0, 3, 3),
        (NO_NODE, ROOT, 1_000, 0, 50),
        (1, CALL, 0x1500, 0, 0),
        (2, PLACE, 0x8010, 4, 4),
        (1, SITE, main.into(), 0, 0),
        (4, CALL, 0x1600, 0, 0),
        (5, CALL, 0x20100, 0, 0),
        (6, PLACE, 0x1700, 5, 2),
        (NO_NODE, ROOT, 1_000, 0, 600),
        (8, CUT, 0, 0, 0),
        (9, PLACE, 0x8010, 1, 1),
    ];
    (process, nodes)
}

/// The nodes as they lie in a window.
fn tree(nodes: &[Node]) -> Vec<u8> {
    let words = |&(parent, kind, value, periods, samples): &Node| {
        [u64::from(parent) | u64::from(kind) << 32, value, periods, samples]
    };
    nodes.iter().flat_map(words).flat_map(u64::to_le_bytes).collect()
}

pub(crate) fn merged(process: &Process, nodes: &[Node], instants: &[(u64, u32, u32)]) -> Merged {
    let instant =
        |&(ticks, node, weight): &(u64, u32, u32)| [ticks, u64::from(node) | u64::from(weight) << 32];
    let log: Vec<u8> = instants.iter().flat_map(instant).flat_map(u64::to_le_bytes).collect();
    let mut events = process.event_bytes();
    events.extend(window((Stream::Samples, 0), (process.key, 50), 0, &tree(nodes)));
    events.extend(window((Stream::Instants, 0), (process.key, 0), 0, &log));
    added_up::merged(process, &events)
}

/// A stack as `path+address`, innermost first.
pub(crate) fn stack(merged: &Merged, id: u32) -> String {
    let (stacks, modules) = (merged.table("stacks"), merged.table("modules"));
    let rows = (0..stacks.len()).filter(|&row| stacks.u32("id").unwrap()[row] == id);
    let frame = |row: usize| {
        let module = stacks.u32("module").unwrap()[row] as usize;
        let path = modules.text("path").unwrap().get(module).map_or("?", String::as_str);
        format!("{path}+{:#x}", stacks.i64("vaddr").unwrap()[row])
    };
    rows.map(frame).collect::<Vec<_>>().join(" < ")
}

/// Rows of `sampled`: call path, stack, samples, periods, time, whether it is complete.
pub(crate) fn sampled(merged: &Merged) -> Vec<String> {
    let (table, paths) = (merged.table("sampled"), merged.paths());
    let row = |row: usize| {
        let path = table.u32("call_path").unwrap()[row];
        let path = if path == NONE { "-" } else { &paths[path as usize] };
        let [samples, periods, time] =
            ["samples", "periods", "time"].map(|name| table.i64(name).unwrap()[row]);
        let complete = table.u32("complete").unwrap()[row];
        format!(
            "{path}: {} {samples} {periods} {time} {complete}",
            stack(merged, table.u32("stack").unwrap()[row])
        )
    };
    (0..table.len()).map(row).collect()
}

#[test]
fn contexts_become_call_paths_and_stacks() {
    let (process, nodes) = process();
    let merged = merged(&process, &nodes, &[(200, 7, 3), (300, 7, 2), (400, 99, 1), (700, 10, 1)]);
    // The place of an instruction is the address behind it, as if it were a call; the recorder is left out.
    assert_eq!(
        sampled(&merged),
        [
            "main: /bin/app+0x701 < /bin/app+0x600 2 5 5000 1",
            "-: /lib/a.so+0x11 < /bin/app+0x500 4 4 4000 1",
            "-: /lib/b.so+0x11 1 1 1000 0",
        ]
    );
    assert_eq!((merged.problem("lost_samples"), merged.problem("damaged")), (3, 0));
    let (table, paths) = (merged.table("samples"), merged.paths());
    let row = |row: usize| {
        let path = table.u32("call_path").unwrap()[row];
        let path = if path == NONE { "-" } else { &paths[path as usize] };
        (table.i64("time").unwrap()[row], path.to_owned(), table.i64("periods").unwrap()[row])
    };
    let rows: Vec<_> = (0..table.len()).map(row).collect();
    // One is of a node that did not make it to the file.
    assert_eq!(rows, [(200, "main".to_owned(), 3), (300, "main".to_owned(), 2), (700, "-".to_owned(), 1)]);
}

#[test]
fn what_hangs_on_a_damaged_node_is_gone_and_told() {
    let (process, mut nodes) = process();
    nodes[6].0 = 40;
    let merged = merged(&process, &nodes, &[(200, 7, 3), (250, 3, 1)]);
    assert_eq!(sampled(&merged), ["-: /lib/a.so+0x11 < /bin/app+0x500 4 4 4000 1"]);
    assert_eq!(merged.problem("damaged"), 1);
    assert_eq!(merged.table("samples").i64("time").unwrap(), [250]);
}

/// Nodes name those above them by numbers, which are others behind a gap.
#[test]
fn what_stands_behind_a_window_that_is_missing_is_not_read() {
    let (process, nodes) = process();
    let (first, rest) = nodes.split_at(4);
    for (numbers, expected) in [([0, 1], 3), ([0, 2], 1), ([1, 2], 0)] {
        let mut events = process.event_bytes();
        for (number, nodes) in numbers.into_iter().zip([first, rest]) {
            events.extend(window((Stream::Samples, number), (process.key, 50), 0, &tree(nodes)));
        }
        let merged = added_up::merged(&process, &events);
        let rows = sampled(&merged);
        assert_eq!(rows.len(), expected, "{numbers:?}: {rows:?}");
        assert!(expected != 1 || rows == ["-: /lib/a.so+0x11 < /bin/app+0x500 4 4 4000 1"], "{rows:?}");
        assert_eq!(merged.problem("damaged"), u64::from(expected != 3), "{numbers:?}");
    }
}

/// Numbers of processes are random, and their order in the run is that of their ranks.
#[test]
fn each_process_has_modules_of_its_own() {
    let (_, nodes) = process();
    let mut spool = Spool::new();
    for (rank, key) in (0..).zip([7, 3, 5]) {
        let (mut process, _) = process_of(key);
        process.join_world("world", 3, rank);
        spool.processes.push(process);
    }
    let merged = merged_after(&spool, |place| {
        for process in &spool.processes {
            let mut events = process.event_bytes();
            events.extend(window((Stream::Samples, 0), (process.key, 50), 0, &tree(&nodes)));
            std::fs::write(place.join(file(process, "events")), events).unwrap();
        }
    });
    let rows = sampled(&merged);
    assert_eq!(rows.len(), 3 * 3);
    for expected in
        ["/bin/app+0x701 < /bin/app+0x600 2", "/lib/a.so+0x11 < /bin/app+0x500 4", "/lib/b.so+0x11 1"]
    {
        assert_eq!(rows.iter().filter(|row| row.contains(expected)).count(), 3, "{expected}: {rows:#?}");
    }
}

/// Such a stack had a number and no row, and nobody could open the archive.
#[test]
fn a_sample_in_the_recorder_alone_has_no_stack() {
    let (process, mut nodes) = process();
    nodes.insert(2, (1, CALL, 0x20_200, 2, 2));
    for (number, node) in nodes.iter_mut().enumerate().skip(3) {
        node.0 = if node.0 == NO_NODE || node.0 < 2 { node.0 } else { node.0 + 1 };
        assert!(node.0 == NO_NODE || (node.0 as usize) < number);
    }
    let merged = merged(&process, &nodes, &[]);
    RunTrace::load(&merged.archive).unwrap();
    let rows = sampled(&merged);
    assert_eq!((rows.len(), rows[3].as_str()), (4, "-:  2 2 2000 1"), "{rows:?}");
}
