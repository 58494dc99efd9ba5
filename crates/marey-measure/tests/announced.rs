//! Calls that are announced and written down when they are over: once each, with what happened in them
//! inside, whatever came between.
//!
//! Each test runs itself again as the program that records, and reads what that left.
#![expect(unsafe_code, reason = "a test that records calls and dies in one")]

#[path = "support/site.rs"]
mod site;
mod support;

use core::sync::atomic::{AtomicUsize, Ordering};

use marey_measure::{Thread, announce, current_thread, now, settle, write_announced};
use marey_model::spool::announced;
use site::site;
use support::{Spool, child, command, spool_of};

static LOOKED_UP: AtomicUsize = AtomicUsize::new(0);

unsafe fn first_word(_: *mut Thread, words: [usize; 4]) -> Option<u32> {
    LOOKED_UP.fetch_add(1, Ordering::Relaxed);
    u32::try_from(words[0]).ok()
}

/// A call of `site` that does `inside`.
fn call(brief: u32, site: u32, inside: impl FnOnce()) {
    let thread = current_thread();
    // SAFETY: the descriptor is the calling thread's, and nothing but `inside` comes between.
    unsafe {
        announce(thread, brief, [site as usize, 0, 0, 0], first_word);
        inside();
        let ended = now(thread);
        match settle(thread) {
            Some(began) => write_announced(thread, site, began, ended, |_, _| ()),
            None => marey_measure::leave(thread),
        }
    }
}

#[test]
fn what_happens_in_a_call_lies_inside_it() {
    const TEST: &str = "what_happens_in_a_call_lies_inside_it";
    const CALLS: usize = 50_000;
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        let (brief, outer) = (site("brief"), site("call"));
        for idx in 0..CALLS {
            call(brief, outer, || {
                if idx % 10 == 0 {
                    marey_measure::region!("inner");
                }
            });
        }
        assert_eq!(LOOKED_UP.load(Ordering::Relaxed), CALLS / 10);
        return;
    }
    let checked = Spool::read(child(TEST).path()).checked();
    let calls = u64::try_from(CALLS).unwrap();
    assert_eq!(checked.visits["call"], calls);
    assert_eq!(checked.visits["inner"], calls / 10);
    assert_eq!(checked.deepest, 2);
    assert_eq!((checked.open, checked.second, checked.dropped, checked.late), (0, 0, 0, 0));
    assert!(!checked.visits.contains_key("brief"));
    assert!(checked.windows > 2, "{}", checked.windows);
}

extern "C" fn in_handler(_: i32) {
    marey_measure::region!("handler");
}

#[test]
fn a_signal_handler_in_a_call_lies_inside_it() {
    const TEST: &str = "a_signal_handler_in_a_call_lies_inside_it";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        let (brief, outer) = (site("brief"), site("call"));
        // SAFETY: the handler records a region, which is allowed anywhere.
        unsafe { libc::signal(libc::SIGUSR1, in_handler as *const () as usize) };
        for _ in 0..100 {
            // SAFETY: raising a signal has no preconditions.
            call(brief, outer, || _ = unsafe { libc::raise(libc::SIGUSR1) });
        }
        return;
    }
    let checked = Spool::read(child(TEST).path()).checked();
    assert_eq!((checked.visits["call"], checked.visits["handler"]), (100, 100));
    assert_eq!((checked.deepest, checked.open, checked.second), (2, 0, 0));
}

#[test]
fn a_process_that_dies_in_a_call_has_said_so() {
    const TEST: &str = "a_process_that_dies_in_a_call_has_said_so";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        let (brief, outer) = (site("brief"), site("call"));
        call(brief, outer, || ());
        // SAFETY: ending the process has no preconditions.
        call(brief, outer, || _ = unsafe { libc::raise(libc::SIGKILL) });
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    assert!(!command(TEST, directory.path()).output().unwrap().status.success());
    let spool = Spool::read(directory.path());
    let windows = spool.processes[0].streams.values().next().unwrap();
    let tail = windows.last().unwrap().tail;
    let (said, ticks) = announced(tail.announced).unwrap();
    assert!(ticks > 0);
    let definitions = spool.definitions(&spool.processes[0]);
    let checked = spool.checked();
    assert_eq!((checked.visits["call"], checked.leaves), (1, 1));
    let sites = definitions.iter().filter_map(|definition| match definition {
        marey_model::spool::Definition::Site { id, .. } => Some(*id),
        _ => None,
    });
    assert_eq!(sites.min(), Some(said), "the brief one, which was defined first");
}
