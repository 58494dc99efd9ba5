//! Courses: when the time of a call path passed of which there are only sums.
//!
//! The one idea: a thread's time since it began to add up lies in at most [`BUCKETS`] buckets, and where it outgrows
//! them, two neighbours become one. Of a call path it is written down once a bucket how much exclusive time it
//! had had when the bucket ended. So what passes in the last bucket needs no writing, and sums that are older
//! than a course, because the process was killed before they counted, cut it off where they end.
//!
//! A stream of courses consists of [`COURSE_LEN`] bytes for each call path: the number of its cell, how often its
//! buckets were made wider, and what it had had at the end of each, 0 where that had not grown. The first course
//! of a stream is a call path's whose buckets are being made wider, and counts instead of its own; it has no cell
//! otherwise ([`NOBODY`]), and its last number is not 0 if there was no room for the courses of others. The
//! head of the first window says where the first bucket begins (its ticks), and where the last does
//! ([`super::at::SUMMED`]).

use super::sums::NOBODY;
use super::window::HEAD_LEN;

/// Buckets of a course.
pub const BUCKETS: usize = 512;
/// Bytes of a course.
pub const COURSE_LEN: usize = 8 + 4 * BUCKETS;
/// log₂ of the ticks in a bucket at first.
pub const WIDTH_LOG2: u32 = 20;
/// As often buckets can become wider.
pub const MOST_SCALE: u32 = 30;

/// log₂ of the ticks in a bucket that became wider so often.
pub const fn width_log2(scale: u32) -> u32 {
    WIDTH_LOG2 + scale
}

/// log₂ of the ticks that times are counted in, so that the time of all buckets is less than 2³² of them.
pub const fn unit_log2(scale: u32) -> u32 {
    (width_log2(scale) + BUCKETS.ilog2()).saturating_sub(u32::BITS)
}

/// When the time of a call path passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Course {
    /// The cell of the call path.
    pub cell: u32,
    /// How often its buckets were made wider.
    pub scale: u32,
    ends: [u32; BUCKETS],
}

impl Course {
    /// How much of the exclusive time of a call path passed in which bucket, ticks, buckets without left out; and
    /// how much in the bucket that has not ended.
    pub fn times(&self, exclusive: u64) -> (Vec<(u64, u64)>, u64) {
        let mut before = 0;
        let ends = self.ends.iter().map(|&end| u64::from(end) << unit_log2(self.scale));
        let time = |(bucket, end): (u64, u64)| {
            let end = end.min(exclusive);
            let time = end.checked_sub(before).filter(|&time| time > 0)?;
            before = end;
            Some((bucket, time))
        };
        let times = (0..).zip(ends).filter_map(time).collect();
        (times, exclusive - before)
    }
}

/// The courses of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Courses {
    /// Those of call paths that had time before the last bucket began.
    pub courses: Vec<Course>,
    /// There was no room for those of others.
    pub is_full: bool,
}

/// The courses in windows of one stream, each from its beginning to the end of what is committed, in their order.
/// What makes no sense is left out.
pub fn courses(windows: &[impl AsRef<[u8]>]) -> Courses {
    let mut all = windows.iter().flat_map(|window| {
        window.as_ref().get(HEAD_LEN..).unwrap_or_default().chunks_exact(COURSE_LEN).filter_map(course)
    });
    let Some(changing) = all.next() else { return Courses::default() };
    let all = all.map(|course| if course.cell == changing.cell { changing.clone() } else { course });
    Courses {
        courses: all.filter(|course| course.cell != NOBODY).collect(),
        is_full: changing.ends[BUCKETS - 1] != 0,
    }
}

fn course(bytes: &[u8]) -> Option<Course> {
    let mut words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    let (cell, scale) = (words.next()?, words.next()?);
    let mut ends = [0; BUCKETS];
    ends.iter_mut().zip(words).for_each(|(end, word)| *end = word);
    Some(Course { cell, scale: scale.min(MOST_SCALE), ends })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Ends<'a> = &'a [(usize, u32)];

    fn window(courses: &[(u32, u32, Ends<'_>)]) -> Vec<u8> {
        let mut bytes = vec![0; HEAD_LEN];
        for &(cell, scale, ends) in courses {
            let mut words = vec![0; BUCKETS + 2];
            (words[0], words[1]) = (cell, scale);
            ends.iter().for_each(|&(bucket, end)| words[2 + bucket] = end);
            bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
        }
        bytes
    }

    #[test]
    fn times_end_where_the_sums_do() {
        let windows = [window(&[(NOBODY, 0, &[]), (3, 0, &[(1, 100), (4, 150), (5, 180)])])];
        let found = courses(&windows);
        assert!(!found.is_full);
        let times = |exclusive| found.courses[0].times(exclusive);
        assert_eq!(times(180), (vec![(1, 100), (4, 50), (5, 30)], 0));
        assert_eq!(times(200), (vec![(1, 100), (4, 50), (5, 30)], 20));
        // The process was killed in a round in which buckets ended.
        assert_eq!(times(120), (vec![(1, 100), (4, 20)], 0));
        assert_eq!(times(0), (vec![], 0));
    }

    #[test]
    fn a_course_that_is_being_changed_counts_instead() {
        let windows =
            [window(&[(7, 4, &[(0, 9)]), (6, 3, &[(0, 5)])]), window(&[(7, 3, &[(0, 1), (1, 18)])])];
        let found = courses(&windows).courses;
        assert_eq!(
            found.iter().map(|course| (course.cell, course.scale)).collect::<Vec<_>>(),
            [(6, 3), (7, 4)]
        );
        assert_eq!(found[1].times(20), (vec![(0, 18)], 2));
    }
}
