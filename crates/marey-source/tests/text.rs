//! What is read from programs that were made up is what their writer knows of them.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

mod made_up;

use made_up::{C, CPP, FIXED, FORTRAN, Loop, Program, RUST, Style};
use marey_source::text::{LoopKind, Sources, TextConfig};

fn kind(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::For => "for",
        LoopKind::ForEach => "for each",
        LoopKind::While => "while",
        LoopKind::DoWhile => "do while",
        LoopKind::Do => "do",
        LoopKind::DoConcurrent => "do concurrent",
        LoopKind::Endless => "endless",
        LoopKind::Iterator => "iterator",
        LoopKind::Forall | LoopKind::Where => "another",
    }
}

/// Reads a text.
fn read(name: &str, text: &[u8]) -> Sources {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    Sources::of(&path, &TextConfig::system())
}

fn check(style: &Style) {
    let mut seen = [0; 4];
    for seed in 0..300 {
        let program: Program = made_up::write(style, seed);
        let read = read(&format!("made_up.{}", style.extension), program.text.as_bytes());
        let said = || format!("seed {seed}\n{}", program.text);
        assert_eq!(read.problems, [], "{}", said());
        assert_eq!(read.files[0].unclear, 0, "at {} of {}", read.files[0].first_unclear, said());
        let name =
            |row: Option<u32>| row.map_or("", |row| read.text(read.functions[row as usize].name)).to_owned();
        let functions: Vec<_> = read
            .functions
            .iter()
            .map(|it| (read.text(it.name).to_owned(), it.lines.first, it.lines.last))
            .collect();
        assert_eq!(functions, program.functions, "{}", said());
        let types: Vec<_> = read
            .types
            .iter()
            .map(|it| (read.text(it.name).to_owned(), it.lines.first, it.lines.last))
            .collect();
        assert_eq!(types, program.types, "{}", said());
        let members: Vec<_> = read
            .members
            .iter()
            .map(|it| {
                let of = read.text(read.types[it.of as usize].name).to_owned();
                (of, read.text(it.name).to_owned(), it.line)
            })
            .collect();
        assert_eq!(members, program.members, "{}", said());
        let mut loops: Vec<Loop> = read
            .loops
            .iter()
            .map(|it| Loop {
                first: it.lines.first,
                last: it.lines.last,
                depth: it.depth,
                kind: kind(it.kind),
                function: name(it.function),
            })
            .collect();
        loops.sort();
        assert_eq!(loops, program.loops, "{}", said());
        // A loop lies in one that is less deep by one, and has its lines.
        for it in &read.loops {
            let parent = it.parent.map(|row| &read.loops[row as usize]);
            assert_eq!(parent.map_or(0, |parent| parent.depth) + 1, it.depth, "{}", said());
            assert!(parent.is_none_or(|parent| parent.lines.first <= it.lines.first));
            assert!(parent.is_none_or(|parent| it.lines.last <= parent.lines.last));
        }
        let called = |callee: &str| callee.contains('g') && callee.ends_with('0') || callee.starts_with('G');
        let calls: Vec<_> = read
            .calls
            .iter()
            .map(|it| (name(it.caller), read.text(it.name).to_owned(), it.line))
            .filter(|(_, callee, _)| called(callee))
            .collect();
        assert_eq!(calls, program.calls, "{}", said());
        for (seen, rows) in seen.iter_mut().zip([functions.len(), types.len(), loops.len(), calls.len()]) {
            *seen += rows;
        }
    }
    assert!(300 < seen[0] && 300 < seen[2] && 100 < seen[3], "too little was made up: {seen:?}");
}

#[test]
fn made_up_programs_in_c() {
    check(&C);
}

#[test]
fn made_up_programs_in_cpp() {
    check(&CPP);
}

#[test]
fn made_up_programs_in_fortran() {
    check(&FORTRAN);
}

#[test]
fn made_up_programs_in_fixed_form() {
    check(&FIXED);
}

#[test]
fn made_up_programs_in_rust() {
    check(&RUST);
}

/// What is read of a text, one row a line.
fn rows(name: &str, text: &str) -> Vec<String> {
    let it = read(name, text.as_bytes());
    let mut rows = Vec::new();
    for construct in &it.constructs {
        let (first, last) = (construct.lines.first, construct.lines.last);
        rows.push(format!("{:?} {first}-{last} {}", construct.model, it.text(construct.text)));
    }
    for base in &it.bases {
        let found = base.base.is_some();
        rows.push(format!(
            "{} < {} {:?} {found}",
            it.text(base.derived_name),
            it.text(base.base_name),
            base.access
        ));
    }
    rows
}

#[test]
fn directives_last_as_long_as_what_they_govern() {
    let c = "void f(int n) {\n#pragma omp parallel for \\\n  reduction(+:n)\nfor (;;) {\n#pragma omp barrier\nn++;\n}\n\
             MPI_Send(&n, 1,\n  MPI_INT);\npthread_create(0);\n}\n";
    assert_eq!(
        rows("a.c", c),
        [
            "OpenMp 2-7 parallel for reduction(+:n)",
            "OpenMp 5-5 barrier",
            "Mpi 8-9 MPI_Send",
            "Pthread 10-10 pthread_create"
        ]
    );
    let fortran = "subroutine s\n!$omp parallel &\n!$omp& private(i)\n!$omp do\ndo i = 1, 3\nx[2] = 1\nend do\n\
                   !$omp end parallel\n!$acc loop\ndo i = 1, 3\nend do\nsync all\ncall MPI_Barrier(c)\nend subroutine\n";
    assert_eq!(
        rows("a.f90", fortran),
        [
            "OpenMp 2-8 parallel private(i)",
            "OpenMp 4-7 do",
            "Coarray 6-6 x[2]",
            "OpenAcc 9-11 loop",
            "Coarray 12-12 sync all",
            "Mpi 13-13 MPI_Barrier"
        ]
    );
    // Each reference to another image is what stands before its image, and not all that the sum has before it.
    let sum = "subroutine s\nx = t * u(1)[1] + v(i)%w(2)[p] - (y(3)[2])\nend subroutine\n";
    let mut found = rows("a.f90", sum);
    found.sort();
    assert_eq!(found, ["Coarray 2-2 u(1)[1]", "Coarray 2-2 v(i)%w(2)[p]", "Coarray 2-2 y(3)[2]"]);
    let fixed = "      subroutine s\nc$omp parallel do\nc$omp+ private(i)\n      do 10 i = 1, 3\n 10   continue\n      end\n";
    assert_eq!(rows("a.f", fixed), ["OpenMp 2-5 parallel do private(i)"]);
    let rust = "fn f() {\n  v.par_iter()\n   .for_each(|x| g(x));\n  std::thread::scope(|s| {\n    s.spawn(|| 1);\n  });\n  \
                tokio::spawn(h());\n  other.spawn(1);\n}\n";
    assert_eq!(
        rows("a.rs", rust),
        ["Rayon 2-2 par_iter", "Thread 4-6 std::thread::scope", "Thread 5-5 spawn", "Tokio 7-7 tokio::spawn"]
    );
}

#[test]
fn bases_say_who_knows_them_and_are_found_by_name() {
    let cpp = "namespace a { class B {}; }\nclass C : a::B, public virtual D {};\nstruct E : C {};\n";
    assert_eq!(rows("a.cpp", cpp), ["C < a::B Private true", "C < D Public false", "E < C Public true"]);
    let rust = "trait A: B {}\ntrait B {}\nstruct S;\nimpl A for S {}\nimpl std::fmt::Display for S {}\n";
    assert_eq!(rows("a.rs", rust), ["A < B Public true", "S < A Public true", "S < Display Public false"]);
    let fortran = "module m\ntype a\nend type\ntype, extends(A) :: b\nend type\nend module\n";
    assert_eq!(rows("a.f90", fortran), ["m::b < A Public true"]);
}

#[test]
fn an_element_of_an_array_is_no_call() {
    let text = "module m\nreal :: table(10)\ncontains\nfunction area(r)\nreal :: r, local(3)\narea = r\nend function\n\
                subroutine s\nreal :: local(3)\nx = table(1) + area(2.0) + local(1) + sin(x)\nend subroutine\nend module\n";
    let it = read("a.f90", text.as_bytes());
    let calls: Vec<_> = it.calls.iter().map(|call| it.text(call.name)).collect();
    assert_eq!(calls, ["area"]);
}

#[test]
fn what_a_condition_tears_is_still_read() {
    let text = "#ifdef A\nint f(int a) {\n#else\nint f(void) {\n#endif\n  for (;;) {}\n  return 1;\n}\n\
                #if B\nint g(void) { return 1; }\n#endif\nint h(void) { return 2; }\n";
    let it = read("a.c", text.as_bytes());
    let functions: Vec<_> =
        it.functions.iter().map(|of| (it.text(of.name), of.lines.first, of.lines.last)).collect();
    assert_eq!(functions, [("f", 2, 8), ("g", 10, 10), ("h", 12, 12)]);
    assert_eq!(it.loops.len(), 1);
}

#[test]
fn a_header_for_both_languages_has_what_each_of_them_sees() {
    let text = "#ifdef __cplusplus\nnamespace n {\nclass C : public B {\n public:\n  int get() const { return m; }\n\
                 private:\n  int m;\n};\n}\n#else\nstruct only_c { int x; };\n#endif\n\
                struct both { int y; };\ninline int f(int class) { return class; }\n";
    let it = read("a.h", text.as_bytes());
    assert_eq!(it.files[0].language.name(), "C");
    let mut types: Vec<_> =
        it.types.iter().map(|of| (it.text(of.name), of.lines.first, of.lines.last)).collect();
    types.sort_unstable_by_key(|of| of.1);
    assert_eq!(types, [("n::C", 3, 8), ("only_c", 11, 11), ("both", 13, 13)]);
    let mut functions: Vec<_> = it.functions.iter().map(|of| (it.text(of.name), of.lines.first)).collect();
    functions.sort_unstable_by_key(|of| of.1);
    // `class` is a name in C.
    assert_eq!(functions, [("n::C::get", 5), ("f", 14)]);
    let mut members: Vec<_> = it.members.iter().map(|of| (it.text(of.name), of.line)).collect();
    members.sort_unstable_by_key(|of| of.1);
    assert_eq!(members, [("get", 5), ("m", 7), ("x", 11), ("y", 13)]);
    assert_eq!(it.bases.len(), 1);
    assert!(it.bases[0].derived.is_some());
}

#[test]
fn a_comment_that_never_ends_hides_what_is_in_it() {
    let begun = "/* a */ int f(void) { return 1; }\n/* open\nint g(void) { return 2; }\n";
    for text in [begun.to_owned(), begun.to_owned() + &"/* again\n".repeat(200)] {
        let it = read("a.c", text.as_bytes());
        let functions: Vec<_> = it.functions.iter().map(|of| it.text(of.name)).collect();
        assert_eq!(functions, ["f"], "{} bytes", text.len());
        assert_eq!(it.files[0].lines as usize, text.lines().count());
    }
}

#[test]
fn a_header_for_both_languages_may_have_conditions_in_conditions() {
    let depth = 3000;
    let text = format!(
        "#ifdef __cplusplus\n{}class c {{}};\n{}#else\nstruct s {{ int x; }};\n#endif\n",
        "#if X\n".repeat(depth),
        "#endif\n".repeat(depth)
    );
    let it = read("a.h", text.as_bytes());
    let mut types: Vec<_> = it.types.iter().map(|of| it.text(of.name)).collect();
    types.sort_unstable();
    assert_eq!(types, ["c", "s"]);
}
