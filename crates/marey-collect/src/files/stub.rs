//! How calls on files come in.
//!
//! The one idea: what is exported is a few instructions with a frame of their own, in which arguments and result lie;
//! what we do before and after is called from there, and so is the real function. No frame of Rust's lies on the
//! stack meanwhile, for most of these functions are points where a thread can be cancelled.
//!
//! A function with any number of arguments is passed on to its sister that takes them as a list, which is made from
//! the registers as a compiler would.

use core::sync::atomic::{AtomicBool, Ordering};

use super::call::Pending;

/// Whether files are watched. As long as they are not, a call costs a comparison and a jump more.
pub(super) static ACTIVE: AtomicBool = AtomicBool::new(false);

pub(super) fn is_active() -> bool {
    ACTIVE.load(Ordering::Acquire)
}

/// A call, as its exported function keeps it on the stack.
#[repr(C)]
pub(super) struct Frame {
    /// What is to be known after the real call.
    pub(super) pending: Pending,
    /// Stack pointer at the entry.
    pub(super) sp: usize,
    /// Frame pointer at the entry.
    pub(super) bp: usize,
    pub(super) args: [usize; 6],
    pub(super) result: usize,
}

// The instructions below know it.
const _: () = assert!(
    size_of::<Pending>() == 96 && size_of::<Frame>() == 168 && core::mem::offset_of!(Frame, args) == 112
);

/// The instructions of an exported function: `$room` bytes of stack, into which `$keep` puts what else there is to
/// keep of the entry.
macro_rules! instructions {
    ($index:expr, $room:literal, [$($keep:expr),*]) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "cmp byte ptr [rip + {active}], 0",
            "jne 2f",
            "mov r11, qword ptr [rip + {real} + {at}]",
            "test r11, r11",
            "jz 2f",
            "jmp r11",
            "2:",
            "mov r11, rsp",
            concat!("sub rsp, ", $room),
            concat!(".cfi_adjust_cfa_offset ", $room),
            "mov qword ptr [rsp + 96], r11",
            "mov qword ptr [rsp + 104], rbp",
            "mov qword ptr [rsp + 112], rdi",
            "mov qword ptr [rsp + 120], rsi",
            "mov qword ptr [rsp + 128], rdx",
            "mov qword ptr [rsp + 136], rcx",
            "mov qword ptr [rsp + 144], r8",
            "mov qword ptr [rsp + 152], r9",
            $($keep,)*
            "mov rdi, rsp",
            "mov esi, {index}",
            "call {before}",
            "mov rdi, qword ptr [rsp + 112]",
            "mov rsi, qword ptr [rsp + 120]",
            "mov rdx, qword ptr [rsp + 128]",
            "mov rcx, qword ptr [rsp + 136]",
            "mov r8, qword ptr [rsp + 144]",
            "mov r9, qword ptr [rsp + 152]",
            "call rax",
            "mov qword ptr [rsp + 160], rax",
            "mov rdi, rsp",
            "mov esi, {index}",
            "call {after}",
            "mov rax, qword ptr [rsp + 160]",
            concat!("add rsp, ", $room),
            concat!(".cfi_adjust_cfa_offset -", $room),
            "ret",
            ".cfi_endproc",
            active = sym $crate::files::stub::ACTIVE,
            real = sym $crate::files::table::REAL,
            at = const $index * 8,
            index = const $index,
            before = sym $crate::files::call::before,
            after = sym $crate::files::call::after,
        )
    };
}
pub(super) use instructions;

/// Exports functions of at most six words.
macro_rules! export {
    ($($name:ident)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            $crate::files::stub::instructions!($crate::files::table::Function::$name as usize, 168, [])
        }
    )*};
}
pub(super) use export;

/// Exports functions of `$named` words and any number of further arguments. The list of these lies behind the frame:
/// how many of the registers have been read, where the stack has more, and where the registers have been put.
macro_rules! export_variadic {
    ($($name:ident $named:literal)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            $crate::files::stub::instructions!(
                $crate::files::table::Function::$name as usize,
                376,
                [
                    "mov qword ptr [rsp + 192], rdi",
                    "mov qword ptr [rsp + 200], rsi",
                    "mov qword ptr [rsp + 208], rdx",
                    "mov qword ptr [rsp + 216], rcx",
                    "mov qword ptr [rsp + 224], r8",
                    "mov qword ptr [rsp + 232], r9",
                    "movaps xmmword ptr [rsp + 240], xmm0",
                    "movaps xmmword ptr [rsp + 256], xmm1",
                    "movaps xmmword ptr [rsp + 272], xmm2",
                    "movaps xmmword ptr [rsp + 288], xmm3",
                    "movaps xmmword ptr [rsp + 304], xmm4",
                    "movaps xmmword ptr [rsp + 320], xmm5",
                    "movaps xmmword ptr [rsp + 336], xmm6",
                    "movaps xmmword ptr [rsp + 352], xmm7",
                    concat!("mov dword ptr [rsp + 168], 8*", $named),
                    "mov dword ptr [rsp + 172], 48",
                    "add r11, 8",
                    "mov qword ptr [rsp + 176], r11",
                    "lea rax, [rsp + 192]",
                    "mov qword ptr [rsp + 184], rax",
                    "lea rax, [rsp + 168]",
                    concat!("mov qword ptr [rsp + 112 + 8*", $named, "], rax")
                ]
            )
        }
    )*};
}
pub(super) use export_variadic;
