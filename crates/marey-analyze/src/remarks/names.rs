//! Names of functions as compilers tell them, compared with those that call stacks have.
//!
//! The one idea: what is not the name is cut off: `void a::f<int>(std::vector<int>&)` and `f.constprop.0` are `a::f` and `f`.

/// A function without type, arguments and what a compiler appended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// `a::f`
    pub(super) whole: String,
    /// `f`
    pub(super) last: String,
}

/// Copies of a function that compilers make bear its name and one of these.
const CLONES: [&str; 6] = [".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm"];

impl Name {
    pub(super) fn of(name: &str) -> Self {
        // What is behind the word has signs in it that mean something else elsewhere.
        let (before, operator) = match name.find("operator") {
            Some(at) if !name[at + 8..].starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                let sign = &name[at..];
                let from = if sign.starts_with("operator()") { 10 } else { 8 };
                let end = sign[from..].find('(').map_or(sign.len(), |end| from + end);
                (&name[..at], &sign[..end])
            }
            _ => (name, ""),
        };
        let mut plain = without_brackets(before, !operator.is_empty());
        // The type stands before a blank.
        let seen = if operator.is_empty() { plain.trim_end() } else { &plain };
        let start = seen.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        plain.drain(..start);
        let plain = plain.trim().trim_start_matches(['*', '&']);
        let mut whole = format!("{plain}{}", operator.trim());
        let end = CLONES.iter().filter_map(|clone| whole.find(clone)).min();
        whole.truncate(end.unwrap_or(whole.len()));
        let last = if operator.is_empty() {
            whole.rsplit("::").next().unwrap_or(&whole).to_owned()
        } else {
            operator.trim().to_owned()
        };
        Self { whole, last }
    }
}

/// Without what stands in angle brackets, and without arguments and all behind them.
fn without_brackets(name: &str, is_open: bool) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut depth = 0_u32;
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if depth == 0
            && let Some(behind) = rest.strip_prefix("(anonymous namespace)")
        {
            plain.push_str("(anonymous)");
            rest = behind;
            continue;
        }
        match c {
            '<' => depth = depth.saturating_add(1),
            '>' if depth != 0 => depth -= 1,
            '(' if depth == 0 && !is_open && !plain.is_empty() => break,
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
        rest = &rest[c.len_utf8()..];
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn what_is_not_the_name_is_cut_off() {
        for (name, whole, last) in [
            ("void sweep(std::vector<float>&, const std::vector<float, A>&)", "sweep", "sweep"),
            ("double ns::stp(double, int)", "ns::stp", "stp"),
            ("step.constprop", "step", "step"),
            ("step.isra.0.constprop.1", "step", "step"),
            ("ns::part<int>", "ns::part", "part"),
            ("std::pair<a::b<int>, c> S<int>::get(int) const", "S::get", "get"),
            ("unsigned int (anonymous namespace)::f(int)", "(anonymous)::f", "f"),
            ("float& M::operator()(int, int)", "M::operator()", "operator()"),
            ("bool operator<(const A&, const B&)", "operator<", "operator<"),
            ("<alloc::vec::Vec<T> as core::ops::Index<I>>::index", "::index", "index"),
            ("my_operators::run", "my_operators::run", "run"),
            ("cooperator_step(int)", "cooperator_step", "cooperator_step"),
            ("", "", ""),
        ] {
            let found = Name::of(name);
            assert_eq!((found.whole.as_str(), found.last.as_str()), (whole, last), "{name}");
        }
    }
}
