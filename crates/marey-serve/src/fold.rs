//! From what is recorded to what a picture needs.
//!
//! The one idea: a picture of any window consists of pieces: visits that are long enough to be seen, and buckets of what
//! is too short. Where buckets are prepared in the archive they are taken from there, else visits are read and those that
//! are too short are put into buckets here. Either way a bucket tells the time of each region in it.
//!
//! What is deliberately absent: what it looks like.

use marey_analyze::{Span, Trace};
use marey_archive::{Bar, Bucket};
use marey_model::{CallPathId, LocationId, Nanos};

use crate::ranges;
use crate::run::Opened;
use crate::wire::{Trust, Window};

/// More visits than this are not read for one answer, unless it may take its time.
const MOST_VISITS: f64 = 150_000.0;

/// Nor more than this in any case: some seconds.
pub(crate) const MOST_VISITS_EXACTLY: f64 = 40_000_000.0;

/// A piece of a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Piece {
    /// The line.
    pub(crate) line: u32,
    /// Where it begins, ns.
    pub(crate) start: i64,
    /// How long it is, ns.
    pub(crate) duration: i64,
    /// Regions and their time in it, ns, the largest first.
    pub(crate) regions: [Option<(u32, i64)>; 3],
    /// Time of all others, ns.
    pub(crate) rest: i64,
    /// How many like it follow each other; its times are of each of them.
    pub(crate) n: i64,
    /// Whether it is one visit.
    pub(crate) is_visit: bool,
    /// Whether its times are cut to the window already. Those of visits and of prepared buckets are not.
    pub(crate) is_cut: bool,
}

/// Whose pieces one thread collects.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    window: Window,
    /// Whether there are more visits in all shares together than may be read.
    is_too_much: bool,
}

impl Share {
    /// About how many pieces it has, as far as that is room to be taken at once: a bucket has one on each line, unless there are
    /// fewer visits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    fn expected(&self, run: &Opened<'_>) -> usize {
        const MOST_AT_ONCE: f64 = 1e6;
        let window = &self.window;
        let buckets = (((window.to_ns - window.from_ns) >> window.resolution_log2) + 2).max(0);
        let lines =
            run.head.lines.iter().filter(|line| ranges::hold(&window.locations, line.location)).count();
        let visits = visits_in(run, (window.from_ns, window.to_ns), &window.locations, |_| true);
        let most = float(buckets) * float_of(lines);
        most.min(visits * 1.1 + 4.0 * float_of(lines)).clamp(0.0, MOST_AT_ONCE) as usize
    }
}

/// Hands out the pieces of a window to collectors, each made for some of its locations, about how many pieces it will get, and
/// fed on a thread of its own. They come back in the order of the window's locations; of one line all pieces went to the same, in the order of time unless
/// visits and buckets lie side by side.
pub(crate) fn collect<C: Send>(
    run: &Opened<'_>,
    window: &Window,
    new: impl Fn(usize) -> C + Sync,
    take: impl Fn(&mut C, &Piece) + Sync,
) -> (Trust, Vec<C>) {
    let collected = |share: &Share| {
        let mut collector = new(share.expected(run));
        let trust = pieces(run, share, &mut |piece| take(&mut collector, piece));
        (trust, collector)
    };
    let shares = shares(run, window);
    let mut all = Vec::with_capacity(shares.len());
    match &shares[..] {
        [only] => all.push(collected(only)),
        shares => std::thread::scope(|scope| {
            let threads: Vec<_> = shares.iter().map(|share| scope.spawn(|| collected(share))).collect();
            for thread in threads {
                // What goes wrong on a thread goes wrong here as if it had been done here.
                all.push(thread.join().unwrap_or_else(|why| std::panic::resume_unwind(why)));
            }
        }),
    }
    let mut whole = Trust { is_exact: true, coarsest_log2: window.resolution_log2, damage: Vec::new() };
    let collectors = all.into_iter().map(|(trust, collector)| {
        whole.is_exact &= trust.is_exact;
        whole.coarsest_log2 = whole.coarsest_log2.max(trust.coarsest_log2);
        // Two threads may meet the same damage.
        trust.damage.into_iter().for_each(|it| {
            if !whole.damage.contains(&it) {
                whole.damage.push(it);
            }
        });
        collector
    });
    let collectors = collectors.collect();
    (whole, collectors)
}

/// The shares of a window, each with about as many visits; one where there is little to do, or one processor.
fn shares(run: &Opened<'_>, window: &Window) -> Vec<Share> {
    /// Fewer visits than this are read sooner than a thread starts.
    const FEW: f64 = 10_000.0;
    /// More threads than this wait for the memory.
    const MOST_THREADS: usize = 8;
    let most = if window.exact { MOST_VISITS_EXACTLY } else { MOST_VISITS };
    let is_too_much = run.has_no_visits() || expected(run, window) > most;
    let span = (window.from_ns, window.to_ns);
    let visits = |location: u32| visits_in(run, span, &[(location, location + 1)], |_| true);
    let all = visits_in(run, span, &window.locations, |_| true);
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST_THREADS);
    let number = if all < FEW { 1 } else { processors };
    let known = u32::try_from(run.trace.locations().len()).unwrap_or(u32::MAX);
    let mut shares = Vec::new();
    let mut open = Window { locations: Vec::new(), ..window.clone() };
    let mut before = 0.0;
    for (first, behind) in &window.locations {
        for location in *first..(*behind).min(known) {
            match open.locations.last_mut() {
                Some(last) if last.1 == location => last.1 += 1,
                _ => open.locations.push((location, location + 1)),
            }
            before += visits(location);
            let filled = shares.len() + 1;
            if filled < number && before * float_of(number) >= all * float_of(filled) {
                let full = std::mem::replace(&mut open, Window { locations: Vec::new(), ..window.clone() });
                shares.push(Share { window: full, is_too_much });
            }
        }
    }
    if !open.locations.is_empty() || shares.is_empty() {
        shares.push(Share { window: open, is_too_much });
    }
    shares
}

/// Hands out the pieces of a share, those of one line in the order of time unless visits and buckets lie side by side.
fn pieces(run: &Opened<'_>, share: &Share, each: &mut dyn FnMut(&Piece)) -> Trust {
    let window = &share.window;
    let span = Span { from: Nanos(window.from_ns), to: Nanos(window.to_ns) };
    let mut trust = Trust { is_exact: true, coarsest_log2: window.resolution_log2, damage: Vec::new() };
    for (range, finest) in parts(run, window) {
        let log2 = match finest {
            Some(finest) if finest <= window.resolution_log2 => window.resolution_log2,
            Some(finest) if share.is_too_much => finest,
            _ => {
                let mut folder = Folder::new(run, window, each);
                if let Err(unread) = run.events.bars(span, range, &mut |bars| folder.take(bars)) {
                    trust.damage.extend(unread.0);
                }
                folder.finish();
                continue;
            }
        };
        trust.coarsest_log2 = trust.coarsest_log2.max(log2);
        // Those of one line follow each other.
        let mut last = None;
        let done = run.detail.buckets(run.archive, span, range, log2, &mut |bucket| {
            let key = bucket.line();
            let line = match last {
                Some((before, line)) if before == key => line,
                _ => {
                    let level = run.level_places.get(bucket.level as usize).copied().unwrap_or(0);
                    run.line(bucket.location, level, bucket.depth)
                }
            };
            last = Some((key, line));
            if let Some(line) = line {
                each(&of_bucket(line, bucket, log2));
            }
        });
        trust.damage.extend(done.err().map(|error| error.to_string()));
    }
    trust.is_exact = trust.coarsest_log2 == window.resolution_log2 && trust.damage.is_empty();
    trust
}

fn of_bucket(line: u32, bucket: &Bucket, log2: u32) -> Piece {
    Piece {
        line,
        start: bucket.number << log2,
        duration: 1 << log2,
        regions: bucket.regions,
        rest: bucket.rest,
        n: bucket.n,
        is_visit: false,
        is_cut: false,
    }
}

/// Ranges of locations of which prepared buckets are as fine, or that have none.
fn parts(run: &Opened<'_>, window: &Window) -> Vec<(std::ops::Range<u32>, Option<u32>)> {
    let known = u32::try_from(run.trace.locations().len()).unwrap_or(u32::MAX);
    let mut parts: Vec<(std::ops::Range<u32>, Option<u32>)> = Vec::new();
    for (first, behind) in &window.locations {
        for location in *first..(*behind).min(known) {
            // What can be answered from buckets of the window's resolution need not be told apart.
            let finest = run.detail.finest(location);
            let finest = finest.map(|finest| finest.max(window.resolution_log2));
            match parts.last_mut() {
                Some((range, same)) if range.end == location && *same == finest => range.end += 1,
                _ => parts.push((location..location + 1, finest)),
            }
        }
    }
    parts
}

/// How many visits there are to read that no prepared bucket stands for.
fn expected(run: &Opened<'_>, window: &Window) -> f64 {
    let is_read = |location: u32| run.detail.finest(location).is_none_or(|it| it > window.resolution_log2);
    visits_in(run, (window.from_ns, window.to_ns), &window.locations, is_read)
}

/// How many visits there are in a span, if each location has as many in one moment as in another.
pub(crate) fn visits_in(
    run: &Opened<'_>,
    (from_ns, to_ns): (i64, i64),
    locations: &[(u32, u32)],
    counts: impl Fn(u32) -> bool,
) -> f64 {
    let duration = float(run.trace.duration().0.max(1));
    let length = float((to_ns.min(run.trace.duration().0) - from_ns.max(0)).max(0));
    let mut visits = 0.0;
    for (first, behind) in locations {
        let known = run.visits.len().min(*behind as usize);
        for (location, number) in (*first..).zip(run.visits.get(*first as usize..known).unwrap_or_default()) {
            if counts(location) {
                visits += number * length / duration;
            }
        }
    }
    visits
}

/// Puts visits that are too short into buckets.
struct Folder<'f> {
    run: &'f Opened<'f>,
    log2: u32,
    /// Nothing outside of it is told.
    span: (i64, i64),
    each: &'f mut dyn FnMut(&Piece),
    /// The lines that were met: their buckets that are being filled, and those behind them.
    open: Vec<Line>,
    /// Their places in that list.
    slots: rustc_hash::FxHashMap<u32, usize>,
    /// Of the location whose visits were met last, the slot of each call path, so that it is looked up once and not for
    /// each visit. A path that was not met yet, or not on this location, has another location's number.
    known: Vec<(u32, Option<Slot>)>,
}

/// A line, and what is open on it.
struct Line {
    line: u32,
    open: [Filling; 2],
}

/// Where visits of a call path go.
#[derive(Clone, Copy)]
struct Slot {
    place: usize,
    region: u32,
}

/// A bucket that is being filled.
#[derive(Clone, Debug)]
struct Filling {
    /// Before the first it is none that there is, or the one behind it would not be numbered.
    number: i64,
    regions: Vec<(u32, i64)>,
}

impl<'f> Folder<'f> {
    fn new(run: &'f Opened<'_>, window: &Window, each: &'f mut dyn FnMut(&Piece)) -> Self {
        Self {
            run,
            log2: window.resolution_log2,
            span: (window.from_ns, window.to_ns),
            each,
            open: Vec::new(),
            slots: rustc_hash::FxHashMap::default(),
            known: vec![(u32::MAX, None); run.trace.call_paths().len()],
        }
    }

    fn take(&mut self, bars: &[Bar]) {
        for it in bars {
            let Some(slot) = self.slot(it.location, it.call_path) else { continue };
            let (start, end) = (it.start.0, it.end.0);
            if end - start >= 1 << self.log2 {
                let inside = end - start - it.between.0;
                (self.each)(&Piece {
                    line: self.open[slot.place].line,
                    start,
                    duration: end - start,
                    regions: [Some((slot.region, inside)), None, None],
                    rest: 0,
                    n: 1,
                    is_visit: true,
                    is_cut: false,
                });
            } else {
                self.fold(slot, (start.max(self.span.0), end.min(self.span.1)), it.between.0);
            }
        }
    }

    /// Where visits of a call path on a location go; `None` = that path leads nowhere.
    fn slot(&mut self, location: LocationId, path: CallPathId) -> Option<Slot> {
        let (known_of, slot) = *self.known.get(path.idx())?;
        if known_of == location.0 {
            return slot;
        }
        let line = self.run.line_of(location, path);
        let region = self.run.trace.call_paths().get(path.idx()).map(|path| path.region.0);
        let slot = line.zip(region).map(|(line, region)| {
            let place = *self.slots.entry(line).or_insert_with(|| {
                self.open.push(Line { line, open: [Filling::NONE, Filling::NONE] });
                self.open.len() - 1
            });
            Slot { place, region }
        });
        self.known[path.idx()] = (location.0, slot);
        slot
    }

    /// Adds a visit that is shorter than a bucket, so that it lies in one or two.
    fn fold(&mut self, slot: Slot, (start, end): (i64, i64), between: i64) {
        let first = start >> self.log2;
        let border = (first + 1) << self.log2;
        let Line { line, open } = &mut self.open[slot.place];
        if open[0].number != first {
            Self::leave(*line, self.log2, &mut open[0], self.each);
            if open[1].number == first {
                open.swap(0, 1);
            } else {
                Self::leave(*line, self.log2, &mut open[1], self.each);
                open[0].number = first;
            }
            open[1].number = first + 1;
            open[1].regions.clear();
        }
        // Of what lies between visits that are told as one nobody knows where; it is taken to be spread evenly.
        let inside = |length: i64| {
            if between > 0 && end > start {
                length - (between.min(end - start) * length) / (end - start)
            } else {
                length
            }
        };
        open[0].add(slot.region, inside(end.min(border) - start));
        if end > border {
            open[1].add(slot.region, inside(end - border));
        }
    }

    fn finish(mut self) {
        self.open.sort_unstable_by_key(|line| line.line);
        for Line { line, open } in &mut self.open {
            open.iter_mut().for_each(|filling| Self::leave(*line, self.log2, filling, self.each));
        }
    }

    /// Tells a bucket that is full, and empties it.
    fn leave(line: u32, log2: u32, filling: &mut Filling, each: &mut dyn FnMut(&Piece)) {
        if filling.regions.is_empty() {
            return;
        }
        let regions = &mut filling.regions;
        regions.sort_unstable_by_key(|(region, time)| (std::cmp::Reverse(*time), *region));
        let rest = regions.iter().skip(3).map(|(_, time)| time).sum();
        each(&Piece {
            line,
            start: filling.number << log2,
            duration: 1 << log2,
            regions: std::array::from_fn(|place| regions.get(place).copied()),
            rest,
            n: 1,
            is_visit: false,
            is_cut: true,
        });
        regions.clear();
    }
}

impl Filling {
    const NONE: Self = Self { number: i64::MIN, regions: Vec::new() };

    fn add(&mut self, region: u32, time: i64) {
        match self.regions.iter_mut().find(|(it, _)| *it == region) {
            Some((_, sum)) => *sum += time,
            None => self.regions.push((region, time)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of threads")]
fn float_of(number: usize) -> f64 {
    number as f64
}

/// For drawing and adding up; a double has 53 bits, 104 days of ns.
#[expect(clippy::cast_precision_loss, reason = "more than 53 bits are no time of a run")]
pub(crate) fn float(number: i64) -> f64 {
    number as f64
}

/// The same of what is never negative: numbers of visits, sizes.
#[expect(clippy::cast_precision_loss, reason = "16 digits are enough")]
pub(crate) fn float_u64(number: u64) -> f64 {
    number as f64
}
