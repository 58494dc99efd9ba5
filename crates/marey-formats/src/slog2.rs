//! SLOG-2, the format of Jumpshot 4, the viewer of MPE: made by `clog2TOslog2`, `tau2slog2` and others.
//!
//! The one idea: a log is a tree of time. What is drawn (*drawables*: states, events, arrows) lies in the smallest node that
//! contains its time, so all nodes together have each of them once; a directory says where nodes are, and they are read in
//! the order of the file. What else a node has are shadows, previews of those below it.
//!
//! * [`file`]: header, sections, and where nodes are. * [`names`]: categories of drawables. * [`lines`]: whose time lines they
//!   lie on. * [`node`]: drawables in a node. * [`convert`]: what becomes of them.
//!
//! Source of the layout: the SDK of SLOG-2, whose files are big-endian on all machines. Deliberately absent: previews,
//! colours and widths, and methods, which are hints for one viewer; the text form, TRACE-API, which is no file of a tool.

mod convert;
mod file;
mod lines;
mod names;
mod node;

use std::path::Path;

use self::convert::Convert;
use self::file::Log;
use self::lines::Lines;
use self::names::Categories;
use self::node::Count;
use crate::Fate::{Ignored, Kept, Mapped};
use crate::draft::{self, Draft};
use crate::{Error, Fate, Imported, Progress};

/// Name of the format in messages.
const FORMAT: &str = "a SLOG-2 log";
/// How the version begins, which stands behind its length.
const MAGIC: &[u8] = b"SLOG 2.";

/// Whether a file that begins so is a log, of whatever version.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    beginning.get(2..).is_some_and(|text| text.starts_with(MAGIC))
}

/// Turns a log into a spool.
///
/// # Errors
/// If its header cannot be made sense of, or files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut log = Log::open(file)?;
    let len = log.len();
    progress.begin(2 * len);
    let mut draft = Draft::new(&draft::beside(spool), &log.header.version);
    let problems = &mut draft.problems;
    let categories = Categories::read(&mut log, problems)?;
    let lines = Lines::read(&mut log, categories.have_messages(), problems)?;
    let places = log.nodes(problems)?;
    let mut count = Count { nodes: places.len() as u64, ..Count::default() };
    let mut convert = Convert::new(&mut draft, &categories, &lines);
    let mut read = 0;
    for place in &places {
        let bytes = log.section(*place)?;
        convert.node(*place, &bytes, categories.has_weights, &mut count)?;
        read += place.len;
        progress.advance(place.len);
    }
    progress.advance(len.saturating_sub(read));
    let mut imported = draft.finish(spool, (progress, len))?;
    let definitions = [
        (CATEGORY, Mapped, categories.number),
        (PREVIEW, Ignored, categories.previews),
        (MAP, Mapped, lines.maps),
    ];
    imported.definitions = present(&definitions);
    imported.records = present(&count.rows());
    imported.events = count.drawables();
    Ok(imported)
}

fn present(rows: &[(&str, Fate, u64)]) -> Vec<(String, Fate, u64)> {
    let there = rows.iter().filter(|it| it.2 > 0);
    let mut rows: Vec<_> = there.map(|(name, fate, number)| ((*name).to_owned(), *fate, *number)).collect();
    rows.sort();
    rows
}

const CATEGORY: &str = "category";
const PREVIEW: &str = "category of previews";
const MAP: &str = "line-ID map";

/// All kinds of what a log has, and what they are in a run.
const KINDS: [(&str, Fate, &str); 12] = [
    (CATEGORY, Mapped, "the name of regions and kinds of events, and of the fields that its drawables carry"),
    (PREVIEW, Ignored, "those below 0, which shadows have"),
    (
        MAP,
        Mapped,
        "ranks and threads: of several maps, the first that has the most columns of these: rank, node or process; thread",
    ),
    (
        node::STATE,
        Mapped,
        "a visit of a region: of MPI if its name begins with `MPI_`, or is that of a function that communicates without it (`SEND`) and the log has messages; else of a function of the program. What it carries is a fact about it",
    ),
    (node::EVENT, Kept, "an event with the fields that it carries"),
    (
        node::ARROW,
        Mapped,
        "a message from the first line to the second, its tag and size from fields with such a name, else 0, other fields ignored; where lines are no ranks an edge between threads, to an event with its fields",
    ),
    (
        node::COMPOSITE,
        Mapped,
        "its parts; what it carries itself is an event, on the line and at the time where its first part begins",
    ),
    (node::SHADOW, Ignored, "previews of what other nodes have"),
    (node::BUFFER, Ignored, "where shadows are"),
    (node::NODE, Ignored, "where drawables are"),
    ("method definition, annotation", Ignored, "not looked at"),
    ("postamble", Ignored, "not looked at"),
];

/// The table of all kinds, with what becomes of them, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "\n## SLOG-2\n\nSLOG-2, versions 2.0.3 to 2.0.6, of Jumpshot 4: the file `NAME.slog2`. Shadows of other versions than \
         2.0.6 are not counted.\nTime lines are threads of ranks if a line-ID map has ranks, nodes or processes; else each is a \
         rank if arrows have tags and sizes, and a thread of one process if they have not.\nA drawable whose category nothing \
         names is an event, state or arrow by how many ends it has, on how many lines.\nIf the directory of the tree is damaged \
         or missing, as in a file that is not finished, nodes are found one behind the other from the header on.\n\n\
         | record | fate | in a run |\n|---|---|---|\n",
    );
    for (name, fate, becomes) in KINDS {
        text += &format!("| {name} | {} | {becomes} |\n", fate.name());
    }
    text
}

/// What cannot be told of a file at all.
fn unreadable(path: &Path, what: impl Into<String>) -> Error {
    Error::Unreadable { path: path.to_owned(), format: FORMAT, what: what.into() }
}
