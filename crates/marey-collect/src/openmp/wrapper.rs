//! How calls of the runtime library come in.
//!
//! The one idea: what is exported is a few instructions with a frame of their own, from which is called what we do
//! before and after, and the real function in between. No frame of Rust's lies on the stack meanwhile, since threads may
//! be cancelled there and exceptions pass.

use core::mem::MaybeUninit;

use crate::entry::Entry;

/// A call, as its exported function keeps it on the stack.
#[repr(C)]
pub(super) struct Frame {
    /// What is to be known after the real call.
    pub(super) pending: MaybeUninit<[usize; 24]>,
    /// Stack pointer at the entry.
    pub(super) sp: usize,
    /// Frame pointer at the entry.
    pub(super) bp: usize,
    pub(super) args: [usize; 6],
    pub(super) result: usize,
}

// The instructions below know it.
const _: () = assert!(
    size_of::<Frame>() == 264
        && core::mem::offset_of!(Frame, sp) == 192
        && core::mem::offset_of!(Frame, args) == 208
);

impl Frame {
    pub(super) fn entry(&self) -> Entry {
        Entry { sp: self.sp, bp: self.bp }
    }

    /// The argument number `index`, counted from 0.
    ///
    /// # Safety
    /// The function has so many.
    pub(super) unsafe fn argument(&self, index: usize) -> usize {
        match self.args.get(index) {
            Some(&word) => word,
            // SAFETY: the caller's promise: it lies behind the return address.
            None => unsafe { *((self.sp as *const usize).add(index - 5)) },
        }
    }

    /// Room for what is to be known after the real call.
    pub(super) fn room<T>(&mut self) -> *mut T {
        const { assert!(size_of::<T>() <= 192 && align_of::<T>() <= 8) };
        self.pending.as_mut_ptr().cast()
    }
}

/// The instructions of an exported function: `$before` gets the frame and the function's number and gives the address to
/// call, `$after` gets the frame with the result. `$room` bytes of stack, of which the first `$at` are for arguments
/// beyond the sixth, which `$copy` puts there. `$first` is done for each call, also where nothing is recorded of it.
macro_rules! instructions {
    (
        $name:ident, $room:literal, $at:literal, [$($first:expr),*], [$($copy:expr),*], $before:path, $after:path
    ) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            $($first,)*
            "cmp byte ptr [rip + {active}], 0",
            "jne 2f",
            "mov r11, qword ptr [rip + {real} + {place}]",
            "test r11, r11",
            "jz 2f",
            "jmp r11",
            "2:",
            "mov r11, rsp",
            concat!("sub rsp, ", $room),
            concat!(".cfi_adjust_cfa_offset ", $room),
            concat!("mov qword ptr [rsp + 192 + ", $at, "], r11"),
            concat!("mov qword ptr [rsp + 200 + ", $at, "], rbp"),
            concat!("mov qword ptr [rsp + 208 + ", $at, "], rdi"),
            concat!("mov qword ptr [rsp + 216 + ", $at, "], rsi"),
            concat!("mov qword ptr [rsp + 224 + ", $at, "], rdx"),
            concat!("mov qword ptr [rsp + 232 + ", $at, "], rcx"),
            concat!("mov qword ptr [rsp + 240 + ", $at, "], r8"),
            concat!("mov qword ptr [rsp + 248 + ", $at, "], r9"),
            // It may be one of a runtime that tells of its constructs.
            concat!("lea rdi, [rsp + ", $at, "]"),
            "mov esi, {index}",
            "call {told}",
            "test rax, rax",
            "jnz 3f",
            concat!("lea rdi, [rsp + ", $at, "]"),
            "mov esi, {index}",
            "call {before}",
            "mov r11, rax",
            $($copy,)*
            concat!("mov rdi, qword ptr [rsp + 208 + ", $at, "]"),
            concat!("mov rsi, qword ptr [rsp + 216 + ", $at, "]"),
            concat!("mov rdx, qword ptr [rsp + 224 + ", $at, "]"),
            concat!("mov rcx, qword ptr [rsp + 232 + ", $at, "]"),
            concat!("mov r8, qword ptr [rsp + 240 + ", $at, "]"),
            concat!("mov r9, qword ptr [rsp + 248 + ", $at, "]"),
            // One of these functions takes any number of arguments, none of them in vector registers.
            "xor eax, eax",
            "call r11",
            concat!("mov qword ptr [rsp + 256 + ", $at, "], rax"),
            concat!("lea rdi, [rsp + ", $at, "]"),
            "mov esi, {index}",
            "call {after}",
            concat!("mov rax, qword ptr [rsp + 256 + ", $at, "]"),
            concat!("add rsp, ", $room),
            concat!(".cfi_adjust_cfa_offset -", $room),
            "ret",
            "3:",
            concat!(".cfi_adjust_cfa_offset ", $room),
            "mov r11, rax",
            concat!("mov rdi, qword ptr [rsp + 208 + ", $at, "]"),
            concat!("mov rsi, qword ptr [rsp + 216 + ", $at, "]"),
            concat!("mov rdx, qword ptr [rsp + 224 + ", $at, "]"),
            concat!("mov rcx, qword ptr [rsp + 232 + ", $at, "]"),
            concat!("mov r8, qword ptr [rsp + 240 + ", $at, "]"),
            concat!("mov r9, qword ptr [rsp + 248 + ", $at, "]"),
            concat!("add rsp, ", $room),
            concat!(".cfi_adjust_cfa_offset -", $room),
            "xor eax, eax",
            "jmp r11",
            ".cfi_endproc",
            active = sym $crate::openmp::IS_ACTIVE,
            real = sym $crate::openmp::real::REAL,
            place = const $crate::openmp::real::Function::$name as usize * 8,
            index = const $crate::openmp::real::Function::$name as usize,
            told = sym $crate::openmp::real::told,
            before = sym $before,
            after = sym $after,
        )
    };
}
pub(super) use instructions;

/// Exports functions of at most six words.
macro_rules! export {
    ($($name:ident = $before:path, $after:path;)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            $crate::openmp::wrapper::instructions!($name, 264, 0, [], [], $before, $after)
        }
    )*};
}
pub(super) use export;

/// The same of functions that wait for the lock that is their first argument, of which a runtime that tells of its constructs does
/// not say that they do: see [`super::saved::has_called_for`].
macro_rules! export_lock {
    ($($name:ident = $before:path, $after:path;)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            $crate::openmp::wrapper::instructions!(
                $name,
                264,
                0,
                ["mov rax, qword ptr [rip + marey_openmp_called_for@GOTTPOFF]", "mov qword ptr fs:[rax], rdi"],
                [],
                $before,
                $after
            )
        }
    )*};
}
pub(super) use export_lock;

/// Exports functions of at most twelve words.
macro_rules! export_long {
    ($($name:ident = $before:path, $after:path;)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            $crate::openmp::wrapper::instructions!(
                $name,
                312,
                48,
                [],
                [
                    "mov rax, qword ptr [rsp + 320]",
                    "mov qword ptr [rsp], rax",
                    "mov rax, qword ptr [rsp + 328]",
                    "mov qword ptr [rsp + 8], rax",
                    "mov rax, qword ptr [rsp + 336]",
                    "mov qword ptr [rsp + 16], rax",
                    "mov rax, qword ptr [rsp + 344]",
                    "mov qword ptr [rsp + 24], rax",
                    "mov rax, qword ptr [rsp + 352]",
                    "mov qword ptr [rsp + 32], rax",
                    "mov rax, qword ptr [rsp + 360]",
                    "mov qword ptr [rsp + 40], rax"
                ],
                $before,
                $after
            )
        }
    )*};
}
pub(super) use export_long;

/// For functions of which nothing is to be known afterwards.
pub(super) unsafe extern "C" fn nothing(_: *mut Frame, _: usize) {}
