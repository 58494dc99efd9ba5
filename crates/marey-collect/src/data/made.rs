//! Which memory has been made lately: blocks that are followed, and Views of Kokkos.
//!
//! The one idea: of memory that nobody knows each thread remembers so, and what is made there ends that. So everything
//! made has a number, the last ones are in a ring, and whoever remembers an address looks through those that have come
//! since. Who has missed more than the ring holds is told so: to find out anew takes up to some hundred times as long.
//! Nobody waits: a place that two threads write at once is one that says nothing.
//!
//! Deliberately absent: what is given back, which each datum says of itself ([`super::cache`]).

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};

/// Places in the ring. Programs make fewer large blocks than that from one message to the next, and going through all of them
/// takes less than a microsecond.
const KEPT: u32 = 256;
/// Numbers begin anew from here. Only what was not used for a multiple of so many, or for up to a ring more, is taken for
/// newer than it is, and then for 255 uses.
const NUMBERS: u32 = 1 << 23;
/// In a place that has been written, beside the number.
const WHOLE: u32 = NUMBERS;
/// A place that is being written.
const BUSY: u32 = u32::MAX;

/// What has been made since somebody looked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Made {
    /// All of it elsewhere.
    Elsewhere,
    /// Some of it at the address.
    Here,
    /// More than is known here.
    Missed,
}

/// What was made.
struct Place {
    /// How many there were with it, and [`WHOLE`]; 0 before the first.
    number: AtomicU32,
    start: AtomicUsize,
    end: AtomicUsize,
}

impl Place {
    const fn new() -> Self {
        Self { number: AtomicU32::new(0), start: AtomicUsize::new(0), end: AtomicUsize::new(0) }
    }
}

struct Ring {
    /// How many there have been.
    n_made: AtomicU32,
    places: [Place; KEPT as usize],
}

static RING: Ring = Ring::new();

/// Bits of a number.
pub(super) const OF_NUMBER: u32 = NUMBERS - 1;

/// Notes memory that can be found from now on, before its address is given to the program.
#[inline]
pub(crate) fn note(start: usize, bytes: usize) {
    RING.note(start, start.saturating_add(bytes));
}

/// How many have been made, as far as [`OF_NUMBER`] says it.
#[inline(always)]
pub(super) fn n_made() -> u32 {
    RING.n_made.load(Ordering::Relaxed) & OF_NUMBER
}

/// What has been made after the first `since`, seen from an address.
#[inline(always)]
pub(super) fn since(address: usize, since: u32) -> Made {
    if since == n_made() { Made::Elsewhere } else { RING.since(address, since) }
}

/// In a forked child: a thread that was writing a place is not there any more.
pub(crate) fn begin_anew() {
    for place in &RING.places {
        // A handler of signals may be at it.
        place.number.compare_exchange(BUSY, 0, Ordering::Relaxed, Ordering::Relaxed).ok();
    }
}

impl Ring {
    const fn new() -> Self {
        Self { n_made: AtomicU32::new(0), places: [const { Place::new() }; KEPT as usize] }
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
    fn since(&self, address: usize, since: u32) -> Made {
        let now = self.n_made.load(Ordering::Relaxed);
        let n_missed = now.wrapping_sub(since) & OF_NUMBER;
        let mut made = if n_missed <= KEPT { Made::Elsewhere } else { Made::Missed };
        for back in 0..n_missed.min(KEPT) {
            let number = now.wrapping_sub(back);
            let Some(place) = self.places.get((number % KEPT) as usize) else { return Made::Missed };
            let is_whole = || place.number.load(Ordering::Acquire) == number & OF_NUMBER | WHOLE;
            let was_whole = is_whole();
            let range = place.start.load(Ordering::Relaxed)..place.end.load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            if !was_whole || !is_whole() {
                made = Made::Missed;
            } else if range.contains(&address) {
                return Made::Here;
            }
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_since_is_looked_at_and_what_was_there_before_is_not() {
        let ring = Ring::new();
        ring.note(1000, 2000);
        for (address, since, made) in [
            (1500, 1, Made::Elsewhere),
            (1500, 0, Made::Here),
            (1000, 0, Made::Here),
            (1999, 0, Made::Here),
            (999, 0, Made::Elsewhere),
            (2000, 0, Made::Elsewhere),
        ] {
            assert_eq!(ring.since(address, since), made, "{address} since {since}");
        }
        ring.note(5000, 6000);
        assert_eq!([1500, 5500].map(|it| ring.since(it, 1)), [Made::Elsewhere, Made::Here]);
        assert_eq!(ring.since(5500, 2), Made::Elsewhere);
    }

    #[test]
    fn who_has_missed_more_than_there_is_room_for_knows_what_is_there() {
        let ring = Ring::new();
        (0..KEPT).for_each(|_| ring.note(1000, 2000));
        assert_eq!(ring.since(3000, 0), Made::Elsewhere);
        ring.note(4000, 5000);
        assert_eq!([3000, 1500, 4500].map(|it| ring.since(it, 0)), [Made::Missed, Made::Here, Made::Here]);
        assert_eq!(ring.since(3000, 1), Made::Elsewhere);
    }

    #[test]
    fn numbers_begin_anew() {
        for start in [u32::MAX - 1, NUMBERS - 2] {
            let ring = Ring::new();
            ring.n_made.store(start, Ordering::Relaxed);
            let since = start & OF_NUMBER;
            (0..4).for_each(|it| ring.note(1000 * it, 1000 * it + 10));
            assert_eq!(ring.since(500, since), Made::Elsewhere, "{start}");
            assert!((0..4).all(|it| ring.since(1000 * it, since) == Made::Here), "{start}");
            (0..KEPT as usize).for_each(|_| ring.note(0, 10));
            assert_eq!(ring.since(500, since), Made::Missed, "{start}");
        }
    }

    /// Each thread makes memory of its own and asks for it at once, while others write the same places.
    #[test]
    fn what_a_thread_has_made_is_never_elsewhere_whatever_others_do() {
        static RING: Ring = Ring::new();
        std::thread::scope(|scope| {
            for thread in 1..=4_usize {
                scope.spawn(move || {
                    for turn in 0..50_000 {
                        let since = RING.n_made.load(Ordering::Relaxed) & OF_NUMBER;
                        let at = thread << 32 | turn << 8;
                        RING.note(at, at + 200);
                        assert_ne!(RING.since(at + 100, since), Made::Elsewhere, "{thread} {turn}");
                    }
                });
            }
        });
        // No place is left that says nothing.
        let since = RING.n_made.load(Ordering::Relaxed) & OF_NUMBER;
        (0..KEPT).for_each(|_| RING.note(1, 2));
        assert_eq!(RING.since(5, since), Made::Elsewhere);
    }
}
