//! What recurs in a program: runs of places and visits of regions, and how regularly.
//!
//! The one idea: the sequence of what a function calls is a running hash, so that the sequence between any two moments
//! is a difference, and one pass over the events tells of every place at once how often what follows it is the same.
//!
//! What is deliberately absent: which of these is a loop ([`super::find`]).

use marey_model::{CallPathId, LocationId, Nanos};
use rustc_hash::FxHashMap;

use super::tree::{NodeId, Step, Tree, Walker};
use crate::activities::Activity;
use crate::bins::{Bins, OCTAVE, bin_of, least_of};
use crate::efficiency::is_useful;
use crate::happenings::{Happenings, Interval, Unread};
use crate::trace::Trace;

/// Something that recurs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Mark {
    /// Runs of a node.
    Runs(NodeId),
    /// Visits of a region.
    Visits(NodeId),
}

impl Mark {
    pub(super) fn node(self) -> NodeId {
        let (Self::Runs(node) | Self::Visits(node)) = self;
        node
    }
}

/// All that was counted.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// How regularly each recurs.
    steps: FxHashMap<Mark, Steps>,
    /// Of each location what was seen of each node.
    places: Vec<(LocationId, FxHashMap<NodeId, Place>)>,
}

/// How often something recurred on one location, and from when until when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Recurs {
    pub(super) number: u64,
    pub(super) first: Nanos,
    pub(super) last: Nanos,
    /// Latest end of its events.
    pub(super) end: Nanos,
    /// The sequence of its surroundings, when it was there last, and the useful time until then.
    at: (Sequence, Nanos),
}

/// A sequence of children, as a polynomial in a fixed base and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sequence {
    hash: u64,
    len: u64,
}

/// A large odd number without structure (from the digits of the golden ratio).
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
/// Stands in a sequence where the function itself was entered anew.
const ANEW: u64 = 1;
/// Stands in a sequence where the region itself was visited.
const VISIT: u64 = 2;

impl Sequence {
    fn append(&mut self, token: u64) {
        self.hash = self.hash.wrapping_mul(BASE).wrapping_add(token);
        self.len += 1;
    }

    /// What was appended since it was `earlier`.
    fn since(self, earlier: Self) -> u64 {
        let mut factor = 1_u64;
        let (mut base, mut power) = (BASE, self.len - earlier.len);
        while power > 0 {
            if power & 1 == 1 {
                factor = factor.wrapping_mul(base);
            }
            base = base.wrapping_mul(base);
            power >>= 1;
        }
        self.hash.wrapping_sub(earlier.hash.wrapping_mul(factor))
    }
}

/// What lies between two times that a mark was there.
#[derive(Clone, Copy, Debug)]
struct Since {
    sequence: u64,
    useful: Nanos,
}

/// A clock that stands still in calls of parallel libraries.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    stood: Nanos,
    /// Until when it stands.
    until: Nanos,
}

impl Clock {
    fn at(&self, time: Nanos) -> Nanos {
        time - (self.stood - (self.until - time).max(Nanos(0)))
    }

    /// It stands during a call, unless it does so already.
    fn stop(&mut self, call: &Interval) {
        if self.until <= call.start {
            self.stood = self.stood + (call.end - call.start);
            self.until = call.end;
        }
    }
}

/// What was seen of a node on a location.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    runs: Recurs,
    visits: Recurs,
    children: Sequence,
}

/// The steps of a mark on all locations.
#[derive(Clone, Debug, Default)]
struct Steps {
    /// By location, for each may have a part of its own.
    sequences: Vec<(usize, Sequences)>,
    number: u64,
    /// Useful time: of all, and how it is distributed.
    time: u64,
    lengths: Bins,
}

/// Sequences of one location, of which one is perhaps that of most steps: how many of each, and how much useful time. Whatever is
/// there more often than all others finds a place and keeps it, though others come and go.
#[derive(Clone, Copy, Debug, Default)]
struct Sequences([(u64, u64, u64); 4]);

impl Sequences {
    fn add(&mut self, sequence: u64, length: u64) {
        if let Some(known) = self.0.iter_mut().find(|known| known.1 > 0 && known.0 == sequence) {
            (known.1, known.2) = (known.1 + 1, known.2.saturating_add(length));
        } else if let Some(least) = self.0.iter_mut().min_by_key(|known| known.1) {
            *least = (sequence, 1, length);
        }
    }

    fn most(&self) -> (u64, u64) {
        self.0.iter().map(|known| (known.1, known.2)).max().unwrap_or_default()
    }
}

impl Steps {
    fn add(&mut self, location: usize, step: &Since) {
        let useful = step.useful.0.max(0).unsigned_abs();
        self.number += 1;
        self.time = self.time.saturating_add(useful);
        self.lengths.add(useful);
        // Locations come one after the other, mostly.
        let place = self.sequences.iter().rposition(|known| known.0 == location).unwrap_or_else(|| {
            self.sequences.push((location, Sequences::default()));
            self.sequences.len() - 1
        });
        self.sequences[place].1.add(step.sequence, useful);
    }

    fn is_regular(&self) -> bool {
        self.is_same_sequence() || self.is_same_length()
    }

    fn is_same_sequence(&self) -> bool {
        let most = self.sequences.iter().map(|known| known.1.most());
        let (number, time) = most.fold((0, 0), |sum, most| (sum.0 + most.0, sum.1 + u128::from(most.1)));
        2 * self.number <= 3 * number && u128::from(self.time) <= 4 * time
    }

    fn is_same_length(&self) -> bool {
        let mut passed = 0_u128;
        let half = self.lengths.counts.iter().map(|(&bin, &number)| weight(bin, number)).sum::<u128>() / 2;
        let usual = self.lengths.counts.iter().find(|(bin, number)| {
            passed += weight(**bin, **number);
            half <= passed
        });
        let Some((&usual, _)) = usual else { return false };
        let (from, to) = (bin_of(least_of(usual) / 2), usual + OCTAVE);
        let near: u64 = self.lengths.counts.range(from..=to).map(|(_, number)| number).sum();
        7 * self.number <= 10 * near && is_more_than_chance(near, self.number)
    }
}

/// Whether more steps are near than in a random order of calls with random times between, where some six in ten are: by
/// 3½ standard deviations, for many places are asked.
fn is_more_than_chance(near: u64, number: u64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "counts need no more than 53 bits")]
    let (near, number) = (near as f64, number as f64);
    near - 0.6 * number >= 3.5 * (0.6 * 0.4 * number).sqrt()
}

fn weight(bin: u32, number: u64) -> u128 {
    u128::from(least_of(bin)) * u128::from(number)
}

impl Marks {
    /// Goes through the events of some locations.
    pub(super) fn count(
        run: &dyn Trace,
        tree: &Tree,
        locations: &[LocationId],
        events: &impl Happenings,
    ) -> Result<Self, Unread> {
        let mut marks = Self::default();
        let is_useful: Vec<bool> =
            tree.chains().map(|(path, _)| is_useful(run, Activity::Path(path))).collect();
        // Of each location where it is in the tree, and when the event before ended.
        let mut walkers = vec![(Walker::default(), Nanos(0), Clock::default()); locations.len()];
        let mut places: FxHashMap<LocationId, usize> = FxHashMap::default();
        for (place, location) in locations.iter().enumerate() {
            marks.places.push((*location, FxHashMap::default()));
            places.insert(*location, place);
        }
        for slab in 0..events.slabs().len() {
            events.intervals(slab, &mut |batch| {
                for event in batch {
                    let Some(&place) = places.get(&event.location) else { continue };
                    let (walker, end, clock) = &mut walkers[place];
                    let step = walker.step(tree, event);
                    marks.note(place, event, &step, (*end, clock.at(event.start)));
                    *end = event.end;
                    if !is_useful.get(event.call_path.idx()).is_none_or(|is_useful| *is_useful) {
                        clock.stop(event);
                    }
                }
            })?;
        }
        for (place, (walker, end, _)) in walkers.iter_mut().enumerate() {
            // Whatever the last event was in has ended with it.
            let location = LocationId(u32::MAX);
            let (start, call_path) = (*end, CallPathId(u32::MAX));
            let nowhere =
                Interval { location, start, end: *end, call_path, depth: 0, computed: Nanos(0), visits: 1 };
            let step = walker.step(tree, &nowhere);
            marks.note(place, &nowhere, &step, (*end, *end));
        }
        Ok(marks)
    }

    /// Notes an event; the one before on its location ended at `end`, and so much `useful` time has passed.
    fn note(&mut self, location: usize, event: &Interval, step: &Step<'_>, (end, useful): (Nanos, Nanos)) {
        let places = &mut self.places[location].1;
        for node in &step.before[step.shared..] {
            if let Some(place) = places.get_mut(node) {
                place.runs.end = place.runs.end.max(end);
            }
        }
        for (depth, &node) in step.chain.iter().enumerate().skip(step.shared) {
            let above = depth.checked_sub(1).map_or(NodeId::ROOT, |above| step.chain[above]);
            let around = &mut places.entry(above).or_default().children;
            let now = *around;
            // 0 and the tokens above are no nodes' numbers.
            around.append(u64::from(node.0) + 3);
            let place = places.entry(node).or_default();
            if place.runs.number > 0 {
                place.children.append(ANEW);
            }
            if let Some(since) = place.runs.again(event.start, (now, useful)) {
                self.steps.entry(Mark::Runs(node)).or_default().add(location, &since);
            }
        }
        if let Some(&node) = step.chain.last() {
            let place = places.entry(node).or_default();
            place.runs.end = place.runs.end.max(event.end);
            place.visits.end = place.visits.end.max(event.end);
            let now = place.children;
            place.children.append(VISIT);
            if let Some(since) = place.visits.again(event.start, (now, useful)) {
                self.steps.entry(Mark::Visits(node)).or_default().add(location, &since);
            }
        }
    }

    pub(super) fn is_regular(&self, mark: Mark) -> bool {
        self.steps.get(&mark).is_some_and(Steps::is_regular)
    }

    /// Where a mark is, how often, and from when until when.
    pub(super) fn of(&self, mark: Mark) -> impl Iterator<Item = (LocationId, Recurs)> {
        self.places.iter().filter_map(move |(location, places)| {
            let place = places.get(&mark.node())?;
            let recurs = match mark {
                Mark::Runs(_) => place.runs,
                Mark::Visits(_) => place.visits,
            };
            (recurs.number > 0).then_some((*location, recurs))
        })
    }
}

impl Recurs {
    /// It is there once more: what lay between, if it was there before, and how long that took.
    fn again(&mut self, start: Nanos, now: (Sequence, Nanos)) -> Option<Since> {
        let step =
            (self.number > 0).then(|| Since { sequence: now.0.since(self.at.0), useful: now.1 - self.at.1 });
        if self.number == 0 {
            self.first = start;
        }
        (self.number, self.last, self.at) = (self.number + 1, start, now);
        step
    }
}
