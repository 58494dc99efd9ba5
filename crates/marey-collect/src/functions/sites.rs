//! Sites of functions, by address: one table of the process, which every call looks into.
//!
//! The one idea: readers take no lock. An entry is written behind a lock and becomes visible with its address; a
//! table that is full is copied into a larger one, and stays where it is for those who still look into it. When the
//! program closes a library the table is emptied in place: a reader that found its address looks once more after
//! it has read the site, and asks anew if it is not there any more.
//!
//! Most functions are found where the search begins, in a quarter of the slots. A search ends [`REACH`] slots
//! further at the latest; the table has so many more at its end, so that nobody need go round.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use marey_measure::{Lock, sys};

/// A function and its site; address 0 is none.
struct Slot {
    function: AtomicUsize,
    site: AtomicU32,
}

const _: () = assert!(size_of::<Slot>() == 16);

/// Slots that a search looks at, at most.
const REACH: usize = 32;
/// Slots that a search begins at, of the first table: a power of two, enough for most programs.
const FIRST_BITS: u32 = 10;
/// Of the largest.
const LAST_BITS: u32 = 22;

/// Tables begin at whole pages.
#[repr(align(4096))]
struct First([Slot; (1 << FIRST_BITS) + REACH]);

static FIRST: First = First(
    [const { Slot { function: AtomicUsize::new(0), site: AtomicU32::new(0) } }; (1 << FIRST_BITS) + REACH],
);

/// The table's address, and in the bits that a page leaves free by how much a hash is to be shifted: one word, so
/// that nobody sees one without the other.
static TABLE: AtomicPtr<u8> = AtomicPtr::new(
    FIRST.0.as_ptr().cast::<u8>().cast_mut().wrapping_add((usize::BITS - FIRST_BITS) as usize),
);

/// How many functions the table has.
static LOCK: Lock<usize> = Lock::new(0);

/// A table as somebody looks into it.
#[derive(Clone, Copy)]
struct View {
    slots: *const Slot,
    shift: u32,
}

impl View {
    #[inline(always)]
    fn current() -> Self {
        let tagged = TABLE.load(Ordering::Acquire);
        let shift = tagged.addr() % sys::PAGE;
        Self { slots: tagged.map_addr(|address| address & !(sys::PAGE - 1)).cast(), shift: shift as u32 }
    }

    /// Slots that searches begin at.
    fn homes(self) -> usize {
        1 << (usize::BITS - self.shift)
    }

    fn slots(self) -> &'static [Slot] {
        // SAFETY: the table has so many, which stay for ever.
        unsafe { core::slice::from_raw_parts(self.slots, self.homes() + REACH) }
    }

    /// Where the search for a function begins: the top bits of the product depend on all of the address. Functions
    /// mostly lie some multiple of 16 bytes apart, and 16 times this number spreads such over the table as evenly
    /// as can be: it is the golden section of all numbers.
    #[inline(always)]
    fn home(self, function: usize) -> &'static Slot {
        // SAFETY: the shift leaves as many bits as there are homes for.
        unsafe {
            &*self.slots.add(function.wrapping_mul(0x09e3_779b_97f4_a7c1) >> (self.shift % usize::BITS))
        }
    }

    /// The slot of a function, or the empty one where it belongs; `None` if there is no such one within reach.
    fn place_of(self, function: usize) -> Option<&'static Slot> {
        // SAFETY: there are so many slots from each home on.
        let reach = unsafe { core::slice::from_raw_parts(self.home(function), REACH) };
        reach.iter().find(|slot| [function, 0].contains(&slot.function.load(Ordering::Acquire)))
    }

    /// Whether the function is new here; `None` if there is no place for it.
    fn put(self, function: usize, site: u32) -> Option<bool> {
        let slot = self.place_of(function)?;
        slot.site.store(site, Ordering::Release);
        Some(slot.function.swap(function, Ordering::Release) == 0)
    }
}

impl Slot {
    /// The site, if the slot is this function's.
    #[inline(always)]
    fn site_of(&self, function: usize) -> Option<u32> {
        if self.function.load(Ordering::Acquire) != function {
            return None;
        }
        let site = self.site.load(Ordering::Acquire);
        // It may have been emptied meanwhile, and filled with another one.
        (self.function.load(Ordering::Relaxed) == function).then_some(site)
    }
}

/// The site of the function that begins at an address, if it is where a search begins.
#[inline(always)]
pub(super) fn find_at_once(function: usize) -> Option<u32> {
    View::current().home(function).site_of(function)
}

/// The site of the function that begins at an address.
pub(super) fn find(function: usize) -> Option<u32> {
    View::current().place_of(function)?.site_of(function)
}

/// From now on the function at this address has this site. Where there is no room it is asked for anew each time.
pub(super) fn insert(function: usize, site: u32) {
    LOCK.with_or_renew(count, |known| {
        let mut view = View::current();
        loop {
            let has_room = *known < view.homes() / 4;
            if let Some(is_new) = has_room.then(|| view.put(function, site)).flatten() {
                *known += usize::from(is_new);
                return;
            }
            let Some(larger) = larger(view) else { return };
            view = larger;
        }
    });
}

/// A larger table with what is in this one, which everybody finds from now on.
fn larger(view: View) -> Option<View> {
    for bits in usize::BITS - view.shift + 1..=LAST_BITS {
        let len = size_of::<Slot>() * ((1 << bits) + REACH);
        let at = sys::map_zeros(len)?;
        let new = View { slots: at.cast(), shift: usize::BITS - bits };
        let mut filled = filled(view);
        if filled.all(|(function, slot)| new.put(function, slot.site.load(Ordering::Relaxed)).is_some()) {
            TABLE.store(at.wrapping_add(new.shift as usize), Ordering::Release);
            return Some(new);
        }
        // SAFETY: nobody else knows it.
        unsafe { sys::unmap(at, len) };
    }
    None
}

/// The functions of a table, with their slots.
fn filled(view: View) -> impl Iterator<Item = (usize, &'static Slot)> {
    let functions = view.slots().iter().map(|slot| (slot.function.load(Ordering::Relaxed), slot));
    functions.filter(|&(function, _)| function != 0)
}

/// How many functions the table has, where a fork has lost who knew it.
fn count() -> usize {
    filled(View::current()).count()
}

/// Empties the table, after a library was closed: its addresses may mean something else.
pub(crate) fn forget() {
    LOCK.with_or_renew(count, |known| {
        if core::mem::take(known) != 0 {
            filled(View::current()).for_each(|(_, slot)| slot.function.store(0, Ordering::Release));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only test that looks into the table, which is the process's.
    #[test]
    fn functions_are_found_as_the_table_grows_and_after_it_was_emptied() {
        let functions = || (1..5000_usize).map(|n| 0x5555_5555_0000 + n * 16);
        assert_eq!(find(0x5555_5555_0010), None);
        for round in 0..2 {
            for (site, function) in (round..).zip(functions()) {
                insert(function, site);
                insert(function, site);
                assert_eq!(find(function), Some(site));
            }
            for (site, function) in (round..).zip(functions()) {
                assert_eq!(find(function), Some(site), "{function:x}");
                assert_eq!(find(function + 1), None);
            }
            let at_once = functions().filter(|&function| find_at_once(function).is_some()).count();
            assert!(at_once > 4999 / 10 * 9, "{at_once}");
            assert_eq!((count(), LOCK.with(|known| *known)), (4999, Some(4999)));
            forget();
            assert!(functions().all(|function| find(function).is_none()));
        }
    }
}
