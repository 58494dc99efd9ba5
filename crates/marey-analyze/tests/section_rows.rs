//! Rows of sections that differ in where they begin only, against a grouping that keeps each access.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use marey_analyze::{
    CallPath, Elements, Frame, Location, Process, ProfileRow, Region, SectionDimension, SectionRange,
    SectionRow, SectionRows, SingleAccess, Trace,
};
use marey_model::{AccessKind, LocationId, Nanos, NounId, ProcessId, StackId};
use marey_testkit::Chance;

/// A run that has nothing: accesses of it have no call path.
struct Nothing;

impl Trace for Nothing {
    fn duration(&self) -> Nanos {
        Nanos(0)
    }
    fn regions(&self) -> &[Region] {
        &[]
    }
    fn call_paths(&self) -> &[CallPath] {
        &[]
    }
    fn stack(&self, _: StackId) -> Vec<&Frame> {
        Vec::new()
    }
    fn processes(&self) -> &[Process] {
        &[]
    }
    fn locations(&self) -> &[Location] {
        &[]
    }
    fn profile(&self) -> &[ProfileRow] {
        &[]
    }
}

fn access<'r>(kind: AccessKind, elements: Elements<'r>, enter: i64, leave: i64) -> SingleAccess<'r> {
    SingleAccess {
        location: LocationId(0),
        process: Some(ProcessId(0)),
        call_path: None,
        kind,
        array: 0,
        peer: Some(ProcessId(1)),
        enter: Nanos(enter),
        leave: Some(Nanos(leave)),
        elements,
    }
}

/// The greatest number of which all are multiples.
fn greatest_step(differences: &BTreeSet<i64>) -> u64 {
    let most = differences.last().copied().unwrap_or(0);
    let step = (1..=most).rev().find(|step| differences.iter().all(|it| it % step == 0));
    u64::try_from(step.unwrap_or(0)).unwrap()
}

#[test]
fn rows_have_what_their_accesses_have_in_common() {
    let mut chance = Chance::new(73);
    let mut steps_beyond_one = 0;
    for _ in 0..300 {
        let bounds = [(1, 40), (-5, 60)];
        let grid = 1 + i64::try_from(chance.below(6)).unwrap();
        let mut rows = SectionRows::default();
        // Kind and shape; then first subscripts, number, bytes and time.
        type Group = (Vec<Vec<i64>>, u64, u64, i64);
        let mut expected: BTreeMap<(AccessKind, Vec<(u64, i64)>), Group> = BTreeMap::new();
        for at in 0..1 + chance.below(30) {
            let kind = if chance.below(2) == 0 { AccessKind::Read } else { AccessKind::Write };
            let all: Vec<(i64, i64, u64)> = bounds
                .iter()
                .map(|(lower, _)| {
                    let start = lower + grid * i64::try_from(chance.below(5)).unwrap();
                    (start, 1 + i64::try_from(chance.below(2)).unwrap(), 1 + chance.below(2))
                })
                .collect();
            let ranges: Vec<SectionRange> = all
                .iter()
                .map(|(start, stride, count)| SectionRange::Subscripts {
                    start: *start,
                    stride: *stride,
                    count: *count,
                })
                .collect();
            let number: u64 = all.iter().map(|(_, _, count)| count).product();
            let elements =
                Elements { bounds: &bounds, element_bytes: 8, bytes: 8 * number, offset: 0, ranges: &ranges };
            let time = i64::try_from(chance.below(100)).unwrap();
            let enter = i64::try_from(at).unwrap() * 100;
            rows.add(NounId(3), &access(kind, elements, enter, enter + time));
            // One subscript has no step.
            let shape = all
                .iter()
                .map(|(_, stride, count)| (*count, if *count == 1 { 1 } else { *stride }))
                .collect();
            let group = expected.entry((kind, shape)).or_default();
            group.0.push(all.iter().map(|(start, _, _)| *start).collect());
            group.1 += number;
            group.2 += 8 * number;
            group.3 += time;
        }
        let found = rows.rows(&Nothing);
        assert!(found.is_sorted_by_key(|row| std::cmp::Reverse(row.statement.sum.time)));
        assert_eq!(found.len(), expected.len());
        for SectionRow { array, statement, dimensions, elements } in found {
            let dimensions = dimensions.unwrap();
            let shape: Vec<(u64, i64)> = dimensions.iter().map(|it| (it.count, it.stride.unwrap())).collect();
            let (firsts, number, bytes, time) = &expected[&(statement.kind, shape)];
            assert_eq!(array, NounId(3));
            assert_eq!(statement.sum.accesses, firsts.len() as u64);
            assert_eq!((elements, statement.sum.bytes, statement.sum.time.0), (*number, *bytes, *time));
            for (place, it) in dimensions.iter().enumerate() {
                let all: BTreeSet<i64> = firsts.iter().map(|first| first[place]).collect();
                let (least, greatest) = (*all.first().unwrap(), *all.last().unwrap());
                assert_eq!(it.first, (least, greatest));
                let step = greatest_step(&all.iter().map(|first| first - least).collect());
                assert_eq!(it.step, step, "{all:?}");
                steps_beyond_one += usize::from(step > 1);
            }
        }
    }
    assert!(steps_beyond_one > 100, "{steps_beyond_one}");
}

/// Columns by offsets in memory are what their subscripts are; a vector and a collective are rows of their own.
#[test]
fn columns_by_memory_and_by_subscripts_are_alike() {
    let bounds = [(1, 100), (1, 50)];
    let mut rows = SectionRows::default();
    let column = [SectionRange::Elements { stride: 1, count: 100 }];
    for j in 1..=25 {
        let elements = Elements {
            bounds: &bounds,
            element_bytes: 4,
            bytes: 400,
            offset: (j - 1) * 400,
            ranges: &column,
        };
        rows.add(NounId(0), &access(AccessKind::Read, elements, 0, 7));
    }
    for j in 26..=50 {
        let ranges = [
            SectionRange::Subscripts { start: 1, stride: 1, count: 100 },
            SectionRange::Subscripts { start: j, stride: 1, count: 1 },
        ];
        let elements = Elements { bounds: &bounds, element_bytes: 4, bytes: 400, offset: 0, ranges: &ranges };
        rows.add(NounId(0), &access(AccessKind::Read, elements, 0, 7));
    }
    for least in [3, 7] {
        let ranges = [
            SectionRange::Vector { least, greatest: 40 - least, count: 6 },
            SectionRange::Subscripts { start: 2, stride: 1, count: 1 },
        ];
        let elements = Elements { bounds: &bounds, element_bytes: 4, bytes: 24, offset: 0, ranges: &ranges };
        rows.add(NounId(0), &access(AccessKind::Read, elements, 0, 5));
    }
    let all = Elements { bounds: &bounds, element_bytes: 4, bytes: 20_000, offset: 0, ranges: &[] };
    rows.add(NounId(0), &access(AccessKind::Read, all, 0, 1));
    let found = rows.rows(&Nothing);
    let told: Vec<_> =
        found.iter().map(|row| (row.statement.sum.accesses, row.elements, row.dimensions.clone())).collect();
    let dimension = |count: u64, stride: Option<i64>, first: (i64, i64), step: u64| SectionDimension {
        count,
        stride,
        first,
        step,
    };
    let columns = vec![dimension(100, Some(1), (1, 1), 0), dimension(1, Some(1), (1, 50), 1)];
    let vectors = vec![dimension(6, None, (3, 37), 0), dimension(1, Some(1), (2, 2), 0)];
    assert_eq!(told, [(50, 5000, Some(columns)), (2, 12, Some(vectors)), (1, 5000, None)]);
}
