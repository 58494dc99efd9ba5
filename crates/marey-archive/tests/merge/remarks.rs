//! What compilers said is kept with a run as it was, and a copy that does not say whose it is has none of it; samples on the
//! critical path are those that were taken where and when it led.

use marey_analyze::{CriticalPath, LoopOutcome, PathSpan, RemarkRow};
use marey_archive::{Archive, Events, RunTrace, keep_remarks, redact, remarks};
use marey_model::{LocationId, Nanos};

use super::samples;

fn row(file: &str, line: u32) -> RemarkRow {
    RemarkRow {
        file: file.to_owned(),
        first_line: line,
        last_line: line + 2,
        is_read: true,
        function: "secret_sweep".to_owned(),
        outcome: LoopOutcome::Both,
        kind: "not vectorised".to_owned(),
        line: line + 1,
        column: 9,
        compiler: "GCC".to_owned(),
        pass: "vect".to_owned(),
        reason: "an iteration may need what another one writes".to_owned(),
        said: "bad data dependence".to_owned(),
        dependence: "carried".to_owned(),
        distance: 1,
        array: "secret_array".to_owned(),
        is_array_of_text: true,
        lanes: 4,
        callee: "secret_callee".to_owned(),
        inlined_into: "main (k.c:20)".to_owned(),
    }
}

#[test]
fn remarks_come_back_as_they_were_and_in_no_redacted_copy() {
    let (process, nodes) = samples::process();
    let merged = samples::merged(&process, &nodes, &[]);
    assert_eq!(remarks(&Archive::open(&merged.path()).unwrap()).unwrap(), []);
    // Sorted by place, whatever the order was.
    let rows = [row("/home/ada/secret.c", 30), row("/home/ada/secret.c", 6), row("/home/ada/a.c", 90)];
    keep_remarks(&merged.path(), &rows).unwrap();
    let kept = remarks(&Archive::open(&merged.path()).unwrap()).unwrap();
    assert_eq!(kept, [rows[2].clone(), rows[1].clone(), rows[0].clone()]);

    let copy = merged.dir.path().join("copy");
    redact(&[(&merged.path(), &copy)], &[]).unwrap();
    assert_eq!(remarks(&Archive::open(&copy).unwrap()).unwrap(), []);
    assert!(!copy.join("remarks.parquet").exists());
    assert!(merged.path().join("remarks.parquet").exists());
}

#[test]
fn samples_on_the_path_are_those_of_its_time_and_place() {
    let (process, nodes) = samples::process();
    let merged = samples::merged(&process, &nodes, &[(200, 7, 3), (300, 7, 2), (700, 10, 1)]);
    let trace = RunTrace::load(&merged.archive).unwrap();
    let events = Events::open(&merged.archive, &trace).unwrap();
    let on = |spans: &[(u32, i64, i64)]| {
        let span = |&(location, from, to): &(u32, i64, i64)| PathSpan {
            location: LocationId(location),
            from: Nanos(from),
            to: Nanos(to),
        };
        let path = CriticalPath { spans: spans.iter().map(span).collect(), before: Nanos(0) };
        let rows = events.sampled_on(&path).unwrap();
        rows.iter().map(|row| row.time.0).collect::<Vec<_>>()
    };
    // A sample of three periods of 1000 ns, one of two, one of one.
    assert_eq!(on(&[(0, 0, 1000)]), [3000, 2000, 1000]);
    assert_eq!(on(&[(0, 0, 250), (0, 650, 700)]), [3000, 1000]);
    // It is of the period before it, so not of what begins then; and not of another location.
    assert_eq!(on(&[(0, 300, 600)]), [0_i64; 0]);
    assert_eq!(on(&[(1, 0, 250), (0, 250, 1000)]), [2000, 1000]);
    assert_eq!(on(&[]), [0_i64; 0]);
}
