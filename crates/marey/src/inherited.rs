//! What this process was started with, and how a program that it starts gets exactly that.
//!
//! The one idea: Rust's runtime changes a process before `main` (it ignores SIGPIPE and opens
//! closed standard streams), and its way of starting a child changes more (an empty signal mask,
//! SIGPIPE at its default, the C library's own two signals ignored). So a function that runs before the
//! runtime notes the state, and the child puts it back just before it becomes the program.
//!
//! What the launcher does with signals meanwhile is the business of `record::signals`.
#![expect(unsafe_code, reason = "asks the kernel for signal dispositions, which no safe interface shows")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use marey_measure::sys::syscall;

/// Signals that were ignored: bit `n` − 1 for signal `n`, as the kernel counts them.
static IGNORED: AtomicU64 = AtomicU64::new(0);
/// Signals that were blocked.
static BLOCKED: AtomicU64 = AtomicU64::new(0);
/// Standard streams that were closed: bit `n` for descriptor `n`.
static CLOSED: AtomicU64 = AtomicU64::new(0);

const SIGNALS: std::ops::RangeInclusive<i32> = 1..=64;

/// The kernel's `struct sigaction`. The C library's will not be asked about the two signals that it
/// keeps for itself.
#[repr(C)]
#[derive(Default)]
struct Action {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

/// Runs before Rust's runtime, which comes with `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

extern "C" fn note() {
    let ignored = SIGNALS.filter(|signal| handler(*signal) == libc::SIG_IGN).map(bit).sum();
    IGNORED.store(ignored, Ordering::Relaxed);
    BLOCKED.store(change_mask(libc::SIG_BLOCK, 0), Ordering::Relaxed);
    let is_closed = |fd: &usize| {
        // SAFETY: asks for the flags of a descriptor, which need not be open.
        unsafe { syscall(libc::SYS_fcntl, [*fd, libc::F_GETFD as usize, 0, 0, 0, 0]) < 0 }
    };
    CLOSED.store((0..3).filter(is_closed).map(|fd| 1 << fd).sum(), Ordering::Relaxed);
}

/// Whether this process was started to ignore a signal.
pub(crate) fn ignores(signal: i32) -> bool {
    IGNORED.load(Ordering::Relaxed) & bit(signal) != 0
}

/// Whether a standard stream was closed; Rust's runtime has opened it since.
pub(crate) fn was_closed(descriptor: i32) -> bool {
    (0..3).contains(&descriptor) && CLOSED.load(Ordering::Relaxed) & (1 << descriptor) != 0
}

/// The program that `command` starts begins as this process began.
pub(crate) fn hand_on(command: &mut Command) {
    // SAFETY: `restore` calls nothing but the kernel, as a child of a fork must.
    unsafe { command.pre_exec(restore) };
}

/// What `command` starts is killed when this process ends.
pub(crate) fn end_together(command: &mut Command) {
    end_by(command, rustix::process::Signal::KILL);
}

/// What `command` starts is asked to end when the thread that starts it does, and so when this process is killed.
pub(crate) fn end_with_us(command: &mut Command) {
    end_by(command, rustix::process::Signal::TERM);
}

fn end_by(command: &mut Command, signal: rustix::process::Signal) {
    let ask = move || Ok(rustix::process::set_parent_process_death_signal(Some(signal))?);
    // SAFETY: `ask` calls nothing but the kernel.
    unsafe { command.pre_exec(ask) };
}

/// Lets signals arrive that were blocked when this process was started.
pub(crate) fn unblock(signals: &[i32]) {
    change_mask(libc::SIG_UNBLOCK, signals.iter().copied().map(bit).sum());
}

/// Takes [`unblock`] back.
pub(crate) fn block_again() {
    change_mask(libc::SIG_SETMASK, BLOCKED.load(Ordering::Relaxed));
}

/// Makes writing beyond the limit on the size of files (`ulimit -f`) an error instead of an end.
pub(crate) fn survive_large_files() {
    set_handler(libc::SIGXFSZ, libc::SIG_IGN);
}

fn restore() -> io::Result<()> {
    for signal in SIGNALS {
        // Two of them refuse, and those cannot have been changed.
        set_handler(signal, if ignores(signal) { libc::SIG_IGN } else { libc::SIG_DFL });
    }
    let closed = CLOSED.load(Ordering::Relaxed);
    for fd in (0..3).filter(|fd| closed >> fd & 1 == 1) {
        // SAFETY: the runtime opened it in place of nothing, and this process is about to be another.
        unsafe { syscall(libc::SYS_close, [fd, 0, 0, 0, 0, 0]) };
    }
    block_again();
    Ok(())
}

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

fn handler(signal: i32) -> usize {
    let mut action = Action::default();
    rt_sigaction(signal, null(), &raw mut action);
    action.handler
}

fn set_handler(signal: i32, handler: usize) {
    rt_sigaction(signal, &Action { handler, ..Action::default() }, null_mut());
}

fn rt_sigaction(signal: i32, new: *const Action, old: *mut Action) {
    let arguments = [signal as usize, new as usize, old as usize, size_of::<u64>(), 0, 0];
    // SAFETY: the callers pass null or a pointer to an action of their own, and no handler but the two
    // that are not functions.
    unsafe { syscall(libc::SYS_rt_sigaction, arguments) };
}

/// Returns the mask as it was before.
fn change_mask(how: i32, mask: u64) -> u64 {
    let mut before = 0_u64;
    let (new, old) = ((&raw const mask) as usize, (&raw mut before) as usize);
    // SAFETY: both point to masks of the length that is told.
    unsafe { syscall(libc::SYS_rt_sigprocmask, [how as usize, new, old, size_of::<u64>(), 0, 0]) };
    before
}
