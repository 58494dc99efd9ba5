//! The program's own handlers, which note what they interrupt.
//!
//! The one idea: if a call ends early because of a signal, the registers look the same whether that was a sample's or one
//! of the program's that has been handled meanwhile; only the former may be put right ([`super::restart`]). So
//! handlers of the program's are entered by a few instructions of ours, which note where the thread was, and jump
//! on: the handler finds its stack, its arguments and the way back as the kernel made them. Whoever asks what the
//! handler is is told the program's.
//!
//! What the kernel restarts by itself after a sample is no different: the program's signal may have woken the thread, and the
//! sample have been delivered first. Then the call is ended in its stead, unless the handler says that calls go on.
//!
//! Deliberately absent: handlers of signals that a thread causes itself (SIGSEGV and the like), which end no call; those
//! that are installed by the bare instruction after recording has begun.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use marey_measure::sys;

use super::handler::{self, Action};
use super::{SIGNAL, restart};
use crate::variable::thread_variable;

/// Signals are numbered from 1 on.
const N: usize = 65;

/// What each signal is handled by if the kernel knows of [`entered`].
static HANDLERS: [AtomicUsize; N] = [const { AtomicUsize::new(0) }; N];

/// What is known of the program's handlers on the calling thread. The instructions below know it.
#[repr(C)]
struct Handled {
    /// Instruction and stack pointer that one has interrupted last.
    last: [usize; 2],
    /// Those before a call that the last sample has found the thread at.
    before_call: [usize; 2],
    /// The signal of the last one.
    signal: usize,
}

/// Notes instruction and stack pointer that the kernel's record has, and goes on to the handler. If the thread stood before
/// a call that a sample has ended, the call ends as it would have.
#[unsafe(naked)]
unsafe extern "C" fn entered(_: c_int) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov r11, qword ptr [rip + marey_handled@GOTTPOFF]",
        "mov eax, edi",
        "mov qword ptr fs:[r11 + 32], rax",
        "mov rax, qword ptr [rdx + {stack}]",
        "mov qword ptr fs:[r11 + 8], rax",
        "mov rax, qword ptr [rdx + {instruction}]",
        "mov qword ptr fs:[r11], rax",
        "cmp rax, qword ptr fs:[r11 + 16]",
        "je 2f",
        "3:",
        "lea r11, [rip + {handlers}]",
        "mov eax, edi",
        "jmp qword ptr [r11 + 8 * rax]",
        "2:",
        "push rdi",
        "push rsi",
        "push rdx",
        ".cfi_adjust_cfa_offset 24",
        "mov rdi, rdx",
        "call {interrupted}",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        ".cfi_adjust_cfa_offset -24",
        "jmp 3b",
        ".cfi_endproc",
        instruction = const (super::restart::BEGIN + super::restart::RIP) * size_of::<usize>(),
        stack = const (super::restart::BEGIN + super::restart::RSP) * size_of::<usize>(),
        handlers = sym HANDLERS,
        interrupted = sym interrupted_before_call,
    )
}

/// A handler of the program's comes where a sample has found the thread before a call.
unsafe extern "C" fn interrupted_before_call(context: *mut u64) {
    // SAFETY: the kernel's record of the signal, and the thread's own variable.
    unsafe {
        let handled = handled();
        if (*handled).last == core::mem::take(&mut (*handled).before_call) && restart::is_before_call(context)
        {
            restart::end(context, (*handled).signal as c_int);
            // Where it stands now, if it has ended.
            (*handled).last = restart::position(context);
        }
    }
}

fn is_entered(handler: usize) -> bool {
    handler == entered as *const () as usize
}

/// Instruction and stack pointer that a handler of the program's has interrupted last, until [`forget`]; 0 for none.
pub(super) fn last() -> [usize; 2] {
    // SAFETY: the thread's own variable; the handler of samples runs with all signals blocked.
    unsafe { (*handled()).last }
}

/// The signal that it was for.
pub(super) fn last_signal() -> c_int {
    // SAFETY: as above.
    unsafe { (*handled()).signal as c_int }
}

/// It was at these instruction and stack pointers that it did, as is known now.
pub(super) fn interrupted_at(here: [usize; 2]) {
    // SAFETY: as above.
    unsafe { (*handled()).last = here };
}

/// A sample leaves the thread at these instruction and stack pointers, before a call or not.
pub(super) fn leave(here: [usize; 2], is_before_call: bool) {
    // SAFETY: as above.
    unsafe { (*handled()).before_call = if is_before_call { here } else { [0; 2] } };
}

/// The thread has gone on since: it is found elsewhere, or makes a call that waits.
pub(crate) fn forget() {
    // SAFETY: as above.
    unsafe { ((*handled()).last, (*handled()).before_call) = ([0; 2], [0; 2]) };
}

thread_variable! {
    /// The calling thread's own; the handler of samples runs with all signals blocked.
    fn handled -> Handled; "marey_handled", 40 bytes, aligned 3
}

/// Whether handlers of a signal are to note what they interrupt, while samples are taken.
fn is_meant(signal: c_int) -> bool {
    const OWN_FAULT: [c_int; 7] =
        [libc::SIGILL, libc::SIGTRAP, libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV, libc::SIGSYS];
    let ours = SIGNAL.load(Ordering::Relaxed).cast_signed();
    ours != 0 && signal != ours && (1..N as c_int).contains(&signal) && !OWN_FAULT.contains(&signal)
}

/// What a program's handler is to be replaced by when it is installed, and what the one before was.
pub(super) struct Exchange {
    signal: c_int,
    before: usize,
    /// What the kernel is to be told.
    pub(super) handler: usize,
}

impl Exchange {
    /// Of a handler that the program is about to install for a signal, or of a question for one (`None`).
    pub(super) fn begin(signal: c_int, handler: Option<usize>) -> Self {
        let before = usize::try_from(signal).ok().and_then(|at| HANDLERS.get(at));
        let before = before.map_or(0, |it| it.load(Ordering::Relaxed));
        let mut this = Self { signal, before, handler: handler.unwrap_or(0) };
        // Beside functions there are numbers that say what else is to be done, from both ends.
        let is_function = |it: &usize| (4096..usize::MAX - 4096).contains(it) && !is_entered(*it);
        if let Some(handler) = handler.filter(is_function)
            && is_meant(signal)
            && marey_measure::current_runtime().is_some_and(marey_measure::Runtime::is_of_caller)
        {
            HANDLERS[signal as usize].store(handler, Ordering::Relaxed);
            this.handler = entered as *const () as usize;
        }
        this
    }

    /// It could not be installed.
    pub(super) fn take_back(&self) {
        if is_entered(self.handler) {
            HANDLERS[self.signal as usize].store(self.before, Ordering::Relaxed);
        }
    }

    /// The program's handler that was there before, where the kernel says `found`.
    pub(super) fn before(&self, found: usize) -> usize {
        if is_entered(found) { self.before } else { found }
    }
}

/// To be called before a thread is sampled: sees to handlers that are there already, once in each process. (A forked child
/// may have got its own before anything of it is recorded.)
pub(super) fn adopt() {
    /// The process in which this has been done.
    static DONE: AtomicU32 = AtomicU32::new(0);
    let process = sys::process_id();
    if DONE.swap(process, Ordering::Relaxed) == process {
        return;
    }
    for signal in (1..N as c_int).filter(|&signal| is_meant(signal)) {
        let Some(action) = handler::action(signal) else { continue };
        let exchange = Exchange::begin(signal, Some(action.handler));
        if exchange.handler != action.handler
            && !handler::set_action(signal, &Action { handler: exchange.handler, ..action })
        {
            exchange.take_back();
        }
    }
}
