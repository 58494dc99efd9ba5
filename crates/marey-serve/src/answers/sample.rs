//! The visits of some regions that begin in a span, and what they have of a measure.

use marey_analyze::{Interval, Span, Trace, Visit};
use marey_model::Nanos;

use crate::fold::{MOST_VISITS_EXACTLY, visits_in};
use crate::run::Opened;
use crate::wire::{Measure, Sample};

/// How a sample was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Visits that are only known as several in a row.
    pub(super) untold: u64,
    pub(super) damage: Vec<String>,
}

/// Whether there are so many visits to look through that it would take too long, or they were left out of the run.
pub(super) fn is_too_large(run: &Opened<'_>, sample: &Sample) -> bool {
    run.has_no_visits()
        || visits_in(run, (sample.from_ns, sample.to_ns), &sample.locations, |_| true) > MOST_VISITS_EXACTLY
}

/// Hands out the visits of a sample that have a value, each with the place of its region among those of the sample.
pub(super) fn read(run: &Opened<'_>, sample: &Sample, each: &mut dyn FnMut(&Interval, usize, u64)) -> Read {
    let places: Vec<Option<usize>> =
        run.trace.call_paths().iter().map(|path| place_of(sample, path.region.0)).collect();
    let span = Span { from: Nanos(sample.from_ns), to: Nanos(sample.to_ns) };
    let mut done = Read::default();
    for (first, behind) in &sample.locations {
        let read = run.events.overlapping(span, *first..*behind, &mut |visits| {
            for visit in visits {
                let it = &visit.interval;
                let Some(place) = places.get(it.call_path.idx()).copied().flatten() else { continue };
                if !(sample.from_ns..sample.to_ns).contains(&it.start.0) {
                    continue;
                }
                if it.visits != 1 {
                    done.untold += u64::from(it.visits);
                } else if let Some(value) = value(visit, sample.of) {
                    each(it, place, value);
                }
            }
        });
        done.damage.extend(read.err().into_iter().flat_map(|unread| unread.0));
    }
    done
}

/// Which of the sample's regions it is.
pub(super) fn place_of(sample: &Sample, region: u32) -> Option<usize> {
    sample.regions.iter().position(|other| *other == region)
}

fn value(visit: &Visit, of: Measure) -> Option<u64> {
    match of {
        Measure::Duration => Some((visit.interval.end - visit.interval.start).0.max(0).unsigned_abs()),
        Measure::Bytes => visit.bytes,
    }
}
