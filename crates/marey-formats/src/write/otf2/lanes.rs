//! Files of events, one for each location, and beside each one of local definitions that has none.
//!
//! The one idea: a file is open only while a chunk is written to it, so a run may have more locations than a process files.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use marey_model::{LocationId, Nanos};

use super::encode::{Chunk, Record};
use crate::Error;

pub(super) struct Lanes {
    dir: PathBuf,
    chunks: Vec<Chunk>,
}

impl Lanes {
    pub(super) fn new(dir: &Path, number: usize) -> Self {
        Self { dir: dir.to_owned(), chunks: (0..number).map(|_| Chunk::of_events()).collect() }
    }

    pub(super) fn add(
        &mut self,
        location: LocationId,
        time: Nanos,
        attributes: Option<&[(u32, u64)]>,
        record: &Record,
    ) -> Result<(), Error> {
        let Some(chunk) = self.chunks.get_mut(location.idx()) else { return Ok(()) };
        let path = self.dir.join(format!("{}.evt", location.idx()));
        let ticks = time.0.max(0).cast_unsigned();
        let added =
            chunk.add(Some(ticks), attributes.unwrap_or_default(), record, &mut |bytes| append(&path, bytes));
        added.map_err(|source| Error::Write { path, source })
    }

    /// Writes what is left. How many events each location has.
    pub(super) fn finish(self) -> Result<Vec<u64>, Error> {
        let mut numbers = Vec::with_capacity(self.chunks.len());
        for (idx, chunk) in self.chunks.into_iter().enumerate() {
            numbers.push(chunk.number());
            for (end, bytes) in [("evt", chunk.end()), ("def", Chunk::of_definitions().end())] {
                let path = self.dir.join(format!("{idx}.{end}"));
                append(&path, &bytes).map_err(|source| Error::Write { path, source })?;
            }
        }
        Ok(numbers)
    }
}

fn append(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    File::options().create(true).append(true).open(path)?.write_all(bytes)
}
