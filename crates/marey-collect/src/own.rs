//! Our own code, in the midst of the program's: what it calls is not recorded, and leaves nothing behind.
//!
//! The one idea: whoever records a call says so for as long as it takes, so calls of the recorder's own are told from the
//! program's; `errno` and whether the thread may be cancelled are put back afterwards.
//!
//! Deliberately absent: what else is known of a thread that is recorded (`marey_measure::Thread`).

use core::ffi::c_int;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::variable::thread_variable;

/// What is known of the calling thread.
#[repr(C)]
pub(crate) struct Local {
    /// How deep the thread is in our own code, whose calls are not the program's.
    pub(crate) own: u32,
    /// Not 0 for a thread that is no location because of its waits: 1 for one of MPI's, [`ENDED`].
    pub(crate) hidden: u32,
    /// The place among the notes where the thread waits, plus 1.
    pub(crate) waiting: usize,
    /// Where on the stack our own code began that it is in, which is where the C library tells what comes next.
    own_at: *const c_int,
    /// Whether the thread could be cancelled before that; [`UNKNOWN`] while that is being asked.
    cancel: c_int,
}

/// [`Local::cancel`] while it is not known.
const UNKNOWN: c_int = -1;

/// [`Local::hidden`] of a thread that has ended.
pub(crate) const ENDED: u32 = 2;

thread_variable! {
    /// The calling thread's own.
    pub(crate) fn local -> Local; "marey_own", 32 bytes, aligned 3
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int;
}

/// `PTHREAD_CANCEL_ENABLE` and `PTHREAD_CANCEL_DISABLE`.
const CANCELLABLE: c_int = 0;
const NOT_NOW: c_int = 1;
/// `PTHREAD_CANCEL_DEFERRED`.
const AT_POINTS: c_int = 0;

/// Our own code runs for as long as this lives: what it calls is not recorded, a cancellation
/// waits, and `errno` is what it was.
pub(crate) struct Own {
    errno: c_int,
    cancel: c_int,
}

impl Own {
    #[inline(always)]
    pub(crate) fn begin() -> Self {
        let mut cancel = UNKNOWN;
        // SAFETY: the thread's own memory.
        unsafe {
            let local = local();
            let is_outermost = (*local).own == 0;
            if is_outermost {
                ((*local).own_at, (*local).cancel) = (&raw const cancel, UNKNOWN);
                compiler_fence(Ordering::SeqCst);
            }
            (*local).own += 1;
            let errno = *libc::__errno_location();
            pthread_setcancelstate(NOT_NOW, &mut cancel);
            if is_outermost {
                (*local).cancel = cancel;
            }
            Self { errno, cancel }
        }
    }
}

impl Drop for Own {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: as in `begin`.
        unsafe {
            *libc::__errno_location() = self.errno;
            let nobody = core::ptr::null_mut();
            if self.cancel != CANCELLABLE {
                pthread_setcancelstate(self.cancel, nobody);
                (*local()).own -= 1;
                return;
            }
            // A thread that may be cancelled at any time, and that somebody has cancelled meanwhile, ends in that very
            // call; as one that was not cancelled, if it is this and not the other that it ends in (glibc 2.36).
            let mut kind = AT_POINTS;
            pthread_setcanceltype(AT_POINTS, &mut kind);
            pthread_setcancelstate(CANCELLABLE, nobody);
            compiler_fence(Ordering::SeqCst);
            (*local()).own -= 1;
            if kind != AT_POINTS {
                pthread_setcanceltype(kind, nobody);
            }
        }
    }
}

/// To be called when all that lies below stack pointer `target` is being left by a jump out of a signal handler: our own
/// code may be among it.
///
/// # Safety
/// `stack` is the calling thread's.
#[cfg(not(feature = "linked"))]
pub(crate) unsafe fn leave_own(target: usize, stack: &core::ops::Range<usize>) {
    // SAFETY: the thread's own memory.
    unsafe {
        let local = local();
        let at = (*local).own_at;
        if (*local).own == 0 || target <= at as usize || !stack.contains(&(at as usize)) {
            return;
        }
        // It is told before it is changed.
        let cancel = if (*local).cancel == UNKNOWN { at.read_volatile() } else { (*local).cancel };
        if cancel != UNKNOWN {
            pthread_setcancelstate(cancel, core::ptr::null_mut());
        }
        (*local).own = 0;
    }
}
