//! Paraver, the format of Extrae, ovni and Dimemas, which `tau_convert` writes as well.
//!
//! The one idea: a trace is text, a record a line, in the order of time; what its numbers mean stands in two files beside
//! it. Lines are read one by one, and a line that makes no sense is passed over.
//!
//! * [`header`]: the first line. * [`labels`]: the files beside. * [`records`]: the other lines. * [`types`]: what types of
//!   events mean. * [`convert`]: what becomes of them.
//!
//! Source of the layout: "Paraver trace format" by BSC, and the sources of ovni. Deliberately absent: colours, filters and
//! whatever else says how Paraver shows a trace; which processor a thread ran on.

mod convert;
mod header;
mod labels;
mod records;
mod types;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::convert::Convert;
use self::header::Header;
use self::labels::{Labels, Rows};
use self::records::Record;
use crate::draft::{self, Draft};
use crate::input::{Input, Line};
use crate::problems::kind;
use crate::{Error, Fate, Imported, Progress};

pub(crate) use self::header::MAGIC;

const FORMAT: &str = "a Paraver trace";
/// Lines between two looks at how far the work is.
const LINES: u64 = 4096;

/// Turns a trace into a spool.
///
/// # Errors
/// If the first line makes no sense, a file cannot be read, or the spool cannot be written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut input = Input::open(file)?;
    let len = input.len();
    progress.begin(len.saturating_mul(2));
    let mut line = Vec::new();
    input.line(&mut line)?;
    let unreadable = || Error::Unreadable {
        path: file.to_owned(),
        format: FORMAT,
        what: "its first line makes no sense".into(),
    };
    let header = Header::parse(&String::from_utf8_lossy(&line)).ok_or_else(unreadable)?;
    let mut draft = Draft::new(&draft::beside(spool), "Paraver");
    if !header.is_whole {
        draft.trouble("the first line does not name as many tasks as it says");
    }
    let labels = Labels::read(&beside(file, "pcf"), &mut draft.problems)?;
    let rows = Rows::read(&beside(file, "row"), &mut draft.problems)?;
    let mut convert = Convert::new(draft, &header, &labels, &rows);
    let counts = read(&mut input, &mut convert, progress)?;
    input.tell_all(progress);
    let (draft, types) = convert.end()?;
    let mut imported = draft.finish(spool, (progress, len))?;
    let mut records: BTreeMap<(String, Fate), u64> = BTreeMap::new();
    records.insert(("communication".to_owned(), Fate::Mapped), counts.messages);
    records.insert(("state".to_owned(), Fate::Mapped), counts.states);
    for (number, of_type) in &types {
        let label = labels.types.get(number).map_or("", |it| it.label.as_str());
        let name = format!("event {number} {label}").trim_end().to_owned();
        *records.entry((name, of_type.meaning.fate())).or_default() += of_type.number;
    }
    imported.records = listed(records.into_iter().map(|((name, fate), number)| (name, fate, number)));
    imported.events = imported.records.iter().map(|it| it.2).sum();
    let n_tasks: usize = header.applications.iter().map(Vec::len).sum();
    let definitions = [
        ("communicator", counts.communicators),
        ("label of a state", labels.states.len() as u64),
        ("label of a type", labels.types.len() as u64),
        ("label of a value", labels.n_values),
        ("name of a row", rows.len() as u64),
        ("task", n_tasks as u64),
    ];
    let definitions = definitions.into_iter().map(|(name, number)| (name.to_owned(), Fate::Mapped, number));
    imported.definitions = listed(definitions);
    Ok(imported)
}

fn listed(all: impl Iterator<Item = (String, Fate, u64)>) -> Vec<(String, Fate, u64)> {
    let mut list: Vec<_> = all.filter(|it| it.2 > 0).collect();
    list.sort();
    list
}

/// Records that were read.
#[derive(Debug, Default)]
struct Counts {
    states: u64,
    messages: u64,
    communicators: u64,
}

/// Reads all lines behind the first.
fn read(input: &mut Input, convert: &mut Convert<'_>, progress: &dyn Progress) -> Result<Counts, Error> {
    let (mut counts, mut text, mut pairs) = (Counts::default(), Vec::new(), Vec::new());
    for line in 2.. {
        if line % LINES == 0 {
            input.tell(progress);
        }
        match input.line(&mut text)? {
            Line::Whole if text.is_empty() => {}
            Line::Whole => match records::parse(&text, &mut pairs) {
                Ok((record, wrong)) => {
                    if let Some(wrong) = wrong {
                        convert.wrong(line, wrong);
                    }
                    match record {
                        Record::State { .. } => counts.states += 1,
                        Record::Message { .. } => counts.messages += 1,
                        Record::Communicator { .. } => counts.communicators += 1,
                        Record::Event { .. } | Record::Remark => {}
                    }
                    convert.record(line, &record, &pairs)?;
                }
                Err(wrong) => convert.wrong(line, wrong),
            },
            Line::TooLong => convert.wrong(line, "lines that are too long to be records"),
            Line::Broken => {
                let what = "the compressed file is damaged or cut off, and nothing is read from there on";
                convert.draft.problems.add(kind::DAMAGED, what, 1);
                break;
            }
            Line::End => break,
        }
    }
    Ok(counts)
}

/// A file beside the trace, of the same name but for its ending.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let is_packed = file.extension().is_some_and(|it| it.eq_ignore_ascii_case("gz"));
    let plain = if is_packed { file.with_extension("") } else { file.to_owned() };
    plain.with_extension(ending)
}

/// What becomes of all kinds of records, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "\n## Paraver\n\nTraces of Extrae, ovni, Dimemas and `tau_convert`: the file `NAME.prv` or `NAME.prv.gz`, or the directory that it \
         lies in. Labels are in `NAME.pcf` and `NAME.row` beside it.\n\
         Ranks are the tasks of the first application; a single task without MPI has none. The date is taken for universal time.\n\
         Hardware counters are recorded as what they have counted since they were read last; in a run each has the sum of \
         that. Differences of more than 1000 in a ns, which are what a counter that could not be read leaves, count as 0.\n\n\
         | record | fate | in a run |\n|---|---|---|\n",
    );
    for (record, fate, becomes) in KINDS {
        text += &format!("| {record} | {} | {becomes} |\n", fate.name());
    }
    text
}

/// All kinds of records, and what becomes of them.
const KINDS: &[(&str, Fate, &str)] = &[
    ("the first line", Fate::Mapped, "date, processes with their hosts, threads"),
    ("communicator `c`", Fate::Mapped, "communicators of MPI; those of other applications are left out"),
    ("state `1`", Fate::Mapped, "states beside the regions, of the level `paraver`"),
    (
        "communication `3`",
        Fate::Mapped,
        "messages: sent at the logical send, received just before the physical receive",
    ),
    ("events `2` of the types 50000001 to 50000005", Fate::Mapped, "regions of MPI"),
    (
        "with 50100004 at a 50000002",
        Fate::Mapped,
        "a part in a collective, with its sizes and its root; also kept",
    ),
    ("42000000 to 42999999", Fate::Mapped, "counters, summed up"),
    ("60000001", Fate::Mapped, "regions of OpenMP: parallel"),
    ("60000018, 60000023, 60000024", Fate::Mapped, "regions of OpenMP: functions"),
    ("60000100 to 60000199", Fate::Mapped, "file and line of the function that comes with it"),
    ("60000019", Fate::Mapped, "regions of functions"),
    ("40000002, 40000003", Fate::Mapped, "regions of the recorder itself, of the level `measurement`"),
    (
        "70000000 to 70999999, 80000000 to 80999999, 50100000 to 50199999",
        Fate::Kept,
        "facts about the call that is entered with them, else events: `value`, `label`",
    ),
    ("other types whose value 0 is labelled End, Outside, Leave, close or exit", Fate::Mapped, "regions"),
    (
        "other types with labels of values",
        Fate::Mapped,
        "states beside the regions: a value holds until the next one, 0 is none",
    ),
    ("other types", Fate::Kept, "an event with these fields: `value`, `label` where values have some"),
    ("comment `#`", Fate::Ignored, ""),
];
