//! What must have no guard has none, is told with its reason, and the copy builds and does the same.
//!
//! The one idea: the reason stands beside the function or the loop, as a comment on its line; what has no such comment has
//! a guard. Each would make a copy that does not compile, or does something else, so compilers are the second witness.

use std::collections::BTreeMap;
use std::fs;

use crate::program::Program;

/// Compares all reasons with what sources say of themselves, and gives their number.
fn as_comments_say(original: &Program, json: &serde_json::Value) -> usize {
    let mut refused = 0;
    for row in ["functions", "loops"].into_iter().flat_map(|kind| json[kind].as_array().unwrap()) {
        let text = fs::read_to_string(original.root().join(row["file"].as_str().unwrap())).unwrap();
        let number = usize::try_from(row["line"].as_u64().unwrap()).unwrap();
        let line = text.lines().nth(number - 1).unwrap();
        let reason = line.split_once("// ").map(|(_, reason)| reason);
        assert_eq!(row["reason"].as_str(), reason, "{line}");
        refused += usize::from(reason.is_some());
    }
    refused
}

fn as_before(source: &str, compilers: &[(&str, &[&str])], refused: usize) {
    let Some(original) = Program::of(&[source, "heads.h"]) else { return };
    let (copy, json) = original.instrumented(&["--rule", "trace loops:*"]);
    assert_eq!(as_comments_say(&original, &json), refused);
    for (compiler, flags) in compilers {
        let Some(binary) = original.compile(compiler, source, flags) else { return };
        let expected = original.run(&binary);
        let binary = copy.compile(compiler, source, flags).unwrap();
        assert_eq!(copy.run(&binary), expected, "{compiler} {flags:?}");
    }
}

#[test]
fn what_of_c_would_not_compile_stays_as_it_is() {
    let compilers: [(&str, &[&str]); 3] =
        [("gcc", &["-w"]), ("gcc", &["-w", "-fopenmp"]), ("clang", &["-w"])];
    as_before("heads.c", &compilers, 14);
}

#[test]
fn what_of_cpp_would_not_compile_stays_as_it_is() {
    let flags = ["-std=c++17", "-DLIB_CONSTEXPR20=constexpr", "-DKOKKOS_INLINE_FUNCTION=inline"];
    let compilers: [(&str, &[&str]); 2] = [("g++", &flags), ("clang++", &flags)];
    as_before("heads.cpp", &compilers, 7);
}

/// A package with a build script of several files, constants with loops, and what is below `vendor` sealed.
fn package() -> Program {
    let it = Program::of(&["heads.h"]).unwrap();
    for (file, text) in [
        (
            "Cargo.toml",
            "[package]\nname = \"various-things\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build/main.rs\"\n",
        ),
        ("build/main.rs", "mod util;\nfn main() {\n    util::hello();\n}\n"),
        ("build/util.rs", "pub fn hello() {\n    println!(\"cargo:rerun-if-changed=build\");\n}\n"),
        (
            "src/main.rs",
            "fn table() -> [u8; 4] {\n\
             const T: [u8; 4] = { let mut t = [0u8; 4]; let mut i = 0; while i < 4 { t[i] = i as u8; i += 1; } t };\n\
             static S: u32 = { let mut s = 0; while s < 9 { s += 4; } s };\n\
             let long = [S; { let mut n = 1; while n < 3 { n += 1; } n }];\n\
             let sum = const { let mut n = 1; while n < 5 { n += 1; } n };\n\
             let mut all = T;\n\
             for one in &mut all { *one += sum + long.len() as u8; }\n\
             all\n}\n\
             #[cfg(any())]\n#[unsafe(naked)]\n// It has none.\nextern \"C\" fn bare() { naked_asm!(\"ret\") }\n\
             fn main() {\nprintln!(\"{:?}\", table());\n}\n",
        ),
        ("vendor/thing/.cargo-checksum.json", "{\"files\":{}}"),
        ("vendor/thing/Cargo.toml", "[package]\nname = \"thing\"\nversion = \"0.1.0\"\n[workspace]\n"),
        ("vendor/thing/src/lib.rs", "pub fn sealed() {}\n"),
    ] {
        let to = it.root().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, text).unwrap();
    }
    it
}

#[test]
fn what_of_rust_would_not_compile_stays_as_it_is() {
    let original = package();
    let (copy, json) = original.instrumented(&["--rule", "trace loops:*"]);
    let reasons: BTreeMap<(&str, u64), Option<&str>> = ["functions", "loops"]
        .iter()
        .flat_map(|kind| json[kind].as_array().unwrap())
        .map(|row| ((row["name"].as_str().unwrap(), row["line"].as_u64().unwrap()), row["reason"].as_str()))
        .collect();
    let (script, constant) = (
        Some("build script: it runs when the program is built"),
        Some("in a constant: it runs in the compiler"),
    );
    let expected = [
        (("thing::sealed", 1), Some("vendored: its checksums would no longer be right")),
        (("various_things::bare", 13), Some("naked: it has no frame")),
        (("various_things::build::main::main", 2), script),
        (("various_things::build::util::hello", 1), script),
        (("various_things::main", 14), None),
        (("various_things::table", 1), None),
        (("various_things::table:loop at src/main.rs:2", 2), constant),
        (("various_things::table:loop at src/main.rs:3", 3), constant),
        (("various_things::table:loop at src/main.rs:4", 4), constant),
        (("various_things::table:loop at src/main.rs:5", 5), constant),
        (("various_things::table:loop at src/main.rs:7", 7), None),
    ];
    assert_eq!(reasons, expected.into());
    let Some(_) = original.cargo("") else { return };
    let expected = original.run("./target/debug/various-things");
    assert_eq!(expected.0, "[8, 9, 10, 11]\n");
    copy.cargo("").unwrap();
    assert_eq!(copy.run("./target/debug/various-things"), expected);
}
