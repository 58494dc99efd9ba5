//! The clocks of a run: which processes count which, and how each becomes time since the start of the run.
//!
//! The one idea: processes of one boot that count the same counter share one clock, so nothing is
//! corrected among them. Such a *domain* gets one line through its earliest and latest readings, which is
//! the common axis as far as it is known by itself; `tie` says what has to be added to it.
//!
//! What is deliberately absent: repairing single events. Clocks are corrected as a whole, and what then
//! still contradicts causality is counted.

use marey_model::{ClockKind, Triple};
use rustc_hash::FxHashMap;

use super::bend;
use super::bounds::Bounds;
use super::clock::Clock;
use super::definitions::{Exchange, ProcessDefs};
use super::tie::Tie;
use super::tighten::Shift;

/// A reading whose time is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Knot {
    pub ticks: u64,
    /// ns since the start of the run.
    pub ns: i64,
    /// Bound on its error, ns; −1 = unknown.
    pub uncertainty_ns: i64,
}

/// What the `clocks` table says about a process.
#[derive(Clone, Debug)]
pub(crate) struct ClockFacts {
    pub clock: Clock,
    /// Number of the clock; processes that share it have the same.
    pub domain: usize,
    pub kind: &'static str,
    pub offset_ns: i64,
    pub drift_ppm: f64,
    /// The largest of all times.
    pub uncertainty_ns: i64,
    pub ticks_per_second: f64,
    /// Between them the clock is a line; two at least.
    pub knots: Vec<Knot>,
    /// By how much it was moved for the sake of messages, over time since the start of the run.
    pub shift: Shift,
}

/// Times are rounded to ns, at the clock and where they are corrected.
const ROUNDING: f64 = 1.0;

/// Readings that belong to no process: the launcher's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Launcher {
    pub host: String,
    pub readings: Vec<Triple>,
}

/// One clock that several processes may share.
#[derive(Debug)]
struct Domain {
    readings: Vec<Triple>,
    /// ns on the common axis = `base_ns` + (ticks − `base`) × `slope`.
    base: u64,
    base_ns: f64,
    slope: f64,
    last: u64,
    /// How far readings are off the line, ns; infinite if there is but one.
    off: f64,
}

/// The clocks of a run as far as each is known by itself.
#[derive(Debug)]
pub(crate) struct Clocks {
    domains: Vec<Domain>,
    /// Domain of each process by its key.
    of: FxHashMap<u64, usize>,
    /// The domain that the others are tied to.
    reference: usize,
    /// What exchanges say.
    exchanges: Bounds,
    /// Calendar time of 0 on the common axis, ns since 1970.
    epoch: u64,
}

impl Clocks {
    /// Draws the line of each clock. `readings` are the heads of each process's windows.
    pub(crate) fn draw(
        processes: &[ProcessDefs],
        readings: &[Vec<Triple>],
        launcher: &Launcher,
        is_reference: impl Fn(usize) -> bool,
        peer: impl Fn(usize, u32) -> Option<usize>,
    ) -> Self {
        let (mut domains, of) = domains(processes, readings, launcher);
        for domain in &mut domains {
            domain.draw();
        }
        // Doubles hold 2⁵³ ns, so everything counts from an instant of the run, not from 1970.
        let first = domains.iter().filter_map(|domain| domain.readings.first());
        let epoch = first.map(|t| t.realtime_ns).min().unwrap_or(0);
        for domain in &mut domains {
            let first = domain.readings.first();
            domain.base_ns = first.map_or(0.0, |t| t.realtime_ns.wrapping_sub(epoch) as f64);
        }
        let reference = (0..processes.len()).find(|&p| is_reference(p)).map_or(0, |p| of[p]);
        let exchanges = exchanges(&domains, &of, processes, peer);
        let of = processes.iter().map(|process| process.key).zip(of).collect();
        Self { domains, of, reference, exchanges, epoch }
    }

    /// Whether there are several clocks, and so something to tie.
    pub(crate) fn are_several(&self) -> bool {
        self.domains.len() > 1
    }

    /// A process counted its clock up to this reading at least.
    pub(crate) fn lasted(&mut self, process: &ProcessDefs, ticks: u64) {
        let domain = self.domain(process);
        let domain = &mut self.domains[domain];
        // No clock is counted for two years; a reading that says so is damage.
        if ticks.saturating_sub(domain.base) < 1 << 56 {
            domain.last = domain.last.max(ticks);
        }
    }

    /// What has to be added to each clock, given what messages say.
    pub(crate) fn tie(&self, messages: &Bounds) -> Vec<Tie> {
        let spans: Vec<(f64, f64)> = self.domains.iter().map(Domain::span).collect();
        super::tie::all(&spans, self.reference, &self.exchanges, messages)
    }

    /// Which clock a process counts.
    pub(crate) fn domain(&self, process: &ProcessDefs) -> usize {
        self.of.get(&process.key).copied().unwrap_or(self.reference)
    }

    /// The first instant of all processes on the common axis, ns.
    pub(crate) fn start(&self, processes: &[ProcessDefs], ties: &[Tie]) -> f64 {
        let starts = processes.iter().map(|process| {
            let domain = self.domain(process);
            let at = self.domains[domain].at(process.start.ticks);
            at + ties[domain].at(at)
        });
        let start = starts.fold(f64::INFINITY, f64::min);
        if start.is_finite() { start } else { 0.0 }
    }

    /// The clocks of all processes, and the calendar time of the start of the run, ns since 1970.
    pub(crate) fn facts(&self, processes: &[ProcessDefs], ties: &[Tie]) -> (Vec<ClockFacts>, i64) {
        let start = self.start(processes, ties);
        let facts = processes.iter().map(|process| {
            let domain = self.domain(process);
            self.domains[domain].facts(process, domain, &ties[domain], start)
        });
        let mut facts: Vec<ClockFacts> = facts.collect();
        // Each clock is rounded by itself. The run shall begin at 0 all the same, or its length would
        // not be that of the process that is there all the time.
        let starts = processes.iter().zip(&facts).map(|(process, facts)| facts.clock.ns(process.start.ticks));
        let early = starts.min().unwrap_or(0);
        for facts in &mut facts {
            facts.clock = facts.clock.clone().earlier(early);
            facts.knots.iter_mut().for_each(|knot| knot.ns = knot.ns.saturating_sub(early));
            facts.shift.0.iter_mut().for_each(|point| point.0 -= early as f64);
        }
        (facts, (self.epoch.cast_signed()).saturating_add(start as i64))
    }
}

fn domains(
    processes: &[ProcessDefs],
    readings: &[Vec<Triple>],
    launcher: &Launcher,
) -> (Vec<Domain>, Vec<usize>) {
    let mut known = FxHashMap::default();
    let mut domains: Vec<Domain> = Vec::new();
    let mut of = Vec::with_capacity(processes.len());
    for (idx, process) in processes.iter().enumerate() {
        let skewed = ClockKind::from_code(process.clock).is_none_or(|kind| kind == ClockKind::Skewed);
        let own = if skewed || process.boot.is_empty() { process.key } else { 0 };
        let place = *known.entry((process.boot.clone(), process.clock, own)).or_insert_with(|| {
            domains.push(Domain::new());
            domains.len() - 1
        });
        let domain = &mut domains[place];
        domain.readings.push(process.start);
        domain.readings.extend(process.ending.iter().map(|ending| ending.2));
        domain.readings.extend(&readings[idx]);
        // The launcher reads the counter that measured processes read, if there is one.
        if !skewed && process.host == launcher.host && process.clock == ClockKind::Tsc.code() {
            domain.readings.extend(&launcher.readings);
        }
        of.push(place);
    }
    (domains, of)
}

/// How far the readings in between are off the line through the earliest and the latest, ns.
pub(crate) fn spread_ns(readings: &mut [Triple]) -> f64 {
    readings.sort_by_key(|t| (t.ticks, t.monotonic_ns));
    let ([first, ..], [.., last]) = (&*readings, &*readings) else { return 0.0 };
    let ticks = last.ticks.abs_diff(first.ticks).max(1) as f64;
    let slope = last.monotonic_ns.saturating_sub(first.monotonic_ns) as f64 / ticks;
    let off = readings.iter().map(|t| {
        let line = first.monotonic_ns as f64 + (t.ticks - first.ticks) as f64 * slope;
        (t.monotonic_ns as f64 - line).abs()
    });
    off.fold(0.0, f64::max)
}

/// Each exchange is a message in both directions.
fn exchanges(
    domains: &[Domain],
    of: &[usize],
    processes: &[ProcessDefs],
    peer: impl Fn(usize, u32) -> Option<usize>,
) -> Bounds {
    let mut bounds = Bounds::default();
    for (idx, process) in processes.iter().enumerate() {
        for exchange in &process.exchanges {
            let Some(other) = peer(idx, exchange.peer) else { continue };
            let (mine, theirs) = (of[idx], of[other]);
            if mine == theirs {
                continue;
            }
            let Exchange { sent, received, returned, came_back, .. } = *exchange;
            let (here, there) = (&domains[mine], &domains[theirs]);
            bounds.add(mine, theirs, here.at(sent), there.at(received));
            bounds.add(theirs, mine, there.at(returned), here.at(came_back));
        }
    }
    bounds
}

impl Domain {
    fn new() -> Self {
        Self { readings: Vec::new(), base: 0, base_ns: 0.0, slope: 1.0, last: 0, off: f64::INFINITY }
    }

    /// The line through the earliest and the latest reading.
    fn draw(&mut self) {
        // A reading that was never taken is all zeros.
        self.readings.retain(|t| *t != Triple::default());
        self.readings.sort_by_key(|t| (t.ticks, t.monotonic_ns));
        let (Some(first), Some(last)) = (self.readings.first(), self.readings.last()) else { return };
        (self.base, self.last) = (first.ticks, last.ticks);
        let ticks = last.ticks - first.ticks;
        let ns = last.monotonic_ns.saturating_sub(first.monotonic_ns);
        if ticks == 0 || ns == 0 {
            return;
        }
        self.slope = ns as f64 / ticks as f64;
        self.off = spread_ns(&mut self.readings).max(100.0);
    }

    fn at(&self, ticks: u64) -> f64 {
        self.base_ns + ticks.wrapping_sub(self.base).cast_signed() as f64 * self.slope
    }

    fn span(&self) -> (f64, f64) {
        (self.base_ns, self.at(self.last))
    }

    /// A bound on an error as a whole number of ns; −1 = unknown.
    fn uncertainty_ns(&self, tie: &Tie, error: f64) -> i64 {
        // Readings that are off the line of a clock do not matter where it is held against another.
        let is_tied = !tie.knots.is_empty() && self.off.is_finite();
        let error = if is_tied { error + ROUNDING } else { self.off + error };
        if error.is_finite() { error.ceil() as i64 } else { -1 }
    }

    fn facts(&self, process: &ProcessDefs, domain: usize, tie: &Tie, start: f64) -> ClockFacts {
        let offset = tie.at(self.base_ns);
        let base_ns = (self.base_ns + offset - start).round().clamp(-1e18, 1e18) as i64;
        let slope = self.slope * (1.0 + tie.drift);
        let readings = self.knots(tie);
        let clock = if tie.is_line() {
            Clock::new(self.base, base_ns, slope)
        } else {
            let point = |&(ticks, time, _): &(u64, f64, f64)| (ticks, time - start);
            Clock::through(&readings.iter().map(point).collect::<Vec<_>>())
        };
        let knot = |(ticks, _, error)| Knot {
            ticks,
            ns: clock.ns(ticks),
            uncertainty_ns: self.uncertainty_ns(tie, error),
        };
        let knots: Vec<Knot> = readings.into_iter().map(knot).collect();
        let is_known = knots.iter().all(|knot| knot.uncertainty_ns >= 0);
        let most = knots.iter().map(|knot| knot.uncertainty_ns).max().unwrap_or(-1);
        let shift = tie.shift.0.iter().map(|&(time, by)| (time + tie.at(time) - start, by)).collect();
        ClockFacts {
            clock,
            domain,
            kind: ClockKind::from_code(process.clock).map_or("unknown", ClockKind::name),
            offset_ns: offset.round() as i64,
            drift_ppm: tie.drift * 1e6,
            uncertainty_ns: if is_known { most } else { -1 },
            ticks_per_second: if slope > 0.0 { 1e9 / slope } else { 0.0 },
            knots,
            shift: Shift(shift),
        }
    }

    /// Readings at the knots of a correction, their times on the common axis and the bounds on their error.
    fn knots(&self, tie: &Tie) -> Vec<(u64, f64, f64)> {
        let own = |ticks| (ticks, self.at(ticks) + tie.at(self.at(ticks)), tie.uncertainty);
        if tie.knots.is_empty() {
            return vec![own(self.base), own(self.last)];
        }
        let reading = |time: f64| {
            let ticks = ((time - self.base_ns) / self.slope).round().clamp(-1e18, 1e18) as i64;
            self.base.saturating_add_signed(ticks)
        };
        let knot = |knot: &bend::Knot| (reading(knot.time), knot.time + knot.offset, knot.error);
        let mut knots: Vec<(u64, f64, f64)> = tie.knots.iter().map(knot).collect();
        knots.dedup_by_key(|knot| knot.0);
        if knots.len() == 1 {
            knots.push(own(knots[0].0.saturating_add(1)));
        }
        knots
    }
}
