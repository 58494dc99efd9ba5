//! Exact sections, and how often each is accessed: `u(1:100, j), j = 1…50`, 50 times.
//!
//! The one idea: a loop over an array accesses sections that are alike but for where they begin. So sections of one statement
//! that have the same numbers of elements and steps are one row, which keeps the least and the greatest first subscript of
//! each dimension and the greatest step that leads to all of them: constant space for each shape, whatever the number of
//! accesses. Source: the communicated array sections that Fortran D compilers told Rice's tools of.
//!
//! Deliberately absent: the order of accesses, and which of the subscripts between the least and the greatest were first ones.

use std::collections::BTreeMap;

use marey_model::{AccessKind, CallPathId, NounId};

use crate::arrays::{AccessSum, Said, Statement};
use crate::paths::Paths;
use crate::sequences::{Range, Sequences};
use crate::single_access::SingleAccess;
use crate::trace::Trace;

/// One dimension of sections that are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SectionDimension {
    /// How many subscripts each section has.
    pub count: u64,
    /// How far each is from the next; `None` = a vector of subscripts.
    pub stride: Option<i64>,
    /// Least and greatest first subscript; of vectors the least and the greatest subscript of all.
    pub first: (i64, i64),
    /// All first subscripts are a multiple of this from the least; 0 = there is one only, or vectors.
    pub step: u64,
}

impl SectionDimension {
    fn add(&mut self, other: Self) {
        let (one, two) = (self.first, other.first);
        if self.stride.is_some() {
            self.step = gcd(gcd(self.step, other.step), one.0.abs_diff(two.0));
        }
        self.first = (one.0.min(two.0), one.1.max(two.1));
    }
}

fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Accesses of a statement to sections of an array that are alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SectionRow {
    /// The array.
    pub array: NounId,
    /// What was done, and where; its sum is that of these accesses.
    pub statement: Statement,
    /// The section, the dimension of elements that lie side by side first; `None` = it is not told, or no section of the array.
    pub dimensions: Option<Vec<SectionDimension>>,
    /// Elements that these accesses mean, in all.
    pub elements: u64,
}

/// Numbers and steps of each dimension.
type Shape = Option<Vec<(u64, Option<i64>)>>;

#[derive(Clone, Debug)]
struct Alike {
    sum: AccessSum,
    elements: u64,
    dimensions: Option<Vec<SectionDimension>>,
    call_paths: Vec<CallPathId>,
}

impl Alike {
    fn add(&mut self, other: &Self) {
        self.sum = self.sum.with(other.sum);
        self.elements = self.elements.saturating_add(other.elements);
        for (own, more) in self.dimensions.iter_mut().flatten().zip(other.dimensions.iter().flatten()) {
            own.add(*more);
        }
    }
}

/// Gathers accesses into rows.
#[derive(Clone, Debug, Default)]
pub struct SectionRows(BTreeMap<(NounId, Option<CallPathId>, AccessKind, Shape), Alike>);

impl SectionRows {
    /// Adds an access to an array of this name. Space: constant for each call path and shape.
    pub fn add(&mut self, array: NounId, access: &SingleAccess<'_>) {
        let dimensions = dimensions(access);
        let shape = dimensions.as_ref().map(|all| all.iter().map(|it| (it.count, it.stride)).collect());
        let sum = AccessSum { accesses: 1, bytes: access.elements.bytes, time: access.time() };
        let one = Alike { sum, elements: access.elements.number(), dimensions, call_paths: Vec::new() };
        match self.0.entry((array, access.call_path, access.kind, shape)) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(one);
            }
            std::collections::btree_map::Entry::Occupied(mut known) => known.get_mut().add(&one),
        }
    }

    /// One row for each statement, array and shape, that with most time first, in a run whose call paths these are.
    pub fn rows(self, trace: &dyn Trace) -> Vec<SectionRow> {
        let paths = Paths::new(trace);
        let mut merged: BTreeMap<(NounId, Said, Shape), Alike> = BTreeMap::new();
        for ((array, call_path, kind, shape), alike) in self.0 {
            let key = (array, Said::of(trace, &paths, call_path, kind), shape);
            let all = match merged.entry(key) {
                std::collections::btree_map::Entry::Vacant(place) => place.insert(alike),
                std::collections::btree_map::Entry::Occupied(known) => {
                    let all = known.into_mut();
                    all.add(&alike);
                    all
                }
            };
            all.call_paths.extend(call_path);
        }
        let row = |((array, said, _), alike): ((NounId, Said, Shape), Alike)| {
            let mut statement = said.statement();
            statement.sum = alike.sum;
            statement.call_paths.extend(alike.call_paths);
            SectionRow { array, statement, dimensions: alike.dimensions, elements: alike.elements }
        };
        let mut rows: Vec<SectionRow> = merged.into_iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.statement.sum.time));
        rows
    }
}

fn dimensions(access: &SingleAccess<'_>) -> Option<Vec<SectionDimension>> {
    let exact = |count: u64, stride: i64, start: i64| SectionDimension {
        count,
        // Of one subscript there is no next: whatever stands there must not tell rows apart.
        stride: Some(if count <= 1 { 1 } else { stride }),
        // Nor a first one of none.
        first: if count == 0 { (0, 0) } else { (start, start) },
        step: 0,
    };
    match access.elements.sequences() {
        Some(Sequences::Product(all)) => {
            Some(all.iter().map(|it| exact(it.count, it.step, it.start)).collect())
        }
        Some(Sequences::Offsets(_)) => None,
        None => {
            let ranges = access.elements.by_subscripts()?;
            let told = |range: &Range| match *range {
                Range::Subscripts { start, stride, count } => Some(exact(count, stride, start)),
                Range::Vector { least, greatest, count } => {
                    Some(SectionDimension { count, stride: None, first: (least, greatest), step: 0 })
                }
                Range::Elements { .. } | Range::Anywhere { .. } => None,
            };
            ranges.iter().map(told).collect()
        }
    }
}
