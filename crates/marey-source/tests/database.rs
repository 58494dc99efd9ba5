//! The program database against what other tools say of the same files.
//!
//! Calls are compared with every call that `objdump` shows, caller by caller and callee by callee.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

#[expect(unreachable_pub, dead_code, reason = "a module of tests")]
mod toolchain;

mod large;

use std::collections::BTreeMap;
use std::path::Path;

use marey_source::database::{Access, CallKind, Callee, Database, MemberKind, TypeKind};
use marey_source::{ModuleRef, SymbolizerConfig};
use toolchain::Workspace;

/// The line of a program of these tests on which something stands for the first time.
fn line(source: &str, text: &str) -> u32 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let lines = std::fs::read_to_string(path).unwrap();
    (1..).zip(lines.lines()).find(|(_, line)| line.contains(text)).unwrap().0
}

fn database(path: &Path) -> Database {
    let config = SymbolizerConfig { debug_roots: Vec::new(), max_bytes: 1 << 30, only_symbols: Vec::new() };
    let database = Database::of(&ModuleRef { path, build_id: None }, &config);
    assert_eq!(database.problems, []);
    database
}

/// Who is called, as both can tell it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Called {
    /// A function, by its number in the database.
    Function(u32),
    Named(String),
    Unknown,
}

/// What `objdump` writes before the name of an instruction.
const PREFIXES: [&str; 4] = ["bnd", "notrack", "data16", "rex.W"];

type Calls = BTreeMap<(Option<u32>, Called), u32>;

/// What the disassembly of binutils says; callers are left out where the compiler has moved code between functions.
fn disassembled(workspace: &Workspace, file: &str, database: &Database, with_callers: bool) -> Calls {
    let entries: BTreeMap<u64, u32> = (0..)
        .zip(&database.functions)
        .flat_map(|(row, function)| function.entries.iter().map(move |entry| (*entry, row)))
        .collect();
    let address = |text: &str| u64::from_str_radix(text, 16).ok();
    let text = workspace.tool("objdump", &["-d", "--no-show-raw-insn", file]);
    // A last call may be a jump, on a condition, too.
    let leads = |verb: &str| verb.starts_with("call") || verb.starts_with('j');
    let relocations = workspace.tool("readelf", &["-rW", file]);
    let relative = relocations.lines().filter(|line| line.contains("R_X86_64_RELATIVE"));
    let filled: BTreeMap<u64, u64> = relative
        .filter_map(|line| Some((address(line.split(' ').next()?)?, address(line.rsplit(' ').next()?)?)))
        .collect();
    let head = |line: &'_ str| {
        let (at, name) = line.strip_suffix(">:")?.split_once(" <")?;
        Some((address(at)?, name.to_owned()))
    };
    let named: BTreeMap<String, u64> = text.lines().filter_map(head).map(|(at, name)| (name, at)).collect();
    let mut calls = Calls::new();
    let mut caller = None;
    for line in text.lines() {
        if let Some((at, name)) = head(line) {
            // What is seldom run may lie elsewhere, and is the same function.
            let whole = name.strip_suffix(".cold").and_then(|name| named.get(name)).copied().unwrap_or(at);
            caller = entries.get(&whole).copied();
            continue;
        }
        let Some(caller) = caller else { continue };
        let mut words = line.split_whitespace().skip(1).skip_while(|word| PREFIXES.contains(word));
        let Some(verb) = words.next() else { continue };
        let (target, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let name = rest.trim_matches(['<', '>']);
        let callee = match (verb, target.strip_prefix('*')) {
            (verb, None) if leads(verb) => {
                let function = address(target).and_then(|at| entries.get(&at)).copied();
                match (name.split_once("@plt"), function) {
                    (Some((name, _)), _) => Called::Named(name.to_owned()),
                    (None, Some(function)) => Called::Function(function),
                    (None, None) => Called::Unknown,
                }
            }
            // `*0x2fe2(%rip)        # 3fd8 <__libc_start_main@GLIBC_2.34>`: a cell that the dynamic linker fills.
            (verb, Some(_)) if leads(verb) => {
                let cell = line.split_once("# ").and_then(|(_, cell)| cell.split_once(" <"));
                let filled = cell.and_then(|(at, _)| filled.get(&address(at)?));
                match (filled, cell) {
                    (Some(at), _) => entries.get(at).map_or(Called::Unknown, |row| Called::Function(*row)),
                    (None, Some((_, name))) => {
                        let name = name.trim_end_matches('>').split('@').next();
                        Called::Named(name.unwrap_or_default().to_owned())
                    }
                    (None, None) => Called::Unknown,
                }
            }
            _ => continue,
        };
        let is_jump = verb.starts_with('j');
        if is_jump && (callee == Called::Unknown || callee == Called::Function(caller)) {
            continue;
        }
        *calls.entry((with_callers.then_some(caller), callee)).or_default() += 1;
    }
    calls
}

/// What the database says of instructions that call.
fn known(database: &Database, with_callers: bool) -> Calls {
    let mut calls = Calls::new();
    for call in database.calls.iter().filter(|call| call.kind == CallKind::Called) {
        let callee = match call.callee {
            Callee::Function(function) => Called::Function(function),
            Callee::Named(name) => Called::Named(database.text(name).to_owned()),
            Callee::Unknown => Called::Unknown,
        };
        *calls.entry((with_callers.then_some(call.caller), callee)).or_default() += call.times;
    }
    calls
}

#[track_caller]
fn check_calls(source: &str, compiler: &str, flags: &[&str], with_callers: bool, least: usize) {
    let Some(workspace) = Workspace::with(compiler) else { return };
    let database = database(&workspace.executable(source, flags));
    let (known, expected) =
        (known(&database, with_callers), disassembled(&workspace, "program", &database, with_callers));
    assert!(least <= expected.len(), "{} calls are too few for a test", expected.len());
    let name = |row: &u32| database.text(database.functions[*row as usize].name);
    for ((caller, callee), times) in &expected {
        let found = known.get(&(*caller, callee.clone())).copied().unwrap_or(0);
        let callee_name = if let Called::Function(row) = callee { name(row) } else { "" };
        assert_eq!(found, *times, "{:?} calls {callee:?} {callee_name}", caller.as_ref().map(name));
    }
    assert_eq!(known.len(), expected.len(), "{known:?}");
}

#[test]
fn calls_are_those_of_the_disassembly() {
    // Some of its functions are inlined always.
    check_calls("calls.c", "gcc", &["-g", "-O0"], false, 5);
    check_calls("calls.c", "gcc", &["-g", "-O2"], false, 5);
    check_calls("shapes.cpp", "g++", &["-g", "-O0"], true, 100);
    check_calls("shapes.cpp", "g++", &["-g", "-O2"], false, 10);
    check_calls("shapes.cpp", "g++", &["-g", "-O0", "-fno-plt"], true, 100);
    check_calls("shapes.cpp", "g++", &["-g0", "-O1", "-no-pie"], true, 10);
    // Its standard library is optimised.
    check_calls("calls.rs", "rustc", &["-g"], false, 400);
}

/// Lines of the callers of a function, ascending, with the kinds of the calls.
fn callers<'d>(database: &'d Database, callee: &str) -> Vec<(&'d str, u32, CallKind)> {
    let name = |row: u32| database.text(database.functions[row as usize].name);
    let calls = database.calls.iter().filter(|call| match call.callee {
        Callee::Function(row) => name(row) == callee,
        Callee::Named(named) => database.text(named) == callee,
        Callee::Unknown => callee == "?",
    });
    let mut found: Vec<_> =
        calls.map(|call| (name(call.caller), call.place.map_or(0, |place| place.line), call.kind)).collect();
    found.sort_unstable();
    found
}

#[test]
fn calls_stand_at_their_lines() {
    let Some(workspace) = Workspace::with("g++") else { return };
    for (flags, kind) in [(["-g", "-O0"], CallKind::Called), (["-g", "-O2"], CallKind::Inlined)] {
        let database = database(&workspace.executable("shapes.cpp", &flags));
        let twice = callers(&database, "geometry::twice<int>");
        assert_eq!(twice, [("main", line("shapes.cpp", "twice(i)"), kind)], "{flags:?}");
    }
    let database = database(&workspace.executable("shapes.cpp", &["-g", "-O0"]));
    let indirect = callers(&database, "?");
    let thrice = ("countdown", line("shapes.cpp", "thrice(n)"), CallKind::Called);
    assert_eq!(callers(&database, "thrice"), [thrice]);
    // A virtual function and a pointer; nobody knows where they lead.
    assert!(
        indirect.contains(&("main", line("shapes.cpp", "shape->area()"), CallKind::Called)),
        "{indirect:?}"
    );
    assert!(
        indirect.contains(&("main", line("shapes.cpp", "step(count)"), CallKind::Called)),
        "{indirect:?}"
    );
    let printf = ("main", line("shapes.cpp", "%f %d"), CallKind::Called);
    assert!(callers(&database, "printf").contains(&printf));
}

#[test]
fn types_have_their_members_and_bases() {
    let Some(workspace) = Workspace::with("g++") else { return };
    let database = database(&workspace.executable("shapes.cpp", &["-g", "-O1"]));
    let named = |name: &str| database.types.iter().position(|it| database.text(it.name) == name).unwrap();
    let types: Vec<_> = ["geometry::Shape", "geometry::Square", "Point", "Colour", "Named", "Both"]
        .map(|name| {
            let it = &database.types[named(name)];
            (name, it.kind, it.place.unwrap().line, it.bytes.unwrap())
        })
        .into();
    let at = |text: &str| line("shapes.cpp", text);
    let expected = [
        ("geometry::Shape", TypeKind::Class, at("class Shape {"), 24),
        ("geometry::Square", TypeKind::Class, at("class Square"), 32),
        ("Point", TypeKind::Struct, at("typedef struct"), 8),
        ("Colour", TypeKind::Enum, at("enum Colour"), 4),
        ("Named", TypeKind::Struct, at("struct Named"), 16),
        ("Both", TypeKind::Struct, at("struct Both"), 48),
    ];
    assert_eq!(types, expected);
    let members = |of: &str| -> Vec<_> {
        let of = named(of);
        let members = database.members.iter().filter(|it| it.of as usize == of);
        let told = |it: &marey_source::database::Member| {
            format!(
                "{} {:?} {:?}{} {}",
                database.text(it.name),
                it.access,
                it.kind,
                if it.is_virtual { " virtual" } else { "" },
                database.text(it.type_name)
            )
        };
        let mut members: Vec<String> = members.map(told).map(|it| it.trim_end().to_owned()).collect();
        members.sort_unstable();
        members
    };
    let shape = [
        "Shape Public Constructor",
        "area Public Method virtual double",
        "cached Private Field double",
        "count Public StaticField int",
        "sides Protected Field int",
        "~Shape Public Destructor virtual",
    ];
    assert_eq!(members("geometry::Shape"), shape);
    let square = [
        "Square Public Constructor",
        "area Public Method virtual double",
        "operator+ Public Operator geometry::Square",
        "side Private Field double",
    ];
    assert_eq!(members("geometry::Square"), square);
    assert_eq!(members("Colour"), ["Green Public Value", "Red Public Value"]);
    let name = |row: u32| database.text(database.types[row as usize].name);
    let mut bases: Vec<_> =
        database.bases.iter().map(|it| (name(it.derived), name(it.base), it.access, it.is_virtual)).collect();
    bases.retain(|(derived, ..)| !derived.starts_with("std::") && !derived.starts_with("__"));
    bases.sort_unstable();
    let expected = [
        ("Both", "Left", Access::Public, false),
        ("Both", "Right", Access::Private, false),
        ("Left", "Named", Access::Public, true),
        ("Right", "Named", Access::Public, true),
        ("geometry::Square", "geometry::Shape", Access::Public, false),
    ];
    assert_eq!(bases, expected);
    // A method leads to its code, and code to the method's type.
    let area = database
        .members
        .iter()
        .find(|it| {
            database.text(it.name) == "area"
                && name(it.of) == "geometry::Square"
                && it.kind == MemberKind::Method
        })
        .unwrap();
    let function = &database.functions[area.function.unwrap() as usize];
    assert_eq!(function.of, Some(area.of));
    assert_eq!(
        function.place.unwrap().line,
        line("shapes.cpp", "Square::area() const"),
        "where it is defined, not where it is declared"
    );
}

#[test]
fn equal_files_give_equal_databases() {
    let Some(workspace) = Workspace::with("g++") else { return };
    let path = workspace.executable("shapes.cpp", &["-g", "-O2"]);
    let told = || format!("{:?}", database(&path).calls);
    assert_eq!(told(), told());
}

/// What a database says of one source, without numbers and addresses: where other things are left out, they are others.
fn rows(it: &Database, source: &str) -> std::collections::BTreeSet<String> {
    let at = |place: Option<marey_source::database::Place>| {
        let place = place.filter(|place| it.path(*place).ends_with(source))?;
        Some(format!("{}:{}", it.path(place), place.line))
    };
    let of = |row: Option<u32>| row.map_or("", |row| it.text(it.types[row as usize].name));
    let function = |row: u32| it.text(it.functions[row as usize].name);
    let functions = it.functions.iter().filter_map(|row| {
        let (name, linkage, size) = (it.text(row.name), it.text(row.linkage), row.code_bytes);
        let marks = (row.is_external, row.is_inline, row.entries.len());
        Some(format!("{name} {linkage} {} {} {marks:?} {size}", at(row.place)?, of(row.of)))
    });
    let types = it.types.iter().filter_map(|row| {
        Some(format!("{} {:?} {} {:?}", it.text(row.name), row.kind, at(row.place)?, row.bytes))
    });
    let members = it.members.iter().filter_map(|row| {
        let (name, of_type, code) = (it.text(row.name), it.text(row.type_name), row.function.map(function));
        Some(format!("{} {name} {of_type} {:?} {} {code:?}", of(Some(row.of)), row.kind, at(row.place)?))
    });
    let is_here = |row: &&marey_source::database::Base| at(it.types[row.derived as usize].place).is_some();
    let bases = it.bases.iter().filter(is_here).map(|row| {
        format!("{} {} {:?} {}", of(Some(row.derived)), of(Some(row.base)), row.access, row.is_virtual)
    });
    let calls = it.calls.iter().filter_map(|row| {
        let callee = match row.callee {
            Callee::Named(name) => it.text(name),
            Callee::Function(row) => function(row),
            Callee::Unknown => "",
        };
        Some(format!("{} {callee} {:?} {} {}", function(row.caller), row.kind, at(row.place)?, row.times))
    });
    functions.chain(types).chain(members).chain(bases).chain(calls).collect()
}

#[track_caller]
fn check_rows(split: &Database, whole: &Database) {
    let (split, whole) = (rows(split, "shapes.cpp"), rows(whole, "shapes.cpp"));
    let differing: Vec<&String> = split.symmetric_difference(&whole).collect();
    assert_eq!(differing, Vec::<&String>::new());
    assert!(50 < whole.len(), "{}", whole.len());
}

#[test]
fn debug_information_in_files_of_its_own_tells_the_same() {
    for version in ["-gdwarf-5", "-gdwarf-4"] {
        let Some(workspace) = Workspace::with("g++") else { return };
        let whole = database(&workspace.executable("shapes.cpp", &[version, "-O2"]));
        let program = workspace.executable("shapes.cpp", &[version, "-O2", "-gsplit-dwarf"]);
        check_rows(&database(&program), &whole);
        if version == "-gdwarf-4" {
            workspace.tool("dwp", &["-e", "program", "-o", "program.dwp"]);
            workspace.remove_by_extension("dwo");
            check_rows(&database(&program), &whole);
            workspace.remove_by_extension("dwp");
        } else {
            workspace.remove_by_extension("dwo");
        }
        let config =
            SymbolizerConfig { debug_roots: Vec::new(), max_bytes: 1 << 30, only_symbols: Vec::new() };
        let without = Database::of(&ModuleRef { path: &program, build_id: None }, &config);
        assert!(!without.has_debug_information && without.types.is_empty());
        let [problem] = &without.problems[..] else { panic!("{:?}", without.problems) };
        let told = problem.to_string();
        assert!(told.starts_with("1 of the files that -gsplit-dwarf") && told.contains(".dwo"), "{told}");
        // A symbol and a line of its code are a function of the text.
        let countdown = without.functions.iter().find(|it| without.text(it.name) == "countdown").unwrap();
        assert_eq!(countdown.place.unwrap().line, line("shapes.cpp", "int countdown("));
    }
}
