//! From the signal to the sample.
//!
//! The one idea: the kernel says with the signal whose state it is of, so nothing has to be looked up; and the
//! handler leaves the program's stack at once, which may have no room for it (Rust's signal stacks have 8 KiB).

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use marey_measure::{Counting, Sample, open_sites, sys};

use super::walk::Registers;
use super::{State, restart};

/// The kernel's `sigaction`.
#[repr(C)]
struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

/// The action brings a function that returns from the handler.
const SA_RESTORER: u64 = 0x0400_0000;
/// Signals that programs use least, the best first. Those beyond the C library's own two.
const CANDIDATES: [u32; 6] = [60, 59, 58, 57, 56, 55];

/// Bytes of the set of signals.
const SET: usize = 8;

/// Takes a signal that nobody uses. `None` if there is none.
pub(super) fn install() -> Option<u32> {
    CANDIDATES.into_iter().find(|&signal| {
        let mut before = Action { handler: 1, flags: 0, restorer: 0, mask: 0 };
        let at = (&raw mut before) as usize;
        // SAFETY: the action is writable.
        unsafe { sys::syscall(libc::SYS_rt_sigaction, [signal as usize, 0, at, SET, 0, 0]) };
        // SAFETY: as above.
        before.handler == libc::SIG_DFL && unsafe { set(signal) }
    })
}

/// # Safety
/// Nobody else handles the signal.
unsafe fn set(signal: u32) -> bool {
    let flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    let action = Action {
        handler: interrupted as *const () as usize,
        flags: u64::from(flags.cast_unsigned()) | SA_RESTORER,
        restorer: returns as *const () as usize,
        // Also those that the C library keeps for itself: a cancellation would unwind through the handler.
        mask: u64::MAX,
    };
    let at = (&raw const action) as usize;
    // SAFETY: the action is readable, and its functions are what the kernel expects.
    unsafe { sys::syscall(libc::SYS_rt_sigaction, [signal as usize, at, 0, SET, 0, 0]) == 0 }
}

/// Lets the signal through to the calling thread. Whether it was blocked.
pub(super) fn unblock() -> bool {
    let ours = 1_u64 << (super::SIGNAL.load(Ordering::Relaxed).max(1) - 1);
    let mut before = 0_u64;
    let (from, to) = ((&raw const ours) as usize, (&raw mut before) as usize);
    // SAFETY: both sets are as long as said.
    unsafe { sys::syscall(libc::SYS_rt_sigprocmask, [libc::SIG_UNBLOCK as usize, from, to, SET, 0, 0]) };
    before & ours != 0
}

/// Where the kernel has the handler return to.
#[unsafe(naked)]
unsafe extern "C" fn returns() {
    core::arch::naked_asm!("mov eax, {number}", "syscall", number = const libc::SYS_rt_sigreturn)
}

/// The handler: goes to the stack of the state that came with the signal, if that is the calling thread's and the
/// signal one of a timer.
#[unsafe(naked)]
unsafe extern "C" fn interrupted(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    core::arch::naked_asm!(
        "cmp dword ptr [rsi + 8], -2",
        "jne 2f",
        "mov rax, qword ptr [rsi + 24]",
        "mov rcx, qword ptr fs:[0]",
        "cmp rcx, qword ptr [rax + {owner}]",
        "jne 2f",
        "push rbp",
        "mov rbp, rsp",
        "mov rsp, qword ptr [rax]",
        "mov rdi, rax",
        "call {sampled}",
        "mov rsp, rbp",
        "pop rbp",
        "2:",
        "ret",
        owner = const core::mem::offset_of!(State, owner),
        sampled = sym sampled,
    )
}

const _: () = assert!(core::mem::offset_of!(State, stack_top) == 0);

/// Takes a sample.
///
/// # Safety
/// The state is the calling thread's, and the other two are what the kernel has said of the signal.
unsafe extern "C" fn sampled(state: *mut State, information: *const libc::siginfo_t, context: *mut c_void) {
    /// Where a timer's signal says how often it was too late.
    const OVERRUN: usize = 20;
    // SAFETY: the caller's promise; all signals are blocked, so nobody else uses the state.
    unsafe {
        let state = &mut *state;
        restart::restart(context.cast());
        let late = information.cast::<u8>().add(OVERRUN).cast::<c_int>().read();
        let weight = state.passed.saturating_add(1 + late.max(0).cast_unsigned());
        let word = |at: usize| Some(context.cast::<u8>().add(at).cast::<usize>().read());
        let Some(registers) = Registers::from_context(word) else { return };
        // There is none where the clock is lost.
        let runtime = marey_measure::current_runtime().filter(|_| !super::PAUSED.load(Ordering::Relaxed));
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
            frames: &state.frames[..n_frames],
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
