//! The visits of a region that begin in a span, and what they have of a measure.

use marey_analyze::{Interval, Span, Visit};
use marey_model::Nanos;

use super::visit::region_of;
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

/// Hands out the visits of a sample that have a value.
pub(super) fn read(run: &Opened<'_>, sample: &Sample, each: &mut dyn FnMut(&Interval, u64)) -> Read {
    let span = Span { from: Nanos(sample.from_ns), to: Nanos(sample.to_ns) };
    let mut done = Read::default();
    for (first, behind) in &sample.locations {
        let read = run.events.overlapping(span, *first..*behind, &mut |visits| {
            for visit in visits {
                let it = &visit.interval;
                let is_meant = sample.from_ns <= it.start.0
                    && it.start.0 < sample.to_ns
                    && region_of(run, it.call_path) == Some(sample.region);
                if !is_meant {
                    continue;
                }
                if it.visits != 1 {
                    done.untold += u64::from(it.visits);
                } else if let Some(value) = value(visit, sample.of) {
                    each(it, value);
                }
            }
        });
        done.damage.extend(read.err().into_iter().flat_map(|unread| unread.0));
    }
    done
}

fn value(visit: &Visit, of: Measure) -> Option<u64> {
    match of {
        Measure::Duration => Some((visit.interval.end - visit.interval.start).0.max(0).unsigned_abs()),
        Measure::Bytes => visit.bytes,
    }
}
