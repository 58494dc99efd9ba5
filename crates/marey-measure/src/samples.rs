//! Counting samples in the process's file: where a thread was, each time that a period had passed.
//!
//! The one idea: a signal handler may do all of this. It takes no lock that its own thread could hold, nothing from
//! an allocator, and at most a few system calls when a window is full. How samples lie in the file, and why they are
//! right whenever the process dies, is told in [`marey_model::spool::samples`].
//!
//! Deliberately absent: timers, signals and walking stacks; and what is counted beyond [`MAX_NODES`] contexts, of
//! which only the number is known.

use core::sync::atomic::{AtomicU64, Ordering};

use marey_model::spool::samples::{
    FIRST_COUNTER, FIRST_TREE, INSTANT_LEN, LATER_TREE, NO_NODE, NODE_LEN, NodeKind,
};
use marey_model::spool::{HEAD_LEN, Head, SLACK, Stream, at};

use crate::clock;
use crate::items::{Layout, Owner, Windows};
use crate::runtime::Runtime;
use crate::sys;
use crate::thread::Thread;

/// Contexts of a thread: 8 MiB of them.
const MAX_NODES: usize = 1 << 18;
const LAYOUT: Layout = Layout { first: FIRST_TREE, later: LATER_TREE, item: NODE_LEN };
/// Places in the table of nodes at first.
const LEAST_PLACES: usize = 1 << 10;
/// The node that counts what there was no room for, the first of all.
pub(crate) const LOST: u32 = 0;
/// Bytes of a window of instants, the first and those behind it.
const LOG_WINDOWS: [usize; 2] = [8 << 10, 64 << 10];

/// Periods of threads without any window.
static NOWHERE: AtomicU64 = AtomicU64::new(0);

/// Periods of threads without any window, which are counted nowhere else; and counts anew.
pub fn take_lost_samples() -> u64 {
    NOWHERE.swap(0, Ordering::Relaxed)
}

/// A node in the file, see [`marey_model::spool::samples::Node`].
#[repr(C)]
struct Node {
    /// Number of the node above, and kind.
    what: [u32; 2],
    value: u64,
    periods: AtomicU64,
    samples: AtomicU64,
}

const _: () = assert!(size_of::<Node>() == NODE_LEN);

/// A frame of a sampled stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampledFrame {
    /// Where the function will be returned to, or where it was interrupted.
    pub address: usize,
    /// Whether it is where it was interrupted: by the sample, or by a signal that the program handles.
    pub is_place: bool,
}

/// Where a thread was.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Sites of the open regions, outermost first.
    pub open: &'a [u32],
    /// The call stack, innermost first.
    pub frames: &'a [SampledFrame],
    /// Whether it goes up to the beginning of the thread.
    pub is_complete: bool,
    /// When, ticks.
    pub ticks: u64,
    /// Periods that have passed since the sample before.
    pub weight: u32,
}

/// The samples of a thread.
pub struct Samples {
    runtime: &'static Runtime,
    thread: u32,
    period_ns: u64,
    tree: Windows<{ LAYOUT.windows(MAX_NODES) }>,
    len: u32,
    /// The node above all; [`NO_NODE`] if there is to be a new one.
    root: u32,
    /// The node that was counted last; [`NO_NODE`] before the first.
    last: u32,
    /// Numbers of nodes, plus 1, at places that follow from what they are.
    places: *mut u32,
    n_places: usize,
    log: Log,
}

/// The window that instants are written to.
struct Log {
    window: *mut u8,
    len: usize,
    cursor: usize,
    windows: u64,
    /// There is no room for another one, or no wish.
    is_over: bool,
}

impl Samples {
    /// A place for the samples of a thread, each of which stands for `period_ns` of processor time. Nothing is in
    /// the file before the first. `None` without memory.
    pub fn begin(runtime: &'static Runtime, thread: u32, period_ns: u64) -> Option<*mut Self> {
        let at = sys::map_zeros(size_of::<Self>())?.cast::<Self>();
        let places = sys::map_zeros(LEAST_PLACES * size_of::<u32>())?.cast();
        let log = Log { window: core::ptr::null_mut(), len: 0, cursor: 0, windows: 0, is_over: false };
        // SAFETY: the mapping is as long as the value and nobody else's; pages are aligned for anything.
        unsafe {
            at.write(Self {
                runtime,
                thread,
                period_ns,
                tree: Windows::none(),
                len: 0,
                root: NO_NODE,
                last: NO_NODE,
                places,
                n_places: LEAST_PLACES,
                log,
            });
        }
        Some(at)
    }

    /// From now on addresses may mean something else.
    pub fn begin_anew(&mut self) {
        self.root = NO_NODE;
    }

    /// Counts a sample, and writes down its instant if events are kept. The node that it ended in, if there was room
    /// for one.
    pub fn add(&mut self, sample: &Sample<'_>) -> Option<u32> {
        let found = self.find(sample);
        self.count(found, sample.weight, sample.ticks);
        self.last = found.unwrap_or(self.last);
        found
    }

    /// Counts `weight` periods that nobody has seen the thread in: where it was seen last, and at an unknown place if
    /// it never was.
    pub fn add_unseen(&mut self, weight: u32, ticks: u64) {
        let node = match self.last {
            NO_NODE => self.find(&Sample { open: &[], frames: &[], is_complete: false, ticks, weight }),
            last => Some(last),
        };
        self.count(node, weight, ticks);
    }

    fn count(&mut self, node: Option<u32>, weight: u32, ticks: u64) {
        match node {
            Some(node) => {
                self.add_to(node, weight.into(), 1);
                self.note(node, ticks, weight);
            }
            None if self.len > LOST => self.add_to(LOST, weight.into(), 1),
            None => _ = NOWHERE.fetch_add(weight.into(), Ordering::Relaxed),
        }
    }

    /// The node above all, made if need be. `None` if there is no room.
    pub(crate) fn root(&mut self, ticks: u64) -> Option<u32> {
        if self.root == NO_NODE {
            if self.len == LOST {
                self.make(NO_NODE, NodeKind::Lost, 0, ticks)?;
            }
            self.root = self.make(NO_NODE, NodeKind::Root, self.period_ns, ticks)?;
        }
        Some(self.root)
    }

    /// Whether a node is the one above all at the moment.
    pub(crate) fn is_root(&self, node: u32) -> bool {
        self.root == node
    }

    /// The node of a sample, made if need be. `None` if there is no room.
    fn find(&mut self, sample: &Sample<'_>) -> Option<u32> {
        let ticks = sample.ticks;
        let mut node = self.root(ticks)?;
        for &site in sample.open {
            node = self.child(node, NodeKind::Site, site.into(), ticks)?;
        }
        if !sample.is_complete {
            node = self.child(node, NodeKind::Cut, 0, ticks)?;
        }
        for frame in sample.frames.iter().rev() {
            let kind = if frame.is_place { NodeKind::Place } else { NodeKind::Call };
            node = self.child(node, kind, frame.address as u64, ticks)?;
        }
        Some(node)
    }

    /// The node beneath another, or beneath that of what there was no room for. `None` if there is no room there
    /// either.
    pub(crate) fn child_or_lost(
        &mut self,
        parent: u32,
        kind: NodeKind,
        value: u64,
        ticks: u64,
    ) -> Option<u32> {
        let child = self.child(parent, kind, value, ticks);
        if child.is_some() || self.len == LOST || kind.is_context() {
            return child;
        }
        self.child(LOST, kind, value, ticks)
    }

    /// The node beneath another, made if need be. `None` if there is no room.
    pub(crate) fn child(&mut self, parent: u32, kind: NodeKind, value: u64, ticks: u64) -> Option<u32> {
        if parent >= self.len {
            return None;
        }
        let what = [parent, kind as u32];
        let mut place = self.place_of(what, value);
        loop {
            // SAFETY: places are below their number.
            let found = unsafe { *self.places.add(place) };
            let Some(number) = found.checked_sub(1) else { break };
            // SAFETY: what the table names is there.
            let node = unsafe { &*self.node(number) };
            if node.what == what && node.value == value {
                return Some(number);
            }
            place = (place + 1) & (self.n_places - 1);
        }
        let number = self.make(parent, kind, value, ticks)?;
        // SAFETY: as above.
        unsafe { *self.places.add(place) = number + 1 };
        if 2 * self.len as usize > self.n_places {
            self.grow();
        }
        Some(number)
    }

    fn make(&mut self, parent: u32, kind: NodeKind, value: u64, ticks: u64) -> Option<u32> {
        let number = self.len;
        let owner = Owner { runtime: self.runtime, thread: self.thread, stream: Stream::Samples, ticks };
        // Where the table could not grow, a few places must stay free.
        let has_place = (number as usize) < MAX_NODES && number as usize + 8 < self.n_places;
        if !has_place || !self.tree.has_room(LAYOUT, owner, number) {
            return None;
        }
        // SAFETY: there is room for it, which nobody else knows yet.
        unsafe {
            let since = AtomicU64::new(if kind == NodeKind::Root { ticks } else { 0 });
            let node =
                Node { what: [parent, kind as u32], value, periods: AtomicU64::new(0), samples: since };
            self.node(number).write(node);
            self.tree.commit(LAYOUT, number);
        }
        self.len += 1;
        Some(number)
    }

    fn node(&self, number: u32) -> *mut Node {
        // SAFETY: the caller has seen that there is room for it.
        unsafe { self.tree.item(LAYOUT, number).cast() }
    }

    fn place_of(&self, [parent, kind]: [u32; 2], value: u64) -> usize {
        let key = value.rotate_left(23) ^ u64::from(parent) << 3 ^ u64::from(kind);
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (self.n_places - 1)
    }

    /// Gives the table twice the room; without memory for that it stays.
    fn grow(&mut self) {
        let n_places = 2 * self.n_places;
        let Some(places) = sys::map_zeros(n_places * size_of::<u32>()) else { return };
        let old = (self.places, self.n_places);
        (self.places, self.n_places) = (places.cast(), n_places);
        for number in 0..self.len {
            // SAFETY: it is the number of a node, and the table has room for all.
            unsafe {
                let node = &*self.node(number);
                let mut place = self.place_of(node.what, node.value);
                while *self.places.add(place) != 0 {
                    place = (place + 1) & (n_places - 1);
                }
                *self.places.add(place) = number + 1;
            }
        }
        // SAFETY: nobody uses the old table.
        unsafe { sys::unmap(old.0.cast(), old.1 * size_of::<u32>()) };
    }

    /// Adds to the numbers of a node.
    pub(crate) fn add_to(&self, node: u32, periods: u64, samples: u64) {
        // SAFETY: it is the number of a node. Only this thread counts, so no exchange is needed.
        let node = unsafe { &*self.node(node) };
        for (number, more) in [(&node.periods, periods), (&node.samples, samples)] {
            number.store(number.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        }
    }

    /// Writes down that a counter has counted so much more. No signal handler interrupts.
    pub(crate) fn note_counter(&mut self, number: u32, value: u64, ticks: u64) {
        // More than a word holds comes with the next ones.
        self.note(FIRST_COUNTER + number, ticks, u32::try_from(value).unwrap_or(u32::MAX));
    }

    /// Writes down when a sample was taken.
    fn note(&mut self, node: u32, ticks: u64, weight: u32) {
        if self.log.is_over || !self.runtime.keeps_events() {
            return;
        }
        if self.log.cursor + INSTANT_LEN > self.log.len && !self.next_log() {
            self.log.is_over = true;
            return;
        }
        // SAFETY: the window has room behind the cursor; readers look there only after the release store.
        unsafe {
            let at = self.log.window.add(self.log.cursor);
            at.cast::<u64>().write_unaligned(ticks);
            at.add(8).cast::<[u32; 2]>().write_unaligned([node, weight]);
            self.log.cursor += INSTANT_LEN;
            let cursor = &*self.log.window.add(at::CURSOR).cast::<AtomicU64>();
            cursor.store(self.log.cursor as u64, Ordering::Release);
        }
    }

    fn next_log(&mut self) -> bool {
        self.close_log();
        let mut head = Head {
            size: 0,
            process: self.runtime.key(),
            thread: self.thread,
            stream: Stream::Instants,
            sequence: self.log.windows,
            ticks: 0,
            triple: clock::triple(self.runtime.clock()),
            bytes_before: 0,
            serial: 0,
            buffer: 0,
            round: 0,
            is_summing: false,
        };
        let len = LOG_WINDOWS[usize::from(self.log.windows > 0)];
        let Some(window) = self.runtime.window_within_limit(&mut head, len) else { return false };
        let log = &mut self.log;
        (log.window, log.len, log.cursor) = (window, head.size as usize - SLACK, HEAD_LEN);
        log.windows += 1;
        true
    }

    fn close_log(&mut self) {
        let log = &mut self.log;
        if !log.window.is_null() {
            // SAFETY: the window was mapped with so many bytes, and is not used after this.
            unsafe { sys::unmap(log.window, log.len + SLACK) };
            (log.window, log.len, log.cursor) = (core::ptr::null_mut(), 0, 0);
        }
    }

    /// Ends the samples of a thread.
    ///
    /// # Safety
    /// `this` comes from [`Self::begin`] and is not used after this.
    pub unsafe fn end(this: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe {
            (*this).close_log();
            (*this).tree.unmap(LAYOUT);
            sys::unmap((*this).places.cast(), (*this).n_places * size_of::<u32>());
            sys::unmap(this.cast(), size_of::<Self>());
        }
    }
}

/// Puts the sites of a thread's open regions into `sites`, outermost first, as many as fit, and that of a call that
/// is announced last. How many. May be called whenever the thread was interrupted.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
pub unsafe fn open_sites(thread: *const Thread, sites: &mut [u32]) -> usize {
    // SAFETY: the caller's promise; entries below the depth are filled before it is raised.
    unsafe {
        let depth = ((*thread).depth as usize).min(sites.len());
        for (idx, site) in sites[..depth].iter_mut().enumerate() {
            *site = (*(*thread).stack.add(idx)).site;
        }
        match (sites.get_mut(depth), crate::write::announced(thread)) {
            (Some(last), Some(site)) => {
                *last = site;
                depth + 1
            }
            _ => depth,
        }
    }
}
