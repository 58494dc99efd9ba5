//! Counting the blocks of the heap in the process's file: by call path how many there were, how large, and what was
//! there at the peak.
//!
//! The one idea: all threads count in one tree, by additions that no other thread can spoil, and without ever waiting:
//! whoever frees a block is mostly not who allocated it. How the tree lies in the file, and why what each path had at
//! the process's peak need not be copied at each new one, is told in [`marey_model::spool::heap`].
//!
//! Sums are exact. Where threads allocate and free in the same instant as the heap is at its peak, what a path had then
//! may be off by the blocks that were on their way.
//!
//! Deliberately absent: the allocator and call stacks; and call paths beyond [`MAX_NODES`], of which the blocks are
//! counted together.

mod blocks;

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use marey_model::spool::Stream;
use marey_model::spool::heap::{FIRST_PATH, FIRST_WINDOW, LATER_WINDOW, NO_NODE, NODE_LEN, UNKNOWN_PATH, at};

use self::blocks::{Blocks, counted};
use crate::items::{Layout, Owner, open};
use crate::lock::Lock;
use crate::runtime::Runtime;
use crate::sys;

pub use self::blocks::Taken;

/// Call paths of a process, and regions above them: 4 MiB of them.
const MAX_NODES: usize = 1 << 16;
const LAYOUT: Layout = Layout { first: FIRST_WINDOW, later: LATER_WINDOW, item: NODE_LEN };
const WINDOWS: usize = LAYOUT.windows(MAX_NODES);
/// Places in the table of nodes.
const PLACES: usize = 2 * MAX_NODES;

/// A node in the file, see [`marey_model::spool::heap::Node`].
#[repr(C, align(16))]
struct Node {
    parent: u32,
    site: u32,
    blocks: AtomicU64,
    bytes: AtomicU64,
    freed_blocks: AtomicU64,
    freed_bytes: AtomicU64,
    high: AtomicU64,
    noted: Noted,
}

/// What a path had at the peak of this number. Changed in one piece.
#[repr(C, align(16))]
struct Noted {
    bytes: AtomicU64,
    turn: AtomicU64,
}

const _: () = assert!(size_of::<Node>() == NODE_LEN && core::mem::offset_of!(Node, noted) == 48);

/// The heap of a process. Lies on a page that a forked child finds wiped: what its parent had is not its own.
#[repr(C)]
pub struct Heap {
    /// Null where it does not count, in a forked child too.
    runtime: AtomicPtr<Runtime>,
    windows: [AtomicPtr<u8>; WINDOWS],
    /// Numbers of nodes, at places that follow from what they are.
    places: AtomicPtr<AtomicU32>,
    blocks: Blocks,
    /// There was no room when it was to begin.
    has_failed: AtomicBool,
    /// Held while a node is made: how many there are.
    len: Lock<u32>,
}

impl Heap {
    /// A place for the heap of the process that is being recorded, and of those that it forks. `None` without memory.
    pub fn allocate() -> Option<&'static Self> {
        let len = size_of::<Self>().next_multiple_of(sys::PAGE);
        let at = sys::map_zeros(len)?;
        if !sys::wipe_on_fork(at, len) {
            // SAFETY: nobody knows of it.
            unsafe { sys::unmap(at, len) };
            return None;
        }
        // SAFETY: zeros are a heap of which nothing is recorded: no recorder, no windows, a lock that nobody holds.
        Some(unsafe { &*at.cast::<Self>() })
    }

    /// Begins to count blocks of at least `least` bytes. False if there is no room for it.
    ///
    /// # Safety
    /// Nobody else begins or uses the heap yet in this process.
    pub unsafe fn begin(&self, runtime: &'static Runtime, least: u64) -> bool {
        let Some(places) = sys::map_zeros(PLACES * size_of::<AtomicU32>()) else {
            self.has_failed.store(true, Ordering::Release);
            return false;
        };
        self.places.store(places.cast(), Ordering::Release);
        let is_begun = self.len.with(|len| {
            for _ in *len..FIRST_PATH {
                self.make(runtime, len, NO_NODE, NO_NODE)?;
            }
            Some(())
        });
        if is_begun.flatten().is_none() {
            // Nobody has looked there.
            self.places.store(core::ptr::null_mut(), Ordering::Release);
            // SAFETY: mapped above.
            unsafe { sys::unmap(places, PLACES * size_of::<AtomicU32>()) };
            self.has_failed.store(true, Ordering::Release);
            return false;
        }
        self.whole(at::LEAST).store(least, Ordering::Relaxed);
        self.runtime.store(core::ptr::from_ref(runtime).cast_mut(), Ordering::Release);
        true
    }

    /// Whether it could not begin in this process: it need not be tried again.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// The recorder that it belongs to. `None` in a forked child that has not begun anew.
    #[inline(always)]
    pub fn runtime(&self) -> Option<&'static Runtime> {
        // SAFETY: recorders live as long as the process.
        unsafe { self.runtime.load(Ordering::Acquire).as_ref() }
    }

    /// Notes that a block was allocated inside the regions `open`, outermost first, by the call of `site`; if one of
    /// these is not known, its path is none. False if there was no room for it.
    #[inline]
    pub fn allocated(&self, address: usize, size: usize, open: &[u32], site: Option<u32>) -> bool {
        let node = site.and_then(|site| self.path(open, site)).unwrap_or(UNKNOWN_PATH);
        let block = Taken { node, size: counted(size), is_marked: false };
        match self.blocks.insert(address, block) {
            None => {
                self.lost(size);
                false
            }
            Some(before) => {
                if let Some(before) = before {
                    self.freed(before);
                }
                self.add(block);
                true
            }
        }
    }

    /// Takes out a block that is about to be given back. `None` if it is not recorded.
    #[inline]
    pub fn take(&self, address: usize) -> Option<Taken> {
        self.blocks.take(address)
    }

    /// Marks the block that begins at an address, as [`Self::mark`] does, in next to no time.
    pub fn mark_beginning(&self, address: usize) -> Option<(usize, Taken)> {
        self.blocks.mark_beginning(address)
    }

    /// Whether a block begins at an address.
    pub fn begins_at(&self, address: usize) -> bool {
        self.blocks.begins_at(address)
    }

    /// Marks the block that an address lies in: where it begins, and what was known of it before. How much work that was comes
    /// beside, in places of tables that were gone through.
    pub fn mark(&self, address: usize) -> (Option<(usize, Taken)>, usize) {
        self.blocks.mark(address)
    }

    /// The site of the call that allocated a block.
    pub fn site(&self, block: Taken) -> Option<u32> {
        (block.node != UNKNOWN_PATH).then(|| self.node(block.node).site).filter(|site| *site != NO_NODE)
    }

    /// Enters a block again that was taken out and has not been given back.
    pub fn put_back(&self, address: usize, block: Taken) {
        if self.blocks.insert(address, block).is_none() {
            self.freed(block);
            self.whole(at::LOST_BLOCKS).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a block that is not recorded.
    #[cold]
    pub fn lost(&self, size: usize) {
        self.whole(at::LOST_BLOCKS).fetch_add(1, Ordering::Relaxed);
        self.whole(at::LOST_BYTES).fetch_add(counted(size), Ordering::Relaxed);
    }

    fn add(&self, Taken { node, size, .. }: Taken) {
        let live = self.whole(at::LIVE).fetch_add(size, Ordering::Relaxed).wrapping_add(size);
        let node = self.node(node);
        if self.whole(at::PEAK).load(Ordering::Relaxed) < live {
            self.whole(at::PEAK).fetch_max(live, Ordering::Relaxed);
            let turn = self.whole(at::TURN);
            if turn.load(Ordering::Relaxed) & 1 == 0 {
                turn.fetch_or(1, Ordering::Relaxed);
            }
        } else {
            self.note(node);
        }
        node.blocks.fetch_add(1, Ordering::Relaxed);
        let bytes = node.bytes.fetch_add(size, Ordering::Relaxed).wrapping_add(size);
        let own = bytes.wrapping_sub(node.freed_bytes.load(Ordering::Relaxed));
        if node.high.load(Ordering::Relaxed) < own {
            node.high.fetch_max(own, Ordering::Relaxed);
        }
    }

    /// Counts that a block, which was taken out, is given back.
    #[inline]
    pub fn freed(&self, Taken { node, size, .. }: Taken) {
        let turn = self.whole(at::TURN);
        let now = turn.load(Ordering::Relaxed);
        if now & 1 == 1 {
            // The heap was at its peak until now: what each path has, it had then.
            let next = turn.compare_exchange(now, now.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed);
            if next.is_ok()
                && let Some(runtime) = self.runtime()
            {
                self.whole(at::PEAK_TICKS).store(runtime.ticks(), Ordering::Relaxed);
            }
        }
        let node = self.node(node);
        self.note(node);
        node.freed_blocks.fetch_add(1, Ordering::Relaxed);
        node.freed_bytes.fetch_add(size, Ordering::Relaxed);
        self.whole(at::LIVE).fetch_sub(size, Ordering::Relaxed);
    }

    /// Notes what a path has that is about to change, if it has not changed since the last peak.
    #[inline(always)]
    fn note(&self, node: &Node) {
        let turn = self.whole(at::TURN).load(Ordering::Relaxed) >> 1;
        if node.noted.turn.load(Ordering::Relaxed) != turn {
            note_at(node, turn);
        }
    }

    /// The node of a call inside regions, made if need be. `None` if there is no room.
    #[inline]
    fn path(&self, open: &[u32], site: u32) -> Option<u32> {
        let mut node = NO_NODE;
        for &region in open {
            node = self.child(node, region)?;
        }
        self.child(node, site)
    }

    #[inline(always)]
    fn child(&self, parent: u32, site: u32) -> Option<u32> {
        match self.find(parent, site) {
            Ok(number) => Some(number),
            Err(_) => self.make_child(parent, site),
        }
    }

    /// The number of a node, or the place where it is to be.
    #[inline(always)]
    fn find(&self, parent: u32, site: u32) -> Result<u32, usize> {
        let key = u64::from(parent).rotate_left(32) ^ u64::from(site);
        let mut place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (PLACES - 1);
        loop {
            let number = self.place(place).load(Ordering::Acquire);
            if number == 0 {
                return Err(place);
            }
            let node = self.node(number);
            if node.parent == parent && node.site == site {
                return Ok(number);
            }
            place = (place + 1) & (PLACES - 1);
        }
    }

    #[cold]
    fn make_child(&self, parent: u32, site: u32) -> Option<u32> {
        self.len
            .with(|len| {
                // Another thread may have been quicker.
                let Err(place) = self.find(parent, site) else { return self.find(parent, site).ok() };
                let number = self.make(self.runtime()?, len, parent, site)?;
                self.place(place).store(number, Ordering::Release);
                Some(number)
            })
            .flatten()
    }

    fn make(&self, runtime: &Runtime, len: &mut u32, parent: u32, site: u32) -> Option<u32> {
        let number = *len;
        if number as usize >= MAX_NODES {
            return None;
        }
        let (window, offset) = LAYOUT.place_of(number);
        if self.windows[window].load(Ordering::Relaxed).is_null() {
            let ticks = runtime.ticks();
            let owner = Owner { runtime, thread: 0, stream: Stream::Heap, ticks };
            let made = open(owner, window, LAYOUT.window_len(window))?;
            self.windows[window].store(made, Ordering::Release);
        }
        let window = self.windows[window].load(Ordering::Relaxed);
        // SAFETY: the window is mapped for ever and has room for the node, which nobody knows yet; its other bytes are
        // zeros.
        unsafe {
            window.add(offset).cast::<[u32; 2]>().write([parent, site]);
            let cursor = &*window.add(marey_model::spool::at::CURSOR).cast::<AtomicU64>();
            cursor.store((offset + NODE_LEN) as u64, Ordering::Release);
        }
        *len += 1;
        Some(number)
    }

    #[inline(always)]
    fn place(&self, place: usize) -> &AtomicU32 {
        // SAFETY: the table is there as long as the heap is in use, and has so many places.
        unsafe { &*self.places.load(Ordering::Relaxed).add(place) }
    }

    #[inline(always)]
    fn node(&self, number: u32) -> &Node {
        let (window, offset) = LAYOUT.place_of(number);
        // SAFETY: whoever knows the number has got it after the node was made; windows stay mapped.
        unsafe { &*self.windows[window].load(Ordering::Relaxed).add(offset).cast::<Node>() }
    }

    /// A word of the node of the process.
    #[inline(always)]
    fn whole(&self, offset: usize) -> &AtomicU64 {
        let (_, first) = LAYOUT.place_of(0);
        // SAFETY: the first window is there as long as the heap is in use, and the node has so many words.
        unsafe { &*self.windows[0].load(Ordering::Relaxed).add(first + offset).cast::<AtomicU64>() }
    }
}

/// Notes what a path has for the peak of number `turn`, unless another thread has done so.
#[cfg(target_arch = "x86_64")]
fn note_at(node: &Node, turn: u64) {
    let before = node.noted.turn.load(Ordering::Relaxed);
    let was = node.noted.bytes.load(Ordering::Relaxed);
    if turn <= before {
        return;
    }
    let has = node.bytes.load(Ordering::Relaxed).wrapping_sub(node.freed_bytes.load(Ordering::Relaxed));
    // In one piece: a thread that is stopped in between must not undo what is noted for a later peak.
    exchange(&node.noted, (was, before), (has, turn));
}

/// The same where two words cannot be changed at a time.
#[cfg(not(target_arch = "x86_64"))]
fn note_at(node: &Node, turn: u64) {
    let before = node.noted.turn.load(Ordering::Relaxed);
    let has = node.bytes.load(Ordering::Relaxed).wrapping_sub(node.freed_bytes.load(Ordering::Relaxed));
    if node.noted.turn.compare_exchange(before, turn, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        node.noted.bytes.store(has, Ordering::Relaxed);
    }
}

/// Puts `new` there if it still holds `old`.
#[cfg(target_arch = "x86_64")]
fn exchange(noted: &Noted, old: (u64, u64), new: (u64, u64)) {
    // SAFETY: the two words are aligned as the instruction demands, which every processor of this kind has that runs
    // a system of this century. The compiler keeps rbx for itself, so it is put aside.
    unsafe {
        core::arch::asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            inout("rsi") new.0 => _,
            in("rdi") noted,
            in("rcx") new.1,
            inout("rax") old.0 => _,
            inout("rdx") old.1 => _,
            options(nostack)
        );
    }
}
