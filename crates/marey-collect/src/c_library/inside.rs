//! The call of the C library that a thread is in, and which calls are recorded.
//!
//! The one idea: each call keeps what the thread was in before in its own frame; the innermost is known by thread. So it
//! is known which calls lie in another one, and which were left without returning ([`super::leaving`]). If nobody has
//! said so (a program that changes the stack pointer by itself), then a call is over when the next one comes from
//! further out, or when its return address has been overwritten.

use core::sync::atomic::{Ordering, compiler_fence};

use marey_measure::{Runtime, Thread, created_thread, existing_thread};

use crate::entry::{self, Entry};
use crate::own::{Own, leave_own, local};
use crate::process;
use crate::site::{self, What};
use crate::variable::thread_variable;

/// A call that a thread is in.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Inside {
    /// Its stack pointer, 0 for none.
    sp: usize,
    /// Its return address.
    ip: usize,
    site: u32,
    /// 1 if what it calls is its own matter.
    is_closed: u32,
    /// Where the call that this one lies in is kept.
    outer: *const Self,
}

pub(super) const SIZE: usize = 32;
const _: () = assert!(size_of::<Inside>() == SIZE);

thread_variable! {
    /// The innermost call that the calling thread is in.
    fn inside -> Inside; "marey_inside", 32 bytes, aligned 3
}

/// Whether what a call calls is recorded too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// Whatever comes then comes from a signal handler.
    Seen,
    /// It is the call's own matter.
    ItsOwn,
}

/// Which calls beneath those of MPI are recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BeneathMpi {
    /// Those that lie in one on a file.
    OnFiles,
    None,
}

/// The recorder and the calling thread, if a call at this stack pointer is to be recorded.
///
/// # Safety
/// The call is under way, of the calling thread.
pub(crate) unsafe fn recorded(sp: usize, beneath: BeneathMpi) -> Option<(&'static Runtime, *mut Thread)> {
    let runtime = process::running()?;
    // SAFETY: all are the calling thread's own.
    unsafe {
        if entry::is_inside(sp) && (beneath == BeneathMpi::None || (*entry::slot()).on_file == 0) {
            return None;
        }
        if (*inside()).is_closed != 0 && is_under_way(&*inside(), sp) == Some(true) {
            return None;
        }
        let mut thread = existing_thread();
        if thread.is_null() {
            if (*local()).hidden != 0 {
                return None;
            }
            thread = created_thread(None);
        }
        (!thread.is_null()).then_some((runtime, thread))
    }
}

/// Replaces what is known of the innermost call. A handler that comes in the middle, and may jump away, finds none.
unsafe fn keep(call: Inside) {
    // SAFETY: the calling thread's own.
    unsafe {
        let at = inside();
        let sp = &raw mut (*at).sp;
        sp.write_volatile(0);
        compiler_fence(Ordering::SeqCst);
        ((*at).ip, (*at).site, (*at).is_closed, (*at).outer) =
            (call.ip, call.site, call.is_closed, call.outer);
        compiler_fence(Ordering::SeqCst);
        sp.write_volatile(call.sp);
    }
}

/// Notes that the thread is in a call, which keeps at `outer` what it was in before.
///
/// # Safety
/// The call is under way, of the calling thread, and its frame has `outer`.
pub(crate) unsafe fn go_inside(sp: usize, site: u32, calls: Calls, outer: *mut Inside) {
    // SAFETY: the call's return address lies at its stack pointer; the rest is the thread's own.
    unsafe {
        *outer = *inside();
        let is_closed = u32::from(calls == Calls::ItsOwn);
        keep(Inside { sp, ip: *(sp as *const usize), site, is_closed, outer });
    }
}

/// The call that the thread is in is over.
///
/// # Safety
/// [`go_inside`] has filled `outer`.
pub(crate) unsafe fn come_out(outer: *const Inside) {
    // SAFETY: the caller's promise.
    unsafe { keep(*outer) };
}

/// Replaces the site of the innermost call, if it is the one at `sp`.
unsafe fn has_site(sp: usize, site: u32) {
    // SAFETY: the calling thread's own.
    unsafe {
        if (*inside()).sp == sp {
            (*inside()).site = site;
        }
    }
}

/// Whether `call` is still under way when another one comes at `sp`; `None` where stacks are not known.
unsafe fn is_under_way(call: &Inside, sp: usize) -> Option<bool> {
    // SAFETY: the sites are the calling thread's own, and what lies between two addresses of its stack can be read.
    unsafe {
        let stack = (*entry::slot()).sites.as_ref().map_or(0..0, |sites| sites.own_stack());
        let is_known = stack.contains(&call.sp) && stack.contains(&sp);
        is_known.then(|| sp < call.sp && *(call.sp as *const usize) == call.ip)
    }
}

/// Ends the region of a call that was left by nobody knows what, when the next one comes at `sp`.
///
/// # Safety
/// `thread` is the calling thread's descriptor, and a call is under way at `sp`.
pub(crate) unsafe fn end_left(thread: *mut Thread, sp: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let known = inside();
        if (*known).sp == 0 || is_under_way(&*known, sp) != Some(false) {
            return;
        }
        marey_measure::enter_announced(thread);
        if marey_measure::innermost(thread) == Some((*known).site) {
            marey_measure::leave_site(thread, (*known).site);
        }
        (*known).sp = 0;
        (*known).is_closed = 0;
    }
}

/// Ends the innermost call, which is being left without returning and whose frame is still there.
unsafe fn leave() {
    // SAFETY: the calling thread's own; the frame is there, so what lies around the call can be read.
    unsafe {
        let Inside { site, outer, .. } = *inside();
        let thread = existing_thread();
        if !thread.is_null() && process::running().is_some() {
            let _own = Own::begin();
            marey_measure::enter_announced(thread);
            // It may have got another one by that.
            let site = if (*inside()).outer == outer { (*inside()).site } else { site };
            marey_measure::leave_site(thread, site);
        }
        keep(*outer);
    }
}

/// To be called when all calls below stack pointer `target` are being left, before their frames are gone.
///
/// # Safety
/// `target` is a stack pointer of the calling thread, or of nobody.
pub(super) unsafe fn leave_below(target: usize) {
    // SAFETY: frames below the target are still there.
    unsafe {
        let stack = (*entry::slot()).sites.as_ref().map_or(0..0, |sites| sites.own_stack());
        if stack.contains(&target) {
            leave_own(target, &stack);
        }
        while stack.contains(&target) && stack.contains(&(*inside()).sp) && (*inside()).sp < target {
            leave();
        }
    }
}

/// To be called when the call at `sp` is being left.
///
/// # Safety
/// Its frame is still there, and of the calling thread.
pub(super) unsafe fn leave_at(sp: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let stack = (*entry::slot()).sites.as_ref().map_or(0..0, |sites| sites.own_stack());
        leave_own(sp, &stack);
        if (*inside()).sp == sp {
            leave();
        }
    }
}

/// The site of a call.
///
/// # Safety
/// As for [`site::find`].
pub(crate) unsafe fn site(thread: *mut Thread, what: What, entry: Entry) -> Option<u32> {
    // SAFETY: the caller's promise.
    unsafe {
        let site = site::find(thread, what, entry);
        if site.is_none() {
            marey_measure::count_unrecorded(thread);
        }
        site.map(|site| site.0)
    }
}

/// The site of an announced call, by its stack pointer, frame pointer, function ([`What::function`]), and nothing.
///
/// # Safety
/// The calling thread has announced the call with these words.
pub(crate) unsafe fn announced_site(thread: *mut Thread, [sp, bp, function, _]: [usize; 4]) -> Option<u32> {
    let _own = Own::begin();
    let here = 0_u8;
    // SAFETY: whoever announced the call is the calling thread; if its return address is where it was, its stack can
    // be read.
    unsafe {
        let inside = inside();
        let is_under_way =
            (*inside).sp == sp && (&raw const here as usize) < sp && *(sp as *const usize) == (*inside).ip;
        if !is_under_way {
            return None;
        }
        let site = site(thread, What { function: function as u32, noun: u32::MAX }, Entry { sp, bp })?;
        has_site(sp, site);
        Some(site)
    }
}
