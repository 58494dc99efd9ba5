//! `marey export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `marey export`
#[derive(Debug, Args)]
#[command(
    about = "Write a run in another form: as one page for the browser, or in the format of another tool",
    long_about = "Write a run in another form: as one page for the browser, or in the format of another tool.\n\n\
        Formats of other tools get all events of the run: visits of regions, messages, collectives, edges, values of \
        counters and events of the program. docs/formats.md has what becomes of each, and what a format cannot hold; how much \
        of that the run has is said. What a run has only as sums is not written.\n\n\
        The page is one file that needs no network, no server and no marey: it holds the viewer, the engine that \
        answers it, the run and its report. Everything that `marey view` shows it shows, wherever it is opened.\n\n\
        What leaves this machine with a page: names of nodes, paths of executables, libraries, source files and of the files \
        that the program used, the command line, the title, process ids, and the problems of the recording in words. Not \
        the environment, not what messages or the program's events held, and no file's content. --redact leaves all of \
        that out. With other forms: names of nodes, source files and of what the run has events of, the command line, the \
        title, and the fields of the program's events; --redact makes a redacted copy of the run first, which then is written.",
    after_long_help = "EXAMPLES\n  \
        marey export run.marey --to html                    run.marey.html, to be opened in a browser\n  \
        marey export run.marey --to html -o for-ada.html    under another name\n  \
        marey export run.marey --to html --redact           says what was done and how long, not by whom and where\n  \
        marey export run.marey --to html --most-mib 20      fits into a letter\n  \
        marey export old.marey new.marey --to html          both, and what differs between them\n  \
        marey export run.marey --to chrome                  run.marey.json, for Perfetto's page and others\n  \
        marey export run.marey --to paraver -o halo.prv     halo.prv, halo.pcf and halo.row\n  \
        marey export run.marey --to otf2                    the directory run.marey.otf2 with traces.otf2\n\n\
        REDACTED\n  \
        Nodes, programs, libraries and files go by neutral names such as host-1 and file-3.c, the same for the same. Command \
        lines, titles, remarks, rules, environment, process and thread ids of the system, names of threads, texts of problems \
        and events are gone, in the run and in its report. Names of functions, regions, communicators and counters stay \
        but for paths, nodes and known users in them, and times, sizes, lines and the date: look at these before you give the page away.\n\n\
        EXIT STATUS\n  \
        0 when the file is written, 1 if the run cannot be read or is larger than allowed in any form, 2 if FILE is there \
        already"
)]
pub(crate) struct ExportArgs {
    /// The run, a directory or a packed file
    #[arg(value_name = "RUN", default_value = "run.marey")]
    pub(crate) run: PathBuf,

    /// A second run beside it, with what differs between them
    #[arg(value_name = "OTHER")]
    pub(crate) other: Option<PathBuf>,

    /// The form
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) to: Form,

    /// File to write; RUN with the end of the form behind it if nothing is said, as in RUN.html
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Leave out whose run it was, and where
    #[arg(long)]
    pub(crate) redact: bool,

    /// How much of a run the page may hold, in MiB
    ///
    /// Of a larger run messages are left out first, then single visits: pictures are of prepared buckets then, some 256
    /// visits each, and the page says so. The file is a third longer than what it holds. 256 if nothing is said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) most_mib: Option<u64>,

    /// Replace FILE if it is there
    #[arg(long)]
    pub(crate) force: bool,

    /// Write what was written and what not as JSON; not of a page
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a run can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A page for the browser that holds all it needs
    Html,
    /// Chrome trace events: JSON for Perfetto's page, chrome://tracing and others
    Chrome,
    /// Paraver: NAME.prv, with NAME.pcf and NAME.row beside it
    Paraver,
    /// Perfetto: track events with flows, in protobuf
    Perfetto,
    /// OTF2: an archive for Vampir and others, a directory
    Otf2,
    /// Pajé: a text for ViTE, PajeNG and others
    Paje,
    /// ALOG: a text for upshot and nupshot
    Alog,
    /// CLOG-2: for Jumpshot
    Clog2,
}

impl Form {
    /// The format of another tool that it is, if it is one.
    pub(crate) const fn of_other_tools(self) -> Option<marey_formats::write::Form> {
        use marey_formats::write::Form as Of;
        match self {
            Self::Html => None,
            Self::Chrome => Some(Of::Chrome),
            Self::Paraver => Some(Of::Paraver),
            Self::Perfetto => Some(Of::Perfetto),
            Self::Otf2 => Some(Of::Otf2),
            Self::Paje => Some(Of::Paje),
            Self::Alog => Some(Of::Alog),
            Self::Clog2 => Some(Of::Clog2),
        }
    }
}
