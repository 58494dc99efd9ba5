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
        [
            vec!["called", "by", "main", "heat.c:14", "2"],
            vec!["calls", "relax", "heat.c:8", "1"],
            vec!["loop", "for", "heat.c:7–8"]
        ]
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
    std::fs::write(dir.path().join("notes.txt"), "no program").unwrap();
    refused("notes.txt", "give an executable, a shared library, a source or a directory of sources");
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    refused("empty", "no sources of C, C++, Fortran or Rust are below empty");
    let stripped = Command::new("strip").arg("heat").current_dir(dir.path()).status().unwrap();
    assert!(stripped.success());
    refused("heat", "compile with -g");
}

/// What a list shows, line by line.
#[track_caller]
fn shows(dir: &Path, words: &[&str], expected: &str) {
    let (code, told, errors) = marey(dir, words);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let told = told.replace(&format!("{}/", dir.display()), "");
    let told: Vec<&str> = told.lines().map(str::trim_end).collect();
    assert_eq!(told.join("\n").trim(), expected.trim(), "{told:#?}");
}

const NEST: &str = "\
module nests
contains
  subroutine step(n)
    integer :: n
    !$omp parallel do
    do i = 1, n
      do j = 1, n
        call work(i, j)
      end do
    end do
    call MPI_Barrier(comm)
    sync all
  end subroutine
end module
";

const SHAPES: &str = "\
class Shape {
public:
  virtual double area() const = 0;
protected:
  int id;
};
class Disc : public Shape {
public:
  double area() const override { return radius(id) * (*pi)(); }
};
void torn( {
";

#[test]
fn a_directory_of_sources_is_told_without_a_program() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("src")).unwrap();
    std::fs::write(dir.path().join("src/nests.f90"), NEST).unwrap();
    std::fs::write(dir.path().join("src/shapes.cpp"), SHAPES).unwrap();
    shows(
        dir.path(),
        &["src", "--list", "loops"],
        "
LOOPS  in the order of the text; those that lie in another are set in
  loop  at              lines  depth  in
  do    nests.f90:6–10      5      1  nests::step
    do  nests.f90:7–9       3      2  nests::step
  1 place in 1 source could not be parsed, so that something may be missing there; most:
  src/shapes.cpp:11 (1 in all)
",
    );
    shows(
        dir.path(),
        &["src/nests.f90", "--list", "constructs"],
        "
PARALLEL CONSTRUCTS  in the order of the text, each with the lines that it governs; in a loop says
                     where that begins
  model    construct    at              in           in a loop
  OpenMP   parallel do  nests.f90:5–10  nests::step
  MPI      MPI_Barrier  nests.f90:11    nests::step
  coarray  sync all     nests.f90:12    nests::step
",
    );
    shows(
        dir.path(),
        &["src/nests.f90", "--list", "calls"],
        "
CALLS  where each is, and how its callee is named; what a member or an expression leads to is
       known when the program runs
  caller       callee       from line     how      times
  nests::step  work         nests.f90:8   by name
  nests::step  MPI_Barrier  nests.f90:11  by name
",
    );
    shows(
        dir.path(),
        &["src", "--of", "Disc"],
        "
Disc  class, src/shapes.cpp:7–10, as the text tells
                         name   type    access  at
  base                   Shape          public  shapes.cpp:7
  override const method  area   double  public  shapes.cpp:9
  1 place in 1 source could not be parsed, so that something may be missing there; most:
  src/shapes.cpp:11 (1 in all)
",
    );
}

#[test]
fn what_one_witness_knows_alone_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = compiled(dir.path()) else { return };
    let unused = format!(
        "{PROGRAM}#ifdef NEVER\nint unused(void) {{ return 1; }}\nstruct other {{ int a; int b; }};\n#endif\n"
    );
    std::fs::write(dir.path().join("heat.c"), unused).unwrap();
    let (_, told, _) = marey(dir.path(), &["heat", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&told).unwrap();
    let known = |list: &str, name: &str| {
        let rows = json[list].as_array().unwrap();
        rows.iter().find(|it| it["name"] == name).unwrap()["known_to"].clone()
    };
    assert_eq!(known("functions", "sweep"), "both");
    assert_eq!(known("functions", "unused"), "text");
    assert_eq!(known("functions", "_start"), "binary");
    assert_eq!(known("types", "cell"), "both");
    assert_eq!(known("calls", "printf"), "both");
    let functions = json["functions"].as_array().unwrap();
    let sweep = functions.iter().position(|it| it["name"] == "sweep").unwrap();
    let nest = &json["loops"][0];
    assert_eq!(
        (&nest["function"], &nest["first_line"], &nest["last_line"]),
        (&sweep.into(), &7.into(), &8.into())
    );
    assert_eq!(functions[sweep]["last_line"], 10);
    let members = json["types"].as_array().unwrap().iter().map(|it| it["members"].as_array().unwrap().len());
    let members = members.sum::<usize>().to_string();
    // The text is younger than the program.
    let (_, told, _) = marey(dir.path(), &["heat"]);
    let mut row = told.lines().find(|line| line.contains("members")).unwrap().split_whitespace();
    assert_eq!(row.nth(1), Some(&*members), "{told}");
    assert!(told.contains("sources are newer than the program") && told.contains("heat.c"), "{told}");
    std::fs::remove_file(dir.path().join("heat.c")).unwrap();
    let (_, told, _) = marey(dir.path(), &["heat", "--list", "loops"]);
    assert!(
        told.contains("no sources could be read") && told.contains("1 source that the program"),
        "{told}"
    );
}
