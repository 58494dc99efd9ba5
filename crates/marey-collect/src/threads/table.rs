//! What threads leave for one another to find: notes of who gave something back, who came last to
//! a barrier, and which thread a `pthread_t` is.
//!
//! All tables are of fixed size and lock-free, on pages that a forked child finds wiped: whatever
//! state another thread left them in at the fork is gone, and so are the threads they spoke of.
//! Where a table is full, or two write at once, an edge is lost and nothing else.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use marey_measure::sys;

/// All tables.
pub(super) struct Tables {
    pub(super) notes: Notes,
    pub(super) barriers: Barriers,
    pub(super) threads: Threads,
    pub(super) births: Births,
}

static TABLES: AtomicPtr<Tables> = AtomicPtr::new(core::ptr::null_mut());

/// The tables; `None` as long as threads are not watched.
#[inline(always)]
pub(super) fn tables() -> Option<&'static Tables> {
    // SAFETY: tables are never unmapped, and zeros are a valid value of them.
    unsafe { TABLES.load(Ordering::Acquire).as_ref() }
}

/// Makes the tables. Where the kernel cannot wipe them in a child, threads are not watched.
pub(super) fn open() {
    let len = size_of::<Tables>().next_multiple_of(sys::PAGE);
    if let Some(at) = sys::map_zeros(len)
        && sys::wipe_on_fork(at, len)
    {
        TABLES.store(at.cast(), Ordering::Release);
    }
}

/// A thread did something at a time (in ticks).
#[derive(Clone, Copy)]
pub(crate) struct Note {
    pub(crate) thread: u32,
    pub(crate) ticks: u64,
}

fn hash(address: usize) -> usize {
    (address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

const NOTES: usize = 4096;

/// Who last gave something back, by the address of the lock, condition or word that others wait at.
pub(crate) struct Notes([Place; NOTES]);

#[repr(align(64))]
struct Place {
    waiters: AtomicU32,
    /// Odd while a note is being written.
    version: AtomicU32,
    address: AtomicUsize,
    thread: AtomicU32,
    ticks: AtomicU64,
}

impl Notes {
    /// Announces a waiter. The number returned is for [`Self::unregister`].
    pub(crate) fn register(&self, address: usize) -> usize {
        let place = hash(address) % NOTES;
        self.0[place].waiters.fetch_add(1, Ordering::SeqCst);
        place + 1
    }

    /// Takes a waiter back; 0 stands for none.
    pub(crate) fn unregister(&self, place: usize) {
        let Some(place) = place.checked_sub(1).and_then(|place| self.0.get(place)) else { return };
        // In a child that was forked while its thread waited, the count has been wiped.
        let less = |n: u32| n.checked_sub(1);
        if place.waiters.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            place.version.store(0, Ordering::Relaxed);
        }
    }

    /// Whether somebody may be waiting at `address`.
    #[inline(always)]
    pub(crate) fn is_awaited(&self, address: usize) -> bool {
        self.0[hash(address) % NOTES].waiters.load(Ordering::SeqCst) != 0
    }

    /// Leaves a note, unless somebody is leaving one in the same place just now.
    pub(crate) fn leave(&self, address: usize, note: Note) {
        let place = &self.0[hash(address) % NOTES];
        let version = place.version.load(Ordering::Relaxed);
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        if !version.is_multiple_of(2)
            || place.version.compare_exchange(version, version.wrapping_add(1), order, failed).is_err()
        {
            return;
        }
        fence(Ordering::Release);
        place.address.store(address, Ordering::Relaxed);
        place.thread.store(note.thread, Ordering::Relaxed);
        place.ticks.store(note.ticks, Ordering::Relaxed);
        place.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// The last note for `address`.
    pub(crate) fn find(&self, address: usize) -> Option<Note> {
        let place = &self.0[hash(address) % NOTES];
        // Its writer may be stopped in the middle; then there is no note.
        for _ in 0..100 {
            let version = place.version.load(Ordering::Acquire);
            let note = Note {
                thread: place.thread.load(Ordering::Relaxed),
                ticks: place.ticks.load(Ordering::Relaxed),
            };
            let found = place.address.load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            if version.is_multiple_of(2) && place.version.load(Ordering::Relaxed) == version {
                return (found == address).then_some(note);
            }
            core::hint::spin_loop();
        }
        None
    }
}

const BARRIERS: usize = 1024;
const PROBES: usize = 16;
const ROUNDS: usize = 4;

/// The barriers whose initialisation was seen, by address.
pub(super) struct Barriers {
    epochs: AtomicU32,
    places: [Barrier; BARRIERS],
}

#[repr(align(64))]
struct Barrier {
    address: AtomicUsize,
    /// How many make a round; 0 once destroyed.
    count: AtomicU32,
    /// Tells barriers apart that had the same address one after the other.
    epoch: AtomicU32,
    arrivals: AtomicU64,
    /// The last arrivals of the latest rounds.
    last: [LastArrival; ROUNDS],
}

struct LastArrival {
    /// Epoch and number of the round, plus 1.
    round: AtomicU64,
    thread: AtomicU32,
    ticks: AtomicU64,
}

/// One thread's arrival at a barrier.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    place: usize,
    round: u64,
}

impl Barriers {
    fn find(&self, address: usize) -> Option<usize> {
        let first = hash(address);
        (first..first + PROBES)
            .map(|place| place % BARRIERS)
            .find(|&place| self.places[place].address.load(Ordering::Acquire) == address)
    }

    /// A barrier for `count` threads was made.
    pub(super) fn init(&self, address: usize, count: u32) {
        let first = hash(address);
        let place = self.find(address).or_else(|| {
            (first..first + PROBES).map(|place| place % BARRIERS).find(|&place| {
                let barrier = &self.places[place];
                let old = barrier.address.load(Ordering::Relaxed);
                let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
                (old == 0 || barrier.count.load(Ordering::Relaxed) == 0)
                    && barrier.address.compare_exchange(old, address, order, failed).is_ok()
            })
        });
        if let Some(place) = place {
            let barrier = &self.places[place];
            barrier.arrivals.store(0, Ordering::Relaxed);
            let epoch = self.epochs.fetch_add(1, Ordering::Relaxed);
            barrier.epoch.store(epoch, Ordering::Relaxed);
            barrier.count.store(count, Ordering::Release);
        }
    }

    /// A barrier was destroyed.
    pub(super) fn destroy(&self, address: usize) {
        if let Some(place) = self.find(address) {
            self.places[place].count.store(0, Ordering::Release);
        }
    }

    /// A thread arrives; `note` is `None` for one that is not recorded. Nobody arrives for the
    /// next round before all of this one have, so counting tells the rounds apart.
    pub(super) fn arrive(&self, address: usize, note: Option<Note>) -> Option<Arrival> {
        let place = self.find(address)?;
        let barrier = &self.places[place];
        let count = u64::from(barrier.count.load(Ordering::Acquire));
        if count == 0 {
            return None;
        }
        let number = barrier.arrivals.fetch_add(1, Ordering::AcqRel);
        let epoch = u64::from(barrier.epoch.load(Ordering::Relaxed));
        let round = ((epoch << 32) | ((number / count) & 0xffff_ffff)) + 1;
        if number % count == count - 1
            && let Some(note) = note
        {
            let last = &barrier.last[(round % ROUNDS as u64) as usize];
            last.round.store(0, Ordering::Release);
            last.thread.store(note.thread, Ordering::Release);
            last.ticks.store(note.ticks, Ordering::Release);
            last.round.store(round, Ordering::Release);
        }
        Some(Arrival { place, round })
    }

    /// Who came last in the round of `arrival`.
    pub(super) fn last(&self, arrival: Arrival) -> Option<Note> {
        let last = &self.places[arrival.place].last[(arrival.round % ROUNDS as u64) as usize];
        let before = last.round.load(Ordering::Acquire);
        let note =
            Note { thread: last.thread.load(Ordering::Acquire), ticks: last.ticks.load(Ordering::Acquire) };
        let after = last.round.load(Ordering::Relaxed);
        (before == arrival.round && after == arrival.round).then_some(note)
    }
}

const HANDLES: usize = 1 << 16;

/// From `pthread_t` to the thread's number.
pub(super) struct Threads([Handle; HANDLES]);

struct Handle {
    handle: AtomicUsize,
    /// The number plus 1; 0 for none.
    serial: AtomicU32,
}

impl Threads {
    fn probes(&self, handle: usize) -> impl Iterator<Item = &Handle> {
        // Handles are addresses of stacks, which lie whole pages apart.
        let first = hash(handle >> 4);
        (first..first + PROBES).map(|place| &self.0[place % HANDLES])
    }

    /// `handle` is thread `serial` from now on. To be called by the thread itself.
    pub(super) fn insert(&self, handle: usize, serial: u32) {
        let known = self.probes(handle).find(|place| place.handle.load(Ordering::Relaxed) == handle);
        let place = known.or_else(|| {
            self.probes(handle).find(|place| {
                let old = place.handle.load(Ordering::Relaxed);
                let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
                (old == 0 || place.serial.load(Ordering::Relaxed) == 0)
                    && place.handle.compare_exchange(old, handle, order, failed).is_ok()
            })
        });
        if let Some(place) = place {
            place.serial.store(serial + 1, Ordering::Release);
        }
    }

    /// The number of a thread.
    pub(super) fn find(&self, handle: usize) -> Option<u32> {
        let place = self.probes(handle).find(|place| place.handle.load(Ordering::Acquire) == handle)?;
        place.serial.load(Ordering::Acquire).checked_sub(1)
    }

    /// `handle` stands for thread `serial` no longer.
    pub(super) fn remove(&self, handle: usize, serial: u32) {
        if let Some(place) = self.probes(handle).find(|place| place.handle.load(Ordering::Acquire) == handle)
        {
            let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            // Another thread has the handle already: it stays.
            if place.serial.compare_exchange(serial + 1, 0, order, failed).is_err() {
                core::hint::spin_loop();
            }
        }
    }
}

const CHUNK: usize = 1024;

/// When threads began and ended, by their numbers; those beyond a million are left out.
pub(super) struct Births([AtomicPtr<[Birth; CHUNK]>; 1024]);

/// A thread's beginning and end.
pub(super) struct Birth {
    /// Its first instant, in ticks.
    pub(super) begin: AtomicU64,
    /// Its last, 0 while it runs.
    pub(super) end: AtomicU64,
    /// The kernel's thread id.
    pub(super) os_thread: AtomicU32,
    /// The number of its creator.
    pub(super) creator: AtomicU32,
}

impl Births {
    /// Calls `f` with what is known of a thread.
    pub(super) fn of<R>(&self, serial: u32, f: impl FnOnce(&Birth) -> R) -> Option<R> {
        let chunk = self.0.get(serial as usize / CHUNK)?;
        let mut births = chunk.load(Ordering::Acquire);
        if births.is_null() {
            let len = size_of::<[Birth; CHUNK]>();
            let fresh = sys::map_zeros(len)?.cast();
            let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
            births = match chunk.compare_exchange(core::ptr::null_mut(), fresh, order, failed) {
                Ok(_) => fresh,
                Err(other) => {
                    // SAFETY: nobody knows the mapping.
                    unsafe { sys::unmap(fresh.cast(), len) };
                    other
                }
            };
        }
        // SAFETY: chunks are never unmapped once they are known, and zeros are a valid value.
        Some(f(unsafe { &(&*births)[serial as usize % CHUNK] }))
    }
}
