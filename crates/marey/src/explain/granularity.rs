//! Calls that are too small for what they cost, in words, for the report.
//!
//! The one idea: a sentence says how many calls from where, what they cost, and what one larger would cost, with the
//! numbers that the estimate is made of.

use std::io;

use marey_analyze::{Causes, Small, SmallKind, Trace, granularity, short_regions};
use marey_archive::Events;
use marey_model::Nanos;
use serde::Serialize;

use super::findings::{capital, from};
use super::{Page, Place, name, ranks, rounded, who};
use crate::format::{self, solid};
use crate::paint::{Look, harmless, title, wrap};
use crate::run::Run;
use crate::words;

/// All that is too small, or why that is not known. `ns_per_event` is what recording one took.
pub(crate) fn found(run: &Run, causes: &Causes, ns_per_event: f64) -> Result<Vec<Small>, String> {
    let events = Events::open(&run.archive, &run.trace).map_err(|error| error.to_string())?;
    let mut found =
        granularity(&run.trace, &events, causes, ns_per_event).map_err(|unread| unread.to_string())?;
    found.extend(short_regions(&run.trace, ns_per_event));
    found.sort_by_key(|it| std::cmp::Reverse(it.cost));
    Ok(found)
}

/// Prints what could be merged.
pub(crate) fn print(page: &mut Page<'_>, found: &[Small]) -> io::Result<()> {
    let remark = "calls that are too small for what they cost, and could be merged; share: of the time of those who \
                  make them";
    title(page.out, page.paint, "GRANULARITY", remark)?;
    if found.is_empty() {
        let text = "nothing is too small: no calls cost much that could be merged";
        return writeln!(page.out, "  {}", page.paint.paint(Look::Faint, text));
    }
    for (number, small) in (1..).zip(found.iter().take(page.top)) {
        let text = sentence(page.trace, small);
        for (place, line) in wrap(&text, page.paint.prose_width() - 5).iter().enumerate() {
            let mark = if place == 0 { format!("{number:>2} ") } else { "   ".to_owned() };
            writeln!(page.out, "  {}{line}", page.paint.paint(Look::Bar, &mark))?;
        }
    }
    page.more(found.len())
}

fn sentence(trace: &dyn Trace, it: &Small) -> String {
    let who = capital(&who(trace, &it.locations));
    let time = |time: Nanos| solid(format::duration(time));
    let mean = |sum: Nanos, number: u64| {
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
        let mean = sum.0 as f64 / number.max(1) as f64;
        solid(format::duration(rounded(mean)))
    };
    let counted = |number: u64, noun: &str| solid(format::counted(number, noun));
    let place = Place::of_call(trace, it.call_path);
    let call = format!("{}{}", harmless(place.region), from(&place));
    let (cost, share) = (time(it.cost), solid(format::percent(it.cost.0, it.of.0)));
    let each = mean(it.cost, it.number);
    let in_a_row = it.number / it.rows.max(1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are positive")]
    let bytes = solid(format::bytes(it.bytes.round() as u64));
    let saved = |how: &str| {
        it.gain.map_or_else(
            || " The run has no larger ones to compare with.".to_owned(),
            |gain| format!(" {how} could save {} of it.", time(gain)),
        )
    };
    match it.kind {
        SmallKind::Messages => format!(
            "{who} sends {} of {bytes} to {} with {call}, {in_a_row} in a row: {each} each, {cost} in all ({share}).{}",
            counted(it.number, "message"),
            it.to.map_or_else(String::new, |to| name(trace, to)),
            saved("One message for each row, at what larger ones take in this run,"),
        ),
        SmallKind::Collectives => format!(
            "{who} {} {call} {} times for {bytes}, {in_a_row} times in a row: {each} each without waiting, {cost} in all \
             ({share}).{}",
            if it.locations.len() == 1 { "calls" } else { "call" },
            solid(format::count(it.number)),
            saved("One call for each row"),
        ),
        SmallKind::Threads => format!(
            "{who} creates {} with {call} that live for {} each; creating and joining one takes {each}, {cost} in all \
             ({share}). Fewer threads with more work each, or a pool of them, would save most of it.",
            counted(it.number, "thread"),
            time(rounded(it.work)),
        ),
        SmallKind::Locks => format!(
            "{who} {} a lock {} times in {call} from somebody who had it and give it on after {} at most, but getting it \
             once it is free takes {each}, {cost} in all ({share}). Longer work under the lock, or none, would be cheaper.",
            if it.locations.len() == 1 { "gets" } else { "get" },
            solid(format::count(it.number)),
            time(rounded(it.work)),
        ),
        SmallKind::Regions => {
            let region = it.region.map_or_else(String::new, |region| words::region(trace, region));
            format!(
                "{region} is entered {} times for {} each, of which recording takes {each}: {cost} in all ({share}). \
                 `marey record --rule 'count {region}'` counts its visits instead.",
                solid(format::count(it.number)),
                time(rounded(it.work)),
            )
        }
    }
}

/// The answer for other programs.
#[derive(Serialize)]
pub(crate) struct JsonSmall<'t> {
    kind: &'static str,
    text: String,
    locations: Vec<String>,
    ranks: Vec<u32>,
    to: Option<String>,
    level: &'t str,
    region: &'t str,
    function: &'t str,
    file: &'t str,
    line: u32,
    number: u64,
    rows: u64,
    mean_bytes: f64,
    cost_ns: i64,
    gain_ns: Option<i64>,
    work_ns: f64,
    of_ns: i64,
}

/// All that is too small, that with the highest cost first.
pub(crate) fn json<'t>(trace: &'t dyn Trace, found: &[Small]) -> Vec<JsonSmall<'t>> {
    let small = |it: &Small| {
        let place = Place::of_call(trace, it.call_path);
        let own = it.region.and_then(|region| trace.regions().get(region.idx()));
        JsonSmall {
            kind: it.kind.name(),
            text: format::plain(&sentence(trace, it)),
            locations: it.locations.iter().map(|id| words::location(trace, *id)).collect(),
            ranks: ranks(trace, &it.locations),
            to: it.to.map(|to| words::location(trace, to)),
            level: own.map_or(place.level, |region| &region.level),
            region: own.map_or(place.region, |region| region.name()),
            function: place.function,
            file: own.map_or(place.file, |region| &region.file),
            line: own.map_or(place.line, |region| region.line),
            number: it.number,
            rows: it.rows,
            mean_bytes: it.bytes,
            cost_ns: it.cost.0,
            gain_ns: it.gain.map(|gain| gain.0),
            work_ns: it.work,
            of_ns: it.of.0,
        }
    };
    found.iter().map(small).collect()
}
