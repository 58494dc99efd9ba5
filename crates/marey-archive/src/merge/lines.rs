//! A clock's correction as few lines as the bounds allow, and where one goes over into the next.
//!
//! The one idea: a line is followed for as long as one is left that all bounds allow, from the
//! beginning on and once more from the end. What both ways count to the same line belongs to it for
//! certain; between the two is where the clock was put forward or back, or changed its speed.
//!
//! A line that is only just possible is most likely none: a clock that bends within what messages leave
//! open pushes the lines that are possible to one side, away from the truth. So lines must leave three fifths of
//! the room that the quickest messages leave, and another one begins where none does.

use super::region::{Bound, MOST_DRIFT, Region};

/// Lines of a clock at most: knots are to be kept. A clock that bends more often is met less closely.
const MOST_LINES: usize = 48;
/// Contradictions up to this are taken for bends of clocks, ns.
const MOST_SLACK: f64 = 1e9;
/// How much of the room that the quickest messages leave must be left to a line.
const ROOM: f64 = 0.6;
/// Bounds that are looked at: what several hundred clocks say of one is more than can be followed often.
const MOST_BOUNDS: usize = 1 << 15;
/// Less than this is no time for a line, ns.
const STILL: f64 = 10.0;
/// How often single bounds that contradict all others are left out before whole stretches are.
const ROUNDS: usize = 32;

/// Bounds through which one line goes.
#[derive(Debug)]
pub(crate) struct Stretch {
    /// First and last time that belongs to it for certain.
    pub span: (f64, f64),
    pub region: Region,
    /// Bounds between this and the next that belong to either.
    pub behind: Vec<Bound>,
    /// When something that was sent behind this line was there at the latest, on the common axis.
    pub next_sent: Option<f64>,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Stretches {
    pub all: Vec<Stretch>,
    /// What bounds had to be loosened by, ns.
    pub slack: f64,
    /// Half of the time that the quickest messages there and back took together, ns.
    pub half_round: f64,
    /// Bounds that contradict others, and on which nothing could be built.
    pub contradicting: Vec<Bound>,
}

/// Finds the lines. Sorts the bounds. `None` if they are not from both sides.
pub(crate) fn find(span: (f64, f64), bounds: &mut Vec<Bound>) -> Option<Stretches> {
    if !is_two_sided(bounds) {
        return None;
    }
    bounds.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.stamp.total_cmp(&b.stamp)));
    thin(bounds);
    let (round, certain) = quickest(bounds);
    let mut slack = -ROOM * certain / 2.0;
    let all = bounds.clone();
    while slack < MOST_SLACK {
        let mut contradicting = Vec::new();
        let starts = two_sided(span, bounds, slack, &mut contradicting);
        if (1..=MOST_LINES).contains(&starts.len())
            && let Some(found) = stretches(span, bounds, &starts, slack)
        {
            return Some(Stretches {
                all: found,
                slack: slack.max(0.0),
                half_round: round / 2.0,
                contradicting,
            });
        }
        bounds.clone_from(&all);
        slack = if slack < 0.0 { 0.0 } else { (slack * 1.5).max(100.0) };
    }
    None
}

/// Of more bounds than anybody needs, keeps the tightest of each side of many short times.
fn thin(bounds: &mut Vec<Bound>) {
    if bounds.len() <= MOST_BOUNDS {
        return;
    }
    let size = bounds.len().div_ceil(MOST_BOUNDS / 2);
    let tightest = |own: &[Bound]| {
        let lower = own.iter().filter(|bound| bound.is_lower).max_by(|a, b| a.value.total_cmp(&b.value));
        let upper = own.iter().filter(|bound| !bound.is_lower).min_by(|a, b| a.value.total_cmp(&b.value));
        let mut kept: Vec<Bound> = lower.into_iter().chain(upper).copied().collect();
        kept.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.stamp.total_cmp(&b.stamp)));
        kept
    };
    *bounds = bounds.chunks(size).flat_map(tightest).collect();
}

fn is_two_sided(bounds: &[Bound]) -> bool {
    bounds.iter().any(|bound| bound.is_lower) && bounds.iter().any(|bound| !bound.is_lower)
}

/// How long the quickest way there and back took: as much as it can have been by the bounds, since
/// clocks drift between the two, and as much as it must have been.
fn quickest(bounds: &[Bound]) -> (f64, f64) {
    let mut best = (f64::INFINITY, 0.0);
    // The tightest bound so far of each side, as loose as drift has made it since.
    let mut tightest: [Option<Bound>; 2] = [None; 2];
    for bound in bounds {
        let (own, other) = (usize::from(bound.is_lower), usize::from(!bound.is_lower));
        if let Some(against) = tightest[other] {
            let drift = MOST_DRIFT * (bound.time - against.time);
            let room = (bound.value - against.value) * if bound.is_lower { -1.0 } else { 1.0 };
            if room <= drift {
                // The clock has been set: bounds from before say nothing about now.
                tightest = [None; 2];
            } else if room + drift < best.0 {
                best = (room + drift, room - drift);
            }
        }
        let is_tighter = tightest[own].is_none_or(|kept| {
            let drift = MOST_DRIFT * (bound.time - kept.time);
            let loose = if bound.is_lower { kept.value - drift } else { kept.value + drift };
            if bound.is_lower { bound.value >= loose } else { bound.value <= loose }
        });
        if is_tighter {
            tightest[own] = Some(*bound);
        }
    }
    if best.0.is_finite() { best } else { (0.0, 0.0) }
}

/// Where lines begin, followed from the first of these bounds on.
fn follow<'a>(span: (f64, f64), bounds: impl Iterator<Item = &'a Bound>, slack: f64) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut region: Option<Region> = None;
    for (place, bound) in bounds.enumerate() {
        if region.as_mut().is_some_and(|region| region.keep(bound, slack)) {
            continue;
        }
        starts.push(place);
        let mut fresh = Region::all(span, bound.value);
        region = fresh.keep(bound, slack).then_some(fresh);
    }
    starts
}

/// Where lines begin, when what would be a line of bounds from one side only has been left out.
fn two_sided(span: (f64, f64), bounds: &mut Vec<Bound>, slack: f64, out: &mut Vec<Bound>) -> Vec<usize> {
    for round in 0.. {
        let starts = follow(span, bounds.iter(), slack);
        if starts.len() == 1 || starts.len() > 4 * MOST_LINES && round > 0 {
            return starts;
        }
        let mut leave = vec![false; bounds.len()];
        for (idx, &start) in starts.iter().enumerate() {
            let end = starts.get(idx + 1).copied().unwrap_or(bounds.len());
            if !is_two_sided(&bounds[start..end]) {
                // Mostly it is the first that contradicts, and others were only counted to it.
                let last = if round < ROUNDS { start + 1 } else { end };
                leave[start..last].fill(true);
            }
        }
        if !leave.contains(&true) {
            return starts;
        }
        let mut places = leave.iter();
        bounds.retain(|bound| {
            let is_left_out = *places.next().expect("as many as bounds");
            if is_left_out {
                out.push(*bound);
            }
            !is_left_out
        });
    }
    Vec::new()
}

/// The lines, given where they begin at the latest.
fn stretches(span: (f64, f64), bounds: &[Bound], starts: &[usize], slack: f64) -> Option<Vec<Stretch>> {
    let count = starts.len();
    let from_end = follow(span, bounds.iter().rev(), slack);
    // The earliest that each line but the first can begin.
    let earliest = |line: usize| match from_end.get(count - line) {
        Some(&start) if from_end.len() == count => (bounds.len() - start).min(starts[line]),
        _ => starts[line],
    };
    // Where a line leaves no bounds that belong to it alone, it is taken as it was followed.
    let mut cores: Vec<(usize, usize)> = Vec::with_capacity(count);
    for line in 0..count {
        let until = if line + 1 < count { earliest(line + 1) } else { bounds.len() };
        let latest = starts.get(line + 1).copied().unwrap_or(bounds.len());
        let is_core = starts[line] < until && is_two_sided(&bounds[starts[line]..until]);
        cores.push((starts[line], if is_core { until } else { latest }));
    }
    // While a clock stands still for it was put back, its bounds are no line.
    let stands = |&(start, end): &(usize, usize)| bounds[end - 1].time - bounds[start].time < STILL;
    let (mut place, last) = (0, count - 1);
    cores.retain(|core| {
        place += 1;
        place == 1 || place == last + 1 || !stands(core)
    });
    let count = cores.len();
    let mut found = Vec::with_capacity(count);
    for (line, &(start, end)) in cores.iter().enumerate() {
        let own = &bounds[start..end];
        let first = if line == 0 { span.0 } else { own.first()?.time };
        let last = if line + 1 == count { span.1 } else { own.last()?.time };
        let width = (first, last.max(first + 1000.0));
        let region = Region::within(width, own, slack.max(0.0))?;
        region.middle()?;
        let behind = cores.get(line + 1).map_or(&[][..], |next| &bounds[end..next.0.max(end)]);
        let next_sent = bounds[end..].iter().find(|bound| !bound.is_lower).map(|bound| bound.stamp);
        found.push(Stretch { span: (first, last.max(first)), region, behind: behind.to_vec(), next_sent });
    }
    Some(found)
}
