//! The visits that a window of a picture shows.
//!
//! The one idea: what lies across slabs is kept in memory, so only slabs that the window touches are read, and of these
//! only the pages that may hold a visit of one of its locations which overlaps the window.
//!
//! What is deliberately absent: pictures of windows with more visits than can be shown; [`crate::Detail`] has these.

use std::ops::Range;

use marey_analyze::{Span, Unread, Visit};

use super::{Bar, Events, Row, unread};
use crate::Filter;

impl Events<'_> {
    /// Hands out all visits of some locations, given by number, that overlap a span: those that have a length and lie in it for
    /// some of it, and those without one in it. On each location they come in the order of (start, depth). The cost grows
    /// with the pages that such visits lie on, which are as many as those that overlap the span and one or two for each
    /// location, and those on which something long began before it.
    ///
    /// # Errors
    /// What could not be read; the rest has been handed out.
    pub fn overlapping(
        &self,
        span: Span,
        locations: Range<u32>,
        each: &mut dyn FnMut(&[Visit]),
    ) -> Result<(), Unread> {
        self.rows_overlapping(span, locations, each)
    }

    /// The same of what a picture shows of them, for less; those of a location that begin at the same instant come in any
    /// order.
    ///
    /// # Errors
    /// What could not be read; the rest has been handed out.
    pub fn bars(
        &self,
        span: Span,
        locations: Range<u32>,
        each: &mut dyn FnMut(&[Bar]),
    ) -> Result<(), Unread> {
        self.rows_overlapping(span, locations, each)
    }

    fn rows_overlapping<R: Row>(
        &self,
        span: Span,
        locations: Range<u32>,
        each: &mut dyn FnMut(&[R]),
    ) -> Result<(), Unread> {
        let is_meant = |row: &R| {
            let (location, start, end) = row.life();
            let overlaps = start < span.to && span.from < end;
            let is_instant = start == end && span.from <= start && start < span.to;
            locations.contains(&location.0) && (overlaps || is_instant)
        };
        let filters = [
            Filter { column: "location", range: i64::from(locations.start)..i64::from(locations.end) },
            Filter { column: "start", range: i64::MIN..span.to.0 },
            Filter { column: "end", range: span.from.0..i64::MAX },
        ];
        let mut damage = Vec::new();
        let mut earlier: Vec<R> = Vec::new();
        for (slab, (begin, number)) in self.slabs.iter().enumerate() {
            if slab > 0 && span.to <= *begin {
                break;
            }
            earlier.extend(self.long_of(slab, span, &locations).map(R::from).filter(is_meant));
            let is_over = self.slabs.get(slab + 1).is_some_and(|(next, _)| *next <= span.from);
            if is_over {
                continue;
            }
            earlier.sort_by_key(Row::order);
            let mut long = std::mem::take(&mut earlier).into_iter().peekable();
            let mut kept = Vec::new();
            for part in self.parts("intervals", *number) {
                let done = self.read_some_intervals(part, &filters, |rows: &[R]| {
                    let next = long
                        .peek()
                        .filter(|before| rows.last().is_some_and(|it| before.order() < it.order()));
                    // Mostly nothing that is long begins among them, and none that is not meant passes.
                    if next.is_none() && rows.iter().all(&is_meant) {
                        return each(rows);
                    }
                    kept.clear();
                    for row in rows.iter().filter(|row| is_meant(row)) {
                        while let Some(before) = long.next_if(|before| before.order() < row.order()) {
                            kept.push(before);
                        }
                        kept.push(*row);
                    }
                    each(&kept);
                });
                damage.extend(done.err());
            }
            let rest: Vec<R> = long.collect();
            each(&rest);
        }
        unread(&damage)
    }

    /// Those of some locations that begin in a slab, lie across its end, and may not have ended before a span: nothing where
    /// all have, which is so of most slabs before it.
    fn long_of(
        &self,
        slab: usize,
        span: Span,
        locations: &Range<u32>,
    ) -> impl Iterator<Item = Visit> + use<'_> {
        let long = if self.long_until[slab] < span.from { &[] } else { &self.long[slab][..] };
        let place = |location: u32| long.partition_point(|it| it.interval.location.0 < location);
        let first = place(locations.start);
        long[first..place(locations.end).max(first)].iter().copied()
    }
}
