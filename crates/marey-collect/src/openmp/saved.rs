//! What a thread was in before what it is in now, where a runtime tells of beginnings and ends by calls that leave no
//! frame on the stack in between.
//!
//! The one idea: a stack of fixed size for each thread, made when it is first needed. What lies deeper is not recorded, and
//! its end is counted, so that all further out still fits together.
//!
//! What a thread asks for and may not get (a lock, a section) stands beside that stack and not on it: nothing need come to an
//! end there.

use marey_measure::sys;

use super::here::{Here, here};
use crate::variable::thread_variable;

const MOST: usize = 128;

/// What was put aside.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Saved {
    pub(super) here: Here,
    /// The region that ends when this comes back.
    pub(super) region: u32,
    pub(super) place: usize,
    pub(super) what: usize,
    /// When it began.
    pub(super) began: u64,
    pub(super) group: u64,
}

#[repr(C)]
struct Stack {
    entries: *mut [Saved; MOST],
    depth: usize,
}

thread_variable! {
    /// The calling thread's own.
    fn stack -> Stack; "marey_openmp_saved", 16 bytes, aligned 3
}

/// What one thread at a time can have, and the thread asks for.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Wanted {
    /// Its address; 0 for none.
    pub(super) what: usize,
    /// Where notes are left of it, see [`super::tables::Tables`]; 0 for nowhere.
    pub(super) place: usize,
    /// Since when.
    pub(super) began: u64,
    /// The region of the wait, if that is one that ends with getting it; 0 otherwise.
    pub(super) region: u32,
    /// Whether another thread had it.
    pub(super) is_held: u16,
    /// Whether the wait was entered, if only to be counted.
    pub(super) is_entered: u16,
}

thread_variable! {
    /// The calling thread's own.
    fn wanted -> Wanted; "marey_openmp_wanted", 32 bytes, aligned 3
}

thread_variable! {
    /// The lock that the calling thread has called for and will wait for, as [`super::wrapper::export_lock`] writes down; 0 for
    /// none. A runtime says the same of one that is only tried.
    fn called_for -> usize; "marey_openmp_called_for", 8 bytes, aligned 3
}

/// Whether the thread has called for this lock since the last that it was asked of.
pub(super) fn has_called_for(lock: usize) -> bool {
    // SAFETY: the thread's own memory.
    lock != 0 && unsafe { called_for().replace(0) } == lock
}

/// Notes what the thread asks for.
pub(super) fn wants(it: Wanted) {
    // SAFETY: the thread's own memory.
    unsafe { wanted().write(it) };
}

/// What the thread has asked for and did not get, for it asks for something else.
pub(super) fn gets_nothing() -> Option<Wanted> {
    // SAFETY: the thread's own memory.
    let what = unsafe { (*wanted()).what };
    gets(what)
}

/// What the thread has asked for, if it is this.
pub(super) fn gets(what: usize) -> Option<Wanted> {
    // SAFETY: the thread's own memory.
    unsafe {
        let it = *wanted();
        if it.what != what {
            return None;
        }
        (*wanted()).what = 0;
        (what != 0).then_some(it)
    }
}

/// Puts aside what the thread is in, and what goes with it.
pub(super) fn push(region: u32, place: usize, what: usize, began: u64, group: u64) {
    // SAFETY: the thread's own memory; the entries are mapped for ever.
    unsafe {
        let stack = stack();
        if (*stack).entries.is_null() {
            let Some(entries) = sys::map_zeros(size_of::<[Saved; MOST]>()) else {
                (*stack).depth += 1;
                return;
            };
            (*stack).entries = entries.cast();
        }
        if (*stack).depth < MOST {
            let at = (*stack).entries.cast::<Saved>().add((*stack).depth);
            at.write(Saved { here: *here(), region, place, what, began, group });
        }
        (*stack).depth += 1;
    }
}

/// What was put aside last; `None` if there is nothing, or it lay too deep.
pub(super) fn pop() -> Option<Saved> {
    // SAFETY: as in `push`.
    unsafe {
        let stack = stack();
        (*stack).depth = (*stack).depth.checked_sub(1)?;
        let is_there = (*stack).depth < MOST && !(*stack).entries.is_null();
        is_there.then(|| (*stack).entries.cast::<Saved>().add((*stack).depth).read())
    }
}

/// The calling thread ends.
pub(super) fn thread_ends() {
    // SAFETY: the thread's own memory; nobody else knows the entries.
    unsafe {
        let stack = stack();
        if !(*stack).entries.is_null() {
            sys::unmap((*stack).entries.cast(), size_of::<[Saved; MOST]>());
            (*stack).entries = core::ptr::null_mut();
        }
        (*stack).depth = 0;
    }
}
