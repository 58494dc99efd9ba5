//! A lock for the rare paths: making definitions, opening windows.
//!
//! Unlike `std::sync::Mutex` it knows its owner, so that a signal handler which interrupted the
//! owner is refused instead of waiting for ever, and it makes no call that a measured program's
//! own interposition could see. Signals wait meanwhile, where that may be had. It also knows the process that
//! its owner is a thread of: a fork copies a lock that another thread holds, and nobody will ever give the copy
//! back.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::sys;

/// A value that one thread at a time may use.
pub struct Lock<T> {
    /// The holder (see [`sys::thread_mark`]) and, from bit [`GENERATION_AT`], its process's
    /// [`generation`]; 0 when free.
    owner: AtomicU64,
    value: UnsafeCell<T>,
}

// SAFETY: the value is only reached through `with`, by one thread at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

/// Addresses of threads end below.
const GENERATION_AT: u32 = 48;

/// How a lock was found that cannot be had.
enum Refusal {
    /// This very thread is inside.
    Inside,
    /// A thread of another process was inside when it forked this one.
    Orphaned(u64),
}

impl<T> Lock<T> {
    /// A free lock.
    pub const fn new(value: T) -> Self {
        Self { owner: AtomicU64::new(0), value: UnsafeCell::new(value) }
    }

    /// Calls `f` with the value; signals wait until it is done. `None` if this very thread is already inside,
    /// which happens only in a signal handler (or in code that `f` itself calls), and in a forked child if
    /// another thread of its parent was inside: the value may be half changed.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        sys::undisturbed(|| {
            self.take(sys::thread_mark() | generation() << GENERATION_AT).ok()?;
            Some(self.use_and_release(f))
        })
    }

    /// [`Self::with`] for a value that a forked child can begin anew, with `fresh`.
    pub fn with_or_renew<R>(&self, fresh: impl FnOnce() -> T, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        sys::undisturbed(|| self.take_or_renew(fresh, f))
    }

    fn take_or_renew<R>(&self, fresh: impl FnOnce() -> T, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let me = sys::thread_mark() | generation() << GENERATION_AT;
        match self.take(me) {
            Ok(()) => {}
            Err(Refusal::Orphaned(owner))
                if self.owner.compare_exchange(owner, me, Ordering::Acquire, Ordering::Relaxed).is_ok() =>
            {
                // SAFETY: the lock is ours. What was there is not dropped: nobody knows its state.
                unsafe { self.value.get().write(fresh()) };
            }
            // Another thread was quicker.
            Err(Refusal::Orphaned(_)) => self.take(me).ok()?,
            Err(Refusal::Inside) => return None,
        }
        Some(self.use_and_release(f))
    }

    #[inline]
    fn take(&self, me: u64) -> Result<(), Refusal> {
        let mut tries = 0_u32;
        while let Err(owner) = self.owner.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed) {
            if owner == 0 {
                continue;
            }
            let (theirs, ours) = (owner >> GENERATION_AT, me >> GENERATION_AT);
            if (owner ^ me) << (64 - GENERATION_AT) == 0 {
                return Err(Refusal::Inside);
            }
            // Who took it before generations were counted may still be there.
            if theirs != ours && theirs != 0 {
                return Err(Refusal::Orphaned(owner));
            }
            tries += 1;
            if tries.is_multiple_of(64) {
                sys::yield_now();
            } else {
                core::hint::spin_loop();
            }
        }
        Ok(())
    }

    #[inline]
    fn use_and_release<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: `owner` is ours until the store below, and everybody else waits for that.
        let result = f(unsafe { &mut *self.value.get() });
        self.owner.store(0, Ordering::Release);
        result
    }

    /// Whether anybody is inside.
    pub fn is_held(&self) -> bool {
        self.owner.load(Ordering::Relaxed) != 0
    }
}

/// A word on a page that a fork wipes: the process's generation, 0 until it is asked for.
static GENERATION: AtomicPtr<AtomicU64> = AtomicPtr::new(core::ptr::null_mut());
/// The last generation given out; a fork copies it.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Lets locks tell from now on whether their holder was lost in a fork.
///
/// # Safety
/// `word` is zero and stays valid for ever, on a page that is wiped in a forked child.
pub(crate) unsafe fn count_generations(word: *mut AtomicU64) {
    GENERATION.store(word, Ordering::Release);
}

/// A number that differs from the parent's, and from 0 once somebody counts.
#[inline]
fn generation() -> u64 {
    // SAFETY: whoever stored it promised that it is valid.
    match unsafe { GENERATION.load(Ordering::Acquire).as_ref() } {
        None => 0,
        Some(word) => match word.load(Ordering::Relaxed) {
            0 => new_generation(word),
            known => known,
        },
    }
}

#[cold]
fn new_generation(word: &AtomicU64) -> u64 {
    // From 1 to what the bits hold; the parent's is never the same.
    let new = LAST.load(Ordering::Relaxed) % (u64::MAX >> GENERATION_AT) + 1;
    match word.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            LAST.store(new, Ordering::Relaxed);
            new
        }
        Err(known) => known,
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

    #[test]
    fn a_child_does_not_wait_for_a_thread_that_only_its_parent_has() {
        let page = sys::map_zeros(sys::PAGE).expect("a page can be had");
        assert!(sys::wipe_on_fork(page, sys::PAGE));
        // SAFETY: the page is zero and stays.
        unsafe { count_generations(page.cast()) };
        let lock = Lock::new(1_u32);
        let (inside, forked) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                lock.with(|n| {
                    *n = 2;
                    inside.wait();
                    forked.wait();
                })
            });
            inside.wait();
            // SAFETY: the child asks nothing of the runtime and ends itself.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: takes a number. Ends the child if it waits.
                unsafe { libc::alarm(10) };
                let refused = lock.with(|n| *n).is_none();
                let renewed = lock.with_or_renew(|| 7, |n| *n) == Some(7) && lock.with(|n| *n) == Some(7);
                // SAFETY: ends the child.
                unsafe { libc::_exit(i32::from(!(refused && renewed))) };
            }
            let mut status = 0;
            // SAFETY: `status` is writable.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            forked.wait();
            assert_eq!(status, 0, "the child was ended or found something else");
        });
        // The parent's is as it was left.
        assert_eq!(lock.with(|n| *n), Some(2));
    }
}
