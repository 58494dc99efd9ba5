//! Files of text that may be compressed.
//!
//! The one idea: content decides, as everywhere: what begins as gzip does is unpacked on the way, and nobody behind here
//! knows. What a compressed file may grow to has no limit; what is in memory has: a buffer, and one line.
//!
//! Deliberately absent: other compressions, and reading from other places than files.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use crate::{Error, Progress};

/// How gzip begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Longer lines are none of any format.
const LONGEST_LINE: usize = 16 << 20;
const BUFFER: usize = 256 << 10;

/// A file that is read from its beginning on.
pub(crate) struct Input {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    /// Bytes of the file itself that are read.
    raw: Rc<Cell<u64>>,
    told: u64,
    len: u64,
}

/// What is next in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// A line, without its end.
    Whole,
    /// One that was passed over, as it is longer than any should be.
    TooLong,
    /// Nothing is left.
    End,
    /// The compressed bytes make no sense from here on, or end too early.
    Broken,
}

impl Input {
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let cannot = |source| Error::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(cannot)?;
        let len = file.metadata().map_err(cannot)?.len();
        let raw = Rc::new(Cell::new(0));
        let mut plain = BufReader::with_capacity(BUFFER, Counted { file, raw: Rc::clone(&raw) });
        let is_packed = plain.fill_buf().map_err(cannot)?.starts_with(&GZIP);
        let reader: Box<dyn BufRead> = if is_packed {
            Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(plain)))
        } else {
            Box::new(plain)
        };
        Ok(Self { path: path.to_owned(), reader, raw, told: 0, len })
    }

    /// Size of the file itself, bytes.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of the file itself that were read since this was last asked for.
    pub(crate) fn take_read(&mut self) -> u64 {
        let now = self.raw.get().min(self.len);
        now.saturating_sub(std::mem::replace(&mut self.told, now))
    }

    /// Tells how much of the file has been read since this was last asked for.
    pub(crate) fn tell(&mut self, progress: &dyn Progress) {
        let new = self.take_read();
        if new > 0 {
            progress.advance(new);
        }
    }

    /// Tells the whole file as read, also what nobody looked at.
    pub(crate) fn tell_all(&mut self, progress: &dyn Progress) {
        self.raw.set(self.len);
        self.tell(progress);
    }

    /// The next line.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn line(&mut self, line: &mut Vec<u8>) -> Result<Line, Error> {
        line.clear();
        let mut is_too_long = false;
        loop {
            let bytes = match self.reader.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_of_content(&error) => return Ok(Line::Broken),
                Err(source) => return Err(Error::Read { path: self.path.clone(), source }),
            };
            if bytes.is_empty() {
                return Ok(match (is_too_long, line.is_empty()) {
                    (true, _) => Line::TooLong,
                    (false, true) => Line::End,
                    (false, false) => Line::Whole,
                });
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = end.map_or(bytes, |end| bytes.get(..end).unwrap_or(bytes));
            let used = part.len() + usize::from(end.is_some());
            if is_too_long || line.len() + part.len() > LONGEST_LINE {
                is_too_long = true;
                line.clear();
            } else {
                line.extend_from_slice(part);
            }
            self.reader.consume(used);
            if end.is_some() {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(if is_too_long { Line::TooLong } else { Line::Whole });
            }
        }
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.reader.read(into)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, used: usize) {
        self.reader.consume(used);
    }
}

/// Whether the bytes are to blame, not the disk.
pub(crate) fn is_of_content(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// Whether a file begins as gzip does.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn is_gzip(path: &Path) -> Result<bool, Error> {
    let cannot = |source| Error::Read { path: path.to_owned(), source };
    let mut first = Vec::new();
    File::open(path).map_err(cannot)?.take(2).read_to_end(&mut first).map_err(cannot)?;
    Ok(first == GZIP)
}

/// So much of what a file begins with, unpacked; less if it is damaged.
pub(crate) fn beginning(path: &Path, len: u64) -> Result<Vec<u8>, Error> {
    let mut beginning = Vec::new();
    match Input::open(path)?.take(len).read_to_end(&mut beginning) {
        Ok(_) => Ok(beginning),
        Err(error) if is_of_content(&error) => Ok(beginning),
        Err(source) => Err(Error::Read { path: path.to_owned(), source }),
    }
}

/// A file that counts what is read of it.
struct Counted {
    file: File,
    raw: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read(into)?;
        self.raw.set(self.raw.get().saturating_add(len as u64));
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn check(content: &[u8], expected: &[(Line, &str)]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, content).unwrap();
        let mut input = Input::open(&path).unwrap();
        let mut line = Vec::new();
        for (kind, text) in expected {
            assert_eq!(input.line(&mut line).unwrap(), *kind);
            assert_eq!(String::from_utf8_lossy(&line), *text);
        }
    }

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(content).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn lines_have_no_ends() {
        check(b"a\r\n\nb", &[(Line::Whole, "a"), (Line::Whole, ""), (Line::Whole, "b"), (Line::End, "")]);
    }

    #[test]
    fn members_of_gzip_are_one_text() {
        let both = [packed(b"a\nb"), packed(b"c\nd\n")].concat();
        check(&both, &[(Line::Whole, "a"), (Line::Whole, "bc"), (Line::Whole, "d"), (Line::End, "")]);
    }

    #[test]
    fn what_is_cut_off_is_broken() {
        let whole = packed(&b"0123456789\n".repeat(100_000));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let (mut input, mut line) = (Input::open(&path).unwrap(), Vec::new());
        while input.line(&mut line).unwrap() == Line::Whole {}
        assert_eq!(input.line(&mut line).unwrap(), Line::Broken);
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let bomb = packed(&[vec![b'x'; LONGEST_LINE + 1], b"\nnext\n".to_vec()].concat());
        check(&bomb, &[(Line::TooLong, ""), (Line::Whole, "next"), (Line::End, "")]);
    }
}
