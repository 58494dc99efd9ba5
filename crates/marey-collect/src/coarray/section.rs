//! Which elements of an array a call means.
//!
//! The one idea: where a section begins is told for each access, and what does not change from one to the next, steps
//! and numbers, once as a *shape*; so a loop over the elements of an array makes one shape, not one for each step.
//!
//! Deliberately absent: the local side of a transfer, and what is reached through components (see [`super::reference`]).

use core::cmp::Ordering;
use std::sync::Arc;

use marey_measure::{Lock, Runtime};
use marey_model::DimensionKind;
use marey_model::spool::{Definition, DefinitionKind};
use rustc_hash::FxHashMap;

use super::arrays::{self, Array};
use super::cache;
use super::descriptor::{Descriptor, Dimension};

/// A section of an array.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// The array, or the component of it that is meant.
    pub(super) array: Arc<Array>,
    /// From the beginning of the array, in bytes.
    pub(super) offset: u64,
    pub(super) elements: u64,
    /// Bytes of an element.
    pub(super) element: u64,
    pub(super) shape: u32,
    /// Which elements they are is known only if there are as many on the other side.
    pub(super) is_assumed: bool,
}

impl Section {
    /// What it is, where as many elements are moved as the descriptor at `local` has.
    ///
    /// # Safety
    /// The address is 0 or that of a descriptor.
    pub(super) unsafe fn told_by(self, runtime: &Runtime, local: usize) -> Self {
        // SAFETY: the caller's promise.
        let others = unsafe { Descriptor::at(local) }.map_or(1, Descriptor::elements);
        self.of_as_many(runtime, others)
    }

    fn of_as_many(self, runtime: &Runtime, others: u64) -> Self {
        match self.is_assumed && self.elements != others {
            true => self.somewhere(runtime, others),
            false => Self { is_assumed: false, ..self },
        }
    }

    /// So many elements, which are not told.
    fn somewhere(self, runtime: &Runtime, elements: u64) -> Self {
        let shape = shape(runtime, vec![dimension(DimensionKind::Untold, 0, 0, elements)]);
        Self { elements, shape, is_assumed: false, ..self }
    }

    /// Two sides between which elements are moved.
    pub(super) fn alike(runtime: &Runtime, one: Self, other: Self) -> [Self; 2] {
        let (of_one, of_other) = (one.elements, other.elements);
        match (one.is_assumed, other.is_assumed) {
            (true, false) => [one.of_as_many(runtime, of_other), other],
            (false, true) => [one, other.of_as_many(runtime, of_one)],
            // Nobody here knows how many.
            (true, true) => [one, other].map(|it| it.somewhere(runtime, 0)),
            (false, false) => [one, other],
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.elements.saturating_mul(self.element)
    }
}

/// Kind, start, stride and number of each dimension.
pub(super) type Dimensions = Vec<(u8, (i64, (i64, u64)))>;

/// Shapes by what they are; beyond this many a section is told without one.
static SHAPES: Lock<Option<FxHashMap<Dimensions, u32>>> = Lock::new(None);
const MAX_SHAPES: usize = 1 << 14;

/// The number of a shape; `u32::MAX` for a single element, and where there are too many.
pub(super) fn shape(runtime: &Runtime, dimensions: Dimensions) -> u32 {
    if dimensions.is_empty() {
        return u32::MAX;
    }
    cache::shape(dimensions, |dimensions| {
        let known = SHAPES.with_or_renew(Option::default, |shapes| {
            let shapes = shapes.get_or_insert_default();
            if let Some(&id) = shapes.get(dimensions) {
                return Some(id);
            }
            if shapes.len() >= MAX_SHAPES {
                return None;
            }
            let id = runtime.define(|definitions| {
                let id = definitions.next_id(DefinitionKind::Shape);
                definitions.define(&Definition::Shape { id, dimensions: dimensions.clone() });
                id
            })?;
            shapes.insert(dimensions.clone(), id);
            Some(id)
        });
        known.flatten()
    })
}

pub(super) fn dimension(kind: DimensionKind, start: i64, stride: i64, count: u64) -> (u8, (i64, (i64, u64))) {
    (kind as u8, (start, (stride, count)))
}

/// Dimensions as a descriptor has them, whose elements lie a stride apart.
pub(super) fn plain(told: &[Dimension]) -> Dimensions {
    let one = |told: &Dimension| dimension(DimensionKind::Elements, 0, told.stride as i64, told.extent());
    told.iter().map(one).collect()
}

/// `caf_vector_t`: subscripts of one dimension.
#[repr(C)]
struct Vector {
    n: usize,
    /// Address and kind of a list of `n`; else lower, upper and step.
    words: [isize; 3],
}

/// The section that a descriptor tells of an array, from an offset on.
///
/// # Safety
/// The addresses are arguments of a call of the library's that is under way: `descriptor` that of a descriptor, `vector`
/// 0 or that of as many [`Vector`]s as it has dimensions.
pub(super) unsafe fn described(
    runtime: &Runtime,
    token: usize,
    offset: usize,
    descriptor: usize,
    vector: usize,
) -> Option<Section> {
    let array = arrays::of_token(token)?;
    // SAFETY: the caller's promise.
    let descriptor = unsafe { Descriptor::at(descriptor)? };
    let element = descriptor.element as u64;
    let told = descriptor.dimensions();
    if vector == 0 || told.is_empty() {
        let (elements, shape) = (descriptor.elements(), shape(runtime, plain(told)));
        return Some(Section { array, offset: offset as u64, elements, element, shape, is_assumed: false });
    }
    // SAFETY: the caller's promise.
    let vectors = unsafe { core::slice::from_raw_parts(vector as *const Vector, told.len()) };
    let mut start = offset as i64;
    let mut dimensions = Vec::with_capacity(told.len());
    for (vector, told) in vectors.iter().zip(told) {
        let (kind, first, step, count) = if vector.n == 0 {
            let [lower, upper, step] = vector.words;
            (DimensionKind::Subscripts, lower as i64, step as i64, steps(lower, upper, step))
        } else {
            // SAFETY: the caller's promise.
            match unsafe { ends(vector.words[0] as usize, vector.n, vector.words[1] as i32) } {
                Some((least, greatest)) => (DimensionKind::Vector, least, greatest, vector.n as u64),
                None => {
                    // As many as there are, somewhere.
                    let elements = vectors.iter().map(Vector::count).fold(1, u64::saturating_mul);
                    let untold = vec![dimension(DimensionKind::Untold, 0, 0, elements)];
                    return Some(Section {
                        array,
                        offset: offset as u64,
                        elements,
                        element,
                        shape: shape(runtime, untold),
                        is_assumed: false,
                    });
                }
            }
        };
        let from_lower = first.saturating_sub(told.lower as i64);
        start = start
            .saturating_add(from_lower.saturating_mul(told.stride as i64).saturating_mul(element as i64));
        dimensions.push(dimension(kind, first, step, count));
    }
    let elements = dimensions.iter().map(|(_, (_, (_, count)))| *count).fold(1, u64::saturating_mul);
    let offset = u64::try_from(start).unwrap_or(0);
    Some(Section { array, offset, elements, element, shape: shape(runtime, dimensions), is_assumed: false })
}

impl Vector {
    /// How many subscripts it means.
    fn count(&self) -> u64 {
        let [lower, upper, step] = self.words;
        if self.n == 0 { steps(lower, upper, step) } else { self.n as u64 }
    }
}

/// How many subscripts there are from `lower` to `upper`.
pub(super) fn steps(lower: isize, upper: isize, step: isize) -> u64 {
    let distance = match step.cmp(&0) {
        Ordering::Greater => upper.saturating_sub(lower),
        Ordering::Less => lower.saturating_sub(upper),
        Ordering::Equal => return 1,
    };
    let steps = (distance as i64).div_euclid((step as i64).saturating_abs());
    u64::try_from(steps.saturating_add(1)).unwrap_or(0)
}

/// Longer lists of subscripts are not looked through, and no elements told of them.
const MAX_LISTED: usize = 1 << 16;

/// The least and the greatest of a list of `n` integers of `kind` bytes; `None` of none, of very many, and of another kind.
pub(super) unsafe fn ends(list: usize, n: usize, kind: i32) -> Option<(i64, i64)> {
    // SAFETY: the caller's promise.
    let one = |at: usize| unsafe {
        Some(match kind {
            1 => i64::from(*(list as *const i8).add(at)),
            2 => i64::from((list as *const i16).add(at).read_unaligned()),
            4 => i64::from((list as *const i32).add(at).read_unaligned()),
            8 => (list as *const i64).add(at).read_unaligned(),
            _ => return None,
        })
    };
    if n == 0 || MAX_LISTED < n {
        return None;
    }
    let mut ends = (i64::MAX, i64::MIN);
    for at in 0..n {
        let subscript = one(at)?;
        ends = (ends.0.min(subscript), ends.1.max(subscript));
    }
    Some(ends)
}
