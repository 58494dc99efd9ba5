//! A thread that is interrupted over and over while it works.
#![expect(unsafe_code, clippy::unwrap_used, reason = "a test that signals itself")]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Works until the handler, which counts its runs in `handled`, has run 5000 times, and leaves in the spool how
/// often it did either.
pub(crate) fn signalled(
    spool: &Path,
    handler: extern "C" fn(libc::c_int),
    handled: &'static AtomicU64,
    mut work: impl FnMut(),
) {
    // Each signal waits for its own handler, and can interrupt the other's. Signals to the thread come far
    // more often than those of a timer would.
    let signals = [libc::SIGUSR1, libc::SIGUSR2];
    // SAFETY: the handler is a function of the right type.
    let me = unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        for signal in signals {
            libc::sigaction(signal, &action, core::ptr::null_mut());
        }
        libc::pthread_self()
    };
    let senders = signals.map(|signal| {
        std::thread::spawn(move || {
            while handled.load(Ordering::Relaxed) < 5000 {
                // SAFETY: the thread waits for this one.
                unsafe { libc::pthread_kill(me, signal) };
                std::thread::yield_now();
            }
        })
    });
    let mut rounds = 0_u64;
    while senders.iter().any(|sender| !sender.is_finished()) {
        work();
        rounds += 1;
    }
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    std::fs::write(spool.join("counts"), format!("{rounds} {}", handled.load(Ordering::Relaxed))).unwrap();
}

/// How often the thread of this spool worked, and how often its handler ran.
pub(crate) fn worked(spool: &Path) -> (u64, u64) {
    let counts = spool.join("counts");
    let text = std::fs::read_to_string(&counts).unwrap();
    // Nothing but spool files is expected in a spool.
    std::fs::remove_file(counts).unwrap();
    let (rounds, handled) = text.split_once(' ').unwrap();
    (rounds.parse().unwrap(), handled.parse().unwrap())
}
