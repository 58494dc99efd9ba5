//! What a program does is what its spool holds: every visit, on every thread, through every
//! unusual moment — full windows, forks, handlers amid a record, a full disk, `kill -9`.
//!
//! Each test runs itself again as the program that records, and reads what that left.
#![expect(unsafe_code, clippy::unwrap_used, reason = "a test that forks, signals and maps pages")]

#[path = "support/signalled.rs"]
mod signalled;
mod support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;

use marey_measure::{LaneHandle, Site, attribute, counter, event, region, site};
use marey_model::spool::Definition;
use signalled::{signalled, worked};
use support::{Checked, Spool, child, command, spool_of};

fn pairs(n: u64) {
    for idx in 0..n / 2 {
        region!("outer");
        if idx % 2 == 0 {
            region!("even");
        } else {
            region!("odd");
        }
    }
}

fn recorded(test: &str) -> Checked {
    Spool::read(child(test).path()).checked()
}

/// Waits for the very ends of threads. A scope alone waits for their closures, and a process that
/// ends at once may cut off what a thread records at its end.
fn join<const N: usize>(threads: [ScopedJoinHandle<'_, ()>; N]) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_million_pairs_are_all_there() {
    const TEST: &str = "a_million_pairs_are_all_there";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        region!("all");
        return pairs(1_000_000);
    }
    let found = recorded(TEST);
    assert_eq!(found.visits["outer"], 500_000);
    assert_eq!(found.visits["even"] + found.visits["odd"], 500_000);
    assert_eq!((found.enters, found.open, found.dropped), (found.leaves, 0, 0));
    // Two pages, twice as much and so on.
    assert!(found.windows > 4, "{}", found.windows);
}

#[test]
fn threads_at_once_and_many_sites() {
    const TEST: &str = "threads_at_once_and_many_sites";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        // More than have an opcode of their own.
        let sites: Vec<&'static Site> = (0..500)
            .map(|idx| -> &'static Site {
                Box::leak(Box::new(Site::new(format!("site {idx}").leak(), file!(), line!())))
            })
            .collect();
        std::thread::scope(|scope| {
            let visits = || (0..100_000).for_each(|n| drop(sites[n % 500].enter()));
            join([(); 4].map(|()| scope.spawn(visits)));
        });
        return;
    }
    let found = recorded(TEST);
    assert_eq!(found.visits.len(), 500);
    assert!(found.visits.values().all(|&n| n == 800));
    assert_eq!((found.threads, found.threads_ended, found.open, found.dropped), (4, 4, 0, 0));
}

#[test]
fn deep_recursion_is_counted_where_it_is_not_recorded() {
    const TEST: &str = "deep_recursion_is_counted_where_it_is_not_recorded";
    fn down(levels: u32) {
        region!("down");
        if levels > 1 {
            down(levels - 1);
        }
    }
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        let deep = std::thread::Builder::new().stack_size(256 << 20);
        deep.spawn(|| [10_000, 3].map(down)).unwrap().join().unwrap();
        return;
    }
    let found = recorded(TEST);
    assert_eq!(found.visits["down"] + found.counted["down"], 10_003);
    assert_eq!((found.deepest, found.open, found.enters), (1024, 0, found.leaves));
}

#[test]
fn spans_begin_on_one_thread_and_end_on_another() {
    const TEST: &str = "spans_begin_on_one_thread_and_end_on_another";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        let spans: Vec<_> = (0..100).map(|_| site!("transfer").begin()).collect();
        return std::thread::spawn(move || drop(spans)).join().unwrap();
    }
    let found = recorded(TEST);
    assert_eq!(found.spans.len(), 100);
    assert!(found.spans.values().all(|&(begin, end)| begin == Some(0) && end == Some(1)), "{found:?}");
}

#[test]
fn events_counters_and_lanes_come_back_as_they_went_in() {
    const TEST: &str = "events_counters_and_lanes_come_back_as_they_went_in";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        region!("region");
        let text = "x".repeat(100_000);
        event!("all", u = u64::MAX, i = i64::MIN, f = -0.5, b = true, t = "wört", small = -1_i8);
        event!("none");
        event!("long", text = text, n = 5_u16);
        attribute!("fact", of = "region");
        counter!("cells", "1", 17.5);
        let mut lane = LaneHandle::new("task");
        drop(lane.enter(site!("piece")));
        return;
    }
    let found = recorded(TEST);
    let long = format!("long text={:?} n=5", "x".repeat(100_000));
    let all = format!("all u={} i={} f=-0.5 b=true t=\"wört\" small=-1", u64::MAX, i64::MIN);
    assert_eq!(found.events, [all.as_str(), "none", &long, "+fact of=\"region\""]);
    assert_eq!(found.counters, ["cells=17.5"]);
    assert_eq!(found.lanes, ["task piece", "task"]);
}

/// Forks by `fork` in a region; both sides record on.
fn forks(directory: &std::path::Path, fork: fn() -> i32) {
    marey_measure::start(directory).unwrap();
    pairs(1000);
    region!("around");
    let pid = fork();
    if pid == 0 {
        counter!("of the child", "1", 1.0);
        pairs(30_000);
        region!("new in the child");
        // SAFETY: the child of a threaded process leaves without running anything.
        unsafe { libc::_exit(0) };
    }
    pairs(20_000);
    let mut status = 0;
    // SAFETY: `status` is writable.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(status, 0);
}

fn forked(test: &str) {
    let directory = child(test);
    let spool = Spool::read(directory.path());
    assert_eq!(spool.processes.len(), 2);
    for process in &spool.processes {
        let mut found = Checked::default();
        spool.check_process(process, &mut found);
        let own = spool.definitions(process);
        let forks = own
            .iter()
            .filter(|definition| matches!(definition, Definition::Process { forked_from: Some(_), .. }));
        if forks.count() == 1 {
            assert_eq!((found.visits["outer"], found.dropped), (15_000, 0));
            assert_eq!((found.visits["new in the child"], found.open), (1, 1));
            assert_eq!(found.counters, ["of the child=1"]);
        } else {
            assert_eq!((found.visits["outer"], found.open, found.dropped), (10_500, 0, 0));
            assert_eq!((found.visits["around"], found.counters.len()), (1, 0));
        }
    }
}

#[test]
fn a_forked_child_writes_files_of_its_own() {
    const TEST: &str = "a_forked_child_writes_files_of_its_own";
    if let Some(directory) = spool_of(TEST) {
        // SAFETY: the child does little and leaves by `_exit`.
        return forks(&directory, || unsafe { libc::fork() });
    }
    forked(TEST);
}

#[test]
fn so_does_one_that_the_c_library_knows_nothing_of() {
    const TEST: &str = "so_does_one_that_the_c_library_knows_nothing_of";
    if let Some(directory) = spool_of(TEST) {
        // SAFETY: as above.
        return forks(&directory, || unsafe {
            i32::try_from(libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0)).unwrap()
        });
    }
    forked(TEST);
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    region!("handler");
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn handlers_that_record_amid_records_lose_nothing_uncounted() {
    const TEST: &str = "handlers_that_record_amid_records_lose_nothing_uncounted";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        // A handler must not be the first to enter a region: making definitions allocates.
        handler(0);
        pairs(4);
        return signalled(&directory, handler, &HANDLED, || pairs(1000));
    }
    let directory = child(TEST);
    let (rounds, handled) = worked(directory.path());
    let main = 4 + rounds * 1000;
    let found = Spool::read(directory.path()).checked();
    assert!(handled >= 5000, "{handled}");
    assert!(0 < found.second, "no handler came amid a record");
    assert_eq!(found.enters + found.leaves + found.dropped, 2 * (main + handled));
    assert_eq!(found.visits["outer"] + found.visits["even"] + found.visits["odd"], main);
    assert_eq!((found.open, found.late), (0, 0));
}

#[test]
fn thousands_of_short_threads() {
    const TEST: &str = "thousands_of_short_threads";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        for _ in 0..500 {
            std::thread::scope(|scope| join([(); 10].map(|()| scope.spawn(|| pairs(2)))));
        }
        return;
    }
    let found = recorded(TEST);
    assert_eq!((found.visits["outer"], found.visits["even"]), (5000, 5000));
    assert_eq!((found.threads, found.threads_ended, found.open, found.dropped), (5000, 5000, 0, 0));
}

#[test]
fn disk_space_that_a_thread_has_not_used_is_given_back() {
    use marey_model::spool::{Head, SLACK, busy_len, view, window_len};
    use std::os::unix::fs::MetadataExt;
    const TEST: &str = "disk_space_that_a_thread_has_not_used_is_given_back";
    const THREADS: u64 = 40;
    // Less than this is kept; the file system's own bookkeeping may take as much.
    const KEPT: u64 = 16 << 10;
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        for length in 1..=THREADS {
            std::thread::scope(|scope| join([scope.spawn(|| pairs(1500 * length))]));
        }
        return;
    }
    let directory = child(TEST);
    let files = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
    let events: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "events")).collect();
    let bytes = std::fs::read(&events[0]).unwrap();
    let (mut rest, mut most) = (&bytes[..], KEPT);
    while let Some(len) = window_len(rest).or_else(|| busy_len(rest)) {
        // One that was only made for a full disk is none, and keeps its first page.
        let records = view(rest).map_or(0, |window| Head::records_at(0) + window.records.len() + SLACK);
        most += (records.max(1).next_multiple_of(4096) as u64 + KEPT).min(len as u64);
        rest = &rest[len..];
    }
    assert_eq!(rest.len(), 0);
    let on_disk = std::fs::metadata(&events[0]).unwrap().blocks() * 512;
    assert!(most < bytes.len() as u64, "no thread left a window nearly empty");
    assert!(on_disk <= most, "{on_disk} of {} bytes are on the disk, {most} were needed", bytes.len());
    let found = Spool::read(directory.path()).checked();
    let visits = 1500 / 2 * THREADS * (THREADS + 1) / 2;
    assert_eq!((found.visits["outer"], found.dropped), (visits, 0));
}

/// A page that a killed child leaves to its parent.
fn shared_counter(path: &std::path::Path) -> &'static AtomicU64 {
    use std::os::fd::AsRawFd;
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    // SAFETY: the file has 4096 bytes, and the mapping stays.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let at = libc::mmap(core::ptr::null_mut(), 4096, access, libc::MAP_SHARED, file.as_raw_fd(), 0);
        assert_ne!(at, libc::MAP_FAILED);
        &*at.cast::<AtomicU64>()
    }
}

#[test]
fn what_was_committed_survives_a_kill() {
    const TEST: &str = "what_was_committed_survives_a_kill";
    if let Some(directory) = spool_of(TEST) {
        let count = shared_counter(&directory.join("count"));
        marey_measure::start(&directory.join("spool")).unwrap();
        loop {
            drop(site!("pair").enter());
            count.fetch_add(1, Ordering::SeqCst);
        }
    }
    let mut seed = u64::from(std::process::id());
    for _ in 0..50 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let target = seed >> 45;
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("count"), [0; 4096]).unwrap();
        let count = shared_counter(&directory.path().join("count"));
        let mut child = command(TEST, directory.path()).stdout(std::process::Stdio::null()).spawn().unwrap();
        while count.load(Ordering::SeqCst) < target {
            assert!(child.try_wait().unwrap().is_none());
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let count = count.load(Ordering::SeqCst);
        let found = Spool::read(&directory.path().join("spool")).checked();
        assert!(found.leaves == count || found.leaves == count + 1, "{} of {count}", found.leaves);
        assert!(found.enters - found.leaves <= 1);
    }
}

#[test]
fn on_a_full_disk_visits_are_added_up() {
    const TEST: &str = "on_a_full_disk_visits_are_added_up";
    if let Some(directory) = spool_of(TEST) {
        let small = directory.join("small");
        std::fs::create_dir(&small).unwrap();
        let at = std::ffi::CString::new(small.to_str().unwrap()).unwrap();
        // SAFETY: strings end with zero bytes. The mount is seen by this thread's namespace alone.
        let mounted = unsafe {
            libc::unshare(libc::CLONE_NEWNS) == 0
                && libc::mount(
                    c"none".as_ptr(),
                    c"/".as_ptr(),
                    core::ptr::null(),
                    libc::MS_REC | libc::MS_PRIVATE,
                    core::ptr::null(),
                ) == 0
                && libc::mount(
                    c"none".as_ptr(),
                    at.as_ptr(),
                    c"tmpfs".as_ptr(),
                    0,
                    c"size=512k".as_ptr().cast(),
                ) == 0
        };
        if !mounted {
            return;
        }
        std::fs::create_dir(directory.join("mounted")).unwrap();
        marey_measure::start(&small).unwrap();
        region!("around");
        pairs(200_000);
        for entry in std::fs::read_dir(&small).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, directory.join(path.file_name().unwrap())).unwrap();
        }
        return;
    }
    let directory = child(TEST);
    if !directory.path().join("mounted").exists() {
        // `beyond_a_limit_visits_are_added_up` takes the same path.
        return marey_testkit::leave_out("only some users may mount a file system");
    }
    let found = Spool::read(directory.path()).checked();
    let visits = ["outer", "even", "odd"].map(|name| found.visits[name]);
    assert_eq!((visits, found.dropped), ([100_000, 50_000, 50_000], 0));
    assert!(found.added_up > 10_000 && found.enters > 10_000, "{found:?}");
}

#[test]
fn a_program_that_starts_nothing_records_nothing() {
    const TEST: &str = "a_program_that_starts_nothing_records_nothing";
    if spool_of(TEST).is_some() {
        pairs(1000);
        counter!("cells", "1", 1.0);
        event!("event", n = 1);
        assert!(marey_measure::current_runtime().is_none());
        return;
    }
    assert_eq!(recorded(TEST).windows, 0);
}
