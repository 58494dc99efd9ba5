//! `marey waits`: who waited for whom, and what those did meanwhile.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::process::ExitCode;

use marey_analyze::{Causes, DelayRow, Pattern, Trace, WaitState, wait_states};
use marey_model::{LocationId, Nanos};
use serde::Serialize;

use super::part::Part;
use super::{Page, Place, Who, name, rounded, time_of_all, who};
use crate::cli::WaitsArgs;
use crate::format;
use crate::paint::{Look, note, title};
use crate::run::Run;
use crate::table::{Cell, Side, Table};

/// Runs the command.
pub(crate) fn run(args: &WaitsArgs) -> anyhow::Result<ExitCode> {
    let run = Run::open(&args.common.run)?;
    let part = Part::asked(&run, &args.common.run, &args.when, &args.which)?;
    let causes = part.causes(&run, &args.common.run)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.common.json {
        serde_json::to_writer_pretty(&mut out, &Json::new(&run.trace, &causes))?;
        writeln!(out)?;
    } else {
        let mut page = Page::new(&mut out, &args.common, &run, &causes);
        page.cut(&run, &part)?;
        states(&mut page)?;
        delays(&mut page)?;
        notes(&mut page)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Waits of one pattern in one place.
#[derive(Debug, Default)]
struct State {
    time: Nanos,
    number: u64,
    longest: Nanos,
    locations: BTreeSet<LocationId>,
}

fn states(page: &mut Page<'_>) -> io::Result<()> {
    let (trace, whole) = (page.trace, time_of_all(page.causes));
    let waiting = page.causes.waits.time();
    let remark = format!(
        "{} of the {} of all ranks and threads ({}), by what was waited for and where; share: of that time",
        format::duration(waiting),
        format::duration(whole),
        format::percent(waiting.0, whole.0),
    );
    title(page.out, page.paint, "WAIT STATES", &remark)?;
    let mut rows: BTreeMap<(Pattern, Place<'_>), State> = BTreeMap::new();
    for row in wait_states(&page.causes.waits) {
        let state = rows.entry((row.pattern, Place::of_call(trace, row.call_path))).or_default();
        state.time = state.time + row.time;
        state.number += row.number;
        state.longest = state.longest.max(row.longest);
        state.locations.insert(row.location);
    }
    if rows.is_empty() {
        return writeln!(page.out, "  {}", page.paint.paint(Look::Faint, "nobody waited for anybody"));
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, state)| Reverse(state.time));
    let mut table = Table::new(&[
        ("waits for", Side::Left),
        ("in", Side::Left),
        ("called by", Side::Left),
        ("who", Side::Left),
        ("time", Side::Right),
        ("share", Side::Right),
        ("waits", Side::Right),
        ("longest", Side::Right),
    ])
    .can_spare(&["longest", "waits", "called by", "who", "in"]);
    for ((pattern, place), state) in rows.iter().take(page.top) {
        let [what, from] = place.cells();
        table.row([
            pattern.name().into(),
            what,
            from,
            who(trace, &Vec::from_iter(state.locations.iter().copied())).into(),
            format::duration(state.time).into(),
            format::percent(state.time.0, whole.0).into(),
            format::count(state.number).into(),
            format::duration(state.longest).into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len())
}

fn delays(page: &mut Page<'_>) -> io::Result<()> {
    let trace = page.trace;
    let remark = "what those did who were waited for, longer than those who waited; cost: waiting that it caused, of \
                  which later: of others who had waited for those; share: of all waiting";
    title(page.out, page.paint, "CAUSES", remark)?;
    let mut rows: BTreeMap<(LocationId, Place<'_>), (f64, f64)> = BTreeMap::new();
    for row in &page.causes.delays.rows {
        let cost = rows.entry((row.location, Place::of(trace, row.activity))).or_default();
        *cost = (cost.0 + row.cost(), cost.1 + row.long_term);
    }
    if rows.is_empty() {
        return writeln!(page.out, "  {}", page.paint.paint(Look::Faint, "none"));
    }
    let all = page.causes.waits.time();
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let mut table = Table::new(&[
        ("who", Side::Left),
        ("did", Side::Left),
        ("called by", Side::Left),
        ("cost", Side::Right),
        ("share", Side::Right),
        ("later", Side::Right),
    ])
    .can_spare(&["later", "called by"]);
    for ((location, place), (cost, later)) in rows.iter().take(page.top) {
        let [what, from] = place.cells();
        table.row([
            name(trace, *location).into(),
            what,
            from,
            format::duration(rounded(*cost)).into(),
            format::percent(rounded(*cost).0, all.0).into(),
            Cell::new(Look::Faint, format::duration(rounded(*later))),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len())
}

fn notes(page: &mut Page<'_>) -> io::Result<()> {
    let unlisted = page.causes.waits.unlisted;
    if unlisted.number > 0 {
        let text = format!(
            "{} of at most {} each, {} together, are not in these tables, for there are too many",
            format::counted(unlisted.number, "wait"),
            format::duration(unlisted.longest),
            format::duration(unlisted.time),
        );
        note(page.out, page.paint, &text)?;
    }
    let unexplained = rounded(page.causes.delays.unexplained);
    if unexplained > Nanos(0) {
        let text = format!("of {} of waiting no cause was found", format::duration(unexplained));
        note(page.out, page.paint, &text)?;
    }
    Ok(())
}

/// The answer for other programs; what the fields mean is told by the help.
#[derive(Serialize)]
struct Json<'t> {
    from_ns: i64,
    to_ns: i64,
    time_ns: i64,
    waiting_ns: i64,
    waits: Vec<JsonWait<'t>>,
    delays: Vec<JsonDelay<'t>>,
    unexplained_ns: i64,
    unlisted: JsonUnlisted,
}

#[derive(Serialize)]
pub(crate) struct JsonWait<'t> {
    pattern: &'static str,
    level: &'t str,
    region: &'t str,
    function: &'t str,
    file: &'t str,
    line: u32,
    routine: &'t str,
    #[serde(flatten)]
    who: Who<'t>,
    wait_ns: i64,
    instances: u64,
    longest_ns: i64,
}

#[derive(Serialize)]
pub(crate) struct JsonDelay<'t> {
    #[serde(flatten)]
    who: Who<'t>,
    #[serde(flatten)]
    place: Place<'t>,
    cost_ns: i64,
    short_term_ns: i64,
    long_term_ns: i64,
}

#[derive(Serialize)]
struct JsonUnlisted {
    instances: u64,
    wait_ns: i64,
    longest_ns: i64,
}

/// Waits by pattern, call path and location, most first.
pub(crate) fn json_waits<'t>(trace: &'t dyn Trace, causes: &Causes) -> Vec<JsonWait<'t>> {
    let mut states = wait_states(&causes.waits);
    states.sort_by_key(|row| Reverse(row.time));
    let wait = |row: &WaitState| {
        let place = Place::of_call(trace, row.call_path);
        JsonWait {
            pattern: row.pattern.name(),
            level: place.level,
            region: place.region,
            function: place.function,
            file: place.file,
            line: place.line,
            routine: place.routine,
            who: Who::new(trace, row.location),
            wait_ns: row.time.0,
            instances: row.number,
            longest_ns: row.longest.0,
        }
    };
    states.iter().map(wait).collect()
}

/// Delay costs by location and activity, most first.
pub(crate) fn json_delays<'t>(trace: &'t dyn Trace, causes: &Causes) -> Vec<JsonDelay<'t>> {
    let mut delays: Vec<&DelayRow> = causes.delays.rows.iter().collect();
    delays.sort_by(|a, b| b.cost().total_cmp(&a.cost()));
    let delay = |row: &&DelayRow| {
        let place = Place::of(trace, row.activity);
        JsonDelay {
            who: Who::new(trace, row.location),
            place,
            cost_ns: rounded(row.cost()).0,
            short_term_ns: rounded(row.short_term).0,
            long_term_ns: rounded(row.long_term).0,
        }
    };
    delays.iter().map(delay).collect()
}

impl<'t> Json<'t> {
    fn new(trace: &'t dyn Trace, causes: &Causes) -> Self {
        let unlisted = causes.waits.unlisted;
        Self {
            from_ns: causes.span.from.0,
            to_ns: causes.span.to.0,
            time_ns: time_of_all(causes).0,
            waiting_ns: causes.waits.time().0,
            waits: json_waits(trace, causes),
            delays: json_delays(trace, causes),
            unexplained_ns: rounded(causes.delays.unexplained).0,
            unlisted: JsonUnlisted {
                instances: unlisted.number,
                wait_ns: unlisted.time.0,
                longest_ns: unlisted.longest.0,
            },
        }
    }
}
