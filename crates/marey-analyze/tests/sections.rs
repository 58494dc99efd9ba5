//! The picture of an array's index space, against a count that looks at each element by itself.
//!
//! Arrays, sections and pictures are made up at random; the count below knows nothing of products.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use marey_analyze::{Axis, Elements, HeatMap, Reference, SectionRange};
use marey_testkit::Chance;

fn number(chance: &mut Chance, below: u64) -> i64 {
    i64::try_from(chance.below(below)).unwrap()
}

/// Elements of an access by their subscripts; `None` = one is outside.
fn elements(bounds: &[(i64, i64)], first: i64, ranges: &[SectionRange]) -> Vec<Option<Vec<i64>>> {
    let mut offsets = vec![first];
    for range in ranges {
        let SectionRange::Elements { stride, count } = *range else { unreachable!() };
        let steps =
            |at: &i64| (0..i64::try_from(count).unwrap()).map(|step| at + step * stride).collect::<Vec<_>>();
        offsets = offsets.iter().flat_map(steps).collect();
    }
    let place = |offset: i64| {
        let mut all: Vec<Vec<i64>> = vec![Vec::new()];
        // Column by column, as Fortran lays them out.
        for (lower, upper) in bounds.iter().rev() {
            all =
                all.iter().flat_map(|slow| (*lower..=*upper).map(|it| [&[it], &slow[..]].concat())).collect();
        }
        usize::try_from(offset).ok().and_then(|offset| all.get(offset).cloned())
    };
    offsets.into_iter().map(place).collect()
}

#[test]
fn cells_have_what_a_count_of_each_element_has() {
    let mut chance = Chance::new(41);
    let (mut products, mut others) = (0, 0);
    for _ in 0..600 {
        let dimensions = 1 + chance.below(3);
        let bounds: Vec<(i64, i64)> = (0..dimensions)
            .map(|_| {
                let lower = number(&mut chance, 7) - 3;
                (lower, lower + number(&mut chance, 9))
            })
            .collect();
        let total: i64 = bounds.iter().map(|(lower, upper)| upper - lower + 1).product();
        let first = number(&mut chance, u64::try_from(total).unwrap());
        let ranges: Vec<SectionRange> = (0..chance.below(3))
            .map(|_| SectionRange::Elements {
                stride: number(&mut chance, 13) - 3,
                count: 1 + chance.below(6),
            })
            .collect();
        let axes = match chance.below(3) {
            0 => [Axis::Dimension(0), Axis::Process],
            1 => [Axis::Process, Axis::Dimension(bounds.len() - 1)],
            _ if bounds.len() > 1 => [Axis::Dimension(0), Axis::Dimension(bounds.len() - 1)],
            _ => [Axis::Dimension(0), Axis::Process],
        };
        let span = |axis: Axis| match axis {
            Axis::Dimension(place) => bounds[place],
            Axis::Process => (0, 4),
        };
        let spans = axes.map(span);
        let mut map = HeatMap::new(axes, spans, [3, 50]);
        let process = usize::try_from(chance.below(5)).unwrap();
        let is_remote = chance.below(2) == 0;
        map.add(&Reference {
            elements: Elements {
                bounds: &bounds,
                element_bytes: 8,
                bytes: 8 * ranges.iter().map(|range| range.count()).product::<u64>(),
                offset: first * 8,
                ranges: &ranges,
            },
            process: Some(process),
            is_remote,
        });

        let mut expected = vec![0; map.size[0] * map.size[1]];
        let mut nowhere = 0;
        for subscripts in elements(&bounds, first, &ranges) {
            let Some(subscripts) = subscripts else {
                nowhere += 1;
                continue;
            };
            let cell = |at: usize| {
                let value = match axes[at] {
                    Axis::Dimension(place) => subscripts[place],
                    Axis::Process => i64::try_from(process).unwrap(),
                };
                let (least, most) = spans[at];
                let cells = i64::try_from(map.size[at]).unwrap();
                usize::try_from((value - least) * cells / (most - least + 1)).unwrap()
            };
            expected[cell(1) * map.size[0] + cell(0)] += 1;
        }
        let (mine, theirs) = if is_remote { (&map.remote, &map.local) } else { (&map.local, &map.remote) };
        assert_eq!(mine, &expected, "{bounds:?} {first} {ranges:?} {axes:?}");
        assert!(theirs.iter().all(|cell| *cell == 0));
        assert_eq!(map.nowhere, nowhere, "{bounds:?} {first} {ranges:?}");
        if nowhere == 0 { products += 1 } else { others += 1 }
    }
    assert!(products > 100 && others > 100, "{products} inside, {others} not");
}

/// A whole row, every third subscript downwards, and a list that is not told, of an array of two dimensions.
#[test]
fn subscripts_are_those_of_the_source() {
    let bounds = [(1, 10), (1, 2000)];
    let mut map = HeatMap::new([Axis::Dimension(1), Axis::Dimension(0)], [(1, 2000), (1, 10)], [4, 10]);
    let add = |map: &mut HeatMap, ranges: &[SectionRange]| {
        map.add(&Reference {
            elements: Elements { bounds: &bounds, element_bytes: 8, bytes: 8, offset: 0, ranges },
            process: None,
            is_remote: true,
        });
    };
    let all = SectionRange::Subscripts { start: 2000, stride: -1, count: 2000 };
    add(&mut map, &[SectionRange::Subscripts { start: 4, stride: 1, count: 1 }, all]);
    add(
        &mut map,
        &[
            SectionRange::Subscripts { start: 10, stride: -3, count: 3 },
            SectionRange::Subscripts { start: 1, stride: 500, count: 4 },
        ],
    );
    add(
        &mut map,
        &[
            SectionRange::Vector { least: 1, greatest: 9, count: 3 },
            SectionRange::Subscripts { start: 2, stride: 1, count: 5 },
        ],
    );
    // Of a component, whose dimensions are others.
    add(&mut map, &[SectionRange::Subscripts { start: 2, stride: 1, count: 7 }]);
    let row = |at: usize| &map.remote[(at - 1) * 4..at * 4];
    assert_eq!(row(4), [501, 501, 501, 501]);
    assert_eq!([row(7), row(10)], [[1; 4], [1; 4]]);
    assert_eq!(map.remote.iter().sum::<u64>(), 2000 + 12);
    assert_eq!(map.nowhere, 15 + 7);
}
