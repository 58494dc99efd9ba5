//! `marey scale`: how a program behaves at other sizes, learnt from runs of several.
//!
//! The one idea: all numbers become models once; sentences, tables, JSON and the export read the same ones. The definitions
//! are those of `docs/scaling.md`.

mod export;
mod json;
mod sizes;
mod tables;
mod verdict;

use std::io::{self, Write};
use std::process::ExitCode;

use marey_analyze::{
    Digest, FAR, Measure, Model, PlaceKind, Prediction, Ranking, ScaledEfficiency, ScaledRow, ScaledSubject,
    Scaling, Work, efficiencies, ranking, scaling,
};

use super::metrics::{Metric, Thresholds};
use super::{Compared, Depth, distinct, open_all};
use crate::cli::{Parts, ScaleArgs};
use crate::paint::{Paint, note, title};

pub(crate) use sizes::Said;
use sizes::{Parameter, sizes};

/// Runs of several sizes, and what follows from them.
struct Scaled {
    runs: Vec<Compared>,
    parameter: Parameter,
    scaling: Scaling,
    metrics: Vec<Modelled>,
    /// What parts of the program are ranked by.
    by: Measure,
    parts: Parts,
    /// Numbers of the rows that are ranked, and their order.
    ranked: Vec<usize>,
    ranking: Ranking,
    /// Numbers of the run as a whole, as sums over its places.
    totals: Vec<Total>,
    efficiencies: Vec<ScaledEfficiency>,
    work: Work,
}

/// A metric that the user asked for.
struct Modelled {
    metric: Metric,
    values: Vec<Option<f64>>,
    model: Option<Model>,
}

/// A number of the run as a whole.
struct Total {
    measure: Measure,
    prediction: Prediction,
    /// What part of it is of places of which it is not clear how they grow, 0 to 1.
    unclear: f64,
}

impl Scaled {
    fn new(args: &ScaleArgs) -> anyhow::Result<Self> {
        let metrics = Metric::parse_all(&args.metric, Thresholds::None)?;
        let runs = open_all(args.runs.iter(), Depth::Events)?;
        let digests: Vec<&Digest> = runs.iter().map(|run| &run.digest).collect();
        metrics.iter().try_for_each(|metric| metric.check_names(&digests))?;
        let (parameter, sizes) = sizes(&runs, args.parameter.as_deref())?;
        for &size in &sizes {
            distinct(runs.iter().zip(&sizes).filter(|(_, other)| **other == size).map(|(run, _)| run))?;
        }
        let sized: Vec<(f64, &Digest)> = sizes.iter().copied().zip(digests).collect();
        let scaling = scaling(&sized);
        let metrics = metrics
            .into_iter()
            .map(|metric| {
                let values: Vec<Option<f64>> =
                    runs.iter().map(|run| metric.formula.value(&run.digest).ok()).collect();
                let model = Scaling::model(&sizes, &values);
                Modelled { metric, values, model }
            })
            .collect();
        let work = if args.weak { Work::OfEach } else { Work::OfAll };
        let efficiencies = efficiencies(&sized, work);
        let all_explained =
            runs.iter().all(|run| run.digest.explained.as_ref().is_some_and(|explained| explained.is_whole));
        let is_of_paths = args.rows == Parts::Paths;
        let usual = if all_explained && !is_of_paths { Measure::Path } else { Measure::TimePerRank };
        let by = args.by.map_or(usual, |by| by.measure());
        if is_of_paths && matches!(by, Measure::Path | Measure::Waiting | Measure::DelayCost) {
            anyhow::bail!(crate::exit::Usage(format!(
                "--by {} is not known of call paths; --rows places has it",
                by.name()
            )));
        }
        let ranked: Vec<usize> =
            (0..scaling.rows.len()).filter(|row| is_part(&scaling, &scaling.rows[*row], args.rows)).collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let at = args.at.unwrap_or(FAR * largest);
        let rows: Vec<&ScaledRow> = ranked.iter().map(|row| &scaling.rows[*row]).collect();
        let ranking = ranking(&rows, &sizes, by, at);
        let totals = totals(&scaling, &sizes, at);
        Ok(Self {
            runs,
            parameter,
            scaling,
            metrics,
            by,
            parts: args.rows,
            ranked,
            ranking,
            totals,
            efficiencies,
            work,
        })
    }

    /// The row of a number in the ranking.
    fn row(&self, ranked: usize) -> &ScaledRow {
        &self.scaling.rows[self.ranked[ranked]]
    }

    /// A number of the run as a whole.
    fn total(&self, measure: Measure) -> Option<Prediction> {
        self.totals.iter().find(|total| total.measure == measure).map(|total| total.prediction)
    }

    /// How much of it is unclear, 0 to 1.
    fn unclear(&self, measure: Measure) -> Option<f64> {
        self.totals.iter().find(|total| total.measure == measure).map(|total| total.unclear)
    }

    fn has_ranks(&self) -> bool {
        self.runs.iter().any(|run| run.digest.processes.iter().any(|process| process.rank.is_some()))
    }

    /// The sizes, each once.
    fn sizes(&self) -> Vec<f64> {
        let mut sizes = self.scaling.sizes.clone();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        sizes
    }

    /// The median of a number at each size.
    fn medians(&self, values: &[Option<f64>]) -> Vec<Option<f64>> {
        let of = |size: f64| {
            let here = self.scaling.sizes.iter().zip(values).filter(|(known, _)| **known == size);
            let mut here: Vec<f64> = here.filter_map(|(_, value)| *value).collect();
            here.sort_by(f64::total_cmp);
            let n = here.len();
            (n > 0).then(|| f64::midpoint(here[(n - 1) / 2], here[n / 2]))
        };
        self.sizes().into_iter().map(of).collect()
    }

    /// Whether the size that is asked for is far from what was measured.
    fn is_far(&self) -> bool {
        let sizes = self.sizes();
        let (Some(first), Some(last)) = (sizes.first(), sizes.last()) else { return false };
        self.ranking.at > FAR * last || self.ranking.at < first / FAR
    }
}

/// What the run as a whole will have: places grow by a law each, their sum by none of one term.
fn totals(scaling: &Scaling, sizes: &[f64], at: f64) -> Vec<Total> {
    let rows: Vec<&ScaledRow> =
        scaling.rows.iter().filter(|row| is_part(scaling, row, Parts::Places)).collect();
    let total = |measure: Measure| {
        let found = ranking(&rows, sizes, measure, at);
        let Ranking { total: prediction, unclear, .. } = found;
        (!found.rows.is_empty()).then_some(Total { measure, prediction, unclear })
    };
    Measure::ALL.into_iter().filter_map(total).collect()
}

/// Which rows add up to the whole.
fn is_part(scaling: &Scaling, row: &ScaledRow, parts: Parts) -> bool {
    match &row.subject {
        ScaledSubject::Run => false,
        ScaledSubject::Before => parts != Parts::Paths,
        ScaledSubject::Region(_) => parts == Parts::Regions,
        ScaledSubject::Path(_) => parts == Parts::Paths,
        ScaledSubject::Place(number) => {
            parts == Parts::Places || scaling.places[*number].0.kind != PlaceKind::Call
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ScaleArgs) -> anyhow::Result<ExitCode> {
    let scaled = Scaled::new(args)?;
    if let Some(path) = &args.export {
        export::export(path, &scaled)?;
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &json::Json::new(&scaled))?;
        writeln!(out)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        let top = usize::try_from(args.top).unwrap_or(usize::MAX);
        title(&mut out, paint, "SCALING", &verdict::heading(&scaled))?;
        super::diff::numbered(&mut out, paint, &verdict::sentences(&scaled))?;
        for run in &scaled.runs {
            if let Some(why) = &run.unexplained {
                note(&mut out, paint, why)?;
            }
            if run.is_incomplete {
                let text = format!("Not all of {} was recorded; its numbers are of the rest.", run.name);
                note(&mut out, paint, &text)?;
            }
        }
        tables::print(&mut out, paint, &scaled, top)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
