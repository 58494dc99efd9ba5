//! Visits of regions that rules say are only to be counted or timed.
//!
//! The one idea: a visit that is timed is put on the stack of open regions and not into the stream. If
//! nothing else is recorded before it is over, it is added up ([`crate::sums::Beside`]). If something is, the
//! regions around it are entered first, with the times at which they began ([`write_pending`]), and the visit
//! goes on as any other. To that end a thread with such visits counts as busy, as one that has announced a
//! call does, so that whatever it records comes to the slow path.
//!
//! A visit that is only counted is on no call path, and does not read the clock, unless it is one of an MPI
//! function, which others may happen in.
//!
//! Where a thread adds everything up, a visit that is to be timed is entered like any other: it has no record to
//! lose, and only so is its time taken from the very sums that have it.
//!
//! Deliberately absent: which regions these are.

use core::sync::atomic::{Ordering, compiler_fence};

use marey_model::spool::{Open, Stream};

use super::announce::enter_announced;
use super::{ROOM, Scratch, commit, forget_words, now, reduced, slow, write};
use crate::channel::VOID;
use crate::counting;
use crate::runtime::{self, Runtime};
use crate::sums::{Beside, Visit};
use crate::sys;
use crate::thread::{Thread, state};

/// Enters `site`, visits of which are not to be recorded but to be `kept` so. If that is not to be had, or no
/// less, the visit is recorded.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[cold]
pub unsafe fn enter_timed(thread: *mut Thread, site: u32, kept: Kept) {
    // SAFETY: the caller's promise; the stack has `max_depth` entries.
    unsafe {
        if (kept == Kept::Timed && (*thread).is_summing) || !claim(thread) {
            return super::enter(thread, site);
        }
        counting::at_boundary(thread);
        if (*thread).depth >= (*thread).max_depth {
            (*thread).below += 1;
            if kept != Kept::Messages {
                add(thread, Visit { site, number: 1, took: None }, &[]);
            }
        } else {
            let ticks = now(thread).max((*thread).last);
            *(*thread).stack.add((*thread).depth as usize) = Open { ticks, site, reserved: 0 };
            (*thread).depth += 1;
            (*thread).pending += 1;
            forget_words(thread);
        }
        release(thread);
    }
}

/// What becomes of a pending visit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// It is counted, and its time added.
    Timed,
    /// It is counted.
    Counted,
    /// Only the messages that it recorded are counted.
    Messages,
}

/// Leaves the innermost open region if its visit is pending, with what `f` puts into the scratch of it (at
/// most 190 bytes). False if it is not.
///
/// # Safety
/// As for [`super::write()`].
#[inline]
pub(crate) unsafe fn leave_pending(
    thread: *mut Thread,
    kept: Kept,
    f: impl FnOnce(*mut Thread, &mut Scratch),
) -> bool {
    // SAFETY: the caller's promise; a thread with pending regions has sums, and entries below `depth` are
    // filled.
    unsafe {
        if !take_pending(thread) {
            return false;
        }
        counting::at_boundary(thread);
        if (*thread).below != 0 {
            (*thread).below -= 1;
        } else {
            let Open { ticks, site, .. } = *(*thread).stack.add((*thread).depth as usize - 1);
            if reduced::is_timed(thread, site) {
                reduced::leave(thread);
                return true;
            }
            let took = (kept == Kept::Timed).then(|| now(thread).saturating_sub(ticks));
            (*thread).depth -= 1;
            (*thread).pending -= 1;
            forget_words(thread);
            add_with(thread, Visit { site, number: u64::from(kept != Kept::Messages), took }, f);
        }
        release(thread);
        true
    }
}

/// Leaves a site that was entered by [`enter_timed`], with the records that `f` puts: `kept` says what becomes
/// of it if nothing else has been recorded inside.
///
/// # Safety
/// As for [`super::leave_with`].
#[cold]
pub unsafe fn leave_timed_with(thread: *mut Thread, kept: Kept, f: impl Fn(*mut Thread, &mut Scratch)) {
    // SAFETY: the caller's promise.
    unsafe {
        if !leave_pending(thread, kept, &f) {
            super::leave_with(thread, f);
        }
    }
}

/// Adds a visit of `site` that is over and took `took` ticks; `None` if it is only to be counted. False if
/// there is no place for sums, or if it is as well recorded.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[cold]
pub unsafe fn add_visit(thread: *mut Thread, site: u32, took: Option<u64>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let is_claimed = !(took.is_some() && (*thread).is_summing) && claim(thread);
        if is_claimed {
            add(thread, Visit { site, number: 1, took }, &[]);
            release(thread);
        }
        is_claimed
    }
}

/// Counts a visit of `site`.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[cold]
pub unsafe fn count(thread: *mut Thread, site: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        if !add_visit(thread, site, None) {
            write(thread, ROOM, |_, scratch| slow::put_counted(scratch, site));
        }
    }
}

/// Enters the pending regions, before something is recorded in them. False if there are none.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[cold]
pub(crate) unsafe fn write_pending(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise; entries below `depth` are filled.
    unsafe {
        if !take_pending(thread) {
            return (*thread).ready != 0;
        }
        // It is recorded as any other.
        (*thread).timing = 0;
        let depth = (*thread).depth;
        let first = depth - core::mem::take(&mut (*thread).pending);
        // What is open in the stream: a new window says so.
        (*thread).depth = first;
        while (*thread).depth < depth {
            let at = (*thread).stack.add((*thread).depth as usize);
            let Open { ticks, site, reserved } = *at;
            if slow::make_room(thread, ROOM).is_none() {
                (*thread).below += depth - (*thread).depth;
                return true;
            }
            (*thread).ready = 0;
            let mut scratch = Scratch((*thread).cursor as *mut u8);
            slow::put_open(thread, &mut scratch, site, ticks);
            (*at).reserved = reserved;
            commit(thread, scratch.0 as u64);
        }
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
    true
}

/// Makes a thread that is busy only because of pending regions busy for good. False if it is not: a handler
/// that came in the middle of this may have entered them, and left the thread ready.
pub(super) unsafe fn take_pending(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if !(*thread).is_pending {
            return false;
        }
        (*thread).is_pending = false;
        compiler_fence(Ordering::SeqCst);
        (*thread).pending != 0
    }
}

/// Makes the thread busy, if it can add up. Otherwise — in a handler that interrupted a record, or without
/// room for sums — the visit is to be recorded.
pub(super) unsafe fn claim(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let is_free = match (*thread).state {
            state::RECORDING => take_pending(thread) || (*thread).ready != 0 || enter_announced(thread),
            state::EMPTY => runtime::after_fork(thread),
            _ => false,
        };
        if !is_free {
            return false;
        }
        (*thread).ready = 0;
        compiler_fence(Ordering::SeqCst);
        let is_claimed = (*thread).stream == Stream::Events as u32 && has_sums(thread);
        if !is_claimed {
            release(thread);
        }
        is_claimed
    }
}

/// Whether the thread has sums, which are made if need be.
unsafe fn has_sums(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if let (true, false, Some(runtime)) =
            ((*thread).beside.is_null(), (*thread).has_no_beside, (*thread).runtime)
        {
            // A handler that jumps away would leave half of it.
            sys::undisturbed(|| (*thread).beside = Beside::begin(runtime, (*thread).serial, (*thread).last));
            // Asked again for each visit, the disk would not have more.
            (*thread).has_no_beside = (*thread).beside.is_null();
        }
        !(*thread).beside.is_null()
    }
}

/// The inverse of [`claim`], and of whatever took `is_pending` away.
pub(super) unsafe fn release(thread: *mut Thread) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller's promise.
    unsafe { if (*thread).pending != 0 { (*thread).is_pending = true } else { (*thread).ready = 1 } }
}

/// Adds `visit` and the records of it that `f` puts. They name all they need: whatever the window stands for
/// stays as it is.
unsafe fn add_with(thread: *mut Thread, visit: Visit, f: impl FnOnce(*mut Thread, &mut Scratch)) {
    let mut bytes = [0_u8; 256];
    // SAFETY: the caller's promise; the records and what their last number may write behind them fit.
    unsafe {
        let kept = ((*thread).generation, (*thread).buffer, (*thread).serial_seen);
        (*thread).generation = VOID;
        let mut scratch = Scratch(bytes.as_mut_ptr());
        f(thread, &mut scratch);
        ((*thread).generation, (*thread).buffer, (*thread).serial_seen) = kept;
        let len = scratch.0 as usize - bytes.as_ptr() as usize;
        add(thread, visit, &bytes[..len]);
    }
}

/// Counts a visit of `site` on a claimed thread.
pub(super) unsafe fn add_counted(thread: *mut Thread, site: u32) {
    // SAFETY: the caller's promise.
    unsafe { add(thread, Visit { site, number: 1, took: None }, &[]) };
}

/// The same of one that took so many ticks.
pub(super) unsafe fn add_timed(thread: *mut Thread, site: u32, took: u64) {
    // SAFETY: the caller's promise.
    unsafe { add(thread, Visit { site, number: 1, took: Some(took) }, &[]) };
}

unsafe fn add(thread: *mut Thread, visit: Visit, records: &[u8]) {
    // SAFETY: the caller's promise: the thread has a recorder and sums, and entries below `depth` are filled.
    unsafe {
        let open = core::slice::from_raw_parts((*thread).stack, (*thread).depth as usize);
        if let (Some(runtime), Some(beside)) = ((*thread).runtime, (*thread).beside.as_mut()) {
            let of: (&Runtime, u32) = (runtime, (*thread).serial);
            beside.add(of, open, visit, records);
        }
    }
}
