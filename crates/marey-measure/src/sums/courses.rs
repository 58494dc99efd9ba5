//! When the time of a thread's call paths passed, in constant space.
//!
//! The one idea: nothing is written but at the end of a bucket, and then how much time each call path has had until
//! then; so events cost nothing. How that lies in the file, and why it is right whenever the process dies, is told
//! in [`marey_model::spool::courses`].
//!
//! Deliberately absent: call paths beyond the first [`MAX_COURSES`], of which nobody knows when they were.

#![expect(clippy::cast_possible_truncation, reason = "courses are few, and their times are cut to 32 bits")]

use core::sync::atomic::{AtomicU64, Ordering, compiler_fence};

use marey_model::spool::Stream;
use marey_model::spool::courses::{BUCKETS, COURSE_LEN, MOST_SCALE, unit_log2, width_log2};
use marey_model::spool::sums::NOBODY;

use super::cells::{Cells, MAX_CELLS};
use crate::items::{Layout, Owner, Windows};
use crate::runtime::Runtime;

/// Call paths of a thread that have a course: 2 MiB of them.
const MAX_COURSES: usize = 1 << 10;
const LAYOUT: Layout = Layout { first: 16 << 10, later: 64 << 10, item: COURSE_LEN };

/// A course in the file.
#[repr(C)]
struct Course {
    /// The cell, and how often its buckets became wider. Written as one.
    what: AtomicU64,
    ends: [u32; BUCKETS],
}

const _: () = assert!(size_of::<Course>() == COURSE_LEN);

/// The first word of a course of a cell.
const fn what(cell: u32, scale: u32) -> u64 {
    cell as u64 | (scale as u64) << 32
}

/// All courses of a thread. Zeros are none.
#[repr(C)]
pub(super) struct Courses {
    /// When the present bucket ends, ticks; never, if there is no room.
    pub(super) edge: u64,
    origin: u64,
    /// How often buckets became wider.
    scale: u32,
    /// Courses, that which is being changed too.
    len: u32,
    /// There is no room for another one.
    is_full: bool,
    windows: Windows<{ LAYOUT.windows(MAX_COURSES) }>,
    /// For each cell the number of its course; 0 if it has none yet.
    of: [u16; MAX_CELLS],
    /// What each cell had had when it was last written down.
    had: [u64; MAX_CELLS],
}

impl Courses {
    /// The first bucket begins. There is nothing in the file yet, for many threads end before the bucket does.
    pub(super) fn begin(&mut self, ticks: u64) {
        (self.origin, self.edge) = (ticks, ticks.saturating_add(1 << width_log2(0)));
    }

    /// The present bucket ends: what call paths have had until now is written down, of all or of only one.
    pub(super) fn cross(&mut self, runtime: &Runtime, thread: u32, cells: &Cells, only: Option<u32>) {
        if self.windows.summed().is_none() && !self.make_first(runtime, thread) {
            self.edge = u64::MAX;
            return;
        }
        let bucket = ((self.edge - self.origin) >> width_log2(self.scale)) as usize - 1;
        for cell in only.map_or(0..cells.len(), |only| only..only.saturating_add(1)) {
            let has = cells.exclusive(cell);
            if self.had.get(cell as usize).is_some_and(|&had| had != has) {
                self.had[cell as usize] = has;
                self.write(runtime, thread, (cell, bucket), has);
            }
        }
        compiler_fence(Ordering::SeqCst);
        if let Some(begin) = self.windows.summed() {
            begin.store(self.edge, Ordering::Release);
        }
        if bucket == BUCKETS - 1 {
            self.scale += 1;
        }
        let end = self.edge.checked_add(1 << width_log2(self.scale)).filter(|_| self.scale < MOST_SCALE);
        self.edge = end.unwrap_or(u64::MAX);
    }

    /// Unmaps the windows.
    pub(super) fn unmap(&mut self) {
        self.windows.unmap(LAYOUT);
    }

    /// Writes down what a call path has had at the end of a bucket.
    fn write(&mut self, runtime: &Runtime, thread: u32, (cell, bucket): (u32, usize), has: u64) {
        let course = match self.of[cell as usize] {
            0 => {
                let Some(number) = self.make(runtime, thread, cell) else { return };
                self.of[cell as usize] = number as u16;
                number
            }
            number => number.into(),
        };
        let course = self.course(course);
        // SAFETY: courses are mapped for good, and only this thread writes them; the one that is being changed
        // is another one.
        let (course, changing) = unsafe { (&mut *course, &mut *self.course(0)) };
        loop {
            let scale = (course.what.load(Ordering::Relaxed) >> 32) as u32;
            if scale >= self.scale {
                break;
            }
            widen(course, changing, cell, scale);
        }
        course.ends[bucket] = (has >> unit_log2(self.scale)).min(u32::MAX.into()) as u32;
    }

    fn make_first(&mut self, runtime: &Runtime, thread: u32) -> bool {
        self.make(runtime, thread, NOBODY).is_some()
    }

    /// Makes a course for a cell. `None` if there is no room.
    fn make(&mut self, runtime: &Runtime, thread: u32, cell: u32) -> Option<u32> {
        let number = self.len;
        if self.is_full {
            return None;
        }
        let owner = Owner { runtime, thread, stream: Stream::Courses, ticks: self.origin };
        if number as usize >= MAX_COURSES || !self.windows.has_room(LAYOUT, owner, number) {
            // Asked again for each bucket, the disk would not have more.
            self.is_full = true;
            if number > 0 {
                // SAFETY: the first course is there.
                unsafe { (*self.course(0)).ends[BUCKETS - 1] = 1 };
            }
            return None;
        }
        // SAFETY: the window is there and has room for the course, whose bytes are zeros.
        unsafe {
            (*self.course(number)).what.store(what(cell, self.scale), Ordering::Relaxed);
            self.windows.commit(LAYOUT, number);
        }
        self.len += 1;
        Some(number)
    }

    fn course(&self, number: u32) -> *mut Course {
        // SAFETY: the caller has seen that there is room for it.
        unsafe { self.windows.item(LAYOUT, number).cast() }
    }
}

/// Makes the buckets of a course twice as wide.
fn widen(course: &mut Course, changing: &mut Course, cell: u32, scale: u32) {
    let smaller = unit_log2(scale + 1) - unit_log2(scale);
    for (end, two) in changing.ends.iter_mut().zip(course.ends.as_chunks::<2>().0) {
        *end = two[0].max(two[1]) >> smaller;
    }
    // From here on the other one counts, which is whole, until this one is.
    compiler_fence(Ordering::SeqCst);
    changing.what.store(what(cell, scale + 1), Ordering::Release);
    compiler_fence(Ordering::SeqCst);
    let (first, second) = course.ends.split_at_mut(BUCKETS / 2);
    first.copy_from_slice(&changing.ends[..BUCKETS / 2]);
    second.fill(0);
    course.what.store(what(cell, scale + 1), Ordering::Release);
    compiler_fence(Ordering::SeqCst);
    changing.what.store(what(NOBODY, 0), Ordering::Release);
    compiler_fence(Ordering::SeqCst);
}
