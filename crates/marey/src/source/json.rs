//! What `marey source --json` prints; `--help` says what it means.

use marey_source::database::{CallKind, Callee, Database, MemberKind, Place};
use serde::Serialize;

use super::about::access;
use super::kind;

#[derive(Serialize)]
pub(super) struct Json<'d> {
    has_debug_information: bool,
    has_calls: bool,
    problems: Vec<String>,
    files: Vec<&'d str>,
    functions: Vec<Function<'d>>,
    types: Vec<Type<'d>>,
    calls: Vec<Call<'d>>,
}

#[derive(Serialize)]
struct Function<'d> {
    name: &'d str,
    linkage: &'d str,
    #[serde(flatten)]
    at: At,
    #[serde(rename = "type")]
    of: Option<u32>,
    external: bool,
    inline: bool,
    code_bytes: u64,
    entries: &'d [u64],
}

/// A file by its number, and a line.
#[derive(Serialize)]
struct At {
    file: Option<u32>,
    line: Option<u32>,
}

impl At {
    fn new(place: Option<Place>) -> Self {
        let line = place.map(|place| place.line).filter(|line| *line != 0);
        Self { file: place.map(|place| place.file), line }
    }
}

#[derive(Serialize)]
struct Type<'d> {
    name: &'d str,
    kind: &'static str,
    #[serde(flatten)]
    at: At,
    bytes: Option<u64>,
    members: Vec<Member<'d>>,
    bases: Vec<Base>,
}

#[derive(Serialize)]
struct Member<'d> {
    name: &'d str,
    kind: &'static str,
    access: &'static str,
    #[serde(rename = "virtual")]
    is_virtual: bool,
    inline: bool,
    #[serde(rename = "type")]
    of_type: &'d str,
    #[serde(flatten)]
    at: At,
    function: Option<u32>,
}

#[derive(Serialize)]
struct Base {
    #[serde(rename = "type")]
    base: u32,
    access: &'static str,
    #[serde(rename = "virtual")]
    is_virtual: bool,
}

#[derive(Serialize)]
struct Call<'d> {
    caller: u32,
    callee: Option<u32>,
    name: Option<&'d str>,
    kind: &'static str,
    #[serde(flatten)]
    at: At,
    times: u32,
}

impl<'d> Json<'d> {
    pub(super) fn new(database: &'d Database) -> Self {
        let text = |text| database.text(text);
        let mut types: Vec<Type<'_>> = database
            .types
            .iter()
            .map(|it| Type {
                name: text(it.name),
                kind: kind(it.kind),
                at: At::new(it.place),
                bytes: it.bytes,
                members: Vec::new(),
                bases: Vec::new(),
            })
            .collect();
        for it in &database.members {
            types[it.of as usize].members.push(Member {
                name: text(it.name),
                kind: member_kind(it.kind),
                access: access(it.access),
                is_virtual: it.is_virtual,
                inline: it.is_inline,
                of_type: text(it.type_name),
                at: At::new(it.place),
                function: it.function,
            });
        }
        for it in &database.bases {
            let base = Base { base: it.base, access: access(it.access), is_virtual: it.is_virtual };
            types[it.derived as usize].bases.push(base);
        }
        let functions = database.functions.iter().map(|it| Function {
            name: text(it.name),
            linkage: text(it.linkage),
            at: At::new(it.place),
            of: it.of,
            external: it.is_external,
            inline: it.is_inline,
            code_bytes: it.code_bytes,
            entries: &it.entries,
        });
        let calls = database.calls.iter().map(|it| {
            let (callee, name) = match it.callee {
                Callee::Function(row) => (Some(row), None),
                Callee::Named(name) => (None, Some(text(name))),
                Callee::Unknown => (None, None),
            };
            let kind = match it.kind {
                CallKind::Called => "called",
                CallKind::Inlined => "inlined",
            };
            Call { caller: it.caller, callee, name, kind, at: At::new(it.place), times: it.times }
        });
        Self {
            has_debug_information: database.has_debug_information,
            has_calls: database.has_calls,
            problems: database.problems.iter().map(ToString::to_string).collect(),
            files: database.files.iter().map(|path| text(*path)).collect(),
            functions: functions.collect(),
            types,
            calls: calls.collect(),
        }
    }
}

pub(super) fn member_kind(kind: MemberKind) -> &'static str {
    match kind {
        MemberKind::Field => "field",
        MemberKind::StaticField => "static field",
        MemberKind::Value => "value",
        MemberKind::Method => "method",
        MemberKind::Operator => "operator",
        MemberKind::Constructor => "constructor",
        MemberKind::Destructor => "destructor",
    }
}
