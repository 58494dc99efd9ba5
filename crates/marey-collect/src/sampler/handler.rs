//! From the signal to the sample.
//!
//! The one idea: the kernel says with the signal whose state it is of, so nothing has to be looked up; and the
//! handler leaves the program's stack at once, which may have no room for it (Rust's signal stacks have 8 KiB).
//!
//! Signals are blocked by the handler itself, as the first thing that it does, and not by its action: a sample is
//! often due when another process is to have the processor, and then the thread waits with the handler's mask before
//! its first instruction. If that blocked a signal that is meant for the process, another thread would get it.
//! What comes before the handler has blocked signals is the program's own matter: its handlers run on its own stack,
//! and may jump away, for nothing of ours has been touched.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use marey_measure::{Counting, Sample, Stack, open_sites, sys};

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
    // Not blocked in itself: what a handler of the program's that jumps away leaves blocked stays so.
    let flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK | libc::SA_NODEFER;
    let action = Action {
        handler: interrupted as *const () as usize,
        flags: u64::from(flags.cast_unsigned()) | SA_RESTORER,
        restorer: returns as *const () as usize,
        // Those that the C library keeps for itself: a cancellation would unwind through the handler.
        mask: 0b11 << 31,
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

/// All signals.
static ALL: u64 = u64::MAX;

/// The handler: blocks all signals and goes to the stack of the state that came with the signal, if that is the
/// calling thread's and the signal one of a timer. It need not keep any register but the stack's: all come back from
/// the kernel's record.
#[unsafe(naked)]
unsafe extern "C" fn interrupted(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    core::arch::naked_asm!(
        "cmp dword ptr [rsi + 8], -2",
        "jne 2f",
        "mov rbx, qword ptr [rsi + 24]",
        "mov rcx, qword ptr fs:[0]",
        "cmp rcx, qword ptr [rbx + {owner}]",
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
        all = sym ALL,
        barred = sym super::BARRED,
        block = const libc::SIG_BLOCK,
        set = const SET,
        mask = const libc::SYS_rt_sigprocmask,
        owner = const core::mem::offset_of!(State, owner),
        sampled = sym sampled,
    )
}

const _: () = assert!(core::mem::offset_of!(State, stack_top) == 0);

/// Whether an instruction is one of the handler's, before it has blocked signals.
fn is_entry(address: usize) -> bool {
    /// More than there are before that, and fewer than in the whole.
    const BYTES: usize = 72;
    (address.wrapping_sub(interrupted as *const () as usize)) < BYTES
}

/// Whether a handler of the program's has run since the kernel made the record `context` of a sample: what it
/// interrupted were the handler's first instructions, so its own record lies right beneath this one, and says so.
///
/// # Safety
/// `context` is the kernel's record of the signal that is being handled, and the stack is the calling thread's.
unsafe fn is_interrupted(context: *const usize, stack: Stack) -> bool {
    /// Where the record says which other stack for handlers there is: address, flags, length.
    const OTHER: usize = 2;
    /// Where it says where the registers for floats are kept; how long these are stands there behind a mark.
    const FLOATS: usize = restart::BEGIN + 23;
    const MARK: (usize, u32) = (464, 0x4650_5853);
    /// From where the stack pointer stands to the number of the signal.
    const WHICH: usize = 304 - (restart::BEGIN + restart::RIP - 1) * size_of::<usize>();
    /// What the kernel leaves free, and the rest of a record, at most.
    const MORE: usize = 1 << 10;
    // SAFETY: the caller's promise; what is read below the record lies on the same stack.
    unsafe {
        let top = context as usize - size_of::<usize>();
        let (other, other_len) = (context.add(OTHER).read(), context.add(OTHER + 2).read());
        let start = if (other..other.saturating_add(other_len)).contains(&top) {
            other
        } else if (stack.start..stack.end).contains(&top) {
            stack.start
        } else {
            return false;
        };
        let floats = *context.add(FLOATS) as *const u8;
        let is_marked = !floats.is_null() && floats.add(MARK.0).cast::<u32>().read() == MARK.1;
        let len = if is_marked { floats.add(MARK.0 + 4).cast::<u32>().read() as usize } else { 512 };
        let lowest = top.saturating_sub(len + MORE).max(start);
        // The stack pointer and behind it the instruction, as they stand in a record.
        let words = (lowest & !7..top - size_of::<usize>()).step_by(size_of::<usize>());
        words.into_iter().any(|at| {
            let [pointer, instruction] = (at as *const [usize; 2]).read_volatile();
            // What has come is told behind the rest of the record; another sample does not count.
            let signal = (at + WHICH) as *const u32;
            pointer == top
                && is_entry(instruction)
                && signal.read_volatile() != super::SIGNAL.load(Ordering::Relaxed)
        })
    }
}

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
        // A call that a handler of the program's has ended is to say so.
        if !(restart::has_ended(context.cast()) && is_interrupted(context.cast(), crate::site::known_stack()))
        {
            restart::restart(context.cast());
        }
        let late = information.cast::<u8>().add(OVERRUN).cast::<c_int>().read();
        let weight = state.passed.saturating_add(1 + late.max(0).cast_unsigned());
        let word = |at: usize| Some(context.cast::<u8>().add(at).cast::<usize>().read());
        if is_entry(context.cast::<usize>().add(restart::BEGIN + restart::RIP).read()) {
            // The next one is due before this one has begun, and will be taken with it.
            state.passed = weight;
            return;
        }
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
