//! Places as users type them.
//!
//! The one idea: whatever a table shows can be typed: a region, a function, or a file and a line. What is not there is an
//! error that names what is like it.

use std::collections::BTreeSet;

use marey_analyze::what_if::{Place, Scaling};
use marey_analyze::{Frame, Region, Trace};

use crate::words;

/// `FILE:LINE` or a name.
enum Typed<'a> {
    Name(&'a str),
    Line(&'a str, u32),
}

impl<'a> Typed<'a> {
    fn new(text: &'a str) -> Self {
        let line = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        match line {
            Some((file, line)) if !file.is_empty() && !file.ends_with(':') => Self::Line(file, line),
            _ => Self::Name(text),
        }
    }

    fn is_at(&self, of_file: &str, of_line: u32) -> bool {
        match self {
            Self::Line(file, line) => of_line == *line && is_file(of_file, file),
            Self::Name(_) => false,
        }
    }

    fn is_region(&self, region: &Region) -> bool {
        match self {
            Self::Name(name) => [region.name(), &region.verb, &region.noun].contains(name),
            Self::Line(..) => self.is_at(&region.file, region.line),
        }
    }

    fn is_frame(&self, frame: &Frame) -> bool {
        match self {
            Self::Name(name) => {
                let is_known = !frame.function.is_empty();
                is_known && (frame.function == **name || words::function(&frame.function) == **name)
            }
            Self::Line(..) => self.is_at(&frame.file, frame.line),
        }
    }
}

/// Whether a file is meant by its name or by the end of its path.
fn is_file(file: &str, typed: &str) -> bool {
    file == typed || file.strip_suffix(typed).is_some_and(|rest| rest.ends_with('/'))
}

/// What is meant by a place, that many times as fast.
pub(super) fn scaling(trace: &impl Trace, text: &str, factor: f64) -> Result<Scaling, String> {
    let typed = Typed::new(text);
    let is_region = |region: &Region| typed.is_region(region);
    let is_frame = |frame: &Frame| typed.is_frame(frame);
    let is_there = trace.regions().iter().any(is_region) || frames(trace).iter().any(|frame| is_frame(frame));
    if !is_there {
        return Err(not_found(trace, text));
    }
    let place =
        Place { is_region: &is_region, is_frame: &is_frame, with_calls: matches!(typed, Typed::Line(..)) };
    Ok(Scaling::place(trace, &place, factor))
}

/// All frames of recorded calls and of samples.
fn frames(trace: &dyn Trace) -> Vec<&Frame> {
    let calls = trace.call_paths().iter().filter_map(|path| path.stack);
    let samples = trace.samples().iter().filter_map(|row| row.stack);
    let stacks: BTreeSet<_> = calls.chain(samples).collect();
    stacks.into_iter().flat_map(|stack| trace.stack(stack)).collect()
}

/// So many letters may be wrong, missing or too many in a name that was meant.
const MOST_MISTAKES: usize = 2;

/// Levenshtein's distance.
pub(crate) fn mistakes(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, a) in (1..).zip(a.chars()) {
        let mut left_above = std::mem::replace(&mut row[0], above);
        for (place, b) in b.iter().enumerate() {
            let changed = left_above + usize::from(a != *b);
            left_above = row[place + 1];
            row[place + 1] = changed.min(row[place] + 1).min(left_above + 1);
        }
    }
    row[b.len()]
}

/// Names that are told beside one that is not there.
const MOST: usize = 5;

fn not_found(trace: &dyn Trace, text: &str) -> String {
    let names = trace.regions().iter().map(|region| region.name().to_owned());
    let functions = frames(trace).into_iter().filter(|frame| !frame.function.is_empty());
    let functions = functions.map(|frame| words::function(&frame.function));
    let all: BTreeSet<String> = names.chain(functions).filter(|name| !name.is_empty()).collect();
    let wanted = text.to_lowercase();
    let is_like = |name: &&String| {
        let name = name.to_lowercase();
        let is_part = name.contains(&wanted) || wanted.contains(&name) && 2 < name.len();
        is_part || 3 < name.len() && mistakes(&name, &wanted) <= MOST_MISTAKES
    };
    let like: Vec<String> = all.iter().filter(is_like).take(MOST).map(|name| format!("`{name}`")).collect();
    let hint = if like.is_empty() {
        "`marey path RUN` and `marey hot RUN` show the names".to_owned()
    } else {
        format!("there is {}", like.join(", "))
    };
    let what = match Typed::new(text) {
        Typed::Name(_) => "region or function",
        Typed::Line(..) => "call or sample on the line",
    };
    format!("there is no {what} `{}` in this run; {hint}", crate::paint::harmless(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_counted() {
        for (a, b, expected) in
            [("force", "fore", 1), ("force", "forec", 2), ("", "ab", 2), ("same", "same", 0)]
        {
            assert_eq!(mistakes(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn lines_are_told_from_names() {
        for (text, is_line) in
            [("solver.c:12", true), ("force", false), ("ns::f", false), ("ns::1", false), (":12", false)]
        {
            assert_eq!(matches!(Typed::new(text), Typed::Line(..)), is_line, "{text}");
        }
        assert!(is_file("/src/solver.c", "solver.c") && is_file("/src/a/b.c", "a/b.c"));
        assert!(!is_file("/src/mysolver.c", "solver.c"));
    }
}
