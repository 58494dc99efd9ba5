//! Things of one length in windows of the process's file, where they stay until their thread ends.
//!
//! The one idea: the first window is small, since most threads need no more, and those behind it are larger;
//! so where a thing lies follows from its number.
//!
//! Deliberately absent: what they are.

use core::sync::atomic::{AtomicU64, Ordering};

use marey_model::spool::{HEAD_LEN, Head, SLACK, Stream, at};

use crate::clock;
use crate::runtime::Runtime;
use crate::sys;

/// How long windows and what lies in them are, bytes.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) first: usize,
    pub(crate) later: usize,
    pub(crate) item: usize,
}

impl Layout {
    const fn in_window(self, len: usize) -> usize {
        (len - HEAD_LEN - SLACK) / self.item
    }

    /// Windows for so many things.
    pub(crate) const fn windows(self, most: usize) -> usize {
        1 + (most - self.in_window(self.first)).div_ceil(self.in_window(self.later))
    }

    /// Which window a thing lies in, and where.
    #[inline(always)]
    pub(crate) const fn place_of(self, number: u32) -> (usize, usize) {
        let number = number as usize;
        let (window, idx) = match number.checked_sub(self.in_window(self.first)) {
            None => (0, number),
            Some(rest) => (1 + rest / self.in_window(self.later), rest % self.in_window(self.later)),
        };
        (window, HEAD_LEN + idx * self.item)
    }

    pub(crate) const fn window_len(self, place: usize) -> usize {
        if place == 0 { self.first } else { self.later }
    }
}

/// Whose windows they are: the thread's, of a stream, since a reading of the clock.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) thread: u32,
    pub(crate) stream: Stream,
    pub(crate) ticks: u64,
}

/// The windows of a thread. Zeros are none.
#[repr(C)]
pub(crate) struct Windows<const N: usize>([*mut u8; N]);

impl<const N: usize> Windows<N> {
    /// None yet.
    pub(crate) const fn none() -> Self {
        Self([core::ptr::null_mut(); N])
    }

    /// Makes room for the thing of this number, behind all that are there, whose bytes are zeros. False if
    /// there is none to be had.
    pub(crate) fn has_room(&mut self, layout: Layout, owner: Owner<'_>, number: u32) -> bool {
        let (place, _) = layout.place_of(number);
        match self.0.get_mut(place) {
            Some(window) if window.is_null() => {
                let made = open(owner, place, layout.window_len(place));
                *window = made.unwrap_or(core::ptr::null_mut());
                made.is_some()
            }
            window => window.is_some(),
        }
    }

    /// Says that the thing of this number is there.
    ///
    /// # Safety
    /// There is room for it.
    pub(crate) unsafe fn commit(&self, layout: Layout, number: u32) {
        let (place, at_item) = layout.place_of(number);
        // SAFETY: the caller's promise; heads are longer than every offset.
        let cursor = unsafe { &*self.0[place].add(at::CURSOR).cast::<AtomicU64>() };
        cursor.store((at_item + layout.item) as u64, Ordering::Release);
    }

    /// Where the thing of this number lies.
    ///
    /// # Safety
    /// There is room for it.
    #[inline(always)]
    pub(crate) unsafe fn item(&self, layout: Layout, number: u32) -> *mut u8 {
        let (place, at_item) = layout.place_of(number);
        // SAFETY: the caller's promise.
        unsafe { self.0[place].add(at_item) }
    }

    /// The word that says how far all of them are; `None` before there is a window.
    pub(crate) fn summed(&self) -> Option<&AtomicU64> {
        // SAFETY: windows are mapped as long as the thread lives, and heads are longer than every offset.
        (!self.0[0].is_null()).then(|| unsafe { &*self.0[0].add(at::SUMMED).cast::<AtomicU64>() })
    }

    /// Unmaps the windows.
    pub(crate) fn unmap(&mut self, layout: Layout) {
        for (place, window) in self.0.iter_mut().enumerate().filter(|(_, window)| !window.is_null()) {
            // SAFETY: `open` has mapped so much, and nothing in it is used after this.
            unsafe { sys::unmap(*window, layout.window_len(place)) };
            *window = core::ptr::null_mut();
        }
    }
}

/// A window for things that stay: the one of this place in its stream.
pub(crate) fn open(owner: Owner<'_>, place: usize, len: usize) -> Option<*mut u8> {
    let Owner { runtime, thread, stream, ticks } = owner;
    let mut head = Head {
        size: 0,
        process: runtime.key(),
        thread,
        stream,
        sequence: place as u64,
        // What the others are of, the first one says.
        ticks: if place == 0 { ticks } else { 0 },
        triple: clock::triple(runtime.clock()),
        bytes_before: 0,
        serial: 0,
        buffer: 0,
        round: 0,
        is_summing: false,
    };
    runtime.window_beyond_limit(&mut head, &[], len)
}
