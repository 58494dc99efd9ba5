//! Calls of the kernel that a sample has ended before they waited.
//!
//! The one idea: some calls (`poll`, `nanosleep` and others that wait for a time) return EINTR whenever a handler
//! has run, whatever it asked for. A timer of processor time never fires while a thread waits, but it may while the
//! thread is on its way to. Then the registers say so, and the handler puts the thread back before the call.
//!
//! A signal of the program's may come with the sample. If its handler has run before, it has ended the call, which says so;
//! if it runs after, it finds the thread before the call, and ends it as the kernel would have ([`super::handlers`]). If
//! the call unblocks signals by itself (`ppoll`, `sigsuspend`), they are still blocked before it, so that none is missed.
//!
//! Deliberately absent: calls whose number is not in one of the instructions before, of which nobody knows what they
//! were. The C library has none of those below up to version 2.40; from 2.41 on it makes all calls that wait in one
//! place, which has been given the number, and they may end early.

use core::ffi::c_int;

use super::handler::action;

/// Registers in the kernel's record of a signal.
const RAX: usize = 13;
pub(super) const RSP: usize = 15;
pub(super) const RIP: usize = 16;
pub(super) const BEGIN: usize = 5;

/// The instruction that calls the kernel.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// That which says what for: `mov eax, …`, with four bytes of number.
const MOV_EAX: u8 = 0xb8;

/// Calls that wait, and return EINTR after any handler.
const WAITING: [i64; 17] = [
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
];

/// Calls that do so after handlers that do not say SA_RESTART, and some of them after any if they have a time limit.
const RESTARTED: [i64; 21] = [
    libc::SYS_futex,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_ioctl,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_flock,
    libc::SYS_fcntl,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
];

fn is_known(number: i64) -> bool {
    WAITING.contains(&number) || RESTARTED.contains(&number)
}

/// Instructions that the C library has between that and the call: `mov register, [rsp + …]`, two at most.
const MOV: u8 = 0x8b;
const BY_STACK: u8 = 0x24;
const MOST_MOVES: usize = 2;
/// Bytes that are looked at, before the call.
const BEFORE: usize = 5 + MOST_MOVES * 5 + SYSCALL.len();

/// The number of the call that `code` ends with, if it is known.
fn number(code: &[u8]) -> Option<i64> {
    let mut code = code.strip_suffix(&SYSCALL)?;
    for _ in 0..=MOST_MOVES {
        if let [.., MOV_EAX, a, b, c, d] = *code {
            return Some(i64::from(i32::from_le_bytes([a, b, c, d])));
        }
        // The base is the stack pointer, with a byte of distance; of 64 bits with a prefix before.
        let [before @ .., MOV, registers, BY_STACK, _] = code else { return None };
        if registers & 0b1100_0111 != 0b0100_0100 {
            return None;
        }
        code = match before {
            [before @ .., 0x48 | 0x4c] => before,
            before => before,
        };
    }
    None
}

/// Where the thread stands: instruction and stack pointer.
///
/// # Safety
/// `context` is the kernel's record of a signal that is being handled.
pub(super) unsafe fn position(context: *const u64) -> [usize; 2] {
    // SAFETY: the caller's promise.
    [RIP, RSP].map(|register| unsafe { context.add(BEGIN + register).read() as usize })
}

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
/// `context` is the kernel's record of the signal that is being handled, and the call [`has_ended`].
pub(super) unsafe fn restart(context: *mut u64) {
    // SAFETY: the caller's promise. Where the thread stands behind an instruction, there are its bytes; a page that
    // begins there has been left out.
    unsafe {
        let result = context.add(BEGIN + RAX);
        let at = context.add(BEGIN + RIP);
        let address = at.read();
        let len = BEFORE.min((address & 0xfff) as usize);
        let code = core::slice::from_raw_parts((address as *const u8).sub(len), len);
        if let Some(number) = number(code).filter(|&number| is_known(number)) {
            at.write(address - SYSCALL.len() as u64);
            result.write(number.cast_unsigned());
        }
    }
}

/// Whether the thread is about to make a call that waits: it stands before the instruction, with the number in place. So it
/// does if a sample has ended the call and it has been put back, by the kernel or by [`restart`].
///
/// # Safety
/// `context` is the kernel's record of a signal that is being handled.
pub(super) unsafe fn is_before_call(context: *const u64) -> bool {
    // SAFETY: the caller's promise. Where the thread stands before an instruction, there are its bytes; one that lies
    // across two pages is left out.
    unsafe {
        let address = context.add(BEGIN + RIP).read();
        let number = context.add(BEGIN + RAX).read().cast_signed();
        is_known(number) && address & 0xfff != 0xfff && (address as *const [u8; 2]).read() == SYSCALL
    }
}

/// Ends a call that the thread is about to make, as if `signal` had come in it, unless the call would go on.
///
/// # Safety
/// `context` is the kernel's record of a signal that is being handled, and [`is_before_call`].
pub(super) unsafe fn end(context: *mut u64, signal: c_int) {
    // SAFETY: the caller's promise.
    unsafe {
        let number = context.add(BEGIN + RAX).read().cast_signed();
        let ends = || action(signal).is_some_and(|action| action.flags & libc::SA_RESTART as u64 == 0);
        if !WAITING.contains(&number) && !ends() {
            return;
        }
        let at = context.add(BEGIN + RIP);
        at.write(at.read() + SYSCALL.len() as u64);
        context.add(BEGIN + RAX).write(i64::from(-libc::EINTR).cast_unsigned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the C library of Debian 12 has them.
    #[test]
    fn the_number_of_a_call_is_found_behind_what_loads_its_arguments() {
        let cases: [(&[u8], Option<i64>); 7] = [
            (&[0xb8, 7, 0, 0, 0, 0x0f, 0x05], Some(libc::SYS_poll)),
            (
                &[0x90, 0x90, 0xb8, 0x0e, 1, 0, 0, 0x8b, 0x7c, 0x24, 0x1c, 0x0f, 0x05],
                Some(libc::SYS_pselect6),
            ),
            (
                &[0xb8, 45, 0, 0, 0, 0x48, 0x8b, 0x54, 0x24, 0x10, 0x48, 0x8b, 0x74, 0x24, 8, 0x0f, 0x05],
                Some(libc::SYS_recvfrom),
            ),
            // Another register, another base, no call, and nothing before it.
            (&[0xb9, 7, 0, 0, 0, 0x0f, 0x05], None),
            (&[0xb8, 7, 0, 0, 0, 0x8b, 0x7c, 0x25, 0x1c, 0x0f, 0x05], None),
            (&[0xb8, 7, 0, 0, 0, 0x0f, 0x34], None),
            (&[0x0f, 0x05], None),
        ];
        for (code, expected) in cases {
            assert_eq!(number(code), expected, "{code:x?}");
        }
    }
}
