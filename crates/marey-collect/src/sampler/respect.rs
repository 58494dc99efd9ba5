//! The program's own signals, beside the one that samples come with.
//!
//! The one idea: the program is to find its signals as they would be without us. Where it names all signals, ours is
//! left out: it cannot block it, or it would not be sampled; it cannot wait for it; and what resets all signals leaves
//! it alone, which would end the process else. If it wants the very signal for itself, to handle, block or await it, it
//! gets it, and sampling ends.
//!
//! Deliberately absent: calls that wait for signals, but for what they wait for ([`awaited`]), and programs that do all
//! this by the bare instruction.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use super::handlers::Exchange;
use super::{SIGNAL, Stopped, stop};
use crate::next::Next;

/// Exported functions, each passed on to the next of its name by way of `$body`, which gets that function first.
macro_rules! exported {
    ($($name:ident $next:ident ($($arg:ident: $type:ty),*) -> $result:ty = $body:path, or $failed:expr;)*) => {
        $(
            static $next: Next = Next::of(concat!(stringify!($name), "\0"));

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $type),*) -> $result {
                let next = $next.address();
                if next == 0 {
                    return $failed;
                }
                // SAFETY: the next function of this name has this type, and gets the program's arguments.
                unsafe {
                    let next = core::mem::transmute::<usize, unsafe extern "C" fn($($type),*) -> $result>(next);
                    $body(next, $($arg),*)
                }
            }
        )*

        /// Finds them all: handlers of signals may call them, in which nothing can be looked up.
        pub(crate) fn resolve_all() {
            $($next.find();)*
        }
    };
}

type Set = *const libc::sigset_t;
type Handler = usize;

exported! {
    sigaction NEXT_SIGACTION (signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int = handle, or -1;
    signal NEXT_SIGNAL (signal: c_int, handler: Handler) -> Handler = handle_simply, or libc::SIG_ERR;
    sysv_signal NEXT_SYSV_SIGNAL (signal: c_int, handler: Handler) -> Handler = handle_simply, or libc::SIG_ERR;
    sigset NEXT_SIGSET (signal: c_int, handler: Handler) -> Handler = handle_simply, or libc::SIG_ERR;
    sigprocmask NEXT_SIGPROCMASK (how: c_int, new: Set, old: *mut libc::sigset_t) -> c_int = mask, or -1;
    pthread_sigmask NEXT_PTHREAD_SIGMASK (how: c_int, new: Set, old: *mut libc::sigset_t) -> c_int = mask, or libc::ENOSYS;
    signalfd NEXT_SIGNALFD (fd: c_int, set: Set, flags: c_int) -> c_int = descriptor, or -1;
}

/// The program ignores the signal that samples come with.
pub(super) static IGNORES: AtomicBool = AtomicBool::new(false);

/// Whether it is the signal that samples come with.
fn is_ours(signal: c_int) -> bool {
    signal != 0 && SIGNAL.load(Ordering::Relaxed) == signal.cast_unsigned()
}

/// The program says what is to handle the signal that samples come with, or only asks (`None`). What it was before, and
/// whether the kernel is to be told, for it is the program's from now on.
fn exchange_ours(handler: Option<Handler>) -> (Handler, bool) {
    let before = if IGNORES.load(Ordering::Relaxed) { libc::SIG_IGN } else { libc::SIG_DFL };
    match handler {
        None => (before, false),
        Some(handler) if is_no_handler(handler) => {
            IGNORES.store(handler == libc::SIG_IGN, Ordering::Relaxed);
            (before, false)
        }
        Some(_) => {
            stop(Stopped::Taken);
            (before, true)
        }
    }
}

/// `sigaction`.
type Handle = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;

unsafe fn handle(
    next: Handle,
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        if !is_ours(signal) {
            return handle_other(next, signal, new, old);
        }
        let (before, is_told) = exchange_ours(new.as_ref().map(|new| new.sa_sigaction));
        // It may be the same memory as what is to come.
        let result = if is_told { next(signal, new, core::ptr::null_mut()) } else { 0 };
        if let Some(old) = old.as_mut() {
            *old = core::mem::zeroed();
            old.sa_sigaction = before;
        }
        result
    }
}

/// A signal that samples do not come with.
unsafe fn handle_other(
    next: Handle,
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let exchange = Exchange::begin(signal, new.as_ref().map(|new| new.sa_sigaction));
        let mut copy = core::mem::MaybeUninit::uninit();
        let new = match new.as_ref() {
            None => new,
            Some(new) => copy.write(libc::sigaction { sa_sigaction: exchange.handler, ..*new }),
        };
        let result = next(signal, new, old);
        if result != 0 {
            exchange.take_back();
        } else if let Some(old) = old.as_mut() {
            old.sa_sigaction = exchange.before(old.sa_sigaction);
        }
        result
    }
}

unsafe fn handle_simply(
    next: unsafe extern "C" fn(c_int, Handler) -> Handler,
    signal: c_int,
    handler: Handler,
) -> Handler {
    if is_ours(signal) {
        let (before, is_told) = exchange_ours(Some(handler));
        if is_told {
            // SAFETY: the program's own arguments.
            unsafe { next(signal, handler) };
        }
        return before;
    }
    let exchange = Exchange::begin(signal, Some(handler));
    // SAFETY: the program's own arguments.
    let before = unsafe { next(signal, exchange.handler) };
    if before == libc::SIG_ERR {
        exchange.take_back();
    }
    exchange.before(before)
}

fn is_no_handler(handler: Handler) -> bool {
    handler == libc::SIG_DFL || handler == libc::SIG_IGN
}

/// Whether a set names the signal of samples for its own sake, and not because it names all, or most, of those that have
/// no meaning of their own.
unsafe fn means_ours(set: Set, signal: u32) -> bool {
    /// The first of these, and half of their number.
    const FIRST: u32 = 34;
    const HALF: u32 = (64 - FIRST) / 2;
    // SAFETY: the program's own set, of which the first word has the first 64 signals.
    let signals = unsafe { set.cast::<u64>().read() };
    signals >> (signal - 1) & 1 != 0 && (signals >> (FIRST - 1)).count_ones() < HALF
}

/// Ends sampling, for the program uses the signal: it blocks it or waits for it. The calling thread then has it blocked
/// as it believes.
#[cold]
fn give_up(signal: u32) {
    let state = super::own_state();
    stop(Stopped::Taken);
    if state.is_some_and(|state| state.seems_blocked.swap(false, Ordering::Relaxed)) {
        super::handler::block(signal);
    }
}

/// Calls `f` with `set`, or a copy of it that has not the signal of samples.
unsafe fn without_ours<R>(set: Set, f: impl FnOnce(Set) -> R) -> R {
    let signal = SIGNAL.load(Ordering::Relaxed);
    if set.is_null() || signal == 0 {
        return f(set);
    }
    // SAFETY: the program's own set.
    if unsafe { means_ours(set, signal) } {
        give_up(signal);
        return f(set);
    }
    // SAFETY: the program's own set; of more than 64 signals the kernel knows nothing.
    let mut copy = unsafe { set.read() };
    // SAFETY: the first word of a set has the first 64 signals.
    unsafe { *(&raw mut copy).cast::<u64>() &= !(1 << (signal - 1)) };
    f(&raw const copy)
}

/// What a call that waits for signals is to be given in place of `set`: the same, or a copy at `room` that has not the
/// signal of samples. (Such calls are those of [`crate::system`].)
///
/// # Safety
/// `set` is the program's, or null, and `room` is there until the call is over.
pub(crate) unsafe fn awaited(set: Set, room: *mut libc::sigset_t) -> Set {
    // SAFETY: the caller's promise.
    unsafe {
        without_ours(set, |awaited| {
            if awaited == set {
                return set;
            }
            *room = *awaited;
            room.cast_const()
        })
    }
}

unsafe fn mask(
    next: unsafe extern "C" fn(c_int, Set, *mut libc::sigset_t) -> c_int,
    how: c_int,
    new: Set,
    old: *mut libc::sigset_t,
) -> c_int {
    let signal = SIGNAL.load(Ordering::Relaxed);
    let state = super::own_state().filter(|_| signal != 0);
    // SAFETY: the program's own arguments. The first word of a set has the first 64 signals.
    unsafe {
        let Some(state) = state else { return next(how, new, old) };
        let ours = 1_u64 << (signal - 1);
        // It may be the same memory as what was there before goes to.
        let names_it = !new.is_null() && *new.cast::<u64>() & ours != 0;
        let is_set = !new.is_null();
        let result = if how == libc::SIG_UNBLOCK {
            next(how, new, old)
        } else {
            without_ours(new, |new| next(how, new, old))
        };
        if result != 0 || SIGNAL.load(Ordering::Relaxed) == 0 {
            return result;
        }
        let seemed = state.seems_blocked.load(Ordering::Relaxed);
        if seemed && !old.is_null() {
            *old.cast::<u64>() |= ours;
        }
        let seems = match how {
            libc::SIG_BLOCK => seemed || names_it,
            libc::SIG_UNBLOCK => seemed && !names_it,
            _ => names_it,
        };
        if is_set {
            state.seems_blocked.store(seems, Ordering::Relaxed);
        }
        result
    }
}

unsafe fn descriptor(
    next: unsafe extern "C" fn(c_int, Set, c_int) -> c_int,
    fd: c_int,
    set: Set,
    flags: c_int,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { without_ours(set, |set| next(fd, set, flags)) }
}
