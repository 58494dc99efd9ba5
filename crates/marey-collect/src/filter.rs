//! Filters on system calls: a program that shuts itself in must not be ended by a call of ours.
//!
//! The one idea: a filter is a short program without loops. When one has been installed it is run here for
//! each call that the recorder makes; a call for which it would end the process, stop it or send it a signal
//! is not made any more. What it merely refuses is: we get along with refusals.
//!
//! Deliberately absent: filters that are installed by the bare instruction, or were there before the program
//! began; nobody tells us of them.

use core::ffi::{c_int, c_long};

use marey_measure::sys;

#[cfg(not(feature = "linked"))]
use crate::next::Next;

#[cfg(not(feature = "linked"))]
static REAL: Next = Next::of("prctl\0");

/// Finds what calls are passed on to.
#[cfg(not(feature = "linked"))]
pub(crate) fn resolve() {
    REAL.find();
}

/// `prctl`: passed on, and looked at if it has installed a filter. Not in programs that the recorder is
/// linked into.
#[cfg(not(feature = "linked"))]
#[unsafe(no_mangle)]
unsafe extern "C" fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int {
    let address = REAL.address();
    if address == 0 {
        return -1;
    }
    // SAFETY: the address is that of `prctl`, which gets the program's own arguments.
    unsafe {
        let real: unsafe extern "C" fn(c_int, usize, usize, usize, usize) -> c_int =
            core::mem::transmute(address);
        if matches!(option, libc::PR_SET_SECCOMP | libc::PR_SET_TSC) {
            return crate::sampler::paused(|| {
                let result = real(option, a, b, c, d);
                if result == 0 {
                    controlled(option, a, b);
                }
                result
            });
        }
        real(option, a, b, c, d)
    }
}

/// What `prctl` has done, by whichever way.
unsafe fn controlled(option: c_int, a: usize, b: usize) {
    match option {
        // SAFETY: the caller's promise: the kernel has read the filter.
        libc::PR_SET_SECCOMP => unsafe { installed(a == libc::SECCOMP_MODE_STRICT as usize, b) },
        libc::PR_SET_TSC if a == libc::PR_TSC_SIGSEGV as usize => marey_measure::lose_clock(),
        _ => {}
    }
}

/// To be called when the function `syscall` has passed on a call that may install a filter, with what that
/// has returned.
///
/// # Safety
/// The words are those of the call.
pub(crate) unsafe fn passed_on(number: c_long, [a, b, c]: [usize; 3], result: c_long) {
    // The kernel looks at half of these words.
    let (operation, flags) = (a as u32, b as u64 & u64::from(u32::MAX));
    // With a listener it is its descriptor; else the thread that could not be given the filter.
    let has_listener = flags & libc::SECCOMP_FILTER_FLAG_NEW_LISTENER != 0;
    let is_done = result == 0 || (0 < result && has_listener);
    // SAFETY: the caller's promise: the kernel has read the filter.
    unsafe {
        match number {
            libc::SYS_seccomp if operation == libc::SECCOMP_SET_MODE_STRICT && result == 0 => {
                installed(true, 0);
            }
            libc::SYS_seccomp if operation == libc::SECCOMP_SET_MODE_FILTER && is_done => {
                installed(false, c);
            }
            libc::SYS_prctl if result == 0 => controlled(a as c_int, b, c),
            _ => {}
        }
    }
}

/// The calls that a recorder makes, each with the arguments that a filter may look at.
const OURS: [(c_long, [u64; 6]); 44] = {
    const RW: u64 = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    const ZEROS: u64 = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as u64;
    const OPEN: u64 = (libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW) as u64;
    const CREATE: u64 = OPEN | (libc::O_CREAT | libc::O_EXCL) as u64;
    const HERE: u64 = libc::AT_FDCWD as u64;
    [
        (libc::SYS_mmap, [0, 4096, RW, ZEROS, u64::MAX, 0]),
        (libc::SYS_mmap, [0, 4096, RW, libc::MAP_SHARED as u64, 3, 0]),
        (libc::SYS_munmap, [0, 4096, 0, 0, 0, 0]),
        (libc::SYS_madvise, [0, 4096, libc::MADV_WIPEONFORK as u64, 0, 0, 0]),
        (libc::SYS_madvise, [0, 4096, libc::MADV_POPULATE_WRITE as u64, 0, 0, 0]),
        (libc::SYS_madvise, [0, 4096, libc::MADV_DONTNEED as u64, 0, 0, 0]),
        (libc::SYS_madvise, [0, 4096, libc::MADV_REMOVE as u64, 0, 0, 0]),
        (libc::SYS_openat, [HERE, 0, OPEN, 0o600, 0, 0]),
        (libc::SYS_openat, [HERE, 0, CREATE, 0o600, 0, 0]),
        (libc::SYS_openat, [HERE, 0, libc::O_CLOEXEC as u64, 0, 0, 0]),
        (libc::SYS_unlinkat, [HERE, 0, 0, 0, 0, 0]),
        (libc::SYS_read, [3, 0, 4096, 0, 0, 0]),
        (libc::SYS_pread64, [3, 0, 4096, 64, 0, 0]),
        (libc::SYS_readlinkat, [HERE, 0, 0, 4096, 0, 0]),
        (libc::SYS_getcwd, [0, 4096, 0, 0, 0, 0]),
        (libc::SYS_pwritev, [3, 0, 16, 0, 0, 0]),
        (libc::SYS_fallocate, [3, 0, 0, 4096, 0, 0]),
        (libc::SYS_prlimit64, [0, libc::RLIMIT_FSIZE as u64, 0, 0, 0, 0]),
        (libc::SYS_close, [3, 0, 0, 0, 0, 0]),
        (libc::SYS_fstat, [3, 0, 0, 0, 0, 0]),
        (libc::SYS_lseek, [3, 0, libc::SEEK_CUR as u64, 0, 0, 0]),
        (libc::SYS_rt_sigprocmask, [libc::SIG_BLOCK as u64, 0, 0, 8, 0, 0]),
        (libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as u64, 0, 0, 8, 0, 0]),
        (libc::SYS_rt_sigprocmask, [libc::SIG_UNBLOCK as u64, 0, 0, 8, 0, 0]),
        (libc::SYS_gettid, [0; 6]),
        (libc::SYS_getpid, [0; 6]),
        (libc::SYS_getppid, [0; 6]),
        (libc::SYS_prctl, [libc::PR_GET_NAME as u64, 0, 0, 0, 0, 0]),
        (libc::SYS_getrandom, [0, 8, 0, 0, 0, 0]),
        (libc::SYS_sched_yield, [0; 6]),
        (libc::SYS_getrusage, [libc::RUSAGE_SELF as u64, 0, 0, 0, 0, 0]),
        (libc::SYS_process_vm_readv, [1, 0, 1, 0, 1, 0]),
        (libc::SYS_rt_sigaction, [60, 0, 0, 8, 0, 0]),
        (libc::SYS_timer_create, [libc::CLOCK_THREAD_CPUTIME_ID as u64, 0, 0, 0, 0, 0]),
        (libc::SYS_timer_settime, [0, 0, 0, 0, 0, 0]),
        (libc::SYS_timer_delete, [0, 0, 0, 0, 0, 0]),
        (libc::SYS_perf_event_open, [0, 0, u64::MAX, u64::MAX, 8, 0]),
        (libc::SYS_mmap, [0, 4096, libc::PROT_READ as u64, libc::MAP_SHARED as u64, 3, 0]),
        (libc::SYS_fcntl, [3, libc::F_DUPFD_CLOEXEC as u64, 512, 0, 0, 0]),
        (libc::SYS_ioctl, [3, 0x8008_2407, 0, 0, 0, 0]),
        (libc::SYS_prlimit64, [0, libc::RLIMIT_NOFILE as u64, 0, 0, 0, 0]),
        (libc::SYS_getrusage, [libc::RUSAGE_THREAD as u64, 0, 0, 0, 0, 0]),
        (libc::SYS_clock_gettime, [libc::CLOCK_THREAD_CPUTIME_ID as u64, 0, 0, 0, 0, 0]),
        (libc::SYS_tgkill, [1, 1, 60, 0, 0, 0]),
    ]
};

/// The header of a filter as the program passes it.
#[repr(C)]
struct Filter {
    len: u16,
    code: *const libc::sock_filter,
}

unsafe fn installed(is_strict: bool, filter: usize) {
    if is_strict {
        // The strict mode takes the time-stamp counter away too.
        marey_measure::lose_clock();
        OURS.iter().for_each(|(number, _)| sys::refrain(*number));
        #[cfg(not(feature = "linked"))]
        crate::sampler::stop(crate::sampler::Stopped::Filtered);
        return;
    }
    // SAFETY: the caller's promise: the kernel has read a filter there, and found it sound.
    let code = unsafe {
        let filter = &*(filter as *const Filter);
        core::slice::from_raw_parts(filter.code, filter.len.into())
    };
    for (number, arguments) in OURS {
        // Not understood is not allowed.
        if run(code, number as u32, arguments).is_none_or(is_deadly) {
            sys::refrain(number);
        }
    }
    // Samples end if their handler could not block signals, or not return.
    #[cfg(not(feature = "linked"))]
    for number in [libc::SYS_rt_sigreturn, libc::SYS_rt_sigprocmask] {
        if run(code, number as u32, [0, 0, 0, 8, 0, 0]).is_none_or(is_deadly) {
            crate::sampler::stop(crate::sampler::Stopped::Filtered);
        }
    }
    // Where the kernel trusts the counter, its clocks are read without a call.
    let calls = marey_measure::current_runtime().is_some_and(|it| it.clock() != marey_model::ClockKind::Tsc);
    if calls && run(code, libc::SYS_clock_gettime as u32, [1, 0, 0, 0, 0, 0]).is_none_or(is_deadly) {
        marey_measure::lose_clock();
    }
}

/// Whether what a filter answers ends, stops or interrupts the process.
fn is_deadly(answer: u32) -> bool {
    !matches!(
        answer & libc::SECCOMP_RET_ACTION_FULL,
        libc::SECCOMP_RET_ALLOW | libc::SECCOMP_RET_LOG | libc::SECCOMP_RET_ERRNO
    )
}

/// What a filter answers to a call. `None` if it contains what filters have not.
fn run(code: &[libc::sock_filter], number: u32, arguments: [u64; 6]) -> Option<u32> {
    /// `AUDIT_ARCH_X86_64`.
    const ARCH: u32 = 0xc000_003e;
    let mut data = [0_u32; 16];
    (data[0], data[1]) = (number, ARCH);
    for (pair, argument) in data[4..].chunks_exact_mut(2).zip(arguments) {
        (pair[0], pair[1]) = (argument as u32, (argument >> 32) as u32);
    }
    let (mut a, mut x, mut memory) = (0_u32, 0_u32, [0_u32; 16]);
    let mut at = 0_usize;
    // A filter only jumps forwards.
    while let Some(&libc::sock_filter { code: op, jt, jf, k }) = code.get(at) {
        at += 1;
        let jump = |is_true: bool| usize::from(if is_true { jt } else { jf });
        match op {
            // ld, ldx: a word of the call, its length, a number, memory
            0x20 => a = *data.get(k as usize / 4)?,
            0x80 => a = 64,
            0x81 => x = 64,
            0x00 => a = k,
            0x01 => x = k,
            0x60 => a = *memory.get(k as usize)?,
            0x61 => x = *memory.get(k as usize)?,
            0x02 => *memory.get_mut(k as usize)? = a,
            0x03 => *memory.get_mut(k as usize)? = x,
            0x07 => x = a,
            0x87 => a = x,
            0x05 => at = at.checked_add(k as usize)?,
            0x15 => at += jump(a == k),
            0x1d => at += jump(a == x),
            0x25 => at += jump(a > k),
            0x2d => at += jump(a > x),
            0x35 => at += jump(a >= k),
            0x3d => at += jump(a >= x),
            0x45 => at += jump(a & k != 0),
            0x4d => at += jump(a & x != 0),
            0x06 => return Some(k),
            0x16 => return Some(a),
            0x84 => a = a.wrapping_neg(),
            _ if op & 0x07 == 0x04 => a = compute(op, a, if op & 0x08 == 0 { k } else { x })?,
            _ => return None,
        }
    }
    None
}

/// Arithmetic on two numbers.
fn compute(op: u16, a: u32, b: u32) -> Option<u32> {
    Some(match op & 0xf0 {
        0x00 => a.wrapping_add(b),
        0x10 => a.wrapping_sub(b),
        0x20 => a.wrapping_mul(b),
        0x30 => a.checked_div(b).unwrap_or(0),
        0x40 => a | b,
        0x50 => a & b,
        0x60 => a.checked_shl(b).unwrap_or(0),
        0x70 => a.checked_shr(b).unwrap_or(0),
        0xa0 => a ^ b,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
        libc::sock_filter { code, jt, jf, k }
    }

    /// Sources in a directory and those below it.
    fn sources(dir: &std::path::Path) -> Vec<String> {
        let mut texts = Vec::new();
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts.append(&mut sources(&path));
            } else if !path.ends_with("filter.rs") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
        texts
    }

    /// Each call that is written anywhere is one that a filter is asked about.
    #[test]
    fn no_call_of_ours_is_left_out() {
        const CALL: &str = "syscall(";
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let known = include_str!("filter.rs").split_once("] = {").unwrap().1.split_once("};").unwrap().0;
        assert_eq!(known.matches("(libc::SYS_").count(), OURS.len());
        let mut calls = 0;
        for text in [sources(&here.join("src")), sources(&here.join("../marey-measure/src"))].concat() {
            for (at, _) in text.match_indices(CALL) {
                let Some(name) = text[at + CALL.len()..].trim_start().strip_prefix("libc::SYS_") else {
                    continue;
                };
                let name = name.split(',').next().unwrap();
                assert!(known.contains(&format!("(libc::SYS_{name},")), "{name} is called, and not in OURS");
                calls += 1;
            }
        }
        assert!(calls >= 20, "{calls}: are they written otherwise now?");
    }

    #[test]
    fn filters_answer_as_the_kernel_would() {
        let (allow, kill) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_KILL_PROCESS);
        // Allows call 9 with the third argument 3, whose upper half must be 0, and call 257.
        let code = [
            line(0x20, 0, 0, 0),
            line(0x15, 5, 0, 257),
            line(0x15, 0, 5, 9),
            line(0x20, 0, 0, 16 + 8 * 2),
            line(0x15, 0, 3, 3),
            line(0x20, 0, 0, 16 + 8 * 2 + 4),
            line(0x15, 0, 1, 0),
            line(0x06, 0, 0, allow),
            line(0x06, 0, 0, kill),
        ];
        let answer = |number, third| run(&code, number, [0, 0, third, 0, 0, 0]).unwrap();
        assert_eq!((answer(257, 0), answer(9, 3), answer(9, 7)), (allow, allow, kill));
        assert_eq!((answer(9, 3 | 1 << 32), answer(8, 3)), (kill, kill));
        // In the scratch memory: (number + 3) << 1, without its lowest four bits.
        let code = [
            line(0x20, 0, 0, 0),
            line(0x04, 0, 0, 3),
            line(0x02, 0, 0, 15),
            line(0x01, 0, 0, 1),
            line(0x60, 0, 0, 15),
            line(0x6c, 0, 0, 0),
            line(0x54, 0, 0, !15),
            line(0x16, 0, 0, 0),
        ];
        assert_eq!(run(&code, 40, [0; 6]), Some(80));
        assert_eq!((run(&code[..3], 40, [0; 6]), run(&[line(0x28, 0, 0, 0)], 1, [0; 6])), (None, None));
        let answers =
            [allow, kill, libc::SECCOMP_RET_ERRNO | 38, libc::SECCOMP_RET_TRAP, libc::SECCOMP_RET_LOG];
        assert_eq!(answers.map(is_deadly), [false, true, false, true, false]);
    }
}
