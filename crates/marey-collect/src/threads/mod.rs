//! POSIX threads, C11 threads and the futex beneath them: who waited for whom.
//!
//! The one idea: a lock that is free costs a try and a count; only what really waits becomes an
//! interval, and its end carries an edge from the thread that ended the wait. To know that thread,
//! whoever gives something back leaves a note — but only where somebody is waiting.
//!
//! * [`real`]: whom a call is passed on to. * [`table`]: notes, barriers, threads.
//! * [`interval`]: a wait from its beginning to its end.
//! * [`create`]: threads from creation to join. * [`lock`], [`wait`], [`futex`]: the rest.
//!
//! What is deliberately absent: spin locks (nothing tells a wait from work), successful tries, and
//! everything that happens inside MPI.

mod create;
mod futex;
mod interval;
mod lock;
mod real;
mod table;
mod wait;

pub(crate) use real::FUNCTIONS;
#[cfg(not(feature = "linked"))]
pub(crate) use table::{Note, Notes};

use core::sync::atomic::Ordering;

use marey_measure::{Runtime, existing_thread};

use crate::own;

/// To be called when the process begins to be recorded: from then on threads are watched.
pub(crate) fn begin() {
    if crate::process::is_off(c"MAREY_THREADS") {
        return;
    }
    real::resolve_all();
    table::open();
}

/// To be called on a thread that has got a descriptor, outside of any lock of the program's.
pub(crate) fn prime(runtime: &'static Runtime) {
    crate::site::of_thread(runtime).know_stack();
}

/// Whether the calling thread is one of MPI's, and no location.
#[cfg(not(feature = "linked"))]
pub(crate) fn is_hidden() -> bool {
    // SAFETY: the thread's own memory.
    unsafe { (*own::local()).hidden != 0 }
}

/// Whether the calling thread has ended, but for destructors of others.
#[cfg(not(feature = "linked"))]
pub(crate) fn has_ended() -> bool {
    // SAFETY: the thread's own memory.
    unsafe { (*own::local()).hidden == own::ENDED }
}

/// To be called when a thread ends, before its descriptor is no more.
pub(crate) fn ended() {
    let local = own::local();
    // Later destructors must not make the thread a location anew.
    // SAFETY: the calling thread's own.
    unsafe { (*local).hidden = own::ENDED };
    let Some(tables) = table::tables() else { return };
    let thread = existing_thread();
    // SAFETY: both are the calling thread's own.
    unsafe {
        if let Some(runtime) = crate::process::running()
            && !thread.is_null()
        {
            tables.births.of((*thread).serial, |birth| birth.end.store(runtime.ticks(), Ordering::Release));
        }
        // A wait that was cancelled never came back to take itself off the list.
        tables.notes.unregister((*local).waiting);
        (*local).waiting = 0;
    }
}
