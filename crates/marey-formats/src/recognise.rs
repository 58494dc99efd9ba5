//! Which format a file has.
//!
//! The one idea: content decides, never the name. Of a directory, the one file in it that begins a trace.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::Error;

/// A format that can be imported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Open Trace Format 2.
    Otf2,
}

impl Format {
    /// What it is called in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Otf2 => "an OTF2 archive",
        }
    }

    /// The format of a file that begins so.
    fn of(beginning: &[u8]) -> Option<Self> {
        // Behind a buffer's two bytes stands the name.
        let is_otf2 = beginning.first() == Some(&3) && beginning.get(2..7) == Some(b"OTF2\0");
        is_otf2.then_some(Self::Otf2)
    }
}

/// Bytes that are looked at.
const BEGINNING: u64 = 4096;
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
    let mut files: Vec<PathBuf> = std::fs::read_dir(input)
        .map_err(cannot)?
        .take(MOST_FILES)
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        if let Some(format) = look(&file)? {
            found.push((format, file));
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

fn look(path: &Path) -> Result<Option<Format>, Error> {
    let cannot = |source| Error::Read { path: path.to_owned(), source };
    // A pipe would be waited for.
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Ok(None);
    }
    let mut beginning = Vec::new();
    File::open(path).map_err(cannot)?.take(BEGINNING).read_to_end(&mut beginning).map_err(cannot)?;
    Ok(Format::of(&beginning))
}

fn unknown(path: &Path, what: &str) -> Error {
    Error::Unknown {
        path: path.to_owned(),
        what: format!("{what} that can be imported (OTF2: the file NAME.otf2)"),
    }
}
