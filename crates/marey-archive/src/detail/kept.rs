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

/// So much memory they may take, bytes: four million buckets. A page has less.
const MOST_BYTES: usize = if cfg!(target_pointer_width = "64") { 128 << 20 } else { 24 << 20 };

/// A bucket without what its line says of it.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Its number, counted from the line's.
    offset: u32,
    regions: [u32; 3],
    /// In units of the line.
    times: [u32; 3],
    rest: u32,
}

/// Those of a line in a block, in the order of their numbers; of a line that is so long that offsets are too small for it, a
/// part.
#[derive(Debug)]
struct Line {
    level: u32,
    depth: u32,
    /// Of the first bucket.
    number: i64,
    /// Times are in units of 2^this ns: 0 unless buckets are longer than two seconds, of which a part in 2³¹ is enough.
    unit_log2: u32,
    buckets: Box<[Kept]>,
}

/// Those of a part, resolution and location, line by line.
type Block = Arc<[Line]>;

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
    /// Hands out the buckets of a part that have a length of 2^`log2` ns and whose number lies in a range, of some locations,
    /// in the order of the table: O(locations + buckets) where they were read lately, else O(buckets of these locations in the
    /// part). Of a part that is damaged those come that could be read.
    ///
    /// # Errors
    /// If it is.
    pub(super) fn of_part(
        &self,
        archive: &Archive,
        (number, part): (usize, &Part),
        locations: Range<u32>,
        (log2, numbers): (u32, Range<i64>),
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
            for line in block.iter().flat_map(|block| block.iter()) {
                line.inside(&numbers).iter().for_each(|kept| each(&line.bucket(kept, location)));
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
    64 + block.iter().map(|line| size_of::<Line>() + size_of_val::<[Kept]>(&line.buckets)).sum::<usize>()
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
    let mut found: Vec<Vec<Bucket>> = vec![Vec::new(); locations.len()];
    let mut wrong = Ok(());
    let scanned = archive.scan_part(&LOD, part, &COLUMNS, &filters, |batch| {
        if wrong.is_ok() {
            wrong = rows(batch, &mut |bucket| {
                let place = bucket.location.checked_sub(locations.start).map(|place| place as usize);
                if let Some(buckets) = place.and_then(|place| found.get_mut(place)) {
                    buckets.push(*bucket);
                }
            });
        }
    });
    (found.into_iter().map(|buckets| block(buckets, log2)).collect(), scanned.and(wrong))
}

fn block(mut buckets: Vec<Bucket>, log2: u32) -> Block {
    // They are in their order, unless somebody else has written the table.
    if !buckets.is_sorted_by_key(|it| (it.level, it.depth, it.number)) {
        buckets.sort_by_key(|it| (it.level, it.depth, it.number));
    }
    let mut lines = Vec::new();
    for of_line in buckets.chunk_by(|a, b| (a.level, a.depth) == (b.level, b.depth)) {
        let mut rest = of_line;
        while let Some(first) = rest.first() {
            let fits = |it: &Bucket| u32::try_from(it.number.saturating_sub(first.number)).is_ok();
            let (some, behind) = rest.split_at(rest.partition_point(fits).max(1));
            lines.push(Line::of(first, some, log2));
            rest = behind;
        }
    }
    lines.into()
}

impl Line {
    fn of(first: &Bucket, buckets: &[Bucket], log2: u32) -> Self {
        let unit_log2 = log2.saturating_sub(31);
        let time = |time: i64| u32::try_from(time.max(0) >> unit_log2).unwrap_or(u32::MAX);
        let kept = |bucket: &Bucket| Kept {
            offset: u32::try_from(bucket.number.saturating_sub(first.number)).unwrap_or(u32::MAX),
            regions: bucket.regions.map(|region| region.map_or(NONE, |it| it.0)),
            times: bucket.regions.map(|region| region.map_or(0, |it| time(it.1))),
            rest: time(bucket.rest),
        };
        let (level, depth, number) = (first.level, first.depth, first.number);
        Self { level, depth, number, unit_log2, buckets: buckets.iter().map(kept).collect() }
    }

    /// Those whose number lies in a range.
    fn inside(&self, numbers: &Range<i64>) -> &[Kept] {
        let before = |behind: i64| {
            self.buckets.partition_point(|kept| self.number.saturating_add(kept.offset.into()) < behind)
        };
        let first = before(numbers.start);
        &self.buckets[first..before(numbers.end).max(first)]
    }

    fn bucket(&self, kept: &Kept, location: u32) -> Bucket {
        let time = |time: u32| i64::from(time) << self.unit_log2;
        let of = |place: usize| {
            (kept.regions[place] != NONE).then(|| (kept.regions[place], time(kept.times[place])))
        };
        Bucket {
            location,
            level: self.level,
            depth: self.depth,
            number: self.number.saturating_add(kept.offset.into()),
            n: 1,
            regions: [of(0), of(1), of(2)],
            rest: time(kept.rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(number: i64, depth: u32, time: i64) -> Bucket {
        let regions = [Some((7, time)), None, None];
        Bucket { location: 3, level: 1, depth, number, n: 1, regions, rest: time / 2 }
    }

    fn all(block: &Block, numbers: Range<i64>) -> Vec<Bucket> {
        block.iter().flat_map(|line| line.inside(&numbers).iter().map(|kept| line.bucket(kept, 3))).collect()
    }

    #[test]
    fn what_is_kept_comes_back_as_it_was() {
        let far = 1_i64 << 40;
        let buckets = [bucket(5, 0, 900), bucket(6, 0, 0), bucket(far, 0, 12), bucket(4, 1, 4_000)];
        let kept = block(buckets.to_vec(), 12);
        assert_eq!(all(&kept, i64::MIN..i64::MAX), buckets);
        assert_eq!(all(&kept, 5..6), [buckets[0]]);
        assert_eq!(all(&kept, 6..far + 1), buckets[1..3]);
        assert_eq!(all(&kept, 7..far), []);
    }

    #[test]
    fn times_of_very_long_buckets_are_known_to_a_part_in_two_to_the_31() {
        let time = (1 << 40) - 12_345;
        let kept = block(vec![bucket(0, 0, time)], 40);
        let found = all(&kept, 0..1)[0].regions[0].unwrap().1;
        assert!((time - found).abs() < 1 << 9, "{found} is {time}");
    }

    #[test]
    fn what_was_used_least_lately_goes_when_there_is_no_more_room() {
        let kept = KeptBuckets::default();
        let large: Block = block((0..40_000).map(|number| bucket(number, 0, 1)).collect(), 10);
        let blocks = u32::try_from(MOST_BYTES / bytes_of(&large)).unwrap() + 1;
        for location in 0..blocks {
            // The first is used again and again.
            assert!(location == 0 || kept.known(0, 10, 0..1)[0].is_some());
            kept.keep([((0, 10, location), &large)].into_iter());
        }
        assert!(kept.blocks.lock().unwrap().bytes <= MOST_BYTES);
        let there: Vec<bool> = kept.known(0, 10, 0..blocks).iter().map(Option::is_some).collect();
        assert!(there[0] && !there[1] && there[blocks as usize - 1], "{there:?}");
    }
}
