//! Calls that change what descriptors stand for, and are no regions: they move nothing and wait for nothing.
//!
//! The one idea: what closes a descriptor is noted before it is done, for afterwards another thread may have opened a
//! file under its number; what makes one is noted when it is done. The same calls come by way of the function `syscall`
//! ([`by_number`]).

use core::ffi::{c_int, c_long};

use super::descriptors::{self, FORKS};
use super::table::Change;
use crate::entry::call_keeping_arguments;
use crate::next::Next;

/// To be called before the real function.
///
/// # Safety
/// The words are its arguments.
pub(super) unsafe fn before(change: Change, args: &[usize; 6]) {
    let [first, last, flags, ..] = *args;
    match change {
        Change::CloseRange if flags as u32 & libc::CLOSE_RANGE_CLOEXEC == 0 => {
            descriptors::forget_all(first as u32, last as u32);
        }
        Change::Directory => descriptors::forget(first as c_int),
        Change::CloseFrom => descriptors::forget_all((first as c_int).max(0).cast_unsigned(), u32::MAX),
        _ => {}
    }
}

/// To be called when the real function has returned.
pub(super) fn after(change: Change, args: &[usize; 6], result: c_int) {
    let [old, command, ..] = *args;
    let is_made = match change {
        Change::Dup | Change::DupTo => true,
        Change::Control => matches!(command as c_int, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC),
        _ => false,
    };
    if is_made && 0 <= result {
        descriptors::copied(old as c_int, result);
    }
}

/// A call that came in by its number: its arguments, and `pass_on` for the real one.
pub(crate) fn by_number(number: c_long, [a, b, c]: [usize; 3], pass_on: impl FnOnce() -> c_long) -> c_long {
    if !super::is_active() {
        return pass_on();
    }
    match number {
        libc::SYS_close => descriptors::forget(a as c_int),
        // SAFETY: nothing is read but these words.
        libc::SYS_close_range => unsafe { before(Change::CloseRange, &[a, b, c, 0, 0, 0]) },
        _ => {}
    }
    let result = pass_on();
    if matches!(number, libc::SYS_dup2 | libc::SYS_dup3) {
        after(Change::DupTo, &[a, b, c, 0, 0, 0], result as c_int);
    }
    result
}

/// To be called before `pclose`, which closes a stream.
///
/// # Safety
/// The word is a stream.
pub(crate) unsafe fn closes_stream(stream: usize) {
    if super::is_active() {
        // SAFETY: the caller's promise.
        descriptors::forget(unsafe { libc::fileno(stream as *mut libc::FILE) });
    }
}

/// Exported functions that make a child process, each passed on to the next of its name by a jump: a child of `vfork`
/// returns through the frames that it was called from. (`system`, which waits for it, is one of [`crate::system`].)
macro_rules! children {
    ($($name:ident $next:ident;)*) => {
        $(
        static $next: Next = Next::of(concat!(stringify!($name), "\0"));

        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            extern "C" fn find() {
                $next.find();
            }
            core::arch::naked_asm!(
                ".cfi_startproc",
                "lock inc dword ptr [rip + {forks}]",
                "mov r11, qword ptr [rip + {next}]",
                "test r11, r11",
                "jz 2f",
                "jmp r11",
                "2:",
                call_keeping_arguments!("find"),
                "jmp qword ptr [rip + {next}]",
                ".cfi_endproc",
                forks = sym FORKS,
                next = sym $next,
                find = sym find,
            )
        }
        )*

        /// Finds them all: handlers of signals may call them, in which nothing can be looked up.
        pub(crate) fn resolve_all() {
            $($next.find();)*
        }
    };
}

children! {
    clone CLONE;
    fork FORK;
    _Fork FORK_ALONE;
    vfork VFORK;
    posix_spawn SPAWN;
    posix_spawnp SPAWN_BY_PATH;
    popen POPEN;
}
