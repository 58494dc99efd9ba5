//! What `marey source` tells of a program that was just compiled, and of files that tell nothing.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "\
#include <stdio.h>
struct cell { double value; struct cell *next; };
static double relax(struct cell *it) { return it->value * 0.5; }
double sweep(struct cell *first)
{
    double sum = 0;
    for (struct cell *it = first; it; it = it->next)
        sum += relax(it);
    return sum;
}
int main(void)
{
    struct cell last = { 1, 0 }, first = { 2, &last };
    printf(\"%f\\n\", sweep(&first) + sweep(&last));
}
";

/// A program with debug information; `None`, said aloud, without a compiler.
fn compiled(dir: &Path) -> Option<()> {
    std::fs::write(dir.join("heat.c"), PROGRAM).unwrap();
    let flags = ["-g", "-O0", "heat.c", "-o", "heat"];
    match Command::new("gcc").args(flags).current_dir(dir).status() {
        Ok(status) => assert!(status.success()),
        Err(_) => {
            marey_testkit::skip("gcc");
            return None;
        }
    }
    Some(())
}

fn marey(dir: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_marey"))
        .arg("source")
        .args(words)
        .current_dir(dir)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_function_tells_whom_it_calls_and_who_calls_it() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = compiled(dir.path()) else { return };
    let (code, told, errors) = marey(dir.path(), &["heat", "--of", "sweep"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let rows: Vec<Vec<&str>> = told.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows,
        [vec!["called", "by", "main", "heat.c:14", "2"], vec!["calls", "relax", "heat.c:8", "1"]]
    );
    let (_, told, _) = marey(dir.path(), &["heat", "--of", "cell"]);
    let rows: Vec<Vec<&str>> = told.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
    let expected = [
        vec!["field", "value", "double", "public", "heat.c:2"],
        vec!["field", "next", "cell", "*", "public", "heat.c:2"],
    ];
    assert_eq!(rows, expected);
}

#[test]
fn the_json_leads_from_calls_to_functions() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = compiled(dir.path()) else { return };
    let (_, told, _) = marey(dir.path(), &["heat", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(json["problems"], serde_json::json!([]));
    let functions = json["functions"].as_array().unwrap();
    let number = |name: &str| functions.iter().position(|it| it["name"] == name).unwrap();
    let calls = json["calls"].as_array().unwrap();
    let of_main: Vec<_> = calls.iter().filter(|call| call["caller"] == number("main")).collect();
    assert_eq!(of_main.len(), 2, "{of_main:?}");
    assert!(of_main.iter().any(|call| call["callee"] == number("sweep") && call["times"] == 2));
    assert!(of_main.iter().any(|call| call["callee"].is_null() && call["name"] == "printf"));
    assert_eq!(functions[number("sweep")]["line"], 4);
}

#[test]
fn files_that_tell_nothing_are_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = compiled(dir.path()) else { return };
    let refused = |file: &str, why: &str| {
        let (code, told, errors) = marey(dir.path(), &[file]);
        assert_eq!((code, told.as_str()), (Some(1), ""));
        assert!(errors.contains(why), "{errors}");
    };
    refused("nosuch", "cannot open nosuch");
    refused("heat.c", "give an executable or a shared library");
    let stripped = Command::new("strip").arg("heat").current_dir(dir.path()).status().unwrap();
    assert!(stripped.success());
    refused("heat", "compile with -g");
}
