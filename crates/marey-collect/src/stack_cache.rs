//! A thread's cache from call stacks to sites.
//!
//! What a walked stack depended on are the values of certain stack slots ([`StackCapture::slots`]), its
//! *shape*. A stack is recognised by its stack pointer and a hash of 128 bits over the call and the
//! values in the slots of its shape. Equal values mean an equal walk, whatever stack the shape was
//! learnt from. (Comparing the values themselves would be as sound, but takes 16 bytes of memory for
//! each slot of each stack.)
//!
//! Programs with thousands of call sites would still wait for memory at every call. But programs
//! repeat themselves, so each stack remembers three that followed it. All that is needed to recognise
//! a stack lies in one line, slots included; the lines of two are asked for while the program is busy
//! with the call before. Only when none of the three comes are the tables looked at, of the stacks at
//! a place and of all stacks by hash, which are small and know stacks by number. (In a program with
//! 3 400 stacks that comes to 93, 3 and 2 in 100 calls; 1 is searched for, 1 new.)
//!
//! It does not know how long what it learnt is true: see [`StackCache::epoch`].

mod index;

#[cfg(test)]
mod tests;

use marey_model::SiteId;
use rustc_hash::FxHashMap;

use crate::site::What;
use crate::unwind::{EntryRegs, StackCapture};
use index::Index;

/// Stacks that are remembered; beyond it the memory starts anew.
const MAX_STACKS: usize = 1 << 14;
/// Shapes that are tried at a place; a further one takes the place of another.
const MAX_SHAPES: usize = 6;
/// Slots that a stack's own line has room for. A walk through ten frames needs some ten, of gcc's code
/// with optimisation.
const SLOTS: usize = 14;
/// As many of them are always looked at, needed or not: a loop that ends at the right slot takes
/// longer, as the processor guesses its end wrong.
const ALWAYS: usize = 12;

const _: () = assert!(size_of::<Stack>() == 64 && MAX_STACKS <= 1 << 16);

/// The cache: 64 bytes for each stack, and a third as much for finding them. What each call needs
/// comes first, in one line.
#[repr(C, align(64))]
pub(crate) struct StackCache {
    stacks: Vec<Stack>,
    /// What the addresses in the stacks mean changes now and then; this is for whoever knows when.
    pub(crate) epoch: u64,
    /// Number of the stack found last.
    last: u16,
    /// Its [`Stack::next`], [`Stack::others`] and [`Stack::was_other`], so that its line need not be
    /// there any more.
    next: u16,
    others: [u16; 2],
    was_other: bool,
    /// By place, one stack of each shape that stacks there have.
    shapes: Index,
    by_hash: Index,
    /// Shapes that do not fit into lines, one after the other: how many slots, then their distances
    /// in words from the stack pointer.
    long: Vec<u32>,
    long_numbers: FxHashMap<Box<[u32]>, u32>,
}

/// A call before its stack is looked at.
#[derive(Clone, Copy)]
struct Call {
    what: What,
    regs: EntryRegs,
}

/// A hash of a call and its stack.
pub(crate) type Hash = (u64, u64);

/// A stack that is known.
#[repr(C, align(64))]
struct Stack {
    hash: Hash,
    sp: usize,
    site: u32,
    /// The stack that mostly comes after this one; its own number at first.
    next: u16,
    /// The last two others that did.
    others: [u16; 2],
    slots: [u16; SLOTS],
    flags: u8,
    /// Whether another one came the last time. If the same one does at the next time, it becomes the
    /// expected one: a loop that ends should not make its stacks forget each other.
    was_other: bool,
}

/// What a stack depends on besides its call.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// Distances in words from the stack pointer. Those not needed are 0, where the return address
    /// lies, which matters anyway. Of a long shape, its place in [`StackCache::long`].
    slots: [u16; SLOTS],
    /// [`USES_RBP`], [`MORE`], [`LONG`].
    flags: u8,
}

/// The frame pointer matters.
const USES_RBP: u8 = 1;
/// There are more than [`ALWAYS`] slots.
const MORE: u8 = 2;
/// The slots are too many or too far away for a line.
const LONG: u8 = 4;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn mix(hash: u64, word: u64) -> u64 {
    // A bijection of `hash` and of `word`.
    (hash.rotate_left(29) ^ word).wrapping_mul(FACTOR)
}

impl StackCache {
    pub(crate) fn new() -> Self {
        Self {
            stacks: Vec::new(),
            epoch: 0,
            last: 0,
            next: 0,
            others: [0; 2],
            was_other: false,
            shapes: Index::default(),
            by_hash: Index::default(),
            long: Vec::new(),
            long_numbers: FxHashMap::default(),
        }
    }

    /// Forgets all stacks.
    pub(crate) fn clear(&mut self) {
        *self = Self { epoch: self.epoch, ..Self::new() };
    }

    /// The site of the call, if its stack is known.
    ///
    /// # Safety
    /// `regs` are those of a call of this thread that has not returned, and the cache is this
    /// thread's.
    #[inline(always)]
    pub(crate) unsafe fn find(&mut self, what: What, regs: EntryRegs) -> Option<SiteId> {
        let call = Call { what, regs };
        let number = self.next;
        let guess = self.stacks.get(usize::from(number))?;
        // SAFETY: the caller's promise.
        if !unsafe { self.is(guess, call) } {
            // SAFETY: the caller's promise.
            return unsafe { self.search(call) };
        }
        let site = guess.site;
        if self.was_other
            && let Some(last) = self.stacks.get_mut(usize::from(self.last))
        {
            last.was_other = false;
        }
        self.arrive(number);
        Some(SiteId(site))
    }

    /// Whether the call has the known stack.
    ///
    /// # Safety
    /// The call is of this thread and has not returned.
    #[inline(always)]
    unsafe fn is(&self, known: &Stack, call: Call) -> bool {
        // SAFETY: at this very stack pointer the shape was learnt.
        known.sp == call.regs.sp && unsafe { self.hash(call, &known.slots, known.flags) } == known.hash
    }

    /// Makes the stack the last one, and has the processor fetch those that will probably follow.
    #[inline(always)]
    fn arrive(&mut self, number: u16) {
        let Some(stack) = self.stacks.get(usize::from(number)) else { return };
        self.last = number;
        (self.next, self.others, self.was_other) = (stack.next, stack.others, stack.was_other);
        self.prefetch(self.next);
        self.prefetch(self.others[0]);
    }

    #[inline(always)]
    fn prefetch(&self, number: u16) {
        prefetch(self.stacks.as_ptr().wrapping_add(usize::from(number)));
    }

    /// Finds a stack that did not come when it was expected.
    #[inline(never)]
    unsafe fn search(&mut self, call: Call) -> Option<SiteId> {
        // Nobody has asked for these lines yet.
        self.prefetch(self.others[1]);
        let tag = call.tag();
        self.shapes.prefetch(tag);
        let has = |&number: &u16| match self.stacks.get(usize::from(number)) {
            // SAFETY: the caller's promise.
            Some(stack) => unsafe { self.is(stack, call) },
            None => false,
        };
        let number = match self.others.into_iter().find(has) {
            Some(number) => number,
            None => self.shapes.find(tag, |example| {
                let example = self.stacks.get(usize::from(example))?;
                // Two places may have the same tag. A shape of another one is no harm: the call is in
                // the hash. But its slots may only be read if they lie in the stack.
                if example.sp != call.regs.sp {
                    return None;
                }
                // SAFETY: at this very stack pointer the shape was learnt.
                let hash = unsafe { self.hash(call, &example.slots, example.flags) };
                self.number_of(hash, call.regs.sp, example.shape())
            })?,
        };
        self.follow(number);
        self.stacks.get(usize::from(number)).map(|stack| SiteId(stack.site))
    }

    /// The number of a stack by all that tells it from others.
    fn number_of(&self, hash: Hash, sp: usize, shape: Shape) -> Option<u16> {
        self.by_hash.find(tag_of(hash), |number| {
            let stack = self.stacks.get(usize::from(number))?;
            (stack.hash == hash && stack.sp == sp && stack.shape() == shape).then_some(number)
        })
    }

    /// Notes that the stack `number`, which was not expected, came after the last one.
    fn follow(&mut self, number: u16) {
        let before = self.last;
        if let Some(last) = self.stacks.get_mut(usize::from(before)) {
            let [other, third] = last.others;
            if last.next == before || (last.was_other && other == number) {
                (last.next, last.others[0], last.was_other) = (number, last.next, false);
            } else {
                last.others = [number, if other == number { third } else { other }];
                last.was_other = true;
            }
        }
        self.arrive(number);
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
        let call = Call { what, regs };
        let Some(shape) = self.shape(regs, capture) else { return };
        // SAFETY: the caller's promise.
        let hash = unsafe { self.hash(call, &shape.slots, shape.flags) };
        let Ok(number) = u16::try_from(self.stacks.len()) else { return };
        if self.stacks.len() == self.stacks.capacity() {
            // Few steps: each copies all there is to memory that was never touched before.
            let wanted = (8 * self.stacks.len()).clamp(512, MAX_STACKS);
            self.stacks.reserve_exact(wanted - self.stacks.len());
        }
        // Nothing follows it yet; itself is as good a guess as any.
        let (next, others) = (number, [number; 2]);
        let Shape { slots, flags } = shape;
        self.stacks.push(Stack {
            hash,
            sp: regs.sp,
            site: site.0,
            next,
            others,
            slots,
            flags,
            was_other: false,
        });
        self.by_hash.insert(tag_of(hash), number);
        self.add_shape(call, shape, number);
        self.follow(number);
    }

    /// Notes the shape of stack `number` as one that stacks at its place may have.
    fn add_shape(&mut self, call: Call, shape: Shape, number: u16) {
        let (mut n_others, mut oldest) = (0, u16::MAX);
        let known = self.shapes.find(call.tag(), |example| {
            let stack = self.stacks.get(usize::from(example))?;
            (n_others, oldest) = (n_others + 1, oldest.min(example));
            (stack.sp == call.regs.sp && stack.shape() == shape).then_some(())
        });
        if known.is_some() {
            return;
        }
        if n_others < MAX_SHAPES {
            self.shapes.insert(call.tag(), number);
        } else {
            self.shapes.replace(call.tag(), oldest, number);
        }
    }

    /// The capture's shape.
    fn shape(&mut self, regs: EntryRegs, capture: &StackCapture) -> Option<Shape> {
        let rbp = if capture.uses_rbp() { USES_RBP } else { 0 };
        let mut shape = Shape { slots: [0; SLOTS], flags: rbp };
        for (i, slot) in capture.slots().enumerate() {
            let distance = u16::try_from((slot - regs.sp) / 8).ok();
            let (Some(place), Some(distance)) = (shape.slots.get_mut(i), distance) else {
                return self.long_shape(regs, capture, rbp | LONG);
            };
            *place = distance;
            if ALWAYS <= i {
                shape.flags |= MORE;
            }
        }
        Some(shape)
    }

    #[cold]
    fn long_shape(&mut self, regs: EntryRegs, capture: &StackCapture, flags: u8) -> Option<Shape> {
        let distances = capture.slots().map(|slot| u32::try_from((slot - regs.sp) / 8).ok());
        let slots: Box<[u32]> = distances.collect::<Option<_>>()?;
        let at = match self.long_numbers.get(&slots) {
            Some(&at) => at,
            None => {
                let at = u32::try_from(self.long.len()).ok()?;
                self.long.push(u32::try_from(slots.len()).ok()?);
                self.long.extend(&slots);
                self.long_numbers.insert(slots, at);
                at
            }
        };
        let mut shape = Shape { slots: [0; SLOTS], flags };
        (shape.slots[0], shape.slots[1]) = (at as u16, (at >> 16) as u16);
        Some(shape)
    }

    /// Hash over the call and the values in the shape's slots: four chains, so that the processor
    /// works on four slots at a time.
    ///
    /// Each step is a bijection of what came before and of the word, and so is the merging of the
    /// chains: two stacks that differ in one word never have the same hash. Those that differ in more
    /// have it by chance, at worst (if all differences are in one chain) one pair in 2^64.
    ///
    /// # Safety
    /// The shape was learnt at the same stack pointer of the same stack, so its slots lie between
    /// the stack pointer and the end of the stack.
    #[inline(always)]
    unsafe fn hash(&self, call: Call, slots: &[u16; SLOTS], flags: u8) -> Hash {
        let mut chains = call.seeds(flags & USES_RBP != 0);
        let mut take = |slots: &[u16]| {
            for (chain, &slot) in chains.iter_mut().zip(slots) {
                // SAFETY: the caller's promise.
                *chain = mix(*chain, unsafe { call.word(usize::from(slot)) });
            }
        };
        if flags & LONG != 0 {
            // SAFETY: the caller's promise.
            return unsafe { self.long_hash(call, slots, flags) };
        }
        let (always, more) = slots.split_at(ALWAYS);
        always.chunks_exact(4).for_each(&mut take);
        if flags & MORE != 0 {
            take(more);
        }
        merged(chains)
    }

    /// # Safety
    /// As for [`Self::hash`].
    #[cold]
    #[inline(never)]
    unsafe fn long_hash(&self, call: Call, place: &[u16; SLOTS], flags: u8) -> Hash {
        let mut chains = call.seeds(flags & USES_RBP != 0);
        let at = usize::from(place[0]) | usize::from(place[1]) << 16;
        let slots = self.long.get(at..).and_then(<[u32]>::split_first);
        let slots = slots.and_then(|(&len, slots)| slots.get(..len as usize)).unwrap_or_default();
        for slots in slots.chunks(4) {
            for (chain, &slot) in chains.iter_mut().zip(slots) {
                // SAFETY: the caller's promise.
                *chain = mix(*chain, unsafe { call.word(slot as usize) });
            }
        }
        merged(chains)
    }
}

impl Stack {
    #[inline(always)]
    fn shape(&self) -> Shape {
        Shape { slots: self.slots, flags: self.flags }
    }
}

impl Call {
    /// What the chains of a hash begin with.
    #[inline(always)]
    fn seeds(self, uses_rbp: bool) -> [u64; 4] {
        let rbp = if uses_rbp { self.regs.rbp as u64 } else { 0 };
        [mix(0, self.what.word()), mix(0, self.regs.ip as u64), mix(0, rbp), FACTOR]
    }

    /// The word at this distance from the stack pointer.
    ///
    /// # Safety
    /// The call has not returned and is of the calling thread, and the word lies in its stack.
    #[inline(always)]
    unsafe fn word(self, slot: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { *(self.regs.sp as *const u64).add(slot) }
    }

    /// For [`StackCache::shapes`]: the place of the call, which is the function, the return address
    /// and the stack pointer.
    fn tag(self) -> u32 {
        (mix(mix(mix(0, self.what.word()), self.regs.ip as u64), self.regs.sp as u64) >> 32) as u32
    }
}

/// A hash of words in their order, as good as that of a stack.
pub(crate) fn hash_of(words: impl Iterator<Item = u64>) -> Hash {
    let mut chains = [FACTOR; 4];
    for (i, word) in words.enumerate() {
        chains[i % 4] = mix(chains[i % 4], word);
    }
    merged(chains)
}

/// Has the processor fetch a line.
#[inline(always)]
fn prefetch<T>(_line: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching touches nothing, whatever the address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(_line.cast());
    }
}

#[inline(always)]
fn merged([a, b, c, d]: [u64; 4]) -> Hash {
    (mix(a, c), mix(b, d))
}

/// For [`StackCache::by_hash`].
fn tag_of(hash: Hash) -> u32 {
    ((hash.0 ^ hash.1) >> 32) as u32
}
