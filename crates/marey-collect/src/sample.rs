//! What our own work costs the program: the time of it in some of its calls.
//!
//! The one idea: a call that is due, one in some 256, takes another way through the same handler, on
//! which the clock is read at the beginning, around the real function and at the end. All others pay
//! a decrement and a branch ([`crate::entry::noting_jump`]). The distances are drawn, because
//! programs repeat themselves, and every 256th call may be always the same one.
//!
//! Calls from inside MPI are not sampled, for they are not recorded either.

use core::cell::Cell;

use marey_measure::{Thread, existing_thread, now};

use crate::entry::{Entry, slot};

/// Longer, in ticks, and some 50 µs or more, a call of ours never takes, but for the kernel giving the
/// processor to somebody else: the program would have lost that time without us too.
const LONGEST: u64 = 1 << 17;

/// When the real function began and ended.
pub(crate) struct Span {
    thread: *mut Thread,
    began: Cell<u64>,
    ended: Cell<u64>,
}

impl Span {
    pub(crate) fn new() -> Self {
        Self { thread: existing_thread(), began: Cell::new(0), ended: Cell::new(0) }
    }

    /// Calls the real function.
    #[inline(always)]
    pub(crate) fn around<R>(&self, function: impl FnOnce() -> R) -> R {
        if self.thread.is_null() {
            return function();
        }
        // SAFETY: the descriptor is the calling thread's.
        unsafe {
            self.began.set(now(self.thread));
            let result = function();
            self.ended.set(now(self.thread));
            result
        }
    }

    /// Makes `call`, whose handler passes it on through [`Self::around`], and takes the time of
    /// everything else.
    ///
    /// # Safety
    /// `entry` is that of the call, which is of the calling thread.
    pub(crate) unsafe fn sample<R>(&self, entry: Entry, call: impl FnOnce() -> R) -> R {
        let thread = self.thread;
        // SAFETY: the descriptor is the calling thread's.
        unsafe {
            if !draw() || !Thread::is_ready(thread) || entry.is_inside() {
                return call();
            }
            let began = now(thread);
            let result = call();
            let ended = now(thread);
            if self.ended.get() == 0 || !Thread::is_ready(thread) {
                return result;
            }
            // Each of the two stretches holds a whole reading of the clock, which others do not pay.
            let reading = now(thread).saturating_sub(ended);
            let before = self.began.get().saturating_sub(began);
            let own = before + ended.saturating_sub(self.ended.get());
            if own < LONGEST {
                marey_measure::add_sample(thread, own.saturating_sub(2 * reading));
            }
            result
        }
    }
}

/// Draws when the next call is due, after 256 more on average. False for the first draw of a thread:
/// its very first call sets everything up and stands for no other.
fn draw() -> bool {
    // SAFETY: the slot is the calling thread's own.
    unsafe {
        let slot = slot();
        let is_first = (*slot).draws == 0;
        // The generator of Numerical Recipes; its upper bits are good.
        let drawn = (*slot).draws.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((*slot).draws, (*slot).until_sample) = (drawn.max(1), drawn >> 23);
        !is_first
    }
}
