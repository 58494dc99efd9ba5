//! MPE's functions for C, as `mpe.h` declares them.
//!
//! Each does what MPE's would do for the program, and what it says to the recorder; then an MPE library
//! behind us gets the call too. What that library answers is the program's answer. Communicators are
//! machine words; a state belongs to its thread, whichever communicator it is logged for.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::board::Described;
use super::describe::{describe, reserve, settle};
use super::format::{Cargo, pack};
use super::next::pass_on;
use super::{log, what};

/// `MPE_LOG_OK`.
pub(super) const OK: c_int = 0;
/// `MPE_LOG_PACK_FAIL`.
const PACK_FAIL: c_int = 5;

/// Does `$own` unless the call comes from the MPE library that it is passed on to; gives the answer.
macro_rules! both {
    ($name:ident ( $($arg:expr),* ), $own:expr) => {
        match pass_on!($name($($arg),*)) {
            Some((answer, true)) => answer,
            Some((answer, false)) => {
                $own;
                answer
            }
            None => {
                $own;
                OK
            }
        }
    };
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Init_log() -> c_int {
    both!(MPE_Init_log(), log::initialize())
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Initialized_logging() -> c_int {
    pass_on!(MPE_Initialized_logging()).map_or_else(log::initialized, |(answer, _)| answer)
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Start_log() -> c_int {
    both!(MPE_Start_log(), log::resume())
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Stop_log() -> c_int {
    both!(MPE_Stop_log(), log::stop())
}

/// The clocks are the recorder's concern.
#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Log_sync_clocks() -> c_int {
    both!(MPE_Log_sync_clocks(), settle())
}

/// Of use to MPE's wrappers of MPI only.
#[unsafe(no_mangle)]
extern "C" fn MPE_Log_thread_sync(threads: c_int) {
    pass_on!(MPE_Log_thread_sync(threads));
}

/// # Safety
/// `name` is null or text that ends with a zero byte.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Finish_log(name: *const c_char) -> c_int {
    both!(MPE_Finish_log(name), {
        log::finish();
        // SAFETY: the caller's promise.
        let file = format!("{}.clog2\0", unsafe { text(name) });
        FILE.store(Box::leak(file.into_boxed_str()).as_mut_ptr(), Ordering::Release);
    })
}

/// The name that MPE would have given to its file.
static FILE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());

#[unsafe(no_mangle)]
extern "C" fn MPE_Log_merged_logfilename() -> *const c_char {
    static NEXT: super::next::Next = super::next::Next::new(c"MPE_Log_merged_logfilename");
    match NEXT.address() {
        // SAFETY: the address is that of a function of this type.
        Some(address) => unsafe {
            core::mem::transmute::<usize, extern "C" fn() -> *const c_char>(address)()
        },
        None => FILE.load(Ordering::Acquire).cast_const().cast(),
    }
}

/// Text from C; nothing for null.
unsafe fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}

/// # Safety
/// The texts are null or end with a zero byte.
unsafe fn described(
    (start, end): (c_int, c_int),
    name: *const c_char,
    color: *const c_char,
    format: *const c_char,
) {
    // SAFETY: the caller's promise.
    let [name, color, format] = unsafe { [text(name), text(color), text(format)] };
    describe(&Described { start, end, name, color, format });
}

/// # Safety
/// As for all functions of this kind: the texts are null or end with a zero byte.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Describe_comm_state(
    comm: usize,
    start: c_int,
    end: c_int,
    name: *const c_char,
    color: *const c_char,
    format: *const c_char,
) -> c_int {
    both!(MPE_Describe_comm_state(comm, start, end, name, color, format), {
        // SAFETY: the caller's promise.
        unsafe { described((start, end), name, color, format) }
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Describe_info_state(
    start: c_int,
    end: c_int,
    name: *const c_char,
    color: *const c_char,
    format: *const c_char,
) -> c_int {
    both!(MPE_Describe_info_state(start, end, name, color, format), {
        // SAFETY: the caller's promise.
        unsafe { described((start, end), name, color, format) }
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Describe_state(
    start: c_int,
    end: c_int,
    name: *const c_char,
    color: *const c_char,
) -> c_int {
    both!(MPE_Describe_state(start, end, name, color), {
        // SAFETY: the caller's promise.
        unsafe { described((start, end), name, color, core::ptr::null()) }
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Describe_comm_event(
    comm: usize,
    event: c_int,
    name: *const c_char,
    color: *const c_char,
    format: *const c_char,
) -> c_int {
    both!(MPE_Describe_comm_event(comm, event, name, color, format), {
        // SAFETY: the caller's promise.
        unsafe { described((event, event), name, color, format) }
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Describe_info_event(
    event: c_int,
    name: *const c_char,
    color: *const c_char,
    format: *const c_char,
) -> c_int {
    both!(MPE_Describe_info_event(event, name, color, format), {
        // SAFETY: the caller's promise.
        unsafe { described((event, event), name, color, format) }
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Describe_event(
    event: c_int,
    name: *const c_char,
    color: *const c_char,
) -> c_int {
    both!(MPE_Describe_event(event, name, color), {
        // SAFETY: the caller's promise.
        unsafe { described((event, event), name, color, core::ptr::null()) }
    })
}

/// Whether the program will use the number in a state is not known yet.
#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Log_get_event_number() -> c_int {
    pass_on!(MPE_Log_get_event_number()).map_or_else(what::number_of_state, |(number, _)| number)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Log_get_state_eventIDs(start: *mut c_int, end: *mut c_int) -> c_int {
    let passed = pass_on!(MPE_Log_get_state_eventIDs(start, end));
    // SAFETY: the program's own variables.
    unsafe {
        if passed.is_none() {
            *start = what::number_of_state();
            *end = what::number_of_state();
        }
        reserve(*start, *end);
    }
    passed.map_or(OK, |(answer, _)| answer)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Log_get_solo_eventID(event: *mut c_int) -> c_int {
    let passed = pass_on!(MPE_Log_get_solo_eventID(event));
    // SAFETY: the program's own variable.
    unsafe {
        if passed.is_none() {
            *event = what::number_alone();
        }
        reserve(*event, *event);
    }
    passed.map_or(OK, |(answer, _)| answer)
}

/// The bytes have [`super::format::LEN`] bytes or are text that ends with a zero byte; so for all that
/// log.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPE_Log_event(event: c_int, data: c_int, bytes: *const u8) -> c_int {
    both!(MPE_Log_event(event, data, bytes), {
        // SAFETY: the caller's promise.
        log::log(event, unsafe { Cargo::of_c(bytes) })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPE_Log_info_event(event: c_int, bytes: *const u8) -> c_int {
    both!(MPE_Log_info_event(event, bytes), {
        // SAFETY: the caller's promise.
        log::log(event, unsafe { Cargo::of_c(bytes) })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPE_Log_comm_event(comm: usize, event: c_int, bytes: *const u8) -> c_int {
    both!(MPE_Log_comm_event(comm, event, bytes), {
        // SAFETY: the caller's promise.
        log::log(event, unsafe { Cargo::of_c(bytes) })
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Log_bare_event(event: c_int) -> c_int {
    both!(MPE_Log_bare_event(event), log::log(event, None))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Log_send(peer: c_int, tag: c_int, size: c_int) -> c_int {
    both!(MPE_Log_send(peer, tag, size), log::log_message(true, peer, tag, size))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Log_receive(peer: c_int, tag: c_int, size: c_int) -> c_int {
    both!(MPE_Log_receive(peer, tag, size), log::log_message(false, peer, tag, size))
}

#[unsafe(no_mangle)]
extern "C" fn MPE_Log_comm_send(comm: usize, peer: c_int, tag: c_int, size: c_int) -> c_int {
    both!(MPE_Log_comm_send(comm, peer, tag, size), log::log_message(true, peer, tag, size))
}

#[unsafe(no_mangle)]
extern "C" fn MPE_Log_comm_receive(comm: usize, peer: c_int, tag: c_int, size: c_int) -> c_int {
    both!(MPE_Log_comm_receive(comm, peer, tag, size), log::log_message(false, peer, tag, size))
}

/// The bytes are the same in every MPE library, so none need be asked.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn MPE_Log_pack(
    buffer: *mut u8,
    position: *mut c_int,
    token: c_char,
    count: c_int,
    data: *const c_void,
) -> c_int {
    // SAFETY: the program gives a whole buffer, and the data that it speaks of.
    if unsafe { pack(buffer, position, token.cast_unsigned(), count, data.cast()) } { OK } else { PACK_FAIL }
}
