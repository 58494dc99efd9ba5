//! Lists of what both witnesses know: functions, types, sources.
//!
//! The one idea: first what is in the binary, by its size; behind that what the text alone knows, since the compiler has
//! dropped it or the binary was not asked.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use marey_source::database::{Callee, Function};

use super::Page;
use super::kinds::{function_kind, kind, written_kind};
use crate::format;
use crate::paint::{Look, harmless, shorten, title};
use crate::table::{self, Cell, Side, Table};

impl Page<'_> {
    /// Who knows something, where two were asked.
    fn known(&self, binary: bool, text: bool) -> Cell {
        let word = match (binary, text) {
            (true, true) => "both",
            (true, false) => "binary",
            (false, _) => "text",
        };
        Cell::new(Look::Faint, if self.it.has_both() { word } else { "" })
    }

    /// Those with the most code first, and how often they are called.
    pub(super) fn functions(&mut self) -> io::Result<()> {
        if !self.it.has_binary() {
            return self.functions_of_text();
        }
        let remark = if self.it.has_both() {
            "by the size of their code, without what was inlined elsewhere; behind them those that only the text knows; \
             callers and callees are functions, not calls"
        } else {
            "by the size of their code, without what was inlined elsewhere; callers and callees are \
             functions, not calls"
        };
        title(self.out, self.paint, "FUNCTIONS", remark)?;
        let it = &self.it.binary;
        let mut callers: BTreeMap<u32, u64> = BTreeMap::new();
        let mut callees: BTreeMap<u32, u64> = BTreeMap::new();
        let mut pairs: Vec<(u32, Callee)> = it.calls.iter().map(|call| (call.caller, call.callee)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for (caller, callee) in pairs {
            *callees.entry(caller).or_default() += 1;
            if let Callee::Function(callee) = callee {
                *callers.entry(callee).or_default() += 1;
            }
        }
        let mut rows: Vec<(u32, &Function)> = (0..).zip(&it.functions).collect();
        rows.sort_by_key(|(row, function)| (Reverse(function.code_bytes), it.text(function.name), *row));
        let mut table = Table::new(&[
            ("function", Side::Left),
            ("at", Side::Left),
            ("to", Side::Right),
            ("code", Side::Right),
            ("callers", Side::Right),
            ("callees", Side::Right),
            (if self.it.has_both() { "known to" } else { "" }, Side::Left),
        ])
        .can_spare(&["callees", "callers", "to"]);
        for (row, function) in rows.iter().take(self.top) {
            let of = |sums: &BTreeMap<u32, u64>| format::count(sums.get(row).copied().unwrap_or(0));
            let written = self.it.written(*row);
            let last = written.map(|row| self.it.text.functions[row as usize].lines.last);
            table.row([
                self.name(function.name).into(),
                self.place(function.place),
                Cell::new(Look::Faint, last.map_or_else(String::new, |last| last.to_string())),
                if function.entries.is_empty() {
                    "inlined".into()
                } else {
                    format::bytes(function.code_bytes).into()
                },
                of(&callers).into(),
                of(&callees).into(),
                self.known(true, written.is_some()),
            ]);
        }
        let alone = self.it.functions_of_text();
        for row in alone.iter().take(self.top.saturating_sub(rows.len())) {
            let function = &self.it.text.functions[*row as usize];
            table.row([
                self.written(function.name).into(),
                self.at(function.file, function.line),
                Cell::new(Look::Faint, function.lines.last.to_string()),
                "none".into(),
                "".into(),
                "".into(),
                self.known(false, true),
            ]);
        }
        table.print(self.out, self.paint)?;
        let more = (rows.len() + alone.len()).saturating_sub(self.top);
        table::more(self.out, self.paint, more, "function", "functions")
    }

    fn functions_of_text(&mut self) -> io::Result<()> {
        let remark = "the longest first; calls are places in the text that call something, loops those that lie in the \
                      function";
        title(self.out, self.paint, "FUNCTIONS", remark)?;
        let it = &self.it.text;
        let mut calls: BTreeMap<u32, u64> = BTreeMap::new();
        let mut loops: BTreeMap<u32, u64> = BTreeMap::new();
        it.calls.iter().filter_map(|call| call.caller).for_each(|row| *calls.entry(row).or_default() += 1);
        it.loops.iter().filter_map(|it| it.function).for_each(|row| *loops.entry(row).or_default() += 1);
        let len = |row: &u32| {
            let lines = it.functions[*row as usize].lines;
            u64::from(lines.last - lines.first) + 1
        };
        let mut rows: Vec<u32> = (0..).zip(&it.functions).map(|(row, _)| row).collect();
        rows.sort_by_key(|row| (Reverse(len(row)), *row));
        let mut table = Table::new(&[
            ("function", Side::Left),
            ("kind", Side::Left),
            ("at", Side::Left),
            ("to", Side::Right),
            ("lines", Side::Right),
            ("loops", Side::Right),
            ("calls", Side::Right),
        ])
        .can_spare(&["kind", "to"]);
        for row in rows.iter().take(self.top) {
            let function = &it.functions[*row as usize];
            let of = |sums: &BTreeMap<u32, u64>| format::count(sums.get(row).copied().unwrap_or(0));
            table.row([
                self.written(function.name).into(),
                function_kind(function.kind).into(),
                self.at(function.file, function.line),
                Cell::new(Look::Faint, function.lines.last.to_string()),
                format::count(len(row)).into(),
                of(&loops).into(),
                of(&calls).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "function", "functions")
    }

    pub(super) fn types(&mut self) -> io::Result<()> {
        title(self.out, self.paint, "TYPES", "by name, with the types that they are derived from")?;
        let (it, text) = (&self.it.binary, &self.it.text);
        let mut table = Table::new(&[
            ("type", Side::Left),
            ("kind", Side::Left),
            ("derived from", Side::Left),
            ("at", Side::Left),
            (if self.it.has_binary() { "size" } else { "" }, Side::Right),
            ("members", Side::Right),
            (if self.it.has_both() { "known to" } else { "" }, Side::Left),
        ])
        .can_spare(&["kind", "members"]);
        let mut members: BTreeMap<u32, u64> = BTreeMap::new();
        it.members.iter().for_each(|member| *members.entry(member.of).or_default() += 1);
        let mut bases: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for base in &it.bases {
            bases.entry(base.derived).or_default().push(self.name(it.types[base.base as usize].name));
        }
        let mut rows: Vec<(&str, [Cell; 7])> = Vec::new();
        for (row, of) in (0..).zip(&it.types) {
            let cells = [
                self.name(of.name).into(),
                kind(of.kind).into(),
                shorten(&bases.get(&row).map(|bases| bases.join(", ")).unwrap_or_default(), 40).into(),
                self.place(of.place),
                of.bytes.map_or_else(String::new, format::bytes).into(),
                format::count(members.get(&row).copied().unwrap_or(0)).into(),
                self.known(true, self.it.joined.types.get(row as usize).copied().flatten().is_some()),
            ];
            rows.push((it.text(of.name), cells));
        }
        members.clear();
        text.members.iter().for_each(|member| *members.entry(member.of).or_default() += 1);
        let mut bases: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for base in &text.bases {
            if let Some(derived) = base.derived {
                bases.entry(derived).or_default().push(self.written(base.base_name));
            }
        }
        for row in self.it.types_of_text() {
            let of = &text.types[row as usize];
            let cells = [
                self.written(of.name).into(),
                written_kind(of.kind).into(),
                shorten(&bases.get(&row).map(|bases| bases.join(", ")).unwrap_or_default(), 40).into(),
                self.at(of.file, of.line),
                "".into(),
                format::count(members.get(&row).copied().unwrap_or(0)).into(),
                self.known(false, true),
            ];
            rows.push((text.text(of.name), cells));
        }
        rows.sort_by_key(|(name, _)| *name);
        let all = rows.len();
        rows.into_iter().take(self.top).for_each(|(_, cells)| table.row(cells));
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, all.saturating_sub(self.top), "type", "types")
    }

    pub(super) fn files(&mut self) -> io::Result<()> {
        let remark = if self.it.has_binary() {
            "by the code of the functions that are defined in them"
        } else {
            "the longest first; unclear are places that could not be parsed"
        };
        title(self.out, self.paint, "SOURCES", remark)?;
        let (it, text) = (&self.it.binary, &self.it.text);
        let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        let mut read: BTreeMap<&str, &marey_source::text::File> = BTreeMap::new();
        it.files.iter().for_each(|path| sums.entry(it.text(*path)).or_default().0 += 0);
        for function in &it.functions {
            let Some(place) = function.place else { continue };
            let (functions, code) = sums.entry(it.path(place)).or_default();
            *functions += 1;
            *code += function.code_bytes;
        }
        for file in &text.files {
            read.insert(text.text(file.path), file);
            sums.entry(text.text(file.path)).or_default();
        }
        if !self.it.has_binary() {
            text.functions.iter().for_each(|it| sums.entry(text.path(it.file)).or_default().0 += 1);
        }
        let mut rows: Vec<(&str, (u64, u64))> = sums.into_iter().collect();
        let lines = |path: &str| read.get(path).map_or(0, |file| file.lines);
        rows.sort_by_key(|(path, (functions, code))| {
            let lines = if self.it.has_binary() { 0 } else { lines(path) };
            (Reverse((*code, lines, *functions)), *path)
        });
        let mut table = Table::new(&[
            ("source", Side::Left),
            ("language", Side::Left),
            ("lines", Side::Right),
            ("functions", Side::Right),
            (if self.it.has_binary() { "code" } else { "" }, Side::Right),
            ("unclear", Side::Right),
        ])
        .can_spare(&["language"]);
        for (path, (functions, code)) in rows.iter().take(self.top) {
            let file = read.get(path);
            let unclear =
                file.filter(|file| file.unclear != 0).map(|file| format::count(file.unclear.into()));
            table.row([
                harmless(path).into(),
                Cell::new(Look::Faint, file.map_or("not read", |file| file.language.name())),
                file.map_or_else(String::new, |file| format::count(file.lines.into())).into(),
                format::count(*functions).into(),
                if self.it.has_binary() { format::bytes(*code) } else { String::new() }.into(),
                unclear.unwrap_or_default().into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "source", "sources")
    }
}
