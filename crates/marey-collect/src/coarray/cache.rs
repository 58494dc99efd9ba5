//! What a thread remembers of its last calls.
//!
//! The one idea: a loop names the same array and the same shape again and again, and asking those that all threads share
//! costs two calls of the kernel each time; so a thread keeps the last few, for as long as nothing is made or given back.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

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

fn last() -> &'static mut Last {
    // SAFETY: the thread's own; it lives as long as the process, since a thread's end is no place to run destructors, and
    // nobody else has it.
    unsafe {
        let known = known();
        if (*known).last.is_null() {
            (*known).last = Box::into_raw(Box::default());
        }
        &mut *(*known).last
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
