//! What the numbers of events stand for.
//!
//! The one idea: a number leads to its state or event by one load and without a lock, since what has
//! once been made for it stays for ever; a description that comes later only exchanges the meaning.

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering};

use marey_measure::Lock;
use rustc_hash::FxHashMap;

use super::board::Board;
use super::format::{Field, MAX_FIELDS};

/// A number of the recorder that has not been given.
pub(super) const NONE: u32 = u32::MAX;
/// Below it numbers are found in an array. MPE gives out numbers from 600 up; programs that choose
/// theirs begin at 0 or 1.
const DIRECT: usize = 1 << 13;
/// A program that asks for new numbers in every step is told apart up to here; beyond, its events are
/// recorded by their numbers.
const MAX_WHATS: usize = 1 << 16;

/// A state or an event that stands alone.
pub(super) struct What {
    pub(super) start: i32,
    /// The number that ends the state; that of `start` for an event that stands alone.
    pub(super) end: i32,
    /// Site of the state's region; [`NONE`] before it is first logged.
    pub(super) site: AtomicU32,
    pub(super) region: AtomicU32,
    /// Site and region of what is left of a state that was cut (see `overlap`).
    pub(super) rest: AtomicU32,
    pub(super) rest_region: AtomicU32,
    /// It has been seen not to nest.
    pub(super) overlaps: AtomicBool,
    meaning: AtomicPtr<Meaning>,
}

/// What was said of it, or made up from its numbers until somebody says.
pub(super) struct Meaning {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
    pub(super) is_made_up: bool,
    /// Kinds of events, and of attributes, by what they carry: so many of the fields, or text. Plus one;
    /// 0 before there is one.
    pub(super) kinds: [[AtomicU32; Meaning::CARGOES]; 2],
}

impl Meaning {
    /// What can come with an event: 0 to all fields, or [`Self::TEXT`].
    const CARGOES: usize = MAX_FIELDS + 2;
    pub(super) const TEXT: usize = MAX_FIELDS + 1;

    pub(super) fn new(name: String, fields: Vec<Field>, is_made_up: bool) -> Self {
        let kinds = [const { [const { AtomicU32::new(0) }; Self::CARGOES] }; 2];
        Self { name, fields, is_made_up, kinds }
    }
}

impl What {
    fn new(start: i32, end: i32) -> Self {
        Self {
            start,
            end,
            site: AtomicU32::new(NONE),
            region: AtomicU32::new(NONE),
            rest: AtomicU32::new(NONE),
            rest_region: AtomicU32::new(NONE),
            overlaps: AtomicBool::new(false),
            meaning: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    pub(super) fn is_state(&self) -> bool {
        self.start != self.end
    }

    pub(super) fn meaning(&self) -> Option<&'static Meaning> {
        // SAFETY: a meaning that was stored lives as long as the process.
        unsafe { self.meaning.load(Ordering::Acquire).as_ref() }
    }

    /// Exchanges the meaning. The former one stays, because other threads may be reading it.
    pub(super) fn mean(&self, meaning: Meaning) {
        self.meaning.store(Box::into_raw(Box::new(meaning)), Ordering::Release);
    }
}

static BY_NUMBER: [AtomicPtr<What>; DIRECT] = [const { AtomicPtr::new(core::ptr::null_mut()) }; DIRECT];

/// What an event's number stands for, if that is known and the number is one of those that are found
/// at once.
#[inline(always)]
pub(super) fn find(event: i32) -> Option<&'static What> {
    let entry = BY_NUMBER.get(event as usize)?;
    // SAFETY: what was stored lives as long as the process.
    unsafe { entry.load(Ordering::Acquire).as_ref() }
}

/// All of them, and where others tell theirs.
#[derive(Default)]
pub(super) struct Registry {
    pub(super) whats: Vec<&'static What>,
    others: FxHashMap<i32, &'static What>,
    pub(super) board: Option<Board>,
}

static REGISTRY: Lock<Option<Registry>> = Lock::new(None);
/// Whether anything of MPE was ever called.
static IS_USED: AtomicBool = AtomicBool::new(false);

/// Works with the registry; `None` in a signal handler that interrupted such work.
pub(super) fn with<R>(f: impl FnOnce(&mut Registry) -> R) -> Option<R> {
    IS_USED.store(true, Ordering::Relaxed);
    REGISTRY.with(|registry| f(registry.get_or_insert_default()))
}

pub(super) fn is_used() -> bool {
    IS_USED.load(Ordering::Relaxed)
}

impl Registry {
    /// What a number stands for, if that is known.
    pub(super) fn find(&self, event: i32) -> Option<&'static What> {
        find(event).or_else(|| self.others.get(&event).copied())
    }

    /// The state or event of these numbers, made if need be. The numbers stand for it from now on.
    pub(super) fn make(&mut self, start: i32, end: i32) -> Option<&'static What> {
        if let Some(known) = self.find(start).filter(|known| (known.start, known.end) == (start, end)) {
            return Some(known);
        }
        if self.whats.len() >= MAX_WHATS {
            return None;
        }
        let what: &'static What = Box::leak(Box::new(What::new(start, end)));
        self.whats.push(what);
        for number in [start, end] {
            match BY_NUMBER.get(number as usize) {
                Some(entry) => entry.store(core::ptr::from_ref(what).cast_mut(), Ordering::Release),
                None => drop(self.others.insert(number, what)),
            }
        }
        Some(what)
    }

    /// The state whose region is entered from `site`.
    pub(super) fn of_site(&self, site: u32) -> Option<&'static What> {
        self.whats.iter().copied().find(|what| what.site.load(Ordering::Relaxed) == site)
    }
}

/// The numbers that we give out where no MPE library does; like that library's they tell ends of states
/// and single events apart. The header does the same for a program that runs alone.
static NEXT_OF_STATES: AtomicI32 = AtomicI32::new(600);
static NEXT_ALONE: AtomicI32 = AtomicI32::new(6000);

pub(super) fn number_of_state() -> i32 {
    NEXT_OF_STATES.fetch_add(1, Ordering::Relaxed)
}

pub(super) fn number_alone() -> i32 {
    NEXT_ALONE.fetch_add(1, Ordering::Relaxed)
}
