//! The commands that compare what recurs with itself: `phases`, `anomalies`.
//!
//! What their words mean stands in `docs/phases.md` and `docs/anomalies.md`.

use clap::{Args, ValueEnum};

use super::explain::parse_ranks;
use super::{ExplainArgs, Ranks, When, Which, at_least_one};

/// `marey phases`
#[derive(Debug, Args)]
#[command(
    about = "Show the iterations of a program, and those that are not like the others",
    long_about = "Show the iterations of a program, and those that are not like the others.\n\n\
        Iterations are found by themselves: by calls that recur in the same sequence, in the same function, for most \
        of the run. Told are how many there are and how long they take, kinds of them (every 20th does more), those \
        that took longer than their like and what took longer in them, whether they become longer, the most typical \
        one, and what varies most. A program without iterations has none.\n\n\
        Of a part, a span or some ranks, iterations are looked for as if no more had been recorded.",
    after_long_help = "EXAMPLES\n  \
        marey phases run.marey\n  \
        marey phases run.marey --loop 2               more of another loop than the main one\n  \
        marey phases run.marey --from 1.5s --to 20s --ranks 0-3\n  \
        marey phases run.marey --json | jq '.told.list[] | [.iteration, .to_ns - .from_ns] | @tsv' -r\n\n\
        TERMS\n  \
        An iteration lasts for all ranks until the last of them is through. Useful is time outside of MPI and calls \
        of threads. A long iteration is longer than 1.2 times the median of its kind, and more than chance would \
        have it in one of a hundred runs. Drift is the median of slopes (Theil, Sen), told if p < 0.01 (Mann, \
        Kendall). Numbers of iterations and loops are counted from 1.\n\n\
        JSON\n  \
        duration_ns, from_ns, to_ns, text[], main|null, looked_at, phases[{phase, loop|null, from_ns, to_ns}], loops[{loop, \
        inside|null, iterations, per, rounds, from_ns, to_ns, border, level, region, function, file, line, \
        locations[], time, drift{slope_ns, change, p, is_significant}, kinds[{number, every|null, first, time}], \
        outliers[{iteration, from_ns, time_ns, expected_ns, excess_ns, score, has_like}]}], told|null{loop, useful, \
        waiting, mpi, typical|null, activities[{activity, level, region, function, file, line, routine, time}], \
        different[{location, activity, level, region, function, file, line, routine, time_ns, excess_ns}|null], \
        list[{iteration, from_ns, to_ns, kind, useful_ns, waiting_ns, mpi_ns}]}. A time is {min_ns, mean_ns, \
        median_ns, max_ns, deviation_ns}; a border is begin, end or visit."
)]
pub(crate) struct PhasesArgs {
    #[command(flatten)]
    pub(crate) common: ExplainArgs,

    #[command(flatten)]
    pub(crate) when: When,

    /// Only these ranks of MPI_COMM_WORLD, such as 0,3-5
    #[arg(long, value_name = "LIST", value_parser = parse_ranks)]
    pub(crate) ranks: Option<Ranks>,

    /// Tell more of this loop, by its number in the table of loops
    #[arg(long = "loop", value_name = "N", value_parser = at_least_one)]
    pub(crate) of_loop: Option<u32>,
}

/// `marey anomalies`
#[derive(Debug, Args)]
#[command(
    about = "Show single visits that took longer than their like",
    long_about = "Show single visits that took longer than their like.\n\n\
        Each visit of a region is compared with others of the same call path, size of data and place in the \
        iteration; what usual durations are, one or several, and how far they stray is learned from the run. Told is \
        where and when the long ones were, how long was expected, and what they waited for. Where all are alike, \
        there are none.\n\n\
        Of a part those visits are compared that began in it, and with each other only: what is usual there may be odd \
        in the run.",
    after_long_help = "EXAMPLES\n  \
        marey anomalies run.marey\n  \
        marey anomalies run.marey --percent 10              those too that are less certain\n  \
        marey anomalies run.marey --method normal           Jumpshot's test\n  \
        marey anomalies run.marey --from 1.5s --to 2s --level mpi\n  \
        marey anomalies run.marey --json | jq '.anomalies[0]'\n\n\
        METHODS\n  \
        robust  durations are compared by their logarithms; modes are told by gaps between them, tails by \
        quantiles. --percent is the chance that a run without anomalies shows any.\n  \
        normal  as Jumpshot does: durations of a region are taken to be normal, and those in the outer --percent on \
        either side are told, the short ones too. Of truly normal ones that is so many per cent; where all are \
        alike, none.\n\n\
        JSON\n  \
        from_ns, to_ns, text[], method, percent, judged, not_judged, groups, groups_with, long, short, excess_ns, \
        anomalies[{location, thread, rank|null, level, region, function, file, line, start_ns, duration_ns, \
        expected_ns, excess_ns, probability, like, bytes|null, iteration|null, waiting_ns, waits_for|null, \
        pattern|null, is_waiting, without_processor_ns|null, is_noise, inside|null, because|null}]. `like` is how many visits it was compared with; `inside` \
        is the place in the list, from 1, of a visit inside it that explains it, `because` that of one that it waited \
        for. At most 10 000 are listed."
)]
pub(crate) struct AnomaliesArgs {
    #[command(flatten)]
    pub(crate) common: ExplainArgs,

    #[command(flatten)]
    pub(crate) when: When,

    #[command(flatten)]
    pub(crate) which: Which,

    /// How durations are judged
    #[arg(long, value_name = "METHOD", value_enum, default_value_t = AnomalyMethod::Robust)]
    pub(crate) method: AnomalyMethod,

    /// The percentage that gives the cut-off
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = percent)]
    pub(crate) percent: f64,
}

/// How durations are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnomalyMethod {
    /// By call path, size and iteration; modes and tails learned from the run
    Robust,
    /// Jumpshot's: durations of a region taken to be normal
    Normal,
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse::<f64>().ok().filter(|percent| 0.0 < *percent && *percent <= 50.0);
    percent.ok_or_else(|| "not a number above 0, up to 50".to_owned())
}
