//! Selections of arrays and sections with frequencies, against counts that look at each element by itself.
//!
//! Arrays, sections and selections are made up at random; the counts below know nothing of products and steps.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use marey_analyze::{
    ArrayPart, Elements, Meeting, OneByOne, Section, SectionRange, Snap, Snapped, SubArray, SubArrayError,
};
use marey_model::ProcessId;
use marey_testkit::Chance;

fn number(chance: &mut Chance, below: u64) -> i64 {
    i64::try_from(chance.below(below)).unwrap()
}

fn bounds(chance: &mut Chance, dimensions: u64) -> Section {
    let one = |_| {
        let lower = number(chance, 9) - 4;
        (lower, lower + number(chance, 9))
    };
    (0..dimensions).map(one).collect()
}

/// Something within.
fn within(chance: &mut Chance, bounds: &[(i64, i64)]) -> Section {
    let one = |(lower, upper): &(i64, i64)| {
        let extent = u64::try_from(upper - lower + 1).unwrap();
        let (a, b) = (lower + number(chance, extent), lower + number(chance, extent));
        (a.min(b), a.max(b))
    };
    bounds.iter().map(one).collect()
}

fn is_in(section: &[(i64, i64)], subscripts: &[i64]) -> bool {
    section.iter().zip(subscripts).all(|((lower, upper), at)| lower <= at && at <= upper)
}

fn of_one(section: &[(i64, i64)]) -> Snapped {
    Snapped {
        section: section.to_vec(),
        pieces: BTreeMap::from([(ProcessId(0), section.to_vec())]),
        distributed: vec![false; section.len()],
        fits: true,
    }
}

fn met(section: &[(i64, i64)], elements: &Elements<'_>) -> Meeting {
    of_one(section).meeting(Some(ProcessId(0)), elements, &mut OneByOne::default())
}

/// All combinations of one of each.
fn combinations(each: &[Vec<i64>]) -> Vec<Vec<i64>> {
    each.iter().fold(vec![Vec::new()], |all, more| {
        all.iter().flat_map(|some| more.iter().map(move |it| [&some[..], &[*it]].concat())).collect()
    })
}

/// Subscripts of each element of memory, as Fortran lays them out.
fn laid_out(bounds: &[(i64, i64)]) -> Vec<Vec<i64>> {
    bounds.iter().rev().fold(vec![Vec::new()], |all, (lower, upper)| {
        all.iter().flat_map(|slow| (*lower..=*upper).map(move |it| [&[it], &slow[..]].concat())).collect()
    })
}

#[test]
fn elements_by_steps_of_memory_are_counted_as_one_by_one() {
    let mut chance = Chance::new(71);
    let (mut partly, mut beyond) = (0, 0);
    for _ in 0..3000 {
        let dimensions = 1 + chance.below(3);
        let bounds = bounds(&mut chance, dimensions);
        let memory = laid_out(&bounds);
        let first = number(&mut chance, memory.len() as u64);
        let number_of_ranges = chance.below(3);
        let ranges: Vec<SectionRange> = (0..number_of_ranges)
            .map(|_| SectionRange::Elements { stride: number(&mut chance, 25) - 8, count: chance.below(6) })
            .collect();
        let section = within(&mut chance, &bounds);
        let mut offsets = vec![first];
        for range in &ranges {
            let SectionRange::Elements { stride, count } = *range else { unreachable!() };
            let count = i64::try_from(count).unwrap();
            offsets = offsets.iter().flat_map(|at| (0..count).map(move |step| at + step * stride)).collect();
        }
        let is_selected = |offset: &&i64| {
            let place = usize::try_from(**offset).ok();
            place.and_then(|place| memory.get(place)).is_some_and(|subscripts| is_in(&section, subscripts))
        };
        let expected = offsets.iter().filter(is_selected).count() as u64;
        let elements = Elements {
            bounds: &bounds,
            element_bytes: 4,
            bytes: 4 * offsets.len() as u64,
            offset: first * 4,
            ranges: &ranges,
        };
        let found = met(&section, &elements);
        assert_eq!(
            found,
            Meeting { inside: expected, perhaps: 0 },
            "{bounds:?} {first} {ranges:?} {section:?}"
        );
        partly += usize::from(0 < expected && expected < offsets.len() as u64);
        let is_beyond = |offset: &i64| usize::try_from(*offset).is_ok_and(|it| it < memory.len());
        beyond += usize::from(!offsets.iter().all(is_beyond));
    }
    assert!(partly > 300 && beyond > 300, "{partly} partly, {beyond} beyond the bounds");
}

/// An array of types of 24 bytes: what accesses mean of their components is told as elements of the array, each once for all of
/// it that is meant in a row.
#[test]
fn components_are_counted_as_the_elements_that_they_are_part_of() {
    const WHOLE: i64 = 24;
    let mut chance = Chance::new(73);
    let mut partly = 0;
    for _ in 0..3000 {
        let dimensions = 1 + chance.below(2);
        let bounds = bounds(&mut chance, dimensions);
        let memory = laid_out(&bounds);
        let own = 1 << number(&mut chance, 4);
        // Some components side by side, or every other one, within each element.
        let step = 1 + number(&mut chance, 2);
        let most = 1 + (WHOLE / own - 1) / step;
        let count = 1 + number(&mut chance, u64::try_from(most).unwrap());
        let reach = ((count - 1) * step + 1) * own;
        let from = own * number(&mut chance, u64::try_from((WHOLE - reach) / own + 1).unwrap());
        let mut ranges = vec![SectionRange::Elements { stride: step, count: count as u64 }];
        let (mut factor, mut places) = (1, vec![0_i64]);
        for (lower, upper) in &bounds {
            let extent = upper - lower + 1;
            let by = 1 + number(&mut chance, 3);
            let n = 1 + number(&mut chance, u64::try_from((extent - 1) / by + 1).unwrap());
            if n > 1 || chance.below(2) == 0 {
                ranges.push(SectionRange::Elements { stride: by * factor * WHOLE / own, count: n as u64 });
                places = places.iter().flat_map(|at| (0..n).map(move |it| at + it * by * factor)).collect();
            }
            factor *= extent;
        }
        let section = within(&mut chance, &bounds);
        let is_selected = |at: &&i64| is_in(&section, &memory[usize::try_from(**at).unwrap()]);
        let expected = places.iter().filter(is_selected).count() as u64;
        let elements = Elements {
            bounds: &bounds,
            element_bytes: WHOLE as u64,
            bytes: (own * count) as u64 * places.len() as u64,
            offset: from,
            ranges: &ranges,
        };
        let found = met(&section, &elements);
        assert_eq!(
            found,
            Meeting { inside: expected, perhaps: 0 },
            "{bounds:?} {from} {own} {ranges:?} {section:?}"
        );
        assert_eq!(elements.number(), places.len() as u64);
        partly += usize::from(0 < expected && expected < places.len() as u64);
    }
    assert!(partly > 300, "{partly}");
}

#[test]
fn elements_by_subscripts_are_counted_as_one_by_one_and_of_vectors_no_more_than_is_told() {
    let mut chance = Chance::new(72);
    let (mut exact, mut vague) = (0, 0);
    for _ in 0..3000 {
        let dimensions = 1 + chance.below(3);
        let bounds = bounds(&mut chance, dimensions);
        let mut ranges = Vec::new();
        let mut listed: Vec<Vec<i64>> = Vec::new();
        for (lower, upper) in &bounds {
            let start = lower + number(&mut chance, u64::try_from(upper - lower + 1).unwrap());
            if chance.below(4) == 0 {
                let count = 1 + chance.below(4);
                let list: Vec<i64> = (0..count).map(|_| lower + number(&mut chance, 9)).collect();
                let (least, greatest) = (*list.iter().min().unwrap(), *list.iter().max().unwrap());
                ranges.push(SectionRange::Vector { least, greatest, count });
                listed.push(list);
            } else {
                let (stride, count) = (number(&mut chance, 7) - 3, chance.below(5));
                ranges.push(SectionRange::Subscripts { start, stride, count });
                listed.push((0..i64::try_from(count).unwrap()).map(|step| start + step * stride).collect());
            }
        }
        let section = within(&mut chance, &bounds);
        let all = combinations(&listed);
        let expected = all.iter().filter(|subscripts| is_in(&section, subscripts)).count() as u64;
        // What is told by subscripts may be of a component, so its bytes tell nothing.
        let elements = Elements { bounds: &bounds, element_bytes: 4, bytes: 1, offset: 0, ranges: &ranges };
        let Meeting { inside, perhaps } = met(&section, &elements);
        let why = format!("{ranges:?} {listed:?} {section:?}: {inside} and {perhaps} more, {expected}");
        assert!(inside <= expected && expected <= inside + perhaps, "{why}");
        let is_told = |(range, (lower, upper)): (&SectionRange, &(i64, i64))| match *range {
            SectionRange::Vector { least, greatest, .. } => {
                greatest < *lower || *upper < least || (*lower <= least && greatest <= *upper)
            }
            _ => true,
        };
        if ranges.iter().zip(&section).all(is_told) {
            assert_eq!((inside, perhaps), (expected, 0), "{why}");
            exact += 1;
        } else {
            vague += usize::from(perhaps > 0);
        }
        // With whom it lies is not known: then nothing is sure.
        let anywhere = of_one(&section).meeting(None, &elements, &mut OneByOne::default());
        assert_eq!(anywhere, Meeting { inside: 0, perhaps: inside + perhaps }, "{why}");
        let elsewhere = of_one(&section).meeting(Some(ProcessId(1)), &elements, &mut OneByOne::default());
        assert_eq!(elsewhere, Meeting::default(), "{why}");
    }
    assert!(exact > 1000 && vague > 100, "{exact} exact, {vague} not");
}

/// A vector of 100 000 subscripts, of which a recorder looks at 65 536; a collective that says how much and not what; steps of
/// a component; and one subscript more than there are dimensions.
#[test]
fn what_is_not_told_is_not_guessed() {
    let bounds = [(1, 10), (1, 10)];
    let whole = Section::from(bounds);
    let of = |bytes: u64, ranges: &[SectionRange]| {
        met(&whole, &Elements { bounds: &bounds, element_bytes: 8, bytes, offset: 0, ranges })
    };
    let unknown = |perhaps: u64| Meeting { inside: 0, perhaps };
    let one = SectionRange::Subscripts { start: 1, stride: 1, count: 1 };
    let vector = SectionRange::Vector { least: 1, greatest: 10, count: 100_000 };
    assert_eq!(of(800_000, &[vector, one]), unknown(100_000));
    assert_eq!(of(800, &[]), unknown(100));
    assert_eq!(of(8, &[]), Meeting { inside: 1, perhaps: 0 });
    assert_eq!(of(20, &[SectionRange::Elements { stride: 3, count: 5 }]), unknown(5));
    assert_eq!(of(8, &[one, one, one]), unknown(1));
    // Somewhere: not at the ends, either.
    let row = [(0, 999)];
    let anywhere = [SectionRange::Anywhere { count: 6 }];
    let elements = Elements { bounds: &row, element_bytes: 8, bytes: 48, offset: 0, ranges: &anywhere };
    for section in [(0, 0), (999, 999), (1, 998), (0, 999)] {
        assert_eq!(met(&[section], &elements), unknown(6), "{section:?}");
    }
    // Steps that no product has, too many to be looked at one by one.
    let many = [SectionRange::Elements { stride: 11, count: 1 << 40 }];
    assert_eq!(of(8 << 40, &many), unknown(1 << 40));
}

fn parts<const N: usize>(all: &[[(i64, i64); N]]) -> Vec<ArrayPart> {
    let part =
        |(at, bounds): (u32, &[(i64, i64); N])| ArrayPart { process: ProcessId(at), bounds: bounds.to_vec() };
    (0..).zip(all).map(part).collect()
}

fn snapped(
    parts: &[ArrayPart],
    section: &[(i64, i64)],
    on: Option<&[u32]>,
    how: Snap,
) -> Result<Snapped, SubArrayError> {
    let processes = on.map(|on| on.iter().map(|it| ProcessId(*it)).collect::<BTreeSet<_>>());
    SubArray { section: section.to_vec(), processes }.snapped(parts, how)
}

#[test]
fn a_coarray_has_all_of_a_section_on_each_image() {
    let parts = parts(&[[(1, 16), (1, 8)]; 4]);
    for how in Snap::ALL {
        let found = snapped(&parts, &[(1, 10), (5, 5)], Some(&[2, 3]), how).unwrap();
        assert_eq!(found.section, [(1, 10), (5, 5)]);
        assert_eq!((found.distributed, found.fits), (vec![false, false], true));
        let pieces: Vec<_> = found.pieces.into_iter().collect();
        let expected = vec![(1, 10), (5, 5)];
        assert_eq!(pieces, [(ProcessId(2), expected.clone()), (ProcessId(3), expected)]);
    }
}

#[test]
fn a_selection_snaps_to_whole_blocks_along_what_is_distributed() {
    // Rows in blocks of 5 with three processes, columns whole.
    let rows = [[(1, 5), (0, 9)], [(6, 10), (0, 9)], [(11, 15), (0, 9)]];
    let parts = parts(&rows);
    let pieces = |section: &[(i64, i64)], on: Option<&[u32]>, how: Snap| -> Vec<(u32, Section)> {
        let found = snapped(&parts, section, on, how).unwrap();
        assert_eq!(found.distributed, [true, false]);
        found.pieces.into_iter().map(|(process, piece)| (process.0, piece)).collect()
    };
    let selected = [(4, 12), (2, 3)];
    let row = |process: u32, lower: i64, upper: i64| (process, vec![(lower, upper), (2, 3)]);
    assert_eq!(pieces(&selected, None, Snap::Expand), [row(0, 1, 5), row(1, 6, 10), row(2, 11, 15)]);
    assert_eq!(pieces(&selected, None, Snap::Shrink), [row(1, 6, 10)]);
    assert_eq!(pieces(&selected, None, Snap::No), [row(0, 4, 5), row(1, 6, 10), row(2, 11, 12)]);
    assert_eq!(pieces(&selected, Some(&[0, 1]), Snap::Expand), [row(0, 1, 5), row(1, 6, 10)]);
    assert_eq!(snapped(&parts, &selected, None, Snap::Expand).unwrap().section, [(1, 15), (2, 3)]);
    let fits = |section: &[(i64, i64)], how: Snap| snapped(&parts, section, None, how).unwrap().fits;
    assert_eq!(Snap::ALL.map(|how| fits(&selected, how)), [false, false, true]);
    assert_eq!(Snap::ALL.map(|how| fits(&[(6, 15), (4, 4)], how)), [true, true, true]);
    // Of one process, what others have is not missed.
    assert!(snapped(&parts, &[(6, 12), (0, 9)], Some(&[1]), Snap::Expand).unwrap().fits);
    let one = [(7, 9), (0, 9)];
    assert_eq!(pieces(&one, None, Snap::Expand), [(1, vec![(6, 10), (0, 9)])]);
    assert_eq!(snapped(&parts, &one, None, Snap::Shrink), Err(SubArrayError::NoWholePart));
    assert_eq!(snapped(&parts, &one, Some(&[2]), Snap::No), Err(SubArrayError::Nowhere));
}

#[test]
fn what_is_no_selection_is_told() {
    let all = parts(&[[(1, 16), (-2, 8)]; 2]);
    type Row<'r> = (&'r [(i64, i64)], Option<&'r [u32]>, &'r str);
    let rows: [Row<'_>; 6] = [
        (&[(1, 2)], None, "it has 2 dimensions, one is selected"),
        (&[(1, 2), (0, 0), (0, 0)], None, "it has 2 dimensions, 3 are selected"),
        (&[(5, 4), (0, 0)], None, "5:4 in dimension 1 is empty"),
        (&[(5, 6), (-3, 0)], None, "-3:0 in dimension 2 is beyond its bounds, -2:8"),
        (&[(5, 17), (0, 0)], None, "5:17 in dimension 1 is beyond its bounds, 1:16"),
        (&[(5, 6), (0, 0)], Some(&[7]), "process 7 has none of it"),
    ];
    for (section, on, words) in rows {
        let error = snapped(&all, section, on, Snap::Expand).unwrap_err();
        assert_eq!(error.to_string(), words);
    }
    let error = snapped(&[], &[(1, 1)], None, Snap::Expand).unwrap_err();
    assert_eq!(error, SubArrayError::UnknownBounds);
}
