//! How a thread begins and ends for its recorder: its descriptor, its number, its name, its second
//! lane.
//!
//! The one idea: a descriptor is made at a thread's first event and wiped after its last destructor,
//! because destructors of other libraries may still record. What happens in between is the matter of
//! [`mod@crate::write`].

#![expect(clippy::cast_possible_truncation, reason = "codes fit their bytes")]

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, Ordering};

use marey_model::spool::{Definition, Stream, at, op};

use super::{Runtime, current};
use crate::sys;
use crate::thread::{Thread, state};
use crate::write;

/// Called on a thread when its descriptor is no more, so that whoever keeps a pointer to it forgets it.
/// Null until a recorder starts.
static FORGET: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());
/// Called on a thread that has got its descriptor. Null if nobody wants to know.
static BEGINS: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

impl Runtime {
    /// A descriptor for the calling thread, which has none yet.
    pub fn attach(&'static self, creator: Option<u32>) -> Option<*mut Thread> {
        let thread = sys::undisturbed(|| self.attach_undisturbed(creator))?;
        tell_begin(thread);
        Some(thread)
    }

    fn attach_undisturbed(&'static self, creator: Option<u32>) -> Option<*mut Thread> {
        let thread = Thread::allocate()?;
        // SAFETY: `thread` is new and given to the calling thread.
        unsafe {
            (*thread).creator = creator.map_or(0, |creator| u64::from(creator) + 1);
            self.begin_thread(thread);
            libc::pthread_setspecific(self.thread_key, thread.cast::<c_void>());
        }
        Some(thread)
    }

    /// Gives `thread` a number and its first window. Without a window it counts its events.
    ///
    /// # Safety
    /// `thread` is an empty descriptor of the calling thread.
    pub(super) unsafe fn begin_thread(&'static self, thread: *mut Thread) -> bool {
        let serial = self.next_thread.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe {
            Thread::begin(thread, serial, Stream::Events, self.clock.code());
            ((*thread).runtime, (*thread).modes) = (Some(self), self.modes);
            (*thread).last = write::now(thread);
            (*thread).born = (*thread).last;
            self.define_thread(thread, &thread_name());
            if !self.open_window(thread, 0) {
                (*thread).state = state::DROPPING;
                return false;
            }
            (*thread).ready = 1;
        }
        true
    }

    /// Writes down who a thread is. Called again it gives the thread another name: a reader keeps
    /// the last definition of a number.
    ///
    /// # Safety
    /// `thread` is a filled descriptor of the calling thread.
    pub unsafe fn define_thread(&self, thread: *const Thread, name: &str) {
        // SAFETY: the caller's promise.
        let definition = unsafe {
            Definition::Thread {
                serial: (*thread).serial,
                os_thread: (*thread).os_thread,
                name: name.to_owned(),
                ticks: (*thread).born,
                creator: (*thread).creator.checked_sub(1).and_then(|creator| u32::try_from(creator).ok()),
            }
        };
        self.define(|definitions| definitions.define(&definition));
    }
}

/// Has `begins` called on each thread that gets a descriptor from now on, also where a fork has wiped it.
pub fn tell_begins(begins: extern "C" fn(*mut Thread)) {
    BEGINS.store(begins as *mut (), Ordering::Relaxed);
}

/// Tells that the calling thread has got `thread`.
pub(super) fn tell_begin(thread: *mut Thread) {
    let begins = BEGINS.load(Ordering::Relaxed);
    if !begins.is_null() {
        // SAFETY: only `tell_begins` stores here, and it stores such a function.
        unsafe { core::mem::transmute::<*mut (), extern "C" fn(*mut Thread)>(begins)(thread) };
    }
}

/// Has `forget` called on each thread whose descriptor is no more.
pub(super) fn forget_with(forget: extern "C" fn()) {
    FORGET.store(forget as *mut (), Ordering::Relaxed);
}

/// Runs when a thread ends. Other destructors may still record, so the descriptor goes last: the
/// C library calls us again for as long as we set the value anew, up to four times.
pub(super) extern "C" fn thread_ends(value: *mut c_void) {
    let thread = value.cast::<Thread>();
    let Some(runtime) = current() else { return };
    // SAFETY: the value is the descriptor that `attach` set on this thread.
    unsafe {
        (*thread).end_rounds += 1;
        if (*thread).end_rounds < 3 {
            libc::pthread_setspecific(runtime.thread_key, value);
            return;
        }
        let forget = FORGET.load(Ordering::Relaxed);
        if !forget.is_null() {
            // SAFETY: only `start` stores here, and it stores such a function.
            core::mem::transmute::<*mut (), extern "C" fn()>(forget)();
        }
        sys::undisturbed(|| end_thread(thread));
        // Not unmapped: a destructor of another library may still hold the pointer and would, with
        // an empty descriptor, merely begin anew.
        sys::discard(thread.cast(), Thread::LEN);
    }
}

/// Ends a descriptor's stream.
///
/// # Safety
/// `thread` belongs to the calling thread.
unsafe fn end_thread(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*thread).state == state::RECORDING {
            write::write(thread, write::ROOM, |thread, scratch| {
                scratch.byte(op::THREAD_END);
                write::put_delta(thread, scratch);
            });
        }
        let second = (*thread).second.load(Ordering::Relaxed);
        if !second.is_null() {
            end_thread(second);
            sys::discard(second.cast(), Thread::LEN);
        }
        (*thread).ready = 0;
        (*thread).state = state::ENDED;
        if let Some(summing) = (*thread).summing.as_mut() {
            summing.end();
            (*thread).summing = core::ptr::null_mut();
        }
        (*thread).tally = core::ptr::null_mut();
        if let Some(beside) = (*thread).beside.as_mut() {
            beside.end();
            (*thread).beside = core::ptr::null_mut();
        }
        let (again, len) = ((*thread).again as *mut u8, (*thread).again_len as usize);
        if !again.is_null() && again as u64 != (*thread).window {
            // Its first page says how long it is.
            sys::give_back(again.add(sys::PAGE), len - sys::PAGE);
            sys::unmap(again, len);
        }
        let window = (*thread).window;
        if window != 0 {
            (*write::head_counter(thread, at::SEALED)).store((*thread).last, Ordering::Release);
            super::windows::give_back_unused(window, (*thread).window_len);
            (*thread).window = 0;
            sys::unmap(window as *mut u8, (*thread).window_len as usize);
        }
    }
}

/// The second lane of `thread`, made if need be. `None` if it cannot be, or in a handler that
/// interrupted its making.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
pub(crate) unsafe fn second(thread: *mut Thread) -> Option<*mut Thread> {
    let order = Ordering::Relaxed;
    // SAFETY: the caller's promise.
    let second = unsafe { &(*thread).second };
    match second.compare_exchange(core::ptr::null_mut(), thread, order, order) {
        Err(made) => (made != thread).then_some(made),
        Ok(_) => {
            // SAFETY: the caller's promise.
            let made = sys::undisturbed(|| unsafe { make_second(thread) });
            second.store(made.unwrap_or(core::ptr::null_mut()), order);
            made
        }
    }
}

/// # Safety
/// As for [`second`].
unsafe fn make_second(thread: *mut Thread) -> Option<*mut Thread> {
    let (runtime, second) = (current()?, Thread::allocate()?);
    // SAFETY: `thread` is the calling thread's; `second` is new.
    unsafe {
        Thread::begin(second, (*thread).serial, Stream::Second, runtime.clock.code());
        (*second).last = write::now(second);
        if !runtime.open_window(second, 0) {
            sys::unmap(second.cast(), Thread::LEN);
            return None;
        }
        (*second).ready = 1;
    }
    Some(second)
}

fn thread_name() -> String {
    let name = sys::thread_name();
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..len]).into_owned()
}
