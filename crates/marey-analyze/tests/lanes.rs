//! A lane changes no number: what is done for it a thread does, whose time that is.
//!
//! The one idea: a run is explained with a lane and without, and both times it is the same, however long the lane is and
//! whatever is on it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use marey_analyze::{
    CallPath, Frame, Location, LocationKind, Process, ProfileRow, Region, Trace, causes, efficiency,
};
use marey_model::{Nanos, StackId};
use marey_testkit::Drawing;

/// A run of which the last location is a lane.
struct WithLane<'d> {
    run: &'d Drawing,
    locations: Vec<Location>,
}

impl<'d> WithLane<'d> {
    fn new(run: &'d Drawing) -> Self {
        let mut locations = run.locations().to_vec();
        locations.last_mut().unwrap().kind = LocationKind::Lane;
        Self { run, locations }
    }
}

impl Trace for WithLane<'_> {
    fn beneath(&self) -> Option<&dyn Trace> {
        Some(self.run)
    }
    fn duration(&self) -> Nanos {
        self.run.duration()
    }
    fn regions(&self) -> &[Region] {
        self.run.regions()
    }
    fn call_paths(&self) -> &[CallPath] {
        self.run.call_paths()
    }
    fn stack(&self, stack: StackId) -> Vec<&Frame> {
        self.run.stack(stack)
    }
    fn processes(&self) -> &[Process] {
        self.run.processes()
    }
    fn locations(&self) -> &[Location] {
        &self.locations
    }
    fn profile(&self) -> &[ProfileRow] {
        self.run.profile()
    }
}

const THREADS: &str = "1 char = 10 ns
w = source execute work solve
S = mpi MPI_Send transfer
R = mpi MPI_Recv transfer
l = tasks live work task
r = tasks run work task

a rank 0            |wwwwSwww
b rank 1            |wwRRRwww
";
const LANE: &str = "t thread 1 of rank 1|  llllllllll
                    |   rrrr lll
";
const MESSAGE: &str = "
message a:S1 -> b:R1
";

#[test]
fn explanations_are_those_of_the_threads() {
    let alone = Drawing::parse(&format!("{THREADS}{MESSAGE}")).unwrap();
    // The lane outlasts all threads.
    let with_lane = Drawing::parse(&format!("{THREADS}{LANE}{MESSAGE}")).unwrap();
    let run = WithLane::new(&with_lane);
    let (found, expected) = (causes(&run, &with_lane).unwrap(), causes(&alone, &alone).unwrap());
    // Threads are not there any more while the lane still is.
    let times = |it: &marey_analyze::Causes| -> Vec<_> {
        let is_there = it.times.iter().filter(|row| row.activity != marey_analyze::Activity::NotStarted);
        is_there.map(|row| (row.location, row.activity, row.time, row.waiting)).collect()
    };
    assert_eq!(times(&found), times(&expected));
    assert!(found.times.iter().all(|row| row.location.0 < 2));
    assert_eq!(found.waits.list, expected.waits.list);
    // Its end is that of the run, which is longer with the lane.
    let begins = |it: &marey_analyze::Causes| -> Vec<_> {
        it.path.spans.iter().map(|span| (span.location, span.from)).collect()
    };
    assert_eq!(begins(&found), begins(&expected));
    let (found, expected) = (efficiency(&run, &found).unwrap(), efficiency(&alone, &expected).unwrap());
    assert_eq!((found.locations, found.largest, found.run_time), (2, Nanos(70), expected.run_time));
    assert_eq!((found.parallel, found.load_balance), (expected.parallel, expected.load_balance));
}

/// Without waits all are compared who have time.
#[test]
fn nobody_is_compared_with_a_lane() {
    let with_lane = Drawing::parse(&format!("{THREADS}{LANE}")).unwrap();
    let run = WithLane::new(&with_lane);
    let found = causes(&run, &with_lane).unwrap();
    assert_eq!(found.waits.list, []);
    assert_eq!(efficiency(&run, &found).unwrap().locations, 2);
    assert!(found.path.spans.iter().all(|span| span.location.0 < 2));
}
