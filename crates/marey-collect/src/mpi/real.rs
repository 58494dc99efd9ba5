//! Whom a call is passed on to.
//!
//! The real function is the next `MPI_x` behind ours, else the next `PMPI_x` (and for a call that
//! came in as `PMPI_x` the other way round), so that another preloaded tool is passed through and
//! not around. What we ask of MPI for ourselves goes to the library directly: a tool behind us
//! must not count it as the program's.

use core::ffi::CStr;
#[cfg(not(feature = "linked"))]
use core::ffi::c_void;
#[cfg(not(feature = "linked"))]
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::{AtomicUsize, Ordering};
#[cfg(not(feature = "linked"))]
use std::ffi::CString;

use super::table::{FUNCTIONS, N_FUNCTIONS};

static REAL: [AtomicUsize; 2 * N_FUNCTIONS] = [const { AtomicUsize::new(0) }; 2 * N_FUNCTIONS];
#[cfg(not(feature = "linked"))]
static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// One number for the function `index` of the table and by which of its names it is called: by its `P`
/// name, if `profiling`.
pub(super) const fn numbered(index: usize, profiling: bool) -> usize {
    index << 1 | profiling as usize
}

/// Address of the function that a call of `function`, a number of [`numbered`], is passed on to.
#[inline(always)]
pub(crate) fn real(function: usize) -> usize {
    match REAL[function].load(Ordering::Relaxed) {
        0 => find(function),
        address => address,
    }
}

#[cfg(feature = "linked")]
#[cold]
fn find(function: usize) -> usize {
    let name = FUNCTIONS[function >> 1].name;
    let address = match crate::linked::real(name.as_bytes()) {
        0 => missing as *const () as usize,
        address => address,
    };
    REAL[function].store(address, Ordering::Relaxed);
    address
}

#[cfg(not(feature = "linked"))]
#[cold]
fn find(function: usize) -> usize {
    let (name, profiling) = (FUNCTIONS[function >> 1].name, function & 1 == 1);
    let plain = CString::new(name).unwrap_or_default();
    let with_p = CString::new(format!("P{name}")).unwrap_or_default();
    let order = if profiling { [&with_p, &plain] } else { [&plain, &with_p] };
    let next = |name: &CString| {
        // SAFETY: the name ends with a zero byte.
        unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) as usize }
    };
    let found = order
        .iter()
        .map(|name| next(name))
        .chain(order.iter().map(|name| in_library(name)))
        .find(|&address| address != 0);
    // Only a program that calls what its own MPI does not have gets here.
    let address = found.unwrap_or(missing as *const () as usize);
    REAL[function].store(address, Ordering::Relaxed);
    address
}

/// Stands for a function that no library has: `MPI_ERR_OTHER`, whose value is 15 or 16.
extern "C" fn missing() -> usize {
    15
}

/// A function of the MPI library itself, for our own questions.
#[cfg(feature = "linked")]
pub(crate) fn in_library(name: &CStr) -> usize {
    crate::linked::real(name.to_bytes().strip_prefix(b"P").unwrap_or_default())
}

/// A function of the MPI library itself, for our own questions.
#[cfg(not(feature = "linked"))]
pub(crate) fn in_library(name: &CStr) -> usize {
    let library = library();
    if library.is_null() {
        return 0;
    }
    // SAFETY: `library` is a handle and the name ends with a zero byte.
    unsafe { libc::dlsym(library, name.as_ptr()) as usize }
}

#[cfg(not(feature = "linked"))]
/// The MPI library's handle. It need not be reachable by name from here: Python loads it privately.
pub(crate) fn library() -> *mut c_void {
    let known = LIBRARY.load(Ordering::Acquire);
    if !known.is_null() {
        return known;
    }
    let mut found: *mut c_void = core::ptr::null_mut();
    // SAFETY: `visit` gets a pointer to `found`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    LIBRARY.store(found, Ordering::Release);
    found
}

#[cfg(not(feature = "linked"))]
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> i32 {
    // SAFETY: the loader gives a valid record with a name that ends with a zero byte.
    unsafe {
        let path = (*info).dlpi_name;
        if path.is_null() || !is_mpi(CStr::from_ptr(path).to_bytes()) {
            return 0;
        }
        let handle = libc::dlopen(path, libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if handle.is_null() || libc::dlsym(handle, c"PMPI_Init".as_ptr()).is_null() {
            return 0;
        }
        *data.cast::<*mut c_void>() = handle;
    }
    1
}

#[cfg(not(feature = "linked"))]
/// Whether the file is the C library of an MPI, not one of its Fortran or tool layers.
fn is_mpi(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    [&b"libmpi.so"[..], b"libmpich.so", b"libmpi_abi.so", b"libmpi_intel.so", b"libmpi_cray.so"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// A question of ours to the MPI library: a function that returns an error code.
macro_rules! ask {
    ($name:ident ( $($arg:expr),* )) => {{
        static ADDRESS: ::core::sync::atomic::AtomicUsize = ::core::sync::atomic::AtomicUsize::new(0);
        let mut address = ADDRESS.load(::core::sync::atomic::Ordering::Relaxed);
        if address == 0 {
            let name = concat!(stringify!($name), "\0");
            address = ::core::ffi::CStr::from_bytes_with_nul(name.as_bytes())
                .map_or(0, $crate::mpi::real::in_library);
            ADDRESS.store(address, ::core::sync::atomic::Ordering::Relaxed);
        }
        if address == 0 {
            false
        } else {
            // SAFETY: the address is that of the MPI function of this name, whose parameters are
            // machine words; the caller gives valid ones.
            unsafe {
                let function: unsafe extern "C" fn($($crate::mpi::real::word!($arg)),*) -> i32 =
                    ::core::mem::transmute(address);
                function($($arg as usize),*) == 0
            }
        }
    }};
}
pub(crate) use ask;

macro_rules! word {
    ($arg:expr) => {
        usize
    };
}
pub(crate) use word;
