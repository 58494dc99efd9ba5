//! What the sampler has for each thread, on pages that are never given back: a signal may come late.
//!
//! The one idea: states of threads that have ended go to those that begin; all of them form a chain, by which others reach
//! their timers.
//!
//! Deliberately absent: what is done with it.

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering};

use marey_measure::{Lock, SampledFrame, Samples, Thread, sys};

use super::timer;
use super::walk::Walker;

/// States of threads that have ended, for those to come.
pub(super) static FREE: Lock<Vec<StatePointer>> = Lock::new(Vec::new());
/// All states, by [`State::next`].
pub(super) static ALL: AtomicPtr<State> = AtomicPtr::new(core::ptr::null_mut());

/// Bytes of the stack that the handler runs on.
const STACK: usize = 64 << 10;
/// Frames of a stack that are taken, innermost first.
const MAX_FRAMES: usize = 256;
/// Open regions that are taken, outermost first.
const MAX_OPEN: usize = 256;

/// Everything that sampling a thread needs. Its beginning is known to the handler's instructions.
#[repr(C)]
pub(super) struct State {
    /// Where the handler's stack begins.
    pub(super) stack_top: usize,
    pub(super) shared: Shared,
    pub(super) own: Own,
    pub(super) next: *mut State,
}

/// What others look at than the handler.
pub(super) struct Shared {
    /// The process that made the timer: a forked child has none.
    pub(super) pid: AtomicU32,
    pub(super) timer: AtomicI32,
    pub(super) has_timer: AtomicBool,
    /// The program believes that it has blocked the signal.
    pub(super) seems_blocked: AtomicBool,
}

/// What the handler has for itself.
pub(super) struct Own {
    pub(super) thread: *mut Thread,
    pub(super) samples: *mut Samples,
    /// The last known number of [`crate::site::CLOSINGS`].
    pub(super) closings: u64,
    /// Until when no more samples are taken, ticks: at most half of the time is ours.
    pub(super) rests_until: u64,
    /// Periods that have passed meanwhile.
    pub(super) passed: u32,
    /// Periods that samples stand for.
    pub(super) told: u64,
    /// Periods that signals will still tell of, though samples stand for them.
    pub(super) ahead: u64,
    pub(super) timer: Option<timer::Timer>,
    pub(super) open: [u32; MAX_OPEN],
    pub(super) frames: [SampledFrame; MAX_FRAMES],
    pub(super) walker: Walker,
}

pub(super) struct StatePointer(pub(super) *mut State);

// SAFETY: whoever takes the pointer out of the list owns what it points to.
unsafe impl Send for StatePointer {}

pub(super) fn take_free() -> Option<*mut State> {
    FREE.with_or_renew(Vec::new, Vec::pop).flatten().map(|free| free.0)
}

pub(super) fn new_state() -> Option<*mut State> {
    let len = size_of::<State>().next_multiple_of(sys::PAGE);
    let at = sys::map_zeros(len + STACK)?;
    let state = at.cast::<State>();
    // SAFETY: the mapping is nobody else's, and zeros are a state that belongs to no thread, but for the walker.
    unsafe {
        (*state).stack_top = at as usize + len + STACK;
        Walker::begin(&raw mut (*state).own.walker);
        let mut first = ALL.load(Ordering::Relaxed);
        loop {
            (*state).next = first;
            match ALL.compare_exchange_weak(first, state, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(state),
                Err(other) => first = other,
            }
        }
    }
}
