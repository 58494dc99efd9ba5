//! A thread's cache from call stacks to sites.
//!
//! What a walked stack depended on are the values of certain stack slots ([`StackCapture::slots`]).
//! Calls at the same *place* — function, return address, stack pointer — mostly depend on the same
//! slots, their *shape*; so a place remembers its few shapes, and a stack is recognised by a hash of
//! 128 bits over the values in the slots of a shape. Equal values mean an equal walk, whatever
//! stack the shape was learnt from. (Comparing the values themselves would be as sound, but takes 16
//! bytes of memory for each slot of each stack.)
//!
//! Programs with thousands of call sites would still wait for memory at every call. But programs
//! repeat themselves, so each stack remembers two that followed it. The line of the likelier and its
//! shape's are asked for while the program is busy with the call before, and mostly they are all
//! that is needed to recognise the next call.

use marey_model::SiteId;
use rustc_hash::FxHashMap;

use crate::site::What;
use crate::unwind::{EntryRegs, StackCapture};

/// Stacks that are remembered; beyond it the memory starts anew.
const MAX_STACKS: usize = 1 << 14;
/// Shapes that a place remembers; a further one takes the place of the oldest.
const MAX_SHAPES: usize = 6;
/// Slots that a shape may have.
const MAX_SLOTS: usize = 255;

/// The cache: 64 bytes for each stack and each shape, and as much again for finding them.
#[repr(C)]
pub(crate) struct StackCache {
    stacks: Vec<Stack>,
    /// Number of the stack found last.
    last: u32,
    shapes: Vec<Line>,
    shape_numbers: FxHashMap<Box<[u32]>, u32>,
    places: FxHashMap<Place, Shapes>,
    by_hash: FxHashMap<Hash, u32>,
}

/// Where a call is made, before its stack is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    what: What,
    ip: usize,
    sp: usize,
}

/// A hash of a place and its stack.
type Hash = (u64, u64);

/// A stack that is known.
#[repr(C, align(64))]
struct Stack {
    place: Place,
    hash: Hash,
    site: u32,
    shape: u32,
    /// The stack that mostly comes after this one, and its shape; its own number at first.
    next: u32,
    next_shape: u32,
    /// Another one that did.
    other: u32,
    /// How often another one came in a row. At the second time it becomes the expected one: a loop
    /// that ends should not make its stacks forget each other.
    others: u32,
}

#[derive(Default)]
struct Shapes {
    numbers: [u32; MAX_SHAPES],
    added: usize,
}

/// Shapes one after the other, each beginning on a line of its own: a word that says how many slots
/// there are and whether the frame pointer matters, then the slots, as distances in words from the
/// stack pointer.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u32; WORDS]);

const WORDS: usize = 16;
const USES_RBP: u32 = 1 << 31;

#[inline(always)]
fn mix(hash: u64, word: u64) -> u64 {
    // Each step is a bijection of `hash` and of `word`: two stacks that differ in one slot never
    // collide.
    (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl StackCache {
    pub(crate) fn new() -> Self {
        Self {
            stacks: Vec::new(),
            last: 0,
            shapes: Vec::new(),
            shape_numbers: FxHashMap::default(),
            places: FxHashMap::default(),
            by_hash: FxHashMap::default(),
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
    #[inline(always)]
    pub(crate) unsafe fn find(&mut self, what: What, regs: EntryRegs) -> Option<SiteId> {
        let place = Place { what, ip: regs.ip, sp: regs.sp };
        let number = self.stacks.get(self.last as usize)?.next;
        let guess = self.stacks.get(number as usize)?;
        // SAFETY: the caller's promise.
        if !unsafe { self.is(guess, place, regs.rbp) } {
            // SAFETY: the caller's promise.
            return unsafe { self.search(place, regs.rbp) };
        }
        let site = guess.site;
        self.prefetch(guess);
        if let Some(last) = self.stacks.get_mut(self.last as usize) {
            last.others = 0;
        }
        self.last = number;
        Some(SiteId(site))
    }

    /// Whether the call at `place` has the known stack.
    ///
    /// # Safety
    /// The place is that of a call of this thread that has not returned.
    #[inline(always)]
    unsafe fn is(&self, known: &Stack, place: Place, rbp: usize) -> bool {
        // SAFETY: the shape was learnt at this very place.
        known.place == place && unsafe { self.hash(place, rbp, known.shape) } == known.hash
    }

    /// Has the processor fetch what will probably be needed next.
    #[inline(always)]
    fn prefetch(&self, found: &Stack) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: prefetching touches nothing, whatever the address.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let stacks = self.stacks.as_ptr();
            _mm_prefetch::<_MM_HINT_T0>(stacks.wrapping_add(found.next as usize).cast());
            _mm_prefetch::<_MM_HINT_T0>(stacks.wrapping_add(found.other as usize).cast());
            _mm_prefetch::<_MM_HINT_T0>(self.shapes.as_ptr().wrapping_add(found.next_shape as usize).cast());
        }
    }

    /// Finds a stack that did not come when it was expected.
    #[inline(never)]
    unsafe fn search(&mut self, place: Place, rbp: usize) -> Option<SiteId> {
        let other = self.stacks.get(self.last as usize)?.other;
        let guess = self.stacks.get(other as usize)?;
        // SAFETY: the caller's promise.
        if unsafe { self.is(guess, place, rbp) } {
            let site = guess.site;
            self.follow(other);
            return Some(SiteId(site));
        }
        let shapes = self.places.get(&place)?;
        let number = shapes.numbers[..shapes.added.min(MAX_SHAPES)].iter().find_map(|&shape| {
            // SAFETY: the shape was learnt at this place.
            let hash = unsafe { self.hash(place, rbp, shape) };
            self.by_hash.get(&hash).copied()
        })?;
        self.follow(number);
        self.stacks.get(number as usize).map(|stack| SiteId(stack.site))
    }

    /// Notes that the stack `number`, which was not expected, came after the last one.
    fn follow(&mut self, number: u32) {
        let Some(shape) = self.stacks.get(number as usize).map(|stack| stack.shape) else { return };
        let before = self.last;
        if let Some(last) = self.stacks.get_mut(before as usize) {
            last.others = if last.other == number { last.others + 1 } else { 1 };
            if last.next == before || last.others >= 2 {
                (last.next, last.next_shape, last.other, last.others) = (number, shape, last.next, 0);
            } else {
                last.other = number;
            }
        }
        self.last = number;
        if let Some(found) = self.stacks.get(number as usize) {
            self.prefetch(found);
        }
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
        if self.stacks.len() >= MAX_STACKS {
            self.clear();
        }
        let Some(shape) = self.shape(regs, capture) else { return };
        let place = Place { what, ip: regs.ip, sp: regs.sp };
        let shapes = self.places.entry(place).or_default();
        if !shapes.numbers[..shapes.added.min(MAX_SHAPES)].contains(&shape) {
            shapes.numbers[shapes.added % MAX_SHAPES] = shape;
            shapes.added += 1;
        }
        // SAFETY: the caller's promise.
        let hash = unsafe { self.hash(place, regs.rbp, shape) };
        let Ok(number) = u32::try_from(self.stacks.len()) else { return };
        // Nothing follows it yet; itself is as good a guess as any.
        self.stacks.push(Stack {
            place,
            hash,
            site: site.0,
            shape,
            next: number,
            next_shape: shape,
            other: number,
            others: 0,
        });
        self.by_hash.insert(hash, number);
        self.follow(number);
    }

    /// The number of the capture's shape: the line that it begins on.
    fn shape(&mut self, regs: EntryRegs, capture: &StackCapture) -> Option<u32> {
        let distances = capture.slots().map(|slot| u32::try_from((slot - regs.sp) / 8).ok());
        let slots: Vec<u32> = distances.collect::<Option<_>>()?;
        let len = u32::try_from(slots.len()).ok().filter(|_| slots.len() <= MAX_SLOTS)?;
        let head = if capture.uses_rbp() { len | USES_RBP } else { len };
        let words: Box<[u32]> = core::iter::once(head).chain(slots).collect();
        let new = u32::try_from(self.shapes.len()).ok()?;
        let lines = words.chunks(WORDS).map(|chunk| {
            let mut line = [0; WORDS];
            line[..chunk.len()].copy_from_slice(chunk);
            Line(line)
        });
        if let Some(&known) = self.shape_numbers.get(&words) {
            return Some(known);
        }
        self.shapes.extend(lines);
        self.shape_numbers.insert(words, new);
        Some(new)
    }

    /// Hash over the call's place and the values in the shape's slots.
    ///
    /// # Safety
    /// The shape was learnt at the same place of the same stack, so its slots lie between the stack
    /// pointer and the end of the stack.
    #[inline(always)]
    unsafe fn hash(&self, place: Place, rbp: usize, shape: u32) -> Hash {
        // SAFETY: shapes are numbered by their first line and written whole; the caller promises
        // that their slots may be read.
        unsafe {
            let words = self.shapes.as_ptr().add(shape as usize).cast::<u32>();
            let head = *words;
            let (mut slot, end) = (words.add(1), words.add(1 + (head & !USES_RBP) as usize));
            let base = place.sp as *const u64;
            let mut even =
                mix(place.ip as u64, u64::from(place.what.function) | u64::from(place.what.noun) << 32);
            let mut odd = mix(place.sp as u64, u64::from(shape));
            if head & USES_RBP != 0 {
                odd = mix(odd, rbp as u64);
            }
            while slot.add(1) < end {
                even = mix(even, *base.add(*slot as usize));
                odd = mix(odd, *base.add(*slot.add(1) as usize));
                slot = slot.add(2);
            }
            if slot < end {
                even = mix(even, *base.add(*slot as usize));
            }
            (even, odd)
        }
    }
}
