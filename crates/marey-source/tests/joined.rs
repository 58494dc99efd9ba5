//! What binary and text say of one thing is one row, and what one of them does not know stays alone.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use marey_source::database::{Database, TypeKind};
use marey_source::joined::{Joined, read_sources};
use marey_source::text::TextConfig;
use marey_source::{ModuleRef, SymbolizerConfig};

/// Functions of a file by who knows them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    both: BTreeSet<String>,
    binary: BTreeSet<String>,
    text: BTreeSet<String>,
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Compiles a source, and asks both; `None`, said aloud, without the compiler.
fn known(compiler: &str, name: &str, source: &str, flags: &[&str]) -> Option<Known> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(name), source).unwrap();
    let status =
        Command::new(compiler).args(flags).args(["-g", name, "-o", "program"]).current_dir(&dir).status();
    let Ok(status) = status else {
        marey_testkit::skip(compiler);
        return None;
    };
    assert!(status.success());
    let program = dir.path().join("program");
    let module = ModuleRef { path: &program, build_id: None };
    let binary = Database::of(&module, &SymbolizerConfig::system());
    let (text, _) = read_sources(&binary, &TextConfig::system());
    let joined = Joined::new(&binary, &text);
    let mut known = Known::default();
    let is_here = |path: &str| Path::new(path).file_name().is_some_and(|file| file == name);
    for (it, row) in binary.functions.iter().zip(&joined.functions) {
        let Some(place) = it.place.filter(|place| is_here(binary.path(*place))) else { continue };
        let names = if row.is_some() { &mut known.both } else { &mut known.binary };
        names.insert(binary.text(it.name).to_owned());
        if let Some(row) = row {
            assert!(text.functions[*row as usize].lines.has(place.line));
        }
    }
    for (row, it) in (0..).zip(&text.functions) {
        if is_here(text.path(it.file)) && !joined.functions.contains(&Some(row)) {
            known.text.insert(text.text(it.name).to_owned());
        }
    }
    // Lines that both know to call something are the same call.
    for (call, row) in binary.calls.iter().zip(&joined.calls) {
        if let Some(row) = row {
            assert_eq!(call.place.unwrap().line, text.calls[*row as usize].line);
        }
    }
    assert!(joined.calls.iter().flatten().count() != 0 && joined.known_calls.contains(&true));
    Some(known)
}

#[test]
fn instances_of_a_template_are_one_function_of_the_text() {
    let source = "namespace n { template <class T>\nT twice(T it)\n{ return it + it; }\n\
                  struct S { virtual ~S() {} int a = 1; bool operator<(const S& o) const { return a < o.a; } }; }\n\
                  template <class T> T never(T it) { return it; }\n#ifdef NEVER\nint hidden() { return 1; }\n#endif\n\
                  int main() { n::S a, b; return n::twice(1) + int(n::twice(2.0)) + (a < b); }\n";
    let Some(known) = known("g++", "a.cpp", source, &[]) else { return };
    assert_eq!(
        known.both,
        set(&["main", "n::S::operator<", "n::S::~S", "n::twice<double>", "n::twice<int>"])
    );
    // The constructor that the compiler has made stands nowhere.
    assert_eq!(known.binary, set(&[]));
    assert_eq!(known.text, set(&["hidden", "never"]));
}

#[test]
fn names_of_fortran_are_one_whatever_their_letters() {
    let source = "module Outer\ncontains\nsubroutine Step(n)\ninteger :: n\nn = n + 1\nend subroutine\nend module\n\
                  program Main\nuse outer\ninteger :: n\nn = 1\ncall STEP(n)\nprint *, n\nend program\n";
    let Some(known) = known("gfortran", "a.f90", source, &[]) else { return };
    assert!(
        known.both.contains("outer::step") && known.both.iter().any(|name| name.starts_with("main")),
        "{known:?}"
    );
    assert_eq!(known.text, set(&[]));
}

#[test]
fn types_of_fortran_keep_what_only_the_text_says() {
    let base = "module outer\n type :: Base\n  integer :: i\n contains\n  procedure :: go\n end type\ncontains\n\
                subroutine go(self)\n  class(Base) :: self\n  self%i = 1\n end subroutine\nend module\n";
    let derived = "module inner\n use outer\n type, extends(base) :: Der\n  real, private :: x\n  integer :: n\n contains\n\
                   procedure, private :: go2\n  final :: gone\n end type\ncontains\nsubroutine go2(self)\n\
                   class(Der) :: self\n self%n = 2\nend subroutine\nsubroutine gone(self)\n type(Der) :: self\n\
                   self%n = 0\nend subroutine\nend module\nprogram p\n use inner\n type(Der) :: it\n call it%go()\nend program\n";
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.f90"), base).unwrap();
    std::fs::write(dir.path().join("b.f90"), derived).unwrap();
    let mut compile = Command::new("gfortran");
    let Ok(status) = compile.args(["-g", "a.f90", "b.f90", "-o", "program"]).current_dir(&dir).status()
    else {
        return marey_testkit::skip("gfortran");
    };
    assert!(status.success());
    let program = dir.path().join("program");
    let mut binary = Database::of(&ModuleRef { path: &program, build_id: None }, &SymbolizerConfig::system());
    let (text, _) = read_sources(&binary, &TextConfig::system());
    let joined = Joined::new(&binary, &text);
    joined.complete(&mut binary, &text);
    let name = |row: u32| binary.text(binary.types[row as usize].name);
    let bases: Vec<_> = binary.bases.iter().map(|it| (name(it.derived), name(it.base))).collect();
    assert_eq!(bases, [("inner::der", "outer::base")]);
    let mut members: Vec<String> = binary
        .members
        .iter()
        .filter(|it| ["inner::der", "outer::base"].contains(&name(it.of)))
        .map(|it| {
            let place = it.place.unwrap();
            let file = Path::new(binary.path(place)).file_name().unwrap().to_string_lossy().into_owned();
            format!(
                "{} {} {:?} {:?} {file}:{}",
                name(it.of),
                binary.text(it.name),
                it.kind,
                it.access,
                place.line
            )
        })
        .collect();
    members.sort_unstable();
    let expected = [
        "inner::der go2 Method Private b.f90:7",
        "inner::der gone Destructor Public b.f90:8",
        "inner::der n Field Public b.f90:5",
        "inner::der x Field Private b.f90:4",
        "outer::base go Method Public a.f90:5",
        "outer::base i Field Public a.f90:3",
    ];
    assert_eq!(members, expected);
    let der = binary.types.iter().find(|it| binary.text(it.name) == "inner::der").unwrap();
    assert_eq!(der.kind, TypeKind::Derived);
}

#[test]
fn methods_of_rust_are_those_of_their_type() {
    let source = "struct S(u32);\nimpl S {\n    #[inline(never)]\n    fn step(&self) -> u32 { self.0 + 1 }\n}\n\
                  fn main() {\n    let s = S(std::process::id());\n    std::process::exit((s.step() == 0) as i32);\n}\n";
    let Some(known) = known("rustc", "a.rs", source, &[]) else { return };
    assert!(known.both.iter().any(|name| name.ends_with("::step")), "{known:?}");
    assert_eq!(known.text, set(&[]));
}
