//! Files of OTF2: chunks of records, each of which begins with a header.
//!
//! The one idea: one chunk is in memory. A chunk that makes no sense from some place on is left there, counted, and the
//! next one is read, which begins with a header and a time of its own.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::records;
use crate::Error;
use crate::bytes::{Bytes, Order};

/// Bytes of a chunk's header, and of that of a file without chunks.
const HEADER: usize = 18;
/// The largest chunk that OTF2 allows is of 16 MiB; the smallest of 256 KiB for definitions and events.
pub(super) const MOST_CHUNK: u64 = 64 << 20;
const LITTLE: u8 = 0x42;
const BIG: u8 = 0x23;
/// What begins each buffer.
const CHUNK: u8 = 3;

/// What stands between records.
mod control {
    pub(super) const END_OF_CHUNK: u8 = 0;
    pub(super) const END_OF_BUFFER: u8 = 1;
    pub(super) const END_OF_FILE: u8 = 2;
    pub(super) const TIME: u8 = 5;
    pub(super) const ATTRIBUTES: u8 = 6;
}

/// A record of a file.
#[derive(Clone, Debug)]
pub(super) struct Raw<'a> {
    /// Its type.
    pub kind: u8,
    /// Time, in ticks; 0 before the first one.
    pub ticks: u64,
    /// Its fields, or those and what follows for a record of a single field, which has no length.
    pub body: Bytes<'a>,
    /// The attributes that belong to it.
    pub attributes: Option<Bytes<'a>>,
}

/// A file that is read chunk by chunk.
#[derive(Debug)]
pub(super) struct Chunks {
    path: PathBuf,
    file: File,
    content: Content,
    chunk_len: usize,
    chunk: Vec<u8>,
    /// Where the next record stands in the chunk.
    at: usize,
    /// Where the chunk stands in the file.
    begin: u64,
    order: Order,
    ticks: u64,
    is_over: bool,
    /// The first place that makes no sense, and how many chunks have one.
    pub damage: Option<(u64, &'static str)>,
    pub n_damaged: u64,
    /// Bytes read since [`Self::take_read`].
    n_read: u64,
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// All records have a length, and there are no times.
    Definitions,
    Events,
}

impl Chunks {
    /// `None` if there is no such file.
    pub(super) fn open(path: &Path, content: Content, chunk_len: u64) -> Result<Option<Self>, Error> {
        let cannot = |source| Error::Read { path: path.to_owned(), source };
        match std::fs::metadata(path) {
            Ok(data) if data.is_file() => {}
            // A directory under this name has no records, and a pipe would be waited for.
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(cannot(source)),
        }
        let file = File::open(path).map_err(cannot)?;
        Ok(Some(Self {
            path: path.to_owned(),
            file,
            content,
            chunk_len: usize::try_from(chunk_len.min(MOST_CHUNK)).unwrap_or(0),
            chunk: Vec::new(),
            at: 0,
            begin: 0,
            order: Order::Little,
            ticks: 0,
            is_over: false,
            damage: None,
            n_damaged: 0,
            n_read: 0,
        }))
    }

    /// Bytes read since it was asked last.
    pub(super) fn take_read(&mut self) -> u64 {
        std::mem::take(&mut self.n_read)
    }

    /// The next record; `None` behind the last one.
    pub(super) fn next(&mut self) -> Result<Option<Raw<'_>>, Error> {
        let mut attributes: Option<std::ops::Range<usize>> = None;
        loop {
            if self.is_over {
                return Ok(None);
            }
            if self.chunk.is_empty() && !self.read_chunk()? {
                return Ok(None);
            }
            let Some(found) = self.step() else {
                self.leave("a record does not fit into its chunk");
                attributes = None;
                continue;
            };
            match found {
                Step::Nothing => {}
                Step::EndOfChunk => {
                    self.begin += self.chunk.len() as u64;
                    self.chunk.clear();
                }
                Step::End => self.is_over = true,
                Step::Attributes(range) => attributes = Some(range),
                Step::Record(kind, range) => {
                    let of = |range: std::ops::Range<usize>| {
                        Bytes::new(self.chunk.get(range).unwrap_or_default(), self.order)
                    };
                    let raw =
                        Raw { kind, ticks: self.ticks, body: of(range), attributes: attributes.map(of) };
                    return Ok(Some(raw));
                }
            }
        }
    }

    /// Says where the next record stands, if the reader of the last one knows: it had a single field.
    pub(super) fn skip(&mut self, len: usize) {
        self.at += len;
    }

    /// Where the next record stands in the file.
    pub(super) fn offset(&self) -> u64 {
        self.begin + self.at as u64
    }

    /// Counts a record that makes no sense though it is as long as it says, or leaves the chunk.
    pub(super) fn leave(&mut self, why: &'static str) {
        self.damage.get_or_insert((self.begin + self.at as u64, why));
        self.n_damaged += 1;
        self.begin += self.chunk.len() as u64;
        self.chunk.clear();
    }

    /// One step within the chunk; `None` if it makes no sense.
    fn step(&mut self) -> Option<Step> {
        let mut bytes = Bytes::new(&self.chunk, self.order);
        bytes.at = self.at;
        let Some(kind) = bytes.u8() else {
            // A chunk that is full to the last byte.
            return Some(Step::EndOfChunk);
        };
        let step = match kind {
            control::END_OF_CHUNK => Step::EndOfChunk,
            control::END_OF_BUFFER | control::END_OF_FILE => Step::End,
            CHUNK | 4 => return None,
            kind if self.content == Content::Definitions => Step::Record(kind, body(&mut bytes)?),
            control::TIME => {
                self.ticks = bytes.u64()?;
                Step::Nothing
            }
            control::ATTRIBUTES => Step::Attributes(body(&mut bytes)?),
            kind if records::is_single(kind) => {
                let begin = bytes.at;
                self.at = begin;
                // Behind its field stands the next record, which only its reader knows where.
                return Some(Step::Record(kind, begin..self.chunk.len()));
            }
            kind => Step::Record(kind, body(&mut bytes)?),
        };
        self.at = bytes.at;
        Some(step)
    }

    /// Reads the next chunk that begins as one; false if there is none.
    fn read_chunk(&mut self) -> Result<bool, Error> {
        while self.read_any()? {
            let order = match (self.chunk.first(), self.chunk.get(1)) {
                (Some(&CHUNK), Some(&LITTLE)) => Some(Order::Little),
                (Some(&CHUNK), Some(&BIG)) => Some(Order::Big),
                _ => None,
            };
            self.at = 0;
            match order {
                Some(order) if HEADER <= self.chunk.len() => {
                    (self.order, self.at) = (order, HEADER);
                    return Ok(true);
                }
                _ => self.leave("a chunk does not begin with a header"),
            }
        }
        // Each file says where it ends.
        self.at = 0;
        self.leave("the file ends before its end");
        self.is_over = true;
        Ok(false)
    }

    /// Reads the bytes of the next chunk; false if there are none.
    fn read_any(&mut self) -> Result<bool, Error> {
        let cannot = |source| Error::Read { path: self.path.clone(), source };
        self.chunk.clear();
        (&mut self.file).take(self.chunk_len as u64).read_to_end(&mut self.chunk).map_err(cannot)?;
        self.n_read += self.chunk.len() as u64;
        Ok(!self.chunk.is_empty())
    }
}

/// What is found in a chunk.
enum Step {
    Nothing,
    EndOfChunk,
    End,
    Attributes(std::ops::Range<usize>),
    Record(u8, std::ops::Range<usize>),
}

/// Where the body of a record lies that tells its length.
fn body(bytes: &mut Bytes<'_>) -> Option<std::ops::Range<usize>> {
    let len = match bytes.u8()? {
        255 => usize::try_from(bytes.u64()?).ok()?,
        len => usize::from(len),
    };
    let begin = bytes.at;
    bytes.take(len)?;
    Some(begin..bytes.at)
}

/// Numbers as OTF2 packs them: a byte says how many follow, 255 that all bits are ones.
pub(super) trait Packed {
    /// Of 32 bits.
    fn packed32(&mut self) -> Option<u32>;
    /// Of 64 bits.
    fn packed64(&mut self) -> Option<u64>;
}

impl Packed for Bytes<'_> {
    #[inline]
    fn packed32(&mut self) -> Option<u32> {
        match self.u8()? {
            255 => Some(u32::MAX),
            len @ 0..=4 => u32::try_from(self.short(len.into())?).ok(),
            _ => None,
        }
    }

    #[inline]
    fn packed64(&mut self) -> Option<u64> {
        match self.u8()? {
            255 => Some(u64::MAX),
            len @ 0..=8 => self.short(len.into()),
            _ => None,
        }
    }
}
