//! CLOG-1, the format of MPE in MPICH 1, before CLOG-2.
//!
//! The one idea: its records say what lines of ALOG say, with the definitions at any place. So it is read twice, as CLOG-2
//! is, and what becomes of its records is what becomes of lines.
//!
//! Source of the layout: MPICH 1's writer. Blocks have two sizes, and no file says which. Deliberately absent: communicators,
//! which its messages do not tell apart.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::alog::{Convert, Header, Line, MOST_PROCESSES, Time};
use crate::bytes::{Bytes, Order};
use crate::draft::{self, Draft};
use crate::problems::{Problems, kind};
use crate::{Error, Fate, Imported, Progress, mpe};

/// A type of record.
#[derive(Clone, Copy, Debug)]
struct Kind {
    code: i32,
    name: &'static str,
    /// Words of eight bytes, its head included.
    words: usize,
    fate: Fate,
    is_definition: bool,
    becomes: &'static str,
}

/// All types.
const KINDS: [Kind; 11] = [
    kind(END_LOG, "endlog", 3, Fate::Ignored, "the end of the log"),
    kind(END_BLOCK, "endblock", 3, Fate::Ignored, "the end of a block"),
    kind(0, "undefined", 3, Fate::Ignored, ""),
    kind(
        RAW,
        "raw",
        7,
        Fate::Mapped,
        "enter or leave of a region, sends and receives; else an event, as in ALOG",
    ),
    kind(MESSAGE, "message", 6, Fate::Mapped, "sends and receives"),
    kind(3, "collective", 6, Fate::Ignored, "no program writes it"),
    definition(4, "communicator", 5, Fate::Ignored, "messages do not tell communicators apart"),
    definition(EVENT, "event definition", 0, Fate::Mapped, "names of events"),
    definition(STATE, "state definition", 10, Fate::Mapped, "regions, as in ALOG"),
    definition(7, "source location", 9, Fate::Ignored, "places in MPE itself"),
    kind(8, "time shift", 4, Fate::Ignored, "the times are shifted already"),
];

const END_LOG: i32 = -2;
const END_BLOCK: i32 = -1;
const RAW: i32 = 1;
const MESSAGE: i32 = 2;
const EVENT: i32 = 5;
const STATE: i32 = 6;

const fn kind(code: i32, name: &'static str, words: usize, fate: Fate, becomes: &'static str) -> Kind {
    Kind { code, name, words, fate, is_definition: false, becomes }
}

const fn definition(code: i32, name: &'static str, words: usize, fate: Fate, becomes: &'static str) -> Kind {
    Kind { code, name, words, fate, is_definition: true, becomes }
}

/// Bytes of a record's head.
const HEAD: usize = 24;
/// Bytes of a block before MPICH 1.2, and since.
const BLOCKS: [usize; 2] = [1024, 65536];
/// Seconds that no log is long.
const MOST_SECONDS: f64 = 9e9;

/// A record: its type, and what it says as a line of ALOG would.
#[derive(Clone, Debug)]
struct Record {
    kind: &'static Kind,
    /// None if it says nothing that is kept.
    line: Option<Line>,
}

/// The next record, if one stands there; else nothing is taken.
fn next(bytes: &mut Bytes<'_>) -> Option<Record> {
    let mut ahead = bytes.clone();
    let seconds = f64::from_bits(ahead.u64()?);
    let (code, words) = (signed(&mut ahead)?, usize::try_from(ahead.u32()?).ok()?);
    let process = i64::from(signed(&mut ahead)?);
    ahead.u32()?;
    let kind = KINDS.iter().find(|kind| i64::from(kind.code) == i64::from(code))?;
    let mut rest = Bytes::new(ahead.take(words.checked_mul(8)?.checked_sub(HEAD)?)?, Order::Big);
    if words < kind.words || seconds.is_nan() || seconds.abs() > MOST_SECONDS {
        return None;
    }
    *bytes = ahead;
    let mut int = || signed(&mut rest).map(i64::from).unwrap_or_default();
    let (event, task, data, comment) = match code {
        RAW => {
            let (event, data, _, _) = (int(), int(), int(), int());
            (event, 0, data, text(&mut rest, 16))
        }
        MESSAGE => {
            let (event, tag, partner, _, size) = (int(), int(), int(), int(), int());
            (event, 0, partner, format!("{tag} {size}"))
        }
        EVENT => {
            let (event, _) = (int(), int());
            let len = rest.left();
            (-9, 0, event, text(&mut rest, len))
        }
        STATE => {
            let (_, start, end, _) = (int(), int(), int(), int());
            let (colour, name) = (text(&mut rest, 24), text(&mut rest, 16));
            (-13, start, end, format!("{}: {name}", colour.replace(char::is_whitespace, "_")))
        }
        _ => return Some(Record { kind, line: None }),
    };
    let time = Time::Real(seconds * 1e6);
    Some(Record { kind, line: Some(Line { event, process, task, data, cycle: 0, time, comment }) })
}

fn signed(bytes: &mut Bytes<'_>) -> Option<i32> {
    bytes.u32().map(u32::cast_signed)
}

/// A text in a field of `len` bytes, which a zero byte may end.
fn text(bytes: &mut Bytes<'_>, len: usize) -> String {
    let field = bytes.take(len).unwrap_or_default();
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).trim().to_owned()
}

/// Whether a file that begins so is a log: no name says it, but three records in a row.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    let mut bytes = Bytes::new(beginning, Order::Big);
    (0..3).all(|_| next(&mut bytes).is_some_and(|record| record.kind.code > 0))
}

/// How many records there are of each type, by its place among them.
type Count = [u64; KINDS.len()];

/// A log's file.
#[derive(Debug)]
struct Blocks {
    path: PathBuf,
    file: File,
    len: u64,
    block: usize,
}

impl Blocks {
    fn open(path: &Path) -> Result<Self, Error> {
        let cannot = |source| Error::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(cannot)?;
        let len = file.metadata().map_err(cannot)?.len();
        let [small, large] = BLOCKS;
        let mut beginning = Vec::new();
        (&file).take(2 * small as u64).read_to_end(&mut beginning).map_err(cannot)?;
        let mut bytes = Bytes::new(&beginning, Order::Big);
        // Records of a small block end within it.
        while bytes.at <= small && next(&mut bytes).is_some_and(|record| record.kind.code >= 0) {}
        let block = if bytes.at > small { large } else { small };
        Ok(Self { path: path.to_owned(), file, len, block })
    }

    /// Shows each record, in the order of the file; `read` is told how many bytes are read.
    fn each(
        &mut self,
        problems: &mut Problems,
        read: &mut dyn FnMut(u64),
        show: &mut dyn FnMut(Record) -> Result<(), Error>,
    ) -> Result<Count, Error> {
        let mut count = Count::default();
        let mut block = Vec::new();
        let mut begin = 0;
        let cannot = |source| Error::Read { path: self.path.clone(), source };
        self.file.seek(SeekFrom::Start(0)).map_err(cannot)?;
        loop {
            block.clear();
            (&self.file).take(self.block as u64).read_to_end(&mut block).map_err(cannot)?;
            read(block.len() as u64);
            if block.is_empty() {
                problems.add(kind::MISSING, format!("the log has no end: it stops at byte {begin}"), 1);
                return Ok(count);
            }
            let mut bytes = Bytes::new(&block, Order::Big);
            loop {
                let at = begin + bytes.at as u64;
                let Some(record) = next(&mut bytes) else {
                    let what =
                        format!("there is no record at byte {at}: the rest of its block is passed over");
                    problems.add(kind::DAMAGED, what, 1);
                    break;
                };
                let place = KINDS.iter().position(|kind| kind.code == record.kind.code);
                if let Some(count) = place.and_then(|place| count.get_mut(place)) {
                    *count += 1;
                }
                match record.kind.code {
                    END_LOG => return Ok(count),
                    END_BLOCK => break,
                    _ => show(record)?,
                }
            }
            begin += block.len() as u64;
        }
    }
}

/// Turns a log into a spool.
///
/// # Errors
/// If files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut blocks = Blocks::open(file)?;
    progress.begin(2 * blocks.len);
    let (mut ranks, mut definitions, mut has_messages) = (BTreeSet::new(), Vec::new(), false);
    let mut half = |bytes: u64| progress.advance(bytes / 2);
    // What is damaged is told when it is read again.
    blocks.each(&mut Problems::default(), &mut half, &mut |record| {
        let Some(line) = record.line else { return Ok(()) };
        if !line.is_event() || record.kind.is_definition {
            definitions.push(line);
            return Ok(());
        }
        has_messages |= matches!(line.event, mpe::SEND | mpe::RECEIVE);
        let rank = mpe::rank(line.process);
        ranks.extend(rank.filter(|_| ranks.len() < MOST_PROCESSES));
        Ok(())
    })?;
    let mut header = Header::new(has_messages);
    definitions.iter().for_each(|line| header.learn(line));
    let mut draft = Draft::new(&draft::beside(spool), "MPE CLOG-1");
    let mut problems = Problems::default();
    let mut convert = Convert::new(&mut draft, &ranks, header);
    let mut rest = |bytes: u64| progress.advance(bytes - bytes / 2);
    let count = blocks.each(&mut problems, &mut rest, &mut |record| match &record.line {
        Some(line) if !record.kind.is_definition => convert.line(Some(line)),
        _ => Ok(()),
    })?;
    draft.problems.merge(problems);
    let mut imported = draft.finish(spool, (progress, blocks.len))?;
    for (kind, number) in KINDS.iter().zip(count).filter(|it| it.1 > 0) {
        let row = (kind.name.to_owned(), kind.fate, number);
        if kind.is_definition { &mut imported.definitions } else { &mut imported.records }.push(row);
        if kind.code > 0 && !kind.is_definition {
            imported.events += number;
        }
    }
    imported.records.sort();
    imported.definitions.sort();
    Ok(imported)
}

/// The table of all types of records, with what becomes of them, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "\n## CLOG-1\n\nThe format of MPE in MPICH 1: the file `NAME.clog`, with blocks of 1024 or 65536 bytes.\n\n\
         | record | fate | in a run |\n|---|---|---|\n",
    );
    for kind in &KINDS {
        text += &format!("| {} | {} | {} |\n", kind.name, kind.fate.name(), kind.becomes);
    }
    text
}
