//! Which memory has been made lately: blocks that are followed, and Views of Kokkos.
//!
//! The one idea: of memory that nobody knows each thread remembers so, and what is made there ends that. So everything
//! made has a number, the last ones are in a ring, and whoever remembers an address looks through those that have come
//! since. Who has missed more than the ring holds has to find out anew, which costs as much as going through some rings.
//! Nobody waits: a place that two threads write at once is one that says nothing.
//!
//! Deliberately absent: what is given back, which each datum says of itself ([`super::cache`]).

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};

/// Numbers in the ring.
const KEPT: u32 = 256;
/// Numbers begin anew from here. What is remembered that long without having been used is taken for newer than it is.
const NUMBERS: u32 = 1 << 23;
/// In a place that has been written, beside the number.
const WHOLE: u32 = NUMBERS;
/// A place that is being written.
const BUSY: u32 = u32::MAX;

/// What was made.
struct Made {
    /// How many there were with it, and [`WHOLE`]; 0 before the first.
    number: AtomicU32,
    start: AtomicUsize,
    end: AtomicUsize,
}

impl Made {
    const fn new() -> Self {
        Self { number: AtomicU32::new(0), start: AtomicUsize::new(0), end: AtomicUsize::new(0) }
    }
}

struct Ring {
    /// How many there have been.
    n_made: AtomicU32,
    places: [Made; KEPT as usize],
}

static RING: Ring = Ring::new();

/// Bits of a number.
pub(super) const OF_NUMBER: u32 = NUMBERS - 1;

/// Notes memory that whoever has made it does not know of yet.
#[inline]
pub(crate) fn note(start: usize, bytes: usize) {
    RING.note(start, start.saturating_add(bytes));
}

/// How many have been made, as far as [`OF_NUMBER`] says it.
#[inline(always)]
pub(super) fn n_made() -> u32 {
    RING.n_made.load(Ordering::Relaxed) & OF_NUMBER
}

/// Whether certainly none of those after `since` holds an address.
#[inline(always)]
pub(super) fn none_holds(address: usize, since: u32) -> bool {
    since == n_made() || RING.none_holds(address, since)
}

impl Ring {
    const fn new() -> Self {
        Self { n_made: AtomicU32::new(0), places: [const { Made::new() }; KEPT as usize] }
    }

    fn note(&self, start: usize, end: usize) {
        let number = self.n_made.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let Some(place) = self.places.get((number % KEPT) as usize) else { return };
        let before = place.number.load(Ordering::Relaxed);
        let claim = |before| {
            place.number.compare_exchange(before, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        if before != BUSY && claim(before) {
            fence(Ordering::Release);
            place.start.store(start, Ordering::Relaxed);
            place.end.store(end, Ordering::Relaxed);
            place.number.store(number & OF_NUMBER | WHOLE, Ordering::Release);
        }
    }

    #[inline(never)]
    fn none_holds(&self, address: usize, since: u32) -> bool {
        let now = self.n_made.load(Ordering::Relaxed);
        let n_missed = now.wrapping_sub(since) & OF_NUMBER;
        n_missed <= KEPT
            && (0..n_missed).all(|back| {
                let number = now.wrapping_sub(back);
                let Some(place) = self.places.get((number % KEPT) as usize) else { return false };
                let is_whole = || place.number.load(Ordering::Acquire) == number & OF_NUMBER | WHOLE;
                let was_whole = is_whole();
                let range = place.start.load(Ordering::Relaxed)..place.end.load(Ordering::Relaxed);
                fence(Ordering::Acquire);
                was_whole && is_whole() && !range.contains(&address)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_since_is_looked_at_and_what_was_there_before_is_not() {
        let ring = Ring::new();
        ring.note(1000, 2000);
        assert!(ring.none_holds(1500, 1));
        assert!(!ring.none_holds(1500, 0) && !ring.none_holds(1000, 0) && !ring.none_holds(1999, 0));
        assert!(ring.none_holds(999, 0) && ring.none_holds(2000, 0));
        ring.note(5000, 6000);
        assert!(ring.none_holds(1500, 1) && !ring.none_holds(5500, 1) && ring.none_holds(5500, 2));
    }

    #[test]
    fn who_has_missed_more_than_there_is_room_for_knows_nothing() {
        let ring = Ring::new();
        (0..KEPT).for_each(|_| ring.note(1000, 2000));
        assert!(ring.none_holds(3000, 0));
        ring.note(1000, 2000);
        assert!(!ring.none_holds(3000, 0) && ring.none_holds(3000, 1));
    }

    #[test]
    fn numbers_begin_anew() {
        let ring = Ring::new();
        for start in [u32::MAX - 1, NUMBERS - 2] {
            ring.n_made.store(start, Ordering::Relaxed);
            (0..4).for_each(|it| ring.note(1000 * it, 1000 * it + 10));
            let since = start & OF_NUMBER;
            assert!(
                ring.none_holds(500, since) && (0..4).all(|it| !ring.none_holds(1000 * it, since)),
                "{start}"
            );
        }
    }

    /// Each thread makes memory of its own and asks for it at once, while others write the same places.
    #[test]
    fn what_a_thread_has_made_it_finds_whatever_others_do() {
        static RING: Ring = Ring::new();
        std::thread::scope(|scope| {
            for thread in 1..=4_usize {
                scope.spawn(move || {
                    for turn in 0..50_000 {
                        let (since, at) =
                            (RING.n_made.load(Ordering::Relaxed) & OF_NUMBER, thread << 32 | turn << 8);
                        RING.note(at, at + 200);
                        assert!(!RING.none_holds(at + 100, since), "{thread} {turn}");
                    }
                });
            }
        });
    }
}
