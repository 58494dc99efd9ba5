//! Which format a file has.
//!
//! The one idea: content decides, never the name. Of a directory, the one file in it, or in one of its
//! directories, that begins a trace.

use std::fs::FileType;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::input::Input;
use crate::{Error, perfetto};

/// A format that can be imported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Open Trace Format 2.
    Otf2,
    /// Chrome trace-event JSON.
    Chrome,
    /// Perfetto's protobuf.
    Perfetto,
}

impl Format {
    /// What it is called in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Otf2 => "an OTF2 archive",
            Self::Chrome => "a Chrome trace",
            Self::Perfetto => "a Perfetto trace",
        }
    }

    /// The format of a file that begins so.
    fn of(beginning: &[u8]) -> Option<Self> {
        // Behind a buffer's two bytes stands the name.
        let is_otf2 = beginning.first() == Some(&3) && beginning.get(2..7) == Some(b"OTF2\0");
        if is_otf2 {
            return Some(Self::Otf2);
        }
        if is_chrome(beginning) {
            return Some(Self::Chrome);
        }
        perfetto::is_it(beginning).then_some(Self::Perfetto)
    }
}

/// Whether it is a list of events in JSON, or an object with one.
fn is_chrome(beginning: &[u8]) -> bool {
    let has = |text: &[u8]| beginning.windows(text.len()).any(|part| part == text);
    let mut signs = beginning.iter().filter(|byte| !byte.is_ascii_whitespace() && byte.is_ascii());
    match (signs.next(), signs.next()) {
        (Some(b'['), Some(b'{')) => has(b"\"ph\""),
        (Some(b'{'), _) => has(b"\"traceEvents\""),
        _ => false,
    }
}

/// Bytes that are looked at.
const BEGINNING: u64 = 4096;
/// Of JSON, where what tells the format may stand behind much else.
const BEGINNING_OF_JSON: u64 = 1 << 20;
/// Files of a directory that are looked at.
const MOST_FILES: usize = 10_000;

/// The format, and the file that the trace begins with.
///
/// # Errors
/// If nothing can be read, or is of no format that can be imported.
pub fn recognise(input: &Path) -> Result<(Format, PathBuf), Error> {
    let cannot = |source| Error::Read { path: input.to_owned(), source };
    if !std::fs::metadata(input).map_err(cannot)?.is_dir() {
        let found = look(input)?;
        return found
            .map(|format| (format, input.to_owned()))
            .ok_or_else(|| unknown(input, "its content is of no format"));
    }
    let mut found = within(input)?;
    if found.is_empty() {
        // Some tools put a directory into the one that they are given.
        for dir in entries(input, |kind| kind.is_dir())? {
            found.extend(within(&dir)?);
        }
    }
    match found.len() {
        0 => Err(unknown(input, "no file in this directory is of a format")),
        1 => Ok(found.remove(0)),
        n => {
            let names: Vec<String> =
                found.iter().take(3).map(|(_, file)| file.display().to_string()).collect();
            Err(Error::Unknown {
                path: input.to_owned(),
                what: format!("{n} traces begin in this directory; name one of them: {}", names.join(", ")),
            })
        }
    }
}

/// The traces that begin in a directory.
fn within(dir: &Path) -> Result<Vec<(Format, PathBuf)>, Error> {
    let mut found = Vec::new();
    for file in entries(dir, |kind| kind.is_file())? {
        if let Some(format) = look(&file)? {
            found.push((format, file));
        }
    }
    Ok(found)
}

fn entries(dir: &Path, is_wanted: impl Fn(FileType) -> bool) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(dir).map_err(|source| Error::Read { path: dir.to_owned(), source })?;
    let mut found: Vec<PathBuf> = entries
        .take(MOST_FILES)
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(&is_wanted))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    Ok(found)
}

fn look(path: &Path) -> Result<Option<Format>, Error> {
    Ok(Format::of(&beginning(path)?))
}

/// The first bytes of a file; none of what is no file.
fn beginning(path: &Path) -> Result<Vec<u8>, Error> {
    let cannot = |source| Error::Read { path: path.to_owned(), source };
    let mut beginning = Vec::new();
    // A pipe would be waited for.
    if std::fs::metadata(path).map_err(cannot)?.is_file() {
        let mut input = Input::open(path)?;
        // What is compressed and damaged is of the format that it begins as.
        let read = input.by_ref().take(BEGINNING).read_to_end(&mut beginning);
        let first = beginning.iter().find(|byte| !byte.is_ascii_whitespace());
        if read.is_ok() && matches!(first, Some(b'{' | b'[')) {
            input.take(BEGINNING_OF_JSON).read_to_end(&mut beginning).ok();
        }
    }
    Ok(beginning)
}

/// Formats that are known by what a file begins with, and not read: where that stands, and what to call it.
const OTHERS: &[(Where, &[u8], &str)] = &[
    (Where::First, b"#Paraver", "a Paraver trace"),
    (Where::First, b"CLOG-02", "a CLOG-2 log"),
    (Where::Early, b"SLOG 2.", "a SLOG-2 log"),
    (Where::First, b"HPCTOOLKIT", "a file of HPCToolkit"),
    (Where::Early, b"%EventDef", "a Pajé trace"),
    (Where::First, b"SDDFA", "an SDDF trace"),
    (Where::Early, b"templated_functions", "a profile of TAU"),
    (Where::Early, b"<profile_xml", "a profile of TAU"),
    (Where::First, b"\0P\0P\0K", "a packed profile of TAU"),
    (Where::Early, b"__rec=", "a Caliper file"),
    (Where::Early, b"# callgrind format", "a callgrind profile"),
    (Where::Early, b"Flat profile:", "a profile of gprof"),
    (Where::Early, b"speedscope.app/file-format-schema", "a Speedscope profile"),
    (Where::Early, b"\"preprocessedProfileVersion\"", "a profile of the Firefox Profiler"),
    (Where::Early, b"/* CTF 1.", "the metadata of a CTF trace"),
    (Where::Early, b"ustar", "a tar archive, perhaps a CUBE profile"),
    (Where::First, b"\x1f\x8b", "compressed"),
    (Where::First, b"PK\x03\x04", "a ZIP archive; a packed run is read as it is, by `marey report`"),
];

/// Where the bytes stand that tell a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    First,
    /// Anywhere in the beginning.
    Early,
}

fn unknown(path: &Path, what: &str) -> Error {
    let beginning = beginning(path).unwrap_or_default();
    let is_early = |bytes: &[u8]| beginning.windows(bytes.len()).any(|part| part == bytes);
    let other = OTHERS.iter().find(|(place, bytes, _)| match place {
        Where::First => beginning.starts_with(bytes),
        Where::Early => is_early(bytes),
    });
    let what = match other {
        Some((_, _, name)) => format!("this is {name}, and no format"),
        None => what.to_owned(),
    };
    Error::Unknown {
        path: path.to_owned(),
        what: format!(
            "{what} that can be imported (OTF2: the file NAME.otf2; Chrome trace events: JSON, perhaps compressed by gzip; Perfetto: its protobuf, the same)"
        ),
    }
}
