//! Calls that never return: their thread jumps out of a signal handler, is cancelled, or a handler throws an exception.
//!
//! The one idea: who jumps says where to, and who unwinds the stack asks each frame's personality; so the region of a
//! call that is left ends at that moment. Without this all that the thread does later would lie in the call.
//!
//! Deliberately absent: programs that change the stack pointer by themselves, or by `setcontext`, which switches between
//! stacks mostly: see [`super::inside::end_left`].

use core::ffi::{c_int, c_void};

use super::inside;
use super::wrapper::Frame;
use crate::next::Next;

/// Exported functions that jump to where a buffer says, each passed on to the next of its name.
macro_rules! jumps {
    ($($name:ident $next:ident;)*) => {
        $(
            static $next: Next = Next::of(concat!(stringify!($name), "\0"));

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() {
                unsafe extern "C" fn leaves(buffer: *const usize) -> usize {
                    // SAFETY: the program's own buffer, filled by `setjmp`.
                    unsafe { inside::leave_below(target(buffer)) };
                    $next.address()
                }
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "mov r11, qword ptr [rip + marey_inside@GOTTPOFF]",
                    "cmp qword ptr fs:[r11], 0",
                    "jne 2f",
                    "mov r11, qword ptr [rip + marey_own@GOTTPOFF]",
                    "cmp dword ptr fs:[r11], 0",
                    "jne 2f",
                    "mov r11, qword ptr [rip + {next}]",
                    "test r11, r11",
                    "jz 2f",
                    "jmp r11",
                    "2:",
                    "push rdi",
                    "push rsi",
                    "sub rsp, 8",
                    ".cfi_adjust_cfa_offset 24",
                    "call {leaves}",
                    "add rsp, 8",
                    "pop rsi",
                    "pop rdi",
                    ".cfi_adjust_cfa_offset -24",
                    "jmp rax",
                    ".cfi_endproc",
                    next = sym $next,
                    leaves = sym leaves,
                )
            }
        )*

        /// Finds them all: a jump may come in a moment in which nothing can be looked up.
        pub(super) fn resolve_all() {
            $($next.find();)*
        }
    };
}

jumps! {
    longjmp LONGJMP;
    _longjmp LONGJMP_ALONE;
    siglongjmp SIGLONGJMP;
    __longjmp_chk LONGJMP_CHECKED;
}

/// The stack pointer that a jump leads to. The C library keeps it seventh, turned and mixed with a secret.
unsafe fn target(buffer: *const usize) -> usize {
    const SP: usize = 6;
    const TURN: u32 = 0x11;
    let secret: usize;
    // SAFETY: the caller's promise; the thread's control block has the secret there.
    unsafe {
        core::arch::asm!("mov {}, qword ptr fs:[0x30]", out(reg) secret, options(nostack, readonly, pure));
        buffer.add(SP).read().rotate_right(TURN) ^ secret
    }
}

unsafe extern "C" {
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// What is asked when the stack is unwound through one of our frames.
pub(crate) unsafe extern "C" fn personality(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    /// `_UA_CLEANUP_PHASE`: it is no search any more.
    const CLEANS_UP: c_int = 2;
    /// `_URC_CONTINUE_UNWIND`.
    const GOES_ON: c_int = 8;
    if actions & CLEANS_UP != 0 {
        // SAFETY: the unwinder's own context: what it calls the frame's address is the stack pointer at the call that it
        // made, where the frame begins.
        unsafe {
            let frame = _Unwind_GetCFA(context) as *const Frame;
            inside::leave_at((*frame).sp);
        }
    }
    GOES_ON
}
