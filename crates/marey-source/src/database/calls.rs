//! Who calls whom, from instructions and from what the compiler has put into what.
//!
//! The one idea: code lies in ranges that nest, functions outside and what was inlined inside; the innermost range around an
//! instruction is the function whose line it is.

use std::ops::Range;

use super::binary::Binary;
use super::code::{self, Leading, Section};
use crate::symbols::SymbolTable;

/// All instructions that call. Code is read function by function; where there are no symbols, section by section.
pub(super) fn leading(binary: &Binary, symbols: &SymbolTable) -> Vec<Leading> {
    if !binary.is_known_machine {
        return Vec::new();
    }
    let mut functions: Vec<Range<u64>> = symbols.iter().map(|(range, _)| range).collect();
    if functions.is_empty() {
        functions = binary.ranges();
    }
    code::calls(&sections(binary), &functions)
}

/// The addresses whose lines are of interest, ascending: of what calls, and where functions begin.
pub(super) fn addresses(leading: &[Leading], symbols: &SymbolTable) -> Vec<u64> {
    let entries = symbols.iter().map(|(range, _)| range.start);
    let mut addresses: Vec<u64> = leading.iter().map(|leading| leading.at).chain(entries).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

pub(super) fn sections(binary: &Binary) -> Vec<Section<'_>> {
    binary.sections.iter().map(|(address, bytes)| Section { address: *address, bytes }).collect()
}

/// A piece of code that belongs to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    pub(super) begin: u64,
    /// The first byte behind it, negated so that what lies around comes first.
    pub(super) end: std::cmp::Reverse<u64>,
    /// How many pieces lie around it.
    pub(super) depth: u32,
    pub(super) function: u32,
}

/// Hands out for each address, ascending, the outermost and the innermost function around it.
pub(super) struct Around<'p> {
    pieces: std::slice::Iter<'p, Piece>,
    open: Vec<Piece>,
}

impl<'p> Around<'p> {
    /// Pieces are sorted.
    pub(super) fn new(pieces: &'p [Piece]) -> Self {
        Self { pieces: pieces.iter(), open: Vec::new() }
    }

    /// The functions around an address that is not smaller than the last one.
    pub(super) fn at(&mut self, address: u64) -> Option<(u32, u32)> {
        while let Some(next) = self.pieces.as_slice().first().filter(|piece| piece.begin <= address) {
            while self.open.last().is_some_and(|last| last.end.0 <= next.begin) {
                self.open.pop();
            }
            self.open.push(*next);
            self.pieces.next();
        }
        // Pieces that do not nest may hide one that has ended.
        self.open.retain(|piece| address < piece.end.0);
        Some((self.open.first()?.function, self.open.last()?.function))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_piece_is_whose_line_it_is() {
        let piece =
            |begin, end, depth, function| Piece { begin, end: std::cmp::Reverse(end), depth, function };
        let mut pieces = vec![
            piece(12, 14, 2, 3),
            piece(10, 20, 1, 2),
            piece(0, 100, 0, 1),
            piece(0, 5, 1, 4),
            piece(200, 210, 0, 5),
        ];
        pieces.sort_unstable();
        let mut around = Around::new(&pieces);
        let found: Vec<_> = [0, 5, 10, 12, 14, 20, 99, 100, 200, 210].map(|at| around.at(at)).into();
        let expected = [(1, 4), (1, 1), (1, 2), (1, 3), (1, 2), (1, 1), (1, 1)].map(Some);
        assert_eq!(found[..7], expected);
        assert_eq!(found[7..], [None, Some((5, 5)), None]);
    }
}
