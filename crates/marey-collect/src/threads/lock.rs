//! Mutexes and read-write locks.
//!
//! A lock is tried first. If it was free, that is all: one more in the thread's count. Whatever
//! else the try says is settled by the real call, for only it knows what the lock's kind makes of
//! it (a try on an error-checking mutex of our own is merely busy, a lock is a deadlock).

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use marey_measure::{count_free_lock, existing_thread};
use marey_model::EdgeKind;

use super::interval::{blocked, is_watched, leave_note};
use super::real::{Function, call, export};
use super::table::{Tables, tables};
use crate::entry::Entry;

/// Where the deadline stands among the arguments, and whether the clock stands before it.
mod deadline {
    pub(super) const NONE: usize = 0;
    pub(super) const SECOND: usize = 1;
    pub(super) const AFTER_CLOCK: usize = 2;
}

macro_rules! locks {
    ($($name:ident tries $try:ident, deadline $deadline:ident;)*) => {
        export! {$(
            $name = acquire::<{ Function::$name as usize }, { Function::$try as usize }, { deadline::$deadline }>;
        )*}
    };
}

locks! {
    pthread_mutex_lock tries pthread_mutex_trylock, deadline NONE;
    pthread_mutex_timedlock tries pthread_mutex_trylock, deadline SECOND;
    pthread_mutex_clocklock tries pthread_mutex_trylock, deadline AFTER_CLOCK;
    pthread_rwlock_rdlock tries pthread_rwlock_tryrdlock, deadline NONE;
    pthread_rwlock_timedrdlock tries pthread_rwlock_tryrdlock, deadline SECOND;
    pthread_rwlock_clockrdlock tries pthread_rwlock_tryrdlock, deadline AFTER_CLOCK;
    pthread_rwlock_wrlock tries pthread_rwlock_trywrlock, deadline NONE;
    pthread_rwlock_timedwrlock tries pthread_rwlock_trywrlock, deadline SECOND;
    pthread_rwlock_clockwrlock tries pthread_rwlock_trywrlock, deadline AFTER_CLOCK;
    mtx_lock tries mtx_trylock, deadline NONE;
    mtx_timedlock tries mtx_trylock, deadline SECOND;
}

export! {
    pthread_mutex_unlock = release::<{ Function::pthread_mutex_unlock as usize }>;
    pthread_rwlock_unlock = release::<{ Function::pthread_rwlock_unlock as usize }>;
    mtx_unlock = release::<{ Function::mtx_unlock as usize }>;
}

/// `thrd_busy`.
const THRD_BUSY: c_int = 1;

unsafe extern "C-unwind" fn acquire<const LOCK: usize, const TRY: usize, const DEADLINE: usize>(
    lock: usize,
    b: usize,
    c: usize,
    d: usize,
    sp: usize,
    bp: usize,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        // MPI locks and unlocks in many of its calls: what is not watched is passed on first of all.
        if tables().is_none() || !is_watched(sp) || is_odd::<DEADLINE>([lock, b, c, d]) {
            return call(LOCK, [lock, b, c, d]);
        }
        acquire_watched::<LOCK, TRY>(lock, b, c, d, sp, bp)
    }
}

#[inline(never)]
unsafe extern "C-unwind" fn acquire_watched<const LOCK: usize, const TRY: usize>(
    lock: usize,
    b: usize,
    c: usize,
    d: usize,
    sp: usize,
    bp: usize,
) -> c_int {
    let args = [lock, b, c, d];
    // SAFETY: the program's own arguments.
    unsafe {
        if TRY == Function::pthread_mutex_trylock as usize && is_special(lock) {
            // A try of a robust mutex that cannot be recovered takes it for ever (glibc).
            if is_held(lock) {
                return blocked(LOCK, Entry { sp, bp }, EdgeKind::LockHandOver, lock, || call(LOCK, args));
            }
            let result = call(LOCK, args);
            if result == 0 || result == libc::EOWNERDEAD {
                count();
            }
            return result;
        }
        let tried = call(TRY, [lock, 0, 0, 0]);
        if tried == 0 || tried == libc::EOWNERDEAD {
            count();
            return tried;
        }
        let busy = if TRY == Function::mtx_trylock as usize { THRD_BUSY } else { libc::EBUSY };
        if tried != busy {
            return call(LOCK, args);
        }
        blocked(LOCK, Entry { sp, bp }, EdgeKind::LockHandOver, lock, || call(LOCK, args))
    }
}

#[inline(always)]
fn count() {
    let thread = existing_thread();
    if !thread.is_null() {
        // SAFETY: the descriptor is the calling thread's.
        unsafe { count_free_lock(thread) };
    }
}

/// Offset of a mutex's kind.
const KIND: usize = 16;

/// A robust mutex, or one with a priority protocol. The place of the kind is part of glibc's ABI,
/// since programs contain initialised mutexes.
#[inline(always)]
unsafe fn is_special(mutex: usize) -> bool {
    const ROBUST_OR_PROTOCOL: u32 = 0x70;
    // SAFETY: the program gives a mutex.
    unsafe { (*((mutex + KIND) as *const AtomicU32)).load(Ordering::Relaxed) & ROBUST_OR_PROTOCOL != 0 }
}

/// Whether somebody holds a mutex that [`is_special`].
#[cold]
unsafe fn is_held(mutex: usize) -> bool {
    // The first word holds the owner's thread id; under a priority ceiling that stands in its high
    // bits, and the low ones are the lock.
    const CEILING: u32 = 0x40;
    // SAFETY: as above.
    unsafe {
        let word = (*(mutex as *const AtomicU32)).load(Ordering::Relaxed);
        let kind = (*((mutex + KIND) as *const AtomicU32)).load(Ordering::Relaxed);
        word & (if kind & CEILING != 0 { 0x7_ffff } else { 0x3fff_ffff }) != 0
    }
}

/// A deadline that the real call may refuse even where the lock is free.
#[inline(always)]
unsafe fn is_odd<const DEADLINE: usize>(args: [usize; 4]) -> bool {
    if DEADLINE == deadline::NONE {
        return false;
    }
    let clock = args[1] as c_int;
    if DEADLINE == deadline::AFTER_CLOCK && clock != libc::CLOCK_REALTIME && clock != libc::CLOCK_MONOTONIC {
        return true;
    }
    let time = args[DEADLINE] as *const libc::timespec;
    // SAFETY: the program gives a readable deadline.
    time.is_null() || !(0..1_000_000_000).contains(&unsafe { (*time).tv_nsec })
}

unsafe extern "C-unwind" fn release<const UNLOCK: usize>(lock: usize, b: usize, c: usize, d: usize) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        match tables() {
            Some(tables) if tables.notes.is_awaited(lock) => {
                release_awaited::<UNLOCK>(tables, [lock, b, c, d])
            }
            _ => call(UNLOCK, [lock, b, c, d]),
        }
    }
}

#[cold]
unsafe fn release_awaited<const UNLOCK: usize>(tables: &Tables, args: [usize; 4]) -> c_int {
    // Before the real call: afterwards another thread may be on its way already.
    leave_note(tables, args[0]);
    // SAFETY: the program's own arguments.
    unsafe { call(UNLOCK, args) }
}
