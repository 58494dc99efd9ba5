//! Memory as the recorder sees it, against the book that a program keeps of itself.
//!
//! The one idea: a program allocates in functions of its own, and writes down what each of them got, gave back and had,
//! and what all had when together they had most; call paths are compared by the function that allocated.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Blocks, bytes, freed blocks, freed bytes, the most at a time, and what there was at the process's peak.
type Sums = [u64; 6];

/// What a program says of itself: the peak and the end of all together, and the sums of each function.
#[derive(Debug, Default)]
struct Book {
    whole: Option<[u64; 2]>,
    functions: BTreeMap<String, Sums>,
}

impl Book {
    fn read(text: &str) -> Self {
        let mut book = Self::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap();
            let numbers: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
            match name {
                "whole" => book.whole = Some(numbers.try_into().unwrap()),
                _ => _ = book.functions.insert(name.to_owned(), numbers.try_into().unwrap()),
            }
        }
        assert!(!book.functions.is_empty(), "{text}");
        book
    }
}

/// A program that was compiled in a directory of its own.
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
        match Command::new(compiler).args(words).args(["-o", "program"]).current_dir(place.path()).output() {
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

    fn record(&self, options: &[&str], words: &[&str]) -> Output {
        self.record_in(options, words, &[])
    }

    fn record_in(&self, options: &[&str], words: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.args(["record", "--force"]).args(options).args(["--", "./program"]).args(words);
        record.env_remove("LD_PRELOAD").envs(environment.iter().copied());
        record.current_dir(self.place.path()).stdin(Stdio::null()).output().unwrap()
    }

    /// Records it; it must end well. Its book.
    fn book(&self, options: &[&str], words: &[&str]) -> Book {
        let output = self.record(options, words);
        assert!(output.status.success(), "{output:?}");
        Book::read(&String::from_utf8(output.stdout).unwrap())
    }

    fn json(&self, command: &str) -> Value {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.current_dir(self.place.path()).args([command, "--json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn memory(&self) -> Value {
        self.json("report")["memory"].clone()
    }

    fn show(&self, words: &[&str]) -> String {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.current_dir(self.place.path()).env("COLUMNS", "200").args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

fn number(row: &Value, field: &str) -> u64 {
    row[field].as_u64().unwrap()
}

/// Sums by the function that allocated, of all call paths that lead to it; the most at a time only where it is one.
fn by_function(memory: &Value) -> BTreeMap<String, Sums> {
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    for row in memory["call_paths"].as_array().unwrap() {
        let of = ["blocks", "bytes", "freed_blocks", "freed_bytes", "peak_bytes", "at_peak_bytes"];
        // Without parameters, and of Rust without the crate.
        let name = row["function"].as_str().unwrap().split('(').next().unwrap();
        let sum = sums.entry(name.rsplit("::").next().unwrap().to_owned()).or_default();
        for (sum, field) in sum.iter_mut().zip(of) {
            *sum += number(row, field);
        }
    }
    sums
}

/// All that the book says of each function, but for the most at a time, which is of single call paths.
fn expect_sums(memory: &Value, book: &Book) {
    let found = by_function(memory);
    for (name, sums) in &book.functions {
        let without_most = |[blocks, bytes, freed, freed_bytes, _, then]: Sums| {
            // Without a peak of the whole, none was kept.
            [blocks, bytes, freed, freed_bytes, if book.whole.is_some() { then } else { 0 }]
        };
        let found = found.get(name).copied().unwrap_or_default();
        assert_eq!(without_most(found), without_most(*sums), "{name}: {memory:#}");
        // What several call paths had at most, they need not have had at the same time.
        assert!(book.whole.is_none() || sums[4] <= found[4], "{name}: {found:?}, {sums:?}");
    }
    if let Some([peak, at_end]) = book.whole {
        let process = &memory["processes"][0];
        assert_eq!((number(process, "peak_bytes"), number(process, "end_bytes")), (peak, at_end));
        let at_peak: u64 = found.values().map(|sums| sums[5]).sum();
        assert_eq!(at_peak, peak);
    }
}

/// No block is missing.
fn expect_all(memory: &Value) {
    let process = &memory["processes"][0];
    assert_eq!((number(process, "lost_blocks"), number(process, "lost_bytes")), (0, 0), "{process}");
}

#[test]
fn every_function_of_the_family_is_counted_as_the_program_does() {
    let Some(program) = Program::compile("cc -O1 -g -Wall -pthread {}/heap.c") else { return };
    let book = program.book(&[], &["family"]);
    assert_eq!(book.functions.len(), 9);
    let memory = program.memory();
    expect_sums(&memory, &book);
    assert_eq!(number(&memory["processes"][0], "least_bytes"), 4096);
    expect_all(&memory);
    // With each threshold what counts is the size that was asked for.
    for least in ["1", "4100", "30001"] {
        let output = program.record_in(&["--heap", least], &["family"], &[("LEAST", least)]);
        assert!(output.status.success(), "{output:?}");
        let mut book = Book::read(&String::from_utf8(output.stdout).unwrap());
        // Of the smallest blocks the C library has some of its own.
        if least == "1" {
            book.whole = None;
            book.functions.values_mut().for_each(|sums| sums[5] = 0);
        }
        let memory = program.memory();
        expect_sums(&memory, &book);
        expect_all(&memory);
    }
    program.record(&["--heap", "off"], &["family"]);
    let memory = program.memory();
    assert_eq!(
        (&memory["processes"], &memory["call_paths"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    assert!(program.show(&["report", "--by", "memory"]).contains("not recorded"));
}

#[test]
fn blocks_that_go_from_thread_to_thread_are_all_counted() {
    let Some(program) = Program::compile("cc -O1 -g -Wall -pthread {}/heap.c") else { return };
    let book = program.book(&[], &["threads"]);
    let memory = program.memory();
    expect_sums(&memory, &book);
    expect_all(&memory);
    let process = &memory["processes"][0];
    let sums = book.functions["worker_malloc"];
    assert_eq!(sums[0], 6 * (4000 + 100_000) + 100);
    // Of what is on its way in the very instant of the peak at most a block of each thread.
    let (peak, all): (u64, u64) =
        (number(process, "peak_bytes"), by_function(&memory).values().map(|sums| sums[5]).sum());
    assert!(peak.abs_diff(all) <= 6 * 64096, "{peak} {all}");
}

#[test]
fn a_process_that_is_killed_keeps_its_heap() {
    let Some(program) = Program::compile("cc -O1 -g -Wall -pthread {}/heap.c") else { return };
    let output = program.record(&[], &["killed"]);
    assert_eq!(output.status.code(), Some(128 + 9));
    expect_sums(&program.memory(), &Book::read(&String::from_utf8(output.stdout).unwrap()));
}

#[test]
fn what_a_forked_child_does_is_not_its_parents() {
    let Some(program) = Program::compile("cc -O1 -g -Wall -pthread {}/heap.c") else { return };
    let book = program.book(&[], &["fork"]);
    let memory = program.memory();
    expect_sums(&memory, &book);
    assert_eq!(memory["processes"].as_array().unwrap().len(), 1);
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let Some(program) = Program::compile("cc -O1 -g -Wall -pthread {}/heap.c") else { return };
    let book = program.book(&["--heap", "20"], &["many"]);
    let [blocks, bytes, ..] = book.functions["one_of_many"];
    let memory = program.memory();
    let process = &memory["processes"][0];
    let (lost, lost_bytes) = (number(process, "lost_blocks"), number(process, "lost_bytes"));
    let found = by_function(&memory)["one_of_many"];
    assert!(lost > 300_000, "{process}");
    assert_eq!((found[0] + lost, found[1] + lost_bytes), (blocks, bytes));
    // Those that are recorded are seen to be freed.
    assert_eq!((found[0], found[1]), (found[2], found[3]));
    let text = program.show(&["report", "--by", "problem"]);
    assert!(text.contains("lost blocks") && text.contains("missing in MEMORY"), "{text}");
}

/// What C++ and Rust do to a vector to which 100 000 numbers of 8 bytes are appended: it doubles, and blocks of 4 KiB
/// to 1 MiB are recorded.
const DOUBLED: [u64; 4] = [9, 2 * (1 << 20) - 4096, 9, 2 * (1 << 20) - 4096];

fn counts(sums: &BTreeMap<String, Sums>, function: &str) -> [u64; 4] {
    sums.get(function)
        .map_or([0; 4], |&[blocks, bytes, freed, freed_bytes, ..]| [blocks, bytes, freed, freed_bytes])
}

#[test]
fn what_cpp_allocates_belongs_to_the_function_that_wants_it() {
    for level in ["-O0", "-O2"] {
        let Some(program) = Program::compile(&format!("c++ {level} -g {{}}/heap.cc")) else { return };
        assert!(program.record(&[], &[]).status.success());
        let memory = program.memory();
        let sums = by_function(&memory);
        assert_eq!(counts(&sums, "growing"), DOUBLED, "{memory:#}");
        // Each time the block and the exception, before which the runtime keeps some bytes of its own.
        let [blocks, bytes, freed, freed_bytes] = counts(&sums, "throwing");
        assert_eq!((blocks, freed, bytes), (100, 100, freed_bytes));
        assert!((50 * 16_000..50 * 16_256).contains(&bytes), "{bytes}");
        assert_eq!(counts(&sums, "aligned"), [3, 3 * 8192, 3, 3 * 8192]);
        assert_eq!(counts(&sums, "leaking"), [1, 8000, 0, 0]);
        // Strings of 5000 to 5019 letters, each with a zero.
        let bytes = (0..20).map(|n| 5001 + n).sum();
        assert_eq!(counts(&sums, "texts"), [20, bytes, 20, bytes]);
    }
}

#[test]
fn what_fortran_allocates_belongs_to_the_procedure() {
    let Some(program) = Program::compile("gfortran -O1 -g {}/heap.f90") else { return };
    assert!(program.record(&[], &[]).status.success());
    let memory = program.memory();
    // Names of procedures of modules: `__arrays_MOD_growing`, or as debug information has them.
    let sums: BTreeMap<String, Sums> = by_function(&memory)
        .into_iter()
        .map(|(name, sums)| (name.trim_start_matches("__arrays_MOD_").to_owned(), sums))
        .collect();
    // 500 × 1 to 500 × 10 numbers; the first are too few.
    let bytes = (2..=10).map(|n| 500 * n * 8).sum();
    assert_eq!(counts(&sums, "explicit"), [9, bytes, 9, bytes], "{memory:#}");
    assert_eq!(counts(&sums, "scoped"), [2, 48_000, 2, 48_000]);
    assert_eq!(counts(&sums, "growing"), [2, 24_000, 2, 24_000]);
    assert_eq!(counts(&sums, "lasting"), [1, 32_000, 0, 0]);
}

#[test]
fn what_rust_allocates_belongs_to_the_function_that_wants_it() {
    let Some(program) = Program::compile("rustc -O -g --edition=2024 {}/heap.rs") else { return };
    assert!(program.record(&[], &[]).status.success());
    let memory = program.memory();
    let sums = by_function(&memory);
    assert_eq!(counts(&sums, "growing"), DOUBLED, "{memory:#}");
    assert_eq!(counts(&sums, "zeroed"), [5, 250_010, 5, 250_010]);
    assert_eq!(counts(&sums, "forgotten"), [1, 10_000, 0, 0]);
    assert_eq!(counts(&sums, "handed_over"), [1, 20_000, 1, 20_000]);
}

#[test]
fn lines_and_info_have_what_was_allocated() {
    let Some(program) = Program::compile("c++ -O1 -g {}/heap.cc") else { return };
    assert!(program.record(&[], &[]).status.success());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/heap.cc");
    let output = Command::new(env!("CARGO_BIN_EXE_marey"))
        .current_dir(program.place.path())
        .args(["lines", "run.marey"])
        .arg(&source)
        .arg("--json")
        .output()
        .unwrap();
    let lines: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = std::fs::read_to_string(&source).unwrap();
    let line = 1 + text.lines().position(|line| line.contains("push_back")).unwrap();
    let row = lines["lines"].as_array().unwrap().iter().find(|row| row["line"] == line).unwrap();
    assert_eq!(number(row, "allocated_bytes"), DOUBLED[1]);
    let info = program.json("info");
    let all: u64 = by_function(&program.memory()).values().map(|sums| sums[0]).sum();
    assert_eq!(number(&info, "heap_blocks"), all);
    assert!(program.show(&["info"]).contains("\n  memory "));
}

#[test]
fn a_program_with_an_allocator_of_its_own_is_left_alone_and_that_is_told() {
    let lines = [
        "cc -O1 -g -Wall -pthread -I{}/../../../marey-collect/include {}/../odd/programs/own_heap.c",
        "cc -O1 -g -Wall -pthread {}/heap.c -Wl,--no-as-needed -l:libjemalloc.so.2",
    ];
    for (line, word) in lines.into_iter().zip(["7", "threads"]) {
        // The second library is not everywhere.
        if line.contains("jemalloc") && !Path::new("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2").exists() {
            marey_testkit::leave_out("no libjemalloc.so.2");
            continue;
        }
        let Some(program) = Program::compile(line) else { return };
        let output = program.record(&[], &[word]);
        assert!(matches!(output.status.code(), Some(0 | 7)), "{output:?}");
        assert_eq!(program.memory()["call_paths"], serde_json::json!([]));
        let text = program.show(&["report", "--by", "problem"]);
        assert!(text.contains("an allocator of its own"), "{text}");
    }
}
