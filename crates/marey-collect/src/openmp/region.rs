//! What constructs are recorded as: verbs with their roles, sites, and how a region is entered.
//!
//! The one idea: a construct that the program's code calls for has the call stack of that call; one that the runtime
//! begins by itself, on a thread that was idle, has none, and its noun says what it belongs to.

use core::sync::atomic::{AtomicU32, Ordering};

use marey_measure::{Cause, Kept, Mode, Runtime, Thread, created_thread, existing_thread};
use marey_model::{EdgeKind, Role};

use super::{IS_ACTIVE, place};
use crate::entry::{Entry, is_inside};
use crate::own::{Own, local};
use crate::process;
use crate::site::{self, OPENMP_CONSTRUCTS, What};
use crate::threads::Note;

macro_rules! constructs {
    ($($name:ident $verb:literal $role:ident;)*) => {
        /// What is recorded.
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        pub(super) enum Construct { $($name,)* }

        /// Verbs and what they do.
        const VERBS: &[(&str, Role)] = &[$(($verb, Role::$role),)*];
    };
}

constructs! {
    Parallel "parallel" Create;
    Teams "teams" Create;
    ImplicitTask "implicit task" Work;
    Loop "loop" Work;
    Chunk "chunk" Work;
    Sections "sections" Work;
    Section "section" Work;
    Single "single" Work;
    Masked "masked" Work;
    Critical "critical" Work;
    CriticalWait "critical wait" Acquire;
    Atomic "atomic" Work;
    AtomicWait "atomic wait" Acquire;
    Ordered "ordered" Work;
    OrderedWait "ordered wait" Wait;
    Lock "lock" Acquire;
    Barrier "barrier" Barrier;
    TaskCreate "task create" Create;
    Taskloop "taskloop" Create;
    Task "task" Work;
    Taskwait "taskwait" Wait;
    Taskgroup "taskgroup" Wait;
    Taskyield "taskyield" Wait;
    WaitForTasks "wait for tasks" Wait;
    Idle "idle" Wait;
    Target "target" Work;
    TargetData "target data" Transfer;
    TargetEndData "target end data" Transfer;
    TargetUpdate "target update" Transfer;
    TargetEnterData "target enter data" Transfer;
    TargetExitData "target exit data" Transfer;
}

/// What a construct is called and what it does, by its number in [`What::function`].
pub(crate) fn verb(number: u32) -> Option<(&'static str, Role)> {
    VERBS.get(number.checked_sub(OPENMP_CONSTRUCTS)? as usize).copied()
}

impl Construct {
    fn with(self, noun: u32) -> What {
        What { function: OPENMP_CONSTRUCTS + self as u32, noun }
    }
}

/// A noun that has but a name, which is known from the start.
pub(super) struct Named {
    kind: &'static str,
    name: &'static str,
    /// Its number plus 1; 0 before it has one.
    number: AtomicU32,
    /// The site of a construct with it that says nothing of where it was entered from, plus 1.
    site: AtomicU32,
}

impl Named {
    pub(super) const fn new(kind: &'static str, name: &'static str) -> Self {
        Self { kind, name, number: AtomicU32::new(0), site: AtomicU32::new(0) }
    }

    pub(super) fn noun(&self) -> u32 {
        if self.name.is_empty() {
            return u32::MAX;
        }
        match self.number.load(Ordering::Relaxed) {
            0 => {
                let number = site::noun(self.kind, self.name);
                self.number.store(number.wrapping_add(1), Ordering::Relaxed);
                number
            }
            number => number - 1,
        }
    }

    /// The site of a construct with this noun, always the same one, without a stack.
    pub(super) fn site(&self, runtime: &Runtime, construct: Construct) -> Option<u32> {
        kept(&self.site, || site::without_stack(runtime, construct.with(self.noun())))
    }
}

fn kept(place: &AtomicU32, make: impl FnOnce() -> Option<marey_model::SiteId>) -> Option<u32> {
    if let Some(site) = place.load(Ordering::Relaxed).checked_sub(1) {
        return Some(site);
    }
    let site = make()?.0;
    place.store(site + 1, Ordering::Relaxed);
    Some(site)
}

/// The site of what threads do for a construct that another thread may have begun: implicit and explicit tasks, and the
/// barrier at the end.
pub(super) fn site_of_task(runtime: &Runtime, construct: Construct, noun: u32) -> Option<u32> {
    static NAMELESS: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];
    let which = match construct {
        Construct::ImplicitTask => 0,
        Construct::Task => 1,
        _ => 2,
    };
    let place = place::site(noun, which).unwrap_or(&NAMELESS[which]);
    kept(place, || site::without_stack(runtime, construct.with(noun)))
}

/// The site of a construct that code calls for. What has none is counted.
///
/// # Safety
/// `entry` is that of a call which has not returned, of the calling thread, whose descriptor `thread` is.
pub(super) unsafe fn site_of_call(
    thread: *mut Thread,
    construct: Construct,
    noun: u32,
    entry: Entry,
) -> Option<u32> {
    // SAFETY: the caller's promise.
    unsafe {
        let site = site::find(thread, construct.with(noun), entry);
        if site.is_none() {
            marey_measure::count_unrecorded(thread);
        }
        site.map(|site| site.0)
    }
}

/// The same as [`begin`] for calls of ours, of which nothing is recorded where the runtime tells of its constructs.
pub(super) fn begin_call(sp: usize) -> Option<(Own, (&'static Runtime, *mut Thread))> {
    if IS_ACTIVE.load(Ordering::Relaxed) { begin(sp) } else { None }
}

/// The recorder and the calling thread, if what comes in at stack pointer `sp` is to be recorded. Our own code runs for as
/// long as the first lives.
pub(crate) fn begin(sp: usize) -> Option<(Own, (&'static Runtime, *mut Thread))> {
    let runtime = process::running()?;
    // SAFETY: the thread's own memory.
    unsafe {
        if (*local()).own != 0 || is_inside(sp) {
            return None;
        }
        let own = Own::begin();
        let mut thread = existing_thread();
        if thread.is_null() {
            if (*local()).hidden != 0 {
                return None;
            }
            thread = created_thread(None);
        }
        (!thread.is_null()).then_some((own, (runtime, thread)))
    }
}

/// Enters a site. Its number plus 1, for whoever leaves it; 0 if it was not entered.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
pub(super) unsafe fn enter(thread: *mut Thread, site: Option<u32>) -> u32 {
    let Some(site) = site else { return 0 };
    // SAFETY: the caller's promise.
    unsafe {
        match Thread::mode(thread, site) {
            Mode::Trace => marey_measure::enter(thread, site),
            Mode::Time => marey_measure::enter_timed(thread, site, Kept::Timed),
            Mode::Count => {
                marey_measure::count(thread, site);
                return 0;
            }
            Mode::Off | Mode::Unknown => return 0,
        }
    }
    site + 1
}

/// Leaves what [`enter`] gave a number for, with all that is still open inside.
///
/// # Safety
/// As for [`enter`].
pub(super) unsafe fn leave(thread: *mut Thread, entered: u32) {
    if let Some(site) = entered.checked_sub(1) {
        // SAFETY: the caller's promise.
        unsafe { marey_measure::leave_site(thread, site) };
    }
}

/// The same, because of what another thread did. If something else is open inside there is no edge.
///
/// # Safety
/// As for [`enter`].
pub(super) unsafe fn leave_because(
    thread: *mut Thread,
    entered: u32,
    at: u64,
    kind: EdgeKind,
    note: Option<Note>,
) {
    let Some(site) = entered.checked_sub(1) else { return };
    // SAFETY: the caller's promise.
    unsafe {
        if marey_measure::innermost(thread) == Some(site) {
            marey_measure::leave_because_at(thread, at, cause(thread, kind, note));
        } else {
            marey_measure::leave_site(thread, site);
        }
    }
}

/// Says that the last record came because of what another thread did.
///
/// # Safety
/// As for [`enter`].
pub(super) unsafe fn because(thread: *mut Thread, kind: EdgeKind, note: Option<Note>) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(cause) = cause(thread, kind, note) {
            marey_measure::begin_because(thread, cause);
        }
    }
}

/// An own deed is no cause.
unsafe fn cause(thread: *mut Thread, kind: EdgeKind, note: Option<Note>) -> Option<Cause> {
    // SAFETY: the caller's promise.
    let me = unsafe { (*thread).serial };
    let note = note.filter(|note| note.thread != me)?;
    Some(Cause { kind, thread: note.thread, ticks: note.ticks, noun: 0 })
}

/// A visit that is over: from `began` to `ended`, because of what another thread did. Not where visits of it are left out.
///
/// # Safety
/// As for [`enter`].
pub(super) unsafe fn passed(
    thread: *mut Thread,
    site: Option<u32>,
    (began, ended): (u64, u64),
    kind: EdgeKind,
    note: Option<Note>,
) {
    let Some(site) = site else { return };
    // SAFETY: the caller's promise.
    unsafe {
        match Thread::mode(thread, site) {
            Mode::Trace => {
                let began = began.max((*thread).last);
                marey_measure::passed(thread, site, began, ended.max(began));
                because(thread, kind, note);
            }
            Mode::Time => _ = marey_measure::add_visit(thread, site, Some(ended.saturating_sub(began))),
            Mode::Count => marey_measure::count(thread, site),
            Mode::Off | Mode::Unknown => {}
        }
    }
}
