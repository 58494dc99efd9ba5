//! What had to happen before what, among the threads of a process, and locks that were free.
//!
//! An edge stands behind the record that had to wait, because only that record's time is known for
//! sure to come after its cause. So the end of a wait and its edge are written together.

use core::sync::atomic::{Ordering, compiler_fence};

use marey_model::EdgeKind;
use marey_model::spool::{at, op};

use crate::counting;
use crate::thread::Thread;
use crate::write::{
    Kept, ROOM, Scratch, head_counter, leave_pending, now, put_delta, put_delta_to, while_announced, write,
};

/// The earlier end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cause {
    /// Why the later end came later.
    pub kind: EdgeKind,
    /// Number of the thread in the process.
    pub thread: u32,
    /// When it did there what the later end had to wait for, in ticks.
    pub ticks: u64,
    /// Address of the lock, condition or barrier; 0 for none.
    pub noun: u64,
}

/// Leaves the innermost open region, which could not end before `cause`.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
pub unsafe fn leave_because(thread: *mut Thread, cause: Option<Cause>) {
    // SAFETY: the caller's promise.
    unsafe { leave_because_at(thread, u64::MAX, cause) };
}

/// The same for a region that was over at `ticks` already, as is known only now; it ends no earlier than the thread's last
/// record, and no later than now.
///
/// # Safety
/// As for [`leave_because`].
pub unsafe fn leave_because_at(thread: *mut Thread, ticks: u64, cause: Option<Cause>) {
    // SAFETY: the caller's promise; a leave and an edge take less than `ROOM`.
    unsafe {
        if leave_pending(thread, Kept::Timed, |_, _| ()) {
            return;
        }
        counting::at_boundary(thread);
        write(thread, ROOM, |thread, scratch| {
            if (*thread).below != 0 {
                // The region is only counted: an edge would hang on a record of another one.
                (*thread).below -= 1;
                return;
            }
            if (*thread).depth != 0 {
                scratch.byte(op::LEAVE);
                if ticks == u64::MAX {
                    put_delta(thread, scratch);
                } else {
                    put_delta_to(thread, scratch, ticks.max((*thread).last).min(now(thread)));
                }
                (*thread).depth -= 1;
                put_cause(thread, scratch, cause);
            }
        });
    }
}

/// Says that the thread's last record, or its first instant, could not come before `cause`.
///
/// # Safety
/// As for [`leave_because`].
pub unsafe fn begin_because(thread: *mut Thread, cause: Cause) {
    // SAFETY: the caller's promise; an edge takes less than `ROOM`.
    unsafe {
        write(thread, ROOM, |thread, scratch| put_cause(thread, scratch, Some(cause)));
    }
}

unsafe fn put_cause(thread: *mut Thread, scratch: &mut Scratch, cause: Option<Cause>) {
    let Some(cause) = cause else { return };
    scratch.byte(op::EDGE);
    scratch.byte(cause.kind as u8);
    scratch.number(cause.thread.into());
    // SAFETY: the caller's promise. A cause from a processor whose clock is ahead counts as now.
    scratch.number(unsafe { (*thread).last }.saturating_sub(cause.ticks));
    scratch.number(cause.noun);
}

/// Counts a lock that was free. Not where a record is being written already, and not in a forked
/// child that has not recorded yet: a count is not worth the slow path.
///
/// # Safety
/// As for [`leave_because`].
#[inline(always)]
pub unsafe fn count_free_lock(thread: *mut Thread) {
    // SAFETY: the caller's promise. As for every record, the thread is claimed before the window is
    // looked at, so that no signal handler unmaps it under the count.
    unsafe {
        let count = move || {
            compiler_fence(Ordering::SeqCst);
            let locks = head_counter(thread, at::LOCKS);
            (*locks).store((*locks).load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
        };
        if (*thread).ready != 0 {
            (*thread).ready = 0;
            count();
            (*thread).ready = 1;
        } else {
            while_announced(thread, count);
        }
    }
}
