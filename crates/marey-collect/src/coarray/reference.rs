//! Which elements of an array a call means that goes through components.
//!
//! The one idea: the library is given a chain of steps, each to a component or to elements of an array. Elements of an array
//! with a descriptor are told by subscripts, as the source has them. An array that is itself part of a type has no descriptor;
//! gfortran tells its elements by their distance from its beginning, the array's stride taken into account already, so they are
//! told as steps of memory.
//!
//! What another image has of a component that is allocated by itself is not known here: where the source names no bounds, those
//! of this image's stand for them, if as many elements are moved as they say.
//!
//! Deliberately absent: how the library reads the same chain; where that moves something else than the source means, what the
//! source means is told.

use std::sync::Arc;

use marey_measure::Runtime;
use marey_model::DimensionKind;

use super::arrays::{self, Array};
use super::descriptor::MAX_RANK;
use super::images;
use super::section::{Dimensions, Section, dimension, ends, shape, steps};

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

/// `CAF_ARR_REF_…`: how the elements along a dimension are meant.
mod mode {
    pub(super) const VECTOR: u8 = 1;
    pub(super) const FULL: u8 = 2;
    pub(super) const RANGE: u8 = 3;
    pub(super) const SINGLE: u8 = 4;
    pub(super) const OPEN_END: u8 = 5;
    pub(super) const OPEN_START: u8 = 6;
}

/// How far a chain has been followed.
struct Chain {
    array: Arc<Array>,
    /// From the beginning of the array, in bytes.
    offset: i64,
    /// Bytes of what the last step means.
    element: u64,
    /// Those by subscripts; the stride of those by steps of memory still counts bytes.
    dimensions: Dimensions,
    /// Whether subscripts that follow are those of the array.
    is_of_array: bool,
    /// Whether what is meant lies with another image.
    is_elsewhere: bool,
    /// Whether the array is what this image has of a component that is allocated by itself. The other's may have other bounds.
    is_own: bool,
    /// Whether bounds of this image's stand for those of the other.
    is_assumed: bool,
}

/// The section that a chain of references leads to, of an image.
///
/// # Safety
/// The addresses are arguments of a call of the library's that is under way.
pub(super) unsafe fn referred(
    runtime: &Runtime,
    token: usize,
    image: usize,
    references: usize,
) -> Option<Section> {
    let array = arrays::of_token(token)?;
    let mut chain = Chain {
        element: array.element,
        array,
        offset: 0,
        dimensions: Vec::new(),
        is_of_array: true,
        is_elsewhere: images::rank_of(image) != images::own(),
        is_own: false,
        is_assumed: false,
    };
    // SAFETY: the caller's promise.
    let is_told = unsafe { chain.follow(references as *const Reference) }.is_some();
    let dimensions = if is_told { chain.in_elements() } else { None };
    // As many as there are on the other side.
    let is_assumed = dimensions.is_none() || chain.is_assumed;
    let elements = dimensions
        .as_ref()
        .map_or(u64::MAX, |all| all.iter().map(|(_, (_, (_, count)))| *count).fold(1, u64::saturating_mul));
    let shape = dimensions.map_or(u32::MAX, |dimensions| shape(runtime, dimensions));
    let Chain { array, offset, element, .. } = chain;
    Some(Section { array, offset: u64::try_from(offset).unwrap_or(0), elements, element, shape, is_assumed })
}

impl Chain {
    /// Follows all steps; `None` if one of them is not known.
    unsafe fn follow(&mut self, mut reference: *const Reference) -> Option<()> {
        let mut is_told = Some(());
        for _ in 0..MAX_STEPS {
            // SAFETY: the caller's promise.
            let Some(step) = (unsafe { reference.as_ref() }) else { break };
            self.element = step.item as u64;
            // SAFETY: the kind says which of both it is.
            let known = unsafe {
                match step.kind {
                    COMPONENT => self.component(step.told.component),
                    STATIC_ARRAY => self.by_memory(&step.told.array),
                    _ => self.by_subscripts(&step.told.array),
                }
            };
            is_told = is_told.and(known);
            reference = step.next;
        }
        is_told
    }

    fn component(&mut self, Component { offset, token }: Component) -> Option<()> {
        self.offset = self.offset.saturating_add(offset as i64);
        self.is_of_array = false;
        if token == 0 {
            return Some(());
        }
        // What this image has of the same name stands for that of the other.
        let own = self.array.base.wrapping_add(self.offset as usize);
        self.array = arrays::of_descriptor(own)?;
        self.offset = 0;
        self.dimensions.clear();
        (self.is_of_array, self.is_own) = (true, true);
        Some(())
    }

    /// Elements of an array that is part of a type.
    fn by_memory(&mut self, told: &Subscripts) -> Option<()> {
        let item = self.element as i64;
        for (at, mode) in told.modes.iter().enumerate().take_while(|(_, mode)| **mode != 0) {
            let [first, last, step] = told.words[at];
            let (first, count) = match *mode {
                mode::SINGLE => (first, 1),
                mode::FULL => (0, steps(0, last, step)),
                mode::RANGE => (first, steps(first, last, step)),
                // gfortran has no others of these.
                _ => return None,
            };
            self.offset = self.offset.saturating_add((first as i64).saturating_mul(item));
            if *mode != mode::SINGLE {
                let stride = (step as i64).saturating_mul(item);
                self.dimensions.push(dimension(DimensionKind::Elements, 0, stride, count));
            }
        }
        Some(())
    }

    /// Elements of an array that has a descriptor.
    unsafe fn by_subscripts(&mut self, told: &Subscripts) -> Option<()> {
        if !self.is_of_array {
            return None;
        }
        let (mut distance, mut factor) = (0_i64, 1_i64);
        for (at, mode) in told.modes.iter().enumerate().take_while(|(_, mode)| **mode != 0) {
            let bound = self.array.bounds.get(at).copied();
            let lower = bound.map(|bound| bound.0);
            let upper = bound.map(|(lower, extent)| lower.saturating_add_unsigned(extent).saturating_sub(1));
            let [first, last, step] = told.words[at];
            let ranged = |from: i64, to: i64| {
                let step = if step == 0 { 1 } else { step };
                let count = steps(from as isize, to as isize, step);
                dimension(DimensionKind::Subscripts, from, step as i64, count)
            };
            let told = match *mode {
                mode::VECTOR => {
                    let [list, n, kind] = told.words[at];
                    // SAFETY: the caller's promise.
                    let (least, greatest) = unsafe { ends(list as usize, n as usize, kind as i32)? };
                    dimension(DimensionKind::Vector, least, greatest, n as u64)
                }
                mode::FULL => ranged(lower?, upper?),
                mode::RANGE => ranged(first as i64, last as i64),
                mode::SINGLE => dimension(DimensionKind::Subscripts, first as i64, 1, 1),
                mode::OPEN_END => ranged(first as i64, upper?),
                mode::OPEN_START => ranged(lower?, last as i64),
                _ => return None,
            };
            let by_bounds = [mode::FULL, mode::OPEN_END, mode::OPEN_START].contains(mode);
            self.is_assumed |= by_bounds && self.is_own && self.is_elsewhere;
            if let Some((lower, extent)) = bound {
                distance = distance.saturating_add((told.1.0.saturating_sub(lower)).saturating_mul(factor));
                factor = factor.saturating_mul(i64::try_from(extent).unwrap_or(1).max(1));
            }
            self.dimensions.push(told);
        }
        self.offset = self.offset.saturating_add(distance.saturating_mul(self.element as i64));
        self.is_of_array = false;
        Some(())
    }

    /// The dimensions, strides of memory counted in elements; `None` if one is no whole number of them.
    fn in_elements(&self) -> Option<Dimensions> {
        let element = i64::try_from(self.element).ok().filter(|element| *element > 0)?;
        let mut dimensions = self.dimensions.clone();
        for (kind, (_, (stride, _))) in &mut dimensions {
            if *kind == DimensionKind::Elements as u8 {
                if *stride % element != 0 {
                    return None;
                }
                *stride /= element;
            }
        }
        Some(dimensions)
    }
}
