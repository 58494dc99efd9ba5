//! The per-thread descriptor: everything that recording an event reads and writes.
//!
//! Whoever writes a record takes `ready` away first and only then looks at the other fields, and
//! gives it back last. A signal handler that records in between finds it gone and goes to the slow
//! path, which gives it the second lane; one that comes earlier has returned, and left everything
//! in order, before its thread goes on. (Looking first and claiming afterwards would let a handler
//! move the cursor, or the window, under the writer's feet.)
//!
//! The descriptor lies on pages that a forked child finds wiped. So in a child `ready` is gone
//! too, the slow path sees why, and nothing is ever written to the parent's windows — at no cost
//! to the parent.

#![expect(clippy::cast_possible_truncation, reason = "the depth is known and small")]

use core::ffi::c_void;
use core::sync::atomic::AtomicPtr;

use marey_model::spool::{MAX_DEPTH, Open, Stream};

use crate::counting::Counting;
use crate::definitions::{fades_in, mode_in, reduced_in};
use crate::govern::Governed;
use crate::message::{CollectiveSlots, MessageSlots};
use crate::runtime::{Mode, Runtime};
use crate::sums::{Beside, Summing};
use crate::sys;
use crate::write::{Announced, Fold, Place};

/// Values of [`Thread::state`].
pub(crate) mod state {
    /// Never used, or wiped by a fork.
    pub(crate) const EMPTY: u32 = 0;
    /// Recording.
    pub(crate) const RECORDING: u32 = 1;
    /// No window could be had: events are counted.
    pub(crate) const DROPPING: u32 = 2;
    /// The thread has ended.
    pub(crate) const ENDED: u32 = 3;
}

/// A thread's descriptor. The fields up to `tally` are part of the ABI that `marey.h` writes
/// through (see [`crate::RuntimeTable`]); the order of the first nine never changes.
#[repr(C, align(64))]
pub struct Thread {
    /// Address of the next record.
    pub cursor: u64,
    /// The same as `brim` where the clock is the time-stamp counter and nothing is counted beside; else 0, so that whoever reads only that one
    /// goes the slow path. The time-stamp counter has been read by then, which harms nobody: where that would end the
    /// process, `ready` is 0.
    pub limit: u64,
    /// Ticks of the last record.
    pub last: u64,
    /// 1 when a record may be written; 0 while one is, and when only the slow path may write.
    pub ready: u32,
    /// Regions entered below `max_depth` and not yet left.
    pub below: u32,
    /// Address of the window.
    pub window: u64,
    /// The open regions, outermost first.
    pub stack: *mut Open,
    /// How many are open.
    pub depth: u32,
    /// How many can be.
    pub max_depth: u32,
    /// Code of the clock.
    pub clock: u32,
    /// One of the values of the module `state`.
    pub state: u32,
    /// Where visits of regions are counted that are reduced; null as long as the thread has met none.
    pub tally: *mut Place,
    /// When the visit ended that is being timed; 0 if nobody has looked.
    pub ended: u64,
    /// The site plus 1 of such a region of which a visit is being timed; 0 if none is.
    pub timing: u32,
    /// Whether that visit is to be counted like any other.
    pub(crate) is_warm: bool,
    /// Whether it is the one of its stretch before which it is found out what timing takes.
    pub(crate) is_to_learn: bool,
    /// Whether it is found out what timing takes.
    pub(crate) is_learning: bool,

    /// The thread's number in its process.
    pub serial: u32,
    /// Code of the [`Stream`] that this descriptor writes.
    pub(crate) stream: u32,
    /// The recorder that filled the descriptor, and its table of modes: what each event needs to
    /// know of it lies here, on a line that is in use anyway.
    pub(crate) runtime: Option<&'static Runtime>,
    pub(crate) modes: *const u8,
    /// Address of the last message buffer, which the next signature is relative to.
    pub(crate) buffer: u64,
    /// Serial number of the last nonblocking operation that this stream mentioned.
    pub(crate) serial_seen: u64,
    /// Number of the current window among all of the process: slots filled in an earlier one are
    /// void.
    pub(crate) generation: u32,
    /// Rounds of thread-specific destructors that have passed.
    pub(crate) end_rounds: u32,
    /// Records may begin below this address.
    pub(crate) brim: u64,
    /// Length of the window.
    pub(crate) window_len: u64,
    /// Address of the window's first record.
    pub(crate) first: u64,
    /// Windows opened so far.
    pub(crate) sequence: u64,
    /// The time that the window's first record counts from.
    pub(crate) window_ticks: u64,
    /// Whether the window is one that is added up when it is full.
    pub(crate) is_summing: bool,
    /// Whether that is because it was asked for, and not for want of room.
    pub(crate) is_paused: bool,
    /// Address of the window that is used for that again and again; 0 if there is none yet.
    pub(crate) again: u64,
    /// Its length.
    pub(crate) again_len: u64,
    /// Where its records are added up; null if there is no such place yet.
    pub(crate) summing: *mut Summing,
    /// How often that has been done.
    pub(crate) rounds: u64,
    /// Where visits are added up that rules say are not to be recorded; null if there is no such place yet.
    pub(crate) beside: *mut Beside,
    /// There was no room for one.
    pub(crate) has_no_beside: bool,
    /// How many of the innermost open regions are not in the stream.
    pub(crate) pending: u32,
    /// Whether the thread is busy only because of these.
    pub(crate) is_pending: bool,
    /// Bytes of records before events were kept anew: windows are small then, as at first.
    pub(crate) anew_from: u64,
    /// Bytes of records in the windows before this one.
    pub(crate) bytes_before: u64,
    /// For random waits; what timing two chains of instructions takes, and what visits that were timed have taken less
    /// than nothing, in hundredths of a tick.
    pub(crate) wait: u32,
    pub(crate) timing_costs: [u32; 2],
    pub(crate) carry: i64,
    /// What recording has cost lately.
    pub(crate) governed: Governed,
    /// What takes samples of the thread; null if nothing does. Not the matter of this crate.
    pub sampler: *mut c_void,
    /// What counts beside the time; null if nothing does. Then `limit` is 0 too: events take the slow path, where
    /// counters are read.
    pub counting: *mut Counting,
    /// The descriptor for signal handlers, made when first needed; the thread's own address while
    /// it is being made.
    pub(crate) second: AtomicPtr<Thread>,
    /// The kernel's thread id.
    pub(crate) os_thread: u32,
    /// The thread's first instant, in ticks.
    pub(crate) born: u64,
    /// Number of the thread that created it, plus 1; 0 where that was not seen.
    pub(crate) creator: u64,
    /// A call that is under way.
    pub(crate) announced: Announced,
    /// The unsuccessful poll written down last.
    pub(crate) fold: Fold,
    /// What the message slots of the window stand for.
    pub(crate) messages: MessageSlots,
    /// What the collective slots of the window stand for.
    pub(crate) collectives: CollectiveSlots,
}

/// What whoever enters a region keeps of it beside the stack of open regions. The recorder does not look at it, and
/// leaves what stood there before where nothing was kept.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Frame {
    /// Address of the function that is entered.
    pub function: usize,
    /// An address in the function that is entered.
    pub within: usize,
    /// Where it returns to.
    pub caller: usize,
}

impl Thread {
    /// Where a frame is kept of the open region number `place`.
    ///
    /// # Safety
    /// `this` is the calling thread's descriptor, and `place` is below its `max_depth`.
    #[inline(always)]
    pub unsafe fn frame(this: *const Self, place: u32) -> *mut Frame {
        // SAFETY: the caller's promise; the frames lie behind the stack in the same mapping.
        unsafe { (*this).stack.add(MAX_DEPTH).cast::<Frame>().add(place as usize) }
    }

    /// Whether a record may be written without further ado.
    ///
    /// # Safety
    /// `this` is the calling thread's descriptor or null.
    #[inline(always)]
    pub unsafe fn is_ready(this: *const Self) -> bool {
        // SAFETY: the caller's promise.
        !this.is_null() && unsafe { (*this).ready != 0 }
    }

    /// The recorder that the descriptor belongs to.
    ///
    /// # Safety
    /// `this` is the calling thread's descriptor.
    #[inline(always)]
    pub unsafe fn runtime(this: *const Self) -> Option<&'static Runtime> {
        // SAFETY: the caller's promise.
        unsafe { (*this).runtime }
    }

    /// What is done with calls from `site`.
    ///
    /// # Safety
    /// `this` is the calling thread's descriptor.
    #[inline(always)]
    pub unsafe fn mode(this: *const Self, site: u32) -> Mode {
        // SAFETY: the caller's promise; a descriptor that a fork has wiped has no table.
        unsafe { mode_in((*this).modes, site) }
    }

    /// The place where visits of `site` are counted by [`crate::tally`]; `None` if they are not.
    ///
    /// # Safety
    /// As for [`Self::mode`].
    #[inline(always)]
    pub unsafe fn reduced(this: *const Self, site: u32) -> Option<usize> {
        // SAFETY: the caller's promise; a descriptor that a fork has wiped has no table.
        unsafe { reduced_in((*this).modes, site) }
    }

    /// Whether they are.
    ///
    /// # Safety
    /// As for [`Self::mode`].
    #[inline(always)]
    pub unsafe fn is_reduced(this: *const Self, site: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { Self::reduced(this, site) }.is_some()
    }

    /// Whether visits of `site` are left out altogether, and none is open from before they were.
    ///
    /// # Safety
    /// As for [`Self::mode`].
    #[inline(always)]
    pub unsafe fn is_left_out(this: *const Self, site: u32) -> bool {
        // SAFETY: as above; the mode is not `Off` without a table.
        unsafe { Self::mode(this, site) == Mode::Off && !fades_in((*this).modes, site) }
    }

    /// Bytes of a descriptor with its open stack and frames, a whole number of pages. Those of frames are never
    /// touched where nobody keeps any.
    pub(crate) const LEN: usize = (size_of::<Self>() + MAX_DEPTH * (size_of::<Open>() + size_of::<Frame>()))
        .next_multiple_of(sys::PAGE);

    /// A descriptor of zeros on pages of its own, which a fork wipes.
    pub(crate) fn allocate() -> Option<*mut Self> {
        let at = sys::map_zeros(Self::LEN)?;
        if !sys::wipe_on_fork(at, Self::LEN) {
            // A child would write into its parent's windows.
            // SAFETY: nobody knows the mapping yet.
            unsafe { sys::unmap(at, Self::LEN) };
            return None;
        }
        Some(at.cast())
    }

    /// Says that records may begin below this address.
    ///
    /// # Safety
    /// `this` has been filled and belongs to the calling thread.
    pub(crate) unsafe fn set_brim(this: *mut Self, brim: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            (*this).brim = brim;
            (*this).limit = if (*this).clock == 0 && (*this).counting.is_null() { brim } else { 0 };
        }
    }

    /// Fills an empty descriptor.
    ///
    /// # Safety
    /// `this` comes from [`Self::allocate`] and belongs to the calling thread.
    pub(crate) unsafe fn begin(this: *mut Self, serial: u32, stream: Stream, clock: u8) {
        // SAFETY: the caller's promise; the stack lies behind the descriptor in the same mapping.
        unsafe {
            (*this).stack = this.cast::<u8>().add(size_of::<Self>()).cast();
            (*this).max_depth = MAX_DEPTH as u32;
            (*this).clock = u32::from(clock);
            (*this).serial = serial;
            (*this).stream = stream as u32;
            (*this).os_thread = sys::thread_id();
            (*this).state = state::RECORDING;
        }
    }
}
