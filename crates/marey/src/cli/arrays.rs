//! Arguments of `marey arrays`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::at_least_one;

/// `marey arrays`
#[derive(Debug, Args)]
#[command(
    about = "Show what it cost to act on each array, from which lines, and what that took beneath",
    long_about = "Show what it cost to act on each array, from which lines, and what that took beneath.\n\n\
        Of coarrays these are accesses to other images, allocation and collectives; a plain load or store of the part \
        that an image has itself is not recorded. `beneath` are the calls of other levels that served them, such as the \
        MPI_Get of a coarray's `get`: where there are many for one access, it is moved element by element.\n\n\
        Of Views of Kokkos these are copies (`deep_copy`); what kernels read and write is not known.\n\n\
        An array of which the second table has only `allocate` and `deallocate` is made, but never accessed across images.",
    after_long_help = "EXAMPLES\n  \
        marey arrays run.marey\n  \
        marey arrays run.marey --by line --array u        lines that access the array u\n  \
        marey arrays run.marey --by process               where each rank finds the elements that it accesses\n  \
        marey arrays run.marey --json | jq '.arrays[0]'\n\n\
        JSON\n  \
        time_ns, arrays[{array, kind, file, line, element, bounds[[lower, upper]], bytes, instances, processes[], accesses, \
        moved_bytes, access_ns, managed, manage_ns, local{accesses, bytes, time_ns}, remote{…}, transfers_beneath, \
        by_process[{process, local{…}, remote{…}}], statements[{verb, kind, function, file, line, accesses, bytes, time_ns, \
        pattern|null, loops[{first_line, last_line}], beneath[{level, call, calls, is_transfer, time_ns}]}]}], piecemeal[{why, array, verb, file, line, accesses, bytes, \
        transfers, time_ns}]. piecemeal are accesses of single `elements`, or of `sections` that lower levels moved in pieces. \
        bytes of an array is the size of the largest instance; time_ns of the \
        run is that of all threads together; all times in nanoseconds. A call that reads one array and writes another \
        counts for both."
)]
pub(crate) struct ArraysArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// Show one table alone
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with = "json")]
    pub(crate) by: Option<ArraysBy>,

    /// Only arrays of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) array: Option<String>,

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

/// A table of `marey arrays`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArraysBy {
    /// One row an array
    Array,
    /// One row a line of the source and array
    Line,
    /// One row a process and array
    Process,
}
