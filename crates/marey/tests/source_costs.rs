//! What loops cost, against a program that takes the time of its own loops.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn marey(dir: &Path) -> Command {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state"));
    marey
}

/// Compiles the program in a directory and records it; what it printed. `None`, said aloud, without a compiler.
fn recorded(dir: &Path) -> Option<Vec<i64>> {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/loops.c");
    std::fs::copy(source, dir.join("loops.c")).unwrap();
    // At -O1 loops stay as they are written; inlining would move time, which is not looked at here.
    let flags = ["-g", "-O1", "-fno-inline", "loops.c", "-o", "loops"];
    let Ok(status) = Command::new("gcc").args(flags).current_dir(dir).status() else {
        marey_testkit::skip("gcc");
        return None;
    };
    assert!(status.success());
    let output = marey(dir).args(["record", "-o", "run.marey", "--", "./loops", "6000000"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.split_whitespace().map(|word| word.parse().unwrap()).collect())
}

/// The line that has a mark.
fn line_of(dir: &Path, mark: &str) -> u64 {
    let text = std::fs::read_to_string(dir.join("loops.c")).unwrap();
    1 + text.lines().position(|line| line.contains(mark)).unwrap() as u64
}

#[test]
fn loops_have_the_time_that_they_take_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let Some(told) = recorded(dir.path()) else { return };
    let [inner, called, writes] = told[..] else { panic!("{told:?}") };
    let output = marey(dir.path()).args(["source", "run.marey", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |mark: &str| {
        let line = line_of(dir.path(), mark);
        let loops = json["loops"].as_array().unwrap();
        loops
            .iter()
            .find(|it| it["first_line"] == line)
            .unwrap_or_else(|| panic!("{mark}: {loops:#?}"))
            .clone()
    };
    let number = |it: &Value, name: &str| it[name].as_i64().unwrap();
    let (outer, within, burn, writing) =
        (of("loop outer"), of("loop inner"), of("loop burn"), of("loop writes"));
    assert_eq!(outer["last_line"], line_of(dir.path(), "end outer"));
    assert_eq!((&within["depth"], &burn["function"]), (&2.into(), &"burn".into()));
    // A sample stands for some ms, and each of the 40 steps has one more or less of each loop: by chance, so that of all
    // together the root of their number is to be expected, and hardly ever more than twice as many.
    let near = |found: i64, truth: i64, what: &str| {
        let bar = truth / 10 + 13 * number(&json, "processor_ns") / number(&json, "samples");
        assert!((found - truth).abs() <= bar, "{what}: {found} is {truth}");
    };
    near(number(&within, "processor_ns"), inner, "the inner loop");
    near(number(&within, "own_ns"), inner, "the inner loop's own");
    near(number(&burn, "own_ns"), called, "the loop of the function that is called");
    near(number(&outer, "processor_ns"), inner + called, "the outer loop");
    // What the loops within and the function did is not its own.
    assert!(number(&outer, "own_ns") < (inner + called) / 10, "{outer}");
    // Calls are counted, not sampled.
    assert_eq!(writes, 200);
    let calls = |it: &Value| (number(it, "calls"), number(it, "bytes"));
    assert_eq!((calls(&writing), calls(&outer)), ((200, 12_800), (200, 12_800)));
    assert_eq!((calls(&within), calls(&burn)), ((0, 0), (0, 0)));

    // In words; and what only the program itself knows is not asked of its run.
    let output = marey(dir.path()).args(["source", "run.marey"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("loops.c:{}–{}", outer["first_line"], outer["last_line"])), "{text}");
    let refused = marey(dir.path()).args(["source", "run.marey", "--list", "types"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("give the program itself"));
    // A source that was changed is told, also if that was before the run, but after the program was made.
    let text = |words: &[&str]| {
        let output = marey(dir.path()).args(words).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let of_run: [&[&str]; 2] = [&["source", "run.marey"], &["lines", "run.marey", "loops.c"]];
    assert!(of_run.iter().all(|words| !text(words).contains("changed after")));
    for (name, seconds) in [("loops", 1000), ("loops.c", 500)] {
        let file = std::fs::File::options().append(true).open(dir.path().join(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(seconds)).unwrap();
    }
    for words in of_run {
        assert!(text(words).contains("changed after the program was made"), "{}", text(words));
    }
    std::fs::remove_file(dir.path().join("loops")).unwrap();
    std::fs::write(dir.path().join("loops.c"), "int main(void) { return 0; }\n").unwrap();
    for words in of_run {
        assert!(text(words).contains("changed after the run began"), "{}", text(words));
    }
    // A pipe in its place is not waited for.
    std::fs::remove_file(dir.path().join("loops.c")).unwrap();
    assert!(Command::new("mkfifo").arg(dir.path().join("loops.c")).status().unwrap().success());
    assert!(text(of_run[1]).contains("loops.c is no file"), "{}", text(of_run[1]));
    assert!(text(&["source", "loops.c"]).contains("neither a file nor a directory"));
}
