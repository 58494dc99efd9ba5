//! One spelling for names: ours leave out what binutils writes, and the demanglers set spaces differently.

/// The name without C++ signature, marks of copies and Fortran's decorations, and without any space.
pub fn plain(name: &str) -> String {
    let name = name.split(" [clone ").next().unwrap_or(name);
    let name = without_copy_marks(without_signature(name));
    let name = fortran(name);
    literals(name.chars().filter(|c| !c.is_whitespace()).collect())
}

/// `get<(unsignedlong)0>` → `get<0ul>`.
fn literals(mut name: String) -> String {
    for (cast, suffix) in [("(unsignedlong)", "ul"), ("(unsignedint)", "u"), ("(long)", "l")] {
        while let Some(at) = name.find(cast) {
            let digits = |c: char| c.is_ascii_digit() || c == '-';
            let end =
                name[at + cast.len()..].find(|c| !digits(c)).map_or(name.len(), |n| at + cast.len() + n);
            name.insert_str(end, suffix);
            name.replace_range(at..at + cast.len(), "");
        }
    }
    name
}

/// `int a::f<int>(long) const` → `a::f<int>`, `virtual thunk to a::f()` → `virtual thunk to a::f`.
fn without_signature(name: &str) -> &str {
    let mut named = name;
    while let Some(rest) = [" const", " volatile", " &", "&"].iter().find_map(|q| named.strip_suffix(q)) {
        named = rest;
    }
    let Some(open) = last_parenthesis(named) else { return name };
    let named = &named[..open];
    if named.is_empty() || named.ends_with("operator") {
        // `operator()` where it is all that debug information says of a lambda.
        return name;
    }
    if named.starts_with("virtual thunk to ") || named.starts_with("non-virtual thunk to ") {
        return named;
    }
    &named[end_of_return_type(named)..]
}

/// Where the parameter list at the end of `name` opens.
fn last_parenthesis(name: &str) -> Option<usize> {
    if !name.ends_with(')') {
        return None;
    }
    let mut depth = 0;
    for (at, c) in name.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Behind the last space outside brackets; spaces in names of operators are part of them.
fn end_of_return_type(name: &str) -> usize {
    let mut depth = 0;
    let mut end = 0;
    for (at, c) in name.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ' ' if depth == 0 => end = at + 1,
            'o' if depth == 0 && is_operator(&name[at..]) && !name[..at].ends_with(is_word) => return end,
            _ => {}
        }
    }
    end
}

fn is_operator(rest: &str) -> bool {
    rest.strip_prefix("operator").is_some_and(|rest| !rest.starts_with(is_word))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `f.isra.0.cold` → `f`; `f._omp_fn.0` is a function of its own.
fn without_copy_marks(name: &str) -> &str {
    let mut name = name;
    while let Some((rest, last)) = name.rsplit_once('.') {
        let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        let is_mark = ["isra", "constprop", "part", "cold", "lto_priv", "llvm"].contains(&last);
        if rest.is_empty() || rest.ends_with("._omp_fn") || !(is_number || is_mark) {
            break;
        }
        name = rest;
    }
    name
}

/// `__m_MOD_f` → `m::f`, `f_` → `f`.
fn fortran(name: &str) -> String {
    if let Some((module, procedure)) = name.strip_prefix("__").and_then(|name| name.split_once("_MOD_")) {
        return format!("{module}::{procedure}");
    }
    let is_lower =
        |base: &str| base.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    match name.strip_suffix('_') {
        Some(base) if base.starts_with(|c: char| c.is_ascii_lowercase()) && is_lower(base) => base.to_owned(),
        _ => name.to_owned(),
    }
}
