//! A symbol table that answers only what it knows: the symbol whose bytes hold an address.
//!
//! There is deliberately no "nearest symbol": in stripped libraries that gives confident wrong names.

use object::{ObjectSymbol, SymbolFlags, elf};

/// The sized symbols of one file, of code or of data, by address.
#[derive(Debug, Default)]
pub(crate) struct SymbolTable {
    /// Sorted by start, then by preference; one symbol per start and size.
    symbols: Vec<Symbol>,
    /// `reach[i]` is the largest end among `symbols[..=i]`: it bounds the search for an enclosing symbol.
    reach: Vec<u64>,
    /// All names, one after the other.
    names: String,
}

#[derive(Debug, Clone, Copy)]
struct Symbol {
    start: u64,
    end: u64,
    name: (u32, u32),
}

impl SymbolTable {
    /// Keeps the functions of a symbol table.
    pub(crate) fn read<'data>(symbols: impl Iterator<Item = impl ObjectSymbol<'data>>) -> Self {
        Self::of(symbols.filter(is_code))
    }

    /// Keeps the variables of a symbol table.
    pub(crate) fn objects<'data>(symbols: impl Iterator<Item = impl ObjectSymbol<'data>>) -> Self {
        Self::of(symbols.filter(is_data))
    }

    fn of<'data>(symbols: impl Iterator<Item = impl ObjectSymbol<'data>>) -> Self {
        let mut found: Vec<(u64, u64, Preference, &str)> = symbols
            .filter(|symbol| symbol.size() > 0)
            .filter_map(|symbol| {
                let name = symbol.name().ok().filter(|name| !name.is_empty())?;
                let end = symbol.address().checked_add(symbol.size())?;
                Some((symbol.address(), end, preference(symbol.is_global(), symbol.is_weak(), name), name))
            })
            .collect();
        found.sort_unstable();
        found.dedup_by_key(|(start, end, ..)| (*start, *end));
        let mut table = Self::default();
        for (start, end, _, name) in found {
            table.push(start, end, name);
        }
        table
    }

    /// All symbols: their bytes, ascending, and their raw names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (std::ops::Range<u64>, &str)> {
        self.symbols.iter().filter_map(|symbol| {
            let (from, to) = symbol.name;
            Some((symbol.start..symbol.end, self.names.get(from as usize..to as usize)?))
        })
    }

    /// The raw name of the innermost symbol that holds `vaddr`.
    pub(crate) fn find(&self, vaddr: u64) -> Option<&str> {
        self.holding(vaddr).map(|(_, name)| name)
    }

    /// The innermost symbol that holds `vaddr`: its bytes and its raw name.
    pub(crate) fn holding(&self, vaddr: u64) -> Option<(std::ops::Range<u64>, &str)> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= vaddr);
        for i in (0..after).rev() {
            if self.reach[i] <= vaddr {
                return None;
            }
            if vaddr < self.symbols[i].end {
                let symbol = &self.symbols[i];
                let (from, to) = symbol.name;
                return Some((symbol.start..symbol.end, self.names.get(from as usize..to as usize)?));
            }
        }
        None
    }

    /// True when no symbol is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// Memory held, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.names.len() + self.symbols.len() * (size_of::<Symbol>() + size_of::<u64>())) as u64
    }

    fn push(&mut self, start: u64, end: u64, name: &str) {
        // Names beyond 4 GiB cannot be addressed; such a file is damaged or absurd.
        let (Ok(from), Ok(to)) =
            (u32::try_from(self.names.len()), u32::try_from(self.names.len() + name.len()))
        else {
            return;
        };
        self.names.push_str(name);
        self.symbols.push(Symbol { start, end, name: (from, to) });
        let reach = self.reach.last().map_or(end, |&before| before.max(end));
        self.reach.push(reach);
    }
}

/// Where code begins that has a name and no size, as that of assemblers often is, by address.
pub(crate) fn without_size<'data>(
    symbols: impl Iterator<Item = impl ObjectSymbol<'data>>,
) -> Vec<(u64, String)> {
    // Names of places within functions begin with a dot, or are nobody's but the assembler's.
    let is_name = |name: &&str| !name.is_empty() && !name.starts_with(['.', '$']);
    let is_function = |symbol: &_| {
        let SymbolFlags::Elf { st_info, .. } = ObjectSymbol::flags(symbol) else { return false };
        st_info.st_type() == elf::STT_FUNC || ObjectSymbol::is_global(symbol)
    };
    let mut found: Vec<(u64, String)> = symbols
        .filter(|symbol| is_code(symbol) && symbol.size() == 0 && is_function(symbol))
        .filter_map(|symbol| Some((symbol.address(), symbol.name().ok().filter(is_name)?.to_owned())))
        .collect();
    found.sort_unstable();
    found.dedup_by_key(|(start, _)| *start);
    found
}

fn is_code<'data>(symbol: &impl ObjectSymbol<'data>) -> bool {
    let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { return false };
    // Assembler routines are often untyped; with a size they are as good as functions.
    let kinds = [elf::STT_FUNC, elf::STT_GNU_IFUNC, elf::STT_NOTYPE];
    !symbol.is_undefined() && kinds.contains(&st_info.st_type())
}

fn is_data<'data>(symbol: &impl ObjectSymbol<'data>) -> bool {
    let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { return false };
    !symbol.is_undefined() && st_info.st_type() == elf::STT_OBJECT
}

/// Of several names of one function the one its users know comes first: `write` before `__write`,
/// `MPI_Send` before `PMPI_Send`, then global before weak before local.
type Preference = (usize, usize, u8);

fn preference(global: bool, weak: bool, name: &str) -> Preference {
    let underscores = name.len() - name.trim_start_matches('_').len();
    let binding = match (global, weak) {
        (_, true) => 1,
        (true, false) => 0,
        (false, false) => 2,
    };
    (underscores, name.len(), binding)
}
