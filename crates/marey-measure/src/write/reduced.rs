//! Visits of regions that are reduced: recording each would cost more than the budget, so each is counted, and a few
//! are timed.
//!
//! The one idea: the number of visits of a call path is one word of the process's file, which each visit adds 1 to,
//! so that it is exact whatever ends the process. Which word that is, is known as long as nothing has been recorded
//! since the last visit: then the same regions are open. So a visit costs two loads, two comparisons and two
//! additions, and it is not on the stack of open regions.
//!
//! Every so many visits, at random, a *stretch* follows: visits one after the other that are timed, on the stack and
//! not in the stream, as those of [`super::beside`]. The first [`WARM`] are counted as any other, for the code that
//! times them is not in the processor's caches yet; the others become records like those of any visit, less what the
//! clock takes.
//!
//! A visit of a few instructions is as long as a step of the clock may be, and the processor would read the clock
//! before they are through. So it stands between fences, and begins a random while after the clock was read
//! ([`begin_timing`]): each single time is uncertain, and the mean of many is right. What fences, wait and clock take is
//! found out by the same code around nothing.
//!
//! Deliberately absent: which regions these are, and when ([`crate::govern`]).

#![expect(clippy::cast_possible_truncation, reason = "sites and gaps are 32 bits")]

use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use marey_model::spool::Open;

use super::beside::{self, claim, release};
use super::{ROOM, Scratch, commit, now, slow};
use crate::clock;
use crate::thread::Thread;

/// Sites of a thread that have a place at once; others take it from those.
pub(crate) const PLACES: usize = 64;
/// Visits of a stretch that are not timed, and those that are.
const WARM: u32 = 8;
const TIMED: u32 = 8;

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
    stretch: u32,
    /// For random numbers.
    random: u32,
}

/// Counts a visit of `site` if that takes no more than adding 1. Else [`visit`] is for it.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[inline(always)]
pub unsafe fn tally(thread: *mut Thread, site: u32) -> bool {
    // SAFETY: the caller's promise; the thread's places, if it has any, are so many.
    unsafe {
        if (*thread).tally.is_null() {
            return false;
        }
        let place = (*thread).tally.add(site as usize % PLACES);
        // First this: a handler that gives the place to another site is seen by the next comparison, or comes later
        // and does no harm, for a word never moves.
        let counter = (&raw const (*place).counter).read_volatile();
        compiler_fence(Ordering::SeqCst);
        if (*place).site != site + 1 || (*place).cursor != (*thread).cursor || (*place).left == 0 {
            return false;
        }
        (*place).left -= 1;
        add_one(counter);
        true
    }
}

/// Adds 1 in one instruction, which no signal handler can come in the middle of.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn add_one(counter: *mut u64) {
    // SAFETY: the caller's promise: it is a word of the calling thread's.
    unsafe { core::arch::asm!("add qword ptr [{}], 1", in(reg) counter, options(nostack)) };
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
unsafe fn add_one(counter: *mut u64) {
    use core::sync::atomic::AtomicU64;
    // SAFETY: the caller's promise: it is an aligned word that lives as long as the thread.
    unsafe { AtomicU64::from_ptr(counter).fetch_add(1, Ordering::Relaxed) };
}

/// What has become of a visit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// It is counted. It will not be left.
    Counted,
    /// It is open and will be left; `mark` is what [`super::enter_marked`] keeps.
    Open,
    /// It can only be recorded, and has not been entered.
    Not,
}

/// Counts a visit of `site`, or begins to time it.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[cold]
#[inline(never)]
pub unsafe fn visit(thread: *mut Thread, site: u32) -> Told {
    // SAFETY: the caller's promise; a claimed thread has sums, and its stack `max_depth` entries.
    unsafe {
        if tally(thread, site) {
            return Told::Counted;
        }
        if !claim(thread) {
            return Told::Not;
        }
        let Some(beside) = (*thread).beside.as_mut() else {
            release(thread);
            return Told::Not;
        };
        let Some(runtime) = (*thread).runtime else {
            release(thread);
            return Told::Not;
        };
        (*thread).tally = beside.places();
        let place = (*thread).tally.add(site as usize % PLACES);
        if (*place).site != site + 1 {
            let random = (*place).random | ((*thread).last as u32 ^ site << 16) | 1;
            *place = Place {
                counter: core::ptr::null_mut(),
                cursor: 0,
                site: site + 1,
                left: 0,
                stretch: 0,
                random,
            };
            (*place).left = draw(place, runtime.gap(site));
        }
        if (*place).left == 0 && (*place).stretch == 0 {
            (*place).stretch = WARM + TIMED;
        }
        let can_time = (*thread).depth < (*thread).max_depth && (*thread).timing == 0;
        if (*place).left == 0 && can_time {
            (*place).stretch -= 1;
            (*thread).is_warm = (*place).stretch >= TIMED;
            if (*place).stretch == 0 {
                (*place).left = draw(place, runtime.gap(site));
                (*place).cursor = 0;
            }
            *(*thread).stack.add((*thread).depth as usize) = Open { ticks: now(thread), site, reserved: 0 };
            (*thread).depth += 1;
            (*thread).pending += 1;
            (*thread).timing = site + 1;
            (*thread).ended = 0;
            release(thread);
            return Told::Open;
        }
        let told = match counter(thread, site) {
            Some(counter) => {
                (*place).left = (*place).left.saturating_sub(1);
                ((*place).counter, (*place).cursor) = (counter, (*thread).cursor);
                add_one(counter);
                Told::Counted
            }
            None => Told::Not,
        };
        release(thread);
        told
    }
}

/// The last thing that is done when a visit begins to be timed: reads the clock, and waits a random while, so that no
/// instant of the visit is more likely than another to see the clock's next step.
///
/// # Safety
/// [`visit`] has just said that the visit is open.
#[inline(always)]
pub unsafe fn begin_timing(thread: *mut Thread) {
    // SAFETY: the caller's promise. Where a handler has recorded something meanwhile the visit is in the stream, and
    // nobody looks at what stands here.
    unsafe {
        if (*thread).is_pending && (*thread).clock == 0 {
            let open = (*thread).stack.add((*thread).depth as usize - 1);
            (*thread).wait = next_random((*thread).wait | 1);
            let wait = (*thread).wait % WAIT;
            (*open).ticks = clock::fenced_tsc();
            clock::fence();
            clock::wait(wait);
            clock::fence();
        }
    }
}

/// Cycles that are waited for, at most: longer than steps of clocks that are known, 10 ns, take at 4 GHz.
const WAIT: u32 = 40;

/// The first thing that is done when a visit may be over that is being timed: reads the clock, if the innermost open
/// region is that.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[inline(always)]
pub unsafe fn end_timing(thread: *mut Thread) {
    // SAFETY: the caller's promise; entries below `depth` are filled.
    unsafe {
        if (*thread).timing != 0 && (*thread).clock == 0 && (*thread).ended == 0 && (*thread).depth != 0 {
            let innermost = (*thread).stack.add((*thread).depth as usize - 1);
            if (*innermost).site + 1 == (*thread).timing {
                (*thread).ended = clock::fenced_tsc();
            }
        }
    }
}

/// Whether the innermost open region, whose visit is pending and of `site`, is one that is being timed.
///
/// # Safety
/// As for [`end_timing`].
#[inline(always)]
pub(super) unsafe fn is_timed(thread: *const Thread, site: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (*thread).timing == site + 1 }
}

/// Leaves the visit that is being timed, which is the innermost and pending. The thread is claimed.
///
/// # Safety
/// As for [`end_timing`].
pub(super) unsafe fn leave(thread: *mut Thread) {
    // SAFETY: the caller's promise; entries below `depth` are filled.
    unsafe {
        let ended = core::mem::take(&mut (*thread).ended);
        (*thread).timing = 0;
        (*thread).depth -= 1;
        (*thread).pending -= 1;
        let Open { ticks: began, site, .. } = *(*thread).stack.add((*thread).depth as usize);
        let ended = if ended == 0 { now(thread) } else { ended };
        if (*thread).is_warm {
            match counter(thread, site) {
                Some(counter) => add_one(counter),
                None => beside::add_counted(thread, site),
            }
            return release(thread);
        }
        let took = less_cost(thread, ended.saturating_sub(began));
        if (*thread).pending != 0 {
            // What is around it is not in the stream either.
            beside::add_timed(thread, site, took);
            return release(thread);
        }
        if (*thread).cursor >= (*thread).brim && slow::make_room(thread, ROOM).is_none() {
            return;
        }
        let began = began.max((*thread).last);
        let mut scratch = Scratch((*thread).cursor as *mut u8);
        slow::put_call(thread, &mut scratch, site, (began, began + took), |_, _| ());
        commit(thread, scratch.0 as u64);
        release(thread);
    }
}

/// The word that has the number of visits of a site beneath the regions that are open.
unsafe fn counter(thread: *mut Thread, site: u32) -> Option<*mut u64> {
    // SAFETY: the caller's promise: the thread is claimed, and entries below `depth` are filled.
    unsafe {
        let open = core::slice::from_raw_parts((*thread).stack, (*thread).depth as usize);
        let (runtime, beside) = ((*thread).runtime?, (*thread).beside.as_mut()?);
        beside.counter((runtime, (*thread).serial), open, site)
    }
}

/// A random number of visits until the next stretch, `gap` on average. Intervals of a process without memory make
/// each visit as likely as any other, whatever pattern the program has.
unsafe fn draw(place: *mut Place, gap: u32) -> u32 {
    // SAFETY: the caller's promise: the place is the calling thread's.
    let random = unsafe { &mut (*place).random };
    *random = next_random(*random);
    let share = (f64::from(*random) + 1.0) / (f64::from(u32::MAX) + 2.0);
    (1.0 - logarithm(share) * f64::from(gap)) as u32
}

/// The natural logarithm of a number that is normal and greater than 0, to 10⁻⁵. That of the standard library is the C
/// library's, and what is linked into a program must not ask for a library of mathematics that it has no need of.
fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = f64::from(((bits >> 52) & 0x7ff) as u32) - 1023.0;
    let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    // 2 artanh s, whose terms are small: s is at most a third.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let terms = 1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square / 9.0)));
    exponent * core::f64::consts::LN_2 + 2.0 * s * terms
}

/// Marsaglia's: never 0 but after 0.
#[inline(always)]
const fn next_random(mut random: u32) -> u32 {
    random ^= random << 13;
    random ^= random >> 17;
    random ^ random << 5
}

/// Ticks of a visit without what timing it takes. A single visit may come out below that: then it has taken nothing,
/// and the next one less, so that sums stay right.
unsafe fn less_cost(thread: *mut Thread, ticks: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        let cost = COST.load(Ordering::Relaxed);
        if (*thread).clock != 0 || cost == u32::MAX {
            return ticks;
        }
        let hundredths = ticks.saturating_mul(100).min(1 << 60).cast_signed();
        let left = hundredths - i64::from(cost) + (*thread).carry;
        let took = (left / 100).max(0);
        (*thread).carry = (left - 100 * took).clamp(-100_000, 100_000);
        took.cast_unsigned()
    }
}

/// What timing takes, hundredths of a tick; all ones before it is known.
static COST: AtomicU32 = AtomicU32::new(u32::MAX);

/// Finds out, once in a process, what timing takes: a visit begins as it does, and ends at once. What leaving one takes
/// until the clock is read is not in it, for that happens while the last instructions of the visit are under way. What
/// was disturbed is left out.
///
/// # Safety
/// [`visit`] has just said that a visit is open.
#[inline(always)]
pub unsafe fn learn_cost(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        if COST.load(Ordering::Relaxed) == u32::MAX && (*thread).clock == 0 {
            find_cost(thread);
        }
    }
}

/// See [`learn_cost`]: the end of an enter.
#[inline(never)]
unsafe fn begin_nothing(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe { begin_timing(thread) };
}

#[cold]
#[inline(never)]
unsafe fn find_cost(thread: *mut Thread) {
    const FIRST: usize = 64;
    const ROUNDS: u64 = 2048;
    let once = || {
        // SAFETY: the caller's promise; entries below `depth` are filled.
        unsafe {
            (*thread).ended = 0;
            begin_nothing(thread);
            end_timing(thread);
            let open = (*thread).stack.add(((*thread).depth as usize).saturating_sub(1));
            (*thread).ended.saturating_sub((*open).ticks).min(1 << 20)
        }
    };
    // The first are for the caches.
    let mut found = [0; FIRST];
    for _ in 0..4 {
        found = core::array::from_fn(|_| once());
    }
    found.sort_unstable();
    let most = 2 * found[FIRST / 2];
    let (mut number, mut sum) = (1, found[FIRST / 2]);
    for took in (0..ROUNDS).map(|_| once()).filter(|&took| took <= most) {
        (number, sum) = (number + 1, sum + took);
    }
    COST.store((100 * sum / number) as u32, Ordering::Relaxed);
    // SAFETY: as above.
    unsafe { (*thread).ended = 0 };
}

/// What it costs to count a visit here and now, in hundredths of a tick: the real code. The least of several rounds.
/// Visits of one site would wait for each other, as they do not where something happens in them; so there are four.
pub(crate) fn count_cost(thread: *mut Thread) -> u64 {
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
            let before = clock::tsc();
            for visit in 0..200 {
                core::hint::black_box(tally(core::hint::black_box(thread), visit % SITES as u32));
            }
            best = best.min(clock::tsc().saturating_sub(before));
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

#[cfg(test)]
mod tests {
    use super::logarithm;

    #[test]
    fn the_logarithm_is_that_of_the_library() {
        for step in 1..100_000_u32 {
            let x = f64::from(step) / 100_000.0;
            assert!((logarithm(x) - x.ln()).abs() < 1e-5, "{x}: {}", logarithm(x));
        }
        let least = 1.0 / (f64::from(u32::MAX) + 2.0);
        assert!((logarithm(least) - least.ln()).abs() < 1e-5);
    }
}
