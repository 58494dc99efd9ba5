//! All about one visit.

use marey_analyze::{Span, Trace, Visit};
use marey_model::{CallPathId, LocationId, Nanos};

use super::collectives::of_visit;
use super::events;
use super::flows::read;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{At, Kind, Operation, VisitHead, WireFrame, WireMessage, WireVisit, WireWait};

/// So many messages of a visit are told.
const MOST_MESSAGES: usize = 100;

pub(super) fn answer(run: &Opened<'_>, at: &At) -> Vec<u8> {
    let visit = nearest(run, at).map(|visit| described(run, at.line, &visit));
    Columns::default().frame("visit", &VisitHead { visit })
}

/// The visit on a line that is there at an instant, or lies nearest to it.
fn nearest(run: &Opened<'_>, at: &At) -> Option<Visit> {
    let location = run.head.lines.get(at.line as usize)?.location;
    let near = at.near_ns.clamp(0, run.trace.duration().0.max(1));
    let span =
        Span { from: Nanos(at.at_ns.saturating_sub(near)), to: Nanos(at.at_ns.saturating_add(near + 1)) };
    let mut best: Option<(i64, Visit)> = None;
    // What cannot be read is not found.
    let _unread = run.events.overlapping(span, location..location + 1, &mut |visits| {
        for visit in visits {
            let it = &visit.interval;
            let is_meant = run.line_of(it.location, it.call_path) == Some(at.line)
                && at.region.is_none_or(|region| region_of(run, it.call_path) == Some(region));
            // A visit ends before its end: where two follow each other at once, the second is there.
            let distance = (it.start.0 - at.at_ns).max(at.at_ns - it.end.0 + 1).max(0);
            if is_meant && best.as_ref().is_none_or(|(least, _)| distance < *least) {
                best = Some((distance, *visit));
            }
        }
    });
    best.map(|(_, visit)| visit)
}

pub(super) fn region_of(run: &Opened<'_>, path: CallPathId) -> Option<u32> {
    run.trace.call_paths().get(path.idx()).map(|path| path.region.0)
}

fn described(run: &Opened<'_>, line: u32, visit: &Visit) -> WireVisit {
    let it = &visit.interval;
    let paths = run.trace.call_paths();
    let mut path = Vec::new();
    let mut above = Some(it.call_path);
    while let Some(place) = above.and_then(|place| paths.get(place.idx())) {
        path.push(place.region.0);
        // A parent has a smaller number, so this comes to an end.
        above = place.parent;
    }
    path.reverse();
    let stack = paths.get(it.call_path.idx()).and_then(|path| path.stack);
    let stack = stack.map_or(Vec::new(), |stack| run.trace.stack(stack));
    let frame = |frame: &marey_analyze::Frame| WireFrame {
        function: frame.function.clone(),
        file: frame.file.clone(),
        line: frame.line,
    };
    let (messages, all_messages) = messages(run, visit);
    WireVisit {
        line,
        region: region_of(run, it.call_path).unwrap_or(u32::MAX),
        start_ns: it.start.0,
        end_ns: it.end.0,
        bytes: visit.bytes,
        visits: it.visits,
        path,
        stack: stack.into_iter().map(frame).collect(),
        waits: waits(run, visit),
        messages,
        all_messages,
        operation: operation(run, it.location, it.start, it.call_path),
        fields: events::of_visit(run, it.location.0, it.start.0),
    }
}

/// The operation of all that it began or completed. Calls of other kinds are in none.
fn operation(
    run: &Opened<'_>,
    location: LocationId,
    start: Nanos,
    call_path: CallPathId,
) -> Option<Operation> {
    let region = region_of(run, call_path).and_then(|region| run.head.regions.get(region as usize))?;
    let may_be = matches!(region.kind, Kind::Collective | Kind::Wait | Kind::Manage | Kind::Io);
    may_be.then(|| of_visit(run, location, start.0)).flatten()
}

/// What it waited for.
fn waits(run: &Opened<'_>, visit: &Visit) -> Vec<WireWait> {
    let it = &visit.interval;
    let Some(causes) = run.causes() else { return Vec::new() };
    let of_location = causes.waits.of(it.location);
    let first = of_location.partition_point(|wait| wait.to <= it.start);
    let in_it = of_location[first..].iter().take_while(|wait| wait.from < it.end);
    let of_it = in_it.filter(|wait| it.start <= wait.from && wait.to <= it.end);
    of_it
        .map(|wait| WireWait {
            pattern: wait.pattern.name().to_owned(),
            time_ns: wait.length().0,
            cause: wait.cause.0,
        })
        .collect()
}

/// The messages that it sent, or completed; whether these are all.
fn messages(run: &Opened<'_>, visit: &Visit) -> (Vec<WireMessage>, bool) {
    let it = &visit.interval;
    let region = region_of(run, it.call_path).and_then(|region| run.head.regions.get(region as usize));
    let moves_data = region.is_some_and(|region| matches!(region.kind, Kind::Transfer | Kind::Wait));
    let mut found = Vec::new();
    let mut are_all = true;
    if moves_data {
        let damage = read(run, it.start.0, it.end.0.saturating_add(1), &mut |flow| {
            let sent = flow.from == it.location.0 && it.start.0 <= flow.sent && flow.sent < it.end.0;
            let received = flow.to == it.location.0 && flow.recv_start == it.start.0;
            if sent || received {
                are_all &= found.len() < MOST_MESSAGES;
                if are_all {
                    found.push(WireMessage {
                        from: Some(flow.from),
                        sent_ns: Some(flow.sent),
                        to: Some(flow.to),
                        received_ns: Some(flow.received),
                        bytes: flow.bytes,
                        tag: (flow.tag >= 0).then_some(flow.tag),
                    });
                }
            }
        });
        are_all &= damage.is_empty();
    }
    (found, are_all)
}
