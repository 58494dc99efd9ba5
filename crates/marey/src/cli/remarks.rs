//! What `marey remarks` takes.

use std::path::PathBuf;

use clap::Args;

use super::at_least_one;

/// `marey remarks`
#[derive(Debug, Args)]
#[command(
    about = "Show hot loops that the compiler did not vectorise, and why",
    long_about = "Show hot loops that the compiler did not vectorise, and why.\n\n\
        Compilers write records of what they did with loops and calls if they are asked to (see RECORDS). `marey record` looks \
        for them beside the program and where it was compiled, and keeps what they say with the run, so a later build changes \
        nothing of it. Here it is laid beside what the loops cost: why each was left as it is, which array and how many \
        iterations keep it in order, and what could be won at most. Loops come in the order of their time on the critical path; \
        where there is none, of their processor time.\n\n\
        At most could be won: the time in the loop's own lines and in what was inlined there, without the part of it that \
        vectors would need, 1/N with N elements in a vector. N is the compiler's own where it tells it (GCC does); that is a \
        bound, not a forecast: memory may be what the loop waits for. Else N is taken to be 4, and what is told is an \
        estimate. What is won in functions that the loop calls is not in it.\n\n\
        Of an executable, or of a directory with records, the same is told without costs.",
    after_long_help = "EXAMPLES\n  \
        marey remarks run.marey\n  \
        marey remarks run.marey --all                    loops that were vectorised, too, and those without time\n  \
        marey remarks run.marey --remarks build/         records that were not found, or came later\n  \
        marey remarks ./app                              without a run\n  \
        marey remarks run.marey --json | jq '.loops[0]'\n\n\
        RECORDS\n  \
        gcc, g++, gfortran  -O3 -g -fsave-optimization-record\n  \
        clang, clang++      -O3 -g -fsave-optimization-record\n  \
        rustc, cargo        RUSTFLAGS='-Ccodegen-units=1 -Cdebuginfo=1 -Cremark=all' cargo build --release 2> app.remarks\n  \
        GCC and Clang write beside each object file. rustc prints, so save that into a file that ends in .remarks, beside the \
        program or where it was compiled; with more than one codegen unit it says nothing of loops. What a nightly rustc \
        writes with -Zremark-dir=DIR is read, too, and names functions.\n\n\
        JSON\n  \
        processor_ns, samples, path_ns|null, records, problems[], loops[{file, first_line, last_line, is_read, function, \
        outcome, own_ns, own_samples, path_ns|null, lanes, lanes_told, gain_ns, remarks[{kind, line, column, compiler, pass, \
        reason, said, dependence|null, distance|null, array|null, array_by|null, callee|null, inlined_into|null}]}], \
        calls[{file, line, function, callee, reason, said, compiler, processor_ns, samples}]. outcome is vectorised, vectorised \
        in part, a call of the library now, statements vectorised, not vectorised or nothing said; kind is vectorised, not \
        vectorised, statements, replaced, inlined or not inlined; dependence is carried, value or unknown; array_by is compiler \
        or text. All loops are told, whatever --all and --top say."
)]
pub(crate) struct RemarksArgs {
    /// A run, an executable or shared library, or a directory with records
    #[arg(value_name = "RUN|FILE|DIR")]
    pub(crate) file: PathBuf,

    /// Read records of this file, or below this directory; may be given several times
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) remarks: Vec<PathBuf>,

    /// Show loops that were vectorised, too, and those in which nothing was sampled
    #[arg(long)]
    pub(crate) all: bool,

    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Loops that are shown at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub(crate) top: u32,

    /// Never use colour
    ///
    /// Colour is used on a terminal only, and not if NO_COLOR is set.
    #[arg(long)]
    pub(crate) no_color: bool,
}
