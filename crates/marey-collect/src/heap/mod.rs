//! Memory: which call paths allocate how much of the heap, how much of that was there at once, and what is never freed.
//!
//! The one idea: large blocks are few, and small ones are passed on at once. A block counts from a threshold on
//! ([`begin`]); what is smaller costs a comparison when it is allocated, and when it is freed one look at the size that
//! the C library keeps before each block. A large block gets the call path of its allocation, like a call of MPI,
//! inside the regions that are open, and is counted in a tree in the process's file ([`marey_measure::Heap`]).
//!
//! C++'s `new`, Fortran's `ALLOCATE` and what Rust allocates end in these functions. What is counted is what was asked
//! for, without what an allocator adds to it. A block that `realloc` makes larger or smaller is freed and allocated
//! anew, by the path of `realloc`.
//!
//! * [`entry`]: how calls come in. * [`real`]: whom they are passed on to. * [`call`]: a large block from its beginning
//!   to its end. * [`returned`]: where there has been one before.
//!
//! What is deliberately absent: allocators other than the C library's, whose blocks say nothing of their size (the
//! report says where there is one); memory that is mapped (`mmap`) or comes from MPI by other ways than these
//! functions; forked children that record nothing else; and the times of single blocks.

mod call;
mod entry;
mod real;
mod returned;

pub(crate) use returned::was_used;

use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use marey_measure::{Heap, Runtime};
use marey_model::spool::Definition;

/// Blocks of at least so many bytes are recorded. 0 before it is known whom calls are passed on to; none are at
/// `usize::MAX`.
static LEAST: AtomicUsize = AtomicUsize::new(0);
/// The least size of a block, as the C library keeps it, that may be recorded.
static LEAST_CHUNK: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Null while nothing is recorded.
static HEAP: AtomicPtr<Heap> = AtomicPtr::new(core::ptr::null_mut());

/// What the C library adds to the size of a block: the word before it.
const HEADER: usize = size_of::<usize>();

/// What the functions of this level are called, by their numbers in [`crate::site::What::function`].
pub(crate) fn verb(number: u32) -> Option<&'static str> {
    let index = number.checked_sub(crate::site::HEAP_FUNCTIONS)?;
    real::NAMES.get(index as usize).copied()
}

/// To be called when the process begins to be recorded: from then on large blocks are, if the environment says how
/// large.
pub(crate) fn begin(runtime: &'static Runtime) {
    let least = std::env::var("MAREY_HEAP").ok().and_then(|text| text.parse::<usize>().ok());
    let Some(least) = least.map(|least| least.max(1)).filter(|_| !cfg!(feature = "system-allocator")) else {
        return;
    };
    if let Err(why) = real::is_the_c_library() {
        return tell(runtime, &why);
    }
    let Some(heap) = Heap::allocate() else { return tell(runtime, "there is no memory for it") };
    // SAFETY: nobody else knows of it.
    if !unsafe { heap.begin(runtime, least as u64) } {
        return tell(runtime, "there is no room for it");
    }
    HEAP.store(core::ptr::from_ref(heap).cast_mut(), Ordering::Release);
    LEAST_CHUNK.store(least.saturating_add(HEADER), Ordering::Relaxed);
    entry::watch();
    LEAST.store(least, Ordering::Release);
}

fn tell(runtime: &Runtime, why: &str) {
    let detail = format!("memory is not recorded: {why}");
    let trouble = Definition::Trouble { kind: "no_heap".to_owned(), count: 1, detail };
    runtime.define(|definitions| definitions.define(&trouble));
}

/// The heap, if it is recorded in this process.
#[inline(always)]
pub(crate) fn heap() -> Option<&'static Heap> {
    // SAFETY: heaps are never unmapped.
    let heap = unsafe { HEAP.load(Ordering::Acquire).as_ref() }?;
    match heap.runtime() {
        Some(_) => Some(heap),
        None => call::begin_anew(heap),
    }
}
