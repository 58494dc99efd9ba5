//! Remarks in words.
//!
//! The one idea: a loop is a paragraph: what it costs and where it is, its line of code, why it was left as it is, and what
//! there is to win. A table would have no room for reasons.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::SystemTime;

use marey_analyze::{LoopOutcome, Remarked, RemarkedCall, RemarkedLoop, USUAL_LANES};
use marey_model::Nanos;

use crate::format;
use crate::paint::{Look, Paint, harmless, note, shorten, title, wrap};
use crate::table;
use crate::words;

/// Loops that a report shows.
const FEW: usize = 3;
/// Less of the time than this is not worth a line of a report.
const LEAST_SHARE: f64 = 0.01;
/// Calls that are shown.
const MOST_CALLS: usize = 5;
/// Largest source that a line is taken from.
const MOST_BYTES: u64 = 16 << 20;

/// Where and how remarks are printed.
pub(super) struct Page<'p> {
    pub(super) paint: Paint,
    /// Loops at most.
    pub(super) top: usize,
    /// Loops that were vectorised, too, and those without time.
    pub(super) all: bool,
    /// Whether the program was run.
    pub(super) has_costs: bool,
    /// When the program was run: sources that were changed since have other lines.
    pub(super) run: Option<SystemTime>,
    pub(super) it: &'p Remarked<'p>,
}

impl Page<'_> {
    pub(super) fn print(&self, out: &mut dyn Write, name: &str, problems: &[String]) -> io::Result<()> {
        let order = match (self.has_costs, self.it.path) {
            (true, Some(_)) => ", by their time on the critical path",
            (true, None) => ", by their processor time",
            (false, _) => "",
        };
        let which =
            if self.all { "what the compiler did with loops" } else { "loops the compiler left as they are" };
        title(out, self.paint, "REMARKS", &format!("{}: {which}{order}", harmless(name)))?;
        let shown = self.shown();
        let mut code = Code { run: self.run, known: BTreeMap::new() };
        for it in shown.iter().take(self.top) {
            writeln!(out)?;
            self.paragraph(out, it, Some(&mut code))?;
        }
        if shown.is_empty() {
            writeln!(out, "  {}", self.paint.paint(Look::Faint, &self.nothing()))?;
        }
        table::more(out, self.paint, shown.len().saturating_sub(self.top), "loop", "loops")?;
        self.calls(out)?;
        writeln!(out)?;
        self.notes(&shown).iter().chain(problems).try_for_each(|text| note(out, self.paint, &harmless(text)))
    }

    fn shown(&self) -> Vec<&RemarkedLoop<'_>> {
        let is_shown = |it: &&RemarkedLoop<'_>| {
            // Of a loop without a word and without time there is nothing to show.
            let is_known = it.at.outcome != LoopOutcome::Silent || it.own.samples != 0;
            self.all && is_known || it.at.outcome.is_left() && (!self.has_costs || it.own.samples != 0)
        };
        let mut shown: Vec<&RemarkedLoop<'_>> = self.it.loops.iter().filter(is_shown).collect();
        if !self.has_costs {
            shown.sort_by_key(|it| (&it.at.file, it.at.first_line));
        }
        shown
    }

    /// Why no loop is shown.
    fn nothing(&self) -> String {
        let of = |is_meant: &dyn Fn(LoopOutcome) -> bool| {
            self.it.loops.iter().filter(|it| is_meant(it.at.outcome)).count() as u64
        };
        let (left, done) = (of(&LoopOutcome::is_left), of(&|outcome| outcome == LoopOutcome::Vectorised));
        format!(
            "none: {} vectorised, and in {} that were not no sample was taken (--all shows them)",
            format::counted_as(done, "loop was", "loops were"),
            format::count(left)
        )
    }

    /// The time that shares are of.
    fn whole(&self) -> Nanos {
        self.it.path.unwrap_or(self.it.whole.time)
    }

    fn paragraph(
        &self,
        out: &mut dyn Write,
        it: &RemarkedLoop<'_>,
        code: Option<&mut Code>,
    ) -> io::Result<()> {
        let share = if self.has_costs { format::percent(it.time().0, self.whole().0) } else { String::new() };
        let width = if self.has_costs { 9 } else { 0 };
        let head = self.paint.paint(Look::Strong, &head_of(it));
        match self.has_costs {
            true => writeln!(out, "  {share:>7}  {head}")?,
            false => writeln!(out, "  {head}")?,
        }
        let indent = width + 2;
        let lines = wrap(&self.explained(it), self.paint.prose_width().saturating_sub(indent));
        if let Some(line) = code.and_then(|code| code.line(it)) {
            let line = shorten(&line, self.paint.prose_width().saturating_sub(indent));
            writeln!(out, "{:indent$}{}", "", self.paint.paint(Look::Faint, &line))?;
        }
        let said = lines.iter().filter(|line| !line.is_empty());
        said.into_iter().try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))
    }

    /// Why, and what there is to win.
    fn explained(&self, it: &RemarkedLoop<'_>) -> String {
        let mut text = why(it);
        if !self.has_costs || it.own.samples == 0 {
            return text;
        }
        let of = match it.on_path {
            Some(on_path) if on_path.time != it.own.time => {
                format!("{} of its own, {} on the critical path", time(it.own.time), time(on_path.time))
            }
            _ => format!("{} of its own", time(it.own.time)),
        };
        text += if text.is_empty() { "" } else { " " };
        text += &of;
        if it.at.outcome.is_left() && it.time().0 != 0 {
            let (lanes, is_told) = it.lanes();
            let (about, taken) = if is_told { ("at most", "") } else { ("some", ", an estimate") };
            text += &format!(
                "; {about} {} ({}) of that to win with {lanes} elements in a vector{taken}",
                time(it.gain()),
                format::solid(format::percent(it.gain().0, self.whole().0))
            );
        }
        text + "."
    }

    fn calls(&self, out: &mut dyn Write) -> io::Result<()> {
        let calls: Vec<&RemarkedCall<'_>> = self.it.calls.iter().take(MOST_CALLS).collect();
        if calls.is_empty() {
            return Ok(());
        }
        title(
            out,
            self.paint,
            "CALLS",
            "in loops that were not inlined, by the processor time in what they call",
        )?;
        for call in calls {
            let share = format::percent(call.inclusive.time.0, self.it.whole.time.0);
            let place = words::place(&call.at.file, call.at.line);
            let callee = shorten(&words::function(&call.at.callee), 40);
            let text = format!("{callee} at {place}: {}", call.at.reason);
            let lines = wrap(&harmless(&text), self.paint.prose_width().saturating_sub(11));
            for (number, line) in lines.iter().enumerate() {
                writeln!(out, "  {:>7}  {line}", if number == 0 { share.as_str() } else { "" })?;
            }
        }
        Ok(())
    }

    fn notes(&self, shown: &[&RemarkedLoop<'_>]) -> Vec<String> {
        let mut notes = Vec::new();
        if self.has_costs && !shown.is_empty() {
            notes.push(
                "its own is processor time in the loop's lines and in what was inlined there, without loops and calls \
                 within; of that 1/N stays with N elements in a vector, so the rest is the most that could be won, if \
                 memory keeps pace"
                    .to_owned(),
            );
        }
        if self.has_costs && shown.iter().take(self.top).any(|it| it.at.outcome.is_left() && !it.lanes().1) {
            notes.push(format!(
                "estimate: where the compiler does not tell how many elements a vector has, {USUAL_LANES} are taken; \
                 with small types or other options there are more, and more could be won"
            ));
        }
        if self.has_costs && self.it.whole.samples == 0 {
            notes.push("this run has no samples, so costs are not known; `marey record` takes them unless told not to".to_owned());
        }
        let shown = || shown.iter().take(self.top);
        if shown().any(|it| it.remarks.iter().any(|row| row.is_array_of_text)) {
            notes.push(
                "* the compiler names no array; this is the only one that the loop writes and uses with another subscript"
                    .to_owned(),
            );
        }
        if shown().any(|it| it.at.outcome == LoopOutcome::Both) {
            notes.push(
                "vectorised in part: compilers make several loops of one, for callers and for a rest; of some they did not \
                 vectorise, and samples do not tell which were run"
                    .to_owned(),
            );
        }
        if shown().any(|it| !it.at.is_read && it.at.first_line == it.at.last_line) {
            notes.push(
                "where a source could not be read when the run was merged, a loop is the line that the compiler names"
                    .to_owned(),
            );
        }
        notes
    }
}

/// `sweep, k.c:6–8: not vectorised`
fn head_of(it: &RemarkedLoop<'_>) -> String {
    let at = it.at;
    let place = words::place(&at.file, at.first_line);
    let lines = if at.last_line > at.first_line { format!("{place}–{}", at.last_line) } else { place };
    let function = match at.function.as_str() {
        "" => String::new(),
        name => format!(" in {}", shorten(&words::function(name), 40)),
    };
    harmless(&format!("{lines}{function}: {}", at.outcome.name()))
}

/// `Each iteration needs what an earlier one wrote: array grid, distance 1 (GCC).`
pub(super) fn why(it: &RemarkedLoop<'_>) -> String {
    let Some(row) = it.why() else {
        let by = it.remarks.first().map_or("", |row| row.compiler.as_str());
        return match it.at.outcome {
            LoopOutcome::Vectorised if it.lanes().1 => {
                format!("{} elements in a vector ({by}).", it.lanes().0)
            }
            LoopOutcome::Silent => String::new(),
            _ if by.is_empty() => String::new(),
            _ => format!("So says {by}."),
        };
    };
    let array = match (row.array.as_str(), row.is_array_of_text) {
        ("", _) => String::new(),
        (array, false) => format!("array {array}"),
        (array, true) => format!("array {array}*"),
    };
    let distance = if row.distance > 0 { format!("distance {}", row.distance) } else { String::new() };
    let details: Vec<String> = [array, distance].into_iter().filter(|part| !part.is_empty()).collect();
    let reason = match row.dependence.as_str() {
        "carried" => "an iteration needs what an earlier one wrote",
        _ if row.reason.is_empty() => "it does not say why",
        _ => row.reason.as_str(),
    };
    let details = if details.is_empty() { String::new() } else { format!(": {}", details.join(", ")) };
    let said = row.said.lines().next().unwrap_or("").split(". Use #pragma").next().unwrap_or("");
    let said = match said {
        "" => row.compiler.clone(),
        said if said == reason => row.compiler.clone(),
        said => format!("{}: {}", row.compiler, shorten(said.trim_start_matches("not vectorized: "), 90)),
    };
    // Of several copies it is said of which this is true.
    let copy = match row.inlined_into.as_str() {
        "" => String::new(),
        into if it.at.outcome == LoopOutcome::Both => format!(", in the copy in {}", shorten(into, 60)),
        _ => String::new(),
    };
    harmless(&format!("{}{details}{copy} ({said}).", capital(reason)))
}

/// What became of a loop and why, in a few words: `not vectorised: array grid, distance 1`.
pub(crate) fn outcome_of(it: &RemarkedLoop<'_>) -> String {
    let why = it.why().filter(|_| it.at.outcome.is_left());
    let parts = why.map_or_else(Vec::new, |row| {
        let array = if row.array.is_empty() { String::new() } else { format!("array {}", row.array) };
        let distance = if row.distance > 0 { format!("distance {}", row.distance) } else { String::new() };
        let parts: Vec<String> = [array, distance].into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { vec![row.reason.clone()] } else { parts }
    });
    let details: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    harmless(&format!("{}{details}", it.at.outcome.name()))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn time(time: Nanos) -> String {
    format::solid(format::duration(time))
}

/// The section of a report: the loops with most to win. Nothing if there are none worth a line.
pub(crate) fn in_report(out: &mut dyn Write, paint: Paint, it: &Remarked<'_>, path: &str) -> io::Result<()> {
    let page = Page { paint, top: FEW, all: false, has_costs: true, run: None, it };
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let is_worthwhile =
        |found: &&&RemarkedLoop<'_>| found.time().0 as f64 >= LEAST_SHARE * page.whole().0 as f64;
    let shown = page.shown();
    let worthwhile: Vec<&&RemarkedLoop<'_>> = shown.iter().filter(is_worthwhile).take(FEW).collect();
    if worthwhile.is_empty() {
        return Ok(());
    }
    let of = if it.path.is_some() { "share of the critical path" } else { "share of the processor time" };
    title(out, paint, "LOOPS THE COMPILER LEFT AS THEY ARE", of)?;
    for it in worthwhile {
        page.paragraph(out, it, None)?;
    }
    note(
        out,
        paint,
        &format!("`marey remarks {path}` tells of all loops, and how what there is to win is calculated"),
    )
}

/// Lines of sources, read when they are shown.
struct Code {
    run: Option<SystemTime>,
    known: BTreeMap<String, Option<String>>,
}

impl Code {
    /// The first line of a loop.
    fn line(&mut self, it: &RemarkedLoop<'_>) -> Option<String> {
        let number = it.at.first_line;
        let file = it.at.file.as_str();
        let read = || {
            let is_source = marey_source::text::Sources::has_source_name(std::path::Path::new(file));
            let is_as_it_was = |changed| self.run.is_none_or(|run| changed < run);
            let is_fit = |it: std::fs::Metadata| {
                it.is_file() && it.len() <= MOST_BYTES && it.modified().is_ok_and(is_as_it_was)
            };
            let is_fit = is_source && std::fs::metadata(file).is_ok_and(is_fit);
            is_fit.then(|| std::fs::read(file).ok()).flatten()
        };
        let text = self
            .known
            .entry(file.to_owned())
            .or_insert_with(|| read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        let line = text.as_ref()?.lines().nth(number.checked_sub(1)? as usize)?;
        Some(harmless(line.trim())).filter(|line| !line.is_empty())
    }
}
