//! Which elements of an array a call means.
//!
//! The one idea: where a section begins is told for each access, and what does not change from one to the next, steps
//! and numbers, once as a *shape*; so a loop over the elements of an array makes one shape, not one for each step.
//!
//! Deliberately absent: the local side of a transfer.

use core::cmp::Ordering;
use std::sync::Arc;

use marey_measure::{Lock, Runtime};
use marey_model::DimensionKind;
use marey_model::spool::{Definition, DefinitionKind};
use rustc_hash::FxHashMap;

use super::arrays::{self, Array};
use super::cache;
use super::descriptor::{Descriptor, MAX_RANK};

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
}

impl Section {
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
fn shape(runtime: &Runtime, dimensions: Dimensions) -> u32 {
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

fn dimension(kind: DimensionKind, start: i64, stride: i64, count: u64) -> (u8, (i64, (i64, u64))) {
    (kind as u8, (start, (stride, count)))
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
    let plain = |told: &[super::descriptor::Dimension]| -> Dimensions {
        let one = |told: &super::descriptor::Dimension| {
            dimension(DimensionKind::Elements, 0, told.stride as i64, told.extent())
        };
        told.iter().map(one).collect()
    };
    if vector == 0 || told.is_empty() {
        let (elements, shape) = (descriptor.elements(), shape(runtime, plain(told)));
        return Some(Section { array, offset: offset as u64, elements, element, shape });
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
            let (least, greatest) =
                unsafe { ends(vector.words[0] as usize, vector.n, vector.words[1] as i32)? };
            (DimensionKind::Vector, least, greatest, vector.n as u64)
        };
        let from_lower = first.saturating_sub(told.lower as i64);
        start = start
            .saturating_add(from_lower.saturating_mul(told.stride as i64).saturating_mul(element as i64));
        dimensions.push(dimension(kind, first, step, count));
    }
    let elements = dimensions.iter().map(|(_, (_, (_, count)))| *count).fold(1, u64::saturating_mul);
    let offset = u64::try_from(start).unwrap_or(0);
    Some(Section { array, offset, elements, element, shape: shape(runtime, dimensions) })
}

/// How many subscripts there are from `lower` to `upper`.
fn steps(lower: isize, upper: isize, step: isize) -> u64 {
    match step.cmp(&0) {
        Ordering::Greater => u64::try_from((upper - lower).div_euclid(step) + 1).unwrap_or(0),
        Ordering::Less => u64::try_from((lower - upper).div_euclid(-step) + 1).unwrap_or(0),
        Ordering::Equal => 1,
    }
}

/// Most subscripts of a list that are looked at.
const MAX_LISTED: usize = 1 << 16;

/// The least and the greatest of a list of `n` integers of `kind` bytes.
unsafe fn ends(list: usize, n: usize, kind: i32) -> Option<(i64, i64)> {
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
    let mut ends = (i64::MAX, i64::MIN);
    for at in 0..n.min(MAX_LISTED) {
        let subscript = one(at)?;
        ends = (ends.0.min(subscript), ends.1.max(subscript));
    }
    Some(ends)
}

/// `caf_reference_t`: one step from a coarray to what is meant.
#[repr(C)]
struct Reference {
    next: *const Self,
    kind: i32,
    /// Bytes of what is meant.
    item: usize,
    told: Told,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Told {
    component: Component,
    array: Subscripts,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Component {
    offset: isize,
    /// Where the component's own token lies, if it has been allocated by itself.
    token: isize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Subscripts {
    modes: [u8; MAX_RANK],
    of_static: i32,
    /// Start, end and step; or address and length of a list, and the kind of its integers.
    words: [[isize; 3]; MAX_RANK],
}

const _: () =
    assert!(core::mem::offset_of!(Reference, told) == 24 && size_of::<Subscripts>() == 20 + 4 + 360);

/// `CAF_REF_…`.
const COMPONENT: i32 = 0;
const STATIC_ARRAY: i32 = 2;
/// Most steps that are followed.
const MAX_STEPS: usize = 16;

/// The section that a chain of references leads to.
///
/// # Safety
/// `references` is the argument of a call of the library's that is under way.
pub(super) unsafe fn referred(runtime: &Runtime, token: usize, references: usize) -> Option<Section> {
    let mut array = arrays::of_token(token)?;
    let (mut offset, mut elements, mut element) = (0_i64, 1_u64, array.element);
    let mut dimensions = Vec::new();
    let mut reference = references as *const Reference;
    for _ in 0..MAX_STEPS {
        // SAFETY: the caller's promise.
        let Some(step) = (unsafe { reference.as_ref() }) else { break };
        element = step.item as u64;
        // SAFETY: the kind says which of both it is.
        unsafe {
            if step.kind == COMPONENT {
                let Component { offset: at, token } = step.told.component;
                offset = offset.saturating_add(at as i64);
                // What this image has of the same name stands for that of the other.
                let own = array.base.wrapping_add(offset as usize);
                if token != 0
                    && let Some(inner) = arrays::of_descriptor(own)
                {
                    (array, offset) = (inner, 0);
                    dimensions.clear();
                }
            } else {
                let told = step.told.array;
                let by_bounds = subscripts(&told, step.kind == STATIC_ARRAY, &array.bounds, &mut dimensions)?;
                offset = offset.saturating_add(by_bounds.saturating_mul(element as i64));
            }
        }
        reference = step.next;
    }
    for (_, (_, (_, count))) in &dimensions {
        elements = elements.saturating_mul(*count);
    }
    let offset = u64::try_from(offset).unwrap_or(0);
    Some(Section { array, offset, elements, element, shape: shape(runtime, dimensions) })
}

/// Adds the subscripts of a step. The distance of the first element from the beginning, in elements; 0 if bounds are not
/// known.
unsafe fn subscripts(
    told: &Subscripts,
    is_static: bool,
    bounds: &[(i64, u64)],
    dimensions: &mut Dimensions,
) -> Option<i64> {
    let (mut distance, mut factor) = (0_i64, 1_i64);
    for (at, mode) in told.modes.iter().enumerate().take_while(|(_, mode)| **mode != 0) {
        let bound = bounds.get(at).copied();
        let (lower, extent) = bound.unwrap_or((if is_static { 0 } else { 1 }, 0));
        let upper = lower.saturating_add_unsigned(extent).saturating_sub(1);
        let [first, last, step] = told.words[at];
        // Those of an array without a descriptor are counted from 0.
        let base = if is_static { lower } else { 0 };
        let (first, last, step) = (first as i64 + base, last as i64 + base, step as i64);
        let ranged = |from: i64, to: i64, step: i64| {
            let step = if step == 0 { 1 } else { step };
            dimension(DimensionKind::Subscripts, from, step, steps(from as isize, to as isize, step as isize))
        };
        let told = match mode {
            1 => {
                let [list, n, kind] = told.words[at];
                // SAFETY: the caller's promise.
                let (least, greatest) = unsafe { ends(list as usize, n as usize, kind as i32)? };
                dimension(DimensionKind::Vector, least + base, greatest + base, n as u64)
            }
            2 => dimension(DimensionKind::Subscripts, lower, if step == 0 { 1 } else { step }, extent),
            3 => ranged(first, last, step),
            4 => dimension(DimensionKind::Subscripts, first, 1, 1),
            5 => ranged(first, upper, step),
            6 => ranged(lower, last, step),
            _ => return None,
        };
        distance = distance.saturating_add((told.1.0 - lower).saturating_mul(factor));
        factor = factor.saturating_mul(i64::try_from(extent).unwrap_or(1).max(1));
        dimensions.push(told);
    }
    Some(if bounds.is_empty() { 0 } else { distance })
}
