//! From the rows of files to those of a program.
//!
//! The one idea: a name means what has it and lies nearest: in the same scope, then outwards, then anywhere if only one
//! has it. What is not found, or could be several, stays a name.

use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Sources;
use super::facts::{Call, CallKind, File, FunctionKind, MarkKind, Member, MemberKind, TypeKind};
use super::language::Language;
use super::read::Read;
use super::walk::number;
use crate::problem::Problem;
use crate::texts::Text;

/// Puts files together, in their order.
pub(super) fn merge(paths: &[PathBuf], files: Vec<Result<Read, Problem>>) -> Sources {
    let mut out = Sources::default();
    let mut references = Vec::new();
    for (path, file) in paths.iter().zip(files) {
        match file {
            Ok(read) => push(&mut out, &mut references, &path.to_string_lossy(), read),
            Err(problem) => out.problems.push(problem),
        }
    }
    let known = Known::new(&out);
    methods(&mut out, &known);
    bases(&mut out, &known);
    members(&mut out);
    calls(&mut out, references);
    out
}

/// Appends the rows of a file.
fn push(out: &mut Sources, references: &mut Vec<Call>, path: &str, read: Read) {
    let Read { language, lines, facts } = read;
    let texts: Vec<Text> = facts.texts.list().map(|text| out.texts.add(text)).collect();
    let text = |text: Text| texts.get(text.0 as usize).copied().unwrap_or_default();
    let file = number(out.files.len());
    let path = out.texts.add(path);
    let (unclear, first_unclear) = (facts.unclear, facts.first_unclear);
    out.files.push(File { path, language, lines, unclear, first_unclear });
    let (functions, types, loops) =
        (number(out.functions.len()), number(out.types.len()), number(out.loops.len()));
    let plus = |base: u32| move |row: u32| base.saturating_add(row);
    let (function, of, within) = (plus(functions), plus(types), plus(loops));
    out.functions.extend(facts.functions.into_iter().map(|mut it| {
        (it.file, it.name, it.of) = (file, text(it.name), it.of.map(of));
        it
    }));
    out.types.extend(facts.types.into_iter().map(|mut it| {
        (it.file, it.name) = (file, text(it.name));
        it
    }));
    out.members.extend(facts.members.into_iter().map(|mut it| {
        (it.file, it.name, it.type_name) = (file, text(it.name), text(it.type_name));
        (it.of, it.function) = (of(it.of), it.function.map(function));
        it
    }));
    out.bases.extend(facts.bases.into_iter().map(|mut it| {
        (it.file, it.derived_name, it.base_name) = (file, text(it.derived_name), text(it.base_name));
        it.derived = it.derived.map(of);
        it
    }));
    out.loops.extend(facts.loops.into_iter().map(|mut it| {
        (it.file, it.parent, it.function) = (file, it.parent.map(within), it.function.map(function));
        it
    }));
    out.constructs.extend(facts.constructs.into_iter().map(|mut it| {
        (it.file, it.text) = (file, text(it.text));
        (it.function, it.within) = (it.function.map(function), it.within.map(within));
        it
    }));
    out.references.extend(facts.remote.into_iter().map(|mut it| {
        (it.file, it.array, it.text, it.image) = (file, text(it.array), text(it.text), text(it.image));
        (it.function, it.within) = (it.function.map(function), it.within.map(within));
        (it.moved_by, it.turned_by) = (it.moved_by.map(within), it.turned_by.map(within));
        for symbol in &mut it.symbols {
            symbol.text = text(symbol.text);
        }
        for end in &mut it.dependences {
            (end.other, end.carried) = (text(end.other), end.carried.map(within));
        }
        it
    }));
    out.marks.extend(facts.marks.into_iter().map(|mut it| {
        it.file = file;
        if let MarkKind::Label(name)
        | MarkKind::Jump(name)
        | MarkKind::InMacro(name)
        | MarkKind::InPattern(name) = &mut it.kind
        {
            *name = text(*name);
        }
        it
    }));
    let call = |mut it: Call| {
        (it.file, it.name) = (file, text(it.name));
        (it.caller, it.within) = (it.caller.map(function), it.within.map(within));
        it
    };
    out.calls.extend(facts.calls.into_iter().map(call));
    references.extend(facts.references.into_iter().map(call));
}

/// Types by their names.
struct Known {
    full: FxHashMap<String, Vec<u32>>,
    last: FxHashMap<String, Vec<u32>>,
}

/// The last name of a path.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

impl Known {
    fn new(out: &Sources) -> Self {
        let mut known = Self { full: FxHashMap::default(), last: FxHashMap::default() };
        for (row, it) in (0..).zip(&out.types) {
            let name = key(out.files[it.file as usize].language, out.text(it.name));
            known.last.entry(last(&name).to_owned()).or_default().push(row);
            known.full.entry(name).or_default().push(row);
        }
        known
    }

    /// The one type that a name means in a scope; `None` = none, or several.
    fn find(&self, out: &Sources, name: &str, scope: &str, file: u32) -> Option<u32> {
        let language = out.files[file as usize].language;
        let (name, scope) = (key(language, name), key(language, scope));
        let mut around = scope.as_str();
        loop {
            let full = if around.is_empty() { name.clone() } else { format!("{around}::{name}") };
            if let Some(rows) = self.full.get(&full) {
                return Self::one(out, rows, file);
            }
            if around.is_empty() {
                break;
            }
            around = around.rsplit_once("::").map_or("", |(outer, _)| outer);
        }
        Self::one(out, self.last.get(last(&name))?, file)
    }

    /// The only one, or the only one of the file, that the language of the file can mean.
    fn one(out: &Sources, rows: &[u32], file: u32) -> Option<u32> {
        let of = |row: &u32| out.types[*row as usize].file;
        let family = |file: u32| match out.files[file as usize].language {
            Language::C | Language::Cpp => 0,
            Language::Fortran | Language::FixedFortran => 1,
            Language::Rust => 2,
        };
        let only = |mut rows: Vec<u32>| if rows.len() == 1 { rows.pop() } else { None };
        let same: Vec<u32> = rows.iter().copied().filter(|row| family(of(row)) == family(file)).collect();
        only(same.iter().copied().filter(|row| of(row) == file).collect()).or_else(|| only(same))
    }
}

/// A name as it is compared.
fn key(language: Language, name: &str) -> String {
    if language.ignores_case() { name.to_ascii_lowercase() } else { name.to_owned() }
}

/// Functions that are defined outside of the type that they belong to.
fn methods(out: &mut Sources, known: &Known) {
    for row in 0..out.functions.len() {
        let it = &out.functions[row];
        let language = out.files[it.file as usize].language;
        if it.of.is_some() || !matches!(language, Language::Cpp | Language::Rust) {
            continue;
        }
        let full = out.text(it.name);
        let Some((scope, name)) = full.rsplit_once("::") else { continue };
        let around = scope.rsplit_once("::").map_or("", |(outer, _)| outer);
        let Some(of) = known.find(out, last(scope), around, it.file) else { continue };
        let kind = match it.kind {
            FunctionKind::Function if language == Language::Cpp && name == last(scope) => {
                FunctionKind::Constructor
            }
            FunctionKind::Function if language == Language::Cpp && name.starts_with('~') => {
                FunctionKind::Destructor
            }
            FunctionKind::Function if language == Language::Cpp => FunctionKind::Method,
            kind => kind,
        };
        let it = &mut out.functions[row];
        (it.of, it.kind) = (Some(of), kind);
    }
}

fn bases(out: &mut Sources, known: &Known) {
    for row in 0..out.bases.len() {
        let it = &out.bases[row];
        let derived_name = out.text(it.derived_name);
        let around = derived_name.rsplit_once("::").map_or("", |(outer, _)| outer);
        let derived = it.derived.or_else(|| known.find(out, last(derived_name), around, it.file));
        let base =
            known.find(out, out.text(it.base_name), around, it.file).filter(|base| Some(*base) != derived);
        let it = &mut out.bases[row];
        (it.derived, it.base) = (derived, base);
    }
}

/// Methods by the functions that define them.
fn members(out: &mut Sources) {
    let mut defined: FxHashMap<(u32, &str), u32> = FxHashMap::default();
    for (row, it) in (0..).zip(&out.functions) {
        if let Some(of) = it.of {
            defined.entry((of, last(out.texts.get(it.name)))).or_insert(row);
        }
    }
    let found: Vec<Option<u32>> = out
        .members
        .iter()
        .map(|it| it.function.or_else(|| defined.get(&(it.of, out.texts.get(it.name))).copied()))
        .collect();
    for (it, function) in out.members.iter_mut().zip(found) {
        if !matches!(it.kind, MemberKind::Field | MemberKind::StaticField | MemberKind::Value) {
            it.function = function;
        }
    }
    // Methods of Rust stand beside their types, and are members all the same.
    let told: FxHashSet<u32> = out.members.iter().filter_map(|it| it.function).collect();
    for row in 0..out.functions.len() {
        let it = &out.functions[row];
        let is_rust = out.files[it.file as usize].language == Language::Rust;
        let number = number(row);
        if let Some(of) = it.of.filter(|_| is_rust && !told.contains(&number)) {
            let name = last(out.texts.get(it.name)).to_owned();
            let (access, attributes, file, line) = (it.access, it.attributes, it.file, it.line);
            let (name, type_name) = (out.texts.add(&name), out.texts.add(""));
            out.members.push(Member {
                of,
                name,
                kind: MemberKind::Method,
                access,
                attributes,
                type_name,
                file,
                line,
                function: Some(number),
            });
        }
    }
    out.members.sort_by_key(|it| (it.of, it.file, it.line));
}

/// References of Fortran that are calls, since a function has that name.
fn calls(out: &mut Sources, references: Vec<Call>) {
    let mut functions: FxHashSet<String> = FxHashSet::default();
    let mut methods: FxHashSet<String> = FxHashSet::default();
    let mut fields: FxHashSet<String> = FxHashSet::default();
    for it in &out.functions {
        let is_function = it.kind == FunctionKind::Function;
        if out.files[it.file as usize].language.ignores_case() && is_function {
            functions.insert(last(out.text(it.name)).to_ascii_lowercase());
        }
    }
    for it in &out.types {
        if it.kind == TypeKind::Interface {
            functions.insert(last(out.text(it.name)).to_ascii_lowercase());
        }
    }
    for it in out.members.iter().filter(|it| out.files[it.file as usize].language.ignores_case()) {
        let names = if it.kind == MemberKind::Method { &mut methods } else { &mut fields };
        names.insert(out.text(it.name).to_ascii_lowercase());
    }
    let is_call = |call: &Call| {
        let name = out.text(call.name).to_ascii_lowercase();
        match call.kind {
            CallKind::Member => methods.contains(&name) && !fields.contains(&name),
            _ => functions.contains(&name),
        }
    };
    let calls: Vec<Call> = references.into_iter().filter(is_call).collect();
    out.calls.extend(calls);
    out.calls.sort_by_key(|call| (call.file, call.line));
}
