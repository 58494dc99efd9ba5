//! Logging events: the path of every state's beginning and end.

use core::sync::atomic::{AtomicU8, Ordering};

use marey_measure::{Runtime, TABLE, Thread, existing_thread, innermost, leave};

use super::describe::{STOPPED, UNKNOWN, kind_of, learn, settle};
use super::format::Cargo;
use super::overlap;
use super::what::{Meaning, NONE, What, find};
use crate::process::runtime_for_mpi;

/// Whether events are logged. A program need not call `MPE_Init_log`: where MPE's wrappers of MPI are
/// linked, `MPI_Init` does.
static PHASE: AtomicU8 = AtomicU8::new(LOGGING);
const LOGGING: u8 = 0;
const STOPPED_BY_PROGRAM: u8 = 1;

/// What `MPE_Initialized_logging` says: 0, 1 after `MPE_Init_log`, 2 after `MPE_Finish_log`.
static INITIALIZED: AtomicU8 = AtomicU8::new(0);

pub(super) fn initialized() -> i32 {
    INITIALIZED.load(Ordering::Relaxed).into()
}

pub(super) fn initialize() {
    INITIALIZED.store(1, Ordering::Relaxed);
    resume();
    runtime_for_mpi();
}

pub(super) fn finish() {
    INITIALIZED.store(2, Ordering::Relaxed);
    stop();
    settle();
}

pub(super) fn resume() {
    PHASE.store(LOGGING, Ordering::Relaxed);
    settle();
}

pub(super) fn stop() {
    PHASE.store(STOPPED_BY_PROGRAM, Ordering::Relaxed);
}

/// Logs an event. A state that nests takes no lock: its beginning enters a region, and its end leaves the
/// innermost one.
#[inline(always)]
pub(super) fn log(event: i32, cargo: Option<Cargo>) {
    let plain = cargo.is_none() && PHASE.load(Ordering::Relaxed) == LOGGING;
    let Some(what) = find(event).filter(|_| plain) else { return log_rarely(event, cargo) };
    let site = what.site.load(Ordering::Acquire);
    if site == NONE || what.overlaps.load(Ordering::Relaxed) {
        return log_rarely(event, cargo);
    }
    if event == what.start {
        return (TABLE.enter_here)(site);
    }
    let thread = existing_thread();
    // SAFETY: the descriptor is the calling thread's.
    unsafe {
        if innermost(thread) != Some(site) {
            return log_rarely(event, cargo);
        }
        leave(thread);
    }
}

#[cold]
#[inline(never)]
fn log_rarely(event: i32, cargo: Option<Cargo>) {
    let Some(runtime) = runtime_for_mpi() else { return };
    overlap::leave_late();
    let known = find(event).filter(|what| {
        what.meaning().is_some() && (!what.is_state() || what.site.load(Ordering::Acquire) != NONE)
    });
    let Some(what) = known.or_else(|| learn(runtime, event)) else { return log_number(event, cargo) };
    let is_end = what.is_state() && event == what.end;
    let is_stopped = PHASE.load(Ordering::Relaxed) != LOGGING;
    if is_stopped && !(is_end && is_open(what)) {
        return STOPPED.count();
    }
    // What is open ends all the same, or it would seem to go on for ever.
    let cargo = cargo.filter(|_| !is_stopped);
    let Some(meaning) = what.meaning() else { return };
    // SAFETY: the bytes are the program's, which is waiting for us.
    let put = |is_attribute| unsafe { put(runtime, meaning, cargo, is_attribute) };
    if !what.is_state() {
        put(false);
    } else if !is_end {
        if what.overlaps.load(Ordering::Relaxed) {
            overlap::begin(what);
            cargo.inspect(|_| put(false));
        } else {
            (TABLE.enter_here)(what.site.load(Ordering::Relaxed));
            cargo.inspect(|_| put(true));
        }
    } else {
        end(
            runtime,
            what,
            || {
                cargo.inspect(|_| put(true));
            },
            || {
                cargo.inspect(|_| put(false));
            },
        );
    }
}

/// Ends a state. What came with the event is a fact about the region, or an event beside the state.
fn end(runtime: &Runtime, what: &What, attribute: impl FnOnce(), beside: impl FnOnce()) {
    if what.overlaps.load(Ordering::Relaxed)
        && let Some(token) = overlap::take(what)
    {
        beside();
        return (TABLE.end)(token);
    }
    let thread = existing_thread();
    // SAFETY: the descriptor is the calling thread's.
    unsafe {
        if !thread.is_null() && !Thread::is_ready(thread) {
            marey_measure::enter_announced(thread);
        }
        if innermost(thread) == Some(what.site.load(Ordering::Relaxed)) {
            attribute();
            return leave(thread);
        }
    }
    overlap::end_outer(runtime, what, attribute);
}

/// Whether a state is open on the calling thread.
fn is_open(what: &What) -> bool {
    let (thread, site) = (existing_thread(), what.site.load(Ordering::Relaxed));
    // SAFETY: the descriptor is the calling thread's; entries of the stack below `depth` are filled.
    let is_entered = !thread.is_null()
        && unsafe { (0..(*thread).depth as usize).any(|idx| (*(*thread).stack.add(idx)).site == site) };
    is_entered || what.overlaps.load(Ordering::Relaxed) && overlap::is_begun(what)
}

/// Records the event of a meaning, or the attribute, with what came with it.
///
/// # Safety
/// The bytes of `cargo` are still there.
unsafe fn put(runtime: &Runtime, meaning: &Meaning, cargo: Option<Cargo>, is_attribute: bool) {
    let mut bytes = Vec::with_capacity(64);
    // SAFETY: the caller's promise.
    let carried = unsafe {
        match cargo {
            Some(cargo) if !meaning.fields.is_empty() => cargo.decode(&meaning.fields, &mut bytes),
            Some(cargo) => put_text(cargo, &mut bytes),
            None => 0,
        }
    };
    if carried == 0 && is_attribute {
        return;
    }
    if let Some(kind) = kind_of(runtime, meaning, carried, is_attribute) {
        let record = if is_attribute { TABLE.attribute } else { TABLE.event };
        // SAFETY: the bytes are what their length says.
        unsafe { record(kind, bytes.as_ptr(), bytes.len()) };
    }
}

/// # Safety
/// As for [`put`].
unsafe fn put_text(cargo: Cargo, bytes: &mut Vec<u8>) -> usize {
    // SAFETY: the caller's promise.
    let Some(text) = (unsafe { cargo.text() }) else { return 0 };
    marey_model::spool::put_bytes(bytes, text.as_bytes());
    Meaning::TEXT
}

/// Logs an event that nobody has described: its number must do.
#[cold]
fn log_number(event: i32, cargo: Option<Cargo>) {
    if PHASE.load(Ordering::Relaxed) != LOGGING {
        return STOPPED.count();
    }
    UNKNOWN.count();
    // SAFETY: the bytes are the program's, which is waiting for us.
    match cargo.and_then(|cargo| unsafe { cargo.text() }) {
        Some(text) => marey_measure::event!("MPE_Log_event", event = event, text = text),
        None => marey_measure::event!("MPE_Log_event", event = event),
    }
}

/// A message that the program speaks of. It is an event: the recorder's own messages are matched with
/// those of MPI, by the order in which they were sent, into which a message that MPI does not know would
/// bring disorder.
pub(super) fn log_message(is_send: bool, peer: i32, tag: i32, size: i32) {
    if PHASE.load(Ordering::Relaxed) != LOGGING {
        return STOPPED.count();
    }
    if runtime_for_mpi().is_none() {
        return;
    }
    if is_send {
        marey_measure::event!("MPE_Log_send", peer = peer, tag = tag, bytes = size);
    } else {
        marey_measure::event!("MPE_Log_receive", peer = peer, tag = tag, bytes = size);
    }
}
