//! The command line as the user types it: one struct a command, help and examples beside the flag.
//!
//! The one idea: help, man pages and shell completions are all generated from these structs, so a
//! flag is described in one place. Nothing here acts; each command's module turns its struct into
//! work.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use marey_model::Elements;
use marey_model::counters::{USUAL, parse as parse_counters};

use crate::budget::Budget;

mod arrays;
mod compare;
mod doctor;
mod explain;
mod export;
mod f90;
mod import;
mod instrument;
mod link;
mod read;
mod recurring;
mod remarks;
mod scale;
mod sentence;
mod situations;
mod source;
mod view;
mod what_if;

pub(crate) use arrays::*;
pub(crate) use compare::*;
pub(crate) use doctor::*;
pub(crate) use explain::*;
pub(crate) use export::*;
pub(crate) use f90::*;
pub(crate) use import::*;
pub(crate) use instrument::*;
pub(crate) use link::*;
pub(crate) use read::*;
pub(crate) use recurring::*;
pub(crate) use remarks::*;
pub(crate) use scale::*;
pub(crate) use sentence::*;
pub(crate) use situations::*;
pub(crate) use source::*;
pub(crate) use view::*;
pub(crate) use what_if::*;

/// Record, report and explore where the time of a parallel program goes.
#[derive(Debug, Parser)]
#[command(
    name = "marey",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    long_about = "Record, report and explore where the time of a parallel program goes.\n\n\
        The program is measured as it is: no recompiling, no relinking. `marey record` runs it and \
        writes a run, a directory that every other command reads.",
    after_long_help = "EXAMPLES\n  \
        marey doctor -- mpirun -n 4 ./app     what can be measured, before anything is\n  \
        marey record -- mpirun -n 4 ./app     run it and write run.marey\n  \
        marey report run.marey                where the time went, as text\n  \
        marey view run.marey                  explore it in the browser\n  \
        marey dump run.marey --rank 0         what rank 0 did, event by event\n\n\
        EXIT STATUS\n  \
        0  done\n  \
        1  an error, told on standard error\n  \
        2  wrong usage: an unknown option, or a run that would have been overwritten\n  \
        3  `marey check` has no verdict\n  \
        `marey record` passes on the exit status of the program instead."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Record(RecordArgs),
    Doctor(DoctorArgs),
    View(ViewArgs),
    Report(ReportArgs),
    Waits(WaitsArgs),
    Path(PathArgs),
    Situations(SituationsArgs),
    Diff(DiffArgs),
    Check(CheckArgs),
    Scale(ScaleArgs),
    Phases(PhasesArgs),
    Anomalies(AnomaliesArgs),
    WhatIf(WhatIfArgs),
    Hot(HotArgs),
    Arrays(ArraysArgs),
    Sentence(SentenceArgs),
    Lines(LinesArgs),
    Source(SourceArgs),
    Remarks(RemarksArgs),
    Instrument(InstrumentArgs),
    Info(InfoArgs),
    Dump(DumpArgs),
    Import(ImportArgs),
    Merge(MergeArgs),
    Gather(GatherArgs),
    Link(LinkArgs),
    #[command(name = "f90")]
    F90(F90Args),
    Pack(PackArgs),
    Export(ExportArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// `marey record`
#[derive(Debug, Clone, Args)]
#[command(
    about = "Run a program and record what it does",
    long_about = "Run a program and record what it does.\n\n\
        CMD is started as it is, with one more library preloaded. CMD itself is measured from its \
        start; every process that it starts, on the way through mpirun, scripts and wrappers, from \
        its first MPI or user-API call, or that of a function compiled with -finstrument-functions. \
        When CMD has ended, what was recorded is merged into RUN.\n\n\
        The program's output, signals and exit status stay its own.",
    after_long_help = "EXAMPLES\n  \
        marey record -- mpirun -n 4 ./app input.dat\n  \
        marey record -o before.marey --title 'before the fix' -- mpirun -n 4 ./app\n  \
        mpirun -n 4 marey record -o run.marey -- ./app   a recorder for each rank, one run; for \
        launchers that pass no environment on to other machines, and some of the ranks only\n  \
        marey record --spool /tmp -- srun ./app   spools on a local disk, the run in this directory\n  \
        marey record --heap 1 -- ./app   every block of memory, for a search of what is never freed\n  \
        marey record --again run.marey --filter less   the same command, with less of it recorded\n  \
        marey record --rule 'count MPI_Comm_*' --rule 'time kernel_*' -- mpirun ./app\n  \
        marey record --budget off -- ./app   every visit of every region, whatever that costs\n  \
        marey record --rule 'time system:poll' -- ./server    of calls of poll sums only; --system off records none \
        that wait\n\n\
        FILTER\n  \
        off    MPI_Type_*            nothing is kept of these functions' calls\n  \
        count  mpi:MPI_Comm_*        they are counted, by call path; `mpi:` is a level\n  \
        time   halo_?                also timed: sums in tables, no bars in time lines\n  \
        trace  file:*/solver.f90     each visit is kept, as without a rule; `file:` is a source file\n  \
        count  loops:solve           loops of these functions, if `marey instrument` was asked for them\n  \
        * stands for any text, ? for any character, # begins a comment. What begins or completes a \
        nonblocking operation, and visits in which something else was recorded, are kept all the same. \
        Functions that compilers have instrumented go by their names, templates as `ns::add<*>`. \
        Messages of calls that are not kept are counted, not matched.\n\n\
        EXIT STATUS\n  \
        CMD's own; 128 + N if signal N killed it; 127 if CMD was not found, 126 if it cannot be \
        executed.\n  \
        1 if the run directory cannot be written, 2 for wrong usage; CMD has not been started then.\n\n\
        ENVIRONMENT\n  \
        LD_PRELOAD              kept; the library of marey is appended to it\n  \
        MAREY_PRELOAD_FIRST=1   puts the library of marey first instead"
)]
pub(crate) struct RecordArgs {
    /// Directory to write the run to
    ///
    /// A finished run is never overwritten without --force. With --again, it is again.marey if nothing is said.
    #[arg(
        short,
        long,
        value_name = "RUN",
        default_value = "run.marey",
        default_value_if("again", clap::builder::ArgPredicate::IsPresent, "again.marey")
    )]
    pub(crate) output: PathBuf,

    /// Record the command of RUN again, in the directory that it was recorded in
    ///
    /// The command is printed before it is started. How much is recorded, and by which rules, is as it was then, but for
    /// what is said now: --filter and --rule take the place of all rules. Places, title and memo are those of now.
    #[arg(long, value_name = "RUN", conflicts_with = "command")]
    pub(crate) again: Option<PathBuf>,

    /// How much to record
    #[arg(short, long, value_name = "MODE", value_enum, default_value_t = Mode::Trace)]
    pub(crate) mode: Mode,

    /// Directory to record into, instead of the run directory
    ///
    /// Each machine makes a directory inside DIR, which is meant to be on a disk of its own. What was
    /// recorded comes to RUN when the recorder ends. From machines that a launcher reaches and no
    /// recorder runs on, `marey gather` brings it.
    ///
    /// Without this option, processes record into RUN. Where that lies on a network file system,
    /// each machine that has a recorder uses its TMPDIR or /tmp, if that is on a disk.
    #[arg(long, value_name = "DIR")]
    pub(crate) spool: Option<PathBuf>,

    /// Elements of each message that --mode full records: N first ones, or places such as 0-3,100
    ///
    /// Of point-to-point messages whose datatype is one of MPI's own; 64 at most, and the first 8 if nothing is
    /// said.
    #[arg(long, value_name = "WHICH", value_parser = elements)]
    pub(crate) elements: Option<Elements>,

    /// Space that one process may fill with events, in MiB
    ///
    /// Beyond it events are no longer kept but added up, as with --mode profile: sums stay exact, and the
    /// report says from when on there are sums only. 0 is no limit but the disk's. `marey info --estimate`
    /// tells how much a program needs.
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub(crate) max_mb: u64,

    /// Record less of some regions, as FILE says
    ///
    /// FILE has a rule a line: off, count, time or trace, and a pattern of names; the last rule that fits a
    /// region counts. See FILTER below.
    #[arg(long, value_name = "FILE")]
    pub(crate) filter: Option<PathBuf>,

    /// Record less of some regions, as RULE says: `count MPI_Comm_*`
    ///
    /// May be given several times; such rules count before those of --filter.
    #[arg(long, value_name = "RULE")]
    pub(crate) rule: Vec<String>,

    /// How much of a thread's processor time recording may take, in per cent, or off
    ///
    /// Beyond it visits of the program's own regions and instrumented functions that cost most are counted, and some
    /// of them timed: numbers stay exact, times are stated with what they may be off. Calls of MPI and of the system
    /// are recorded all the same, and so is what a rule names. off records every visit.
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = crate::budget::parse)]
    pub(crate) budget: Budget,

    /// Replace RUN if it holds a finished run
    #[arg(long)]
    pub(crate) force: bool,

    /// Do not merge at the end; `marey merge RUN` does it later
    #[arg(long)]
    pub(crate) no_merge: bool,

    /// Keep the recorded spool beside the merged run
    #[arg(long)]
    pub(crate) keep_spool: bool,

    /// Keep the text of the program's sources that lie in DIR, or in this directory, for the viewer
    ///
    /// Only sources that debug information of the program names, and that are no newer than it. Who gets the run
    /// gets them, too; `marey export --redact` leaves them out.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pub(crate) embed_sources: Option<PathBuf>,

    /// Keep the machine code of the program's functions that call stacks lead through
    ///
    /// For `marey source RUN --code NAME`, when the program is no more. As much as 1 MiB of it, what has most samples first.
    /// Who gets the run gets it, too; `marey export` leaves it out.
    #[arg(long)]
    pub(crate) embed_code: bool,

    /// A title that reports show
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// A remark to keep with the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) memo: Option<String>,

    /// Times a second of processor time to note where each thread is, or off
    ///
    /// The call stack is taken by a signal (real-time, one that the program does not use), and waiting threads are left
    /// alone. `marey hot` and `marey lines` show what it gives. Kernels look at a thread's time some 250 times a second:
    /// of more, each sample stands for several.
    #[arg(long, value_name = "HZ", default_value = "200", value_parser = sample)]
    pub(crate) sample: Sample,

    /// What to count beside the time: names separated by commas, auto, or off
    ///
    /// Counters of the processor and of the kernel, at most eight, read when a region is entered or left and at each
    /// sample: instructions, cache-misses, page-faults and others by their names in `perf list`, or rUUEE, a
    /// processor's own by unit mask and event. A wrong name lists all. auto takes the usual ones, as far as they can
    /// be had here; `marey doctor` says whether the processor's can. Readings cost up to a microsecond each.
    #[arg(long, value_name = "LIST", default_value = "off", value_parser = counters)]
    pub(crate) counters: Counters,

    /// Frames of the user's call stack to keep for every call site
    ///
    /// 1 keeps the calling line alone and costs the least.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub(crate) depth: u32,

    /// Record thread creation, joins, barriers and contended locks
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Switch::On)]
    pub(crate) threads: Switch,

    /// Record what is read from files and written to them
    ///
    /// Calls of the C library on files, pipes, sockets and terminals, each with its file, bytes, and place in the file.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Switch::On)]
    pub(crate) files: Switch,

    /// Record calls of the system that wait
    ///
    /// Calls of the C library that sleep, poll, select, wait for children, signals, connections, messages and locks on
    /// files, or look up names, each with its call path; not those that MPI makes. See WAITING in `marey report`.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Switch::On)]
    pub(crate) system: Switch,

    /// Record constructs of OpenMP
    ///
    /// Parallel regions, the tasks of their threads, loops whose iterations are handed out, sections, critical sections,
    /// barriers, locks that were waited for and explicit tasks, each with its call path, and who waited for whom. Static
    /// loops make no call and are part of their thread's task.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Switch::On)]
    pub(crate) openmp: Switch,

    /// Record what Kokkos tells
    ///
    /// Kernels, regions, sections, copies between Views, fences, and which Views there are, of programs that use Kokkos. A tool
    /// that KOKKOS_TOOLS_LIBS or KOKKOS_PROFILE_LIBRARY names stays alone.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Switch::On)]
    pub(crate) kokkos: Switch,

    /// Record operations of coarrays
    ///
    /// What a Fortran program does with coarrays, by array, image and section, each with its call path; the calls of MPI
    /// beneath are recorded all the same.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Switch::On)]
    pub(crate) coarrays: Switch,

    /// Record which arrays messages are sent from and received into
    ///
    /// Variables, blocks of the heap and parts of the stack that buffers of MPI lie in. See `marey report --by buffer`.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Switch::On)]
    pub(crate) buffers: Switch,

    /// Least size of blocks of memory to record, in bytes, or off
    ///
    /// Blocks that are allocated with malloc and its like, new, ALLOCATE or by Rust, with their call paths: how many and how
    /// large, what there was at the peak, and what was never freed. Smaller blocks pass by, so most programs are not
    /// slowed down; 1 records all.
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = heap)]
    pub(crate) heap: Heap,

    /// Measure every process from its start, launchers and shells too
    #[arg(long)]
    pub(crate) all: bool,

    /// The program and its arguments
    #[arg(value_name = "CMD", required_unless_present = "again", num_args = 1.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// How often threads are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample(pub(crate) Option<u32>);

/// The most that makes sense: more leaves a program no time.
const MOST_SAMPLES: u32 = 10_000;

fn sample(text: &str) -> Result<Sample, String> {
    if text == "off" {
        return Ok(Sample(None));
    }
    let hertz = text.parse::<u32>().ok().filter(|hertz| (1..=MOST_SAMPLES).contains(hertz));
    hertz
        .map(|hertz| Sample(Some(hertz)))
        .ok_or_else(|| format!("neither a number from 1 to {MOST_SAMPLES} nor off"))
}

/// What is counted beside the time, by names separated by commas; empty for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counters(pub(crate) String);

fn counters(text: &str) -> Result<Counters, String> {
    let list = match text {
        "off" => return Ok(Counters(String::new())),
        "auto" => USUAL,
        list => list,
    };
    if let Some(word) = ["auto", "off"].into_iter().find(|&word| list.split(',').any(|it| it.trim() == word))
    {
        return Err(format!("{word} stands alone, not among other names"));
    }
    let counters = parse_counters(list).map_err(|error| error.to_string())?;
    let names: Vec<String> = counters.into_iter().map(|counter| counter.name).collect();
    Ok(Counters(names.join(",")))
}

/// From which size on blocks of memory are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heap(pub(crate) Option<u64>);

fn heap(text: &str) -> Result<Heap, String> {
    if text == "off" {
        return Ok(Heap(None));
    }
    let least = text.parse::<u64>().ok().filter(|&least| least > 0);
    least
        .map(|least| Heap(Some(least)))
        .ok_or_else(|| "neither a number of bytes from 1 on nor off".to_owned())
}

/// How much a recorder keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Every event with its time
    Trace,
    /// Sums: how often and how long each call path was visited, who sent how much to whom. Of single events there are
    /// the 128 KiB of each thread that were not added up yet, and those from where the program says MPI_Pcontrol(1),
    /// until MPI_Pcontrol(0)
    Profile,
    /// As trace, and elements of each message, see --elements
    Full,
    /// Nothing, whatever the program says: what it costs with the recorder loaded and idle
    #[value(alias = "off")]
    Quiet,
}

impl Mode {
    /// The word that the recorder understands.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Profile => "profile",
            Self::Full => "full",
            Self::Quiet => "quiet",
        }
    }
}

/// A part of the measurement that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Recorded
    On,
    /// Left alone
    Off,
}

impl Switch {
    /// The word that the recorder understands.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// `marey merge`
#[derive(Debug, Args)]
#[command(
    about = "Turn recorded spools into a run",
    long_about = "Turn recorded spools into a run.\n\n\
        `marey record` does this at its end. This command is for recordings whose merge was put off \
        or went wrong, and for spools of a run that was cut short: whatever its processes had \
        committed is still there.\n\n\
        It is also for the clocks of a finished run. Where processes count different clocks, the merge finds out \
        by how much these differ and how well it knows that (`marey info`). --reclock does so again. --offset \
        moves what a process or a machine did, and --reset undoes both. For that nothing that was merged is \
        written anew: what is to be added stands in RUN/corrections.json, and every command adds it as it reads.",
    after_long_help = "EXAMPLES\n  \
        marey merge run.marey\n  \
        marey merge /tmp/spool -o run.marey --keep-spool\n  \
        marey merge run.marey --reclock                  fit the clocks of a finished run again\n  \
        marey merge run.marey --offset 3=+20us           process 3 did everything 20 µs later\n  \
        marey merge run.marey --offset node2=-1.5ms      so much earlier, all processes of a machine\n  \
        marey merge run.marey --offset 3=0               nothing for process 3 any more\n  \
        marey merge run.marey --reset                    all as it was merged\n\n\
        TIMES\n  \
        A number with a sign and a unit: +1500ns, -20us, 1.5ms, 2s. Without a unit, seconds.\n\n\
        PACKED RUNS\n  \
        What is applied to a run goes with it when it is packed. A packed file itself is never changed: unpack \
        it (unzip run.marey.zip -d run.marey), correct that, and pack it again."
)]
pub(crate) struct MergeArgs {
    /// A run with a spool inside, or a spool directory
    #[arg(value_name = "RUN|SPOOL")]
    pub(crate) input: PathBuf,

    /// Directory to write the run to, if the input is a bare spool
    #[arg(short, long, value_name = "RUN")]
    pub(crate) output: Option<PathBuf>,

    /// Replace RUN if it holds a finished run
    #[arg(long)]
    pub(crate) force: bool,

    /// Keep the recorded spool beside the merged run
    #[arg(long)]
    pub(crate) keep_spool: bool,

    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Keep the text of the program's sources that lie in DIR, or in this directory, for the viewer
    ///
    /// Only sources that debug information of the program names, and that are no newer than it. Who gets the run
    /// gets them, too; `marey export --redact` leaves them out.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pub(crate) embed_sources: Option<PathBuf>,

    /// Keep the machine code of the program's functions that call stacks lead through
    ///
    /// For `marey source RUN --code NAME`, when the program is no more. As much as 1 MiB of it, what has most samples first.
    /// Who gets the run gets it, too; `marey export` leaves it out.
    #[arg(long)]
    pub(crate) embed_code: bool,

    /// Fit the clocks of a finished run again
    ///
    /// If the spool is still there, by merging it again. Else from the messages in RUN and what the merge knew
    /// of each clock; the result is applied when RUN is read, and --reset undoes it.
    #[arg(long, conflicts_with_all = ["output", "offset", "reset"])]
    pub(crate) reclock: bool,

    /// Add TIME to all that a process or a machine of a finished run did, from now on
    ///
    /// PROCESS is a number or the name of a host, as `marey info` shows them. An offset takes the place of
    /// the one before. Other processes keep theirs.
    #[arg(long, value_name = "PROCESS=TIME", value_parser = parse_offset, allow_hyphen_values = true,
        conflicts_with_all = ["output", "force", "keep_spool"])]
    pub(crate) offset: Vec<(String, marey_model::Nanos)>,

    /// Forget all offsets of a finished run, and what --reclock found
    #[arg(long, conflicts_with_all = ["output", "force", "keep_spool"])]
    pub(crate) reset: bool,
}

/// How much a merge does, and with what.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WorkArgs {
    /// Do not look for what waits, for whom, and why
    ///
    /// Of runs with many short waits that is most of the work. Whatever tells of it then looks for it itself, each time anew.
    #[arg(long)]
    pub(crate) no_causes: bool,

    /// Threads to use; all processors if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,

    /// Memory for events on their way, in MiB; about 256 if not given
    ///
    /// Less makes more and smaller parts. What must be known of the run as a whole comes on top.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(16..))]
    pub(crate) memory_mb: Option<u64>,
}

/// `3=+20us`, `node2=-1.5ms`
fn parse_offset(text: &str) -> Result<(String, marey_model::Nanos), String> {
    let Some((process, time)) = text.rsplit_once('=').filter(|(process, _)| !process.is_empty()) else {
        return Err("not of the form PROCESS=TIME, such as 3=+20us".to_owned());
    };
    let time = time.strip_prefix('+').unwrap_or(time);
    Ok((process.to_owned(), crate::format::parse_time(time)?))
}

/// `marey gather`
#[derive(Debug, Args)]
#[command(
    about = "Bring to a run what was recorded on a machine's own disk",
    long_about = "Bring to a run what was recorded on a machine's own disk.\n\n\
        With `marey record --spool DIR`, and where the run lies on a network file system, each machine \
        records on its own disk. Recorders bring it to RUN when they end. This command does it for \
        machines where no recorder runs, or where it was killed; to be run on each of them, before \
        `marey merge`.\n\n\
        A file is removed from the disk when what has arrived was read back and is the same. Whatever \
        goes wrong, run it again: it goes on where it stopped.",
    after_long_help = "EXAMPLES\n  \
        marey record --no-merge --spool /tmp -- mpirun -H n1,n2 ./app\n  \
        mpirun -H n1,n2 -N 1 marey gather run.marey   one for each machine\n  \
        marey merge run.marey\n\n  \
        marey gather run.marey /mnt/n2/tmp            from a disk that is reached by another name\n\n\
        EXIT STATUS\n  \
        0  all is in RUN, or there was nothing on this machine\n  \
        1  an error, or processes still record\n  \
        2  wrong usage, or a directory that is not of this run"
)]
pub(crate) struct GatherArgs {
    /// The run to bring it to
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// Where to look, if not where the run says
    ///
    /// The directory that was recorded into, or the one that it lies in.
    #[arg(value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
}

/// `marey completions`
#[derive(Debug, Args)]
#[command(
    about = "Print a completion script for a shell",
    after_long_help = "EXAMPLES\n  \
        marey completions bash > ~/.local/share/bash-completion/completions/marey\n  \
        marey completions zsh > ~/.zfunc/_marey\n  \
        marey completions fish > ~/.config/fish/completions/marey.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// `marey man`
#[derive(Debug, Args)]
#[command(
    about = "Print the manual page, or write one page a command",
    after_long_help = "EXAMPLES\n  \
        marey man | man -l -\n  \
        marey man ~/.local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// Directory to write marey.1, marey-record.1 … to
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// Reads `--elements`.
fn elements(text: &str) -> Result<Elements, String> {
    Elements::parse(text)
        .ok_or_else(|| "give a number of elements or places such as 0-3,100; 1 to 64".to_owned())
}
