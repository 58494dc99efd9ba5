//! Findings: what clocks have to say of delays, and what is worth changing though nobody was late.
//!
//! The one idea: each run is drawn, and what should be told of it was worked out by hand from `docs/wait-states.md`.
//! Clocks are added to a drawing, for a drawing has one.

use marey_analyze::{
    Causes, Confidence, Dominant, Excerpt, Finding, FindingKind, ProcessClock, Selection, Span, Trace,
    causes, causes_of, dominant, efficiency, findings, in_context,
};
use marey_model::{LocationId, Nanos, ProcessId, Role};
use marey_testkit::{Drawing, MadeUp, random_drawing};

const LEGEND: &str = "1 char = 10 ns
w = source execute work solve
o = source execute work other
S = mpi MPI_Send transfer
R = mpi MPI_Recv transfer
r = mpi MPI_Wait wait
A = mpi MPI_Alltoall all-to-all
I = mpi MPI_Init manage
W = files write io
";

fn drawn(text: &str) -> Drawing {
    Drawing::parse(&format!("{LEGEND}\n{text}")).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

/// A clock of its own for each process, with its bounds at some times.
fn clock(process: u32, clock: u32, knots: &[(i64, Option<i64>)]) -> ProcessClock {
    let knots = knots.iter().map(|&(at, bound)| (Nanos(at), bound.map(Nanos))).collect();
    ProcessClock { process: ProcessId(process), clock: Some(clock), knots }
}

fn explained(run: &Drawing) -> Causes {
    causes(run, run).expect("all can be read")
}

fn found(run: &Drawing) -> Vec<Finding> {
    findings(run, &explained(run))
}

/// Rank 0 sends 100 ns after rank 1 waits for it, in a run of 1 µs.
fn late() -> Drawing {
    drawn(
        "a rank 0 |wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwSwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww
b rank 1 |wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwRRRRRRRRRRRwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww

message a:S1 -> b:R1
",
    )
}

#[test]
fn a_delay_that_clocks_could_make_is_none() {
    let cases: &[(Option<i64>, Option<Confidence>)] = &[
        (Some(0), Some(Confidence::Measured)),
        (Some(49), Some(Confidence::Measured)),
        (Some(50), Some(Confidence::Clocks)),
        (Some(99), Some(Confidence::Clocks)),
        (Some(100), None),
        (Some(1000), None),
        (None, Some(Confidence::Clocks)),
    ];
    for &(bound, expected) in cases {
        let mut run = late();
        run.clocks = vec![clock(0, 0, &[(0, Some(0))]), clock(1, 1, &[(0, bound)])];
        let found = found(&run);
        assert_eq!(found.first().map(Finding::confidence), expected, "{bound:?}");
        for finding in &found {
            assert_eq!((finding.kind, finding.effect), (FindingKind::Delay, Nanos(100)), "{bound:?}");
            assert_eq!(finding.clock_bar, bound.map(Nanos));
        }
        // One clock: whatever it is wrong by, both are.
        run.clocks[1].clock = Some(0);
        let found = self::found(&run);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].confidence(), found[0].clock_bar), (Confidence::Measured, Some(Nanos(0))));
    }
}

#[test]
fn without_numbers_of_clocks_those_of_a_host_share_one() {
    let mut run = late();
    run.clocks = vec![clock(0, 0, &[(0, Some(100))]), clock(1, 1, &[(0, Some(100))])];
    assert!(found(&run).is_empty());
    for clock in &mut run.clocks {
        clock.clock = None;
    }
    assert_eq!(found(&run).len(), 1);
}

#[test]
fn the_bar_is_that_of_both_clocks_when_the_wait_ends() {
    let mut run = late();
    // The wait ends at 400: 4/5 of the way from 20 to 30, and beyond the last knot.
    run.clocks =
        vec![clock(0, 3, &[(0, Some(20)), (500, Some(30))]), clock(1, 4, &[(0, Some(90)), (100, Some(7))])];
    let found = found(&run);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].clock_bar, Some(Nanos(28 + 7)));
}

#[test]
fn many_short_waits_do_not_hide_a_long_one() {
    // Waits of 200 and four of 10 ns. All of the first, and half of each other, is for w: S did as much.
    // (200 · 200 + 4 · 5 · 10) / 220 = 182.7
    let mut run = drawn(
        "a rank 0 |wwwwwwwwwwwwwwwwwwwwSwSwSwSwSwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww
b rank 1 |RRRRRRRRRRRRRRRRRRRRRrRrRrRrRwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww

message a:S1 -> b:R1
message a:S2 -> b:r1
message a:S3 -> b:r2
message a:S4 -> b:r3
message a:S5 -> b:r4
",
    );
    run.clocks = vec![clock(0, 0, &[(0, Some(0))]), clock(1, 1, &[(0, Some(100))])];
    let mut found = found(&run);
    found.retain(|finding| finding.kind == FindingKind::Delay);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].effect, found[0].clock_bar), (Nanos(183), Some(Nanos(100))));
    assert_eq!(found[0].confidence(), Confidence::Clocks);
}

#[test]
fn data_that_takes_its_time_is_transfer() {
    // All enter at once, and are in the operation for 60 of 120 ns.
    let run = drawn(
        "a rank 0 |wwwwAAAAAAww
b rank 1 |wwwwAAAAAAww

collective a:A1 b:A1
",
    );
    let found = found(&run);
    assert_eq!(found.len(), 1, "{found:#?}");
    let [finding] = &found[..] else { unreachable!() };
    assert_eq!((finding.kind, finding.gain), (FindingKind::Transfer, Nanos(60)));
    assert_eq!((finding.time, finding.locations.len()), (60.0, 1), "the path is on one of them");
    assert_eq!((finding.from, finding.to), (Nanos(40), Nanos(100)));
}

#[test]
fn a_network_that_is_not_slow_is_no_finding() {
    // 40 of 1 000 ns: 4 %.
    let run = drawn(
        "a rank 0 |wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwAAAAwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww
b rank 1 |wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwAAAAwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww

collective a:A1 b:A1
",
    );
    assert!(found(&run).is_empty());
    // Threads move nothing.
    let run = drawn(
        "B = threads pthread_barrier_wait barrier
a rank 0            |wwwwBBBBBBww
t thread 1 of rank 0|wwwwBBBBBBww
",
    );
    assert!(found(&run).is_empty());
    // And setting up is none of the network's.
    let run = drawn(
        "a rank 0 |IIIIIIIIIIwwwwwwwwww
b rank 1 |IIIIIIIIIIwwwwwwwwww
",
    );
    assert!(found(&run).is_empty());
}

#[test]
fn transfer_gives_back_no_more_than_an_ideal_network_does() {
    // Without the send rank 1 ends last: 180 of 200 ns.
    let run = drawn(
        "a rank 0 |wwwwwwwwwwSSSSSSSSSS
b rank 1 |wwwwwwwwwwwwwwwwww
",
    );
    let found = found(&run);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].kind, found[0].gain, found[0].time), (FindingKind::Transfer, Nanos(20), 100.0));
}

#[test]
fn files_on_the_path_are_told() {
    let run = drawn("a rank 0 |wwwwWWWWWWwwwwWW");
    let found = found(&run);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].kind, found[0].gain), (FindingKind::Files, Nanos(80)));
    assert_eq!((found[0].from, found[0].to), (Nanos(40), Nanos(160)));
}

#[test]
fn what_others_wait_for_is_told_once() {
    let run = drawn(
        "a rank 0 |wwwwWWWWWWWWSwwwwwwwwwwww
b rank 1 |wwwwRRRRRRRRRwwwwwwwwwwww

message a:S1 -> b:R1
",
    );
    let found = found(&run);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].kind, FindingKind::Delay);
}

/// In a part of a run those who had ended before it are not compared with those who are there.
#[test]
fn who_is_not_there_is_not_compared() {
    let run = drawn(
        "a rank 0 |wwwwwwwwwwoo
b rank 1 |wwwwwwwwwwoo
c rank 2 |wwww
",
    );
    let span = Span { from: Nanos(50), to: Nanos(100) };
    let selection = Selection { span, ..Selection::default() };
    let part = causes_of(&run, &run, &selection).expect("drawings can be read");
    let told = dominant(&run, &part, &[]).expect("all of the path is computation");
    assert_eq!((told.on_path, told.mean, told.is_alike), (Nanos(50), 50.0, true));
}

#[test]
fn what_takes_half_of_the_path_is_said() {
    let told = |text: &str| {
        let run = drawn(text);
        let causes = explained(&run);
        dominant(&run, &causes, &findings(&run, &causes))
    };
    let alike = told(
        "a rank 0 |wwwwwwwwwwoo
b rank 1 |wwwwwwwwwwo.
",
    );
    let Some(Dominant { on_path, is_alike, .. }) = alike else { panic!("{alike:?}") };
    assert_eq!((on_path, is_alike), (Nanos(100), true));
    // Rank 0 does 100, the mean is 80.
    let uneven = told(
        "a rank 0 |wwwwwwwwwwoo
b rank 1 |wwwwwwoooo..
",
    );
    assert_eq!(uneven.map(|it| it.is_alike), Some(false));
    assert_eq!(
        told("a rank 0 |wwwwwoooooo.\n").map(|it| (it.on_path, it.is_alike)),
        Some((Nanos(60), false)),
        "alone is not alike"
    );
    assert_eq!(told("a rank 0 |wwwwoooo....\n"), None, "nothing has half of it");
    // What is a finding is not said again.
    let late = explained(&late());
    let found = findings(&self::late(), &late);
    assert_eq!((found.len(), dominant(&self::late(), &late, &found)), (1, None));
}

#[test]
fn a_little_unevenness_does_not_hide_what_takes_most_of_the_time() {
    // Rank 0 writes for 120 ns and rank 1 for 100: 10 can be won by evening that out, and 110 more by writing less.
    let run = drawn(
        "a rank 0 |wwwwWWWWWWWWWWWWSwwwwwww
b rank 1 |wwwwWWWWWWWWWWRRRwwwwwww

message a:S1 -> b:R1
",
    );
    let found: Vec<(FindingKind, Nanos)> = found(&run).iter().map(|it| (it.kind, it.gain)).collect();
    assert_eq!(found, [(FindingKind::Files, Nanos(110)), (FindingKind::Delay, Nanos(10))]);
}

/// Whatever a run is like: gains are no more than what they are part of, and come in order.
#[test]
fn gains_are_within_what_they_are_part_of() {
    let mut kinds = [0; 3];
    for seed in 1..=1000 {
        let text = random_drawing(seed);
        let run = Drawing::parse(&text).unwrap_or_else(|wrong| panic!("{seed}: {wrong}"));
        let causes = explained(&run);
        let lost = efficiency(&run, &causes).map_or(Nanos(0), |it| it.run_time - it.ideal);
        let found = findings(&run, &causes);
        assert!(found.is_sorted_by(|a, b| a.gain >= b.gain) && found.len() <= 10, "{seed}");
        for finding in &found {
            let part = match finding.kind {
                FindingKind::Delay => 100,
                FindingKind::Transfer | FindingKind::Files => 20,
            };
            assert!(finding.gain.0 * part + part >= run.duration().0, "{seed}: {finding:?}");
            assert!(finding.gain <= run.duration() && finding.from <= finding.to, "{seed}: {finding:?}");
            if finding.kind == FindingKind::Transfer {
                assert!(finding.gain <= lost, "{seed}: {finding:?}");
            }
            kinds[finding.kind as usize] += 1;
        }
    }
    assert!(kinds[0] >= 100 && kinds[1] >= 100, "{kinds:?}");
}

/// Of calls in a context nobody computes there; who is late for them had a processor all the same.
#[test]
fn a_part_of_the_calls_says_nothing_of_the_processor() {
    let mut run = MadeUp::new(2);
    run.sample(1_000_000);
    let meet = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 7), ("solve", 3)]);
    for _ in 0..20 {
        run.compute_in(&[("main", 5), ("update", 2)]);
        run.pause(LocationId(0), 12_000_000);
        run.pause(LocationId(1), 10_000_000);
        // Measuring is not what the program computes.
        run.compute_in(&[("libmarey.so+0x10", 0)]);
        run.pause(LocationId(0), 18_000_000);
        run.collective(meet, 1000);
    }
    let part = Selection { call_paths: Some(in_context(&run, "solve")), ..Selection::default() };
    let causes = causes_of(&run, &run, &part).expect("all can be read");
    let excerpt = Excerpt::new(&run, &run, &part).expect("all can be read");
    let found = findings(&excerpt, &causes);
    let [delay] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((delay.without_processor, delay.is_noise()), (Some(Nanos(0)), false));
    assert_eq!(delay.function.as_ref().map(|function| function.name.as_str()), Some("update"));
}

/// Two are late in turn, by 10 ms ten times each, and a third once, so that two wait: it is not named, but counted, if
/// it has more than a hundredth of all those waits.
#[test]
fn who_is_left_out_is_counted() {
    for (third, counted) in [(15, 1), (11, 0)] {
        let mut run = MadeUp::new(3);
        let barrier = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 7)]);
        for step in 0..21 {
            let (late, ms) = if step == 20 { (2, third) } else { (step % 2, 20) };
            for rank in 0..3 {
                run.pause(LocationId(rank), if rank == late { ms } else { 10 } * 1_000_000);
            }
            run.collective(barrier, 1000);
        }
        let causes = causes(&run, &run).expect("all can be read");
        let found = findings(&run, &causes);
        let delay = found.iter().find(|it| it.kind == FindingKind::Delay).expect("there is one");
        let named = [LocationId(0), LocationId(1)];
        assert_eq!((delay.locations.as_slice(), delay.others), (&named[..], counted), "{third}");
        // All three have waited, the third longest.
        assert_eq!((delay.effects[0].locations.len(), delay.effects[0].others), (3, 0));
        assert_eq!(delay.lines, 0, "computation outside of calls has no line");
    }
}

/// Calls from two lines of one function are one place, and it is said that there are two.
#[test]
fn lines_of_one_place_are_counted() {
    for second in [12, 20] {
        let mut run = MadeUp::new(2);
        let barrier = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 7)]);
        let lines = [12, second].map(|line| run.path(None, ("files", "write", Role::Io), &[("save", line)]));
        for line in lines {
            run.visit(LocationId(0), line, 10_000_000);
            run.collective(barrier, 1000);
        }
        let causes = causes(&run, &run).expect("all can be read");
        let found = findings(&run, &causes);
        let delay = found.iter().find(|it| it.kind == FindingKind::Delay).expect("there is one");
        assert_eq!(delay.lines, if second == 12 { 1 } else { 2 });
    }
}
