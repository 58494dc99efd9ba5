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
        An array of which the second table has only `allocate` and `deallocate` is made, but never accessed across images.\n\n\
        With --section or --on only accesses count that mean elements of a part of one array. Where processes have bounds of \
        their own, the part snaps to whole parts of theirs (--snap); where all have the same, as coarrays do, it stays as it \
        is. Images count from 1; image 1 is rank 0.",
    after_long_help = "EXAMPLES\n  \
        marey arrays run.marey\n  \
        marey arrays run.marey --by line --array u        lines that access the array u\n  \
        marey arrays run.marey --by process               where each rank finds the elements that it accesses\n  \
        marey arrays run.marey --by section               which elements each line accesses, and how often\n  \
        marey arrays run.marey --by symbol                what subscripts of the source were worth\n  \
        marey arrays run.marey --by redistribution        transpositions, and what they cost\n  \
        marey arrays run.marey --section 'u(1:10, 5)[3:4]'   accesses to these elements of u on images 3 and 4\n  \
        marey arrays run.marey --array u --section 1:10,5 --on 3,4 --by line\n  \
        marey arrays run.marey --json | jq '.arrays[0]'\n\n\
        JSON\n  \
        time_ns, arrays[{array, kind, file, line, element, bounds[[lower, upper]], bytes, instances, processes[], accesses, \
        moved_bytes, counted{accesses, bytes, time_ns}, access_ns, managed, manage_ns, local{accesses, bytes, time_ns}, remote{…}, transfers_beneath, \
        by_process[{process, local{…}, remote{…}}], statements[{verb, kind, function, file, line, accesses, bytes, time_ns, \
        pattern|null, loops[{first_line, last_line}], \
        callers_loops[{function, file, first_line, last_line}], sections|null[{section, dimensions|null[{count, stride|null, first[least, \
        greatest], step}], accesses, elements, bytes, time_ns}], beneath[{level, call, calls, is_transfer, time_ns}]}]}], piecemeal[{why, array, verb, file, line, accesses, bytes, \
        transfers, time_ns}], symbols[{array, reference, file, line, end, subscript, symbol, least, greatest, changes, accesses, \
        locations[{location, values[{from_ns, least, greatest, changes, accesses}]}]}], redistributions[{by, verb, from, to, function, file, line, times, bytes, time_ns|null}]. \
        redistributions move data from each rank to each other, by `accesses`, a `collective` or `messages`. symbols are expressions whose value \
        the text does not say; changes counts the first value, too. piecemeal are accesses of single `elements`, or of `sections` that lower levels moved in pieces. \
        bytes of an array is the size of the largest instance; time_ns of the \
        run is that of all threads together; all times in nanoseconds. A call that reads one array and writes another \
        counts for both.\n  \
        With --section or --on: array, section[[lower, upper]], processes|null, snap, snapped[[lower, upper]], distributed[], fits, \
        parts[{process, bounds, selected}], total{accesses, bytes, time_ns, selected_elements, elements, perhaps{selected_elements, \
        accesses, bytes, time_ns}}, not_kept, statements[{verb, kind, function, file, line, pattern|null, …as total, sections[…]}], \
        by_process[{process, local{…}, remote{…}, asked{…}}]."
)]
pub(crate) struct ArraysArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// Show one table alone
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with = "json")]
    pub(crate) by: Option<ArraysBy>,

    /// Only arrays of this name; of several, that which is declared there: u@file.f90:12
    #[arg(long, value_name = "NAME")]
    pub(crate) array: Option<String>,

    /// Only accesses to this part of it: lower:upper or one subscript for each dimension
    ///
    /// As in the source: `u(1:10, 5)[3:4]` has array and images, too; `:` is all of a dimension.
    #[arg(long, value_name = "SECTION", allow_hyphen_values = true)]
    pub(crate) section: Option<String>,

    /// Only what these images have: 3,4 or 3:4
    #[arg(long, value_name = "IMAGES")]
    pub(crate) on: Option<String>,

    /// How a part that does not fit the bounds of processes is made to [default: expand]
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) snap: Option<ArraysSnap>,

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
    /// One row for sections of a line that differ in where they begin only
    Section,
    /// What subscripts and images of the source were worth, one row an expression
    Symbol,
    /// What moves data from each rank to each other, one row a place
    Redistribution,
}

/// How a selection is made to fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArraysSnap {
    /// To all of each part that it meets
    #[default]
    Expand,
    /// Without parts that it does not hold all of
    Shrink,
    /// Not at all
    None,
}

impl From<ArraysSnap> for marey_analyze::Snap {
    fn from(snap: ArraysSnap) -> Self {
        match snap {
            ArraysSnap::Expand => Self::Expand,
            ArraysSnap::Shrink => Self::Shrink,
            ArraysSnap::None => Self::No,
        }
    }
}
