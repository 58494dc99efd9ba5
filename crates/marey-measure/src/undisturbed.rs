//! Keeping signals away while something is half done.
//!
//! The one idea: a handler of the program's may jump away, and what it has interrupted is never finished. So whoever
//! holds a lock or changes windows has signals wait. That takes two calls of the kernel, and locks lie within
//! others; so each thread knows whether signals wait already.
//!
//! Deliberately absent: the hot path, which has no room for a call of the kernel and knows how to be interrupted.

use crate::sys::syscall;

/// Does `f` without being disturbed by signals, asynchronous cancellation among them: what a handler left
/// half done by `siglongjmp` nobody would ever finish. Inside of another such `f` the kernel is not asked again:
/// each time costs two calls, and who learns a stack takes a dozen locks.
#[inline]
pub fn undisturbed<R>(f: impl FnOnce() -> R) -> R {
    if is_undisturbed() {
        return f();
    }
    const SET: usize = size_of::<u64>();
    let (all, mut before) = (u64::MAX, 0_u64);
    let (from, to) = ((&raw const all) as usize, (&raw mut before) as usize);
    // SAFETY: both sets are as long as said. Where it may not be done, `f` may be disturbed.
    let done =
        unsafe { syscall(libc::SYS_rt_sigprocmask, [libc::SIG_BLOCK as usize, from, to, SET, 0, 0]) } == 0;
    set_undisturbed(u64::from(done));
    let result = f();
    set_undisturbed(0);
    if done {
        // SAFETY: as above.
        unsafe { syscall(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as usize, to, 0, SET, 0, 0]) };
    }
    result
}

// Whether the calling thread is inside of `undisturbed`; as near as its descriptor (see `attach`), since whoever
// allocates asks.
#[cfg(all(target_arch = "x86_64", not(miri)))]
core::arch::global_asm!(
    ".pushsection .tbss.marey_undisturbed,\"awT\",@nobits",
    ".hidden marey_undisturbed",
    ".globl marey_undisturbed",
    ".type marey_undisturbed, @tls_object",
    ".size marey_undisturbed, 8",
    ".p2align 3",
    "marey_undisturbed:",
    ".zero 8",
    ".popsection",
);

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn is_undisturbed() -> bool {
    let word: u64;
    // SAFETY: reads a variable of the calling thread's.
    unsafe {
        core::arch::asm!(
            "mov {at}, qword ptr [rip + marey_undisturbed@GOTTPOFF]",
            "mov {at}, qword ptr fs:[{at}]",
            at = out(reg) word,
            options(nostack, readonly, preserves_flags)
        );
    }
    word != 0
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn set_undisturbed(word: u64) {
    // SAFETY: writes a variable of the calling thread's.
    unsafe {
        core::arch::asm!(
            "mov {at}, qword ptr [rip + marey_undisturbed@GOTTPOFF]",
            "mov qword ptr fs:[{at}], {word}",
            at = out(reg) _,
            word = in(reg) word,
            options(nostack, preserves_flags)
        );
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn undisturbed_word<R>(f: impl FnOnce(&core::cell::Cell<u64>) -> R) -> R {
    std::thread_local! {
        static WORD: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
    }
    WORD.with(f)
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn is_undisturbed() -> bool {
    undisturbed_word(|word| word.get() != 0)
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn set_undisturbed(word: u64) {
    undisturbed_word(|it| it.set(word));
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    /// The calling thread's blocked signals; two of them can never be.
    fn blocked() -> u64 {
        let mut mask = 0_u64;
        // SAFETY: asks only, and the set is as long as said.
        let asked = unsafe {
            syscall(
                libc::SYS_rt_sigprocmask,
                [libc::SIG_BLOCK as usize, 0, (&raw mut mask) as usize, 8, 0, 0],
            )
        };
        assert_eq!(asked, 0);
        mask
    }

    #[test]
    fn signals_wait_until_the_outermost_is_over() {
        let all = !(1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1));
        let before = blocked();
        assert_ne!(before, all);
        undisturbed(|| {
            assert_eq!(undisturbed(blocked), all);
            assert_eq!(blocked(), all, "an inner one has let them come");
            // Another thread has signals of its own.
            std::thread::scope(|scope| {
                let other = scope.spawn(|| (undisturbed(|| undisturbed(blocked)), blocked()));
                assert_eq!(other.join().expect("it does not panic").0, all);
            });
        });
        assert_eq!(blocked(), before);
        undisturbed(|| ());
        assert_eq!(undisturbed(blocked), all, "the second time as the first");
        assert_eq!(blocked(), before);
    }
}
