//! Nouns that are constructs: the functions that compilers make of the bodies of regions and tasks, by their addresses.
//!
//! The one idea: a construct has a number in the process that is looked up without a lock; its name is found when the run
//! is merged, like that of an instrumented function.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use marey_measure::{Lock, Runtime};

use crate::functions;

/// Nouns from here on are constructs, see [`crate::site::What::noun`].
const NOUNS: u32 = 1 << 30;
/// Constructs beyond this many have no noun.
const MAX: usize = 1 << 12;

/// A construct.
struct Known {
    module: u32,
    vaddr: u64,
    name: String,
}

/// By their numbers.
static KNOWN: Lock<Vec<Known>> = Lock::new(Vec::new());

/// Where a number is looked up: address of the function and number, by a hash of the address.
static SLOTS: [Slot; SLOTS_LEN] =
    [const { Slot { function: AtomicUsize::new(0), number: AtomicU32::new(0) } }; SLOTS_LEN];
const SLOTS_LEN: usize = 4 * MAX;
const REACH: usize = 16;

struct Slot {
    function: AtomicUsize,
    number: AtomicU32,
}

/// Sites of constructs that say nothing of where they were entered from, plus 1, by what threads do for them.
static SITES: [[AtomicU32; 3]; MAX] = [const { [const { AtomicU32::new(0) }; 3] }; MAX];

fn slots(function: usize) -> impl Iterator<Item = &'static Slot> {
    let first = (function >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (first..first + REACH).map(|at| &SLOTS[at % SLOTS_LEN])
}

/// The noun of the construct of which a compiler has made the function at this address; `u32::MAX` without room.
pub(super) fn noun(runtime: &Runtime, function: usize) -> u32 {
    let known = slots(function).find(|slot| slot.function.load(Ordering::Acquire) == function);
    match known {
        Some(slot) => slot.number.load(Ordering::Relaxed),
        None => learn(runtime, function),
    }
}

#[cold]
fn learn(runtime: &Runtime, function: usize) -> u32 {
    if crate::alloc::is_exhausted() {
        return u32::MAX;
    }
    let place = functions::place_of(runtime, function);
    // A function that calls for a construct as its last deed is gone by then, and the runtime is nobody's construct.
    let is_runtime = super::is_runtime(place.name.as_bytes());
    let number = KNOWN.with(|known| {
        let here = known
            .iter()
            .position(|it| (it.module, it.vaddr, &it.name) == (place.module, place.vaddr, &place.name));
        let number = here.unwrap_or(known.len());
        if number >= MAX {
            return u32::MAX;
        }
        if here.is_none() && !is_runtime {
            known.push(Known { module: place.module, vaddr: place.vaddr, name: place.name });
        }
        let number = if is_runtime { u32::MAX } else { NOUNS + number as u32 };
        // Behind the lock, so that two constructs do not take one slot.
        if let Some(slot) = slots(function).find(|slot| slot.function.load(Ordering::Acquire) == 0) {
            slot.number.store(number, Ordering::Relaxed);
            slot.function.store(function, Ordering::Release);
        }
        number
    });
    number.unwrap_or(u32::MAX)
}

fn index(noun: u32) -> Option<usize> {
    noun.checked_sub(NOUNS).map(|index| index as usize).filter(|&index| index < MAX)
}

/// Module and virtual address of a noun that is a construct.
pub(crate) fn place(noun: u32) -> Option<(u32, u64)> {
    let index = index(noun)?;
    KNOWN.with(|known| known.get(index).map(|it| (it.module, it.vaddr))).flatten()
}

/// What it is called as long as nobody knows its name.
pub(crate) fn name(noun: u32) -> Option<String> {
    let index = index(noun)?;
    KNOWN.with(|known| known.get(index).map(|it| it.name.clone())).flatten()
}

/// Where the site is kept that says nothing but what threads do for a construct, of three things that they can do.
pub(super) fn site(noun: u32, which: usize) -> Option<&'static AtomicU32> {
    SITES[index(noun)?].get(which)
}

/// After a library was closed: its addresses may mean something else.
pub(super) fn forget() {
    for slot in SLOTS.iter().filter(|slot| slot.function.load(Ordering::Relaxed) != 0) {
        slot.function.store(0, Ordering::Release);
    }
}
