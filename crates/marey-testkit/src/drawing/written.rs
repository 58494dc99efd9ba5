//! What is expected, or was found, in the words of drawings.
//!
//! The one idea: what a test found is printed as the lines that it could have expected, so that the two are compared
//! by eye.

use marey_model::{CallPathId, LocationId};

use super::{Doing, Drawing, Expected, ExpectedSpan};

impl Drawing {
    /// The statements that say this, line by line.
    pub fn written(&self, expected: &Expected) -> String {
        let mut lines = Vec::new();
        if let Some(waits) = &expected.waits {
            lines.extend(waits.iter().map(|wait| {
                let span = ExpectedSpan { location: wait.location, from: wait.from, to: wait.to };
                let path = wait.call_path.map_or("?".to_owned(), |path| self.letters_of(path));
                let (pattern, cause) = (wait.pattern, self.name(wait.cause));
                format!("wait {} {pattern} in {path} caused by {cause}", self.span(&span))
            }));
            if waits.is_empty() {
                lines.push("no waits".to_owned());
            }
        }
        if let Some(completions) = &expected.completions {
            lines.extend(completions.iter().map(|span| format!("completion {}", self.span(span))));
            if completions.is_empty() {
                lines.push("no completion".to_owned());
            }
        }
        if let Some(delays) = &expected.delays {
            lines.extend(delays.iter().map(|delay| {
                let long =
                    if delay.long_term == 0.0 { String::new() } else { format!(" + {}", delay.long_term) };
                format!("{}: {}{long}", self.delayed(delay.location, delay.activity), delay.short_term)
            }));
            if delays.is_empty() {
                lines.push("no delays".to_owned());
            }
        }
        if let Some(spans) = &expected.critical {
            let spans: Vec<String> = spans.iter().map(|span| self.span(span)).collect();
            lines.push(format!("critical {}", spans.join(", ")));
        }
        if 0 < expected.before.0 {
            lines.push(format!("before {}", expected.before.0));
        }
        lines.join("\n")
    }

    fn span(&self, span: &ExpectedSpan) -> String {
        format!("{} [{}, {})", self.name(span.location), span.from.0, span.to.0)
    }

    fn delayed(&self, location: LocationId, activity: Doing) -> String {
        let name = self.name(location);
        match activity {
            Doing::Path(path) => format!("delay {name} in {}", self.letters_of(path)),
            Doing::Outside => format!("delay {name} outside"),
            Doing::NotStarted => format!("delay {name} not started"),
        }
    }

    /// `w/R`
    fn letters_of(&self, path: CallPathId) -> String {
        let Some(row) = self.call_paths.get(path.idx()) else { return "?".to_owned() };
        let letter =
            self.letters.iter().find(|(_, region)| **region == row.region).map_or('?', |found| *found.0);
        match row.parent {
            Some(parent) => format!("{}/{letter}", self.letters_of(parent)),
            None => letter.to_string(),
        }
    }
}
