//! Functions and types of one name: what they have to do with others.

use std::io;

use marey_source::database::{CallKind, Callee, MemberKind};
use marey_source::text::Lines;

use super::Page;
use super::kinds::{access, base_kind, function_kind, kind, loop_kind, member_kind, model, written_kind};
use crate::format;
use crate::paint::{Look, harmless, shorten, title};
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// More of one name are only counted.
const MOST: usize = 10;

/// What a name stands for.
enum Meant {
    Type(u32),
    WrittenType(u32),
    Function(u32),
    WrittenFunction(u32),
}

impl Page<'_> {
    /// All that a name stands for.
    pub(super) fn about(&mut self, name: &str) -> io::Result<()> {
        let (it, text) = (&self.it.binary, &self.it.text);
        let mut meant: Vec<Meant> = Vec::new();
        let types = (0..).zip(&it.types).filter(|(_, of)| is_named(it.text(of.name), name));
        meant.extend(types.map(|(row, _)| Meant::Type(row)));
        let types = self.it.types_of_text();
        let is_meant = |row: &u32| is_named(text.text(text.types[*row as usize].name), name);
        meant.extend(types.into_iter().filter(is_meant).map(Meant::WrittenType));
        let functions = (0..).zip(&it.functions).filter(|(_, of)| is_named(it.text(of.name), name));
        meant.extend(functions.map(|(row, _)| Meant::Function(row)));
        let functions = self.it.functions_of_text();
        let is_meant = |row: &u32| is_named(text.text(text.functions[*row as usize].name), name);
        meant.extend(functions.into_iter().filter(is_meant).map(Meant::WrittenFunction));
        if meant.is_empty() {
            return writeln!(self.out, "  nothing is called {}", harmless(name));
        }
        let found = meant.len();
        for meant in meant.into_iter().take(MOST) {
            match meant {
                Meant::Type(row) => self.of_type(row)?,
                Meant::WrittenType(row) => self.of_written_type(row)?,
                Meant::Function(row) => self.of_function(row)?,
                Meant::WrittenFunction(row) => self.of_written_function(row)?,
            }
        }
        table::more(self.out, self.paint, found.saturating_sub(MOST), "of that name", "of that name")
    }

    fn of_function(&mut self, row: u32) -> io::Result<()> {
        let it = &self.it.binary;
        let function = &it.functions[row as usize];
        let written = self.it.written(row);
        let last = written.map(|row| self.it.text.functions[row as usize].lines.last);
        let last = last.map_or_else(String::new, |last| format!("–{last}"));
        let place = function.place.map_or_else(
            || "nobody knows where it stands".to_owned(),
            |place| format!("{}:{}{last}", harmless(it.path(place)), place.line),
        );
        let code = match function.entries.len() {
            0 => "all of its code is in its callers".to_owned(),
            1 => format!("{} of code", format::bytes(function.code_bytes)),
            copies => format!("{} of code in {copies} copies", format::bytes(function.code_bytes)),
        };
        title(self.out, self.paint, &words::function(it.text(function.name)), &format!("{place}, {code}"))?;
        let mut table = calls_table();
        let callers = it.calls.iter().filter(|call| call.callee == Callee::Function(row));
        for call in callers.take(self.top) {
            let caller = self.name(it.functions[call.caller as usize].name);
            let head = match call.kind {
                CallKind::Called => "called by",
                CallKind::Inlined => "inlined in",
            };
            table.row([
                Cell::new(Look::Faint, head),
                caller.into(),
                self.place(call.place),
                format::count(call.times.into()).into(),
            ]);
        }
        for call in it.calls.iter().filter(|call| call.caller == row).take(self.top) {
            let callee = match call.callee {
                Callee::Function(callee) => self.name(it.functions[callee as usize].name),
                Callee::Named(name) => shorten(&words::function(&it.readable(name)), 56),
                Callee::Unknown => "(whatever an address says)".to_owned(),
            };
            let head = match call.kind {
                CallKind::Called => "calls",
                CallKind::Inlined => "has inlined",
            };
            table.row([
                Cell::new(Look::Faint, head),
                callee.into(),
                self.place(call.place),
                format::count(call.times.into()).into(),
            ]);
        }
        if let Some(written) = written {
            self.inside(&mut table, written);
        }
        table.print(self.out, self.paint)
    }

    /// Loops and constructs that lie in a function of the text.
    fn inside(&self, table: &mut Table, row: u32) {
        let text = &self.it.text;
        for it in text.loops.iter().filter(|it| it.function == Some(row)).take(self.top) {
            let indent = "  ".repeat((it.depth as usize).saturating_sub(1).min(8));
            table.row([
                Cell::new(Look::Faint, "loop"),
                format!("{indent}{}", loop_kind(it.kind)).into(),
                self.span(it.file, it.lines),
                "".into(),
            ]);
        }
        for it in text.constructs.iter().filter(|it| it.function == Some(row)).take(self.top) {
            table.row([
                Cell::new(Look::Faint, model(it.model)),
                shorten(&harmless(text.text(it.text)), 56).into(),
                self.span(it.file, it.lines),
                "".into(),
            ]);
        }
    }

    /// A function that only the text knows: its callers are those that write its name.
    fn of_written_function(&mut self, row: u32) -> io::Result<()> {
        let text = &self.it.text;
        let function = &text.functions[row as usize];
        let attributes: Vec<&str> = function.attributes.words().collect();
        let attributes =
            if attributes.is_empty() { String::new() } else { format!("{} ", attributes.join(" ")) };
        let place = harmless(text.path(function.file));
        let remark = format!(
            "{attributes}{}, {place}:{}, as the text tells",
            function_kind(function.kind),
            span(function.lines)
        );
        title(self.out, self.paint, &words::function(text.text(function.name)), &remark)?;
        let mut table = calls_table();
        let is_same = |name: &str| {
            let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_owned();
            let (name, full) = (last(name), last(text.text(function.name)));
            if text.files[function.file as usize].language.ignores_case() {
                name.eq_ignore_ascii_case(&full)
            } else {
                name == full
            }
        };
        for call in text.calls.iter().filter(|call| is_same(text.text(call.name))).take(self.top) {
            let caller = self.around(call.caller);
            table.row([
                Cell::new(Look::Faint, "named by"),
                caller.into(),
                self.at(call.file, call.line),
                "".into(),
            ]);
        }
        for call in text.calls.iter().filter(|call| call.caller == Some(row)).take(self.top) {
            table.row([
                Cell::new(Look::Faint, "calls"),
                self.callee(call).into(),
                self.at(call.file, call.line),
                "".into(),
            ]);
        }
        self.inside(&mut table, row);
        table.print(self.out, self.paint)
    }

    fn of_type(&mut self, row: u32) -> io::Result<()> {
        let it = &self.it.binary;
        let of = &it.types[row as usize];
        let place = of
            .place
            .map_or_else(String::new, |place| format!(", {}:{}", harmless(it.path(place)), place.line));
        let size = of.bytes.map_or_else(String::new, |bytes| format!(", {}", format::bytes(bytes)));
        title(
            self.out,
            self.paint,
            &words::function(it.text(of.name)),
            &format!("{}{place}{size}", kind(of.kind)),
        )?;
        let mut table = members_table();
        for base in &it.bases {
            let mark = if base.is_virtual { "virtual base" } else { "base" };
            let (head, other) = match (base.derived == row, base.base == row) {
                (true, _) => (mark, base.base),
                (false, true) => ("derived", base.derived),
                (false, false) => continue,
            };
            let other = &it.types[other as usize];
            table.row([
                Cell::new(Look::Faint, head),
                self.name(other.name).into(),
                "".into(),
                access(base.access).into(),
                self.place(other.place),
            ]);
        }
        for member in it.members.iter().filter(|member| member.of == row) {
            let marks = [(member.is_virtual, "virtual"), (member.is_inline, "inline")];
            let marks = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark);
            table.row([
                Cell::new(Look::Faint, what(marks, member.kind)),
                self.name(member.name).into(),
                self.name(member.type_name).replace("(unknown function)", "").into(),
                access(member.access).into(),
                self.place(member.place),
            ]);
        }
        table.print(self.out, self.paint)
    }

    fn of_written_type(&mut self, row: u32) -> io::Result<()> {
        let text = &self.it.text;
        let of = &text.types[row as usize];
        let remark = format!(
            "{}, {}:{}, as the text tells",
            written_kind(of.kind),
            harmless(text.path(of.file)),
            span(of.lines)
        );
        title(self.out, self.paint, &words::function(text.text(of.name)), &remark)?;
        let mut table = members_table();
        for base in &text.bases {
            let (head, other) = match (base.derived == Some(row), base.base == Some(row)) {
                (true, _) if base.is_virtual => ("virtual base", base.base_name),
                (true, _) => (base_kind(base.kind), base.base_name),
                (false, true) => ("derived", base.derived_name),
                (false, false) => continue,
            };
            table.row([
                Cell::new(Look::Faint, head),
                self.written(other).into(),
                "".into(),
                access(base.access).into(),
                self.at(base.file, base.line),
            ]);
        }
        for member in text.members.iter().filter(|member| member.of == row) {
            let of_type = text.text(member.type_name).split_whitespace().collect::<Vec<_>>().join(" ");
            table.row([
                Cell::new(Look::Faint, what(member.attributes.words(), member.kind)),
                self.written(member.name).into(),
                shorten(&harmless(&of_type), 56).into(),
                access(member.access).into(),
                self.at(member.file, member.line),
            ]);
        }
        table.print(self.out, self.paint)
    }
}

/// `4–9`, or the only line.
fn span(lines: Lines) -> String {
    if lines.first == lines.last {
        lines.first.to_string()
    } else {
        format!("{}–{}", lines.first, lines.last)
    }
}

fn calls_table() -> Table {
    Table::new(&[
        ("", Side::Left),
        ("function", Side::Left),
        ("from line", Side::Left),
        ("calls", Side::Right),
    ])
}

fn members_table() -> Table {
    Table::new(&[
        ("", Side::Left),
        ("name", Side::Left),
        ("type", Side::Left),
        ("access", Side::Left),
        ("at", Side::Left),
    ])
}

/// Whether a name, with all that it lies in, is meant by one that may leave some of that out.
pub(super) fn is_named(full: &str, name: &str) -> bool {
    let without_arguments = |text: &'_ str| text.split('<').next().unwrap_or_default().to_owned();
    [full.to_owned(), without_arguments(full)]
        .iter()
        .any(|full| full.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with("::")))
}

fn what<'w>(marks: impl Iterator<Item = &'w str>, kind: MemberKind) -> String {
    marks.chain([member_kind(kind)]).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    fn a_name_may_leave_out_what_it_lies_in() {
        for name in ["a::b::step", "b::step", "step"] {
            assert!(is_named("a::b::step", name), "{name}");
        }
        assert!(is_named("a::twice<int>", "twice") && is_named("a::twice<int>", "twice<int>"));
        assert!(!is_named("a::misstep", "step") && !is_named("a::step::b", "step"));
    }
}
