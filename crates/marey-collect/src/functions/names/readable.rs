//! From a symbol to what the source calls the function.
//!
//! The one idea: of C++ only what names are made of is read, scope after scope; what stands between is passed over
//! by its grammar, and shown as `<>`. A symbol that is not understood stays as it is.
//!
//! Deliberately absent: parameters, return types, template arguments. The report's names, made after the run, have
//! the last.

/// The name that the report shows, but for template arguments.
pub(super) fn readable(symbol: &str) -> String {
    let symbol = without_number(symbol);
    cpp(symbol).or_else(|| fortran(symbol)).unwrap_or_else(|| symbol.to_owned())
}

/// Of functions inside others, `inner.0`, and of several static ones of a name.
fn without_number(symbol: &str) -> &str {
    match symbol.rsplit_once('.') {
        Some((name, number)) if !name.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => symbol,
    }
}

/// gfortran's `__mod_MOD_sub`, and `sub_`.
fn fortran(symbol: &str) -> Option<String> {
    if let Some((module, name)) = symbol.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_")) {
        return Some(format!("{}::{name}", module.replace('.', "::")));
    }
    let name = symbol.strip_suffix('_').filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))?;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (!name.ends_with('_') && name.bytes().all(is_plain)).then(|| name.to_owned())
}

/// A symbol of C++.
fn cpp(symbol: &str) -> Option<String> {
    let mut rest = Rest(symbol.strip_prefix("_Z")?.as_bytes());
    let mut name = String::new();
    rest.encoding(&mut name, 0)?;
    Some(name)
}

/// What is left of a symbol.
struct Rest<'a>(&'a [u8]);

/// Deeper ones are not understood, and no longer names.
const MOST_DEEP: u32 = 32;
const MOST_LONG: usize = 4096;

fn deeper(depth: u32) -> Option<u32> {
    depth.checked_add(1).filter(|&depth| depth < MOST_DEEP)
}

impl Rest<'_> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn take(&mut self, begin: &str) -> bool {
        let rest = self.0.strip_prefix(begin.as_bytes());
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// A function's name: `add`, `N2ns3addE`, both perhaps with arguments of a template.
    fn encoding(&mut self, name: &mut String, depth: u32) -> Option<()> {
        if self.take("N") {
            return self.nested(name, depth);
        }
        if self.take("St") {
            name.push_str("std::");
        }
        self.part(name, "", depth)
    }

    fn nested(&mut self, name: &mut String, depth: u32) -> Option<()> {
        while matches!(self.peek()?, b'r' | b'V' | b'K' | b'R' | b'O') {
            self.next();
        }
        let mut last = String::new();
        while !self.take("E") {
            if self.take("St") {
                last.push_str("std");
                name.push_str("std");
                continue;
            }
            if !name.is_empty() && self.peek()? != b'I' {
                name.push_str("::");
            }
            let from = name.len();
            self.part(name, &last, depth)?;
            if name.len() > from {
                let part = &name[from..];
                last = part.split('<').next().unwrap_or(part).to_owned();
            }
        }
        Some(())
    }

    /// One scope of a name; `outer` is the one before, which constructors are called after.
    fn part(&mut self, name: &mut String, outer: &str, depth: u32) -> Option<()> {
        (name.len() + outer.len() <= MOST_LONG).then_some(())?;
        match self.peek()? {
            b'0'..=b'9' => name.push_str(self.identifier()?),
            b'I' => {
                self.arguments(depth)?;
                name.push_str("<>");
                return Some(());
            }
            b'C' => {
                self.0 = self.0.get(2..)?;
                name.push_str(outer);
            }
            b'D' if matches!(self.0.get(1)?, b'0'..=b'5') => {
                self.0 = self.0.get(2..)?;
                name.push('~');
                name.push_str(outer);
            }
            b'L' => {
                self.next();
                return self.part(name, outer, deeper(depth)?);
            }
            _ => return None,
        }
        if self.peek() == Some(b'I') {
            self.arguments(depth)?;
            name.push_str("<>");
        }
        Some(())
    }

    fn number(&mut self) -> Option<usize> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = core::str::from_utf8(&self.0[..digits]).ok()?.parse().ok()?;
        self.0 = &self.0[digits..];
        Some(number)
    }

    fn identifier(&mut self) -> Option<&str> {
        let len = self.number()?;
        let (name, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        let name = core::str::from_utf8(name).ok()?;
        Some(if name.starts_with("_GLOBAL__N") { "(anonymous namespace)" } else { name })
    }

    /// Passes over the arguments of a template.
    fn arguments(&mut self, depth: u32) -> Option<()> {
        self.next();
        self.until_end(depth)
    }

    /// Passes over types up to their `E`.
    fn until_end(&mut self, depth: u32) -> Option<()> {
        while !self.take("E") {
            self.skip(deeper(depth)?)?;
        }
        Some(())
    }

    /// Passes over a type or another argument.
    fn skip(&mut self, depth: u32) -> Option<()> {
        match self.peek()? {
            b'0'..=b'9' => _ = self.identifier()?,
            b'N' => self.nested(&mut String::new(), depth)?,
            // Packs, functions, and arguments of an argument.
            b'I' | b'J' | b'F' => self.arguments(depth)?,
            b'L' => self.literal(depth)?,
            b'S' | b'T' => self.substitution()?,
            b'A' => {
                self.next();
                self.number()?;
                self.take("_").then_some(())?;
            }
            b'D' if matches!(self.0.get(1)?, b'p' | b'n' | b'a' | b'c' | b'i' | b's' | b'u') => {
                self.0 = self.0.get(2..)?;
            }
            // Pointers and the like stand before what they are of, types of the language have a letter each.
            b'P' | b'R' | b'O' | b'K' | b'V' | b'r' | b'a'..=b'q' | b's'..=b'z' => _ = self.next()?,
            _ => return None,
        }
        Some(())
    }

    /// A number as an argument: its type and its digits. An object's address is not understood.
    fn literal(&mut self, depth: u32) -> Option<()> {
        self.next();
        if self.take("_Z") {
            return None;
        }
        self.skip(deeper(depth)?)?;
        while self.next()? != b'E' {}
        Some(())
    }

    /// Something that stood there before, or in `std`.
    fn substitution(&mut self) -> Option<()> {
        self.next();
        if matches!(self.peek()?, b'a' | b'b' | b'd' | b'i' | b'o' | b's' | b't') {
            self.next();
            return Some(());
        }
        while self.next()? != b'_' {}
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn symbols_become_what_the_source_says() {
        for (symbol, name) in [
            ("main", "main"),
            ("kernel_1", "kernel_1"),
            ("trailing__", "trailing__"),
            ("_Z4workv", "work"),
            ("_ZL4workv", "work"),
            ("_ZN2ns3addIiEET_S1_S1_", "ns::add<>"),
            ("_Z5twiceIiET_S0_", "twice<>"),
            ("_ZN4halo6Solver4stepEid", "halo::Solver::step"),
            ("_ZNK4halo6Solver4stepEv", "halo::Solver::step"),
            ("_ZN3BoxIdLi3EEC2Ev", "Box<>::Box"),
            ("_ZN3BoxISt6vectorIdSaIdEEED1Ev", "Box<>::~Box"),
            ("_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work"),
            ("_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "std::move<>"),
            ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<>::push_back"),
            ("_Z4callIPFviEJiPKcEEvT_DpT0_", "call<>"),
            ("__heat_MOD_step", "heat::step"),
            ("solve_", "solve"),
            ("inner.0", "inner"),
            ("MAIN__", "MAIN__"),
            // Not understood: lambdas, operators.
            ("_ZZ4mainENKUlvE_clEv", "_ZZ4mainENKUlvE_clEv"),
            ("_ZN1AplERKS_", "_ZN1AplERKS_"),
            ("_Z", "_Z"),
            ("_ZN", "_ZN"),
            ("_Z99x", "_Z99x"),
        ] {
            assert_eq!(readable(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn no_symbol_is_too_long_or_too_deep() {
        let long = "a".repeat(3_000);
        for symbol in [
            format!("_Z1fI{}", "I".repeat(100_000)),
            format!("_Z1fI{}", "L".repeat(100_000)),
            format!("_Z{}", "L".repeat(100_000)),
            format!("_Z1fI{}i{}", "N1aI".repeat(10_000), "EE".repeat(10_000)),
            format!("_ZN{}E", "1a".repeat(50_000)),
            format!("_ZN3000{long}{}E", "C1".repeat(16_384)),
        ] {
            assert!(readable(&symbol) == symbol, "{}… is not given back", &symbol[..20]);
        }
        // What a program may well have.
        let names = "5outer5inner".repeat(20);
        assert_eq!(readable(&format!("_ZN{names}E")), ["outer", "inner"].repeat(20).join("::"));
    }
}
