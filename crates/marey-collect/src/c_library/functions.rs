//! Whom calls are passed on to, and which of them are looked at.
//!
//! The one idea: the next definition of each function after ours is looked up once, when recording begins, for later a
//! call may come in a moment in which nothing can be looked up: in a signal handler, say.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use crate::next::next;

/// The functions of a level, by their numbers there. The instructions of [`super::wrapper`] know where what lies.
#[repr(C)]
pub(crate) struct Functions<const N: usize> {
    /// Addresses of the next functions of these names; 0 before they are known.
    real: [AtomicUsize; N],
    /// For each the site that only says which it is, plus 1; 0 while there is none.
    briefs: [AtomicU32; N],
    /// Whether a call is looked at. As long as it is not, it costs a comparison and a jump more.
    is_active: [AtomicBool; N],
    /// Their names, each with a zero byte behind it.
    names: &'static [&'static str; N],
}

impl<const N: usize> Functions<N> {
    /// Where the addresses begin, and where what is looked at.
    pub(crate) const REAL: usize = core::mem::offset_of!(Self, real);
    pub(crate) const IS_ACTIVE: usize = core::mem::offset_of!(Self, is_active);

    pub(crate) const fn new(names: &'static [&'static str; N]) -> Self {
        Self {
            real: [const { AtomicUsize::new(0) }; N],
            briefs: [const { AtomicU32::new(0) }; N],
            is_active: [const { AtomicBool::new(false) }; N],
            names,
        }
    }

    /// Has calls of a function looked at from now on.
    pub(crate) fn activate(&self, index: usize) {
        self.is_active[index].store(true, Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn is_active(&self, index: usize) -> bool {
        self.is_active[index].load(Ordering::Acquire)
    }

    /// The address of the next function after ours.
    #[inline(always)]
    pub(crate) fn address(&self, index: usize) -> usize {
        match self.real[index].load(Ordering::Relaxed) {
            0 => self.resolve(index),
            address => address,
        }
    }

    #[cold]
    fn resolve(&self, index: usize) -> usize {
        let name = CStr::from_bytes_with_nul(self.names[index].as_bytes());
        let address = match name.map_or(0, next) {
            0 => missing as *const () as usize,
            address => address,
        };
        self.real[index].store(address, Ordering::Relaxed);
        address
    }

    /// Finds all functions.
    pub(crate) fn resolve_all(&self) {
        for index in 0..N {
            self.address(index);
        }
    }

    /// The site that only says which function it is, made by `make` if there is none.
    pub(crate) fn brief(&self, index: usize, make: impl FnOnce() -> Option<u32>) -> Option<u32> {
        if let Some(site) = self.briefs[index].load(Ordering::Relaxed).checked_sub(1) {
            return Some(site);
        }
        let site = make()?;
        self.briefs[index].store(site + 1, Ordering::Relaxed);
        Some(site)
    }
}

/// The C library lacks the function; nobody who could have linked with it lands here.
extern "C" fn missing() -> isize {
    // SAFETY: the thread's own.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}
