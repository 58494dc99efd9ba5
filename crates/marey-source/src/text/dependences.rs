//! Why an image needs elements that another one has: where they are written before they are read.
//!
//! The one idea: between a reference to another image and each reference to the same array in the same procedure it is asked
//! which loop around both lies between writing and reading, and how many of its iterations. So a halo is seen as what it is:
//! written at one line in one step of time, read at another line in the next. Source: Allen and Kennedy's loop-carried
//! and loop-independent dependences, as the editor of Fortran D showed them (Adve and others, 1995).
//!
//! Deliberately absent: what lies between the two and writes the elements anew; other procedures; other names of the same
//! memory. What the text does not decide is told as a dependence that may be.

use rustc_hash::FxHashMap;

use super::facts::{Dependence, Loop};
use super::subscripts::{Apart, Subscript, Variables};
use crate::texts::Text;

/// An array and its subscripts at a place of the text.
pub(super) struct Place {
    /// The array's name in small letters.
    pub(super) name: Text,
    pub(super) text: Text,
    pub(super) subscripts: Vec<Subscript>,
    /// Whether it takes values.
    pub(super) reads: bool,
    /// Whether it gives values.
    pub(super) writes: bool,
    /// Its first byte.
    pub(super) at: usize,
    /// The first byte of the statement that it stands in.
    pub(super) statement: usize,
    pub(super) line: u32,
    pub(super) function: Option<u32>,
    pub(super) within: Option<u32>,
}

/// More other ends of one reference are not told.
const MOST: usize = 8;

/// What is known of a file's loops and procedures.
pub(super) struct Around<'f> {
    pub(super) loops: &'f [Loop],
    /// By loop.
    pub(super) of_loops: &'f FxHashMap<u32, Variables>,
    /// By procedure.
    pub(super) of_functions: &'f FxHashMap<Option<u32>, Variables>,
    /// For loops and procedures of which nothing is known.
    pub(super) nothing: &'f Variables,
}

impl Around<'_> {
    pub(super) fn variables(&self, row: u32) -> &Variables {
        self.of_loops.get(&row).unwrap_or(self.nothing)
    }

    /// Loops around a place, the innermost first.
    pub(super) fn inside_out(&self, within: Option<u32>) -> impl Iterator<Item = u32> {
        // A loop around another one comes before it.
        std::iter::successors(within, |row| {
            self.loops.get(*row as usize).and_then(|it| it.parent).filter(|parent| parent < row)
        })
    }
}

/// What stands at the other end of a reference to another image, the nearest first, among those of its array and procedure.
pub(super) fn of(place: &Place, all: &[&Place], around: &Around<'_>) -> Vec<Dependence> {
    let mut found: Vec<Dependence> = Vec::new();
    for other in all {
        if other.at == place.at {
            continue;
        }
        // What writes comes first.
        let ends = if place.writes && other.reads {
            Some((place, *other, false))
        } else if place.reads && other.writes {
            Some((*other, place, true))
        } else {
            None
        };
        let Some((source, sink, is_sink)) = ends else { continue };
        let Some((carried, distance)) = flow(source, sink, around) else { continue };
        let it = Dependence { is_sink, other: other.text, line: other.line, carried, distance };
        if !found.contains(&it) {
            found.push(it);
        }
    }
    found.sort_by_key(|it| (it.carried.is_some(), it.line.abs_diff(place.line), it.line));
    found.truncate(MOST);
    found
}

/// Whether what is written at one place may be read at another, and if so by which loop's later iteration, and how much
/// later.
fn flow(source: &Place, sink: &Place, around: &Around<'_>) -> Option<(Option<u32>, Option<i64>)> {
    let outside_in = |place: &Place| {
        let mut loops: Vec<u32> = around.inside_out(place.within).collect();
        loops.reverse();
        loops
    };
    let (one, other) = (outside_in(source), outside_in(sink));
    let common: Vec<u32> = one.iter().zip(&other).take_while(|(a, b)| a == b).map(|(a, _)| *a).collect();
    // Variables with one value for both: they are set nowhere where both are, and count no loop around either.
    let both = match common.first() {
        Some(outermost) => around.variables(*outermost),
        None => around.of_functions.get(&source.function).unwrap_or(around.nothing),
    };
    let counts = |name: &str| {
        one.iter().chain(&other).any(|row| around.variables(*row).counters.iter().any(|it| it.name == *name))
    };
    let is_fixed = |name: &str| !both.may_set(name) && !counts(name);
    if source.subscripts.iter().zip(&sink.subscripts).any(|(one, other)| one.is_never(other, &is_fixed)) {
        return None;
    }
    let apart: Vec<Option<Apart>> =
        common.iter().map(|row| apart(source, sink, around.variables(*row))).collect();
    if apart.contains(&Some(Apart::Never)) {
        return None;
    }
    // A statement reads before it writes.
    let is_before = source.statement < sink.statement;
    // The innermost loop so far of which neither says anything.
    let mut free: Option<u32> = None;
    let by_free = |free: Option<u32>| free.map(|free| (Some(free), Some(1)));
    for (row, apart) in common.iter().zip(apart) {
        let is_ordered = !around.variables(*row).is_unordered;
        match apart {
            None if is_ordered => free = Some(*row),
            None | Some(Apart::By(0)) => {}
            Some(Apart::By(distance)) if distance > 0 && is_ordered => {
                return Some((Some(*row), Some(distance)));
            }
            // An iteration that comes first: only a later one of a loop around can follow it.
            Some(Apart::By(_)) => return by_free(free),
            Some(Apart::Unknown) if is_ordered => return Some((Some(*row), None)),
            Some(Apart::Unknown | Apart::Never) => break,
        }
    }
    if is_before { Some((None, None)) } else { by_free(free) }
}

/// What all dimensions say of a loop.
fn apart(source: &Place, sink: &Place, variables: &Variables) -> Option<Apart> {
    let mut found: Option<Apart> = None;
    // An array without subscripts is all of it.
    for (one, other) in source.subscripts.iter().zip(&sink.subscripts) {
        found = match (found, one.apart(other, variables)) {
            (found, None) => found,
            (_, Some(Apart::Never)) => return Some(Apart::Never),
            (Some(Apart::By(known)), Some(Apart::By(more))) if known != more => return Some(Apart::Never),
            (Some(Apart::By(known)), Some(_)) => Some(Apart::By(known)),
            (_, Some(more)) => Some(more),
        };
    }
    found
}
