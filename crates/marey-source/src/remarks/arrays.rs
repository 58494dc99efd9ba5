//! Which array keeps the iterations of a loop in order, as far as its text says so.
//!
//! The one idea: where a compiler names none, the text may leave no choice: exactly one array is written in the loop and
//! used there with another subscript. That is a fact of the text and not what the compiler said, and whoever shows it says so.
//! Where no array or several are like that, none is named.

use crate::text::{Language, Lines};

/// The one array of lines of a source that is written, and used with another subscript.
pub fn array_of(text: &str, lines: Lines, language: Language) -> Option<String> {
    let uses = uses(text, lines, language);
    let is_dependent = |it: &&Use| {
        it.is_written && uses.iter().any(|other| other.name == it.name && other.subscript != it.subscript)
    };
    let mut found: Vec<&str> = uses.iter().filter(is_dependent).map(|it| it.name.as_str()).collect();
    found.sort_unstable();
    found.dedup();
    if let [only] = found[..] { Some(only.to_owned()) } else { None }
}

/// An element of an array.
struct Use {
    name: String,
    /// Without blanks.
    subscript: String,
    is_written: bool,
}

/// Characters of a loop that are looked at.
const MOST_CHARS: usize = 1 << 16;

fn uses(text: &str, lines: Lines, language: Language) -> Vec<Use> {
    let is_fortran = matches!(language, Language::Fortran | Language::FixedFortran);
    let first = lines.first.saturating_sub(1) as usize;
    let number = lines.last.saturating_sub(lines.first) as usize + 1;
    let part: Vec<&str> = text.lines().skip(first).take(number).collect();
    let code: Vec<char> = without_comments(&part, is_fortran).take(MOST_CHARS).collect();
    let (open, close) = if is_fortran { ('(', ')') } else { ('[', ']') };
    let mut uses = Vec::new();
    for at in 0..code.len() {
        if code[at] != open {
            continue;
        }
        let Some((name, start)) = name_before(&code, at) else { continue };
        // Of `a[i][j]` all subscripts together are one.
        let Some(end) = end_of(&code, at, open, close) else { continue };
        let subscript: String = code[at..end].iter().filter(|c| !c.is_whitespace()).collect();
        let is_written = is_assigned(&code, end) || !is_fortran && is_stepped(&code, start, end);
        uses.push(Use { name, subscript, is_written });
    }
    uses
}

/// `s->a`, `self.a`, `p%a` before a bracket, and where it begins; `None` = there is no name there.
fn name_before(code: &[char], at: usize) -> Option<(String, usize)> {
    let is_part = |c: char| c.is_alphanumeric() || "_.%".contains(c);
    let mut start = at;
    while start > 0 {
        let c = code[start - 1];
        let is_arrow = |tip: usize| tip > 0 && code[tip] == '>' && code[tip - 1] == '-';
        if is_part(c) {
            start -= 1;
        } else if is_arrow(start - 1) {
            start -= 2;
        } else {
            break;
        }
    }
    let name: String = code[start..at].iter().collect();
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    begins.then(|| (name.to_string(), start))
}

/// Behind the brackets that belong to each other, and those that follow at once.
fn end_of(code: &[char], at: usize, open: char, close: char) -> Option<usize> {
    let (mut depth, mut place) = (0_usize, at);
    while let Some(c) = code.get(place) {
        place += 1;
        if *c == open {
            depth += 1;
        } else if *c == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 && code.get(place) != Some(&open) {
                return Some(place);
            }
        }
    }
    None
}

/// Whether `=`, `+=` and the like follow, and not `==`, `=>`.
fn is_assigned(code: &[char], end: usize) -> bool {
    let rest: String = code[end..].iter().skip_while(|c| c.is_whitespace()).take(3).collect();
    let operators = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
    let is_plain = rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>");
    is_plain || operators.iter().any(|operator| rest.starts_with(operator))
}

/// `a[i]++`, `--a[i]`
fn is_stepped(code: &[char], start: usize, end: usize) -> bool {
    let is_step = |two: &[char]| two == ['+', '+'] || two == ['-', '-'];
    code.get(end..end + 2).is_some_and(is_step) || start >= 2 && is_step(&code[start - 2..start])
}

/// Code without comments and without what stands in quotes.
fn without_comments<'t>(lines: &'t [&'t str], is_fortran: bool) -> impl Iterator<Item = char> + 't {
    let mut in_comment = false;
    lines.iter().flat_map(move |line| {
        let mut code = Vec::new();
        let mut quote = None;
        let mut letters = line.chars().peekable();
        while let Some(c) = letters.next() {
            let next = letters.peek().copied();
            if in_comment {
                if c == '*' && next == Some('/') {
                    letters.next();
                    in_comment = false;
                }
            } else if let Some(open) = quote {
                if c == '\\' && !is_fortran {
                    letters.next();
                } else if c == open {
                    quote = None;
                }
            } else if is_fortran && c == '!' || !is_fortran && c == '/' && next == Some('/') {
                break;
            } else if !is_fortran && c == '/' && next == Some('*') {
                letters.next();
                in_comment = true;
            } else if c == '"' || is_fortran && c == '\'' {
                quote = Some(c);
            } else {
                code.push(if is_fortran { c.to_ascii_lowercase() } else { c });
            }
        }
        code.push('\n');
        code
    })
}

#[cfg(test)]
mod tests {
    use super::array_of;
    use crate::text::{Language, Lines};

    fn check(language: Language, text: &str, expected: Option<&str>) {
        let last = u32::try_from(text.lines().count()).unwrap();
        let found = array_of(text, Lines { first: 1, last }, language);
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn one_array_that_is_written_and_used_elsewhere_is_named() {
        let c = |text, expected| check(Language::C, text, expected);
        c("for (;;) a[i] = a[i - 1] * 0.5f + b[i];", Some("a"));
        c("for (;;) a[i] = b[i - 1] + b[i];", None);
        c("for (;;) { a[i] = a[i-1]; b[i] = b[i-1]; }", None);
        // The same place is no other.
        c("for (;;) { c[ i ] += c[i]; a[i+1] = a[i]; }", Some("a"));
        c("for (;;) s->u[i][j] = s->u[i-1][j]; // b[i] = b[i-1]", Some("s->u"));
        c("for (;;) if (a[i] == a[i-1]) n++;", None);
        c("for (;;) h[x[i]]++, h[0] = 1; /* a[i] =\n a[i-1] */", Some("h"));
        check(Language::Rust, "while i < n { a[i] = a[i - 1] + b[i]; }", Some("a"));
        check(Language::Fortran, "do i = 3, n\n  A(i) = a(i - 2) * f(i) ! b(i) = b(i-1)\nend do", Some("a"));
    }
}
