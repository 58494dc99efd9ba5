//! What a thread remembers of the buffers that it has named.
//!
//! The one idea: programs give the same buffers again and again, so what lies at an address is kept, with what must still
//! hold for it to be true: that a block has not been given back, that a frame is still there. Each is a load or two and a
//! comparison.
//!
//! Deliberately absent: how anything is found out for the first time ([`super::buffers`]).

use core::sync::atomic::{AtomicU64, Ordering};

use marey_measure::{Lock, Runtime};

use super::lines::{Line, Lines};
use super::made::{self, Made};
use crate::entry::Entry;
use crate::unwind::FrameOf;
use crate::variable::thread_variable;

/// Frames that it remembers.
const FRAMES: usize = 32;
/// Blocks that buffers were found in last.
const RECENT: usize = 8;

/// Data that can be given back have numbers below; one bit for each: 32 KiB.
pub(super) const MOST: u32 = 1 << 18;

/// Which data are gone.
static GONE: [AtomicU64; MOST as usize / 64] = [const { AtomicU64::new(0) }; MOST as usize / 64];

/// Whether a datum is still there.
#[inline(always)]
pub(super) fn is_there(data: u32) -> bool {
    let word = GONE.get(data as usize / 64);
    word.is_some_and(|word| word.load(Ordering::Acquire) >> (data % 64) & 1 == 0)
}

/// Says that a datum is gone.
pub(super) fn set_gone(data: u32) {
    if let Some(word) = GONE.get(data as usize / 64) {
        word.fetch_or(1 << (data % 64), Ordering::Release);
    }
}

/// As long as what holds, a datum is what lies at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    /// For ever.
    Always,
    /// Until the datum is given back.
    UntilGone,
    /// For so many uses, 255 at most, and as long as nothing is made there after so much had been: what lies there is not
    /// known.
    Uses {
        /** how many */
        left: u32,
        /** see [`made::n_made`] */
        since: u32,
    },
    /// As long as a frame is there.
    Frame(FrameOf),
}

/// The condition in a line: those below [`FRAME`] are as they are called, of the others the number of the frame or the uses
/// that are left.
const ALWAYS: u32 = 0;
const UNTIL_GONE: u32 = 1;
const FRAME: u32 = 1 << 30;
const USES: u32 = 1 << 31;
/// Bits of the uses; behind them stands how much memory has been made ([`made`]).
const OF_USES: u32 = 0xff;
const USES_BITS: u32 = OF_USES.count_ones();
const _: () = assert!(made::OF_NUMBER << USES_BITS == !(USES | OF_USES));

/// Uses that are taken off where it is not known whether something was made: to find out takes so long that it is done
/// once in some thirty.
const MISSED: u32 = 8;

/// The condition of what is not known.
#[inline(always)]
fn uses(left: u32, since: u32) -> u32 {
    USES | since << USES_BITS | left.min(OF_USES)
}

/// Whether a block that is followed begins at an address.
#[cold]
fn begins_at(address: usize) -> bool {
    crate::heap::heap().is_some_and(|heap| heap.begins_at(address))
}

/// What a thread remembers.
pub(super) struct Cache {
    lines: Lines,
    /// Frames with their numbers, each at the number's remainder.
    frames: [Option<(u32, FrameOf)>; FRAMES],
    next_frame: u32,
    recent: [(usize, usize, u32); RECENT],
    next_recent: usize,
    /// Of which recorder the data are, and since which closing of a library.
    runtime: usize,
    closings: u64,
}

/// The pointer to it; null in threads that have named no buffer.
#[repr(C)]
pub(super) struct Slot {
    cache: *mut Cache,
}

thread_variable! {
    /// The calling thread's.
    fn slot -> Slot; "marey_buffers", 8 bytes, aligned 3
}

impl Cache {
    /// The calling thread's cache, if it has one that is still true.
    #[inline(always)]
    pub(super) fn of_thread(runtime: &Runtime) -> Option<&'static mut Self> {
        // SAFETY: the slot is the calling thread's own, and so is what it points to.
        let cache = unsafe { (*slot()).cache.as_mut() }?;
        let closings = crate::site::CLOSINGS.load(Ordering::Relaxed);
        (cache.runtime == core::ptr::from_ref(runtime) as usize && cache.closings == closings)
            .then_some(cache)
    }

    /// The same, made or emptied if need be; that of a thread that has ended, if there is one. It is never freed: a thread's
    /// end is no place to run destructors, and other libraries' destructors may still name buffers after it.
    #[cold]
    pub(super) fn renewed(runtime: &Runtime) -> &'static mut Self {
        // SAFETY: as above.
        let slot = unsafe { &mut *slot() };
        if slot.cache.is_null() {
            slot.cache = take_free().unwrap_or_else(|| Box::into_raw(Box::new(Self::new())));
        }
        // SAFETY: it is the calling thread's.
        let cache = unsafe { &mut *slot.cache };
        cache.lines.clear();
        (cache.frames, cache.next_frame) = ([None; FRAMES], 0);
        (cache.recent, cache.next_recent) = ([(0, 0, 0); RECENT], 0);
        cache.runtime = core::ptr::from_ref(runtime) as usize;
        cache.closings = crate::site::CLOSINGS.load(Ordering::Relaxed);
        cache
    }

    fn new() -> Self {
        Self {
            lines: Lines::new(),
            frames: [None; FRAMES],
            next_frame: 0,
            recent: [(0, 0, 0); RECENT],
            next_recent: 0,
            runtime: 0,
            closings: 0,
        }
    }

    /// What is remembered of a buffer, if it still holds.
    ///
    /// # Safety
    /// The entry is that of a call of the calling thread that has not returned.
    #[inline(always)]
    pub(super) unsafe fn find(&mut self, entry: Entry, buffer: usize) -> Option<u32> {
        // SAFETY: the caller's promise.
        let from = unsafe { from(entry, buffer) };
        let line = self.lines.at(buffer, from)?;
        if line.buffer != buffer || line.from != from {
            return None;
        }
        let holds = match line.holds {
            ALWAYS => true,
            UNTIL_GONE => is_there(line.data),
            old if USES <= old => {
                let (left, since) = (old & OF_USES, (old & !USES) >> USES_BITS);
                // Before the ring is looked at: what comes later is looked at next time.
                let now = made::n_made();
                let taken = match made::since(buffer, since) {
                    Made::Elsewhere => Some(1),
                    Made::Here => None,
                    Made::Missed => (!begins_at(buffer)).then_some(MISSED),
                };
                let is_true = left != 0 && taken.is_some();
                line.holds = uses(left.saturating_sub(taken.unwrap_or(OF_USES)), now);
                is_true
            }
            frame => {
                let known = self.frames[frame as usize % FRAMES].filter(|known| known.0 == frame);
                // SAFETY: the caller's promise.
                known.is_some_and(|(_, frame)| unsafe { frame.is_there(entry.sp) })
            }
        };
        holds.then_some(line.data)
    }

    /// Remembers what lies at an address.
    ///
    /// # Safety
    /// As for [`Self::find`].
    pub(super) unsafe fn set(&mut self, entry: Entry, buffer: usize, data: u32, holds: Holds) {
        let holds = match holds {
            Holds::Always => ALWAYS,
            Holds::UntilGone => UNTIL_GONE,
            Holds::Uses { left, since } => uses(left, since),
            Holds::Frame(frame) => self.number_of(frame),
        };
        // SAFETY: the caller's promise.
        let from = unsafe { from(entry, buffer) };
        self.lines.put(Line { buffer, from, data, holds });
    }

    /// The number of a frame, a new one if it is not remembered; lines of the frame whose place it takes mean nothing then.
    fn number_of(&mut self, frame: FrameOf) -> u32 {
        if let Some((number, _)) = self.frames.iter().flatten().find(|known| known.1 == frame) {
            return *number;
        }
        if self.next_frame == USES - FRAME {
            // Numbers begin anew.
            self.lines.clear();
            (self.frames, self.next_frame) = ([None; FRAMES], 0);
        }
        let number = FRAME + self.next_frame;
        self.next_frame += 1;
        self.frames[number as usize % FRAMES] = Some((number, frame));
        number
    }

    /// The remembered frame that a buffer lies in, if it is still there.
    ///
    /// # Safety
    /// As for [`Self::find`].
    pub(super) unsafe fn frame(&self, entry: Entry, buffer: usize) -> Option<FrameOf> {
        let mut frames = self.frames.iter().flatten().map(|known| known.1);
        // SAFETY: the caller's promise.
        frames.find(|frame| frame.contains(buffer) && unsafe { frame.is_there(entry.sp) })
    }

    /// The datum of a block that a buffer lies in, if one was found there lately.
    pub(super) fn recent(&self, buffer: usize) -> Option<u32> {
        let is_in =
            |(start, end, data): &&(usize, usize, u32)| (*start..*end).contains(&buffer) && is_there(*data);
        self.recent.iter().find(is_in).map(|(_, _, data)| *data)
    }

    /// Remembers a block.
    pub(super) fn set_recent(&mut self, start: usize, end: usize, data: u32) {
        self.recent[self.next_recent % RECENT] = (start, end, data);
        self.next_recent = (self.next_recent + 1) % RECENT;
    }
}

/// Caches of threads that have ended, for those to come.
static FREE: Lock<Vec<CachePointer>> = Lock::new(Vec::new());

struct CachePointer(*mut Cache);

// SAFETY: whoever takes the pointer out of the list owns what it points to.
unsafe impl Send for CachePointer {}

fn take_free() -> Option<*mut Cache> {
    FREE.with_or_renew(Vec::new, Vec::pop).flatten().map(|free| free.0)
}

/// To be called when a thread ends.
pub(crate) fn thread_ends() {
    // SAFETY: the slot is the calling thread's own.
    let cache = unsafe { core::mem::replace(&mut (*slot()).cache, core::ptr::null_mut()) };
    if !cache.is_null() {
        FREE.with_or_renew(Vec::new, |free| free.push(CachePointer(cache)));
    }
}

/// Frames reach no further beyond a call's, as a rule.
const STACK: usize = 64 << 20;

/// Where a call goes on whose buffer may lie in a frame; else 0.
///
/// # Safety
/// The entry is that of a call that has not returned.
#[inline(always)]
unsafe fn from(entry: Entry, buffer: usize) -> usize {
    if buffer.wrapping_sub(entry.sp) >= STACK {
        return 0;
    }
    // SAFETY: the return address lies there.
    unsafe { *(entry.sp as *const usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variable is sent from one line and received into from another, in turn.
    #[test]
    fn a_buffer_in_a_frame_is_remembered_for_each_place_that_calls_with_it() {
        let mut cache = Cache::new();
        // Two return addresses that have lines of their own, and one that shares that of the first; the variable lies behind.
        let mut stack: [usize; 8] = [0x1000, 0, 0, 0, 0, 0, 0, 0];
        let variable = &raw const stack[5] as usize;
        let mut place = |from: usize| cache.lines.at(variable, from).map(core::ptr::from_mut);
        let shared = place(0x1000);
        let mut has_own = |from: &usize| place(*from) != shared;
        stack[1] = (0x2000..0x4000).find(&mut has_own).unwrap();
        stack[2] = (0x4000..0x8000).find(|from| !has_own(from)).unwrap();
        let entry = |at: usize| Entry { sp: &raw const stack[at] as usize, bp: 0 };
        let elsewhere = variable + (STACK << 1);
        // SAFETY: what lies at the entries is read, and nothing else.
        unsafe {
            for turn in 0..3 {
                for (at, data) in [(0, 7), (1, 8)] {
                    let known = cache.find(entry(at), variable);
                    assert_eq!(known, (turn > 0).then_some(data), "turn {turn}");
                    cache.set(entry(at), variable, data, Holds::Always);
                }
            }
            assert_eq!(cache.find(entry(2), variable), None);
            // What is in no frame is the same, wherever it is named.
            cache.set(entry(0), elsewhere, 9, Holds::Always);
            assert_eq!(cache.find(entry(1), elsewhere), Some(9));
        }
    }
}
