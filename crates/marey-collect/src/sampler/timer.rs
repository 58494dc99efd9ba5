//! Timers of a thread's processor time.
//!
//! Where the kernel looks at them at its ticks only (250 a second on many systems), a signal stands for several
//! periods, and says how many it was too late for. A thread that shares its processor may be another's turn at many
//! ticks, and end before it meets one: what nobody has told of by then is known from its clock.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use marey_measure::sys;

/// `sigevent` as the kernel has it.
#[repr(C)]
struct Event {
    value: usize,
    signal: c_int,
    notify: c_int,
    thread: c_int,
    rest: [c_int; 11],
}

const _: () = assert!(size_of::<Event>() == 64);

/// What is counted.
static CLOCK: AtomicI32 = AtomicI32::new(libc::CLOCK_THREAD_CPUTIME_ID);

/// For tests that want to be interrupted more often than the kernel's ticks, and while they wait: from now on timers go
/// by the calendar. A program that waits for longer than a period waits for ever then.
pub(super) fn go_by_the_wall() {
    CLOCK.store(libc::CLOCK_MONOTONIC, Ordering::Relaxed);
}

/// Send the signal to one thread.
const SIGEV_THREAD_ID: c_int = 4;

/// A timer and what it is to tell of.
#[derive(Clone, Copy)]
pub(super) struct Timer {
    pub(super) id: c_int,
    /// When the first period has passed, on the clock that is counted, ns.
    first: u64,
    period: u64,
}

impl Timer {
    /// How many periods of the calling thread, which is the timer's, have passed. `None` if there is no clock to ask.
    pub(super) fn due(&self) -> Option<u64> {
        let used = now()?;
        Some(used.checked_sub(self.first).map_or(0, |beyond| 1 + beyond / self.period))
    }
}

/// What the calling thread's clock says, ns.
fn now() -> Option<u64> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let (clock, at) = (CLOCK.load(Ordering::Relaxed) as usize, (&raw mut now) as usize);
    // SAFETY: the time is writable.
    let is_told = unsafe { sys::syscall(libc::SYS_clock_gettime, [clock, at, 0, 0, 0, 0]) } == 0;
    is_told.then(|| now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned())
}

/// Starts a timer that sends `signal` with `value` to the calling thread whenever it has used another `period_ns`
/// of processor time. `None` if there is none to be had: each takes one of the signals that a user may have pending.
pub(super) fn start(signal: u32, value: usize, period_ns: u64) -> Option<Timer> {
    let event = Event {
        value,
        signal: signal.cast_signed(),
        notify: SIGEV_THREAD_ID,
        thread: sys::thread_id().cast_signed(),
        rest: [0; 11],
    };
    let mut timer: c_int = 0;
    let (at_event, at_timer) = ((&raw const event) as usize, (&raw mut timer) as usize);
    let clock = CLOCK.load(Ordering::Relaxed) as usize;
    // SAFETY: the event is readable, the number writable.
    if unsafe { sys::syscall(libc::SYS_timer_create, [clock, at_event, at_timer, 0, 0, 0]) } != 0 {
        return None;
    }
    let time = |ns: u64| libc::timespec {
        tv_sec: (ns / 1_000_000_000).cast_signed(),
        tv_nsec: (ns % 1_000_000_000).cast_signed(),
    };
    // Threads that begin together are not to be interrupted together.
    let first = 1 + (u64::from(sys::thread_id()).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) % period_ns;
    let times = libc::itimerspec { it_interval: time(period_ns), it_value: time(first) };
    let at = (&raw const times) as usize;
    let began = now();
    // SAFETY: the times are readable.
    let is_set = unsafe { sys::syscall(libc::SYS_timer_settime, [timer as usize, 0, at, 0, 0, 0]) } == 0;
    if !is_set {
        stop(timer);
        return None;
    }
    // Where no clock can be asked, nothing is ever due but what signals tell.
    let first = began.map_or(u64::MAX, |began| began + first);
    Some(Timer { id: timer, first, period: period_ns })
}

/// Ends a timer of this process.
pub(super) fn stop(timer: c_int) {
    // SAFETY: takes a number.
    unsafe { sys::syscall(libc::SYS_timer_delete, [timer as usize, 0, 0, 0, 0, 0]) };
}
