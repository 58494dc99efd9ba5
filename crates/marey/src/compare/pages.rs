//! A check for those who show it: JUnit XML for test servers, Markdown for pull requests.
//!
//! The one idea: a metric is a test case; one without a verdict was skipped, for nothing is known to be wrong.
//!
//! The XML is what Jenkins, GitLab and others read (<https://github.com/testmoapp/junitxml>); it is written by hand, for it
//! is a dozen lines.

use std::fmt::Write;

use super::change;
use super::check::{Check, Judged, Verdict};
use super::judged::{groups, headline, median, n_measured, percent, sentence};

/// JUnit XML.
pub(super) fn junit(check: &Check) -> String {
    let n = n_measured(check);
    let verdict = |judged: &Judged| Verdict::of(judged.judgement.outcome);
    let count = |which| check.metrics.iter().filter(|judged| verdict(judged) == which).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
        check.metrics.len(),
        count(Verdict::Fail),
        count(Verdict::Open)
    );
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"marey check\" {counts}>\n  \
         <testsuite name=\"marey check\" {counts}>\n"
    );
    for judged in &check.metrics {
        let text = xml_text(&sentence(judged, n));
        let name = xml_text(&judged.metric.name);
        let start = format!("    <testcase classname=\"marey.check\" name=\"{name}\" time=\"0\"");
        let case = match verdict(judged) {
            Verdict::Pass => format!("{start}>\n      <system-out>{text}</system-out>\n    </testcase>\n"),
            Verdict::Open => format!("{start}>\n      <skipped message=\"{text}\"/>\n    </testcase>\n"),
            Verdict::Fail => {
                let why = xml_text(&causes(check, judged).join("\n"));
                format!(
                    "{start}>\n      <failure type=\"slower\" message=\"{text}\">{text}\n{why}</failure>\n    </testcase>\n"
                )
            }
        };
        xml += &case;
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

/// Where a metric changed, and why the run did.
fn causes(check: &Check, judged: &Judged) -> Vec<String> {
    let Some(cause) = &check.cause else { return Vec::new() };
    let own =
        cause.places.iter().filter(|(name, _)| *name == judged.metric.name).map(|(_, place)| place.clone());
    own.chain(cause.sentences.iter().cloned()).collect()
}

/// Text that XML may hold: characters of its own are written otherwise, control characters are left out.
fn xml_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\n' | '\t' => safe.push(c),
            '\u{a0}' => safe.push(' '),
            // These are no characters to XML 1.0.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// Markdown.
pub(super) fn markdown(check: &Check) -> String {
    let n = n_measured(check);
    let sign = match check.verdict {
        Verdict::Pass => "✅",
        Verdict::Fail => "❌",
        Verdict::Open => "❔",
    };
    let mut text = format!(
        "## {sign} marey check: {}\n\n{}; {}.\n\n\
         | metric | baseline | candidate | change | interval | limit | verdict |\n\
         |---|--:|--:|--:|--:|--:|---|\n",
        check.verdict.name(),
        headline(check),
        groups(check)
    );
    for judged in &check.metrics {
        let judgement = &judged.judgement;
        let value = |values: &[Option<f64>]| {
            median(values).map_or_else(|| "no value".to_owned(), |value| judged.metric.value_text(value))
        };
        let part = judgement.change.map_or_else(String::new, |part| {
            if part.is_infinite() { "new".to_owned() } else { change(part) }
        });
        let interval = match judgement.interval {
            Some((lower, upper)) => format!("{} … {}", change(lower), change(upper)),
            None if judgement.is_exact => "exact".to_owned(),
            None => String::new(),
        };
        let verdict = Verdict::of(judgement.outcome);
        let shown = if verdict == Verdict::Fail { "**fail**" } else { verdict.name() };
        let cells = [
            cell(&judged.metric.name),
            value(&judged.baseline),
            value(&judged.candidate),
            part,
            interval,
            percent(judged.threshold),
            shown.to_owned(),
        ];
        // Writing to a text does not fail.
        writeln!(text, "| {} |", cells.join(" | ")).ok();
    }
    text.push('\n');
    for judged in &check.metrics {
        if Verdict::of(judged.judgement.outcome) != Verdict::Pass {
            writeln!(text, "- {}", plain(&sentence(judged, n))).ok();
        }
    }
    if let Some(cause) = &check.cause {
        writeln!(text, "\n### Cause\n\n{} → {}\n", plain(&cause.base.name), plain(&cause.other.name)).ok();
        for (name, place) in &cause.places {
            writeln!(text, "- {}: {}", plain(name), plain(place)).ok();
        }
        cause.sentences.iter().for_each(|sentence| {
            writeln!(text, "- {}", plain(sentence)).ok();
        });
    }
    text.replace('\u{a0}', " ")
}

/// A name in a cell of a table: as code, in which no bar stands alone.
fn cell(name: &str) -> String {
    format!("`{}`", name.replace('`', "'").replace('|', "\\|"))
}

/// Names hold characters that mean something to Markdown.
fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '<' | '[' | ']' | '|' | '#') {
            safe.push('\\');
        }
        safe.push(if c.is_control() { ' ' } else { c });
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_break_no_markup() {
        assert_eq!(xml_text("a<b> & \"c\"\u{1b}\n"), "a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}\n");
        assert_eq!(plain("operator*<T>_x | #1"), "operator\\*\\<T>\\_x \\| \\#1");
        assert_eq!(cell("region(\"a|b`\").time"), "`region(\"a\\|b'\").time`");
    }
}
