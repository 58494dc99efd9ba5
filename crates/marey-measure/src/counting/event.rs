//! One counter of a thread: how it is opened, read and closed.
//!
//! The one idea: what a program closes is gone, and its number may be given to a file. So a counter of the processor
//! keeps no descriptor where its page can be read; and where one is needed, it is asked before each use whether it is
//! still the one that was opened.
//!
//! Deliberately absent: which counters there are (`marey_model::counters`).

use core::sync::atomic::{AtomicU32, Ordering};

use marey_model::counters::{Counter, CounterSource, Usage};

use super::Reading;
use super::page::{self, Page};
use crate::clock;
use crate::sys;

/// How an event is read.
#[derive(Clone, Copy)]
enum Way {
    /// It cannot be any more.
    Gone,
    Page(*const Page),
    Descriptor {
        fd: usize,
        id: u64,
    },
    Usage(Usage),
    ThreadTime,
}

/// How many could not be read any more, because the program had closed their descriptors.
pub(super) static CLOSED: AtomicU32 = AtomicU32::new(0);

/// A counter of the calling thread.
#[derive(Clone, Copy)]
pub(super) struct Event(Way);

/// `struct perf_event_attr`, as long as in its first version.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    more: u64,
}

/// `PERF_TYPE_SOFTWARE`.
const SOFTWARE: u32 = 1;
/// Both times come with the value.
const TIMES: u64 = 1 | 2;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: usize = 8;
/// `PERF_EVENT_IOC_ID`.
const GET_ID: usize = 0x8008_2407;
/// `RUSAGE_THREAD`.
const THIS_THREAD: usize = 1;

impl Event {
    pub(super) const GONE: Self = Self(Way::Gone);

    /// Begins to count for the calling thread. Otherwise the kernel's error number.
    pub(super) fn open(counter: &Counter) -> Result<Self, i32> {
        match counter.source {
            // What the program itself does is what it can change.
            CounterSource::Processor(kind, config) => {
                open_perf(kind, config, EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR)
            }
            // The kernel does these, and may not say so to everybody.
            CounterSource::Event(config) => {
                open_perf(SOFTWARE, config, 0).or_else(|_| open_perf(SOFTWARE, config, EXCLUDE_KERNEL))
            }
            CounterSource::Usage(usage) => {
                usage_of_thread().map(|_| Self(Way::Usage(usage))).ok_or(libc::EPERM)
            }
            CounterSource::ThreadTime => thread_time().map(|_| Self(Way::ThreadTime)).ok_or(libc::EPERM),
        }
    }

    /// What has been counted. `None` if that cannot be read any more. `usage` keeps what one call says for the next
    /// counters.
    pub(super) fn read(&mut self, usage: &mut Option<[u64; USAGE_WORDS]>) -> Option<Reading> {
        let value = match self.0 {
            Way::Gone => return None,
            Way::Page(at) => {
                // SAFETY: the page is mapped until the event is closed, and readable.
                return Some(unsafe { page::read(at, |register| page::rdpmc(register), clock::tsc) });
            }
            Way::Descriptor { fd, id } => {
                let reading = read_descriptor(fd, id);
                if reading.is_none() {
                    self.0 = Way::Gone;
                    CLOSED.fetch_add(1, Ordering::Relaxed);
                }
                return reading;
            }
            Way::Usage(which) => {
                if usage.is_none() {
                    *usage = usage_of_thread();
                }
                part(usage.as_ref()?, which)
            }
            Way::ThreadTime => thread_time()?,
        };
        Some(Reading { value, enabled: 0, running: 0 })
    }

    /// Counts no more.
    pub(super) fn close(&mut self) {
        match core::mem::replace(&mut self.0, Way::Gone) {
            // SAFETY: it was mapped by `open_perf`, and is not used after this.
            Way::Page(at) => unsafe { sys::unmap(at.cast_mut().cast(), sys::PAGE) },
            Way::Descriptor { fd, id } if id_of(fd) == Some(id) => close(fd),
            _ => {}
        }
    }
}

fn open_perf(kind: u32, config: u64, flags: u64) -> Result<Event, i32> {
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        period: 0,
        sample_type: 0,
        read_format: TIMES,
        flags,
        wakeup: 0,
        breakpoint: 0,
        more: 0,
    };
    let at = (&raw const attributes) as usize;
    // The calling thread, on whichever processor, in no group.
    // SAFETY: the attributes are readable, and as long as they say.
    let fd =
        unsafe { sys::syscall(libc::SYS_perf_event_open, [at, 0, usize::MAX, usize::MAX, CLOSE_ON_EXEC, 0]) };
    let Ok(fd) = usize::try_from(fd) else { return Err(-fd as i32) };
    // SAFETY: a new mapping of a page of an event.
    let mapped = unsafe {
        sys::syscall(
            libc::SYS_mmap,
            [0, sys::PAGE, libc::PROT_READ as usize, libc::MAP_SHARED as usize, fd, 0],
        )
    };
    if mapped > 0 {
        let page = mapped as usize as *const Page;
        // SAFETY: it has just been mapped.
        if unsafe { page.read_volatile() }.is_readable() {
            // The mapping keeps the event.
            close(fd);
            return Ok(Event(Way::Page(page)));
        }
        // SAFETY: as above.
        unsafe { sys::unmap(page.cast_mut().cast(), sys::PAGE) };
    }
    let Some(fd) = out_of_the_way(fd) else {
        close(fd);
        return Err(libc::EMFILE);
    };
    match id_of(fd) {
        Some(id) => Ok(Event(Way::Descriptor { fd, id })),
        None => {
            close(fd);
            Err(libc::ENOSYS)
        }
    }
}

/// The same event under a number that programs seldom get to: the small ones they expect in their order. `None` where
/// the program may have so few that it would miss it.
fn out_of_the_way(fd: usize) -> Option<usize> {
    /// Numbers are not higher than this: the kernel has a table of all below.
    const MOST: u64 = 4096;
    const ROOM: u64 = 512;
    let mut limit = [0_u64; 2];
    let at = (&raw mut limit) as usize;
    // SAFETY: the limit is writable.
    let done =
        unsafe { sys::syscall(libc::SYS_prlimit64, [0, libc::RLIMIT_NOFILE as usize, 0, at, 0, 0]) } == 0;
    let from = limit[0].min(MOST).saturating_sub(ROOM) as usize;
    if !done || from < ROOM as usize || from <= fd {
        return None;
    }
    // SAFETY: it copies a descriptor of ours.
    let copy = unsafe { sys::syscall(libc::SYS_fcntl, [fd, libc::F_DUPFD_CLOEXEC as usize, from, 0, 0, 0]) };
    let copy = usize::try_from(copy).ok()?;
    close(fd);
    Some(copy)
}

fn close(fd: usize) {
    // SAFETY: the descriptor is ours.
    unsafe { sys::syscall(libc::SYS_close, [fd, 0, 0, 0, 0, 0]) };
}

/// Which event a descriptor is of: each has a number of its own. `None` if it is of something else.
fn id_of(fd: usize) -> Option<u64> {
    let mut id = 0_u64;
    let at = (&raw mut id) as usize;
    // SAFETY: the number is writable; nothing but events understands the request.
    let done = unsafe { sys::syscall(libc::SYS_ioctl, [fd, GET_ID, at, 0, 0, 0]) } == 0;
    done.then_some(id)
}

fn read_descriptor(fd: usize, id: u64) -> Option<Reading> {
    if id_of(fd) != Some(id) {
        return None;
    }
    let mut words = [0_u64; 3];
    let (at, len) = ((&raw mut words) as usize, size_of_val(&words));
    // SAFETY: the words are writable.
    let got = unsafe { sys::syscall(libc::SYS_read, [fd, at, len, 0, 0, 0]) };
    let [value, enabled, running] = words;
    (got == len as isize).then_some(Reading { value, enabled, running })
}

/// Words of `struct rusage`.
pub(super) const USAGE_WORDS: usize = 18;

fn usage_of_thread() -> Option<[u64; USAGE_WORDS]> {
    let mut words = [0_u64; USAGE_WORDS];
    let at = (&raw mut words) as usize;
    // SAFETY: the words are as many as the kernel writes.
    let done = unsafe { sys::syscall(libc::SYS_getrusage, [THIS_THREAD, at, 0, 0, 0, 0]) } == 0;
    done.then_some(words)
}

fn part(words: &[u64; USAGE_WORDS], usage: Usage) -> u64 {
    /// Places of `ru_minflt`, `ru_majflt`, `ru_nvcsw` and `ru_nivcsw`.
    const FIELDS: [usize; 4] = [8, 9, 16, 17];
    let [minor, major, waits, preemptions] = FIELDS.map(|field| words[field]);
    match usage {
        Usage::MinorFaults => minor,
        Usage::MajorFaults => major,
        Usage::Faults => minor + major,
        Usage::Waits => waits,
        Usage::Preemptions => preemptions,
        Usage::Switches => waits + preemptions,
    }
}

/// Processor time of the calling thread, ns.
fn thread_time() -> Option<u64> {
    let mut time = [0_u64; 2];
    let at = (&raw mut time) as usize;
    let clock = libc::CLOCK_THREAD_CPUTIME_ID as usize;
    // SAFETY: the time is writable.
    let done = unsafe { sys::syscall(libc::SYS_clock_gettime, [clock, at, 0, 0, 0, 0]) } == 0;
    done.then(|| time[0] * 1_000_000_000 + time[1])
}
