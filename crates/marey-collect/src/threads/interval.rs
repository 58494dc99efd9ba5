//! A wait from its beginning to its end, and the guard around our own code.
//!
//! The one idea: a thread that really waits registers the address that it waits at, and only then does
//! whoever ends waits there leave a note; so what nobody waits for costs one look.
//!
//! Which functions wait, and at what, is told in the files that export them.

use core::ffi::c_int;
use core::sync::atomic::{Ordering, compiler_fence};

use marey_measure::{Cause, Kept, Mode, Runtime, Thread, created_thread, existing_thread, leave_because};
use marey_model::EdgeKind;

use super::real::Function;
use super::table::{Note, Tables, tables};
use crate::entry::{Entry, is_inside};
use crate::process;
use crate::site::{self, What};

/// What this module knows of the calling thread.
#[repr(C)]
pub(crate) struct Local {
    /// How deep the thread is in our own code, whose calls are not the program's.
    pub(crate) own: u32,
    /// Not 0 for a thread that is no location because of its waits: 1 for one of MPI's, [`ENDED`].
    pub(crate) hidden: u32,
    /// The place among the notes where the thread waits, plus 1.
    pub(super) waiting: usize,
    /// Where on the stack our own code began that it is in, which is where the C library tells what comes next.
    own_at: *const c_int,
    /// Whether the thread could be cancelled before that; [`UNKNOWN`] while that is being asked.
    cancel: c_int,
}
const _: () = assert!(size_of::<Local>() == 32);

/// [`Local::cancel`] while it is not known.
const UNKNOWN: c_int = -1;

/// [`Local::hidden`] of a thread that has ended.
pub(super) const ENDED: u32 = 2;

core::arch::global_asm!(
    ".pushsection .tbss.marey_threads,\"awT\",@nobits",
    ".hidden marey_threads",
    ".globl marey_threads",
    ".type marey_threads, @tls_object",
    ".size marey_threads, 32",
    ".p2align 3",
    "marey_threads:",
    ".zero 32",
    ".popsection",
);

/// The calling thread's own.
#[inline(always)]
pub(crate) fn local() -> *mut Local {
    let at: *mut Local;
    // SAFETY: reads the thread pointer and adds the variable's offset from it.
    unsafe {
        core::arch::asm!(
            "mov {at}, qword ptr fs:[0]",
            "add {at}, qword ptr [rip + marey_threads@GOTTPOFF]",
            at = out(reg) at,
            options(nostack, readonly, pure, preserves_flags)
        );
    }
    at
}

/// Whether a call that came in at stack pointer `sp` is the program's own: neither ours nor MPI's.
#[inline(always)]
pub(super) fn is_watched(sp: usize) -> bool {
    // SAFETY: both are the calling thread's own.
    unsafe { (*local()).own == 0 && !is_inside(sp) }
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int;
}

/// `PTHREAD_CANCEL_ENABLE` and `PTHREAD_CANCEL_DISABLE`.
const CANCELLABLE: c_int = 0;
const NOT_NOW: c_int = 1;
/// `PTHREAD_CANCEL_DEFERRED`.
const AT_POINTS: c_int = 0;

/// Our own code runs for as long as this lives: what it calls is not recorded, a cancellation
/// waits, and `errno` is what it was.
pub(crate) struct Own {
    errno: c_int,
    cancel: c_int,
}

impl Own {
    #[inline(always)]
    pub(crate) fn begin() -> Self {
        let mut cancel = UNKNOWN;
        // SAFETY: the thread's own memory.
        unsafe {
            let local = local();
            let is_outermost = (*local).own == 0;
            if is_outermost {
                ((*local).own_at, (*local).cancel) = (&raw const cancel, UNKNOWN);
                compiler_fence(Ordering::SeqCst);
            }
            (*local).own += 1;
            let errno = *libc::__errno_location();
            pthread_setcancelstate(NOT_NOW, &mut cancel);
            if is_outermost {
                (*local).cancel = cancel;
            }
            Self { errno, cancel }
        }
    }
}

impl Drop for Own {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: as in `begin`.
        unsafe {
            *libc::__errno_location() = self.errno;
            let nobody = core::ptr::null_mut();
            if self.cancel != CANCELLABLE {
                pthread_setcancelstate(self.cancel, nobody);
                (*local()).own -= 1;
                return;
            }
            // A thread that may be cancelled at any time, and that somebody has cancelled meanwhile, ends in that very
            // call; as one that was not cancelled, if it is this and not the other that it ends in (glibc 2.36).
            let mut kind = AT_POINTS;
            pthread_setcanceltype(AT_POINTS, &mut kind);
            pthread_setcancelstate(CANCELLABLE, nobody);
            compiler_fence(Ordering::SeqCst);
            (*local()).own -= 1;
            if kind != AT_POINTS {
                pthread_setcanceltype(kind, nobody);
            }
        }
    }
}

/// To be called when all that lies below stack pointer `target` is being left by a jump out of a signal handler: our own
/// code may be among it.
///
/// # Safety
/// `stack` is the calling thread's.
#[cfg(not(feature = "linked"))]
pub(crate) unsafe fn leave_own(target: usize, stack: &core::ops::Range<usize>) {
    // SAFETY: the thread's own memory.
    unsafe {
        let local = local();
        let at = (*local).own_at;
        if (*local).own == 0 || target <= at as usize || !stack.contains(&(at as usize)) {
            return;
        }
        // It is told before it is changed.
        let cancel = if (*local).cancel == UNKNOWN { at.read_volatile() } else { (*local).cancel };
        if cancel != UNKNOWN {
            pthread_setcancelstate(cancel, core::ptr::null_mut());
        }
        (*local).own = 0;
    }
}

/// A call that is being recorded.
pub(super) struct Interval {
    pub(super) runtime: &'static Runtime,
    pub(super) tables: &'static Tables,
    pub(super) thread: *mut Thread,
    /// When it began, in ticks.
    pub(super) began: u64,
}

impl Interval {
    /// Enters a function, if the thread is recorded or can be.
    ///
    /// # Safety
    /// `entry` is that of the call, which has not returned, of the calling thread; an [`Own`] lives.
    #[cold]
    pub(super) unsafe fn open(function: usize, entry: Entry) -> Option<Self> {
        let (runtime, tables) = (process::running()?, tables()?);
        let mut thread = existing_thread();
        // SAFETY: the thread's own memory, and the caller's promise.
        unsafe {
            if thread.is_null() {
                if (*local()).hidden != 0 {
                    return None;
                }
                thread = created_thread(None);
                if thread.is_null() {
                    return None;
                }
            }
            let what = What { function: Function::number(function), noun: u32::MAX };
            let Some(site) = site::find(thread, what, entry) else {
                marey_measure::count_unrecorded(thread);
                return None;
            };
            let began = runtime.ticks();
            match Thread::mode(thread, site.0) {
                Mode::Trace => marey_measure::enter(thread, site.0),
                Mode::Time => marey_measure::enter_timed(thread, site.0, Kept::Timed),
                Mode::Count => {
                    marey_measure::count(thread, site.0);
                    return None;
                }
                Mode::Off | Mode::Unknown => return None,
            }
            Some(Self { runtime, tables, thread, began })
        }
    }

    /// Leaves the function. An own deed is no cause to wait for.
    ///
    /// # Safety
    /// As for [`Self::open`].
    pub(super) unsafe fn finish(self, kind: EdgeKind, note: Option<Note>, noun: usize) {
        // SAFETY: the descriptor is the calling thread's.
        unsafe {
            let cause = note.filter(|note| note.thread != (*self.thread).serial).map(|note| Cause {
                kind,
                thread: note.thread,
                ticks: note.ticks,
                noun: noun as u64,
            });
            leave_because(self.thread, cause);
        }
    }
}

/// A recorded wait until somebody leaves a note at an address.
pub(super) struct Waiting {
    open: Interval,
    address: usize,
    here: usize,
    /// Where the thread waits if this is a handler that interrupted a wait.
    outer: usize,
}

impl Waiting {
    /// Begins to wait.
    ///
    /// # Safety
    /// `entry` is that of the call, which has not returned, of the calling thread.
    #[cold]
    pub(super) unsafe fn begin(function: usize, entry: Entry, address: usize) -> Option<Self> {
        let _own = Own::begin();
        // SAFETY: the caller's promise, and the thread's own memory.
        unsafe {
            let open = Interval::open(function, entry)?;
            let here = open.tables.notes.register(address);
            let outer = core::mem::replace(&mut (*local()).waiting, here);
            Some(Self { open, address, here, outer })
        }
    }

    /// Ends the wait.
    ///
    /// # Safety
    /// As for [`Self::begin`], on the same thread.
    #[cold]
    pub(super) unsafe fn end(self, kind: EdgeKind) {
        let _own = Own::begin();
        let Self { open, address, here, outer } = self;
        open.tables.notes.unregister(here);
        // A note from before the wait is somebody else's.
        let note = open.tables.notes.find(address).filter(|note| open.began <= note.ticks);
        // SAFETY: as above.
        unsafe {
            (*local()).waiting = outer;
            open.finish(kind, note, address);
        }
    }
}

/// Calls `wait`, which waits until somebody leaves a note at `address`, and records that.
///
/// # Safety
/// As for [`Waiting::begin`].
pub(super) unsafe fn blocked<R>(
    function: usize,
    entry: Entry,
    kind: EdgeKind,
    address: usize,
    wait: impl FnOnce() -> R,
) -> R {
    // SAFETY: the caller's promise.
    unsafe {
        let waiting = Waiting::begin(function, entry, address);
        let result = wait();
        if let Some(waiting) = waiting {
            waiting.end(kind);
        }
        result
    }
}

/// Leaves a note at `address` for those who wait there.
#[inline(always)]
pub(super) fn note(address: usize) {
    if let Some(tables) = tables()
        && tables.notes.is_awaited(address)
    {
        leave_note(tables, address);
    }
}

/// Leaves a note at `address`, which is awaited.
#[cold]
pub(super) fn leave_note(tables: &Tables, address: usize) {
    let thread = existing_thread();
    if let Some(runtime) = process::running()
        && !thread.is_null()
    {
        // SAFETY: the descriptor is the calling thread's.
        let thread = unsafe { (*thread).serial };
        tables.notes.leave(address, Note { thread, ticks: runtime.ticks() });
    }
}
