//! Ranks whose clocks differ: rank 1 counts one that is 5 s ahead and gains 500 ppm, the most by which
//! a kernel steers a clock. The clock exchanges after `MPI_Init` and before `MPI_Finalize` must find
//! both, and no message may then seem to arrive before it was sent.
//!
//! The one idea: what is wrong with the clock is known exactly, for the test has put it there, so the
//! true time of every reading is known too. In true time a round of an exchange shows how long its two
//! messages took, and by no more than that can anybody be wrong who has nothing but the round: it is
//! 0.2 to 0.7 µs each way in shared memory, and scheduler ticks where the ranks had to wait for a
//! processor. All bars are made of these times and of nothing that the merge says.

use std::path::Path;

use marey_model::spool::{Definition, Stream, view, window_len};

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

const OFFSET_NS: f64 = 5e9;
const DRIFT: f64 = 500e-6;

/// Sets the clocks and goes on to the program. Rank 0 counts the machine's monotonic clock.
const SET_CLOCKS: &str = r#"
    case "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" in
        0) export MAREY_CLOCK_SKEW=0,0 ;;
        1) export MAREY_CLOCK_SKEW=5000000000,500000 ;;
    esac
    exec "$0" "$@"
"#;

/// A bar for the drift at which the test tells right from wrong.
const SHARP: f64 = DRIFT / 10.0;
/// Recordings until the ranks have had processors for themselves in both exchanges.
const ATTEMPTS: usize = 10;
/// Rounds of an exchange.
const ROUNDS: usize = 10;
/// Times are whole ns at both ends, and a round is not quite at one time.
const ROUNDING_NS: f64 = 10.0;
/// How well a reading of the clock is known.
const READING_NS: f64 = 100.0;
/// Between two readings that belong together a process can lose its processor.
const PREEMPTED_NS: f64 = 50e6;

/// The true time of a reading of rank 1's clock.
fn true_ns(ticks: f64) -> f64 {
    (ticks - OFFSET_NS) / (1.0 + DRIFT)
}

/// Records a program of two ranks with these clocks.
fn record(mpi: Mpi, source: &str) -> Option<(Place, Run)> {
    let mpi = need!(mpi.installed(), "{mpi:?}" => None);
    let build = Build { mpi, compiler: Compiler::C, sources: &[source], flags: &[], output: "program" };
    let program = need!(build.path(), "a C compiler for {mpi:?}" => None);
    let place = Place::new();
    let truth = place.dir("truth");
    let job = Job::new(mpi, 2, "/bin/sh").option("--keep-spool");
    let job = job.arg("-c").arg(SET_CLOCKS).arg(program).env("MATCH_OUT", truth);
    let run = job.record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&[]);
    Some((place, run))
}

/// One question and its answer, in true time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    at: f64,
    /// How long the question took, and the answer.
    there: f64,
    back: f64,
    /// Between the two, at rank 1.
    pause: f64,
}

impl Round {
    /// What the round leaves open.
    fn width(&self) -> f64 {
        self.there + self.back
    }
}

/// All rounds that rank 0 has recorded, in order.
pub(crate) fn rounds(spool: &Path) -> Vec<Round> {
    let mut rounds = Vec::new();
    for entry in std::fs::read_dir(spool).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "definitions") {
            continue;
        }
        let bytes = std::fs::read(path).unwrap();
        let mut rest = &bytes[..];
        while let Some(len) = window_len(rest) {
            let window = view(rest).unwrap();
            assert_eq!(window.head.stream, Stream::Definitions);
            let mut at = 0;
            while at < window.records.len() {
                let definition = Definition::decode(window.records, &mut at).unwrap();
                if let Some(Definition::Exchange { sent, received, returned, came_back, .. }) = definition {
                    let [received, returned] = [received, returned].map(|ticks| true_ns(ticks as f64));
                    let (there, back) = (received - sent as f64, came_back as f64 - returned);
                    rounds.push(Round { at: received, there, back, pause: returned - received });
                }
            }
            rest = &rest[len..];
        }
    }
    rounds.sort_by(|a, b| a.at.total_cmp(&b.at));
    rounds
}

/// How a clock was turned into time since the start of the run.
struct Line {
    knots: [(f64, f64); 2],
}

impl Line {
    fn of(run: &Run, rank: usize) -> Self {
        let knots = run.table("clocks").text("knots").unwrap()[rank].clone();
        Self { knots: serde_json::from_str(&knots).unwrap() }
    }

    fn at(&self, ticks: f64) -> f64 {
        let [from, to] = self.knots;
        from.1 + (ticks - from.0) * (to.1 - from.1) / (to.0 - from.0)
    }
}

/// What can be known from the best round of each exchange.
struct Known {
    begin: Round,
    end: Round,
}

impl Known {
    /// `None` if an exchange ran out of patience.
    fn of(rounds: &[Round]) -> Option<Self> {
        let whole = |round: &Round| round.width() + round.pause;
        let best = |rounds: &[Round]| *rounds.iter().min_by(|a, b| whole(a).total_cmp(&whole(b))).unwrap();
        let (early, late) = rounds.split_at_checked(ROUNDS)?;
        (late.len() == ROUNDS).then(|| Self { begin: best(early), end: best(late) })
    }

    fn apart(&self) -> f64 {
        self.end.at - self.begin.at
    }

    /// The largest drift of a clock that contradicts neither round.
    fn drift(&self) -> f64 {
        let fast = self.end.back + self.begin.there;
        let slow = self.end.there + self.begin.back;
        (fast.max(slow) + ROUNDING_NS) / self.apart()
    }

    /// Half of what clocks that contradict neither can differ by at a time outside of them.
    fn half(&self, at: f64) -> f64 {
        let (near, far, beyond) = if at < self.begin.at {
            (self.begin, self.end, self.begin.at - at)
        } else {
            (self.end, self.begin, at - self.end.at)
        };
        let share = beyond / self.apart();
        (near.width() * (1.0 + share) + far.width() * share) / 2.0
    }
}

/// Compares what was stated with what is known; the bar for the drift, if both exchanges were finished.
fn compare(run: &Run) -> Option<f64> {
    let rounds = rounds(&run.path().join("spool"));
    for round in &rounds {
        assert!(round.there > -ROUNDING_NS && round.back > -ROUNDING_NS, "before it was sent: {round:?}");
    }
    let known = Known::of(&rounds)?;
    let clocks = &run.json("info")["clocks"];
    let stated = |rank: usize, name: &str| clocks[rank][name].as_f64().unwrap();
    let (right, wrong) = (Line::of(run, 0), Line::of(run, 1));
    let off = |at: f64| wrong.at(at * (1.0 + DRIFT) + OFFSET_NS) - right.at(at);

    for round in [known.begin, known.end] {
        let range = -round.there - ROUNDING_NS..=round.back + ROUNDING_NS;
        assert!(range.contains(&off(round.at)), "off by {} ns, but {round:?}", off(round.at));
    }
    let drift = stated(1, "drift_ppm") / 1e6;
    let rest = (1.0 + drift) * (1.0 + DRIFT) - 1.0;
    let bar = known.drift();
    eprintln!(
        "off {} ns, drift {rest:e}, bar {bar:e}; {:?} {:?}",
        off(known.begin.at),
        known.begin,
        known.end
    );
    assert!(rest.abs() <= bar, "drift {drift} leaves {rest}, bar {bar}");

    let ends = wrong.knots.map(|(ticks, _)| true_ns(ticks));
    let uncertainty = stated(1, "uncertainty_ns");
    let bar = known.half(ends[0]).max(known.half(ends[1])) + READING_NS + ROUNDING_NS;
    let most = off(ends[0]).abs().max(off(ends[1]).abs());
    assert!(most <= uncertainty && uncertainty <= bar, "off by {most} ns, stated {uncertainty}, bar {bar}");
    // What must be added to the wrong clock where it was first read, which the calendar tells as well.
    let expected = -(OFFSET_NS + ends[0] * DRIFT);
    let offset = stated(1, "offset_ns");
    assert!((offset - expected).abs() < PREEMPTED_NS, "offset {offset}, expected {expected}");
    assert_eq!((stated(0, "offset_ns"), stated(0, "drift_ppm")), (0.0, 0.0));
    Some(known.drift())
}

fn check(mpi: Mpi) {
    let mut best = None;
    for _ in 0..ATTEMPTS {
        let Some((_place, run)) = record(mpi, "clocks.c") else { return };
        let bar = compare(&run);
        if bar.is_some_and(|bar| bar < SHARP) {
            return;
        }
        best = best.or(bar);
    }
    assert!(best.is_some(), "none of {ATTEMPTS} runs had both exchanges");
    marey_testkit::leave_out("the drift: other programs left the ranks no processors for an exchange");
}

#[test]
fn exchanges_find_offset_and_drift_with_open_mpi() {
    check(Mpi::Open);
}

#[test]
fn exchanges_find_offset_and_drift_with_mpich() {
    check(Mpi::Mpich);
}

#[test]
fn no_message_arrives_before_it_was_sent() {
    for mpi in Mpi::BOTH {
        record(mpi, "match_wild.c");
    }
}
