//! Threads that do at once whatever they may do at once: define, record, go on to new windows, end,
//! count messages, are read while they write.
//!
//! An ordinary test, which counts what was recorded; but made for ThreadSanitizer, under which
//! `cargo xtask soak --only threads` runs it. So it has a `main` of its own — the standard library
//! and its test harness are not built with the sanitizer, which would take their channels for
//! races — and threads wait for each other by atomics and by joining alone.
#![expect(unsafe_code, clippy::unwrap_used, reason = "a test that records messages and reads mapped windows")]

mod support;

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use marey_measure::message::{self, Half};
use marey_measure::{LaneHandle, ROOM, Site, counter, event, region, site};
use marey_model::Detail;
use marey_model::spool::{Direction, Head, Record, at, op};
use support::{Spool, child, spool_of};

const TEST: &str = "threads_do_everything_at_once";
const THREADS: usize = 4;
const VISITS: usize = 40_000;
const MESSAGES: usize = 10_000;
const SHORT: usize = 200;
/// Records that fit into the first window of a thread, which the reader must not lose.
const WATCHED: u64 = 500;

/// What a test harness would do, as far as `cargo test` and `cargo nextest` ask for it.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    // The word behind such an option is its value, every other one a part of names to run.
    let valued = ["--format", "--test-threads", "--skip", "--color", "--logfile", "--shuffle-seed"];
    let before = std::iter::once("").chain(args.iter().map(String::as_str));
    let words =
        args.iter().zip(before).filter(|(arg, before)| !arg.starts_with('-') && !valued.contains(before));
    let mut filters = words.map(|(arg, _)| arg).peekable();
    let is_wanted = filters.peek().is_none() || filters.any(|filter| TEST.contains(filter.as_str()));
    if has("--ignored") || !is_wanted {
        return;
    }
    if has("--list") {
        #[expect(clippy::print_stdout, reason = "the runner reads the list")]
        {
            println!("{TEST}: test");
        }
        return;
    }
    match spool_of(TEST) {
        Some(directory) => record(&directory),
        None => check(),
    }
}

fn check() {
    let found = Spool::read(child(TEST).path()).checked();
    let all = u64::try_from(THREADS * VISITS).unwrap();
    assert_eq!(found.visits.iter().filter(|(name, _)| name.starts_with("shared")).count(), 300);
    let shared = found.visits.iter().filter(|(name, _)| name.starts_with("shared"));
    assert_eq!(shared.map(|(_, n)| n).sum::<u64>(), all);
    assert_eq!((found.visits["short"], found.visits["watched"]), (SHORT as u64, WATCHED));
    assert_eq!((found.open, found.dropped, found.late), (0, 0, 0));
    assert_eq!((found.enters, found.threads_ended), (found.leaves, THREADS + SHORT + 1));
    assert_eq!(found.counters.len() + found.events.len(), 2 * THREADS);
    assert_eq!((found.lanes.len(), found.spans.len()), (2 * THREADS, THREADS));
    assert!(found.spans.values().all(|(begin, end)| begin.is_some() && end.is_some() && begin != end));
    // Every number of the one channel that all threads send on, each once.
    let (_, mut numbers) = found.messages.into_iter().next().unwrap();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..(THREADS * MESSAGES) as u64), "{numbers:?}");
}

fn record(directory: &std::path::Path) {
    marey_measure::start(directory).unwrap();
    message::set_concurrent();
    let sites: Vec<&'static Site> = (0..300)
        .map(|idx| -> &'static Site {
            Box::leak(Box::new(Site::new(format!("shared {idx}").leak(), file!(), line!())))
        })
        .collect();
    let (started, running) = (AtomicUsize::new(0), AtomicUsize::new(THREADS));
    let (window, done) = (AtomicU64::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        let busy: [_; THREADS] = std::array::from_fn(|number| {
            let (sites, started, running) = (&sites, &started, &running);
            scope.spawn(move || {
                started.fetch_add(1, Ordering::AcqRel);
                while started.load(Ordering::Acquire) < THREADS {
                    std::hint::spin_loop();
                }
                let span = everything(number, sites);
                running.fetch_sub(1, Ordering::AcqRel);
                span
            })
        });
        // Two, so that one maps what the other has just unmapped.
        let short = [(); 2].map(|()| scope.spawn(short_threads));
        let writer = scope.spawn(|| watched(&window, &done));
        read_while_written(&window);
        done.store(1, Ordering::Release);
        writer.thread().unpark();
        writer.join().unwrap();
        while running.load(Ordering::Acquire) != 0 {
            // Modes are set while all look at it; that they stay the same is for the count's sake.
            let runtime = marey_measure::current_runtime().unwrap();
            runtime.define(|definitions| assert!(definitions.add_rule(Detail::Trace, "*"))).unwrap();
            // The lock is free most of the time, or those who wait for it would starve.
            (0..10_000).for_each(|_| std::hint::spin_loop());
        }
        // What one thread began another ends.
        busy.into_iter().for_each(|thread| drop(thread.join().unwrap()));
        short.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

fn short_threads() {
    for _ in 0..SHORT / 2 {
        let visit = || drop(site!("short").enter());
        std::thread::spawn(visit).join().unwrap();
    }
}

fn everything(number: usize, sites: &[&'static Site]) -> marey_measure::Span {
    let mut lane = LaneHandle::new("lane");
    drop(lane.enter(site!("on a lane")));
    event!("event", number = number);
    counter!("counter", "1", 1.0);
    for idx in 0..MESSAGES {
        region!("send");
        send(idx as u64 % 10);
    }
    for idx in 0..VISITS {
        // Each begins elsewhere, so that all of them define.
        drop(sites[(idx + number * 75) % sites.len()].enter());
    }
    site!("span").begin()
}

/// A message of one of a few sizes, all on one channel.
fn send(bytes: u64) {
    let half = Half {
        direction: Direction::Send,
        communicator: 0,
        peer: 1,
        tag: 2,
        datatype: 0,
        bytes,
        count: bytes,
        buffer: 0x1000,
        data: marey_measure::message::NO_DATA,
    };
    let runtime = marey_measure::current_runtime().unwrap();
    let thread = marey_measure::current_thread();
    // SAFETY: the descriptor is the calling thread's; a signature and a send take less than `ROOM`.
    let recorded = unsafe {
        marey_measure::write(thread, ROOM, |thread, scratch| {
            let slot = message::slot(runtime, thread, scratch, &half);
            scratch.byte(op::SEND);
            scratch.byte(slot);
        })
    };
    assert!(recorded);
}

/// Fills a part of its first window and shows where it is.
fn watched(window: &AtomicU64, done: &AtomicU32) {
    drop(site!("watched").enter());
    let thread = marey_measure::current_thread();
    // SAFETY: the descriptor is the calling thread's.
    window.store(unsafe { (*thread).window }, Ordering::Release);
    for _ in 1..WATCHED {
        drop(site!("watched").enter());
    }
    // Not spinning: the sanitizer remembers so many of a thread's steps, and keeps silent about a race
    // with one that it has forgotten.
    while done.load(Ordering::Acquire) == 0 {
        std::thread::park();
    }
}

/// Reads a window as the merge or a live view would, from its head up to the cursor, until all is
/// there. What it sees must be whole at every moment.
fn read_while_written(window: &AtomicU64) {
    let mut seen = 0;
    while seen < 2 * WATCHED {
        let window = window.load(Ordering::Acquire) as *const u8;
        if window.is_null() {
            continue;
        }
        // SAFETY: the writer keeps the window until it is told that it has been read.
        let bytes = unsafe {
            let cursor = &*window.add(at::CURSOR).cast::<AtomicU64>();
            let end = usize::try_from(cursor.load(Ordering::Acquire)).unwrap();
            let begin = Head::records_at(0);
            std::slice::from_raw_parts(window.add(begin), end - begin).to_vec()
        };
        let (mut at, mut count) = (0, 0);
        while at < bytes.len() {
            let record = Record::decode(&bytes, &mut at).expect("whole records");
            assert!(matches!(record, Record::Enter { .. } | Record::Leave { .. }), "{record:?}");
            count += 1;
        }
        assert!(seen <= count);
        seen = count;
    }
}
