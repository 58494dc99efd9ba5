//! Visits of functions that ended without a word, because an exception or a `longjmp` went past them.
//!
//! The one idea: a function calls us from its own frame, so while it lives, what it calls has a stack pointer below
//! the one that it was entered with. That is kept with each visit as a *mark*, the 32 bits that matter; a visit
//! with a mark below the present stack pointer is over. At the same stack pointer there is either a function that
//! was inlined into the one of the visit, or one that was called after it from the same place of the stack: then
//! the latter returns elsewhere, or calls us from the very instruction that the visit came from.
//!
//! That holds on one stack. Coroutines and handlers with stacks of their own are told by where they lie, and then
//! only names count, as for all other regions; so it is where nobody has asked yet where the stack lies.
//!
//! Deliberately absent: regions of the user's and calls of MPI, which have no mark and go with what is around
//! them.

use marey_measure::{Frame, Thread};
use marey_model::spool::Open;

/// Addresses of return addresses are multiples of 2 to the power of it.
const STEP: u32 = 3;

/// A call of ours.
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// Address of the function that calls us.
    pub(super) function: usize,
    /// The stack pointer: it points to the return address.
    pub(super) sp: usize,
    /// Where that function returns to.
    pub(super) caller: usize,
}

impl Call {
    /// The mark of a visit that begins with it. That it is 0, which means none, harms nobody.
    #[inline(always)]
    pub(super) fn mark(self) -> u32 {
        mark(self.sp)
    }

    /// What tells it from others of the same stack pointer.
    #[inline(always)]
    pub(super) fn frame(self) -> Frame {
        // SAFETY: the call has not returned.
        let within = unsafe { *(self.sp as *const usize) };
        Frame { function: self.function, within, caller: self.caller }
    }
}

/// What is kept of a stack pointer.
#[inline(always)]
pub(super) fn mark(sp: usize) -> u32 {
    (sp >> STEP) as u32
}

/// Steps from where a visit began up to `sp`, if it has a mark; negative where it began above.
#[inline(always)]
fn steps_to(open: &Open, sp: usize) -> Option<i32> {
    (open.reserved != 0).then(|| mark(sp).wrapping_sub(open.reserved).cast_signed())
}

/// Whether the innermost open region may be a visit that is over, or one that the function which is entered now
/// was inlined into.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
#[inline(always)]
pub(super) unsafe fn is_beside_innermost(thread: *const Thread, call: Call) -> bool {
    // SAFETY: the caller's promise; entries below `depth` are filled.
    unsafe {
        let depth = (*thread).depth as usize;
        depth != 0 && steps_to(&*(*thread).stack.add(depth - 1), call.sp).is_some_and(|steps| steps >= 0)
    }
}

/// Whether the innermost open region is the visit of `function` that ends at `sp`: it began there, or the one around
/// it did not begin there or below.
///
/// # Safety
/// As for [`is_beside_innermost`].
#[inline(always)]
pub(super) unsafe fn is_plain(thread: *const Thread, function: usize, sp: usize) -> bool {
    // SAFETY: as above.
    unsafe {
        let depth = (*thread).depth;
        if depth == 0 || (*thread).below != 0 {
            return false;
        }
        let innermost = (*thread).stack.add(depth as usize - 1);
        (*innermost).reserved != 0
            && (*Thread::frame(thread, depth - 1)).function == function
            && ((*innermost).reserved == mark(sp)
                || ((depth == 1 || steps_to(&*innermost.sub(1), sp).is_none_or(|steps| steps < 0))
                    // Inside of a visit that is open there may be others that were only counted.
                    && !Thread::is_reduced(thread, (*innermost).site)))
    }
}

/// Whether the innermost open region is the visit of `function` that began at `sp`.
///
/// # Safety
/// As for [`is_beside_innermost`].
pub(super) unsafe fn is_innermost(thread: *const Thread, function: usize, sp: usize) -> bool {
    // SAFETY: as above.
    unsafe {
        let depth = (*thread).depth;
        depth != 0
            && (*(*thread).stack.add(depth as usize - 1)).reserved == mark(sp)
            && (*Thread::frame(thread, depth - 1)).function == function
    }
}

/// Whether a frame at `sp` lies in one of the innermost open region, or in none at all: then no region that is open
/// began there.
///
/// # Safety
/// As for [`is_beside_innermost`].
#[inline(always)]
pub(super) unsafe fn is_inside_innermost(thread: *const Thread, sp: usize) -> bool {
    // SAFETY: as above.
    unsafe {
        let depth = (*thread).depth as usize;
        depth == 0 || steps_to(&*(*thread).stack.add(depth - 1), sp).is_some_and(|steps| steps < 0)
    }
}

/// Leaves all visits that are over when a function is entered.
///
/// # Safety
/// As for [`is_beside_innermost`]; the call has not returned.
pub(super) unsafe fn leave_all(thread: *mut Thread, call: Call) {
    // SAFETY: the caller's promise.
    unsafe {
        if !is_idle(thread) {
            return;
        }
        for innermost in (0..(*thread).depth).rev() {
            if !is_over(&*(*thread).stack.add(innermost as usize), call.sp) {
                break;
            }
            leave_innermost(thread);
        }
        let (depth, frame) = ((*thread).depth, call.frame());
        let mut kept = depth;
        for place in (0..depth).rev() {
            match steps_to(&*(*thread).stack.add(place as usize), call.sp) {
                None => {}
                Some(0) => {
                    let Frame { within, caller, .. } = *Thread::frame(thread, place);
                    if within == frame.within || caller != frame.caller {
                        kept = place;
                    }
                }
                Some(_) => break,
            }
        }
        for _ in kept..depth {
            leave_innermost(thread);
        }
    }
}

/// Leaves the visit of `site` that ends at `sp`, and all inside: the one that began there, else the outermost one of
/// those that began below. False if there is none, or nobody can tell.
///
/// # Safety
/// As for [`is_beside_innermost`].
pub(super) unsafe fn leave_through(thread: *mut Thread, site: u32, sp: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if !is_idle(thread) {
            return false;
        }
        let mut found = None;
        for place in (0..(*thread).depth).rev() {
            let open = &*(*thread).stack.add(place as usize);
            let is_here = steps_to(open, sp) == Some(0);
            if open.reserved != 0 && !is_here && !is_over(open, sp) {
                break;
            }
            if open.reserved != 0 && open.site == site {
                found = Some(place);
                if is_here {
                    break;
                }
            }
        }
        let Some(found) = found else { return false };
        for _ in found..(*thread).depth {
            leave_innermost(thread);
        }
    }
    true
}

/// Leaves the innermost open region, and what was entered too deep inside to be kept.
unsafe fn leave_innermost(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        (*thread).below = 0;
        marey_measure::leave(thread);
    }
}

/// Whether the thread can leave regions now. It may be in the middle of a record that a handler has interrupted, or
/// of a call into MPI.
unsafe fn is_idle(thread: *const Thread) -> bool {
    // SAFETY: the caller's promise.
    unsafe { marey_measure::innermost(thread).is_some() }
}

/// Whether a visit began on the stack that `sp` lies on, below it.
fn is_over(open: &Open, sp: usize) -> bool {
    if steps_to(open, sp).is_none_or(|steps| steps <= 0) {
        return false;
    }
    let marey_measure::Stack { start, end } = crate::site::known_stack();
    let from_end = (mark(end).wrapping_sub(open.reserved) as usize) << STEP;
    (start..end).contains(&sp) && end.checked_sub(from_end).is_some_and(|began| start <= began && began < sp)
}
