//! The command that looks before anything is recorded: `doctor`.
//!
//! What its JSON means in full stands in `docs/json.md`; the help lists the names.

use std::ffi::OsString;

use clap::Args;

/// `marey doctor`
#[derive(Debug, Args)]
#[command(
    about = "Say what can be measured here, and what to do about the rest",
    long_about = "Say what can be measured here, and what to do about the rest.\n\n\
        Looks at this machine: clock, processors, file systems, limits, MPI; and makes a recording \
        of nothing, to see that it works. With PROGRAM, looks at that too, through mpirun, srun, env \
        and the like: whether the recorder can be loaded into it, which MPI it uses and whether its \
        launcher is of the same, whether its lines will be known.\n\n\
        PROGRAM is not run; launchers are asked for their version.",
    after_long_help = "EXAMPLES\n  \
        marey doctor\n  \
        marey doctor -- mpirun -n 4 ./app input.dat\n  \
        marey doctor --json -- ./app | jq -r '.findings[] | select(.state != \"ok\") | .remedy'\n\n\
        EXIT STATUS\n  \
        0  it can be measured\n  \
        1  a problem stands against it, or an error was told on standard error\n  \
        2  wrong usage\n\n\
        JSON\n  \
        version, findings[{topic, subject, state, found, why, remedy, command}]; state is ok, note or \
        problem."
)]
pub(crate) struct DoctorArgs {
    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,

    /// The program to look at, or the line that starts it
    #[arg(value_name = "PROGRAM", num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}
