//! The MPE library behind us, if the program is linked with one.
//!
//! It gets every call, so that a program leaves the file that it always has left, and it gives out the
//! numbers. What it calls itself, some of which comes by us again, is not the program's: it is passed on
//! unrecorded.

use core::cell::Cell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A function of the next library.
pub(super) struct Next {
    name: &'static CStr,
    /// Its address; 0 before anybody looked, [`MISSING`] if there is none.
    at: AtomicUsize,
}

const MISSING: usize = 1;

std::thread_local! {
    /// Whether the thread is inside that library.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

impl Next {
    pub(super) const fn new(name: &'static CStr) -> Self {
        Self { name, at: AtomicUsize::new(0) }
    }

    /// Its address.
    #[inline(always)]
    pub(super) fn address(&self) -> Option<usize> {
        let at = match self.at.load(Ordering::Relaxed) {
            0 => self.look(),
            at => at,
        };
        (at != MISSING).then_some(at)
    }

    #[cold]
    fn look(&self) -> usize {
        // SAFETY: the name ends with a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) as usize };
        let found = if found == 0 { MISSING } else { found };
        self.at.store(found, Ordering::Relaxed);
        found
    }
}

/// Calls `function`. The second value says whether it was called from inside the library.
#[cold]
pub(super) fn inside<R>(function: impl FnOnce() -> R) -> (R, bool) {
    let was_inside = INSIDE.replace(true);
    let result = function();
    INSIDE.set(was_inside);
    (result, was_inside)
}

/// Passes a call on: `Some` of its result and of whether it came from that library itself.
macro_rules! pass_on {
    ($name:ident ( $($arg:expr),* )) => {{
        static NEXT: $crate::mpe::next::Next = $crate::mpe::next::Next::new({
            match ::core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("the zero byte is the last one"),
            }
        });
        NEXT.address().map(|address| {
            $crate::mpe::next::inside(|| {
                // SAFETY: the address is that of the function of this name, whose arguments and result
                // are machine words; it gets the program's.
                unsafe {
                    let function: unsafe extern "C" fn($($crate::mpi::real::word!($arg)),*) -> i32 =
                        ::core::mem::transmute(address);
                    function($($arg as usize),*)
                }
            })
        })
    }};
}
pub(super) use pass_on;
