//! Traces of TAU: `NAME.trc` with `NAME.edf`, or a `tautrace.NODE.CONTEXT.THREAD.trc` for each thread with an
//! `events.NODE.edf` for each node.
//!
//! The one idea: records of one size in the order of time, what is in them in a table beside. A trace that is not merged
//! yet is read file by file.
//!
//! * [`record`]: records. * [`definitions`]: what their numbers mean.
//!
//! Deliberately absent: profiles of TAU; communicators, of which a trace has no more than a number that nothing explains;
//! the clocks of files that are not merged, which `tau_merge` corrects.

pub(crate) mod definitions;
mod record;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use marey_model::spool::{FieldType, put_bytes};
use rustc_hash::FxHashMap;

use self::definitions::{Definitions, Meaning};
use self::record::{Layout, Message, Record};
use crate::draft::{self, Act, Draft, Owner};
use crate::input::{self, Input, is_of_content};
use crate::spool::{Half, Region};
use crate::{Error, Fate, Imported, Progress};

/// How the name of a file begins that holds a single thread.
pub(crate) const OF_THREAD: &str = "tautrace.";
const NS: i64 = 1000;
const SECONDS_A_DAY: u64 = 86_400;
/// Bytes that tell how records are written.
const BEGINNING: u64 = 64;
/// Records between two looks at how far the work is.
const RECORDS: u64 = 4096;
/// Files of a trace.
const MOST_FILES: usize = 1 << 20;
/// Smaller whole numbers are written as they are; the bits of real numbers from 1e-153 on are more.
const LEAST_REAL: u64 = 1 << 61;
/// Negative whole numbers have bits of larger ones.
const MOST_REAL: f64 = 1e150;

/// Whether a file that begins so is a trace.
pub(crate) fn is_trace(beginning: &[u8]) -> bool {
    Layout::of(beginning).is_some()
}

/// Turns a trace into a spool.
///
/// # Errors
/// If files cannot be read, or the spool cannot be written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let files = if name.starts_with(OF_THREAD) { files_of_threads(file)? } else { vec![file.to_owned()] };
    let len = files.iter().map(|file| std::fs::metadata(file).map_or(0, |it| it.len())).sum::<u64>();
    progress.begin(len.saturating_mul(2));
    let mut convert = Convert::new(Draft::new(&draft::beside(spool), "TAU"));
    let mut tables: FxHashMap<PathBuf, Definitions> = FxHashMap::default();
    for file in &files {
        let table = definitions_of(file);
        if !tables.contains_key(&table) {
            let read = Definitions::read(&table, &mut convert.draft.problems)?;
            convert.has_mpi |= read.has_mpi;
            tables.insert(table.clone(), read);
        }
        let Some(definitions) = tables.get(&table) else { continue };
        read(file, definitions, &mut convert, progress)?;
    }
    let defined = tables.values().map(|table| table.events.len() as u64).sum();
    let (draft, counts) = convert.end();
    let mut imported = draft.finish(spool, (progress, len))?;
    imported.records =
        counts.into_iter().map(|((name, fate), number)| (name.to_owned(), fate, number)).collect();
    imported.events = imported.records.iter().map(|it| it.2).sum();
    imported.definitions = vec![("event".to_owned(), Fate::Mapped, defined)];
    Ok(imported)
}

/// All files of the trace that a file of one thread belongs to, by node, context and thread.
fn files_of_threads(file: &Path) -> Result<Vec<PathBuf>, Error> {
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(dir).map_err(|source| Error::Read { path: dir.to_owned(), source })?;
    let numbered = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix(OF_THREAD)?.strip_suffix(".trc")?.to_owned();
        let numbers: Vec<u64> = name.split('.').map(|it| it.parse().ok()).collect::<Option<_>>()?;
        Some((numbers, path))
    };
    let mut files: Vec<_> =
        entries.take(MOST_FILES).flatten().filter_map(|entry| numbered(entry.path())).collect();
    files.sort();
    let files: Vec<PathBuf> = files.into_iter().map(|it| it.1).collect();
    Ok(if files.iter().any(|it| it.file_name() == file.file_name()) { files } else { vec![file.to_owned()] })
}

/// The file that says what the events of a file are.
fn definitions_of(file: &Path) -> PathBuf {
    let node = file.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(OF_THREAD));
    match node.and_then(|rest| rest.split('.').next()) {
        Some(node) => file.with_file_name(format!("events.{node}.edf")),
        None => file.with_extension("edf"),
    }
}

fn read(
    file: &Path,
    definitions: &Definitions,
    convert: &mut Convert,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let Some(layout) = Layout::of(&input::beginning(file, BEGINNING)?) else {
        convert.draft.trouble(format!("{}: the first record makes no sense", file.display()));
        return Ok(());
    };
    let mut input = Input::open(file)?;
    let mut record = Vec::with_capacity(layout.len());
    for number in 1_u64.. {
        if number % RECORDS == 0 {
            input.tell(progress);
        }
        record.clear();
        match (&mut input).take(layout.len() as u64).read_to_end(&mut record) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if is_of_content(&error) => {
                convert.draft.trouble(format!("{}: damaged, and not read from there on", file.display()));
                break;
            }
            Err(source) => return Err(Error::Read { path: file.to_owned(), source }),
        }
        let Some(record) = layout.record(&record) else {
            convert.draft.trouble(format!("{}: the last record is cut off", file.display()));
            break;
        };
        convert.record(&record, definitions)?;
    }
    input.tell_all(progress);
    Ok(())
}

/// What is known while records are read.
struct Convert {
    draft: Draft,
    processes: BTreeMap<u64, u32>,
    tracks: BTreeMap<(u64, u64), u32>,
    counts: BTreeMap<(&'static str, Fate), u64>,
    has_mpi: bool,
    fields: Vec<u8>,
}

impl Convert {
    fn new(draft: Draft) -> Self {
        Self {
            draft,
            processes: BTreeMap::new(),
            tracks: BTreeMap::new(),
            counts: BTreeMap::new(),
            has_mpi: false,
            fields: Vec::new(),
        }
    }

    fn track(&mut self, node: u64, thread: u64) -> u32 {
        if let Some(track) = self.tracks.get(&(node, thread)) {
            return *track;
        }
        let draft = &mut self.draft;
        let process = *self.processes.entry(node).or_insert_with(|| draft.process(Owner::default()));
        let track = draft.track(process, &format!("thread {thread}"));
        self.tracks.insert((node, thread), track);
        track
    }

    fn count(&mut self, name: &'static str, fate: Fate) {
        *self.counts.entry((name, fate)).or_default() += 1;
    }

    fn record(&mut self, record: &Record, definitions: &Definitions) -> Result<(), Error> {
        let ns = i64::try_from(record.time).ok().and_then(|time| time.checked_mul(NS));
        let Some(ns) = ns else {
            self.draft.trouble("records at times that no clock has");
            return Ok(());
        };
        let track = self.track(record.node, record.thread);
        let Some((name, meaning)) = definitions.events.get(&record.event) else {
            self.count("without definition", Fate::Ignored);
            self.draft.trouble("records of events that are not defined");
            return Ok(());
        };
        let message = Message::of(record.parameter);
        let half = Half {
            communicator: 0,
            peer: message.peer.into(),
            tag: message.tag.into(),
            bytes: message.bytes,
        };
        match meaning {
            Meaning::Region(region) => {
                self.count("EntryExit", Fate::Mapped);
                let region = self.draft.region(region);
                match record.parameter {
                    1 => self.draft.add(track, ns, &Act::Enter { region }),
                    -1 => self.draft.add(track, ns, &Act::Leave { region: Some(region) }),
                    _ => {
                        self.draft.trouble("regions that are neither entered nor left");
                        Ok(())
                    }
                }
            }
            Meaning::Send => {
                self.count("MESSAGE_SEND", Fate::Mapped);
                self.has_mpi = true;
                self.draft.add(track, ns, &Act::Send(half))
            }
            Meaning::Receive => {
                self.count("MESSAGE_RECV", Fate::Mapped);
                self.has_mpi = true;
                self.draft.add(track, ns, &Act::Receive(half))
            }
            Meaning::Value(name) => {
                self.count("TriggerValue", Fate::Mapped);
                let process = self.processes.get(&record.node).copied().unwrap_or(0);
                let counter = self.draft.counter(process, name, "");
                self.draft.add(track, ns, &Act::Counter { counter, value: value(record.parameter) })
            }
            Meaning::Fact(name, text) => {
                self.count("TriggerValue of metadata", Fate::Kept);
                self.fact(record.node, name, text);
                self.fields.clear();
                put_bytes(&mut self.fields, name.as_bytes());
                put_bytes(&mut self.fields, text.as_bytes());
                let fields = [("name", FieldType::Text), ("value", FieldType::Text)];
                let Some(kind) = self.draft.kind("metadata", false, &fields) else { return Ok(()) };
                self.draft.add(track, ns, &Act::Event { kind, fields: &self.fields })
            }
            Meaning::Other => {
                if name == "WALL_CLOCK" && record.parameter.abs_diff(ns / 1_000_000_000) < SECONDS_A_DAY {
                    // So the clock is the calendar's.
                    self.draft.epoch_ns = Some(0);
                }
                self.count("of the recorder", Fate::Ignored);
                Ok(())
            }
        }
    }

    fn fact(&mut self, node: u64, name: &str, value: &str) {
        let Some(process) = self.processes.get(&node) else { return };
        owner_fact(self.draft.owner(*process), name, value);
    }

    /// Nodes are ranks where there is MPI, or more than one.
    fn end(mut self) -> (Draft, BTreeMap<(&'static str, Fate), u64>) {
        if self.has_mpi || self.processes.len() > 1 {
            for (node, process) in &self.processes {
                self.draft.owner(*process).rank = u32::try_from(*node).ok();
            }
            let last = self.processes.keys().next_back().and_then(|node| u32::try_from(*node).ok());
            self.draft.world = last.map(|last| last.saturating_add(1));
        }
        (self.draft, self.counts)
    }
}

/// Takes a fact about a process that says who it is.
pub(crate) fn owner_fact(owner: &mut Owner, name: &str, value: &str) {
    match name {
        "Hostname" => value.clone_into(&mut owner.host),
        "pid" => owner.pid = value.parse().unwrap_or(0),
        "Command Line" => owner.command = value.split_whitespace().map(str::to_owned).collect(),
        _ => {}
    }
}

/// The region that has a name as TAU writes it.
pub(crate) fn region(name: &str) -> Region {
    definitions::region(name, "")
}

/// A quantity: older versions write a whole number, newer ones the bits of a real one.
fn value(parameter: i64) -> f64 {
    let bits = parameter.cast_unsigned();
    let real = f64::from_bits(bits);
    // As whole numbers, bits of usual real numbers are larger than anything that is counted.
    if bits >= LEAST_REAL && real.is_finite() && real.abs() < MOST_REAL {
        return real;
    }
    #[expect(clippy::cast_precision_loss, reason = "counters of a run are real numbers")]
    let whole = parameter as f64;
    whole
}

/// What becomes of records, in Markdown.
pub(crate) fn document() -> String {
    "\n## TAU\n\nTraces of TAU: the merged `NAME.trc` with `NAME.edf`; or any of the files `tautrace.NODE.CONTEXT.THREAD.trc`, \
     of which all are read, with `events.NODE.edf`; or the directory that they lie in.\n\
     Nodes are ranks. Clocks of files that are not merged are not corrected: `tau_merge` does that.\n\n\
     | record | fate | in a run |\n|---|---|---|\n\
     | EntryExit | mapped | regions; those named `MPI_…` of MPI, of groups with OPENMP of OpenMP, all others of the source |\n\
     | MESSAGE_SEND, MESSAGE_RECV | mapped | messages; communicators are not told apart |\n\
     | TriggerValue | mapped | counters |\n\
     | TriggerValue of metadata `NAME \\| VALUE` | kept | an event with these fields: `name`, `value`; host, process id and command line |\n\
     | of the recorder: WALL_CLOCK, EV_INIT, FLUSH … | ignored | the date, where the clock is the calendar's |\n"
        .to_owned()
}
