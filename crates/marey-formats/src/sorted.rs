//! Records in the order of their keys, in bounded memory.
//!
//! The one idea: what fits into memory is sorted there; when it is full, it becomes a sorted *stretch* of a file that has no
//! name, and in the end all stretches are read side by side. Records of one key stay in the order in which they came.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::Error;

/// What records are sorted by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Key {
    pub process: u32,
    pub ns: i64,
    pub tie: u64,
}

/// Bytes of records and their keys in memory.
const MEMORY: usize = 96 << 20;
/// Bytes of a key and a length in the file.
const HEAD: usize = 24;
/// Bytes of each stretch that are read at a time.
const READ: usize = 128 << 10;

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    at: usize,
    len: usize,
}

/// Records on their way.
#[derive(Debug)]
pub(crate) struct Sorter {
    dir: PathBuf,
    memory: usize,
    records: Vec<u8>,
    entries: Vec<Entry>,
    file: Option<(PathBuf, BufWriter<File>)>,
    /// Where each stretch ends.
    ends: Vec<u64>,
    number: u64,
}

impl Sorter {
    pub(crate) fn new(dir: &Path) -> Self {
        Self::with_memory(dir, MEMORY)
    }

    fn with_memory(dir: &Path, memory: usize) -> Self {
        let (records, entries) = (Vec::new(), Vec::new());
        Self { dir: dir.to_owned(), memory, records, entries, file: None, ends: Vec::new(), number: 0 }
    }

    pub(crate) fn add(&mut self, key: Key, record: &[u8]) -> Result<(), Error> {
        self.entries.push(Entry { key, at: self.records.len(), len: record.len() });
        self.records.extend(record);
        self.number += 1;
        if self.records.len() + self.entries.len() * size_of::<Entry>() < self.memory {
            return Ok(());
        }
        self.spill()
    }

    fn spill(&mut self) -> Result<(), Error> {
        self.entries.sort_by_key(|entry| entry.key);
        if self.file.is_none() {
            self.file = Some(nameless(&self.dir, "events")?);
        }
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let mut end = self.ends.last().copied().unwrap_or(0);
        for Entry { key, at, len } in &self.entries {
            let mut head = [0; HEAD];
            head[..4].copy_from_slice(&key.process.to_le_bytes());
            head[4..8].copy_from_slice(&u32::try_from(*len).unwrap_or(u32::MAX).to_le_bytes());
            head[8..16].copy_from_slice(&key.ns.to_le_bytes());
            head[16..].copy_from_slice(&key.tie.to_le_bytes());
            let written = file.write_all(&head).and_then(|()| file.write_all(&self.records[*at..*at + *len]));
            written.map_err(|source| Error::Write { path: path.clone(), source })?;
            end += (HEAD + len) as u64;
        }
        self.ends.push(end);
        self.entries.clear();
        self.records.clear();
        Ok(())
    }

    /// All of them, in order.
    pub(crate) fn sorted(mut self) -> Result<Sorted, Error> {
        if self.file.is_none() {
            self.entries.sort_by_key(|entry| entry.key);
            return Ok(Sorted { number: self.number, from: From::Memory(self.records, self.entries, 0) });
        }
        self.spill()?;
        let Some((path, file)) = self.file else {
            return Ok(Sorted { number: 0, from: From::Memory(Vec::new(), Vec::new(), 0) });
        };
        let file = file.into_inner();
        let file = file.map_err(|source| Error::Write { path: path.clone(), source: source.into_error() })?;
        let mut begin = 0;
        let mut stretches = Vec::new();
        for end in self.ends {
            stretches.push(Stretch { next: begin, end, bytes: Vec::new(), at: 0, head: None });
            begin = end;
        }
        let mut from = Stretches { path, file, stretches, queue: BinaryHeap::new() };
        for number in 0..from.stretches.len() {
            from.read_head(number)?;
        }
        Ok(Sorted { number: self.number, from: From::File(from) })
    }
}

/// A file that is gone when it is closed.
pub(crate) fn nameless(dir: &Path, what: &str) -> Result<(PathBuf, BufWriter<File>), Error> {
    let path = dir.join(format!("{what}-{}", std::process::id()));
    let open = File::options().read(true).write(true).create_new(true).open(&path);
    let file = open.and_then(|file| std::fs::remove_file(&path).map(|()| file));
    let file = file.map_err(|source| Error::Write { path: path.clone(), source })?;
    Ok((path, BufWriter::with_capacity(1 << 20, file)))
}

/// All records in order.
#[derive(Debug)]
pub(crate) struct Sorted {
    /// How many there are.
    pub number: u64,
    from: From,
}

#[derive(Debug)]
enum From {
    Memory(Vec<u8>, Vec<Entry>, usize),
    File(Stretches),
}

#[derive(Debug)]
struct Stretches {
    path: PathBuf,
    file: File,
    stretches: Vec<Stretch>,
    /// The next key of each stretch.
    queue: BinaryHeap<Reverse<(Key, usize)>>,
}

#[derive(Debug)]
struct Stretch {
    /// Where the bytes begin that are not read yet.
    next: u64,
    end: u64,
    bytes: Vec<u8>,
    at: usize,
    /// Key and length of the next record.
    head: Option<(Key, usize)>,
}

impl Sorted {
    /// The next record, into `record`.
    pub(crate) fn next(&mut self, record: &mut Vec<u8>) -> Result<Option<Key>, Error> {
        record.clear();
        match &mut self.from {
            From::Memory(records, entries, at) => {
                let Some(Entry { key, at: begin, len }) = entries.get(*at).copied() else { return Ok(None) };
                *at += 1;
                record.extend(&records[begin..begin + len]);
                Ok(Some(key))
            }
            From::File(stretches) => stretches.next(record),
        }
    }
}

impl Stretches {
    fn next(&mut self, record: &mut Vec<u8>) -> Result<Option<Key>, Error> {
        let Some(Reverse((key, number))) = self.queue.pop() else { return Ok(None) };
        let len = self.stretches[number].head.map_or(0, |head| head.1);
        self.fill(number, len)?;
        let stretch = &mut self.stretches[number];
        record.extend(&stretch.bytes[stretch.at..stretch.at + len]);
        stretch.at += len;
        self.read_head(number)?;
        Ok(Some(key))
    }

    /// Reads the head of the next record of a stretch, if it has one.
    fn read_head(&mut self, number: usize) -> Result<(), Error> {
        let stretch = &self.stretches[number];
        if stretch.at == stretch.bytes.len() && stretch.next == stretch.end {
            return Ok(());
        }
        self.fill(number, HEAD)?;
        let stretch = &mut self.stretches[number];
        let head = &stretch.bytes[stretch.at..stretch.at + HEAD];
        stretch.at += HEAD;
        let word = |at: usize| {
            let mut four = [0; 4];
            four.copy_from_slice(&head[at..at + 4]);
            u32::from_le_bytes(four)
        };
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let key = Key { process: word(0), ns: long(8).cast_signed(), tie: long(16) };
        stretch.head = Some((key, word(4) as usize));
        self.queue.push(Reverse((key, number)));
        Ok(())
    }

    /// Makes sure that so many bytes of a stretch are there.
    fn fill(&mut self, number: usize, len: usize) -> Result<(), Error> {
        let stretch = &mut self.stretches[number];
        let there = stretch.bytes.len() - stretch.at;
        if len <= there {
            return Ok(());
        }
        stretch.bytes.drain(..stretch.at);
        stretch.at = 0;
        let left = usize::try_from(stretch.end - stretch.next).unwrap_or(usize::MAX);
        let wanted = left.min(READ.max(len - there));
        stretch.bytes.resize(there + wanted, 0);
        let read = self.file.read_exact_at(&mut stretch.bytes[there..], stretch.next);
        read.map_err(|source| Error::Read { path: self.path.clone(), source })?;
        stretch.next += wanted as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out, from so much memory.
    fn sorted(memory: usize, keys: &[Key]) -> Vec<(Key, Vec<u8>)> {
        let dir = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::with_memory(dir.path(), memory);
        for (number, key) in keys.iter().enumerate() {
            // Of various lengths, up to some that are longer than what is read at a time.
            let long = if number % 97 == 5 { 300_000 } else { number % 11 };
            let mut record = number.to_le_bytes().to_vec();
            record.resize(8 + long, 7);
            sorter.add(*key, &record).unwrap();
        }
        assert!(memory > 1 << 30 || !sorter.ends.is_empty());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "its file has no name");
        let mut sorted = sorter.sorted().unwrap();
        assert_eq!(sorted.number, keys.len() as u64);
        let mut record = Vec::new();
        let mut all = Vec::new();
        while let Some(key) = sorted.next(&mut record).unwrap() {
            all.push((key, record.clone()));
        }
        all
    }

    #[test]
    fn order_is_that_of_keys_and_then_of_coming_with_any_memory() {
        let mut seed = 1_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let keys: Vec<Key> = (0..1000)
            .map(|_| Key {
                process: u32::try_from(next(3)).unwrap(),
                ns: next(40).cast_signed() - 20,
                tie: next(2),
            })
            .collect();
        let mut truth: Vec<(Key, usize)> = keys.iter().copied().zip(0..).collect();
        truth.sort();
        for memory in [usize::MAX, 1 << 20, 100 << 10, 1] {
            let got = sorted(memory, &keys);
            let order: Vec<(Key, usize)> = got
                .iter()
                .map(|(key, record)| (*key, usize::from_le_bytes(record[..8].try_into().unwrap())))
                .collect();
            assert_eq!(order, truth);
            assert!(got.iter().all(|(_, record)| record[8..].iter().all(|byte| *byte == 7)));
        }
    }
}
