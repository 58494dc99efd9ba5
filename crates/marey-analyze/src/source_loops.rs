//! What loops of the source cost: processor time, calls of libraries, data that these moved, waiting in them.
//!
//! The one idea: a loop is a stretch of lines, and a call stack says by its lines which loops were being run. So all loops
//! that some frame of a stack lies in have what happened there, each once; for its own a loop has only what was done in its
//! lines themselves, and in those of no loop within it.
//!
//! Deliberately absent: where loops are. That is read from sources, and handed in.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Nanos};

use crate::samples::{Sampled, around, library_call};
use crate::trace::{Frame, Trace};
use crate::waits::Waits;

/// A loop as the source has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLoop<'s> {
    /// Source file, as debug information names it.
    pub file: &'s str,
    /// Its first line, from 1.
    pub first: u32,
    /// Its last line.
    pub last: u32,
}

/// What a loop costs, of all locations together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LoopCost {
    /// Processor time in its own lines, without loops within.
    pub exclusive: Sampled,
    /// And in loops within, and in whatever it called.
    pub inclusive: Sampled,
    /// Measured calls of libraries that were made from within, directly or by functions that it called.
    pub calls: u64,
    /// How long they took.
    pub call_time: Nanos,
    /// Data that they moved, bytes.
    pub bytes: u64,
    /// How long was waited in them; 0 where waits are not known.
    pub waiting: Nanos,
}

/// What loops cost, in the order in which they are given. Loops of a file lie in each other or apart. Time grows with the
/// samples, the call paths and the waits, each times the frames of a stack; it needs the waits of the run, if they are known.
pub fn source_loops(
    trace: &dyn Trace,
    loops: &[SourceLoop<'_>],
    waits: Option<&Waits>,
) -> (Vec<LoopCost>, Sampled) {
    let places = Places::new(loops);
    let mut costs = vec![LoopCost::default(); loops.len()];
    let mut whole = Sampled::default();
    for row in trace.samples() {
        whole.add(row);
        let stack = row.stack.map_or_else(Vec::new, |stack| trace.stack(stack));
        let call = row.call_path.and_then(|path| library_call(trace, path));
        let (frames, is_own) = match &call {
            Some(call) => (around(trace, call, stack), false),
            None => (stack, true),
        };
        // What was done in a call, or in a function without lines, is no line's own.
        if let Some(own) = frames.first().filter(|_| is_own).and_then(|frame| places.innermost(frame)) {
            costs[own].exclusive.add(row);
        }
        places.all(&frames).into_iter().for_each(|place| costs[place].inclusive.add(row));
    }
    // By call path the loops that its calls were made from; only of calls that no other measured call has made.
    let mut of_path: Vec<Vec<usize>> = vec![Vec::new(); trace.call_paths().len()];
    for (loops, path) in of_path.iter_mut().zip((0..).map_while(CallPathId::from_idx)) {
        if let Some(call) = library_call(trace, path) {
            *loops = places.all(&around(trace, &call, Vec::new()));
        }
    }
    for row in trace.profile() {
        let is_outermost = library_call(trace, row.call_path).is_some_and(|call| call.path == row.call_path);
        for place in of_path.get(row.call_path.idx()).into_iter().flatten().filter(|_| is_outermost) {
            let cost = &mut costs[*place];
            cost.calls = cost.calls.saturating_add(row.visits);
            cost.call_time = cost.call_time + row.inclusive;
            cost.bytes = cost.bytes.saturating_add(row.bytes);
        }
    }
    for wait in waits.iter().flat_map(|waits| &waits.list) {
        let loops = wait.call_path.and_then(|path| of_path.get(path.idx()));
        loops.into_iter().flatten().for_each(|place| {
            costs[*place].waiting = costs[*place].waiting + wait.length();
        });
    }
    (costs, whole)
}

/// Loops by file and line.
pub(crate) struct Places<'s> {
    /// By file, in the order of their first lines, what is around another before it.
    of_file: BTreeMap<&'s str, Vec<Nested>>,
}

/// A loop among those of its file.
struct Nested {
    first: u32,
    last: u32,
    /// The one around it, among those of the file.
    around: Option<usize>,
    /// Its place in the list that was given.
    place: usize,
}

impl<'s> Places<'s> {
    pub(crate) fn new(loops: &[SourceLoop<'s>]) -> Self {
        let mut of_file: BTreeMap<&str, Vec<Nested>> = BTreeMap::new();
        for (place, it) in loops.iter().enumerate() {
            let nested = Nested { first: it.first, last: it.last, around: None, place };
            of_file.entry(it.file).or_default().push(nested);
        }
        for loops in of_file.values_mut() {
            // Of two on the same lines the one that is given first is around the other.
            loops.sort_by_key(|it| (it.first, std::cmp::Reverse(it.last)));
            let mut open: Vec<usize> = Vec::new();
            for at in 0..loops.len() {
                while open.last().is_some_and(|around| loops[*around].last < loops[at].last) {
                    open.pop();
                }
                loops[at].around = open.last().copied();
                open.push(at);
            }
        }
        Self { of_file }
    }

    /// The innermost loop that a line lies in, and the loops of its file.
    fn find(&self, frame: &Frame) -> Option<(usize, &[Nested])> {
        let loops = self.of_file.get(frame.file.as_str()).filter(|_| frame.line != 0)?;
        let mut at = loops.partition_point(|it| it.first <= frame.line).checked_sub(1);
        // Whoever begins last and is over has those around it that are not.
        while let Some(place) = at.filter(|place| loops[*place].last < frame.line) {
            at = loops[place].around;
        }
        at.map(|at| (at, loops.as_slice()))
    }

    pub(crate) fn innermost(&self, frame: &Frame) -> Option<usize> {
        self.find(frame).map(|(at, loops)| loops[at].place)
    }

    /// All loops that some frame lies in, each once.
    fn all(&self, frames: &[&Frame]) -> Vec<usize> {
        let mut found = Vec::new();
        for frame in frames {
            let Some((innermost, loops)) = self.find(frame) else { continue };
            let mut at = Some(innermost);
            while let Some(place) = at {
                if !found.contains(&loops[place].place) {
                    found.push(loops[place].place);
                }
                at = loops[place].around;
            }
        }
        found
    }
}
