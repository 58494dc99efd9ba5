//! A thread's cache from call stacks to sites.
//!
//! What a walked stack depended on are the values of certain stack slots ([`StackCapture::slots`]).
//! Calls at the same *place* — function, return address, stack pointer — mostly depend on the same
//! slots, their *shape*; so a place remembers its few shapes, and a stack is recognised by a hash of
//! 128 bits over the values in the slots of a shape. Equal values mean an equal walk, whatever
//! stack the shape was learnt from.
//!
//! Comparing the values themselves would be as sound, but takes 16 bytes of memory for each slot of
//! each stack; programs with thousands of call sites would then wait for memory at every call.

use marey_model::SiteId;
use rustc_hash::FxHashMap;

use crate::site::What;
use crate::unwind::{EntryRegs, StackCapture};

const PLACES: usize = 1 << 12;
const STACKS: usize = 1 << 14;
/// Shapes that a place remembers; a further one takes the place of the oldest.
const MAX_SHAPES: usize = 6;

/// The cache: about 700 KiB when it is full.
pub(crate) struct StackCache {
    places: Vec<Place>,
    stacks: Vec<Stack>,
    shapes: Vec<Shape>,
    shape_numbers: FxHashMap<Shape, u32>,
}

#[derive(Clone, Copy)]
struct Place {
    what: What,
    ip: usize,
    sp: usize,
    shapes: [u32; MAX_SHAPES],
    n_shapes: u32,
    next_shape: u32,
}

#[derive(Clone, Copy)]
struct Stack {
    hash: (u64, u64),
    site: u32,
}

/// Slots, as distances in words from the stack pointer.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    slots: Box<[u32]>,
    uses_rbp: bool,
}

const EMPTY_PLACE: Place = Place {
    what: What { function: u32::MAX, noun: u32::MAX },
    ip: 0,
    sp: 0,
    shapes: [0; MAX_SHAPES],
    n_shapes: 0,
    next_shape: 0,
};
const EMPTY_STACK: Stack = Stack { hash: (0, 0), site: u32::MAX };

#[inline(always)]
fn mix(hash: u64, word: u64) -> u64 {
    // Each step is a bijection of `hash` and of `word`: two stacks that differ in one slot never
    // collide.
    (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl StackCache {
    pub(crate) fn new() -> Self {
        Self {
            places: vec![EMPTY_PLACE; PLACES],
            stacks: vec![EMPTY_STACK; STACKS],
            shapes: Vec::new(),
            shape_numbers: FxHashMap::default(),
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    /// The site of the call, if its stack is known.
    ///
    /// # Safety
    /// `regs` are those of a call of this thread that has not returned, and the cache is this
    /// thread's.
    #[inline]
    pub(crate) unsafe fn find(&self, what: What, regs: EntryRegs) -> Option<SiteId> {
        let place = &self.places[place_of(what, regs)];
        if (place.what, place.ip, place.sp) != (what, regs.ip, regs.sp) {
            return None;
        }
        for &shape in &place.shapes[..place.n_shapes as usize] {
            // SAFETY: the shape was learnt at the same stack pointer, so its slots lie between that
            // and the end of the same stack.
            let hash = unsafe { self.hash(what, regs, shape) };
            let stack = &self.stacks[stack_of(hash)];
            if stack.hash == hash && stack.site != u32::MAX {
                return Some(SiteId(stack.site));
            }
        }
        None
    }

    /// Remembers that the captured stack has this site.
    ///
    /// # Safety
    /// As for [`Self::find`]; the capture was made at `regs`.
    pub(crate) unsafe fn insert(
        &mut self,
        what: What,
        regs: EntryRegs,
        capture: &StackCapture,
        site: SiteId,
    ) {
        let distances = capture.slots().map(|slot| u32::try_from((slot - regs.sp) / 8));
        let Ok(slots) = distances.collect::<Result<Box<[u32]>, _>>() else { return };
        let shape = Shape { slots, uses_rbp: capture.uses_rbp() };
        let new = u32::try_from(self.shapes.len()).unwrap_or(u32::MAX);
        let number = *self.shape_numbers.entry(shape.clone()).or_insert(new);
        if number == new {
            self.shapes.push(shape);
        }
        let place = &mut self.places[place_of(what, regs)];
        if (place.what, place.ip, place.sp) != (what, regs.ip, regs.sp) {
            *place = Place { what, ip: regs.ip, sp: regs.sp, ..EMPTY_PLACE };
        }
        if !place.shapes[..place.n_shapes as usize].contains(&number) {
            place.shapes[place.next_shape as usize % MAX_SHAPES] = number;
            place.next_shape += 1;
            place.n_shapes = place.next_shape.min(MAX_SHAPES as u32);
        }
        // SAFETY: the caller's promise.
        let hash = unsafe { self.hash(what, regs, number) };
        self.stacks[stack_of(hash)] = Stack { hash, site: site.0 };
    }

    /// Hash over the call's place and the values in the shape's slots.
    ///
    /// # Safety
    /// The shape was learnt at the same stack pointer of the same stack.
    #[inline(always)]
    unsafe fn hash(&self, what: What, regs: EntryRegs, shape: u32) -> (u64, u64) {
        let Some(known) = self.shapes.get(shape as usize) else { return (0, 0) };
        let base = regs.sp as *const u64;
        let mut even = mix(regs.ip as u64, u64::from(what.function) | u64::from(what.noun) << 32);
        let mut odd = mix(regs.sp as u64, u64::from(shape));
        if known.uses_rbp {
            odd = mix(odd, regs.rbp as u64);
        }
        let mut pairs = known.slots.chunks_exact(2);
        for pair in &mut pairs {
            // SAFETY: the caller's promise.
            unsafe {
                even = mix(even, *base.add(pair[0] as usize));
                odd = mix(odd, *base.add(pair[1] as usize));
            }
        }
        for &slot in pairs.remainder() {
            // SAFETY: the caller's promise.
            even = mix(even, unsafe { *base.add(slot as usize) });
        }
        (even, odd)
    }
}

#[inline(always)]
fn place_of(what: What, regs: EntryRegs) -> usize {
    let hash =
        mix(mix(regs.ip as u64, regs.sp as u64), u64::from(what.function) ^ u64::from(what.noun) << 16);
    (hash >> (u64::BITS - PLACES.trailing_zeros())) as usize
}

#[inline(always)]
fn stack_of(hash: (u64, u64)) -> usize {
    (mix(hash.0, hash.1) >> (u64::BITS - STACKS.trailing_zeros())) as usize
}
