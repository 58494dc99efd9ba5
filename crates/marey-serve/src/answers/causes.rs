//! Why a span took as long as it did: waits, delays and the critical path of a part of the run.
//!
//! The one idea: the same analysis as that of `marey waits --from --to`, of a run of which the whole is explained already, so
//! that only the events of the span are read. What the numbers of a part mean stands in `docs/wait-states.md`.

use std::cmp::Reverse;

use marey_analyze::{
    Activity, Causes, Delays, Selection, Span, Trace, Until, caller, causes_within, wait_states,
};
use marey_model::{CallPathId, LocationId, Nanos};

use crate::fold::{MOST_VISITS_EXACTLY, visits_in};
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{CausesHead, SpanOf, WireCalled, WireDelay, WireOnPath, WireSuffered};

pub(super) fn answer(run: &Opened<'_>, span: &SpanOf) -> Vec<u8> {
    Columns::default().frame("causes", &head(run, span))
}

fn head(run: &Opened<'_>, span: &SpanOf) -> CausesHead {
    let until_ns = run.added_up_since().map(|since| since.0);
    let refused = |why: &str| CausesHead {
        why_not: Some(why.to_owned()),
        until_ns,
        unlisted: 0,
        unlisted_ns: 0,
        waits: Vec::new(),
        delays: Vec::new(),
        critical_path: Vec::new(),
    };
    let all = u32::try_from(run.trace.locations().len()).unwrap_or(u32::MAX);
    let within = (span.from_ns.max(0), span.to_ns);
    if !run.head.left_out.is_empty() {
        return refused("this page has no single visits, and a part of a run is explained from these");
    }
    if until_ns.is_some_and(|until| until <= span.from_ns) {
        return refused("here events were only added up, and a part of a run is explained from single ones");
    }
    if visits_in(run, within, &[(0, all)], |_| true) > MOST_VISITS_EXACTLY {
        return refused(
            "this span has more visits than are read for one answer; zoom in, or look at the whole run",
        );
    }
    let Some(whole) = run.causes() else {
        return refused("this run was not explained, for not all of it can be read");
    };
    let to = span.to_ns.min(until_ns.unwrap_or(i64::MAX));
    let selection =
        Selection { span: Span { from: Nanos(span.from_ns), to: Nanos(to) }, ..Selection::default() };
    // A part has delays and times of its own.
    let whole = Causes {
        waits: whole.waits.clone(),
        path: whole.path.clone(),
        ideal: whole.ideal.clone(),
        bare: whole.bare.clone(),
        delays: Delays::default(),
        times: Vec::new(),
        span: whole.span,
    };
    let explained = Until::new(&run.trace, whole.span.to);
    match causes_within(&explained, &run.events, &selection, whole) {
        Ok(causes) => of(run, &causes, until_ns),
        Err(unread) => refused(&format!("not all of it can be read: {}", unread.0.join("; "))),
    }
}

fn of(run: &Opened<'_>, causes: &Causes, until_ns: Option<i64>) -> CausesHead {
    let mut suffered = wait_states(&causes.waits);
    suffered.sort_by_key(|row| Reverse(row.time));
    let waits = suffered.iter().map(|row| WireSuffered {
        called: called(run, row.location, row.call_path),
        pattern: row.pattern.name().to_owned(),
        wait_ns: row.time.0,
        instances: row.number,
        longest_ns: row.longest.0,
    });
    let mut caused: Vec<_> = causes.delays.rows.iter().collect();
    caused.sort_by(|a, b| b.cost().total_cmp(&a.cost()));
    let delays = caused.iter().map(|row| WireDelay {
        called: done(run, row.location, row.activity),
        cost_ns: row.cost(),
        short_term_ns: row.short_term,
        long_term_ns: row.long_term,
    });
    let mut on_path: Vec<_> = causes.times.iter().filter(|row| row.on_path > Nanos(0)).collect();
    on_path.sort_by_key(|row| Reverse(row.on_path));
    let critical_path = on_path
        .iter()
        .map(|row| WireOnPath { called: done(run, row.location, row.activity), time_ns: row.on_path.0 });
    CausesHead {
        why_not: None,
        until_ns,
        unlisted: causes.waits.unlisted.number,
        unlisted_ns: causes.waits.unlisted.time.0,
        waits: waits.collect(),
        delays: delays.collect(),
        critical_path: critical_path.collect(),
    }
}

/// What somebody did, and where in the program.
fn done(run: &Opened<'_>, location: LocationId, activity: Activity) -> WireCalled {
    match activity {
        Activity::Path(path) => called(run, location, Some(path)),
        Activity::Outside | Activity::NotStarted => called(run, location, None),
    }
}

/// A call and who made it; where no stack tells that, the place of what was called.
fn called(run: &Opened<'_>, location: LocationId, path: Option<CallPathId>) -> WireCalled {
    let known = path.and_then(|path| run.trace.call_paths().get(path.idx()));
    let region = known.and_then(|path| run.trace.regions().get(path.region.idx()));
    let (function, file, line) = match path.and_then(|path| caller(&run.trace, path)) {
        Some(frame) => (frame.function.as_str(), frame.file.as_str(), frame.line),
        None => region.map_or(("", "", 0), |region| ("", region.file.as_str(), region.line)),
    };
    WireCalled {
        location: run.head.locations.get(location.idx()).map_or_else(String::new, |it| it.name.clone()),
        region: region.map_or_else(String::new, |region| region.name().to_owned()),
        function: function.to_owned(),
        file: file.to_owned(),
        line,
    }
}
