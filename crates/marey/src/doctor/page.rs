//! Findings for people.
//!
//! The one idea: whoever has no time reads the first line and, if something is in the way, the
//! command below it. What is in order takes one line each and comes last.

use std::io::{self, Write};

use super::finding::{Finding, State};
use crate::paint::{Look, Paint, harmless, title, wrap};

/// Prints all of it. `subject` is what was asked about.
pub(super) fn print(
    out: &mut dyn Write,
    paint: Paint,
    subject: &str,
    findings: &[Finding],
) -> io::Result<()> {
    writeln!(out, "{}", paint.paint(Look::Title, subject))?;
    writeln!(out)?;
    let of = |state: State| findings.iter().filter(|finding| finding.state == state).collect::<Vec<_>>();
    let (problems, notes, rest) = (of(State::Problem), of(State::Note), of(State::Ok));
    let look = if problems.is_empty() { Look::Good } else { Look::Alarm };
    let answer = answer(problems.len(), notes.len());
    for (place, line) in wrap(&answer, paint.prose_width() - 4).iter().enumerate() {
        let mark = if place == 0 { "▸" } else { " " };
        writeln!(out, "  {mark} {}", paint.paint(look, line))?;
    }
    advices(out, paint, "PROBLEMS", Look::Alarm, &problems)?;
    advices(out, paint, "WORTH KNOWING", Look::Strong, &notes)?;
    in_order(out, paint, &rest)
}

fn answer(problems: usize, notes: usize) -> String {
    let known = match notes {
        0 => String::new(),
        1 => " One thing is worth knowing.".to_owned(),
        n => format!(" {n} things are worth knowing."),
    };
    match problems {
        0 => format!("Everything that is needed to measure is here.{known}"),
        1 => format!("This cannot be measured as it is: one problem, with its remedy below.{known}"),
        n => format!("This cannot be measured as it is: {n} problems, with their remedies below.{known}"),
    }
}

/// What has a remedy: what was found, why it matters, what to do, and how. What is the same of several
/// findings in a row is said once.
fn advices(
    out: &mut dyn Write,
    paint: Paint,
    name: &str,
    look: Look,
    findings: &[&Finding],
) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    title(out, paint, name, "")?;
    let alike = |a: &&Finding, b: &&Finding| (a.why, &a.remedy, &a.command) == (b.why, &b.remedy, &b.command);
    for (place, group) in findings.chunk_by(alike).enumerate() {
        if place != 0 {
            writeln!(out)?;
        }
        for finding in group {
            let head = format!("{}: {}", harmless(&finding.subject), harmless(&finding.found));
            write_wrapped(out, paint, look, ["  ", "    "], &head)?;
        }
        let finding = group[0];
        write_wrapped(out, paint, Look::Faint, ["    "; 2], finding.why)?;
        let remedy = finding.remedy.as_deref().unwrap_or_default();
        let end = if finding.command.is_some() { ":" } else { "." };
        write_wrapped(out, paint, Look::Text, ["    → ", "      "], &format!("{}{end}", harmless(remedy)))?;
        if let Some(command) = &finding.command {
            // Never broken: it is there to be pasted.
            writeln!(out, "      {}", paint.paint(Look::Strong, &harmless(command)))?;
        }
    }
    Ok(())
}

fn in_order(out: &mut dyn Write, paint: Paint, findings: &[&Finding]) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    title(out, paint, "IN ORDER", "")?;
    let width = |text: &dyn Fn(&Finding) -> String| {
        findings.iter().map(|finding| text(finding).chars().count()).max().unwrap_or(0)
    };
    let topics = width(&|finding| finding.topic.name().to_owned());
    let subjects = width(&|finding| harmless(&finding.subject)).min(24);
    let mut before = "";
    for finding in findings {
        let topic = finding.topic.name();
        let shown = if topic == before { "" } else { topic };
        before = topic;
        let subject = crate::paint::shorten(&harmless(&finding.subject), subjects);
        let head =
            format!("  {}  {subject:subjects$}  ", paint.paint(Look::Faint, &format!("{shown:topics$}")));
        let indent = 2 + topics + 2 + subjects + 2;
        let room = paint.prose_width().saturating_sub(indent).max(20);
        for (place, line) in wrap(&harmless(&finding.found), room).iter().enumerate() {
            if place == 0 {
                writeln!(out, "{head}{line}")?;
            } else {
                writeln!(out, "{:indent$}{line}", "")?;
            }
        }
    }
    Ok(())
}

/// Lines of prose, the first of which is indented otherwise than the others.
fn write_wrapped(
    out: &mut dyn Write,
    paint: Paint,
    look: Look,
    indents: [&str; 2],
    text: &str,
) -> io::Result<()> {
    let lines = wrap(text, paint.prose_width() - indents[1].chars().count());
    for (place, line) in lines.iter().enumerate() {
        writeln!(out, "{}{}", indents[place.min(1)], paint.paint(look, line))?;
    }
    Ok(())
}
