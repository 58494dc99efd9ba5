//! Text that nobody would write: it takes bounded time and memory, and never panics.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

mod made_up;

use made_up::{C, CPP, Dice, FIXED, FORTRAN, RUST};
use marey_source::Problem;
use marey_source::text::{Sources, TextConfig};

const EXTENSIONS: [&str; 6] = ["c", "cpp", "f90", "f", "rs", "h"];

fn read(name: &str, text: &[u8]) -> Sources {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    let it = Sources::of(&path, &TextConfig::system());
    sound(&it);
    it
}

/// Rows lead to rows that there are, and end where they begin or later.
fn sound(it: &Sources) {
    let is_function = |row: Option<u32>| row.is_none_or(|row| (row as usize) < it.functions.len());
    let is_loop = |row: Option<u32>| row.is_none_or(|row| (row as usize) < it.loops.len());
    let is_type = |row: Option<u32>| row.is_none_or(|row| (row as usize) < it.types.len());
    let fits = |file: u32, first: u32, last: u32| {
        let lines = it.files[file as usize].lines;
        assert!(0 < first && first <= last && last <= lines + 1, "{first}-{last} of {lines}");
    };
    for of in &it.functions {
        assert!(is_type(of.of));
        fits(of.file, of.lines.first, of.lines.last);
    }
    it.types.iter().for_each(|of| fits(of.file, of.lines.first, of.lines.last));
    for of in &it.members {
        assert!(is_type(Some(of.of)) && is_function(of.function));
    }
    it.bases.iter().for_each(|of| assert!(is_type(of.base) && is_type(of.derived)));
    for of in &it.loops {
        assert!(is_loop(of.parent) && is_function(of.function));
        fits(of.file, of.lines.first, of.lines.last);
    }
    it.calls.iter().for_each(|of| assert!(is_function(of.caller) && is_loop(of.within)));
    for of in &it.constructs {
        assert!(is_function(of.function) && is_loop(of.within));
        fits(of.file, of.lines.first, of.lines.last);
    }
}

#[test]
fn random_bytes_are_read_without_panic() {
    let mut dice = Dice::new(7);
    for round in 0..60 {
        // Bytes of any kind, but for zeros, which make it no text, and letters and signs only.
        let signs = b"{}()<>[];:,*&#\"'/\\\n\t ifordwhlestructemplanoxy0123=!$%@";
        let byte = |dice: &mut Dice| match round % 3 {
            0 => u8::try_from(1 + dice.below(255)).unwrap(),
            _ => signs[usize::try_from(dice.below(signs.len() as u64)).unwrap()],
        };
        let text: Vec<u8> = (0..4000).map(|_| byte(&mut dice)).collect();
        EXTENSIONS.iter().for_each(|extension| drop(read(&format!("a.{extension}"), &text)));
    }
}

#[test]
fn damaged_programs_are_read_without_panic_and_say_so() {
    let mut unclear = 0;
    for seed in 0..60 {
        for style in [&C, &CPP, &FORTRAN, &FIXED, &RUST] {
            let mut dice = Dice::new(seed + 1000);
            let mut text = made_up::write(style, seed).text.into_bytes();
            for _ in 0..1 + dice.below(5) {
                let at = usize::try_from(dice.below(text.len() as u64)).unwrap();
                let len = usize::try_from(dice.below(40)).unwrap().min(text.len() - at);
                match dice.below(3) {
                    0 => drop(text.drain(at..at + len)),
                    1 => text[at] = b"{}()\"'\\#\n\xff"[usize::try_from(dice.below(10)).unwrap()],
                    _ => {
                        let copy = text[at..at + len].to_vec();
                        drop(text.splice(at..at, copy));
                    }
                }
                text.push(b'\n');
            }
            unclear += read(&format!("a.{}", style.extension), &text).files[0].unclear;
        }
    }
    assert!(100 < unclear, "{unclear}");
}

#[test]
fn what_comes_behind_an_error_is_still_told() {
    for (name, text) in [
        ("a.c", "int f(void) { return 1; }\n@@ $$ ((\n;\nint g(void) { for (;;) {} }\n"),
        ("a.rs", "fn f() {}\n@@ $$ ]]\nfn g() { loop {} }\n"),
        (
            "a.f90",
            "subroutine f\nend subroutine\n) 'x (/ =\nsubroutine g\ndo i = 1, 2\nend do\nend subroutine\n",
        ),
    ] {
        let it = read(name, text.as_bytes());
        let names: Vec<_> = it.functions.iter().map(|of| it.text(of.name)).collect();
        assert_eq!((names, it.loops.len()), (vec!["f", "g"], 1), "{name}");
        assert!(it.files[0].unclear != 0 && it.files[0].first_unclear != 0, "{name}");
    }
}

#[test]
fn deep_nesting_does_not_use_up_the_stack() {
    const DEEP: usize = 100_000;
    // What is not too hard to be parsed is looked into.
    let subscript = |deep: usize| ["u(", &"(".repeat(deep), "1", &")".repeat(deep), ")[2]"].concat();
    for deep in [300, 5000] {
        let text =
            format!("subroutine s\ny = {}\nend subroutine\nsubroutine g\nend subroutine\n", subscript(deep));
        let it = read("r.f90", text.as_bytes());
        assert_eq!((it.references.len(), it.functions.len()), (1, 2));
    }
    let nested = |before: &str, open: &str, close: &str, behind: &str| {
        [before, &open.repeat(DEEP), "1", &close.repeat(DEEP), behind].concat()
    };
    for (name, text) in [
        ("a.c", nested("int f(void) { return ", "(", ")", "; }\nint g(void) { return 1; }\n")),
        ("a.rs", nested("fn f() -> u8 { ", "(", ")", " }\nfn g() {}\n")),
        ("a.rs", nested("fn f() { ", "{", "}", " }\nfn g() {}\n")),
        ("a.cpp", nested("int f() { return ", "a(", ")", "; }\nint g() { return 1; }\n")),
        ("b.c", nested("int f(void) { ", "for (;;) ", "", "; }\nint g(void) { return 1; }\n")),
        ("a.f90", nested("function f()\nf = ", "(", ")", "\nend function\nfunction g()\nend function\n")),
        ("b.rs", nested("fn f() { m!", "(", ")", "; }\nfn g() {}\n")),
        ("c.c", nested("int f(void) { return x[", "(", "", "; }\n")),
        ("d.c", "#if A\n".repeat(DEEP)),
        ("b.cpp", nested("template <class T> using x = ", "a<", ">", ";\n")),
    ] {
        let it = read(name, text.as_bytes());
        assert!(it.problems.iter().all(|problem| matches!(problem, Problem::SourceTooHard { .. })), "{name}");
        if name.starts_with('a') && it.problems.is_empty() {
            assert!(it.functions.iter().any(|of| it.text(of.name) == "g"), "{name}");
        }
    }
}

#[test]
fn one_line_of_fifty_megabytes_is_left_out_and_four_are_read() {
    let line = "int f(int a) { return a + 1; } ";
    let text = line.repeat((50 << 20) / line.len());
    let it = read("a.c", text.as_bytes());
    assert!(it.files.is_empty() && matches!(it.problems[..], [Problem::SourceTooLarge { .. }]));
    let text = line.repeat((4 << 20) / line.len());
    assert_eq!(read("a.c", text.as_bytes()).functions.len(), (4 << 20) / line.len());
}

#[test]
fn what_is_no_text_says_so_and_other_encodings_are_read() {
    let it = read("a.c", b"\x7fELF\0\0\0");
    assert!(matches!(it.problems[..], [Problem::NotText { .. }]));
    let it = read("a.rs", b"\xef\xbb\xbffn f() {}\r\nfn g() {}\r\n");
    assert_eq!(it.functions.len(), 2);
    // Latin-1.
    let it = read("a.c", b"/* Gr\xf6\xdfe */ int f(void) { puts(\"\xfc\"); return 1; }\n");
    assert_eq!((it.functions.len(), it.calls.len(), it.files[0].unclear), (1, 1, 0));
    assert!(read("a.c", b"").problems.is_empty());
    let dir = tempfile::tempdir().unwrap();
    let it = Sources::of(&dir.path().join("nosuch.c"), &TextConfig::system());
    assert!(matches!(it.problems[..], [Problem::UnreadableSource { .. }]));
}

#[test]
fn links_in_circles_and_files_of_other_kinds_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(dir.path(), dir.path().join("circle")).unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    std::fs::write(dir.path().join("sub/a.c"), "int f(void) { return 1; }").unwrap();
    std::fs::write(dir.path().join("notes.txt"), "int f(void) { return 1; }").unwrap();
    let it = Sources::of(dir.path(), &TextConfig::system());
    assert_eq!((it.files.len(), it.functions.len()), (1, 1));
    assert!(it.problems.is_empty());
}
