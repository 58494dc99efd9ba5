//! Programs show where their own data lie, and what they are; from the address alone the same must be found, however the
//! program was built.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

#[expect(unreachable_pub, dead_code, reason = "a module of tests")]
mod toolchain;

use std::path::{Path, PathBuf};

use marey_source::variables::{Holder, Variable, Variables};
use marey_source::{ModuleRef, Quality, SymbolizerConfig};
use toolchain::Workspace;

/// Something that a program showed.
struct Shown {
    module: PathBuf,
    /// Of the data, or where the function goes on.
    vaddr: u64,
    /// For what lies in a frame.
    from_cfa: Option<i64>,
    bytes: u64,
    /// In the words of the program.
    what: String,
}

fn config(root: &Path) -> SymbolizerConfig {
    SymbolizerConfig { debug_roots: vec![root.to_owned()], max_bytes: 1 << 30, only_symbols: vec![] }
}

/// Builds a program, with what shows its data beside it.
fn build(workspace: &Workspace, source: &str, flags: &[&str]) -> PathBuf {
    let show = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/show.c");
    workspace.tool("gcc", &["-O1", "-fPIC", "-c", show.to_str().unwrap(), "-o", "show.o"]);
    let beside: &[&str] = if source.ends_with("rs") {
        &["-C", "link-arg=show.o", "--crate-name", "variables"]
    } else {
        &["show.o"]
    };
    workspace.executable(source, &[flags, beside].concat())
}

fn shown(workspace: &Workspace, program: &Path) -> Vec<Shown> {
    let text = workspace.tool(program.to_str().unwrap(), &[]);
    let lines = text.lines().map(|line| {
        let [kind, module, vaddr, from_cfa, bytes, what] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("unexpected output: {line}")
        };
        Shown {
            module: PathBuf::from(module),
            vaddr: vaddr.parse().unwrap(),
            from_cfa: (kind == "frame").then(|| from_cfa.parse().unwrap()),
            bytes: bytes.parse().unwrap(),
            what: what.to_owned(),
        }
    });
    lines.collect()
}

/// A variable in the words of the programs.
fn written(variable: Option<&Variable>) -> String {
    let Some(it) = variable else { return "-".to_owned() };
    let holder = match it.holder {
        Holder::Storage => "storage",
        Holder::Pointer => "pointer",
        Holder::Descriptor | Holder::Allocatable => "descriptor",
    };
    let bound = |(lower, extent): &(i64, Option<u64>)| {
        format!("{lower}:{}", extent.map_or_else(|| "?".to_owned(), |extent| extent.to_string()))
    };
    let bounds: Vec<_> = it.bounds.iter().map(bound).collect();
    let (scope, name, offset, bytes, element) = (&it.scope, &it.name, it.offset, it.bytes, &it.element);
    format!("{scope}|{name}|{offset}/{bytes}|{holder}|{element}|{}", bounds.join(" "))
}

fn find(variables: &Variables, shown: &Shown, vaddr_by: i64) -> Option<Variable> {
    match shown.from_cfa {
        Some(from_cfa) => variables.in_frame(shown.vaddr, from_cfa + vaddr_by, shown.bytes),
        None => variables.at(shown.vaddr.wrapping_add_signed(vaddr_by), shown.bytes),
    }
}

/// All that the program shows must be found, declared on a line that names it; and its neighbours must not be.
#[track_caller]
fn check(source: &str, flags: &[&str]) -> Vec<Shown> {
    let compiler = match source.rsplit_once('.').unwrap().1 {
        "cpp" => "g++",
        "f90" => "gfortran",
        "rs" => "rustc",
        _ => "gcc",
    };
    let Some(workspace) = Workspace::with(compiler) else { return Vec::new() };
    let program = build(&workspace, source, flags);
    let shown = shown(&workspace, &program);
    compare(&workspace, source, &shown);
    shown
}

#[track_caller]
fn compare(workspace: &Workspace, source: &str, shown: &[Shown]) {
    assert!(5 <= shown.len(), "{source} showed {} places", shown.len());
    let module = shown[0].module.clone();
    let (variables, problems) =
        Variables::open(&ModuleRef { path: &module, build_id: None }, &config(workspace.dir()));
    assert_eq!(problems, []);
    let source_text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source));
    let lines: Vec<String> = source_text.unwrap().lines().map(str::to_owned).collect();
    let mut wrong = Vec::new();
    for it in shown {
        let found = find(&variables, it, 0);
        let told = written(found.as_ref());
        if told != it.what {
            wrong.push(format!("{}\n  found {told}", it.what));
            continue;
        }
        let Some(found) = found else { continue };
        assert_eq!(found.quality, Quality::Lines);
        assert_eq!(Path::new(&found.file).file_name(), Some(source.as_ref()), "{found:?}");
        let line = &lines[found.line as usize - 1];
        let name = found.name.split(['.', '%']).next().unwrap();
        assert!(line.contains(name) && !line.contains("show"), "{found:?}: {line}");
        // One byte before its beginning and behind its end is something else.
        for by in [-1 - found.offset.cast_signed(), (found.bytes - found.offset).cast_signed()] {
            let next =
                find(&variables, &Shown { bytes: 1, module: module.clone(), what: String::new(), ..*it }, by);
            let is_other = next.as_ref().is_none_or(|next| {
                (&next.name, &next.scope, next.line) != (&found.name, &found.scope, found.line)
            });
            // Elements of arrays of structures have neighbours of the same name.
            assert!(
                is_other || found.bounds.is_empty() || found.name.contains(['.', '%']),
                "{found:?} {next:?}"
            );
        }
    }
    assert!(wrong.is_empty(), "{source}:\n{}", wrong.join("\n"));
}

#[test]
fn variables_of_c() {
    check("variables.c", &["-g", "-O0"]);
    check("variables.c", &["-gdwarf-4", "-O0", "-no-pie"]);
    check("variables.c", &["-g", "-O2"]);
}

#[test]
fn variables_of_c_by_clang_whose_frames_count_from_a_register() {
    let Some(mut workspace) = Workspace::with("clang") else { return };
    workspace.c_compiler = "clang";
    for flags in [["-g", "-O0"], ["-gdwarf-4", "-O0"]] {
        let program = build(&workspace, "variables.c", &flags);
        let mut shown = shown(&workspace, &program);
        for it in &mut shown {
            it.what = it.what.replace("long int", "long");
        }
        compare(&workspace, "variables.c", &shown);
    }
}

#[test]
fn variables_of_cpp() {
    check("variables.cpp", &["-g", "-O0"]);
    check("variables.cpp", &["-gdwarf-4", "-O1"]);
}

#[test]
fn variables_of_fortran() {
    check("variables.f90", &["-g", "-O0"]);
    check("variables.f90", &["-gdwarf-4", "-O2"]);
}

#[test]
fn variables_of_rust() {
    check("variables.rs", &["-g"]);
}

#[test]
fn variables_in_debug_information_of_its_own() {
    // Beside each object.
    check("variables.c", &["-g", "-O0", "-gsplit-dwarf"]);
    check("variables.c", &["-gdwarf-4", "-O0", "-gsplit-dwarf"]);
    // In one file, found by the build id.
    let Some(workspace) = Workspace::with("objcopy") else { return };
    let program = build(&workspace, "variables.c", &["-g", "-O0", "-Wl,--build-id=0xabcdef"]);
    let shown = shown(&workspace, &program);
    std::fs::create_dir_all(workspace.dir().join(".build-id/ab")).unwrap();
    workspace.tool("objcopy", &["--only-keep-debug", "program", ".build-id/ab/cdef.debug"]);
    workspace.tool("strip", &["program"]);
    compare(&workspace, "variables.c", &shown);
}

#[test]
fn variables_in_debug_information_that_is_shared() {
    let Some(workspace) = Workspace::with("dwz") else { return };
    let program = build(&workspace, "variables.cpp", &["-gdwarf-4", "-O0"]);
    let shown = shown(&workspace, &program);
    std::fs::copy(&program, workspace.dir().join("twin")).unwrap();
    workspace.tool("dwz", &["-m", "common.debug", "program", "twin"]);
    assert!(workspace.tool("readelf", &["-S", "program"]).contains(".gnu_debugaltlink"));
    compare(&workspace, "variables.cpp", &shown);
}

#[test]
fn symbols_have_names_where_there_is_no_debug_information() {
    for source in ["variables.c", "variables.f90"] {
        let Some(workspace) = Workspace::with("gfortran") else { return };
        let program = build(&workspace, source, &["-O0"]);
        let shown = shown(&workspace, &program);
        let module = ModuleRef { path: &program, build_id: None };
        let (variables, problems) = Variables::open(&module, &config(workspace.dir()));
        assert_eq!(problems, []);
        let mut named = 0;
        for it in shown.iter().filter(|it| it.what != "-") {
            let found = find(&variables, it, 0);
            if it.from_cfa.is_some() {
                assert_eq!(found, None, "{}", it.what);
                continue;
            }
            let found = found.unwrap();
            let [scope, name, ..] = it.what.split('|').collect::<Vec<_>>()[..] else { panic!("{}", it.what) };
            // Symbols know no members; of procedures and common blocks they know parts of names at best.
            let variable = name.split(['.', '%']).next().unwrap();
            if scope.is_empty() || scope == "state" {
                assert_eq!((found.scope.as_str(), found.name.as_str()), (scope, variable));
                named += 1;
            }
            assert_eq!((found.quality, found.line, found.element.as_str()), (Quality::Symbols, 0, ""));
        }
        assert!(8 <= named, "{named}");
    }
}

#[test]
fn tokens_of_coarrays_are_called_as_their_arrays() {
    for flags in [["-g", "-O0"], ["-g", "-O2"]] {
        let Some(workspace) = Workspace::with("gfortran") else { return };
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/coarrays.c");
        workspace.tool("gcc", &["-c", library.to_str().unwrap(), "-o", "caf.o"]);
        let program = build(&workspace, "coarrays.f90", &[&flags[..], &["-fcoarray=lib", "caf.o"]].concat());
        let shown = shown(&workspace, &program);
        assert_eq!(shown.len(), 6);
        let module = ModuleRef { path: &program, build_id: None };
        let (variables, problems) = Variables::open(&module, &config(workspace.dir()));
        assert_eq!(problems, []);
        for it in &shown {
            assert_eq!(written(find(&variables, it, 0).as_ref()), it.what);
        }
    }
}

#[test]
fn cells_that_say_where_data_lie_are_all_found() {
    let expected: [(&str, &str, &[&str]); 2] = [
        ("variables.c", "", &["data", "holder.values", "lines", "lines", "lines"]),
        ("variables.f90", "state", &["c%g", "cells%g", "cells%g", "cells%g", "cells%g", "ptr", "w"]),
    ];
    for (source, scope, cells) in expected {
        let Some(workspace) = Workspace::with("gfortran") else { return };
        let program = build(&workspace, source, &["-g", "-O0"]);
        let module = ModuleRef { path: &program, build_id: None };
        let (variables, _) = Variables::open(&module, &config(workspace.dir()));
        let held: Vec<_> = variables.holders().iter().map(|cell| variables.at(*cell, 8).unwrap()).collect();
        let mut names: Vec<_> = held
            .iter()
            .filter(|it| it.file.ends_with(source) && it.scope == scope)
            .map(|it| it.name.as_str())
            .collect();
        names.sort_unstable();
        assert_eq!(names, cells);
    }
}
