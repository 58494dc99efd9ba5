//! The lines that bounds leave possible.
//!
//! The one idea: what has to be added to a clock is, for a while, a line, and all lines within the
//! bounds are a convex polygon in the plane of their values at both ends of that while. The middle of
//! the polygon's bounding box lies within it, so it contradicts no bound; and what the polygon spans
//! at a time is what the correction can be then.

/// Clocks that differ more in speed are not believed: the kernel steers each by 500 ppm at most.
pub(crate) const MOST_DRIFT: f64 = 1e-3;
/// Largest offset between two clocks that is looked at, from where bounds say it lies, ns.
const FARTHEST: f64 = 1e13;
/// Times are rounded to ns at both ends.
const ROUNDING: f64 = 1.0;

/// A bound on what has to be added to a clock, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    /// When, on the clock itself, ns.
    pub time: f64,
    pub value: f64,
    /// The same instant on the clock that the bound comes from: what tells the order where the clock
    /// itself stood still, for it had been put back.
    pub stamp: f64,
    pub is_lower: bool,
}

/// Lines, as their values at both ends of a span of time.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    span: (f64, f64),
    /// Added to both coordinates of `corners`.
    shift: f64,
    corners: Vec<(f64, f64)>,
}

/// A line by its values at both ends of a span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub span: (f64, f64),
    pub ends: (f64, f64),
}

impl Line {
    pub(crate) fn slope(&self) -> f64 {
        (self.ends.1 - self.ends.0) / (self.span.1 - self.span.0)
    }

    pub(crate) fn at(&self, time: f64) -> f64 {
        self.ends.0 + self.slope() * (time - self.span.0)
    }
}

impl Region {
    /// All lines that are believed, from somewhere near `shift`.
    pub(crate) fn all(span: (f64, f64), shift: f64) -> Self {
        let drift = MOST_DRIFT * (span.1 - span.0);
        let far = FARTHEST;
        let corners =
            vec![(-far, -far - drift), (far, far - drift), (far, far + drift), (-far, -far + drift)];
        Self { span, shift, corners }
    }

    /// Lines within `bounds`, each loosened by `slack`. `None` if there is no such line.
    pub(crate) fn within(span: (f64, f64), bounds: &[Bound], slack: f64) -> Option<Self> {
        let values = |is_lower| bounds.iter().filter(move |bound| bound.is_lower == is_lower);
        let most = values(true).map(|bound| bound.value).fold(f64::NEG_INFINITY, f64::max);
        let least = values(false).map(|bound| bound.value).fold(f64::INFINITY, f64::min);
        let shift = match (most.is_finite(), least.is_finite()) {
            (true, true) => f64::midpoint(most, least),
            (true, false) => most,
            (false, true) => least,
            (false, false) => 0.0,
        };
        let mut region = Self::all(span, shift);
        bounds.iter().all(|bound| region.keep(bound, slack)).then_some(region)
    }

    /// Keeps what a bound allows that is loosened by `slack`; false if nothing is left.
    #[must_use]
    pub(crate) fn keep(&mut self, bound: &Bound, slack: f64) -> bool {
        let at = (bound.time - self.span.0) / (self.span.1 - self.span.0);
        let sign = if bound.is_lower { 1.0 } else { -1.0 };
        let least = sign * (bound.value - self.shift) - slack - ROUNDING;
        self.cut((sign * (1.0 - at), sign * at), least);
        !self.corners.is_empty()
    }

    /// Keeps what is at least `bound` in direction `normal`.
    fn cut(&mut self, normal: (f64, f64), bound: f64) {
        let above = |corner: &(f64, f64)| normal.0 * corner.0 + normal.1 * corner.1 - bound;
        if self.corners.iter().all(|corner| above(corner) >= 0.0) {
            return;
        }
        let mut kept = Vec::with_capacity(self.corners.len() + 1);
        for (idx, corner) in self.corners.iter().enumerate() {
            let next = &self.corners[(idx + 1) % self.corners.len()];
            let (here, there) = (above(corner), above(next));
            if here >= 0.0 {
                kept.push(*corner);
            }
            if (here >= 0.0) != (there >= 0.0) {
                let share = here / (here - there);
                let between = |a: f64, b: f64| a + (b - a) * share;
                kept.push((between(corner.0, next.0), between(corner.1, next.1)));
            }
        }
        self.corners = kept;
    }

    /// The least and greatest of a coordinate.
    fn range(&self, of: impl Fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let all = self.corners.iter().map(of);
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    }

    /// The least and greatest value at a time, within the span or beyond.
    pub(crate) fn values(&self, time: f64) -> (f64, f64) {
        let at = (time - self.span.0) / (self.span.1 - self.span.0);
        let (low, high) = self.range(|corner| corner.0 + (corner.1 - corner.0) * at);
        (self.shift + low, self.shift + high)
    }

    /// The line that can be off least; `None` if the bounds leave one side open.
    pub(crate) fn middle(&self) -> Option<Line> {
        let (begin, end) = (self.range(|corner| corner.0), self.range(|corner| corner.1));
        let farthest = begin.0.abs().max(begin.1.abs()).max(end.0.abs()).max(end.1.abs());
        let middle = |range: (f64, f64)| self.shift + f64::midpoint(range.0, range.1);
        (farthest <= FARTHEST / 2.0).then(|| Line { span: self.span, ends: (middle(begin), middle(end)) })
    }

    /// Where bounds leave one side open: the line nearest to them, as if the quickest messages had
    /// taken no time. Its error is not known.
    pub(crate) fn edge(&self, is_above: bool) -> Line {
        let sign = if is_above { 1.0 } else { -1.0 };
        let height = |corner: &(f64, f64)| (corner.0 + corner.1) * sign;
        let nearest = self.corners.iter().min_by(|a, b| height(a).total_cmp(&height(b)));
        let &(begin, end) = nearest.expect("a region has corners");
        let limit = MOST_DRIFT * (self.span.1 - self.span.0) * 0.999;
        // A slope that nothing but our own limit keeps from growing says nothing.
        let ends = if (end - begin).abs() < limit { (begin, end) } else { (0.0, 0.0) };
        // What bounds were loosened by, and the rounding of the corrected clock.
        let apart = self.shift + sign * 2.0 * ROUNDING;
        Line { span: self.span, ends: (ends.0 + apart, ends.1 + apart) }
    }
}
