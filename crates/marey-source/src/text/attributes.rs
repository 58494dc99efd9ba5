//! Words in capitals that stand for attributes, all over a text.
//!
//! The one idea: a parser that meets one of them may go on and fail far behind it, where nobody would look for the reason.
//! So where a text is unclear, one without them is tried as a whole. A word is one of them only if a whole declaration
//! follows: another word, and behind that what makes no declarator of it. What could as well be a type stays. With
//! arguments it is one only behind a declaration; and so is `__attribute__` everywhere.
//!
//! What is deliberately absent: directives, which are left as they are, and macros with arguments in front of something,
//! which may be calls.

use super::torn::is_word;

/// Arguments of an attribute are not longer.
const MOST_BYTES: usize = 400;
/// Words of a declaration that another may stand behind.
const SPECIFIERS: [&[u8]; 7] =
    [b"static", b"inline", b"virtual", b"explicit", b"friend", b"extern", b"constexpr"];
/// Lines of comments between an attribute and what it is of.
const MOST_COMMENTS: usize = 64;

/// The text with blanks for such words; `None` = there are none.
pub(super) fn without(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = text.to_vec();
    let mut changed = false;
    let mut at = 0;
    let mut is_directive = false;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let is_continued = is_directive;
        let begins = line.trim_ascii_start().starts_with(b"#");
        is_directive = (begins || is_continued) && line.trim_ascii_end().ends_with(b"\\");
        if !begins && !is_continued {
            changed |= line_without(&mut out, at, at + line.len());
        }
        at += line.len();
    }
    changed.then_some(out)
}

fn line_without(text: &mut [u8], start: usize, end: usize) -> bool {
    let mut changed = false;
    let mut at = start;
    while at < end {
        let len = word(&text[at..end]);
        if len == 0 {
            at += 1;
            continue;
        }
        let word = at..at + len;
        at = word.end;
        let name = &text[word.clone()];
        let is_macro = name.contains(&b'_')
            && !name.iter().any(u8::is_ascii_lowercase)
            && name.iter().any(u8::is_ascii_uppercase);
        let (before, behind) = (&text[..word.start], &text[word.end..]);
        let arguments = arguments(behind);
        let end = if name == b"__attribute__" {
            arguments
        } else if is_macro && is_attribute(before, behind) {
            Some(0)
        } else {
            arguments.filter(|len| is_macro && is_suffix(before, &behind[*len..]))
        };
        if let Some(len) = end {
            let blank = |byte: &mut u8| *byte = if matches!(*byte, b'\n' | b'\r') { *byte } else { b' ' };
            text[word.start..word.end + len].iter_mut().for_each(blank);
            changed = true;
        }
    }
    changed
}

/// Whether a word in capitals between these can be nothing else.
fn is_attribute(before: &[u8], behind: &[u8]) -> bool {
    let is_first = is_line(before.iter().rev());
    let before = before.trim_ascii_end();
    let next = behind_comments(behind);
    let len = word(next);
    if len == 0 {
        const ENDS: [&[u8]; 4] = [b")", b" const", b" override", b" volatile"];
        let is_behind = ENDS.iter().any(|end| before.ends_with(end));
        return is_behind && matches!(next.first(), Some(b'{' | b';' | b':'));
    }
    let len_before = before.iter().rev().take_while(|byte| is_word(**byte)).count();
    let is_specified = SPECIFIERS.contains(&&before[before.len() - len_before..]);
    let before = before.last().copied();
    let starts =
        is_first || is_specified || matches!(before, Some(b';' | b'{' | b'}' | b':' | b'>' | b')' | b'/'));
    let then = behind_comments(&next[len..]).first().copied();
    let is_type = matches!(then, None | Some(b';' | b',' | b')' | b'=' | b'[' | b'.' | b'-'));
    (starts || is_line(behind.iter())) && !next[0].is_ascii_digit() && !is_type
}

/// Whether a word with arguments stands behind all else of a declaration, as `int a MACRO(x);` and `} MACRO(x);`.
fn is_suffix(before: &[u8], behind: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let len = before.iter().rev().take_while(|byte| is_word(**byte)).count();
    let ends = if len == 0 { before.ends_with(b"}") || before.ends_with(b")") } else { true };
    let goes_on: [&[u8]; 5] = [b"return", b"else", b"do", b"throw", b"co_return"];
    ends && behind.trim_ascii_start().starts_with(b";") && !goes_on.contains(&&before[before.len() - len..])
}

/// How long what is in parentheses is that begins here, with the blanks before it.
fn arguments(text: &[u8]) -> Option<usize> {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut depth = 0_u32;
    for (at, byte) in text.iter().enumerate().skip(blanks).take(MOST_BYTES) {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (blanks < at).then_some(at + 1);
        }
    }
    None
}

/// What follows, without blanks, comments and directives.
fn behind_comments(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii_start();
    for _ in 0..MOST_COMMENTS {
        let end = if text.starts_with(b"//") || text.starts_with(b"#") {
            text.iter().position(|byte| *byte == b'\n')
        } else if text.starts_with(b"/*") {
            text.windows(2).position(|two| two == b"*/").map(|at| at + 1)
        } else {
            return text;
        };
        text = end.map_or(&[], |end| text[end + 1..].trim_ascii_start());
    }
    text
}

/// Whether only blanks are left of a line.
fn is_line<'b>(mut bytes: impl Iterator<Item = &'b u8>) -> bool {
    bytes.find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).is_none_or(|byte| *byte == b'\n')
}

fn word(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_word(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::without;

    fn check(text: &str, expected: &str) {
        let out = without(text.as_bytes()).map_or(text.to_owned(), |out| String::from_utf8(out).unwrap());
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&out), words(expected), "{text}");
        assert_eq!(out.len(), text.len(), "all else stays where it is");
    }

    #[test]
    fn words_before_and_behind_declarations_go() {
        check("LIB_CONSTEXPR int f();", "int f();");
        check("static LIB_INLINE const T*\nf(int a) LIB_NOEXCEPT { }", "static const T*\nf(int a) { }");
        check("T begin() const LIB_NOEXCEPT\n{ }", "T begin() const { }");
        check("{\nLIB_BEGIN_SPACE\n\n// What it is.\nstruct s { };", "{ // What it is.\nstruct s { };");
        check("struct s { } LIB_OLD(\"use t\");", "struct s { } ;");
        check("int a LIB_SET({});", "int a ;");
        check("int a __attribute__ ((__unused__))\n = 1;", "int a = 1;");
    }

    #[test]
    fn what_may_be_a_type_or_a_call_stays() {
        for text in [
            "HPL_T_ORDER order;",
            "void f(HPL_T_ORDER order, A_B c);",
            "LIB_INT a[3];",
            "return MAX_OF(a, b);",
            "x = MAX_OF(a, b);",
            "else CHECK_IT(a);",
            "#define LIB_CALL extern int f();",
            "#define LIB_CALL \\\n  LIB_OTHER int f();",
            "LIB_CALL(a)\nint b;",
        ] {
            check(text, text);
        }
    }
}
