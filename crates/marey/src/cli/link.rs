//! The command that links the recorder into programs that cannot be preloaded: `link`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::Switch;

/// `marey link`
#[derive(Debug, Args)]
#[command(
    about = "Link the recorder into a program that cannot be preloaded",
    long_about = "Link the recorder into a program that cannot be preloaded.\n\n\
        A program that is linked statically, or with a static MPI library, runs no dynamic loader that \
        could put the recorder before its MPI. Linked with what this command prints it has the recorder \
        inside, and `marey record` records it like any other. Run without `marey record`, it records \
        nothing and does what it did before.\n\n\
        Prints words for the compiler, to stand anywhere after the program's own objects; with CMD, runs \
        CMD, which links, with these words at its end.",
    after_long_help = "EXAMPLES\n  \
        mpicc -static app.o $(marey link) -o app\n  \
        marey link -- mpif90 -static app.o -o app       the same, as a prefix\n  \
        make LDFLAGS=-static LDLIBS=\"$(marey link)\"\n  \
        gcc -static -pthread app.o $(marey link --mpi off) -o app    threads and marey.h alone\n  \
        mpicc app.o $(marey link --shared) -o app       shared MPI, where LD_PRELOAD gets lost\n  \
        marey link --coarrays -- caf -g heat.f90 -o heat    coarray Fortran with its library inside\n  \
        marey record -- mpirun -n 4 ./app\n\n\
        NOT RECORDED in programs linked this way\n  \
        by Fortran and by PMPI_ names, functions that are newer than MPI 3.0 or were removed by then; the \
        logging calls of MPE; regions of programs in Rust; calls on files and those of the system that wait.\n\n\
        EXIT STATUS\n  \
        0  printed; with CMD, that of CMD\n  \
        1  the files cannot be written\n  \
        2  wrong usage"
)]
pub(crate) struct LinkArgs {
    /// Directory for the files that are linked; a cache directory of yours if not given
    ///
    /// They can go when the program is linked, but not with --shared.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,

    /// Whether the program calls MPI
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Switch::On, conflicts_with = "shared")]
    pub(crate) mpi: Switch,

    /// Whether threads and their waits are to be recorded
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Switch::On, conflicts_with = "shared")]
    pub(crate) threads: Switch,

    /// Link the recorder as a shared library
    ///
    /// For programs whose MPI is a shared library: what is recorded is what `marey record` alone records.
    /// The program needs the file to start.
    #[arg(long)]
    pub(crate) shared: bool,

    /// Put stubs in front of a static library of coarrays, and nothing else
    ///
    /// For programs of coarray Fortran whose MPI is a shared library and whose coarray library is not, as the `caf` of
    /// OpenCoarrays links them: with the stubs `marey record` sees operations on coarrays, but for those that the library
    /// does by itself.
    #[arg(long, conflicts_with_all = ["shared", "mpi", "threads"])]
    pub(crate) coarrays: bool,

    /// The command that links the program
    #[arg(value_name = "CMD", num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}
