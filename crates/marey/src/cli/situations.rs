//! `marey situations`: what the user types.
//!
//! What its words mean stands in `docs/situations.md`.

use std::path::PathBuf;

use clap::Args;

use super::explain::parse_ranks;
use super::{ExplainArgs, Ranks, When};

/// `marey situations`
#[derive(Debug, Args)]
#[command(
    about = "Show where the pace changes, who does too little or too much, and where messages pile up",
    long_about = "Show where the pace changes, who does too little or too much, and where messages pile up.\n\n\
        Speed-ups and slow-downs of what ranks and threads do again and again; ranks and threads that are useful for less \
        or more of the time than the mean of their family; queues of messages that were sent and not asked for; and \
        those that take long from one message to the next. Each with when, who, where, and the probable cause. What is \
        looked for, in which families and from which threshold on, is said by rules, which can be changed after the run.",
    after_long_help = "EXAMPLES\n  \
        marey situations run.marey\n  \
        marey situations run.marey --from 1.5s --to 2s\n  \
        marey situations run.marey --ranks 0-3 --context solve\n  \
        marey situations --rules > my.rules        the rules that are used, to be changed\n  \
        marey situations run.marey --rules-file my.rules\n  \
        marey situations run.marey --json | jq '.situations[] | select(.kind == \"slow-down\")'\n\n\
        RULES\n  \
        family pool  thread worker*             a family of threads by name; or rank 0-3,7\n  \
        slow-downs       pool      by 50%       beats longer than 1.5 times those before\n  \
        first-speed-up   everyone  by 20% of MPI_Send   the first, by one region\n  \
        under-utilised   everyone  by 25%       useful for less than 0.75 of the mean; over-utilised likewise\n  \
        message-queue    everyone  over 32 messages     or 64 MiB; or by 100%: twice the mean length\n  \
        processing-time  everyone  over 10ms    from one message to the next; or by 100%\n\n\
        JSON\n  \
        from_ns, to_ns, rules[], situations[{kind, family, text, from_ns, to_ns, locations[], ranks[], level, region, \
        function, file, line, measured, normal, unit, number, cost_ns, others[{level, region, function, file, line}], is_noise, \
        cause{location, rank|null, activity, level, region, function, file, line, is_waiting, amount, \
        without_processor_ns|null}|null, meanwhile|null}], more[{kind, number}], empty_families[], \
        unfollowed_visits. The unit of measured and normal is ns, share, messages or bytes; cost_ns is 0 where it is not \
        known."
)]
pub(crate) struct SituationsArgs {
    #[command(flatten)]
    pub(crate) common: ExplainArgs,

    #[command(flatten)]
    pub(crate) when: When,

    /// Show only those of these ranks of MPI_COMM_WORLD, or that they cause, such as 0,3-5
    #[arg(long, value_name = "LIST", value_parser = parse_ranks)]
    pub(crate) ranks: Option<Ranks>,

    /// Show only those that calls in or beneath a region or function of this name show, or cause
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// Print the rules that are used, and nothing else
    #[arg(long)]
    pub(crate) rules: bool,

    /// Look for what the rules in FILE say, instead of the usual
    #[arg(long, value_name = "FILE")]
    pub(crate) rules_file: Option<PathBuf>,
}
