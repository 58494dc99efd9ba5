//! What a window's records tell of the regions that were visited in it, and which of these are too dear.
//!
//! The one idea: a table of so many regions as can make a difference, on pages of its own, for no allocator is there to be
//! asked. What else was recorded counts as one.
//!
//! Deliberately absent: what a record costs, and when that is too much ([`super`]).

use marey_model::spool::{MAX_DEPTH, Record};

use super::FUNCTION;
use crate::definitions::Reducible;
use crate::runtime::Runtime;

/// Regions that are told apart in these.
const SITES: usize = 64;
/// A region is worth being reduced if it takes this part of the budget.
const WORTH: f64 = 1.0 / 16.0;
/// In at most one of so many visits of a region that is reduced something else is recorded.
const SELDOM: u32 = 16;

/// What a choice depends on.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// What a pair among those that were read stands for.
    pub(super) pair_ns: f64,
    /// Processor time without what recording took.
    pub(super) own_ns: f64,
    pub(super) budget: f64,
}

/// What has been seen of a site.
#[derive(Clone, Copy)]
#[repr(C)]
struct SiteSeen {
    /// The site plus 1; 0 for none.
    site: u32,
    visits: u32,
    /// Visits in which something was recorded that is of no site here.
    others: u32,
    kind: Reducible,
    is_chosen: bool,
    /// Visits in which each of the sites was visited.
    within: [u32; SITES],
}

/// An open region.
#[derive(Clone, Copy)]
#[repr(C)]
struct OpenSeen {
    /// Which of the sites; [`SITES`] for another.
    place: usize,
    /// Which of the sites were visited in it, and whether anything else was.
    within: u64,
    has_others: bool,
}

/// What has been seen in the records of a window. Zeros are nothing.
#[repr(C)]
pub(super) struct Seen {
    sites: [SiteSeen; SITES],
    /// Pairs of all else.
    rest: f64,
    depth: usize,
    open: [OpenSeen; MAX_DEPTH],
}

impl Seen {
    /// Reads records; how many bytes.
    pub(super) fn read(&mut self, records: &[u8]) -> usize {
        let mut at = 0;
        loop {
            let before = at;
            let Some(record) = Record::decode(records, &mut at) else { return before };
            match record {
                Record::Enter { site, .. } => self.enter(site),
                Record::Leave { .. } => self.leave(),
                _ => self.mark_others(),
            }
        }
    }

    fn enter(&mut self, site: u32) {
        let place = self.place(site);
        if let Some(open) = self.open.get_mut(self.depth) {
            *open = OpenSeen { place, within: 0, has_others: false };
            self.depth += 1;
        }
    }

    fn leave(&mut self) {
        // It was entered before the first record.
        let Some(depth) = self.depth.checked_sub(1) else { return };
        self.depth = depth;
        let OpenSeen { place, mut within, has_others } = self.open[depth];
        match self.sites.get_mut(place) {
            Some(seen) => {
                seen.visits += 1;
                seen.others += u32::from(has_others);
                for (idx, number) in seen.within.iter_mut().enumerate() {
                    *number += (within >> idx & 1) as u32;
                }
                within |= 1 << place;
            }
            None => self.rest += 1.0,
        }
        if let Some(around) = depth.checked_sub(1).map(|around| &mut self.open[around]) {
            around.within |= within;
            around.has_others |= has_others || place == SITES;
        }
    }

    fn mark_others(&mut self) {
        if let Some(around) = self.depth.checked_sub(1).map(|around| &mut self.open[around]) {
            around.has_others = true;
        }
    }

    /// Which place a site has; [`SITES`] if it finds none.
    fn place(&mut self, site: u32) -> usize {
        for (idx, seen) in self.sites.iter_mut().enumerate() {
            if seen.site == 0 {
                seen.site = site + 1;
            }
            if seen.site == site + 1 {
                return idx;
            }
        }
        SITES
    }

    /// Asks which of the sites may be reduced.
    pub(super) fn ask(&mut self, runtime: &Runtime) {
        runtime.define(|definitions| {
            for seen in self.sites.iter_mut().filter(|seen| seen.site != 0) {
                seen.kind = definitions.reducible(seen.site - 1);
            }
        });
    }

    /// What was recorded, in pairs.
    pub(super) fn pairs(&self) -> f64 {
        self.rest + self.sites.iter().map(SiteSeen::pairs).sum::<f64>()
    }

    /// Chooses what is to be reduced. How many that are.
    pub(super) fn choose(&mut self, limits: Limits) -> usize {
        let Limits { pair_ns, own_ns, budget } = limits;
        let mut chosen = 0;
        while self.left() * pair_ns > budget / 2.0 * own_ns {
            let dearest = (0..SITES)
                .filter(|&idx| self.can_be_chosen(idx))
                .max_by_key(|&idx| (self.sites[idx].visits, core::cmp::Reverse(self.sites[idx].site)));
            let Some(idx) = dearest else { break };
            if self.sites[idx].pairs() * pair_ns < WORTH * budget * own_ns {
                break;
            }
            self.sites[idx].is_chosen = true;
            chosen += 1;
        }
        chosen
    }

    /// What would be recorded still, in pairs.
    fn left(&self) -> f64 {
        self.rest + self.sites.iter().filter(|seen| !seen.is_chosen).map(SiteSeen::pairs).sum::<f64>()
    }

    fn can_be_chosen(&self, idx: usize) -> bool {
        let seen = &self.sites[idx];
        // Within itself: who leaves a region by its name could not be understood.
        let is_told_apart = seen.kind == Reducible::Function || seen.within[idx] == 0;
        let recorded = seen.within.iter().zip(&self.sites).enumerate();
        let recorded = recorded.filter(|&(other, (_, its))| other != idx && !its.is_chosen);
        // At most: of some visits in which several others are visited it is the same.
        let most = recorded.fold(seen.others, |sum, (_, (&visits, _))| sum.saturating_add(visits));
        let is_seldom = most <= seen.visits / SELDOM;
        seen.kind != Reducible::Not && !seen.is_chosen && is_told_apart && is_seldom
    }

    /// Sites that are to be reduced, their visits, and what these cost in pairs.
    pub(super) fn chosen(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        let chosen = self.sites.iter().filter(|seen| seen.is_chosen);
        chosen.map(|seen| (seen.site - 1, seen.visits, seen.pairs()))
    }
}

impl SiteSeen {
    fn pairs(&self) -> f64 {
        f64::from(self.visits) * if self.kind == Reducible::Function { FUNCTION } else { 1.0 }
    }
}
