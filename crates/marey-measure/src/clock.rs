//! Clocks: the invariant time-stamp counter where the kernel itself keeps time with it, else
//! `CLOCK_MONOTONIC`. No correction happens here; that is the merge's matter.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use marey_model::{ClockKind, Triple};

/// An error that is put into a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Skew {
    /// What is added, ns.
    pub offset: i64,
    /// Parts per 10⁹.
    pub drift: i64,
    /// What is added besides from some time on, ns.
    pub step: i64,
    /// That time, `CLOCK_MONOTONIC`, ns.
    pub step_at: u64,
}

impl Skew {
    /// From the text of `MAREY_CLOCK_SKEW`: `<offset ns>,<drift ppb>`, and if the clock is to be set,
    /// `,<step ns>,<when, ns>` behind it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(',');
        let mut next = || words.next().map(|word| word.parse::<i64>().ok());
        let (offset, drift) = (next()??, next()??);
        let (step, step_at) = match next() {
            Some(step) => (step?, u64::try_from(next()??).ok()?),
            None => (0, u64::MAX),
        };
        Some(Self { offset, drift, step, step_at })
    }
}

/// The error of a [`ClockKind::Skewed`] clock, see [`Skew`].
static SKEW_OFFSET: AtomicU64 = AtomicU64::new(0);
static SKEW_DRIFT: AtomicU64 = AtomicU64::new(0);
static SKEW_STEP: AtomicU64 = AtomicU64::new(0);
static SKEW_STEP_AT: AtomicU64 = AtomicU64::new(u64::MAX);

/// The clock of this process. `skew` comes from `MAREY_CLOCK_SKEW`, a setting for tests of the clock fit:
/// it makes this process's clock wrong on purpose.
pub fn detect(skew: Option<Skew>) -> ClockKind {
    if let Some(skew) = skew {
        SKEW_OFFSET.store(skew.offset.cast_unsigned(), Ordering::Relaxed);
        SKEW_DRIFT.store(skew.drift.cast_unsigned(), Ordering::Relaxed);
        SKEW_STEP.store(skew.step.cast_unsigned(), Ordering::Relaxed);
        SKEW_STEP_AT.store(skew.step_at, Ordering::Relaxed);
        return ClockKind::Skewed;
    }
    if cfg!(target_arch = "x86_64") && kernel_trusts_tsc() { ClockKind::Tsc } else { ClockKind::Monotonic }
}

/// The kernel drops its TSC clock source for good as soon as it finds it unstable or not in step
/// between processors, so its choice is the best evidence there is.
fn kernel_trusts_tsc() -> bool {
    std::fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .is_ok_and(|name| name.trim_ascii() == b"tsc")
}

/// A reading of the clock `kind`.
#[inline(always)]
pub fn ticks_of(kind: ClockKind) -> u64 {
    match kind {
        ClockKind::Tsc => tsc(),
        ClockKind::Monotonic => monotonic_ns(),
        ClockKind::Skewed => skewed_ns(),
    }
}

/// The time-stamp counter. Not serialised: a fence costs more than the reordering it prevents.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn tsc() -> u64 {
    // SAFETY: rdtsc reads a counter and touches nothing else.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The same when all that stands before is through, for what is so short that it would be read too early else. The
/// fence costs as much as the reading.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn fenced_tsc() -> u64 {
    // SAFETY: a fence and a reading of a counter.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    tsc()
}

/// Lets nothing behind begin before all that stands before is through.
#[inline(always)]
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: touches nothing.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
}

/// Does so many subtractions and one more, each of which waits for the one before: mostly a cycle each.
#[inline(always)]
pub fn wait(subtractions: u32) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: changes nothing but a register.
    unsafe {
        core::arch::asm!(
            "2:",
            "sub {left:e}, 1",
            "jns 2b",
            left = inout(reg) subtractions => _,
            options(nomem, nostack)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    for left in 0..subtractions {
        core::hint::black_box(left);
    }
}

/// See [`tsc`].
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub const fn fenced_tsc() -> u64 {
    0
}

/// Machines without one have another clock, and nobody looks at this.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub const fn tsc() -> u64 {
    0
}

/// `CLOCK_MONOTONIC` in ns.
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Whether the clocks may not be read any more.
static LOST: AtomicBool = AtomicBool::new(false);

/// Says that reading a clock would end the process.
pub(crate) fn lose() {
    LOST.store(true, Ordering::Relaxed);
}

/// Whether [`lose`] has been called.
#[inline(always)]
pub(crate) fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// `CLOCK_REALTIME` in ns since 1970.
pub fn realtime_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

#[cold]
fn skewed_ns() -> u64 {
    let monotonic = monotonic_ns();
    let is_set = SKEW_STEP_AT.load(Ordering::Relaxed) <= monotonic;
    let step = if is_set { SKEW_STEP.load(Ordering::Relaxed).cast_signed() } else { 0 };
    let now = i128::from(monotonic);
    let drift = i128::from(SKEW_DRIFT.load(Ordering::Relaxed).cast_signed());
    let offset = i128::from(SKEW_OFFSET.load(Ordering::Relaxed).cast_signed());
    u64::try_from(now + now * drift / 1_000_000_000 + offset + i128::from(step)).unwrap_or(0)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable. The vDSO sets no errno for these clocks.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec.cast_unsigned())
}

/// The present instant on three clocks. Of a few readings the one with the least time between two
/// readings of the ticks is taken, so an interrupt in between does not tilt the clock fit.
pub fn triple(kind: ClockKind) -> Triple {
    let mut best = (u64::MAX, Triple::default());
    for _ in 0..5 {
        let before = ticks_of(kind);
        let monotonic_ns = monotonic_ns();
        let after = ticks_of(kind);
        let gap = after.saturating_sub(before);
        if gap < best.0 {
            let ticks = before + gap / 2;
            best = (gap, Triple { ticks, monotonic_ns, realtime_ns: 0 });
        }
    }
    let now = monotonic_ns();
    let realtime = realtime_ns();
    // The calendar is needed to the microsecond at best, so one reading moved back is enough.
    best.1.realtime_ns = realtime.saturating_sub(now.saturating_sub(best.1.monotonic_ns));
    if kind == ClockKind::Skewed {
        // All clocks of the machine that is being played are wrong alike.
        best.1.realtime_ns = best.1.realtime_ns.wrapping_add(best.1.ticks.wrapping_sub(best.1.monotonic_ns));
        best.1.monotonic_ns = best.1.ticks;
    }
    best.1
}
