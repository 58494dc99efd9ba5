//! What differs between two runs, and why, in sentences.
//!
//! The one idea: each sentence says what was measured, with numbers: how much, where, on whom, how often, and what
//! followed. The same sentences stand in the text, in the JSON, and where a check fails.

use marey_analyze::{
    Basis, Cause, Comparison, Direction, Efficiency, PlaceKind, Renamed, RenamedHow, Subject, is_named,
};
use marey_model::Nanos;

use super::{Compared, change, function, in_words, location, place_in_words, rounded};
use crate::format::{self, solid};

/// Efficiencies that changed by so much are worth a word.
const LEAST_EFFICIENCY: f64 = 0.02;
/// Means of visits that changed by so much are not told as the same.
const LEAST_MEAN: f64 = 0.01;
/// Locations that are named one by one.
const MOST_NAMED: usize = 3;
/// Names of functions that are told.
const MOST_RENAMED: usize = 10;

/// All that is to be said, the most important first.
pub(super) fn sentences(base: &Compared, other: &Compared, comparison: &Comparison<'_>) -> Vec<String> {
    sentences_with(base, other, comparison, |_| "")
}

/// The same, with a remark behind what is said of each cause.
pub(super) fn sentences_with(
    base: &Compared,
    other: &Compared,
    comparison: &Comparison<'_>,
    remark: impl Fn(&Cause) -> &'static str,
) -> Vec<String> {
    let cause = |comparison, it| cause(comparison, it) + remark(it);
    let mut all = vec![headline(base, other, comparison)];
    let verdict = &comparison.verdict;
    if !verdict.is_of_path {
        all.push(
            "There is no critical path of both runs, for not all of their events were kept: these are times of calls \
             themselves, mean of a process."
                .to_owned(),
        );
    }
    all.extend(verdict.causes.iter().map(|it| cause(comparison, it)));
    if verdict.causes.is_empty() && verdict.direction != Direction::AsLong {
        all.push("No place in the program has a tenth of the difference: it is spread over many.".to_owned());
    }
    for (number, it) in verdict.elsewhere.iter().enumerate() {
        let said = cause(comparison, it);
        all.push(if number == 0 { format!("On the other hand: {}", lower(&said)) } else { said });
    }
    all.extend(efficiency(comparison));
    if !comparison.renamed.is_empty() {
        all.push(renamed(&comparison.renamed));
    }
    all
}

/// `B takes 3.10 s longer than A: 29.0 s instead of 25.9 s (+12.0 %).`
fn headline(base: &Compared, other: &Compared, comparison: &Comparison<'_>) -> String {
    let (old, new) = (comparison.base.duration, comparison.other.duration);
    let time = |time: Nanos| solid(format::duration(time));
    let difference = time(Nanos((new - old).0.abs()));
    let part = if old.0 > 0 {
        solid(change((new - old).0 as f64 / old.0 as f64))
    } else {
        "from nothing".to_owned()
    };
    let name = |run: &Compared| match comparison.basis {
        Basis::Sums => run.name.clone(),
        Basis::Means => {
            let n = run.digest.processes.len() as u64;
            format!("{} ({})", run.name, solid(format::counted_as(n, "process", "processes")))
        }
    };
    let (base, other) = (name(base), name(other));
    match comparison.verdict.direction {
        Direction::Longer => format!(
            "{other} takes {difference} longer than {base}: {} instead of {} ({part}).",
            time(new),
            time(old)
        ),
        Direction::Shorter => format!(
            "{other} takes {difference} less than {base}: {} instead of {} ({part}).",
            time(new),
            time(old)
        ),
        Direction::AsLong => format!(
            "{other} takes as long as {base}, within 1\u{a0}%: {} and {} ({part}).",
            time(new),
            time(old)
        ),
    }
}

/// `2.90 s more on the critical path: …`
fn cause(comparison: &Comparison<'_>, cause: &Cause) -> String {
    let difference = cause.difference();
    let time = |ns: f64| solid(format::duration(rounded(ns)));
    let more = if difference > 0.0 { "more" } else { "less" };
    let amount = time(difference.abs());
    let of = if comparison.verdict.is_of_path { "on the critical path" } else { "per process" };
    let Subject::Place(place) = cause.subject else {
        return format!("{amount} {more} before the critical path begins.");
    };
    let mut text = format!("{amount} {more} {of} in {}", place_in_words(comparison, place));
    if let Some(row) = cause.function.and_then(|at| comparison.functions.get(at)) {
        text += &format!(", most in {} by samples", function(&row.function, row.line));
    }
    text += &who(comparison, cause);
    text += &format!(" ({} instead of {})", time(cause.new), time(cause.old));
    if let Some(visits) = cause.visits {
        text += &format!("; {}", calls(comparison.basis, visits, cause.mean));
    }
    text.push('.');
    if let Some((old, new)) = cause.processor.filter(|_| cause.is_without_processor()) {
        text += &format!(
            " Processor time of a process, by samples, is {} instead of {}: for the rest it had no processor, or \
             waited where no calls are recorded.",
            time(new),
            time(old)
        );
    }
    if let Some((share, place)) = cause.share {
        let which = if difference > 0.0 {
            "of the new waiting follows"
        } else {
            "of the waiting that went away had followed"
        };
        let share = solid(format!("{:.0} %", share * 100.0));
        let most = place
            .map_or_else(String::new, |place| format!(", most in {}", place_in_words(comparison, place)));
        text += &format!(" {share} {which} from it{most}.");
    }
    text
}

/// ` on rank 3`
fn who(comparison: &Comparison<'_>, cause: &Cause) -> String {
    let Subject::Place(place) = cause.subject else { return String::new() };
    let run = if comparison.places[place].other.is_some() { comparison.other } else { comparison.base };
    let names: Vec<String> = cause
        .locations
        .iter()
        .filter_map(|at| run.locations.get(*at as usize))
        .map(|at| solid(location(at)))
        .collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!(" on {one}"),
        some if some.len() <= MOST_NAMED => {
            let (last, others) = some.split_last().expect("there is more than one");
            format!(" on {} and {last}", others.join(", "))
        }
        many => {
            let kind = if run.locations.iter().all(|at| at.thread == 0 && at.lane.is_empty()) {
                if run.processes.iter().all(|process| process.rank.is_some()) { "ranks" } else { "processes" }
            } else {
                "threads"
            };
            format!(" on {} of {} {kind}", many.len(), run.locations.len())
        }
    }
}

/// `200 visits as before, each takes 11.0 ms instead of 10.0 ms`
fn calls(basis: Basis, (old, new): (f64, f64), mean: (Option<f64>, Option<f64>)) -> String {
    let time = |ns: f64| solid(format::duration(rounded(ns)));
    let number = |visits: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "visits are counted in 64 bits"
        )]
        let whole = visits.round() as u64;
        let is_whole = visits.fract() == 0.0;
        if is_whole { solid(format::count(whole)) } else { format!("{visits:.1}") }
    };
    let of = if basis == Basis::Means { " of a process" } else { "" };
    let visits =
        |visits: f64| if visits == 1.0 { "1 visit".to_owned() } else { format!("{} visits", number(visits)) };
    let each = match mean {
        (Some(old), Some(new)) if (new - old).abs() >= LEAST_MEAN * old => {
            format!("each takes {} instead of {}", time(new), time(old))
        }
        (Some(_), Some(_)) => "each takes as long as before".to_owned(),
        _ => String::new(),
    };
    match (old, new) {
        (0.0, _) => format!("it is new: {}{of}", solid(visits(new))),
        (_, 0.0) => format!("it is gone: there were {}{of}", solid(visits(old))),
        _ if old == new => {
            let gap = if each.is_empty() { "" } else { ", " };
            format!("{}{of} as before{gap}{each}", solid(visits(new)))
        }
        _ => {
            let gap = if each.is_empty() { "" } else { ", " };
            format!("{}{of} instead of {}{gap}{each}", solid(visits(new)), number(old))
        }
    }
}

/// What became of the efficiency, and which factor most.
fn efficiency(comparison: &Comparison<'_>) -> Option<String> {
    let of = |run: &marey_analyze::Digest| run.explained.as_ref().and_then(|it| it.efficiency);
    let (old, new) = (of(comparison.base)?, of(comparison.other)?);
    let difference = new.parallel - old.parallel;
    if difference.abs() < LEAST_EFFICIENCY {
        return None;
    }
    type Factor = (&'static str, fn(&Efficiency) -> f64);
    let factors: [Factor; 4] = [
        ("load balance", |it| it.load_balance),
        ("serialisation", |it| it.serialisation),
        ("setting up", |it| it.setting_up),
        ("transfer", |it| it.transfer),
    ];
    let quotient = |factor: &Factor| factor.1(&new) / factor.1(&old).max(f64::MIN_POSITIVE);
    let most = if difference > 0.0 {
        factors.iter().max_by(|a, b| quotient(a).total_cmp(&quotient(b)))
    } else {
        factors.iter().min_by(|a, b| quotient(a).total_cmp(&quotient(b)))
    };
    let (name, value) = most?;
    let percent = |part: f64| solid(format!("{:.1} %", 100.0 * part));
    Some(format!(
        "Parallel efficiency is {} instead of {}, most of all for {name}: {} instead of {}.",
        percent(new.parallel),
        percent(old.parallel),
        percent(value(&new)),
        percent(value(&old)),
    ))
}

fn renamed(pairs: &[Renamed]) -> String {
    let pair = |pair: &Renamed| {
        let [old, new] = [&pair.old, &pair.new].map(|name| function(name, 0));
        match pair.how {
            RenamedHow::Moved => format!("{old} is in {} now", crate::words::place(&pair.new.file, 0)),
            RenamedHow::Neighbours => {
                format!("{old} is now {new}, which alone is called by the same and calls the same")
            }
            RenamedHow::Samples => {
                format!("{old} is now {new}, which alone is called by the same, by samples")
            }
        }
    };
    let told: Vec<String> = pairs.iter().take(MOST_RENAMED).map(pair).collect();
    let more = pairs.len().saturating_sub(MOST_RENAMED);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    format!("Taken as renamed: {}{more}.", told.join("; "))
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The place in the program of which calls, bytes or own time changed most, for a metric that is no time of the run.
pub(super) fn most_changed(comparison: &Comparison<'_>, named: &[&str], what: Changed) -> Option<String> {
    let sums = |run: &marey_analyze::Digest, place: Option<u32>| {
        place.map_or_else(marey_analyze::Sums::default, |place| run.places[place as usize].sums)
    };
    let of = |sums: marey_analyze::Sums| match what {
        Changed::Visits => sums.visits as f64,
        Changed::Bytes => sums.bytes as f64,
        Changed::Time => sums.exclusive.0 as f64,
    };
    let is_named = |place: usize| {
        let (name, _) = comparison.name(place);
        let of_call = [name.region.name(), name.caller.name.as_str()];
        named.is_empty() || named.iter().any(|name| of_call.iter().any(|part| is_named(part, name)))
    };
    let places = comparison.places.iter().enumerate();
    let rows =
        places.filter(|(place, _)| comparison.name(*place).0.kind == PlaceKind::Call && is_named(*place));
    let rows = rows.map(|(place, pair)| {
        (place, of(sums(comparison.base, pair.base)), of(sums(comparison.other, pair.other)))
    });
    let most = rows.max_by(|a, b| (a.2 - a.1).abs().total_cmp(&(b.2 - b.1).abs()))?;
    let (place, old, new) = most;
    if old == new {
        return None;
    }
    let (name, line) = comparison.name(place);
    let value = |value: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a whole number")]
        let whole = value as u64;
        solid(match what {
            Changed::Visits => format::count(whole),
            Changed::Bytes => format::bytes(whole),
            Changed::Time => format::duration(rounded(value)),
        })
    };
    let own = match what {
        Changed::Time => " of its own",
        Changed::Visits => " visits",
        Changed::Bytes => "",
    };
    Some(format!("Most of it in {}: {}{own} instead of {}.", in_words(name, line), value(new), value(old)))
}

/// What a metric is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    Visits,
    Bytes,
    Time,
}
