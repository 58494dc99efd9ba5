//! The budget: what recording may take of a thread's processor time, and what is done when it takes more.
//!
//! The one idea: whenever a window is full it is known how many records it has and how long that took; a pair of an
//! enter and a leave costs what it did when the recording began. So nothing is counted for this while events are
//! recorded, and a thread within its budget reads one clock more for each window. If it is beyond, the window's
//! records are read as a reader would, and of the regions of the program that were visited most so many are *reduced*
//! that the rest is within it: their visits are counted from then on, and some timed ([`crate::write`], `reduced`).
//!
//! What a region costs is less than its visits say if others are recorded inside: these would lose it from their
//! call path. So a region is reduced only if nearly nothing is recorded in its visits but regions that are reduced.
//!
//! Deliberately absent: calls of MPI and all else that the recorder sees by itself. Matching needs them, and a missing
//! one would put others in doubt.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "costs are estimates, and windows fit any pointer"
)]

use marey_model::spool::{Definition, MAX_DEPTH, Record, Stream};

use crate::clock;
use crate::definitions::Reducible;
use crate::runtime::Runtime;
use crate::sys;
use crate::thread::Thread;

/// What recording may cost at any rate, ns: what is over sooner is no matter.
const FREE_NS: f64 = 1e6;
/// What was longer ago counts less and less: half after this, ns.
const FORGET_NS: f64 = 1e9;
/// Bytes of records that are read of a window: some ten thousand tell which regions are visited most.
const READ: usize = 32 << 10;
/// Regions that are told apart in these.
const SITES: usize = 64;
/// A region is worth being reduced if it takes this part of the budget.
const WORTH: f64 = 1.0 / 16.0;
/// In at most one of so many visits of a region that is reduced something else is recorded.
const SELDOM: u32 = 16;
/// Stretches of visits that are timed, in a second, of each region that is reduced.
const STRETCHES: f64 = 1000.0;
/// Where nothing can be done, so many powers of two of windows are passed over before one is read again.
const MOST_IDLE: u32 = 4;
/// A call of an instrumented function costs so many pairs beyond the compiler's two calls: its address is looked up
/// and its stack pointer looked at.
const FUNCTION: f64 = 1.3;

/// What recording has cost a thread lately. Zeros before it was looked at.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Governed {
    cost_ns: f64,
    /// The thread's processor time from which that is; 0 before the first look.
    since_ns: u64,
    /// The last look: processor time, and two clocks.
    looked_ns: u64,
    ticks: u64,
    monotonic_ns: u64,
    /// Windows that are passed over, because there was nothing to be done.
    skip: u32,
    idle: u32,
}

/// Looks whether recording `thread`, whose window is full, has become too dear.
///
/// # Safety
/// `thread` is a filled descriptor of the calling thread, and not ready.
pub(crate) unsafe fn look(runtime: &Runtime, thread: *mut Thread) {
    let budget = f64::from(runtime.config().budget) / 10_000.0;
    // SAFETY: the caller's promise; the bytes from the first record to the cursor are records.
    unsafe {
        // Counters are read at each event: what that costs is not known, and whoever asks for it wants it.
        let is_governed = (*thread).stream == Stream::Events as u32 && (*thread).counting.is_null();
        if budget == 0.0 || !is_governed || (*thread).window == 0 {
            return;
        }
        let Some(now_ns) = thread_time() else { return };
        let (ticks, monotonic_ns) = (runtime.ticks(), clock::monotonic_ns());
        let governed = &mut (*thread).governed;
        let before = *governed;
        (governed.looked_ns, governed.ticks, governed.monotonic_ns) = (now_ns, ticks, monotonic_ns);
        if before.since_ns == 0 {
            governed.since_ns = now_ns.max(1);
            return;
        }
        let ns = (monotonic_ns.saturating_sub(before.monotonic_ns)) as f64;
        let tick_ns = ns / (ticks.saturating_sub(before.ticks)).max(1) as f64;
        let pair_ns = runtime.pair_cost() as f64 / 100.0 * tick_ns;
        let records = core::slice::from_raw_parts(
            (*thread).first as *const u8,
            ((*thread).cursor - (*thread).first) as usize,
        );
        let stretch_ns = now_ns.saturating_sub(before.looked_ns) as f64;
        let lately_ns = now_ns.saturating_sub(governed.since_ns) as f64;
        // A visit takes four bytes or more.
        let most = records.len() as f64 / 4.0 * pair_ns * FUNCTION;
        if governed.cost_ns + most <= FREE_NS.max(budget * lately_ns) {
            return governed.pass(most, lately_ns, now_ns);
        }
        if governed.skip != 0 {
            governed.skip -= 1;
            return governed.pass(most / FUNCTION, lately_ns, now_ns);
        }
        let Some(seen) = sys::map_zeros(size_of::<Seen>()) else { return };
        let seen = &mut *seen.cast::<Seen>();
        let read = seen.read(&records[..records.len().min(READ)]);
        seen.ask(runtime);
        // What was read stands for all.
        let whole = records.len() as f64 / read.max(1) as f64;
        let cost = seen.pairs() * whole * pair_ns;
        governed.pass(cost, lately_ns, now_ns);
        if governed.cost_ns > FREE_NS.max(budget * lately_ns) && cost > budget * stretch_ns {
            let own = (stretch_ns - cost).max(stretch_ns / 16.0);
            let limits = Limits { pair_ns: pair_ns * whole, own_ns: own, budget };
            let is_better = seen.choose(limits) != 0;
            if is_better {
                for (site, visits, cost) in seen.chosen() {
                    let each_second = f64::from(visits) * whole / stretch_ns.max(1.0) * 1e9;
                    let gap = (each_second / STRETCHES).clamp(64.0, 1e6) as u32;
                    let share = (cost * limits.pair_ns / stretch_ns * 10_000.0).clamp(0.0, 10_000.0) as u32;
                    reduce(runtime, Found { site, thread: (*thread).serial, ticks, share, gap });
                }
                (governed.cost_ns, governed.since_ns) = (0.0, now_ns);
            }
            governed.idle = if is_better { 0 } else { (governed.idle + 1).min(MOST_IDLE) };
            governed.skip = (1 << governed.idle) - 1;
        }
        sys::unmap(core::ptr::from_mut(seen).cast(), size_of::<Seen>());
    }
}

impl Governed {
    /// Adds what a window has cost.
    fn pass(&mut self, cost_ns: f64, lately_ns: f64, now_ns: u64) {
        self.cost_ns += cost_ns;
        if lately_ns > FORGET_NS {
            self.cost_ns /= 2.0;
            self.since_ns = now_ns - (lately_ns / 2.0) as u64;
        }
    }
}

/// A region that is to be reduced.
struct Found {
    site: u32,
    thread: u32,
    ticks: u64,
    share: u32,
    gap: u32,
}

fn reduce(runtime: &Runtime, found: Found) {
    let Found { site, thread, ticks, share, gap } = found;
    let Some(known) = runtime.gap_of(site) else { return };
    known.store(gap, core::sync::atomic::Ordering::Relaxed);
    runtime.define(|definitions| {
        // What is not written down is not done.
        if definitions.define(&Definition::Reduced { site, thread, ticks, share, gap }) {
            definitions.reduce(site);
        }
    });
}

/// What a choice depends on.
#[derive(Clone, Copy)]
struct Limits {
    /// What a pair among those that were read stands for.
    pair_ns: f64,
    /// Processor time without what recording took.
    own_ns: f64,
    budget: f64,
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
struct Seen {
    sites: [SiteSeen; SITES],
    /// Pairs of all else.
    rest: f64,
    depth: usize,
    open: [OpenSeen; MAX_DEPTH],
}

impl Seen {
    /// Reads records; how many bytes.
    fn read(&mut self, records: &[u8]) -> usize {
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
    fn ask(&mut self, runtime: &Runtime) {
        runtime.define(|definitions| {
            for seen in self.sites.iter_mut().filter(|seen| seen.site != 0) {
                seen.kind = definitions.reducible(seen.site - 1);
            }
        });
    }

    /// What was recorded, in pairs.
    fn pairs(&self) -> f64 {
        self.rest + self.sites.iter().map(SiteSeen::pairs).sum::<f64>()
    }

    /// Chooses what is to be reduced. How many that are.
    fn choose(&mut self, limits: Limits) -> usize {
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
    fn chosen(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        let chosen = self.sites.iter().filter(|seen| seen.is_chosen);
        chosen.map(|seen| (seen.site - 1, seen.visits, seen.pairs()))
    }
}

impl SiteSeen {
    fn pairs(&self) -> f64 {
        f64::from(self.visits) * if self.kind == Reducible::Function { FUNCTION } else { 1.0 }
    }
}

/// Processor time of the calling thread, ns.
fn thread_time() -> Option<u64> {
    let mut time = [0_u64; 2];
    let at = (&raw mut time) as usize;
    let clock = libc::CLOCK_THREAD_CPUTIME_ID as usize;
    // SAFETY: the time is writable.
    let done = unsafe { sys::syscall(libc::SYS_clock_gettime, [clock, at, 0, 0, 0, 0]) } == 0;
    done.then(|| time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1]))
}
