//! What is in a copy and what is not: by what is in a file, and so that what is built in the copy is the copy.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{Program, marey};

fn write(it: &Program, files: &[(&str, &[u8])]) {
    for (file, text) in files {
        let to = it.path(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, text).unwrap();
    }
}

fn left_out(json: &serde_json::Value) -> Vec<&str> {
    json["left_out"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect()
}

#[test]
fn what_is_called_like_an_object_and_is_none_is_copied() {
    let it = Program::of(&["various.c", "various.h"]).unwrap();
    write(
        &it,
        &[
            ("src/data/model.obj", b"# A cube\nv 0 0 0\nv 1 0 0\n"),
            ("src/data/hh.mod", b"NEURON {\n SUFFIX hh\n}\n"),
            ("src/go.mod", b"module example.org/thing\n"),
            ("src/made/old.mod", b"\x1f\x8b\x08\0rest"),
            ("src/made/thing.obj", b"\x64\x86\x02\0rest"),
            ("src/made/thing.lo", b"# thing.lo - a libtool object file\n"),
        ],
    );
    let Some(_) = it.compile("gcc", "various.c", &["-c", "-o", "various.o"]) else { return };
    let (copy, json) = it.instrumented(&[]);
    for stays in ["data/model.obj", "data/hh.mod", "go.mod"] {
        let read = |root: &Path| fs::read(root.join(stays)).unwrap();
        assert_eq!(read(&copy.root()), read(&it.root()), "{stays}");
    }
    assert_eq!(left_out(&json), ["made/old.mod", "made/thing.lo", "made/thing.obj", "various.o"]);
    // Who reads no JSON is told, too.
    let output = marey(it.dir()).args(["instrument", "src", "-o", "told"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.contains("a compiler has made it")).unwrap_or_default();
    assert!(line.contains(" 4 ") && line.contains("made/old.mod"), "{text}");
    let output = marey(it.dir()).args(["instrument", "src", "--list"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(left_out(&json).iter().all(|path| text.contains(path)), "{text}");
}

/// What CMake 3.25 writes into the directory of the sources, as far as it matters here.
#[test]
fn a_build_that_names_the_original_is_left_out_or_told() {
    let it = Program::of(&["various.c", "various.h"]).unwrap();
    let root = it.root().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let made = format!(
        "# CMAKE generated file: DO NOT EDIT!\nall:\n\tgcc {root}/various.c -o {root}/program -pthread\n"
    );
    write(
        &it,
        &[
            ("src/CMakeLists.txt", b"project(p C)\nadd_executable(program various.c)\n"),
            ("src/CMakeCache.txt", format!("CMAKE_HOME_DIRECTORY:INTERNAL={root}\n").as_bytes()),
            ("src/CMakeFiles/program.dir/build.make", made.as_bytes()),
            ("src/Makefile", made.as_bytes()),
            ("src/cmake_install.cmake", format!("# Install script for directory: {root}\n").as_bytes()),
            ("src/by_hand/Makefile", format!("all:\n\tgcc {root}/various.c\n").as_bytes()),
            ("src/other/Makefile", b"all:\n\tgcc ../various.c\n"),
        ],
    );
    let (copy, json) = it.instrumented(&[]);
    assert_eq!(left_out(&json), ["CMakeCache.txt", "CMakeFiles", "Makefile", "cmake_install.cmake"]);
    assert!(copy.root().join("CMakeLists.txt").exists());
    let problems: Vec<&str> =
        json["problems"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
    let problems: Vec<&str> = problems.into_iter().filter(|it| it.contains(root)).collect();
    assert!(
        matches!(problems[..], [one] if one.starts_with("by_hand/Makefile names the directory")),
        "{problems:?}"
    );
}

#[test]
fn a_single_source_has_its_headers_and_may_have_its_copy_beside_it() {
    let it = Program::of(&["various.c", "various.h"]).unwrap();
    write(&it, &[
        ("src/one.c", b"#include \"deep/one.h\"\n#include \"not/there.h\"\n#include \"../above.h\"\n#include <stdio.h>\nint main(void) { return one() - ONE; }\n"),
        ("src/deep/one.h", b"#ifndef H\n#define H\n#include \"two.h\"\n#include \"../various.h\"\nstatic int one(void) { return TWO - 1; }\n#endif\n"),
        ("src/deep/two.h", b"#define TWO 2\n#include \"one.h\"\n"),
        ("src/deep/three.h", b"\n"),
        ("above.h", b"#define ONE 1\n"),
    ]);
    let before = fs::read(it.path("src/one.c")).unwrap();
    let run = |copy: &str| {
        let mut marey = marey(&it.root());
        marey.args(["instrument", "one.c", "--json", "--force", "-o", copy]).output().unwrap()
    };
    let output = run("out");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found = Vec::new();
    for directory in ["", "deep"] {
        let entries = fs::read_dir(it.path("src/out").join(directory)).unwrap().flatten();
        found
            .extend(entries.filter(|it| it.path().is_file()).map(|it| it.file_name().into_string().unwrap()));
    }
    found.sort();
    assert_eq!(found, ["one.c", "one.h", "two.h", "various.h"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        json["problems"][0],
        "one.c includes ../above.h, which is not in the copy; give the directory that has both"
    );
    // Where the compiler is told of that, the copy builds.
    let mut gcc = Command::new("gcc");
    match gcc.args(["out/one.c", "-include", "../above.h", "-o", "one"]).current_dir(it.root()).output() {
        Err(error) => marey_testkit::skip(&format!("gcc: {error}")),
        Ok(built) => {
            // The compiler asks for what is not there, as it does of the original.
            assert!(String::from_utf8_lossy(&built.stderr).contains("not/there.h"));
        }
    }
    // Over itself it is never written.
    for copy in [".", "../src"] {
        let output = run(copy);
        assert!(String::from_utf8_lossy(&output.stderr).contains("lies within the sources"));
    }
    assert_eq!(fs::read(it.path("src/one.c")).unwrap(), before);
}
