//! Findings and efficiencies in words, for the report.
//!
//! The one idea: a finding is a sentence that names who, what, where and how long, what followed, and what there is to
//! win; all of it was measured. Where nothing is worth tuning, that is said.

use std::io;

use std::path::Path;

use marey_analyze::{
    Activity, Causes, Confidence, Dominant, Effects, Efficiency, Finding, FindingKind, Function, Piecemeal,
    Trace, dominant, efficiency, findings,
};
use marey_model::LocationId;
use serde::Serialize;

use super::part::Options;
use super::{Page, Place, command, name, ranks, rounded, time_of_all, who};
use crate::arrays::remedy;
use crate::format::{self, solid};
use crate::paint::{Look, harmless, shorten, title, wrap};
use crate::table::{Side, Table};
use crate::words;

/// Prints what is worth changing.
pub(crate) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let (trace, causes) = (page.trace, page.causes);
    title(
        page.out,
        page.paint,
        "FINDINGS",
        "what others waited for, and what there is to win; `marey waits` and `marey path` show more",
    )?;
    let found = found(trace, causes, &page.options);
    if found.is_empty() {
        for line in wrap(&nothing(trace, causes), page.paint.prose_width() - 2) {
            writeln!(page.out, "  {}", page.paint.paint(Look::Faint, &line))?;
        }
    }
    let mut told: Vec<Piecemeal> = Vec::new();
    for (number, finding) in (1..).zip(&found) {
        let way = finding.pieces.as_ref().map(|pieces| pieces.kind);
        let is_told = way.is_some_and(|way| told.contains(&way));
        told.extend(way);
        let text = sentence(trace, finding, causes, is_told);
        for (place, line) in wrap(&text, page.paint.prose_width() - 5).iter().enumerate() {
            let mark = if place == 0 { format!("{number:>2} ") } else { "   ".to_owned() };
            writeln!(page.out, "  {}{line}", page.paint.paint(Look::Bar, &mark))?;
        }
        let command = command::of(trace, finding, causes, page.path, &page.options);
        let lines = wrap(&command, page.paint.prose_width() - 9).join(" \\\n       ");
        writeln!(page.out, "     {}", page.paint.paint(Look::Faint, &lines))?;
    }
    let told = dominant(trace, causes, &found).filter(|_| !page.options.choose_calls());
    if let Some(it) = told {
        let text = most(trace, &it, causes);
        for (place, line) in wrap(&text, page.paint.prose_width() - 5).iter().enumerate() {
            let mark = page.paint.paint(Look::Bar, if place == 0 { " · " } else { "   " });
            writeln!(page.out, "  {mark}{line}")?;
        }
    }
    Ok(())
}

/// Why nothing was found.
fn nothing(trace: &dyn Trace, causes: &Causes) -> String {
    if trace.locations().len() < 2 {
        return "only one thread was recorded: nobody could wait for anybody".to_owned();
    }
    let (waiting, whole) = (causes.waits.time(), time_of_all(causes));
    if waiting.0.saturating_mul(100) < whole.0 {
        return "nothing worth tuning found: hardly anybody waited for anybody".to_owned();
    }
    format!(
        "nothing worth tuning found: {} of the time somebody waited, but no one place would give back 1 % of the run, \
         surely; `marey waits` shows them",
        solid(format::percent(waiting.0, whole.0)),
    )
}

/// What is worth changing; of some calls only what their waits follow from, for what else takes time is not theirs.
fn found(trace: &dyn Trace, causes: &Causes, part: &Options) -> Vec<Finding> {
    let mut found = findings(trace, causes);
    if part.choose_calls() {
        found.retain(|it| it.kind == FindingKind::Delay);
    }
    found
}

/// `94.0 % of the critical path is computation in … , which all do alike: …`
fn most(trace: &dyn Trace, it: &Dominant, causes: &Causes) -> String {
    let of_run = solid(format::percent(it.on_path.0, (causes.span.to - causes.span.from).0));
    let alike = if it.is_alike { ", which all do alike" } else { "" };
    let what = computation(trace, it.activity, it.function.as_ref());
    format!(
        "{of_run} of the critical path is {what}{alike}: only if that takes less time is there much more to win."
    )
}

/// `Rank 0 takes 301 ms for …, 150 ms longer than …; for that rank 1 waits …. Up to 150 ms (12.3 % of the run) …`
/// If it `is_told` already what to do about accesses made so, it is not told again.
fn sentence(trace: &dyn Trace, finding: &Finding, causes: &Causes, is_told: bool) -> String {
    if finding.kind != FindingKind::Delay {
        return moved(trace, finding, causes, is_told);
    }
    let who = capital(&and_others(who(trace, &finding.locations), finding.others));
    let is_one = finding.locations.len() == 1;
    let each = if is_one { "" } else { " each" };
    let time = |ns: f64| solid(format::duration(rounded(ns)));
    let excess = finding.time - finding.mean;
    let subject = match finding.activity {
        _ if finding.is_in_turn() => format!(
            "{who} are late in turn, now one and now another: each takes {} for {}",
            time(finding.time),
            what(trace, finding),
        ),
        Activity::NotStarted => format!(
            "{who} {} there{each} for {} less than the mean, for {} later or {} earlier",
            if is_one { "is" } else { "are" },
            time(excess),
            if is_one { "it starts" } else { "they start" },
            if is_one { "ends" } else { "end" },
        ),
        // They are those who are late, and yet do not have most of it: others are late less.
        _ if excess <= 0.0 => format!(
            "{who} {} {}{each} for {}",
            if is_one { "takes" } else { "take" },
            time(finding.time),
            what(trace, finding),
        ),
        _ => format!(
            "{who} {} {}{each} for {}, {} more than the mean",
            if is_one { "takes" } else { "take" },
            time(finding.time),
            what(trace, finding),
            time(excess),
        ),
    };
    let effect = finding.effects.first().map(|effect| format!("; for that {}", effect_words(trace, effect)));
    let share = solid(format!("{:.1} %", 100.0 * finding.share));
    let of_run = solid(format::percent(finding.gain.0, (causes.span.to - causes.span.from).0));
    let noise = finding.without_processor.filter(|time| time.0 > 0).map(|time| {
        let (label, they) = match (finding.is_noise(), is_one) {
            (true, true) => ("Machine noise: ", "it"),
            (true, false) => ("Machine noise: ", "they"),
            (false, true) => ("", "It"),
            (false, false) => ("", "They"),
        };
        let time = solid(format::duration(time));
        format!(" {label}{they} had no processor for {time} of it, for the machine had other work.")
    });
    format!(
        "{subject}{}. {share} of all waiting follows from it; evened out, the run could be up to {} ({of_run}) \
         shorter.{}{}{}",
        effect.unwrap_or_default(),
        solid(format::duration(finding.gain)),
        noise.unwrap_or_default(),
        clocks(finding),
        pieces(finding, is_told),
    )
}

/// How it could be made otherwise, if it is made piece by piece.
fn pieces(finding: &Finding, is_told: bool) -> String {
    let Some(pieces) = &finding.pieces else { return String::new() };
    let what = match pieces.kind {
        Piecemeal::Elements => {
            let each = solid(format::bytes(pieces.bytes / pieces.accesses.max(1)));
            format!("moves single elements, {each} at a time")
        }
        Piecemeal::Sections => format!(
            "became {} beneath, of {}",
            solid(format::counted(pieces.transfers, "transfer")),
            solid(format::counted_as(pieces.accesses, "access", "accesses")),
        ),
    };
    if is_told {
        return format!(" It {what}, as above.");
    }
    format!(" It {what}. {}", remedy(pieces.kind, &harmless(&pieces.array), pieces.dimensions))
}

/// What clocks have to say of it.
fn clocks(finding: &Finding) -> String {
    if finding.confidence() != Confidence::Clocks {
        return String::new();
    }
    match finding.clock_bar {
        Some(bar) => format!(
            " Perhaps: clocks of those who wait and those who are late may be {} apart (clock bar), and these waits are \
             {} long (effect).",
            solid(format::duration(bar)),
            solid(format::duration(finding.effect)),
        ),
        None => {
            " Perhaps: how far apart the clocks of those who wait and those who are late are, is not known."
                .to_owned()
        }
    }
}

/// `Rank 0 takes 100 ms for MPI_Send in …: 12 calls, 3.00 MB. …`
fn moved(trace: &dyn Trace, finding: &Finding, causes: &Causes, is_told: bool) -> String {
    let is_one = finding.locations.len() == 1;
    let (takes, each) = if is_one { ("takes", "") } else { ("take", " each") };
    let data =
        if finding.bytes > 0 { format!(", {}", solid(format::bytes(finding.bytes))) } else { String::new() };
    let most = match (finding.kind, finding.data.as_str()) {
        (FindingKind::Files, name) if !name.is_empty() => {
            format!(", most of it {}", shorten(&harmless(name), 60))
        }
        _ => String::new(),
    };
    let without = match finding.kind {
        FindingKind::Files => "without it",
        _ => "with a network that costs nothing",
    };
    format!(
        "{} {takes} {}{each} for {}: {}{data}{most}. It is on the critical path; {without} \
         the run could be up to {} ({}) shorter.{}",
        capital(&and_others(who(trace, &finding.locations), finding.others)),
        solid(format::duration(rounded(finding.time))),
        what(trace, finding),
        solid(format::counted(finding.calls, "call")),
        solid(format::duration(finding.gain)),
        solid(format::percent(finding.gain.0, (causes.span.to - causes.span.from).0)),
        pieces(finding, is_told),
    )
}

/// What was done, and where in the program.
fn what(trace: &dyn Trace, finding: &Finding) -> String {
    let mut text = computation(trace, finding.activity, finding.function.as_ref());
    // The line that is named is that with most of it.
    if finding.function.is_none() && finding.lines > 1 && text.ends_with(')') {
        text.pop();
        text += &match finding.lines {
            2 => " and another line)".to_owned(),
            lines => format!(" and {} other lines)", lines - 1),
        };
    }
    text
}

/// `rank 1 (and 3 others, less)`
fn and_others(who: String, others: usize) -> String {
    match others {
        0 => who,
        1 => format!("{who} (and another, less)"),
        number => format!("{who} (and {number} others, less)"),
    }
}

fn computation(trace: &dyn Trace, activity: Activity, function: Option<&Function>) -> String {
    let place = Place::of(trace, activity);
    match (function, activity) {
        (Some(function), _) => {
            let at = words::place(&function.file, function.line);
            let at = if at.is_empty() { String::new() } else { format!(" ({at})") };
            let name = shorten(&words::function(&function.name), 60);
            match function.within.as_str() {
                "" => format!("computation, most in {name}{at}"),
                within => {
                    let within = shorten(&words::function(within), 60);
                    format!("computation, most in {within}, called from {name}{at}")
                }
            }
        }
        (None, Activity::Path(_)) => format!("{}{}", harmless(place.region), from(&place)),
        (None, _) => "computation outside of recorded calls".to_owned(),
    }
}

/// ` in solve (solver.c:12)`, ` in dgesv, called from solve (solver.c:12)`
pub(super) fn from(place: &Place<'_>) -> String {
    let at = words::place(place.file, place.line);
    if !place.routine.is_empty() {
        let (routine, function) = (words::function(place.routine), words::function(place.function));
        return format!(" in {}, called from {} ({at})", shorten(&routine, 60), shorten(&function, 60));
    }
    match (place.function, at.is_empty()) {
        ("", true) => String::new(),
        ("", false) => format!(" ({at})"),
        (function, true) => format!(" in {}", shorten(&words::function(function), 60)),
        (function, false) => format!(" in {} ({at})", shorten(&words::function(function), 60)),
    }
}

fn effect_words(trace: &dyn Trace, effect: &Effects) -> String {
    let place = Place::of_call(trace, effect.call_path);
    let verb = if effect.locations.len() == 1 { "waits" } else { "wait" };
    format!(
        "{} {verb} {} in {}{}, {}",
        and_others(who(trace, &effect.locations), effect.others),
        solid(format::duration(rounded(effect.cost))),
        harmless(place.region),
        from(&place),
        effect.pattern.name(),
    )
}

pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Prints the efficiencies, if there is somebody to compare.
pub(crate) fn print_efficiency(page: &mut Page<'_>) -> io::Result<()> {
    let (trace, causes) = (page.trace, page.causes);
    let Some(found) = efficiency(trace, causes) else { return Ok(()) };
    let n_ranks = trace.processes().iter().filter(|process| process.rank.is_some()).count();
    let one_each = if n_ranks == found.locations { "rank" } else { "thread" };
    let remark = format!(
        "how much of the time of {} was useful; each is the product of those indented beneath it",
        format::counted(found.locations as u64, one_each),
    );
    title(page.out, page.paint, "EFFICIENCY", &remark)?;
    let mut table = Table::new(&[("", Side::Left), ("", Side::Right), ("", Side::Left)]);
    for (name, value, meaning) in rows(trace, &found) {
        table.row([name.into(), solid(format!("{:.1} %", 100.0 * value)).into(), meaning.into()]);
    }
    table.print(page.out, page.paint)
}

fn rows(trace: &dyn Trace, found: &Efficiency) -> [(&'static str, f64, String); 6] {
    let duration = |ns: f64| format::duration(rounded(ns));
    let (mean, largest, run) =
        (duration(found.mean), format::duration(found.largest), format::duration(found.run_time));
    let busiest = name(trace, found.busiest);
    [
        ("parallel efficiency", found.parallel, format!("{mean} useful on average, of {run}")),
        ("  load balance", found.load_balance, format!("{largest} on {busiest}, {mean} on average")),
        ("  communication efficiency", found.communication, format!("{largest} on {busiest}, of {run}")),
        ("    serialisation", found.serialisation, "lost where one waits for another".to_owned()),
        (
            "    setting up",
            found.setting_up,
            format!("{} if setting up cost nothing either", format::duration(found.bare)),
        ),
        (
            "    transfer",
            found.transfer,
            format!("{} with a network that costs nothing", format::duration(found.ideal)),
        ),
    ]
}

/// A finding for other programs; what the fields mean is told by the help.
#[derive(Serialize)]
pub(crate) struct JsonFinding {
    kind: &'static str,
    text: String,
    gain_ns: i64,
    cost_ns: i64,
    share: f64,
    ranks: Vec<u32>,
    locations: Vec<String>,
    others: usize,
    activity: &'static str,
    level: String,
    region: String,
    function: String,
    file: String,
    line: u32,
    routine: String,
    within: String,
    lines: usize,
    from_ns: i64,
    to_ns: i64,
    confidence: &'static str,
    effect_ns: i64,
    clock_bar_ns: Option<i64>,
    calls: u64,
    bytes: u64,
    data: String,
    pieces: Option<JsonPieces>,
    command: String,
    without_processor_ns: Option<i64>,
    effects: Vec<JsonEffect>,
}

/// Waits that a finding caused.
#[derive(Serialize)]
struct JsonEffect {
    pattern: &'static str,
    region: String,
    function: String,
    file: String,
    line: u32,
    routine: String,
    locations: Vec<String>,
    others: usize,
    wait_ns: i64,
}

/// How accesses are made that are made piece by piece.
#[derive(Serialize)]
struct JsonPieces {
    why: &'static str,
    array: String,
    accesses: u64,
    bytes: u64,
    transfers: u64,
}

/// Function, file and line of a place; of computation those that samples name.
fn named<'f>(place: Place<'f>, computed_in: Option<&'f Function>) -> (&'f str, &'f str, u32) {
    match computed_in {
        Some(function) => (&function.name, &function.file, function.line),
        None => (place.function, place.file, place.line),
    }
}

/// All findings for other programs.
pub(crate) fn json(trace: &dyn Trace, causes: &Causes, run: &Path, part: &Options) -> Vec<JsonFinding> {
    let names = |ids: &[LocationId]| ids.iter().map(|id| words::location(trace, *id)).collect();
    let effect = |effect: &Effects| {
        let place = Place::of_call(trace, effect.call_path);
        JsonEffect {
            pattern: effect.pattern.name(),
            region: place.region.to_owned(),
            function: place.function.to_owned(),
            file: place.file.to_owned(),
            line: place.line,
            routine: place.routine.to_owned(),
            locations: names(&effect.locations),
            others: effect.others,
            wait_ns: rounded(effect.cost).0,
        }
    };
    let finding = |finding: &Finding| {
        let place = Place::of(trace, finding.activity);
        let (function, file, line) = named(place, finding.function.as_ref());
        JsonFinding {
            kind: match finding.kind {
                FindingKind::Delay => "delay",
                FindingKind::Transfer => "transfer",
                FindingKind::Files => "files",
            },
            text: format::plain(&sentence(trace, finding, causes, false)),
            gain_ns: finding.gain.0,
            cost_ns: rounded(finding.cost).0,
            share: finding.share,
            ranks: ranks(trace, &finding.locations),
            locations: names(&finding.locations),
            others: finding.others,
            activity: place.activity,
            level: place.level.to_owned(),
            region: place.region.to_owned(),
            function: function.to_owned(),
            file: file.to_owned(),
            line,
            routine: place.routine.to_owned(),
            within: finding.function.as_ref().map_or_else(String::new, |it| it.within.clone()),
            lines: finding.lines,
            from_ns: finding.from.0,
            to_ns: finding.to.0,
            confidence: match finding.confidence() {
                Confidence::Measured => "measured",
                Confidence::Noise => "machine noise",
                Confidence::Clocks => "clocks",
            },
            effect_ns: finding.effect.0,
            clock_bar_ns: finding.clock_bar.map(|bar| bar.0),
            calls: finding.calls,
            bytes: finding.bytes,
            data: finding.data.clone(),
            pieces: finding.pieces.as_ref().map(|it| JsonPieces {
                why: it.kind.name(),
                array: it.array.clone(),
                accesses: it.accesses,
                bytes: it.bytes,
                transfers: it.transfers,
            }),
            command: command::of(trace, finding, causes, run, part),
            without_processor_ns: finding.without_processor.map(|time| time.0),
            effects: finding.effects.iter().map(effect).collect(),
        }
    };
    found(trace, causes, part).iter().map(finding).collect()
}

/// Computation that most of the critical path is made of, for other programs.
#[derive(Serialize)]
pub(crate) struct JsonDominant {
    text: String,
    activity: &'static str,
    level: String,
    region: String,
    function: String,
    file: String,
    line: u32,
    path_ns: i64,
    mean_ns: i64,
    is_alike: bool,
}

/// What most of the critical path is, if no finding is about it.
pub(crate) fn json_dominant(trace: &dyn Trace, causes: &Causes) -> Option<JsonDominant> {
    let it = dominant(trace, causes, &findings(trace, causes))?;
    let place = Place::of(trace, it.activity);
    let (function, file, line) = named(place, it.function.as_ref());
    Some(JsonDominant {
        text: format::plain(&most(trace, &it, causes)),
        activity: place.activity,
        level: place.level.to_owned(),
        region: place.region.to_owned(),
        function: function.to_owned(),
        file: file.to_owned(),
        line,
        path_ns: it.on_path.0,
        mean_ns: rounded(it.mean).0,
        is_alike: it.is_alike,
    })
}

/// Efficiencies for other programs.
#[derive(Serialize)]
pub(crate) struct JsonEfficiency {
    parallel: f64,
    load_balance: f64,
    communication: f64,
    serialisation: f64,
    setting_up: f64,
    transfer: f64,
    busiest: String,
    largest_useful_ns: i64,
    mean_useful_ns: i64,
    run_ns: i64,
    ideal_run_ns: i64,
    bare_run_ns: i64,
    locations: usize,
}

/// The efficiencies; `None` if there is nobody to compare.
pub(crate) fn json_efficiency(trace: &dyn Trace, causes: &Causes) -> Option<JsonEfficiency> {
    let found = efficiency(trace, causes)?;
    Some(JsonEfficiency {
        parallel: found.parallel,
        load_balance: found.load_balance,
        communication: found.communication,
        serialisation: found.serialisation,
        setting_up: found.setting_up,
        transfer: found.transfer,
        busiest: words::location(trace, found.busiest),
        largest_useful_ns: found.largest.0,
        mean_useful_ns: rounded(found.mean).0,
        run_ns: found.run_time.0,
        ideal_run_ns: found.ideal.0,
        bare_run_ns: found.bare.0,
        locations: found.locations,
    })
}
