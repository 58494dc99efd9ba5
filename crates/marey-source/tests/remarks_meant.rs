//! What compilers mean by what they say, and whose records they are: where a wrong reading looks as plausible as the right one.
//!
//! Expected is what the text of the loops leaves no doubt about, not what this or that version of a compiler says.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use marey_source::remarks::{
    Dependence, DependenceKind, Format, Found, LoopRemarks, Outcome, Remark, RemarkConfig, RemarkFiles,
    RemarkKind, Remarks, join, of_files, of_module, of_modules,
};
use marey_source::text::{Sources, TextConfig};
use marey_source::{ModuleRef, SymbolizerConfig};

const RECORDS: &[&str] = &["-O3", "-g", "-fsave-optimization-record"];

/// Runs a compiler; false, said aloud, if it is not here.
fn compile(dir: &Path, compiler: &str, args: &[&str]) -> bool {
    let args = [RECORDS, args].concat();
    let Ok(output) = Command::new(compiler).args(args).current_dir(dir).output() else {
        marey_testkit::skip(compiler);
        return false;
    };
    assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

fn found(program: &Path) -> Found {
    let module = ModuleRef { path: program, build_id: None };
    of_module(&module, None, &[], &RemarkConfig::system(), &SymbolizerConfig::system())
}

fn loops(found: &Found, source: &Path) -> Vec<LoopRemarks> {
    let sources = Sources::of_files(&[source.to_owned()], &TextConfig::system());
    join(&found.rows, &sources)
}

/// A directory with files.
fn made(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    for (name, text) in files {
        std::fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        std::fs::write(path.join(name), text).unwrap();
    }
    (dir, path)
}

const KERNELS: &str = "
void within(float *restrict c, const float *restrict b, float *restrict h, const int *restrict x, int n) {
    for (int i = 0; i < n; i++) { c[i] += b[i]; h[x[i]] += b[i]; }
}
void far(double *a, const int *restrict x, int n) {
    for (int i = 16; i < n; i++) { a[i] = a[i - 16] * 0.5; a[x[i]] = 1.0; }
}
void three(unsigned char *a, int n) {
    for (int i = 3; i < n; i++) a[i] = a[i - 3] * 3;
}
void one(float *a, const float *restrict b, float *restrict z, int n) {
    for (int i = 1; i < n; i++) { z[i] = 0.0f; a[i] = a[i - 1] * 0.5f + b[i]; }
}
void zero(float *restrict z, int n) {
    for (int i = 0; i < n; i++) z[i] = 0.0f;
}
";

#[test]
fn gcc_needs_what_an_earlier_iteration_wrote_only_where_it_gave_up_for_that() {
    let (_dir, dir) = made(&[("d.c", KERNELS)]);
    if !compile(&dir, "gcc", &["-shared", "-fPIC", "d.c", "-o", "d.so"]) {
        return;
    }
    let all = found(&dir.join("d.so"));
    let loops = loops(&all, &dir.join("d.c"));
    let of = |function: &str| {
        let it = loops.iter().find(|it| it.function == function).unwrap();
        let dependence = it.remarks.iter().find_map(|number| all.rows[*number].dependence);
        (it.outcome, dependence)
    };
    let unknown = Some(Dependence { kind: DependenceKind::Unknown, distance: None });
    let carried = |distance| Some(Dependence { kind: DependenceKind::Carried, distance: Some(distance) });
    // What a place that an index from memory tells is written for, nobody knows; c[i] is one element in one iteration.
    assert_eq!(of("within"), (Outcome::NotVectorised, unknown));
    // Sixteen iterations lie apart, and a vector has two.
    assert_eq!(of("far"), (Outcome::NotVectorised, unknown));
    // The narrowest vector of bytes has four.
    assert_eq!(of("three"), (Outcome::NotVectorised, carried(3)));
    // What became a call of memset is not the loop that is left.
    assert_eq!(of("one"), (Outcome::NotVectorised, carried(1)));
    assert_eq!(of("zero").0, Outcome::Replaced);
}

#[test]
fn what_costs_too_much_in_vectors_was_not_vectorised() {
    let text = "void far(double *restrict a, const double *restrict b, int n) {
        for (int i = 0; i < n; i++) a[i * 17] = b[i * 13] * 2;
    }\n";
    let (_dir, dir) = made(&[("m.c", text)]);
    if !compile(
        &dir,
        "clang",
        &["-shared", "-fPIC", "m.c", "-o", "m.so", "-foptimization-record-file=m.opt.yaml"],
    ) {
        return;
    }
    let all = found(&dir.join("m.so"));
    let loops = loops(&all, &dir.join("m.c"));
    let [it] = &loops[..] else { panic!("{loops:#?}") };
    assert_eq!(it.outcome, Outcome::NotVectorised);
    let reasons: Vec<&str> = it.remarks.iter().map(|number| all.rows[*number].reason.as_str()).collect();
    assert!(reasons.contains(&"the compiler expects nothing from it"), "{reasons:?}");
}

const SHARED: &str = "static inline void scale(float *restrict a, const float *restrict b, int n) {
    for (int i = 0; i < n; i++) a[i] = b[i] * 2.0f;
}\n";

#[test]
fn another_program_of_the_same_directory_says_nothing_of_this_one() {
    let main = "#include \"common.h\"\nfloat x[4096], y[4096];\nint main(int c, char **v) { (void)v; scale(x, y, 4096 - c); return (int)x[c]; }\n";
    let other = "#include \"common.h\"\nfloat *p, *q;
        int only(float *a, int n) { for (int i = 1; i < n; i++) a[i] = a[i - 1] * 2 + a[i]; return 0; }
        int main(int c, char **v) { (void)v; scale(p, q, c); return only(p, c); }\n";
    let alone = "#include \"common.h\"\nextern float *p, *q; int main(int c, char **v) { (void)v; scale(p, q + c, c); return 0; } float *p, *q;\n";
    let (_dir, dir) = made(&[("common.h", SHARED), ("a.c", main), ("b.c", other), ("c.c", alone)]);
    for name in ["a", "b", "c"] {
        let (source, object) = (format!("{name}.c"), format!("{name}.o"));
        if !compile(&dir, "gcc", &["-c", &source, "-o", &object])
            || !compile(&dir, "gcc", &[&object, "-o", name])
        {
            return;
        }
    }
    let record = |name: &str| dir.join(format!("{name}.c.opt-record.json.gz"));
    for name in ["a", "b"] {
        let all = found(&dir.join(name));
        assert_eq!(all.files, [record(name)]);
        assert_eq!(all.problems, []);
        let other = if name == "a" { "b.c" } else { "a.c" };
        assert!(all.rows.iter().all(|row| !row.file.ends_with(other)), "{:#?}", all.rows);
    }
    assert!(found(&dir.join("b")).rows.iter().any(|row| row.file.ends_with("b.c")));
    // A record that tells of the header alone is that of the source after which it is named.
    let all = found(&dir.join("c"));
    assert_eq!(all.files, [record("c")]);
    assert!(all.rows.iter().any(|row| row.file.ends_with("common.h")), "{:#?}", all.rows);
}

#[test]
fn of_a_source_that_is_twice_in_a_program_both_records_are_its() {
    let kernel = "void NAME(REAL *a, int n) { for (int i = 1; i < n; i++) a[i] = a[i - 1] * 2; }\n";
    let main = "void f(float *, int); void d(double *, int);
        int main(int c, char **v) { (void)v; float a[99] = {0}; double b[99] = {0}; f(a, c); d(b, c); return 0; }\n";
    let (_dir, dir) = made(&[("k.c", kernel), ("main.c", main)]);
    for (name, real) in [("f", "float"), ("d", "double")] {
        let defines = [format!("-DNAME={name}"), format!("-DREAL={real}")];
        let object = format!("{name}.o");
        if !compile(&dir, "gcc", &["-c", "k.c", "-o", &object, &defines[0], &defines[1]]) {
            return;
        }
    }
    compile(&dir, "gcc", &["main.c", "f.o", "d.o", "-o", "p"]);
    let all = found(&dir.join("p"));
    let mut functions: Vec<&str> = all
        .rows
        .iter()
        .filter(|row| row.kind == RemarkKind::NotVectorised && row.file.ends_with("k.c"))
        .map(|row| row.function.as_str())
        .collect();
    functions.sort_unstable();
    functions.dedup();
    assert_eq!(functions, ["d", "f"], "{:#?} {:?}", all.files, all.problems);
}

#[test]
fn two_programs_that_are_read_together_say_what_each_says_alone() {
    let lib = "void f(float *a, int n) { for (int i = 1; i < n; i++) a[i] = a[i - 1] * 2; }\n";
    let main = "void f(float *, int);
        int main(int c, char **v) { (void)v; float a[99]; for (int i = 0; i < 99; i++) a[i] = c; f(a, c); return 0; }\n";
    let (_dir, dir) = made(&[("f.c", lib), ("main.c", main)]);
    if !compile(&dir, "gcc", &["-shared", "-fPIC", "f.c", "-o", "libf.so"]) {
        return;
    }
    compile(&dir, "gcc", &["main.c", "-L.", "-lf", "-o", "p"]);
    let paths = [dir.join("p"), dir.join("libf.so"), dir.join("p")];
    let modules: Vec<ModuleRef<'_>> = paths.iter().map(|path| ModuleRef { path, build_id: None }).collect();
    let both = of_modules(&modules, None, &[], &RemarkConfig::system(), &SymbolizerConfig::system());
    let mut expected = [found(&paths[0]).rows, found(&paths[1]).rows].concat();
    assert!(found(&paths[0]).files.len() == 1 && found(&paths[1]).files.len() == 1);
    let mut rows = both.rows;
    rows.sort();
    expected.sort();
    assert_eq!(rows, expected);
    assert_eq!((both.files.len(), both.problems), (2, Vec::new()));
}

/// The most memory that this process had, bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() << 10
}

#[test]
fn a_small_file_that_unpacks_to_much_needs_little_memory() {
    const TIMES: usize = 600_000;
    let piece = |head: &str, one: &str, tail: &str| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(head.as_bytes()).unwrap();
        let many = one.repeat(1000);
        (0..TIMES / 1000).for_each(|_| packed.write_all(many.as_bytes()).unwrap());
        packed.write_all(tail.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let of = |bytes: &[u8]| Remarks::read(bytes, Path::new("hostile"), Format::Gcc, &RemarkConfig::system());
    let vect = "[{},[{\"id\":\"1\",\"name\":\"vect\"}],[{\"kind\":\"failure\",\"pass\":\"1\",";
    for (bytes, is_whole) in [
        (piece("[{},[{}", ",{\"id\":\"\"}", "],[]]"), true),
        (piece(&format!("{vect}\"children\":[{{}}"), ",{\"kind\":\"success\",\"pass\":\"1\"}", "]}]]"), true),
        (piece(&format!("{vect}\"message\":[\""), "aaaa", "\"]}]]"), false),
    ] {
        let before = peak();
        let read = of(&bytes);
        assert_eq!(read.problems.is_empty(), is_whole, "{:?}", read.problems);
        let needed = peak().saturating_sub(before);
        assert!(needed < 60 << 20, "{} MB", needed >> 20);
    }
}

#[test]
fn a_line_of_the_library_is_about_the_function_of_its_whole_name() {
    let text = "pub fn solve(a: &mut [f32]) {\n    for x in a.iter_mut() {\n        *x *= 2.0;\n    }\n}\n";
    let (_dir, dir) = made(&[("mine/src/lib.rs", text), ("mine/src/grid.rs", text)]);
    let files = [dir.join("mine/src/lib.rs"), dir.join("mine/src/grid.rs")];
    let sources = Sources::of_files(&files, &TextConfig::system());
    // As rustc says it of a loop whose iterator is in its library.
    let record = |function: &str| {
        let rows = format!(
            "--- !Passed\nPass:            loop-vectorize\nName:            Vectorized\n\
             DebugLoc:        {{ File: '/rustc/1/library/core/src/slice/iter/macros.rs', Line: 193, Column: 9 }}\n\
             Function:        {function}\nArgs:\n  - String:          'vectorized loop (vectorization width: '\n  \
             - VectorizationFactor: '4'\n...\n"
        );
        Remarks::read(rows.as_bytes(), Path::new("a.opt.yaml"), Format::Llvm, &RemarkConfig::system()).rows
    };
    let told = |function: &str, more: &[Remark]| -> Vec<String> {
        let rows = [&record(function), more].concat();
        let loops = join(&rows, &sources).into_iter().filter(|it| it.outcome == Outcome::Vectorised);
        loops.filter_map(|it| it.place.map(|_| it.file.rsplit('/').next().unwrap().to_owned())).collect()
    };
    assert_eq!(told("_ZN4mine5solve17h0123456789abcdefE", &[]), ["lib.rs"]);
    assert_eq!(told("_ZN4mine4grid5solve17h0123456789abcdefE", &[]), ["grid.rs"]);
    // Of a crate, and a module, of which no source was read.
    assert_eq!(told("_ZN5other5solve17h0123456789abcdefE", &[]), [""; 0]);
    assert_eq!(told("_ZN4mine4mesh5solve17h0123456789abcdefE", &[]), [""; 0]);
    // A package may have another name than its directory: then the compiler itself has said so in that file.
    let at = Remark {
        file: files[0].display().to_string(),
        line: 1,
        kind: RemarkKind::Inlined,
        ..record("solver::solve").remove(0)
    };
    assert_eq!(told("_ZN6solver5solve17h0123456789abcdefE", &[at]), ["lib.rs"]);
}

#[test]
fn a_line_that_is_too_long_is_told_and_what_follows_is_read() {
    let document = |line: u32, text: &str| {
        format!(
            "--- !Missed\nPass: loop-vectorize\nName: N\nDebugLoc: {{ File: a.c, Line: {line}, Column: 1 }}\nFunction: f\n\
             Args:\n  - String: '{text}'\n...\n"
        )
    };
    let why = "loop not vectorized: ";
    let text =
        [document(1, why), document(2, &format!("{why}{}", "x".repeat(1 << 20))), document(3, why)].concat();
    let read = Remarks::read(text.as_bytes(), Path::new("a"), Format::Llvm, &RemarkConfig::system());
    // Of the second one, nobody knows how it goes on.
    assert_eq!(read.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [1, 3]);
    let problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    assert!(matches!(&problems[..], [one] if one.contains("1 of its remarks are cut")), "{problems:?}");
}

#[test]
fn a_record_that_is_none_is_told_as_damaged_and_not_as_that_of_others() {
    let (_dir, dir) =
        made(&[("p.c", ""), ("empty.opt-record.json.gz", ""), ("plain.opt-record.json.gz", "no record")]);
    let records = ["empty", "plain"].map(|name| RemarkFiles {
        path: dir.join(format!("{name}.opt-record.json.gz")),
        format: Format::Gcc,
    });
    let files = [dir.join("p.c").display().to_string()];
    let found = of_files(&files, &records, &RemarkConfig::system());
    let told: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|it| it.contains("is damaged")), "{told:?}");
}
