//! Which format a file has.
//!
//! The one idea: content decides, never the name. Of a directory, the one file in it, or in one of its
//! directories, that begins a trace.

use std::fs::FileType;
use std::path::{Path, PathBuf};

use crate::{Error, input, paraver, perfetto, tau, tau_profile};

/// A format that can be imported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Open Trace Format 2.
    Otf2,
    /// Chrome trace-event JSON.
    Chrome,
    /// CLOG-2 of MPE2.
    Clog2,
    /// CLOG-1, before it.
    Clog1,
    /// ALOG, the text format before both.
    Alog,
    /// SLOG-2 of Jumpshot 4.
    Slog2,
    /// Paraver.
    Paraver,
    /// Pajé.
    Paje,
    /// Pablo's SDDF.
    Sddf,
    /// A trace of TAU.
    Tau,
    /// Perfetto's protobuf.
    Perfetto,
    /// A profile of TAU.
    TauProfile,
    /// A profile of pprof.
    Pprof,
    /// A profile of CUBE 4.
    Cube,
    /// A profile in callgrind's format.
    Callgrind,
    /// A file of Speedscope.
    Speedscope,
}

/// What there is to say of a format.
struct Known {
    format: Format,
    /// What it is called in messages.
    name: &'static str,
    /// The format, and what to name of it.
    to_name: &'static str,
    /// Whether a file is of it that begins so.
    is_beginning: fn(&[u8]) -> bool,
}

/// In the order in which they are tried: those that are sure of it first.
const KNOWN: &[Known] = &[
    Known {
        format: Format::Otf2,
        name: "an OTF2 archive",
        to_name: "OTF2 (the file NAME.otf2)",
        is_beginning: crate::otf2::is_beginning,
    },
    Known {
        format: Format::Clog2,
        name: "a CLOG-2 log",
        to_name: "CLOG-2",
        is_beginning: |beginning| beginning.starts_with(b"CLOG-02"),
    },
    Known {
        format: Format::Slog2,
        name: "a SLOG-2 log",
        to_name: "SLOG-2",
        is_beginning: crate::slog2::is_beginning,
    },
    Known {
        format: Format::Paraver,
        name: "a Paraver trace",
        to_name: "Paraver (NAME.prv, also compressed by gzip)",
        is_beginning: |beginning| beginning.starts_with(paraver::MAGIC.as_bytes()),
    },
    Known {
        format: Format::Cube,
        name: "a CUBE profile",
        to_name: "CUBE 4 (NAME.cubex, of Score-P and Scalasca)",
        is_beginning: crate::cube::is_beginning,
    },
    Known {
        format: Format::Tau,
        name: "a TAU trace",
        to_name: "TAU (NAME.trc)",
        is_beginning: tau::is_trace,
    },
    Known {
        format: Format::Sddf,
        name: "an SDDF trace",
        to_name: "SDDF in ASCII (also compressed by gzip)",
        is_beginning: crate::sddf::is_beginning,
    },
    Known {
        format: Format::Paje,
        name: "a Pajé trace",
        to_name: "Pajé (also compressed by gzip)",
        is_beginning: crate::paje::is_beginning,
    },
    Known {
        format: Format::Speedscope,
        name: "a Speedscope profile",
        to_name: "Speedscope (JSON, also compressed by gzip)",
        is_beginning: crate::speedscope::is_beginning,
    },
    Known {
        format: Format::Chrome,
        name: "a Chrome trace",
        to_name: "Chrome trace events (JSON, also compressed by gzip)",
        is_beginning: crate::chrome::is_beginning,
    },
    Known {
        format: Format::TauProfile,
        name: "a TAU profile",
        to_name: "profiles of TAU (profile.NODE.CONTEXT.THREAD, XML, .ppk)",
        is_beginning: crate::tau_profile::is_beginning,
    },
    Known {
        format: Format::Callgrind,
        name: "a callgrind profile",
        to_name: "callgrind (callgrind.out.PID, cachegrind.out of Xdebug, also compressed by gzip)",
        is_beginning: crate::callgrind::is_beginning,
    },
    Known {
        format: Format::Pprof,
        name: "a pprof profile",
        to_name: "pprof (protobuf, also compressed by gzip)",
        is_beginning: crate::pprof::is_beginning,
    },
    Known {
        format: Format::Perfetto,
        name: "a Perfetto trace",
        to_name: "Perfetto (protobuf, also compressed by gzip)",
        is_beginning: perfetto::is_it,
    },
    Known {
        format: Format::Alog,
        name: "an ALOG log",
        to_name: "ALOG",
        is_beginning: crate::alog::is_beginning,
    },
    Known {
        format: Format::Clog1,
        name: "a CLOG-1 log",
        to_name: "CLOG-1",
        is_beginning: crate::clog1::is_beginning,
    },
];

impl Format {
    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        KNOWN.iter().find(|known| known.format == self).map_or("", |known| known.name)
    }

    /// The format of a file that begins so.
    fn of(beginning: &[u8]) -> Option<Self> {
        KNOWN.iter().find(|known| (known.is_beginning)(beginning)).map(|known| known.format)
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
        // Profiles of several metrics have a directory for each.
        one_of_threads(&mut found);
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
    one_of_threads(&mut found);
    Ok(found)
}

/// Of a trace of TAU in a file for each thread, the first stands for all, and a merged one in their place.
fn one_of_threads(found: &mut Vec<(Format, PathBuf)>) {
    let is_of_thread = |(format, file): &(Format, PathBuf)| {
        let name = file.file_name().map(|name| name.to_string_lossy());
        *format == Format::Tau && name.is_some_and(|name| name.starts_with(tau::OF_THREAD))
    };
    let mut has_any = found.iter().any(|it| it.0 == Format::Tau && !is_of_thread(it));
    found.retain(|it| !is_of_thread(it) || !std::mem::replace(&mut has_any, true));
    // So of its profiles.
    let is_of_thread =
        |(format, file): &(Format, PathBuf)| *format == Format::TauProfile && tau_profile::is_of_thread(file);
    let mut has_any = false;
    found.retain(|it| !is_of_thread(it) || !std::mem::replace(&mut has_any, true));
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

/// The first bytes of a file, unpacked; none of what is no file.
fn beginning(path: &Path) -> Result<Vec<u8>, Error> {
    let cannot = |source| Error::Read { path: path.to_owned(), source };
    // A pipe would be waited for.
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Ok(Vec::new());
    }
    let beginning = input::beginning(path, BEGINNING)?;
    let first = beginning.iter().find(|byte| !byte.is_ascii_whitespace());
    if matches!(first, Some(b'{' | b'[')) { input::beginning(path, BEGINNING_OF_JSON) } else { Ok(beginning) }
}

/// Formats that are known by what a file begins with, and not read: where that stands, and what to call it.
const OTHERS: &[(Where, &[u8], &str)] = &[
    (Where::First, b"HPCTOOLKIT", "a file of HPCToolkit"),
    (Where::Early, b"<!DOCTYPE HPCToolkitExperiment", "a database of HPCToolkit 3"),
    (Where::Early, b"__rec=", "a Caliper file"),
    (Where::Early, b"Flat profile:", "a profile of gprof"),
    (Where::Early, b"\"preprocessedProfileVersion\"", "a profile of the Firefox Profiler"),
    (Where::Early, b"\"dhatFileVersion\"", "a profile of DHAT"),
    (Where::First, b"PROJECTIONS", "a trace of Charm++ Projections"),
    (Where::First, b"Category[ index=", "the text form of a SLOG-2 log"),
    (
        Where::First,
        b"\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        "a profile of gperftools in its older form (`pprof -proto` writes one for import)",
    ),
    (Where::Early, b"/* CTF 1.", "the metadata of a CTF trace"),
    (Where::Early, b"ustar", "a tar archive"),
    (Where::First, b"PK\x03\x04", "a ZIP archive; a packed run is read as it is, by `marey report`"),
];

/// What a file is, or the first in a directory or in one right within it of which that is known.
fn other(path: &Path) -> Option<&'static str> {
    if path.is_dir() {
        let mut within = entries(path, |kind| kind.is_file()).unwrap_or_default();
        for dir in entries(path, |kind| kind.is_dir()).unwrap_or_default() {
            within.extend(entries(&dir, |kind| kind.is_file()).unwrap_or_default());
        }
        return within.iter().take(MOST_FILES).find_map(|file| other(file));
    }
    let beginning = beginning(path).unwrap_or_default();
    let is_early = |bytes: &[u8]| beginning.windows(bytes.len()).any(|part| part == bytes);
    let found = OTHERS.iter().find(|(place, bytes, _)| match place {
        Where::First => beginning.starts_with(bytes),
        Where::Early => is_early(bytes),
    });
    found.map(|it| it.2)
}

/// Where the bytes stand that tell a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    First,
    /// Anywhere in the beginning.
    Early,
}

fn unknown(path: &Path, what: &str) -> Error {
    let what = match (other(path), path.is_dir()) {
        (Some(name), false) => format!("this is {name}, which cannot be imported; what can"),
        (Some(name), true) => format!("there is {name} in it, which cannot be imported; what can"),
        (None, _) => format!("{what} that can be imported"),
    };
    let readable = KNOWN.iter().map(|known| known.to_name).collect::<Vec<_>>().join(", ");
    Error::Unknown { path: path.to_owned(), what: format!("{what}: {readable}") }
}
