//! Which functions there are: what they do, and how their arguments say that they will not wait.
//!
//! The one idea: a row says all that is to be known of a function; the code of the calls is the same for all.

use marey_model::Role;

use crate::c_library::functions::Functions;
use crate::c_library::inside::Calls as Within;
use crate::c_library::wrapper::{export, export_with_set};
use crate::entry::call_keeping_arguments;

/// How the arguments of a call say that it only asks, and returns at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asks {
    /// They do not.
    Never,
    /// This one is a time in ms, and 0. Nothing has come if the result is 0.
    NoTime(u8),
    /// This one points to a time of two words, which are 0. The same.
    NoTimeAt(u8),
    /// This one has the flag `WNOHANG`. The same.
    NoHang(u8),
    /// This one has the flag `MSG_DONTWAIT`. Nothing has come if it fails with `EAGAIN`.
    NoWait(u8),
}

/// What else there is to do before a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Also {
    Nothing,
    /// It makes a child, which shares the places in files.
    MakesChild,
    /// It closes the stream in its first argument.
    ClosesStream,
    /// It waits for the signals in its first argument, which are to be without that of samples.
    AwaitsSignals,
}

/// A function.
#[derive(Debug)]
pub(super) struct Row {
    /// Name under which calls are recorded.
    pub(super) verb: &'static str,
    pub(super) role: Role,
    pub(super) asks: Asks,
    pub(super) also: Also,
}

impl Row {
    /// Whether calls within a call are its own matter.
    pub(super) fn within(&self) -> Within {
        if matches!(self.verb, "system" | "pclose" | "getaddrinfo") { Within::ItsOwn } else { Within::Seen }
    }
}

macro_rules! functions {
    (
        calls { $($name:ident $verb:literal $role:ident, $asks:expr, $also:ident;)* }
        signals { $($sname:ident $sverb:literal;)* }
    ) => {
        /// Numbers of the functions.
        #[expect(non_camel_case_types, reason = "the names are those of the functions")]
        #[derive(Clone, Copy)]
        #[repr(usize)]
        pub(crate) enum Function { $($name,)* $($sname,)* }

        const NAMES: &[&str; N] = &[$(concat!(stringify!($name), "\0"),)* $(concat!(stringify!($sname), "\0"),)*];

        const N: usize = [$(stringify!($name),)* $(stringify!($sname),)*].len();

        /// What is known of them.
        pub(super) static FUNCTIONS: [Row; N] = {
            use Asks::*;
            [
                $(Row { verb: $verb, role: Role::$role, asks: $asks, also: Also::$also },)*
                $(Row { verb: $sverb, role: Role::Wait, asks: Never, also: Also::AwaitsSignals },)*
            ]
        };

        export! { system: $($name)* }
        export_with_set! { system: $($sname)* }
    };
}

functions! {
    calls {
        nanosleep "nanosleep" Wait, Never, Nothing;
        clock_nanosleep "clock_nanosleep" Wait, Never, Nothing;
        usleep "usleep" Wait, Never, Nothing;
        sleep "sleep" Wait, Never, Nothing;
        thrd_sleep "thrd_sleep" Wait, Never, Nothing;
        pause "pause" Wait, Never, Nothing;
        sigsuspend "sigsuspend" Wait, Never, Nothing;
        poll "poll" Wait, NoTime(2), Nothing;
        __poll_chk "poll" Wait, NoTime(2), Nothing;
        ppoll "ppoll" Wait, NoTimeAt(2), Nothing;
        __ppoll_chk "ppoll" Wait, NoTimeAt(2), Nothing;
        select "select" Wait, NoTimeAt(4), Nothing;
        pselect "pselect" Wait, NoTimeAt(4), Nothing;
        epoll_wait "epoll_wait" Wait, NoTime(3), Nothing;
        epoll_pwait "epoll_pwait" Wait, NoTime(3), Nothing;
        // Alone of those with a pointer to a time it hands that to the kernel unread: it may lead nowhere.
        epoll_pwait2 "epoll_pwait2" Wait, Never, Nothing;
        wait "wait" Wait, Never, Nothing;
        waitpid "waitpid" Wait, NoHang(2), Nothing;
        wait3 "wait3" Wait, NoHang(1), Nothing;
        wait4 "wait4" Wait, NoHang(2), Nothing;
        // It returns 0 whether there was a child or not.
        waitid "waitid" Wait, Never, Nothing;
        system "system" Wait, Never, MakesChild;
        pclose "pclose" Wait, Never, ClosesStream;
        connect "connect" Wait, Never, Nothing;
        accept "accept" Wait, Never, Nothing;
        accept4 "accept4" Wait, Never, Nothing;
        recv "recv" Transfer, NoWait(3), Nothing;
        __recv_chk "recv" Transfer, NoWait(4), Nothing;
        recvfrom "recvfrom" Transfer, NoWait(3), Nothing;
        recvmsg "recvmsg" Transfer, NoWait(2), Nothing;
        recvmmsg "recvmmsg" Transfer, NoWait(3), Nothing;
        send "send" Transfer, NoWait(3), Nothing;
        sendto "sendto" Transfer, NoWait(3), Nothing;
        sendmsg "sendmsg" Transfer, NoWait(2), Nothing;
        sendmmsg "sendmmsg" Transfer, NoWait(3), Nothing;
        msgrcv "msgrcv" Transfer, Never, Nothing;
        msgsnd "msgsnd" Transfer, Never, Nothing;
        mq_receive "mq_receive" Transfer, Never, Nothing;
        mq_timedreceive "mq_timedreceive" Transfer, Never, Nothing;
        mq_send "mq_send" Transfer, Never, Nothing;
        mq_timedsend "mq_timedsend" Transfer, Never, Nothing;
        semop "semop" Acquire, Never, Nothing;
        semtimedop "semtimedop" Acquire, Never, Nothing;
        flock "flock" Acquire, Never, Nothing;
        lockf "lockf" Acquire, Never, Nothing;
        lockf64 "lockf" Acquire, Never, Nothing;
        getaddrinfo "getaddrinfo" Wait, Never, Nothing;
    }
    signals {
        sigwait "sigwait";
        sigwaitinfo "sigwaitinfo";
        sigtimedwait "sigtimedwait";
    }
}

/// The table that the instructions of [`crate::c_library::wrapper`] look at.
pub(crate) type Calls = Functions<N>;
pub(crate) static CALLS: Calls = Functions::new(NAMES);

/// `(fd, buffer, bytes, room, flags, address, length)`: with an argument more than registers have. If the bytes have
/// room, it is `recvfrom`; if not, it is the end of the program, which nobody need record.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __recvfrom_chk() {
    extern "C" fn find() -> usize {
        crate::next::next(c"__recvfrom_chk")
    }
    core::arch::naked_asm!(
        ".cfi_startproc",
        "cmp rcx, rdx",
        "jb 2f",
        "mov rcx, r8",
        "mov r8, r9",
        "mov r9, qword ptr [rsp + 8]",
        "jmp {recvfrom}",
        "2:",
        call_keeping_arguments!("find"),
        "jmp rax",
        ".cfi_endproc",
        recvfrom = sym recvfrom,
        find = sym find,
    )
}
