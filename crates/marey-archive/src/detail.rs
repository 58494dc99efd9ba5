//! Level of detail: what a coarse picture of a timeline needs, read back.
//!
//! The one idea: a bucket is 2^r ns long and a row says which regions took most of it on one line, a line being one depth
//! of one level on a location. How fine it is known differs by location: about 128 visits a bucket at the finest.
//!
//! A region that takes many buckets in a row has one row in the coarsest that it takes as a whole, not in all of the finer
//! ones. They are put back here.
//!
//! Of a run whose clocks were corrected afterwards, buckets are as they were merged. They are moved by as many whole buckets
//! as comes closest to the correction in the middle of the span, so they lie off by half a bucket, and by what the correction
//! changes within the span.
//!
//! What is deliberately absent: anything finer; [`crate::Events::overlapping`] has the visits themselves.

mod kept;

use std::ops::Range;

use marey_analyze::Span;
use rustc_hash::FxHashMap;

use crate::columns::Columns;
use crate::detail::kept::KeptBuckets;
use crate::read::Filter;
use crate::schema::{LOD, NONE};
use crate::{Archive, Error};

/// Coarser than 2⁴⁵ ns nothing is kept.
const COARSEST: u32 = 45;

/// A bucket of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Number of the location.
    pub location: u32,
    /// Number of the level.
    pub level: u32,
    /// Depth within the level, 0 the outermost.
    pub depth: u32,
    /// Its number: it begins at number × 2^resolution ns.
    pub number: i64,
    /// How many in a row are the same.
    pub n: i64,
    /// The three regions that took most of each, with their time in ns, the largest first; `None` = there are no more.
    pub regions: [Option<(u32, i64)>; 3],
    /// Time of all others in each, ns.
    pub rest: i64,
}

impl Bucket {
    /// Location, level and depth.
    pub fn line(&self) -> (u32, u32, u32) {
        (self.location, self.level, self.depth)
    }
}

/// Buckets by line, in the order of their numbers.
type Lines = FxHashMap<(u32, u32, u32), Vec<Bucket>>;

/// What is read of a bucket.
const COLUMNS: [&str; 12] = [
    "location",
    "level",
    "depth",
    "resolution_log2",
    "bucket",
    "region1",
    "time1",
    "region2",
    "time2",
    "region3",
    "time3",
    "rest",
];

/// How fine the level of detail of each location is, and what of it was read lately.
#[derive(Debug, Default)]
pub struct Detail {
    /// log₂ of the length in ns of its finest buckets, by location.
    finest: FxHashMap<u32, u32>,
    kept: KeptBuckets,
}

impl Detail {
    /// Looks how fine it is. Parts come in the order of time, and what closes first on a location are its finest buckets: so a
    /// part is asked only for locations that none before it had, and of most nothing is read.
    ///
    /// # Errors
    /// If they cannot be.
    pub fn load(archive: &Archive) -> Result<Self, Error> {
        let mut finest = FxHashMap::default();
        let locations = archive.meta().rows("locations");
        let mut unknown = 0..i64::try_from(locations).unwrap_or(i64::MAX);
        let mut parts: Vec<_> = archive.parts("lod").iter().collect();
        parts.sort_by_key(|part| (part.slab, part.group));
        for part in parts {
            let is_known = |location: i64| u32::try_from(location).is_ok_and(|it| finest.contains_key(&it));
            while !unknown.is_empty() && is_known(unknown.start) {
                unknown.start += 1;
            }
            while !unknown.is_empty() && is_known(unknown.end - 1) {
                unknown.end -= 1;
            }
            if unknown.is_empty() {
                break;
            }
            let filter = Filter { column: "location", range: unknown.clone() };
            let mut wrong = Ok(());
            archive.scan_part(&LOD, part, &["location", "resolution_log2"], &[filter], |batch| {
                if wrong.is_ok() {
                    wrong = finest_of(batch, &mut finest);
                }
            })?;
            wrong?;
        }
        Ok(Self { finest, kept: KeptBuckets::default() })
    }

    /// log₂ of the length in ns of the finest buckets of a location; `None` = it has no visits.
    pub fn finest(&self, location: u32) -> Option<u32> {
        self.finest.get(&location).copied()
    }

    /// Hands out the buckets of 2^`resolution_log2` ns that overlap a span, of locations given by number, of which none may
    /// have coarser ones as its finest. Those of one line come in the order of their numbers. Beyond the coarsest resolution
    /// there are none.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn buckets(
        &self,
        archive: &Archive,
        span: Span,
        locations: Range<u32>,
        resolution_log2: u32,
        each: &mut dyn FnMut(&Bucket),
    ) -> Result<(), Error> {
        if resolution_log2 > COARSEST || span.to <= span.from || locations.is_empty() {
            return Ok(());
        }
        let first = span.from.0.max(0) >> resolution_log2;
        let last = (span.to.0.max(1) - 1) >> resolution_log2;
        let moves = Moves::new(archive, span, &locations, resolution_log2);
        let (least, most) = moves.range();
        // What is moved by less than its correction may belong to a part that ends before the span.
        let beside = if archive.corrections().is_empty() { 0 } else { 1 << resolution_log2 };
        let times = span.from.0.saturating_sub(beside)..span.to.0.saturating_add(beside);
        let is_in = |bucket: &Bucket, up: u32| {
            let (first, last) = moves.merged(bucket.location, (first, last));
            first >> up <= bucket.number && bucket.number <= last >> up
        };
        let located =
            Filter { column: "location", range: i64::from(locations.start)..i64::from(locations.end) };
        let (earliest, behind) =
            (first.saturating_sub(most).max(0), last.saturating_sub(least).saturating_add(1));
        let mut whole: Vec<(u32, Bucket)> = Vec::new();
        // Coarser ones that are one region's alone; the number of a bucket says little there, and passes if it may be meant.
        let filters = [
            located.clone(),
            Filter {
                column: "resolution_log2",
                range: i64::from(resolution_log2) + 1..i64::from(COARSEST) + 1,
            },
            Filter { column: "bucket", range: (earliest >> (COARSEST - resolution_log2))..behind },
            Filter { column: "region2", range: i64::from(NONE)..i64::from(NONE) + 1 },
            Filter { column: "rest", range: 0..1 },
        ];
        read(archive, times.clone(), &filters, |batch| {
            whole_ones(batch, resolution_log2, &is_in, &mut whole)
        })?;
        let moved = |bucket: &Bucket| {
            let number = bucket.number.saturating_add(moves.of(bucket.location));
            Bucket { number, ..*bucket }
        };
        if whole.is_empty() {
            // Nothing is put between them, so they go on as they come.
            let asked = (resolution_log2, earliest..behind);
            if moves.by.is_empty() {
                return self.of_parts(archive, times, locations, asked, each);
            }
            let mut hand_on = |bucket: &Bucket| {
                if is_in(bucket, 0) {
                    each(&moved(bucket));
                }
            };
            return self.of_parts(archive, times, locations, asked, &mut hand_on);
        }
        let mut found = Lines::default();
        let mut keep = |bucket: &Bucket| {
            if is_in(bucket, 0) {
                found.entry(bucket.line()).or_default().push(*bucket);
            }
        };
        self.of_parts(archive, times, locations, (resolution_log2, earliest..behind), &mut keep)?;
        put_back(&mut found, whole, |location| moves.merged(location, (first, last)));
        let mut lines: Vec<_> = found.into_iter().collect();
        lines.sort_unstable_by_key(|(line, _)| *line);
        lines.iter().flat_map(|(_, buckets)| buckets).for_each(|bucket| each(&moved(bucket)));
        Ok(())
    }

    /// Hands out the buckets of a length and of some numbers, of some locations, of all parts that have times in a span.
    fn of_parts(
        &self,
        archive: &Archive,
        span: Range<i64>,
        locations: Range<u32>,
        (resolution_log2, numbers): (u32, Range<i64>),
        each: &mut dyn FnMut(&Bucket),
    ) -> Result<(), Error> {
        let mut damage = Ok(());
        for (number, part) in archive.parts("lod").iter().enumerate() {
            // Parts without times have rows of any time.
            let (first, last) = (part.min_time.unwrap_or(i64::MIN), part.max_time.unwrap_or(i64::MAX));
            if span.start <= last && first < span.end {
                let asked = (resolution_log2, numbers.clone());
                let done = self.kept.of_part(archive, (number, part), locations.clone(), asked, each);
                damage = damage.and(done);
            }
        }
        damage
    }
}

/// The finest resolutions of a batch.
fn finest_of(batch: &Columns, finest: &mut FxHashMap<u32, u32>) -> Result<(), Error> {
    let rows = batch.u32("location")?.iter().zip(batch.u32("resolution_log2")?);
    let mut before = (NONE, NONE);
    for (&location, &log2) in rows {
        // Most rows are as the one before.
        if std::mem::replace(&mut before, (location, log2)) != (location, log2) {
            let known = finest.entry(location).or_insert(log2);
            *known = log2.min(*known);
        }
    }
    Ok(())
}

/// By how many buckets those of each location are moved.
struct Moves {
    /// The first of the locations.
    first: u32,
    /// Of each; none at all where clocks are as they were merged.
    by: Vec<i64>,
}

impl Moves {
    fn new(archive: &Archive, span: Span, locations: &Range<u32>, log2: u32) -> Self {
        let middle = span.from.0.midpoint(span.to.0);
        let by = archive.applied().map(|applied| {
            let half = (1_i64 << log2) / 2;
            let of = |location| applied.added_about(location, middle).saturating_add(half) >> log2;
            locations.clone().map(of).collect()
        });
        Self { first: locations.start, by: by.unwrap_or_default() }
    }

    fn of(&self, location: u32) -> i64 {
        let place = location.checked_sub(self.first).map(|place| place as usize);
        place.and_then(|place| self.by.get(place).copied()).unwrap_or(0)
    }

    /// The least and the most.
    fn range(&self) -> (i64, i64) {
        (self.by.iter().copied().min().unwrap_or(0), self.by.iter().copied().max().unwrap_or(0))
    }

    /// Which numbers buckets of a location have in the table, first and last, that are to have these.
    fn merged(&self, location: u32, (first, last): (i64, i64)) -> (i64, i64) {
        let by = self.of(location);
        (first.saturating_sub(by), last.saturating_sub(by))
    }
}

/// Reads the rows that pass, batch by batch.
fn read(
    archive: &Archive,
    span: Range<i64>,
    filters: &[Filter<'_>],
    mut each: impl FnMut(&Columns) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut wrong = Ok(());
    let scanned = archive.scan_span("lod", span, &COLUMNS, filters, |batch| {
        if wrong.is_ok() {
            wrong = each(batch);
        }
    })?;
    wrong.and_then(|()| scanned.damage.into_iter().next().map_or(Ok(()), Err))
}

fn rows(batch: &Columns, each: &mut dyn FnMut(&Bucket)) -> Result<(), Error> {
    let (locations, levels, depths) = (batch.u32("location")?, batch.u32("level")?, batch.u32("depth")?);
    let (numbers, rests) = (batch.i64("bucket")?, batch.i64("rest")?);
    let regions = [batch.u32("region1")?, batch.u32("region2")?, batch.u32("region3")?];
    let times = [batch.i64("time1")?, batch.i64("time2")?, batch.i64("time3")?];
    for row in 0..batch.len() {
        let of =
            |place: usize| (regions[place][row] != NONE).then(|| (regions[place][row], times[place][row]));
        each(&Bucket {
            location: locations[row],
            level: levels[row],
            depth: depths[row],
            number: numbers[row],
            n: 1,
            regions: [of(0), of(1), of(2)],
            rest: rests[row],
        });
    }
    Ok(())
}

/// Adds buckets of one region that are coarser than asked for, and by how much.
fn whole_ones(
    batch: &Columns,
    resolution_log2: u32,
    is_in: &impl Fn(&Bucket, u32) -> bool,
    whole: &mut Vec<(u32, Bucket)>,
) -> Result<(), Error> {
    let mut logs = batch.u32("resolution_log2")?.iter();
    rows(batch, &mut |bucket| {
        let up = logs.next().map_or(0, |log2| log2.saturating_sub(resolution_log2));
        if up > 0 && is_in(bucket, up) {
            whole.push((up, *bucket));
        }
    })
}

/// Puts what took coarser buckets as a whole where finer ones have no row, the finest of them first: coarser ones are the
/// sums of finer ones as well, and add nothing then.
fn put_back(found: &mut Lines, mut whole: Vec<(u32, Bucket)>, within: impl Fn(u32) -> (i64, i64)) {
    whole.sort_by_key(|(up, bucket)| (bucket.line(), *up, bucket.number));
    for (up, coarse) in whole {
        let line = found.entry(coarse.line()).or_default();
        let (first, last) = within(coarse.location);
        let begin = (coarse.number << up).max(first);
        let end = ((coarse.number + 1) << up).min(last + 1);
        let place = line.partition_point(|bucket| bucket.number + bucket.n <= begin);
        let is_told = line.get(place).is_some_and(|bucket| bucket.number < end);
        if is_told || end <= begin {
            continue;
        }
        // The time of one bucket: visits that stand for several have gaps.
        let one = |(region, time): (u32, i64)| (region, time >> up);
        let regions = coarse.regions.map(|region| region.map(one));
        line.insert(place, Bucket { number: begin, n: end - begin, regions, ..coarse });
    }
}
