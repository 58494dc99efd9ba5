//! A lock for tables that only MPI calls touch, and a cell for their thread-unsafe fast path.
//!
//! MPI calls are not made from signal handlers, so the owner need not be known; and unless the
//! program has asked for `MPI_THREAD_MULTIPLE` no two threads are inside MPI at once, so nothing
//! need be locked at all.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use marey_measure::{message, sys};

/// A value that MPI calls share.
pub(crate) struct Spin<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is only reached through `with`; see there.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Calls `f`, which must not call `with` of the same value, with the value.
    #[inline(always)]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        if !message::is_concurrent() {
            // SAFETY: the MPI library has promised the program no more than one thread inside MPI
            // at a time, and calls are ordered by the program.
            return f(unsafe { &mut *self.value.get() });
        }
        let mut tries = 0_u32;
        while self.held.swap(true, Ordering::Acquire) {
            tries += 1;
            if tries.is_multiple_of(64) {
                sys::yield_now();
            }
            core::hint::spin_loop();
        }
        // SAFETY: held until the store below.
        let result = f(unsafe { &mut *self.value.get() });
        self.held.store(false, Ordering::Release);
        result
    }
}
