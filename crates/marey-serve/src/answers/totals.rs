//! How much time went to which region in a window.
//!
//! The one idea: the pieces of a picture add up to it. Where a visit lies across an end of the window, that share of it
//! counts which lies inside, and of a prepared bucket as well, but that is a guess, and told to be one. Those of the whole
//! run are in its profile, exactly.

use std::collections::BTreeMap;

use marey_analyze::Trace;

use crate::fold::{Piece, collect, float};
use crate::frame::Columns;
use crate::ranges;
use crate::run::Opened;
use crate::wire::{TotalsHead, Trust, Window};

pub(super) fn answer(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let mut times: BTreeMap<u32, f64> = BTreeMap::new();
    let mut rest = 0.0;
    let is_all = window.from_ns <= 0 && run.trace.duration().0 <= window.to_ns;
    let trust =
        if is_all { of_all(run, window, &mut times) } else { of_pieces(run, window, &mut times, &mut rest) };
    let mut rows: Vec<_> = times.into_iter().filter(|(_, time)| *time > 0.0).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let head = TotalsHead { trust, rest_ns: rest, lives_ns: lives(run, window) };
    let mut columns = Columns::default();
    columns.u32("region", rows.iter().map(|row| row.0));
    columns.f64("time", rows.iter().map(|row| row.1));
    columns.frame("totals", &head)
}

/// Of the whole run: inclusive times of all call paths, so that what is nested counts on each of its lines, as in pictures.
fn of_all(run: &Opened<'_>, window: &Window, times: &mut BTreeMap<u32, f64>) -> Trust {
    let paths = run.trace.call_paths();
    let is_meant = |location: u32| ranges::hold(&window.locations, location);
    for row in run.trace.profile().iter().filter(|row| is_meant(row.location.0)) {
        if let Some(path) = paths.get(row.call_path.idx()) {
            *times.entry(path.region.0).or_default() += float(row.inclusive.0);
        }
    }
    Trust { is_exact: true, coarsest_log2: window.resolution_log2, damage: Vec::new() }
}

fn of_pieces(run: &Opened<'_>, window: &Window, times: &mut BTreeMap<u32, f64>, rest: &mut f64) -> Trust {
    let regions = run.trace.regions().len();
    let new = |_| Sums { times: vec![0.0; regions], rest: 0.0, is_guessed: false };
    let (mut trust, sums) = collect(run, window, new, |Sums { times, rest, is_guessed }, piece| {
        let share = if piece.is_cut { 1.0 } else { inside(piece, window) / float(piece.duration.max(1)) };
        *is_guessed |= !piece.is_visit && !piece.is_cut && share < float(piece.n);
        for (region, time) in piece.regions.iter().flatten() {
            if let Some(sum) = times.get_mut(*region as usize) {
                *sum += float(*time) * share;
            }
        }
        *rest += float(piece.rest) * share;
    });
    for some in sums {
        (0..).zip(some.times).for_each(|(region, time)| *times.entry(region).or_default() += time);
        *rest += some.rest;
        trust.is_exact &= !some.is_guessed;
    }
    trust
}

/// What the pieces of some locations add up to.
struct Sums {
    times: Vec<f64>,
    rest: f64,
    /// Whether a prepared bucket lies across an end of the window.
    is_guessed: bool,
}

/// How much of a piece, or of those like it that follow, lies in the window, ns.
fn inside(piece: &Piece, window: &Window) -> f64 {
    let end = piece.start.saturating_add(piece.duration.saturating_mul(piece.n));
    float((end.min(window.to_ns) - piece.start.max(window.from_ns)).max(0))
}

/// How long the locations were there, ns.
fn lives(run: &Opened<'_>, window: &Window) -> f64 {
    let mut sum = 0.0;
    for (first, behind) in &window.locations {
        let some = run.trace.locations().iter().take(*behind as usize).skip(*first as usize);
        sum += some
            .map(|it| float((it.end.0.min(window.to_ns) - it.start.0.max(window.from_ns)).max(0)))
            .sum::<f64>();
    }
    sum
}
