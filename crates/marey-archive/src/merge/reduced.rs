//! Visits of regions that were only counted because recording them took more than the budget, and what they took.
//!
//! The one idea: numbers are the recorder's, and exact; times are estimated from visits of the same region that were
//! timed at random meanwhile, which are intervals like all others. Their mean times the number is what all took, and
//! how far they lie apart says how sure that is.
//!
//! Three things are known besides, and keep the estimate from saying what cannot be. Regions that are reduced are not
//! on the stack of each other, so their visits go to the call paths, beneath the same recorded region, that had them
//! when they were recorded still. No more can have passed in them than passed in the region around. And a visit that
//! is far longer than all others, because the thread was interrupted, stands for itself alone.
//!
//! Deliberately absent: when the time passed; it is in the region around.

#![expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "estimates")]

use rustc_hash::{FxHashMap, FxHashSet};

use super::build::Node;
use super::definitions::ReducedDef;

/// Visits that are timed one after the other: what disturbs one may disturb all of them.
const TOGETHER: f64 = 8.0;
/// Timed visits of a call path from which on those of the same region elsewhere are not asked.
const ENOUGH: u64 = 64;
/// A visit is far longer than others if it is so many powers of two beyond the middle one, and only one of so many is.
const FAR: usize = 5;
const FEW: u64 = 1000;
/// No pair of records takes longer, ns. So what records of a region had cost says how long its visits are at most, on
/// average: else there had not been so many.
const PAIR_NS: f64 = 200.0;
/// What all times may be off by together, ns a visit: what timing takes beside a visit's own instructions is not what
/// it takes beside others. Programs with visits of known length found up to 4.4.
const OFF: f64 = 4.5;

/// What became of a call path's visits that were only counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub node: u32,
    pub visits: i64,
    pub timed: i64,
    pub time: i64,
    pub error: i64,
    pub since: i64,
    pub share: u32,
}

/// What is known of a location's regions that are reduced.
#[derive(Debug)]
pub(crate) struct Reduced {
    /// From when, by site of the process, ns, and what they had cost.
    since: FxHashMap<u32, (i64, u32)>,
    /// From when the first is.
    pub from: i64,
    timed: FxHashMap<u32, Timed>,
    /// By depth, when the last region there began in which others were recorded, and their time.
    inside: Vec<(i64, i64)>,
    /// Nodes and visits that were counted there.
    tallies: Vec<(u32, u64)>,
    pub rows: Vec<Row>,
}

/// Times of visits, by powers of two.
#[derive(Debug, Clone)]
struct Timed([(u64, f64, f64); 64]);

/// What visits take, on average.
#[derive(Clone, Copy)]
struct Mean {
    visits: u64,
    ns: f64,
    squares: f64,
}

impl Reduced {
    /// Nothing is.
    pub(crate) fn none() -> Self {
        let (timed, inside, tallies, rows) = Default::default();
        Self { since: FxHashMap::default(), from: i64::MAX, timed, inside, tallies, rows }
    }

    /// What a process says.
    pub(crate) fn of(definitions: &[ReducedDef], ns: impl Fn(u64) -> i64) -> Self {
        let mut reduced = Self::none();
        for definition in definitions {
            let since = ns(definition.ticks);
            reduced.since.entry(definition.site).or_insert((since, definition.share));
            reduced.from = reduced.from.min(since);
        }
        reduced
    }

    /// A visit was timed, beneath `depth` regions of which the innermost began at `around`.
    #[cold]
    pub(crate) fn visited(
        &mut self,
        site: u32,
        node: u32,
        (start, duration): (i64, i64),
        (depth, around): (usize, i64),
    ) {
        if self.inside.len() < depth + 2 {
            self.inside.resize(depth + 2, (i64::MIN, 0));
        }
        // What was recorded in visits that are only counted lies beneath the region around them, with its time.
        let (within, inside) = self.inside[depth + 1];
        let own = if within == start { duration.saturating_sub(inside) } else { duration };
        if self.since.get(&site).is_some_and(|&(since, _)| since <= start) {
            self.timed.entry(node).or_default().add(own.max(0) as u64);
        }
        let (within, inside) = &mut self.inside[depth];
        if std::mem::replace(within, around) != around {
            *inside = 0;
        }
        *inside = inside.saturating_add(duration);
    }

    /// Visits of a call path were counted.
    pub(crate) fn counted(&mut self, node: u32, visits: u64) {
        if visits != 0 {
            self.tallies.push((node, visits));
        }
    }

    /// Adds all of it to the sums of the call paths. `sites` are the sites of the process that nodes are of; the
    /// location has seen `span` ns of the run.
    pub(crate) fn settle(&mut self, nodes: &mut [Node], sites: &[u32], span: i64) {
        if self.tallies.is_empty() {
            return;
        }
        // What passed in no region at all is what regions have not, each of which has its time once.
        let known: i64 = nodes.iter().fold(0, |sum, node| sum.saturating_add(node.exclusive));
        let mut outside = span.saturating_sub(known).max(0) as f64;
        let (candidates, means) = (self.candidates(nodes, sites), self.means(nodes, sites));
        let mut counted: FxHashMap<u32, u64> = FxHashMap::default();
        for (node, visits) in std::mem::take(&mut self.tallies) {
            let all = &candidates[&(sites[node as usize], nodes[node as usize].parent)];
            for (node, visits) in self.spread(nodes, all, node, visits) {
                let sum = counted.entry(node).or_default();
                *sum = sum.saturating_add(visits);
            }
        }
        let mut counted: Vec<(u32, u64)> = counted.into_iter().collect();
        // Those above before those beneath, siblings together.
        let place = |&(node, _): &(u32, u64)| {
            let its = &nodes[node as usize];
            (its.depth, its.parent, node)
        };
        counted.sort_by_key(place);
        let parents: Vec<u32> = counted.iter().map(|&(node, _)| nodes[node as usize].parent).collect();
        let mut first = 0;
        for same in parents.chunk_by(|a, b| a == b) {
            let beneath = &counted[first..first + same.len()];
            let mean = |&(node, _): &(u32, u64)| {
                let site = sites[node as usize];
                self.mean(node, self.longest(site), &means[&site])
            };
            let means: Vec<Mean> = beneath.iter().map(mean).collect();
            let room = nodes.get(same[0] as usize).map_or(outside, |around| around.exclusive.max(0) as f64);
            let took = self.settle_beneath(nodes, sites, same[0], (beneath, &means), room);
            outside -= if (same[0] as usize) < nodes.len() { 0.0 } else { took };
            first += same.len();
        }
    }

    /// Adds the visits of call paths beneath one, in which no more than `room` ns can have passed in them. What passed.
    fn settle_beneath(
        &mut self,
        nodes: &mut [Node],
        sites: &[u32],
        parent: u32,
        (counted, means): (&[(u32, u64)], &[Mean]),
        room: f64,
    ) -> f64 {
        let sum: f64 = counted.iter().zip(means).map(|(&(_, visits), mean)| visits as f64 * mean.ns).sum();
        let part = if sum > room { room / sum } else { 1.0 };
        for (&(node, visits), mean) in counted.iter().zip(means) {
            let number = visits as f64;
            let time = (number * mean.ns * part) as i64;
            let spread = (mean.squares - mean.ns * mean.ns).max(0.0);
            let uncertain = 2.0 * part * (spread * TOGETHER / mean.visits.max(1) as f64).sqrt();
            let error = number * (uncertain + OFF);
            let its = &mut nodes[node as usize];
            its.visits = its.visits.saturating_add(i64::try_from(visits).unwrap_or(i64::MAX));
            its.inclusive = its.inclusive.saturating_add(time);
            its.exclusive = its.exclusive.saturating_add(time);
            its.sum_squares += number * mean.squares * part * part;
            if let Some(around) = nodes.get_mut(parent as usize) {
                around.exclusive = around.exclusive.saturating_sub(time);
            }
            let (since, share) = self.since.get(&sites[node as usize]).copied().unwrap_or((0, 0));
            self.rows.push(Row {
                node,
                visits: i64::try_from(visits).unwrap_or(i64::MAX),
                timed: i64::try_from(mean.visits).unwrap_or(i64::MAX),
                time,
                error: if mean.visits == 0 { -1 } else { error as i64 },
                since,
                share,
            });
        }
        sum * part
    }

    /// What a visit of a call path takes: by visits that were timed there, if there are enough.
    fn mean(&self, node: u32, longest: f64, elsewhere: &Mean) -> Mean {
        let here = self.timed.get(&node).map(|timed| timed.mean(longest));
        here.filter(|mean| mean.visits >= ENOUGH).unwrap_or(*elsewhere)
    }

    /// What visits of a site can take on average, ns.
    fn longest(&self, site: u32) -> f64 {
        let share = self.since.get(&site).map_or(0, |&(_, share)| share);
        if share == 0 { f64::INFINITY } else { PAIR_NS * 10_000.0 / f64::from(share) }
    }

    /// What a visit takes elsewhere, by site: by visits of its region that were timed anywhere on the location, else by
    /// all that have times.
    fn means(&self, nodes: &[Node], sites: &[u32]) -> FxHashMap<u32, Mean> {
        let nothing = || (Timed::default(), Mean { visits: 0, ns: 0.0, squares: 0.0 });
        let asked = self.tallies.iter().map(|&(node, _)| (sites[node as usize], nothing()));
        let mut sums: FxHashMap<u32, (Timed, Mean)> = asked.collect();
        for ((node, site), its) in (0_u32..).zip(sites).zip(nodes) {
            let Some((all, known)) = sums.get_mut(site) else { continue };
            if let Some(timed) = self.timed.get(&node) {
                all.add_all(timed);
            }
            known.visits = known.visits.saturating_add((its.visits - its.untimed).max(0).cast_unsigned());
            known.ns += its.inclusive as f64;
            known.squares += its.sum_squares;
        }
        let mean = |longest: f64, (all, known): (Timed, Mean)| {
            let mean = all.mean(longest);
            if mean.visits != 0 {
                return mean;
            }
            let number = known.visits.max(1) as f64;
            Mean { visits: 0, ns: known.ns / number, squares: known.squares / number }
        };
        sums.into_iter().map(|(site, sums)| (site, mean(self.longest(site), sums))).collect()
    }

    /// To which call paths visits may belong that were counted at a site beneath a node: those of the same site beneath
    /// that node with nothing in between but regions that are reduced. All call paths are gone through once, for there
    /// may be many, and many that have counts.
    fn candidates(&self, nodes: &[Node], sites: &[u32]) -> FxHashMap<(u32, u32), Vec<u32>> {
        let place = |node: u32| (sites[node as usize], nodes[node as usize].parent);
        let mut found: FxHashMap<(u32, u32), Vec<u32>> =
            self.tallies.iter().map(|&(node, _)| (place(node), Vec::new())).collect();
        let asked: FxHashSet<u32> = found.keys().map(|key| key.0).collect();
        for (node, site) in (0_u32..).zip(sites).filter(|its| asked.contains(its.1)) {
            let mut above = nodes[node as usize].parent;
            loop {
                if let Some(candidates) = found.get_mut(&(*site, above)) {
                    candidates.push(node);
                }
                if above == u32::MAX || !self.since.contains_key(&sites[above as usize]) {
                    break;
                }
                above = nodes[above as usize].parent;
            }
        }
        found
    }

    /// Divides visits that were counted at a node among those that they may belong to, by their visits that were
    /// recorded.
    fn spread(&self, nodes: &[Node], all: &[u32], node: u32, visits: u64) -> Vec<(u32, u64)> {
        // What was timed meanwhile stands where it was counted.
        let weight = |other: u32| {
            let timed = self.timed.get(&other).map_or(0, Timed::visits);
            nodes[other as usize].visits.max(0).cast_unsigned().saturating_sub(timed)
        };
        let weights: Vec<(u32, u64)> = all.iter().map(|&other| (other, weight(other))).collect();
        let sum: u64 = weights.iter().map(|&(_, weight)| weight).sum();
        if sum == 0 {
            return vec![(node, visits)];
        }
        let part = |weight: u64| (u128::from(visits) * u128::from(weight) / u128::from(sum)) as u64;
        let mut spread: Vec<(u32, u64)> =
            weights.iter().filter(|its| its.1 != 0).map(|&(other, weight)| (other, part(weight))).collect();
        let rest = visits - spread.iter().map(|&(_, visits)| visits).sum::<u64>();
        if let Some(first) = spread.first_mut() {
            first.1 += rest;
        }
        spread
    }
}

impl Default for Timed {
    fn default() -> Self {
        Self([(0, 0.0, 0.0); 64])
    }
}

impl Timed {
    fn add(&mut self, ns: u64) {
        let bin = &mut self.0[(64 - ns.leading_zeros() as usize).min(63)];
        let time = ns as f64;
        *bin = (bin.0 + 1, bin.1 + time, bin.2 + time * time);
    }

    fn add_all(&mut self, other: &Self) {
        for (bin, more) in self.0.iter_mut().zip(&other.0) {
            *bin = (bin.0 + more.0, bin.1 + more.1, bin.2 + more.2);
        }
    }

    fn visits(&self) -> u64 {
        self.0.iter().map(|bin| bin.0).sum()
    }

    /// Without those that are far longer than others, if these are few or the mean would be beyond `longest` ns with them.
    fn mean(&self, longest: f64) -> Mean {
        let all = self.visits();
        let mut before = 0;
        let middle = self.0.iter().position(|bin| {
            before += bin.0;
            before * 2 >= all
        });
        let usual = &self.0[..middle.map_or(64, |middle| (middle + FAR).min(64))];
        let far: u64 = self.0[usual.len()..].iter().map(|bin| bin.0).sum();
        let whole = Mean::of(&self.0);
        if far * FEW <= all || whole.ns > longest { Mean::of(usual) } else { whole }
    }
}

impl Mean {
    fn of(bins: &[(u64, f64, f64)]) -> Self {
        let sum = bins.iter().fold((0, 0.0, 0.0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1, sum.2 + bin.2));
        let number = sum.0.max(1) as f64;
        Self { visits: sum.0, ns: sum.1 / number, squares: sum.2 / number }
    }
}
