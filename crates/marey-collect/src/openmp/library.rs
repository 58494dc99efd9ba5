//! Libraries of the process: which one an address lies in, whose it is, and what functions are in it.
//!
//! The one idea: the loader is asked, each time. Whoever asks often keeps the answer, and forgets it when a library is closed.
//!
//! Deliberately absent: what is found by name alone, in whatever library comes next, see [`crate::next`].

use core::ffi::{CStr, c_char, c_int, c_void};

use crate::next::next;

/// A library that is loaded.
#[derive(Clone, Copy)]
pub(super) struct Library {
    /// Where it begins.
    pub begin: usize,
    /// The file that it was loaded from. As long as the library is loaded.
    pub path: &'static CStr,
    /// What the loader keeps of it.
    map: *const LinkMap,
}

/// What `link.h` lays down.
#[repr(C)]
struct LinkMap {
    bias: usize,
    name: *const c_char,
    dynamic: *const Dynamic,
}

#[repr(C)]
struct Dynamic {
    tag: isize,
    value: usize,
}

/// The library that an address lies in.
pub(super) fn of(address: usize) -> Option<Library> {
    const RTLD_DL_LINKMAP: c_int = 2;
    let mut info = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let mut map = core::ptr::null_mut();
    // SAFETY: any address may be asked about; both are writable, and zeros are a valid value of them. The name of a library ends
    // with a zero byte, and lies where the library is kept.
    unsafe {
        if libc::dladdr1(address as *const c_void, info.as_mut_ptr(), &raw mut map, RTLD_DL_LINKMAP) == 0 {
            return None;
        }
        let info = info.assume_init();
        Some(Library {
            begin: info.dli_fbase as usize,
            path: CStr::from_ptr(info.dli_fname),
            map: map.cast_const().cast(),
        })
    }
}

impl Library {
    /// Whether it is the runtime of gcc: by the name that it has itself, for a file may be a link to another one's.
    pub(super) fn is_of_gcc(&self) -> bool {
        self.own_name().unwrap_or_else(|| file_name(self.path.to_bytes())).starts_with(b"libgomp")
    }

    /// What `DT_SONAME` says.
    fn own_name(&self) -> Option<&[u8]> {
        const DT_NULL: isize = 0;
        const DT_STRTAB: isize = 5;
        const DT_SONAME: isize = 14;
        if self.map.is_null() {
            return None;
        }
        let (mut names, mut at) = (None, None);
        // SAFETY: the loader has read the same list, which ends with a null; the names lie in the library and end with zero bytes.
        unsafe {
            let mut entry = (*self.map).dynamic;
            while !entry.is_null() && (*entry).tag != DT_NULL {
                match (*entry).tag {
                    DT_STRTAB => names = Some((*entry).value),
                    DT_SONAME => at = Some((*entry).value),
                    _ => {}
                }
                entry = entry.add(1);
            }
            let (names, bias) = (names?, (*self.map).bias);
            // The loader writes down where it is, but where it may not write.
            let names = if names < bias { names + bias } else { names };
            Some(CStr::from_ptr((names + at?) as *const c_char).to_bytes())
        }
    }
}

/// The function as the library that a caller lies in finds it: in the libraries that it needs.
pub(super) fn in_library_of(caller: usize, name: &CStr) -> usize {
    of(caller).map_or(0, |library| in_library(library.path, name))
}

/// The function in a library that is loaded, or those that it needs.
pub(super) fn in_library(library: &CStr, name: &CStr) -> usize {
    // SAFETY: names end with zero bytes; the handle is given back as it came, and not by our own function, which would say that a
    // library was closed.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if handle.is_null() {
            return 0;
        }
        let found = libc::dlsym(handle, name.as_ptr()) as usize;
        let close = next(c"dlclose");
        if close != 0 {
            core::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void) -> i32>(close)(handle);
        }
        // A library that needs none finds ours.
        let begin = |address| of(address).map(|library| library.begin);
        if begin(found) == begin(in_library as *const () as usize) { 0 } else { found }
    }
}

/// The function in the first runtime library that is loaded and has it.
pub(super) fn in_any_runtime(name: &CStr) -> Option<usize> {
    struct Search {
        path: [u8; libc::PATH_MAX as usize],
        /// Runtimes that have been looked at already.
        skip: usize,
        is_found: bool,
    }
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> i32 {
        // SAFETY: the loader gives a library's name, and what was given to it is a search.
        unsafe {
            let (name, search) = ((*info).dlpi_name, &mut *search.cast::<Search>());
            if name.is_null() {
                return 0;
            }
            let path = CStr::from_ptr(name).to_bytes_with_nul();
            if search.path.len() < path.len() || !is_runtime(CStr::from_ptr(name).to_bytes()) {
                return 0;
            }
            if let Some(less) = search.skip.checked_sub(1) {
                search.skip = less;
                return 0;
            }
            search.path[..path.len()].copy_from_slice(path);
            search.is_found = true;
            1
        }
    }
    for skip in 0..MOST_RUNTIMES {
        let mut search = Search { path: [0; libc::PATH_MAX as usize], skip, is_found: false };
        // SAFETY: `visit` gets what it knows.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
        let path = CStr::from_bytes_until_nul(&search.path).ok().filter(|_| search.is_found)?;
        let found = in_library(path, name);
        if found != 0 {
            return Some(found);
        }
    }
    None
}

/// More are not looked through.
const MOST_RUNTIMES: usize = 16;

/// Whether the file is a runtime library of OpenMP.
pub(crate) fn is_runtime(path: &[u8]) -> bool {
    let name = file_name(path);
    [&b"libgomp"[..], b"libomp.", b"libomp-", b"libiomp5"].iter().any(|prefix| name.starts_with(prefix))
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}
