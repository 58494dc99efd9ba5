//! Phases: the iterations of a program, found without being told.
//!
//! The one idea: what repeats is a sequence of places in one function of the program, so loops are found in the tree of
//! call sites, and their iterations are then compared with each other like visits of a region.
//!
//! The definitions are those of `docs/phases.md`.
//!
//! What is deliberately absent: why an iteration was late beyond what was done in it ([`crate::delays`]).

mod borders;
mod find;
mod judge;
mod marks;
mod shares;
mod tree;

use marey_model::{CallPathId, LocationId, Nanos};

use crate::activities::Activity;
use crate::happenings::{Happenings, Span, Unread};
use crate::trace::{Frame, Trace};
use crate::waits::Waits;
use tree::{Token, Tree};

/// Locations that loops are looked for on.
const MOST_LOCATIONS: usize = 64;

/// The loops of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Phases {
    /// An outer one stands before those inside it.
    pub loops: Vec<Loop>,
    /// The main loop: its place among them. `None` = nothing repeats.
    pub main: Option<usize>,
    /// How many locations were looked at.
    pub looked_at: usize,
}

/// A loop of the program.
#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    /// The loop that it is an inner loop of: its place among all.
    pub inside: Option<usize>,
    /// How many iterations it has.
    pub number: u64,
    /// So many in a row are one in the list of iterations; mostly 1.
    pub per: u64,
    /// How many times the function that it is in was entered.
    pub rounds: u64,
    /// What the iterations are told by.
    pub border: Border,
    /// The call that they are told by.
    pub site: Site,
    /// Where.
    pub locations: Vec<LocationId>,
    /// All iterations, in their order.
    pub iterations: Vec<Iteration>,
    /// Kinds of iterations, by what was visited in them; the most frequent first.
    pub kinds: Vec<Kind>,
    /// Durations.
    pub time: Figures,
    /// How durations change.
    pub drift: Drift,
    /// Iterations that are longer than others of their kind, that with the largest excess first.
    pub outliers: Vec<Outlier>,
}

/// What iterations are told by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Border {
    /// They begin with the call.
    Opens,
    /// They end with it.
    Closes,
    /// They are the visits of a region of the program.
    Visit,
}

/// A place in the program that recurs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// The first call path that belongs to it.
    pub call_path: CallPathId,
    /// If it is a call of a function that no region tells of: from where.
    pub frame: Option<Frame>,
    /// That call path is all that belongs to it.
    pub is_single: bool,
}

/// An iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Iteration {
    /// When it began …
    pub from: Nanos,
    /// … and ended.
    pub to: Nanos,
    /// Its kind: a place among the loop's.
    pub kind: usize,
    /// A number that iterations of one kind have in common.
    sign: u64,
}

impl Iteration {
    /// How long it took.
    pub fn length(&self) -> Nanos {
        self.to - self.from
    }
}

/// Iterations in which the same call paths were visited.
#[derive(Clone, PartialEq, Debug)]
pub struct Kind {
    /// How many.
    pub number: u64,
    /// Their durations.
    pub time: Figures,
    /// Every so many iterations there is one.
    pub every: Option<u64>,
    /// The first of them.
    pub first: usize,
}

/// Figures of a list of numbers.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Figures {
    /// The least.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// As many are larger as are smaller.
    pub median: f64,
    /// The largest.
    pub max: f64,
    /// Standard deviation of all.
    pub deviation: f64,
}

/// How durations change in the course of a loop.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Drift {
    /// By how much an iteration is longer than the one before, ns.
    pub slope: f64,
    /// By what part of the median durations change from the first to the last.
    pub change: f64,
    /// The probability that chance alone gives as much.
    pub p: f64,
}

impl Drift {
    /// Whether it is more than chance, and enough to matter.
    pub fn is_significant(&self) -> bool {
        self.p < 0.01 && self.change.abs() >= 0.01
    }
}

/// An iteration that took longer than its like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outlier {
    /// Its place.
    pub iteration: usize,
    /// How long those take that it is compared with, ns.
    pub expected: f64,
    /// By how much it is longer, ns.
    pub excess: f64,
    /// How many robust standard deviations of the logarithm it is away.
    pub score: f64,
    /// It is compared with those of its own kind.
    pub has_like: bool,
}

/// What was done in the iterations of a loop.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shares {
    /// Time outside of calls of parallel libraries, ns, a mean over locations.
    pub useful: Figures,
    /// Time in waits.
    pub waiting: Figures,
    /// Time in MPI, waits included.
    pub mpi: Figures,
    /// Of each iteration the same three, ns.
    pub of_each: Vec<[f64; 3]>,
    /// By activity, waits apart, ns; that which varies most first.
    pub activities: Vec<(Activity, Figures)>,
    /// Of each kind the activity that takes most time in it and is not there at all in the usual one.
    pub only_in: Vec<Option<Activity>>,
    /// The most typical iteration.
    pub typical: Option<usize>,
    /// What was different in outliers, in their order; `None` = nothing took longer.
    pub different: Vec<Option<Different>>,
    /// Locations that take part.
    pub locations: Vec<LocationId>,
}

/// What took longer in an iteration than usually.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Different {
    /// Where.
    pub location: LocationId,
    /// What.
    pub activity: Activity,
    /// How long it took.
    pub time: Nanos,
    /// By how much that is more than in other iterations, ns.
    pub excess: f64,
}

/// Finds the loops of a run: two passes over the intervals.
///
/// # Errors
/// What of the run could not be read.
pub fn phases(run: &impl Trace, events: &impl Happenings) -> Result<Phases, Unread> {
    phases_in(run, events, Span { from: Nanos(0), to: run.duration() })
}

/// Finds the loops of a part of a run, an [`Excerpt`](crate::Excerpt) and its events as a [`CutOut`](crate::CutOut) has them:
/// how much of the span a loop takes counts. Two passes over the intervals.
///
/// # Errors
/// What of the run could not be read.
pub fn phases_in(run: &impl Trace, events: &impl Happenings, span: Span) -> Result<Phases, Unread> {
    let tree = Tree::new(run);
    let locations = tree::looked_at(run, MOST_LOCATIONS);
    let marks = marks::Marks::count(run, &tree, &locations, events)?;
    let found = find::find(&tree, &marks, span.to - span.from);
    drop(marks);
    let borders = borders::borders(run, &tree, events, &found)?;
    let describe = |(found, borders): (&find::Found, &borders::Borders)| {
        let (border, iterations) = borders.iterations(run, &tree, found);
        let mark = found.end(|ends| if border == Border::Closes { ends.1 } else { ends.0 });
        let node = &tree.nodes[mark.node().idx()];
        let (is_single, depth) = tree.only_region(mark.node());
        let frame = match &node.token {
            // Where it is the frame that called, the call says the same and more.
            Token::Frame(frame) if !is_single || depth > 1 => Some(frame.clone()),
            Token::Root | Token::Region(_) | Token::Frame(_) => None,
        };
        let mut told = Loop {
            inside: found.inside,
            number: found.number,
            per: borders.per,
            rounds: borders.rounds(),
            border,
            site: Site { call_path: node.first_path, frame, is_single },
            locations: found.spans.keys().copied().collect(),
            iterations,
            kinds: Vec::new(),
            time: Figures::default(),
            drift: Drift::default(),
            outliers: Vec::new(),
        };
        judge::judge(&mut told);
        told
    };
    let loops: Vec<Loop> = found.iter().zip(&borders).map(describe).collect();
    let outermost = found.iter().enumerate().filter(|(_, found)| found.inside.is_none());
    let main = outermost
        .max_by_key(|(place, found)| (found.covers(), std::cmp::Reverse((found.first(), *place))))
        .map(|(place, _)| place);
    Ok(Phases { loops, main, looked_at: locations.len() })
}

/// Tells what was done in the iterations of one loop: one pass over the intervals.
///
/// # Errors
/// What of the run could not be read.
pub fn shares(
    run: &impl Trace,
    events: &impl Happenings,
    waits: &Waits,
    of: &Loop,
) -> Result<Shares, Unread> {
    shares::shares(run, events, waits, of)
}

impl Loop {
    /// The iteration that an instant lies in.
    pub fn at(&self, time: Nanos) -> Option<usize> {
        let place = self.iterations.partition_point(|iteration| iteration.from <= time).checked_sub(1)?;
        (time < self.iterations[place].to).then_some(place)
    }

    /// From the first iteration to the end of the last.
    pub fn span(&self) -> (Nanos, Nanos) {
        let ends = (self.iterations.first(), self.iterations.last());
        if let (Some(first), Some(last)) = ends { (first.from, last.to) } else { (Nanos(0), Nanos(0)) }
    }
}
