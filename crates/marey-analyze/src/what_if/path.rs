//! The critical path of a replay.
//!
//! The one idea: it is found backwards over the gates at which somebody waited, in times of the run as it was; what its
//! spans take in the replay is added up in one more pass over the intervals.

use std::collections::BTreeMap;

use marey_model::{LocationId, Nanos};

use super::replay::Finished;
use super::variants::{Variants, length};
use super::{PathTime, Replayed};
use crate::activities::{Activity, Piece, pieces};
use crate::happenings::{self, Happenings, Unread};
use crate::trace::Trace;
use crate::waits::Waits;

/// A gate at which a location waited in a variant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Held {
    pub(super) variant: u32,
    pub(super) location: u32,
    pub(super) at: Nanos,
    /// Whether it waited there in the run, too.
    pub(super) waited: bool,
    /// Whether it is itself the cause: its wait kept its length since then.
    pub(super) keeps: bool,
    pub(super) cause: u32,
    pub(super) cause_at: Nanos,
    /// What the network took, ns.
    pub(super) cost: f64,
    /// How long it waited, ns.
    pub(super) wait: f64,
}

/// Drops the shorter half; tells how many those were. Of equals those are kept that were found first, so that half is left
/// even of waits that are all as long as each other.
pub(super) fn halve(held: &mut Vec<Held>) -> u64 {
    let (middle, before) = (held.len() / 2, held.len());
    if middle == 0 {
        return 0;
    }
    let mut lengths: Vec<f64> = held.iter().map(|held| held.wait).collect();
    let (_, median, longer) = lengths.select_nth_unstable_by(before - middle, f64::total_cmp);
    let median = *median;
    // Of the longer half, some may be no longer than the median.
    let mut equals = 1 + longer.iter().filter(|wait| **wait <= median).count();
    held.retain(|held| {
        let is_equal = held.wait.total_cmp(&median).is_eq();
        let is_left = is_equal && 0 < equals;
        equals -= usize::from(is_left);
        is_left || held.wait > median
    });
    (before - held.len()) as u64
}

/// A span of a path: of a location, times of the run.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: Nanos,
    to: Nanos,
    /// Whether a gate at which it waited is where it begins: then a step that ends there is part of it.
    after_wait: bool,
    /// Whether waits keep their length in it.
    keeps: bool,
}

/// Follows the path of each variant, and adds up what is on it.
pub(super) fn follow(
    run: &impl Trace,
    events: &impl Happenings,
    waits: &Waits,
    variants: &Variants,
    mut finished: Finished,
) -> Result<Vec<Replayed>, Unread> {
    let key = |held: &Held| (held.variant, held.location, held.at, !held.waited);
    // Of several at one instant the last one says when it went on: the order in which they were found is kept.
    finished.held.sort_by_key(key);
    finished.held.reverse();
    finished.held.dedup_by_key(|held| key(held));
    finished.held.reverse();
    let mut sums = Sums { variants, spans: Vec::new(), rows: vec![BTreeMap::new(); variants.len()] };
    for variant in 0..variants.len() {
        let from = finished.held.partition_point(|held| (held.variant as usize) < variant);
        let len = finished.held[from..].partition_point(|held| held.variant as usize == variant);
        let held = &finished.held[from..from + len];
        let mut spans = vec![Vec::new(); run.locations().len()];
        let replayed = &mut finished.replayed[variant];
        let walked = walk(run, held, &finished.creators, finished.last[variant], |location, span| {
            spans[location].push(span);
        });
        (replayed.network, replayed.before_path) = walked;
        // The first is the last now.
        sums.spans.push(spans);
    }
    pieces(
        run,
        events,
        waits,
        happenings::Span::ALL,
        |location, piece| sums.add(run, location, &piece),
        |_| {},
    )?;
    sums.extras(&finished.last);
    for ((replayed, mut rows), last) in finished.replayed.iter_mut().zip(sums.rows).zip(finished.last) {
        // What the run was longer than anybody was there.
        if let Some(id) = LocationId::from_idx(last).filter(|_| finished.rest > 0.0) {
            *rows.entry((id, Activity::NotStarted)).or_default() += finished.rest;
        }
        let row = |((location, activity), time)| PathTime { location, activity, time };
        replayed.path = rows.into_iter().map(row).filter(|row: &PathTime| row.time > 0.0).collect();
    }
    Ok(finished.replayed)
}

/// Walks a path backwards; tells what the network took, and the time before.
fn walk(
    run: &impl Trace,
    held: &[Held],
    creators: &BTreeMap<LocationId, (LocationId, Nanos)>,
    last: usize,
    mut each: impl FnMut(usize, Span),
) -> (f64, f64) {
    let locations = run.locations();
    let Some(end) = locations.get(last).map(|location| location.end) else {
        return (0.0, length(Nanos(0), run.duration()));
    };
    let mut here = last;
    let mut time = end;
    // At the very end all gates count, at an arrival those at which it waited before.
    let mut is_end = true;
    let mut network = 0.0;
    loop {
        let own = |held: &Held| (held.location as usize, held.at, !held.waited);
        let bound = (here, time, is_end);
        let place = held.partition_point(|held| own(held) <= bound);
        let latest =
            place.checked_sub(1).map(|place| &held[place]).filter(|held| held.location as usize == here);
        is_end = false;
        if let Some(held) = latest {
            each(here, Span { from: held.at, to: time, after_wait: held.waited, keeps: false });
            network += held.cost;
            if held.keeps {
                each(here, Span { from: held.cause_at, to: held.at, after_wait: false, keeps: true });
                is_end = true;
            }
            (here, time) = (held.cause as usize, held.cause_at);
            continue;
        }
        let id = LocationId::from_idx(here);
        let start = locations.get(here).map_or(Nanos(0), |location| location.start);
        match id.and_then(|id| creators.get(&id)).filter(|from| start <= time && from.1 <= time) {
            Some(&(creator, from)) => {
                each(here, Span { from, to: time, after_wait: false, keeps: false });
                (here, time) = (creator.idx(), from);
            }
            None => {
                let from = start.min(time);
                each(here, Span { from, to: time, after_wait: true, keeps: false });
                return (network, length(Nanos(0), from));
            }
        }
    }
}

/// Time on the paths in the making.
struct Sums<'l> {
    variants: &'l Variants,
    /// Of each variant and location the spans that are still to come, the first last.
    spans: Vec<Vec<Vec<Span>>>,
    rows: Vec<BTreeMap<(LocationId, Activity), f64>>,
}

impl Sums<'_> {
    fn add(&mut self, run: &impl Trace, location: LocationId, piece: &Piece) {
        let Some(activity) = piece.doing.activity() else { return };
        let waits = piece.waits_until > Nanos(0);
        let (variants, spans, rows) = (self.variants, &self.spans, &mut self.rows);
        variants.with_factors(run, location, piece.doing, |factors, is_useful| {
            for (variant, factor) in factors.iter().enumerate() {
                let own = &spans[variant][location.idx()];
                let steps = if is_useful { variants.steps(variant, location.idx()) } else { &[] };
                // Spans lie apart, the latest first.
                let first = own.partition_point(|span| span.to > piece.start);
                for span in own[..first].iter().rev().take_while(|span| span.from < piece.end) {
                    if waits && !span.keeps {
                        continue;
                    }
                    let (mut from, to) = (span.from.max(piece.start), span.to.min(piece.end));
                    let mut step = steps.partition_point(|step| step.until <= from);
                    while from < to {
                        let until = steps.get(step).map_or(to, |step| step.until.min(to));
                        let balance = steps.get(step).map_or(1.0, |step| step.factor);
                        let time = length(from, until) * factor * balance;
                        *rows[variant].entry((location, activity)).or_default() += time;
                        (from, step) = (until, step + 1);
                    }
                }
            }
        });
    }

    /// What locations get at the ends of their steps. The last step ends with the location, and nothing follows: it is on
    /// the path of whoever ends last.
    fn extras(&mut self, last: &[usize]) {
        for ((variant, rows), last) in self.rows.iter_mut().enumerate().zip(last) {
            for (location, spans) in self.spans[variant].iter().enumerate() {
                let Some(id) = LocationId::from_idx(location) else { continue };
                for step in self.variants.steps(variant, location).iter().filter(|step| step.extra > 0.0) {
                    let at = step.until;
                    let is_on = |span: &Span| span.from < at || span.from == at && span.after_wait;
                    // The latest come first; of those that reach so far the earliest is the one.
                    let reaching = spans.partition_point(|span| at <= span.to);
                    let is_end = at == Nanos(i64::MAX) && location == *last;
                    if is_end || reaching.checked_sub(1).is_some_and(|place| is_on(&spans[place])) {
                        *rows.entry((id, Activity::Outside)).or_default() += step.extra;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_left_even_of_equals() {
        let left = |waits: &[f64]| {
            let none = Held {
                variant: 0,
                location: 0,
                at: Nanos(0),
                waited: true,
                keeps: false,
                cause: 0,
                cause_at: Nanos(0),
                cost: 0.0,
                wait: 0.0,
            };
            let held = |(wait, at): (&f64, i64)| Held { wait: *wait, at: Nanos(at), ..none };
            let mut all: Vec<Held> = waits.iter().zip(0..).map(held).collect();
            let dropped = halve(&mut all);
            assert_eq!(all.len() + usize::try_from(dropped).unwrap(), waits.len());
            all.iter().map(|held| held.at.0).collect::<Vec<_>>()
        };
        assert_eq!(left(&[5.0, 1.0, 4.0, 2.0]), [0, 2]);
        assert_eq!(left(&[3.0; 6]), [0, 1, 2]);
        // What kept its length is longer than any.
        assert_eq!(left(&[f64::INFINITY, 1.0, f64::INFINITY, f64::INFINITY]), [0, 2]);
        assert_eq!(left(&[2.0, 1.0, 2.0, 2.0, 9.0]), [0, 4]);
    }
}
