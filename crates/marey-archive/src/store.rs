//! Where the files of an archive lie: in a directory, or within one packed file, which may be in memory.
//!
//! The one idea: either way a file is a [`Section`] of bytes that Parquet reads in place. Sections
//! are read by position and share no cursor, so threads may read one file at the same time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
#[cfg(unix)]
use zip::{CompressionMethod, ZipArchive};

use crate::Error;

mod listing;

/// The files of an archive.
#[derive(Debug)]
pub(crate) enum Store {
    Directory(PathBuf),
    Packed { path: PathBuf, source: Source, entries: BTreeMap<Box<str>, (u64, u64)> },
}

/// What bytes are read from by position.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    File(Arc<File>),
    Memory(Bytes),
}

/// Bytes of a file, from `start`.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    source: Source,
    start: u64,
    len: u64,
}

impl Store {
    /// Opens a directory or a packed file.
    #[cfg(unix)]
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let kind = std::fs::metadata(path).map_err(Error::io(path))?;
        if kind.is_dir() {
            return Ok(Self::Directory(path.to_owned()));
        }
        let file = File::open(path).map_err(Error::io(path))?;
        let entries = entries(path, &file, kind.len())?;
        Ok(Self::Packed { path: path.to_owned(), source: Source::File(Arc::new(file)), entries })
    }

    /// The same of a packed file in memory. The path is for messages.
    pub(crate) fn in_memory(path: &Path, bytes: Bytes) -> Result<Self, Error> {
        let entries = listing::listing(&bytes).ok_or_else(|| Error::NotPacked { path: path.to_owned() })?;
        Ok(Self::Packed { path: path.to_owned(), source: Source::Memory(bytes), entries })
    }

    /// What a file is called in messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        match self {
            Self::Directory(path) | Self::Packed { path, .. } => path.join(name),
        }
    }

    /// One file of the archive.
    pub(crate) fn section(&self, name: &str) -> Result<Section, Error> {
        let named = self.path_of(name);
        match self {
            Self::Directory(_) => {
                let file = File::open(&named).map_err(Error::io(&named))?;
                let len = file.metadata().map_err(Error::io(&named))?.len();
                Ok(Section { source: Source::File(Arc::new(file)), start: 0, len })
            }
            Self::Packed { source, entries, .. } => match entries.get(name) {
                Some(&(start, len)) => Ok(Section { source: source.clone(), start, len }),
                None => Err(Error::io(named)(io::ErrorKind::NotFound.into())),
            },
        }
    }
}

/// Where the files of a packed file lie in it, which is `len` bytes long.
#[cfg(unix)]
fn entries(path: &Path, file: &File, len: u64) -> Result<BTreeMap<Box<str>, (u64, u64)>, Error> {
    let pack_error = |source| Error::Pack { path: path.to_owned(), source };
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(pack_error)?;
    let mut entries = BTreeMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(pack_error)?;
        let name = entry.name().map_err(pack_error)?.into_owned();
        if entry.compression() != CompressionMethod::Stored {
            return Err(Error::CompressedEntry { path: name.into() });
        }
        // An entry whose place or size is nonsense is cut to nothing and found out on reading.
        let start = entry.data_start().unwrap_or(len).min(len);
        entries.insert(name.into(), (start, entry.size().min(len - start)));
    }
    Ok(entries)
}

impl Source {
    /// Reads some bytes from a place on; 0 = there are none.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::File(file) => std::os::unix::fs::FileExt::read_at(&**file, buffer, at),
            #[cfg(not(unix))]
            Self::File(_) => Err(io::ErrorKind::Unsupported.into()),
            Self::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                let n = rest.len().min(buffer.len());
                buffer[..n].copy_from_slice(&rest[..n]);
                Ok(n)
            }
        }
    }

    /// Bytes from a place on; too few are an error.
    fn bytes_at(&self, at: u64, length: usize) -> io::Result<Bytes> {
        match self {
            #[cfg(unix)]
            Self::File(file) => {
                let mut bytes = vec![0; length];
                std::os::unix::fs::FileExt::read_exact_at(&**file, &mut bytes, at)?;
                Ok(bytes.into())
            }
            #[cfg(not(unix))]
            Self::File(_) => Err(io::ErrorKind::Unsupported.into()),
            Self::Memory(bytes) => {
                let start = usize::try_from(at).ok();
                let end = start.and_then(|start| start.checked_add(length)).filter(|end| *end <= bytes.len());
                match start.zip(end) {
                    // Shared, not copied.
                    Some((start, end)) => Ok(bytes.slice(start..end)),
                    None => Err(io::ErrorKind::UnexpectedEof.into()),
                }
            }
        }
    }
}

impl Section {
    /// Number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// All bytes; the caller has checked that they are not too many.
    pub(crate) fn read_all(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader(0).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads the section from an offset in it.
    pub(crate) fn reader(&self, offset: u64) -> SectionReader {
        let offset = offset.min(self.len);
        SectionReader { source: self.source.clone(), at: self.start + offset, left: self.len - offset }
    }
}

impl Length for Section {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Section {
    type T = BufReader<SectionReader>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        // Small, because Parquet reads headers of a few dozen bytes through it.
        Ok(BufReader::with_capacity(512, self.reader(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let end = start.checked_add(length as u64).filter(|&end| end <= self.len);
        if end.is_none() {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of {}", self.len)));
        }
        Ok(self.source.bytes_at(self.start + start, length)?)
    }
}

/// Reads a section from some place on.
#[derive(Debug)]
pub(crate) struct SectionReader {
    source: Source,
    at: u64,
    left: u64,
}

impl Read for SectionReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = self.source.read_at(&mut buffer[..wanted], self.at)?;
        self.at += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Meta, RunFacts, pack};

    fn packed(dir: &Path) -> (PathBuf, Vec<u8>) {
        let (run, out) = (dir.join("run"), dir.join("run.zip"));
        std::fs::create_dir(&run).unwrap();
        Meta::new(RunFacts { title: "seven".repeat(7), ..RunFacts::default() }).save(&run).unwrap();
        pack(&run, &out).unwrap();
        let bytes = std::fs::read(&out).unwrap();
        (out, bytes)
    }

    #[test]
    fn in_memory_lies_what_lies_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let (path, bytes) = packed(dir.path());
        let Store::Packed { entries: in_file, .. } = Store::open(&path).unwrap() else { panic!() };
        let memory = Store::in_memory(&path, bytes.clone().into()).unwrap();
        let Store::Packed { entries, .. } = &memory else { panic!() };
        assert_eq!(*entries, in_file);
        let section = memory.section("meta.json").unwrap();
        let text = section.read_all().unwrap();
        assert_eq!(text, Store::open(&path).unwrap().section("meta.json").unwrap().read_all().unwrap());
        assert_eq!(section.get_bytes(2, 9).unwrap(), text[2..11]);
        assert!(section.get_bytes(2, text.len()).is_err());
    }

    #[test]
    fn what_is_cut_or_changed_is_refused_or_read_and_nothing_panics() {
        let dir = tempfile::tempdir().unwrap();
        let (path, bytes) = packed(dir.path());
        for len in 0..bytes.len() {
            assert!(Store::in_memory(&path, bytes[..len].to_vec().into()).is_err(), "{len}");
        }
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 0xff;
            if let Ok(store) = Store::in_memory(&path, changed.into()) {
                store.section("meta.json").and_then(|it| it.read_all().map_err(Error::io(&path))).ok();
            }
        }
    }
}
