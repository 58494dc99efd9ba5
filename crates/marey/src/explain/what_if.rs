//! `marey what-if`: the run that there would be with something faster.
//!
//! The one idea: a sentence says what is changed and what it gives; tables beside it say where the time is then. What rests
//! on samples is told, and whether the replay gives the run back if nothing is changed.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use marey_analyze::what_if::{Change, Limits, Matched, Network, Scaling, WhatIf};
use marey_analyze::{Causes, Trace, what_if, what_if_each};
use marey_archive::Events;
use marey_model::Nanos;

use super::{Page, explained, rounded, who};
use crate::busy::Busy;
use crate::cli::{Scaled, WhatIfArgs};
use crate::exit::Usage;
use crate::format::{self, solid};
use crate::paint::{Look, harmless, note, wrap};
use crate::run::{Run, damaged};

mod each;
mod json;
pub(crate) mod place;
mod tables;

/// A longer time, in nanoseconds, is no whole number of 64 bits.
const LONGEST: f64 = 9.22e18;

/// What the user changes, with what is meant by it in the run.
pub(crate) struct Changed {
    /// `faster`, `rank`, `balance`, `network`.
    kind: &'static str,
    /// The place or the rank as it was typed.
    name: String,
    factor: Option<f64>,
    /// In words, to stand behind `with`.
    words: String,
    matched: Option<Matched>,
}

/// Runs the command.
pub(crate) fn run(args: &WhatIfArgs) -> anyhow::Result<ExitCode> {
    let path = &args.common.run;
    let run = Run::open(path)?;
    let causes = explained(&run, path)?;
    let events = Events::open(&run.archive, &run.trace).map_err(|error| damaged(path, &error))?;
    let unread = |unread: marey_analyze::Unread| {
        anyhow::anyhow!("{} cannot be replayed, for parts of it cannot be read: {unread}", path.display())
    };
    let busy = Busy::with("replaying");
    let mut out = io::BufWriter::new(io::stdout().lock());
    if is_unchanged(args) {
        let most = usize::try_from(args.common.top).unwrap_or(usize::MAX).min(each::MOST);
        let found = what_if_each(&run.trace, &events, &causes, most, &Limits::default()).map_err(unread)?;
        drop(busy);
        if args.common.json {
            json::print_each(&mut out, &run.trace, &found)?;
        } else {
            each::print(&mut Page::new(&mut out, &args.common, &run, &causes), &found)?;
        }
    } else {
        let (change, changed) = meant(args, &run, &causes)?;
        let found = what_if(&run.trace, &events, &causes, &change, &Limits::default()).map_err(unread)?;
        drop(busy);
        if found.changed.run_time >= LONGEST {
            bail!(Usage(
                "with that the run would take more than 292 years, and no such time can be told".to_owned()
            ));
        }
        if args.common.json {
            json::print(&mut out, &run.trace, &changed, &found)?;
        } else {
            print(&mut Page::new(&mut out, &args.common, &run, &causes), &changed, &found)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn is_unchanged(args: &WhatIfArgs) -> bool {
    let has_network = args.zero_latency || args.latency.is_some() || args.bandwidth.is_some();
    args.faster.is_empty() && args.rank.is_empty() && !args.balance && !has_network
}

/// What the user changes.
fn meant(args: &WhatIfArgs, run: &Run, causes: &Causes) -> anyhow::Result<(Change, Vec<Changed>)> {
    let trace = &run.trace;
    let (mut change, mut changed) = (Change::default(), Vec::new());
    let mut scale = |kind, name: String, factor: f64, words: String, scaling: Scaling| {
        let matched = Some(scaling.matched(trace, causes));
        changed.push(Changed { kind, name, factor: Some(factor), words, matched });
        change.scalings.push(scaling);
    };
    for Scaled { place, factor } in &args.faster {
        let scaling = place::scaling(trace, place, *factor).map_err(Usage)?;
        scale("faster", place.clone(), *factor, format!("`{}` {}", harmless(place), speed(*factor)), scaling);
    }
    for (rank, factor) in &args.rank {
        let ranks: BTreeSet<u32> =
            trace.processes().iter().filter_map(marey_analyze::Process::first_rank).collect();
        if !ranks.contains(rank) {
            let known = match (ranks.first(), ranks.last()) {
                (Some(first), Some(last)) => format!("the ranks of this run are {first} to {last}"),
                _ => "no process of this run has a rank".to_owned(),
            };
            bail!(Usage(format!("there is no rank {rank}: {known}")));
        }
        let words = format!("the computation of rank {rank} {}", speed(*factor));
        scale("rank", rank.to_string(), *factor, words, Scaling::rank(trace, *rank, *factor));
    }
    if args.balance {
        change.is_balanced = true;
        let words = "useful time evened out between synchronisations".to_owned();
        changed.push(Changed { kind: "balance", name: String::new(), factor: None, words, matched: None });
    }
    if args.zero_latency || args.latency.is_some() || args.bandwidth.is_some() {
        let latency = args.latency.unwrap_or_default();
        if latency.0 < 0 {
            bail!(Usage("the latency is below 0".to_owned()));
        }
        change.network =
            Some(Network { latency, ns_per_byte: args.bandwidth.as_ref().map_or(0.0, |of| 1e9 / of.bytes) });
        let words = network_words(args);
        changed.push(Changed { kind: "network", name: String::new(), factor: None, words, matched: None });
    }
    Ok((change, changed))
}

fn network_words(args: &WhatIfArgs) -> String {
    let latency = args.latency.map(|latency| format!("a latency of {}", solid(format::duration(latency))));
    let bandwidth = args.bandwidth.as_ref().map(|bandwidth| format!("{} a second", bandwidth.typed));
    match (latency, bandwidth) {
        (None, None) => "a network that costs nothing".to_owned(),
        (Some(latency), None) => format!("a network with {latency} and no limit of bandwidth"),
        (None, Some(bandwidth)) => format!("a network of {bandwidth} and no latency"),
        (Some(latency), Some(bandwidth)) => format!("a network with {latency} and of {bandwidth}"),
    }
}

/// `twice as fast`, `taking no time`.
fn speed(factor: f64) -> String {
    match factor {
        factor if factor.is_infinite() => "taking no time".to_owned(),
        2.0 => "twice as fast".to_owned(),
        0.5 => "half as fast".to_owned(),
        factor => format!("{factor} times as fast"),
    }
}

/// `-22.5 %`
fn difference(new: f64, old: f64) -> String {
    if old <= 0.0 {
        return String::new();
    }
    let percent = 100.0 * (new - old) / old;
    // What rounds to nothing has no sign.
    let sign = if percent.abs() < 0.05 {
        ""
    } else if percent < 0.0 {
        "-"
    } else {
        "+"
    };
    solid(format!("{sign}{:.1} %", percent.abs()))
}

/// Less than this part of the run is nothing to speak of.
const NOTHING: f64 = 0.001;

fn is_nothing(new: f64, old: f64) -> bool {
    (new - old).abs() < NOTHING * old
}

/// What the change gives, and where the path is then.
fn sentence(trace: &dyn Trace, changed: &[Changed], found: &WhatIf) -> String {
    let (new, old) = (found.changed.run_time, found.as_it_was.run_time);
    let time = |ns: f64| solid(format::duration(rounded(ns)));
    let words: Vec<&str> = changed.iter().map(|change| change.words.as_str()).collect();
    let with = match words.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        all => all.join(""),
    };
    let effect = if is_nothing(new, old) {
        format!("the run would take as long as it did, {}", time(old))
    } else {
        format!("the run would take {} instead of {} ({})", time(new), time(old), difference(new, old))
    };
    let path = tables::main_parts(trace, &found.changed);
    let path = if path.is_empty() {
        String::new()
    } else if is_nothing(new, old) {
        format!(" Its critical path then goes through {path}.")
    } else {
        format!(" The critical path then goes through {path}.")
    };
    format!("With {with}, {effect}.{path}")
}

fn print(page: &mut Page<'_>, changed: &[Changed], found: &WhatIf) -> io::Result<()> {
    let trace = page.trace;
    writeln!(page.out)?;
    for line in wrap(&sentence(trace, changed, found), page.paint.prose_width()) {
        writeln!(page.out, "{}", page.paint.paint(Look::Strong, &line))?;
    }
    for line in changed.iter().filter_map(|change| how_known(trace, change)) {
        note(page.out, page.paint, &line)?;
    }
    tables::by_activity(page, found)?;
    tables::by_location(page, found)?;
    notes(page, found)
}

/// How much time is changed, and how that is known.
fn how_known(trace: &dyn Trace, change: &Changed) -> Option<String> {
    let matched = change.matched.as_ref()?;
    let name = match change.kind {
        "rank" => format!("rank {}", change.name),
        _ => format!("`{}`", harmless(&change.name)),
    };
    let time = |ns: f64| solid(format::duration(rounded(ns)));
    let all = matched.exact + matched.sampled;
    if all <= 0.0 {
        return Some(format!("{name} has no time of its own, or none that is known: nothing changes"));
    }
    let by = if matched.sampled <= 0.0 {
        String::new()
    } else {
        let samples = format::counted(matched.samples, "sample");
        let part =
            if matched.exact > 0.0 { format!("{} of it ", time(matched.sampled)) } else { String::new() };
        format!(", {part}by {samples}: when it ran within the run is not known")
    };
    let on =
        if change.kind == "rank" { String::new() } else { format!(" on {}", who(trace, &matched.locations)) };
    Some(format!("{name} took {}{on} as it was{by}", time(all)))
}

fn notes(page: &mut Page<'_>, found: &WhatIf) -> io::Result<()> {
    let error = rounded(found.as_it_was.run_time) - page.trace.duration();
    if error != Nanos(0) {
        let text = format!(
            "the replay without a change differs from the run by {}: trust it no further",
            format::duration(error)
        );
        note(page.out, page.paint, &text)?;
    }
    if found.unlisted > 0 {
        let text = format!(
            "{} are not known to the critical paths, for there are too many: the run times are not touched by that",
            format::counted(found.unlisted, "short wait")
        );
        note(page.out, page.paint, &text)?;
    }
    Ok(())
}
