//! What accesses to selected elements cost, against sums over all accesses; and accesses that were only counted.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use marey_analyze::{
    AccessRow, Array, CallPath, Elements, Frame, Location, Process, ProfileRow, Region, SectionRange,
    Selected, SelectedAccesses, SingleAccess, Snapped, Trace, accesses_not_kept,
};
use marey_model::{AccessKind, CallPathId, DataKind, LocationId, Nanos, NounId, ProcessId, StackId};
use marey_testkit::Chance;

/// A run of which sums are known and nothing else.
#[derive(Default)]
struct Sums {
    profile: Vec<ProfileRow>,
    arrays: Vec<Array>,
    accessed: Vec<AccessRow>,
}

impl Trace for Sums {
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
        &self.profile
    }
    fn arrays(&self) -> &[Array] {
        &self.arrays
    }
    fn accessed(&self) -> &[AccessRow] {
        &self.accessed
    }
}

/// Accesses, bytes, time and selected elements.
type Sum = [i64; 4];

fn sum(it: Selected) -> Sum {
    let number = |number: u64| i64::try_from(number).unwrap();
    [number(it.met.accesses), number(it.met.bytes), it.met.time.0, number(it.inside)]
}

#[test]
fn sums_are_over_the_accesses_that_mean_a_selected_element() {
    let mut chance = Chance::new(74);
    let bounds = [(1, 9)];
    // Of process 0 elements 3 to 7 are selected, of process 1 all, of process 2 none.
    let selection = Snapped {
        section: vec![(1, 9)],
        pieces: BTreeMap::from([(ProcessId(0), vec![(3, 7)]), (ProcessId(1), vec![(1, 9)])]),
        distributed: vec![false],
        fits: true,
    };
    for _ in 0..100 {
        let mut costs = SelectedAccesses::new(&selection);
        let mut by_kind: BTreeMap<AccessKind, Sum> = BTreeMap::new();
        let mut by_side: BTreeMap<(u32, &str), Sum> = BTreeMap::new();
        let (mut total, mut elements, mut unsure) = ([0; 4], 0, (0, 0));
        for at in 0..chance.below(40) {
            let kind = if chance.below(2) == 0 { AccessKind::Read } else { AccessKind::Write };
            let [own, peer] = [(); 2].map(|()| u32::try_from(chance.below(3)).unwrap());
            let is_told = chance.below(5) > 0;
            let (start, count) = (1 + i64::try_from(chance.below(9)).unwrap(), 1 + chance.below(3));
            let ranges = [SectionRange::Subscripts { start, stride: 1, count }];
            let enter = i64::try_from(at).unwrap() * 1000;
            let time = i64::try_from(chance.below(500)).unwrap();
            costs.add(&SingleAccess {
                location: LocationId(own),
                process: Some(ProcessId(own)),
                call_path: None,
                kind,
                array: 0,
                peer: is_told.then_some(ProcessId(peer)),
                enter: Nanos(enter),
                leave: Some(Nanos(enter + time)),
                elements: Elements {
                    bounds: &bounds,
                    element_bytes: 8,
                    bytes: 8 * count,
                    offset: 0,
                    ranges: &ranges,
                },
            });
            let count = i64::try_from(count).unwrap();
            let is_selected = |it: &i64| match (is_told, peer) {
                (true, 0) => (3..=7).contains(it),
                (true, 2) => false,
                _ => (1..=9).contains(it),
            };
            let inside = i64::try_from((start..start + count).filter(is_selected).count()).unwrap();
            // With whom they lie is not known.
            if !is_told {
                unsure = (unsure.0 + 1, unsure.1 + inside);
                continue;
            }
            if inside == 0 {
                continue;
            }
            let one = [1, 8 * count, time, inside];
            let add = |all: &mut Sum| all.iter_mut().zip(one).for_each(|(all, more)| *all += more);
            add(&mut total);
            add(by_kind.entry(kind).or_default());
            add(by_side.entry((own, if own == peer { "local" } else { "remote" })).or_default());
            if own != peer {
                add(by_side.entry((peer, "asked")).or_default());
            }
            elements += count;
        }
        let found = costs.costs(&Sums::default());
        assert_eq!((sum(found.total), found.total.elements), (total, u64::try_from(elements).unwrap()));
        let perhaps = (found.total.perhaps.accesses, found.total.perhaps_inside);
        assert_eq!(perhaps, (u64::try_from(unsure.0).unwrap(), u64::try_from(unsure.1).unwrap()));
        let kinds: BTreeMap<AccessKind, Sum> = found
            .statements
            .iter()
            .filter(|(_, it)| it.met.accesses > 0)
            .map(|(statement, it)| {
                assert_eq!(statement.sum, it.met);
                (statement.kind, sum(*it))
            })
            .collect();
        assert_eq!(kinds, by_kind);
        let mut sides: BTreeMap<(u32, &str), Sum> = BTreeMap::new();
        for (process, it) in found.processes {
            for (side, of) in [("local", it.local), ("remote", it.remote), ("asked", it.asked)] {
                if of.met.accesses > 0 {
                    sides.insert((process.0, side), sum(of));
                }
            }
        }
        assert_eq!(sides, by_side);
    }
}

/// Path 1 was visited 10 times on location 0 and 5 times on location 1. Of the visits on location 0 seven are known, each of
/// which read and wrote array 0; path 2 accesses another one.
#[test]
fn visits_of_call_paths_beyond_known_accesses_were_only_counted() {
    let visits = |path: u32, location: u32, visits: u64| ProfileRow {
        call_path: CallPathId(path),
        location: LocationId(location),
        visits,
        untimed: 0,
        inclusive: Nanos(0),
        exclusive: Nanos(0),
        min: None,
        max: None,
        sum_squares: 0.0,
        bytes: 0,
    };
    let array = |noun: u32| Array {
        noun: NounId(noun),
        name: String::new(),
        kind: DataKind::Coarray,
        file: String::new(),
        line: 0,
        process: ProcessId(0),
        bytes: 8,
        element_bytes: Some(8),
        element: String::new(),
        bounds: Vec::new(),
        from: Nanos(0),
        until: None,
        stack: None,
    };
    let accessed = |path: u32, kind: AccessKind, array: usize, accesses: u64| AccessRow {
        location: LocationId(0),
        call_path: Some(CallPathId(path)),
        kind,
        array: Some(array),
        peer: Some(ProcessId(1)),
        accesses,
        bytes: 8 * accesses,
        time: Nanos(1),
    };
    let run = Sums {
        profile: vec![visits(1, 0, 10), visits(1, 1, 5), visits(2, 0, 100)],
        arrays: vec![array(4), array(5)],
        accessed: vec![
            accessed(1, AccessKind::Read, 0, 7),
            accessed(1, AccessKind::Write, 0, 7),
            accessed(2, AccessKind::Read, 1, 100),
        ],
    };
    let of =
        |noun: u32, is_meant: &dyn Fn(LocationId) -> bool| accesses_not_kept(&run, NounId(noun), is_meant);
    assert_eq!([of(4, &|_| true), of(5, &|_| true), of(6, &|_| true)], [8, 0, 0]);
    assert_eq!([0, 1, 2].map(|at| of(4, &|location| location.0 == at)), [3, 5, 0]);
}
