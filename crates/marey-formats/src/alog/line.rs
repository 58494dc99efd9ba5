//! Lines of a log, and their fields.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::Error;

/// Bytes of a line; the format's own readers take 1023. What is longer is read in parts, which are no records.
const MOST: u64 = 64 << 10;

/// A line: `type process task data cycle timestamp comment`.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub event: i64,
    pub process: i64,
    pub task: i64,
    pub data: i64,
    pub cycle: i64,
    /// In µs; some writers have fractions of them.
    pub time: Time,
    pub comment: String,
}

/// A time stamp.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Time {
    Whole(i64),
    Real(f64),
}

impl Line {
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(line);
        let mut rest = line.trim();
        let mut word = || {
            let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            rest = behind.trim_start();
            (!word.is_empty()).then(|| word.to_owned())
        };
        let mut number = || word()?.parse::<i64>().ok();
        let (event, process, task) = (number()?, number()?, number()?);
        let (data, cycle) = (number()?, number()?);
        let time = word()?;
        let whole = time.parse().ok().map(Time::Whole);
        let real = || time.parse().ok().filter(|time: &f64| time.is_finite()).map(Time::Real);
        Some(Self { event, process, task, data, cycle, time: whole.or_else(real)?, comment: rest.to_owned() })
    }

    /// Whether it is something that happened, not of a header.
    pub(crate) const fn is_event(&self) -> bool {
        self.event >= 0 || self.event <= -100
    }
}

/// Whether a line says nothing.
pub(super) fn is_comment(line: &[u8]) -> bool {
    line.trim_ascii().first().is_none_or(|first| *first == b'#')
}

/// A log's file.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    len: u64,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let cannot = |source| Error::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(cannot)?;
        let len = file.metadata().map_err(cannot)?.len();
        Ok(Self { path: path.to_owned(), file: BufReader::new(file), len })
    }

    /// Bytes of the file.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Shows each line that says something, none where it is no record; `read` is told how many bytes are read.
    pub(super) fn each(
        &mut self,
        read: &mut dyn FnMut(u64),
        show: &mut dyn FnMut(Option<&Line>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        const STEP: u64 = 1 << 16;
        let mut line = Vec::new();
        let mut untold = 0;
        loop {
            line.clear();
            let cannot = |source| Error::Read { path: self.path.clone(), source };
            let len = (&mut self.file).take(MOST).read_until(b'\n', &mut line).map_err(cannot)?;
            untold += len as u64;
            if len == 0 || untold >= STEP {
                read(untold);
                untold = 0;
            }
            if len == 0 {
                return Ok(());
            }
            if !is_comment(&line) {
                show(Line::of(&line).as_ref())?;
            }
        }
    }
}
