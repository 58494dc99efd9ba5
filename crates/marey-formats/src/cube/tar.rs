//! The members of a tar archive: where each stands, and nothing of what it says of owners and rights.
//!
//! The one idea: headers are walked from one to the next, and a member is a range of bytes of a file. Names are compared,
//! never used as paths. Checksums are not looked at, for CubeW 4.8 wrote wrong ones; whether it is a header the size says.
//!
//! An archive that is compressed as a whole is unpacked into a file without a name first, as what members mean stands in
//! the last of them. Deliberately absent: sparse members, and names that are too long for a header.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::input::{Input, is_of_content};
use crate::problems::Problems;
use crate::problems::kind::DAMAGED;
use crate::{Error, Progress};

const BLOCK: u64 = 512;
/// How much larger a compressed archive may be than its file: rows that are all zero are left out of a profile, so what
/// shrinks further is no profile.
const MOST_GROWTH: u64 = 256;
const LEAST_LIMIT: u64 = 64 << 20;

/// What a profile consists of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Part {
    Anchor,
    /// Which rows a metric has.
    Index(u64),
    /// The rows.
    Data(u64),
}

/// An archive, and where its parts are.
#[derive(Debug)]
pub(super) struct Archive {
    pub file: File,
    pub parts: BTreeMap<Part, Range<u64>>,
    /// Members that are none of these.
    pub others: u64,
}

/// A member's name and size; `None` of what is no header.
pub(super) fn header(block: &[u8]) -> Option<(String, u64)> {
    let name = block.get(..100)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let size = number(block.get(124..136)?)?;
    (!name.is_empty()).then(|| (String::from_utf8_lossy(name).into_owned(), size))
}

/// What a member is by its name, whatever directory that is in.
pub(super) fn part(name: &str) -> Option<Part> {
    let name = name.rsplit('/').next().unwrap_or(name);
    if name == "anchor.xml" {
        return Some(Part::Anchor);
    }
    let (id, end) = name.split_once('.')?;
    let id = id.parse().ok()?;
    match end {
        "index" => Some(Part::Index(id)),
        "data" => Some(Part::Data(id)),
        _ => None,
    }
}

/// Octal digits, or a number of 95 bits that is marked as such.
fn number(field: &[u8]) -> Option<u64> {
    if let [0x80, rest @ ..] = field {
        return rest.iter().try_fold(0_u64, |sum, byte| Some(sum.checked_mul(256)? + u64::from(*byte)));
    }
    let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    u64::from_str_radix(if text.is_empty() { "0" } else { text }, 8).ok()
}

impl Archive {
    /// Opens an archive; one that is compressed is unpacked into a file without a name in this directory.
    ///
    /// # Errors
    /// If it cannot be read, the other file cannot be written, or it grows beyond what a profile can.
    pub(super) fn open(
        path: &Path,
        dir: &Path,
        problems: &mut Problems,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let cannot = |source| Error::Read { path: path.to_owned(), source };
        let mut input = Input::open(path)?;
        let len = input.len();
        progress.begin(len.saturating_mul(2));
        let is_packed = crate::input::is_gzip(path)?;
        let file = if is_packed {
            unpacked(path, &mut input, dir, problems)?
        } else {
            File::open(path).map_err(cannot)?
        };
        input.tell_all(progress);
        let mut archive = Self { file, parts: BTreeMap::new(), others: 0 };
        archive.walk(problems).map_err(cannot)?;
        Ok(archive)
    }

    fn walk(&mut self, problems: &mut Problems) -> io::Result<()> {
        let len = self.file.metadata()?.len();
        let (mut at, mut block) = (0_u64, [0; 512]);
        while at.saturating_add(BLOCK) <= len {
            self.file.read_exact_at(&mut block, at)?;
            if block.iter().all(|byte| *byte == 0) {
                return Ok(());
            }
            let Some((name, size)) = header(&block) else {
                let text =
                    format!("there is no header of a member at byte {at}; nothing is read from there on");
                problems.add(DAMAGED, text, 1);
                return Ok(());
            };
            let begin = at + BLOCK;
            let end = begin.saturating_add(size);
            if end > len {
                let text = format!("the member at byte {at} is said to be longer than the file");
                problems.add(DAMAGED, text, 1);
            }
            // Regular files; directories, links and headers of other headers hold nothing of a profile.
            match part(&name).filter(|_| matches!(block[156], 0 | b'0' | b'7')) {
                Some(part) => {
                    self.parts.insert(part, begin..end.min(len));
                }
                None => self.others += 1,
            }
            at = end.saturating_add((BLOCK - size % BLOCK) % BLOCK);
        }
        if at < len {
            problems.add(DAMAGED, format!("the archive ends amid a header, at byte {at}"), 1);
        }
        Ok(())
    }

    /// A part as a stream.
    pub(super) fn stream(&self, part: Part) -> Option<Section<'_>> {
        let range = self.parts.get(&part)?.clone();
        Some(Section { file: &self.file, range })
    }
}

fn unpacked(path: &Path, input: &mut Input, dir: &Path, problems: &mut Problems) -> Result<File, Error> {
    let (target, mut file) = crate::sorted::nameless(dir, "unpacked")?;
    let cannot_write = |source| Error::Write { path: target.clone(), source };
    let limit = input.len().saturating_mul(MOST_GROWTH).max(LEAST_LIMIT);
    let (mut sum, mut buffer) = (0_u64, vec![0; 256 << 10]);
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => {
                sum = sum.saturating_add(len as u64);
                if sum > limit {
                    let what =
                        format!("it unpacks to more than {MOST_GROWTH} times its size, as no profile does");
                    return Err(super::unreadable(path, what));
                }
                file.write_all(buffer.get(..len).unwrap_or_default()).map_err(cannot_write)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_of_content(&error) => {
                problems.add(DAMAGED, format!("{error}: what is compressed ends after {sum} bytes"), 1);
                break;
            }
            Err(source) => return Err(Error::Read { path: path.to_owned(), source }),
        }
    }
    file.into_inner().map_err(|error| cannot_write(error.into_error()))
}

/// A range of a file that is read from its beginning on.
#[derive(Debug)]
pub(super) struct Section<'a> {
    pub file: &'a File,
    pub range: Range<u64>,
}

impl Read for Section<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.range.end.saturating_sub(self.range.start)).unwrap_or(usize::MAX);
        let len = into.len().min(left);
        let read = self.file.read_at(into.get_mut(..len).unwrap_or_default(), self.range.start)?;
        self.range.start += read as u64;
        Ok(read)
    }
}
