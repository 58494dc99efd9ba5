//! Windows: the self-contained pieces that a spool file is a chain of.
//!
//! A window begins with a head of [`HEAD_LEN`] bytes. The first part is written once, when the
//! window is opened, and protected by a check word; the second part lies on a cache line of its
//! own and changes while records are added. Behind the head stand the regions that were open
//! when the window began, and behind them the records.

use core::sync::atomic::{Ordering, compiler_fence};

use crate::Triple;

/// The first eight bytes of every window.
pub const MAGIC: u64 = u64::from_le_bytes(*b"mareyWN1");
/// The same while a window is being begun anew in the place of another: a reader passes over it.
pub const BUSY: u64 = u64::from_le_bytes(*b"mareyWNx");
/// Length of a head in bytes, without the open stack behind it.
pub const HEAD_LEN: usize = 192;
/// Windows begin at multiples of this, so that a reader can find the next one behind a damaged one.
pub const ALIGN: usize = 4096;
/// The largest window that a reader accepts, in bytes.
pub const MAX_WINDOW: usize = 1 << 30;
/// Bytes that each entry of the open stack takes.
pub const OPEN_LEN: usize = 16;
/// The deepest open stack that a head can hold. Regions entered below it are counted, not recorded.
pub const MAX_DEPTH: usize = 1024;
/// Room that is always left behind the last record, so that a record of bounded size can be
/// written by whole words without looking at the end.
pub const SLACK: usize = 256;

/// Byte offsets of the fields that change while records are added.
pub mod at {
    /// Offset of the end of the committed records from the start of the window. u64, stored with
    /// release order after the record's bytes.
    pub const CURSOR: usize = 128;
    /// Events whose clock had run backwards, so far in this stream. u64.
    pub const LATE: usize = 136;
    /// Events that could not be written, so far in this stream. In the first window of definitions, those
    /// that belong to no stream: of threads without a window, of regions that could not be learnt, of
    /// forked children that could not be recorded. u64.
    pub const DROPPED: usize = 144;
    /// In the first window of definitions, forked children that could not be recorded. u64.
    pub const CHILDREN: usize = 136;
    /// Lock acquisitions that had not to wait, so far on this thread. u64.
    pub const LOCKS: usize = 152;
    /// Ticks at which the writer went on to the next window; 0 while it has not. u64.
    pub const SEALED: usize = 160;
    /// Ticks that the recorder itself took in some calls of interposed functions, so far in this
    /// stream: those that [`SAMPLED_CALLS`] counts. u64.
    pub const SAMPLED_TICKS: usize = 168;
    /// Calls of interposed functions, one in some 256, of which the recorder took the time that it
    /// needed itself. u64.
    pub const SAMPLED_CALLS: usize = 176;
    /// A call that is under way and not among the records ([`super::announcement`]); 0 if there is none.
    /// u64.
    pub const ANNOUNCED: usize = 184;
    /// In the first window of a stream of sums, how often the thread's records have been added up. u64.
    pub const SUMMED: usize = 176;
}

/// The word at [`at::ANNOUNCED`] for a call of `site` that began `ticks` after the last record: 40 bits for
/// the ticks, six minutes at 3 GHz and no longer, and the rest for the site. 0 if that is not enough for it.
pub const fn announcement(site: u32, ticks: u64) -> u64 {
    const LONGEST: u64 = (1 << TICK_BITS) - 1;
    if site >= (1 << (64 - TICK_BITS)) - 1 {
        return 0;
    }
    (site as u64 + 1) << TICK_BITS | if ticks < LONGEST { ticks } else { LONGEST }
}

const TICK_BITS: u32 = 40;

/// The site, and the ticks from the last record on, that [`announcement`] was made of; `None` for 0.
pub const fn announced(word: u64) -> Option<(u32, u64)> {
    match (word >> TICK_BITS) as u32 {
        0 => None,
        site => Some((site - 1, word & ((1 << TICK_BITS) - 1))),
    }
}

/// What a stream of windows holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Stream {
    /// What a thread did.
    Events = 0,
    /// What a signal handler did while it had interrupted the writing of a record.
    Second = 1,
    /// The process's definitions.
    Definitions = 2,
    /// What is left of events that there was no room for ([`super::sums`]).
    Sums = 3,
    /// What rules say is only to be counted or timed ([`super::sums`]).
    Beside = 4,
    /// When the time of that passed ([`super::courses`]).
    Courses = 5,
    /// Where its processor time went ([`super::samples`]).
    Samples = 6,
    /// When each sample was taken ([`super::samples`]).
    Instants = 7,
    /// Who has allocated what ([`super::heap`]). Of the process, under the number 0 of a thread.
    Heap = 8,
}

impl Stream {
    /// The stream that a byte stands for.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Events),
            1 => Some(Self::Second),
            2 => Some(Self::Definitions),
            3 => Some(Self::Sums),
            4 => Some(Self::Beside),
            5 => Some(Self::Courses),
            6 => Some(Self::Samples),
            7 => Some(Self::Instants),
            8 => Some(Self::Heap),
            _ => None,
        }
    }
}

/// A region that was open when a window began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Open {
    /// When it was entered.
    pub ticks: u64,
    /// The site it was entered from.
    pub site: u32,
    /// Zero in a file. In the recorder's memory a mark of whoever entered it.
    pub reserved: u32,
}

/// The part of a head that is written once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// Length of the window in bytes.
    pub size: u32,
    /// Random number of the process; the same in all its windows.
    pub process: u64,
    /// The thread's serial number in its process.
    pub thread: u32,
    /// What the stream holds.
    pub stream: Stream,
    /// The window's number in its stream, from 0 without gaps.
    pub sequence: u64,
    /// The time that the first record's difference counts from.
    pub ticks: u64,
    /// The window's beginning on three clocks.
    pub triple: Triple,
    /// Bytes of records written in this stream before this window.
    pub bytes_before: u64,
    /// Serial number of the last nonblocking operation that the stream named before this window, which
    /// the first in it is told from; 0 if none.
    pub serial: u64,
    /// The buffer address that the first signature's difference counts from.
    pub buffer: u64,
    /// How often the thread's records had been added up ([`super::sums`]) before this window. If it is more
    /// than in the window before, what happened in between is in the sums.
    pub round: u64,
    /// Whether the window is begun anew in its place when it is full, and its records added up.
    pub is_summing: bool,
}

/// The fields of a head that change, as a reader found them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tail {
    /// Offset of the end of the committed records.
    pub cursor: usize,
    /// See [`at::LATE`].
    pub late: u64,
    /// See [`at::DROPPED`].
    pub dropped: u64,
    /// See [`at::LOCKS`].
    pub locks: u64,
    /// See [`at::SEALED`].
    pub sealed: u64,
    /// See [`at::SAMPLED_TICKS`].
    pub sampled_ticks: u64,
    /// See [`at::SAMPLED_CALLS`].
    pub sampled_calls: u64,
    /// See [`at::ANNOUNCED`].
    pub announced: u64,
}

/// A window as a reader sees it: head, open stack and committed records.
#[derive(Clone, Debug)]
pub struct WindowView<'a> {
    /// The head.
    pub head: Head,
    /// The changing fields.
    pub tail: Tail,
    /// Regions open at the beginning, outermost first.
    pub open: Vec<Open>,
    /// The committed records.
    pub records: &'a [u8],
    /// The committed length was impossible and has been cut to the window.
    pub damaged: bool,
}

fn word(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..)?.first_chunk::<8>().map(|eight| u64::from_le_bytes(*eight))
}

fn half(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk::<4>().map(|four| u32::from_le_bytes(*four))
}

/// FNV-1a over 64-bit words: enough to tell a torn or overwritten head from a whole one.
fn check_word(magic: &[u8], fixed: &[u8], open: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for chunk in magic.chunks(8).chain(fixed.chunks(8)).chain(open.chunks(8)) {
        let mut eight = [0; 8];
        eight[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(eight)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

const CHECKED: usize = 112;

impl Head {
    /// Where the first record stands, given the number of open regions.
    pub const fn records_at(depth: usize) -> usize {
        HEAD_LEN + depth * OPEN_LEN
    }

    /// Writes the head and the open stack to the beginning of `out` and returns their length; the
    /// cursor already points at the first record. Allocates nothing, for signal handlers call it.
    ///
    /// # Panics
    /// If `out` is shorter than [`Self::records_at`] of the depth.
    pub fn encode_into(&self, open: &[Open], out: &mut [u8]) -> usize {
        let len = Self::records_at(open.len());
        let out = &mut out[..len];
        // While it is not whole it is none, and what lies behind it, of the same length as before, is
        // nothing that a reader need look at.
        out[..8].copy_from_slice(&BUSY.to_le_bytes());
        compiler_fence(Ordering::SeqCst);
        out[16..].fill(0);
        let mut put =
            |offset: usize, value: u64| out[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        put(8, u64::from(self.size) | (open.len() as u64) << 32);
        put(16, self.process);
        put(24, u64::from(self.thread) | (self.stream as u64) << 32);
        put(32, self.sequence);
        put(40, self.ticks);
        put(48, self.triple.ticks);
        put(56, self.triple.monotonic_ns);
        put(64, self.triple.realtime_ns);
        put(72, self.bytes_before);
        put(80, self.serial);
        put(88, self.buffer);
        put(96, self.round);
        put(104, self.is_summing.into());
        put(at::CURSOR, Self::records_at(open.len()) as u64);
        for (idx, entry) in open.iter().enumerate() {
            put(HEAD_LEN + idx * OPEN_LEN, entry.ticks);
            put(HEAD_LEN + idx * OPEN_LEN + 8, u64::from(entry.site));
        }
        let magic = MAGIC.to_le_bytes();
        let check = check_word(&magic, &out[8..CHECKED], &out[HEAD_LEN..]);
        out[CHECKED..CHECKED + 8].copy_from_slice(&check.to_le_bytes());
        compiler_fence(Ordering::SeqCst);
        out[..8].copy_from_slice(&magic);
        len
    }
}

/// Makes the window that `bytes` are none: a reader passes over it.
pub fn blank(bytes: &mut [u8]) {
    if let Some(first) = bytes.first_chunk_mut::<8>() {
        *first = BUSY.to_le_bytes();
    }
}

/// Length of the window whose head begins `bytes`; `None` if no sound head stands there.
/// Looks at the fixed part only, so [`HEAD_LEN`] bytes are enough.
pub fn window_len(bytes: &[u8]) -> Option<usize> {
    if word(bytes, 0)? != MAGIC {
        return None;
    }
    len_of(bytes)
}

/// Length of the window that is being begun anew where `bytes` begin; `None` if there is none.
pub fn busy_len(bytes: &[u8]) -> Option<usize> {
    if word(bytes, 0)? == BUSY { len_of(bytes) } else { None }
}

fn len_of(bytes: &[u8]) -> Option<usize> {
    let size = half(bytes, 8)? as usize;
    let depth = half(bytes, 12)? as usize;
    (size.is_multiple_of(ALIGN)
        && size <= MAX_WINDOW
        && depth <= MAX_DEPTH
        && Head::records_at(depth) + SLACK <= size)
        .then_some(size)
}

/// Reads the window that begins `bytes`; `None` if its head is not sound. A window that is cut
/// short, or whose cursor is impossible, gives what is there and says `damaged`.
pub fn view(bytes: &[u8]) -> Option<WindowView<'_>> {
    let size = window_len(bytes)?;
    let depth = half(bytes, 12)? as usize;
    let records_at = Head::records_at(depth);
    let open_bytes = bytes.get(HEAD_LEN..records_at)?;
    if word(bytes, CHECKED)? != check_word(bytes.get(..8)?, bytes.get(8..CHECKED)?, open_bytes) {
        return None;
    }
    let kind = half(bytes, 28)?;
    let head = Head {
        size: half(bytes, 8)?,
        process: word(bytes, 16)?,
        thread: half(bytes, 24)?,
        stream: Stream::from_code(u8::try_from(kind).ok()?)?,
        sequence: word(bytes, 32)?,
        ticks: word(bytes, 40)?,
        triple: Triple {
            ticks: word(bytes, 48)?,
            monotonic_ns: word(bytes, 56)?,
            realtime_ns: word(bytes, 64)?,
        },
        bytes_before: word(bytes, 72)?,
        serial: word(bytes, 80)?,
        buffer: word(bytes, 88)?,
        round: word(bytes, 96)?,
        is_summing: word(bytes, 104)? != 0,
    };
    let mut open = Vec::with_capacity(depth);
    for entry in open_bytes.chunks_exact(OPEN_LEN) {
        open.push(Open { ticks: word(entry, 0)?, site: half(entry, 8)?, reserved: 0 });
    }
    let claimed = usize::try_from(word(bytes, at::CURSOR)?).unwrap_or(usize::MAX);
    let cursor = claimed.clamp(records_at, size.min(bytes.len()));
    let tail = Tail {
        cursor,
        late: word(bytes, at::LATE)?,
        dropped: word(bytes, at::DROPPED)?,
        locks: word(bytes, at::LOCKS)?,
        sealed: word(bytes, at::SEALED)?,
        sampled_ticks: word(bytes, at::SAMPLED_TICKS)?,
        sampled_calls: word(bytes, at::SAMPLED_CALLS)?,
        announced: word(bytes, at::ANNOUNCED)?,
    };
    let records = bytes.get(records_at..cursor)?;
    Some(WindowView { head, tail, open, records, damaged: cursor != claimed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            size: 8192,
            process: 7,
            thread: 3,
            stream: Stream::Second,
            sequence: 9,
            ticks: 1000,
            triple: Triple { ticks: 1, monotonic_ns: 2, realtime_ns: 3 },
            bytes_before: 4,
            serial: 5,
            buffer: 6,
            round: 7,
            is_summing: true,
        }
    }

    fn window(open: &[Open], records: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; Head::records_at(open.len())];
        head().encode_into(open, &mut bytes);
        let end = bytes.len() + records.len();
        bytes.extend_from_slice(records);
        bytes[at::CURSOR..at::CURSOR + 8].copy_from_slice(&(end as u64).to_le_bytes());
        bytes.resize(8192, 0);
        bytes
    }

    #[test]
    fn a_window_comes_back() {
        let open = [Open { ticks: 5, site: 1, reserved: 0 }, Open { ticks: 6, site: 2, reserved: 0 }];
        let bytes = window(&open, b"records");
        let seen = view(&bytes).unwrap();
        assert_eq!(seen.head, head());
        assert_eq!(seen.open, open);
        assert_eq!(seen.records, b"records");
        assert!(!seen.damaged);
    }

    #[test]
    fn any_flipped_bit_of_the_fixed_part_is_noticed() {
        let bytes = window(&[Open { ticks: 5, site: 1, reserved: 0 }], b"r");
        for bit in 0..(CHECKED + 8) * 8 {
            let mut broken = bytes.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            assert!(view(&broken).is_none(), "bit {bit}");
        }
    }

    #[test]
    fn an_impossible_cursor_is_cut_and_reported() {
        let mut bytes = window(&[], b"r");
        bytes[at::CURSOR..at::CURSOR + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        let seen = view(&bytes).unwrap();
        assert!(seen.damaged);
        assert_eq!(seen.records.len(), 8192 - HEAD_LEN);
        let cut = view(&bytes[..5000]).unwrap();
        assert!(cut.damaged);
        assert_eq!(cut.records.len(), 5000 - HEAD_LEN);
    }
}
