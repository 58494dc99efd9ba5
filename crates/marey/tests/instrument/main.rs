//! `marey instrument`: the copy builds as the original does, does what that does, and has as many calls of each function as an
//! independent witness counts: gcov in C and C++, arithmetic in Rust.
//!
//! The one idea: a program is a directory of sources; it is built and run as it is, and its copy alone and recorded.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod again;
mod left_out;
mod program;
mod refusals;
mod refused;

use std::collections::BTreeMap;

use program::{Counts, Place, Program, marey};

/// Of a function with two heads, each under a condition, the text has the line of the first.
fn with_first_heads(gcov: &Counts) -> Counts {
    let first = |((at, name), calls): (&(Place, String), &u64)| {
        let line = if name == "either" { 77 } else { at.1 };
        (((at.0.clone(), line), name.clone()), *calls)
    };
    gcov.iter().map(first).collect()
}

/// Calls by gcov that nobody can guard, or nobody has written as a function of its own.
fn compare(gcov: &Counts, recorded: &Counts, without: &[&str], what: &str) {
    let mut expected: BTreeMap<_, u64> = BTreeMap::new();
    for ((at, name), calls) in &with_first_heads(gcov) {
        let is_left_out = name.contains("{lambda") || without.contains(&name.as_str());
        if *calls > 0 && !is_left_out {
            *expected.entry(at.clone()).or_default() += calls;
        }
    }
    let mut found: BTreeMap<_, u64> = BTreeMap::new();
    for ((at, _), calls) in recorded {
        *found.entry(at.clone()).or_default() += calls;
    }
    assert_eq!(found, expected, "{what}");
}

/// Of each function that gcov knows there is a row, and nothing is left out silently.
fn rows_are_all(gcov: &Counts, copy: &serde_json::Value, without: &[&str]) {
    let rows: BTreeMap<Place, bool> = copy["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let (file, line) = (row["file"].as_str().unwrap(), row["line"].as_u64().unwrap());
            assert_eq!(row["guard"] == true, row["reason"].is_null(), "{row}");
            ((file.to_owned(), line), row["guard"] == true)
        })
        .collect();
    for (at, name) in with_first_heads(gcov).keys() {
        if !name.contains("{lambda") && !without.contains(&name.as_str()) {
            assert_eq!(rows.get(at), Some(&true), "{name} at {at:?}");
        }
    }
}

fn as_gcov_counts(source: &str, compilers: &[&'static str], without: &[&str]) {
    let Some(original) = Program::of(&["various.c", "various.cpp", "various.h"]) else { return };
    for compiler in compilers {
        let Some(binary) = original.compile(compiler, source, &["--coverage", "-O0"]) else { return };
        let expected = original.run(&binary);
        let gcov = original.gcov(source);
        assert!(gcov.len() > 14, "{gcov:#?}");
        let (copy, json) = original.instrumented(&[]);
        rows_are_all(&gcov, &json, without);
        let binary = copy.compile(compiler, source, &["-O2"]).unwrap();
        assert_eq!(copy.run(&binary), expected, "{compiler}");
        let (output, recorded) = copy.recorded(&[&binary], &[]);
        assert_eq!(output, expected, "{compiler}, recorded");
        compare(&gcov, &recorded, without, compiler);
        // The compiler has as much to say as before, about the same lines.
        let warnings = original.warnings(compiler, source);
        assert!(warnings.len() > 1, "{warnings:?}");
        assert_eq!(copy.warnings(compiler, source), warnings);
        // Lines are as they were: of functions, and of all that is compiled.
        let binary = copy.compile(compiler, source, &["--coverage", "-O0"]).unwrap();
        assert_eq!(copy.run(&binary), expected);
        let of_program = |counts: Counts| -> Vec<_> {
            counts.into_iter().filter(|((_, name), _)| !name.contains("marey_")).collect()
        };
        assert_eq!(of_program(copy.gcov(source)), of_program(gcov), "{compiler}");
        let (lines, before) = (copy.gcov_lines(source), original.gcov_lines(source));
        let gone: Vec<_> = before.difference(&lines).collect();
        assert!(gone.is_empty(), "{compiler}: {gone:?}");
    }
}

#[test]
fn c_has_the_calls_that_gcov_counts() {
    // A macro has made it.
    as_gcov_counts("various.c", &["gcc"], &["twice"]);
}

#[test]
fn cpp_has_the_calls_that_gcov_counts() {
    as_gcov_counts("various.cpp", &["g++"], &["square", "_ZN12_GLOBAL__N_16squareEi"]);
}

#[test]
fn clang_builds_the_copy_too() {
    let Some(original) = Program::of(&["various.c", "various.cpp", "various.h"]) else { return };
    let (copy, _) = original.instrumented(&["--rule", "trace loops:*"]);
    for (compiler, source) in [("clang", "various.c"), ("clang++", "various.cpp")] {
        let Some(binary) = original.compile(compiler, source, &["-w"]) else { return };
        let expected = original.run(&binary);
        let binary = copy.compile(compiler, source, &["-w", "-O1", "-fPIC"]).unwrap();
        assert_eq!(copy.run(&binary), expected);
        assert_eq!(copy.recorded(&[&binary], &[]).0, expected);
    }
}

/// Visits by name of a region.
fn by_name(recorded: &Counts) -> BTreeMap<&str, u64> {
    recorded.iter().map(|((_, name), calls)| (name.as_str(), *calls)).collect()
}

#[test]
fn loops_are_visited_as_often_as_they_are_begun() {
    let Some(original) = Program::of(&["various.c", "various.h"]) else { return };
    let (copy, json) = original.instrumented(&["--rule", "off *", "--rule", "trace loops:*"]);
    let Some(binary) = copy.compile("gcc", "various.c", &["-O1"]) else { return };
    let (_, recorded) = copy.recorded(&[&binary], &[]);
    let main = [110, 112, 113, 114, 118].map(|line| (format!("main:loop at various.c:{line}"), 1));
    let mut expected: BTreeMap<String, u64> = main.into();
    // It is called for -1 to 29, and comes there from 2 on.
    expected.insert("early:loop at various.c:33".to_owned(), 28);
    // In 20 rounds of the first each begins the second.
    expected.insert("in_loops:loop at various.c:85".to_owned(), 1);
    expected.insert("in_loops:loop at various.c:86".to_owned(), 20);
    expected.insert("in_loops:loop at various.c:89".to_owned(), 1);
    let found: BTreeMap<String, u64> =
        by_name(&recorded).into_iter().map(|(name, calls)| (name.to_owned(), calls)).collect();
    assert_eq!(found, expected);
    let duffs = json["loops"].as_array().unwrap().iter().find(|row| row["line"] == 94).unwrap();
    assert_eq!(duffs["reason"], "a case leads into it");
    assert!(json["functions"].as_array().unwrap().iter().all(|row| row["reason"] == "no rule wants it"));
}

/// A loop is refused for what a comment on its first line says, and has a guard without one.
#[test]
fn loops_that_something_leads_into_or_is_about_stay_as_they_are() {
    let Some(original) = Program::of(&["loops.c"]) else { return };
    let Some(binary) = original.compile("gcc", "loops.c", &["-fopenmp"]) else { return };
    let expected = original.run(&binary);
    let (copy, json) = original.instrumented(&["--rule", "trace loops:*"]);
    let binary = copy.compile("gcc", "loops.c", &["-fopenmp"]).unwrap();
    assert_eq!(copy.run(&binary), expected);
    assert_eq!(copy.recorded(&[&binary], &[]).0, expected);
    let text = std::fs::read_to_string(original.path("src/loops.c")).unwrap();
    let loops = json["loops"].as_array().unwrap();
    assert_eq!(loops.len(), 12);
    for row in loops {
        let number = usize::try_from(row["line"].as_u64().unwrap()).unwrap();
        let line = text.lines().nth(number - 1).unwrap();
        let reason = line.split_once("// ").map(|(_, reason)| reason);
        assert_eq!(row["reason"].as_str(), reason, "{line}");
    }
}

#[test]
fn one_filter_chooses_and_records() {
    let Some(original) = Program::of(&["various.c", "various.h"]) else { return };
    let filter = original.path("filter");
    std::fs::write(&filter, "off *   # but\ntrace is_*\ncount fib\ntrace file:*/various.h\noff is_odd\n")
        .unwrap();
    let filter = filter.to_str().unwrap();
    let (copy, _) = original.instrumented(&["--filter", filter]);
    let Some(binary) = copy.compile("gcc", "various.c", &["-O1"]) else { return };
    let all = [("clamp", 2), ("fib", 2902), ("is_even", 10)];
    let (_, recorded) = copy.recorded(&[&binary], &["--filter", filter, "--rule", "trace clamp"]);
    assert_eq!(by_name(&recorded), all.into());
    // Each call of a function that is counted is in the sums alone.
    assert_eq!(copy.intervals("fib"), 0);
    assert_eq!(copy.intervals("is_even"), 2 * 10, "each is entered and left");
}

/// Calls of `fib` that a call of it makes, itself among them.
fn calls_of_fib(n: u64) -> u64 {
    if n < 2 { 1 } else { 1 + calls_of_fib(n - 1) + calls_of_fib(n - 2) }
}

#[test]
fn rust_has_the_calls_that_arithmetic_says() {
    let files = ["manifest.toml", "src/lib.rs", "src/main.rs", "src/shapes.rs"];
    let Some(original) = Program::of(&files.map(|file| format!("cargo/{file}"))) else { return };
    let Some(binary) = original.cargo("cargo") else { return };
    let expected = original.run(&binary);
    let (copy, json) = original.instrumented(&["--rule", "trace loops:*"]);
    let binary = copy.cargo("cargo").unwrap();
    assert_eq!(copy.run(&binary), expected);
    let (output, recorded) = copy.recorded(&[&binary], &[]);
    assert_eq!(output, expected);
    let fib = [10, 11, 12, 15].map(calls_of_fib).iter().sum();
    // `max_by` compares the first with the second, and the larger of them, the second, with the third.
    let calls = [
        ("things::deep", 7),
        ("things::early", 12),
        ("things::early:loop at cargo/src/lib.rs:46", 11),
        ("things::early:loop at cargo/src/lib.rs:57", 11),
        ("things::fib", fib),
        ("things::outer", 1),
        ("things::outer::inner", 2),
        ("things::shapes::Circle::area", 3),
        ("things::shapes::Circle::told", 1),
        ("things::shapes::Shape::told", 1),
        ("things::shapes::Square::area", 2),
        ("things::shapes::called_back", 1),
        ("things::shapes::largest", 1),
        ("various_things::main", 1),
        ("various_things::quietly", 1),
    ];
    let mut found = by_name(&recorded);
    // How many rounds the outer loop of `early` begins before it leaves both at once.
    let rounds: u64 =
        (1..12).map(|n: u64| (0..n).position(|row| row * row > 20).map_or(n, |row| row as u64 + 1)).sum();
    assert_eq!(found.remove("things::early:loop at cargo/src/lib.rs:47"), Some(rounds));
    assert_eq!(found, calls.into());
    let reasons: BTreeMap<&str, &str> = json["functions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| Some((row["name"].as_str()?, row["reason"].as_str()?)))
        .collect();
    assert_eq!(reasons["things::square"], "const: it may run in the compiler");
    assert_eq!(reasons["things::later"], "async: between its polls it does not run");
    assert_eq!(reasons["things::$name"], "in the definition of a macro: it is a pattern of code elsewhere");
    assert_eq!(reasons.len(), 3);
    // The same with a function that is too dear to be recorded each time, on two threads.
    const CALLS: u64 = 600_000;
    let number = CALLS.to_string();
    let (output, recorded) = copy.recorded(&[&binary, &number], &[]);
    assert_eq!(output.1, Some(5));
    let found = by_name(&recorded);
    assert_eq!((found["things::hot"], found["things::warm"]), (2 * CALLS, 2));
    let reduced = copy.json("info")["reduced"].clone();
    let regions: Vec<_> = reduced["regions"].as_array().unwrap().iter().map(|it| &it["region"]).collect();
    assert_eq!(regions, ["things::hot"]);
    assert!(reduced["visits"].as_u64().unwrap() > CALLS, "{reduced}");
    // Again with another tree that was instrumented for itself.
    let write = |path: &str, text: &str| {
        let path = original.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for name in ["one", "two"] {
        let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        write(&format!("{name}/Cargo.toml"), &manifest);
        write(&format!("{name}/src/lib.rs"), &format!("pub fn {name}() -> u32 {{ 1 }}\n"));
        let mut instrument = marey(original.dir());
        assert!(
            instrument
                .args(["instrument", name, "-o", &format!("copy-{name}")])
                .output()
                .unwrap()
                .status
                .success()
        );
    }
    let manifest = "[package]\nname = \"various-things\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n\
                    one = { path = \"../copy-one\" }\ntwo = { path = \"../copy-two\" }\n";
    write("both/Cargo.toml", manifest);
    write("both/src/main.rs", "fn main() { std::process::exit(one::one() as i32 + two::two() as i32); }\n");
    let both = Program::at(&original, "both");
    let binary = both.cargo(".").unwrap();
    assert_eq!(both.run(&binary).1, Some(2));
    let (_, recorded) = both.recorded(&[&binary], &[]);
    let found = by_name(&recorded);
    assert_eq!((found.get("one::one"), found.get("two::two")), (Some(&1), Some(&1)));
}

#[test]
fn the_output_says_what_to_do_next() {
    let Some(original) = Program::of(&["various.c", "various.h"]) else { return };
    let output = marey(original.dir()).args(["instrument", "src", "-o", "copy"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Build in copy as you build in src"), "{text}");
    assert!(text.contains("marey record -- PROGRAM"), "{text}");
    let output = marey(original.dir()).args(["instrument", "src", "--list"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for function in ["fib", "old_style", "early", "clamp", "never_called"] {
        assert!(text.lines().any(|line| line.trim().ends_with(function)), "{function}: {text}");
    }
}
