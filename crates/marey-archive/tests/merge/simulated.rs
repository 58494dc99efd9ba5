//! Clocks of known error on a network of known delays: what is stated of each must be true, and useful.
//!
//! The one idea: a run is made up in true time, of which the merge sees readings only. Both processes make
//! a mark at the same true instants, so after the merge the two marks of an instant differ by just the
//! error of the clocks; nothing of what the merge computes is used to find it.
//!
//! One way takes 20 µs at least in either direction, and more by delays that differ between the directions.

use marey_archive::Archive;
use marey_model::ClockKind;
use marey_model::spool::Definition;
use marey_testkit::Spool;

use super::{Merged, call, merged, message, paths_of};

const MS: f64 = 1e6;
const US: f64 = 1e3;
const SECOND: f64 = 1e9;
/// True time from the first to the last mark of a run that is not killed, ns.
const RUN: (f64, f64) = (20.0 * SECOND, 22.5 * SECOND);
/// What a message takes at least, ns.
const LEAST: f64 = 20.0 * US;
/// What the delays of messages are beyond that on average, to rank 1 and from it, ns.
const DELAYS: [f64; 2] = [15.0 * US, 60.0 * US];
/// Seeds of each kind of run, with an end that is said and without.
const SEEDS: u64 = 16;
/// Runs in a hundred in which all marks must be inside of their bars.
const INSIDE: usize = 95;

/// Numbers that look random, the same in each run of the test.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.uniform()
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    /// How long a message takes, to rank 1 or from it.
    fn delay(&mut self, direction: usize) -> f64 {
        let congested = if self.uniform() < 0.05 { self.exponential(MS) } else { 0.0 };
        LEAST + self.exponential(DELAYS[direction]) + congested
    }
}

/// A clock that is wrong in known ways.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    offset: f64,
    drift: f64,
    /// When the drift changes, and by how much.
    change: Option<(f64, f64)>,
    /// When the clock is set, and by how much.
    step: Option<(f64, f64)>,
}

impl Clock {
    fn reading(&self, time: f64) -> u64 {
        let since = time - RUN.0;
        let mut reading = time + self.offset + since * self.drift;
        if let Some((at, by)) = self.change {
            reading += (time - at).max(0.0) * by;
        }
        if let Some((at, by)) = self.step {
            reading += if time >= at { by } else { 0.0 };
        }
        whole(reading)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of made-up runs are small"
)]
fn whole(ns: f64) -> u64 {
    ns as u64
}

/// A thread's clock as a recorder reads it: never less than before.
#[derive(Clone, Copy)]
struct Reader {
    clock: Clock,
    last: u64,
}

impl Reader {
    fn read(&mut self, time: f64) -> u64 {
        self.last = self.clock.reading(time).max(self.last);
        self.last
    }
}

/// A made-up run.
pub(crate) struct Simulated {
    pub(crate) spool: Spool,
    /// True times of rank 1's sends and receives.
    sent: Vec<f64>,
    received: Vec<f64>,
    /// The quickest of all messages, ns.
    pub(crate) quickest: f64,
    marks: Vec<f64>,
    /// What rank 1's recorder read at each.
    readings: Vec<f64>,
}

fn exchange(
    spool: &mut Spool,
    clocks: [Clock; 2],
    random: &mut Random,
    from: f64,
    quickest: &mut f64,
) -> f64 {
    let mut time = from;
    for _ in 0..10 {
        let (there, back) = (random.delay(0), random.delay(1));
        *quickest = quickest.min(there).min(back);
        let arrived = time + there;
        let returned = arrived + 500.0;
        let came_back = returned + back;
        spool.processes[0].definitions.push(Definition::Exchange {
            peer: 1,
            sent: clocks[0].reading(time),
            received: clocks[1].reading(arrived),
            returned: clocks[1].reading(returned),
            came_back: clocks[0].reading(came_back),
        });
        time = came_back + 1000.0;
    }
    time
}

/// Two ranks that talk all the time; without an end rank 1 and its clock are gone from some time on.
pub(crate) fn simulate(clocks: [Clock; 2], random: &mut Random, has_end: bool) -> Simulated {
    simulate_at(clocks, random, has_end, (100.0 * US, 900.0 * US))
}

/// The same with other pauses between messages, ns.
fn simulate_at(clocks: [Clock; 2], random: &mut Random, has_end: bool, pauses: (f64, f64)) -> Simulated {
    let mut spool = Spool::world(2);
    let end = if has_end { RUN.1 } else { RUN.1 - random.between(0.0, 0.3 * SECOND) };
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        process.host = format!("node{rank}");
        process.boot = format!("boot{rank}");
        process.start = clocks[rank].reading(RUN.0);
        process.end = has_end.then(|| clocks[rank].reading(RUN.1 + 5.0 * MS));
    }
    let mut quickest = f64::INFINITY;
    let mut time = exchange(&mut spool, clocks, random, RUN.0 + 10.0 * US, &mut quickest);
    let mut readers = clocks.map(|clock| Reader { clock, last: 0 });
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let peers = [1, 0];
    let mut free = [time; 2];
    while time < end {
        for (direction, (from, to)) in [(0, 1), (1, 0)].into_iter().enumerate() {
            let delay = random.delay(direction);
            quickest = quickest.min(delay);
            let arrives = time + delay;
            let [begin, over] = [time, time + 900.0].map(|time| readers[from].read(time));
            call(&mut spool.processes[from], 0, "MPI_Send", begin, over, |p| {
                p.send(0, message(peers[from], 1))
            });
            let [begin, over] = [free[to], arrives].map(|time| readers[to].read(time));
            call(&mut spool.processes[to], 0, "MPI_Recv", begin, over, |p| {
                p.receive(0, message(peers[to], 1))
            });
            if from == 1 {
                sent.push(time)
            } else {
                received.push(arrives)
            }
            free[from] = time + 1000.0;
            free[to] = arrives + 100.0;
            time = arrives + random.between(2.0 * US, 50.0 * US);
        }
        time += random.between(pauses.0, pauses.1);
    }
    let mut marks = Vec::new();
    let mut at = RUN.0 + MS;
    while at < end {
        marks.push(at);
        at += random.between(0.5 * MS, 5.0 * MS);
    }
    let mut readings = Vec::new();
    for (process, clock) in spool.processes.iter_mut().zip(clocks) {
        readings.clear();
        let mut reader = Reader { clock, last: 0 };
        let site = process.site(0, "mark");
        for &at in &marks {
            let [begin, over] = [at, at + 10.0].map(|time| reader.read(time));
            readings.push(begin as f64);
            process.enter(1, site, begin);
            process.leave(1, over);
        }
    }
    if has_end {
        exchange(&mut spool, clocks, random, RUN.1 + MS, &mut quickest);
    }
    Simulated { spool, sent, received, quickest, marks, readings }
}

/// The knots of rank 1's clock: (ticks, time, bar).
fn knots(merged: &Merged) -> Vec<(f64, f64, f64)> {
    let table = merged.table("clock_knots");
    let column = |name| table.i64(name).unwrap();
    let rows = (0..table.len()).filter(|&row| table.u32("process").unwrap()[row] == 1);
    rows.map(|row| {
        let value = |name| column(name)[row] as f64;
        (value("ticks"), value("time"), value("uncertainty_ns"))
    })
    .collect()
}

/// Values at a place along lines through points.
fn along(points: impl Iterator<Item = (f64, f64)>, at: f64) -> f64 {
    let points: Vec<_> = points.collect();
    let behind = points.partition_point(|point| point.0 <= at);
    let [from, to] = [points[behind.max(1) - 1], points[behind.min(points.len() - 1)]];
    if to.0 <= from.0 { from.1 } else { from.1 + (to.1 - from.1) * (at - from.0) / (to.0 - from.0) }
}

/// When the marks of both ranks were, by the archive.
pub(crate) fn marks(archive: &Archive) -> [Vec<i64>; 2] {
    let table = |name| archive.table(name).unwrap();
    let (intervals, locations) = (table("intervals"), table("locations"));
    let paths = paths_of(archive);
    let mut found = [Vec::new(), Vec::new()];
    for row in 0..intervals.len() {
        if paths[intervals.u32("call_path").unwrap()[row] as usize] == "mark" {
            let location = intervals.u32("location").unwrap()[row] as usize;
            let process = locations.u32("process").unwrap()[location] as usize;
            found[process].push(intervals.i64("start").unwrap()[row]);
        }
    }
    found
}

/// The true times between which nothing says when the clock was set: on both sides there must have been a
/// message in each direction.
fn hidden(run: &Simulated, at: f64) -> (f64, f64) {
    let last = |times: &[f64]| times.iter().copied().filter(|&time| time < at).fold(RUN.0, f64::max);
    let first = |times: &[f64]| times.iter().copied().find(|&time| time > at).unwrap_or(RUN.1);
    (last(&run.sent).min(last(&run.received)), first(&run.sent).max(first(&run.received)))
}

/// What came out of a run.
#[derive(Debug)]
struct Verdict {
    is_inside: bool,
    /// The largest bar of all marks, where the clock was not set at the time, in quickest messages.
    bar: f64,
    /// Times of the run can be turned back into readings.
    knots: usize,
}

fn judge(run: &Simulated, clocks: [Clock; 2]) -> Verdict {
    let merged = merged(&run.spool);
    let [right, other] = marks(&merged.archive);
    let knots = knots(&merged);
    let (mut is_inside, mut most) = (true, 0.0_f64);
    assert_eq!((right.len(), other.len()), (run.marks.len(), run.marks.len()));
    for (place, &at) in run.marks.iter().enumerate() {
        let (right, other, reading) = (right[place], other[place], run.readings[place]);
        let bar = along(knots.iter().map(|knot| (knot.0, knot.2)), reading);
        assert!(bar >= 0.0, "a clock with messages in both directions has a bar");
        is_inside &= (other - right).abs() as f64 <= bar;
        match open_at(run, clocks[1], at) {
            Some(open) => assert!(bar <= open, "bar {bar}, but nobody can be more than {open} off"),
            None => most = most.max(bar),
        }
    }
    Verdict { is_inside, bar: most / run.quickest, knots: knots.len() }
}

/// What the step of a clock leaves open at a time, amply: nobody can know better when it happened than the
/// messages before and behind it say. `None` if they do say all.
fn open_at(run: &Simulated, clock: Clock, at: f64) -> Option<f64> {
    let (step_at, by) = clock.step?;
    let (from, to) = hidden(run, step_at);
    if by > 0.0 {
        let is_hidden = from <= at && at <= to;
        return is_hidden.then_some((to - from).min(by) / 2.0 + 2.0 * run.quickest);
    }
    // A clock that was put back counts twice what came before, and nobody can tell the one from the other;
    // and until it has caught up, its recorder has it stand still.
    let is_hidden = from + by <= at && at <= to + (to - from) - by + 2.0 * MS;
    is_hidden.then_some(1.1 * by.abs() + 2.0 * run.quickest)
}

/// Runs of a kind: in nearly all the truth is inside of the bar, and the bar no more than two quickest messages.
fn check(kind: fn(&mut Random) -> Clock) {
    let mut verdicts = Vec::new();
    for seed in 0..SEEDS * 2 {
        let mut random = Random(seed * 7919 + 1);
        let reference =
            Clock { offset: 3.0 * SECOND, drift: random.between(-50e-6, 50e-6), ..Clock::default() };
        let clocks = [reference, kind(&mut random)];
        let run = simulate(clocks, &mut random, seed % 2 == 0);
        let verdict = judge(&run, clocks);
        assert!(verdict.bar <= 2.0, "seed {seed}: {verdict:?} {clocks:?}");
        verdicts.push(verdict);
    }
    let inside = verdicts.iter().filter(|verdict| verdict.is_inside).count();
    let largest = verdicts.iter().map(|verdict| verdict.bar).fold(0.0, f64::max);
    eprintln!("{inside} of {} inside, bar at most {largest:.2} quickest messages", verdicts.len());
    eprintln!("knots: {:?}", verdicts.iter().map(|verdict| verdict.knots).collect::<Vec<_>>());
    assert!(inside * 100 >= verdicts.len() * INSIDE, "only {inside} of {} inside", verdicts.len());
}

pub(crate) fn line(random: &mut Random) -> Clock {
    let offset = if random.uniform() < 0.5 { -10.0 } else { 10.0 } * SECOND;
    Clock { offset, drift: random.between(-200e-6, 200e-6), ..Clock::default() }
}

fn some_time(random: &mut Random) -> f64 {
    random.between(RUN.0 + 0.4 * SECOND, RUN.1 - 0.7 * SECOND)
}

fn stepped(random: &mut Random) -> Clock {
    let by = if random.uniform() < 0.5 { -5.0 } else { 5.0 } * MS;
    Clock { step: Some((some_time(random), by)), ..line(random) }
}

fn changing(random: &mut Random) -> Clock {
    let clock = line(random);
    let new = random.between(-200e-6, 200e-6);
    Clock { change: Some((some_time(random), new - clock.drift)), ..clock }
}

pub(crate) fn stepped_and_changing(random: &mut Random) -> Clock {
    Clock { step: stepped(random).step, ..changing(random) }
}

#[test]
fn offset_and_drift() {
    check(line);
}

#[test]
fn a_clock_that_is_set() {
    check(stepped);
}

#[test]
fn a_drift_that_changes() {
    check(changing);
}

#[test]
fn a_clock_that_is_set_and_changes_its_drift() {
    check(stepped_and_changing);
}

/// A run of two processes of one machine, with a clock that is set and changes its drift.
pub(crate) fn of_one_clock(seed: u64) -> Simulated {
    let mut random = Random(seed);
    let clock = stepped_and_changing(&mut random);
    let mut run = simulate([clock; 2], &mut random, true);
    for process in &mut run.spool.processes {
        (process.host, process.boot) = ("node".to_owned(), "boot".to_owned());
        process.definitions.retain(|definition| !matches!(definition, Definition::Exchange { .. }));
    }
    run
}

/// With one message in 40 ms and direction a bend is seen late, and bars grow with what that leaves open; but
/// they stay true.
#[test]
fn bars_hold_where_messages_are_rare() {
    let mut inside = Vec::new();
    for (place, kind) in [line, stepped, changing, stepped_and_changing].into_iter().enumerate() {
        for seed in 0..SEEDS / 2 {
            let mut random = Random(seed * 104_729 + place as u64);
            let clocks = [Clock::default(), kind(&mut random)];
            let run = simulate_at(clocks, &mut random, seed % 2 == 0, (5.0 * MS, 75.0 * MS));
            let merged = merged(&run.spool);
            let ([right, other], knots) = (marks(&merged.archive), knots(&merged));
            let is_inside =
                run.readings.iter().zip(right.iter().zip(&other)).all(|(&reading, (right, other))| {
                    let bar = along(knots.iter().map(|knot| (knot.0, knot.2)), reading);
                    (other - right).abs() as f64 <= bar
                });
            inside.push(is_inside);
        }
    }
    let count = inside.iter().filter(|inside| **inside).count();
    eprintln!("{count} of {} inside", inside.len());
    assert!(count * 100 >= inside.len() * INSIDE, "{inside:?}");
}

/// Nothing is added to a clock that all count, and nothing is moved, whatever its messages say.
#[test]
fn processes_of_one_clock_are_not_corrected() {
    for kind in [ClockKind::Tsc, ClockKind::Monotonic] {
        let mut run = of_one_clock(5);
        run.spool.processes.iter_mut().for_each(|process| process.clock = kind.code());
        let process = &mut run.spool.processes[1];
        let last = RUN.1 + 4.0 * SECOND;
        let [begin, over] = [last, last + 500.0].map(|time| Clock::default().reading(time));
        call(process, 0, "MPI_Recv", begin, over, |p| p.receive(0, message(0, 9)));
        let [begin, over] = [last + SECOND, last + SECOND + 500.0].map(|time| Clock::default().reading(time));
        call(&mut run.spool.processes[0], 0, "MPI_Send", begin, over, |p| p.send(0, message(1, 9)));
        let merged = merged(&run.spool);
        let clocks = merged.table("clocks");
        assert_eq!(clocks.text("kind").unwrap(), [kind.name(); 2]);
        assert_eq!(clocks.i64("offset_ns").unwrap(), [0, 0]);
        assert_eq!(clocks.f64("drift_ppm").unwrap(), [0.0, 0.0]);
        assert_eq!(clocks.u32("clock").unwrap(), [0, 0]);
        assert_eq!(knots(&merged).len(), 2);
        assert!(merged.problem("clock_violations") > 0, "what a step of the clock makes of messages stays");
        assert_eq!(merged.problem("causal_shifts"), 0);
        let [one, other] = marks(&merged.archive);
        assert_eq!(one, other);
    }
}

/// Readings can be recovered from what the archive has.
#[test]
fn readings_can_be_recovered() {
    let mut random = Random(11);
    let clocks = [Clock::default(), stepped_and_changing(&mut random)];
    let run = simulate(clocks, &mut random, true);
    let merged = merged(&run.spool);
    let [_, other] = marks(&merged.archive);
    let knots = knots(&merged);
    let (at, by) = clocks[1].step.unwrap();
    let (from, to) = hidden(&run, at);
    let mut checked = 0;
    for (&time, &mark) in run.marks.iter().zip(&other) {
        // Where a clock stood still many readings have one time.
        if time < from || time > to + by.abs() {
            let ticks = along(knots.iter().map(|knot| (knot.1, knot.0)), mark as f64);
            let reading = clocks[1].reading(time) as f64;
            assert!((ticks - reading).abs() <= 3.0, "{ticks} is not {reading}");
            checked += 1;
        }
    }
    assert!(checked > 500, "{checked}");
}
