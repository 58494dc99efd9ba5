//! When no samples are taken: for a while, or ever again.
//!
//! The one idea: one word says so, which the handler looks at before it does anything else; whoever stops all samples may
//! be a handler of signals itself, so why is told later.
//!
//! Deliberately absent: threads that end ([`super::thread_ends`]).

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use marey_measure::{Runtime, sys};

use super::state::{ALL, State};
use super::{SIGNAL, tell, timer};

/// While this is not 0, no samples are taken: the handler must not even call the kernel, or look at the clock. It is
/// [`STOPPED`] for good, and beside that how many threads are at something that may take these away.
pub(super) static BARRED: AtomicU32 = AtomicU32::new(0);
pub(super) const STOPPED: u32 = 1 << 31;

/// Takes no samples while `f` does what may take the clock away, or calls of the kernel.
pub(crate) fn paused<R>(f: impl FnOnce() -> R) -> R {
    BARRED.fetch_add(1, Ordering::SeqCst);
    let result = f();
    BARRED.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Whether a thread is at something that may take calls of the kernel away.
pub(super) fn is_paused() -> bool {
    BARRED.load(Ordering::SeqCst) & !STOPPED != 0
}

/// Why there are no more samples.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stopped {
    /// The program uses the signal.
    Taken = 1,
    /// Somebody has sent the signal.
    Sent = 2,
    /// A filter does not let the handler through.
    Filtered = 3,
}

/// One of [`Stopped`] that has not been told; 0 for none. It may come in a handler of signals, where nothing can be.
pub(super) static UNTOLD: AtomicU8 = AtomicU8::new(0);

/// Ends all sampling in the process, for good.
pub(crate) fn stop(why: Stopped) {
    if SIGNAL.swap(0, Ordering::AcqRel) == 0 {
        return;
    }
    UNTOLD.store(why as u8, Ordering::Relaxed);
    // Signals are on their way.
    BARRED.fetch_or(STOPPED, Ordering::SeqCst);
    let mut state = ALL.load(Ordering::Acquire);
    while !state.is_null() {
        // SAFETY: states are never unmapped, and their chain never changes.
        unsafe {
            stop_timer(state);
            state = (*state).next;
        }
    }
}

#[cold]
pub(super) fn tell_stopped(runtime: &Runtime) {
    let detail = match UNTOLD.swap(0, Ordering::Relaxed) {
        0 => return,
        why if why == Stopped::Filtered as u8 => {
            "samples end: a filter on system calls does not let them through"
        }
        why if why == Stopped::Sent as u8 => "samples end: somebody has sent their signal",
        _ => "samples end: the program uses their signal",
    };
    tell(runtime, 1, detail);
}

/// # Safety
/// `state` is one of ours.
pub(super) unsafe fn stop_timer(state: *mut State) {
    // SAFETY: the caller's promise; states are never unmapped.
    unsafe {
        let shared = &(*state).shared;
        let is_ours = || shared.pid.load(Ordering::Relaxed) == sys::process_id();
        if shared.has_timer.swap(false, Ordering::AcqRel) && is_ours() {
            timer::stop(shared.timer.load(Ordering::Relaxed));
        }
    }
}
