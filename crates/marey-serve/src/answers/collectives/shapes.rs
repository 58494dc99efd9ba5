//! What of operations is drawn: each by itself, or those of about the same time together.

use std::collections::BTreeMap;

use marey_model::{CallPathId, LocationId};

use super::{NONE, Part, last, region};
use crate::ranges;
use crate::run::Opened;
use crate::wire::{Operation, Window};

/// More members than this are no picture.
const MOST: usize = 20_000;

/// An operation, or several.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) first: Operation,
    pub(super) region: u32,
    pub(super) last: u32,
    pub(super) number: u64,
    pub(super) members: Vec<Member>,
}

/// A member of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) location: u32,
    pub(super) line: u32,
    pub(super) enter: i64,
    pub(super) leave: Option<i64>,
}

/// Takes operations, and says what is to be drawn of them.
pub(super) struct Shapes<'s> {
    run: &'s Opened<'s>,
    window: &'s Window,
    number: u64,
    /// One by one, as long as there are few.
    alone: Vec<Shape>,
    members: usize,
    together: Option<Together>,
}

impl<'s> Shapes<'s> {
    pub(super) fn new(run: &'s Opened<'_>, window: &'s Window) -> Self {
        Self { run, window, number: 0, alone: Vec::new(), members: 0, together: None }
    }

    /// Takes all parts of an operation.
    pub(super) fn add(&mut self, parts: &[Part]) {
        let (Some(first), Some(last)) = (parts.first(), last(parts)) else { return };
        let is_meant = |part: &&Part| ranges::hold(&self.window.locations, part.location);
        let mut members: Vec<Member> = parts.iter().filter(is_meant).map(|part| self.member(part)).collect();
        members.sort_by_key(|member| (member.location, member.enter));
        self.number += 1;
        let region = region(self.run, parts).unwrap_or(NONE);
        let shape = Shape { first: first.operation, region, last, number: 1, members };
        if let Some(together) = &mut self.together {
            together.add(&shape);
            return;
        }
        self.members += shape.members.len();
        self.alone.push(shape);
        if self.members > MOST {
            let mut together = Together::new(self.window);
            self.alone.drain(..).for_each(|shape| together.add(&shape));
            self.together = Some(together);
        }
    }

    fn member(&self, part: &Part) -> Member {
        let line = self.run.line_of(LocationId(part.location), CallPathId(part.path)).unwrap_or(NONE);
        Member { location: part.location, line, enter: part.enter, leave: part.leave }
    }

    /// How many there are, and what is to be drawn of them.
    pub(super) fn finish(self) -> (u64, Vec<Shape>) {
        let mut told = self.together.map_or(self.alone, Together::finish);
        told.sort_by_key(|shape| (shape.members.iter().map(|member| member.enter).min(), shape.first));
        (self.number, told)
    }
}

/// Operations of one communicator and region that were entered in the same slice of the window.
struct Together {
    from_ns: i64,
    slice: i64,
    sums: BTreeMap<(u32, u32, i64), Sum>,
    /// Of all sums together.
    members: usize,
}

#[derive(Default)]
struct Sum {
    number: u64,
    /// The instance that comes first.
    first: Option<u32>,
    /// How often who came last.
    last: BTreeMap<u32, u64>,
    /// By location.
    members: BTreeMap<u32, Times>,
}

/// How many times there are, and their sums since the window's begin.
#[derive(Clone, Copy, Default)]
struct Times {
    line: u32,
    entered: (u64, i128),
    left: (u64, i128),
}

impl Together {
    /// At first the window has so many slices; half as many whenever there are too many sums.
    const SLICES: i64 = 512;

    fn new(window: &Window) -> Self {
        let slice = ((window.to_ns - window.from_ns) / Self::SLICES).max(1);
        Self { from_ns: window.from_ns, slice, sums: BTreeMap::new(), members: 0 }
    }

    fn add(&mut self, shape: &Shape) {
        let since = |time: i64| i128::from(time) - i128::from(self.from_ns);
        let members = shape.members.iter().map(|member| {
            let left = member.leave.map_or((0, 0), |leave| (1, since(leave)));
            (member.location, Times { line: member.line, entered: (1, since(member.enter)), left })
        });
        let sum = Sum {
            number: 1,
            first: Some(shape.first.instance),
            last: BTreeMap::from([(shape.last, 1)]),
            members: members.collect(),
        };
        // What was entered before the window is in its first slice.
        let entered = shape.members.iter().map(|member| member.enter).max().unwrap_or(self.from_ns);
        let place = entered.saturating_sub(self.from_ns).max(0) / self.slice;
        self.join((shape.first.communicator, shape.region, place), sum);
        while self.members > MOST && self.sums.len() > 1 && self.slice < i64::MAX / 4 {
            self.slice *= 2;
            self.members = 0;
            for ((communicator, region, place), sum) in std::mem::take(&mut self.sums) {
                self.join((communicator, region, place / 2), sum);
            }
            // One slice is all of the window.
            if self.sums.keys().all(|key| key.2 == 0) {
                break;
            }
        }
    }

    fn join(&mut self, key: (u32, u32, i64), more: Sum) {
        let sum = self.sums.entry(key).or_default();
        sum.number += more.number;
        sum.first = sum.first.into_iter().chain(more.first).min();
        for (location, number) in more.last {
            *sum.last.entry(location).or_default() += number;
        }
        for (location, more) in more.members {
            let is_new = !sum.members.contains_key(&location);
            self.members += usize::from(is_new);
            let times = sum.members.entry(location).or_insert(Times { line: more.line, ..Times::default() });
            times.entered = (times.entered.0 + more.entered.0, times.entered.1 + more.entered.1);
            times.left = (times.left.0 + more.left.0, times.left.1 + more.left.1);
        }
    }

    fn finish(self) -> Vec<Shape> {
        let from_ns = self.from_ns;
        let mean = |(number, sum): (u64, i128)| {
            let mean = sum / i128::from(number.max(1)) + i128::from(from_ns);
            i64::try_from(mean).unwrap_or(i64::MAX)
        };
        let told = self.sums.into_iter().map(|((communicator, region, _), sum)| {
            let members = sum.members.into_iter().map(|(location, times)| Member {
                location,
                line: times.line,
                enter: mean(times.entered),
                leave: (times.left.0 > 0).then(|| mean(times.left)),
            });
            // Of equals the first.
            let last = sum.last.iter().rev().max_by_key(|(_, number)| **number);
            Shape {
                first: Operation { communicator, instance: sum.first.unwrap_or(0) },
                region,
                last: last.map_or(NONE, |(location, _)| *location),
                number: sum.number,
                members: members.collect(),
            }
        });
        let mut told: Vec<Shape> = told.collect();
        if told.iter().map(|shape| shape.members.len()).sum::<usize>() > MOST {
            // More communicators than a picture has lines: those that were used most.
            told.sort_by_key(|shape| std::cmp::Reverse(shape.number));
            let mut members = 0;
            told.retain(|shape| {
                members += shape.members.len();
                members <= MOST
            });
        }
        told
    }
}
