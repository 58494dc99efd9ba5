//! The library's own allocator.
//!
//! The measured program may have replaced `malloc`, may be inside it when it calls us (a mutex of
//! its allocator), or may have corrupted its heap. So nothing of ours is allocated there: blocks
//! come from mappings, in power-of-two classes with free lists. Memory is never given back, and
//! little is ever freed.
//!
//! Rust ends a process whose allocation fails, and a measured program must not end because of us. So
//! when there is nothing left to be mapped a reserve is given out, and whoever is about to learn
//! something new is told not to ([`is_exhausted`]).

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use marey_measure::{Lock, sys};

/// The allocator.
pub(crate) struct Mapped;

const CLASSES: usize = 16;
const SMALLEST: usize = 16;
const CHUNK: usize = 1 << 18;

struct Arena {
    next: usize,
    end: usize,
    free: [usize; CLASSES],
}

static ARENA: Lock<Arena> = Lock::new(Arena::new());

/// The size class of a block; `None` for those that get a mapping of their own.
fn class_of(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
    let class = (size / SMALLEST).trailing_zeros() as usize;
    (class < CLASSES && size <= CHUNK).then_some(class)
}

// SAFETY: blocks are disjoint, at least as large and aligned as asked for, and live until freed.
unsafe impl GlobalAlloc for Mapped {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mapped = |len: usize| sys::map_zeros(len.next_multiple_of(sys::PAGE));
        let block = match class_of(layout) {
            // Inside the arena already means a signal handler interrupted it: a mapping does as well.
            Some(class) => ARENA
                .with_or_renew(Arena::new, |arena| arena.take(class))
                .flatten()
                .or_else(|| mapped(SMALLEST << class))
                .or_else(|| from_reserve(SMALLEST << class)),
            None => mapped(layout.size()).or_else(|| from_reserve(layout.size())),
        };
        block.unwrap_or(core::ptr::null_mut())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(class) = class_of(layout) else {
            if !RESERVE.contains(block) && !FIRST_RESERVE.contains(block) {
                // SAFETY: such blocks are mappings of their own.
                unsafe { sys::unmap(block, layout.size().next_multiple_of(sys::PAGE)) };
            }
            return;
        };
        // A block freed in a signal handler that interrupted the arena is lost; that is cheap.
        let free = |arena: &mut Arena| {
            // SAFETY: the block is free and has room for a link.
            unsafe { block.cast::<usize>().write(arena.free[class]) };
            arena.free[class] = block as usize;
        };
        ARENA.with_or_renew(Arena::new, free);
    }
}

/// What is given out when nothing can be mapped any more.
struct Reserve {
    /// Address of its memory; 0 before there is any.
    start: AtomicUsize,
    len: usize,
    /// Bytes given out.
    used: AtomicUsize,
}

#[repr(align(4096))]
struct Aligned(UnsafeCell<[u8; FIRST_LEN]>);

// SAFETY: no byte is given out twice.
unsafe impl Sync for Aligned {}

/// For what is looked at in every process, measured or not. Part of the library's data, which the program's
/// limits count: so little.
const FIRST_LEN: usize = 64 << 10;
/// More than any one table of ours takes at a time, but for those of very large programs.
const RESERVE_LEN: usize = 2 << 20;
/// What is kept for small blocks, which come back into the arena when they are freed.
const KEPT_FOR_SMALL: usize = 256 << 10;
const SMALL: usize = 8 << 10;

static FIRST: Aligned = Aligned(UnsafeCell::new([0; FIRST_LEN]));
static RESERVE: Reserve = Reserve { start: AtomicUsize::new(0), len: RESERVE_LEN, used: AtomicUsize::new(0) };
static FIRST_RESERVE: Reserve =
    Reserve { start: AtomicUsize::new(0), len: FIRST_LEN, used: AtomicUsize::new(0) };
static EXHAUSTED: AtomicBool = AtomicBool::new(false);

/// To be called before a process is recorded: sets memory aside for when there is none. False without it.
pub(crate) fn prepare() -> bool {
    let Some(memory) = sys::map_zeros(RESERVE_LEN) else { return false };
    RESERVE.start.store(memory as usize, Ordering::Release);
    true
}

/// A block from what has been set aside.
fn from_reserve(len: usize) -> Option<*mut u8> {
    EXHAUSTED.store(true, Ordering::Relaxed);
    FIRST_RESERVE.start.store(FIRST.0.get() as usize, Ordering::Relaxed);
    RESERVE.take(len).or_else(|| FIRST_RESERVE.take(len))
}

impl Reserve {
    /// A block of `len` bytes, aligned to them or to a page.
    fn take(&self, len: usize) -> Option<*mut u8> {
        let start = self.start.load(Ordering::Acquire);
        let align = len.next_power_of_two().min(sys::PAGE);
        let kept = if len > SMALL { KEPT_FOR_SMALL.min(self.len / 2) } else { 0 };
        let end =
            |used: usize| Some(used.next_multiple_of(align) + len).filter(|&end| end <= self.len - kept);
        if start == 0 {
            return None;
        }
        let used = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end).ok()?;
        Some((start + used.next_multiple_of(align)) as *mut u8)
    }

    fn contains(&self, block: *mut u8) -> bool {
        let start = self.start.load(Ordering::Acquire);
        start != 0 && (block as usize).wrapping_sub(start) < self.len
    }
}

/// Whether the process has no memory left for us: nothing new is to be learnt.
pub(crate) fn is_exhausted() -> bool {
    EXHAUSTED.load(Ordering::Relaxed)
}

impl Arena {
    /// An arena without memory. A forked child begins with one if another thread of its parent was
    /// inside: what the old one had free is lost, what it gave out stays.
    const fn new() -> Self {
        Self { next: 0, end: 0, free: [0; CLASSES] }
    }

    fn take(&mut self, class: usize) -> Option<*mut u8> {
        let free = self.free[class];
        if free != 0 {
            // SAFETY: free blocks begin with a link.
            self.free[class] = unsafe { *(free as *const usize) };
            return Some(free as *mut u8);
        }
        let size = SMALLEST << class;
        let at = self.next.next_multiple_of(size);
        if self.next == 0 || at + size > self.end {
            self.next = sys::map_zeros(CHUNK.max(2 * size))? as usize;
            self.end = self.next + CHUNK.max(2 * size);
            return self.take(class);
        }
        self.next = at + size;
        Some(at as *mut u8)
    }
}
