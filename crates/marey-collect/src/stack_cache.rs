//! A thread's cache from call stacks to sites.
//!
//! Return address and stack pointer of a call are nearly its stack, but not quite: a routine called
//! from many places at the same depth has them in common, and the stacks differ further up. So a
//! call's *place* — function, return address, stack pointer — remembers up to [`MAX_SLOTS`] stack
//! slots in which its stacks have been seen to differ, and their values choose the set in which to
//! look. Whatever is found there is checked in full ([`KnownStack::still_holds`]): a bad choice
//! costs a walk, never a wrong answer.

use marey_model::SiteId;

use crate::site::What;
use crate::unwind::{EntryRegs, KnownStack};

const PLACES: usize = 1 << 11;
/// Programs with thousands of call sites exist (ScaLAPACK's tests have 3500). A stack takes some
/// 400 bytes, so that the cache of a thread stays below 4 MiB.
const SETS: usize = 1 << 12;
const WAYS: usize = 2;
const MAX_SLOTS: usize = 6;

/// The cache.
pub(crate) struct StackCache {
    places: Vec<Place>,
    sets: Vec<[Option<Box<Known>>; WAYS]>,
    next_way: u8,
}

#[derive(Clone, Copy)]
struct Place {
    what: What,
    ip: usize,
    sp: usize,
    slots: [usize; MAX_SLOTS],
    n_slots: usize,
}

struct Known {
    what: What,
    stack: KnownStack,
    site: SiteId,
}

fn mix(hash: usize, word: usize) -> usize {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl StackCache {
    pub(crate) fn new() -> Self {
        let nowhere = What { function: u32::MAX, noun: u32::MAX };
        let place = Place { what: nowhere, ip: 0, sp: 0, slots: [0; MAX_SLOTS], n_slots: 0 };
        let mut cache = Self { places: vec![place; PLACES], sets: Vec::new(), next_way: 0 };
        cache.sets.resize_with(SETS, Default::default);
        cache
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    /// The site of the call, if its stack is known.
    ///
    /// # Safety
    /// `regs` are those of a call of this thread that has not returned; all stacks in the cache are
    /// this thread's.
    #[inline]
    pub(crate) unsafe fn find(&mut self, what: What, regs: EntryRegs) -> Option<SiteId> {
        // SAFETY: the caller's promise.
        let set = unsafe { self.set(what, regs) };
        for known in self.sets[set].iter().flatten() {
            // SAFETY: as above.
            if known.what == what && unsafe { known.stack.still_holds(regs) } {
                return Some(known.site);
            }
        }
        None
    }

    /// Remembers that the call's stack has this site.
    ///
    /// # Safety
    /// As for [`Self::find`].
    pub(crate) unsafe fn insert(&mut self, what: What, regs: EntryRegs, stack: KnownStack, site: SiteId) {
        // SAFETY: the caller's promise.
        let set = unsafe { self.set(what, regs) };
        let rivals = self.sets[set].iter().flatten().filter(|known| known.what == what);
        let difference = rivals.filter_map(|known| known.stack.first_difference(&stack)).next();
        if let Some(slot) = difference {
            let place = &mut self.places[place_of(what, regs)];
            if place.n_slots < MAX_SLOTS && !place.slots[..place.n_slots].contains(&slot) {
                place.slots[place.n_slots] = slot;
                place.n_slots += 1;
            }
        }
        // SAFETY: the caller's promise. The set is another one if a slot was added.
        let set = unsafe { self.set(what, regs) };
        let free = self.sets[set].iter().position(Option::is_none);
        let way = free.unwrap_or(usize::from(self.next_way) % WAYS);
        self.next_way = self.next_way.wrapping_add(1);
        self.sets[set][way] = Some(Box::new(Known { what, stack, site }));
    }

    /// The set in which the call's stack would be.
    ///
    /// # Safety
    /// As for [`Self::find`].
    #[inline(always)]
    unsafe fn set(&mut self, what: What, regs: EntryRegs) -> usize {
        let place = &mut self.places[place_of(what, regs)];
        if (place.what, place.ip, place.sp) != (what, regs.ip, regs.sp) {
            *place = Place { what, ip: regs.ip, sp: regs.sp, slots: [0; MAX_SLOTS], n_slots: 0 };
        }
        let mut hash = mix(mix(regs.ip, regs.sp), what.function as usize | (what.noun as usize) << 32);
        for &slot in &place.slots[..place.n_slots] {
            // SAFETY: the slot lies above the stack pointer of a call at the same place in the same
            // stack, and so above this call's, which is the same.
            hash = mix(hash, unsafe { *(slot as *const usize) });
        }
        hash >> (usize::BITS - SETS.trailing_zeros())
    }
}

#[inline(always)]
fn place_of(what: What, regs: EntryRegs) -> usize {
    let hash = mix(mix(regs.ip, regs.sp), what.function as usize ^ (what.noun as usize) << 16);
    hash >> (usize::BITS - PLACES.trailing_zeros())
}
