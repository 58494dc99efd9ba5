//! What it costs to record a call of an interposed function, taken from calls of the program itself.
//!
//! The one idea: what such a call costs depends on its arguments, its call stack and what lies in the
//! processor's caches, so no trial at the start could tell. Whoever interposes functions takes the
//! time of a few calls instead and adds it up here, in the head of the thread's window. What a call
//! costs on average, and how many calls there were, is for the merge to put together.
//!
//! Deliberately absent: the cost of an enter and a leave, which is tried out when recording starts.

use core::sync::atomic::{Ordering, compiler_fence};

use marey_model::spool::at;

use crate::thread::Thread;
use crate::write::head_counter;

/// Adds a call that took the recorder `ticks` of its own time. As a count of free locks, it is not
/// worth the slow path.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
pub unsafe fn add_sample(thread: *mut Thread, ticks: u64) {
    // SAFETY: the caller's promise. As for every record, the thread is claimed before the window is
    // looked at, so that no signal handler unmaps it under the counters.
    unsafe {
        if (*thread).ready == 0 {
            return;
        }
        (*thread).ready = 0;
        compiler_fence(Ordering::SeqCst);
        for (offset, more) in [(at::SAMPLED_TICKS, ticks), (at::SAMPLED_CALLS, 1)] {
            let counter = head_counter(thread, offset);
            (*counter).store((*counter).load(Ordering::Relaxed) + more, Ordering::Relaxed);
        }
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
}
