//! What a recorder says before anything else: which process it records, and the levels that every run
//! has.
//!
//! The one idea: all of it is read from the kernel, once, for whoever merges has nobody left to ask.
//! The process's environment is deliberately not among it: a run is made to be passed on.

#![expect(clippy::cast_possible_truncation, reason = "process ids fit 32 bits")]

use core::ffi::CStr;
use core::sync::atomic::Ordering;

use marey_model::spool::Definition;
use marey_model::{ClockKind, Triple};

use super::Runtime;
use super::pair_cost::pair_cost;
use crate::sys;

impl Runtime {
    /// Says who the process is. `parent` is, in a forked child, the parent's key and how many bytes of its
    /// definitions hold for the child too.
    ///
    /// False if there is no place for it; then nothing can be recorded.
    pub(super) fn define_process(&self, start: Triple, parent: Option<(u64, u64)>) -> bool {
        let settings = Definition::Settings {
            mode: self.mode_name().to_owned(),
            stack_depth: self.config.stack_depth,
            max_bytes: self.config.max_bytes,
        };
        let cost = pair_cost(self.clock);
        self.pair_cost.store(cost.pair, Ordering::Relaxed);
        let process = process_definition((self.key, cost.pair), self.clock, start, parent);
        let budget = Definition::Budget { share: self.config.budget, count_cost: cost.count };
        self.define(|definitions| {
            let is_defined = definitions.define(&process) && definitions.define(&settings);
            if !self.config.rules.is_empty() {
                definitions.define(&Definition::Rules { text: self.config.rules.to_string() });
            }
            if self.config.budget != 0 {
                definitions.define(&budget);
            }
            self.tally.store(definitions.first_window(), Ordering::Release);
            is_defined
        })
        .unwrap_or(false)
    }

    /// Gives the levels of [`super::level`] their numbers.
    pub(super) fn define_levels(&self) {
        self.define(|definitions| (0..super::level::FIRST_OF_MODELS).for_each(|id| definitions.level(id)));
    }
}

/// Who this process is, under `key`, and what a pair costs there. `parent` is as in [`Runtime::define_process`].
pub(super) fn process_definition(
    (key, pair_cost): (u64, u64),
    clock: ClockKind,
    start: Triple,
    parent: Option<(u64, u64)>,
) -> Definition {
    let text = |path: Vec<u8>| String::from_utf8_lossy(&path).into_owned();
    Definition::Process {
        key,
        pid: sys::process_id(),
        // SAFETY: takes no arguments.
        parent_pid: unsafe { sys::syscall(libc::SYS_getppid, [0; 6]) } as u32,
        host: read_line(c"/proc/sys/kernel/hostname"),
        boot: read_line(c"/proc/sys/kernel/random/boot_id"),
        clock: clock.code(),
        start,
        command: command_line(),
        executable: text(sys::read_link(c"/proc/self/exe")),
        directory: text(sys::directory()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        environment: Vec::new(),
        forked_from: parent.map(|(key, _)| key),
        inherited: parent.map_or(0, |(_, bytes)| bytes),
        pair_cost,
    }
}

/// The text of a file of one line; empty if it cannot be read.
pub(super) fn read_line(path: &CStr) -> String {
    String::from_utf8_lossy(sys::read(path, sys::PAGE).trim_ascii()).into_owned()
}

/// Bytes of the command line that are looked at.
const MAX_COMMAND: usize = 1 << 20;

fn command_line() -> Vec<String> {
    let bytes = sys::read(c"/proc/self/cmdline", MAX_COMMAND);
    let words = bytes.strip_suffix(b"\0").unwrap_or(&bytes).split(|&byte| byte == 0);
    // A run's metadata are not the place for a megabyte of generated arguments.
    words.take(256).map(|word| String::from_utf8_lossy(&word[..word.len().min(4096)]).into_owned()).collect()
}

/// What the process has used, if the kernel tells.
pub(super) fn used() -> Option<Definition> {
    // SAFETY: all of it are numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    let at = (&raw mut usage) as usize;
    // SAFETY: the numbers are writable.
    if unsafe { sys::syscall(libc::SYS_getrusage, [libc::RUSAGE_SELF as usize, at, 0, 0, 0, 0]) } != 0 {
        return None;
    }
    let ns = |time: libc::timeval| {
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1000
    };
    Some(Definition::Resources {
        peak_memory: usage.ru_maxrss.cast_unsigned() * 1024,
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        major_faults: usage.ru_majflt.cast_unsigned(),
        waits: usage.ru_nvcsw.cast_unsigned(),
        preemptions: usage.ru_nivcsw.cast_unsigned(),
    })
}
