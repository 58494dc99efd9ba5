//! A log's file: its header, and where its sections and nodes are.
//!
//! The one idea: whatever says where something is may be wrong, so nothing is read beyond the file, and no byte of a node
//! twice: nodes that others begin within are cut there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::unreadable;
use crate::Error;
use crate::bytes::{Bytes, Order};
use crate::problems::{Problems, kind};

/// Bytes of a section or node that is read; those of real logs are some 100 kB.
const MOST: u64 = 256 << 20;
/// Bytes of an entry of the directory: depth, place in its depth, two times, and where.
const ENTRY: usize = 34;
/// Bytes that a node begins with; the last of them say where it is.
const HEAD: u64 = 34;
/// Sections, in the order in which the header has them.
mod section {
    pub(super) const CATEGORIES: usize = 0;
    pub(super) const LINES: usize = 2;
    pub(super) const DIRECTORY: usize = 4;
}

/// So many bytes from one on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    pub at: u64,
    pub len: u64,
}

impl Place {
    /// None where there is nothing, or what cannot be.
    fn read(bytes: &mut Bytes<'_>) -> Option<Option<Self>> {
        let (at, len) = (bytes.u64()?, bytes.u32()?);
        let is_there = at > 0 && i64::try_from(at).is_ok() && len.cast_signed() > 0;
        Some(is_there.then_some(Self { at, len: len.into() }))
    }
}

/// What a file begins with.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub version: String,
    sections: [Option<Place>; 7],
    len: u64,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes::new(bytes, Order::Big);
        let version = text(&mut bytes)?;
        // Children of a node, bytes of a leaf, depth, and bytes of the largest node.
        bytes.take(2 + 4 + 2 + 4)?;
        let mut sections = [None; 7];
        for section in &mut sections {
            *section = Place::read(&mut bytes)?;
        }
        Some(Self { version, sections, len: bytes.at as u64 })
    }
}

/// A text behind its length.
pub(super) fn text(bytes: &mut Bytes<'_>) -> Option<String> {
    let len = usize::try_from(bytes.short(2)?).ok()?;
    Some(String::from_utf8_lossy(bytes.take(len)?).into_owned())
}

/// A log's file.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    len: u64,
    pub header: Header,
}

impl Log {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        const VERSIONS: [&str; 4] = ["SLOG 2.0.3", "SLOG 2.0.4", "SLOG 2.0.5", "SLOG 2.0.6"];
        let cannot = |source| Error::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(cannot)?;
        let len = file.metadata().map_err(cannot)?.len();
        let mut beginning = Vec::new();
        (&file).take(256).read_to_end(&mut beginning).map_err(cannot)?;
        let version = text(&mut Bytes::new(&beginning, Order::Big)).unwrap_or_default();
        if !VERSIONS.contains(&version.as_str()) {
            let version: String = version.chars().take(32).collect();
            let what = format!(
                "of version {version:?}; those from 2.0.3 to 2.0.6 can be read: make it anew with clog2TOslog2, or import the log that it was made of"
            );
            return Err(unreadable(path, what));
        }
        let header = Header::read(&beginning)
            .ok_or_else(|| unreadable(path, format!("its header ends at byte {len}, too early")))?;
        Ok(Self { path: path.to_owned(), file, len, header })
    }

    /// Bytes of the file.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// What of a place is in the file; at most [`MOST`] bytes.
    pub(super) fn section(&mut self, place: Place) -> Result<Vec<u8>, Error> {
        let cannot = |source| Error::Read { path: self.path.clone(), source };
        let mut bytes = Vec::new();
        // Beyond what files can have, there is no place to go to.
        if place.at >= self.len {
            return Ok(bytes);
        }
        self.file.seek(SeekFrom::Start(place.at)).map_err(cannot)?;
        (&self.file).take(place.len.min(MOST)).read_to_end(&mut bytes).map_err(cannot)?;
        Ok(bytes)
    }

    /// The bytes of a section, and where they begin; what is missing of them is told.
    fn named(
        &mut self,
        section: usize,
        name: &str,
        problems: &mut Problems,
    ) -> Result<Option<(u64, Vec<u8>)>, Error> {
        let place = self.header.sections.get(section).copied().flatten();
        let Some(place) = place.filter(|place| place.at < self.len) else {
            problems.add(kind::MISSING, format!("the log has no {name}"), 1);
            return Ok(None);
        };
        let bytes = self.section(place)?;
        if (bytes.len() as u64) < place.len {
            let at = place.at + bytes.len() as u64;
            problems.add(kind::DAMAGED, format!("the {name} is cut off at byte {at}"), 1);
        }
        Ok(Some((place.at, bytes)))
    }

    pub(super) fn categories(&mut self, problems: &mut Problems) -> Result<Option<(u64, Vec<u8>)>, Error> {
        self.named(section::CATEGORIES, "list of categories", problems)
    }

    pub(super) fn lines(&mut self, problems: &mut Problems) -> Result<Option<(u64, Vec<u8>)>, Error> {
        self.named(section::LINES, "line-ID map", problems)
    }

    /// All nodes that are where they say, in the order of the file.
    pub(super) fn nodes(&mut self, problems: &mut Problems) -> Result<Vec<Place>, Error> {
        let directory = self.named(section::DIRECTORY, "directory of its tree", problems)?;
        let Some(listed) = directory.and_then(|(at, bytes)| listed(at, &bytes, problems)) else {
            return self.found(problems);
        };
        let mut places: BTreeMap<u64, u64> = BTreeMap::new();
        for place in listed {
            if self.own_place(place.at)?.is_none_or(|own| own.at != place.at) {
                problems.add(kind::DAMAGED, format!("there is no node at byte {}", place.at), 1);
            } else if let Some(before) = places.insert(place.at, place.len) {
                places.insert(place.at, before);
                problems.add(kind::DAMAGED, format!("the node at byte {} is listed twice", place.at), 1);
            }
        }
        Ok(self.apart(&places, problems))
    }

    /// Those places without what they have in common.
    fn apart(&self, places: &BTreeMap<u64, u64>, problems: &mut Problems) -> Vec<Place> {
        let ends = places.keys().skip(1).copied().chain([self.len]);
        let mut apart = Vec::new();
        for ((at, len), end) in places.iter().zip(ends) {
            if end - at < *len {
                let what = format!("the node at byte {at} reaches beyond byte {end}, and is cut there");
                problems.add(kind::DAMAGED, what, 1);
            }
            apart.push(Place { at: *at, len: (*len).min(end - at) });
        }
        apart
    }

    /// Where the node at a byte says that it is.
    fn own_place(&mut self, at: u64) -> Result<Option<Place>, Error> {
        let head = self.section(Place { at, len: HEAD })?;
        let mut bytes = Bytes::new(&head, Order::Big);
        Ok(bytes.take(8 + 8 + 2 + 4).and_then(|_| Place::read(&mut bytes)).flatten())
    }

    /// The nodes that stand one behind the other from the header on, as writers put them there.
    fn found(&mut self, problems: &mut Problems) -> Result<Vec<Place>, Error> {
        let mut places = BTreeMap::new();
        let mut at = self.header.len;
        while let Some(own) = self.own_place(at)?.filter(|own| own.at == at) {
            places.insert(at, own.len);
            at = at.saturating_add(own.len);
        }
        let what = format!("nodes were looked for from the header on, up to byte {}", at.min(self.len));
        problems.add(kind::MISSING, what, 1);
        Ok(self.apart(&places, problems))
    }
}

/// The nodes that a directory lists, unless it makes no sense as a whole.
fn listed(at: u64, bytes: &[u8], problems: &mut Problems) -> Option<Vec<Place>> {
    let mut bytes = Bytes::new(bytes, Order::Big);
    let number = usize::try_from(bytes.u32()?).ok()?;
    if number == 0 || number != bytes.left() / ENTRY {
        let what = format!("the directory at byte {at} lists {number} nodes, which is not its size");
        problems.add(kind::DAMAGED, what, 1);
        return None;
    }
    let mut places = Vec::new();
    for _ in 0..number {
        let entry = at + bytes.at as u64;
        bytes.take(2 + 4 + 8 + 8)?;
        match Place::read(&mut bytes)? {
            Some(place) => places.push(place),
            None => problems.add(kind::DAMAGED, format!("no node at byte {entry} of the directory"), 1),
        }
    }
    Some(places)
}
