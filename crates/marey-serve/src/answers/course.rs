//! How many locations were in which region in the course of a window: a mountain range.
//!
//! The one idea: of each location only its outermost line counts of the level that comes first, so that what is nested is
//! not counted twice and the range is never higher than there are locations. What somebody has hidden is left out before the
//! largest regions are looked for, so that none of it is among all others.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::fold::{Piece, collect, float};
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{Course, CourseHead};

/// So many regions are told apart.
const MOST_REGIONS: usize = 12;

/// So many values are summed up by a thread, 32 MiB: regions that are met when there is no room for them are among all others.
const MOST_VALUES: usize = 1 << 22;

pub(super) fn answer(run: &Opened<'_>, Course { window, without }: &Course) -> Vec<u8> {
    let log2 = window.resolution_log2;
    let first = window.from_ns >> log2;
    let buckets = usize::try_from(((window.to_ns - 1) >> log2) - first + 1).unwrap_or(1);
    let counts = outermost(run);
    let new = || Series { of: BTreeMap::new(), rest: vec![0.0; buckets], has_untold: false };
    let (trust, found) = collect(
        run,
        window,
        |_| new(),
        |series: &mut Series, piece| {
            if counts[piece.line as usize] {
                series.add(piece, without, (first, log2));
            }
        },
    );
    let mut all = new();
    found.into_iter().for_each(|series| all.join(series));
    let Series { of: series, mut rest, has_untold } = all;
    let mut rows: Vec<(u32, Vec<f64>)> = series.into_iter().collect();
    let total = |busy: &[f64]| busy.iter().sum::<f64>();
    rows.sort_by(|a, b| total(&b.1).total_cmp(&total(&a.1)).then(a.0.cmp(&b.0)));
    for (_, busy) in rows.drain(rows.len().min(MOST_REGIONS)..) {
        rest.iter_mut().zip(busy).for_each(|(sum, more)| *sum += more);
    }
    let locations = window.locations.iter().map(|(first, behind)| behind.saturating_sub(*first)).sum();
    let head = CourseHead {
        trust,
        from_ns: float(first << log2),
        bucket_ns: float(1 << log2),
        buckets: u32::try_from(buckets).unwrap_or(u32::MAX),
        locations,
        has_untold,
    };
    let mut columns = Columns::default();
    columns.u32("region", rows.iter().map(|row| row.0));
    columns.f64("busy", rows.iter().flat_map(|row| &row.1).chain(&rest).copied());
    columns.frame("course", &head)
}

/// By region, how much of each bucket is in it.
struct Series {
    of: BTreeMap<u32, Vec<f64>>,
    rest: Vec<f64>,
    /// Whether some of the rest is of regions that nobody told apart.
    has_untold: bool,
}

impl Series {
    fn add(&mut self, piece: &Piece, without: &[u32], (first, log2): (i64, u32)) {
        let span = (piece.start, piece.duration * piece.n);
        let share = |time: i64| float(time) / float(piece.duration.max(1));
        for (region, time) in piece.regions.iter().flatten() {
            if without.binary_search(region).is_ok() {
                continue;
            }
            let buckets = self.rest.len();
            let has_room = self.of.len() < MOST_VALUES / buckets.max(1);
            let sums = match self.of.entry(*region) {
                Entry::Occupied(sums) => sums.into_mut(),
                Entry::Vacant(place) if has_room => place.insert(vec![0.0; buckets]),
                Entry::Vacant(_) => &mut self.rest,
            };
            spread(sums, span, share(*time), (first, log2));
        }
        if piece.rest > 0 {
            self.has_untold = true;
            spread(&mut self.rest, span, share(piece.rest), (first, log2));
        }
    }

    fn join(&mut self, other: Self) {
        let add =
            |sums: &mut [f64], more: &[f64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.rest, &other.rest);
        self.has_untold |= other.has_untold;
        for (region, busy) in other.of {
            match self.of.entry(region) {
                Entry::Occupied(mut sums) => add(sums.get_mut(), &busy),
                Entry::Vacant(place) => drop(place.insert(busy)),
            }
        }
    }
}

/// Adds a share of the time from `start` on to the buckets that it lies in.
fn spread(buckets: &mut [f64], (start, length): (i64, i64), share: f64, (first, log2): (i64, u32)) {
    let end = start + length;
    let behind = first + i64::try_from(buckets.len()).unwrap_or(i64::MAX);
    for number in (start >> log2).max(first)..(((end - 1) >> log2) + 1).min(behind) {
        let inside = end.min((number + 1) << log2) - start.max(number << log2);
        let place = usize::try_from(number - first).unwrap_or(usize::MAX);
        if let Some(sum) = buckets.get_mut(place) {
            *sum += share * float(inside) / float(1 << log2);
        }
    }
}

/// By line, whether it is the outermost of its location: depth 0 of the first of its levels.
fn outermost(run: &Opened<'_>) -> Vec<bool> {
    let lines = &run.head.lines;
    let is_first = |place: usize| place == 0 || lines[place - 1].location != lines[place].location;
    (0..lines.len()).map(is_first).collect()
}
