//! From the signal to the sample.
//!
//! The one idea: the kernel says with the signal whose state it is of, so one that is not of the calling thread's timer
//! is known before anything of it is touched; and the handler leaves the program's stack at once, which may have no room for it (Rust's signal stacks have 8 KiB).
//!
//! Signals are blocked by the handler itself, as the first thing that it does, and not by its action: a sample is
//! often due when another process is to have the processor, and then the thread waits with the handler's mask before
//! its first instruction. If that blocked a signal that is meant for the process, another thread would get it.
//! What comes before the handler has blocked signals is the program's own matter: its handlers run on its own stack,
//! and may jump away, for nothing of ours has been touched.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use marey_measure::{Counting, Sample, SampledFrame, open_sites, sys};

use super::walk::Registers;
use super::{State, Stopped, handlers, restart};
use crate::c_library::ours;
use crate::own::local;
use crate::variable::thread_variable;

/// The kernel's `sigaction`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Action {
    pub(super) handler: usize,
    pub(super) flags: u64,
    pub(super) restorer: usize,
    pub(super) mask: u64,
}

/// The action brings a function that returns from the handler.
const SA_RESTORER: u64 = 0x0400_0000;
/// Signals that programs use least, the best first. Those beyond the C library's own two.
const CANDIDATES: [u32; 6] = [60, 59, 58, 57, 56, 55];

/// Bytes of the set of signals.
const SET: usize = 8;

/// The stack without what our own code has called: that is the recorder's work, and no function of the program's. A handler of
/// the program's that has interrupted our code is not.
fn beneath_our_own_calls(frames: &mut [SampledFrame]) -> &[SampledFrame] {
    // SAFETY: the thread's own memory.
    let is_inside = unsafe { (*local()).own != 0 };
    let is_called = |frames: &[SampledFrame], at: usize| frames[1..=at].iter().all(|frame| !frame.is_place);
    match frames.iter().position(|frame| ours::is_ours(frame.address)) {
        Some(at @ 1..) if is_inside && is_called(frames, at) => {
            frames[at] = SampledFrame { address: frames[at].address.wrapping_sub(1), is_place: true };
            &frames[at..]
        }
        _ => frames,
    }
}

/// Takes a signal that nobody uses. `None` if there is none.
pub(super) fn install() -> Option<u32> {
    CANDIDATES.into_iter().find(|&signal| {
        let is_free = action(signal.cast_signed()).is_some_and(|before| before.handler == libc::SIG_DFL);
        is_free && set(signal)
    })
}

/// What the kernel does when a signal comes.
pub(super) fn action(signal: c_int) -> Option<Action> {
    let mut action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };
    let (signal, at) = (signal.cast_unsigned() as usize, (&raw mut action) as usize);
    // SAFETY: the action is writable.
    (unsafe { sys::syscall(libc::SYS_rt_sigaction, [signal, 0, at, SET, 0, 0]) } == 0).then_some(action)
}

/// Has the kernel do this.
pub(super) fn set_action(signal: c_int, action: &Action) -> bool {
    let (signal, at) = (signal.cast_unsigned() as usize, core::ptr::from_ref(action) as usize);
    // SAFETY: the action is readable, and its functions are what the kernel expects.
    unsafe { sys::syscall(libc::SYS_rt_sigaction, [signal, at, 0, SET, 0, 0]) == 0 }
}

fn set(signal: u32) -> bool {
    // Not blocked in itself: what a handler of the program's that jumps away leaves blocked stays so.
    let flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK | libc::SA_NODEFER;
    let action = Action {
        handler: interrupted as *const () as usize,
        flags: u64::from(flags.cast_unsigned()) | SA_RESTORER,
        restorer: returns as *const () as usize,
        // Those that the C library keeps for itself: a cancellation would unwind through the handler.
        mask: 0b11 << 31,
    };
    set_action(signal.cast_signed(), &action)
}

/// Lets the signal through to the calling thread. Whether it was blocked.
pub(super) fn unblock() -> bool {
    change_mask(libc::SIG_UNBLOCK, super::SIGNAL.load(Ordering::Relaxed))
}

/// Blocks the signal in the calling thread, as the program believes that it is.
pub(super) fn block(signal: u32) {
    change_mask(libc::SIG_BLOCK, signal);
}

/// Whether the signal was blocked before.
fn change_mask(how: c_int, signal: u32) -> bool {
    let Some(at) = signal.checked_sub(1) else { return false };
    let (ours, mut before) = (1_u64 << at, 0_u64);
    let (from, to) = ((&raw const ours) as usize, (&raw mut before) as usize);
    // SAFETY: both sets are as long as said.
    unsafe { sys::syscall(libc::SYS_rt_sigprocmask, [how.cast_unsigned() as usize, from, to, SET, 0, 0]) };
    before & ours != 0
}

/// Where the kernel has the handler return to.
#[unsafe(naked)]
unsafe extern "C" fn returns() {
    core::arch::naked_asm!("mov eax, {number}", "syscall", number = const libc::SYS_rt_sigreturn)
}

/// All signals.
static ALL: u64 = u64::MAX;

thread_variable! {
    /// The state of the calling thread, null without one. The handler's instructions know it.
    fn own_place -> AtomicPtr<State>; "marey_sampled", 8 bytes, aligned 3
}

/// Where the calling thread's state is to be put.
pub(super) fn own() -> &'static AtomicPtr<State> {
    // SAFETY: it lives as long as the thread, which alone gets it.
    unsafe { &*own_place() }
}

/// The handler: blocks all signals and goes to the stack of the state that came with the signal, if that is the
/// calling thread's and the signal one of its timer. One of another timer comes too late, or is the program's, which
/// waits for it otherwise. It need not keep any register but the stack's: all come back from the kernel's record.
#[unsafe(naked)]
unsafe extern "C" fn interrupted(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    core::arch::naked_asm!(
        "cmp dword ptr [rsi + 8], -2",
        "jne 3f",
        "mov rcx, qword ptr [rip + marey_sampled@GOTTPOFF]",
        "mov rbx, qword ptr fs:[rcx]",
        "test rbx, rbx",
        "je 2f",
        "cmp rbx, qword ptr [rsi + 24]",
        "jne 2f",
        "cmp dword ptr [rip + {barred}], 0",
        "jne 2f",
        "mov r12, rsi",
        "mov r13, rdx",
        "mov edi, {block}",
        "lea rsi, [rip + {all}]",
        "xor edx, edx",
        "mov r10d, {set}",
        "mov eax, {mask}",
        "syscall",
        "test eax, eax",
        "jne 2f",
        "mov rbp, rsp",
        "mov rsp, qword ptr [rbx]",
        "mov rdi, rbx",
        "mov rsi, r12",
        "mov rdx, r13",
        "call {sampled}",
        "mov rsp, rbp",
        "2:",
        "ret",
        "3:",
        "jmp {foreign}",
        all = sym ALL,
        barred = sym super::BARRED,
        block = const libc::SIG_BLOCK,
        set = const SET,
        mask = const libc::SYS_rt_sigprocmask,
        sampled = sym sampled,
        foreign = sym foreign,
    )
}

const _: () = assert!(core::mem::offset_of!(State, stack_top) == 0);

/// Somebody has sent the signal, who knows nothing of us: it does what it would do without a handler.
extern "C" fn foreign(signal: c_int) {
    if super::is_paused() {
        return;
    }
    if super::respect::IGNORES.load(Ordering::Relaxed) {
        return;
    }
    super::stop(Stopped::Sent);
    set_action(signal, &Action { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 });
    let (process, thread) = (sys::process_id() as usize, sys::thread_id() as usize);
    let signal = signal.cast_unsigned() as usize;
    // SAFETY: takes numbers; the signal comes when this handler is left.
    unsafe { sys::syscall(libc::SYS_tgkill, [process, thread, signal, 0, 0, 0]) };
}

/// Whether an instruction is one of the handler's, before it has blocked signals.
fn is_entry(address: usize) -> bool {
    /// More than there are before that, and fewer than in the whole.
    const BYTES: usize = 76;
    (address.wrapping_sub(interrupted as *const () as usize)) < BYTES
}

/// Puts right what the sample has done to a call that the thread stands at. Whether the program has handled a signal there
/// decides how: then the call has ended, and is to say so; else it goes on as if nothing had come.
///
/// # Safety
/// `context` is the kernel's record of the sample's signal, and all signals are blocked.
unsafe fn put_right(context: *mut u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let here = || restart::position(context);
        let [instruction, pointer] = handlers::last();
        // When the kernel had made the record already; a record begins with the address to return to, and more samples
        // may have come before the first has blocked signals.
        let is_within = is_entry(instruction) && pointer < context as usize;
        if is_within {
            // Before the call it has been put by the kernel, for the sake of the sample alone.
            if restart::is_before_call(context) {
                restart::end(context, handlers::last_signal());
            }
            handlers::interrupted_at(here());
        } else if here() != [instruction, pointer] {
            // While a handler runs the thread stands further in, and comes back to where it was.
            let stack = crate::site::known_stack();
            if (stack.start.max(pointer)..stack.end).contains(&here()[1]) {
                handlers::forget();
            }
            if restart::has_ended(context) {
                restart::restart(context);
            }
        }
        handlers::leave(here(), restart::is_before_call(context));
    }
}

/// Takes a sample.
///
/// # Safety
/// The state is the calling thread's, and the other two are what the kernel has said of the signal.
unsafe extern "C" fn sampled(state: *mut State, information: *const libc::siginfo_t, context: *mut c_void) {
    /// Where a timer's signal says how often it was too late.
    const OVERRUN: usize = 20;
    // SAFETY: the caller's promise; all signals are blocked, so nobody else uses this part of the state.
    unsafe {
        let state = &mut (*state).own;
        let late = information.cast::<u8>().add(OVERRUN).cast::<c_int>().read();
        let come = 1 + late.max(0).cast_unsigned();
        let new = come - u32::try_from(state.ahead).unwrap_or(u32::MAX).min(come);
        state.ahead -= u64::from(come - new);
        let weight = state.passed.saturating_add(new);
        if is_entry(restart::position(context.cast())[0]) {
            // The next one is due before this one has begun, and will be taken with it.
            state.passed = weight;
            return;
        }
        put_right(context.cast());
        if weight == 0 {
            return;
        }
        let word = |at: usize| Some(context.cast::<u8>().add(at).cast::<usize>().read());
        let Some(registers) = Registers::from_context(word) else { return };
        // There is none where the clock is lost.
        let runtime = marey_measure::current_runtime();
        let (Some(samples), Some(runtime)) = (state.samples.as_mut(), runtime) else {
            state.passed = weight;
            return;
        };
        let ticks = runtime.ticks();
        let counting = (*state.thread).counting;
        if ticks < state.rests_until || counting.as_ref().is_some_and(Counting::is_busy) {
            state.passed = weight;
            return;
        }
        state.passed = 0;
        state.told += u64::from(weight);
        let closings = crate::site::CLOSINGS.load(Ordering::Relaxed);
        if state.closings != closings {
            state.closings = closings;
            state.walker.forget();
            samples.begin_anew();
        }
        let stack = crate::site::known_stack();
        let (n_frames, is_complete) =
            state.walker.walk(&registers, (stack.start, stack.end), &mut state.frames);
        let n_open = open_sites(state.thread, &mut state.open);
        let node = samples.add(&Sample {
            open: &state.open[..n_open],
            frames: beneath_our_own_calls(&mut state.frames[..n_frames]),
            is_complete,
            ticks,
            weight,
        });
        if let Some(counting) = counting.as_mut() {
            counting.at_sample(samples, node, ticks);
        }
        let ended = runtime.ticks();
        state.rests_until = ended + ended.saturating_sub(ticks);
    }
}
