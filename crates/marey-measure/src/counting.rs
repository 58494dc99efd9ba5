//! Counting beside the time: what processor and kernel have counted for a thread, by where it was.
//!
//! The one idea: counters only ever grow, so they are read when a region is entered or left and at each sample, and
//! what has come since the reading before belongs to where the thread was: to the regions that were open, or to the
//! call stack that the sample found. Regions so have exact numbers, and functions in them estimates.
//! The numbers lie in the tree of samples, see [`marey_model::spool::samples`].
//!
//! * [`event`]: one counter. * [`page`]: reading the processor's without the kernel.
//!
//! A call that is recorded when it is over, because nothing could be recorded when it began, counts for the region
//! around it.
//!
//! Deliberately absent: groups of counters that are counted at the same time. Where a processor has fewer registers
//! than are asked for, the kernel lets the counters take turns; each is then scaled by the time that it had, and how
//! long that was is told.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers and lengths of the kernel's"
)]

mod event;
mod page;

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};

use marey_model::counters::{Counter, MAX_COUNTERS};
use marey_model::spool::samples::{NO_NODE, NodeKind};

use crate::samples::{LOST, Samples};
use crate::sys;
use crate::thread::Thread;
use event::Event;

/// Open regions that are told apart, outermost first.
const MAX_OPEN: usize = 256;
/// When counters count is written down at samples; where there are none, after so many ticks, some milliseconds.
const SELDOM: u64 = 1 << 24;

/// What an event has counted, and for how long it should have and has been; 0 both where that is always the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Reading {
    value: u64,
    enabled: u64,
    running: u64,
}

impl Reading {
    /// What has come since an earlier reading, as if it had been counted all the time. `None` if it has not been
    /// counted at all, so that the next reading must tell.
    fn since(self, before: Self) -> Option<u64> {
        let value = self.value.wrapping_sub(before.value);
        let enabled = self.enabled.wrapping_sub(before.enabled);
        let running = self.running.wrapping_sub(before.running);
        if value.cast_signed() <= 0 {
            return (enabled == 0 || running != 0).then_some(0);
        }
        if enabled <= running {
            return Some(value);
        }
        let scaled = u128::from(value) * u128::from(enabled) / u128::from(running.max(1));
        (running != 0).then_some(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// From what the next counts: a reading that is behind the one before must not be it, or what lies between would count
    /// twice.
    fn not_behind(self, before: Self) -> Self {
        let is_behind = self.value.wrapping_sub(before.value).cast_signed() < 0;
        Self { value: if is_behind { before.value } else { self.value }, ..self }
    }
}

/// An open region and its node.
#[derive(Clone, Copy)]
struct Step {
    site: u32,
    node: u32,
}

/// The counters of a thread.
pub struct Counting {
    /// Somebody is at it: the thread, or a handler that came in between.
    busy: AtomicBool,
    samples: *mut Samples,
    n_events: usize,
    events: [Event; MAX_COUNTERS],
    last: [Reading; MAX_COUNTERS],
    /// What is new since it was written down when.
    unwritten: [u64; MAX_COUNTERS],
    /// When that was, ticks.
    written: u64,
    /// The root that the nodes below hang beneath.
    root: u32,
    /// How many regions of `way` are known.
    known: usize,
    way: [Step; MAX_OPEN + 1],
    /// Nodes of the counters beneath the root and each region of `way`; 0 where they are not known.
    counts: [[u32; MAX_COUNTERS]; MAX_OPEN + 2],
    /// Nodes of the time that counters have had; 0 as above.
    covered: [u32; MAX_COUNTERS],
}

/// Why a counter cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uncounted {
    /// Neither this processor nor the kernel has it.
    Unknown,
    /// It may not be used.
    Forbidden,
    /// There are no descriptors or no memory.
    NoRoom,
    /// Another reason, by the kernel's error number.
    Other(i32),
}

/// Whether a counter can be had here, tried on the calling thread.
pub fn try_counter(counter: &Counter) -> Result<(), Uncounted> {
    let mut event = Event::open(counter).map_err(|error| match error {
        libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::EINVAL | libc::ENOSYS | libc::EIO => {
            Uncounted::Unknown
        }
        libc::EACCES | libc::EPERM => Uncounted::Forbidden,
        libc::EMFILE | libc::ENFILE | libc::ENOMEM => Uncounted::NoRoom,
        other => Uncounted::Other(other),
    })?;
    event.close();
    Ok(())
}

/// Threads whose counters could not be opened.
static UNCOUNTED: AtomicU32 = AtomicU32::new(0);

/// How many counters of threads could not be opened, and how many descriptors the program has closed, since this was
/// asked last.
pub fn take_uncounted() -> [u32; 2] {
    [UNCOUNTED.swap(0, Ordering::Relaxed), event::CLOSED.swap(0, Ordering::Relaxed)]
}

impl Counting {
    /// Begins to count for the calling thread; numbers go to its samples. Does nothing without memory.
    ///
    /// # Safety
    /// `thread` is the calling thread's descriptor, `samples` its samples, which outlive this, and no signal handler
    /// interrupts.
    pub unsafe fn begin(thread: *mut Thread, samples: *mut Samples, counters: &[Counter]) {
        let Some(at) = sys::map_zeros(size_of::<Self>()) else {
            UNCOUNTED.fetch_add(counters.len() as u32, Ordering::Relaxed);
            return;
        };
        let this = at.cast::<Self>();
        // SAFETY: the mapping is as long as the value and nobody else's. Zeros are what most of it begins with.
        unsafe {
            (*this).samples = samples;
            (*this).events = [Event::GONE; MAX_COUNTERS];
            (*this).root = NO_NODE;
            let mut usage = None;
            (*this).n_events = counters.len().min(MAX_COUNTERS);
            for (number, counter) in counters.iter().enumerate().take(MAX_COUNTERS) {
                let event = &mut (*this).events[number];
                match Event::open(counter) {
                    Ok(opened) => *event = opened,
                    Err(_) => _ = UNCOUNTED.fetch_add(1, Ordering::Relaxed),
                }
                (*this).last[number] = event.read(&mut usage).unwrap_or_default();
            }
            (*thread).counting = this;
            // All that enters or leaves a region goes the slow path from now on.
            (*thread).limit = 0;
        }
    }

    /// Ends it, with a last reading.
    ///
    /// # Safety
    /// As for [`Self::begin`].
    pub unsafe fn end(thread: *mut Thread) {
        // SAFETY: the caller's promise.
        unsafe {
            let this = (*thread).counting;
            if this.is_null() {
                return;
            }
            at_boundary(thread);
            (*this).write_down(
                &mut *(*this).samples,
                (*thread).runtime.map_or(0, crate::runtime::Runtime::ticks),
            );
            (*thread).counting = core::ptr::null_mut();
            for event in &mut (&mut (*this).events)[..] {
                event.close();
            }
            sys::unmap(this.cast(), size_of::<Self>());
        }
    }

    /// Whether a handler that comes now interrupts a reading, and has to leave it to the next.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Reads the counters at a sample that ended in `node`, of samples that this belongs to. No signal handler
    /// interrupts.
    pub fn at_sample(&mut self, samples: &mut Samples, node: Option<u32>, ticks: u64) {
        self.renew(samples, ticks);
        let mut usage = None;
        for number in 0..self.n_events {
            let Some(new @ 1..) = self.advance(samples, number, &mut usage, ticks) else { continue };
            let of = node.unwrap_or(LOST);
            if let Some(node) = samples.child_or_lost(of, NodeKind::Count, number as u64, ticks) {
                samples.add_to(node, new, 1);
            }
        }
        self.write_down(samples, ticks);
    }

    /// Writes down when the counters counted what. No signal handler interrupts.
    fn write_down(&mut self, samples: &mut Samples, ticks: u64) {
        self.written = ticks;
        for (number, value) in self.unwritten.iter_mut().enumerate() {
            let now = (*value).min(u32::MAX.into());
            if now != 0 {
                samples.note_counter(number as u32, now, ticks);
                *value -= now;
            }
        }
    }

    /// Reads them where a region is about to be entered or left.
    ///
    /// # Safety
    /// `thread` is the calling thread's descriptor and `self` its counters; `inner` is open beside its regions.
    unsafe fn at_boundary(&mut self, thread: *const Thread, inner: Option<u32>) {
        // SAFETY: the caller's promise: samples outlive their counters.
        let samples = unsafe { &mut *self.samples };
        // SAFETY: the caller's promise.
        let runtime = unsafe { (*thread).runtime };
        let ticks = runtime.map_or(0, crate::runtime::Runtime::ticks);
        self.renew(samples, ticks);
        // SAFETY: the caller's promise.
        let level = unsafe { self.level(samples, thread, inner, ticks) };
        let mut usage = None;
        for number in 0..self.n_events {
            let Some(new @ 1..) = self.advance(samples, number, &mut usage, ticks) else { continue };
            let mut node = self.counts[level][number];
            if node == 0 {
                let of = level.checked_sub(1).map_or(self.root, |step| self.way[step].node);
                let make = || samples.child_or_lost(of, NodeKind::Count, number as u64, ticks);
                node = sys::undisturbed(make).unwrap_or(0);
                self.counts[level][number] = node;
            }
            if node != 0 {
                samples.add_to(node, new, 1);
            }
        }
        if ticks.wrapping_sub(self.written) > SELDOM {
            sys::undisturbed(|| self.write_down(samples, ticks));
        }
    }

    /// How many regions are open, after nodes have been found for them.
    ///
    /// # Safety
    /// As for [`Self::at_boundary`].
    unsafe fn level(
        &mut self,
        samples: &mut Samples,
        thread: *const Thread,
        inner: Option<u32>,
        ticks: u64,
    ) -> usize {
        // SAFETY: the caller's promise; entries below the depth are filled before it is raised.
        let (depth, stack) = unsafe { (((*thread).depth as usize).min(MAX_OPEN), (*thread).stack) };
        let level = depth + usize::from(inner.is_some());
        for step in 0..level {
            // SAFETY: as above.
            let site = if step < depth { unsafe { (*stack.add(step)).site } } else { inner.unwrap_or(0) };
            if step < self.known && self.way[step].site == site {
                continue;
            }
            let above = step.checked_sub(1).map_or(self.root, |step| self.way[step].node);
            let find = || samples.child_or_lost(above, NodeKind::Site, site.into(), ticks);
            let node = sys::undisturbed(find).unwrap_or(LOST);
            self.known = step;
            self.way[step] = Step { site, node };
            self.counts[step + 1] = [0; MAX_COUNTERS];
            self.known = step + 1;
        }
        level
    }

    /// Reads a counter: what is new. `None` if there is nothing to be known.
    fn advance(
        &mut self,
        samples: &mut Samples,
        number: usize,
        usage: &mut Option<[u64; event::USAGE_WORDS]>,
        ticks: u64,
    ) -> Option<u64> {
        let reading = self.events[number].read(usage)?;
        let before = self.last[number];
        let new = reading.since(before)?;
        self.last[number] = reading.not_behind(before);
        self.unwritten[number] = self.unwritten[number].saturating_add(new);
        let enabled = reading.enabled.wrapping_sub(before.enabled);
        if enabled.cast_signed() > 0 {
            let running = reading.running.wrapping_sub(before.running).min(enabled);
            self.cover(samples, number, [running, enabled], ticks);
        }
        Some(new)
    }

    /// Adds to the time that a counter has had.
    fn cover(&mut self, samples: &mut Samples, number: usize, [running, enabled]: [u64; 2], ticks: u64) {
        if self.covered[number] == 0 && self.root != NO_NODE {
            let make = || samples.child(self.root, NodeKind::Covered, number as u64, ticks);
            self.covered[number] = sys::undisturbed(make).unwrap_or(0);
        }
        if self.covered[number] != 0 {
            samples.add_to(self.covered[number], running, enabled);
        }
    }

    /// Forgets what hangs beneath another root.
    fn renew(&mut self, samples: &mut Samples, ticks: u64) {
        if self.root == NO_NODE || !samples.is_root(self.root) {
            self.root = sys::undisturbed(|| {
                let root = samples.root(ticks);
                // There must be room for what there will be no room for.
                for number in 0..self.n_events {
                    samples.child(LOST, NodeKind::Count, number as u64, ticks);
                }
                root
            })
            .unwrap_or(LOST);
            self.known = 0;
            self.counts[0] = [0; MAX_COUNTERS];
            self.covered = [0; MAX_COUNTERS];
        }
    }
}

/// Reads the counters of `thread` where a region is about to be entered or left.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
#[inline(always)]
pub(crate) unsafe fn at_boundary(thread: *const Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        if !(*thread).counting.is_null() {
            read_at_boundary(thread, None);
        }
    }
}

/// Reads the counters of `thread` now, because its process ends: what has come since the last reading belongs to the
/// regions that are open.
///
/// # Safety
/// `thread` is the calling thread's descriptor or null.
pub unsafe fn count_now(thread: *const Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        if !thread.is_null() && !(*thread).counting.is_null() {
            // It is to be written down whenever that was done last.
            (*(*thread).counting).written = 0;
            at_boundary(thread);
        }
    }
}

/// Reads them at the end of a call of `site` that is under way, and not among the open regions.
///
/// # Safety
/// As for [`at_boundary`].
#[inline(always)]
pub(crate) unsafe fn at_end_of(thread: *const Thread, site: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        if !(*thread).counting.is_null() {
            read_at_boundary(thread, Some(site));
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn read_at_boundary(thread: *const Thread, inner: Option<u32>) {
    // SAFETY: the caller's promise.
    unsafe {
        let counting = (*thread).counting;
        let is_busy = &raw const (*counting).busy;
        // A handler that came in between leaves what is new to the reading that it interrupted; unless that has been
        // left for good by a jump.
        if (*is_busy).load(Ordering::Relaxed) && !crate::abandoned::is_outside_handlers() {
            return;
        }
        (*is_busy).store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        (*counting).at_boundary(thread, inner.or_else(|| crate::write::announced(thread)));
        compiler_fence(Ordering::SeqCst);
        (*is_busy).store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn reading(value: u64, enabled: u64, running: u64) -> Reading {
        Reading { value, enabled, running }
    }

    #[test]
    fn what_was_counted_part_of_the_time_stands_for_all_of_it() {
        let before = reading(1000, 500, 400);
        // All the time, without times, half of it, and more of it than there was.
        assert_eq!(reading(1600, 900, 800).since(before), Some(600));
        assert_eq!(reading(1600, 500, 400).since(before), Some(600));
        assert_eq!(reading(1600, 900, 600).since(before), Some(1200));
        assert_eq!(reading(1600, 900, 900).since(before), Some(600));
        // Not at all: that it is nothing nobody can say.
        assert_eq!(reading(1000, 900, 400).since(before), None);
        assert_eq!(reading(1000, 900, 500).since(before), Some(0));
        // A register that was behind what the kernel had added up, and is not any more.
        let behind = reading(990, 900, 800);
        assert_eq!(behind.since(before), Some(0));
        assert_eq!(reading(1010, 1000, 900).since(behind.not_behind(before)), Some(10));
        assert_eq!(reading(1600, 900, 800).not_behind(before), reading(1600, 900, 800));
    }
}
