//! Why an image needs elements that another one has: where they are written before they are read.
//!
//! The one idea: between a reference to another image and each reference to the same array in the same procedure it is asked
//! which loop around both lies between writing and reading, and how many of its iterations. So a halo is seen as what it is:
//! written at one line in one step of time, read at another line in the next. Source: Allen and Kennedy's loop-carried
//! and loop-independent dependences, as the editor of Fortran D showed them (Adve and others, 1995).
//!
//! Deliberately absent: what lies between the two and writes the elements anew; other procedures; other names of the same
//! memory. What the text does not decide is told as a dependence that may be.

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
    pub(super) line: u32,
    pub(super) function: Option<u32>,
    pub(super) within: Option<u32>,
}

/// More other ends of one reference are not told.
const MOST: usize = 8;

/// What stands at the other end of a reference to another image, the nearest first, among those of its array and procedure.
pub(super) fn of(
    place: &Place,
    all: &[&Place],
    loops: &[Loop],
    variables: &dyn Fn(u32) -> Variables,
) -> Vec<Dependence> {
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
        let Some((carried, distance)) = flow(source, sink, loops, variables) else { continue };
        let it = Dependence { is_sink, other: other.text, line: other.line, carried, distance };
        if !found.contains(&it) {
            found.push(it);
        }
    }
    found.sort_by_key(|it| (it.carried.is_some(), it.line.abs_diff(place.line), it.line));
    found.truncate(MOST);
    found
}

/// Loops around a place, the outermost first.
fn around(within: Option<u32>, loops: &[Loop]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut at = within;
    while let Some(row) = at {
        found.push(row);
        // A loop around another one comes before it.
        at = loops.get(row as usize).and_then(|it| it.parent).filter(|parent| *parent < row);
    }
    found.reverse();
    found
}

/// Whether what is written at one place may be read at another, and if so by which loop's later iteration, and how much
/// later.
fn flow(
    source: &Place,
    sink: &Place,
    loops: &[Loop],
    variables: &dyn Fn(u32) -> Variables,
) -> Option<(Option<u32>, Option<i64>)> {
    let (one, other) = (around(source.within, loops), around(sink.within, loops));
    let common: Vec<u32> = one.iter().zip(&other).take_while(|(a, b)| a == b).map(|(a, _)| *a).collect();
    // What is assigned to has been read before, in one statement and all that lies before it.
    let is_before = source.at < sink.at && source.line != sink.line;
    // The innermost loop so far of which neither says anything.
    let mut free: Option<u32> = None;
    for row in common {
        match apart(source, sink, &variables(row)) {
            None => free = Some(row),
            Some(Apart::By(0)) => {}
            Some(Apart::By(distance)) if distance > 0 => return Some((Some(row), Some(distance))),
            // An iteration that comes first: only a later one of a loop around can follow it.
            Some(Apart::By(_)) => return free.map(|free| (Some(free), Some(1))),
            Some(Apart::Unknown) => return Some((Some(row), None)),
            Some(Apart::Never) => return None,
        }
    }
    if apart(source, sink, &Variables::default()) == Some(Apart::Never) {
        None
    } else if is_before {
        Some((None, None))
    } else {
        free.map(|free| (Some(free), Some(1)))
    }
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
