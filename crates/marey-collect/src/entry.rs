//! How a call came in: the machine's state at the first instruction of an interposed function.
//!
//! Each exported function is a few instructions that note stack and frame pointer in thread-local
//! memory and jump on, so that the call stack can be taken from the caller's frame without
//! walking through ours, whatever the compiler made of our code.

use crate::variable::thread_variable;

/// What the jump notes, and whether the thread is inside a measured library already.
#[repr(C)]
pub(crate) struct Slot {
    /// Stack pointer at the entry: it points to the return address.
    pub(crate) sp: usize,
    /// Frame pointer at the entry.
    pub(crate) bp: usize,
    /// Stack pointer of the outermost call into MPI that has not returned; 0 for none.
    pub(crate) inside: usize,
    /// The thread's cache of sites, null before it has one.
    pub(crate) sites: *mut crate::site::Sites,
    /// Calls until the next one of which the cost is taken ([`crate::sample`]).
    pub(crate) until_sample: u32,
    /// The last number drawn for that; 0 before the first.
    pub(crate) draws: u32,
    /// The return address of the call that `inside` is of.
    pub(crate) inside_ip: usize,
    /// The site of the call that was entered last.
    pub(crate) site: u32,
    /// 1 while the call that the thread is inside of is a real one on a file: what that does to files is recorded.
    pub(crate) on_file: u32,
}

const _: () = assert!(core::mem::offset_of!(Slot, until_sample) == 32);

thread_variable! {
    /// The calling thread's slot. With the pointer to the thread's descriptor, which the linker puts behind it, a line of the
    /// processor's cache.
    pub(crate) fn slot -> Slot; "marey_entry", 56 bytes, aligned 6
}

/// Where a call came from.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Address of the return address.
    pub(crate) sp: usize,
    /// The caller's frame pointer.
    pub(crate) bp: usize,
}

impl Entry {
    /// What the jump into the calling function noted. To be taken first of all.
    #[inline(always)]
    pub(crate) fn take() -> Self {
        // SAFETY: the slot is the calling thread's own.
        unsafe { Self { sp: (*slot()).sp, bp: (*slot()).bp } }
    }

    /// Marks the thread as inside MPI. False if it was already: the call comes from the library
    /// itself, or from a callback that it called. A call that has been left by a `longjmp` or an
    /// exception does not count.
    #[inline(always)]
    pub(crate) fn go_inside(self) -> bool {
        // SAFETY: as in `take`.
        unsafe {
            let slot = slot();
            if (*slot).inside != 0 && !self.is_behind_a_jump() {
                return false;
            }
            (*slot).inside = self.sp;
            (*slot).on_file = 0;
            (*slot).inside_ip = *(self.sp as *const usize);
        }
        true
    }

    /// Whether the call that the thread is inside of has been left without returning. If its region
    /// is the innermost that is open, it ends here; regions that the program has entered since then
    /// end when the program says so, and the call's after them.
    #[cold]
    fn is_behind_a_jump(self) -> bool {
        if self.is_inside() {
            return false;
        }
        let thread = marey_measure::existing_thread();
        // SAFETY: as in `take`; the descriptor is the calling thread's.
        unsafe {
            if !thread.is_null() {
                marey_measure::enter_announced(thread);
            }
            let site = (*slot()).site;
            if marey_measure::innermost(thread) == Some(site) {
                marey_measure::leave_site(thread, site);
            }
        }
        true
    }

    /// Whether the call is the one that the thread is inside of, and has not returned or been left.
    pub(crate) fn is_under_way(self) -> bool {
        let here = 0_u8;
        // SAFETY: the slot is the calling thread's own, and the call's return address lay above all that
        // is below it now.
        unsafe {
            (*slot()).inside == self.sp
                && (&raw const here as usize) < self.sp
                && *(self.sp as *const usize) == (*slot()).inside_ip
        }
    }

    /// Whether [`Self::go_inside`] would say no.
    pub(crate) fn is_inside(self) -> bool {
        is_inside(self.sp)
    }

    /// The inverse of [`Self::go_inside`].
    #[inline(always)]
    pub(crate) fn come_out(self) {
        // SAFETY: as in `take`.
        unsafe { (*slot()).inside = 0 };
    }
}

/// Whether what came in at stack pointer `sp` comes from inside MPI: the call that the thread is inside
/// of lies further out and has not been left without returning. A call that was left that way lies
/// further in mostly; if not, then its return address has been overwritten by those of other calls.
#[inline(always)]
pub(crate) fn is_inside(sp: usize) -> bool {
    // SAFETY: the slot and the sites are the calling thread's own, and what lies between two addresses
    // of its stack can be read.
    unsafe {
        let slot = slot();
        if (*slot).inside <= sp {
            return false;
        }
        let stack = (*slot).sites.as_ref().map_or(0..0, |sites| sites.own_stack());
        let is_readable = stack.start <= sp && (*slot).inside < stack.end;
        !is_readable || *((*slot).inside as *const usize) == (*slot).inside_ip
    }
}

/// The instructions of an exported function that note the entry and jump to `$body`; one call in
/// some 256 goes to `$sampled` instead, which does the same and takes the time. Code that is shared by
/// several functions gets the number `$function` as its sixth argument.
macro_rules! noting_jump {
    (number $function:expr, {$($body:tt)+}, {$($sampled:tt)+}) => {
        noting_jump!(@ "mov r9d, {function}", (function = const $function,), {$($body)+}, {$($sampled)+})
    };
    ($body:path, $sampled:path) => {
        noting_jump!(@ "", (), {$body}, {$sampled})
    };
    (@ $first:literal, ($($operand:tt)*), {$($body:tt)+}, {$($sampled:tt)+}) => {
        core::arch::naked_asm!(
            $first,
            "mov r11, qword ptr [rip + marey_entry@GOTTPOFF]",
            "mov qword ptr fs:[r11], rsp",
            "mov qword ptr fs:[r11 + 8], rbp",
            "sub dword ptr fs:[r11 + 32], 1",
            "jb {sampled}",
            "jmp {body}",
            $($operand)*
            sampled = sym $($sampled)+,
            body = sym $($body)+,
        )
    };
}
pub(crate) use noting_jump;

/// The instructions of an exported function that note the entry and jump to `$body`, whatever that costs.
#[cfg(not(feature = "linked"))]
macro_rules! plain_noting_jump {
    ($body:path) => {
        core::arch::naked_asm!(
            "mov r11, qword ptr [rip + marey_entry@GOTTPOFF]",
            "mov qword ptr fs:[r11], rsp",
            "mov qword ptr fs:[r11 + 8], rbp",
            "jmp {body}",
            body = sym $body,
        )
    };
}
#[cfg(not(feature = "linked"))]
pub(crate) use plain_noting_jump;

/// The instructions that call `{$found}`, of no arguments, with the caller's own kept: what it returns is in `rax`
/// after them, and all the registers that arguments come in are as they were. The stack is to be as at an entry.
macro_rules! call_keeping_arguments {
    ($found:literal) => {
        concat!(
            "push rdi\n",
            "push rsi\n",
            "push rdx\n",
            "push rcx\n",
            "push r8\n",
            "push r9\n",
            "sub rsp, 8\n",
            ".cfi_adjust_cfa_offset 56\n",
            "call {",
            $found,
            "}\n",
            "add rsp, 8\n",
            "pop r9\n",
            "pop r8\n",
            "pop rcx\n",
            "pop rdx\n",
            "pop rsi\n",
            "pop rdi\n",
            ".cfi_adjust_cfa_offset -56",
        )
    };
}
pub(crate) use call_keeping_arguments;
