//! The program's own signals, beside the one that samples come with.
//!
//! The one idea: the program is to find its signals as they would be without us. It cannot block ours, or it would not
//! be sampled; it cannot wait for it; and what resets all signals leaves ours alone, which would end the process
//! else. If it wants the signal for itself it gets it, and sampling ends.
//!
//! Deliberately absent: calls that wait for signals, but for what they wait for ([`awaited`]), and programs that do all
//! this by the bare instruction.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::SIGNAL;

/// Exported functions, each passed on to the next of its name by way of `$body`, which gets that function first.
macro_rules! exported {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty = $body:path, or $failed:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            static NEXT: AtomicUsize = AtomicUsize::new(0);
            let mut next = NEXT.load(Ordering::Relaxed);
            if next == 0 {
                // SAFETY: the name ends with a zero byte.
                next = unsafe {
                    libc::dlsym(libc::RTLD_NEXT, concat!(stringify!($name), "\0").as_ptr().cast())
                } as usize;
                NEXT.store(next, Ordering::Relaxed);
            }
            if next == 0 {
                return $failed;
            }
            // SAFETY: the next function of this name has this type, and gets the program's arguments.
            unsafe {
                let next = core::mem::transmute::<usize, unsafe extern "C" fn($($type),*) -> $result>(next);
                $body(next, $($arg),*)
            }
        }
    )*};
}

type Set = *const libc::sigset_t;
type Handler = usize;

exported! {
    sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int = handle, or -1;
    signal(signal: c_int, handler: Handler) -> Handler = handle_simply, or libc::SIG_ERR;
    sysv_signal(signal: c_int, handler: Handler) -> Handler = handle_simply, or libc::SIG_ERR;
    sigset(signal: c_int, handler: Handler) -> Handler = handle_simply, or libc::SIG_ERR;
    sigprocmask(how: c_int, new: Set, old: *mut libc::sigset_t) -> c_int = mask, or -1;
    pthread_sigmask(how: c_int, new: Set, old: *mut libc::sigset_t) -> c_int = mask, or libc::ENOSYS;
    signalfd(fd: c_int, set: Set, flags: c_int) -> c_int = descriptor, or -1;
}

/// Whether it is the signal that samples come with.
fn is_ours(signal: c_int) -> bool {
    signal != 0 && SIGNAL.load(Ordering::Relaxed) == signal.cast_unsigned()
}

unsafe fn handle(
    next: unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int,
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        if !is_ours(signal) {
            return next(signal, new, old);
        }
        let wants_it = !new.is_null() && !is_no_handler((*new).sa_sigaction);
        if let Some(old) = old.as_mut() {
            *old = core::mem::zeroed();
        }
        if !wants_it {
            return 0;
        }
        super::stop();
        next(signal, new, core::ptr::null_mut())
    }
}

unsafe fn handle_simply(
    next: unsafe extern "C" fn(c_int, Handler) -> Handler,
    signal: c_int,
    handler: Handler,
) -> Handler {
    if is_ours(signal) {
        if is_no_handler(handler) {
            return libc::SIG_DFL;
        }
        super::stop();
        // SAFETY: the program's own arguments.
        unsafe { next(signal, handler) };
        return libc::SIG_DFL;
    }
    // SAFETY: the program's own arguments.
    unsafe { next(signal, handler) }
}

fn is_no_handler(handler: Handler) -> bool {
    handler == libc::SIG_DFL || handler == libc::SIG_IGN
}

/// Calls `f` with `set`, or a copy of it that has not the signal of samples.
unsafe fn without_ours<R>(set: Set, f: impl FnOnce(Set) -> R) -> R {
    let signal = SIGNAL.load(Ordering::Relaxed);
    if set.is_null() || signal == 0 {
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
        if result != 0 {
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
