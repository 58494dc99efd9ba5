//! The commands that say why: `waits`, `path`.
//!
//! What their words mean stands in `docs/wait-states.md`.

use std::path::PathBuf;

use clap::Args;
use marey_model::Nanos;

use crate::format;

/// `marey waits`
#[derive(Debug, Args)]
#[command(
    about = "Show who waited for whom, and why those were late",
    long_about = "Show who waited for whom, and why those were late.\n\n\
        The first table has one row for each kind of wait and place in the program where it was suffered: late \
        senders and receivers, barriers and other collective operations that somebody entered late, locks that \
        somebody else held, threads that were joined before they had ended. The second says what those who were \
        waited for did meanwhile that the others did not: its costs are the waits of the first, charged to those who \
        caused them, through chains of ranks and threads that waited for each other.",
    after_long_help = "EXAMPLES\n  \
        marey waits run.marey\n  \
        marey waits run.marey --from 1.5s --to 2s --ranks 0,3-5\n  \
        marey waits run.marey --context halo_exchange\n  \
        marey waits run.marey --communicator MPI_COMM_WORLD\n  \
        marey waits run.marey --json | jq '.delays[0]'\n\n\
        JSON\n  \
        from_ns, to_ns, waiting_ns, time_ns, waits[{pattern, level, region, function, file, line, routine, location, thread, rank|null, wait_ns, \
        instances, longest_ns}], delays[{location, thread, rank|null, activity, level, region, function, file, line, routine, cost_ns, \
        short_term_ns, long_term_ns}], unexplained_ns, unlisted{instances, wait_ns, longest_ns}. An activity is \
        `region`, `outside` (of all recorded calls) or `not started`. delays and unexplained_ns add up to waiting_ns \
        without what is unlisted."
)]
pub(crate) struct WaitsArgs {
    #[command(flatten)]
    pub(crate) common: ExplainArgs,

    #[command(flatten)]
    pub(crate) when: When,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// `marey path`
#[derive(Debug, Args)]
#[command(
    about = "Show the critical path: what made the run as long as it was",
    long_about = "Show the critical path: what made the run as long as it was.\n\n\
        The path is the chain of activities, across ranks and threads, of which none waited: whatever is faster on \
        it makes the run shorter, whatever is faster elsewhere does not. Beside the time of each activity on the path \
        stands how long ranks and threads took for it on average: the difference is what better balance could win.\n\n\
        Then follows slack, the total float of the critical path method: how much longer work off the path could take \
        without making the run longer. Who has much of it could take over work from others, or run slower.\n\n\
        The path is one for all ranks and calls: --ranks, --context and --level choose rows of it.",
    after_long_help = "EXAMPLES\n  \
        marey path run.marey\n  \
        marey path run.marey --from 1.5s --to 2s\n  \
        marey path run.marey --ranks 0 --level mpi\n  \
        marey path run.marey --json | jq '.critical_path[0]'\n  \
        marey path run.marey --json | jq '.locations | max_by(.mean_slack_ns)'\n\n\
        JSON\n  \
        from_ns, to_ns, duration_ns, before_ns, critical_path[{location, thread, rank|null, activity, level, region, function, file, line, routine, \
        time_ns}], spans, places[{activity … line, path_ns, mean_ns, imbalance_ns, and slack}], locations[{location, thread, rank|null, \
        path_ns, waiting_ns, and slack}], slack[{location … line as above, call_path|null, and slack}]|null. Slack is work_ns, \
        unbounded_ns, least_slack_ns|null and mean_slack_ns|null. The times and before_ns add up to duration_ns, which is to_ns − \
        from_ns; spans is how many pieces the path has."
)]
pub(crate) struct PathArgs {
    #[command(flatten)]
    pub(crate) common: ExplainArgs,

    #[command(flatten)]
    pub(crate) when: When,

    #[command(flatten)]
    pub(crate) whose: Whose,
}

/// What all of them take.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Rows a table shows at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub(crate) top: u32,

    /// Never use colour
    ///
    /// Colour is used on a terminal only, and not if NO_COLOR is set.
    #[arg(long)]
    pub(crate) no_color: bool,
}

/// What of the run is meant.
#[derive(Debug, Default, Args)]
pub(crate) struct When {
    /// Only what happened at or after this time of the run
    ///
    /// Times are `1.5` or `1.5s`, `20ms`, `300us` and `7ns` since the start of the run.
    #[arg(long, value_name = "TIME", value_parser = format::parse_time, allow_hyphen_values = true)]
    pub(crate) from: Option<Nanos>,

    /// Only what happened before this time of the run
    #[arg(long, value_name = "TIME", value_parser = format::parse_time, allow_hyphen_values = true)]
    pub(crate) to: Option<Nanos>,
}

/// Who and which calls are meant; of waits those that these suffered, and that were suffered there.
#[derive(Debug, Default, Args)]
pub(crate) struct Which {
    #[command(flatten)]
    pub(crate) whose: Whose,

    /// Only what is done on this communicator, by the name that tables show or its number
    #[arg(long, value_name = "NAME")]
    pub(crate) communicator: Option<String>,
}

/// Whose calls, where and of which level: what can be told of each call by itself.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Whose {
    /// Only these ranks of MPI_COMM_WORLD, such as 0,3-5
    #[arg(long, value_name = "LIST", value_parser = parse_ranks)]
    pub(crate) ranks: Option<Ranks>,

    /// Only calls in or beneath a region or function of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// Only calls of this level, such as mpi or threads
    #[arg(long, value_name = "NAME")]
    pub(crate) level: Option<String>,
}

/// Ranks that the user has listed: first and last of each range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranks(pub(crate) Vec<(u32, u32)>);

/// `3`, `0,3-5`
pub(super) fn parse_ranks(text: &str) -> Result<Ranks, String> {
    let number = |text: &str| {
        text.trim().parse::<u32>().map_err(|_| format!("{text:?} is no rank; write ranks as 0,3-5"))
    };
    let range = |piece: &str| {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let (first, last) = (number(first)?, number(last)?);
        if first <= last {
            Ok((first, last))
        } else {
            Err(format!("{piece} is empty: the first is the larger"))
        }
    };
    text.split(',').map(range).collect::<Result<_, _>>().map(Ranks)
}

/// Reads a number of rows, or which of several.
pub(crate) fn at_least_one(text: &str) -> Result<u32, String> {
    text.parse::<u32>()
        .ok()
        .filter(|number| 1 <= *number)
        .ok_or_else(|| "not a number of 1 or more".to_owned())
}
