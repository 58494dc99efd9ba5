//! What the analysis finds in a run, in the words of drawings.
//!
//! The one idea: one way from its rows to what drawings expect, so that a comparison is a line.
//!
//! What is deliberately absent: single barrier completions, of which the analysis keeps the sums
//! ([`completion_of_locations`]).

use std::collections::BTreeMap;

use marey_analyze::{Activity, DelayRow, Happenings, PathSpan, Trace, Wait, critical_path, delays, waits};
use marey_model::{LocationId, Nanos};
use marey_testkit::{Doing, Expected, ExpectedDelay, ExpectedSpan, ExpectedWait};

/// All that it finds, but for completions.
pub(crate) fn all(run: &(impl Trace + Happenings)) -> Expected {
    let found = waits(run, run).expect("all can be read");
    let costs = delays(run, run, &found).expect("all can be read");
    let path = critical_path(run, run, &found).expect("all can be read");
    assert_eq!(found.unlisted.number, 0, "small runs have room for all");
    assert!(costs.unexplained.abs() < 1e-6, "{} ns have no cause", costs.unexplained);
    let wait = |wait: &Wait| ExpectedWait {
        location: wait.location,
        from: wait.from,
        to: wait.to,
        call_path: wait.call_path,
        pattern: wait.pattern.name(),
        cause: wait.cause,
    };
    let delay = |row: &DelayRow| ExpectedDelay {
        location: row.location,
        activity: match row.activity {
            Activity::Path(path) => Doing::Path(path),
            Activity::Outside => Doing::Outside,
            Activity::NotStarted => Doing::NotStarted,
        },
        short_term: row.short_term,
        long_term: row.long_term,
    };
    let span = |span: &PathSpan| ExpectedSpan { location: span.location, from: span.from, to: span.to };
    let mut waits: Vec<ExpectedWait> = found.list.iter().map(wait).collect();
    waits.sort();
    Expected {
        waits: Some(waits),
        completions: None,
        delays: Some(costs.rows.iter().map(delay).collect()),
        critical: Some(path.spans.iter().map(span).collect()),
        before: path.before,
    }
}

/// Barrier completion of each location.
pub(crate) fn completion_of_locations(run: &(impl Trace + Happenings)) -> BTreeMap<LocationId, Nanos> {
    let found = waits(run, run).expect("all can be read");
    added_up(found.completion.iter().map(|&(_, location, time)| (location, time)))
}

/// The same of single ones.
pub(crate) fn added_up(times: impl Iterator<Item = (LocationId, Nanos)>) -> BTreeMap<LocationId, Nanos> {
    let mut sums = BTreeMap::new();
    for (location, time) in times {
        let sum: &mut Nanos = sums.entry(location).or_default();
        *sum = *sum + time;
    }
    sums
}
