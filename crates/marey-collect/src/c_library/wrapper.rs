//! How calls of the C library come in.
//!
//! The one idea: what is exported is a few instructions with a frame of their own, in which arguments and result lie;
//! what we do before and after is called from there, and so is the real function. No frame of Rust's lies on the
//! stack meanwhile, for most of these functions are points where a thread can be cancelled.
//!
//! A function with any number of arguments is passed on to its sister that takes them as a list, which is made from
//! the registers as a compiler would.

use core::mem::MaybeUninit;

use super::inside::{self, Inside};

/// A call, as its exported function keeps it on the stack.
#[repr(C)]
pub(crate) struct Frame {
    /// What its level wants to know after the real call.
    pub(crate) pending: MaybeUninit<[usize; 10]>,
    /// Stack pointer at the entry.
    pub(crate) sp: usize,
    /// Frame pointer at the entry.
    pub(crate) bp: usize,
    pub(crate) args: [usize; 6],
    pub(crate) result: usize,
    /// What the thread was in before.
    pub(crate) outer: MaybeUninit<Inside>,
}

// The instructions below know it.
const _: () = assert!(
    size_of::<Frame>() == 184
        && core::mem::offset_of!(Frame, sp) == 80
        && core::mem::offset_of!(Frame, args) == 96
        && inside::SIZE == 32
);

/// The instructions of an exported function of `$level`, which has a table of them, `CALLS`, and the functions `before`
/// and `after`: `$room` bytes of stack, into which `$keep` puts what else there is to keep of the entry.
macro_rules! instructions {
    ($level:ident, $index:expr, $room:literal, [$($keep:expr),*]) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            // Its address, relative to here.
            ".cfi_personality 0x1b, {personality}",
            "cmp byte ptr [rip + {calls} + {is_active}], 0",
            "jne 2f",
            "mov r11, qword ptr [rip + {calls} + {real}]",
            "test r11, r11",
            "jz 2f",
            "jmp r11",
            "2:",
            "mov r11, rsp",
            concat!("sub rsp, ", $room),
            concat!(".cfi_adjust_cfa_offset ", $room),
            "mov qword ptr [rsp + 80], r11",
            "mov qword ptr [rsp + 88], rbp",
            "mov qword ptr [rsp + 96], rdi",
            "mov qword ptr [rsp + 104], rsi",
            "mov qword ptr [rsp + 112], rdx",
            "mov qword ptr [rsp + 120], rcx",
            "mov qword ptr [rsp + 128], r8",
            "mov qword ptr [rsp + 136], r9",
            $($keep,)*
            "mov rdi, rsp",
            "mov esi, {index}",
            "call {before}",
            "mov rdi, qword ptr [rsp + 96]",
            "mov rsi, qword ptr [rsp + 104]",
            "mov rdx, qword ptr [rsp + 112]",
            "mov rcx, qword ptr [rsp + 120]",
            "mov r8, qword ptr [rsp + 128]",
            "mov r9, qword ptr [rsp + 136]",
            "call rax",
            "mov qword ptr [rsp + 144], rax",
            "mov rdi, rsp",
            "mov esi, {index}",
            "call {after}",
            "mov rax, qword ptr [rsp + 144]",
            concat!("add rsp, ", $room),
            concat!(".cfi_adjust_cfa_offset -", $room),
            "ret",
            ".cfi_endproc",
            personality = sym $crate::c_library::leaving::personality,
            calls = sym $crate::$level::CALLS,
            real = const $crate::$level::Calls::REAL + $index * 8,
            is_active = const $crate::$level::Calls::IS_ACTIVE + $index,
            index = const $index,
            before = sym $crate::$level::before,
            after = sym $crate::$level::after,
        )
    };
}
pub(crate) use instructions;

/// Exports functions of at most six words.
macro_rules! export {
    ($level:ident: $($name:ident)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            $crate::c_library::wrapper::instructions!($level, $crate::$level::Function::$name as usize, 184, [])
        }
    )*};
}
pub(crate) use export;

/// The same with room for a set of signals behind the frame.
macro_rules! export_with_set {
    ($level:ident: $($name:ident)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            $crate::c_library::wrapper::instructions!($level, $crate::$level::Function::$name as usize, 312, [])
        }
    )*};
}
pub(crate) use export_with_set;
const _: () = assert!(size_of::<Frame>() + size_of::<libc::sigset_t>() == 312);

/// Exports functions of `$named` words and any number of further arguments. The list of these lies behind the frame:
/// how many of the registers have been read, where the stack has more, and where the registers have been put.
macro_rules! export_variadic {
    ($level:ident: $($name:ident $named:literal)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            $crate::c_library::wrapper::instructions!(
                $level,
                $crate::$level::Function::$name as usize,
                392,
                [
                    "mov qword ptr [rsp + 208], rdi",
                    "mov qword ptr [rsp + 216], rsi",
                    "mov qword ptr [rsp + 224], rdx",
                    "mov qword ptr [rsp + 232], rcx",
                    "mov qword ptr [rsp + 240], r8",
                    "mov qword ptr [rsp + 248], r9",
                    "movaps xmmword ptr [rsp + 256], xmm0",
                    "movaps xmmword ptr [rsp + 272], xmm1",
                    "movaps xmmword ptr [rsp + 288], xmm2",
                    "movaps xmmword ptr [rsp + 304], xmm3",
                    "movaps xmmword ptr [rsp + 320], xmm4",
                    "movaps xmmword ptr [rsp + 336], xmm5",
                    "movaps xmmword ptr [rsp + 352], xmm6",
                    "movaps xmmword ptr [rsp + 368], xmm7",
                    concat!("mov dword ptr [rsp + 184], 8*", $named),
                    "mov dword ptr [rsp + 188], 48",
                    "add r11, 8",
                    "mov qword ptr [rsp + 192], r11",
                    "lea rax, [rsp + 208]",
                    "mov qword ptr [rsp + 200], rax",
                    "lea rax, [rsp + 184]",
                    concat!("mov qword ptr [rsp + 96 + 8*", $named, "], rax")
                ]
            )
        }
    )*};
}
pub(crate) use export_variadic;
