//! Functions of programs that were compiled with `-finstrument-functions`: each has the visits that the program
//! counted itself, under its name in the source, beneath whom it was called by.
//!
//! The one idea: a program prints what it has counted, one name and number a line, and the archive must say the
//! same of every function, and have no other. A name with slashes is a path of calls.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod build;
mod run;

use build::{Build, Compiler};
use run::{Counts, Run, is_called, same_counts};

/// Each program by each compiler of its language, without optimisation and with all of it.
fn check(source: &str, compilers: &[Compiler]) {
    for &compiler in compilers {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let Some(program) = Build::new(compiler, source).flags(&[level]).make() else { continue };
            let run = Run::of(&program, &[]);
            same_counts(&run, &format!("{source} {compiler:?} {level}"));
            run.expect_no_problems();
        }
    }
}

#[test]
fn calls_of_all_kinds_in_c() {
    check("calls.c", &[Compiler::Gcc, Compiler::Clang]);
}

#[test]
fn calls_that_are_left_by_jumps() {
    check("jumps.c", &[Compiler::Gcc, Compiler::Clang]);
}

#[test]
fn calls_of_cpp_and_exceptions() {
    check("calls.cpp", &[Compiler::Gxx, Compiler::Clangxx]);
}

#[test]
fn calls_of_fortran() {
    check("calls.f90", &[Compiler::Gfortran]);
}

/// A program as it is compiled mostly.
fn built(compiler: Compiler, source: &str) -> Option<build::Program> {
    Build::new(compiler, source).make()
}

#[test]
fn a_function_is_told_by_file_and_line() {
    for (compiler, source) in [
        (Compiler::Gcc, "calls.c"),
        (Compiler::Clang, "calls.c"),
        (Compiler::Gxx, "calls.cpp"),
        (Compiler::Clangxx, "calls.cpp"),
        (Compiler::Gfortran, "calls.f90"),
    ] {
        let Some(program) = built(compiler, source) else { continue };
        let functions = Run::of(&program, &[]).functions();
        assert!(functions.len() >= 6);
        for function in functions {
            let what = format!("{compiler:?} {} {}:{}", function.name, function.file, function.line);
            assert!(function.file.ends_with(source), "{what}");
            let text = std::fs::read_to_string(&function.file).unwrap();
            let line = text.lines().nth(function.line as usize - 1).expect(&what);
            // What gfortran adds has no line of its own.
            if source == "calls.f90" && function.name == "main" {
                continue;
            }
            let name = function.name.rsplit("::").next().unwrap().split('<').next().unwrap();
            assert!(line.contains(name), "{what}: {line}");
        }
    }
}

#[test]
fn a_function_without_a_name_is_called_after_its_place() {
    for flags in [&["-s"][..], &["-s", "-no-pie"]] {
        let Some(program) = Build::new(Compiler::Gcc, "places.c").flags(flags).make() else { return };
        // It lies where it is linked for.
        let run = Run::of(&program, &[]);
        let (told, _) = run.told();
        let base = if flags.len() == 2 { 0x40_0000 } else { 0 };
        let moved: Counts = told
            .into_iter()
            .map(|(name, number)| {
                let at = u64::from_str_radix(name.strip_prefix("program+0x").unwrap(), 16).unwrap();
                (format!("program+{:#x}", at + base), number)
            })
            .collect();
        assert_eq!(run.recorded().0, moved, "{flags:?}");
    }
}

#[test]
fn functions_and_regions_nest_and_rules_may_come_late() {
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../marey-collect/include");
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        // What the header defines is the program's, but not meant.
        let list = "-finstrument-functions-exclude-file-list=marey.h";
        let flags = if compiler == Compiler::Gcc { &[include, list][..] } else { &[include] };
        let Some(program) = Build::new(compiler, "nested.c").flags(flags).make() else { continue };
        let run = Run::of(&program, &["--rule", "off marey_*"]);
        same_counts(&run, &format!("{compiler:?}"));
    }
}

#[test]
fn sums_are_exact_too() {
    for (compiler, source) in [(Compiler::Gcc, "calls.c"), (Compiler::Clangxx, "calls.cpp")] {
        let Some(program) = built(compiler, source) else { continue };
        same_counts(&Run::of(&program, &["--mode", "profile"]), source);
    }
}

#[test]
fn the_first_function_begins_the_recording() {
    let Some(program) = built(Compiler::Gcc, "calls.c") else { return };
    let line = format!("true; {}; true", program.path.display());
    same_counts(&Run::of_command(&["sh", "-c", &line], &[]), "behind a shell");
}

#[test]
fn libraries_that_are_closed_leave_their_places_to_others() {
    let plug = |which: &str, output: &'static str| {
        let which = format!("-DWHICH={which}");
        Build::new(Compiler::Gcc, "plug.c").flags(&["-shared", "-fPIC", &which]).output(output).make()
    };
    let Some(program) = Build::new(Compiler::Gcc, "plugs.c").flags(&["-ldl"]).make() else { return };
    let (Some(one), Some(two)) = (plug("1", "one.so"), plug("2", "two.so")) else { return };
    let paths = [&program, &one, &two].map(|built| built.path.to_str().unwrap());
    same_counts(&Run::of_command(&paths, &[]), "plugs");
}

#[test]
fn odd_programs_end_as_they_would_have_ended() {
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for flags in [&["-O0"][..], &["-O2"], &["-O1", "-no-pie", "-Wl,-z,now"]] {
            let Some(program) = Build::new(compiler, "odd.c").flags(flags).make() else { continue };
            let run = Run::of(&program, &[]);
            let (mut told, mut recorded) = (run.told().0, run.recorded().0);
            // A thread has ended for the recorder before others have said their last words.
            let unrecorded = told.remove("last_words").unwrap() - recorded.remove("last_words").unwrap();
            assert_eq!(run.problem("dropped"), 2 * unrecorded, "{compiler:?} {flags:?}");
            told.retain(|_, number| *number > 0);
            assert_eq!(recorded, told, "{compiler:?} {flags:?}");
        }
    }
}

#[test]
fn a_library_may_be_resolved_before_the_recorder_is_ready() {
    let flags = ["-shared", "-fPIC", "-Wl,-z,now"];
    let Some(library) = Build::new(Compiler::Gcc, "resolved.c").flags(&flags).output("libresolved.so").make()
    else {
        return;
    };
    let dir = library.path.parent().unwrap().to_str().unwrap();
    let (search, find) = (format!("-L{dir}"), format!("-Wl,-rpath,{dir}"));
    let flags = [&search, &find, "-lresolved", "-DMAIN"];
    let Some(program) = Build::new(Compiler::Gcc, "resolved.c").flags(&flags).make() else { return };
    same_counts(&Run::of(&program, &[]), "resolved");
}

/// Rules, and the names that are left out or only counted by them, of a program in each language.
#[test]
fn rules_fit_functions_by_their_names() {
    for (compiler, source, left_out, pattern) in [
        (Compiler::Gcc, "calls.c", &["leaf", "inlined"][..], "[li]*"),
        (Compiler::Gxx, "calls.cpp", &["ns::add<int>", "ns::add<double>"], "ns::add<*>"),
        (Compiler::Gxx, "calls.cpp", &["Square<4>::area"], "Square<*>::area"),
        (Compiler::Gfortran, "calls.f90", &["work::factorial", "work::step"], "work::*"),
        (Compiler::Gfortran, "calls.f90", &["external_one"], "external_one"),
    ] {
        let Some(program) = built(compiler, source) else { continue };
        let (told, _) = Run::of(&program, &[]).told();
        let patterns: Vec<&str> = if pattern == "[li]*" { vec!["leaf", "inlined"] } else { vec![pattern] };
        for detail in ["off", "count", "time"] {
            let rules: Vec<String> = patterns.iter().map(|pattern| format!("{detail} {pattern}")).collect();
            let options: Vec<&str> = rules.iter().flat_map(|rule| ["--rule", rule]).collect();
            let (found, _) = Run::of(&program, &options).recorded();
            for (name, &number) in &told {
                let is_left_out = left_out.iter().any(|left_out| is_called(name, left_out));
                let expected = if is_left_out && detail == "off" { 0 } else { number };
                let sum = |(found, _): &(&String, &u64)| is_called(name, found);
                let sum: u64 = found.iter().filter(sum).map(|(_, number)| number).sum();
                assert_eq!(sum, expected, "{compiler:?} {detail} {pattern}: {name} in {found:#?}");
            }
        }
    }
}
