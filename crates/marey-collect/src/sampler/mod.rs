//! Sampling: where each thread is whenever it has used another period of processor time.
//!
//! The one idea: the kernel counts a thread's processor time and sends it a signal when a period has passed. So a
//! thread that waits is left alone, and what it waits for is known from the calls that it waits in. The handler
//! may interrupt anything: it takes nothing from an allocator, no lock that its own thread could hold, and its
//! stack is not the program's.
//!
//! * [`timer`]: the kernel's timers. * [`handler`]: from the signal to the sample. * [`walk`]: the call stack.
//! * [`restart`]: calls that a sample would have ended early. * [`respect`]: the program's own signals.
//! * [`handlers`]: what the program's handlers interrupt.
//! * [`counters`]: what is read beside the time. * [`state`]: what each thread has. * [`stop`]: when there are none.
//!
//! What is deliberately absent: `perf_event`, though it would be exact at any rate. Its signal comes in the middle of a call
//! of the kernel: reads and writes of megabytes then end with less than they would (`dd` loses data), and calls that
//! wait end with EINTR wherever their number is not found. The signal of a timer of processor time comes on the way back to
//! the program, from Linux 5.9 on. It would also need a descriptor for each thread, if only for a moment, which a child may
//! inherit.

mod counters;
mod handler;
mod handlers;
mod respect;
mod restart;
mod state;
mod stop;
mod timer;
mod walk;

pub(crate) use handlers::forget as goes_on;
pub(crate) use respect::{awaited, resolve_all};
pub(crate) use stop::{Stopped, paused, stop};

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use marey_measure::{Counting, Lock, Runtime, Samples, Thread, sys};
use marey_model::spool::Definition;

use crate::c_library::ours;
use crate::unwind::Modules;
use state::{FREE, Shared, State, StatePointer, new_state, take_free};
use stop::{BARRED, STOPPED, UNTOLD, is_paused, stop_timer, tell_stopped};

/// The signal; 0 while nothing is sampled.
static SIGNAL: AtomicU32 = AtomicU32::new(0);
/// Processor time between two samples, ns.
static PERIOD: AtomicU64 = AtomicU64::new(0);
/// The handler has seen code that no definition names yet.
static SAW_NEW_MODULE: AtomicBool = AtomicBool::new(false);
/// Threads that could not be sampled.
static MISSED: AtomicU64 = AtomicU64::new(0);
/// What is loaded, as far as the spool knows.
static MODULES: Lock<Option<Modules>> = Lock::new(None);

/// To be called when the process begins to be recorded, before its threads do: from then on they are sampled, if the
/// environment says how often.
pub(crate) fn begin(runtime: &'static Runtime) {
    if runtime.config().mode != marey_measure::Mode::Trace {
        return;
    }
    let is_counting = counters::begin(runtime);
    let is_sampling = begin_sampling(runtime);
    if is_counting || is_sampling {
        marey_measure::tell_begins(thread_begins);
    }
}

/// Whether threads are to be sampled.
fn begin_sampling(runtime: &'static Runtime) -> bool {
    let hertz = std::env::var("MAREY_SAMPLE").ok().and_then(|text| text.parse::<u64>().ok());
    let Some(hertz) = hertz.filter(|hertz| (1..=MAX_HERTZ).contains(hertz)) else { return false };
    PERIOD.store(1_000_000_000 / hertz, Ordering::Relaxed);
    if std::env::var_os("MAREY_SAMPLE_BY_THE_WALL").is_some() {
        timer::go_by_the_wall();
    }
    walk::prepare();
    ours::find();
    define_modules(runtime);
    let Some(signal) = handler::install() else {
        tell(runtime, 1, "no samples: no real-time signal is free");
        return false;
    };
    SIGNAL.store(signal, Ordering::Release);
    true
}

/// More would leave the program no time.
const MAX_HERTZ: u64 = 100_000;

fn tell(runtime: &Runtime, count: u64, detail: &str) {
    let trouble = Definition::Trouble { kind: "unsampled".to_owned(), count, detail: detail.to_owned() };
    runtime.define(|definitions| definitions.define(&trouble));
}

/// Begins to sample the calling thread.
extern "C" fn thread_begins(thread: *mut Thread) {
    if SIGNAL.load(Ordering::Relaxed) == 0 && !counters::is_on() {
        return;
    }
    sys::undisturbed(|| {
        // SAFETY: the descriptor is the calling thread's.
        let Some(runtime) = (unsafe { Thread::runtime(thread) }) else { return };
        if SAW_NEW_MODULE.load(Ordering::Relaxed) {
            define_modules(runtime);
        }
        // SAFETY: as above.
        if unsafe { begin_thread(runtime, thread) }.is_none() {
            MISSED.fetch_add(1, Ordering::Relaxed);
        }
    });
    if let Some(state) = own_state() {
        state.seems_blocked.store(handler::unblock(), Ordering::Relaxed);
    }
}

/// To be called in a forked child before it records anything: what another thread of the parent's was at nobody ends.
pub(crate) fn forked() {
    BARRED.fetch_and(STOPPED, Ordering::Relaxed);
}

/// # Safety
/// `thread` is the calling thread's descriptor.
unsafe fn begin_thread(runtime: &'static Runtime, thread: *mut Thread) -> Option<()> {
    let state = take_free().or_else(new_state)?;
    let period = PERIOD.load(Ordering::Relaxed);
    // SAFETY: the state is nobody else's, the descriptor the calling thread's.
    unsafe {
        let (shared, own) = (&(*state).shared, &mut (*state).own);
        let Some(samples) = Samples::begin(runtime, (*thread).serial, period) else {
            FREE.with_or_renew(Vec::new, |free| free.push(StatePointer(state)));
            return None;
        };
        (own.samples, own.thread) = (samples, thread);
        shared.pid.store(sys::process_id(), Ordering::Relaxed);
        shared.seems_blocked.store(false, Ordering::Relaxed);
        let closings = crate::site::CLOSINGS.load(Ordering::Relaxed);
        if core::mem::replace(&mut own.closings, closings) != closings {
            own.walker.forget();
        }
        (own.rests_until, own.passed) = (0, 0);
        (own.told, own.ahead, own.timer) = (0, 0, None);
        handler::own().store(state, Ordering::Relaxed);
        (*thread).sampler = state.cast();
        counters::thread_begins(thread, samples);
        let signal = SIGNAL.load(Ordering::Relaxed);
        if signal == 0 {
            return Some(());
        }
        handlers::adopt();
        let Some(timer) = timer::start(signal, state as usize, period) else {
            end_state(thread, state);
            return None;
        };
        own.timer = Some(timer);
        shared.timer.store(timer.id, Ordering::Relaxed);
        shared.has_timer.store(true, Ordering::Release);
    }
    Some(())
}

/// The state of the calling thread, if it is sampled.
fn own_state() -> Option<&'static Shared> {
    let state = handler::own().load(Ordering::Relaxed);
    // SAFETY: states are never unmapped, and what they share is only read.
    unsafe { if state.is_null() { None } else { Some(&(*state).shared) } }
}

/// Ends the sampling of the calling thread, before its descriptor is no more.
pub(crate) fn thread_ends() {
    let thread = marey_measure::existing_thread();
    // SAFETY: the descriptor is the calling thread's, and so is the state.
    unsafe {
        if !thread.is_null() && !(*thread).sampler.is_null() {
            sys::undisturbed(|| end_state(thread, (*thread).sampler.cast()));
        }
    }
}

/// # Safety
/// The state is the calling thread's, whose descriptor `thread` is.
unsafe fn end_state(thread: *mut Thread, state: *mut State) {
    // SAFETY: the caller's promise.
    unsafe {
        account_rest(state);
        stop_timer(state);
        // A signal that is on its way finds that it is too late.
        handler::own().store(core::ptr::null_mut(), Ordering::Relaxed);
        (*thread).sampler = core::ptr::null_mut();
        Counting::end(thread);
        let own = &mut (*state).own;
        Samples::end(own.samples);
        (own.samples, own.thread) = (core::ptr::null_mut(), core::ptr::null_mut());
    }
    FREE.with_or_renew(Vec::new, |free| free.push(StatePointer(state)));
}

/// Counts the periods that no signal has told of, where the calling thread was seen last: on a busy machine those of
/// a short thread can be most that it had. Signals that come after all bring nothing new.
///
/// # Safety
/// The state is the calling thread's, and signals are blocked.
unsafe fn account_rest(state: *mut State) {
    // SAFETY: the caller's promise; the samples are the thread's until it ends.
    unsafe {
        let (shared, own) = (&(*state).shared, &mut (*state).own);
        let is_ours = shared.pid.load(Ordering::Relaxed) == sys::process_id();
        if !is_ours || !shared.has_timer.load(Ordering::Acquire) {
            return;
        }
        let (Some(timer), Some(samples)) = (own.timer, own.samples.as_mut()) else { return };
        let (Some(due), Some(runtime)) = (timer.due(), marey_measure::current_runtime()) else { return };
        let untold = due.saturating_sub(own.told);
        let Some(weight) = u32::try_from(untold).ok().filter(|&weight| weight != 0) else { return };
        samples.add_unseen(weight, runtime.ticks());
        own.told = due;
        own.ahead += untold.saturating_sub(own.passed.into());
        own.passed = 0;
    }
}

/// To be called now and then: defines modules that samples were taken in.
pub(crate) fn settle(runtime: &Runtime) {
    if UNTOLD.load(Ordering::Relaxed) != 0 {
        tell_stopped(runtime);
    }
    if SAW_NEW_MODULE.load(Ordering::Relaxed) {
        define_modules(runtime);
    }
}

/// To be called when the process ends.
pub(crate) fn ends(runtime: &Runtime) {
    settle(runtime);
    let thread = marey_measure::existing_thread();
    // SAFETY: the descriptor is the calling thread's, and so is the state.
    unsafe {
        if !thread.is_null() && !(*thread).sampler.is_null() {
            sys::undisturbed(|| account_rest((*thread).sampler.cast()));
        }
    }
    counters::ends(runtime);
    let missed = MISSED.swap(0, Ordering::Relaxed);
    if missed != 0 {
        tell(runtime, missed, "threads without samples: the system had no timer or no memory");
    }
    let count = marey_measure::take_lost_samples();
    if count != 0 {
        let detail = "periods of processor time of threads that had no room for samples".to_owned();
        let trouble = Definition::Trouble { kind: "lost_samples".to_owned(), count, detail };
        runtime.define(|definitions| definitions.define(&trouble));
    }
}

/// Nobody waits here for the loader with the table locked: another thread that has the loader's lock may want it. If two
/// come at a time, one begins anew.
fn define_modules(runtime: &Runtime) {
    SAW_NEW_MODULE.store(false, Ordering::Relaxed);
    let mut modules = MODULES.with_or_renew(|| None, Option::take).flatten().unwrap_or_default();
    if crate::site::define_modules(runtime, &mut modules) || !walk::is_published() {
        walk::publish(&modules);
    }
    MODULES.with_or_renew(|| None, |kept| *kept = Some(modules));
}
