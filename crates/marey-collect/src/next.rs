//! Whom an exported function passes its calls on to: the next of its name.
//!
//! The one idea: it is looked up when recording begins, for later a call may come in a moment in which nothing can be
//! looked up: in a signal handler, say. Whoever is called before looks it up then.

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The next function of a name after ours. Its address is the first word, for instructions that know it.
#[repr(C)]
pub(crate) struct Next {
    address: AtomicUsize,
    name: &'static CStr,
}

impl Next {
    /// That of a name with a zero byte behind it.
    pub(crate) const fn of(name: &'static str) -> Self {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Self { address: AtomicUsize::new(0), name },
            Err(_) => panic!("names end with a zero byte"),
        }
    }

    /// Its address, looked up if that has not been done; 0 if there is none.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.find(),
            address => address,
        }
    }

    /// Looks it up.
    #[cold]
    pub(crate) fn find(&self) -> usize {
        let address = next(self.name);
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// The address of the next function of this name after ours, 0 if there is none.
#[cfg(not(feature = "linked"))]
pub(crate) fn next(name: &CStr) -> usize {
    // SAFETY: the name ends with a zero byte.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) as usize }
}

/// The definition of `name` that the linker has found.
#[cfg(feature = "linked")]
pub(crate) fn next(name: &CStr) -> usize {
    crate::linked::real(name.to_bytes())
}
