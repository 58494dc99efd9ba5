//! Points in time and spans of time.
//!
//! A recorder counts [`Ticks`] of whichever clock its machine offers; the archive knows only
//! [`Nanos`] since the start of the run. Nothing converts the one into the other implicitly.

/// Nanoseconds since the start of the run, or a span of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Nanos(pub i64);

/// A reading of a process's clock, in its own unit and from its own origin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Ticks(pub u64);

impl std::ops::Sub for Nanos {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl std::ops::Add for Nanos {
    type Output = Self;
    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

/// Which clock a process counted [`Ticks`] of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ClockKind {
    /// The processor's invariant time-stamp counter, where the kernel itself trusts it.
    Tsc,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    Monotonic,
    /// A clock with an error put in on purpose, to test the clock fit.
    Skewed,
}

impl ClockKind {
    /// The byte that stands for the kind in a spool.
    pub const fn code(self) -> u8 {
        match self {
            Self::Tsc => 0,
            Self::Monotonic => 1,
            Self::Skewed => 2,
        }
    }

    /// The kind that a byte of a spool stands for.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Tsc),
            1 => Some(Self::Monotonic),
            2 => Some(Self::Skewed),
            _ => None,
        }
    }

    /// The name used in `meta.json` and the `clocks` table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Monotonic => "monotonic",
            Self::Skewed => "skewed",
        }
    }
}

/// One instant read on three clocks: what ties ticks to seconds and to the calendar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Triple {
    /// The process's own clock.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC`, ns.
    pub monotonic_ns: u64,
    /// `CLOCK_REALTIME`, ns since 1970.
    pub realtime_ns: u64,
}
