//! Prepared buckets that were read lately.
//!
//! The one idea: who looks at a picture looks at the same buckets again at once, a little farther on, and to decode them
//! takes longer than all that is done with them. They are a twentieth of an archive, so many of them fit into little memory:
//! those of one part, resolution and location stay together, and when there is no more room those go that were used least
//! lately.
//!
//! What is deliberately absent: visits, of which there are too many, and which few pictures need.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::{Bucket, COLUMNS, rows};
use crate::meta::Part;
use crate::read::Filter;
use crate::schema::{LOD, NONE};
use crate::{Archive, Error};

/// So much memory they may take, bytes: buckets of some two million rows. A page has less.
const MOST_BYTES: usize = if cfg!(target_pointer_width = "64") { 128 << 20 } else { 24 << 20 };

/// A bucket without what its block says of it.
#[derive(Clone, Copy, Debug)]
struct Kept {
    number: i64,
    level: u32,
    depth: u32,
    regions: [u32; 3],
    times: [i64; 3],
    rest: i64,
}

/// Those of a part, resolution and location, in the order of the table.
type Block = Arc<[Kept]>;

/// Number of the part, log₂ of the length of buckets in ns, and location.
type Key = (usize, u32, u32);

/// What was read.
#[derive(Debug, Default)]
pub(super) struct KeptBuckets {
    blocks: Mutex<Blocks>,
}

#[derive(Debug, Default)]
struct Blocks {
    kept: FxHashMap<Key, (Block, u64)>,
    bytes: usize,
    /// Counts what was asked for.
    now: u64,
}

impl KeptBuckets {
    /// Hands out the buckets of a part that have a length of 2^`log2` ns, of some locations, in their order: O(buckets of these
    /// locations in the part). Of a part that is damaged those come that could be read.
    ///
    /// # Errors
    /// If it is.
    pub(super) fn of_part(
        &self,
        archive: &Archive,
        (number, part): (usize, &Part),
        locations: Range<u32>,
        log2: u32,
        each: &mut dyn FnMut(&Bucket),
    ) -> Result<(), Error> {
        let mut found = self.known(number, log2, locations.clone());
        let mut damage = Ok(());
        let mut at = 0;
        while let Some(first) = found[at..].iter().position(Option::is_none).map(|place| at + place) {
            let behind =
                found[first..].iter().position(Option::is_some).map_or(found.len(), |place| first + place);
            let missing = locations.start + place_of(first)..locations.start + place_of(behind);
            let (blocks, done) = read(archive, part, missing.clone(), log2);
            if done.is_ok() {
                self.keep(missing.zip(&blocks).map(|(location, block)| ((number, log2, location), block)));
            }
            found[first..behind].iter_mut().zip(blocks).for_each(|(place, block)| *place = Some(block));
            damage = damage.and(done);
            at = behind;
        }
        for (location, block) in locations.zip(&found) {
            for kept in block.iter().flat_map(|block| block.iter()) {
                each(&kept.bucket(location));
            }
        }
        damage
    }

    /// What is there of each of some locations.
    fn known(&self, part: usize, log2: u32, locations: Range<u32>) -> Vec<Option<Block>> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.now += 1;
        let now = blocks.now;
        let known = locations.map(|location| {
            let (block, used) = blocks.kept.get_mut(&(part, log2, location))?;
            *used = now;
            Some(Arc::clone(block))
        });
        known.collect()
    }

    fn keep<'b>(&self, more: impl Iterator<Item = (Key, &'b Block)>) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let now = blocks.now;
        for (key, block) in more {
            blocks.bytes += bytes_of(block);
            if let Some((before, _)) = blocks.kept.insert(key, (Arc::clone(block), now)) {
                // Two have read it at the same time.
                blocks.bytes -= bytes_of(&before);
            }
        }
        blocks.make_room();
    }
}

impl Blocks {
    /// Lets those go that were used least lately, a good part at a time, so that it need not be done again at once.
    fn make_room(&mut self) {
        if self.bytes <= MOST_BYTES {
            return;
        }
        let mut by_use: Vec<(u64, Key)> = self.kept.iter().map(|(key, (_, used))| (*used, *key)).collect();
        by_use.sort_unstable();
        for (_, key) in by_use {
            if self.bytes <= MOST_BYTES / 4 * 3 {
                break;
            }
            if let Some((block, _)) = self.kept.remove(&key) {
                self.bytes -= bytes_of(&block);
            }
        }
    }
}

/// What a block takes, with its place in the table.
fn bytes_of(block: &Block) -> usize {
    size_of_val::<[Kept]>(block) + 64
}

#[expect(clippy::cast_possible_truncation, reason = "locations have numbers of 32 bits")]
fn place_of(place: usize) -> u32 {
    place as u32
}

/// The blocks of some locations, and whether that is all of them.
fn read(archive: &Archive, part: &Part, locations: Range<u32>, log2: u32) -> (Vec<Block>, Result<(), Error>) {
    let filters = [
        Filter { column: "location", range: i64::from(locations.start)..i64::from(locations.end) },
        Filter { column: "resolution_log2", range: i64::from(log2)..i64::from(log2) + 1 },
    ];
    let mut found: Vec<Vec<Kept>> = vec![Vec::new(); locations.len()];
    let mut wrong = Ok(());
    let scanned = archive.scan_part(&LOD, part, &COLUMNS, &filters, |batch| {
        if wrong.is_ok() {
            wrong = rows(batch, &mut |bucket| {
                let place = bucket.location.checked_sub(locations.start).map(|place| place as usize);
                if let Some(block) = place.and_then(|place| found.get_mut(place)) {
                    block.push(Kept::of(bucket));
                }
            });
        }
    });
    (found.into_iter().map(Block::from).collect(), scanned.and(wrong))
}

impl Kept {
    fn of(bucket: &Bucket) -> Self {
        let Bucket { number, level, depth, rest, .. } = *bucket;
        let regions = bucket.regions.map(|region| region.map_or(NONE, |it| it.0));
        let times = bucket.regions.map(|region| region.map_or(0, |it| it.1));
        Self { number, level, depth, regions, times, rest }
    }

    fn bucket(&self, location: u32) -> Bucket {
        let of =
            |place: usize| (self.regions[place] != NONE).then(|| (self.regions[place], self.times[place]));
        let Self { number, level, depth, rest, .. } = *self;
        Bucket { location, level, depth, number, n: 1, regions: [of(0), of(1), of(2)], rest }
    }
}
