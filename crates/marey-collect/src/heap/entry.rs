//! How calls of the allocator come in.
//!
//! The one idea: what is exported decides in a few instructions that nothing is to be recorded, and jumps on; not even
//! the stack is touched. Functions that allocate compare the size. Those that free go by a word that says who looks at
//! the block: nobody, while nothing is recorded; else a few instructions that read the size that the C library keeps
//! before each block.
//!
//! The long way gets the stack and frame pointer of the call, by which its stack can be walked.

use core::sync::atomic::{AtomicPtr, Ordering};

use super::call;
use super::real::{Function, REAL};
use super::{LEAST, LEAST_CHUNK};

/// Who gets calls of `free`, `realloc` and `reallocarray`.
static FREE: AtomicPtr<()> = AtomicPtr::new(call::free as *const () as *mut ());
static REALLOC: AtomicPtr<()> = AtomicPtr::new(long_realloc as *const () as *mut ());
static REALLOCARRAY: AtomicPtr<()> = AtomicPtr::new(long_reallocarray as *const () as *mut ());

/// From now on all is passed on, once it is known to whom. `looks`: there are blocks of ours among those that will be
/// freed, so they must be looked at as before.
pub(super) fn pass_on(looks: bool) {
    if looks {
        return;
    }
    let words = [(&FREE, Function::free), (&REALLOC, Function::realloc)];
    for (word, function) in words.into_iter().chain([(&REALLOCARRAY, Function::reallocarray)]) {
        let real = REAL[function as usize].load(Ordering::Relaxed);
        if real != 0 {
            word.store(real as *mut (), Ordering::Release);
        }
    }
}

/// From now on large blocks are recorded.
pub(super) fn watch() {
    let order = Ordering::Release;
    REALLOCARRAY.store(long_reallocarray as *const () as *mut (), order);
    // Where calls take the long way for good, there are blocks that have no size before them.
    let looked = |word: &AtomicPtr<()>, long: *const ()| word.load(Ordering::Relaxed).cast_const() == long;
    if !looked(&FREE, call::free as *const ()) {
        FREE.store(short_free as *const () as *mut (), order);
    }
    if !looked(&REALLOC, long_realloc as *const ()) {
        REALLOC.store(short_realloc as *const () as *mut (), order);
    }
}

/// Exports functions whose size is in a register.
macro_rules! allocating {
    ($($name:ident $size:literal $long:path;)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                concat!("cmp ", $size, ", qword ptr [rip + {least}]"),
                "jae 2f",
                "jmp qword ptr [rip + {real} + {at}]",
                "2:",
                "mov rcx, rsp",
                "mov r8, rbp",
                "jmp {long}",
                least = sym LEAST,
                real = sym REAL,
                at = const Function::$name as usize * 8,
                long = sym $long,
            )
        }
    )*};
}

allocating! {
    malloc "rdi" call::malloc;
    posix_memalign "rdx" call::posix_memalign;
    aligned_alloc "rsi" call::aligned_alloc;
    memalign "rsi" call::memalign;
    valloc "rdi" call::valloc;
    pvalloc "rdi" call::pvalloc;
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc() {
    core::arch::naked_asm!(
        "mov rax, rdi",
        "mul rsi",
        "jo 2f",
        "cmp rax, qword ptr [rip + {least}]",
        "jae 2f",
        "jmp qword ptr [rip + {real} + {at}]",
        "2:",
        "mov rcx, rsp",
        "mov r8, rbp",
        "jmp {long}",
        least = sym LEAST,
        real = sym REAL,
        at = const Function::calloc as usize * 8,
        long = sym call::calloc,
    )
}

/// Exports functions that go by a word.
macro_rules! by_word {
    ($($name:ident $word:path;)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!("jmp qword ptr [rip + {word}]", word = sym $word)
        }
    )*};
}

by_word! {
    free FREE;
    realloc REALLOC;
    reallocarray REALLOCARRAY;
}

#[unsafe(naked)]
unsafe extern "C" fn short_free() {
    core::arch::naked_asm!(
        "test rdi, rdi",
        "jz 3f",
        "mov rax, qword ptr [rdi - 8]",
        // The lowest three bits are marks.
        "and rax, -8",
        "cmp rax, qword ptr [rip + {least}]",
        "jae 2f",
        "3:",
        "jmp qword ptr [rip + {real} + {at}]",
        "2:",
        "jmp {long}",
        least = sym LEAST_CHUNK,
        real = sym REAL,
        at = const Function::free as usize * 8,
        long = sym call::free,
    )
}

#[unsafe(naked)]
unsafe extern "C" fn short_realloc() {
    core::arch::naked_asm!(
        "cmp rsi, qword ptr [rip + {size}]",
        "jae 2f",
        "test rdi, rdi",
        "jz 3f",
        "mov rax, qword ptr [rdi - 8]",
        "and rax, -8",
        "cmp rax, qword ptr [rip + {least}]",
        "jae 2f",
        "3:",
        "jmp qword ptr [rip + {real} + {at}]",
        "2:",
        "mov rcx, rsp",
        "mov r8, rbp",
        "jmp {long}",
        size = sym LEAST,
        least = sym LEAST_CHUNK,
        real = sym REAL,
        at = const Function::realloc as usize * 8,
        long = sym call::realloc,
    )
}

#[unsafe(naked)]
unsafe extern "C" fn long_realloc() {
    core::arch::naked_asm!("mov rcx, rsp", "mov r8, rbp", "jmp {long}", long = sym call::realloc)
}

#[unsafe(naked)]
unsafe extern "C" fn long_reallocarray() {
    core::arch::naked_asm!("mov rcx, rsp", "mov r8, rbp", "jmp {long}", long = sym call::reallocarray)
}
