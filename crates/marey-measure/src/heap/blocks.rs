//! Which blocks are there: by address their size, and who allocated them.
//!
//! The one idea: nobody waits. A block is entered by whoever has just got it from the allocator, and taken out by
//! whoever gives it back, so no two threads ever ask for the same one at the same time; only for the free places
//! beside it they compete, by one exchange.
//!
//! There are several tables, each larger than the one before. A block goes into the first that has a free place among
//! the few where it may lie: so programs with few blocks touch 64 KiB, and those with millions 38 MiB at most. What
//! fits into none is not recorded, which the caller counts.

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::sys;

/// Powers of two of the places in each table.
const SIZES: [u32; 4] = [12, 15, 18, 21];
/// Neighbouring places where a block may lie, two lines of the processor's cache.
const BUCKET: usize = 8;
/// Bits of the size in a place; behind it is the node, and at the top whether the block is marked.
const SIZE_BITS: u32 = 44;
const MARKED: u64 = 1 << 63;
/// Places of larger tables are not gone through: it would take longer than what is asked for is worth.
const MOST_PLACES: usize = 1 << 18;

/// A place in a table.
#[repr(C)]
struct Place {
    /// Address of the block; 0 if there is none.
    address: AtomicU64,
    /// Its node and size.
    what: AtomicU64,
}

impl Place {
    /// Marks the block in this place if it holds an address.
    #[inline(always)]
    fn mark(&self, address: usize) -> Option<(usize, Taken)> {
        let start = self.address.load(Ordering::Acquire);
        let offset = (address as u64).wrapping_sub(start);
        if start == 0 || taken(self.what.load(Ordering::Relaxed)).size <= offset {
            return None;
        }
        let what = self.what.fetch_or(MARKED, Ordering::Relaxed);
        Some((usize::try_from(start).ok()?, taken(what)))
    }
}

/// What is known of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The node of its call path.
    pub node: u32,
    /// Its size, bytes.
    pub size: u64,
    /// Somebody wants to know when it is given back.
    pub is_marked: bool,
}

/// All blocks. Zeros are none.
#[repr(C)]
pub(super) struct Blocks([AtomicPtr<Place>; SIZES.len()]);

/// The size that is counted for a block. What is larger than an address space is none.
pub(super) const fn counted(size: usize) -> u64 {
    let most = (1 << SIZE_BITS) - 1;
    if size as u64 > most { most } else { size as u64 }
}

impl Blocks {
    /// Enters a block. `None` if there is no room; else what was known of a block at this address, which the program
    /// has given back by a way that nobody saw.
    pub(super) fn insert(&self, address: usize, block: Taken) -> Option<Option<Taken>> {
        let mark = if block.is_marked { MARKED } else { 0 };
        let what = mark | u64::from(block.node) << SIZE_BITS | block.size;
        for number in 0..SIZES.len() {
            for place in self.bucket(number, address, true)? {
                let found = place.address.load(Ordering::Relaxed);
                if found == address as u64 {
                    return Some(Some(taken(place.what.swap(what, Ordering::Relaxed))));
                }
                let free = || {
                    place.address.compare_exchange(0, address as u64, Ordering::Relaxed, Ordering::Relaxed)
                };
                if found == 0 && free().is_ok() {
                    // Who gives the block back has got its address from whoever called us, and so comes later.
                    place.what.store(what, Ordering::Relaxed);
                    return Some(None);
                }
            }
        }
        None
    }

    /// Takes a block out. `None` if it is not there.
    pub(super) fn take(&self, address: usize) -> Option<Taken> {
        for number in 0..SIZES.len() {
            for place in self.bucket(number, address, false)? {
                if place.address.load(Ordering::Relaxed) == address as u64 {
                    let what = place.what.load(Ordering::Relaxed);
                    // Whoever looks for blocks finds none here until it is known how large the next one is.
                    place.what.store(0, Ordering::Release);
                    let free = place.address.compare_exchange(
                        address as u64,
                        0,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                    return free.is_ok().then(|| taken(what));
                }
            }
        }
        None
    }

    /// Marks the block that begins at an address.
    pub(super) fn mark_beginning(&self, address: usize) -> Option<(usize, Taken)> {
        self.place_of(address)?.mark(address)
    }

    /// Whether a block begins at an address.
    pub(super) fn begins_at(&self, address: usize) -> bool {
        self.place_of(address).is_some()
    }

    fn place_of(&self, address: usize) -> Option<&Place> {
        let is_there = |place: &&Place| place.address.load(Ordering::Acquire) == address as u64;
        let buckets = (0..SIZES.len()).map_while(|number| self.bucket(number, address, false));
        buckets.flatten().find(is_there)
    }

    /// Marks the block that an address lies in: where it begins, and what was known of it before. How many places were
    /// gone through comes beside.
    pub(super) fn mark(&self, address: usize) -> (Option<(usize, Taken)>, usize) {
        // Most buffers are the beginnings of blocks.
        if let Some(found) = self.mark_beginning(address) {
            return (Some(found), BUCKET);
        }
        let mut n_seen = 0;
        for (table, size) in self.0.iter().zip(SIZES) {
            let table = table.load(Ordering::Acquire);
            if table.is_null() || MOST_PLACES < 1 << size {
                break;
            }
            // SAFETY: the table has so many places, and stays.
            let places = unsafe { core::slice::from_raw_parts(table, 1 << size) };
            n_seen += places.len();
            if let Some(found) = places.iter().find_map(|place| place.mark(address)) {
                return (Some(found), n_seen);
            }
        }
        (None, n_seen)
    }

    /// The places of a table where a block may lie. `None` if there is no such table, and none to be had.
    #[inline(always)]
    fn bucket(&self, number: usize, address: usize, is_wanted: bool) -> Option<&[Place]> {
        let mut table = self.0[number].load(Ordering::Acquire);
        if table.is_null() {
            table = if is_wanted { self.open(number)? } else { return None };
        }
        // Blocks lie 16 bytes apart at least.
        let hash = (address as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let first = (hash >> (64 - SIZES[number])) as usize & !(BUCKET - 1);
        // SAFETY: the table has so many places, of which zeros are free ones, and stays.
        Some(unsafe { core::slice::from_raw_parts(table.add(first), BUCKET) })
    }

    #[cold]
    fn open(&self, number: usize) -> Option<*mut Place> {
        let len = size_of::<Place>() << SIZES[number];
        let made = sys::map_zeros(len)?.cast::<Place>();
        match self.0[number].compare_exchange(
            core::ptr::null_mut(),
            made,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) => Some(made),
            Err(other) => {
                // SAFETY: nobody knows of it.
                unsafe { sys::unmap(made.cast(), len) };
                Some(other)
            }
        }
    }
}

const fn taken(what: u64) -> Taken {
    Taken {
        node: ((what & !MARKED) >> SIZE_BITS) as u32,
        size: what & ((1 << SIZE_BITS) - 1),
        is_marked: what & MARKED != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Blocks {
        Blocks([const { AtomicPtr::new(core::ptr::null_mut()) }; SIZES.len()])
    }

    #[test]
    fn each_block_is_found_once_as_it_was_entered() {
        let blocks = none();
        let of = |n: usize| Taken {
            node: u32::try_from(n % 1000).unwrap(),
            size: counted(n * 7),
            is_marked: false,
        };
        let at = |n: usize| 0x7f00_0000_0010 + n * 4112;
        // More than the first two tables hold.
        for n in 0..100_000 {
            assert_eq!(blocks.insert(at(n), of(n)), Some(None));
        }
        for n in (0..100_000).rev() {
            assert_eq!(blocks.take(at(n)), Some(of(n)));
            assert_eq!(blocks.take(at(n)), None);
        }
    }

    #[test]
    fn a_block_whose_end_nobody_saw_makes_way() {
        let blocks = none();
        let (first, second) = (
            Taken { node: 1, size: 5000, is_marked: false },
            Taken { node: 2, size: 6000, is_marked: false },
        );
        assert_eq!(blocks.insert(4096, first), Some(None));
        assert_eq!(blocks.insert(4096, second), Some(Some(first)));
        assert_eq!((blocks.take(4096), blocks.take(4096)), (Some(second), None));
    }

    #[test]
    fn a_block_is_found_by_each_address_in_it_and_by_no_other() {
        let blocks = none();
        let block = |n: usize| Taken { node: 3, size: counted(n), is_marked: false };
        // Two tables.
        for n in 0..5000 {
            blocks.insert((n + 1) << 20, block(5000 + n));
        }
        for n in [0, 1, 77, 4999] {
            let start = (n + 1) << 20;
            let marked = Taken { is_marked: true, ..block(5000 + n) };
            for (before, inside) in [(block(5000 + n), 0), (marked, 1), (marked, 4096), (marked, 4999 + n)] {
                assert_eq!(blocks.mark(start + inside).0, Some((start, before)), "{n} {inside}");
            }
            assert_eq!((blocks.mark(start - 1).0, blocks.mark(start + 5000 + n).0), (None, None));
            assert_eq!(blocks.take(start), Some(marked));
            assert_eq!(blocks.mark(start + 1).0, None);
        }
        assert_eq!(blocks.take(3 << 20), Some(block(5002)));
    }

    #[test]
    fn what_fits_nowhere_is_refused() {
        let blocks = none();
        let block = Taken { node: 1, size: 1, is_marked: false };
        // All of one bucket in each table.
        let same = (1_usize..)
            .map(|n| n << 4)
            .filter(|&address| (address as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - 18) == 0);
        let addresses: Vec<usize> = same.take(200).collect();
        let entered = addresses.iter().filter(|&&address| blocks.insert(address, block).is_some()).count();
        assert!((24..200).contains(&entered), "{entered}");
        let found = addresses.iter().filter(|&&address| blocks.take(address).is_some()).count();
        assert_eq!(found, entered);
    }

    #[test]
    fn sizes_beyond_all_memory_are_cut_both_ways() {
        assert_eq!((counted(usize::MAX), counted(5)), ((1 << 44) - 1, 5));
    }
}
