//! Functions and types of one name: what they have to do with others.

use std::io;

use marey_source::database::{Access, CallKind, Callee, Member};

use super::json::member_kind;
use super::{Page, kind};
use crate::format;
use crate::paint::{Look, harmless, shorten, title};
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// More of one name are only counted.
const MOST: usize = 10;

impl Page<'_> {
    /// All that a name stands for.
    pub(super) fn about(&mut self, name: &str) -> io::Result<()> {
        let it = self.database;
        let types: Vec<u32> = (0..)
            .zip(&it.types)
            .filter(|(_, of)| is_named(it.text(of.name), name))
            .map(|(row, _)| row)
            .collect();
        let functions = (0..).zip(&it.functions).filter(|(_, of)| is_named(it.text(of.name), name));
        let functions: Vec<u32> = functions.map(|(row, _)| row).collect();
        if types.is_empty() && functions.is_empty() {
            return writeln!(self.out, "  nothing is called {}", harmless(name));
        }
        let found = types.len() + functions.len();
        for row in types.iter().take(MOST) {
            self.of_type(*row)?;
        }
        for row in functions.iter().take(MOST.saturating_sub(types.len())) {
            self.of_function(*row)?;
        }
        table::more(self.out, self.paint, found.saturating_sub(MOST), "of that name", "of that name")
    }

    fn of_function(&mut self, row: u32) -> io::Result<()> {
        let it = self.database;
        let function = &it.functions[row as usize];
        let place = function.place.map_or_else(
            || "nobody knows where it stands".to_owned(),
            |place| format!("{}:{}", harmless(it.path(place)), place.line),
        );
        let code = match function.entries.len() {
            0 => "all of its code is in its callers".to_owned(),
            1 => format!("{} of code", format::bytes(function.code_bytes)),
            copies => format!("{} of code in {copies} copies", format::bytes(function.code_bytes)),
        };
        title(self.out, self.paint, &words::function(it.text(function.name)), &format!("{place}, {code}"))?;
        let mut table = Table::new(&[
            ("", Side::Left),
            ("function", Side::Left),
            ("from line", Side::Left),
            ("calls", Side::Right),
        ]);
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
        table.print(self.out, self.paint)
    }

    fn of_type(&mut self, row: u32) -> io::Result<()> {
        let it = self.database;
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
        let mut table = Table::new(&[
            ("", Side::Left),
            ("name", Side::Left),
            ("type", Side::Left),
            ("access", Side::Left),
            ("at", Side::Left),
        ]);
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
            table.row([
                Cell::new(Look::Faint, what(member)),
                self.name(member.name).into(),
                self.name(member.type_name).replace("(unknown function)", "").into(),
                access(member.access).into(),
                self.place(member.place),
            ]);
        }
        table.print(self.out, self.paint)
    }
}

/// Whether a name, with all that it lies in, is meant by one that may leave some of that out.
fn is_named(full: &str, name: &str) -> bool {
    let without_arguments = |text: &'_ str| text.split('<').next().unwrap_or_default().to_owned();
    [full.to_owned(), without_arguments(full)]
        .iter()
        .any(|full| full.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with("::")))
}

fn what(member: &Member) -> String {
    let kind = member_kind(member.kind);
    let marks = [(member.is_virtual, "virtual "), (member.is_inline, "inline ")];
    let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    format!("{marks}{kind}")
}

pub(super) fn access(access: Access) -> &'static str {
    match access {
        Access::Public => "public",
        Access::Protected => "protected",
        Access::Private => "private",
    }
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
