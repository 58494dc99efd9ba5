//! Events of the kernel's `perf_event_open(2)`: how they are opened for the calling thread, and kept without a descriptor.
//!
//! The one idea: a mapping of an event keeps it when its descriptor is closed, which the program could do, and be given its
//! number for a file. The page is not inherited by a forked child, nor by what the process becomes by exec.
//!
//! Deliberately absent: what is done with them ([`crate::Counting`], and sampling).

use crate::sys;

/// `struct perf_event_attr`, as long as in its first version.
#[repr(C)]
pub struct Attributes {
    /// `PERF_TYPE_…`
    pub kind: u32,
    size: u32,
    /// Which one of that type.
    pub config: u64,
    /// It overflows whenever it has counted so much; 0 = never.
    pub period: u64,
    sample_type: u64,
    /// `PERF_FORMAT_…`
    pub read_format: u64,
    /// The bits of the kernel's structure.
    pub flags: u64,
    /// Overflows after which somebody is woken.
    pub wakeup: u32,
    breakpoint: u32,
    more: u64,
}

impl Attributes {
    /// Of an event that only counts.
    pub const fn of(kind: u32, config: u64) -> Self {
        let (size, period, sample_type, read_format, flags, wakeup, breakpoint, more) =
            (SIZE, 0, 0, 0, 0, 0, 0, 0);
        Self { kind, size, config, period, sample_type, read_format, flags, wakeup, breakpoint, more }
    }
}

/// Bytes of the structure.
const SIZE: u32 = 64;

const _: () = assert!(size_of::<Attributes>() == SIZE as usize);

/// `PERF_TYPE_SOFTWARE`.
pub const SOFTWARE: u32 = 1;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: usize = 8;

/// Opens an event of the calling thread, on whichever processor, in no group: its descriptor. Otherwise the kernel's error
/// number.
pub fn open(attributes: &Attributes) -> Result<usize, i32> {
    let at = core::ptr::from_ref(attributes) as usize;
    // SAFETY: the attributes are readable, and as long as they say.
    let fd =
        unsafe { sys::syscall(libc::SYS_perf_event_open, [at, 0, usize::MAX, usize::MAX, CLOSE_ON_EXEC, 0]) };
    usize::try_from(fd).map_err(|_| i32::try_from(-fd).unwrap_or(i32::MAX))
}

/// Maps the page of an event: its address.
pub fn map(fd: usize) -> Option<usize> {
    let readable = libc::PROT_READ as usize;
    // SAFETY: a new mapping of a page of an event.
    let at =
        unsafe { sys::syscall(libc::SYS_mmap, [0, sys::PAGE, readable, libc::MAP_SHARED as usize, fd, 0]) };
    usize::try_from(at).ok().filter(|at| *at != 0)
}

/// Closes a descriptor of ours.
pub fn close(fd: usize) {
    // SAFETY: the descriptor is ours.
    unsafe { sys::syscall(libc::SYS_close, [fd, 0, 0, 0, 0, 0]) };
}
