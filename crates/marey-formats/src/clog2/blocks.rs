//! Records in blocks.
//!
//! The one idea: a block is read as a whole, and each begins with a record. So where one is damaged, reading goes on with the
//! next.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::damaged;
use super::preamble::{self, Preamble};
use super::records::{self, HEAD, KINDS, Kind, code};
use crate::Error;
use crate::bytes::Bytes;
use crate::problems::{Problems, kind};

/// How many records there are of each type.
pub(super) type Count = [u64; KINDS.len()];

/// A record.
#[derive(Clone, Debug)]
pub(super) struct Record<'a> {
    pub kind: &'static Kind,
    pub seconds: f64,
    pub communicator: i32,
    /// Rank in the communicator.
    pub rank: i32,
    pub thread: i32,
    /// What stands behind the head.
    pub rest: Bytes<'a>,
}

/// A log's file.
#[derive(Debug)]
pub(super) struct Blocks {
    path: PathBuf,
    file: File,
    len: u64,
    pub preamble: Preamble,
}

/// How reading a block ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Block,
    Log,
}

impl Blocks {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let cannot = |source| Error::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(cannot)?;
        let len = file.metadata().map_err(cannot)?.len();
        let mut beginning = Vec::new();
        (&file).take(preamble::LEN).read_to_end(&mut beginning).map_err(cannot)?;
        let preamble = Preamble::read(path, &beginning, len)?;
        Ok(Self { path: path.to_owned(), file, len, preamble })
    }

    /// Bytes of the file.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Shows each record, in the order of the file; `read` is told how many bytes are read.
    pub(super) fn each(
        &mut self,
        problems: &mut Problems,
        read: &mut dyn FnMut(u64),
        show: &mut dyn FnMut(&Record<'_>) -> Result<(), Error>,
    ) -> Result<Count, Error> {
        let mut count = Count::default();
        let mut block = Vec::new();
        let mut at = preamble::LEN;
        let end = self.preamble.table.unwrap_or(self.len);
        self.seek(at)?;
        let mut ended = false;
        while at < end {
            block.clear();
            let path = &self.path;
            let cannot = |source| Error::Read { path: path.clone(), source };
            (&self.file).take(self.preamble.block).read_to_end(&mut block).map_err(cannot)?;
            if block.is_empty() {
                break;
            }
            read(block.len() as u64);
            let is_last = at + self.preamble.block >= end;
            ended = self.block(at, &block, (&mut count, problems), show)? == End::Log;
            at += self.preamble.block;
            // Without a table there may be anything behind the end.
            if ended && (is_last || self.preamble.table.is_none()) {
                break;
            }
            if ended {
                damaged(problems, format!("the log ends before byte {at}, and yet there are further blocks"));
            }
        }
        if !ended {
            problems.add(kind::MISSING, format!("the log has no end: it stops at byte {}", at.min(end)), 1);
        }
        Ok(count)
    }

    fn block(
        &self,
        begin: u64,
        block: &[u8],
        (count, problems): (&mut Count, &mut Problems),
        show: &mut dyn FnMut(&Record<'_>) -> Result<(), Error>,
    ) -> Result<End, Error> {
        let is_cut = (block.len() as u64) < self.preamble.block;
        let mut bytes = Bytes::new(block, self.preamble.order);
        loop {
            let at = begin + bytes.at as u64;
            let Some(record) = next(&mut bytes) else {
                let what = match bytes.left() {
                    _ if is_cut => format!("the file ends within a record or block, behind byte {at}"),
                    left if left < HEAD => {
                        format!("the block that ends before byte {at} has no end of its own")
                    }
                    _ => format!("there is no record at byte {at}: the rest of its block is passed over"),
                };
                damaged(problems, what);
                return Ok(End::Block);
            };
            if let Some(count) = count.get_mut(usize::from(record.kind.code)) {
                *count += 1;
            }
            match record.kind.code {
                code::END_LOG => return Ok(End::Log),
                code::END_BLOCK => return Ok(End::Block),
                _ => show(&record)?,
            }
        }
    }

    /// How many entries the table of communicators has that are there.
    pub(super) fn communicators(&mut self) -> Result<u64, Error> {
        const ENTRY: u64 = 40;
        let Some(at) = self.preamble.table else { return Ok(0) };
        self.seek(at)?;
        let path = &self.path;
        let cannot = |source| Error::Read { path: path.clone(), source };
        let mut number = Vec::new();
        (&self.file).take(4).read_to_end(&mut number).map_err(cannot)?;
        let number = Bytes::new(&number, self.preamble.order).u32().unwrap_or(0);
        Ok(u64::from(number).min((self.len - at) / ENTRY))
    }

    fn seek(&mut self, at: u64) -> Result<(), Error> {
        let cannot = |source| Error::Read { path: self.path.clone(), source };
        self.file.seek(SeekFrom::Start(at)).map(drop).map_err(cannot)
    }
}

/// The next record, if all of it is there; else nothing is taken.
fn next<'a>(bytes: &mut Bytes<'a>) -> Option<Record<'a>> {
    let mut ahead = bytes.clone();
    let seconds = f64::from_bits(ahead.u64()?);
    let (communicator, rank, thread) = (signed(&mut ahead)?, signed(&mut ahead)?, signed(&mut ahead)?);
    let kind = records::of(ahead.u32()?)?;
    let rest = Bytes::new(ahead.take(kind.len)?, bytes.order);
    *bytes = ahead;
    Some(Record { kind, seconds, communicator, rank, thread, rest })
}

/// A number of four bytes with a sign.
pub(super) fn signed(bytes: &mut Bytes<'_>) -> Option<i32> {
    bytes.u32().map(u32::cast_signed)
}

/// A text in a field of `len` bytes, which a zero byte may end.
pub(super) fn text(bytes: &mut Bytes<'_>, len: usize) -> Option<String> {
    let field = bytes.take(len)?;
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    Some(String::from_utf8_lossy(text).trim().to_owned())
}
