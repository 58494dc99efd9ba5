//! What a thread remembers of its last calls.
//!
//! The one idea: a loop names the same array and the same shape again and again, and asking those that all threads share
//! costs two calls of the kernel each time; so a thread keeps the last few, for as long as nothing is made or given back.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use marey_measure::Lock;

use super::arrays::Array;
use super::section::Dimensions;
use crate::variable::thread_variable;

/// What the calling thread knows.
#[repr(C)]
pub(super) struct Known {
    /// Stack pointer of the outermost call into the library that has not returned; 0 for none.
    pub(super) sp: usize,
    last: *mut Last,
}

thread_variable! {
    /// That of the calling thread.
    pub(super) fn known -> Known; "marey_coarray", 16 bytes, aligned 4
}

/// How many of each are kept.
const KEPT: usize = 8;

/// The last of each, and where the next goes.
#[derive(Default)]
struct Last {
    changes: u64,
    arrays: [(usize, Option<Arc<Array>>); KEPT],
    next_array: usize,
    shapes: [(Dimensions, u32); KEPT],
    next_shape: usize,
}

/// Grows whenever an array is made, described or given back.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// To be called when what tokens stand for has changed.
pub(super) fn changed() {
    CHANGES.fetch_add(1, Ordering::Release);
}

/// Those of threads that have ended, for threads to come: what they remember is true for all.
static FREE: Lock<Vec<LastPointer>> = Lock::new(Vec::new());

struct LastPointer(*mut Last);

// SAFETY: whoever takes the pointer out of the list owns what it points to; `Arc<Array>` may go to another thread.
unsafe impl Send for LastPointer {}

fn last() -> &'static mut Last {
    // SAFETY: the thread's own for as long as it lives, and nobody else has it.
    unsafe {
        let known = known();
        if (*known).last.is_null() {
            let free = FREE.with_or_renew(Vec::new, Vec::pop).flatten();
            (*known).last = free.map_or_else(|| Box::into_raw(Box::default()), |free| free.0);
        }
        &mut *(*known).last
    }
}

/// To be called when a thread ends, which is no place to run destructors.
pub(crate) fn thread_ends() {
    // SAFETY: the variable is the calling thread's own.
    let last = unsafe { core::mem::replace(&mut (*known()).last, core::ptr::null_mut()) };
    if !last.is_null() {
        FREE.with_or_renew(Vec::new, |free| free.push(LastPointer(last)));
    }
}

/// The array of a token, by `ask` if the thread does not remember it.
pub(super) fn array(token: usize, ask: impl FnOnce() -> Option<Arc<Array>>) -> Option<Arc<Array>> {
    let last = last();
    let changes = CHANGES.load(Ordering::Acquire);
    if last.changes != changes {
        last.changes = changes;
        last.arrays = Default::default();
    }
    if let Some((_, array)) = last.arrays.iter().find(|(known, array)| *known == token && array.is_some()) {
        return array.clone();
    }
    let array = ask()?;
    last.arrays[last.next_array % KEPT] = (token, Some(Arc::clone(&array)));
    last.next_array += 1;
    Some(array)
}

/// The number of a shape, by `ask` if the thread does not remember it.
pub(super) fn shape(dimensions: Dimensions, ask: impl FnOnce(&Dimensions) -> Option<u32>) -> u32 {
    let last = last();
    if let Some((_, shape)) = last.shapes.iter().find(|(known, _)| *known == dimensions) {
        return *shape;
    }
    let Some(shape) = ask(&dimensions) else { return u32::MAX };
    last.shapes[last.next_shape % KEPT] = (dimensions, shape);
    last.next_shape += 1;
    shape
}
