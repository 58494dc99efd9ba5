//! A file that may be compressed.
//!
//! The one idea: what gzip has made is recognised by its first two bytes and read as what it was. Deliberately absent: other
//! compressions, and limits: readers hold no more than a piece of what they read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::Error;

/// How files that gzip has made begin.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Text or bytes of a file, read once from its beginning to its end.
pub(crate) struct Input {
    reader: Box<dyn BufRead + Send>,
    len: u64,
    read: Arc<AtomicU64>,
    told: u64,
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let cannot = |source| Error::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(cannot)?;
        let len = file.metadata().map_err(cannot)?.len();
        let read = Arc::new(AtomicU64::new(0));
        let mut raw = BufReader::with_capacity(256 << 10, Counted { file, read: Arc::clone(&read) });
        let is_compressed = raw.fill_buf().map_err(cannot)?.starts_with(&GZIP);
        let reader: Box<dyn BufRead + Send> = match is_compressed {
            true => Box::new(BufReader::with_capacity(256 << 10, MultiGzDecoder::new(raw))),
            false => Box::new(raw),
        };
        Ok(Self { reader, len, read, told: 0 })
    }

    /// Bytes of the file.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of the file that were read since it was asked last.
    pub(crate) fn take_read(&mut self) -> u64 {
        let read = self.read.load(Ordering::Relaxed);
        let new = read - self.told;
        self.told = read;
        new
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

    fn consume(&mut self, amount: usize) {
        self.reader.consume(amount);
    }
}

/// A file that counts what is read of it.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_read = self.file.read(into)?;
        self.read.fetch_add(n_read as u64, Ordering::Relaxed);
        Ok(n_read)
    }
}
