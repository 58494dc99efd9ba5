//! What the command refuses, and that it never writes to the sources.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::program::{Program, marey};

/// All that a directory consists of: kinds, texts and times.
fn state(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut all = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            let metadata = fs::symlink_metadata(entry.path()).unwrap();
            let content = if metadata.is_dir() {
                left.push(entry.path());
                Vec::new()
            } else if metadata.is_symlink() {
                fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes()
            } else {
                fs::read(entry.path()).unwrap()
            };
            all.insert(entry.path(), (content, metadata.modified().unwrap()));
        }
    }
    all
}

fn sources() -> Program {
    let it = Program::of(&["various.c", "various.h"]).unwrap();
    for dir in ["src/.git", "src/lib", "src/build", "src/target"] {
        fs::create_dir_all(it.path(dir)).unwrap();
    }
    for (file, text) in [
        ("src/.git/HEAD", "ref"),
        ("src/lib/more.c", "int more(void) { return 1; }"),
        ("src/lib/more.o", "\x7fELF"),
        ("src/build/CMakeCache.txt", "x"),
        ("src/target/stays.txt", "no Cargo.toml beside it"),
        ("src/Makefile", "all:\n"),
        ("elsewhere.c", "int elsewhere(void) { return 2; }\n"),
        ("elsewhere.h", "\n"),
    ] {
        fs::write(it.path(file), text).unwrap();
    }
    symlink("lib/more.c", it.path("src/inside.c")).unwrap();
    symlink("../../elsewhere.c", it.path("src/lib/outside.c")).unwrap();
    symlink(it.path("src/lib"), it.path("src/absolute")).unwrap();
    symlink(it.path("src"), it.path("src/lib/circle")).unwrap();
    it
}

#[test]
fn the_sources_and_what_links_lead_to_stay_as_they_are() {
    let it = sources();
    let before = state(it.dir());
    let (copy, json) = it.instrumented(&[]);
    let after = state(it.dir());
    let here = copy.root();
    let untouched = after.iter().filter(|(path, _)| !path.starts_with(&here));
    assert!(untouched.eq(before.iter()));
    // Objects and what was built stay behind, and so does history.
    for gone in [".git", "lib/more.o", "build"] {
        assert!(!here.join(gone).exists(), "{gone}");
    }
    let left_out: Vec<&str> =
        json["left_out"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(left_out, [".git", "build", "lib/more.o"]);
    // What has no guard has its time.
    let modified = |path: PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    assert_eq!(modified(here.join("Makefile")), modified(it.path("src/Makefile")));
    assert!(modified(it.path("src/lib/more.c")) < modified(here.join("lib/more.c")));
    // Links within the tree lead to the copy, others to where they led.
    let led = |path: &str| here.join(path).canonicalize().unwrap();
    assert_eq!(led("inside.c"), led("lib/more.c"));
    assert_eq!(led("absolute"), led("lib"));
    assert_eq!(led("lib/circle"), here.canonicalize().unwrap());
    assert_eq!(led("lib/outside.c"), it.path("elsewhere.c").canonicalize().unwrap());
    assert!(fs::read_to_string(here.join("lib/more.c")).unwrap().contains("marey_instrument_enter"));
}

#[test]
fn a_copy_is_never_written_into_the_sources_or_over_something() {
    let it = sources();
    fs::create_dir(it.path("full")).unwrap();
    fs::write(it.path("full/mine"), "mine").unwrap();
    symlink(it.path("src/lib"), it.path("back")).unwrap();
    let before = state(it.dir());
    for (copy, force, expected) in [
        ("src", true, "lies within the sources"),
        ("src/copy", true, "lies within the sources"),
        ("back/copy", true, "lies within the sources"),
        ("src/lib/../lib/copy", true, "lies within the sources"),
        ("src/new/../../src/lib/copy", true, "cannot find the directory"),
        (".", true, "the sources lie within"),
        ("full", false, "is not empty"),
        ("full/mine", true, "cannot write to"),
    ] {
        let mut command = marey(it.dir());
        command.args(["instrument", "src", "-o", copy]);
        if force {
            command.arg("--force");
        }
        let output = command.output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && told.contains(expected), "{copy}: {told}");
    }
    assert_eq!(state(it.dir()), before);
    // What has guards is refused, and nothing written.
    let instrument =
        |from: &str, to: &str| marey(it.dir()).args(["instrument", from, "-o", to]).output().unwrap();
    assert!(instrument("src", "once").status.success());
    let again = instrument("once", "twice");
    let told = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(again.status.code() == Some(2) && told.contains("is instrumented already"), "{told}");
    assert!(!it.path("twice").exists());
    // Through links that are in a copy nothing is written.
    fs::create_dir(it.path("linked")).unwrap();
    symlink(it.path("src/various.c"), it.path("linked/various.c")).unwrap();
    fs::hard_link(it.path("src/various.h"), it.path("linked/various.h")).unwrap();
    let before = state(&it.path("src"));
    let output = marey(it.dir()).args(["instrument", "src", "-o", "linked", "--force"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    symlink(it.path("src"), it.path("linked/lib2")).unwrap();
    fs::remove_dir_all(it.path("linked/lib")).unwrap();
    symlink(it.path("src/lib"), it.path("linked/lib")).unwrap();
    let output = marey(it.dir()).args(["instrument", "src", "-o", "linked", "--force"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("is there and no directory"));
    assert_eq!(state(&it.path("src")), before);
}

#[test]
fn damaged_and_odd_sources_are_copied() {
    let it = Program::of(&["various.c", "various.h"]).unwrap();
    let text = fs::read(it.path("src/various.c")).unwrap();
    for (number, cut) in [100, 700, 1300, 2500].into_iter().enumerate() {
        fs::write(it.path(&format!("src/cut{number}.c")), &text[..cut]).unwrap();
        fs::write(it.path(&format!("src/cut{number}.rs")), &text[..cut]).unwrap();
        fs::write(it.path(&format!("src/cut{number}.cpp")), &text[cut..]).unwrap();
    }
    fs::write(it.path("src/binary.c"), [0, 159, 146, 150]).unwrap();
    fs::write(it.path("src/empty.cpp"), "").unwrap();
    fs::write(it.path("src/latin.c"), b"/* \xe9 */ int f(void) { return '\xe9'; }").unwrap();
    let (copy, json) = it.instrumented(&["--rule", "trace loops:*"]);
    assert_eq!(fs::read(copy.root().join("binary.c")).unwrap(), [0, 159, 146, 150]);
    assert_eq!(fs::read(copy.root().join("empty.cpp")).unwrap(), b"");
    let latin = fs::read(copy.root().join("latin.c")).unwrap();
    assert!(latin.starts_with(b"/* \xe9 */ int f(void) {static"));
    assert!(json["problems"].as_array().unwrap().iter().any(|it| it.as_str().unwrap().contains("binary.c")));
}
