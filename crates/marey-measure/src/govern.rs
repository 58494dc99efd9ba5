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

mod seen;

use marey_model::spool::{Definition, Stream};

use crate::clock;
use crate::runtime::Runtime;
use crate::sys;
use crate::thread::Thread;
use seen::{Limits, Seen};

/// What recording may cost at any rate, ns: what is over sooner is no matter.
const FREE_NS: f64 = 1e6;
/// What was longer ago counts less and less: half after this, ns.
const FORGET_NS: f64 = 1e9;
/// Bytes of records that are read of a window: some ten thousand tell which regions are visited most.
const READ: usize = 32 << 10;
/// Stretches of visits that are timed, in a second, of each region that is reduced.
const STRETCHES: f64 = 400.0;
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

/// Processor time of the calling thread, ns.
fn thread_time() -> Option<u64> {
    let mut time = [0_u64; 2];
    let at = (&raw mut time) as usize;
    let clock = libc::CLOCK_THREAD_CPUTIME_ID as usize;
    // SAFETY: the time is writable.
    let done = unsafe { sys::syscall(libc::SYS_clock_gettime, [clock, at, 0, 0, 0, 0]) } == 0;
    done.then(|| time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1]))
}
