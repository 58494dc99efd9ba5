//! Lists of what only the text knows: loops, constructs of parallel programming models, and calls as they are written.
//!
//! The one idea: a nest is read as it is written, from the outside inwards, so loops keep the order of the text, and what
//! lies in another one is set in.

use std::collections::BTreeMap;
use std::io;

use marey_source::database::Callee;
use marey_source::text::{CallKind, Dependence, Lines};

use super::Page;
use super::kinds::{call_kind, does, loop_kind, model};
use crate::format;
use crate::paint::{Look, harmless, note, shorten, title};
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// Other ends of a reference that a row has.
const ENDS: usize = 2;

impl Page<'_> {
    /// `4–9` in `solver.c:4–9`.
    pub(super) fn span(&self, file: u32, lines: Lines) -> Cell {
        let place = words::place(self.it.text.path(file), lines.first);
        let last = if lines.last == lines.first { String::new() } else { format!("–{}", lines.last) };
        Cell::new(Look::Faint, shorten(&format!("{place}{last}"), 40))
    }

    /// The function of the text that something lies in.
    pub(super) fn around(&self, row: Option<u32>) -> String {
        row.and_then(|row| self.it.text.functions.get(row as usize))
            .map_or_else(String::new, |it| self.written(it.name))
    }

    /// How many constructs there are of each model.
    pub(super) fn models(&self) -> Vec<String> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        self.it.text.constructs.iter().for_each(|it| *sums.entry(model(it.model)).or_default() += 1);
        sums.into_iter().map(|(model, number)| format!("{} {model}", format::count(number))).collect()
    }

    /// Says so where no text was read.
    fn needs_text(&mut self) -> io::Result<bool> {
        if self.it.text.files.is_empty() {
            note(self.out, self.paint, "no sources could be read, and only they know this")?;
        }
        Ok(self.it.text.files.is_empty())
    }

    pub(super) fn loops(&mut self) -> io::Result<()> {
        title(
            self.out,
            self.paint,
            "LOOPS",
            "in the order of the text; those that lie in another are set in",
        )?;
        if self.needs_text()? {
            return Ok(());
        }
        let it = &self.it.text;
        let mut table = Table::new(&[
            ("loop", Side::Left),
            ("at", Side::Left),
            ("lines", Side::Right),
            ("depth", Side::Right),
            ("in", Side::Left),
        ]);
        for of in it.loops.iter().take(self.top) {
            // Deeper ones are few, and would push all else aside.
            let indent = "  ".repeat((of.depth as usize).saturating_sub(1).min(8));
            table.row([
                format!("{indent}{}", loop_kind(of.kind)).into(),
                self.span(of.file, of.lines),
                format::count(u64::from(of.lines.last - of.lines.first) + 1).into(),
                of.depth.to_string().into(),
                self.around(of.function).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, it.loops.len().saturating_sub(self.top), "loop", "loops")
    }

    pub(super) fn constructs(&mut self) -> io::Result<()> {
        let remark =
            "in the order of the text, each with the lines that it governs; in a loop says where that begins";
        title(self.out, self.paint, "PARALLEL CONSTRUCTS", remark)?;
        if self.needs_text()? {
            return Ok(());
        }
        let it = &self.it.text;
        let mut table = Table::new(&[
            ("model", Side::Left),
            ("construct", Side::Left),
            ("at", Side::Left),
            ("in", Side::Left),
            ("in a loop", Side::Right),
        ]);
        for of in it.constructs.iter().take(self.top) {
            let within = of.within.and_then(|row| it.loops.get(row as usize));
            table.row([
                model(of.model).into(),
                shorten(&harmless(it.text(of.text)), 48).into(),
                self.span(of.file, of.lines),
                self.around(of.function).into(),
                within.map_or_else(String::new, |it| it.lines.first.to_string()).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(
            self.out,
            self.paint,
            it.constructs.len().saturating_sub(self.top),
            "construct",
            "constructs",
        )
    }

    pub(super) fn references(&mut self) -> io::Result<()> {
        let remark = "what is asked of other images, in the order of the text; moved by: the loop whose variable says which \
                      elements, or which image; needs, feeds: where its elements are written, or read, the nearest first";
        title(self.out, self.paint, "REFERENCES TO OTHER IMAGES", remark)?;
        if self.needs_text()? {
            return Ok(());
        }
        let it = &self.it.text;
        if it.references.is_empty() {
            let text = "none: no coarray of these sources is referred to by the image that has it";
            return note(self.out, self.paint, text);
        }
        let mut table = Table::new(&[
            ("reference", Side::Left),
            ("does", Side::Left),
            ("at", Side::Left),
            ("in loop", Side::Left),
            ("moved by", Side::Left),
            ("needs, feeds", Side::Left),
        ]);
        let lines = |row: Option<u32>| {
            let found = row.and_then(|row| it.loops.get(row as usize));
            found.map_or_else(String::new, |it| format!("{}–{}", it.lines.first, it.lines.last))
        };
        for of in it.references.iter().take(self.top) {
            let mut moved = lines(of.moved_by);
            if of.turned_by.is_some() {
                let image = format!("image by {}", lines(of.turned_by));
                moved = if moved.is_empty() { image } else { format!("{moved}, {image}") };
            }
            let mut ends: Vec<String> = of.dependences.iter().take(ENDS).map(|end| self.end(end)).collect();
            if of.dependences.len() > ENDS {
                ends.push("…".to_owned());
            }
            table.row([
                shorten(&harmless(it.text(of.text)), 40).into(),
                does(of).into(),
                self.at(of.file, of.line),
                lines(of.within).into(),
                moved.into(),
                ends.join("; ").into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        let more = it.references.len().saturating_sub(self.top);
        table::more(self.out, self.paint, more, "reference", "references")
    }

    /// `u(i) at 24, 1 iteration of 10–30 before`.
    fn end(&self, end: &Dependence) -> String {
        let it = &self.it.text;
        let what = format!("{} at {}", shorten(&harmless(it.text(end.other)), 32), end.line);
        let Some(carried) = end.carried.and_then(|row| it.loops.get(row as usize)) else { return what };
        let side = if end.is_sink { "before" } else { "after" };
        let of = format!("{}–{}", carried.lines.first, carried.lines.last);
        match end.distance {
            Some(1) => format!("{what}, an iteration of {of} {side}"),
            Some(more) => format!("{what}, {more} iterations of {of} {side}"),
            None => format!("{what}, iterations of {of} {side}"),
        }
    }

    /// Calls of the binary, then those that only the text knows.
    pub(super) fn calls(&mut self) -> io::Result<()> {
        let remark = "where each is, and how its callee is named; what a member or an expression leads to is known when \
                      the program runs";
        title(self.out, self.paint, "CALLS", remark)?;
        let (it, text) = (&self.it.binary, &self.it.text);
        let mut table = Table::new(&[
            ("caller", Side::Left),
            ("callee", Side::Left),
            ("from line", Side::Left),
            ("how", Side::Left),
            ("times", Side::Right),
            (if self.it.has_both() { "known to" } else { "" }, Side::Left),
        ]);
        let known = |word: &'static str| Cell::new(Look::Faint, if self.it.has_both() { word } else { "" });
        for (call, written) in it.calls.iter().zip(&self.it.joined.calls).take(self.top) {
            let callee = match call.callee {
                Callee::Function(row) => self.name(it.functions[row as usize].name),
                Callee::Named(name) => shorten(&words::function(&it.readable(name)), 56),
                Callee::Unknown => "(whatever an address says)".to_owned(),
            };
            let how = match call.kind {
                marey_source::database::CallKind::Called => "called",
                marey_source::database::CallKind::Inlined => "inlined",
            };
            table.row([
                self.name(it.functions[call.caller as usize].name).into(),
                callee.into(),
                self.place(call.place),
                how.into(),
                format::count(call.times.into()).into(),
                known(if written.is_some() { "both" } else { "binary" }),
            ]);
        }
        let alone = self.it.calls_of_text();
        for row in alone.iter().take(self.top.saturating_sub(it.calls.len())) {
            let call = &text.calls[*row as usize];
            table.row([
                self.around(call.caller).into(),
                self.callee(call).into(),
                self.at(call.file, call.line),
                call_kind(call.kind).into(),
                "".into(),
                known("text"),
            ]);
        }
        table.print(self.out, self.paint)?;
        let more = (it.calls.len() + alone.len()).saturating_sub(self.top);
        table::more(self.out, self.paint, more, "call", "calls")
    }

    /// The callee of a call of the text.
    pub(super) fn callee(&self, call: &marey_source::text::Call) -> String {
        let name = self.written(call.name);
        match call.kind {
            CallKind::Unknown => "(whatever an expression says)".to_owned(),
            CallKind::Macro => format!("{name}!"),
            CallKind::Member => format!(".{name}"),
            CallKind::Direct => name,
        }
    }
}
