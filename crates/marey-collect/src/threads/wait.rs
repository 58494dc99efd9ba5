//! Conditions, semaphores and barriers.
//!
//! The one idea: the first two are waits at an address that a signal or a post leaves a note at; at a
//! barrier everybody is told who came last. A wait on a condition gives its mutex back and so leaves a
//! note there too.
//!
//! A semaphore that can be had at once is no wait and is not recorded.

use core::ffi::c_int;

use marey_model::EdgeKind;

use super::interval::{Interval, Waiting, is_watched, note};
use super::real::{Frame, Function, address, call, export, export_cancellable};
use super::table::{Note, tables};
use crate::entry::Entry;
use crate::own::Own;

export_cancellable! {
    pthread_cond_wait = before_condition::<{ Function::pthread_cond_wait as usize }>, after;
    pthread_cond_timedwait = before_condition::<{ Function::pthread_cond_timedwait as usize }>, after;
    pthread_cond_clockwait = before_condition::<{ Function::pthread_cond_clockwait as usize }>, after;
    cnd_wait = before_condition::<{ Function::cnd_wait as usize }>, after;
    cnd_timedwait = before_condition::<{ Function::cnd_timedwait as usize }>, after;
    sem_wait = before_semaphore::<{ Function::sem_wait as usize }>, after;
    sem_timedwait = before_semaphore::<{ Function::sem_timedwait as usize }>, after;
    sem_clockwait = before_semaphore::<{ Function::sem_clockwait as usize }>, after;
}

export! {
    pthread_cond_signal = signal::<{ Function::pthread_cond_signal as usize }>;
    pthread_cond_broadcast = signal::<{ Function::pthread_cond_broadcast as usize }>;
    cnd_signal = signal::<{ Function::cnd_signal as usize }>;
    cnd_broadcast = signal::<{ Function::cnd_broadcast as usize }>;
    sem_post = signal::<{ Function::sem_post as usize }>;
    pthread_barrier_init = barrier_init;
    pthread_barrier_destroy = barrier_destroy;
    pthread_barrier_wait = barrier_wait;
}

/// What is pending during a wait.
type Pending = Option<Waiting>;
const _: () = assert!(size_of::<Pending>() <= 64);

unsafe fn begin(frame: *mut Frame, function: usize, is_wait: bool) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        let Frame { sp, bp, args, .. } = *frame;
        let pending = if is_wait && tables().is_some() && is_watched(sp) {
            Waiting::begin(function, Entry { sp, bp }, args[0])
        } else {
            None
        };
        (*frame).pending.as_mut_ptr().cast::<Pending>().write(pending);
    }
    address(function)
}

unsafe extern "C" fn before_condition<const WAIT: usize>(frame: *mut Frame) -> usize {
    // SAFETY: the frame is that of the call.
    unsafe {
        let address = begin(frame, WAIT, true);
        // The wait gives the mutex back.
        note((*frame).args[1]);
        address
    }
}

/// A semaphore that can be had at once is no wait.
unsafe extern "C" fn before_semaphore<const WAIT: usize>(frame: *mut Frame) -> usize {
    let mut value = 0;
    // SAFETY: the frame is that of the call; its first argument is a semaphore.
    unsafe {
        let free = libc::sem_getvalue((*frame).args[0] as *mut _, &mut value) == 0 && 0 < value;
        begin(frame, WAIT, !free)
    }
}

unsafe extern "C" fn after(frame: *mut Frame) {
    // SAFETY: `begin` has filled it.
    unsafe {
        if let Some(waiting) = (*frame).pending.as_ptr().cast::<Pending>().read() {
            waiting.end(EdgeKind::Wake);
        }
    }
}

unsafe extern "C-unwind" fn signal<const SIGNAL: usize>(
    address: usize,
    b: usize,
    c: usize,
    d: usize,
) -> c_int {
    note(address);
    // SAFETY: the program's own arguments.
    unsafe { call(SIGNAL, [address, b, c, d]) }
}

unsafe extern "C-unwind" fn barrier_init(barrier: usize, attributes: usize, count: usize, d: usize) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let result = call(Function::pthread_barrier_init as usize, [barrier, attributes, count, d]);
        if result == 0
            && let Some(tables) = tables()
        {
            // Of one that is shared with other processes not all arrivals are seen.
            let mut shared = libc::PTHREAD_PROCESS_PRIVATE;
            if attributes != 0 {
                libc::pthread_barrierattr_getpshared(attributes as *const _, &mut shared);
            }
            let private = shared == libc::PTHREAD_PROCESS_PRIVATE;
            tables.barriers.init(barrier, if private { count as u32 } else { 0 });
        }
        result
    }
}

unsafe extern "C-unwind" fn barrier_destroy(barrier: usize, b: usize, c: usize, d: usize) -> c_int {
    // Before the real call: afterwards the memory may be another barrier already.
    if let Some(tables) = tables() {
        tables.barriers.destroy(barrier);
    }
    // SAFETY: the program's own arguments.
    unsafe { call(Function::pthread_barrier_destroy as usize, [barrier, b, c, d]) }
}

unsafe extern "C-unwind" fn barrier_wait(
    barrier: usize,
    b: usize,
    c: usize,
    d: usize,
    sp: usize,
    bp: usize,
) -> c_int {
    const WAIT: usize = Function::pthread_barrier_wait as usize;
    let args = [barrier, b, c, d];
    // SAFETY: the program's own arguments.
    unsafe {
        let Some(tables) = tables() else { return call(WAIT, args) };
        let watched = is_watched(sp);
        let own = Own::begin();
        let open = if watched { Interval::open(WAIT, Entry { sp, bp }) } else { None };
        let note = open.as_ref().map(|open| Note { thread: (*open.thread).serial, ticks: open.began });
        let arrival = tables.barriers.arrive(barrier, note);
        drop(own);
        let result = call(WAIT, args);
        if let Some(open) = open {
            let _own = Own::begin();
            let last = arrival.and_then(|arrival| tables.barriers.last(arrival));
            open.finish(EdgeKind::Barrier, last, barrier);
        }
        result
    }
}
