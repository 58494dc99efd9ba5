//! A wait from its beginning to its end.
//!
//! The one idea: a thread that really waits registers the address that it waits at, and only then does
//! whoever ends waits there leave a note; so what nobody waits for costs one look.
//!
//! Which functions wait, and at what, is told in the files that export them.

use marey_measure::{Cause, Kept, Mode, Runtime, Thread, created_thread, existing_thread, leave_because};
use marey_model::EdgeKind;

use super::real::Function;
use super::table::{Note, Tables, tables};
use crate::entry::{Entry, is_inside};
use crate::own::{Own, local};
use crate::process;
use crate::site::{self, What};

/// Whether a call that came in at stack pointer `sp` is the program's own: neither ours nor MPI's.
#[inline(always)]
pub(super) fn is_watched(sp: usize) -> bool {
    // SAFETY: both are the calling thread's own.
    unsafe { (*local()).own == 0 && !is_inside(sp) }
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
