//! Starting to record: the clock, the spool's two files, the table of modes.
//!
//! The one idea: all that recording needs is there before anybody can find the recorder; what cannot be
//! had leaves the process unrecorded, and able to try again.
//!
//! How a forked child gets a recorder is told in [`super::anchor`].

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use super::process::read_line;
use super::threads::{forget_with, thread_ends};
use super::{Config, Runtime, anchor, current};
use crate::channel::Channels;
use crate::clock;
use crate::definitions::{Definitions, MAX_SITES};
use crate::lock::Lock;
use crate::spool::SpoolFile;
use crate::sys;

impl Runtime {
    /// Starts recording. `None` if the process records already or the spool cannot be written.
    /// `forget` is called on a thread when its descriptor is no more.
    pub fn start(config: Config, forget: extern "C" fn()) -> Option<&'static Self> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        if current().is_some() || TAKEN.swap(true, Ordering::AcqRel) {
            return None;
        }
        let started = Self::begin(config, forget);
        if started.is_none() {
            TAKEN.store(false, Ordering::Release);
        }
        started
    }

    /// Leaves the two files of a process empty: it could not be recorded, and whoever merges tells.
    pub fn leave_empty(config: &Config) {
        new_files(config);
    }

    fn begin(config: Config, forget: extern "C" fn()) -> Option<&'static Self> {
        forget_with(forget);
        let clock = clock::detect(config.skew);
        let mut thread_key = 0;
        // SAFETY: `thread_key` is writable and the destructor is a function of the right type.
        if unsafe { libc::pthread_key_create(&mut thread_key, Some(thread_ends)) } != 0 {
            return None;
        }
        let start = clock::triple(clock);
        let (Some(modes), Some(page)) = (new_modes(), anchor::new_page()) else {
            Self::leave_empty(&config);
            return None;
        };
        let (key, events, file) = new_files(&config)?;
        let (is_profile, budget) = (config.is_profile, config.budget);
        let definitions = Definitions::new(file, key, start.ticks, modes, &config);
        let runtime = Box::leak(Box::new(Self {
            key,
            config,
            clock,
            events,
            definitions: Lock::new(definitions),
            modes,
            gaps: new_gaps(budget),
            pair_cost: AtomicU64::new(0),
            next_thread: AtomicU32::new(0),
            serials: AtomicU64::new(0),
            thread_key,
            channels: Lock::new(Channels::new()),
            tally: AtomicPtr::new(core::ptr::null_mut()),
            keeps: AtomicBool::new(!is_profile),
            ended: AtomicU32::new(0),
            pid: sys::process_id(),
        }));
        if !runtime.define_process(start, None) {
            return None;
        }
        runtime.define_levels();
        anchor::publish(runtime, page)
    }
}

/// A mode byte for each site, on pages of their own: a fork wipes them to [`super::Mode::Unknown`].
pub(super) fn new_modes() -> Option<*mut u8> {
    let modes = sys::map_zeros(MAX_SITES)?;
    sys::wipe_on_fork(modes, MAX_SITES).then_some(modes)
}

/// A number for each site, see [`Runtime::gap`]; null where there is no budget. Pages that nobody writes to take no
/// memory.
pub(super) fn new_gaps(budget: u32) -> *mut u32 {
    let gaps = if budget == 0 { None } else { sys::map_zeros(4 * MAX_SITES) };
    gaps.map_or(core::ptr::null_mut(), <*mut u8>::cast)
}

/// The two files of a process, under a new key.
pub(super) fn new_files(config: &Config) -> Option<(u64, SpoolFile, SpoolFile)> {
    let mut random = [0; 8];
    if !sys::random(&mut random) {
        random = (clock::realtime_ns() ^ u64::from(sys::process_id()) << 40).to_le_bytes();
    }
    let key = u64::from_le_bytes(random);
    let host = read_line(c"/proc/sys/kernel/hostname");
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).collect();
    let path = |extension: &str| {
        let name = format!("{host}-{}-{key:016x}.{extension}", sys::process_id());
        CString::new(config.spool.join(name).as_os_str().as_bytes()).ok()
    };
    let definitions = SpoolFile::create(path("definitions")?, 0)?;
    let events = path("events").and_then(|path| SpoolFile::create(path, config.max_bytes));
    if events.is_none() {
        definitions.remove();
    }
    Some((key, events?, definitions))
}
