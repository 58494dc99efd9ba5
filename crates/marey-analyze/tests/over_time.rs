//! When sentences happened, of runs that were made to say so.

use std::collections::BTreeSet;

use marey_analyze::over_time;
use marey_model::{LocationId, Nanos, Role};
use marey_testkit::MadeUp;

/// Four polls that take 50 ns together, within 1000 ns, and a visit of 600 ns that lies in three spans.
#[test]
fn what_lies_between_visits_is_in_no_span() {
    let mut run = MadeUp::new(1);
    let rank = LocationId(0);
    let poll = run.mpi("MPI_Test", Role::Wait, &[("main", 3)]);
    let send = run.mpi("MPI_Send", Role::Transfer, &[("main", 4)]);
    run.pause(rank, 500);
    run.polls_with_gaps(rank, poll, (1000, 950), 4);
    run.pause(rank, 450);
    run.visit(rank, send, 600);
    run.pause(rank, 450);
    let spans = |of| over_time(&run, &run, &BTreeSet::from([of]), 6).unwrap();
    let nothing = (0, Nanos(0));
    assert_eq!(spans(poll), [nothing, (4, Nanos(25)), (0, Nanos(25)), nothing, nothing, nothing]);
    assert_eq!(spans(send), [nothing, nothing, nothing, (1, Nanos(50)), (0, Nanos(500)), (0, Nanos(50))]);
}
