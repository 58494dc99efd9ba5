//! Channels — (direction, communicator, peer, tag) — and the counts of their messages.
//!
//! A program that never uses a tag twice makes a channel for each message, so one must be cheap to
//! make: half a line of memory in a slab, and a cell of four bytes in a table that finds it. Both are
//! mapped by themselves, in growing pieces and filled by the kernel in one go: no allocator, and
//! hardly a page fault.
//!
//! A process has one set of channels, threads have nothing of their own. What a reader of one thread's
//! stream expects of a channel is only remembered for the stream that used it last, for once another
//! one has counted on the channel, the next number surprises the reader anyway.
//!
//! Deliberately absent: removing channels. A number may still be asked for when the communicator is
//! gone.

#![expect(clippy::cast_possible_truncation, reason = "hashes and counts are cut to size on purpose")]

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::sys;

/// Whether several threads may be inside MPI at once. Without that a counter needs no locked
/// instruction, which would cost more than all the rest of a message record.
static CONCURRENT: AtomicBool = AtomicBool::new(false);

/// To be called when the program has got `MPI_THREAD_MULTIPLE`.
pub fn set_concurrent() {
    CONCURRENT.store(true, Ordering::Relaxed);
}

/// Whether several threads may be inside MPI at once.
#[inline(always)]
pub fn is_concurrent() -> bool {
    CONCURRENT.load(Ordering::Relaxed)
}

/// What tells a channel from the others.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(C)]
pub(crate) struct Key {
    pub(crate) communicator: u32,
    pub(crate) peer: i32,
    pub(crate) tag: i32,
    pub(crate) kind: Kind,
}

/// What goes through a channel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u32)]
pub(crate) enum Kind {
    #[default]
    Sent,
    Received,
    /// The collective operations of a communicator, which have no peer and no tag.
    Collective,
}

/// A channel: two to a line.
#[repr(C, align(32))]
pub(crate) struct Channel {
    /// Messages that have passed.
    counter: AtomicU64,
    /// The window's generation of the stream that used the channel last, and in the lower half the
    /// number that a reader of it expects next, as far as that holds it. One word, so that threads
    /// which use the channel at once cannot mix theirs.
    expected: AtomicU64,
    key: Key,
}

impl Channel {
    /// Messages that have passed.
    #[inline(always)]
    pub(crate) fn number(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }

    /// Counts a message. Messages that have passed before.
    #[inline(always)]
    pub(crate) fn count_up(&self) -> u64 {
        if is_concurrent() {
            return self.counter.fetch_add(1, Ordering::Relaxed);
        }
        let number = self.number();
        self.counter.store(number + 1, Ordering::Relaxed);
        number
    }

    /// Whether a reader that goes by the window of this generation alone would not expect `number`,
    /// which `step` messages take from now on.
    ///
    /// Only the window's own stream writes its generation here, and what it wrote last is what it
    /// finds, unless another has been here since.
    #[inline(always)]
    pub(crate) fn surprises(&self, generation: u32, number: u64, step: u64) -> bool {
        let view = |number: u64| u64::from(generation) << 32 | u64::from(number as u32);
        let surprises = self.expected.load(Ordering::Relaxed) != view(number);
        self.expected.store(view(number.wrapping_add(step)), Ordering::Relaxed);
        surprises
    }
}

/// The generation of windows when numbers have run out: never the same as another one.
pub(crate) const VOID: u32 = u32::MAX;

/// A number for a window that no other has had in this process or those that it was forked from.
pub(crate) fn next_generation() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let next = |last: u32| Some(last.saturating_add(1));
    let (Ok(last) | Err(last)) = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    last.saturating_add(1)
}

/// All channels of a process, in the order in which they came up.
pub(crate) struct Channels {
    /// Slab `n` has room for `FIRST << n` channels.
    slabs: [*mut Channel; SLABS],
    len: u32,
    /// The table has two to the power of this many cells; 0 before there is one.
    bits: u32,
    /// In the lower `bits` of a cell the channel's place, counted from 1, above a part of its hash. 0
    /// in a cell that is free.
    cells: *mut u32,
}

// SAFETY: the memory belongs to the value, and channels, which do not, are atomic and live for ever.
unsafe impl Send for Channels {}

/// Channels in a page.
const FIRST: u32 = (sys::PAGE / size_of::<Channel>()) as u32;
const SLABS: usize = 24;
/// Cells in a page.
const FIRST_BITS: u32 = 10;
/// Bytes that are asked of the kernel at a time: not many for a program that has just begun a slab.
const STEP: usize = 64 << 10;

impl Channels {
    pub(crate) const fn new() -> Self {
        Self { slabs: [core::ptr::null_mut(); SLABS], len: 0, bits: 0, cells: core::ptr::null_mut() }
    }

    /// The channel of `key`, which is made if need be. `None` without memory for it.
    pub(crate) fn find(&mut self, key: Key) -> Option<&'static Channel> {
        let hash = hash(key);
        if self.bits != 0 {
            let mask = self.mask();
            let mut cell = self.home(hash);
            loop {
                // SAFETY: cells are numbered below two to the power of `bits`.
                let found = unsafe { *self.cells.add(cell) };
                if found == 0 {
                    break;
                }
                if (found ^ hash as u32) & !mask == 0 {
                    let channel = self.at((found & mask) - 1);
                    if channel.key == key {
                        return Some(channel);
                    }
                }
                cell = (cell + 1) & mask as usize;
            }
        }
        self.add(key, hash)
    }

    #[inline(never)]
    fn add(&mut self, key: Key, hash: u64) -> Option<&'static Channel> {
        // One cell must stay free, or searches would not end.
        let crowded = |share: u64, channels: &Self| {
            channels.bits == 0 || u64::from(channels.len) + 2 > (share << channels.bits) / 16
        };
        if crowded(12, self) && !self.grow() && crowded(15, self) {
            return None;
        }
        let (slab, idx) = place(self.len);
        let room = (FIRST as usize) << slab;
        let start = self.slabs.get_mut(slab)?;
        if start.is_null() {
            *start = sys::map_zeros(size_of::<Channel>() * room)?.cast();
        }
        // SAFETY: the slab has room for so many channels, and nobody knows this one yet.
        let channel = unsafe {
            let channel = start.add(idx);
            let (at, left) = (idx * size_of::<Channel>(), (room - idx) * size_of::<Channel>());
            if at.is_multiple_of(STEP) {
                sys::populate(channel.cast(), STEP.min(left));
            }
            (*channel).key = key;
            &*channel
        };
        self.len += 1;
        self.enter(self.len, hash);
        Some(channel)
    }

    /// Finds the channel at `place`, counted from 1, by its hash from now on.
    fn enter(&mut self, place: u32, hash: u64) {
        let mask = self.mask();
        let mut cell = self.home(hash);
        // SAFETY: cells are numbered below two to the power of `bits`.
        unsafe {
            while *self.cells.add(cell) != 0 {
                cell = (cell + 1) & mask as usize;
            }
            *self.cells.add(cell) = hash as u32 & !mask | place;
        }
    }

    /// Makes a larger table. False without memory for it.
    #[cold]
    fn grow(&mut self) -> bool {
        let bits = if self.bits == 0 { FIRST_BITS } else { self.bits + 1 };
        if bits >= u32::BITS {
            return false;
        }
        let len = size_of::<u32>() << bits;
        let Some(cells) = sys::map_zeros(len) else { return false };
        sys::populate(cells, len);
        let (old, old_len) = (self.cells, size_of::<u32>() << self.bits);
        (self.cells, self.bits) = (cells.cast(), bits);
        for idx in 0..self.len {
            self.enter(idx + 1, hash(self.at(idx).key));
        }
        if !old.is_null() {
            // SAFETY: all that was in the old table is in the new one.
            unsafe { sys::unmap(old.cast(), old_len) };
        }
        true
    }

    fn at(&self, idx: u32) -> &'static Channel {
        let (slab, idx) = place(idx);
        // SAFETY: places below `len` are in slabs that are mapped for ever.
        unsafe { &*self.slabs[slab].add(idx) }
    }

    fn home(&self, hash: u64) -> usize {
        (hash >> (u64::BITS - self.bits)) as usize
    }

    /// The part of a cell that is a place.
    fn mask(&self) -> u32 {
        (1 << self.bits) - 1
    }
}

/// The slab of a channel, and its place there.
fn place(idx: u32) -> (usize, usize) {
    let nth = u64::from(idx) + u64::from(FIRST);
    let slab = nth.ilog2() - FIRST.ilog2();
    (slab as usize, (nth - (u64::from(FIRST) << slab)) as usize)
}

/// The upper bits choose a cell, the lower ones go into it.
fn hash(key: Key) -> u64 {
    let who = u64::from(key.communicator) << 32 | u64::from(key.peer.cast_unsigned());
    let what = u64::from(key.tag.cast_unsigned()) << 32 | u64::from(key.kind as u32);
    let mixed =
        who.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ what.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0x517c_c1b7_2722_0a95);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(idx: i32) -> Key {
        let kind = [Kind::Sent, Kind::Received, Kind::Collective][idx.unsigned_abs() as usize % 3];
        Key { communicator: idx.unsigned_abs() % 7, peer: idx % 11 - 2, tag: idx / 5 - 1, kind }
    }

    /// Enough for several slabs and tables. Keys repeat, as their parts have different periods.
    #[test]
    fn every_channel_is_found_again_and_no_two_are_one() {
        let mut channels = Channels::new();
        let mut model = rustc_hash::FxHashMap::default();
        for idx in 0..100_000 {
            let Key { communicator, peer, tag, kind } = key(idx);
            let number = model.entry((communicator, peer, tag, kind as u32)).or_insert(0_u64);
            assert_eq!(channels.find(key(idx)).expect("there is memory").count_up(), *number, "{idx}");
            *number += 1;
        }
        assert_eq!(channels.len as usize, model.len());
        assert!(model.len() > 50_000);
        for idx in 0..100_000 {
            let Key { communicator, peer, tag, kind } = key(idx);
            let number = channels.find(key(idx)).expect("it is there").number();
            assert_eq!(number, model[&(communicator, peer, tag, kind as u32)], "{idx}");
        }
    }

    #[test]
    fn a_number_is_expected_by_the_stream_that_came_last_alone() {
        let mut channels = Channels::new();
        let channel = channels.find(key(1)).expect("there is memory");
        let (one, other) = (next_generation(), next_generation());
        let surprises = |generation, step| {
            let number = if step == 0 { channel.number() } else { channel.count_up() };
            channel.surprises(generation, number, step)
        };
        let seen =
            [(one, 1), (one, 1), (one, 0), (one, 1), (other, 1), (other, 1), (one, 1), (one, 0), (one, 1)];
        let seen = seen.map(|(generation, step)| surprises(generation, step));
        assert_eq!(seen, [true, false, false, false, true, false, true, false, false]);
        // Somebody counts without saying so.
        channel.count_up();
        assert!(surprises(one, 1));
    }
}
