//! Regions that are reduced because recording them is too dear: every visit is there once, and only such regions are.
//!
//! Each test runs itself again as the program that records, and reads what that left. None looks at how long anything
//! took: a region that does nothing is too dear on every machine, and one that is visited a few times is not.
#![expect(clippy::unwrap_used, unsafe_code, reason = "a test that forks, and dies")]

#[path = "support/killed.rs"]
mod killed;
#[path = "support/signalled.rs"]
mod signalled;
mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use killed::{killed, tell};
use marey_measure::{Config, Detail, Mode, TABLE, event, region, set_detail, start_with};
use marey_model::Rules;
use marey_model::spool::Definition;
use signalled::{signalled, worked};
use support::{Checked, Spool, child, spool_of};

/// Visits of a region that is too dear: recording the first hundred thousand takes longer than is free.
const N: u64 = 400_000;

fn start(spool: &Path, budget: u32, rules: &str) {
    let (spool, rules) = (spool.to_owned(), Rules::parse(rules).unwrap());
    let (mode, stack_depth, is_profile) = (Mode::Trace, 32, false);
    start_with(Config { spool, mode, rules, is_profile, max_bytes: 0, budget, stack_depth, skew: None })
        .unwrap();
}

/// Visits that were recorded, and those that were only counted.
fn visits(found: &Checked, name: &str) -> (u64, u64) {
    let of = |visits: &std::collections::BTreeMap<String, u64>| visits.get(name).copied().unwrap_or(0);
    (of(&found.visits), of(&found.counted))
}

/// Names of regions that were reduced.
fn reduced(spool: &Spool) -> BTreeSet<String> {
    let (mut names, mut sites, mut reduced) = (Vec::new(), Vec::new(), Vec::new());
    for definition in spool.processes.iter().flat_map(|process| spool.definitions(process)) {
        match definition {
            Definition::Region { id, noun, .. } => names.push((id, noun)),
            Definition::Site { id, region, .. } => sites.push((id, region)),
            Definition::Reduced { site, gap, .. } => {
                assert!(gap > 1);
                reduced.push(site);
            }
            _ => {}
        }
    }
    let region_of = |site: u32| sites.iter().find(|its| its.0 == site).unwrap().1;
    let name_of = |region: u32| names.iter().find(|its| its.0 == region).unwrap().1.clone();
    reduced.into_iter().map(|site| name_of(region_of(site))).collect()
}

fn names(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|&name| name.to_owned()).collect()
}

fn work() {
    region!("whole");
    for n in 0..N {
        if n % 20_000 == 0 {
            region!("cold");
            region!("cold inside");
        }
        region!("hot");
        if n % 1000 == 0 {
            region!("seldom inside");
        }
    }
}

#[test]
fn what_is_dear_is_counted_and_all_else_is_recorded() {
    const TEST: &str = "what_is_dear_is_counted_and_all_else_is_recorded";
    if let Some(directory) = spool_of(TEST) {
        start(&directory, 200, "");
        return work();
    }
    let spool = Spool::read(child(TEST).path());
    let found = spool.checked();
    assert_eq!(reduced(&spool), names(&["hot"]));
    let (recorded, counted) = visits(&found, "hot");
    assert_eq!(recorded + counted, N);
    assert!(counted > N / 2, "{counted}");
    // Some are timed as long as it runs.
    assert!(recorded > 0);
    for (name, number) in [("whole", 1), ("cold", 20), ("cold inside", 20), ("seldom inside", N / 1000)] {
        assert_eq!(visits(&found, name), (number, 0), "{name}");
    }
    assert_eq!((found.open, found.late, found.dropped), (0, 0, 0));
}

#[test]
fn without_a_budget_everything_is_recorded() {
    const TEST: &str = "without_a_budget_everything_is_recorded";
    if let Some(directory) = spool_of(TEST) {
        start(&directory, 0, "");
        return work();
    }
    let spool = Spool::read(child(TEST).path());
    assert_eq!(reduced(&spool), names(&[]));
    assert_eq!(visits(&spool.checked(), "hot"), (N, 0));
}

#[test]
fn what_rules_name_is_done_as_they_say() {
    const TEST: &str = "what_rules_name_is_done_as_they_say";
    if let Some(directory) = spool_of(TEST) {
        start(&directory, 200, "trace hot");
        // Later ones change what was reduced.
        for n in 0..2 * N {
            if n == N {
                assert!(set_detail(Detail::Trace, "other"));
            }
            region!("other");
        }
        return work();
    }
    let spool = Spool::read(child(TEST).path());
    assert_eq!(reduced(&spool), names(&["other"]));
    let found = spool.checked();
    assert_eq!(visits(&found, "hot"), (N, 0));
    let (recorded, counted) = visits(&found, "other");
    assert_eq!(recorded + counted, 2 * N);
    assert!(counted > N / 2 && recorded >= N, "{recorded}, {counted}");
}

/// Reducing these would save nothing, or nobody could tell which visit is left.
#[test]
fn regions_in_which_something_is_recorded_stay() {
    const TEST: &str = "regions_in_which_something_is_recorded_stay";
    fn again(depth: u32) {
        region!("again");
        if depth > 0 {
            again(depth - 1);
        }
    }
    if let Some(directory) = spool_of(TEST) {
        start(&directory, 200, "");
        for n in 0..N / 8 {
            region!("around an event");
            event!("inside", number = n);
        }
        for _ in 0..N / 8 {
            again(3);
        }
        return;
    }
    let spool = Spool::read(child(TEST).path());
    assert_eq!(reduced(&spool), names(&[]));
    let found = spool.checked();
    assert_eq!((visits(&found, "around an event"), visits(&found, "again")), ((N / 8, 0), (N / 2, 0)));
}

#[test]
fn what_lies_inside_of_each_other_is_reduced_together() {
    const TEST: &str = "what_lies_inside_of_each_other_is_reduced_together";
    if let Some(directory) = spool_of(TEST) {
        start(&directory, 200, "");
        for _ in 0..N {
            region!("outer");
            region!("inner");
        }
        return;
    }
    let spool = Spool::read(child(TEST).path());
    assert_eq!(reduced(&spool), names(&["inner", "outer"]));
    let found = spool.checked();
    for name in ["outer", "inner"] {
        let (recorded, counted) = visits(&found, name);
        assert_eq!(recorded + counted, N, "{name}");
        assert!(counted > N / 2, "{name}: {counted}");
    }
}

#[test]
fn threads_and_forked_children_count_for_themselves() {
    const TEST: &str = "threads_and_forked_children_count_for_themselves";
    if let Some(directory) = spool_of(TEST) {
        start(&directory, 200, "");
        work();
        // SAFETY: no other thread is there yet; the child leaves by `_exit`, like a process that calls nothing else.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                work();
                libc::_exit(0);
            }
            libc::waitpid(child, core::ptr::null_mut(), 0);
        }
        let threads: Vec<_> = (0..3).map(|_| std::thread::spawn(work)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        return;
    }
    let spool = Spool::read(child(TEST).path());
    assert_eq!(spool.processes.len(), 2);
    let found = spool.checked();
    let (recorded, counted) = visits(&found, "hot");
    assert_eq!(recorded + counted, 5 * N);
    // They begin with what the first has found out.
    assert!(counted > 4 * N, "{counted}");
    assert_eq!((visits(&found, "cold"), visits(&found, "whole")), ((100, 0), (5, 0)));
}

/// The program says from time to time how many visits it has made; what it left has as many.
#[test]
fn a_process_that_is_killed_has_left_all_visits() {
    const TEST: &str = "a_process_that_is_killed_has_left_all_visits";
    if let Some(directory) = spool_of(TEST) {
        start(&directory, 200, "");
        let tell = tell(&directory);
        for n in 1_u64.. {
            region!("hot");
            if n % 1000 == 0 {
                tell(n);
            }
        }
    }
    for round in 0..5 {
        let (made, found) = killed(TEST, N + 77_777 * round);
        let (recorded, counted) = visits(&found, "hot");
        assert!((made..=made + 1001).contains(&(recorded + counted)), "{made}: {recorded}, {counted}");
        assert!(counted > 0);
    }
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: i32) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    region!("hot");
    region!("hot in a handler");
}

/// The same as C does it, which leaves regions by their names, without knowing whether they were entered.
extern "C" fn c_handler(_: i32) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    visit_both();
}

fn visit_both() {
    // SAFETY: as `marey.h` does it: the sites are the table's, and so is the thread.
    unsafe {
        let thread = (TABLE.thread)();
        let sites = ["hot", "hot in a handler"].map(site);
        sites.into_iter().for_each(|site| _ = (TABLE.enter)(thread, site));
        sites.into_iter().rev().for_each(|site| (TABLE.leave)(thread, site));
    }
}

/// The site of a region that the tests enter by a guard, too.
fn site(name: &str) -> u32 {
    let all = SITES.get().unwrap();
    all[usize::from(name != "hot")]
}

static SITES: std::sync::OnceLock<[u32; 2]> = std::sync::OnceLock::new();

#[test]
fn handlers_that_come_at_any_time_lose_nothing() {
    check_handlers("handlers_that_come_at_any_time_lose_nothing", handler);
}

#[test]
fn handlers_leave_what_they_have_entered() {
    check_handlers("handlers_leave_what_they_have_entered", c_handler);
}

fn check_handlers(test: &str, handler: extern "C" fn(i32)) {
    if let Some(directory) = spool_of(test) {
        start(&directory, 200, "");
        let names = ["hot", "hot in a handler"];
        // SAFETY: the texts are as long as said.
        let sites =
            names.map(|name| unsafe { (TABLE.region)(name.as_ptr(), name.len(), name.as_ptr(), 0, 0) });
        SITES.set(sites).unwrap();
        for _ in 0..N {
            visit_both();
        }
        work();
        return signalled(&directory, handler, &HANDLED, || {
            for _ in 0..1000 {
                region!("hot");
            }
        });
    }
    let directory = child(test);
    let (rounds, handled) = worked(directory.path());
    let found = Spool::read(directory.path()).checked();
    let (recorded, counted) = visits(&found, "hot");
    let (also_recorded, also_counted) = visits(&found, "hot in a handler");
    let all = recorded + counted + also_recorded + also_counted;
    let most = 2 * N + 1000 * rounds + handled + N + handled;
    // What interrupts one that has interrupted a record itself is dropped, and counted: the enter of each region that is not
    // to be counted just then, and its leave where it can be told from one of a visit that was counted. How many those are
    // is up to how signals nest, with and without a budget.
    let missing = most.checked_sub(all).expect("no visit is there twice");
    assert!(
        (found.dropped.div_ceil(2)..=found.dropped).contains(&missing),
        "{missing} missing, {} records dropped",
        found.dropped
    );
    assert!(counted > N / 2, "{counted} counted");
    assert_eq!((found.open, found.late), (0, 0));
}
