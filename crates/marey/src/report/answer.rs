//! The first lines of the report: what ran, where is the time, and on which rank.
//!
//! The one idea: a reader who stops here has the answer. So these are sentences, at most one a question,
//! and a question that the run cannot answer has none.
//!
//! Which numbers they are made of is told in `marey_analyze::Headline`.

use std::collections::BTreeMap;
use std::io;

use marey_analyze::{
    CallPathRow, EarlyEnding, Finding, FindingKind, Headline, RegionRow, Trace, caller_on, early_endings,
    findings, innermost, is_of_recorder, library_call, name_of, routine,
};
use marey_model::{Level, Nanos, RECORDER_FILE, RegionId, Role};

use super::{Facts, Page, waiting};
use crate::budget;
use crate::clocks;
use crate::endings;
use crate::format::{self, solid};
use crate::info;
use crate::paint::{Look, harmless, shorten, wrap};
use crate::problems;
use crate::words;

/// Prints what ran, and the answer.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let (facts, paint) = (page.facts, page.paint);
    let run = &facts.run.archive.meta().run;
    let name = paint.paint(Look::Title, &facts.run.name);
    writeln!(page.out, "{}", format!("{name}  {}", harmless(&run.title)).trim_end())?;
    let command = shorten(&harmless(&run.command.join(" ")), paint.prose_width() - 2);
    writeln!(page.out, "  {}", paint.paint(Look::Faint, &command))?;
    for line in wrap(&what_ran(facts), paint.prose_width() - 2) {
        writeln!(page.out, "  {}", paint.paint(Look::Faint, &line))?;
    }
    if facts.part.is_asked() {
        for line in wrap(&format!("of it: {}", facts.part.words), paint.prose_width() - 2) {
            writeln!(page.out, "  {}", paint.paint(Look::Strong, &line))?;
        }
    }
    writeln!(page.out)?;
    for line in answer(facts) {
        for (place, text) in wrap(&line, paint.prose_width() - 4).iter().enumerate() {
            let (mark, look) = if place == 0 { ("▸ ", Look::Strong) } else { ("  ", Look::Strong) };
            writeln!(page.out, "  {}{}", paint.paint(Look::Bar, mark), paint.paint(look, text))?;
        }
    }
    Ok(())
}

/// `4 processes with 8 threads on 2 hosts · Open MPI 4.1.4 · 1.42 s · 2026-11-21 07:15:24 UTC`
fn what_ran(facts: &Facts<'_>) -> String {
    let run = &facts.run.archive.meta().run;
    let ranks = marey_analyze::ranks(&facts.run.trace);
    let processes = ranks.len() as u64;
    let threads: usize = ranks.iter().map(|row| row.threads).sum();
    let mut what = match (processes, processes == ranks.iter().filter(|r| r.rank.is_some()).count() as u64) {
        (1, true) => "1 rank".to_owned(),
        (n, true) => format!("{} ranks", format::count(n)),
        (1, false) => "1 process".to_owned(),
        (n, false) => format!("{} processes", format::count(n)),
    };
    if threads as u64 != processes {
        what.push_str(&format!(" with {}", format::counted(threads as u64, "thread")));
    }
    match run.hosts.as_slice() {
        [] => {}
        // Traces of other tools may not say.
        [host] if host.is_empty() => {}
        [host] => what.push_str(&format!(" on {}", harmless(host))),
        hosts => what.push_str(&format!(" on {} hosts", hosts.len())),
    }
    let library = harmless(run.mpi_library.split(',').next().unwrap_or_default());
    let facts =
        [what, library, format::duration(Nanos(run.duration_ns)), format::date(run.start_realtime_ns)];
    // A line may break between facts, not within one.
    facts.into_iter().filter(|fact| !fact.is_empty()).map(solid).collect::<Vec<_>>().join("\u{a0}· ")
}

fn answer(facts: &Facts<'_>) -> Vec<String> {
    let headline = &facts.headline;
    let mut lines: Vec<String> = ended_early(facts).into_iter().chain(incomplete(facts)).collect();
    // What has no time is nothing to a part.
    if !facts.part.is_asked() {
        let meta = facts.run.archive.meta();
        let sums = || info::only_sums(meta).map(|sums| format!("Counts and times are exact, but {sums}."));
        let timeless = info::without_times(meta);
        lines.extend(timeless.map(|words| format!("It was imported from {words}.")).or_else(sums));
        lines.extend(together(facts));
        let halves = info::half_messages(facts.run.archive.meta());
        lines.extend(halves.map(|halves| format!("Messages: {halves}.")));
    }
    if facts.causes.is_ok() {
        lines.extend(facts.part.cut(facts.run).map(|words| format!("{}.", capital(&words))));
    }
    lines.extend(governed(facts).map(|words| format!("{words}.")));
    // Regions that cannot be read are told of where they are shown.
    let idle = info::idle_rules(&facts.run.archive).unwrap_or_default();
    lines.extend(
        info::by_rules(facts.run.archive.meta(), &idle).map(|rules| format!("{}.", harmless(&rules))),
    );
    let applied = clocks::in_words(facts.run.archive.corrections());
    lines.extend(applied.map(|words| format!("Times were corrected after the merge: {words}.")));
    if headline.mpi <= Nanos(0) {
        lines.extend(without_mpi(facts));
        return lines;
    }
    lines.push(share_of_mpi(headline));
    lines.extend(largest_site(facts));
    lines.extend(between_ranks(facts));
    lines.extend(waiting::sentence(facts));
    lines.extend(hottest(facts, "outside of MPI and other measured calls"));
    lines
}

/// What was only counted to keep within the budget, or that it was not kept.
fn governed(facts: &Facts<'_>) -> Option<String> {
    let archive = &facts.run.archive;
    let (governed, overhead) = (budget::read(archive, &facts.run.trace).ok()?, info::overhead(archive).ok()?);
    let overhead_ns = archive.meta().counts.get("overhead_ns").copied().unwrap_or(0);
    governed.in_words(overhead).or_else(|| governed.beyond(overhead, overhead_ns))
}

/// The function that computes most, of the program or of a library that it calls, and where in the program; `None` without
/// samples.
fn hottest(facts: &Facts<'_>, of_what: &str) -> Option<String> {
    let trace = facts.trace;
    let mut whole = Nanos(0);
    let mut sums: BTreeMap<(&str, &str, &str), BTreeMap<u32, Nanos>> = BTreeMap::new();
    for row in trace.samples() {
        if row.call_path.is_some_and(|path| library_call(trace, path).is_some()) {
            continue;
        }
        whole = whole + row.time;
        let frames = row.stack.map_or_else(Vec::new, |stack| trace.stack(stack));
        if let Some(place) = caller_on(&frames) {
            let frame = frames[place];
            let function = (innermost(&frames, place), name_of(&frame.function), frame.file.as_str());
            // What measuring costs stands elsewhere.
            if is_of_recorder(&frames) || function.1 == RECORDER_FILE {
                continue;
            }
            let line = sums.entry(function).or_default().entry(frame.line).or_default();
            *line = *line + row.time;
        }
    }
    let time_of = |lines: &BTreeMap<u32, Nanos>| lines.values().fold(Nanos(0), |sum, time| sum + *time);
    let ((within, function, file), lines) = sums.iter().max_by_key(|(_, lines)| time_of(lines))?;
    let line = lines.iter().max_by_key(|(_, time)| **time).map_or(0, |(line, _)| *line);
    let (place, time) = (words::place(file, line), time_of(lines));
    let function = shorten(&words::function(function), 60);
    let function = match *within {
        "" => function,
        within => format!("{}, called from {function}", shorten(&words::function(within), 60)),
    };
    Some(format!(
        "The function that computes most: {function}{}, {}, {} of the processor time {of_what}.",
        if place.is_empty() { String::new() } else { format!(" ({place})") },
        solid(format::duration(time)),
        percent(ratio(time, whole)),
    ))
}

/// What was counted with others, for want of a place, and is missing where it belongs.
fn together(facts: &Facts<'_>) -> Option<String> {
    let visits = match problems::count(facts.trace, "other_paths") {
        0 => None,
        others => {
            Some(format!("{} of regions are together in `(other paths)`", format::counted(others, "visit")))
        }
    };
    let messages = match problems::count(facts.trace, "other_messages") {
        0 => None,
        others => Some(format!("of {} it is not known to whom", format::counted(others, "message"))),
    };
    let all: Vec<String> = visits.into_iter().chain(messages).collect();
    let why = "threads had more call paths and channels than there is room for sums";
    (!all.is_empty()).then(|| format!("Not where they belong: {}; {why}.", all.join(", and ")))
}

/// Processes that are named with what became of them.
const MAX_ENDINGS: usize = 3;

/// A run that went wrong is read for that first.
fn ended_early(facts: &Facts<'_>) -> Option<String> {
    // Also of a part: when they ended is the run's matter.
    let trace: &dyn marey_analyze::Trace = &facts.run.trace;
    let mut early = early_endings(trace);
    // When one process ends itself, launchers kill the others. So those that say why they ended
    // come first, then the others in the order in which they fell silent.
    let end = |ending: &EarlyEnding<'_>| trace.processes()[ending.process.idx()].end;
    early.sort_by_key(|ending| (ending.outcome.contains("killed"), end(ending), ending.process));
    let first = early.iter().take(MAX_ENDINGS).map(|ending| endings::sentence(trace, ending));
    let first = first.collect::<Vec<_>>().join("; ");
    match early.len().saturating_sub(MAX_ENDINGS) {
        _ if early.is_empty() => None,
        0 => Some(format!("The run did not end as usual: {first}.")),
        more => {
            let more = format::counted_as(more as u64, "more process", "more processes");
            Some(format!("The run did not end as usual: {first}; and {}.", solid(more)))
        }
    }
}

/// Numbers that lack a part of the run must not be read as if they had it.
fn incomplete(facts: &Facts<'_>) -> Option<String> {
    problems::incomplete(facts.trace).map(|text| format!("{text}; see PROBLEMS."))
}

/// `MPI takes 34.2 % of the time of the ranks: 20.1 % waiting for messages, 8.0 % collectives, …`
fn share_of_mpi(headline: &Headline) -> String {
    let of_time = |time: Nanos| ratio(time, headline.mpi) * headline.mpi_share;
    let mut groups: Vec<(&str, f64)> = Vec::new();
    for &(role, time) in &headline.mpi_by_role {
        let name = role_words(role);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, share)) => *share += of_time(time),
            None => groups.push((name, of_time(time))),
        }
    }
    groups.sort_by(|a, b| b.1.total_cmp(&a.1));
    let parts: Vec<String> = groups
        .iter()
        .filter(|(_, share)| 0.005 <= *share)
        .take(3)
        .map(|(name, share)| format!("{} {name}", percent(*share)))
        .collect();
    // One number twice in a line makes the reader look for the difference.
    let (largest, is_all) = (groups.first(), groups.len() < 2);
    let is_nearly_all = largest.is_some_and(|(_, share)| 0.98 * headline.mpi_share <= *share);
    let parts = if let Some((name, _)) = largest.filter(|_| is_nearly_all) {
        format!(", {} of it {name}", if is_all { "all" } else { "nearly all" })
    } else if parts.is_empty() {
        String::new()
    } else {
        format!(": {}", parts.join(", "))
    };
    format!("MPI takes {} of the time of the ranks{parts}.", percent(headline.mpi_share))
}

/// What an MPI call of a role is doing, to somebody who reads a report.
fn role_words(role: Role) -> &'static str {
    match role {
        Role::Wait => "waiting for communication to complete",
        Role::Transfer => "sending and receiving",
        Role::Barrier => "barriers",
        Role::AllToAll | Role::OneToAll | Role::AllToOne => "collectives",
        Role::Manage | Role::Create | Role::Start | Role::End => "start, end and management",
        Role::Io => "files",
        Role::Acquire | Role::Release => "locks",
        Role::Work => "other calls",
    }
}

/// A function, file and line of the program, and the routine of a library that was called there.
type Site<'f> = (&'f str, &'f str, u32, &'f str);

fn caller_of<'f>(trace: &'f dyn Trace, row: &'f CallPathRow<'_>) -> Site<'f> {
    (&row.function, &row.file, row.line, routine(trace, row.call_path).unwrap_or_default())
}

/// The call that costs most. Starting and ending MPI is left out: it takes most of every short
/// run, and nobody can do much about it; the first line has its share.
fn largest_site(facts: &Facts<'_>) -> Option<String> {
    let is_communication = |row: &&CallPathRow<'_>| {
        let region = facts.trace.regions().get(row.region.idx());
        region.is_some_and(|region| region.level == Level::MPI && !is_management(region.role))
    };
    let mut sites: BTreeMap<(Site<'_>, &str), (Nanos, u64)> = BTreeMap::new();
    for row in facts.call_paths.iter().filter(is_communication) {
        let verb = row.path.last().copied().unwrap_or_default();
        let sum = sites.entry((caller_of(facts.trace, row), verb)).or_default();
        *sum = (sum.0 + row.exclusive, sum.1.saturating_add(row.visits));
    }
    let largest = sites.into_iter().max_by_key(|(_, (time, _))| *time)?;
    let (((function, file, line, routine), verb), (time, calls)) = largest;
    let share = ratio(time, facts.headline.mpi);
    if share < 0.005 {
        return Some("No single call of communication costs a noticeable share.".to_owned());
    }
    let place = words::place(file, line);
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    let function = match function {
        "" => String::new(),
        name if routine.is_empty() => format!(" in {}", shorten(&words::function(name), 60)),
        name => {
            let (routine, name) = (words::function(routine), words::function(name));
            format!(" in {}, called from {}", shorten(&routine, 60), shorten(&name, 60))
        }
    };
    Some(format!(
        "The call that costs most: {}{function}{place}, {} in {}, {} of the time in MPI.",
        harmless(verb),
        solid(format::duration(time)),
        solid(format::counted(calls, "call")),
        percent(share),
    ))
}

/// Whether a role is about setting things up, not about the program's work.
pub(super) fn is_management(role: Role) -> bool {
    matches!(role, Role::Manage | Role::Create | Role::Start | Role::End)
}

/// How the ranks differ.
fn between_ranks(facts: &Facts<'_>) -> Option<String> {
    let (most, least) = (facts.headline.most_mpi?, facts.headline.least_mpi?);
    if most.process == least.process {
        return None;
    }
    let name = |process| words::process(facts.trace, process);
    let balance = balance(facts).unwrap_or_default();
    if most.share - least.share < 0.02 {
        // What some do in MPI while others wait there is no balance either.
        if one_after_another(facts) {
            let text = "All ranks spend about the same share in MPI, but wait for each other there; the findings say for what.";
            return Some(text.to_owned());
        }
        return Some(format!("All ranks spend about the same share in MPI.{balance}"));
    }
    Some(format!(
        "{} spends the largest share in MPI, {}; {} the least, {}.{balance}",
        capital(&name(most.process)),
        percent(most.share),
        name(least.process),
        percent(least.share),
    ))
}

/// Whether the run could be this part shorter if ranks did equally much of what others wait for.
const LATE: f64 = 0.05;

/// Whether a finding says that some make others wait, and that it matters.
fn one_after_another(facts: &Facts<'_>) -> bool {
    let Ok(causes) = &facts.causes else { return false };
    let run = causes.span.to - causes.span.from;
    let is_late = |it: &Finding| it.kind == FindingKind::Delay && ratio(it.gain, run) >= LATE;
    findings(facts.explained, causes).iter().any(is_late)
}

/// How evenly the ranks compute, in time that could be won: a rank that computes twice as long as
/// the others does not matter where nobody computes for long.
fn balance(facts: &Facts<'_>) -> Option<String> {
    let imbalance = facts.headline.imbalance?;
    let ranks = facts.ranks.iter().filter(|row| row.rank.is_some() && row.is_known);
    let (mut computing, mut whole, mut count) = (Nanos(0), Nanos(0), 0_u32);
    for row in ranks {
        computing = computing + (row.mpi_base - row.mpi);
        whole = whole + row.mpi_base;
        count += 1;
    }
    let excess = imbalance * ratio(computing, whole);
    if excess < 0.01 {
        return Some(" Differences in their computing hardly matter.".to_owned());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "three digits are shown"
    )]
    let excess = Nanos((computing.0 as f64 / f64::from(count) * imbalance) as i64);
    Some(format!(
        " Work is uneven: the slowest rank computes {} longer than the mean, {}.",
        solid(format::duration(excess)),
        solid(format!("{:.2} ×", imbalance + 1.0)),
    ))
}

/// A program without MPI: the regions speak for it.
fn without_mpi(facts: &Facts<'_>) -> Vec<String> {
    // What threads wait that do nothing else says nothing of the program.
    let busy = busy(facts);
    let mut sums: BTreeMap<RegionId, Busy> = BTreeMap::new();
    for (path, visits) in &busy {
        sums.entry(path.region).or_default().add(*visits);
    }
    let hottest = hottest(facts, "outside of measured calls");
    let waits = waiting::sentence(facts);
    let whole = facts.waiting.base;
    // Where the functions are known, a call that costs nothing is not worth a sentence.
    let least = if hottest.is_some() { Nanos(whole.0 / 100) } else { Nanos(0) };
    let mut lines: Vec<String> = hottest.into_iter().collect();
    // Of waiting its own sentence has said it.
    let is_told = |row: &RegionRow<'_>| waits.is_some() && row.level == Level::SYSTEM;
    let of = |row: &RegionRow<'_>| sums.get(&row.region).copied().unwrap_or_default();
    let regions = facts.regions.iter().filter(|row| of(row).time > least);
    let largest = regions.max_by_key(|row| of(row).time).filter(|row| !is_told(row));
    if lines.is_empty() && waits.is_none() && largest.is_none() {
        lines.push(
            "No call was measured: no MPI, no threads that wait, no regions of the program.".to_owned(),
        );
    }
    lines.extend(waits);
    let Some(row) = largest else { return lines };
    lines.push(format!(
        "Most measured time is in {} (level {}): {}{}, {} of the time of {}.",
        words::region(facts.trace, row.region),
        harmless(row.level),
        solid(format::duration(of(row).time)),
        match of(row).visits {
            // Nobody counted them: time that was measured is time of calls.
            0 => String::new(),
            calls => format!(" in {}", solid(format::counted(calls, "call"))),
        },
        solid(format::percent(of(row).time.0, whole.0)),
        if facts.waiting.idle.is_empty() { "all threads" } else { "threads that do more than wait" },
    ));
    let mut sites: BTreeMap<Site<'_>, Nanos> = BTreeMap::new();
    for (path, visits) in busy.iter().filter(|(path, _)| path.region == row.region) {
        let time = sites.entry(caller_of(facts.trace, path)).or_default();
        *time = *time + visits.time;
    }
    if let Some(((name, file, line, routine), time)) = sites.into_iter().max_by_key(|(_, time)| *time)
        && !name.is_empty()
    {
        let function = shorten(&words::function(name), 60);
        let function = match routine {
            "" => function,
            routine => format!("{}, called from {function}", shorten(&words::function(routine), 60)),
        };
        let place = words::place(file, line);
        let time = solid(format::duration(time));
        lines.push(format!("Most of that comes from {function} ({place}): {time}."));
    }
    lines
}

/// Visits of threads that do more than wait, and the time in them.
#[derive(Clone, Copy, Default)]
struct Busy {
    visits: u64,
    time: Nanos,
}

impl Busy {
    fn add(&mut self, more: Self) {
        self.visits = self.visits.saturating_add(more.visits);
        self.time = self.time + more.time;
    }
}

/// What remains of each call path without the threads that hardly do anything but wait.
fn busy<'f>(facts: &'f Facts<'_>) -> Vec<(&'f CallPathRow<'f>, Busy)> {
    let mut idle = vec![Busy::default(); facts.trace.call_paths().len()];
    for row in facts.trace.profile().iter().filter(|row| facts.waiting.idle.contains(&row.location)) {
        if let Some(sum) = idle.get_mut(row.call_path.idx()) {
            sum.add(Busy { visits: row.visits, time: row.exclusive });
        }
    }
    let busy = |row: &'f CallPathRow<'_>| {
        let idle = idle[row.call_path.idx()];
        let (visits, time) = (row.visits.saturating_sub(idle.visits), row.exclusive - idle.time);
        (row, Busy { visits, time })
    };
    facts.call_paths.iter().map(busy).collect()
}

fn ratio(part: Nanos, whole: Nanos) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "shares are shown with one decimal")]
    let (part, whole) = (part.0 as f64, whole.0 as f64);
    if whole <= 0.0 { 0.0 } else { part / whole }
}

fn percent(share: f64) -> String {
    solid(format!("{:.1} %", share * 100.0))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
