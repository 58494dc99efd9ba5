//! Calls of the kernel that a sample has ended before they waited.
//!
//! The one idea: some calls (`poll`, `nanosleep` and others that wait for a time) return EINTR whenever a handler
//! has run, whatever it asked for. A timer of processor time never fires while a thread waits, but it may while the
//! thread is on its way to. Then the registers say so, and the handler puts the thread back before the call.
//!
//! A signal of the program's that comes while the sample is taken is handled as if it had come just before the call. If
//! the call unblocks signals by itself (`ppoll`, `sigsuspend`), they are still blocked then, so that none is missed. One
//! that is handled before the sample has been taken has ended the call, which then says so.
//!
//! Deliberately absent: calls whose number is not in the instruction before, of which nobody knows what they were.

/// Registers in the kernel's record of a signal.
const RAX: usize = 13;
pub(super) const RIP: usize = 16;
pub(super) const BEGIN: usize = 5;

/// The instruction that calls the kernel.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// That which says what for: `mov eax, …`, with four bytes of number.
const MOV_EAX: u8 = 0xb8;

/// Calls that wait, and return EINTR after any handler.
const WAITING: [i64; 21] = [
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_pause,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_io_getevents,
    libc::SYS_futex,
    libc::SYS_recvfrom,
    libc::SYS_accept,
    libc::SYS_accept4,
];

/// Whether a call has ended because of a signal.
///
/// # Safety
/// As for [`restart`].
pub(super) unsafe fn has_ended(context: *const u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { context.add(BEGIN + RAX).read().cast_signed() == -i64::from(libc::EINTR) }
}

/// Puts the thread back before a call that was ended early by nobody but us.
///
/// # Safety
/// `context` is the kernel's record of the signal that is being handled.
pub(super) unsafe fn restart(context: *mut u64) {
    // SAFETY: the caller's promise. Where the thread stands behind an instruction, there are its bytes; a page that
    // begins there has been left out.
    unsafe {
        if !has_ended(context) {
            return;
        }
        let result = context.add(BEGIN + RAX);
        let at = context.add(BEGIN + RIP);
        let address = at.read();
        if address & 0xfff < 7 {
            return;
        }
        let code = (address as *const u8).sub(7).cast::<[u8; 7]>().read();
        let [MOV_EAX, a, b, c, d, end @ ..] = code else { return };
        let number = i64::from(i32::from_le_bytes([a, b, c, d]));
        if end == SYSCALL && WAITING.contains(&number) {
            at.write(address - SYSCALL.len() as u64);
            result.write(number.cast_unsigned());
        }
    }
}
