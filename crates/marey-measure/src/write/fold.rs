//! Unsuccessful polls of one call site, folded into one record.
//!
//! The one idea: a program that has nothing to do asks by the hundred thousand whether something has
//! come. The first time that it has not is written down as any call is. If the next thing that the
//! thread does is to ask again, from the same call site and in vain, a record begins that counts the
//! polls and adds up their times, and that further ones are added to where it lies, in the window.
//!
//! Deliberately absent: which calls are polls, and when one is in vain.

use core::sync::atomic::{Ordering, compiler_fence};

use marey_model::spool::op;

use super::announce::{forget, write_announced};
use super::{Scratch, commit, put_delta_to};
use crate::counting;
use crate::thread::{Thread, state};

/// Longer than this many ticks no record goes on (some 20 ms), so that one sees when a program polled how
/// often, and a reader need not look far ahead.
const LONGEST: u64 = 1 << 26;

/// The poll that the thread has written down last.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Fold {
    /// The thread's cursor behind it; another value says that something else was recorded since, 0 that
    /// there is none.
    pub(crate) cursor: u64,
    /// The record that it was added to; null if it stands alone.
    record: *mut Numbers,
    /// When that began.
    began: u64,
    site: u32,
}

/// The numbers of a record that grow, each behind a byte that says that it has eight.
#[repr(C, packed)]
struct Numbers {
    visits: Wide,
    inside: Wide,
    span: Wide,
    shortest: Wide,
    longest: Wide,
    squares: Wide,
}

#[repr(C, packed)]
struct Wide {
    tag: u8,
    value: u64,
}

/// Writes down an announced call of `site` that was in vain and took from `began`, which
/// [`super::settle`] gave, to `ended`: by itself, or together with those before it.
///
/// # Safety
/// As for [`write_announced`].
#[inline(always)]
pub unsafe fn write_poll(thread: *mut Thread, site: u32, began: u64, ended: u64) {
    // SAFETY: the caller's promise. While the cursor stands behind the record, its window is mapped.
    unsafe {
        let fold = &raw mut (*thread).fold;
        let is_next = (*fold).cursor == (*thread).cursor && (*fold).site == site;
        if !is_next || (*thread).state != state::RECORDING || began < (*thread).last || ended < began {
            return alone(thread, site, began, ended);
        }
        counting::at_end_of(thread, site);
        let inside = ended - began;
        if (*fold).record.is_null() {
            return open(thread, site, began, ended);
        }
        let span = ended - (*fold).began;
        if span > LONGEST {
            return alone(thread, site, began, ended);
        }
        let numbers = (*fold).record;
        // The number of polls last: a process that dies before has not had this one, and its time at most
        // is there too much.
        let add = |at: *mut u64, value: u64| at.write_unaligned(at.read_unaligned().wrapping_add(value));
        add(&raw mut (*numbers).inside.value, inside);
        (&raw mut (*numbers).span.value).write_unaligned(span);
        let shortest = &raw mut (*numbers).shortest.value;
        if inside < shortest.read_unaligned() {
            shortest.write_unaligned(inside);
        }
        let longest = &raw mut (*numbers).longest.value;
        if inside > longest.read_unaligned() {
            longest.write_unaligned(inside);
        }
        let squares = &raw mut (*numbers).squares.value;
        let sum = f64::from_bits(squares.read_unaligned()) + inside as f64 * inside as f64;
        squares.write_unaligned(sum.to_bits());
        (*thread).last = ended;
        forget(thread);
        compiler_fence(Ordering::SeqCst);
        add(&raw mut (*numbers).visits.value, 1);
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
}

/// A poll that begins a record for those that follow.
#[inline(never)]
unsafe fn open(thread: *mut Thread, site: u32, began: u64, ended: u64) {
    // SAFETY: the caller's promise (see `write_poll`).
    unsafe {
        if (*thread).cursor >= (*thread).brim || (*thread).depth >= (*thread).max_depth {
            return alone(thread, site, began, ended);
        }
        let mut scratch = Scratch((*thread).cursor as *mut u8);
        scratch.byte(op::FOLDED);
        scratch.number(site.into());
        put_delta_to(thread, &mut scratch, began);
        let record = scratch.0.cast::<Numbers>();
        let inside = ended - began;
        let squares = (inside as f64 * inside as f64).to_bits();
        for value in [1, inside, inside, inside, inside, squares] {
            scratch.long_number(value);
        }
        (*thread).last = ended;
        forget(thread);
        commit(thread, scratch.0 as u64);
        (*thread).fold = Fold { cursor: scratch.0 as u64, record, began, site };
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
}

/// A poll that is written down as any call is.
#[inline(never)]
unsafe fn alone(thread: *mut Thread, site: u32, began: u64, ended: u64) {
    // SAFETY: the caller's promise (see `write_poll`).
    unsafe {
        write_announced(thread, site, began, ended, |_, _| ());
        let cursor = (*thread).cursor;
        (*thread).fold = Fold { cursor, record: core::ptr::null_mut(), began, site };
    }
}
