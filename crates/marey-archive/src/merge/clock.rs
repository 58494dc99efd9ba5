//! Turning a process's ticks into nanoseconds since the start of the run.
//!
//! The one idea: it is a line, and where one line does not do a few, one behind the other. The first is
//! at hand without looking for it, since nearly all clocks of nearly all runs have no other.
//!
//! Later readings never have earlier times, whatever the lines are. Where they come from is told in
//! `clocks`.

use std::sync::Arc;

/// Fraction bits of [`Line::speed`]: speeds below 4 ns a tick keep 61 significant bits.
const SHIFT: u32 = 60;

/// Most ticks from the origin of a clock: with 8 ns a tick still far from overflow.
const MOST: i64 = 1 << 56;

/// Speeds beyond these are no clock's, ns per tick.
const SPEEDS: (f64, f64) = (1e-6, 7.9);

/// A process's clock.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clock {
    first: Line,
    /// Where the first line ends, ticks.
    until: u64,
    /// All lines, if there are several.
    lines: Option<Arc<[Line]>>,
}

/// A line of a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    ticks: u64,
    ns: i64,
    /// ns per tick, as a fraction of 2^[`SHIFT`].
    speed: i64,
}

impl Line {
    fn new(ticks: u64, ns: i64, ns_per_tick: f64) -> Self {
        let speed = (ns_per_tick.clamp(SPEEDS.0, SPEEDS.1) * (1_u64 << SHIFT) as f64) as i64;
        Self { ticks, ns, speed }
    }

    #[inline(always)]
    fn ns(&self, ticks: u64) -> i64 {
        // No run takes two years; a reading that says so is damage and must not overflow.
        let since = ticks.wrapping_sub(self.ticks).cast_signed().clamp(-MOST, MOST);
        let product = i128::from(since) * i128::from(self.speed);
        self.ns.wrapping_add((product >> SHIFT) as i64)
    }

    /// The first reading whose time is not before `ns`.
    fn ticks_at(&self, ns: i64) -> u64 {
        let span = (i128::from(ns) - i128::from(self.ns)) << SHIFT;
        let ticks = span.div_euclid(i128::from(self.speed)) + i128::from(self.ticks);
        let mut ticks = u64::try_from(ticks.max(0)).unwrap_or(u64::MAX);
        // Division rounded down, as the shift in `ns` does: at most a tick or two are missing.
        for _ in 0..4 {
            if self.ns(ticks) >= ns {
                break;
            }
            ticks = ticks.saturating_add(1);
        }
        ticks
    }
}

impl Clock {
    /// A clock that is one line.
    pub(crate) fn new(ticks: u64, ns: i64, ns_per_tick: f64) -> Self {
        Self { first: Line::new(ticks, ns, ns_per_tick), until: u64::MAX, lines: None }
    }

    /// A clock through these points, each (ticks, ns), which is lines in between and beyond them. Points
    /// that are before those before them are moved up to them. Two at least, or it stands still.
    pub(crate) fn through(points: &[(u64, f64)]) -> Self {
        let mut lines: Vec<Line> = Vec::with_capacity(points.len());
        let mut speed = 1.0;
        for pair in points.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let steep = (to.1 - from.1) / to.0.saturating_sub(from.0).max(1) as f64;
            // What no clock counts in so few ticks is a step: the line before goes on up to it.
            speed = if steep > SPEEDS.1 { speed } else { steep };
            let ns = from.1.round().clamp(-1e18, 1e18) as i64;
            let ns = lines.last().map_or(ns, |last| ns.max(last.ns(from.0)));
            lines.push(Line::new(from.0, ns, speed));
        }
        if let (Some(last), Some(end)) = (lines.last(), points.last())
            && (last.ns(end.0) as f64) + 1.0 < end.1
        {
            lines.push(Line::new(end.0, end.1.round().clamp(-1e18, 1e18) as i64, speed));
        }
        let Some(&first) = lines.first() else { return Self::new(0, 0, 1.0) };
        let until = lines.get(1).map_or(u64::MAX, |line| line.ticks);
        Self { first, until, lines: (lines.len() > 1).then(|| lines.into()) }
    }

    /// Time of a reading, ns since the start of the run. Later readings never have earlier times.
    #[inline(always)]
    pub(crate) fn ns(&self, ticks: u64) -> i64 {
        if ticks < self.until { self.first.ns(ticks) } else { self.later(ticks) }
    }

    #[cold]
    #[inline(never)]
    fn later(&self, ticks: u64) -> i64 {
        let lines = self.lines.as_deref().unwrap_or(std::slice::from_ref(&self.first));
        let place = lines.partition_point(|line| line.ticks <= ticks).max(1) - 1;
        lines[place].ns(ticks)
    }

    /// So many ticks, ns.
    pub(crate) fn span(&self, ticks: u64) -> i64 {
        let ns = i128::from(ticks).saturating_mul(i128::from(self.first.speed)) >> SHIFT;
        i64::try_from(ns).unwrap_or(i64::MAX)
    }

    /// The first reading whose time is not before `ns`.
    pub(crate) fn ticks_at(&self, ns: i64) -> u64 {
        let Some(lines) = &self.lines else { return self.first.ticks_at(ns) };
        let place = lines.partition_point(|line| line.ns < ns);
        let ticks = lines[place.max(1) - 1].ticks_at(ns);
        lines.get(place.max(1)).map_or(ticks, |next| ticks.min(next.ticks))
    }

    /// Length of a span of ticks in ns.
    pub(crate) fn span_ns(&self, ticks: f64) -> f64 {
        ticks * self.first.speed as f64 / (1_u64 << SHIFT) as f64
    }

    /// The same clock, `ns` earlier.
    pub(crate) fn earlier(mut self, ns: i64) -> Self {
        self.first.ns = self.first.ns.saturating_sub(ns);
        let earlier = |line: &Line| Line { ns: line.ns.saturating_sub(ns), ..*line };
        self.lines = self.lines.map(|lines| lines.iter().map(earlier).collect());
        self
    }
}
