//! How the calls of a runtime that tells of its constructs are recorded.
//!
//! The one idea: beginnings and ends come one by one, on the thread that they are of, so what the thread was in before is
//! put aside at a beginning and comes back at the end ([`super::super::saved`]). Who is told by a number of the runtime's
//! (a region, a task) is known by what we have put there.
//!
//! Threads that come to the end of a parallel region are told that they have left its barrier when the next one begins:
//! that is written down then, as of a runtime that tells nothing.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use marey_measure::{Thread, count_free_lock, now};
use marey_model::EdgeKind;

use super::super::here::{Here, here, number};
use super::super::region::{
    self, Construct, Named, begin, enter, leave, leave_because, passed, site_of_call, site_of_task,
};
use super::super::tables::{TeamRef, tables};
use super::super::{barrier, depend, place, saved, share};
use super::{Call, Mutex, SyncRegion, Work, callback};
use crate::entry::Entry;
use crate::threads::Note;

/// What the runtime is asked to tell, by the number of the interface.
pub(super) const CALLBACKS: [(i32, unsafe extern "C" fn()); 16] = [
    (3, parallel_begin),
    (4, parallel_end),
    (5, task_create),
    (6, task_schedule),
    (7, implicit_task),
    (16, sync_region_wait),
    (17, mutex_released),
    (19, task_dependence),
    (20, work),
    (21, masked),
    (23, sync_region),
    (26, mutex_acquire),
    (27, mutex_acquired),
    (28, nest_lock),
    (30, cancel),
    (32, dispatch),
];

callback! {
    parallel_begin = parallel_begins;
    parallel_end = parallel_ends;
    task_create = task_is_created;
    task_schedule = task_is_scheduled;
    task_dependence = task_depends;
    implicit_task = implicit;
    sync_region_wait = waits;
    mutex_released = released;
    work = works;
    masked = masks;
    sync_region = syncs;
    mutex_acquire = acquires;
    mutex_acquired = acquired;
    nest_lock = nests;
    cancel = cancels;
    dispatch = dispatches;
}

const BEGIN: usize = 1;
const END: usize = 2;

impl Call {
    fn entry(&self) -> Entry {
        Entry { sp: self.sp, bp: self.bp }
    }

    /// The team that we have put where an argument points to.
    unsafe fn team(&self, at: usize) -> Option<TeamRef> {
        let place = self.args[at] as *const u64;
        // SAFETY: the runtime gives the address of its data, or none.
        let token = if place.is_null() { 0 } else { unsafe { *place } };
        tables()?.team_of(token)
    }
}

/// The noun of a construct that code calls for before this address: a place in the function that it is in.
fn noun(runtime: &marey_measure::Runtime, address: usize) -> u32 {
    if address == 0 { u32::MAX } else { place::noun(runtime, address - 1) }
}

/// What a parallel region is, besides one of the program's.
const LEAGUE: usize = 1 << 30;
const OF_A_TEAM: usize = 1 << 31;
/// In the place of a team: libomp begins a region of one thread for each team of a league, which is none of the program's.
const NO_REGION: u64 = 1;
/// The same of a league, which has no team either.
const OF_A_LEAGUE: u64 = 2;

unsafe extern "C" fn parallel_begins(call: *const Call) {
    // SAFETY: the call is under way, and its arguments are those of the callback.
    unsafe {
        let [_, _, data, _, flags, called_from] = (*call).args;
        let data = data as *mut u64;
        *data = 0;
        if flags & OF_A_TEAM != 0 && called_from == 0 {
            *data = NO_REGION;
            return;
        }
        let Some((_own, (runtime, thread))) = begin((*call).sp) else { return };
        let noun = noun(runtime, called_from);
        let construct = if flags & LEAGUE == 0 { Construct::Parallel } else { Construct::Teams };
        let region = enter(thread, site_of_call(thread, construct, noun, (*call).entry()));
        let began = now(thread);
        saved::push(region, 0, 0, began, 0);
        if flags & LEAGUE != 0 {
            *data = OF_A_LEAGUE;
        } else if let Some(team) = tables().and_then(|tables| tables.team(began)) {
            team.of((*thread).serial, noun);
            *data = team.token();
        }
    }
}

unsafe extern "C" fn parallel_ends(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        // What the end says of itself will not do: of a region of one thread it is that nobody has called for it.
        if ((*call).args[0] as *const u64).as_ref() == Some(&NO_REGION) {
            return;
        }
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        if let Some(team) = (*call).team(0) {
            team.over();
        }
        let Some(outer) = saved::pop() else { return };
        leave(thread, outer.region);
        *here() = outer.here;
    }
}

/// The task that a thread is of a region. One that it is for a team of a league is none of the program's: what the thread was in
/// before goes on after it.
unsafe extern "C" fn implicit(call: *const Call) {
    /// Of the thread that a program begins with, outside of all regions.
    const INITIAL: usize = 1;
    // SAFETY: as above.
    unsafe {
        let [endpoint, region, task, _, index, flags] = (*call).args;
        let task = task as *mut u64;
        let is_end = endpoint as u32 as usize == END;
        let Some((_own, (runtime, thread))) = begin((*call).sp) else { return };
        // At the end there is no region any more that would tell.
        if is_end && task.as_ref() == Some(&OUTSIDE) {
            *task = 0;
            if let Some(outer) = saved::pop() {
                *here() = outer.here;
            }
            return;
        }
        let is_of_team = matches!((region as *const u64).as_ref(), Some(&(NO_REGION | OF_A_LEAGUE)));
        if is_of_team || flags & INITIAL != 0 {
            // That of the thread itself begins with the thread's first call, wherever another runtime has it then.
            if is_of_team && !is_end && !task.is_null() {
                barrier::goes_on(runtime, thread, None);
                saved::push(0, 0, 0, 0, 0);
                *here() = Here::NOTHING;
                *task = OUTSIDE;
            }
            return;
        }
        if is_end {
            // Whoever waits for the next region writes it down then.
            if (*here()).is_parked == 0 {
                share::end(thread);
                leave(thread, core::mem::take(&mut (*here()).implicit));
            }
            return;
        }
        let team = (*call).team(1);
        let is_first = index as u32 == 0;
        let creation = team.map(|team| team.creation());
        if !is_first {
            barrier::goes_on(runtime, thread, creation);
        }
        *here() = Here::of_task(team, number((*thread).serial));
        let noun = team.map_or(u32::MAX, TeamRef::noun);
        (*here()).implicit = enter(thread, site_of_task(runtime, Construct::ImplicitTask, noun));
        (*here()).is_first = u32::from(is_first);
        if !is_first && (*here()).implicit != 0 {
            region::because(thread, EdgeKind::Create, creation);
        }
    }
}

unsafe extern "C" fn syncs(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        let [kind, endpoint, ..] = (*call).args;
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        match (SyncRegion::of(kind), endpoint as u32 as usize) {
            (SyncRegion::Barrier, BEGIN) => {
                share::end(thread);
                // At the end of a region there is no place on some threads.
                let site = site_of_call(thread, Construct::Barrier, u32::MAX, (*call).entry());
                let region = enter(thread, site);
                barrier::arrive(thread);
                (*here()).barrier = region;
                // It may be the one that is left when another region begins.
                if (*here()).is_first == 0 {
                    barrier::park(thread);
                }
            }
            // Of a region that is over it is known only now that its end was left.
            (SyncRegion::Barrier, END) if (*here()).team.is_none_or(|team| !team.is_over()) => {
                barrier::unpark(thread);
                barrier::close(thread);
            }
            (SyncRegion::Taskwait, BEGIN) => wait_begins(&*call, thread, Construct::Taskwait, (*here()).task),
            (SyncRegion::Taskwait, END) => wait_ends(thread),
            (SyncRegion::Taskgroup, BEGIN) => (*here()).push_group(number((*thread).serial)),
            _ => {}
        }
    }
}

unsafe extern "C" fn waits(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        let [kind, endpoint, ..] = (*call).args;
        if SyncRegion::of(kind) != SyncRegion::Taskgroup {
            return;
        }
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        match endpoint as u32 as usize {
            BEGIN => {
                let group = (*here()).pop_group();
                wait_begins(&*call, thread, Construct::Taskgroup, group);
            }
            END => wait_ends(thread),
            _ => {}
        }
    }
}

unsafe fn wait_begins(call: &Call, thread: *mut Thread, construct: Construct, what: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let region = enter(thread, site_of_call(thread, construct, u32::MAX, call.entry()));
        let began = now(thread);
        barrier::waits(began);
        let place = tables().filter(|_| what != 0).map_or(0, |tables| tables.notes.register(what as usize));
        saved::push(region, place, what as usize, began, 0);
    }
}

unsafe fn wait_ends(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(wait) = saved::pop() else { return };
        let note = note_of(wait.place, wait.what, wait.began);
        barrier::end_wait(thread, wait.region, u64::MAX, EdgeKind::Join, note);
    }
}

/// Takes a waiter off the list; the note that ended its wait.
fn note_of(place: usize, what: usize, began: u64) -> Option<Note> {
    let tables = tables().filter(|_| place != 0)?;
    tables.notes.unregister(place);
    tables.notes.find(what).filter(|note| began <= note.ticks)
}

unsafe extern "C" fn works(call: *const Call) {
    static STATIC: Named = Named::new("schedule", "static loop");
    static DYNAMIC: Named = Named::new("schedule", "dynamic loop");
    static GUIDED: Named = Named::new("schedule", "guided loop");
    // SAFETY: as above.
    unsafe {
        let [kind, endpoint, ..] = (*call).args;
        let kind = Work::of(kind);
        if kind == Work::Other {
            return;
        }
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        if endpoint as u32 as usize == END {
            match kind {
                Work::Single => leave(thread, (*here()).pop_held()),
                _ => share::end(thread),
            }
            return;
        }
        let (construct, noun) = match kind {
            Work::Loop("static") => (Construct::Loop, STATIC.noun()),
            Work::Loop("dynamic") => (Construct::Loop, DYNAMIC.noun()),
            Work::Loop("guided") => (Construct::Loop, GUIDED.noun()),
            Work::Loop(_) => (Construct::Loop, u32::MAX),
            Work::Single => (Construct::Single, u32::MAX),
            _ => (Construct::Sections, u32::MAX),
        };
        let site = site_of_call(thread, construct, noun, (*call).entry());
        if kind == Work::Single {
            let region = enter(thread, site.filter(|_| (*here()).can_hold()));
            return (*here()).push_held(region);
        }
        share::end(thread);
        (*here()).shared = enter(thread, site);
        (*here()).is_sections = u32::from(kind == Work::Sections);
    }
}

/// The first thread of a team does what is for it alone.
unsafe extern "C" fn masks(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        if (*call).args[0] as u32 as usize == END {
            return leave(thread, (*here()).pop_held());
        }
        let site = site_of_call(thread, Construct::Masked, u32::MAX, (*call).entry());
        let region = enter(thread, site.filter(|_| (*here()).can_hold()));
        (*here()).push_held(region);
    }
}

/// A thread gets a portion of a loop or of sections.
unsafe extern "C" fn dispatches(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        if (*here()).shared != 0 {
            let part = if (*here()).is_sections != 0 { Construct::Section } else { Construct::Chunk };
            share::next_part(thread, part, (*call).entry());
        }
    }
}

unsafe extern "C" fn cancels(call: *const Call) {
    /// Of a group of tasks, in which there is no barrier that could be left out.
    const TASKGROUP: usize = 8;
    // SAFETY: as above; the rest is the thread's own memory.
    unsafe {
        if (*call).args[1] & TASKGROUP == 0
            && let Some(team) = (*here()).team
        {
            team.cancelled();
        }
    }
}

/// A thread asks for something that one at a time can have. Of a lock that it has not called for the wait is written down when it
/// gets it, for it may not: libomp up to version 14 says of a try that it waits, and of one that nests whoever has it asks again.
unsafe extern "C" fn acquires(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        let [kind, _, _, what, ..] = (*call).args;
        let kind = Mutex::of(kind);
        let has_called = saved::has_called_for(what);
        if matches!(kind, Mutex::Test | Mutex::Other) {
            return;
        }
        let Some(tables) = tables() else { return };
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        if let Some(before) = saved::gets_nothing() {
            gives_up(thread, before);
        }
        let is_held = kind == Mutex::Ordered || tables.wants(what);
        let place = if is_held { tables.notes.register(what) } else { 0 };
        let began = now(thread);
        let gets_it = match kind {
            Mutex::Lock => has_called,
            kind => kind != Mutex::NestLock,
        };
        let is_entered = is_held && gets_it;
        let region = match is_entered {
            true => enter(thread, site_of_call(thread, kind.wait(), u32::MAX, (*call).entry())),
            false => 0,
        };
        let (is_held, is_entered) = (is_held.into(), is_entered.into());
        saved::wants(saved::Wanted { what, place, began, region, is_held, is_entered });
    }
}

impl Mutex {
    /// The wait for it.
    fn wait(self) -> Construct {
        match self {
            Self::Critical => Construct::CriticalWait,
            Self::Atomic => Construct::AtomicWait,
            Self::Ordered => Construct::OrderedWait,
            Self::Lock | Self::NestLock | Self::Test | Self::Other => Construct::Lock,
        }
    }

    /// What a thread is in that has it; nothing for a lock, which may be given back anywhere.
    fn had(self) -> Option<Construct> {
        match self {
            Self::Critical => Some(Construct::Critical),
            Self::Atomic => Some(Construct::Atomic),
            Self::Ordered => Some(Construct::Ordered),
            Self::Lock | Self::NestLock | Self::Test | Self::Other => None,
        }
    }
}

/// What was asked for was not given: a lock that was tried only, or that the thread has already.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
unsafe fn gives_up(thread: *mut Thread, before: saved::Wanted) {
    // SAFETY: the caller's promise.
    unsafe { leave(thread, before.region) };
    if let Some(tables) = tables() {
        if before.place != 0 {
            tables.notes.unregister(before.place);
        }
        tables.gives_back(before.what);
    }
}

/// A lock that nests is taken once more, or given back once less than it was taken, by who has it.
unsafe extern "C" fn nests(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        let [endpoint, what, ..] = (*call).args;
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        if endpoint as u32 as usize == BEGIN
            && let Some(before) = saved::gets(what)
        {
            gives_up(thread, before);
        }
    }
}

/// Ticks that it takes to get a lock that nobody has, at most: about a microsecond, or four of a slow clock.
const FREE_TAKES: u64 = 1 << 12;

unsafe extern "C" fn acquired(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        let [kind, what, ..] = (*call).args;
        let kind = Mutex::of(kind);
        if kind == Mutex::Other {
            return;
        }
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        let Some(wanted) = saved::gets(what) else {
            // Without having asked, by a try.
            if matches!(kind, Mutex::Test | Mutex::Lock | Mutex::NestLock) {
                _ = tables().map(|tables| tables.wants(what));
                count_free_lock(thread);
            }
            return;
        };
        let note = note_of(wanted.place, what, wanted.began);
        let edge = if kind == Mutex::Ordered { EdgeKind::Wake } else { EdgeKind::LockHandOver };
        let had = kind.had();
        if had.is_some() || wanted.is_entered != 0 {
            leave_because(thread, wanted.region, u64::MAX, edge, note);
        } else {
            let span = (wanted.began, now(thread));
            // Who had it may leave its note only after it has been taken.
            let has_waited = note.is_some() || FREE_TAKES < span.1 - span.0;
            if wanted.is_held != 0 && has_waited {
                passed(
                    thread,
                    site_of_call(thread, Construct::Lock, u32::MAX, (*call).entry()),
                    span,
                    edge,
                    note,
                );
            } else {
                count_free_lock(thread);
            }
        }
        if let Some(construct) = had {
            let site = site_of_call(thread, construct, u32::MAX, (*call).entry());
            let region = enter(thread, site.filter(|_| (*here()).can_hold()));
            (*here()).push_held(region);
        }
    }
}

unsafe extern "C" fn released(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        let [kind, what, ..] = (*call).args;
        let kind = Mutex::of(kind);
        let Some(tables) = tables() else { return };
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        if matches!(kind, Mutex::Critical | Mutex::Atomic | Mutex::Ordered) {
            leave(thread, (*here()).pop_held());
        }
        if tables.notes.is_awaited(what) {
            tables.notes.leave(what, Note { thread: (*thread).serial, ticks: now(thread) });
        }
        if kind != Mutex::Ordered {
            tables.gives_back(what);
        }
    }
}

/// Tasks that were created lately, by their tickets.
static CREATED: [Created; MOST_CREATED] = [const { Created::none() }; MOST_CREATED];
/// Of more that were created and not begun, the first begin without saying who created them.
const MOST_CREATED: usize = 1 << 14;

struct Created {
    ticket: AtomicU64,
    parent: AtomicU64,
    group: AtomicU64,
    ticks: AtomicU64,
    thread: AtomicU32,
    noun: AtomicU32,
}

impl Created {
    const fn none() -> Self {
        Self {
            ticket: AtomicU64::new(0),
            parent: AtomicU64::new(0),
            group: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
            thread: AtomicU32::new(0),
            noun: AtomicU32::new(0),
        }
    }

    fn of(ticket: u64) -> &'static Self {
        &CREATED[(ticket % MOST_CREATED as u64) as usize]
    }
}

/// What we put where a task has room for us: its ticket, and this bit once it has begun.
const BEGUN: u64 = 1 << 63;
/// In the place of a ticket: a task that is none of the program's, see [`implicit`].
const OUTSIDE: u64 = 1 << 61;
/// This one instead, once its body is over and somebody has yet to say that the task is.
const DETACHED: u64 = 1 << 62;

/// A task depends on one that is not over.
unsafe extern "C" fn task_depends(call: *const Call) {
    // SAFETY: as above.
    unsafe {
        let [other, task, ..] = (*call).args;
        let ticket =
            |at: usize| (at as *const u64).as_ref().map_or(0, |word| *word & !(BEGUN | DETACHED | OUTSIDE));
        let (other, task) = (ticket(other), ticket(task));
        if other != 0 && task != 0 {
            depend::after(task, other);
        }
    }
}

unsafe extern "C" fn task_is_created(call: *const Call) {
    const EXPLICIT: usize = 4;
    // SAFETY: as above.
    unsafe {
        let [_, _, data, flags, _, address] = (*call).args;
        if flags & EXPLICIT == 0 {
            return;
        }
        let Some((_own, (runtime, thread))) = begin((*call).sp) else { return };
        let noun = noun(runtime, address);
        let region = enter(thread, site_of_call(thread, Construct::TaskCreate, noun, (*call).entry()));
        let ticket = depend::ticket();
        let created = Created::of(ticket);
        created.ticket.store(0, Ordering::Release);
        created.parent.store((*here()).task, Ordering::Relaxed);
        created.group.store((*here()).group(), Ordering::Relaxed);
        created.ticks.store(now(thread), Ordering::Relaxed);
        created.thread.store((*thread).serial, Ordering::Relaxed);
        created.noun.store(noun, Ordering::Relaxed);
        created.ticket.store(ticket, Ordering::Release);
        *(data as *mut u64) = ticket;
        leave(thread, region);
    }
}

unsafe extern "C" fn task_is_scheduled(call: *const Call) {
    /// What becomes of the task before: these are those after which it goes on some time.
    const GOES_ON: [usize; 2] = [2, 7];
    /// The event of a detached task was fulfilled, by whatever thread: nothing begins or ends there.
    const FULFILLED: [usize; 2] = [5, 6];
    const LATE: usize = 6;
    const DETACH: usize = 4;
    // SAFETY: as above.
    unsafe {
        let [prior, status, next, ..] = (*call).args;
        let status = status as u32 as usize;
        let (prior, next) = (prior as *mut u64, next as *mut u64);
        if FULFILLED.contains(&status) {
            if status == LATE
                && !prior.is_null()
                && *prior & DETACHED != 0
                && let Some((_own, (_, thread))) = begin((*call).sp)
            {
                ended(thread, *prior);
            }
            return;
        }
        let is_over = !GOES_ON.contains(&status);
        let Some((_own, (_, thread))) = begin((*call).sp) else { return };
        if is_over && !prior.is_null() && *prior & BEGUN != 0 {
            let ticket = *prior & !BEGUN;
            task_ends(thread);
            if status == DETACH {
                *prior = ticket | DETACHED;
            } else {
                *prior = 0;
                ended(thread, ticket);
            }
        }
        if !next.is_null() && *next != 0 && *next & (BEGUN | OUTSIDE) == 0 {
            task_begins(thread, *next);
            *next |= BEGUN;
        }
    }
}

unsafe fn task_begins(thread: *mut Thread, ticket: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(runtime) = Thread::runtime(thread) else { return };
        let created = Created::of(ticket);
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let is_it = created.ticket.load(Ordering::Acquire) == ticket;
        let (mut parent, mut group, mut noun) = (0, 0, u32::MAX);
        let mut creation = None;
        if is_it {
            (parent, group) = (word(&created.parent), word(&created.group));
            noun = created.noun.load(Ordering::Relaxed);
            let thread = created.thread.load(Ordering::Relaxed);
            creation = Some(Note { thread, ticks: word(&created.ticks) });
        }
        let (kind, cause) = depend::cause(ticket, creation);
        barrier::task_begins(thread, cause);
        let region = enter(thread, site_of_task(runtime, Construct::Task, noun));
        if region != 0 {
            region::because(thread, kind, cause);
        }
        saved::push(region, 0, parent as usize, 0, group);
        let team = (*here()).team;
        let is_first = (*here()).is_first;
        *here() = Here::of_task(team, number((*thread).serial));
        (*here()).is_first = is_first;
        if group != 0 {
            (*here()).push_group(group);
        }
    }
}

/// Notes that a task is over, for those that depend on it.
unsafe fn ended(thread: *mut Thread, ticket: u64) {
    // SAFETY: the caller's promise.
    let note = unsafe { Note { thread: (*thread).serial, ticks: now(thread) } };
    depend::ended(ticket & !DETACHED, note);
}

unsafe fn task_ends(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(outer) = saved::pop() else { return };
        leave(thread, outer.region);
        barrier::task_is_over(thread, outer.what as u64, outer.group);
        *here() = outer.here;
        barrier::task_ended(thread);
    }
}
