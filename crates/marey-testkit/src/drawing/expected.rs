//! What a drawing says that analysis should find in it.
//!
//! The one idea: rows of plain values, as any implementation can be compared with, fast or slow.
//!
//! What is deliberately absent: opinions on what is right. Whoever draws works it out by hand.

use marey_model::{CallPathId, LocationId, Nanos};

use super::Drawing;
use super::parse::location;

/// Names of the patterns, in the order of `docs/wait-states.md`.
pub const PATTERNS: [&str; 14] = [
    "late sender",
    "late sender, wrong order",
    "late receiver",
    "wait at barrier",
    "wait at N×N",
    "late broadcast",
    "early reduce",
    "wait at init",
    "wait at exit",
    "lock contention",
    "wait at join",
    "wait for condition",
    "late post",
    "late complete",
];

/// What analysis should find. `None` = the drawing does not say.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expected {
    /// All waits, by location and time.
    pub waits: Option<Vec<ExpectedWait>>,
    /// Barrier completion, by location and time.
    pub completions: Option<Vec<ExpectedSpan>>,
    /// All delay costs, by location and activity.
    pub delays: Option<Vec<ExpectedDelay>>,
    /// The critical path, by time.
    pub critical: Option<Vec<ExpectedSpan>>,
    /// The time before the critical path.
    pub before: Nanos,
}

/// A wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ExpectedWait {
    /// Who waits.
    pub location: LocationId,
    /// Since when.
    pub from: Nanos,
    /// Until when.
    pub to: Nanos,
    /// The waiting call.
    pub call_path: Option<CallPathId>,
    /// Which of [`PATTERNS`].
    pub pattern: &'static str,
    /// Whom it waits for.
    pub cause: LocationId,
}

/// A span of a location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ExpectedSpan {
    /// Where.
    pub location: LocationId,
    /// Its first instant.
    pub from: Nanos,
    /// The instant behind its last.
    pub to: Nanos,
}

/// What an activity of a location made others wait.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct ExpectedDelay {
    /// Who.
    pub location: LocationId,
    /// With what.
    pub activity: Doing,
    /// Short-term costs, ns.
    pub short_term: f64,
    /// Long-term costs, ns.
    pub long_term: f64,
}

/// What a location does at an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Doing {
    /// This is the innermost call path.
    Path(CallPathId),
    /// It is outside of all regions.
    Outside,
    /// It is not there yet, or no longer.
    NotStarted,
}

/// Takes a statement of what is expected.
pub(super) fn state(drawing: &mut Drawing, statement: &str) -> Result<(), String> {
    let (first, rest) = statement.split_once(' ').unwrap_or((statement, ""));
    match (first, rest) {
        ("no", "waits") => drawing.expected.waits.get_or_insert_default().clear(),
        ("no", "delays") => drawing.expected.delays.get_or_insert_default().clear(),
        ("no", "completion") => drawing.expected.completions.get_or_insert_default().clear(),
        ("wait", _) => {
            let wait = wait(drawing, rest)?;
            let waits = drawing.expected.waits.get_or_insert_default();
            waits.push(wait);
            waits.sort();
        }
        ("completion", _) => {
            let spans = spans(drawing, rest)?;
            let completions = drawing.expected.completions.get_or_insert_default();
            completions.extend(spans);
            completions.sort();
        }
        ("critical", _) => {
            let spans = spans(drawing, rest)?;
            drawing.expected.critical.get_or_insert_default().extend(spans);
        }
        ("before", _) => {
            let ns = rest.parse().map_err(|_| format!("`{rest}` is no time in ns"))?;
            drawing.expected.before = Nanos(ns);
        }
        ("delay", _) => {
            let delay = delay(drawing, rest)?;
            let delays = drawing.expected.delays.get_or_insert_default();
            if delays.iter().any(|other| (other.location, other.activity) == (delay.location, delay.activity))
            {
                return Err("there is a line for this activity already".to_owned());
            }
            delays.push(delay);
            delays.sort_by_key(|delay| (delay.location, delay.activity));
        }
        _ => return Err(format!("`{statement}` is not understood")),
    }
    Ok(())
}

/// `b [10, 40) late sender in w/R caused by a`
fn wait(drawing: &Drawing, text: &str) -> Result<ExpectedWait, String> {
    let wrong = || "a wait is `LOCATION [FROM, TO) PATTERN in PATH caused by LOCATION`".to_owned();
    let (where_when, rest) = text.split_once(')').ok_or_else(wrong)?;
    let span = span(drawing, where_when)?;
    let (rest, cause) = rest.split_once(" caused by ").ok_or_else(wrong)?;
    let (pattern, path) = rest.split_once(" in ").ok_or_else(wrong)?;
    let known = PATTERNS.into_iter().find(|known| *known == pattern.trim());
    Ok(ExpectedWait {
        location: span.location,
        from: span.from,
        to: span.to,
        call_path: Some(path_of(drawing, path.trim())?),
        pattern: known.ok_or_else(|| {
            format!("`{}` is no pattern; there are {}", pattern.trim(), PATTERNS.join(" | "))
        })?,
        cause: location(drawing, cause.trim())?,
    })
}

/// `a [0, 40), b [40, 80)`
fn spans(drawing: &Drawing, text: &str) -> Result<Vec<ExpectedSpan>, String> {
    let whole = text.trim().strip_suffix(')').ok_or("a span is `LOCATION [FROM, TO)`")?;
    whole.split("),").map(|part| span(drawing, part)).collect()
}

/// `a [0, 40`
fn span(drawing: &Drawing, text: &str) -> Result<ExpectedSpan, String> {
    let wrong = || format!("`{text})` is no span: `LOCATION [FROM, TO)` is meant");
    let (name, times) = text.split_once('[').ok_or_else(wrong)?;
    let (from, to) = times.split_once(',').ok_or_else(wrong)?;
    let time = |word: &str| word.trim().parse().map(Nanos).map_err(|_| wrong());
    let (from, to) = (time(from)?, time(to)?);
    if to <= from {
        return Err(format!("`{text})` has no length"));
    }
    Ok(ExpectedSpan { location: location(drawing, name.trim())?, from, to })
}

/// `a in w/R: 70 + 20`
fn delay(drawing: &Drawing, text: &str) -> Result<ExpectedDelay, String> {
    let wrong = || "a delay is `LOCATION in PATH: NS`, `… outside: NS` or `… not started: NS`".to_owned();
    let (who, costs) = text.split_once(':').ok_or_else(wrong)?;
    let (name, what) = who.trim().split_once(' ').ok_or_else(wrong)?;
    let activity = match what.trim() {
        "outside" => Doing::Outside,
        "not started" => Doing::NotStarted,
        path => Doing::Path(path_of(drawing, path.strip_prefix("in ").ok_or_else(wrong)?.trim())?),
    };
    let (short, long) = costs.split_once('+').unwrap_or((costs, "0"));
    Ok(ExpectedDelay {
        location: location(drawing, name)?,
        activity,
        short_term: cost(short.trim())?,
        long_term: cost(long.trim())?,
    })
}

/// `70`, `12.5` or `100/3`
fn cost(text: &str) -> Result<f64, String> {
    let number = |word: &str| word.trim().parse::<f64>().map_err(|_| format!("`{text}` is no cost in ns"));
    match text.split_once('/') {
        Some((above, below)) => Ok(number(above)? / number(below)?),
        None => number(text),
    }
}

/// `w/R`: the call path of these letters, from the outermost.
fn path_of(drawing: &Drawing, text: &str) -> Result<CallPathId, String> {
    let mut path = None;
    for word in text.split('/') {
        let mut letters = word.trim().chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return Err(format!("`{text}` is no call path: letters with `/` between them make one"));
        };
        let region =
            drawing.letters.get(&letter).ok_or_else(|| format!("`{letter}` is not in the legend"))?;
        let known = drawing.call_paths.iter().position(|p| p.parent == path && p.region == *region);
        path = known.and_then(CallPathId::from_idx);
        if path.is_none() {
            return Err(format!("nothing that is drawn has the call path `{text}`"));
        }
    }
    path.ok_or_else(|| format!("`{text}` is no call path"))
}
