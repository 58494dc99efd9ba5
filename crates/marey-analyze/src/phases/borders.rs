//! When each iteration of each loop began and ended.
//!
//! The one idea: an iteration is over for all when it is over for the last, so of each border the latest time of all
//! locations counts. Whether the time between two iterations belongs to the one or the other is told by what lies
//! before the first and behind the last.
//!
//! What is deliberately absent: what was done meanwhile ([`super::shares`]).

use marey_model::{CallPathId, LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use super::find::Found;
use super::marks::Mark;
use super::tree::{NodeId, Step, Tree, Walker};
use super::{Border, Iteration};
use crate::happenings::{Happenings, Interval, Unread};
use crate::statistics::median;
use crate::trace::Trace;

/// Iterations that are told apart.
const MOST: u64 = 1 << 17;

/// What is known of a loop's borders.
#[derive(Clone, Debug)]
pub(super) struct Borders {
    /// So many in a row are one.
    pub(super) per: u64,
    open: Vec<Nanos>,
    close: Vec<Nanos>,
    /// What was visited in each, if iterations begin with the opener, and if they end with the closer.
    kinds: [Vec<u64>; 2],
    /// Whether the function was entered anew before it.
    anew: Vec<bool>,
    /// Since when nothing had happened before the first.
    since: Nanos,
    /// When something happened after the last.
    next: Nanos,
}

/// What a call path is to a loop.
#[derive(Clone, Copy, Debug)]
struct Part {
    which: usize,
    /// Nodes of its chain down to the function.
    within: usize,
    /// The child of the function that it is in; `None` = it is the function, a region, itself.
    child: Option<NodeId>,
    is_of_family: bool,
}

impl Part {
    /// Whether it is in a mark.
    fn is_in(&self, mark: Mark) -> bool {
        matches!(mark, Mark::Visits(_)) || Some(mark.node()) == self.child
    }

    /// Whether a mark begins with it.
    fn begins(&self, mark: Mark, step: &Step<'_>) -> bool {
        match mark {
            Mark::Visits(_) => self.child.is_none(),
            Mark::Runs(node) => Some(node) == self.child && step.shared <= self.within,
        }
    }

    /// Whether the function that a loop is in begins anew.
    fn enters_anew(&self, step: &Step<'_>, opener: Mark) -> bool {
        let is_new_run = 0 < self.within && step.shared < self.within;
        // A region may be visited again without anything between, if its visits are not what is counted.
        is_new_run || (self.child.is_none() && matches!(opener, Mark::Runs(_)))
    }
}

/// What one location has seen of one loop.
#[derive(Clone, Copy, Debug)]
struct Progress {
    opener: Mark,
    closer: Mark,
    opened: u64,
    closed: u64,
    has_begun: bool,
    is_anew: bool,
    /// End of the visit around the last closer.
    bound: Option<Nanos>,
    next: Option<Nanos>,
}

/// Goes through the events of the loops' locations.
pub(super) fn borders(
    run: &impl Trace,
    tree: &Tree,
    events: &impl Happenings,
    loops: &[Found],
) -> Result<Vec<Borders>, Unread> {
    let mut all: Vec<Borders> = loops.iter().map(|found| Borders::new(found.number)).collect();
    let parts = parts(tree, loops);
    let mut watches: FxHashMap<LocationId, Watch> = FxHashMap::default();
    for location in loops.iter().flat_map(|found| found.spans.keys()) {
        watches.entry(*location).or_insert_with(|| Watch::new(loops, *location));
    }
    for slab in 0..events.slabs().len() {
        events.intervals(slab, &mut |batch| {
            for event in batch {
                if let Some(watch) = watches.get_mut(&event.location) {
                    watch.note(tree, event, &parts, loops, &mut all);
                }
            }
        })?;
    }
    for (which, (found, borders)) in loops.iter().zip(&mut all).enumerate() {
        for location in found.spans.keys() {
            let life = run.locations().get(location.idx());
            let progress = watches[location].loops[which];
            let (next, bound) = progress.map_or((None, None), |it| (it.next, it.bound));
            let ends = [next, bound, life.map(|life| life.end)];
            let next = ends.into_iter().flatten().min().unwrap_or(Nanos(i64::MAX));
            borders.next = borders.next.min(next);
            borders.since = borders.since.max(life.map_or(Nanos(0), |life| life.start));
        }
    }
    Ok(all)
}

/// What each call path is to which loops.
fn parts(tree: &Tree, loops: &[Found]) -> Vec<Vec<Part>> {
    let part = |chain: &[NodeId], which: usize, found: &Found| {
        let within = if found.within == NodeId::ROOT {
            0
        } else {
            chain.iter().position(|node| *node == found.within)? + 1
        };
        let child = chain.get(within).copied();
        let is_visit = found.ends.values().any(|ends| matches!(ends.0, Mark::Visits(_)));
        let is_of_family = is_visit || child.is_some_and(|child| found.family.contains(&child));
        Some(Part { which, within, child, is_of_family })
    };
    let all = |chain: &[NodeId]| {
        loops.iter().enumerate().filter_map(|(which, found)| part(chain, which, found)).collect()
    };
    tree.chains().map(|(_, chain)| all(chain)).collect()
}

/// A location on its way.
#[derive(Clone, Debug)]
struct Watch {
    walker: Walker,
    /// Of the loops that it takes part in.
    loops: Vec<Option<Progress>>,
    /// For each loop and call path the iterations, by either border, that it was last seen in, counted from 1.
    seen: FxHashMap<(usize, CallPathId), [u64; 2]>,
}

impl Watch {
    fn new(loops: &[Found], location: LocationId) -> Self {
        let progress = |found: &Found| {
            let &(opener, closer) = found.ends.get(&location)?;
            Some(Progress {
                opener,
                closer,
                opened: 0,
                closed: 0,
                has_begun: false,
                is_anew: false,
                bound: None,
                next: None,
            })
        };
        let loops = loops.iter().map(progress).collect();
        Self { walker: Walker::default(), loops, seen: FxHashMap::default() }
    }

    fn note(
        &mut self,
        tree: &Tree,
        event: &Interval,
        parts: &[Vec<Part>],
        loops: &[Found],
        all: &mut [Borders],
    ) {
        let step = self.walker.step(tree, event);
        let parts = parts.get(event.call_path.idx()).map_or(&[][..], Vec::as_slice);
        // Loops that are over end at the latest where something else begins.
        for (which, progress) in self.loops.iter_mut().enumerate() {
            let Some(progress) = progress.as_mut().filter(|it| it.next.is_none()) else { continue };
            let closes = || parts.iter().any(|part| part.which == which && part.is_in(progress.closer));
            if progress.closed >= loops[which].number && !closes() {
                progress.next = Some(event.start);
            }
        }
        for part in parts {
            let Some(progress) = &mut self.loops[part.which] else { continue };
            let borders = &mut all[part.which];
            progress.is_anew |= part.enters_anew(&step, progress.opener);
            if part.is_of_family && !progress.has_begun {
                progress.has_begun = true;
                let since = step.around.map_or(Nanos(0), |(start, _)| start).max(self.walker.idle_since);
                borders.since = borders.since.max(since);
            }
            if part.begins(progress.opener, &step) {
                borders.opens(progress.opened, event.start, progress.is_anew);
                progress.opened += 1;
                progress.is_anew = false;
            }
            let is_in_closer = part.is_in(progress.closer);
            if part.begins(progress.closer, &step) {
                progress.closed += 1;
                progress.bound = step.around.map(|(_, end)| end);
            }
            if is_in_closer {
                borders.closes(progress.closed, event.end);
            }
            if part.is_of_family {
                let iterations = [progress.opened, progress.closed + u64::from(!is_in_closer)];
                let seen = self.seen.entry((part.which, event.call_path)).or_default();
                for (border, now) in iterations.into_iter().enumerate() {
                    if seen[border] != now {
                        seen[border] = now;
                        borders.visits(border, now, event);
                    }
                }
            }
        }
    }
}

impl Borders {
    fn new(number: u64) -> Self {
        let per = number.div_ceil(MOST).max(1);
        let units = usize::try_from(number.div_ceil(per)).unwrap_or(0);
        Self {
            per,
            open: vec![Nanos(i64::MIN); units],
            close: vec![Nanos(i64::MIN); units],
            kinds: [vec![0; units], vec![0; units]],
            anew: vec![false; units],
            since: Nanos(0),
            next: Nanos(i64::MAX),
        }
    }

    /// The opener begins for the time after `opened` others.
    fn opens(&mut self, opened: u64, start: Nanos, is_anew: bool) {
        let unit = usize::try_from(opened / self.per).unwrap_or(usize::MAX);
        if opened.is_multiple_of(self.per)
            && let Some(open) = self.open.get_mut(unit)
        {
            *open = start.max(*open);
            self.anew[unit] |= is_anew;
        }
    }

    /// The closer, which has begun so many times, is there until `end`.
    fn closes(&mut self, closed: u64, end: Nanos) {
        let Some(place) = closed.checked_sub(1) else { return };
        if let Some(close) = self.close.get_mut(usize::try_from(place / self.per).unwrap_or(usize::MAX)) {
            *close = end.max(*close);
        }
    }

    /// A call path is visited in an iteration, counted from 1, for the first time.
    fn visits(&mut self, border: usize, iteration: u64, event: &Interval) {
        let Some(place) = iteration.checked_sub(1) else { return };
        let unit = usize::try_from(place / self.per).unwrap_or(usize::MAX);
        if let Some(kind) = self.kinds[border].get_mut(unit) {
            // Added up, so that the order of locations makes no difference.
            *kind =
                kind.wrapping_add(mixed((u64::from(event.location.0) << 32) | u64::from(event.call_path.0)));
        }
    }

    /// Where iterations begin and end.
    pub(super) fn iterations(
        &self,
        run: &impl Trace,
        tree: &Tree,
        found: &Found,
    ) -> (Border, Vec<Iteration>) {
        let units = self.open.len();
        let gap = |unit: usize| (self.open[unit + 1] - self.close[unit]).0.max(0);
        #[expect(clippy::cast_precision_loss, reason = "runs are shorter than 104 days")]
        let mut gaps: Vec<f64> = (0..units.saturating_sub(1))
            .filter(|unit| !self.anew[unit + 1])
            .map(|unit| gap(unit) as f64)
            .collect();
        #[expect(clippy::cast_possible_truncation, reason = "a median is no longer than the longest")]
        let usual = median(&mut gaps).round() as i64;
        let (head, tail) = self.ends();
        let reaches = |end: i64| end.min(usual);
        let border = if self.is_visit(run, tree, found) {
            Border::Visit
        } else if reaches(tail) <= reaches(head) {
            Border::Closes
        } else {
            Border::Opens
        };
        // Of a gap that is no gap between two iterations, what would be one.
        let own = |gap: i64| Nanos(if gap > usual + usual / 2 { usual } else { gap });
        let span = |unit: usize| match border {
            Border::Visit => (self.open[unit], self.close[unit]),
            Border::Closes => {
                let from = match unit.checked_sub(1) {
                    None => self.open[unit] - own(head),
                    Some(before) if self.anew[unit] => self.open[unit] - own(gap(before)),
                    Some(before) => self.close[before],
                };
                (from, self.close[unit])
            }
            Border::Opens => {
                let to = match unit + 1 {
                    next if next == units => self.close[unit] + own(tail),
                    next if self.anew[next] => self.close[unit] + own(gap(unit)),
                    next => self.open[next],
                };
                (self.open[unit], to)
            }
        };
        let kinds = &self.kinds[usize::from(border == Border::Closes)];
        let iteration = |unit: usize| {
            let (from, to) = span(unit);
            Iteration { from, to: to.max(from), kind: 0, sign: kinds[unit] }
        };
        (border, (0..units).map(iteration).collect())
    }

    /// Time before the first opener and behind the last closer in which nothing happened.
    fn ends(&self) -> (i64, i64) {
        let head = self.open.first().map_or(0, |open| (*open - self.since).0.max(0));
        let tail = self.close.last().map_or(0, |close| (self.next - *close).0.max(0));
        (head, tail)
    }

    /// Whether each visit of a region of the program is an iteration: it takes half of the time or more.
    fn is_visit(&self, run: &impl Trace, tree: &Tree, found: &Found) -> bool {
        let (opener, closer) = (found.end(|ends| ends.0), found.end(|ends| ends.1));
        let path = tree.region(opener.node()).and_then(|path| run.call_paths().get(path.idx()));
        let region = path.and_then(|path| run.regions().get(path.region.idx()));
        let is_work = region.is_some_and(|region| region.role == Role::Work);
        // Of damaged runs it may be more than there is.
        let lengths = self.open.iter().zip(&self.close).map(|(open, close)| (*close - *open).0);
        let inside = lengths.fold(0, i64::saturating_add);
        let whole = match (self.open.first(), self.close.last()) {
            (Some(first), Some(last)) => (*last - *first).0,
            _ => 0,
        };
        opener == closer && is_work && whole <= inside.saturating_mul(2)
    }

    /// How many times the function was entered.
    pub(super) fn rounds(&self) -> u64 {
        1 + self.anew.iter().skip(1).filter(|anew| **anew).count() as u64
    }
}

/// A number that looks like chance (the finaliser of SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
