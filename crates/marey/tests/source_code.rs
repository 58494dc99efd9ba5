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
    check(
        &["heat", "--code", "zzzzzzzzzz"],
        2,
        "`--list functions` of the program has all of them, and those that only the text",
    );
    check(&[".", "--code", "main"], 2, "is a directory");
    check(&["heat.c", "--code", "main"], 2, "heat.c is a source");
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

/// Names as debug information and linkers know them, which are not the same.
const NAMES: &str = "\
template <class T, class A = int> struct box { T value; void add(T by); };
template <class T, class A> __attribute__((noinline)) void box<T, A>::add(T by) { value += by; }
namespace heat {
template <class B> __attribute__((noinline)) bool operator<(const B &a, const B &b) { return a.value < b.value; }
template <class B> __attribute__((noinline)) int steps(const B &a) { return a.value > 7 ? 1 : 2; }
}
__attribute__((noinline)) int thrown(int it)
{
    if (it == 77)
        throw it;
    return it;
}
__attribute__((noinline)) int odd(int it)
{
    try {
        it += thrown(it);
    } catch (int) {
        __builtin_puts(\"never\");
    }
    return it + 3;
}
extern \"C\" int bare(int);
asm(\".globl bare\\nbare: lea 5(%rdi),%eax\\nret\\n.globl behind\\nbehind: nop\\nret\\n\");
int main(int n, char **)
{
    box<double> a{n * 1.0}, b{2};
    a.add(n);
    return heat::operator<(a, b) + heat::steps(a) + odd(n) + bare(n);
}
";

#[test]
fn functions_are_found_by_every_name_that_is_told_of_them() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("names.cc"), NAMES).unwrap();
    let text = "module m\ncontains\nsubroutine step(x)\nreal :: x\ncall inner\ncontains\nsubroutine inner\nx = x + 1\n\
                end subroutine\nend subroutine\nend module\nprogram p\nuse m\nreal :: x\nx = 1\ncall step(x)\nprint *, x\n\
                end program\n";
    std::fs::write(dir.path().join("names.f90"), text).unwrap();
    let made = |compiler: &str, words: &[&str]| match Command::new(compiler)
        .args(words)
        .current_dir(dir.path())
        .status()
    {
        Ok(status) => {
            assert!(status.success());
            true
        }
        Err(_) => {
            marey_testkit::skip(compiler);
            false
        }
    };
    let words = |program: &'static str| ["-g", if program == "f" { "-O0" } else { "-O2" }, "-o", program];
    if !made("g++", &[&words("cc")[..], &["names.cc"]].concat())
        || !made("gfortran", &[&words("f")[..], &["names.f90"]].concat())
    {
        return;
    }
    let mut seen = 0;
    for program in ["cc", "f"] {
        for function in json(dir.path(), &["source", program])["functions"].as_array().unwrap() {
            let entries = function["entries"].as_array().unwrap();
            let name = function["name"].as_str().unwrap();
            if entries.is_empty() || name == "_start" {
                continue;
            }
            let told = json(dir.path(), &["source", program, "--code", name]);
            let codes = told["codes"].as_array().unwrap();
            assert!(codes.iter().any(|code| entries.contains(&code["address"])), "{name}: {codes:?}");
            seen += 1;
        }
    }
    // Those of C++ and of Fortran, and both `main`.
    assert!(9 <= seen, "{seen}");
    let titles = |name: &str| -> Vec<String> {
        let told = json(dir.path(), &["source", "cc", "--code", name]);
        told["codes"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    // Without arguments, wherever they stand.
    assert_eq!(titles("box::add").len(), 1);
    assert_eq!(titles("heat::steps").len(), 1);
    // What assemblers write has no size, and ends where the next begins.
    let told = json(dir.path(), &["source", "cc", "--code", "bare"]);
    let texts: Vec<_> = instructions(&told).into_iter().map(|it| it["text"].as_str().unwrap()).collect();
    assert!(texts.len() == 2 && texts[0].starts_with("lea ") && texts[1] == "ret", "{texts:?}");
    // With those of another instance it is none, and what there is is told.
    let (code, _, errors) = marey(dir.path(), &["source", "cc", "--code", "box<char>::add"]);
    assert!(code == Some(2) && errors.contains("there is `box<double, int>::add`"), "{errors}");
    // A part that lies elsewhere is told apart, also as what is led to.
    let odd = titles("odd");
    assert!(
        odd.len() == 2 && odd.contains(&"odd".to_owned()) && odd.contains(&"odd.cold".to_owned()),
        "{odd:?}"
    );
    let told = json(dir.path(), &["source", "cc", "--code", "odd"]);
    let leads: Vec<_> = instructions(&told).into_iter().filter_map(|it| it["leads_to"].as_str()).collect();
    assert!(leads.contains(&"odd.cold"), "{leads:?}");
}

#[test]
fn code_that_is_too_much_is_left_out_and_its_samples_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "static volatile double sum;\n__attribute__((noinline)) void huge(void)\n{{\n{}}}\n\
         int main(void)\n{{\n    for (int it = 0; it < 8000; it++)\n        huge();\n}}\n",
        "sum += 0.5;\n".repeat(6000)
    );
    let Some(()) = compiled(dir.path(), &text, &["-g", "-O1", "-o", "huge"]) else { return };
    let (code, _, errors) =
        marey(dir.path(), &["record", "--embed-code", "--embed-sources", "-o", "run.marey", "--", "./huge"]);
    assert_eq!(code, Some(0), "{errors}");
    // The end of what is kept lies well before that of the function, so most samples are behind it.
    std::fs::remove_file(dir.path().join("huge")).unwrap();
    // Text that was kept is shown when the source is gone, and is that of the program when it is another one.
    std::fs::write(dir.path().join("heat.c"), "// another text\n".repeat(6000)).unwrap();
    let (code, told, errors) = marey(dir.path(), &["source", "run.marey", "--code", "huge"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let title = told.lines().find(|line| line.starts_with("huge  ")).unwrap();
    assert!(title.contains(" of huge, ") && title.contains(" samples in it, "), "{title}");
    // The program does nothing else.
    let share = title.rsplit_once('(').unwrap().1.split_once(" %").unwrap().0;
    assert!(80.0 <= share.parse::<f64>().unwrap(), "{title}");
    let plain = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains(" that were taken there, ")
            && plain.contains("a run keeps 64.0 KiB of a function's code"),
        "{}",
        &plain[plain.len() - 600..]
    );
    assert!(told.contains("sum += 0.5;") && !told.contains("another text") && !told.contains("not shown"));
    let archive = marey_archive::Archive::open(&dir.path().join("run.marey")).unwrap();
    let problems = archive.table("problems").unwrap();
    let details = problems.text("detail").unwrap();
    assert!(
        details.iter().any(|it| it.starts_with("the end of the machine code of 1 function is left out")),
        "{details:?}"
    );
}

/// The program takes the time of its own loops.
#[test]
fn samples_stand_at_instructions_as_they_do_at_lines() {
    let dir = tempfile::tempdir().unwrap();
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/loops.c");
    // The C library has functions of this name, too: they must not be taken for it.
    let text = std::fs::read_to_string(source).unwrap().replace("burn(", "advance(");
    let flags = ["-g", "-O1", "-fno-inline", "-o", "loops"];
    let Some(()) = compiled(dir.path(), &text, &flags) else { return };
    // A turn of the outer loop takes three times as long as passes between samples, so these cannot keep step with it. Of 40 turns
    // a third has a sample more or less than its share, which is three in all: the bar below is far from that.
    let record = ["record", "--embed-code", "-o", "run.marey", "--", "./loops", "3000000"];
    let (code, said, errors) = marey(dir.path(), &record);
    assert_eq!(code, Some(0), "{errors}");
    let truth: Vec<i64> = said.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let told = json(dir.path(), &["source", "run.marey", "--code", "advance"]);
    let all = instructions(&told);
    let number = |it: &Value, name: &str| it[name].as_i64().unwrap();
    // What was called from the loop: all of it passes in this function.
    let own: i64 = all.iter().map(|it| number(it, "own_ns")).sum();
    let bar = truth[1] / 10 + 8 * number(&told, "processor_ns") / number(&told, "samples");
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
    for function in ["advance", "main"] {
        let told = json(dir.path(), &["source", "run.marey", "--code", function]);
        for it in instructions(&told).iter().filter(|it| number(it, "own_ns") != 0) {
            *sums.entry(number(it, "line")).or_insert(0) += number(it, "own_ns");
        }
    }
    assert_eq!(sums, lines);
    // The call has what was called, and nothing of its own.
    let main = json(dir.path(), &["source", "run.marey", "--code", "main"]);
    let called = instructions(&main).into_iter().find(|it| it["leads_to"] == "advance").unwrap().clone();
    assert!((number(&called, "processor_ns") - own).abs() <= bar, "{called}");
    assert!(number(&called, "own_ns") < own / 10, "{called}");
    // A program that is another one now is not shown as the one that ran: what the run kept is, and that is the same.
    let Some(()) = compiled(dir.path(), PROGRAM, &["-g", "-O2", "-o", "loops"]) else { return };
    let kept = json(dir.path(), &["source", "run.marey", "--code", "advance"]);
    assert_eq!(kept["codes"][0]["instructions"], told["codes"][0]["instructions"]);
    assert!(kept["problems"][0].as_str().unwrap().contains("not there any more"), "{}", kept["problems"]);
    // Lines are those of the source that ran, so the text of another one is not shown beside them.
    std::fs::write(dir.path().join("heat.c"), "// another text\n".repeat(100)).unwrap();
    let shown = |name: &str| {
        let (code, told, errors) = marey(dir.path(), &["source", "run.marey", "--code", name]);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = shown("advance");
    assert!(told.contains("heat.c:") && !told.contains("another text"), "{told}");
    assert!(told.contains("changed after the run began, so their text is not shown"), "{told}");
    // What only a library has is told as that, and that the program was not asked.
    let told = shown("step");
    assert!(told.contains(" of libc.so.6, ") && told.contains("module changed since it ran"), "{told}");
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
