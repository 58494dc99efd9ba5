//! Arguments of `marey f90`.

use std::ffi::OsString;

use clap::Args;

/// `marey f90`
#[derive(Debug, Args)]
#[command(
    about = "Compile a program of coarray Fortran so that its coarrays can be recorded",
    long_about = "Compile a program of coarray Fortran so that its coarrays can be recorded.\n\n\
        Runs the MPI compiler of Fortran, or that which --compiler names, with what is given, and with two words more: \
        -fcoarray=lib, which has gfortran call a library for coarrays, and that library, as a shared one. The `caf` of \
        OpenCoarrays links it statically, and between calls that are bound inside a program nobody can come. The program \
        runs without `marey record` as it always did.",
    after_long_help = "EXAMPLES\n  \
        marey f90 -O2 -g heat.f90 -o heat\n  \
        marey record -- mpirun -n 4 ./heat\n  \
        marey arrays run.marey\n  \
        marey f90 --compiler mpifort.mpich -O2 -g heat.f90 -o heat\n  \
        marey f90 --show -O2 heat.f90        what would be run\n\n\
        EXIT STATUS\n  \
        that of the compiler; 1 without a shared library of coarrays, 2 wrong usage, 126 or 127 if the compiler cannot be run"
)]
pub(crate) struct F90Args {
    /// The compiler, one that finds MPI
    #[arg(long, value_name = "CMD", default_value = "mpif90")]
    pub(crate) compiler: OsString,

    /// Print the command instead of running it
    #[arg(long)]
    pub(crate) show: bool,

    /// What the compiler gets
    #[arg(value_name = "ARGS", num_args = 1.., required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}
