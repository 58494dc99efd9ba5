//! Visits that the recorder has counted together: unsuccessful polls of one call site, one after the other.
//!
//! The one idea: how long each of them took is gone, their sum and the time from the first to the last are
//! not. So wherever time is spread over buckets, that sum lies evenly between the two, and what it leaves
//! free belongs to whatever was open around the polls.

use marey_model::spool::Visits;

use super::clock::Clock;

/// Several visits in a row, times in ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folded {
    pub visits: u32,
    pub shortest: i64,
    pub longest: i64,
    pub squares: f64,
    pub stretch: Stretch,
    /// Times, ticks, and how many of the visits are thought to have taken each.
    pub durations: [(u64, u64); 3],
}

impl Folded {
    /// The visits that `visits` tells of, which began at `ticks`.
    pub(crate) fn new(clock: &Clock, ticks: u64, visits: &Visits) -> Self {
        let start = clock.ns(ticks);
        let after = |span: u64| clock.ns(ticks.saturating_add(span)).saturating_sub(start);
        let span = after(visits.span);
        // Damage may say anything.
        let part = |time: u64| after(time.min(visits.span));
        let rate = clock.span_ns(1.0);
        let number = u32::try_from(visits.number).unwrap_or(u32::MAX).min(u32::MAX - 1);
        Self {
            visits: number,
            durations: Visits { number: number.into(), ..*visits }.durations(),
            shortest: part(visits.shortest),
            longest: part(visits.longest),
            squares: if visits.squares.is_finite() { visits.squares.max(0.0) * rate * rate } else { 0.0 },
            stretch: Stretch { start, end: start.saturating_add(span), inside: part(visits.inside) },
        }
    }
}

/// A stretch of time, ns, of which a part lies inside a region; how it is spread is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub start: i64,
    pub end: i64,
    /// At most as long as the stretch.
    pub inside: i64,
}

impl Stretch {
    /// How much of it lies outside.
    pub(crate) fn gaps(&self) -> i64 {
        self.end - self.start - self.inside
    }

    /// How much of what lies inside falls to the time from `from` to `to`, both in the stretch. What falls to
    /// its pieces adds up to the whole.
    pub(crate) fn inside(&self, from: i64, to: i64) -> i64 {
        self.inside_before(to) - self.inside_before(from)
    }

    fn inside_before(&self, at: i64) -> i64 {
        let (whole, passed) = (i128::from(self.end - self.start), i128::from(at - self.start));
        if whole == i128::from(self.inside) {
            return at - self.start;
        }
        // At most `inside`, which is an i64.
        (passed * i128::from(self.inside) / whole) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::Stretch;

    #[test]
    fn pieces_add_up() {
        let stretch = Stretch { start: 100, end: 1_107, inside: 333 };
        let cuts = [100, 101, 150, 151, 700, 1_107];
        let pieces: Vec<i64> = cuts.windows(2).map(|cut| stretch.inside(cut[0], cut[1])).collect();
        assert_eq!(pieces.iter().sum::<i64>(), 333);
        for (piece, cut) in pieces.iter().zip(cuts.windows(2)) {
            assert!((0..=cut[1] - cut[0]).contains(piece), "{piece} of {cut:?}");
        }
        assert_eq!(stretch.gaps(), 674);
    }

    #[test]
    fn no_time_at_all() {
        let stretch = Stretch { start: 5, end: 5, inside: 0 };
        assert_eq!((stretch.inside(5, 5), stretch.gaps()), (0, 0));
    }
}
