//! A large program in C++ that somebody else wrote and built, with its debug information: Debian's build of the standard
//! library for debuggers. Every row of its database is held against what `readelf` and `objdump` print.

mod calls;
mod readelf;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use marey_source::database::{Access, Base, CallKind, Callee, Database, Function, Member, Place, TypeKind};

use self::readelf::{Read, is_type};
use super::{database, toolchain::Workspace};

/// The library; which number its name ends with is up to the compiler's version.
fn library() -> Option<PathBuf> {
    let entries = std::fs::read_dir("/usr/lib/x86_64-linux-gnu/debug").ok()?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|it| it.file_type().is_ok_and(|it| it.is_file()))
        .map(|it| it.path())
        .filter(|it| {
            let name = it.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libstdc++.so.6.") && !name.ends_with(".py")
        })
        .collect();
    found.sort();
    found.pop()
}

/// What both tell, in words; rows of things without a name are left out.
type Rows = BTreeSet<String>;

fn at(it: &Database, place: Option<Place>) -> String {
    let path = place.map_or("", |place| it.path(place));
    let line = place.map_or(0, |place| place.line);
    format!("{}:{line}", path.rsplit('/').next().unwrap_or_default())
}

/// Whether all that is named there has a name. Closures have one in symbols alone.
fn has_name(name: &str) -> bool {
    ["(anonymous)", "(anonymous struct)", "(anonymous union)", "(anonymous enum)", "{lambda("]
        .iter()
        .all(|it| !name.contains(it))
}

/// Where debug information has no name for linkers, ours is that of the symbol, which says a little more.
fn usual(name: &str) -> String {
    name.replace("[abi:cxx11]", "").replace("<(unsigned short)", "<")
}

fn types(it: &Database) -> Rows {
    let kind = |kind| match kind {
        TypeKind::Class => "class_type",
        TypeKind::Struct | TypeKind::Derived => "structure_type",
        TypeKind::Union => "union_type",
        TypeKind::Enum => "enumeration_type",
    };
    it.types
        .iter()
        .map(|of| format!("{} {} {} {:?}", kind(of.kind), it.text(of.name), at(it, of.place), of.bytes))
        .filter(|row| has_name(row))
        .collect()
}

fn their_types(read: &Read) -> Rows {
    let types = read.entries.iter().enumerate().filter(|(_, it)| is_type(&it.tag) && !it.is_declaration);
    types
        .filter_map(|(row, it)| {
            Some(format!("{} {} {} {:?}", it.tag, read.name(row)?, read.place(row), it.bytes))
        })
        .collect()
}

fn word(access: Access) -> &'static str {
    match access {
        Access::Public => "public",
        Access::Protected => "protected",
        Access::Private => "private",
    }
}

fn members(it: &Database) -> Rows {
    let row = |of: &Member| {
        let type_name = it.text(it.types[of.of as usize].name);
        let marks = if of.is_virtual { " virtual" } else { "" };
        let (name, place) = (it.text(of.name), at(it, of.place));
        format!("{type_name}::{name} {place} {}{marks}", word(of.access))
    };
    it.members.iter().map(row).filter(|row| has_name(row)).collect()
}

/// Names of types of which more is known than that they are there.
fn their_defined(read: &Read) -> Rows {
    let types = read.entries.iter().enumerate().filter(|(_, it)| is_type(&it.tag) && !it.is_declaration);
    types.filter_map(|(row, _)| read.name(row)).collect()
}

fn their_members(read: &Read, defined: &Rows) -> Rows {
    let mut rows = Rows::new();
    for (of, entry) in read.entries.iter().enumerate() {
        let Some(scope) = entry.scope.filter(|scope| is_type(&read.entries[*scope].tag)) else { continue };
        let is_member = match entry.tag.as_str() {
            "member" | "enumerator" | "variable" => true,
            "subprogram" => read.origin(of).is_none(),
            _ => false,
        };
        let is_defined = || read.name(scope).is_some_and(|name| defined.contains(&name));
        if is_member
            && !entry.is_artificial
            && is_defined()
            && let Some(name) = read.name(of)
        {
            let access = read.access(of, scope);
            let marks = if entry.is_virtual { " virtual" } else { "" };
            rows.insert(format!("{name} {} {access}{marks}", read.place(of)));
        }
    }
    rows
}

fn bases(it: &Database) -> Rows {
    let name = |row: u32| it.text(it.types[row as usize].name);
    let row = |of: &Base| {
        let marks = if of.is_virtual { " virtual" } else { "" };
        format!("{}: {}{marks} {}", name(of.derived), word(of.access), name(of.base))
    };
    it.bases.iter().map(row).filter(|row| has_name(row)).collect()
}

fn their_bases(read: &Read) -> Rows {
    let entries = read.entries.iter().enumerate().filter(|(_, it)| it.tag == "inheritance");
    entries
        .filter_map(|(of, it)| {
            let derived = read.name(it.scope?)?;
            let marks = if it.is_virtual { " virtual" } else { "" };
            Some(format!(
                "{derived}: {}{marks} {}",
                read.access(of, it.scope?),
                read.name(read.of_type(of)?)?
            ))
        })
        .collect()
}

/// Where the code of functions begins, their names, and where they stand.
fn functions(it: &Database, apart: &Apart) -> Rows {
    let row = |of: &Function| {
        let (name, place) = (it.text(of.name).to_owned(), at(it, of.place));
        let entries = of.entries.iter().filter(|entry| !apart.made.contains(*entry));
        entries.map(move |entry| apart.row(Some(*entry), &name, &place)).collect::<Vec<_>>()
    };
    it.functions.iter().filter(|of| of.place.is_some()).flat_map(row).collect()
}

fn their_functions(read: &Read, apart: &Apart) -> Rows {
    let whole = code(read).filter(|(_, low)| !apart.made.contains(low)).map(|(of, low)| (of, Some(low)));
    let code = whole.chain(in_parts(read).map(|of| (of, None)));
    code.filter_map(|(of, low)| Some(apart.row(low, &read.name(of)?, &read.place(of)))).collect()
}

/// Functions with code, and where that begins.
fn code(read: &Read) -> impl Iterator<Item = (usize, u64)> {
    let entries = read.entries.iter().enumerate().filter(|(_, it)| it.tag == "subprogram");
    entries.filter_map(|(of, it)| Some((of, it.low.filter(|low| *low != 0)?)))
}

/// Those whose code lies in several parts, which stand in another section.
fn in_parts(read: &Read) -> impl Iterator<Item = usize> {
    let entries = read.entries.iter().enumerate().filter(|(_, it)| it.tag == "subprogram");
    entries.filter(|(_, it)| it.is_in_parts).map(|(of, _)| of)
}

/// Functions of which debug information tells less than we know.
struct Apart {
    /// The compiler has made them, so they stand at no line; by where their code begins.
    made: BTreeSet<u64>,
    /// They have no name for linkers, and are instances of templates or lie in functions: their full name is that of the
    /// symbol, in other words.
    local: BTreeSet<u64>,
    /// By name and place.
    in_parts: Rows,
}

impl Apart {
    fn of(read: &Read) -> Self {
        let made = code(read).filter(|(of, _)| read.place(*of).ends_with(":0"));
        let has_full = |of: usize| {
            let is_simple = read.name(of).is_some_and(|name| !name.contains('<'));
            !read.linkage(of).is_empty() || (is_simple && !read.is_in_function(of))
        };
        let in_parts = in_parts(read).filter_map(|of| Some(format!("{} {}", read.name(of)?, read.place(of))));
        Self {
            made: made.map(|(_, low)| low).collect(),
            local: code(read).filter(|(of, _)| !has_full(*of)).map(|(_, low)| low).collect(),
            in_parts: in_parts.collect(),
        }
    }

    fn row(&self, low: Option<u64>, name: &str, place: &str) -> String {
        let row = format!("{} {place}", usual(name));
        match low.filter(|_| !self.in_parts.contains(&row)) {
            Some(low) if self.local.contains(&low) => format!("{low:x} {place}"),
            Some(low) => format!("{low:x} {row}"),
            None => row,
        }
    }
}

/// Calls that were replaced by what they call, with how many there are.
fn inlined(it: &Database) -> Rows {
    let name = |row: u32| it.text(it.functions[row as usize].name);
    let mut calls = BTreeMap::<String, u32>::new();
    for call in it.calls.iter().filter(|call| call.kind == CallKind::Inlined) {
        let Callee::Function(callee) = call.callee else { continue };
        let row = format!("{} <- {} {}", name(call.caller), name(callee), at(it, call.place));
        *calls.entry(usual(&row)).or_default() += call.times;
    }
    counted(calls)
}

fn their_inlined(read: &Read) -> Rows {
    let mut calls = BTreeMap::<String, u32>::new();
    for (of, entry) in read.entries.iter().enumerate().filter(|(_, it)| it.tag == "inlined_subroutine") {
        let names = entry.scope.and_then(|scope| read.name(scope)).zip(read.name(of));
        if let Some((caller, callee)) = names {
            *calls.entry(usual(&format!("{caller} <- {callee} {}", read.call(of)))).or_default() += 1;
        }
    }
    counted(calls)
}

fn counted(calls: BTreeMap<String, u32>) -> Rows {
    let calls = calls.into_iter().filter(|(row, _)| has_name(row));
    calls.map(|(row, times)| format!("{row} {times}")).collect()
}

/// Both know the same, but for what `known` explains among what only binutils knows; there is enough to tell.
fn check(what: &str, least: usize, ours: &Rows, theirs: &Rows, known: impl Fn(&str) -> bool) {
    let missing: Vec<_> = theirs.difference(ours).filter(|row| !known(row)).collect();
    let more: Vec<_> = ours.difference(theirs).collect();
    assert!(missing.is_empty() && more.is_empty(), "{what}: missing {missing:#?}, more {more:#?}");
    assert!(least <= theirs.len(), "{what}: {} rows are too few for a test", theirs.len());
}

#[test]
fn a_large_library_is_what_binutils_reads_there() {
    let Some(path) = library() else { return marey_testkit::skip("the C++ library for debuggers") };
    let Some(workspace) = Workspace::with("objdump") else { return };
    #[expect(clippy::disallowed_methods, reason = "told, and measured nowhere")]
    let begun = Instant::now();
    let it = database(&path);
    println!("{} functions, {} calls in {:?}", it.functions.len(), it.calls.len(), begun.elapsed());
    let read = Read::of(&path);

    // One compilation unit calls a type a class, and another calls it a structure.
    let ours = types(&it);
    let other_word = |row: &str| ours.contains(&row.replacen("structure_type", "class_type", 1));
    check("types", 1500, &ours, &their_types(&read), other_word);
    // Types that are only declared have no row.
    let defined = their_defined(&read);
    check("members", 10_000, &members(&it), &their_members(&read, &defined), |_| false);
    check("bases", 500, &bases(&it), &their_bases(&read), |_| false);
    let apart = Apart::of(&read);
    let n_apart = (apart.made.len(), apart.local.len(), apart.in_parts.len());
    assert!(n_apart.0 <= 80 && n_apart.1 <= 550 && n_apart.2 <= 30, "{n_apart:?}");
    check("functions", 7000, &functions(&it, &apart), &their_functions(&read, &apart), |_| false);
    check("inlined calls", 500, &inlined(&it), &their_inlined(&read), |_| false);
    calls::check(&it, &workspace, path.to_str().unwrap());
}
