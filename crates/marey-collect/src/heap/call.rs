//! A large block from its beginning to its end.
//!
//! The one idea: a block is entered after the allocator has given it out and taken out before the allocator gets it
//! back, so nobody else can have its address meanwhile.
//!
//! A handler of signals may come at any time. What it allocates while the call stacks of its thread are being looked
//! up is recorded under no path.

use core::ffi::{c_int, c_void};

use marey_measure::{Heap, Mode, Thread, existing_thread, open_sites};

use super::real::{self, Function, NAMES};
use super::{LEAST, heap, returned};
use crate::data::made;
use crate::entry::Entry;
use crate::own::{Own, local};
use crate::site::{self, HEAP_FUNCTIONS, What};

/// Stack that looking up a call path may take, bytes; with less of it left, the path is not known.
const ROOM: usize = 24 << 10;
/// Open regions that are taken, outermost first.
const MAX_OPEN: usize = 64;

/// A function of up to three words that gives back one.
type Real = unsafe extern "C" fn(usize, usize, usize) -> usize;

/// Calls the next function. 0, for no block, if there is none.
unsafe fn real(function: Function, [a, b, c]: [usize; 3]) -> usize {
    match real::address(function) {
        0 => 0,
        // SAFETY: the address is that of such a function, which gets the program's own arguments.
        address => unsafe { core::mem::transmute::<usize, Real>(address)(a, b, c) },
    }
}

/// Whether blocks of this size are recorded.
fn is_large(size: usize) -> bool {
    LEAST.load(core::sync::atomic::Ordering::Relaxed) <= size
}

/// Notes a block that the call has got: in the table, and then for those who remember that nothing was known there.
#[inline(always)]
unsafe fn allocated(function: Function, block: usize, size: usize, entry: Entry) {
    if block != 0
        && is_large(size)
        && let Some(heap) = heap()
    {
        // SAFETY: the caller's promise.
        if unsafe { enter(heap, function, (block, size), entry) } {
            made::note(block, size);
        }
    }
}

/// Enters a block with the call path of the call; false if it is not to be entered, or there is no room.
unsafe fn enter(heap: &Heap, function: Function, (block, size): (usize, usize), entry: Entry) -> bool {
    let thread = existing_thread();
    if thread.is_null() {
        return heap.allocated(block, size, &[], None);
    }
    // SAFETY: the thread's own.
    if unsafe { (*local()).own } != 0 || !site::is_free(entry.sp, ROOM) {
        return heap.allocated(block, size, &[], None);
    }
    // Calls of other kinds that a handler makes meanwhile must not look up stacks either.
    let _own = Own::begin();
    let what = What { function: HEAP_FUNCTIONS + function as u32, noun: u32::MAX };
    let mut open = [0; MAX_OPEN];
    // SAFETY: the descriptor is the calling thread's, and the call has not returned.
    unsafe {
        let n_open = open_sites(thread, &mut open);
        let site = site::find(thread, what, entry);
        if let Some(site) = site
            && Thread::mode(thread, site.0) == Mode::Off
        {
            return false;
        }
        heap.allocated(block, size, &open[..n_open], site.map(|site| site.0))
    }
}

/// Says that a block is given back of which somebody wants to know.
#[cold]
fn gone(heap: &Heap, block: usize) {
    if let Some(runtime) = heap.runtime() {
        let _own = Own::begin();
        crate::data::buffers::gone(runtime, block);
    }
}

/// In a forked child: begins its own heap, if it is recorded by now.
#[cold]
pub(super) fn begin_anew(heap: &'static Heap) -> Option<&'static Heap> {
    let runtime = crate::process::running().filter(|_| !heap.has_failed())?;
    made::begin_anew();
    let least = LEAST.load(core::sync::atomic::Ordering::Relaxed);
    static BEGINS: marey_measure::Lock<()> = marey_measure::Lock::new(());
    BEGINS.with_or_renew(
        || (),
        |()| {
            if heap.runtime().is_none() && !heap.has_failed() {
                // SAFETY: others wait here.
                unsafe { heap.begin(runtime, least as u64) };
            }
        },
    );
    heap.runtime().map(|_| heap)
}

pub(super) unsafe extern "C" fn malloc(size: usize, _: usize, _: usize, sp: usize, bp: usize) -> *mut c_void {
    // SAFETY: the program's own arguments, and where its call came from.
    unsafe {
        if real::address(Function::malloc) == 0 {
            return real::early(size, 1);
        }
        let block = real(Function::malloc, [size, 0, 0]);
        allocated(Function::malloc, block, size, Entry { sp, bp });
        block as *mut c_void
    }
}

pub(super) unsafe extern "C" fn calloc(n: usize, size: usize, _: usize, sp: usize, bp: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        if real::address(Function::calloc) == 0 {
            return real::early(n.saturating_mul(size), 1);
        }
        let block = real(Function::calloc, [n, size, 0]);
        allocated(Function::calloc, block, n.saturating_mul(size), Entry { sp, bp });
        block as *mut c_void
    }
}

pub(super) unsafe extern "C" fn realloc(
    old: usize,
    size: usize,
    _: usize,
    sp: usize,
    bp: usize,
) -> *mut c_void {
    let again = |old: usize| {
        // SAFETY: the program's own arguments.
        unsafe { real(Function::realloc, [old, size, 0]) }
    };
    // SAFETY: as above.
    unsafe { changed(Function::realloc, (old, size), Entry { sp, bp }, again) }
}

pub(super) unsafe extern "C" fn reallocarray(
    old: usize,
    n: usize,
    size: usize,
    sp: usize,
    bp: usize,
) -> *mut c_void {
    let again = |old: usize| {
        // Where another one allocates, its `realloc` is what the C library finds by the name.
        if heap().is_none() && real::address(Function::reallocarray) != 0 {
            // SAFETY: the program's own arguments.
            return unsafe { real(Function::reallocarray, [old, n, size]) };
        }
        let Some(bytes) = n.checked_mul(size) else {
            // SAFETY: the thread's own.
            unsafe { *libc::__errno_location() = libc::ENOMEM };
            return 0;
        };
        // By `realloc`, which the C library's own would call by its name, and so find here again.
        // SAFETY: the program's own arguments.
        unsafe { real(Function::realloc, [old, bytes, 0]) }
    };
    // SAFETY: as above.
    unsafe { changed(Function::reallocarray, (old, n.saturating_mul(size)), Entry { sp, bp }, again) }
}

/// A block that is to have another size.
unsafe fn changed(
    function: Function,
    (old, size): (usize, usize),
    entry: Entry,
    again: impl Fn(usize) -> usize,
) -> *mut c_void {
    if let Some(most) = real::of_reserve(old) {
        // SAFETY: the new block is as long as asked for, the old one ends at the end of the reserve at the latest.
        unsafe {
            let block = malloc(size, 0, 0, entry.sp, entry.bp);
            if !block.is_null() {
                core::ptr::copy_nonoverlapping(old as *const u8, block.cast(), size.min(most));
            }
            return block;
        }
    }
    if real::address(Function::realloc) == 0 {
        return real::early(size, 1);
    }
    let heap = if old == 0 { None } else { heap() };
    let before = heap.and_then(|heap| heap.take(old));
    if before.is_some() {
        // Before another thread can have it.
        returned::note(old);
    }
    let block = again(old);
    if let (Some(heap), Some(before)) = (heap, before) {
        // With the size 0 the block is gone, and there is none.
        if block == 0 && size != 0 {
            heap.put_back(old, before);
            // Meanwhile nothing was known there.
            made::note(old, before.size as usize);
        } else {
            heap.freed(before);
            if before.is_marked {
                gone(heap, old);
            }
        }
    }
    // SAFETY: as above.
    unsafe { allocated(function, block, size, entry) };
    block as *mut c_void
}

pub(super) unsafe extern "C" fn free(block: usize) {
    if block == 0 || real::of_reserve(block).is_some() {
        return;
    }
    if let Some(heap) = heap()
        && let Some(before) = heap.take(block)
    {
        heap.freed(before);
        returned::note(block);
        if before.is_marked {
            gone(heap, block);
        }
    }
    // SAFETY: the program's own argument.
    unsafe { real(Function::free, [block, 0, 0]) };
}

pub(super) unsafe extern "C" fn posix_memalign(
    to: *mut usize,
    align: usize,
    size: usize,
    sp: usize,
    bp: usize,
) -> c_int {
    // SAFETY: as above; where it has succeeded the block is written down.
    unsafe {
        if real::address(Function::posix_memalign) == 0 {
            to.write(real::early(size, align) as usize);
            return if *to == 0 { libc::ENOMEM } else { 0 };
        }
        let result = real(Function::posix_memalign, [to as usize, align, size]) as c_int;
        if result == 0 {
            allocated(Function::posix_memalign, *to, size, Entry { sp, bp });
        }
        result
    }
}

/// Functions of an alignment and a size.
macro_rules! aligned {
    ($($name:ident)*) => {$(
        pub(super) unsafe extern "C" fn $name(
            align: usize,
            size: usize,
            _: usize,
            sp: usize,
            bp: usize,
        ) -> *mut c_void {
            // SAFETY: as above.
            unsafe {
                if real::address(Function::$name) == 0 {
                    return real::early(size, align);
                }
                let block = real(Function::$name, [align, size, 0]);
                allocated(Function::$name, block, size, Entry { sp, bp });
                block as *mut c_void
            }
        }
    )*};
}

/// Functions of a size whose blocks begin with a page.
macro_rules! paged {
    ($($name:ident)*) => {$(
        pub(super) unsafe extern "C" fn $name(
            size: usize,
            _: usize,
            _: usize,
            sp: usize,
            bp: usize,
        ) -> *mut c_void {
            // SAFETY: as above.
            unsafe {
                if real::address(Function::$name) == 0 {
                    return real::early(size, 4096);
                }
                let block = real(Function::$name, [size, 0, 0]);
                allocated(Function::$name, block, size, Entry { sp, bp });
                block as *mut c_void
            }
        }
    )*};
}

aligned! { aligned_alloc memalign }
paged! { valloc pvalloc }

const _: () = assert!(NAMES.len() == Function::free as usize + 1);
