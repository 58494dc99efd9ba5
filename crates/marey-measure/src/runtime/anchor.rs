//! Where a process finds its recorder, and how a forked child finds that it has none.
//!
//! Everything hangs on one page that a fork wipes ([`Anchor`]). A child that records thereby
//! notices that it is one, and begins files of its own under a new key, with the numbers and
//! definitions that it inherited. A child that records nothing costs nothing.
//!
//! Threads' own pages, which a fork wipes too, are not the matter of this file (see
//! [`crate::thread`]).

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use marey_model::spool::{Definition, at};

use super::Runtime;
use super::process::process_definition;
use super::start::{new_files, new_modes};
use crate::clock;
use crate::definitions::{Definitions, MAX_SITES};
use crate::lock::{self, Lock};
use crate::sys;
use crate::thread::{Thread, state};

/// The page that a fork wipes.
#[repr(C)]
struct Anchor {
    runtime: AtomicPtr<Runtime>,
    /// Held while a child makes its recorder. Here, because a fork must not copy it held.
    forking: Lock<()>,
    /// What tells locks that they were copied by a fork.
    generation: AtomicU64,
    /// Whether this process, which cannot be recorded, has said so.
    is_sorry: AtomicBool,
    /// How often a recorder for this forked process has been asked for in vain.
    tries: AtomicU32,
}

static ANCHOR: AtomicPtr<Anchor> = AtomicPtr::new(core::ptr::null_mut());
/// The same recorder, not wiped: what a child was forked from.
static LAST: AtomicPtr<Runtime> = AtomicPtr::new(core::ptr::null_mut());

/// The recorder of this process, if there is one. In a forked child that has not recorded yet
/// there is none.
#[inline]
pub fn current() -> Option<&'static Runtime> {
    let anchor = ANCHOR.load(Ordering::Acquire);
    if anchor.is_null() || clock::is_lost() {
        return None;
    }
    // SAFETY: the anchor is mapped for ever, and recorders are never freed.
    unsafe { (*anchor).runtime.load(Ordering::Acquire).as_ref() }
}

/// The recorder of this process, which a forked child makes if it has none yet.
#[inline]
pub(crate) fn here() -> Option<&'static Runtime> {
    current().or_else(fork_recorder)
}

#[cold]
fn fork_recorder() -> Option<&'static Runtime> {
    if clock::is_lost() {
        return None;
    }
    // SAFETY: the anchor is mapped for ever.
    let anchor = unsafe { ANCHOR.load(Ordering::Acquire).as_ref()? };
    anchor.forking.with(|()| current().or_else(|| try_fork(anchor))).flatten()
}

/// Tries to make a forked child's recorder. What fails may succeed later, when the program has closed a file
/// or has memory again; but each try costs some system calls, so they become rare.
fn try_fork(anchor: &Anchor) -> Option<&'static Runtime> {
    let tries = anchor.tries.fetch_add(1, Ordering::Relaxed);
    if tries & tries.wrapping_sub(1) != 0 {
        return None;
    }
    // What the parent knows of, and the child is sorry for by itself.
    let children = parent().and_then(|parent| parent.tally(at::CHILDREN));
    let made = Runtime::fork();
    if let Some(children) = children.filter(|_| !anchor.is_sorry.load(Ordering::Relaxed)) {
        match (tries, made.is_some()) {
            (0, false) => _ = children.fetch_add(1, Ordering::Relaxed),
            (1.., true) => _ = children.fetch_sub(1, Ordering::Relaxed),
            _ => {}
        }
    }
    made
}

/// To be called when the calling thread may not read a clock any more. From now on its events are only
/// counted, and nothing new begins to be recorded in the process.
pub fn lose_clock() {
    clock::lose();
    let thread = crate::attach::existing_thread();
    // SAFETY: the descriptors are the calling thread's own; signal handlers find them so or so.
    unsafe {
        if let Some(thread) = thread.as_mut() {
            (thread.state, thread.ready, thread.timing) = (state::DROPPING, 0, 0);
            let second = thread.second.load(Ordering::Relaxed);
            if !second.is_null() && second != core::ptr::from_mut(thread) {
                ((*second).state, (*second).ready) = (state::DROPPING, 0);
            }
        }
    }
}

/// What this process was forked from, as long as it has no recorder of its own.
pub(super) fn parent() -> Option<&'static Runtime> {
    // SAFETY: recorders are never freed, and the copy is this process's own.
    unsafe { LAST.load(Ordering::Acquire).as_ref() }
}

/// Fills a forked child's descriptor anew. False if that cannot be.
///
/// # Safety
/// `thread` is the wiped descriptor of the calling thread.
pub(crate) unsafe fn after_fork(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise.
    let is_there = here().is_some_and(|runtime| unsafe { runtime.begin_thread(thread) });
    if is_there {
        super::threads::tell_begin(thread);
    }
    is_there
}

/// In a forked child that has not recorded yet: gives it its own recorder, if the calling thread
/// had a descriptor in the parent. Nothing happens otherwise.
pub fn revive() {
    let thread = crate::attach::existing_thread();
    if current().is_none() && !thread.is_null() && !LAST.load(Ordering::Acquire).is_null() {
        // SAFETY: without a recorder the descriptor is one that the fork has wiped.
        unsafe { after_fork(thread) };
    }
}

/// A page for the anchor.
pub(super) fn new_page() -> Option<*mut u8> {
    let page = sys::map_zeros(sys::PAGE)?;
    sys::wipe_on_fork(page, sys::PAGE).then_some(page)
}

/// Lets everybody find `runtime`, the first recorder of the process, by way of `page`, which comes from
/// [`new_page`].
pub(super) fn publish(runtime: &'static mut Runtime, page: *mut u8) -> Option<&'static Runtime> {
    let anchor = page.cast::<Anchor>();
    let modes = runtime.modes;
    let runtime: *mut Runtime = runtime;
    // SAFETY: the page is mapped and zero, which is a null pointer.
    unsafe {
        (*anchor).runtime.store(runtime, Ordering::Release);
        lock::count_generations(&raw mut (*anchor).generation);
    }
    LAST.store(runtime, Ordering::Release);
    // Whoever finds the recorder finds its modes.
    crate::table::publish(modes);
    ANCHOR.store(anchor, Ordering::Release);
    current()
}

/// Writes down, once, that this child of the recorded process `parent` is not recorded.
fn say_sorry(parent: &Runtime) {
    // SAFETY: the anchor is mapped for ever.
    let Some(anchor) = (unsafe { ANCHOR.load(Ordering::Acquire).as_ref() }) else { return };
    if anchor.is_sorry.load(Ordering::Relaxed) {
        return;
    }
    let start = clock::triple(parent.clock);
    let (Some((key, _, file)), Some(modes)) = (new_files(&parent.config), new_modes()) else { return };
    let mut definitions = Definitions::new(file, key, start.ticks, modes, &parent.config);
    if !definitions.define(&process_definition((key, parent.pair_cost()), parent.clock, start, None)) {
        return definitions.remove();
    }
    anchor.is_sorry.store(true, Ordering::Relaxed);
    definitions.define(&Definition::Trouble {
        kind: "missing".to_owned(),
        count: 1,
        detail: "not recorded: forked while its parent was making definitions".to_owned(),
    });
}

impl Runtime {
    /// The recorder of a forked child. The parent's memory has been copied in whatever state it
    /// was; if another thread was making definitions in that moment, the copy is unusable and the
    /// child records nothing but that.
    fn fork() -> Option<&'static Self> {
        let parent = parent()?;
        if parent.definitions.is_held() || parent.channels.is_held() {
            say_sorry(parent);
            return None;
        }
        let start = clock::triple(parent.clock);
        let modes = new_modes()?;
        let Some((key, events, file)) = new_files(&parent.config) else {
            // SAFETY: nobody knows of the table.
            unsafe { sys::unmap(modes, MAX_SITES) };
            return None;
        };
        // SAFETY: nobody else runs in this process, and the parent's value is not used after this.
        let (definitions, channels) = unsafe {
            (core::ptr::read(&raw const parent.definitions), core::ptr::read(&raw const parent.channels))
        };
        let inherited = definitions.with(|definitions| {
            let written = definitions.written();
            definitions.inherit(file, key, start.ticks, modes);
            written
        })?;
        let runtime = Box::leak(Box::new(Self {
            key,
            config: parent.config.clone(),
            clock: parent.clock,
            events,
            definitions,
            modes,
            gaps: parent.gaps,
            pair_cost: AtomicU64::new(0),
            next_thread: AtomicU32::new(0),
            serials: AtomicU64::new(parent.serials.load(Ordering::Relaxed)),
            thread_key: parent.thread_key,
            channels,
            tally: AtomicPtr::new(core::ptr::null_mut()),
            keeps: AtomicBool::new(parent.keeps.load(Ordering::Relaxed)),
            ended: AtomicU32::new(0),
            pid: sys::process_id(),
        }));
        if !runtime.define_process(start, Some((parent.key, inherited))) {
            // Nothing has been written, and the parent's definitions are as they were. The table of modes
            // stays, because the copy has a pointer to it.
            runtime.events.remove();
            runtime.define(|definitions| definitions.remove());
            return None;
        }
        LAST.store(runtime, Ordering::Release);
        crate::table::publish(modes);
        let anchor = ANCHOR.load(Ordering::Acquire);
        // SAFETY: the anchor is mapped for ever.
        unsafe { (*anchor).runtime.store(runtime, Ordering::Release) };
        Some(runtime)
    }
}
