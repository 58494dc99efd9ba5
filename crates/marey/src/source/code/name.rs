//! Whether a function is the one that was asked for, as any view may have told its name.
//!
//! The one idea: names of one function differ in what they leave out: what it lies in, arguments of templates, parameters,
//! the number that Rust appends, colons before arguments. Whoever leaves something out means all that have it.
//!
//! What is deliberately absent: what debug information alone knows, as that another name has the same code.

use std::borrow::Cow;

use super::super::about::is_named;
use crate::words;

/// A name that was asked for.
pub(super) struct Wanted {
    /// As it was written, with the arguments as C++ and debug information write them.
    name: String,
    /// Without any arguments.
    plain: String,
}

impl Wanted {
    pub(super) fn new(name: &str) -> Self {
        let name = whole(name);
        Self { name: without_hash(name).replace("::<", "<"), plain: plain(name).into_owned() }
    }

    /// Whether a function is meant, by the name that its author knows or that of linkers.
    pub(super) fn is(&self, full: &str, linkage: &str) -> bool {
        if linkage == self.name {
            return true;
        }
        let full = whole(full);
        // Of most functions that is enough.
        if !full.contains(self.word()) && full != "MAIN__" {
            return false;
        }
        let has_arguments = self.plain != self.name;
        is_named(&full.replace("::<", "<"), &self.name)
            || words::function(full) == self.name
            || words::function(full).replace("::<", "<") == self.name
            || !has_arguments && ends_with_path(&plain(full), &self.plain)
    }

    /// Whether only arguments are others.
    pub(super) fn is_but_for_arguments(&self, full: &str) -> bool {
        full.contains(self.word()) && ends_with_path(&plain(full), &self.plain)
    }

    /// The last identifier: debug information that does not have it does not know the function.
    pub(super) fn word(&self) -> &str {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        // What compilers call closures is another word in each debug format.
        let named = self.plain.split("::{").next().unwrap_or_default();
        let named = if named.is_empty() { &self.plain } else { named };
        named.split(|c| !is_part(c)).rfind(|word| !word.is_empty()).unwrap_or(&self.name)
    }
}

fn ends_with_path(full: &str, end: &str) -> bool {
    !end.is_empty()
        && full.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with("::"))
}

/// The function that a part is of.
fn whole(name: &str) -> &str {
    name.strip_suffix(".cold").unwrap_or(name)
}

/// A name without the number that tells crates of Rust apart: `::h` and 16 digits.
fn without_hash(name: &str) -> &str {
    let is_hash = |it: &str| it.len() == 16 && it.bytes().all(|digit| digit.is_ascii_hexdigit());
    name.rsplit_once("::h").filter(|(_, hash)| is_hash(hash)).map_or(name, |(before, _)| before)
}

/// A name without parameters, arguments of templates, and hash; `<T as Trait>` at the beginning is what it lies in.
fn plain(name: &str) -> Cow<'_, str> {
    let name = words::function(without_hash(name));
    if !name.contains('<') {
        return name.into();
    }
    let mut out = String::with_capacity(name.len());
    let (mut depth, mut before) = (0_usize, ' ');
    for (at, c) in name.char_indices() {
        let is_of_operator = depth == 0
            && out.trim_end_matches(['<', '>', '=', '-']).ends_with("operator")
            && !out.ends_with(' ');
        match c {
            _ if is_of_operator && ['<', '>', '=', '-'].contains(&c) => out.push(c),
            '<' if at != 0 && !(depth == 0 && out.is_empty()) => {
                if depth == 0 {
                    out.truncate(out.trim_end_matches("::").trim_end().len());
                }
                depth += 1;
            }
            '<' => return format!("{}{}", within(&name), plain(after(&name))).into(),
            // `fn() -> T` ends no arguments.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
        before = c;
    }
    out.into()
}

/// The `<…>` that a name begins with.
fn within(name: &str) -> &str {
    name.strip_suffix(after(name)).unwrap_or(name)
}

/// What is behind it.
fn after(name: &str) -> &str {
    let (mut depth, mut before) = (0_usize, ' ');
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = c;
        if depth == 0 {
            return name.get(at + c.len_utf8()..).unwrap_or_default();
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_leave_out_what_views_leave_out() {
        for (full, asked) in [
            ("g::generic::<i32>", "generic"),
            ("g::generic::<i32>", "generic<i32>"),
            ("g::generic", "g::generic::h0123456789abcdef"),
            ("std::vector<int, std::allocator<int> >::push_back", "vector::push_back"),
            ("__gnu_cxx::operator< <double*, std::vector<double> >", "operator<"),
            ("a::operator->", "operator->"),
            ("a::step.cold", "step"),
            ("step", "step.cold"),
            ("<g::B<f32> as g::Work>::go::{closure#0}", "<g::B<f32> as g::Work>::go::{closure#0}"),
            ("<g::B<f32> as g::Work>::go", "go"),
            ("core::hint::black_box::<fn() -> i32>", "hint::black_box"),
        ] {
            assert!(Wanted::new(asked).is(full, ""), "{asked} of {full}: {}", plain(full));
        }
        for (full, asked) in [
            ("g::generic::<i32>", "generic<u8>"),
            ("a::misstep", "step"),
            ("a::operator<<", "operator<"),
            ("step<a::sweep>", "sweep"),
        ] {
            assert!(!Wanted::new(asked).is(full, ""), "{asked} is not {full}");
        }
        assert!(Wanted::new("generic<u8>").is_but_for_arguments("g::generic::<i32>"));
        assert_eq!(Wanted::new("<g::A as g::Work>::go::{closure#0}").word(), "go");
    }
}
