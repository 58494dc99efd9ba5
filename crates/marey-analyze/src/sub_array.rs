//! Part of an array's index space, and which accesses mean elements of it.
//!
//! The one idea: a selection *snaps* to the distribution. Along a dimension that is distributed, in which the parts of
//! processes have bounds of their own, it is made of whole parts; along others each process has the whole range, and the
//! selection stays as it is. A coarray has the same bounds on each image: what is distributed is the number of the image, and
//! `u(1:10, 5)[3:4]` fits as it stands. Source: Irvin and Miller (1996), whose users expand or shrink a subgrid until it fits.
//!
//! Deliberately absent: guesses. Of a vector of subscripts only the least, the greatest and their number are told, so how
//! many of its elements are selected may be not known; that number is told beside what is sure.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{NounId, ProcessId};

use crate::sequences::{Elements, OneByOne, Range, Sequences};
use crate::trace::{Array, Trace};

/// A lower and an upper subscript for each dimension, both included.
pub type Section = Vec<(i64, i64)>;

/// What somebody selects of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubArray {
    /// Which elements of each part.
    pub section: Section,
    /// Parts of which processes; `None` = of all.
    pub processes: Option<BTreeSet<ProcessId>>,
}

/// How a selection is made to fit the distribution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snap {
    /// It takes all of each part that it meets.
    Expand,
    /// It leaves out parts that it does not hold all of.
    Shrink,
    /// It stays as it is.
    No,
}

impl Snap {
    /// All of them, the usual one first.
    pub const ALL: [Self; 3] = [Self::Expand, Self::Shrink, Self::No];

    /// The name for other programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expand => "expand",
            Self::Shrink => "shrink",
            Self::No => "none",
        }
    }

    /// That of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|snap| snap.name() == name)
    }
}

/// What a process has of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayPart {
    /// The process.
    pub process: ProcessId,
    /// Least lower and greatest upper bound of each dimension, of all its instances.
    pub bounds: Section,
}

/// What processes have of an array, in the order of their numbers: those instances that have as many dimensions as its
/// largest one. Time: linear in instances.
pub fn array_parts(trace: &dyn Trace, noun: NounId) -> Vec<ArrayPart> {
    let all = || trace.arrays().iter().filter(|it| it.is_acted_on() && it.noun == noun);
    // The first of those that are equally large, as [`crate::arrays`] has it.
    let largest = all().reduce(|most, it| if most.bytes < it.bytes { it } else { most });
    let dimensions = largest.map_or(0, |it| it.bounds.len());
    let mut parts: BTreeMap<ProcessId, Section> = BTreeMap::new();
    // One element has no bounds; what has several, and none, has unknown ones.
    let is_known = |it: &&Array| dimensions > 0 || it.element_bytes == Some(it.bytes);
    for it in all().filter(|it| it.bounds.len() == dimensions).filter(is_known) {
        let part = parts.entry(it.process).or_insert_with(|| it.bounds.clone());
        *part = hull(part, &it.bounds);
    }
    parts.into_iter().map(|(process, bounds)| ArrayPart { process, bounds }).collect()
}

/// The least box around two.
fn hull(one: &[(i64, i64)], other: &[(i64, i64)]) -> Section {
    one.iter().zip(other).map(|(it, more)| (it.0.min(more.0), it.1.max(more.1))).collect()
}

/// Why something is no selection of an array.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubArrayError {
    /// Nothing is known of its parts.
    #[error("its bounds are not known")]
    UnknownBounds,
    /// It has another number of dimensions.
    #[error("it has {expected} dimension{}, {} selected", if *expected == 1 { "" } else { "s" }, if *found == 1 { "one is".to_owned() } else { format!("{found} are") })]
    Dimensions {
        /// How many it has.
        expected: usize,
        /// How many are selected.
        found: usize,
    },
    /// There is nothing between both subscripts.
    #[error("{lower}:{upper} in dimension {dimension} is empty")]
    Empty {
        /// Which dimension, from 1.
        dimension: usize,
        /// The first subscript.
        lower: i64,
        /// The last one.
        upper: i64,
    },
    /// It is not all inside.
    #[error("{lower}:{upper} in dimension {dimension} is beyond its bounds, {}:{}", .bounds.0, .bounds.1)]
    Beyond {
        /// Which dimension, from 1.
        dimension: usize,
        /// The first subscript.
        lower: i64,
        /// The last one.
        upper: i64,
        /// Least and greatest that there is.
        bounds: (i64, i64),
    },
    /// A process has none of it.
    #[error("process {} has none of it", .0.0)]
    NotHeld(ProcessId),
    /// There is nothing between the parts.
    #[error("none of the processes has elements there")]
    Nowhere,
    /// No part is in it as a whole.
    #[error("it holds no part as a whole; expand it, or let it stay as it is")]
    NoWholePart,
}

impl SubArray {
    /// Makes it fit what processes have. Time: linear in the parts.
    ///
    /// # Errors
    /// If it is no selection of such an array: see [`SubArrayError`].
    pub fn snapped(&self, parts: &[ArrayPart], how: Snap) -> Result<Snapped, SubArrayError> {
        let [first, others @ ..] = parts else { return Err(SubArrayError::UnknownBounds) };
        let whole = others.iter().fold(first.bounds.clone(), |all, part| hull(&all, &part.bounds));
        let (expected, found) = (whole.len(), self.section.len());
        if expected != found {
            return Err(SubArrayError::Dimensions { expected, found });
        }
        for (dimension, (&(lower, upper), &bounds)) in (1..).zip(self.section.iter().zip(&whole)) {
            if upper < lower {
                return Err(SubArrayError::Empty { dimension, lower, upper });
            }
            if lower < bounds.0 || bounds.1 < upper {
                return Err(SubArrayError::Beyond { dimension, lower, upper, bounds });
            }
        }
        let is_held = |process: &&ProcessId| parts.iter().any(|part| part.process == **process);
        if let Some(process) = self.processes.iter().flatten().find(|process| !is_held(process)) {
            return Err(SubArrayError::NotHeld(*process));
        }
        let is_distributed =
            |place: usize| others.iter().any(|it| it.bounds.get(place) != first.bounds.get(place));
        let distributed: Vec<bool> = (0..expected).map(is_distributed).collect();
        let is_meant =
            |part: &&ArrayPart| self.processes.as_ref().is_none_or(|it| it.contains(&part.process));
        let mut pieces = BTreeMap::new();
        let (mut is_met, mut fits) = (false, true);
        for part in parts.iter().filter(is_meant) {
            let Some(common) = common(&self.section, &part.bounds) else { continue };
            is_met = true;
            let is_whole =
                (0..expected).all(|place| !distributed[place] || common[place] == part.bounds[place]);
            fits &= how != Snap::Expand || is_whole;
            let piece = match how {
                Snap::Shrink if !is_whole => {
                    fits = false;
                    continue;
                }
                Snap::No | Snap::Shrink => common,
                Snap::Expand => (0..expected)
                    .map(|place| if distributed[place] { part.bounds[place] } else { common[place] })
                    .collect(),
            };
            pieces.insert(part.process, piece);
        }
        let around = pieces.values().cloned().reduce(|all, piece| hull(&all, &piece));
        match around {
            Some(section) => Ok(Snapped { section, pieces, distributed, fits }),
            None if is_met => Err(SubArrayError::NoWholePart),
            None => Err(SubArrayError::Nowhere),
        }
    }
}

/// What two boxes have in common.
fn common(one: &[(i64, i64)], other: &[(i64, i64)]) -> Option<Section> {
    let all = one.iter().zip(other).map(|(it, more)| (it.0.max(more.0), it.1.min(more.1)));
    all.map(|(lower, upper)| (lower <= upper).then_some((lower, upper))).collect()
}

/// A selection that fits the distribution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapped {
    /// The least box around all pieces.
    pub section: Section,
    /// What is selected of the part of each process that has elements of it.
    pub pieces: BTreeMap<ProcessId, Section>,
    /// Along which dimensions parts have bounds of their own.
    pub distributed: Vec<bool>,
    /// Whether it is what was selected: nothing was added or left out.
    pub fits: bool,
}

/// How many of the elements that an access means are selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Meeting {
    /// So many are, each as often as it is meant.
    pub inside: u64,
    /// Of so many more it is not known.
    pub perhaps: u64,
}

impl Snapped {
    /// How many elements of an access that lie with a process are selected. No element of a product of sequences is looked at
    /// by itself. Time: linear in dimensions.
    pub fn meeting(&self, peer: Option<ProcessId>, it: &Elements<'_>, one_by_one: &mut OneByOne) -> Meeting {
        match peer {
            Some(peer) => {
                self.pieces.get(&peer).map_or_else(Meeting::default, |piece| meeting(piece, it, one_by_one))
            }
            // They may lie anywhere.
            None => {
                let Meeting { inside, perhaps } = meeting(&self.section, it, one_by_one);
                Meeting { inside: 0, perhaps: inside.saturating_add(perhaps) }
            }
        }
    }
}

fn meeting(section: &[(i64, i64)], it: &Elements<'_>, one_by_one: &mut OneByOne) -> Meeting {
    let number = it.number();
    // Another instance of the array may have other dimensions, or none that are known.
    if it.bounds.len() != section.len() {
        return Meeting { inside: 0, perhaps: number };
    }
    match it.sequences() {
        Some(Sequences::Product(all)) => {
            let within = all
                .iter()
                .zip(section)
                .map(|(it, (lower, upper))| it.within(i128::from(*lower), i128::from(*upper)));
            Meeting { inside: within.fold(1, u64::saturating_mul), perhaps: 0 }
        }
        Some(Sequences::Offsets(first)) if one_by_one.may(number) => {
            let mut inside = 0;
            it.each_from(first, &mut |subscripts| {
                let mut all = subscripts.iter().zip(section);
                inside += u64::from(all.all(|(at, (lower, upper))| lower <= at && at <= upper));
            });
            Meeting { inside, perhaps: 0 }
        }
        Some(Sequences::Offsets(_)) => Meeting { inside: 0, perhaps: number },
        None => match it.by_subscripts() {
            Some(ranges) => {
                let each = ranges.iter().zip(section).map(|(range, bounds)| of_dimension(*range, *bounds));
                let (sure, possible) = each
                    .fold((1_u64, 1_u64), |all, it| (all.0.saturating_mul(it.0), all.1.saturating_mul(it.1)));
                Meeting { inside: sure, perhaps: possible.saturating_sub(sure) }
            }
            None => Meeting { inside: 0, perhaps: number },
        },
    }
}

/// Subscripts of longer lists are not all looked at by who records them.
const MOST_LISTED: u64 = 1 << 16;

/// How many subscripts of a dimension surely lie between bounds, and how many at most.
fn of_dimension(range: Range, (lower, upper): (i64, i64)) -> (u64, u64) {
    let is_in = |subscript: i64| lower <= subscript && subscript <= upper;
    match range {
        Range::Subscripts { start, stride, count } => {
            let sequence = crate::sequences::Sequence { start, step: stride, count };
            let number = sequence.within(i128::from(lower), i128::from(upper));
            (number, number)
        }
        Range::Vector { least, greatest, count }
            if count <= MOST_LISTED && least <= greatest && (count > 1 || least == greatest) =>
        {
            if upper < least || greatest < lower {
                (0, 0)
            } else if is_in(least) && is_in(greatest) {
                (count, count)
            } else {
                // Both are in the list, and what is outside is not selected.
                let ends = u64::from(is_in(least)) + u64::from(is_in(greatest));
                (
                    ends.min(count),
                    count.saturating_sub(u64::from(!is_in(least)) + u64::from(!is_in(greatest))),
                )
            }
        }
        Range::Vector { count, .. } | Range::Elements { count, .. } | Range::Anywhere { count } => (0, count),
    }
}
