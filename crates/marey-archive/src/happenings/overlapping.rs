//! The visits that a window of a picture shows.
//!
//! The one idea: what lies across slabs is kept in memory, so only slabs that the window touches are read, and of these
//! only the pages that may hold one of its locations.
//!
//! What is deliberately absent: pictures of windows with more visits than can be shown; [`crate::Detail`] has these.

use std::ops::Range;

use marey_analyze::{Span, Unread, Visit};

use super::{Events, order, unread};
use crate::Filter;

impl Events<'_> {
    /// Hands out all visits of some locations, given by number, that overlap a span: those that have a length and lie in it for
    /// some of it, and those without one in it. On each location they come in the order of (start, depth). The cost grows
    /// with the slabs that the span touches, of which each is read from its beginning.
    ///
    /// # Errors
    /// What could not be read; the rest has been handed out.
    pub fn overlapping(
        &self,
        span: Span,
        locations: Range<u32>,
        each: &mut dyn FnMut(&[Visit]),
    ) -> Result<(), Unread> {
        let is_meant = |visit: &Visit| {
            let it = &visit.interval;
            let overlaps = it.start < span.to && span.from < it.end;
            let is_instant = it.start == it.end && span.from <= it.start && it.start < span.to;
            locations.contains(&it.location.0) && (overlaps || is_instant)
        };
        let filters = [
            Filter { column: "location", range: i64::from(locations.start)..i64::from(locations.end) },
            Filter { column: "start", range: i64::MIN..span.to.0 },
        ];
        let mut damage = Vec::new();
        let mut earlier: Vec<Visit> = Vec::new();
        for (slab, (begin, number)) in self.slabs.iter().enumerate() {
            if slab > 0 && span.to <= *begin {
                break;
            }
            earlier.extend(self.long[slab].iter().filter(|visit| is_meant(visit)));
            let is_over = self.slabs.get(slab + 1).is_some_and(|(next, _)| *next <= span.from);
            if is_over {
                continue;
            }
            earlier.sort_by_key(|visit| order(&visit.interval));
            let mut long = std::mem::take(&mut earlier).into_iter().peekable();
            let mut kept = Vec::new();
            for part in self.parts("intervals", *number) {
                let done = self.read_some_intervals(part, &filters, |rows: &[Visit]| {
                    kept.clear();
                    for row in rows.iter().filter(|row| is_meant(row)) {
                        while let Some(before) =
                            long.next_if(|before| order(&before.interval) < order(&row.interval))
                        {
                            kept.push(before);
                        }
                        kept.push(*row);
                    }
                    each(&kept);
                });
                damage.extend(done.err());
            }
            let rest: Vec<Visit> = long.collect();
            each(&rest);
        }
        unread(&damage)
    }
}
