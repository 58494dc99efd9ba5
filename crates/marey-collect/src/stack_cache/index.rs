//! A table from tags, which are hashes, to numbers of stacks.
//!
//! It keeps nothing but the two, in 8 bytes: whether a number is the one that is sought is for the
//! caller to say. That makes it small enough to stay in the processor's caches, and cheap to grow.

/// The table. Several numbers may have the same tag.
#[derive(Default)]
pub(super) struct Index {
    /// Tag and number plus one; 0 where there is nothing. A power of two of them, half of them used
    /// at most, each at its tag's place or the next free one behind.
    entries: Vec<u64>,
    len: usize,
}

/// Entries of the first table: a page.
const FIRST: usize = 512;

impl Index {
    /// The first answer that `accept` gives for a number of this tag.
    #[inline(always)]
    pub(super) fn find<T>(&self, tag: u32, mut accept: impl FnMut(u16) -> Option<T>) -> Option<T> {
        let mask = self.entries.len().checked_sub(1)?;
        let mut at = tag as usize & mask;
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                return None;
            }
            if tag_of(entry) == tag
                && let Some(found) = accept(number_of(entry))
            {
                return Some(found);
            }
            at = (at + 1) & mask;
        }
    }

    /// Has the processor fetch the line that a search begins with.
    #[inline(always)]
    pub(super) fn prefetch(&self, tag: u32) {
        super::prefetch(
            self.entries.as_ptr().wrapping_add(tag as usize & self.entries.len().wrapping_sub(1)),
        );
    }

    pub(super) fn insert(&mut self, tag: u32, number: u16) {
        if self.entries.len() <= 2 * self.len {
            let grown = vec![0; (2 * self.entries.len()).max(FIRST)];
            let old = core::mem::replace(&mut self.entries, grown);
            old.into_iter().filter(|&entry| entry != 0).for_each(|entry| self.place(entry));
        }
        self.place(entry(tag, number));
        self.len += 1;
    }

    /// Puts another number of the same tag in the place of one.
    pub(super) fn replace(&mut self, tag: u32, old: u16, new: u16) {
        let (old, new) = (entry(tag, old), entry(tag, new));
        let Some(mask) = self.entries.len().checked_sub(1) else { return };
        let mut at = tag as usize & mask;
        while self.entries[at] != old {
            if self.entries[at] == 0 {
                return;
            }
            at = (at + 1) & mask;
        }
        self.entries[at] = new;
    }

    fn place(&mut self, entry: u64) {
        let mask = self.entries.len() - 1;
        let mut at = tag_of(entry) as usize & mask;
        while self.entries[at] != 0 {
            at = (at + 1) & mask;
        }
        self.entries[at] = entry;
    }
}

fn entry(tag: u32, number: u16) -> u64 {
    u64::from(tag) << 32 | (u64::from(number) + 1)
}

fn tag_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

fn number_of(entry: u64) -> u16 {
    (entry as u32 - 1) as u16
}
