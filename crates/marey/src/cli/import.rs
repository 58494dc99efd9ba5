//! What `marey import` takes.

use std::path::PathBuf;

use clap::Args;

use super::WorkArgs;

/// `marey import`
#[derive(Debug, Args)]
#[command(
    about = "Make a run out of a trace or profile of another tool",
    long_about = "Make a run out of a trace or profile of another tool.\n\n\
        The format is recognised by what a file holds. An imported run is a run: every command and view works on it, as far \
        as its data go. What the format has and a run has no place for is kept as events that describe themselves, or \
        counted, and said; docs/formats.md has it for each kind of record. A trace that is damaged gives what can be read.\n\n\
        FORMATS\n  OTF2 (Score-P, TAU, eztrace): the file NAME.otf2 or its directory\n  \
        Chrome trace events (PyTorch, LLVM, Chrome, rocprof): JSON, also compressed by gzip\n  \
        Perfetto (its SDK, Chrome, Android): the track events in its protobuf, also compressed by gzip\n  \
        Paraver (Extrae, ovni): NAME.prv, also compressed by gzip, beside NAME.pcf and NAME.row\n  \
        TAU: NAME.trc and its events in NAME.edf, merged or a file for each thread\n  \
        SDDF (Pablo, TAU, Dimemas) in ASCII, also compressed by gzip\n  \
        Pajé (SimGrid, StarPU, Akypuera), also compressed by gzip\n  \
        CLOG-2, CLOG-1, ALOG (MPE of MPICH), SLOG-2 (Jumpshot 4): the file\n  \
        Profiles of TAU: one of profile.NODE.CONTEXT.THREAD or their directory, tauprofile.xml, NAME.ppk\n  \
        Profiles of CUBE 4 (Score-P, Scalasca): NAME.cubex, a profile without times\n  \
        Profiles of pprof (Go, gperftools, Parca): protobuf, also compressed by gzip\n  \
        Profiles of callgrind (valgrind, Xdebug): callgrind.out.PID, costs of functions without call paths\n  \
        Speedscope (py-spy, rbspy and others): JSON, also compressed by gzip\n\n\
        A profile says how long and not when: of its run there are profiles and call trees, and no timelines and waits.",
    after_long_help = "EXAMPLES\n  \
        marey import scorep-20261120_1234/traces.otf2        traces.marey\n  \
        marey import scorep-20261120_1234 -o before.marey    the directory that holds it\n  \
        marey import traces.otf2 --json                      what was read, kind by kind, for scripts\n\n\
        EXIT STATUS\n  \
        0 when the run is there, 1 if the trace cannot be read, 2 if it is not there or the run is already"
)]
pub(crate) struct ImportArgs {
    /// The trace: a file, or a directory that holds one
    #[arg(value_name = "FILE|DIR")]
    pub(crate) input: PathBuf,

    /// Directory to write the run to
    ///
    /// The name of the trace with the end .marey, here, if nothing is said.
    #[arg(short, long, value_name = "RUN")]
    pub(crate) output: Option<PathBuf>,

    /// Replace RUN if it holds a finished run
    #[arg(long)]
    pub(crate) force: bool,

    /// Write what was read as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}
