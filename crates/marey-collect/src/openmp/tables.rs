//! What threads leave for one another to find: who arrived last at a barrier of a team, who gave a lock back, who ended
//! the last task.
//!
//! All tables are of fixed size and lock-free, on pages that a forked child finds wiped, as those of threads are. Where a
//! table is full an edge is lost, or a thread waits a moment for what is free, and nothing else.
//!
//! The one idea: who came last at a barrier is the largest arrival, so nobody need know how many there are. Rounds of a
//! team have four places; at a barrier that one is emptied which is the next but one, for nobody can be there yet, and
//! nobody still is where it was before.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use marey_measure::sys;

use crate::threads::{Note, Notes};

const TEAMS: usize = 2048;
const PROBES: usize = 64;
/// Sets of things that are held, and how many each has room for.
const SETS: usize = 1024;
const WAYS: usize = 4;
const PARKED: usize = 4096;
const ROUNDS: usize = 4;

/// All tables.
pub(super) struct Tables {
    /// By address of a lock, and by number of a task or group of tasks.
    pub(super) notes: Notes,
    /// What threads have or wait for, by a hash of what it is: its address, and how many they are.
    held: [[AtomicU64; WAYS]; SETS],
    /// By the same hash, how many have something that there was no room for.
    more_held: [AtomicU32; SETS],
    next: AtomicU32,
    teams: [Team; TEAMS],
    /// Threads that have come to the end of a parallel region, by their numbers.
    parked: [Parked; PARKED],
}

static TABLES: AtomicPtr<Tables> = AtomicPtr::new(core::ptr::null_mut());

/// The tables; `None` as long as constructs are not recorded, or where the kernel cannot wipe them in a child.
#[inline(always)]
pub(super) fn tables() -> Option<&'static Tables> {
    // SAFETY: tables are never unmapped, and zeros are a valid value of them.
    unsafe { TABLES.load(Ordering::Acquire).as_ref() }
}

/// Makes the tables. Where the kernel cannot wipe them in a child, constructs are not recorded.
pub(super) fn open() -> bool {
    let len = size_of::<Tables>().next_multiple_of(sys::PAGE);
    if let Some(at) = sys::map_zeros(len)
        && sys::wipe_on_fork(at, len)
    {
        TABLES.store(at.cast(), Ordering::Release);
        return true;
    }
    false
}

impl Tables {
    fn held(&self, what: usize) -> (&[AtomicU64; WAYS], &AtomicU32) {
        let set = (what >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 & (SETS - 1);
        (&self.held[set], &self.more_held[set])
    }

    /// A thread wants something that one at a time can have. Whether somebody has it; where there is no room to note that, it
    /// counts as something that somebody has.
    pub(super) fn wants(&self, what: usize) -> bool {
        let ((set, more), key) = (self.held(what), key_of(what));
        loop {
            let words = || set.iter().enumerate().map(|(at, place)| (at, place.load(Ordering::SeqCst)));
            let (at, word, next) = match words().find(|(_, word)| is_of(*word, key)) {
                Some((_, word)) if word & THREADS == THREADS => return true,
                Some((at, word)) => (at, word, word + 1),
                None => match words().find(|(_, word)| *word == 0) {
                    Some((at, word)) => (at, word, key + 1),
                    None => {
                        more.fetch_add(1, Ordering::Relaxed);
                        return true;
                    }
                },
            };
            if set[at].compare_exchange(word, next, Ordering::SeqCst, Ordering::SeqCst).is_err() {
                continue;
            }
            if word != 0 {
                return true;
            }
            // Another thread may have put the same in another place meanwhile; one of both sees the other's. Who is behind
            // gives way.
            match words().find(|(other, word)| *other != at && is_of(*word, key)) {
                Some((other, _)) if other < at => _ = take_back(&set[at], key),
                Some(_) => return true,
                None => return more.load(Ordering::Relaxed) != 0,
            }
        }
    }

    /// A thread has given it back. It may have been taken before anybody counted.
    pub(super) fn gives_back(&self, what: usize) {
        let ((set, more), key) = (self.held(what), key_of(what));
        if !set.iter().any(|place| take_back(place, key)) {
            let less = |n: u32| n.checked_sub(1);
            _ = more.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
    }

    /// A place for a new team; `None` if there is none.
    pub(super) fn team(&'static self, begin: u64) -> Option<TeamRef> {
        let first = self.next.fetch_add(1, Ordering::Relaxed) as usize;
        for at in first..first + PROBES {
            let team = &self.teams[at % TEAMS];
            if team.is_used.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                continue;
            }
            // Whoever looks for the team that was here finds another one from here on.
            let generation = team.generation.fetch_add(1, Ordering::AcqRel) + 1;
            team.begin.store(begin, Ordering::Relaxed);
            team.last_task.store(0, Ordering::Relaxed);
            team.is_cancelled.store(0, Ordering::Relaxed);
            team.is_over.store(0, Ordering::Relaxed);
            team.arrivals.iter().for_each(|last| last.store(0, Ordering::Relaxed));
            return Some(TeamRef { team, generation });
        }
        None
    }

    /// The team of a [`TeamRef::token`].
    pub(super) fn team_of(&'static self, token: u64) -> Option<TeamRef> {
        let team = self.teams.get(((token >> TOKEN_BITS) as usize).checked_sub(1)?)?;
        let generation = team.generation.load(Ordering::Acquire);
        (generation & TOKEN_MASK == token & TOKEN_MASK).then_some(TeamRef { team, generation })
    }

    fn parked(&self, serial: u32) -> Option<&Parked> {
        self.parked.get(serial as usize)
    }

    /// Thread number `serial` has come to the end of a parallel region, which is round `round` of its team, and is in a
    /// region of `site` from then on.
    pub(super) fn park(&self, serial: u32, team: TeamRef, round: u32) {
        if let Some(parked) = self.parked(serial) {
            parked.generation.store(team.generation, Ordering::Relaxed);
            parked.since.store(0, Ordering::Relaxed);
            parked.round.store(round, Ordering::Relaxed);
            parked.team.store(core::ptr::from_ref(team.team).cast_mut(), Ordering::Release);
        }
    }

    /// It has executed a task there, until `since`.
    pub(super) fn rests(&self, serial: u32, since: u64) {
        if let Some(parked) = self.parked(serial) {
            parked.since.store(since, Ordering::Release);
        }
    }

    /// It goes on.
    pub(super) fn unpark(&self, serial: u32) {
        if let Some(parked) = self.parked(serial) {
            parked.team.store(core::ptr::null_mut(), Ordering::Release);
        }
    }

    /// Threads that wait for another parallel region, with who ended the one before, its last arrival, and since when they have
    /// nothing to do after a task, 0 without one.
    pub(super) fn idle(&self) -> impl Iterator<Item = (u32, Note, u64)> {
        (0..).zip(&self.parked).filter_map(|(serial, parked)| {
            // SAFETY: teams stay where they are.
            let team = unsafe { parked.team.load(Ordering::Acquire).as_ref() }?;
            let generation = parked.generation.load(Ordering::Relaxed);
            let last = TeamRef { team, generation }.end(parked.round.load(Ordering::Relaxed));
            let since = parked.since.load(Ordering::Acquire);
            (team.is_over.load(Ordering::Acquire) != 0).then_some((serial, last?, since))
        })
    }
}

/// Bits of how many have something or wait for it, beneath its address.
const THREAD_COUNT_BITS: u32 = 16;
const THREADS: u64 = (1 << THREAD_COUNT_BITS) - 1;

fn key_of(what: usize) -> u64 {
    (what as u64) << THREAD_COUNT_BITS
}

/// One thread less has what is noted here, if it is this.
fn take_back(place: &AtomicU64, key: u64) -> bool {
    let less = |word: u64| match word & THREADS {
        _ if !is_of(word, key) => None,
        1 => Some(0),
        _ => Some(word - 1),
    };
    place.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
}

fn is_of(word: u64, key: u64) -> bool {
    word != 0 && word & !THREADS == key
}

struct Parked {
    team: AtomicPtr<Team>,
    generation: AtomicU64,
    /// Since when it has nothing to do, after a task that it has executed there; 0 if there was none.
    since: AtomicU64,
    round: AtomicU32,
}

/// The threads of a parallel region.
#[repr(align(64))]
pub(super) struct Team {
    is_used: AtomicU32,
    is_cancelled: AtomicU32,
    is_over: AtomicU32,
    generation: AtomicU64,
    /// When the region began, in ticks, on which thread, and what its noun is.
    begin: AtomicU64,
    first: AtomicU32,
    noun: AtomicU32,
    /// The last arrival of each of the latest rounds: ticks since the beginning, and the thread.
    arrivals: [AtomicU64; ROUNDS],
    /// The end of a task, likewise.
    last_task: AtomicU64,
}

/// A team that was there at some time.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct TeamRef {
    pub(super) team: &'static Team,
    pub(super) generation: u64,
}

/// Bits of a thread's number in a packed note. Threads beyond a million are left out.
const THREAD_BITS: u32 = 20;

/// Bits of the generation in a token.
const TOKEN_BITS: u32 = 48;
const TOKEN_MASK: u64 = (1 << TOKEN_BITS) - 1;

impl TeamRef {
    /// Says which thread began the region, and what its noun is.
    pub(super) fn of(self, first: u32, noun: u32) {
        self.team.first.store(first, Ordering::Relaxed);
        self.team.noun.store(noun, Ordering::Release);
    }

    pub(super) fn noun(self) -> u32 {
        self.team.noun.load(Ordering::Acquire)
    }

    /// Who began the region, and when.
    pub(super) fn creation(self) -> Note {
        let team = self.team;
        Note { thread: team.first.load(Ordering::Relaxed), ticks: team.begin.load(Ordering::Relaxed) }
    }

    /// A number that stands for the team, and is not 0.
    pub(super) fn token(self) -> u64 {
        let place = tables().map_or(0, |tables| {
            (core::ptr::from_ref(self.team) as usize - tables.teams.as_ptr() as usize) / size_of::<Team>() + 1
        });
        (place as u64) << TOKEN_BITS | self.generation & TOKEN_MASK
    }

    /// Whether all have arrived at the end of the region.
    pub(super) fn is_over(self) -> bool {
        self.team.is_over.load(Ordering::Acquire) != 0
            || self.team.generation.load(Ordering::Acquire) != self.generation
    }

    fn pack(self, note: Note) -> u64 {
        // Some two hours fit; who is later has no edges.
        let since = note.ticks.saturating_sub(self.team.begin.load(Ordering::Relaxed)) + 1;
        if note.thread >> THREAD_BITS != 0 || since >> (64 - THREAD_BITS) != 0 {
            return 0;
        }
        since << THREAD_BITS | u64::from(note.thread)
    }

    fn unpack(self, packed: u64) -> Option<Note> {
        let since = (packed >> THREAD_BITS).checked_sub(1)?;
        let ticks = since + self.team.begin.load(Ordering::Relaxed);
        let thread = (packed & ((1 << THREAD_BITS) - 1)) as u32;
        let is_it = self.team.generation.load(Ordering::Acquire) == self.generation
            && self.team.is_cancelled.load(Ordering::Relaxed) == 0;
        is_it.then_some(Note { thread, ticks })
    }

    /// A thread arrives at the barrier that is its round `round`.
    pub(super) fn arrive(self, round: u32, note: Note) {
        let place = |round: u32| &self.team.arrivals[round as usize % ROUNDS];
        place(round.wrapping_add(2)).store(0, Ordering::Relaxed);
        place(round).fetch_max(self.pack(note), Ordering::AcqRel);
    }

    /// Who let all others leave that barrier: who arrived last, or ended the last task.
    pub(super) fn end(self, round: u32) -> Option<Note> {
        let last = self.team.arrivals[round as usize % ROUNDS].load(Ordering::Acquire);
        self.unpack(last.max(self.team.last_task.load(Ordering::Acquire)))
    }

    /// A thread has ended a task.
    pub(super) fn task_ended(self, note: Note) {
        self.team.last_task.fetch_max(self.pack(note), Ordering::AcqRel);
    }

    /// Threads may leave out barriers from now on, so nothing is known of them.
    pub(super) fn cancelled(self) {
        self.team.is_cancelled.store(1, Ordering::Relaxed);
    }

    /// The region is over: all have arrived at its end.
    pub(super) fn over(self) {
        self.team.is_over.store(1, Ordering::Release);
        self.team.is_used.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(thread: u32, ticks: u64) -> Note {
        Note { thread, ticks }
    }

    #[test]
    fn whoever_arrives_last_or_ends_the_last_task_ends_the_barrier() {
        assert!(open());
        let tables = tables().unwrap();
        let team = tables.team(1000).unwrap();
        let end = |round| team.end(round).map(|note| (note.thread, note.ticks));
        assert_eq!(end(0), None);
        for round in 0..9 {
            let at = 1000 + u64::from(round) * 100;
            for (thread, late) in [(3, 5), (1, 90), (2, 7)] {
                team.arrive(round, note(thread, at + late));
            }
            assert_eq!(end(round), Some((1, at + 90)), "{round}");
        }
        team.task_ended(note(2, 1895));
        assert_eq!(end(8), Some((2, 1895)));
        // Arrivals of a team whose place another one has got are unknown, and none is told of a cancelled one.
        team.over();
        tables.park(7, team, 8);
        let idle =
            || tables.idle().map(|(serial, end, since)| (serial, end.ticks, since)).collect::<Vec<_>>();
        assert_eq!(idle(), [(7, 1895, 0)]);
        tables.rests(7, 1890);
        assert_eq!(idle(), [(7, 1895, 1890)]);
        let others: Vec<TeamRef> = (0..TEAMS as u64 + 1).filter_map(tables_team).collect();
        assert_eq!((others.len(), end(8)), (TEAMS, None));
        let last = others[0];
        last.arrive(0, note(1, 5000));
        assert!(last.end(0).is_some());
        last.cancelled();
        assert!(last.end(0).is_none());
    }

    #[test]
    fn what_is_free_is_told_as_free_however_much_else_is_held() {
        assert!(open());
        let tables = tables().unwrap();
        let locks = || (0..1000).map(|n| 0x7f00_0000_1000 + n * 8);
        assert_eq!(locks().filter(|what| tables.wants(*what)).count(), 0);
        assert!(locks().all(|what| tables.wants(what)));
        for _ in 0..2 {
            locks().for_each(|what| tables.gives_back(what));
        }
        tables.gives_back(0x7f00_0000_1000);
        assert_eq!(locks().filter(|what| tables.wants(*what)).count(), 0);
    }

    #[test]
    fn what_there_was_no_room_for_is_held_until_it_is_given_back() {
        assert!(open());
        let tables = tables().unwrap();
        // More than all places together.
        let locks = || (0..2 * SETS * WAYS).map(|n| 0x7f00_0000_0000 + n * 8);
        locks().for_each(|what| _ = tables.wants(what));
        assert!(locks().all(|what| tables.wants(what)));
        for _ in 0..2 {
            locks().for_each(|what| tables.gives_back(what));
        }
        assert!(tables.held.iter().flatten().all(|place| place.load(Ordering::Relaxed) == 0));
        assert!(tables.more_held.iter().all(|more| more.load(Ordering::Relaxed) == 0));
    }

    #[test]
    fn as_many_are_counted_as_want_a_thing_at_once() {
        assert!(open());
        let tables = tables().unwrap();
        let free = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 0..50_000 {
                        let what = 0x1000 + n % 64 * 8;
                        free.fetch_add(usize::from(!tables.wants(what)), Ordering::Relaxed);
                        tables.gives_back(what);
                    }
                });
            }
        });
        assert!(free.into_inner() > 0);
        assert!((0..64).all(|n| !tables.wants(0x1000 + n * 8)));
    }

    fn tables_team(begin: u64) -> Option<TeamRef> {
        tables().unwrap().team(begin)
    }
}
