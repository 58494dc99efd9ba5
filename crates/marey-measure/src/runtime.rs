//! The process's recorder: its settings, its clock, its files and its definitions.
//!
//! There is one in a process, which lives until the process ends; everything that happens only now
//! and then hangs on it: the start, a thread's first and last event, a full window, a fork, the end.
//!
//! What is deliberately absent: the path of a single event, which reaches the recorder through its
//! thread's descriptor and, as a rule, not at all (see [`mod@crate::write`]).

mod anchor;
mod pair_cost;
mod process;
mod start;
mod threads;
mod windows;

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::path::PathBuf;

use marey_model::spool::{Definition, EndingKind, at};
use marey_model::{ClockKind, Detail, Rules};

use crate::channel::Channels;
use crate::clock;
use crate::definitions::{Definitions, FADING, MAX_SITES, REDUCED, fades_in, mode_in, reduced_in};
use crate::lock::Lock;
use crate::spool::SpoolFile;
use crate::sys;

pub(crate) use self::anchor::{after_fork, here};
pub use self::anchor::{current, lose_clock, revive};
pub(crate) use self::threads::second;
pub use self::threads::tell_begins;
pub(crate) use self::windows::{keep, next_window};

/// What is done with events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mode {
    /// Not known in this process: the slow path finds out. Zero, because a fork wipes the table.
    Unknown = 0,
    /// Nothing.
    Off = 1,
    /// Visits are counted.
    Count = 2,
    /// Visits are counted and timed; those in which something else is recorded are recorded.
    Time = 3,
    /// Every visit is recorded.
    Trace = 4,
}

impl Mode {
    /// What a byte of the table of modes stands for.
    #[inline(always)]
    pub(crate) const fn from_byte(byte: u8) -> Self {
        match byte & !FADING {
            1 => Self::Off,
            2 => Self::Count,
            3 => Self::Time,
            4 | REDUCED.. => Self::Trace,
            _ => Self::Unknown,
        }
    }
}

impl From<Detail> for Mode {
    fn from(detail: Detail) -> Self {
        match detail {
            Detail::Off => Self::Off,
            Detail::Count => Self::Count,
            Detail::Time => Self::Time,
            Detail::Trace => Self::Trace,
        }
    }
}

/// How to record.
#[derive(Clone, Debug)]
pub struct Config {
    /// An existing directory for the spool.
    pub spool: PathBuf,
    /// What is done with events from the start.
    pub mode: Mode,
    /// How much is recorded of which regions; of those that no rule is for, everything.
    pub rules: Rules,
    /// Events are not kept but added up from the start, as they are else at the limit.
    pub is_profile: bool,
    /// Most bytes of events that this process may write; 0 for any number. Beyond it they are added up.
    pub max_bytes: u64,
    /// How much of a thread's processor time recording may take before regions that are visited most are reduced,
    /// hundredths of a per cent; 0 for any.
    pub budget: u32,
    /// Most frames of a call stack.
    pub stack_depth: u32,
    /// Error to put into the clock, for tests (see [`clock::detect`]).
    pub skew: Option<clock::Skew>,
}

/// A recorder. There is one in a process; it lives until the process ends.
pub struct Runtime {
    key: u64,
    config: Config,
    clock: ClockKind,
    events: SpoolFile,
    definitions: Lock<Definitions>,
    modes: *mut u8,
    gaps: *mut u32,
    /// What it costs to record an enter and a leave, in hundredths of a tick.
    pair_cost: AtomicU64,
    next_thread: AtomicU32,
    serials: AtomicU64,
    thread_key: libc::pthread_key_t,
    channels: Lock<Channels>,
    /// The head of the definitions' first window, which stays mapped and is shared with forked children:
    /// what nobody else can count is counted there. Null before there is one.
    tally: AtomicPtr<u8>,
    /// Whether events are to be kept; else they are added up.
    keeps: AtomicBool,
    /// 1 if nothing more is to be said about the end.
    ended: AtomicU32,
    /// The process that it records.
    pid: u32,
}

// SAFETY: `modes` points to a table of bytes that is written under the definitions' lock and read
// as single bytes.
unsafe impl Send for Runtime {}
// SAFETY: as above.
unsafe impl Sync for Runtime {}

impl Runtime {
    /// The random number of the process.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What the settings come to, in the words of the command line.
    fn mode_name(&self) -> &'static str {
        match self.config.mode {
            Mode::Trace if self.config.is_profile => "profile",
            Mode::Trace => "trace",
            _ => "quiet",
        }
    }

    /// Which clock is counted.
    pub fn clock(&self) -> ClockKind {
        self.clock
    }

    /// A reading of it.
    pub fn ticks(&self) -> u64 {
        clock::ticks_of(self.clock)
    }

    /// What is done with visits of `site`.
    #[inline(always)]
    pub fn mode(&self, site: u32) -> Mode {
        // SAFETY: `modes` is the recorder's own table.
        unsafe { mode_in(self.modes, site) }
    }

    /// Where visits of `site` are counted because recording them is too dear; `None` if they are not.
    #[inline(always)]
    pub(crate) fn reduced(&self, site: u32) -> Option<usize> {
        // SAFETY: `modes` is the recorder's own table.
        unsafe { reduced_in(self.modes, site) }
    }

    /// Visits of a site that is reduced between two stretches that are timed, on average.
    pub(crate) fn gap(&self, site: u32) -> u32 {
        self.gap_of(site).map_or(1, |gap| gap.load(Ordering::Relaxed).max(1))
    }

    /// The same as it is kept.
    pub(crate) fn gap_of(&self, site: u32) -> Option<&AtomicU32> {
        let is_there = !self.gaps.is_null() && (site as usize) < MAX_SITES;
        // SAFETY: the table has so many numbers, and is never unmapped.
        is_there.then(|| unsafe { AtomicU32::from_ptr(self.gaps.add(site as usize)) })
    }

    /// What it costs to record an enter and a leave, in hundredths of a tick.
    pub(crate) fn pair_cost(&self) -> u64 {
        self.pair_cost.load(Ordering::Relaxed)
    }

    /// Whether visits of `site` that are open are not to be left out yet.
    pub(crate) fn fades(&self, site: u32) -> bool {
        // SAFETY: `modes` is the recorder's own table.
        (site as usize) < MAX_SITES && unsafe { fades_in(self.modes, site) }
    }

    /// Works with the definitions; `None` in a signal handler that interrupted such work.
    pub fn define<R>(&self, f: impl FnOnce(&mut Definitions) -> R) -> Option<R> {
        self.definitions.with(f)
    }

    /// Numbers of the messages that have gone through each channel.
    pub(crate) fn channels(&self) -> &Lock<Channels> {
        &self.channels
    }

    /// The number of the next nonblocking operation.
    pub fn next_serial(&self) -> u64 {
        self.serials.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether the calling process is the one that is recorded, and no child of `vfork`, which borrows its memory.
    pub fn is_of_caller(&self) -> bool {
        sys::process_id() == self.pid
    }

    /// Says how the process ends. The last word counts: a handler may take a program out of `abort`,
    /// and one that runs at `exit` may end it in another way. Only `MPI_Abort` has the last word at once,
    /// because it ends the process by one of the other ways. Recording goes on until the end. A child of
    /// `vfork`, which borrows its parent's memory, ends itself and not the parent.
    pub fn end(&self, kind: EndingKind, code: i64) {
        let is_final = u32::from(kind == EndingKind::MpiAbort);
        if !self.is_of_caller() || self.ended.fetch_or(is_final, Ordering::Relaxed) != 0 {
            return;
        }
        let thread = crate::attach::existing_thread();
        if !thread.is_null() {
            // Regions that are never left have no sums.
            // SAFETY: the descriptor is the calling thread's.
            unsafe { crate::write::write_pending(thread) };
        }
        let end = clock::triple(self.clock);
        let used = process::used();
        self.define(|definitions| {
            if let Some(used) = used {
                definitions.define(&used);
            }
            definitions.define(&Definition::Ending { kind: kind as u8, code, end })
        });
    }

    /// The counter at `offset` of the head of the definitions' first window. It counts even while the
    /// definitions are in use, and in forked children without files of their own.
    fn tally(&self, offset: usize) -> Option<&AtomicU64> {
        let head = self.tally.load(Ordering::Acquire);
        // SAFETY: the window stays mapped, and heads are longer than every offset in `at`.
        (!head.is_null()).then(|| unsafe { &*head.add(offset).cast::<AtomicU64>() })
    }
}

/// Counts events that belong to no stream: there is no window, no region or no recorder for them.
#[cold]
pub fn count_homeless(events: u64) {
    if let Some(tally) = current().or_else(anchor::parent).and_then(|runtime| runtime.tally(at::DROPPED)) {
        tally.fetch_add(events, Ordering::Relaxed);
    }
}

/// Numbers of the levels that recorders speak of.
pub mod level {
    use marey_model::{Level, Tier};

    /// Their names.
    pub(crate) const NAMES: [&str; 10] = Level::RECORDED;
    /// [`marey_model::Level::SOURCE`].
    pub const SOURCE: u32 = 0;
    /// [`marey_model::Level::MPI`].
    pub const MPI: u32 = 1;
    /// [`marey_model::Level::THREADS`].
    pub const THREADS: u32 = 2;
    /// [`marey_model::Level::FILES`].
    pub const FILES: u32 = 3;
    /// [`marey_model::Level::SYSTEM`].
    pub const SYSTEM: u32 = 4;
    /// [`marey_model::Level::MEMORY`].
    pub const MEMORY: u32 = 5;
    /// [`marey_model::Level::COARRAY`].
    pub const COARRAY: u32 = 6;
    /// [`marey_model::Level::OPENMP`].
    pub const OPENMP: u32 = 7;
    /// [`marey_model::Level::KOKKOS`].
    pub const KOKKOS: u32 = 8;
    /// [`marey_model::Level::TASKS`].
    pub const TASKS: u32 = 9;

    /// Levels from this one on are announced by the first region of theirs, so that a run speaks of no model that
    /// its program does not use.
    pub(crate) const FIRST_OF_MODELS: u32 = COARRAY;

    /// Where each stands, and on what it is built, by its number.
    pub(crate) const ROWS: [(Tier, &[&str]); 10] = [
        (Tier::Source, &[Level::MPI, Level::THREADS, Level::FILES, Level::SYSTEM, Level::MEMORY]),
        (Tier::Runtime, &[Level::FILES, Level::MEMORY]),
        (Tier::Runtime, &[]),
        (Tier::Runtime, &[Level::MEMORY]),
        (Tier::Runtime, &[Level::MEMORY]),
        (Tier::Runtime, &[]),
        (Tier::Model, &[Level::MPI, Level::MEMORY]),
        (Tier::Model, &[Level::THREADS, Level::MEMORY]),
        (Tier::Model, &[Level::OPENMP, Level::THREADS, Level::MEMORY]),
        (Tier::Model, &[Level::THREADS, Level::MEMORY]),
    ];
}
