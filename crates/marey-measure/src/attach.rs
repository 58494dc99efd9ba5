//! Finding the runtime of the process, and the calling thread's descriptor.
//!
//! Under `marey record` the preloaded library owns the runtime, and this copy of the crate — the
//! one linked into the program — writes through the library's table. Otherwise [`start`] makes
//! this copy's own runtime. A program that does neither pays one load and one comparison a region.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::path::Path;

use marey_model::spool::EndingKind;
use marey_model::{Detail, Rules};

use crate::runtime::{self, Config, Mode, Runtime};
use crate::table::{ABI_VERSION, RuntimeTable, TABLE};
use crate::thread::Thread;

/// What [`table`] found: null before it looked, [`OFF`] for nothing.
static FOUND: AtomicPtr<RuntimeTable> = AtomicPtr::new(core::ptr::null_mut());

/// An address that is no table's.
const OFF: *mut RuntimeTable = core::ptr::without_provenance_mut(1);

/// The table to record through, if anything records.
#[inline(always)]
pub(crate) fn table() -> Option<&'static RuntimeTable> {
    let found = FOUND.load(Ordering::Acquire);
    if found == OFF {
        return None;
    }
    if found.is_null() {
        return look();
    }
    // SAFETY: tables are static.
    Some(unsafe { &*found })
}

/// The table of a runtime that another copy of this crate owns, if this one writes through it.
pub(crate) fn foreign() -> Option<&'static RuntimeTable> {
    let found = FOUND.load(Ordering::Acquire);
    if found.is_null() || found == OFF || core::ptr::eq(found, &raw const TABLE) {
        return None;
    }
    // SAFETY: tables are static.
    Some(unsafe { &*found })
}

#[cold]
fn look() -> Option<&'static RuntimeTable> {
    // SAFETY: the symbol, if it is there, is a function of this type (see `marey-collect`), whose
    // result is null or a static table that begins with its version and size.
    let table = unsafe {
        let symbol = libc::dlsym(libc::RTLD_DEFAULT, c"marey_runtime".as_ptr());
        if symbol.is_null() {
            core::ptr::null()
        } else {
            core::mem::transmute::<*mut c_void, extern "C" fn(u32) -> *const RuntimeTable>(symbol)(
                ABI_VERSION,
            )
        }
    };
    // SAFETY: as above.
    let usable = !table.is_null()
        && unsafe { (*table).abi == ABI_VERSION && (*table).size as usize >= size_of::<RuntimeTable>() };
    let found = if usable { table.cast_mut() } else { OFF };
    // `start` may have been quicker; what it stored stays.
    match FOUND.compare_exchange(core::ptr::null_mut(), found, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) if usable => {
            // SAFETY: as above.
            Some(unsafe { &*table })
        }
        Ok(_) => None,
        Err(other) if other == OFF => None,
        // SAFETY: tables are static.
        Err(other) => Some(unsafe { &*other }),
    }
}

/// Records this process into `directory`, a new or existing spool directory, from now on. Not
/// needed under `marey record`. Merge with `marey merge`.
///
/// # Errors
/// If the process records already, or the directory cannot be written.
pub fn start(directory: &Path) -> std::io::Result<()> {
    start_with(Config {
        spool: directory.to_owned(),
        mode: Mode::Trace,
        rules: Rules::default(),
        is_profile: false,
        max_bytes: 0,
        budget: 0,
        stack_depth: 0,
        skew: None,
    })
}

/// The same with other settings.
///
/// # Errors
/// As for [`start`].
pub fn start_with(config: Config) -> std::io::Result<()> {
    if table().is_some() {
        return Err(std::io::Error::new(std::io::ErrorKind::AlreadyExists, "this process records already"));
    }
    std::fs::create_dir_all(&config.spool)?;
    let config = Config { spool: config.spool.canonicalize()?, ..config };
    let Some(_) = Runtime::start(config, forget_thread) else {
        return Err(std::io::Error::other("the spool cannot be written"));
    };
    // SAFETY: `process_ends` is a function of the right type.
    unsafe { libc::on_exit(process_ends, core::ptr::null_mut()) };
    FOUND.store((&raw const TABLE).cast_mut(), Ordering::Release);
    Ok(())
}

/// From now on keeps events (`true`) or only adds them up, whatever the mode was. The calling thread changes
/// at once, others when their windows are full. Nothing happens where nothing records.
pub fn keep(events: bool) {
    if let Some(table) = table() {
        (table.keep)(events.into());
    }
}

/// From now on records so much of the regions that `pattern` fits, as a rule of a filter file says it (see
/// [`marey_model::Rules`]); it counts before all others. False if the pattern is none, or nothing records.
/// Regions that are open are left as they were entered.
pub fn set_detail(detail: Detail, pattern: &str) -> bool {
    let Some(table) = table() else { return false };
    // SAFETY: the string is what its length says.
    unsafe { (table.detail)(detail as u32, pattern.as_ptr(), pattern.len()) == 1 }
}

extern "C" fn process_ends(status: i32, _: *mut c_void) {
    if let Some(runtime) = runtime::current() {
        runtime.end(EndingKind::Exit, status.into());
    }
}

unsafe extern "C" {
    // glibc; missing in the libc crate.
    #[link_name = "on_exit"]
    fn libc_on_exit(function: extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;
}

mod libc {
    pub(super) use super::libc_on_exit as on_exit;
    pub(super) use ::libc::*;
}

/// Forgets the calling thread's descriptor: it is no more.
pub extern "C" fn forget_thread() {
    // SAFETY: the slot is the calling thread's own.
    unsafe { *slot() = core::ptr::null_mut() };
}

/// The calling thread's descriptor in this copy's runtime, made if need be; null if there is no
/// runtime.
#[inline(always)]
pub fn current_thread() -> *mut Thread {
    let thread = existing_thread();
    if thread.is_null() { make_thread(None) } else { thread }
}

/// The calling thread's descriptor, null if it has none.
#[inline(always)]
pub fn existing_thread() -> *mut Thread {
    // SAFETY: the slot is the calling thread's own.
    unsafe { *slot() }
}

/// The calling thread's descriptor, which is made if need be and says then that the thread was
/// created by thread `creator` of the process.
pub fn created_thread(creator: Option<u32>) -> *mut Thread {
    let thread = existing_thread();
    if thread.is_null() { make_thread(creator) } else { thread }
}

#[cold]
fn make_thread(creator: Option<u32>) -> *mut Thread {
    let Some(thread) = runtime::here().and_then(|runtime| runtime.attach(creator)) else {
        return core::ptr::null_mut();
    };
    // SAFETY: as in `existing_thread`.
    unsafe { *slot() = thread };
    thread
}

// The pointer to the descriptor is a thread-local variable in the initial-exec model, which costs
// one load. A shared library's `thread_local!` would be reached through a call that may even
// allocate, which neither an MPI wrapper nor a signal handler can have.
#[cfg(all(target_arch = "x86_64", not(miri)))]
core::arch::global_asm!(
    ".pushsection .tbss.marey_thread,\"awT\",@nobits",
    ".hidden marey_current_thread",
    ".globl marey_current_thread",
    ".type marey_current_thread, @tls_object",
    ".size marey_current_thread, 8",
    ".p2align 3",
    "marey_current_thread:",
    ".zero 8",
    ".popsection",
);

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn slot() -> *mut *mut Thread {
    let at: *mut *mut Thread;
    // SAFETY: reads the thread pointer and adds the variable's offset from it.
    unsafe {
        core::arch::asm!(
            "mov {at}, qword ptr fs:[0]",
            "add {at}, qword ptr [rip + marey_current_thread@GOTTPOFF]",
            at = out(reg) at,
            options(nostack, readonly)
        );
    }
    at
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn slot() -> *mut *mut Thread {
    std::thread_local! {
        static CURRENT: core::cell::Cell<*mut Thread> = const { core::cell::Cell::new(core::ptr::null_mut()) };
    }
    CURRENT.with(|cell| cell.as_ptr())
}

/// The calling thread's descriptor in the runtime of the process, whichever copy owns it. This
/// copy keeps the pointer in its own slot too; the owner's thread end makes it forget.
#[inline(always)]
pub(crate) fn thread_of(table: &'static RuntimeTable) -> *mut Thread {
    let thread = existing_thread();
    if thread.is_null() { fetch_thread(table) } else { thread }
}

#[cold]
fn fetch_thread(table: &'static RuntimeTable) -> *mut Thread {
    let thread = (table.thread)();
    if !core::ptr::eq(table, &TABLE) {
        // SAFETY: as in `existing_thread`.
        unsafe { *slot() = thread };
        forget_at_thread_end();
    }
    thread
}

/// The owner wipes a thread's descriptor in the last round of thread-specific destructors. This
/// copy's pointer must be gone before that: in the first round, after which it asks again.
fn forget_at_thread_end() {
    extern "C" fn ends(_: *mut c_void) {
        forget_thread();
    }
    static KEY: std::sync::OnceLock<Option<libc::pthread_key_t>> = std::sync::OnceLock::new();
    let key = KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: `key` is writable and `ends` of the right type.
        (unsafe { libc::pthread_key_create(&mut key, Some(ends)) } == 0).then_some(key)
    });
    if let Some(key) = key {
        // SAFETY: the key was created; any value but null makes the destructor run.
        unsafe { libc::pthread_setspecific(*key, core::ptr::without_provenance(1)) };
    }
}
