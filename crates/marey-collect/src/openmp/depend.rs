//! Which task made which one ready.
//!
//! The one idea: a task that depends on others begins because the last of these ended, not because it was created. Each task
//! that others may depend on has a place, found by its ticket, where its end is noted; what depends on it knows its ticket.
//!
//! The runtime of LLVM tells of dependences that hold a task up. That of GCC is given what the text names; from that the same
//! follows, among tasks of one parent: who reads depends on who wrote last, who writes on all who read since and on the last
//! who wrote (OpenMP 5.2, 15.9.5).
//!
//! Deliberately absent: who else held the task up, but ended earlier; a task that may run before or after another, but not
//! beside it (`mutexinoutset`), is taken for one that writes.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use marey_measure::Lock;
use marey_model::EdgeKind;
use rustc_hash::FxHashMap;

use crate::threads::Note;

/// Tasks that are known at a time.
const MOST_TASKS: usize = 1 << 14;
/// Of those that a task depends on, the last so many.
const MOST_BEFORE: usize = 8;
/// Addresses that are known at a time; beyond, those of a parent are forgotten.
const MOST_ADDRESSES: usize = 1 << 15;

struct Place {
    ticket: AtomicU64,
    /// When it ended, in ticks, and on which thread; 0 before.
    ended: AtomicU64,
    thread: AtomicU32,
    n_before: AtomicU32,
    before: [AtomicU64; MOST_BEFORE],
}

static PLACES: [Place; MOST_TASKS] = [const {
    Place {
        ticket: AtomicU64::new(0),
        ended: AtomicU64::new(0),
        thread: AtomicU32::new(0),
        n_before: AtomicU32::new(0),
        before: [const { AtomicU64::new(0) }; MOST_BEFORE],
    }
}; MOST_TASKS];

static TICKETS: AtomicU64 = AtomicU64::new(1);

/// A ticket that no other task has. The two highest bits are for whoever keeps it.
pub(super) fn ticket() -> u64 {
    TICKETS.fetch_add(1, Ordering::Relaxed) & !(0b11 << 62)
}

impl Place {
    fn of(ticket: u64) -> &'static Self {
        &PLACES[(ticket % MOST_TASKS as u64) as usize]
    }

    /// The place of a task, which is its own from now on.
    fn open(ticket: u64) -> &'static Self {
        let place = Self::of(ticket);
        if place.ticket.load(Ordering::Acquire) != ticket {
            place.ticket.store(0, Ordering::Release);
            place.ended.store(0, Ordering::Relaxed);
            place.n_before.store(0, Ordering::Relaxed);
            place.ticket.store(ticket, Ordering::Release);
        }
        place
    }

    fn is_of(&self, ticket: u64) -> bool {
        ticket != 0 && self.ticket.load(Ordering::Acquire) == ticket
    }

    fn end(&self) -> Option<Note> {
        let ticks = self.ended.load(Ordering::Acquire);
        (ticks != 0).then(|| Note { thread: self.thread.load(Ordering::Relaxed), ticks })
    }
}

/// Says that others may depend on a task.
pub(super) fn open(ticket: u64) {
    Place::open(ticket);
}

/// Says that a task depends on another one.
pub(super) fn after(ticket: u64, other: u64) {
    Place::open(other);
    let place = Place::open(ticket);
    let at = place.n_before.fetch_add(1, Ordering::Relaxed) as usize;
    place.before[at % MOST_BEFORE].store(other, Ordering::Release);
}

/// Notes the end of a task.
pub(super) fn ended(ticket: u64, note: Note) {
    let place = Place::of(ticket);
    if place.is_of(ticket) {
        place.thread.store(note.thread, Ordering::Relaxed);
        place.ended.store(note.ticks.max(1), Ordering::Release);
    }
}

/// Why a task begins only now: because it was created, or because the last that it depends on ended later than that.
pub(super) fn cause(ticket: u64, creation: Option<Note>) -> (EdgeKind, Option<Note>) {
    let created = (EdgeKind::Create, creation);
    let place = Place::of(ticket);
    if !place.is_of(ticket) {
        return created;
    }
    let n = (place.n_before.load(Ordering::Relaxed) as usize).min(MOST_BEFORE);
    let ends = place.before[..n].iter().filter_map(|before| {
        let before = before.load(Ordering::Acquire);
        let place = Place::of(before);
        place.is_of(before).then(|| place.end()).flatten()
    });
    let last = ends.max_by_key(|note| note.ticks);
    match last.filter(|last| creation.is_none_or(|creation| creation.ticks < last.ticks)) {
        Some(last) => (EdgeKind::Done, Some(last)),
        None => created,
    }
}

/// Who wrote at an address last, and who has read since.
#[derive(Clone, Copy, Default)]
struct Users {
    writer: u64,
    readers: [u64; MOST_BEFORE - 1],
    n_readers: usize,
}

/// Users of addresses, by the task whose children they are.
#[derive(Default)]
struct Named {
    of_parents: FxHashMap<u64, FxHashMap<usize, Users>>,
    n_addresses: usize,
}

static NAMED: Lock<Option<Named>> = Lock::new(None);
/// How many parents have children that depend on one another.
static PARENTS: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Reads,
    Writes,
}

/// Calls `act` with each address of a list that GCC makes of the clauses of a task.
///
/// # Safety
/// `list` is such a list.
unsafe fn each(list: *const usize, act: &mut dyn FnMut(usize, Use)) {
    /// `GOMP_DEPEND_IN`.
    const IN: usize = 1;
    // SAFETY: the caller's promise: it says itself how long it is.
    unsafe {
        let word = |at: usize| *list.add(at);
        if word(0) != 0 {
            // Those that write come first.
            for at in 0..word(0) {
                act(word(2 + at), if at < word(1) { Use::Writes } else { Use::Reads });
            }
            return;
        }
        let [all, out, exclusive, read] = [word(1), word(2), word(3), word(4)];
        let plain = out + exclusive + read;
        for at in 0..all {
            if at < plain {
                act(word(5 + at), if at < out + exclusive { Use::Writes } else { Use::Reads });
            } else {
                // An object with the address and the kind.
                let object = word(5 + at) as *const usize;
                act(*object, if *object.add(1) == IN { Use::Reads } else { Use::Writes });
            }
        }
    }
}

/// Says what a child of `parent` uses, which is about to be created.
///
/// # Safety
/// `list` is the list of addresses that the runtime of GCC is given.
pub(super) unsafe fn declared(parent: u64, ticket: u64, list: usize) {
    open(ticket);
    NAMED.with_or_renew(Option::default, |named| {
        let named = named.get_or_insert_default();
        if MOST_ADDRESSES <= named.n_addresses {
            named.forget(parent);
        }
        let addresses = named.of_parents.entry(parent).or_default();
        let known = addresses.len();
        // SAFETY: the caller's promise.
        unsafe {
            each(list as *const usize, &mut |address, how| {
                let users = addresses.entry(address).or_default();
                users.add(ticket, how);
            });
        }
        named.n_addresses += addresses.len() - known;
        PARENTS.store(named.of_parents.len(), Ordering::Relaxed);
    });
}

impl Users {
    fn add(&mut self, ticket: u64, how: Use) {
        // A list may name an address twice.
        let mut wait = |other: u64| {
            if other != 0 && other != ticket {
                after(ticket, other);
            }
        };
        wait(self.writer);
        match how {
            Use::Reads => {
                self.readers[self.n_readers % (MOST_BEFORE - 1)] = ticket;
                self.n_readers += 1;
            }
            Use::Writes => {
                self.readers[..self.n_readers.min(MOST_BEFORE - 1)].iter().copied().for_each(&mut wait);
                *self = Self { writer: ticket, ..Self::default() };
            }
        }
    }
}

impl Named {
    fn forget(&mut self, parent: u64) {
        if let Some(addresses) = self.of_parents.remove(&parent) {
            self.n_addresses -= addresses.len();
        }
    }
}

/// To be called when a task creates no more children.
pub(super) fn parent_is_over(parent: u64) {
    if PARENTS.load(Ordering::Relaxed) == 0 {
        return;
    }
    NAMED.with_or_renew(Option::default, |named| {
        if let Some(named) = named {
            named.forget(parent);
            PARENTS.store(named.of_parents.len(), Ordering::Relaxed);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(ticket: u64) -> Vec<u64> {
        let place = Place::of(ticket);
        assert!(place.is_of(ticket));
        let n = place.n_before.load(Ordering::Relaxed) as usize;
        let mut before: Vec<u64> =
            place.before[..n.min(MOST_BEFORE)].iter().map(|it| it.load(Ordering::Relaxed)).collect();
        before.sort_unstable();
        before
    }

    fn lists(writes: &[usize], reads: &[usize]) -> [Vec<usize>; 3] {
        let all = writes.len() + reads.len();
        let short = [&[all, writes.len()][..], writes, reads].concat();
        let long = [&[0, all, writes.len(), 0, reads.len()][..], writes, reads].concat();
        // The same with an object for each.
        let object = |address: &usize, kind: usize| -> usize {
            Box::leak(Box::new([*address, kind])).as_ptr() as usize
        };
        let objects = writes.iter().map(|it| object(it, 3)).chain(reads.iter().map(|it| object(it, 1)));
        let of_objects = [0, all, 0, 0, 0].into_iter().chain(objects).collect();
        [short, long, of_objects]
    }

    #[test]
    fn readers_depend_on_the_last_writer_and_writers_on_all_since() {
        for form in 0..3 {
            let parent = ticket();
            let create = |writes: &[usize], reads: &[usize]| {
                let ticket = ticket();
                let list = lists(writes, reads)[form].clone();
                // SAFETY: it is such a list.
                unsafe { declared(parent, ticket, list.as_ptr() as usize) };
                ticket
            };
            let first = create(&[8], &[]);
            let [one, two] = [create(&[], &[8]), create(&[16], &[8])];
            let last = create(&[8], &[16]);
            let other = create(&[24], &[]);
            assert_eq!([before(first), before(other)], [vec![], vec![]], "{form}");
            assert_eq!([before(one), before(two)], [vec![first], vec![first]], "{form}");
            // By both addresses on the second.
            assert_eq!(before(last), [first, one, two, two], "{form}");
            let after = create(&[], &[8]);
            assert_eq!(before(after), [last], "{form}");
            let stranger = ticket();
            // SAFETY: as above.
            unsafe { declared(parent + (1 << 60), stranger, lists(&[], &[8])[form].as_ptr() as usize) };
            assert_eq!(before(stranger), [], "of another parent");
            parent_is_over(parent);
            assert_eq!(before(create(&[], &[8])), [], "{form}");
        }
    }

    #[test]
    fn a_task_begins_because_of_the_last_that_it_depends_on_or_of_its_creation() {
        let [one, two, task] = [ticket(), ticket(), ticket()];
        let note = |thread: u32, ticks: u64| Note { thread, ticks };
        after(task, one);
        after(task, two);
        let created = Some(note(0, 100));
        let of = |task: u64| {
            let (kind, cause) = cause(task, created);
            (kind, cause.map(|cause| (cause.thread, cause.ticks)))
        };
        assert_eq!(of(task), (EdgeKind::Create, Some((0, 100))));
        ended(one, note(1, 90));
        assert_eq!(of(task), (EdgeKind::Create, Some((0, 100))));
        ended(two, note(2, 150));
        assert_eq!(of(task), (EdgeKind::Done, Some((2, 150))));
        assert_eq!(of(one), (EdgeKind::Create, Some((0, 100))));
        // One that has another's place.
        let later = task + MOST_TASKS as u64;
        open(later);
        assert_eq!(of(task), (EdgeKind::Create, Some((0, 100))));
    }
}
