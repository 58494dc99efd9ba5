//! Headers for both C and C++.
//!
//! The one idea: what stands beneath `#ifdef __cplusplus` only C++ gets to see, and what stands in the other branch only
//! C. Such a header is C. Where its other half says what C has no words for, it is read a second time, as C++ sees it.
//!
//! Deliberately absent: other conditions, which are met in one language as in the other.

/// Who gets to see a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Both,
    Cpp,
    C,
    /// A condition that asks for the language, or its end.
    Condition,
}

/// The two halves of a header; each has as many lines as the header.
pub(super) struct Halves {
    /// What C sees.
    pub(super) c: Vec<u8>,
    /// What C++ sees.
    pub(super) cpp: Vec<u8>,
    /// Lines that only C++ sees.
    pub(super) only_cpp: Vec<bool>,
}

/// The halves of a header of which only C++ sees what C does not know.
pub(super) fn halves(text: &[u8]) -> Option<Halves> {
    let lines = lines(text);
    lines.iter().any(|(line, seen)| *seen == Seen::Cpp && is_cpp_line(line)).then(|| {
        let only = |hidden: Seen| {
            let texts = text.split_inclusive(|byte| *byte == b'\n').zip(&lines);
            let kept = texts.map(|(line, &(_, seen))| match seen {
                Seen::Condition => blank(line),
                _ if seen == hidden => blank(line),
                _ => line,
            });
            kept.flatten().copied().collect()
        };
        let only_cpp = lines.iter().map(|&(_, seen)| seen == Seen::Cpp).collect();
        Halves { c: only(Seen::Cpp), cpp: only(Seen::C), only_cpp }
    })
}

fn blank(line: &[u8]) -> &[u8] {
    if line.ends_with(b"\n") { b"\n" } else { b"" }
}

/// Whether a line begins with what C does not know, beside comments and what only C++ gets to see.
pub(super) fn is_cpp(text: &[u8]) -> bool {
    lines(text).iter().any(|(line, seen)| *seen != Seen::Cpp && is_cpp_line(line))
}

/// The lines of a text without comments and what they are set in by, and who gets to see them.
fn lines(text: &[u8]) -> Vec<(Vec<u8>, Seen)> {
    // Of each condition that is open: who sees the branch, and who the other one, if it asks for the language; and who
    // sees what is around it.
    let mut beneath: Vec<(Option<[Seen; 2]>, Seen)> = Vec::new();
    let within = |beneath: &[(Option<[Seen; 2]>, Seen)]| {
        let innermost = beneath.last().map_or((None, Seen::Both), |it| *it);
        match innermost {
            (Some([seen, _]), Seen::Both) => seen,
            (_, around) => around,
        }
    };
    let text = without_comments(text);
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
    let each = lines.map(|line| {
        let word = line.strip_prefix(b"#").map(<[u8]>::trim_ascii_start).unwrap_or_default();
        let asks = if word.starts_with(b"if") {
            let (asked, around) = (asked(word), within(&beneath));
            beneath.push((asked, around));
            asked
        } else if word.starts_with(b"el") {
            let innermost = beneath.last_mut();
            innermost.and_then(|(it, _)| std::mem::replace(it, it.map(|[_, other]| [other, Seen::Both])))
        } else if word.starts_with(b"endif") {
            beneath.pop().and_then(|(it, _)| it)
        } else {
            None
        };
        let seen = if asks.is_some() { Seen::Condition } else { within(&beneath) };
        (line.to_vec(), seen)
    });
    each.collect()
}

/// Who sees what a condition is before, and who the branch behind it; `None` = it does not ask for the language. One that
/// asks which C++ stands where there is no other language.
fn asked(condition: &[u8]) -> Option<[Seen; 2]> {
    const WORD: &[u8] = b"__cplusplus";
    if !contains(condition, WORD) {
        return None;
    }
    let words: Vec<u8> = condition.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    match &words[..] {
        b"ifdef__cplusplus" | b"ifdefined(__cplusplus)" | b"ifdefined__cplusplus" | b"if__cplusplus" => {
            Some([Seen::Cpp, Seen::C])
        }
        b"ifndef__cplusplus" | b"if!defined(__cplusplus)" | b"if!defined__cplusplus" | b"if!__cplusplus" => {
            Some([Seen::C, Seen::Cpp])
        }
        _ => {
            let asks_which = condition.iter().any(|byte| matches!(byte, b'<' | b'>' | b'='));
            let may_be_other = contains(condition, b"!") || contains(condition, b"||");
            (!may_be_other && (contains(condition, b"def") || !asks_which)).then_some([Seen::Cpp, Seen::Both])
        }
    }
}

fn is_cpp_line(line: &[u8]) -> bool {
    const STARTS: [&[u8]; 11] = [
        b"class ",
        b"namespace ",
        b"namespace{",
        b"template<",
        b"template <",
        b"using ",
        b"public:",
        b"private:",
        b"protected:",
        b"virtual ",
        b"constexpr ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
        || line.starts_with(b"#include <") && !line.contains(&b'.') && line.trim_ascii_end().ends_with(b">")
        || contains(line, b"std::")
}

/// The text with a space for each comment and the ends of its lines. Comments in texts within quotes are none.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let (mut kept, mut at) = (Vec::with_capacity(text.len()), 0);
    let until = |from: usize, end: &[u8]| {
        let found = text[from..].windows(end.len()).position(|window| window == end);
        found.map_or(text.len(), |found| from + found)
    };
    while let Some(&byte) = text.get(at) {
        match (byte, text.get(at + 1)) {
            (b'/', Some(b'/')) => at = until(at, b"\n"),
            (b'/', Some(b'*')) => {
                let end = (until(at + 2, b"*/") + 2).min(text.len());
                kept.push(b' ');
                kept.extend(text[at..end].iter().filter(|byte| **byte == b'\n'));
                at = end;
            }
            (b'"', _) => {
                let mut end = at + 1;
                while text.get(end).is_some_and(|byte| !matches!(byte, b'"' | b'\n')) {
                    end += if text[end] == b'\\' { 2 } else { 1 };
                }
                let end = (end + 1).min(text.len());
                kept.extend(&text[at..end]);
                at = end;
            }
            _ => {
                kept.push(byte);
                at += 1;
            }
        }
    }
    kept
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_sees_its_half() {
        let text = "/* two\n lines */\n#ifdef __cplusplus\nclass c {\n#if X\n int m;\n#endif\n};\n#else // C\n\
            typedef struct c c;\n#endif\nint f(c *);\n#ifndef __cplusplus\nint g;\n#else\nint h;\n#endif";
        let halves = halves(text.as_bytes()).expect("a class");
        let c = "/* two\n lines */\n\n\n\n\n\n\n\ntypedef struct c c;\n\nint f(c *);\n\nint g;\n\n\n";
        let cpp =
            "/* two\n lines */\n\nclass c {\n#if X\n int m;\n#endif\n};\n\n\n\nint f(c *);\n\n\n\nint h;\n";
        assert_eq!(String::from_utf8_lossy(&halves.c), c);
        assert_eq!(String::from_utf8_lossy(&halves.cpp), cpp);
        let only: Vec<usize> =
            (1..).zip(halves.only_cpp).filter_map(|(line, is)| is.then_some(line)).collect();
        assert_eq!(only, [4, 5, 6, 7, 8, 16]);
    }

    #[test]
    fn what_c_knows_too_is_read_once() {
        for text in [
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n",
            "#if defined(__cplusplus) || X\nint f(void);\n#endif\n",
            "#if X\nint f(void);\n#else\n#endif\n#endif\n#else\n",
        ] {
            assert!(halves(text.as_bytes()).is_none(), "{text}");
        }
    }
}
