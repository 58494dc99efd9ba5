//! The answers of `marey what-if` for other programs; what the fields mean is told by the help.

use std::collections::BTreeMap;
use std::io::Write;

use marey_analyze::what_if::{Each, WhatIf};
use marey_analyze::{Activity, Trace};
use marey_model::LocationId;
use serde::Serialize;

use super::super::{Place, Who, rounded};
use super::{Changed, each, sentence, tables};
use crate::{format, words};

#[derive(Serialize)]
struct Json<'t> {
    duration_ns: i64,
    replayed_ns: i64,
    run_ns: i64,
    gain_ns: i64,
    gain: f64,
    text: String,
    changes: Vec<JsonChange<'t>>,
    critical_path: Vec<JsonPath<'t>>,
    network_ns: i64,
    before_path_ns: i64,
    locations: Vec<JsonLocation<'t>>,
}

#[derive(Serialize)]
struct JsonChange<'t> {
    kind: &'t str,
    name: &'t str,
    factor: Option<f64>,
    exact_ns: i64,
    sampled_ns: i64,
    samples: u64,
    locations: Vec<String>,
}

#[derive(Serialize)]
struct JsonPath<'t> {
    #[serde(flatten)]
    who: Who<'t>,
    #[serde(flatten)]
    place: Place<'t>,
    before_ns: i64,
    after_ns: i64,
}

#[derive(Serialize)]
struct JsonLocation<'t> {
    #[serde(flatten)]
    who: Who<'t>,
    end_before_ns: i64,
    end_after_ns: i64,
    waiting_before_ns: i64,
    waiting_after_ns: i64,
    path_before_ns: i64,
    path_after_ns: i64,
}

/// The answer to a change.
pub(super) fn print(
    out: &mut dyn Write,
    trace: &dyn Trace,
    changed: &[Changed],
    found: &WhatIf,
) -> anyhow::Result<()> {
    let ns = |time: f64| rounded(time).0;
    let (old, new) = (found.as_it_was.run_time, found.changed.run_time);
    let changes = changed.iter().map(|it| {
        let matched = it.matched.clone().unwrap_or_default();
        JsonChange {
            kind: it.kind,
            name: &it.name,
            // JSON has no infinity.
            factor: it.factor.filter(|factor| factor.is_finite()),
            exact_ns: ns(matched.exact),
            sampled_ns: ns(matched.sampled),
            samples: matched.samples,
            locations: matched.locations.iter().map(|id| words::location(trace, *id)).collect(),
        }
    });
    let location = |row: tables::Row| JsonLocation {
        who: Who::new(trace, row.location),
        end_before_ns: ns(row.ends[0]),
        end_after_ns: ns(row.ends[1]),
        waiting_before_ns: ns(row.waiting[0]),
        waiting_after_ns: ns(row.waiting[1]),
        path_before_ns: ns(row.on_path[0]),
        path_after_ns: ns(row.on_path[1]),
    };
    let answer = Json {
        duration_ns: trace.duration().0,
        replayed_ns: ns(old),
        run_ns: ns(new),
        gain_ns: ns(old) - ns(new),
        gain: if old > 0.0 { (old - new) / old } else { 0.0 },
        text: format::plain(&sentence(trace, changed, found)),
        changes: changes.collect(),
        critical_path: paths(trace, found),
        network_ns: ns(found.changed.network),
        before_path_ns: ns(found.changed.before_path),
        locations: tables::rows(trace, found).into_iter().map(location).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &answer)?;
    Ok(writeln!(out)?)
}

/// The paths by location and activity, those with most of the new one first.
fn paths<'t>(trace: &'t dyn Trace, found: &WhatIf) -> Vec<JsonPath<'t>> {
    let mut sums: BTreeMap<(LocationId, Activity), [f64; 2]> = BTreeMap::new();
    for (which, replayed) in [&found.as_it_was, &found.changed].into_iter().enumerate() {
        for row in &replayed.path {
            sums.entry((row.location, row.activity)).or_default()[which] += row.time;
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1[1].total_cmp(&a.1[1]).then(b.1[0].total_cmp(&a.1[0])));
    let row = |((location, activity), times): ((LocationId, Activity), [f64; 2])| {
        let place = Place::of(trace, activity);
        JsonPath {
            who: Who::new(trace, location),
            place,
            before_ns: rounded(times[0]).0,
            after_ns: rounded(times[1]).0,
        }
    };
    sums.into_iter().map(row).collect()
}

#[derive(Serialize)]
struct JsonEach<'t> {
    duration_ns: i64,
    replayed_ns: i64,
    text: String,
    places: Vec<JsonPlace<'t>>,
    balanced_ns: i64,
    zero_latency_ns: i64,
}

#[derive(Serialize)]
struct JsonPlace<'t> {
    #[serde(flatten)]
    place: Place<'t>,
    path_ns: i64,
    twice_ns: i64,
    at_once_ns: i64,
}

/// The answer without a change.
pub(super) fn print_each(out: &mut dyn Write, trace: &dyn Trace, found: &Each) -> anyhow::Result<()> {
    let ns = |time: f64| rounded(time).0;
    let places = found.rows.iter().map(|candidate| {
        let place = each::place(trace, candidate);
        JsonPlace {
            place,
            path_ns: ns(candidate.on_path),
            twice_ns: ns(candidate.twice),
            at_once_ns: ns(candidate.at_once),
        }
    });
    let answer = JsonEach {
        duration_ns: trace.duration().0,
        replayed_ns: ns(found.as_it_was),
        text: format::plain(&each::sentence(trace, found)),
        places: places.collect(),
        balanced_ns: ns(found.balanced),
        zero_latency_ns: ns(found.ideal),
    };
    serde_json::to_writer_pretty(&mut *out, &answer)?;
    Ok(writeln!(out)?)
}
