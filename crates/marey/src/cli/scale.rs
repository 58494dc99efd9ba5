//! `marey scale`: how a program behaves at other sizes.
//!
//! What its words mean stands in `docs/scaling.md`, what its JSON means in `docs/json.md`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use marey_analyze::Measure;

use super::at_least_one;

/// `marey scale`
#[derive(Debug, Args)]
#[command(
    about = "Learn from runs of several sizes how a program scales, and what will dominate a larger run",
    long_about = "Learn from runs of several sizes how a program scales, and what will dominate a larger run.\n\n\
        The runs are of one program with different numbers of ranks (or of threads, or with another parameter). Of \
        each part of the program, by name, and each metric a model k + c·n^a·log2(n)^b is fitted: the performance model \
        normal form of Extra-P with one term and its exponents. The one that best predicts the values left out is taken, \
        and none where the values do not differ by more than chance. The parts are ranked by what they will have at the \
        size of --at. Of 5 sizes and more models can be relied on, with fewer there is a warning, with 2 the values \
        alone. Repeats of a size are welcome: they make error bars honest.\n\n\
        The efficiencies are those of the POP project, with the computation scalability that one run cannot tell.",
    after_long_help = "EXAMPLES\n  \
        marey scale p1.marey p2.marey p4.marey p8.marey p16.marey --at 64\n  \
        marey scale p*.marey --weak                       each rank had the same work in all runs\n  \
        marey scale p*.marey --by waiting --rows regions\n  \
        marey scale a.marey b.marey c.marey d.marey e.marey --parameter cells=1000,2000,4000,8000,16000\n  \
        marey record --title 'n=4096' -o n4096.marey -- ./app; marey scale n*.marey --parameter n\n  \
        marey scale p*.marey --metric 'mpi_time / time' --metric 'waiting / ranks'\n  \
        marey scale p*.marey --export runs.jsonl && extrap --json runs.jsonl --print all\n\n\
        PARAMETER\n  \
        ranks, threads, processes   how many were measured; ranks, or threads where there are none, if it is not given\n  \
        NAME=V1,V2,…                a value for each run, in their order\n  \
        NAME                        what each run says: NAME=VALUE in its title or memo or as a word of its command, an \
        option --NAME VALUE of its command, a recorded variable of its environment\n\n\
        JSON\n  \
        parameter, at, by, rows, scaling, sizes, few_sizes, text[], runs[{run, size, duration_ns, processes, ranks, \
        threads, unexplained|null}], totals[{metric, value, lower, upper, far, unclear}], ranking[{subject, activity, level, region, function, file, line, path[], value, \
        lower, upper, far, share, growth}], models[{subject, name|null, and the place as in ranking, metric, unit, \
        values[], model|null{growth, slowest, fastest, constant, coefficient, power[], log, cross_validation, \
        adjusted_r2, value, lower, upper, far}}], efficiencies[{run, size, locations, reference, global|null, parallel, \
        load_balance, communication, serialisation, setting_up, transfer, scalability|null, speed_up}]. Times are seconds, values \
        in the order of the runs.\n\n\
        EXIT STATUS\n  \
        0  done, however the program scales\n  \
        1  an error, told on standard error\n  \
        2  wrong usage"
)]
pub(crate) struct ScaleArgs {
    /// The runs; directories or packed files
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub(crate) runs: Vec<PathBuf>,

    /// What the size of a run is: ranks, threads, processes, or a name, with a value for each run or as the runs say
    #[arg(long, value_name = "NAME[=V,V,…]")]
    pub(crate) parameter: Option<String>,

    /// The size to predict; 4 times the largest if it is not given
    #[arg(long, value_name = "N", value_parser = size)]
    pub(crate) at: Option<f64>,

    /// What parts of the program are ranked by; `path`, or `time_per_rank` where runs lack their events, if it is not given
    #[arg(long, value_name = "METRIC", value_enum)]
    pub(crate) by: Option<By>,

    /// Which parts of the program are ranked
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Parts::Places)]
    pub(crate) rows: Parts,

    /// Each rank had the same work in all runs, instead of all together
    #[arg(long)]
    pub(crate) weak: bool,

    /// Model a number computed from quantities of a run, too; may be given several times
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub(crate) metric: Vec<String>,

    /// Write all values as JSON lines for Extra-P
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,

    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Rows a table shows at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub(crate) top: u32,

    /// Never use colour
    ///
    /// Colour is used on a terminal only, and not if NO_COLOR is set.
    #[arg(long)]
    pub(crate) no_color: bool,
}

/// What parts of the program are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Time on the critical path; all of it is the duration of the run
    Path,
    /// Time of a rank, or of a thread where there are no ranks, on average
    #[value(name = "time_per_rank")]
    TimePerRank,
    /// Time of all ranks and threads
    Time,
    /// Visits
    Visits,
    /// Data moved
    Bytes,
    /// Time in which ranks and threads waited there for others
    Waiting,
    /// Waiting of others that followed from it
    #[value(name = "delay_cost")]
    DelayCost,
}

impl By {
    /// The measure of that name.
    pub(crate) fn measure(self) -> Measure {
        match self {
            Self::Path => Measure::Path,
            Self::TimePerRank => Measure::TimePerRank,
            Self::Time => Measure::Time,
            Self::Visits => Measure::Visits,
            Self::Bytes => Measure::Bytes,
            Self::Waiting => Measure::Waiting,
            Self::DelayCost => Measure::DelayCost,
        }
    }
}

/// Which parts of the program are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Parts {
    /// Regions with the functions that call them
    Places,
    /// Regions, whoever calls them
    Regions,
    /// Call paths; of these times, visits and bytes are known
    Paths,
}

/// Laws of larger sizes are beyond numbers.
const LARGEST: f64 = 1e15;

/// Reads a size.
pub(crate) fn size(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| 0.0 < *number && *number <= LARGEST);
    number.ok_or_else(|| format!("not a number above 0 and up to {LARGEST:e}"))
}
