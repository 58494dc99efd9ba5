//! The clock around a visit of a few instructions.
//!
//! The one idea: such a visit is as long as a step of the clock may be, and the processor would read the clock before
//! it is through. So it stands between fences, and begins a random while after the clock was read ([`begin_timing`]):
//! each single time is uncertain, and the mean of many is right. What fences, wait and clock take is found out by
//! the same code, a few times at each stretch of visits that are timed ([`learn_cost`]): what shares the processor's
//! core decides, and that changes from one moment to the next. It stands around a chain of multiplications, for what
//! enters and leaves do beside happens while instructions of the visit are under way, and around one that is five times
//! as long, from which follows what the chain itself takes.
//!
//! Deliberately absent: which visits are timed ([`super::reduced`]).

#![expect(clippy::cast_possible_truncation, reason = "costs are some hundred ticks")]

use super::random;
use crate::clock;
use crate::thread::Thread;

/// The last thing that is done when a visit begins to be timed: reads the clock, and waits a random while, so that no
/// instant of the visit is more likely than another to see the clock's next step. Whoever comes here jumps, so that
/// nothing is left to be done between the clock and the visit. 1, for that is what its callers return.
///
/// # Safety
/// [`super::visit`] has just said that the visit is open.
#[inline(never)]
pub unsafe extern "C" fn begin_timing(thread: *mut Thread) -> u32 {
    // SAFETY: the caller's promise. Where a handler has recorded something meanwhile the visit is in the stream, and
    // nobody looks at what stands here. One that leaves regions by their names may have left this one, too.
    unsafe {
        if (*thread).is_pending && (*thread).clock == 0 && (*thread).depth != 0 {
            let open = (*thread).stack.add((*thread).depth as usize - 1);
            (*thread).wait = random::next((*thread).wait | 1);
            let wait = (*thread).wait % WAIT;
            (*open).ticks = clock::fenced_tsc();
            clock::fence();
            clock::wait(wait);
            clock::fence();
        }
    }
    1
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

/// Ticks of a visit without what timing it takes. A single visit may come out below that: then it has taken nothing,
/// and the next one less, so that sums stay right.
///
/// # Safety
/// As for [`end_timing`].
pub(super) unsafe fn less_cost(thread: *mut Thread, ticks: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        let [short, long] = (*thread).timing_costs.map(i64::from);
        if (*thread).clock != 0 || short == 0 {
            return ticks;
        }
        let cost = short - (long - short) / (LONG / SHORT - 1) as i64;
        let hundredths = ticks.saturating_mul(100).min(1 << 60).cast_signed();
        let left = hundredths - cost.max(0) + (*thread).carry;
        let took = (left / 100).max(0);
        (*thread).carry = (left - 100 * took).clamp(-100_000, 100_000);
        took.cast_unsigned()
    }
}

/// How visits of a kind end.
#[derive(Clone, Copy)]
pub struct Leaving {
    /// The function that is called then, with two arguments.
    pub function: unsafe extern "C" fn(usize, usize),
    /// These.
    pub arguments: [usize; 2],
}

/// Before one of the first visits of a stretch: looks what timing takes at the moment. `leaving` is called with
/// [`is_learning`] true, and is to end with [`end_timing`] then; `prepare` is told before with which stack pointer.
///
/// # Safety
/// [`super::visit`] has just said that a visit is open.
#[inline(always)]
pub unsafe fn learn_cost(thread: *mut Thread, leaving: Leaving, prepare: impl FnOnce(usize)) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*thread).is_to_learn && (*thread).clock == 0 {
            (*thread).is_to_learn = false;
            find_cost(thread, leaving, prepare);
        }
    }
}

/// Whether the visit that [`end_timing`] is called for is none, and goes on.
///
/// # Safety
/// As for [`end_timing`].
#[inline(always)]
pub unsafe fn is_learning(thread: *const Thread) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (*thread).is_learning }
}

/// Multiplications of the chains that are timed.
const SHORT: usize = 16;
const LONG: usize = 80;
/// Rounds of a thread's first stretch, of which the last quarter count, and of the others.
const FIRST: usize = 256;
const LATER: usize = 4;
/// The means of what the chains take with all that timing takes are over about so many rounds.
const MEAN: i64 = 64;

type Around = unsafe extern "C" fn(*mut Thread, unsafe extern "C" fn(usize, usize), usize, usize, *mut usize);

#[cold]
#[inline(never)]
unsafe fn find_cost(thread: *mut Thread, leaving: Leaving, prepare: impl FnOnce(usize)) {
    // SAFETY: the caller's promise.
    unsafe {
        let timing = (*thread).timing;
        // The same frames as later, so the same stack pointer.
        let (mut sp, dry) = (0, Leaving { function: nothing, ..leaving });
        once(thread, around::<SHORT>, dry, timing, &raw mut sp);
        prepare(sp);
        (*thread).is_learning = true;
        let around: [Around; 2] = [around::<SHORT>, around::<LONG>];
        for (idx, around) in around.into_iter().enumerate() {
            let mut cost = i64::from((*thread).timing_costs[idx]);
            if cost == 0 {
                let mut found = [0; FIRST / 4];
                for round in 0..FIRST {
                    found[round % found.len()] = once(thread, around, leaving, timing, &raw mut sp);
                }
                found.sort_unstable();
                cost = 100 * i64::from(found[found.len() / 2]);
            }
            // The first are for what the processor keeps of code that it has run.
            for _ in 0..LATER {
                once(thread, around, leaving, timing, &raw mut sp);
            }
            for _ in 0..LATER {
                // What was disturbed is not what timing takes.
                let took = 100 * i64::from(once(thread, around, leaving, timing, &raw mut sp));
                if took != 0 {
                    cost += (took.min(2 * cost) - cost) / MEAN;
                }
            }
            (*thread).timing_costs[idx] = cost as u32;
        }
        (*thread).is_learning = false;
        (*thread).ended = 0;
    }
}

/// What timing a chain takes, ticks; 0 if it could not be timed: a handler has meanwhile recorded something, and with
/// that the visit. `sp` is where `around` says with which stack pointer it leaves.
#[inline(never)]
unsafe fn once(thread: *mut Thread, around: Around, leaving: Leaving, timing: u32, sp: *mut usize) -> u32 {
    // SAFETY: the caller's promise; entries below `depth` are filled.
    unsafe {
        if (*thread).timing != timing {
            return 0;
        }
        let [first, second] = leaving.arguments;
        (*thread).ended = 0;
        around(thread, leaving.function, first, second, sp);
        let open = (*thread).stack.add(((*thread).depth as usize).saturating_sub(1));
        (*thread).ended.saturating_sub((*open).ticks).min(1 << 20) as u32
    }
}

unsafe extern "C" fn nothing(_: usize, _: usize) {}

/// Begins to time, does `N` multiplications, each of which waits for the one before, and leaves. Says with which stack
/// pointer.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[unsafe(naked)]
unsafe extern "C" fn around<const N: usize>(
    _thread: *mut Thread,
    _leave: unsafe extern "C" fn(usize, usize),
    _first: usize,
    _second: usize,
    _sp: *mut usize,
) {
    core::arch::naked_asm!(
        "push rbx",
        "push r12",
        "push r13",
        "mov rbx, rsi",
        "mov r12, rdx",
        "mov r13, rcx",
        "lea rax, [rsp - 8]",
        "mov [r8], rax",
        "call {begin}",
        ".rept {number}",
        "imul rax, rax",
        ".endr",
        "mov rdi, r12",
        "mov rsi, r13",
        "call rbx",
        "pop r13",
        "pop r12",
        "pop rbx",
        "ret",
        begin = sym begin_timing,
        number = const N,
    )
}

/// Nothing is timed there.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe extern "C" fn around<const N: usize>(
    _: *mut Thread,
    _: unsafe extern "C" fn(usize, usize),
    _: usize,
    _: usize,
    _: *mut usize,
) {
}
