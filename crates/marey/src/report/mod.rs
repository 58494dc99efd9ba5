//! `marey report`: where the time of a run went.
//!
//! The one idea: the first lines answer the question in words, everything below them is the
//! evidence. Numbers come from `marey-analyze`; here they only get words, units and places on a
//! page.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use marey_analyze::{
    AllocationPath, Array, CallPathRow, Causes, Counted, Excerpt, FileRow, Headline, Hot, MessageSizeRow,
    PairRow, ProcessMemory, RankRow, RegionRow, Small, Trace, Waiting, allocations, call_paths,
    communication, counted, files as by_file, headline, hot, memory as memory_of, message_sizes, ranks,
    regions, waiting as blocked,
};

use marey_model::Nanos;

use crate::arrays;
use crate::cli::{ReportArgs, Section, When, Which};
use crate::compare::metrics;
use crate::endings;
use crate::exit::Usage;
use crate::explain;
use crate::explain::part::Part;
use crate::hot;
use crate::info;
use crate::paint::{Look, Paint, note, title, wrap};
use crate::problems;
use crate::remarks::{Told, in_report};
use crate::run::Run;
use crate::sentence;
use crate::table;

mod across;
mod answer;
mod buffers;
mod calls;
mod chains;
mod counters;
mod exchange;
mod files;
mod json;
mod memory;
mod origin;
mod tables;
mod tasks;
mod tree;
mod waiting;

/// Runs the command.
pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    if args.across && !matches!(args.by, Some(Section::Region | Section::Path)) {
        bail!(Usage(
            "--across shows how ranks and threads differ by region or by path: add --by region or --by path"
                .to_owned()
        ));
    }
    let run = Run::open(&args.run)?;
    let part = Part::asked(&run, &args.run, &args.when, &args.which)?;
    // Whoever asked for one table of sums need not wait for more.
    let excerpt = part.excerpt(&run, &args.run)?;
    let facts = || Facts::new(&run, &args.run, &part, excerpt.as_ref());
    let meant: &dyn Trace = excerpt.as_ref().filter(|_| part.is_asked()).map_or(&run.trace, |it| it);
    let computed = metrics::of_run(&args.metric, meant, || match part.is_asked() {
        true => part.causes(&run, &args.run),
        false => explain::explained(&run, &args.run),
    })?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let paint = Paint::for_stdout();
    let paint = if args.no_color { paint.without_colour() } else { paint };
    if args.json {
        json::print(&mut out, &facts(), &computed)?;
    } else if !computed.is_empty() {
        metrics::print(&mut out, paint, &computed)?;
    } else {
        let facts = facts();
        let top = usize::try_from(args.top).unwrap_or(usize::MAX);
        let mut page = Page { out: &mut out, paint, top, facts: &facts };
        match args.by {
            Some(Section::Region) if args.across => across::print(&mut page, across::Rows::Regions)?,
            Some(Section::Path) if args.across => across::print(&mut page, across::Rows::CallPaths)?,
            _ => page.print(args.by)?,
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The report of a whole run for other programs.
pub(crate) fn as_json(path: &Path) -> anyhow::Result<Vec<u8>> {
    as_json_called(path, path)
}

/// The same, and where the report names the run it says `shown`.
pub(crate) fn as_json_called(path: &Path, shown: &Path) -> anyhow::Result<Vec<u8>> {
    let run = Run::open(path)?;
    let part = Part::asked(&run, shown, &When::default(), &Which::default())?;
    let excerpt = part.excerpt(&run, shown)?;
    let facts = Facts::new(&run, shown, &part, excerpt.as_ref());
    let mut text = Vec::new();
    json::print(&mut text, &facts, &[])?;
    Ok(text)
}

/// Everything that the report is about.
struct Facts<'r> {
    run: &'r Run,
    /// Where it is, as the user said it.
    path: &'r Path,
    /// What of it is meant.
    part: &'r Part,
    /// What tables are about: all of the run, or the part that was asked for.
    trace: &'r dyn Trace,
    /// What is explained: that, but for what is only known by sums.
    explained: &'r dyn Trace,
    headline: Headline,
    ranks: Vec<RankRow>,
    regions: Vec<RegionRow<'r>>,
    call_paths: Vec<CallPathRow<'r>>,
    pairs: Vec<PairRow>,
    sizes: Vec<MessageSizeRow>,
    hot: Hot<'r>,
    files: Vec<FileRow<'r>>,
    counted: Counted<'r>,
    waiting: Waiting,
    memory: Vec<ProcessMemory>,
    allocations: Vec<AllocationPath<'r>>,
    /// Why it took so long, or why that is not known.
    causes: Result<Causes, String>,
    /// Calls that are too small for what they cost.
    small: Result<Vec<Small>, String>,
}

impl<'r> Facts<'r> {
    fn new(run: &'r Run, path: &'r Path, part: &'r Part, excerpt: Option<&'r Excerpt<'r>>) -> Self {
        let explained: &dyn Trace = excerpt.map_or(&run.trace, |excerpt| excerpt);
        let trace = if part.is_asked() { explained } else { &run.trace };
        let causes = part.causes(run, path).map_err(|error| format!("{error:#}"));
        let small = causes.as_ref().map_err(Clone::clone).and_then(|causes| {
            if excerpt.is_some() {
                return Err("what is too small is told of whole runs only".to_owned());
            }
            let cost = info::overhead(&run.archive).map_err(|error| format!("{error:#}"))?;
            explain::granularity::found(run, causes, cost.ns_per_event)
        });
        Self {
            run,
            path,
            part,
            trace,
            explained,
            headline: headline(trace),
            ranks: ranks(trace).into_iter().filter(|row| !trace.leaves_out(row.process)).collect(),
            regions: regions(trace),
            call_paths: call_paths(trace),
            pairs: communication(trace),
            sizes: message_sizes(trace),
            hot: hot(trace),
            files: by_file(trace),
            counted: counted(trace),
            waiting: blocked(trace),
            memory: memory_of(trace),
            allocations: allocations(trace),
            causes,
            small,
        }
    }
}

/// Where and how a report is printed.
struct Page<'p> {
    out: &'p mut dyn Write,
    paint: Paint,
    /// Rows of a table at most.
    top: usize,
    facts: &'p Facts<'p>,
}

impl Page<'_> {
    fn print(&mut self, only: Option<Section>) -> anyhow::Result<()> {
        let Some(section) = only else { return self.print_all() };
        self.section(section)?;
        Ok(())
    }

    fn print_all(&mut self) -> anyhow::Result<()> {
        answer::print(self)?;
        self.section(Section::Ending)?;
        match self.facts.causes.as_ref() {
            Ok(_) => {
                self.section(Section::Finding)?;
                self.section(Section::Efficiency)?;
            }
            // One reason is that of both.
            Err(why) => {
                title(self.out, self.paint, "FINDINGS", "what others waited for, and what there is to win")?;
                note(self.out, self.paint, why)?;
            }
        }
        self.section(Section::Rank)?;
        self.section(Section::Region)?;
        if self.has_models() {
            self.section(Section::Level)?;
        }
        if self.facts.trace.arrays().iter().any(Array::is_acted_on) && !self.facts.part.is_asked() {
            self.section(Section::Array)?;
        }
        tasks::print(self)?;
        if self.facts.hot.whole.samples > 0 {
            self.section(Section::Hot)?;
        }
        if !self.facts.part.is_asked() {
            self.loops()?;
        }
        if counters::is_worthwhile(self) {
            self.section(Section::Counter)?;
        }
        if self.facts.small.as_ref().is_ok_and(|small| !small.is_empty()) {
            self.section(Section::Granularity)?;
        }
        self.section(Section::Path)?;
        if self.facts.headline.mpi > Nanos(0) || !self.facts.pairs.is_empty() {
            for section in [Section::Communication, Section::Size, Section::Collective] {
                self.section(section)?;
            }
        }
        if !self.facts.part.is_asked() && !self.facts.trace.array_messages().is_empty() {
            self.section(Section::Buffer)?;
        }
        if !self.facts.waiting.rows.is_empty() {
            self.section(Section::Waiting)?;
        }
        if !self.facts.files.is_empty() {
            self.section(Section::File)?;
        }
        if !self.facts.memory.is_empty() {
            self.section(Section::Memory)?;
        }
        if !self.facts.part.is_asked() {
            self.cost()?;
        }
        self.section(Section::Problem)?;
        Ok(())
    }

    fn section(&mut self, section: Section) -> io::Result<()> {
        match section {
            Section::Ending => endings::print(self.out, self.paint, &self.facts.run.trace),
            Section::Finding => self.explained(explain::findings::print),
            Section::Efficiency if self.facts.part.chooses_calls() => note(
                self.out,
                self.paint,
                "efficiencies are of all calls: without --context, --level and --communicator",
            ),
            Section::Efficiency => self.explained(explain::findings::print_efficiency),
            Section::Granularity => self.granularity(),
            Section::Rank => tables::ranks(self),
            Section::Region => {
                tables::regions(self)?;
                calls::print(self)
            }
            Section::Function => tables::functions(self),
            Section::Hot => {
                let (paint, top, trace) = (self.paint, self.top, self.facts.trace);
                let mut page = hot::Page { out: self.out, paint, top, trace };
                page.functions(&self.facts.hot)?;
                page.notes(&self.facts.hot)
            }
            Section::Level => sentence::print_levels(self.out, self.paint, self.facts.trace),
            Section::Array if self.facts.part.is_asked() => {
                note(self.out, self.paint, "arrays are added up over the run: of a part they are not known")
            }
            Section::Array => {
                let (paint, top, trace) = (self.paint, self.top, self.facts.trace);
                let has_gaps = self.facts.run.archive.meta().run.leaves_out();
                arrays::Page { out: self.out, paint, top, trace, has_gaps }
                    .arrays(&marey_analyze::arrays(trace))
            }
            Section::Path => tree::print(self),
            Section::Communication => exchange::communication(self),
            Section::Size => exchange::sizes(self),
            Section::Collective => tables::collectives(self),
            Section::Waiting => waiting::print(self),
            Section::File => files::print(self),
            Section::Buffer | Section::Counter | Section::Memory if self.facts.part.is_asked() => note(
                self.out,
                self.paint,
                "arrays in messages, counters and memory are added up over the run: of a part they are not known",
            ),
            Section::Buffer => buffers::print(self),
            Section::Counter => counters::print(self),
            Section::Memory => memory::print(self),
            Section::Problem => problems::print(self.out, self.paint, self.facts.trace),
        }
    }

    /// Whether there are levels of programming models, whose regions have labels.
    fn has_models(&self) -> bool {
        self.facts.trace.regions().iter().any(|region| region.label.is_some())
    }

    /// A section that says why, if that is known.
    fn explained(&mut self, print: fn(&mut explain::Page<'_>) -> io::Result<()>) -> io::Result<()> {
        match &self.facts.causes {
            Ok(causes) => {
                let (paint, top, trace) = (self.paint, self.top, self.facts.explained);
                let (path, options) = (self.facts.path, self.facts.part.options.clone());
                print(&mut explain::Page { out: self.out, paint, top, trace, causes, path, options })
            }
            Err(why) => note(self.out, self.paint, why),
        }
    }

    fn granularity(&mut self) -> io::Result<()> {
        match (&self.facts.causes, &self.facts.small) {
            (Ok(causes), Ok(small)) => {
                let (paint, top, trace) = (self.paint, self.top, self.facts.trace);
                let (path, options) = (self.facts.path, self.facts.part.options.clone());
                let mut page = explain::Page { out: self.out, paint, top, trace, causes, path, options };
                explain::granularity::print(&mut page, small)
            }
            (Err(why), _) | (_, Err(why)) => note(self.out, self.paint, why),
        }
    }

    /// What the compiler said of hot loops, if the run knows.
    fn loops(&mut self) -> io::Result<()> {
        let told = Told::of(self.facts.run);
        if let Some(unread) = &told.unread {
            note(self.out, self.paint, unread)?;
        }
        let path = self.facts.path.display().to_string();
        in_report(self.out, self.paint, &told.remarked(self.facts.run), &path)
    }

    fn cost(&mut self) -> anyhow::Result<()> {
        let overhead = info::overhead(&self.facts.run.archive)?;
        self.title("MEASUREMENT COST", "what recording added, as the recorders measured it themselves")?;
        for line in
            wrap(&info::cost(overhead, &self.facts.run.archive.meta().run), self.paint.prose_width() - 2)
        {
            writeln!(self.out, "  {line}")?;
        }
        Ok(())
    }

    fn title(&mut self, name: &str, remark: &str) -> io::Result<()> {
        title(self.out, self.paint, name, remark)
    }

    /// A line that says what a table leaves out.
    fn more(&mut self, rows: usize, what: &str) -> io::Result<()> {
        self.more_of(rows, what, &format!("{what}s"))
    }

    /// The same for nouns with a plural of their own.
    fn more_of(&mut self, rows: usize, one: &str, many: &str) -> io::Result<()> {
        table::more(self.out, self.paint, rows, one, many)
    }

    /// A line in the place of an empty table.
    fn nothing(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "  {}", self.paint.paint(Look::Faint, text))
    }
}
