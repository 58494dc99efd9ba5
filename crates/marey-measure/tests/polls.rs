//! Polls in vain: all of them are there, in few records, whatever comes between them.
//!
//! Each test runs itself again as the program that records, and reads what that left.
#![expect(unsafe_code, clippy::unwrap_used, reason = "a test that records polls and dies between them")]

#[path = "support/killed.rs"]
mod killed;
#[path = "support/site.rs"]
mod site;
mod support;

use killed::{killed, tell};
use marey_measure::{Thread, announce, current_thread, now, settle, write_poll};
use site::site;
use support::{Spool, child, spool_of};

unsafe fn first_word(_: *mut Thread, words: [usize; 4]) -> Option<u32> {
    u32::try_from(words[0]).ok()
}

/// A poll at `site` that finds nothing.
fn poll(site: u32) {
    let thread = current_thread();
    // SAFETY: the descriptor is the calling thread's, and nothing comes between.
    unsafe {
        announce(thread, site, [site as usize, 0, 0, 0], first_word);
        let ended = now(thread);
        write_poll(thread, site, settle(thread).unwrap(), ended);
    }
}

#[test]
fn polls_in_a_row_take_one_record_and_the_first_its_own() {
    const TEST: &str = "polls_in_a_row_take_one_record_and_the_first_its_own";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        let poll_site = site("poll");
        (0..1000).for_each(|_| poll(poll_site));
        return;
    }
    let checked = Spool::read(child(TEST).path()).checked();
    assert_eq!(checked.visits["poll"], 1000);
    // The clock stood still for no longer than a record may take.
    assert!((1..10).contains(&checked.folds), "{}", checked.folds);
    assert!(checked.enters <= checked.folds, "{} and {}", checked.enters, checked.folds);
    assert_eq!((checked.open, checked.late, checked.dropped), (0, 0, 0));
}

#[test]
fn whatever_is_recorded_between_polls_keeps_them_apart() {
    const TEST: &str = "whatever_is_recorded_between_polls_keeps_them_apart";
    const ROUNDS: u64 = 20_000;
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        let (a, b) = (site("a"), site("b"));
        for n in 0..ROUNDS {
            (0..3).for_each(|_| poll(b));
            (0..3).for_each(|_| poll(a));
            match n % 3 {
                0 => {
                    marey_measure::region!("between");
                }
                1 => marey_measure::event!("between"),
                _ => {}
            }
            (0..3).for_each(|_| poll(a));
        }
        return;
    }
    let checked = Spool::read(child(TEST).path()).checked();
    assert_eq!((checked.visits["a"], checked.visits["b"]), (6 * ROUNDS, 3 * ROUNDS));
    assert_eq!(checked.visits["between"], ROUNDS.div_ceil(3));
    // One for each run of polls, but for those that a new window or a long pause has cut; and one more where
    // something came between.
    let runs = 2 * ROUNDS + 2 * ROUNDS / 3;
    let few = runs..runs + 2_000;
    assert!(few.contains(&checked.folds), "{}", checked.folds);
    assert!(checked.windows > 2, "{}", checked.windows);
    assert_eq!((checked.open, checked.late, checked.dropped), (0, 0, 0));
}

/// The program says after each poll how many it has made; what it left has as many, or one more.
#[test]
fn a_process_that_is_killed_has_left_all_of_them() {
    const TEST: &str = "a_process_that_is_killed_has_left_all_of_them";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        let (tell, poll_site) = (tell(&directory), site("poll"));
        for n in 1_u64.. {
            poll(poll_site);
            tell(n);
        }
    }
    for round in 0..20 {
        let (made, found) = killed(TEST, 100 + 777 * round);
        assert!((made..=made + 1).contains(&found.visits["poll"]), "{made}, {:?}", found.visits);
        assert!(found.folds > 0);
    }
}
