//! Which module an address belonged to, and when.
//!
//! The one idea: a program that opens and closes libraries has mapped many at the same address, one after the other; so
//! they are looked for by where they begin first, and then by how long they were there.

use super::definitions::Mapping;

/// The mappings of a process, by address and time.
#[derive(Debug, Default)]
pub(crate) struct Mappings<'a> {
    /// By their first address; those of the same one by their end in time.
    sorted: Vec<&'a Mapping>,
    /// The largest address at which any of these up to here ends.
    reach: Vec<u64>,
}

impl<'a> Mappings<'a> {
    /// O(n log n) for n mappings.
    pub(crate) fn new(mappings: &'a [Mapping]) -> Self {
        let mut sorted: Vec<&Mapping> = mappings.iter().collect();
        sorted.sort_by_key(|it| (it.start, it.until));
        let mut most = 0;
        let reach = sorted.iter().map(|it| {
            most = it.end.max(most);
            most
        });
        Self { reach: reach.collect(), sorted }
    }

    /// The one that was at an address from `since` on, in ticks: of those that begin next to it, the one that was
    /// there for the shortest time. O(log n), unless many of different beginnings overlap.
    pub(crate) fn at(&self, address: u64, since: u64) -> Option<&'a Mapping> {
        let mut behind = self.sorted.partition_point(|it| it.start <= address);
        while let Some(last) = behind.checked_sub(1) {
            if self.reach[last] <= address {
                return None;
            }
            let start = self.sorted[last].start;
            let first = self.sorted[..behind].partition_point(|it| it.start < start);
            let alive = first + self.sorted[first..behind].partition_point(|it| it.until <= since);
            let found = self.sorted[alive..behind].iter().find(|it| address < it.end);
            if let Some(found) = found {
                return Some(found);
            }
            behind = first;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_found_by_address_and_time() {
        let mapping = |module, start, end, until| Mapping { module, bias: 0, start, end, until };
        let mappings = [
            mapping(0, 0x1000, 0x9000, u64::MAX),
            // Closed, and others in its place; what came last is longer.
            mapping(1, 0x20_000, 0x21_000, 10),
            mapping(2, 0x20_000, 0x21_000, 20),
            mapping(3, 0x20_000, 0x28_000, u64::MAX),
            // Closed, inside what is mapped there now.
            mapping(4, 0x24_000, 0x25_000, 10),
        ];
        let mappings = Mappings::new(&mappings);
        let at = |address, since| mappings.at(address, since).map(|it| it.module);
        for (address, since, expected) in [
            (0xfff, 0, None),
            (0x1000, 0, Some(0)),
            (0x8fff, 30, Some(0)),
            (0x9000, 0, None),
            (0x20_000, 0, Some(1)),
            (0x20_000, 10, Some(2)),
            (0x20_fff, 19, Some(2)),
            (0x20_fff, 20, Some(3)),
            (0x24_000, 5, Some(4)),
            (0x24_000, 10, Some(3)),
            (0x28_000, 10, None),
        ] {
            assert_eq!(at(address, since), expected, "{address:#x} since {since}");
        }
    }
}
