//! How much machine code a run keeps: long functions are cut, and what there is no room for is counted and told.
//!
//! The program has twenty functions of 9000 instructions of eight bytes each, more than is kept of one and together more than a
//! run keeps. Which of them were seen is counted from the frames of its stacks, which code has no part in.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use marey_archive::Archive;

/// What `docs/source.md` says is kept of a function, and of all.
const OF_ONE: i64 = 64 << 10;
const OF_ALL: i64 = 1 << 20;

/// What is printed, and what is said beside it.
fn marey(dir: &Path, words: &[&str]) -> (String, String) {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output =
        marey.args(words).current_dir(dir).env("XDG_STATE_HOME", dir.join(".state")).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Functions of the program that stand on some stack.
fn seen(archive: &Archive) -> BTreeSet<String> {
    let modules = archive.table("modules").unwrap();
    let program = modules.text("path").unwrap().iter().position(|path| path.ends_with("/long")).unwrap();
    let program = modules.u32("id").unwrap()[program];
    let frames = archive.table("frames").unwrap();
    let rows = frames.u32("module").unwrap().iter().zip(frames.text("function").unwrap());
    rows.filter(|(module, _)| **module == program).map(|(_, name)| name.clone()).collect()
}

#[test]
fn long_functions_are_cut_and_what_has_no_room_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/long.c");
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-O1", "-fcf-protection=none", "-o", "long"]).arg(source).current_dir(dir.path());
    let Ok(built) = gcc.status() else {
        marey_testkit::skip("gcc");
        return;
    };
    assert!(built.success());
    let (_, said) = marey(dir.path(), &["record", "--embed-code", "-o", "run.marey", "--", "./long"]);
    let archive = Archive::open(&dir.path().join("run.marey")).unwrap();
    let codes = archive.table("source_codes").unwrap();
    let rows = archive.table("source_instructions").unwrap();
    let mut kept: BTreeMap<u32, i64> = BTreeMap::new();
    for (code, size) in rows.u32("code").unwrap().iter().zip(rows.u32("size").unwrap()) {
        *kept.entry(*code).or_default() += i64::from(*size);
    }
    // Nothing else is worth its room: the functions have all the time.
    let (sizes, left_out) = (codes.i64("size").unwrap(), codes.i64("left_out").unwrap());
    for (row, id) in codes.u32("id").unwrap().iter().enumerate() {
        assert_eq!(kept.get(id).copied().unwrap_or(0), sizes[row] - left_out[row]);
        // What has no room at all stands there with nothing.
        if left_out[row] == sizes[row] {
            continue;
        }
        assert!(sizes[row] > 9000 * 8, "{}", sizes[row]);
        // An instruction is there or not.
        assert!((OF_ONE - 15..=OF_ONE).contains(&kept[id]), "{} bytes of {id}", kept[id]);
    }
    let all: i64 = kept.values().sum();
    assert!((OF_ALL - OF_ONE..=OF_ALL).contains(&all), "{all} bytes");
    let seen = seen(&archive);
    assert_eq!(seen.len(), codes.len(), "{seen:?}");
    assert!(seen.len() > kept.len() + 1, "{seen:?}");
    let more = seen.len() - kept.len();
    let words = format!(
        "machine code of {more} functions with the fewest samples is left out: a run keeps 64.0 KiB of a function's code and 1.00 MiB in all"
    );
    assert!(said.contains(&format!("warning: {words}")), "{said}");
    let problems = archive.table("problems").unwrap();
    assert!(problems.text("detail").unwrap().contains(&words), "{:?}", problems.text("detail"));
    // Who reads what was kept is told that it ends early.
    std::fs::remove_file(dir.path().join("long")).unwrap();
    let is_kept = |row: &usize| left_out[*row] < sizes[*row];
    let name = &codes.text("name").unwrap()[(0..codes.len()).find(is_kept).unwrap()];
    let (told, _) = marey(dir.path(), &["source", "run.marey", "--code", name, "--top", "2"]);
    // Where its lines break depends on how long the names and numbers before are.
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("of its code are left out")
            && told.contains("a run keeps 64.0 KiB of a function's code and 1.00 MiB in all"),
        "{told}"
    );
}
