//! Clocks, and the way from one to another.
//!
//! The one idea: a snapshot holds readings of several clocks at one time, so it leads from each of them to each other. What
//! was read on a clock goes to the trace's clock by the shortest way, at each step by the latest snapshot before it, or by
//! the first there is. Clocks run alike between two snapshots.
//!
//! Deliberately absent: clocks of other machines, which are taken for those of this one.

use rustc_hash::FxHashMap;

use crate::protobuf::Value;

/// Calendar time.
const REALTIME: u32 = 1;
pub(super) const MONOTONIC: u32 = 3;
const BOOTTIME: u32 = 6;
/// Snapshots that are kept.
const MOST: usize = 1 << 20;

/// A clock: its number, and the sequence that it belongs to where it belongs to one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Clock {
    id: u32,
    sequence: u32,
}

impl Clock {
    pub(super) const fn new(id: u32, sequence: u32) -> Self {
        // Those from 64 to 127 are numbered by each sequence for itself.
        let is_own = 64 <= id && id <= 127;
        Self { id, sequence: if is_own { sequence } else { 0 } }
    }

    pub(super) const fn id(self) -> u32 {
        self.id
    }
}

/// A reading in a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub clock: Clock,
    /// In units of the clock.
    pub ticks: i64,
    pub is_incremental: bool,
    /// ns a unit.
    pub unit: i64,
}

/// Readings of the same two clocks, by those of the first.
type Pairs = Vec<(i64, i64)>;

/// All snapshots of a trace.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// Clocks and what they show, ns.
    snapshots: Vec<Vec<(Clock, i64)>>,
    /// Places of the snapshots that have a clock.
    by_clock: FxHashMap<Clock, Vec<usize>>,
    primary: Option<u32>,
    /// ns a unit, and whether times are differences, where that is not 1 and no.
    units: FxHashMap<Clock, (i64, bool)>,
    ways: FxHashMap<(Clock, Clock), Option<Vec<Pairs>>>,
}

/// The clocks of a snapshot, and which one of them is the trace's, if it says so.
pub(super) fn read(snapshot: Value<'_>, sequence: u32) -> (Vec<Reading>, Option<u32>) {
    let (mut readings, mut primary) = (Vec::new(), None);
    for (number, value) in snapshot.fields() {
        match number {
            1 => {
                let (mut id, mut ticks, mut is_incremental, mut unit) = (0, 0, false, 1);
                for (number, value) in value.fields() {
                    match number {
                        1 => id = value.word().unwrap_or(0),
                        2 => ticks = i64::try_from(value.number()).unwrap_or(i64::MAX),
                        3 => is_incremental = value.number() != 0,
                        4 => unit = i64::try_from(value.number()).unwrap_or(1).max(1),
                        _ => {}
                    }
                }
                readings.push(Reading { clock: Clock::new(id, sequence), ticks, is_incremental, unit });
            }
            2 => primary = value.word().filter(|id| *id != 0),
            _ => {}
        }
    }
    (readings, primary)
}

impl Clocks {
    pub(super) fn add(&mut self, readings: &[Reading], primary: Option<u32>) {
        self.primary = self.primary.or(primary);
        for it in readings.iter().filter(|it| it.unit != 1 || it.is_incremental) {
            self.units.insert(it.clock, (it.unit, it.is_incremental));
        }
        if self.snapshots.len() == MOST {
            return;
        }
        let shown = |it: &Reading| Some((it.clock, it.ticks.checked_mul(it.unit)?));
        let snapshot: Vec<_> = readings.iter().filter_map(shown).collect();
        for (clock, _) in &snapshot {
            self.by_clock.entry(*clock).or_default().push(self.snapshots.len());
        }
        self.snapshots.push(snapshot);
    }

    /// ns a unit, and whether each time is told as the difference to the one before.
    pub(super) fn unit(&self, clock: Clock) -> (i64, bool) {
        self.units.get(&clock).copied().unwrap_or((1, false))
    }

    /// The clock of the trace.
    pub(super) fn primary(&self) -> Clock {
        Clock::new(self.primary.unwrap_or(BOOTTIME), 0)
    }

    /// What the trace's clock showed when another one showed so many ns. `None` if no snapshot leads there.
    pub(super) fn on_primary(&mut self, from: Clock, ns: i64) -> Option<i64> {
        self.convert(from, self.primary(), ns)
    }

    /// Calendar time of the trace's time 0.
    pub(super) fn epoch(&mut self) -> Option<i64> {
        // Times may be large: one that the trace has shown is nearer to the snapshots than 0.
        let primary = self.primary();
        let first = *self.by_clock.get(&primary)?.first()?;
        let shown = self.snapshots.get(first)?.iter().find(|it| it.0 == primary)?.1;
        let real = self.convert(primary, Clock::new(REALTIME, 0), shown)?;
        real.checked_sub(shown)
    }

    fn convert(&mut self, from: Clock, to: Clock, ns: i64) -> Option<i64> {
        if from == to {
            return Some(ns);
        }
        if !self.ways.contains_key(&(from, to)) {
            let way = self.way(from, to);
            self.ways.insert((from, to), way);
        }
        let way = self.ways.get(&(from, to))?.as_ref()?;
        way.iter().try_fold(ns, |ns, pairs| {
            let behind = pairs.partition_point(|pair| pair.0 <= ns);
            let (before, after) = pairs.get(behind.saturating_sub(1))?;
            after.checked_add(ns.checked_sub(*before)?)
        })
    }

    /// The shortest way over snapshots.
    fn way(&self, from: Clock, to: Clock) -> Option<Vec<Pairs>> {
        let mut came: FxHashMap<Clock, Clock> = FxHashMap::default();
        let mut front = vec![from];
        while !front.is_empty() && !came.contains_key(&to) {
            let mut next = Vec::new();
            for clock in front {
                let places = self.by_clock.get(&clock).into_iter().flatten();
                for (other, _) in places.filter_map(|place| self.snapshots.get(*place)).flatten() {
                    if *other != from && !came.contains_key(other) {
                        came.insert(*other, clock);
                        next.push(*other);
                    }
                }
            }
            front = next;
        }
        let mut steps = Vec::new();
        let mut at = to;
        while at != from {
            let before = *came.get(&at)?;
            steps.push(self.pairs(before, at));
            at = before;
        }
        steps.reverse();
        Some(steps)
    }

    fn pairs(&self, from: Clock, to: Clock) -> Pairs {
        let places = self.by_clock.get(&from).into_iter().flatten();
        let of = |snapshot: &Vec<(Clock, i64)>| {
            let shown = |clock| snapshot.iter().find(|it| it.0 == clock).map(|it| it.1);
            Some((shown(from)?, shown(to)?))
        };
        let mut pairs: Pairs = places.filter_map(|place| self.snapshots.get(*place)).filter_map(of).collect();
        pairs.sort_by_key(|pair| pair.0);
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(id: u32, sequence: u32, ticks: i64, unit: i64) -> Reading {
        Reading { clock: Clock::new(id, sequence), ticks, is_incremental: false, unit }
    }

    #[test]
    fn times_go_by_the_latest_snapshot_over_as_many_clocks_as_it_takes() {
        let mut clocks = Clocks::default();
        clocks.add(&[reading(64, 1, 5, 1000), reading(MONOTONIC, 1, 100_000, 1)], None);
        clocks.add(&[reading(MONOTONIC, 2, 50_000, 1), reading(BOOTTIME, 2, 1_000_000, 1)], None);
        clocks.add(
            &[
                reading(MONOTONIC, 2, 90_000, 1),
                reading(BOOTTIME, 2, 2_000_000, 1),
                reading(REALTIME, 2, 1_700_000_000_000_000_000, 1),
            ],
            None,
        );
        let mut at = |id, sequence, ns| clocks.on_primary(Clock::new(id, sequence), ns);
        assert_eq!(at(BOOTTIME, 7, 5), Some(5));
        assert_eq!(at(MONOTONIC, 7, 60_000), Some(1_010_000));
        assert_eq!(at(MONOTONIC, 7, 90_001), Some(2_000_001));
        assert_eq!(at(MONOTONIC, 7, 1), Some(950_001), "before all snapshots by the first");
        assert_eq!(at(64, 1, 6000), Some(2_011_000), "over the clock that both have");
        assert_eq!(at(64, 2, 6000), None, "clocks of a sequence are its own");
        assert_eq!(at(MONOTONIC, 0, i64::MAX), None);
        assert_eq!(clocks.epoch(), Some(1_700_000_000_000_000_000 - 2_000_000));
    }
}
