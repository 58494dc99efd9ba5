//! `marey path`: the critical path, by what was done on it, and how much time there is elsewhere.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use marey_analyze::what_if::Limits;
use marey_analyze::{Activity, Causes, Location, Selection, SlackRow, TimeRow, Trace, slack};
use marey_archive::Events;
use marey_model::{LocationId, Nanos};
use serde::Serialize;

use super::part::Part;
use super::{Page, Place, Who, length, name, rounded, who};
use crate::cli::{PathArgs, Which};
use crate::format;
use crate::paint::{Look, title};
use crate::run::{Run, damaged};
use crate::table::{Cell, Side, Table};

/// Runs the command.
pub(crate) fn run(args: &PathArgs) -> anyhow::Result<ExitCode> {
    let run = Run::open(&args.common.run)?;
    let part = Part::asked(&run, &args.common.run, &args.when, &Which::default())?;
    let which = Which { whose: args.whose.clone(), communicator: None };
    let shown = Part::asked(&run, &args.common.run, &args.when, &which)?;
    let causes = part.causes(&run, &args.common.run)?;
    // How much time there is behind the last event nobody knows.
    let rows = if part.until.is_none() { slacks(&run, &args.common.run, &causes)? } else { None };
    let rows = rows.as_deref();
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.common.json {
        serde_json::to_writer_pretty(&mut out, &Json::new(&run.trace, &causes, rows, &shown.selection))?;
        writeln!(out)?;
    } else {
        let mut page = Page::new(&mut out, &args.common, &run, &causes);
        page.cut(&run, &part)?;
        by_activity(&mut page, &shown)?;
        by_location(&mut page, rows, &shown.selection)?;
        elsewhere(&mut page, rows, &shown.selection)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a row is about somebody and something that is shown.
fn is_shown(shown: &Selection, location: LocationId, activity: Activity) -> bool {
    let path = if let Activity::Path(path) = activity { Some(path) } else { None };
    shown.has_location(location) && shown.has_call(path)
}

/// How much longer things could take; none if the run is too large.
fn slacks(run: &Run, path: &Path, causes: &Causes) -> anyhow::Result<Option<Vec<SlackRow>>> {
    let events = Events::open(&run.archive, &run.trace).map_err(|error| damaged(path, &error))?;
    slack(&run.trace, &events, causes, &Limits::default()).map_err(|unread| {
        anyhow::anyhow!("{} cannot be explained, for parts of it cannot be read: {unread}", path.display())
    })
}

/// Slack of several rows.
#[derive(Clone, Copy, Debug, Default)]
struct Slack {
    /// All work, and what of it has a bound.
    time: Nanos,
    bounded: Nanos,
    least: Option<Nanos>,
    weighted: f64,
}

impl Slack {
    fn add(&mut self, row: &SlackRow) {
        self.time = self.time + row.time;
        self.bounded = self.bounded + (row.time - row.unbounded);
        self.least = [self.least, row.least].into_iter().flatten().min();
        self.weighted += row.weighted;
    }

    #[expect(clippy::cast_precision_loss, reason = "times below 104 days are exact")]
    fn mean(&self) -> Option<Nanos> {
        (self.bounded > Nanos(0)).then(|| rounded(self.weighted / self.bounded.0 as f64))
    }

    /// Least and mean as cells.
    fn cells(&self) -> [Cell; 2] {
        [self.least, self.mean()].map(|time| match time {
            Some(time) => format::duration(time).into(),
            None if self.time > Nanos(0) => "any".into(),
            None => "".into(),
        })
    }
}

/// What was done in one place.
#[derive(Debug, Default)]
struct Sum {
    on_path: Nanos,
    /// By all, waits left out.
    time: Nanos,
    locations: BTreeSet<LocationId>,
    /// Whether a row of it is shown, and one that is on the path.
    is_shown: bool,
    is_shown_on_path: bool,
}

impl Sum {
    fn mean(&self, n_locations: i64) -> Nanos {
        Nanos(self.time.0 / n_locations)
    }

    fn imbalance(&self, n_locations: i64) -> Nanos {
        (self.on_path - self.mean(n_locations)).max(Nanos(0))
    }
}

/// What was done in each place.
fn places<'t>(trace: &'t dyn Trace, causes: &Causes, shown: &Selection) -> BTreeMap<Place<'t>, Sum> {
    let mut rows: BTreeMap<Place<'_>, Sum> = BTreeMap::new();
    for row in &causes.times {
        let sum = rows.entry(Place::of(trace, row.activity)).or_default();
        sum.on_path = sum.on_path + row.on_path;
        sum.time = sum.time + row.time;
        let is_shown = is_shown(shown, row.location, row.activity);
        sum.is_shown |= is_shown;
        sum.is_shown_on_path |= is_shown && row.on_path > Nanos(0);
        if row.on_path > Nanos(0) {
            sum.locations.insert(row.location);
        }
    }
    rows
}

/// Slack of each place, and of each location.
fn slack_by<K: Ord>(rows: Option<&[SlackRow]>, key: impl Fn(&SlackRow) -> K) -> BTreeMap<K, Slack> {
    let mut sums: BTreeMap<K, Slack> = BTreeMap::new();
    for row in rows.unwrap_or_default() {
        sums.entry(key(row)).or_default().add(row);
    }
    sums
}

fn by_activity(page: &mut Page<'_>, shown: &Part) -> io::Result<()> {
    let (trace, run) = (page.trace, page.causes.span.to - page.causes.span.from);
    let n_locations = trace.locations().iter().filter(|it| it.has_time()).count().max(1) as i64;
    let remark = format!(
        "what {} consists of, in {}, none of which waited; mean: what each rank or thread took for it, waits left out; \
         imbalance: what the path has beyond that{}",
        length(trace, page.causes),
        format::counted(page.causes.path.spans.len() as u64, "piece"),
        if shown.shows_rows() { format!("; shown are rows of: {}", shown.words) } else { String::new() },
    );
    title(page.out, page.paint, "CRITICAL PATH", &remark)?;
    let rows = places(trace, page.causes, &shown.selection);
    let mut rows: Vec<_> = rows.into_iter().filter(|(_, sum)| sum.is_shown_on_path).collect();
    rows.sort_by_key(|(_, sum)| Reverse(sum.on_path));
    let mut table = Table::new(&[
        ("doing", Side::Left),
        ("called by", Side::Left),
        ("on", Side::Left),
        ("on the path", Side::Right),
        ("share", Side::Right),
        ("mean", Side::Right),
        ("imbalance", Side::Right),
    ])
    .can_spare(&["called by", "mean", "imbalance"]);
    for (place, sum) in rows.iter().take(page.top) {
        let [what, from] = place.cells();
        table.row([
            what,
            from,
            who(trace, &Vec::from_iter(sum.locations.iter().copied())).into(),
            format::duration(sum.on_path).into(),
            format::percent(sum.on_path.0, run.0).into(),
            Cell::new(Look::Faint, format::duration(sum.mean(n_locations))),
            format::duration(sum.imbalance(n_locations)).into(),
        ]);
    }
    if page.causes.path.before > Nanos(0) {
        table.row([
            "before the path".into(),
            "".into(),
            "".into(),
            format::duration(page.causes.path.before).into(),
            format::percent(page.causes.path.before.0, run.0).into(),
            "".into(),
            "".into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len())
}

/// How long each location was on the path, and how long it waited.
fn sums_by_location(causes: &Causes, shown: &Selection) -> BTreeMap<LocationId, [Nanos; 2]> {
    let mut sums: BTreeMap<LocationId, [Nanos; 2]> = BTreeMap::new();
    for row in causes.times.iter().filter(|row| shown.has_location(row.location)) {
        let [on_path, waiting] = sums.entry(row.location).or_default();
        *on_path = *on_path + row.on_path;
        *waiting = *waiting + row.waiting;
    }
    sums
}

fn by_location(page: &mut Page<'_>, slacks: Option<&[SlackRow]>, shown: &Selection) -> io::Result<()> {
    let (trace, run) = (page.trace, page.causes.span.to - page.causes.span.from);
    let remark = "how long the path was on each, how long it waited, and its slack: how much longer its work could take \
                  without making the run longer; mean: by time";
    title(page.out, page.paint, "RANKS AND THREADS", remark)?;
    let mut rows: Vec<_> = sums_by_location(page.causes, shown).into_iter().collect();
    rows.sort_by_key(|(_, [on_path, _])| Reverse(*on_path));
    let mut table = Table::new(&[
        ("who", Side::Left),
        ("on the path", Side::Right),
        ("share", Side::Right),
        ("waiting", Side::Right),
        ("least slack", Side::Right),
        ("mean slack", Side::Right),
    ])
    .can_spare(&["least slack", "share", "mean slack"]);
    let slacks = slack_by(slacks, |row| row.location);
    for (location, [on_path, waiting]) in rows.iter().take(page.top) {
        let [least, mean] = slacks.get(location).copied().unwrap_or_default().cells();
        table.row([
            name(trace, *location).into(),
            format::duration(*on_path).into(),
            format::percent(on_path.0, run.0).into(),
            format::duration(*waiting).into(),
            least,
            mean,
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len())
}

/// What is not on the path all of the time, and how much longer that could take.
fn elsewhere(page: &mut Page<'_>, slacks: Option<&[SlackRow]>, shown: &Selection) -> io::Result<()> {
    let trace = page.trace;
    let remark = "how much longer what is off the path could take, all else as it was, without making the run longer: at \
                  least, and on average by time";
    title(page.out, page.paint, "SLACK", remark)?;
    if slacks.is_none() {
        let text = "not known: the run has too many messages and waits for it";
        return writeln!(page.out, "  {}", page.paint.paint(Look::Faint, text));
    }
    let sums = places(trace, page.causes, shown);
    let slacks = slack_by(slacks, |row| Place::of(trace, row.activity));
    let off = |place: &Place<'_>, slack: &Slack| {
        (slack.time - sums.get(place).map_or(Nanos(0), |sum| sum.on_path)).max(Nanos(0))
    };
    let mut rows: Vec<_> = slacks.iter().map(|(place, slack)| (place, slack, off(place, slack))).collect();
    rows.retain(|row| row.2 > Nanos(0));
    let is_any = !rows.is_empty();
    rows.retain(|row| sums.get(row.0).is_some_and(|sum| sum.is_shown));
    rows.sort_by_key(|row| Reverse(row.2));
    if rows.is_empty() {
        let text = if is_any {
            "none of these ranks and calls"
        } else {
            "none: all that was done is on the critical path"
        };
        return writeln!(page.out, "  {}", page.paint.paint(Look::Faint, text));
    }
    let mut table = Table::new(&[
        ("doing", Side::Left),
        ("called by", Side::Left),
        ("off the path", Side::Right),
        ("least slack", Side::Right),
        ("mean slack", Side::Right),
    ])
    .can_spare(&["called by", "off the path"]);
    for (place, slack, off) in rows.iter().take(page.top) {
        let ([what, from], [least, mean]) = (place.cells(), slack.cells());
        table.row([what, from, format::duration(*off).into(), least, mean]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len())
}

/// The answer for other programs; what the fields mean is told by the help.
#[derive(Serialize)]
struct Json<'t> {
    from_ns: i64,
    to_ns: i64,
    duration_ns: i64,
    before_ns: i64,
    spans: usize,
    critical_path: Vec<JsonRow<'t>>,
    places: Vec<JsonPlace<'t>>,
    locations: Vec<JsonLocation<'t>>,
    slack: Option<Vec<JsonSlack<'t>>>,
}

/// A place of the program.
#[derive(Serialize)]
struct JsonPlace<'t> {
    #[serde(flatten)]
    place: Place<'t>,
    path_ns: i64,
    mean_ns: i64,
    imbalance_ns: i64,
    #[serde(flatten)]
    slack: JsonSlackSum,
}

/// A rank or thread.
#[derive(Serialize)]
struct JsonLocation<'t> {
    #[serde(flatten)]
    who: Who<'t>,
    path_ns: i64,
    waiting_ns: i64,
    #[serde(flatten)]
    slack: JsonSlackSum,
}

/// A call path on a location.
#[derive(Serialize)]
struct JsonSlack<'t> {
    #[serde(flatten)]
    who: Who<'t>,
    #[serde(flatten)]
    place: Place<'t>,
    call_path: Option<u32>,
    #[serde(flatten)]
    slack: JsonSlackSum,
}

#[derive(Serialize)]
struct JsonSlackSum {
    work_ns: i64,
    unbounded_ns: i64,
    least_slack_ns: Option<i64>,
    mean_slack_ns: Option<i64>,
}

impl From<&Slack> for JsonSlackSum {
    fn from(it: &Slack) -> Self {
        Self {
            work_ns: it.time.0,
            unbounded_ns: (it.time - it.bounded).0,
            least_slack_ns: it.least.map(|time| time.0),
            mean_slack_ns: it.mean().map(|time| time.0),
        }
    }
}

fn json_places<'t>(
    trace: &'t dyn Trace,
    causes: &Causes,
    slacks: Option<&[SlackRow]>,
    shown: &Selection,
) -> Vec<JsonPlace<'t>> {
    let n_locations =
        i64::try_from(trace.locations().iter().filter(|it| it.has_time()).count()).unwrap_or(i64::MAX).max(1);
    let slacks = slack_by(slacks, |row| Place::of(trace, row.activity));
    let mut rows: Vec<_> = places(trace, causes, shown).into_iter().filter(|(_, sum)| sum.is_shown).collect();
    rows.sort_by_key(|(_, sum)| Reverse(sum.on_path));
    let row = |(place, sum): (Place<'t>, Sum)| JsonPlace {
        place,
        path_ns: sum.on_path.0,
        mean_ns: sum.mean(n_locations).0,
        imbalance_ns: sum.imbalance(n_locations).0,
        slack: (&slacks.get(&place).copied().unwrap_or_default()).into(),
    };
    rows.into_iter().map(row).collect()
}

fn json_locations<'t>(
    trace: &'t dyn Trace,
    causes: &Causes,
    slacks: Option<&[SlackRow]>,
    shown: &Selection,
) -> Vec<JsonLocation<'t>> {
    let (sums, slacks) = (sums_by_location(causes, shown), slack_by(slacks, |row| row.location));
    let row = |(id, _): (LocationId, _)| {
        let [on_path, waiting] = sums.get(&id).copied().unwrap_or_default();
        JsonLocation {
            who: Who::new(trace, id),
            path_ns: on_path.0,
            waiting_ns: waiting.0,
            slack: (&slacks.get(&id).copied().unwrap_or_default()).into(),
        }
    };
    let is_shown = |(id, place): &(LocationId, &Location)| place.has_time() && shown.has_location(*id);
    (0..).map(LocationId).zip(trace.locations()).filter(is_shown).map(row).collect()
}

fn json_slack<'t>(trace: &'t dyn Trace, rows: &[SlackRow], shown: &Selection) -> Vec<JsonSlack<'t>> {
    let row = |row: &SlackRow| {
        let place = Place::of(trace, row.activity);
        let mut slack = Slack::default();
        slack.add(row);
        JsonSlack {
            who: Who::new(trace, row.location),
            place,
            call_path: match row.activity {
                Activity::Path(path) => Some(path.0),
                _ => None,
            },
            slack: (&slack).into(),
        }
    };
    rows.iter().filter(|row| is_shown(shown, row.location, row.activity)).map(row).collect()
}

#[derive(Serialize)]
pub(crate) struct JsonRow<'t> {
    #[serde(flatten)]
    who: Who<'t>,
    #[serde(flatten)]
    place: Place<'t>,
    time_ns: i64,
}

/// The path by location and activity, most first.
pub(crate) fn json_path<'t>(trace: &'t dyn Trace, causes: &Causes) -> Vec<JsonRow<'t>> {
    json_path_of(trace, causes, &Selection::default())
}

/// The same, but only what is shown.
fn json_path_of<'t>(trace: &'t dyn Trace, causes: &Causes, shown: &Selection) -> Vec<JsonRow<'t>> {
    let is_in = |row: &&TimeRow| row.on_path > Nanos(0) && is_shown(shown, row.location, row.activity);
    let mut rows: Vec<&TimeRow> = causes.times.iter().filter(is_in).collect();
    rows.sort_by_key(|row| Reverse(row.on_path));
    let row = |row: &&TimeRow| {
        let place = Place::of(trace, row.activity);
        JsonRow { who: Who::new(trace, row.location), place, time_ns: row.on_path.0 }
    };
    rows.iter().map(row).collect()
}

impl<'t> Json<'t> {
    fn new(trace: &'t dyn Trace, causes: &Causes, slacks: Option<&[SlackRow]>, shown: &Selection) -> Self {
        Self {
            from_ns: causes.span.from.0,
            to_ns: causes.span.to.0,
            duration_ns: (causes.span.to - causes.span.from).0,
            before_ns: causes.path.before.0,
            spans: causes.path.spans.len(),
            critical_path: json_path_of(trace, causes, shown),
            places: json_places(trace, causes, slacks, shown),
            locations: json_locations(trace, causes, slacks, shown),
            slack: slacks.map(|rows| json_slack(trace, rows, shown)),
        }
    }
}
