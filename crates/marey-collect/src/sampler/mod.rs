//! Sampling: where each thread is whenever it has used another period of processor time.
//!
//! The one idea: the kernel counts a thread's processor time and sends it a signal when a period has passed. So a
//! thread that waits is left alone, and what it waits for is known from the calls that it waits in. The handler
//! may interrupt anything: it takes nothing from an allocator, no lock that its own thread could hold, and its
//! stack is not the program's.
//!
//! * [`timer`]: the kernel's timers. * [`handler`]: from the signal to the sample. * [`walk`]: the call stack.
//! * [`restart`]: calls that a sample would have ended early. * [`respect`]: the program's own signals.
//! * [`counters`]: what is read beside the time.
//!
//! What is deliberately absent: `perf_event`. It needs a descriptor for each thread, which a program may close with
//! all others, and get its number for a file of its own.

mod counters;
mod handler;
mod respect;
mod restart;
mod timer;
mod walk;

pub(crate) use respect::awaited;

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use marey_measure::{Counting, Lock, Runtime, SampledFrame, Samples, Thread, sys};
use marey_model::spool::Definition;

use crate::unwind::Modules;
use walk::Walker;

/// The signal; 0 while nothing is sampled.
static SIGNAL: AtomicU32 = AtomicU32::new(0);
/// Processor time between two samples, ns.
static PERIOD: AtomicU64 = AtomicU64::new(0);
/// The handler has seen code that no definition names yet.
static SAW_NEW_MODULE: AtomicBool = AtomicBool::new(false);
/// How often the program has taken the signal for itself, or could not have a timer.
static MISSED: AtomicU64 = AtomicU64::new(0);
/// What is loaded, as far as the spool knows.
static MODULES: Lock<Option<Modules>> = Lock::new(None);
/// States of threads that have ended, for those to come.
static FREE: Lock<Vec<StatePointer>> = Lock::new(Vec::new());
/// All states, by [`State::next`].
static ALL: core::sync::atomic::AtomicPtr<State> = core::sync::atomic::AtomicPtr::new(core::ptr::null_mut());

/// Bytes of the stack that the handler runs on.
const STACK: usize = 64 << 10;
/// Frames of a stack that are taken, innermost first.
const MAX_FRAMES: usize = 256;
/// Open regions that are taken, outermost first.
const MAX_OPEN: usize = 256;

/// Everything that sampling a thread needs. Its beginning is known to the handler's instructions.
#[repr(C)]
struct State {
    /// Where the handler's stack begins.
    stack_top: usize,
    /// Which thread it belongs to, see [`sys::thread_mark`]; 0 if to none. A signal that comes late finds another one.
    owner: AtomicU64,
    thread: *mut Thread,
    samples: *mut Samples,
    /// The process that made the timer: a forked child has none.
    pid: u32,
    timer: c_int,
    has_timer: AtomicBool,
    /// The program believes that it has blocked the signal.
    seems_blocked: AtomicBool,
    /// The last known number of [`crate::site::CLOSINGS`].
    closings: u64,
    /// Until when no more samples are taken, ticks: at most half of the time is ours.
    rests_until: u64,
    /// Periods that have passed meanwhile.
    passed: u32,
    next: *mut State,
    open: [u32; MAX_OPEN],
    frames: [SampledFrame; MAX_FRAMES],
    walker: Walker,
}

struct StatePointer(*mut State);

// SAFETY: whoever takes the pointer out of the list owns what it points to.
unsafe impl Send for StatePointer {}

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
    define_modules(runtime);
    let Some(signal) = handler::install() else {
        tell(runtime, "no real-time signal is free");
        return false;
    };
    SIGNAL.store(signal, Ordering::Release);
    true
}

/// More would leave the program no time.
const MAX_HERTZ: u64 = 100_000;

fn tell(runtime: &Runtime, detail: &str) {
    let trouble = Definition::Trouble {
        kind: "unsampled".to_owned(),
        count: 1,
        detail: format!("not sampled: {detail}"),
    };
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
        if unsafe { begin_thread(runtime, thread) }.is_none() && MISSED.fetch_add(1, Ordering::Relaxed) == 0 {
            tell(runtime, "threads for which the system had no timer or no memory");
        }
    });
    if let Some(state) = own_state() {
        state.seems_blocked.store(handler::unblock(), Ordering::Relaxed);
    }
}

/// # Safety
/// `thread` is the calling thread's descriptor.
unsafe fn begin_thread(runtime: &'static Runtime, thread: *mut Thread) -> Option<()> {
    let state = take_free().or_else(new_state)?;
    let period = PERIOD.load(Ordering::Relaxed);
    // SAFETY: the state is nobody else's, the descriptor the calling thread's.
    unsafe {
        (*state).samples = Samples::begin(runtime, (*thread).serial, period)?;
        (*state).thread = thread;
        (*state).pid = sys::process_id();
        let closings = crate::site::CLOSINGS.load(Ordering::Relaxed);
        if core::mem::replace(&mut (*state).closings, closings) != closings {
            (*state).walker.forget();
        }
        ((*state).rests_until, (*state).passed) = (0, 0);
        (*state).owner.store(sys::thread_mark(), Ordering::Relaxed);
        (*thread).sampler = state.cast();
        counters::thread_begins(thread, (*state).samples);
        let signal = SIGNAL.load(Ordering::Relaxed);
        if signal == 0 {
            return Some(());
        }
        let timer = timer::start(signal, state as usize, period);
        let Some(timer) = timer else {
            end_state(thread, state);
            return None;
        };
        (*state).timer = timer;
        (*state).has_timer.store(true, Ordering::Release);
    }
    Some(())
}

/// The state of the calling thread, if it is sampled.
fn own_state() -> Option<&'static State> {
    let thread = marey_measure::existing_thread();
    // SAFETY: the descriptor is the calling thread's, and states are never unmapped.
    unsafe { if thread.is_null() { None } else { (*thread).sampler.cast::<State>().as_ref() } }
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
        stop_timer(state);
        // A signal that is on its way finds that it is too late.
        (*state).owner.store(0, Ordering::Relaxed);
        (*thread).sampler = core::ptr::null_mut();
        Counting::end(thread);
        Samples::end((*state).samples);
        (*state).samples = core::ptr::null_mut();
        (*state).thread = core::ptr::null_mut();
    }
    FREE.with_or_renew(Vec::new, |free| free.push(StatePointer(state)));
}

/// # Safety
/// `state` is one of ours.
unsafe fn stop_timer(state: *mut State) {
    // SAFETY: the caller's promise; states are never unmapped.
    unsafe {
        if (*state).has_timer.swap(false, Ordering::AcqRel) && (*state).pid == sys::process_id() {
            timer::stop((*state).timer);
        }
    }
}

/// While this is not 0, no samples are taken: the handler must not even call the kernel, or look at the clock.
static BARRED: AtomicU32 = AtomicU32::new(0);

/// Takes no samples while `f` does what may take the clock away, or calls of the kernel.
pub(crate) fn paused<R>(f: impl FnOnce() -> R) -> R {
    BARRED.fetch_add(1, Ordering::SeqCst);
    let result = f();
    BARRED.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Ends all sampling in the process, for good.
pub(crate) fn stop() {
    if SIGNAL.swap(0, Ordering::AcqRel) == 0 {
        return;
    }
    // Signals are on their way.
    BARRED.fetch_add(1, Ordering::SeqCst);
    let mut state = ALL.load(Ordering::Acquire);
    while !state.is_null() {
        // SAFETY: states are never unmapped, and their chain never changes.
        unsafe {
            stop_timer(state);
            state = (*state).next;
        }
    }
}

/// To be called now and then: defines modules that samples were taken in.
pub(crate) fn settle(runtime: &Runtime) {
    if SAW_NEW_MODULE.load(Ordering::Relaxed) {
        define_modules(runtime);
    }
}

/// To be called when the process ends.
pub(crate) fn ends(runtime: &Runtime) {
    settle(runtime);
    counters::ends(runtime);
    let count = marey_measure::take_lost_samples();
    if count != 0 {
        let detail = "periods of processor time of threads that had no room for samples".to_owned();
        let trouble = Definition::Trouble { kind: "lost_samples".to_owned(), count, detail };
        runtime.define(|definitions| definitions.define(&trouble));
    }
}

fn define_modules(runtime: &Runtime) {
    SAW_NEW_MODULE.store(false, Ordering::Relaxed);
    MODULES.with_or_renew(Option::default, |modules| {
        let modules = modules.get_or_insert_default();
        crate::site::define_modules(runtime, modules);
        walk::publish(modules);
    });
}

fn take_free() -> Option<*mut State> {
    FREE.with_or_renew(Vec::new, Vec::pop).flatten().map(|free| free.0)
}

fn new_state() -> Option<*mut State> {
    let len = size_of::<State>().next_multiple_of(sys::PAGE);
    let at = sys::map_zeros(len + STACK)?;
    let state = at.cast::<State>();
    // SAFETY: the mapping is nobody else's, and zeros are a state that belongs to no thread, but for the walker.
    unsafe {
        (*state).stack_top = at as usize + len + STACK;
        Walker::begin(&raw mut (*state).walker);
        let mut first = ALL.load(Ordering::Relaxed);
        loop {
            (*state).next = first;
            match ALL.compare_exchange_weak(first, state, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(state),
                Err(other) => first = other,
            }
        }
    }
}
