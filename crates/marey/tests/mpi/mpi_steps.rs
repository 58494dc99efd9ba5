//! A clock that is set while ranks talk: rank 1 counts one that is 5 s ahead, gains 200 ppm, and is put
//! forward by 5 ms in the middle.
//!
//! The one idea: as in `mpi_clocks`, the test has made the clock wrong and knows the reading of it at every
//! true time; the knots in the archive say what time that reading was taken for. So the error is known at any
//! time, and must be within the bar that is stated there.

use marey_measure::clock::monotonic_ns;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

const OFFSET_NS: u64 = 5_000_000_000;
const DRIFT_PPB: u64 = 200_000;
const STEP_NS: u64 = 5_000_000;
/// From the start of the launcher to the step, and from there to the end, ns. The ranks must have begun to talk
/// before it.
const TIMES_NS: (u64, u64) = (3_000_000_000, 1_500_000_000);
/// Recordings until the ranks had begun in time and each message had its processor.
const ATTEMPTS: usize = 4;

/// Rank 0 counts the machine's monotonic clock.
const SET_CLOCKS: &str = r#"
    case "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" in
        0) export MAREY_CLOCK_SKEW=0,0 ;;
        1) export MAREY_CLOCK_SKEW="$WRONG" ;;
    esac
    exec "$0" "$@"
"#;

/// What the archive says of the clock of a rank: (ticks, time, bar), ns.
struct Knots(Vec<(f64, f64, f64)>);

impl Knots {
    fn of(run: &Run, rank: u32) -> Self {
        let table = run.table("clock_knots");
        let rows = (0..table.len()).filter(|&row| table.u32("process").unwrap()[row] == rank);
        let value = |name, row: usize| table.i64(name).unwrap()[row] as f64;
        Self(
            rows.map(|row| (value("ticks", row), value("time", row), value("uncertainty_ns", row))).collect(),
        )
    }

    /// Time and bar of a reading.
    fn at(&self, ticks: f64) -> (f64, f64) {
        let behind = self.0.partition_point(|knot| knot.0 <= ticks).clamp(1, self.0.len() - 1);
        let (from, to) = (self.0[behind - 1], self.0[behind]);
        let share = (ticks - from.0) / (to.0 - from.0);
        let along = |a: f64, b: f64, share: f64| a + (b - a) * share;
        (along(from.1, to.1, share), along(from.2, to.2, share.clamp(0.0, 1.0)))
    }
}

/// Reading of rank 1's clock at a true time.
fn reading(ns: u64, step_at: u64) -> f64 {
    let step = if step_at <= ns { STEP_NS } else { 0 };
    (ns + ns / 1000 * DRIFT_PPB / 1_000_000 + OFFSET_NS + step) as f64
}

/// The smallest one-way time seen, given the error of rank 1's clock at a time of the archive; `None` where
/// that changes.
fn quickest(run: &Run, error: impl Fn(f64) -> Option<f64>) -> f64 {
    let (messages, locations) = (run.table("messages"), run.table("locations"));
    let rank = |place: u32| locations.i64("rank").unwrap()[place as usize];
    let times = messages.i64("send_time").unwrap().iter().zip(messages.i64("recv_time").unwrap());
    let one_way =
        times.zip(messages.u32("send_location").unwrap()).filter_map(|((&sent, &received), &from)| {
            let seen = (received - sent) as f64;
            Some(if rank(from) == 0 { seen - error(received as f64)? } else { seen + error(sent as f64)? })
        });
    one_way.fold(f64::INFINITY, f64::min)
}

/// Whether the ranks talked on both sides of the step; everything else is asserted.
fn holds(run: &Run, step_at: u64, end: u64) -> bool {
    let (right, wrong) = (Knots::of(run, 0), Knots::of(run, 1));
    let first = run.table("clocks").i64("ticks_origin").unwrap()[0];
    let begin = u64::try_from(first).unwrap();
    if step_at < begin + 500_000_000 {
        eprintln!("MPI took {:.1} s to start", (begin + TIMES_NS.0 - step_at) as f64 / 1e9);
        return false;
    }
    let samples: Vec<(f64, f64, f64)> = (begin..end)
        .step_by(100_000)
        .map(|ns| {
            let ((time, _), (other, bar)) = (right.at(ns as f64), wrong.at(reading(ns, step_at)));
            (time, other - time, bar)
        })
        .collect();
    let inside = samples.iter().filter(|(_, error, bar)| error.abs() <= *bar).count();
    let error = |time: f64| {
        let place = samples.partition_point(|sample| sample.0 <= time).clamp(1, samples.len() - 1);
        let (before, after) = (samples[place - 1].1, samples[place].1);
        ((before - after).abs() < 10.0).then_some(before)
    };
    let quickest = quickest(run, error);
    let mut bars: Vec<f64> = samples.iter().map(|sample| sample.2).collect();
    bars.sort_by(f64::total_cmp);
    let [usual, most] = [bars[bars.len() / 2], bars[bars.len() - 1]];
    let within = bars.iter().filter(|&&bar| bar <= 2.0 * quickest).count();
    eprintln!(
        "{inside} of {} inside, bar {usual} ns, at most {most} ns, {within} within two of the quickest message, \
         {quickest} ns; {} knots",
        samples.len(),
        wrong.0.len()
    );
    assert!(inside * 100 >= samples.len() * 95, "{inside} of {} inside", samples.len());
    // Without a knot half of the step is missing on either side.
    assert!(usual < STEP_NS as f64 / 50.0, "{usual}");
    run.expect_no_problems(&["causal_shifts"]);
    within * 10 >= bars.len() * 9
}

fn check(mpi: Mpi) {
    let mpi = need!(mpi.installed(), "{mpi:?}");
    let build = Build { mpi, compiler: Compiler::C, sources: &["talk.c"], flags: &[], output: "talk" };
    let program = need!(build.path(), "a C compiler for {mpi:?}");
    for _ in 0..ATTEMPTS {
        let place = Place::new();
        let step_at = monotonic_ns() + TIMES_NS.0;
        let end = step_at + TIMES_NS.1;
        let wrong = format!("{OFFSET_NS},{DRIFT_PPB},{STEP_NS},{step_at}");
        let job = Job::new(mpi, 2, "/bin/sh").arg("-c").arg(SET_CLOCKS).arg(&program).arg(end.to_string());
        let run = job.env("WRONG", wrong).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        if holds(&run, step_at, end) {
            return;
        }
    }
    marey_testkit::leave_out("the bar: other programs left the ranks no processors for quick messages");
}

#[test]
fn a_clock_that_is_set_is_found_with_open_mpi() {
    check(Mpi::Open);
}

#[test]
fn a_clock_that_is_set_is_found_with_mpich() {
    check(Mpi::Mpich);
}
