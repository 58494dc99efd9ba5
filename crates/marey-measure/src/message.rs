//! Halves of messages and parts in collective operations.
//!
//! Programs repeat themselves: the same peer, tag, size and buffer come again and again. So what
//! a half *is* goes into one of 256 slots of the window once, and each repetition takes two bytes.
//! Channels — (direction, communicator, peer, tag) — count their messages whether or not anything
//! is recorded, so that the two ends can be matched by number even across a gap.

use marey_model::spool::{Direction, SLOTS, op};

use crate::channel::{Channel, Key, Kind, VOID};
pub use crate::channel::{is_concurrent, set_concurrent};
use crate::runtime::Runtime;
use crate::thread::Thread;
use crate::write::Scratch;

/// That no datum is known of a buffer.
pub const NO_DATA: u32 = u32::MAX;
/// Data that halves can name.
pub const MOST_DATA: u32 = 1 << 24;

/// One half of a message. Peers and tags are in marey's own terms (see
/// [`marey_model::spool::ANY_SOURCE`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Half {
    /// Which half.
    pub direction: Direction,
    /// The communicator's number.
    pub communicator: u32,
    /// The other side's rank.
    pub peer: i32,
    /// The tag.
    pub tag: i32,
    /// The datatype's number.
    pub datatype: u32,
    /// Bytes moved.
    pub bytes: u64,
    /// The count argument.
    pub count: u64,
    /// The buffer's address.
    pub buffer: u64,
    /// The number of the datum that it lies in, below [`MOST_DATA`]; [`NO_DATA`] if that is not known.
    pub data: u32,
}

/// One member's part in a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The communicator's number.
    pub communicator: u32,
    /// The root's rank, −1 where there is none.
    pub root: i32,
    /// Bytes given.
    pub bytes_out: u64,
    /// Bytes got.
    pub bytes_in: u64,
    /// The numbers of the data that are given and got; [`NO_DATA`] for none.
    pub data: [u32; 2],
}

/// Slots of the window for halves.
pub(crate) type MessageSlots = [Slot<6>; SLOTS];
/// Slots of the window for parts in collective operations.
pub(crate) type CollectiveSlots = [Slot<5>; SLOTS];

/// The half of a word that says nothing of the generation.
const LOWER: u64 = u32::MAX as u64;

/// A slot of the window: one line.
#[repr(C, align(64))]
pub(crate) struct Slot<const WORDS: usize> {
    /// What it stands for; in the upper half of the first word, for the window of which generation. 0
    /// in a slot that was never filled.
    what: [u64; WORDS],
    channel: *const Channel,
    /// Which of its two places a thing takes whose first is this slot, when both are in use.
    next: bool,
}

/// Slots are as many as a byte can name.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "`hash` gives eight bits")]
const fn slot_byte(idx: usize) -> u8 {
    idx as u8
}

/// The two slots in which a thing may be. The multiplications do not wait for each other.
#[inline(always)]
fn hash(words: [u64; 4]) -> [usize; 2] {
    const FACTORS: [u64; 4] =
        [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x517c_c1b7_2722_0a95, 0xd6e8_feb8_6659_fd93];
    let products = [0, 1, 2, 3].map(|idx| words[idx].wrapping_mul(FACTORS[idx]));
    let sum = (products[0] ^ products[1]).wrapping_add(products[2] ^ products[3]);
    [(sum >> 56) as usize, (sum >> 48) as usize % SLOTS]
}

/// Whether two packed things are the same, found without a branch for each word.
#[inline(always)]
fn is_same<const N: usize>(one: &[u64; N], other: &[u64; N]) -> bool {
    (0..N).fold(0, |different, idx| different | one[idx] ^ other[idx]) == 0
}

/// The slot for `what`, one of `two`, and whether it stands for that already. With one place alone two
/// halves of a loop that meet there would both be written down each time. With two, one of them soon is
/// where nobody else is, as long as no more than half of the slots are in use (Pagh and Rodler 2001).
#[inline(always)]
fn place<const N: usize>(slots: &mut [Slot<N>; SLOTS], what: &[u64; N], two: [usize; 2]) -> (usize, bool) {
    if is_same(&slots[two[0]].what, what) {
        return (two[0], true);
    }
    second_place(slots, what, two)
}

#[inline(never)]
fn second_place<const N: usize>(
    slots: &mut [Slot<N>; SLOTS],
    what: &[u64; N],
    two: [usize; 2],
) -> (usize, bool) {
    if is_same(&slots[two[1]].what, what) {
        return (two[1], true);
    }
    let mut any_generation = [u64::MAX; N];
    any_generation[0] = LOWER;
    // One that has stood for it in another window has its channel.
    let stood_for_it = |idx: &usize| slots[*idx].agrees(what, &any_generation);
    let is_void = |idx: &usize| (slots[*idx].what[0] ^ what[0]) >> 32 != 0;
    let free = two.into_iter().find(stood_for_it).or_else(|| two.into_iter().find(is_void));
    let idx = free.unwrap_or_else(|| {
        let first = &mut slots[two[0]];
        first.next = !first.next;
        two[usize::from(first.next)]
    });
    (idx, false)
}

/// The slot of the window that stands for `half`, which is written down if it is new, and the
/// message counted. At most 94 bytes.
///
/// # Safety
/// `thread` is the calling thread's descriptor, inside [`crate::write()`].
#[inline]
pub unsafe fn slot(runtime: &Runtime, thread: *mut Thread, scratch: &mut Scratch, half: &Half) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { slot_counting(runtime, thread, scratch, half, (Channel::count_up, 1)) }
}

/// Like [`slot`] for a receive that is merely posted: its message is counted when it is there.
///
/// # Safety
/// As for [`slot`].
#[inline]
pub unsafe fn posted_slot(runtime: &Runtime, thread: *mut Thread, scratch: &mut Scratch, half: &Half) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { slot_counting(runtime, thread, scratch, half, (Channel::number, 0)) }
}

#[inline(always)]
unsafe fn slot_counting(
    runtime: &Runtime,
    thread: *mut Thread,
    scratch: &mut Scratch,
    half: &Half,
    // How to count, and by how much: the shared counter itself may have gone on meanwhile.
    (count, step): (fn(&Channel) -> u64, u64),
) -> u8 {
    // SAFETY: `idx` is below 256; the channels of slots live for ever.
    unsafe {
        let generation = (*thread).generation;
        let what = half.packed(generation);
        // Not by the generation: a slot keeps its channel from window to window.
        let two = hash([what[1], what[2], what[3] << 1 | what[0] & 1, what[5] ^ what[4] << 48]);
        let (idx, is_known) = place(&mut (*thread).messages, &what, two);
        let slot = &mut (*thread).messages[idx];
        if !is_known {
            slot.fill(&what, &[1, u64::MAX, !LOWER, 0, 0, 0], || find(runtime, half.channel()));
        }
        let (mut number, mut surprises) = (0, true);
        if let Some(channel) = slot.channel.as_ref() {
            number = count(channel);
            surprises = channel.surprises(generation, number, step);
        }
        if !is_known || surprises {
            write_signature(thread, scratch, idx, half, number);
        }
        slot_byte(idx)
    }
}

unsafe fn write_signature(thread: *mut Thread, scratch: &mut Scratch, idx: usize, half: &Half, number: u64) {
    // SAFETY: the caller's promise (see `slot`).
    unsafe {
        let step = half.buffer.wrapping_sub((*thread).buffer).cast_signed();
        (*thread).buffer = half.buffer;
        scratch.byte(op::SIGNATURE);
        scratch.byte(slot_byte(idx));
        scratch.byte(u8::from(half.direction == Direction::Receive));
        scratch.number(half.communicator.into());
        scratch.signed(half.peer.into());
        scratch.signed(half.tag.into());
        scratch.number(half.bytes);
        scratch.number(half.count);
        scratch.number(half.datatype.into());
        scratch.signed(step);
        scratch.number(half.data.wrapping_add(1).into());
        scratch.number(number);
    }
}

/// The slot of the window that stands for `part`, like [`slot`].
///
/// # Safety
/// As for [`slot`].
#[inline]
pub unsafe fn collective_slot(
    runtime: &Runtime,
    thread: *mut Thread,
    scratch: &mut Scratch,
    part: &Part,
) -> u8 {
    let whose = u64::from(part.communicator) << 32 | u64::from(part.root.cast_unsigned());
    let data = u64::from(part.data[0]) << 32 | u64::from(part.data[1]);
    let two = hash([whose, part.bytes_out, part.bytes_in, data]);
    // SAFETY: as in `slot`.
    unsafe {
        let generation = (*thread).generation;
        let what = [u64::from(generation) << 32, whose, part.bytes_out, part.bytes_in, data];
        let (idx, is_known) = place(&mut (*thread).collectives, &what, two);
        let slot = &mut (*thread).collectives[idx];
        if !is_known {
            let communicator = part.communicator;
            let key = Key { communicator, peer: 0, tag: 0, kind: Kind::Collective };
            slot.fill(&what, &[0, !LOWER, 0, 0, 0], || find(runtime, key));
        }
        let (mut number, mut surprises) = (0, true);
        if let Some(channel) = slot.channel.as_ref() {
            number = channel.count_up();
            surprises = channel.surprises(generation, number, 1);
        }
        if is_known && !surprises {
            return slot_byte(idx);
        }
        scratch.byte(op::COLLECTIVE_SIGNATURE);
        scratch.byte(slot_byte(idx));
        scratch.number(part.communicator.into());
        scratch.signed(part.root.into());
        scratch.number(part.bytes_out);
        scratch.number(part.bytes_in);
        part.data.iter().for_each(|data| scratch.number(data.wrapping_add(1).into()));
        scratch.number(number);
        slot_byte(idx)
    }
}

/// Distance of a nonblocking operation's serial number from the last one that the stream named.
///
/// # Safety
/// As for [`slot`].
#[inline(always)]
pub unsafe fn put_serial(thread: *mut Thread, scratch: &mut Scratch, serial: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        scratch.signed(serial.wrapping_sub((*thread).serial_seen).cast_signed());
        (*thread).serial_seen = serial;
    }
}

/// How far before the last one that the stream named a nonblocking operation was begun.
///
/// # Safety
/// As for [`slot`].
#[inline(always)]
pub unsafe fn put_back(thread: *mut Thread, scratch: &mut Scratch, serial: u64) {
    // SAFETY: the caller's promise.
    scratch.signed(unsafe { (*thread).serial_seen }.wrapping_sub(serial).cast_signed());
}

impl Half {
    #[inline(always)]
    fn packed(&self, generation: u32) -> [u64; 6] {
        let pair = |upper: u32, lower: u32| u64::from(upper) << 32 | u64::from(lower);
        [
            pair(
                generation,
                self.data.wrapping_add(1) << 1 | u32::from(self.direction == Direction::Receive),
            ),
            pair(self.communicator, self.peer.cast_unsigned()),
            pair(self.tag.cast_unsigned(), self.datatype),
            self.bytes,
            self.count,
            self.buffer,
        ]
    }

    fn channel(&self) -> Key {
        let kind = if self.direction == Direction::Receive { Kind::Received } else { Kind::Sent };
        Key { communicator: self.communicator, peer: self.peer, tag: self.tag, kind }
    }
}

impl<const N: usize> Slot<N> {
    /// Makes the slot stand for `what`, whose channel is told by the bits of `channel`.
    fn fill(&mut self, what: &[u64; N], channel: &[u64; N], find: impl FnOnce() -> *const Channel) {
        if self.what[0] == 0 || !self.agrees(what, channel) {
            self.channel = find();
        }
        self.what = *what;
        if what[0] >> 32 == u64::from(VOID) {
            self.what[0] = 0;
        }
    }

    /// Whether the slot stands for `what`, as far as the bits of `mask` go.
    fn agrees(&self, what: &[u64; N], mask: &[u64; N]) -> bool {
        (0..N).all(|idx| (self.what[idx] ^ what[idx]) & mask[idx] == 0)
    }
}

/// The channel of `key`; null in a signal handler that interrupted the making of one, and without
/// memory.
#[cold]
fn find(runtime: &Runtime, key: Key) -> *const Channel {
    let found = runtime.channels().with(|channels| channels.find(key)).flatten();
    found.map_or(core::ptr::null(), core::ptr::from_ref)
}
