//! What compilers say of loops, against what the same compilers print of them in another form.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use marey_source::remarks::{
    DependenceKind, Format, Outcome, Remark, RemarkConfig, RemarkKind, Remarks, array_of, join, of_module,
    of_paths,
};
use marey_source::text::{Lines, Sources, TextConfig};
use marey_source::{ModuleRef, SymbolizerConfig};

/// Programs of other tests: their loops were not written for this one.
const PROGRAMS: [&str; 3] = [
    "../marey/tests/programs/heap.c",
    "../marey/tests/programs/counted.c",
    "../marey-collect/tests/threads/programs.c",
];

/// Where what they include is.
const HEADERS: &str = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../marey-collect/include");

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Runs a compiler in a directory; what it printed. `None`, said aloud, if it is not here.
fn compile(dir: &Path, compiler: &str, args: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(compiler).args(args).current_dir(dir).env("LC_ALL", "C").output() else {
        marey_testkit::skip(compiler);
        return None;
    };
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{compiler} {args:?}: {printed}");
    Some(printed)
}

fn read(path: &Path, format: Format) -> Vec<Remark> {
    let Remarks { rows, problems } = Remarks::of(path, format, &RemarkConfig::system());
    assert_eq!(problems, []);
    rows
}

type Places = BTreeSet<(u32, u32)>;

fn places(rows: &[Remark], is_meant: impl Fn(&Remark) -> bool) -> Places {
    rows.iter().filter(|row| is_meant(row)).map(|row| (row.line, row.column)).collect()
}

/// `k.c:6:23: TEXT`
fn printed(text: &str, needle: &str) -> Places {
    let place = |line: &str| {
        let mut parts = line.split(':').skip(1);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    text.lines().filter(|line| line.contains(needle)).filter_map(place).collect()
}

#[test]
fn gcc_prints_what_its_records_say() {
    let dir = tempfile::tempdir().unwrap();
    let mut known = 0;
    for program in PROGRAMS {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(program);
        let source = source.to_str().unwrap();
        let flags = [
            "-O3",
            "-g",
            "-c",
            HEADERS,
            "-fsave-optimization-record",
            "-fopt-info-loop-vec-all",
            source,
            "-o",
            "p.o",
        ];
        let Some(text) = compile(dir.path(), "gcc", &flags) else { return };
        let record = std::fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.path());
        let record = record.into_iter().find(|path| path.to_string_lossy().ends_with(".json.gz")).unwrap();
        let rows = read(&record, Format::Gcc);
        std::fs::remove_file(record).unwrap();
        let vectorised = places(&rows, |row| row.kind == RemarkKind::Vectorised);
        let not = places(&rows, |row| row.kind == RemarkKind::NotVectorised);
        assert_eq!(vectorised, printed(&text, "optimized: loop vectorized"), "{program}");
        assert_eq!(not, printed(&text, "missed: couldn't vectorize loop"), "{program}");
        // Each says why.
        let without = |row: &&Remark| row.kind == RemarkKind::NotVectorised && row.reason.is_empty();
        assert_eq!(rows.iter().find(without), None, "{program}");
        known += vectorised.len() + not.len();
    }
    assert!(known > 50, "{known}");
}

#[test]
fn clang_prints_what_its_records_say() {
    let dir = tempfile::tempdir().unwrap();
    let mut known = 0;
    for program in PROGRAMS {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(program);
        let source = source.to_str().unwrap();
        let flags = [
            "-O3",
            "-g",
            "-c",
            HEADERS,
            "-fsave-optimization-record",
            "-foptimization-record-file=p.opt.yaml",
            "-Rpass=loop-vectorize|inline",
            "-Rpass-missed=loop-vectorize|inline",
            source,
            "-o",
            "p.o",
        ];
        let Some(text) = compile(dir.path(), "clang", &flags) else { return };
        let rows = read(&dir.path().join("p.opt.yaml"), Format::Llvm);
        let of = |kind| places(&rows, |row| row.kind == kind);
        assert_eq!(of(RemarkKind::Vectorised), printed(&text, "remark: vectorized loop"), "{program}");
        // What is told of a loop as a whole has no reason, others of statements have.
        let whole = places(&rows, |row| row.kind == RemarkKind::NotVectorised && row.said.is_empty());
        assert_eq!(whole, printed(&text, "remark: loop not vectorized"), "{program}");
        let text = text.replace("not inlined into '", "refused ");
        assert_eq!(of(RemarkKind::Inlined), printed(&text, "inlined into '"), "{program}");
        // Of functions without a body it prints nothing.
        let is_refused =
            |row: &Remark| row.kind == RemarkKind::NotInlined && !row.said.contains("unavailable");
        assert_eq!(places(&rows, is_refused), printed(&text, "refused "), "{program}");
        known += rows.len();
    }
    assert!(known > 50, "{known}");
}

/// The line with a mark.
fn line_of(text: &str, mark: &str) -> u32 {
    let place = text.lines().position(|line| line.contains(mark)).unwrap();
    u32::try_from(place + 1).unwrap()
}

/// Compiles a program with records; what is found of it without being told where, and its text.
fn made(dir: &Path, source: &str, compiler: &str, flags: &[&str]) -> Option<(String, Vec<Remark>)> {
    std::fs::copy(kernels().join(source), dir.join(source)).unwrap();
    let printed = compile(dir, compiler, &[flags, &["-g", source, "-o", "program"]].concat())?;
    // As a user would save it.
    std::fs::write(dir.join("program.remarks"), printed).unwrap();
    let module = ModuleRef { path: &dir.join("program"), build_id: None };
    let found = of_module(&module, None, &[], &RemarkConfig::system(), &SymbolizerConfig::system());
    assert_eq!(found.problems, []);
    Some((std::fs::read_to_string(dir.join(source)).unwrap(), found.rows))
}

#[test]
fn a_dependence_is_told_at_its_loop_by_every_compiler() {
    for (source, compiler, flags) in [
        ("carried.c", "gcc", &["-O3", "-fsave-optimization-record"][..]),
        ("carried.c", "clang", &["-O3", "-fsave-optimization-record"]),
        ("carried.f90", "gfortran", &["-O3", "-fsave-optimization-record"]),
        ("carried.rs", "rustc", &["-O", "-Ccodegen-units=1", "-Cdebuginfo=1", "-Cremark=all"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let Some((text, rows)) = made(&dir, source, compiler, flags) else { continue };
        let path = dir.join(source);
        let sources = Sources::of_files(std::slice::from_ref(&path), &TextConfig::system());
        let loops = join(&rows, &sources);
        let of = |mark: &str| {
            let line = line_of(&text, mark);
            loops.iter().find(|it| it.first == line && it.file == path.to_str().unwrap()).unwrap()
        };
        let carried = of("loop carried");
        assert_eq!(carried.outcome, Outcome::NotVectorised, "{compiler}: {rows:#?}");
        let why: Vec<&Remark> =
            carried.remarks.iter().map(|it| &rows[*it]).filter(|row| row.dependence.is_some()).collect();
        let dependence = why.first().unwrap_or_else(|| panic!("{compiler}: {rows:#?}")).dependence.unwrap();
        let is_gcc = compiler.starts_with('g');
        let kind = if compiler == "clang" { DependenceKind::Value } else { DependenceKind::Carried };
        assert_eq!((dependence.kind, dependence.distance), (kind, is_gcc.then_some(1)), "{compiler}");
        // GCC names the array; for others the text leaves no choice.
        let named: Vec<&str> = why[0].arrays.iter().map(String::as_str).collect();
        assert_eq!(named, if is_gcc { vec!["grid"] } else { Vec::new() }, "{compiler}");
        let language = sources.files[0].language;
        let lines = Lines { first: carried.first, last: carried.last };
        assert_eq!(array_of(&text, lines, language).as_deref(), Some("grid"), "{compiler}");
        // The same statement without the dependence.
        assert_eq!(of("loop free").outcome, Outcome::Vectorised, "{compiler}: {rows:#?}");
        assert_eq!(
            array_of(&text, Lines { first: of("loop free").first, last: of("loop free").last }, language),
            None
        );
    }
}

#[test]
fn records_of_other_times_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let flags = ["-O3", "-fsave-optimization-record"];
    let Some((_, rows)) = made(&dir, "carried.c", "gcc", &flags) else { return };
    assert!(!rows.is_empty());
    let module = ModuleRef { path: &dir.join("program"), build_id: None };
    let found = || of_module(&module, None, &[], &RemarkConfig::system(), &SymbolizerConfig::system());
    let record = dir.join("program-carried.c.opt-record.json.gz");
    let hour = std::time::Duration::from_secs(3600);
    let set = |path: &Path, time| {
        std::fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap()
    };
    let now = std::time::SystemTime::now();
    let words = |found: &marey_source::remarks::Found| {
        found.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    // A source that was changed since: all is told, with a warning.
    set(&dir.join("carried.c"), now + hour);
    let changed = found();
    assert_eq!(changed.rows, rows);
    assert!(words(&changed).contains("changed after the compiler spoke"), "{}", words(&changed));
    // And the program made of it, without records: they are of another program.
    set(&dir.join("program"), now + 2 * hour);
    let old = found();
    assert!(old.rows.iter().all(|row| !row.file.ends_with("carried.c")), "{:?}", old.rows);
    assert!(words(&old).contains("older than the source"), "{}", words(&old));
    // A record of a program that was made later.
    set(&record, now + 3 * hour);
    let young = found();
    assert_eq!(young.rows, []);
    assert!(words(&young).contains("younger than the program"), "{}", words(&young));
    // Whoever names it wants it.
    let given = of_paths(std::slice::from_ref(&record));
    let asked = of_module(&module, Some(&given), &[], &RemarkConfig::system(), &SymbolizerConfig::system());
    assert_eq!(asked.rows, rows);
}

#[test]
fn a_loop_of_which_one_copy_was_vectorised_says_both_and_where() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let text = "#include <stdio.h>
        static float x[4096], y[4096];
        __attribute__((always_inline)) static inline void kernel(float *a, const float *b) {
            for (int i = 0; i < 4000; i++) a[i] = b[i] * 0.5f + 1.0f; // the loop
        }
        __attribute__((noinline)) void apart(void) { kernel(x + 1, y); }
        __attribute__((noinline)) void along(void) { kernel(x + 1, x); }
        int main(void) { apart(); along(); printf(\"%f\", x[9]); return 0; }\n";
    std::fs::write(dir.join("p.c"), text).unwrap();
    let Some(_) = compile(&dir, "gcc", &["-O3", "-g", "-fsave-optimization-record", "p.c", "-o", "p"]) else {
        return;
    };
    let module = ModuleRef { path: &dir.join("p"), build_id: None };
    let rows = of_module(&module, None, &[], &RemarkConfig::system(), &SymbolizerConfig::system()).rows;
    let sources = Sources::of_files(&[dir.join("p.c")], &TextConfig::system());
    let loops = join(&rows, &sources);
    let [it] = &loops[..] else { panic!("{loops:#?}") };
    assert_eq!((it.outcome, it.first), (Outcome::Both, line_of(text, "the loop")));
    let of = |kind| {
        let of_kind = it.remarks.iter().map(|number| &rows[*number]).find(|row| row.kind == kind).unwrap();
        of_kind.chain.iter().map(|site| (site.function.as_str(), site.line)).collect::<Vec<_>>()
    };
    assert_eq!(of(RemarkKind::Vectorised), [("apart", line_of(text, "void apart"))]);
    assert_eq!(of(RemarkKind::NotVectorised), [("along", line_of(text, "void along"))]);
}

#[test]
fn only_records_of_units_with_sources_that_matter_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    // What is in a header is in both units; the other unit of its name has another end.
    std::fs::write(dir.join("both.h"), "static int twice(int x) { return 2 * x; }\n").unwrap();
    let text = |name: &str| {
        format!(
            "#include \"both.h\"\nint {name}(int *a) {{ for (int i = 1; i < 99; i++) a[i] = a[i - 1]; return twice(a[9]); }}\n"
        )
    };
    std::fs::write(dir.join("hot.c"), text("hot")).unwrap();
    std::fs::write(dir.join("cold.c"), text("cold")).unwrap();
    std::fs::write(dir.join("main.c"), "int main(void) { return 0; }\n").unwrap();
    let flags = ["-O3", "-g", "-fsave-optimization-record", "hot.c", "cold.c", "main.c", "-o", "program"];
    let Some(_) = compile(&dir, "gcc", &flags) else { return };
    let module = ModuleRef { path: &dir.join("program"), build_id: None };
    let read = |asked: &[&str]| -> Vec<String> {
        let asked: Vec<String> =
            asked.iter().map(|name| dir.join(name).to_str().unwrap().to_owned()).collect();
        let found = of_module(&module, None, &asked, &RemarkConfig::system(), &SymbolizerConfig::system());
        assert_eq!(found.problems, []);
        found.files.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    };
    let [hot, cold] = ["hot", "cold"].map(|name| format!("program-{name}.c.opt-record.json.gz"));
    assert_eq!(read(&["hot.c"]), std::slice::from_ref(&hot));
    assert_eq!(read(&["both.h"]), [cold.clone(), hot.clone()]);
    assert_eq!(read(&[]), [cold, hot]);
    assert!(read(&["main.c"]).is_empty());
}

#[test]
fn what_rustc_prints_is_what_it_writes() {
    let dir = tempfile::tempdir().unwrap();
    let source = kernels().join("carried.rs");
    let flags = ["-O", "-Ccodegen-units=1", "-Cdebuginfo=1", "-Cremark=loop-vectorize", "-Zremark-dir=yaml"];
    std::fs::copy(source, dir.path().join("carried.rs")).unwrap();
    let args = [&flags[..], &["carried.rs", "-o", "program"]].concat();
    let Ok(output) =
        Command::new("rustc").args(args).env("RUSTC_BOOTSTRAP", "1").current_dir(dir.path()).output()
    else {
        marey_testkit::skip("rustc");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut written = Vec::new();
    for entry in std::fs::read_dir(dir.path().join("yaml")).unwrap().flatten() {
        written.extend(read(&entry.path(), Format::Llvm));
    }
    // With a directory rustc prints nothing.
    let args = [&flags[..4], &["carried.rs", "-o", "program"]].concat();
    let output = Command::new("rustc").args(args).current_dir(dir.path()).output().unwrap();
    std::fs::write(dir.path().join("p.remarks"), output.stderr).unwrap();
    let printed = read(&dir.path().join("p.remarks"), Format::Printed);
    let of = |rows: &[Remark]| -> BTreeSet<(u32, u32, RemarkKind, String)> {
        let rows = rows.iter().filter(|row| row.file.ends_with("carried.rs"));
        rows.map(|row| (row.line, row.column, row.kind, row.reason.clone())).collect()
    };
    assert!(of(&written).len() > 2, "{written:#?}");
    assert_eq!(of(&printed), of(&written));
}

#[test]
fn what_is_told_at_a_line_of_the_library_belongs_to_a_loop_only_without_doubt() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let text = "
        #[inline(never)] fn plain(a: &mut [f32], f: f32) {
            for x in a.iter_mut() { *x *= f; } // plain
        }
        #[inline(never)] fn total(a: &[f32]) -> f32 {
            a.iter().sum() // total
        }
        #[inline(always)] fn inner(a: &mut [f32]) {
            for x in a.iter_mut() { *x += 1.0; } // inner
        }
        #[inline(never)] fn outer(a: &mut [f32]) {
            for _ in 0..2 { // outer
                inner(a);
            }
        }
        fn main() {
            let mut a: Vec<f32> = std::env::args().map(|it| it.len() as f32).collect();
            plain(&mut a, 2.0);
            outer(&mut a);
            println!(\"{}\", total(&a));
        }";
    std::fs::write(dir.join("p.rs"), text).unwrap();
    let flags =
        ["-O", "-Ccodegen-units=1", "-Cdebuginfo=1", "-Cremark=all", "-Zremark-dir=yaml", "p.rs", "-o", "p"];
    let Ok(output) = Command::new("rustc").args(flags).env("RUSTC_BOOTSTRAP", "1").current_dir(&dir).output()
    else {
        marey_testkit::skip("rustc");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let module = ModuleRef { path: &dir.join("p"), build_id: None };
    let rows = of_module(&module, None, &[], &RemarkConfig::system(), &SymbolizerConfig::system()).rows;
    let sources = Sources::of_files(&[dir.join("p.rs")], &TextConfig::system());
    let loops = join(&rows, &sources);
    let of = |mark: &str| {
        let line = line_of(text, mark);
        let has = |it: &&marey_source::remarks::LoopRemarks| {
            it.file.ends_with("/p.rs") && it.first <= line && line <= it.last
        };
        loops.iter().find(has).unwrap_or_else(|| panic!("{mark}: {loops:#?}"))
    };
    assert_eq!(of("// plain").outcome, Outcome::Vectorised, "{rows:#?}");
    // A function of iterators alone is a loop of its own.
    let total = of("// total");
    assert_eq!((total.outcome, total.place), (Outcome::NotVectorised, None), "{rows:#?}");
    assert!(total.remarks.iter().any(|it| rows[*it].reason.contains("adds up floating-point")), "{rows:#?}");
    // The loop that was vectorised in `outer` is that of `inner`, so nothing is said of its own, which was unrolled.
    let in_outer = |row: &&Remark| row.kind == RemarkKind::Vectorised && row.function.ends_with("outer");
    assert!(rows.iter().any(|row| in_outer(&row)), "{rows:#?}");
    assert_eq!(of("// outer").outcome, Outcome::Silent);
}

/// Numbers in a fixed sequence.
fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*seed >> 33).unwrap()
}

#[test]
fn damaged_records_give_what_is_whole_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let text = "note: a.rs:3:9 loop-vectorize (analysis): loop not vectorized: call instruction cannot be vectorized\n";
    let yaml = "--- !Passed\nPass: loop-vectorize\nName: V\nDebugLoc: { File: a.c, Line: 3, \n   Column: 9 }\nFunction: f\nArgs:\n  - String: 'vectorized loop (vectorization width: '\n  - VectorizationFactor: '4'\n  - String: ')'\n...\n";
    std::fs::copy(kernels().join("carried.c"), dir.path().join("carried.c")).unwrap();
    let flags = ["-O3", "-c", "-fsave-optimization-record", "carried.c", "-o", "p.o"];
    let Some(_) = compile(dir.path(), "gcc", &flags) else { return };
    let gcc = std::fs::read(dir.path().join("carried.c.opt-record.json.gz"))
        .or_else(|_| std::fs::read(dir.path().join("p.c.opt-record.json.gz")))
        .unwrap();
    let config = RemarkConfig::system();
    let of = |bytes: &[u8], format| Remarks::read(bytes, Path::new("damaged"), format, &config);
    // Cut off: what is before is there.
    let (whole, cut) = (of(&gcc, Format::Gcc), of(&gcc[..gcc.len() * 3 / 4], Format::Gcc));
    assert!(
        !cut.rows.is_empty() && cut.rows.len() < whole.rows.len(),
        "{} {}",
        cut.rows.len(),
        whole.rows.len()
    );
    assert!(whole.rows.starts_with(&cut.rows));
    assert_eq!((whole.problems.len(), cut.problems.len()), (0, 1));
    let twice = format!("{yaml}{}", &yaml[..yaml.len() - 30]);
    let cut = of(twice.as_bytes(), Format::Llvm);
    assert_eq!((cut.rows.len(), cut.rows[0].lanes, cut.rows[0].column, cut.problems.len()), (1, 4, 9, 1));
    assert_eq!(of(text.as_bytes(), Format::Printed).rows.len(), 1);
    // Nested deeper than anything is.
    let mut deep = Vec::new();
    let mut packed = flate2::write::GzEncoder::new(&mut deep, flate2::Compression::fast());
    std::io::Write::write_all(
        &mut packed,
        format!("[{{}},[],{}", "[{\"children\":".repeat(100_000)).as_bytes(),
    )
    .unwrap();
    packed.finish().unwrap();
    assert_eq!(of(&deep, Format::Gcc).problems.len(), 1);
    // Any byte may be any other.
    let mut seed = 7;
    for (bytes, format) in
        [(&gcc[..], Format::Gcc), (twice.as_bytes(), Format::Llvm), (text.as_bytes(), Format::Printed)]
    {
        for _ in 0..30 {
            let mut bytes = bytes.to_vec();
            for _ in 0..1 + next(&mut seed) % 4 {
                let place = next(&mut seed) % bytes.len();
                bytes[place] = u8::try_from(next(&mut seed) % 256).unwrap();
            }
            of(&bytes, format);
        }
    }
    // More than is read.
    let few = RemarkConfig { max_rows: 5, ..config.clone() };
    let bounded = Remarks::read(&gcc[..], Path::new("large"), Format::Gcc, &few);
    assert_eq!((bounded.rows.len(), bounded.problems.len()), (5, 1));
}
