//! Which elements an access means, as sequences of subscripts.
//!
//! The one idea: a section is a product of sequences, one for each dimension, so how many of its elements lie in a box is a
//! product of numbers that a division gives. What steps through memory in a way that no product has is gone through one by
//! one, so many elements in all ([`OneByOne`]).
//!
//! Deliberately absent: guesses. What is not told one by one, such as a vector of subscripts, is not taken apart.

/// One dimension of what an access means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// From the offset of the access on, so many elements of memory apart.
    Elements {
        /// How far apart.
        stride: i64,
        /// How many.
        count: u64,
    },
    /// By subscripts as the source has them.
    Subscripts {
        /// The first.
        start: i64,
        /// How far apart.
        stride: i64,
        /// How many.
        count: u64,
    },
    /// By a list of subscripts, of which no more is told.
    Vector {
        /// The least.
        least: i64,
        /// The greatest.
        greatest: i64,
        /// How many, each as often as it is listed.
        count: u64,
    },
    /// So many somewhere in the array: no more is told.
    Anywhere {
        /// How many, each as often as it is meant.
        count: u64,
    },
}

impl Range {
    /// How many subscripts.
    pub const fn count(self) -> u64 {
        match self {
            Self::Elements { count, .. }
            | Self::Subscripts { count, .. }
            | Self::Vector { count, .. }
            | Self::Anywhere { count } => count,
        }
    }
}

/// The elements that an access means.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'r> {
    /// Bounds of the part of the array that it goes to, inclusive.
    pub bounds: &'r [(i64, i64)],
    /// Size of an element, bytes; 0 = unknown.
    pub element_bytes: u64,
    /// What was moved, bytes.
    pub bytes: u64,
    /// Distance of the first element from the beginning, bytes.
    pub offset: i64,
    /// Which elements; none = the one, or they are not told.
    pub ranges: &'r [Range],
}

impl Elements<'_> {
    /// How many there are, each as often as it is meant; of components those that these are part of.
    pub fn number(&self) -> u64 {
        match self.of_components().as_deref().unwrap_or(self.ranges) {
            // A collective operation moves all, and does not say which.
            [] => self.bytes.checked_div(self.element_bytes).unwrap_or(1).max(1),
            ranges => ranges.iter().map(|range| range.count()).fold(1, u64::saturating_mul),
        }
    }

    /// The same ranges in elements of the array, where they are told in elements of a component: what stays within an element
    /// means that one alone. `None` where they are not told so, or where steps are no whole ones of the array.
    fn of_components(&self) -> Option<Vec<Range>> {
        let number = self.ranges.iter().map(|range| range.count()).fold(1, u64::saturating_mul);
        if self.is_by_subscripts() || self.ranges.is_empty() || number == 0 {
            return None;
        }
        let own = self.bytes.checked_div(number).filter(|own| 0 < *own && *own < self.element_bytes)?;
        let (own, whole) = (i64::try_from(own).ok()?, i64::try_from(self.element_bytes).ok()?);
        // Where the least and the greatest within an element begin.
        let at = self.offset.checked_rem_euclid(whole)?;
        let mut within = (at, at);
        let mut ranges = Vec::new();
        for range in self.ranges {
            let Range::Elements { stride, count } = *range else { return None };
            let step = stride.checked_mul(own)?;
            if count > 1 && step % whole == 0 {
                ranges.push(Range::Elements { stride: step / whole, count });
            } else {
                let reach = step.checked_mul(i64::try_from(count.saturating_sub(1)).ok()?)?;
                within = (within.0.checked_add(reach.min(0))?, within.1.checked_add(reach.max(0))?);
            }
        }
        (0 <= within.0 && within.1.checked_add(own)? <= whole).then_some(ranges)
    }

    /// Whether they are told by subscripts of the source.
    fn is_by_subscripts(&self) -> bool {
        self.ranges.iter().any(|range| !matches!(range, Range::Elements { .. }))
    }

    /// Subscripts of each dimension, if they are told so; of components it is not known of which array they are.
    pub(crate) fn by_subscripts(&self) -> Option<&[Range]> {
        (self.is_by_subscripts() && self.ranges.len() == self.bounds.len()).then_some(self.ranges)
    }

    /// What they are made of; `None` = they are not told.
    pub(crate) fn sequences(&self) -> Option<Sequences> {
        if self.is_by_subscripts() {
            let told = |range: &Range| match *range {
                Range::Subscripts { start, stride, count } => Some(Sequence { start, step: stride, count }),
                _ => None,
            };
            return self
                .by_subscripts()?
                .iter()
                .map(told)
                .collect::<Option<Vec<_>>>()
                .map(Sequences::Product);
        }
        let of_components = self.of_components();
        let ranges = of_components.as_deref().unwrap_or(self.ranges);
        let is_told = match self.ranges {
            [] => self.bytes <= self.element_bytes,
            _ => of_components.is_some() || self.bytes == self.number().saturating_mul(self.element_bytes),
        };
        let size = i64::try_from(self.element_bytes).ok().filter(|size| *size > 0 && is_told)?;
        let first = self.offset.checked_div(size)?;
        let starts = subscripts(self.bounds, first)?;
        let mut all: Vec<Sequence> =
            starts.iter().map(|start| Sequence { start: *start, step: 1, count: 1 }).collect();
        for range in ranges {
            let Range::Elements { stride, count } = *range else { continue };
            if count == 1 {
                continue;
            }
            let strides = strides(self.bounds);
            // The slowest dimension that such steps are whole steps of.
            let fits = |place: &usize| stride != 0 && strides[*place] != 0 && stride % strides[*place] == 0;
            let Some(place) = (0..all.len()).rev().find(fits) else { return Some(Sequences::Offsets(first)) };
            let next = Sequence { step: stride / strides[place], count, ..all[place] };
            let ends = [next.at(0), next.at(count.saturating_sub(1))];
            let (lower, upper) = self.bounds[place];
            let is_inside = ends.iter().all(|end| end.is_some_and(|end| lower <= end && end <= upper));
            // One that goes on in the next column is no product.
            if !is_inside || all[place].count != 1 {
                return Some(Sequences::Offsets(first));
            }
            all[place] = next;
        }
        Some(Sequences::Product(all))
    }

    /// Goes through those that are in steps of memory from an element on, by their subscripts; those beyond the bounds have
    /// none.
    pub(crate) fn each_from(&self, first: i64, act: &mut dyn FnMut(&[i64])) {
        if self.number() == 0 {
            return;
        }
        let of_components = self.of_components();
        let ranges = of_components.as_deref().unwrap_or(self.ranges);
        let mut at = vec![0_u64; ranges.len()];
        loop {
            let steps = at.iter().zip(ranges).map(|(number, range)| match range {
                Range::Elements { stride, .. } => {
                    stride.saturating_mul(i64::try_from(*number).unwrap_or(i64::MAX))
                }
                _ => 0,
            });
            let element = steps.fold(first, i64::saturating_add);
            if let Some(subscripts) = subscripts(self.bounds, element) {
                act(&subscripts);
            }
            // Counts on like a mileage counter.
            let Some(next) = (0..at.len()).find(|place| at[*place] + 1 < ranges[*place].count()) else {
                return;
            };
            at[next] += 1;
            at[..next].fill(0);
        }
    }
}

/// Elements that may still be gone through one by one: 2²⁴ in all, a fraction of a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneByOne(u64);

impl Default for OneByOne {
    fn default() -> Self {
        Self(1 << 24)
    }
}

impl OneByOne {
    /// Whether so many more may be.
    pub(crate) fn may(&mut self, number: u64) -> bool {
        let left = self.0.checked_sub(number);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Subscripts of one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sequence {
    pub(crate) start: i64,
    pub(crate) step: i64,
    pub(crate) count: u64,
}

impl Sequence {
    /// The subscript of this number, from 0; `None` = beyond all integers.
    pub(crate) fn at(self, number: u64) -> Option<i64> {
        self.start.checked_add(self.step.checked_mul(i64::try_from(number).ok()?)?)
    }

    /// How many of them lie from a subscript to another one, both included.
    pub(crate) fn within(self, lower: i128, upper: i128) -> u64 {
        let (start, step) = (i128::from(self.start), i128::from(self.step));
        let count = i128::from(self.count);
        if step == 0 || count == 0 {
            return if lower <= start && start <= upper { self.count } else { 0 };
        }
        // The same ones, the least first.
        let last = start.saturating_add(step.saturating_mul(count - 1));
        let (least, step) = (start.min(last), step.abs());
        // How many are less than a value: then the difference of two is what lies between.
        let below = |value: i128| {
            value.saturating_sub(least).saturating_add(step - 1).div_euclid(step).clamp(0, count)
        };
        u64::try_from(below(upper + 1) - below(lower)).unwrap_or(0)
    }
}

/// The elements of an access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sequences {
    /// All combinations of these, one for each dimension of the array.
    Product(Vec<Sequence>),
    /// From an element on, in steps of memory.
    Offsets(i64),
}

/// Elements of memory from one to the next of each dimension.
fn strides(bounds: &[(i64, i64)]) -> Vec<i64> {
    let mut stride = 1_i64;
    let next = |(lower, upper): &(i64, i64)| {
        let own = stride;
        stride = stride.saturating_mul(upper.saturating_sub(*lower).saturating_add(1).max(0));
        own
    };
    bounds.iter().map(next).collect()
}

/// The subscripts of an element, by its place in memory; `None` = it is not inside.
fn subscripts(bounds: &[(i64, i64)], element: i64) -> Option<Vec<i64>> {
    let mut rest = element;
    if element < 0 {
        return None;
    }
    let mut found = Vec::with_capacity(bounds.len());
    for (lower, upper) in bounds {
        let extent = upper.checked_sub(*lower)?.checked_add(1).filter(|extent| *extent > 0)?;
        found.push(lower.checked_add(rest % extent)?);
        rest /= extent;
    }
    (rest == 0).then_some(found)
}
