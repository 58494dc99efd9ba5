//! Iterations in sentences.
//!
//! The one idea: a sentence says what was found and how it is known, so that nobody has to believe it.

use marey_analyze::{Border, Figures, Loop, Phases, Site, Span, Trace};
use marey_model::Nanos;

use super::super::sheet::{instant, time, what};
use super::super::{Place, who};
use super::{Page, Phase, Told, each};
use crate::format::{self, solid};
use crate::paint::{harmless, shorten};
use crate::words;

/// Long iterations that have a sentence of their own.
const MOST: usize = 3;

/// What there is to say.
pub(super) fn sentences(trace: &dyn Trace, page: &Page<'_>) -> Vec<String> {
    let (found, Some(told)) = (page.found, page.told) else { return vec![nothing(trace)] };
    let mut all = vec![headline(trace, told, page)];
    all.extend(kinds(told));
    all.extend(outliers(trace, told));
    all.push(drift(told));
    all.extend(varies(trace, told));
    if let Some(typical) = told.shares.typical {
        let span = told.of.iterations[typical];
        all.push(format!(
            "The most typical is iteration {}, from {} to {}.",
            solid(format::count(typical as u64 + 1)),
            instant(span.from),
            instant(span.to),
        ));
    }
    let others = found.loops.len() - 1;
    if others > 0 {
        all.push(if others == 1 {
            "Another loop was found; it stands below.".to_owned()
        } else {
            format!("{others} other loops were found; they stand below.")
        });
    }
    all
}

fn nothing(trace: &dyn Trace) -> String {
    let has_sums = trace.profile().iter().any(|row| row.visits > 0);
    let why = if trace.locations().is_empty() || !has_sums {
        "no calls were recorded"
    } else {
        "no call recurs in a regular sequence, five times or more and over a twentieth of the run. Single calls must \
         have been recorded for that, as without --mode profile; functions of the program are told by \
         -finstrument-functions or the user API"
    };
    format!("No iterations were found: {why}.")
}

/// `500 iterations of 4.10 ms (median), …`
fn headline(trace: &dyn Trace, told: &Told<'_>, page: &Page<'_>) -> String {
    let it = told.of;
    let (whole, of) = (page.span, if page.is_part { "of the part" } else { "of the run" });
    let (from, to) = it.span();
    let border = match it.border {
        Border::Opens => "each begins with",
        Border::Closes => "each ends with",
        Border::Visit => "each is a visit of",
    };
    let rounds = match it.rounds {
        1 => String::new(),
        rounds => format!(", in {} rounds", solid(format::count(rounds))),
    };
    let per = match it.per {
        1 => String::new(),
        per => format!(
            " ({} in a row are told as one, and median and extremes are of these)",
            format::count(per)
        ),
    };
    format!(
        "{} of {} (median; {} to {}) on {}, from {} to {}, {} {of}{rounds}: {border} {}.{per}",
        solid(format::counted(it.number, "iteration")),
        solid(each(it, it.time.median)),
        solid(each(it, it.time.min)),
        solid(each(it, it.time.max)),
        who(trace, &it.locations),
        instant(from),
        instant(to),
        solid(format::percent((to - from).0, (whole.to - whole.from).0)),
        site(trace, it),
    )
}

/// The call that iterations are told by.
pub(super) fn site(trace: &dyn Trace, it: &Loop) -> String {
    let Site { call_path, frame, .. } = &it.site;
    let first = Place::of_call(trace, Some(*call_path));
    match frame {
        None => what(&first),
        Some(frame) => {
            let at = words::place(&frame.file, frame.line);
            let function = shorten(&words::function(&frame.function), 60);
            let at = if at.is_empty() { function } else { format!("{function} ({at})") };
            if it.site.is_single {
                format!("{}, called in {at}", what(&first))
            } else {
                format!("what is called in {at}, first {}", harmless(first.region))
            }
        }
    }
}

pub(super) fn number(told: &Told<'_>) -> String {
    format::counted(told.of.number, "iteration")
}

pub(super) fn takers(trace: &dyn Trace, told: &Told<'_>) -> String {
    who(trace, &told.shares.locations)
}

fn kinds(told: &Told<'_>) -> Option<String> {
    let kinds = &told.of.kinds;
    let (usual, others) = kinds.split_first().filter(|(_, others)| !others.is_empty())?;
    let more = match others {
        [_] => String::new(),
        all => format!(" ({} other kinds in all)", all.len()),
    };
    let other = &others[0];
    let subject = match other.every {
        Some(every) => format!("Every {} ({})", nth(every), format::counted(other.number, "iteration")),
        None if other.number == 1 => format!("Iteration {}", format::count(other.first as u64 + 1)),
        None => format!("In {} the program", solid(format::counted(other.number, "iteration"))),
    };
    Some(format!(
        "{subject} makes other calls than the usual {}, and takes {} instead of {}{more}.",
        format::count(usual.number),
        time(other.time.median),
        time(usual.time.median),
    ))
}

fn nth(number: u64) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{}{end}", format::count(number))
}

fn outliers(trace: &dyn Trace, told: &Told<'_>) -> Vec<String> {
    let outliers = &told.of.outliers;
    if outliers.is_empty() {
        return vec!["No iteration is longer than others of its kind by more than chance.".to_owned()];
    }
    let sentence = |(place, outlier): (usize, &marey_analyze::Outlier)| {
        let why = told.shares.different.get(place).copied().flatten().map_or_else(String::new, |it| {
            format!(
                ": {} took {} longer than usual for {}",
                who(trace, &[it.location]),
                time(it.excess),
                what(&Place::of(trace, it.activity)),
            )
        });
        let span = told.of.iterations[outlier.iteration];
        format!(
            "Iteration {}, at {}, took {}, {} longer than {}{why}.",
            solid(format::count(outlier.iteration as u64 + 1)),
            instant(span.from),
            solid(format::duration(span.length())),
            time(outlier.excess),
            if outlier.has_like { "others of its kind" } else { "the usual ones" },
        )
    };
    let mut all: Vec<String> = outliers.iter().enumerate().take(MOST).map(sentence).collect();
    let rest = outliers.iter().skip(MOST);
    let excess: f64 = rest.clone().map(|outlier| outlier.excess).sum();
    if rest.len() > 0 {
        all.push(format!(
            "{} also longer than others of their kind, by {} together.",
            match rest.len() {
                1 => "One more iteration is".to_owned(),
                number => format!("{} more iterations are", format::count(number as u64)),
            },
            time(excess)
        ));
    }
    all
}

fn drift(told: &Told<'_>) -> String {
    let drift = told.of.drift;
    if !drift.is_significant() {
        return "Iterations become neither longer nor shorter in the course of the loop.".to_owned();
    }
    let (word, p) = (
        if drift.change > 0.0 { "longer" } else { "shorter" },
        if drift.p < 0.001 {
            "p\u{a0}<\u{a0}0.001".to_owned()
        } else {
            format!("p\u{a0}=\u{a0}{:.3}", drift.p)
        },
    );
    // Clocks tell no tenths of a nanosecond.
    let each = match drift.slope.abs() {
        slope if slope < 1.0 => "less than\u{a0}1\u{a0}ns".to_owned(),
        slope => time(slope),
    };
    format!(
        "Iterations become {word}: by {} from the first to the last, {each} each ({p}).",
        solid(format!("{:.1} %", 100.0 * drift.change.abs())),
    )
}

fn varies(trace: &dyn Trace, told: &Told<'_>) -> Option<String> {
    // Less than a hundredth of an iteration is nothing to look at.
    let is_much = |figures: &Figures| figures.deviation >= told.of.time.mean / 100.0;
    let from_to = |figures: &Figures| {
        format!("{} to {}, {} on average", time(figures.min), time(figures.max), time(figures.mean))
    };
    let waiting = &told.shares.waiting;
    let done = told.shares.activities.first().filter(|(_, figures)| is_much(figures));
    let doing = |activity| what(&Place::of(trace, activity));
    match done {
        Some((activity, figures)) if waiting.deviation <= figures.deviation => {
            Some(format!("What varies most is {}: {}.", doing(*activity), from_to(figures)))
        }
        _ if !is_much(waiting) => None,
        Some((activity, figures)) => Some(format!(
            "What varies most is waiting: {}; and of what is done, {}: {}.",
            from_to(waiting),
            doing(*activity),
            from_to(figures)
        )),
        None => Some(format!("What varies most is waiting: {}.", from_to(waiting))),
    }
}

/// What comes after what: the loops that are not inside others, and what lies between them.
pub(super) fn course(found: &Phases, whole: Span) -> Vec<Phase> {
    let mut loops: Vec<(usize, (Nanos, Nanos))> = found
        .loops
        .iter()
        .enumerate()
        .filter(|(_, it)| it.inside.is_none())
        .map(|(which, it)| (which, it.span()))
        .collect();
    loops.sort_by_key(|&(which, span)| (span, which));
    let mut phases = Vec::new();
    let mut at = whole.from;
    for (which, (from, to)) in loops {
        if at < from {
            let name = if phases.is_empty() { "start-up" } else { "between" };
            phases.push(Phase { name, from: at, to: from, which: None });
        }
        phases.push(Phase { name: "", from, to, which: Some(which) });
        at = at.max(to);
    }
    if at < whole.to {
        phases.push(Phase { name: "end", from: at, to: whole.to, which: None });
    }
    phases
}
