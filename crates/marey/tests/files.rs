//! Files as the recorder sees them, against what `strace` sees of the same program.
//!
//! The one idea: calls and bytes by file, and the places in files, must be those that the kernel was asked for; of
//! streams of the C library, whose calls are not the kernel's, the bytes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod strace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use marey_archive::Archive;
use serde_json::Value;
use strace::{Files, Move, Witness};
use tempfile::TempDir;

/// A program that was compiled, and directories to run it in.
struct Program {
    place: TempDir,
}

impl Program {
    /// By a compiler's command line, in which `{}` stands for the directory of the sources. `None`, said aloud,
    /// without the compiler.
    fn compile(line: &str) -> Option<Self> {
        let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let line = line.replace("{}", &sources.display().to_string());
        let mut words = line.split_whitespace();
        let compiler = words.next().unwrap();
        let mut command = Command::new(compiler);
        match command.args(words).args(["-o", "program"]).current_dir(place.path()).output() {
            Err(error) => {
                marey_testkit::skip(&format!("{compiler}: {error}"));
                None
            }
            Ok(output) => {
                assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
                Some(Self { place })
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.place.path().join("program")
    }

    /// A directory of its own, by its real name.
    fn dir(&self, name: &str) -> PathBuf {
        let dir = self.place.path().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        dir.canonicalize().unwrap()
    }

    fn watch(&self, words: &[&str]) -> Option<Witness> {
        let program = self.path();
        strace::watch(&[&[program.to_str().unwrap()], words].concat(), &self.dir("watched"))
    }

    fn record(&self, options: &[&str], words: &[&str]) -> Recorded {
        std::fs::remove_dir_all(self.dir("recorded")).unwrap();
        let dir = self.dir("recorded");
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.args(["record", "--force"]).args(options).arg("--").arg(self.path()).args(words);
        let output = record.current_dir(&dir).env_remove("LD_PRELOAD").stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Recorded { dir, output }
    }
}

struct Recorded {
    dir: PathBuf,
    output: Output,
}

impl Recorded {
    fn json(&self, command: &str) -> Value {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.current_dir(&self.dir).args([command, "--json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Calls and bytes by file and kind, of the files in the directory.
    fn files(&self) -> Files {
        let report = self.json("report");
        let mut files = Files::new();
        for row in report["files"].as_array().unwrap() {
            let Ok(path) = Path::new(row["file"].as_str().unwrap()).strip_prefix(&self.dir) else { continue };
            let number = |field: &str| row[field].as_u64().unwrap();
            let sums = [
                ("read", "reads", number("read_bytes")),
                ("write", "writes", number("written_bytes")),
                ("open", "opens", 0),
                ("close", "closes", 0),
                ("seek", "seeks", 0),
                ("sync", "syncs", 0),
                ("resize", "resizes", 0),
            ];
            let sums = sums.map(|(kind, field, bytes)| (kind, (number(field), bytes)));
            let sums = sums.into_iter().filter(|(_, (calls, _))| *calls > 0).collect();
            assert!(files.insert(path.to_str().unwrap().to_owned(), sums).is_none());
        }
        files
    }

    /// What was moved, from the table of operations on files.
    fn moves(&self) -> Vec<Move> {
        let archive = Archive::open(&self.dir.join("run.marey")).unwrap();
        let (io, nouns) = (archive.table("io").unwrap(), archive.table("nouns").unwrap());
        let (names, files) = (nouns.text("name").unwrap(), io.u32("file").unwrap());
        let (kinds, bytes, offsets) =
            (io.text("kind").unwrap(), io.i64("bytes").unwrap(), io.i64("offset").unwrap());
        let mut moves = Vec::new();
        for row in 0..io.len() {
            let Some(name) = names.get(files[row] as usize) else { continue };
            let Ok(path) = Path::new(name).strip_prefix(&self.dir) else { continue };
            let kind = if kinds[row] == "read" { "read" } else { "write" };
            if kinds[row] == kind {
                moves.push((kind, path.to_str().unwrap().to_owned(), bytes[row], offsets[row]));
            }
        }
        moves
    }

    /// Nothing is missing.
    fn is_whole(&self) {
        let problems = &self.json("info")["problems"];
        assert_eq!(
            (&problems["dropped"], &problems["lost"], &problems["truncated"]),
            (&0.into(), &0.into(), &0.into())
        );
    }
}

/// Files, what was read from them and written to them, bytes, and how often they were opened.
fn bytes(files: &Files) -> BTreeMap<&str, [u64; 3]> {
    let of = |sums: &strace::Sums, kind: &str| sums.get(kind).copied().unwrap_or_default();
    let row = |sums: &strace::Sums| [of(sums, "read").1, of(sums, "write").1, of(sums, "open").0];
    files.iter().map(|(name, sums)| (name.as_str(), row(sums))).collect()
}

#[test]
fn calls_bytes_and_places_are_those_that_the_kernel_saw() {
    let Some(program) = Program::compile("cc -O1 -g -Wall {}/files.c") else { return };
    let Some(seen) = program.watch(&["calls"]) else { return };
    assert!(seen.files.len() >= 8 && seen.moves.len() > 60, "{:?}", seen.files);
    let recorded = program.record(&[], &["calls"]);
    // What it prints are results and `errno`.
    assert_eq!(recorded.output.stdout, std::fs::read(program.dir("watched").join("printed")).unwrap());
    // The child that shares a place is not recorded.
    let mut files = recorded.files();
    let shared = files.get_mut("shared").unwrap();
    let child = shared.entry("read").or_default();
    (child.0, child.1) = (child.0 + 1, child.1 + 10);
    assert_eq!(files, seen.files);
    assert_eq!(recorded.moves(), seen.moves);
    recorded.is_whole();
    // The same where nothing but sums is kept.
    let profile = program.record(&["--mode", "profile"], &["calls"]);
    let mut files = profile.files();
    let child = files.get_mut("shared").unwrap().entry("read").or_default();
    (child.0, child.1) = (child.0 + 1, child.1 + 10);
    assert_eq!(files, seen.files);
}

#[test]
fn streams_have_the_bytes_that_go_to_their_files() {
    let Some(program) = Program::compile("cc -O1 -g -Wall -D_FORTIFY_SOURCE=2 {}/files.c") else { return };
    let Some(seen) = program.watch(&["streams"]) else { return };
    let recorded = program.record(&[], &["streams"]);
    assert_eq!(bytes(&recorded.files()), bytes(&seen.files));
    recorded.is_whole();
}

#[test]
fn threads_share_a_file() {
    let Some(program) = Program::compile("cc -O1 -g -Wall -pthread {}/files.c") else { return };
    let recorded = program.record(&[], &["threads"]);
    let files = recorded.files();
    assert_eq!(files["numbers"]["read"], (4096, 4096 * 16));
    // Each piece was read once, by whomever.
    let mut places: Vec<i64> = recorded.moves().iter().filter(|it| it.0 == "read").map(|it| it.3).collect();
    places.sort_unstable();
    assert!(places.iter().copied().eq((0..4096).map(|number| number * 16)), "{places:?}");
    recorded.is_whole();
}

#[test]
fn streams_of_cpp_are_calls_on_files() {
    let Some(program) = Program::compile("c++ -O1 -g {}/files.cc") else { return };
    let Some(mut seen) = program.watch(&[]) else { return };
    // `fopen` goes to the end by itself.
    seen.files.get_mut("text").unwrap().remove("seek");
    let recorded = program.record(&[], &[]);
    assert_eq!(recorded.files(), seen.files);
    assert_eq!(bytes(&seen.files)["text"][1], 20_000 * 6 + 100_000);
    recorded.is_whole();
}

#[test]
fn fortran_reads_and_writes_as_the_kernel_saw() {
    let Some(program) = Program::compile("gfortran -O1 -g {}/files.f90") else { return };
    let Some(seen) = program.watch(&[]) else { return };
    let recorded = program.record(&[], &[]);
    assert!(seen.files.len() >= 3);
    assert_eq!(recorded.files(), seen.files);
    assert_eq!(recorded.moves(), seen.moves);
    recorded.is_whole();
}

#[test]
fn rust_reads_and_writes_as_the_kernel_saw() {
    let Some(program) = Program::compile("rustc -O -g --edition=2024 {}/files.rs") else { return };
    let Some(seen) = program.watch(&[]) else { return };
    let recorded = program.record(&[], &[]);
    assert!(seen.files.len() >= 3);
    assert_eq!(recorded.files(), seen.files);
    assert_eq!(recorded.moves(), seen.moves);
    recorded.is_whole();
}

#[test]
fn rules_and_switches_leave_out_what_they_say() {
    let Some(program) = Program::compile("cc -O1 -g -Wall {}/files.c") else { return };
    let all = program.record(&[], &["calls"]).files();
    let off = program.record(&["--files", "off"], &["calls"]);
    assert_eq!(off.files(), Files::new());
    let rules = ["--rule", "count files:write", "--rule", "off files:read", "--rule", "time files:open*"];
    let some = program.record(&rules, &["calls"]);
    let files = some.files();
    assert_eq!(files["data"]["write"].0, all["data"]["write"].0);
    assert_eq!(files["data"]["open"], all["data"]["open"]);
    assert!(files["data"].get("read").is_none_or(|reads| reads.0 < all["data"]["read"].0));
    // Places are counted along for those that are kept.
    let kept = |moves: Vec<Move>| moves.into_iter().filter(|it| it.1 == "appended").collect::<Vec<_>>();
    assert_eq!(kept(some.moves()), []);
}

#[test]
fn the_report_shows_files_and_where_they_were_used() {
    let Some(program) = Program::compile("cc -O1 -g -Wall {}/files.c") else { return };
    let recorded = program.record(&[], &["calls"]);
    let show = |words: &[&str]| {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.current_dir(&recorded.dir).env("COLUMNS", "200").args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = show(&["report", "--by", "file"]);
    assert!(text.starts_with("\nFILES  ") && text.contains("/data ") && text.contains("process 0"), "{text}");
    assert!(show(&["report"]).contains("\nFILES  "));
    let report = recorded.json("report");
    let sync = report["call_paths"].as_array().unwrap().iter().find(|row| row["path"][0] == "fsync").unwrap();
    assert_eq!((&sync["function"], &sync["calls"]), (&"plain".into(), &1.into()));
}
