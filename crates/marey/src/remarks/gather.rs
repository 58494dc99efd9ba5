//! From records of compilers to rows: which loop each remark is about, and which array keeps it as it is.
//!
//! The one idea: it is done once, when a run is merged, while records, sources and the program that ran are still there and
//! of one time; the run keeps what was found, and later builds change nothing. Asked by hand, the same is done with the
//! records that the user names.
//!
//! What a run names is opened here only when it has just been recorded, as for names of functions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use marey_analyze::{LoopOutcome, RemarkRow, Trace};
use marey_archive::{Archive, add_problems, keep_remarks};
use marey_source::remarks::{
    Found, LoopRemarks, Outcome, Remark, RemarkConfig, RemarkFiles, RemarkKind, Site, array_of, join,
    of_files, of_module, of_modules,
};
use marey_source::text::{Lines, Sources, TextConfig};
use marey_source::{ModuleRef, SymbolizerConfig};

use crate::source::kept::{is_of_system, users_modules};
use crate::words;

/// Rows that a run keeps; a million lines of code have some 100 000.
const MOST_ROWS: usize = 500_000;

/// The kind of a problem that a run has with records.
pub(crate) const PROBLEM: &str = "remarks";

/// Rows, and what is missing or doubtful of them.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) rows: Vec<RemarkRow>,
    /// Records that were read.
    pub(crate) records: usize,
    pub(crate) problems: Vec<String>,
}

/// Puts what compilers said of the program into a run that was just merged; how many rows that are.
pub(crate) fn keep(run: &Path) -> anyhow::Result<Gathered> {
    let archive = Archive::open_as_merged(run)?;
    let frames = archive.table("frames")?;
    // Headers of the system are in every unit.
    let files = frames.text("file")?.iter().filter(|file| !file.is_empty() && !is_of_system(file));
    let asked: Vec<String> = files.cloned().collect::<BTreeSet<String>>().into_iter().collect();
    let known = if asked.is_empty() { Vec::new() } else { users_modules(&archive)? };
    let known = known.iter().filter(|(_, path, _)| path.is_absolute());
    let modules: Vec<ModuleRef<'_>> =
        known.map(|(_, path, build_id)| ModuleRef { path, build_id: build_id.as_deref() }).collect();
    let found = of_modules(&modules, None, &asked, &RemarkConfig::system(), &SymbolizerConfig::system());
    let gathered = Gathered::of(found);
    keep_remarks(run, &gathered.rows)?;
    add_problems(run, PROBLEM, &gathered.problems)?;
    Ok(gathered)
}

/// What records say of the sources that call stacks of a run name. The program itself is not opened.
pub(crate) fn of_run(trace: &dyn Trace, records: &[RemarkFiles]) -> Gathered {
    let of_samples = trace.samples().iter().filter_map(|row| row.stack);
    let of_calls = trace.call_paths().iter().filter_map(|path| path.stack);
    let stacks: BTreeSet<_> = of_samples.chain(of_calls).collect();
    let mut files: BTreeSet<String> = BTreeSet::new();
    for stack in stacks {
        files.extend(trace.stack(stack).into_iter().map(|frame| frame.file.clone()));
    }
    Gathered::of(of_files(&files.into_iter().collect::<Vec<_>>(), records, &RemarkConfig::system()))
}

/// What compilers said of a program that was not run.
pub(crate) fn of_program(path: &Path, records: Option<&[RemarkFiles]>) -> Gathered {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let module = ModuleRef { path: &path, build_id: None };
    Gathered::of(of_module(&module, records, &[], &RemarkConfig::system(), &SymbolizerConfig::system()))
}

/// What records say, whatever program they are of; sources are looked for from where the records are.
pub(crate) fn of_records(records: &[RemarkFiles]) -> Gathered {
    Gathered::of(marey_source::remarks::of_records(records, &RemarkConfig::system()))
}

impl Gathered {
    fn of(found: Found) -> Self {
        let files: BTreeSet<&Path> = found.rows.iter().map(|row| Path::new(&row.file)).collect();
        // What no directory is known of is not what bears its name where somebody asks.
        let is_there = |file: &&&Path| file.is_absolute() && Sources::has_source_name(file) && file.is_file();
        let files: Vec<PathBuf> = files.iter().filter(is_there).map(|file| file.to_path_buf()).collect();
        let text = Sources::of_files(&files, &TextConfig::system());
        let mut problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
        let mut rows = rows(&found.rows, &text);
        if MOST_ROWS < rows.len() {
            problems.push(format!("of {} remarks only {MOST_ROWS} are kept", rows.len()));
            rows.truncate(MOST_ROWS);
        }
        problems.sort();
        problems.dedup();
        Self { rows, records: found.files.len(), problems }
    }
}

fn rows(remarks: &[Remark], text: &Sources) -> Vec<RemarkRow> {
    let loops = join(remarks, text);
    let mut texts = Texts { text, known: BTreeMap::new() };
    let mut is_in_loop = vec![false; remarks.len()];
    let mut rows = Vec::new();
    for it in &loops {
        let around = row_of_loop(it);
        if it.remarks.is_empty() {
            // Of the system's headers there are those of which something is said.
            if !is_of_system(&it.file) {
                rows.push(around);
            }
            continue;
        }
        // The text is asked only where the compiler names no array.
        let is_asked = it.remarks.iter().map(|number| &remarks[*number]);
        let is_asked = { is_asked }.any(|it| it.dependence.is_some() && it.arrays.is_empty());
        let of_text = it.place.filter(|_| is_asked).and_then(|place| texts.array(place));
        for number in &it.remarks {
            is_in_loop[*number] = true;
            rows.push(row(&remarks[*number], &around, of_text.as_deref()));
        }
    }
    for (remark, _) in remarks.iter().zip(is_in_loop).filter(|(_, is_in_loop)| !is_in_loop) {
        // Headers of the system are nobody's here.
        if !is_of_system(&remark.file) && !remark.file.starts_with("library/") {
            rows.push(row(remark, &nowhere(remark), None));
        }
    }
    rows
}

fn row_of_loop(it: &LoopRemarks) -> RemarkRow {
    RemarkRow {
        file: it.file.clone(),
        first_line: it.first,
        last_line: it.last,
        is_read: it.place.is_some(),
        function: it.function.clone(),
        outcome: match it.outcome {
            Outcome::Vectorised => LoopOutcome::Vectorised,
            Outcome::Both => LoopOutcome::Both,
            Outcome::Replaced => LoopOutcome::Replaced,
            Outcome::Statements => LoopOutcome::Statements,
            Outcome::NotVectorised => LoopOutcome::NotVectorised,
            Outcome::Silent => LoopOutcome::Silent,
        },
        kind: String::new(),
        line: it.first,
        column: 0,
        compiler: String::new(),
        pass: String::new(),
        reason: String::new(),
        said: String::new(),
        dependence: String::new(),
        distance: -1,
        array: String::new(),
        is_array_of_text: false,
        lanes: 0,
        callee: String::new(),
        inlined_into: String::new(),
    }
}

/// A remark in no loop.
fn nowhere(remark: &Remark) -> RemarkRow {
    let it = LoopRemarks {
        place: None,
        file: remark.file.clone(),
        first: 0,
        last: 0,
        function: remark.function.clone(),
        outcome: Outcome::Silent,
        remarks: Vec::new(),
    };
    row_of_loop(&it)
}

fn row(remark: &Remark, around: &RemarkRow, of_text: Option<&str>) -> RemarkRow {
    let told = remark.arrays.join(", ");
    let is_of_text = told.is_empty() && remark.dependence.is_some() && of_text.is_some();
    RemarkRow {
        kind: kind(remark.kind).to_owned(),
        line: remark.line,
        column: remark.column,
        compiler: remark.compiler.name().to_owned(),
        pass: remark.pass.clone(),
        reason: remark.reason.clone(),
        said: remark.said.clone(),
        dependence: remark.dependence.map_or("", |it| it.kind.name()).to_owned(),
        // In the other direction is none that matters.
        distance: remark.dependence.and_then(|it| it.distance).map_or(-1, |distance| distance.max(-1)),
        array: if is_of_text { of_text.unwrap_or_default().to_owned() } else { told },
        is_array_of_text: is_of_text,
        lanes: remark.lanes,
        callee: remark.callee.clone(),
        inlined_into: remark.chain.iter().map(site).collect::<Vec<_>>().join(" in "),
        ..around.clone()
    }
}

/// `main (k.c:20)`
fn site(site: &Site) -> String {
    format!("{} ({})", site.function, words::place(&site.file, site.line))
}

const fn kind(kind: RemarkKind) -> &'static str {
    match kind {
        RemarkKind::Vectorised => "vectorised",
        RemarkKind::NotVectorised => "not vectorised",
        RemarkKind::Statements => "statements",
        RemarkKind::Replaced => "replaced",
        RemarkKind::Inlined => "inlined",
        RemarkKind::NotInlined => "not inlined",
    }
}

/// Sources once more, for what is written in loops.
struct Texts<'t> {
    text: &'t Sources,
    known: BTreeMap<u32, String>,
}

impl Texts<'_> {
    fn array(&mut self, place: u32) -> Option<String> {
        let it = self.text.loops.get(place as usize)?;
        let language = self.text.files.get(it.file as usize)?.language;
        let path = self.text.path(it.file);
        let read = || String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        let text = self.known.entry(it.file).or_insert_with(read);
        array_of(text, Lines { first: it.lines.first, last: it.lines.last }, language)
    }
}
