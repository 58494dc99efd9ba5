//! Threads of Rust: one waits for another for one known reason, or nobody does.
//!
//! The one idea is that of `truth.h`: an operation has a number, under which its sides note when they came and how long
//! they were in it, and the definitions are applied when all is over. There is no unsafe code, and no macro where a
//! frame between a call and its function would not matter.
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// The standard library waits at a futex for all but threads.
const FUTEX: &str = "futex wait";
const WORK: &str = "work";
const DELAY: &str = "delay";
/// From here on, joins are operations of their own numbers.
const JOINS: u32 = 600;

struct Event {
    op: u32,
    /// Empty: it lets others go on and waits for nobody.
    region: &'static str,
    function: &'static str,
    came: Instant,
    left: Instant,
}

struct Part {
    what: &'static str,
    function: &'static str,
    took: Duration,
}

struct Location {
    thread: &'static str,
    run: Duration,
    events: Vec<Event>,
    parts: Vec<Part>,
}

static LOCATIONS: Mutex<Vec<Location>> = Mutex::new(Vec::new());

thread_local! {
    static EVENTS: RefCell<Vec<Event>> = const { RefCell::new(Vec::new()) };
    static PARTS: RefCell<Vec<Part>> = const { RefCell::new(Vec::new()) };
    /// When the next part is to begin, if nothing held the thread up.
    static SCHEDULE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// When the next part begins: now, if the thread was held up, else as planned.
fn schedule(at: Instant) -> Instant {
    SCHEDULE.get().filter(|due| at < *due + Duration::from_millis(8)).unwrap_or(at)
}

/// The end of a part that begins at `began`.
fn until(began: Instant, ms: u64) -> Instant {
    let end = schedule(began) + Duration::from_millis(ms);
    SCHEDULE.set(Some(end));
    end
}

fn took(what: &'static str, function: &'static str, began: Instant) {
    let took = began.elapsed();
    if what == DELAY {
        // Whoever waited for this goes on from now on, so the others must, too.
        SCHEDULE.set(Some(began + took));
    }
    PARTS.with_borrow_mut(|parts| parts.push(Part { what, function, took }));
}

macro_rules! part {
    ($name:ident) => {
        #[inline(never)]
        fn $name(what: &'static str, ms: u64) {
            let began = Instant::now();
            let end = until(began, ms);
            sleep(end.saturating_duration_since(began));
            took(what, stringify!($name), began);
        }
    };
}
part!(work);
part!(late_part);

fn event(op: u32, region: &'static str, function: &'static str, came: Instant) {
    let left = Instant::now();
    EVENTS.with_borrow_mut(|events| events.push(Event { op, region, function, came, left }));
}

/// This side has come, by a call that nobody waits in.
fn comes(op: u32) {
    event(op, "", "", Instant::now());
}

/// Both halves run beside each other, the second in the main thread, which then joins the first as operation `join`.
fn beside(join: u32, half: impl FnOnce() + Send + 'static, main_half: impl FnOnce()) {
    beside_named("worker", join, half, main_half);
}

fn beside_named(
    name: &'static str,
    join: u32,
    half: impl FnOnce() + Send + 'static,
    main_half: impl FnOnce(),
) {
    let from = schedule(Instant::now());
    SCHEDULE.set(Some(from));
    let run = move || {
        SCHEDULE.set(Some(from));
        let began = Instant::now();
        // Long enough for it to have started.
        work(WORK, 20);
        half();
        comes(join);
        finish(name, began);
    };
    let thread = std::thread::Builder::new().name(name.into()).spawn(run).unwrap();
    work(WORK, 20);
    main_half();
    joiner(join, thread);
}

#[inline(never)]
fn joiner(join: u32, thread: JoinHandle<()>) {
    let came = Instant::now();
    thread.join().unwrap();
    event(join, "pthread_join", "joiner", came);
}

#[inline(never)]
fn meet(op: u32, barrier: &Barrier) {
    let came = Instant::now();
    barrier.wait();
    event(op, FUTEX, "meet", came);
}

#[inline(never)]
fn locker(op: u32, lock: &Mutex<u32>) {
    let came = Instant::now();
    let mut value = lock.lock().unwrap();
    event(op, FUTEX, "locker", came);
    *value += 1;
}

#[inline(never)]
fn unlocker(op: u32, mut guard: MutexGuard<'_, u32>) {
    *guard += 1;
    comes(op);
}

#[inline(never)]
fn awaiter(op: u32, ready: &(Mutex<u32>, Condvar), n: u32) {
    let mut value = ready.0.lock().unwrap();
    while *value < n {
        let came = Instant::now();
        value = ready.1.wait(value).unwrap();
        event(op, FUTEX, "awaiter", came);
    }
}

#[inline(never)]
fn signaller(op: u32, ready: &(Mutex<u32>, Condvar)) {
    *ready.0.lock().unwrap() += 1;
    comes(op);
    ready.1.notify_one();
}

#[inline(never)]
fn taker(op: u32, items: &Receiver<u32>) -> u32 {
    let came = Instant::now();
    let item = items.recv().unwrap();
    event(op, FUTEX, "taker", came);
    item
}

#[inline(never)]
fn giver(op: u32, items: &Sender<u32>) {
    comes(op);
    items.send(op).unwrap();
}

fn works() {
    work(WORK, 100);
}

fn works_late() {
    work(WORK, 100);
    late_part(DELAY, 300);
}

fn mutex_once() {
    let (lock, barrier) = (Arc::new(Mutex::new(0)), Arc::new(Barrier::new(2)));
    let (its, its_barrier) = (lock.clone(), barrier.clone());
    let holds = move || {
        let guard = its.lock().unwrap();
        meet(1, &its_barrier);
        late_part(DELAY, 300);
        unlocker(0, guard);
        works();
    };
    beside(JOINS, holds, || {
        meet(1, &barrier);
        locker(0, &lock);
        works();
    });
}

/// Two locks by turns: one that is given back and taken at once again would be had by the same.
fn mutex_many() {
    let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
    let barrier = Arc::new(Barrier::new(2));
    let (its, its_barrier) = (locks.clone(), barrier.clone());
    let holds = move || {
        for round in 0..25 {
            let guard = its[round as usize % 2].lock().unwrap();
            meet(100 + round, &its_barrier);
            late_part(DELAY, 10);
            unlocker(round, guard);
        }
    };
    beside(JOINS, holds, || {
        for round in 0..25 {
            meet(100 + round, &barrier);
            locker(round, &locks[round as usize % 2]);
        }
    });
}

/// One signals, `late` ms after the other began to wait for it, so many times.
fn condition(rounds: u32, late: u64) {
    let ready = Arc::new((Mutex::new(0), Condvar::new()));
    let its = ready.clone();
    let signals = move || {
        for round in 0..rounds {
            late_part(DELAY, late);
            signaller(round, &its);
        }
    };
    beside(JOINS, signals, || (0..rounds).for_each(|round| awaiter(round, &ready, round + 1)));
}

fn items(rounds: u32, late: u64) {
    let (gives, takes) = channel();
    let give = move || {
        for round in 0..rounds {
            late_part(DELAY, late);
            giver(round, &gives);
        }
    };
    beside(JOINS, give, || (0..rounds).for_each(|round| assert_eq!(taker(round, &takes), round)));
}

/// Both work in steps; where `late` is not 0, the main thread is late to each.
fn steps(rounds: u32, each: u64, late: u64) {
    let barrier = Arc::new(Barrier::new(2));
    let its = barrier.clone();
    let half = move || {
        for round in 0..rounds {
            work(WORK, each);
            meet(round, &its);
        }
    };
    beside(JOINS, half, || {
        for round in 0..rounds {
            work(WORK, each);
            if late != 0 {
                late_part(DELAY, late);
            }
            meet(round, &barrier);
        }
    });
}

/// The main thread waits for one that waits for items of a third.
fn chain_items_join() {
    let (gives, takes) = channel();
    let give = move || {
        works_late();
        giver(0, &gives);
    };
    let take = move || {
        works();
        _ = taker(0, &takes);
    };
    beside_named("first", JOINS + 1, give, || beside_named("second", JOINS, take, works));
}

/// What one needs the other has made already.
fn balanced_items() {
    let (gives, takes) = channel();
    let ready = Arc::new((Mutex::new(0), Condvar::new()));
    let its = ready.clone();
    let make = move || {
        for op in 0..50 {
            giver(op, &gives);
        }
        works();
        signaller(100, &its);
        work(WORK, 400);
    };
    beside(JOINS, make, || {
        works();
        (0..50).for_each(|op| assert_eq!(taker(op, &takes), op));
        works();
        awaiter(100, &ready, 1);
        work(WORK, 300);
    });
}

/// Hands over what the calling thread has noted.
fn finish(thread: &'static str, began: Instant) {
    let location = Location { thread, run: began.elapsed(), events: EVENTS.take(), parts: PARTS.take() };
    LOCATIONS.lock().unwrap().push(location);
}

/// How long an event held its location, the `own`-th, up.
fn wait(locations: &[Location], own: usize, event: &Event) -> Duration {
    let others = locations.iter().enumerate().filter(|&(at, _)| at != own);
    let theirs = others.flat_map(|(_, location)| &location.events).filter(|other| other.op == event.op);
    let last = theirs.map(|other| other.came).max().unwrap_or(event.came);
    last.min(event.left).saturating_duration_since(event.came)
}

/// A line for each thing, region and function of a location.
fn sums(locations: &[Location], own: usize) -> String {
    let location = &locations[own];
    let mut rows: Vec<(&str, &str, &str, Duration, Duration, u32)> = Vec::new();
    let mut add = |what, region, function, time: Duration, call: Duration| match rows
        .iter_mut()
        .find(|row| (row.0, row.1, row.2) == (what, region, function))
    {
        Some(row) => (row.3, row.4, row.5) = (row.3 + time, row.4 + call, row.5 + 1),
        None => rows.push((what, region, function, time, call, 1)),
    };
    for part in &location.parts {
        add(part.what, "", part.function, part.took, part.took);
    }
    for event in location.events.iter().filter(|event| !event.region.is_empty()) {
        add("wait", event.region, event.function, wait(locations, own, event), event.left - event.came);
    }
    add("run", "", "main", location.run, location.run);
    let line = |(what, region, function, time, call, instances): &(
        &str,
        &str,
        &str,
        Duration,
        Duration,
        u32,
    )| {
        format!(
            "{{\"what\":\"{what}\",\"who\":0,\"thread\":\"{}\",\"region\":\"{region}\",\"function\":\"{function}\",\
             \"seconds\":{:.9},\"call\":{:.9},\"instances\":{instances}}}\n",
            location.thread,
            time.as_secs_f64(),
            call.as_secs_f64(),
        )
    };
    rows.iter().map(line).collect()
}

fn main() {
    let name = std::env::args().nth(1).unwrap();
    let began = Instant::now();
    SCHEDULE.set(Some(began));
    match name.as_str() {
        "join_once" => beside(JOINS, works_late, works),
        "join_many" => (0..10).for_each(|n| beside(JOINS + n, || late_part(DELAY, 25), || ())),
        "mutex_once" => mutex_once(),
        "mutex_many" => mutex_many(),
        "condition_once" => condition(1, 300),
        "condition_many" => condition(40, 6),
        "channel_once" => items(1, 300),
        "channel_many" => items(40, 6),
        "barrier_once" => steps(1, 100, 300),
        "barrier_many" => steps(10, 10, 30),
        "chain_channel_join" => chain_items_join(),
        "balanced_join" => beside(JOINS, || work(WORK, 500), || work(WORK, 500)),
        "balanced_barrier" => steps(5, 100, 0),
        "balanced_channel" => balanced_items(),
        name => panic!("no case {name}"),
    }
    finish("main", began);
    let Ok(path) = std::env::var("TRUTH") else { return };
    let locations = LOCATIONS.lock().unwrap();
    for (own, location) in locations.iter().enumerate() {
        // Threads of one name, one after the other, are one file.
        let mut file =
            File::options().create(true).append(true).open(format!("{path}.{}", location.thread)).unwrap();
        file.write_all(sums(&locations, own).as_bytes()).unwrap();
    }
}
