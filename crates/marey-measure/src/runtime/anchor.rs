//! Where a process finds its recorder, and how a forked child finds that it has none.
//!
//! Everything hangs on one page that a fork wipes ([`Anchor`]). A child that records thereby
//! notices that it is one, and begins files of its own under a new key, with the numbers and
//! definitions that it inherited. A child that records nothing costs nothing.
//!
//! Threads' own pages, which a fork wipes too, are not the matter of this file (see
//! [`crate::thread`]).

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use marey_model::spool::Definition;

use super::Runtime;
use super::process::process_definition;
use super::start::{new_files, new_modes};
use crate::clock;
use crate::definitions::Definitions;
use crate::lock::{self, Lock};
use crate::sys;
use crate::thread::Thread;

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
}

static ANCHOR: AtomicPtr<Anchor> = AtomicPtr::new(core::ptr::null_mut());
/// The same recorder, not wiped: what a child was forked from.
static LAST: AtomicPtr<Runtime> = AtomicPtr::new(core::ptr::null_mut());

/// The recorder of this process, if there is one. In a forked child that has not recorded yet
/// there is none.
#[inline]
pub fn current() -> Option<&'static Runtime> {
    let anchor = ANCHOR.load(Ordering::Acquire);
    if anchor.is_null() {
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
    // SAFETY: the anchor is mapped for ever.
    let anchor = unsafe { ANCHOR.load(Ordering::Acquire).as_ref()? };
    anchor.forking.with(|()| current().or_else(Runtime::fork)).flatten()
}

/// Fills a forked child's descriptor anew. False if that cannot be.
///
/// # Safety
/// `thread` is the wiped descriptor of the calling thread.
pub(crate) unsafe fn after_fork(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise.
    here().is_some_and(|runtime| unsafe { runtime.begin_thread(thread) })
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

/// Lets everybody find `runtime`, the first recorder of the process. `None` if there is no page for
/// the anchor.
pub(super) fn publish(runtime: &'static mut Runtime) -> Option<&'static Runtime> {
    let anchor = sys::map_zeros(sys::PAGE)?.cast::<Anchor>();
    if !sys::wipe_on_fork(anchor.cast(), sys::PAGE) {
        return None;
    }
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
    if anchor.is_sorry.swap(true, Ordering::Relaxed) {
        return;
    }
    let start = clock::triple(parent.clock);
    let (Some((key, _, file)), Some(modes)) = (new_files(&parent.config), new_modes()) else { return };
    let mut definitions = Definitions::new(file, key, start.ticks, modes, &parent.config);
    definitions.define(&process_definition(key, parent.clock, start, None));
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
        // SAFETY: recorders are never freed, and the copy is this process's own.
        let parent = unsafe { LAST.load(Ordering::Acquire).as_ref()? };
        if parent.definitions.is_held() || parent.channels.is_held() {
            say_sorry(parent);
            return None;
        }
        let start = clock::triple(parent.clock);
        let (key, events, file) = new_files(&parent.config)?;
        let modes = new_modes()?;
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
            next_thread: AtomicU32::new(0),
            serials: AtomicU64::new(parent.serials.load(Ordering::Relaxed)),
            thread_key: parent.thread_key,
            channels,
            homeless: AtomicU64::new(0),
            keeps: AtomicBool::new(parent.keeps.load(Ordering::Relaxed)),
            ended: AtomicU32::new(0),
            pid: sys::process_id(),
        }));
        runtime.define_process(start, Some((parent.key, inherited)));
        LAST.store(runtime, Ordering::Release);
        crate::table::publish(modes);
        let anchor = ANCHOR.load(Ordering::Acquire);
        // SAFETY: the anchor is mapped for ever.
        unsafe { (*anchor).runtime.store(runtime, Ordering::Release) };
        Some(runtime)
    }
}
