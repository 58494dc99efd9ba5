//! One instant on three clocks, read by the launcher at the start and at the end of a run.
//!
//! The two readings bracket everything that a process of this machine records, so they anchor the
//! fit of the time-stamp counter even for a process that was killed before it read a second one.

use marey_model::Triple;
use rustix::time::{ClockId, clock_gettime};

/// Reads the three clocks, as close together as this machine allows.
pub(crate) fn now() -> Triple {
    let monotonic_ns = nanos(ClockId::Monotonic);
    let ticks = ticks(monotonic_ns);
    Triple { ticks, monotonic_ns, realtime_ns: nanos(ClockId::Realtime) }
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the instruction has no safe wrapper in core")]
fn ticks(_monotonic_ns: u64) -> u64 {
    // SAFETY: every x86-64 processor has the instruction; it reads a register and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks(monotonic_ns: u64) -> u64 {
    monotonic_ns
}
