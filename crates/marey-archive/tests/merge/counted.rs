//! Counters beside the time in a made-up tree of samples: what was counted goes to the region and the stack
//! that it hangs beneath, and what several nodes say of one place is one row.

use marey_archive::RunTrace;
use marey_model::spool::Definition;
use marey_model::spool::samples::{FIRST_COUNTER, NO_NODE};
use marey_testkit::Process;

use super::samples::{CALL, LOST, Node, PLACE, ROOT, SITE, merged, process, sampled, stack};
use super::{Merged, NONE};

const COUNT: u32 = 6;
const COVERED: u32 = 7;

/// Of the counters 0 and 5; nobody has defined 9.
fn counted() -> (Process, Vec<Node>) {
    let (mut process, _) = process();
    for (id, name, source) in [(0, "cycles", "hardware"), (5, "page-faults", "kernel")] {
        let (name, source) = (name.to_owned(), source.to_owned());
        process.definitions.push(Definition::Counted { id, name, unit: String::new(), source });
    }
    let main = process.site(0, "main").into();
    let nodes = vec![
        (NO_NODE, ROOT, 1_000, 0, 50),
        (0, COUNT, 0, 40, 2),
        (0, COVERED, 0, 300, 400),
        (0, SITE, main, 0, 0),
        (3, COUNT, 0, 100, 3),
        (3, COUNT, 5, 7, 1),
        (3, CALL, 0x1600, 0, 0),
        (6, PLACE, 0x1700, 5, 2),
        (7, COUNT, 0, 60, 2),
        (7, COUNT, 9, 11, 1),
        // The same again after something has been loaded.
        (NO_NODE, ROOT, 1_000, 0, 600),
        (10, SITE, main, 0, 0),
        (11, COUNT, 0, 5, 1),
        (10, COVERED, 0, 100, 100),
        // A counter that never had its turn.
        (10, COVERED, 5, 0, 50),
        // A place in which no sample ended.
        (11, PLACE, 0x1700, 0, 0),
        (15, COUNT, 5, 2, 1),
    ];
    (process, nodes)
}

/// Names of counters by their ids.
fn names(merged: &Merged) -> Vec<String> {
    merged.table("counter_kinds").text("name").unwrap().to_vec()
}

/// Rows of `counted`: call path, stack, counter, value, readings.
fn rows(merged: &Merged) -> Vec<String> {
    let (table, paths, names) = (merged.table("counted"), merged.paths(), names(merged));
    let row = |row: usize| {
        let [path, its_stack, counter] =
            ["call_path", "stack", "counter"].map(|name| table.u32(name).unwrap()[row]);
        let path = if path == NONE { "-" } else { &paths[path as usize] };
        let its_stack = if its_stack == NONE { "-".to_owned() } else { stack(merged, its_stack) };
        let [value, readings] = ["value", "readings"].map(|name| table.i64(name).unwrap()[row]);
        format!("{path}: {its_stack} {} {value} {readings}", names[counter as usize])
    };
    (0..table.len()).map(row).collect()
}

#[test]
fn counts_belong_to_the_region_and_the_stack_above_them() {
    let (process, nodes) = counted();
    let merged = merged(&process, &nodes, &[]);
    assert_eq!(
        rows(&merged),
        [
            "main: /bin/app+0x701 < /bin/app+0x600 cycles 60 2",
            "main: - cycles 105 4",
            "main: - page-faults 9 2",
            "-: - cycles 40 2",
        ]
    );
    // They are no samples.
    assert_eq!(sampled(&merged), ["main: /bin/app+0x701 < /bin/app+0x600 2 5 5000 1"]);
    assert_eq!(merged.problem("damaged"), 0);
    let kinds = merged.table("counter_kinds");
    assert_eq!(kinds.text("source").unwrap(), ["hardware", "kernel"]);
    RunTrace::load(&merged.archive).unwrap();
}

#[test]
fn counters_that_took_turns_say_how_long_they_counted() {
    let (process, nodes) = counted();
    let merged = merged(&process, &nodes, &[]);
    let (table, names) = (merged.table("counter_coverage"), names(&merged));
    let row = |row: usize| {
        let name = &names[table.u32("counter").unwrap()[row] as usize];
        (name.as_str(), table.i64("running").unwrap()[row], table.i64("enabled").unwrap()[row])
    };
    let found: Vec<_> = (0..table.len()).map(row).collect();
    assert_eq!(found, [("cycles", 400, 500), ("page-faults", 0, 50)]);
}

#[test]
fn what_comes_to_a_counter_adds_up_over_time() {
    let (process, nodes) = counted();
    let instants = [(200, 0, 10), (250, 5, 3), (300, 0, 5), (310, 9, 1)];
    let instants = instants.map(|(ticks, counter, more)| (ticks, FIRST_COUNTER + counter, more));
    let merged = merged(&process, &nodes, &instants);
    let (table, names) = (merged.table("counters"), names(&merged));
    let row = |row: usize| {
        let name = &names[table.u32("counter").unwrap()[row] as usize];
        (table.i64("time").unwrap()[row], name.as_str(), table.f64("value").unwrap()[row])
    };
    let found: Vec<_> = (0..table.len()).map(row).collect();
    assert_eq!(found, [(200, "cycles", 10.0), (250, "page-faults", 3.0), (300, "cycles", 15.0)]);
    assert_eq!(merged.table("samples").len(), 0);
}

#[test]
fn counts_for_whose_place_there_was_no_room_are_outside_and_told() {
    let (process, mut nodes) = counted();
    let lost = u32::try_from(nodes.len()).unwrap();
    nodes.extend([(NO_NODE, LOST, 0, 0, 0), (lost, COUNT, 0, 8, 3)]);
    let merged = merged(&process, &nodes, &[]);
    assert_eq!(rows(&merged)[3], "-: - cycles 48 5");
    assert_eq!((merged.problem("lost_counts"), merged.problem("lost_samples")), (3, 0));
}
