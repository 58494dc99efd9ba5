//! The futex, for languages that build their locks on it directly (Rust, C++20) by way of the
//! function `syscall`; what may install a filter on system calls ([`crate::filter`]); and what changes descriptors or
//! makes a child that shares them ([`crate::files`]). Every other system call is passed on after a few comparisons.

use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use marey_model::EdgeKind;

use super::interval::{blocked, is_watched, note};
use super::real::{Function, next};
use super::table::tables;
use crate::entry::{Entry, call_keeping_arguments};

static REAL: AtomicUsize = AtomicUsize::new(0);

/// `syscall(number, ...)`: what is no futex goes on to the real function untouched, with whatever
/// the caller has put into registers and on the stack.
#[unsafe(naked)]
#[cfg_attr(not(feature = "linked"), unsafe(no_mangle))]
#[cfg_attr(feature = "linked", unsafe(export_name = "marey_thread_syscall"))]
unsafe extern "C" fn syscall() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "cmp rdi, {futex}",
        "je 2f",
        "cmp rdi, {seccomp}",
        "je 4f",
        "cmp rdi, {prctl}",
        "je 4f",
        "cmp rdi, {close}",
        "je 5f",
        "cmp rdi, {close_range}",
        "je 5f",
        "cmp rdi, {dup2}",
        "je 5f",
        "cmp rdi, {dup3}",
        "je 5f",
        "cmp rdi, {clone3}",
        "je 6f",
        "lea r11, [rdi - {clone}]",
        "cmp r11, {vfork} - {clone}",
        "jbe 6f",
        "7:",
        "mov rax, qword ptr [rip + {real}]",
        "test rax, rax",
        "jz 3f",
        "jmp rax",
        "2:",
        "mov r11, qword ptr [rip + marey_entry@GOTTPOFF]",
        "mov qword ptr fs:[r11], rsp",
        "mov qword ptr fs:[r11 + 8], rbp",
        "jmp {body}",
        "4:",
        "jmp {filters}",
        "5:",
        "jmp {descriptors}",
        // A child may have no stack but what it was given: no frame of ours.
        "6:",
        "lock inc dword ptr [rip + {forks}]",
        "jmp 7b",
        "3:",
        call_keeping_arguments!("resolve"),
        "jmp rax",
        ".cfi_endproc",
        futex = const libc::SYS_futex,
        seccomp = const libc::SYS_seccomp,
        prctl = const libc::SYS_prctl,
        close = const libc::SYS_close,
        close_range = const libc::SYS_close_range,
        dup2 = const libc::SYS_dup2,
        dup3 = const libc::SYS_dup3,
        clone3 = const libc::SYS_clone3,
        clone = const libc::SYS_clone,
        vfork = const libc::SYS_vfork,
        forks = sym crate::files::FORKS,
        descriptors = sym descriptors,
        filters = sym filters,
        real = sym REAL,
        body = sym futex,
        resolve = sym resolve,
    )
}

#[cold]
extern "C" fn resolve() -> usize {
    let found = next(c"syscall");
    let address = if found == 0 { by_hand as *const () as usize } else { found };
    REAL.store(address, Ordering::Relaxed);
    address
}

/// In place of a `syscall` that the C library lacks.
unsafe extern "C" fn by_hand(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    // SAFETY: the caller's arguments.
    unsafe {
        let result = marey_measure::sys::pass_on(number, [a, b, c, d, e, f]);
        if (-4095..0).contains(&result) {
            *libc::__errno_location() = -result as c_int;
            return -1;
        }
        result as c_long
    }
}

/// The function that calls are passed on to.
type Syscall = unsafe extern "C-unwind" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;

fn real_function() -> Syscall {
    let mut address = REAL.load(Ordering::Relaxed);
    if address == 0 {
        address = resolve();
    }
    // SAFETY: the address is that of `syscall`, or of `by_hand`.
    unsafe { core::mem::transmute::<usize, Syscall>(address) }
}

unsafe extern "C-unwind" fn descriptors(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    // SAFETY: the program's own arguments.
    crate::files::by_number(number, [a, b, c], || unsafe { real_function()(number, a, b, c, d, e, f) })
}

unsafe extern "C-unwind" fn filters(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    // SAFETY: the program's own arguments; afterwards the kernel has read what they point to.
    let pass_on = || unsafe {
        let result = real_function()(number, a, b, c, d, e, f);
        crate::filter::passed_on(number, [a, b, c], result);
        result
    };
    #[cfg(not(feature = "linked"))]
    return crate::sampler::paused(pass_on);
    #[cfg(feature = "linked")]
    pass_on()
}

unsafe extern "C-unwind" fn futex(
    number: c_long,
    word: usize,
    op: usize,
    value: usize,
    timeout: usize,
    word2: usize,
    value3: usize,
) -> c_long {
    let entry = Entry::take();
    // SAFETY: the program's own arguments.
    let real = || unsafe { real_function()(number, word, op, value, timeout, word2, value3) };
    if tables().is_none() {
        return real();
    }
    match op as c_int & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET if is_watched(entry.sp) && would_wait(word, value) => {
            // SAFETY: the call is under way.
            unsafe { blocked(Function::futex_wait as usize, entry, EdgeKind::Wake, word, real) }
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            note(word);
            real()
        }
        libc::FUTEX_WAKE_OP | libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => {
            note(word);
            note(word2);
            real()
        }
        _ => real(),
    }
}

/// Whether the word still has the value that its waiter saw; otherwise the kernel sends it back at
/// once.
fn would_wait(word: usize, value: usize) -> bool {
    // SAFETY: whoever waits at a word has just read it.
    word.is_multiple_of(4)
        && 4096 <= word
        && unsafe { (*(word as *const AtomicU32)).load(Ordering::Relaxed) } == value as u32
}
