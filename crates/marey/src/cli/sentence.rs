//! Arguments of `marey sentence`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::at_least_one;

/// `marey sentence`
#[derive(Debug, Args)]
#[command(
    about = "Ask what a verb and a noun cost on a level, under which others, and what that was made of",
    long_about = "Ask what a verb and a noun cost on a level, under which others, and what that was made of.\n\n\
        Everything measured is a sentence: a verb (`get`, `MPI_Send`, `execute`) done to a noun (an array, a communicator, a \
        function, a file) on a level (`coarray`, `openmp`, `mpi`, `source` …). What is left out may be anything; `*` is any \
        text and `?` any character. --under asks only for what happened beneath another sentence, `LEVEL:VERB NOUN` with \
        any part left out, or beneath a function of the program.\n\n\
        The time is with all that lower levels did for it, and told apart: explicit is the sentence itself and what serves \
        it by doing the same, such as the MPI_Get of a `get`; implicit is what keeps its meaning, such as the lock around \
        that, or the barrier in an allocation. The parts add up to the whole.",
    after_long_help = "EXAMPLES\n  \
        marey sentence run.marey --level coarray --verb get --by noun      which arrays are read from other images\n  \
        marey sentence run.marey --noun u --by line                        the statements that act on the array u\n  \
        marey sentence run.marey --level mpi --under 'coarray:get u'       calls of MPI that reading u takes\n  \
        marey sentence run.marey --level mpi --under solve --by rank       calls of MPI beneath the function solve\n  \
        marey sentence run.marey --verb 'MPI_*' --by time                  when\n\n\
        JSON\n  \
        level|null, verb|null, noun|null, under[], visits, untimed_visits, time_ns, bytes, of_ns, shares[{level, class, \
        is_explicit, visits, time_ns}], by, groups[{name, process|null, visits, time_ns, bytes}], spans[{from_ns, to_ns, \
        visits, time_ns}]. The times of shares add up to time_ns; of_ns is that of all threads together. spans are there with \
        --by time alone."
)]
pub(crate) struct SentenceArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// The level
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Option<String>,

    /// What is done; of the program's own regions and functions their names
    #[arg(long, value_name = "VERB")]
    pub(crate) verb: Option<String>,

    /// What it is done to; `(none)`: what is done to nothing that has a name
    #[arg(long, value_name = "NOUN")]
    pub(crate) noun: Option<String>,

    /// Only beneath this sentence or function; may be given several times, then all must hold
    #[arg(long, value_name = "SENTENCE")]
    pub(crate) under: Vec<String>,

    /// What to tell costs apart by
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = SentenceBy::Line)]
    pub(crate) by: SentenceBy,

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

/// What `marey sentence` tells costs apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SentenceBy {
    /// Lines of the source
    Line,
    /// Nouns
    Noun,
    /// Verbs
    Verb,
    /// Ranks, or processes
    Rank,
    /// Spans of time
    Time,
}
