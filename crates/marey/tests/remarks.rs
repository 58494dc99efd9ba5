//! What compilers say of loops, from the build to the comparison of two runs, by four compilers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A program whose one loop each iteration needs the one before, until a line is exchanged.
struct Case {
    source: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
    /// What keeps the iterations in order, and what is exchanged for it.
    carried: &'static str,
    free: &'static str,
    /// The distance, where the compiler tells it.
    distance: Option<i64>,
    /// Who names the array.
    array_by: &'static str,
    /// What is said of the dependence.
    dependence: &'static str,
    /// Elements of 4 bytes in a vector, and whether the compiler says so.
    lanes: (u64, bool),
}

const RECORDS: &[&str] = &["-O3", "-g", "-fsave-optimization-record", "-o", "program"];

const CASES: [Case; 4] = [
    Case {
        source: "remarked.c",
        compiler: "gcc",
        flags: RECORDS,
        carried: "grid[i - 1]",
        free: "old[i - 1]",
        distance: Some(1),
        array_by: "compiler",
        dependence: "carried",
        lanes: (4, true),
    },
    Case {
        source: "remarked.c",
        compiler: "clang",
        flags: RECORDS,
        carried: "grid[i - 1]",
        free: "old[i - 1]",
        distance: None,
        array_by: "text",
        dependence: "value",
        lanes: (4, false),
    },
    Case {
        source: "remarked.f90",
        compiler: "gfortran",
        flags: RECORDS,
        carried: "grid(i - 1)",
        free: "old(i - 1)",
        distance: Some(1),
        array_by: "compiler",
        dependence: "carried",
        lanes: (4, true),
    },
    Case {
        source: "remarked.rs",
        compiler: "rustc",
        flags: &["-O", "-Ccodegen-units=1", "-Cdebuginfo=1", "-Cremark=all", "-o", "program"],
        carried: "grid[i - 1]",
        free: "old[i - 1]",
        distance: None,
        array_by: "text",
        dependence: "value",
        lanes: (4, false),
    },
];

fn marey(dir: &Path) -> Command {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state")).env_remove("COLUMNS");
    marey
}

/// What a command prints; it must succeed.
#[track_caller]
fn printed(dir: &Path, args: &[&str]) -> String {
    let output = marey(dir).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn source(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Compiles a text with records where a user would have them; false, said aloud, without the compiler.
fn compile(dir: &Path, case: &Case, text: &str) -> bool {
    std::fs::write(dir.join(case.source), text).unwrap();
    let args = [case.flags, &[case.source]].concat();
    let Ok(output) = Command::new(case.compiler).args(args).current_dir(dir).output() else {
        marey_testkit::skip(case.compiler);
        return false;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", case.compiler);
    if case.compiler == "rustc" {
        std::fs::write(dir.join("program.remarks"), said.as_bytes()).unwrap();
    }
    true
}

/// The line of the loop.
fn line_of(text: &str) -> u64 {
    1 + text.lines().position(|line| line.contains("the loop")).unwrap() as u64
}

/// The loop at the mark, as JSON has it.
#[track_caller]
fn the_loop(json: &str, case: &Case, line: u64) -> Value {
    let json: Value = serde_json::from_str(json).unwrap();
    let loops = json["loops"].as_array().unwrap();
    let is_it = |it: &&Value| it["first_line"] == line && it["file"].as_str().unwrap().ends_with(case.source);
    loops.iter().find(is_it).unwrap_or_else(|| panic!("{}: {json:#}", case.compiler)).clone()
}

#[test]
fn a_dependence_is_told_above_its_cost_and_its_end_in_a_comparison() {
    for case in &CASES {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let text = source(case.source);
        let line = line_of(&text);
        if !compile(&dir, case, &text) {
            continue;
        }
        let record = |run| printed(&dir, &["record", "-o", run, "--", "./program", "20000"]);
        record("old.marey");

        // The remark with its reason, array and line, and the cost beside.
        let old = printed(&dir, &["remarks", "old.marey", "--json"]);
        let it = the_loop(&old, case, line);
        let why = &it["remarks"][0];
        let name = case.compiler;
        assert_eq!(it["outcome"], "not vectorised", "{name}: {it:#}");
        assert!(it["function"].as_str().unwrap().ends_with("sweep"), "{name}: {it:#}");
        let told = [&why["kind"], &why["dependence"], &why["array"], &why["array_by"]];
        assert_eq!(told, ["not vectorised", case.dependence, "grid", case.array_by], "{name}: {it:#}");
        assert_eq!(why["distance"].as_i64(), case.distance, "{name}: {it:#}");
        assert!(why["line"].as_u64().is_some_and(|at| at == line || at == line + 1), "{name}: {it:#}");
        // Hardly anything else takes time, and the one thread is the critical path.
        let json: Value = serde_json::from_str(&old).unwrap();
        let (own, whole) = (it["own_ns"].as_i64().unwrap(), json["processor_ns"].as_i64().unwrap());
        assert!(own > whole / 2, "{name}: {own} of {whole}");
        let path = it["path_ns"].as_i64().unwrap();
        assert!(path > own / 2 && path <= own, "{name}: {path} of {own}");
        assert_eq!(
            (it["lanes"].as_u64(), it["lanes_told"].as_bool()),
            (Some(case.lanes.0), Some(case.lanes.1))
        );
        assert_eq!(it["gain_ns"].as_i64(), Some(path - path / 4), "{name}: {it:#}");

        // In words, in the report too; the array that the text tells has a mark.
        let array = if case.array_by == "text" { "array grid*" } else { "array grid" };
        let head = format!("{}:{line}–{}", case.source, it["last_line"]);
        for page in [["remarks", "old.marey"], ["report", "old.marey"]] {
            let page = printed(&dir, &page);
            assert!(page.contains(&head) && page.contains(array), "{name}: {page}");
            let bound = if case.lanes.1 { "at most " } else { "; some " };
            assert!(page.replace("\n", " ").contains(bound), "{name}: {page}");
            assert_eq!(page.contains("estimate"), !case.lanes.1, "{name}: {page}");
        }
        let code = text.lines().nth(usize::try_from(line - 1).unwrap()).unwrap().trim().to_owned();
        assert!(printed(&dir, &["remarks", "old.marey"]).contains(&code), "{name}");

        // The next build changes nothing of what the run says.
        let free = text.replace(case.carried, case.free);
        assert_ne!(free, text);
        compile(&dir, case, &free);
        assert_eq!(printed(&dir, &["remarks", "old.marey", "--json"]), old, "{name}");
        assert!(
            !printed(&dir, &["remarks", "old.marey"]).contains(&code),
            "{name}: the source is another one now"
        );

        record("new.marey");
        let new = the_loop(&printed(&dir, &["remarks", "new.marey", "--json"]), case, line);
        assert_eq!(new["outcome"], "vectorised", "{name}: {new:#}");
        let diff = printed(&dir, &["diff", "old.marey", "new.marey"]);
        let sentence = format!("{}:{line} in", case.source);
        let told = diff.lines().find(|line| line.contains(&sentence) && line.contains("Loop at"));
        assert!(told.is_some_and(|line| line.contains("now vectorised")), "{name}: {diff}");
        let back = printed(&dir, &["diff", "new.marey", "old.marey"]);
        assert!(back.contains("no longer vectorised"), "{name}: {back}");
        let json: Value =
            serde_json::from_str(&printed(&dir, &["diff", "old.marey", "new.marey", "--json"])).unwrap();
        let of = &json["comparisons"][0]["loops"][0];
        assert_eq!(
            [&of["old_outcome"], &of["new_outcome"]],
            ["not vectorised", "vectorised"],
            "{name}: {of:#}"
        );
        assert_eq!(of["old_own_ns"].as_i64(), Some(own), "{name}");
    }
}

#[test]
fn without_records_it_is_said_how_to_get_them() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let case = &CASES[0];
    let with_records = Case { flags: RECORDS, ..CASES[0] };
    let without = Case { flags: &["-O3", "-g", "-o", "program"], ..CASES[0] };
    let text = source(case.source);
    if !compile(&dir, &without, &text) {
        return;
    }
    printed(&dir, &["record", "-o", "run.marey", "--", "./program", "8000"]);
    for file in ["run.marey", "program"] {
        let refused = marey(&dir).args(["remarks", file]).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("-fsave-optimization-record") && said.contains("-Ccodegen-units=1"), "{said}");
    }
    assert!(!printed(&dir, &["report", "run.marey"]).contains("THE COMPILER"));
    // Records that came later are read if they are named; the run itself stays as it is.
    std::fs::create_dir(dir.join("later")).unwrap();
    compile(&dir.join("later"), &with_records, &text);
    let elsewhere = marey(&dir).args(["remarks", "run.marey", "--remarks", "later"]).output().unwrap();
    assert_eq!(elsewhere.status.code(), Some(2), "records of a source in another directory");
    compile(&dir, &with_records, &text);
    let json = printed(&dir, &["remarks", "run.marey", "--remarks", ".", "--json"]);
    assert_eq!(the_loop(&json, case, line_of(&text))["outcome"], "not vectorised");
    assert!(marey(&dir).args(["remarks", "run.marey"]).output().unwrap().status.code() == Some(2));
    // And of the program, and of a directory, without a run.
    for file in ["program", "later"] {
        let page = printed(&dir, &["remarks", file]);
        assert!(page.contains("array grid, distance 1") && !page.contains('%'), "{page}");
    }
    // What is named must be there.
    let missing = marey(&dir).args(["remarks", "run.marey", "--remarks", "nowhere"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn a_run_whose_remarks_are_damaged_is_told_without() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    if !compile(&dir, &CASES[0], &source(CASES[0].source)) {
        return;
    }
    printed(&dir, &["record", "-o", "run.marey", "--", "./program", "100"]);
    let table = dir.join("run.marey/remarks.parquet");
    let bytes = std::fs::read(&table).unwrap();
    std::fs::write(&table, &bytes[..bytes.len() / 2]).unwrap();
    let refused = marey(&dir).args(["remarks", "run.marey"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", String::from_utf8_lossy(&refused.stderr));
    let told = "remarks of compilers in run.marey cannot be read";
    assert!(printed(&dir, &["report", "run.marey"]).replace("\n  ", " ").contains(told));
    assert!(printed(&dir, &["diff", "run.marey", "run.marey"]).replace("\n  ", " ").contains(told));
}

#[test]
fn one_program_that_does_other_things_is_no_change_and_what_was_inlined_is_the_loops_own() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let kernel = |name: &str, from: &str| {
        format!(
            "static inline float w(float x, float y) {{
                 float r = x * 1.5f + y;
                 return r * r + y * 0.25f + x * x * x;
             }}
             __attribute__((noinline)) static void step(float *a, const float *b, int n) {{
                 for (int i = 1; i < n; i++)
                     a[i] = w({from}, b[i]) * 1e-3f;
             }}
             void {name}(float *a, const float *b, int n) {{ step(a, b, n); }}\n"
        )
    };
    let main = "#include <stdlib.h>
        void fx(float *, const float *, int); void fy(float *, const float *, int);
        static float a[4096], b[4096];
        int main(int c, char **v) {
            for (int i = atoi(v[1]); i > 0; i--) fx(a, b, 4096);
            for (int i = atoi(v[2]); i > 0; i--) fy(a, b, 4096);
            return a[c] > 1e30;
        }\n";
    for (name, from) in [("x", "a[i - 1]"), ("y", "b[i - 1]")] {
        std::fs::create_dir(dir.join(name)).unwrap();
        std::fs::write(dir.join(name).join("k.c"), kernel(&format!("f{name}"), from)).unwrap();
    }
    std::fs::write(dir.join("m.c"), main).unwrap();
    for (source, object) in [("x/k.c", "x/k.o"), ("y/k.c", "y/k.o"), ("m.c", "m.o")] {
        let flags = ["-O3", "-g", "-fsave-optimization-record", "-c", source, "-o", object];
        let Ok(output) = Command::new("gcc").args(flags).current_dir(&dir).output() else {
            return marey_testkit::skip("gcc");
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let linked =
        Command::new("gcc").args(["x/k.o", "y/k.o", "m.o", "-o", "m"]).current_dir(&dir).status().unwrap();
    assert!(linked.success());
    printed(&dir, &["record", "-o", "one.marey", "--", "./m", "12000", "2000"]);
    printed(&dir, &["record", "-o", "two.marey", "--", "./m", "1000", "60000"]);
    let diff = printed(&dir, &["diff", "one.marey", "two.marey", "--json"]);
    let diff: Value = serde_json::from_str(&diff).unwrap();
    assert_eq!(diff["comparisons"][0]["loops"], serde_json::json!([]));
    // Nearly all the time of the first is in what was inlined into the loop of x/k.c.
    let json: Value = serde_json::from_str(&printed(&dir, &["remarks", "one.marey", "--json"])).unwrap();
    let loops = json["loops"].as_array().unwrap();
    let it = loops.iter().find(|it| it["file"].as_str().unwrap().ends_with("x/k.c")).unwrap();
    let (own, whole) = (it["own_ns"].as_i64().unwrap(), json["processor_ns"].as_i64().unwrap());
    assert!(own * 10 > whole * 8, "{own} of {whole}: {json:#}");
}

#[test]
fn what_is_doubtful_of_records_stays_with_the_run_which_a_comparison_opens_once() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let case = &CASES[0];
    if !compile(&dir, case, &source(case.source)) {
        return;
    }
    // As somebody does who goes on writing while the program runs.
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options().append(true).open(dir.join(case.source)).unwrap().set_modified(later).unwrap();
    printed(&dir, &["record", "-o", "run.marey", "--", "./program", "100"]);
    let json: Value = serde_json::from_str(&printed(&dir, &["remarks", "run.marey", "--json"])).unwrap();
    let problems = json["problems"].as_array().unwrap();
    assert!(matches!(&problems[..], [one] if one.as_str().unwrap().contains(case.source)), "{problems:?}");
    let report = printed(&dir, &["report", "run.marey"]);
    assert!(report.lines().any(|line| line.trim_start().starts_with("remarks ")), "{report}");

    std::fs::create_dir(dir.join("copy")).unwrap();
    printed(&dir, &["record", "-o", "copy/run.marey", "--", "./program", "100"]);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-e", "trace=open,openat", "-o", "opened", env!("CARGO_BIN_EXE_marey")]);
    let Ok(output) = strace.args(["diff", "run.marey", "copy/run.marey"]).current_dir(&dir).output() else {
        return marey_testkit::skip("strace");
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let opened = std::fs::read_to_string(dir.join("opened")).unwrap();
    let times = |name: &str| opened.lines().filter(|line| line.contains(name)).count();
    assert_eq!((times("/locations.parquet"), times("/remarks.parquet")), (2, 2), "{opened}");
}

#[test]
fn a_source_here_is_not_the_one_that_a_record_elsewhere_names() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    for name in ["here", "there"] {
        std::fs::create_dir(dir.join(name)).unwrap();
    }
    std::fs::write(
        dir.join("here/k.c"),
        "void f(float *a) {\n  for (int i = 0; i < 9; i++)\n    a[i] = 1;\n}\n",
    )
    .unwrap();
    let record = "--- !Passed\nPass: loop-vectorize\nName: Vectorized\nDebugLoc: { File: k.c, Line: 3, Column: 1 }\n\
                  Function: f\nArgs:\n  - String: 'vectorized loop (vectorization width: 4)'\n...\n";
    std::fs::write(dir.join("there/k.opt.yaml"), record).unwrap();
    let lines = |from: &str| {
        let json: Value =
            serde_json::from_str(&printed(&dir.join(from), &["remarks", "../there", "--json"])).unwrap();
        let loops = json["loops"].as_array().unwrap();
        loops.iter().map(|it| (it["first_line"].as_u64(), it["last_line"].as_u64())).collect::<Vec<_>>()
    };
    // Of a source that is not there, the line alone is known.
    assert_eq!(lines("here"), [(Some(3), Some(3))]);
    std::fs::rename(dir.join("here/k.c"), dir.join("there/k.c")).unwrap();
    assert_eq!(lines("here"), [(Some(2), Some(3))]);
}
