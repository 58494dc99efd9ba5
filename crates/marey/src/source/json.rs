//! What `marey source --json` prints; `--help` says what it means.
//!
//! The one idea: rows of the binary first, then those that only the text knows, so that one number names a function
//! whoever knows it.

use marey_source::database::{self, CallKind, Callee, Place};
use marey_source::text;
use serde::Serialize;

use super::kinds::{
    access, base_kind, call_kind, does, function_kind, kind, loop_kind, member_kind, model, symbol_end,
    written_kind,
};
use super::witness::Witnesses;

#[derive(Serialize)]
pub(super) struct Json<'d> {
    pub(super) has_debug_information: bool,
    pub(super) has_calls: bool,
    pub(super) problems: Vec<String>,
    pub(super) files: Vec<&'d str>,
    pub(super) texts: Vec<File>,
    pub(super) functions: Vec<Function<'d>>,
    pub(super) types: Vec<Type<'d>>,
    pub(super) calls: Vec<Call<'d>>,
    pub(super) loops: Vec<Loop>,
    pub(super) constructs: Vec<Construct<'d>>,
    pub(super) references: Vec<Reference<'d>>,
}

/// A source that was read.
#[derive(Serialize)]
pub(super) struct File {
    pub(super) file: u32,
    pub(super) language: &'static str,
    pub(super) lines: u32,
    pub(super) unclear: u32,
    pub(super) first_unclear: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Function<'d> {
    pub(super) name: &'d str,
    pub(super) linkage: &'d str,
    pub(super) known_to: &'static str,
    #[serde(flatten)]
    pub(super) at: At,
    pub(super) first_line: Option<u32>,
    pub(super) last_line: Option<u32>,
    pub(super) kind: Option<&'static str>,
    pub(super) attributes: Vec<&'static str>,
    #[serde(rename = "type")]
    pub(super) of: Option<u32>,
    pub(super) external: Option<bool>,
    pub(super) inline: bool,
    pub(super) code_bytes: u64,
    pub(super) entries: &'d [u64],
}

/// A file by its number, and a line.
#[derive(Serialize)]
pub(super) struct At {
    pub(super) file: Option<u32>,
    pub(super) line: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Type<'d> {
    pub(super) name: &'d str,
    pub(super) known_to: &'static str,
    pub(super) kind: &'static str,
    #[serde(flatten)]
    pub(super) at: At,
    pub(super) last_line: Option<u32>,
    pub(super) bytes: Option<u64>,
    pub(super) members: Vec<Member<'d>>,
    pub(super) bases: Vec<Base<'d>>,
}

#[derive(Serialize)]
pub(super) struct Member<'d> {
    pub(super) name: &'d str,
    pub(super) kind: &'static str,
    pub(super) access: &'static str,
    #[serde(rename = "virtual")]
    pub(super) is_virtual: bool,
    pub(super) inline: bool,
    #[serde(rename = "type")]
    pub(super) of_type: &'d str,
    #[serde(flatten)]
    pub(super) at: At,
    pub(super) function: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Base<'d> {
    #[serde(rename = "type")]
    pub(super) base: Option<u32>,
    pub(super) name: &'d str,
    pub(super) kind: &'static str,
    pub(super) access: &'static str,
    #[serde(rename = "virtual")]
    pub(super) is_virtual: bool,
}

#[derive(Serialize)]
pub(super) struct Call<'d> {
    pub(super) caller: Option<u32>,
    pub(super) callee: Option<u32>,
    pub(super) name: Option<&'d str>,
    pub(super) kind: &'static str,
    pub(super) known_to: &'static str,
    #[serde(flatten)]
    pub(super) at: At,
    pub(super) times: u32,
    #[serde(rename = "loop")]
    pub(super) within: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Loop {
    pub(super) kind: &'static str,
    pub(super) file: u32,
    pub(super) first_line: u32,
    pub(super) last_line: u32,
    pub(super) depth: u32,
    #[serde(rename = "loop")]
    pub(super) parent: Option<u32>,
    pub(super) function: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Construct<'d> {
    pub(super) model: &'static str,
    pub(super) text: &'d str,
    pub(super) file: u32,
    pub(super) first_line: u32,
    pub(super) last_line: u32,
    pub(super) function: Option<u32>,
    #[serde(rename = "loop")]
    pub(super) within: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Reference<'d> {
    pub(super) array: &'d str,
    pub(super) text: &'d str,
    pub(super) image: &'d str,
    pub(super) does: &'static str,
    pub(super) file: u32,
    pub(super) line: u32,
    pub(super) function: Option<u32>,
    #[serde(rename = "loop")]
    pub(super) within: Option<u32>,
    pub(super) moved_by: Option<u32>,
    pub(super) turned_by: Option<u32>,
    pub(super) subscripts: u32,
    pub(super) symbols: Vec<Symbol<'d>>,
    pub(super) ends: Vec<End<'d>>,
}

/// An expression that says which elements, or which image.
#[derive(Serialize)]
pub(super) struct Symbol<'d> {
    pub(super) end: &'static str,
    pub(super) subscript: u32,
    pub(super) text: &'d str,
    pub(super) value: Option<i64>,
}

/// What stands at the other end of a reference.
#[derive(Serialize)]
pub(super) struct End<'d> {
    pub(super) end: &'static str,
    pub(super) text: &'d str,
    pub(super) line: u32,
    pub(super) carried_by: Option<u32>,
    pub(super) iterations: Option<i64>,
}

/// From the numbers of each witness to those of both.
struct Numbers<'d> {
    it: &'d Witnesses,
    files: Vec<&'d str>,
    functions: Vec<u32>,
    types: Vec<u32>,
}

impl<'d> Numbers<'d> {
    fn new(it: &'d Witnesses) -> Self {
        let both = |len: usize, joined: &[Option<u32>], alone: &[u32]| {
            let mut numbers = vec![0; len];
            // The first of several instances of a template stands for all.
            for (row, written) in joined.iter().enumerate().rev() {
                if let Some(written) = written {
                    numbers[*written as usize] = u32::try_from(row).unwrap_or(u32::MAX);
                }
            }
            for (place, written) in alone.iter().enumerate() {
                numbers[*written as usize] = u32::try_from(joined.len() + place).unwrap_or(u32::MAX);
            }
            numbers
        };
        Self {
            it,
            files: it.files(),
            functions: both(it.text.functions.len(), &it.joined.functions, &it.functions_of_text()),
            types: both(it.text.types.len(), &it.joined.types, &it.types_of_text()),
        }
    }

    fn file(&self, path: &str) -> u32 {
        self.files.binary_search(&path).map_or(u32::MAX, |place| u32::try_from(place).unwrap_or(u32::MAX))
    }

    fn place(&self, place: Option<Place>) -> At {
        let line = place.map(|place| place.line).filter(|line| *line != 0);
        At { file: place.map(|place| self.file(self.it.binary.path(place))), line }
    }

    fn at(&self, file: u32, line: u32) -> At {
        At { file: Some(self.file(self.it.text.path(file))), line: Some(line) }
    }

    fn function(&self, row: Option<u32>) -> Option<u32> {
        self.functions.get(row? as usize).copied()
    }

    fn type_(&self, row: Option<u32>) -> Option<u32> {
        self.types.get(row? as usize).copied()
    }
}

impl<'d> Json<'d> {
    pub(super) fn new(it: &'d Witnesses) -> Self {
        let numbers = Numbers::new(it);
        let Witnesses { binary, text, .. } = it;
        let texts = text.files.iter().map(|file| File {
            file: numbers.file(text.text(file.path)),
            language: file.language.name(),
            lines: file.lines,
            unclear: file.unclear,
            first_unclear: Some(file.first_unclear).filter(|line| *line != 0),
        });
        let loops = text.loops.iter().map(|it| Loop {
            kind: loop_kind(it.kind),
            file: numbers.file(text.path(it.file)),
            first_line: it.lines.first,
            last_line: it.lines.last,
            depth: it.depth,
            parent: it.parent,
            function: numbers.function(it.function),
        });
        let constructs = text.constructs.iter().map(|it| Construct {
            model: model(it.model),
            text: text.text(it.text),
            file: numbers.file(text.path(it.file)),
            first_line: it.lines.first,
            last_line: it.lines.last,
            function: numbers.function(it.function),
            within: it.within,
        });
        let references = text.references.iter().map(|it| Reference {
            array: text.text(it.array),
            text: text.text(it.text),
            image: text.text(it.image),
            does: does(it),
            file: numbers.file(text.path(it.file)),
            line: it.line,
            function: numbers.function(it.function),
            within: it.within,
            moved_by: it.moved_by,
            turned_by: it.turned_by,
            subscripts: it.subscripts,
            symbols: it
                .symbols
                .iter()
                .map(|it| Symbol {
                    end: symbol_end(it.end),
                    subscript: it.subscript,
                    text: text.text(it.text),
                    value: it.value,
                })
                .collect(),
            ends: it
                .dependences
                .iter()
                .map(|end| End {
                    end: if end.is_sink { "written" } else { "read" },
                    text: text.text(end.other),
                    line: end.line,
                    carried_by: end.carried,
                    iterations: end.distance,
                })
                .collect(),
        });
        let problems = binary.problems.iter().chain(&text.problems);
        Self {
            has_debug_information: binary.has_debug_information,
            has_calls: binary.has_calls,
            problems: problems.map(ToString::to_string).collect(),
            texts: texts.collect(),
            functions: functions(&numbers),
            types: types(&numbers),
            calls: calls(&numbers),
            loops: loops.collect(),
            constructs: constructs.collect(),
            references: references.collect(),
            files: numbers.files,
        }
    }
}

fn functions<'d>(numbers: &Numbers<'d>) -> Vec<Function<'d>> {
    let Witnesses { binary, text, .. } = numbers.it;
    let mut functions: Vec<Function<'_>> = Vec::new();
    for (row, it) in (0..).zip(&binary.functions) {
        let written = numbers.it.written(row).map(|row| &text.functions[row as usize]);
        functions.push(Function {
            name: binary.text(it.name),
            linkage: binary.text(it.linkage),
            known_to: if written.is_some() { "both" } else { "binary" },
            at: numbers.place(it.place),
            first_line: written.map(|it| it.lines.first),
            last_line: written.map(|it| it.lines.last),
            kind: written.map(|it| function_kind(it.kind)),
            attributes: written.map(|it| it.attributes.words().collect()).unwrap_or_default(),
            of: it.of,
            external: Some(it.is_external),
            inline: it.is_inline,
            code_bytes: it.code_bytes,
            entries: &it.entries,
        });
    }
    for row in numbers.it.functions_of_text() {
        let it = &text.functions[row as usize];
        functions.push(Function {
            name: text.text(it.name),
            linkage: "",
            known_to: "text",
            at: numbers.at(it.file, it.line),
            first_line: Some(it.lines.first),
            last_line: Some(it.lines.last),
            kind: Some(function_kind(it.kind)),
            attributes: it.attributes.words().collect(),
            of: numbers.type_(it.of),
            external: None,
            inline: it.attributes.has(text::Attribute::Inline),
            code_bytes: 0,
            entries: &[],
        });
    }
    functions
}

fn types<'d>(numbers: &Numbers<'d>) -> Vec<Type<'d>> {
    let Witnesses { binary, text, joined, .. } = numbers.it;
    let mut types: Vec<Type<'_>> = Vec::new();
    for (it, written) in binary.types.iter().zip(&joined.types) {
        types.push(Type {
            name: binary.text(it.name),
            known_to: if written.is_some() { "both" } else { "binary" },
            kind: kind(it.kind),
            at: numbers.place(it.place),
            last_line: written.map(|row| text.types[row as usize].lines.last),
            bytes: it.bytes,
            members: Vec::new(),
            bases: Vec::new(),
        });
    }
    for it in &binary.members {
        types[it.of as usize].members.push(member_of_binary(numbers, binary, it));
    }
    for it in &binary.bases {
        types[it.derived as usize].bases.push(Base {
            base: Some(it.base),
            name: binary.text(binary.types[it.base as usize].name),
            kind: "base",
            access: access(it.access),
            is_virtual: it.is_virtual,
        });
    }
    let of_binary = types.len();
    for row in numbers.it.types_of_text() {
        let it = &text.types[row as usize];
        types.push(Type {
            name: text.text(it.name),
            known_to: "text",
            kind: written_kind(it.kind),
            at: numbers.at(it.file, it.line),
            last_line: Some(it.lines.last),
            bytes: None,
            members: Vec::new(),
            bases: Vec::new(),
        });
    }
    // Members of a type that both know are those that the compiler has laid out.
    let alone = |row: Option<u32>| numbers.type_(row).map(|row| row as usize).filter(|row| of_binary <= *row);
    for it in &text.members {
        if let Some(of) = alone(Some(it.of)) {
            types[of].members.push(Member {
                name: text.text(it.name),
                kind: member_kind(it.kind),
                access: access(it.access),
                is_virtual: it.attributes.has(text::Attribute::Virtual),
                inline: it.attributes.has(text::Attribute::Inline),
                of_type: text.text(it.type_name),
                at: numbers.at(it.file, it.line),
                function: numbers.function(it.function),
            });
        }
    }
    for it in &text.bases {
        // What a type of Rust implements no debug information tells; what those of Fortran extend is with the binary.
        let is_told = it.kind == text::BaseKind::Implements;
        if let Some(of) =
            numbers.type_(it.derived).map(|of| of as usize).filter(|of| is_told || of_binary <= *of)
        {
            types[of].bases.push(Base {
                base: numbers.type_(it.base),
                name: text.text(it.base_name),
                kind: base_kind(it.kind),
                access: access(it.access),
                is_virtual: it.is_virtual,
            });
        }
    }
    types
}

fn member_of_binary<'d>(
    numbers: &Numbers<'d>,
    binary: &'d database::Database,
    it: &database::Member,
) -> Member<'d> {
    Member {
        name: binary.text(it.name),
        kind: member_kind(it.kind),
        access: access(it.access),
        is_virtual: it.is_virtual,
        inline: it.is_inline,
        of_type: binary.text(it.type_name),
        at: numbers.place(it.place),
        function: it.function,
    }
}

fn calls<'d>(numbers: &Numbers<'d>) -> Vec<Call<'d>> {
    let Witnesses { binary, text, joined, .. } = numbers.it;
    let mut calls: Vec<Call<'_>> = Vec::new();
    for (it, written) in binary.calls.iter().zip(&joined.calls) {
        let (callee, name) = match it.callee {
            Callee::Function(row) => (Some(row), None),
            Callee::Named(name) => (None, Some(binary.text(name))),
            Callee::Unknown => (None, None),
        };
        calls.push(Call {
            caller: Some(it.caller),
            callee,
            name,
            kind: match it.kind {
                CallKind::Called => "called",
                CallKind::Inlined => "inlined",
            },
            known_to: if written.is_some() { "both" } else { "binary" },
            at: numbers.place(it.place),
            times: it.times,
            within: written.and_then(|row| text.calls[row as usize].within),
        });
    }
    for row in numbers.it.calls_of_text() {
        let it = &text.calls[row as usize];
        calls.push(Call {
            caller: numbers.function(it.caller),
            callee: None,
            name: Some(text.text(it.name)).filter(|name| !name.is_empty()),
            kind: call_kind(it.kind),
            known_to: "text",
            at: numbers.at(it.file, it.line),
            times: 1,
            within: it.within,
        });
    }
    calls
}
