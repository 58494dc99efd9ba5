//! What counters beside the time say of regions and functions.

use marey_analyze::CountedRegion;

use super::*;

/// A counter: the program's own take values and are not added up.
fn counter(name: &str, source: &str) -> Counter {
    let [name, source] = [name, source].map(str::to_owned);
    Counter { name, unit: String::new(), source, enabled: Nanos(0), running: Nanos(0) }
}

fn name<'t>(row: &CountedRegion<'t>) -> Option<&'t str> {
    row.region.map(Region::name)
}

fn value(path: Option<u32>, stack: Option<u32>, counter: u32, value: u64) -> CountedRow {
    CountedRow {
        call_path: path.map(CallPathId),
        location: LocationId(0),
        stack: stack.map(StackId),
        counter: CounterId(counter),
        value,
    }
}

#[test]
fn what_a_region_counted_is_divided_among_its_functions() {
    let run = Run {
        counters: vec![
            counter("residual", "program"),
            counter("instructions", "hardware"),
            counter("page-faults", "kernel"),
            counter("cycles", "hardware"),
        ],
        stacks: vec![vec![frame("fast", 1), frame("main", 2)], vec![frame("slow", 3), frame("main", 2)]],
        counted: vec![
            value(None, None, 0, 1_000_000),
            // Outside of all regions samples saw 300 + 100, so the 80 that came after them are 60 + 20.
            value(None, Some(0), 1, 300),
            value(None, Some(1), 1, 100),
            value(None, None, 1, 80),
            value(None, Some(0), 3, 100),
            value(None, Some(1), 3, 400),
            // Nobody saw where.
            value(None, None, 2, 7),
            // In MPI_Allreduce and the MPI_Send in it: one call, whatever it does.
            value(Some(3), Some(1), 1, 5),
            value(Some(2), None, 1, 6),
        ],
        ..two_ranks()
    };
    let counted = counted(&run);
    let names: Vec<&str> = counted.counters.iter().map(|counter| counter.name.as_str()).collect();
    assert_eq!(names, ["instructions", "page-faults", "cycles"]);
    assert_eq!(counted.whole, [491, 7, 500]);
    let functions: Vec<_> = counted.functions.iter().map(|row| (row.name, row.values.clone())).collect();
    let expected = [
        (Some("fast"), vec![360.0, 0.0, 100.0]),
        (Some("slow"), vec![120.0, 0.0, 400.0]),
        (Some("MPI_Allreduce"), vec![11.0, 0.0, 0.0]),
        (None, vec![0.0, 7.0, 0.0]),
    ];
    assert_eq!(functions, expected);
    let regions: Vec<_> = counted
        .regions
        .iter()
        .map(|row| (name(row), row.exclusive[0], row.inclusive[0], row.time.0))
        .collect();
    let expected_regions = [
        (None, 480, 480, 0),
        (Some("MPI_Allreduce"), 6, 11, 350),
        (Some("MPI_Send"), 5, 5, 210),
        (Some("main"), 0, 11, 1440),
    ];
    assert_eq!(regions, expected_regions);
    let metrics: Vec<_> = counted.metrics().collect();
    assert_eq!(metrics.iter().map(|metric| metric.name).collect::<Vec<_>>(), ["IPC"]);
    let quotient = |row: usize| metrics[0].value(&counted, &expected[row].1, None);
    // Of nothing there is none.
    assert_eq!([quotient(0), quotient(1), quotient(3)], [Some(3.6), Some(0.3), None]);
}

#[test]
fn what_a_region_counted_inside_itself_it_counted_once() {
    let run = Run {
        regions: vec![region("source", "execute", "walk", Role::Work)],
        call_paths: vec![path(None, 0, None), path(Some(0), 0, None), path(Some(1), 0, None)],
        counters: vec![counter("cache-misses", "hardware")],
        counted: vec![value(Some(2), None, 0, 9), value(Some(0), None, 0, 1)],
        profile: vec![row(2, 0, &[500], 500, 0), row(0, 0, &[1000], 500, 0)],
        ..Run::default()
    };
    let counted = counted(&run);
    assert_eq!(counted.regions.len(), 1);
    let region = &counted.regions[0];
    assert_eq!(
        (&region.exclusive[..], &region.inclusive[..], region.time),
        (&[10][..], &[10][..], Nanos(1000))
    );
    // Ten lines of 64 bytes in a microsecond.
    let metric = counted.metrics().next().unwrap();
    assert_eq!(
        (metric.name, metric.value(&counted, &[10.0], Some(region.time))),
        ("memory traffic", Some(6.4e8))
    );
}

#[test]
fn functions_of_one_name_in_two_files_are_two_regions() {
    let init =
        |file: &str| Region { file: file.to_owned(), ..region("source", "execute", "init", Role::Work) };
    let run = Run {
        regions: vec![init("a.c"), init("b.c")],
        call_paths: vec![path(None, 0, None), path(None, 1, None), path(Some(0), 1, None)],
        counters: vec![counter("instructions", "hardware")],
        counted: vec![value(Some(0), None, 0, 5), value(Some(1), None, 0, 20), value(Some(2), None, 0, 3)],
        profile: vec![row(0, 0, &[100], 100, 0), row(1, 0, &[300], 300, 0)],
        ..Run::default()
    };
    let counted = counted(&run);
    let numbers = |row: &CountedRegion<'_>| (row.exclusive[0], row.inclusive[0], row.time.0);
    let rows: Vec<_> = counted.regions.iter().map(|row| (name(row), numbers(row))).collect();
    assert_eq!(rows, [(Some("init"), (23, 23, 300)), (Some("init"), (5, 8, 100))]);
}
