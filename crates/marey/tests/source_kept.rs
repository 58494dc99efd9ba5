//! What a program consists of, as a run keeps it: against marks in the source, and against what the program itself is told to be.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use marey_archive::schema::NONE;
use marey_archive::{Archive, Columns, redact};

const WORDS: [&str; 5] = ["--", "./shapes", "3", "60", "x"];

fn marey(dir: &Path) -> Command {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state"));
    marey
}

fn record(dir: &Path, run: &str, words: &[&str]) -> String {
    let mut command = marey(dir);
    let output = command.args(["record", "-o", run]).args(words).args(WORDS).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// The program in a directory below, and its text. `None`, said aloud, without a compiler.
fn built(dir: &Path, flags: &[&str]) -> Option<String> {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/shapes.cpp");
    std::fs::create_dir_all(dir.join("src")).unwrap();
    std::fs::copy(&source, dir.join("src/shapes.cpp")).unwrap();
    let words = ["-O1", "src/shapes.cpp", "-o", "shapes"];
    let Ok(status) = Command::new("g++").args(flags).args(words).current_dir(dir).status() else {
        marey_testkit::skip("g++");
        return None;
    };
    assert!(status.success());
    Some(std::fs::read_to_string(source).unwrap())
}

/// The line that ends with a mark.
fn line_of(text: &str, mark: &str) -> u32 {
    let place = text.lines().position(|line| line.ends_with(&format!("// {mark}")));
    u32::try_from(1 + place.unwrap_or_else(|| panic!("no line has the mark {mark}"))).unwrap()
}

fn table(run: &Path, name: &str) -> Columns {
    Archive::open(run).unwrap().table(name).unwrap()
}

/// The only row in which a text column has a value.
fn row_of(table: &Columns, column: &str, value: &str) -> usize {
    let rows: Vec<usize> =
        (0..table.len()).filter(|row| table.text(column).unwrap()[*row] == value).collect();
    assert_eq!(rows.len(), 1, "{value}: {table:?}");
    rows[0]
}

#[test]
fn a_run_says_what_its_program_consists_of() {
    let dir = tempfile::tempdir().unwrap();
    let Some(text) = built(dir.path(), &["-g"]) else { return };
    let said = record(dir.path(), "run.marey", &["--embed-sources=src"]);
    assert!(said.contains("the text of 1 source is kept"), "{said}");
    let run = dir.path().join("run.marey");
    let files = table(&run, "source_files");
    let file =
        (0..files.len()).find(|row| files.text("path").unwrap()[*row].ends_with("shapes.cpp")).unwrap();
    assert_eq!(files.text("state").unwrap()[file], "read");
    assert_eq!(files.u32("lines").unwrap()[file] as usize, text.lines().count());
    let file = u32::try_from(file).unwrap();
    // Nothing of the system was read, and nothing of its libraries' own is here.
    let systems = files.text("path").unwrap().iter().zip(files.text("state").unwrap());
    assert!(systems.filter(|(path, _)| path.starts_with("/usr")).all(|(_, state)| state == "left out"));

    let functions = table(&run, "source_functions");
    let of = |name: &str| row_of(&functions, "name", name);
    for (name, mark) in [
        ("geometry::Disc::area", "function Disc::area"),
        ("geometry::Square::area", "function Square::area"),
        ("geometry::twice<double>", "function twice"),
        ("exchange", "function exchange"),
        ("relax", "function relax"),
        ("never", "function never"),
        ("main", "function main"),
    ] {
        let row = of(name);
        assert_eq!(functions.u32("line").unwrap()[row], line_of(&text, mark), "{name}");
        assert_eq!(functions.text("known_to").unwrap()[row], "both", "{name}");
        assert_eq!(functions.u32("file").unwrap()[row], file, "{name}");
    }
    let methods = functions.u32("type").unwrap();
    let types = table(&run, "source_types");
    let type_of = |name: &str| u32::try_from(row_of(&types, "name", name)).unwrap();
    assert_eq!(methods[of("geometry::Disc::area")], type_of("geometry::Disc"));
    for name in ["Named", "Shape", "Coloured", "Disc", "Square"] {
        let row = type_of(&format!("geometry::{name}")) as usize;
        assert_eq!(types.u32("line").unwrap()[row], line_of(&text, &format!("type {name}")), "{name}");
    }

    let bases = table(&run, "source_bases");
    let mut derived: Vec<(&str, &str, &str, u32)> = (0..bases.len())
        .map(|row| {
            let name = |column: &str| {
                let row = bases.u32(column).unwrap()[row] as usize;
                types.text("name").unwrap()[row].strip_prefix("geometry::").unwrap()
            };
            (
                name("type"),
                name("base"),
                bases.text("access").unwrap()[row].as_str(),
                bases.u32("virtual").unwrap()[row],
            )
        })
        .collect();
    derived.sort_unstable();
    let expected = [
        ("Coloured", "Named", "public", 1),
        ("Disc", "Coloured", "private", 0),
        ("Disc", "Shape", "public", 0),
        ("Shape", "Named", "public", 1),
        ("Square", "Shape", "public", 0),
    ];
    assert_eq!(derived, expected);

    let loops = table(&run, "source_loops");
    let loop_at = |mark: &str| {
        let first = line_of(&text, mark);
        (0..loops.len()).find(|row| loops.u32("first").unwrap()[*row] == first).unwrap()
    };
    for name in ["rings", "parts", "shapes", "steps"] {
        let row = loop_at(&format!("loop {name}"));
        assert_eq!(loops.u32("last").unwrap()[row], line_of(&text, &format!("end {name}")), "{name}");
    }
    let (rings, parts) = (loop_at("loop rings"), loop_at("loop parts"));
    assert_eq!(loops.u32("parent").unwrap()[parts], u32::try_from(rings).unwrap());
    assert_eq!(loops.u32("depth").unwrap()[parts], 2);
    assert_eq!(loops.u32("function").unwrap()[rings] as usize, of("geometry::Disc::area"));

    // Calls by who calls whom, and where; the virtual one leads nobody knows where.
    let calls = table(&run, "source_calls");
    let call = |line: u32| -> Vec<(u32, u32, &str)> {
        let rows = (0..calls.len()).filter(|row| calls.u32("line").unwrap()[*row] == line);
        let row = |row: usize| {
            let kind = calls.text("kind").unwrap()[row].as_str();
            (calls.u32("caller").unwrap()[row], calls.u32("callee").unwrap()[row], kind)
        };
        rows.map(row).filter(|(_, _, kind)| *kind == "called").collect()
    };
    let id = |name: &str| u32::try_from(of(name)).unwrap();
    assert_eq!(call(line_of(&text, "call relax")), [(id("main"), id("relax"), "called")]);
    assert_eq!(call(line_of(&text, "call exchange")), [(id("main"), id("exchange"), "called")]);
    assert_eq!(call(line_of(&text, "call area")), [(id("relax"), NONE, "called")]);

    let texts = table(&run, "source_texts");
    assert_eq!((texts.u32("file").unwrap(), texts.text("text").unwrap()), (&[file][..], &[text.clone()][..]));
    let copy = dir.path().join("copy.marey");
    redact(&[(&run, &copy)], &[]).unwrap();
    assert_eq!(table(&copy, "source_texts").len(), 0);
    assert_eq!(table(&copy, "source_loops").len(), loops.len());
    assert!(table(&copy, "source_files").text("path").unwrap().iter().all(|path| !path.contains('/')));
}

#[test]
fn without_being_asked_no_text_is_kept_and_what_changed_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    if built(dir.path(), &["-g"]).is_none() {
        return;
    }
    record(dir.path(), "plain.marey", &[]);
    assert_eq!(table(&dir.path().join("plain.marey"), "source_texts").len(), 0);
    assert!(table(&dir.path().join("plain.marey"), "source_loops").len() > 4);
    // Of another directory there is none.
    let said = record(dir.path(), "other.marey", &["--embed-sources=.state"]);
    assert!(said.contains("no source of the program lies in"), "{said}");

    // A directory that there is not is told before the program runs.
    let mut wrong = marey(dir.path());
    let wrong =
        wrong.args(["record", "-o", "wrong.marey", "--embed-sources=scr"]).args(WORDS).output().unwrap();
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(wrong.status.code() == Some(2) && said.contains("there is no directory scr"), "{said}");
    assert!(wrong.stdout.is_empty() && !dir.path().join("wrong.marey").exists());

    let source = dir.path().join("src/shapes.cpp");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options().append(true).open(&source).unwrap().set_modified(later).unwrap();
    record(dir.path(), "newer.marey", &["--embed-sources=src"]);
    let run = dir.path().join("newer.marey");
    let files = table(&run, "source_files");
    assert!(files.text("state").unwrap().iter().any(|state| state == "newer"), "{files:?}");
    assert_eq!((table(&run, "source_texts").len(), table(&run, "source_loops").len()), (0, 0));
    // What the binary knows is there.
    let functions = table(&run, "source_functions");
    assert_eq!(functions.text("known_to").unwrap()[row_of(&functions, "name", "relax")], "binary");
}

#[test]
fn a_program_without_debug_information_costs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    if built(dir.path(), &[]).is_none() {
        return;
    }
    let said = record(dir.path(), "run.marey", &["--embed-sources"]);
    assert!(said.contains("no module of the program has debug information; compile with -g"), "{said}");
    assert_eq!(table(&dir.path().join("run.marey"), "source_modules").len(), 0);
}
