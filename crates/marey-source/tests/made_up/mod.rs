//! Programs that are made up in four languages by somebody who knows where everything in them begins and ends.
//!
//! The one idea: one plan, a random tree of functions, types and loops, is written down in each language by a writer that
//! counts lines; what it has noted must be what is read.

/// What the plan says of a loop.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Loop {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) depth: u32,
    pub(crate) kind: &'static str,
    pub(crate) function: String,
}

/// A program, and what is true of it.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) text: String,
    line: u32,
    /// Name, first and last line.
    pub(crate) functions: Vec<(String, u32, u32)>,
    pub(crate) types: Vec<(String, u32, u32)>,
    /// Type, name and line.
    pub(crate) members: Vec<(String, String, u32)>,
    pub(crate) loops: Vec<Loop>,
    /// Caller, callee and line.
    pub(crate) calls: Vec<(String, String, u32)>,
}

/// Numbers that look random and are the same everywhere.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// How a language writes things. A `#` stands for a number that no other has, a `|` for the end of a line.
pub(crate) struct Style {
    pub(crate) extension: &'static str,
    /// Before all, and behind.
    pub(crate) around: (&'static str, &'static str),
    /// What scope functions and types lie in by that.
    pub(crate) scope: &'static str,
    pub(crate) function: (&'static str, &'static str),
    pub(crate) type_: (&'static str, &'static str, &'static str),
    pub(crate) loops: &'static [(&'static str, &'static str, &'static str)],
    pub(crate) call: &'static str,
    /// What is no code at all, but looks so.
    pub(crate) decoys: &'static [&'static str],
    /// A condition around statements.
    pub(crate) condition: (&'static str, &'static str),
}

pub(crate) const C: Style = Style {
    extension: "c",
    around: ("#include <stdio.h>", ""),
    scope: "",
    function: ("static int|f#(int n)|{", "}"),
    type_: ("struct t# {", "    int m#;", "};"),
    loops: &[
        ("for", "for (int i# = 0; i# < n; i#++) {", "}"),
        ("while", "while (n--)|{", "}"),
        ("do while", "do {", "} while (|n > 3);"),
        ("for", "for (;;)", ";"),
    ],
    call: "g#(n);",
    decoys: &["/* for (;;) { */", "puts(\"while (1) {\");", "// do {", "#define LOOP# for (;;) {"],
    condition: ("if (n > 1) {", "} else { n = 2; }"),
};

pub(crate) const CPP: Style = Style {
    extension: "cpp",
    around: ("#include <vector>|namespace outer {", "}"),
    scope: "outer::",
    function: ("template <class T>|auto f#(T n) -> int {", "}"),
    type_: ("class t# final : public base {|public:", "    int m#;", "};"),
    loops: &[
        ("for each", "for (auto& i# : n)|{", "}"),
        ("for", "for (int i# = 0; i# < n; ++i#) {", "}"),
        ("while", "while (auto i# = n.next()) {", "}"),
        ("do while", "do {", "} while (n);"),
    ],
    call: "ns::g#<int>(n);",
    decoys: &["/* for (;;) {| } */", "auto s# = R\"(for (;;) {)\";", "// }", "char c# = '{';"],
    condition: ("if constexpr (n > 1) {", "}"),
};

pub(crate) const FORTRAN: Style = Style {
    extension: "f90",
    around: ("module outer|contains", "end module"),
    scope: "outer::",
    function: ("recursive subroutine f#(n, &|    & m)|integer :: n, m, a(10)", "end subroutine f#"),
    // Types stand before procedures, so there are none here.
    type_: ("", "", ""),
    loops: &[
        ("do", "do i = 1, n", "end do"),
        ("while", "DO WHILE (n > 1)", "ENDDO"),
        ("do concurrent", "do concurrent (i = 1:n)", "end do"),
        ("endless", "l#: do", "end do l#"),
        ("do", "do # i = 1, n", "# continue"),
    ],
    call: "call g#(n)",
    decoys: &["! do i = 1, 3", "print *, 'do i = 1, 3'", "a(1) = a(2) ! end do", "x = 'it''s do'"],
    condition: ("if (n > 1) then", "end if"),
};

pub(crate) const FIXED: Style = Style {
    extension: "f",
    around: ("", ""),
    scope: "",
    function: ("      SUBROUTINE F#(N,|     &                M)|      INTEGER N, M, A(10)", "      END"),
    type_: ("", "", ""),
    loops: &[
        ("do", "      DO # I = 1, N", " # CONTINUE"),
        ("do", "      DO I = 1,|     1  N", "      END DO"),
        ("while", "      DO WHILE (N .GT. 1)", "      ENDDO"),
    ],
    call: "      CALL G#(|C      a remark between|     $  N)",
    decoys: &["C     DO 10 I = 1, 3", "*     END DO", "      A(1) = A(2) ! END DO", "      PRINT *, 'DO'"],
    condition: ("      IF (N .GT. 1) THEN", "      END IF"),
};

pub(crate) const RUST: Style = Style {
    extension: "rs",
    around: ("mod outer {|use std::fmt;", "}"),
    scope: "outer::",
    function: ("pub(crate) fn f#<T>(n: T) -> u32|where T: Copy {", "}"),
    type_: ("pub struct t#<'a> {", "    m#: &'a str,", "}"),
    loops: &[
        ("for each", "for i in 0..n {", "}"),
        ("while", "while let Some(i) = n.next() {", "}"),
        ("endless", "'l#: loop {", "}"),
        ("iterator", "n.iter().for_each(|i|| {", "});"),
    ],
    call: "ns::g#::<u8>(n);",
    decoys: &["/* for i in 0..3 { /* nested */ */", "let s = r#\"loop {\"#;", "// }", "let c = '{';"],
    condition: ("if let Some(x) = n {", "}"),
};

/// Writes a program by throwing dice.
pub(crate) fn write(style: &Style, seed: u64) -> Program {
    let mut dice = Dice::new(seed);
    let mut program = Program::default();
    let mut number = 10;
    program.put(style.around.0, 0);
    for _ in 0..1 + dice.below(6) {
        number += 10;
        if dice.below(3) == 0 && !style.type_.0.is_empty() {
            type_(&mut program, style, number, &mut dice);
        } else {
            function(&mut program, style, &mut number, &mut dice);
        }
    }
    program.put(style.around.1, 0);
    program.loops.sort();
    program
}

fn type_(program: &mut Program, style: &Style, number: u64, dice: &mut Dice) {
    let name = format!("{}t{number}", style.scope);
    let first = program.put(style.type_.0, number);
    for member in 0..dice.below(4) {
        let line = program.put(style.type_.1, number + member);
        program.members.push((name.clone(), format!("m{}", number + member), line));
    }
    program.put(style.type_.2, number);
    program.types.push((name, first, program.line));
}

fn function(program: &mut Program, style: &Style, number: &mut u64, dice: &mut Dice) {
    let own = *number;
    let name = format!("{}{}{own}", style.scope, if style.extension == "f" { "F" } else { "f" });
    let before = program.line;
    program.put(style.function.0, own);
    // A template is no part of the function that it makes.
    let first = before + 1 + u32::from(style.extension == "cpp");
    for _ in 0..dice.below(5) {
        statement(program, style, &name, 0, number, dice);
    }
    program.put(style.function.1, own);
    program.functions.push((name, first, program.line));
}

fn statement(
    program: &mut Program,
    style: &Style,
    name: &str,
    depth: u32,
    number: &mut u64,
    dice: &mut Dice,
) {
    *number += 10;
    let own = *number;
    match dice.below(if depth < 5 { 6 } else { 3 }) {
        0 => {
            let line = program.put(style.call, own);
            let callee = match style.extension {
                "f" => format!("G{own}"),
                "cpp" | "rs" => format!("ns::g{own}"),
                _ => format!("g{own}"),
            };
            program.calls.push((name.to_owned(), callee, line));
        }
        1 => {
            let decoy = style.decoys[usize::try_from(dice.below(style.decoys.len() as u64)).unwrap()];
            // What is a sign in a raw string of Rust is no number.
            program.put(&decoy.replace("r#\"", "r\u{1}\"").replace("\"#;", "\"\u{1};"), own);
        }
        2 => {
            program.put(style.condition.0, own);
            for _ in 0..dice.below(3) {
                statement(program, style, name, depth, number, dice);
            }
            program.put(style.condition.1, own);
        }
        _ => {
            let (kind, begin, end) =
                style.loops[usize::try_from(dice.below(style.loops.len() as u64)).unwrap()];
            let first = program.put(begin, own);
            if end != ";" {
                for _ in 0..dice.below(4) {
                    statement(program, style, name, depth + 1, number, dice);
                }
            }
            program.put(end, own);
            let last = program.line;
            program.loops.push(Loop { first, last, depth: depth + 1, kind, function: name.to_owned() });
        }
    }
}

impl Program {
    /// Appends lines, and returns the first of them. `||` is a bar.
    fn put(&mut self, lines: &str, number: u64) -> u32 {
        let first = self.line + 1;
        if lines.is_empty() {
            return first;
        }
        let lines = lines.replace("|i||", "\u{2}i\u{2}");
        for line in lines.split('|') {
            let line = line.replace("#include", "\u{1}include").replace("#define", "\u{1}define");
            let line = line.replace('#', &number.to_string()).replace('\u{1}', "#").replace('\u{2}', "|");
            self.text.push_str(&line);
            self.text.push('\n');
            self.line += 1;
        }
        first
    }
}
