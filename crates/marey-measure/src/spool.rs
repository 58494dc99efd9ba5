//! Windows of the process's two files.
//!
//! A file is opened by its path for each new window and closed again: a descriptor that stayed
//! open could be closed and reused by the program (`closefrom`, `dup2`), and we would write into
//! its files. A window of 256 KiB makes that a few system calls in 100 000 events.

#![expect(clippy::cast_possible_truncation, reason = "a window is at most 1 GiB")]

use core::sync::atomic::{AtomicU64, Ordering};
use std::ffi::CString;

use marey_model::spool::{ALIGN, Head, MAX_WINDOW, Open, SLACK};

use crate::sys::{File, PAGE};

// Whole pages are reserved.
const _: () = assert!(ALIGN.is_multiple_of(PAGE));

/// One file that windows are cut from, in the order in which threads ask for them.
pub(crate) struct SpoolFile {
    path: CString,
    len: AtomicU64,
    /// Most bytes that the file may have; 0 for any number.
    max: u64,
}

impl SpoolFile {
    /// Makes the file, which must not exist.
    pub(crate) fn create(path: CString, max: u64) -> Option<Self> {
        File::open(&path, true)?;
        Some(Self { path, len: AtomicU64::new(0), max })
    }

    /// Removes a file that nothing has been written to.
    pub(crate) fn remove(&self) {
        File::remove(&self.path);
    }

    /// Reserves and maps a window of `len` bytes, and more for the open regions, and writes its head. The
    /// address of the window.
    pub(crate) fn window(&self, head: &mut Head, open: &[Open], len: usize) -> Option<*mut u8> {
        self.window_within(head, open, len, if self.max == 0 { u64::MAX } else { self.max })
    }

    /// The same for what a thread needs that has come to the limit.
    pub(crate) fn window_beyond_limit(&self, head: &mut Head, open: &[Open], len: usize) -> Option<*mut u8> {
        self.window_within(head, open, len, u64::MAX)
    }

    fn window_within(&self, head: &mut Head, open: &[Open], len: usize, limit: u64) -> Option<*mut u8> {
        let open_len = size_of_val(open);
        let len = (len + open_len).max(Head::records_at(open.len()) + 2 * SLACK).next_multiple_of(ALIGN);
        if len > MAX_WINDOW {
            return None;
        }
        let file = File::open(&self.path, false)?;
        let longer = |offset: u64| offset.checked_add(len as u64).filter(|&end| end <= limit);
        // A window that does not fit takes nothing from smaller ones.
        let offset = self.len.fetch_update(Ordering::Relaxed, Ordering::Relaxed, longer).ok()?;
        if !file.reserve(offset, len) {
            // The bytes are not given back: another thread may have got those behind them. A
            // reader passes over the hole.
            return None;
        }
        let at = file.map(offset, len)?;
        head.size = len as u32;
        // SAFETY: `len` bytes were just mapped at `at` and nobody else knows them.
        let bytes = unsafe { core::slice::from_raw_parts_mut(at, len) };
        head.encode_into(open, bytes);
        Some(at)
    }
}

/// Length of the window of a stream that has `written` bytes of records already.
///
/// Two pages at first, since programs with thousands of short threads exist; then as much as there is,
/// up to 64 KiB; then a quarter of it, because a process that is killed leaves its last window as it is; at
/// last 256 KiB, which takes a tenth of a millisecond to reserve, and beyond which a page gets no cheaper.
pub(crate) const fn window_len(written: u64) -> usize {
    const SMALLEST: u64 = 8 << 10;
    const SMALL: u64 = 64 << 10;
    const LARGEST: u64 = 256 << 10;
    let len = if written < SMALLEST {
        SMALLEST
    } else if written < SMALL {
        written.next_power_of_two()
    } else if written < 4 * SMALL {
        SMALL
    } else if written < 4 * LARGEST {
        written / 4 / SMALL * SMALL
    } else {
        LARGEST
    };
    len as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_with_their_stream() {
        let lens = [0, 7_000, 20_000, 60_000, 70_000, 800 << 10, 1 << 20, 1 << 30].map(window_len);
        assert_eq!(lens.map(|len| len >> 10), [8, 8, 32, 64, 64, 192, 256, 256]);
        assert!(lens.iter().all(|len| len.is_multiple_of(ALIGN)));
    }
}
