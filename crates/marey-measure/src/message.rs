//! Halves of messages and parts in collective operations.
//!
//! Programs repeat themselves: the same peer, tag, size and buffer come again and again. So what
//! a half *is* goes into one of 256 slots of the window once, and each repetition takes two bytes.
//! Channels — (direction, communicator, peer, tag) — count their messages whether or not anything
//! is recorded, so that the two ends can be matched by number even across a gap.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use marey_model::spool::{Direction, op};
use rustc_hash::FxHashMap;

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

#[repr(C)]
pub(crate) struct MessageSlot {
    generation: u64,
    half: core::mem::MaybeUninit<Half>,
    channel: *mut Seen,
}

#[repr(C)]
pub(crate) struct CollectiveSlot {
    generation: u64,
    part: core::mem::MaybeUninit<Part>,
    channel: *mut Seen,
}

/// A channel as one thread has seen it.
pub(crate) struct Seen {
    counter: &'static AtomicU64,
    /// Number that a reader expects of the channel's next message, if it goes by the window of this
    /// generation alone.
    expected: u64,
    generation: u64,
}

impl Seen {
    fn new(counter: &'static AtomicU64) -> Box<Self> {
        Box::new(Self { counter, expected: 0, generation: 0 })
    }

    /// Whether a reader would not expect `number`, which `step` messages take from now on.
    #[inline(always)]
    fn surprises(&mut self, generation: u64, number: u64, step: u64) -> bool {
        let surprises = self.generation != generation || self.expected != number;
        (self.generation, self.expected) = (generation, number + step);
        surprises
    }
}

/// The channels that a thread has seen, so that it need not ask for them under a lock.
#[derive(Default)]
pub(crate) struct SeenChannels {
    messages: FxHashMap<Channel, Box<Seen>>,
    collectives: FxHashMap<u32, Box<Seen>>,
}

/// Whether messages are received, communicator, peer and tag.
type Channel = (bool, u32, i32, i32);

/// Counters of all channels and of the collectives of all communicators of a process.
#[derive(Default)]
pub(crate) struct Channels {
    messages: FxHashMap<Channel, &'static AtomicU64>,
    collectives: FxHashMap<u32, &'static AtomicU64>,
}

// SAFETY: the counters are atomic and live for ever.
unsafe impl Send for Channels {}

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

#[inline(always)]
fn count_up(counter: &AtomicU64) -> u64 {
    if CONCURRENT.load(Ordering::Relaxed) {
        counter.fetch_add(1, Ordering::Relaxed)
    } else {
        let number = counter.load(Ordering::Relaxed);
        counter.store(number + 1, Ordering::Relaxed);
        number
    }
}

/// Slots are as many as a byte can name.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "`hash` gives eight bits")]
const fn slot_byte(idx: usize) -> u8 {
    idx as u8
}

#[inline(always)]
fn hash(words: [u64; 4]) -> usize {
    let mut hash = 0_u64;
    for word in words {
        hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    (hash >> 56) as usize
}

/// The slot of the window that stands for `half`, which is written down if it is new, and the
/// message counted. At most 90 bytes.
///
/// # Safety
/// `thread` is the calling thread's descriptor, inside [`write::write`].
#[inline]
pub unsafe fn slot(runtime: &Runtime, thread: *mut Thread, scratch: &mut Scratch, half: &Half) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { slot_counting(runtime, thread, scratch, half, (count_up, 1)) }
}

/// Like [`slot`] for a receive that is merely posted: its message is counted when it is there.
///
/// # Safety
/// As for [`slot`].
#[inline]
pub unsafe fn posted_slot(runtime: &Runtime, thread: *mut Thread, scratch: &mut Scratch, half: &Half) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { slot_counting(runtime, thread, scratch, half, (|counter| counter.load(Ordering::Relaxed), 0)) }
}

#[inline(always)]
unsafe fn slot_counting(
    runtime: &Runtime,
    thread: *mut Thread,
    scratch: &mut Scratch,
    half: &Half,
    // How to count, and by how much: the shared counter itself may have gone on meanwhile.
    (count, step): (fn(&AtomicU64) -> u64, u64),
) -> u8 {
    let key = [
        u64::from(half.communicator) << 32 | u64::from(half.peer.cast_unsigned()),
        u64::from(half.tag.cast_unsigned()) << 32 | u64::from(half.datatype),
        half.bytes << 1 | u64::from(half.direction == Direction::Receive),
        half.buffer ^ half.count << 48,
    ];
    let idx = hash(key);
    // SAFETY: `idx` is below 256; a slot with a generation has been filled, and its channel is the
    // thread's own.
    unsafe {
        let generation = (*thread).generation;
        let slot = &mut (*thread).messages[idx];
        let is_known = slot.generation == generation && *slot.half.assume_init_ref() == *half;
        if !is_known {
            if slot.generation == 0 || slot.half.assume_init_ref().channel() != half.channel() {
                slot.channel = seen_channel(runtime, thread, half);
            }
            let slot = &mut (*thread).messages[idx];
            slot.half.write(*half);
            slot.generation = generation;
        }
        let (mut number, mut surprises) = (0, true);
        if let Some(channel) = (*thread).messages[idx].channel.as_mut() {
            number = count(channel.counter);
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
    let key = [part.communicator.into(), part.root.cast_unsigned().into(), part.bytes_out, part.bytes_in];
    let idx = hash(key);
    // SAFETY: as in `slot`.
    unsafe {
        let generation = (*thread).generation;
        let slot = &mut (*thread).collectives[idx];
        let is_known = slot.generation == generation && *slot.part.assume_init_ref() == *part;
        if !is_known {
            if slot.generation == 0 || slot.part.assume_init_ref().communicator != part.communicator {
                slot.channel = seen_collectives(runtime, thread, part.communicator);
            }
            let slot = &mut (*thread).collectives[idx];
            slot.part.write(*part);
            slot.generation = generation;
        }
        let (mut number, mut surprises) = (0, true);
        if let Some(channel) = (*thread).collectives[idx].channel.as_mut() {
            number = count_up(channel.counter);
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
    fn channel(&self) -> Channel {
        (self.direction == Direction::Receive, self.communicator, self.peer, self.tag)
    }
}

/// The channel of `half` as the thread sees it; null in a signal handler that interrupted the
/// making of one.
///
/// # Safety
/// As for [`slot`].
#[cold]
unsafe fn seen_channel(runtime: &Runtime, thread: *mut Thread, half: &Half) -> *mut Seen {
    // SAFETY: the caller's promise.
    let seen = unsafe { (*thread).seen.get_or_insert_default() };
    see(runtime, &mut seen.messages, half.channel(), |channels| &mut channels.messages)
}

/// The same for the collectives of a communicator.
///
/// # Safety
/// As for [`slot`].
#[cold]
unsafe fn seen_collectives(runtime: &Runtime, thread: *mut Thread, communicator: u32) -> *mut Seen {
    // SAFETY: the caller's promise.
    let seen = unsafe { (*thread).seen.get_or_insert_default() };
    see(runtime, &mut seen.collectives, communicator, |channels| &mut channels.collectives)
}

/// What the thread has seen of `key`, whose counter is in `table` of the process's.
fn see<K: std::hash::Hash + Eq + Copy>(
    runtime: &Runtime,
    seen: &mut FxHashMap<K, Box<Seen>>,
    key: K,
    table: impl FnOnce(&mut Channels) -> &mut FxHashMap<K, &'static AtomicU64>,
) -> *mut Seen {
    if let Some(known) = seen.get_mut(&key) {
        return &raw mut **known;
    }
    let counter = runtime.channels().with(|channels| &**table(channels).entry(key).or_insert_with(leak));
    let Some(counter) = counter else { return core::ptr::null_mut() };
    &raw mut **seen.entry(key).or_insert(Seen::new(counter))
}

fn leak() -> &'static AtomicU64 {
    Box::leak(Box::default())
}
