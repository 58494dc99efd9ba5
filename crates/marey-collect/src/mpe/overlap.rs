//! States that do not nest.
//!
//! MPE lets states of one thread overlap as they like; nearly all programs nest them. So a state is
//! entered as a region, and its MPI calls lie inside it. Only when it ends, and is not the innermost
//! region, is it known not to nest: others have begun inside it and go on. Then
//!
//! * it is left, and so that its time is right, what was inside it before it;
//! * what is left of each of those becomes a state that need not nest, named `… (rest)`, and ends when the
//!   program says so;
//! * from then on those are recorded as states that need not nest from their beginnings: they would be
//!   cut again.
//!
//! So exclusive times are right from the first to the last event, every state is counted once, and only
//! the first visit of a state that overlaps is in two pieces. (To begin every state as one that need not
//! nest would take all MPI calls out of their states; to keep the outer one open until the inner one ends
//! would give it time that is not its own.)
//!
//! Regions that are none of MPE's are never cut: their ends are somebody else's. If one of them lies in
//! between, the state ends late, when that region has ended and the thread logs again, and is counted.

use core::sync::atomic::{AtomicBool, Ordering};

use marey_measure::{Lock, Mode, Runtime, TABLE, Thread, existing_thread, innermost, leave};

use super::describe::{UNMATCHED, UNORDERED, rest_of};
use super::what::{What, with};

/// States that have begun and need not nest.
static BEGUN: Lock<Vec<Begun>> = Lock::new(Vec::new());
/// Beyond it states are begun that are never ended: by a program that logs no ends.
const MAX_BEGUN: usize = 1 << 16;

/// States that have ended inside other regions, by number of the thread and site.
static LATE: Lock<Vec<(u32, u32)>> = Lock::new(Vec::new());
/// Whether there are any.
static IS_LATE: AtomicBool = AtomicBool::new(false);

struct Begun {
    /// Number of the thread in its process: MPE looks for the end on the thread of the beginning.
    thread: u32,
    /// The state's, also for what is left of it.
    site: u32,
    token: u64,
}

/// Begins a state that need not nest.
pub(super) fn begin(what: &What) {
    let site = what.site.load(Ordering::Relaxed);
    // SAFETY: the site was given out by the process's recorder.
    keep(site, unsafe { (TABLE.begin)(site) });
}

fn keep(site: u32, token: u64) {
    let thread = existing_thread();
    if token == 0 || thread.is_null() {
        return;
    }
    // SAFETY: the descriptor is the calling thread's.
    let thread = unsafe { (*thread).serial };
    BEGUN.with(|begun| {
        if begun.len() < MAX_BEGUN {
            begun.push(Begun { thread, site, token });
        }
    });
}

/// Takes out the state that has begun last on this thread: what ends it.
pub(super) fn take(what: &What) -> Option<u64> {
    find(what, |begun, at| begun.remove(at).token)
}

/// Whether there is one.
pub(super) fn is_begun(what: &What) -> bool {
    find(what, |_, _| ()).is_some()
}

fn find<R>(what: &What, f: impl FnOnce(&mut Vec<Begun>, usize) -> R) -> Option<R> {
    let thread = existing_thread();
    if thread.is_null() {
        return None;
    }
    // SAFETY: the descriptor is the calling thread's.
    let thread = unsafe { (*thread).serial };
    let site = what.site.load(Ordering::Relaxed);
    BEGUN
        .with(|begun| {
            let at = begun.iter().rposition(|begun| begun.thread == thread && begun.site == site)?;
            Some(f(begun, at))
        })
        .flatten()
}

/// Leaves those states of this thread that have ended and are innermost by now.
pub(super) fn leave_late() {
    let thread = existing_thread();
    if !IS_LATE.load(Ordering::Relaxed) || thread.is_null() {
        return;
    }
    LATE.with(|late| {
        // SAFETY: the descriptor is the calling thread's.
        unsafe {
            while let Some(site) = innermost(thread)
                && let Some(at) = late.iter().position(|&entry| entry == ((*thread).serial, site))
            {
                late.remove(at);
                leave(thread);
            }
        }
        IS_LATE.store(!late.is_empty(), Ordering::Relaxed);
    });
}

/// Ends a state that is not the innermost region, if it is open at all. `cargo` is called when it is the
/// innermost.
#[cold]
pub(super) fn end_outer(runtime: &Runtime, what: &What, cargo: impl FnOnce()) {
    let thread = existing_thread();
    let site = what.site.load(Ordering::Relaxed);
    if thread.is_null() || runtime.mode(site) != Mode::Trace {
        return (TABLE.leave_here)(site);
    }
    // SAFETY: the descriptor is the calling thread's; entries of the stack below `depth` are filled.
    unsafe {
        // Amid a record that a signal interrupted, or deeper than regions are told apart, only the
        // recorder knows.
        if !Thread::is_ready(thread) || (*thread).below != 0 {
            return (TABLE.leave_here)(site);
        }
        let open: Vec<u32> =
            (0..(*thread).depth as usize).map(|idx| (*(*thread).stack.add(idx)).site).collect();
        let Some(at) = open.iter().rposition(|&open| open == site) else {
            return UNMATCHED.count();
        };
        let inner = with(|registry| {
            open[at + 1..].iter().map(|&site| registry.of_site(site)).collect::<Option<Vec<&What>>>()
        });
        let Some(inner) = inner.flatten() else {
            what.overlaps.store(true, Ordering::Relaxed);
            LATE.with(|late| late.push(((*thread).serial, site)));
            IS_LATE.store(true, Ordering::Relaxed);
            return UNORDERED.count();
        };
        for _ in &inner {
            leave(thread);
        }
        cargo();
        leave(thread);
        for state in inner {
            state.overlaps.store(true, Ordering::Relaxed);
            keep(state.site.load(Ordering::Relaxed), (TABLE.begin)(rest_of(runtime, state)));
        }
    }
}
