//! `marey situations`: where the pace changes, who deviates from a family, and where messages pile up.
//!
//! The one idea: a situation is a sentence that names when, who, what and the probable cause; the table below has all of
//! them, a line each.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use marey_analyze::{
    Activity, ProbableCause, Selection, Situation, SituationKind, SituationRules, Situations, Threshold,
    Trace, Until, situations,
};
use marey_archive::Events;
use marey_model::{CallPathId, Nanos};
use serde::Serialize;

use super::findings::{capital, from};
use super::part::Part;
use super::sheet::instant;
use super::{Page, Place, name, rank, ranks, rounded, who};
use crate::busy::Busy;
use crate::cli::{SituationsArgs, Which, Whose};
use crate::exit::Usage;
use crate::format::{self, solid};
use crate::paint::{Look, harmless, note, shorten, title, wrap};
use crate::run::{Run, damaged};
use crate::table::{Side, Table};
use crate::words;

/// Sentences before the table.
const SENTENCES: usize = 10;

/// More than this is no file of rules, even one with many remarks.
const MOST_OF_A_FILE: u64 = 1 << 20;

/// Runs the command.
pub(crate) fn run(args: &SituationsArgs) -> anyhow::Result<ExitCode> {
    let rules = args.rules_file.as_deref().map_or_else(|| Ok(SituationRules::default()), read)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.rules {
        write!(out, "{rules}")?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = &args.common.run;
    let run = Run::open(path)?;
    let part = Part::asked(&run, path, &args.when, &Which::default())?;
    let whose = Whose { ranks: args.ranks.clone(), context: args.context.clone(), level: None };
    let which = Which { whose, communicator: None };
    let shown = Part::asked(&run, path, &args.when, &which)?;
    let causes = part.causes(&run, path)?;
    let busy = Busy::with("looking for situations");
    let events = Events::open(&run.archive, &run.trace).map_err(|error| damaged(path, &error))?;
    let found = match part.until {
        None => situations(&run.trace, &events, &causes, &rules),
        Some(until) => situations(&Until::new(&run.trace, until), &events, &causes, &rules),
    };
    let mut found = found.map_err(|unread| {
        anyhow::anyhow!("{} cannot be searched, for parts of it cannot be read: {unread}", path.display())
    })?;
    found.list.retain(|it| is_meant(&shown.selection, it));
    drop(busy);
    if args.common.json {
        serde_json::to_writer_pretty(&mut out, &Json::new(&run.trace, &causes, &rules, &found))?;
        writeln!(out)?;
    } else {
        let mut page = Page::new(&mut out, &args.common, &run, &causes);
        page.cut(&run, &part)?;
        sentences(&mut page, &rules, &found, &shown)?;
        table(&mut page, &found)?;
        notes(&mut page, &rules, &found)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<SituationRules> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot read the rules {shown}"))?;
    let mut bytes = Vec::new();
    let read = file.take(MOST_OF_A_FILE + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read the rules {shown}"))?;
    if bytes.len() as u64 > MOST_OF_A_FILE {
        bail!(Usage(format!("{shown} has no rules: it is larger than {}", format::bytes(MOST_OF_A_FILE))));
    }
    let Ok(text) = String::from_utf8(bytes) else {
        bail!(Usage(format!("{shown} has no rules: it is not text in UTF-8")))
    };
    let rules = SituationRules::parse(&text).map_err(|error| {
        Usage(format!(
            "{shown}: {}; `marey situations --rules` prints rules that are right",
            harmless(&error.to_string())
        ))
    })?;
    if rules.rules.is_empty() {
        bail!(Usage(format!("{shown} has no rules; `marey situations --rules` prints some")));
    }
    Ok(rules)
}

/// Whether somebody who is meant takes part or causes it, and a call that is meant shows or causes it.
fn is_meant(shown: &Selection, it: &Situation) -> bool {
    let has_cause = |has: &dyn Fn(&ProbableCause) -> bool| it.cause.as_ref().is_some_and(has);
    let in_call = |cause: &ProbableCause| match cause.activity {
        Activity::Path(path) => shown.has_call(Some(path)),
        Activity::Outside | Activity::NotStarted => false,
    };
    let somebody = it.locations.iter().any(|id| shown.has_location(*id))
        || has_cause(&|cause| shown.has_location(cause.location));
    let call = shown.has_call(it.call_path)
        || it.others.iter().any(|path| shown.has_call(Some(*path)))
        || has_cause(&in_call);
    somebody && call
}

fn sentences(
    page: &mut Page<'_>,
    rules: &SituationRules,
    found: &Situations,
    shown: &Part,
) -> io::Result<()> {
    let span = page.causes.span;
    let remark = format!(
        "in {}, by the rules that `marey situations --rules` prints or --rules-file names{}",
        format::duration(span.to - span.from),
        shown.remark(),
    );
    title(page.out, page.paint, "SITUATIONS", &remark)?;
    if found.list.is_empty() {
        let text = if shown.shows_rows() { "none of these ranks and calls" } else { none(rules) };
        return note(page.out, page.paint, text);
    }
    let mut list: Vec<&Situation> = found.list.iter().collect();
    // Those that matter most, in the order of time.
    list.sort_by_key(|it| std::cmp::Reverse(weight(it)));
    let mut told = together(&list);
    told.truncate(SENTENCES.min(page.top));
    told.sort_by_key(|(it, _)| (it.from, it.to, it.kind));
    for (number, (situation, more)) in (1..).zip(&told) {
        let mut text = sentence(page.trace, situation);
        if *more > 0 {
            let times = format::counted_as(*more, "more time", "more times");
            text += &format!(" It happens {} in the same way.", solid(times));
        }
        for (place, line) in wrap(&text, page.paint.prose_width() - 5).iter().enumerate() {
            let mark = if place == 0 { format!("{number:>2} ") } else { "   ".to_owned() };
            writeln!(page.out, "  {}{line}", page.paint.paint(Look::Bar, &mark))?;
        }
    }
    Ok(())
}

/// Other rules may look for less.
fn none(rules: &SituationRules) -> &'static str {
    if *rules == SituationRules::default() {
        "none: the pace is steady, all do about as much, and no messages pile up"
    } else {
        "none: nothing that the rules look for"
    }
}

/// Queues that one place makes at one location again and again are told once, by the first of a list, and how many more there
/// are.
fn together<'s>(list: &[&'s Situation]) -> Vec<(&'s Situation, u64)> {
    let cause = |it: &Situation| it.cause.map(|cause| (cause.location, cause.activity));
    let mut told: Vec<(&Situation, u64)> = Vec::new();
    for &it in list {
        let is_same = |(other, _): &&mut (&Situation, u64)| {
            it.kind == SituationKind::MessageQueue
                && (it.kind, &it.family, it.threshold) == (other.kind, &other.family, other.threshold)
                && (&it.locations, cause(it)) == (&other.locations, cause(other))
        };
        match told.iter_mut().find(is_same) {
            Some((_, more)) => *more += 1,
            None => told.push((it, 0)),
        }
    }
    told
}

/// What matters; of queues, whose cost is not known, the time.
fn weight(it: &Situation) -> Nanos {
    if it.cost > Nanos(0) { it.cost } else { it.to - it.from }
}

fn table(page: &mut Page<'_>, found: &Situations) -> io::Result<()> {
    if found.list.is_empty() {
        return Ok(());
    }
    title(
        page.out,
        page.paint,
        "ALL OF THEM",
        "in the order of time; cost: time lost, or won by a speed-up",
    )?;
    let mut table = Table::new(&[
        ("what", Side::Left),
        ("who", Side::Left),
        ("from", Side::Right),
        ("to", Side::Right),
        ("in", Side::Left),
        ("measured", Side::Right),
        ("normal", Side::Right),
        ("cost", Side::Right),
    ])
    .can_spare(&["in", "to", "cost", "normal"]);
    let trace = page.trace;
    for it in found.list.iter().take(page.top) {
        let region = it.call_path.map_or("", |path| Place::of_call(trace, Some(path)).region);
        let cost = if it.cost > Nanos(0) { format::duration(it.cost) } else { String::new() };
        table.row([
            it.kind.name().into(),
            shorten(&who(trace, &it.locations), 24).into(),
            format::plain(&instant(it.from)).into(),
            format::plain(&instant(it.to)).into(),
            shorten(&harmless(region), 24).into(),
            value(it, it.measured).into(),
            value(it, it.normal).into(),
            cost.into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(found.list.len())
}

fn notes(page: &mut Page<'_>, rules: &SituationRules, found: &Situations) -> io::Result<()> {
    for (kind, number) in &found.more {
        let text = format!(
            "{} of a rule that found too many are left out, those that matter least",
            format::counted_as(*number, kind.name(), &format!("situations of kind {}", kind.name())),
        );
        note(page.out, page.paint, &text)?;
    }
    for family in rules.empty_families(page.trace) {
        let text = format!("the family {} has nobody in this run", harmless(&family));
        note(page.out, page.paint, &text)?;
    }
    if found.unfollowed > 0 {
        let text = format!(
            "the pace of {} is not known, for there are too many call paths",
            format::counted(found.unfollowed, "visit")
        );
        note(page.out, page.paint, &text)?;
    }
    Ok(())
}

/// A number with its unit.
fn value(it: &Situation, value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers are small and positive"
    )]
    let whole = value.round() as u64;
    match (it.kind, it.threshold) {
        (SituationKind::UnderUtilised | SituationKind::OverUtilised, _) => format!("{:.1} %", 100.0 * value),
        (SituationKind::MessageQueue, Threshold::Bytes(_)) => format::bytes(whole),
        (SituationKind::MessageQueue, Threshold::By(_)) => format!("{value:.1} messages"),
        (SituationKind::MessageQueue, _) => format::counted(whole, "message"),
        _ => format::duration(rounded(value)),
    }
}

fn unit(it: &Situation) -> &'static str {
    match (it.kind, it.threshold) {
        (SituationKind::UnderUtilised | SituationKind::OverUtilised, _) => "share",
        (SituationKind::MessageQueue, Threshold::Bytes(_)) => "bytes",
        (SituationKind::MessageQueue, _) => "messages",
        _ => "ns",
    }
}

/// ` in the family pool`; of everyone nothing is said.
fn family(it: &Situation) -> String {
    if it.family == "everyone" { String::new() } else { format!(" of the family {}", harmless(&it.family)) }
}

fn sentence(trace: &dyn Trace, it: &Situation) -> String {
    let is_one = it.locations.len() == 1;
    let who = capital(&who(trace, &it.locations));
    let (from_time, to_time) = (instant(it.from), instant(it.to));
    let (measured, normal) = (solid(value(it, it.measured)), solid(value(it, it.normal)));
    let family = family(it);
    let place = it.call_path.map(|path| Place::of_call(trace, Some(path)));
    let call = place.map_or_else(String::new, |place| format!("{}{}", harmless(place.region), from(&place)));
    let cost = time(it.cost);
    let what = match it.kind {
        SituationKind::SpeedUp | SituationKind::SlowDown => {
            let is_slower = it.kind == SituationKind::SlowDown;
            let verb = match (is_slower, is_one) {
                (true, true) => "slows down",
                (true, false) => "slow down",
                (false, true) => "speeds up",
                (false, false) => "speed up",
            };
            let ends = if is_slower { "lost" } else { "won" };
            format!(
                "{who}{family} {verb} at {from_time}: {call} ends every {measured} instead of every {normal}, {} times \
                 until {to_time}; {cost} {ends}.",
                format::count(it.number),
            )
        }
        SituationKind::UnderUtilised | SituationKind::OverUtilised => {
            let word = if it.kind == SituationKind::UnderUtilised { "only " } else { "" };
            format!(
                "{who}{family} is useful for {word}{measured} of its time; the mean of the family is {normal}."
            )
        }
        SituationKind::MessageQueue => {
            let number = match it.threshold {
                Threshold::Messages(_) => format!(", {} together,", solid(format::bytes(it.number))),
                Threshold::Bytes(_) => format!(" in {}", solid(format::counted(it.number, "message"))),
                _ => format!(" on average, where the mean of the family is {normal}"),
            };
            format!("Messages pile up at {}{family} from {from_time} to {to_time}: up to {measured}{number} were sent and not asked for.", who_small(trace, it))
                .replace(": up to ", if matches!(it.threshold, Threshold::By(_)) { ": " } else { ": up to " })
        }
        SituationKind::ProcessingTime => match it.threshold {
            Threshold::Time(_) => format!(
                "{who}{family} takes {measured} from the message that {call} received until it asks for the next, from \
                 {from_time} to {to_time}."
            ),
            _ => format!(
                "{who}{family} takes {measured} from one message to the next on average, received by {call}, where the \
                 mean of the family is {normal}; {} times, {cost} more than the mean.",
                format::count(it.number),
            ),
        },
    };
    format!("{what}{}", why(trace, it))
}

fn who_small(trace: &dyn Trace, it: &Situation) -> String {
    who(trace, &it.locations)
}

fn time(time: Nanos) -> String {
    solid(format::duration(time))
}

/// ` Probable cause: …`
fn why(trace: &dyn Trace, it: &Situation) -> String {
    let Some(cause) = &it.cause else { return also(trace, it) };
    let (person, what) = (name(trace, cause.location), done(trace, cause));
    let amount = time(rounded(cause.amount.abs()));
    let cause = match (it.kind, cause.is_waiting) {
        (SituationKind::SpeedUp | SituationKind::SlowDown, is_waiting) => {
            let more = if cause.amount < 0.0 { "less" } else { "more" };
            let word = if is_waiting { "waits" } else { "takes" };
            let in_or_for = if is_waiting { "in" } else { "for" };
            format!("{person} {word} {amount} {more} each time {in_or_for} {what}")
        }
        (SituationKind::UnderUtilised, true) => {
            format!("it waits for {person}, {amount} more than the mean in {what}")
        }
        (SituationKind::UnderUtilised | SituationKind::OverUtilised, _) => {
            format!("it takes {amount} more than the mean for {what}")
        }
        (SituationKind::MessageQueue, _) => {
            let mut text = format!(
                "{person} sends {} with {what}",
                solid(format::counted(whole(cause.amount), "message"))
            );
            if let Some(meanwhile) = &it.meanwhile {
                text += &format!(
                    " while {} spends {} on {}",
                    who_small(trace, it),
                    time(rounded(meanwhile.amount)),
                    done(trace, meanwhile),
                );
            }
            text
        }
        (SituationKind::ProcessingTime, _) => format!("it spends {amount} of that time on {what}"),
    };
    let noise = if it.is_noise() {
        " It had no processor for that: machine noise, and nothing that the program does."
    } else {
        ""
    };
    format!(" Probable cause: {cause}.{noise}{}", also(trace, it))
}

/// ` It shows in MPI_Allreduce in … and 3 other calls, too.`
fn also(trace: &dyn Trace, it: &Situation) -> String {
    let Some(first) = it.others.first() else { return String::new() };
    let place = Place::of_call(trace, Some(*first));
    let more = match it.others.len() - 1 {
        0 => String::new(),
        1 => " and another call".to_owned(),
        number => format!(" and {} other calls", format::count(number as u64)),
    };
    format!(" It shows in {}{}{more}, too.", harmless(place.region), from(&place))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a count")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

fn done(trace: &dyn Trace, cause: &ProbableCause) -> String {
    match cause.activity {
        Activity::Path(path) => {
            let place = Place::of_call(trace, Some(path));
            format!("{}{}", harmless(place.region), from(&place))
        }
        Activity::Outside | Activity::NotStarted => "computation outside of recorded calls".to_owned(),
    }
}

/// The answer for other programs; what the fields mean is told by the help.
#[derive(Serialize)]
struct Json<'t> {
    from_ns: i64,
    to_ns: i64,
    rules: Vec<String>,
    situations: Vec<JsonSituation<'t>>,
    more: Vec<JsonMore>,
    empty_families: Vec<String>,
    unfollowed_visits: u64,
}

#[derive(Serialize)]
struct JsonMore {
    kind: &'static str,
    number: u64,
}

#[derive(Serialize)]
struct JsonSituation<'t> {
    kind: &'static str,
    family: String,
    text: String,
    from_ns: i64,
    to_ns: i64,
    locations: Vec<String>,
    ranks: Vec<u32>,
    level: &'t str,
    region: &'t str,
    function: &'t str,
    file: &'t str,
    line: u32,
    measured: f64,
    normal: f64,
    unit: &'static str,
    number: u64,
    cost_ns: i64,
    others: Vec<JsonOther<'t>>,
    is_noise: bool,
    cause: Option<JsonCause<'t>>,
    meanwhile: Option<JsonCause<'t>>,
}

#[derive(Serialize)]
struct JsonCause<'t> {
    location: String,
    rank: Option<u32>,
    #[serde(flatten)]
    place: Place<'t>,
    is_waiting: bool,
    amount: f64,
    without_processor_ns: Option<i64>,
}

/// A call in which a change of pace shows, too.
#[derive(Serialize)]
struct JsonOther<'t> {
    level: &'t str,
    region: &'t str,
    function: &'t str,
    file: &'t str,
    line: u32,
}

impl<'t> Json<'t> {
    fn new(
        trace: &'t dyn Trace,
        causes: &marey_analyze::Causes,
        rules: &SituationRules,
        found: &Situations,
    ) -> Self {
        Self {
            from_ns: causes.span.from.0,
            to_ns: causes.span.to.0,
            rules: rules.to_string().lines().map(str::to_owned).collect(),
            situations: found.list.iter().map(|it| json_situation(trace, it)).collect(),
            more: found.more.iter().map(|&(kind, number)| JsonMore { kind: kind.name(), number }).collect(),
            empty_families: rules.empty_families(trace),
            unfollowed_visits: found.unfollowed,
        }
    }
}

fn json_situation<'t>(trace: &'t dyn Trace, it: &Situation) -> JsonSituation<'t> {
    let place = it.call_path.map(|path| Place::of_call(trace, Some(path)));
    let text = |field: fn(&Place<'t>) -> &'t str| place.as_ref().map_or("", field);
    JsonSituation {
        kind: it.kind.name(),
        family: it.family.clone(),
        text: format::plain(&sentence(trace, it)),
        from_ns: it.from.0,
        to_ns: it.to.0,
        locations: it.locations.iter().map(|id| words::location(trace, *id)).collect(),
        ranks: ranks(trace, &it.locations),
        level: text(|place| place.level),
        region: text(|place| place.region),
        function: text(|place| place.function),
        file: text(|place| place.file),
        line: place.map_or(0, |place| place.line),
        measured: it.measured,
        normal: it.normal,
        unit: unit(it),
        number: it.number,
        cost_ns: it.cost.0,
        others: it.others.iter().map(|path| json_other(trace, *path)).collect(),
        is_noise: it.is_noise(),
        cause: it.cause.as_ref().map(|cause| json_cause(trace, cause)),
        meanwhile: it.meanwhile.as_ref().map(|cause| json_cause(trace, cause)),
    }
}

fn json_other(trace: &dyn Trace, path: CallPathId) -> JsonOther<'_> {
    let Place { level, region, function, file, line, .. } = Place::of_call(trace, Some(path));
    JsonOther { level, region, function, file, line }
}

fn json_cause<'t>(trace: &'t dyn Trace, cause: &ProbableCause) -> JsonCause<'t> {
    let place = Place::of(trace, cause.activity);
    JsonCause {
        location: words::location(trace, cause.location),
        rank: rank(trace, cause.location),
        place,
        is_waiting: cause.is_waiting,
        amount: cause.amount,
        without_processor_ns: cause.without_processor.map(|time| rounded(time).0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_told_of_what_no_rule_looks_for() {
        assert!(none(&SituationRules::default()).contains("pace is steady"));
        let rules = SituationRules::parse("message-queue everyone over 3 messages").unwrap();
        assert_eq!(none(&rules), "none: nothing that the rules look for");
    }
}
