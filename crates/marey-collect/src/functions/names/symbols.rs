//! The functions in the symbol table of an ELF file: names by address.
//!
//! The one idea: two sections are read as they are, and of one a sorted list of places is made. Whatever is wrong
//! with the file, it then has fewer names, or none.
//!
//! Deliberately absent: everything else in such a file.

use core::ffi::CStr;

use marey_measure::sys;

/// Where functions begin, and their names.
#[derive(Default)]
pub(super) struct Symbols {
    /// Address and place of the name, sorted.
    functions: Vec<(u64, u32)>,
    names: Vec<u8>,
}

/// Which symbols.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Functions,
    /// Variables.
    Objects,
}

/// Largest section that is read: tables of the largest programs are below.
const MOST_BYTES: u64 = 1 << 30;
const HEADER: usize = 64;
const SECTION: usize = 64;
const SYMBOL: usize = 24;

impl Symbols {
    /// Those of a file; none if it has none or cannot be read.
    pub(super) fn read(path: &CStr, of: Of) -> Self {
        Self::of(&|offset, len| sys::read_part(path, offset, len), of).unwrap_or_default()
    }

    fn of(read: &dyn Fn(u64, usize) -> Vec<u8>, of: Of) -> Option<Self> {
        let part = |offset: u64, len: u64| {
            let bytes = read(offset, usize::try_from(len.min(MOST_BYTES)).ok()?);
            (bytes.len() as u64 == len).then_some(bytes)
        };
        let header = part(0, HEADER as u64)?;
        // 64 bits, least significant byte first.
        if header.get(..6)? != [0x7f, b'E', b'L', b'F', 2, 1] || half(&header, 0x3a)? as usize != SECTION {
            return None;
        }
        let sections = part(word(&header, 0x28)?, half(&header, 0x3c)? * SECTION as u64)?;
        let section = |kind: u64| sections.chunks_exact(SECTION).find(|it| small(it, 4) == Some(kind));
        let (all, exported) = (2, 11);
        let table = section(all).or_else(|| section(exported))?;
        let names = sections.chunks_exact(SECTION).nth(usize::try_from(small(table, 0x28)?).ok()?)?;
        let content = |section: &[u8]| part(word(section, 0x18)?, word(section, 0x20)?);
        let (symbols, names) = (content(table)?, content(names)?);
        let mut functions: Vec<(u64, u32)> =
            symbols.chunks_exact(SYMBOL).filter_map(|it| symbol(it, of)).collect();
        functions.sort_unstable();
        functions.shrink_to_fit();
        Some(Self { functions, names })
    }

    /// The name of the function that begins there: of several the one that its users know.
    pub(super) fn find(&self, vaddr: u64) -> Option<&str> {
        let first = self.functions.partition_point(|function| function.0 < vaddr);
        let here = self.functions[first..].iter().take_while(|function| function.0 == vaddr);
        let names = here.filter_map(|&(_, at)| {
            let name = CStr::from_bytes_until_nul(self.names.get(at as usize..)?).ok()?;
            name.to_str().ok().filter(|name| !name.is_empty())
        });
        let underscores = |name: &str| name.len() - name.trim_start_matches('_').len();
        names.min_by_key(|name| (underscores(name), name.len()))
    }
}

/// The address of a function or variable, and the place of its name.
fn symbol(symbol: &[u8], of: Of) -> Option<(u64, u32)> {
    let (kind, section) = (symbol.get(4)? & 15, half(symbol, 6)?);
    let kinds = if of == Of::Functions { [2, 10] } else { [1, 5] };
    let (is_meant, is_here) = (kinds.contains(&kind), section != 0);
    (is_meant && is_here).then_some((word(symbol, 8)?, small(symbol, 0)? as u32))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn small(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?).into())
}

fn half(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_this_program_is_found_at_its_address() {
        #[unsafe(no_mangle)]
        extern "C" fn marey_test_of_symbols() {}
        let symbols = Symbols::read(c"/proc/self/exe", Of::Functions);
        let (vaddr, _) = *symbols
            .functions
            .iter()
            .find(|&&(_, at)| symbols.names[at as usize..].starts_with(b"marey_test_of_symbols\0"))
            .unwrap();
        // Where it lies in memory differs from that by a number of whole pages.
        let address = marey_test_of_symbols as *const () as u64;
        assert_eq!((address - vaddr) % 4096, 0);
        assert_eq!(symbols.find(vaddr), Some("marey_test_of_symbols"));
        assert_eq!(symbols.find(vaddr + 1), None);
    }

    #[test]
    fn damaged_files_have_no_names_or_fewer() {
        let whole = std::fs::read("/proc/self/exe").unwrap();
        let names = |bytes: &[u8]| {
            let read = |offset: u64, len: usize| {
                let from = bytes.len().min(offset as usize);
                bytes[from..bytes.len().min(from + len)].to_vec()
            };
            Symbols::of(&read, Of::Functions).map_or(0, |symbols| {
                symbols.functions.iter().filter(|function| symbols.find(function.0).is_some()).count()
            })
        };
        let all = names(&whole);
        assert!(all > 100);
        assert_eq!((names(&[]), names(&whole[..HEADER]), names(&whole[..whole.len() - 1])), (0, 0, 0));
        let mut damaged = whole.clone();
        for at in 0..HEADER {
            let before = std::mem::replace(&mut damaged[at], whole[at] ^ 0x5a);
            assert!(names(&damaged) <= all);
            damaged[at] = before;
        }
    }
}
