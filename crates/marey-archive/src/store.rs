//! Where the files of an archive lie: in a directory, or within one packed file.
//!
//! The one idea: either way a file is a [`Section`] of bytes that Parquet reads in place. Sections
//! are read by position and share no cursor, so threads may read one file at the same time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use zip::{CompressionMethod, ZipArchive};

use crate::Error;

/// The files of an archive.
#[derive(Debug)]
pub(crate) enum Store {
    Directory(PathBuf),
    Packed { path: PathBuf, file: Arc<File>, entries: BTreeMap<Box<str>, (u64, u64)> },
}

/// Bytes of a file, from `start`.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    file: Arc<File>,
    start: u64,
    len: u64,
}

impl Store {
    /// Opens a directory or a packed file.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let kind = std::fs::metadata(path).map_err(Error::io(path))?;
        if kind.is_dir() {
            return Ok(Self::Directory(path.to_owned()));
        }
        let pack_error = |source| Error::Pack { path: path.to_owned(), source };
        let file = File::open(path).map_err(Error::io(path))?;
        let mut archive = ZipArchive::new(BufReader::new(&file)).map_err(pack_error)?;
        let mut entries = BTreeMap::new();
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).map_err(pack_error)?;
            let name = entry.name().map_err(pack_error)?.into_owned();
            if entry.compression() != CompressionMethod::Stored {
                return Err(Error::CompressedEntry { path: name.into() });
            }
            // An entry whose place or size is nonsense is cut to nothing and found out on reading.
            let start = entry.data_start().unwrap_or(kind.len()).min(kind.len());
            entries.insert(name.into(), (start, entry.size().min(kind.len() - start)));
        }
        Ok(Self::Packed { path: path.to_owned(), file: Arc::new(file), entries })
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
                Ok(Section { file: Arc::new(file), start: 0, len })
            }
            Self::Packed { file, entries, .. } => match entries.get(name) {
                Some(&(start, len)) => Ok(Section { file: Arc::clone(file), start, len }),
                None => Err(Error::io(named)(io::ErrorKind::NotFound.into())),
            },
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
        SectionReader { file: Arc::clone(&self.file), at: self.start + offset, left: self.len - offset }
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
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, self.start + start)?;
        Ok(bytes.into())
    }
}

/// Reads a section from some place on.
#[derive(Debug)]
pub(crate) struct SectionReader {
    file: Arc<File>,
    at: u64,
    left: u64,
}

impl Read for SectionReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}
