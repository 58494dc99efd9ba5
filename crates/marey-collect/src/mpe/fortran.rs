//! MPE's functions for Fortran: everything by address, lengths of character arguments behind the others.
//!
//! They call those for C, which see to an MPE library behind us. Blank text stands for none.

use core::ffi::{c_char, c_int, c_void};
use std::ffi::CString;

use super::format::{Cargo, LEN};
use super::next::pass_on;
use super::{c, log, sequence};

/// Lengths are of 8 bytes or 4, by the compiler's age; no text is so long that it matters.
type Len = u32;

/// A character argument.
unsafe fn characters<'a>(at: *const u8, len: Len) -> &'a [u8] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: the caller of the exported function gives so many characters.
    unsafe { core::slice::from_raw_parts(at, len as usize) }
}

/// It without trailing blanks, for C; text with a zero byte inside ends there.
unsafe fn text(at: *const u8, len: Len) -> CString {
    // SAFETY: the caller's promise.
    let bytes = unsafe { characters(at, len) }.trim_ascii_end();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

/// Functions without arguments: `name => function for C`.
macro_rules! plain {
    ($($name:ident => $function:ident;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> c_int {
            c::$function()
        }
    )*};
}

plain! {
    mpe_init_log_ => MPE_Init_log;
    mpe_initialized_logging_ => MPE_Initialized_logging;
    mpe_start_log_ => MPE_Start_log;
    mpe_stop_log_ => MPE_Stop_log;
    mpe_log_sync_clocks_ => MPE_Log_sync_clocks;
    mpe_log_get_event_number_ => MPE_Log_get_event_number;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_finish_log_(name: *const u8, len: Len) -> c_int {
    // SAFETY: the program's promise; so everywhere here.
    unsafe { c::MPE_Finish_log(text(name, len).as_ptr()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_log_get_state_eventids_(start: *mut c_int, end: *mut c_int) -> c_int {
    // SAFETY: as above.
    unsafe { c::MPE_Log_get_state_eventIDs(start, end) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_log_get_solo_eventid_(event: *mut c_int) -> c_int {
    // SAFETY: as above.
    unsafe { c::MPE_Log_get_solo_eventID(event) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_describe_state_(
    start: *const c_int,
    end: *const c_int,
    name: *const u8,
    color: *const u8,
    name_len: Len,
    color_len: Len,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let [name, color] = [text(name, name_len), text(color, color_len)];
        c::MPE_Describe_state(*start, *end, name.as_ptr(), color.as_ptr())
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_describe_info_state_(
    start: *const c_int,
    end: *const c_int,
    name: *const u8,
    color: *const u8,
    format: *const u8,
    name_len: Len,
    color_len: Len,
    format_len: Len,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let [name, color, format] = [text(name, name_len), text(color, color_len), text(format, format_len)];
        c::MPE_Describe_info_state(*start, *end, name.as_ptr(), color.as_ptr(), format.as_ptr())
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_describe_comm_state_(
    comm: *const c_int,
    start: *const c_int,
    end: *const c_int,
    name: *const u8,
    color: *const u8,
    format: *const u8,
    name_len: Len,
    color_len: Len,
    format_len: Len,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let [name, color, format] = [text(name, name_len), text(color, color_len), text(format, format_len)];
        let (name, color, format) = (name.as_ptr(), color.as_ptr(), format.as_ptr());
        c::MPE_Describe_comm_state(communicator(*comm), *start, *end, name, color, format)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_describe_event_(
    event: *const c_int,
    name: *const u8,
    color: *const u8,
    name_len: Len,
    color_len: Len,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let [name, color] = [text(name, name_len), text(color, color_len)];
        c::MPE_Describe_event(*event, name.as_ptr(), color.as_ptr())
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_describe_info_event_(
    event: *const c_int,
    name: *const u8,
    color: *const u8,
    format: *const u8,
    name_len: Len,
    color_len: Len,
    format_len: Len,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let [name, color, format] = [text(name, name_len), text(color, color_len), text(format, format_len)];
        c::MPE_Describe_info_event(*event, name.as_ptr(), color.as_ptr(), format.as_ptr())
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_describe_comm_event_(
    comm: *const c_int,
    event: *const c_int,
    name: *const u8,
    color: *const u8,
    format: *const u8,
    name_len: Len,
    color_len: Len,
    format_len: Len,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let [name, color, format] = [text(name, name_len), text(color, color_len), text(format, format_len)];
        let (name, color, format) = (name.as_ptr(), color.as_ptr(), format.as_ptr());
        c::MPE_Describe_comm_event(communicator(*comm), *event, name, color, format)
    }
}

/// Bytes for an MPE library, which takes as many as it always does; null for none.
unsafe fn padded(bytes: *const u8, len: Len, room: &mut [u8; LEN + 1]) -> *const u8 {
    // SAFETY: as above.
    let given = unsafe { characters(bytes, len) };
    if Cargo::of_fortran(given).is_none() {
        return core::ptr::null();
    }
    let len = given.len().min(LEN);
    room[..len].copy_from_slice(&given[..len]);
    room.as_ptr()
}

/// Logs, unless the call comes from the MPE library that `$pass` passes it on to.
macro_rules! both {
    ($pass:expr, $event:expr, $bytes:expr, $len:expr) => {{
        let passed = $pass;
        if !passed.is_some_and(|(_, is_nested)| is_nested) {
            // SAFETY: as above.
            log::log($event, Cargo::of_fortran(unsafe { characters($bytes, $len) }));
        }
        passed.map_or(c::OK, |(answer, _)| answer)
    }};
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_log_event_(
    event: *const c_int,
    data: *const c_int,
    bytes: *const u8,
    len: Len,
) -> c_int {
    let room = &mut [0; LEN + 1];
    // SAFETY: as above.
    let (event, data, bytes_of_c) = unsafe { (*event, *data, padded(bytes, len, room)) };
    both!(pass_on!(MPE_Log_event(event, data, bytes_of_c)), event, bytes, len)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_log_info_event_(event: *const c_int, bytes: *const u8, len: Len) -> c_int {
    let room = &mut [0; LEN + 1];
    // SAFETY: as above.
    let (event, bytes_of_c) = unsafe { (*event, padded(bytes, len, room)) };
    both!(pass_on!(MPE_Log_info_event(event, bytes_of_c)), event, bytes, len)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_log_comm_event_(
    comm: *const c_int,
    event: *const c_int,
    bytes: *const u8,
    len: Len,
) -> c_int {
    let room = &mut [0; LEN + 1];
    // SAFETY: as above.
    let (comm, event, bytes_of_c) = unsafe { (communicator(*comm), *event, padded(bytes, len, room)) };
    both!(pass_on!(MPE_Log_comm_event(comm, event, bytes_of_c)), event, bytes, len)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_log_bare_event_(event: *const c_int) -> c_int {
    // SAFETY: as above.
    unsafe { c::MPE_Log_bare_event(*event) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_log_send_(peer: *const c_int, tag: *const c_int, size: *const c_int) -> c_int {
    // SAFETY: as above.
    unsafe { c::MPE_Log_send(*peer, *tag, *size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_log_receive_(peer: *const c_int, tag: *const c_int, size: *const c_int) -> c_int {
    // SAFETY: as above.
    unsafe { c::MPE_Log_receive(*peer, *tag, *size) }
}

/// The buffer is `character(len=32)`, the token one character, the data anything.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_log_pack_(
    buffer: *mut u8,
    position: *mut c_int,
    token: *const c_char,
    count: *const c_int,
    data: *const c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe { c::MPE_Log_pack(buffer, position, *token, *count, data) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_seq_begin_(comm: *const c_int, at_once: *const c_int) {
    // SAFETY: as above.
    unsafe { sequence::MPE_Seq_begin(communicator(*comm), *at_once) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mpe_seq_end_(comm: *const c_int, at_once: *const c_int) {
    // SAFETY: as above.
    unsafe { sequence::MPE_Seq_end(communicator(*comm), *at_once) }
}

/// The C handle of a communicator. A library without a function for it has the same in both languages.
fn communicator(handle: c_int) -> usize {
    // SAFETY: the name ends with a zero byte.
    let convert = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"MPI_Comm_f2c".as_ptr()) };
    if convert.is_null() {
        return handle as usize;
    }
    // SAFETY: the function has this type in every library.
    unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int) -> usize>(convert)(handle) }
}
