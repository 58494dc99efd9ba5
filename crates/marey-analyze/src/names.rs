//! What functions are called by those who ask for them.
//!
//! The one idea: nobody types parameters or namespaces who need not; so a function is meant by its whole name, by that
//! without its parameters, or by the last part of that, wherever a function may be named.
//!
//! What is deliberately absent: names of regions, which are short as they are.

/// A function without its parameters: `ns::f<int>(int, char) const` becomes `ns::f<int>`. Time: linear in its length.
pub fn without_parameters(name: &str) -> &str {
    // The last parenthesis that closes at its end opens the parameters; what stands behind it (`const`, `[clone .cold]`)
    // belongs to them.
    let Some(end) = name.rfind(')') else { return name };
    let mut depth = 0_u32;
    for (at, c) in name[..=end].char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let head = name[..at].trim_end();
            // `(anonymous namespace)::f` and `operator()` have parentheses of their own, and a
            // lambda ends in them.
            let is_parameters = !head.is_empty() && !head.ends_with("::") && !head.ends_with("operator");
            let tail = &name[end + 1..];
            // Behind `::` or `>` more of the name follows: these were parameters of a part of it.
            let is_end = !tail.contains("::") && !tail.contains('>');
            return if is_parameters && is_end { head } else { name };
        }
    }
    name
}

/// Whether a function is the one that is meant: by its whole name, without its parameters, or by the last part of that,
/// behind the last `::` that is in no brackets. Time: linear in the length of its name.
pub fn is_named(function: &str, name: &str) -> bool {
    let head = without_parameters(function);
    !name.is_empty() && [function, head, last_part(head)].contains(&name)
}

/// `ns::f<a::b>` becomes `f<a::b>`.
fn last_part(name: &str) -> &str {
    const OPERATOR: &[u8] = b"operator";
    let bytes = name.as_bytes();
    let (mut at, mut begin, mut depth) = (0, 0, 0_u32);
    while let Some(&byte) = bytes.get(at) {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let is_within_word = before.is_some_and(|it| it.is_ascii_alphanumeric() || it == b'_');
        if bytes[at..].starts_with(OPERATOR) && !is_within_word {
            at += OPERATOR.len();
            // `operator<` opens nothing, and `operator()` and `operator[]` nothing that would not be closed.
            at += bytes[at..].iter().take_while(|it| b"<>=-+*/%^&|!~,".contains(it)).count();
            continue;
        }
        match byte {
            b'(' | b'<' | b'[' | b'{' => depth += 1,
            // `->` closes nothing.
            b'>' if before == Some(b'-') => {}
            b')' | b'>' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes[at..].starts_with(b"::") => begin = at + 2,
            _ => {}
        }
        at += 1;
    }
    &name[begin..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_is_behind_the_last_colons_outside_of_brackets() {
        let cases = [
            ("main", "main"),
            ("a::b::f", "f"),
            ("(anonymous namespace)::f", "f"),
            ("ns::f<a::b>", "f<a::b>"),
            ("A::operator()", "operator()"),
            ("A::operator<", "operator<"),
            ("a::operator<< <b::c>", "operator<< <b::c>"),
            ("A::operator->", "operator->"),
            ("a::B<c::d>::operator[]", "operator[]"),
            ("a::my_operator<b::c>", "my_operator<b::c>"),
            ("A::operator()(int)::{lambda(b::c)#1}::operator()", "operator()"),
            ("<F as core::ops::Fn() -> T>::call", "call"),
            ("scope<main::{closure#2}, ()>", "scope<main::{closure#2}, ()>"),
            ("bad)>name", "bad)>name"),
            ("a::", ""),
            ("größe::maß", "maß"),
        ];
        for (name, expected) in cases {
            assert_eq!(last_part(name), expected, "{name}");
        }
    }

    #[test]
    fn a_function_without_a_name_is_not_meant() {
        assert!(!is_named("", "") && !is_named("a::", ""));
    }
}
