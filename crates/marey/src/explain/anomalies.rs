//! `marey anomalies`: visits that took longer than their like.
//!
//! The one idea: each is told with what it was compared with and what was different, so that it can be judged without
//! looking at anything else.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::process::ExitCode;

use marey_analyze::{
    Anomalies, Anomaly, Begun, CutOut, Excerpt, Loop, Method, Selection, Span, Trace, Unread, anomalies,
    phases, phases_in,
};
use marey_archive::Events;
use marey_model::{Level, LocationId, Nanos, Role};
use serde::Serialize;

use super::part::Part;
use super::phases::unreadable;
use super::sheet::{Sheet, cells, instant, plain, time, what};
use super::{Place, Who, rounded, who};
use crate::busy::Busy;
use crate::cli::{AnomaliesArgs, AnomalyMethod};
use crate::format::{self, solid};
use crate::paint::{shorten, title};
use crate::run::{Run, damaged};
use crate::table::{Side, Table};
use crate::words;

/// Visits that have a sentence of their own.
const MOST: usize = 5;

/// Runs the command.
pub(crate) fn run(args: &AnomaliesArgs) -> anyhow::Result<ExitCode> {
    let path = &args.common.run;
    let run = Run::open(path)?;
    let part = Part::asked(&run, path, &args.when, &args.which)?;
    part.has_a_beginning(&run, path)?;
    let busy = Busy::with("comparing visits");
    let events = Events::open(&run.archive, &run.trace).map_err(|error| damaged(path, &error))?;
    let method = match args.method {
        AnomalyMethod::Robust => Method::Robust,
        AnomalyMethod::Normal => Method::Normal,
    };
    let judging = (method, args.percent);
    let (found, main) = look(&run, &events, &part, judging).map_err(|unread| unreadable(path, &unread))?;
    drop(busy);
    let told = Told {
        trace: &run.trace,
        found: &found,
        main: main.as_ref(),
        method,
        percent: args.percent,
        part: &part,
        span: part.covered(&run),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.common.json {
        serde_json::to_writer_pretty(&mut out, &Json::new(&told))?;
        writeln!(out)?;
    } else {
        let mut sheet = Sheet::new(&mut out, &args.common, &run.trace);
        sheet.cut(&run, &part)?;
        told.print(&mut sheet)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// What is odd in a part, and the main loop of the run, or of what of it has all events.
fn look(
    run: &Run,
    events: &Events<'_>,
    part: &Part,
    judging: (Method, f64),
) -> Result<(Anomalies, Option<Loop>), Unread> {
    let waits = part.all_waits(run, events)?;
    let phases = match part.until {
        None => phases(&run.trace, events)?,
        Some(until) => {
            let beginning = Selection { span: Span { to: until, ..Span::ALL }, ..Selection::default() };
            let sums = Excerpt::new(&run.trace, events, &beginning)?;
            phases_in(&sums, &CutOut::new(&run.trace, events, &beginning), sums.span())?
        }
    };
    let main = phases.main.map(|main| phases.loops[main].clone());
    let begun = Begun::new(&run.trace, events, &part.selection)?;
    let found = anomalies(&run.trace, &begun, &waits, main.as_ref(), judging)?;
    Ok((found, main))
}

struct Told<'t> {
    trace: &'t dyn Trace,
    found: &'t Anomalies,
    main: Option<&'t Loop>,
    method: Method,
    percent: f64,
    part: &'t Part,
    /// What of the run it is about.
    span: Span,
}

impl Told<'_> {
    fn sentences(&self) -> Vec<String> {
        let found = self.found;
        let mut all = vec![self.headline()];
        // What another one explains is told with that.
        let own: Vec<&Anomaly> = found
            .list
            .iter()
            .filter(|it| it.inside.is_none() && it.because.is_none() && it.excess() > 0.0)
            .collect();
        // The least of many are in the table.
        let least = own.first().map_or(0.0, |first| first.excess() / 10.0);
        all.extend(own.iter().take(MOST).filter(|it| least <= it.excess()).map(|it| self.sentence(it)));
        if found.not_judged > 0 {
            let why = match self.method {
                Method::Normal => "too few of their region, or polls that the recorder put together",
                Method::Robust => {
                    "too few of their call path and size, or polls that the recorder put together"
                }
            };
            all.push(format!(
                "{} not judged: {why}.",
                match found.not_judged {
                    1 => "One visit was".to_owned(),
                    number => format!("{} visits were", solid(format::count(number))),
                }
            ));
        }
        all
    }

    fn headline(&self) -> String {
        let found = self.found;
        let judged = solid(format::counted(found.judged, "visit"));
        let percent = solid(format!("{} %", self.percent));
        if found.judged == 0 {
            return "No visits could be judged: none of a kind were recorded often enough, one by one."
                .to_owned();
        }
        let (test, none) = match self.method {
            Method::Normal => (
                format!("by Jumpshot's test at {percent}: durations of a region taken to be normal"),
                "none lasted anomalously long or short",
            ),
            Method::Robust => (
                format!("compared with their like; by chance, there would be any in {percent} of such runs"),
                "none lasted anomalously long",
            ),
        };
        if found.long + found.short == 0 {
            return format!("Of {judged}, {none} ({test}).");
        }
        let short = if found.short > 0 {
            format!("; {} anomalously short", solid(format::count(found.short)))
        } else {
            String::new()
        };
        format!(
            "Of {judged}, {} lasted anomalously long, {} more than expected together{short} ({test}).",
            solid(format::count(found.long)),
            solid(format::duration(found.excess)),
        )
    }

    /// `MPI_Recv in halo (main.c:40) on rank 1, at 1.234 s (iteration 12), took 9.80 ms instead of about 1.20 ms: …`
    fn sentence(&self, it: &Anomaly) -> String {
        let size = it.bytes.filter(|bytes| *bytes > 0);
        let size = size.map_or_else(String::new, |bytes| format!(" ({})", solid(format::bytes(bytes))));
        let iteration = self.iteration(it);
        let iteration =
            iteration.map_or_else(String::new, |number| format!(", in iteration {}", format::count(number)));
        let why = match it.cause {
            Some((cause, pattern)) if it.is_waiting() => format!(
                ": it waited {} for {}, {}",
                solid(format::duration(it.waiting)),
                words::location(self.trace, cause),
                pattern.name(),
            ),
            _ if it.is_noise => format!(
                ": it had no processor for {} of that, for the machine had other work",
                solid(format::duration(it.without_processor.unwrap_or_default())),
            ),
            _ if it.excess() < 10.0 * waiting(it) => {
                format!(": it waited {} of that", solid(format::duration(it.waiting)))
            }
            _ if self.waits_for_nobody(it) => {
                ": it waits for nobody, so perhaps the machine had other work".to_owned()
            }
            _ => String::new(),
        };
        let effects = self.effects(it);
        format!(
            "{}{size} on {}, at {}{iteration}, took {} instead of about {}{why}.{effects}",
            what(&Place::of_call(self.trace, Some(it.call_path))),
            words::location(self.trace, it.location),
            instant(it.start),
            solid(format::duration(it.duration)),
            time(it.expected),
        )
    }

    /// ` For that, rank 1 waited 9.00 ms in MPI_Recv.`
    fn effects(&self, it: &Anomaly) -> String {
        let place = self.found.list.iter().position(|other| other == it);
        let waits =
            || self.found.list.iter().filter(|other| other.because.is_some() && other.because == place);
        let mut locations: Vec<LocationId> = waits().map(|wait| wait.location).collect();
        locations.sort_unstable();
        locations.dedup();
        let Some(first) = waits().next() else { return String::new() };
        let together = waits().fold(Nanos(0), |sum, wait| sum + wait.waiting);
        format!(
            " For that, {} waited {}{} in {}.",
            who(self.trace, &locations),
            solid(format::duration(together)),
            if locations.len() == 1 { "" } else { " together" },
            what(&Place::of_call(self.trace, Some(first.call_path))),
        )
    }

    /// Whether a visit is of a call that only manages something of its own process: it usually takes no time.
    fn waits_for_nobody(&self, it: &Anomaly) -> bool {
        let path = self.trace.call_paths().get(it.call_path.idx());
        let region = path.and_then(|path| self.trace.regions().get(path.region.idx()));
        let is_local = region.is_some_and(|region| region.role == Role::Manage && region.level == Level::MPI);
        is_local && it.expected < 10_000.0
    }

    /// The number of the iteration, from 1, that it lies in.
    fn iteration(&self, it: &Anomaly) -> Option<u64> {
        let per = self.main.map_or(1, |main| main.per);
        it.iteration.map(|place| place as u64 * per + 1)
    }

    fn print(&self, sheet: &mut Sheet<'_>) -> io::Result<()> {
        title(
            sheet.out,
            sheet.paint,
            "ANOMALOUS DURATIONS",
            &format!("single visits that took longer than their like{}", self.part.remark()),
        )?;
        sheet.say(&self.sentences())?;
        if self.found.list.is_empty() {
            return Ok(());
        }
        self.instances(sheet)?;
        self.places(sheet)
    }

    fn instances(&self, sheet: &mut Sheet<'_>) -> io::Result<()> {
        let remark = "the largest excess over what was expected first; iteration: in which its middle lies; why: what it waited \
                      for, what in it was long, or that it had no processor (machine noise)";
        title(sheet.out, sheet.paint, "VISITS", remark)?;
        let mut table = Table::new(&[
            ("visit", Side::Left),
            ("called by", Side::Left),
            ("who", Side::Left),
            ("at", Side::Right),
            ("time", Side::Right),
            ("expected", Side::Right),
            ("iteration", Side::Right),
            ("why", Side::Left),
        ])
        .can_spare(&["called by", "iteration", "expected", "why", "at"]);
        for it in self.found.list.iter().take(sheet.top) {
            let [what, from] = cells(&Place::of_call(self.trace, Some(it.call_path)));
            table.row([
                what,
                from,
                words::location(self.trace, it.location).into(),
                format::plain(&instant(it.start)).into(),
                format::duration(it.duration).into(),
                format::duration(rounded(it.expected)).into(),
                self.iteration(it).map(format::count).unwrap_or_default().into(),
                self.why(it).into(),
            ]);
        }
        table.print(sheet.out, sheet.paint)?;
        sheet.more(self.found.list.len())
    }

    fn why(&self, it: &Anomaly) -> String {
        let call = |place: usize| {
            let path = self.found.list.get(place).map(|other| other.call_path);
            let [what, _] = Place::of_call(self.trace, path).texts();
            shorten(&what, 20)
        };
        match (it.inside, it.because, it.cause) {
            (Some(inside), ..) => format!("{} in it", call(inside)),
            (None, Some(because), Some((cause, _))) => {
                format!("{} of {}", call(because), words::location(self.trace, cause))
            }
            (None, None, Some((cause, _))) if it.is_waiting() => {
                format!("waits for {}", words::location(self.trace, cause))
            }
            _ if it.is_noise => "machine noise".to_owned(),
            _ => String::new(),
        }
    }

    /// The same added up by place.
    fn places(&self, sheet: &mut Sheet<'_>) -> io::Result<()> {
        let mut rows: BTreeMap<Place<'_>, Sum> = BTreeMap::new();
        for it in self.found.list.iter().filter(|it| it.excess() > 0.0) {
            let sum = rows.entry(Place::of_call(self.trace, Some(it.call_path))).or_default();
            sum.number += 1;
            sum.excess += it.excess();
            sum.longest = sum.longest.max(it.duration);
            sum.waiting += u64::from(it.is_waiting());
            sum.locations.insert(it.location);
        }
        if rows.len() < 2 && self.found.list.len() < sheet.top {
            return Ok(());
        }
        let mut remark = "excess: all together; waiting: how many are long because they waited".to_owned();
        let all = self.found.long + self.found.short;
        if (self.found.list.len() as u64) < all {
            remark +=
                &format!("; of the {} with the largest excess", format::count(self.found.list.len() as u64));
        }
        title(sheet.out, sheet.paint, "WHERE THEY ARE", &remark)?;
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by(|a, b| b.1.excess.total_cmp(&a.1.excess));
        let mut table = Table::new(&[
            ("visits of", Side::Left),
            ("called by", Side::Left),
            ("who", Side::Left),
            ("long", Side::Right),
            ("excess", Side::Right),
            ("longest", Side::Right),
            ("waiting", Side::Right),
        ])
        .can_spare(&["waiting", "longest", "called by", "who"]);
        for (place, sum) in rows.iter().take(sheet.top) {
            let [what, from] = cells(place);
            table.row([
                what,
                from,
                who(self.trace, &Vec::from_iter(sum.locations.iter().copied())).into(),
                format::count(sum.number).into(),
                format::duration(rounded(sum.excess)).into(),
                format::duration(sum.longest).into(),
                format::count(sum.waiting).into(),
            ]);
        }
        table.print(sheet.out, sheet.paint)?;
        sheet.more(rows.len())
    }
}

/// Anomalous visits of one place.
#[derive(Debug, Default)]
struct Sum {
    number: u64,
    excess: f64,
    longest: Nanos,
    waiting: u64,
    locations: BTreeSet<LocationId>,
}

#[expect(clippy::cast_precision_loss, reason = "runs are shorter than 104 days")]
fn waiting(it: &Anomaly) -> f64 {
    it.waiting.0 as f64
}

/// The answer for other programs; what the fields mean is told by the help.
#[derive(Serialize)]
struct Json<'t> {
    from_ns: i64,
    to_ns: i64,
    text: Vec<String>,
    method: &'static str,
    percent: f64,
    judged: u64,
    not_judged: u64,
    groups: u64,
    groups_with: u64,
    long: u64,
    short: u64,
    excess_ns: i64,
    anomalies: Vec<JsonAnomaly<'t>>,
}

#[derive(Serialize)]
struct JsonAnomaly<'t> {
    #[serde(flatten)]
    who: Who<'t>,
    level: &'t str,
    region: &'t str,
    function: &'t str,
    file: &'t str,
    line: u32,
    start_ns: i64,
    duration_ns: i64,
    expected_ns: i64,
    excess_ns: i64,
    probability: f64,
    like: u64,
    bytes: Option<u64>,
    iteration: Option<u64>,
    waiting_ns: i64,
    waits_for: Option<String>,
    pattern: Option<&'static str>,
    is_waiting: bool,
    without_processor_ns: Option<i64>,
    is_noise: bool,
    inside: Option<usize>,
    because: Option<usize>,
}

impl<'t> Json<'t> {
    fn new(told: &'t Told<'t>) -> Self {
        let (trace, found) = (told.trace, told.found);
        let anomaly = |it: &Anomaly| {
            let Place { level, region, function, file, line, .. } = Place::of_call(trace, Some(it.call_path));
            JsonAnomaly {
                who: Who::new(trace, it.location),
                level,
                region,
                function,
                file,
                line,
                start_ns: it.start.0,
                duration_ns: it.duration.0,
                expected_ns: rounded(it.expected).0,
                excess_ns: rounded(it.excess()).0,
                probability: it.probability,
                like: it.like,
                bytes: it.bytes,
                iteration: told.iteration(it),
                waiting_ns: it.waiting.0,
                waits_for: it.cause.map(|(cause, _)| words::location(trace, cause)),
                pattern: it.cause.map(|(_, pattern)| pattern.name()),
                is_waiting: it.is_waiting(),
                without_processor_ns: it.without_processor.map(|time| time.0),
                is_noise: it.is_noise,
                inside: it.inside.map(|inside| inside + 1),
                because: it.because.map(|because| because + 1),
            }
        };
        Self {
            from_ns: told.span.from.0,
            to_ns: told.span.to.0,
            text: plain(&told.sentences()),
            method: if told.method == Method::Normal { "normal" } else { "robust" },
            percent: told.percent,
            judged: found.judged,
            not_judged: found.not_judged,
            groups: found.groups,
            groups_with: found.groups_with,
            long: found.long,
            short: found.short,
            excess_ns: found.excess.0,
            anomalies: found.list.iter().map(anomaly).collect(),
        }
    }
}
