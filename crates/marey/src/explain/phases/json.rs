//! Iterations for other programs; what the fields mean is told by the help and by `docs/json.md`.

use marey_analyze::{Border, Different, Loop, Trace};
use marey_model::Nanos;
use serde::Serialize;

use super::super::sheet::{JsonFigures, plain};
use super::super::{Place, rounded};
use super::{Page, Told, words};
use crate::words as names;

#[derive(Serialize)]
pub(super) struct Json<'t> {
    duration_ns: i64,
    from_ns: i64,
    to_ns: i64,
    text: Vec<String>,
    main: Option<usize>,
    looked_at: usize,
    phases: Vec<JsonPhase>,
    loops: Vec<JsonLoop<'t>>,
    told: Option<JsonTold<'t>>,
}

#[derive(Serialize)]
struct JsonPhase {
    phase: &'static str,
    #[serde(rename = "loop")]
    which: Option<usize>,
    from_ns: i64,
    to_ns: i64,
}

#[derive(Serialize)]
struct JsonLoop<'t> {
    #[serde(rename = "loop")]
    which: usize,
    inside: Option<usize>,
    iterations: u64,
    per: u64,
    rounds: u64,
    from_ns: i64,
    to_ns: i64,
    border: &'static str,
    level: &'t str,
    region: &'t str,
    function: &'t str,
    file: &'t str,
    line: u32,
    locations: Vec<String>,
    time: JsonFigures,
    drift: JsonDrift,
    kinds: Vec<JsonKind>,
    outliers: Vec<JsonOutlier>,
}

#[derive(Serialize)]
struct JsonDrift {
    slope_ns: f64,
    change: f64,
    p: f64,
    is_significant: bool,
}

#[derive(Serialize)]
struct JsonKind {
    number: u64,
    every: Option<u64>,
    first: usize,
    time: JsonFigures,
}

#[derive(Serialize)]
struct JsonOutlier {
    iteration: usize,
    from_ns: i64,
    time_ns: i64,
    expected_ns: i64,
    excess_ns: i64,
    score: f64,
    has_like: bool,
}

#[derive(Serialize)]
struct JsonTold<'t> {
    #[serde(rename = "loop")]
    which: usize,
    useful: JsonFigures,
    waiting: JsonFigures,
    mpi: JsonFigures,
    typical: Option<usize>,
    activities: Vec<JsonActivity<'t>>,
    different: Vec<Option<JsonDifferent<'t>>>,
    list: Vec<JsonIteration>,
}

#[derive(Serialize)]
struct JsonActivity<'t> {
    #[serde(flatten)]
    place: Place<'t>,
    time: JsonFigures,
}

#[derive(Serialize)]
struct JsonDifferent<'t> {
    location: String,
    #[serde(flatten)]
    place: Place<'t>,
    time_ns: i64,
    excess_ns: i64,
}

#[derive(Serialize)]
struct JsonIteration {
    iteration: usize,
    from_ns: i64,
    to_ns: i64,
    kind: usize,
    useful_ns: i64,
    waiting_ns: i64,
    mpi_ns: i64,
}

impl<'t> Json<'t> {
    pub(super) fn new(trace: &'t dyn Trace, duration: Nanos, page: &Page<'t>) -> Self {
        let Page { found, told, span, .. } = *page;
        let phase = |phase: super::Phase| JsonPhase {
            phase: if phase.which.is_some() { "loop" } else { phase.name },
            which: phase.which.map(|which| which + 1),
            from_ns: phase.from.0,
            to_ns: phase.to.0,
        };
        Self {
            duration_ns: duration.0,
            from_ns: span.from.0,
            to_ns: span.to.0,
            text: plain(&words::sentences(trace, page)),
            main: found.main.map(|main| main + 1),
            looked_at: found.looked_at,
            phases: words::course(found, span).into_iter().map(phase).collect(),
            loops: found.loops.iter().enumerate().map(|(which, it)| of_loop(trace, which, it)).collect(),
            told: told.map(|told| JsonTold::new(trace, told)),
        }
    }
}

fn of_loop<'t>(trace: &'t dyn Trace, which: usize, it: &'t Loop) -> JsonLoop<'t> {
    let place = Place::of_call(trace, Some(it.site.call_path));
    let (function, file, line) = match &it.site.frame {
        Some(frame) => (frame.function.as_str(), frame.file.as_str(), frame.line),
        None => (place.function, place.file, place.line),
    };
    let (from, to) = it.span();
    JsonLoop {
        which: which + 1,
        inside: it.inside.map(|outer| outer + 1),
        iterations: it.number,
        per: it.per,
        rounds: it.rounds,
        from_ns: from.0,
        to_ns: to.0,
        border: match it.border {
            Border::Opens => "begin",
            Border::Closes => "end",
            Border::Visit => "visit",
        },
        level: place.level,
        region: place.region,
        function,
        file,
        line,
        locations: it.locations.iter().map(|id| names::location(trace, *id)).collect(),
        time: (&it.time).into(),
        drift: JsonDrift {
            slope_ns: it.drift.slope,
            change: it.drift.change,
            p: it.drift.p,
            is_significant: it.drift.is_significant(),
        },
        kinds: it
            .kinds
            .iter()
            .map(|kind| JsonKind {
                number: kind.number,
                every: kind.every,
                first: kind.first + 1,
                time: (&kind.time).into(),
            })
            .collect(),
        outliers: it
            .outliers
            .iter()
            .map(|outlier| JsonOutlier {
                iteration: outlier.iteration + 1,
                from_ns: it.iterations[outlier.iteration].from.0,
                time_ns: it.iterations[outlier.iteration].length().0,
                expected_ns: rounded(outlier.expected).0,
                excess_ns: rounded(outlier.excess).0,
                score: outlier.score,
                has_like: outlier.has_like,
            })
            .collect(),
    }
}

impl<'t> JsonTold<'t> {
    fn new(trace: &'t dyn Trace, told: &Told<'_>) -> Self {
        let activity = |(activity, figures): &(marey_analyze::Activity, marey_analyze::Figures)| {
            JsonActivity { place: Place::of(trace, *activity), time: figures.into() }
        };
        let different = |it: &Option<Different>| {
            it.map(|it| {
                let place = Place::of(trace, it.activity);
                let location = names::location(trace, it.location);
                let (time_ns, excess_ns) = (it.time.0, rounded(it.excess).0);
                JsonDifferent { location, place, time_ns, excess_ns }
            })
        };
        let iterations = told.of.iterations.iter().zip(&told.shares.of_each).enumerate();
        Self {
            which: told.which + 1,
            useful: (&told.shares.useful).into(),
            waiting: (&told.shares.waiting).into(),
            mpi: (&told.shares.mpi).into(),
            typical: told.shares.typical.map(|typical| typical + 1),
            activities: told.shares.activities.iter().map(activity).collect(),
            different: told.shares.different.iter().map(different).collect(),
            list: iterations
                .map(|(place, (iteration, [useful, waiting, mpi]))| JsonIteration {
                    iteration: place + 1,
                    from_ns: iteration.from.0,
                    to_ns: iteration.to.0,
                    kind: iteration.kind + 1,
                    useful_ns: rounded(*useful).0,
                    waiting_ns: rounded(*waiting).0,
                    mpi_ns: rounded(*mpi).0,
                })
                .collect(),
        }
    }
}
