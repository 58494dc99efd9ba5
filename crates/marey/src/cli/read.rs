//! The commands that read a run: `report`, `info`, `dump`, `pack`.
//!
//! What their JSON means in full stands in `docs/json.md`; the help lists the names.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{When, Which, at_least_one};
use crate::format;

/// `marey report`
#[derive(Debug, Args)]
#[command(
    about = "Tell where the time of a run went",
    long_about = "Tell where the time of a run went.\n\n\
        The first lines answer the question, then come findings: what others waited for, what moving data took, and what there is to win. \
        The tables below show efficiencies, ranks, regions, hot functions, counters, \
        call paths, who sent what to whom, message sizes, collectives, where the program waited, files, \
        memory, what the measurement cost, and everything that was lost or uncertain.\n\n\
        With --from, --to, --ranks, --context, --level and --communicator all of it is about that part alone, as far as \
        it is known by time; what that means is told in docs/selections.md.",
    after_long_help = "EXAMPLES\n  \
        marey report run.marey\n  \
        marey report run.marey --by rank --top 50\n  \
        marey report run.marey --by waiting         sleeps, polls, sockets, children: where the program was blocked\n  \
        marey report run.marey --by region --across        how ranks and threads differ in each\n  \
        marey report run.marey --from 1.2s --to 3.4s --ranks 0-3        a part of it, alone\n  \
        marey report run.marey --metric 'mpi_time / time'\n  \
        marey report run.marey --json | jq '.regions[0]'\n\n\
        JSON\n  \
        from_ns, to_ns, part|null, explained_until_ns|null, \
        findings[{kind, text, gain_ns, cost_ns, share, ranks[], locations[], others, activity, level, region, function, \
        file, line, routine, within, lines, from_ns, to_ns, confidence, effect_ns, clock_bar_ns|null, calls, bytes, data, \
        pieces{why, array, accesses, bytes, transfers}|null, command, without_processor_ns|null, effects[{pattern, region, function, \
        file, line, routine, locations[], others, wait_ns}]}], dominant{text, activity, level, region, function, file, line, path_ns, \
        mean_ns, is_alike}|null, efficiency{parallel, load_balance, communication, serialisation, setting_up, \
        transfer, busiest, largest_useful_ns, mean_useful_ns, run_ns, ideal_run_ns, bare_run_ns, locations}, waits and delays as in `marey \
        waits --json`, critical_path as in `marey path --json`, \
        granularity[{kind, text, locations[], ranks[], to|null, level, region, function, file, line, number, rows, \
        mean_bytes, cost_ns, gain_ns|null, work_ns, of_ns}], unexplained|null, \
        derived_metrics[{name, expression, unit, value|null, reason|null}], regions[{level, verb, noun, calls, untimed_calls, inclusive_ns, exclusive_ns, waiting_ns|null, min_ns, max_ns, \
        mean_ns, std_ns, bytes, durations[[from, to, visits]], sizes[[from, to, operations]], \
        exclusive_of_process{min_ns, max_ns, mean_ns, std_ns, imbalance, processes, min_process, max_process}, \
        across{locations, exclusive_ns, inclusive_ns, calls, bytes, waiting_ns|null, each {min, max, mean, std, imbalance, \
        min_location, max_location}}}], \
        call_paths[{path[], function, file, line, calls, untimed_calls, inclusive_ns, exclusive_ns, bytes, \
        durations, sizes, across, stack[{function, file, line}]}], ranks[{process, world, rank|null, threads, \
        time_ns, mpi_ns, peak_memory_bytes|null, processor_ns|null}], communication[{from, to, messages, \
        bytes, from_world, to_world}], buffers[{array|null, kind|null, file|null, line|null, sent_messages, sent_bytes, received_messages, \
        received_bytes, pattern|null}], message_sizes[{from_bytes, to_bytes, messages, bytes}], files[{level, \
        file, opens, open_ns, closes, close_ns, reads, read_bytes, read_ns, writes, written_bytes, write_ns, \
        seeks, seek_ns, syncs, sync_ns, resizes, resize_ns, untimed_calls, processes[]}], hot as in `marey \
        hot --json`, counters[{name, unit, source, total, enabled_ns|null, running_ns|null}], metrics[{name, \
        kind}], counted_regions[{level, verb|null, noun|null, region|null, exclusive_ns, exclusive[], \
        inclusive[]}], counted_functions[{name|null, file, level|null, values[], metrics[]}], whose lists \
        are in the order of counters and of metrics, tasks[{name, level, file, line, number, lanes, lived_ns, longest_ns, \
        runs, running_ns, ready_ns, waiting_ns}], waiting[{call, function, file, line, calls, \
        untimed_calls, time_ns, idle_ns, longest_ns, processes[]}], memory{processes[{process, \
        resident_bytes|null, least_bytes, peak_bytes, peak_ns|null, end_bytes, lost_blocks, lost_bytes}], \
        call_paths[{path[], function, file, line, processes, blocks, bytes, freed_blocks, freed_bytes, \
        peak_bytes, at_peak_bytes, stack[]}]}, ended_early[] as in `marey info --json`, problems[{kind, \
        process|null, location|null, count, detail}], overhead and reduced as in `marey info --json`. All times \
        in nanoseconds.\n  \
        min_ns, max_ns, mean_ns and std_ns of a region are over single calls; those in \
        exclusive_of_process, which the text report shows, are over processes."
)]
pub(crate) struct ReportArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Rows a table shows at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub(crate) top: u32,

    /// Show one table alone
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with = "json")]
    pub(crate) by: Option<Section>,

    /// With --by region or path: show how ranks and threads differ
    #[arg(long, requires = "by")]
    pub(crate) across: bool,

    /// Show numbers computed from quantities of the run, alone; may be given several times
    ///
    /// Such as 'mpi_time / time' or 'region("MPI_Send").bytes'; `marey check --help` lists what there is. With --json they
    /// are a field of the whole.
    #[arg(long, value_name = "[NAME=]EXPR", conflicts_with = "by", allow_hyphen_values = true)]
    pub(crate) metric: Vec<String>,

    /// Never use colour
    ///
    /// Colour is used on a terminal only, and not if NO_COLOR is set.
    #[arg(long)]
    pub(crate) no_color: bool,

    #[command(flatten)]
    pub(crate) when: When,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// A table of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// What is worth changing: what others waited for, and what there is to win
    Finding,
    /// How much of the time was useful, and what took the rest
    Efficiency,
    /// Calls too small for what they cost, that could be merged
    Granularity,
    /// One row a rank
    Rank,
    /// One row a region, such as an MPI function
    Region,
    /// One row a function of the program that calls measured regions
    Function,
    /// Functions by processor time, from samples
    Hot,
    /// What processor and kernel counted, by function
    Counter,
    /// What each level of abstraction cost, and what of that went to others beneath
    Level,
    /// Arrays that calls acted on, such as coarrays
    Array,
    /// The call tree
    Path,
    /// Who sent how much to whom
    Communication,
    /// Which arrays messages were sent from and received into
    Buffer,
    /// How large the messages were
    Size,
    /// Collective operations
    Collective,
    /// Calls of the system that wait: where from, how often and for how long
    Waiting,
    /// Files: how often opened, what was read and written, how fast
    File,
    /// Memory: which call paths allocated it, and what there was at the peak
    Memory,
    /// Where processes were that did not end well
    Ending,
    /// What was lost, cut short or uncertain
    Problem,
}

/// `marey hot`
#[derive(Debug, Args)]
#[command(
    about = "Show which functions and lines the processor time went to",
    long_about = "Show which functions and lines the processor time went to.\n\n\
        From the samples that `marey record` takes of each thread. A call with a region of its own, such as \
        MPI_Recv, counts as one, whatever the library does inside; its functions are those of the program \
        around it. Times of waiting are no processor time: `marey report` has them. A line has only the time \
        in its own code for itself; what functions without lines took, such as sin() and memcpy(), is with \
        the callees of the lines that called them.",
    after_long_help = "EXAMPLES\n  \
        marey hot run.marey\n  \
        marey hot run.marey --by line --top 50\n  \
        marey hot run.marey --json | jq '.functions[0]'\n\n\
        JSON\n  \
        samples, time_ns, incomplete_samples, lost_samples, unsampled[], functions[{name, file, level|null, \
        exclusive_samples, exclusive_ns, exclusive_share, exclusive_error, inclusive_samples, inclusive_ns, \
        inclusive_share, inclusive_error}], lines[{file, line, function, and the same numbers}]. \
        lost_samples are periods of processor time of which it is not known where they went, and unsampled \
        says why threads were not sampled that should have been. Shares are from 0 to 1, of what was \
        sampled; an error is how far the share is from the farther bound of Wilson's interval of 95 %, for \
        samples that stand for equal times."
)]
pub(crate) struct HotArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// Show one table alone
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) by: Option<HotBy>,

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

/// A table of `marey hot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HotBy {
    /// One row a function
    Function,
    /// One row a line of the source
    Line,
}

/// `marey lines`
#[derive(Debug, Args)]
#[command(
    about = "Show a source file with what its lines cost",
    long_about = "Show a source file with what its lines cost.\n\n\
        Beside each line stands the processor time, by samples, in the line's own code (self), and with what \
        it called: time in functions of which no lines are known, such as sin() and memcpy(), is in `with \
        callees` of the line that called them, and in self of none. Then follow the measured calls that it \
        made: how many, how long they took, and the data that they moved; and the memory that it allocated. \
        FILE is read from here; if it is not here, the numbers stand alone.",
    after_long_help = "EXAMPLES\n  \
        marey lines run.marey solver.c\n  \
        marey lines run.marey src/halo.f90 --context 3\n  \
        marey lines run.marey solver.c --json | jq '.lines | max_by(.exclusive_ns)'\n\n\
        JSON\n  \
        file, lines[{line, exclusive_samples, exclusive_ns, inclusive_samples, inclusive_ns, calls, call_ns, \
        bytes, allocated_bytes, at_peak_bytes}]; lines where nothing happened are left out. All times in \
        nanoseconds, summed over threads."
)]
pub(crate) struct LinesArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// The source file, or the end of its path
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Show only lines where something happened, and N around them
    #[arg(long, value_name = "N")]
    pub(crate) context: Option<u32>,

    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Never use colour
    ///
    /// Colour is used on a terminal only, and not if NO_COLOR is set.
    #[arg(long)]
    pub(crate) no_color: bool,
}

/// `marey info`
#[derive(Debug, Args)]
#[command(
    about = "Show what a run holds and how far it can be trusted",
    long_about = "Show what a run holds and how far it can be trusted.\n\n\
        What ran where, how much was recorded, what recording cost, how well the clocks agree, and \
        everything that was lost, dropped or could not be matched.",
    after_long_help = "EXAMPLES\n  \
        marey info run.marey\n  \
        marey info run.marey --json | jq .problems\n  \
        marey info run.marey --estimate            how large a full trace of the program is\n\n\
        JSON\n  \
        version, schema, duration_ns, processes, locations, intervals, messages, events, samples, \
        sampled_ns, heap_blocks, heap_bytes, levels[], problems{lost, missing, dropped, unmatched_sends, \
        unmatched_receives, ambiguous, unmatchable_channels, clock_violations, truncated}, \
        overhead{fraction, ns_per_event, ns_per_call}, clocks[{process, offset_ns, drift_ppm, \
        uncertainty_ns}], causal_shifts{messages, sum_ns, max_ns}, corrections{offsets[{\
        process, offset_ns}], refitted[]}, ended_early[{process, world, rank|null, outcome, \
        exit_code|null, end_ns, threads[{location, thread, state, path[], start_ns|null, function, \
        file, line}]}], summed{since_ns|null, locations, visits, messages}, idle_rules[], \
        trace{spool_bytes, largest_process_bytes}, reduced{budget|null, visits, since_ns|null, regions[{region, \
        file, line, since_ns, visits, timed, time_ns, error_ns, share}]}. All times in nanoseconds."
)]
pub(crate) struct InfoArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// Say how much space a trace of everything takes, for this program as it ran
    ///
    /// Also of a run that was recorded with --mode profile, or came to its limit.
    #[arg(long)]
    pub(crate) estimate: bool,

    /// Print JSON for other programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `marey dump`
#[derive(Debug, Args)]
#[command(
    about = "Print the events of a run, readable",
    long_about = "Print the events of a run, readable, in the order of time.\n\n\
        Times are seconds since the start of the run. Regions are indented by their depth; messages, \
        collectives, events of the program, counters and peaks of the heap stand between them.",
    after_long_help = "EXAMPLES\n  \
        marey dump run.marey --rank 0 --limit 100\n  \
        marey dump run.marey --from 1.5s --to 1.6s\n  \
        marey dump run.marey --location 3 --json | jq -c .\n\n\
        TIMES\n  \
        A number with a unit: 1500000ns, 1500us, 1.5ms, 2s. Without a unit, seconds."
)]
pub(crate) struct DumpArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// Leave out what ended before this time
    #[arg(long, value_name = "TIME", value_parser = format::parse_time)]
    pub(crate) from: Option<marey_model::Nanos>,

    /// Leave out what began after this time
    #[arg(long, value_name = "TIME", value_parser = format::parse_time)]
    pub(crate) to: Option<marey_model::Nanos>,

    /// Only this location, a number as `marey info` shows it
    #[arg(short, long, value_name = "N")]
    pub(crate) location: Option<u32>,

    /// Only this rank of MPI_COMM_WORLD
    #[arg(short, long, value_name = "N", conflicts_with = "location")]
    pub(crate) rank: Option<u32>,

    /// Stop after so many lines
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `marey pack`
#[derive(Debug, Args)]
#[command(
    about = "Make one file out of a run",
    long_about = "Make one file out of a run, to copy or to attach.\n\n\
        Every command reads the packed file as it reads the directory. It is an ordinary ZIP file.",
    after_long_help = "EXAMPLES\n  \
        marey pack run.marey\n  \
        marey pack run.marey -o slow-run.marey.zip\n  \
        marey report run.marey.zip"
)]
pub(crate) struct PackArgs {
    /// The run
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// The file to write; RUN with .zip appended if not given
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace FILE if it exists
    #[arg(long)]
    pub(crate) force: bool,
}
