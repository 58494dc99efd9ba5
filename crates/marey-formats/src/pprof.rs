//! Profiles of pprof: Go, gperftools, Parca and many others.
//!
//! The one idea: one message of protobuf whose tables may stand behind what refers to them, so the file is read twice, field by
//! field: first the tables, then the samples.
//!
//! * [`stream`]: fields out of a file. * [`tables`]: what the numbers mean. * [`convert`]: what becomes of samples.
//!
//! Deliberately absent: the older formats of gperftools, in text and in machine words; addresses without functions beyond
//! their numbers, for which the program would have to be there.

mod convert;
mod stream;
mod tables;

use std::path::Path;

use self::convert::Convert;
use self::stream::{Next, Stream};
use self::tables::Tables;
use crate::problems::kind;
use crate::protobuf::{Fields, Value};
use crate::{Error, Fate, Imported, Progress, draft};

/// Fields of the message, by number: the name, what becomes of it, and in which words.
const FIELDS: &[(u32, &str, Fate, &str)] = &[
    (
        1,
        "sample_type",
        Fate::Mapped,
        "what is measured: one of a unit of time is the time, all others are counters",
    ),
    (
        2,
        "sample",
        Fate::Mapped,
        "a call path, and what was measured in it; how often it was called nobody knows",
    ),
    (3, "mapping", Fate::Mapped, "name of the file of an address that has no function"),
    (4, "location", Fate::Mapped, "functions of a call path, inlined ones too; lines of calls are not kept"),
    (5, "function", Fate::Mapped, "region: name, file, first line"),
    (6, "string_table", Fate::Mapped, "names"),
    (7, "drop_frames", Fate::Ignored, "only counted: frames to leave out are all there"),
    (8, "keep_frames", Fate::Ignored, "only counted"),
    (9, "time_nanos", Fate::Mapped, "the date"),
    (10, "duration_nanos", Fate::Kept, "event `profile`: `duration_ns`"),
    (11, "period_type", Fate::Kept, "event `profile`: `period_of`, `period_unit`"),
    (12, "period", Fate::Kept, "event `profile`: `period`"),
    (13, "comment", Fate::Kept, "event `comment`: `text`"),
    (14, "default_sample_type", Fate::Mapped, "which of several times is the time"),
    (15, "doc_url", Fate::Kept, "event `comment`: `text`"),
];

/// Whether a file begins as a profile does: with fields of one, among them what is measured.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    let mut fields = Fields::new(beginning);
    let mut has_type = false;
    for (number, value) in fields.by_ref() {
        let is_right = match (number, value) {
            (1, Value::Bytes(bytes)) => is_type(bytes),
            (2..=6 | 11 | 13, Value::Bytes(_)) | (7..=10 | 12..=15, Value::Varint(_)) => true,
            _ => false,
        };
        if !is_right {
            return false;
        }
        has_type |= number == 1;
    }
    // What is cut off at the end of what was looked at says nothing else.
    has_type && (!fields.is_damaged || beginning.len() >= 4096)
}

/// Name and unit by their numbers, and nothing else.
fn is_type(bytes: &[u8]) -> bool {
    let mut fields = Fields::new(bytes);
    let are_right = fields.all(|it| matches!(it, (1 | 2, Value::Varint(0..0x10_0000))));
    are_right && !fields.is_damaged && !bytes.is_empty()
}

/// Turns a profile into a spool.
///
/// # Errors
/// If the file cannot be read, or the spool cannot be written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut stream = Stream::open(file)?;
    let len = stream.len();
    progress.begin(len.saturating_mul(2));
    let mut tables = Tables::default();
    let mut damage = None;
    let mut counts = vec![0_u64; FIELDS.len()];
    let mut others = 0;
    loop {
        match stream.next()? {
            Next::Field(number, value) => {
                match FIELDS.iter().position(|it| it.0 == number) {
                    Some(place) => counts[place] += 1,
                    None => others += 1,
                }
                tables.learn(number, value);
            }
            Next::Damage(at, what) => {
                damage = Some(format!("{what}, at byte {at}"));
                break;
            }
            Next::End => break,
        }
        stream.tell(progress);
    }
    let left_out = tables.left_out;
    let mut convert = Convert::new(&draft::beside(spool), tables);
    convert.profile.problems.add(kind::DROPPED, "more names, places or functions than are read", left_out);
    if let Some(text) = damage {
        convert.profile.trouble(text);
    }
    let mut stream = Stream::open(file)?;
    while let Next::Field(number, value) = stream.next()? {
        if number == 2 {
            convert.sample(value)?;
        }
        stream.tell(progress);
    }
    let labels = convert.labels;
    let mut imported = convert.end()?.finish(spool, (progress, 0))?;
    let names = FIELDS.iter().zip(&counts).filter(|it| *it.1 > 0);
    let mut all: Vec<_> = names.map(|(it, count)| (it.1.to_owned(), it.2, *count)).collect();
    all.push(("label".to_owned(), Fate::Ignored, labels));
    all.push(("other field".to_owned(), Fate::Ignored, others));
    all.retain(|it| it.2 > 0);
    all.sort();
    let is_sample = |it: &(String, Fate, u64)| it.0 == "sample" || it.0 == "label";
    (imported.records, imported.definitions) = all.into_iter().partition(is_sample);
    imported.events = imported.records.iter().filter(|it| it.0 == "sample").map(|it| it.2).sum();
    Ok(imported)
}

/// What becomes of fields, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "\n## pprof\n\nProfiles of pprof, perhaps compressed by gzip. They have no times, so the run is one of sums.\n\
         What is of a unit of time is the time of the run: that which the profile says is the usual one, else the last of them; where there is none, samples times the period, if that is a time. \
         Values below nothing, as of differences of profiles, count as nothing and are a problem.\n\
         A sample with a label `thread` or the like is of that thread; other labels are only counted.\n\n\
         | field | number | fate | in a run |\n|---|--:|---|---|\n",
    );
    for (number, name, fate, becomes) in FIELDS {
        text += &format!("| `{name}` | {number} | {} | {becomes} |\n", fate.name());
    }
    text + "| `sample.label` | | ignored | only counted, but for the thread |\n| any other | | ignored | only counted |\n"
}
