//! Waits that are too many to be listed.

use marey_model::{LocationId, Nanos};

use super::super::{InCommunicator, Pattern};
use super::*;

fn found(location: u32, from: i64, to: i64) -> Found {
    let wait = Wait {
        location: LocationId(location),
        cause: LocationId(0),
        from: Nanos(from),
        to: Nanos(to),
        call_path: None,
        pattern: Pattern::LateSender,
        in_vain: false,
        communicator: InCommunicator::NONE,
    };
    Found { wait, call_end: Nanos(to) }
}

fn finished(kept: Kept) -> (Vec<(u32, i64)>, Unlisted) {
    let (list, unlisted) = kept.finish(|_| 0);
    (list.iter().map(|wait| (wait.location.0, wait.from.0)).collect(), unlisted)
}

#[test]
fn of_waits_that_are_all_as_long_half_is_listed() {
    // The same ones, whatever the order in which they were found.
    for order in [[1, 2, 3, 4, 5, 6, 7, 8, 9], [9, 8, 7, 6, 5, 4, 3, 2, 1], [5, 9, 1, 3, 7, 2, 8, 4, 6]] {
        let mut kept = Kept::new(8, Span::ALL, 10);
        order.into_iter().for_each(|location| kept.add(found(location, 100, 150)));
        let unlisted = Unlisted { number: 5, time: Nanos(250), longest: Nanos(50) };
        assert_eq!(finished(kept), (vec![(1, 100), (2, 100), (3, 100), (4, 100)], unlisted));
    }
}

#[test]
fn what_is_left_out_counts_as_far_as_it_lies_in_the_span() {
    let mut kept = Kept::new(3, Span { from: Nanos(100), to: Nanos(200) }, 10);
    // Of these 10, 20, 30 and 40 ns lie in it; the first is the longest, but not there.
    for (location, from, to) in [(1, 0, 110), (2, 180, 210), (3, 150, 180), (4, 120, 160)] {
        kept.add(found(location, from, to));
    }
    // One more of 5 ns comes late, another of 25 is listed, and one lies outside.
    kept.add(found(5, 195, 900));
    kept.add(found(6, 175, 900));
    kept.add(found(7, 200, 900));
    let unlisted = Unlisted { number: 3, time: Nanos(35), longest: Nanos(20) };
    assert_eq!(finished(kept), (vec![(3, 150), (4, 120), (6, 175)], unlisted));
}

#[test]
fn nobody_waits_who_is_not_there() {
    let mut kept = Kept::new(3, Span::ALL, 2);
    kept.add(found(2, 10, 20));
    let mut of_nobody = found(1, 10, 20);
    of_nobody.wait.cause = LocationId(2);
    kept.add(of_nobody);
    kept.add(found(1, 30, 40));
    assert_eq!(finished(kept), (vec![(1, 30)], Unlisted::default()));
}
