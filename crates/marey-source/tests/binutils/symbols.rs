//! The symbol table of a file, to tell from where binutils took a name.

use std::path::Path;
use std::process::Command;

use super::{filter, plain};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// Sections with instructions and the symbols of one file.
pub struct Symbols {
    /// Start and end of each section that holds instructions.
    pub text: Vec<(u64, u64)>,
    /// By start.
    symbols: Vec<Symbol>,
    /// Names of source files that stand in the symbol table.
    files: Vec<String>,
}

pub struct Symbol {
    start: u64,
    end: u64,
    /// The name as it stands in the file.
    pub linkage_name: String,
    /// The same in the spelling of [`plain`], demangled by binutils.
    pub name: String,
}

impl Symbols {
    pub fn of(file: &Path) -> Self {
        let data = std::fs::read(file).unwrap();
        let elf = object::File::parse(&*data).unwrap();
        let text = elf.sections().filter(|section| section.kind() == SectionKind::Text && section.size() > 0);
        let text = text.map(|section| (section.address(), section.address() + section.size())).collect();
        let mut found = Vec::new();
        let mut files = Vec::new();
        for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
            let name = symbol.name().unwrap_or_default().to_owned();
            if symbol.kind() == SymbolKind::File {
                files.push(name);
            } else if !symbol.is_undefined() && !name.is_empty() {
                found.push((symbol.address(), symbol.address() + symbol.size(), name));
            }
        }
        found.sort();
        found.dedup();
        let readable = demangled(&found);
        let symbols = (found.into_iter().zip(readable)).map(|((start, end, linkage_name), name)| Symbol {
            start,
            end,
            linkage_name,
            name,
        });
        Self { text, symbols: symbols.collect(), files }
    }

    /// The symbols whose bytes hold `vaddr`.
    pub fn at(&self, vaddr: u64) -> Vec<&Symbol> {
        self.symbols.iter().filter(|symbol| symbol.start <= vaddr && vaddr < symbol.end).collect()
    }

    /// Whether `name` stands in the symbol table as that of a source file.
    pub fn is_file(&self, name: &str) -> bool {
        self.files.iter().any(|file| file == name)
    }
}

/// The names as binutils reads them.
fn demangled(symbols: &[(u64, u64, String)]) -> Vec<String> {
    let names: String = symbols.iter().map(|(_, _, name)| format!("{name}\n")).collect();
    let mut command = Command::new("c++filt");
    // Without the hashes of Rust, as addr2line does it.
    command.arg("--no-verbose");
    let said = filter(command, names);
    let readable: Vec<String> = said.lines().map(plain).collect();
    assert_eq!(readable.len(), symbols.len());
    readable
}
