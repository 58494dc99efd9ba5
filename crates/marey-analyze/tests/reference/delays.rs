//! The section "Delay costs".
//!
//! The one idea: the time in a window is counted nanosecond by nanosecond, and costs are handed on until nothing moves
//! any more.

use std::collections::BTreeMap;
use std::ops::Range;

use marey_analyze::{Happenings, Trace};
use marey_model::{EdgeKind, LocationId, Nanos};
use marey_testkit::{Doing, ExpectedDelay, ExpectedWait};

use super::waits::waits_and_in_vain;
use super::{Record, comings_and_goings};

/// What the time of a window is spent with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Spent {
    With(Doing),
    Waiting,
}

/// Where the cost of one wait goes, in parts of 1.
struct Shares {
    /// Activities of the cause.
    activities: BTreeMap<Doing, f64>,
    /// Waits of the cause, by their places in the list.
    waits: BTreeMap<usize, f64>,
}

/// All delay costs, by location and activity.
pub(crate) fn delays(run: &(impl Trace + Happenings)) -> Vec<ExpectedDelay> {
    let record = Record::of(run);
    let (waits, in_vain): (Vec<_>, Vec<_>) = waits_and_in_vain(run).into_iter().unzip();
    let over = |(wait, in_vain): (&ExpectedWait, &bool)| (!in_vain).then_some(*wait);
    let puts_in_step: Vec<ExpectedWait> = waits.iter().zip(&in_vain).filter_map(over).collect();
    let shares: Vec<Shares> = waits.iter().map(|wait| shares(&record, &waits, &puts_in_step, wait)).collect();
    let received = received(&waits, &shares);
    let mut costs: BTreeMap<(LocationId, Doing), (f64, f64)> = BTreeMap::new();
    for ((wait, shares), received) in waits.iter().zip(&shares).zip(received) {
        for (activity, share) in &shares.activities {
            let cost = costs.entry((wait.cause, *activity)).or_default();
            cost.0 += share * length(wait);
            cost.1 += share * received;
        }
    }
    let row = |((location, activity), (short_term, long_term))| ExpectedDelay {
        location,
        activity,
        short_term,
        long_term,
    };
    costs.into_iter().map(row).collect()
}

/// What other waits propagate to each.
fn received(waits: &[ExpectedWait], shares: &[Shares]) -> Vec<f64> {
    let mut received = vec![0.0; waits.len()];
    // A chain has no more links than there are waits.
    for _ in 0..=waits.len() {
        let mut next = vec![0.0; waits.len()];
        for ((wait, shares), received) in waits.iter().zip(shares).zip(&received) {
            for (to, share) in &shares.waits {
                next[*to] += share * (length(wait) + received);
            }
        }
        if next == received {
            return received;
        }
        received = next;
    }
    panic!("costs go round in a ring");
}

fn shares(
    record: &Record,
    waits: &[ExpectedWait],
    puts_in_step: &[ExpectedWait],
    wait: &ExpectedWait,
) -> Shares {
    let (late, waiting) = (wait.cause, wait.location);
    let since = in_step(record, puts_in_step, wait);
    let mut difference: BTreeMap<Spent, i64> = BTreeMap::new();
    let mut time_in_waits: BTreeMap<usize, i64> = BTreeMap::new();
    for instant in instants(since..wait.to) {
        // "A wait of B that is not over by w.to does not count as one here."
        let spent = match wait_at(waits, late, instant) {
            Some(place) if waits[place].to <= wait.to => {
                *time_in_waits.entry(place).or_default() += 1;
                Spent::Waiting
            }
            _ => Spent::With(doing(record, late, instant)),
        };
        *difference.entry(spent).or_default() += 1;
    }
    for instant in instants(since..wait.from) {
        let spent = match wait_at(waits, waiting, instant) {
            Some(_) => Spent::Waiting,
            None => Spent::With(doing(record, waiting, instant)),
        };
        *difference.entry(spent).or_default() -= 1;
    }
    assert_eq!(difference.values().sum::<i64>(), wait.to.0 - wait.from.0, "the differences are the wait");

    let positive: i64 = difference.values().filter(|d| 0 < **d).sum();
    let all_waits: i64 = time_in_waits.values().sum();
    let mut shares = Shares { activities: BTreeMap::new(), waits: BTreeMap::new() };
    for (spent, d) in difference {
        if d <= 0 {
            continue;
        }
        let share = ns(d) / ns(positive);
        match spent {
            Spent::With(activity) => {
                shares.activities.insert(activity, share);
            }
            Spent::Waiting => {
                let parts =
                    time_in_waits.iter().map(|(place, time)| (*place, share * ns(*time) / ns(all_waits)));
                shares.waits = parts.collect();
            }
        }
    }
    shares
}

/// When both locations of a wait were last in step.
fn in_step(record: &Record, waits: &[ExpectedWait], wait: &ExpectedWait) -> Nanos {
    let both = [wait.location, wait.cause];
    let mut instants = vec![Nanos(0)];
    for operation in &record.operations {
        let is_member = |of: &LocationId| operation.iter().any(|member| member.location == *of);
        if record.waits_for_all(operation) && both.iter().all(is_member) {
            instants.extend(operation.iter().map(|member| member.enter).max());
        }
    }
    for together in comings_and_goings(record) {
        if both.iter().all(|of| together.calls.iter().any(|call| call.location == *of)) {
            instants.push(together.last().start);
        }
    }
    let is_between = |a: LocationId, b: LocationId| both == [a, b] || both == [b, a];
    for other in waits {
        if is_between(other.location, other.cause) {
            instants.push(other.to);
        }
    }
    for edge in &record.edges {
        if edge.kind == EdgeKind::Create && is_between(edge.from.0, edge.to.0) {
            instants.push(edge.to.1);
        }
    }
    let last = instants.into_iter().filter(|instant| *instant < wait.to).max();
    last.expect("the start of the run lies before").min(wait.from)
}

/// What a location does at an instant.
fn doing(record: &Record, location: LocationId, instant: Nanos) -> Doing {
    let life = &record.locations[location.idx()];
    if instant < life.start || life.end <= instant {
        return Doing::NotStarted;
    }
    let open = record.intervals.iter().filter(|interval| {
        interval.location == location
            && interval.start + interval.computed <= instant
            && instant < interval.end
    });
    open.max_by_key(|interval| interval.depth)
        .map_or(Doing::Outside, |interval| Doing::Path(interval.call_path))
}

/// The wait that a location is in at an instant, by its place in the list.
fn wait_at(waits: &[ExpectedWait], location: LocationId, instant: Nanos) -> Option<usize> {
    waits.iter().position(|wait| wait.location == location && wait.from <= instant && instant < wait.to)
}

fn instants(span: Range<Nanos>) -> impl Iterator<Item = Nanos> {
    (span.start.0..span.end.0).map(Nanos)
}

fn length(wait: &ExpectedWait) -> f64 {
    ns(wait.to.0 - wait.from.0)
}

#[expect(clippy::cast_precision_loss, reason = "drawn times are small")]
fn ns(time: i64) -> f64 {
    time as f64
}
