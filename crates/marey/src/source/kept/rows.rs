//! Rows of the archive's tables, from the program databases of several modules.
//!
//! The one idea: what `marey source --json` numbers for one module gets the numbers of all, and what two modules have of one
//! source, a header's loops, is one row.

use std::collections::BTreeMap;

use marey_archive::schema::{
    NONE, SOURCE_BASES, SOURCE_CALLS, SOURCE_CONSTRUCTS, SOURCE_DEPENDENCES, SOURCE_FILES, SOURCE_FUNCTIONS,
    SOURCE_LOOPS, SOURCE_MEMBERS, SOURCE_MODULES, SOURCE_REFERENCES, SOURCE_SYMBOLS, SOURCE_TYPES,
    SOURCE_VERSION, TableSpec,
};
use marey_archive::{Columns, Error, Value};
use marey_source::database::Callee;

use super::is_of_system;
use super::module::Module;
use crate::format;
use crate::source::json::{self, Json};

/// More rows are not kept of a table.
const MOST_ROWS: usize = 1 << 21;

/// A source of the program.
struct File {
    path: String,
    state: &'static str,
    language: &'static str,
    lines: u32,
    unclear: u32,
    is_of_system: bool,
}

/// What is to be kept.
#[derive(Default)]
pub(super) struct Rows {
    files: Vec<File>,
    file_ids: BTreeMap<String, u32>,
    /// By file, first and last line, and depth.
    loop_ids: BTreeMap<(u32, u32, u32, u32), u32>,
    n_functions: u32,
    n_types: u32,
    n_references: u32,
    n_symbols: u32,
    tables: BTreeMap<&'static str, Columns>,
    /// Rows for which a table had no room.
    left_out: BTreeMap<&'static str, u64>,
}

impl Rows {
    /// Adds what a module consists of.
    pub(super) fn add(&mut self, module: &Module) -> Result<(), Error> {
        let json = Json::new(&module.it);
        let first = json.problems.first().map_or("", String::as_str);
        self.push(
            &SOURCE_MODULES,
            &[
                Value::U32(module.id),
                Value::U32(SOURCE_VERSION),
                Value::U32(json.has_debug_information.into()),
                Value::U32(json.has_calls.into()),
                Value::Text(first),
            ],
        )?;
        let known: Vec<bool> = json.files.iter().map(|path| self.is_read(path)).collect();
        let files = self.add_files(module, &json);
        let numbers = Numbers::new(&json, files, (self.n_functions, self.n_types), self);
        self.n_functions = numbers.next_function;
        self.n_types = numbers.next_type;
        self.add_functions(module.id, &json, &numbers)?;
        self.add_types(module.id, &json, &numbers)?;
        let loops = self.add_loops(&json, &numbers)?;
        // What another module has told of the same text is told.
        let constructs = json.constructs.iter().filter(|it| !known[it.file as usize]);
        for it in constructs {
            self.push(
                &SOURCE_CONSTRUCTS,
                &[
                    Value::Text(it.model),
                    Value::Text(it.text),
                    Value::U32(numbers.file(Some(it.file))),
                    Value::U32(it.first_line),
                    Value::U32(it.last_line),
                    Value::U32(numbers.function(it.function)),
                    Value::U32(place(&loops, it.within)),
                ],
            )?;
        }
        self.add_references(&json, &numbers, &loops, &known)?;
        self.add_calls(module, &json, &numbers, &loops)
    }

    /// References to other images, of sources that no other module has told of.
    fn add_references(
        &mut self,
        json: &Json<'_>,
        numbers: &Numbers,
        loops: &[u32],
        known: &[bool],
    ) -> Result<(), Error> {
        for it in json.references.iter().filter(|it| !known[it.file as usize]) {
            let id = self.n_references;
            self.n_references += 1;
            self.push(
                &SOURCE_REFERENCES,
                &[
                    Value::U32(id),
                    Value::Text(it.array),
                    Value::Text(it.text),
                    Value::Text(it.image),
                    Value::Text(it.does),
                    Value::U32(numbers.file(Some(it.file))),
                    Value::U32(it.line),
                    Value::U32(numbers.function(it.function)),
                    Value::U32(place(loops, it.within)),
                    Value::U32(place(loops, it.moved_by)),
                    Value::U32(place(loops, it.turned_by)),
                ],
            )?;
            for symbol in &it.symbols {
                let value = symbol.value.map_or_else(String::new, |value| value.to_string());
                self.push(
                    &SOURCE_SYMBOLS,
                    &[
                        Value::U32(self.n_symbols),
                        Value::U32(id),
                        Value::U32(it.subscripts),
                        Value::Text(symbol.end),
                        Value::U32(symbol.subscript),
                        Value::Text(symbol.text),
                        Value::Text(&value),
                    ],
                )?;
                self.n_symbols += 1;
            }
            for end in &it.ends {
                self.push(
                    &SOURCE_DEPENDENCES,
                    &[
                        Value::U32(id),
                        Value::Text(end.end),
                        Value::Text(end.text),
                        Value::U32(end.line),
                        Value::U32(place(loops, end.carried_by)),
                        Value::I64(end.iterations.unwrap_or(0)),
                    ],
                )?;
            }
        }
        Ok(())
    }

    /// All tables, those without rows too: a run that is merged again has none of before.
    pub(super) fn tables(&self) -> Vec<Columns> {
        let mut files = Columns::new(&SOURCE_FILES);
        for (id, it) in (0..).zip(&self.files) {
            let row = [
                Value::U32(id),
                Value::Text(&it.path),
                Value::Text(it.state),
                Value::Text(it.language),
                Value::U32(it.lines),
                Value::U32(it.unclear),
                Value::U32(it.is_of_system.into()),
            ];
            files.push(&row).expect("the row is as the table says");
        }
        let others: [&'static TableSpec; 11] = [
            &SOURCE_MODULES,
            &SOURCE_FUNCTIONS,
            &SOURCE_TYPES,
            &SOURCE_MEMBERS,
            &SOURCE_BASES,
            &SOURCE_LOOPS,
            &SOURCE_CONSTRUCTS,
            &SOURCE_REFERENCES,
            &SOURCE_DEPENDENCES,
            &SOURCE_SYMBOLS,
            &SOURCE_CALLS,
        ];
        let of = |spec: &'static TableSpec| {
            self.tables.get(spec.name).cloned().unwrap_or_else(|| Columns::new(spec))
        };
        std::iter::once(files).chain(others.into_iter().map(of)).collect()
    }

    /// Files that were read, by their numbers.
    pub(super) fn read_files(&self) -> Vec<(u32, &str)> {
        let read = (0..).zip(&self.files).filter(|(_, it)| it.state == "read");
        read.map(|(id, it)| (id, it.path.as_str())).collect()
    }

    /// What there was no room for, in words.
    pub(super) fn problems(&self) -> Vec<String> {
        let words = |(table, left_out): (&&str, &u64)| {
            let rows = format::counted(*left_out, "row");
            format!("{rows} of {table} are left out: a table has {}", format::count(MOST_ROWS as u64))
        };
        self.left_out.iter().map(words).collect()
    }

    fn push(&mut self, spec: &'static TableSpec, row: &[Value<'_>]) -> Result<(), Error> {
        self.push_within(MOST_ROWS, spec, row)
    }

    fn push_within(&mut self, most: usize, spec: &'static TableSpec, row: &[Value<'_>]) -> Result<(), Error> {
        let table = self.tables.entry(spec.name).or_insert_with(|| Columns::new(spec));
        if table.len() < most {
            return table.push(row);
        }
        *self.left_out.entry(spec.name).or_default() += 1;
        Ok(())
    }

    /// The number of a file.
    pub(super) fn file_of(&self, path: &str) -> Option<u32> {
        self.file_ids.get(path).copied()
    }

    fn is_read(&self, path: &str) -> bool {
        self.file_ids.get(path).is_some_and(|id| self.files[*id as usize].state == "read")
    }

    /// The numbers of a module's files among those of all.
    fn add_files(&mut self, module: &Module, json: &Json<'_>) -> Vec<u32> {
        let texts: BTreeMap<u32, &json::File> = json.texts.iter().map(|it| (it.file, it)).collect();
        let mut ids = Vec::with_capacity(json.files.len());
        for (place, path) in (0..).zip(&json.files) {
            let text = texts.get(&place);
            let file = File {
                path: (*path).to_owned(),
                state: if text.is_some() { "read" } else { module.why_not(path) },
                language: text.map_or("", |it| it.language),
                lines: text.map_or(0, |it| it.lines),
                unclear: text.map_or(0, |it| it.unclear),
                is_of_system: is_of_system(path),
            };
            let next = u32::try_from(self.files.len()).unwrap_or(NONE);
            let id = *self.file_ids.entry(file.path.clone()).or_insert(next);
            ids.push(id);
            if id == next {
                self.files.push(file);
            } else if file.state == "read" {
                self.files[id as usize] = file;
            }
        }
        ids
    }

    fn add_functions(&mut self, module: u32, json: &Json<'_>, numbers: &Numbers) -> Result<(), Error> {
        for (row, it) in (0..).zip(&json.functions) {
            let id = numbers.function(Some(row));
            if id == NONE {
                continue;
            }
            self.push(
                &SOURCE_FUNCTIONS,
                &[
                    Value::U32(id),
                    Value::U32(module),
                    Value::Text(it.name),
                    Value::Text(it.known_to),
                    Value::Text(it.kind.unwrap_or_default()),
                    Value::Text(&it.attributes.join(",")),
                    Value::U32(numbers.type_(it.of)),
                    Value::U32(numbers.file(it.at.file)),
                    Value::U32(it.at.line.unwrap_or(0)),
                    Value::U32(it.first_line.unwrap_or(0)),
                    Value::U32(it.last_line.unwrap_or(0)),
                    Value::U32(it.inline.into()),
                    Value::I64(i64::try_from(it.code_bytes).unwrap_or(i64::MAX)),
                ],
            )?;
        }
        Ok(())
    }

    fn add_types(&mut self, module: u32, json: &Json<'_>, numbers: &Numbers) -> Result<(), Error> {
        for (row, it) in (0..).zip(&json.types) {
            let id = numbers.type_(Some(row));
            if id == NONE {
                continue;
            }
            self.push(
                &SOURCE_TYPES,
                &[
                    Value::U32(id),
                    Value::U32(module),
                    Value::Text(it.name),
                    Value::Text(it.known_to),
                    Value::Text(it.kind),
                    Value::U32(numbers.file(it.at.file)),
                    Value::U32(it.at.line.unwrap_or(0)),
                    Value::U32(it.last_line.unwrap_or(0)),
                    Value::I64(it.bytes.map_or(-1, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX))),
                ],
            )?;
            for member in &it.members {
                self.push(
                    &SOURCE_MEMBERS,
                    &[
                        Value::U32(id),
                        Value::Text(member.name),
                        Value::Text(member.kind),
                        Value::Text(member.access),
                        Value::U32(member.is_virtual.into()),
                        Value::U32(member.inline.into()),
                        Value::Text(member.of_type),
                        Value::U32(numbers.file(member.at.file)),
                        Value::U32(member.at.line.unwrap_or(0)),
                        Value::U32(numbers.function(member.function)),
                    ],
                )?;
            }
            for base in &it.bases {
                self.push(
                    &SOURCE_BASES,
                    &[
                        Value::U32(id),
                        Value::U32(numbers.type_(base.base)),
                        Value::Text(base.name),
                        Value::Text(base.kind),
                        Value::Text(base.access),
                        Value::U32(base.is_virtual.into()),
                    ],
                )?;
            }
        }
        Ok(())
    }

    /// By loop of the module, its number among those of all.
    fn add_loops(&mut self, json: &Json<'_>, numbers: &Numbers) -> Result<Vec<u32>, Error> {
        let mut ids: Vec<u32> = Vec::with_capacity(json.loops.len());
        for it in &json.loops {
            let file = numbers.file(Some(it.file));
            let next = u32::try_from(self.loop_ids.len()).unwrap_or(NONE);
            let id = *self.loop_ids.entry((file, it.first_line, it.last_line, it.depth)).or_insert(next);
            ids.push(id);
            if id != next {
                continue;
            }
            self.push(
                &SOURCE_LOOPS,
                &[
                    Value::U32(id),
                    Value::Text(it.kind),
                    Value::U32(file),
                    Value::U32(it.first_line),
                    Value::U32(it.last_line),
                    Value::U32(it.depth),
                    // Those around come first.
                    Value::U32(place(&ids, it.parent)),
                    Value::U32(numbers.function(it.function)),
                ],
            )?;
        }
        Ok(ids)
    }

    /// Calls that the user's functions make.
    fn add_calls(
        &mut self,
        module: &Module,
        json: &Json<'_>,
        numbers: &Numbers,
        loops: &[u32],
    ) -> Result<(), Error> {
        let binary = &module.it.binary;
        for (row, it) in json.calls.iter().enumerate() {
            let caller = numbers.function(it.caller);
            if caller == NONE || !numbers.is_users(it.caller) {
                continue;
            }
            // Those of the binary come first, under the names that linkers know.
            let name = binary.calls.get(row).and_then(|call| match call.callee {
                Callee::Named(name) => Some(binary.readable(name)),
                _ => None,
            });
            self.push(
                &SOURCE_CALLS,
                &[
                    Value::U32(caller),
                    Value::U32(numbers.function(it.callee)),
                    Value::Text(name.as_deref().or(it.name).unwrap_or_default()),
                    Value::Text(it.kind),
                    Value::Text(it.known_to),
                    Value::U32(numbers.file(it.at.file)),
                    Value::U32(it.at.line.unwrap_or(0)),
                    Value::U32(it.times),
                    Value::U32(place(loops, it.within)),
                ],
            )?;
        }
        Ok(())
    }
}

fn place(ids: &[u32], row: Option<u32>) -> u32 {
    row.and_then(|row| ids.get(row as usize)).copied().unwrap_or(NONE)
}

/// From the numbers of a module to those of all; what is not kept has none.
struct Numbers {
    files: Vec<u32>,
    functions: Vec<u32>,
    types: Vec<u32>,
    are_users: Vec<bool>,
    next_function: u32,
    next_type: u32,
}

impl Numbers {
    fn new(json: &Json<'_>, files: Vec<u32>, (function, type_): (u32, u32), rows: &Rows) -> Self {
        let is_users = |file: Option<u32>| {
            let id = file.and_then(|file| files.get(file as usize));
            id.is_some_and(|id| !rows.files[*id as usize].is_of_system)
        };
        let are_users: Vec<bool> = json.functions.iter().map(|it| is_users(it.at.file)).collect();
        let mut functions = are_users.clone();
        for call in &json.calls {
            let is_users = call.caller.is_some_and(|row| are_users.get(row as usize) == Some(&true));
            if let Some(callee) = call.callee.filter(|_| is_users)
                && let Some(is_kept) = functions.get_mut(callee as usize)
            {
                *is_kept = true;
            }
        }
        let mut types: Vec<bool> = json.types.iter().map(|it| is_users(it.at.file)).collect();
        let mut left: Vec<usize> = (0..types.len()).filter(|row| types[*row]).collect();
        while let Some(row) = left.pop() {
            for base in json.types[row].bases.iter().filter_map(|it| it.base) {
                if let Some(is_kept) = types.get_mut(base as usize).filter(|it| !**it) {
                    *is_kept = true;
                    left.push(base as usize);
                }
            }
        }
        let (functions, next_function) = numbered(&functions, function);
        let (types, next_type) = numbered(&types, type_);
        Self { files, functions, types, are_users, next_function, next_type }
    }

    fn file(&self, row: Option<u32>) -> u32 {
        place(&self.files, row)
    }

    fn function(&self, row: Option<u32>) -> u32 {
        place(&self.functions, row)
    }

    fn type_(&self, row: Option<u32>) -> u32 {
        place(&self.types, row)
    }

    fn is_users(&self, row: Option<u32>) -> bool {
        row.and_then(|row| self.are_users.get(row as usize)) == Some(&true)
    }
}

/// Numbers of what is kept, from a first one on.
fn numbered(is_kept: &[bool], first: u32) -> (Vec<u32>, u32) {
    let mut next = first;
    let ids = is_kept.iter().map(|kept| {
        let id = if *kept { next } else { NONE };
        next += u32::from(*kept);
        id
    });
    (ids.collect(), next)
}

#[cfg(test)]
mod tests {
    use marey_archive::schema::SOURCE_TEXTS;

    use super::*;

    #[test]
    fn rows_without_room_are_told() {
        let mut rows = Rows::default();
        let row = |number: u32| [Value::U32(number), Value::Text("int a;\n")];
        for number in 0..5 {
            rows.push_within(3, &SOURCE_TEXTS, &row(number)).unwrap();
        }
        assert_eq!(rows.tables[SOURCE_TEXTS.name].u32("file").unwrap(), [0, 1, 2]);
        let told = rows.problems();
        assert!(
            matches!(&told[..], [one] if one.starts_with("2 rows of source_texts are left out")),
            "{told:?}"
        );
    }
}
