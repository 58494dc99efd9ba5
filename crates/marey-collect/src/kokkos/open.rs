//! What has begun on a thread and not ended yet.
//!
//! The one idea: Kokkos ends a kernel by the number that was given to it when it began, and a region or a copy by no number
//! at all; so each thread keeps what it has begun in order, and an end takes out what it is the end of, with all that is
//! still open inside. An end of something that has never begun, or has been taken out already, changes nothing.
//!
//! An end may come from another thread than the beginning: it is left for that thread to find, which closes the region at
//! the time of the end when it calls next, or ends. What that thread can find no more is counted.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::collections::VecDeque;

use marey_measure::{Kept, Lock, Mode, Runtime, Scratch, Thread};
use marey_model::spool::Access;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Verb;
use super::names::Met;
use crate::entry::Entry;
use crate::own::Own;
use crate::site;
use crate::variable::thread_variable;
use crate::{openmp, process};

/// What is kept for a thread; what is begun deeper is not recorded.
const DEEPEST: usize = 64;
/// Ends for other threads that are kept.
const MOST_ENDS: usize = 256;

/// What a call does to Views: the one that is written or meant, and the one that is read.
pub(super) type Accesses = [Option<Access>; 2];

/// How an end finds its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ends {
    /// By the number that was given out.
    ByNumber,
    /// The innermost region of the program's that is open.
    Region,
    /// The innermost copy that is open.
    Copy,
}

/// Something that has begun.
#[derive(Clone, Copy, Debug)]
struct Begun {
    number: u64,
    ends: Ends,
    /// `None` if it is not recorded.
    entered: Option<Entered>,
    accesses: Accesses,
}

/// A region of the recorder's that is open.
#[derive(Clone, Copy, Debug)]
struct Entered {
    site: u32,
    kept: Option<Kept>,
}

/// All that is known of a thread.
#[derive(Default)]
pub(super) struct Here {
    /// By what numbers are known that it has given out. No thread's number, since those of a forked child begin anew.
    id: u32,
    begun: Vec<Begun>,
    /// Regions and copies that have begun too deep.
    n_deeper: [u32; 2],
    n_numbers: u64,
    pub(super) met: Met,
    /// Nouns of Views by the numbers of their names.
    views: FxHashMap<u32, u32>,
}

impl Here {
    /// The noun of Views that have the name of this number, which `ask` finds.
    pub(super) fn noun_of_view(&mut self, number: u32, ask: impl FnOnce() -> u32) -> u32 {
        *self.views.entry(number).or_insert_with(ask)
    }

    /// Ends what has begun at this place, with all that is inside, at these ticks or now.
    ///
    /// # Safety
    /// `thread` is the calling thread's descriptor, and this is what is known of it.
    unsafe fn end_at(&mut self, thread: *mut Thread, at: usize, ticks: u64) {
        let begun = self.begun.get(at).copied();
        let inside = self.begun.iter().skip(at + 1).find_map(|begun| begun.entered);
        // No memory is given back: that would take calls of the kernel each time.
        self.begun.truncate(at);
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(outermost) = inside {
                marey_measure::leave_site(thread, outermost.site);
            }
            let Some(Begun { entered: Some(entered), accesses, .. }) = begun else { return };
            if marey_measure::innermost(thread) != Some(entered.site) {
                marey_measure::leave_site(thread, entered.site);
            } else if ticks != u64::MAX {
                marey_measure::leave_because_at(thread, ticks, None);
            } else {
                leave(thread, entered, &accesses);
            }
        }
    }

    /// Ends what other threads have said is over.
    ///
    /// # Safety
    /// As for [`Self::end_at`].
    unsafe fn end_earlier(&mut self, thread: *mut Thread, ends: Vec<End>) {
        for (number, ticks) in ends {
            if let Some(at) = self.begun.iter().rposition(|begun| begun.number == number) {
                // SAFETY: the caller's promise.
                unsafe { self.end_at(thread, at, ticks) };
            }
        }
    }
}

/// Where that lies; null before the thread's first call.
#[repr(C)]
struct Slot {
    here: *mut Here,
}

thread_variable! {
    /// The calling thread's own.
    fn slot -> Slot; "marey_kokkos", 8 bytes, aligned 3
}

/// An end that came from another thread: number and ticks.
type End = (u64, u64);

/// What threads say to each other.
#[derive(Default)]
struct Between {
    /// Who is there to find an end.
    there: FxHashSet<u32>,
    ends: VecDeque<End>,
}

static BETWEEN: Lock<Option<Between>> = Lock::new(None);
static N_ENDS: AtomicUsize = AtomicUsize::new(0);
static NEXT_ID: AtomicU32 = AtomicU32::new(0);

/// Does something with what threads say to each other; `None` where a signal handler has interrupted that.
fn between<R>(work: impl FnOnce(&mut Between) -> R) -> Option<R> {
    BETWEEN.with_or_renew(Option::default, |between| {
        let between = between.get_or_insert_default();
        let result = work(between);
        N_ENDS.store(between.ends.len(), Ordering::Release);
        result
    })
}

impl Between {
    /// Leaves an end for the thread that began. How many ends nobody will find now.
    fn leave(&mut self, owner: u32, end: End) -> u32 {
        if !self.there.contains(&owner) {
            return 1;
        }
        let is_full = self.ends.len() == MOST_ENDS;
        if is_full {
            self.ends.pop_front();
        }
        self.ends.push_back(end);
        u32::from(is_full)
    }

    /// Takes the ends of what a thread began.
    fn take(&mut self, id: u32) -> Vec<End> {
        let mut mine = Vec::new();
        self.ends.retain(|end| {
            let is_mine = owner(end.0) == Some(id);
            mine.extend(is_mine.then_some(*end));
            !is_mine
        });
        mine
    }
}

/// A call of Kokkos's that is to be recorded.
pub(super) struct Call {
    pub(super) runtime: &'static Runtime,
    pub(super) thread: *mut Thread,
    pub(super) here: &'static mut Here,
    pub(super) entry: Entry,
    _own: Own,
}

impl Call {
    /// `None` where nothing is recorded. Our own code runs for as long as it lives.
    pub(super) fn begin(entry: Entry) -> Option<Self> {
        process::runtime_for_mpi()?;
        let (own, (runtime, thread)) = openmp::begin_at(entry.sp)?;
        // SAFETY: the thread's own memory; what it points to is given back when the thread ends.
        let here = unsafe {
            if (*slot()).here.is_null() {
                let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
                (*slot()).here = Box::into_raw(Box::new(Here { id, ..Here::default() }));
                between(|between| between.there.insert(id));
            }
            &mut *(*slot()).here
        };
        if N_ENDS.load(Ordering::Acquire) != 0 {
            let ends = between(|between| between.take(here.id)).unwrap_or_default();
            // SAFETY: the descriptor is the calling thread's.
            unsafe { here.end_earlier(thread, ends) };
        }
        Some(Self { runtime, thread, here, entry, _own: own })
    }

    /// The site of a verb that is done to a noun by whoever called Kokkos. What has none is counted.
    pub(super) fn site(&self, verb: Verb, noun: u32) -> Option<u32> {
        // SAFETY: the call is under way, and the descriptor is the calling thread's.
        unsafe {
            let site = site::find(self.thread, verb.with(noun), self.entry);
            if site.is_none() {
                marey_measure::count_unrecorded(self.thread);
            }
            site.map(|site| site.0)
        }
    }

    /// Begins something; the number that ends it.
    pub(super) fn enter(&mut self, site: Option<u32>, ends: Ends, accesses: Accesses) -> u64 {
        self.here.n_numbers += 1;
        let number = number(self.here.id, self.here.n_numbers);
        if DEEPEST <= self.here.begun.len() {
            // SAFETY: the descriptor is the calling thread's.
            unsafe { marey_measure::count_unrecorded(self.thread) };
            self.here.n_deeper[usize::from(ends == Ends::Copy)] += u32::from(ends != Ends::ByNumber);
            return number;
        }
        let entered = site.and_then(|site| self.entered(site));
        self.here.begun.push(Begun { number, ends, entered, accesses });
        number
    }

    fn entered(&self, site: u32) -> Option<Entered> {
        // SAFETY: the descriptor is the calling thread's.
        unsafe {
            let kept = match Thread::mode(self.thread, site) {
                Mode::Trace => None,
                Mode::Time => Some(Kept::Timed),
                Mode::Count => Some(Kept::Counted),
                Mode::Off | Mode::Unknown => return None,
            };
            match kept {
                None => marey_measure::enter(self.thread, site),
                Some(kept) => marey_measure::enter_timed(self.thread, site, kept),
            }
            Some(Entered { site, kept })
        }
    }

    /// Ends what this number was given to.
    pub(super) fn end(&mut self, number: u64) {
        let is_it = |begun: &Begun| begun.number == number && begun.ends == Ends::ByNumber;
        if let Some(at) = self.here.begun.iter().rposition(is_it) {
            self.end_at(at);
        } else if let Some(owner) = owner(number).filter(|owner| *owner != self.here.id) {
            // SAFETY: the descriptor is the calling thread's.
            let now = unsafe { marey_measure::now(self.thread) };
            for _ in 0..between(|between| between.leave(owner, (number, now))).unwrap_or(1) {
                // SAFETY: as above.
                unsafe { marey_measure::count_unrecorded(self.thread) };
            }
        }
    }

    /// Ends the innermost region or copy.
    pub(super) fn end_innermost(&mut self, ends: Ends) {
        let deeper = &mut self.here.n_deeper[usize::from(ends == Ends::Copy)];
        if *deeper > 0 {
            *deeper -= 1;
        } else if let Some(at) = self.here.begun.iter().rposition(|begun| begun.ends == ends) {
            self.end_at(at);
        }
    }

    /// Ends all that is open on the thread.
    pub(super) fn end_all(&mut self) {
        self.here.n_deeper = [0; 2];
        if !self.here.begun.is_empty() {
            self.end_at(0);
        }
    }

    /// Ends what has begun at this place, with all that is inside, now.
    fn end_at(&mut self, at: usize) {
        // SAFETY: the descriptor is the calling thread's.
        unsafe { self.here.end_at(self.thread, at, u64::MAX) };
    }

    /// Something that takes no time.
    pub(super) fn instant(&mut self, site: Option<u32>, accesses: Accesses) {
        if let Some(entered) = site.and_then(|site| self.entered(site)) {
            // SAFETY: the descriptor is the calling thread's, and the region is the innermost.
            unsafe { leave(self.thread, entered, &accesses) };
        }
    }
}

/// Leaves the innermost region.
///
/// # Safety
/// `thread` is the calling thread's descriptor, and its innermost region is this one.
unsafe fn leave(thread: *mut Thread, entered: Entered, accesses: &Accesses) {
    let put = |_: *mut Thread, scratch: &mut Scratch| {
        accesses.iter().flatten().for_each(|access| scratch.access(access));
    };
    // SAFETY: the caller's promise.
    unsafe {
        match entered.kept {
            None => marey_measure::leave_with(thread, put),
            Some(kept) => marey_measure::leave_timed_with(thread, kept, put),
        }
    }
}

/// The number of the `count`th beginning of a thread.
fn number(id: u32, count: u64) -> u64 {
    (u64::from(id) + 1) << 36 | count & ((1 << 36) - 1)
}

/// The thread that a number was given out by; `None` if it is none of ours.
fn owner(number: u64) -> Option<u32> {
    u32::try_from((number >> 36).checked_sub(1)?).ok()
}

/// To be called when a thread ends, before its descriptor is no more.
pub(crate) fn thread_ends() {
    // SAFETY: the thread's own memory, which nobody else knows.
    let mut here = unsafe {
        let here = core::mem::replace(&mut (*slot()).here, core::ptr::null_mut());
        if here.is_null() {
            return;
        }
        Box::from_raw(here)
    };
    // Whoever says from now on that something of this thread is over is told that it is not there.
    let ends = between(|between| {
        between.there.remove(&here.id);
        between.take(here.id)
    });
    let thread = marey_measure::existing_thread();
    if let (Some(ends), false) = (ends, thread.is_null()) {
        let _own = Own::begin();
        // SAFETY: the descriptor is the calling thread's.
        unsafe { here.end_earlier(thread, ends) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_says_which_thread_gave_it() {
        for serial in [0, 7, 1 << 20] {
            assert_eq!(owner(number(serial, 5)), Some(serial));
            assert_eq!(owner(number(serial, u64::MAX)), Some(serial));
        }
        assert_ne!(number(3, 1), number(3, 2));
        assert_eq!((owner(0), owner(5)), (None, None));
    }
}
