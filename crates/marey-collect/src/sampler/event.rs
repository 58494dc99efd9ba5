//! Events of a thread's processor time, where the kernel lets them be used.
//!
//! The one idea: an event comes when a period is over, and not at the kernel's next tick as a [timer](super::timer) does.
//! It is kept by its mapping alone, so no descriptor is left that the program could close; and it sends a signal that is
//! ignored where nobody handles it: one that comes while a process becomes another by exec must not end that.
//!
//! Events of which the kernel would tell only those outside of it are no use: what the thread does in there is its
//! processor time as well.
//!
//! Source: `perf_event_open(2)`, `fcntl(2)` (`F_SETSIG`).

use core::sync::atomic::{AtomicBool, Ordering};

use marey_measure::perf::{self, Attributes};
use marey_measure::sys;

/// The signal: programs have it for urgent data of sockets, hardly ever, and ignore it else.
pub(super) const SIGNAL: u32 = libc::SIGURG.cast_unsigned();

/// Whether they can be used.
static ARE_ALLOWED: AtomicBool = AtomicBool::new(false);

/// Finds out whether they can be used.
pub(super) fn find_out() -> bool {
    let found = start(1_000_000_000);
    found.inspect(|event| stop(*event));
    ARE_ALLOWED.store(found.is_some(), Ordering::Relaxed);
    found.is_some()
}

/// Somebody has the signal.
pub(super) fn forbid() {
    ARE_ALLOWED.store(false, Ordering::Relaxed);
}

pub(super) fn are_allowed() -> bool {
    ARE_ALLOWED.load(Ordering::Relaxed)
}

/// Sends the signal to the calling thread whenever it has used another `period_ns` of processor time: the event's address.
/// `None` if there is none to be had: pages that are mapped from the kernel are numbered, and so are descriptors.
pub(super) fn start(period_ns: u64) -> Option<usize> {
    /// `PERF_COUNT_SW_TASK_CLOCK`.
    const TASK_CLOCK: u64 = 1;
    let mut attributes = Attributes::of(perf::SOFTWARE, TASK_CLOCK);
    (attributes.period, attributes.wakeup) = (period_ns, 1);
    let fd = perf::open(&attributes).ok()?;
    let event = if sends(fd) { perf::map(fd) } else { None };
    perf::close(fd);
    event
}

/// Has the event send its signal to the calling thread.
fn sends(fd: usize) -> bool {
    const SET_OWNER: usize = 15;
    const SET_SIGNAL: usize = 10;
    /// `F_OWNER_TID`.
    const THREAD: u32 = 0;
    let owner = [THREAD, sys::thread_id()];
    let steps = [
        (SET_OWNER, (&raw const owner) as usize),
        (SET_SIGNAL, SIGNAL as usize),
        (libc::F_SETFL.cast_unsigned() as usize, libc::O_ASYNC.cast_unsigned() as usize),
    ];
    // SAFETY: the descriptor is ours, the owner readable.
    steps.iter().all(|&(step, word)| unsafe { sys::syscall(libc::SYS_fcntl, [fd, step, word, 0, 0, 0]) } == 0)
}

/// Ends an event of this process.
pub(super) fn stop(event: usize) {
    // SAFETY: it was mapped by `start`, and nobody reads there.
    unsafe { sys::unmap(event as *mut u8, sys::PAGE) };
}
