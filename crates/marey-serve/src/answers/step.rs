//! The next visit of a region, or the one before.
//!
//! The one idea: spans that double in length are looked through, beginning where one is, so that what is near is found
//! soon and what is far after a pass over the run.

use marey_analyze::{Span, Trace};
use marey_model::Nanos;

use super::visit::region_of;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{FoundHead, Step, Towards};

pub(super) fn answer(run: &Opened<'_>, step: &Step) -> Vec<u8> {
    let end = run.trace.duration().0.saturating_add(1);
    let mut length = (end / 1024).max(1);
    let mut at = step.at_ns.clamp(-1, end);
    let mut found = None;
    while found.is_none() {
        let span = match step.towards {
            Towards::Next => (at + 1, at.saturating_add(length).min(end)),
            Towards::Previous => (at.saturating_sub(length).max(0), at),
        };
        if span.1 <= span.0 {
            break;
        }
        found = in_span(run, step, span);
        at = match step.towards {
            Towards::Next => span.1 - 1,
            Towards::Previous => span.0,
        };
        length = length.saturating_mul(2);
    }
    let (line, (start_ns, end_ns)) = found.map_or((None, (0, 0)), |(line, times)| (Some(line), times));
    Columns::default().frame("found", &FoundHead { line, start_ns, end_ns })
}

/// The first, or last, that begins in a span.
fn in_span(run: &Opened<'_>, step: &Step, (from, to): (i64, i64)) -> Option<(u32, (i64, i64))> {
    let location = step.line.and_then(|line| run.head.lines.get(line as usize)).map(|line| line.location);
    let locations = match location {
        Some(location) => location..location + 1,
        None => 0..u32::try_from(run.trace.locations().len()).unwrap_or(u32::MAX),
    };
    let span = Span { from: Nanos(from), to: Nanos(to) };
    let mut best: Option<(u32, (i64, i64))> = None;
    // What cannot be read is not found.
    let _unread = run.events.overlapping(span, locations, &mut |visits| {
        for visit in visits {
            let it = &visit.interval;
            let line = run.line_of(it.location, it.call_path);
            let is_meant = region_of(run, it.call_path) == Some(step.region)
                && from <= it.start.0
                && it.start.0 < to
                && (step.line.is_none() || step.line == line);
            let is_better = |best: &(u32, (i64, i64))| match step.towards {
                Towards::Next => it.start.0 < best.1.0,
                Towards::Previous => it.start.0 > best.1.0,
            };
            if let Some(line) = line.filter(|_| is_meant && best.as_ref().is_none_or(is_better)) {
                best = Some((line, (it.start.0, it.end.0)));
            }
        }
    });
    best
}
