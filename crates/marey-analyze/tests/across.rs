//! How ranks and threads differ: sums of small runs, worked out by hand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "made/drawn.rs"]
mod drawn;
mod made;

use marey_analyze::{AcrossFigures, Trace, call_paths_across, causes, regions_across};
use marey_model::LocationId;
use marey_testkit::Drawing;

use made::Made;

/// Least and most, who has them, mean and standard deviation.
fn check(found: AcrossFigures, [min, max]: [u64; 2], [least, most]: [u32; 2], [mean, std]: [f64; 2]) {
    assert_eq!((found.min, found.max), (min, max));
    assert_eq!((found.min_location, found.max_location), (LocationId(least), LocationId(most)));
    assert!((found.mean - mean).abs() < 1e-6 * mean && (found.std - std).abs() <= 1e-6 * std, "{found:?}");
}

#[test]
fn who_never_came_counts_with_nothing() {
    let run = Made::list(
        "rank 0 10 s processor 8 s memory 1
         rank 1 10 s processor 8 s memory 1
         rank 2 10 s processor 8 s memory 1
         call 0 main>step MPI_Send 4 2 s 100
         call 1 main>step MPI_Send 2 4 s 300
         call 0 main>other MPI_Send 1 3 s 8",
    );
    let s = 1_000_000_000;
    let [region] = regions_across(&run, None)[..] else { panic!() };
    let region = region.unwrap();
    assert_eq!((region.locations, region.waiting), (3, None));
    // 5, 4 and 0 s; 5, 2 and 0 visits; 108, 300 and 0 bytes.
    check(region.exclusive, [0, 5 * s], [2, 0], [3e9, (14e18_f64 / 3.0).sqrt()]);
    check(region.inclusive, [0, 5 * s], [2, 0], [3e9, (14e18_f64 / 3.0).sqrt()]);
    check(region.visits, [0, 5], [2, 0], [7.0 / 3.0, (38.0_f64 / 9.0).sqrt()]);
    check(
        region.bytes,
        [0, 300],
        [2, 1],
        [136.0, (28.0_f64.powi(2) + 164.0_f64.powi(2) + 136.0_f64.powi(2)).sqrt() / 3.0_f64.sqrt()],
    );
    assert!((region.exclusive.imbalance() - 2.0 / 3.0).abs() < 1e-12);
    let paths = call_paths_across(&run, None);
    check(paths[0].unwrap().exclusive, [0, 4 * s], [2, 1], [2e9, (8e18_f64 / 3.0).sqrt()]);
    check(paths[1].unwrap().exclusive, [0, 3 * s], [1, 0], [1e9, 2e18_f64.sqrt()]);
}

#[test]
fn of_equals_the_first_is_named() {
    let run = Made::list(
        "rank 0 10 s processor 8 s memory 1
         rank 1 10 s processor 8 s memory 1
         call 1 main>step MPI_Send 3 2 s 100
         call 0 main>step MPI_Send 3 2 s 100",
    );
    let region = regions_across(&run, None)[0].unwrap();
    check(region.exclusive, [2_000_000_000; 2], [0, 0], [2e9, 0.0]);
    assert!(region.visits.imbalance().abs() < 1e-12);
}

#[test]
fn helpers_are_compared_with_helpers_and_waits_count() {
    let drawing = Drawing::parse(
        "1 char = 10 ns
w = source execute work solve
h = source execute work help
S = mpi MPI_Send transfer
R = mpi MPI_Recv transfer

a rank 0            |wwwwSwww
                    |  ww
t thread 1 of rank 0|hhhhhh
b rank 1            |wwRRRwww
u thread 1 of rank 1|..

message a:S1 -> b:R1
",
    )
    .unwrap();
    let run = Made::with_sums(&drawing);
    let causes = causes(&drawing, &drawing).unwrap();
    let by_region = regions_across(&run, Some(&causes));
    let of = |name: &str| {
        let place = run.regions().iter().position(|region| region.name() == name).unwrap();
        by_region[place].unwrap()
    };
    // Only threads 1: 60 and 0 ns.
    assert_eq!(of("help").locations, 2);
    check(of("help").exclusive, [0, 60], [3, 1], [30.0, 30.0]);
    // The inner visit of the same region has no time of its own to add.
    assert_eq!(of("solve").locations, 2);
    check(of("solve").inclusive, [50, 70], [2, 0], [60.0, 10.0]);
    check(of("solve").exclusive, [50, 70], [2, 0], [60.0, 10.0]);
    check(of("solve").visits, [2, 3], [2, 0], [2.5, 0.5]);
    // Rank 1 waits from 20 to 40 ns.
    check(of("MPI_Recv").waiting.unwrap(), [0, 20], [0, 2], [10.0, 10.0]);
    check(of("MPI_Recv").exclusive, [0, 30], [0, 2], [15.0, 15.0]);
}
