//! Turning each process's ticks into nanoseconds since the start of the run.
//!
//! The one idea: processes of one boot that count the same counter share one clock, so nothing is
//! corrected among them. Such a *domain* gets one line through its earliest and latest readings;
//! domains are tied to each other by exchanges, and by the calendar where there are none.
//!
//! What is deliberately absent: repairing single events. What still contradicts causality is
//! counted, not moved.

use marey_model::{ClockKind, Triple};
use rustc_hash::FxHashMap;

use super::definitions::{Exchange, ProcessDefs};

/// Fraction bits of [`Clock::speed`]: speeds below 4 ns a tick keep 61 significant bits.
const SHIFT: u32 = 60;

/// Most ticks from the origin of a clock: with 8 ns a tick still far from overflow.
const MOST: i64 = 1 << 56;

/// A process's clock as a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    origin_ticks: u64,
    origin_ns: i64,
    /// ns per tick, as a fraction of 2^[`SHIFT`].
    speed: i64,
}

/// What the `clocks` table says about a process.
#[derive(Clone, Debug)]
pub(crate) struct ClockFacts {
    pub clock: Clock,
    pub kind: &'static str,
    pub offset_ns: i64,
    pub drift_ppm: f64,
    pub uncertainty_ns: i64,
    pub ticks_per_second: f64,
    /// (ticks, ns) between which the line was drawn.
    pub knots: [(u64, i64); 2],
}

impl Clock {
    fn new(origin_ticks: u64, origin_ns: i64, ns_per_tick: f64) -> Self {
        let speed = (ns_per_tick.clamp(1e-6, 7.9) * (1_u64 << SHIFT) as f64) as i64;
        Self { origin_ticks, origin_ns, speed }
    }

    /// Time of a reading, ns since the start of the run. Later readings never have earlier times.
    #[inline(always)]
    pub(crate) fn ns(&self, ticks: u64) -> i64 {
        // No run takes two years; a reading that says so is damage and must not overflow.
        let since = ticks.wrapping_sub(self.origin_ticks).cast_signed().clamp(-MOST, MOST);
        let product = i128::from(since) * i128::from(self.speed);
        self.origin_ns.wrapping_add((product >> SHIFT) as i64)
    }

    /// The first reading whose time is not before `ns`.
    pub(crate) fn ticks_at(&self, ns: i64) -> u64 {
        let span = (i128::from(ns) - i128::from(self.origin_ns)) << SHIFT;
        let ticks = span.div_euclid(i128::from(self.speed)) + i128::from(self.origin_ticks);
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

    /// Length of a span of ticks in ns.
    pub(crate) fn span_ns(&self, ticks: f64) -> f64 {
        ticks * self.speed as f64 / (1_u64 << SHIFT) as f64
    }
}

/// Readings that belong to no process: the launcher's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Launcher {
    pub host: String,
    pub readings: Vec<Triple>,
}

/// One clock that several processes may share.
struct Domain {
    readings: Vec<Triple>,
    members: Vec<usize>,
    skewed: bool,
    /// ns on the common axis = `base_ns` + (ticks − `base`) × `slope`.
    base: u64,
    base_ns: f64,
    slope: f64,
    /// Against the calendar: what was added at `base`, and the change of speed.
    offset: f64,
    drift: f64,
    uncertainty: f64,
    last: u64,
}

/// The clocks of all processes. `readings` are the heads of each process's windows. Also the
/// calendar time of the start of the run, ns since 1970.
pub(crate) fn fit(
    processes: &[ProcessDefs],
    readings: &[Vec<Triple>],
    launcher: &Launcher,
    is_reference: impl Fn(usize) -> bool,
    peer: impl Fn(usize, u32) -> Option<usize>,
) -> (Vec<ClockFacts>, i64) {
    let (mut domains, of) = domains(processes, readings, launcher);
    for domain in &mut domains {
        domain.draw();
    }
    // Doubles hold 2⁵³ ns, so everything counts from an instant of the run, not from 1970.
    let epoch = domains.iter().filter_map(Domain::first).map(|t| t.realtime_ns).min().unwrap_or(0);
    for domain in &mut domains {
        domain.base_ns = domain.first().map_or(0.0, |t| t.realtime_ns.wrapping_sub(epoch) as f64);
    }
    tie(&mut domains, &of, processes, is_reference, peer);
    let start = processes.iter().zip(&of).map(|(process, &d)| domains[d].at(process.start.ticks));
    let start = start.fold(f64::INFINITY, f64::min);
    let start = if start.is_finite() { start } else { 0.0 };
    let facts = processes.iter().zip(&of).map(|(process, &d)| facts(process, &domains[d], start));
    (facts.collect(), (epoch.cast_signed()).saturating_add(start as i64))
}

fn facts(process: &ProcessDefs, domain: &Domain, start: f64) -> ClockFacts {
    let clock =
        Clock::new(domain.base, (domain.base_ns - start).round().clamp(-1e18, 1e18) as i64, domain.slope);
    let knot = |ticks| (ticks, clock.ns(ticks));
    ClockFacts {
        clock,
        kind: ClockKind::from_code(process.clock).map_or("unknown", ClockKind::name),
        offset_ns: domain.offset.round() as i64,
        drift_ppm: domain.drift * 1e6,
        uncertainty_ns: if domain.uncertainty.is_finite() { domain.uncertainty.ceil() as i64 } else { -1 },
        ticks_per_second: if domain.slope > 0.0 { 1e9 / domain.slope } else { 0.0 },
        knots: [knot(domain.base), knot(domain.last)],
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
            domains.push(Domain::new(skewed));
            domains.len() - 1
        });
        let domain = &mut domains[place];
        domain.members.push(idx);
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

impl Domain {
    fn new(skewed: bool) -> Self {
        Self {
            readings: Vec::new(),
            members: Vec::new(),
            skewed,
            base: 0,
            base_ns: 0.0,
            slope: 1.0,
            offset: 0.0,
            drift: 0.0,
            uncertainty: f64::INFINITY,
            last: 0,
        }
    }

    fn first(&self) -> Option<&Triple> {
        self.readings.first()
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
        // How far the readings in between are off the line.
        let off = self.readings.iter().map(|t| {
            let line = first.monotonic_ns as f64 + (t.ticks - first.ticks) as f64 * self.slope;
            (t.monotonic_ns as f64 - line).abs()
        });
        self.uncertainty = off.fold(100.0, f64::max);
    }

    fn at(&self, ticks: u64) -> f64 {
        self.base_ns + ticks.wrapping_sub(self.base).cast_signed() as f64 * self.slope
    }

    /// Corrects the line by an offset that changes linearly: `(ns on the own axis, what to add)`.
    fn correct(&mut self, samples: &[(f64, f64, f64)]) {
        let Some(&(t0, o0, u0)) = samples.first() else { return };
        let &(t1, o1, u1) = samples.last().expect("not empty");
        let drift = if t1 > t0 { (o1 - o0) / (t1 - t0) } else { 0.0 };
        let at_base = o0 + drift * (self.base_ns - t0);
        self.base_ns += at_base;
        self.slope *= 1.0 + drift;
        self.offset += at_base;
        self.drift += drift;
        self.uncertainty = u0.max(u1);
    }
}

/// Ties every domain that exchanged with an already tied one to it, from the reference outwards.
fn tie(
    domains: &mut [Domain],
    of: &[usize],
    processes: &[ProcessDefs],
    is_reference: impl Fn(usize) -> bool,
    peer: impl Fn(usize, u32) -> Option<usize>,
) {
    if domains.len() < 2 {
        return;
    }
    let reference = (0..processes.len()).find(|&p| is_reference(p)).map_or(0, |p| of[p]);
    let mut tied = vec![false; domains.len()];
    tied[reference] = true;
    let mut progress = true;
    while progress {
        progress = false;
        for domain in 0..domains.len() {
            if tied[domain] {
                continue;
            }
            let samples = samples(domain, domains, of, processes, &peer, &tied);
            if !samples.is_empty() {
                domains[domain].correct(&samples);
                tied[domain] = true;
                progress = true;
            }
        }
    }
    for (domain, tied) in domains.iter_mut().zip(tied) {
        if !tied && !domain.skewed {
            // Tied by the calendar alone: machines of a cluster agree to some milliseconds.
            domain.uncertainty = domain.uncertainty.max(10e6);
        }
    }
}

/// What has to be added to a domain's times, early and late: (when, how much, ± how much).
fn samples(
    domain: usize,
    domains: &[Domain],
    of: &[usize],
    processes: &[ProcessDefs],
    peer: impl Fn(usize, u32) -> Option<usize>,
    tied: &[bool],
) -> Vec<(f64, f64, f64)> {
    let mut all = Vec::new();
    for (idx, process) in processes.iter().enumerate() {
        for exchange in &process.exchanges {
            let Some(other) = peer(idx, exchange.peer) else { continue };
            let (mine, theirs) = (of[idx], of[other]);
            let Exchange { sent, received, returned, came_back, .. } = *exchange;
            let (here, there) = (&domains[mine], &domains[theirs]);
            let (s, c) = (here.at(sent), here.at(came_back));
            let (r, b) = (there.at(received), there.at(returned));
            let ahead = ((r - s) + (b - c)) / 2.0;
            let half_trip = ((c - s) - (b - r)) / 2.0;
            if half_trip < 0.0 {
                continue;
            }
            if mine == domain && tied[theirs] {
                all.push(((s + c) / 2.0, ahead, half_trip + there.uncertainty.min(1e9)));
            } else if theirs == domain && tied[mine] {
                all.push(((r + b) / 2.0, -ahead, half_trip + here.uncertainty.min(1e9)));
            }
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Vec::new() };
    let middle = (first.0 + last.0) / 2.0;
    // The quickest round trip of each end of the run bounds the offset best.
    let best = |early: bool| {
        let side = all.iter().filter(|sample| (sample.0 <= middle) == early);
        side.min_by(|a, b| a.2.total_cmp(&b.2)).copied()
    };
    let span = last.0 - first.0;
    match (best(true), best(false)) {
        // Two samples close together say nothing about speed.
        (Some(early), Some(late)) if late.0 - early.0 > span * 0.5 && span > 1e6 => vec![early, late],
        (Some(early), Some(late)) => vec![if early.2 <= late.2 { early } else { late }],
        (one, other) => one.or(other).into_iter().collect(),
    }
}
