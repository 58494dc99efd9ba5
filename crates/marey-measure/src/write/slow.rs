//! What happens rarely.

use core::sync::atomic::{Ordering, compiler_fence};

use marey_model::spool::{Open, SHORT_SITES, Stream, at, op};

use super::announce::enter_announced;
use super::beside::{Kept, leave_pending, write_pending};
use super::{ROOM, Scratch, head_counter, now, put_delta, put_delta_to, timing, write};
use crate::counting;
use crate::runtime::{self, Mode};
use crate::thread::{Thread, state};

#[cold]
pub(super) unsafe fn enter(thread: *mut Thread, site: u32, mark: u32) {
    // SAFETY: the caller's promise (see `super::enter`).
    unsafe {
        if let Some(table) = crate::attach::foreign() {
            (table.enter)(thread, site);
            return;
        }
        counting::at_boundary(thread);
        let Some(thread) = pick(thread) else { return };
        let depth = (*thread).depth;
        write(thread, ROOM, |thread, scratch| put_open(thread, scratch, site, now(thread)));
        // Not where it could not be written, or lies too deep.
        if (*thread).depth == depth + 1 {
            (*(*thread).stack.add(depth as usize)).reserved = mark;
        }
    }
}

#[cold]
pub(super) unsafe fn passed(thread: *mut Thread, site: u32, began: u64, ended: u64) {
    // SAFETY: the caller's promise (see `super::passed`).
    unsafe {
        let Some(thread) = pick(thread) else { return };
        write(thread, ROOM, |thread, scratch| {
            let began = began.max((*thread).last);
            put_call(thread, scratch, site, (began, ended), |_, _| ());
        });
    }
}

/// Puts that `site` was entered at `ticks`, and opens it.
///
/// # Safety
/// Inside [`write()`], with the calling thread's descriptor.
pub(super) unsafe fn put_open(thread: *mut Thread, scratch: &mut Scratch, site: u32, ticks: u64) {
    // SAFETY: the caller's promise; the stack has `max_depth` entries.
    unsafe {
        if (*thread).depth >= (*thread).max_depth {
            (*thread).below += 1;
            return put_counted(scratch, site);
        }
        put_enter(scratch, site);
        let ticks = put_delta_to(thread, scratch, ticks);
        *(*thread).stack.add((*thread).depth as usize) = Open { ticks, site, reserved: 0 };
        (*thread).depth += 1;
    }
}

/// Puts a whole call of `site`, which took from `began` to `ended`, around the records that `f` puts.
///
/// # Safety
/// As for [`put_open`].
#[inline(always)]
pub(super) unsafe fn put_call(
    thread: *mut Thread,
    scratch: &mut Scratch,
    site: u32,
    (began, ended): (u64, u64),
    f: impl FnOnce(*mut Thread, &mut Scratch),
) {
    // SAFETY: the caller's promise.
    unsafe {
        let is_too_deep = (*thread).depth >= (*thread).max_depth;
        if is_too_deep {
            put_counted(scratch, site);
        } else {
            put_enter(scratch, site);
            put_delta_to(thread, scratch, began);
        }
        f(thread, scratch);
        if !is_too_deep {
            scratch.byte(op::LEAVE);
            put_delta_to(thread, scratch, ended);
        }
    }
}

fn put_enter(scratch: &mut Scratch, site: u32) {
    if site < SHORT_SITES {
        scratch.byte(op::SHORT_ENTER + site as u8);
    } else {
        scratch.byte(op::ENTER);
        scratch.number(site.into());
    }
}

/// Puts that a call of `site`, which lies too deep to be recorded, is only counted.
pub(super) fn put_counted(scratch: &mut Scratch, site: u32) {
    scratch.byte(op::COUNTED);
    scratch.number(site.into());
    scratch.number(1);
}

#[cold]
pub(super) unsafe fn leave(thread: *mut Thread) {
    // SAFETY: the caller's promise (see `super::leave`).
    unsafe {
        timing::end_timing(thread);
        if let Some(table) = crate::attach::foreign() {
            // What is innermost is the library's to find, as far as this copy knows it.
            let site = match (*thread).depth {
                0 => u32::MAX,
                depth => (*(*thread).stack.add(depth as usize - 1)).site,
            };
            return (table.leave)(thread, site);
        }
        if leave_pending(thread, Kept::Timed, |_, _| ()) {
            return;
        }
        counting::at_boundary(thread);
        let Some(thread) = pick(thread) else { return };
        if (*thread).below != 0 {
            (*thread).below -= 1;
            return;
        }
        if (*thread).depth == 0 {
            return;
        }
        write(thread, ROOM, |thread, scratch| {
            scratch.byte(op::LEAVE);
            put_delta(thread, scratch);
            (*thread).depth -= 1;
        });
    }
}

#[cold]
pub(super) unsafe fn leave_site(thread: *mut Thread, site: u32) {
    // SAFETY: the caller's promise (see `super::leave_site`).
    unsafe {
        if let Some(table) = crate::attach::foreign() {
            return (table.leave)(thread, site);
        }
        // In a signal handler the region may lie on the second lane.
        let thread = if (*thread).is_pending { Some(thread) } else { pick(thread) };
        let Some(thread) = thread else { return };
        if (*thread).below != 0 {
            // What is left out was not entered, but some leave it all the same.
            let is_left_out = matches!(Thread::mode(thread, site), Mode::Off | Mode::Count);
            if !is_left_out || is_open(thread, site) {
                (*thread).below -= 1;
            }
            return;
        }
        let depth = (*thread).depth as usize;
        let Some(found) = (0..depth).rev().find(|&idx| (*(*thread).stack.add(idx)).site == site) else {
            return;
        };
        for _ in found..depth {
            super::leave(thread);
        }
    }
}

/// Whether a visit of `site` is open on a thread.
///
/// # Safety
/// As for [`super::enter`].
pub(crate) unsafe fn is_open(thread: *const Thread, site: u32) -> bool {
    // SAFETY: the caller's promise; entries below `depth` are filled.
    unsafe { (0..(*thread).depth as usize).any(|place| (*(*thread).stack.add(place)).site == site) }
}

/// The descriptor that the calling thread may write to: `thread` itself, after a fork once it
/// has been filled anew, or its second lane if a record is being written. `None` if there is
/// none; the event is counted then.
pub(super) unsafe fn pick(thread: *mut Thread) -> Option<*mut Thread> {
    // SAFETY: the caller's promise.
    unsafe {
        match (*thread).state {
            state::RECORDING if (*thread).ready != 0 || enter_announced(thread) || write_pending(thread) => {
                Some(thread)
            }
            state::RECORDING if crate::abandoned::recover(thread) => Some(thread),
            state::RECORDING if (*thread).stream == Stream::Second as u32 => {
                // A handler interrupted a handler in the middle of a record: nothing is left.
                count_dropped(thread);
                None
            }
            state::RECORDING => match runtime::second(thread) {
                Some(second) => pick(second),
                None => {
                    count_dropped(thread);
                    None
                }
            },
            state::EMPTY if runtime::after_fork(thread) => Some(thread),
            _ => {
                count_dropped(thread);
                None
            }
        }
    }
}

/// Picks a descriptor, makes it not ready, and sees that it has room for `room` bytes.
#[cold]
pub(super) unsafe fn claim(thread: *mut Thread, room: usize) -> Option<*mut Thread> {
    // SAFETY: the caller's promise.
    unsafe {
        let thread = pick(thread)?;
        (*thread).ready = 0;
        compiler_fence(Ordering::SeqCst);
        make_room(thread, room)
    }
}

/// `thread`, which the caller has made not ready, with room for `room` bytes: in a new window
/// if need be. `None` if there is no place; the event is counted then.
#[cold]
pub(super) unsafe fn make_room(thread: *mut Thread, room: usize) -> Option<*mut Thread> {
    // SAFETY: the caller's promise.
    unsafe {
        let end = (*thread).window + (*thread).window_len;
        let fits = (*thread).cursor < (*thread).brim && (*thread).cursor + room as u64 + 16 <= end;
        if fits || runtime::next_window(thread, room) {
            return Some(thread);
        }
        count_dropped(thread);
        if (*thread).state == state::RECORDING {
            (*thread).ready = 1;
        }
        None
    }
}

pub(super) unsafe fn count_dropped(thread: *mut Thread) {
    // SAFETY: the caller's promise; a window, once mapped, stays so while the thread lives.
    unsafe {
        if (*thread).window == 0 {
            runtime::count_homeless(1);
        } else {
            (*head_counter(thread, at::DROPPED)).fetch_add(1, Ordering::Relaxed);
        }
    }
}
