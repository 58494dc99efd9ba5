//! Visits that were only counted to keep within the budget cost nothing to record.

use marey_analyze::{Reduced, SmallKind, reduced, short_regions};

use super::*;

/// `hot` was visited 100 times on the first rank, 8 ns each, and 40 on the second. The recorder counted the last 60 and
/// 30 of them.
fn run(reduced: Vec<ReducedRow>) -> Run {
    let hot = |location: u32, number: i64| ProfileRow {
        visits: number.unsigned_abs(),
        exclusive: Nanos(8 * number),
        ..row(1, location, &[8], 8, 0)
    };
    Run {
        regions: vec![
            region("source", "execute", "main", Role::Work),
            region("source", "execute", "hot", Role::Work),
        ],
        call_paths: vec![path(None, 0, None), path(Some(0), 1, None)],
        locations: vec![location(0, 0, 0, 1000), location(1, 0, 0, 1000)],
        profile: vec![row(0, 0, &[1000], 200, 0), hot(0, 100), hot(1, 40)],
        reduced,
        ..Run::default()
    }
}

fn counted(location: u32, since: i64, visits: u64) -> ReducedRow {
    let (call_path, since) = (CallPathId(1), Nanos(since));
    ReducedRow { call_path, location: LocationId(location), since, visits, time: Nanos(8 * visits as i64) }
}

#[test]
fn they_are_not_charged_with_what_recording_takes() {
    // An enter and a leave of 2 ns each.
    let short = |reduced| short_regions(&run(reduced), 2.0);
    let [all] = short(Vec::new()).try_into().unwrap();
    assert_eq!((all.kind, all.number, all.cost), (SmallKind::Regions, 140, Nanos(4 * 140)));
    // 140 less 90 visits are left, of 8 ns each.
    let [some] = short(vec![counted(0, 700, 60), counted(1, 500, 30)]).try_into().unwrap();
    assert_eq!((some.number, some.cost, some.region), (50, Nanos(4 * 50), Some(RegionId(1))));
    close(some.work, 8.0);
    // Of 3 recorded ones nobody need be told.
    assert_eq!(short(vec![counted(0, 700, 97), counted(1, 500, 40)]), []);
}

#[test]
fn a_region_has_those_of_all_its_call_paths() {
    let nowhere = ReducedRow { call_path: CallPathId(9), ..counted(0, 1, 1) };
    let found = reduced(&run(vec![counted(0, 700, 60), nowhere, counted(1, 500, 30)]));
    let hot = Reduced { since: Nanos(500), visits: 90, time: Nanos(720) };
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [(RegionId(1), hot)]);
}
