//! Calls that are only announced when they begin, and written down when they are over.
//!
//! The one idea: what one process sends, another waits for; so what there is to do for a send is done
//! when it is on its way. Until then a word in the head of the window says that it has begun: if the
//! process dies in it, a reader finds a region that was never left. And until then the thread counts as
//! busy, so that whatever it records meanwhile — an error handler of the program's, a wait for a mutex, a
//! signal handler — comes to the slow path, which enters the call first ([`enter_announced`]).
//!
//! Deliberately absent: calls that wait for others. What there is to do at their beginning is done while
//! they would wait.

use core::sync::atomic::{Ordering, compiler_fence};

use marey_model::spool::{announcement, at};

use super::beside::take_pending;
use super::slow;
use super::{ROOM, Scratch, commit, head_counter, now};
use crate::counting;
use crate::thread::{Thread, state};

/// Finds the site of an announced call from what the caller has said of it.
pub type SiteOf = unsafe fn(thread: *mut Thread, words: [usize; 4]) -> Option<u32>;

/// A call that is under way, and not in the stream.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Announced {
    /// Whether there is one, that nobody has begun to write down.
    is_open: bool,
    /// When it began; 0 once it is in the stream.
    began: u64,
    /// The site that says no more than which function it is.
    brief: u32,
    words: [usize; 4],
    /// Null in a descriptor that was never used.
    site_of: Option<SiteOf>,
}

/// Says that a call begins now. If its process dies in it, it was one of `brief`, a site that says which
/// function it is; if something else is to be recorded before it is over, `site_of` and `words` tell its
/// site.
///
/// # Safety
/// `thread` is a descriptor of the calling thread, and ready. Next comes [`settle`], or the thread's end.
#[inline(always)]
pub unsafe fn announce(thread: *mut Thread, brief: u32, words: [usize; 4], site_of: SiteOf) {
    // SAFETY: the caller's promise; a thread that is ready has a window.
    unsafe {
        counting::at_boundary(thread);
        (*thread).ready = 0;
        compiler_fence(Ordering::SeqCst);
        let began = now(thread).max(1);
        (*thread).announced = Announced { is_open: false, began, brief, words, site_of: Some(site_of) };
        let word = announcement(brief, began.saturating_sub((*thread).last));
        (*head_counter(thread, at::ANNOUNCED)).store(word, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
        (*thread).announced.is_open = true;
    }
}

/// Ends the announcement of a call that is over. When it began, if nothing of it has been recorded: then
/// one of [`write_announced`] and [`withdraw`] must follow. `None` if it has been entered meanwhile.
///
/// # Safety
/// `thread` is the calling thread's, and has announced a call.
#[inline(always)]
pub unsafe fn settle(thread: *mut Thread) -> Option<u64> {
    // SAFETY: the caller's promise. A signal handler that comes before the store has entered the call,
    // and left no time; one that comes after it finds a thread in the middle of a record.
    unsafe {
        (*thread).announced.is_open = false;
        compiler_fence(Ordering::SeqCst);
        Some((*thread).announced.began).filter(|&began| began != 0)
    }
}

/// Writes down a call of `site` that took from `began`, which [`settle`] gave, to `ended`, with the
/// records that `f` puts between (at most 190 bytes). They count at once.
///
/// # Safety
/// As for [`super::write()`]; `settle` has just been called.
#[inline(always)]
pub unsafe fn write_announced(
    thread: *mut Thread,
    site: u32,
    began: u64,
    ended: u64,
    f: impl FnOnce(*mut Thread, &mut Scratch),
) {
    // SAFETY: the caller's promise; the records take less than ROOM bytes together.
    unsafe {
        if (*thread).state != state::RECORDING {
            // A signal handler has forked, and this is the child: the call was its parent's.
            return;
        }
        counting::at_end_of(thread, site);
        if (*thread).cursor >= (*thread).brim && slow::make_room(thread, ROOM).is_none() {
            return forget(thread);
        }
        let mut scratch = Scratch((*thread).cursor as *mut u8);
        slow::put_call(thread, &mut scratch, site, (began, ended), f);
        // First this, or a process that dies in between would have made the call twice.
        forget(thread);
        commit(thread, scratch.0 as u64);
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
}

/// Takes back the announcement of a call that is not to be recorded.
///
/// # Safety
/// As for [`write_announced`].
pub unsafe fn withdraw(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*thread).state != state::RECORDING {
            return;
        }
        forget(thread);
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
}

/// Does `f`, which may look at the window, if the thread has announced a call or has visits pending: a signal
/// handler meanwhile finds it in the middle of a record.
///
/// # Safety
/// `thread` is a descriptor of the calling thread, and not ready.
#[cold]
pub(crate) unsafe fn while_announced(thread: *mut Thread, f: impl FnOnce()) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*thread).announced.is_open {
            (*thread).announced.is_open = false;
            f();
            (*thread).announced.is_open = true;
        } else if take_pending(thread) {
            f();
            (*thread).is_pending = true;
        }
    }
}

/// Enters the call that `thread` has announced, before something is recorded in it, or because it will
/// never be over. False if there is none.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[cold]
pub unsafe fn enter_announced(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise; the thread is not ready, and nobody else writes a record.
    unsafe {
        if !core::mem::take(&mut (*thread).announced.is_open) {
            return false;
        }
        compiler_fence(Ordering::SeqCst);
        let Announced { brief, words, site_of, .. } = (*thread).announced;
        let site = site_of.and_then(|site_of| site_of(thread, words)).unwrap_or(brief);
        let began = core::mem::take(&mut (*thread).announced.began);
        if (*thread).state != state::RECORDING {
            return false;
        }
        if (*thread).cursor >= (*thread).brim && slow::make_room(thread, ROOM).is_none() {
            forget(thread);
            (*thread).below += 1;
            return true;
        }
        let mut scratch = Scratch((*thread).cursor as *mut u8);
        slow::put_open(thread, &mut scratch, site, began);
        forget(thread);
        commit(thread, scratch.0 as u64);
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
    true
}

/// The site of the call that `thread` has announced, by the function alone.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
pub(crate) unsafe fn announced(thread: *const Thread) -> Option<u32> {
    // SAFETY: the caller's promise.
    unsafe { (*thread).announced.is_open.then_some((*thread).announced.brief) }
}

/// Clears the word in the head of the window.
pub(super) unsafe fn forget(thread: *mut Thread) {
    // SAFETY: the caller's thread has been recording, so it has a window.
    unsafe { (*head_counter(thread, at::ANNOUNCED)).store(0, Ordering::Release) };
}
