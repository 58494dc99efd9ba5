//! `marey source FILE --code NAME`: a function's machine code, instruction by instruction.
//!
//! The one idea: what a processor did is told beside the line that it was made of. Of a run, samples stand at the very
//! instruction that they were taken at, for call stacks keep addresses; nothing is spread over the instructions of a line.
//!
//! Where the program that ran is gone, what the run kept of its code is told (`--embed-code`), and text of sources only if it
//! is still what the program was made of.
//!
//! What is deliberately absent: code of files that are not the ones that ran.

mod find;
mod json;
mod kept;
mod name;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use marey_analyze::Sampled;
use marey_archive::{AddressCost, Addresses};
use marey_source::ModuleRef;
use marey_source::database::{Code, Instruction, Listing};
use marey_source::text::Sources;

use self::find::find;
use super::Made;
use crate::cli::SourceArgs;
use crate::format;
use crate::paint::{Look, Paint, harmless, note, shorten, title};
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// More functions of one name are only counted.
const MOST: usize = 10;
/// Bytes of a function's code that are looked at: more is read by nobody.
const MOST_CODE_BYTES: u64 = 1 << 20;
/// Letters of an instruction.
const MOST_LETTERS: usize = 72;
/// A source whose text is longer is not shown beside its code.
const MOST_TEXT_BYTES: u64 = 8 << 20;

/// A module that is looked at.
struct Module {
    /// Its number in the run; 0 of a file.
    id: u32,
    /// Whether it is a part of the program, and none of a system's libraries.
    is_users: bool,
    path: PathBuf,
    build_id: Option<Vec<u8>>,
}

impl Module {
    fn reference(&self) -> ModuleRef<'_> {
        ModuleRef { path: &self.path, build_id: self.build_id.as_deref() }
    }
}

/// A stretch of code that was asked for.
struct Asked {
    module: u32,
    path: PathBuf,
    code: Code,
    listing: Listing,
    /// Why code at its end is left out, if some is.
    why_left_out: String,
}

/// What was found.
#[derive(Default)]
struct Found {
    codes: Vec<Asked>,
    /// How many more have the name.
    left_out: usize,
    problems: Vec<String>,
}

/// Tells the code of a program or library.
pub(super) fn of_file(args: &SourceArgs, name: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    find::check(&args.file)?;
    let module = Module { id: 0, is_users: true, path: args.file.clone(), build_id: None };
    let found = find(&args.file, std::slice::from_ref(&module), None, name)?;
    tell(args, &found, None, Made::of_file(&args.file), BTreeMap::new(), out)
}

/// Tells the code of what ran, with samples.
pub(super) fn of_run(args: &SourceArgs, name: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let run = crate::run::Run::open(&args.file)?;
    let found = find(&args.file, &find::modules(&run.archive)?, Some(&run.archive), name)?;
    let addresses = Addresses::of(&run.archive, &run.trace)?;
    tell(args, &found, Some(&addresses), Made::of(&run), kept::texts(&run.archive)?, out)
}

fn tell(
    args: &SourceArgs,
    found: &Found,
    addresses: Option<&Addresses>,
    made: Option<Made>,
    kept: BTreeMap<PathBuf, String>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &json::Json::new(found, addresses))?;
        return Ok(writeln!(out)?);
    }
    let paint = Paint::for_stdout();
    let paint = if args.no_color { paint.without_colour() } else { paint };
    let top = args.top.map_or(usize::MAX, |top| usize::try_from(top).unwrap_or(usize::MAX));
    let mut page = Page { out, paint, top, addresses, made, kept, texts: BTreeMap::new(), newer: None };
    found.codes.iter().try_for_each(|it| page.code(it))?;
    table::more(page.out, paint, found.left_out, "of that name", "of that name")?;
    page.notes(found)?;
    Ok(())
}

impl Asked {
    fn cost(&self, addresses: &Addresses, it: &Instruction) -> AddressCost {
        addresses.cost(self.module, it.address, it.length)
    }

    /// Samples that were taken in it, also where its code is left out.
    fn own(&self, addresses: &Addresses) -> Sampled {
        self.own_of(addresses, self.code.range.clone())
    }

    /// Those that were taken in the code that is left out.
    fn own_left_out(&self, addresses: &Addresses) -> Sampled {
        let end = self.code.range.end;
        self.own_of(addresses, end.saturating_sub(self.listing.left_out_bytes)..end)
    }

    fn own_of(&self, addresses: &Addresses, range: Range<u64>) -> Sampled {
        if range.is_empty() {
            return Sampled::default();
        }
        addresses.cost(self.module, range.start, range.end - range.start).own
    }

    fn frames(&self, it: &Instruction) -> &[marey_source::Frame] {
        it.place.and_then(|place| self.listing.places.get(place as usize)).map_or(&[], Vec::as_slice)
    }

    /// The file and the line of an instruction.
    fn line(&self, it: &Instruction) -> Option<(&str, u32)> {
        let frame = self.frames(it).first()?;
        Some((frame.file.as_deref()?, frame.line?))
    }
}

struct Page<'p> {
    out: &'p mut dyn Write,
    paint: Paint,
    /// Rows of a table at most.
    top: usize,
    addresses: Option<&'p Addresses>,
    /// When what is shown was made; text that is newer is another one.
    made: Option<Made>,
    /// Texts that came with the run: those of the program that ran.
    kept: BTreeMap<PathBuf, String>,
    /// Sources that were looked for; `None` = not there, or not the one that the program was made of.
    texts: BTreeMap<PathBuf, Option<Vec<String>>>,
    /// The first source that was changed since.
    newer: Option<PathBuf>,
}

impl Page<'_> {
    fn code(&mut self, it: &Asked) -> io::Result<()> {
        let length = it.code.range.end - it.code.range.start;
        let outermost = it.listing.instructions.first().and_then(|first| it.frames(first).last());
        let place = outermost.and_then(|frame| Some(words::place(frame.file.as_deref()?, frame.line?)));
        let mut facts: Vec<String> = place.into_iter().collect();
        let at = format!("{} at {:x}", format::bytes(length), it.code.range.start);
        if let Some(addresses) = self.addresses {
            // Libraries have functions of the same names.
            let module = it.path.file_name().map(|name| harmless(&name.to_string_lossy()));
            facts.push(module.map_or_else(|| at.clone(), |module| format!("{at} of {module}")));
            let own = it.own(addresses);
            facts.push(match own.samples {
                0 => "no sample was taken in it".to_owned(),
                _ => taken(&own, "in it", addresses),
            });
        } else {
            facts.push(at);
        }
        title(self.out, self.paint, &words::function(&it.code.title()), &facts.join(", "))?;
        let has_samples = self.addresses.is_some_and(|addresses| addresses.whole.samples != 0);
        let costs = self.addresses.filter(|_| has_samples);
        let shown = || it.listing.instructions.iter().take(self.top);
        // Half an instruction is none, so these are as wide as they need to be, however narrow the terminal is: cells at the
        // right are never cut.
        let width = shown().map(|it| it.text.chars().count().min(MOST_LETTERS)).max().unwrap_or(0).max(11);
        let has_leads = shown().any(|it| it.leads_to.is_some());
        let has_inlined = shown().any(|instruction| it.frames(instruction).len() > 1);
        let mut heads: Vec<(String, Side)> = Vec::new();
        let mut head = |head: &str, side| heads.push((head.to_owned(), side));
        if has_samples {
            ["processor", "share", "with calls"].iter().for_each(|it| head(it, Side::Right));
        }
        head("address", Side::Right);
        head(&format!("{:width$}", "instruction"), Side::Right);
        if has_leads {
            head("leads to", Side::Left);
        }
        head("line", Side::Left);
        if has_inlined {
            head("inlined", Side::Left);
        }
        head("source", Side::Left);
        let mut table = Table::with_heads(heads.into_iter()).can_spare(&["source", "inlined", "with calls"]);
        let mut before = None;
        for instruction in it.listing.instructions.iter().take(self.top) {
            let mut cells = costs.map_or_else(Vec::new, |addresses| costs_of(it, addresses, instruction));
            let frames = it.frames(instruction);
            let line = it.line(instruction);
            // What stands in the row above is not said again.
            let is_new = before != Some((line, frames.len()));
            before = Some((line, frames.len()));
            let new_line = line.filter(|_| is_new);
            let inlined = frames.first().filter(|_| frames.len() > 1 && is_new);
            let text = shorten(&harmless(&instruction.text), MOST_LETTERS);
            cells.push(Cell::new(Look::Faint, format!("{:x}", instruction.address)));
            cells.push(format!("{text:width$}").into());
            if has_leads {
                let name = instruction.leads_to.as_deref().map_or_else(String::new, words::function);
                cells.push(shorten(&name, 48).into());
            }
            let place = new_line.map_or_else(String::new, |(file, line)| words::place(file, line));
            cells.push(Cell::new(Look::Faint, shorten(&place, 32)));
            if has_inlined {
                let name = inlined.map_or_else(String::new, |it| words::function(&it.function));
                cells.push(shorten(&name, 32).into());
            }
            let source = new_line.map_or_else(String::new, |(file, line)| self.text(file, line));
            cells.push(Cell::new(Look::Faint, shorten(&source, 72)));
            table.push(cells);
        }
        if !it.listing.instructions.is_empty() {
            table.print(self.out, self.paint)?;
        }
        let more = it.listing.instructions.len().saturating_sub(self.top);
        table::more(self.out, self.paint, more, "instruction", "instructions")?;
        if it.listing.left_out_bytes != 0 {
            let left_out = format::bytes(it.listing.left_out_bytes);
            let what = if it.listing.instructions.is_empty() {
                "its code is left out".to_owned()
            } else {
                format!("the last {left_out} of its code are left out")
            };
            let own = self.addresses.map(|addresses| (it.own_left_out(addresses), addresses));
            let own = own.filter(|(own, _)| own.samples != 0);
            let with = own.map_or_else(String::new, |(own, addresses)| {
                format!(", with {}", taken(&own, "that were taken there", addresses))
            });
            note(self.out, self.paint, &format!("{what}{with}: {}", it.why_left_out))?;
        }
        Ok(())
    }

    /// The text of a line; empty where it is not there.
    fn text(&mut self, file: &str, line: u32) -> String {
        let path = PathBuf::from(file);
        if !self.texts.contains_key(&path) {
            let kept = self.kept.get(&path);
            let is_newer = kept.is_none() && self.made.is_some_and(|made| made.is_before(&path));
            if is_newer && self.newer.is_none() {
                self.newer = Some(path.clone());
            }
            let read = match kept {
                Some(text) => Some(lines(text)),
                None if is_newer => None,
                None => read(&path),
            };
            self.texts.insert(path.clone(), read);
        }
        let text = self.texts.get(&path).and_then(Option::as_ref);
        text.and_then(|text| text.get((line as usize).checked_sub(1)?)).cloned().unwrap_or_default()
    }

    fn notes(&mut self, found: &Found) -> io::Result<()> {
        let mut notes = Vec::new();
        if self.addresses.is_some_and(|it| it.whole.samples != 0) {
            notes.push(
                "processor is by samples, at the instruction that came next when one was taken: what takes long is often the one \
                 before it; with calls has what was called from there, too"
                    .to_owned(),
            );
        } else if self.addresses.is_some() {
            notes.push("this run has no samples; `marey record` takes them unless told not to".to_owned());
        }
        let has_lines = found.codes.iter().any(|it| !it.listing.places.is_empty());
        if !has_lines {
            notes.push("there are no lines, for there is no debug information: compile with -g".to_owned());
        }
        if let (Some(newer), Some(made)) = (&self.newer, self.made) {
            let newer = harmless(&newer.display().to_string());
            let made = made.words();
            notes.push(format!("sources were changed after {made}, so their text is not shown: {newer}"));
        }
        notes.extend(found.problems.iter().map(|problem| harmless(problem)));
        notes.iter().try_for_each(|text| note(self.out, self.paint, text))
    }
}

/// `310 samples in it, 3.1 s (99 % of the run)`.
fn taken(own: &Sampled, where_: &str, addresses: &Addresses) -> String {
    let share = format::percent(own.time.0, addresses.whole.time.0);
    let (samples, time) = (format::counted(own.samples, "sample"), format::duration(own.time));
    format!("{samples} {where_}, {time} ({share} of the run)")
}

fn costs_of(it: &Asked, addresses: &Addresses, instruction: &Instruction) -> Vec<Cell> {
    let cost = it.cost(addresses, instruction);
    let time = |of: &Sampled| if of.samples == 0 { String::new() } else { format::duration(of.time) };
    let share = format::percent(cost.own.time.0, addresses.whole.time.0);
    let share = if cost.own.samples == 0 { String::new() } else { share };
    let with_calls = if cost.with_calls == cost.own { String::new() } else { time(&cost.with_calls) };
    vec![Cell::new(Look::Strong, time(&cost.own)), share.into(), with_calls.into()]
}

/// The lines of a source; `None` if it cannot be read.
fn read(path: &Path) -> Option<Vec<String>> {
    let is_short = std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= MOST_TEXT_BYTES);
    if !is_short || !Sources::has_source_name(path) {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    Some(lines(&String::from_utf8_lossy(&bytes)))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| harmless(line.trim())).collect()
}
