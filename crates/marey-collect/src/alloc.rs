//! The library's own allocator.
//!
//! The measured program may have replaced `malloc`, may be inside it when it calls us (a mutex of
//! its allocator), or may have corrupted its heap. So nothing of ours is allocated there: blocks
//! come from mappings, in power-of-two classes with free lists. Memory is never given back, and
//! little is ever freed.

use core::alloc::{GlobalAlloc, Layout};

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

static ARENA: Lock<Arena> = Lock::new(Arena { next: 0, end: 0, free: [0; CLASSES] });

/// The size class of a block; `None` for those that get a mapping of their own.
fn class_of(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
    let class = (size / SMALLEST).trailing_zeros() as usize;
    (class < CLASSES && size <= CHUNK).then_some(class)
}

// SAFETY: blocks are disjoint, at least as large and aligned as asked for, and live until freed.
unsafe impl GlobalAlloc for Mapped {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let own = || sys::map_zeros(layout.size().next_multiple_of(4096)).unwrap_or(core::ptr::null_mut());
        let Some(class) = class_of(layout) else { return own() };
        // Inside the arena already means a signal handler interrupted it: a mapping does as well.
        ARENA.with(|arena| arena.take(class)).flatten().unwrap_or_else(own)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(class) = class_of(layout) else {
            // SAFETY: such blocks are mappings of their own.
            unsafe { sys::unmap(block, layout.size().next_multiple_of(4096)) };
            return;
        };
        // A block freed in a signal handler that interrupted the arena is lost; that is cheap.
        ARENA.with(|arena| {
            // SAFETY: the block is free and has room for a link.
            unsafe { block.cast::<usize>().write(arena.free[class]) };
            arena.free[class] = block as usize;
        });
    }
}

impl Arena {
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
