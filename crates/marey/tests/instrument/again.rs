//! `marey record --again`: the same command in the same directory, with other rules.

use std::fs;
use std::process::Output;

use crate::program::{Program, marey};

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A shell that says where it is and what it was given, and then runs the program.
const LINE: &str = "pwd; echo \"$1\"; ./program";

#[test]
fn a_run_is_recorded_again_where_it_was_with_other_rules() {
    let Some(original) = Program::of(&["various.c", "various.h"]) else { return };
    let (copy, _) = original.instrumented(&[]);
    let Some(_) = copy.compile("gcc", "various.c", &[]) else { return };
    let mut record = marey(&copy.root());
    record
        .args(["record", "--sample=off", "--depth=7", "--", "sh", "-c", LINE, "sh", "two words; it's"])
        .env("OMP_NUM_THREADS", "3");
    let first = record.output().unwrap();
    // The program's own.
    assert_eq!(first.status.code(), Some(3), "{}", told(&first));
    let elsewhere = original.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("less"), "off *\ntrace is_*\n").unwrap();
    // A name that a shell would take apart.
    let before = copy.root().join("it's a run.marey");
    fs::rename(copy.root().join("run.marey"), &before).unwrap();
    let meta = fs::read(before.join("meta.json")).unwrap();
    let mut again = marey(&elsewhere);
    again.args(["record", "--again"]).arg(&before).args(["--filter", "less"]).env("OMP_NUM_THREADS", "4");
    let again = again.output().unwrap();
    let said = told(&again);
    assert_eq!((again.status.code(), &again.stdout), (Some(3), &first.stdout), "{said}");
    let here = copy.root().canonicalize().unwrap();
    assert!(String::from_utf8_lossy(&again.stdout).starts_with(here.to_str().unwrap()));
    // What was started, and what to do next.
    assert!(said.contains(r#"  sh -c 'pwd; echo "$1"; ./program' sh 'two words; it'\''s'"#), "{said}");
    assert!(said.contains("OMP_NUM_THREADS was 3, and is 4 now"), "{said}");
    let quoted = before.display().to_string().replace('\'', r"'\''");
    assert!(said.contains(&format!("`marey diff '{quoted}' again.marey`")), "{said}");
    assert_eq!(fs::read(before.join("meta.json")).unwrap(), meta);
    let diff = marey(&elsewhere).arg("diff").arg(&before).arg("again.marey").output().unwrap();
    assert!(diff.status.success(), "{}", told(&diff));
    // The rules were followed.
    let report = marey(&elsewhere).args(["report", "--json", "again.marey"]).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("\"is_even\"") && !report.contains("\"insert\""), "{report}");
    // Options are those of then.
    assert!(said.contains("as it was then, with --sample=off --depth=7\n"), "{said}");
    assert!(!said.contains("by the same rules"), "{said}");
    // What was recorded again can be so once more, over itself it cannot.
    let mut over = marey(&elsewhere);
    let over = over.args(["record", "--again", "again.marey", "--force"]).output().unwrap();
    assert_eq!((over.status.code(), over.stdout.is_empty()), (Some(2), true), "{}", told(&over));
    assert!(told(&over).contains("would be replaced"));
    // All paths are those of the directory where it was typed.
    fs::create_dir(elsewhere.join("sources")).unwrap();
    let mut more = marey(&elsewhere);
    more.args([
        "record",
        "--again",
        "again.marey",
        "-o",
        "more.marey",
        "--embed-sources=sources",
        "--sample=200",
    ]);
    let more = more.output().unwrap();
    assert_eq!((more.status.code(), &more.stdout), (Some(3), &first.stdout), "{}", told(&more));
    // With what is said now, and by the rules of the run that is recorded again.
    let said = told(&more);
    assert!(
        said.contains("as it was then, with --depth=7\n") && said.contains("by the same rules"),
        "{said}"
    );
    let facts = |run: &str| {
        let meta = fs::read(elsewhere.join(run).join("meta.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&meta).unwrap()["run"].clone()
    };
    let (again, more) = (facts("again.marey"), facts("more.marey"));
    assert_eq!((&more["rules"], more["rules"].as_array().unwrap().len()), (&again["rules"], 2));
    let has = |facts: &serde_json::Value, word: &str| {
        facts["settings"].as_array().unwrap().iter().any(|it| it == word)
    };
    assert!(has(&again, "--sample=off") && has(&more, "--sample=200"), "{again} {more}");
    assert!(has(&again, "--depth=7") && has(&more, "--depth=7"), "{again} {more}");
}

#[test]
fn nothing_is_started_that_a_run_does_not_say_whole() {
    let it = Program::of(&["various.h"]).unwrap();
    let root = it.root();
    let record = |options: &[&str]| {
        let mut record = marey(&root);
        record.arg("record").args(options).output().unwrap()
    };
    let first = record(&["--all", "--", "touch", "touched"]);
    assert!(first.status.success(), "{}", told(&first));
    // A copy that does not say whose it is.
    let (run, copy) = (root.join("run.marey"), root.join("anybodys.marey"));
    marey_archive::redact(&[(&run, &copy)], &[]).unwrap();
    fs::remove_file(root.join("touched")).unwrap();
    let cases: [(&[&str], &str); 3] = [
        (&["--again", "anybodys.marey"], "does not say what was recorded"),
        (&["--again", "none.marey"], "there is no run at none.marey"),
        (&["--again", "run.marey", "--", "touch", "touched"], "cannot be used with"),
    ];
    for (options, expected) in cases {
        let output = record(options);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", told(&output));
        assert!(told(&output).contains(expected), "{options:?}: {}", told(&output));
    }
    // Its directory is gone.
    let moved = it.path("moved");
    fs::rename(&root, &moved).unwrap();
    let output = marey(&moved).args(["record", "--again", "run.marey"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("cannot enter"), "{}", told(&output));
    assert!(!moved.join("touched").exists() && !moved.join("again.marey").exists());
}
