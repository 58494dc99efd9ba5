//! Machine code of functions: what is shown of a program, and that samples stand at instructions as they do at lines.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const PROGRAM: &str = "\
#include <stdio.h>
struct cell { double value; struct cell *next; };
static double relax(struct cell *it) { return it->value * 0.5; }
__attribute__((noinline)) double sweep(struct cell *first)
{
    double sum = 0;
    for (struct cell *it = first; it; it = it->next)
        sum += relax(it); // inlined
    return sum;
}
int main(void)
{
    struct cell last = { 1, 0 }, first = { 2, &last };
    printf(\"%f\\n\", sweep(&first)); // printed
}
";

/// A program in C; `None`, said aloud, without a compiler.
fn compiled(dir: &Path, text: &str, flags: &[&str]) -> Option<()> {
    std::fs::write(dir.join("heat.c"), text).unwrap();
    let Ok(status) = Command::new("gcc").args(flags).arg("heat.c").current_dir(dir).status() else {
        marey_testkit::skip("gcc");
        return None;
    };
    assert!(status.success());
    Some(())
}

fn marey(dir: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.args(words).current_dir(dir).env("XDG_STATE_HOME", dir.join(".state"));
    let output = marey.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The line that ends with a mark.
fn line_of(text: &str, mark: &str) -> u64 {
    1 + text.lines().position(|line| line.ends_with(mark)).unwrap() as u64
}

fn json(dir: &Path, words: &[&str]) -> Value {
    let (code, told, errors) = marey(dir, &[words, &["--json"]].concat());
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    serde_json::from_str(&told).unwrap()
}

fn instructions(json: &Value) -> Vec<&Value> {
    json["codes"].as_array().unwrap().iter().flat_map(|it| it["instructions"].as_array().unwrap()).collect()
}

#[test]
fn instructions_stand_beside_their_lines_and_what_they_lead_to() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = compiled(dir.path(), PROGRAM, &["-g", "-O2", "-o", "heat"]) else { return };
    let told = json(dir.path(), &["source", "heat", "--code", "sweep"]);
    let all = instructions(&told);
    // The multiplication is that of the function that was inlined, in its own line.
    let product = all.iter().find(|it| it["text"].as_str().unwrap().starts_with("mulsd")).unwrap();
    assert_eq!((&product["line"], &product["inlined"][0]), (&3.into(), &"relax".into()), "{product}");
    let sum = all.iter().find(|it| it["text"].as_str().unwrap().starts_with("addsd")).unwrap();
    assert_eq!(sum["line"], line_of(PROGRAM, "// inlined"));
    assert!(sum["inlined"].as_array().unwrap().is_empty());
    // One ends where the next begins, the last where the code does.
    let code = &told["codes"][0];
    let end = |it: &Value| it["address"].as_u64().unwrap() + it["bytes"].as_u64().unwrap();
    let begins = all.iter().map(|it| it["address"].as_u64().unwrap());
    let ends: Vec<u64> = all.iter().map(|it| end(it)).collect();
    assert!(begins.skip(1).eq(ends.iter().copied().take(all.len() - 1)));
    assert_eq!(
        ends.last(),
        Some(&(code["address"].as_u64().unwrap() + code["code_bytes"].as_u64().unwrap()))
    );
    assert_eq!((&code["left_out_bytes"], &told["samples"]), (&0.into(), &Value::Null));
    // A call of a function of its own, and one of a library behind a stub of the linker.
    let main = json(dir.path(), &["source", "heat", "--code", "main"]);
    let leads: Vec<&Value> = instructions(&main).into_iter().filter(|it| !it["leads_to"].is_null()).collect();
    let leads: Vec<_> =
        leads.iter().map(|it| (it["leads_to"].as_str().unwrap(), it["line"].as_u64())).collect();
    assert!(leads.contains(&("sweep", Some(line_of(PROGRAM, "// printed")))), "{leads:?}");
    assert!(leads.iter().any(|(name, _)| name.contains("printf")), "{leads:?}");

    // In words: what is the same as in the row above is not said again, and the text stands beside it.
    let (code, told, errors) = marey(dir.path(), &["source", "heat", "--code", "sweep"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let row = told.lines().find(|line| line.contains("addsd")).unwrap();
    assert!(row.ends_with("sum += relax(it); // inlined") && row.contains("heat.c:8"), "{told}");
    assert!(
        told.contains("MACHINE CODE") || told.lines().nth(1).unwrap().starts_with("sweep  heat.c:"),
        "{told}"
    );
    let few = marey(dir.path(), &["source", "heat", "--code", "sweep", "--top", "2"]).1;
    assert!(few.contains(&format!("… {} more instructions", all.len() - 2)), "{few}");
}

#[test]
fn who_asks_for_what_is_not_there_is_told_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = compiled(dir.path(), PROGRAM, &["-g", "-O2", "-o", "heat"]) else { return };
    let refused = |words: &[&str]| {
        let (code, told, errors) = marey(dir.path(), &[&["source"], words].concat());
        assert_eq!(told, "");
        (code.unwrap(), errors)
    };
    let check = |words: &[&str], status: i32, part: &str| {
        let (code, errors) = refused(words);
        assert!(code == status && errors.contains(part), "{words:?}: {code} {errors}");
    };
    check(&["heat", "--code", "swep"], 2, "there is `sweep`");
    check(&["heat", "--code", "relax"], 2, "put into its callers; ask for one of these: `sweep`");
    check(&["heat", "--code", "zzzzzzzzzz"], 2, "--list functions");
    check(&[".", "--code", "main"], 2, "is a directory");
    check(&["heat.c", "--code", "main"], 1, "no machine code to show of heat.c");
    assert!(compiled(dir.path(), PROGRAM, &["-g", "-O2", "-c", "-o", "heat.o"]).is_some());
    check(&["heat.o", "--code", "main"], 1, "not linked");
    // The number of a machine stands at byte 18: 183 is AArch64.
    let mut other = std::fs::read(dir.path().join("heat")).unwrap();
    other[18] = 183;
    std::fs::write(dir.path().join("other"), other).unwrap();
    check(&["other", "--code", "main"], 1, "x86-64 only");
    assert!(compiled(dir.path(), PROGRAM, &["-s", "-static", "-o", "bare"]).is_some());
    check(&["bare", "--code", "main"], 1, "has no symbols");
    // Without debug information there are instructions and no lines.
    assert!(compiled(dir.path(), PROGRAM, &["-O2", "-o", "plain"]).is_some());
    let (code, told, _) = marey(dir.path(), &["source", "plain", "--code", "sweep"]);
    assert!(code == Some(0) && told.contains("mulsd") && told.contains("compile with -g"), "{told}");
    // Sources that were changed since say nothing beside it.
    let newer = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options()
        .append(true)
        .open(dir.path().join("heat.c"))
        .unwrap()
        .set_modified(newer)
        .unwrap();
    let (_, told, _) = marey(dir.path(), &["source", "heat", "--code", "sweep"]);
    assert!(told.contains("changed after the program was made") && !told.contains("// inlined"), "{told}");
}

/// The program takes the time of its own loops.
#[test]
fn samples_stand_at_instructions_as_they_do_at_lines() {
    let dir = tempfile::tempdir().unwrap();
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/loops.c");
    let text = std::fs::read_to_string(source).unwrap();
    let flags = ["-g", "-O1", "-fno-inline", "-o", "loops"];
    let Some(()) = compiled(dir.path(), &text, &flags) else { return };
    let record = ["record", "--embed-code", "-o", "run.marey", "--", "./loops", "1000000"];
    let (code, said, errors) = marey(dir.path(), &record);
    assert_eq!(code, Some(0), "{errors}");
    let truth: Vec<i64> = said.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let told = json(dir.path(), &["source", "run.marey", "--code", "burn"]);
    let all = instructions(&told);
    let number = |it: &Value, name: &str| it[name].as_i64().unwrap();
    // What was called from the loop: all of it passes in this function.
    let own: i64 = all.iter().map(|it| number(it, "own_ns")).sum();
    let bar = truth[1] / 10 + 4 * number(&told, "processor_ns") / number(&told, "samples");
    assert!((own - truth[1]).abs() <= bar, "{own} is {}", truth[1]);
    // Each line has what its instructions have, and no instruction but its own.
    let lines = json(dir.path(), &["lines", "run.marey", "heat.c"]);
    let lines: BTreeMap<i64, i64> = lines["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (number(it, "line"), number(it, "exclusive_ns")))
        .filter(|(_, own)| *own != 0)
        .collect();
    let mut sums = BTreeMap::new();
    for function in ["burn", "main"] {
        let told = json(dir.path(), &["source", "run.marey", "--code", function]);
        for it in instructions(&told).iter().filter(|it| number(it, "own_ns") != 0) {
            *sums.entry(number(it, "line")).or_insert(0) += number(it, "own_ns");
        }
    }
    assert_eq!(sums, lines);
    // The call has what was called, and nothing of its own.
    let main = json(dir.path(), &["source", "run.marey", "--code", "main"]);
    let called = instructions(&main).into_iter().find(|it| it["leads_to"] == "burn").unwrap().clone();
    assert!((number(&called, "processor_ns") - own).abs() <= bar, "{called}");
    assert!(number(&called, "own_ns") < own / 10, "{called}");
    // A program that is another one now is not shown as the one that ran: what the run kept is, and that is the same.
    let Some(()) = compiled(dir.path(), PROGRAM, &["-g", "-O2", "-o", "loops"]) else { return };
    let kept = json(dir.path(), &["source", "run.marey", "--code", "burn"]);
    assert_eq!(kept["codes"][0]["instructions"], told["codes"][0]["instructions"]);
    assert!(kept["problems"][0].as_str().unwrap().contains("not there any more"), "{}", kept["problems"]);
    // A function that nobody was seen in is not kept; and a copy that does not say whose it is has no code.
    let refused = |run: &str, name: &str, words: &str| {
        let (code, told, errors) = marey(dir.path(), &["source", run, "--code", name]);
        assert!(code != Some(0) && told.is_empty() && errors.contains(words), "{errors}");
    };
    refused("run.marey", "frame_dummy", "module changed since it ran");
    let copy = dir.path().join("copy.marey");
    marey_archive::redact(&[(&dir.path().join("run.marey"), &copy)], &[]).unwrap();
    let rows =
        |run: &Path, table: &str| marey_archive::Archive::open(run).unwrap().table(table).unwrap().len();
    assert_eq!((rows(&copy, "source_codes"), rows(&copy, "source_instructions")), (0, 0));
    assert!(0 < rows(&dir.path().join("run.marey"), "source_instructions"));
    // Nobody gets it who did not ask.
    let Some(()) = compiled(dir.path(), &text, &flags) else { return };
    let (code, _, errors) = marey(dir.path(), &["record", "-o", "bare.marey", "--", "./loops", "1000"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(rows(&dir.path().join("bare.marey"), "source_codes"), 0);
}
