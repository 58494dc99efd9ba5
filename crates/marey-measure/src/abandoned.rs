//! Records that nobody will finish: a signal handler interrupted one in the middle and left by `siglongjmp`,
//! or its thread was cancelled there.
//!
//! The one idea: who finds the thread busy is either such a handler still, or the program after it. Of a
//! handler the kernel's frame lies further out on the stack, and is known by the two segment registers that
//! it saves side by side. If there is none, the record is gone, and the stream goes on in a new window, whose
//! head says all that a half-written record may have left in disorder.
//!
//! Deliberately absent: other stacks than the thread's own (coroutines, signal stacks). There nobody can tell
//! what has been left for good; what is recorded on them meanwhile goes to the second lane as ever.

#![expect(
    clippy::cast_possible_truncation,
    reason = "windows fit any pointer, and their open stacks their limit"
)]

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, Ordering, compiler_fence};

use marey_model::spool::{HEAD_LEN, OPEN_LEN, Record, at};

use crate::thread::Thread;
use crate::write::{self, ROOM};
use crate::{runtime, sys};

/// Tells where the calling thread's own stack lies: (0, 0) if that is not known.
pub type StackOf = extern "C" fn() -> Stack;

/// Where a stack lies: addresses of its lowest byte and behind its highest.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Stack {
    /// Lowest.
    pub start: usize,
    /// Behind the highest.
    pub end: usize,
}

static STACK_OF: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Lets stacks be known. Without it an abandoned record keeps its thread busy.
pub fn know_stacks(stack_of: StackOf) {
    STACK_OF.store(stack_of as *mut c_void, Ordering::Release);
}

/// Whether no signal handler is running on the thread's own stack, on which the caller runs.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub fn is_outside_handlers() -> bool {
    /// `cs` of 64-bit programs, and `ss` three half-words later, as the kernel saves them.
    const SEGMENTS: u64 = 0x002b_0000_0000_0033;
    const MASK: u64 = 0xffff_0000_0000_ffff;
    let stack_of = STACK_OF.load(Ordering::Acquire);
    if stack_of.is_null() {
        return false;
    }
    // SAFETY: only `know_stacks` stores there.
    let Stack { start, end } = unsafe { core::mem::transmute::<*mut c_void, StackOf>(stack_of)() };
    let here = 0_u64;
    let from = &raw const here as usize;
    if !(start..end).contains(&from) {
        return false;
    }
    let is_saved = |word: usize| {
        // SAFETY: what lies between here and the end of the stack can be read.
        let word = unsafe { (word as *const u64).read_volatile() };
        word & MASK == SEGMENTS
    };
    !(from..end & !7).step_by(8).any(is_saved)
}

/// Whether no signal handler is running: never known.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub fn is_outside_handlers() -> bool {
    false
}

/// Makes a busy descriptor ready again if the record that made it busy has been abandoned. False if it may
/// still be finished, or nothing more can be recorded.
///
/// # Safety
/// `thread` is the calling thread's, recording, not ready, and has announced no call.
#[cold]
#[inline(never)]
pub(crate) unsafe fn recover(thread: *mut Thread) -> bool {
    // A handler that jumps away again and again must not undo it each time: a long window takes a while.
    // SAFETY: the caller's promise.
    sys::undisturbed(|| unsafe {
        (*thread).window != 0 && is_outside_handlers() && begin_lanes_again(thread)
    })
}

/// The same for both lanes; no handler is running.
unsafe fn begin_lanes_again(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise; a second lane belongs to the same thread.
    unsafe {
        if !begin_again(thread) {
            return false;
        }
        let second = (*thread).second.load(Ordering::Relaxed);
        if !second.is_null() && second != thread && (*second).window != 0 {
            // No handler is left that could end what was begun there.
            if (*second).ready == 0 {
                begin_again(second);
            }
            for _ in 0..(*second).depth {
                write::leave(second);
            }
        }
    }
    true
}

/// Goes on behind the last committed record, in a new window.
unsafe fn begin_again(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise; what is committed are whole records, and heads are as long as they say.
    unsafe {
        let (window, first) = ((*thread).window, (*thread).first);
        let committed = window + (*write::head_counter(thread, at::CURSOR)).load(Ordering::Acquire);
        let records = core::slice::from_raw_parts(first as *const u8, (committed - first) as usize);
        let open = (first - window - HEAD_LEN as u64) / OPEN_LEN as u64;
        (*thread).cursor = committed;
        // Of visits that were to be counted when they end only the beginning is known, on a stack that is gone.
        (*thread).is_pending = false;
        (*thread).timing = 0;
        for _ in 0..core::mem::take(&mut (*thread).pending) {
            write::count_unrecorded(thread);
        }
        // An entry of the stack is right as soon as its record is committed, and until the next one there.
        (*thread).depth = depth_behind(records, open as u32);
        (*thread).last = write::now(thread).max((*thread).window_ticks);
        (*thread).fold.cursor = 0;
        compiler_fence(Ordering::SeqCst);
        if !runtime::next_window(thread, ROOM) {
            return false;
        }
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
    true
}

/// How many regions are open behind records before which `open` are.
fn depth_behind(records: &[u8], open: u32) -> u32 {
    let (mut at, mut depth) = (0, open);
    while let Some(record) = (at < records.len()).then(|| Record::decode(records, &mut at)).flatten() {
        match record {
            Record::Enter { .. } => depth += 1,
            Record::Leave { .. } => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}
