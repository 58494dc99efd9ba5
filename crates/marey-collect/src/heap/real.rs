//! Whom calls are passed on to: the next functions of their names, which are looked up at the first call.
//!
//! The one idea: the first call comes from the loader, long before anything of ours is initialised, and decides once
//! for all. Looking up names may allocate in turn (old C libraries keep room for an error message); these few bytes
//! come from a reserve of ours, and are never given back.

use core::ffi::CStr;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use super::{LEAST, entry};

macro_rules! functions {
    ($($name:ident)*) => {
        /// The functions that are passed on, by their numbers.
        #[expect(non_camel_case_types, reason = "the names are those of the C library")]
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(super) enum Function { $($name,)* }

        /// What they are called.
        pub(super) const NAMES: [&str; [$(Function::$name),*].len()] = [$(stringify!($name)),*];

        const C_NAMES: [&str; NAMES.len()] = [$(concat!(stringify!($name), "\0")),*];
    };
}

functions! { malloc calloc realloc reallocarray posix_memalign aligned_alloc memalign valloc pvalloc free }

/// Addresses of the next functions; 0 before they are known, and of those that there are none of.
pub(super) static REAL: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const LOOKING: u8 = 1;
const KNOWN: u8 = 2;

/// The address of the next function; 0 if there is none, or it is being looked for.
pub(super) fn address(function: Function) -> usize {
    if STATE.load(Ordering::Acquire) != KNOWN {
        find();
    }
    REAL[function as usize].load(Ordering::Relaxed)
}

/// Looks all of them up, if nobody else is doing that.
#[cold]
fn find() {
    if STATE.compare_exchange(UNKNOWN, LOOKING, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return;
    }
    for (real, name) in REAL.iter().zip(C_NAMES) {
        let name = CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default();
        // SAFETY: the name ends with a zero byte.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        real.store(next as usize, Ordering::Relaxed);
    }
    entry::pass_on(USED.load(Ordering::Relaxed) != 0);
    STATE.store(KNOWN, Ordering::Release);
    LEAST.store(usize::MAX, Ordering::Release);
}

/// Whether the program allocates by way of this library from the C library; if not, why.
pub(super) fn is_the_c_library() -> Result<(), String> {
    // The address of our own function would be looked up by its name, which the program may have taken.
    let here = (&raw const STATE).cast();
    for name in [c"malloc", c"calloc", c"realloc", c"free"] {
        // SAFETY: the name ends with a zero byte.
        let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if base(first) != base(here) {
            return Err(format!("{} has an allocator of its own, which comes first", module(first)));
        }
    }
    // By a name that only the C library has: allocators take over `__libc_malloc` and its like too.
    // SAFETY: as above.
    let of_c = unsafe { libc::dlsym(libc::RTLD_NEXT, c"gnu_get_libc_version".as_ptr()) };
    for function in [Function::malloc, Function::calloc, Function::realloc, Function::free] {
        let next = address(function) as *const c_void;
        if of_c.is_null() || base(next) != base(of_c) {
            return Err(format!("{} has an allocator of its own", module(next)));
        }
    }
    // What valgrind puts in the place of these functions keeps no size before a block.
    // SAFETY: as above.
    if !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_vgnU_freeres".as_ptr()) }.is_null() {
        return Err("valgrind has an allocator of its own".to_owned());
    }
    Ok(())
}

fn look_up(address: *const c_void) -> libc::Dl_info {
    let mut found = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `found` is writable, and zeros are a valid value of it.
    unsafe {
        libc::dladdr(address, found.as_mut_ptr());
        found.assume_init()
    }
}

fn base(address: *const c_void) -> *mut c_void {
    look_up(address).dli_fbase
}

/// The name of the file that holds an address.
fn module(address: *const c_void) -> String {
    let name = look_up(address).dli_fname;
    if name.is_null() {
        return "the program".to_owned();
    }
    // SAFETY: the loader's names end with a zero byte.
    let path = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// What is given out while names are looked up.
const RESERVE: usize = 16 << 10;

#[repr(align(16))]
struct Reserve(core::cell::UnsafeCell<[u8; RESERVE]>);

// SAFETY: no byte is given out twice.
unsafe impl Sync for Reserve {}

static EARLY: Reserve = Reserve(core::cell::UnsafeCell::new([0; RESERVE]));
static USED: AtomicUsize = AtomicUsize::new(0);

/// A block of zeros from the reserve; null if there is no room.
pub(super) fn early(size: usize, align: usize) -> *mut c_void {
    let align = align.max(16);
    let end = |used: usize| {
        let end = used.next_multiple_of(align).checked_add(size)?;
        Some(end).filter(|&end| end <= RESERVE && align <= 4096)
    };
    match USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end) {
        Ok(used) => EARLY.0.get().cast::<u8>().wrapping_add(used.next_multiple_of(align)).cast(),
        Err(_) => core::ptr::null_mut(),
    }
}

/// Bytes from an address to the end of the reserve; `None` if it is not in there.
pub(super) fn of_reserve(address: usize) -> Option<usize> {
    let start = EARLY.0.get() as usize;
    (start..start + RESERVE).contains(&address).then(|| start + RESERVE - address)
}
