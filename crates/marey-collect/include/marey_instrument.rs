//! What guards call that `marey instrument` has put into functions of Rust: the crate `marey-instrument` of the copy.
//!
//! The one idea: a guard is a statement that works in any function of any edition, with `std` or without: a static place,
//! and a value that leaves it when it goes. It talks to the recorder through the one C symbol that this exports, so it
//! needs no other crate. Started by `marey record` the program finds it; started alone, a guard looks at one variable.
//!
//! What is deliberately absent: everything else that a program may want to say; the crate `marey-measure` is for that.
//! The layout of the table is that of `crates/marey-measure/src/table.rs`.
#![no_std]

use core::ffi::{c_char, c_void};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU8, Ordering};

#[doc(hidden)]
pub use core as __core;

/// Enters a region for as long as the block lasts that this stands in.
#[macro_export]
macro_rules! guard {
    ($name:expr, $line:expr) => {
        static MAREY_SITE: $crate::Site = $crate::Site::new($name, $crate::__core::file!(), $line);
        let _marey_guard = MAREY_SITE.enter();
    };
}

/// A function or a loop.
pub struct Site {
    /// Its number plus one; 0 before it has one.
    id: AtomicU32,
    name: &'static str,
    file: &'static str,
    line: u32,
}

/// A visit of it, on the thread that entered it.
#[must_use]
pub struct Guard {
    site: u32,
    not_send: PhantomData<*mut ()>,
}

/// `RuntimeTable`, as far as it is used.
#[repr(C)]
struct Runtime {
    abi: u32,
    size: u32,
    modes: AtomicPtr<AtomicU8>,
    thread: extern "C" fn() -> *mut c_void,
    region: unsafe extern "C" fn(*const u8, usize, *const u8, usize, u32) -> u32,
    unused: [*const c_void; 12],
    enter_here: extern "C" fn(u32),
    leave_here: extern "C" fn(u32),
}

const ABI: u32 = 3;
const NONE: u32 = u32::MAX;
const OFF: u8 = 1;

/// Null before anybody looked, [`nobody`] if nothing records.
static FOUND: AtomicPtr<Runtime> = AtomicPtr::new(core::ptr::null_mut());

fn nobody() -> *mut Runtime {
    1 as *mut Runtime
}

impl Site {
    /// A place with its name.
    pub const fn new(name: &'static str, file: &'static str, line: u32) -> Self {
        Self { id: AtomicU32::new(0), name, file, line }
    }

    /// Enters it; it is left when the guard goes.
    #[inline]
    pub fn enter(&'static self) -> Guard {
        let found = FOUND.load(Ordering::Acquire);
        let site = if found == nobody() { NONE } else { self.enter_found(found) };
        Guard { site, not_send: PhantomData }
    }

    fn enter_found(&'static self, found: *mut Runtime) -> u32 {
        let found = if found.is_null() { look() } else { found };
        if found == nobody() {
            return NONE;
        }
        // SAFETY: tables are static.
        let runtime = unsafe { &*found };
        let id = self.id.load(Ordering::Acquire);
        if id != 0 {
            let modes = runtime.modes.load(Ordering::Relaxed);
            // SAFETY: the table of modes has a byte for every site that was given out.
            if unsafe { &*modes.add(id as usize - 1) }.load(Ordering::Relaxed) == OFF {
                return NONE;
            }
        }
        // It is the recorder that counts what a thread does behind its end.
        if (runtime.thread)().is_null() {
            return NONE;
        }
        let site = if id == 0 { self.define(runtime) } else { id - 1 };
        if site != NONE {
            (runtime.enter_here)(site);
        }
        site
    }

    #[cold]
    fn define(&'static self, runtime: &Runtime) -> u32 {
        let (name, file) = (self.name, self.file);
        // SAFETY: the strings are what their lengths say.
        let site =
            unsafe { (runtime.region)(name.as_ptr(), name.len(), file.as_ptr(), file.len(), self.line) };
        if site != NONE {
            self.id.store(site + 1, Ordering::Release);
        }
        site
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        if self.site != NONE {
            leave(self.site);
        }
    }
}

fn leave(site: u32) {
    // SAFETY: a site was given out by this table, which is static.
    unsafe { ((*FOUND.load(Ordering::Acquire)).leave_here)(site) }
}

#[cold]
fn look() -> *mut Runtime {
    let mut found = nobody();
    // SAFETY: the symbol, if it is there, is a function of this type, whose result is null or a static table that begins
    // with its version and size.
    unsafe {
        let symbol = find(b"marey_runtime\0".as_ptr().cast());
        if !symbol.is_null() {
            let get: extern "C" fn(u32) -> *mut Runtime = core::mem::transmute(symbol);
            let table = get(ABI);
            let is_ours = !table.is_null()
                && (*table).abi == ABI
                && (*table).size as usize >= core::mem::size_of::<Runtime>();
            if is_ours {
                found = table;
            }
        }
    }
    FOUND.store(found, Ordering::Release);
    found
}

#[cfg(target_os = "linux")]
unsafe fn find(name: *const c_char) -> *mut c_void {
    extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    dlsym(core::ptr::null_mut(), name)
}

#[cfg(not(target_os = "linux"))]
unsafe fn find(_: *const c_char) -> *mut c_void {
    core::ptr::null_mut()
}
