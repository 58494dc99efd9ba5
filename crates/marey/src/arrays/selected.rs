//! A part of an array that the user selects: what it snaps to, and what accesses to its elements cost.
//!
//! The one idea: the table of accesses is read once, and each row asked how many of its elements are selected.
//!
//! Deliberately absent: calls beneath, which are known by call path and not by element.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use anyhow::bail;
use marey_analyze::{
    AccessSum, ArrayPart, ArrayRow, SectionRow, SectionRows, Selected, SelectedAccesses, Snap, Snapped,
    Statement, SubArray, SubArrayCosts, Trace, accesses_not_kept, array_parts,
};
use marey_archive::Wanted;
use marey_model::{DataKind, Nanos, ProcessId};
use serde::Serialize;

use super::chosen::declared;
use super::sections::{Section, Sections};
use super::written::{self, Written};
use super::{Page, name, time_of, unknown};
use crate::cli::{ArraysArgs, ArraysBy};
use crate::exit::Usage;
use crate::format;
use crate::paint::{Look, harmless, note, shorten, title};
use crate::run::Run;
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// What somebody selected, and what it costs.
pub(super) struct Selection<'r> {
    array: &'r ArrayRow,
    /// Others of its name.
    namesakes: Vec<&'r ArrayRow>,
    /// As it was asked for.
    asked: SubArray,
    snap: Snap,
    parts: Vec<ArrayPart>,
    snapped: Snapped,
    costs: SubArrayCosts,
    /// Accesses to the array that were only counted.
    not_kept: u64,
    /// Sections of accesses that mean selected elements, or perhaps do.
    pub(super) sections: Vec<SectionRow>,
}

/// Why there is nothing to add up.
pub(super) const NO_ACCESSES: &str = "the run has no single accesses, which tell of elements: none were made, or only sums \
                                      were recorded (`--mode profile`, `--max-mb`)";

impl<'r> Selection<'r> {
    /// Selects what the options say, of the array that `--array` names, and adds up.
    pub(super) fn of(
        run: &Run,
        rows: &'r [ArrayRow],
        chosen: Option<&str>,
        args: &ArraysArgs,
    ) -> anyhow::Result<Self> {
        let trace: &dyn Trace = &run.trace;
        let text = args.section.as_deref().unwrap_or(":");
        let written = match &args.section {
            Some(text) => Written::parse(text).map_err(Usage)?,
            None => Written::default(),
        };
        let array = array(rows, chosen, written.array.as_deref(), text)?;
        let parts = array_parts(trace, array.noun);
        let images = match (&args.on, written.images) {
            (Some(_), Some(_)) => bail!(Usage(format!("{text} has images, and --on has: say them once"))),
            (Some(on), None) => Some(written::images(on).map_err(Usage)?),
            (None, images) => images,
        };
        let processes = images.map(|images| processes(trace, &images)).transpose().map_err(Usage)?;
        let whole = bounds(&parts);
        let section = match &written.dimensions[..] {
            [] => whole.clone(),
            // One more or fewer is told where all of it is checked.
            some => {
                let rest = whole.iter().copied().chain(std::iter::repeat((0, 0)));
                let given = some.iter().zip(rest);
                given.map(|(it, all)| (it.0.unwrap_or(all.0), it.1.unwrap_or(all.1))).collect()
            }
        };
        let asked = SubArray { section, processes };
        let snap = args.snap.unwrap_or_default().into();
        let namesakes: Vec<&ArrayRow> =
            rows.iter().filter(|row| row.name == array.name && row.noun != array.noun).collect();
        let snapped = asked.snapped(&parts, snap).map_err(|error| {
            let others = match &namesakes[..] {
                [] => String::new(),
                some => format!("; `--array` selects others of that name: {}", places(some)),
            };
            let whole = named(&name(array), &whole);
            Usage(format!("cannot select {} of {whole}: {error}{others}", harmless(text)))
        })?;
        if !run.archive.has_accesses() {
            bail!(NO_ACCESSES);
        }
        let mut sums = SelectedAccesses::new(&snapped);
        let mut sections = SectionRows::default();
        accesses(run, &|at| trace.arrays()[at].noun == array.noun, |access| {
            if sums.add(access) != marey_analyze::Meeting::default() {
                sections.add(array.noun, access);
            }
        })?;
        let (costs, sections) = (sums.costs(trace), sections.rows(trace));
        let not_kept = accesses_not_kept(trace, array.noun, &|_| true);
        Ok(Self { array, namesakes, asked, snap, parts, snapped, costs, not_kept, sections })
    }
}

/// Arrays of one name, as `--array` takes them.
fn places(arrays: &[&ArrayRow]) -> String {
    let places: Vec<String> = arrays.iter().map(|row| format!("{}@{}", name(row), declared(row))).collect();
    places.join(", ")
}

/// Reads accesses to some arrays of a run, of all its time.
pub(super) fn accesses(
    run: &Run,
    array: &dyn Fn(usize) -> bool,
    act: impl FnMut(&marey_analyze::SingleAccess<'_>),
) -> anyhow::Result<()> {
    let is_acted_on = |at: usize| run.trace.arrays()[at].is_acted_on() && array(at);
    let wanted = Wanted { array: &is_acted_on, location: &|_| true, span: i64::MIN..i64::MAX };
    let damage = run.archive.accesses(&run.trace, &wanted, act)?;
    match damage.into_iter().next() {
        None => Ok(()),
        Some(error) => Err(anyhow::Error::new(error).context("not all accesses can be read")),
    }
}

/// The array that is meant, by either option.
fn array<'r>(
    rows: &'r [ArrayRow],
    option: Option<&str>,
    written: Option<&str>,
    text: &str,
) -> anyhow::Result<&'r ArrayRow> {
    let known = || rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    let wanted = match (option, written) {
        (None, None) => {
            bail!(Usage(format!("of which array? `--array NAME`, or `--section 'NAME({})'`", harmless(text))))
        }
        (Some(option), Some(written)) if !option.eq_ignore_ascii_case(written) => {
            bail!(Usage(format!("--array says {}, and --section {}", harmless(option), harmless(written))))
        }
        (Some(name), _) | (None, Some(name)) => name,
    };
    // Fortran does not care about case, and debug information has it small.
    let small = wanted.to_lowercase();
    // Of several of one name that with most time, which is the first.
    let found =
        rows.iter().find(|row| row.name == wanted).or_else(|| rows.iter().find(|row| row.name == small));
    match found {
        Some(row) => Ok(row),
        None => bail!(Usage(unknown(wanted, &known()))),
    }
}

/// Processes of the first world, by the numbers of their images.
fn processes(trace: &dyn Trace, images: &BTreeSet<u32>) -> Result<BTreeSet<ProcessId>, String> {
    let of_rank: BTreeMap<u32, ProcessId> = (0..)
        .zip(trace.processes())
        .filter(|(_, process)| process.world == 0)
        .filter_map(|(at, process)| Some((process.rank?, ProcessId(at))))
        .collect();
    let of = |image: &u32| {
        let process = of_rank.get(&(image - 1)).copied();
        process.ok_or_else(|| format!("there is no image {image}: the run has {}", of_rank.len()))
    };
    images.iter().map(of).collect()
}

/// Least lower and greatest upper bound of all parts.
fn bounds(parts: &[ArrayPart]) -> marey_analyze::Section {
    let mut all = parts.iter().map(|part| part.bounds.clone());
    let first = all.next().unwrap_or_default();
    all.fold(first, |all, more| all.iter().zip(&more).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect())
}

/// `u(1:10, 5)`; what has no dimensions by its name alone.
fn named(array: &str, section: &[(i64, i64)]) -> String {
    if section.is_empty() { array.to_owned() } else { format!("{array}({})", in_words(section)) }
}

/// `1:10, 5`.
fn in_words(section: &[(i64, i64)]) -> String {
    let one = |(lower, upper): &(i64, i64)| {
        if lower == upper { lower.to_string() } else { format!("{lower}:{upper}") }
    };
    section.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// More parts are not listed one by one.
const MOST_PARTS: usize = 8;

impl Page<'_> {
    /// What is selected, and the tables that are asked for.
    pub(super) fn selection(&mut self, it: &Selection<'_>, by: Option<ArraysBy>) -> io::Result<()> {
        self.what_is_selected(it)?;
        if by.is_none_or(|by| by == ArraysBy::Line) {
            self.selected_lines(it)?;
        }
        if by.is_none_or(|by| by == ArraysBy::Process) {
            self.selected_processes(it)?;
        }
        if by == Some(ArraysBy::Section) {
            self.sections(std::slice::from_ref(it.array), &it.sections)?;
        }
        Ok(())
    }

    fn what_is_selected(&mut self, it: &Selection<'_>) -> io::Result<()> {
        let array = name(it.array);
        let on = it.asked.processes.as_ref().map_or_else(String::new, |all| {
            let images = all.iter().map(|process| image(self.trace, *process));
            format!("[{}]", spans(images))
        });
        let selection = named(&array, &it.asked.section);
        let several = match &it.namesakes[..] {
            [] => None,
            some => Some(format!(
                "This is the {array} of {}, which takes most time; `--array` selects others: {}.",
                declared(it.array),
                places(some)
            )),
        };
        let remark = format!("{selection}{on}; an access counts as a whole if it means one element of it");
        title(self.out, self.paint, "SELECTION", &remark)?;
        let held: BTreeSet<u32> =
            it.snapped.pieces.keys().map(|process| image(self.trace, *process)).collect();
        let ranks = held.iter().map(|image| image - 1).collect::<BTreeSet<u32>>();
        let plural = if held.len() == 1 { "" } else { "s" };
        let prose = |numbers: &BTreeSet<u32>| spans(numbers.iter().copied()).replace(':', " to ");
        // Brackets name images, of whatever array.
        let held = match it.array.kind {
            DataKind::Coarray => format!("image{plural} {} (rank{plural} {})", prose(&held), prose(&ranks)),
            _ => format!("rank{plural} {} (`[{}]`)", prose(&ranks), spans(held.iter().copied())),
        };
        let lies = if it.snapped.distributed.contains(&true) {
            let parts = it.parts.iter().filter(|part| it.snapped.pieces.contains_key(&part.process));
            let one = |part: &ArrayPart| {
                let image = image(self.trace, part.process);
                let holder = match it.array.kind {
                    DataKind::Coarray => format!("image {image}"),
                    _ => format!("rank {}", image - 1),
                };
                format!("{holder} has {}", named(&array, &part.bounds))
            };
            let shown: Vec<String> = parts.take(MOST_PARTS).map(one).collect();
            let more = if shown.len() < it.snapped.pieces.len() { ", …" } else { "" };
            format!("It lies with {held}: {}{more}.", shown.join(", "))
        } else {
            let each = if it.snapped.pieces.len() == 1 { "which has" } else { "each of which has" };
            format!("It lies with {held}, {each} {}.", named(&array, &bounds(&it.parts)))
        };
        self.remark(&lies)?;
        if let Some(several) = several {
            self.remark(&several)?;
        }
        let snapped = named(&array, &it.snapped.section);
        self.remark(&match (it.snap, it.snapped.fits) {
            (Snap::No, _) => "It is taken as it is, and does not snap to the distribution.".to_owned(),
            (_, true) => "It fits the distribution as it is.".to_owned(),
            (Snap::Expand, false) => format!("It is expanded to whole parts, {snapped}."),
            (Snap::Shrink, false) => format!("It is shrunk to whole parts, {snapped}."),
        })?;
        let total = it.costs.total;
        self.remark(&format!(
            "{} of {} accesses to {array} mean {} of it, of {} in all: {}, {}.",
            format::count(total.met.accesses),
            format::count(it.array.moved.accesses),
            match total.inside {
                0 => "no element".to_owned(),
                some => format::counted(some, "element"),
            },
            format::count(total.elements),
            format::bytes(total.met.bytes),
            format::duration(total.met.time),
        ))?;
        if total.perhaps_inside > 0 {
            let unsure = match total.perhaps.accesses {
                0 => String::new(),
                some => format!(
                    "; of {} nothing is sure, {}",
                    format::counted_as(some, "access", "accesses"),
                    format::duration(total.perhaps.time),
                ),
            };
            self.remark(&format!(
                "{} perhaps, by a vector of subscripts or without telling which{unsure}.",
                format::counted(total.perhaps_inside, "more element"),
            ))?;
        }
        self.not_kept(it.not_kept)
    }

    /// Says what is in no number.
    pub(super) fn not_kept(&mut self, number: u64) -> io::Result<()> {
        match number {
            0 => Ok(()),
            more => self.remark(&format!(
                "{} only counted, at a limit, because only sums were recorded or because the call did not end: it is not known to which elements.",
                format::counted_as(more, "more access was", "more accesses were"),
            )),
        }
    }

    fn selected_lines(&mut self, it: &Selection<'_>) -> io::Result<()> {
        let remark = "that access the selection, by line; selected: elements of it, of all that these accesses mean; perhaps: accesses of which that is not known";
        title(self.out, self.paint, "STATEMENTS", remark)?;
        if it.costs.statements.is_empty() {
            return note(self.out, self.paint, "none");
        }
        let whole = time_of(self.trace).0;
        let has_perhaps = it.costs.total.perhaps.accesses > 0;
        let mut heads = vec![
            ("what", Side::Left),
            ("at", Side::Left),
            ("in", Side::Left),
            ("accesses", Side::Right),
            ("bytes", Side::Right),
            ("time", Side::Right),
            ("share", Side::Right),
            ("selected", Side::Right),
            ("elements", Side::Right),
            ("data goes", Side::Left),
        ];
        if has_perhaps {
            heads.push(("perhaps", Side::Right));
        }
        let mut table = Table::new(&heads).can_spare(&["in", "share", "data goes", "bytes"]);
        for (statement, selected) in it.costs.statements.iter().take(self.top) {
            let mut row: Vec<Cell> = vec![
                shorten(&format!("{} {}", harmless(&statement.verb), name(it.array)), 32).into(),
                words::place(&statement.file, statement.line).into(),
                Cell::new(Look::Faint, shorten(&words::function(&statement.function), 24)),
                format::count(selected.met.accesses).into(),
                format::bytes(selected.met.bytes).into(),
                format::duration(selected.met.time).into(),
                format::percent(selected.met.time.0, whole).into(),
                format::count(selected.inside).into(),
                format::count(selected.elements).into(),
                statement.pattern(self.trace).map_or_else(String::new, |it| it.to_string()).into(),
            ];
            if has_perhaps {
                row.push(number(selected.perhaps.accesses).into());
            }
            table.push(row);
        }
        table.print(self.out, self.paint)?;
        let more = it.costs.statements.len().saturating_sub(self.top);
        table::more(self.out, self.paint, more, "statement", "statements")
    }

    fn selected_processes(&mut self, it: &Selection<'_>) -> io::Result<()> {
        let remark = "own, others': its accesses to selected elements that it has, and that others have; asked: accesses of others to those that it has";
        title(self.out, self.paint, "SELECTION BY PROCESS", remark)?;
        let processes: BTreeSet<ProcessId> =
            it.costs.processes.keys().chain(it.snapped.pieces.keys()).copied().collect();
        let mut table = Table::new(&[
            ("process", Side::Left),
            ("has", Side::Left),
            ("own", Side::Right),
            ("others'", Side::Right),
            ("others' bytes", Side::Right),
            ("time", Side::Right),
            ("asked", Side::Right),
            ("asked bytes", Side::Right),
            ("asked time", Side::Right),
        ])
        .can_spare(&["others' bytes", "asked bytes", "has"]);
        for process in processes.iter().take(self.top) {
            let costs = it.costs.processes.get(process).copied().unwrap_or_default();
            let (local, remote, asked) = (costs.local.met, costs.remote.met, costs.asked.met);
            table.row([
                words::process(self.trace, *process).into(),
                Cell::new(
                    Look::Faint,
                    it.snapped.pieces.get(process).map_or_else(String::new, |it| in_words(it)),
                ),
                number(local.accesses).into(),
                number(remote.accesses).into(),
                if remote.accesses == 0 { String::new() } else { format::bytes(remote.bytes) }.into(),
                duration(local.with(remote).time).into(),
                number(asked.accesses).into(),
                if asked.accesses == 0 { String::new() } else { format::bytes(asked.bytes) }.into(),
                duration(asked.time).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, processes.len().saturating_sub(self.top), "process", "processes")
    }
}

fn number(number: u64) -> String {
    if number == 0 { String::new() } else { format::count(number) }
}

fn duration(time: Nanos) -> String {
    if time.0 == 0 { String::new() } else { format::duration(time) }
}

/// The number of its image.
fn image(trace: &dyn Trace, process: ProcessId) -> u32 {
    let rank = trace.processes().get(process.idx()).and_then(|it| it.rank);
    rank.unwrap_or(process.0).saturating_add(1)
}

/// `1:3, 5`.
fn spans(numbers: impl Iterator<Item = u32>) -> String {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for number in numbers.collect::<BTreeSet<_>>() {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => found.push((number, number)),
        }
    }
    let one = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}:{last}") }
    };
    found.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A selection for other programs; `docs/sentences.md` says what each name means.
#[derive(Serialize)]
pub(super) struct Json<'a> {
    array: &'a str,
    section: &'a [(i64, i64)],
    processes: Option<Vec<u32>>,
    snap: &'static str,
    snapped: &'a [(i64, i64)],
    distributed: &'a [bool],
    fits: bool,
    parts: Vec<Part<'a>>,
    total: Sum,
    not_kept: u64,
    statements: Vec<Line<'a>>,
    by_process: Vec<ByProcess>,
}

#[derive(Serialize)]
struct Part<'a> {
    process: u32,
    bounds: &'a [(i64, i64)],
    selected: &'a [(i64, i64)],
}

#[derive(Serialize)]
struct Sum {
    accesses: u64,
    bytes: u64,
    time_ns: i64,
    selected_elements: u64,
    elements: u64,
    perhaps: Perhaps,
}

#[derive(Serialize)]
struct Perhaps {
    selected_elements: u64,
    accesses: u64,
    bytes: u64,
    time_ns: i64,
}

#[derive(Serialize)]
struct Line<'a> {
    verb: &'a str,
    kind: &'static str,
    function: &'a str,
    file: &'a str,
    line: u32,
    pattern: Option<&'static str>,
    #[serde(flatten)]
    sum: Sum,
    sections: Option<Vec<Section>>,
}

#[derive(Serialize)]
struct ByProcess {
    process: u32,
    local: Sum,
    remote: Sum,
    asked: Sum,
}

impl From<Selected> for Sum {
    fn from(it: Selected) -> Self {
        let AccessSum { accesses, bytes, time } = it.perhaps;
        Self {
            accesses: it.met.accesses,
            bytes: it.met.bytes,
            time_ns: it.met.time.0,
            selected_elements: it.inside,
            elements: it.elements,
            perhaps: Perhaps { selected_elements: it.perhaps_inside, accesses, bytes, time_ns: time.0 },
        }
    }
}

impl<'a> Json<'a> {
    pub(super) fn new(trace: &dyn Trace, it: &'a Selection<'a>) -> Self {
        let sections = Sections::new(Some(&it.sections));
        let part = |part: &'a ArrayPart| {
            let selected = it.snapped.pieces.get(&part.process)?;
            Some(Part { process: part.process.0, bounds: &part.bounds, selected })
        };
        let line = |(statement, selected): &'a (Statement, Selected)| Line {
            verb: &statement.verb,
            kind: statement.kind.name(),
            function: &statement.function,
            file: &statement.file,
            line: statement.line,
            pattern: statement.pattern(trace).map(|pattern| pattern.name()),
            sum: (*selected).into(),
            sections: sections.of(it.array, statement),
        };
        let process = |(process, costs): (&ProcessId, &marey_analyze::SelectedProcess)| ByProcess {
            process: process.0,
            local: costs.local.into(),
            remote: costs.remote.into(),
            asked: costs.asked.into(),
        };
        Self {
            array: &it.array.name,
            section: &it.asked.section,
            processes: it.asked.processes.as_ref().map(|all| all.iter().map(|process| process.0).collect()),
            snap: it.snap.name(),
            snapped: &it.snapped.section,
            distributed: &it.snapped.distributed,
            fits: it.snapped.fits,
            parts: it.parts.iter().filter_map(part).collect(),
            total: it.costs.total.into(),
            not_kept: it.not_kept,
            statements: it.costs.statements.iter().map(line).collect(),
            by_process: it.costs.processes.iter().map(process).collect(),
        }
    }
}
