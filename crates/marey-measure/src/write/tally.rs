//! Counting a visit: what each visit of a region that is reduced costs.
//!
//! The one idea: the number of visits of a call path is one word of the process's file, and which one that is stands in
//! one of the thread's places, as long as the same regions are open. So a visit costs two loads, two comparisons and two
//! additions. A site that finds its place taken by another takes it back ([`super::reduced`]).
//!
//! Deliberately absent: which word counts what, and visits that are timed.

#![expect(clippy::cast_possible_truncation, reason = "sites are 32 bits")]

use core::sync::atomic::{Ordering, compiler_fence};

use marey_model::ClockKind;

use crate::clock;
use crate::thread::Thread;

/// Sites of a thread that have a place at once; beyond so many, one takes it from another.
pub(crate) const PLACES: usize = 64;
/// Where the visits of a site are counted. The layout is part of the ABI of `marey.h`; zeros are no site.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub struct Place {
    /// The word that has the number of visits of the site's call path.
    pub counter: *mut u64,
    /// The thread's cursor when that was found out.
    pub cursor: u64,
    /// The site plus 1.
    pub site: u32,
    /// Visits until the next stretch; 0 in one.
    pub left: u32,
    /// Visits that are left of the stretch.
    pub(super) stretch: u32,
    /// For random numbers.
    pub(super) random: u32,
}

/// Counts a visit of `site`, which has this place, if that takes no more than adding 1. Else [`super::visit`] is for it.
///
/// # Safety
/// `thread` is a descriptor of the calling thread, and the place one that [`Thread::reduced`] has told.
#[inline(always)]
pub unsafe fn tally(thread: *mut Thread, site: u32, place: usize) -> bool {
    // SAFETY: the caller's promise; the thread's places, if it has any, are so many.
    unsafe {
        if (*thread).tally.is_null() {
            return false;
        }
        let place = (*thread).tally.add(place);
        // Before the comparisons and behind them: a handler that gives the place to another site, or has it count
        // elsewhere, is seen by one of these, or comes later and does no harm, for a word never moves.
        let counter = (&raw const (*place).counter).read_volatile();
        let left = (*place).left;
        compiler_fence(Ordering::SeqCst);
        if (*place).site != site + 1 || (*place).cursor != (*thread).cursor || left == 0 {
            return false;
        }
        compiler_fence(Ordering::SeqCst);
        if (&raw const (*place).counter).read_volatile() != counter {
            return false;
        }
        (*place).left = left - 1;
        add_one(counter);
        true
    }
}

/// Which words count visits is no longer known: other regions are open than when it was, or may be.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
pub(crate) unsafe fn forget_words(thread: *mut Thread) {
    // SAFETY: the caller's promise; the thread's places are so many.
    unsafe {
        if !(*thread).tally.is_null() {
            for place in 0..PLACES {
                (*(*thread).tally.add(place)).cursor = 0;
            }
        }
    }
}

/// Adds 1 in one instruction, which no signal handler can come in the middle of.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(super) unsafe fn add_one(counter: *mut u64) {
    // SAFETY: the caller's promise: it is a word of the calling thread's.
    unsafe { core::arch::asm!("add qword ptr [{}], 1", in(reg) counter, options(nostack)) };
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(super) unsafe fn add_one(counter: *mut u64) {
    use core::sync::atomic::AtomicU64;
    // SAFETY: the caller's promise: it is an aligned word that lives as long as the thread.
    unsafe { AtomicU64::from_ptr(counter).fetch_add(1, Ordering::Relaxed) };
}

/// What it costs to count a visit here and now, in hundredths of a tick: the real code. The least of several rounds.
/// Visits of one site would wait for each other, as they do not where something happens in them; so there are four.
pub(crate) fn count_cost(thread: *mut Thread, kind: ClockKind) -> u64 {
    const SITES: usize = 4;
    let mut numbers = [0; SITES];
    let mut places = [const { Place::NONE }; PLACES];
    let mut best = u64::MAX;
    // SAFETY: the descriptor is the caller's alone, and what it points to outlives the loop.
    unsafe {
        let kept = (*thread).tally;
        (*thread).tally = places.as_mut_ptr();
        for _ in 0..8 {
            for (idx, counter) in numbers.iter_mut().enumerate() {
                places[idx] = Place {
                    counter,
                    cursor: (*thread).cursor,
                    site: idx as u32 + 1,
                    left: 1000,
                    ..Place::NONE
                };
            }
            let before = clock::ticks_of(kind);
            for visit in 0..200 {
                core::hint::black_box(tally(
                    core::hint::black_box(thread),
                    visit % SITES as u32,
                    visit as usize % SITES,
                ));
            }
            best = best.min(clock::ticks_of(kind).saturating_sub(before));
        }
        (*thread).tally = kept;
    }
    core::hint::black_box(numbers);
    best / 2
}

impl Place {
    const NONE: Self =
        Self { counter: core::ptr::null_mut(), cursor: 0, site: 0, left: 0, stretch: 0, random: 0 };
}
