//! Halves of messages and parts in collective operations.
//!
//! Programs repeat themselves: the same peer, tag, size and buffer come again and again. So what
//! a half *is* goes into one of 256 slots of the window once, and each repetition takes two bytes.
//! Channels — (direction, communicator, peer, tag) — count their messages whether or not anything
//! is recorded, so that the two ends can be matched by number even across a gap.

use core::sync::atomic::{AtomicBool, Ordering};

use marey_model::spool::{Direction, op};

use crate::channel::{Channel, Key, Kind, VOID};
use crate::runtime::Runtime;
use crate::thread::Thread;
use crate::write::Scratch;

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
}

/// A slot of the window: one line.
#[repr(C, align(64))]
pub(crate) struct MessageSlot {
    half: Packed,
    channel: *const Channel,
}

/// A slot of the window for parts in collective operations.
#[repr(C, align(64))]
pub(crate) struct CollectiveSlot {
    part: [u64; 3],
    /// The generation of the window for which the slot was filled; 0 if it never was.
    generation: u64,
    channel: *const Channel,
}

/// A half, and in the upper part of the first word the generation of a window.
type Packed = [u64; 6];

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

/// Slots are as many as a byte can name.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "`hash` gives eight bits")]
const fn slot_byte(idx: usize) -> u8 {
    idx as u8
}

/// The multiplications do not wait for each other.
#[inline(always)]
fn hash(words: [u64; 4]) -> usize {
    const FACTORS: [u64; 4] =
        [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x517c_c1b7_2722_0a95, 0xd6e8_feb8_6659_fd93];
    let products = [0, 1, 2, 3].map(|idx| words[idx].wrapping_mul(FACTORS[idx]));
    let sum = (products[0] ^ products[1]).wrapping_add(products[2] ^ products[3]);
    (sum >> 56) as usize
}

/// Whether two packed things are the same, found without a branch for each word.
#[inline(always)]
fn is_same<const N: usize>(one: &[u64; N], other: &[u64; N]) -> bool {
    (0..N).fold(0, |different, idx| different | one[idx] ^ other[idx]) == 0
}

/// The slot of the window that stands for `half`, which is written down if it is new, and the
/// message counted. At most 90 bytes.
///
/// # Safety
/// `thread` is the calling thread's descriptor, inside [`write::write`].
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
        let packed = half.packed(generation);
        // Not by the generation: a slot keeps its channel from window to window.
        let idx = hash([packed[1], packed[2], packed[3] << 1 | packed[0] & 1, packed[5] ^ packed[4] << 48]);
        let slot = &mut (*thread).messages[idx];
        let is_known = is_same(&slot.half, &packed);
        if !is_known {
            if !slot.is_of_channel(&packed) {
                slot.channel = find(runtime, half.channel());
            }
            slot.half = packed;
            if generation == VOID {
                slot.half[0] = 0;
            }
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
    let packed = [
        u64::from(part.communicator) << 32 | u64::from(part.root.cast_unsigned()),
        part.bytes_out,
        part.bytes_in,
    ];
    let idx = hash([packed[0], packed[1], packed[2], 0]);
    // SAFETY: as in `slot`.
    unsafe {
        let generation = (*thread).generation;
        let slot = &mut (*thread).collectives[idx];
        let is_known = slot.generation == u64::from(generation) && is_same(&slot.part, &packed);
        if !is_known {
            if slot.generation == 0 || (slot.part[0] ^ packed[0]) >> 32 != 0 {
                let communicator = part.communicator;
                slot.channel = find(runtime, Key { communicator, peer: 0, tag: 0, kind: Kind::Collective });
            }
            slot.part = packed;
            slot.generation = if generation == VOID { 0 } else { generation.into() };
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
    fn packed(&self, generation: u32) -> Packed {
        let pair = |upper: u32, lower: u32| u64::from(upper) << 32 | u64::from(lower);
        [
            pair(generation, u32::from(self.direction == Direction::Receive)),
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

impl MessageSlot {
    /// Whether it has been filled with a half of the same channel, for whichever window.
    fn is_of_channel(&self, half: &Packed) -> bool {
        let different = (self.half[0] ^ half[0]) << 32 != 0
            || self.half[1] != half[1]
            || (self.half[2] ^ half[2]) >> 32 != 0;
        self.half[0] != 0 && !different
    }
}

/// The channel of `key`; null in a signal handler that interrupted the making of one, and without
/// memory.
#[cold]
fn find(runtime: &Runtime, key: Key) -> *const Channel {
    let found = runtime.channels().with(|channels| channels.find(key)).flatten();
    found.map_or(core::ptr::null(), core::ptr::from_ref)
}
