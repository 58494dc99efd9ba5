//! What stands in a line of callgrind's format.
//!
//! The one idea: a line is taken apart without what went before; only names are short for others, and how many numbers stand
//! before costs is said.
//!
//! Deliberately absent: what positions mean; relative ones need not be added up, for costs are not kept by line.

use rustc_hash::FxHashMap;

/// A line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Content<'a> {
    /// `fn=(1) name` and the like.
    Place(&'a str, &'a str),
    Calls(u64),
    Jump,
    /// Positions, and then costs.
    Cost(Vec<u64>),
    Header(&'a str, &'a str),
    Nothing,
    /// What makes no sense.
    Damage,
}

/// Takes a line apart, of which so many numbers stand before costs.
pub(super) fn parse(line: &str, positions: usize) -> Content<'_> {
    let line = line.trim();
    match line.bytes().next() {
        None | Some(b'#') => return Content::Nothing,
        Some(b'0'..=b'9' | b'+' | b'-' | b'*') => return cost(line, positions),
        Some(_) => {}
    }
    // Names may have colons in them, and headers equal signs: what comes first counts.
    let Some(at) = line.find(['=', ':']) else { return Content::Damage };
    let (key, rest) = (line[..at].trim(), line[at + 1..].trim());
    match (line.as_bytes()[at], key) {
        (b'=', "calls") => match rest.split_whitespace().next().and_then(number) {
            Some(calls) => Content::Calls(calls),
            None => Content::Damage,
        },
        (b'=', "jump" | "jcnd") => Content::Jump,
        (b'=', "ob" | "fl" | "fi" | "fe" | "fn" | "cob" | "cfi" | "cfl" | "cfn") => Content::Place(key, rest),
        (b':', _) => Content::Header(key, rest),
        _ => Content::Damage,
    }
}

fn cost(line: &str, positions: usize) -> Content<'_> {
    let mut words = line.split_whitespace();
    for _ in 0..positions {
        let word = words.next().unwrap_or("");
        let absolute = word.strip_prefix(['+', '-']).unwrap_or(word);
        if word != "*" && number(absolute).is_none() {
            return Content::Damage;
        }
    }
    let costs: Option<Vec<u64>> = words.map(number).collect();
    costs.map_or(Content::Damage, Content::Cost)
}

/// A number, also one in hexadecimal.
fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// Numbers of a header, as far as they are.
pub(super) fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().map_while(number).collect()
}

/// Names that stand for others: `(1) name`, and from then on `(1)`.
#[derive(Debug, Default)]
pub(super) struct Names(FxHashMap<u64, String>);

impl Names {
    /// The name that is meant; `None` of a number that stands for none.
    pub(super) fn of(&mut self, text: &str) -> Option<String> {
        let short = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        // A name may begin with a parenthesis itself, `(below main)` for one.
        let short = short.and_then(|(id, name)| Some((id.parse::<u64>().ok()?, name.trim())));
        match short {
            Some((id, "")) => self.0.get(&id).cloned(),
            Some((id, name)) => {
                self.0.insert(id, name.to_owned());
                Some(name.to_owned())
            }
            None => Some(text.to_owned()),
        }
    }
}

/// Units of time, and ns in each.
const UNITS: [(&str, u64); 15] = [
    ("ns", 1),
    ("nsec", 1),
    ("nanoseconds", 1),
    ("10ns", 10),
    ("100ns", 100),
    ("us", 1000),
    ("usec", 1000),
    ("µs", 1000),
    ("microseconds", 1000),
    ("ms", 1_000_000),
    ("msec", 1_000_000),
    ("milliseconds", 1_000_000),
    ("s", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("seconds", 1_000_000_000),
];

/// ns in one of an event, if that is a time by its name: all of it, or what is in parentheses.
pub(super) fn ns_in(name: &str) -> Option<u64> {
    let name = name.to_lowercase();
    let unit = |text: &str| UNITS.iter().find(|it| it.0 == text.trim()).map(|it| it.1);
    let inner = name.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let whole = if name.len() > 4 { unit(&name) } else { None };
    whole.or_else(|| unit(inner?.0))
}
