//! Where binutils is known to say something else, and why that is accepted.
//!
//! Each rule changes what binutils said, where its condition holds, into what it would have said without
//! its peculiarity. What differs after that is a failure. No rule touches the length of a chain, nor a line where there is
//! a function.

use super::{Answer, Chain, Symbol, Symbols};

/// A known way in which binutils differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Neither knows a name, as in `.plt`: `??` there, module and offset here.
    NoName,
    /// No symbol and no function of the debug information holds the address, as in the padding between
    /// functions and in start-up code without sizes. Binutils takes the symbol before it; we take none,
    /// because in stripped libraries that is a confident wrong name.
    NearestSymbol,
    /// The line of such padding, where the unit of the debug information does not count it as its own:
    /// binutils goes by the table of lines alone.
    LineOfPadding,
    /// Without debug information binutils gives the file that the symbol table names before the symbol,
    /// which has no directory and is the unit of code generation for Rust; we give none.
    FileFromSymbolTable,
    /// One function under several symbols; we prefer the name that its users know, `MPI_Send` before
    /// `PMPI_Send`.
    OtherSymbol,
    /// Where debug information has no linkage name for the innermost function, binutils puts the symbol of
    /// the physical function in its place, even when it is inlined into that.
    InnermostFromSymbol,
    /// The same function at the end of a chain it leaves with the short name of the debug information, or
    /// has the symbol's name for it if an address before has shown it; we take the symbol's name always.
    ShortOutermost,
    /// The symbol that binutils has put in the place of a function, by one of the rules above, it keeps for that
    /// function wherever another address shows it again, in the middle of a chain too. Asked for the
    /// address alone it says what we do.
    AfterOthers,
}

/// By which rules `ours` is the same as `theirs`; `None` when it is not. `offset_name` is how we name the
/// address where we have no name, `vaddr` what was looked up.
pub fn explain(
    symbols: &Symbols,
    vaddr: u64,
    offset_name: &str,
    ours: &Chain,
    theirs: &Answer,
) -> Option<Vec<Rule>> {
    let mut said = theirs.chain.clone();
    let mut applied = Vec::new();
    if said.len() != ours.len() {
        return None;
    }
    let last = ours.len() - 1;
    let is_unknown = ours[0].function == offset_name && symbols.at(vaddr).is_empty();
    if is_unknown && ours[0].file.is_none() && said[0].line.is_some() {
        (said[0].file, said[0].line) = (None, None);
        applied.push(Rule::LineOfPadding);
    }
    if last == 0 && said[0].line.is_none() && said[0].file.as_ref().is_some_and(|file| symbols.is_file(file))
    {
        said[0].file = None;
        applied.push(Rule::FileFromSymbolTable);
    }
    if said[0].function != ours[0].function
        && let Some(rule) = innermost(&symbols.at(vaddr), offset_name, ours, theirs)
    {
        said[0].function.clone_from(&ours[0].function);
        applied.push(rule);
    }
    if said[last].function != ours[last].function && is_short(&symbols.at(vaddr), ours, theirs) {
        said[last].function.clone_from(&ours[last].function);
        applied.push(Rule::ShortOutermost);
    }
    (said == *ours).then_some(applied)
}

/// Why the innermost name differs.
fn innermost(holding: &[&Symbol], offset_name: &str, ours: &Chain, theirs: &Answer) -> Option<Rule> {
    let name = ours[0].function.as_str();
    let said = theirs.linkage_names[0].as_str();
    let is_symbol = |name: &str| holding.iter().any(|symbol| symbol.linkage_name == name);
    if ours.len() > 1 {
        return is_symbol(said).then_some(Rule::InnermostFromSymbol);
    }
    if holding.is_empty() && name == offset_name {
        return Some(if said == "??" { Rule::NoName } else { Rule::NearestSymbol });
    }
    (is_symbol(said) && is_symbol(name)).then_some(Rule::OtherSymbol)
}

/// Whether theirs has a short name for the physical function of which ours has the symbol's.
fn is_short(holding: &[&Symbol], ours: &Chain, theirs: &Answer) -> bool {
    let (Some(ours), Some(said)) = (ours.last(), theirs.linkage_names.last()) else { return false };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = said.split(|c| !is_word(c)).find(|word| !word.is_empty()).unwrap_or(said);
    let is_linkage_name = said.starts_with("_Z") || said.starts_with("_R");
    let is_symbol = holding.iter().any(|symbol| symbol.name == ours.function);
    !is_linkage_name && is_symbol && ours.function.contains(word)
}
