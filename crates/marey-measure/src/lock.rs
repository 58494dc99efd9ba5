//! A lock for the rare paths: making definitions, opening windows.
//!
//! Unlike `std::sync::Mutex` it knows its owner, so that a signal handler which interrupted the
//! owner is refused instead of waiting for ever, and it makes no call that a measured program's
//! own interposition could see.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::sys;

/// A value that one thread at a time may use.
pub struct Lock<T> {
    /// The holder (see [`sys::thread_mark`]), 0 when free.
    owner: AtomicU64,
    value: UnsafeCell<T>,
}

// SAFETY: the value is only reached through `with`, by one thread at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock.
    pub const fn new(value: T) -> Self {
        Self { owner: AtomicU64::new(0), value: UnsafeCell::new(value) }
    }

    /// Calls `f` with the value; `None` if this very thread is already inside, which happens only
    /// in a signal handler (or in code that `f` itself calls).
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let me = sys::thread_mark();
        let mut tries = 0_u32;
        while let Err(owner) = self.owner.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed) {
            if owner == me {
                return None;
            }
            tries += 1;
            if tries.is_multiple_of(64) {
                sys::yield_now();
            } else {
                core::hint::spin_loop();
            }
        }
        // SAFETY: `owner` is ours until the store below, and everybody else waits for that.
        let result = f(unsafe { &mut *self.value.get() });
        self.owner.store(0, Ordering::Release);
        Some(result)
    }

    /// Whether anybody is inside.
    pub fn is_held(&self) -> bool {
        self.owner.load(Ordering::Relaxed) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_inside_is_refused_and_others_wait() {
        let lock = Lock::new(0_u32);
        assert_eq!(lock.with(|_| lock.with(|_| ())), Some(None));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| lock.with(|n| *n += 1).expect("not inside")));
            }
        });
        assert_eq!(lock.with(|n| *n), Some(4000));
    }
}
